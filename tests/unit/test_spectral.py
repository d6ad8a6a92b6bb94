"""Spectral clustering and kernel-PCA k-means: rules at the edges, new documents, the estimators' manners."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from scipy import linalg
from sklearn.cluster import SpectralClustering
from sklearn.decomposition import KernelPCA
from sklearn.utils.estimator_checks import parametrize_with_checks

import grampus
from grampus import KernelPCAKMeans, SpectralKMeans
from grampus.cluster import embedding_2d, kernel_embedding, kernel_pca_kmeans, pddp, spectral_embedding, spectral_kmeans
from grampus.errors import InputError
from grampus.gram import (
    DenseGram,
    FunctionGram,
    LinearGram,
    SparseGram,
    centre,
    eigenvalues,
    neighbour_graph,
    normalise,
    nystrom,
    relative_error,
    shift,
)
from grampus.kernels import parse_kernel
from grampus.metrics import ari
from tests import memory
from tests.estimators import expected_failures
from tests.reference import naive_spectral

LAPLACIANS = ["random-walk", "symmetric", "unnormalised"]


def topics(n=240, m=90, groups=3, seed=0, noise=0.05):
    """Sparse counts in groups of terms, and the groups."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, groups, n)
    rate = noise + 1.2 * (np.arange(m) // (m // groups) == group[:, None])
    return sp.csr_array(rng.poisson(rate).astype(float)), group


X, GROUP = topics()
K = parse_kernel("cosine").gram(X).dense()


def same_partition(a, b):
    return len(set(zip(a.tolist(), b.tolist(), strict=True))) == len(np.unique(a)) == len(np.unique(b))


# -- against the textbook and scikit-learn ---------------------------------------------------------------------------


@pytest.mark.parametrize("loops", [False, True])
@pytest.mark.parametrize("laplacian", LAPLACIANS)
@pytest.mark.parametrize("neighbours", [None, 40])
def test_the_embedding_is_the_textbooks(laplacian, loops, neighbours):
    some = K[:100, :100]
    found = spectral_embedding(DenseGram(some), 4, laplacian=laplacian, loops=loops, n_neighbors=neighbours)
    values, coordinates = naive_spectral.embedding(some, 4, laplacian, loops=loops, neighbours=neighbours)
    np.testing.assert_allclose(found.eigenvalues, values, atol=1e-9)
    np.testing.assert_allclose(np.abs(found.coordinates), np.abs(coordinates), atol=1e-7)


@pytest.mark.parametrize("laplacian", LAPLACIANS)
def test_matrix_free_stored_and_sparse_graphs_agree(laplacian):
    x, _ = topics(900, 120, 4, seed=3)
    gram = parse_kernel("cosine").gram(x)
    free = spectral_embedding(gram, 4, laplacian=laplacian)
    stored = spectral_embedding(DenseGram(gram.dense()), 4, laplacian=laplacian)
    held = spectral_embedding(SparseGram(sp.csr_array(gram.dense())), 4, laplacian=laplacian)
    assert free.method == stored.method == "lanczos"
    values, _ = naive_spectral.embedding(gram.dense(), 4, laplacian)
    for other in (free, stored, held):
        np.testing.assert_allclose(other.eigenvalues, values, atol=1e-8 * max(1.0, free.degrees.max()))
        np.testing.assert_allclose(other.coordinates, free.coordinates, atol=1e-7)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("laplacian", ["random-walk", "symmetric"])
def test_labels_are_scikit_learns_on_separated_sets(laplacian, seed):
    x, group = topics(150, 60, 3, seed=seed, noise=0.03)
    similar = parse_kernel("cosine").gram(x).dense()
    np.fill_diagonal(similar, 1.0)
    theirs = SpectralClustering(3, affinity="precomputed", random_state=seed).fit(similar).labels_
    ours = SpectralKMeans(3, kernel="precomputed", laplacian=laplacian, random_state=seed).fit(similar).labels_
    assert same_partition(ours, theirs)
    assert same_partition(ours, group)


@pytest.mark.parametrize("kernel", ["linear", "cosine", "gaussian(3)", "polynomial(2)"])
def test_centred_components_are_scikit_learns(kernel):
    gram = parse_kernel(kernel).gram(X)
    theirs = KernelPCA(4, kernel="precomputed").fit_transform(gram.dense())
    ours = kernel_embedding(centre(gram), 4).coordinates
    np.testing.assert_allclose(np.abs(ours), np.abs(theirs), atol=1e-7 * np.abs(theirs).max())


def test_kernel_pca_k_means_follows_the_paper():
    """Rows (√λ₁v₁, …, √λ_{k−1}v_{k−1}) of the uncentred K^t (`normalised`, §4.1)."""
    model = KernelPCAKMeans(3, random_state=0).fit(X)
    values, vectors = np.linalg.eigh(parse_kernel("linear|normalise(1)").gram(X).dense())
    wanted = vectors[:, [-1, -2]] * np.sqrt(values[[-1, -2]])
    np.testing.assert_allclose(np.abs(model.embedding_), np.abs(wanted), atol=1e-9)
    assert model.embedding_.shape == (240, 2)
    assert same_partition(model.labels_, GROUP)
    assert KernelPCAKMeans(1, random_state=0).fit(X).embedding_.shape == (240, 1)
    assert KernelPCAKMeans(3, n_components=7, random_state=0).fit(X).embedding_.shape == (240, 7)


# -- new documents ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["cosine", "linear", "gaussian(3)", "cosine|power(0.6)"])
@pytest.mark.parametrize("laplacian", LAPLACIANS)
def test_fitted_documents_keep_their_coordinates_when_self_similarity_is_in_the_graph(laplacian, kernel):
    model = SpectralKMeans(3, kernel=kernel, laplacian=laplacian, loops=True, random_state=0).fit(X)
    np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-8)
    assert np.array_equal(model.predict(X), model.labels_)


