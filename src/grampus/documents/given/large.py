"""Collections that are too large to be held: a sample is clustered, and every document is assigned.

Up to `HELD_DOCUMENTS` documents, all of them are clustered, whoever reads them and in how many pieces. Of more, a
sample drawn by content goes through the pipeline, and all pieces are assigned by its predictor.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._array import Array
from ..._files import new_folder
from ..._progress import Progress
from ...cluster.kmeans.centroids import Centroids
from ...errors import InputError
from ...persist import Run
from ...run import Record, Runner, runner_for, using
from ...run.dask import dask_runner, is_dask
from ...text import Corpus, Texts
from ...text.readers.pieces import Pieces
from ...text.readers.tables import import_extra
from ...text.spool import Spool, cut_corpus, join_corpora, text_digests
from ..find.levels import Partitions
from ..find.outliers import Familiarity, familiarity
from ..find.predict import Predictor
from .frames import read_rows
from .guide import Guide
from .inputs import Inputs, as_corpus

HELD_DOCUMENTS, HELD_BYTES = 500_000, 1_000_000_000  # documents and bytes of text that are clustered as a whole
SAMPLE = 100_000  # different documents of a larger collection that are clustered
PIECE = 50_000  # documents of a piece of a corpus in memory
FOUND = "found"  # the step of the assigned documents


def is_held(documents: int, nbytes: int) -> bool:
    """Return whether a collection of this size is clustered as a whole."""
    return documents <= HELD_DOCUMENTS and nbytes <= HELD_BYTES


def is_in_pieces(X: Any) -> bool:
    """Return whether documents come in pieces."""
    return isinstance(X, Spool | Pieces) or is_dask(X)


@contextmanager
def gathered(
    X: Any, *, text: str | None = None, client: Any = None, scratch: str | PathLike[str] | None = None, job: Any = None
) -> Iterator[Any]:
    """Give documents as the pipeline reads them: a corpus, or a `Spool` of one that is too large; others unchanged.

    Inside the block the workers of a Dask client do what goes over documents.

    Parameters
    ----------
    X : anything that ``fit`` takes
    text : str, optional
        Column of the texts in partitions of a Dask frame.
    client : distributed.Client, optional
    scratch : path, optional
        Where to keep pieces, instead of memory; see `Spool`.
    job : optional
        What a job depends on besides its documents, to be told from others in the scratch folder.
    """
    runner: Runner | None = dask_runner(client) if client is not None or is_dask(X) else None
    with nullcontext() if runner is None else using(runner):
        if isinstance(X, Spool):
            yield _whole(X)
            return
        if not is_in_pieces(X) and scratch is None:
            yield X
            return
        corpora, source, state = _corpora(X, text, runner)
        with Spool(scratch, [job, state], source) as spool:
            spool.read(corpora)
            if not spool.documents:
                raise InputError("There must be at least one document; got none.")
            yield _whole(spool)


def _whole(spool: Spool) -> Corpus | Spool:
    return spool.corpus() if is_held(spool.documents, spool.nbytes) else spool


def _corpora(X: Any, text: str | None, runner: Runner | None) -> tuple[Iterator[Corpus], str, Any]:
    """Return the pieces of documents, where they come from, and what tells whether they have changed."""
    if isinstance(X, Pieces):
        return iter(X), X.source, X.state()
    if is_dask(X):
        assert runner is not None
        futures = runner.client.compute(list(X.to_delayed()))  # type: ignore[attr-defined]
        return runner.map(_partition, list(enumerate(futures)), text), "Dask", [str(X)]
    corpus = as_corpus(X)
    if corpus is None:
        raise InputError(f"scratch is for texts; X is of type {type(X).__name__}. Leave it out.")
    return _cut(corpus), corpus.source, corpus.fingerprint


def _cut(corpus: Corpus) -> Iterator[Corpus]:
    return cut_corpus(corpus, [slice(first, first + PIECE) for first in range(0, max(len(corpus), 1), PIECE)])


def _partition(piece: tuple[int, Any], text: str | None) -> Corpus:
    """Return a partition of a Dask collection as a corpus; ids begin with its number."""
    place, values = piece
    corpus = read_rows(values if hasattr(values, "columns") else list(values), text).X
    corpus = corpus if isinstance(corpus, Corpus) else Corpus(corpus)
    return replace(corpus, ids=Texts(f"{place}:{one}" for one in corpus.ids))


@dataclass(frozen=True)
class LargeSample:
    """The documents of a large collection that are clustered, and the pieces of all.

    Attributes
    ----------
    corpus : Corpus
        Different documents, drawn by content.
    copies : array of shape (s,)
        How often each of them occurs.
    spool : Spool
    labels : array of shape (n,)
        The cluster of every document, once they are assigned.
    """

    corpus: Corpus
    copies: Array
    spool: Spool
    labels: list[NDArray[np.int32]] = field(default_factory=list)

    def weigh(self, inputs: Inputs) -> Inputs:
        """Return the inputs of the sample with copies counted."""
        copies = np.bincount(inputs.group, weights=self.copies, minlength=len(inputs.first))
        return replace(inputs, weights=np.where(inputs.weights > 0, copies, 0.0))

    def assign(
        self, predictor: Predictor, levels: Partitions, level: str, aside: NDArray[np.bool_], progress: Progress
    ) -> None:
        """Assign the documents of all pieces; `labels` and the spool's step "found" have what came of it."""
        model = Assignment.of(predictor, levels, level, aside)
        runner, done = runner_for(self.spool.nbytes, held=self.spool.held, compares=True), 0
        progress("assigning all", 0, self.spool.documents)

        def counted() -> Iterator[Record]:
            nonlocal done
            for record in runner.map(assign_piece, self.spool, model):
                self.labels.append(np.asarray(record["cluster"]))
                done += len(self.labels[-1])
                progress("assigning all", done, self.spool.documents)
                yield record

        self.spool.keep(FOUND, counted())

    def record(self, n_clusters: int) -> dict[str, Any]:
        """Return what a run records about the whole collection."""
        labels = np.concatenate(self.labels)
        sizes = np.bincount(labels[labels >= 0], minlength=n_clusters)
        counts = {"documents": self.spool.documents, "shown": len(self.corpus), "pieces": len(self.spool)}
        return counts | {"sizes": sizes.tolist()}

    def notes(self) -> list[str]:
        """Return what a reader should know."""
        return [
            f"The clusters were found on {len(self.corpus):,} different documents of {self.spool.documents:,}, drawn "
            "by content; all others were assigned to them. The run and its page show the sample; the counts are those "
            "of all. Near-duplicates were looked for in the sample."
        ]


