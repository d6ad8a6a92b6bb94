"""Build a Run from a partition: everything that is reported about it."""

from __future__ import annotations

import hashlib
import platform
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._array import Array
from .._progress import Progress
from .._version import __version__
from ..cluster import nested_tree
from ..describe import Cluster, Evidence, Wording, describe, evidence
from ..errors import InputError
from ..gram import Gram
from ..gram.collection import content_names
from ..persist import Documents, Layout, Provenance, Run, RunEvidence
from ..persist.run import EXCERPT
from ..text import Texts, stop_words
from ..text.languages import UNSPACED, is_unspaced, segment_words
from ..text.store import Picked
from ..text.terms.persist import plain_parameters
from .duplicates import duplicates, near_copies
from .inputs import Inputs
from .layout import coordinates, representatives
from .levels import neighbours
from .partition import Partition
from .tree_labels import branches, level_records
from .validation import Stability

SAMPLE = 200  # documents of the heatmap
PARTS = 4  # of a cluster in the tree
PREDICTED_AGAIN = 1000  # documents at most that are shown again to a kernel without explicit features
PACKAGES = ("numpy", "scipy", "scikit-learn", "PyStemmer")


def build_run(
    found: Partition,
    steady: Stability | None,
    parameters: dict[str, Any],
    command: str,
    progress: Progress,
    places: Array | None = None,
    excerpts: Texts | None = None,
) -> Run:
    """Describe a partition completely and return it as a Run; coordinates and excerpts may be known already."""
    inputs, labels, group = found.inputs, found.labels, found.inputs.group
    progress("describing", 0, 4)
    seen = evidence(found.gram, labels, inputs.weights, found.predictor.centroids.similarities)
    wording = wording_of(inputs)
    clusters = _clusters(found, seen, wording, steady)
    progress("describing", 1, 4)
    nodes = nested_tree(found.gram, labels, PARTS, **neighbours(found.levels, found.answer))
    tree, leaves = branches(nodes, clusters, inputs, labels, wording)
    progress("describing", 2, 4)
    pairs, similarity = duplicates(inputs, found.gram, found.notes)
    progress("describing", 3, 4)
    sample, block = heatmap(found.gram, seen)
    agreement = _self_prediction_rate(found)
    words, model = _model(found)
    documents = np.full(len(labels), np.nan) if steady is None else steady.documents
    _remarks(found, agreement)
    progress("describing", 4, 4)
    progress("drawing the map", 0, 1)
    places = (coordinates(found.gram) if places is None else places)[group].astype(np.float32)
    progress("drawing the map", 1, 1)
    return Run(
        provenance=_provenance(found, {**parameters, "terms": words}, command),
        documents=_kept(inputs, excerpts),
        evidence=RunEvidence(
            labels=labels[group].astype(np.int32),
            clusters=clusters,
            choice=found.choice,
            levels=level_records(nodes, found.levels),
            tree=tree,
            leaves=leaves,
            second=seen.second[group].astype(np.int32),
            margin=seen.margin[group].astype(np.float32),
            oddness=seen.oddness[group].astype(np.float32),
            stability=documents[group].astype(np.float32),
            duplicates=pairs,
            duplicate_similarity=similarity,
            outcome=str(found.found.outcome),
            objective=found.predictor.objective(),
            agreement=agreement,
            warnings=tuple(dict.fromkeys(found.notes)),
        ),
        layout=Layout(
            coordinates=places,
            sample=inputs.first[sample].astype(np.int32),
            heatmap=block.astype(np.float32),
            representatives=representatives(found.gram),
        ),
        model=model,
    )


def _provenance(found: Partition, parameters: dict[str, Any], command: str) -> Provenance:
    """Return how the partition was made; the caller knows the time that it took."""
    inputs, corpus = found.inputs, found.inputs.corpus
    return Provenance(
        kernel=str(found.predictor.kernel),
        parameters=parameters,
        seed=found.seed,
        command=command,
        source=corpus.source,
        fingerprint=corpus.fingerprint if inputs.has_texts else _fingerprint(inputs),
        created=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        seconds=0.0,
        versions=versions(),
        languages=inputs.languages(),
    )


def _kept(inputs: Inputs, excerpts: Texts | None) -> Documents:
    """Return what a run keeps of the documents themselves."""
    corpus = inputs.corpus
    return Documents(
        ids=corpus.ids,
        titles=corpus.titles,
        classes=None if corpus.labels is None else Texts(corpus.labels),
        dates=corpus.dates,
        texts=corpus.texts if inputs.has_texts else None,
        excerpts=_excerpts(inputs) if excerpts is None else excerpts,
    )


def wording_of(inputs: Inputs) -> Wording | None:
    """Return the words of the distinct documents, for naming groups of them; None if they have no terms."""
    words, titles = inputs.words, inputs.corpus.titles
    if inputs.described is None or inputs.names is None:
        return None
    texts = inputs.corpus.texts if inputs.prepared is None else inputs.prepared.texts
    shown = read_for(inputs) if words is not None else inputs.first
    languages = () if inputs.prepared is None else inputs.prepared.preparation.languages
    unspaced = not UNSPACED.isdisjoint(languages) if languages else any(map(is_unspaced, texts))
    return Wording(
        inputs.described,
        inputs.names,
        None if words is None else Picked(texts, shown),
        None if words is None else words.forms_,
        stop_words("smart") if words is None else words.stop_list(),
        inputs.weights,
        None if titles is None else Picked(titles, shown),
        segment_words if unspaced else None,
    )


def read_for(inputs: Inputs) -> NDArray[np.intp]:
    """Return the document to read for each distinct one: of several with the same terms, the alphabetically first."""
    shown, texts = inputs.first.copy(), inputs.corpus.texts
    for at in np.flatnonzero(np.bincount(inputs.group)[inputs.group] > 1).tolist():
        own = inputs.group[at]
        if texts[at] < texts[int(shown[own])]:
            shown[own] = at
    return shown


