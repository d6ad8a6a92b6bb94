"""The compiled loops against their textbook twins, and the promise that threads and instruction sets change no bit."""

import threading

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import pdist, squareform

from grampus import _native
from grampus._native import _core
from grampus.errors import InputError
from tests.reference import textbook_kmeans

TIE = 1e-12
KINDS = {
    "clouds": lambda rng, n, m: rng.normal(size=(n, m)) + 3.0 * rng.normal(size=(5, m))[rng.integers(0, 5, n)],
    "grid": lambda rng, n, m: rng.integers(0, 3, size=(n, m)).astype(float),  # copies and exact ties
    "few": lambda rng, n, m: rng.normal(size=(4, m))[rng.integers(0, 4, n)],  # fewer distinct documents than clusters
    "nearly ties": lambda rng, n, m: rng.integers(-2, 3, (n, m)) + 1e-8 * rng.normal(size=(n, m)),  # not in single
    "tiny": lambda rng, n, m: 1e-30 * rng.normal(size=(n, m)),  # products are nothing in single precision
    "huge": lambda rng, n, m: 1e30 * rng.normal(size=(n, m)),  # products are infinite there
    "far": lambda rng, n, m: rng.normal(size=(n, m)) + 1e4,  # squared lengths hide the distances
    "texts": lambda rng, n, m: np.abs(rng.normal(size=(n, m))) * (rng.random((n, m)) < 0.3),
}
RULES = {
    "plain": (False, 0.0, False),
    "shifted": (False, -1.0, False),
    "adjusted": (True, 0.0, False),
    "adjusted and shifted": (True, -1.0, False),
    "spherical": (False, 0.0, True),
}


def sources(x, weights, kinds=("stored", "single", "dense", "sparse")):
    diagonal = (x**2).sum(axis=1)
    K = x @ x.T
    made = {
        "stored": lambda: _native.stored_documents(K, diagonal, weights),
        "single": lambda: _native.stored_documents(K.astype(np.float32), diagonal, weights),
        "dense": lambda: _native.dense_documents(x, diagonal, weights),
        "sparse": lambda: _native.sparse_documents(sp.csr_array(x), np.ones(len(x)), diagonal, weights),
    }
    return {kind: made[kind]() for kind in kinds}


def run(documents, starts, k, rule, max_iter=100):
    adjusted, shift, spherical, centroid = rule
    parameters = (adjusted, TIE, shift, spherical, centroid)
    runs = [_native.start_run(documents, start, k, parameters, max_iter, 5) for start in starts]
    _native.run_all(runs)
    return runs


def same(ours, theirs, total):
    labels, predicted, outcome, moves, values = theirs
    assert ours.moves.tolist() == moves
    assert ours.labels.tolist() == labels.tolist()
    assert ours.predicted.tolist() == predicted.tolist()
    assert ours.outcome.name == outcome
    np.testing.assert_allclose(ours.objectives, values, rtol=0, atol=1e-12 * total)


@settings(max_examples=150, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(sorted(KINDS)),
    st.sampled_from([3, 40, 150, 300]),
    st.integers(1, 12),
    st.sampled_from([1, 2, 9, 30]),
    st.sampled_from(sorted(RULES)),
    st.booleans(),
    st.sampled_from([1.0, 0.5, 0.01]),
    st.sampled_from([1, 3, 100]),
    st.sampled_from(["stored", "dense", "sparse"]),
)
def test_runs_equal_the_textbook(seed, kind, n, k, m, way, weighted, centroid, max_iter, source):
    rng = np.random.default_rng(seed)
    x = KINDS[kind](rng, n, m)
    if way == "spherical" and (kind == "nearly ties" or m == 1):
        x = np.abs(x) + (kind == "nearly ties")  # directions of what is nearly nothing are all rounding
    k, K = min(k, n), x @ x.T
    adjusted, shift, spherical = RULES[way]
    rule = (adjusted, shift * float(K.diagonal().mean()), spherical, centroid)
    weights = rng.choice([0.5, 1.0, 3.0], n) if weighted and way != "spherical" else np.ones(n)
    starts = rng.integers(0, k, (3, n)).astype(np.int32)
    starts[1, rng.random(n) < 0.5] = -1  # a half, which predicts the rest
    starts[1, 0] = 0
    documents = sources(x, weights, [source])[source]
    for ours, start in zip(run(documents, starts, k, rule, max_iter), starts, strict=True):
        same(ours, textbook_kmeans.run(K, start, k, rule, weights, max_iter), float(weights @ K.diagonal()))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(sorted(set(KINDS) - {"far"})), st.integers(1, 9))
