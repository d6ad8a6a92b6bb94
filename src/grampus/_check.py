"""Checks of arguments: each returns the value in the form that the library works with, or raises InputError."""

import math
import operator
from collections.abc import Iterable, Sequence
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from ._array import Array, Index, as_numpy, is_sparse, tiles
from ._config import require_memory
from .errors import InputError

FLOATS = (np.float64, np.float32)
_LARGEST = {np.float64: 1e70, np.float32: 1e17}  # absolute values; the smallest is the inverse
_REMEDIES = {  # what scikit-learn says of an array, and what to do about it
    "NaN": "Leave these rows out, or fill the gaps",
    "infinity": "Leave these rows out, or replace the values",
    "1D array": "Give X.reshape(-1, 1) if it is one column, X.reshape(1, -1) if it is one row",
    "scalar array": "Give a row of numbers for each document",
    "dim 3": "Give two dimensions, such as X.reshape(len(X), -1)",
    "Complex": "Give the real part, or the absolute values",
    "inhomogeneous": "Give rows of equal length",
    "convert": "Texts go to DocumentClusterer; turn other columns into numbers, or leave them out",
}
_WIDEST = 2**31 - 1  # rows and columns of sparse matrices: the compiled loops count them in 32 bits


def check_matrix(x: Any, name: str = "X", *, rows: int = 1) -> Any:
    """Return `x` as a C-ordered float array or a canonical CSR array, both finite.

    float32 and float64 are kept, other real types become float64. Data is shared where possible, never changed.
    """
    from sklearn.utils import check_array

    refuse_texts(x, name)
    try:
        least = {"ensure_min_samples": rows, "ensure_min_features": 1}
        x = check_array(x, accept_sparse="csr", dtype=list(FLOATS), order="C", input_name=name, **least)
    except (ValueError, TypeError) as error:
        raise InputError(f"{name}: {_with_remedy(str(error))}") from error
    if not is_sparse(x):
        return x
    if max(x.shape) > _WIDEST:
        raise InputError(
            f"{name} must have fewer than 2³¹ rows and columns; got shape {x.shape}. Leave out columns that hold only "
            "zeros, or hash the terms into fewer columns."
        )
    x = sp.csr_array((x.data, x.indices, x.indptr), shape=x.shape)
    if not x.has_canonical_format:
        x = x.copy()
        x.sum_duplicates()
    return x


def _with_remedy(reason: str) -> str:
    """Return the first line of what scikit-learn says, without the array that it prints, and what to do."""
    reason = reason.splitlines()[0].rstrip(".:")
    return ". ".join([reason, *(remedy for sign, remedy in _REMEDIES.items() if sign in reason)]) + "."


def refuse_texts(x: Any, name: str = "X") -> None:
    """Raise where there are texts in place of numbers."""
    if isinstance(x, (list, tuple)) and x and all(isinstance(item, str) for item in x):
        raise InputError(
            f"{name} must be a matrix of numbers; got a list of strings. Give them to DocumentClusterer, turn them "
            "into weighted terms first (TermVectorizer), or use a string kernel such as 'spectrum(4)'."
        )


def check_vectors(x: Any, name: str = "X", *, rows: int = 1) -> Any:
    """Return `x` as ``check_matrix`` does; refuse values whose squares and fourth powers floats cannot hold."""
    x = check_matrix(x, name, rows=rows)
    values = x.data if is_sparse(x) else x
    largest = float(max(values.max(), -values.min())) if values.size else 0.0
    limit = _LARGEST[x.dtype.type]
    if largest > limit or 0 < largest < 1 / limit:
        raise InputError(
            f"{name} must have a largest value between {1 / limit:g} and {limit:g} in {x.dtype}; got {largest:g}. "
            "Divide it by a constant, such as that value."
        )
    return x


