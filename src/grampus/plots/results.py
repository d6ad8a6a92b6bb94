"""Plots of results: moves per iteration, trees, and where a node was cut."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _draw
from .._array import Array
from .._check import check_integer
from ..cluster import Clustering, History, Node, Tree
from ..errors import InputError
from ..gram import Gram
from ._axes import COLOURS, axes, legend, named, remove_frame, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Moves = Clustering | History


def reassignments(result: Moves | Mapping[str, Moves], *, ax: Axes | None = None) -> Axes:
    """Plot how many documents changed cluster in each iteration, for one run or several (`dominance`, Fig. 3).

    Parameters
    ----------
    result : Clustering or History, or mapping of names to them
    ax : Axes, optional

    Returns
    -------
    Axes

    Examples
    --------
    >>> import numpy as np
    >>> from grampus import plots
    >>> from grampus.cluster import History
    >>> ax = plots.reassignments(History(np.array([5, 1, 0]), np.array([9.0, 4.0, 3.5])))
    >>> ax.lines[0].get_ydata().tolist()
    [5, 1, 0]
    """
    results = named(result, (Clustering, History), "reassignments needs a Clustering or its history")
    ax = axes(ax)
    for position, (name, one) in enumerate(results.items()):
        moves = (one.history if isinstance(one, Clustering) else one).moves
        ax.plot(np.arange(1, len(moves) + 1), moves, label=name, **style(position))
    ax.set_ylim(bottom=0.0)
    ax.locator_params(axis="x", integer=True)
    ax.set(xlabel="iteration", ylabel="documents that moved")
    legend(ax, results)
    return remove_frame(ax)


def dendrogram(tree: Tree, names: Any = None, *, ax: Axes | None = None) -> Axes:
    """Plot a tree from the left: every node is placed at its scatter, leaves show their name and number of documents.

    Parameters
    ----------
    tree : Tree
    names : sequence of str, optional
        One for each leaf, from left to right in ``tree.leaves``; its label by default.
    ax : Axes, optional

    Returns
    -------
    Axes

    Examples
    --------
    >>> import numpy as np
    >>> from grampus import plots
    >>> from grampus.cluster import pddp
    >>> from grampus.gram import LinearGram
    >>> ax = plots.dendrogram(pddp(LinearGram(np.array([[0.0], [1.0], [9.0], [12.0]])), 3), ["a", "b", "c"])
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['a (2)', 'b (1)', 'c (1)']
    """
    named(tree, (Tree,), "dendrogram needs a Tree")
    leaves, titles = tree.leaves, [node.label for node in tree.outline(names)]
    ax = axes(ax, 6.4, max(2.0, 0.8 + 0.3 * len(leaves)))
    height = {leaf.index: float(row) for row, leaf in enumerate(leaves)}
    for node in reversed(tree.nodes):  # children come after their parent
        if node.children:
            rows = [height[child] for child in node.children]
            height[node.index] = sum(rows) / len(rows)
            ax.vlines(node.scatter, min(rows), max(rows), color=COLOURS[0], linewidth=1.2)
            for child, row in zip(node.children, rows, strict=True):
                ax.hlines(row, tree.nodes[child].scatter, node.scatter, color=COLOURS[0], linewidth=1.2)
    ax.plot([leaf.scatter for leaf in leaves], range(len(leaves)), "o", color=COLOURS[1], markersize=4)
    ax.set_yticks(range(len(leaves)), [f"{titles[leaf.index]} ({leaf.size})" for leaf in leaves])
    ax.yaxis.tick_right()
    ax.invert_xaxis()
    ax.invert_yaxis()
    ax.set_xlabel("scatter")
    ax.spines[["top", "left", "right"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    return ax


def projections(
    tree: Tree, gram: Gram, *, node: int = 0, direction: int = 0, bins: int = 40, ax: Axes | None = None
) -> Axes:
    """Plot the histogram of a node's projections on its principal direction, and the cut (`pddp`, Fig. 1).

    Where a node was divided by 2-means (``refine``, bisecting k-means) the documents are projected on the line from
    the left to the right centroid instead, and the cut is halfway.

    Parameters
    ----------
    tree : Tree
    gram : Gram
        The Gram that the tree was grown from (``gram_`` of an estimator).
    node : int
        Its index in ``tree.nodes``; the root by default.
    direction : int
        Which of several directions.
    bins : int
    ax : Axes, optional

    Returns
    -------
    Axes

    Examples
    --------
    >>> import numpy as np
    >>> from grampus import plots
    >>> from grampus.cluster import pddp
    >>> from grampus.gram import LinearGram
    >>> gram = LinearGram(np.array([[0.0], [1.0], [9.0], [12.0]]))
    >>> ax = plots.projections(pddp(gram, 2, cut="projection"), gram, bins=12)
    >>> int(sum(bar.get_height() for bar in ax.patches)), len(ax.lines)
    (4, 1)
    """
    named(tree, (Tree,), "projections needs a Tree")
    divided = tree.nodes[check_integer(node, "node", low=0, high=len(tree) - 1, of=" (the nodes of the tree)")]
    bins = check_integer(bins, "bins", low=1)
    if len(gram) != tree.root.size:
        advice = "use the Gram that the tree was grown from"
        raise InputError(f"The tree has {tree.root.size} documents, the Gram {len(gram)}: {advice}.")
    values, cut = projected(divided, gram, direction)
    ax = axes(ax)
    ax.hist(values, bins=bins, color=COLOURS[0])
    ax.axvline(cut, color=COLOURS[1], linestyle="--")
    ax.margins(y=0.15)
    ax.annotate(f" cut at {cut:.3g}", (cut, 0.99), xycoords=("data", "axes fraction"), color=COLOURS[1], va="top")
    ax.set(xlabel="projection", ylabel="documents")
    return remove_frame(ax)


def projected(node: Node, gram: Gram, direction: int = 0) -> tuple[Array, float]:
    """Return the members' positions on the line that divides a node, and the cut."""
    split = node.split
    if split is None:
        raise InputError(f"Node {node.index} is a leaf: it has no cut.")
    if split.input_centred:
        why = "The node was centred in the input space, which its Gram does not show"
        raise InputError(f"{why}. Use centring='feature'.")
    if split.nearest and len(node.children) > 2:
        raise InputError(f"Node {node.index} has {len(node.children)} centroids: no single line divides it.")
    scores = gram.split_shift()[0].take(node.members) @ split.coefficients - split.offset
    if split.nearest:
        return scores[:, 1] - scores[:, 0], 0.0
    last = len(split.thresholds) - 1
    direction = check_integer(direction, "direction", low=0, high=last, of=" (the directions of the split)")
    return scores[:, direction], float(split.thresholds[direction])


_draw.plot.register(Clustering, reassignments)
_draw.plot.register(History, reassignments)
_draw.plot.register(Tree, dendrogram)