def test_documents_join_the_nearest(seed, kind, k):
    rng = np.random.default_rng(seed)
    x = KINDS[kind](rng, 120, 4)
    start = np.full(120, -1, dtype=np.int32)
    members = rng.permutation(120)[:100]
    start[members] = -2
    start[rng.choice(members, k, replace=False)] = np.arange(k)
    wanted = textbook_kmeans.join(x @ x.T, start)
    for documents in sources(x, np.ones(120), ["stored", "dense", "sparse"]).values():
        (found,) = run(documents, [start], k, (False, 0.0, False, 1.0), max_iter=0)
        assert found.labels.tolist() == wanted.tolist()


@pytest.mark.parametrize("kind", ["clouds", "texts", "nearly ties"])
@pytest.mark.parametrize("source", ["stored", "single", "dense", "sparse"])
def test_threads_batches_and_instruction_sets_change_no_bit(kind, source):
    rng = np.random.default_rng(1)
    x = KINDS[kind](rng, 900, 24)
    documents = sources(x, np.ones(900), [source])[source]
    starts = rng.integers(0, 7, (6, 900)).astype(np.int32)
    rule = (False, 0.0, False, 1.0)
    together = run(documents, starts, 7, rule)

    def shared(start):
        one = _native.start_run(documents, start, 7, (False, TIE, 0.0, False, 1.0), 100, 5)

        def in_threads(part, n):
            bounds = [n * t // 3 for t in range(4)]
            threads = [threading.Thread(target=part, args=(bounds[t], bounds[t + 1])) for t in range(3)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()

        while True:
            (in_threads(one.follow, 900) if source in ("stored", "single") else one.follow(0, 900))
            if not one.measure():
                return one
            in_threads(one.assign, one.members)
            one.advance()

    def helped(start):
        one, team = _native.start_run(documents, start, 7, (False, TIE, 0.0, False, 1.0), 100, 5), _native.Team()
        threads = [threading.Thread(target=team.help) for _ in range(2)]
        for thread in threads:
            thread.start()
        while one.step(team):
            pass
        team.dismiss()
        for thread in threads:
            thread.join()
        assert not one.step(team)
        return one

    _core.use_best(False)
    try:
        baseline = [run(documents, [start], 7, rule)[0] for start in starts]
    finally:
        _core.use_best(True)
    for others in (baseline, [shared(start) for start in starts], [helped(start) for start in starts]):
        for one, other in zip(together, others, strict=True):
            assert one.labels.tolist() == other.labels.tolist()
            assert one.objectives.tobytes() == other.objectives.tobytes()


def test_most_documents_are_decided_in_single_precision_and_many_not_at_all():
    rng = np.random.default_rng(0)
    x = KINDS["clouds"](rng, 3000, 20)
    for documents in sources(x, np.ones(3000), ["dense", "sparse"]).values():
        (found,) = run(documents, [rng.integers(0, 8, 3000)], 8, (False, 0.0, False, 1.0))
        computed, doubtful = found.screened
        assert doubtful < 0.01 * computed
        assert computed < 0.7 * 3000 * len(found.moves)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 90), st.integers(1, 25), st.sampled_from(["texts", "grid", "clouds"]))
