"""Documents unlike any group: how far each resembles the rest, and how little is too little.

The familiarity of a document is the root mean square of its similarities to the other documents, under the kernel
before anything is reduced: the leading components of a kernel leave out what a document shares with no other. Squares
count a few good neighbours as well as many weak ones. Nothing here depends on the clusters.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..._array import Array, take_rows
from ...errors import InputError
from ...gram import Gram
from ...kernels import Kernel, Normalise
from ..given.inputs import Inputs

REFERENCES = 2500  # documents at most that others are compared with
FEWEST = 100  # documents below which none stands out
FARTHEST = 9.0  # quartile distances below the median that documents of one collection do not reach
BY_CHANCE = 0.01  # share of the marked documents that may be marked by chance
AT_MOST_BY_CHANCE = 0.5  # the same, where a share was asked for
NEW = 0.01  # a new document is unlike the fitted ones if no more than this share of them is as unfamiliar
_NOTHING = 1e-3  # of the median: familiarity that counts as none


def check_outliers(value: Any) -> float:
    """Return the largest share of documents to set aside: 0 for None or "off", 1 for "auto".

    Examples
    --------
    >>> from grampus.documents.find.outliers import check_outliers
    >>> check_outliers(None), check_outliers("auto"), check_outliers(0.05)
    (0.0, 1.0, 0.05)
    """
    if value is None or (isinstance(value, str) and value == "off"):
        return 0.0
    if isinstance(value, str) and value == "auto":
        return 1.0
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not number or not 0 < float(value) < 1:
        raise InputError(f"outliers must be 'auto', 'off' or a share between 0 and 1, such as 0.05; got {value!r}.")
    return float(value)


@dataclass(frozen=True)
class Familiarity:
    """How far documents resemble a fitted collection.

    Attributes
    ----------
    gram : Gram
        Of the documents that others are compared with, at most 2,500.
    weights : array of shape (r,)
        How many documents each of them stands for.
    fitted : array
        Familiarity of fitted documents, in ascending order.
    """

    gram: Gram
    weights: Array
    fitted: Array

    @classmethod
    def of(cls, kernel: Kernel, features: Any, weights: Array, known: Array | None = None) -> Familiarity:
        """Compare fitted documents with each other: at most 2,500, evenly drawn from the canonical order.

        Parameters
        ----------
        kernel, features, weights
            As for ``familiarity``.
        known : array of shape (r,), optional
            Share of the words of each of these documents that are known; see ``known_words``.
        """
        at = references(kernel, weights)
        gram = _reference_gram(kernel, features, at)
        values = _compared(gram, weights[at], kernel.as_new(features, at), np.arange(len(at)))
        return cls(gram, weights[at], np.sort(values if known is None else values * np.sqrt(known)))

    def compare(self, new: Any) -> Array:
        """Return how far each new document, as the kernel takes it, resembles the fitted ones."""
        return _compared(self.gram, self.weights, new)

    def rank(self, new: Any, known: Array | None = None) -> Array:
        """Return the share of the fitted documents that are no more familiar than each new one, above 0.

        A conformal p-value: for a document like the fitted ones it is at most p with probability p.

        Parameters
        ----------
        new : collection
            As the kernel takes it; with a precomputed kernel, the pair (similarities, self-similarities).
        known : array of shape (m,), optional
            As for ``of``.
        """
        values = self.compare(new)
        values = values if known is None else values * np.sqrt(known)
        return (1.0 + np.searchsorted(self.fitted, values, side="right")) / (1.0 + len(self.fitted))


def familiarity(kernel: Kernel, features: Any, weights: Array) -> Array:
    """Return how far each of the fitted documents resembles the others; 0 for one without weight.

    Costs the similarities of all documents to at most 2,500 of them.

    Parameters
    ----------
    kernel : Kernel
    features : collection
        The distinct documents, in canonical order.
    weights : array of shape (m,)
        Copies of each; 0 where there is nothing to compare.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus import parse_kernel
    >>> from grampus.documents.find.outliers import familiarity
    >>> rows = np.array([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0]])
    >>> familiarity(parse_kernel("cosine"), rows, np.ones(3)).round(2).tolist()
    [0.57, 0.71, 0.42]
    """
    at = references(kernel, weights)
    gram = _reference_gram(kernel, features, at)
    place = np.full(len(weights), -1, dtype=np.intp)
    place[at] = np.arange(len(at))
    heavy = np.flatnonzero(weights > 0)
    out = np.zeros(len(weights))
    out[heavy] = _compared(gram, weights[at], kernel.as_new(features, heavy), place[heavy])
    return out


def stand_out(values: Array, copies: Array, share: float = 1.0) -> NDArray[np.bool_]:
    """Return which documents resemble the others less than chance allows.

    On a logarithmic scale the familiarity of the documents of one collection lies about evenly around its median; each
    side is measured by the distance of its quartile. A document stands out if it is nine such distances below; or if so
    many are below a point that the documents as far above, which are not outliers, come to 1 % of them (as decoys
    estimate false discoveries: Elias & Gygi 2007; Barber & Candès 2015). Where a share was asked for, the decoys may
    come to half.

    Parameters
    ----------
    values : array of shape (m,)
        Familiarity; documents with 0 copies are left out.
    copies : array of shape (m,)
        Documents that each row stands for.
    share : float
        At most this share of the documents; 1 for all that stand out.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.documents.find.outliers import stand_out
    >>> usual = np.exp(np.random.default_rng(0).normal(size=500) / 10)
    >>> stand_out(np.append(usual, [0.1, 0.2]), np.ones(502)).nonzero()[0].tolist()
    [500, 501]
    """
    found = np.zeros(len(values), dtype=bool)
    heavy = np.flatnonzero(copies > 0)
    if len(heavy) < FEWEST or share <= 0:
        return found
    middle = float(np.median(values[heavy]))
    logs = np.log(np.maximum(values[heavy], _NOTHING * middle)) if middle > 0 else np.zeros(len(heavy))
    low, centre, high = np.quantile(logs, [0.25, 0.5, 0.75])
    if not (low < centre < high):
        return found
    below, above = (centre - logs) / (centre - low), np.sort((logs - centre) / (high - centre))
    limit = min(_limit(below, above, BY_CHANCE if share >= 1 else AT_MOST_BY_CHANCE), FARTHEST)
    most = math.floor(share * copies.sum() + 1e-9)
    for level in np.unique(below[below >= limit])[::-1]:  # documents that are equally far are marked together
        marked = heavy[below >= level]
        if copies[marked].sum() > most:
            break
        found[marked] = True
    return found


def find_outliers(
    outliers: Any, kernel: Kernel, inputs: Inputs, kept: NDArray[np.bool_] | None
) -> tuple[NDArray[np.bool_], str]:
    """Return which of the distinct documents are in no cluster, and a note on their number; '' if there are none.

    Parameters
    ----------
    outliers : "auto", "off", float or None
    kernel : Kernel
    inputs : Inputs
    kept : array of bool, shape (m,), or None
        Documents that are never set aside.
    """
    share = check_outliers(outliers)
    if not share:
        return np.zeros(len(inputs.weights), dtype=bool), ""
    aside = stand_out(familiarity(kernel, inputs.features, inputs.weights), inputs.weights, share)
    aside &= True if kept is None else ~kept
    count = int(inputs.weights[aside].sum())
    return aside, f"{count} document{'s' * (count > 1)} unlike any group: in no cluster (label −1)." if count else ""


def _limit(below: Array, above: Array, chance: float) -> float:
    """Return the distance beyond which decoys come to a given share of the documents; infinite if there is none."""
    levels = np.sort(below[below > 1.0])[::-1]
    decoys = len(above) - np.searchsorted(above, levels, side="left")
    held = np.flatnonzero((1.0 + decoys) / np.arange(1, len(levels) + 1) <= chance)
    return float(levels[held[-1]]) if len(held) else math.inf


def known_words(terms: Any, texts: Sequence[str]) -> Array:
    """Return the share of the different words of each text that are known terms, about.

    Unknown words are terms that no fitted document has: they add to the length of a document, and so lower all its
    similarities by the root of this share.

    Parameters
    ----------
    terms : sparse array of shape (m, terms)
    texts : sequence of m texts
    """
    counts = np.diff(sp.csr_array(terms).indptr)
    words = np.array([len(set(text.lower().split())) for text in texts], dtype=np.float64)
    return np.clip(counts / np.maximum(words, 1.0), 0.0, 1.0)


def references(kernel: Kernel, weights: Array) -> NDArray[np.intp]:
    """Return the documents that others are compared with: all, if similarities to all are given anyway."""
    if kernel.is_precomputed:
        return np.arange(len(weights))
    heavy = np.flatnonzero(weights > 0)
    return heavy if len(heavy) <= REFERENCES else heavy[np.linspace(0, len(heavy) - 1, REFERENCES).astype(np.intp)]


def _reference_gram(kernel: Kernel, features: Any, at: NDArray[np.intp]) -> Gram:
    plain = kernel.unreduced(Normalise())
    if not kernel.is_precomputed:
        return plain.gram(take_rows(features, at))
    try:
        return plain.gram(features)
    except InputError:
        raise InputError(
            "Outliers are found by similarities divided by self-similarities: the diagonal of the Gram matrix must be "
            f"above 0; its smallest value is {features.diagonal().min():g}. Fill it, or leave out outliers."
        ) from None


def _compared(gram: Gram, weights: Array, documents: Any, place: NDArray[np.intp] | None = None) -> Array:
    """Return the root mean square similarity of documents to those of a Gram, without their own place among these."""
    parts, done, total = [], 0, float(weights.sum())
    for part in gram.compare(documents):
        cross = np.square(part.cross, dtype=np.float64)
        sums, others = cross @ weights, np.full(len(cross), total)
        if place is not None:
            own = place[done : done + len(cross)]
            inside = np.flatnonzero(own >= 0)
            sums[inside] -= cross[inside, own[inside]]
            others[inside] -= 1.0
        parts.append(np.sqrt(np.maximum(sums, 0.0) / np.maximum(others, 1.0)))
        done += len(cross)
    return np.concatenate(parts) if parts else np.empty(0)
