"""Turn labels of any sensible kind into integer codes, and refuse the others."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from grampus.errors import InputError

__all__ = ["encode"]


def encode(labels: ArrayLike, name: str) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the distinct labels, sorted, and each document's index among them.

    Strings, integers, booleans and finite floats are labels. Strings and numbers are not mixed.
    """
    array = _as_array(labels, name)
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
    values, codes = np.unique(array, return_inverse=True)
    return values, codes.reshape(-1).astype(np.intp, copy=False)


def _as_array(labels: ArrayLike, name: str) -> NDArray[Any]:
    if np.ma.isMaskedArray(labels) and np.ma.getmaskarray(labels).any():
        raise InputError(f"{name} must not be masked; drop the masked documents first.")
    try:
        array = np.asarray(labels)
    except ValueError as error:
        raise InputError(f"{name} must have one dimension, a label for each document; got {error}.") from error
    made_strings = array.dtype.kind in "US" and not isinstance(labels, np.ndarray)
    # NumPy turns ["a", nan] into two strings, and so hides a missing label: look at the originals.
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