@pytest.mark.parametrize("laplacian", LAPLACIANS)
def test_fitted_documents_keep_their_coordinates_when_self_similarity_is_given_as_0(laplacian):
    hollow = K.copy()
    np.fill_diagonal(hollow, 0.0)
    model = SpectralKMeans(3, kernel="precomputed", laplacian=laplacian, random_state=0).fit(hollow)
    np.testing.assert_allclose(model.transform(hollow), model.embedding_, atol=1e-8)


@pytest.mark.parametrize("options", [{}, {"centre": True}, {"n_components": 5}])
@pytest.mark.parametrize(
    "kernel", ["linear", "cosine", "gaussian(3)", "linear|normalise(1)", "polynomial(2)|normalise(inf)"]
)
def test_fitted_documents_keep_their_components(kernel, options):
    model = KernelPCAKMeans(3, kernel=kernel, random_state=0, **options).fit(X)
    np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-8 * np.abs(model.embedding_).max())
    assert np.array_equal(model.predict(X), model.labels_)


@pytest.mark.parametrize("estimator", [SpectralKMeans(3, random_state=0), KernelPCAKMeans(3, random_state=0)])
def test_new_documents_join_their_group(estimator):
    fresh, group = topics(60, seed=1)
    estimator.fit(X)
    labels = np.concatenate([estimator.labels_, estimator.predict(fresh)])
    assert ari(np.concatenate([GROUP, group]), labels) > 0.95


def test_new_documents_through_features_and_through_blocks_are_the_same():
    fresh, _ = topics(40, seed=1)
    model = SpectralKMeans(3, random_state=0).fit(X)
    blocks = SpectralKMeans(3, kernel="precomputed", random_state=0).fit(K)
    cross = parse_kernel("cosine").cross(fresh, X)
    np.testing.assert_allclose(model.transform(fresh), blocks.transform(cross), atol=1e-8)


def test_new_documents_link_to_their_nearest_only():
    model = SpectralKMeans(3, kernel="precomputed", n_neighbors=5, random_state=0).fit(K)
    fresh, _ = topics(10, seed=2)
    cross = parse_kernel("cosine").cross(fresh, X)
    kept = np.where(cross >= np.sort(cross, axis=1)[:, [-5]], cross, 0.0)
    assert (np.count_nonzero(kept, axis=1) == 5).all()
    wide = kept @ model.embedding_ / kept.sum(axis=1, keepdims=True) / (1.0 - model.eigenvalues_)
    np.testing.assert_allclose(model.transform(cross), wide, atol=1e-9)


