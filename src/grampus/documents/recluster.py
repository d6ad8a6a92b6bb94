"""Cluster a run's documents again after an update, from the answer that is there or by the method of the run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from .._check import check_matrix
from .._progress import Progress
from ..cluster import kernel_kmeans
from ..cluster.kmeans.centroids import Centroids
from ..errors import InputError
from ..gram import Gram
from ..kernels import Kernel, parse_kernel
from ..persist import Run
from ..text import Corpus
from ..text.terms.persist import plain_parameters, unpack_vectorizer
from .follow import followed
from .guided import run_method
from .inputs import Inputs, default_terms, distinct
from .levels import partitions
from .methods import Found, Job
from .parameters import restored
from .partition import Partition
from .predict import Predictor, restoring, saved_rows, under

GROWN = 2.0  # times as many documents as when terms were learned: from there on they are learned anew


def keeps_terms(old: Run, corpus: Corpus) -> bool:
    """Return whether the terms that were learned will do: the run compares nothing else, and has not grown much."""
    known = old.provenance.parameters.get("terms") is not None and "group" in old.model and "data" in old.model
    return known and _learned_from(old) > 0 and not _has_grown(old, corpus)


def _learned_from(old: Run) -> int:
    """Return the number of documents that terms were learned from; 0 if there are none."""
    with restoring():
        return int(old.model["words.n_documents"]) if "words.n_documents" in old.model else 0


def _has_grown(old: Run, corpus: Corpus) -> bool:
    return 0 < GROWN * _learned_from(old) <= len(corpus)


def cluster_again(
    old: Run,
    corpus: Corpus,
    came_from: NDArray[np.intp],
    progress: Progress,
    *,
    light: bool,
    steady: bool,
    anew: bool = False,
) -> Partition:
    """Place the new documents and cluster all from there by kernel k-means, or anew where that is not enough.

    The method of the run clusters anew if there are twice as many documents as when terms were learned, and where one
    of the clusters would not survive: k-means from an old answer follows what changes little, and gets stuck where much
    does.

    Parameters
    ----------
    old : Run
    corpus : Corpus
        Old documents that stay, and new ones.
    came_from : array of shape (n,)
        The old position of each; −1 for a new one.
    progress : callable
    light : bool
        Whether the terms stay as they were learned.
    steady : bool
        Whether clusters are only to follow the old ones: nothing is clustered anew.
    anew : bool
        Whether to cluster anew at once, because a cluster would not survive.
    """
    kernel = parse_kernel(old.provenance.kernel)
    progress("reading terms", 0, 1)
    with restoring():
        _, polish, given = restored(old)
    if light:
        inputs = _extended(old, corpus, came_from, kernel)
    else:
        with restoring():
            model = _unfitted(old)
        kernel, inputs = model._collect(corpus, kernel, None, progress)
        kernel = kernel.for_clusters(1, given["method"].components())
    gram = kernel.gram(inputs.features, inputs.collection)
    progress("reading terms", 1, 1)
    start, seed, notes = _Start.of(old, inputs, came_from), old.provenance.seed or 0, inputs.notes()
    job = Job(start.k, inputs.weights, given["effort"].n_init, polish, seed, progress)
    anew = anew or _has_grown(old, corpus)
    found = None if anew and not steady else _continued(gram, start, job)
    if found is None or not (steady or light or followed(old, found.labels[inputs.group], came_from)[0].all()):
        found = _anew(gram, start, given["method"], job, notes)
    labels = found.labels
    answer = next((name for name in old.levels if np.array_equal(old.level_labels(name), old.evidence.labels)), "")
    ks = {level.name: len(level.branches) for level in old.evidence.levels} if answer in ("middle", "") else {}
    levels = partitions(gram, labels, {**ks, "middle": int(labels.max()) + 1}, seed)
    predictor = Predictor.of(
        kernel, gram, inputs.features, labels, inputs.weights, inputs.vectorizer, found.polished, inputs.makers
    )
    return Partition(inputs, gram, labels, levels, "middle", found, predictor, old.evidence.choice, seed, notes)


def _unfitted(old: Run) -> Any:
    """Return a clusterer with the parameters of a run; default terms depend on the number of documents."""
    from .clusterer import DocumentClusterer

    words, _, given = restored(old)
    model = DocumentClusterer(**given)
    if words is not None and words != plain_parameters(default_terms(len(old))):
        model.terms = unpack_vectorizer(words, under("words.", old.model))
    return model


def _extended(old: Run, corpus: Corpus, came_from: NDArray[np.intp], kernel: Kernel) -> Inputs:
    """Return old documents as the model has them, and new ones in the same terms; without words for names."""
    with restoring():
        words = unpack_vectorizer(old.provenance.parameters["terms"], under("words.", old.model))
        rows = saved_rows(old.model)[came_from[came_from >= 0]]
    new = np.flatnonzero(came_from < 0)
    added = check_matrix(words.transform([corpus.texts[int(at)] for at in new]), "new documents", rows=0)
    return replace(
        distinct(corpus, True, check_matrix(sp.vstack([rows, added], format="csr")), kernel, words, None, None, {}),
        described=None,
        names=None,
    )


@dataclass(frozen=True)
class _Start:
    """The old answer for distinct documents.

    Attributes
    ----------
    labels : array of shape (m,)
        The old clusters that are left, numbered from 0 on; −1 for none.
    out : array of shape (m,)
        Old documents that were in no cluster; they stay out.
    """

    labels: NDArray[np.intp]
    out: NDArray[np.bool_]

    @classmethod
    def of(cls, old: Run, inputs: Inputs, came_from: NDArray[np.intp]) -> _Start:
        """Return the old answer; of copies, the first counts."""
        m = len(inputs.first)
        labels, known = np.full(m, -1, dtype=np.intp), np.zeros(m, dtype=bool)
        was = np.flatnonzero(came_from >= 0)[::-1]
        labels[inputs.group[was]] = old.evidence.labels[came_from[was]]
        known[inputs.group[was]] = True
        if (labels < 0).all():
            raise InputError("an update must leave an old document in a cluster; this one deletes all of them.")
        return cls(_packed(labels), known & (labels < 0))

    @property
    def k(self) -> int:
        """The number of clusters."""
        return int(self.labels.max()) + 1


def _packed(labels: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return labels with the clusters that are left numbered from 0 on; −1 stays."""
    packed, inside = labels.copy(), labels >= 0
    packed[inside] = np.unique(labels[inside], return_inverse=True)[1]
    return packed


