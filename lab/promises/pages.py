"""The page: what a browser takes to draw it, how it looks on real screens, and edits made in it."""

import gc
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from grampus import DocumentClusterer
from grampus.persist import Run
from grampus.report import write_report
from grampus.text import Corpus
from lab import Found, Task, data
from lab.clusterer import document_clusterer
from lab.harness import SCRATCH
from lab.manuals import descriptions
from lab.promises import open_browser, promise
from lab.speed.whole import generated

KERNEL = "cosine|principal(30)|normalise"


def in_browser(file: Path) -> dict[str, float]:
    """Open a page; return seconds to the drawn map and the longest task in ms while panning.

    Both by the clock, which a loaded machine slows, and (`_cpu`) as processor time of the page and its workers.
    """
    with open_browser() as chrome:
        chrome.size(1440, 900)
        chrome.trace()
        chrome.open(file, 120)
        chrome.until("document.querySelector('#points').dataset.drawn", 60)
        drawn = chrome.run("performance.getEntriesByName('map drawn')[0].startTime") / 1000
        tasks, marks = chrome.traced()
        drawn_cpu = sum(ms for began, ms in tasks if began <= marks["map drawn"]) / 1000
        chrome.until("document.querySelector('#query').dataset.ready", 120)
        chrome.run(WATCH_TASKS)
        chrome.trace()
        x, y = chrome.place("#points")
        path = [(float(x + 200 * np.cos(t / 5)), float(y + 120 * np.sin(t / 5))) for t in range(60)]
        for closer in (False, True, True):
            if closer:
                chrome.click("#zoom-in")
            chrome.drag(*path)
        chrome.settle()
        chrome.run("new Promise((done) => setTimeout(done, 300))")
        tasks, _ = chrome.traced()
        assert chrome.problems == [], chrome.problems
        longest = {"longest_ms": max(chrome.run("tasks")), "longest_cpu_ms": max(ms for _, ms in tasks)}
        return {"drawn": drawn, "drawn_cpu": drawn_cpu, **longest}


WATCH_TASKS = """
window.tasks = [0];
new PerformanceObserver((list) => tasks.push(...list.getEntries().map((task) => task.duration)))
  .observe({type: 'longtask'}); 1
"""


