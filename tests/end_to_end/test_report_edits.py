"""Edits in the page: on every level, undone one by one, followed by every figure, and applied again."""

import csv
import io
import json
import subprocess
import sys

import numpy as np
import pytest

from grampus import metrics
from tests.edits import compare_with_page, make_edits, write_open_page
from tests.page_tools import READY, N, legend, number, saved, show, text, texts
from tests.pages import example_run, with_levels

LEVELS = ("coarse", "middle", "fine")


@pytest.fixture
def page(chrome, tmp_path):
    show(chrome, with_levels(), tmp_path / "page.html")
    chrome.downloads(tmp_path)
    yield chrome
    assert chrome.problems == []


def level(page, name):
    page.click(f"[data-level='{LEVELS.index(name)}']")


def rename(page, cluster, name):
    page.click(f"#rename-{cluster}")
    page.write(name)
    page.key("Enter")


def merge(page, *clusters):
    for cluster in clusters:
        page.click(f"[data-cluster='{cluster}'] footer input[type=checkbox]")
    page.click("#merge")


def test_every_level_can_be_edited_and_every_edit_undone(page, tmp_path):
    run = with_levels()
    names = {name: list(run.level_names(name)) for name in LEVELS}
    level(page, "coarse")
    rename(page, 1, "Wide")
    level(page, "fine")
    rename(page, 0, "Narrow")
    assert not page.run("document.querySelector('[data-cluster] footer input[type=checkbox]')")  # levels stay nested
    level(page, "middle")
    merge(page, 2, 3)
    assert text(page, "#headline") == f"{N} documents in 3 clusters"
    assert "3 changes" in text(page, "#edit-bar")
    page.click("#download")
    given = json.loads(saved(page, tmp_path, "edits.json"))
    assert given["edits"] == [
        {"action": "rename", "clusters": [1], "name": "Wide", "level": "coarse"},
        {"action": "rename", "clusters": [0], "name": "Narrow", "level": "fine"},
        {"action": "merge", "clusters": [2, 3]},
    ]
    page.click("#undo")
    assert len(texts(page, ".found-name")) == len(names["middle"])
    page.click("#undo")  # the level of the operation is shown again
    assert texts(page, ".found-name") == names["fine"]
    page.click("#undo")
    assert texts(page, ".found-name") == names["coarse"]
    assert page.run("document.querySelector('#edit-bar').hidden")


