"""Eigenpairs of every Gram of the conformance list, by every method, against LAPACK on the naive twin."""

import itertools
from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy import linalg
from scipy.sparse.linalg import LinearOperator

import grampus
from grampus.errors import ConvergenceError, InputError
from grampus.gram import (
    DenseGram,
    FunctionGram,
    LinearGram,
    SparseGram,
    eigen,
    eigenpairs,
    eigenvalues,
    feature_pairs,
    shift,
)
from grampus.gram.eigen import METHODS, fixed_signs, smallest_eigenvalue
from grampus.gram.graph import GraphOperator, components, degrees
from grampus.kernels import parse_kernel
from grampus.testing import check_gram
from tests.contract.test_grams import CHAINS, collection, twin_of
from tests.reference import naive

TUNED = [f"selftuning({p}){tail}" for p in (1, 3, 7) for tail in ("", "|shift", "|normalise|centre|map")]
GAP = 1e-6  # relative to ‖K‖; where eigenvalues are closer, their eigenvectors are not determined


def dense_twin(spelling, x):
    """Return the naive matrix of a chain."""
    if not spelling.startswith("selftuning"):
        return twin_of(spelling, x, x[:1])[1].K
    head, *tail = spelling.split("|")
    twin = naive.selftune(naive.source("distance", x, x[:1]), int(head[11:-1]))
    for name in tail:
        twin = {"shift": naive.shift, "normalise": naive.normalise, "centre": naive.centre, "map": naive.map_}[name](
            twin
        )
    return twin.K


@cache
def prepared(spelling):
    """Return the Gram of a chain and its naive matrix, which every method is compared with."""
    x = collection(90, 0)
    return parse_kernel(spelling).gram(sp.csr_array(x)), dense_twin(spelling, x)


def compare(pairs, matrix, count, *, smallest=False):
    """Return the error of the values relative to ‖K‖, the sine of the principal angle, and the relative gap."""
    values, vectors = np.linalg.eigh(matrix)
    if not smallest:
        values, vectors = values[::-1], vectors[:, ::-1]
    size = max(float(np.abs(values).max()), 1e-300)
    error = float(np.abs(pairs.values - values[:count]).max()) / size
    gap = abs(float(values[count - 1] - values[count])) / size if count < len(values) else np.inf
    wanted = vectors[:, :count]
    angle = float(np.linalg.norm(pairs.vectors - wanted @ (wanted.T @ pairs.vectors), 2))
    return error, angle, gap


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("spelling", [*CHAINS, *TUNED])
def test_float64_is_lapacks(spelling, method):
    gram, matrix = prepared(spelling)
    for count in (1, 4):
        pairs = eigenpairs(gram, count, method=method)
        error, angle, gap = compare(pairs, matrix, count)
        assert error <= 1e-8
        assert gap <= GAP or angle <= 1e-6
        np.testing.assert_allclose(pairs.vectors.T @ pairs.vectors, np.eye(count), atol=1e-10)
        assert pairs.method == method


@pytest.mark.parametrize(("spelling", "method"), list(zip(CHAINS, itertools.cycle(METHODS))))
def test_float32_to_four_digits(spelling, method):
    x = collection(90, 0).astype(np.float32)
    gram, matrix = parse_kernel(spelling).gram(sp.csr_array(x)), dense_twin(spelling, x.astype(float))
    error, angle, gap = compare(eigenpairs(gram, 3, method=method), matrix, 3)
    assert error <= 1e-4
    assert gap <= 1e-2 or angle <= 1e-4


@pytest.mark.parametrize("method", METHODS)
def test_multiple_eigenvalues_are_all_found(method):
    blocks = sp.csr_array(linalg.block_diag(*[np.ones((70, 70))] * 9, np.ones((70, 70)) * 0.5))
    for gram in (DenseGram(blocks.toarray()), SparseGram(sp.csr_array(blocks))):
        pairs = eigenpairs(gram, 9, method=method)
        np.testing.assert_allclose(pairs.values, 70.0, rtol=1e-12)
        assert compare(pairs, blocks.toarray(), 9)[1] < 1e-9


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("rank", [1, 3])
def test_ranks_below_the_count(rank, method):
    x = np.random.default_rng(0).random((650, rank))
    pairs = eigenpairs(LinearGram(x), 5, method=method)
    np.testing.assert_allclose(pairs.values[rank:], 0.0, atol=1e-10 * pairs.values[0])
    np.testing.assert_allclose(pairs.vectors.T @ pairs.vectors, np.eye(5), atol=1e-10)
    low = eigenpairs(LinearGram(x), 2, which="smallest", method=method)
    np.testing.assert_allclose(low.values, 0.0, atol=1e-10 * pairs.values[0])


