"""The report in a real browser: every panel does what it says, nothing is asked of the network, nothing runs."""

import http.server
import json
import re
import subprocess
import sys
import threading
from collections import Counter
from xml.etree import ElementTree

import numpy as np
import pytest

from grampus._rows import csv_text, document_rows
from grampus.persist import Edit
from grampus.report import build, write_report
from grampus.text import Texts
from tests.axe import script as axe_script
from tests.page_tools import READY, N, ground, legend, listed, number, picture, saved, search, show, stage, text, texts
from tests.pages import PAYLOADS, example_run, hostile, with_levels
from tests.runs import changed


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    file = tmp_path_factory.mktemp("report") / "page.html"
    write_report(example_run(), file)
    return file


@pytest.fixture
def page(chrome, example):
    """The example, freshly opened on a wide screen in light colours."""
    chrome.size(1440, 900)
    chrome.media(scheme="light")
    chrome.open(example)
    chrome.until(READY)
    yield chrome
    assert chrome.problems == []
    assert chrome.dialogs == []
    assert [url for url in chrome.requests if not url.startswith(("blob:", "data:"))] == [example.resolve().as_uri()]


def test_it_says_what_was_found_in_plain_words(page):
    assert text(page, "#headline") == "160 documents in 4 clusters"
    assert text(page, ".eyebrow") == "four topics.csv"
    words = " ".join(texts(page, ".statements li"))
    assert "4 clusters agree best between halves" in words
    assert "“topic”" in words
    assert len(texts(page, "#choice-chart circle")) == 4  # k = 6 has no score
    assert len(texts(page, "#choice-chart .error")) == 4
    assert text(page, "#command") == "grampus cluster 'four topics.csv'"


def test_one_request_and_no_other_when_served(chrome, example):
    asked = []

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *arguments):
            super().__init__(*arguments, directory=str(example.parent))

        def log_message(self, *arguments):
            asked.append(self.path)

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Quiet) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            chrome.open(f"http://127.0.0.1:{server.server_port}/page.html")
            chrome.until(READY)
            search(chrome, "whale")
            blocked = chrome.run("fetch('/other').then(() => 'went', () => 'blocked')")
        finally:
            server.shutdown()
            thread.join()
    assert asked == ["/page.html"]
    assert blocked == "blocked"
    assert any("Content Security Policy" in problem for problem in chrome.problems)  # that was us


def test_search_finds_words_in_titles_texts_and_ids(page):
    run = example_run()
    expected = sum("whale" in t and "tide" in t for t in run.documents.texts)
    assert search(page, "Tide WHALE").startswith(f"{expected} document")
    assert listed(page) == expected
    in_titles = [title for title in run.documents.titles if title.startswith("kitchen")]
    assert search(page, "kitchen number").startswith(f"{len(in_titles)} documents found")
    assert sorted(texts(page, "#panel-documents .document-title")) == sorted(in_titles)
    search(page, "nowhere at all")
    assert text(page, "#search-note").startswith("0 documents")
    page.run("document.querySelector('#query').value = ''")
    page.click("#query")
    page.key("Enter")
    page.until("document.querySelector('#search-note').textContent === ''")


def test_search_covers_words_that_the_page_does_not_show(chrome, tmp_path):
    run = example_run()
    long = [f"{text} {'and so on ' * 30} faraway{i % 3}" for i, text in enumerate(run.documents.texts)]
    hidden = changed(run, texts=Texts(long), excerpts=Texts(text[:160] for text in long))
    write_report(hidden, tmp_path / "page.html")
    chrome.open(tmp_path / "page.html")
    chrome.until(READY)
    assert search(chrome, "faraway1") == f"{sum(text.endswith('faraway1') for text in long)} documents found."
    assert search(chrome, '"faraway"').startswith("0 documents")  # in quotes: the whole word
    assert search(chrome, "faraw").startswith(f"{N} documents")
    assert search(chrome, "faraway1", pattern=True).startswith("0 documents found (searched in")


