"""Kernel k-means against its naive twin, brute force, scikit-learn, and what theory says."""

import itertools
import warnings
from unittest.mock import patch

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from grampus.cluster import kernel_kmeans
from grampus.cluster.kmeans.state import RULES, Rule
from grampus.gram import DenseGram, FunctionGram, LinearGram, normalise, objective, shift
from tests.reference import naive_kmeans


def points(seed, n, m=3, groups=2):
    rng = np.random.default_rng(seed)
    return np.abs(rng.standard_normal((n, m))) + 2.0 * np.eye(groups, m)[rng.integers(0, groups, n)]


@st.composite
def problems(draw):
    n = draw(st.integers(2, 14))
    k = draw(st.integers(1, min(n, 4)))
    seed = draw(st.integers(0, 2**32 - 1))
    labels = np.random.default_rng(seed).integers(0, k, n)
    return points(seed, n), labels, k


def forms(x, kind, sigma):
    """Return the same Gram stored, given by features, sparse, and tile by tile."""
    base = {
        "dense": lambda: DenseGram(x @ x.T),
        "features": lambda: LinearGram(x),
        "sparse": lambda: LinearGram(sp.csr_array(x)),
        "tiled": lambda: FunctionGram(lambda a, b: a @ b.T, x, lambda a: (a**2).sum(axis=1)),
    }[kind]()
    return shift(base, sigma) if sigma else base


@settings(max_examples=60)
@given(
    problems(),
    st.sampled_from(["dense", "features", "sparse", "tiled"]),
    st.booleans(),
    st.sampled_from([0.0, -1.5, None]),
    st.sampled_from([1.0, 0.5, 0.01]),
)
def test_document_by_document(problem, kind, adjusted, sigma, centroid):
    x, start, k = problem
    K = x @ x.T
    sigma = -np.trace(K) / len(K) if sigma is None else sigma
    gram, row = forms(x, kind, sigma), Rule(adjusted=adjusted, centroid=centroid)
    with warnings.catch_warnings(), patch.dict(RULES, {"row": row}):
        warnings.simplefilter("ignore")
        result = kernel_kmeans(gram, k, init=start, rule="row")
    # the start is renumbered in the order of its labels, and runs in canonical order: so must the twin
    order = gram.documents().order
    start = np.unique(start, return_inverse=True)[1][order]
    found, outcome, moves, values = naive_kmeans.run(
        K[np.ix_(order, order)] + sigma * np.eye(len(K)), start, k, adjusted=adjusted, sigma=sigma, centroid=centroid
    )
    labels = found[np.argsort(order)]
    assert result.history.moves.tolist() == moves
    assert result.outcome == outcome
    assert result.labels.tolist() == labels.tolist()
    np.testing.assert_allclose(result.history.objective, values, atol=1e-8)
    assert result.objective == pytest.approx(objective(LinearGram(x), result.labels), abs=1e-8)


@settings(max_examples=60)
@given(problems())
def test_the_objective_never_rises_for_a_positive_semi_definite_kernel(problem):
    x, _, k = problem
    result = kernel_kmeans(normalise(LinearGram(x)), k, n_init=5, random_state=0)
    for history in result.runs.histories:
        assert (np.diff(history.objective) <= 1e-9).all()
    assert set(result.runs.outcomes) == {"converged"}


@settings(max_examples=15)
@given(st.integers(0, 2**32 - 1), st.integers(2, 3))
def test_the_best_of_many_restarts_is_the_best_of_all_partitions(seed, k):
    x = points(seed, 7, m=2)
    gram = LinearGram(x)
    best = min(
        objective(gram, labels)
        for labels in itertools.product(range(k), repeat=7)
        if labels[0] == 0 and len(set(labels)) == k
    )
    result = kernel_kmeans(gram, k, n_init=60, random_state=seed, polish=True)
    assert result.objective == pytest.approx(best, rel=1e-9)


def test_brute_force_at_nine_documents():
    x = points(5, 9, m=2, groups=2)
    gram = LinearGram(x)
    best = min(
        objective(gram, (0, *labels)) for labels in itertools.product(range(3), repeat=8) if {1, 2} <= set(labels)
    )
    assert kernel_kmeans(gram, 3, n_init=100, random_state=0).objective == pytest.approx(best, rel=1e-9)


