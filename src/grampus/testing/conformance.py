"""check_gram: one suite for every Gram, against a dense twin that is computed naively."""

from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._array import Array, as_numpy
from .._config import config
from ..gram import Collection, Gram

# One row at a time, a few rows, the default.
_TILES: tuple[int | None, ...] = (1, 1000, None)


def check_gram(
    gram: Gram,
    dense: Any,
    *,
    extension: tuple[tuple[Any, Any], tuple[Any, Any]] | None = None,
    new: Any = None,
    namespace: ModuleType = np,
    tolerance: float | None = None,
    random_state: int = 0,
) -> None:
    """Check that a Gram does everything a Gram must, against its matrix computed in some plain way.

    Compares entries (``block``, ``diagonal``, ``dense``, ``trace``), products (``@``, ``sum_by``,
    ``to_linear_operator``) and what the Gram says about itself (``features``, ``split_shift``, ``cost``,
    ``documents``, ``canonical``, ``non_negative``), all of it for parts too, and new documents (``extend``,
    ``compare``); over index forms, types, memory layouts, tile sizes and sparse right-hand sides.

    Parameters
    ----------
    gram : Gram
        The Gram under test; keep it small (up to a hundred documents).
    dense : array of shape (n, n)
        What it must equal.
    extension : ((cross, diagonal), (expected_cross, expected_diagonal)), optional
        New documents under the plain kernel, and what ``gram.extend`` must make of them. An expected diagonal of None
        is not compared.
    new : collection, optional
        The documents of `extension` as the kernel takes them, for ``gram.compare``.
    namespace : module
        Another array library: the Gram must answer as before, and its blocks must be the same if its arrays are
        moved there.
    tolerance : float, optional
        Allowed difference relative to the largest entry; 1e-9 for float64 and 1e-4 for float32 by default.
    random_state : int
        Seed of the indices and vectors that are tried.

    Raises
    ------
    AssertionError
        With the part that differs.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.gram import LinearGram, centre
    >>> from grampus.testing import check_gram
    >>> x = np.random.default_rng(0).random((12, 3))
    >>> check_gram(centre(LinearGram(x)), (x - x.mean(axis=0)) @ (x - x.mean(axis=0)).T)
    """
    dense = np.asarray(dense, dtype=np.float64)
    assert gram.shape == dense.shape, f"shape is {gram.shape}, the dense twin's {dense.shape}"
    assert gram.dtype in (np.float32, np.float64), f"dtype must be float32 or float64; it is {gram.dtype}"
    if tolerance is None:
        tolerance = 1e-9 if gram.dtype == np.float64 else 1e-4
    suite = _Suite(dense, tolerance, random_state)
    for tile in _TILES:
        with config(tile=tile):
            suite.entries(gram, dense)
            suite.sums(gram, dense)
            if tile != 1:  # products over uneven tiles
                suite.products(gram, dense)
    suite.answers(gram, dense)
    suite.parts(gram)
    suite.operator(gram)
    if namespace is not np:
        suite.elsewhere(gram, namespace)
    if extension is not None:
        suite.extension(gram, *extension)
        if new is not None:
            suite.comparison(gram, new, extension[1])


