"""What the command writes and where, what it refuses before the work, and what it reports as left out."""

import csv
import io
import json
import os
import shlex
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest

from grampus._files import write_file
from tests.command import answer, command

LINES = [
    "whale sea ocean fish", "whale song deep water", "sea ship sail wave", "ocean fish water whale",
    "bird nest tree wing", "feather sky branch bird", "egg nest fly bird", "tree leaf wing sky",
]  # fmt: skip
FAST = ("-k", "2", "--no-stability")


def settings(text):
    """Write a file of settings; return the words that name it."""
    Path("rare.toml").write_text(text)
    return "--settings", "rare.toml"


def refused(capsys, *arguments):
    """Run a command that must be refused as wrong in one line, and return that line."""
    status, out, error = answer(capsys, *arguments)
    assert (status, out) == (2, "")
    assert error.startswith("Error: ")
    assert len(error.splitlines()) == 1
    return error


@contextmanager
def redirected(handle, path, flags):
    """Let a standard stream of this process be a file."""
    kept, opened = os.dup(handle), os.open(path, flags)
    os.dup2(opened, handle)
    try:
        yield
    finally:
        os.dup2(kept, handle)
        os.close(kept)
        os.close(opened)


def shell(line, **environment):
    """Run a line in bash, where ``grampus`` is the command."""
    program = f'grampus() {{ {shlex.quote(sys.executable)} -m grampus "$@"; }}\n'
    return subprocess.run(
        ["bash", "-c", program + line], capture_output=True, check=False, env={**os.environ, **environment}
    )


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """An empty folder to work in, with one CSV file of documents."""
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{i},{text},{'sea' if i < 4 else 'air'}\n" for i, text in enumerate(LINES))
    Path("a.csv").write_text("id,text,section\n" + rows)
    return tmp_path


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A saved run with classes."""
    folder = tmp_path_factory.mktemp("saved")
    source = folder / "a.csv"
    source.write_text("id,text,section\n" + "".join(f"{i},{text},s\n" for i, text in enumerate(LINES)))
    assert command("cluster", source, "--label", "section", "--out", folder / "run", "-q", *FAST) == 0
    return str(folder / "run")


def test_a_tree_counts_all_documents_and_checks_k(capsys):
    Path("copies.txt").write_text("whale song\n" * 50 + "".join(f"{line}\n" for line in LINES[4:]))
    status, out, _ = answer(capsys, "tree", "copies.txt", "-k", "2", "--json")
    assert status == 0
    assert json.loads(out)["size"] == 54
    status, out, _ = answer(capsys, "tree", "copies.txt", "-k", "2")
    assert out.startswith("54 documents")
    status, _, error = answer(capsys, "tree", "copies.txt", "-k", "55")
    assert status == 1
    assert "between 1 and 54" in error
    status, out, error = answer(capsys, "tree", "copies.txt", "-k", "54")
    assert (status, error) == (0, "")
    assert "Note: Only 5 of 54 clusters" in out


def test_what_was_left_out_is_reported(capsys, saved):
    rows = "".join(f"{i},{text}\n" for i, text in enumerate(LINES))
    Path("holes.csv").write_text("id,text\n" + rows + "x,\ny, \n,no id\n")
    left = ["2 left out: empty text.", "1 left out: no id."]
    for words in (
        ["cluster", "holes.csv", *FAST],
        ["choose-k", "holes.csv", "--ks", "2", *settings("[effort]\nn_splits = 2\n")],
        ["tree", "holes.csv", "-k", "2"],
        ["assign", saved, "holes.csv"],
    ):
        status, out, error = answer(capsys, *words, "--skip-errors")
        assert (status, error) == (0, "")
        assert all(line in out for line in left)
        status, out, _ = answer(capsys, *words, "--skip-errors", "--json")
        assert set(left) <= set(json.loads(out)["warnings"])


def test_files_of_a_folder_that_were_left_out_are_reported_and_saved(capsys):
    Path("docs").mkdir()
    for i, text in enumerate(LINES):
        Path("docs", f"{i}.txt").write_text(text)
    Path("docs", "binary").write_bytes(bytes(range(256)) * 10)
    Path("docs", "link.txt").symlink_to("0.txt")
    status, out, _ = answer(capsys, "cluster", "docs", *FAST, "--out", "run")
    assert status == 0
    assert "1 left out: not text (binary): binary." in out
    assert "1 left out: symbolic link: link.txt." in out
    from grampus.persist import Run

    assert "1 left out: symbolic link: link.txt." in Run.load("run").evidence.warnings


def test_a_source_is_never_overwritten(capsys, saved):
    before = Path("a.csv").read_bytes()
    Path("soft.csv").symlink_to("a.csv")
    os.link("a.csv", "hard.csv")
    for target in ("a.csv", "./a.csv", "soft.csv", "hard.csv"):
        for words in (["cluster", "a.csv", *FAST], ["assign", saved, "a.csv"]):
            assert "is an input" in refused(capsys, *words, "--results", target)
    assert "is an input" in refused(capsys, "cluster", "a.csv", *FAST, "--report", "a.csv")
    Path("edits.json").write_text("{}")
    assert "is an input" in refused(capsys, "report", saved, "--edits", "edits.json", "--out", "edits.json")
    assert "is an input" in refused(capsys, "report", saved, "--out", f"{saved}/manifest.json")
    with redirected(0, "a.csv", os.O_RDONLY):
        assert "is an input" in refused(capsys, "cluster", "-", "--format", "csv", "--results", "a.csv")
    assert Path("a.csv").read_bytes() == before


def test_two_outputs_are_different_paths(capsys):
    Path("link.csv").symlink_to("x.csv")
    for other in ("x.csv", "link.csv"):
        error = refused(capsys, "cluster", "a.csv", *FAST, "--results", "x.csv", "--report", other)
        assert "--report and --results must be different paths" in error
    assert "--out and --report" in refused(capsys, "cluster", "a.csv", *FAST, "--out", "x", "--report", "x")
    assert not Path("x.csv").exists()
    with redirected(1, "x.csv", os.O_WRONLY | os.O_CREAT):
        assert "receives standard output" in refused(capsys, "cluster", "a.csv", *FAST, "--results", "x.csv")


def test_links_stay_and_pipes_are_written_into(capsys):
    Path("far").mkdir()
    Path("far", "real.csv").write_text("old")
    Path("link.csv").symlink_to("far/real.csv")
    Path("new.csv").symlink_to("far/new.csv")
    os.mkfifo("pipe.csv")
    got = []
    reader = threading.Thread(target=lambda: got.append(Path("pipe.csv").read_text()), daemon=True)
    reader.start()
    for target in ("link.csv", "new.csv", "pipe.csv"):
        assert answer(capsys, "cluster", "a.csv", *FAST, "-q", "--results", target) == (0, "", "")
    reader.join(timeout=30)
    assert Path("link.csv").is_symlink()
    assert Path("new.csv").is_symlink()
    assert Path("pipe.csv").is_fifo()
    whole = Path("far", "real.csv").read_text()
    assert len(whole.splitlines()) == 9
    assert [Path("far", "new.csv").read_text(), *got] == [whole, whole]
    write_file(Path(os.devnull), b"whale")
    assert Path(os.devnull).is_char_device()


def test_places_are_looked_at_before_the_work(capsys, monkeypatch, saved):
    def never(*_, **__):
        raise AssertionError("the work began")

    monkeypatch.setattr("grampus.cli.options.SourceOptions.read", never)
    words = ["cluster", "a.csv", *FAST]
    assert ".csv, .xlsx, .jsonl or .parquet" in refused(capsys, *words, "--results", "x.txt", "--out", "run2")
    assert "a.csv is not a folder" in refused(capsys, *words, "--results", "a.csv/x.csv")
    assert "a.csv is not a folder" in refused(capsys, *words, "--report", "a.csv/x.html")
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write anywhere
    assert "x.csv cannot be written: no permission" in refused(capsys, *words, "--results", "x.csv")
    monkeypatch.undo()
    for line in (words, ["assign", saved, "a.csv"], ["compare", saved, saved]):
        assert "standard output" in refused(capsys, *line, "--results", "-", "--json")
    assert not Path("run2").exists()


def test_folders_above_an_output_are_made_and_errors_name_it(capsys, monkeypatch):
    new = ["--results", "new/deep/x.csv", "--report", "new/page/x.html"]
    assert answer(capsys, "cluster", "a.csv", *FAST, "-q", *new) == (0, "", "")
    assert Path("new/deep/x.csv").is_file()
    assert Path("new/page/x.html").is_file()

    def full(path, data):
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr("grampus._files.write_synced", full)
    status, _, error = answer(capsys, "cluster", "a.csv", *FAST, "-q", "--results", "x.csv")
    assert (status, error) == (1, "Error: No space left on device: x.csv\n")


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["evaluate", "RUN", "--label", "nonexist"], "--label cannot be used"),
        (["tree", "RUN", "-k", "5", "--cut", "zero", "--kernel", "x"], "--clusters, --cut, --kernel cannot be"),
        (["tree", "a.csv", "--json", "--as", "dot"], "--as cannot be combined with --json."),
        (["cluster", "a.csv", "--kernel", "spectrum(3)", "--language", "de"], "--language cannot be combined"),
        (["choose-k", "a.csv", "--kernel", "spectrum(3)", "--stop-words", "none"], "--stop-words cannot be combined"),
        (["cluster", "a.csv", "-k", "2", "--level", "fine"], "--level cannot be combined with -k."),
        (["cluster", "a.csv", "-k", "2", "--levels", "2,4"], "--levels cannot be combined with -k."),
        (["cluster", "a.csv", "--levels", "5"], "two to five rising numbers, such as 5, 20, 80; got [5]."),
        (["cluster", "a.csv", "--levels", "2,4", "--level", "coarse"], "level must be one of 'middle', 'fine'"),
        (["cluster", "RUN", "--within", "0", "--topics", "x"], "--topics cannot be combined with --within."),
        (["cluster", "RUN", "--within", "0", "--texts", "none"], "--texts none cannot be combined with --within."),
        (["cluster", "a.csv", "--texts", "full"], "--texts full needs --report"),
        (["compare", "RUN", "RUN", "--lossless"], "--lossless cannot be used"),
        (["choose-k", "a.csv", "--pattern", "*.txt"], "--pattern cannot be used"),
        (["demo", "--write", "there", "-k", "3"], "--clusters cannot be combined"),
    ],
)  # fmt: skip
def test_options_without_effect_are_refused(capsys, saved, words, named):
    assert named in refused(capsys, *(saved if word == "RUN" else word for word in words))


def test_errors_speak_of_options(capsys):
    Path("twice.csv").write_text("id,text\n" + "".join(f"{i % 5},{text}\n" for i, text in enumerate(LINES)))
    status, _, error = answer(capsys, "tree", "twice.csv", "--id", "id")
    assert status == 1
    assert "--id, or set [reading] duplicate_ids in --settings to 'number' or 'skip'." in error
    numbered = settings("[reading]\nduplicate_ids = 'number'")
    status, out, _ = answer(capsys, "cluster", "twice.csv", *FAST, *numbered, "--json")
    assert [row["id"] for row in json.loads(out)["documents"]] == ["0", "1", "2", "3", "4", "0#2", "1#2", "2#2"]
    status, out, _ = answer(capsys, "tree", "twice.csv", "-k", "2", *settings("[reading]\nduplicate_ids = 'skip'"))
    assert "3 left out: id seen before." in out
    Path("bad.jsonl").write_text('{"text": "whale"}\n{"text": 3}\n')
    _, _, error = answer(capsys, "tree", "bad.jsonl")
    assert "; --skip-errors leaves such records out." in error
    Path("old.csv").write_bytes(
        ("id,text\n" + "".join(f"{i},caf\xe9 {line}\n" for i, line in enumerate(LINES))).encode("latin-1")
    )
    _, out, _ = answer(capsys, "tree", "old.csv", "-k", "2")
    assert "(set [reading] encoding in --settings if that is wrong)" in " ".join(out.split())


def test_guesses_are_said_and_can_be_changed(capsys):
    rows = "".join(f"{i},{text},0{i + 1}/02/2024\n" for i, text in enumerate(LINES[:8]))
    Path("guess.csv").write_text("Nr,Description,Date\n" + rows)
    _, out, _ = answer(capsys, "tree", "guess.csv", "-k", "2")
    said = " ".join(out.split())
    assert "reading the column 'Description' (--text NAME for another)." in said
    assert "were read with the day first ([reading] day_first = false in --settings for the month)." in said
    month = settings("[reading]\nday_first = false")
    _, out, _ = answer(capsys, "tree", "guess.csv", "-k", "2", *month, "--text", "description")
    assert "to change" not in out
    Path("one.txt").write_text("\n".join(LINES))
    _, out, _ = answer(capsys, "tree", "one.txt", "-k", "2")
    assert "each line is a document (--split to change)" in " ".join(out.split())


def encoded(monkeypatch, encoding, *arguments):
    """Run the command in this process with an output of another encoding; return what was written, as bytes."""
    out = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    with monkeypatch.context() as patched:
        patched.setattr(sys, "stdout", out)
        assert command(*arguments) == 0
    return out.buffer.getvalue()


def test_any_encoding_of_the_terminal_will_do(monkeypatch, capsys):
    text = "id,text\n" + "".join(f"鯨{i},{line} 鯨 歌\n" for i, line in enumerate(LINES))
    Path("whales.csv").write_text(text, encoding="utf-8")
    chosen = encoded(monkeypatch, "ascii", "choose-k", "whales.csv", "--ks", "2-3",
                     *settings("[effort]\nn_splits = 2\nscheme = 'auto'"))  # fmt: skip
    assert b"####" in chosen
    assert b"< chosen" in chosen
    grown = encoded(monkeypatch, "latin-1", "tree", "whales.csv", "-k", "2")
    assert b"\n`-- [1: " in grown
    rows = encoded(monkeypatch, "ascii", "cluster", "whales.csv", *FAST, "--results", "-")
    found = [row["id"] for row in csv.DictReader(io.StringIO(rows.decode("utf-8")))]
    assert found == [f"鯨{i}" for i in range(8)]
    assert capsys.readouterr().err.startswith("8 documents from whales.csv")


def test_no_words_are_a_question_for_help(capsys):
    asked, bare = answer(capsys, "--help"), answer(capsys)
    assert asked == bare
    assert bare[0] == 0
    assert len(bare[1].splitlines()) > 10


def test_output_that_is_closed_or_full():
    closed = shell("grampus inspect --kernel cosine >&- 2>&-")
    assert (closed.returncode, closed.stdout, closed.stderr) == (0, b"", b"")
    full = shell("grampus --version > /dev/full")
    assert (full.returncode, full.stderr) == (1, b"Error: No space left on device: standard output\n")


@pytest.mark.parametrize("words", [["tree", "a.csv", "-k", "3"], ["tree", "RUN", "--as", "json"], ["--help"]])
def test_a_reader_who_has_gone_is_status_141_everywhere(words, saved, monkeypatch, capsys):
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as out, monkeypatch.context() as patched:
        patched.setattr(sys, "stdout", out)
        assert command(*(saved if word == "RUN" else word for word in words)) == 141
    assert capsys.readouterr().err == ""


def test_a_reader_who_has_gone_in_a_process_of_its_own(saved):
    read, write = os.pipe()
    os.close(read)
    words = [sys.executable, "-m", "grampus", "inspect", "--kernel", "cosine"]
    run = subprocess.run(words, stdout=write, stderr=subprocess.PIPE, check=False)
    os.close(write)
    assert (run.returncode, run.stderr) == (141, b"")
