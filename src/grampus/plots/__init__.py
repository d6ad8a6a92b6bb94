"""Pictures of Grams and results with matplotlib, an extra: ``pip install 'grampus[plots]'``.

Each function takes a Gram or a result and, if wanted, an Axes, and returns the Axes. None touches pyplot's state or
shows a window: ``ax.figure`` shows the picture in a notebook, ``ax.figure.savefig(path)`` keeps it. Results also draw
themselves: ``result.plot()``, and as a small table at the end of a notebook's cell.
"""

from . import html as _html  # registers the tables; needs no matplotlib
from .choice import k_chart
from .gram import eigenvalues, heatmap, normalised_curves
from .results import dendrogram, projections, reassignments

__all__ = ["dendrogram", "eigenvalues", "heatmap", "k_chart", "normalised_curves", "projections", "reassignments"]

del _html
