"""The run folder: whole or absent, and refused when a byte is not as it was written."""

from __future__ import annotations

import dataclasses
import errno
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import GenericAlias
from typing import Any

import numpy as np
import pytest

from grampus import DocumentClusterer
from grampus.documents import update_run
from grampus.errors import RunError
from grampus.persist import Edit, Run, folder
from grampus.persist.schema import read_as
from grampus.report import report_html
from grampus.text import Texts
from tests.runs import PARTS, small_run

GOLDEN = Path(__file__).parents[1] / "golden"
NEWEST = GOLDEN / "run-3"


def same(one: Run, other: Run) -> bool:
    for part in PARTS:
        for field in dataclasses.fields(getattr(one, part)):
            a, b = getattr(getattr(one, part), field.name), getattr(getattr(other, part), field.name)
            if isinstance(a, np.ndarray):
                if a.dtype != b.dtype or not np.array_equal(a, b, equal_nan=True):
                    return False
            elif a != b:
                return False
    return set(one.model) == set(other.model) and all(np.array_equal(one.model[n], other.model[n]) for n in one.model)


def test_a_run_comes_back_as_it_was(tmp_path):
    run = small_run()
    run.save(tmp_path / "run")
    again = Run.load(tmp_path / "run")
    assert same(run, again)
    assert isinstance(again.documents.texts, Texts)
    assert again.evidence.clusters[0].terms[0].text == "bird"


def test_arrays_are_known_where_their_annotation_is_an_alias():
    alias = type("NDArray", (), {"__value__": np.ndarray[Any, Any]})  # as NumPy has it from 2.5 on
    row = np.arange(3)
    assert read_as(GenericAlias(alias, (np.int32,)), row, "row") is row
    with pytest.raises(RunError, match="row must be an array"):
        read_as(GenericAlias(alias, (np.int32,)), [1], "row")


def test_optional_parts_may_be_missing(tmp_path):
    run = small_run(titles=None, classes=None, dates=None, texts=None, excerpts=None, choice=None, seed=None, model={})
    run.save(tmp_path / "run")
    assert same(run, Run.load(tmp_path / "run"))


def test_texts_are_left_out_on_request(tmp_path):
    small_run().save(tmp_path / "run", texts=False)
    again = Run.load(tmp_path / "run")
    assert again.documents.texts is None
    assert again.documents.excerpts is None
    assert set(again.model) == {"terms", "weights"}
    everything = b"".join(file.read_bytes() for file in (tmp_path / "run").iterdir())
    assert b"in the sea" not in everything
    strings = small_run(model={"texts": Texts(["in the sea"])})
    assert dict(strings.without_texts().model) == {}


@pytest.mark.parametrize("version", [1, 2, 3])
def test_runs_of_every_version_are_read_and_shown(version):
    """A change of the format needs a new schema, a step in persist/upgrade.py and one more golden run."""
    run = Run.load(GOLDEN / f"run-{version}")
    assert same(run, small_run())
    assert "5 documents in 2 clusters" in report_html(run)


def test_a_model_saved_by_the_first_version_assigns_documents():
    model = DocumentClusterer.load(GOLDEN / "model-1")
    assert model.labels_.tolist() == [0, 0, 0, 1, 1, 1]
    assert model.predict(["a whale", "the nest"]).tolist() == [0, 1]
    assert model.effort.n_splits == 50


def test_a_run_of_0_2_is_read_edited_assigned_to_and_updated(tmp_path):
    """model-2: 60 texts on three topics, clustered and renamed by the command of 0.2.0."""
    run = Run.load(GOLDEN / "model-2")
    assert [one.name for one in run.evidence.clusters] == ["First", "sailor, harbour, ocean", "signal, train, engine"]
    assert np.bincount(run.level_labels("fine")).tolist() == sorted(np.bincount(run.level_labels("fine")), reverse=True)
    assert run.undone().evidence.clusters[0].name == "wing, bird, wind"
    model = DocumentClusterer.of_run(run)
    new = ["whales and ships in the ocean", "the train left the station", "a bird on its nest"]
    assert model.predict(new).tolist() == [1, 2, 0]
    run = update_run(run.edited(Edit("merge", (1, 2))), new)
    run.save(tmp_path / "run")
    again = Run.load(tmp_path / "run")
    assert [(one.name, one.size) for one in again.evidence.clusters] == [
        ("First", 21), ("sailor, harbour, ocean + signal, train, engine", 42),
    ]  # fmt: skip
    assert "63 documents in 2 clusters" in report_html(again)


def test_the_newest_golden_run_is_still_written(tmp_path):
    small_run().save(tmp_path / "run")
    written = {file.name: file.read_bytes() for file in (tmp_path / "run").iterdir()}
    assert written == {file.name: file.read_bytes() for file in NEWEST.iterdir()}


