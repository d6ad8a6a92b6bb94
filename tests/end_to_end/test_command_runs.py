"""Commands on saved runs: nothing steers the terminal, and forgetting takes the right documents and finishes."""

import json
import os
import re

import numpy as np
import pytest

from grampus import Corpus, DocumentClusterer
from grampus.cli import grampus as group
from grampus.documents import update_run
from grampus.persist import Run, change_run, folder
from tests.command import answer

TOPICS = (["whale", "song", "ocean", "krill", "fluke"], ["bird", "nest", "branch", "egg", "feather"])
WICKED = "\x1b]0;PWN\x07\x1b[2J\x9bc\u202e"
STEERING = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069]")


@pytest.fixture
def command(tmp_path, monkeypatch, capsys):
    def command(*words):
        """Run the command in this process; return its status and all that it printed."""
        monkeypatch.chdir(tmp_path)
        status, out, error = answer(capsys, *words)
        return status, out + error

    return command


def write(path, ids=None, **columns):
    """Write 40 documents of two topics as JSON lines, with more columns of one value each."""
    rng = np.random.default_rng(0)
    rows = [{"text": " ".join(rng.choice(TOPICS[at % 2], 8))} for at in range(40)]
    for at, row in enumerate(rows):
        row.update({"id": ids[at] if ids and at < len(ids) else f"d{at}", **columns})
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return rows


# ---- escapes ------------------------------------------------------------------------------------------------

COMMANDS = {
    "assign": [["run", "new.jsonl", "--text", "text"]],
    "compare": [["run", "other"]],
    "edit": [["run", "--rename", f"0={WICKED}name"], ["run", "--noise", "ids.txt"], ["run", "--undo"]],
    "evaluate": [["run"], ["run", "--json"]],
    "inspect": [["odd.jsonl"], ["run"]],
    "report": [["run", "page.html"]],
    "tree": [["odd.jsonl", "-k", "2"], ["odd.jsonl", "-k", "2", "--json"]],
    "trends": [
        ["run", "--by", "label"],
        ["run", "--by", "year"],
        ["run", "--by", f"{WICKED}column", "--source", "odd.jsonl"],
        ["run", "--by", WICKED],
    ],
    "update": [["run", "new.jsonl"], ["run", "--delete", "ids.txt"]],
    "choose-k": [["odd.jsonl", "--ks", "2,3"]],
}
ELSEWHERE = {"cluster", "demo", "doctor", "open"}  # read no run, or print nothing of it


def test_no_command_lets_a_run_steer_the_terminal(tmp_path, command):
    assert {*group.commands} == {*COMMANDS} | ELSEWHERE
    odd = {"title": f"{WICKED}title", "date": f"2024-05-01{WICKED}", f"{WICKED}column": f"{WICKED}value"}
    ids = [f"{WICKED}{at}" for at in range(40)]
    rows = write(tmp_path / "odd.jsonl", ids, label=f"{WICKED}class", **odd)
    (tmp_path / "new.jsonl").write_text("".join(json.dumps({**row, "id": f"{row['id']}n"}) + "\n" for row in rows))
    (tmp_path / "ids.txt").write_text(json.dumps(ids[3]), encoding="utf-8")
    for name in ("run", "other"):
        status, out = command("cluster", "odd.jsonl", "-k", "2", "--label", "label", "--no-stability", "--out", name)
        assert status == 0, out
        assert not STEERING.search(out)
    for name, variants in COMMANDS.items():
        for words in variants:
            status, out = command(name, *words)
            assert status in (0, 1, 2), out
            assert out
            assert not STEERING.search(out), (name, words, out)


def test_a_run_without_labels_says_so(tmp_path, command):
    write(tmp_path / "some.jsonl", date="2024")
    assert command("cluster", "some.jsonl", "-k", "2", "--no-stability", "--out", "run")[0] == 0
    for by, words in {
        "label": "Error: Shares by label need labels; the run has none. Cluster the documents again with a column of "
        "them.",
        "week": "Error: Shares by week need a week that can be read; no document has one.",
        "section": "Error: --by must be one of year, quarter, month, week, day or label, or a column of --source FILE; "
        "got 'section'.",
    }.items():
        status, out = command("trends", "run", "--by", by)
        assert (status, out.strip()) == (1, words)


# ---- forgetting ---------------------------------------------------------------------------------------------

SECRET = "zanzibarian"


