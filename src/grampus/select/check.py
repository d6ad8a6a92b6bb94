"""What may be asked of a selection."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from .._array import Array
from .._check import check_integer
from ..errors import InputError


def check_ks(ks: Any, most: int | None = None) -> tuple[int, ...]:
    """Return the values of k that get a score, rising: distinct whole numbers from 1 on, one of them above 1.

    One cluster is predicted perfectly by anything and gets no score; the null test decides about it. None is above
    `most`, the documents of a half, where that is known.
    """
    if isinstance(ks, (str, bytes)) or not isinstance(ks, Iterable):
        ks = [ks]
    values = [check_integer(k, "Each value of ks", low=1) for k in ks]
    if len(set(values)) < len(values):
        twice = next(k for k in values if values.count(k) > 1)
        raise InputError(f"ks must not name a value twice; {twice} is there {values.count(twice)} times.")
    scored = tuple(sorted(k for k in values if k > 1))
    if not scored:
        raise InputError(f"ks must hold at least one value above 1; got {values}.")
    if most is not None and scored[-1] > most:
        raise InputError(
            f"Each half must hold max(ks) documents, so there must be at least {2 * scored[-1]} (2 × {scored[-1]}); "
            f"the halves hold {most}. Use smaller ks or more documents."
        )
    return scored


def check_distinct(names: Array | None, halves: Iterable[Array], k: int) -> None:
    """Refuse splits with a half of fewer than k distinct documents; without names nothing is known."""
    if names is None:
        return
    _, codes = np.unique(names, return_inverse=True, axis=0)
    codes = codes.reshape(-1)
    if len(names) - (int(codes.max()) + 1) <= len(names) // 2 - k:
        return  # even if every copy were in one half
    for number, inside in enumerate(halves):
        least = min(len(np.unique(codes[inside])), len(np.unique(codes[~inside])))
        if least < k:
            raise InputError(
                f"Each half must hold {k} distinct documents for k = {k}; a half of split {number} holds {least} "
                f"({int(codes.max()) + 1} of the {len(codes)} are distinct). Use smaller ks, or remove copies."
            )