@given(st.integers(0, 10_000), st.sampled_from(METHODS), st.sampled_from(["largest", "smallest"]))
def test_any_symmetric_matrix(seed, method, which):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 120))
    spread = np.exp(rng.uniform(0, 6)) ** rng.random(n) * rng.choice([-1.0, 1.0], n)
    turn = np.linalg.qr(rng.standard_normal((n, n)))[0]
    matrix = (turn * spread) @ turn.T
    matrix = (matrix + matrix.T) / 2
    count = int(rng.integers(1, min(n, 8)))
    error, angle, gap = compare(
        eigenpairs(matrix, count, which=which, method=method), matrix, count, smallest=which == "smallest"
    )
    assert error <= 1e-8
    assert gap <= GAP or angle <= 1e-6


def test_operators_arrays_and_grams_are_alike():
    x = np.random.default_rng(0).random((700, 5))
    gram = LinearGram(x)
    wanted = eigenpairs(gram, 3)
    linear = LinearOperator((700, 700), lambda v: x @ (x.T @ v), dtype=float)
    for other in (gram.dense(), linear, gram.to_linear_operator(), sp.csr_array(gram.dense())):
        found = eigenpairs(other, 3)
        np.testing.assert_allclose(found.values, wanted.values, rtol=1e-10)
        np.testing.assert_allclose(found.vectors, wanted.vectors, atol=1e-8)


def test_the_cost_rule():
    rng = np.random.default_rng(0)
    x = rng.random((700, 5))
    function = FunctionGram(lambda a, b: np.exp(a @ b.T), x, lambda a: np.exp((a * a).sum(axis=1)))
    assert eigenpairs(LinearGram(x[:60]), 3).method == "lapack"
    assert eigenpairs(LinearGram(x), 200).method == "lapack"
    assert eigenpairs(LinearGram(x), 3).method == "lanczos"
    assert eigenpairs(function, 3).method == "lanczos"
    held = eigenpairs(function, 3)
    with grampus.config(memory="8MB"):  # 4 MB of matrix no longer fit in a quarter of it
        found = eigenpairs(function, 3)
    assert found.method == "randomised"
    np.testing.assert_allclose(found.values, held.values, rtol=1e-10)
    np.testing.assert_allclose(found.vectors, held.vectors, atol=1e-7)
    for method in METHODS:  # no room for an iteration
        assert eigenpairs(LinearGram(x[:4]), 3, method=method).method == "lapack"
    tail = eigenpairs(parse_kernel("gaussian(1)").gram(x), 3, which="smallest")  # too many near 0 for an iteration
    assert tail.method == "lapack"


def test_answers_repeat_to_the_last_bit():
    x = sp.csr_array(np.random.default_rng(0).poisson(0.2, (800, 60)).astype(float))
    first = eigenpairs(LinearGram(x), 5)
    for _ in range(2):
        again = eigenpairs(LinearGram(x.copy()), 5)
        assert np.array_equal(first.vectors, again.vectors)
    other = eigenpairs(LinearGram(x), 5, seed=1)
    np.testing.assert_allclose(first.vectors, other.vectors, atol=1e-7)


@pytest.mark.parametrize("unit", [1e-180, 1e180])
@pytest.mark.parametrize("method", METHODS)
def test_tiny_and_huge_similarities(method, unit):
    matrix = np.diag(np.arange(1.0, 61.0))
    found = eigenpairs(DenseGram(unit * matrix), 2, method=method)
    np.testing.assert_allclose(found.values / unit, [60.0, 59.0])


def test_signs_follow_the_rule():
    vectors = np.array([[0.1, -0.9, 0.5], [-0.8, 0.2, -0.5], [0.3, 0.1, 0.5]])
    assert np.array_equal(np.sign(fixed_signs(vectors)), [[-1, 1, 1], [1, -1, -1], [-1, -1, 1]])


