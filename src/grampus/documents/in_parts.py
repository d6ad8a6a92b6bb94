"""Cluster a collection in pieces: what a DocumentClusterer does, for more documents than memory holds.

Terms, weights and components are those of all documents. Levels and the consensus of views are found on a sample drawn
by content, and k-means runs on from there over all documents, as it does after every consensus. A second sample, so
many of each cluster, is described, drawn and shown: the run counts all documents and holds those.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone

from .._array import Array, sum_rows
from .._progress import Progress
from .._random import generators
from ..cluster.kmeans.centroids import margins
from ..cluster.kmeans.in_parts import Means, assign, kmeans_parts
from ..errors import InputError
from ..gram import Collection, Gram, LinearGram, normalise
from ..gram.in_parts import leading_directions, sparse_rows, unit_features
from ..gram.principal import PrincipalGram
from ..kernels import Kernel, parse_kernel
from ..persist import Choice, Run
from ..scale import Parts, Record, snap
from ..text import Corpus, TermVectorizer, Texts
from ..text.components import ComponentsInput
from ..text.terms.count import Units, Written
from ..text.terms.forms import Forms
from ..text.terms.in_parts import COLUMNS, GRID, Words, cleaned, fit_parts, pack_rows, short_names, texts_of
from ..text.terms.prepare import Prepared, language_note
from .build_run import build_run
from .effort import Effort
from .inputs import Inputs, default_terms, distinct
from .levels import numbered_by_size, partitions
from .methods import Found, Job, Method
from .parameters import plain
from .partition import Partition
from .predict import Predictor
from .validation import stability

SAMPLE = 20_000  # different documents on which levels and the consensus are found
SHOWN, SHOWN_OF_EACH = 20_000, 200  # documents that are described and shown: about, and of a cluster at least
COMPONENTS = "linear@components"
ITERATED = ("consensus", "kernel-kmeans")  # methods after which k-means runs over all documents
BINS = 4096  # of the similarities of documents to their cluster, for its median


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
    known = re.fullmatch(r"cosine\|principal\((\d+)\)\|normalise", str(kernel))
    if known:
        return int(known[1])
    raise InputError(
        f"In parts the kernel must be 'cosine|principal(r)|normalise', with any r; got '{kernel}'. Other kernels need all "
        "documents in memory: leave out scratch and client (--scratch, --dask), or cluster a sample."
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
    n = int(parts.total(_length, ["texts"]))
    if n == 0:
        raise InputError("There must be at least one document; got none.")
    notes = list(dict.fromkeys(note for some in parts.each(_notes, ["texts"]) for note in some))
    progress("reading terms", 0, 1)
    words = fit_parts(parts, default_terms(n) if model.terms is None else clone(model.terms), n)
    progress("reading terms", 1, 1)
    view = _View(parts, words, settings, n)
    view.find_components(progress)
    names = np.concatenate(list(parts.each(_names, ["rows"])))
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
        self.parts.derive("features", _features, ["rows"], own)

    def read(self, names: NDArray[np.uint64]) -> tuple[Corpus, tuple[str, ...], Any]:
        """Return documents by the names of their rows, in the order of the names: a corpus, cleaned texts, rows."""
        wanted = np.sort(names)
        best: dict[int, tuple[Any, ...]] = {}
        for found in self.parts.each(_gather, ["texts", "clean", "rows"], wanted, name="read"):
            for name, *document in found:
                if name not in best or tuple(document[:2]) < best[name][:2]:
                    best[name] = tuple(document)
        order = [best[name] for name in names.tolist()]
        columns = dict(
            zip(("texts", "ids", "clean", "titles", "dates", "labels"), zip(*order, strict=True), strict=False)
        )
        rows = _stack([one[-1] for one in order], self.words.width)
        kept = {name: list(columns[name]) for name in ("titles", "dates", "labels") if any(columns[name])}
        return Corpus(list(columns["texts"]), _different(columns["ids"]), **kept), columns["clean"], rows


def _different(ids: Iterable[str]) -> list[str]:
    """Return ids with those that pieces share numbered, as a reader does within a piece."""
    seen: Counter[str] = Counter()
    found = []
    for one in ids:
        seen[one] += 1
        found.append(one if seen[one] == 1 else f"{one}#{seen[one]}")
    return found


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
    filled = different != _empty_name(view.words.width)
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
    """Number the clusters by size, and assign every document."""
    filled = np.flatnonzero(found.counts > 0)
    keys = [tuple(row) for row in found.sums[filled].tolist()]
    order = filled[sorted(range(len(filled)), key=lambda at: (-found.counts[filled[at]], keys[at]))]
    found = replace(found, sums=found.sums[order], counts=found.counts[order])
    view.parts.derive("found", _evidence, ["features"], found.means, found.sums, found.counts)
    return np.concatenate(list(view.parts.each(_labels, ["found"]))), found


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
    record = _collection(view, settings, whole, len(shown), levels)
    provenance = replace(
        run.provenance, languages=view.words.counts, collection=record, parameters={**known, "terms": None},
        fingerprint=hashlib.sha256(np.sort(names).tobytes()).hexdigest(),
    )  # fmt: skip
    evidence = replace(run.evidence, objective=whole.objective)
    arrays = predictor.arrays()
    return replace(run, provenance=provenance, evidence=evidence, model=arrays), predictor


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
    empty = _empty_name(view.words.width)
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
    empty = int((names == _empty_name(view.words.width)).sum())
    if empty:
        notes.append(f"{empty:,} documents without any known term: assigned, but without any known term.")
    if len(names) > SHOWN:
        notes.append(
            f"The run and its page show some documents of each cluster, drawn by content; the counts are those of all "
            f"{len(names):,}."
        )
    if settings.method.name not in ITERATED:
        notes.append(
            f"Method '{settings.method.name}' clustered a sample; all others were assigned to the nearest mean."
        )
    if settings.method.name == "consensus":
        notes.append("The confidence of the consensus is known for the sample only.")
    return notes


def _collection(view: _View, settings: Settings, whole: Means, shown: int, levels: dict[str, Any]) -> dict[str, Any]:
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


# -- functions of a piece


def _length(texts: Record) -> int:
    return len(texts["texts.ends"]) - 1


def _notes(texts: Record) -> list[str]:
    return list(texts_of(texts, "notes")) if "notes.ends" in texts else []


def _names(rows: Record) -> NDArray[np.uint64]:
    return np.asarray(rows["name"])


def _features(rows: Record, directions: Array) -> Record:
    """Return the rows of a piece under the kernel, as float32 on the grid of exact sums."""
    features = unit_features(sparse_rows(rows), directions, GRID)
    squares = snap((features * features).sum(axis=1), GRID).sum()
    return {"x": features.astype(np.float32), "squares": np.array(squares)}


def _evidence(features: Record, means: Array, sums: Array, counts: Array) -> Record:
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


def _labels(found: Record) -> NDArray[np.int32]:
    return np.asarray(found["label"])


def _empty_name(width: int) -> np.uint64:
    return np.uint64(short_names(sp.csr_array((1, max(width, 1))))[0])


def _gather(texts: Record, clean: Record, rows: Record, wanted: NDArray[np.uint64]) -> list[tuple[Any, ...]]:
    """Return name, text, id, cleaned text, title, date, label and row of documents; of copies the first by text."""
    names = np.asarray(rows["name"])
    at = np.flatnonzero(wanted[np.minimum(np.searchsorted(wanted, names), len(wanted) - 1)] == names)
    if not len(at):
        return []
    columns = {name: texts_of(texts, name) for name in (*COLUMNS, "labels") if f"{name}.ends" in texts}
    counted, matrix = cleaned(texts, clean), sparse_rows(rows)
    best: dict[int, tuple[Any, ...]] = {}
    for place in at.tolist():
        name = int(names[place])
        own = columns["texts"][place], columns["ids"][place]
        if name in best and best[name][:2] <= own:
            continue
        more = [columns[column][place] if column in columns else "" for column in ("titles", "dates", "labels")]
        first, last = matrix.indptr[place], matrix.indptr[place + 1]
        best[name] = (*own, counted[place], *more, (matrix.indices[first:last], matrix.data[first:last]))
    return [(name, *document) for name, document in best.items()]


def _stack(rows: list[tuple[Array, Array]], width: int) -> Any:
    lengths = np.array([len(index) for index, _ in rows])
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    indices = np.concatenate([index for index, _ in rows]) if rows else np.empty(0, np.int32)
    data = np.concatenate([data for _, data in rows]) if rows else np.empty(0)
    return sp.csr_array((data, indices.astype(np.int32), indptr), shape=(len(rows), width))


def document_tables(parts: Parts, run: Run) -> Iterator[dict[str, Any]]:
    """Yield the table of every piece: id, cluster, its name, second choice, margin and oddness.

    Parameters
    ----------
    parts : Parts
    run : Run
    """
    k = len(run.evidence.clusters)
    table = parts.total(_histogram, ["found"], k)
    usual = [_median(row) for row in table]
    titles = np.array([cluster.label for cluster in run.evidence.clusters], dtype=object)
    for columns in parts.each(_columns, ["texts", "found"], np.array(usual), name="results"):
        yield {"id": list(columns.pop("ids")), "cluster_name": titles[columns["cluster"]].tolist(), **columns}


def _histogram(found: Record, k: int) -> NDArray[np.int64]:
    bins = np.clip(((found["typical"] + 1.0) * (BINS / 2)).astype(np.int64), 0, BINS - 1)
    table = np.bincount(found["label"].astype(np.int64) * BINS + bins, minlength=k * BINS)
    return table.reshape(k, BINS).astype(np.int64)


def _median(row: NDArray[np.int64]) -> float:
    """Return the lower median of a histogram of similarities, to its bins."""
    reached = np.cumsum(row)
    return (float(np.searchsorted(reached, reached[-1] / 2.0)) + 0.5) * 2.0 / BINS - 1.0


def _columns(texts: Record, found: Record, usual: Array) -> dict[str, Any]:
    own = usual[found["label"]]
    odd = np.clip(1.0 - found["typical"] / np.where(own > 0, own, 1.0), 0.0, 1.0)
    return {
        "ids": texts_of(texts, "ids"),
        "cluster": np.asarray(found["label"]),
        "second": np.asarray(found["second"]),
        "margin": np.asarray(found["margin"]),
        "oddness": np.where(own > 0, odd, 0.0).astype(np.float32),
    }
