"""The app in a browser: every action is saved as `grampus edit` saves it, tabs agree, and nothing is lost."""

from __future__ import annotations

import csv
import http.server
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from unittest.mock import patch

import numpy as np
import pytest

from grampus.app import OpenRun, view
from grampus.app.actions import LONG
from grampus.persist import Edit, Run, change_run
from grampus.report import write_report
from tests.axe import script as axe_script
from tests.command import command
from tests.edits import shown_by
from tests.page_tools import READY, N, listed, number, saved, search, text, texts
from tests.pages import PAYLOADS, TOPICS, hostile, serving, with_levels
from tests.runs import changed, contents

LEVELS = ("coarse", "middle", "fine")
# What the page shows, for a test to look at: the script's own scope is closed.
DOOR = """
window.door = {
  state, data, levels, live, rename, merge, split: splitCluster, move: moveTo, takeOut, partsIn, realGroups, undo, edit,
  busy: () => live.busy,
  shown: () => ({
    labels: [...ownLabels].map((label) => (levels[data.level].clusters[label].none ? -1 : label)),
    names: levels[data.level].clusters.filter((one) => !one.none).map(({ name }) => name),
    sizes: [...sizesAt(levels[data.level])].slice(0, foundCount),
    tree: branches.map(({ parent, order, size, cluster, name, children }) =>
      [parent, order, size, cluster, name, children.map(({ index }) => index)]),
    leaves: leafOf ? [...leafOf] : null,
  }),
};
"""


def show(chrome, address, scheme="light"):
    chrome.open("about:blank")  # what an earlier page asks for is not this one's
    chrome.settle()
    chrome.size(1440, 900)
    chrome.media(scheme=scheme, motion="reduce")
    chrome.open(address)
    chrome.until(READY.replace(".dataset", "?.dataset"), 30)
    return chrome


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    place = tmp_path_factory.mktemp("found") / "run"
    with_levels().save(place)
    return place


@pytest.fixture
def folder(found, tmp_path):
    return shutil.copytree(found, tmp_path / "run")


@pytest.fixture
def app(chrome, folder):
    """The page of a run that is open, and its server."""
    with serving(OpenRun(folder)) as server:
        show(chrome, server.address)
        yield chrome, server
        assert chrome.problems == []
        assert all(one.startswith((server.origin, "blob:", "data:", "file:")) for one in chrome.requests)


def changes(page, count):
    """Wait until so many changes are saved."""
    words = f"{count} change{'' if count == 1 else 's'}"
    done = "!!document.querySelector('#live-note') && document.querySelector('#edit-bar strong').textContent === "
    page.until(f"{done}'{words}' && document.querySelector('#live-note').textContent === 'Saved in the run.'")


def rename(page, cluster, name):
    page.click(f"#rename-{cluster}")
    page.write(name)
    page.key("Enter")


def ran(*words):
    """Run a command to its end."""
    line = [sys.executable, "-m", "grampus", *words]
    return subprocess.run(line, capture_output=True, text=True, check=False, timeout=60)


def filters(page):
    """Open the histograms."""
    page.until("!document.querySelector('#tab-filters').hidden", 10)
    page.click("#tab-filters")
    page.until("!!document.querySelector('#facet-0-0')", 10)


def choose(page, cluster):
    """Select the documents of a cluster."""
    page.click(f"[data-cluster='{cluster}'] footer button")


# -- every action


