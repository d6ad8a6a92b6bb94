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
from .follow import alike, followed
from .guided import run_method
from .inputs import Inputs, default_terms, distinct
from .levels import partitions
from .methods import Found, Job, Method
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


def extend(old: Run, corpus: Corpus, came_from: NDArray[np.intp], progress: Progress) -> Partition | None:
    """Place new documents in terms that are known, and run kernel k-means on from there.

    Parameters
    ----------
    old : Run
    corpus : Corpus
        Old documents, and new ones.
    came_from : array of shape (n,)
        The old position of each; −1 for a new one.
    progress : callable

    Returns
    -------
    Partition or None
        None if one of the clusters would not survive: k-means from an old answer follows what changes little, and gets
        stuck where much does.
    """
    progress("reading terms", 0, 1)
    kernel = parse_kernel(old.provenance.kernel)
    inputs = _extended(old, corpus, came_from, kernel)
    gram = kernel.gram(inputs.features, inputs.collection)
    progress("reading terms", 1, 1)
    found = _continued(gram, _Start.of(old, inputs, came_from), _job(old, inputs, progress)[1])
    if not followed(old, found.labels[inputs.group], came_from)[0].all():
        return None
    return _partition(old, kernel, inputs, gram, found, inputs.notes())


def learn_anew(
    old: Run, corpus: Corpus, came_from: NDArray[np.intp], progress: Progress, *, steady: bool, lost: bool
) -> Partition:
    """Learn terms anew, and cluster by the method of the run; clusters get the numbers of those they resemble.

    The method is not asked where clusters are to be steady. Nor is it where a run without terms of its own has not
    lost a cluster: kernel k-means from the old answer follows the documents then.

    Parameters
    ----------
    old, corpus, came_from, progress : as for ``extend``
    steady : bool
        Whether clusters are only to follow the old ones.
    lost : bool
        Whether a cluster is known not to survive.
    """
    progress("reading terms", 0, 1)
    with restoring():
        model = _unfitted(old)
    kernel, inputs = model._collect(corpus, parse_kernel(old.provenance.kernel), None, progress)
    method, job = _job(old, inputs, progress)
    kernel = kernel.for_clusters(1, method.components())
    gram = kernel.gram(inputs.features, inputs.collection)
    progress("reading terms", 1, 1)
    start, notes = _Start.of(old, inputs, came_from), inputs.notes()
    found = None
    if steady or not (lost or _has_grown(old, corpus)):
        found = _continued(gram, start, job)
        lost = not followed(old, found.labels[inputs.group], came_from)[0].all()
    if found is None or (lost and not steady):
        found = _anew(gram, start, method, job, notes)
    return _partition(old, kernel, inputs, gram, found, notes)


def _job(old: Run, inputs: Inputs, progress: Progress) -> tuple[Method, Job]:
    """Return the method of a run, and its task for documents with these weights; the number of clusters is not set."""
    with restoring():
        _, polish, given = restored(old)
    return given["method"], Job(0, inputs.weights, given["effort"].n_init, polish, old.provenance.seed or 0, progress)


def _partition(old: Run, kernel: Kernel, inputs: Inputs, gram: Gram, found: Found, notes: list[str]) -> Partition:
    """Return the partition with its levels."""
    labels, seed = found.labels, old.provenance.seed or 0
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


def _anew(gram: Gram, start: _Start, method: Method, job: Job, notes: list[str]) -> Found:
    """Return clusters that the method finds, with the numbers of the old ones that they share most documents with."""
    weights = np.where(start.out, 0.0, job.weights)
    if start.k < 2 or np.count_nonzero(weights > 0) < start.k:
        return _continued(gram, start, job)
    found, _ = run_method(gram, method, replace(job, k=start.k, weights=weights), None, notes)
    labels = np.where(start.out, -1, found.labels)
    both = (start.labels >= 0) & (labels >= 0)
    shared = np.zeros((int(labels.max()) + 1, start.k))
    np.add.at(shared, (labels[both], start.labels[both]), job.weights[both])
    rows, columns = linear_sum_assignment(alike(shared), maximize=True)
    number = np.arange(start.k, start.k + len(shared) + 1)
    number[rows], number[-1] = columns, -1
    return replace(found, labels=_packed(number[labels]))
