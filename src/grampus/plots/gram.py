"""Plots of a Gram: its entries, its eigenvalues, and the effect of normalising on a similarity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array

from .. import gram as grams
from .._array import Array
from .._check import check_integer, check_labels, check_number
from .._config import tile_rows
from ..errors import InputError
from ..gram import Gram, LinearGram, normalise
from ._axes import COLOUR_MAP, axes, legend, named, remove_frame, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CELLS = 400  # per side; a page on a screen shows no more
_ENDS = {(False, False): "neither", (True, False): "min", (False, True): "max", (True, True): "both"}
BRIGHT = 0.99  # the share of similarities between different documents that the colours cover


def heatmap(
    gram: Gram,
    labels: Any = None,
    *,
    cells: int = CELLS,
    limits: tuple[float, float] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Plot the similarities as a square of colours, the documents of a cluster side by side (`dominance`, Fig. 1).

    Above `cells` documents each cell is the mean of a block. The n × n matrix is not stored: it costs one pass of
    products.

    Parameters
    ----------
    gram : Gram
    labels : array of shape (n,), optional
        Clusters, in the order of their values, with lines between them. In the order of the documents by default.
    cells : int
        Largest number of rows of the picture.
    limits : (float, float), optional
        The similarities at the two ends of the colours. By default the lowest one, or 0 if that is above, and the 99 %
        point of those outside the diagonal, so that a dominant diagonal does not hide the blocks. Use the same limits
        to compare two Grams.
    ax : Axes, optional

    Returns
    -------
    Axes

    Examples
    --------
    >>> import numpy as np
    >>> from grampus import parse_kernel, plots
    >>> gram = parse_kernel("cosine").gram(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.1]]))
    >>> ax = plots.heatmap(gram, [0, 1, 0])
    >>> ax.images[0].get_array().round(1).tolist()
    [[1.0, 1.0, 0.0], [1.0, 1.0, 0.1], [0.0, 0.1, 1.0]]
    """
    named(gram, (Gram,), "heatmap needs a Gram")
    cells = check_integer(cells, "cells", low=1)
    clusters = np.zeros(len(gram), dtype=np.intp) if labels is None else check_labels(labels, len(gram))
    order = np.argsort(clusters, kind="stable")
    picture = averaged(gram, order, cells)
    low, high = _limits(picture) if limits is None else _checked(limits)
    ax = axes(ax, 5.0, 4.2)
    image = ax.imshow(picture, cmap=COLOUR_MAP, vmin=low, vmax=high, interpolation="nearest")
    borders = np.cumsum(np.bincount(clusters))[:-1] * (len(picture) / len(gram)) - 0.5
    for border in borders:
        ax.axhline(border, color="white", linewidth=0.6)
        ax.axvline(border, color="white", linewidth=0.6)
    ax.set(xticks=[], yticks=[], xlabel=f"{len(gram)} documents" + (", by cluster" if len(borders) else ""))
    beyond = 1e-6 * (high - low)  # ignore rounding
    ends = (picture.min() < low - beyond, picture.max() > high + beyond)
    beside = ax.inset_axes((1.04, 0.0, 0.05, 1.0))
    ax.figure.colorbar(image, cax=beside, extend=_ENDS[ends], label="similarity")
    return ax


def averaged(gram: Gram, order: Array, cells: int) -> Array:
    """Return the Gram with its documents in an order, as at most cells × cells means of blocks."""
    n = len(gram)
    if n <= cells:
        return gram.block(order, order).astype(np.float64, copy=False)
    cell = np.arange(n) * cells // n
    weights = 1.0 / np.bincount(cell)[cell]
    means = csr_array((weights, (order, cell)), shape=(n, cells)).tocsc()
    out, width = np.empty((cells, cells)), tile_rows(16 * n)
    for start in range(0, cells, width):
        part = slice(start, start + width)
        out[:, part] = means.T @ (gram @ means[:, part])
    return (out + out.T) / 2.0


