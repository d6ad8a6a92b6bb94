"""Scores of agreement: known numbers, edges, bad input."""

import math
from fractions import Fraction

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from grampus import metrics
from grampus.errors import InputError
from grampus.metrics import ContingencyTable, contingency_table, ensemble
from tests.timing import soon

TWO_ARGUMENTS = [
    metrics.accuracy, metrics.ari, metrics.cluster_entropy, metrics.error_rate, metrics.nmi, metrics.precision,
    metrics.purity, metrics.recall, metrics.variation_of_information,
]  # fmt: skip

# Gkotsopoulou & Monge, table 1, column "spectral": one cluster took nearly everything.
SPECTRAL = [[373, 0, 1], [262, 7, 2], [112, 0, 0]]


def test_published_spectral_column():
    """The third class keeps no cluster with documents of its own: precision and recall 0, and counted."""
    table = ContingencyTable.from_counts(SPECTRAL)
    assert round(metrics.variation_of_information(table), 3) == 1.523
    assert round(metrics.error_rate(table), 3) == 0.498
    assert round(metrics.accuracy(table), 3) == 0.502
    assert round(metrics.recall(table), 3) == 0.341
    assert round(metrics.precision(table), 3) == 0.500
    assert metrics.match_clusters(table).tolist() == [0, 1, -1]


def test_table_counts_and_orders():
    table = contingency_table(["b", "a", "b", "b"], [10, 2, 2, 10])
    assert table.classes.tolist() == ["a", "b"]
    assert table.clusters.tolist() == [2, 10]
    assert table.dense().tolist() == [[1, 0], [1, 2]]
    assert (table.sparse().toarray() == table.dense()).all()
    assert (table.n, table.shape) == (4, (2, 2))
    assert table.class_sizes.tolist() == [1, 3]
    assert table.cluster_sizes.tolist() == [2, 2]
    assert not table.identical


def test_table_is_frozen():
    table = contingency_table([0, 1], [0, 1])
    with pytest.raises(AttributeError):
        table.counts = np.array([5])


def test_from_counts_leaves_out_what_is_empty():
    table = ContingencyTable.from_counts([[2, 0, 0], [0, 0, 0], [1, 0, 3]])
    assert table.classes.tolist() == [0, 2]
    assert table.clusters.tolist() == [0, 2]
    assert table.dense().tolist() == [[2, 0], [1, 3]]


@pytest.mark.parametrize("counts", [[1, 2], [[-1, 2]], [[0, 0]], [[0.5, 1]], [[np.nan, 1]], [["a"]], [[[1]]]])
def test_from_counts_refuses(counts):
    with pytest.raises(InputError, match="counts must"):
        ContingencyTable.from_counts(counts)


def test_many_clusters_need_no_dense_table():
    n = 200_000
    table = contingency_table(np.arange(n), np.arange(n)[::-1])
    assert len(table.counts) == n
    assert metrics.nmi(table) == metrics.accuracy(table) == metrics.purity(table) == 1.0
    assert metrics.variation_of_information(table) == 0.0


@pytest.mark.parametrize("score", TWO_ARGUMENTS)
def test_table_and_labels_give_the_same(score):
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 4, 60), rng.integers(0, 6, 60)
    assert score(contingency_table(a, b)) == score(a, b)
    with pytest.raises(InputError, match="must be left out"):
        score(contingency_table(a, b), b)
    with pytest.raises(InputError, match="labels_pred is needed"):
        score(a)


