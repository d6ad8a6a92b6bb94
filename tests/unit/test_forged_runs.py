"""Saved runs whose hashes are right and whose content is not: each is refused with its field, or does no harm."""

import contextlib
import io
import re
import shutil
from operator import setitem
from pathlib import Path

import numpy as np
import pytest

from grampus import DocumentClusterer
from grampus.errors import GrampusError, RunError
from grampus.persist import Run, compare_runs
from grampus.report import report_html
from tests.forge import draw_change, write_forged
from tests.runs import small_run

NEWEST = Path(__file__).parents[1] / "golden" / "run-3"


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
    return lambda manifest, arrays: setitem(arrays, name, value)


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
    "schema": [put(("schema",), value) for value in (True, 1.0, "3", None, 0, -1, 3.0, [3])],
    "newer version": [put(("schema",), 4), put(("schema",), 10**20)],
    "not as it was written": [
        put(("format",), "other"),
        put(("run",), 3),
        gone("run"),
        lambda m, a: (a.clear(), m.update(arrays=[])),
    ],
    "no valid file for the array": [
        lambda m, a: m["arrays"].update({"model.x": {"file": "../model.x-0000000000000000.npy", "sha256": "0" * 64}}),
        lambda m, a: m["arrays"].update({WICKED: {"file": "x", "sha256": "0" * 64}}),
        lambda m, a: m["arrays"].update({"model.x": 3}),
    ],
    # provenance
    "provenance is missing": [gone("run", "provenance")],
    "provenance must be an object": [put(("run", "provenance"), [])],
    "provenance has an unknown field": [put(of("provenance", WICKED), 1)],
    "provenance.kernel must be a text": [put(of("provenance", "kernel"), 7)],
    "provenance.parameters must be an object": [put(of("provenance", "parameters"), "x")],
    r"provenance.parameters\['deep'\] must be at most": [
        put(of("provenance", "parameters", "deep"), [[[[[[[[[1]]]]]]]]])
    ],
    "provenance.seed": [put(of("provenance", "seed"), value) for value in ("7", 1.5, True, -1, 2**40, 10**30)],
    "provenance.command must be a text": [put(of("provenance", "command"), None)],
    "provenance.source must be a text": [put(of("provenance", "source"), ["a"])],
    "provenance.columns": [put(of("provenance", "columns"), 3), put(of("provenance", "columns", "label"), {"a": 1})],
    "provenance.fingerprint must be a text": [put(of("provenance", "fingerprint"), 0)],
    "provenance.created must be a text": [put(of("provenance", "created"), 2026)],
    "provenance.seconds": [put(of("provenance", "seconds"), value) for value in ("1", None, -1.0, 10**400)],
    "provenance.versions": [put(of("provenance", "versions"), "1"), put(of("provenance", "versions", "numpy"), 2)],
    # documents
    "documents.ids": [
        gone("arrays", "documents.ids.bytes"),
        both(gone("arrays", "documents.ids.bytes"), gone("arrays", "documents.ids.ends")),
    ],
    "documents.titles": [
        both(array("documents.titles.bytes", np.zeros(1, np.uint8)), array("documents.titles.ends", np.array([0, 1]))),
        array("documents.titles.ends", np.zeros(6)),
    ],
    # evidence: numbers and records
    "evidence.objective must be a number": [
        put(of("evidence", "objective"), "low"),
        put(of("evidence", "objective"), 10**400),
    ],
    "evidence.agreement": [put(of("evidence", "agreement"), value) for value in (1.5, -0.5, True)],
    "evidence.outcome must be a text": [put(of("evidence", "outcome"), None)],
    "evidence.warnings": [put(of("evidence", "warnings"), "careful"), put(of("evidence", "warnings"), [1])],
    r"evidence.clusters\[0\].number": [put((*FIRST, "number"), 1), put((*FIRST, "number"), 0.0)],
    r"evidence.clusters\[0\].size": [put((*FIRST, "size"), 4), put((*FIRST, "size"), -3)],
    r"evidence.clusters\[0\].name must be a text": [put((*FIRST, "name"), 3), put((*FIRST, "name"), ["a"])],
    r"evidence.clusters\[0\].terms": [
        put((*FIRST, "terms"), value) for value in ("bird", [["bird"]], [[1, 0.5]], [["a", "b"]], [3])
    ],
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
    r"evidence.tree\[1\].name must be a text": [put((*TREE, 1, "name"), 5)],
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
    "evidence.leaves": [array("evidence.leaves", np.array([2, 2, 3, 3, 7], np.int32))],
    "evidence.(leaves|tree)": [
        array("evidence.leaves", np.array([3, 3, 2, 2, 4], np.int32)),
        array("evidence.leaves", np.array([1, 1, 0, 0, 0], np.int32)),
        array("evidence.leaves", np.full(5, -1, np.int32)),
    ],
    "evidence.second": [array("evidence.second", np.full(5, 2, np.int32))],
    "evidence.margin": [array("evidence.margin", np.full(5, value, np.float32)) for value in (2.0, np.inf)],
    "evidence.duplicates": [
        array("evidence.duplicates", np.array([[0, 5]], np.int32)),
        array("evidence.duplicates", np.array(3, np.int32)),
    ],
    "layout.sample": [
        array("layout.sample", np.array([0, 1, 2, 3, 9], np.int32)),
        array("layout.sample", np.array(3, np.int32)),
    ],
    "layout.heatmap": [array("layout.heatmap", np.eye(4, dtype=np.float32))],
    "layout.coordinates must be": [
        array("layout.coordinates", np.zeros((5, 3), np.float32)),
        array("layout.coordinates", np.zeros((5, 2), ">f4")),
    ],
    "unknown field": [array("evidence.more", np.zeros(3)), array("more", np.zeros(3))],
    "an array and another value": [array("provenance.kernel", np.zeros(3)), put(("run", "model"), 3)],
    "is not an array of numbers": [
        array("evidence.labels", content)
        for content in (
            header((10**23,)),
            header((10**12,)),
            header((-5,)),
            header((5,), "|O"),
            header((2,), "|V8"),
            zipped(),
            b"",
            b"x" * 99,
            header((5,), "<U4", b"\0" * 80),
            header((5,), "<M8[s]", b"\0" * 40),
            header((2**62, 4)),
            header((0, 10**30)),
        )
    ],
    "model.labels": [array("model.labels", np.array(value, np.int32)) for value in ([0, 2], [-1], 3, [])],
    "model.group": [array("model.group", np.array(value)) for value in ([0], [-1] * 5, [9] * 5, [0.5] * 5)],
    "unknown field 'original'": [put(("run", "original"), value) for value in (None, {}, 3)],
    # edits and history
    "the edits do not fit the run": [
        put(("run", "edits"), [edit])
        for edit in (
            {"action": "merge", "clusters": [0, 9]},
            {"action": "other", "clusters": [0]},
            {"action": "rename", "clusters": [0], "name": ""},
            {"action": "rename", "clusters": [0], "name": "x", "level": "fine"},
            {"action": "noise", "documents": ["nobody"]},
            {"action": "exclude", "documents": ["a", "b", "c", "d", "é"]},
            {"action": "split", "clusters": [1], "parts": 9},
            {"action": "graft", "clusters": [0], "grafts": []},
        )
    ],
    r"edits\[0\]": [
        put(("run", "edits"), [edit]) for edit in (3, {}, {"action": 3}, {"action": "merge", "clusters": "0"})
    ],
    r"history\[0\]": [
        put(("run", "history"), [{"created": "", "documents": "5", "added": 0, "deleted": 0, "moved": 0}])
    ],
    "model.weights": [array("model.weights", np.array(value)) for value in ([-1.0], [np.nan], [1], [[1.0]])],
    "model.words.global_weights must be": [
        array("model.words.global_weights", np.zeros(shape)) for shape in ((3,), (), (0, 2))
    ],
    r"model.rows must be an array": [put(("run", "model"), {"rows": [1, 2]})],
}


