"""From a partition to a Run: everything that is said about it."""

from __future__ import annotations

import hashlib
import platform
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._array import Array
from .._progress import Progress
from .._version import __version__
from ..cluster import Clustering, nested_tree
from ..describe import Cluster, Evidence, describe, evidence, spellings
from ..errors import InputError
from ..gram import Gram
from ..gram.collection import content_names
from ..persist import Choice, Run
from ..persist.run import EXCERPT
from ..text import Texts, stop_words
from ..text._count import _stemming
from ..text._restore import plain_parameters
from .duplicates import duplicates
from .inputs import Collection
from .layout import coordinates
from .predict import Placer
from .tree_labels import branches
from .validation import Stability

SAMPLE = 200  # documents of the heatmap
READ = 100  # central documents of a cluster that are read for the spelling of stems
PARTS = 4  # of a cluster in the tree
SHOWN_AGAIN = 1000  # documents at most that are shown again to a kernel without explicit features
PACKAGES = ("numpy", "scipy", "scikit-learn", "PyStemmer", "numba")


@dataclass(frozen=True)
class Partition:
    """Distinct documents and their clusters, with what they came from; `notes` grows as something is noticed."""

    collection: Collection
    gram: Gram
    labels: NDArray[np.intp]
    result: Clustering
    placer: Placer
    choice: Choice | None
    seed: int
    notes: list[str]


def compose(
    found: Partition, steady: Stability | None, parameters: dict[str, Any], command: str, tell: Progress
) -> Run:
    """Look at a partition from every side and put that into a Run."""
    collection, labels, group = found.collection, found.labels, found.collection.group
    corpus = collection.corpus
    seen = evidence(found.gram, labels, collection.weights, found.placer.centroids.similarities)
    spelling = _spelling(collection, seen)
    clusters = _clusters(found, seen, spelling, steady)
    tell("describing", 1, 4)
    tree, leaves = branches(nested_tree(found.gram, labels, PARTS), clusters, collection, labels, spelling)
    tell("describing", 2, 4)
    pairs, similarity = duplicates(collection, found.gram, found.notes)
    tell("describing", 3, 4)
    sample, block = heatmap(found.gram, seen)
    agreement = _shown_again(found)
    words, model = _model(found)
    documents = np.full(len(labels), np.nan) if steady is None else steady.documents
    _remarks(found, agreement)
    tell("describing", 4, 4)
    return Run(
        kernel=str(found.placer.kernel),
        parameters={**parameters, "terms": words},
        seed=found.seed,
        command=command,
        source=corpus.source,
        fingerprint=corpus.fingerprint if collection.has_texts else _fingerprint(collection),
        created=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        seconds=0.0,
        versions=versions(),
        warnings=tuple(dict.fromkeys(found.notes)),
        outcome=str(found.result.outcome),
        objective=float(found.result.objective),
        agreement=agreement,
        ids=corpus.ids,
        titles=corpus.titles,
        classes=None if corpus.labels is None else Texts(corpus.labels),
        dates=corpus.dates,
        texts=corpus.texts if collection.has_texts else None,
        excerpts=_excerpts(collection),
        labels=labels[group].astype(np.int32),
        clusters=clusters,
        choice=found.choice,
        tree=tree,
        leaves=leaves,
        second=seen.second[group].astype(np.int32),
        margin=seen.margin[group].astype(np.float32),
        oddness=seen.oddness[group].astype(np.float32),
        stability=documents[group].astype(np.float32),
        coordinates=coordinates(found.gram, seen)[group].astype(np.float32),
        duplicates=pairs,
        duplicate_similarity=similarity,
        sample=collection.first[sample].astype(np.int32),
        heatmap=block.astype(np.float32),
        model=model,
    )


def _spelling(collection: Collection, seen: Evidence) -> dict[str, str]:
    """Return the word that each stem stands for most often in the central documents of the clusters."""
    words, texts = collection.words, collection.texts()
    if words is None or not words.stemmer or texts is None:
        return {}
    read = [texts[i] for c in range(len(seen.between)) for i in seen.central(c, READ)]
    return spellings(read, _stemming(words.stemmer))