def test_new_documents_may_be_unlike_even_if_no_fitted_ones_were():
    model = SpectralKMeans(3, kernel="linear", random_state=0).fit(X)
    fresh = np.random.default_rng(0).standard_normal((20, X.shape[1]))
    links = np.maximum(fresh @ X.T, 0.0)
    wanted = links @ model.embedding_ / links.sum(axis=1, keepdims=True) / (1.0 - model.eigenvalues_)
    np.testing.assert_allclose(model.transform(fresh), wanted, atol=1e-10)


def test_a_new_document_that_resembles_nothing_lies_at_0():
    model = SpectralKMeans(3, random_state=0).fit(X)
    empty = sp.csr_array((1, X.shape[1]))
    assert not model.transform(empty).any()
    assert model.predict(empty)[0] == np.square(model.cluster_centers_).sum(axis=1).argmin()


# -- the rules for graphs --------------------------------------------------------------------------------------------


def blocks_of(*sizes):
    return linalg.block_diag(*(np.ones((size, size)) for size in sizes))


@pytest.mark.parametrize("laplacian", LAPLACIANS)
def test_components_become_clusters(laplacian):
    matrix = blocks_of(5, 9, 7)
    result = spectral_kmeans(DenseGram(matrix), 3, laplacian=laplacian, random_state=0)
    assert same_partition(result.labels, np.repeat([0, 1, 2], [5, 9, 7]))
    assert result.embedding.n_components == 3
    assert result.embedding.method == "known"
    np.testing.assert_allclose(result.embedding.eigenvalues, 0.0, atol=1e-12)
    assert result.objective == pytest.approx(0.0, abs=1e-12)


def test_more_components_than_clusters_are_said():
    with pytest.warns(UserWarning, match=r"The graph has 3 components where at most 2 .*\(9, 7 documents\)"):
        result = spectral_kmeans(DenseGram(blocks_of(5, 9, 7)), 2, random_state=0)
    assert not result.embedding.coordinates[:5].any()
    assert result.labels[5] != result.labels[14]
    assert np.array_equal(np.bincount(result.embedding.components), [9, 7, 5])


@pytest.mark.parametrize("make", [DenseGram, lambda m: SparseGram(sp.csr_array(m))], ids=["dense", "sparse"])
@pytest.mark.parametrize("laplacian", LAPLACIANS)
def test_documents_without_links_have_no_say(laplacian, make):
    matrix = np.zeros((242, 242))
    matrix[:240, :240] = K
    matrix[240, 240] = 1.0  # resembles itself alone; document 241 is empty
    found = spectral_kmeans(make(matrix), 3, laplacian=laplacian, random_state=0)
    alone = spectral_kmeans(make(K), 3, laplacian=laplacian, random_state=0)
    assert found.embedding.isolated.tolist() == [240, 241]
    assert found.embedding.n_components == alone.embedding.n_components  # they are none
    assert not found.embedding.coordinates[240:].any()
    assert same_partition(found.labels[:240], alone.labels)
    assert found.labels[240] == found.labels[241] == found.assign(np.zeros((1, 3)))[0]


def test_negative_similarities_are_no_links_and_said():
    rng = np.random.default_rng(0)
    dense = rng.standard_normal((50, 4)) + np.repeat([[3.0], [-3.0]], 25, axis=0)
    similar = parse_kernel("cosine").gram(dense).dense()
    with pytest.warns(UserWarning, match=r"\d+\.\d% of the similarities are negative; they count as 0"):
        model = SpectralKMeans(2, random_state=0).fit(dense)
    clipped = SpectralKMeans(2, kernel="precomputed", random_state=0).fit(np.maximum(similar, 0.0))
    np.testing.assert_allclose(model.embedding_, clipped.embedding_, atol=1e-10)
    assert model.result_.embedding.negative == pytest.approx((similar < 0).mean())
    np.testing.assert_allclose(model.transform(dense[:5]), clipped.transform(np.maximum(similar[:5], 0.0)), atol=1e-8)
    graph = SparseGram(sp.csr_array(similar))
    with pytest.warns(UserWarning, match="negative"):
        held = spectral_embedding(graph, 2)
    np.testing.assert_allclose(held.coordinates, clipped.embedding_, atol=1e-8)


