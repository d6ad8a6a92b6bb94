"""Where the documents of a run are drawn: its layout, with wide gaps narrowed and crowded documents moved apart.

The layout itself is not changed. Groups stay in one piece and keep their neighbours; only empty space goes, and
documents of a small collection that would cover each other take the room that there is.
"""

from __future__ import annotations

import math
import weakref
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from .._array import Array

CELLS = 80  # across the map: what lies in one cell of a large collection moves together
GAP = 0.075  # of the longer side: wider gaps are narrowed to little more
DRAWS = 4  # at most: the gaps are measured anew after the widest have gone
FAR = 2.5  # times narrower, from which the page says how far an islet lies
ISLET, TOLD = 0.03, 3  # of the documents at most; the page tells of so many, the farthest
FEW = 2500  # documents that are moved apart one by one
ROOM = 0.4  # of the map for the discs around so few documents
WIDEST = 0.035  # of the longer side: the widest disc
ROUNDS = 90
MIDDLE, MOST = 0.5, 0.72  # at most so many of the documents lie in the middle half of the map
GOLDEN = 2.399963
_KEPT: dict[int, tuple[weakref.ref[NDArray[np.float32]], Places]] = {}  # of the last layout


@dataclass(frozen=True, eq=False)
class Places:
    """Where documents are drawn.

    Attributes
    ----------
    at : float array of shape (n, 2)
        Between 0 and 1, one scale for both axes, the second downwards; documents without a place are in the middle.
    islets : tuple of (x, y, times)
        A place in every small group that was drawn in, and how many times wider its gap is.
    room : float
        How far nearly every document is from the next; 0 for a large collection.
    marks : dict
        Marks of the partitions that were coloured here, by a digest of their labels.
    """

    at: Array
    islets: tuple[tuple[float, float, float], ...] = ()
    room: float = 0.0
    marks: dict[bytes, list[tuple[int, int]]] = field(default_factory=dict, repr=False)


def places_of(coordinates: NDArray[np.float32]) -> Places:
    """Return where to draw documents with these coordinates.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.report.places import places_of
    >>> line = np.array([[0, 0], [0.1, 0], [0.2, 0.1], [0.1, 0.2], [9, 0]])
    >>> found = places_of(np.repeat(line, 4, axis=0))
    >>> len(np.unique(found.at, axis=0)), len(found.islets)
    (20, 0)
    """
    kept = _KEPT.get(id(coordinates))
    if kept is not None and kept[0]() is coordinates:  # edits of a run change no place
        return kept[1]
    found = _placed(coordinates)
    _KEPT.clear()
    _KEPT[id(coordinates)] = weakref.ref(coordinates), found
    return found


def _placed(coordinates: NDArray[np.float32]) -> Places:
    known = np.asarray(np.isfinite(coordinates).all(axis=1))
    at = np.full((len(coordinates), 2), 0.5)
    if not known.any():
        return Places(at)
    places = _fitted(coordinates[known].astype(np.float64))
    if len(places) < 3:
        at[known] = places
        return Places(at)
    moved, times = places, np.ones(len(places))
    for _ in range(DRAWS):
        nearer, narrowed = _drawn_in(moved)
        times *= narrowed
        much = np.ptp(nearer, axis=0).max() < 0.7
        moved = _fitted(nearer)
        if not much:
            break
    moved = _fitted(_lying(moved))
    room = 0.0
    if len(moved) <= FEW:
        moved = _fitted(_apart(_widened(moved)))
        room = float(np.quantile(cKDTree(moved).query(moved, 2)[0][:, 1], 0.05))
    at[known] = moved
    far, first = np.unique(np.where(times > FAR, times, 0.0), return_index=True)
    told = [(*moved[i].tolist(), round(t, 1)) for i, t in zip(first, far.tolist(), strict=True) if t]
    return Places(at, tuple(told[-TOLD:]), room)


def _fitted(places: Array) -> Array:
    """Return places between 0 and 1, around the middle."""
    low, high = places.min(axis=0), places.max(axis=0)
    return np.clip((places - (low + high) / 2) / (float((high - low).max()) or 1.0) + 0.5, 0.0, 1.0)


def _lying(places: Array) -> Array:
    """Return places with the longer side across, turned by a quarter where it is not."""
    wide, high = np.ptp(places, axis=0)
    return places[:, ::-1] * [1.0, -1.0] if high > 1.1 * wide else places


