"""Backends behind `Batch` give the same runs: stored, by features, sparse or dense, and by products."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import grampus
from grampus import choose_k
from grampus.cluster import kernel_kmeans
from grampus.cluster.kmeans import Batch
from grampus.cluster.kmeans.loops import Products, featured, stored
from grampus.cluster.kmeans.state import JOINS, TIE, Rule
from grampus.errors import InputError
from grampus.gram import DenseGram, LinearGram, normalise
from grampus.select import Splits
from tests.property.test_native import KINDS
from tests.reference import textbook_kmeans


def backends(x, weights):
    gram, thin = LinearGram(x), LinearGram(sp.csr_array(x))
    diagonal = gram.diagonal()
    return {
        "stored": stored(gram.dense(), diagonal, weights),
        "dense": featured(gram.features(), diagonal, weights),
        "sparse": featured(thin.features(), diagonal, weights),
        "products": Products(gram, diagonal, weights),
    }


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(["clouds", "grid", "few", "texts"]),
    st.integers(1, 9),
    st.booleans(),
    st.sampled_from([0.0, -1.5]),
    st.sampled_from([1, 3]),
)
def test_backends_equal_the_textbook(seed, kind, k, adjusted, shift, threads):
    rng = np.random.default_rng(seed)
    n = 120
    x, weights = KINDS[kind](rng, n, 6), rng.choice([0.5, 1.0, 3.0], n)
    starts = rng.integers(0, k, (2, n)).astype(np.int32)
    starts[1] = JOINS  # joins a few documents; some are only predicted
    starts[1, rng.choice(n, k, replace=False)] = np.arange(k)
    starts[1, (rng.random(n) < 0.3) & (starts[1] == JOINS)] = -1
    rule = Rule(adjusted, TIE, shift)
    for backend in backends(x, weights).values():
        found = sorted(backend.run(starts, k, rule, 50, threads), key=lambda run: run.index)
        for run, start in zip(found, starts, strict=True):
            wanted = textbook_kmeans.run(x @ x.T, start, k, (adjusted, shift, False, 1.0), weights, 50)
            assert run.labels.tolist() == wanted[0].tolist()
            assert run.predicted.tolist() == wanted[1].tolist()
            assert (run.outcome.upper(), run.history.moves.tolist()) == (wanted[2], wanted[3])
            np.testing.assert_allclose(run.history.objective, wanted[4][:-1], atol=1e-9 * (1 + np.abs(wanted[4]).max()))


def test_empty_clusters_are_filled_by_every_backend():
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(size=(400, 2)), [[30.0, 30.0], [30.1, 30.0], [-40.0, 5.0]]])
    starts = np.zeros((4, 403), dtype=np.int32)  # all but one or two clusters are empty at first
    starts[1, :200], starts[2, ::3], starts[3, 400:] = 5, 8, 3
    for backend in backends(x, np.ones(403)).values():
        for run in backend.run(starts, 9, Rule(), 100, 1):
            assert len(np.unique(run.labels)) == 9


def test_threads_batches_and_scaling_change_nothing():
    x = KINDS["clouds"](np.random.default_rng(2), 500, 6)
    gram = normalise(LinearGram(x))
    assert Batch(gram, Rule(), [4], 12).independent
    found = []
    for threads in (1, 2, 5, 20):  # with 20, threads share each start
        for memory in (None, "1MB"):  # a small budget runs few starts at a time, without bounds
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


def test_the_backend_is_chosen_by_counting():
    x = np.random.default_rng(4).normal(size=(400, 5))
    ways = {
        "narrow": (LinearGram(x), True),
        "wide": (LinearGram(np.random.default_rng(4).normal(size=(30, 400))), False),
        "stored": (DenseGram(x @ x.T), False),
    }
    for gram, independent in ways.values():
        assert Batch(gram, Rule(), [4], 100).independent == independent


def test_sums_that_overflow_are_refused():
    x = np.full((40, 3), 1e150) * np.random.default_rng(5).choice([-1.0, 1.0], (40, 1))
    with pytest.raises(InputError, match="finite"), np.errstate(over="ignore"):
        kernel_kmeans(LinearGram(x * 1e3), 2, random_state=0)


@pytest.mark.parametrize("init", ["auto", "documents"])
@pytest.mark.parametrize(("scheme", "kernel"), [("KKM-S", "linear"), ("KKM-S", "linear|shift(0)"), ("KM-P", "cosine")])
def test_choose_k_does_not_depend_on_threads_or_the_form_of_the_features(scheme, kernel, init):
    x = np.round(KINDS["clouds"](np.random.default_rng(6), 240, 5), 1)
    options = {"kernel": kernel, "ks": range(2, 8), "scheme": scheme, "null": False, "splits": Splits(6, init=init)}
    found = [choose_k(x, **options, n_jobs=jobs, random_state=1) for jobs in (None, 1, 2)]
    found.append(choose_k(sp.csr_array(x), **options, random_state=1))
    for selection in found[1:]:
        np.testing.assert_array_equal(selection.scores, found[0].scores)
