"""Secrets, invisible characters, names and files that used to end badly."""

import gzip
import json
import sqlite3
import subprocess
import sys

import numpy as np
import pytest

import grampus
from grampus import DocumentClusterer
from grampus._rows import TRIGGERS, harmless, jsonl_text
from grampus._secrets import masked, masked_words
from grampus.cli.results import write_rows
from grampus.errors import CorpusError, InputError
from tests.command import command
from tests.untraced import environment, interruptible

TEXTS = [f"whale sea ship harbour n{i}" if i % 2 else f"tax law court judge n{i}" for i in range(40)]


@pytest.mark.parametrize(
    "text",
    [
        "postgres://me:hunter2@db/x", "select 1 /* password=hunter2 */", "PASSWORD = 'hunter2'",
        '{"api_key": "hunter2"}', "https://host/?token=hunter2&page=3", "aws_secret_access_key: hunter2",
        "Pwd=hunter2;Uid=me", "mysql://hunter:hunter2@h",
    ],
)  # fmt: skip
def test_secrets_are_masked(text):
    assert "hunter2" not in masked(text)
    assert "***" in masked(text)
    assert masked(masked(text)) == masked(text)


@pytest.mark.parametrize(
    "text", ["select text from passwords", "a:b", "http://host:80/path", "author = 'me'", "token", "C:\\pass\\x", "k=5"]
)
def test_what_is_no_secret_stays(text):
    assert masked(text) == text


def test_the_word_after_an_option_for_a_secret():
    assert masked_words(["--password", "x y", "--out", "run"]) == ["--password", "***", "--out", "run"]


def test_a_query_with_a_password_is_kept_nowhere(tmp_path, capsys):
    place = tmp_path / "d.db"
    with sqlite3.connect(place) as connection:
        connection.execute("create table d(text)")
        connection.executemany("insert into d values (?)", [(text,) for text in TEXTS])
    connection.close()
    out, page = tmp_path / "run", tmp_path / "page.html"
    query = "select text from d /* password=hunter2, postgres://u:hunter2@db */"
    assert command("cluster", str(place), "-k", "2", "--query", query, "--out", str(out), "--report", str(page)) == 0
    assert "hunter2" not in capsys.readouterr().out
    for path in [page, *out.iterdir()]:
        assert b"hunter2" not in path.read_bytes(), path
    assert command("cluster", str(place), "--query", "select password=hunter2 from nothing") == 1
    assert "hunter2" not in capsys.readouterr().err


@pytest.mark.parametrize(
    "before", ["\u200b", "\ufeff", "\u00ad", "\u2060", "\u180e", "\x01", "\x7f", "\u061c", " \u200b "]
)
@pytest.mark.parametrize("trigger", [t for t in TRIGGERS if t not in "\t\r\n\x00"])
def test_invisible_characters_do_not_hide_a_formula(before, trigger):
    assert harmless(f"{before}{trigger}1+1").startswith("'")
    assert harmless(f"{before}whale") == f"{before}whale"


def test_every_record_of_jsonl_is_one_line_to_everyone():
    texts = ["a\u2028b", "a\u2029b", "a\x85b", "a\nb", "\\u2028"]
    lines = jsonl_text(["text"], [[text] for text in texts])
    assert [json.loads(line)["text"] for line in lines.splitlines()] == texts


def test_a_terminal_gets_nothing_to_interpret(monkeypatch, capfdbinary):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    write_rows("-", ["text"], [["whale\x1b]0;owned\x07\u202e\x9bsong"]], lossless=True)
    sys.stdout.flush()
    shown = capfdbinary.readouterr().out.decode()
    assert not set(shown) & {"\x1b", "\x07", "\u202e", "\x9b"}
    assert "song" in shown


@pytest.fixture
def source(tmp_path):
    (tmp_path / "texts.txt").write_text("\n".join(TEXTS))
    return str(tmp_path / "texts.txt")


@pytest.mark.parametrize("option", ["--out", "--report"])
def test_names_too_long_are_refused_before_the_work(tmp_path, source, capsys, option):
    assert command("cluster", source, "-k", "2", option, str(tmp_path / ("x" * 245))) == 2
    assert "at most" in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["texts.txt"]


def test_a_zero_byte_in_a_path_is_named(source, capsys):
    assert command("cluster", source, "-k", "2", "--out", "a\0b") == 2
    assert "zero byte" in capsys.readouterr().err


def test_reading_a_file_in_wal_mode_leaves_nothing_beside_it(tmp_path):
    place = tmp_path / "wal.db"
    connection = sqlite3.connect(place)
    connection.execute("pragma journal_mode=wal")
    connection.execute("create table d(text)")
    connection.executemany("insert into d values (?)", [(text,) for text in TEXTS])
    connection.commit()
    connection.close()
    assert len(grampus.read_corpus(place)) == len(TEXTS)
    assert [path.name for path in tmp_path.iterdir()] == ["wal.db"]


def test_pending_writes_of_wal_mode_are_read(tmp_path):
    connection = sqlite3.connect(tmp_path / "wal.db")
    connection.execute("pragma journal_mode=wal")
    connection.execute("create table d(text)")
    connection.execute("insert into d values ('whale')")
    connection.commit()  # in the -wal file only, as the connection is still open
    assert len(grampus.read_corpus(tmp_path / "wal.db")) == 1
    connection.close()


def test_gzip_within_gzip_is_refused(tmp_path):
    place = tmp_path / "texts.txt.gz"
    place.write_bytes(gzip.compress(gzip.compress("\n".join(TEXTS).encode())))
    with pytest.raises(CorpusError, match=r"holds compressed data\. Unpack it once"):
        grampus.read_corpus(place)


def test_substrings_that_no_document_has():
    with pytest.raises(InputError, match="every similarity is 0"):
        DocumentClusterer(2, kernel="spectrum(1000000000)").fit(TEXTS)


def test_huge_similarities_make_a_finite_heatmap():
    model = DocumentClusterer(2, kernel="polynomial(300)", random_state=0).fit(TEXTS)
    assert np.isfinite(model.run_.layout.heatmap).all()


def test_a_timeout_stops_cleanly(tmp_path):
    source, out = tmp_path / "texts.txt", tmp_path / "run"
    rng = np.random.default_rng(0)
    source.write_text("\n".join(" ".join(f"w{i}" for i in rng.integers(5000, size=60)) for _ in range(4000)))
    words = ["cluster", str(source), "--out", str(out), "--timeout", "0.2"]
    command = [sys.executable, "-m", "grampus", *words]
    with interruptible():
        ended = subprocess.run(command, capture_output=True, text=True, check=False, env=environment())
    assert ended.returncode == 124
    assert ended.stderr.strip().endswith("Stopped after 0.2 s (--timeout); no file was left incomplete.")
    assert [path.name for path in tmp_path.iterdir()] == ["texts.txt"]


def test_a_timeout_that_is_not_reached_changes_nothing(source):
    assert command("cluster", source, "-k", "2", "--timeout", "1000", "-q") == 0


@pytest.mark.parametrize("seconds", ["0", "nan", "soon"])
def test_a_timeout_is_a_number_of_seconds(tmp_path, capsys, seconds):
    assert command("cluster", str(tmp_path), f"--timeout={seconds}") == 2
    assert "--timeout" in capsys.readouterr().err