class _Suite:
    """The checks, with what they compare against."""

    def __init__(self, dense: Array, tolerance: float, seed: int) -> None:
        self.dense, self.tolerance = dense, tolerance
        self.peak = max(float(np.abs(dense).max()), 1e-300)
        self.rng = np.random.default_rng(seed)

    def same(self, got: Any, wanted: Array, what: str, *, scale: float = 1.0, single: bool = False) -> None:
        """Compare relative to the largest entry times `scale`; `single` allows for float32 arithmetic."""
        assert isinstance(got, np.ndarray), f"{what}: must be an array of NumPy; got {type(got).__name__}"
        assert got.shape == wanted.shape, f"{what}: shape is {got.shape}, must be {wanted.shape}"
        assert np.isfinite(got).all(), f"{what}: not finite"
        allowed = (max(self.tolerance, 1e-5) if single else self.tolerance) * self.peak * scale
        gap = float(np.abs(got - wanted).max(initial=0.0))
        assert gap <= allowed, f"{what}: differs by {gap:.3g}, more than {allowed:.3g}"

    def indices(self, n: int) -> Iterator[tuple[str, Any, Array]]:
        """Yield forms an index may take, with the integers they mean."""
        order = np.arange(n)
        some = self.rng.integers(0, n, size=min(n, 5))
        yield "all", None, order
        yield "slice", slice(n // 3, n), order[n // 3 :]
        yield "step", slice(0, n, 2), order[::2]
        yield "repeated", some, some
        yield "list", [int(i) for i in order[::-1][:3]], order[::-1][:3]
        yield "negative", [-1], order[-1:]
        yield "mask", order % 3 == 0, order[order % 3 == 0]
        yield "none", [], order[:0]

    def entries(self, gram: Gram, dense: Array) -> None:
        n = len(dense)
        self.same(gram.diagonal(), dense.diagonal(), "diagonal")
        self.same(gram.dense(), dense, "dense")
        self.same(np.array([gram.trace()]), np.array([dense.trace()]), "trace", scale=n)
        forms = list(self.indices(n))
        for turn in (0, 1, 3):  # each form with itself and with two others, as rows and as columns
            for (row_form, rows, row_numbers), (col_form, cols, col_numbers) in zip(
                forms, forms[turn:] + forms[:turn], strict=True
            ):
                block = gram.block(rows, cols)
                self.same(block, dense[np.ix_(row_numbers, col_numbers)], f"block[{row_form}, {col_form}]")
                block += 1.0  # a block is the caller's own: writing to it must not reach the Gram
        self.same(gram.diagonal(), dense.diagonal(), "diagonal after blocks were changed")
        self.same(gram.dense(), dense, "dense after blocks were changed")

    def right_hand_sides(self, n: int) -> Iterator[tuple[str, Any]]:
        """Yield vectors and matrices to multiply with."""
        v = self.rng.standard_normal((n, 4))
        for dtype in (np.float64, np.float32):
            yield f"1-D {dtype.__name__}", v[:, 0].astype(dtype)
            yield f"C {dtype.__name__}", np.ascontiguousarray(v, dtype=dtype)
            yield f"F {dtype.__name__}", np.asfortranarray(v, dtype=dtype)
            few = v * (self.rng.random(v.shape) < 0.2)
            yield f"csr {dtype.__name__}", sp.csr_array(few.astype(dtype))
            yield f"csc {dtype.__name__}", sp.csc_array(few.astype(dtype))
        yield "strided", np.repeat(v, 2, axis=1)[:, ::2]
        yield "integer", self.rng.integers(-3, 4, size=(n, 2))
        yield "no columns", np.zeros((n, 0))
        yield "sparse without entries", sp.csr_array((n, 3))
        indicator = sp.csr_array((np.ones(n), np.arange(n) % 3, np.arange(n + 1)), shape=(n, 3))
        yield "indicator", indicator

    def products(self, gram: Gram, dense: Array) -> None:
        n = len(dense)
        for form, v in self.right_hand_sides(n):
            plain = v.toarray() if sp.issparse(v) else np.asarray(v)
            single = np.float32 in (gram.dtype, plain.dtype)
            scale = max(float(np.abs(plain).max(initial=1.0)), 1.0) * n
            before = plain.copy()
            product = gram @ v
            self.same(product, dense @ plain, f"@ {form}", scale=scale, single=single)
            wanted = np.result_type(gram.dtype, plain.dtype if plain.dtype.kind == "f" else np.float64)
            assert product.dtype == wanted, f"@ {form}: dtype is {product.dtype}, must be {wanted}"
            after = v.toarray() if sp.issparse(v) else v
            assert np.array_equal(before, after), f"@ {form}: changed its right-hand side"

    def sums(self, gram: Gram, dense: Array) -> None:
        """Compare ``sum_by`` with the product by the weighted indicator matrix."""
        n = len(dense)
        weights = self.rng.choice([0.0, 0.5, 1.0, 3.0], n)
        some = np.where(self.rng.random(n) < 0.3, -1, np.arange(n) % 3)
        forms: dict[str, tuple[Any, int | None, Any]] = {
            "all": (np.arange(n) % 3, None, None),
            "some": (some, 3, None),
            "weights": (some, 3, weights),
            "empty groups": (np.arange(n) % 2, 5, weights),
            "list": ([0] * n, 1, [1] * n),
            "nobody": (np.full(n, -1), 2, None),
        }
        for form, (labels, k, mass) in forms.items():
            numbers = np.array(labels)
            before = numbers.copy()
            count = int(numbers.max(initial=-1)) + 1 if k is None else k
            spread = (numbers[:, None] == np.arange(count)) * np.asarray(np.ones(n) if mass is None else mass)[:, None]
            summed = gram.sum_by(labels, k, mass)
            self.same(summed, dense @ spread, f"sum_by, {form}", scale=3.0 * n, single=gram.dtype == np.float32)
            assert summed.dtype == np.float64, f"sum_by, {form}: dtype is {summed.dtype}, must be float64"
            assert np.array_equal(np.asarray(labels), before), f"sum_by, {form}: changed its labels"

    def answers(self, gram: Gram, dense: Array) -> None:
        """Check what the Gram says about itself."""
        n = len(dense)
        self.explicit(gram, dense)
        base, sigma = gram.split_shift()
        self.same(base.dense() + sigma * np.eye(n), dense, "split_shift")
        below, rest = base.split_shift()
        assert below is base, "split_shift: what is left differs by a shift still"
        assert rest == 0, "split_shift: what is left differs by a shift still"
        cost = gram.cost()
        for name in ("product", "row", "whole"):
            value = getattr(cost, name)
            assert np.isfinite(value), f"cost: {name} differs from a number: {value}"
            assert value > 0 or name == "whole", f"cost: {name} is {value}, must be positive"
        assert cost.whole > 0 or hasattr(gram, "matrix"), "cost: whole is 0, but no matrix is stored"
        assert np.isfinite(gram.magnitude), "magnitude: not finite"
        signs = gram.non_negative()
        low = float(dense.min(initial=0.0))
        others = float((dense - np.diag(dense.diagonal())).min(initial=0.0))
        assert signs is not True or others >= -self.tolerance * self.peak, f"non_negative is True; one is {others:.3g}"
        assert signs is not False or low < 0, "non_negative is False; no similarity is"
        self.names(gram, dense)

    def explicit(self, gram: Gram, dense: Array) -> None:
        """Check the features, where there are some."""
        features = gram.features()
        if features is None:
            return
        rows = features.rows.toarray() if sp.issparse(features.rows) else np.asarray(features.rows)
        rows = rows.astype(np.float64) * features.scale[:, None]
        self.same(rows @ rows.T, dense, "features")
        self.same(features.squares(), dense.diagonal(), "features: squares", single=gram.dtype == np.float32)
        some = np.array([len(dense) - 1, 0])
        part = features.take(some)
        self.same(part.onto(rows.T), dense[some], "features: onto", single=gram.dtype == np.float32)

    def names(self, gram: Gram, dense: Array) -> None:
        """Check the documents, the canonical order, and that both go along with a part."""
        n, collection = len(dense), gram.documents()
        assert isinstance(collection, Collection), f"documents: must be a Collection; got {type(collection).__name__}"
        assert collection.n == n, f"documents: there are {collection.n}, must be {n}"
        for i, j in zip(collection.first[collection.group], range(n), strict=True):  # copies resemble the others alike
            if i != j and not gram.source.approximate:  # landmarks differ from their copies after a shift
                others = np.setdiff1d(np.arange(n), [i, j])
                self.same(dense[j, others], dense[i, others], f"documents: {j} is no copy of {i}: a row")
        ordered, order = gram.canonical()
        assert np.array_equal(np.sort(order), np.arange(n)), "canonical: the order differs from a permutation"
        self.same(ordered.dense(), dense[np.ix_(order, order)], "canonical")
        assert ordered.documents().is_canonical, "canonical: the order of the documents differs"
        index = self.rng.permutation(n)[: max(1, n // 2)]
        carried = gram.take(index).documents()
        assert carried.n == len(index), f"take: there are {carried.n} documents, must be {len(index)}"
        if collection.names is not None:
            assert carried.names is not None, "take: the documents lost their names: that differs"
            assert np.array_equal(carried.names, collection.names[index]), "take: the names of the documents differ"

    def parts(self, gram: Gram) -> None:
        n = len(gram)
        for index in (self.rng.permutation(n), self.rng.permutation(n)[: max(1, n // 2)], np.array([n - 1])):
            part, dense = gram.take(index), self.dense[np.ix_(index, index)]
            assert part.dtype == gram.dtype, f"take: dtype is {part.dtype}, must be {gram.dtype}"
            self.entries(part, dense)
            self.products(part, dense)
            self.sums(part, dense)
            self.answers(part, dense)
            inner = self.rng.permutation(len(index))[: max(1, len(index) // 2)]
            self.same(part.take(inner).dense(), dense[np.ix_(inner, inner)], "take of take")

    def operator(self, gram: Gram) -> None:
        v = self.rng.standard_normal((len(gram), 2))
        scale = float(np.abs(v).max()) * len(gram)
        operator = gram.to_linear_operator()
        self.same(operator.matvec(v[:, 0]), self.dense @ v[:, 0], "to_linear_operator: matvec", scale=scale)
        self.same(operator.matmat(v), self.dense @ v, "to_linear_operator: matmat", scale=scale)
        self.same(operator.rmatvec(v[:, 0]), self.dense @ v[:, 0], "to_linear_operator: rmatvec", scale=scale)

    def elsewhere(self, gram: Gram, namespace: ModuleType) -> None:
        """Move the arrays to another library, and compute blocks there: by slices and by numbers, also of a part."""
        n = len(gram)
        index = self.rng.permutation(n)[: max(1, n // 2)]
        for some, dense in ((gram, self.dense), (gram.take(index), self.dense[np.ix_(index, index)])):
            moved = some._moved(namespace)
            if moved is None:
                continue  # the processor computes its rows
            everything, half = slice(0, len(dense)), np.arange(len(dense))[::-2]
            assert moved.namespace is namespace, f"namespace is {moved.namespace.__name__}, must be the one asked for"
            for form, rows, numbers in (
                ("slice", slice(1, len(dense)), np.arange(len(dense))[1:]),
                ("numbers", namespace.asarray(half, dtype=np.int32), half),
            ):
                block = moved._block(rows, everything)
                kind = namespace.ndarray
                assert isinstance(block, kind), f"block elsewhere must be {kind.__name__}; got {type(block).__name__}"
                self.same(as_numpy(block), dense[numbers], f"block elsewhere by {form}")

    def extension(self, gram: Gram, similarities: tuple[Any, Any], wanted: tuple[Any, Any]) -> None:
        cross, diagonal = (None if part is None else np.asarray(part) for part in similarities)
        assert cross is not None
        for name, rows in (
            ("all", slice(None)),
            ("one", slice(0, 1)),
            ("none", slice(0, 0)),
            ("last", slice(-1, None)),
        ):
            new, self_similar = gram.extend(cross[rows], None if diagonal is None else diagonal[rows])
            self.same(new, np.asarray(wanted[0])[rows], f"extend, {name} of the new documents")
            if wanted[1] is not None:
                self.same(self_similar, np.asarray(wanted[1])[rows], f"extend, self-similarity of {name}")

    def comparison(self, gram: Gram, new: Any, wanted: tuple[Any, Any]) -> None:
        """Compare new documents as the kernel takes them: similarities, sums by group, self-similarities."""
        cross, n = np.asarray(wanted[0]), len(gram)
        labels, weights = np.arange(n) % 3 - 1, self.rng.random(n)
        spread = (labels[:, None] == np.arange(2)) * weights[:, None]
        base, sigma = gram.split_shift()
        explicit = base.features()
        directions = None if explicit is None else explicit.sum_by(labels, 2, weights)
        start, single = 0, gram.dtype == np.float32
        for part in gram.compare(new):
            rows = slice(start, start + len(part))
            start = rows.stop
            self.same(part.cross, cross[rows], "compare: similarities")
            summed = part.sum_by(labels, 2, weights, directions)
            self.same(summed, cross[rows] @ spread, "compare: sum_by", scale=n, single=single)
            if wanted[1] is not None and part.diagonal is not None:
                self_similar = np.asarray(wanted[1])[rows] - sigma
                self.same(part.diagonal, self_similar, "compare: self-similarities", single=single)
        assert start == len(cross), f"compare: {start} of {len(cross)} new documents came back"
