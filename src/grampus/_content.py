"""What a document is, as a digest: equal exactly for equal content, whatever its place, layout or float type."""

from __future__ import annotations

import hashlib
from itertools import pairwise
from typing import Any

import numpy as np

from ._array import Array, is_sparse, tiles


def content_names(documents: Any) -> Array:
    """Return a digest of every row or string."""
    if is_sparse(documents):
        rows = ((documents.indices[a:b], documents.data[a:b]) for a, b in pairwise(documents.indptr))
        return np.array([_digest(index, values) for index, values in rows])
    if isinstance(documents, np.ndarray) and documents.dtype.kind not in "OUS":
        parts = tiles(len(documents), 16 * documents.shape[1])
        return np.array([name for part in parts for name in _dense(documents[part])])
    return np.array([hashlib.blake2b(_bytes(text), digest_size=16).hexdigest() for text in documents])


def _dense(rows: Array) -> list[str]:
    """Digest dense rows as if they were sparse; those with the same zeros share the digest of their column numbers."""
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


def _digest(index: Array, values: Array) -> str:
    stored = values != 0
    found = hashlib.blake2b(index[stored].astype(np.int64).tobytes(), digest_size=16)
    found.update(values[stored].astype(np.float64).tobytes())
    return found.hexdigest()


def _bytes(text: Any) -> bytes:
    return text if isinstance(text, bytes) else str(text).encode("utf-8", "surrogatepass")
