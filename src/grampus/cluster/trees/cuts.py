"""Thresholds of a cut along a principal component: zero, or optimal for the projections or for the documents.

Documents whose projection is at most the threshold go left. Projections that differ by rounding are never separated.
"""

from collections.abc import Callable

import numpy as np

from ..._array import Array
from .node import Part

TIE = 1e-9  # of the largest modulus of a component's projections: closer values are equal
_BEST = 1e-12  # of the objective's range: among cuts this close, the first is taken


def snapped(projections: Array, tie: Array | float) -> Array:
    """Return the projections, with those within `tie` of zero set to zero."""
    return np.where(np.abs(projections) <= tie, 0.0, projections)


def cut_at_zero(projections: Array, part: Part) -> float:
    """Return 0 (PDDP): projection ≤ 0 goes left, > 0 right (`pddp`, Theorem 1)."""
    return 0.0


def cut_projections(projections: Array, part: Part) -> float:
    """Return the cut that minimises the 2-means objective of the projections (OCPC): a sort and prefix sums."""
    order = np.argsort(projections, kind="stable")
    values = projections[order]
    total = np.cumsum(values)
    return _best(values, total**2, (total[-1] - total) ** 2)


def cut_documents(projections: Array, part: Part) -> float:
    """Return the cut along the component that minimises the 2-means objective of the documents (OC, Lemma 1).

    With A_l = ‖Σ_{i≤l} φ_i‖², which grows by 2 Σ_{j<l} K_lj + K_ll, R_l = Σ_{i≤l} (Ke)_i and T = eᵀKe, the second
    part has ‖Σ_{i>l} φ_i‖² = T − 2 R_l + A_l. Costs one pass over the documents.
    """
    order = np.argsort(projections, kind="stable")
    first = np.cumsum(2.0 * part.earlier_sums(order) + part.diagonal[order])
    sums = np.cumsum(part.sums()[order])
    return _best(projections[order], first, sums[-1] - 2.0 * sums + first)


CUTS: dict[str, Callable[[Array, Part], float]] = {
    "zero": cut_at_zero,
    "full": cut_documents,
    "projection": cut_projections,
}


def _best(values: Array, first: Array, second: Array) -> float:
    """Return the threshold between neighbours that maximises ‖s₁‖²/l + ‖s₂‖²/(n−l), which minimises the objective.

    Parameters
    ----------
    values : array of shape (n,)
        Projections in increasing order.
    first, second : array of shape (n,)
        Squared lengths of the sums of the first l documents and of the others, l = 1 … n.
    """
    n = len(values)
    count = np.arange(1.0, n)
    explained = first[:-1] / count + second[:-1] / (n - count)
    apart = np.diff(values) > TIE * np.abs(values).max()
    if not apart.any():
        return 0.0
    explained[~apart] = -np.inf
    best = explained.max()
    spread = best - explained[apart].min()
    position = int((explained >= best - _BEST * max(spread, abs(best))).argmax())
    return float((values[position] + values[position + 1]) / 2.0)
