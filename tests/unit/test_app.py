"""The server of `grampus open`: one reader with a key, every attack refused, and every change saved in the run."""

from __future__ import annotations

import base64
import csv
import io
import json
import re
import shutil
import socket
import threading
import time
import zipfile
import zlib
from contextlib import suppress
from html.parser import HTMLParser

import numpy as np
import pytest

from grampus._workbook import xlsx_bytes
from grampus.app import Making, OpenRun, Session, pages, run_of_page
from grampus.app.actions import LONG
from grampus.app.server import MOST_AT_ONCE
from grampus.app.session import LARGEST_EDIT
from grampus.app.store import StaleError
from grampus.errors import InputError, RunError
from grampus.persist import Edit, Run, change_run
from grampus.persist.edits import digest
from grampus.persist.folder import manifest_digest
from grampus.persist.run import save_edits
from grampus.report import colours, report_html, write_report
from grampus.report.colours import group_marks
from grampus.text import CorpusWarning, read_corpus
from tests.edits import random_edit
from tests.pages import PAYLOADS, hostile, serving, with_levels
from tests.runs import contents, small_run


class Answer:
    """What came back on a connection."""

    def __init__(self, raw):
        head, _, self.body = raw.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        self.status = int(first.split()[1]) if first.startswith("HTTP/") else 0
        self.headers = [(name.lower(), value) for name, _, value in (line.partition(": ") for line in lines)]

    def __getitem__(self, name):
        return next((value for key, value in self.headers if key == name), None)

    def json(self):
        return json.loads(self.body)


class Reader:
    """Someone who asks the server, as a browser would or not."""

    def __init__(self, server):
        self.server = server
        key = server.address.partition("?key=")[2]
        first = self.raw(f"GET /?key={key} HTTP/1.1\r\nHost: {server.host}\r\n\r\n")
        assert first.status == 303
        self.first = first
        self.cookie = first["set-cookie"].partition(";")[0]

    def raw(self, text, wait=10.0):
        with socket.create_connection(("127.0.0.1", self.server.server_port), timeout=wait) as link:
            link.sendall(text if isinstance(text, bytes) else text.encode())
            parts = []
            try:
                while part := link.recv(1 << 20):
                    parts.append(part)
            except ConnectionResetError:
                pass
        return Answer(b"".join(parts))

    def ask(self, name="", method="GET", body=b"", path=None, **headers):
        given = {
            "Host": self.server.host, "Cookie": self.cookie,
            **({"Origin": self.server.origin, "Content-Length": len(body),
                "Content-Type": "application/json"} if method == "POST" else {}),
            **{key.replace("_", "-"): value for key, value in headers.items()},
        }  # fmt: skip
        lines = "".join(f"{key}: {value}\r\n" for key, value in given.items() if value is not None)
        place = path if path is not None else self.server.folder + name
        return self.raw(f"{method} {place} HTTP/1.1\r\n{lines}\r\n".encode() + body)

    def edit(self, *edits, revision=None, **more):
        seen = revision or self.server.session.store.revision
        body = json.dumps({"revision": seen, **({"edits": edits} if edits else {}), **more})
        return self.ask("edit", "POST", body.encode())


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    place = tmp_path_factory.mktemp("saved") / "run"
    with_levels().save(place)
    return place


@pytest.fixture
def folder(saved, tmp_path):
    return shutil.copytree(saved, tmp_path / "run")


@pytest.fixture(scope="module")
def asker(saved):
    """A reader who changes nothing."""
    before = contents(saved)
    with serving(OpenRun(saved)) as server:
        yield Reader(server)
    assert contents(saved) == before


@pytest.fixture
def reader(folder):
    with serving(OpenRun(folder)) as server:
        yield Reader(server)


# -- the key


def test_the_key_becomes_a_cookie_and_leaves_the_address(asker):
    first, server = asker.first, asker.server
    assert first["location"] == server.folder
    assert server.address.partition("=")[2] not in f"{first.headers}"
    cookie = first["set-cookie"]
    assert "; HttpOnly" in cookie
    assert "; SameSite=Strict" in cookie
    assert f"; Path={server.folder}" in cookie  # other servers of this computer do not get it
    assert "Domain" not in cookie
    assert asker.ask().status == 200


def test_the_key_gives_one_cookie_and_the_address_still_leads_to_the_page(asker):
    again = asker.raw(f"GET {asker.server.address.removeprefix(asker.server.origin)} HTTP/1.1\r\n"
                       f"Host: {asker.server.host}\r\n\r\n")  # fmt: skip
    assert (again.status, again["location"], again["set-cookie"]) == (303, asker.server.folder, None)


@pytest.mark.parametrize("cookie", [None, "", "grampus=", "grampus=x", "grampus", "other={}"])
@pytest.mark.parametrize("name", ["", "state", "document?row=0", "columns", "export?as=csv"])
def test_nothing_is_read_without_the_cookie(asker, name, cookie):
    wrong = cookie.format(asker.cookie.partition("=")[2]) if cookie else cookie
    answer = asker.ask(name, Cookie=wrong)
    assert answer.status == 403
    assert b"whale" not in answer.body


