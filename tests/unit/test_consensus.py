"""The consensus of partitions, its co-association Gram and confidence, and the method of several views."""

from __future__ import annotations

import pickle
import sys

import numpy as np
import pytest

import grampus
from grampus import DocumentClusterer, choose_levels, consensus, parse_kernel
from grampus.cluster import coassociation, confidence, partitions
from grampus.documents import ConsensusMethod, Effort, Job, KernelKMeansMethod
from grampus.documents.find.graphs import LESS, cuts_of, dominant_cut
from grampus.documents.find.linked import linked_clusters
from grampus.documents.find.methods import CUTS, check_method, restore_method
from grampus.errors import InputError
from grampus.gram import DenseGram, LinearGram, at_rank, normalise, principal
from grampus.metrics import ari
from grampus.testing import check_gram

RNG = np.random.default_rng(7)


def same(a: object, b: object) -> bool:
    """Return whether two labellings are the same partition."""
    return ari(a, b) == 1.0


def noisy(truth: np.ndarray, views: int, share: float, seed: int = 0) -> np.ndarray:
    """Return copies of a partition in which a share of the documents is moved at random."""
    rng = np.random.default_rng(seed)
    moved = rng.random((views, len(truth))) < share
    return np.where(moved, rng.integers(0, truth.max() + 1, moved.shape), truth)


