"""The page on real screens: six collections, three sizes, light and dark, to be looked at."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from grampus import DocumentClusterer
from grampus.persist import Run
from grampus.report import write_report
from grampus.text import Corpus
from lab import Found, Task, Unavailable, data
from lab.harness import SCRATCH
from lab.promises import promise

SIZES = {"1440x900": (1440, 900), "1920x1080": (1920, 1080), "390x844": (390, 844)}
SCHEMES = ("light", "dark")
PARTS = {"first": "#verdict", "map": "#map"}  # what is brought to the top
READY = "document.querySelector('#points').dataset.drawn && !document.getElementById('texts')"
LOWEST_NAME = "Math.max(...[...document.querySelectorAll('.found-name')].map((e) => e.getBoundingClientRect().bottom))"
STAGE = "(() => { const b = document.querySelector('#stage').getBoundingClientRect(); return [b.top, b.bottom]; })()"
MOST_NAMED = 12  # clusters whose names must be on the first screen
SMALL = 0.34  # scale of the committed pictures
TRANSLATIONS = "/var/lib/apt/lists"


def descriptions(n: int) -> Corpus:
    """Return the first n descriptions of Debian's packages, as apt keeps them; sections are not used."""
    files = sorted(Path(TRANSLATIONS).glob("*_main_i18n_Translation-en*"))
    if not files:
        raise Unavailable("apt-get update on a Debian system, with Acquire::Languages en")
    texts: dict[str, str] = {}
    for file in files:
        command = ["/usr/lib/apt/apt-helper", "cat-file", str(file)]
        listed = subprocess.run(command, capture_output=True, check=True).stdout.decode("utf-8", "replace")
        for entry in listed.split("\n\n"):
            name, _, rest = entry.removeprefix("Package: ").partition("\n")
            texts.setdefault(name, rest.partition("Description-en: ")[2].replace("\n .\n", "\n"))
    names = sorted(name for name, text in texts.items() if text)[:n]
    return Corpus([texts[name] for name in names], ids=names, source="Debian descriptions")


def noise(n: int) -> Corpus:
    """Return texts of words drawn alike for all."""
    rng = np.random.default_rng(0)
    words = np.array([f"w{i}" for i in range(2000)])
    return Corpus([" ".join(rng.choice(words, 12)) for _ in range(n)], source="noise")


def ten() -> Corpus:
    """Return ten short texts of two kinds."""
    words = (
        "the whale sings in the deep sea", "a whale and her calf in the sea", "krill feed the whale", "deep sea tides",
        "the song of the whale calf", "bake bread in the oven", "flour, yeast and salt make dough",
        "knead the dough and bake it", "butter on warm bread", "an oven for bread and dough",
    )  # fmt: skip
    return Corpus(list(words), source="ten documents")


def labelled(name: str, step: int) -> Corpus:
    """Return a labelled set, or a part of it."""
    texts, labels = (values[::step] for values in data.texts(name))
    return Corpus(list(texts), labels=list(labels), source=name)


def collections(task: Task) -> dict[str, tuple[int | str, Callable[[], Corpus]]]:
    """Return name → (number of clusters, documents)."""
    step = task.trials(1, 20)
    return {
        "bbc": ("auto", lambda: labelled("bbc", step)),
        "20ng": ("auto", lambda: labelled("20ng", step)),
        "debian": ("auto", lambda: descriptions(50_000 // step)),
        "noise": ("auto", lambda: noise(2000 // step)),
        "ten": ("auto", ten),
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

    gap, top, placed = 8, 8, []
    for row in rows:
        left = gap
        for path in row:
            picture = Image.open(path)
            small = picture.resize(
                (round(picture.width * SMALL), round(picture.height * SMALL)), Image.Resampling.LANCZOS
            )
            placed.append((small, left, top))
            left += small.width + gap
        top = max(at + small.height for small, _, at in placed) + gap
    width = max(left + small.width for small, left, _ in placed) + gap
    made = Image.new("RGB", (width, top), (128, 128, 128))
    for small, left, at in placed:
        made.paste(small, (left, at))
    made.quantize(128, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE).save(file, optimize=True)


@promise(
    "report-screens",
    "The first screen and the map of six collections at 1440 × 900, 1920 × 1080 and 390 × 844, light and dark: names "
    "of up to 12 clusters on the first screen, the map whole. Full pictures in .lab/screens.",
    rests_on=("report",),
    conditions=("screens-names", "screens-maps"),
    data=True,
)
def screens(task: Task) -> Found:
    from tests.browser import browser, chromium

    if chromium() is None:
        raise Unavailable("chromium is not installed (make browser)")
    place = SCRATCH / ("quick" if task.quick else "") / "screens"
    place.mkdir(parents=True, exist_ok=True)
    hidden, cut, lines = 0, 0, []
    with tempfile.TemporaryDirectory() as folder, browser() as chrome:
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
