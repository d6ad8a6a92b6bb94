"""The map of a run in a notebook, whose selection comes back as row numbers (the extra ``grampus[notebook]``)."""

from functools import cache
from importlib.resources import files
from typing import Any

from .._check import check_integer
from ..errors import MissingExtraError
from ..persist import Run
from ..report.build import Shell, joined, page_scripts, page_style, render
from ..report.page import page_of

LOWEST, HIGHEST = 200, 4000  # pixels


@cache
def _asset(name: str) -> str:
    return files(__package__).joinpath("assets", name).read_text(encoding="utf-8")


@cache
def _script() -> str:
    """Return the scripts of the page, with the one that tells a notebook what is selected."""
    *before, last = page_scripts()
    return joined([*before, _asset("inside.js"), last])


@cache
def _kind() -> Any:
    """Return the class of the widget: it exists where its package does."""
    try:
        import anywidget
        import traitlets
    except ImportError:
        raise MissingExtraError("The widget needs anywidget: pip install 'grampus[notebook]'") from None

    class MapWidget(anywidget.AnyWidget):
        """The map of a run; `selection` holds the rows of the documents that are selected, found or filtered."""

        _esm = _asset("widget.js")
        page = traitlets.Unicode().tag(sync=True)
        height = traitlets.Int(LOWEST).tag(sync=True)
        selection = traitlets.List(traitlets.Int()).tag(sync=True)

    return MapWidget


def map_widget(run: Run, height: int = 640) -> Any:
    """Return the map of a run as a widget for Jupyter, marimo and other notebooks that show widgets.

    Parameters
    ----------
    run : Run
    height : int
        In pixels.

    Returns
    -------
    anywidget.AnyWidget
        Its `selection` is a list of row numbers: the documents that are selected, found or filtered on the map. Setting
        it selects documents.

    Raises
    ------
    MissingExtraError
        anywidget is not installed.
    """
    height = check_integer(height, "height", low=LOWEST, high=HIGHEST)
    return _kind()(page=render(page_of(run), Shell(_script(), page_style())), height=height)
