"""A small run made by hand, for tests of what saves, shows or compares runs."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np

from grampus.describe import Cluster, Term
from grampus.persist import Branch, Choice, Documents, Layout, Provenance, Run, RunEvidence
from grampus.text import Texts

DOCUMENTS = ["whale song\nin the sea", "a whale's song", "bird nest ✓", "=nest(bird)", "birds"]


PARTS = {"provenance": Provenance, "documents": Documents, "evidence": RunEvidence, "layout": Layout}


def contents(folder) -> dict[str, bytes]:
    """Return the files of a folder, by name."""
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def by_part(values) -> dict[str, dict]:
    """Sort values of fields into the parts of a run."""
    found = {part: {f.name: values[f.name] for f in fields(kind) if f.name in values} for part, kind in PARTS.items()}
    assert sum(map(len, found.values())) == len(values), "unknown field"
    return found


def changed(run: Run, *, model=None, **changes) -> Run:
    """Return a run with other values in some fields of its parts."""
    parts = {part: replace(getattr(run, part), **values) for part, values in by_part(changes).items()}
    return Run(**parts, model=run.model if model is None else model)


def small_run(*, model=None, **changes) -> Run:
    """Five documents in two clusters, every field filled."""
    labels = np.array([1, 1, 0, 0, 0], dtype=np.int32)
    clusters = (
        Cluster(0, 3, "bird, nest", (Term("bird", 0.5), Term("nest", 0.25)), (Term("bird", 0.6),),
                (Term("bird nest", 0.4),), (2,), (4,), (3,), 0.5, 1, 0.375, 0.75),
        Cluster(1, 2, "whale", (Term("whale", 0.5),), (), (), (0,), (1,), (), 0.25, 0, 0.125, None),
    )  # fmt: skip
    tree = (
        Branch(0, -1, (1, 2), 5, 0, 3.5, 1.5, -1, "bird, whale"),
        Branch(1, 0, (3, 4), 3, 1, 1.25, 0.5, 0, "bird, nest"),
        Branch(2, 0, (), 2, -1, 0.75, 0.0, 1, "whale"),
        Branch(3, 1, (), 2, -1, 0.5, 0.0, -1, "nest"),
        Branch(4, 1, (), 1, -1, 0.0, 0.0, -1, "birds"),
    )
    values = {
        "kernel": "cosine|shift",
        "parameters": {
            "n_clusters": "auto",
            "effort": {"n_init": 10, "polish": True, "scheme": "auto"},
            "method": {"name": "kernel-kmeans", "init": "auto"},
            "terms": {"weighting": "lfc", "min_df": 1},
        },
        "seed": 7,
        "command": "grampus cluster news/ --seed 7",
        "source": "news/",
        "columns": {"label": "kind", "date": "day"},
        "fingerprint": "ab" * 32,
        "created": "2026-01-02T03:04:05Z",
        "seconds": 1.5,
        "versions": {"grampus": "0.1", "python": "3.11.2"},
        "warnings": ("1 document has no terms.",),
        "outcome": "converged",
        "objective": 2.5,
        "agreement": 1.0,
        "ids": Texts(["a", "b", "c", "d", "é"]),
        "titles": Texts(["A", "", "C", "+D", "E"]),
        "classes": Texts(["sea", "sea", "air", "air", ""]),
        "dates": Texts(["2020-01-01", "2020-02-01", "", "2021-01-01", "x"]),
        "texts": Texts(DOCUMENTS),
        "excerpts": Texts(" ".join(text.split())[:160] for text in DOCUMENTS),
        "labels": labels,
        "clusters": clusters,
        "choice": Choice(2, "RED-S", (2, 3), (0.5, None), (0.125, None), (2, 3), (2,), 20, 0.0625, "Two groups."),
        "tree": tree,
        "leaves": np.array([2, 2, 3, 3, 4], dtype=np.int32),
        "second": np.array([0, 0, 1, 1, 1], dtype=np.int32),
        "margin": np.array([0.5, 0.25, 0.5, 0.125, 0.0], dtype=np.float32),
        "oddness": np.array([0.0, 0.0, 0.0, 0.5, 1.0], dtype=np.float32),
        "stability": np.array([1.0, 0.5, 0.75, np.nan, 0.25], dtype=np.float32),
        "coordinates": np.arange(10, dtype=np.float32).reshape(5, 2),
        "duplicates": np.array([[0, 1]], dtype=np.int32),
        "duplicate_similarity": np.array([0.9375], dtype=np.float32),
        "sample": np.array([2, 3, 4, 0, 1], dtype=np.int32),
        "heatmap": np.eye(5, dtype=np.float32),
    }
    made = {part: PARTS[part](**given) for part, given in by_part({**values, **changes}).items()}
    return Run(
        **made, model={"weights": np.ones(5), "terms": Texts(["bird", "nest", "whale"])} if model is None else model
    )
