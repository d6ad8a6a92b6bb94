"""The page on screens of three sizes, by keyboard alone, and without texts."""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections import Counter
from dataclasses import replace
from functools import cache
from xml.etree import ElementTree

import numpy as np
import pytest
from scipy.spatial import cKDTree

from grampus import DocumentClusterer
from grampus.persist import Run
from grampus.report import write_report
from grampus.text import Corpus
from tests.page_tools import saved, show, text, texts
from tests.pages import example_run

SIZES = [(1440, 900), (1920, 1080), (390, 844)]


@cache
def topics_run(k: int, each: int = 12) -> Run:
    """Return a run of k topics with words of their own."""
    rng = np.random.default_rng(k)
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    words = ["".join(rng.choice(letters, size)) for size in rng.integers(4, 11, 12 * k)]
    topics = [words[12 * c : 12 * c + 12] for c in range(k)]
    drawn = [" ".join(rng.choice(topics[c], 10)) for c in range(k) for _ in range(each)]
    return DocumentClusterer(k, kernel="cosine", random_state=0).fit(Corpus(drawn, source=f"{k} topics")).run_


def marks_in(page, tmp_path):
    """How many marks the saved drawing holds, the size of the drawing, and the places of the marks."""
    page.downloads(tmp_path)
    page.run("document.querySelector('#save-svg').click()")
    drawn = ElementTree.fromstring(saved(page, tmp_path, "grampus-map.svg"))
    (tmp_path / "grampus-map.svg").unlink()
    size = [float(value) for value in drawn.attrib["viewBox"].split()[2:]]
    dots = [element.attrib for element in drawn.iter() if element.tag.endswith("}circle")]
    places = [(float(dot["cx"]), float(dot["cy"])) for dot in dots]
    return places, size


@pytest.mark.parametrize("size", SIZES)
def test_twelve_names_are_on_the_first_screen_and_the_map_is_whole(chrome, tmp_path, size):
    run = topics_run(12)
    page = show(chrome, run, tmp_path / "page.html", size)
    for scheme in ("light", "dark"):
        page.media(scheme=scheme)
        page.run("window.scrollTo(0, 0)")
        page.settle()
        boxes = page.run(
            "[...document.querySelectorAll('.found-name')].map((e) => { const b = e.getBoundingClientRect();"
            "return [b.left, b.top, b.right, b.bottom, e.scrollWidth <= e.clientWidth + 1 ? 1 : 0]; })"
        )
        assert len(boxes) == 12
        assert all(x >= 0 and y >= 0 and r <= size[0] and b <= size[1] and whole for x, y, r, b, whole in boxes)
        stage = page.run("document.querySelector('#stage').getBoundingClientRect().top")
        assert stage < (560 if size[0] > 600 else 1.2 * size[1])
        assert page.run("document.querySelectorAll('.care > .statements li').length") <= 3
        page.run("document.querySelector('#map').scrollIntoView({behavior: 'instant'})")
        page.settle()
        left, top, right, bottom = page.run(
            "(() => { const b = document.querySelector('#stage').getBoundingClientRect();"
            "return [b.left, b.top, b.right, b.bottom]; })()"
        )
        assert 0 <= left < right <= size[0]
        assert 0 <= top < bottom <= size[1]
        covered = page.run(
            "(() => { const s = document.querySelector('#stage').getBoundingClientRect();"
            "return ['.stage-tools', '.stage-out'].map((n) => document.querySelector(n).getBoundingClientRect())"
            ".map((b) => [b.left - s.left, b.top - s.top, b.right - s.left, b.bottom - s.top]); })()"
        )
        places, (width, height) = marks_in(page, tmp_path)
        assert len(places) == len(run)
        for x, y in places:
            assert 4 <= x <= width - 4
            assert 4 <= y <= height - 4
            assert not any(a <= x <= c and b <= y <= d for a, b, c, d in covered)
    assert page.problems == []