def measured(run: Any) -> Found:
    """Write the page of a run and look at it."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "page.html")
        began = time.perf_counter()
        write_report(run, file)
        built, size = time.perf_counter() - began, file.stat().st_size / 1e6
        seen = in_browser(file)
    longest = f"{seen['longest_ms']:.0f} ms" if seen["longest_ms"] else "under 50 ms"
    text = f"{size:.1f} MB, built in {built:.1f} s, map drawn after {seen['drawn']:.2f} s ({seen['drawn_cpu']:.2f} "
    text += f"CPU s), longest task while panning {longest} ({seen['longest_cpu_ms']:.0f} CPU ms)"
    return Found(text, {"size_mb": size, "built": built, **seen})


@promise("report-20ng")
def newsgroups(task: Task) -> Found:
    words, labels = (values[:: task.trials(1, 20)] for values in data.texts("20ng"))
    return measured(document_clusterer(20, n_init=3).fit(Corpus(list(words), labels=list(labels))).run_)


@promise("report-300k")
def three_hundred_thousand(task: Task) -> Found:
    texts = generated(task.trials(300_000, 3_000)).split("\n")
    return measured(document_clusterer(20, kernel=KERNEL, n_init=1).fit(Corpus(texts)).run_)


SIZES = {"1440x900": (1440, 900), "1920x1080": (1920, 1080), "390x844": (390, 844)}
SCHEMES = ("light", "dark")
PARTS = {"first": "#verdict", "map": "#map"}  # what is brought to the top
READY = "document.querySelector('#points').dataset.drawn && !document.getElementById('texts')"
LOWEST_NAME = "Math.max(...[...document.querySelectorAll('.found-name')].map((e) => e.getBoundingClientRect().bottom))"
STAGE = "(() => { const b = document.querySelector('#stage').getBoundingClientRect(); return [b.top, b.bottom]; })()"
MOST_NAMED = 12  # clusters whose names must be on the first screen
SMALL, GAP = 0.34, 8  # scale of the committed pictures, and pixels between them


def noise(n: int) -> Corpus:
    """Return texts of words drawn alike for all."""
    drawn = np.random.default_rng(0).integers(0, 2000, (n, 12))
    return Corpus([" ".join(f"w{i}" for i in row) for row in drawn], source="noise")


def labelled(name: str, step: int, most: int | None = None) -> Corpus:
    """Return a labelled set, or a part of it."""
    texts, labels = (values[::step][:most] for values in data.texts(name))
    return Corpus(list(texts), labels=list(labels), source=name)


def collections(task: Task) -> dict[str, tuple[int | str, Callable[[], Corpus]]]:
    """Return name → (number of clusters, documents)."""
    step = task.trials(1, 20)
    return {
        "bbc": ("auto", lambda: labelled("bbc", step)),
        "20ng": ("auto", lambda: labelled("20ng", step)),
        "debian": ("auto", lambda: Corpus(list(descriptions()[: 50_000 // step]), source="Debian descriptions")),
        "noise": ("auto", lambda: noise(2000 // step)),
        "ten": ("auto", lambda: labelled("bbc", 200, 10)),
        "hundred": (100, lambda: labelled("20ng", step)),
    }


def runs(task: Task, folder: Path) -> Iterator[tuple[str, Any]]:
    """Yield the runs, clustered once and kept in a folder: delete it to cluster anew."""
    for name, (k, corpus) in collections(task).items():
        if not (folder / name).exists():
            DocumentClusterer(k, random_state=0).fit(corpus()).run_.save(folder / name)
        yield name, Run.load(folder / name)


def take(chrome: Any, part: str, file: Path) -> Path:
    """Bring a part of the page to the top and take a picture."""
    chrome.run(f"document.querySelector('{PARTS[part]}').scrollIntoView({{behavior: 'instant'}})")
    chrome.settle()
    chrome.settle()
    chrome.until("document.querySelector('#points').dataset.rests === 'true'")
    chrome.picture(file)
    return file


def shots(chrome: Any, name: str, folder: Path) -> tuple[list[list[Path]], int, int]:
    """Take the pictures of the page that is open; return them by rows, names that are not seen, maps that are cut."""
    rows: list[list[Path]] = [[] for _ in SCHEMES]
    hidden = cut = 0
    for size, (width, height) in SIZES.items():
        chrome.size(width, height)
        for row, scheme in zip(rows, SCHEMES, strict=True):
            chrome.media(scheme=scheme, motion="reduce")
            row.append(take(chrome, "first", folder / f"{name}-{size}-{scheme}-first.png"))
            hidden += chrome.run(LOWEST_NAME) > height
            row.append(take(chrome, "map", folder / f"{name}-{size}-{scheme}-map.png"))
            top, bottom = chrome.run(STAGE)
            cut += not 0 <= top < bottom <= height
    return rows, hidden, cut


def levels(chrome: Any, name: str, folder: Path) -> list[list[Path]]:
    """Take pictures of the coarse and fine level and of the tree."""
    chrome.size(*SIZES["1440x900"])
    chrome.media(scheme="light", motion="reduce")
    row = []
    for place in (0, 2):
        chrome.run(f"document.querySelector('[data-level=\"{place}\"]').click()")
        row += [take(chrome, part, folder / f"{name}-level-{place}-{part}.png") for part in PARTS]
    chrome.run("document.querySelector('[data-level=\"1\"]').click(), document.querySelector('#view-tree').click()")
    return [[*row, take(chrome, "map", folder / f"{name}-tree.png")]]


def sheet(rows: list[list[Path]], file: Path) -> None:
    """Put pictures on one sheet, small and in few colours."""
    from PIL import Image

    small = [[Image.open(path) for path in row] for row in rows]
    for row in small:
        for picture in row:
            picture.thumbnail((SMALL * picture.width, SMALL * picture.height))
    width = max(sum(picture.width + GAP for picture in row) for row in small) + GAP
    made = Image.new("RGB", (width, sum(max(p.height for p in row) + GAP for row in small) + GAP), (128, 128, 128))
    top = GAP
    for row in small:
        left = GAP
        for picture in row:
            made.paste(picture, (left, top))
            left += picture.width + GAP
        top += max(picture.height for picture in row) + GAP
    made.quantize(128, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE).save(file, optimize=True)


@promise("report-screens")
def screens(task: Task) -> Found:
    place = SCRATCH / ("quick" if task.quick else "") / "screens"
    place.mkdir(parents=True, exist_ok=True)
    hidden, cut, lines = 0, 0, []
    with tempfile.TemporaryDirectory() as folder, open_browser() as chrome:
        for name, run in runs(task, place / "runs"):
            page = Path(folder, f"{name}.html")
            write_report(run, page)
            chrome.size(1440, 900)
            chrome.open(page, 120)
            chrome.until(READY, 60)
            rows, below, incomplete = shots(chrome, name, place)
            sheets = {name: rows} | ({f"{name}-levels": levels(chrome, name, place)} if name == "20ng" else {})
            assert chrome.problems == [], chrome.problems
            for title, pictures in sheets.items():
                sheet(pictures, place.parent / "promises" / f"report-screens-{title}.png")
            counts = "/".join(str(len(run.level_names(level))) for level in run.levels) or str(run.n_clusters)
            shown = "\n\n".join(f"![{title}](promises/report-screens-{title}.png)" for title in sheets)
            lines.append(f"{shown}\n\n{name}: {len(run):,} documents, {counts} clusters.")
            hidden += below if run.n_clusters <= MOST_NAMED else 0
            cut += incomplete
    figure = f"names below the first screen: {hidden}; maps that are cut: {cut}"
    return Found(figure, {"hidden": hidden, "cut": cut}, notes=lines)


@promise("edits-page")
def page_and_run(task: Task) -> Found:
    from tests.edits import compare_with_page, make_edits, write_open_page
    from tests.pages import example_run

    run, scripts = example_run(), task.trials(1_000, 10)
    different = operations = 0
    with tempfile.TemporaryDirectory() as folder, open_browser() as page:
        write_open_page(run, Path(folder, "page.html"))
        page.open(Path(folder, "page.html"))
        page.until("window.door && !document.getElementById('texts')", 60)
        for number in range(scripts):
            rng = np.random.default_rng([task.seed, number])
            page.run("door.log.length = 0; door.replay(); 1")
            make_edits(page, rng, int(rng.integers(1, 9)))
            parts, edits = compare_with_page(page, run, Path(folder))
            different, operations = different + bool(parts), operations + len(edits)
        assert page.problems == [], page.problems
    return Found(f"{different} of {scripts} scripts ({operations} edits) differ", {"different": different})


# What a reader does in the app → the script that does it; each ends when the page shows it.
ACTIONS = {
    "rename": "door.edit({action: 'rename', level: door.data.level, clusters: [0], name: 'Another'})",
    "merge": "door.merge([door.state.groups[0], door.state.groups[1]])",
    "undo": "door.undo()",
    "move": "door.move(Array.from({length: 500}, (_, i) => (7 * i) % door.data.n), door.state.groups[2])",
    "set aside": "door.takeOut(Array.from({length: 500}, (_, i) => (11 * i) % door.data.n))",
    "done": "door.edit({action: 'done', level: door.data.level, clusters: [1]})",
    "level": "document.querySelector('[data-level=\"0\"]').click()",
    "back": "document.querySelector('[data-level=\"1\"]').click()",
    "filter": "document.querySelector('#tab-filters').click(), document.querySelector('#facet-0-3').click()",
    "unfilter": "document.querySelector('#facet-0-all').click()",
}
NEEDED = {
    "filter": "!!document.querySelector('#facet-0-3')",
    "unfilter": "!!document.querySelector('#facet-0-all')",
    "level": "!!document.querySelector('[data-level=\"0\"]')",
}
TIMED = "(async () => {{ const t = performance.now(); await ({}); await new Promise(requestAnimationFrame); return performance.now() - t; }})()"  # noqa: E501
SEARCH = """
document.querySelector('#query').value = 'w17', document.querySelector('#search').requestSubmit(),
new Promise((done) => { const look = () => /^$|Searching/.test(document.querySelector('#search-note').textContent)
  ? setTimeout(look, 2) : done(); document.querySelector('#search-note').textContent = ''; look(); })