def _drawn_in(places: Array) -> tuple[Array, Array]:
    """Narrow wide gaps; return the places, and how many times wider the gap around the islet of a document is."""
    if len(places) > FEW:
        across, down = np.minimum(places * CELLS, CELLS - 1).astype(np.int64).T
        cells, cell_of = np.unique(across * CELLS + down, return_inverse=True)
        # In whole numbers gaps of equal width are equal to the last bit on every computer.
        points, unit = np.column_stack(np.divmod(cells, CELLS)).astype(np.float64), float(CELLS)
    else:
        points, cell_of, unit = places, np.arange(len(places)), 1.0
    near = cKDTree(points).query_pairs(GAP * unit, output_type="ndarray")
    graph = coo_array((np.ones(len(near)), (near[:, 0], near[:, 1])), shape=(len(points), len(points)))
    count, part_of = connected_components(graph, directed=False)
    sizes = np.bincount(part_of[cell_of], minlength=count)
    shift, times = np.zeros((count, 2)), np.ones(count)
    placed = [int(sizes.argmax())]
    left = set(range(count)) - set(placed)
    # From the largest part on, the part whose gap to those before is the narrowest moves with the one it is nearest to.
    gap, pair = np.full(count, np.inf), np.zeros((count, 2), dtype=np.intp)
    while left:
        own = np.flatnonzero(part_of == placed[-1])
        waiting = np.flatnonzero(np.isin(part_of, list(left)))
        distance, nearest = cKDTree(points[own]).query(points[waiting])
        for part in left:
            mine = np.flatnonzero(part_of[waiting] == part)
            best = mine[distance[mine].argmin()]
            if distance[best] < gap[part]:
                gap[part], pair[part] = distance[best], (waiting[best], own[nearest[best]])
        part = min(left, key=lambda one: (gap[one], one))
        here, there = pair[part]
        wide = float(gap[part]) / unit
        narrow = GAP * (1.0 + 0.2 * np.log2(wide / GAP))
        way = (points[there] - points[here]) / gap[part]
        shift[part] = shift[part_of[there]] + way * (wide - narrow)
        times[part] = wide / narrow if sizes[part] <= ISLET * len(places) else 1.0
        placed.append(part)
        left.remove(part)
    return places + shift[part_of[cell_of]], times[part_of[cell_of]]


def _widened(places: Array) -> Array:
    """Stretch the middle of the map until it holds no more than its share of the documents."""
    for _ in range(12):
        offset = places - np.median(places, axis=0)
        half = np.abs(places - (places.min(axis=0) + places.max(axis=0)) / 2) / (np.ptp(places, axis=0) + 1e-12)
        if (half < MIDDLE**0.5 / 2).all(axis=1).mean() <= MOST:
            break
        reach = np.abs(offset).max(axis=0) + 1e-12
        places = _fitted(np.sign(offset) * np.abs(offset / reach) ** 0.85 * reach)
    return places


def _apart(places: Array) -> Array:
    """Move documents apart until they have about equal room, as far as there is any."""
    n = len(places)
    turn = np.arange(n) * GOLDEN
    spiral = 1e-5 * np.column_stack([np.cos(turn), np.sin(turn)])  # copies part in directions of their own
    # An error of rounding grows up to 10⁸ times in the rounds, so all computers must begin them with the same bits.
    places = np.rint(places * 2.0**20) / 2.0**20 + np.rint(spiral * 2.0**40) / 2.0**40
    area = max(float(np.ptp(places, axis=0).prod()), 0.4)
    room = min(WIDEST, math.sqrt(ROOM * area / (0.87 * n)))
    for _ in range(ROUNDS):
        pairs = cKDTree(places).query_pairs(room, output_type="ndarray")
        if not len(pairs):
            break
        apart = places[pairs[:, 0]] - places[pairs[:, 1]]
        distance = np.maximum(np.sqrt((apart**2).sum(axis=1)), 1e-9)
        push = apart * (0.25 * (room - distance) / distance)[:, None]
        one, other = pairs.T
        move = np.column_stack([np.bincount(one, along, n) - np.bincount(other, along, n) for along in push.T])
        length = np.maximum(np.sqrt((move**2).sum(axis=1)), 1e-12)
        places = places + move * np.minimum(1.0, room / length)[:, None]
    return places
