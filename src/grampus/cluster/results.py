"""Immutable results of kernel k-means, with a record of how each run went."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from .._array import Array
from .._draw import Drawable, Shown


class Outcome(StrEnum):
    """How a run of kernel k-means ended.

    Examples
    --------
    >>> Outcome.CONVERGED == "converged"
    True
    """

    CONVERGED = "converged"
    """No document moved."""
    OSCILLATED = "oscillated"
    """Five times in a row, the labels equalled those of two iterations before."""
    MAX_ITER = "max_iter"
    """The maximum number of iterations was reached."""


@dataclass(frozen=True)
class History(Drawable):
    """Moves and objective of each iteration (`dominance`, Fig. 3).

    Attributes
    ----------
    moves : array of shape (iterations,)
        Number of documents that changed cluster.
    objective : array of shape (iterations,)
        The unshifted objective of the partition at the start of the iteration.

    Examples
    --------
    >>> int(History(np.array([5, 1, 0]), np.array([9.0, 4.0, 3.5])).moves.sum())
    6
    """

    moves: NDArray[np.int64]
    objective: Array


@dataclass(frozen=True)
class Runs(Shown):
    """All starts of one call.

    Attributes
    ----------
    labels : array of shape (runs, n)
        Every document has a cluster in every run: there is no −1.
    objective : array of shape (runs,)
        Unshifted.
    n_iter : array of shape (runs,)
    outcomes : tuple of Outcome
    histories : tuple of History

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.cluster import kernel_kmeans
    >>> from grampus.gram import LinearGram
    >>> runs = kernel_kmeans(LinearGram(np.array([[0.0], [1.0], [9.0]])), 2, n_init=4, random_state=0).runs
    >>> runs.labels.shape
    (4, 3)
    """

    labels: NDArray[np.intp]
    objective: Array
    n_iter: NDArray[np.intp]
    outcomes: tuple[Outcome, ...]
    histories: tuple[History, ...]

    def __len__(self) -> int:
        return len(self.labels)


@dataclass(frozen=True)
class Clustering(Drawable):
    """The best of several runs of kernel k-means, with all of them in ``runs``.

    Attributes
    ----------
    labels : array of shape (n,)
        Cluster of every document, 0 … k−1.
    objective : float
        The k-means objective in feature space, without the shift.
    n_iter : int
        Iterations of the best run.
    outcome : Outcome
        How it ended.
    history : History
        Its moves and objective, iteration by iteration.
    n_clusters : int
        The requested number of clusters.
    polish_gain : float
        Decrease of the objective by single moves after convergence; 0 without ``polish``.
    runs : Runs
        All starts, before polishing.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.cluster import kernel_kmeans
    >>> from grampus.gram import LinearGram
    >>> result = kernel_kmeans(LinearGram(np.array([[0.0], [1.0], [9.0]])), 2, random_state=0)
    >>> result.objective, str(result.outcome)
    (0.5, 'converged')
    """

    labels: NDArray[np.intp]
    objective: float
    n_iter: int
    outcome: Outcome
    history: History
    n_clusters: int
    polish_gain: float
    runs: Runs = field(repr=False)

    def take(self, index: NDArray[np.intp]) -> Clustering:
        """Return the documents in another order."""
        return replace(self, labels=self.labels[index], runs=replace(self.runs, labels=self.runs.labels[:, index]))

    @property
    def sizes(self) -> NDArray[np.intp]:
        """The number of documents in every cluster."""
        return np.bincount(self.labels, minlength=self.n_clusters).astype(np.intp)