def test_neighbours_equal_the_full_matrix(seed, n, p, kind):
    rng = np.random.default_rng(seed)
    x = KINDS[kind](rng, n, 6)
    p = min(p, n - 1)
    scale = rng.choice([0.5, 1.0, 2.0], n)
    K = (x * scale[:, None]) @ (x * scale[:, None]).T
    documents = _native.sparse_documents(sp.csr_array(x), scale, K.diagonal(), np.ones(n))
    postings = _native.Postings(documents)
    np.testing.assert_allclose(_native.gram_rows(postings, np.arange(n)), K, atol=1e-12 * np.abs(K).max(initial=1e-300))
    np.fill_diagonal(K, -np.inf)
    columns, values = _native.nearest_by_postings(postings, p, 0, n)
    for i in range(n):
        limit = np.sort(K[i])[::-1][p - 1]
        tie = TIE * abs(limit)
        above, level = np.flatnonzero(limit + tie < K[i]), np.flatnonzero(np.abs(K[i] - limit) <= tie)
        wanted = np.sort(np.concatenate([above, level[: p - len(above)]]))
        wanted = wanted[K[i, wanted] > TIE * np.abs(K).max(where=np.isfinite(K), initial=0)]
        found = columns[i][(columns[i] >= 0) & (values[i] > TIE * np.abs(K).max(where=np.isfinite(K), initial=0))]
        assert found.tolist() == wanted.tolist()
        assert _native.largest(K[i : i + 1], p, TIE)[0].tolist() == np.sort([*above, *level[: p - len(above)]]).tolist()


@pytest.mark.parametrize("scale", [1e-3, 1e15, 1e100])
def test_neighbours_of_rows_too_long_for_single_precision(scale):
    x = KINDS["texts"](np.random.default_rng(5), 60, 12)
    found = []
    for factor in (1.0, scale):
        rows = sp.csr_array(x * factor)
        documents = _native.sparse_documents(rows, np.ones(60), (x**2).sum(axis=1) * factor**2, np.ones(60))
        found.append(_native.nearest_by_postings(_native.Postings(documents), 4, 0, 60)[0].tolist())
    assert found[0] == found[1]


def test_what_is_not_a_number_or_not_stored_is_refused():
    ones = np.ones(2)
    places = np.zeros(2, dtype=np.int32), np.arange(3, dtype=np.int64)
    with pytest.raises(TypeError, match="data must be float32 or float64"):
        _core.Sparse(np.ones(2, dtype=np.int16), *places, ones, 1, ones, ones)
    dense = _native.start_run(
        _native.dense_documents(np.eye(2), ones, ones), [0, 1], 2, (False, 1e-12, 0.0, False, 1.0), 5, 3
    )
    with pytest.raises(TypeError, match="only stored sums can be added to"):
        _ = dense.sums


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 80), st.sampled_from([0.3, 0.7, 0.9, 1.0]))
def test_near_pairs_equal_the_full_matrix(seed, n, threshold):
    rng = np.random.default_rng(seed)
    x = KINDS["texts"](rng, n, 12)
    x[n // 2 :] = x[: n - n // 2] + 0.02 * KINDS["texts"](rng, n - n // 2, 12)
    x /= np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-300)
    documents = _native.sparse_documents(sp.csr_array(x), np.ones(n), np.ones(n), np.ones(n))
    least = threshold - 1e-6
    i, j, value = _native.near_pairs(documents, least).pairs(0, n)
    K = x @ x.T
    wanted = [(a, b) for a in range(n) for b in range(a + 1, n) if K[a, b] >= least]
    assert sorted(zip(i.tolist(), j.tolist(), strict=True)) == wanted
    np.testing.assert_allclose(value, K[i, j], atol=1e-14)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(0, 12), st.integers(0, 12), st.integers(1, 5))
