"""New documents against the fitted ones: blocks of similarities, and sums over them, some rows at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .._array import Array, dot, row_squares, scale_rows
from .._check import check_extension
from .._config import settings, tile_rows
from ..gram import Gram, NystromGram, factor, unshifted
from ..gram.lowrank import new_features
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
    explicit = None if edit is not None else new_parts(kernel, gram, documents)
    if explicit is not None:
        fitted = factor(unshifted(gram)[0])
        assert fitted is not None
        weights = dot(fitted.features.T, scale_rows(fitted.scale, matrix))
        sums = [dot(new, weights) * scale[:, None] for new, scale in explicit]
        return np.concatenate(sums) if sums else np.empty((0, matrix.shape[1]))
    parts = []
    for cross, _ in new_blocks(kernel, gram, documents):
        block = cross.astype(np.float64, copy=False)
        parts.append((block if edit is None else edit(block)) @ matrix)
    return np.concatenate(parts) if parts else np.empty((0, matrix.shape[1]))


def new_parts(kernel: Kernel, gram: Gram, documents: Any) -> Iterator[tuple[Any, Array]] | None:
    """Return new documents as features beside those of ``factor``, in parts, each with the scale of its rows.

    Nothing is compared with all fitted documents: a linear kernel has its features at once, a low-rank Gram from the
    landmarks. None where there is no such way.
    """
    base, _ = unshifted(gram)
    explicit = factor(base)
    if explicit is None:
        return None
    if isinstance(base.source, NystromGram):
        return _embedded(kernel, base, documents)
    return iter([_as_they_are(kernel, explicit.features, documents)]) if is_linear(kernel) else None


def _as_they_are(kernel: Kernel, features: Any, documents: Any) -> tuple[Any, Array]:
    new = kernel.source._collect_new(documents, features)
    if Normalise() not in kernel.transforms:
        return new, np.ones(new.shape[0])
    squares = row_squares(new)
    return new, np.divide(1.0, np.sqrt(squares), out=np.zeros(len(squares)), where=squares > 0)


def _embedded(kernel: Kernel, base: Gram, documents: Any) -> Iterator[tuple[Any, Array]]:
    source, plain = base.source, kernel.source
    assert isinstance(source, NystromGram)
    new = plain._collect_new(documents, source.collection)
    for part in plain._parts(new, _NEW_TILE * tile_rows(24 * max(source.widths))):
        compared = plain._cross(part, source.collection), plain._diagonal(part)
        features = new_features(base, *check_extension(*compared, source.widths))
        assert features is not None
        yield features, np.ones(len(features))


def is_linear(kernel: Kernel) -> bool:
    """Say whether a kernel is linear or cosine, with nothing but shifts after that."""
    names = [str(transform.name) for transform in kernel.transforms]
    plain = names[1:] if kernel.transforms[:1] == (Normalise(),) else names
    return type(kernel.source) is Linear and all(name == "shift" for name in plain)
