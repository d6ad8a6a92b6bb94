"""Build a Run from an answer: everything that is reported about it."""

import hashlib
import platform
from codecs import lookup
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._array import Array
from ..._names import number_of
from ..._parallel import meanwhile
from ..._version import __version__
from ...describe import Cluster, Name, Typicality, Wording, describe
from ...describe.direction import DocumentMeaning
from ...errors import InputError
from ...gram import Gram
from ...gram.collection import content_names
from ...persist import Documents, Provenance, Run, RunEvidence
from ...persist.run import EXCERPT
from ...text import Texts, stop_words
from ...text.languages.segment import segment_words
from ...text.meaning.encoder import encoder_digest, load_encoder
from ...text.meaning.maker import MeaningInput
from ...text.store import Picked
from ...text.terms.persist import plain_parameters
from ..answer import Answer, Before
from ..find.levels import numbers
from ..given.extra_inputs import EMBEDDING
from ..given.extras import is_segmented, segmenter_version
from ..given.inputs import Inputs, empty_notes, read_for
from ..given.parameters import plain_values
from .duplicates import near_copies
from .naming import PLACE
from .tree_labels import level_records

SAMPLE = 200  # documents of the heatmap
PREDICTED_AGAIN = 1000  # documents at most that are shown again to a kernel without explicit features
PACKAGES = ("numpy", "scipy", "scikit-learn", "PyStemmer")


def build_run(answer: Answer) -> Run:
    """Return a complete answer as a Run."""
    inputs, group = answer.inputs, answer.inputs.group
    labels, steady = answer.labels, answer.stability
    words, model, unsaved = answer.telling.model()
    documents = np.full(len(labels), np.nan) if steady is None else steady.documents
    typical, (pairs, similarity) = answer.evidence, answer.duplicates
    excerpts, fingerprint, near = answer.telling.kept()
    notes = [*answer.notes, unsaved, *_remarks(answer, near)]
    notes += [] if answer.sample is None else answer.sample.notes()
    return Run(
        provenance=_provenance(answer, words, fingerprint),
        documents=_kept(inputs, excerpts),
        evidence=RunEvidence(
            labels=labels[group].astype(np.int32),
            clusters=answer.clusters,
            choice=answer.choice,
            levels=level_records(answer.nodes, answer.levels),
            tree=answer.tree,
            leaves=answer.leaves,
            second=typical.second[group].astype(np.int32),
            margin=typical.margin[group].astype(np.float32),
            oddness=typical.oddness[group].astype(np.float32),
            stability=documents[group].astype(np.float32),
            duplicates=pairs,
            duplicate_similarity=similarity,
            outcome=str(answer.clustering.outcome),
            objective=answer.predictor.objective(),
            agreement=answer.agreement,
            warnings=tuple(dict.fromkeys(filter(None, notes))),
        ),
        layout=answer.layout,
        model=model,
    )


def texts_kept(answer: Answer) -> tuple[Texts | None, str, int]:
    """Return what a run keeps of the texts: their beginnings and fingerprint, and how many are nearly copies."""
    inputs, before = answer.inputs, answer.before
    excerpts = old_excerpts(before, inputs) if before is not None else None
    if excerpts is None and inputs.has_texts:
        excerpts = _excerpts(inputs, range(inputs.n))
    if not inputs.has_texts:
        return excerpts, _fingerprint(inputs), 0
    return excerpts, inputs.corpus.fingerprint, near_copies(inputs.corpus.texts)


def old_excerpts(before: Before, inputs: Inputs) -> Texts | None:
    """Return the excerpts of old documents, and those of new ones; None if they are not known."""
    known, new = before.run.documents.excerpts, np.flatnonzero(before.came_from < 0).tolist()
    if known is None:
        return None
    return known.take(before.came_from[before.came_from >= 0]) + _excerpts(inputs, new)


