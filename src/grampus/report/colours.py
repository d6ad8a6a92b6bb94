"""Colours of groups: one for every group, neighbours on the map and in the legend far apart.

How far two colours are apart is measured as people see them, with usual and with each kind of colour-blind eyes, on
the light and on the dark page; the nearest of these counts.
"""

from collections.abc import Sequence
from functools import cache, lru_cache
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from .._array import Array, members_of_clusters
from .._parallel import thread_count
from ..persist import Run
from .places import Places, places_of

Mark = tuple[int, int]  # a hue, and percents of the page's ground (of its ink, if negative) that are mixed into it

# Of the light and the dark page, as in colours.css: twenty hues that can be told apart with any kind of colour vision;
# the first eight and the first fourteen more easily.
HUES = (
    ("#0e4647", "#79fbfe"), ("#5b067d", "#dca6e1"), ("#7f6358", "#e38c50"), ("#fb57b8", "#8b5e7a"),
    ("#bc8f1f", "#fde60e"), ("#3399fe", "#1694e8"), ("#7c0c04", "#ec1631"), ("#2a35c7", "#634af0"),
    ("#555b02", "#5c7b13"), ("#1b8f7e", "#19c698"), ("#9a2579", "#af25a9"), ("#8a9e7b", "#c1da9d"),
    ("#2e68a6", "#889eb3"), ("#628500", "#88d62e"), ("#b5190b", "#d56e7d"), ("#4760ff", "#747fc1"),
    ("#7d53d5", "#8d5dd2"), ("#6c9aab", "#12d0fe"), ("#d71663", "#fec2cd"), ("#b682d5", "#d164f1"),
)  # fmt: skip
INK, STAGE = ("#1b2025", "#e9ebec"), ("#ffffff", "#161b1f")
FIRST = (8, 14, 20)  # of the hues, those taken for so many groups
SHADES = (0, -40, 38, -22, 20, -50, 50, -31, 29)
NEXT, NEAR = 3, 6  # groups on the map from which a group must differ most, and from which it must
APART, FAR_APART = 0.15, 0.25  # colours are not alike from here on: to all eyes, to usual ones
DEAR = 0.03  # what a shade costs: pale and dark colours only where hues would be alike
LOOKED_AT, AROUND = 20_000, 8  # documents, and their neighbours, by which groups that touch are found
MOST_KEPT = 100  # partitions whose marks are kept
SWAPPED = 200  # colours at most among which two groups change places

# Machado, Oliveira & Fernandes 2009: full protanopia, deuteranopia and tritanopia, in linear RGB.
_VISION = np.array([
    (1, 0, 0, 0, 1, 0, 0, 0, 1),
    (0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998),
    (0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.01182, 0.04294, 0.968881),
    (1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.3039),
]).reshape(4, 3, 3)  # fmt: skip
# Ottosson 2020: a difference of 0.02 in Oklab is just seen.
_LMS = np.array([
    (0.4122214708, 0.5363325363, 0.0514459929), (0.2119034982, 0.6806995451, 0.1073969566),
    (0.0883024619, 0.2817188376, 0.6299787005),
])  # fmt: skip
_LAB = np.array([
    (0.2104542553, 0.793617785, -0.0040720468), (1.9779984951, -2.428592205, 0.4505937099),
    (0.0259040371, 0.7827717662, -0.808675766),
])  # fmt: skip


def hex_of(mark: Mark, *, dark: bool = False) -> str:
    """Return the colour of a mark, as the page mixes it.

    Examples
    --------
    >>> from grampus.report.colours import hex_of
    >>> hex_of((0, 0)), hex_of((0, 50)), hex_of((0, 0), dark=True)
    ('#0e4647', '#859e9e', '#79fbfe')
    """
    linear = np.clip(np.linalg.inv(_LMS) @ (np.linalg.inv(_LAB) @ _mixed(mark, dark)) ** 3, 0.0, 1.0)
    value = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
    return "#" + "".join(f"{round(255 * float(one)):02x}" for one in value)


def differences(marks: Sequence[Mark]) -> Array:
    """Return how far each colour is from each other to the eyes that see it least, of shape (m, m)."""
    return np.asarray(_by_eyes(marks).min(axis=2))


def level_marks(run: Run, labels: NDArray[np.integer], count: int) -> list[Mark]:
    """Return a mark for every group of a partition of a run; one that was coloured before keeps its marks."""
    places = places_of(run.layout.coordinates)
    key = sha256(b"%d " % count + labels.astype(np.int32).tobytes()).digest()
    if key not in places.marks:
        made = group_marks(labels, count, places)
        while len(places.marks) >= MOST_KEPT:
            del places.marks[next(iter(places.marks))]
        places.marks[key] = made
    return places.marks[key]


