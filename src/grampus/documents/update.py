"""Update a run: add documents, delete others, and cluster again from the answer that is there.

Numbers and names of clusters that survive stay. Everything else is computed anew from the documents that are left, so
nothing of a deleted document remains.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._array import Array, sum_rows, tiles
from .._check import check_matrix
from .._progress import Progress
from ..cluster import kernel_kmeans
from ..cluster.kmeans.centroids import Centroids
from ..errors import InputError, RunError
from ..gram import Gram
from ..kernels import Kernel, parse_kernel
from ..persist import Change, Edit, Graft, Run, Update
from ..persist.edits import refit
from ..text import Corpus, Texts
from ..text.embed.store import forget_texts
from ..text.terms.persist import plain_parameters, unpack_vectorizer
from .build_run import build_run
from .inputs import Inputs, as_corpus, default_terms, distinct
from .layout import coordinates
from .levels import partitions
from .methods import Found
from .naming import PLACE, renamed
from .partition import Partition
from .predict import Predictor, restoring, saved_rows, under

SAME = 0.5  # of the documents of two clusters, to be one and the same
LARGER = 1.1  # ratio of shares from which a cluster has grown, or shrunken
GROWN = 2.0  # times as many documents as when terms were learned: more, and they are learned anew
NEAR = 5  # documents beside which a new one is drawn
WORDS = 5  # in a row: a sequence that only deleted documents have is a trace of them


def update_run(run: Run, documents: Any = None, *, delete: Iterable[str] = (), progress: Progress | None = None) -> Run:
    """Add documents to a run, delete others, and cluster again with the old answer as start.

    Terms and weights are learned anew, unless there are at most twice as many documents as when they were learned
    and all clusters survive; then the words of clusters and branches stay, too. The number of clusters
    stays, unless one loses all its documents. Edits are applied again; a warning says which no longer fit. Stability is
    not measured.

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
    light = not gone and _knows_terms(old, corpus)
    partition = _clustered(old, corpus, came_from, progress, light)
    if light and not _followed(old, partition.labels[partition.inputs.group], came_from)[0].all():
        light = False  # clusters that do not survive are described anew
        partition = _clustered(old, corpus, came_from, progress, light)
    places = _places(old, partition.gram, partition.inputs, came_from)
    parameters = {name: value for name, value in old.provenance.parameters.items() if name not in ("terms", PLACE)}
    made = build_run(partition, None, parameters, old.provenance.command, progress, places)
    made = replace(
        made, provenance=replace(made.provenance, columns=old.provenance.columns, source=old.provenance.source)
    )
    fits, became = _followed(old, made.evidence.labels, came_from)
    if light:
        made = _described(old, made, came_from, became)
    kept = {new: old.evidence.clusters[before].label for before, new in became.items() if fits[before]}
    lost = _texts_of(old, gone) if gone else []
    if gone:
        words = _words_of(corpus)
        kept = {new: name for new, name in kept.items() if set(_split(name)) <= words}
        forget_texts(lost)
    made = renamed(made, kept, [])
    entry = _entry(old, made, partition, came_from, len(gone & set(old.documents.ids)), fits, became)
    history = tuple(_forgotten(one, gone, kept) if gone else one for one in old.history)
    made = replace(made, history=(*history, entry))
    edits, notes = refit(made, _without(run.edits, gone, lost, corpus), old, became)
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
        raise InputError(f"delete must be ids of the run; {len(unknown)} are not, such as {min(unknown)[:60]!r}.")
    new = None if documents is None else _new(old, documents)
    coming = set() if new is None else set(new.ids)
    stay = np.array([i for i, one in enumerate(old.documents.ids) if one not in gone | coming], dtype=np.intp)
    count = 0 if new is None else len(new)
    if not len(stay) + count:
        raise InputError("an update must leave a document; this one deletes all.")

    def column(name: str, given: Sequence[str] | None) -> list[str] | None:
        held = getattr(old.documents, name)
        if held is None and given is None:
            return None
        kept = [""] * len(stay) if held is None else [held[int(i)] for i in stay]
        return [*kept, *([""] * count if given is None else given)]

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


def _new(old: Run, documents: Any) -> Corpus:
    if isinstance(documents, Corpus):
        return documents
    corpus = as_corpus(documents)
    if corpus is None:
        raise InputError(f"documents must be texts or a Corpus; got {type(documents).__name__}.")
    numbers = [int(one) for one in old.documents.ids if one.isascii() and one.isdigit()]
    first = max(numbers, default=len(old)) + 1
    return Corpus(corpus.texts, [str(first + i) for i in range(len(corpus))])


# -- the clusters