def test_every_action_is_saved_as_the_command_saves_it(app, folder, found, tmp_path):
    page, server = app
    other = shutil.copytree(found, tmp_path / "other")
    members = np.flatnonzero(with_levels().evidence.labels == 3)
    ids = with_levels().documents.ids

    def edited(*words):
        assert command("edit", other, *words) == 0
        assert contents(other) == contents(folder)

    rename(page, 0, "Sea and its whales")
    changes(page, 1)
    edited("--rename", "0=Sea and its whales")
    page.click("#split-1")
    changes(page, 2)
    edited("--split", "1")
    assert text(page, "#headline") == f"{N} documents in 5 clusters"
    for cluster in (0, 2):
        page.click(f"[data-cluster='{cluster}'] footer input[type=checkbox]")
    page.click("#merge")
    changes(page, 3)
    edited("--merge", "0,2")
    choose(page, 2)  # it had the number 3
    page.run("document.querySelector('#move-to').value = '1'")
    page.click("#move")
    changes(page, 4)
    (tmp_path / "ids.txt").write_text("".join(f"{ids[int(i)]}\n" for i in members))
    edited("--move", f"{tmp_path / 'ids.txt'}:1")
    some = [int(i) for i in members[:1]]
    page.run("document.querySelector('#query').value = 'krill'")
    search(page, "kitchen number 0")
    assert listed(page) == len(some)
    page.click("#clear")
    search(page, '"kitchen" "number" "0"')
    page.click("#take-out")
    changes(page, 5)
    (tmp_path / "out.txt").write_text(f"{ids[some[0]]}\n")
    edited("--noise", str(tmp_path / "out.txt"))
    page.click("#done-0")
    changes(page, 6)
    edited("--done", "0")
    assert text(page, "#done-note").startswith("1 of ")
    page.click("#done-0")
    changes(page, 7)
    edited("--reopen", "0")
    page.click("[data-level='0']")
    page.click("#take-level")
    changes(page, 8)
    edited("--level", "coarse")
    assert len(texts(page, ".found-name")) == Run.load(folder).n_clusters + 1  # and those in no cluster
    for left in range(7, 0, -1):
        page.click("#undo")
        changes(page, left)
        edited("--undo")
    page.click("#undo")
    page.until("document.querySelector('#edit-bar').hidden")
    assert texts(page, ".found-name") == [cluster.name for cluster in with_levels().evidence.clusters]
    assert server.session.store.run.edits == ()


def test_names_of_other_levels_are_saved(app, folder):
    page, _ = app
    page.click("[data-level='2']")
    rename(page, 3, "Narrow")
    changes(page, 1)
    assert text(page, ".found-line:nth-child(4) .found-name") == "Narrow"
    assert Run.load(folder).level_names("fine")[3] == "Narrow"
    page.click("#undo")
    page.until("document.querySelector('#edit-bar').hidden")
    assert texts(page, ".found-name") == list(with_levels().level_names("fine"))


def random_press(page, rng):
    """Press something at random; return whether a change was asked for."""
    action = rng.choice(["rename", "merge", "split", "move", "noise", "undo", "done", "level"])
    page.run(
        "door.state.level === door.data.level || document.querySelector(`[data-level='${door.data.level}']`).click()"
    )
    k, edits = page.run("door.realGroups().length"), page.run("door.live.edits")
    one = int(rng.integers(k))
    some = [int(i) for i in rng.choice(N, rng.integers(1, 12), replace=False)]
    group = f"door.state.groups[{one}]"
    asked = {
        "rename": f"door.rename({group}, 'name {rng.integers(1000)}')",
        "merge": f"door.merge({rng.choice(k, 2, replace=False).tolist()}.map((c) => door.state.groups[c]))"
                 if k > 1 else "",
        "split": f"door.split({group}, 2)" if page.run(f"door.partsIn({group})") == 2 else "",
        "move": f"door.move({some}, {group})",
        "noise": f"door.takeOut({some})",
        "undo": "door.undo()" if edits else "",
        "done": f"door.edit({{action: 'done', level: door.data.level, clusters: [{one}]}})",
        "level": f"door.edit({{action: 'level', level: {int(rng.integers(3))}}})",
    }[action]  # fmt: skip
    if asked:
        page.run(asked)
    return bool(asked)


def test_random_actions_show_what_the_saved_run_has(chrome, folder):
    whole = view.app_script().removesuffix("})();\n") + DOOR + "})();\n"
    with patch.object(view, "app_script", lambda: whole), serving(OpenRun(folder)) as server:
        show(chrome, server.address)
        for seed in range(24):
            rng = np.random.default_rng(seed)
            for _ in range(4):
                random_press(chrome, rng)
                chrome.until("!door.busy()")
                assert chrome.run("door.live.problem") == ""
                run = Run.load(folder)
                wanted, seen = shown_by(run), chrome.run("door.shown()")
                if not wanted["tree"]:
                    seen = {**seen, "leaves": None}
                assert [part for part in wanted if wanted[part] != seen[part]] == [], seed
                assert chrome.run("[...door.live.done]") == list(run.done)
                assert chrome.run("door.live.edits") == len(run.edits)
        assert chrome.problems == []