def test_the_table_that_is_saved_is_the_table_of_the_command(page, tmp_path):
    page.downloads(tmp_path)
    page.click("#save-menu summary")
    page.click("#save-csv")
    assert saved(page, tmp_path, "grampus.csv").decode() == csv_text(*document_rows(example_run()), lossless=False)


def test_pictures_are_the_map_and_the_tree(page, tmp_path):
    page.downloads(tmp_path)
    page.click("#save-menu summary")
    for view in ("map", "tree"):
        page.click(f"#view-{view}")
        for kind in ("png", "svg"):
            page.click(f"#save-{kind}")
    width, height = page.run("[document.querySelector('#points').width, document.querySelector('#points').height]")
    image = saved(page, tmp_path, "grampus-map.png")
    assert image[:8] == b"\x89PNG\r\n\x1a\n"
    assert [int.from_bytes(image[16:20]), int.from_bytes(image[20:24])] == [width, height]
    assert saved(page, tmp_path, "grampus-tree.png")[:4] == b"\x89PNG"
    drawn = ElementTree.fromstring(saved(page, tmp_path, "grampus-map.svg"))
    tags = Counter(element.tag.rpartition("}")[2] for element in drawn.iter())
    assert tags["circle"] == N
    assert tags["text"] >= 4
    names = "".join(ElementTree.fromstring(saved(page, tmp_path, "grampus-tree.svg")).itertext())
    assert all(cluster.name in names for cluster in example_run().evidence.clusters)


def test_a_link_restores_the_view(page, example):
    page.run("(() => { const s = document.querySelector('#filter-label'); s.value = s.options[2].value;"
             "s.dispatchEvent(new Event('change')); })()")  # fmt: skip
    search(page, "whale")
    kept = listed(page)
    assert kept > 0
    page.click("#zoom-in")
    page.run("(() => { const s = document.querySelector('#colour'); s.value = 'label';"
             "s.dispatchEvent(new Event('change')); })()")  # fmt: skip
    page.click("#save-menu summary")
    page.click("#copy-link")
    before, address = picture(page), page.until("location.hash.startsWith('#view?') && location.href")
    page.open("about:blank")
    page.open(address)
    page.until(READY)
    page.until("document.querySelector('#listed-count') !== null")
    page.until(f"document.querySelector('#listed-count').textContent.replace(/\\D/g, '') === '{kept}'")
    assert page.run("document.querySelector('#colour').value") == "label"
    assert picture(page) == before
    page.open(example)  # for the fixture's last look
    page.until(READY)


def test_levels_change_everything_that_is_shown(chrome, tmp_path):
    write_report(with_levels(), tmp_path / "page.html")
    chrome.size(1440, 900)
    chrome.open(tmp_path / "page.html")
    chrome.until(READY)
    assert texts(chrome, "#levels button") == ["coarse 2", "middle 4", "fine 8"]
    middle = picture(chrome)
    run = with_levels()
    for place, (name, k) in enumerate((("coarse", 2), ("fine", 8))):
        chrome.click(f"[data-level='{2 * place}']")
        assert text(chrome, "#headline") == f"160 documents in {k} clusters"
        assert texts(chrome, ".found-name") == list(run.level_names(name))
        assert len(texts(chrome, ".card")) == len(legend(chrome)) == k
        assert len(texts(chrome, "[id^=rename]")) == k
        assert "about the middle level" in text(chrome, "#as-found")
        assert picture(chrome) != middle
    chrome.click("[data-level='1']")
    assert picture(chrome) == middle
    assert len(texts(chrome, "[id^=rename]")) == 4
    chrome.downloads(tmp_path)
    chrome.click("[data-level='2']")
    chrome.click("#save-menu summary")
    chrome.click("#save-csv")
    assert saved(chrome, tmp_path, "grampus.csv").decode() == csv_text(*document_rows(run), lossless=False)
    assert chrome.problems == []


