"""Clusterings, trees, contingency tables and choices of k as tables."""

from typing import Any
from xml.etree.ElementTree import Element

import numpy as np

from .. import _draw
from .._names import number_of
from ..cluster import Clustering, EmbeddedClustering, History, Runs, Tree
from ..metrics import ContingencyTable
from ..persist import Choice
from ..select import Selection, score_rows
from .elements import ROWS, bar, left, line, number, paragraph, titled_table, to_html

COLUMNS = 20


@_draw.html.register
def _clustering(result: Clustering) -> str:
    sizes = result.sizes
    title = (
        f"{number_of(len(result.labels), 'document')} in {number_of(result.n_clusters, 'cluster')}, objective "
        f"{number(result.objective)}; the best of {number_of(len(result.runs), 'start')} {result.outcome} after "
        f"{number_of(result.n_iter, 'iteration')}"
    )
    order = np.argsort(-sizes, kind="stable")
    rows = [(int(c), int(sizes[c]), bar(sizes[c] / sizes.max(), str(sizes[c]))) for c in order]
    return to_html(titled_table(title, ("cluster", "documents", ""), rows)) + _history(result.history)


@_draw.html.register
def _embedded(result: EmbeddedClustering) -> str:
    values = ", ".join(number(value) for value in result.embedding.eigenvalues[:COLUMNS])
    return to_html(paragraph(f"clustered on eigenvectors; eigenvalues {values}")) + _clustering(result.kmeans)


@_draw.html.register
def _history(history: History) -> str:
    moves = history.moves
    text = f"moves per iteration: {', '.join(map(str, moves[:ROWS].tolist()))}{', …' if len(moves) > ROWS else ''}"
    body = Element("div")
    body.extend((paragraph(text), line(moves, text)))
    return to_html(body)


@_draw.html.register
def _runs(runs: Runs) -> str:
    order = np.argsort(runs.objective, kind="stable")
    rows = [(int(i), number(runs.objective[i]), int(runs.n_iter[i]), left(str(runs.outcomes[i]))) for i in order]
    title = f"{number_of(len(runs), 'start')}, lowest objective first"
    return to_html(titled_table(title, ("start", "objective", "iterations", "outcome"), rows))


@_draw.html.register
def _tree(tree: Tree) -> str:
    labels = {leaf.index: label for label, leaf in enumerate(tree.leaves)}
    rows = []
    for node in tree.walk():
        name = f"cluster {labels[node.index]}" if node.is_leaf else "split" if node.depth else "all"
        size = bar(node.size / tree.root.size, str(node.size))
        gain = "" if node.is_leaf else number(node.gain)
        rows.append((left(name, node.depth), node.size, size, number(node.scatter), gain))
    title = f"{number_of(tree.root.size, 'document')} in {number_of(len(labels), 'leaf', 'leaves')}"
    title += f", objective {number(tree.objective)}" + ("" if tree.complete else f"; {tree.n_clusters} were requested")
    return to_html(titled_table(title, ("node", "documents", "", "scatter", "gain"), rows))


@_draw.html.register
def _contingency(counts: ContingencyTable) -> str:
    rows, columns = counts.shape
    shown = np.zeros((min(rows, ROWS), min(columns, COLUMNS)), dtype=np.int64)
    near = (counts.rows < ROWS) & (counts.columns < COLUMNS)
    shown[counts.rows[near], counts.columns[near]] = counts.counts[near]
    cut = ["…"] if columns > COLUMNS else []
    body = [
        (left(str(counts.classes[row])), *(f"{count or ''}" for count in cells), *cut, int(counts.class_sizes[row]))
        for row, cells in enumerate(shown)
    ]
    title = f"{number_of(counts.n, 'document')}: classes in rows, clusters in columns"
    head = ["", *map(str, counts.clusters[:COLUMNS]), *cut, "all"]
    return to_html(titled_table(title, head, body, rows - len(body)))


@_draw.html.register(Selection)
@_draw.html.register(Choice)
def _choice(choice: Any) -> str:
    scores = score_rows(choice)
    top = max((score.mean for score in scores if score.mean is not None), default=0.0)
    rows = []
    for score in scores:
        figures = ["–" if value is None else f"{value:.3f}" for value in (score.mean, score.error)]
        share = 0.0 if score.mean is None or top <= 0 else score.mean / top
        said = left(", ".join(filter(None, (score.standing, score.note))))
        rows.append((score.k, *figures, bar(share, figures[0]), said))
    kernel = f" on {choice.kernel}" if isinstance(choice, Selection) else ""
    title = f"{choice.scheme}{kernel}: k = {choice.best}"
    words = choice.confidence if isinstance(choice, Selection) else choice.verdict
    return to_html(titled_table(title, ("k", "score", "standard error", "", ""), rows), paragraph(words))