@pytest.mark.parametrize("key", ["", "x", "é", "%00", "a" * 43])
def test_another_key_is_refused(folder, key):
    with serving(OpenRun(folder)) as server:
        reader = Reader(server)
        answer = reader.raw(f"GET /?key={key} HTTP/1.1\r\nHost: {server.host}\r\n\r\n")
        assert (answer.status, answer["set-cookie"]) == (403, None)


def test_two_servers_share_nothing(folder):
    with serving(OpenRun(folder)) as one, serving(OpenRun(folder)) as other:
        assert one.folder != other.folder
        assert one.cookie != other.cookie
        assert one.server_port != other.server_port
        assert Reader(one).ask(Cookie=Reader(other).cookie).status == 403


# -- who asks


def test_the_server_listens_on_this_computer_alone(asker):
    assert asker.server.server_address[0] == "127.0.0.1"


@pytest.mark.parametrize(
    "host", ["evil.example", "localhost", "127.0.0.1", "127.0.0.1:1", "evil.example:{port}", "localhost:{port}",
             "127.0.0.1:{port}.evil.example", "[::1]:{port}", "127.0.0.1:{port}\r\nHost: evil.example", None, ""],
)  # fmt: skip
def test_another_host_is_refused(asker, host):
    named = host.format(port=asker.server.server_port) if host else host
    for method, name in (("GET", ""), ("GET", "state"), ("POST", "edit")):
        assert asker.ask(name, method, Host=named).status == 403


@pytest.mark.parametrize("origin", ["null", "http://evil.example", "https://127.0.0.1:{port}", "http://127.0.0.1",
                                    "http://127.0.0.1:1", "http://localhost:{port}", "file://", ""])  # fmt: skip
def test_another_origin_is_refused(reader, folder, origin):
    before = contents(folder)
    named = origin.format(port=reader.server.server_port)
    assert reader.ask("state", Origin=named).status == 403
    body = json.dumps({"revision": reader.server.session.store.revision, "undo": True}).encode()
    assert reader.ask("edit", "POST", body, Origin=named).status == 403
    assert contents(folder) == before


def test_a_change_without_an_origin_is_refused(asker):
    assert asker.ask("edit", "POST", b"{}", Origin=None).status == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_request_that_another_page_makes_is_refused(asker, site):
    assert asker.ask("state", Sec_Fetch_Site=site).status == 403
    assert asker.ask("edit", "POST", b"{}", Sec_Fetch_Site=site).status == 403


def test_no_other_origin_is_ever_allowed(asker):
    for answer in (asker.ask(), asker.ask("state"), asker.ask("nowhere"), asker.ask("edit", "OPTIONS")):
        assert not [name for name, _ in answer.headers if name.startswith("access-control")]
    assert asker.ask("edit", "OPTIONS").status == 501


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", None])
def test_what_a_form_can_send_is_refused(asker, kind):
    assert asker.ask("edit", "POST", b"{}", Content_Type=kind).status == 415


def test_every_answer_has_the_headers(asker):
    for answer in (asker.ask(), asker.ask("state"), asker.ask("nowhere"), asker.ask("", Cookie=""), asker.first):
        assert answer["referrer-policy"] == "no-referrer"
        assert answer["x-content-type-options"] == "nosniff"
        assert answer["cache-control"] == "no-store"
        assert "frame-ancestors 'none'" in answer["content-security-policy"]
        assert "default-src 'none'" in answer["content-security-policy"]
        assert answer["cross-origin-resource-policy"] == "same-origin"
        assert "python" not in (answer["server"] or "").lower()
    page = asker.ask()
    policy = page["content-security-policy"]
    assert policy.removesuffix("; frame-ancestors 'none'") in page.body.decode()
    assert "unsafe" not in policy
    assert "connect-src 'self'" in policy


# -- what is asked for

AWAY = ("..", "../..", "../../etc/passwd", "..%2f..%2fetc%2fpasswd", "%2e%2e/%2e%2e/etc/passwd", "....//",
        "/etc/passwd", "\\..\\..", "manifest.json", "run/manifest.json", "state/", "state/..", "./state", "//state",
        "state%00", "assets/live.js", "edit", "page.html", "%00", "é")  # fmt: skip


@pytest.mark.parametrize("name", AWAY)
def test_no_path_leads_out(asker, name):
    for method in ("GET", "POST"):
        if (method, name) == ("POST", "edit"):
            continue
        answer = asker.ask(name, method, b"{}" if method == "POST" else b"")
        assert answer.status in (400, 404)
        assert b"root:" not in answer.body


def test_addresses_outside_the_folder_lead_nowhere(asker):
    for path in ("/state", "/x/state", "/favicon.ico", "//", "/../", f"{asker.server.folder[:-1]}", "*", "x",
                 f"http://evil.example{asker.server.folder}nowhere"):  # fmt: skip
        assert asker.ask(path=path).status in (400, 403, 404)


@pytest.mark.parametrize(
    "row", ["", "-1", "160", "1e3", "0x1", " 1", "١", "1" * 12, "../1", "NaN", "1;2", "true", "1.0"]
)
def test_a_row_that_is_none_is_refused(asker, row):
    from urllib.parse import quote

    assert asker.ask(f"document?row={quote(row)}").status == 400


