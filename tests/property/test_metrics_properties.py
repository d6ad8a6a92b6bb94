"""What the definitions promise, for any labels; and equality with scikit-learn and a naive twin."""

import math
from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import normalized_mutual_info_score

from grampus import metrics

LABELS = st.integers(0, 4)
PAIRS = st.lists(st.tuples(LABELS, LABELS), min_size=1, max_size=40).map(lambda pairs: tuple(zip(*pairs, strict=True)))
TRIPLES = st.lists(st.tuples(LABELS, LABELS, LABELS), min_size=1, max_size=40).map(
    lambda rows: tuple(zip(*rows, strict=True))
)
SYMMETRIC = [metrics.accuracy, metrics.ari, metrics.error_rate, metrics.nmi, metrics.variation_of_information]
UNIT = [metrics.accuracy, metrics.error_rate, metrics.nmi, metrics.precision, metrics.purity, metrics.recall]
ALL = [*SYMMETRIC, metrics.cluster_entropy, metrics.precision, metrics.purity, metrics.recall]


def naive(a, b):
    """The textbook formulas, one loop each."""
    n = len(a)
    joint, classes, clusters = Counter(zip(a, b, strict=True)), Counter(a), Counter(b)
    entropy_a = -sum(c / n * math.log2(c / n) for c in classes.values())
    entropy_b = -sum(c / n * math.log2(c / n) for c in clusters.values())
    information = sum(c / n * math.log2(c * n / (classes[i] * clusters[j])) for (i, j), c in joint.items())
    width = max(len(classes), len(clusters))
    rows = [*sorted(classes), *[None] * (width - len(classes))]
    columns = [*sorted(clusters), *[None] * (width - len(clusters))]
    best = max(sum(joint[i, j] for i, j in zip(rows, order, strict=True)) for order in permutations(columns))
    return {
        metrics.variation_of_information: entropy_a + entropy_b - 2 * information,
        metrics.cluster_entropy: entropy_a - information,
        metrics.purity: sum(max(joint[i, j] for i in classes) for j in clusters) / n,
        metrics.accuracy: best / n,
        metrics.error_rate: 1 - best / n,
    }


@given(PAIRS)
def test_equals_the_naive_twin(pair):
    for score, expected in naive(*pair).items():
        assert score(*pair) == pytest.approx(expected, abs=1e-12)


@given(PAIRS)
def test_nmi_equals_scikit_learn(pair):
    expected = normalized_mutual_info_score(*pair, average_method="geometric")
    assert metrics.nmi(*pair) == pytest.approx(expected, abs=1e-12)
    assert metrics.anmi(pair) == pytest.approx(expected, abs=1e-12)


@given(PAIRS, st.permutations(range(5)), st.permutations("abcde"), st.randoms(use_true_random=False))
def test_names_and_order_do_not_matter(pair, rows, columns, random):
    documents = list(zip(*pair, strict=True))
    random.shuffle(documents)
    renamed = [rows[i] for i, _ in documents], [columns[j] for _, j in documents]
    for score in (*SYMMETRIC, metrics.purity, metrics.cluster_entropy):
        assert score(*renamed) == pytest.approx(score(*pair), abs=1e-12)
    both = metrics.precision(*pair) + metrics.recall(*pair)
    assert metrics.precision(*renamed) + metrics.recall(*renamed) == pytest.approx(both, abs=1e-12)


@given(PAIRS)
def test_symmetry(pair):
    a, b = pair
    for score in SYMMETRIC:
        assert score(a, b) == pytest.approx(score(b, a), abs=1e-12)


@given(PAIRS)
def test_bounds(pair):
    for score in UNIT:
        assert 0.0 <= score(*pair) <= 1.0
    assert -0.5 <= metrics.ari(*pair) <= 1.0
    assert 0.0 <= metrics.variation_of_information(*pair) <= math.log2(len(pair[0])) + 1e-12
    assert 0.0 <= metrics.cluster_entropy(*pair) <= math.log2(len(set(pair[0]))) + 1e-12
    assert 0.0 <= metrics.cluster_entropy(*pair, normalised=True) <= 1.0
    assert metrics.accuracy(*pair) <= metrics.purity(*pair)
    assert metrics.accuracy(*pair) + metrics.error_rate(*pair) == pytest.approx(1.0)


@given(PAIRS)
def test_the_same_partition(pair):
    a, _ = pair
    renamed = [f"cluster {9 - label}" for label in a]
    for score in ALL:
        loss = score in (metrics.cluster_entropy, metrics.error_rate, metrics.variation_of_information)
        assert score(a, renamed) == (0.0 if loss else 1.0)


@given(TRIPLES)
def test_distances_obey_the_triangle_inequality(triple):
    a, b, c = triple
    for distance in (metrics.variation_of_information, metrics.error_rate):
        assert distance(a, c) <= distance(a, b) + distance(b, c) + 1e-12


@given(TRIPLES)
def test_splitting_a_cluster_never_hurts_purity(triple):
    classes, clusters, parts = triple
    finer = [10 * j + part for j, part in zip(clusters, parts, strict=True)]
    assert metrics.purity(classes, finer) >= metrics.purity(classes, clusters)
    assert metrics.cluster_entropy(classes, finer) <= metrics.cluster_entropy(classes, clusters) + 1e-12


@given(PAIRS)
def test_matching_is_one_to_one(pair):
    matched = metrics.match_clusters(*pair)
    used = matched[matched >= 0]
    assert len(np.unique(used)) == len(used)
    assert len(matched) == len(set(pair[0]))
