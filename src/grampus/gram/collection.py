"""The documents behind a Gram: names by content, canonical order, copies.

Everything that must not depend on the order of documents (random starts, ties, eigenvectors of multiple eigenvalues,
landmarks) is computed in the canonical order defined here, and the result is put back into the order of the rows.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._array import Array, is_sparse, mean_row_size, tiles

Documents = NDArray[np.intp]
_NAME = "S32"  # a digest in hexadecimal, one byte a character


@dataclass(frozen=True)
class Collection:
    """The documents behind a Gram, named by content where that is known.

    Attributes
    ----------
    names : array of shape (n,) or None
        A digest of every document; equal exactly for equal content. None where the content is unknown (a given
        matrix of similarities): each document is then identified by its position.
    n : int

    Examples
    --------
    >>> from grampus.gram import Collection
    >>> found = Collection.of(["whale", "bird", "whale"])
    >>> bool(found.group[0] == found.group[2]), sorted(found.copies.tolist())
    (True, [1, 2])
    """

    names: Array | None
    n: int

    @classmethod
    def of(cls, documents: Any) -> Collection:
        """Name documents by their content: rows of a matrix, or strings."""
        names = content_names(documents)
        return cls(names, len(names))

    @classmethod
    def unknown(cls, n: int) -> Collection:
        """Return a collection whose documents are identified by position."""
        return cls(None, n)

    @classmethod
    def join(cls, seen: Sequence[Collection]) -> Collection:
        """Name documents that several collections describe: copies are equal in all of them.

        Documents of a collection without names make all of them unknown.
        """
        known = [found.names for found in seen if found.names is not None]
        if len(known) < len(seen):
            return cls.unknown(seen[0].n)
        distinct = [known[0], *(names for names in known[1:] if not np.array_equal(names, known[0]))]
        if len(distinct) == 1:
            return seen[0]
        both = (b"".join(names) for names in zip(*(names.tolist() for names in distinct), strict=True))
        return cls(np.array([hashlib.blake2b(name, digest_size=16).hexdigest() for name in both], _NAME), seen[0].n)

    @cached_property
    def _distinct(self) -> tuple[Documents, Documents, Documents, Documents]:
        names = np.arange(self.n) if self.names is None else self.names
        order = np.argsort(names, kind="stable")
        fresh = np.ones(self.n, dtype=bool)
        fresh[1:] = names[order[1:]] != names[order[:-1]]
        group = np.empty(self.n, dtype=np.intp)
        group[order] = np.cumsum(fresh) - 1
        return order, group, order[fresh], np.bincount(group)

    @property
    def order(self) -> Documents:
        """Documents in canonical order; copies by position."""
        return self._distinct[0]

    @property
    def group(self) -> Documents:
        """For each document, the number of its content in canonical order."""
        return self._distinct[1]

    @property
    def first(self) -> Documents:
        """The first document of every distinct content, in canonical order."""
        return self._distinct[2]

    @property
    def copies(self) -> Documents:
        """How many documents have each distinct content."""
        return self._distinct[3]

    @cached_property
    def is_canonical(self) -> bool:
        """Whether the documents are in canonical order already."""
        return self.names is None or bool((self.names[:-1] <= self.names[1:]).all())

    def take(self, index: Any) -> Collection:
        """Return some of the documents."""
        rows = np.arange(self.n)[index]
        return Collection(None if self.names is None else self.names[rows], len(rows))


def content_names(documents: Any) -> Array:
    """Return a digest of every row or string, independent of position, layout and float type."""
    if is_sparse(documents):
        parts = tiles(documents.shape[0], 16 * mean_row_size(documents))
        return np.fromiter((name for part in parts for name in _sparse(documents, part)), _NAME, documents.shape[0])
    if isinstance(documents, np.ndarray) and documents.dtype.kind not in "OUS":
        parts = tiles(len(documents), 16 * documents.shape[1])
        return np.fromiter((name for part in parts for name in _dense(documents[part])), _NAME, len(documents))
    return np.array([hashlib.blake2b(_bytes(text), digest_size=16).hexdigest() for text in documents], dtype=_NAME)


def _dense(rows: Array) -> list[str]:
    """Digest dense rows as if they were sparse; rows with the same zeros share the digest of their column numbers."""
    values = np.ascontiguousarray(rows, dtype=np.float64)
    filled = values != 0
    begun: dict[bytes, Any] = {}
    names = []
    for row, stored in zip(values, filled, strict=True):
        key = stored.tobytes()
        if key not in begun:
            begun[key] = hashlib.blake2b(np.flatnonzero(stored).astype(np.int64).tobytes(), digest_size=16)
        found = begun[key].copy()
        found.update(row[stored].tobytes())
        names.append(found.hexdigest())
    return names


def _sparse(documents: Any, rows: slice) -> Iterator[str]:
    """Digest sparse rows: the numbers of their columns, and what they hold there."""
    bounds = documents.indptr[rows.start : rows.stop + 1]
    index, values = (part[bounds[0] : bounds[-1]] for part in (documents.indices, documents.data))
    stored = values != 0
    bounds = np.concatenate([[0], np.cumsum(stored)])[bounds - bounds[0]]
    columns = memoryview(index[stored].astype(np.int64)).cast("B")
    numbers = memoryview(values[stored].astype(np.float64)).cast("B")
    for first, last in pairwise((8 * bounds).tolist()):
        found = hashlib.blake2b(columns[first:last], digest_size=16)
        found.update(numbers[first:last])
        yield found.hexdigest()


def _bytes(text: Any) -> bytes:
    return text if isinstance(text, bytes) else str(text).encode("utf-8", "surrogatepass")
