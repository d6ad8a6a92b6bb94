"""The run folder: whole or absent, and refused when a byte is not as it was written."""

from __future__ import annotations

import dataclasses
import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from grampus import _files as files
from grampus.errors import RunError
from grampus.persist import Run, folder
from grampus.text import Texts
from tests.runs import small_run

GOLDEN = Path(__file__).parents[1] / "golden" / "run-1"


def same(one: Run, other: Run) -> bool:
    for field in dataclasses.fields(Run):
        a, b = getattr(one, field.name), getattr(other, field.name)
        if isinstance(a, np.ndarray):
            if a.dtype != b.dtype or not np.array_equal(a, b, equal_nan=True):
                return False
        elif field.name == "model":
            if set(a) != set(b) or not all(np.array_equal(a[name], b[name]) for name in a):
                return False
        elif a != b:
            return False
    return True


def test_a_run_comes_back_as_it_was(tmp_path):
    run = small_run()
    run.save(tmp_path / "run")
    again = Run.load(tmp_path / "run")
    assert same(run, again)
    assert isinstance(again.texts, Texts)
    assert again.clusters[0].terms[0].text == "bird"


def test_optional_parts_may_be_missing(tmp_path):
    run = small_run(titles=None, classes=None, dates=None, texts=None, excerpts=None, choice=None, seed=None, model={})
    run.save(tmp_path / "run")
    assert same(run, Run.load(tmp_path / "run"))


def test_texts_are_left_out_on_request(tmp_path):
    small_run().save(tmp_path / "run", texts=False)
    again = Run.load(tmp_path / "run")
    assert again.texts is None
    assert again.excerpts is None
    assert set(again.model) == {"terms", "weights"}
    everything = b"".join(file.read_bytes() for file in (tmp_path / "run").iterdir())
    assert b"in the sea" not in everything
    strings = small_run(model={"texts": Texts(["in the sea"])})
    assert dict(strings.without_texts().model) == {}


def test_the_golden_run_is_still_read():
    """Written by schema 1; a change of the format needs a new schema and keeps reading this one."""
    assert same(Run.load(GOLDEN), small_run())


def test_the_golden_run_is_still_written(tmp_path):
    small_run().save(tmp_path / "run")
    written = {file.name: file.read_bytes() for file in (tmp_path / "run").iterdir()}
    assert written == {file.name: file.read_bytes() for file in GOLDEN.iterdir()}


@pytest.mark.parametrize("name", sorted(file.name for file in GOLDEN.iterdir()))
def test_a_changed_byte_is_refused_wherever_it_is(tmp_path, name):
    place = tmp_path / "run"
    shutil.copytree(GOLDEN, place)
    whole = (place / name).read_bytes()
    positions = np.random.default_rng(0).integers(len(whole), size=100).tolist()  # all of them in `make verify`
    for position in positions:
        changed = bytearray(whole)
        changed[position] ^= 1 << (position % 8)
        (place / name).write_bytes(changed)
        with pytest.raises(RunError):
            Run.load(place)
    for other in (whole + b"\n", whole[:-1], b""):
        (place / name).write_bytes(other)
        with pytest.raises(RunError):
            Run.load(place)
    (place / name).unlink()
    with pytest.raises(RunError, match=r"must be a run folder|is missing"):
        Run.load(place)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema": 2}, "newer Grampus"),
        ({"schema": 0}, "not as it was written"),
        ({"format": "other"}, "not as it was written"),
        ({"arrays": {"labels": {"file": "../labels-0000000000000000.npy", "sha256": ""}}}, "names no file"),
        ({"arrays": {}}, "parts of a run"),
        ({"run": {}}, "parts of a run"),
        ({"run": 3}, "not as it was written"),
    ],
)
def test_a_forged_manifest_is_refused(tmp_path, change, message):
    """One whose own hash is right, but which is not what a run has."""
    place = tmp_path / "run"
    shutil.copytree(GOLDEN, place)
    manifest = json.loads((place / "manifest.json").read_bytes())
    manifest.pop("sha256")
    (place / "manifest.json").write_bytes(folder._encode({**manifest, **change}))
    with pytest.raises(RunError, match=message):
        Run.load(place)


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
        {"clusters": small_run().clusters[::-1]},
    ],
)
def test_parts_that_do_not_fit_are_refused(change):
    with pytest.raises(RunError):
        small_run(**change)