# -- nothing is lost


def test_a_reload_and_a_killed_server_lose_nothing(chrome, folder):
    process, address = start(folder)
    try:
        show(chrome, address)
        rename(chrome, 0, "Kept")
        changes(chrome, 1)
        chrome.click("#split-1")
        changes(chrome, 2)
        show(chrome, chrome.run("location.href"))
        assert "Kept" in texts(chrome, ".found-name")
        assert "2 changes" in text(chrome, "#edit-bar")
    finally:
        process.kill()
        process.communicate()
    assert len(Run.load(folder).edits) == 2
    chrome.click("#done-0")
    chrome.until("(document.querySelector('#live-note')?.textContent ?? '').includes('does not answer')")
    assert len(Run.load(folder).edits) == 2
    process, address = start(folder)
    try:
        show(chrome, address)
        assert "Kept" in texts(chrome, ".found-name")
        assert len(texts(chrome, ".found-name")) == 5
    finally:
        ended(process)


def test_other_tabs_and_commands_are_noticed(app, folder):
    page, server = app
    store = server.session.store
    store.change(store.revision, lambda run: run.edited(Edit("rename", (0,), name="By another tab")))
    page.until("document.querySelector('.found-name').textContent === 'By another tab'", 5)
    page.run("document.querySelector('#rename-1').scrollIntoView()")
    change_run(folder, lambda run: run.edited(Edit("rename", (1,), name="By a command")))
    page.until("document.querySelectorAll('.found-name')[1].textContent === 'By a command'", 5)
    changes(page, 2)


def test_a_change_to_a_run_that_was_changed_meanwhile_is_not_made(app, folder):
    page, _ = app
    page.run("(() => { const ask = window.fetch; window.fetch = (where, how) => where.startsWith('state') ? "
             "new Promise(() => {}) : ask(where, how); })()")  # fmt: skip
    time.sleep(1.2)  # what was asked is answered
    change_run(folder, lambda run: run.edited(Edit("rename", (1,), name="By a command")))
    rename(page, 0, "Mine")
    page.until("(document.querySelector('#live-note')?.textContent ?? '').includes('changed elsewhere')")
    assert [edit.name for edit in Run.load(folder).edits] == ["By a command"]
    assert texts(page, ".found-name")[1] == "By a command"
    rename(page, 0, "Mine")
    changes(page, 2)
    page.problems = [one for one in page.problems if "409" not in one]  # the browser reports the status


# -- reading, searching, filtering


def test_documents_are_read_in_full_and_found_by_any_word(app):
    page, _ = app
    run = with_levels()
    first = next(i for i in range(N) if len(run.documents.texts[i]) > 100)
    word = run.documents.texts[first].split()[-1]
    assert word.endswith("!")
    search(page, "a" * 60)
    assert listed(page) == 1
    page.click(f"[data-document='{first}']")
    page.until("document.querySelector('.opened-text')?.textContent.includes('!')")
    assert text(page, ".opened-text") == run.documents.texts[first]


def test_filters_by_every_column_are_linked(app):
    page, _ = app
    filters(page)
    page.until("document.querySelectorAll('.facet').length >= 4", 10)
    names = texts(page, ".facet h3")
    assert names[:3] == ["topic", "date", "certainty"]
    assert "words" in names
    bars = texts(page, ".facet:nth-of-type(1) .facet-name")
    place = bars.index("garden")
    page.click(f"#facet-0-{place}")
    assert text(page, "#passing") == "39 of 160 documents"
    labels = "[...document.querySelectorAll('.facet:nth-of-type(2) button[aria-label]')].map((e) => e.ariaLabel)"
    assert sum(number(one.rpartition(": ")[2]) for one in page.run(labels)) == 39
    some = next(at for at, one in enumerate(page.run(labels)) if not one.endswith(": 0 documents"))
    page.click(f"#facet-1-{some}")
    few = number(text(page, "#passing").split(" of ")[0])
    assert 0 < few < 39
    counts = [number(one) for one in texts(page, ".facet:nth-of-type(1) .number")]
    assert sum(counts) >= few  # of every label, within that time
    page.click("#tab-documents")
    assert listed(page) == few
    page.click("#clear")
    page.click("#tab-filters")
    assert text(page, "#passing") == "160 of 160 documents"