def check_gram_matrix(k: Any, name: str = "the Gram matrix") -> Array:
    """Return a square, finite, symmetric float matrix.

    Symmetric up to rounding: |K_ij − K_ji| ≤ 1e-8 max|K| (1e-4 for float32).
    """
    if is_sparse(k):
        size = 8 * k.shape[0] * k.shape[1]
        require_memory(size, "A dense copy of the sparse Gram matrix", "Pass its features instead")
        k = k.toarray()
    k = check_matrix(k, name)
    n, m = k.shape
    if n != m:
        raise InputError(
            f"{name} must be square, one row and one column for each document; got shape {k.shape}. "
            "To cluster vectors, name a kernel such as 'linear' or 'cosine'."
        )
    tolerance = (1e-8 if k.dtype == np.float64 else 1e-4) * float(max(k.max(), -k.min()))
    for rows in tiles(n, 3 * n * k.itemsize):
        gap = np.abs(k[rows] - k[:, rows].T)
        if gap.max() > tolerance:
            i, j = np.unravel_index(int(gap.argmax()), gap.shape)
            i += rows.start
            raise InputError(
                f"{name} must be symmetric; entry ({i}, {j}) is {k[i, j]:.6g} and entry ({j}, {i}) is {k[j, i]:.6g}. "
                "Symmetrise it first, for example with (K + K.T) / 2."
            )
    return np.asarray(k)


def check_index(index: Any, n: int, name: str = "index") -> Index:
    """Return a slice with concrete ends, or integers in [0, n), from a slice, integers or a mask."""
    if index is None:
        return slice(0, n)
    if isinstance(index, slice):
        start, stop, step = index.indices(n)
        return slice(start, max(start, stop)) if step == 1 else np.arange(start, stop, step)
    try:
        array = np.atleast_1d(np.asarray(index))
    except ValueError:
        raise InputError(f"{name} must be one-dimensional; got rows of unequal length.") from None
    if array.ndim != 1:
        raise InputError(f"{name} must be one-dimensional; got {array.ndim} dimensions.")
    if array.dtype == bool:
        if len(array) != n:
            raise InputError(f"{name}: a mask must have one entry for each of the {n} documents; got {len(array)}.")
        return np.flatnonzero(array)
    if array.size == 0:
        return np.empty(0, dtype=np.intp)
    if not np.issubdtype(array.dtype, np.integer):
        raise InputError(f"{name} must be integers, a mask or a slice; got {array.dtype}.")
    low, high = int(array.min()), int(array.max())
    if low < -n or high >= n:
        raise InputError(f"{name} must lie between 0 and {n - 1}; got {high if high >= n else low}.")
    array = array.astype(np.intp)
    return np.where(array < 0, array + n, array)


def check_finite(values: Any, what: str = "The similarities") -> Any:
    """Return numbers of any array library, or raise if some are NaN or infinite."""
    if not bool(as_numpy(np.isfinite(values).all())):
        raise InputError(f"{what} must be finite; some are NaN or infinite.")
    return values


def check_choice(value: Any, name: str, known: Iterable[str], others: str = "") -> str:
    """Return one of some names; `others` is appended to them in the message."""
    if not isinstance(value, str) or value not in known:
        raise InputError(f"{name} must be one of {', '.join(map(repr, known))}{others}; got {value!r}.")
    return value


def check_operand(v: Any, n: int) -> Any:
    """Return the right-hand side of a product: a float array with n rows (1-D or 2-D), or a sparse CSR array."""
    if is_sparse(v):
        v = sp.csr_array(v)
        if not v.has_canonical_format:
            v = v.copy()
            v.sum_duplicates()
    else:
        v = np.asarray(v)
        if v.ndim not in (1, 2):
            raise InputError(f"The right-hand side must have one or two dimensions; got {v.ndim}.")
    if v.shape[0] != n:
        raise InputError(f"The right-hand side must have {n} rows, one for each document; got {v.shape[0]}.")
    if v.dtype not in FLOATS:
        if v.dtype.kind not in "biuf":
            raise InputError(f"The right-hand side must be real numbers; got {v.dtype}.")
        v = v.astype(np.float64)
    return v


