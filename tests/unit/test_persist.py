"""The run folder: whole or absent, and refused when a byte is not as it was written."""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import hashlib
import io
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

from grampus import DocumentClusterer
from grampus.errors import GrampusError, RunError
from grampus.persist import Run, compare_runs, folder
from grampus.report import report_html
from grampus.text import Texts
from tests.runs import PARTS, small_run

GOLDEN = Path(__file__).parents[1] / "golden"
NEWEST = GOLDEN / "run-2"


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


@pytest.mark.parametrize("version", [1, 2])
def test_runs_of_every_version_are_read_and_shown(version):
    """A change of the format needs a new schema, a step in persist/upgrade.py and one more golden run."""
    run = Run.load(GOLDEN / f"run-{version}")
    assert same(run, small_run())
    assert report_html(run) == report_html(Run.load(NEWEST))


def test_the_newest_golden_run_is_still_written(tmp_path):
    small_run().save(tmp_path / "run")
    written = {file.name: file.read_bytes() for file in (tmp_path / "run").iterdir()}
    assert written == {file.name: file.read_bytes() for file in NEWEST.iterdir()}


@pytest.mark.parametrize("name", sorted(file.name for file in NEWEST.iterdir()))
def test_a_changed_byte_is_refused_wherever_it_is(tmp_path, name):
    place = tmp_path / "run"
    shutil.copytree(NEWEST, place)
    whole = (place / name).read_bytes()
    positions = np.random.default_rng(0).integers(len(whole), size=100).tolist()  # all of them in the lab
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


def forged(place, change):
    """Write a run whose hashes are right, after `change` has had its way with the manifest and the arrays."""
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(NEWEST, place)
    manifest = json.loads((place / "manifest.json").read_bytes())
    manifest.pop("sha256")
    arrays = {name: np.load(place / entry["file"]) for name, entry in manifest["arrays"].items()}
    change(manifest, arrays)
    for name, content in arrays.items():
        data = content
        if not isinstance(content, bytes):
            stream = io.BytesIO()
            np.save(stream, content)
            data = stream.getvalue()
        digest = hashlib.sha256(data).hexdigest()
        manifest["arrays"][name] = {"file": f"{name}-{digest[:16]}.npy", "sha256": digest}
        (place / manifest["arrays"][name]["file"]).write_bytes(data)
    (place / "manifest.json").write_bytes(folder._encode(manifest))
    return place


def put(path, value):
    """Return a change of one value of the manifest, named by its path."""

    def change(manifest, arrays):
        at = manifest
        *above, last = path
        for key in above:
            at = at[key]
        at[last] = value

    return change


def array(name, value):
    return lambda manifest, arrays: arrays.update({name: value})


def header(shape, descr="<i4", data=b""):
    """Return an .npy file with a header of one's own."""
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"descr": descr, "fortran_order": False, "shape": shape})
    return stream.getvalue() + data


def zipped():
    stream = io.BytesIO()
    np.savez(stream, labels=np.zeros(5, np.int32))
    return stream.getvalue()


def both(*changes):
    def change(manifest, arrays):
        for one in changes:
            one(manifest, arrays)

    return change


def gone(*path):
    def change(manifest, arrays):
        at = manifest
        for key in path[:-1]:
            at = at[key]
        del at[path[-1]]
        if path[0] == "arrays":
            del arrays[path[-1]]

    return change


def of(part, *path):
    return ("run", part, *path)


