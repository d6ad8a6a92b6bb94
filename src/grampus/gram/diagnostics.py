"""Diagnostics of a Gram: diagonal dominance, the objective of a partition, the distance to another Gram."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._array import matches
from .._check import check_integer, check_labels
from ..errors import InputError
from .base import Gram, require_gram


def dominance_ratio(gram: Gram) -> float:
    """Return the mean self-similarity over the mean similarity of two different documents (`dominance`, §2).

    Large values (above 10 or so) mean that documents are similar to little but themselves and that kernel k-means will
    hardly move from its start: see ``shift``. Costs one product. Infinite where the other similarities sum to 0.

    Parameters
    ----------
    gram : Gram
        Similarities of the collection.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.gram import DenseGram, dominance_ratio
    >>> dominance_ratio(DenseGram(np.array([[1.0, 0.25], [0.25, 1.0]])))
    4.0
    """
    n = len(gram)
    if n < 2:
        raise InputError("dominance_ratio compares documents with each other: it needs at least 2; got 1.")
    trace = gram.trace()
    total = float((gram @ np.ones(n)).sum(dtype=np.float64))
    others = (total - trace) / (n * (n - 1))
    if others == 0:
        return np.inf if trace else np.nan
    return trace / n / others


def objective(gram: Gram, labels: Any) -> float:
    """Return the k-means objective of a partition: the squared distances to the centroids in feature space.

    Σ_i K_ii − Σ_c Σ_{i,j∈c} K_ij / n_c (`dominance`, Eqn 3). Costs one product. For a positive semi-definite Gram
    it is at least 0.

    Parameters
    ----------
    gram : Gram
    labels : array of shape (n,)
        Any labels; equal labels form a cluster.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.gram import LinearGram, objective
    >>> objective(LinearGram(np.array([[0.0], [2.0], [9.0]])), ["a", "a", "b"])
    2.0
    """
    clusters = check_labels(labels, len(gram))
    sums = gram.sum_by(clusters)
    within = np.bincount(clusters, weights=sums[np.arange(len(gram)), clusters])
    return gram.trace() - float((within / np.bincount(clusters)).sum())


@dataclass(frozen=True)
class Estimate:
    """An estimate from a sample.

    Attributes
    ----------
    value : float
    standard_error : float
        0 where the value is exact.

    Examples
    --------
    >>> from grampus.gram import Estimate
    >>> print(Estimate(0.25, 0.01))
    0.25 ± 0.01
    """

    value: float
    standard_error: float

    def __str__(self) -> str:
        return f"{self.value:.3g} ± {self.standard_error:.2g}"


def relative_error(
    gram: Gram, approximation: Gram, *, blocks: int = 20, size: int = 256, random_state: int = 0
) -> Estimate:
    """Estimate ‖K − K̃‖ / ‖K‖ in the Frobenius norm.

    All self-similarities are compared, and those of different documents in `blocks` random blocks of `size` × `size`. A
    collection of at most `size` documents is compared entirely.

    Parameters
    ----------
    gram, approximation : Gram
        K and K̃, of the same documents.
    blocks, size : int
        At least 2.
    random_state : int
        Seed of the blocks.

    Returns
    -------
    Estimate
        The standard error comes from the spread between blocks.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.gram import LinearGram, relative_error
    >>> x = np.random.default_rng(0).random((1000, 3))
    >>> round(relative_error(LinearGram(x), LinearGram(1.1 * x)).value, 3)
    0.21
    """
    n = len(require_gram(gram))
    if len(require_gram(approximation, "approximation")) != n:
        raise InputError(f"approximation must have the {n} documents of gram; got {len(approximation)}.")
    blocks = check_integer(blocks, "blocks", low=2)
    size = min(check_integer(size, "size", low=2), n)
    rng = np.random.default_rng(check_integer(random_state, "random_state", low=0))
    diagonal = gram.diagonal().astype(np.float64)
    gap = diagonal - approximation.diagonal()
    error, norm = float(gap @ gap), float(diagonal @ diagonal)  # squared; the diagonal's share is exact
    if n > 1:
        drawn = [_block(gram, approximation, size, rng) for _ in range(blocks if size < n else 1)]
        pairs = n * (n - 1.0)
        errors, norms = pairs * np.array(drawn).T
        error, norm = error + float(errors.mean()), norm + float(norms.mean())
    if not error > 0 or not norm > 0:
        return Estimate(0.0 if error <= 0 else math.inf, 0.0)
    ratio = error / norm
    spread = 0.0
    if size < n:  # the ratio of two means: its residuals vary, divided by the lower mean
        residuals = errors - ratio * norms
        spread = float(residuals.std(ddof=1)) / math.sqrt(len(residuals)) / norm
    return Estimate(math.sqrt(ratio), spread / (2.0 * math.sqrt(ratio)))


def _block(gram: Gram, approximation: Gram, size: int, rng: np.random.Generator) -> tuple[float, float]:
    """Return the mean squared difference and the mean square of K over a block's pairs of different documents."""
    rows, cols = (np.sort(rng.choice(len(gram), size, replace=False)) for _ in range(2))
    exact: Any = gram.block(rows, cols).astype(np.float64, copy=False)
    other = approximation.block(rows, cols)
    same = matches(rows, cols)
    squares, gaps = np.square(exact), np.square(exact - other)
    squares[same] = gaps[same] = 0.0
    pairs = max(squares.size - len(same[0]), 1)
    return float(gaps.sum()) / pairs, float(squares.sum()) / pairs
