"""The seam to what computes large sums, products, seeds and neighbours instead of the processor.

Everything else asks ``current()`` for an operation and does not know who computes it. The package of the GPU stands
above all that asks, so it is loaded by its name, and only where the user has named a device.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._array import Array, is_sparse, scale_rows
from ._config import config, may_keep, settings
from ._native.vectors import SparseProducts
from ._parallel import team

Function = Callable[..., Any]
LEAST = 500_000  # documents with features that a device is sooner done with: 100,000 take 18 s, and 9.5 without


class BackendSeeds(ABC):
    """Documents among which a backend draws seeds."""

    @abstractmethod
    def spread(self, diagonal: Array, mass: Array, trials: int, uniform: Array) -> NDArray[np.int32]:
        """Draw one document, then the best of `trials` again and again; join each document to its nearest.

        Parameters
        ----------
        diagonal, mass : array of shape (n,)
            Self-similarity of each document, and the weight that it stands for.
        trials : int
        uniform : array
            Random numbers of all draws.
        """


class Backend:
    """The table of operations, with the processor's row: None where the loops of the caller are the processor's.

    Grams and features are those of ``grampus.gram``, which imports this module.
    """

    def sums_room(self, work: float, diagonal: Array | None) -> float | None:
        """Return the bytes a matrix may take where runs of k-means are computed; None for the processor's loops.

        Parameters
        ----------
        work : float
            Multiplications of an iteration.
        diagonal : array of shape (n,), optional
            Self-similarities of documents with features.
        """
        return None

    def sums(self, gram: Any, how: Any, diagonal: Array, weights: Array) -> Any:
        """Return what runs k-means on a Gram by a plan (``cluster.kmeans.state.Runner``), or None."""
        return None

    def products(self, features: Any) -> tuple[ModuleType, Function] | None:
        """Return an array library, and v ↦ X Xᵀ v for its arrays (n, c) in float64; None where X is not kept twice."""
        if not may_keep(12 * features.entries):
            return None
        rows = features.rows.astype(np.float64, copy=False)
        if not (features.scale == 1.0).all():
            rows = scale_rows(features.scale, rows)
        if not is_sparse(rows) or not may_keep(24 * features.entries):
            return np, lambda v: rows @ (rows.T @ v)

        @cache
        def both() -> tuple[SparseProducts, SparseProducts]:
            return SparseProducts(rows), SparseProducts(rows.T.tocsr())

        return np, lambda v: both()[0].times(both()[1].times(v, team()), team())

    def blocks(self, gram: Any, work: float) -> tuple[ModuleType, Function]:
        """Return an array library, and what computes blocks K[rows, cols] as its arrays.

        Parameters
        ----------
        gram : Gram
        work : float
            Multiplications that the blocks are for.
        """
        return np, gram._block

    def seeds(self, gram: Any) -> Callable[[NDArray[np.intp]], BackendSeeds] | None:
        """Return what takes positions of documents and draws seeds among these, or None."""
        return None

    def neighbours(self, gram: Any, count: int, by_distance: bool) -> tuple[NDArray[np.intp], Array] | None:
        """Return what ``gram.graph.nearest_neighbors`` does, or None."""
        return None

    def meaning(self, network: Any, pieces: int) -> Function | None:
        """Return what encodes texts of so many pieces by a network (``_native.encoder.Meaning``), or None."""
        return None

    def use_card(self, number: int) -> None:
        """Use one of several devices in this thread; numbers beyond the last begin again."""


PROCESSOR = Backend()


def current() -> Backend:
    """Return what computes, as the user has set it; where a device is required and missing, an error says so."""
    wanted = settings().device
    if wanted == "cpu":
        return PROCESSOR
    found: Backend = _gpu().backend(required=wanted == "cuda") or PROCESSOR
    return found


def pays(documents: int) -> bool:
    """Return whether a device is sooner done with so many documents; it is looked for only where it would be."""
    return settings().device != "cpu" and documents >= LEAST and current() is not PROCESSOR


def sooner_for(documents: int) -> AbstractContextManager[object]:
    """Let the processor compute inside the block where it is done sooner with so many documents with features."""
    require_device()
    return config(device="cpu") if settings().device != "cpu" and not pays(documents) else nullcontext()


def require_device() -> None:
    """Say what is missing where a device is required and its library is not installed.

    A device that is there is begun with the work that it pays for: to begin takes longer than a small pile.
    """
    if settings().device == "cuda" and find_spec("cupy") is None:
        current()


def gpu_name() -> str | None:
    """Return the name of the GPU that could be used; None where there is none."""
    name: str | None = _gpu().card_name()
    return name


def moved(namespace: ModuleType, array: Any) -> Any:
    """Copy an array of NumPy or a CSR array of SciPy to another array library."""
    return _gpu().on_device(namespace, array)


def _gpu() -> ModuleType:
    return import_module(".gpu", __package__)