def _excerpts(inputs: Inputs, rows: Sequence[int]) -> Texts:
    """Return the beginnings of documents, by rising row: without headers and markup, if that leaves anything."""
    given = inputs.corpus.texts
    counted = given if inputs.prepared is None else inputs.prepared.texts
    shown = counted if len(rows) == len(counted) else Picked(counted, rows)  # all are read faster in order
    return Texts(excerpt(text) or excerpt(given[at]) for at, text in zip(rows, shown, strict=True))


def _provenance(answer: Answer, words: dict[str, Any] | None, fingerprint: str) -> Provenance:
    """Return how the answer was made."""
    inputs, corpus, request, before = answer.inputs, answer.inputs.corpus, answer.request, answer.before
    if before is None:
        columns, source, languages = answer.rows.columns, corpus.source, inputs.languages()
        parameters = plain_values(request.parameters, request.method, request.effort, request.seed, inputs)
        parameters |= {} if answer.guidance is None or request.guide is None else {"guide": request.guide.record()}
        command = request.command
    else:
        old = before.run.provenance
        columns, source, command = old.columns, old.source, old.command
        parameters = {name: value for name, value in old.parameters.items() if name not in ("terms", PLACE)}
        languages = old.languages if before.keeps_terms else inputs.languages()
    return Provenance(
        kernel=str(answer.predictor.kernel),
        parameters={**parameters, "terms": words},
        seed=request.seed,
        command=command,
        source=source,
        fingerprint=fingerprint,
        created=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        seconds=round(answer.seconds, 3) if before is None else 0.0,
        versions=versions() | segmenter_version(inputs),
        languages=languages,
        columns=columns,
        collection={} if answer.sample is None else answer.sample.record(answer.n_clusters),
    )


def _kept(inputs: Inputs, excerpts: Texts | None) -> Documents:
    """Return what a run keeps of the documents themselves."""
    corpus = inputs.corpus
    texts = corpus.texts if inputs.has_texts else None
    return Documents(
        ids=corpus.ids,
        titles=corpus.titles,
        classes=None if corpus.labels is None else Texts(corpus.labels),
        dates=corpus.dates,
        texts=texts,
        excerpts=excerpts,
    )


def wording_of(inputs: Inputs) -> Wording | None:
    """Return the words of the distinct documents, for naming groups of them; None if they have no terms."""
    words, titles = inputs.words, inputs.corpus.titles
    if inputs.described is None or inputs.names is None:
        return None
    texts = inputs.corpus.texts if inputs.prepared is None else inputs.prepared.texts
    shown = read_for(inputs) if words is not None else inputs.first
    languages = () if inputs.prepared is None else inputs.prepared.preparation.languages
    return Wording(
        inputs.described,
        inputs.names,
        None if words is None else Picked(texts, shown),
        None if words is None else words.forms_,
        stop_words("smart") if words is None else words.stop_list(),
        inputs.weights,
        None if titles is None else Picked(titles, shown),
        segment_words if is_segmented(inputs) else None,
        _meaning_of(inputs),
        None if len(languages) < 2 or inputs.prepared is None else inputs.prepared.language[shown],
    )


def _meaning_of(inputs: Inputs) -> DocumentMeaning | None:
    """Return what the distinct documents mean; None if that is not compared, or its encoder is not here."""
    maker, installed = inputs.makers.get(EMBEDDING), encoder_digest()
    if not isinstance(maker, MeaningInput) or installed is None or maker.sha256 not in (None, installed):
        return None
    return DocumentMeaning(inputs.features[EMBEDDING], load_encoder().encode, inputs.weights)


def preload_meaning(inputs: Inputs) -> None:
    """Load the encoder that names will need in another thread."""
    if isinstance(inputs.makers.get(EMBEDDING), MeaningInput) and encoder_digest() is not None:
        lookup("cp437")  # an import in that thread would hold a lock in a copy of this process
        meanwhile(load_encoder)