def test_a_document_is_read_whole(asker):
    run = with_levels()
    long = max(range(len(run)), key=lambda i: len(run.documents.texts[i]))
    assert asker.ask(f"document?row={long}").json() == {"text": run.documents.texts[long]}


@pytest.mark.parametrize("kind", ["", "exe", "../csv", "CSV", "csv%00", "html/../csv"])
def test_only_known_files_are_exported(asker, kind):
    assert asker.ask(f"export?as={kind}").status == 400


# -- how much is sent


@pytest.mark.parametrize("length", [LARGEST_EDIT + 1, 10 * 10**9, 10**30, "1" * 5000])
def test_a_huge_body_is_refused_before_it_is_read(asker, length):
    begin = time.monotonic()
    assert asker.ask("edit", "POST", b"", Content_Length=length).status == 413
    assert time.monotonic() - begin < 5


@pytest.mark.parametrize("length", ["-1", "+5", "0x10", "five", "", " ", "1, 2", "١", None, "2\r\nContent-Length: 3"])
def test_a_body_without_a_plain_length_is_refused(asker, length):
    assert asker.ask("edit", "POST", b"{}", Content_Length=length).status in (400, 411)


def test_a_body_in_pieces_is_refused(asker):
    answer = asker.ask("edit", "POST", b"", Content_Length=None, Transfer_Encoding="chunked")
    assert answer.status == 411
    assert asker.ask("edit", "POST", b"{}", Transfer_Encoding="chunked").status == 411


def test_a_request_that_never_ends_is_ended(folder):
    with serving(OpenRun(folder), patience=0.5) as server:
        reader = Reader(server)
        begin = time.monotonic()
        for text in ("GET / HTT", f"GET / HTTP/1.1\r\nHost: {server.host}\r\n", ""):
            assert reader.raw(text).status == 0
        answer = reader.ask("edit", "POST", b"{", Content_Length=1000)
        assert answer.status in (0, 400)
        assert time.monotonic() - begin < 8
        assert reader.ask("state").status == 200


def test_drops_of_a_request_do_not_keep_it_alive(folder):
    with (
        serving(OpenRun(folder), patience=0.6) as server,
        socket.create_connection(("127.0.0.1", server.server_port)) as link,
    ):
        link.settimeout(5)
        link.sendall(b"GET / HTTP/1.1\r\n")
        begin = time.monotonic()
        with pytest.raises(ConnectionError):  # noqa: PT012  (the connection ends at some point)
            while time.monotonic() - begin < 5:
                link.sendall(b"X: y\r\n")
                time.sleep(0.05)
                with suppress(BlockingIOError):
                    if not link.recv(1, socket.MSG_DONTWAIT):
                        raise ConnectionError
        assert time.monotonic() - begin < 4


def test_many_connections_leave_room_again(folder):
    with serving(OpenRun(folder), patience=0.4) as server:
        reader = Reader(server)
        idle = [socket.create_connection(("127.0.0.1", server.server_port)) for _ in range(MOST_AT_ONCE + 8)]
        time.sleep(0.8)
        assert reader.ask("state").status == 200
        for link in idle:
            link.close()


def test_long_headers_are_refused(asker):
    assert asker.raw("GET /" + "a" * 70_000 + " HTTP/1.1\r\n\r\n").status in (0, 414)
    assert asker.ask("state", X="a" * 70_000).status in (0, 431)
    many = "".join(f"X-{i}: 1\r\n" for i in range(200))
    assert asker.raw(f"GET / HTTP/1.1\r\n{many}\r\n").status in (0, 431)
    assert asker.ask("state?" + "a" * 5000).status == 414
    assert asker.ask("state?" + "&".join(f"a{i}=1" for i in range(50))).status == 400


@pytest.mark.parametrize("line", [b"\x00\x01\x02", b"GET", b"GET / HTTP/9.9", b"get / http/1.1", b"BREW / HTTP/1.1",
                                  b"PUT / HTTP/1.1", b"DELETE / HTTP/1.1", b"GET  /  HTTP/1.1",
                                  b"\xff\xfe / HTTP/1.1"])  # fmt: skip
def test_what_is_no_request_is_no_fault(asker, line):
    answer = asker.raw(line + b"\r\nHost: x\r\n\r\n")
    assert answer.status in (0, 400, 403, 501, 505)
    assert b"Traceback" not in answer.body
    assert asker.ask("state").status == 200


# -- what is changed

WRONG = (
    b"", b"{", b"[]", b"null", b"1", b'"x"', b"{}", b"[" * 100_000, b'{"revision": 1}',
    b'{"revision": null, "edits": []}',
)  # fmt: skip


@pytest.mark.parametrize("body", WRONG)
def test_a_change_that_is_none_is_refused(reader, folder, body):
    before = contents(folder)
    assert reader.ask("edit", "POST", body).status in (400, 409)
    assert contents(folder) == before