def bars(page, name):
    """Return the bars of a histogram: their ids, what they stand for, and how many documents they have."""
    found = page.run(
        f"[...document.querySelectorAll('.facet')].filter((one) => one.ariaLabel === {json.dumps(name)})"
        ".flatMap((one) => [...one.querySelectorAll('.facet-bars button')].map((bar) => [bar.id, bar.ariaLabel]))"
    )
    words = [(place, label.removeprefix(f"{name} ").rpartition(": ")) for place, label in found]
    return {place: (stands_for, number(documents.split()[0])) for place, (stands_for, _, documents) in words}


def test_filters_by_the_columns_of_the_table(chrome, tmp_path):
    table, hostile_name = tmp_path / "sales.csv", "<img src=x onerror=window.hit=1>"
    run = with_levels()
    rows = [
        [run.documents.ids[i], run.documents.texts[i], "" if i < 20 else i * 1.25, f"20{10 + i % 9}-03-0{1 + i % 7}",
         ("north", "south", "south", "<b>west</b>")[i % 4], ("yes", "no")[i % 2]]
        for i in range(N)
    ]  # fmt: skip
    with table.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["id", "text", "price", "shipped", "region", hostile_name], *rows])
    changed(run, source="sales.csv", columns={}).save(tmp_path / "run")
    with serving(OpenRun(tmp_path / "run")) as server:
        show(chrome, server.address)
        filters(chrome)
        chrome.until("document.querySelectorAll('.facet').length >= 7", 20)
        assert texts(chrome, ".facet h3")[-4:] == ["price", "shipped", "region", hostile_name]
        prices, days, regions = (bars(chrome, name) for name in ("price", "shipped", "region"))
        assert list(prices.values())[-1] == ("unknown", 20)
        assert [sum(many for _, many in one.values()) for one in (prices, days, regions)] == [N] * 3
        assert list(regions.values()) == [("south", 80), ("north", 40), ("<b>west</b>", 40)]
        chrome.click(f"#{next(iter(regions))}")
        assert text(chrome, "#passing") == "80 of 160 documents"
        unknown, south = bars(chrome, "price")[list(prices)[-1]]
        assert (unknown, south) == ("unknown", 10)
        chrome.click(f"#{list(prices)[-1]}")
        assert text(chrome, "#passing") == "10 of 160 documents"
        first, (words, few) = next((place, one) for place, one in bars(chrome, "shipped").items() if one[1])
        assert words.startswith("2010-03-")
        chrome.click(f"#{first}")
        assert 0 < few < 10
        assert text(chrome, "#passing") == f"{few} of 160 documents"
        assert chrome.run("window.hit === undefined && !document.querySelector('#panel-filters img, #panel-filters b')")
        assert chrome.run("document.querySelector('#table-note').hidden")
    table.unlink()
    with serving(OpenRun(tmp_path / "run")) as server:
        show(chrome, server.address)
        filters(chrome)
        chrome.until("document.querySelector('#table-note')?.hidden === false", 20)
        note = "sales.csv was not found, so its other columns are not among the filters."
        assert text(chrome, "#table-note") == note
        assert "words" in texts(chrome, ".facet h3")
        assert chrome.problems == []


def test_a_selection_of_filters_can_be_moved(app, folder):
    page, _ = app
    filters(page)
    place = texts(page, ".facet:nth-of-type(1) .facet-name").index("sky")
    page.click(f"#facet-0-{place}")
    page.click("#tab-documents")
    page.click("#take-out")
    changes(page, 1)
    assert Run.load(folder).n_unassigned == 39


# -- files


def drop(page, name, content):
    made = f"const data = new DataTransfer(); data.items.add(new File([{json.dumps(content)}], {json.dumps(name)}));"
    event = "new DragEvent('drop', {dataTransfer: data, bubbles: true, cancelable: true})"
    page.run(f"(() => {{ {made} document.body.dispatchEvent({event}); }})()")


