"""Products of a few vectors: SciPy's to the bit for sparse rows, and near NumPy's for a basis, with any threads."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import grampus
from grampus._native import Team
from grampus._native.vectors import LEAST, MOST, SparseProducts, along, take_away
from grampus._parallel import helpers, team
from grampus.errors import InputError

THREADS = (1, 2, 5)


def rows(seed, n, m, density, dtype=np.int32):
    rng = np.random.default_rng(seed)
    found = sp.csr_array(rng.standard_normal((n, m)) * (rng.random((n, m)) < density))
    found.indices, found.indptr = found.indices.astype(dtype), found.indptr.astype(dtype)
    return found


@given(
    st.integers(0, 99), st.integers(0, 40), st.integers(1, 30), st.integers(1, 21), st.sampled_from(["int32", "int64"])
)
def test_sparse_rows_have_the_bits_of_scipy(seed, n, m, wide, dtype):
    some = rows(seed, n, m, 0.3, dtype)
    vectors = np.random.default_rng(seed).standard_normal((m, wide))
    found = SparseProducts(some).times(vectors, Team())
    assert found.tobytes() == np.ascontiguousarray(some @ vectors).tobytes()


@pytest.mark.parametrize("wide", [1, 2, 15])
def test_threads_change_no_bit(wide):
    large = rows(0, 3000, 400, 0.1)
    rng = np.random.default_rng(1)
    right, left = rng.standard_normal((400, wide)), rng.standard_normal((3000, wide))
    basis, scale = np.linalg.qr(rng.standard_normal((3000, 40)))[0].T.copy(), rng.random(3000)
    found = set()
    for threads in THREADS:
        with grampus.config(threads=threads), helpers(3000) as some:
            assert team() is some
            factors = along(basis, 30, left.T, some)
            less = left.T.copy()
            take_away(basis, factors, less, some)
            products = SparseProducts(large)
            square = products.times_square(scale, right, some)
            found.add((products.times(right, some).tobytes(), factors.tobytes(), less.tobytes(), square.tobytes()))
    assert len(found) == 1
    np.testing.assert_allclose(factors, left.T @ basis[:30].T, atol=1e-12)
    np.testing.assert_allclose(less @ basis[:30].T, 0.0, atol=1e-12)
    np.testing.assert_allclose(square, large.T @ (scale[:, None] ** 2 * (large @ right)), rtol=1e-10, atol=1e-10)
    np.testing.assert_array_equal(products.times(right, Team()), large @ right)


def test_sums_over_many_pieces():
    many = rows(2, LEAST * MOST + 5, 7, 0.1)
    vector = np.ones((7, 1))
    found = SparseProducts(many).times_square(np.ones(many.shape[0]), vector, Team())
    np.testing.assert_allclose(found, many.T @ (many @ vector), rtol=1e-9)


def test_nothing_to_multiply():
    none = sp.csr_array((0, 3))
    assert SparseProducts(none).times(np.ones((3, 2)), Team()).shape == (0, 2)
    assert (
        SparseProducts(sp.csr_array((4, 3))).times_square(np.ones(4), np.ones((3, 2)), Team()).tolist()
        == [[0.0, 0.0]] * 3
    )
    basis, vectors = np.ones((2, 5)), np.ones((1, 5))
    assert along(basis, 0, vectors, Team()).shape == (1, 0)
    take_away(basis, np.zeros((1, 0)), vectors, Team())
    assert (vectors == 1).all()


def test_arrays_are_checked_before_they_are_read():
    some = rows(0, 5, 4, 0.5)
    with pytest.raises(InputError, match="vectors must have shape"):
        SparseProducts(some).times(np.ones((5, 1)), Team())
    with pytest.raises(InputError, match="scale must have shape"):
        SparseProducts(some).times_square(np.ones(4), np.ones((4, 1)), Team())
    some.indices[0] = 9
    with pytest.raises(InputError, match="indices must be from 0 to 3"):
        SparseProducts(some)
    with pytest.raises(InputError, match="the basis must have 3 rows"):
        along(np.ones((2, 5)), 3, np.ones((1, 5)), Team())
    with pytest.raises(InputError, match="contiguous rows"):
        take_away(np.ones((2, 5)), np.ones((1, 2)), np.ones((5, 1), order="F").T[:, ::-1], Team())