def _limits(picture: Array) -> tuple[float, float]:
    low = min(float(picture.min()), 0.0)
    others = picture[~np.eye(len(picture), dtype=bool)]
    high = float(np.quantile(others, BRIGHT)) if len(others) else float(picture.max())
    return low, high if high > low else low + 1.0


def _checked(limits: Any) -> tuple[float, float]:
    if not isinstance(limits, Sequence) or len(limits) != 2:
        raise InputError(f"limits must be two numbers, the lowest and the highest similarity; got {limits!r}.")
    low, high = check_number(limits[0], "limits[0]"), check_number(limits[1], "limits[1]")
    if low >= high:
        raise InputError(f"limits must rise; got {low:g} and {high:g}.")
    return low, high


def scree(gram: Gram | Mapping[str, Gram], *, count: int | None = None, ax: Axes | None = None) -> Axes:
    """Plot the eigenvalues of one Gram or of several, largest first (`dominance`, Fig. 2).

    Parameters
    ----------
    gram : Gram, or mapping of names to Grams
        For example ``{"cosine": before, "cosine|shift": after}``.
    count : int, optional
        Only the `count` largest, from products alone. All by default, which needs the whole matrix.
    ax : Axes, optional

    Returns
    -------
    Axes

    Examples
    --------
    >>> import numpy as np
    >>> from grampus import plots
    >>> from grampus.gram import DenseGram, shift
    >>> before = DenseGram(np.diag([3.0, 2.0, 1.0]))
    >>> ax = plots.scree({"before": before, "after": shift(before)})
    >>> [line.get_ydata().round(6).tolist() for line in ax.lines[:2]]
    [[3.0, 2.0, 1.0], [1.0, 0.0, -1.0]]
    """
    grams_by_name = named(gram, (Gram,), "scree needs a Gram")
    values = {name: grams.eigenvalues(one, count) for name, one in grams_by_name.items()}
    ax = axes(ax)
    for position, (name, of) in enumerate(values.items()):
        look = style(position) | {"marker": "" if len(of) > 40 else "."}
        ax.plot(np.arange(1, len(of) + 1), of, label=name, **look)
    ax.axhline(0.0, color="grey", linewidth=0.6, zorder=0)
    ax.set(xlabel="rank", ylabel="eigenvalue")
    legend(ax, grams_by_name)
    return remove_frame(ax)


def normalised_curves(
    orders: Sequence[float] = (0.0, 1.0, 10.0, 100.0, np.inf), *, longest: float = 2.0, ax: Axes | None = None
) -> Axes:
    """Plot K^t of two vectors of one direction, and of opposite ones, as one gets longer (`normalised`, Fig. 1).

    Parameters
    ----------
    orders : sequence of float
        Values of t, at least 0; 0 is the cosine, which ignores the lengths.
    longest : float
        The ratio γ of the lengths runs from 1 to this.
    ax : Axes, optional

    Returns
    -------
    Axes

    Examples
    --------
    >>> from grampus import plots
    >>> ax = plots.normalised_curves([1])
    >>> float(ax.lines[0].get_ydata()[-1].round(3)), float(ax.lines[1].get_ydata()[-1].round(3))
    (0.8, -0.8)
    """
    longest = check_number(longest, "longest", above=1.0)
    ratios = np.linspace(1.0, longest, 101)
    lengths = LinearGram(np.append(1.0, ratios)[:, None])  # K^t(1, γ) on a line, by the transform itself
    curves = [normalise(lengths, order).block([0], slice(1, None))[0] for order in orders]
    ax = axes(ax)
    for position, (order, curve) in enumerate(zip(orders, curves, strict=True)):
        name = "∞" if np.isinf(order) else f"{order:g}"
        look = style(position) | {"marker": ""}
        ax.plot(ratios, curve, label=f"t = {name}", **look)
        ax.plot(ratios, -curve, **look)
    ax.set(xlabel="ratio γ of the lengths", ylabel="K^t where cos θ = 1 and −1")
    ax.legend(frameon=False)
    return remove_frame(ax)
