"""Plots of Grams and results with matplotlib, an extra: ``pip install 'grampus[plots]'``.

Each function takes a Gram or a result and optionally an Axes, and returns the Axes. None touches pyplot's state or
opens a window: ``ax.figure`` shows the plot in a notebook, ``ax.figure.savefig(path)`` saves it. Results also plot
themselves: ``result.plot()``.
"""

from .choice import k_chart
from .documents import document_map
from .gram import heatmap, normalised_curves, scree
from .results import dendrogram, projections, reassignments

__all__ = [
    "dendrogram", "document_map", "heatmap", "k_chart", "normalised_curves", "projections", "reassignments", "scree",
]  # fmt: skip