def saved(tmp_path, command):
    """Save a run of 40 documents, one of which has a word of its own, and its page."""
    rows = write(tmp_path / "some.jsonl")
    rows[7]["text"] += f" {SECRET}"
    (tmp_path / "some.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "ids.txt").write_text("d7\n")
    words = ("-k", "2", "--no-stability", "--out", "run", "--report", "run.html")
    assert command("cluster", "some.jsonl", *words)[0] == 0
    os.utime(tmp_path / "run.html", (1e9, 1e9))
    assert holding(tmp_path)
    return tmp_path / "run"


def holding(tmp_path):
    """Return the files of the run, and its page, that hold the secret."""
    files = [*(tmp_path / "run").iterdir(), tmp_path / "run.html"]
    return [file.name for file in files if SECRET.encode() in file.read_bytes()]


def test_a_run_with_embeddings_of_ones_own_forgets(tmp_path, command):
    write(tmp_path / "some.jsonl")
    rows = np.random.default_rng(0).normal(size=(40, 3)) + 5 * np.eye(2, 3)[np.arange(40) % 2]
    np.save(tmp_path / "rows.npy", rows)
    words = ("-k", "2", "--no-stability", "--embeddings", "rows.npy", "--out", "run")
    assert command("cluster", "some.jsonl", *words)[0] == 0

    def vectors_like(row):
        arrays = [np.load(file) for file in (tmp_path / "run").glob("*.npy")]
        found = np.vstack([array for array in arrays if array.ndim == 2 and array.shape[1] == len(row)])
        return [one for one in (row, row / np.linalg.norm(row)) if np.isclose(found, one, atol=1e-6).all(axis=1).any()]

    assert vectors_like(rows[7])
    (tmp_path / "ids.txt").write_text("d7\n")
    status, out = command("update", "run", "--delete", "ids.txt")
    assert status == 0, out
    run = Run.load(tmp_path / "run")
    assert list(run.documents.ids) == [f"d{at}" for at in range(40) if at != 7]
    assert vectors_like(rows[8])
    assert not vectors_like(rows[7])


class Killed(BaseException):
    """The end of the process."""


def interrupt(monkeypatch):
    """Delete documents, and end between the manifest and the removal of the old arrays."""
    with monkeypatch.context() as patched:

        def dies(*_):
            raise Killed

        patched.setattr("grampus.persist.run.finish", lambda *_: None)
        patched.setattr(folder, "_sweep", dies)
        with pytest.raises(Killed):
            change_run("run", lambda run: update_run(run, None, delete=("d7",)))


@pytest.mark.parametrize("again", [("update", "run", "--delete", "ids.txt"), ("evaluate", "run"), ("edit", "run")])
def test_an_interrupted_deletion_is_finished_by_the_next_command(tmp_path, command, monkeypatch, again):
    saved(tmp_path, command)
    interrupt(monkeypatch)
    assert [name for name in holding(tmp_path) if name.endswith(".npy")]
    status, out = command(*again)
    if "--delete" in again:
        assert (status, "not in it, such as 'd7': deleted before, or never in it" in out) == (1, True), out
        assert not holding(tmp_path)
    else:
        assert holding(tmp_path) == ["run.html"]
        command("update", "run", "--delete", "ids.txt")
        assert not holding(tmp_path)
    assert len(Run.load(tmp_path / "run")) == 39


def test_a_reader_leaves_the_files_of_a_writer(tmp_path, command):
    run = saved(tmp_path, command)
    fresh = run / "documents.texts.bytes-0123456789abcdef.npy"
    fresh.write_bytes(b"being written")
    Run.load(run)
    assert fresh.exists()
    os.utime(fresh, (1e9, 1e9))
    with folder.writing(run):
        Run.load(run)
        assert fresh.exists()
    Run.load(run)
    assert not fresh.exists()


ODD_IDS = ["a\nb", "a", "b", " a", "a ", "\ta", "a\r", "a\x0bb", "a\u2028b", '"a"', '"a', "a\x85", "  ", "[1]", "7"]


@pytest.mark.parametrize("at", range(len(ODD_IDS)), ids=map(repr, ODD_IDS))
def test_the_right_document_is_deleted(tmp_path, command, odd_run, at):
    one = ODD_IDS[at]
    plain = not re.search(r'\n|\r\Z|\A"|\A\s*\Z', one)
    for line in [json.dumps(one), *([one] if plain else [])]:
        (tmp_path / "ids.txt").write_bytes(f"\n{line}\r\n\n".encode())
        status, out = command("edit", odd_run, "--exclude", "ids.txt", "--out", "edited")
        assert status == 0, out
        left = [*Run.load(tmp_path / "edited").documents.ids]
        assert left == [other for other in [*ODD_IDS, *(f"d{n}" for n in range(len(ODD_IDS), 40))] if other != one]


@pytest.fixture(scope="module")
def odd_run(tmp_path_factory):
    place = tmp_path_factory.mktemp("odd")
    rows = write(place / "odd.jsonl", ODD_IDS)
    corpus = Corpus([row["text"] for row in rows], ids=[row["id"] for row in rows])
    DocumentClusterer(2, random_state=0).fit(corpus).save(place / "run")
    return place / "run"


def test_a_line_break_in_an_id_never_deletes_two_others(tmp_path, command):
    write(tmp_path / "odd.jsonl", ODD_IDS[:3])
    assert command("cluster", "odd.jsonl", "-k", "2", "--no-stability", "--out", "run")[0] == 0
    (tmp_path / "ids.txt").write_text(json.dumps("a\nb") + "\n")
    status, out = command("update", "run", "--delete", "ids.txt")
    assert status == 0, out
    left = {*Run.load(tmp_path / "run").documents.ids}
    assert "a\nb" not in left
    assert {"a", "b"} <= left
    (tmp_path / "ids.txt").write_text('d3\n"a\n')
    status, out = command("update", "run", "--delete", "ids.txt")
    assert (status, "line 2: an id that starts with a quotation mark must be written as a JSON" in out) == (1, True), (
        out
    )
    assert {*Run.load(tmp_path / "run").documents.ids} == left
