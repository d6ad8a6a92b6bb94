"""Principal direction divisive partitioning (`pddp`): one function, and its estimator."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ..._array import Array
from ..._check import check_flag, check_integer
from ..._random import seed_words
from ...errors import InputError
from ...gram import Gram, shift, unshifted
from ...kernels import Kernel
from ..base import KernelEstimator
from ..kmeans.kernel_kmeans import kernel_kmeans
from .cuts import CUTS
from .grow import Cutting, Proposal, by_centroids, check_clusters, grow
from .node import InputCentred, Space, input_centred, space, unaffected_by_input_centring
from .predict import Router
from .tree import Tree

CENTRINGS = ("auto", "input", "feature")
_MOST = 16  # directions; 2^16 parts at a split are more than anyone can read


@dataclass(frozen=True)
class Refined:
    """A cut, then k-means on the documents of the node, started from the parts of the cut (``*_2MEANS``)."""

    cutting: Cutting
    sigma: float
    max_iter: int

    def __call__(self, node: Space, directions: int) -> Proposal | None:
        """Divide a node."""
        begun = self.cutting(node, directions)
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
    directions: int = 1,
    cut: str = "zero",
    refine: bool = False,
    choose: str = "scatter",
    inputs: InputCentred | None = None,
    max_iter: int = 100,
    random_state: int | None = None,
) -> Tree:
    """Divide the documents of a Gram along principal components, again and again (`pddp`, Tables 1 and 2).

    Deterministic. On a linear Gram one split costs about 25 passes over the node's stored entries and memory in
    proportion to them; on any other, as many products with the node's part of the matrix.

    Parameters
    ----------
    gram : Gram
        A trailing shift changes no direction and is left out of the scatter; it acts in ``refine``.
    n_clusters : int
        k, from 1 to the number of documents. With l directions there are up to ⌈(k−1)/(2^l−1)⌉(2^l−1) + 1 leaves.
    directions : int
        l, the number of principal components that a node is divided along.
    cut : "zero", "full" or "projection"
        Where: at 0; where the 2-means objective of the documents is smallest (``OC``); where that of the projections is
        (``OCPC``).
    refine : bool
        Follow every cut by k-means on the node's documents (``2MEANS``).
    choose : "scatter", "size" or "gain"
        Which leaf is divided next.
    inputs : InputCentred, optional
        Take the directions of each node from vectors centred in the input space.
    max_iter : int
        Iterations that ``refine`` may take.
    random_state : int, optional
        Seed of the iteration's start. It changes the result only where the eigengap is of the size of rounding.

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
    directions = check_integer(directions, "directions", low=1, high=_MOST)
    max_iter = check_integer(max_iter, "max_iter", low=1)
    if cut not in CUTS:
        raise InputError(f"cut must be one of {', '.join(map(repr, CUTS))}; got {cut!r}.")
    base, sigma = unshifted(gram)
    cutting = Cutting(cut, inputs)
    divide = Refined(cutting, sigma, max_iter) if check_flag(refine, "refine") else cutting
    seed = 0 if random_state is None else seed_words(random_state, 1)[0]  # a tree is the same every time by default
    tree = grow(space(base, seed), k, divide, choose, directions)
    return warned(tree)


def warned(tree: Tree) -> Tree:
    """Say so when a tree stopped early."""
    if not tree.complete:
        warnings.warn(
            f"Only {len(tree.leaves)} of {tree.n_clusters} clusters: no leaf holds documents that can be told apart.",
            stacklevel=3,
        )
    return tree


class TreeEstimator(KernelEstimator):
    """What estimators that grow a tree share."""

    tree_: Tree

    def _settle(self, gram: Gram, inputs: InputCentred | None = None) -> None:
        """Read labels and objective off the fitted tree, and prepare to route new documents."""
        self.labels_ = self.tree_.labels
        self.objective_ = self.inertia_ = self.tree_.objective
        self.n_iter_ = max(1, len(self.tree_.splits))
        self.router_ = Router(self.tree_, gram, self.kernel_, inputs)

    def direction(self, node: int = 0) -> Array:
        """Return what divides a node as vectors over the columns of X, (m, c); for linear and cosine kernels.

        Principal directions of unit length where the node was cut, centroids where it was divided by 2-means. Large
        entries name the terms that tell the parts apart.

        Parameters
        ----------
        node : int
            Its place in ``tree_.nodes``; the root by default.
        """
        check_is_fitted(self)
        return self.router_.direction(self.tree_.nodes[check_integer(node, "node", low=0, high=len(self.tree_) - 1)])

    def predict(self, X: Any, n_clusters: int | None = None) -> NDArray[np.intp]:
        """Return the leaf that new documents come to, going down the tree.

        Parameters
        ----------
        X : documents
            For ``precomputed``, their similarities to the fitted ones, or the pair (similarities, self-similarities).
        n_clusters : int, optional
            Stop at the parts of a coarser cut, as in ``tree_.cut``.
        """
        check_is_fitted(self)
        parts = None if n_clusters is None else self.tree_.parts(n_clusters)
        return self.router_.predict(self._new(X), parts)


_NAME = re.compile(r"(?P<kernel>K?)PDDP(?P<cut>_OCPC|_OC|)(?P<refine>_2MEANS|)(?:\((?P<directions>\d+)\))?", re.ASCII)
_CUT_OF = {"": "zero", "_OC": "full", "_OCPC": "projection"}