@pytest.mark.parametrize("size", SIZES)
def test_a_hundred_clusters_fit_the_screen(chrome, tmp_path, size):
    page = show(chrome, topics_run(100, 4), tmp_path / "page.html", size)
    assert len(texts(page, ".found-name")) == len(texts(page, ".card")) == 100
    assert page.run("document.documentElement.scrollWidth") <= size[0]
    map_top = page.run("document.querySelector('#map').getBoundingClientRect().top")
    assert map_top < 520 or size[0] < 600  # the list scrolls by itself where there is room beside it
    page.run("document.querySelector('#map').scrollIntoView({behavior: 'instant'})")
    page.settle()
    top, bottom = page.run("(() => { const b = document.querySelector('#stage').getBoundingClientRect();"
                           "return [b.top, b.bottom]; })()")  # fmt: skip
    assert 0 <= top < bottom <= size[1]
    assert page.problems == []


ON_MARKS = """(text) => {
  const drawn = document.importNode(new DOMParser().parseFromString(text, 'image/svg+xml').documentElement, true);
  document.body.append(drawn);
  const [wide, high] = drawn.getAttribute('viewBox').split(' ').slice(2).map(Number);
  const figure = (c) => ['cx', 'cy', 'r'].map((a) => Number(c.getAttribute(a)));
  const dots = [...drawn.querySelectorAll('circle')].map(figure);
  const names = [...drawn.querySelectorAll('text')].map((t) => ({ text: t.textContent, box: t.getBBox() }));
  const within = (value, low, size) => Math.min(Math.max(value, low), low + size);
  const nearest = (b, x, y) => [within(x, b.x, b.width), within(y, b.y, b.height)];
  const wrong = names.filter(({ box: b }) => b.x < 0 || b.y < 0 || b.x + b.width > wide || b.y + b.height > high ||
    dots.some(([x, y, r]) => { const [nx, ny] = nearest(b, x, y); return Math.hypot(x - nx, y - ny) < r * 0.9; }));
  drawn.remove();
  return [names.map((n) => n.text), wrong.map((n) => n.text), dots];
}"""


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("made", [lambda: topics_run(12), lambda: topics_run(100, 4), lambda: example_run(160)])
def test_names_are_whole_and_beside_the_marks(chrome, tmp_path, size, made):
    run = made()
    page = show(chrome, run, tmp_path / "page.html", size)
    page.downloads(tmp_path)
    page.run("document.querySelector('#save-svg').click()")
    drawn = saved(page, tmp_path, "grampus-map.svg").decode()
    names, wrong, dots = page.run(f"({ON_MARKS})({json.dumps(drawn)})")
    assert wrong == []
    assert len(names) >= min(run.n_clusters, 4)
    known = {word for c in run.evidence.clusters for word in f"{c.name} {', '.join(c.words)}".split()}
    assert {word for name in names if not name.startswith("drawn ") for word in name.split()} <= known
    if size == SIZES[0] and len(run) <= 700:
        places = np.array(dots)
        near = cKDTree(places[:, :2]).query(places[:, :2], 2)[0][:, 1]
        assert places[:, 2].min() >= 3
        assert (near > places[:, 2]).mean() >= 0.95
    assert page.problems == []


def test_a_name_stands_beside_the_dense_part_of_its_group(chrome, tmp_path):
    """A few documents of every group lie in another one, and a few far out: no line leads to them."""
    run = example_run()
    rng, labels = np.random.default_rng(0), run.evidence.labels
    at = np.array([[0, 0], [8, 0], [8, 6], [0, 6]])[labels] + rng.normal(size=(len(run), 2))
    strays = np.concatenate([np.flatnonzero(labels == group)[:6] for group in range(4)])
    for group, (one, *others) in enumerate(strays.reshape(4, 6)):
        at[one] = at[labels == (group + 1) % 4][-1] + 0.01
        at[others] += [0, 4 if group > 1 else -4]
    run = replace(run, layout=replace(run.layout, coordinates=at.astype(np.float32)))
    page = show(chrome, run, tmp_path / "page.html")
    page.downloads(tmp_path)
    page.run("document.querySelector('#save-svg').click()")
    drawn = ElementTree.fromstring(saved(page, tmp_path, "grampus-map.svg"))
    ends = [
        e.attrib["d"].split("L")[1].split() for e in drawn.iter() if re.fullmatch(r"M[\d. ]+L[\d. ]+", e.get("d", ""))
    ]
    said = {e.text: (float(e.attrib["x"]), float(e.attrib["y"])) for e in drawn.iter() if e.tag.endswith("}text")}
    dots = [e.attrib for e in drawn.iter() if e.tag.endswith("}circle")]
    places = np.array([(float(dot["cx"]), float(dot["cy"])) for dot in dots])
    middles = np.array([np.median(places[labels == group], axis=0) for group in range(4)])
    for cluster in run.evidence.clusters:
        far = np.linalg.norm(middles - said[cluster.name], axis=1)
        assert far.argmin() == cluster.number
        assert np.sort(np.linalg.norm(places[labels == cluster.number] - said[cluster.name], axis=1))[5] < 150
    for end in ends:
        assert np.abs(places[strays] - np.array(end, dtype=float)).max(axis=1).min() > 1
    assert page.problems == []


