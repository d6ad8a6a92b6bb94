"""Effort: how much work a clustering may spend on choosing k, starts and measurements."""

from dataclasses import dataclass
from typing import Any

from ..._check import check_flag, check_integer
from ...select.schemes import check_scheme
from ...select.splits import check_ks

BY_LEVELS = "levels"  # the scheme that looks for levels


@dataclass(frozen=True)
class Effort:
    """Options for choosing k, for starts, and for what is measured afterwards.

    Parameters
    ----------
    ks : int or iterable of int, optional
        Values of k to choose from; 2 to n/4 by default, or 2 … 10 for another scheme than "levels".
    scheme : "levels", "auto", "RED-S", "KKM-S", "KM-S" or "KM-P"
        How k is chosen: as in `choose_levels`, or as in `choose_k`, where "auto" is KKM-S up to 2,500 different
        documents and RED-S for more.
    n_splits : int
        Number of splits of the documents, for choosing k; for stability, the first 20 of them at most.
    null : bool
        Whether to test for groups at all when another scheme chooses k; if there are none, all documents form one
        cluster. Levels are always compared with data without groups.
    stability : bool
        Whether to measure the stability of clusters and documents, and whether the clusters of a given k are groups.
    n_init : int
        Number of starts; the best is kept.
    polish : bool
        Whether kernel k-means is followed by single moves that lower the objective.

    Examples
    --------
    >>> from grampus.documents import Effort
    >>> Effort(ks=range(2, 6)).ks
    (2, 3, 4, 5)
    """

    ks: Any = None
    scheme: str = BY_LEVELS
    n_splits: int = 50
    null: bool = False
    stability: bool = True
    n_init: int = 10
    polish: bool = True

    def __post_init__(self) -> None:
        for name in ("polish", "stability", "null"):
            check_flag(getattr(self, name), name)
        for name in ("n_splits", "n_init"):
            object.__setattr__(self, name, check_integer(getattr(self, name), name, low=1))
        if self.scheme != BY_LEVELS:
            object.__setattr__(self, "scheme", check_scheme(self.scheme))
        object.__setattr__(self, "ks", None if self.ks is None else check_ks(self.ks))
