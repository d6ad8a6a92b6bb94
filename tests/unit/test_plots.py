"""Pictures: what is drawn is what the results hold; nothing touches pyplot; missing matplotlib is one line."""

from __future__ import annotations

import itertools
import subprocess
import sys
from html.parser import HTMLParser
from types import SimpleNamespace

import numpy as np
import pytest

from grampus import _draw, choose_k, choose_levels, plots
from grampus.cluster import History, Runs, bisecting_kernel_kmeans, kernel_kmeans, pddp, spectral_kmeans
from grampus.errors import InputError, MissingExtraError
from grampus.gram import DenseGram, LinearGram, centre, eigenvalues, power, shift
from grampus.metrics import contingency_table
from grampus.persist import Choice
from grampus.plots import _axes
from grampus.plots.gram import averaged
from grampus.plots.results import projected
from grampus.report.colours import hex_of, level_marks
from grampus.report.places import places_of
from grampus.select import Splits
from tests.pages import example_run

to_hex = pytest.importorskip("matplotlib.colors").to_hex
Figure = pytest.importorskip("matplotlib.figure").Figure
FigureCanvasAgg = pytest.importorskip("matplotlib.backends.backend_agg").FigureCanvasAgg
PathCollection = pytest.importorskip("matplotlib.collections").PathCollection


@pytest.fixture(scope="module")
def points() -> np.ndarray:
    rng = np.random.default_rng(0)
    return np.repeat(np.eye(3) * 4, 20, axis=0) + np.abs(rng.normal(size=(60, 3)))


@pytest.fixture(scope="module")
def gram(points):
    return LinearGram(points)


@pytest.fixture(scope="module")
def clustering(gram):
    return kernel_kmeans(gram, 3, random_state=0)


# -- heatmap


def test_heatmap_draws_the_entries_in_the_order_of_the_clusters(gram, points):
    labels = np.tile([1, 0, 2], 20)
    ax = plots.heatmap(gram, labels)
    order = np.argsort(labels, kind="stable")
    np.testing.assert_allclose(ax.images[0].get_array(), (points @ points.T)[np.ix_(order, order)])
    assert sorted({float(line.get_ydata()[0]) for line in ax.lines if line.get_ydata()[0] == line.get_ydata()[-1]}) == [
        19.5,
        39.5,
    ]


@pytest.mark.parametrize(
    "wrap", [lambda g: g, shift, centre, lambda g: power(g, 0.5)], ids=["plain", "shift", "centre", "power"]
)
@pytest.mark.parametrize("cells", [1, 7, 59])
def test_cells_are_means_of_blocks(gram, wrap, cells):
    made = wrap(gram)
    order = np.random.default_rng(1).permutation(60)
    whole = made.dense()[np.ix_(order, order)]
    cell = np.arange(60) * cells // 60
    means = [[whole[np.ix_(cell == i, cell == j)].mean() for j in range(cells)] for i in range(cells)]
    np.testing.assert_allclose(averaged(made, order, cells), means, atol=1e-9)


def test_a_large_heatmap_never_holds_the_matrix():
    import tracemalloc

    n = 6000
    features = np.random.default_rng(0).random((n, 4), dtype=np.float32)
    tracemalloc.start()
    plots.heatmap(LinearGram(features), np.arange(n) % 3)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < n * n * 4 / 2


def test_colours_tell_apart_what_is_outside_the_diagonal():
    matrix = np.full((50, 50), 0.05)
    matrix[:25, :25] = 0.2
    np.fill_diagonal(matrix, 1.0)
    assert plots.heatmap(DenseGram(matrix)).images[0].get_clim() == (0.0, pytest.approx(0.2))
    assert plots.heatmap(DenseGram(matrix), limits=(0, 1)).images[0].get_clim() == (0.0, 1.0)


@pytest.mark.parametrize("matrix", [np.ones((1, 1)), np.zeros((3, 3)), np.eye(2), -np.ones((2, 2))])
def test_heatmap_of_the_edge_cases(matrix):
    low, high = plots.heatmap(DenseGram(matrix)).images[0].get_clim()
    assert low < high


# -- eigenvalues, curves


def test_eigenvalues_before_and_after_a_shift(gram):
    after = shift(gram)
    ax = plots.scree({"before": gram, "after": after})
    np.testing.assert_allclose(ax.lines[0].get_ydata(), eigenvalues(gram))
    sigma = -gram.trace() / 60
    np.testing.assert_allclose(ax.lines[1].get_ydata(), eigenvalues(gram) + sigma, atol=1e-8)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["before", "after"]