def draw_sample(X: Any, seed: int, guide: Guide | None) -> LargeSample | None:
    """Return a sample of a collection that is too large to be held; None for any other.

    Parameters
    ----------
    X : Spool, Corpus, or any other documents
    seed : int
    guide : Guide or None
        One that names documents is refused: they may not be in the sample.
    """
    if isinstance(X, Corpus) and not is_held(len(X), X.texts.nbytes):
        spool = Spool(source=X.source)
        spool.read(_cut(X))
        return draw_sample(spool, seed, guide)
    if not isinstance(X, Spool):
        return None
    if guide is not None and (len(guide.must_link) or len(guide.cannot_link) or guide.labels is not None):
        raise InputError(
            f"A guide must name words, not documents, for more than {HELD_DOCUMENTS:,} documents: only a sample of "
            "them is clustered. Give seeds of words, or cluster fewer documents."
        )
    runner = runner_for(X.nbytes, held=X.held)
    digests = np.concatenate(list(runner.map(text_digests, X)))
    different, copies = np.unique(digests, return_counts=True)
    drawn = _draw(different, SAMPLE, seed)
    found = list(runner.map(_pick, X, drawn))
    corpus = join_corpora((picked for _, picked in found), X.source)
    first = _first(np.concatenate([digests for digests, _ in found]), corpus.ids)
    corpus = corpus.take([first[digest] for digest in drawn.tolist()])
    counts = copies[np.searchsorted(different, drawn)].astype(np.float64)
    return LargeSample(replace(corpus, notes=X.notes), counts, X)


def _draw(digests: NDArray[np.uint64], count: int, seed: int) -> NDArray[np.uint64]:
    """Return `count` of the digests: those that come first when they are mixed with the seed."""
    if len(digests) <= count:
        return digests
    mixed = (digests ^ np.uint64(seed)) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(29)
    return np.sort(digests[np.argsort(mixed, kind="stable")[:count]])


def _pick(corpus: Corpus, wanted: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], Corpus]:
    """Return the documents of a piece with these digests, one each, and their digests."""
    digests = text_digests(corpus)
    at = np.flatnonzero(wanted[np.minimum(np.searchsorted(wanted, digests), len(wanted) - 1)] == digests)
    places = at[list(_first(digests[at], corpus.ids.take(at)).values())]
    return digests[places], corpus.take(places)


def _first(digests: NDArray[np.uint64], ids: Sequence[str]) -> dict[int, int]:
    """Return a place for every digest: of copies, that of the first id."""
    found: dict[int, int] = {}
    for place, digest in enumerate(digests.tolist()):
        if digest not in found or ids[place] < ids[found[digest]]:
            found[digest] = place
    return found