def test_kinds_of_labels_do_not_matter():
    expected = contingency_table([0, 0, 1, 2], [1, 1, 0, 0]).dense().tolist()
    for labels in (
        ["a", "a", "b", "c"],
        ("a", "a", "b", "c"),
        np.array(["a", "a", "b", "c"]),
        np.array(["a", "a", "b", "c"], dtype=object),
        [b"a", b"a", b"b", b"c"],
        np.array([0.0, 0.0, 1.5, 2.0]),
        np.array([0, 0, 1, 2], dtype=np.uint8),
        np.array([0, 0, 1, 2], dtype=object),
        [0, 0, 10**30, 10**31],
        [Fraction(1, 3), Fraction(1, 3), Fraction(1, 2), 1],
        [-1, -1, 0, 1],
        np.ma.array([0, 0, 1, 2]),
    ):
        assert contingency_table(labels, [True, True, False, False]).dense().tolist() == expected


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([], "empty"),
        ([[0, 1], [1, 0]], "one dimension"),
        ([[0, 1], [1]], "one dimension"),
        (3, "one dimension"),
        ("abc", "one dimension"),
        ([0.0, math.nan, 1.0], "nan at position 1"),
        ([0.0, math.inf, 1.0], "inf at position 1"),
        (["a", math.nan, "b"], "nan at position 1"),
        (["a", None, "b"], "None at position 1"),
        (np.array(["a", math.nan, "b"], dtype=object), "nan at position 1"),
        (np.array([1, math.nan, 2], dtype=object), "nan at position 1"),
        (["a", 1, "b"], "mixture"),
        ([1 + 2j, 0, 1], "real numbers"),
        (np.array(["2020", "2021", "2022"], dtype="M8[Y]"), "dtype datetime64"),
        (np.ma.array([0, 1, 2], mask=[0, 1, 0]), "masked"),
    ],
)
def test_labels_refused(labels, message):
    with pytest.raises(InputError, match=message):
        contingency_table(labels, [0, 1, 2])
    with pytest.raises(InputError, match=message):
        metrics.nmi([0, 1, 2], labels)


def test_lengths_must_agree():
    with pytest.raises(InputError, match="same length; got 3 and 2"):
        contingency_table([0, 1, 2], [0, 1])


@pytest.mark.parametrize("score", TWO_ARGUMENTS)
def test_one_document(score):
    perfect = 0.0 if score in (metrics.cluster_entropy, metrics.error_rate, metrics.variation_of_information) else 1.0
    assert score(["x"], [7]) == perfect


def test_one_part_against_several():
    one, three = [0] * 6, [0, 0, 1, 1, 2, 2]
    assert metrics.nmi(one, one) == 1.0
    assert metrics.nmi(one, three) == metrics.nmi(three, one) == 0.0
    assert metrics.ari(one, three) == 0.0
    assert metrics.variation_of_information(one, three) == pytest.approx(math.log2(3))
    assert metrics.purity(one, three) == 1.0
    assert metrics.purity(three, one) == pytest.approx(1 / 3)
    assert metrics.cluster_entropy(one, three) == metrics.cluster_entropy(one, three, normalised=True) == 0.0
    assert metrics.cluster_entropy(three, one) == pytest.approx(math.log2(3))
    assert metrics.cluster_entropy(three, one, normalised=True) == pytest.approx(1.0)
    assert metrics.accuracy(three, one) == metrics.accuracy(one, three) == pytest.approx(1 / 3)
    # Three classes, one cluster: only one class is matched; the other two count as 0.
    assert metrics.recall(three, one) == pytest.approx(1 / 3)
    assert metrics.precision(three, one) == pytest.approx(1 / 9)
    # One class, three clusters: the matched cluster holds a third of it and nothing else.
    assert metrics.recall(one, three) == pytest.approx(1 / 3)
    assert metrics.precision(one, three) == 1.0


def test_different_numbers_of_clusters_and_classes():
    table = ContingencyTable.from_counts([[4, 3, 0, 1], [0, 5, 2, 0]])
    assert metrics.match_clusters(table).tolist() == [0, 1]
    assert metrics.accuracy(table) == 9 / 15
    assert metrics.error_rate(table) == 6 / 15
    assert metrics.precision(table) == pytest.approx((4 / 4 + 5 / 8) / 2)
    assert metrics.recall(table) == pytest.approx((4 / 8 + 5 / 7) / 2)
    turned = ContingencyTable.from_counts(table.dense().T)
    assert metrics.match_clusters(turned).tolist() == [0, 1, -1, -1]
    assert metrics.accuracy(turned) == 9 / 15


def test_matching_gives_up_the_largest_cell_for_the_better_whole():
    table = ContingencyTable.from_counts([[5, 4], [4, 0]])
    assert metrics.match_clusters(table).tolist() == [1, 0]
    assert metrics.accuracy(table) == 8 / 13


