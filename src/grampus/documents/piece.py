"""Functions of a piece, for clustering documents in parts, and the tables of all documents."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._array import Array
from ..cluster.kmeans.centroids import margins
from ..cluster.kmeans.in_parts import assign
from ..gram.in_parts import sparse_rows, unit_features
from ..persist import Run
from ..scale import Parts, Record, snap
from ..text.terms.in_parts import COLUMNS, GRID, cleaned, short_names, texts_of

BINS = 4096  # of the similarities of documents to their cluster, for its median


def length(texts: Record) -> int:
    """Return the number of documents."""
    return len(texts["texts.ends"]) - 1


def notes(texts: Record) -> list[str]:
    """Return what was noted when the piece was read."""
    return list(texts_of(texts, "notes")) if "notes.ends" in texts else []


def names(rows: Record) -> NDArray[np.uint64]:
    """Return a digest of every row."""
    return np.asarray(rows["name"])


def features(rows: Record, directions: Array) -> Record:
    """Return the rows of a piece under the kernel, as float32 on the grid of exact sums."""
    features = unit_features(sparse_rows(rows), directions, GRID)
    squares = snap((features * features).sum(axis=1), GRID).sum()
    return {"x": features.astype(np.float32), "squares": np.array(squares)}


def evidence(features: Record, means: Array, sums: Array, counts: Array) -> Record:
    """Return cluster, second choice and margin of every document of a piece, and how typical it is."""
    rows = np.asarray(features["x"], dtype=np.float64)
    labels = assign(rows, means).astype(np.intp)
    squared = np.stack([((rows - mean) ** 2).sum(axis=1) for mean in means], axis=1)
    _, second, margin = margins(squared, labels)
    own = (rows * rows).sum(axis=1)
    typical = ((rows * sums[labels]).sum(axis=1) - own) / np.maximum(counts[labels] - 1.0, 1.0)
    return {
        "label": labels.astype(np.int32),
        "second": second.astype(np.int32),
        "margin": margin.astype(np.float32),
        "typical": typical.astype(np.float32),
    }


def levels(features: Record, found: Record, coarse: Array, means: Array, parents: Array) -> Record:
    """Return the coarse and the fine cluster of every document: the nearest of those inside its own cluster."""
    label = np.asarray(found["label"])
    kept = {"coarse": coarse[label].astype(np.int32)}
    if len(means):
        rows = np.asarray(features["x"], dtype=np.float64)
        fine = np.empty(len(label), np.int32)
        for cluster in np.unique(label).tolist():
            inside, own = np.flatnonzero(label == cluster), np.flatnonzero(parents == cluster)
            fine[inside] = own[assign(rows[inside], means[own])]
        kept["fine"] = fine
    return kept


def labels(found: Record) -> NDArray[np.int32]:
    """Return the cluster of every document."""
    return np.asarray(found["label"])


def empty_name(width: int) -> np.uint64:
    """Return the digest of a row of zeros."""
    return np.uint64(short_names(sp.csr_array((1, max(width, 1))))[0])


def gather(texts: Record, clean: Record, rows: Record, wanted: NDArray[np.uint64]) -> list[tuple[Any, ...]]:
    """Return name, text, id, cleaned text, title, date, label and row of documents; of copies the first by text."""
    held = np.asarray(rows["name"])
    at = np.flatnonzero(wanted[np.minimum(np.searchsorted(wanted, held), len(wanted) - 1)] == held)
    if not len(at):
        return []
    columns = {name: texts_of(texts, name) for name in (*COLUMNS, "labels") if f"{name}.ends" in texts}
    counted, matrix = cleaned(texts, clean), sparse_rows(rows)[at]  # a view of all rows would keep all in memory
    best: dict[int, tuple[Any, ...]] = {}
    for number, place in enumerate(at.tolist()):
        name = int(held[place])
        own = columns["texts"][place], columns["ids"][place]
        if name in best and best[name][:2] <= own:
            continue
        more = [columns[column][place] if column in columns else "" for column in ("titles", "dates", "labels")]
        first, last = matrix.indptr[number], matrix.indptr[number + 1]
        best[name] = (*own, counted[place], *more, (matrix.indices[first:last], matrix.data[first:last]))
    return [(name, *document) for name, document in best.items()]


def stack(rows: list[tuple[Array, Array]], width: int) -> Any:
    """Return rows given by columns and values as a sparse array."""
    lengths = np.array([len(index) for index, _ in rows])
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    indices = np.concatenate([index for index, _ in rows]) if rows else np.empty(0, np.int32)
    data = np.concatenate([data for _, data in rows]) if rows else np.empty(0)
    return sp.csr_array((data, indices.astype(np.int32), indptr), shape=(len(rows), width))


def document_tables(parts: Parts, run: Run) -> Iterator[dict[str, Any]]:
    """Yield the table of every piece: id, cluster and its name, other levels, second choice, margin, oddness, copies.

    Parameters
    ----------
    parts : Parts
        As they are after a fit.
    run : Run
    """
    table = parts.total(_histogram, ["found"], len(run.evidence.clusters))
    usual = np.array([_median(row) for row in table])
    different, copies = np.unique(np.concatenate(list(parts.each(names, ["rows"]))), return_counts=True)
    titles = np.array([cluster.label for cluster in run.evidence.clusters], dtype=object)
    for columns in parts.each(_columns, ["texts", "rows", "found", "levels"], usual, name="results"):
        own = columns.pop("name")
        yield {
            "id": list(columns.pop("ids")),
            "cluster": columns.pop("cluster"),
            "cluster_name": titles[columns["label"]].tolist(),
            **{name: values for name, values in columns.items() if name != "label"},
            "copies": copies[np.searchsorted(different, own)],
        }


def _histogram(found: Record, k: int) -> NDArray[np.int64]:
    bins = np.clip(((found["typical"] + 1.0) * (BINS / 2)).astype(np.int64), 0, BINS - 1)
    table = np.bincount(found["label"].astype(np.int64) * BINS + bins, minlength=k * BINS)
    return table.reshape(k, BINS).astype(np.int64)


def _median(row: NDArray[np.int64]) -> float:
    """Return the lower median of a histogram of similarities, to its bins."""
    reached = np.cumsum(row)
    return (float(np.searchsorted(reached, reached[-1] / 2.0)) + 0.5) * 2.0 / BINS - 1.0


def _columns(texts: Record, rows: Record, found: Record, others: Record, usual: Array) -> dict[str, Any]:
    label = np.asarray(found["label"])
    own = usual[label]
    odd = np.clip(1.0 - found["typical"] / np.where(own > 0, own, 1.0), 0.0, 1.0)
    return {
        "ids": texts_of(texts, "ids"),
        "name": np.asarray(rows["name"]),
        "label": label,
        "cluster": label,
        **{name: np.asarray(values) for name, values in sorted(others.items())},
        "second": np.asarray(found["second"]),
        "margin": np.asarray(found["margin"]),
        "oddness": np.where(own > 0, odd, 0.0).astype(np.float32),
    }
