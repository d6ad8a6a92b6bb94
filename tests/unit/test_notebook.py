"""Results show themselves in a notebook."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from xml.etree.ElementTree import fromstring

import numpy as np
import pytest

import grampus
from grampus.cluster import kernel_kmeans, pddp
from grampus.gram import LinearGram
from grampus.persist import Choice
from tests.pages import PAYLOADS, example_run

X = np.repeat(np.eye(3) * 6, 20, axis=0) + np.random.default_rng(0).normal(size=(60, 3))


def shown(result):
    """What a notebook would show, as elements; it must be well formed."""
    return fromstring(result._repr_html_())


def words(element):
    return " ".join("".join(part.itertext()) for part in [element])


def test_a_clustering_shows_its_sizes():
    result = kernel_kmeans(LinearGram(X), 3, random_state=0)
    element = shown(result)
    assert "60 documents in 3 clusters" in words(element)
    cells = [cell.text for cell in element.iter("td") if cell.text]
    assert sorted(int(size) for size in cells[1::2]) == sorted(result.sizes.tolist())


def test_many_clusters_are_cut_short():
    assert "… and 10 more" in words(shown(kernel_kmeans(LinearGram(X), 40, random_state=0)))


def test_a_tree_shows_its_branches():
    tree = pddp(LinearGram(X), 3)
    assert shown(tree).text == tree.render()


def test_a_selection_shows_its_chart():
    selection = grampus.choose_k(X, kernel="linear", ks=range(2, 6), scheme="KKM-S", n_splits=10, random_state=0)
    element = shown(selection)
    radii = [circle.get("r") for circle in element.iter("circle")]
    assert radii.count("6") == 1
    assert radii.index("6") == list(selection.ks).index(selection.best)
    assert selection.confidence in words(element)
    assert not list(shown(Choice(2, "RED-S", (2,), (None,), (None,), (2,), (), 9)).iter("svg"))


def test_a_run_shows_its_verdict_and_clusters():
    run = example_run()
    element = shown(run)
    assert "160 documents in 4 clusters" in words(element)
    assert [row.find("td").text for row in element.find("table").find("tbody")] == [c.label for c in run.clusters]


def test_it_is_ready_in_a_notebook_and_not_loaded_elsewhere():
    script = "import sys{}; import grampus.cluster; print(hasattr(grampus.cluster.Clustering, '_repr_html_'))"
    for before, expected in (("", "False"), ("; sys.modules['IPython'] = sys", "True")):
        command = [sys.executable, "-c", script.format(before)]
        assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip() == expected


@pytest.mark.parametrize("payload", PAYLOADS[::17])
def test_nothing_becomes_markup(payload):
    run = replace(example_run(), source=payload, warnings=(payload,))
    tags = {part.tag for part in shown(run).iter()}
    assert tags == {"div", "p", "strong", "ul", "li", "table", "thead", "tbody", "tr", "th", "td"}