def _knows_terms(old: Run, corpus: Corpus) -> bool:
    """Return whether the terms that were learned will do: the run compares nothing else, and has not grown much."""
    model = old.model
    with restoring():
        known = int(model["words.n_documents"]) if "words.n_documents" in model and "data" in model else 0
    return old.provenance.parameters.get("terms") is not None and "group" in model and len(corpus) <= GROWN * known


def _clustered(old: Run, corpus: Corpus, came_from: NDArray[np.intp], progress: Progress, light: bool) -> Partition:
    """Place the new documents, and cluster all from there by kernel k-means."""
    kernel = parse_kernel(old.provenance.kernel)
    progress("reading terms", 0, 1)
    if light:
        inputs = _extended(old, corpus, came_from, kernel)
    else:
        with restoring():
            model = _unfitted(old)
        kernel, inputs = model._collect(corpus, kernel, None, progress)
    gram = kernel.gram(inputs.features, inputs.collection)
    progress("reading terms", 1, 1)
    before = np.where(came_from >= 0, old.evidence.labels[came_from], -1).astype(np.intp)
    start, out = _start(inputs, before, came_from)
    with restoring():
        seed, polish = old.provenance.seed or 0, bool(old.provenance.parameters["effort"]["polish"])
    labels, outcome = _continued(gram, start, out, inputs.weights, polish, seed)
    answer = next((name for name in old.levels if np.array_equal(old.level_labels(name), old.evidence.labels)), "")
    ks = {level.name: len(level.branches) for level in old.evidence.levels} if answer in ("middle", "") else {}
    levels = partitions(gram, labels, {**ks, "middle": int(labels.max()) + 1}, seed)
    predictor = Predictor.of(
        kernel, gram, inputs.features, labels, inputs.weights, inputs.vectorizer, polish, inputs.makers
    )
    found, choice = Found(labels, outcome, polish), old.evidence.choice
    return Partition(inputs, gram, labels, levels, "middle", found, predictor, choice, seed, inputs.notes())


def _unfitted(old: Run) -> Any:
    """Return a clusterer with the parameters of a run; default terms depend on the number of documents."""
    from .clusterer import DocumentClusterer
    from .parameters import restored

    words, _, given = restored(old)
    model = DocumentClusterer(**given)
    if words is not None and words != plain_parameters(default_terms(len(old))):
        model.terms = unpack_vectorizer(words, under("words.", old.model))
    return model


def _extended(old: Run, corpus: Corpus, came_from: NDArray[np.intp], kernel: Kernel) -> Inputs:
    """Return old documents as the model has them, and new ones in the same terms."""
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


def _described(old: Run, made: Run, came_from: NDArray[np.intp], became: dict[int, int]) -> Run:
    """Return a run with the words of the old clusters, and with the names of the old branches that are left."""
    seen, parts = made.evidence, ("terms", "describing", "phrases", "sentence")
    old_of = {after: old.evidence.clusters[before] for before, after in became.items()}
    clusters = tuple(
        replace(one, **{part: getattr(old_of[one.number], part) for part in parts}) for one in seen.clusters
    )
    was = np.flatnonzero((came_from >= 0) & (seen.leaves >= 0))
    was = was[old.evidence.leaves[came_from[was]] >= 0]
    counts = np.zeros((len(old.evidence.tree), len(seen.tree)), dtype=np.int64)
    np.add.at(counts, (old.evidence.leaves[came_from[was]], seen.leaves[was]), 1)
    for branch in reversed(old.evidence.tree[1:]):
        counts[branch.parent] += counts[branch.index]
    for branch in reversed(seen.tree[1:]):
        counts[:, branch.parent] += counts[:, branch.index]
    either = counts[:, :1] + counts[:1, :] - counts
    shared = counts / np.maximum(either, 1)
    tree = []
    for branch in seen.tree:
        best = int(shared[:, branch.index].argmax())
        known = shared[best, branch.index] >= SAME and branch.cluster < 0
        tree.append(replace(branch, label=old.evidence.tree[best].label) if known else branch)
    provenance = replace(made.provenance, languages=old.provenance.languages)
    return replace(made, provenance=provenance, evidence=replace(seen, clusters=clusters, tree=tuple(tree)))


