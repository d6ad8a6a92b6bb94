"""Bad input gives a clear error or follows a stated rule, whichever Gram or kernel it meets."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from grampus import DocumentClusterer, KernelKMeans
from grampus.cluster import PDDP, BisectingKernelKMeans, KernelPCAKMeans, SpectralKMeans
from grampus.errors import InputError
from grampus.gram import (
    DenseGram,
    FunctionGram,
    LinearGram,
    centre,
    dominance_ratio,
    eigenvalues,
    normalise,
    objective,
    power,
    self_tune,
    shift,
)
from grampus.kernels import Precomputed, known_names, parse_kernel
from grampus.metrics import ari

X = np.random.default_rng(0).random((6, 3))
KERNELS = ["linear", "cosine", "polynomial(2)", "gaussian(1)", "selftuning(2)", "precomputed"]


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (np.where(np.eye(4) > 0, np.nan, 1.0), "NaN"),
        (np.where(np.eye(4) > 0, np.inf, 1.0), "infinity"),
        (np.ones((4, 4)) * 1j, "[Cc]omplex"),
        (np.array([[object()] * 4] * 4), "float"),
        (np.array([["a"] * 4] * 4), "could not convert|convert"),
        (np.empty((0, 4)), "0 sample"),
        (np.empty((4, 0)), "0 feature|square"),
        (np.ones(4), "Expected 2D"),
        (np.ones((2, 2, 2)), "dim 3"),
        (["some", "texts"], "list of strings"),
        ([], "Expected 2D|0 sample"),
    ],
)
def test_what_is_not_a_finite_matrix_is_refused(kernel, bad, message):
    with pytest.raises(InputError, match=message):
        parse_kernel(kernel).gram(bad)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (np.array([[1.0], [np.nan]]), "X: Input X contains NaN. Leave these rows out, or fill the gaps."),
        (np.ones((9, 2)) * 1j, "X: Complex data not supported. Give the real part, or the absolute values."),
        (np.ones(9), "X: Expected 2D array, got 1D array instead. Give X.reshape(-1, 1) if it is one column, "
         "X.reshape(1, -1) if it is one row."),
        ([[1, 2], [3]], "(2,) + inhomogeneous part. Give rows of equal length."),
        (None, "X must be texts, a data frame or rows of numbers; got None."),
        (3, "X must be texts, a data frame or rows of numbers; got 3."),
    ],
    ids=["NaN", "complex", "one dimension", "ragged", "None", "a number"],
)  # fmt: skip
def test_a_refusal_prints_no_array_and_says_what_to_do(bad, message):
    with pytest.raises(InputError) as refused:
        DocumentClusterer(2).fit(bad)
    assert str(refused.value).endswith(message)
    assert "\n" not in str(refused.value)


def test_an_estimator_of_numbers_says_where_texts_go():
    with pytest.raises(InputError, match=r"got a list of strings\. Give them to DocumentClusterer"):
        KernelKMeans(2).fit(["whale song", "bird nest"])


@pytest.mark.parametrize("kernel", KERNELS[:5])
def test_sparse_nan_is_refused(kernel):
    bad = sp.csr_array(np.array([[1.0, 0.0], [np.nan, 2.0], [1.0, 1.0]]))
    with pytest.raises(InputError, match="NaN"):
        parse_kernel(kernel).gram(bad)


def test_precomputed_matrices_must_be_square_and_symmetric():
    with pytest.raises(InputError, match=r"must be square.*got shape \(6, 3\).*name a kernel"):
        Precomputed().gram(X)
    skew = X @ X.T
    skew[4, 1] += 0.5
    with pytest.raises(InputError, match=r"must be symmetric; entry \((1, 4|4, 1)\).*\(K \+ K.T\) / 2"):
        Precomputed().gram(skew)
    rounding = X @ X.T
    rounding[4, 1] += 1e-12
    assert Precomputed().gram(rounding).trace() == pytest.approx(np.trace(X @ X.T))
    assert Precomputed().gram(sp.csr_array(X @ X.T)).shape == (6, 6)


def test_integers_and_duplicates_are_understood():
    assert LinearGram(np.array([[1, 2], [3, 4]])).dense().tolist() == [[5, 11], [11, 25]]
    twice = sp.csr_array((np.ones(4), np.array([0, 0, 1, 1]), np.array([0, 2, 4])), shape=(2, 2))
    assert LinearGram(twice).diagonal().tolist() == [4, 4]
    assert twice.nnz == 4  # the caller's matrix is left as it was
    assert LinearGram(np.array([[True, False]])).dense().tolist() == [[1]]
    v = sp.csr_array((np.ones(2), np.array([0, 0]), np.array([0, 2, 2])), shape=(2, 1))
    assert (shift(LinearGram(np.eye(2)), 1.0) @ v).ravel().tolist() == [4, 0]


def test_a_row_of_zeros_is_similar_to_nothing_under_normalise():
    x = np.vstack([X, np.zeros(3)])
    for order in (0, 1, np.inf):
        gram = normalise(LinearGram(x), order)
        assert gram.diagonal().tolist() == [1] * 6 + [0]
        assert not gram.block([6]).any()
        cross, diagonal = gram.extend(np.zeros((1, 7)), np.zeros(1))
        assert not cross.any()
        assert not diagonal.any()


def test_normalise_refuses_a_diagonal_that_cannot_normalise():
    with pytest.raises(InputError, match=r"at least 0; document \d has -.*before shift"):
        normalise(shift(LinearGram(X), -5.0))
    with pytest.raises(InputError, match=r"positive self-similarity.*document 0 has 0.*before shift"):
        normalise(shift(DenseGram(np.array([[1.0, 0.5], [0.5, 1.0]])), -1.0))
    gram = normalise(LinearGram(X))
    with pytest.raises(InputError, match=r"needs the self-similarities.*pair \(cross, diagonal\)"):
        gram.extend(np.ones((1, 6)))
    with pytest.raises(InputError, match="a new document has -1"):
        gram.extend(np.ones((1, 6)), [-1.0])


def test_power_refuses_negative_similarities():
    signed = LinearGram(np.array([[1.0], [-1.0]]))
    with pytest.raises(InputError, match=r"power\(0.5\) needs similarities of at least 0; an entry is -1"):
        power(signed, 0.5).dense()
    with pytest.raises(InputError, match="at least 0"):
        power(signed, 0.5) @ np.ones(2)
    with pytest.raises(InputError, match="at least 0"):
        power(shift(LinearGram(X), -9.0), 0.5)
    with pytest.raises(InputError, match="at least 0"):
        power(LinearGram(X), 0.5).extend(-np.ones((1, 6)), np.ones(1))


@pytest.mark.parametrize("exponent", [0, -1, np.nan, np.inf, "x", None])
def test_odd_exponents_are_refused(exponent):
    with pytest.raises(InputError, match="exponent must be"):
        power(LinearGram(X), exponent)


@pytest.mark.parametrize("sigma", [np.nan, np.inf, "zero", [1], True])
def test_odd_shifts_are_refused(sigma):
    with pytest.raises(InputError, match="sigma must be a number, 'psd', or left out"):
        shift(LinearGram(X), sigma)


def test_self_tuning_needs_enough_documents_and_survives_copies():
    with pytest.raises(InputError, match=r"selftuning\(7\) needs more than 7 documents.*got 6"):
        parse_kernel("selftuning").gram(X)
    copies = np.vstack([np.zeros((4, 2)), np.ones((1, 2)), np.full((1, 2), 5.0)])
    gram = self_tune(DenseGram(((copies[:, None] - copies) ** 2).sum(axis=2)), 2)
    assert np.isfinite(gram.dense()).all()
    assert gram.dense()[0, 1] == 1
    assert self_tune(DenseGram(np.zeros((3, 3))), 1).dense().tolist() == [[1.0] * 3] * 3


def test_new_documents_must_have_the_fitted_columns():
    kernel = parse_kernel("cosine")
    gram = kernel.gram(X)
    with pytest.raises(InputError, match=r"the 3 columns of the fitted ones; got 2.*same fitted vocabulary"):
        kernel.extend(X[:, :2], gram)
    assert kernel.extend(np.empty((0, 3)), gram)[0].shape == (0, 6)
    with pytest.raises(InputError, match="NaN"):
        kernel.extend(np.full((1, 3), np.nan), gram)


def test_precomputed_new_documents():
    kernel, K = parse_kernel("precomputed|normalise|shift"), X @ X.T
    gram = kernel.gram(K)
    cross, diagonal = kernel.extend((K[:2], K.diagonal()[:2]), gram)
    np.testing.assert_allclose(cross, parse_kernel("cosine").gram(X).dense()[:2])
    np.testing.assert_allclose(diagonal, [0, 0], atol=1e-12)
    with pytest.raises(InputError, match="self-similarities"):
        kernel.extend(K[:2], gram)
    plain = parse_kernel("precomputed|shift")
    assert plain.extend(K[:2], plain.gram(K))[1] is None
    with pytest.raises(InputError, match=r"cross must have shape \(new documents, 6\)"):
        plain.extend(K[:2, :4], plain.gram(K))
    with pytest.raises(InputError, match=r"diagonal must have shape \(2,\)"):
        kernel.extend((K[:2], np.ones(3)), gram)


def test_self_similarity_that_depends_on_the_collection_is_refused():
    assert parse_kernel("cosine|power(0.5)").diagonal(X).tolist() == [1.0] * 6
    with pytest.raises(InputError, match=r"Under 'shift'.*kernel.extend"):
        parse_kernel("cosine|shift").diagonal(X)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda g: g @ np.ones(5), "must have 6 rows"),
        (lambda g: g @ np.ones((6, 2, 2)), "one or two dimensions"),
        (lambda g: g @ (np.ones(6) * 1j), "real numbers"),
        (lambda g: g @ np.array(["a"] * 6), "real numbers"),
        (lambda g: g.block([6]), "between 0 and 5; got 6"),
        (lambda g: g.block([-7]), "between 0 and 5; got -7"),
        (lambda g: g.block([0.5]), "integers, a mask or a slice"),
        (lambda g: g.block(np.ones(5, bool)), "one entry for each of the 6"),
        (lambda g: g.block(np.ones((2, 2), int)), "one-dimensional"),
        (lambda g: g.take([1, 1]), "names one of them twice"),
        (lambda g: g.take([]), "at least one document"),
        (lambda g: objective(g, [0, 1]), "6 entries"),
        (lambda g: eigenvalues(g, 0), "between 1 and 6"),
        (lambda g: eigenvalues(g, 7), "between 1 and 6"),
        (lambda g: dominance_ratio(g.take([0])), "at least 2"),
        (lambda g: centre(g).take([0, 1]).extend(np.ones((1, 2))), "cannot be extended"),
        (lambda g: FunctionGram(np.dot, [], lambda a: a), "collection is empty"),
        (lambda g: FunctionGram(np.dot, X, lambda a: a), r"one number a document, shape \(6,\)"),
    ],
)
def test_misuse_of_a_gram_is_explained(call, message):
    with pytest.raises(InputError, match=message):
        call(LinearGram(X))


def test_the_registry_lists_what_can_be_spelled():
    assert {"linear", "cosine", "polynomial", "gaussian", "selftuning", "precomputed"} <= set(known_names())
    assert {"shift", "normalise", "power", "map", "centre"} <= set(known_names())


def test_blas_is_held_to_one_thread_and_given_back():
    from threadpoolctl import ThreadpoolController

    from grampus._parallel import LARGE_PRODUCT, blas_threads

    def threads():
        return [pool["num_threads"] for pool in ThreadpoolController().info() if pool["user_api"] == "blas"]

    with ThreadpoolController().limit(limits=2, user_api="blas"):
        before = threads()
        with blas_threads(1e6):
            assert set(threads()) == {1}
        with blas_threads(LARGE_PRODUCT):
            assert threads() == before
        assert threads() == before


def test_threads_come_from_the_caller_the_environment_or_the_machine(monkeypatch):
    from grampus._parallel import thread_count

    cores = thread_count(-1)
    for value, expected in (("1", 1), ("1,4", 1), ("", cores), ("many", cores), ("0", cores), ("999", cores)):
        monkeypatch.setenv("OMP_NUM_THREADS", value)
        assert thread_count() == expected
    assert thread_count(3) == 3
    assert thread_count(-1000) == 1


def test_copies_are_at_distance_0_under_self_tuning():
    for seed in range(12):
        rng = np.random.default_rng(seed)
        copies = np.r_[np.repeat(rng.normal(size=(1, 37)) * 10, 12, 0), rng.normal(size=(60, 37))]
        block = parse_kernel("selftuning(7)").gram(copies).block(slice(0, 12), slice(0, 12))
        assert (block == 1).all()


def test_new_documents_may_be_whole_numbers_but_must_be_real_and_finite():
    from grampus.gram import empirical_map

    gram = empirical_map(DenseGram(np.array([[2.0, 1], [1, 2]])))
    np.testing.assert_allclose(gram.extend([[1, 2]])[0], [[0.8, 1.0]])
    for bad in ([[1j, 2]], [[np.nan, 1]], [["a", "b"]], [[1], [1, 2]]):
        with pytest.raises(InputError, match="cross must be"):
            gram.extend(bad)


def test_scales_that_would_vanish_are_refused():
    tiny = np.full((2, 2), 1e-22, dtype=np.float32)
    with pytest.raises(InputError, match=r"between 1e-30 and 1e\+30 in float32; got"):
        normalise(LinearGram(tiny))
    assert normalise(LinearGram(tiny.astype(float))).dense()[0, 1] == pytest.approx(1)
    with pytest.raises(InputError, match="between 1e-290"):
        normalise(LinearGram(np.full((2, 2), 1e160)))


@pytest.mark.parametrize(
    "call",
    [
        lambda: parse_kernel("linear|shift(1" + "0" * 400 + ")"),
        lambda: parse_kernel("linear|normalise(1" + "0" * 400 + ")"),
        lambda: parse_kernel("gaussian(1e-200)"),
        lambda: parse_kernel("gaussian(1e200)"),
        lambda: objective(LinearGram(X), [None, "a", 1, 2, 3, 4]),
        lambda: LinearGram(X).block([[1], [2, 3]]),
        lambda: parse_kernel("precomputed").extend((X, X, X), DenseGram(np.eye(3))),
        lambda: parse_kernel("linear").extend(X, DenseGram(np.eye(6))),
        lambda: FunctionGram(lambda a, b: np.ones(3), X, lambda a: np.ones(len(a))).dense(),
        lambda: self_tune(DenseGram(-np.ones((3, 3))), 1),
    ],
)
def test_odd_values_never_give_another_error(call):
    with pytest.raises(InputError):
        call()


def test_a_sparse_precomputed_matrix_is_not_silently_made_dense():
    import grampus
    from grampus.errors import MemoryBudgetError

    with grampus.config(memory="10MB"), pytest.raises(MemoryBudgetError, match="dense copy"):
        DenseGram(sp.csr_array((3000, 3000)))


ESTIMATORS = {
    "kernel k-means": KernelKMeans(3, random_state=0),
    "linear kernel": KernelKMeans(3, kernel="linear", random_state=0),
    "PDDP": PDDP(3),
    "bisecting": BisectingKernelKMeans(3, random_state=0),
    "spectral": SpectralKMeans(3, kernel="gaussian(1)", random_state=0),
    "kernel PCA": KernelPCAKMeans(3, random_state=0),
    "documents": DocumentClusterer(3, random_state=0),
    "documents, cosine": DocumentClusterer(3, kernel="cosine", random_state=0),
    "documents, auto": DocumentClusterer(random_state=0),
}


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("scale", [1e200, 1e80, 1e-80, 1e-200])
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_values_that_floats_cannot_square_are_refused_by_all_alike(estimator, scale, form):
    x = np.repeat(np.eye(3) * 9, 30, axis=0) + np.random.default_rng(0).random((90, 3))
    with pytest.raises(InputError, match=r"X must have a largest value between 1e-70 and 1e\+70 in float64; got "):
        clone(ESTIMATORS[estimator]).fit(form(x * scale))


@pytest.mark.parametrize("scale", [1e60, 1e-60])
@pytest.mark.parametrize("estimator", ["kernel k-means", "linear kernel", "PDDP", "bisecting", "kernel PCA"])
def test_large_and_small_values_within_the_range_are_clustered(estimator, scale):
    x = np.repeat(np.eye(3) * 9, 30, axis=0) + np.random.default_rng(0).random((90, 3))
    labels = clone(ESTIMATORS[estimator]).fit(x * scale).labels_
    assert ari(labels, np.repeat(np.arange(3), 30)) == 1.0