def test_an_old_run_is_replaced_in_one_step(tmp_path):
    place = tmp_path / "run"
    small_run().save(place)
    small_run(labels=np.array([0, 1, 0, 1, 0], dtype=np.int32), seed=8).save(place)
    assert Run.load(place).seed == 8
    assert len(list(place.iterdir())) == len(list(GOLDEN.iterdir()))  # nothing of the old one is left


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
    assert Run.load(tmp_path / "empty").seed == 7
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
@pytest.mark.parametrize("step", [("folder", "write_synced"), ("folder", "sync_folder"), ("folder", "write_file")])
@pytest.mark.parametrize("count", [1, 5])
def test_errors_while_writing_leave_what_was_there(tmp_path, monkeypatch, code, step, count):
    """Root may write anywhere, so errors of the disk are injected where the bytes go out."""
    if step[1] != "write_synced" and count > 1:
        count = 1
    small_run().save(tmp_path / "old")
    before = {file.name: file.read_bytes() for file in (tmp_path / "old").iterdir()}
    module = {"folder": folder, "files": files}[step[0]]
    for place in ("old", "new"):
        with monkeypatch.context() as patch:
            failing(patch, module, step[1], count, code)
            with pytest.raises(OSError, match=os.strerror(code)):
                small_run(seed=9).save(tmp_path / place)
    assert {file.name: file.read_bytes() for file in (tmp_path / "old").iterdir()} == before
    assert os.listdir(tmp_path) == ["old"]
    assert Run.load(tmp_path / "old").seed == 7


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
from tests.runs import small_run

seed, place, wait = int(sys.argv[1]), Path(sys.argv[2]), float(sys.argv[3])
write, folder.WAIT = folder.write_file, wait
mine, other = place.parent / f"{seed}.ready", place.parent / "other.done"

def slow(path, data):  # the arrays are there, the manifest is not
    mine.touch()
    end = time.monotonic() + float(sys.argv[4])
    while not other.exists() and time.monotonic() < end:
        time.sleep(0.01)
    write(path, data)

folder.write_file = slow
small_run(seed=seed, source=str(seed), coordinates=small_run().coordinates + seed).save(place)
"""


def writer(place, seed, wait=20.0, pause=0.0):
    """Start a process that saves a run, and that holds for `pause` seconds before it writes the manifest."""
    words = [sys.executable, "-c", WRITER, str(seed), str(place), str(wait), str(pause)]
    return subprocess.Popen(words, stderr=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2])


def until(file):
    end = time.monotonic() + 60
    while not file.exists():
        assert time.monotonic() < end, f"{file} did not appear"
        time.sleep(0.01)


@pytest.mark.parametrize("before", ["a run", "nothing"])
def test_two_writers_leave_the_run_of_the_second(tmp_path, before):
    """The second starts while the first has written its arrays and not yet the manifest that names them."""
    place = tmp_path / "run"
    if before == "a run":
        small_run().save(place)
    first = writer(place, 1, pause=3.0)
    until(tmp_path / "1.ready")
    second = writer(place, 2)
    errors = [process.communicate(timeout=60)[1] for process in (second, first)]
    assert (first.returncode, second.returncode, errors) == (0, 0, ["", ""])
    assert Run.load(place).seed == 2
    assert sorted(os.listdir(tmp_path)) == ["1.ready", "2.ready", "run"]


def test_a_writer_that_waited_in_vain_says_so_and_changes_nothing(tmp_path):
    place = tmp_path / "run"
    small_run().save(place)
    first = writer(place, 1, pause=60.0)
    until(tmp_path / "1.ready")
    second = writer(place, 2, wait=0.1)
    assert f"RunError: {place} is being written by another process." in second.communicate(timeout=60)[1]
    (tmp_path / "other.done").touch()
    first.communicate(timeout=60)
    assert Run.load(place).seed == 1


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_a_lock_of_a_killed_writer_holds_nobody_up(tmp_path):
    place = tmp_path / "run"
    small_run().save(place)
    first = writer(place, 1, pause=60.0)
    until(tmp_path / "1.ready")
    first.send_signal(signal.SIGKILL)
    first.communicate(timeout=60)
    assert (tmp_path / ".run.lock").exists()
    small_run(seed=3).save(place)
    assert Run.load(place).seed == 3
    assert sorted(os.listdir(tmp_path)) == ["1.ready", "run"]
    assert len(os.listdir(place)) == len(list(GOLDEN.iterdir()))


def test_writers_that_race_leave_a_whole_run(tmp_path):
    place, rounds = tmp_path / "run", 3
    for _ in range(rounds):
        shutil.rmtree(place, ignore_errors=True)
        racing = [writer(place, seed) for seed in (1, 2)]
        errors = [process.communicate(timeout=60)[1] for process in racing]
        assert errors == ["", ""]
        assert Run.load(place).seed in (1, 2)


def test_a_link_to_a_folder_is_followed(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    small_run().save(tmp_path / "link")
    assert Run.load(tmp_path / "real").seed == 7
    assert (tmp_path / "link").is_symlink()
