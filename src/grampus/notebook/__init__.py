"""Results as small tables in a notebook: plain HTML and inline SVG, no script, nothing fetched, no matplotlib.

Everything is built as elements and serialised at the end, so that text can never become markup. The classes live in
layers below; importing this package registers how they are shown.
"""

from . import results, runs

__all__ = ["results", "runs"]
