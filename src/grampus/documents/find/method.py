"""A method of clustering: what it is asked, what it returns, and what it costs."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..._array import Array
from ..._progress import Progress
from ...gram import Gram
from ..work import StageCost, Work


@dataclass(frozen=True)
class Job:
    """The task of a method.

    Attributes
    ----------
    k : int
        Number of clusters.
    weights : array of shape (n,)
        Number of copies of each row; 0 where there is nothing to compare.
    n_init : int
        Number of starts, for methods that have them.
    polish : bool
        Whether kernel k-means is followed by single moves.
    seed : int
        Seed of all random steps.
    progress : callable, optional
        Called as ``progress("clustering", done, total)``, in starts.
    begun : object
        What ``begin`` of the method returned, where it saw the same Gram.
    """

    k: int
    weights: Array
    n_init: int = 10
    polish: bool = True
    seed: int = 0
    progress: Progress | None = None
    begun: Any = None


@dataclass(frozen=True)
class Found:
    """The result of a method.

    Attributes
    ----------
    labels : array of shape (n,)
        Cluster of every row; −1 for a document that belongs to none.
    outcome : str
        How the method stopped, such as "converged".
    polished : bool
        Whether single moves followed.
    result : object
        The result of the function of ``grampus.cluster``, if one was called.
    confidence : array of shape (n,), optional
        How far several views of the documents agree on the cluster of each, from 0 to 1.
    """

    labels: NDArray[np.intp]
    outcome: str = "converged"
    polished: bool = False
    result: Any = None
    confidence: Array | None = None


class Method(ABC):
    """A clustering method; a subclass is a frozen dataclass with a ``name``, its options, and ``cluster``."""

    name: ClassVar[str]

    @abstractmethod
    def cluster(self, gram: Gram, job: Job) -> Found:
        """Cluster the documents of a Gram."""

    def begin(self, gram: Gram, weights: Array) -> Any:
        """Begin what does not depend on the number of clusters, which is being chosen; returned as ``job.begun``."""
        return None

    def components(self) -> int:
        """Return how many components of the kernel the method looks at; they are computed with the kernel's own."""
        return 0

    def vectors(self, k: int) -> int:
        """Return how many vectors the method holds at a time: Lanczos's basis, and coordinates with their copies."""
        return 2 * k + 1 + 3 * k

    def cost(self, work: Work) -> StageCost:
        """Return what the method costs, here some leading components and little else.

        A Gram without features is compared with itself as a whole.
        """
        beside = 8.0 * work.n * self.vectors(work.k) + work.engine + work.matrix
        return StageCost(step_name(work), 40.0 * work.n, beside, work.decompose(work.k, work.multiply(1)))

    def options(self) -> dict[str, Any]:
        """Return the name and the options as a dict."""
        return {"name": self.name, **vars(self)}


def step_name(work: Work) -> str:
    """Return what clustering is called in a prediction."""
    return "clustering" if work.shape.width else "comparing all pairs"
