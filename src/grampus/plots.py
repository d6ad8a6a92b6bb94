"""Pictures for a notebook or a paper, by matplotlib (the extra ``[plots]``).

Each function draws on the axes it is given, or on new ones, and returns them. Importing this module also lets a
``Selection`` draw itself: ``selection.plot()``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.cluster import hierarchy

from ._array import Array
from ._check import check_labels
from .cluster import Clustering
from .cluster.tree import Node, Tree
from .errors import InputError, MissingExtraError
from .gram import Gram
from .gram import eigenvalues as gram_eigenvalues
from .persist import Choice
from .select import Selection

__all__ = [
    "chart_of_k",
    "dendrogram",
    "eigenvalues",
    "gram_heatmap",
    "normalised_curves",
    "projections",
    "reassignments",
]

INK, ACCENT, SOFT = "#1b2025", "#0f4c5c", "#b3b0aa"
LINES = ("-", "--", "-.", ":", (0, (1, 4)))
LARGEST = 800  # rows of a heatmap; of more documents a sample is drawn


def _axes(given: Any) -> Any:
    if given is not None:
        return given
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError("Drawing needs matplotlib: pip install 'grampus[plots]'.") from error
    axes = Figure(figsize=(6.4, 4.0), layout="constrained").subplots()
    axes.spines[["top", "right"]].set_visible(False)
    return axes


def chart_of_k(choice: Selection | Choice, *, axes: Any = None) -> Any:
    """Draw the mean score of every number of clusters with one standard error to each side.

    Parameters
    ----------
    choice : Selection or Choice
    axes : matplotlib axes, optional

    Returns
    -------
    axes

    Examples
    --------
    >>> from grampus.persist import Choice
    >>> from grampus.plots import chart_of_k
    >>> axes = chart_of_k(Choice(2, "RED-S", (2, 3), (0.9, 0.4), (0.01, 0.02), (2, 3), (2,), 20))
    >>> axes.get_xlabel()
    'clusters'
    """
    known = [
        (k, float(mean), float(error))
        for k, mean, error in zip(choice.ks, choice.mean, choice.standard_error, strict=True)
        if mean is not None and error is not None
    ]
    ks, means, errors = (np.array(values) for values in zip(*known, strict=True)) if known else (np.zeros(0),) * 3
    axes = _axes(axes)
    axes.errorbar(ks, means, yerr=errors, color=ACCENT, marker="o", markerfacecolor="white", capsize=2)
    best = ks == choice.best
    axes.plot(ks[best], means[best], "o", color=ACCENT, markersize=9)
    axes.set(xlabel="clusters", ylabel=f"score ({choice.scheme})", xticks=ks)
    return axes


Selection.draw = chart_of_k


def dendrogram(tree: Tree, names: Sequence[str] | None = None, *, axes: Any = None) -> Any:
    """Draw a tree; the height of a node is its scatter.

    Parameters
    ----------
    tree : Tree
    names : sequence of str, optional
        One for each leaf; its label and size by default.
    axes : matplotlib axes, optional

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.cluster import pddp
    >>> from grampus.gram import LinearGram
    >>> from grampus.plots import dendrogram
    >>> axes = dendrogram(pddp(LinearGram(np.array([[0.0], [1.0], [9.0], [12.0]])), 3))
    >>> axes.get_ylabel()
    'scatter'
    """
    leaves = tree.leaves
    given = [f"{number} ({leaf.size})" for number, leaf in enumerate(leaves)] if names is None else list(names)
    if len(given) != len(leaves):
        raise InputError(f"names must hold one name for each of the {len(leaves)} leaves; got {len(given)}.")
    axes = _axes(axes)
    if len(leaves) > 1:
        hierarchy.dendrogram(tree.linkage(), ax=axes, labels=given, color_threshold=0, above_threshold_color=ACCENT)
    axes.set_ylabel("scatter")
    return axes


def gram_heatmap(gram: Gram, labels: Any = None, *, axes: Any = None) -> Any:
    """Draw a Gram matrix, its documents in the order of their clusters (`dominance`, Figs 1 and 2).

    Of more than 800 documents every so many-th of each cluster is drawn. Draw the Gram before and after ``shift`` or
    ``power`` side by side to see what the reduction does to the diagonal. The scale ends at the largest entry beside
    the diagonal.

    Parameters
    ----------
    gram : Gram
    labels : array of shape (n,), optional
        Clusters; the given order without them.
    axes : matplotlib axes, optional

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.gram import LinearGram
    >>> from grampus.plots import gram_heatmap
    >>> axes = gram_heatmap(LinearGram(np.eye(3)), [0, 1, 0])
    >>> axes.images[0].get_array().shape
    (3, 3)
    """
    n = len(gram)
    clusters = np.zeros(n, dtype=np.intp) if labels is None else check_labels(labels, n)
    order = np.argsort(clusters, kind="stable")[:: max(1, -(-n // LARGEST))]
    values = gram.block(order, order)
    beside = values[~np.eye(len(values), dtype=bool)]
    axes = _axes(axes)
    low, high = (float(beside.min()), float(beside.max())) if beside.size else (0.0, 1.0)
    picture = axes.imshow(values, cmap="cividis", vmin=low, vmax=high, interpolation="nearest")
    for edge in np.flatnonzero(np.diff(clusters[order])) + 0.5:
        axes.axhline(edge, color="white", linewidth=0.6)
        axes.axvline(edge, color="white", linewidth=0.6)
    axes.figure.colorbar(picture, ax=axes, label="similarity")
    axes.set(xticks=[], yticks=[])
    return axes


def eigenvalues(grams: Mapping[str, Gram], *, axes: Any = None) -> Any:
    """Draw the eigenvalues of Gram matrices, largest first: before and after a shift, say.

    Parameters
    ----------
    grams : mapping of str to Gram
        Name → Gram; the whole spectrum is computed, O(n³).
    axes : matplotlib axes, optional

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.gram import LinearGram, shift
    >>> from grampus.plots import eigenvalues
    >>> gram = LinearGram(np.eye(4))
    >>> len(eigenvalues({"before": gram, "after": shift(gram)}).lines)
    3
    """
    axes = _axes(axes)
    axes.axhline(0.0, color=SOFT, linewidth=0.8)
    for (name, gram), line in zip(grams.items(), _styles(), strict=False):
        values = np.sort(gram_eigenvalues(gram))[::-1]
        axes.plot(np.arange(1, len(values) + 1), values, color=ACCENT, linestyle=line, label=name)
    axes.set(xlabel="number", ylabel="eigenvalue")
    axes.legend(frameon=False)
    return axes


def reassignments(result: Clustering, *, axes: Any = None) -> Any:
    """Draw how many documents moved in each iteration, for every start, the best one on top (`dominance`, Fig. 3).

    Parameters
    ----------
    result : Clustering
    axes : matplotlib axes, optional

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.cluster import kernel_kmeans
    >>> from grampus.gram import LinearGram
    >>> from grampus.plots import reassignments
    >>> result = kernel_kmeans(LinearGram(np.array([[0.0], [1.0], [9.0]])), 2, n_init=3, random_state=0)
    >>> len(reassignments(result).lines)
    4
    """
    axes = _axes(axes)
    for history in result.runs.histories:
        axes.plot(np.arange(1, len(history.moves) + 1), history.moves, color=SOFT, linewidth=0.8)
    moves = result.history.moves
    axes.plot(np.arange(1, len(moves) + 1), moves, color=ACCENT, marker="o", markersize=4, label="the best start")
    axes.set(xlabel="iteration", ylabel="documents that moved")
    axes.legend(frameon=False)
    return axes


def projections(gram: Gram, node: Node, *, direction: int = 0, axes: Any = None) -> Any:
    """Draw the projections of a node's documents on a principal direction, and where it was cut.

    Parameters
    ----------
    gram : Gram
        The one that the tree was grown on, not centred before the kernel.
    node : Node
        One that was divided by a cut.
    direction : int
        Which of its directions.
    axes : matplotlib axes, optional

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.cluster import pddp
    >>> from grampus.gram import LinearGram
    >>> from grampus.plots import projections
    >>> gram = LinearGram(np.array([[0.0], [1.0], [9.0]]))
    >>> axes = projections(gram, pddp(gram, 2).root)
    >>> axes.get_xlabel()
    'projection'
    """
    split = node.split
    if split is None or split.nearest or split.input_centred or not 0 <= direction < len(split.thresholds):
        raise InputError("node must have been divided by a cut along this direction, in feature space.")
    scores = gram.block(node.members, node.members) @ split.coefficients - split.offset
    axes = _axes(axes)
    axes.hist(scores[:, direction], bins="auto", color=SOFT)
    axes.axvline(float(split.thresholds[direction]), color=ACCENT, label="the cut")
    axes.set(xlabel="projection", ylabel="documents")
    axes.legend(frameon=False)
    return axes


def normalised_curves(
    orders: Sequence[float] = (0.0, 1.0, 10.0, 100.0, np.inf), *, cosine: float = 1.0, axes: Any = None
) -> Any:
    """Draw K^t of two vectors at a fixed angle against the ratio of their lengths (`normalised`, Fig. 1).

    K^t = γ cos θ / M^t(1, γ²), M^t the power mean.

    Parameters
    ----------
    orders : sequence of float
        Values of t, at least 0; inf divides by the larger.
    cosine : float
        cos θ.
    axes : matplotlib axes, optional

    Examples
    --------
    >>> from grampus.plots import normalised_curves
    >>> axes = normalised_curves((0, 1))
    >>> round(float(axes.lines[1].get_ydata()[-1]), 3)
    0.8
    """
    ratio = np.linspace(1.0, 2.0, 101)
    axes = _axes(axes)
    for order, line in zip(orders, _styles(), strict=False):
        values = ratio * cosine / _power_mean(ratio**2, float(order))
        axes.plot(ratio, values, color=ACCENT, linestyle=line, label=f"t = {order:g}")
    axes.set(xlabel="γ, the ratio of the lengths", ylabel="K^t")
    axes.legend(frameon=False)
    return axes


def _power_mean(values: NDArray[np.float64], order: float) -> Array:
    """Return M^t(1, value) for values of at least 1, without overflow."""
    if order < 0 or np.isnan(order):
        raise InputError(f"orders must be at least 0; got {order:g}.")
    if order == 0:
        return np.sqrt(values)
    if np.isinf(order):
        return values
    return np.asarray(values * ((1.0 + values**-order) / 2.0) ** (1.0 / order))


def _styles() -> Any:
    from itertools import cycle

    return cycle(LINES)