def signed_points():
    """Two groups of documents, and three whose similarities to both are negative."""
    points = np.random.default_rng(0).random((43, 3))
    points[:20, 0] += 2.0
    points[20:40, 1] += 2.0
    points[40:] -= 1.5
    return points


@pytest.mark.parametrize("laplacian", ["random-walk", "unnormalised"])
def test_documents_that_low_rank_leaves_with_negative_degrees_have_no_links(laplacian):
    model = SpectralKMeans(3, kernel="linear|nystrom(8)", laplacian=laplacian, loops=True, random_state=0)
    with pytest.warns(
        UserWarning, match="The links of 3 documents sum to less than 0; they count as linked to nothing"
    ):
        model.fit(signed_points())
    found = model.result_.embedding
    linked = found.degrees > 0
    assert found.isolated.tolist() == [40, 41, 42]
    assert not found.coordinates[~linked].any()
    similar, points = model.gram_.dense()[np.ix_(linked, linked)], found.coordinates[linked]
    np.testing.assert_allclose(similar.sum(axis=1), found.degrees[linked])
    laplace = np.diag(found.degrees[linked]) - similar
    right = points * found.degrees[linked, None] if laplacian == "random-walk" else points
    np.testing.assert_allclose(laplace @ points, right * found.eigenvalues, atol=1e-9 * np.abs(laplace).max())
    if laplacian == "random-walk":
        np.testing.assert_allclose(model.transform(signed_points())[linked], points, atol=1e-10)


def test_negative_self_similarities_as_loops_count_as_0():
    matrix = np.array([[-5.0, 1.0, 1.0, 0.0], [1.0, 2.0, 1.0, 0.0], [1.0, 1.0, 2.0, 1.0], [0.0, 0.0, 1.0, 2.0]])
    for neighbours in (None, 3):
        found = spectral_embedding(DenseGram(matrix), 2, loops=True, n_neighbors=neighbours)
        plain = spectral_embedding(DenseGram(np.maximum(matrix, 0.0)), 2, loops=True, n_neighbors=neighbours)
        np.testing.assert_allclose(found.coordinates, plain.coordinates, atol=1e-12)
    lowered = shift(LinearGram(np.array([[3.0, 0.1], [1.0, 0.1], [1.0, 1.0], [0.5, 1.0], [0.2, 0.1]])), -4.0)
    with pytest.warns(UserWarning, match="The links of 1 documents sum to less than 0"):
        found = spectral_embedding(lowered, 2, loops=True)
    assert found.isolated.tolist() == [4]
    np.testing.assert_allclose(
        found.coordinates[:4], spectral_embedding(lowered.take(range(4)), 2, loops=True).coordinates
    )


def test_copies_are_told_apart_by_eigenvalues_above_1_only():
    copies = np.repeat(np.array([[4.0, 1.0, 0.0], [0.0, 4.0, 1.0], [1.0, 0.0, 4.0]]), 4, axis=0)
    assert same_partition(SpectralKMeans(3, random_state=0).fit(copies).labels_, np.repeat([0, 1, 2], 4))
    values = spectral_embedding(normalise(LinearGram(copies)), 5).eigenvalues
    assert values[2] < 1 < values[3]


