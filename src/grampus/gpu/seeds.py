"""Greedy k-means++ on a device: the draws of ``_native/seeding.cpp``, with the distances there."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._array import Array, as_numpy
from .._backend import BackendSeeds
from ..cluster.kmeans.state import Labels
from .card import within_memory

_NOISE = 1e-12  # of their size: distances that differ by less are equal, as on the processor


class DeviceDocuments(BackendSeeds):
    """Some of the documents of a Gram on a device.

    Parameters
    ----------
    xp : module
        The array library of the device.
    read : callable
        Turns positions in the Gram into similarities to all of its documents (`blocks.device_rows`).
    among : array of int
        The positions of the documents.
    """

    def __init__(self, xp: Any, read: Callable[[Any], Any], among: NDArray[np.intp]) -> None:
        self.xp, self.read, self.among = xp, read, xp.asarray(among)

    def similarities(self, centres: Any) -> Any:
        """Return the similarities of some of these documents to all of them."""
        similar = self.read(self.among[centres])
        return similar if similar.shape[1] == len(self.among) else similar[:, self.among]

    def spread(self, diagonal: Array, mass: Array, trials: int, uniform: Array) -> Labels:
        """Draw one document, then the best of `trials` again and again; join each to its nearest."""
        k = 1 + (len(uniform) - 1) // trials
        with within_memory(self.xp, f"The search for seeds of {k:,} clusters of {len(diagonal):,} documents"):
            return self._spread(diagonal, mass, trials, uniform)

    def _spread(self, diagonal: Array, mass: Array, trials: int, uniform: Array) -> Labels:
        xp, n = self.xp, len(diagonal)
        noise = _NOISE * float(mass @ np.abs(diagonal))
        own, weights = xp.asarray(diagonal), xp.asarray(mass)
        nearest, labels = xp.ones(n, dtype=np.float64), xp.zeros(n, dtype=np.int32)
        for step, draws in enumerate(np.split(uniform, np.arange(1, len(uniform), trials))):
            total = np.cumsum(weights * nearest)
            last = float(as_numpy(total[-1:])[0])
            if not last > 0:
                break  # every document equals a centre
            centres = np.minimum(np.searchsorted(total, xp.asarray(draws * last), side="right"), n - 1)
            sizes = own[centres][:, None] + own
            squared = sizes - 2.0 * self.similarities(centres)
            away = np.where(squared > _NOISE * abs(sizes), squared, 0.0)
            best = 0
            if step == 0:
                nearest = xp.full(n, np.inf)
            else:
                left = as_numpy((weights * np.minimum(away, nearest)).sum(axis=1))
                best = int((left <= left.min() + noise).argmax())  # the first of equals
            labels[away[best] < nearest - _NOISE * sizes[best]] = step
            nearest = np.minimum(nearest, away[best])
            labels[centres[best : best + 1]], nearest[centres[best : best + 1]] = step, 0.0
        return np.asarray(as_numpy(labels))