def test_a_link_restores_level_and_selection(chrome, tmp_path):
    run = with_levels()
    for act, expected in (
        ("document.querySelectorAll('.found-button')[1].click()", int((run.level_labels("fine") == 1).sum())),
        ("document.querySelector('#view-tree').click(), document.querySelector('#branch-2').dispatchEvent("
         "new MouseEvent('click'))", None),
    ):  # fmt: skip
        show(chrome, run, tmp_path / "page.html")
        chrome.click("[data-level='2']")
        chrome.run(act)
        kept = listed(chrome)
        assert kept == expected or expected is None
        chrome.run("document.querySelector('#copy-link').click()")
        address = chrome.until("location.hash.startsWith('#view?') && location.href")
        chrome.open("about:blank")
        chrome.open(address)
        chrome.until(READY)
        assert text(chrome, "[data-level][aria-pressed=true]").startswith("fine")
        assert listed(chrome) == kept > 0
        assert chrome.problems == []


def test_filters_by_label_and_date(page):
    run = example_run()
    page.run("(() => { const s = document.querySelector('#filter-label'); "
             "s.value = [...s.options].find((o) => o.textContent === 'sky').value;"
             "s.dispatchEvent(new Event('change')); })()")  # fmt: skip
    assert listed(page) == sum(value == "sky" for value in run.documents.classes)
    page.run("(() => { const s = document.querySelector('#filter-from'); s.value = '2014-01-01';"
             "s.dispatchEvent(new Event('change')); })()")  # fmt: skip
    expected = sum(
        value == "sky" and day[:1] == "2" and day >= "2014"
        for value, day in zip(run.documents.classes, run.documents.dates, strict=True)
    )
    assert listed(page) == expected
    page.click("#clear")
    assert text(page, "#listed-count") is None


def test_the_reading_pane_marks_words_and_says_why(page):
    search(page, "whale")
    page.click(".documents .document")
    assert "whale" in [word.lower() for word in texts(page, "#opened mark.asked")]
    assert len(texts(page, "#opened mark.telling")) > 0
    said = texts(page, "#opened dt")
    assert said[:2] == ["Cluster", "Next nearest"]
    assert "Id" in said


@pytest.mark.parametrize("size", [(1440, 900), (1920, 1080), (390, 844)])
def test_the_map_fills_the_window_and_gives_it_back(page, size):
    page.size(*size)
    page.settle()
    page.click("#full")
    page.settle()
    assert page.run("document.querySelector('#map').getBoundingClientRect().height") == size[1]
    assert page.run("document.elementFromPoint(...(({x, y, width, height}) => [x + width / 2, y + height / 2])"
                    "(document.querySelector('#query').getBoundingClientRect())).id") == "query"  # fmt: skip
    page.click("#full")


def test_the_tree_follows_the_level(chrome, tmp_path):
    page = show(chrome, with_levels(), tmp_path / "page.html")
    page.click("#view-tree")
    for level, parts in ((2, 8), (0, 2), (1, 4)):
        page.click(f"[data-level='{level}']")
        page.settle()
        assert text(page, "#cut-value") == str(parts)


def test_search_by_regular_expression_cannot_hang_the_page(page):
    import re

    expected = sum(bool(re.search(r"\bwhale\b.*\bkrill\b", t)) for t in example_run().documents.texts)
    assert search(page, r"\bwhale\b.*\bkrill\b", pattern=True).startswith(f"{expected} document")
    assert search(page, "(unclosed", pattern=True).startswith("Not a regular expression")
    assert page.run("document.querySelector('#query').getAttribute('aria-invalid')") == "true"
    assert "was stopped" in search(page, "(a+)+$", pattern=True)
    assert search(page, "whale", pattern=True).endswith("characters).")  # and it searches again


def test_box_and_loop_select_what_they_surround(page):
    left, top, right, bottom = stage(page)
    page.click("[data-tool=box]")
    assert page.run("document.querySelector('[data-tool=box]').getAttribute('aria-pressed')") == "true"
    left, top, right, bottom = stage(page)
    middle = (left + right) / 2
    counts = []
    for a, b in ((left, middle), (middle + 0.02, right)):
        page.drag((a, bottom), ((a + b) / 2, (top + bottom) / 2), (b, top))
        counts.append(listed(page))
    assert sum(counts) == N
    assert min(counts) > 0
    page.click("[data-tool=lasso]")
    left, top, right, bottom = stage(page)
    page.drag((left, bottom), (left, top), (right, top), (right, bottom), (middle, bottom))
    assert listed(page) == N
    page.drag((right - 40, bottom - 8), (right - 30, bottom - 30), (right - 20, bottom - 8))
    assert listed(page) < N / 4