def test_only_the_largest_eigenvalues(gram):
    assert len(plots.scree(gram, count=2).lines[0].get_ydata()) == 2


@pytest.mark.parametrize("t", [0.0, 1.0, 10.0, np.inf])
def test_curves_are_the_papers_formula(t):
    ax = plots.normalised_curves([t])
    ratio, upper, lower = ax.lines[0].get_xdata(), ax.lines[0].get_ydata(), ax.lines[1].get_ydata()
    mean = {0.0: ratio, np.inf: ratio**2}.get(t, ((1 + ratio ** (2 * t)) / 2) ** (1 / t) if 0 < t < np.inf else None)
    np.testing.assert_allclose(upper, ratio / mean, rtol=1e-12)
    np.testing.assert_allclose(lower, -upper)


# -- results


def test_reassignments_are_the_history(clustering):
    ax = plots.reassignments({"best": clustering, "same": clustering.history})
    for line in ax.lines:
        assert line.get_ydata().tolist() == clustering.history.moves.tolist()
        assert line.get_xdata()[0] == 1


def test_the_dendrogram_puts_every_node_at_its_scatter(gram):
    tree = pddp(gram, 5, cut="projection")
    ax = plots.dendrogram(tree)
    dots = ax.lines[-1]
    np.testing.assert_allclose(dots.get_xdata(), [leaf.scatter for leaf in tree.leaves])
    segments = [segment for lines in ax.collections for segment in lines.get_segments()]
    upright = {round(float(s[0, 0]), 9) for s in segments if s[0, 0] == s[1, 0]}
    assert upright == {round(node.scatter, 9) for node in tree.splits}
    assert len(segments) == len(tree.nodes) - 1 + len(tree.splits)
    assert [text.get_text() for text in ax.get_yticklabels()] == [f"{i} ({x.size})" for i, x in enumerate(tree.leaves)]


def test_a_tree_of_one_leaf_and_a_split_into_many(gram):
    assert len(plots.dendrogram(pddp(gram, 1)).get_yticklabels()) == 1
    many = pddp(gram, 4, n_components=2)
    assert len(plots.dendrogram(many).get_yticklabels()) == len(many.leaves)


@pytest.mark.parametrize("options", [{}, {"cut": "projection"}, {"cut": "full"}, {"refine": True}, {"n_components": 2}])
def test_projections_fall_on_the_side_of_the_cut_that_their_document_went_to(gram, options):
    tree = pddp(gram, 4, **options)
    for node in tree.splits:
        if node.split.nearest and len(node.children) > 2:
            continue
        for direction in range(max(len(node.split.thresholds), 1)):
            values, cut = projected(node, shift(gram), direction)
            for pattern, child in zip(node.split.patterns, node.children, strict=True):
                inside = np.isin(node.members, tree.nodes[child].members)
                right = bool(pattern >> direction & 1)
                assert ((values[inside] > cut) == right).all()


def test_the_histogram_counts_every_member(gram):
    tree = bisecting_kernel_kmeans(gram, 3, random_state=0)
    ax = plots.projections(tree, gram, node=tree.splits[-1].index, bins=7)
    assert sum(bar.get_height() for bar in ax.patches) == tree.splits[-1].size
    assert ax.lines[0].get_xdata() == [0.0, 0.0]


def test_the_chart_of_k():
    found = SimpleNamespace(
        ks=(2, 3, 5), mean=np.array([0.4, 0.8, 0.7]), standard_error=np.full(3, 0.05), best=3, ranking=(3, 5, 2),
        plausible=(3, 5),
    )  # fmt: skip
    ax = plots.k_chart(found)
    assert ax.lines[0].get_xydata().tolist() == [[2, 0.4], [3, 0.8], [5, 0.7]]
    chosen = next(line for line in ax.lines if len(line.get_xdata()) == 1)
    assert chosen.get_xydata().tolist() == [[3, 0.8]]
    assert list(ax.get_xticks()) == [2, 3, 5]
    assert ax.get_title(loc="left") == "k = 3; close to it: 5"
    found.best, found.standard_error = 1, np.full(3, np.nan)
    assert "no structure" in plots.k_chart(found).get_title(loc="left")