@pytest.mark.parametrize("name", sorted(file.name for file in NEWEST.iterdir()))
def test_a_changed_byte_is_refused_wherever_it_is(tmp_path, name):
    place = tmp_path / "run"
    shutil.copytree(NEWEST, place)
    whole = (place / name).read_bytes()
    positions = np.random.default_rng(0).integers(len(whole), size=20).tolist()  # all of them in the lab
    for position in positions:
        altered = bytearray(whole)
        altered[position] ^= 1 << (position % 8)
        (place / name).write_bytes(altered)
        with pytest.raises(RunError):
            Run.load(place)
    for other in (whole + b"\n", whole[:-1], b""):
        (place / name).write_bytes(other)
        with pytest.raises(RunError):
            Run.load(place)
    (place / name).unlink()
    with pytest.raises(RunError, match=r"must be a run folder|is missing"):
        Run.load(place)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs FIFOs")
@pytest.mark.parametrize("kind", ["fifo", "/dev/zero", "folder", "large"])
@pytest.mark.parametrize("name", ["manifest.json", "evidence.labels"])
def test_fifos_devices_and_huge_files_are_refused_at_once(tmp_path, name, kind):
    place = tmp_path / "run"
    shutil.copytree(NEWEST, place)
    (file,) = place.glob(f"{name}*")
    file.unlink()
    if kind == "fifo":
        os.mkfifo(file)
    elif kind == "folder":
        file.mkdir()
    elif kind == "large":
        with file.open("wb") as stream:
            stream.truncate(2**42)
    else:
        file.symlink_to(kind)
    with pytest.raises(RunError, match="cannot be read"):
        Run.load(place)
    if kind in ("fifo", "/dev/zero"):
        small_run(seed=9).save(place)  # and is replaced, not written into
        assert Run.load(place).provenance.seed == 9


def test_a_reader_whose_run_is_replaced_reads_the_new_one(tmp_path, monkeypatch):
    place, read, calls = tmp_path / "run", folder._read_array, []
    small_run().save(place)

    def slow(*args):
        calls.append(args)
        if len(calls) == 1:  # the manifest of the old run is read, its arrays are not
            small_run(seed=8, coordinates=np.ones((5, 2), dtype=np.float32)).save(place)
        return read(*args)

    monkeypatch.setattr(folder, "_read_array", slow)
    assert Run.load(place).provenance.seed == 8


@pytest.mark.parametrize(
    "change",
    [
        {"labels": np.array([0, 0, 0, 0, 2], dtype=np.int32)},
        {"labels": np.zeros(4, dtype=np.int32)},
        {"labels": np.zeros(5)},
        {"labels": np.array([1, 1, 1, 0, 0], dtype=np.int32)},
        {"ids": Texts(["a"])},
        {"titles": ["a", "b", "c", "d", "e"]},
        {"duplicates": np.array([[0, 9]], dtype=np.int32)},
        {"heatmap": np.eye(4, dtype=np.float32)},
        {"leaves": np.full(5, 7, dtype=np.int32)},
        {"clusters": small_run().evidence.clusters[::-1]},
    ],
)
def test_parts_that_do_not_fit_are_refused(change):
    with pytest.raises(RunError):
        small_run(**change)


def test_an_old_run_is_replaced_in_one_step(tmp_path):
    place = tmp_path / "run"
    small_run().save(place)
    small_run(coordinates=np.ones((5, 2), dtype=np.float32), seed=8).save(place)
    assert Run.load(place).provenance.seed == 8
    assert len(list(place.iterdir())) == len(list(NEWEST.iterdir()))  # nothing of the old one is left


def test_other_folders_and_files_are_not_overwritten(tmp_path):
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "a.txt").write_text("dear")
    with pytest.raises(RunError, match="holds other files"):
        small_run().save(tmp_path / "letters")
    with pytest.raises(RunError, match="is a file"):
        small_run().save(tmp_path / "letters" / "a.txt")
    assert (tmp_path / "letters" / "a.txt").read_text() == "dear"
    (tmp_path / "empty").mkdir()
    small_run().save(tmp_path / "empty")
    assert Run.load(tmp_path / "empty").provenance.seed == 7
    with pytest.raises(RunError, match=r"must be a run folder"):
        Run.load(tmp_path / "nothing")


def failing(monkeypatch, module, name, count, code):
    """Let a function of a module fail with an OSError at its `count`-th call."""
    whole, calls = getattr(module, name), []

    def fail(*args, **options):
        calls.append(1)
        if len(calls) == count:
            raise OSError(code, os.strerror(code))
        return whole(*args, **options)

    monkeypatch.setattr(module, name, fail)


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EACCES, errno.EIO])
@pytest.mark.parametrize("step", ["replace_file", "sync_folder"])
@pytest.mark.parametrize("count", [1, 5])
def test_errors_while_writing_leave_what_was_there(tmp_path, monkeypatch, code, step, count):
    """Root may write anywhere, so errors of the disk are injected where the bytes go out."""
    count = 1 if step == "sync_folder" else count
    small_run().save(tmp_path / "old")
    before = {file.name: file.read_bytes() for file in (tmp_path / "old").iterdir()}
    for place in ("old", "new"):
        with monkeypatch.context() as patch:
            failing(patch, folder, step, count, code)
            with pytest.raises(OSError, match=os.strerror(code)):
                small_run(seed=9).save(tmp_path / place)
    assert {file.name: file.read_bytes() for file in (tmp_path / "old").iterdir()} == before
    assert os.listdir(tmp_path) == ["old"]
    assert Run.load(tmp_path / "old").provenance.seed == 7


