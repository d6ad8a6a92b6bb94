"""What the documents of a Gram are, row by row, so that equal ones can be told and their order need not matter."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._array import Array, is_sparse, take_rows
from .._content import content_names
from .base import Gram, Taken
from .transforms import Transformed


def contents(gram: Gram) -> Any:
    """Return the documents behind the rows of a Gram, in their order; None where they are not known.

    They are not known of stored similarities, nor of a Gram that keeps landmarks alone.

    Parameters
    ----------
    gram : Gram
        Any, also a part of another.
    """
    if isinstance(gram, Taken):
        whole = contents(gram.base)
        return None if whole is None else take_rows(whole, gram.index)
    if isinstance(gram, Transformed):
        return contents(gram.base)
    return getattr(gram, "documents", getattr(gram, "collection", None))


def names_of(gram: Gram) -> Array | None:
    """Return a digest of every document of a Gram; None where the documents are not known.

    Parameters
    ----------
    gram : Gram
        Any, also a part of another.
    """
    documents = contents(gram)
    if not (is_sparse(documents) or isinstance(documents, np.ndarray) or _holds_strings(documents)):
        return None
    names = content_names(documents)
    return names if len(names) == len(gram) else None


def _holds_strings(documents: Any) -> bool:
    if isinstance(documents, (list, tuple)):
        return all(isinstance(item, (str, bytes)) for item in documents)
    return hasattr(documents, "__iter__") and hasattr(documents, "take")
