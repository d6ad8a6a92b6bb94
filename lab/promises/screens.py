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


def shots(chrome: Any, name: str, folder: Path) -> list[tuple[str, float, bool]]:
    """Take the pictures of the page that is open; return the size, how far down names go, whether the map is whole."""
    seen = []
    for size, (width, height) in SIZES.items():
        chrome.size(width, height)
        for scheme in SCHEMES:
            chrome.media(scheme=scheme, motion="reduce")
            for part, place in PARTS.items():
                chrome.run(f"document.querySelector('{place}').scrollIntoView({{behavior: 'instant'}})")
                chrome.settle()
                chrome.settle()
                chrome.picture(folder / f"{name}-{size}-{scheme}-{part}.png")
                if part == "first":
                    lowest = float(chrome.run(LOWEST_NAME)) / height
            top, bottom = chrome.run(STAGE)
            seen.append((f"{size} {scheme}", lowest, 0 <= top < bottom <= height))
    return seen


def sheet(name: str, shots_in: Path, file: Path) -> None:
    """Put the pictures of a collection on one sheet, small and in few colours."""
    from PIL import Image

    rows = []
    for scheme in SCHEMES:
        pictures = [Image.open(shots_in / f"{name}-{size}-{scheme}-{part}.png") for size in SIZES for part in PARTS]
        sizes = [(round(p.width * SMALL), round(p.height * SMALL)) for p in pictures]
        rows.append([p.resize(size, Image.Resampling.LANCZOS) for p, size in zip(pictures, sizes, strict=True)])
    gap = 8
    width = max(sum(p.width + gap for p in row) for row in rows) + gap
    heights = [max(p.height for p in row) + gap for row in rows]
    made = Image.new("RGB", (width, sum(heights) + gap), (128, 128, 128))
    for row, top in zip(rows, (gap, gap + heights[0]), strict=True):
        left = gap
        for picture in row:
            made.paste(picture, (left, top))
            left += picture.width + gap
    made.quantize(96, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE).save(file, optimize=True)


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
            seen = shots(chrome, name, place)
            assert chrome.problems == [], chrome.problems
            sheet(name, place, place.parent / "promises" / f"report-screens-{name}.png")
            levels = "/".join(str(len(run.level_names(level))) for level in run.levels) or str(run.n_clusters)
            said = f"{name}: {len(run):,} documents, {levels} clusters."
            lines.append(f"![{name}](promises/report-screens-{name}.png)\n\n{said}")
            hidden += sum(lowest > 1 for _, lowest, _ in seen) if run.n_clusters <= MOST_NAMED else 0
            cut += sum(not whole for _, _, whole in seen)
    figure = f"names below the first screen: {hidden}; maps that are cut: {cut}"
    return Found(figure, {"hidden": hidden, "cut": cut}, notes=lines)
