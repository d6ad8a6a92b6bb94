"""The map of a run's documents, as the page draws it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from scipy.ndimage import gaussian_filter, label, maximum_filter, uniform_filter

from .. import _draw
from .._array import Array
from ..persist import Run
from ..report.colours import hex_of, level_marks
from ..report.places import places_of
from ._axes import axes, named

if TYPE_CHECKING:
    from matplotlib.axes import Axes

GREY = "#b3b0aa"
INK, QUIET = "#1b2025", "#59626b"
RISES = (0.16, 0.4, 0.7)  # of the highest density of a group, as contours
CELL = 2.0  # points: how finely room for names is looked for
MARGIN = 26.0  # points around the documents
FARTHEST, MOST = 120, 30  # points between a name and the middle of its documents; names
LONGEST = 50  # points of the line from a name to its documents
CORE = 0.4  # of the documents around the fullest cell: a name belongs to these, not to a stray document


def document_map(run: Run, *, names: bool = True, size: float | None = None, ax: Axes | None = None) -> Axes:
    """Plot the map of the documents as the page shows it: places, colours, contours, and names beside the documents.

    Neighbours are similar; distances across the map mean little.

    Parameters
    ----------
    run : Run
        Of a fitted model: ``model.run_``; ``model.plot()`` does the same.
    names : bool
        Whether to write the names of the clusters. A name for which there is no room beside its documents is left out.
    size : float, optional
        Of the points, as in matplotlib's ``scatter``. By default as large as there is room.
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
    ax = axes(ax, 8.0, 6.0)
    from matplotlib.figure import Figure  # which axes() has looked for

    drawn, labels = places_of(run.layout.coordinates), run.evidence.labels
    marks = level_marks(run, labels, run.n_clusters)
    colours = [hex_of(mark) for mark in marks]
    ax.set_axis_off()
    if isinstance(ax.figure, Figure):
        ax.figure.draw_without_rendering()  # without axes there is more room, which the layout takes only now
    # In points, downwards from the upper left corner, as on the page.
    window, point = ax.get_window_extent(), ax.figure.dpi / 72
    across, high = float(window.width / point), float(window.height / point)
    low, extent = drawn.at.min(axis=0), np.maximum(np.ptp(drawn.at, axis=0), 1e-9)
    scale = float(((across - 2 * MARGIN, high - 2 * MARGIN) / extent).min())
    places = (drawn.at - low - extent / 2) * scale + (across / 2, high / 2)
    radius = float(np.clip(0.48 * drawn.room * scale, 1.2, 4.0)) if drawn.room else 1.0
    radius = radius if size is None else (size / np.pi) ** 0.5
    for group in np.unique(labels).tolist():
        members = places[labels == group]
        colour = GREY if group < 0 else colours[group]
        if group >= 0 and run.n_clusters > 1:
            _contours(ax, members, colour, scale, len(run))
        rim = 0.4 if radius > 2 else 0.0
        x, y = members.T
        ax.scatter(x, y, s=np.pi * radius**2, c=colour, linewidths=rim, edgecolors="white", zorder=2)
    if names:
        _names(ax, run, places, radius, (across, high), colours)
    ax.set_xlim(0, across)
    ax.set_ylim(high, 0)
    ax.set_aspect("equal", adjustable="datalim")
    return ax


def _contours(ax: Axes, members: Array, colour: str, scale: float, n: int) -> None:
    """Draw where the documents of a group are dense."""
    side = scale / float(np.clip(4 * n**0.5, 32, 128))
    ends = zip(members.min(0), members.max(0), strict=True)
    edges = [np.arange(low - 9 * side, high + 10 * side, side) for low, high in ends]
    counts, x, y = np.histogram2d(members[:, 0], members[:, 1], bins=edges)
    density = gaussian_filter(counts, 3**0.5, mode="constant")
    alone = 1.05 / (2 * np.pi * 3)  # of a single document
    levels = sorted({max(rise * float(density.max()), alone) for rise in RISES} | {float(density.max()) + 1.0})
    middles = (x[:-1] + x[1:]) / 2, (y[:-1] + y[1:]) / 2
    if levels[0] >= density.max():
        return
    for level in levels[:-1]:
        ax.contourf(*middles, density.T, levels=[level, levels[-1]], colors=[colour], alpha=0.07, zorder=1)
    ax.contour(*middles, density.T, levels=levels[:-1], colors=[colour], alpha=0.35, linewidths=0.6, zorder=1)