def test_smallest_and_all():
    matrix = np.random.default_rng(0).standard_normal((650, 650))
    gram = DenseGram(matrix + matrix.T)
    values = np.linalg.eigvalsh(gram.matrix)
    assert smallest_eigenvalue(gram) == pytest.approx(values[0], rel=1e-10)
    np.testing.assert_allclose(eigenvalues(gram, 3), values[::-1][:3], rtol=1e-10)
    np.testing.assert_allclose(eigenpairs(gram, 3, which="smallest").values, values[:3], rtol=1e-10)
    assert np.linalg.eigvalsh(shift(gram, "psd").dense())[0] > -1e-8


def test_bad_input():
    gram = DenseGram(np.eye(5))
    for arguments, message in [
        ({"count": 0}, r"count must be between 1 and 5 \(the number of documents\)"),
        ({"count": 6}, "count must be between 1 and 5"),
        ({"count": 2, "which": "middle"}, "which must be 'largest' or 'smallest'"),
        ({"count": 2, "method": "magic"}, "method must be one of 'lapack', 'lanczos', 'randomised'"),
        ({"count": 2, "seed": -1}, "seed must be at least 0"),
        ({"count": 2, "start": np.ones(4)}, r"start must have 5 entries.*\(4,\)"),
        ({"count": 2, "floor": 0.0, "which": "smallest"}, "floor is for the largest"),
    ]:
        with pytest.raises(InputError, match=message):
            eigenpairs(gram, arguments.pop("count"), **arguments)
    lopsided = LinearOperator((5, 5), lambda v: np.triu(np.ones((5, 5))) @ v, dtype=float)
    with pytest.raises(InputError, match="gram must be symmetric"):
        eigenpairs(lopsided, 2)
    with pytest.raises(InputError, match="must be square"):
        eigenpairs(LinearOperator((5, 4), lambda v: np.ones(5), dtype=float), 2)
    with pytest.raises(InputError, match="must be symmetric"):
        eigenpairs(np.triu(np.ones((5, 5))), 2)
    nearly = sp.lil_array(sp.diags_array(np.linspace(1.0, 2.0, 2000)))
    nearly[0, 1] = 1e-3  # one entry in four million, that products with random vectors do not show
    with pytest.raises(InputError, match="must be symmetric"):
        eigenpairs(nearly.tocsr(), 2)
    odd = FunctionGram(lambda a, b: np.full((len(a), len(b)), np.nan), np.ones((20, 1)), lambda a: np.ones(len(a)))
    for method in METHODS:
        with pytest.raises(InputError, match="finite"):
            eigenpairs(odd, 2, method=method)
    assert np.array_equal(eigenpairs(LinearGram(np.zeros((9, 2))), 2).values, [0.0, 0.0])


@pytest.mark.parametrize("method", ["lanczos", "randomised"])
def test_no_answer_is_said(method):
    tail = parse_kernel("gaussian(1)").gram(np.random.default_rng(0).random((300, 6)))
    with pytest.raises(ConvergenceError, match=r"eigenpairs of .* were not all found: .*method='lapack'"):
        eigenpairs(tail, 3, which="smallest", method=method)


def test_graph_operators_conform():
    rng = np.random.default_rng(0)
    x = rng.random((14, 4))
    scale, added = rng.random(14), rng.random(14)
    known = np.linalg.qr(rng.standard_normal((14, 2)))[0]
    matrix = scale[:, None] * (x @ x.T) * scale + np.diag(added) - 3.0 * known @ known.T
    check_gram(GraphOperator(LinearGram(x), scale, added, known, 3.0), matrix)
    links = np.where(rng.random((14, 14)) < 0.3, rng.random((14, 14)), 0.0)
    check_gram(SparseGram(sp.csr_array(links + links.T)), links + links.T)
    check_gram(SparseGram(sp.csr_array((links + links.T).astype(np.float32))), (links + links.T).astype(np.float32))
    single = sp.csr_array(np.array([[1.0, 0.3], [0.3 * (1 + 1e-6), 1.0]], dtype=np.float32))
    assert SparseGram(single).dtype == np.float32  # symmetric up to rounding, as for a DenseGram
    for bad, message in [
        (np.eye(3), "needs a sparse matrix"),
        (sp.csr_array(np.ones((2, 3))), "must be square"),
        (sp.csr_array(np.triu(np.ones((3, 3)))), "must be symmetric"),
        (sp.csr_array(np.array([[np.nan, 0.0], [0.0, 1.0]])), "NaN"),
    ]:
        with pytest.raises(InputError, match=message):
            SparseGram(bad)