def _continued(gram: Gram, start: _Start, job: Job) -> Found:
    """Return clusters found from a start; documents that were in no cluster stay out, and empty clusters are left out.

    New documents are placed first, each in the cluster whose centroid is nearest.
    """
    inside, k, weights = np.flatnonzero(~start.out), start.k, job.weights
    part = gram if len(inside) == len(gram) else gram.take(inside)
    own = start.labels[inside]
    if (own < 0).any():
        heavy = np.maximum(weights[inside], 1e-9)  # a cluster may hold nothing but documents without terms
        own = np.where(own < 0, Centroids.of(part, own, k, heavy).fitted().argmin(axis=1), own)
    outcome = "converged"
    if k > 1:
        found = kernel_kmeans(
            part, k, init=own, n_init=1, polish=job.polish, sample_weight=weights[inside], random_state=job.seed
        )
        own, outcome = np.asarray(found.labels), str(found.outcome)
    labels = np.full(len(gram), -1, dtype=np.intp)
    labels[inside] = own
    return Found(_packed(labels), outcome, job.polish)


def _anew(gram: Gram, start: _Start, method: Any, job: Job, notes: list[str]) -> Found:
    """Return clusters that the method finds, with the numbers of the old ones that they share most documents with."""
    weights = np.where(start.out, 0.0, job.weights)
    if start.k < 2 or np.count_nonzero(weights > 0) < start.k:
        return _continued(gram, start, job)
    found, _ = run_method(gram, method, replace(job, weights=weights), None, notes)
    labels = np.where(start.out, -1, found.labels)
    both = (start.labels >= 0) & (labels >= 0)
    shared = np.zeros((int(labels.max()) + 1, start.k))
    np.add.at(shared, (labels[both], start.labels[both]), job.weights[both])
    either = shared.sum(axis=1, keepdims=True) + shared.sum(axis=0) - shared
    rows, columns = linear_sum_assignment(-shared / np.maximum(either, 1e-9))
    number = np.arange(start.k, start.k + len(shared) + 1)
    number[rows], number[-1] = columns, -1
    return replace(found, labels=_packed(number[labels]))