@pytest.mark.parametrize(
    ("field", "change"),
    [
        pytest.param(field, change, id=f"{field}-{i}")
        for field, some in FORGERIES.items()
        for i, change in enumerate(some)
    ],
)
def test_a_forged_run_is_refused_with_its_field(tmp_path, field, change):
    place = write_forged(NEWEST, tmp_path / "run", change)
    with pytest.raises(RunError, match="not as it was written" if field == "schema" else field) as caught:
        Run.load(place)
    assert str(place) in str(caught.value)
    assert "\x1b" not in str(caught.value)


def test_there_are_many_forgeries_and_an_honest_one_loads(tmp_path):
    assert sum(map(len, FORGERIES.values())) >= 60
    honest = Run.load(write_forged(NEWEST, tmp_path / "run", lambda manifest, arrays: None))
    assert report_html(honest) == report_html(Run.load(NEWEST))


def test_a_manifest_that_is_deep_or_not_finite_is_refused(tmp_path):
    place = tmp_path / "run"
    shutil.copytree(NEWEST, place)
    whole = (place / "manifest.json").read_bytes()
    for old, new in ((b"2.5", b"NaN"), (b"2.5", b"1e999"), (b'"lfc"', b"[" * 900 + b"]" * 900), (b"2.5", b"9" * 5000)):
        (place / "manifest.json").write_bytes(whole.replace(old, new))
        with pytest.raises(RunError, match="not as it was written"):
            Run.load(place)


FIELD = r"provenance|documents|evidence|layout|model|edits|history|manifest|array|field"


@pytest.mark.parametrize("first", range(0, 200, 50))
def test_drawn_forgeries_are_refused_with_a_field_or_harmless(tmp_path, first):
    """A few of those that ``python -m lab promises --only forged`` draws: what is not refused can be shown and used."""
    refused = 0
    for seed in range(first, first + 50):
        kind, change = draw_change(seed)
        place = write_forged(NEWEST, tmp_path / "run", change)
        try:
            run = Run.load(place)
        except RunError as error:
            assert re.search(FIELD, str(error))  # noqa: PT017
            assert str(place) in str(error)  # noqa: PT017
            refused += 1
            continue
        assert report_html(run), kind
        compare_runs(run, small_run())
        with contextlib.suppress(GrampusError):
            DocumentClusterer.of_run(run)
    assert refused > 20