def test_dragging_moves_the_map_and_a_press_opens_a_document(page):
    left, _, right, bottom = stage(page)
    before = picture(page)
    page.drag(((left + right) / 2, bottom - 20), ((left + right) / 2 + 80, bottom - 80))
    assert picture(page) != before
    page.click("#zoom-all")
    assert picture(page) == before
    page.click("#panel-legend .legend-line")
    page.run("document.querySelector('#tab-documents').click()")
    page.click(".documents .document")
    assert page.run("document.activeElement.id") == "opened"
    assert text(page, "#opened h3") in list(example_run().documents.titles)


# Digests of the marks, frame by frame, until they have rested for some.
FRAMES = """
new Promise((done) => {
  const points = document.querySelector('#points');
  const seen = [];
  let rested = 0;
  const look = () => {
    const { data } = points.getContext('2d').getImageData(0, 0, points.width, points.height);
    let hash = 0;
    for (const value of new Uint32Array(data.buffer)) hash = (Math.imul(hash, 31) + value) | 0;
    seen.push(hash);
    rested = points.dataset.rests === 'true' ? rested + 1 : 0;
    if (rested < 5) requestAnimationFrame(look);
    else done(seen);
  };
  requestAnimationFrame(() => requestAnimationFrame(look));
})
"""


def use_map(page, folder):
    """Move and zoom a map in several ways; return what is seen of each, and a picture saved in the middle of it."""
    left, top, right, bottom = stage(page)
    x, y = (left + right) / 2, bottom - 20
    drag = [(x, y), (x + 40.5, y - 30), (x + 80, y - 80)]
    page.drag(*drag)
    seen = {"moved": page.run(FRAMES)}
    page.click("#zoom-in")
    seen["zoomed"] = page.run(FRAMES)
    page.click("#zoom-in")
    page.drag(*drag)
    page.mouse("moved", left, top)
    seen["zoomed and moved"] = page.run(FRAMES)
    page.run("document.querySelector('#zoom-out').click(), document.querySelector('.legend-line').click()")
    seen["zoomed and chosen"] = page.run(FRAMES)
    page.downloads(folder)
    save = "document.querySelector('#save-png').click()"
    frame = f"new Promise((done) => requestAnimationFrame(() => done({save})))"
    page.run(f"document.querySelector('#zoom-out').click(), {frame}")
    return seen, saved(page, folder, "grampus-map.png")


def test_a_large_map_comes_to_the_same_picture_as_a_small_one(chrome, tmp_path, monkeypatch):
    """It is drawn in many steps, of which none is seen before the last."""
    plain, seen = build.asset, {}
    for way, constants in {"small": {}, "large": {"LARGE": 100, "SLICE": 0, "EACH": 8}}.items():

        def asset(name, constants=constants):
            text = plain(name)
            for constant, value in constants.items() if name == "points.js" else ():
                text, times = re.subn(rf"(?<=const {constant} = )\d+", str(value), text)
                assert times == 1
            return text

        monkeypatch.setattr(build, "asset", asset)
        (tmp_path / way).mkdir()
        show(chrome, example_run(), tmp_path / way / "page.html")
        seen[way] = use_map(chrome, tmp_path / way)
        assert chrome.problems == []
    (small, small_image), (large, large_image) = seen.values()
    for name, pictures in large.items():
        assert pictures[-1] == small[name][-1], name
        # The one that was there and the new one; after two gestures there can be one between them.
        assert len(set(pictures)) <= 2 + (name == "zoomed and moved"), name
    assert large_image == small_image


