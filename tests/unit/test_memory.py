"""Memory promises: matrix-free means memory in the input, never n × n."""

import numpy as np
import pytest

import grampus
from grampus.errors import InputError, MemoryBudgetError
from grampus.gram import FunctionGram, LinearGram
from grampus.kernels import parse_kernel
from tests import memory

linux = pytest.mark.skipif(not memory.available(), reason="measured through Linux's process files")

TERMS = """
    import numpy as np, scipy.sparse as sp
    import grampus, grampus.kernels, sklearn.utils
    rng = np.random.default_rng(0)
    n, m, row = {n}, 50_000, {row}
    step = m // row
    indices = (rng.integers(0, step, size=(n, row), dtype=np.int32) + np.arange(0, m, step, dtype=np.int32)).ravel()
    starts = np.arange(0, n * row + 1, row, dtype=np.int32)
    x = sp.csr_array((rng.random(n * row, dtype=np.float32), indices, starts), shape=(n, m))
    v = rng.random((n, 20)).astype(np.{dtype})
    input_bytes = x.data.nbytes + x.indices.nbytes + x.indptr.nbytes
    small = grampus.parse_kernel("{kernel}").gram(x[:50]) @ v[:50]  # what is loaded once is not the work's
"""
WORK = """
    product = grampus.parse_kernel("{kernel}").gram(x) @ v
    assert product.shape == (n, 20) and np.isfinite(product).all()
"""


@pytest.mark.slow
@linux
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("kernel", "n", "row"),
    [("linear|normalise|shift", 200_000, 50), ("linear|map", 10_000, 250), ("cosine|shift|map", 10_000, 250)],
)
def test_products_stay_below_two_and_a_half_times_the_input(kernel, n, row, dtype):
    assert memory.least_rise(TERMS.format(n=n, row=row, dtype=dtype, kernel=kernel), WORK.format(kernel=kernel)) < 2.5


@pytest.mark.slow
@linux
@pytest.mark.parametrize("choose", ["uniform", "kmeans++", "leverage"])
def test_low_rank_grams_of_any_kernel_need_their_features_and_little_more(choose):
    setup = """
        import numpy as np, scipy.linalg
        import grampus, grampus.kernels, sklearn.utils
        n, landmarks = 60_000, 100
        x = np.random.default_rng(0).random((n, 8))
        kernel = grampus.parse_kernel("gaussian(2)|nystrom(100, choose=%s)|shift")
        kernel.gram(x[:500]) @ np.ones(500)
        input_bytes = 8 * n * landmarks
    """
    work = """
        product = kernel.gram(x) @ np.ones((n, 3))
        assert product.shape == (n, 3) and np.isfinite(product).all()
    """
    measured = memory.rise(setup % choose, work)
    assert measured["rise"] < 2 * measured["input"]


@linux
def test_the_measure_sees_a_large_allocation():
    setup = "import numpy as np; input_bytes = 1"
    assert memory.rise(setup, "np.ones(10_000_000); ")["rise"] > 70_000_000


def test_the_budget_is_set_for_good_or_for_a_while():
    before = grampus.config().memory
    with grampus.config(memory="2GB") as budget:
        assert budget.memory == grampus.config().memory == 2 * 10**9
        with grampus.config(memory="1 GiB"):
            assert grampus.config().memory == 2**30
        assert grampus.config().memory == 2 * 10**9
    assert grampus.config().memory == before
    with pytest.raises(InputError), grampus.config(memory="3GB"):
        raise InputError("inside")
    assert grampus.config().memory == before


@pytest.mark.parametrize("tile", [0, -1, 1.5, float("nan"), "x", [1], True])
def test_odd_tiles_are_refused(tile):
    with pytest.raises(InputError, match="tile must be"):
        grampus.config(tile=tile)


@pytest.mark.parametrize("size", [[1], "", "GB", "4 apples", "-1GB", "12", 0, -5, 10, float("nan"), float("inf"), True])
def test_odd_budgets_are_refused(size):
    with pytest.raises(InputError, match="memory must be"):
        grampus.config(memory=size)


def test_the_environment_sets_the_budget(monkeypatch):
    from grampus import _config

    monkeypatch.setattr(_config, "_settings", None)
    monkeypatch.setenv("GRAMPUS_MEMORY", "123MB")
    assert grampus.config().memory == 123_000_000
    monkeypatch.setattr(_config, "_settings", None)
    monkeypatch.setenv("GRAMPUS_MEMORY", "lots")
    with pytest.raises(InputError, match="GRAMPUS_MEMORY: memory must be"):
        grampus.config()


def test_the_default_budget_comes_from_the_machine(monkeypatch):
    from grampus import _config

    monkeypatch.setattr(_config, "_settings", None)
    monkeypatch.delenv("GRAMPUS_MEMORY", raising=False)
    assert 10**8 < grampus.config().memory < 10**13


def test_what_does_not_fit_is_refused_with_the_size_and_the_way_out():
    gram = LinearGram(np.ones((2000, 3)))
    with grampus.config(memory="10MB"):
        with pytest.raises(MemoryBudgetError, match=r"2000 × 2000 Gram matrix needs 32\.0 MB.*10\.0 MB.*gram @ v"):
            gram.dense()
        with pytest.raises(MemoryBudgetError, match=r"block of 2000 × 1000 .*fewer rows"):
            gram.block(None, slice(0, 1000))
        with pytest.raises(MemoryBudgetError, match="fewer columns"):
            gram @ np.ones((2000, 700))
        assert gram.block(slice(0, 10)).shape == (10, 2000)


def test_products_are_the_same_whatever_the_budget():
    x = np.random.default_rng(0).random((300, 5))
    v = np.random.default_rng(1).random((300, 3))
    for spelling in ("gaussian(1)", "linear|normalise(1)|map", "cosine|power(0.6)|centre"):
        gram = parse_kernel(spelling).gram(x)
        with grampus.config(memory="1MB"):
            small = gram @ v
        np.testing.assert_allclose(small, gram @ v, rtol=1e-12)


def test_tiles_never_grow_with_the_collection():
    sizes = []

    def function(a, b):
        sizes.append(len(a) * len(b) * 8)
        return a @ b.T

    gram = FunctionGram(function, np.ones((3000, 2)), lambda a: (a**2).sum(axis=1))
    assert np.allclose(gram @ np.ones(3000), 6000)
    assert max(sizes) <= 4 * 2**20
    assert len(sizes) > 10
