"""Every Gram, every transform and deep nestings pass the conformance suite against their naive twins."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from grampus.gram import DenseGram, FunctionGram, Gram, LinearGram
from grampus.kernels import parse_kernel
from grampus.testing import check_gram
from tests.reference import naive

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


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("layout", ["dense", "sparse"])
@pytest.mark.parametrize("spelling", CHAINS)
def test_chain_conforms(spelling, layout, dtype):
    fitted, new = collection(N, 0), collection(NEW, 1)
    fitted, new = fitted.astype(dtype), new.astype(dtype)
    plain, twin = twin_of(spelling, fitted.astype(float), new.astype(float))
    x = sp.csr_array(fitted) if layout == "sparse" else fitted
    gram = parse_kernel(spelling).gram(x)
    assert gram.dtype == dtype
    # single precision and tiny entries: what is near 0 is relative to the largest entry
    check_gram(gram, twin.K, extension=((plain.C, plain.d), (twin.C, twin.d)))


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
    check_gram(kernel.gram(matrix), twin.K, extension=((plain.C, plain.d), (twin.C, twin.d)))


@pytest.mark.parametrize("transforms", ["", "|shift", "|normalise|centre|map"])
@pytest.mark.parametrize("neighbours", [1, 3, 7])
def test_selftuning_conforms(neighbours, transforms):
    fitted, new = collection(N, 5), collection(NEW, 6)
    plain = naive.source("distance", fitted, new)
    twin = naive.selftune(plain, neighbours)
    for transform in filter(None, transforms.split("|")):
        twin = TRANSFORMS[transform](twin)
    kernel = parse_kernel(f"selftuning({neighbours}){transforms}")
    check_gram(kernel.gram(fitted), twin.K, extension=((plain.C, plain.d), (twin.C, twin.d)))


NYSTROM = [
    "linear|nystrom(4)",
    "linear|nystrom(3)",
    "linear|nystrom(99)",
    "polynomial(2)|nystrom(6)",
    "gaussian(1.5)|nystrom(5)",
    "gaussian(sigma=0.7)|nystrom(14, choose=kmeans++)",
    "gaussian(1.5)|nystrom(6, choose=leverage, seed=3)",
    "gaussian(1.5)|nystrom(8, rank=3)",
    "linear|normalise|nystrom(6)|shift",
    "linear|normalise|nystrom(6)|normalise|shift",
    "linear|normalise(1)|nystrom(6)|normalise(10)",
    "linear|normalise|power(2)|nystrom(6)|map",
    "linear|shift(0.3)|normalise|nystrom(6)",
    "linear|centre|nystrom(5)|centre",
    "gaussian(1.5)|map|nystrom(5)|shift(0.3)",
]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("layout", ["dense", "sparse"])
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
    check_gram(gram, twin.K, extension=((plain.C, plain.d), (twin.C, twin.d)))
    cross, own = parse_kernel(spelling).extend(sp.csr_array(new) if layout == "sparse" else new, gram)
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


class Forgetful(DenseGram):
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

    def _take(self, index):
        return (
            DenseGram(self.matrix[np.ix_(np.sort(index), np.sort(index))])
            if self.fault == "take"
            else Gram._take(self, index)
        )

    def _extend(self, cross, diagonal):
        return (cross + 1e-6, diagonal) if self.fault == "extend" else (cross, diagonal)


@pytest.mark.parametrize("fault", ["block", "diagonal", "matmul", "sparse", "argument", "take", "extend"])
def test_the_suite_sees_faults(fault):
    x = collection(N, 8)
    gram = Forgetful(x @ x.T)
    extension = ((x[:2] @ x.T, np.ones(2)), (x[:2] @ x.T, np.ones(2)))
    check_gram(gram, x @ x.T, extension=extension)
    gram.fault = fault
    with pytest.raises(AssertionError, match=r"differs|changed"):
        check_gram(gram, x @ x.T, extension=extension)
