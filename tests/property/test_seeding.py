"""The compiled steps of k-means++ and of Ward's rule do what their textbook forms do."""

import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grampus import _native
from grampus._native import _core
from grampus.cluster.kmeans import plus_plus
from grampus.errors import InputError

NOISE = 1e-12


def textbook_plus_plus(similar, k, rng, mass):
    """Greedy k-means++ (Arthur & Vassilvitskii 2007, with 2 + ln k draws for each centre)."""
    diagonal = np.diag(similar)

    def drawn(pull, count):
        total = np.cumsum(pull)
        return np.minimum(np.searchsorted(total, rng.random(count) * total[-1], side="right"), len(pull) - 1)

    def distances(centres):
        size = diagonal[centres][:, None] + diagonal
        squared = size - 2.0 * similar[centres]
        return np.where(squared > NOISE * np.abs(size), squared, 0.0)

    nearest, labels = distances(drawn(mass, 1))[0], np.zeros(len(mass), dtype=int)
    for cluster in range(1, k):
        if not (mass * nearest).sum() > 0:
            break
        centres = drawn(mass * nearest, 2 + int(np.log(k)))
        far = distances(centres)
        left = np.minimum(far, nearest) @ mass
        best = int((left <= left.min() + NOISE * (mass @ np.abs(diagonal))).argmax())
        closer = far[best] < nearest - NOISE * (diagonal + diagonal[centres[best]])
        closer[centres[best]] = True
        labels[closer] = cluster
        nearest = np.minimum(nearest, far[best])
        nearest[centres[best]] = 0.0
    return labels


def textbook_ward(total, sizes, groups):
    """Join the two clusters whose union raises the objective least, inside groups first."""
    clusters = {c: [c] for c in range(len(sizes))}
    joins = []
    for step in range(len(sizes) - 1):
        pairs = [(a, b) for a in clusters for b in clusters if clusters[a][0] < clusters[b][0]]
        for group in [*groups, np.zeros(len(sizes))]:
            allowed = [(a, b) for a, b in pairs if group[clusters[a][0]] == group[clusters[b][0]]]
            if allowed:
                break

        def cost(pair):
            one, other = (clusters[c] for c in pair)
            n, m = sizes[one].sum(), sizes[other].sum()
            squared = total[np.ix_(one, one)].sum() / n**2 + total[np.ix_(other, other)].sum() / m**2
            return n * m / (n + m) * (squared - 2 * total[np.ix_(one, other)].sum() / (n * m))

        one, other = min(allowed, key=cost)
        joins.append((one, other))
        clusters[len(sizes) + step] = clusters.pop(one) + clusters.pop(other)
    return joins


@given(st.integers(0, 2**32), st.integers(1, 40), st.integers(1, 12), st.booleans())
def test_k_means_plus_plus_is_that_of_the_textbook(seed, n, k, copies):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, 3))
    rows = rows[rng.integers(0, max(1, n // 3), n)] if copies else rows
    similar, mass = rows @ rows.T, rng.integers(1, 4, n).astype(float)
    k = min(k, n)
    wanted = textbook_plus_plus(similar, k, np.random.default_rng(seed), mass).tolist()
    for read in (lambda centres: similar[centres], _native.panels(rows)):
        found = plus_plus(read, np.diag(similar), k, np.random.default_rng(seed), mass)
        assert found.tolist() == wanted


SIZES = {
    "moderate": lambda rng, n, m: rng.normal(size=(n, m)),
    "far": lambda rng, n, m: rng.normal(size=(n, m)) + 1e4,  # squared lengths hide the distances in single precision
    "tiny": lambda rng, n, m: 1e-30 * rng.normal(size=(n, m)),
    "huge": lambda rng, n, m: 1e30 * rng.normal(size=(n, m)),  # products are infinite in single precision
    "grid": lambda rng, n, m: rng.integers(0, 3, size=(n, m)).astype(float),
}


@pytest.mark.parametrize("kind", SIZES)
@pytest.mark.parametrize(("n", "m", "k"), [(1, 1, 1), (17, 1, 5), (700, 9, 1), (1100, 33, 60), (1025, 5, 160)])
def test_seeds_ruled_out_in_single_precision_are_those_of_double_precision(kind, n, m, k):
    rng = np.random.default_rng(n)
    rows, mass = SIZES[kind](rng, n, m), rng.integers(1, 4, n).astype(float)
    similar = rows @ rows.T
    trials = 2 + int(np.log(k))
    uniform = rng.random(1 + (k - 1) * trials)
    plain = _native.Seeds(similar.diagonal(), mass)
    for drawn in np.split(uniform, 1 + trials * np.arange(k - 1)):
        centres = plain.draw(drawn)
        if len(centres) == 0:
            break
        plain.take(similar[centres], centres)
    for best in (True, False):
        _core.use_best(best)
        try:
            seeds, team = _native.Seeds(similar.diagonal(), mass), _native.Team()
            helper = threading.Thread(target=team.help)
            helper.start()
            seeds.spread(_native.panels(rows), k, uniform, team)
            team.dismiss()
            helper.join()
        finally:
            _core.use_best(True)
        assert seeds.labels().tolist() == plain.labels().tolist()


@given(st.integers(0, 2**32), st.integers(1, 14), st.integers(0, 2))
def test_ward_is_that_of_the_textbook(seed, k, count):
    rng = np.random.default_rng(seed)
    rows, sizes = rng.normal(size=(k, 3)), rng.integers(1, 5, k).astype(float)
    total = (rows @ rows.T) * np.outer(sizes, sizes)
    fine = rng.integers(0, 5, k)
    groups = [fine, fine // 2][:count]  # nested, as levels are
    found = _native.ward(total, sizes, np.array(groups, dtype=np.int64).reshape(count, k))
    assert [tuple(pair) for pair in found.tolist()] == textbook_ward(total, sizes, groups)


def test_equal_costs_are_joined_in_order():
    total = np.diag([4.0, 4.0, 4.0, 4.0])
    assert _native.ward(total, np.ones(4), np.empty((0, 4))).tolist()[0] == [0, 1]


def test_wrong_shapes_are_refused():
    seeds = _native.Seeds(np.ones(3), np.ones(3))
    two, three = _native.panels(np.ones((2, 4))), _native.panels(np.ones((3, 4)))
    with pytest.raises(InputError, match="panels must hold the features of 3 documents"):
        seeds.spread(two, 1, [0.5], _native.Team())
    with pytest.raises(InputError, match="uniform must hold draws for k centres"):
        seeds.spread(three, 3, [0.5, 0.5], _native.Team())
    with pytest.raises(InputError, match="every centre needs a draw"):
        seeds.spread(three, 2, [0.5], _native.Team())
    with pytest.raises(InputError, match="rows must have shape"):
        _native.panels(np.ones((3, 0)))
    with pytest.raises(InputError, match="sizes must be above 0"):
        _native.ward(np.eye(2), [1.0, 0.0], np.empty((0, 2)))
    with pytest.raises(InputError, match="total must have shape"):
        _native.ward(np.eye(3), [1.0, 1.0], np.empty((0, 2)))
    seeds = _native.Seeds(np.ones(3), np.ones(3))
    with pytest.raises(InputError, match="centres must be from 0 to 2"):
        seeds.take(np.ones((1, 3)), np.array([3]))
    with pytest.raises(InputError, match="there must be documents"):
        _native.Seeds([], [])
