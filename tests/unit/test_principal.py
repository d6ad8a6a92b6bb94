"""The principal part of a Gram; its conformance to the naive twin is among the Grams'."""

import numpy as np
import pytest
import scipy.sparse as sp

from grampus import KernelKMeans
from grampus.cluster import kernel_kmeans
from grampus.errors import InputError
from grampus.gram import DenseGram, LinearGram, at_rank, principal, shift
from grampus.kernels import parse_kernel

RNG = np.random.default_rng(0)
X = sp.csr_array(RNG.random((80, 30)) * (RNG.random((80, 30)) < 0.2))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_it_is_latent_semantic_analysis(dtype):
    """Up to signs, F is U_r S_r of the singular value decomposition."""
    x = X.astype(dtype)
    left, values, _ = np.linalg.svd(x.toarray().astype(float))
    gram = principal(LinearGram(x), 5)
    expected = left[:, :5] * values[:5]
    np.testing.assert_allclose(gram.dense(), expected @ expected.T, atol=1e-9 if dtype == np.float64 else 1e-5)
    assert gram.rows.shape == (80, 5)
    assert gram.dtype == dtype


def test_a_fitted_document_shown_as_new_has_its_own_features():
    kernel = parse_kernel("cosine|principal(7)|normalise")
    gram = kernel.gram(X)
    cross, diagonal = kernel.extend(X, gram)
    np.testing.assert_allclose(cross, gram.dense(), atol=1e-9)
    np.testing.assert_allclose(diagonal, gram.diagonal(), atol=1e-9)
    model = KernelKMeans(4, kernel=kernel, random_state=0).fit(X)
    assert model.predict(X).tolist() == model.labels_.tolist()


def test_ranks_beyond_what_there_is():
    assert principal(LinearGram(X[:, :3]), 50).rows.shape == (80, 3)
    assert principal(DenseGram(np.diag([2.0, 1.0, -5.0])), 3).rows.shape == (3, 2)  # no negative eigenvalue
    assert not principal(LinearGram(np.zeros((4, 2))), 2).dense().any()


def test_a_part_keeps_the_components_of_the_whole():
    gram = principal(LinearGram(X), 4)
    part = gram.take(np.arange(0, 80, 2))
    np.testing.assert_allclose(part.dense(), gram.dense()[::2, ::2], atol=1e-12)
    with pytest.raises(InputError, match="part of a principal Gram"):
        part.extend(np.zeros((1, 40)))


def test_components_at_other_ranks():
    """Fewer are taken from those at hand, more from what was computed with them, or anew."""
    whole, wide = LinearGram(X), principal(LinearGram(X), 3, spare=6)
    for gram in (principal(whole, 3), wide):
        for rank in (2, 3, 5, 6):
            found = at_rank(gram, rank)
            np.testing.assert_allclose(found.dense(), principal(whole, rank).dense(), atol=1e-9)
        assert at_rank(gram, 3) is gram
    assert at_rank(wide, 6) is wide.wider


def test_another_order_serves_new_documents_too():
    gram = principal(LinearGram(X), 6)
    order = np.random.default_rng(0).permutation(80)
    other = gram.take(order)
    np.testing.assert_array_equal(other.rows, gram.rows[order])
    np.testing.assert_array_equal(other.documents().names, gram.documents().names[order])
    cross = (X[:5] @ X.T).toarray()
    np.testing.assert_allclose(other.extend(cross[:, order])[0], gram.extend(cross)[0][:, order], atol=1e-12)


@pytest.mark.parametrize("rank", [0, -1, 1.5, "many", True])
def test_bad_ranks(rank):
    with pytest.raises(InputError, match="rank"):
        principal(LinearGram(X), rank)


def test_shift_comes_after():
    with pytest.raises(InputError, match="before shift"):
        principal(shift(LinearGram(X)), 3)
    with pytest.raises(InputError, match="must be a Gram"):
        principal(X, 3)


@pytest.mark.parametrize("kernel", ["cosine|shift|map", "cosine|shift", "cosine|principal(5)|map"])
def test_polish_ends_in_single_precision(kernel):
    """Gains of the size of rounding used to be undone and made again without end."""
    gram = parse_kernel(kernel).gram(X.astype(np.float32))
    for k in (2, 5, 20):
        assert len(kernel_kmeans(gram, k, polish=True, n_init=3, random_state=0).labels) == 80