def _real(values: Any, name: str) -> Array:
    """Return finite real numbers as floats."""
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise InputError(f"{name} must be an array of numbers: {error}.") from None
    if array.dtype.kind not in "biuf":
        raise InputError(f"{name} must be real numbers; got {array.dtype}.")
    array = array if array.dtype in FLOATS else array.astype(np.float64)
    if not np.isfinite(array).all():
        raise InputError(f"{name} must be finite; it holds NaN or infinity.")
    return array


def check_extension(cross: Any, diagonal: Any, widths: tuple[int, ...]) -> tuple[Array, Array | None]:
    """Return the similarities of new documents to the fitted ones, of one of these widths, and to themselves."""
    cross = _real(cross, "cross")
    if cross.ndim != 2 or cross.shape[1] not in widths:
        wanted = " or ".join(f"(new documents, {n})" for n in dict.fromkeys(widths))
        raise InputError(f"cross must have shape {wanted}; got {cross.shape}.")
    if diagonal is not None:
        diagonal = _real(diagonal, "diagonal")
        if diagonal.shape != cross.shape[:1]:
            raise InputError(f"diagonal must have shape ({cross.shape[0]},); got {diagonal.shape}.")
    return cross, diagonal


def check_partition(labels: Any, n: int) -> NDArray[np.intp]:
    """Return labels as clusters 0 … k−1 in the order of their values, with −1 kept for documents in no cluster."""
    values = np.asarray(labels)
    if values.ndim != 1 or values.dtype.kind not in "iu" or not (values == -1).any():
        return check_labels(labels, n)
    inside = np.flatnonzero(values >= 0)
    if len(values) != n or len(inside) == 0 or values.min() < -1:
        raise InputError(f"labels must be {n} whole numbers from −1 on, not all of them −1.")
    found = np.full(n, -1, dtype=np.intp)
    found[inside] = _ranked(values[inside])[1]
    return found


def check_labels(labels: Any, n: int) -> NDArray[np.intp]:
    """Return one cluster number for each document, renumbered 0 … k−1 in the order of the labels' values."""
    _, codes = encode_labels(labels, "labels")
    if len(codes) != n:
        raise InputError(f"labels must have {n} entries, one for each document; got {len(codes)}.")
    return codes


def encode_labels(labels: ArrayLike, name: str) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the distinct labels, sorted, and each document's index among them.

    Labels are strings, integers, booleans or finite floats; strings and numbers must not be mixed.
    """
    array = _label_array(labels, name)
    if array.ndim != 1:
        raise InputError(
            f"{name} must have one dimension, a label for each document; got {array.ndim} dimensions "
            f"(shape {array.shape})."
        )
    if array.size == 0:
        raise InputError(f"{name} must hold at least one label; it is empty.")
    if array.dtype.kind == "O":
        array = _from_objects(array, name)
    if array.dtype.kind not in "biufUSO":
        raise InputError(f"{name} must be strings or real numbers; got dtype {array.dtype}.")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        where = int(np.flatnonzero(~np.isfinite(array))[0])
        raise InputError(f"{name} must not be NaN or infinite; got {array[where]} at position {where}.")
    return _ranked(array)


def encode_partitions(partitions: ArrayLike | Sequence[ArrayLike]) -> list[tuple[NDArray[Any], NDArray[np.intp]]]:
    """Return what `encode_labels` does for each of some partitions of the same documents."""
    if isinstance(partitions, str | bytes) or not hasattr(partitions, "__iter__"):
        raise InputError(f"partitions must be a sequence of partitions; got {type(partitions).__name__}.")
    rows: Any = partitions
    encoded = [encode_labels(row, f"partition {index}") for index, row in enumerate(rows)]
    if not encoded:
        raise InputError("partitions must hold at least one partition; it is empty.")
    n = len(encoded[0][1])
    for index, (_, codes) in enumerate(encoded):
        if len(codes) != n:
            many = f"partition 0 has {n} labels and partition {index} has {len(codes)}"
            raise InputError(f"partitions must have the same length; {many}.")
    return encoded


def _ranked(array: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the distinct values, sorted, and the index of each entry among them; small numbers are counted."""
    if array.dtype.kind in "iu" and array.min() >= 0 and array.max() <= len(array):
        there = np.bincount(array.astype(np.intp, copy=False)) > 0
        return np.flatnonzero(there).astype(array.dtype), (np.cumsum(there) - 1)[array].astype(np.intp, copy=False)
    values, codes = np.unique(array, return_inverse=True)
    return values, codes.reshape(-1).astype(np.intp, copy=False)


