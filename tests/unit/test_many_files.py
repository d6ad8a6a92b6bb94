"""Many files: the same corpus and notes whoever reads them, and no process that outlives the one that started it."""

from __future__ import annotations

import gzip
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from grampus import config
from grampus.errors import CorpusError
from grampus.text import Reader, ReadLimits, ReadOptions, read_corpus
from grampus.text.readers import many
from grampus.text.readers.registry import READERS
from tests.samples import pdf, zipped


@pytest.fixture
def folder(tmp_path):
    """Return a folder of many kinds, faults among them."""
    place = tmp_path / "files"
    (place / "a" / ".hidden").mkdir(parents=True)
    (place / "z").mkdir()
    for number in range(24):
        (place / "a" / f"{number:02d}.txt").write_text(f"whale song number {number}", encoding="utf-8")
    (place / "a" / "broken.pdf").write_bytes(b"%PDF-1.5 no more")
    (place / "a" / "empty.txt").write_text(" ", encoding="utf-8")
    (place / "b.csv").write_text("body,when\na bird nests in spring,2024\n,2025\nwhales sing,2026\n", encoding="utf-8")
    (place / "c.pdf").write_bytes(pdf(["whale song", "bird nest"], title="Animals"))
    (place / "d.html").write_text("<title>Nests</title><p>birds sing", encoding="utf-8")
    (place / "e.txt.gz").write_bytes(gzip.compress("gänse".encode("latin1")))
    (place / "f.eml").write_bytes(
        b"From: a@b.c\nSubject: Hello\nDate: Thu, 6 Jun 2024 09:30:00 +0000\n\na mail of whales\n"
    )
    (place / "g.zip").write_bytes(zipped({"in.txt": "in a box", "bad.pdf": "%PDF-"}))
    (place / "z" / "deep.txt").write_text("x" * 4000, encoding="utf-8")
    (place / "z" / "link.txt").symlink_to(place / "c.pdf")
    (place / "z" / ".last").write_text("hidden", encoding="utf-8")
    return place


def everything(folder, **options):
    with pytest.warns():  # of the files that are left out
        corpus = read_corpus(folder, **options)
    columns = (corpus.texts, corpus.ids, corpus.titles, corpus.dates)
    return [list(one or ()) for one in columns], corpus.notes, list(corpus.skipped.items()), corpus.files


@pytest.mark.parametrize("options", [
    {},
    {"text": "body"},
    {"options": ReadOptions(limits=ReadLimits(max_document_bytes=1000), hidden=True, empty="keep")},
], ids=["plain", "column", "limits"])  # fmt: skip
def test_processes_read_the_same_in_the_same_order(folder, options, monkeypatch):
    with config(workers=1):
        alone = everything(folder, **options)
    assert len(alone[0][0]) > 20
    assert len(alone[2]) > 2
    with config(workers=2):
        assert everything(folder, **options) == alone
    monkeypatch.setattr(many, "PATIENCE", 0.0)
    for most in (0.0, 1e9):  # after the first file the rest is handed on, or not
        monkeypatch.setattr(many, "STARTED", most)
        monkeypatch.setattr(many, "core_count", lambda: 2)
        with config(threads=2):
            assert everything(folder, **options) == alone


def test_small_folders_are_read_here(folder, monkeypatch):
    monkeypatch.setattr("grampus.run.Processes", None)
    monkeypatch.setattr(many, "PATIENCE", 600.0)
    assert everything(folder)


def test_one_thread_or_core_starts_no_process(folder, monkeypatch):
    monkeypatch.setattr("grampus.run.Processes", None)
    monkeypatch.setattr(many, "PATIENCE", 0.0)
    monkeypatch.setattr(many, "STARTED", 0.0)
    for threads, cores in ((1, 8), (8, 1)):
        monkeypatch.setattr(many, "core_count", lambda cores=cores: cores)
        with config(threads=threads):
            assert everything(folder)


def open_own(source):
    return READERS["text"].open(source)


def test_readers_of_a_program_stay_in_its_process(folder, monkeypatch):
    monkeypatch.setitem(READERS, "own", Reader("own", open_own, (".txt",)))
    monkeypatch.setattr("grampus.run.Processes", None)
    with config(workers=2):
        assert everything(folder)


def test_an_error_of_a_worker_is_one_line(folder):
    with config(workers=2), pytest.raises(CorpusError, match="must hold a table with a column 'other'"):
        read_corpus(folder, text="other")
    with config(workers=2), pytest.raises(CorpusError, match="max_total_bytes"):
        read_corpus(folder, options=ReadOptions(limits=ReadLimits(max_total_bytes=200)))


PROGRAM = """
import sys
import grampus
from grampus.text import TermVectorizer, read_corpus
if __name__ == "__main__":
    grampus.config(workers=2)
    print("started", flush=True)
    while True:
        corpus = read_corpus(sys.argv[1])
        TermVectorizer().fit_transform(corpus)
"""


def _alive(session: int) -> list[int]:
    """Return the processes of a session."""
    found = []
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = place.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session and fields[0] != "Z":
            found.append(int(place.parent.name))
    return found


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
@pytest.mark.parametrize("moments", [2, pytest.param(20, marks=pytest.mark.slow)])
def test_no_worker_outlives_its_parent(tmp_path, moments):
    files, scratch = tmp_path / "files", tmp_path / "scratch"
    files.mkdir()
    scratch.mkdir()
    for number in range(60):
        (files / f"{number}.pdf").write_bytes(pdf([f"whale song {number} of the sea"] * 20))
    killed = list[int]()
    for moment in range(moments):
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(files)], stdout=subprocess.PIPE, start_new_session=True,
            env=os.environ | {"TMPDIR": str(scratch)},
        )  # fmt: skip
        assert process.stdout.readline() == b"started\n"
        time.sleep(0.1 + 4.0 * moment / moments)
        assert process.poll() is None  # it works on until it is killed
        killed.append(process.pid)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()
        limit = time.monotonic() + 5.0 * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
        while (left := _alive(process.pid)) and time.monotonic() < limit:
            time.sleep(0.1)
        assert not left, [moment, *(Path(f"/proc/{one}/cmdline").read_bytes() for one in left)]
    assert list(scratch.iterdir()) == []
    memory = os.listdir("/dev/shm") if Path("/dev/shm").is_dir() else []
    assert not [name for name in memory for pid in killed if re.search(rf"(loky|joblib)\D*{pid}\D", name)]