@pytest.mark.parametrize("loops", [False, True])
@pytest.mark.parametrize("laplacian", LAPLACIANS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_copies_of_unrelated_documents_are_never_put_together(laplacian, loops, dtype):
    four = np.array([[3.0, 1, 0], [0, 1, 3], [1, 3, 1], [1, 0, 4]])  # in three columns: three eigenvectors to tell by
    for distinct in (np.eye(3), four):
        rng = np.random.default_rng(len(distinct))
        group = rng.permutation(np.repeat(np.arange(len(distinct)), 10))
        copies = distinct[group].astype(dtype)
        model = SpectralKMeans(4, laplacian=laplacian, loops=loops, random_state=0)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            model.fit(copies)
        assert same_partition(model.labels_, group)
        assert [str(one.message)[:20] for one in said] == ["Only 3 of 4 clusters"] * (4 - len(distinct))
        assert model.embedding_.shape == (len(group), 4)
        assert not model.embedding_[:, 3].any()
        if dtype == np.float64 and loops:
            np.testing.assert_allclose(model.transform(copies), model.embedding_, atol=1e-8)


def test_eigenvalues_above_1_that_tell_documents_apart_are_kept():
    three = np.array([[3.0, 1.0, 0.0], [3.0, 1.2, 0.0], [0.1, 0.0, 4.0]])  # no three documents have λ₂ < 1
    model = SpectralKMeans(2, random_state=0).fit(three)
    assert model.eigenvalues_[1] > 1
    assert same_partition(model.labels_, np.array([0, 0, 1]))
    rows = np.random.default_rng(0).normal(size=(40, 2)) + np.repeat([[0.0, 0.0], [9.0, 0.0]], 20, axis=0)
    wide = SpectralKMeans(2, kernel="gaussian(3000)", random_state=0).fit(rows)
    assert wide.eigenvalues_[1] > 1
    assert same_partition(wide.labels_, np.repeat([0, 1], 20))


@pytest.mark.filterwarnings("ignore:The links of .* documents")
def test_a_graph_of_mostly_negative_links_is_refused():
    points = np.random.default_rng(0).standard_normal((60, 5))
    points[:30, 0] += 3.0
    with pytest.raises(InputError, match=r"Laplacian has a negative eigenvalue.* more landmarks, n_neighbors="):
        spectral_embedding(nystrom(LinearGram(points), 8), 2, loops=True)
    with pytest.raises(InputError, match="negative ones outweigh the others"):
        spectral_embedding(nystrom(centre(LinearGram(points)), 8), 2)


def test_a_large_signed_matrix_asks_for_neighbours():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((1200, 5))
    with grampus.config(memory="20MB"):
        with pytest.raises(InputError, match=r"similarities are negative, and the 1200 × 1200 .*n_neighbors"):
            SpectralKMeans(3).fit(x)
        SpectralKMeans(3, n_neighbors=10, random_state=0, n_init=1).fit(x)


def test_a_shift_changes_nothing_without_loops():
    plain = SpectralKMeans(3, kernel="cosine", random_state=0).fit(X)
    shifted = SpectralKMeans(3, kernel="cosine|shift", random_state=0).fit(X)
    np.testing.assert_allclose(plain.embedding_, shifted.embedding_, atol=1e-12)


def test_neighbours_follow_the_rule():
    wanted = naive_spectral.neighbour_graph(K, 6)
    for gram in (DenseGram(K), parse_kernel("cosine").gram(X), FunctionGram(lambda a, b: a @ b.T, *unit_rows())):
        np.testing.assert_allclose(neighbour_graph(gram, 6).dense(), wanted, atol=1e-12)
    tied = np.ones((5, 5))
    assert np.array_equal(neighbour_graph(DenseGram(tied), 1).dense(), naive_spectral.neighbour_graph(tied, 1))
    expected = neighbour_graph(DenseGram(K), 6).dense()
    with grampus.config(tile=1000, threads=3):
        np.testing.assert_array_equal(neighbour_graph(DenseGram(K), 6).dense(), expected)
    with pytest.raises(InputError, match=r"n_neighbors must be between 1 and 239 \(the other documents\); got 240"):
        neighbour_graph(DenseGram(K), 240)


def unit_rows():
    rows = X.toarray()
    rows = rows / np.linalg.norm(rows, axis=1)[:, None]
    return rows, lambda a: np.square(a).sum(axis=1)


# -- bad input -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_clusters": 240}, r"n_clusters must be between 1 and 239 \(fewer than the 240 sample\(s\)\); got 240"),
        ({"n_clusters": 500}, "n_clusters must be between 1 and 239"),
        ({"n_clusters": 0}, "n_clusters must be between 1 and 239"),
        ({"n_clusters": 2.5}, "n_clusters must be a whole number"),
        ({"laplacian": "normalised"}, "laplacian must be one of 'random-walk', 'symmetric', 'unnormalised'"),
        ({"n_neighbors": 0}, "n_neighbors must be between 1 and 239"),
        ({"loops": 1}, "loops must be True or False"),
        ({"n_init": 0}, "n_init must be at least 1"),
        ({"random_state": "x"}, "random_state"),
    ],
)
def test_bad_parameters_of_spectral(arguments, message):
    given = {"n_clusters": 3, **arguments}
    with pytest.raises(InputError, match=message):
        spectral_kmeans(DenseGram(K), given.pop("n_clusters"), **given)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_clusters": 240}, "n_clusters must be between 1 and 239"),
        ({"n_components": 0}, "n_components must be between 1 and 240"),
        ({"n_components": 241}, "n_components must be between 1 and 240"),
        ({"max_iter": 0}, "max_iter must be at least 1"),
    ],
)
def test_bad_parameters_of_kernel_pca(arguments, message):
    given = {"n_clusters": 3, **arguments}
    with pytest.raises(InputError, match=message):
        kernel_pca_kmeans(DenseGram(K), given.pop("n_clusters"), **given)
    with pytest.raises(InputError, match="centre must be True or False"):
        KernelPCAKMeans(3, centre="yes").fit(X)