def _label_array(labels: ArrayLike, name: str) -> NDArray[Any]:
    if np.ma.isMaskedArray(labels) and np.ma.getmaskarray(labels).any():
        raise InputError(f"{name} must not be masked; drop the masked documents first.")
    try:
        array = np.asarray(labels)
    except ValueError as error:
        raise InputError(f"{name} must have one dimension, a label for each document; got {error}.") from error
    made_strings = array.dtype.kind in "US" and not isinstance(labels, np.ndarray)
    # NumPy turns ["a", nan] into two strings, which hides a missing label: look at the originals.
    if array.dtype.kind == "T" or (made_strings and array.ndim == 1):
        return np.array(labels, dtype=object)
    return array


def _from_objects(array: NDArray[Any], name: str) -> NDArray[Any]:
    for position, label in enumerate(array):
        if not _is_label(label):
            raise InputError(
                f"{name} must be strings or finite numbers; got {label!r} at position {position}. "
                "A document without a label must be left out."
            )
    kinds = {next(kind for kind in (str, bytes, object) if isinstance(label, kind)) for label in array}
    if len(kinds) > 1:
        raise InputError(f"{name} must be all strings or all numbers; got a mixture.")
    return array if kinds == {str} else np.asarray(array.tolist())


def _is_label(label: Any) -> bool:
    if isinstance(label, str | bytes | np.bool_):
        return True
    return isinstance(label, Real) and bool(label == label and abs(label) != math.inf)  # noqa: PLR0124


def check_number(
    value: Any, name: str, *, low: float = -math.inf, high: float = math.inf, above: float | None = None
) -> float:
    """Return a finite real number within [low, high], and greater than `above`."""
    rule = f"greater than {above:g}" if above is not None else f"between {low:g} and {high:g}"
    if above is not None and math.isfinite(high):
        rule += f" and at most {high:g}"
    if above is None and math.isinf(high):
        rule = "a finite number" if math.isinf(low) else f"at least {low:g}"
    try:
        if isinstance(value, (bool, str, bytes)):
            raise TypeError
        number = float(value)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be a number; got {value!r}.") from None
    except OverflowError:
        raise InputError(f"{name} must be {rule}; got a number with too many digits.") from None
    if not math.isfinite(number) or not low <= number <= high or (above is not None and number <= above):
        raise InputError(f"{name} must be {rule}; got {value!r}.")
    return number


def check_flag(value: Any, name: str) -> bool:
    """Return a bool; 0, 1 and strings are refused."""
    if not isinstance(value, (bool, np.bool_)):
        raise InputError(f"{name} must be True or False; got {value!r}.")
    return bool(value)


def check_integer(value: Any, name: str, *, low: int, high: int | None = None, of: str = "") -> int:
    """Return an integer within [low, high]; `of` is appended to the upper bound in the message."""
    rule = f"at least {low}" if high is None else f"between {low} and {high}{of}"
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError
        number = operator.index(value)
    except TypeError:
        if isinstance(value, float) and value.is_integer():
            number = int(value)
        else:
            raise InputError(f"{name} must be a whole number; got {value!r}.") from None
    if number < low or (high is not None and number > high):
        raise InputError(f"{name} must be {rule}; got {value!r}.")
    return number
