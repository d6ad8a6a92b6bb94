"""Prototype reduction: a small Gram that stands for a large one (`validation`, §3.2)."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._array import Array, dot, is_sparse, scale_rows, tiles
from .._check import check_choice, check_integer
from .._config import require_memory
from .._parallel import blas_threads
from .._random import generators
from ..gram import DenseGram, Gram, LinearGram, require_gram
from ..gram.graph import nearest_neighbors
from .splits import NEIGHBORS, SEEDS

RATE = 4  # `validation`, §3.3
MOST_PROTOTYPES = 2500
_TIE = 1e-12  # similarities and compactness that differ by less than this share of their size are equal
_NEIGHBOURHOODS = 32  # whose compactness is found from one block


@dataclass(frozen=True)
class Reduction:
    """Prototypes and their Gram.

    Attributes
    ----------
    gram : DenseGram
        K′, the similarities of the prototypes (Eqn 4), not shifted.
    seeds : array of shape (n′,)
        The document at the centre of each prototype, the most compact first.
    members : array of shape (n′, p + 1)
        The documents that each prototype is the mean of: its seed, then the seed's neighbours.
    compactness : array of shape (n′,)
        The mean similarity inside each neighbourhood (Eqn 3), which is the prototype's self-similarity.
    rate : int
        ρ: every ρ-th neighbourhood was taken.
    n_neighbors : int
        p.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.gram import LinearGram
    >>> from grampus.select import reduce_gram
    >>> points = np.array([[1.0, 0.0], [1.0, 0.1], [0.9, 0.0], [0.0, 1.0], [0.1, 1.0], [0.0, 0.8]])
    >>> reduction = reduce_gram(LinearGram(points), rate=3, n_neighbors=1)
    >>> reduction
    Reduction(6 documents, 2 prototypes, rate=3, n_neighbors=1)
    >>> reduction.members
    array([[3, 4],
           [5, 3]])
    """

    gram: DenseGram
    seeds: NDArray[np.intp]
    members: NDArray[np.intp]
    compactness: Array
    rate: int
    n_neighbors: int
    n_documents: int

    def __len__(self) -> int:
        return len(self.seeds)

    def __repr__(self) -> str:
        return (
            f"Reduction({self.n_documents} documents, {len(self)} prototypes, rate={self.rate}, "
            f"n_neighbors={self.n_neighbors})"
        )


def growing_rate(n: int, most: int = MOST_PROTOTYPES, least: int = 1) -> int:
    """Return the rate for n documents: 4, more where `most` prototypes would be exceeded, less where few remain.

    Parameters
    ----------
    n : int
        Documents.
    most : int
        Prototypes that may remain.
    least : int
        Prototypes that must remain, if there are as many documents.

    Examples
    --------
    >>> from grampus.select import growing_rate
    >>> growing_rate(2225), growing_rate(18_846), growing_rate(300, least=100)
    (4, 8, 3)
    """
    if n // RATE > most:
        return -(-n // most)
    return max(1, min(RATE, n // max(least, 1)))


def reduce_gram(
    gram: Gram,
    rate: int | None = None,
    n_neighbors: int = NEIGHBORS,
    *,
    seeds: str = "compactness",
    random_state: Any = None,
) -> Reduction:
    """Replace the documents by prototypes, each the mean of a document and its nearest neighbours.

    Every document with its p nearest ones is a candidate; candidates are ranked by compactness and every ρ-th is taken,
    so that dense and sparse regions keep their shares. Deterministic. Reads the Gram once, in tiles, O(n²); K′ is
    the only matrix that is stored.

    Parameters
    ----------
    gram : Gram
        The plain kernel. A trailing shift is ignored: it would change K′ off its diagonal.
    rate : int, optional
        ρ, documents for one prototype: ⌊n/ρ⌋ are made. By default 4, and more for more than 10,000 documents, so that
        there are at most 2,500 prototypes.
    n_neighbors : int
        p. Nearest in feature space; documents without self-similarity (empty ones) are never neighbours.
    seeds : "compactness" or "random"
        How seeds are chosen: every ρ-th by compactness, or at random (BTS, Hamamoto et al. 1997), the paper's baseline.
    random_state : int, RandomState or None
        For random seeds.

    Returns
    -------
    Reduction

    Notes
    -----
    Candidates are ranked in falling order of compactness, ties by position, and those of rank ρ, 2ρ, … are taken. K′ =
    A K Aᵀ with the averages in the rows of A, so it is positive semi-definite whenever K is.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.gram import LinearGram
    >>> from grampus.select import reduce_gram
    >>> reduction = reduce_gram(LinearGram(np.random.default_rng(0).normal(size=(200, 3))))
    >>> len(reduction), reduction.gram.shape
    (50, (50, 50))
    """
    base, _ = require_gram(gram).split_shift()
    n = len(base)
    n_neighbors = check_integer(n_neighbors, "n_neighbors", low=0, high=n - 1, of=" (the other documents)")
    rate = growing_rate(n) if rate is None else check_integer(rate, "rate", low=1, high=n, of=" (the documents)")
    check_choice(seeds, "seeds", SEEDS)
    count = n // rate
    require_memory(8 * count * count, f"The {count} × {count} reduced Gram", "Use a larger rate")
    with blas_threads():
        members = neighbourhoods(base, n_neighbors)
        compactness = _compactness(base, members)
        if seeds == "random":
            chosen = generators(random_state, 1)[0].permutation(n)[:count]
        else:
            chosen = _ranked(compactness)[rate - 1 :: rate][:count]
        matrix = _between(base, members[chosen])
    reduced = DenseGram.trusted(matrix)
    return Reduction(reduced, chosen, members[chosen], compactness[chosen], rate, n_neighbors, n_documents=n)


def neighbourhoods(gram: Gram, p: int) -> NDArray[np.intp]:
    """Return each document followed by its p nearest, the nearest first, (n, p + 1); in a tie the first come first."""
    n = len(gram)
    everyone = np.arange(n)[:, None]
    if p == 0:
        return everyone
    columns, near = nearest_neighbors(gram, p, by_distance=True)
    # Those that tie with the last one are in the order of their numbers, like all others that tie.
    tie = _TIE * float(np.abs(gram.diagonal().astype(np.float64)).max(initial=0.0))
    steps = np.rint(near / tie) if tie > 0 else near
    steps[near <= near.min(axis=1, keepdims=True) + tie] = -np.inf
    order = np.argsort(-steps, axis=1, kind="stable")
    return np.hstack([everyone, np.take_along_axis(columns, order, axis=1)])


def _compactness(gram: Gram, members: NDArray[np.intp]) -> Array:
    """Return the mean of each neighbourhood's own block (Eqn 3), a few neighbourhoods at a time."""
    found = np.empty(len(members))
    for start in range(0, len(members), _NEIGHBOURHOODS):
        some = members[start : start + _NEIGHBOURHOODS]
        documents, place = np.unique(some, return_inverse=True)
        place = place.reshape(some.shape)
        block = gram._block(documents, documents).astype(np.float64, copy=False)
        found[start : start + len(some)] = block[place[:, :, None], place[:, None, :]].mean(axis=(1, 2))
    return found