"""


@promise("app-100k")
def app_answers(task: Task) -> Found:
    from unittest.mock import patch

    from grampus.app import OpenRun, view
    from tests.end_to_end.test_app import DOOR
    from tests.pages import serving

    texts = generated(task.trials(100_000, 2_000)).split("\n")
    whole = view.app_script().removesuffix("})();\n") + DOOR + "})();\n"
    times: dict[str, list[float]] = {name: [] for name in (*ACTIONS, "search")}
    with tempfile.TemporaryDirectory() as folder, open_browser() as page:
        document_clusterer(20, kernel=KERNEL, n_init=1).fit(Corpus(texts)).run_.save(f"{folder}/run")
        gc.freeze()  # as the command does
        with patch.object(view, "app_script", lambda: whole), serving(OpenRun(f"{folder}/run")) as server:
            page.size(1440, 900)
            page.open(server.address, 120)
            page.until("document.querySelector('#points')?.dataset.drawn && window.door", 60)
            page.until("document.querySelector('#query').dataset.ready", 120)
            page.until("!document.querySelector('#tab-filters').hidden", 60)
            page.run("document.querySelector('#tab-filters').click(), 1")
            for _ in range(3):
                for name, script in {**ACTIONS, "search": SEARCH}.items():
                    page.until(NEEDED.get(name, "true"), 20)
                    times[name].append(page.run(TIMED.format(script.strip()), 60))
                page.run("document.querySelector('#clear')?.click(), 1")
        assert page.problems == [], page.problems
    middle = {name: float(np.median(values)) for name, values in times.items()}
    slowest = max(middle, key=lambda name: middle[name])
    figure = ", ".join(f"{name} {ms:.0f}" for name, ms in middle.items())
    return Found(f"{figure} ms; slowest: {slowest}", {"slowest_ms": middle[slowest], **middle})
