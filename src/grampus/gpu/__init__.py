"""The GPU: everything that knows of CuPy, behind ``grampus._backend``.

The loops are in ``loops.cu`` and ``products.cu``. The rest steers them: which documents moved, what the clusters'
figures are, when a run ends.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._array import Array
from .._backend import Backend, Function
from .._native.encoder import Meaning
from ..gram import Features, Gram, Plan
from .blocks import DeviceBlocks, device_block, device_products, device_rows
from .card import card_name, free_memory, library, on_device, within_memory
from .meaning import device_meaning
from .neighbours import nearest_on
from .rows import DeviceRows
from .seeds import DeviceDocuments
from .stored import DeviceStored

__all__ = ["Device", "backend", "card_name", "on_device"]

_RANGE = 1e6  # lengths that differ by more are not for whole numbers


@dataclass(frozen=True)
class Least:
    """The work from which a device is faster than threads (``lab/speed/gpu.py``)."""

    run: float = 2**24  # multiplications of an iteration of k-means
    products: float = 2**18  # entries of features
    blocks: float = 2**30  # multiplications
    seeds: float = 2**22  # multiplications for a row of similarities
    neighbours: float = 2**30  # similarities
    pieces: float = 2**12  # of texts that are encoded


LEAST = Least()


def backend(required: bool) -> Device | None:
    """Return the device; where there is none, None, or an error that says what is missing."""
    xp = library(required)
    return None if xp is None else Device(xp)


class Device(Backend):
    """The operations on a device.

    Parameters
    ----------
    xp : module
        Its array library.
    """

    def __init__(self, xp: Any) -> None:
        self.xp = xp

    def sums_room(self, work: float, diagonal: Array | None) -> float | None:
        """Return half of the free memory; None for little work, and for lengths too different for whole numbers."""
        sizes = np.empty(0) if diagonal is None else diagonal[diagonal > 0]
        if work < LEAST.run or (len(sizes) and float(sizes.max()) > _RANGE**2 * float(sizes.min())):
            return None
        return free_memory(self.xp) / 2

    def sums(self, gram: Gram, how: Plan, diagonal: Array, weights: Array) -> DeviceStored | DeviceRows | None:
        """Return what runs k-means: on the matrix stored, on features, or on rows computed each time.

        None where the processor would compute the rows each time: it is faster if it does the rest, too.
        """
        with within_memory(self.xp, f"A Gram of {len(gram):,} documents"):
            explicit = gram.features()
            if how is Plan.FEATURES and explicit is not None and explicit.rows.shape[1] > 0:
                return DeviceRows(self.xp, explicit.rows, explicit.scale, diagonal, weights)
            blocks = DeviceBlocks(gram, self.xp)
            if how is not Plan.STORE and blocks.there is None:
                return None
            return DeviceStored(self.xp, blocks, how is Plan.STORE, diagonal, weights)

    def products(self, features: Features) -> tuple[ModuleType, Function] | None:
        """Return products in float64, there where they are worth it and the features fit."""
        multiply = device_products(self.xp, features) if features.entries >= LEAST.products else None
        return super().products(features) if multiply is None else (self.xp, multiply)

    def blocks(self, gram: Gram, work: float) -> tuple[ModuleType, Function]:
        """Return blocks, there for much work; what cannot be computed there is copied, which is still faster."""
        return super().blocks(gram, work) if work < LEAST.blocks else (self.xp, device_block(self.xp, gram))

    def seeds(self, gram: Gram) -> Callable[[NDArray[np.intp]], DeviceDocuments] | None:
        """Return what draws seeds; None where the processor reads similarities sooner."""
        read = device_rows(self.xp, gram) if gram.cost().row >= LEAST.seeds else None
        return None if read is None else lambda among: DeviceDocuments(self.xp, read, among)

    def neighbours(self, gram: Gram, count: int, by_distance: bool) -> tuple[NDArray[np.intp], Array] | None:
        """Return the nearest documents, in double precision; None where the processor reads similarities sooner."""
        if gram.dtype != np.float64 or len(gram) ** 2 < LEAST.neighbours:
            return None
        read = device_rows(self.xp, gram)
        if read is None:
            return None
        with within_memory(self.xp, f"The search for neighbours of {len(gram):,} documents"):
            return nearest_on(self.xp, read, gram, count, by_distance)

    def meaning(self, network: Meaning, pieces: int) -> Function | None:
        """Return what encodes texts by meaning; None for few of them."""
        if pieces < LEAST.pieces:
            return None
        return device_meaning(self.xp, network, self.xp.cuda.runtime.getDevice()).encode

    def use_card(self, number: int) -> None:
        """Use one of several GPUs in this thread; numbers beyond the last begin again."""
        self.xp.cuda.Device(number % self.xp.cuda.runtime.getDeviceCount()).use()