WICKED = "\x1b]0;PWN\x07"
TREE, FIRST = of("evidence", "tree"), of("evidence", "clusters", 0)
FORGERIES = {
    # the manifest itself
    "schema": [put(("schema",), value) for value in (True, 1.0, "2", None, 0, -1, 2.0, [2])],
    "newer version": [put(("schema",), 3), put(("schema",), 10**20)],
    "not as it was written": [put(("format",), "other"), put(("run",), 3), gone("run"), lambda m, a: (a.clear(), m.update(arrays=[]))],
    "no valid file for the array": [
        lambda m, a: (a.clear(), m.update(arrays={"labels": {"file": "../labels-0000000000000000.npy", "sha256": "0" * 64}})),
        lambda m, a: m["arrays"].update({WICKED: {"file": "x", "sha256": "0" * 64}}),
        lambda m, a: m["arrays"].update({"model.x": 3}),
    ],
    # provenance
    "provenance is missing": [gone("run", "provenance")],
    "provenance must be an object": [put(("run", "provenance"), [])],
    "provenance has an unknown field": [put(of("provenance", WICKED), 1)],
    "provenance.kernel must be a text": [put(of("provenance", "kernel"), 7)],
    "provenance.parameters must be an object": [put(of("provenance", "parameters"), "x")],
    r"provenance.parameters\['deep'\] must be at most": [put(of("provenance", "parameters", "deep"), [[[[[[[[[1]]]]]]]]])],
    "provenance.seed": [put(of("provenance", "seed"), value) for value in ("7", 1.5, True, -1, 2**40, 10**30)],
    "provenance.command must be a text": [put(of("provenance", "command"), None)],
    "provenance.source must be a text": [put(of("provenance", "source"), ["a"])],
    "provenance.columns": [put(of("provenance", "columns"), 3), put(of("provenance", "columns", "label"), {"a": 1})],
    "provenance.fingerprint must be a text": [put(of("provenance", "fingerprint"), 0)],
    "provenance.created must be a text": [put(of("provenance", "created"), 2026)],
    "provenance.seconds": [put(of("provenance", "seconds"), value) for value in ("1", None, -1.0, 10**400)],
    "provenance.versions": [put(of("provenance", "versions"), "1"), put(of("provenance", "versions", "numpy"), 2)],
    # documents
    "documents.ids": [gone("arrays", "documents.ids.bytes"), lambda m, a: [gone("arrays", f"documents.ids.{e}")(m, a) for e in ("bytes", "ends")]],
    "documents.titles": [
        both(array("documents.titles.bytes", np.zeros(1, np.uint8)), array("documents.titles.ends", np.array([0, 1]))),
        array("documents.titles.ends", np.zeros(6)),
    ],
    # evidence: numbers and records
    "evidence.objective must be a number": [put(of("evidence", "objective"), "low"), put(of("evidence", "objective"), 10**400)],
    "evidence.agreement": [put(of("evidence", "agreement"), value) for value in (1.5, -0.5, True)],
    "evidence.outcome must be a text": [put(of("evidence", "outcome"), None)],
    "evidence.warnings": [put(of("evidence", "warnings"), "careful"), put(of("evidence", "warnings"), [1])],
    r"evidence.clusters\[0\].number": [put((*FIRST, "number"), 1), put((*FIRST, "number"), 0.0)],
    r"evidence.clusters\[0\].size": [put((*FIRST, "size"), 4), put((*FIRST, "size"), -3)],
    r"evidence.clusters\[0\].label must be a text": [put((*FIRST, "label"), 3), put((*FIRST, "label"), ["a"])],
    r"evidence.clusters\[0\].terms": [put((*FIRST, "terms"), value) for value in ("bird", [["bird"]], [[1, 0.5]], [["a", "b"]], [3])],
    r"evidence.clusters\[0\].central": [put((*FIRST, "central"), value) for value in ([5], [-1], [0.0], "0", None)],
    r"evidence.clusters\[0\].nearest": [put((*FIRST, "nearest"), value) for value in (2, -2, None)],
    r"evidence.clusters\[0\].stability": [put((*FIRST, "stability"), value) for value in (7.0, "high")],
    r"evidence.clusters\[0\] has an unknown field": [put((*FIRST, "odd"), [])],
    r"evidence.clusters\[0\].cohesion is missing": [gone(*FIRST, "cohesion")],
    "evidence.choice.best": [put(of("evidence", "choice", "best"), value) for value in (0, "2", None)],
    "evidence.choice.ks": [put(of("evidence", "choice", "ks"), value) for value in ([3, 2], [0, 1], "23", [2, 2])],
    "evidence.choice.mean": [put(of("evidence", "choice", "mean"), value) for value in ([0.5], ["a", "b"], 0.5)],
    "evidence.choice.standard_error": [put(of("evidence", "choice", "standard_error"), [-0.5, None])],
    "evidence.choice.ranking": [put(of("evidence", "choice", "ranking"), value) for value in ([7], [2, 2])],
    "evidence.choice.plausible": [put(of("evidence", "choice", "plausible"), [9])],
    "evidence.choice.p_value": [put(of("evidence", "choice", "p_value"), value) for value in (2, -1, "low")],
    "evidence.choice must be an object": [put(of("evidence", "choice"), "best")],
    # evidence: the tree
    "evidence.(tree|leaves) must be": [put(TREE, []), put(TREE, None)],
    r"evidence.tree\[0\].parent": [
        put((*TREE, 0, "children"), [0]),
        both(put((*TREE, 0, "children"), [0]), put((*TREE, 0, "parent"), 0)),
        put((*TREE, 0, "parent"), 9),
        both(put((*TREE, 1, "children"), [0]), put((*TREE, 0, "parent"), 1)),
    ],
    r"evidence.tree\[1\].parent": [
        put((*TREE, 1, "parent"), -1),
        put((*TREE, 1, "parent"), "root"),
        both(put((*TREE, 0, "children"), [2]), put((*TREE, 3, "children"), [1]), put((*TREE, 1, "parent"), 3)),
    ],
    r"evidence.tree\[3\].parent": [put((*TREE, 2, "children"), [3])],
    r"evidence.tree\[0\].children": [put((*TREE, 0, "children"), value) for value in ([1, 9], [1, -2], [1.0], "12")],
    "every branch but the root as a child once": [put((*TREE, 1, "children"), [3, 3, 4])],
    r"evidence.tree\[1\].index": [put((*TREE, 1, "index"), 2)],
    r"evidence.tree\[2\].size": [put((*TREE, 2, "size"), 3)],
    r"evidence.tree\[2\].cluster": [put((*TREE, 2, "cluster"), -1), put((*TREE, 2, "cluster"), 2)],
    r"evidence.tree\[3\].cluster": [put((*TREE, 3, "cluster"), 1)],
    "every cluster once": [put((*TREE, 2, "cluster"), 0)],
    r"evidence.tree\[1\].label must be a text": [put((*TREE, 1, "label"), 5)],
    r"evidence.tree\[1\].order": [put((*TREE, 1, "order"), 10**15)],
    r"evidence.tree\[1\].height must be a number": [put((*TREE, 1, "height"), "tall")],
    # arrays
    "evidence.labels": [
        array("evidence.labels", np.array([0, 0, 0, 0, 2], np.int32)),
        array("evidence.labels", np.array([-2, 1, 0, 0, 0], np.int32)),
        array("evidence.labels", np.zeros(5)),
        array("evidence.labels", np.zeros((5, 1), np.int32)),
        gone("arrays", "evidence.labels"),
        put(of("evidence", "labels"), [1, 1, 0, 0, 0]),
    ],
    "evidence.leaves": [
        array("evidence.leaves", np.array([2, 2, 3, 3, 7], np.int32)),
    ],
    "evidence.(leaves|tree)": [
        array("evidence.leaves", np.array([3, 3, 2, 2, 4], np.int32)),
        array("evidence.leaves", np.array([1, 1, 0, 0, 0], np.int32)),
        array("evidence.leaves", np.full(5, -1, np.int32)),
    ],
    "evidence.second": [array("evidence.second", np.full(5, 2, np.int32))],
    "evidence.margin": [array("evidence.margin", np.full(5, value, np.float32)) for value in (2.0, np.inf)],
    "evidence.duplicates": [array("evidence.duplicates", np.array([[0, 5]], np.int32)), array("evidence.duplicates", np.array(3, np.int32))],
    "layout.sample": [array("layout.sample", np.array([0, 1, 2, 3, 9], np.int32)), array("layout.sample", np.array(3, np.int32))],
    "layout.heatmap": [array("layout.heatmap", np.eye(4, dtype=np.float32))],
    "layout.coordinates must be": [array("layout.coordinates", np.zeros((5, 3), np.float32)), array("layout.coordinates", np.zeros((5, 2), ">f4"))],
    "unknown field": [array("evidence.more", np.zeros(3)), array("more", np.zeros(3))],
    "an array and another value": [array("provenance.kernel", np.zeros(3)), put(("run", "model"), 3)],
    "is not an array of numbers": [
        array("evidence.labels", content)
        for content in (
            header((10**23,)), header((10**12,)), header((-5,)), header((5,), "|O"), header((2,), "|V8"), zipped(), b"", b"x" * 99,
            header((5,), "<U4", b"\0" * 80), header((5,), "<M8[s]", b"\0" * 40), header((2**62, 4)), header((0, 10**30)),
        )
    ],
    "model.labels": [array("model.labels", np.array(value, np.int32)) for value in ([0, 2], [-1], 3, [])],
    "model.weights": [array("model.weights", np.array(value)) for value in ([-1.0], [np.nan], [1], [[1.0]])],
    r"model.rows must be an array": [put(("run", "model"), {"rows": [1, 2]})],
}  # fmt: skip