def blobs(sizes: tuple[int, ...], seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return points around as many corners of a simplex, and their groups."""
    truth = np.repeat(np.arange(len(sizes)), sizes)
    rng = np.random.default_rng(seed)
    return np.eye(len(sizes))[truth] * 4 + rng.normal(size=(len(truth), len(sizes))) * 0.5, truth


def test_coassociation_is_the_share_of_views() -> None:
    views = RNG.integers(-1, 3, (5, 12))
    expected = np.mean([(v[:, None] == v) & (v >= 0)[:, None] & (v >= 0) for v in views], axis=0)
    np.testing.assert_allclose(coassociation(views).dense(), expected, atol=1e-15)
    weights = np.array([3.0, 0.0, 1.0, 1.0, 1.0])
    expected = np.average([(v[:, None] == v) & (v >= 0)[:, None] & (v >= 0) for v in views], axis=0, weights=weights)
    np.testing.assert_allclose(coassociation(views, view_weight=weights).dense(), expected, atol=1e-15)


def test_coassociation_conforms() -> None:
    gram = coassociation(RNG.integers(0, 3, (4, 15)))
    check_gram(gram, gram.dense())


@pytest.mark.parametrize("k", [1, 2, 5])
def test_identical_partitions_are_their_own_consensus(k: int) -> None:
    truth = RNG.permutation(np.arange(40) % k)
    found = consensus(np.array([truth, k - 1 - truth, truth * 7]), k)
    assert same(found.labels, truth)
    assert found.objective == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_allclose(found.confidence, 1.0)
    np.testing.assert_allclose(found.agreement, 1.0)


def test_consensus_is_better_than_its_views() -> None:
    truth = RNG.permutation(np.arange(300) % 4)
    views = noisy(truth, 15, 0.3)
    assert max(ari(truth, view) for view in views) < 0.7
    assert ari(truth, consensus(views, 4).labels) > 0.99


def test_order_of_documents_and_of_views_does_not_matter() -> None:
    views = noisy(np.arange(80) % 4, 9, 0.5)
    found = consensus(views, 4)
    order, rows = RNG.permutation(80), RNG.permutation(9)
    moved = consensus(views[:, order], 4)
    np.testing.assert_array_equal(moved.labels, found.labels[order])
    np.testing.assert_array_equal(moved.confidence, found.confidence[order])
    assert consensus(views[rows], 4).objective == pytest.approx(found.objective)


def test_weights_are_repeated_documents() -> None:
    views = noisy(np.arange(40) % 3, 7, 0.5)
    copies = RNG.integers(1, 4, 40)
    rows = np.repeat(np.arange(40), copies)
    found, repeated = consensus(views, 3, sample_weight=copies), consensus(views[:, rows], 3)
    np.testing.assert_array_equal(found.labels[rows], repeated.labels)
    np.testing.assert_allclose(found.confidence[rows], repeated.confidence)
    assert found.objective == pytest.approx(repeated.objective)
    single = confidence(views, found.labels, sample_weight=copies)
    np.testing.assert_allclose(single, found.confidence)


def test_view_weights_are_repeated_views() -> None:
    views = noisy(np.arange(60) % 3, 4, 0.4)
    found = consensus(views, 3, view_weight=[3, 1, 0, 1])
    repeated = consensus(views[[0, 0, 0, 1, 3]], 3)
    assert found.objective == pytest.approx(repeated.objective)
    assert same(found.labels, repeated.labels)


def test_documents_that_views_left_out() -> None:
    truth = np.arange(60) % 3
    views = np.array([truth] * 6)
    views[np.arange(6)[:, None] == np.arange(60) % 6] = -1
    views[:, 0] = -1
    found = consensus(views, 3)
    assert found.labels[0] == -1
    assert np.isnan(found.confidence[0])
    assert same(found.labels[1:], truth[1:])
    assert found.sizes.sum() == 59
    with pytest.raises(InputError, match="all labels are −1"):
        consensus(np.full((2, 4), -1), 2)


def test_more_clusters_than_any_view_has() -> None:
    first, second = np.arange(16) // 8, np.arange(16) % 2
    found = consensus([first, second], 4)
    assert same(found.labels, 2 * first + second)
    with pytest.warns(UserWarning, match="Only 2 of 3 clusters"):
        assert consensus([first, first], 3).sizes.tolist() == [8, 8, 0]


def test_confidence_tells_agreement_from_chance() -> None:
    truth = np.arange(200) % 4
    random = confidence(RNG.integers(0, 4, (50, 200)), truth)
    assert random.mean() < 0.05
    views = noisy(truth, 50, 0.5)
    clear, doubtful = confidence(views, truth), truth.copy()
    doubtful[0] = 1  # in the wrong cluster
    # A view keeps a document with 0.5 + 0.5 / 4 = 5/8: together (5/8)² + 3/8² = 7/16, apart 2 · 5/8² + 2/8² = 3/16.
    assert clear.mean() == pytest.approx(7 / 16 - 3 / 16, abs=0.03)
    assert confidence(views, doubtful)[0] == 0.0
    assert np.isnan(confidence([[0, 1, 1]], [0, 1, 1])[0])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((3, 2), "sequence of partitions"),
        (([], 2), "at least one partition"),
        (([[0, 1], [0, 1, 2]], 2), "same length"),
        (([[0, 1, 1]], 4), "n_clusters"),
    ],
)
def test_bad_partitions(given: tuple[object, int], message: str) -> None:
    with pytest.raises(InputError, match=message):
        consensus(*given)  # type: ignore[arg-type]


def test_bad_weights_of_views() -> None:
    with pytest.raises(InputError, match="view_weight must be 1 finite"):
        consensus([[0, 1]], 2, view_weight=[-1.0])


# -- a Gram at another rank


def test_at_rank_takes_the_leading_components() -> None:
    x = RNG.random((30, 12))
    gram = parse_kernel("cosine|principal(6)|normalise").gram(x)
    for rank in (2, 6, 9):
        direct = parse_kernel(f"cosine|principal({rank})|normalise").gram(x)
        np.testing.assert_allclose(at_rank(gram, rank).dense(), direct.dense(), atol=1e-10)
    np.testing.assert_allclose(
        at_rank(parse_kernel("cosine|shift").gram(x), 3).dense(),
        parse_kernel("cosine|principal(3)|normalise").gram(x).dense(),
        atol=1e-10,
    )
    np.testing.assert_allclose(at_rank(LinearGram(x), 3).dense(), principal(LinearGram(x), 3).dense(), atol=1e-10)


def test_spare_components_are_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    x = RNG.random((80, 12))
    kernel = parse_kernel("cosine|principal(4)|normalise")
    wide = kernel.for_clusters(3, spare=9)
    assert wide == kernel
    assert str(wide) == str(kernel)
    gram = wide.gram(x)
    np.testing.assert_allclose(gram.dense(), kernel.gram(x).dense(), atol=1e-10)
    monkeypatch.setattr(sys.modules[principal.__module__], "eigenpairs", None)
    for rank in (2, 4, 7, 9):
        assert at_rank(gram, rank).features().rows.shape == (80, rank)  # type: ignore[union-attr]


def test_sums_have_other_ranks_and_are_pickled() -> None:
    x, y = RNG.random((40, 12)), RNG.random((40, 5))
    kernel = parse_kernel("0.5 * cosine|principal(4)|normalise + 0.5 * cosine@vectors")
    gram = kernel.gram({"terms": x, "vectors": y})
    for rank in (2, 6):
        found = at_rank(gram, rank)
        assert found.features().rows.shape == (40, rank)  # type: ignore[union-attr]
        np.testing.assert_allclose(found.diagonal(), 1.0, atol=1e-9)
        again = pickle.loads(pickle.dumps(found))
        np.testing.assert_array_equal(again.dense(), found.dense())
    again = pickle.loads(pickle.dumps(gram))
    np.testing.assert_array_equal(again.dense(), gram.dense())
    np.testing.assert_array_equal(at_rank(again, 2).dense(), at_rank(gram, 2).dense())


# -- the method


def test_it_is_the_default_and_has_a_confidence() -> None:
    x, truth = blobs((60, 50, 40))
    model = DocumentClusterer(3, kernel="linear", effort=Effort(stability=False)).fit(x)
    assert same(model.labels_, truth)
    assert model.confidence_.shape == (150,)
    assert model.confidence_.min() > 0.5
    assert check_method(model.method) == ConsensusMethod()


def test_few_documents_are_clustered_by_kernel_kmeans() -> None:
    x, _ = blobs((9, 9, 9), seed=3)
    gram, job = LinearGram(x), Job(3, np.ones(27))
    found = ConsensusMethod().cluster(gram, job)
    np.testing.assert_array_equal(found.labels, KernelKMeansMethod("random").cluster(gram, job).labels)
    assert found.confidence is not None


def test_documents_are_nearest_to_their_own_centroid() -> None:
    x = RNG.random((150, 6))
    gram = LinearGram(x)
    found = ConsensusMethod().cluster(gram, Job(4, np.ones(150)))
    assert found.outcome == "converged"
    centroids = np.stack([x[found.labels == c].mean(axis=0) for c in range(4)])
    np.testing.assert_array_equal(((x[:, None] - centroids) ** 2).sum(axis=2).argmin(axis=1), found.labels)


def run(gram: object, k: int, weights: np.ndarray, method: ConsensusMethod | None = None) -> np.ndarray:
    return (method or ConsensusMethod()).cluster(gram, Job(k, weights)).labels  # type: ignore[arg-type]


@pytest.mark.parametrize("sizes", [(8, 8, 8), (60, 50, 40)])
def test_method_finds_groups_with_and_without_graphs(sizes: tuple[int, ...]) -> None:
    x, truth = blobs(sizes)
    assert same(run(LinearGram(x), 3, np.ones(len(x))), truth)


def test_method_takes_any_gram() -> None:
    x, truth = blobs((40, 40, 40))
    ones = np.ones(len(x))
    assert same(run(DenseGram(x @ x.T), 3, ones), truth)
    assert same(run(parse_kernel("gaussian(3)|shift").gram(x), 3, ones), truth)
    texts = [f"{'abc'[group] * 9} {number}" for number, group in enumerate(truth)]
    assert same(run(parse_kernel("spectrum(3)|normalise").gram(texts), 3, ones), truth)


def test_method_ignores_documents_without_weight() -> None:
    x, truth = blobs((50, 50, 50))
    weights = np.ones(len(x))
    weights[::7] = 0.0
    found = ConsensusMethod().cluster(LinearGram(x), Job(3, weights))
    assert same(found.labels, truth)
    assert found.confidence is not None
    assert found.confidence.shape == (150,)


def _beside(wide: int, small: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a wide class, two small ones, the classes, and a partition that splits the wide one."""
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, np.pi, wide)
    arc = np.stack([6 * np.cos(angle), 6 * np.sin(angle)], axis=1) + rng.normal(size=(wide, 2)) * 0.2
    others = [centre + rng.normal(size=(small, 2)) * 0.2 for centre in ([0.0, -2.0], [9.0, -6.0])]
    split = np.concatenate([np.where(angle > np.pi / 2, 1, 0), np.full(2 * small, 2)])
    return np.concatenate([arc, *others]), np.repeat([0, 1, 2], [wide, small, small]), split


