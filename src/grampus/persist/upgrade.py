"""Older runs, brought to today's schema step by step; a change of the schema adds one function."""

from collections.abc import Callable, Mapping
from typing import Any

SCHEMA = 3

# The parts of a run, and what each of them took from the flat list of schema 1.
_PARTS_1 = {
    "provenance": (
        "kernel", "parameters", "seed", "command", "source", "columns", "fingerprint", "created", "seconds", "versions",
    ),
    "documents": ("ids", "titles", "classes", "dates", "texts", "excerpts"),
    "evidence": (
        "labels", "clusters", "choice", "tree", "leaves", "second", "margin", "oddness", "stability", "duplicates",
        "duplicate_similarity", "outcome", "objective", "agreement", "warnings",
    ),
    "layout": ("coordinates", "sample", "heatmap"),
}  # fmt: skip
_VECTORS_GONE = (
    "Word vectors by name are gone since version 0.3, and this run was made with them. It can be read, edited and "
    "assign new documents; to add documents to it, cluster them all again."
)
_EFFORT_1 = ("ks", "scheme", "n_splits", "null", "stability", "n_init", "polish")


def upgrade(run: dict[str, Any], schema: int) -> dict[str, Any]:
    """Return the content of a run of an older schema as one of today's schema.

    Examples
    --------
    >>> from grampus.persist.upgrade import upgrade
    >>> upgrade({"kernel": "cosine", "outcome": "converged"}, 1)["provenance"]
    {'kernel': 'cosine'}
    """
    for step in range(schema, SCHEMA):
        run = _STEPS[step](run)
    return run


def gone_note(parameters: Mapping[str, Any]) -> str:
    """Return what a run was made with that is no longer there; an empty text if there is nothing."""
    made = parameters.get("inputs")
    return _VECTORS_GONE if isinstance(made, Mapping) and "vectors" in made else ""


def _from_1_to_2(run: dict[str, Any]) -> dict[str, Any]:
    """Group the fields in four parts, and the clusterer's parameters; outliers of a cluster were called odd."""
    clusters, parameters = run.get("clusters"), run.get("parameters")
    if isinstance(parameters, dict):
        effort = {name: parameters.pop(name) for name in _EFFORT_1 if name in parameters}
        effort["scheme"] = effort.get("scheme") or "auto"  # once None
        method = {"name": "kernel-kmeans", "init": parameters.pop("init", "auto")}
        parameters.pop("n_jobs", None)
        run["parameters"] = {**parameters, "effort": {"polish": True, **effort}, "method": method}
    if isinstance(clusters, list):
        run["clusters"] = _with_key(clusters, "odd", "outliers")
    parts = {part: {name: run.pop(name) for name in names if name in run} for part, names in _PARTS_1.items()}
    return {**run, **parts}  # what is left of the run is the model, or unknown


def _from_2_to_3(run: dict[str, Any]) -> dict[str, Any]:
    """Rename what clusters and branches are called; names become titles, unchanged."""
    evidence = run.get("evidence")
    for part in ("clusters", "tree"):
        if isinstance(evidence, dict) and isinstance(evidence.get(part), list):
            evidence[part] = _with_key(evidence[part], "label", "name")
    return run


def _with_key(records: list[Any], old: str, new: str) -> list[Any]:
    """Return records with another name of a key."""
    return [
        {new if name == old else name: value for name, value in one.items()} if isinstance(one, dict) else one
        for one in records
    ]


_STEPS: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {1: _from_1_to_2, 2: _from_2_to_3}
