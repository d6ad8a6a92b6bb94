"""Faults at single calls: the old output stays byte for byte or the new one is whole, and nothing is left behind.

A sample of the sites that ``python -m lab promises --only injection`` tries one by one.
"""

import errno
import io
import os
import shutil
import sys
from unittest.mock import patch

import numpy as np
import pytest

import grampus
from grampus._files import locked, new_folder, remove_folder, sync_folder, write_file
from grampus.errors import CorpusError, PartsError, RunError
from grampus.persist import Run, folder
from grampus.run import Scratch, ThisThread, using
from grampus.select.checkpoint import Checkpoint
from grampus.text import read_corpus, read_pieces
from tests.command import command
from tests.faults import KINDS, failing
from tests.runs import small_run


def contents(place):
    """Return the bytes of every file below a place, by path."""
    return {str(file.relative_to(place)): file.read_bytes() for file in sorted(place.rglob("*")) if file.is_file()}


def calls(kind, action):
    """Return how many calls of a kind an action makes."""
    with failing(kind, 0) as seen:
        action()
    return len(seen)


@pytest.mark.parametrize("kind", KINDS)
def test_an_edit_that_fails_at_a_call_leaves_the_old_run(tmp_path, capsys, kind):
    base, place = tmp_path / "base", tmp_path / "work" / "run"
    small_run().save(base)
    old = contents(base)
    words = ("edit", str(place), "--rename", "0=Birds", "-q")
    shutil.copytree(base, place)
    count = calls(kind, lambda: command(*words))
    new = contents(place)
    for number in sorted({1, 2, count // 2, count - 2, count - 1, count} - {-2, -1, 0}):
        shutil.rmtree(place.parent)
        shutil.copytree(base, place)
        capsys.readouterr()
        with failing(kind, number) as seen:
            status = command(*words)
        told, found = capsys.readouterr().err, contents(place.parent)
        lock = found.pop(".run.lock", None)
        found = {name.removeprefix("run/"): data for name, data in found.items()}
        assert found in (old, new), (kind, number, seen[-1])
        assert lock is None or kind == "unlink"  # it locks nobody
        if status:
            assert told.startswith("Error: ")
            assert len(told.splitlines()) == 1
            assert "bug" not in told
        else:
            assert found == new, (kind, number, seen[-1])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("error", [OSError(errno.EIO, "Input/output error"), MemoryError()], ids=["EIO", "memory"])
def test_a_new_run_that_fails_at_a_call_is_not_there(tmp_path, kind, error):
    place = tmp_path / "work" / "run"
    place.parent.mkdir()
    run = small_run()
    count = calls(kind, lambda: run.save(place))
    for number in sorted({1, 2, count // 2, count - 1, count} - {-1, 0}):
        shutil.rmtree(place.parent)
        place.parent.mkdir()
        failed = False
        with failing(kind, number, error):
            try:
                run.save(place)
            except (OSError, MemoryError):
                failed = True
        left = [path.name for path in place.parent.iterdir() if path != place and kind != "unlink"]
        assert not set(left) - ({".run.lock"} if failed else set()), (number, left)
        assert not place.exists() or Run.load(place).provenance.seed == 7
        assert failed or place.exists()


def test_what_was_replaced_is_gone_or_the_save_fails(tmp_path):
    """Old arrays may hold texts that were to be forgotten."""
    place = tmp_path / "run"
    small_run().save(place)
    later = small_run(texts=None, excerpts=None, titles=None)
    with failing("unlink", 1, PermissionError(errno.EACCES, "Permission denied")), pytest.raises(PermissionError):
        later.save(place)
    assert sum(name.startswith(("documents.texts", "documents.excerpts")) for name in contents(place)) <= 1
    later.save(place)
    assert not any(name.startswith("documents.texts") for name in contents(place))


def test_an_interrupt_after_the_save_leaves_no_old_array(tmp_path):
    place, later = tmp_path / "run", small_run(seed=8, texts=None)
    later.save(tmp_path / "expected")
    for error in (KeyboardInterrupt(), MemoryError()):
        small_run().save(place)
        with failing("unlink", 1, error), pytest.raises(type(error)):
            later.save(place)
        assert contents(place) == contents(tmp_path / "expected")


def test_a_manifest_that_cannot_be_opened_after_the_save_keeps_no_old_array(tmp_path):
    place = tmp_path / "run"
    small_run().save(place)
    later = small_run(seed=8, texts=None)
    expected = tmp_path / "expected"
    later.save(expected)
    for number in range(1, calls("open", lambda: later.save(place)) + 1):
        small_run().save(place)
        with failing("open", number, PermissionError(errno.EACCES, "Permission denied")):
            try:
                later.save(place)
            except OSError:
                continue
        assert contents(place) == contents(expected), number


def test_a_run_that_could_not_be_read_again_is_not_written(tmp_path):
    place = tmp_path / "run"
    small_run().save(place)
    old = contents(place)
    with pytest.raises(RunError, match=r"provenance.versions\['numpy'\] must be a text"):
        small_run(versions={"numpy": None}).save(place)
    assert contents(place) == old


def test_a_package_without_metadata_has_an_unknown_version(monkeypatch):
    from grampus.documents.tell import build_run

    monkeypatch.setattr(build_run, "version", lambda name: None)
    assert set(build_run.versions().values()) >= {"unknown"}
    assert None not in build_run.versions().values()


@pytest.mark.parametrize("kind", ["write", "fsync", "replace"])
def test_a_checkpoint_or_a_file_that_fails_keeps_the_old_one(tmp_path, kind):
    kept = Checkpoint.open(tmp_path / "checkpoint", {"scheme": "KKM-S"})
    kept.save("k2", {"score": 1.0})
    write_file(tmp_path / "page.html", b"old")
    for action, name in (
        (lambda: kept.save("k2", {"score": 2.0}), "checkpoint/k2.npz"),
        (lambda: write_file(tmp_path / "page.html", b"new"), "page.html"),
    ):
        old = contents(tmp_path)
        with failing(kind, 1), pytest.raises(OSError, match="No space left"):
            action()
        assert contents(tmp_path) == old, name


@pytest.mark.parametrize("code", [errno.EINVAL, errno.ENOTSUP])
def test_a_folder_that_cannot_be_flushed_is_no_error(tmp_path, code):
    with failing("fsync", 1, OSError(code, os.strerror(code))):
        sync_folder(tmp_path)
    with failing("fsync", 1, OSError(errno.EIO, "Input/output error")), pytest.raises(OSError, match="Input/output"):
        sync_folder(tmp_path)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="locks of another process")
@pytest.mark.parametrize("code", [errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS])
def test_where_there_are_no_locks_the_block_runs_without_one(tmp_path, monkeypatch, code):
    import fcntl

    def flock(*_):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(fcntl, "flock", flock)
    with locked(tmp_path / "lock", 0.0) as alone:
        assert alone
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX only")
def test_a_lock_file_that_another_machine_removed_is_tried_again(tmp_path, monkeypatch):
    import fcntl

    real, codes = fcntl.flock, [errno.ESTALE, errno.EAGAIN]

    def flock(*given):
        if codes:
            raise OSError(codes[0], os.strerror(codes.pop(0)))
        real(*given)

    monkeypatch.setattr(fcntl, "flock", flock)
    with locked(tmp_path / "lock", 0.0) as alone:
        assert not alone
    with locked(tmp_path / "lock", 60.0) as alone:
        assert alone
        assert codes == []


def test_a_lock_that_cannot_be_removed_fails_nothing(tmp_path):
    place = tmp_path / "run"
    with failing("unlink", 1, PermissionError(errno.EACCES, "Permission denied")):
        small_run().save(place)
    assert (tmp_path / ".run.lock").exists()
    small_run(seed=8).save(place)
    assert Run.load(place).provenance.seed == 8
    assert not (tmp_path / ".run.lock").exists()


def test_an_original_in_a_folder_is_refused(tmp_path):
    place = tmp_path / "run"
    with folder.writing(place) as real:
        folder.write_folder(real, 2, {"original": {}}, {})
    with pytest.raises(RunError, match="unknown field 'original'"):
        Run.load(place)


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_an_error_before_the_command_is_one_line(monkeypatch, capsys, error):
    def raises():
        raise error

    monkeypatch.setattr(sys.modules["grampus.cli.main"], "prepare_streams", raises)
    assert command("doctor") == (130 if error is KeyboardInterrupt else 1)
    assert len(capsys.readouterr().err.splitlines()) == 1


@pytest.mark.parametrize("kind", ["write", "fsync", "replace", "mkdir"])
def test_a_folder_that_fails_keeps_the_old_one_and_names_it(tmp_path, kind):
    place = tmp_path / "tables"
    with new_folder(place, over=True) as fresh:
        (fresh / "a").write_bytes(b"old")

    def write():
        with new_folder(place, over=True) as fresh, (fresh / "b").open("xb") as file:
            file.write(b"new")

    count = calls(kind, write)
    assert contents(place) == {"b": b"new"}
    for number in range(1 + (kind == "mkdir"), count + 1):  # the first asks for a parent that is there
        before = contents(tmp_path)
        with failing(kind, number), pytest.raises(OSError, match="No space left") as failed:
            write()
        if kind != "fsync" or number < count:  # the last flushes what has been renamed
            assert contents(tmp_path) == before, number
        assert failed.value.filename == str(place)
        assert [path.name for path in tmp_path.iterdir()] == ["tables"], number


def test_a_run_that_cannot_be_written_names_a_file_of_it(tmp_path):
    with failing("write", 3), pytest.raises(OSError, match="No space left") as failed:
        small_run().save(tmp_path / "run")
    assert str(failed.value.filename).startswith(str(tmp_path / "run"))
    small_run().save(tmp_path / "run")
    with failing("replace", 2), pytest.raises(OSError, match="No space left") as failed:
        small_run(seed=8).save(tmp_path / "run")
    assert ".tmp" not in str(failed.value.filename)


def test_a_piece_that_cannot_be_written_or_read_is_named(tmp_path):
    scratch = Scratch(tmp_path / "scratch", {})
    for kind in ("open", "write", "replace"):
        with failing(kind, 1), pytest.raises(OSError, match="No space left") as failed:
            scratch.write("rows", 0, {"x": np.arange(6.0).reshape(2, 3).T})
        assert failed.value.filename == str(scratch.folder / "rows" / "000000")
    assert not scratch.has("rows", 0)
    scratch.write("rows", 0, {"x": np.arange(6.0).reshape(2, 3).T, "none": np.zeros((0, 2)), "one": np.array(3)})
    found = scratch.read("rows", 0)
    assert found["x"].tolist() == [[0, 3], [1, 4], [2, 5]]
    assert found["none"].shape == (0, 2)
    assert found["one"] == 3
    with (
        patch("numpy.load", side_effect=OSError(errno.EIO, "Input/output error")),
        pytest.raises(OSError, match="put") as failed,
    ):
        scratch.read("rows", 0)
    assert str(failed.value.filename).endswith(".npy")


@pytest.mark.skipif(sys.platform == "win32", reason="flock")
def test_an_interrupt_while_a_lock_is_taken_leaves_no_file(tmp_path, monkeypatch):
    import fcntl

    place = tmp_path / "lock"
    for name, real in (("os.fstat", os.fstat), ("fcntl.flock", fcntl.flock)):
        monkeypatch.setattr(name, Once(real))
        with pytest.raises(KeyboardInterrupt), locked(place, 0.0):
            pass
        assert not place.exists()
        with locked(place, 0.0) as held:
            assert held
            monkeypatch.setattr("fcntl.flock", Once(fcntl.flock))
            with pytest.raises(KeyboardInterrupt), locked(place, 0.0):
                pass
            assert place.exists()  # this one holds it


class Once:
    """A function whose first call is interrupted."""

    def __init__(self, real, error=None):
        self.real, self.error = real, error or KeyboardInterrupt()

    def __call__(self, *args, **options):
        error, self.error = self.error, None
        if error is not None:
            raise error
        return self.real(*args, **options)


def test_a_folder_that_cannot_be_listed_once_is_removed(tmp_path, monkeypatch):
    (tmp_path / "a" / "b").mkdir(parents=True)
    monkeypatch.setattr("os.open", Once(os.open, PermissionError(errno.EACCES, "no")))
    remove_folder(tmp_path / "a")
    assert not (tmp_path / "a").exists()


def test_workers_that_are_lost_leave_no_folder(tmp_path, monkeypatch):
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(place))
    for name in ("a", "b"):
        (tmp_path / f"{name}.csv").write_text("text\n" + "whale song\n" * 50_000)

    class Lost(ThisThread):
        def map(self, function, pieces, *shared):
            yield function(next(iter(pieces)), *shared)
            assert len(list(place.iterdir())) == 1  # texts beyond the budget are there
            raise PartsError("no workers")

    with using(Lost()), grampus.config(memory="1MB"), pytest.raises(PartsError, match="no workers"):
        grampus.DocumentClusterer(2).fit(read_pieces(tmp_path / "*.csv"))
    assert list(place.iterdir()) == []


def test_a_scratch_folder_that_cannot_be_begun_is_not_left(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    for place in (None, tmp_path / "new" / "scratch"):
        for kind in ("write", "fsync", "replace"):
            with failing(kind, 1), pytest.raises(OSError, match="No space left"):
                Scratch(place, {})
            assert not [path for path in tmp_path.rglob("*") if path.name != "new"], (place, kind)


def test_a_source_that_cannot_be_read_on_is_named(tmp_path, monkeypatch):
    source = tmp_path / "news.csv"
    source.write_text("text\nwhale song\n")

    class Broken(io.BytesIO):
        def read(self, *_):
            raise OSError(errno.EIO, "Input/output error")

        read1 = readinto = readinto1 = readline = read

    monkeypatch.setattr("grampus.text.readers.streams.open_regular", lambda _: Broken())
    with pytest.raises((OSError, CorpusError), match="Input/output error") as failed:
        read_corpus(source)
    assert "news.csv" in str(failed.value)
