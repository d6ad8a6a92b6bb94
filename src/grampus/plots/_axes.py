"""Axes and colours: the only module that imports matplotlib. The state of pyplot is never touched."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's colours can be distinguished with every kind of colour blindness; strokes differ too, for print.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
STROKES = ("-", "--", "-.", ":")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
COLOUR_MAP = "cividis"  # of steadily rising brightness, and the same to the colour-blind


def axes(ax: Axes | None, width: float = 6.4, height: float = 4.0) -> Axes:
    """Return the Axes to draw into: the given one, or that of a new figure."""
    try:
        from matplotlib.axes import Axes
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError("Plots need matplotlib: pip install 'grampus[plots]'.") from error
    if ax is None:
        return Figure(figsize=(width, height), layout="constrained").add_subplot()
    if not isinstance(ax, Axes):
        raise InputError(f"ax must be a matplotlib Axes; got {type(ax).__name__}. Leave it out for a new figure.")
    return ax


def style(position: int) -> dict[str, Any]:
    """Return colour, stroke and marker of the line at a position."""
    return {
        "color": COLOURS[position % len(COLOURS)],
        "linestyle": STROKES[position % len(STROKES)],
        "marker": MARKERS[position % len(MARKERS)],
        "markersize": 4,
    }


def named(things: Any, kind: tuple[type, ...], what: str) -> dict[str, Any]:
    """Return things by name: a mapping unchanged, a single thing under the empty name."""
    found = dict(things) if isinstance(things, Mapping) else {"": things}
    wrong = [thing for thing in found.values() if not isinstance(thing, kind)]
    if wrong or not found:
        came = type(wrong[0]).__name__ if wrong else "nothing"
        raise InputError(f"{what}, or a mapping of names to several; got {came}.")
    return found


def legend(ax: Axes, names: Any) -> None:
    """Name the lines, where they have names."""
    if any(names):
        ax.legend(frameon=False)


def remove_frame(ax: Axes) -> Axes:
    """Remove the frame at the top and on the right."""
    ax.spines[["top", "right"]].set_visible(False)
    return ax
