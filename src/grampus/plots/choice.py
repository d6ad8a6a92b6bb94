"""The chart of k: how well every number of clusters predicts, and which are close to the best."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _draw
from ..errors import InputError
from ..persist import Choice
from ..select import Selection, score_rows
from ._axes import COLOURS, axes, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NEEDED = ("ks", "mean", "standard_error", "best", "ranking", "plausible")


def k_chart(selection: Any, *, ax: Axes | None = None) -> Axes:
    """Plot the mean score of every k with its standard error; the chosen k is filled, close ones are in the title.

    Parameters
    ----------
    selection : Selection or Choice
        What ``choose_k`` returned, or the choice of a run; or anything with ``ks``, ``mean``, ``standard_error``,
        ``best``, ``ranking`` and ``plausible``.
    ax : Axes, optional

    Returns
    -------
    Axes

    Examples
    --------
    >>> import numpy as np
    >>> from grampus import choose_k, plots
    >>> from grampus.select import Splits
    >>> X = np.repeat(np.eye(3) * 9, 40, axis=0) + np.random.default_rng(0).normal(size=(120, 3))
    >>> found = choose_k(X, kernel="linear", ks=range(2, 6), splits=Splits(10), null=False, random_state=0)
    >>> ax = plots.k_chart(found)
    >>> ax.lines[0].get_xdata().tolist(), ax.get_title(loc="left")[:5]
    ([2, 3, 4, 5], 'k = 3')
    """
    missing = [name for name in _NEEDED if not hasattr(selection, name)]
    if missing:
        raise InputError(
            f"k_chart needs what choose_k returns; got {type(selection).__name__}, which has no {missing[0]}."
        )
    rows = [row for row in score_rows(selection) if row.mean is not None]
    ks, mean = [row.k for row in rows], np.array([row.mean for row in rows], dtype=float)
    ax = axes(ax)
    look: dict[str, Any] = {"color": COLOURS[0], "marker": "o", "markerfacecolor": "white", "capsize": 3}
    ax.errorbar(ks, mean, yerr=[row.error or 0.0 for row in rows], **look)
    chosen = [i for i, row in enumerate(rows) if row.standing == "chosen"]
    ax.plot([ks[i] for i in chosen], mean[chosen], "o", color=COLOURS[1], markersize=9, zorder=3)
    ax.set_xticks(ks)
    ax.set_xlabel("number of clusters k")
    ax.set_ylabel("score")
    close = ", ".join(str(row.k) for row in rows if row.standing == "close")
    title = f"k = {selection.best}" + (" (no structure)" if selection.best == 1 else "")
    ax.set_title(title + (f"; close to it: {close}" if close else ""), loc="left", fontsize="medium")
    return plain(ax)


_draw.plot.register(Selection, k_chart)
_draw.plot.register(Choice, k_chart)
