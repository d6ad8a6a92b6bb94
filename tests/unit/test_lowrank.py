"""Low-rank Grams: exact where they can be, never n × n, new documents by their landmarks, errors with their errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.kernel_approximation import Nystroem

import grampus
from grampus import PDDP, BisectingKernelKMeans, KernelKMeans, KernelPCAKMeans, SpectralKMeans, parse_kernel
from grampus.cluster import kernel_kmeans
from grampus.errors import InputError, MemoryBudgetError
from grampus.gram import DenseGram, FunctionGram, LinearGram, NystromGram, centre, normalise, nystrom, relative_error
from grampus.gram.landmarks import CHOICES, leverage_scores
from grampus.kernels import Kernel
from grampus.metrics import nmi
from grampus.testing import check_gram
from tests.reference import naive

POINTS = np.random.default_rng(0).random((200, 3))
choices = pytest.mark.parametrize("choose", list(CHOICES))


def blobs(n: int = 400, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 4, n)
    return 4.0 * np.eye(4)[labels] + rng.standard_normal((n, 4)), labels


def made(estimator, kernel):
    """Return an estimator of four clusters; trees by principal directions need no seed."""
    seed = {} if estimator is PDDP else {"random_state": 0}
    return estimator(4, kernel=kernel, **seed)


def same(gram, other, tolerance=1e-9):
    np.testing.assert_allclose(gram.dense(), other.dense(), atol=tolerance * np.abs(other.dense()).max())


# -- what is exact


@choices
def test_all_documents_as_landmarks_give_the_gram_itself(choose):
    gram = parse_kernel("gaussian(1.5)").gram(POINTS)
    same(nystrom(gram, 200, choose=choose), gram)
    same(nystrom(gram, 10**6, choose=choose), gram)


@choices
def test_as_many_landmarks_as_features_give_a_linear_gram(choose):
    low = nystrom(LinearGram(POINTS), 3, choose=choose)
    assert low.rows.shape == (200, 3)
    same(low, LinearGram(POINTS))


@choices
def test_copies_are_chosen_once_and_zero_rows_do_no_harm(choose):
    x = np.repeat(np.vstack([POINTS[:6], np.zeros((1, 3))]), 20, axis=0)
    gram = parse_kernel("polynomial(2, coef0=0)").gram(x)
    low = nystrom(gram, 50, choose=choose)
    assert len(np.unique(x[low.landmarks], axis=0)) == len(low.landmarks) == 7
    same(low, gram)
    few = nystrom(gram, 4, choose=choose)
    assert len(np.unique(x[few.landmarks], axis=0)) == len(few.landmarks) <= 4


def test_copies_among_given_landmarks_change_nothing():
    x = np.vstack([POINTS[:5], POINTS[:5]])
    gram = parse_kernel("gaussian(1)").gram(x)
    low = nystrom(gram, [0, 1, 2, 5, 6, 7])
    assert low.rows.shape[1] == 3
    same(low, nystrom(gram, [0, 1, 2]), 1e-7)


@choices
def test_nothing_similar_gives_zeros(choose):
    low = nystrom(LinearGram(np.vstack([np.zeros((9, 2))])), 3, choose=choose)
    assert low.rows.shape == (9, 1)
    assert not low.dense().any()
    assert not nystrom(DenseGram(np.zeros((9, 9))), 3, choose=choose).dense().any()
    assert relative_error(DenseGram(np.zeros((9, 9))), low).value == 0.0


def test_the_rank_is_that_of_the_best_part_of_the_nystrom_gram():
    gram = parse_kernel("gaussian(0.5)").gram(POINTS)
    whole, part = nystrom(gram, 40), nystrom(gram, 40, rank=5)
    assert part.rows.shape == (200, 5)
    values, vectors = np.linalg.eigh(whole.dense())
    np.testing.assert_allclose(part.dense(), (vectors[:, -5:] * values[-5:]) @ vectors[:, -5:].T, atol=1e-9)
    same(nystrom(gram, 40, rank=40), whole)
    same(nystrom(gram, 40, rank=999), whole)


@pytest.mark.parametrize("gamma", [0.3, 5.0])
def test_scikit_learns_nystroem_is_the_same_on_its_own_landmarks(gamma):
    theirs = Nystroem("rbf", gamma=gamma, n_components=30, random_state=0).fit(POINTS)
    features = theirs.transform(POINTS)
    ours = nystrom(parse_kernel(f"gaussian(gamma={gamma})").gram(POINTS), theirs.component_indices_)
    np.testing.assert_allclose(ours.dense(), features @ features.T, atol=1e-6)  # they keep eigenvalues down to 1e-12


@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.integers(1, 5))
def test_what_is_left_over_is_positive_and_falls_with_more_landmarks(seed, first, more):
    """K − K̃ is a Schur complement: positive semi-definite, and monotone in the landmarks."""
    rng = np.random.default_rng(seed)
    gram = parse_kernel("gaussian(1)").gram(rng.standard_normal((25, 3)))
    order = rng.permutation(25)
    few, many = (nystrom(gram, order[:count]) for count in (first, first + more))
    left = gram.dense() - few.dense(), gram.dense() - many.dense()
    assert np.linalg.eigvalsh(left[0]).min() > -1e-7
    assert np.trace(left[1]) <= np.trace(left[0]) + 1e-7


# -- the choice of landmarks


@choices
@pytest.mark.parametrize("kernel", ["gaussian(1)", "cosine", "spectrum(2)", "subsequence(2)"])
def test_the_order_of_the_documents_does_not_matter(choose, kernel):
    rng = np.random.default_rng(1)
    if kernel in ("gaussian(1)", "cosine"):
        documents = [tuple(row) for row in rng.random((60, 4))]
        collect = np.array
    else:
        documents = ["".join(rng.choice(list("abcd"), size=9)) for _ in range(60)]
        collect = list
    order = rng.permutation(60)
    shuffled = [documents[i] for i in order]
    first, again = (
        parse_kernel(f"{kernel}|nystrom(9, choose={choose})").gram(collect(rows)) for rows in (documents, shuffled)
    )
    assert {documents[i] for i in first.landmarks} == {shuffled[i] for i in again.landmarks}
    assert len(first.landmarks) == 9
    np.testing.assert_allclose(again.dense(), first.dense()[np.ix_(order, order)], atol=1e-9 * first.dense().max())


@choices
def test_layout_and_type_do_not_change_the_landmarks(choose):
    rows = np.float32(POINTS) * (POINTS < 0.7)
    found = {
        tuple(parse_kernel(f"linear|nystrom(2, choose={choose})").gram(x).landmarks)
        for x in (rows, rows.astype(float), sp.csr_array(rows), sp.csc_array(rows.astype(float)))
    }
    assert len(found) == 1


@choices
def test_the_seed_decides(choose):
    gram = parse_kernel("gaussian(0.3)").gram(POINTS)
    draws = [tuple(nystrom(gram, 20, choose=choose, random_state=seed).landmarks) for seed in (0, 0, 1, 2)]
    assert draws[0] == draws[1]
    assert len(set(draws)) == 3
    assert all(len(set(draw)) == 20 and sorted(draw) == list(draw) for draw in draws)


@choices
def test_tiles_and_budgets_change_nothing(choose):
    kernel = parse_kernel(f"gaussian(0.5)|nystrom(20, rank=9, choose={choose})")
    wanted = kernel.gram(POINTS)
    for tile in (1, 3000):
        with grampus.config(tile=tile, memory="1MB"):
            got = kernel.gram(POINTS)
        np.testing.assert_array_equal(got.landmarks, wanted.landmarks)
        same(got, wanted, 1e-11)


def test_kmeans_plus_plus_covers_far_groups():
    far = np.vstack([POINTS, POINTS[:2] + 100.0, POINTS[:2] - 100.0])
    for seed in range(10):
        chosen = far[nystrom(LinearGram(far), 3, choose="kmeans++", random_state=seed).landmarks]
        assert chosen.max() > 90
        assert chosen.min() < -90


def test_leverage_scores_are_exact_when_every_document_is_in_the_sample():
    gram = parse_kernel("gaussian(0.5)").gram(POINTS)
    K, ridge = gram.dense(), 0.7
    exact = np.diagonal(K @ np.linalg.inv(K + ridge * np.eye(200)))
    np.testing.assert_allclose(leverage_scores(gram, np.arange(200), ridge), exact, atol=1e-10)
    some = leverage_scores(gram, np.arange(0, 200, 2), ridge)  # half of them: right to a factor
    assert (exact / 2 < some).all()
    assert (some < 4 * exact).all()


def test_leverage_prefers_what_others_do_not_explain():
    rare = np.zeros((300, 12))
    rare[:, 0] = 1.0
    rare[290:] = 3.0 * np.eye(12)[2:]
    rare[:290, 1] = np.linspace(0, 0.01, 290)
    counts = {
        choose: np.mean(
            [(nystrom(LinearGram(rare), 12, choose=choose, random_state=s).landmarks >= 290).sum() for s in range(30)]
        )
        for choose in ("uniform", "leverage")
    }
    assert counts["uniform"] < 2
    assert counts["leverage"] > 5


# -- indefinite, and other stated rules


def test_negative_eigenvalues_are_dropped_and_said():
    rng = np.random.default_rng(2)
    A = rng.standard_normal((30, 30))
    gram = DenseGram(A + A.T)
    with pytest.warns(UserWarning, match=r"indefinite: \d+ of the 12 eigenvalues .* dropped"):
        low = nystrom(gram, 12)
    block = np.linalg.eigvalsh(gram.dense()[np.ix_(low.landmarks, low.landmarks)])
    np.testing.assert_allclose(low.negative, block[block < 0])
    assert low.rows.shape[1] == (block > 0).sum()
    check_gram(low, naive.nystrom(naive.Twin(gram.dense(), gram.dense()[:2], np.ones(2)), low.landmarks).K)
    for choose in CHOICES:
        with pytest.warns(UserWarning, match="indefinite"):
            nystrom(gram, 12, choose=choose)


def test_a_positive_gram_drops_nothing():
    assert len(nystrom(parse_kernel("gaussian(0.2)").gram(POINTS), 50).negative) == 0
    assert len(nystrom(LinearGram(np.float32(POINTS)), 50).negative) == 0


@pytest.mark.parametrize("kernel", ["cosine|shift|nystrom(5)", "cosine|shift(0.3)|nystrom", "linear|map|shift|nystrom"])
def test_nystrom_does_not_follow_a_shift(kernel):
    with pytest.raises(InputError, match="nystrom must come before shift"):
        parse_kernel(kernel).gram(POINTS)


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ({"landmarks": 0}, "landmarks must be at least 1"),
        ({"landmarks": 2.5}, "landmarks must be a whole number"),
        ({"landmarks": []}, "at least one document"),
        ({"landmarks": None}, "at least one document"),
        ({"landmarks": [0, 200]}, "between 0 and 199"),
        ({"rank": 0}, "rank must be at least 1"),
        ({"choose": "best"}, "choose must be one of 'uniform', 'kmeans\\+\\+', 'leverage'"),
        ({"choose": None}, "choose must be one of"),
        ({"random_state": "x"}, "random_state"),
    ],
)
def test_bad_arguments(arguments, word):
    with pytest.raises(InputError, match=word):
        nystrom(LinearGram(POINTS), **arguments)


def test_only_grams_and_finite_similarities():
    with pytest.raises(InputError, match="gram must be a Gram"):
        nystrom(POINTS)
    bad = FunctionGram(lambda a, b: np.full((len(a), len(b)), np.inf), POINTS, lambda a: np.ones(len(a)))
    for choose in CHOICES:
        with pytest.raises(InputError, match="must be finite"):
            nystrom(bad, 3, choose=choose)


def test_features_beyond_the_budget_are_refused_with_the_way_out():
    gram = parse_kernel("gaussian(0.1)").gram(np.random.default_rng(0).random((3000, 2)))
    with grampus.config(memory="1MB"), pytest.raises(MemoryBudgetError, match="fewer landmarks or a smaller rank"):
        nystrom(gram, 100)
    with grampus.config(memory="1MB"):  # a small rank is a way out: all 100 features are never stored
        assert nystrom(gram, 100, rank=5).rows.shape == (3000, 5)
    with grampus.config(memory="40MB"), pytest.raises(MemoryBudgetError, match="1500 × 1500 eigenvectors of nystrom"):
        nystrom(gram, 1500)


# -- how much is read


@dataclass(frozen=True)
class Counted(Kernel):
    """A Gaussian kernel that counts the similarities it is asked for."""

    name: ClassVar[str] = "counted"
    read: ClassVar[list[int]] = []

    def _cross(self, new, fitted):
        Counted.read.append(len(new) * len(fitted))
        return np.exp(-((new[:, None] - fitted[None]) ** 2).sum(axis=2))

    def _diagonal(self, new):
        return np.ones(len(new))


def reads(work):
    Counted.read.clear()
    result = work()
    return sum(Counted.read), result


@pytest.mark.parametrize(("choose", "passes"), [("uniform", 1), ("kmeans++", 2), ("leverage", 2)])
@pytest.mark.parametrize("tail", ["", "|shift", "|normalise|shift"])
def test_fitting_reads_n_times_landmarks(choose, passes, tail):
    x, _ = blobs(1000)
    kernel = Counted() | parse_kernel(f"linear|nystrom(20, choose={choose})").transforms[0]
    for transform in parse_kernel(f"linear{tail}").transforms:
        kernel = kernel | transform
    count, _ = reads(lambda: kernel.gram(x))
    assert count <= passes * 1000 * 20 + 3 * 20 * 20


@pytest.mark.parametrize("estimator", [KernelKMeans, PDDP, BisectingKernelKMeans, SpectralKMeans, KernelPCAKMeans])
@pytest.mark.parametrize("tail", ["", "|shift", "|normalise|shift"])
def test_new_documents_meet_the_landmarks_only(estimator, tail):
    x, _ = blobs(1000)
    kernel = Counted()
    for transform in parse_kernel(f"linear|nystrom(20){tail}").transforms:
        kernel = kernel | transform
    model = made(estimator, kernel).fit(x)
    count, _ = reads(lambda: model.predict(x[:50]))
    assert count == 50 * 20


@pytest.mark.parametrize("kernel", ["selftuning", "gaussian(2)|centre", "gaussian(2)|map"])
def test_what_needs_all_documents_is_compared_with_all(kernel):
    x, _ = blobs(120)
    new = blobs(7, seed=1)[0]
    gram = parse_kernel(f"{kernel}|nystrom(400)").gram(x)
    exact = parse_kernel(kernel)
    assert gram.widths == (120,)
    cross, own = parse_kernel(f"{kernel}|nystrom(400)").extend(new, gram)
    wanted, _ = exact.extend(new, exact.gram(x))
    np.testing.assert_allclose(cross, wanted, atol=1e-6)
    assert own.shape == (7,)


# -- new documents


@pytest.mark.parametrize("tail", ["", "|normalise", "|normalise|shift", "|shift(0.1)", "|centre", "|map"])
@pytest.mark.parametrize("estimator", [KernelKMeans, PDDP])
def test_predictions_are_those_of_the_same_gram_given_as_a_matrix(estimator, tail):
    x, _ = blobs()
    new, _ = blobs(60, seed=1)
    kernel = parse_kernel(f"gaussian(3)|nystrom(30){tail}")
    model = made(estimator, kernel).fit(x)
    cross, own = kernel.extend(new, kernel.gram(x))
    matrix = (kernel.gram(x).split_shift()[0] if estimator is PDDP else kernel.gram(x)).dense()  # trees need no shift
    dense = made(estimator, "precomputed").fit(matrix)
    if estimator is KernelKMeans:  # precomputed documents are drawn by place: start both from the same labels
        starts = dense.labels_
        model, dense = (
            KernelKMeans(4, kernel=k, init=starts, n_init=1).fit(data)
            for k, data in ((kernel, x), ("precomputed", matrix))
        )
    np.testing.assert_array_equal(model.labels_, dense.labels_)
    agreement = (model.predict(new) == dense.predict((cross, own))).mean()
    assert agreement == 1.0


def test_precomputed_similarities_need_no_self_similarities():
    x, labels = blobs()
    K = parse_kernel("gaussian(3)").gram(x).dense()
    model = KernelKMeans(4, kernel="precomputed|nystrom(40)", random_state=0).fit(K)
    assert nmi(labels, model.labels_) > 0.8
    np.testing.assert_array_equal(model.predict(K[:30]), model.labels_[:30])
    assert model.transform(K[:30]).shape == (30, 4)
    low = model.gram_
    np.testing.assert_allclose(low.extend(K)[0], low.dense(), atol=1e-9)
    np.testing.assert_allclose(low.extend(K[:, low.landmarks])[0], low.dense(), atol=1e-9)


def test_a_part_keeps_the_landmarks():
    kernel = parse_kernel("gaussian(1)|nystrom(10)")
    gram = kernel.gram(POINTS)
    part = gram.take(np.arange(50, 70))
    assert isinstance(part, NystromGram)
    np.testing.assert_array_equal(part.landmarks, gram.landmarks)
    np.testing.assert_allclose(kernel.extend(POINTS[:5], part)[0], kernel.extend(POINTS[:5], gram)[0][:, 50:70])
    with pytest.raises(InputError, match=r"\(new documents, 10\); got \(5, 20\)"):
        part.extend(np.ones((5, 20)))
    with pytest.raises(InputError, match=r"\(new documents, 200\) or \(new documents, 10\); got"):
        gram.extend(np.ones((5, 20)))


def test_a_low_rank_gram_of_a_low_rank_gram():
    kernel = parse_kernel("gaussian(1)|nystrom(30)|normalise|nystrom(8)|shift")
    gram = kernel.gram(POINTS)
    inner = parse_kernel("gaussian(1)|nystrom(30)").gram(POINTS)
    outer = nystrom(normalise(inner), gram.source.landmarks)
    np.testing.assert_allclose(gram.split_shift()[0].dense(), outer.dense(), atol=1e-12)
    plain = parse_kernel("gaussian(1)")
    cross, own = plain.extend(POINTS[:5] + 0.1, plain.gram(POINTS))
    np.testing.assert_allclose(kernel.extend(POINTS[:5] + 0.1, gram)[0], outer.extend(cross, own)[0], atol=1e-9)


# -- clustering


def test_clusters_of_blobs():
    x, labels = blobs(2000)
    exact = [nmi(labels, made(kind, "gaussian(3)").fit(x).labels_) for kind in (KernelKMeans, SpectralKMeans, PDDP)]
    for choose in CHOICES:
        kernel = f"gaussian(3)|nystrom(60, choose={choose})"
        low, tree = (made(kind, kernel).fit(x).labels_ for kind in (KernelKMeans, PDDP))
        cut = SpectralKMeans(4, kernel=kernel, loops=True, random_state=0).fit(x)
        np.testing.assert_allclose(cut.transform(x[:50]), cut.embedding_[:50], atol=1e-6)  # as for new documents
        assert nmi(labels, low) > exact[0] - 0.02
        assert nmi(labels, cut.labels_) > exact[1] - 0.02
        assert nmi(labels, tree) > exact[2] - 0.05


def test_shuffled_rows_cluster_alike():
    x, _ = blobs(300)
    order = np.random.default_rng(5).permutation(300)
    model = KernelKMeans(4, kernel="gaussian(3)|nystrom(20)|shift", n_init=3, random_state=0)
    np.testing.assert_array_equal(model.fit(x).labels_[order], model.fit(x[order]).labels_)


def test_strings():
    texts = ["abcabcabd", "abcabdabc", "xyzxyzxyy", "xyxyzxyzz", "abdabcabc", "xyzzxyzxy", ""] * 2
    model = KernelKMeans(2, kernel="spectrum(2)|normalise|nystrom(5)", random_state=0).fit(texts)
    assert model.labels_[0] == model.labels_[1] != model.labels_[2]
    np.testing.assert_array_equal(model.predict(texts[:6]), model.labels_[:6])


def test_kernel_k_means_on_features_is_that_on_the_matrix():
    x, _ = blobs(300)
    low = nystrom(parse_kernel("gaussian(3)").gram(x), 25)
    starts = np.random.default_rng(0).integers(0, 4, (5, 300))
    given = (
        kernel_kmeans(low, 4, init=starts, n_init=5),
        kernel_kmeans(DenseGram(low.dense()), 4, init=starts, n_init=5),
    )
    np.testing.assert_array_equal(given[0].runs.labels, given[1].runs.labels)


# -- the error


def test_the_error_is_estimated_within_its_standard_error():
    x, _ = blobs(1500)
    gram = parse_kernel("gaussian(2)").gram(x)
    low = nystrom(gram, 40)
    exact = np.linalg.norm(gram.dense() - low.dense()) / np.linalg.norm(gram.dense())
    found = [relative_error(gram, low, size=64, random_state=seed) for seed in range(40)]
    off = np.array([(estimate.value - exact) / estimate.standard_error for estimate in found])
    assert abs(off.mean()) < 0.8
    assert 0.5 < off.std() < 1.6
    assert (np.abs(off) < 4).all()
    assert relative_error(gram, low, random_state=3) == relative_error(gram, low, random_state=3)


def test_small_collections_are_compared_whole():
    gram = parse_kernel("gaussian(0.5)").gram(POINTS)
    low = centre(nystrom(gram, 10))
    found = relative_error(gram, low)
    assert found.value == pytest.approx(np.linalg.norm(gram.dense() - low.dense()) / np.linalg.norm(gram.dense()))
    assert found.standard_error == 0.0
    one = LinearGram(np.ones((1, 1)))
    assert relative_error(one, LinearGram(np.ones((1, 2)))).value == 1.0
    assert relative_error(DenseGram(np.zeros((3, 3))), DenseGram(np.eye(3))).value == np.inf
    with pytest.raises(InputError, match="the 200 documents of gram; got 3"):
        relative_error(gram, DenseGram(np.eye(3)))


def test_an_estimate_is_the_same_each_time():
    gram = LinearGram(np.random.default_rng(0).normal(size=(80, 9)))
    found = [relative_error(gram, nystrom(gram, 4), blocks=3, size=20, **seed) for seed in ({}, {"random_state": 0})]
    assert found[0] == found[1]
    assert found[0] != relative_error(gram, nystrom(gram, 4), blocks=3, size=20, random_state=1)
