"""The map of a run's documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .. import _draw
from ..persist import Run
from ._axes import COLOURS, MARKERS, axes, named

if TYPE_CHECKING:
    from matplotlib.axes import Axes

GREY = "#bbbbbb"


def document_map(run: Run, *, names: bool = True, size: float = 9.0, ax: Axes | None = None) -> Axes:
    """Plot the map of the documents, coloured by cluster.

    Clusters are discs, similar ones near each other; distances across the map mean little.

    Parameters
    ----------
    run : Run
        Of a fitted model: ``model.run_``; ``model.plot()`` does the same.
    names : bool
        Whether to write the name of every cluster at its middle.
    size : float
        Of the points.
    ax : Axes, optional

    Returns
    -------
    Axes

    Examples
    --------
    >>> from grampus import DocumentClusterer, plots
    >>> model = DocumentClusterer(2).fit(["whale song", "whales sing", "bird nest", "nests of birds"])
    >>> ax = plots.document_map(model.run_)
    >>> [text.get_text() for text in ax.texts] == [cluster.name for cluster in model.clusters_]
    True
    """
    named(run, (Run,), "document_map needs a Run")
    ax = axes(ax, 6.4, 6.0)
    places, labels = run.layout.coordinates, run.evidence.labels
    for group in np.unique(labels).tolist():
        colour = GREY if group < 0 else COLOURS[group % len(COLOURS)]
        marker = MARKERS[0] if group < 0 else MARKERS[group // len(COLOURS) % len(MARKERS)]
        x, y = places[labels == group].T
        ax.scatter(x, y, s=size, c=colour, marker=marker, alpha=0.6, linewidths=0)
    for cluster in run.evidence.clusters if names else ():
        x, y = places[labels == cluster.number].mean(axis=0).tolist()
        box = {"facecolor": "white", "alpha": 0.7, "edgecolor": "none", "pad": 1.0}
        ax.annotate(cluster.name, (x, y), ha="center", va="center", fontsize=8, bbox=box)
    ax.set_aspect("equal", adjustable="datalim")
    ax.set_axis_off()
    return ax


_draw.plot.register(Run, document_map)