def test_components_through_terms_rows_and_links_are_the_same():
    rng = np.random.default_rng(3)
    for _ in range(20):
        x = sp.csr_array(rng.random((40, 60)) * (rng.random((40, 60)) < 0.02))
        gram = parse_kernel("cosine").gram(x)
        matrix = gram.dense()
        found = components(gram)
        assert np.array_equal(found, components(DenseGram(matrix)))
        assert np.array_equal(found, components(SparseGram(sp.csr_array(matrix))))
        assert (np.diff(np.bincount(found)) <= 0).all()
        np.testing.assert_allclose(degrees(gram), matrix.sum(axis=1) - matrix.diagonal(), atol=1e-12)


def test_a_start_and_a_tolerance_save_products():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((700, 80)) * np.linspace(1.0, 3.0, 80)
    gram = LinearGram(x)
    plain = eigenpairs(gram, 2)
    near = eigenpairs(gram, 2, start=plain.vectors.sum(axis=1))
    rough = eigenpairs(gram, 2, tolerance=1e-5)
    assert max(near.products, rough.products) < plain.products
    np.testing.assert_allclose(near.values, plain.values, rtol=1e-10)
    np.testing.assert_allclose(rough.values, plain.values, rtol=1e-6)
    assert 1e-12 < rough.residual < 1e-5


def test_what_follows_is_seen():
    for n, method in ((50, "lapack"), (300, "lanczos"), (300, "randomised")):
        values = np.linspace(1.0, 2.0, n)
        assert eigenpairs(np.diag(values), 3, method=method).following == pytest.approx(values[-4], rel=1e-2)
        low = eigenpairs(np.diag(values), 3, which="smallest", method=method)
        assert low.following == pytest.approx(values[3], rel=1e-2)
    assert eigenpairs(np.diag(values), 300).following == -np.inf


@pytest.mark.parametrize("method", METHODS)
def test_what_is_below_the_floor_is_left_out(method):
    x = np.random.default_rng(0).standard_normal((300, 3))
    pairs = eigenpairs(LinearGram(x), 6, method=method, floor=1e-8)
    assert pairs.vectors.shape == (300, 3)
    assert len(eigenpairs(LinearGram(x), 2, method=method, floor=1e9).values) == 0


def test_a_flat_spectrum_needs_restarts():
    rng = np.random.default_rng(0)
    turn = np.linalg.qr(rng.standard_normal((500, 500)))[0]
    matrix = (turn * np.linspace(0, 1, 500) ** 0.25) @ turn.T
    found = eigenpairs((matrix + matrix.T) / 2, 2)
    np.testing.assert_allclose(found.values, np.linspace(0, 1, 500)[-1:-3:-1] ** 0.25, rtol=1e-9)
    assert found.products > 2 * 64


def test_too_many_products_end_in_lapack_or_an_error(monkeypatch):
    monkeypatch.setattr("grampus.gram.lanczos.MOST_PRODUCTS", -10)
    matrix = np.random.default_rng(0).standard_normal((300, 300))
    gram = DenseGram(matrix @ matrix.T)
    with pytest.raises(ConvergenceError, match="20 products were not enough for residuals of 1e-12"):
        eigenpairs(gram, 1, method="lanczos")
    assert eigenpairs(gram, 1).method == "lapack"


@pytest.mark.parametrize("method", ["lanczos", "randomised"])
@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (lambda values, vectors: (values[:1], vectors[:, :1]), "1 came"),
        (lambda values, vectors: (values, vectors[:, [0, 0, 0]]), "not orthonormal"),
        (lambda values, vectors: (values, vectors * np.nan), "not orthonormal"),
        (lambda values, vectors: (values * 1.01, vectors), "a residual of"),
    ],
)
def test_a_wrong_answer_of_an_iteration_never_gets_out(monkeypatch, method, fault, message):
    solver = eigen._SOLVERS[method]
    monkeypatch.setitem(eigen._SOLVERS, method, lambda *search: fault(*solver(*search)))
    x = np.random.default_rng(0).standard_normal((300, 8))
    with pytest.raises(ConvergenceError, match=message):
        eigenpairs(LinearGram(x), 3, method=method)
    if method == "lanczos":
        assert eigenpairs(LinearGram(x), 3).method == "lapack"