def test_method_keeps_a_dominant_class_whole() -> None:
    """k-means splits a wide class next to small ones; the cut of the graph does not, at twice the neighbours too."""
    x, truth, usual = _beside(600, 160)
    gram = parse_kernel("gaussian(2)").gram(x)
    ones = np.ones(len(x))
    assert same(run(gram, 3, ones), truth)
    assert not same(run(gram, 3, ones, ConsensusMethod(graphs=())), truth)
    cuts = cuts_of(gram, ones, 20, 3, 6, 0)
    assert cuts is not None
    assert cuts.graph.cut(truth) < LESS * cuts.graph.cut(usual)
    found = dominant_cut(cuts, lambda: cuts_of(gram, ones, 40, 3, 6, 0), usual, 3, 10, 0)
    assert found is not None
    assert same(found, truth)
    assert dominant_cut(cuts, lambda: None, usual, 3, 10, 0) is None


def test_what_is_left_when_pieces_are_cut_off_is_no_class() -> None:
    x, _, usual = _beside(600, 100)  # three quarters in one part
    gram = parse_kernel("gaussian(2)").gram(x)
    ones = np.ones(len(x))
    cuts = cuts_of(gram, ones, 20, 3, 6, 0)
    assert cuts is not None
    assert dominant_cut(cuts, lambda: cuts_of(gram, ones, 40, 3, 6, 0), usual, 3, 10, 0) is None