def test_what_killed_processes_left_is_removed_after_an_hour(tmp_path):
    old, fresh = tmp_path / ".run.0123456789ab.tmp", tmp_path / ".run.ab0123456789.tmp"
    old.mkdir()
    fresh.mkdir()
    os.utime(old, (0, 0))
    small_run().save(tmp_path / "run")
    assert not old.exists()
    assert fresh.exists()


def test_nothing_is_pickled(tmp_path):
    with pytest.raises(ValueError, match=r"pickle|Object arrays"):
        small_run(model={"x": np.array([object()])}).save(tmp_path / "run")
    assert os.listdir(tmp_path) == []


WRITER = """
import sys, time
from pathlib import Path
from grampus.persist import folder
from tests.runs import PARTS, small_run

seed, place, wait = int(sys.argv[1]), Path(sys.argv[2]), float(sys.argv[3])
write, folder.WAIT = folder.replace_file, wait
mine, other = place.parent / f"{seed}.ready", place.parent / "other.done"

def slow(path, data):  # the arrays are there, the manifest is not
    end = time.monotonic() + float(sys.argv[4]) * (path.name == "manifest.json")
    if path.name == "manifest.json":
        mine.touch()
    while not other.exists() and time.monotonic() < end:
        time.sleep(0.01)
    write(path, data)

folder.replace_file = slow
small_run(seed=seed, source=str(seed), coordinates=small_run().layout.coordinates + seed).save(place)
"""


def writer(place, seed, wait=20.0, pause=0.0):
    """Start a process that saves a run, and that holds for `pause` seconds before it writes the manifest."""
    words = [sys.executable, "-c", WRITER, str(seed), str(place), str(wait), str(pause)]
    return subprocess.Popen(words, stderr=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2])


def until(file, process):
    """Wait for a file that a process makes."""
    while not file.exists():
        assert process.poll() is None, process.communicate()[1]
        time.sleep(0.01)


@pytest.mark.slow
@pytest.mark.parametrize("before", ["a run", "nothing"])
def test_two_writers_leave_the_run_of_the_second(tmp_path, before):
    """The second starts while the first has written its arrays and not yet the manifest that names them."""
    place = tmp_path / "run"
    if before == "a run":
        small_run().save(place)
    first = writer(place, 1, pause=3.0)
    until(tmp_path / "1.ready", first)
    second = writer(place, 2)
    errors = [process.communicate(timeout=60)[1] for process in (second, first)]
    assert (first.returncode, second.returncode, errors) == (0, 0, ["", ""])
    assert Run.load(place).provenance.seed == 2
    assert sorted(os.listdir(tmp_path)) == ["1.ready", "2.ready", "run"]


@pytest.mark.slow
def test_a_writer_that_waited_in_vain_says_so_and_changes_nothing(tmp_path):
    place = tmp_path / "run"
    small_run().save(place)
    first = writer(place, 1, pause=60.0)
    until(tmp_path / "1.ready", first)
    second = writer(place, 2, wait=0.1)
    assert f"RunError: {place} is being written by another process." in second.communicate(timeout=60)[1]
    (tmp_path / "other.done").touch()
    first.communicate(timeout=60)
    assert Run.load(place).provenance.seed == 1


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_a_lock_of_a_killed_writer_holds_nobody_up(tmp_path):
    place = tmp_path / "run"
    small_run().save(place)
    first = writer(place, 1, pause=60.0)
    until(tmp_path / "1.ready", first)
    first.send_signal(signal.SIGKILL)
    first.communicate(timeout=60)
    assert (tmp_path / ".run.lock").exists()
    small_run(seed=3).save(place)
    assert Run.load(place).provenance.seed == 3
    assert sorted(os.listdir(tmp_path)) == ["1.ready", "run"]
    assert len(os.listdir(place)) == len(list(NEWEST.iterdir()))


@pytest.mark.slow
def test_writers_that_race_leave_a_whole_run(tmp_path):
    place, rounds = tmp_path / "run", 3
    for _ in range(rounds):
        shutil.rmtree(place, ignore_errors=True)
        racing = [writer(place, seed) for seed in (1, 2)]
        errors = [process.communicate(timeout=60)[1] for process in racing]
        assert errors == ["", ""]
        assert Run.load(place).provenance.seed in (1, 2)


def test_a_link_to_a_folder_is_followed(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    small_run().save(tmp_path / "link")
    assert Run.load(tmp_path / "real").provenance.seed == 7
    assert (tmp_path / "link").is_symlink()
