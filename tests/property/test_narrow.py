"""Runs on dense, narrow features are those of the lockstep engine: labels, moves, outcomes and predictions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import grampus
from grampus import choose_k
from grampus.cluster import kernel_kmeans
from grampus.cluster.kmeans import Batch, fast, narrow
from grampus.cluster.kmeans.batch import nearest_of
from grampus.cluster.kmeans.lockstep import Problem, lockstep
from grampus.cluster.kmeans.narrow import Narrow
from grampus.cluster.kmeans.state import JOINS, TIE, HeldSums, Rule
from grampus.errors import InputError
from grampus.gram import DenseGram, LinearGram, normalise
from grampus.select import Splits

pytest.importorskip("numba")


@pytest.fixture(autouse=True)
def compiled(monkeypatch):
    for module in (fast, narrow):
        monkeypatch.setattr(module, "WORTH_IT", 0.0)


KINDS = {
    "clouds": lambda rng, n, m: rng.normal(size=(n, m)) + 3.0 * rng.normal(size=(5, m))[rng.integers(0, 5, n)],
    "grid": lambda rng, n, m: rng.integers(0, 3, size=(n, m)).astype(float),  # copies and exact ties
    "few": lambda rng, n, m: rng.normal(size=(4, m))[rng.integers(0, 4, n)],  # fewer distinct documents than clusters
    "nearly ties": lambda rng, n, m: rng.integers(-2, 3, (n, m)) + 1e-8 * rng.normal(size=(n, m)),  # not in single
    "tiny": lambda rng, n, m: 1e-30 * rng.normal(size=(n, m)),  # products are nothing in single precision
    "huge": lambda rng, n, m: 1e30 * rng.normal(size=(n, m)),  # products are infinite there
    "far": lambda rng, n, m: rng.normal(size=(n, m)) + 1e4,  # squared lengths hide the distances
    "texts": lambda rng, n, m: np.abs(rng.normal(size=(n, m))) * (rng.random((n, m)) < 0.3),
}


def same(ours, theirs, inside, total):
    """Everything equal; objectives but for the rounding of sums of similarities, `total` in all."""
    assert ours.labels.tolist() == theirs.labels.tolist()
    assert ours.predicted[~inside].tolist() == theirs.predicted[~inside].tolist()
    assert ours.outcome == theirs.outcome
    assert ours.history.moves.tolist() == theirs.history.moves.tolist()
    np.testing.assert_allclose(ours.history.objective, theirs.history.objective, rtol=0, atol=1e-12 * total)
    assert ours.objective == pytest.approx(theirs.objective, rel=0, abs=1e-12 * total)


@settings(max_examples=60)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(sorted(KINDS)),
    st.sampled_from([3, 40, 300, 700]),
    st.integers(1, 12),
    st.sampled_from([1, 2, 9, 30]),
    st.sampled_from(["plain", "shifted", "adjusted", "adjusted and shifted", "spherical"]),
    st.booleans(),
    st.sampled_from([1.0, 0.5, 0.01]),
    st.sampled_from([1, 3, 100]),
)
def test_runs_equal_the_lockstep_engine(seed, kind, n, k, m, way, weighted, centroid, max_iter):
    rng = np.random.default_rng(seed)
    x = KINDS[kind](rng, n, m)
    if way == "spherical" and (kind == "nearly ties" or m == 1):
        # Directions of what is nearly nothing are all rounding: of sums that cancel, and of rows of length 1e-9.
        x = np.abs(x) + (kind == "nearly ties")
    gram, k = LinearGram(x), min(k, n)
    diagonal = gram.diagonal()
    weights = rng.choice([0.5, 1.0, 3.0], n) if weighted and way != "spherical" else np.ones(n)
    sigma = -float(diagonal.mean()) if "shifted" in way else 0.0
    rule = Rule("adjusted" in way, TIE, sigma, way == "spherical", centroid)
    problem = Problem(k, weights, diagonal, rule, max_iter)
    starts = rng.integers(0, k, (3, n)).astype(np.int32)
    starts[1, rng.random(n) < 0.5] = -1  # a half, which predicts the rest
    starts[1, 0] = 0
    sums = HeldSums(gram, diagonal, weights, k, gram.dense())
    theirs = sorted(lockstep(problem, sums, starts.copy()), key=lambda run: run.index)
    for ours, other in zip(Narrow(gram.features(), diagonal, weights, 2).run(problem, starts), theirs, strict=True):
        same(ours, other, starts[other.index] >= 0, float(weights @ diagonal))


def test_a_half_with_fewer_distinct_documents_than_clusters_is_run_alike():
    gram = LinearGram(np.random.default_rng(0).integers(0, 3, size=(300, 1)).astype(float))
    rule = Rule(True, TIE, -float(gram.diagonal().mean()))
    problem = Problem(4, np.ones(300), gram.diagonal(), rule, 100)
    start = (np.arange(300, dtype=np.int32) % 3 + 1)[None]
    start[0, ::2] = -1  # documents outside the half are in no cluster, and the first cluster is empty
    (theirs,) = lockstep(problem, HeldSums(gram, gram.diagonal(), np.ones(300), 4, gram.dense()), start.copy())
    (ours,) = Narrow(gram.features(), gram.diagonal(), np.ones(300)).run(problem, start)
    same(ours, theirs, start[0] >= 0, float(gram.trace()))


def test_clusters_that_become_empty_are_filled_alike():
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(size=(400, 2)), [[30.0, 30.0], [30.1, 30.0], [-40.0, 5.0]]])
    gram = LinearGram(x)
    problem = Problem(9, np.ones(403), gram.diagonal(), Rule(False, TIE, 0.0), 100)
    starts = np.zeros((4, 403), dtype=np.int32)  # all but one or two clusters are empty at first
    starts[1, :200], starts[2, ::3], starts[3, 400:] = 5, 8, 3
    sums = HeldSums(gram, gram.diagonal(), np.ones(403), 9, gram.dense())
    theirs = sorted(lockstep(problem, sums, starts.copy()), key=lambda run: run.index)
    ours = list(Narrow(gram.features(), gram.diagonal(), np.ones(403)).run(problem, starts))
    for one, other in zip(ours, theirs, strict=True):
        same(one, other, starts[0] >= 0, float(gram.trace()))
        assert len(np.unique(one.labels)) == 9


def test_threads_batches_and_scaling_change_nothing():
    x = KINDS["clouds"](np.random.default_rng(2), 500, 6)
    gram = normalise(LinearGram(x))
    assert Batch(gram, Rule(), [4], 12).independent
    found = []
    for threads in (1, 2, 5):
        for memory in (None, "1MB"):  # a small budget runs few starts at a time
            with grampus.config(threads=threads, memory=memory):
                found.append(kernel_kmeans(gram, 4, n_init=12, random_state=0).runs)
    for runs in found[1:]:
        np.testing.assert_array_equal(runs.labels, found[0].labels)
        np.testing.assert_array_equal(runs.objective, found[0].objective)  # to the last bit: no start sees another
    units = LinearGram(x / np.linalg.norm(x, axis=1, keepdims=True)).named(gram.documents())
    np.testing.assert_array_equal(kernel_kmeans(units, 4, n_init=12, random_state=0).runs.labels, found[0].labels)


def test_features_may_be_float32_read_only_and_in_any_order():
    x = KINDS["clouds"](np.random.default_rng(3), 300, 5).astype(np.float32)
    expected = kernel_kmeans(LinearGram(x.astype(np.float64)), 3, random_state=0)
    for features in (x, np.asfortranarray(x), np.repeat(x, 2, axis=0)[::2]):
        features.flags.writeable = False
        assert kernel_kmeans(LinearGram(features), 3, random_state=0).labels.tolist() == expected.labels.tolist()


def test_the_way_is_chosen_by_a_rule(monkeypatch):
    x = np.random.default_rng(4).normal(size=(400, 5))
    ways = {
        "narrow": (LinearGram(x), True),
        "wide": (LinearGram(np.random.default_rng(4).normal(size=(30, 400))), False),
        "stored": (DenseGram(x @ x.T), False),
    }
    for gram, independent in ways.values():
        assert Batch(gram, Rule(), [4], 100).independent == independent
    many = np.repeat(x, 20, axis=0)
    with grampus.config(memory="1MB"):  # no room for a copy in each thread
        assert not Batch(LinearGram(many), Rule(), [4], 5).independent
    monkeypatch.setattr(fast, "available", lambda: False)
    assert not Batch(LinearGram(x), Rule(), [4], 5).independent


def test_sums_that_overflow_are_refused():
    x = np.full((40, 3), 1e150) * np.random.default_rng(5).choice([-1.0, 1.0], (40, 1))
    with pytest.raises(InputError, match="finite"), np.errstate(over="ignore"):
        kernel_kmeans(LinearGram(x * 1e3), 2, random_state=0)


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1), st.sampled_from(sorted(set(KINDS) - {"far"})), st.integers(1, 9))
def test_documents_join_the_nearest(seed, kind, k):
    rng = np.random.default_rng(seed)
    gram = LinearGram(KINDS[kind](rng, 320, 4))
    members = np.sort(rng.permutation(320)[:290])
    centres = rng.choice(members, k, replace=False)
    start = np.full((1, 320), -1, dtype=np.int32)
    start[0, members] = JOINS
    start[0, centres] = np.arange(k)
    problem = Problem(k, np.ones(320), gram.diagonal(), Rule(False, TIE, 0.0, False), 0)
    (found,) = Narrow(gram.features(), gram.diagonal(), np.ones(320)).run(problem, start)
    wanted = nearest_of(gram, np.arange(320), centres)
    wanted[centres] = np.arange(k)
    assert found.labels[members].tolist() == wanted[members].tolist()
    assert (np.delete(found.labels, members) == -1).all()


@pytest.mark.parametrize("init", ["auto", "documents"])
@pytest.mark.parametrize(("scheme", "kernel"), [("KKM-S", "linear"), ("KKM-S", "linear|shift(0)"), ("KM-P", "cosine")])
def test_choose_k_is_the_same_without_compiled_loops(scheme, kernel, init, monkeypatch):
    rng = np.random.default_rng(6)
    x = np.round(KINDS["clouds"](rng, 240, 5), 1)
    options = {"kernel": kernel, "ks": range(2, 8), "scheme": scheme, "null": False}
    options["splits"] = Splits(6, init=init)
    changes = ({}, {"n_jobs": 1}, {"n_jobs": 2})
    found = [choose_k(x, **options, **change, random_state=1) for change in changes]
    monkeypatch.setattr(fast, "available", lambda: False)
    plain = choose_k(x, **options, random_state=1)
    for selection in found:
        np.testing.assert_array_equal(selection.scores, plain.scores)


@pytest.mark.parametrize(("noise", "some"), [(0.3, False), (1e-8, True)])
def test_single_precision_decides_only_what_it_can_tell(noise, some):
    _narrow = pytest.importorskip("grampus.cluster.kmeans._narrow")
    rng = np.random.default_rng(7)
    x = np.repeat(rng.integers(-3, 4, (60, 5)).astype(float), 10, axis=0) + noise * rng.normal(size=(600, 5))
    norms = np.einsum("ij,ij->i", x, x)
    none = np.empty(0, dtype=np.float32)
    documents = (x, np.arange(600), norms, norms, np.ones(600), np.sqrt(norms), none)
    labels = rng.integers(0, 4, 600).astype(np.int32)
    labels[:300] = labels[300:]  # two clusters of nearly the same sums give nearly ties
    for rule in ((False, 1e-12, 0.0, False, 1.0), (False, 1e-12, -0.7, False, 0.5)):
        centres = x[[0, 1, 200, 300]] if some else x[[0, 100, 200, 300]]
        ones = np.ones(4)
        clusters = _narrow.figures((centres, ones, ones, np.ones(4, dtype=np.int64)), rule)
        rough = _narrow.taken(documents, np.arange(600), rule)
        assert len(rough[6])
        found, doubtful = _narrow.screened(rough, labels, clusters, rule)
        assert (found == _narrow.place(documents, _narrow.packed(documents), labels, clusters, rule)).all()
        assert (doubtful > 0) == some
