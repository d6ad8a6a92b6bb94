"""Data without groups: what a collection would look like if its documents had nothing to do with each other.

Rows of weighted terms keep the number of terms of every document and the number of documents of every term, and lose
the rest: which terms occur together. Pairs of documents trade the terms that only one of them has (the curveball
algorithm of Strona, Nappo, Boccacci, Fattorini & San-Miguel-Ayanz 2014). Dense rows are drawn from one Gaussian with
their mean and covariance (SigClust's null: Liu, Hayes, Nobel & Marron 2008). Texts keep their number of words.
"""

from itertools import accumulate, chain, pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from .. import _native
from .._array import Array, is_sparse
from .._parallel import blas_threads
from ..gram import Gram, LinearGram, normalise
from ..gram.eigen import eigenpairs
from ..gram.lapack import symmetric_eigh
from ..kernels import Kernel

ROUNDS = 5  # trades of every document; more change nothing that can be measured
COMPONENTS = 64  # of a Gram without explicit features


def ungrouped(documents: Any, rng: np.random.Generator) -> Any:
    """Return a collection of the same kind and size without groups.

    Parameters
    ----------
    documents : sparse array, array of shape (n, m), list of str, or dict of these by the names of inputs
    rng : numpy Generator

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from grampus.select.ungrouped import ungrouped
    >>> terms = sp.csr_array(np.eye(4) + np.eye(4)[::-1])
    >>> mixed = ungrouped(terms, np.random.default_rng(0))
    >>> (mixed > 0).sum(axis=0).tolist(), (mixed > 0).sum(axis=1).tolist()
    ([2, 2, 2, 2], [2, 2, 2, 2])
    """
    if isinstance(documents, dict) and not is_sparse(documents):
        return {name: ungrouped(rows, rng) for name, rows in documents.items()}
    if is_sparse(documents):
        return _traded(sp.csr_array(documents), rng)
    if isinstance(documents, np.ndarray):
        return _gaussian(documents, rng)
    return deal_words(documents, rng)


def takes_drawn(kernel: Kernel, documents: Any) -> bool:
    """Return whether a kernel takes what `ungrouped` draws: dense rows have negative entries, whatever these have."""
    inputs = documents.values() if isinstance(documents, dict) else (documents,)
    dense = any(isinstance(rows, np.ndarray) for rows in inputs)
    return not kernel.is_precomputed and (not dense or _takes_negative(kernel))


def _takes_negative(kernel: Kernel) -> bool:
    parts = (*kernel.parts, *kernel.source.parts)
    return all(one.takes_negative for one in kernel.transforms) and all(map(_takes_negative, parts))


def ungrouped_gram(gram: Gram, rng: np.random.Generator | None) -> Gram:
    """Return a Gram without groups of which nothing but the Gram is known: one cloud with its components.

    Without a generator, the points themselves.
    """
    found = gram.features()
    if found is not None and is_sparse(found.rows):
        drawn = found.rows if rng is None else _traded(sp.csr_array(found.rows), rng)
    else:
        points = _components(gram) if found is None else np.asarray(found.rows)
        drawn = points if rng is None else _gaussian(points, rng)
    own = gram.diagonal()
    flat = LinearGram.trusted(drawn)
    return normalise(flat) if np.ptp(own) <= 1e-6 * np.abs(own).max(initial=0.0) and flat.diagonal().min() > 0 else flat


def _components(gram: Gram) -> Array:
    found = eigenpairs(gram, min(COMPONENTS, len(gram) - 1), tolerance=1e-6, probe=False)
    return np.asarray(found.vectors * np.sqrt(np.maximum(found.values, 0.0)))


def _gaussian(rows: Array, rng: np.random.Generator) -> Array:
    """Draw from one Gaussian with the mean and covariance of the rows."""
    x = rows.astype(np.float64)
    mean = x.mean(axis=0)
    x -= mean
    with blas_threads(2.0 * x.size * min(x.shape)):
        if x.shape[1] <= x.shape[0]:
            values, vectors = symmetric_eigh(x.T @ x / len(x))
            spread = vectors * np.sqrt(np.maximum(values, 0.0))
            drawn = rng.standard_normal((len(x), len(values))) @ spread.T
        else:  # the covariance has rank n: weights of the rows instead of directions
            drawn = rng.standard_normal((len(x), len(x))) @ x / np.sqrt(len(x))
    return np.asarray(drawn + mean).astype(rows.dtype, copy=False)


def _traded(rows: Any, rng: np.random.Generator) -> Any:
    """Trade terms between pairs of documents, then deal out the weights of each term among its documents."""
    rows.sort_indices()
    n, counts = rows.shape[0], np.diff(rows.indptr)
    columns = rows.indices.astype(np.int32)  # outside a CSR array: with a 64-bit indptr, that would make it 64-bit
    for _ in range(ROUNDS):
        _native.trade(rows.indptr, columns, rng.permutation(n)[: n // 2 * 2].reshape(-1, 2), rng)
    scale = np.repeat(np.sqrt(counts), counts)  # rows of unit length: weights of long documents are small
    before = np.argsort(rows.indices, kind="stable")
    weights = (rows.data * scale)[before]
    after = np.argsort(columns, kind="stable")
    dealt = np.empty_like(weights)
    dealt[after] = weights[np.lexsort((rng.random(len(weights)), columns[after]))]  # a random order inside every term
    return sp.csr_array((dealt / scale, columns, rows.indptr.copy()), shape=rows.shape)


def deal_words(texts: Any, rng: np.random.Generator) -> list[str]:
    """Deal the words of all texts, or their characters where there are no words; each text keeps its number."""
    split = [text.split() for text in texts]
    joiner = " "
    if sum(map(len, split)) < 2 * len(split):
        split, joiner = [list(text) for text in texts], ""
    words = list(chain.from_iterable(split))
    dealt = list(map(words.__getitem__, rng.permutation(len(words)).tolist()))
    ends = accumulate(map(len, split), initial=0)
    return [joiner.join(dealt[start:end]) for start, end in pairwise(ends)]
