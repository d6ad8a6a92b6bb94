"""New documents against the fitted ones: blocks of similarities, and sums over them, some rows at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .._array import Array, dot, row_squares, scale_rows
from .._config import settings, tile_rows
from ..gram import Gram, factor, unshifted
from ..kernels import Kernel, Linear, Normalise

_NEW_TILE = 16  # tiles' worth of similarities between new and fitted documents are held at a time


def new_blocks(kernel: Kernel, gram: Gram, documents: Any) -> Iterator[tuple[Array, Array | None]]:
    """Yield the similarities of new documents to the fitted ones, (m, n), and their own, (m,) or None."""
    fitted = gram.source.collection  # type: ignore[attr-defined]
    collected = kernel.source._collect_new(documents, fitted)
    row = 24 * len(gram)  # bytes: the block, and copies that transforms make
    rows = max(1, min(_NEW_TILE * tile_rows(row), settings().memory // 4 // row))
    for part in kernel.source._parts(collected, rows):
        yield gram.extend(kernel.source._cross(part, fitted), kernel.source._diagonal(part))


def new_sums(
    kernel: Kernel, gram: Gram, documents: Any, matrix: Array, edit: Callable[[Array], Array] | None = None
) -> Array:
    """Return C M for the similarities C of new documents to the fitted ones, after `edit` if there is one.

    Where the kernel has explicit features and nothing is edited, C is not formed.
    """
    explicit = factor(unshifted(gram)[0])
    if edit is None and explicit is not None and is_linear(kernel):
        new = kernel.source._collect_new(documents, explicit.features)
        sums = dot(new, dot(explicit.features.T, scale_rows(explicit.scale, matrix)))
        if Normalise() not in kernel.transforms:
            return sums
        squares = row_squares(new)
        return sums * np.divide(1.0, np.sqrt(squares), out=np.zeros(len(squares)), where=squares > 0)[:, None]
    parts = []
    for cross, _ in new_blocks(kernel, gram, documents):
        block = cross.astype(np.float64, copy=False)
        parts.append((block if edit is None else edit(block)) @ matrix)
    return np.concatenate(parts) if parts else np.empty((0, matrix.shape[1]))


def is_linear(kernel: Kernel) -> bool:
    """Say whether a kernel is linear or cosine, with nothing but shifts after that."""
    names = [str(transform.name) for transform in kernel.transforms]
    plain = names[1:] if kernel.transforms[:1] == (Normalise(),) else names
    return type(kernel.source) is Linear and all(name == "shift" for name in plain)
