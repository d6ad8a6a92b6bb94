"""A larger memory budget never makes anything slower: what is computed is counted, not timed."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp

import grampus
from grampus import PDDP, KernelKMeans
from grampus.cluster import kernel_kmeans, pddp
from grampus.gram import FunctionGram, Gram, LinearGram, centre, empirical_map, normalise, nystrom, principal
from grampus.kernels import parse_kernel
from tests.timing import no_slower, soon

N = 240
CHAINS = {
    "plain": lambda gram: gram,
    "map": empirical_map,
    "centre": centre,
    "centre|map": lambda gram: empirical_map(centre(gram)),
    "map|map": lambda gram: empirical_map(empirical_map(gram)),
    "principal": lambda gram: principal(gram, 5),
    "nystrom": lambda gram: nystrom(gram, 40),
    "principal|map": lambda gram: empirical_map(principal(gram, 5)),
}
WORK = {
    "kernel k-means": lambda gram: kernel_kmeans(gram, 4, n_init=3, random_state=0).labels,
    "polish": lambda gram: kernel_kmeans(gram, 4, n_init=3, random_state=0, polish=True).labels,
    "PDDP": lambda gram: pddp(gram, 4).labels,
    "PDDP full": lambda gram: pddp(gram, 4, cut="full", refine=True).labels,
}


def points(n=N, m=6):
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, m)) + 3.0 * np.eye(4, m)[rng.integers(0, 4, n)]


class Counted:
    """A kernel function that counts the entries it computes."""

    def __init__(self):
        self.entries = 0

    def __call__(self, a, b):
        self.entries += len(a) * len(b)
        return np.exp(-sum((x[:, None] - y) ** 2 for x, y in zip(a.T, b.T, strict=True)) / 20)

    def gram(self, x):
        return FunctionGram(self, x, lambda a: np.ones(len(a)))


def entries(chain, work, memory):
    counted = Counted()
    with grampus.config(memory=memory):
        labels = WORK[work](CHAINS[chain](counted.gram(points())))
    return counted.entries, labels


@pytest.mark.parametrize("work", WORK)
@pytest.mark.parametrize("chain", CHAINS)
def test_a_larger_budget_computes_no_more_entries(chain, work):
    little, scarce = entries(chain, work, "1MB")
    much, rich = entries(chain, work, "8GB")
    np.testing.assert_array_equal(scarce, rich)
    assert much <= little
    assert much <= 5 * N**2  # each entry a few times at most: for means or norms, for the matrix, for single rows


def terms(n=1000, m=2000, row=20):
    """Sparse rows in four groups."""
    rng = np.random.default_rng(0)
    group = rng.integers(0, 4, n)[:, None]
    own = rng.random((n, row)) < 0.5
    columns = np.where(own, m // 4 * group + rng.integers(0, m // 4, (n, row)), rng.integers(0, m, (n, row)))
    x = sp.csr_array((np.ones(n * row), columns.ravel(), np.arange(0, n * row + 1, row)), shape=(n, m))
    x.sum_duplicates()
    return x


@pytest.mark.parametrize("work", ["kernel k-means", "PDDP"])
@pytest.mark.parametrize("spelling", ["map", "shift|map", "centre", "principal(5)", "nystrom(40)"])
def test_a_larger_budget_takes_no_more_time_on_features(spelling, work):
    x, kernel = terms(), parse_kernel(f"cosine|{spelling}")

    def work_within(memory):
        with grampus.config(memory=memory):
            WORK[work](kernel.gram(x))

    assert no_slower(partial(work_within, "8GB"), partial(work_within, "4MB"), 1.2, 0.05)


def blocks_of(gram: Gram) -> list[int]:
    """Return a list that gets the size of every block that is read of a Gram from now on."""
    sizes, real = [], gram._block

    def counted(rows, cols):
        block = real(rows, cols)
        sizes.append(block.size)
        return block

    gram._block = counted  # type: ignore[method-assign]
    return sizes


@pytest.mark.parametrize("rows", [None, slice(0, 5), [3, 1, 4]])
def test_a_block_of_a_map_reads_its_base_once_for_each_column(rows):
    base = normalise(LinearGram(points(120)))
    mapped = empirical_map(base)
    inner = mapped.base
    sizes = blocks_of(inner)
    block = mapped.block(rows, slice(0, 7))
    count = block.shape[0]
    assert sum(sizes) <= 120 * min(7, count)
    np.testing.assert_allclose(block, mapped.dense()[rows if rows is not None else slice(None), :7].reshape(count, 7))


def test_the_whole_of_a_map_is_no_cube_of_function_calls():
    counted = Counted()
    with grampus.config(memory="8GB"):
        mapped = empirical_map(counted.gram(points()))
        mapped.dense()
        mapped @ np.ones(N)
        mapped.sum_by(np.arange(N) % 3)
    assert counted.entries <= 2 * N**2


@pytest.mark.filterwarnings("ignore:Only 1 of 2 clusters")  # so many maps leave one direction
@pytest.mark.parametrize("kernel", ["spectrum(2)|normalise", "cosine"])
def test_twelve_maps_on_twelve_texts_take_no_time(kernel):
    texts = [f"{'whale' * (i % 3)} {'bird' * (i % 4)} {i}" for i in range(12)]
    rows = texts if kernel.startswith("spectrum") else np.abs(points(12))
    with soon(1):
        gram = parse_kernel(kernel + 12 * "|map").gram(rows)
        gram.dense()
        gram @ np.ones((12, 3))
        KernelKMeans(2, kernel=kernel + 12 * "|map", random_state=0).fit(rows)
        PDDP(2, kernel=kernel + 12 * "|map").fit(rows)
