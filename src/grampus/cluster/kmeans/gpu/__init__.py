"""The backend of kernel k-means on a GPU: the same runs, with all that is large on the device.

The loops are in ``loops.cu``. The rest steers them: which documents moved, what the clusters' figures are, when a run
ends.
"""

from __future__ import annotations

from typing import Any

from ...._array import Array
from ....gram import Gram, Plan
from ....gram.device import DeviceBlocks
from .rows import DeviceRows
from .seeds import DeviceDocuments
from .stored import DeviceStored

FOR_DEVICE = 2**24  # multiplications of an iteration from which a device is faster than threads
_RANGE = 1e6  # lengths that differ by more are not for whole numbers

__all__ = ["DeviceDocuments", "DeviceRows", "DeviceStored", "on_gpu", "suits_device"]


def on_gpu(xp: Any, gram: Gram, how: Plan, diagonal: Array, weights: Array) -> DeviceStored | DeviceRows | None:
    """Return the backend on the device for a plan: the matrix stored, features, or rows computed each time.

    None where rows would be computed each time, by the processor: it then had better do the rest, too.
    """
    explicit = gram.features()
    if how is Plan.FEATURES and explicit is not None and explicit.rows.shape[1] > 0:
        return DeviceRows(xp, explicit.rows, explicit.scale, diagonal, weights)
    blocks = DeviceBlocks(gram, xp)
    if how is not Plan.STORE and blocks.there is None:
        return None
    return DeviceStored(xp, blocks, how is Plan.STORE, diagonal, weights)


def suits_device(work: float, diagonal: Array | None) -> bool:
    """Return whether iterations of so many multiplications are for a device.

    The lengths of documents with features must be near enough to each other for sums in whole numbers.
    """
    if work < FOR_DEVICE or diagonal is None:
        return work >= FOR_DEVICE
    sizes = diagonal[diagonal > 0]
    return len(sizes) == 0 or float(sizes.max()) <= _RANGE**2 * float(sizes.min())
