"""The tables of a run as data frames."""

from typing import Any

from .._check import check_choice
from .._frame import check_frame_index, data_frame
from ..select import score_rows

TERMS = 8


Parts = tuple[dict[str, Any], Any, str]  # columns, index and its name


def frame_of(run: Any, table: str, index: Any, library: str = "pandas") -> Any:
    """Return a table of a run, by its name, in the frames of a library; those without an index are joined by row."""
    check_choice(table, "table", TABLES)
    ids = run.documents.ids
    if index is not None:
        index = check_frame_index(index, len(ids))
    elif library == "pandas":
        index = list(ids)
    return data_frame(*TABLES[table](run, index), library)


def _documents(run: Any, index: Any) -> Parts:
    evidence = run.evidence
    names = [cluster.name for cluster in evidence.clusters]
    columns = {
        "cluster": evidence.labels,
        "name": [names[label] if label >= 0 else None for label in evidence.labels.tolist()],
        "second": evidence.second,
        **evidence.figures(),
        "x": run.layout.coordinates[:, 0],
        "y": run.layout.coordinates[:, 1],
    }
    return columns, index, "id"


def _levels(run: Any, index: Any) -> Parts:
    columns: dict[str, Any] = {}
    for level in run.levels:
        labels, names = run.level_labels(level), run.level_names(level)
        columns[level] = labels
        columns[f"{level}_name"] = [names[label] if label >= 0 else None for label in labels.tolist()]
    return columns, index, "id"


def _clusters(run: Any, _: Any) -> Parts:
    clusters = sorted(run.evidence.clusters, key=lambda cluster: -cluster.size)
    columns: dict[str, Any] = {
        "name": [cluster.name for cluster in clusters],
        "words": [", ".join(cluster.words) for cluster in clusters],
        "size": [cluster.size for cluster in clusters],
        "terms": [", ".join(term.text for term in cluster.terms[:TERMS]) for cluster in clusters],
    }
    for name in ("cohesion", "alike", "separation", "nearest", "stability"):
        columns[name] = [getattr(cluster, name) for cluster in clusters]
    return columns, [cluster.number for cluster in clusters], "cluster"


def _tree(run: Any, _: Any) -> Parts:
    tree = run.evidence.tree
    names = ("parent", "size", "height", "gain", "cluster", "name")
    return {name: [getattr(branch, name) for branch in tree] for name in names}, range(len(tree)), "node"


def _duplicates(run: Any, index: Any) -> Parts:
    pairs = run.evidence.duplicates.T.tolist()
    rows = range(len(run.documents.ids)) if index is None else index
    columns = {name: [rows[at] for at in places] for name, places in zip(("first", "second"), pairs, strict=True)}
    return columns | {"similarity": run.evidence.duplicate_similarity}, None, ""


def _choice(run: Any, _: Any) -> Parts:
    scores = [] if run.evidence.choice is None else score_rows(run.evidence.choice)
    return score_columns(scores)


def score_columns(scores: Any) -> Parts:
    """Return the scores of a choice of k, a row for each k."""
    columns: dict[str, list[Any]] = {
        "score": [score.mean for score in scores],
        "standard_error": [score.error for score in scores],
        "standing": [score.standing for score in scores],
    }
    if any(score.expected is not None for score in scores):
        columns["expected"] = [score.expected for score in scores]
    return columns, [score.k for score in scores], "k"


TABLES = {
    "documents": _documents,
    "levels": _levels,
    "clusters": _clusters,
    "tree": _tree,
    "duplicates": _duplicates,
    "choice": _choice,
}
