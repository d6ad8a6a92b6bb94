"""Cluster a collection in pieces: what a DocumentClusterer does, for more documents than memory holds.

Terms, weights and components are those of all documents. Levels and the consensus of views are found on a sample drawn
by content, and k-means runs on from there over all documents, as it does after every consensus. A second sample, so
many of each cluster, is described, drawn and shown: the run counts all documents and holds those.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from .._array import Array, sum_rows
from .._progress import Progress
from .._random import generators
from ..cluster.kmeans.in_parts import Means, assign, kmeans_parts
from ..errors import InputError
from ..gram import Collection, Gram, LinearGram, normalise
from ..gram.in_parts import leading_directions, unit_features
from ..gram.principal import PrincipalGram
from ..kernels import Cosine, Kernel, Normalise, Principal, parse_kernel
from ..persist import Choice, Run
from ..scale import Parts, Record
from ..text import Corpus, TermVectorizer, Texts
from ..text.components import ComponentsInput
from ..text.ids import DistinctIds
from ..text.terms.count import Units, Written
from ..text.terms.forms import Forms
from ..text.terms.in_parts import GRID, Words, fit_parts
from ..text.terms.prepare import Prepared, language_note
from . import piece
from .build_run import build_run, unknown_note
from .effort import Effort
from .inputs import Inputs, default_terms, distinct
from .levels import Partitions, numbered_by_size, partitions
from .methods import Found, Job, Method
from .parameters import plain
from .partition import Partition
from .predict import Predictor
from .validation import stability

SAMPLE = 20_000  # different documents on which levels and the consensus are found
SHOWN, SHOWN_OF_EACH = 20_000, 200  # documents that are described and shown: about, and of a cluster at least
COMPONENTS = "linear@components"
ITERATED = ("consensus", "kernel-kmeans")  # methods after which k-means runs over all documents


@dataclass(frozen=True)
class Settings:
    """The checked parameters of a DocumentClusterer."""

    kernel: Kernel
    method: Method
    effort: Effort
    seed: int
    rank: int


@dataclass(frozen=True)
class Answer:
    """What was found in a collection in pieces.

    Attributes
    ----------
    run : Run
        Of the documents that are shown; its provenance counts all.
    labels : array of shape (n,)
        Cluster of every document, in the order of the pieces.
    predictor : Predictor
    """

    run: Run
    labels: NDArray[np.int32]
    predictor: Predictor


def check_kernel(kernel: Kernel) -> int:
    """Return the number of components of a kernel that works in parts; refuse the others and name those that do."""
    rank = kernel.rank()
    if rank and kernel == Cosine() | Principal(rank) | Normalise():
        return rank
    raise InputError(
        f"In parts the kernel must be 'cosine|principal(r)|normalise', with any r; got '{kernel}'. Other kernels need "
        "all documents in memory: leave out scratch and client (--scratch, --dask), or cluster a sample."
    )


def cluster_parts(model: Any, parts: Parts, settings: Settings, progress: Progress) -> Answer:
    """Cluster the documents of the step "texts".

    Parameters
    ----------
    model : DocumentClusterer
        Its parameters.
    parts : Parts
    settings : Settings
    progress : callable
    """
    n = int(parts.total(piece.length, ["texts"]))
    if n == 0:
        raise InputError("There must be at least one document; got none.")
    notes = list(dict.fromkeys(note for some in parts.each(piece.notes, ["texts"]) for note in some))
    progress("reading terms", 0, 1)
    words = fit_parts(parts, default_terms(n) if model.terms is None else clone(model.terms), n)
    progress("reading terms", 1, 1)
    view = _View(parts, words, settings, n)
    view.find_components(progress)
    names = np.concatenate(list(parts.each(piece.names, ["rows"])))
    levels, means, choice, found = _from_sample(model, view, settings, names, notes, progress)
    whole = _cluster_all(view, settings, means, progress)
    labels, whole = _labelled(view, whole)
    notes += _remarks(view, whole, settings, names, found)
    run, predictor = _describe(model, view, settings, whole, labels, names, levels, (choice, found, notes), progress)
    return Answer(run, labels, predictor)


@dataclass
class _View:
    """Rows of all documents under the kernel, and how to read some of them."""

    parts: Parts
    words: Words
    settings: Settings
    n: int
    directions: Array | None = None

    @property
    def vectorizer(self) -> TermVectorizer:
        return self.words.vectorizer

    def find_components(self, progress: Progress) -> None:
        rank = max(self.settings.rank, self.settings.method.components())
        rng = generators(self.settings.seed, 1)[0]

        def compute() -> Record:
            directions, values = leading_directions(self.parts, self.words.width, rank, rng, progress)
            return {"directions": directions, "values": values}

        self.directions = self.parts.scratch.once("directions", compute)["directions"]
        own = np.ascontiguousarray(self.directions[:, : self.settings.rank])
        self.parts.derive("features", piece.features, ["rows"], own)

    def read(self, names: NDArray[np.uint64]) -> tuple[Corpus, tuple[str, ...], Any]:
        """Return documents by the names of their rows, in the order of the names: a corpus, cleaned texts, rows."""
        wanted = np.sort(names)
        best: dict[int, tuple[Any, ...]] = {}
        for found in self.parts.each(piece.gather, ["texts", "clean", "rows"], wanted, name="read"):
            for name, *document in found:
                if name not in best or tuple(document[:2]) < best[name][:2]:
                    best[name] = tuple(document)
        order = [best[name] for name in names.tolist()]
        columns = dict(
            zip(("texts", "ids", "clean", "titles", "dates", "labels"), zip(*order, strict=True), strict=False)
        )
        rows = piece.stack([one[-1] for one in order], self.words.width)
        kept: dict[str, Any] = {
            name: list(columns[name]) for name in ("titles", "dates", "labels") if any(columns[name])
        }
        distinct_ids = DistinctIds()
        return (
            Corpus(list(columns["texts"]), [distinct_ids.add(one) for one in columns["ids"]], **kept),
            columns["clean"],
            rows,
        )


def _draw(names: NDArray[np.uint64], count: int, seed: int) -> NDArray[np.uint64]:
    """Return `count` of the names, drawn by content: those whose digests come first under the seed."""
    if len(names) <= count:
        return names
    mixed = (names ^ np.uint64(seed)) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(29)
    return np.sort(names[np.argsort(mixed, kind="stable")[:count]])


def _from_sample(
    model: Any, view: _View, settings: Settings, names: NDArray[np.uint64], notes: list[str], progress: Progress
) -> tuple[dict[str, int], Array, Choice | None, Found]:
    """Choose the levels and find the clusters of a sample; return the means of these under the kernel."""
    different, copies = np.unique(names, return_counts=True)
    filled = different != piece.empty_name(view.words.width)
    drawn = _draw(different[filled] if filled.any() else different, SAMPLE, settings.seed)
    corpus, clean, rows = view.read(drawn)
    inputs = _inputs(corpus, clean, rows, rows, settings.kernel, view)
    weights = copies[np.searchsorted(different, drawn)].astype(np.float64)[inputs.first]
    inputs = replace(inputs, weights=np.where(inputs.weights > 0, weights, 0.0))
    assert view.directions is not None
    gram = _reduced(inputs.features, view.directions, settings.rank)
    choice, ks = model._levels(gram, inputs, settings.kernel, settings.effort, settings.seed, progress)
    job = Job(ks["middle"], inputs.weights, settings.effort.n_init, False, settings.seed, progress)
    found = settings.method.cluster(gram, job)
    features = unit_features(inputs.features, view.directions[:, : settings.rank], GRID)
    k = int(found.labels.max()) + 1
    sums = sum_rows(features, found.labels, k, inputs.weights)
    sizes = np.bincount(found.labels[found.labels >= 0], weights=inputs.weights[found.labels >= 0], minlength=k)
    if len(drawn) < filled.sum():
        notes.append(
            f"Levels and the first clusters were found on {len(drawn):,} of {int(filled.sum()):,} different documents, "
            "drawn by content; k-means then ran over all."
        )
    return ks, sums / np.maximum(sizes, 1e-300)[:, None], choice, found


def _reduced(rows: Any, directions: Array, rank: int) -> Gram:
    """Return the Gram of rows under components of the whole collection."""
    base = LinearGram(rows)
    features = np.asarray(rows @ directions.astype(np.float64))
    wide = PrincipalGram(features, base, np.zeros((len(features), 0)))
    own = PrincipalGram(np.ascontiguousarray(features[:, :rank]), base, np.zeros((len(features), 0)))
    own.wider = wide if rank < features.shape[1] else None
    return normalise(own)


def _cluster_all(view: _View, settings: Settings, means: Array, progress: Progress) -> Means:
    """Run k-means over all documents from the means of the sample; an interrupted run goes on where it was."""
    parts, scratch = view.parts, view.parts.scratch
    most = 100 if settings.method.name in ITERATED else 0
    state = scratch.once("means", lambda: {"means": means, "number": np.array(0)})

    def keep(number: int, found: Means) -> None:
        progress("clustering all", number, None)
        scratch.save("means", {"means": found.means, "number": np.array(number)})

    start = int(state["number"])
    found = kmeans_parts(parts, state["means"], max_iter=most, start=min(start, max(most - 1, 0)), keep=keep)
    progress("clustering all", found.n_iter, found.n_iter)
    return found


def _labelled(view: _View, found: Means) -> tuple[NDArray[np.int32], Means]:
    """Renumber the clusters by size, and assign every document."""
    filled = np.flatnonzero(found.counts > 0)
    keys = [tuple(row) for row in found.sums[filled].tolist()]
    order = filled[sorted(range(len(filled)), key=lambda at: (-found.counts[filled[at]], keys[at]))]
    found = found.take(order)
    view.parts.derive("found", piece.evidence, ["features"], found.means, found.sums, found.counts)
    return np.concatenate(list(view.parts.each(piece.labels, ["found"]))), found


def _describe(
    model: Any, view: _View, settings: Settings, whole: Means, labels: NDArray[np.int32], names: NDArray[np.uint64],
    ks: dict[str, int], told: tuple[Choice | None, Found, list[str]], progress: Progress,
) -> tuple[Run, Predictor]:  # fmt: skip
    """Describe the clusters by so many documents of each; return the run of these and the model of all."""
    choice, found, notes = told
    shown, weights = _stratified(view, labels, names, settings.seed)
    corpus, clean, rows = view.read(shown)
    assert view.directions is not None
    own = np.ascontiguousarray(view.directions[:, : settings.rank])
    maker = ComponentsInput(view.vectorizer, own)
    features = unit_features(rows, own, GRID)
    kernel = parse_kernel(COMPONENTS)
    view.vectorizer.forms_ = _forms(view.vectorizer, clean)
    inputs = _inputs(corpus, clean, {"components": features}, rows, kernel, view)
    inputs = replace(inputs, weights=weights[inputs.first], makers={"components": maker})
    gram, rows30 = inputs.gram(kernel), inputs.features["components"]
    clusters = assign(rows30, whole.means).astype(np.intp)
    levels = partitions(gram, clusters, ks, settings.seed)
    levels = {
        name: level if name == "middle" else numbered_by_size(level, inputs.weights) for name, level in levels.items()
    }
    view.parts.derive("levels", piece.levels, ["features", "found"], *_coarse_and_fine(rows30, inputs.weights, levels))
    predictor = _predictor(kernel, inputs, whole, maker)
    seen = replace(
        Predictor.of(kernel, gram, inputs.features, clusters, inputs.weights, None, False, inputs.makers),
        centroids=replace(predictor.centroids, similarities=rows30 @ whole.means.T),
    )
    outcome = replace(found, labels=clusters, outcome=str(whole.outcome.value) if whole.n_iter else found.outcome)
    partition = Partition(inputs, gram, clusters, levels, "middle", outcome, seen, choice, settings.seed, notes)
    steady = stability(partition, settings.effort.n_splits, progress) if settings.effort.stability else None
    known = plain(model.get_params(), settings.method, settings.effort, settings.seed, inputs)
    run = build_run(partition, steady, known, repr(model), progress)
    record = _collection(view, whole, len(shown))
    provenance = replace(
        run.provenance, languages=view.words.counts, collection=record, parameters={**known, "terms": None},
        fingerprint=hashlib.sha256(np.sort(names).tobytes()).hexdigest(),
    )  # fmt: skip
    evidence = replace(run.evidence, objective=whole.objective)
    arrays = predictor.arrays()
    return replace(run, provenance=provenance, evidence=evidence, model=arrays), predictor


def _coarse_and_fine(rows: Array, weights: Array, levels: Partitions) -> tuple[Array, Array, Array]:
    """Return the coarse cluster of every cluster, the means of the fine ones, and the cluster that each is part of."""
    middle = levels["middle"]
    k = int(middle.max()) + 1
    coarse, parents, means = np.arange(k), np.arange(k), np.empty((0, rows.shape[1]))
    if "coarse" in levels:
        coarse[middle] = levels["coarse"]
    if "fine" in levels:
        fine = levels["fine"]
        parents = np.empty(int(fine.max()) + 1, dtype=np.intp)
        parents[fine] = middle
        sizes = np.bincount(fine, weights=weights)
        means = sum_rows(rows, fine, len(sizes), weights) / sizes[:, None]
    return coarse, means, parents


def _predictor(kernel: Kernel, inputs: Inputs, whole: Means, maker: ComponentsInput) -> Predictor:
    """Return the model of all documents: the means of the clusters, and the documents shown for comparison."""
    rows = inputs.features["components"]
    both = {"components": np.concatenate([rows, whole.means])}
    labels = np.concatenate([np.full(len(rows), -1), np.arange(len(whole.means))])
    weights = np.concatenate([inputs.weights, np.ones(len(whole.means))])
    gram = kernel.gram(both, Collection.of(both["components"]))
    return Predictor.of(kernel, gram, both, labels, weights, None, False, {"components": maker})


def _stratified(
    view: _View, labels: NDArray[np.int32], names: NDArray[np.uint64], seed: int
) -> tuple[NDArray[np.uint64], Array]:
    """Return documents to show, so many of each cluster by its size, and how many documents each stands for."""
    empty = piece.empty_name(view.words.width)
    chosen, weights = [], []
    for cluster in range(int(labels.max()) + 1):
        inside = names[labels == cluster]
        different, copies = np.unique(inside, return_counts=True)
        filled = different[different != empty]
        share = max(SHOWN_OF_EACH, round(SHOWN * len(inside) / len(names)))
        drawn = _draw(filled if len(filled) else different, share, seed + 1)
        chosen.append(drawn)
        own = copies[np.searchsorted(different, drawn)].astype(np.float64)
        weights.append(own * (len(inside) / own.sum()))
    return np.concatenate(chosen), np.concatenate(weights)


def _inputs(corpus: Corpus, clean: Any, features: Any, rows: Any, kernel: Kernel, view: _View) -> Inputs:
    """Return documents that were read as the inputs of the methods and descriptions."""
    vectorizer = view.vectorizer
    own = None if isinstance(features, dict) else vectorizer
    found = distinct(corpus, True, features, kernel, own, vectorizer, rows, {})
    language = np.zeros(len(corpus), np.uint8)
    return replace(found, prepared=Prepared(Texts(clean), language, vectorizer.preparation_))


def _forms(vectorizer: TermVectorizer, texts: Any) -> Forms:
    """Return how the terms are written in the documents that are shown."""
    units, written = Units(), Written()
    prepared = Prepared(Texts(texts), np.zeros(len(texts), np.uint8), vectorizer.preparation_)
    _, names, _ = vectorizer.count_named(prepared, units, written)
    return Forms.of(written, names, vectorizer._units)


def _remarks(view: _View, whole: Means, settings: Settings, names: NDArray[np.uint64], found: Found) -> list[str]:
    """Return what a reader should know about the whole collection."""
    notes = [note for note in (view.words.dropped.note(), language_note(view.words.counts)) if note]
    copies = len(names) - len(np.unique(names))
    if copies:
        notes.append(f"{copies:,} of {len(names):,} documents repeat another word for word or term for term.")
    empty = int((names == piece.empty_name(view.words.width)).sum())
    if empty:
        notes.append(unknown_note(empty, holds_terms=True))
    if len(names) > SHOWN:
        notes.append(
            f"The run and its page show some documents of each cluster, drawn by content; the counts are those of all "
            f"{len(names):,}."
        )
        notes.append("Near-duplicates were looked for among the documents shown only; exact copies among all.")
    if settings.method.name not in ITERATED:
        notes.append(
            f"Method '{settings.method.name}' clustered a sample; all others were assigned to the nearest mean."
        )
    if settings.method.name == "consensus":
        notes.append("The confidence of the consensus is known for the sample only.")
    return notes


def _collection(view: _View, whole: Means, shown: int) -> dict[str, Any]:
    """Return what the run records about the whole collection."""
    return {
        "documents": view.n,
        "sizes": [int(count) for count in whole.counts],
        "shown": shown,
        "terms": view.words.width,
        "pieces": len(view.parts),
        "where": view.parts.where,
        "iterations": whole.n_iter,
        "traffic": view.parts.traffic.record(),
    }