@pytest.mark.parametrize("count", [1, 4, 9])
def test_copies_of_eigenvalues_on_symmetric_data(count):
    angles = np.arange(360) * 2 * np.pi / 360
    circle = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    for matrix in (
        np.eye(300),
        np.exp(10 * (circle @ circle.T - 1)),
        np.kron(np.eye(5), np.diag([3.0, 2.0, 1.0] * 30)),
    ):
        found = eigenpairs(matrix, count, method="lanczos")
        np.testing.assert_allclose(found.values, np.linalg.eigvalsh(matrix)[::-1][:count], rtol=1e-10)


def test_copies_of_a_document_get_equal_entries():
    x = np.random.default_rng(0).random((400, 30))
    pairs = eigenpairs(LinearGram(np.concatenate([x, x])), 5)
    np.testing.assert_allclose(pairs.vectors[:400], pairs.vectors[400:], atol=1e-14)


def same_with_any_threads(gram, plain):
    """Return pairs that are the same with one thread and three, and those of another search but for rounding."""
    found = []
    for threads in (1, 3):
        with grampus.config(threads=threads):
            found.append(eigenpairs(gram, plain.vectors.shape[1], method="lanczos"))
    np.testing.assert_array_equal(found[0].vectors, found[1].vectors)
    np.testing.assert_allclose(found[0].values, plain.values, rtol=1e-12)
    np.testing.assert_allclose(found[0].vectors, plain.vectors, atol=1e-9)
    return found[0]


@pytest.mark.parametrize("scaled", [False, True])
def test_the_side_of_the_terms_finds_the_same_pairs_with_any_threads(scaled, monkeypatch):
    rng = np.random.default_rng(0)
    rows = sp.csr_array(np.eye(900, 60) + rng.random((900, 60)) * (rng.random((900, 60)) < 0.1))
    gram = parse_kernel("cosine" if scaled else "linear").gram(rows)
    plain = eigenpairs(gram, 8, method="lanczos")
    monkeypatch.setattr(feature_pairs, "_MANY", 100)
    monkeypatch.setattr("grampus._native.vectors.LEAST", 128)
    assert same_with_any_threads(gram, plain).products != plain.products  # it was another search


@pytest.mark.parametrize("scaled", [False, True])
def test_the_products_of_dense_columns_give_the_same_pairs_with_any_threads(scaled, monkeypatch):
    rows = np.random.default_rng(0).standard_normal((900, 40)) * np.linspace(1, 3, 40)
    gram = parse_kernel("cosine" if scaled else "linear").gram(np.concatenate([rows, rows[:30]]))
    plain = eigenpairs(gram, 8, method="lanczos")
    monkeypatch.setattr(feature_pairs, "_SEVERAL", 100)
    monkeypatch.setattr(feature_pairs, "_STEP", 64)
    found = same_with_any_threads(gram, plain)
    assert found.products == 40 != plain.products
    np.testing.assert_allclose(found.following, plain.following, rtol=0.5)
    np.testing.assert_allclose(found.vectors[900:], found.vectors[:30], atol=1e-14)


def test_pairs_too_small_for_the_products_of_columns_are_found_by_iteration(monkeypatch):
    monkeypatch.setattr(feature_pairs, "_SEVERAL", 100)
    rows = np.diag([1.0, 1e-1, 1e-4, 1e-5, 1e-6, 1e-7])[np.arange(300) % 6]
    found = eigenpairs(LinearGram(rows), 4, method="lanczos")
    np.testing.assert_allclose(found.values, 50 * np.array([1.0, 1e-2, 1e-8, 1e-10]), rtol=1e-3)


def test_pairs_too_small_for_the_side_of_the_terms_are_found_on_the_other(monkeypatch):
    monkeypatch.setattr(feature_pairs, "_MANY", 100)
    rows = sp.csr_array(np.diag([1.0, 1e-1, 1e-4, 1e-5, 1e-6, 1e-7])[np.arange(300) % 6])
    found = eigenpairs(LinearGram(rows), 4, method="lanczos")
    np.testing.assert_allclose(found.values, 50 * np.array([1.0, 1e-2, 1e-8, 1e-10]), rtol=1e-3)