def _clusters(
    found: Partition, seen: Evidence, spelling: dict[str, str], steady: Stability | None
) -> tuple[Cluster, ...]:
    """Describe the clusters; documents are named by their place in the whole collection, copies counted."""
    collection, vectorizer = found.collection, found.collection.words
    described = describe(
        found.gram,
        found.labels,
        weights=collection.described,
        terms=collection.names,
        texts=collection.texts(),
        stop_words=stop_words("smart" if vectorizer is None else vectorizer.stop_words),
        spelling=spelling,
        counts=collection.weights,
        found=seen,
    )
    sizes = np.bincount(found.labels[collection.group], minlength=len(described))

    def places(distinct: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(int(collection.first[i]) for i in distinct)

    return tuple(
        replace(
            cluster,
            size=int(sizes[cluster.number]),
            central=places(cluster.central),
            borderline=places(cluster.borderline),
            odd=places(cluster.odd),
            stability=None if steady is None else steady.clusters[cluster.number],
        )
        for cluster in described
    )


def heatmap(gram: Gram, seen: Evidence) -> tuple[NDArray[np.intp], Array]:
    """Return a sample of documents, cluster by cluster and central ones first, and their similarities."""
    sizes = np.bincount(seen.labels)
    shares = np.maximum(1, SAMPLE * sizes // sizes.sum())
    chosen = []
    for cluster, (size, share) in enumerate(zip(sizes.tolist(), shares.tolist(), strict=True)):
        evenly = np.linspace(0, size - 1, min(size, share)).astype(np.intp)
        chosen.append(np.array(seen.central(cluster, size), dtype=np.intp)[evenly])
    sample = np.concatenate(chosen)
    return sample, gram.split_shift()[0].block(sample, sample)


def _shown_again(found: Partition) -> float:
    """Return the share of the documents that would get their own label if they were shown as new."""
    collection, labels = found.collection, found.labels
    features, shown = collection.features, np.arange(len(labels))
    if len(shown) > SHOWN_AGAIN and found.gram.split_shift()[0]._compared_with() > 0:
        shown = np.linspace(0, len(shown) - 1, SHOWN_AGAIN).astype(np.intp)
    new: Any = [features[i] for i in shown] if isinstance(features, list) else features[shown]
    if found.placer.kernel.source.takes == "gram":
        new = (new, features.diagonal()[shown])
    same = found.placer.place_features(new).labels == labels[shown]
    counts = np.bincount(collection.group, minlength=len(labels))[shown]
    return round(float(counts @ same / counts.sum()), 6)


def _model(found: Partition) -> tuple[dict[str, Any] | None, dict[str, Any]]:
    """Return how the vectorizer was set, and the arrays that place new documents; none if a file cannot hold them."""
    vectorizer = found.collection.vectorizer
    try:
        return (None if vectorizer is None else plain_parameters(vectorizer)), found.placer.arrays()
    except InputError as error:
        found.notes.append(f"A saved run cannot place new documents: {error}")
        return None, {}


def _remarks(found: Partition, agreement: float) -> None:
    """Note in plain words what a reader of the result should know."""
    empty, copies = found.collection.empty, found.collection.n - len(found.collection.first)
    if empty:
        without = "without any known term" if found.collection.holds_terms else "with nothing but zeros"
        found.notes.append(f"{_documents(empty)} {without}: placed, but that tells nothing.")
    if copies:
        found.notes.append(f"{_documents(copies)} repeated word for word or term for term: clustered together.")
    if found.result.outcome != "converged" and not found.placer.polished:
        found.notes.append(f"The best start ended as '{found.result.outcome}', not 'converged'.")
    if agreement < 1.0:
        found.notes.append(f"{agreement:.1%} of the documents would get their own label again if shown as new.")


def _documents(count: int) -> str:
    return f"{count} document{'s' if count != 1 else ''}"


def _excerpts(collection: Collection) -> Texts | None:
    """Return the first characters of every document, white space folded."""
    if not collection.has_texts:
        return None
    return Texts(" ".join(text[: 8 * EXCERPT].split())[:EXCERPT] for text in collection.corpus.texts)


def _fingerprint(collection: Collection) -> str:
    """Digest the rows of a matrix, whatever their order."""
    rows = collection.features
    names = np.sort(content_names(rows)[collection.group])
    return hashlib.sha256("".join(names.tolist()).encode()).hexdigest()


def versions() -> dict[str, str]:
    """Return the versions of what took part."""
    found = {"grampus": __version__, "python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
