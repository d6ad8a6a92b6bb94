"""A corpus: documents, their ids, labels, titles and dates, and a record of how they were read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from operator import index as as_index
from typing import Any, NamedTuple

import numpy as np

from .._frame import data_frame
from .._names import number_of
from ..errors import CorpusError
from .files import FileRecord
from .inputs import check_input, equal_inputs, match_rows
from .store import Texts


class Document(NamedTuple):
    """One document of a corpus; what the corpus does not have is None.

    Examples
    --------
    >>> from grampus.text import Corpus
    >>> document = Corpus(["whale song"], ids=["w1"], labels=["sea"])[0]
    >>> document.id, document.label, document.title
    ('w1', 'sea', None)
    """

    text: str
    id: str
    label: str | None = None
    title: str | None = None
    date: str | None = None


@dataclass(frozen=True, init=False, repr=False)
class Corpus:
    """Documents with their ids and, optionally, labels, titles and dates.

    Usually made by `read_corpus`; built from lists, it checks that they fit together.

    Parameters
    ----------
    texts : sequence of str
        Stored as `Texts`: one buffer of UTF-8, decoded on access.
    ids : sequence of str, optional
        One per text, all different; ``"1"``, ``"2"``, … by default.
    labels, titles, dates : sequence of str, optional
        One per text, or None. Unknown values are empty strings. Dates are kept as written.
    source : str
        Where the documents came from.
    skipped : mapping of str to int
        Number of files or records left out, by reason.
    notes : tuple of str
        Guessed encodings, replaced characters.
    files : tuple of FileRecord
        For a folder or an archive, what became of each of its files.
    inputs : mapping of str to array or sparse array of shape (n, …)
        What kernels read besides the texts, by name: ``"embedding"``, ``"vectors"``, or columns of numbers; see
        ``with_input``.

    Attributes
    ----------
    fingerprint : str
        A digest of the texts as a collection: equal for the same texts in any order, and independent of ids,
        labels, titles, dates and the source.

    Examples
    --------
    >>> from grampus.text import Corpus
    >>> corpus = Corpus(["whale song", "bird song", "whale bone"], labels=["sea", "air", "sea"])
    >>> len(corpus), corpus[1].text, corpus.ids == ["1", "2", "3"]
    (3, 'bird song', True)
    >>> sea = corpus.take([2, 0])
    >>> [document.id for document in sea]
    ['3', '1']
    >>> corpus.take([1, 2, 0]).fingerprint == corpus.fingerprint
    True
    """

    texts: Texts
    ids: Texts
    labels: tuple[str, ...] | None = None
    titles: Texts | None = None
    dates: Texts | None = None
    source: str = "memory"
    skipped: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    files: tuple[FileRecord, ...] = ()
    inputs: Mapping[str, Any] = field(default_factory=dict)

    def __init__(
        self,
        texts: Iterable[str],
        ids: Iterable[str] | None = None,
        labels: Iterable[str] | None = None,
        titles: Iterable[str] | None = None,
        dates: Iterable[str] | None = None,
        source: str = "memory",
        skipped: Mapping[str, int] | None = None,
        notes: Sequence[str] = (),
        files: Sequence[FileRecord] = (),
        inputs: Mapping[str, Any] | None = None,
    ) -> None:
        stored = _stored("texts", texts)
        values = {
            "texts": stored,
            "ids": Texts(str(n) for n in range(1, len(stored) + 1)) if ids is None else _stored("ids", ids),
            "labels": None if labels is None else tuple(_strings("labels", labels)),
            "titles": None if titles is None else _stored("titles", titles),
            "dates": None if dates is None else _stored("dates", dates),
            "source": source,
            "skipped": dict(skipped or {}),
            "notes": tuple(notes),
            "files": tuple(files),
            "inputs": {name: check_input(name, rows, len(stored)) for name, rows in (inputs or {}).items()},
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)
        for name in ("ids", "labels", "titles", "dates"):
            column = values[name]
            if column is not None and len(column) != len(stored):
                raise CorpusError(f"{name} must have one value per text, {len(stored)}; got {len(column)}.")
        if ids is not None and not self.ids._distinct:
            repeated = next((value for value, count in Counter(self.ids).items() if count > 1), None)
            if repeated is not None:
                raise CorpusError(f"ids must be different; {repeated!r} occurs more than once.")

    def __len__(self) -> int:
        return len(self.texts)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Corpus):
            return NotImplemented
        names = [one.name for one in fields(self) if one.name != "inputs"]
        same = all(getattr(self, name) == getattr(other, name) for name in names)
        return same and equal_inputs(self.inputs, other.inputs)

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __getitem__(self, index: int) -> Document:
        at = as_index(index)
        others = (None if column is None else column[at] for column in (self.labels, self.titles, self.dates))
        return Document(self.texts[at], self.ids[at], *others)

    def __iter__(self) -> Iterator[Document]:
        return (self[at] for at in range(len(self)))

    def __repr__(self) -> str:
        parts = [name for name in ("labels", "titles", "dates") if getattr(self, name) is not None]
        parts += [f"@{name}" for name in self.inputs]
        left = f", {sum(self.skipped.values())} skipped" if self.skipped else ""
        held = f" with {', '.join(parts)}" if parts else ""
        return f"<Corpus: {number_of(len(self), 'document')}{held}, {self.texts.nbytes} bytes from {self.source}{left}>"

    @cached_property
    def fingerprint(self) -> str:
        """Digest of the texts as a collection, independent of their order."""
        return self.texts.fingerprint()

    def to_frame(self) -> Any:
        """Return a pandas data frame with a row per document, indexed by id: text, and label, title and date if known.

        Needs ``pip install 'grampus[frames]'``.
        """
        columns: dict[str, Any] = {"text": list(self.texts)}
        for name, values in (("label", self.labels), ("title", self.titles), ("date", self.dates)):
            if values is not None:
                columns[name] = list(values)
        return data_frame(columns, list(self.ids), "id")

    def with_input(self, name: str, rows: Any, *, ids: Iterable[str] | None = None) -> Corpus:
        """Return the corpus with rows of numbers for every document, which kernels read as ``kernel@name``.

        Parameters
        ----------
        name : str
            Such as ``"embedding"``; letters, digits and underscores. ``"terms"`` and ``"text"`` come from the texts.
        rows : array or sparse array of shape (n,) or (n, m)
            One number or one row per document, not copied.
        ids : sequence of str, optional
            The document of every row, where they are in another order; rows of other documents are left out.

        Returns
        -------
        Corpus

        Examples
        --------
        >>> import numpy as np
        >>> from grampus.text import Corpus
        >>> corpus = Corpus(["whale song", "bird song"], ids=["w", "b"])
        >>> corpus = corpus.with_input("embedding", np.array([[0.0, 1.0], [1.0, 0.0]]), ids=["b", "w"])
        >>> corpus.inputs["embedding"].tolist()
        [[1.0, 0.0], [0.0, 1.0]]
        """
        if ids is not None:
            rows = match_rows(name, rows, list(ids), self.ids)
        return replace(self, inputs={**self.inputs, name: rows})

    def take(self, index: Sequence[int] | np.ndarray[tuple[int], np.dtype[np.integer]]) -> Corpus:
        """Return the documents at the given positions, in that order.

        Parameters
        ----------
        index : sequence of int, or boolean mask of one value per document
            Negative positions count from the end. Each may occur once only, as ids are distinct.

        Returns
        -------
        Corpus
        """
        from .._check import check_index  # SciPy: corpora that are only read do not need it

        try:
            positions = np.arange(len(self))[check_index(np.asarray(index), len(self))]
        except ValueError as error:
            raise CorpusError(f"index must be integers or a mask, one for each document ({error}).") from None
        columns: dict[str, Any] = {name: getattr(self, name) for name in ("texts", "ids", "labels", "titles", "dates")}
        for name, column in columns.items():
            columns[name] = None if column is None else [column[at] for at in positions.tolist()]
        inputs = {name: rows[positions] for name, rows in self.inputs.items()}
        return replace(self, **columns, inputs=inputs)


def _stored(name: str, values: Iterable[str]) -> Texts:
    if isinstance(values, Texts):
        return values
    return Texts(_strings(name, values))


def _strings(name: str, values: Iterable[str]) -> Iterator[str]:
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise CorpusError(f"{name} must be a sequence of strings; got one {type(values).__name__}.")
    for number, value in enumerate(values):
        if not isinstance(value, str):
            raise CorpusError(f"{name} must be strings; number {number} is {type(value).__name__}.")
        yield value