@pytest.mark.parametrize(
    "edit",
    [
        {}, [], "rename", None, {"action": "rename"}, {"action": "paint", "clusters": [0]},
        {"action": "graft", "clusters": [0]},
        {"action": "exclude", "documents": [0]}, {"action": "rename", "clusters": [99], "name": "x"},
        {"action": "rename", "clusters": [-1], "name": "x"}, {"action": "rename", "clusters": ["0"], "name": "x"},
        {"action": "rename", "clusters": [0], "name": "x" * 201}, {"action": "rename", "clusters": [0], "name": 5},
        {"action": "move", "clusters": [0], "documents": [160]}, {"action": "move", "clusters": [0], "documents": [-1]},
        {"action": "move", "clusters": [0], "documents": ["1"]}, {"action": "move", "clusters": [0], "documents": "1"},
        {"action": "move", "clusters": [0], "documents": [True]},
        {"action": "move", "clusters": [0], "documents": {"a": 1}},
        {"action": "level", "level": "../fine"}, {"action": "level"}, {"action": "merge", "clusters": [0]},
        {"action": "noise", "documents": list(range(160))},
        {"action": "rename", "clusters": [0], "name": "x", "unknown": 1},
        {"action": "rename", "clusters": [1e300], "name": "x"}, {"action": "split", "clusters": [0], "parts": 10**30},
    ],
)  # fmt: skip
def test_an_edit_that_does_not_fit_is_refused_and_nothing_written(reader, folder, edit):
    before = contents(folder)
    answer = reader.edit(edit)
    assert answer.status == 400
    assert answer.json()["problem"]
    assert contents(folder) == before
    assert reader.ask("state").status == 200


def test_every_action_is_saved_as_it_happens(reader, folder):
    steps = [
        {"action": "rename", "clusters": [0], "name": "Sea"},
        {"action": "rename", "clusters": [1], "name": "Wide", "level": "coarse"},
        {"action": "split", "clusters": [1], "parts": 2},
        {"action": "merge", "clusters": [0, 2]},
        {"action": "move", "clusters": [1], "documents": [0, 3]},
        {"action": "noise", "documents": [7]},
        {"action": "done", "clusters": [1]},
        {"action": "level", "level": "fine"},
    ]
    for number, step in enumerate(steps, 1):
        answer = reader.edit(step).json()
        saved = Run.load(folder)
        assert answer["edits"] == len(saved.edits) == number
        assert answer["revision"] == manifest_digest(folder)
        assert answer["done"] == list(saved.done)
        if answer.get("marked"):
            assert step["action"] == "done"
            answer = reader.ask("state").json()
        names = [one["name"] for one in answer["levels"][answer["level"]]["clusters"] if not one.get("none")]
        assert names == [cluster.name for cluster in saved.evidence.clusters]
    for left in range(len(steps) - 1, -1, -1):
        assert reader.edit(undo=True).json()["edits"] == left == len(Run.load(folder).edits)
    assert reader.edit(undo=True).json()["edits"] == 0


def test_an_answer_and_what_the_page_shows_are_the_whole_answer(reader):
    """Labels, certainty and leaves that an edit does not change are left out, as long as the server knows the page."""
    shown = reader.ask("state").json()
    steps = [
        {"action": "rename", "clusters": [0], "name": "Sea"},
        {"action": "merge", "clusters": [0, 2]},
        {"action": "move", "clusters": [1], "documents": [0, 3]},
        {"action": "level", "level": "fine"},
        {"action": "noise", "documents": [7]},
    ]
    for step in [*steps, None, None]:
        given = (reader.edit(step) if step else reader.edit(undo=True)).json()
        pairs = zip(shown["levels"], given["levels"], strict=True)
        if step and step["action"] == "rename":
            assert not {"certainty", "second", "heatmap"} & given.keys()
            assert not any("labels" in level for level in given["levels"])
            assert "leaf" not in given["tree"]
        merged = {"levels": [{**old, **new} for old, new in pairs], "tree": {**shown["tree"], **given["tree"]}}
        whole = reader.ask("state").json()
        assert {**shown, **given, **merged, "since": None} == whole
        shown = whole


def test_partitions_that_did_not_change_are_not_coloured_again(reader, monkeypatch):
    made = []

    def counted(labels, count, places):
        made.append(labels.copy())
        return group_marks(labels, count, places)

    monkeypatch.setattr(colours, "group_marks", counted)
    reader.ask()
    assert len(made) == len(with_levels().levels)
    reader.edit({"action": "rename", "clusters": [0], "name": "Sea"})
    assert len(made) == 3
    reader.edit({"action": "move", "clusters": [1], "documents": [*range(40)]})
    assert len(made) > 3
    assert len({labels.tobytes() for labels in made}) == len(made)  # none twice
    before = len(made)
    reader.edit(undo=True)
    reader.ask()
    assert len(made) == before


def test_a_change_for_an_older_revision_is_not_made(reader, folder):
    old = reader.server.session.store.revision
    assert reader.edit({"action": "rename", "clusters": [0], "name": "One"}).status == 200
    answer = reader.edit({"action": "rename", "clusters": [0], "name": "Two"}, revision=old)
    assert answer.status == 409
    assert answer.json()["edits"] == 1  # as it is now
    assert Run.load(folder).evidence.clusters[0].name == "One"


