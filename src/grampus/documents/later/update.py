"""Update a run: add documents, delete others, and cluster again from the answer that is there.

Numbers and names of clusters that survive stay. Everything else is computed anew from the documents that are left, so
nothing of a deleted document remains.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._progress import Progress
from ...errors import InputError, RunError
from ...kernels import parse_kernel
from ...persist import Documents, Run
from ...persist.edits import refit
from ...persist.upgrade import gone_note
from ...text import Corpus, Texts
from ...text.clean import Cleaning
from ...text.embed.maker import EmbeddingInput
from ...text.embed.store import forget_texts
from ...text.meaning.maker import MeaningInput
from ...text.meaning.opening import openings
from ...text.terms.persist import plain_parameters, unpack_vectorizer
from ..answer import NOT_YET, Answer, Before, Request
from ..find.predict import named_input, restoring, saved_makers, saved_rows, stacked, under
from ..given.extras import require_extras
from ..given.frames import Rows, read_rows
from ..given.inputs import as_corpus, default_terms
from ..given.parameters import restored
from ..pipeline import STAGES, advance, cluster
from ..tell.build_run import build_run
from ..tell.naming import renamed
from .follow import entry, followed
from .forget import forgotten, split_words, without, words_of_corpus
from .stages import keeps_terms


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
    documents : Corpus, or sequence or mapping of str, optional
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
    >>> run = DocumentClusterer(2, embed=None).fit(texts).run_
    >>> later = update_run(run, ["a whale song", "birds"], delete=["1"])
    >>> list(later.documents.ids), later.evidence.labels.tolist()
    (['2', '3', '4', '5', '6'], [1, 0, 0, 1, 0])
    >>> later.history[-1].added, later.history[-1].deleted
    (2, 1)
    """
    progress, gone = progress or (lambda *_: None), set(delete)
    old = run if run.original is None else run.original
    require_extras(old.provenance)
    with restoring():
        makers = saved_makers(old.model)
    for maker in makers.values():
        if isinstance(maker, EmbeddingInput):
            maker.check_model()
    corpus, came_from = _joined(old, documents, gone)
    answer = _answered(old, corpus, came_from, bool(gone), progress)
    made = build_run(answer)
    became = followed(old, made.evidence.labels, came_from)
    kept = {new: old.evidence.clusters[before].name for before, new in became.items()}
    lost: list[str] = []
    if gone:
        left = old.documents.take([place for place, one in enumerate(old.documents.ids) if one in gone])
        lost = [*(left.texts or ()), *(left.titles or ())]
        words = words_of_corpus(corpus)
        kept = {new: name for new, name in kept.items() if set(split_words(name)) <= words}
        forget_texts([*lost, *_openings(old, left)])
    made = renamed(made, kept, [])
    now = entry(old, made, answer, came_from, len(gone & set(old.documents.ids)), became)
    history = tuple(forgotten(one, kept) if gone else one for one in old.history)
    made = replace(made, history=(*history, now))
    edits, notes = refit(made, without(run.edits, gone, lost, corpus), old, became)
    if notes:
        made = replace(made, evidence=replace(made.evidence, warnings=(*made.evidence.warnings, *notes)))
    return made._with(edits)


def _answered(old: Run, corpus: Corpus, came_from: NDArray[np.intp], forgets: bool, progress: Progress) -> Answer:
    """Run the pipeline from the older answer; with terms learned again where a cluster would not survive in the old."""
    keeps, guided = not forgets and keeps_terms(old, corpus), "guide" in old.provenance.parameters
    with restoring():
        words, polish, parameters = restored(old)
        if words is not None and words != plain_parameters(default_terms(len(old))):
            parameters |= {"terms": unpack_vectorizer(words, under("words.", old.model))}
    parameters = {"terms": None, "outliers": None} | parameters
    kernel, seed = parse_kernel(old.provenance.kernel), old.provenance.seed or 0
    method, effort = parameters["method"], parameters["effort"]
    request = Request(parameters, kernel, method, effort, seed, old.provenance.command, None, progress)
    before = Before(old, came_from, keeps, forgets or guided, False, polish, forgets)
    begun = Answer(request, Rows(corpus), before=before)
    clustered = STAGES[: STAGES.index(cluster) + 1]
    answer = advance(begun, clustered)
    if answer.clustering is NOT_YET:
        answer = advance(replace(begun, before=replace(before, keeps_terms=False, lost=True)), clustered)
    return advance(answer, STAGES[len(clustered) :])


