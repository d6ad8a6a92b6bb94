"""What the stages do where there is an older answer: old terms, clusters, numbers, names and places are kept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import optimize

from ..._array import Array, tiles
from ..._check import check_matrix, check_partition
from ...cluster import kernel_kmeans
from ...cluster.kmeans.centroids import Centroids
from ...describe import describe, name_tree
from ...errors import InputError
from ...gram import Gram
from ...gram.graph import nearest
from ...kernels import parse_kernel
from ...persist import Run
from ...select.nested import nested
from ...text import Corpus
from ...text.terms.persist import unpack_vectorizer
from ..answer import NOT_YET, Answer, Before
from ..find.guided import run_method
from ..find.method import Found, Job
from ..find.predict import named_input, restoring, saved_makers, saved_rows, stacked, under
from ..given.extra_inputs import read_inputs
from ..given.inputs import Inputs, distinct
from ..tell.build_run import wording_of
from ..tell.layout import coordinates
from ..tell.tree_labels import filled_names, given_names
from .follow import SAME, alike, followed

GROWN = 2.0  # times as many documents as when terms were learned: from there on they are learned again
NEAR = 5  # documents beside which a new one is drawn


def keeps_terms(run: Run, corpus: Corpus) -> bool:
    """Return whether the terms that were learned will do: other inputs learn nothing, and it has not grown much."""
    known = run.provenance.parameters.get("terms") is not None and "group" in run.model
    alone = any(name in run.model for name in ("data", "input.terms.data"))
    learns = any(name.startswith("maker.") and name.count(".") > 1 for name in run.model)
    return known and alone and not learns and _learned_from(run) > 0 and not has_grown(run, corpus)


def has_grown(run: Run, corpus: Corpus) -> bool:
    """Return whether there are so many documents that terms are learned again."""
    return 0 < GROWN * _learned_from(run) <= len(corpus)


def _learned_from(run: Run) -> int:
    """Return the number of documents that terms were learned from; 0 if there are none."""
    with restoring():
        return int(run.model["words.n_documents"]) if "words.n_documents" in run.model else 0


def read_again(answer: Answer, before: Before) -> Answer:
    """Read old documents as the model of their run has them, and new ones in its terms; or all again."""
    request, corpus = answer.request, answer.rows.X
    if before.keeps_terms:
        kernel = parse_kernel(before.run.provenance.kernel)
        with restoring():
            words = unpack_vectorizer(before.run.provenance.parameters["terms"], under("words.", before.run.model))
            rows, makers = saved_rows(before.run.model), saved_makers(before.run.model)
        new, old = corpus.take(np.flatnonzero(before.came_from < 0)), before.came_from[before.came_from >= 0]
        terms = check_matrix(words.transform(new), "new documents", rows=0)
        whole = {"terms": stacked(rows["terms"][old], terms)}
        for name in [name for name in rows if name != "terms"]:
            added = named_input(name, new, makers) if len(new) else rows[name][:0]
            whole[name] = stacked(rows[name][old], added)
        features = whole if kernel.reads_names else whole["terms"]
        inputs = distinct(corpus, True, features, kernel, words, None, None, makers)
        inputs = replace(inputs, described=None, names=None)
    else:
        kernel, inputs = read_inputs(request.parameters, request.kernel, corpus, None, request.progress)
        kernel = kernel.for_clusters(1, request.method.components())
    start = Start.of(before.run, inputs, before.came_from)
    ks = {level.name: len(level.branches) for level in before.run.evidence.levels}
    level = before.run.level or "middle"
    return replace(
        answer, asked=kernel, kernel=kernel, inputs=inputs, aside=start.out, choice=before.run.evidence.choice,
        ks={**ks, level: start.k}, level=level, names={},
    ).noted(*inputs.notes())  # fmt: skip


@dataclass(frozen=True)
class Start:
    """The old answer for distinct documents.

    Attributes
    ----------
    labels : array of shape (m,)
        The old clusters that are left, numbered from 0 on; −1 for none.
    out : array of shape (m,)
        Old documents that were in no cluster, which stay out, and those with nothing to compare.
    """

    labels: NDArray[np.intp]
    out: NDArray[np.bool_]

    @classmethod
    def of(cls, run: Run, inputs: Inputs, came_from: NDArray[np.intp]) -> Start:
        """Return the old answer; of copies, the first counts."""
        m = len(inputs.first)
        labels, known = np.full(m, -1, dtype=np.intp), np.zeros(m, dtype=bool)
        was = np.flatnonzero(came_from >= 0)[::-1]
        labels[inputs.group[was]] = run.evidence.labels[came_from[was]]
        known[inputs.group[was]] = True
        labels[inputs.empty()] = -1
        if (labels < 0).all():
            raise InputError("an update must leave an old document in a cluster; this one deletes all of them.")
        return cls(check_partition(labels, m), (known & (labels < 0)) | inputs.empty())

    @property
    def k(self) -> int:
        """The number of clusters."""
        return int(self.labels.max()) + 1


def continue_clusters(answer: Answer, before: Before, job: Job) -> Answer:
    """Run kernel k-means on from the old clusters, or the method of the run where one of them would be lost.

    The method is not asked where clusters are to be steady. Where a cluster is lost although terms were kept, the
    answer has no clustering: k-means from an old answer follows what changes little, and gets stuck where much does.
    """
    start, gram = Start.of(before.run, answer.inputs, before.came_from), answer.gram
    job = replace(job, weights=answer.inputs.weights, polish=before.polish)
    clustering, lost, notes = None, before.lost, list[str]()
    if before.keeps_terms or before.steady or not (lost or has_grown(before.run, answer.rows.X)):
        clustering = _continued(gram, start, job)
        became = followed(before.run, clustering.labels[answer.inputs.group], before.came_from)
        lost = len(became) < before.run.n_clusters
    if before.keeps_terms and lost:
        return replace(answer, clustering=NOT_YET)
    if clustering is None or (lost and not before.steady):
        clustering, notes = _anew(answer, start, job)
    return replace(answer, clustering=clustering).noted(*notes)


def _continued(gram: Gram, start: Start, job: Job) -> Found:
    """Return clusters found from a start; documents that were in no cluster stay out, and empty clusters are left out.

    New documents are placed first, each in the cluster whose centroid is nearest.
    """
    inside, k, weights = np.flatnonzero(~start.out), start.k, job.weights
    part = gram if len(inside) == len(gram) else gram.take(inside)
    labels = start.labels[inside]
    if (labels < 0).any():
        heavy = np.maximum(weights[inside], 1e-9)  # a cluster may hold nothing but documents without terms
        labels = np.where(labels < 0, Centroids.of(part, labels, k, heavy).fitted().argmin(axis=1), labels)
    outcome = "converged"
    if k > 1:
        options: dict[str, Any] = {"polish": job.polish, "sample_weight": weights[inside], "random_state": job.seed}
        clustering = kernel_kmeans(part, k, init=labels, n_init=1, **options)
        labels, outcome = np.asarray(clustering.labels), str(clustering.outcome)
    whole = np.full(len(gram), -1, dtype=np.intp)
    whole[inside] = labels
    return Found(check_partition(whole, len(whole)), outcome, job.polish)


def _anew(answer: Answer, start: Start, job: Job) -> tuple[Found, list[str]]:
    """Return clusters that the method finds, with the numbers of the old ones that they share most documents with."""
    weights = np.where(start.out, 0.0, job.weights)
    if start.k < 2 or np.count_nonzero(weights > 0) < start.k:
        return _continued(answer.gram, start, job), []
    job = replace(job, k=start.k, weights=weights)
    clustering, _, notes = run_method(answer.gram, answer.request.method, job, None)
    labels = np.where(start.out, -1, clustering.labels)
    both = (start.labels >= 0) & (labels >= 0)
    shared = np.zeros((int(labels.max()) + 1, start.k))
    np.add.at(shared, (labels[both], start.labels[both]), answer.inputs.weights[both])
    rows, columns = optimize.linear_sum_assignment(alike(shared), maximize=True)
    number = np.arange(start.k, start.k + len(shared) + 1)
    number[rows], number[-1] = columns, -1
    return replace(clustering, labels=check_partition(number[labels], len(labels))), notes


def keep_levels(answer: Answer) -> Answer:
    """Return the levels around the clusters, which keep their numbers."""
    labels, level, request = answer.clustering.labels, answer.level, answer.request
    ks, base = {**answer.ks, level: int(labels.max()) + 1}, answer.gram.split_shift()[0]
    levels = nested(base, labels, ks, request.seed, level, request.smallest)
    return replace(answer, ks=ks, levels=levels)


def keep_names(answer: Answer, before: Before) -> Answer:
    """Return clusters and tree with words: those of the old clusters, unless terms were learned again.

    Branches that hold mostly the same documents keep their names; the others are named by single words.
    """
    run, inputs = before.run, answer.inputs
    became = followed(run, answer.labels[inputs.group], before.came_from)
    parts = ("terms", "describing", "phrases", "sentence")
    survive = {after: run.evidence.clusters[old] for old, after in became.items()}
    source, wording = survive, wording_of(inputs)
    if wording is not None:
        described = describe(answer.gram, answer.labels, wording, counts=inputs.weights, measured=answer.evidence)
        source = dict(enumerate(described))
    called = source | survive
    clusters = tuple(
        replace(
            one, name=called[at].name, words=called[at].words, **{part: getattr(source[at], part) for part in parts}
        )
        for at, one in ((one.number, one) for one in answer.clusters)
    )
    whole = {branch.index: branch.cluster for branch in answer.tree if branch.cluster >= 0}
    known = _branch_names(answer, before)
    known |= {at: (clusters[cluster].name, *clusters[cluster].words) for at, cluster in whole.items()}
    names = given_names(known, len(answer.tree))
    if wording is not None:
        spoken, leaves = replace(wording, texts=None, titles=None), answer.leaves[inputs.first]
        names = name_tree(spoken, leaves, [branch.parent for branch in answer.tree], known)
    names = filled_names(answer.tree, clusters, whole, names)
    tree = tuple(replace(one, name=names[one.index].name, words=names[one.index].words) for one in answer.tree)
    return replace(answer, clusters=clusters, tree=tree)


def _branch_names(answer: Answer, before: Before) -> dict[int, tuple[str, ...]]:
    """Return the names of old branches for those that hold mostly the same documents."""
    run, came_from = before.run, before.came_from
    was = np.flatnonzero((came_from >= 0) & (answer.leaves >= 0))
    was = was[run.evidence.leaves[came_from[was]] >= 0]
    counts = np.zeros((len(run.evidence.tree), len(answer.tree)), dtype=np.int64)
    np.add.at(counts, (run.evidence.leaves[came_from[was]], answer.leaves[was]), 1)
    for branch in reversed(run.evidence.tree[1:]):
        counts[branch.parent] += counts[branch.index]
    for branch in reversed(answer.tree[1:]):
        counts[:, branch.parent] += counts[:, branch.index]
    either = counts[:, :1] + counts[:1, :] - counts  # the first branches hold all documents
    shared = counts / np.maximum(either, 1)
    best = shared.argmax(axis=0)
    same = {
        branch.index: run.evidence.tree[best[branch.index]]
        for branch in answer.tree
        if branch.cluster < 0 and shared[best[branch.index], branch.index] >= SAME
    }
    return {index: (old.name, *old.words) for index, old in same.items()}


def keep_places(answer: Answer, before: Before) -> Array:
    """Return the map: old documents where they were, new ones between those of their cluster that they resemble most.

    If there are more new documents than old ones, all are laid out.
    """
    inputs, labels = answer.inputs, answer.labels
    was = np.flatnonzero(before.came_from >= 0)
    known = np.zeros(len(inputs.first), dtype=bool)
    known[inputs.group[was]] = True
    if 2 * known.sum() < len(known):
        return coordinates(answer.gram)
    places, base = np.zeros((len(known), 2)), answer.gram.split_shift()[0]
    places[inputs.group[was]] = before.run.layout.coordinates[before.came_from[was]]
    for new, there in _beside(labels, known):
        for part in tiles(len(new), 8 * len(there)):
            block = np.asarray(base.block(new[part], there), dtype=np.float64)
            best, values = nearest(block, min(NEAR, len(there)))
            weights = np.maximum(values, 1e-6)
            shares = weights / weights.sum(axis=1, keepdims=True)
            places[new[part]] = (shares[:, :, None] * places[there[best]]).sum(axis=1)
    return places


def _beside(labels: NDArray[np.intp], known: NDArray[np.bool_]) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Yield new documents and the old ones they may be drawn beside: those of their cluster, or all."""
    for cluster in range(-1, int(labels.max()) + 1):
        new, there = np.flatnonzero(~known & (labels == cluster)), np.flatnonzero(known & (labels == cluster))
        if len(new):
            yield new, there if cluster >= 0 and len(there) else np.flatnonzero(known)