def test_dropped_files_are_assigned(app, folder):
    page, _ = app
    before = contents(folder)
    drop(page, "new.csv", "id,text\nfirst,whale krill tide ocean pod\nsecond,oven dough yeast flour\n")
    page.until("document.querySelectorAll('#dropped li').length === 2")
    clusters = {cluster.name: cluster for cluster in Run.load(folder).evidence.clusters}
    for at, word in enumerate(("tide", "oven"), 1):
        name = next(name for name, one in clusters.items() if word in [term.text for term in one.terms])
        assert f"{name}, certainty" in text(page, f"#dropped li:nth-child({at})")
    drop(page, "bad.pdf", "%PDF nothing")
    page.until("!!document.querySelector('#dropped .wrong')")
    page.click("#forget-dropped")
    assert page.run("document.querySelector('#dropped').hidden")
    assert contents(folder) == before
    page.problems = [one for one in page.problems if "400" not in one]


def test_the_run_is_exported(app, folder, tmp_path):
    page, _ = app
    page.downloads(tmp_path)
    rename(page, 0, "Whales")
    changes(page, 1)
    for kind in ("csv", "xlsx", "json", "html", "parquet"):
        page.click("#export summary")
        page.click(f"#export-{kind}")
        assert saved(page, tmp_path, f"grampus.{kind}")
        page.run("document.querySelector('#export').open = false")
    for kind in ("png", "svg"):
        page.click("#export summary")
        page.click(f"#export-{kind}")
        assert saved(page, tmp_path, f"grampus-map.{kind}")
    rows = list(csv.DictReader(io.StringIO((tmp_path / "grampus.csv").read_text())))
    assert {row["name"] for row in rows if row["cluster"] == "0"} == {"Whales"}
    page.open(tmp_path / "grampus.html")
    page.until(READY)
    assert "Whales" in texts(page, ".found-name")
    assert "makes no network requests" in text(page, "body > footer")


# -- actions that take a while


def test_a_cluster_is_looked_into(app, folder):
    page, _ = app
    for cluster in (0, 2):
        page.click(f"[data-cluster='{cluster}'] footer input[type=checkbox]")
    page.click("#merge")
    changes(page, 1)
    page.click("#within-0")
    page.until("!!document.querySelector('#cancel')", 5)
    changes(page, 3)
    run = Run.load(folder)
    assert [edit.action for edit in run.edits] == ["merge", "graft", "split"]
    assert texts(page, ".found-name") == [cluster.name for cluster in run.evidence.clusters]
    page.click("#undo")
    changes(page, 2)
    page.click("#undo")
    changes(page, 1)
    assert [edit.action for edit in Run.load(folder).edits] == ["merge"]


def test_work_is_cancelled_in_the_browser(app, folder, monkeypatch):
    page, _ = app
    before, go = contents(folder), threading.Event()

    def slow(run, asked, dropped, progress):
        progress("comparing", 3, 10)
        go.wait(20)
        progress("comparing", 4, 10)

    monkeypatch.setitem(LONG, "within", ("Clustering inside the cluster", slow, True))
    start = time.monotonic()
    page.run("document.querySelector('#within-1').click()")
    page.until("document.querySelector('#live-note')?.textContent === 'comparing: 3 of 10'", 5)
    assert time.monotonic() - start < 3
    page.click("#cancel")
    page.until("document.querySelector('#live-note')?.textContent === 'Cancelled. Nothing was changed.'", 5)
    go.set()
    assert contents(folder) == before


def test_seed_words_are_seen_to_work_and_undone(app, folder):
    page, _ = app
    page.click("#topics summary")
    page.run("document.querySelector('#seeds').value = 'Ocean: whale, krill\\nrose, petal\\n'")
    page.click("#guide")
    page.until("[...document.querySelectorAll('.found-name')].some((e) => e.textContent === 'Ocean')", 90)
    assert {"Ocean", "rose"} <= {cluster.name for cluster in Run.load(folder).evidence.clusters}
    page.click("#undo")
    page.until("![...document.querySelectorAll('.found-name')].some((e) => e.textContent === 'Ocean')")
    assert Run.load(folder).evidence.labels.tolist() == with_levels().evidence.labels.tolist()