@dataclass
class _Room:
    """What of the picture is free, in cells, and the boxes that names have taken."""

    cells: Array
    high: int
    wide: int
    taken: list[Array] = field(default_factory=list)

    def free(self, boxes: Array) -> np.ndarray:
        """Return which boxes (left, top, right, bottom; in points) cover neither documents nor names."""
        inside = (boxes[:, :2] >= 2).all(axis=1) & (boxes[:, 2] <= self.wide - 2) & (boxes[:, 3] <= self.high - 2)
        limit = np.array(self.cells.shape)[[1, 0, 1, 0]] - 1
        around = np.concatenate([np.floor(boxes[:, :2] / CELL), np.ceil(boxes[:, 2:] / CELL)], axis=1)
        left, top, right, bottom = np.clip(around, 0, limit).astype(int).T
        sums = self.cells
        empty = sums[bottom, right] - sums[top, right] - sums[bottom, left] + sums[top, left] == 0
        for other in self.taken:
            empty &= (boxes[:, :2] >= other[2:]).any(axis=1) | (boxes[:, 2:] <= other[:2]).any(axis=1)
        return np.asarray(inside & empty)


def _names(ax: Axes, run: Run, places: Array, radius: float, box: tuple[float, float], colours: Sequence[str]) -> None:
    """Write names, largest clusters first, at the nearest place that is free, with a line where it is far."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextPath

    across, high = box
    shape = (int(high / CELL) + 1, int(across / CELL) + 1)
    grid = np.zeros(shape)
    columns, rows = np.clip(places / CELL, 0, np.array(shape)[::-1] - 1).astype(int).T
    grid[rows, columns] = 1
    reach = 2 * int(np.ceil((radius + 1) / CELL)) + 1
    sums = np.pad(maximum_filter(grid, reach).cumsum(axis=0).cumsum(axis=1), ((1, 0), (1, 0)))
    room = _Room(sums, int(high), int(across))
    steps, turns = np.arange(3, FARTHEST, 5), np.linspace(0, 2 * np.pi, 24, endpoint=False)
    far, turn = (one.ravel() for one in np.meshgrid(steps, turns, indexing="ij"))
    way = np.column_stack([np.cos(turn), np.sin(turn)])
    largest = max((cluster.size for cluster in run.evidence.clusters), default=1)
    for cluster in sorted(run.evidence.clusters, key=lambda one: (-one.size, one.number)):
        members = places[run.evidence.labels == cluster.number]
        if not cluster.name or not len(members) or len(room.taken) == MOST:
            continue
        points = 8.0 + 4.0 * (cluster.size / largest) ** 0.5
        drawn = TextPath((0, 0), cluster.name, size=points, prop=FontProperties(weight="bold")).get_extents()
        half = np.array([drawn.width * 1.08 + 4, points * 1.3]) / 2
        core = _dense_part(members, max(across, high) / float(np.clip(len(places) ** 0.5 / 1.5, 6, 32)))
        middles = np.median(core, axis=0) + way * (half + far[:, None])
        boxes = np.concatenate([middles - half, middles + half], axis=1)
        edges = np.clip(core[None], boxes[:, None, :2], boxes[:, None, 2:])
        gaps = np.sqrt(((edges - core) ** 2).sum(axis=2))
        cost = np.where(room.free(boxes) & (gaps.min(axis=1) < LONGEST), gaps.min(axis=1) + 0.25 * far, np.inf)
        chosen = int(cost.argmin())
        if np.isinf(cost[chosen]):
            continue
        room.taken.append(boxes[chosen])
        nearest = core[gaps[chosen].argmin()]
        edge = edges[chosen, gaps[chosen].argmin()]
        if gaps[chosen].min() > radius + 8:
            ax.plot(*np.transpose([edge, nearest]), color=QUIET, linewidth=0.7, zorder=3)
        x, y = middles[chosen].tolist()
        title = ax.text(x, y, cluster.name, ha="center", va="center", fontsize=points, color=INK, zorder=4)
        title.set_fontweight("bold")
        ends = x - half[0] + 2, x + half[0] - 2
        ax.plot(ends, [y + 0.66 * points] * 2, color=colours[cluster.number], linewidth=1.5, zorder=4)


def _dense_part(members: Array, side: float) -> Array:
    """Return the documents around the place where most of them lie, at most a few hundred."""
    cells = ((members - members.min(axis=0)) / side).astype(int)
    counts = np.zeros(cells.max(axis=0) + 1)
    np.add.at(counts, tuple(cells.T), 1.0)
    around = np.where(counts > 0, uniform_filter(counts, 3, mode="constant"), 0.0)
    parts, _ = label(around >= CORE * around.max(), structure=np.ones((3, 3)))
    part_of = parts[tuple(cells.T)]
    core = members[part_of == parts[np.unravel_index(around.argmax(), around.shape)]]
    return core[:: max(1, len(core) // 300)]


_draw.plot.register(Run, document_map)