@dataclass(frozen=True)
class Assignment:
    """What assigns a document to a cluster of each level.

    Attributes
    ----------
    predictor : Predictor
    coarser : dict of str to array
        The cluster of a coarser level that each cluster is part of.
    finer : dict of str to pair
        The centroids of a finer level, and the cluster of the level above that each of its clusters is part of.
    familiar, limit : Familiarity and float, or None
        Documents that resemble the fitted ones no more than this are in no cluster.
    """

    predictor: Predictor
    coarser: dict[str, NDArray[np.intp]]
    finer: dict[str, tuple[Centroids, NDArray[np.intp]]]
    familiar: Familiarity | None = None
    limit: float = 0.0

    @classmethod
    def of(cls, predictor: Predictor, levels: Partitions, level: str, aside: NDArray[np.bool_]) -> Assignment:
        """Return the assignment to the clusters of a level, and to those of the others around it."""
        names, labels = list(levels), levels[level]
        inside = labels >= 0
        coarser, finer, above = {}, {}, labels
        for name in names:
            other, k = levels[name], int(levels[name].max()) + 1
            if names.index(name) < names.index(level):
                coarser[name] = np.zeros(int(labels.max()) + 1, dtype=np.intp)
                coarser[name][labels[inside]] = other[inside]
            elif name != level:
                parents = np.zeros(k, dtype=np.intp)
                parents[other[inside]], above = above[inside], other
                finer[name] = Centroids.of(predictor.gram, other, k, predictor.weights), parents
        kernel, features, weights = predictor.kernel, predictor.features, predictor.weights
        unlike = aside & (weights > 0)  # the others have nothing to compare
        if not unlike.any():
            return cls(predictor, coarser, finer)
        limit = float(familiarity(kernel, features, weights)[unlike].max())
        return cls(predictor, coarser, finer, Familiarity.of(kernel, features, weights), limit)


def assign_piece(corpus: Corpus, model: Assignment) -> Record:
    """Return cluster, second choice, margin, levels and similarity to the cluster of the documents of a piece."""
    if not len(corpus):
        return {"cluster": np.empty(0, np.int32)}
    features = model.predictor.features_of(corpus)
    nearest = model.predictor.predict_features(features)
    labels = nearest.labels
    record: dict[str, NDArray[Any]] = {"second": nearest.second.astype(np.int32)}
    record |= {name: other[labels].astype(np.int32) for name, other in model.coarser.items()}
    above = labels
    for name, (centroids, parents) in model.finer.items():
        squared = np.concatenate(list(centroids.new(features, unknown="left out")))
        squared[parents[None, :] != above[:, None]] = np.inf
        above = squared.argmin(axis=1)
        record[name] = above.astype(np.int32)
    outside = ~nearest.known
    if model.familiar is not None:
        outside |= model.familiar.compare(features) <= model.limit
    labels = np.where(outside, -1, labels)
    return {"cluster": labels.astype(np.int32), "margin": nearest.margin.astype(np.float32), **record}


def write_tables(documents: Spool | Corpus, folder: Path, run: Run) -> int:
    """Write the results of all documents as a folder of Parquet files, one for each piece; return how many.

    The folder appears whole or not at all, and replaces an older one of such files; after an error the older one is
    there.

    Parameters
    ----------
    documents : Spool or Corpus
        That was fitted.
    folder : Path
    run : Run
    """
    pyarrow, parquet = (import_extra(name, "parquet") for name in ("pyarrow", "pyarrow.parquet"))
    if folder.exists() and not all(file.suffix == ".parquet" for file in folder.iterdir()):
        raise InputError(f"The tables need a folder of their own; {folder} holds other files.")
    count = 0
    with new_folder(folder, over=True) as fresh:
        for count, columns in enumerate(document_tables(documents, run), 1):
            parquet.write_table(pyarrow.table(columns), fresh / f"part-{count - 1:05d}.parquet")
    return count


def document_tables(documents: Spool | Corpus, run: Run) -> Iterator[dict[str, Any]]:
    """Yield the table of every piece: id, cluster and its name, other levels, second choice, margin, copies.

    Parameters
    ----------
    documents : Spool or Corpus
        That was fitted.
    run : Run
    """
    names = np.array([*(cluster.name for cluster in run.evidence.clusters), None], dtype=object)
    pieces: list[Corpus] | Spool = [documents] if isinstance(documents, Corpus) else documents
    digests = np.concatenate([text_digests(corpus) for corpus in pieces])
    different, copies = np.unique(digests, return_counts=True)
    records = [_record(run)] if isinstance(documents, Corpus) else documents.kept(FOUND)
    for corpus, record in zip(pieces, records, strict=True):
        labels = np.asarray(record["cluster"])
        if len(labels):
            yield {
                "id": list(corpus.ids),
                "cluster": labels,
                "name": names[labels].tolist(),
                **{name: np.asarray(record[name]) for name in run.levels if name in record},
                "second": np.asarray(record["second"]),
                "margin": np.asarray(record["margin"]),
                "copies": copies[np.searchsorted(different, text_digests(corpus))],
            }


def _record(run: Run) -> Record:
    """Return the results of a run as those of one piece."""
    shown = run.evidence
    others = {name: run.level_labels(name) for name in run.levels}
    others = {name: labels for name, labels in others.items() if not np.array_equal(labels, shown.labels)}
    return {"cluster": shown.labels, "second": shown.second, "margin": shown.margin, **others}
