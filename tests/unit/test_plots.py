"""Pictures: what is drawn, and what is refused. Drawn without a display."""

from __future__ import annotations

import io

import numpy as np
import pytest

from grampus import choose_k
from grampus.cluster import kernel_kmeans, pddp
from grampus.errors import InputError, MissingExtraError
from grampus.gram import LinearGram, eigenvalues, shift
from grampus.kernels import parse_kernel
from grampus.persist import Choice

pytest.importorskip("matplotlib", reason="matplotlib is not installed: pictures are not tested")
from grampus import plots


def data(n=60, seed=0):
    rng = np.random.default_rng(seed)
    return np.repeat(np.eye(3) * 6, n // 3, axis=0) + rng.normal(size=(n, 3)), np.repeat(np.arange(3), n // 3)


def drawn(axes):
    """Draw it, so that nothing is left to fail later."""
    axes.figure.savefig(io.BytesIO(), format="png")
    return axes


def test_a_selection_draws_itself():
    selection = choose_k(data()[0], kernel="linear", ks=range(2, 6), scheme="KKM-S", n_splits=10, random_state=0)
    axes = drawn(selection.plot())
    line = axes.containers[0].lines[0]
    np.testing.assert_allclose(line.get_ydata(), selection.mean)
    assert axes.lines[-1].get_xdata().tolist() == [selection.best]


def test_a_chart_leaves_out_what_was_not_scored():
    axes = drawn(plots.chart_of_k(Choice(2, "RED-S", (2, 3), (0.5, None), (0.1, None), (2, 3), (2,), 9)))
    assert axes.containers[0].lines[0].get_xdata().tolist() == [2]
    drawn(plots.chart_of_k(Choice(2, "RED-S", (2,), (None,), (None,), (2,), (), 9)))


def test_the_heatmap_is_in_the_order_of_the_clusters():
    x, labels = data()
    mixed = np.random.default_rng(1).permutation(60)
    axes = drawn(plots.gram_heatmap(LinearGram(x[mixed]), labels[mixed]))
    picture = np.asarray(axes.images[0].get_array())
    inside = np.mean([picture[i * 20 : i * 20 + 20, i * 20 : i * 20 + 20].mean() for i in range(3)])
    assert inside > 5 * abs(picture[:20, 40:].mean())
    assert len(axes.lines) == 4
    assert axes.images[0].get_clim()[1] < np.diag(picture).max() + 1e-9
    large = LinearGram(np.ones((2000, 1)))
    assert plots.gram_heatmap(large).images[0].get_array().shape == (667, 667)


def test_eigenvalues_before_and_after_the_shift():
    gram = parse_kernel("cosine").gram(data()[0])
    axes = drawn(plots.eigenvalues({"before": gram, "after": shift(gram)}))
    before, after = (line.get_ydata() for line in axes.lines[1:])
    np.testing.assert_allclose(before, np.sort(eigenvalues(gram))[::-1])
    np.testing.assert_allclose(before - after, 1.0, atol=1e-12)  # σ of a cosine kernel: the trace becomes 0


def test_moves_of_every_start():
    result = kernel_kmeans(LinearGram(data()[0]), 3, n_init=4, random_state=0)
    axes = drawn(plots.reassignments(result))
    assert axes.lines[-1].get_ydata().tolist() == result.history.moves.tolist()
    assert len(axes.lines) == 5


@pytest.mark.parametrize("cut", ["zero", "full", "projection"])
def test_the_cut_separates_the_projections(cut):
    gram = LinearGram(data()[0])
    node = pddp(gram, 3, cut=cut).root
    axes = drawn(plots.projections(gram, node))
    threshold = float(axes.lines[0].get_xdata()[0])
    split = node.split
    scores = (gram.dense() @ split.coefficients - split.offset)[:, 0]
    assert [bar.get_height() for bar in axes.patches] == np.histogram(scores, bins="auto")[0].tolist()
    first = pddp(gram, 3, cut=cut).nodes[node.children[0]].size
    assert (scores <= threshold).sum() in (first, 60 - first)
    with pytest.raises(InputError, match="divided by a cut"):
        plots.projections(gram, pddp(gram, 2).leaves[0])
    with pytest.raises(InputError, match="divided by a cut"):
        plots.projections(gram, node, direction=1)


def test_curves_are_the_kernels():
    axes = drawn(plots.normalised_curves((0, 1, 10, np.inf)))
    for line, order in zip(axes.lines, ("0", "1", "10", "inf"), strict=True):
        gram = parse_kernel(f"linear|normalise({order})").gram(np.array([[1.0], [1.5]]))
        np.testing.assert_allclose(line.get_ydata()[50], gram.dense()[0, 1], rtol=1e-12)
    assert np.isfinite(plots.normalised_curves((1000.0,)).lines[0].get_ydata()).all()
    with pytest.raises(InputError, match="at least 0"):
        plots.normalised_curves((-1,))


def test_a_dendrogram_names_its_leaves():
    tree = pddp(LinearGram(data()[0]), 4)
    axes = drawn(plots.dendrogram(tree, ["a", "b", "c", "d"]))
    assert sorted(label.get_text() for label in axes.get_xticklabels()) == ["a", "b", "c", "d"]
    with pytest.raises(InputError, match="4 leaves; got 1"):
        plots.dendrogram(tree, ["a"])
    drawn(plots.dendrogram(pddp(LinearGram(np.ones((2, 1))), 1)))


def test_axes_can_be_given_and_matplotlib_may_be_missing(monkeypatch):
    from matplotlib.figure import Figure

    axes = Figure().subplots()
    assert plots.normalised_curves(axes=axes) is axes
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=r"grampus\[plots\]"):
        plots.normalised_curves()