def _start(
    inputs: Inputs, before: NDArray[np.intp], came_from: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Return the old cluster of each distinct document, −1 for a new one, and which were in no cluster."""
    m = len(inputs.first)
    start, out, known = np.full(m, -1, dtype=np.intp), np.zeros(m, dtype=bool), np.zeros(m, dtype=bool)
    was = np.flatnonzero(came_from >= 0)[::-1]  # of copies, the first counts
    start[inputs.group[was]] = before[was]
    known[inputs.group[was]] = True
    out[known & (start < 0)] = True
    return start, out


def _continued(
    gram: Gram, start: NDArray[np.intp], out: NDArray[np.bool_], weights: Array, polish: bool, seed: int
) -> tuple[NDArray[np.intp], str]:
    """Return clusters found from a start; documents that were in no cluster stay out, and empty clusters are left out.

    New documents are placed first, each in the cluster whose centroid is nearest.
    """
    if (start < 0).all():
        raise InputError("an update must leave an old document in a cluster; this one deletes all of them.")
    _, packed = np.unique(start[start >= 0], return_inverse=True)
    labels = np.full(len(start), -1, dtype=np.intp)
    labels[start >= 0] = packed
    k = int(labels.max()) + 1
    inside = np.flatnonzero(~out)
    part = gram if len(inside) == len(gram) else gram.take(inside)
    own = labels[inside]
    if (own < 0).any():
        heavy = np.maximum(weights[inside], 1e-9)  # a cluster may hold nothing but documents without terms
        own = np.where(own < 0, Centroids.of(part, own, k, heavy).fitted().argmin(axis=1), own)
    outcome = "converged"
    if k > 1:
        found = kernel_kmeans(
            part, k, init=own, n_init=1, polish=polish, sample_weight=weights[inside], random_state=seed
        )
        own, outcome = np.asarray(found.labels), str(found.outcome)
    labels = np.full(len(start), -1, dtype=np.intp)
    labels[inside] = own
    _, packed = np.unique(labels[labels >= 0], return_inverse=True)
    labels[labels >= 0] = packed
    return labels, outcome


def _places(old: Run, gram: Gram, inputs: Inputs, came_from: NDArray[np.intp]) -> Array:
    """Return the map: old documents where they were, new ones between those they resemble most.

    If there are more new documents than old ones, all are laid out.
    """
    was = np.flatnonzero(came_from >= 0)
    known = np.zeros(len(inputs.first), dtype=bool)
    known[inputs.group[was]] = True
    if 2 * known.sum() < len(known):
        return coordinates(gram)
    places = np.zeros((len(known), 2))
    places[inputs.group[was]] = old.layout.coordinates[came_from[was]]
    there, new = np.flatnonzero(known), np.flatnonzero(~known)
    base, near = gram.split_shift()[0], min(NEAR, len(there))
    for part in tiles(len(new), 8 * len(there)):
        block = np.asarray(base.block(new[part], there), dtype=np.float64)
        best = np.argpartition(-block, near - 1, axis=1)[:, :near]
        weights = np.maximum(np.take_along_axis(block, best, axis=1), 1e-6)
        shares = weights / weights.sum(axis=1, keepdims=True)
        places[new[part]] = (shares[:, :, None] * places[there[best]]).sum(axis=1)
    return places


# -- what became of the clusters


def _table(old: Run, labels: NDArray[Any], came_from: NDArray[np.intp]) -> NDArray[np.int64]:
    """Return how many of the documents that stay are in each old and each new cluster."""
    was = np.flatnonzero(came_from >= 0)
    a, b = old.evidence.labels[came_from[was]], labels[was]
    both = (a >= 0) & (b >= 0)
    counts = np.zeros((old.n_clusters, int(labels.max()) + 1), dtype=np.int64)
    np.add.at(counts, (a[both], b[both]), 1)
    return counts


def _followed(old: Run, labels: NDArray[Any], came_from: NDArray[np.intp]) -> tuple[NDArray[np.bool_], dict[int, int]]:
    """Return which old clusters survive, and the new number of each of them."""
    counts = _table(old, labels, came_from)
    rows, columns = counts.sum(axis=1), counts.sum(axis=0)
    fits = np.zeros(old.n_clusters, dtype=bool)
    became: dict[int, int] = {}
    for before in range(old.n_clusters):
        after = int(counts[before].argmax())
        either = rows[before] + columns[after] - counts[before, after]
        if either and counts[before, after] >= SAME * either and after not in became.values():
            fits[before], became[before] = True, after
    return fits, became


def _entry(
    old: Run,
    new: Run,
    partition: Partition,
    came_from: NDArray[np.intp],
    deleted: int,
    fits: NDArray[np.bool_],
    became: dict[int, int],
) -> Update:
    """Return the entry of the history: what became of every cluster."""
    counts = _table(old, new.evidence.labels, came_from)
    drift = _drift(partition, came_from)
    rows = counts.sum(axis=1)
    old_of = {after: before for before, after in became.items()}
    changes = []
    for cluster in new.evidence.clusters:
        taken = [b for b in range(old.n_clusters) if rows[b] and counts[b, cluster.number] > SAME * rows[b]]
        before = old_of.get(cluster.number)
        size = 0 if before is None else old.evidence.clusters[before].size
        if len(taken) > 1:
            kind = "merged"
        elif before is None:
            most = int(counts[:, cluster.number].max(initial=0))
            kind = "split" if most > SAME * max(1, counts[:, cluster.number].sum()) else "new"
        else:
            ratio = cluster.size / len(new) * len(old) / size
            kind = "grown" if ratio > LARGER else "shrunken" if ratio < 1 / LARGER else "kept"
        changes.append(Change(cluster.number, cluster.label, kind, size, cluster.size, drift[cluster.number]))
    for before in np.flatnonzero(~fits).tolist():
        lost = old.evidence.clusters[before]
        changes.append(Change(before, lost.label, "dead", lost.size, 0))
    was = np.flatnonzero(came_from >= 0)
    a, b = old.evidence.labels[came_from[was]], new.evidence.labels[was]
    follows = np.array([*(became.get(c, -2) for c in range(old.n_clusters)), -1])
    return Update(
        datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        len(new),
        int((came_from < 0).sum()),
        deleted,
        int((follows[a] != b).sum()),
        tuple(changes),
    )


def _drift(partition: Partition, came_from: NDArray[np.intp]) -> list[float | None]:
    """Return 1 − cosine of the centroids of the added documents and of those before, for every cluster."""
    inputs, labels = partition.inputs, partition.labels
    k, base = int(labels.max()) + 1, partition.gram.split_shift()[0]
    added = np.zeros(len(labels), dtype=bool)
    added[inputs.group[came_from < 0]] = True
    added[inputs.group[came_from >= 0]] = False
    parts = np.where(labels < 0, -1, labels + k * added)
    weights = np.maximum(inputs.weights, 0.0)
    sums = base.sum_by(parts, 2 * k, weights)
    total = sum_rows(sums, parts, 2 * k, weights)
    found: list[float | None] = []
    for cluster in range(k):
        norms = total[cluster, cluster] * total[k + cluster, k + cluster]
        known = norms > 0
        found.append(round(float(1 - total[cluster, k + cluster] / norms**0.5), 6) if known else None)
    return found


# -- forgetting


def _texts_of(run: Run, ids: set[str]) -> list[str]:
    """Return the texts and titles of documents."""
    documents, found = run.documents, []
    for place, one in enumerate(documents.ids):
        if one in ids:
            found += [column[place] for column in (documents.texts, documents.titles) if column is not None]
    return found


def _split(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def _words_of(corpus: Corpus) -> set[str]:
    """Return the words of texts and titles."""
    columns = [corpus.texts] if corpus.titles is None else [corpus.texts, corpus.titles]
    return {word for column in columns for text in column for word in _split(text)}


def _traces(texts: Iterable[str], corpus: Corpus) -> set[tuple[str, ...]]:
    """Return the sequences of words that these texts have and no document of the corpus."""
    own = {sequence for text in texts for sequence in _sequences(text)}
    columns: list[Texts] = [corpus.texts] if corpus.titles is None else [corpus.texts, corpus.titles]
    for column in columns:
        for text in column:
            if not own:
                return own
            own.difference_update(_sequences(text))
    return own


def _sequences(text: str) -> Iterable[tuple[str, ...]]:
    words = _split(text)
    return (tuple(words[i : i + WORDS]) for i in range(max(1, len(words) - WORDS + 1)) if words)


def _without(edits: Sequence[Edit], gone: set[str], lost: Sequence[str], corpus: Corpus) -> list[Edit]:
    """Return edits that mention none of the deleted documents, by id or by words that only they have."""
    if not gone:
        return list(edits)
    traces = _traces(lost, corpus)
    titles = {text.strip().casefold() for text in lost}

    def clean(name: str) -> str:
        told = name.strip().casefold() in titles or any(sequence in traces for sequence in _sequences(name))
        return "" if told else name

    kept = []
    for edit in edits:
        documents = tuple(one for one in edit.documents if one not in gone)
        if (edit.documents and not documents) or (edit.name and not clean(edit.name)):
            continue
        grafts = tuple(
            Graft(
                g.parent, clean(g.name) or "part", g.order, g.height, g.gain,
                tuple(one for one in g.documents if one not in gone),
            )
            for g in edit.grafts
        )  # fmt: skip
        kept.append(replace(edit, documents=documents, grafts=grafts))
    return kept


def _forgotten(entry: Update, gone: set[str], kept: dict[int, str]) -> Update:
    """Return an entry of the history without names that are not in use any more."""
    used = set(kept.values())
    return replace(
        entry,
        changes=tuple(one if one.name in used else replace(one, name="") for one in entry.changes),
    )