def _ranked(compactness: Array) -> NDArray[np.intp]:
    """Return the documents in falling order of compactness; equal ones, but for rounding, by position."""
    step = _TIE * max(float(np.abs(compactness).max()), np.finfo(np.float64).tiny)
    return np.argsort(-np.rint(compactness / step), kind="stable")


def _averages(members: NDArray[np.intp], n: int) -> sp.csr_array:
    """Return A, (n′, n): each row averages a neighbourhood."""
    count, size = members.shape
    rows = np.repeat(np.arange(count), size)
    return sp.csr_array((np.full(count * size, 1.0 / size), (rows, members.ravel())), shape=(count, n))


def _between(gram: Gram, members: NDArray[np.intp]) -> Array:
    """Return K′ = A K Aᵀ (Eqn 4): through the features where there are some, else one tile of rows at a time."""
    n, count = len(gram), len(members)
    averages = _averages(members, n)
    explicit = gram.features()
    if explicit is not None and is_sparse(explicit.rows):
        means = averages @ scale_rows(explicit.scale, explicit.rows.astype(np.float64, copy=False))
        matrix = LinearGram(means).dense()
    else:
        used = np.unique(members)
        left = averages[:, used]
        matrix = np.zeros((count, count))
        for part in tiles(len(used), 8 * (2 * len(used) + count)):
            block = gram._block(used[part], used).astype(np.float64, copy=False)
            matrix += dot(left[:, part], dot(block, left.T))
    return (matrix + matrix.T) / 2.0
