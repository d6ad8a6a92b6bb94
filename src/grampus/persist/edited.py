"""An edited run: what is known about the documents and clusters after edits, as far as it was measured."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .._array import members_of_clusters
from ..describe import Cluster, Term
from .edits import OUT, Edit, State, apply_edits
from .records import FIGURES, Layout, Level, RunEvidence
from .regrow import regrow

Run: TypeAlias = Any  # that of run.py, which imports this module
TERMS, SHOWN = 12, 5  # words and documents of a cluster that changed


def edited_run(run: Run, edits: Sequence[Edit]) -> Run:
    """Return a run with edits applied; figures of clusters whose documents changed are unknown.

    Parameters
    ----------
    run : Run
        As it was found, without edits.
    edits : sequence of Edit
    """
    if not edits:
        return run
    state = apply_edits(run, edits)
    kept = np.flatnonzero(state.keys != OUT)
    labels = state.labels()[kept]
    names = [state.names[key] for key in sorted(state.names)]
    levels = [Level(name, branches) for name, branches in state.levels.items()]
    evidence = _evidence(run, state, kept, labels, names)
    named = [(cluster.name, cluster.words) for cluster in evidence.clusters]
    grown = regrow(state.plant, state.leaves[kept], labels, named, levels)
    return replace(
        run,
        documents=run.documents if len(kept) == len(run) else run.documents.take(kept),
        evidence=replace(evidence, tree=grown.tree, leaves=grown.leaves, levels=grown.levels),
        layout=_layout(run.layout, kept, labels),
        model=_model(run.model, state, len(names)),
        edits=tuple(edits),
        original=run,
    )


def _evidence(
    run: Run, state: State, kept: NDArray[np.intp], labels: NDArray[np.intp], names: Sequence[str]
) -> RunEvidence:
    """Return labels, clusters and figures of the documents; tree, leaves and levels are those before."""
    old, number = run.evidence, state.numbers()
    before = old.labels[kept].astype(np.intp)
    sizes = np.bincount(old.labels[old.labels >= 0], minlength=len(old.clusters))
    new = np.full(len(run), -1, dtype=np.intp)
    new[kept] = np.arange(len(kept))
    clusters, intact = [], np.zeros(len(names) + 1, dtype=bool)
    intact[-1] = True
    became = [_became(cluster, state, number) for cluster in range(len(old.clusters))]
    for place, (name, members) in enumerate(zip(names, members_of_clusters(labels, len(names)), strict=True)):
        inside, counts = count_labels(before[members])
        intact[place] = len(inside) == 1 and inside[0] >= 0 and counts[0] == sizes[inside[0]]
        if intact[place]:
            clusters.append(_same(old.clusters[inside[0]], place, name, became, new))
        else:
            held = {int(cluster): int(count) for cluster, count in zip(inside, counts, strict=True) if cluster >= 0}
            words = state.words.get(sorted(state.names)[place], ())
            clusters.append(changed_cluster(old.clusters, held, place, name, words, members, old.margin[kept]))
    out, changed = labels < 0, ~intact[labels]
    taken_out = out & (before >= 0)
    second = np.array([*became, -1], dtype=np.int32)[np.where(taken_out, before, old.second[kept])]
    pairs = new[old.duplicates].astype(np.int32).reshape(-1, 2)
    both = (pairs >= 0).all(axis=1)
    figures: dict[str, Any] = {
        name: np.where(changed, np.float32(np.nan), np.where(taken_out, np.float32(FIGURES[name].alone), values[kept]))
        for name, values in old.figures().items()
    }
    return replace(
        old,
        labels=labels.astype(np.int32),
        clusters=tuple(clusters),
        second=np.where(second == labels, -1, second).astype(np.int32),
        duplicates=pairs[both],
        duplicate_similarity=old.duplicate_similarity[both],
        **figures,
    )


def count_labels(labels: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return which labels there are, −1 among them, and how often each is."""
    counts = np.bincount(labels + 1)
    there = np.flatnonzero(counts)
    return there - 1, counts[there]


def _became(cluster: int, state: State, number: Mapping[int, int]) -> int:
    """Return the number that a cluster has after the edits, or that of the cluster it was merged into; −1 if none."""
    while cluster in state.went and cluster not in number:
        cluster = state.went[cluster]
    return number.get(cluster, -1)


def _same(cluster: Cluster, place: int, name: str, became: Sequence[int], new: NDArray[np.intp]) -> Cluster:
    """Return a cluster whose documents are the same, under its number and name."""
    nearest = became[cluster.nearest] if cluster.nearest >= 0 else -1
    shown = ("central", "borderline", "outliers")
    documents: dict[str, Any] = {part: tuple(int(new[at]) for at in getattr(cluster, part)) for part in shown}
    if name != cluster.name:
        documents |= {"name_share": None, "centre_share": None}
    return replace(cluster, number=place, name=name, nearest=-1 if nearest == place else nearest, **documents)