def _openings(run: Run, documents: Documents) -> list[str]:
    """Return what of documents an encoder may have read."""
    corpus = Corpus(documents.texts or (), titles=documents.titles)
    with restoring():
        used = {maker.cleaning for maker in saved_makers(run.model).values() if isinstance(maker, MeaningInput)}
    return [one for cleaning in {None, Cleaning(), *used} for one in openings(corpus, cleaning)]


# -- the documents


def _joined(old: Run, documents: Any, gone: set[str]) -> tuple[Corpus, NDArray[np.intp]]:
    """Return old documents that stay and new ones, and the old position of each; −1 for a new one."""
    if old.provenance.collection:
        raise RunError(
            f"This run cannot be updated: it holds {len(old):,} of its {old.n_documents:,} documents. Assign "
            "new documents with assign, or cluster old and new files together again."
        )
    if gone_note(old.provenance.parameters):
        raise RunError(
            "This run cannot be updated: it compares word vectors by name, which are gone since version 0.3. Cluster "
            "its documents and the new ones together again."
        )
    if old.documents.texts is None:
        raise RunError("This run cannot be updated: it holds no texts. Recreate it with texts.")
    unknown = gone - set(old.documents.ids)
    if unknown:
        raise InputError(
            f"delete must be ids of the run; {len(unknown)} of {len(gone)} are not in it, such as "
            f"{min(unknown)[:60]!r}: deleted before, or never in it. Nothing was changed."
        )
    new = Corpus([]) if documents is None else _new(old, documents)
    leaving, count = gone | set(new.ids), len(new)
    stay = np.array([i for i, one in enumerate(old.documents.ids) if one not in leaving], dtype=np.intp)
    if not len(stay) + count:
        raise InputError("an update must leave a document; this one deletes all.")

    def column(name: str, given: Sequence[str] | None) -> Texts | None:
        held = getattr(old.documents, name)
        if held is None and given is None:
            return None
        kept = Texts([""] * len(stay)) if held is None else held.take(stay)
        return kept + (given if isinstance(given, Texts) else Texts([""] * count if given is None else given))

    given = {"texts": new.texts, "ids": new.ids, "classes": new.labels, "titles": new.titles, "dates": new.dates}
    texts, ids, classes, titles, dates = (column(name, values) for name, values in given.items())
    assert texts is not None
    made: dict[str, Any] = {"notes": new.notes, "inputs": _joined_inputs(old, stay, new)}
    corpus = Corpus(texts, ids, classes, titles, dates, old.provenance.source, **made)
    return corpus, np.concatenate([stay, np.full(count, -1, dtype=np.intp)])


def _joined_inputs(old: Run, stay: NDArray[np.intp], new: Corpus) -> dict[str, Any]:
    """Return the rows of numbers that came with the documents, of old ones and of new ones."""
    if "group" not in old.model:
        return {}
    with restoring():
        made, rows = saved_makers(old.model), saved_rows(old.model)
    given = {name: rows[name][stay] for name in rows if name not in ("terms", "text", *made)}
    if not len(new):
        return given
    return {name: stacked(held, named_input(name, new, {})) for name, held in given.items()}


def _new(old: Run, documents: Any) -> Corpus:
    if isinstance(documents, Corpus):
        return documents
    if isinstance(documents, Mapping):
        return read_rows(documents).X
    corpus = as_corpus(documents)
    if corpus is None:
        raise InputError(f"documents must be texts or a Corpus; got {type(documents).__name__}.")
    numbers = [int(one) for one in old.documents.ids if one.isascii() and one.isdigit()]
    first = max(numbers, default=len(old)) + 1
    return Corpus(corpus.texts, [str(first + i) for i in range(len(corpus))])
