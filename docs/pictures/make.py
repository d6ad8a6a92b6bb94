"""Draw the pictures of the guide: ``make pictures``, or ``python docs/pictures/make.py NAME …`` for some of them.

Every picture is a function that returns a figure, from synthetic points or from SciPy's own documentation
(``grampus.datasets``), with fixed seeds. The same versions of SciPy and matplotlib give the same bytes.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from io import BytesIO
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from PIL import Image

from grampus import PDDP, KernelKMeans, SpectralKMeans, choose_k, parse_kernel, plots
from grampus.cluster import Clustering, History, embedding_2d, kernel_kmeans, pddp
from grampus.datasets import scipy_docstrings
from grampus.describe import keywords
from grampus.gram import LinearGram, dominance_ratio, nystrom, relative_error
from grampus.select import Splits, reduce_gram
from grampus.text import TermVectorizer

HERE = Path(__file__).parent
DOTS = 144  # an inch: sharp on a screen with two dots for one
BLUE, ORANGE, GREEN = "#0072B2", "#D55E00", "#009E73"
LOOK = {"font.size": 9, "axes.titlesize": 9, "axes.titlelocation": "left"}
PICTURES: dict[str, Callable[[], Figure]] = {}


def picture(function: Callable[[], Figure]) -> Callable[[], Figure]:
    """Enter a function into the table under its name."""
    PICTURES[function.__name__.replace("_", "-")] = function
    return function


def panels(count: int, width: float = 7.2, height: float = 2.6):
    """Return a figure and its Axes from left to right."""
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, np.atleast_1d(figure.subplots(1, count))


def dots(ax, points, labels, size: int, colours=(BLUE, ORANGE)) -> None:
    """Draw points of two groups, without ticks."""
    for label, colour, marker in zip((0, 1), colours, "o^", strict=True):
        ax.scatter(*points[labels == label].T, s=size, color=colour, marker=marker, linewidths=0)
    ax.set(xticks=[], yticks=[])


# -- SciPy's documentation, ten pages of each subpackage


@cache
def pages(each: int = 10):
    """Return weighted terms, subpackages and the names of the terms."""
    corpus = scipy_docstrings()
    labels = np.array(corpus.labels)
    places = [np.flatnonzero(labels == name) for name in sorted(set(labels))]
    chosen = np.concatenate([place[:: len(place) // each][:each] for place in places])
    terms = TermVectorizer("lfc", min_df=3)
    weights = terms.fit_transform([corpus.texts[i] for i in chosen])
    return weights, labels[chosen], terms.get_feature_names_out().tolist()


WAYS = {
    "cosine": ("cosine", False),
    "cosine|shift": ("cosine|shift", False),
    "cosine|shift|map": ("cosine|shift|map", False),
    "cosine, adjusted": ("cosine", True),
}


@cache
def starts(kernel: str, adjusted: bool) -> Clustering:
    """Return fifty starts of kernel k-means on the pages."""
    weights, labels, _ = pages()
    gram = parse_kernel(kernel).gram(weights)
    return kernel_kmeans(gram, len(set(labels)), rule="adjusted" if adjusted else "plain", n_init=50, random_state=0)


@picture
def dominance_gram() -> Figure:
    figure, axes = panels(3, height=2.2)
    weights, labels, _ = pages()
    for ax, kernel in zip(axes, ("cosine", "cosine|shift", "cosine|shift|map"), strict=True):
        gram = parse_kernel(kernel).gram(weights)
        plots.heatmap(gram, labels, limits=(0.0, 1.0), ax=ax)
        ax.set(title=f"{kernel}: ratio {dominance_ratio(gram):.1f}", xlabel="")
    return figure


@picture
def dominance_moves() -> Figure:
    figure, (ax,) = panels(1, 5.4, 3.0)
    means = {}
    for name, (kernel, adjusted) in WAYS.items():
        moves = np.zeros((50, 12))
        for row, history in zip(moves, starts(kernel, adjusted).runs.histories, strict=True):
            row[: len(history.moves)] = history.moves[: len(row)]
        means[name] = History(moves.mean(axis=0), np.full(12, np.nan))  # type: ignore[arg-type]
    plots.reassignments(means, ax=ax)
    ax.set_title("110 pages, mean of 50 random starts")
    return figure


@picture
def dominance_eigenvalues() -> Figure:
    figure, (ax,) = panels(1, 5.4, 3.0)
    weights, _, _ = pages()
    plots.scree({k: parse_kernel(k).gram(weights) for k in ("cosine", "cosine|shift", "cosine|shift|map")}, ax=ax)
    ax.set_ylim(-1.3, 6.0)
    return figure


# -- kernel k-means


@picture
def kernel_k_means() -> Figure:
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, 300)
    radius = np.repeat([0.5, 2.0], [100, 200]) + rng.normal(scale=0.12, size=300)
    points = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    figure, axes = panels(2, 5.4, 2.7)
    for ax, kernel in zip(axes, ("linear", "gaussian(0.7)"), strict=True):
        labels = KernelKMeans(2, kernel=kernel, n_init=20, random_state=0).fit(points).labels_
        labels = labels if labels[0] == 0 else 1 - labels
        dots(ax, points, labels, 7)
        ax.set(title=kernel, aspect="equal")
    return figure


# -- the choice of k


@picture
def choosing_k() -> Figure:
    rng = np.random.default_rng(0)
    points = np.repeat(np.eye(5) * 3.2, 40, axis=0) + rng.normal(size=(200, 5))
    found = choose_k(points, kernel="linear", ks=range(2, 9), scheme="KKM-S", splits=Splits(40), random_state=0)
    figure, (ax,) = panels(1, 5.4, 3.0)
    found.plot(ax=ax)
    return figure


@picture
def reduction() -> Figure:
    corpus = scipy_docstrings()
    labels = np.array(corpus.labels)
    gram = parse_kernel("cosine").gram(TermVectorizer("lfc", min_df=3).fit_transform(corpus.texts))
    reduced = reduce_gram(gram)
    figure, (left, right) = panels(2, 5.8, 2.6)
    for ax, shown, names in ((left, gram, labels), (right, reduced.gram, labels[reduced.seeds])):
        plots.heatmap(shown, names, limits=(0.0, 0.4), cells=200, ax=ax)
        ax.set(title=f"{len(shown)} {'documents' if shown is gram else 'prototypes'}", xlabel="by subpackage")
    return figure


# -- kernels


@picture
def kernels_as_fields() -> Figure:
    figure, axes = panels(4, height=2.1)
    side = np.linspace(-2.0, 2.0, 81)
    grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    centre = np.array([[1.0, 0.5]])
    for ax, kernel in zip(axes, ("linear", "cosine", "linear|normalise(inf)", "gaussian(1)"), strict=True):
        grid_similarity = parse_kernel(kernel).cross(centre, grid + 1e-9)[0].reshape(81, 81)
        ax.contourf(side, side, grid_similarity, levels=12, cmap="cividis")
        ax.plot(*centre[0], "o", color="white", markeredgecolor="black", markersize=5)
        ax.set(title=kernel, aspect="equal", xticks=[], yticks=[])
    return figure


@picture
def normalised_kernels() -> Figure:
    figure, (ax,) = panels(1, 5.4, 3.0)
    plots.normalised_curves(ax=ax)
    return figure


# -- strings


@picture
def string_kernels() -> Figure:
    words = ["colour", "colours", "coloured", "discolour", "normal", "normalise", "normalised", "abnormal"]
    figure, axes = panels(3, height=2.6)
    for ax, kernel in zip(axes, ("spectrum(3)", "boundrange(6)", "subsequence(3, decay=0.5)"), strict=True):
        plots.heatmap(parse_kernel(f"{kernel}|normalise").gram(words), limits=(0.0, 1.0), ax=ax)
        ax.set(title=kernel, xlabel="")
        ax.set_yticks(range(len(words)), words if ax is axes[0] else [])
        ax.set_xticks(range(len(words)), words, rotation=90)
    return figure


# -- trees


@picture
def tree_of_points() -> Figure:
    rng = np.random.default_rng(3)
    groups = ((0.0, 0.0), (1.0, 0.35), (120, 2)), ((4.0, 1.2), (0.5, 0.35), (50, 2))
    points = np.concatenate([rng.normal(*group) for group in groups])
    gram = LinearGram(points)
    figure, (left, right) = panels(2, height=2.9)
    tree = pddp(gram, 2, cut="projection")
    model = PDDP(2, cut="projection").fit(points)
    direction, centre = model.direction()[:, 0], points.mean(axis=0)
    threshold = tree.root.split.thresholds[0]
    dots(left, points, tree.labels, 8, (BLUE, GREEN))
    across = np.array([-direction[1], direction[0]])
    ends = [centre - 4.5 * direction, centre + 4.5 * direction]
    left.plot(*np.transpose(ends), color="grey", linewidth=1)
    for place, stroke in ((0.0, ":"), (threshold, "--")):
        ends = [centre + place * direction + side * across for side in (-1.7, 1.7)]
        left.plot(*np.transpose(ends), color=ORANGE, linestyle=stroke, linewidth=1.2)
    left.plot(*centre, "+", color="black", markersize=9)
    if direction[0] < 0:  # so that left is left in both panels
        left.invert_xaxis()
    left.set(aspect="equal", title="cut at 0 (dotted), best cut (dashed)")
    plots.projections(tree, gram, ax=right)
    return figure


@picture
def tree_of_pages() -> Figure:
    weights, _, terms = pages()
    tree = pddp(parse_kernel("cosine").gram(weights), 11, refine=True)
    words = [", ".join(found[:4]) for found in keywords(weights, tree.labels, terms)]
    figure, (ax,) = panels(1, 6.4, 3.4)
    plots.dendrogram(tree, words, ax=ax)
    return figure


# -- low rank


@picture
def landmarks() -> Figure:
    rng = np.random.default_rng(0)
    groups = np.repeat([0, 1, 2], (400, 150, 50))
    points = np.array([[0.0, 0.0], [4.0, 0.5], [1.0, 4.0]])[groups] + rng.normal(scale=0.8, size=(600, 2))
    exact = parse_kernel("gaussian(1.5)").gram(points)
    figure, (left, right) = panels(2, height=2.9)
    left.scatter(*points.T, s=5, color="lightgrey", linewidths=0)
    counts = (5, 10, 20, 40, 80, 160)
    for choose, colour, marker in (("uniform", BLUE, "o"), ("kmeans++", ORANGE, "^"), ("leverage", GREEN, "s")):
        drawn = [nystrom(exact, count, choose=choose, random_state=0) for count in counts]
        errors = [relative_error(exact, gram, random_state=0).value for gram in drawn]
        right.loglog(counts, errors, color=colour, marker=marker, markersize=4, label=choose)
        if choose == "uniform":
            left.scatter(*points[drawn[2].landmarks].T, s=26, color=colour, marker="o", linewidths=0)
    left.set(xticks=[], yticks=[], title="600 documents, 20 of them landmarks")
    right.set_xticks(counts, map(str, counts))
    right.minorticks_off()
    right.set_title("relative error by number of landmarks")
    right.legend(frameon=False)
    return figure


# -- eigenvectors


@picture
def spectral() -> Figure:
    rng = np.random.default_rng(1)
    angle = np.repeat([0.0, np.pi], 90) + rng.uniform(0.0, np.pi, 180)
    points = np.column_stack([np.cos(angle), np.sin(angle)]) + rng.normal(scale=0.07, size=(180, 2))
    points[90:] += (1.0, 0.45)
    model = SpectralKMeans(2, kernel="gaussian(0.4)", n_neighbors=8, random_state=0).fit(points)
    labels = model.labels_ if model.labels_[0] == 0 else 1 - model.labels_
    graph = parse_kernel("gaussian(0.4)").gram(points).dense()
    figure, (left, right) = panels(2, height=2.9)
    nearest = np.argsort(-graph, axis=1, kind="stable")[:, 1:9]
    for start, ends in enumerate(nearest):
        for end in ends:
            left.plot(*points[[start, end]].T, color="lightgrey", linewidth=0.5, zorder=0)
    for ax, places in ((left, points), (right, embedding_2d(model))):
        dots(ax, places, labels, 10)
    left.set_title("the graph of the eight nearest")
    right.set_title("the same documents, placed by eigenvectors")
    return figure


def draw(name: str, folder: Path = HERE) -> Path:
    """Draw one picture and return its file: a PNG of 256 colours, without a date."""
    path, drawn = folder / f"{name}.png", BytesIO()
    with mpl.rc_context(LOOK):
        PICTURES[name]().savefig(drawn, format="png", dpi=DOTS)
    Image.open(drawn).convert("RGB").quantize(256).save(path, optimize=True)
    return path


def main(names: list[str]) -> None:
    """Draw the named pictures, or all."""
    for name in names or PICTURES:
        print(draw(name).relative_to(HERE.parent))


if __name__ == "__main__":
    main(sys.argv[1:])