def test_a_command_that_changes_the_run_is_noticed(reader, folder):
    seen = reader.server.session.store.revision
    assert reader.ask(f"state?since={seen}").status == 204
    change_run(folder, lambda run: run.edited(Edit("rename", (0,), name="By command")))
    answer = reader.edit({"action": "rename", "clusters": [1], "name": "Mine"}, revision=seen)
    assert answer.status == 409
    assert [edit.name for edit in Run.load(folder).edits] == ["By command"]
    now = reader.ask(f"state?since={seen}").json()
    assert now["levels"][now["level"]]["clusters"][0]["name"] == "By command"
    assert reader.edit({"action": "rename", "clusters": [1], "name": "Mine"}).status == 200
    assert [edit.name for edit in Run.load(folder).edits] == ["By command", "Mine"]


def test_a_run_that_is_gone_is_said(reader, folder):
    folder.rename(folder.with_name("elsewhere"))
    answer = reader.edit({"action": "rename", "clusters": [0], "name": "x"})
    assert answer.status == 400
    assert "no longer holds a run" in answer.json()["problem"]
    folder.with_name("elsewhere").rename(folder)
    assert reader.edit({"action": "rename", "clusters": [0], "name": "x"}).status == 200


def test_a_run_that_is_changed_between_look_and_save_is_not_overwritten(folder):
    store = OpenRun(folder)

    def change(run):
        change_run(folder, lambda other: other.edited(Edit("rename", (0,), name="First")))
        return run.edited(Edit("rename", (0,), name="Second"))

    with pytest.raises(StaleError):
        store.change(store.revision, change)
    assert store.look()[0].evidence.clusters[0].name == "First"
    with pytest.raises(RunError, match="changed by another process"):
        save_edits(folder, with_levels(), "0" * 64)


def test_an_answer_that_is_not_written_is_not_kept_to_be_taken_back(folder):
    store = OpenRun(folder)
    with pytest.raises(StaleError):
        store.replace("another", store.run)
    assert store.kept == 0
    store.replace(store.revision, store.run)
    assert store.kept == 1