@pytest.mark.parametrize("kind", ["dense", "features", "sparse"])
def test_scikit_learn_from_the_same_start(kind):
    from sklearn.cluster import KMeans

    for seed in range(10):
        x = points(seed, 200, m=5, groups=4)
        start = np.random.default_rng(seed).integers(0, 4, 200)
        centres = np.array([x[start == c].mean(axis=0) for c in range(4)])
        peer = KMeans(4, init=centres, n_init=1, tol=0, max_iter=300, algorithm="lloyd").fit(x)
        result = kernel_kmeans(forms(x, kind, 0.0), 4, init=start, max_iter=300)
        assert result.objective == pytest.approx(peer.inertia_, rel=1e-10)
        assert np.array_equal(result.labels, peer.labels_)


@settings(max_examples=40)
@given(problems(), st.integers(0, 5))
def test_k_labels_whenever_there_are_k_distinct_documents(problem, seed):
    x, _, k = problem
    if len(np.unique(x, axis=0)) < k:
        return
    for gram in (LinearGram(x), shift(normalise(LinearGram(x)))):
        result = kernel_kmeans(gram, k, n_init=3, random_state=seed)
        for labels in result.runs.labels:
            assert len(np.unique(labels)) == k


@settings(max_examples=30)
@given(problems(), st.booleans())
def test_polish_ends_where_no_single_move_helps(problem, shifted):
    x, start, k = problem
    gram = shift(LinearGram(x)) if shifted else LinearGram(x)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rough = kernel_kmeans(gram, k, init=start)
        result = kernel_kmeans(gram, k, init=start, polish=True)
    assert result.polish_gain >= 0
    assert result.objective == pytest.approx(rough.objective - result.polish_gain, abs=1e-8)
    assert result.objective == pytest.approx(objective(LinearGram(x), result.labels), abs=1e-8)
    for i in range(len(x)):
        if (result.labels == result.labels[i]).sum() == 1:
            continue
        for c in range(k):
            moved = result.labels.copy()
            moved[i] = c
            assert objective(LinearGram(x), moved) >= result.objective - 1e-7


@settings(max_examples=40)
@given(problems(), st.integers(0, 2**32 - 1), st.booleans(), st.sampled_from([0.0, -1.5]))
def test_weights_stand_for_copies(problem, seed, adjusted, sigma):
    x, start, k = problem
    start = np.unique(start, return_inverse=True)[1]
    k = start.max() + 1
    copies = np.random.default_rng(seed).integers(1, 4, len(x))
    repeated = np.repeat(np.arange(len(x)), copies)
    rule = {"rule": "adjusted" if adjusted else "plain", "max_iter": 6}
    weighted = kernel_kmeans(shift(LinearGram(x), sigma), k, init=start, sample_weight=copies, **rule)
    unrolled = kernel_kmeans(shift(LinearGram(x[repeated]), sigma), k, init=start[repeated], **rule)
    filled = []
    K = x[repeated] @ x[repeated].T + sigma * np.eye(len(repeated))
    naive_kmeans.run(K, start[repeated], k, adjusted=adjusted, sigma=sigma, max_iter=6, filled=filled)
    if not filled:  # an empty cluster takes one copy, or the whole weight: there they may part
        np.testing.assert_allclose(weighted.history.objective, unrolled.history.objective, atol=1e-8)
        assert np.array_equal(weighted.labels[repeated], unrolled.labels)
    assert weighted.history.objective[0] == pytest.approx(unrolled.history.objective[0], abs=1e-8)


def test_documents_without_weight_are_placed_but_do_not_count():
    x = points(1, 40, m=4, groups=3)
    weights = (np.arange(40) % 3 > 0).astype(float)
    start = np.random.default_rng(0).integers(0, 3, 40)
    result = kernel_kmeans(LinearGram(x), 3, init=start, sample_weight=weights)
    alone = kernel_kmeans(LinearGram(x[weights > 0]), 3, init=start[weights > 0])
    assert np.array_equal(result.labels[weights > 0], alone.labels)
    centres = np.array([x[weights > 0][alone.labels == c].mean(axis=0) for c in range(3)])
    nearest = ((x[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
    assert np.array_equal(result.labels[weights == 0], nearest[weights == 0])
