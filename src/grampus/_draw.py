"""How results show and plot themselves, without importing upwards.

The package names the layers that draw (``drawn_by``). They are imported when something is drawn for the first time, and
register a function for each kind of result with ``html.register`` and ``plot.register``.
"""

from functools import singledispatch
from importlib import import_module
from typing import Any

_layers: list[str] = []


def drawn_by(module: str) -> None:
    """Name a module that registers drawings when it is imported."""
    if module not in _layers:
        _layers.append(module)


@singledispatch
def html(result: Any) -> str | None:
    """Return a result as a piece of HTML; None where nothing is registered for its kind."""
    return None


@singledispatch
def plot(result: Any, ax: Any = None, **options: Any) -> Any:
    """Plot a result into an Axes and return it."""
    raise NotImplementedError(f"No plot is registered for {type(result).__name__}.")


class Shown:
    """A result that a notebook shows as a small table."""

    __slots__ = ()

    def _repr_html_(self) -> str | None:
        _load()
        return html(self)


class Drawable(Shown):
    """A result that a notebook shows as a small table, and that can be plotted."""

    __slots__ = ()

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Plot the result with matplotlib (the extra ``grampus[plots]``) and return the Axes.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        options
            Those of the function in ``grampus.plots`` that draws this kind of result.
        """
        _load()
        return plot(self, ax=ax, **options)


def _load() -> None:
    for module in _layers:
        import_module(module)
