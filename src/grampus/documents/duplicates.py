"""Near-duplicate documents."""

from __future__ import annotations

import numpy as np

from .._array import Array, inverse_root, is_sparse, tiles
from ..describe import near_duplicates
from ..gram import Gram
from .inputs import Inputs

SIMILAR = 0.9  # smallest cosine of near-duplicates
MOST_PAIRS = 10_000
LARGEST = 20_000  # documents without sparse features, at most, whose pairs are compared


def duplicates(inputs: Inputs, gram: Gram, notes: list[str]) -> tuple[Array, Array]:
    """Return pairs of near-duplicates and their similarities; copies are paired with the first of them."""
    base, _ = gram.split_shift()
    first = inputs.first
    order = np.argsort(inputs.group, kind="stable")
    copies = order[~np.isin(order, first)]
    copies = copies[inputs.weights[inputs.group[copies]] > 0]  # empty documents are not duplicates of each other
    copies = copies[:MOST_PAIRS]
    pairs = np.stack([first[inputs.group[copies]], copies], axis=1)
    near, similarity = np.empty((0, 2), dtype=np.intp), np.empty(0)
    features = inputs.described if "components" in inputs.makers else inputs.main  # in parts: terms, not components
    if isinstance(features, np.ndarray | list) and len(features) > LARGEST:
        notes.append(f"Near-duplicates were not looked for among {len(features)} documents; only copies are named.")
    elif is_sparse(features) or (isinstance(features, np.ndarray) and features.shape[0] != features.shape[1]):
        near, similarity = near_duplicates(features, SIMILAR, MOST_PAIRS - len(pairs))
    else:
        near, similarity = _by_blocks(base)
    near = first[near]
    near.sort(axis=1)
    pairs.sort(axis=1)
    value = np.concatenate([np.ones(len(pairs)), similarity])
    both = np.concatenate([pairs, near])
    best = np.lexsort((both[:, 1], both[:, 0], -value))[:MOST_PAIRS]
    return both[best].astype(np.int32), value[best].astype(np.float32)


def _by_blocks(base: Gram) -> tuple[Array, Array]:
    """Compare all pairs under the kernel, normalised, tile by tile."""
    n, found = len(base), []
    diagonal = base.diagonal().astype(np.float64)
    scale = inverse_root(diagonal)
    for rows in tiles(n, 16 * n):
        block = base.block(rows).astype(np.float64, copy=False) * scale[rows, None] * scale
        i, j = np.nonzero(block >= SIMILAR)
        ahead = j > i + rows.start
        found.append((i[ahead] + rows.start, j[ahead], block[i[ahead], j[ahead]]))
    i, j, value = (np.concatenate(parts) for parts in zip(*found, strict=True))
    best = np.lexsort((j, i, -value))[:MOST_PAIRS]
    return np.stack([i, j], axis=1)[best], np.minimum(value[best], 1.0)
