"""Near-duplicate documents."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from ..._array import Array, inverse_root, is_sparse, tiles
from ...describe.duplicates import MOST_PAIRS, near_duplicates
from ...gram import Gram
from ..given.inputs import Inputs

SIMILAR = 0.9  # smallest cosine of near-duplicates
ALIKE, NEARLY_ALL = 0.8, 0.9  # of the words of a near-copy, which are shared; of the texts, which are near-copies
SHARED = 0.7  # of the texts: a word of more is shared by all but a few, and one of two kinds of text is not
FEWEST_COPIES, LOOKED_AT = 20, 500  # texts: fewer say nothing; the first look is at no more
LARGEST = 20_000  # documents without sparse features, at most, whose pairs are compared


def duplicates(inputs: Inputs, gram: Gram) -> tuple[Array, Array, str]:
    """Return pairs of near-duplicates, their similarities, and a note if only copies were looked for.

    Copies are paired with the first of them.
    """
    base, _ = gram.split_shift()
    first = inputs.first
    order = np.argsort(inputs.group, kind="stable")
    copies = order[~np.isin(order, first)]
    copies = copies[inputs.weights[inputs.group[copies]] > 0]  # empty documents are not duplicates of each other
    copies = copies[:MOST_PAIRS]
    pairs = np.stack([first[inputs.group[copies]], copies], axis=1)
    near, similarity, note = np.empty((0, 2), dtype=np.intp), np.empty(0), ""
    features = inputs.main
    if isinstance(features, np.ndarray | list) and len(features) > LARGEST:
        note = f"Near-duplicates were not looked for among {len(features)} documents; only copies are named."
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
    return both[best].astype(np.int32), value[best].astype(np.float32), note


def near_copies(texts: Sequence[str]) -> int:
    """Return how many texts are near-copies of one: most of their different words stand in most texts.

    0 unless nearly all texts are. Weights of terms do not show it: a word of all texts has none. A sample says first
    whether to count.

    Examples
    --------
    >>> from grampus.documents.tell.duplicates import near_copies
    >>> near_copies([f"the whale {verb} in the deep cold sea" for verb in ("sings", "dives", "feeds") * 10])
    30
    """
    if len(texts) < FEWEST_COPIES:
        return 0
    evenly = np.linspace(0, len(texts) - 1, min(len(texts), LOOKED_AT)).astype(np.intp)
    sample = [set(texts[int(at)].lower().split()) for at in evenly]
    counts = Counter(word for words in sample for word in words)
    shared = {word for word, count in counts.items() if count >= SHARED * len(sample)}

    def is_copy(words: set[str]) -> bool:
        return bool(words) and len(words & shared) >= ALIKE * len(words)

    if sum(map(is_copy, sample)) < NEARLY_ALL * len(sample):
        return 0
    found = sum(is_copy(set(text.lower().split())) for text in texts)
    return found if found >= NEARLY_ALL * len(texts) else 0


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