def changed_cluster(
    clusters: Sequence[Cluster],
    held: Mapping[int, int],
    number: int,
    name: str,
    words: Sequence[str],
    members: NDArray[np.intp],
    margin: NDArray[Any],
) -> Cluster:
    """Describe a cluster by those that its documents come from, each by its share; what was not measured is unknown.

    Parameters
    ----------
    clusters : sequence of Cluster
        As they were found.
    held : mapping of int to int
        How many documents come from each.
    number, name : int, str
    words : sequence of str
        What tells it from others, the title first; empty if that is not known.
    members : array
        Its documents.
    margin : array of shape (n,)
        Those with the largest are shown as central, those with the smallest as borderline.
    """
    scores = Counter(dict.fromkeys(words, 1.0))
    total = sum(held.values()) or 1
    for cluster, count in held.items():
        scores.update({term.text: term.score * count / total for term in clusters[cluster].terms})
    terms = tuple(Term(text, score) for text, score in scores.most_common(TERMS))
    unsure, ends = -np.nan_to_num(margin[members]), np.arange(len(members))
    if len(members) > SHOWN:  # the others need not be sorted
        parted = np.partition(unsure, (SHOWN - 1, -SHOWN))
        ends = np.flatnonzero((unsure <= parted[SHOWN - 1]) | (unsure >= parted[-SHOWN]))
    order = members[ends[np.argsort(unsure[ends], kind="stable")]]
    central, borderline = (tuple(part.tolist()) for part in (order[:SHOWN], order[: -SHOWN - 1 : -1]))
    few, nan = len(members) <= SHOWN, float("nan")
    return Cluster(
        number, len(members), name, terms, (), (), central, () if few else borderline, (), nan, -1, nan,
        words=tuple(words[1:]),
    )  # fmt: skip


def _layout(layout: Layout, kept: NDArray[np.intp], labels: NDArray[np.intp]) -> Layout:
    """Return the map of the documents that are left, and the heatmap cluster by cluster."""
    place = np.full(len(layout.coordinates), -1, dtype=np.int32)
    place[kept] = np.arange(len(kept))
    inside = np.flatnonzero(place[layout.sample] >= 0)
    clusters = labels[place[layout.sample[inside]]]
    order = inside[np.argsort(np.where(clusters < 0, labels.max() + 1, clusters), kind="stable")]
    return replace(
        layout,
        coordinates=layout.coordinates if len(kept) == len(place) else layout.coordinates[kept],
        sample=place[layout.sample[order]],
        heatmap=layout.heatmap[np.ix_(order, order)],
    )


def _model(model: Mapping[str, Any], state: State, k: int) -> Mapping[str, Any]:
    """Return the model with the labels of the edits; nothing if it does not know which row each document is.

    Copies share a row: it is in the cluster of most of them, of several the first.
    """
    if not model or "group" not in model:
        return {}
    keys, at = state.keys, state.labels()
    inside = np.flatnonzero(keys >= 0)
    pairs, counts = np.unique(np.asarray(model["group"])[inside] * k + at[inside], return_counts=True)
    order = np.lexsort((pairs, -counts))[::-1]  # the last that is written stays
    labels = np.full(len(model["labels"]), -1, dtype=np.int32)
    labels[pairs[order] // k] = pairs[order] % k
    left = {} if (keys != OUT).all() else {"group": np.asarray(model["group"])[keys != OUT]}
    return {**model, "labels": labels, **left}


def renumbered(run: Run, numbers: Sequence[int]) -> Run:
    """Return a run without edits whose clusters have other numbers.

    Parameters
    ----------
    run : Run
    numbers : sequence of int
        The new number of every cluster.
    """
    evidence, new = run.evidence, np.array([*numbers, -1], dtype=np.int32)
    back = np.argsort(new[:-1])
    clusters = tuple(
        replace(evidence.clusters[c], number=place, nearest=int(new[evidence.clusters[c].nearest]))
        for place, c in enumerate(back.tolist())
    )
    tree = tuple(replace(branch, cluster=int(new[branch.cluster])) for branch in evidence.tree)
    branches = {branch.cluster: branch.index for branch in tree if branch.cluster >= 0}
    levels = tuple(
        replace(level, branches=tuple(branches[c] for c in range(len(clusters))))
        if set(level.branches) == set(branches.values())
        else level
        for level in evidence.levels
    )
    labels = new[evidence.labels]
    model = {**run.model, "labels": new[np.asarray(run.model["labels"])]} if "labels" in run.model else run.model
    second, layout = new[evidence.second], _layout(run.layout, np.arange(len(labels)), labels.astype(np.intp))
    evidence = replace(evidence, labels=labels, clusters=clusters, tree=tree, levels=levels, second=second)
    return replace(run, evidence=evidence, layout=layout, model=model)