def test_charts_of_k_are_absolute_and_show_data_without_groups():
    """Scores near 0 look low, and the score of data without groups is drawn in."""
    choice = Choice(
        2, "levels", (2, 3), (0.1, 0.05), (0.01, None), (2, 3), (2,), 4, None, "", (0.08, 0.06), "no groups"
    )
    ax = plots.k_chart(choice)
    low, high = ax.get_ylim()
    assert low <= 0.0
    assert high >= 1.0
    dashed = [line for line in ax.lines if line.get_linestyle() == "--"]
    assert [line.get_ydata().tolist() for line in dashed] == [[0.08, 0.06]]
    rows = np.repeat(np.eye(4) * 9, 12, axis=0) + np.random.default_rng(0).normal(size=(48, 4))
    levels = choose_levels(rows, kernel="linear", random_state=0)
    drawn = levels.plot()
    assert drawn.lines[0].get_xdata().tolist() == levels.evidence.ks.tolist()
    with pytest.raises(InputError, match="no scores to draw: Too few documents"):
        choose_levels(rows[:4], kernel="linear").plot()


@pytest.fixture(scope="module")
def selection(points):
    return choose_k(points, kernel="linear", ks=(2, 3, 4), splits=Splits(6), scheme="RED-S", null=False, random_state=0)


def test_a_selection_draws_and_shows_itself(selection):
    ax = selection.plot()
    np.testing.assert_allclose(ax.lines[0].get_ydata(), selection.mean)
    found = read(selection._repr_html_())
    assert found.cells == 3 * 5
    assert f"k = {selection.best}" in found.text[0]
    assert f"{selection.mean[0]:.3f}" in found.text
    assert found.text[-1] == selection.confidence


# -- manners


def test_a_given_axes_is_drawn_into_and_returned(gram, clustering):
    ax = Figure().add_subplot()
    assert plots.reassignments(clustering, ax=ax) is ax
    assert clustering.plot(ax=ax) is ax
    assert clustering.history.plot().lines
    assert pddp(gram, 2).plot(names=["a", "b"]).get_yticklabels()[0].get_text().startswith("a")


def test_colours_are_told_apart_without_colour():
    looks = [_axes.style(i) for i in range(4)]
    assert len({look["linestyle"] for look in looks}) == 4
    assert all(to_hex(look["color"]) == look["color"].lower() for look in looks)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda g: plots.heatmap(np.eye(3)), "heatmap needs a Gram"),
        (lambda g: plots.heatmap(g, [0, 1]), "60 entries"),
        (lambda g: plots.heatmap(g, cells=0), "cells must be at least 1"),
        (lambda g: plots.heatmap(g, limits=(1, 1)), "limits must rise"),
        (lambda g: plots.heatmap(g, limits=3), "two numbers"),
        (lambda g: plots.heatmap(g, ax="left"), "ax must be a matplotlib Axes"),
        (lambda g: plots.scree({}), "got nothing"),
        (lambda g: plots.scree({"a": 3}), "got int"),
        (lambda g: plots.reassignments([3, 2]), "got list"),
        (lambda g: plots.normalised_curves([-1]), "order must be"),
        (lambda g: plots.normalised_curves(longest=1), "greater than 1"),
        (lambda g: plots.dendrogram(pddp(g, 3), ["a"]), "3 leaves; got 1"),
        (lambda g: plots.projections(pddp(g, 2), g, node=1), "is a leaf"),
        (lambda g: plots.projections(pddp(g, 2), g, node=3), "between 0 and 2"),
        (lambda g: plots.projections(pddp(g, 2), g, direction=1), "between 0 and 0"),
        (lambda g: plots.projections(pddp(g, 2), g.take([0, 1])), "60 documents, the Gram 2"),
        (lambda g: plots.k_chart(3), "has no ks"),
    ],
)
def test_bad_input(gram, call, message):
    with pytest.raises(InputError, match=message):
        call(gram)


def test_nodes_centred_in_the_input_space_are_refused(points):
    from grampus import PDDP

    model = PDDP(2, kernel="polynomial(2)").fit(points)
    with pytest.raises(InputError, match="centring='feature'"):
        plots.projections(model.tree_, model.gram_)


def test_without_matplotlib_there_is_one_line(monkeypatch, clustering):
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtraError, match=r"pip install 'grampus\[plots\]'"):
        plots.reassignments(clustering)
    assert "<table>" in clustering._repr_html_()


def test_results_draw_themselves_and_nothing_touches_pyplot():
    """In a fresh process: the layer is loaded when something is drawn, and pyplot never."""
    program = """
import sys
import numpy as np
from grampus.cluster import kernel_kmeans
from grampus.gram import LinearGram
found = kernel_kmeans(LinearGram(np.eye(4)), 2, random_state=0)
assert "grampus.plots" not in sys.modules
assert "<table>" in found._repr_html_()
assert "grampus.plots" in sys.modules and "matplotlib" not in sys.modules
found.plot()
assert "matplotlib.pyplot" not in sys.modules
"""
    subprocess.run([sys.executable, "-W", "error", "-c", program], check=True)


