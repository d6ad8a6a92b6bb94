"""Keywords of clusters."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.cluster.hierarchy import cut_tree, linkage

from grampus._array import inverse_root
from grampus.cluster import nested_tree
from grampus.cluster.kmeans.centroids import margins
from grampus.describe import keywords, near_duplicates, typicality
from grampus.errors import InputError
from grampus.gram import LinearGram, normalise, shift
from grampus.metrics import ari


def test_keywords_are_the_terms_with_the_largest_contrast():
    x = np.array([[0.9, 0.1, 0.0], [0.8, 0.2, 0.0], [0.0, 0.2, 0.9]])
    assert keywords(x, ["b", "b", "a"], ["x", "y", "z"], top=2) == [["z", "y"], ["x"]]
    assert keywords(sp.csr_array(x), [1, 1, 0], ["x", "y", "z"], top=1) == [["z"], ["x"]]


def test_one_cluster_is_described_by_its_own_terms():
    assert keywords(np.array([[2.0, 1.0]]), [0], ["x", "y"], top=5) == [["x", "y"]]


def test_terms_must_fit():
    with pytest.raises(InputError, match="each of the 2 columns"):
        keywords(np.eye(2), [0, 1], ["x"])


RNG = np.random.default_rng(0)


def naive_evidence(K, labels, counts):
    """Repeat every document as often as it counts, and read everything off the large matrix."""
    index = np.repeat(np.arange(len(K)), counts)
    big, own = K[np.ix_(index, index)], labels[index]
    squared = np.array(
        [[big[i, i] + big[np.ix_(own == c, own == c)].mean() - 2 * big[i, own == c].mean() for c in np.unique(own)]
         for i in range(len(own))]
    )  # fmt: skip
    typical = np.array(
        [(big[i, own == own[i]].sum() - big[i, i]) / max((own == own[i]).sum() - 1, 1) for i in range(len(own))]
    )
    between = np.array(
        [[(big[np.ix_(own == c, own == d)].sum() - (c == d) * big[own == c, own == c].sum())
          / ((own == c).sum() * ((own == d).sum() - (c == d))) for d in np.unique(own)] for c in np.unique(own)]
    )  # fmt: skip
    first = np.cumsum(counts) - counts
    return squared[first], typical[first], between


def test_evidence_equals_its_naive_twin():
    x = RNG.random((12, 4))
    labels, counts = np.array([0, 1, 2] * 4), np.array([1, 2, 3] * 4)
    gram = normalise(LinearGram(x))
    squared, typical, between = naive_evidence(gram.dense(), labels, counts)
    for seen in (gram, shift(gram)):
        found = typicality(seen, labels, counts)
        np.testing.assert_allclose(found.squared, squared[np.arange(12), labels], atol=1e-12)
        np.testing.assert_allclose(found.typical, typical, atol=1e-12)
        np.testing.assert_allclose(found.between, between, atol=1e-12)
        others = np.where(np.arange(3) == labels[:, None], np.inf, squared)
        assert found.second.tolist() == others.argmin(axis=1).tolist()
        expected = np.clip(1 - squared[np.arange(12), labels] / others.min(axis=1), 0, 1)
        np.testing.assert_allclose(found.margin, expected, atol=1e-12)
    assert found.nearest(0) in (1, 2)
    assert found.separation(0) == pytest.approx(between[0, 0] - max(between[0, 1:]))


@pytest.mark.parametrize("threshold", [0.3, 0.9, 0.99, 1.0])
@pytest.mark.parametrize("layout", ["sparse", "dense"])
def test_near_duplicates_are_exactly_those_of_all_pairs(threshold, layout):
    x = RNG.random((60, 15)) * (RNG.random((60, 15)) < 0.3)
    x[10:20] = x[:10] + 0.01 * RNG.random((10, 15)) * (x[:10] > 0)
    x[20:23] = x[:3]
    x[30] = 0.0
    length = np.linalg.norm(x, axis=1, keepdims=True)
    cosine = (x / np.where(length > 0, length, 1)) @ (x / np.where(length > 0, length, 1)).T
    expected = {(i, j) for i in range(60) for j in range(i + 1, 60) if cosine[i, j] >= threshold - 1e-6}
    pairs, similarity = near_duplicates(sp.csr_array(x) if layout == "sparse" else x, threshold)
    assert {tuple(pair) for pair in pairs.tolist()} == expected
    np.testing.assert_allclose(similarity, np.minimum([cosine[i, j] for i, j in pairs], 1.0), atol=1e-12)
    assert (np.diff(similarity) <= 0).all()


@pytest.mark.parametrize("parts", [1, 4])
def test_a_nested_tree_holds_the_partition_and_wards_merges(parts):
    x = np.repeat(RNG.random((5, 6)), 30, axis=0) + 0.1 * RNG.random((150, 6))
    labels = np.repeat([3, 1, 0, 4, 2], 30)
    tree = nested_tree(LinearGram(x), labels, parts)
    assert tree.root.depth == 0
    assert all(node.depth == tree.nodes[node.parent].depth + 1 for node in tree.nodes[1:])
    assert ari(tree.cut(5), labels) == 1.0
    assert len(tree.leaves) == (5 if parts == 1 else 15)
    for node in tree.nodes:
        own = x[node.members]
        assert node.scatter == pytest.approx(((own - own.mean(axis=0)) ** 2).sum(), abs=1e-9)
        if node.children:
            assert node.gain == pytest.approx(
                node.scatter - sum(tree.nodes[c].scatter for c in node.children), abs=1e-9
            )
    # SciPy joins the centroids in the same order, each with the weight of its cluster.
    reference = linkage(np.array([x[labels == c].mean(axis=0) for c in range(5)]), "ward")
    for k in (2, 3, 4):
        expected = cut_tree(reference, k)[labels, 0]
        assert ari(tree.cut(k), expected) == 1.0


def test_margins_compare_the_own_cluster_with_the_nearest_other_one():
    squared = np.array([[1.0, 4.0, 2.0], [0.0, 0.0, 3.0], [5.0, 0.0, np.inf], [2.0, 1.0, 8.0]])
    found = margins(squared)
    assert found.nearest.tolist() == [0, 0, 1, 1]  # the lowest number in a tie
    assert found.second.tolist() == [2, 1, 0, 0]
    assert found.margin.tolist() == [0.5, 0.0, 1.0, 0.5]
    given = margins(squared, np.array([1, 2, 1, 0]))
    assert given.second.tolist() == [0, 0, 0, 1]
    assert given.margin.tolist() == [0.0, 0.0, 1.0, 0.0]  # farther than another one counts as on the border
    alone = margins(squared[:, :1])
    assert (alone.second == -1).all()
    assert (alone.margin == 1.0).all()


def test_inverse_roots_are_0_where_there_is_none():
    assert inverse_root(np.array([4.0, 0.0, -1.0, 0.25])).tolist() == [0.5, 0.0, 0.0, 2.0]
    assert inverse_root(np.array([4.0], dtype=np.float32)).dtype == np.float64


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([0, float("nan"), 1], "labels must not be NaN or infinite; got nan at position 1"),
        ([0, None, 1], "labels must be strings or finite numbers; got None at position 1"),
        (["a", 1, "b"], "labels must be all strings or all numbers; got a mixture"),
        ([[0, 1, 1]], "labels must have one dimension, a label for each document"),
        ([0, 1], "labels must have 3 entries, one for each document; got 2"),
    ],
)
def test_labels_of_clusters_are_checked_like_those_of_classes(labels, message):
    with pytest.raises(InputError, match=message):
        typicality(LinearGram(np.eye(3)), labels)
