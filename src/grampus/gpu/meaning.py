"""The sentence encoder on a device, with the bits of ``_native/encoder_loops.cpp``.

Products of whole numbers are exact in floating point while their sums stay below what it can count to, in any order of
addition. Everything else is one operation after the other in double precision, in the order of the compiled loops: no
two of them are joined in one function, so that none can be fused.
"""

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._array import as_numpy
from .._native.encoder import BEFORE, DIMENSIONS, WINDOWS, Meaning, unpack_weights
from .card import within_memory

_TOGETHER = 2**14  # pieces: about 2 GB of the device
_EXACT = 2**24 // 127**2  # products of 8-bit numbers that single precision adds exactly
_BRANCH, _HIDDEN = 256, 320


class DeviceMeaning:
    """The network on a device.

    Parameters
    ----------
    xp : module
        The array library of the device.
    network : Meaning
    """

    def __init__(self, xp: Any, network: Meaning) -> None:
        self.xp, self.network, self.epsilon = xp, network, network.epsilon
        self.table = xp.asarray(np.stack(network.tables, axis=1).reshape(-1, DIMENSIONS))
        # Weights in the precision that adds their products exactly.
        exact = [unpack_weights(one).astype(np.float32 if one[3] <= _EXACT else np.float64) for one in network.layers]
        layers = [(xp.asarray(one), xp.asarray(layer[1])) for one, layer in zip(exact, network.layers, strict=True)]
        self.project, self.first, self.second, self.dense = layers[0], layers[1:4], layers[4:7], layers[7:]
        numbers = [xp.asarray(values) for values in network.numbers]
        (self.scale, self.low, *self.projected), self.biases, self.last = numbers[:6], numbers[6:12], numbers[12:]

    def encode(self, pieces: NDArray[np.int32], starts: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return a row of unit length for each text, given as pieces and where each text begins, and the last ends."""
        pieces, starts = self.network.check(pieces, starts)
        rows = np.empty((len(starts) - 1, DIMENSIONS), np.float32)
        lengths = np.diff(starts)
        order = np.argsort(-lengths, kind="stable")
        first = 0
        with within_memory(self.xp, "Encoding texts by meaning"):
            while first < len(order):
                last = first + max(int(np.searchsorted(np.cumsum(lengths[order[first:]]), _TOGETHER, "right")), 1)
                some = order[first:last]
                own = np.concatenate([np.arange(starts[i], starts[i + 1]) for i in some])
                rows[some] = as_numpy(self._some(pieces[own], lengths[some]))
                first = last
        return rows

    def _some(self, pieces: NDArray[np.int32], lengths: NDArray[np.int64]) -> Any:
        """Return the rows of texts, the longest first."""
        xp = self.xp
        distinct, places = np.unique(pieces, return_inverse=True)
        begins = np.repeat(np.cumsum(lengths) - lengths, lengths)
        ends, at = begins + np.repeat(lengths, lengths), np.arange(len(pieces))
        known, place = xp.asarray(distinct), xp.asarray(places.reshape(-1))
        table, rows = self._projected(known, xp.asarray(distinct % len(self.scale)))
        parts = [table[place]]
        for branch, size in enumerate(WINDOWS):
            others = [at + o - BEFORE[branch] for o in range(size)]
            inside = [xp.asarray((begins <= other) & (other < ends)) for other in others]
            near = [xp.asarray(np.clip(other, 0, len(at) - 1)) for other in others]
            own = rows[:, branch * _BRANCH : (branch + 1) * _BRANCH]
            hidden = self._window(self.first[branch], self.biases[branch], own, place, near, inside)
            parts.append(self._window(self.second[branch], self.biases[3 + branch], hidden, None, near, inside))
        features = self._normalised(np.concatenate(parts, axis=1).astype(np.float64), *self.last[:2])
        sums, first = xp.zeros((len(lengths), features.shape[1])), xp.asarray(np.cumsum(lengths) - lengths)
        for number in range(int(lengths[0])):
            some = int((lengths > number).sum())
            sums[:some] += features[first[:some] + number]
        return self._finished(sums, xp.asarray(lengths.astype(np.float64))[:, None])

    def _projected(self, pieces: Any, chunk: Any) -> tuple[Any, Any]:
        """Return the rows of the table, and what the branches begin with."""
        low, bias, scale, shift = self.projected
        numbers, step, least = self.table[pieces], self.scale[chunk][:, None], self.low[chunk][:, None]
        values = self._products(numbers, self.project) * (step * self.project[1])
        values += least * low
        values += bias
        table = numbers.astype(np.float64) * step
        table += least
        return table, self._normalised(values, scale, shift).astype(np.float32)

    def _window(self, layer: Any, bias: Any, rows: Any, place: Any, near: list[Any], inside: list[Any]) -> Any:
        """Return the sums over windows, at least 0, and the rows themselves; row `place` is that of a piece."""
        xp = self.xp
        whole, scale = self._rounded(rows)
        products = self._products(whole, layer)
        sums = xp.zeros((len(near[0]), _BRANCH)) + bias
        for o, (other, valid) in enumerate(zip(near, inside, strict=True)):
            row, part = other if place is None else place[other], slice(o * _BRANCH, (o + 1) * _BRANCH)
            term = products[row, part] * (scale[row] * layer[1][part])
            sums += np.where(valid[:, None], term, 0.0)
        return (np.where(sums > 0, sums, 0.0) + (rows if place is None else rows[place])).astype(np.float32)

    def _finished(self, sums: Any, lengths: Any) -> Any:
        """Return the rows of texts from the sums of their features."""
        join, hidden, inner, outer, last = self.dense
        value = self._applied(sums, join)
        value += lengths * self.last[2]
        both = self._applied(value * (1.0 / np.sqrt(lengths)), hidden)
        around = self._applied(self._positive(both[:, :_HIDDEN]), inner)
        within = self._positive(both[:, _HIDDEN:] + around)
        both = self._applied(within, outer)
        value = self._tanh(both[:, DIMENSIONS:] + self._applied(self._positive(both[:, :DIMENSIONS]), last))
        squares = _in_lanes(value * value)
        squares = np.where(squares > self.epsilon, squares, self.epsilon)
        return (value * (1.0 / np.sqrt(squares))).astype(np.float32)

    def _positive(self, values: Any) -> Any:
        return np.where(values > 0, values, 0.0)

    def _applied(self, values: Any, layer: Any) -> Any:
        whole, scale = self._rounded(values)
        return self._products(whole, layer) * (scale * layer[1])

    def _rounded(self, values: Any) -> tuple[Any, Any]:
        """Return rows as whole numbers of 8 bits, and their scales."""
        exact = values.astype(np.float64)
        most = abs(exact).max(axis=1)[:, None]
        inverse = np.where(most > 0, 127.0 / np.where(most > 0, most, 1.0), 0.0)
        return np.rint(exact * inverse), most / 127.0

    def _products(self, whole: Any, layer: Any) -> Any:
        """Return exact products in double precision."""
        return (whole.astype(layer[0].dtype) @ layer[0]).astype(np.float64)

    def _normalised(self, values: Any, scale: Any, bias: Any) -> Any:
        """Normalise rows."""
        count = values.shape[1]
        values = values - _in_lanes(values) / count
        spread = _in_lanes(values * values) / count
        values = values * (1.0 / np.sqrt(spread + self.epsilon))
        values *= scale
        values += bias
        return values

    def _tanh(self, values: Any) -> Any:
        size = abs(values)
        x = 2.0 * np.where(size > 20.0, 20.5, size)
        whole = np.floor(x * 1.4426950408889634 + 0.5)
        rest = (x - whole * 6.93147180369123816490e-01) - whole * 1.90821492927058770002e-10
        total = x * 0.0 + 1.0
        for n in range(14, 0, -1):
            total = 1.0 + total * rest / n
        power = np.ldexp(total, whole.astype(np.int32))
        found = np.where(size > 20.0, 1.0, 1.0 - 2.0 / (power + 1.0))
        return np.where(values < 0, -found, found)


def _in_lanes(values: Any) -> Any:
    """Return the sum of each row in eight lanes, added as a tree."""
    parts = values.reshape(len(values), -1, 8)
    lanes = parts[:, 0] + 0.0
    for number in range(1, parts.shape[1]):
        lanes += parts[:, number]
    a, b, c, d, e, f, g, h = (lanes[:, lane] for lane in range(8))
    return (((a + e) + (c + g)) + ((b + f) + (d + h)))[:, None]


@lru_cache(maxsize=4)
def device_meaning(xp: Any, network: Meaning, card: int) -> DeviceMeaning:
    """Return the network on a card; it is copied there once."""
    return DeviceMeaning(xp, network)