@pytest.mark.slow
def test_sizes_may_differ_where_halves_agree_more_on_them() -> None:
    """Two large classes and many small ones: k-means tears the large ones, and differently in every half."""
    rng, truth = np.random.default_rng(0), np.repeat(np.arange(32), [600, 450, *[14] * 30])
    centres = np.zeros((32, 24))
    centres[[0, 1], [0, 1]] = 8.0
    centres[2:, 2:] = rng.normal(size=(30, 22))
    centres[2:] *= 4.0 / np.linalg.norm(centres[2:], axis=1, keepdims=True)
    x = centres[truth] + rng.normal(size=(len(truth), 24)) * np.where(truth < 2, 1.5, 0.1)[:, None]
    gram, ones = normalise(LinearGram(x)), np.ones(len(x))
    found = linked_clusters(gram, ones, 32, 0)
    assert found is not None
    assert ari(found, truth) > 0.95
    assert ari(run(gram, 32, ones), truth) > 0.95
    assert linked_clusters(gram, ones, 200, 0) is None  # too few documents a cluster
    weights = np.where(np.arange(len(truth)) % 5 == 0, 0.0, 1.0)
    some = linked_clusters(gram, weights, 32, 0)
    assert some is not None
    assert ((some < 0) == (weights == 0)).all()
    even = np.repeat(np.arange(24), 44)
    x = 6.0 * np.eye(24)[even] + rng.normal(size=(len(even), 24))
    assert linked_clusters(normalise(LinearGram(x)), np.ones(len(x)), 24, 0) is None
    assert linked_clusters(gram, ones, 6, 0) is None  # few clusters are not torn
    seen = choose_levels(gram, ks=(26,), random_state=0).evidence
    assert seen is not None
    assert seen.mean[0] > 0.7  # on Ward's clusters, halves agree by 0.42


TEXTS = [f"{word} {word}s number{i % 5}" for i, word in enumerate(("whale", "bird", "stone") * 12)]


def test_clusterer_with_consensus_predicts_saves_and_loads(tmp_path: object) -> None:
    model = DocumentClusterer(3, method="consensus", effort=Effort(stability=False)).fit(TEXTS)
    assert same(model.labels_, np.arange(36) % 3)
    assert model.predict(["a bird"]) == model.labels_[1]
    model.save(f"{tmp_path}/run")
    again = grampus.load(f"{tmp_path}/run")
    assert again.predict(["a bird"]) == model.labels_[1]
    assert check_method(again.method) == ConsensusMethod()


def test_clusterer_does_not_depend_on_the_order() -> None:
    x = np.abs(blobs((50, 40, 30))[0]) + RNG.random((120, 3))
    options = {"method": "consensus", "effort": Effort(stability=False)}
    found = DocumentClusterer(3, **options).fit(x).labels_
    order = RNG.permutation(len(x))
    np.testing.assert_array_equal(DocumentClusterer(3, **options).fit(x[order]).labels_, found[order])


def test_one_cluster_and_options() -> None:
    x, _ = blobs((10, 10))
    assert run(LinearGram(x), 1, np.ones(20)).tolist() == [0] * 20
    method = ConsensusMethod(ranks=(2, 4), graphs=(), n_init=1)
    assert restore_method({**method.options(), "ranks": [2, 4], "graphs": []}) == method
    for bad in ({"ranks": ()}, {"ranks": (0,)}, {"graphs": ((3, 0),)}, {"n_init": 0}):
        with pytest.raises(InputError):
            ConsensusMethod(**bad)  # type: ignore[arg-type]


@pytest.mark.parametrize(("views", "k"), [(1, 3), (4, 5), (40, 30)])  # the last fills more than one number
def test_distinct_rows_are_those_of_numpy(views, k):
    codes = np.random.default_rng(views).integers(-1, k, size=(300, views))
    codes[100:200] = codes[:100]
    rows, group = partitions._distinct(codes)
    wanted, inverse = np.unique(codes, axis=0, return_inverse=True)
    np.testing.assert_array_equal(rows, wanted)
    np.testing.assert_array_equal(group, inverse.reshape(-1))


def test_many_clusters_cut_no_graph(monkeypatch):
    rows = np.random.default_rng(0).normal(size=(600, 4))
    monkeypatch.setattr("grampus.documents.find.methods.cuts_of", None)  # would fail
    found = ConsensusMethod(ranks=(4,), n_init=1).cluster(LinearGram(rows), Job(CUTS + 1, np.ones(600), n_init=1))
    assert len(set(found.labels.tolist())) == CUTS + 1


def test_two_documents_that_are_always_together_are_sure():
    labels = [0, 0, 1, 1, 1]
    np.testing.assert_array_equal(confidence([labels, labels], labels), np.ones(5))
