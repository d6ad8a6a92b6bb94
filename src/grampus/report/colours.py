"""Colours of groups: a hue for every branch of the tree, a shade of it for every group, neighbours far apart.

How far two colours are apart is measured as people see them, with usual and with each kind of colour-blind eyes, on
the light and on the dark page; the nearest of these counts.
"""

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from .._array import Array
from ..persist import Branch, Run
from .places import places_of

Mark = tuple[int, int]  # a hue, and percents of the page's ground (of its ink, if negative) that are mixed into it

# Of the light and the dark page, as in colours.css: eight hues that can be told apart with any kind of colour vision.
HUES = (
    ("#7f5fe0", "#9b9ffc"), ("#870830", "#d0433b"), ("#7ea214", "#bfeb53"), ("#d76a92", "#fcb0b1"),
    ("#9e5e10", "#c6930c"), ("#0aa1d4", "#2ae2fc"), ("#601597", "#9f50c9"), ("#39607a", "#6e7f88"),
)  # fmt: skip
INK, STAGE = ("#1b2025", "#e9ebec"), ("#ffffff", "#161b1f")
ORDER = (0, 4, 5, 1, 2, 6, 3, 7)  # hues of branches: those of neighbours in the tree look least alike
SHADES = (0, -40, 38, -22, 20, -50, 50, -31, 29)
NEAR, APART = 6, 0.05  # groups on the map from which a group must differ, and how much

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
    ('#7f5fe0', '#bbb1f3', '#9b9ffc')
    """
    linear = np.clip(np.linalg.inv(_LMS) @ (np.linalg.inv(_LAB) @ _mixed(mark, dark)) ** 3, 0.0, 1.0)
    value = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
    return "#" + "".join(f"{round(255 * float(one)):02x}" for one in value)


def differences(marks: Sequence[Mark]) -> Array:
    """Return how far each colour is from each other to the eyes that see it least, of shape (m, m)."""
    points = np.array([_seen(mark) for mark in marks])
    return np.asarray(np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=3)).min(axis=2))


def level_marks(run: Run, labels: NDArray[np.integer], count: int) -> list[Mark]:
    """Return a mark for every group of a partition of a run."""
    return group_marks(labels, count, places_of(run.layout.coordinates).at, run.evidence.tree, run.evidence.leaves)


def group_marks(
    labels: NDArray[np.integer], count: int, places: Array, tree: Sequence[Branch], leaves: NDArray[np.integer]
) -> list[Mark]:
    """Return a mark for every group: eight groups have eight hues; of more, those of one branch share a hue.

    Parameters
    ----------
    labels : int array of shape (n,)
    count : int
        Number of groups.
    places : array of shape (n, 2)
        Where the documents are drawn.
    tree, leaves
        Of the run.
    """
    branch_of = _branches(labels, count, tree, leaves)
    sizes = np.bincount(labels[labels >= 0], minlength=count)
    middles = np.array([np.median(places[labels == c], axis=0) if sizes[c] else (9.0, 9.0) for c in range(count)])
    far = ((middles[:, None] - middles[None]) ** 2).sum(axis=2)
    near = [set(np.argsort(row, kind="stable")[: NEAR + 1].tolist()) for row in far]
    palette = [(hue, shade) for shade in SHADES for hue in range(len(HUES))]
    apart, number = _table(), {mark: place for place, mark in enumerate(palette)}
    marks: dict[int, Mark] = {}
    used = dict.fromkeys(palette, 0)
    for c in sorted(range(count), key=lambda c: (-sizes[c], c)):
        wanted = ORDER[branch_of[c]] if branch_of[c] >= 0 else -1
        if count <= len(HUES):
            free = [hue for hue in ORDER if not used[hue, 0]]
            mark = (wanted if wanted in free else free[0], 0)
        else:
            beside = [number[marks[other]] for other in marks if other in near[c] or c in near[other]]
            clear = {one: float(apart[number[one], beside].min(initial=1.0)) for one in palette}
            mark = max(palette, key=lambda one: (min(clear[one], APART), -used[one], one[0] == wanted, clear[one]))
        marks[c] = mark
        used[mark] += 1
    return [marks[c] for c in range(count)]


def _branches(
    labels: NDArray[np.integer], count: int, tree: Sequence[Branch], leaves: NDArray[np.integer]
) -> list[int]:
    """Return which of eight branches with about as many groups each holds most of every group; −1 for none."""
    inside = (labels >= 0) & (leaves >= 0)
    if len(tree) < 2 or not inside.any():
        return [-1] * count
    shares = np.zeros((len(tree), count))
    np.add.at(shares, (leaves[inside], labels[inside]), 1.0)
    for branch in sorted(tree, key=lambda one: -one.index):  # children come after their parents
        if branch.parent >= 0:
            shares[branch.parent] += shares[branch.index]
    shares /= np.maximum(np.bincount(labels[labels >= 0], minlength=count), 1)
    root = next(branch.index for branch in tree if branch.parent < 0)
    parts = [root]
    while len(parts) < len(HUES):
        divisible = [part for part in parts if tree[part].children and shares[part].sum() > 1.0]
        if not divisible:
            break
        most = max(divisible, key=lambda part: (shares[part].sum(), -part))
        place = parts.index(most)
        parts[place : place + 1] = tree[most].children
    parts = parts[: len(HUES)]
    return [int(shares[parts, c].argmax()) if shares[parts, c].any() else -1 for c in range(count)]


@cache
def _table() -> Array:
    return differences([(hue, shade) for shade in SHADES for hue in range(len(HUES))])


def _mixed(mark: Mark, dark: bool) -> Array:
    hue, shade = mark
    share = abs(shade) / 100
    return (1 - share) * _oklab(HUES[hue][dark]) + share * _oklab((INK if shade < 0 else STAGE)[dark])


def _oklab(colour: str) -> Array:
    value = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)
    return np.asarray(_LAB @ np.cbrt(_LMS @ linear))


def _seen(mark: Mark) -> Array:
    """Return the colour in Oklab as eight kinds of eyes and pages show it, of shape (8, 3)."""
    seen = []
    for dark in (False, True):
        linear = np.linalg.inv(_LMS) @ (np.linalg.inv(_LAB) @ _mixed(mark, dark)) ** 3
        seen += [_LAB @ np.cbrt(_LMS @ np.clip(vision @ linear, 0.0, 1.0)) for vision in _VISION]
    return np.array(seen)
