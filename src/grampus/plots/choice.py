"""The chart of k: how well every number of clusters predicts, and what is close to the best."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from .. import _draw
from .._array import Array
from ..errors import InputError
from ..select import Selection
from ._axes import COLOURS, axes, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Scored(Protocol):
    """What the chart needs of a choice of k: a ``Selection`` has it."""

    @property
    def ks(self) -> tuple[int, ...]:
        """The values tried, rising."""

    @property
    def mean(self) -> Array:
        """Mean score of each, shape (ks,)."""

    @property
    def standard_error(self) -> Array:
        """Of the mean over the splits, shape (ks,)."""

    @property
    def best(self) -> int:
        """The chosen k; 1 where there is no structure."""

    @property
    def close(self) -> tuple[int, ...]:
        """Values that the splits do not tell from the highest."""


_ASKED = ("ks", "mean", "standard_error", "best", "close")


def k_chart(selection: Scored, *, ax: Axes | None = None) -> Axes:
    """Draw the mean score of every k with its standard error; the chosen k is filled, those close to it are named.

    Parameters
    ----------
    selection : Selection
        What ``choose_k`` returned, or anything with ``ks``, ``mean``, ``standard_error``, ``best`` and ``close``.
    ax : Axes, optional

    Returns
    -------
    Axes

    Examples
    --------
    >>> import numpy as np
    >>> from grampus import choose_k, plots
    >>> X = np.repeat(np.eye(3) * 9, 40, axis=0) + np.random.default_rng(0).normal(size=(120, 3))
    >>> found = choose_k(X, kernel="linear", ks=range(2, 6), n_splits=10, null=False, random_state=0)
    >>> ax = plots.k_chart(found)
    >>> ax.lines[0].get_xdata().tolist(), ax.get_title(loc="left")[:5]
    ([2, 3, 4, 5], 'k = 3')
    """
    _check(selection)
    ks, mean = np.asarray(selection.ks), np.asarray(selection.mean, dtype=float)
    ax = axes(ax)
    look: dict[str, Any] = {"color": COLOURS[0], "marker": "o", "markerfacecolor": "white", "capsize": 3}
    ax.errorbar(ks, mean, yerr=np.nan_to_num(selection.standard_error), **look)
    marked = np.flatnonzero(ks == selection.best)
    ax.plot(ks[marked], mean[marked], "o", color=COLOURS[1], markersize=9, zorder=3)
    ax.set_xticks(ks)
    ax.set_xlabel("number of clusters k")
    ax.set_ylabel("score")
    ax.set_title(verdict(selection), loc="left", fontsize="medium")
    return plain(ax)


def verdict(selection: Scored) -> str:
    """Return the choice in a few words."""
    words = f"k = {selection.best}" + (" (no structure)" if selection.best == 1 else "")
    return words + (f"; close to it: {', '.join(map(str, selection.close))}" if len(selection.close) else "")


def _check(selection: Any) -> None:
    missing = [name for name in _ASKED if not hasattr(selection, name)]
    if missing:
        raise InputError(
            f"k_chart needs what choose_k returns; got {type(selection).__name__}, which has no {missing[0]}."
        )


_draw.plot.register(Selection, k_chart)