def test_dropped_documents_are_added_to_the_run(app, folder):
    page, _ = app
    drop(page, "new.csv", "id,text\nfirst,whale krill tide ocean pod\nsecond,oven dough yeast flour\n")
    page.until("!!document.querySelector('#add-dropped')")
    assert text(page, "#add-dropped") == "Add 2 documents to the run"
    page.click("#add-dropped")
    page.until(f"document.querySelector('#headline')?.textContent.startsWith('{N + 2} documents')", 90)
    assert len(Run.load(folder)) == N + 2
    page.until("!!document.querySelector('#undo')", 10)  # the page was loaded again
    page.click("#undo")
    page.until(f"document.querySelector('#headline')?.textContent.startsWith('{N} documents')", 20)
    assert len(Run.load(folder)) == N


# -- who may ask, and what is shown


EVIL = """<!doctype html><meta charset=utf-8><body><script>
const where = new URLSearchParams(location.search).get('where');
const body = JSON.stringify({revision: new URLSearchParams(location.search).get('revision'), undo: true});
const tries = [
  fetch(`${where}edit`, {method: 'POST', body, credentials: 'include', headers: {'Content-Type': 'application/json'}}),
  fetch(`${where}edit`, {method: 'POST', body, credentials: 'include', mode: 'no-cors'}),
  fetch(`${where}state`, {credentials: 'include'}),
  fetch(`${where}state`, {credentials: 'include', mode: 'no-cors'}),
];
Promise.allSettled(tries).then(async (all) => {
  const read = [];
  for (const one of all) if (one.value?.type === 'cors') read.push(await one.value.text());
  document.title = `done ${read.length}`;
});
const form = document.createElement('form');
Object.assign(form, {action: `${where}edit`, method: 'post', enctype: 'text/plain', target: 'frame'});
document.body.append(Object.assign(document.createElement('iframe'), {name: 'frame'}), form);
form.submit();
document.body.append(Object.assign(document.createElement('iframe'), {src: where, id: 'inside'}));
</script>"""


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_page_from_elsewhere_that_posts_changes_nothing(app, folder, host):
    page, server = app
    rename(page, 0, "Mine")
    changes(page, 1)
    before, revision = contents(folder), server.session.store.revision
    place = page.run("location.href")

    cookies = []

    class Evil(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            cookies.append(self.headers.get("Cookie", ""))
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(EVIL.encode())

        def log_message(self, *_):
            pass

    evil = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Evil)
    threading.Thread(target=evil.serve_forever, daemon=True).start()
    try:
        page.open(f"http://{host}:{evil.server_port}/?where={place}&revision={revision}")
        page.until("document.title.startsWith('done')")
        assert page.run("document.title") == "done 0"
        time.sleep(0.5)
    finally:
        evil.shutdown()
        evil.server_close()
    assert contents(folder) == before
    assert not any("grampus" in cookie for cookie in cookies)  # the cookie stays below its folder
    page.problems, page.requests = [], []
    show(page, place)
    assert "Mine" in texts(page, ".found-name")


def test_payloads_in_every_field_never_run(chrome, tmp_path):
    hostile(with_levels()).save(tmp_path / "run")
    with serving(OpenRun(tmp_path / "run")) as server:
        show(chrome, server.address)
        filters(chrome)
        chrome.run("document.querySelector('[data-document]').click()")
        chrome.settle()
        for payload in PAYLOADS[::25]:
            drop(chrome, f"{payload[:60]}.txt", payload)
        chrome.until(f"document.querySelectorAll('#dropped section').length === {len(PAYLOADS[::25])}", 30)
        assert chrome.run("window.hit === undefined && window.top.hit === undefined")
        assert chrome.dialogs == []
        assert all(one.startswith((server.origin, "blob:", "data:")) for one in chrome.requests)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_serious_issue(app, scheme):
    axe = axe_script()
    if axe is None:
        pytest.skip("axe-core is not here: accessibility is not checked (make browser)")
    page, _ = app
    page.media(scheme=scheme)
    rename(page, 0, "Whales")
    changes(page, 1)
    page.click("#done-1")
    changes(page, 2)
    drop(page, "new.txt", "whale krill tide ocean pod")
    page.until("document.querySelectorAll('#dropped li').length === 1")
    filters(page)
    page.click("#facet-0-1")
    page.call("Runtime.evaluate", expression=axe.read_text(encoding="utf-8"))
    issues = page.run(
        "axe.run(document, {resultTypes: ['violations']}).then((r) => r.violations.map((v) => "
        "[v.id, v.impact, v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160))]))", 60
    )  # fmt: skip
    assert [issue for issue in issues if issue[1] in ("serious", "critical")] == []


