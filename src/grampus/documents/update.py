"""Update a run: add documents, delete others, and cluster again from the answer that is there.

Numbers and names of clusters that survive stay. Everything else is computed anew from the documents that are left, so
nothing of a deleted document remains.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._array import Array, tiles
from .._progress import Progress
from ..describe import describe, evidence, name_tree
from ..errors import InputError, RunError
from ..gram.graph import nearest
from ..persist import Run, RunEvidence
from ..persist.edits import refit
from ..text import Corpus, Texts
from ..text.embed.store import forget_texts
from .build_run import build_run, excerpt, wording_of
from .follow import SAME, entry, followed
from .forget import forgotten, split_words, texts_of, without, words_of
from .inputs import as_corpus
from .layout import coordinates
from .naming import PLACE, renamed
from .partition import Partition
from .recluster import extend, keeps_terms, learn_anew
from .tree_labels import filled_names

NEAR = 5  # documents beside which a new one is drawn


def update_run(run: Run, documents: Any = None, *, delete: Iterable[str] = (), progress: Progress | None = None) -> Run:
    """Add documents to a run, delete others, and cluster again with the old answer as start.

    If there are less than twice as many documents as when terms were learned, and all clusters survive, terms and
    weights stay, and so do the words of clusters and branches. Otherwise terms are learned anew, and the method of the
    run finds the clusters anew; they get the numbers of those they share most documents with. Where documents are
    deleted, or the run was guided, clusters only follow the old ones. The number of clusters stays, unless one loses
    all its documents. Edits are applied again; a warning says which no longer fit. Stability is not measured.

    Parameters
    ----------
    run : Run
        With texts.
    documents : Corpus or sequence of str, optional
        New documents; one with the id of an old one takes its place. Texts without ids are numbered on.
    delete : iterable of str
        Ids of documents to forget: no text, excerpt, title, id, vector or digest of them is left in the result, its
        edits and its history, nor in the cache of embeddings.
    progress : callable, optional
        Called as ``progress(step, done, total)``.

    Returns
    -------
    Run
        Its history ends with what changed.

    Examples
    --------
    >>> from grampus import DocumentClusterer
    >>> from grampus.documents import update_run
    >>> texts = ["whale song", "whales sing", "bird nest", "nests of birds"]
    >>> run = DocumentClusterer(2, random_state=0).fit(texts).run_
    >>> later = update_run(run, ["a whale song", "birds"], delete=["1"])
    >>> list(later.documents.ids), later.evidence.labels.tolist()
    (['2', '3', '4', '5', '6'], [1, 0, 0, 1, 0])
    >>> later.history[-1].added, later.history[-1].deleted
    (2, 1)
    """
    progress, gone = progress or (lambda *_: None), set(delete)
    old = run if run.original is None else run.original
    corpus, came_from = _joined(old, documents, gone)
    tried = not gone and keeps_terms(old, corpus)
    partition = extend(old, corpus, came_from, progress) if tried else None
    light = partition is not None
    if partition is None:
        steady = bool(gone) or "guide" in old.provenance.parameters
        partition = learn_anew(old, corpus, came_from, progress, steady=steady, lost=tried)
    places = _places(old, partition, came_from)
    parameters = {name: value for name, value in old.provenance.parameters.items() if name not in ("terms", PLACE)}
    named_below = light or (not gone and partition.inputs.described is not None)
    silent = replace(partition, inputs=replace(partition.inputs, described=None)) if named_below else partition
    excerpts = _excerpts(old, corpus, came_from)
    made = build_run(silent, None, parameters, old.provenance.command, progress, places, excerpts)
    made = replace(
        made, provenance=replace(made.provenance, columns=old.provenance.columns, source=old.provenance.source)
    )
    fits, became = followed(old, made.evidence.labels, came_from)
    kept = {new: old.evidence.clusters[before].label for before, new in became.items() if fits[before]}
    if named_below:
        made = _described(old, made, came_from, became, partition)
    if light:
        made = replace(made, provenance=replace(made.provenance, languages=old.provenance.languages))
    lost = texts_of(old, gone) if gone else []
    if gone:
        words = words_of(corpus)
        kept = {new: name for new, name in kept.items() if set(split_words(name)) <= words}
        forget_texts(lost)
    made = renamed(made, kept, [])
    now = entry(old, made, partition, came_from, len(gone & set(old.documents.ids)), fits, became)
    history = tuple(forgotten(one, gone, kept) if gone else one for one in old.history)
    made = replace(made, history=(*history, now))
    edits, notes = refit(made, without(run.edits, gone, lost, corpus), old, became)
    if notes:
        made = replace(made, evidence=replace(made.evidence, warnings=(*made.evidence.warnings, *notes)))
    return made._with(edits)


# -- the documents


def _joined(old: Run, documents: Any, gone: set[str]) -> tuple[Corpus, NDArray[np.intp]]:
    """Return old documents that stay and new ones, and the old position of each; −1 for a new one."""
    if old.provenance.collection:
        raise RunError(
            f"This run cannot be updated: it was made in parts and holds {len(old):,} of its {old.n_documents:,} "
            "documents. Assign new documents with assign, or cluster old and new files together again."
        )
    if old.documents.texts is None:
        raise RunError("This run cannot be updated: it holds no texts. Recreate it with texts.")
    unknown = gone - set(old.documents.ids)
    if unknown:
        raise InputError(
            f"delete must be ids of the run; {len(unknown)} of {len(gone)} are not in it, such as "
            f"{min(unknown)[:60]!r}: deleted before, or never in it. Nothing was changed."
        )
    new = None if documents is None else _new(old, documents)
    coming = set() if new is None else set(new.ids)
    leaving = gone | coming
    stay = np.array([i for i, one in enumerate(old.documents.ids) if one not in leaving], dtype=np.intp)
    count = 0 if new is None else len(new)
    if not len(stay) + count:
        raise InputError("an update must leave a document; this one deletes all.")

    def column(name: str, given: Sequence[str] | None) -> Texts | None:
        held = getattr(old.documents, name)
        if held is None and given is None:
            return None
        kept = Texts([""] * len(stay)) if held is None else held.take(stay)
        return kept + (given if isinstance(given, Texts) else Texts([""] * count if given is None else given))

    texts, ids = column("texts", None if new is None else new.texts), column("ids", None if new is None else new.ids)
    assert texts is not None
    corpus = Corpus(
        texts,
        ids,
        column("classes", None if new is None else new.labels),
        column("titles", None if new is None else new.titles),
        column("dates", None if new is None else new.dates),
        old.provenance.source,
        notes=() if new is None else new.notes,
    )
    return corpus, np.concatenate([stay, np.full(count, -1, dtype=np.intp)])


def _excerpts(old: Run, corpus: Corpus, came_from: NDArray[np.intp]) -> Texts | None:
    """Return the excerpts of old documents, and those of new ones; None if they are not known."""
    known, new = old.documents.excerpts, np.flatnonzero(came_from < 0).tolist()
    if known is None:
        return None
    return known.take(came_from[came_from >= 0]) + Texts(excerpt(corpus.texts[at]) for at in new)


def _new(old: Run, documents: Any) -> Corpus:
    if isinstance(documents, Corpus):
        return documents
    corpus = as_corpus(documents)
    if corpus is None:
        raise InputError(f"documents must be texts or a Corpus; got {type(documents).__name__}.")
    numbers = [int(one) for one in old.documents.ids if one.isascii() and one.isdigit()]
    first = max(numbers, default=len(old)) + 1
    return Corpus(corpus.texts, [str(first + i) for i in range(len(corpus))])


# -- the words and the map


def _described(old: Run, made: Run, came_from: NDArray[np.intp], became: dict[int, int], partition: Partition) -> Run:
    """Return a run with words: those of the old clusters, unless terms were learned anew, and names of branches.

    Branches that hold mostly the same documents keep their names; the others are named by single words.
    """
    seen, parts = made.evidence, ("terms", "describing", "phrases", "sentence")
    survive = {after: old.evidence.clusters[before] for before, after in became.items()}
    source, wording = survive, wording_of(partition.inputs)
    if wording is not None:
        weights, similar = partition.inputs.weights, partition.predictor.centroids.similarities
        found = evidence(partition.gram, partition.labels, weights, similar)
        source = dict(enumerate(describe(partition.gram, partition.labels, wording, counts=weights, found=found)))
    clusters = tuple(
        replace(
            one,
            label=survive.get(one.number, source[one.number]).label,
            **{part: getattr(source[one.number], part) for part in parts},
        )
        for one in seen.clusters
    )
    whole = {branch.index: branch.cluster for branch in seen.tree if branch.cluster >= 0}
    known = _branch_names(old, seen, came_from) | {at: clusters[cluster].label for at, cluster in whole.items()}
    names = [known.get(branch.index, "") for branch in seen.tree]
    if wording is not None:
        spoken, leaves = replace(wording, texts=None, titles=None), seen.leaves[partition.inputs.first]
        names = name_tree(spoken, leaves, [branch.parent for branch in seen.tree], known)
    names = filled_names(seen.tree, clusters, whole, names)
    tree = tuple(replace(branch, label=names[branch.index]) for branch in seen.tree)
    return replace(made, evidence=replace(seen, clusters=clusters, tree=tree))


def _branch_names(old: Run, seen: RunEvidence, came_from: NDArray[np.intp]) -> dict[int, str]:
    """Return the names of old branches for those that hold mostly the same documents."""
    was = np.flatnonzero((came_from >= 0) & (seen.leaves >= 0))
    was = was[old.evidence.leaves[came_from[was]] >= 0]
    counts = np.zeros((len(old.evidence.tree), len(seen.tree)), dtype=np.int64)
    np.add.at(counts, (old.evidence.leaves[came_from[was]], seen.leaves[was]), 1)
    for branch in reversed(old.evidence.tree[1:]):
        counts[branch.parent] += counts[branch.index]
    for branch in reversed(seen.tree[1:]):
        counts[:, branch.parent] += counts[:, branch.index]
    either = counts[:, :1] + counts[:1, :] - counts  # the first branches hold all documents
    shared = counts / np.maximum(either, 1)
    best = shared.argmax(axis=0)
    return {
        branch.index: old.evidence.tree[best[branch.index]].label
        for branch in seen.tree
        if branch.cluster < 0 and shared[best[branch.index], branch.index] >= SAME
    }


def _places(old: Run, partition: Partition, came_from: NDArray[np.intp]) -> Array:
    """Return the map: old documents where they were, new ones between those of their cluster that they resemble most.

    If there are more new documents than old ones, all are laid out.
    """
    inputs, labels = partition.inputs, partition.labels
    was = np.flatnonzero(came_from >= 0)
    known = np.zeros(len(inputs.first), dtype=bool)
    known[inputs.group[was]] = True
    if 2 * known.sum() < len(known):
        return coordinates(partition.gram)
    places, base = np.zeros((len(known), 2)), partition.gram.split_shift()[0]
    places[inputs.group[was]] = old.layout.coordinates[came_from[was]]
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
