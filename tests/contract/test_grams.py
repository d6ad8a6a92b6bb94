"""Every Gram, every transform and deep nestings pass the conformance suite against their naive twins."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import grampus
from grampus import gpu
from grampus.errors import InputError
from grampus.gpu import card
from grampus.gram import (
    Collection,
    Cost,
    DenseGram,
    Features,
    FunctionGram,
    LinearGram,
    SparseGram,
    relative_error,
    store,
)
from grampus.gram.graph import GraphOperator, nearest_neighbors
from grampus.kernels import parse_kernel
from grampus.testing import check_gram
from tests.reference import naive, standin

N, NEW, COLUMNS = 14, 4, 6


def collection(n: int, seed: int, *, signed: bool = False) -> np.ndarray:
    """Sparse-looking rows, one of them zero, two of them equal."""
    rng = np.random.default_rng(seed)
    x = rng.random((n, COLUMNS)) * (rng.random((n, COLUMNS)) < 0.6)
    if signed:
        x -= 0.3 * (x > 0)
    x[1] = x[0]
    x[2] = 0.0
    return x


SOURCES = {
    "linear": ("linear", {}),
    "polynomial(2)": ("polynomial", {"degree": 2}),
    "polynomial(3, coef0=0)": ("polynomial", {"degree": 3, "coef0": 0}),
    "gaussian(1.5)": ("gaussian", {"rate": 1 / 1.5**2}),
    "gaussian(sigma=0.7)": ("gaussian", {"rate": 1 / (2 * 0.7**2)}),
    "gaussian(gamma=0.2)": ("gaussian", {"rate": 0.2}),
}
TRANSFORMS = {
    "shift": naive.shift,
    "shift(-0.5)": lambda t: naive.shift(t, -0.5),
    "shift(0.3)": lambda t: naive.shift(t, 0.3),
    "shift(psd)": lambda t: naive.shift(t, "psd"),
    "normalise": naive.normalise,
    "normalise(1)": lambda t: naive.normalise(t, 1),
    "normalise(10)": lambda t: naive.normalise(t, 10),
    "normalise(0.001)": lambda t: naive.normalise(t, 0.001),
    "normalise(inf)": lambda t: naive.normalise(t, np.inf),
    "power(0.6)": lambda t: naive.power(t, 0.6),
    "power(2)": lambda t: naive.power(t, 2),
    "centre": naive.centre,
    "map": naive.map_,
    "principal(3)": lambda t: naive.principal(t, 3),
    "principal(50)": lambda t: naive.principal(t, 50),
}
CHAINS = [
    *SOURCES,
    *(f"linear|{transform}" for transform in TRANSFORMS),
    *(f"gaussian(1.5)|{transform}" for transform in TRANSFORMS),
    "linear|normalise|shift",
    "linear|normalise|shift|map",
    "linear|normalise|power(0.6)|map",
    "linear|centre|map|shift",
    "linear|map|centre|normalise",
    "linear|normalise(1)|centre|map|shift(0.3)",
    "gaussian(1.5)|power(0.6)|normalise(10)|centre",
    "polynomial(2)|normalise(inf)|centre|shift",
    "gaussian(gamma=0.2)|centre|centre|map|map",
    "linear|normalise|principal(3)|normalise|shift",
    "gaussian(1.5)|centre|principal(3)|map",
    "linear|shift(0.3)|normalise(1)|power(0.6)|shift|map",
]


def twin_of(spelling: str, fitted: np.ndarray, new: np.ndarray) -> tuple[naive.Twin, naive.Twin]:
    """Return the naive twin of the plain kernel and of the whole chain."""
    head, *tail = spelling.split("|")
    name, parameters = SOURCES[head]
    plain = twin = naive.source(name, fitted, new, **parameters)
    for transform in tail:
        twin = TRANSFORMS[transform](twin)
    return plain, twin


# Sources and transforms of features in every layout and type, their other parameters in two, longer chains in one.
FORMS = [("dense", np.float64), ("sparse", np.float32), ("sparse", np.float64), ("dense", np.float32)]


FULL = {"linear", "polynomial(2)", "gaussian(1.5)"} | {
    f"linear|{name}" for name in ("shift", "normalise", "normalise(1)", "power(0.6)", "centre", "map", "principal(3)")
}


def forms(number: int, spelling: str) -> list[tuple[str, type]]:
    if spelling in FULL:
        return FORMS
    return FORMS[:2] if spelling in SOURCES or spelling.startswith("linear|") else [FORMS[number % 4]]


CASES = [(spelling, *form) for number, spelling in enumerate(CHAINS) for form in forms(number, spelling)]


@pytest.mark.parametrize(("spelling", "layout", "dtype"), CASES)
def test_chain_conforms(spelling, layout, dtype):
    fitted, new = collection(N, 0), collection(NEW, 1)
    fitted, new = fitted.astype(dtype), new.astype(dtype)
    plain, twin = twin_of(spelling, fitted.astype(float), new.astype(float))
    x = sp.csr_array(fitted) if layout == "sparse" else fitted
    gram = parse_kernel(spelling).gram(x)
    assert gram.dtype == dtype
    # single precision and tiny entries: what is near 0 is relative to the largest entry
    shown = sp.csr_array(new) if layout == "sparse" else new
    check_gram(gram, twin.K, extension=((plain.C, plain.d), (twin.C, twin.d)), new=shown)


@pytest.mark.parametrize("spelling", CHAINS)
def test_extend_reaches_new_documents_from_the_collection(spelling):
    fitted, new = collection(N, 2), collection(NEW, 3)
    _, twin = twin_of(spelling, fitted, new)
    kernel = parse_kernel(spelling)
    cross, diagonal = kernel.extend(sp.csr_array(new), kernel.gram(sp.csr_array(fitted)))
    np.testing.assert_allclose(cross, twin.C, atol=1e-9)
    np.testing.assert_allclose(diagonal, twin.d, atol=1e-9)
    np.testing.assert_allclose(kernel.cross(new, fitted), twin.C, atol=1e-9)


@pytest.mark.parametrize("layout", ["C", "F", "float32", "strided"])
@pytest.mark.parametrize("transform", ["shift", "normalise(1)", "centre", "map"])
def test_dense_gram_conforms(layout, transform):
    x = collection(N, 4)
    plain = naive.source("linear", x, x[:3])
    twin = TRANSFORMS[transform](plain)
    matrix = {
        "C": plain.K,
        "F": np.asfortranarray(plain.K),
        "float32": plain.K.astype(np.float32),
        "strided": np.repeat(np.repeat(plain.K, 2, axis=0), 2, axis=1)[::2, ::2],
    }[layout]
    kernel = parse_kernel(f"precomputed|{transform}")
    extension = ((plain.C, plain.d), (twin.C, twin.d))
    check_gram(kernel.gram(matrix), twin.K, extension=extension, new=(plain.C, plain.d))


@pytest.mark.parametrize("transforms", ["", "|shift", "|normalise|centre|map"])
@pytest.mark.parametrize("neighbours", [1, 3, 7])
def test_selftuning_conforms(neighbours, transforms):
    fitted, new = collection(N, 5), collection(NEW, 6)
    plain = naive.source("distance", fitted, new)
    twin = naive.selftune(plain, neighbours)
    for transform in filter(None, transforms.split("|")):
        twin = TRANSFORMS[transform](twin)
    kernel = parse_kernel(f"selftuning({neighbours}){transforms}")
    check_gram(kernel.gram(fitted), twin.K, extension=((plain.C, plain.d), (twin.C, twin.d)), new=new)


NYSTROM = [
    "linear|nystrom(4)", "linear|nystrom(3)", "linear|nystrom(99)", "polynomial(2)|nystrom(6)",
    "gaussian(1.5)|nystrom(5)", "gaussian(sigma=0.7)|nystrom(14, choose=kmeans++)",
    "gaussian(1.5)|nystrom(6, choose=leverage, seed=3)", "gaussian(1.5)|nystrom(8, rank=3)",
    "linear|normalise|nystrom(6)|shift", "linear|normalise|nystrom(6)|normalise|shift",
    "linear|normalise(1)|nystrom(6)|normalise(10)", "linear|normalise|power(2)|nystrom(6)|map",
    "linear|shift(0.3)|normalise|nystrom(6)", "linear|centre|nystrom(5)|centre",
    "gaussian(1.5)|map|nystrom(5)|shift(0.3)",
]  # fmt: skip


@pytest.mark.parametrize(("layout", "dtype"), FORMS[:2])
@pytest.mark.parametrize("spelling", NYSTROM)
def test_nystrom_conforms(spelling, layout, dtype):
    fitted, new = collection(N, 9).astype(dtype), collection(NEW, 10).astype(dtype)
    x = sp.csr_array(fitted) if layout == "sparse" else fitted
    gram = parse_kernel(spelling).gram(x)
    assert gram.dtype == dtype
    before, _, after = spelling.partition("|nystrom")
    arguments, *after = after.split("|")
    rank = 3 if "rank=3" in arguments else None
    plain, twin = twin_of(before, fitted.astype(float), new.astype(float))
    twin = naive.nystrom(twin, gram.source.landmarks, rank, 1e-11 if dtype == np.float64 else 1e-5)
    for transform in after:
        twin = TRANSFORMS[transform](twin)
    shown = sp.csr_array(new) if layout == "sparse" else new
    check_gram(gram, twin.K, extension=((plain.C, plain.d), (twin.C, twin.d)), new=shown)
    cross, own = parse_kernel(spelling).extend(shown, gram)
    tolerance = (1e-9 if dtype == np.float64 else 1e-4) * np.abs(twin.K).max()
    np.testing.assert_allclose(cross, twin.C, atol=tolerance)
    np.testing.assert_allclose(own, twin.d, atol=tolerance)


def test_linear_gram_with_signed_features_conforms():
    x = collection(N, 7, signed=True)
    check_gram(LinearGram(sp.csc_matrix(x)), x @ x.T)


def test_function_gram_conforms_over_a_list():
    words = ["a", "bb", "abba", "", "cab", "a"]
    shared = lambda a, b: np.array([[len(set(s) & set(t)) for t in b] for s in a], float).reshape(len(a), len(b))  # noqa: E731
    gram = FunctionGram(shared, words, lambda a: np.array([len(set(s)) for s in a], float))
    check_gram(gram, [[len(set(s) & set(t)) for t in words] for s in words])


@pytest.mark.parametrize("spelling", ["linear", "linear|centre", "linear|map", "linear|principal(3)", "cosine|shift"])
def test_stored_grams_and_parts_conform(spelling):
    x = collection(N, 11)
    gram = parse_kernel(spelling).gram(x)
    check_gram(store(gram), gram.dense())
    index = np.random.default_rng(0).permutation(N)[:9]
    check_gram(gram.take(index), gram.dense()[np.ix_(index, index)])


def test_sparse_and_graph_grams_conform():
    x = np.maximum(collection(N, 12) @ collection(N, 12).T - 0.5, 0.0)
    check_gram(SparseGram(sp.csr_array(x)), x)
    scale, added, known = np.linspace(1, 2, N), np.linspace(-1, 1, N), np.linalg.qr(np.ones((N, 1)))[0]
    operator = GraphOperator(DenseGram(x), scale, added, known, 3.0)
    check_gram(operator, scale[:, None] * x * scale + np.diag(added) - 3.0 * known @ known.T)


class Faulty(LinearGram):
    """A Gram with a fault that can be chosen: the suite must see each of them."""

    fault = ""

    def _block(self, rows, cols):
        block = super()._block(rows, cols)
        return block + 1e-6 if self.fault == "block" else block

    def _diagonal(self):
        return super()._diagonal() * (1 + 1e-6 * (self.fault == "diagonal"))

    def _matmul(self, v):
        out = super()._matmul(v)
        if self.fault == "sparse" and sp.issparse(v):
            out[0] += 1e-6
        if self.fault == "argument" and not sp.issparse(v) and v.size:
            v *= 1.0 + 1e-9
        return out + 1e-6 * (self.fault == "matmul")

    def _sum_by(self, labels, k, weights):
        if self.fault == "sum_by of nobody":  # −1 read as the last group
            labels = labels % k
        if self.fault == "sum_by of weights":
            weights = np.ones(len(self))
        out = super()._sum_by(labels, k, weights)
        return out.astype(np.float32) if self.fault == "sum_by in float32" else out

    def _take(self, index):
        if self.fault == "take":
            index = np.sort(index)
        part = Faulty(self.rows[index])._part_of(self, index)
        return part.named(Collection.unknown(len(index))) if self.fault == "documents of a part" else part

    def _extend(self, cross, diagonal):
        return (cross + 1e-6, diagonal) if self.fault == "extend" else (cross, diagonal)

    def _new_features(self, new):
        return Features(2.0 * new, np.ones(len(new))) if self.fault == "compare" else super()._new_features(new)

    def features(self):
        found = super().features()
        return Features(found.rows, 1.001 * found.scale) if self.fault == "features" else found

    def split_shift(self):
        return (self, 0.5) if self.fault == "split_shift" else (self, 0.0)

    def cost(self):
        wrong = {"cost": Cost(np.nan, 1.0, 1.0), "nothing": Cost(0.0, 1.0, 1.0), "whole": Cost(1.0, 1.0, 0.0)}
        return wrong.get(self.fault, super().cost())

    def documents(self):
        found = super().documents()
        wrong = {
            "documents": found.take(np.arange(len(self) - 1)),
            "copies": Collection(np.zeros(len(self)), len(self)),
        }
        return wrong.get(self.fault, found)

    def canonical(self):
        ordered, order = super().canonical()
        if self.fault == "canonical":
            return ordered, order[::-1]
        return (ordered, np.zeros_like(order)) if self.fault == "permutation" else (ordered, order)

    def non_negative(self):
        return {"True": True, "False": False}.get(self.fault)


FAULTS = [
    "block", "diagonal", "matmul", "sparse", "argument", "sum_by of nobody", "sum_by of weights", "sum_by in float32",
    "take", "documents of a part", "extend", "compare", "features", "split_shift", "cost", "nothing", "whole",
    "documents", "copies", "canonical", "permutation", "True",
]  # fmt: skip


@pytest.mark.parametrize("fault", [*FAULTS, "False"])
def test_the_suite_sees_faults(fault):
    x, new = collection(N, 8, signed=fault != "False"), collection(NEW, 9)
    gram = Faulty(x)
    gram.kernel = parse_kernel("linear")
    expected = (new @ x.T, (new**2).sum(axis=1))
    check_gram(gram, x @ x.T, extension=(expected, expected), new=new)
    gram.fault = fault
    with pytest.raises(AssertionError):
        check_gram(gram, x @ x.T, extension=(expected, expected), new=new)


def test_selftuning_needs_more_documents_than_neighbours():
    x = collection(N, 0)
    with pytest.raises(InputError, match=rf"selftuning\({N}\) needs more than {N} documents"):
        parse_kernel(f"selftuning({N})").gram(x)
    assert len(parse_kernel(f"selftuning({N - 1})").gram(x)) == N


@pytest.mark.parametrize(("dtype", "near", "far"), [(np.float64, 1e-9, 1e-7), (np.float32, 5e-5, 5e-4)])
def test_a_sparse_matrix_must_be_symmetric_up_to_rounding(dtype, near, far):
    x = collection(N, 3)
    for apart, good in ((near, True), (far, False)):
        matrix = x @ x.T
        matrix[0, 4] += apart * matrix.max()
        if good:
            assert len(SparseGram(sp.csr_array(matrix.astype(dtype)))) == N
        else:
            with pytest.raises(InputError, match="must be symmetric"):
                SparseGram(sp.csr_array(matrix.astype(dtype)))


def test_an_error_is_estimated_from_two_blocks_on():
    x = collection(N, 3)
    gram = LinearGram(x)
    assert relative_error(gram, LinearGram(1.1 * x), blocks=2).value == pytest.approx(0.21, rel=1e-6)
    for options in ({"blocks": 1}, {"size": 1}):
        with pytest.raises(InputError, match="at least 2"):
            relative_error(gram, gram, **options)


def test_fewer_neighbours_are_those_of_more():
    gram, again = (parse_kernel("gaussian(2)").gram(collection(N, 5)) for _ in range(2))
    nearest_neighbors(gram, 6)
    for found, wanted in zip(nearest_neighbors(gram, 3), nearest_neighbors(again, 3), strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_documents_of_an_unknown_part_are_unknown():
    known, unknown = Collection.of(["a", "b", "a"]), Collection.unknown(3)
    assert Collection.join([known, unknown]).names is None
    assert Collection.join([unknown, unknown]).n == 3
    assert Collection.join([known, known]).names is not None


@pytest.fixture
def device(monkeypatch):
    """A stand-in for a GPU, used for everything that can."""
    xp = standin.library()
    monkeypatch.setattr(card, "_library", lambda: xp)
    monkeypatch.setattr(gpu, "LEAST", gpu.Least(*[0] * 6))
    with grampus.config(device="cuda"):
        yield xp


MOVED = {*SOURCES} | {
    f"{source}|{name}"
    for source in ("linear", "gaussian(1.5)")
    for name in ("normalise", "principal(3)", "principal(50)")
}


@pytest.mark.parametrize(("spelling", "layout", "dtype"), [case for case in CASES if case[0] in MOVED])
def test_chain_conforms_on_a_device(device, spelling, layout, dtype):
    fitted, new = (collection(n, seed).astype(dtype) for n, seed in ((N, 0), (NEW, 1)))
    plain, twin = twin_of(spelling, fitted.astype(float), new.astype(float))
    x, shown = (sp.csr_array(rows) if layout == "sparse" else rows for rows in (fitted, new))
    gram = parse_kernel(spelling).gram(x)
    check_gram(gram, twin.K, extension=((plain.C, plain.d), (twin.C, twin.d)), new=shown, namespace=device)


def test_these_chains_can_be_moved(device):
    rows = collection(N, 0)
    assert {spelling for spelling in CHAINS if parse_kernel(spelling).gram(rows)._moved(device) is not None} == MOVED


def test_the_suite_sees_a_fault_on_a_device(device):
    x = collection(N, 8)
    gram = LinearGram(x)
    check_gram(gram, x @ x.T, namespace=device)
    gram._moved = lambda _: LinearGram(2 * x)
    with pytest.raises(AssertionError, match="must be the one asked for"):
        check_gram(gram, x @ x.T, namespace=device)
    gram._moved = lambda xp: LinearGram._moved(LinearGram(2 * x), xp)
    with pytest.raises(AssertionError, match="block elsewhere by slice: differs"):
        check_gram(gram, x @ x.T, namespace=device)