def test_equal_matchings_prefer_precision_and_recall():
    """Both matchings hold 2 documents; the second class is whole in the first cluster."""
    table = ContingencyTable.from_counts([[2, 0, 3], [2, 0, 0], [0, 1, 3]])
    turned = ContingencyTable.from_counts(table.dense()[::-1, ::-1])
    assert metrics.precision(table) == pytest.approx(metrics.precision(turned))
    assert metrics.recall(table) == pytest.approx(metrics.recall(turned))


def test_vi_base():
    a, b = [0, 0, 1, 1], [0, 1, 0, 1]
    assert metrics.variation_of_information(a, b) == 2.0
    assert metrics.variation_of_information(a, b, base=math.e) == pytest.approx(2 * math.log(2))
    for base in (1, 0.5, 0, -2, math.inf, math.nan, "x", None, True, [2]):
        with pytest.raises(InputError, match="base must be"):
            metrics.variation_of_information(a, b, base=base)


def test_nmi_of_huge_counts():
    """Products of sizes past 2**63 do not overflow."""
    table = ContingencyTable.from_counts(np.array([[3, 1], [1, 3]]) * 10**17)
    assert metrics.nmi(table) == pytest.approx(metrics.nmi(ContingencyTable.from_counts([[3, 1], [1, 3]])))


def test_ari_is_scikit_learns():
    rng = np.random.default_rng(1)
    a, b = rng.integers(0, 3, 50), rng.integers(0, 40, 50)
    assert metrics.ari(a, b) == adjusted_rand_score(a, b)


@pytest.mark.parametrize("most", [2, 5, 12, 13, 90])
def test_anmi_is_the_mean_over_pairs(most):
    rng = np.random.default_rng(2)
    partitions = [rng.integers(0, k, 90) for k in rng.integers(1, most + 1, 9)]
    partitions.append(partitions[0] * 7 - 3)
    pairs = [
        normalized_mutual_info_score(a, b, average_method="geometric")
        for i, a in enumerate(partitions)
        for b in partitions[i + 1 :]
    ]
    assert metrics.anmi(partitions) == pytest.approx(np.mean(pairs), abs=1e-12)
    assert metrics.anmi(np.array(partitions)) == metrics.anmi(partitions)
    scores = metrics.pairwise_nmi(partitions)
    assert (scores == scores.T).all()
    assert (np.diag(scores) == 1).all()
    np.testing.assert_allclose(scores[np.triu_indices(10, 1)], pairs, atol=1e-12)


@pytest.mark.parametrize("most", [4, 30])
def test_anmi_does_not_depend_on_tiles(monkeypatch, most):
    rng = np.random.default_rng(3)
    partitions = rng.integers(0, most, (23, 100))
    whole = metrics.pairwise_nmi(partitions)
    for tile in (1, 1000, 5000):
        monkeypatch.setattr(ensemble, "_TILE", tile)
        assert (metrics.pairwise_nmi(partitions) == whole).all()


def test_anmi_is_fast():
    """250 partitions of 2225 documents take 0.1 s; a loop over the 31125 pairs half a minute."""
    partitions = np.random.default_rng(4).integers(0, 5, (250, 2225))
    with soon(10):
        metrics.anmi(partitions)


@pytest.mark.parametrize(
    ("partitions", "message"),
    [
        ([[0, 1]], "at least two"),
        ([], "at least one"),
        (np.zeros((0, 4)), "at least one"),
        (np.zeros(4), "two dimensions"),
        (np.zeros((2, 2, 2)), "two dimensions"),
        ([[0, 1], [0, 1, 2]], "same length; partition 0 has 2 labels and partition 1 has 3"),
        ([[0, 1], [0, math.nan]], "partition 1 must not be NaN"),
        ([[], []], "partition 0 must hold at least one"),
        ([0, 1], "partition 0 must have one dimension"),
        ("ab", "sequence of partitions"),
        (7, "sequence of partitions"),
    ],
)
def test_anmi_refuses(partitions, message):
    with pytest.raises(InputError, match=message):
        metrics.anmi(partitions)


def test_public_names():
    assert sorted(metrics.__all__) == metrics.__all__
    for name in metrics.__all__:
        documented = getattr(metrics, name).__doc__
        assert "Examples\n" in documented, name