def test_many_tabs_at_once_make_one_change_each_or_none(reader, folder):
    seen, statuses = reader.server.session.store.revision, []

    def press(number):
        step = {"action": "rename", "clusters": [0], "name": f"Name {number}"}
        statuses.append(reader.edit(step, revision=seen).status)

    threads = [threading.Thread(target=press, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(statuses) == [200] + [409] * 7
    assert len(Run.load(folder).edits) == 1


def random_step(run, rng):
    """Return a change of a run: edited or undone; None if the one that was drawn does not fit."""
    drawn = rng.choice(["edit", "undo", "done", "reopen", "level"], p=[0.6, 0.15, 0.1, 0.05, 0.1])
    if drawn == "undo":
        return Run.undone
    if drawn == "edit":
        edit = random_edit(run, rng)
    elif drawn == "level":
        edit = Edit("level", level=str(rng.choice(["coarse", "middle", "fine"])))
    else:
        edit = Edit(drawn, (int(rng.integers(run.n_clusters)),))
    return None if edit is None or edit.action == "exclude" else lambda run: run.edited(edit)


@pytest.mark.parametrize("seeds", [range(4), pytest.param(range(4, 200), marks=pytest.mark.slow)])
def test_random_scripts_save_what_the_command_saves(folder, tmp_path, seeds):
    """The folder is the same to the byte as after the same edits by `change_run`, which `grampus edit` uses.

    A thousand scripts were tried once, in six minutes.
    """
    other = tmp_path / "other"
    shutil.copytree(folder, other)
    store = OpenRun(folder)
    for seed in seeds:
        rng = np.random.default_rng(seed)
        store.change(store.revision, lambda run: run.undone(100))
        steps = []
        for _ in range(int(rng.integers(1, 6))):
            if (step := random_step(store.run, rng)) is not None:
                store.change(store.revision, step)
                steps.append(step)

        def script(run, steps=steps):
            run = run.undone(100)
            for step in steps:
                run = step(run)
            return run

        change_run(other, script)
        assert contents(folder) == contents(other), seed
        again = Run.load(folder)
        assert np.array_equal(again.evidence.labels, store.run.evidence.labels)
        assert again.done == store.run.done


# -- what is shown and taken away


class Elements(HTMLParser):
    """The scripts of a page, by their ids."""

    def __init__(self):
        super().__init__()
        self.scripts = []

    def handle_starttag(self, tag, attrs):
        assert not [name for name, _ in attrs if name.startswith("on")]
        if tag == "script":
            self.scripts.append(dict(attrs).get("id", ""))


def test_payloads_in_every_field_stay_text(tmp_path):
    hostile(with_levels()).save(tmp_path / "run")
    with serving(OpenRun(tmp_path / "run")) as server:
        reader = Reader(server)
        found = Elements()
        found.feed(reader.ask().body.decode())
        assert found.scripts == ["", "data", "texts", "index", "worker", ""]
        for payload in PAYLOADS[::40]:
            answer = reader.edit({"action": "rename", "clusters": [0], "name": payload[:200].strip() or "x"})
            assert answer.status == 200
            assert answer["content-type"] == "application/json"
        assert reader.ask("document?row=3").json()["text"] == Run.load(tmp_path / "run").documents.texts[3]
        assert reader.ask("export?as=csv").status == 200
        assert reader.ask("export?as=xlsx").status == 200


def test_exports_hold_the_run_as_it_is(reader):
    pytest.importorskip("pyarrow")
    from pyarrow import parquet

    reader.edit({"action": "rename", "clusters": [0], "name": "=1+1"})
    rows = list(csv.DictReader(io.StringIO(reader.ask("export?as=csv").body.decode())))
    plain = reader.ask("export?as=json").json()
    table = parquet.read_table(io.BytesIO(reader.ask("export?as=parquet").body)).to_pylist()
    assert len(rows) == len(plain) == len(table) == 160
    assert {row["name"] for row in plain if row["cluster"] == 0} == {"=1+1"}
    assert {row["name"] for row in rows if row["cluster"] == "0"} == {"'=1+1"}
    assert [row["name"] for row in table] == [row["name"] for row in plain]
    page = reader.ask("export?as=html")
    assert page["content-disposition"] == 'attachment; filename="grampus.html"'
    assert page.body.decode() == report_html(reader.server.session.store.run)


def test_a_workbook_is_read_again(reader, tmp_path):
    (tmp_path / "table.xlsx").write_bytes(reader.ask("export?as=xlsx").body)
    with pytest.warns(CorpusWarning, match="dates"):
        read = read_corpus(tmp_path / "table.xlsx", text="title", id="id")
    assert list(read.ids) == list(with_levels().documents.ids)
    assert list(read.texts) == list(with_levels().documents.titles)


def test_cells_of_a_workbook_are_texts_or_numbers(tmp_path):
    raw = xlsx_bytes(["a", "b"], [["=1+1", 2.5], ["<&\x00\ud800", None], ["x" * 40_000, 3]])
    sheet = zipfile.ZipFile(io.BytesIO(raw)).read("xl/worksheets/sheet1.xml").decode()
    assert "<f>" not in sheet
    assert "&lt;&amp;  " in sheet
    assert len(sheet) < 34_000


def test_parquet_without_its_package_is_a_hint(reader, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    answer = reader.ask("export?as=parquet")
    assert answer.status == 400
    assert "grampus[parquet]" in answer.json()["problem"]


def test_columns_tell_languages_and_lengths(reader):
    found = {column["name"]: column for column in reader.ask("columns").json()["columns"]}
    assert found["words"]["kind"] == "number"


# -- files that are dropped


def test_dropped_files_are_assigned_and_the_run_stays(reader, folder):
    before = contents(folder)
    body = b"id,text\nw,whale song krill tide ocean\nr,rose soil seed bloom petal\nn,xyzzy plugh\n"
    answer = reader.ask("assign?name=new.csv", "POST", body, Content_Type="application/octet-stream").json()
    run = with_levels()
    terms = [[term.text for term in run.evidence.clusters[row[2]].terms] for row in answer["documents"]]
    assert [row[0] for row in answer["documents"]] == ["w", "r", "n"]
    assert "whale" in terms[0]
    assert "rose" in terms[1]
    assert answer["documents"][2][4] is False
    assert contents(folder) == before


@pytest.mark.parametrize("name", ["", "x", "../../x.txt", "..\\x.txt", "/etc/passwd", "a" * 300 + ".txt",
                                  "x.txt%00.csv", "x.t/xt", "con.txt", ".txt", "x.%2e%2e", "x.tar.gz"])  # fmt: skip
def test_the_name_of_a_dropped_file_leads_nowhere(reader, folder, tmp_path, name):
    before = {str(path) for path in tmp_path.rglob("*")}
    answer = reader.ask(f"assign?name={name}", "POST", b"whale song\n", Content_Type="application/octet-stream")
    assert answer.status in (200, 400, 404)
    assert {str(path) for path in tmp_path.rglob("*")} == before


@pytest.mark.parametrize(("name", "body"), [("x.csv", b""), ("x.pdf", b"%PDF-1.4 nothing"),
                                            ("x.zip", b"PK\x03\x04nothing"),
                                            ("x.json", b"[" * 100_000), ("x.parquet", b"PAR1"),
                                            ("x.sqlite", b"SQLite format 3\0"),
                                            ("x.gz", b"\x1f\x8b\x08"), ("x.docx", b"PK")])  # fmt: skip
def test_a_dropped_file_that_cannot_be_read_is_said(reader, name, body):
    answer = reader.ask(f"assign?name={name}", "POST", body, Content_Type="application/octet-stream")
    assert answer.status == 400
    assert answer.json()["problem"]


def test_a_dropped_bomb_is_refused(reader):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.txt", b"whale " * 20_000_000)
    begin = time.monotonic()
    answer = reader.ask("assign?name=x.zip", "POST", out.getvalue(), Content_Type="application/octet-stream")
    assert answer.status == 400
    assert time.monotonic() - begin < 10


# -- pages


def test_a_page_is_opened_as_the_run_that_it_shows(tmp_path):
    run = with_levels()
    write_report(run, tmp_path / "page.html", texts="full")
    again = run_of_page(tmp_path / "page.html")
    assert digest(again) == digest(run)
    for name in run.levels:
        assert np.array_equal(again.level_labels(name), run.level_labels(name))
        assert again.level_names(name) == run.level_names(name)
    assert list(again.documents.texts) == list(run.documents.texts)
    assert list(again.documents.classes) == list(run.documents.classes)
    assert again.provenance.kernel == run.provenance.kernel
    edited = again.edited(Edit("split", (1,)), Edit("merge", (0, 2)))
    assert np.array_equal(
        edited.evidence.labels, run.edited(Edit("split", (1,)), Edit("merge", (0, 2))).evidence.labels
    )
    again.save(tmp_path / "run")
    assert digest(Run.load(tmp_path / "run")) == digest(run)


def test_a_page_of_an_earlier_version_with_numbers_of_four_bytes_is_opened(tmp_path):
    write_report(with_levels(), tmp_path / "page.html")
    wide = lambda found: found[1] + base64.b64encode(np.frombuffer(base64.b64decode(found[2]), "u1").astype("<u4"))  # noqa: E731
    page = re.sub(rb'("(?:labels|second|leaf|codes)":")([^"]+)', wide, (tmp_path / "page.html").read_bytes())
    (tmp_path / "page.html").write_bytes(page)
    assert digest(run_of_page(tmp_path / "page.html")) == digest(with_levels())


def test_pages_without_texts_of_one_cluster_and_after_edits_are_opened(tmp_path):
    for number, (run, texts) in enumerate(
        [
            (with_levels(), "none"),
            (small_run(), "excerpts"),
            (small_run().edited(Edit("merge", (0, 1))), "excerpts"),
            (with_levels().edited(Edit("noise", documents=("1", "2"))), "excerpts"),
        ]
    ):
        write_report(run, tmp_path / f"{number}.html", texts=texts)
        assert digest(run_of_page(tmp_path / f"{number}.html")) == digest(run)


def test_nothing_of_a_page_but_its_data_is_read(tmp_path):
    write_report(hostile(with_levels()), tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    evil = "<script>window.hit=1</script><script src=//evil.example/x.js></script></body>"
    (tmp_path / "page.html").write_text(
        page.replace("</body>", evil).replace('"use strict"', 'window.hit=2;"use strict"')
    )
    run_of_page(tmp_path / "page.html").save(tmp_path / "run")
    with serving(OpenRun(tmp_path / "run")) as server:
        served = Reader(server).ask().body.decode()
    found = Elements()
    found.feed(served)
    assert found.scripts == ["", "data", "texts", "index", "worker", ""]
    assert "window.hit=2" not in served.rpartition("<script>")[2]


@pytest.mark.parametrize("change", [
    ('"n":160', '"n":161'), ('"n":160', '"n":1e9'), ('"n":160', '"n":null'), ('"level":1', '"level":7'),
    ('"tree":{', '"tree":[],"x":{'), ('"copies":[', '"copies":[[[0,999999],1],'), ('"levels":[', '"levels":null,"x":['),
    ('id="texts">', 'id="texts">!'), ('id="texts">', 'id="other">'), ('"central":[', '"central":[99999,'),
    ('"nearest":', '"nearest":99,"x":'), ('id="data">{', 'id="data">{{'), ('"terms":[[', '"terms":[[{},'),
])  # fmt: skip
def test_a_page_whose_data_do_not_fit_is_refused(tmp_path, change):
    write_report(with_levels(), tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert change[0] in page
    (tmp_path / "page.html").write_text(page.replace(*change))
    with pytest.raises(InputError, match=r"page\.html"):
        run_of_page(tmp_path / "page.html")


def test_texts_of_a_page_that_grow_without_end_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(pages, "LARGEST_PAGE", 3_000_000)
    write_report(small_run(), tmp_path / "page.html")
    bomb = base64.b64encode(zlib.compress(b" " * 50_000_000)).decode()
    page = (tmp_path / "page.html").read_text()
    (tmp_path / "page.html").write_text(re.sub('id="texts">[^<]*', f'id="texts">{bomb}', page))
    with pytest.raises(InputError):
        run_of_page(tmp_path / "page.html")


# -- a run that is being made


def test_progress_is_shown_until_the_run_is_there(folder):
    go = threading.Event()

    def make(progress):
        progress("reading", 3, 10)
        go.wait(10)
        return OpenRun(folder)

    with serving(Making("Clustering news.csv", make)) as server:
        reader = Reader(server)
        page = reader.ask()
        assert b"<progress" in page.body
        assert "connect-src 'self'" in page["content-security-policy"]
        told = reader.ask("state").json()["work"]
        assert (told["what"], told["step"], told["units"], told["total"]) == ("Clustering news.csv", "reading", 3, 10)
        assert reader.ask("edit", "POST", b'{"revision": "x", "undo": true}').status == 400
        assert reader.ask("document?row=0").status == 400
        go.set()
        server.session._opened.thread.join()
        assert b'id="points"' in reader.ask().body
        assert reader.ask("state").json()["edits"] == 0


@pytest.mark.parametrize(("error", "words"), [(InputError("texts must be texts."), "texts must be texts."),
                                              (MemoryError(), "Out of memory"),
                                              (ValueError("x"), "bug in Grampus")])  # fmt: skip
def test_work_that_fails_says_why(error, words):
    def make(progress):
        raise error

    work = Making("Clustering", make)
    work.thread.join()
    assert words in work.told()["problem"]
    assert Session(work).store is None


# -- actions that take a while


def begin(reader, action, **more):
    body = json.dumps({"revision": reader.server.session.store.revision, "action": action, **more})
    return reader.ask("work", "POST", body.encode())


def finished(reader):
    work = reader.server.session._work
    work.thread.join(120)
    return reader.ask(f"state?since=x&work={work.number}").json()


def test_a_cluster_is_clustered_again_and_split(reader, folder):
    reader.edit({"action": "merge", "clusters": [0, 2]})
    before = Run.load(folder)
    start = time.monotonic()
    begun = begin(reader, "within", cluster=0)
    assert time.monotonic() - start < 2
    assert begun.status == 202
    assert begun.json()["work"]["what"] == "Clustering inside the cluster"
    answer = finished(reader)
    assert answer["work"]["problem"] == ""
    run = Run.load(folder)
    assert [edit.action for edit in run.edits] == ["merge", "graft", "split"]
    assert run.n_clusters > before.n_clusters
    assert answer["revision"] == manifest_digest(folder)
    reader.edit(undo=True)
    assert reader.edit(undo=True).status == 200
    assert Run.load(folder).evidence.labels.tolist() == before.evidence.labels.tolist()


def test_seed_words_make_clusters_and_are_undone(reader, folder):
    before, n = digest(Run.load(folder)), len(Run.load(folder))
    assert begin(reader, "guide", seeds={"Ocean": ["whale", "krill"], "Flowers": ["rose", "petal"]}).status == 202
    answer = finished(reader)
    assert answer["work"]["problem"] == ""
    assert answer["back"] == 1
    run = Run.load(folder)
    assert {"Ocean", "Flowers"} <= {cluster.name for cluster in run.evidence.clusters}
    assert len(run) == n
    reader.edit({"action": "rename", "clusters": [0], "name": "Mine"})
    reader.edit(undo=True)
    assert digest(Run.load(folder)) == digest(run)
    assert reader.edit(undo=True).json()["back"] == 0
    assert digest(Run.load(folder)) == before


def test_dropped_documents_are_added(reader, folder):
    n = len(Run.load(folder))
    body = b"id,text\n1,whale song krill tide ocean\nnew,rose soil seed bloom petal\n"
    given = reader.ask("assign?name=new.csv", "POST", body, Content_Type="application/octet-stream").json()
    assert begin(reader, "add", dropped=[given["dropped"]]).status == 202
    answer = finished(reader)
    assert answer["work"]["problem"] == ""
    run = Run.load(folder)
    assert len(run) == n + 2
    assert run.history[-1].added == 2
    assert {"1 (2)", "new"} <= set(run.documents.ids)  # none takes the place of a document that is there
    begin(reader, "add", dropped=[99])
    assert "Drop them again" in finished(reader)["work"]["problem"]


def test_work_is_cancelled_and_nothing_is_written(reader, folder, monkeypatch):
    before, go = contents(folder), threading.Event()

    def slow(run, asked, dropped, progress):
        progress("comparing", 1, 4)
        go.wait(10)
        progress("comparing", 2, 4)
        raise AssertionError("not ended")

    monkeypatch.setitem(LONG, "within", ("Clustering inside the cluster", slow, True))
    begin(reader, "within", cluster=0)
    while reader.ask("state?since=x").json()["work"]["step"] != "comparing":
        time.sleep(0.01)
    assert begin(reader, "within", cluster=0).status == 400
    assert "wait for it" in reader.edit({"action": "merge", "clusters": [0, 1]}).json()["problem"]
    assert reader.ask("cancel", "POST", b"{}").status == 200
    told = reader.ask(f"state?since=x&work={reader.server.session._work.number}").json()["work"]
    assert (told["done"], told["problem"]) == (True, "Cancelled. Nothing was changed.")
    go.set()
    finished(reader)
    assert contents(folder) == before


@pytest.mark.parametrize("body", [{}, {"action": "x"}, {"action": ["within"]}, [], 3])
def test_an_action_that_is_none_is_refused(asker, body):
    assert asker.ask("work", "POST", json.dumps(body).encode()).status == 400


@pytest.mark.parametrize(("action", "more"), [("within", {"cluster": "0"}), ("within", {"cluster": 99}),
                                              ("guide", {"seeds": {}}), ("guide", {"seeds": {"a": "b"}}),
                                              ("guide", {"seeds": {"a\nb": ["c"]}}),
                                              ("add", {"dropped": [True]})])  # fmt: skip
def test_an_action_that_does_not_fit_changes_nothing(reader, folder, action, more):
    before = contents(folder)
    assert begin(reader, action, **more).status == 202
    assert finished(reader)["work"]["problem"]
    assert contents(folder) == before


def test_an_action_for_an_older_revision_is_not_begun(reader):
    body = json.dumps({"revision": "x", "action": "within", "cluster": 0}).encode()
    assert reader.ask("work", "POST", body).status == 409
