"""The documents behind a Gram: names by content, canonical order, copies.

Everything that must not depend on the order of documents (random starts, ties, eigenvectors of multiple eigenvalues,
landmarks) is computed in the canonical order defined here, and the result is put back into the order of the rows.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._array import Array, is_sparse, tiles
from .._native import name_rows
from .._parallel import in_threads

Documents = NDArray[np.intp]
_NAME = "S32"  # a digest in hexadecimal, one byte a character
_ROWS = 2**12  # named by a thread at a time, at least


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
    if not (is_sparse(documents) or (isinstance(documents, np.ndarray) and documents.dtype.kind not in "OUS")):
        return np.array([hashlib.blake2b(_bytes(text), digest_size=16).hexdigest() for text in documents], dtype=_NAME)
    n = documents.shape[0]
    names = np.empty(n, dtype=_NAME)
    ready = is_sparse(documents) or (documents.dtype.kind == "f" and documents.flags.c_contiguous)
    for part in [slice(0, n)] if ready else tiles(n, 8 * documents.shape[1]):  # others are copied, some at a time
        found, name = name_rows(documents if ready else documents[part])
        in_threads(name, len(found), least=_ROWS)
        names[part] = found.view(_NAME).reshape(-1)
    return names


def _bytes(text: Any) -> bytes:
    return text if isinstance(text, bytes) else str(text).encode("utf-8", "surrogatepass")