def certainty_bins(margin):
    """Eight steps up to where all but one in a hundred lie."""
    kept = np.rint(margin.astype(float) * 65535) / 65535
    top = np.sort(kept)[int(0.99 * (len(kept) - 1))]
    return np.bincount(np.minimum(7, np.floor(kept / top * 8).astype(int)), minlength=8).tolist()


def test_the_legend_selects_and_the_colours_change(page):
    run = example_run()
    assert legend(page) == [cluster.size for cluster in run.evidence.clusters]
    page.click(".legend-line")
    page.click("#tab-documents")
    assert listed(page) == run.evidence.clusters[0].size
    page.click("#tab-legend")
    page.click(".legend-line")
    assert text(page, "#listed-count") is None
    seen = {picture(page)}
    for choice, sizes in (
        ("label", sorted(Counter(run.documents.classes).values(), reverse=True)),
        ("certainty", certainty_bins(run.evidence.margin)),
    ):
        page.run(f"(() => {{ const s = document.querySelector('#colour'); s.value = '{choice}';"
                 "s.dispatchEvent(new Event('change')); })()")  # fmt: skip
        assert legend(page) == sizes
        seen.add(picture(page))
    assert len(seen) == 3


def test_the_cut_of_the_tree_colours_the_map(page):
    page.click("#view-tree")
    before = picture(page)
    page.run("document.querySelector('#cut').focus()")
    for _ in range(2):
        page.key("ArrowLeft")
    assert text(page, "#cut-value") == "2"
    assert page.run("document.querySelector('#colour').value") == "cut"
    sizes = legend(page)
    assert len(sizes) == 2
    assert sum(sizes) == N
    assert picture(page) != before
    page.key("Home")
    assert legend(page) == [N]
    page.key("End")
    leaves = sum(not branch.children for branch in example_run().evidence.tree)
    assert len(legend(page)) == leaves
    assert text(page, "#cut-value") == str(leaves)


def test_the_tree_opens_closes_and_selects_by_keyboard(page):
    page.click("#view-tree")
    root = example_run().evidence.tree[0]
    page.run("document.querySelector('#branch-0').focus()")
    shown = len(texts(page, "[role=treeitem]"))
    page.key("ArrowLeft")
    assert page.run("document.querySelector('#branch-0').getAttribute('aria-expanded')") == "false"
    assert len(texts(page, "[role=treeitem]")) == 1
    page.key("ArrowRight")
    assert len(texts(page, "[role=treeitem]")) == shown
    page.key("ArrowDown")
    assert page.run("document.activeElement.id") == "branch-1"
    page.key("Enter")
    page.click("#tab-documents")
    assert listed(page) == example_run().evidence.tree[root.children[0]].size


def test_tabs_map_and_skip_link_work_from_the_keyboard(page):
    page.run("document.activeElement.blur(); window.scrollTo(0, 0)")
    page.key("Tab")
    assert page.run("document.activeElement.className") == "skip"
    outline = "getComputedStyle(document.activeElement).outlineStyle"
    assert page.run(outline) != "none"
    page.run("document.querySelector('#tab-legend').focus()")
    page.key("ArrowRight")
    assert page.run("document.activeElement.id") == "tab-documents"
    page.key("Home")
    assert page.run("document.activeElement.id") == "tab-legend"
    page.key("End")
    assert page.run("document.activeElement.id") == "tab-documents"
    page.run("document.querySelector('#points').focus()")
    before = picture(page)
    for key in ("+", "ArrowLeft", "ArrowUp"):
        page.key(key)
    assert picture(page) != before
    page.key("Enter")
    assert 0 < listed(page) < N
    page.key("Escape")
    assert text(page, "#listed-count") is None
    page.key("0")
    assert picture(page) == before