@pytest.mark.parametrize(
    ("field", "change"),
    [
        pytest.param(field, change, id=f"{field}-{i}")
        for field, some in FORGERIES.items()
        for i, change in enumerate(some)
    ],
)
def test_a_forged_run_is_refused_with_its_field(tmp_path, field, change):
    place = forged(tmp_path / "run", change)
    with pytest.raises(RunError, match="not as it was written" if field == "schema" else field) as caught:
        Run.load(place)
    assert str(place) in str(caught.value)
    assert "\x1b" not in str(caught.value)


def test_there_are_many_forgeries_and_an_honest_one_loads(tmp_path):
    assert sum(map(len, FORGERIES.values())) >= 60
    assert same(Run.load(forged(tmp_path / "run", lambda manifest, arrays: None)), small_run())


def test_a_manifest_that_is_deep_or_not_finite_is_refused(tmp_path):
    place = tmp_path / "run"
    shutil.copytree(NEWEST, place)
    whole = (place / "manifest.json").read_bytes()
    for old, new in ((b"2.5", b"NaN"), (b"2.5", b"1e999"), (b'"lfc"', b"[" * 900 + b"]" * 900), (b"2.5", b"9" * 5000)):
        (place / "manifest.json").write_bytes(whole.replace(old, new))
        with pytest.raises(RunError, match="not as it was written"):
            Run.load(place)