def group_marks(labels: NDArray[np.integer], count: int, places: Places) -> list[Mark]:
    """Return a mark for every group: up to twenty have hues of their own; of more, some have shades of one hue.

    Parameters
    ----------
    labels : int array of shape (n,)
    count : int
        Number of groups.
    places : Places
        Where the documents are drawn.
    """
    hues = next((first for first in FIRST if count <= first), FIRST[-1])
    rounds = 1 if count <= hues else -(-count // hues) + 1  # one more than needed, to choose from
    palette = [(hue, shade) for shade in SHADES[:rounds] for hue in range(hues)]
    options = np.arange(hues * rounds) % len(palette)
    close = np.zeros((len(options), len(options)))  # what is not needed goes to groups that are close to none
    close[:count, :count] = _closeness(labels, count, places)
    seen = _by_eyes(palette)
    # To usual eyes (every fourth) colours of one hue look alike though they differ in lightness.
    alike = np.maximum(1 - seen.min(axis=2) / APART, 0) ** 4
    alike += 0.1 * np.maximum(1 - seen[:, :, ::4].min(axis=2) / FAR_APART, 0) ** 2
    dear = np.array([DEAR if shade else 0.0 for _, shade in palette])
    chosen = options[_spread(close, alike[np.ix_(options, options)], dear[options])]
    return [palette[option] for option in chosen[:count].tolist()]


def _closeness(labels: NDArray[np.integer], count: int, places: Places) -> Array:
    """Return how much each two groups must differ: by how they touch on the map, and as successors in the legend."""
    some = np.flatnonzero(labels >= 0)
    some = some[:: -(-len(some) // LOOKED_AT) or 1]
    touching = np.zeros((count, count))
    if len(some) > 1:
        beside = _neighbours(places, some.tobytes())
        pairs = labels[some].astype(np.intp)[:, None] * count + labels[some][beside]
        touching = np.bincount(pairs.ravel(), minlength=count**2).reshape(count, count).astype(float)
    np.fill_diagonal(touching, 0.0)
    close = 3.0 * touching / np.maximum(touching.sum(axis=1, keepdims=True), 1.0)
    axes = np.ascontiguousarray(places.at.T)
    groups = members_of_clusters(labels, count)
    middles = np.array([[np.median(axis[group]) if len(group) else 9.0 for axis in axes] for group in groups])
    far = ((middles[:, None] - middles[None]) ** 2).sum(axis=2)
    rank = far.argsort(axis=1, kind="stable").argsort(axis=1, kind="stable")
    close += np.where(rank <= NEAR, np.where(rank <= NEXT, 1.0, 0.3), 0.002)
    following = np.arange(count - 1)
    close[following, following + 1] += 1.0
    close = close + close.T
    np.fill_diagonal(close, 0.0)
    return close


@lru_cache(maxsize=1)  # the levels of a run ask for the same documents, and so do most edits
def _neighbours(places: Places, some: bytes) -> NDArray[np.intp]:
    """Return the nearest of some documents to each of them, of shape (m, up to 8)."""
    at = places.at[np.frombuffer(some, dtype=np.intp)]
    return np.asarray(cKDTree(at).query(at, min(AROUND + 1, len(at)), workers=thread_count())[1][:, 1:])


def _spread(close: Array, alike: Array, dear: Array) -> NDArray[np.intp]:
    """Give every group a colour so that those which are close are little alike: one by one, then by swaps."""
    count, needed = len(close), np.asarray(close.any(axis=1))
    chosen = np.zeros(count, dtype=np.intp)
    free, done = np.ones(count, dtype=bool), np.zeros(count, dtype=bool)
    for group in np.argsort(-close.sum(axis=1), kind="stable").tolist():
        beside = np.flatnonzero(done & (close[group] > 0.1))
        cost = np.where(free, close[group, beside] @ alike[chosen[beside]] + needed[group] * dear, np.inf)
        chosen[group] = int(cost.round(9).argmin())
        free[chosen[group]], done[group] = False, True
    for _ in range(4 * count if count <= SWAPPED else 0):
        cost = close @ alike[chosen][:, chosen] + np.outer(needed, dear[chosen])  # of a group in another's colour
        own = np.diag(cost)
        change = cost + cost.T - own[:, None] - own + 2 * close * (alike[chosen][:, chosen] - alike[0, 0])
        one, other = np.unravel_index(int(change.round(9).argmin()), change.shape)
        if change[one, other] > -1e-9:
            break
        chosen[[one, other]] = chosen[[other, one]]
    return chosen


def _by_eyes(marks: Sequence[Mark]) -> Array:
    """Return how far each colour is from each other to eight kinds of eyes and pages, of shape (m, m, 8)."""
    points = np.array([_seen(mark) for mark in marks])
    return np.asarray(np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=3)))


def _mixed(mark: Mark, dark: bool) -> Array:
    hue, shade = mark
    share = abs(shade) / 100
    return (1 - share) * _oklab(HUES[hue][dark]) + share * _oklab((INK if shade < 0 else STAGE)[dark])


def _oklab(colour: str) -> Array:
    value = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)
    return np.asarray(_LAB @ np.cbrt(_LMS @ linear))


@cache
def _seen(mark: Mark) -> Array:
    """Return the colour in Oklab as eight kinds of eyes and pages show it, of shape (8, 3)."""
    seen = []
    for dark in (False, True):
        linear = np.linalg.inv(_LMS) @ (np.linalg.inv(_LAB) @ _mixed(mark, dark)) ** 3
        seen += [_LAB @ np.cbrt(_LMS @ np.clip(vision @ linear, 0.0, 1.0)) for vision in _VISION]
    return np.array(seen)
