"""Every action of the app on real collections: the texts of the demo, and the 20 newsgroups."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest

from grampus import DocumentClusterer
from grampus.app import OpenRun, view
from grampus.datasets import world_factbook
from grampus.persist import Edit, Run
from grampus.text import ReadOptions, read_corpus
from tests.end_to_end.test_app import DOOR, changes, drop, filters, show
from tests.page_tools import listed, search, text, texts
from tests.pages import serving

WAIT = 300.0  # seconds for what takes a while, on a loaded machine


def edit_everything(page, folder, word):
    """Press every button that makes an edit; the saved run is the one that the same edits make."""
    before = Run.load(folder)
    members = np.flatnonzero(before.evidence.labels == 1)[:3].tolist()
    splits = page.run("door.realGroups().find((group) => door.partsIn(group) > 1).first")
    edits = [
        Edit("rename", (0,), name="First of all"),
        Edit("split", (splits,), parts=2),
        Edit("merge", (0, 2)),
        Edit("move", (0,), tuple(before.documents.ids[row] for row in members)),
        Edit("noise", documents=(before.documents.ids[members[0]],)),
        Edit("done", (1,)),
        Edit("level", level="coarse"),
    ]
    asked = [
        "door.rename(door.state.groups[0], 'First of all')",
        f"door.split(door.state.groups[{splits}], 2)",
        "door.merge([door.state.groups[0], door.state.groups[2]])",
        f"door.move({members}, door.state.groups[0])",
        f"door.takeOut([{members[0]}])",
        "door.edit({action: 'done', level: door.data.level, clusters: [1]})",
        "door.edit({action: 'level', level: 0})",
    ]
    run = before
    for place, (press, edit) in enumerate(zip(asked, edits, strict=True), 1):
        page.run(press)
        changes(page, place)
        run = run.edited(edit)
        saved = Run.load(folder)
        assert saved.edits == run.edits
        assert saved.evidence.labels.tolist() == run.evidence.labels.tolist()
        assert texts(page, ".found-name")[: run.n_clusters] == [one.name for one in run.evidence.clusters]
    for left in range(len(edits) - 1, 0, -1):
        page.run("door.undo()")
        changes(page, left)
    page.run("door.undo()")
    page.until("document.querySelector('#edit-bar').hidden")
    assert Run.load(folder).edits == ()
    search(page, word)
    assert 0 < listed(page) < len(before)
    page.click("#clear")
    filters(page)
    page.click("#facet-0-0")
    page.until("!document.querySelector('#passing').textContent.startsWith('0 ')")
    page.run("document.querySelector('#facet-0-all').click()")


def take_a_while(page, folder, words):
    """Look inside a cluster, give words of topics, add a file; and undo each."""
    before = Run.load(folder)
    page.run("document.querySelector('#within-0').click()")
    page.until("!!document.querySelector('#cancel')", 5)
    page.until("!document.querySelector('#cancel')", WAIT)
    if text(page, "#live-note") == "Saved in the run.":
        assert Run.load(folder).n_clusters > before.n_clusters
        page.click("#undo")
        changes(page, 1)
        page.click("#undo")
        page.until("document.querySelector('#edit-bar').hidden")
    assert Run.load(folder).edits == ()
    page.click("#topics summary")
    page.run(f"document.querySelector('#seeds').value = 'Wanted: {words}'")
    page.click("#guide")
    page.until("[...document.querySelectorAll('.found-name')].some((e) => e.textContent === 'Wanted')", WAIT)
    page.click("#undo")
    page.until("![...document.querySelectorAll('.found-name')].some((e) => e.textContent === 'Wanted')", 30)
    drop(page, "new.csv", f"id,text\nnew-1,{words.replace(',', '')} and more\n")
    page.until("!!document.querySelector('#add-dropped')", WAIT)
    page.click("#add-dropped")
    page.until(f"document.querySelector('#headline')?.textContent.startsWith('{len(before) + 1:,} documents')", WAIT)
    assert "new-1" in Run.load(folder).documents.ids


def opened(chrome, folder, act):
    whole = view.app_script().removesuffix("})();\n") + DOOR + "})();\n"
    with patch.object(view, "app_script", lambda: whole), serving(OpenRun(folder)) as server:
        show(chrome, server.address)
        chrome.until("document.querySelector('#query').dataset.ready", 60)
        act()
        assert chrome.problems == []


def test_every_action_on_the_demo(chrome, tmp_path):
    DocumentClusterer(8, embed=None).fit(world_factbook()).run_.save(tmp_path / "run")

    def act():
        edit_everything(chrome, tmp_path / "run", "island")
        take_a_while(chrome, tmp_path / "run", "island, reef, ocean")

    opened(chrome, tmp_path / "run", act)


@pytest.mark.slow
def test_every_action_on_the_newsgroups(chrome, corpora, tmp_path):
    numbered = ReadOptions(duplicate_ids="number")  # some ids are those of several groups
    corpus = read_corpus(corpora / "20ng.jsonl.gz", text="text", id="id", label="label", options=numbered)
    DocumentClusterer(20, embed=None).fit(corpus).run_.save(tmp_path / "run")

    def act():
        edit_everything(chrome, tmp_path / "run", "hockey")
        take_a_while(chrome, tmp_path / "run", "hockey, goal, playoffs")

    opened(chrome, tmp_path / "run", act)