def describe_clusters(answer: Answer, names: Callable[[], Sequence[Name] | None]) -> tuple[Cluster, ...]:
    """Describe the clusters; documents are indices into the whole collection, and sizes include copies.

    Their names are asked for when everything else is known.
    """
    inputs = answer.inputs
    steady = None if answer.stability is None else numbers(answer.stability.clusters)
    wording, measured = answer.telling.wording, answer.evidence
    described = describe(answer.gram, answer.labels, wording, names=names, counts=inputs.weights, measured=measured)
    sizes = np.bincount(answer.labels[inputs.group] + 1, minlength=len(described) + 1)[1:]

    def places(distinct: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(int(inputs.first[i]) for i in distinct)

    found = []
    for size, sure, one in zip(sizes.tolist(), steady or [None] * len(described), described, strict=True):
        shown: dict[str, Any] = {name: places(getattr(one, name)) for name in ("central", "borderline", "outliers")}
        found.append(replace(one, size=size, stability=sure, **shown))
    return tuple(found)


def heatmap_sample(gram: Gram, seen: Typicality) -> tuple[NDArray[np.intp], Array]:
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


def self_prediction_rate(answer: Answer) -> float:
    """Return the share of the documents that would get their own label if they were new."""
    inputs, labels = answer.inputs, answer.labels
    features, shown = inputs.features, np.flatnonzero(labels >= 0)
    if len(shown) > PREDICTED_AGAIN and answer.gram.split_shift()[0]._compared_with() > 0:
        shown = shown[np.linspace(0, len(shown) - 1, PREDICTED_AGAIN).astype(np.intp)]
    new = answer.predictor.kernel.as_new(features, shown)
    same = answer.predictor.predict_features(new).labels == labels[shown]
    counts = np.bincount(inputs.group, minlength=len(labels))[shown]
    return round(float(counts @ same / counts.sum()), 6)


def saved_model(answer: Answer) -> tuple[dict[str, Any] | None, dict[str, Any], str]:
    """Return the vectorizer's parameters and the arrays for prediction; none, and a note, if they cannot be saved."""
    vectorizer = answer.inputs.vectorizer
    try:
        arrays = answer.predictor.arrays()
        rows = {"group": answer.inputs.group.astype(np.int32)} if arrays else {}  # the row of each document
        if arrays and answer.confidence is not None:
            rows["confidence"] = answer.confidence.astype(np.float64)
        return (None if vectorizer is None else plain_parameters(vectorizer)), arrays | rows, ""
    except InputError as error:
        return None, {}, f"A saved run cannot assign new documents: {error}"


def _remarks(answer: Answer, near: int) -> Iterator[str]:
    """Yield notes for the reader of the result."""
    inputs, outcome, agreement = answer.inputs, answer.clustering.outcome, answer.agreement
    copies = inputs.n - len(inputs.first)
    yield from empty_notes(inputs, answer.missing)
    if copies:
        of = "is a copy of another" if copies == 1 else "are copies of others"
        yield f"{number_of(copies, 'document')} {of}. Copies always share a group."
    if near:
        yield (
            f"{near:,} of {number_of(inputs.n, 'document')} are nearly copies of each other: they share four fifths of "
            "their words. Groups among them rest on the few words that differ."
        )
    if outcome != "converged" and not answer.predictor.polished:
        yield f"The clustering stopped before it settled ({outcome}); a few borderline documents may belong elsewhere."
    if agreement < 1.0:
        yield f"Assigned as if they were new, {agreement:.1%} of the documents would come to their own cluster."


def excerpt(text: str) -> str:
    """Return the first characters of a text, with white space collapsed."""
    begin = text[:EXCERPT]
    if begin.isprintable() and "  " not in begin and begin == begin.strip(" "):  # blanks are the only printable space
        return begin
    short = " ".join(text[: 2 * EXCERPT].split())  # mostly enough
    enough = len(short) >= EXCERPT or len(text) <= 2 * EXCERPT
    return (short if enough else " ".join(text[: 8 * EXCERPT].split()))[:EXCERPT]


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