def test_filters_and_done_work_by_keyboard(app):
    page, _ = app
    filters(page)
    page.run("document.querySelector('#facet-0-1').focus()")
    page.key("Enter")
    assert text(page, "#passing") == "39 of 160 documents"
    assert page.run("document.activeElement.id") == "facet-0-1"
    page.run("document.querySelector('#done-0').focus()")
    page.key("Enter")
    changes(page, 1)


# -- the command


def start(source, *words, cwd=None):
    """Start the command; return the process and the address that it prints."""
    begin = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\nfrom grampus.cli import main; main()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", begin, "open", str(source), "--no-browser", *words],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=cwd, env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )  # fmt: skip
    line = process.stdout.readline()
    match = re.search(r"http://127\.0\.0\.1:\d+/\?key=[\w-]{43}", line)
    assert match, line + process.stderr.read()
    return process, match[0]


def ended(process):
    process.send_signal(signal.SIGINT)
    out, error = process.communicate(timeout=20)
    assert process.returncode == 0, error
    assert "Traceback" not in error
    return out


def test_a_file_is_clustered_with_progress_and_opened_again(chrome, tmp_path):
    rng = np.random.default_rng(5)
    rows = [f"{i},{' '.join(rng.choice(words.split(), 8))}" for i in range(30) for words in TOPICS.values()]
    lines = [f"{number},{row.partition(',')[2]}" for number, row in enumerate(rows)]
    (tmp_path / "news.csv").write_text("id,text\n" + "\n".join(lines) + "\n")
    process, address = start(tmp_path / "news.csv")
    chrome.open(address)
    chrome.until(READY.replace(".dataset", "?.dataset"), 60)
    assert "120 documents" in text(chrome, "#headline")
    rename(chrome, 0, "First name")
    changes(chrome, 1)
    assert "Everything is saved in" in ended(process)
    assert [edit.name for edit in Run.load(tmp_path / "news.csv-run").edits] == ["First name"]
    process, address = start(tmp_path / "news.csv")
    show(chrome, address)
    assert "First name" in texts(chrome, ".found-name")
    ended(process)
    (tmp_path / "news.csv").write_text("id,text\n" + "\n".join(lines[:-4]) + "\n")  # other documents, another run
    process, address = start(tmp_path / "news.csv")
    chrome.open(address)
    chrome.until(READY.replace(".dataset", "?.dataset"), 60)
    assert "116 documents" in text(chrome, "#headline")
    ended(process)
    assert len(Run.load(tmp_path / "news.csv-run").edits) == 1
    assert len(Run.load(tmp_path / "news.csv-run-2")) == 116


def test_a_page_is_opened_and_edited(chrome, tmp_path):
    write_report(with_levels(), tmp_path / "page.html")
    process, address = start(tmp_path / "page.html")
    chrome.open(address)
    chrome.until(READY.replace(".dataset", "?.dataset"), 30)
    rename(chrome, 0, "From a page")
    changes(chrome, 1)
    chrome.click("#split-1")
    changes(chrome, 2)
    ended(process)
    assert len(Run.load(tmp_path / "page.html-run").edits) == 2
    process, address = start(tmp_path / "page.html")
    show(chrome, address)
    assert "From a page" in texts(chrome, ".found-name")
    ended(process)


def test_a_file_that_cannot_be_read_is_said_in_the_browser(chrome, tmp_path):
    (tmp_path / "empty.csv").write_text("")
    process, address = start(tmp_path / "empty.csv")
    chrome.open(address)
    chrome.until("!!document.querySelector('#step.wrong')", 30)
    assert "empty.csv" in text(chrome, "#step")
    assert "no run was made" in ended(process)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nowhere"], "there is nothing"),
        (["{run}", "--out", "x"], "cannot be combined with a saved run"),
        (["{run}", "--text", "body"], "cannot be combined with a saved run"),
    ],
)
def test_what_cannot_be_opened_is_said_at_once(folder, words, said):
    words = [word.format(run=folder) for word in words]
    done = ran("open", "--no-browser", *words)
    assert done.returncode == 2
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1