# -- tables


class _Reader(HTMLParser):
    """Collects tags, and fails on what a table in a notebook must not have."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text: list[str] = []
        self.cells = 0

    def handle_starttag(self, tag, attrs):
        assert tag in {"div", "p", "table", "thead", "tbody", "tr", "th", "td", "svg", "rect", "polyline"}
        assert {name for name, _ in attrs} <= {
            "scope", "width", "height", "role", "aria-label", "fill", "points", "stroke", "stroke-width", "style"
        }  # fmt: skip
        self.cells += tag == "td"
        self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def read(text: str) -> _Reader:
    reader = _Reader()
    reader.feed(text)
    assert reader.open == []
    return reader


def test_tables_hold_the_numbers(gram, clustering):
    found = read(clustering._repr_html_())
    assert found.cells == 3 * 3
    assert "60 documents in 3 clusters" in found.text[0]
    assert str(clustering.outcome) in found.text[0]
    assert str(int(clustering.history.moves[0])) in found.text[-1]
    assert read(clustering.runs._repr_html_()).cells == 4 * 10
    tree = pddp(gram, 4)
    assert read(tree._repr_html_()).cells == 5 * len(tree.nodes)


def test_a_spectral_clustering_shows_its_eigenvalues(gram):
    result = spectral_kmeans(gram, 3, random_state=0)
    found = read(result._repr_html_())
    assert f"{result.embedding.eigenvalues[1]:.6g}" in found.text[0]
    assert found.cells == 3 * 3


def test_long_tables_say_what_they_leave_out():
    gram = LinearGram(np.arange(50.0)[:, None])
    found = read(kernel_kmeans(gram, 50, random_state=0)._repr_html_())
    assert "… and 10 more" in found.text
    assert "more" in read(pddp(gram, 40)._repr_html_()).text[-1]


def test_a_history_without_moves_and_a_run_without_any():
    read(History(np.array([0]), np.array([1.0]))._repr_html_())
    read(History(np.empty(0, dtype=np.int64), np.empty(0))._repr_html_())
    read(Runs(np.empty((0, 3), dtype=np.intp), np.empty(0), np.empty(0, dtype=np.intp), (), ())._repr_html_())


def test_names_in_a_table_are_escaped():
    payload = '<img src=x onerror="alert(1)">&"\''
    found = contingency_table([payload, "b", payload], [payload, "c", "c"])._repr_html_()
    assert payload in read(found).text  # as text, not as a tag
    assert "<img" not in found


def test_a_wide_contingency_table():
    found = read(contingency_table(np.arange(60), np.arange(60))._repr_html_())
    assert found.cells == 40 * (20 + 3)
    assert "… and 20 more" in found.text


def test_what_is_not_registered_is_not_drawn():
    class Unknown(_draw.Drawable):
        pass

    assert Unknown()._repr_html_() is None
    with pytest.raises(NotImplementedError, match="Unknown"):
        Unknown().plot()


def test_the_map_shows_every_document_and_the_names_of_the_clusters():
    run = example_run()
    ax = run.plot()
    dots = [part for part in ax.collections if isinstance(part, PathCollection)]
    at = np.concatenate([part.get_offsets() for part in dots])
    assert len(at) == len(run)
    # As on the page: not mirrored, and in the same colours.
    page = places_of(run.layout.coordinates).at[np.argsort(run.evidence.labels, kind="stable")]
    for axis in (0, 1):
        assert np.corrcoef(at[:, axis], page[:, axis])[0, 1] > 0.999
    assert ax.yaxis_inverted()
    marks = level_marks(run, run.evidence.labels, run.n_clusters)
    assert [to_hex(part.get_facecolor()[0]) for part in dots] == [hex_of(mark) for mark in marks]
    # Names hide neither documents nor each other.
    ax.figure.canvas = FigureCanvasAgg(ax.figure)
    ax.figure.canvas.draw()
    boxes = [text.get_window_extent() for text in ax.texts]
    seen = ax.transData.transform(at)
    assert not any(box.contains(*place) for box in boxes for place in seen)
    assert not any(a.overlaps(b) for a, b in itertools.combinations(boxes, 2))
    assert [text.get_text() for text in ax.texts] == [cluster.name for cluster in run.evidence.clusters]
    assert not plots.document_map(run, names=False).texts
    with pytest.raises(InputError, match="document_map needs a Run"):
        plots.document_map(3)