def test_edits_of_every_level_are_applied_again(page, chrome, tmp_path):
    run = with_levels()
    rename(page, 2, "Middle")
    level(page, "coarse")
    rename(page, 0, "Wide")
    level(page, "middle")
    merge(page, 1, 3)
    page.click("#download")
    saved(page, tmp_path, "edits.json")
    run.save(tmp_path / "run")
    words = [
        "report", str(tmp_path / "run"), "--edits", str(tmp_path / "edits.json"), "--out", str(tmp_path / "b.html"),
    ]  # fmt: skip
    done = subprocess.run([sys.executable, "-m", "grampus", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    chrome.open(tmp_path / "b.html")
    chrome.until(READY)
    assert texts(page, ".found-name")[2] == "Middle"
    assert len(texts(page, ".found-name")) == 3
    level(page, "coarse")
    assert "Wide" in texts(page, ".found-name")


def rows_of(page, tmp_path):
    page.click("#save-menu summary")
    page.click("#save-csv")
    return list(csv.DictReader(io.StringIO(saved(page, tmp_path, "grampus.csv").decode())))


def test_the_saved_table_has_the_edits_of_every_level(page, tmp_path):
    run = with_levels()
    rename(page, 2, "Middle")
    level(page, "coarse")
    rename(page, 0, "Wide")
    level(page, "fine")
    rename(page, 3, "Narrow")
    rows = rows_of(page, tmp_path)
    assert {row["name"] for row in rows if row["cluster"] == "2"} == {"Middle"}
    assert {row["name_coarse"] for row in rows if row["cluster_coarse"] == "0"} == {"Wide"}
    fine = run.level_labels("fine")
    assert [row["name_fine"] == "Narrow" for row in rows] == (fine == 3).tolist()


def test_every_figure_follows_an_edit(page, tmp_path):
    run = example_run()
    labels = np.where(run.evidence.labels == 3, 1, run.evidence.labels)
    merge(page, 1, 3)
    rename(page, 1, "Both together")
    sizes = [int((labels == c).sum()) for c in (0, 1, 2)]
    names = [run.evidence.clusters[0].name, "Both together", run.evidence.clusters[2].name]
    assert text(page, "#headline") == f"{N} documents in 3 clusters"
    assert texts(page, ".found-name") == names
    assert [number(value) for value in texts(page, ".found-line .number")] == sizes
    assert legend(page) == sizes
    assert texts(page, ".legend-name") == names
    cards = dict(zip(texts(page, ".card h3"), map(number, texts(page, ".card-size b")), strict=True))
    assert cards == dict(zip(names, sizes, strict=True))
    assert texts(page, "#label-counts tbody .row-name") == names
    cells = page.run(
        "[...document.querySelectorAll('#label-counts tbody tr')].map((r) => "
        "[...r.querySelectorAll('.cell')].reduce((sum, c) => sum + (Number(c.textContent) || 0), 0))"
    )
    assert cells == sizes
    assert texts(page, ".time-row:not(.axis) .row-name") == names
    assert texts(page, ".heat-foot tbody th") == names
    assert len(texts(page, ".heat-foot tbody td")) == 9
    known = np.array([bool(value) for value in run.documents.classes])
    classes = [value for value in run.documents.classes if value]
    table = metrics.contingency_table(classes, labels[known])
    said = " ".join(texts(page, ".statements li"))
    assert f"NMI {metrics.nmi(table):.2f}, ARI {metrics.ari(table):.2f}" in said
    assert "measured before your changes" in text(page, "#as-found")
    page.click("#card-table")
    assert texts(page, "#cards tbody .row-name") == sorted(names, key=lambda name: -sizes[names.index(name)])
    page.click("#card-table")
    page.click("#undo")
    page.click("#undo")
    assert f"{N} documents in 4 clusters" == text(page, "#headline")
    assert page.run("document.querySelector('#as-found').hidden")


def test_a_new_name_is_on_the_tree_and_in_sentences(page):
    run = example_run()
    weak = next(c.number for c in run.evidence.clusters if c.stability is not None and c.stability < 0.5)
    assert f"“{run.evidence.clusters[weak].name}”" in " ".join(texts(page, ".statements li"))
    rename(page, weak, "Loose ends")
    assert "“Loose ends”" in " ".join(texts(page, ".statements li"))
    page.click("#view-tree")
    page.settle()
    assert "Loose ends" in "".join(texts(page, "#tree-canvas text"))
    level(page, "coarse")
    rename(page, 0, "Wide")
    page.settle()
    assert "Wide" in page.run("[...document.querySelectorAll('[role=treeitem]')].map((e) => e.ariaLabel).join()")


def test_a_cluster_is_split_and_the_run_edited_alike(chrome, tmp_path):
    run = example_run()
    write_open_page(run, tmp_path / "page.html")
    chrome.open(tmp_path / "page.html")
    chrome.until(READY)
    chrome.until("!document.getElementById('texts')")
    chrome.click("#split-1")
    assert text(chrome, "#headline") == f"{N} documents in 5 clusters"
    assert compare_with_page(chrome, run, tmp_path)[0] == []
    press = "document.querySelector({}).click()".format
    chrome.run(press("\"[data-cluster='1'] footer button\""))  # show on the map: its documents are selected
    chrome.run("document.querySelector('#move-to').value = '3'")
    chrome.run(press("'#move'"))
    assert text(chrome, "#headline") == f"{N} documents in 4 clusters"
    assert compare_with_page(chrome, run, tmp_path)[0] == []
    chrome.run(press("'#take-out'"))
    assert "in no cluster" in text(chrome, "#headline")
    assert compare_with_page(chrome, run, tmp_path)[0] == []


def test_random_edits_give_what_the_run_gives(chrome, tmp_path):
    run = example_run()
    write_open_page(run, tmp_path / "page.html")
    chrome.open(tmp_path / "page.html")
    chrome.until(READY)
    chrome.until("!document.getElementById('texts')")
    for seed in range(30):
        rng = np.random.default_rng(seed)
        chrome.run("door.log.length = 0; door.replay(); 1")
        make_edits(chrome, rng, int(rng.integers(1, 6)))
        assert compare_with_page(chrome, run, tmp_path)[0] == [], seed
    assert chrome.problems == []