def test_the_subsequence_programme_equals_its_recurrence(seed, nx, ny, length):
    rng = np.random.default_rng(seed)
    xs, ys = rng.integers(0, 3, (nx, 8)).astype(np.int32), rng.integers(0, 3, (ny, 8)).astype(np.int32)
    found = _native.subsequence(xs, ys, length, 0.7)
    for lane in range(8):
        D = np.ones((nx + 1, ny + 1))
        S = np.zeros((nx + 1, ny + 1))
        for _ in range(length):
            S = np.zeros((nx + 1, ny + 1))
            S[1:, 1:] = 0.49 * D[:-1, :-1] * (xs[:, lane, None] == ys[None, :, lane])
            D = np.zeros((nx + 1, ny + 1))
            for i in range(1, nx + 1):
                R = 0.0
                for j in range(1, ny + 1):
                    R = 0.7 * R + S[i, j]
                    D[i, j] = 0.7 * D[i - 1, j] + R
        assert found[lane] == pytest.approx(S.sum(), rel=1e-12)


def test_hostile_arrays_are_refused():
    x = sp.csr_array(np.eye(3))
    ones = np.ones(3)
    for indices, indptr in (([0, 1, 3], x.indptr), ([-1, 1, 2], x.indptr), (x.indices, [0, 2, 1, 3]), ([0], x.indptr)):
        broken = x.copy()
        broken.indices, broken.indptr = np.array(indices), np.array(indptr)
        with pytest.raises(InputError):
            _native.sparse_documents(broken, ones, ones, ones)
    documents = _native.dense_documents(np.eye(3), ones, ones)
    for labels in ([0, 1], [0, 1, 2], [0, 1, -3]):
        with pytest.raises(InputError):
            _native.start_run(documents, labels, 2, (False, TIE, 0.0, False, 1.0), 10, 5)
    for call in (
        lambda: _native.stored_documents(np.eye(2), ones, ones),
        lambda: _native.dense_documents(np.eye(3), ones, np.ones(2)),
        lambda: _native.largest(np.eye(3), 4, TIE),
        lambda: _native.subsequence(np.zeros((2, 7)), np.zeros((2, 8)), 2, 0.5),
        lambda: _native.near_pairs(_native.sparse_documents(x, ones, ones, ones), 0.0),
    ):
        with pytest.raises(InputError):
            call()
    postings = _native.Postings(_native.sparse_documents(x, ones, ones, ones))
    for call in (
        lambda: _native.gram_rows(postings, [0, 3]),
        lambda: _native.gram_rows(postings, [-1]),
        lambda: _native.gram_rows(postings, [[0]]),
        lambda: _native.nearest_by_postings(postings, 1, 0, 4),
        lambda: _native.nearest_by_postings(postings, 1, 2, 1),
        lambda: _native.nearest_by_postings(postings, 3, 0, 3),
        lambda: _native.stored_documents(np.ones(3), ones, ones),
        lambda: _native.stored_documents(np.eye(3), ones, np.ones((3, 1))),
        lambda: _native.dense_documents(np.zeros((3, 0)), ones, ones),
        lambda: _native.start_run(documents, [0, 0, 0], 0, (False, TIE, 0.0, False, 1.0), 10, 5),
        lambda: _native.subsequence(np.zeros((2, 8)), np.zeros((2, 8)), 0, 0.5),
    ):
        with pytest.raises(InputError):
            call()
    backwards = np.arange(9.0).reshape(3, 3)[::-1, ::-1]  # negative strides, another byte order: copied
    for matrix in (backwards, backwards.astype(">f8"), np.asfortranarray(backwards)):
        (found,) = run(_native.stored_documents(matrix, ones, ones), [np.array([0, 1, 1])], 2, (False, 0.0, False, 1.0))
        (plain,) = run(
            _native.stored_documents(backwards.copy(), ones, ones), [np.array([0, 1, 1])], 2, (False, 0.0, False, 1.0)
        )
        assert found.labels.tolist() == plain.labels.tolist()
    shifted = np.zeros(73, dtype=np.uint8)[1:].view(np.float64).reshape(3, 3)  # misaligned: copied
    shifted[:] = np.eye(3)
    run(_native.dense_documents(shifted, ones, ones), [np.array([0, 1, 1])], 2, (False, 0.0, False, 1.0))