class PDDP(TreeEstimator):
    """Principal direction divisive partitioning, with any kernel: deterministic trees of clusters.

    Parameters
    ----------
    n_clusters : int
        The number of leaves, or a little more with several directions.
    kernel : str or Kernel
        A spelling such as ``"cosine"`` or ``"gaussian(1.5)"``, or ``"precomputed"``.
    directions : int
        l, the number of principal components that a node is divided along, into up to 2^l parts.
    cut : "zero", "full" or "projection"
        At 0 (PDDP), where the documents fall apart best (``OC``), or where their projections do (``OCPC``).
    refine : bool
        k-means after every cut (``2MEANS``).
    choose : "scatter", "size" or "gain"
        Which leaf is divided next.
    centring : "auto", "input" or "feature"
        Whether each node's vectors are centred before the kernel is applied (the paper's way, which matters for
        polynomial kernels alone and needs the vectors) or only in feature space. "auto" follows the paper where it can:
        plain polynomial kernels.
    max_iter : int
        Iterations that ``refine`` may take at a node.
    random_state : int, RandomState or None
        Seed of the iteration's start; the tree depends on it only where an eigengap is of the size of rounding.

    Attributes
    ----------
    tree_ : Tree
        The hierarchy: cut it, draw it, read how each split came about.
    labels_ : array of shape (n,)
        The leaf of every document, numbered from left to right.
    objective_ : float
        The k-means objective of the leaves; ``inertia_`` is the same.
    n_iter_ : int
        The number of splits, at least 1.
    gram_ : Gram
        The fitted Gram.
    kernel_ : Kernel
        The kernel that was read.

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

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        kernel: str | Kernel = "linear",
        directions: int = 1,
        cut: str = "zero",
        refine: bool = False,
        choose: str = "scatter",
        centring: str = "auto",
        max_iter: int = 100,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.directions = directions
        self.cut = cut
        self.refine = refine
        self.choose = choose
        self.centring = centring
        self.max_iter = max_iter
        self.random_state = random_state

    @classmethod
    def variant(cls, name: str, **params: Any) -> PDDP:
        """Return the estimator that the paper calls `name`.

        Parameters
        ----------
        name : str
            ``PDDP``, ``PDDP_2MEANS``, ``PDDP_OC``, ``PDDP_OC_2MEANS``, ``PDDP_OCPC``, ``PDDP_OCPC_2MEANS``; with a
            leading K for a kernel other than the linear one, which must be given; with ``(l)`` for l directions.
        params
            Any other parameter.

        Examples
        --------
        >>> from grampus import PDDP
        >>> PDDP.variant("PDDP_OCPC(2)", n_clusters=4)
        PDDP(cut='projection', directions=2, n_clusters=4)
        """
        found = _NAME.fullmatch(str(name).replace(" ", ""))
        if found is None:
            raise InputError(
                "A variant is PDDP, PDDP_2MEANS, PDDP_OC, PDDP_OC_2MEANS, PDDP_OCPC or PDDP_OCPC_2MEANS, perhaps with "
                f"a leading K and a trailing (l); got {name!r}. Bisecting k-means is BisectingKernelKMeans."
            )
        if found["kernel"] and "kernel" not in params:
            raise InputError(f"{name} needs a kernel, for example kernel='gaussian(1)'.")
        if not found["kernel"] and params.get("kernel", "linear") not in ("linear", "cosine"):
            raise InputError(f"{name} is linear; with kernel={params['kernel']!r} it is called K{name}.")
        named: dict[str, Any] = {"cut": _CUT_OF[found["cut"]], "refine": bool(found["refine"])}
        if found["directions"]:
            named["directions"] = int(found["directions"])
        twice = sorted(set(named) & set(params))
        if twice:
            raise InputError(f"{name} already says what {twice[0]} is.")
        return cls(**named, **params)

    def fit(self, X: Any, y: Any = None) -> PDDP:
        """Grow the tree of the rows of X (strings for a string kernel, a Gram matrix for ``precomputed``).

        Parameters
        ----------
        X : array or sparse array of shape (n, m), or list of n strings
        y : ignored
        """
        gram = self._gram(X)
        inputs = self._inputs(gram)
        self.tree_ = pddp(
            gram,
            self.n_clusters,
            directions=self.directions,
            cut=self.cut,
            refine=self.refine,
            choose=self.choose,
            inputs=inputs,
            max_iter=self.max_iter,
            random_state=self.random_state,
        )
        self._settle(gram, inputs)
        return self

    def _inputs(self, gram: Gram) -> InputCentred | None:
        """Return how nodes are centred in the input space, if they are."""
        if self.centring not in CENTRINGS:
            raise InputError(f"centring must be one of {', '.join(map(repr, CENTRINGS))}; got {self.centring!r}.")
        found = None if self.centring == "feature" else input_centred(self.kernel_, gram)
        if self.centring == "input" and found is None and not unaffected_by_input_centring(self.kernel_):
            raise InputError(
                f"centring='input' needs vectors under a linear, Gaussian or polynomial kernel; got '{self.kernel_}'. "
                "Use centring='feature'."
            )
        return found
