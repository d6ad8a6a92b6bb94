"""The gap-weighted subsequence kernel, by dynamic programming over every pair of strings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..._array import Array
from ...errors import InputError
from ..spelling import register
from .base import WithLengthAndDecay
from .strings import Text, read_strings
from .subsequence_dp import Strings as Documents
from .subsequence_dp import pairwise, selfwise


class Strings:
    """A collection of strings, or some rows of one."""

    def __init__(self, text: Text, rows: NDArray[np.intp] | None = None) -> None:
        self.text = text
        self.rows = np.arange(len(text)) if rows is None else rows

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[str | bytes]:
        return self.text.each(self.rows)

    @property
    def documents(self) -> Documents:
        """The units, starts and ends that the dynamic programme takes."""
        return self.text.units, self.text.bounds[self.rows], self.text.bounds[self.rows + 1]

    def take(self, index: NDArray[np.intp]) -> Strings:
        """Return some of the documents."""
        return Strings(self.text, self.rows[index])


@register
class Subsequence(WithLengthAndDecay):
    """Count the common subsequences of `length` characters, gaps allowed but penalised (kernlab's ``sequence``).

    K(x, y) = Σ_u Σ_{i: x[i] = u} Σ_{j: y[j] = u} decay^(span(i) + span(j)) over all u of `length` characters, span the
    distance from the first to the last character, both included (Lodhi et al. 2002, eqn 2).

    Parameters
    ----------
    length : int
        At least 1.
    decay : float, default=0.5
        Greater than 0: the factor for every character spanned.
    unit : {"characters", "bytes"}, default="characters"
        Unicode code points, or UTF-8 bytes.

    Notes
    -----
    Every pair costs length · m · n steps for strings of m and n characters, in parallel over pairs
    (``grampus.config(threads=…)``). Memory is 8 (length + 4) n
    numbers a thread. Strings shorter than `length` cost nothing. For thousands of long documents, choose a substring
    kernel instead.

    Examples
    --------
    >>> from grampus.kernels import Subsequence
    >>> Subsequence(2, decay=0.5).gram(["cat", "car"]).dense()
    array([[0.140625, 0.0625  ],
           [0.0625  , 0.140625]])
    """

    name: ClassVar[str] = "subsequence"
    words: ClassVar[str] = "shared subsequences of `length` characters; gaps are allowed and penalised"
    formula: ClassVar[str] = "K(s, t) = Σ over the occurrences of u in s and in t of decay^(span in s + span in t)"

    def _collect(self, documents: Any) -> Strings:
        return Strings(read_strings(documents, self.unit))

    def _collect_new(self, new: Any, fitted: Strings) -> Strings:
        return Strings(read_strings(new, self.unit, "new documents", rows=0))

    def _cross(self, new: Strings, fitted: Strings) -> Array:
        symmetric = new.text is fitted.text and np.array_equal(new.rows, fitted.rows)
        return self._finite(pairwise(new.documents, fitted.documents, self.length, self.decay, symmetric=symmetric))

    def _diagonal(self, new: Strings) -> Array:
        return self._finite(selfwise(new.documents, self.length, self.decay))

    def _finite(self, values: Array) -> Array:
        if not np.isfinite(values).all():
            why = f"they overflow with {self.decay:g}"
            raise InputError(f"decay must keep the similarities finite; {why}. Use a decay of at most 1.")
        return values