@pytest.mark.parametrize("source", ["dense", "sparse"])
@pytest.mark.parametrize("shift", [-4.0, 4.0])
def test_bounds_hold_where_clusters_run_empty_and_the_shift_is_large(source, shift):
    rng = np.random.default_rng(2)
    x = rng.integers(0, 3, size=(400, 3)).astype(float) + 0.01 * rng.normal(size=(400, 3))
    starts = np.minimum(rng.integers(0, 60, (4, 400)), 25).astype(np.int32)  # clusters 26 … 29 have no documents
    documents, K = sources(x, np.ones(400), [source])[source], x @ x.T
    for ours, start in zip(run(documents, starts, 30, (False, shift, False, 1.0)), starts, strict=True):
        theirs = textbook_kmeans.run(K, start, 30, (False, shift, False, 1.0), np.ones(400), 100)
        same(ours, theirs, float(K.diagonal().sum()))


def test_phases_out_of_order_do_no_harm():
    documents = _native.dense_documents(np.eye(4), np.ones(4), np.ones(4))
    one = _native.start_run(documents, [0, 1, 0, 1], 2, (False, TIE, 0.0, False, 1.0), 10, 5)
    one.advance()
    one.assign(-5, 99)
    _native.run_all([one])
    for phase in (one.advance, one.measure, lambda: one.assign(0, 4), lambda: one.follow(0, 4)):
        phase()
    other = _native.dense_documents(np.eye(4), np.ones(4), np.ones(4))
    rule = (False, TIE, 0.0, False, 1.0)
    fresh = [_native.start_run(each, [0, 1, 0, 1], 2, rule, 10, 5) for each in (documents, other)]
    with pytest.raises(ValueError, match="share"):
        _native.run_all(fresh)


def traded(held, pairs, rng):
    """Trade as the paper says, with NumPy's sets."""
    for one, other in pairs:
        both = np.intersect1d(held[one], held[other])
        apart = rng.permutation(np.setxor1d(held[one], held[other]))
        kept = len(held[one]) - len(both)
        held[one], held[other] = np.union1d(both, apart[:kept]), np.union1d(both, apart[kept:])
    return held


