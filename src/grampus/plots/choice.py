"""The chart of k: how well every number of clusters predicts, and which are close to the best."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _draw
from ..errors import InputError
from ..persist import Choice
from ..select import Levels, Selection, score_rows
from ._axes import COLOURS, axes, remove_frame

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TICKS = 14  # values of k that are written at most
_NEEDED = ("ks", "mean", "standard_error", "best", "ranking", "plausible")


def k_chart(selection: Any, *, ax: Axes | None = None) -> Axes:
    """Plot the mean score of every k with its standard error; the chosen k is filled, close ones are in the title.

    Scores are drawn from 0 to 1, and those of data without groups as a dashed line, where they were measured.

    Parameters
    ----------
    selection : Selection, Levels or Choice
        What ``choose_k`` or ``choose_levels`` returned, or the choice of a run; or anything with ``ks``, ``mean``,
        ``standard_error``, ``best``, ``ranking`` and ``plausible``.
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
    if isinstance(selection, Levels):
        selection = _scores(selection)
    missing = [name for name in _NEEDED if not hasattr(selection, name)]
    if missing:
        got = f"{type(selection).__name__}, which has no {missing[0]}"
        raise InputError(f"k_chart needs what choose_k returns; got {got}.")
    rows = [row for row in score_rows(selection) if row.mean is not None]
    ks, mean = [row.k for row in rows], np.array([row.mean for row in rows], dtype=float)
    ax = axes(ax)
    look: dict[str, Any] = {"color": COLOURS[0], "marker": "o", "markerfacecolor": "white", "capsize": 3}
    ax.errorbar(ks, mean, yerr=[row.error or 0.0 for row in rows], **look)
    chosen = [i for i, row in enumerate(rows) if row.standing == "chosen"]
    ax.plot([ks[i] for i in chosen], mean[chosen], "o", color=COLOURS[1], markersize=9, zorder=3)
    without = [(row.k, row.expected) for row in rows if row.expected is not None]
    if without:
        ax.plot(*zip(*without, strict=True), "--", color=COLOURS[-1], linewidth=1, label="without groups")
        ax.legend(frameon=False)
    errors = np.array([row.error or 0.0 for row in rows])
    low, high = min(0.0, *(mean - errors)), max(1.0, *(mean + errors))
    ax.set_ylim(low - 0.04 * (high - low), high + 0.04 * (high - low))  # absolute: low scores must look low
    ax.set_xticks(ks[:: -(-len(ks) // TICKS)])
    ax.set(xlabel="number of clusters k", ylabel="score")
    close = ", ".join(str(row.k) for row in rows if row.standing == "close")
    title = f"k = {selection.best}" + (" (no structure)" if selection.best == 1 else "")
    ax.set_title(title + (f"; close to it: {close}" if close else ""), loc="left", fontsize="medium")
    return remove_frame(ax)


def _scores(levels: Levels) -> SimpleNamespace:
    """Return the evidence for levels in the form of a choice of k."""
    evidence = levels.evidence
    if evidence is None:
        raise InputError(f"These levels have no scores to draw: {levels.sentence}")
    scores = {name: tuple(getattr(evidence, name)) for name in ("ks", "mean", "standard_error", "expected")}
    ranking = tuple(evidence.ks[np.argsort(-evidence.excess, kind="stable")])
    chosen = {"best": levels.middle.n_clusters, "ranking": ranking, "plausible": (), "answer": levels.verdict}
    return SimpleNamespace(**scores, **chosen)


_draw.plot.register(Selection, k_chart)
_draw.plot.register(Levels, k_chart)
_draw.plot.register(Choice, k_chart)
