"""Actions that take a while: clustering one cluster again, seed words, and new documents. Each returns another run."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .._progress import Progress
from ..documents import DocumentClusterer, Guide, cluster_within, keep_answer, update_run
from ..documents.given.parameters import restored
from ..errors import InputError, RunError
from ..persist import Edit, Run
from ..persist.edits import free_name
from ..text import Corpus

MOST_TOPICS, MOST_WORDS = 200, 50  # words of one topic


def divide_cluster(run: Run, asked: Mapping[str, Any], dropped: Mapping[int, Corpus], progress: Progress) -> Run:
    """Cluster the documents of one cluster again, and split it into the clusters that are found."""
    cluster = asked.get("cluster")
    if type(cluster) is not int or not 0 <= cluster < run.n_clusters:
        raise InputError(f"cluster must be a number from 0 to {run.n_clusters - 1}.")
    model = DocumentClusterer()
    inside = cluster_within(run, cluster, model, progress)
    if model.run_.n_clusters < 2:
        raise InputError("Nothing inside this cluster sets some of its documents apart. It stays as it is.")
    try:
        return inside.edited(Edit("split", (cluster,), parts=model.run_.n_clusters))
    except InputError:
        return inside.edited(Edit("split", (cluster,), parts=2))


def guide_by_words(run: Run, asked: Mapping[str, Any], dropped: Mapping[int, Corpus], progress: Progress) -> Run:
    """Cluster all documents again, with words of topics that are expected; names and edits that still fit are kept."""
    corpus, seeds = _corpus(run), _seeds(asked.get("seeds"))
    model = DocumentClusterer(**restored(run)[2])
    made = model.fit(corpus, guide=Guide(seeds=seeds), progress=progress).run_
    provenance = replace(made.provenance, columns=run.provenance.columns, command="")
    return _named(keep_answer(replace(made, provenance=provenance), run), made, seeds)


def _named(run: Run, made: Run, topics: Mapping[str, Any]) -> Run:
    """Return a run whose clusters have the names of the topics that they were found by, in place of kept ones."""
    edits = []
    for cluster in made.evidence.clusters:
        now = run.evidence.labels[made.evidence.labels == cluster.number]
        if cluster.name in topics and (now >= 0).any():
            edits.append(Edit("rename", (int(np.bincount(now[now >= 0]).argmax()),), name=cluster.name))
    return run.edited(*edits) if edits else run


def add_dropped(run: Run, asked: Mapping[str, Any], dropped: Mapping[int, Corpus], progress: Progress) -> Run:
    """Add the documents of dropped files to the run."""
    wanted = asked.get("dropped")
    if not isinstance(wanted, list) or not wanted or not all(type(one) is int and one in dropped for one in wanted):
        raise InputError("These files are no longer there. Drop them again.")
    for number in dict.fromkeys(wanted):
        run = update_run(run, _fresh(run, dropped[number]), progress=progress)
    return run


def _corpus(run: Run) -> Corpus:
    """Return the documents of a run."""
    kept = run.documents
    if kept.texts is None:
        raise RunError("This run holds no texts, so that its documents cannot be clustered again.")
    if run.provenance.collection:
        raise RunError("This run holds a part of its documents, so that they cannot be clustered again here.")
    return Corpus(kept.texts, kept.ids, kept.classes, kept.titles, kept.dates, run.provenance.source)


def _fresh(run: Run, corpus: Corpus) -> Corpus:
    """Return new documents with ids that the run does not have."""
    taken, ids = set(run.documents.ids), []
    for one in corpus.ids:
        ids.append(free_name(one, taken))
        taken.add(ids[-1])
    return Corpus(corpus.texts, ids, corpus.labels, corpus.titles, corpus.dates, corpus.source, notes=corpus.notes)


def _seeds(given: Any) -> dict[str, Sequence[str]]:
    """Return the words of every topic."""
    fits = isinstance(given, dict) and 0 < len(given) <= MOST_TOPICS
    if not fits or not all(_are_words(words) for words in given.values()):
        raise InputError(f"seeds must be 1 to {MOST_TOPICS} topics with 1 to {MOST_WORDS} words each.")
    return dict(given)


def _are_words(words: Any) -> bool:
    return isinstance(words, list) and 0 < len(words) <= MOST_WORDS and all(isinstance(one, str) for one in words)


LongAction = Callable[[Run, Mapping[str, Any], Mapping[int, Corpus], Progress], Run]
# Name of the action: what the reader sees while it is under way, what does it, and whether it only adds edits.
LONG: dict[str, tuple[str, LongAction, bool]] = {
    "within": ("Clustering inside the cluster", divide_cluster, True),
    "guide": ("Clustering with your words", guide_by_words, False),
    "add": ("Adding the documents", add_dropped, False),
}
