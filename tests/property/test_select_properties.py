"""What is provable about choosing k."""

from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grampus import choose_k
from grampus._random import seed_words
from grampus.cluster.kmeans import Rule
from grampus.gram import DenseGram, FunctionGram, LinearGram, shift
from grampus.metrics import accuracy
from grampus.select import Splits, chance_strength, nearest_centroid, prediction_strength, reduce_gram
from grampus.select.halves import Splitter
from grampus.select.splits import half
from grampus.select.strength import partition_similarity, strength, tables
from tests.reference import naive_select

labels = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=40)


@given(labels)
def test_strength_from_tables_equals_the_pairs(pairs):
    clusters, predicted = zip(*pairs, strict=True)
    ours = prediction_strength(list(clusters), list(predicted))
    assert ours == pytest.approx(naive_select.prediction_strength(clusters, predicted), abs=1e-12)
    assert 0.0 <= ours <= 1.0


@given(labels, st.permutations(range(5)))
def test_strength_does_not_depend_on_names_or_order(pairs, names):
    clusters, predicted = (np.array(side) for side in zip(*pairs, strict=True))
    renamed = np.array(names)
    order = np.argsort(predicted, kind="stable")
    assert prediction_strength(clusters, predicted) == prediction_strength(renamed[clusters][order], predicted[order])


@given(labels)
def test_a_prediction_that_is_finer_or_equal_scores_one_only_if_clusters_stay_whole(pairs):
    clusters = np.array([a for a, _ in pairs])
    if np.bincount(clusters).max() >= 2:
        assert prediction_strength(clusters, clusters) == 1.0
        assert prediction_strength(clusters, np.zeros_like(clusters)) == 1.0


@given(labels)
def test_partition_similarity_is_the_accuracy_of_the_best_matching(pairs):
    clusters, predicted = (np.array(side) for side in zip(*pairs, strict=True))
    found = partition_similarity(tables(clusters[None], predicted[None], 5)).values[0]
    assert found == pytest.approx(accuracy(clusters, predicted), abs=1e-12)


@pytest.mark.parametrize(("n", "k"), [(10, 2), (60, 3), (200, 5)])
def test_chance_is_the_mean_over_random_partitions(n, k):
    rng = np.random.default_rng(0)
    drawn = [naive_select.prediction_strength(rng.integers(0, k, n), rng.integers(0, k, n)) for _ in range(400)]
    found = chance_strength(n, k)
    error = np.hypot(np.std(drawn) / 20, found.error)
    assert abs(found.mean - np.mean(drawn)) < 4 * error
    assert found == chance_strength(n, k)


def test_chance_has_the_error_it_states():
    means = [
        strength(np.random.default_rng(i).multinomial(80, np.full(9, 1 / 9), 2000).reshape(-1, 3, 3)).values.mean()
        for i in range(40)
    ]
    assert 0.5 < np.std(means, ddof=1) / chance_strength(80, 3).error < 1.6


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**31), st.integers(1, 4), st.integers(0, 5))
def test_reduction_equals_its_twin(seed, rate, p):
    points = np.random.default_rng(seed).normal(size=(23, 4))
    matrix = points @ points.T
    seeds, members, reduced = naive_select.reduce(matrix, rate, p)
    for gram in (
        DenseGram(matrix),
        LinearGram(points),
        FunctionGram(lambda a, b: a @ b.T, points, lambda a: (a**2).sum(1)),
    ):
        found = reduce_gram(gram, rate, p)
        assert found.seeds.tolist() == seeds.tolist()
        assert found.members.tolist() == members.tolist()
        np.testing.assert_allclose(found.gram.matrix, reduced, atol=1e-10)
        np.testing.assert_allclose(found.compactness, np.diag(reduced), atol=1e-10)
    assert np.linalg.eigvalsh(found.gram.matrix).min() > -1e-9  # K′ = A K Aᵀ


def test_reduction_looks_through_the_shift():
    points = np.random.default_rng(0).normal(size=(40, 3))
    plain, shifted = reduce_gram(LinearGram(points)), reduce_gram(shift(LinearGram(points)))
    np.testing.assert_array_equal(plain.gram.matrix, shifted.gram.matrix)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**31), st.integers(2, 3), st.booleans(), st.sampled_from([1.0, 0.5]))
def test_halves_in_lockstep_equal_plain_loops(seed, k, shifted, centroid):
    """One product clusters a half and predicts the other: the same as clustering it alone and classifying the rest."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(24, 3)) + 4 * rng.integers(0, 2, size=(24, 1))
    matrix = points @ points.T
    sigma = -np.trace(matrix) / 24 if shifted else 0.0
    entropy = tuple(seed_words(seed % 1000))
    splits = Splits(2, init="random", n_init=1)
    splitter = Splitter.of(DenseGram(matrix), Rule(shift=sigma, centroid=centroid), [k], splits, entropy)
    found = splitter.halves(k, range(2), 1)
    starts = splits.draw(DenseGram(matrix), k, entropy, range(2))
    for row, start in enumerate(starts):
        inside = half(24, entropy, row // 2)
        train = np.flatnonzero(inside if row % 2 == 0 else ~inside)
        rest = np.setdiff1d(np.arange(24), train)
        alone = naive_select.kernel_kmeans(matrix[np.ix_(train, train)], sigma, start[train], k, centroid)
        if alone is None:
            continue  # a cluster became empty: the twin has no rule for that
        assert found.labels[row, train].tolist() == alone.tolist()
        assert (found.labels[row, rest] == -1).all()
        predicted = naive_select.nearest_centroid(matrix, sigma, train, alone, rest, k, centroid)
        assert found.predicted[row, rest].tolist() == predicted.tolist()


def test_the_classifier_equals_its_twin():
    rng = np.random.default_rng(3)
    points = rng.normal(size=(60, 5))
    matrix, train = points @ points.T, rng.permutation(60)[:30]
    classes = rng.integers(0, 3, 30)
    rest = np.setdiff1d(np.arange(60), train)
    for sigma in (0.0, -2.5):
        found = nearest_centroid(shift(DenseGram(matrix), sigma), classes, train)
        twin = naive_select.nearest_centroid(matrix, sigma, train, classes, rest, 3)
        assert found[rest].tolist() == twin.tolist()


@settings(max_examples=6, deadline=None)
@given(st.integers(0, 2**31), st.sampled_from(["auto", "RED-S", "KKM-S", "KM-S", "KM-P"]))
def test_the_result_does_not_depend_on_how_it_is_computed(seed, scheme):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(90, 6)) + 3 * np.eye(6)[rng.integers(0, 3, 90)]
    options = {"kernel": "linear", "ks": [2, 3, 5], "scheme": scheme, "null": False, "random_state": 1}
    options["splits"] = Splits(6)
    base = choose_k(x, **options)
    shuffled = choose_k(x[rng.permutation(90)], **options)
    np.testing.assert_array_equal(base.scores, shuffled.scores)
    for jobs in (1, 2):
        np.testing.assert_array_equal(base.scores, choose_k(x, **options, n_jobs=jobs).scores)
    for size in (1, 4):
        with mock.patch.object(Splitter, "at_once", lambda *_, size=size: size):
            np.testing.assert_array_equal(base.scores, choose_k(x, **options).scores)
