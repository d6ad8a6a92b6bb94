"""Principal direction divisive partitioning (`pddp`): a function on a Gram, and its estimator."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from ..._check import check_choice, check_flag, check_integer
from ...errors import InputError
from ...gram import Gram, shift
from ...kernels import Kernel
from ..kmeans.kernel_kmeans import kernel_kmeans
from .base import TreeEstimator, warn_if_incomplete
from .cuts import CUTS
from .grow import Cutting, Proposal, by_centroids, check_clusters, grow
from .node import InputCentred, Part, input_centred
from .tree import Tree

CENTRINGS = ("auto", "input", "feature")
_MOST = 16  # components; 2^16 parts of a split are more than anyone can read


@dataclass(frozen=True)
class Refined:
    """A cut, followed by k-means on the documents of the node, started from its parts (``*_2MEANS``)."""

    cutting: Cutting
    sigma: float
    max_iter: int

    def __call__(self, node: Part, n_components: int) -> Proposal | None:
        """Divide a node."""
        begun = self.cutting(node, n_components)
        if begun is None:
            return None
        gram = shift(node.gram, self.sigma) if self.sigma else node.gram
        count = int(begun.parts.max()) + 1
        labels = kernel_kmeans(gram, count, init=begun.parts, max_iter=self.max_iter).labels
        parts = np.unique(labels, return_inverse=True)[1].reshape(-1).astype(np.intp)
        return Proposal(parts, by_centroids(node, parts, begun.split)) if parts.any() else begun


def pddp(
    gram: Gram,
    n_clusters: int,
    *,
    n_components: int = 1,
    cut: str = "zero",
    refine: bool = False,
    choose: str = "scatter",
    inputs: InputCentred | None = None,
    max_iter: int = 100,
) -> Tree:
    """Divide the documents of a Gram repeatedly along principal components (`pddp`, Tables 1 and 2).

    Deterministic. On a linear Gram one split costs about 25 passes over the node's stored entries, and memory
    proportional to them; on any other, as many products with the node's part of the matrix.

    Parameters
    ----------
    gram : Gram
        A trailing shift changes no direction and is not part of the scatter; it acts in ``refine``.
    n_clusters : int
        k, from 1 to the number of documents. With l components there are up to ⌈(k−1)/(2^l−1)⌉(2^l−1) + 1 leaves.
    n_components : int
        l, the number of principal components that a node is divided along.
    cut : "zero", "full" or "projection"
        The threshold: 0; the minimum of the 2-means objective of the documents (``OC``); or that of the projections
        (``OCPC``).
    refine : bool
        Follow every cut by k-means on the node's documents (``2MEANS``).
    choose : "scatter", "size" or "gain"
        Which leaf is divided next.
    inputs : InputCentred, optional
        Take the directions of each node from vectors centred in the input space.
    max_iter : int
        Maximum number of iterations of ``refine``.

    Returns
    -------
    Tree

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.cluster import pddp
    >>> from grampus.gram import LinearGram
    >>> pddp(LinearGram(np.array([[0.0], [1.0], [9.0], [12.0]])), 2, cut="projection").labels
    array([0, 0, 1, 1])
    """
    k = check_clusters(n_clusters, len(gram))
    n_components = check_integer(n_components, "n_components", low=1, high=_MOST)
    max_iter = check_integer(max_iter, "max_iter", low=1)
    check_choice(cut, "cut", CUTS)
    base, sigma = gram.split_shift()
    cutting = Cutting(cut, inputs)
    divide = Refined(cutting, sigma, max_iter) if check_flag(refine, "refine") else cutting
    return warn_if_incomplete(grow(Part.of(base), k, divide, choose, n_components))


# What `pddp` calls its variants (Tables 1 and 2), as parameters. A leading K means a kernel other than the linear one,
# a trailing (l) means n_components=l.
VARIANTS: dict[str, dict[str, Any]] = {
    f"PDDP{cut}{refine}": {"cut": value, "refine": bool(refine)}
    for cut, value in {"": "zero", "_OC": "full", "_OCPC": "projection"}.items()
    for refine in ("", "_2MEANS")
}


@dataclass(eq=False, repr=False)
class PDDP(TreeEstimator):
    """Principal direction divisive partitioning, with any kernel: deterministic trees of clusters.

    Parameters
    ----------
    n_clusters : int
        The number of leaves; with several components there may be more.
    kernel : str or Kernel
        A spelling such as ``"cosine"`` or ``"gaussian(1.5)"``, or ``"precomputed"``.
    n_components : int
        l, the number of principal components that a node is divided along, into up to 2^l parts.
    cut : "zero", "full" or "projection"
        At 0 (PDDP), or optimal for the documents (``OC``) or for their projections (``OCPC``).
    refine : bool
        Run k-means after every cut (``2MEANS``).
    choose : "scatter", "size" or "gain"
        Which leaf is divided next.
    centring : "auto", "input" or "feature"
        Whether each node's vectors are centred before the kernel is applied (as in the paper; it matters only for
        polynomial kernels and needs the vectors) or only in feature space. "auto" follows the paper where possible:
        for plain polynomial kernels.
    max_iter : int
        Maximum number of iterations of ``refine`` at a node.

    Attributes
    ----------
    tree_ : Tree
        The hierarchy: cut it, draw it, inspect its splits.
    labels_ : array of shape (n,)
        The leaf of every document, numbered from left to right.
    objective_ : float
        The k-means objective of the leaves; ``inertia_`` is the same.
    n_iter_ : int
        The number of splits, at least 1.
    gram_ : Gram
        The fitted Gram.
    kernel_ : Kernel
        The parsed kernel.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus import PDDP
    >>> X = np.array([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0], [0.1, 0.8]])
    >>> model = PDDP(2, kernel="cosine").fit(X)
    >>> model.labels_
    array([0, 0, 1, 1])
    >>> model.predict(np.array([[0.0, 3.0]]))
    array([1])
    """

    n_clusters: int = 8
    _: KW_ONLY
    kernel: str | Kernel = "linear"
    n_components: int = 1
    cut: str = "zero"
    refine: bool = False
    choose: str = "scatter"
    centring: str = "auto"
    max_iter: int = 100

    def fit(self, X: Any, y: Any = None) -> PDDP:
        """Grow the tree of the rows of X (strings for a string kernel, a Gram matrix for ``precomputed``).

        Parameters
        ----------
        X : array or sparse array of shape (n, m), or list of n strings
        y : ignored
        """
        gram = self._gram(X)
        inputs = self._inputs(gram)
        options = self._options("n_components", "cut", "refine", "choose", "max_iter")
        self.tree_ = pddp(gram, self.n_clusters, inputs=inputs, **options)
        self._set_fitted(gram, inputs)
        return self

    def _inputs(self, gram: Gram) -> InputCentred | None:
        """Return how nodes are centred in the input space, if they are."""
        check_choice(self.centring, "centring", CENTRINGS)
        found = None if self.centring == "feature" else input_centred(self.kernel_, gram)
        if self.centring == "input" and found is None and not self.kernel_.ignores_origin:
            raise InputError(
                f"centring='input' needs vectors under a linear, Gaussian or polynomial kernel; got '{self.kernel_}'. "
                "Use centring='feature'."
            )
        return found