def test_rename_merge_download_and_apply_again(page, example, tmp_path):
    run = example_run()
    page.downloads(tmp_path)
    page.click("#rename-1")
    page.write("Whales & co <b>")
    page.key("Enter")
    assert text(page, "#name-1") == "Whales & co <b>"
    assert "Whales & co <b>" in texts(page, ".legend-name")
    assert page.run("document.activeElement.id") == "rename-1"
    for cluster in (3, 1):
        page.click(f"[data-cluster='{cluster}'] footer input[type=checkbox]")
    page.click("#merge")
    assert text(page, "#headline") == "160 documents in 3 clusters"
    assert (
        number(text(page, "[data-cluster='1'] .card-size b"))
        == run.evidence.clusters[1].size + run.evidence.clusters[3].size
    )
    assert legend(page) == [
        run.evidence.clusters[0].size,
        run.evidence.clusters[1].size + run.evidence.clusters[3].size,
        run.evidence.clusters[2].size,
    ]
    assert "2 changes" in text(page, "#edit-bar")
    page.click("#download")
    file = tmp_path / "edits.json"
    page.until("true")
    for _ in range(200):
        if file.exists() and file.stat().st_size:
            break
        page.settle()
    given = json.loads(file.read_text())
    made = [(edit["action"], sorted(edit["clusters"]), edit.get("name", "")) for edit in given["edits"]]
    assert made == [("rename", [1], "Whales & co <b>"), ("merge", [1, 3], "")]

    run.save(tmp_path / "run")
    out = tmp_path / "again.html"
    command = ["report", str(tmp_path / "run"), "--edits", str(file), "--out", str(out)]
    done = subprocess.run([sys.executable, "-m", "grampus", *command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    page.open(out)
    page.until(READY)
    assert text(page, "#headline") == "160 documents in 3 clusters"
    assert text(page, "#name-1").startswith("Whales & co <b> + ")
    page.click("[data-cluster='1'] footer button:nth-of-type(3)")  # split again
    assert text(page, "#headline") == "160 documents in 4 clusters"
    page.click("#undo")
    assert text(page, "#headline") == "160 documents in 3 clusters"
    page.click("#undo-all")  # what was done in this page; the log of the run stays
    assert text(page, "#name-1").startswith("Whales & co <b> + ")
    page.open(example)  # for the fixture's last look
    page.until(READY)


def test_light_and_dark(page):
    bright = ground(page)
    page.click("#theme")
    dark = ground(page)
    assert sum(bright[:3]) > 600
    assert sum(dark[:3]) < 200
    assert page.run("document.querySelector('#theme').getAttribute('aria-pressed')") == "true"
    page.click("#theme")
    assert ground(page) == bright
    page.run("delete document.documentElement.dataset.theme")
    page.media(scheme="dark")
    page.settle()
    assert ground(page) == dark


def test_labels_time_heatmap_and_oddities_hold_the_run(page):
    run = example_run()
    order = [value for value, _ in Counter(run.documents.classes).most_common()]
    rows = page.run(
        "[...document.querySelectorAll('#label-counts tbody tr')].map((r) => "
        "[...r.querySelectorAll('.cell')].map((c) => Number(c.textContent) || 0))"
    )
    expected = [
        [
            sum(1 for i in np.flatnonzero(run.evidence.labels == c) if run.documents.classes[int(i)] == value)
            for value in order
        ]
        for c in range(4)
    ]
    heads = texts(page, "#label-counts thead th")[1:-1]
    places = [heads.index(value or "(none)") for value in order]
    assert [[row[p] for p in places] for row in rows] == expected
    assert "16 documents without a date" in text(page, "#time-note")
    assert len(texts(page, ".time-row:not(.axis)")) == 4
    cells = page.run(
        "(() => { const c = document.querySelector('#heatmap-canvas'); return new Set(c.getContext('2d')"
        ".getImageData(0, 0, c.width, c.height).data).size; })()"
    )
    assert cells > 20
    x, y = page.place("#heatmap-canvas")
    page.mouse("moved", x - 100, y - 100)
    assert text(page, "#heatmap-readout").startswith("Mean similarity")
    assert texts(page, "#copies .copies-head strong") == ["2 documents"]
    means = np.array([float(value.replace("−", "-")) for value in texts(page, ".heat-foot tbody td")]).reshape(4, 4)
    assert (means.argmax(axis=1) == np.arange(4)).all()


@pytest.mark.parametrize("width", [390, 820, 1440])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_every_screen(page, width, scheme):
    page.media(scheme=scheme)
    page.size(width, 800)
    page.settle()
    assert page.run("document.documentElement.scrollWidth") <= width
    small = (
        "[...document.querySelectorAll('button, select, input, summary, nav a')].filter((e) => {"
        "const b = e.getBoundingClientRect(); return b.width > 0 && b.height < (e.type === 'checkbox' ? 16 : 24); })"
        ".map((e) => e.outerHTML.slice(0, 80))"
    )
    assert page.run(small) == []


def test_without_javascript_there_are_tables(chrome, example):
    chrome.script(False)
    try:
        chrome.open(example)
        # The page's own scripts are off; what we ask through the protocol still runs.
        assert chrome.run("document.documentElement.dataset.script") is None
        assert chrome.run("getComputedStyle(document.querySelector('#map')).display") == "none"
        tables = "[...document.querySelectorAll('.plain-cluster')].map((s) => s.querySelectorAll('tbody tr').length)"
        assert chrome.run(tables) == [10, 10, 10, 10]
        assert "160 documents in 4 clusters" in chrome.run("document.body.innerText")
    finally:
        chrome.script(True)
    assert chrome.problems == []


def test_payloads_run_where_nothing_stops_them(chrome, tmp_path):
    """The detector itself: the same payloads in a page without our care do run."""
    file = tmp_path / "open.html"
    file.write_text("<!doctype html><meta charset=utf-8><p>" + "<p>".join(PAYLOADS[8:16]), encoding="utf-8")
    chrome.open(file)
    chrome.until("window.hit === 1")
    assert chrome.dialogs


def test_no_payload_runs(chrome, tmp_path):
    assert len(set(PAYLOADS)) == 252
    run = example_run(63)
    assert len(run) == 252  # one document for each payload
    named = (Edit("rename", (c,), name=PAYLOADS[p][:200].strip() or "x") for c, p in ((0, 12), (2, 40)))
    pages = {"excerpts": (), "full": (), "none": (Edit("merge", (0, 1)), *named)}
    made = "iframe, object, embed, img, video, audio, base, form[action], [onerror], [onload], [onfocus], [autofocus]"
    elements = f"document.querySelectorAll('{made}').length"
    scripts = "document.querySelectorAll('script').length"
    for embed, edits in pages.items():
        file = tmp_path / f"{embed}<img src=x onerror=alert(1)>.html"
        write_report(hostile(run), file, texts=embed, edits=edits)
        chrome.open(file)
        chrome.until(READY)
        for act in (
            "document.querySelectorAll('details').forEach((d) => { d.open = true; })",
            "document.querySelector('#view-tree').click()",
            "document.querySelectorAll('.limb-item').forEach((b) => b.dispatchEvent(new MouseEvent('click')))",
            "document.querySelector('#card-table').click(), document.querySelector('#card-table').click()",
            "document.querySelector('#save-svg').click(), document.querySelector('#save-png').click()",
            "document.querySelector('#view-map').click()",
            "document.querySelector('#save-svg').click(), document.querySelector('#save-csv').click()",
            "document.querySelectorAll('.more').forEach((b) => b.click())",
            "document.querySelector('#tab-legend').click(), document.querySelector('.legend-line').click()",
            "document.querySelectorAll('.document').forEach((b, i) => i % 9 || b.click())",
        ):
            chrome.run(f"(() => {{ {act} }})()")
        chrome.run(
            "[...document.querySelectorAll('#colour option')].forEach((o) => {"
            "const s = document.querySelector('#colour'); s.value = o.value; s.dispatchEvent(new Event('change')); })"
        )
        left, top, right, bottom = stage(chrome)
        for i in range(12):
            chrome.mouse("moved", left + (right - left) * (i % 4 + 0.5) / 4, top + (bottom - top) * (i // 4 + 0.5) / 3)
        search(chrome, PAYLOADS[8])
        chrome.click("footer [id^=rename]")
        chrome.write(PAYLOADS[20])
        chrome.key("Enter")
        chrome.settle()
        assert PAYLOADS[20].strip() in texts(chrome, ".card h3")
        assert chrome.run("window.hit") is None, embed
        assert chrome.dialogs == []
        assert chrome.problems == []
        assert chrome.run(elements) == 0
        assert chrome.run(scripts) == 4  # our mark, data, worker's source and script; the texts were taken out
        assert [url for url in chrome.requests if not url.startswith(("blob:", "data:"))] == [file.resolve().as_uri()]
    chrome.script(False)
    try:
        chrome.open(file)
        assert chrome.run(elements) == 0
        assert chrome.problems == []
    finally:
        chrome.script(True)


def bare(run, **changes):
    return changed(run, titles=None, classes=None, dates=None, choice=None, columns={}, **changes)


def odd_runs():
    """Name → (run, options of the report): the edges of what there can be."""
    from grampus import DocumentClusterer

    whole = example_run()
    two = DocumentClusterer(2, random_state=0).fit(["whale", "bird"]).run_
    one = DocumentClusterer(1, random_state=0).fit(["whale song", "whale bone", "whale tail"]).run_
    long = changed(whole, texts=Texts(["word " * 200_000, *list(whole.documents.texts)[1:]]))
    scripts = ["שלום עולם 🐋 لوحة", "👩‍👩‍👧‍👦 emoji 👍🏽", "\u202eסוף \u200f", "नमस्ते दुनिया"]
    mixed = Texts(scripts[i % 4] for i in range(len(whole)))
    return {
        "one cluster": (one, {}),
        "too few to choose k": (DocumentClusterer(random_state=0).fit(["whale", "bird", "whale song"]).run_, {}),
        "two documents": (two, {}),
        "all merged": (whole, {"edits": (Edit("merge", (0, 1, 2, 3)),)}),
        "a text of 1 MB": (long, {"texts": "full"}),
        "right to left and emoji": (changed(whole, titles=mixed, excerpts=mixed), {}),
        "nothing but ids": (bare(whole, texts=None, excerpts=None), {"texts": "none"}),
        "one label": (changed(whole, classes=Texts("x" for _ in range(N))), {}),
        "nowhere on the map": (changed(whole, coordinates=np.full((N, 2), np.nan, dtype=np.float32)), {}),
    }


ODD = ("one cluster", "too few to choose k", "two documents", "all merged", "a text of 1 MB", "right to left and emoji",
       "nothing but ids", "one label", "nowhere on the map")  # fmt: skip


@pytest.mark.parametrize("name", ODD)
def test_odd_input_still_makes_sense(chrome, tmp_path, name):
    run, options = odd_runs()[name]
    file = tmp_path / "page.html"
    write_report(run, file, **options)
    chrome.size(390, 800)
    chrome.open(file)
    chrome.until(READY)
    k = 1 if name == "all merged" else run.n_clusters
    words = f"{len(run)} documents in {k} cluster{'' if k == 1 else 's'}"
    assert text(chrome, "#headline") == words
    assert len(texts(chrome, ".card")) == k
    assert sum(legend(chrome)) == len(run)
    assert chrome.run("document.documentElement.scrollWidth") <= 390
    assert chrome.run("document.querySelector('#labels').hidden") == (run.documents.classes is None)
    assert chrome.run("document.querySelector('#time').hidden") == (run.documents.dates is None)
    found = search(chrome, "whale")
    assert "found" in found
    assert chrome.problems == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_serious_issue(page, scheme):
    axe = axe_script()
    if axe is None:
        pytest.skip("axe-core is not here: accessibility is not checked (make browser)")
    page.media(scheme=scheme)
    page.settle()
    page.click("#view-tree")
    page.call("Runtime.evaluate", expression=axe.read_text(encoding="utf-8"))
    page.run("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    found = page.run(
        "axe.run(document, {resultTypes: ['violations']}).then((r) => r.violations.map((v) => "
        "[v.impact, v.id, v.nodes.length, v.nodes[0].html.slice(0, 160), v.nodes[0].failureSummary]))", 60)  # fmt: skip
    assert [issue for issue in found if issue[0] in ("serious", "critical")] == []
