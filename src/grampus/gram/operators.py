"""What products with a Gram cost, and whether to store it."""

from __future__ import annotations

from typing import Any

from .._array import is_sparse
from .._config import settings
from ..errors import InputError
from .base import Gram
from .factor import factor
from .sources import DenseGram
from .transforms import Normalised


def cheap_products(gram: Gram) -> bool:
    """Say whether products need fewer than the n² similarities: features, stored matrices, and what keeps to them."""
    if isinstance(gram, Normalised) and gram.order != 0:
        return False
    if type(gram)._matmul is Gram._matmul:
        return False
    explicit = factor(gram)
    if explicit is not None:  # more entries than the matrix has: the matrix is the cheaper one
        stored = explicit.features.nnz if is_sparse(explicit.features) else explicit.features.size
        return bool(2 * stored <= len(gram) ** 2)
    base = getattr(gram, "base", None)
    return base is None or cheap_products(base)


def stored_gram(gram: Gram) -> Gram:
    """Return the Gram itself where products are cheap or the matrix would not fit, otherwise its matrix."""
    if cheap_products(gram) or 8 * len(gram) ** 2 > settings().memory // 4:
        return gram
    return DenseGram._trusted(gram.dense())


def check_gram(gram: Any, name: str = "gram") -> Gram:
    """Return a Gram, or raise."""
    if not isinstance(gram, Gram):
        raise InputError(
            f"{name} must be a Gram; got {type(gram).__name__}. Make one with kernel.gram(X), or from a matrix with "
            "DenseGram(K)."
        )
    return gram