def _clusters(
    found: Partition, seen: Evidence, wording: Wording | None, steady: Stability | None
) -> tuple[Cluster, ...]:
    """Describe the clusters; documents are indices into the whole collection, and sizes include copies."""
    inputs = found.inputs
    described = describe(found.gram, found.labels, wording, counts=inputs.weights, found=seen)
    sizes = np.bincount(found.labels[inputs.group] + 1, minlength=len(described) + 1)[1:]

    def places(distinct: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(int(inputs.first[i]) for i in distinct)

    return tuple(
        replace(
            cluster,
            size=int(sizes[cluster.number]),
            central=places(cluster.central),
            borderline=places(cluster.borderline),
            outliers=places(cluster.outliers),
            stability=None if steady is None else steady.clusters[cluster.number],
        )
        for cluster in described
    )


def heatmap(gram: Gram, seen: Evidence) -> tuple[NDArray[np.intp], Array]:
    """Return a sample of documents, cluster by cluster and central ones first, and their similarities."""
    sizes = np.bincount(seen.labels[seen.labels >= 0])
    shares = np.maximum(1, SAMPLE * sizes // sizes.sum())
    chosen = []
    for cluster, (size, share) in enumerate(zip(sizes.tolist(), shares.tolist(), strict=True)):
        evenly = np.linspace(0, size - 1, min(size, share)).astype(np.intp)
        chosen.append(np.array(seen.central(cluster, size), dtype=np.intp)[evenly])
    sample = np.concatenate(chosen)
    block = gram.split_shift()[0].block(sample, sample)
    largest = float(np.abs(block).max(initial=0.0))
    if largest > float(np.finfo(np.float32).max):  # colours are relative
        block = block / largest
    return sample, block


def _self_prediction_rate(found: Partition) -> float:
    """Return the share of the documents that would get their own label if they were new."""
    inputs, labels = found.inputs, found.labels
    features, shown = inputs.features, np.flatnonzero(labels >= 0)
    if len(shown) > PREDICTED_AGAIN and found.gram.split_shift()[0]._compared_with() > 0:
        shown = shown[np.linspace(0, len(shown) - 1, PREDICTED_AGAIN).astype(np.intp)]
    new = found.predictor.kernel.as_new(features, shown)
    same = found.predictor.predict_features(new).labels == labels[shown]
    counts = np.bincount(inputs.group, minlength=len(labels))[shown]
    return round(float(counts @ same / counts.sum()), 6)


def _model(found: Partition) -> tuple[dict[str, Any] | None, dict[str, Any]]:
    """Return the vectorizer's parameters and the arrays for prediction; none if they cannot be saved."""
    vectorizer = found.inputs.vectorizer
    try:
        arrays = found.predictor.arrays()
        rows = {"group": found.inputs.group.astype(np.int32)} if arrays else {}  # the row of each document
        return (None if vectorizer is None else plain_parameters(vectorizer)), arrays | rows
    except InputError as error:
        found.notes.append(f"A saved run cannot assign new documents: {error}")
        return None, {}


def _remarks(found: Partition, agreement: float) -> None:
    """Add notes for the reader of the result."""
    empty, copies = found.inputs.empty, found.inputs.n - len(found.inputs.first)
    if empty:
        found.notes.append(unknown_note(empty, found.inputs.holds_terms))
    if copies:
        found.notes.append(f"{_documents(copies)} repeated word for word or term for term: clustered together.")
    near = near_copies(found.inputs.corpus.texts) if found.inputs.has_texts else 0
    if near:
        found.notes.append(
            f"{near:,} of {_documents(found.inputs.n)} are near-copies of one another: four fifths of their words are "
            "the same. Groups among them rest on the few other words."
        )
    if found.found.outcome != "converged" and not found.predictor.polished:
        found.notes.append(f"The best start ended as '{found.found.outcome}', not 'converged'.")
    if agreement < 1.0:
        found.notes.append(f"{agreement:.1%} of the documents would be assigned to their own cluster if they were new.")


def unknown_note(count: int, holds_terms: bool) -> str:
    """Return the note on documents with nothing to compare."""
    verb, whose = ("has", "Its") if count == 1 else ("have", "Their")
    what = f"{verb} no usable word" if holds_terms else f"{'holds' if count == 1 else 'hold'} nothing but zeros"
    return f"{_documents(count)} {what}. {whose} group means nothing."


def _documents(count: int) -> str:
    return f"{count:,} document{'s' if count != 1 else ''}"


def _excerpts(inputs: Inputs) -> Texts | None:
    """Return the first characters of every document, with white space collapsed."""
    if not inputs.has_texts:
        return None
    return Texts(map(excerpt, inputs.corpus.texts))


def excerpt(text: str) -> str:
    """Return the first characters of a text, with white space collapsed."""
    short = " ".join(text[: 2 * EXCERPT].split())  # mostly enough
    return (short if len(short) >= EXCERPT else " ".join(text[: 8 * EXCERPT].split()))[:EXCERPT]


def _fingerprint(inputs: Inputs) -> str:
    """Digest the rows of a matrix, independent of their order."""
    known = inputs.collection.names
    names = np.sort((content_names(inputs.features) if known is None else known)[inputs.group])
    return hashlib.sha256(names.tobytes()).hexdigest()


def versions() -> dict[str, str]:
    """Return the versions of Python, Grampus and its dependencies."""
    found = {"grampus": __version__, "python": platform.python_version()}
    for name in PACKAGES:
        with suppress(PackageNotFoundError):
            found[name] = version(name) or "unknown"  # None where its metadata cannot be read
    return found
