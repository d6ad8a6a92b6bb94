"""Results as small tables in a notebook: plain HTML and inline SVG, escaped, no script, nothing fetched."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

import numpy as np

from .. import _draw
from ..cluster import Clustering, EmbeddedClustering, History, Runs, Tree
from ..metrics import ContingencyTable
from ..select import Selection
from ._axes import COLOURS

ROWS = 40  # a table shows so many, and says how many it leaves out
COLUMNS = 20
_BAR = 120


def table(title: str, head: Sequence[str], rows: Iterable[Sequence[str]], left_out: int = 0) -> str:
    """Return a titled table; cells are HTML already, the title and the head are not."""
    cells = "".join(f'<th scope="col">{escape(name)}</th>' for name in head)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    more = f"<p>… and {left_out} more</p>" if left_out > 0 else ""
    return f"<div><p>{escape(title)}</p><table><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table>{more}</div>"


def bar(share: float, text: str) -> str:
    """Return a horizontal bar of a share in [0, 1], with its text for those who do not see it."""
    width = _BAR * min(max(share, 0.0), 1.0)
    return (
        f'<svg width="{_BAR}" height="10" role="img" aria-label="{escape(text)}">'
        f'<rect width="{width:.1f}" height="10" fill="{COLOURS[0]}"/></svg>'
    )


def line(values: Any, text: str) -> str:
    """Return a small line chart that starts at zero."""
    heights = np.asarray(values, dtype=float)
    top = float(heights.max(initial=0.0)) or 1.0
    steps = np.linspace(2.0, _BAR - 2.0, max(len(heights), 2))
    points = " ".join(f"{x:.1f},{26.0 - 24.0 * y / top:.1f}" for x, y in zip(steps, heights, strict=False))
    return (
        f'<svg width="{_BAR}" height="28" role="img" aria-label="{escape(text)}">'
        f'<polyline points="{points}" fill="none" stroke="{COLOURS[0]}" stroke-width="1.5"/></svg>'
    )


def left(text: str, depth: int = 0) -> str:
    """Return escaped text that stands left, indented by its depth; notebooks put cells to the right."""
    return f'<div style="text-align:left;padding-left:{1.2 * depth:.1f}em">{escape(text)}</div>'


def number(value: float) -> str:
    """Return a number for reading."""
    return f"{value:.6g}"


def counted(count: int, one: str, many: str = "") -> str:
    """Return a count with its noun."""
    return f"{count} {one if count == 1 else many or one + 's'}"


@_draw.html.register
def _clustering(result: Clustering) -> str:
    sizes = result.sizes
    title = (
        f"{counted(len(result.labels), 'document')} in {counted(result.n_clusters, 'cluster')}, objective "
        f"{number(result.objective)}; the best of {counted(len(result.runs), 'start')} {result.outcome} after "
        f"{counted(result.n_iter, 'iteration')}"
    )
    order = np.argsort(-sizes, kind="stable")
    rows = [
        (str(cluster), str(sizes[cluster]), bar(sizes[cluster] / sizes.max(), str(sizes[cluster])))
        for cluster in order[:ROWS]
    ]
    return table(title, ("cluster", "documents", ""), rows, len(order) - ROWS) + _history(result.history)


@_draw.html.register
def _embedded(result: EmbeddedClustering) -> str:
    values = ", ".join(number(value) for value in result.embedding.eigenvalues[:COLUMNS])
    return f"<p>{escape(f'placed by eigenvectors; eigenvalues {values}')}</p>" + _clustering(result.kmeans)


@_draw.html.register
def _history(history: History) -> str:
    moves = history.moves
    text = f"moves per iteration: {', '.join(map(str, moves[:ROWS].tolist()))}{', …' if len(moves) > ROWS else ''}"
    return f"<div><p>{escape(text)}</p>{line(moves, text)}</div>"


@_draw.html.register
def _runs(runs: Runs) -> str:
    order = np.argsort(runs.objective, kind="stable")
    rows = [
        (str(run), number(runs.objective[run]), str(runs.n_iter[run]), left(str(runs.outcomes[run])))
        for run in order[:ROWS]
    ]
    title = f"{counted(len(runs), 'start')}, the lowest objective first"
    return table(title, ("start", "objective", "iterations", "outcome"), rows, len(order) - ROWS)


@_draw.html.register
def _tree(tree: Tree) -> str:
    labels = {leaf.index: label for label, leaf in enumerate(tree.leaves)}
    nodes = list(tree.walk())
    rows = []
    for node in nodes[:ROWS]:
        name = f"cluster {labels[node.index]}" if node.is_leaf else "split" if node.depth else "all"
        size = bar(node.size / tree.root.size, str(node.size))
        gain = "" if node.is_leaf else number(node.gain)
        rows.append((left(name, node.depth), str(node.size), size, number(node.scatter), gain))
    title = f"{counted(tree.root.size, 'document')} in {counted(len(labels), 'leaf', 'leaves')}"
    title += f", objective {number(tree.objective)}" + ("" if tree.complete else f"; {tree.n_clusters} were asked for")
    return table(title, ("node", "documents", "", "scatter", "gain"), rows, len(nodes) - ROWS)


@_draw.html.register
def _contingency(counts: ContingencyTable) -> str:
    rows, columns = counts.shape
    shown = np.zeros((min(rows, ROWS), min(columns, COLUMNS)), dtype=np.int64)
    near = (counts.rows < ROWS) & (counts.columns < COLUMNS)
    shown[counts.rows[near], counts.columns[near]] = counts.counts[near]
    head = ["", *map(str, counts.clusters[:COLUMNS]), *(["…"] if columns > COLUMNS else []), "all"]
    sizes = counts.class_sizes
    body = [
        (
            left(str(counts.classes[row])),
            *(f"{count or ''}" for count in cells),
            *([""] if columns > COLUMNS else []),
            str(sizes[row]),
        )
        for row, cells in enumerate(shown)
    ]
    title = f"{counted(counts.n, 'document')}: classes in rows, clusters in columns"
    return table(title, head, body, rows - ROWS)


@_draw.html.register
def _selection(selection: Selection) -> str:
    top = max(float(selection.mean.max()), 1e-12)
    rows = []
    for k, mean, error, degenerate in zip(
        selection.ks, selection.mean, selection.standard_error, selection.degenerate, strict=True
    ):
        notes = ["first"] if k == selection.ranking[0] else ["close"] if k in selection.close else []
        notes += [f"{degenerate} of {2 * selection.n_splits} runs degenerate"] if degenerate else []
        spread = f"{error:.3f}" if np.isfinite(error) else "–"  # of a single split there is none
        rows.append((str(k), f"{mean:.3f}", spread, bar(mean / top, f"{mean:.3f}"), left(", ".join(notes))))
    title = f"{selection.scheme} on {selection.kernel}: k = {selection.best}"
    head = ("k", "score", "standard error", "", "")
    return table(title, head, rows) + f"<p>{escape(selection.confidence)}</p>"