def test_a_poster_has_title_legend_and_date(chrome, tmp_path):
    run = example_run()
    page = show(chrome, run, tmp_path / "page.html")
    page.downloads(tmp_path)
    page.run("document.querySelector('#poster-svg').click()")
    drawn = ElementTree.fromstring(saved(page, tmp_path, "grampus-poster.svg"))
    said = [element.text for element in drawn.iter() if element.tag.endswith("}text")]
    assert said[0] == "four topics.csv"
    assert said[1] == "160 documents in 4 clusters"
    assert said[-1] == f"Grampus, {run.provenance.created[:10]}"
    assert {f"{cluster.name} ({cluster.size})" for cluster in run.evidence.clusters} <= set(said)
    page.run("document.querySelector('#poster-png').click()")
    picture = saved(page, tmp_path, "grampus-poster.png")
    assert picture[:8] == b"\x89PNG\r\n\x1a\n"
    assert int.from_bytes(picture[16:20], "big") > 1.8 * float(drawn.attrib["width"])
    assert page.problems == []


def test_the_saved_picture_is_the_map_on_the_screen(chrome, tmp_path):
    page = show(chrome, example_run(), tmp_path / "page.html")
    page.downloads(tmp_path)
    page.run("document.querySelector('#save-png').click()")
    image = base64.b64encode(saved(page, tmp_path, "grampus-map.png")).decode()
    different = page.run(
        "(async () => { const i = new Image(); i.src = 'data:image/png;base64," + image + "'; await i.decode();"
        "const [p, o] = ['points', 'overlay'].map((id) => document.getElementById(id));"
        "const draw = (...layers) => { const c = document.createElement('canvas'); c.width = p.width; c.height ="
        "p.height; const x = c.getContext('2d'); layers.forEach((l) => x.drawImage(l, 0, 0));"
        "return x.getImageData(0, 0, c.width, c.height).data; };"
        "const [a, b] = [draw(i), draw(p, o)]; let d = 0; for (let k = 0; k < a.length; k += 1)"
        "d += Math.abs(a[k] - b[k]) > 1 ? 1 : 0; return d; })()"
    )
    assert different == 0


INTERACTIVE = "a[href], button, input, select, summary, [tabindex='0']"
VISIBLE = (
    "(e) => !e.disabled && e.getClientRects().length > 0 && getComputedStyle(e).visibility !== 'hidden' && "
    "!e.closest('[hidden]')"
)


@pytest.mark.parametrize("view", ["map", "tree"])
def test_the_keyboard_reaches_everything(chrome, tmp_path, view):
    """Tab goes through all that can be pressed; within tabs and trees the arrows do, of which one item is reached."""
    page = show(chrome, example_run(), tmp_path / "page.html")
    page.run(f"document.querySelector('#view-{view}').click()")
    page.run("document.querySelector('[data-cluster=\"1\"] footer input').click()")
    page.run("document.querySelector('.legend-line').click(), document.querySelector('#tab-documents').click()")
    page.run("document.querySelector('.documents .document').click()")
    page.run("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    page.run(
        f'window.wanted = [...document.querySelectorAll("{INTERACTIVE}")].filter({VISIBLE})'
        '.filter((e) => !e.matches(\'[role=tab][tabindex="-1"], [role=treeitem][tabindex="-1"]\'));'
        "window.reached = new Set(); document.addEventListener('focusin', (e) => reached.add(e.target)); "
        "document.activeElement.blur(); window.scrollTo(0, 0); 1"
    )
    wanted = page.run("wanted.length")
    assert wanted > 60
    for _ in range(wanted + 60):  # fields of dates and lists that scroll take several
        page.key("Tab")
    missed = page.run(
        "wanted.filter((e) => e.isConnected && !reached.has(e))"
        ".map((e) => `${(e.closest('section') ?? e).id} ${e.outerHTML.slice(0, 90)}`)"
    )
    assert not missed, missed
    assert page.problems == []


