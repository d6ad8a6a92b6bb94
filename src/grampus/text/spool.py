"""A collection in pieces: corpora one after the other, in memory or in a scratch folder."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from hashlib import blake2b
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._config import settings
from ..run import Record, Scratch
from .corpus import Corpus
from .store import Texts, join_texts

COLUMNS = ("texts", "ids", "labels", "titles", "dates")
_TEXTS = "texts"


class Spool:
    """The pieces of a collection, and results for each of them.

    They are kept in memory, within a quarter of the budget, unless a place is named; beyond it in a scratch folder.

    Parameters
    ----------
    place : path, optional
        Where to make the scratch folder; an interrupted job with the same documents and parameters resumes from it.
    job : dict
        What the job depends on.
    source : str

    Attributes
    ----------
    documents, nbytes : int
        Number of documents, and bytes of their texts.

    Examples
    --------
    >>> from grampus.text import Corpus
    >>> from grampus.text.spool import Spool
    >>> with Spool() as spool:
    ...     spool.read([Corpus(["whale song"], ["a"]), Corpus(["bird nest"], ["b"])])
    ...     len(spool), spool.documents, list(spool.corpus().ids)
    (2, 2, ['a', 'b'])
    """

    def __init__(self, place: str | os.PathLike[str] | None = None, job: Any = None, source: str = "memory") -> None:
        self.source, self._place, self._job = source, place, {"job": job, "source": source}
        self._scratch = None if place is None else Scratch(place, self._job)
        self._pieces: list[Corpus] = []
        self._results: dict[tuple[str, int], Record] = {}
        self._count = self.documents = self.nbytes = 0
        self._notes: tuple[str, ...] = ()

    def __enter__(self) -> Spool:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Any) -> None:
        if self._scratch is not None:
            self._scratch.__exit__(kind, error, trace)

    def __len__(self) -> int:
        return self._count

    @property
    def held(self) -> bool:
        """Whether all pieces are in memory."""
        return self._scratch is None

    def read(self, corpora: Iterable[Corpus]) -> None:
        """Take in the pieces of a collection, once; those of an interrupted job are there."""
        known = None if self._scratch is None else self._scratch.finished(_TEXTS)
        for corpus in corpora if known is None else map(self._stored, range(known)):
            self._add(corpus, stored=known is not None)
        if self._scratch is not None and known is None:
            self._scratch.finish(_TEXTS, self._count)

    def _add(self, corpus: Corpus, *, stored: bool) -> None:
        self.documents += len(corpus)
        self.nbytes += corpus.texts.nbytes
        self._notes = tuple(dict.fromkeys((*self._notes, *corpus.notes)))
        if self._scratch is None and self.nbytes > settings().memory // 4:
            self._scratch = Scratch(None, self._job)
            for place, piece in enumerate(self._pieces):
                self._scratch.write(_TEXTS, place, pack_corpus(piece))
            self._pieces = []
        if self._scratch is None:
            self._pieces.append(corpus)
        elif not stored:
            self._scratch.write(_TEXTS, self._count, pack_corpus(corpus))
        self._count += 1

    def _stored(self, place: int) -> Corpus:
        assert self._scratch is not None
        return unpack_corpus(self._scratch.read(_TEXTS, place), self.source)

    def __iter__(self) -> Iterator[Corpus]:
        if self._scratch is None:
            return iter(self._pieces)
        return map(self._stored, range(self._count))

    def corpus(self) -> Corpus:
        """Return all documents as one corpus."""
        return replace(join_corpora(self, self.source), notes=self._notes)

    @property
    def notes(self) -> tuple[str, ...]:
        """What was noted when the documents were read."""
        return self._notes

    def keep(self, name: str, records: Iterable[Record]) -> None:
        """Keep a record for every piece; those of an interrupted job are computed again."""
        if self._scratch is not None:
            self._scratch.remove(name)  # an earlier job may have had other parameters
        for place, record in enumerate(records):
            if self._scratch is None:
                self._results[name, place] = record
            else:
                self._scratch.write(name, place, record)

    def kept(self, name: str) -> Iterator[Record]:
        """Yield the records of all pieces, in their order."""
        for place in range(self._count):
            yield self._results[name, place] if self._scratch is None else self._scratch.read(name, place)


def cut_corpus(corpus: Corpus, pieces: Iterable[slice]) -> Iterator[Corpus]:
    """Yield the pieces of a corpus."""
    for piece in pieces:
        columns = {name: getattr(corpus, name) for name in COLUMNS}
        parts: dict[str, Any] = {name: None if values is None else values[piece] for name, values in columns.items()}
        parts["ids"]._distinct = True
        inputs = {name: rows[piece] for name, rows in corpus.inputs.items()}
        yield Corpus(**parts, source=corpus.source, notes=corpus.notes, inputs=inputs)


def join_corpora(corpora: Iterable[Corpus], source: str) -> Corpus:
    """Return corpora one after the other as one; a column that some lack is empty there. Ids are known to differ."""
    parts = [corpus for corpus in corpora if len(corpus)]
    columns: dict[str, Any] = {}
    for name in COLUMNS:
        values = [getattr(part, name) for part in parts]
        if name in ("texts", "ids") or any(value is not None for value in values):
            filled = [[""] * len(part) if own is None else own for part, own in zip(parts, values, strict=True)]
            columns[name] = join_texts(filled)
    columns["ids"]._distinct = True
    names = {name for part in parts for name in part.inputs}
    inputs = {name: _stacked([part.inputs[name] for part in parts]) for name in sorted(names)}
    return Corpus(**columns, source=source, inputs=inputs)


def _stacked(rows: Sequence[Any]) -> Any:
    if hasattr(rows[0], "nnz"):
        import scipy.sparse as sp

        return sp.vstack(rows, format="csr")
    return np.concatenate(rows)


def pack_corpus(corpus: Corpus) -> Record:
    """Return a corpus as arrays: bytes and offsets of its texts, ids and other columns, and dense inputs."""
    record: dict[str, NDArray[Any]] = {}
    for name in COLUMNS:
        values = getattr(corpus, name)
        if values is not None:
            texts = values if isinstance(values, Texts) else Texts(values)
            record[f"{name}.bytes"], record[f"{name}.ends"] = texts.to_arrays()
    record["notes.bytes"], record["notes.ends"] = Texts(corpus.notes).to_arrays()
    return record | {f"input.{name}": np.asarray(rows) for name, rows in corpus.inputs.items()}


def unpack_corpus(record: Record, source: str) -> Corpus:
    """Return the corpus of the arrays from `pack_corpus`."""
    held = [name for name in (*COLUMNS, "notes") if f"{name}.ends" in record]
    columns: dict[str, Any] = {name: Texts.trusted(record[f"{name}.bytes"], record[f"{name}.ends"]) for name in held}
    columns["ids"]._distinct = True
    columns["notes"] = tuple(columns["notes"])
    inputs = {name.removeprefix("input."): rows for name, rows in record.items() if name.startswith("input.")}
    return Corpus(**columns, source=source, inputs=inputs)


def text_digests(corpus: Corpus) -> NDArray[np.uint64]:
    """Return 64 bits of the digest of every text: equal for equal texts."""
    data, ends = corpus.texts.part(0, len(corpus))
    digests = (blake2b(data[a:b], digest_size=8).digest() for a, b in pairwise(ends.tolist()))
    return np.frombuffer(b"".join(digests), np.uint64)