STRANGE = (
    None,
    True,
    -1,
    0,
    1,
    2,
    7,
    10**9,
    0.5,
    -0.5,
    1e300,
    "",
    "x",
    WICKED,
    [],
    {},
    [0],
    [-1],
    [[]],
    ["a", 1],
    {"a": 1},
)


def places(value, path=()):
    """Yield the path of every value of a manifest."""
    yield path
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inside:
        yield from places(item, (*path, key))


@pytest.mark.parametrize("seed", range(4))
def test_random_forgeries_are_refused_or_harmless(tmp_path, seed):
    """Whatever one or two fields hold, a run is refused with the folder's name, or can be shown, compared and used."""
    rng = np.random.default_rng(seed)
    manifest = json.loads((NEWEST / "manifest.json").read_bytes())
    paths = [("run", *path) for path in places(manifest["run"]) if path]
    names = sorted(manifest["arrays"])
    refused = 0
    for _ in range(60):
        changes = []
        for _ in range(int(rng.integers(1, 3))):
            if rng.random() < 0.75:
                changes.append(put(paths[rng.integers(len(paths))], STRANGE[rng.integers(len(STRANGE))]))
            else:
                kind = rng.choice(["int32", "float32", "float64", "int64", "uint8", "bool"])
                shape = ((5,), (5, 2), (), (1, 2), (0,), (6,), (5, 5))[rng.integers(7)]
                changes.append(array(names[rng.integers(len(names))], rng.integers(-2, 7, shape).astype(kind)))
        try:
            place = forged(tmp_path / "run", both(*changes))
        except (KeyError, TypeError, IndexError):  # the second change has no place after the first
            continue
        try:
            run = Run.load(place)
        except RunError as error:
            assert str(place) in str(error)  # noqa: PT017
            refused += 1
            continue
        report_html(run)
        compare_runs(run, small_run())
        with contextlib.suppress(GrampusError):
            DocumentClusterer.of_run(run)
    assert refused > 20


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
from tests.runs import PARTS, changed, small_run

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