@given(
    st.integers(0, 10**6), st.integers(2, 12), st.integers(1, 40), st.sampled_from([np.random.PCG64, np.random.MT19937])
)
def test_terms_are_traded_as_the_textbook_trades_them(seed, n, terms, bits):
    rng = np.random.default_rng(seed)
    rows = sp.csr_array((rng.random((n, terms)) < 0.4).astype(float))
    held = [np.array(part) for part in np.split(rows.indices, rows.indptr[1:-1])]
    pairs = np.concatenate([rng.permutation(n)[: n // 2 * 2].reshape(-1, 2) for _ in range(3)])
    ours, theirs = (np.random.Generator(bits(seed)) for _ in range(2))
    _native.trade(rows.indptr, rows.indices, pairs, ours)
    for part, wanted in zip(np.split(rows.indices, rows.indptr[1:-1]), traded(held, pairs, theirs), strict=True):
        np.testing.assert_array_equal(part, wanted)
    assert ours.random() == theirs.random()


@pytest.mark.parametrize(
    ("change", "pairs", "words"),
    [
        ({"columns": np.array([0, 1], dtype=np.int64)}, [[0, 1]], "int32"),
        ({"indptr": np.array([1, 1, 2])}, [[0, 1]], "begin with 0"),
        ({"indptr": np.array([0, 2, 1])}, [[0, 1]], "not fall"),
        ({"indptr": np.array([0, 1, 3])}, [[0, 1]], "as long as"),
        ({}, [[0, 2]], "from 0 to 1"),
        ({}, [[-1, 0]], "from 0 to 1"),
        ({}, [[1, 1]], "two rows"),
        ({}, [[0, 1, 0]], "shape"),
    ],
)
def test_rows_that_cannot_trade_are_refused(change, pairs, words):
    rows = {"indptr": np.array([0, 1, 2]), "columns": np.array([0, 1], dtype=np.int32)} | change
    with pytest.raises(InputError, match=words):
        _native.trade(**rows, pairs=np.array(pairs), rng=np.random.default_rng(0))


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 70), st.integers(1, 9), st.sampled_from(sorted(KINDS)), st.integers(0, 2**32 - 1))
def test_trees_are_those_of_scipy(n, m, kind, seed):
    """Where several clusters are equally near, SciPy's sums may differ in the last bit, and so which come first."""
    points = KINDS[kind](np.random.default_rng(seed), n, m) if n > 1 else np.zeros((1, m))
    for rule in ("ward", "average"):
        expected = linkage(points, rule)[:, :2].astype(int).tolist() if n > 1 else []
        apart = squareform(pdist(points)) if n > 1 else np.zeros((1, 1))
        found = []
        for best in (True, False):
            _core.use_best(best)
            found += [_native.tree_joins(points, rule == "ward"), _native.tree_joins(apart, rule == "ward", apart=True)]
        _core.use_best(True)
        assert len({joins.tobytes() for joins in found}) == 1
        assert kind not in ("clouds", "far") or found[0].tolist() == expected


@given(st.integers(1, 70), st.integers(1, 9), st.integers(1, 12), st.integers(0, 2**32 - 1))
def test_centres_are_means_and_those_of_empty_clusters_far_away(n, m, k, seed):
    rng = np.random.default_rng(seed)
    points, labels = rng.standard_normal((n, m)), rng.integers(0, k, n)
    found = _native.centres(points, labels, k)
    for cluster in range(k):
        inside = points[labels == cluster]
        np.testing.assert_allclose(found[cluster], inside.mean(axis=0) if len(inside) else 1e6, rtol=0, atol=1e-12)
    with pytest.raises(InputError, match="labels must be from 0"):
        _native.centres(points, labels + k, k)


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 130),
    st.integers(1, 40),
    st.integers(1, 70),
    st.sampled_from([-480, -40, 0, 40, 480]),
    st.data(),
)
def test_nearest_centres_are_those_of_exact_arithmetic(n, m, k, scale, data):
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    points = rng.integers(-3, 4, (n, m))  # whole numbers: products and sums are exact, and many centres equally near
    middles = points[rng.integers(0, n, k)] if data.draw(st.booleans()) else rng.integers(-3, 4, (k, m))
    if far := data.draw(st.sets(st.integers(0, k - 1), max_size=k // 2)):
        middles = middles.copy()
        middles[list(far)] = 2**20
    wanted = ((points[:, None] - middles) ** 2).sum(axis=2).argmin(axis=1)
    found = _native.nearest_centres(np.ldexp(points.astype(float), scale), np.ldexp(middles.astype(float), scale))
    assert found.tolist() == wanted.tolist()


def test_nearest_centres_that_single_precision_cannot_tell():
    near = np.array([[1.0, 0.0], [1.0 + 1e-12, 0.0], [1.0, 0.0]])
    assert _native.nearest_centres(np.array([[1.0, 0.5], [2.0, 0.0]]), near).tolist() == [0, 1]
    assert _native.nearest_centres(np.zeros((0, 2)), near).tolist() == []
    with pytest.raises(InputError, match="columns alike"):
        _native.nearest_centres(np.zeros((3, 1)), near)


@pytest.mark.parametrize("points", [np.zeros(3), np.zeros((0, 2)), np.array([[0.0], [np.inf]])])
def test_trees_of_no_points_are_a_bug(points):
    with pytest.raises(InputError, match="bug in Grampus"):
        _native.tree_joins(points, ward=True)
    with pytest.raises(InputError, match="bug in Grampus"):
        _native.tree_joins(np.zeros((2, 3)), ward=True, apart=True)