def test_what_the_keyboard_reaches_does_its_work(chrome, tmp_path):
    page = show(chrome, example_run(), tmp_path / "page.html")

    def press(selector, key="Enter"):
        page.run(f"document.querySelector({json.dumps(selector)}).focus()")
        page.key(key)
        page.settle()

    press(".found-button")
    assert "40" in text(page, "#listed-count") or text(page, "#listed-count") is not None
    press("#tab-documents")
    press(".documents .document")
    assert page.run("document.activeElement.id") == "opened"
    press("#opened .close")
    assert page.run("document.querySelector('#opened')") is None
    press("#clear")
    press("#full")
    assert page.run("document.querySelector('#map').classList.contains('full')")
    page.key("Escape")
    press("#save-menu summary")
    assert page.run("document.querySelector('#save-menu').open")
    press("#rename-0")
    page.write("By keyboard")
    page.key("Enter")
    assert text(page, "#name-0") == "By keyboard"
    press("[data-cluster='1'] footer input", " ")
    press("[data-cluster='2'] footer input", " ")
    press("#merge")
    assert text(page, "#headline") == "160 documents in 3 clusters"
    press("#undo")
    press("#undo")
    assert text(page, "#headline") == "160 documents in 4 clusters"
    assert page.problems == []


def unpacked(page: str) -> str:
    """Everything a page holds, packed parts unpacked."""
    parts = [page]
    for name in ("texts", "index"):
        packed = re.search(rf'<script type="text/plain" id="{name}">([^<]*)</script>', page)
        assert packed is not None
        parts += [zlib.decompress(base64.b64decode(packed[1])).decode("utf-8", "replace")] if packed[1] else []
    return "\n".join(parts)


def test_without_texts_page_and_run_hold_none(chrome, tmp_path):
    """Every document has a word of its own in its title and in its text, and a sentence that nobody else has."""
    run = example_run()
    n = len(run)
    texts_of = [f"{words} Body{i}zq was here alone." for i, words in enumerate(run.documents.texts)]
    titles = [f"Title{i}zq" for i in range(n)]
    corpus = Corpus(texts_of, titles=titles, labels=list(run.documents.classes), source="secrets.csv")
    made = DocumentClusterer(4, random_state=0).fit(corpus).run_
    secret = re.compile(r"(?i)(body|title)\d+zq|was here alone")
    write_report(made, tmp_path / "with.html")
    found = Counter(match[0].lower() for match in secret.finditer(unpacked((tmp_path / "with.html").read_text())))
    assert len(found) > n  # the detector sees titles and the index where they are meant to be
    made.save(tmp_path / "run", texts=False)
    bare = Run.load(tmp_path / "run")
    for run_shown, name in ((made, "a.html"), (bare, "b.html")):
        write_report(run_shown, tmp_path / name, texts="none")
        page = unpacked((tmp_path / name).read_text())
        assert secret.findall(page) == []
        assert '<script type="text/plain" id="index"></script>' in page
    for file in (tmp_path / "run").rglob("*"):
        if file.is_file():
            assert secret.findall(held(file)) == [], file.name
    page = show(chrome, bare, tmp_path / "b.html", texts="none")
    assert "no text, title or word index" in text(page, "body > footer")
    page.run("document.querySelector('.found-button').click()")
    page.settle()
    assert texts(page, ".document-text") == []
    page.run("document.querySelector('.documents .document').click()")
    assert texts(page, "#opened mark") == []
    assert page.problems == []


def held(file) -> str:
    """The characters of a file of a run; arrays are unpacked."""
    data = file.read_bytes()
    if data[:2] == b"PK":
        import zipfile

        with zipfile.ZipFile(file) as box:
            data = b"\n".join(box.read(name) for name in box.namelist())
    elif data[:2] == b"\x1f\x8b":
        import gzip

        data = gzip.decompress(data)
    return data.decode("latin-1") + data.decode("utf-16-le", "ignore")