@pytest.mark.parametrize("function", [spectral_kmeans, kernel_pca_kmeans, neighbour_graph, eigenvalues, relative_error])
def test_a_matrix_is_not_a_gram(function):
    with pytest.raises(InputError, match="gram must be a Gram; got ndarray"):
        function(K, 3)


@pytest.mark.parametrize(
    "estimator", [SpectralKMeans(2, kernel="precomputed"), KernelPCAKMeans(2, kernel="precomputed")]
)
def test_bad_matrices(estimator):
    lopsided = K.copy()
    lopsided[0, 1] += 0.5
    with pytest.raises(InputError, match="must be symmetric; entry"):
        estimator.fit(lopsided)
    with pytest.raises(InputError, match="must be square"):
        estimator.fit(K[:, :100])
    broken = K.copy()
    broken[3, 3] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        estimator.fit(broken)
    with pytest.raises(InputError, match=r"No two documents resemble|no positive eigenvalue"):
        estimator.fit(np.zeros((9, 9)))


@pytest.mark.parametrize("estimator", [SpectralKMeans, KernelPCAKMeans])
def test_one_document_is_too_few(estimator):
    with pytest.raises(InputError, match=r"at least two documents .* got 1 sample"):
        estimator(1).fit(np.ones((1, 2)))
    with pytest.raises(InputError, match=r"between 1 and 1 .fewer than the 2 sample"):
        estimator(2).fit(np.ones((2, 2)))


def test_similarities_that_turn_out_to_be_nan_are_refused():
    odd = FunctionGram(lambda a, b: np.full((len(a), len(b)), np.nan), np.ones((20, 1)), lambda a: np.ones(len(a)))
    for function in (spectral_kmeans, kernel_pca_kmeans):
        with pytest.raises(InputError, match="must be finite"):
            function(odd, 2)
    with pytest.raises(InputError, match="must be finite"):
        spectral_kmeans(odd, 2, n_neighbors=3)


def test_identity_matrices_have_nothing_to_cut():
    with pytest.raises(InputError, match="No two documents resemble each other"):
        SpectralKMeans(2, kernel="precomputed").fit(np.eye(6))
    lonely = np.eye(6)
    lonely[0, 1] = lonely[1, 0] = 0.5
    with pytest.raises(InputError, match="at most 2, the number of documents that resemble another; got 3"):
        SpectralKMeans(3, kernel="precomputed").fit(lonely)


def test_negative_eigenvalues_are_dropped_and_said():
    indefinite = np.array([[0.0, 3.0, 0.0], [3.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    with pytest.warns(UserWarning, match="1 of 3 eigenvalues are negative"):
        model = KernelPCAKMeans(2, kernel="precomputed", n_components=3, random_state=0).fit(indefinite)
    np.testing.assert_allclose(model.eigenvalues_, [3.0, 1.0])
    np.testing.assert_allclose(model.dropped_, [-3.0])
    assert model.embedding_.shape == (3, 2)
    flat = KernelPCAKMeans(2, kernel="linear", n_components=4, random_state=0).fit(np.eye(6)[:, :2] + 1.0)
    assert len(flat.dropped_) == 2  # rank 2: nothing is lost, so nothing is said


def test_what_centring_leaves_of_equal_documents_is_no_component():
    equal = np.full((6, 3), 0.1) * [1.0, 3.0, 7.0]
    assert np.abs(centre(LinearGram(equal)).dense()).max() > 0  # rounding
    with pytest.raises(InputError, match=r"no positive eigenvalue.*centred: not all equal"):
        KernelPCAKMeans(2, kernel="linear", centre=True).fit(equal)


# -- pictures, determinism, memory, manners --------------------------------------------------------------------------


def test_pictures_come_from_the_same_eigenvectors():
    spectral = SpectralKMeans(3, random_state=0).fit(X)
    np.testing.assert_array_equal(embedding_2d(spectral), spectral.embedding_[:, 1:])
    two = SpectralKMeans(2, random_state=0).fit(X)
    np.testing.assert_allclose(embedding_2d(two.result_), embedding_2d(spectral), atol=1e-9)
    components = KernelPCAKMeans(3, random_state=0).fit(X)
    np.testing.assert_array_equal(embedding_2d(components), components.embedding_)
    gram = parse_kernel("cosine").gram(X)
    np.testing.assert_array_equal(embedding_2d(gram), kernel_embedding(centre(gram), 2).coordinates)
    assert embedding_2d(LinearGram(np.array([[1.0], [2.0], [4.0]])))[:, 1].tolist() == [0.0, 0.0, 0.0]
    for equal in (np.ones((1, 2)), np.full((6, 3), 0.1)):  # all at one place
        assert np.array_equal(embedding_2d(LinearGram(equal)), np.zeros((len(equal), 2)))
    for _ in range(3):
        np.testing.assert_array_equal(embedding_2d(gram), embedding_2d(parse_kernel("cosine").gram(X.copy())))
    with pytest.raises(InputError, match="embedding_2d needs a Gram, an embedding"):
        embedding_2d(pddp(gram, 3))


@pytest.mark.parametrize(
    "estimator", [SpectralKMeans(4, n_init=3, random_state=0), KernelPCAKMeans(4, n_init=3, random_state=0)]
)
def test_labels_do_not_depend_on_order_budget_tiles_or_threads(estimator):
    x, _ = topics(700, 120, 4, seed=5, noise=0.15)
    wanted = estimator.fit(x).labels_.copy()
    assert np.array_equal(estimator.fit(x).labels_, wanted)
    with grampus.config(memory="60MB", tile=20_000):
        assert np.array_equal(estimator.fit(x).labels_, wanted)
    with grampus.config(memory="12MB"):  # the matrix no longer fits
        assert np.array_equal(estimator.fit(x).labels_, wanted)
    assert np.array_equal(estimator.set_params(n_jobs=1).fit(x).labels_, wanted)
    order = np.random.default_rng(0).permutation(700)
    assert same_partition(estimator.fit(x[order]).labels_, wanted[order])


def test_single_precision_keeps_the_partition():
    for estimator in (SpectralKMeans(3, random_state=0), KernelPCAKMeans(3, random_state=0)):
        double = estimator.fit(X).labels_
        assert same_partition(double, estimator.fit(X.astype(np.float32)).labels_)


@pytest.mark.skipif(not memory.available(), reason="measured through Linux's process files")
def test_terms_need_no_matrix():
    """8,000 documents: n² would be 512 MB."""
    setup = """
        import numpy as np, scipy.sparse as sp
        from grampus import SpectralKMeans
        rng = np.random.default_rng(0)
        n, m, row = 8_000, 5_000, 40
        group = rng.integers(0, 5, n)
        columns = np.where(rng.random((n, row)) < 0.6, 1000 * group[:, None] + rng.integers(0, 1000, (n, row)),
                           rng.integers(0, m, (n, row)))
        x = sp.csr_array((np.ones(n * row), columns.ravel(), np.arange(0, n * row + 1, row)), shape=(n, m))
        x.sum_duplicates()
        input_bytes = x.data.nbytes + x.indices.nbytes + x.indptr.nbytes
        SpectralKMeans(5, n_init=1, random_state=0).fit(x[:700])
    """
    work = """
        model = SpectralKMeans(5, n_init=2, random_state=0).fit(x)
        assert len(set(zip(model.labels_, group))) == 5
    """
    measured = memory.rise(setup, work)
    assert measured["rise"] < 6 * measured["input"]


def test_strings_have_spectra():
    texts = ["whale song", "whales sing", "a whale sang", "tax law", "the tax law", "taxes and laws"]
    for estimator in (
        SpectralKMeans(2, kernel="spectrum(2)", random_state=0),
        KernelPCAKMeans(2, kernel="spectrum(2)|normalise", random_state=0),
    ):
        labels = estimator.fit(texts).labels_
        assert labels[0] == labels[1] == labels[2] != labels[3]
        assert estimator.predict(["whale", "tax law"])[1] == labels[3]


def test_frames_come_out_when_asked_for():
    pytest.importorskip("pandas")
    for estimator in (SpectralKMeans(3, random_state=0), KernelPCAKMeans(3, random_state=0)):
        wanted = estimator.fit(X.toarray()).predict(X.toarray())
        assert np.array_equal(estimator.set_output(transform="pandas").predict(X.toarray()), wanted)
    model = SpectralKMeans(3, random_state=0).set_output(transform="pandas").fit(X.toarray())
    assert list(model.transform(X.toarray()[:2]).columns) == ["spectralkmeans0", "spectralkmeans1", "spectralkmeans2"]
    assert list(KernelPCAKMeans(3, random_state=0).fit(X).get_feature_names_out()) == [
        "kernelpcakmeans0",
        "kernelpcakmeans1",
    ]


@parametrize_with_checks(
    [
        SpectralKMeans(3, random_state=0, n_init=2),
        SpectralKMeans(3, kernel="gaussian(1.5)", laplacian="symmetric", random_state=0, n_init=2),
        SpectralKMeans(3, kernel="gaussian(1.5)", n_neighbors=5, random_state=0, n_init=2),
        SpectralKMeans(3, kernel="precomputed", loops=True, random_state=0, n_init=2),
        KernelPCAKMeans(3, random_state=0, n_init=2),
        KernelPCAKMeans(3, kernel="gaussian(1.5)", centre=True, random_state=0, n_init=2),
        KernelPCAKMeans(3, kernel="precomputed", random_state=0, n_init=2),
    ],
    expected_failed_checks=expected_failures,
)
@pytest.mark.filterwarnings("ignore:Only . of . clusters")  # some checks fit fewer distinct rows than clusters
@pytest.mark.filterwarnings("ignore:.* of the similarities are negative")  # vectors around 0
@pytest.mark.filterwarnings("ignore:The graph has . components")  # a few points and few neighbours
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_a_stored_0_is_not_negative():
    matrix = sp.csr_array((np.array([0.0, 2.0]), (np.array([0, 1]), np.array([0, 1]))), shape=(2, 2))
    assert SparseGram(matrix).non_negative()
    assert not SparseGram(-matrix).non_negative()


def test_results_are_shown_without_their_arrays():
    shown = repr(spectral_kmeans(LinearGram(np.arange(6.0)[:, None] + 1.0), 2, random_state=0))
    for name in ("centres", "embedding", "kmeans"):
        assert f"{name}=" not in shown


@pytest.mark.parametrize("estimator", [SpectralKMeans, KernelPCAKMeans, grampus.KernelKMeans])
def test_eight_clusters_as_in_scikit_learn(estimator):
    assert estimator().n_clusters == SpectralClustering().n_clusters
