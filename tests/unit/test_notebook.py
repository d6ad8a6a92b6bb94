"""A run and its choice of k show themselves in a notebook."""

import subprocess
import sys
from dataclasses import replace
from xml.etree.ElementTree import fromstring

import numpy as np
import pytest
from sklearn import config_context

from grampus import DocumentClusterer
from grampus.documents import Effort
from grampus.notebook.elements import DOTS, dots
from grampus.persist import Branch, Choice
from grampus.select import score_chart
from tests.pages import PAYLOADS, example_run
from tests.runs import changed


def shown(result):
    """What a notebook would show, as elements; it must be well formed."""
    return fromstring(f"<body>{result._repr_html_()}</body>")


def cells(element):
    """The text of every cell of the table, by rows."""
    return [["".join(cell.itertext()) for cell in row] for row in element.find(".//tbody")]


def test_a_run_shows_its_verdict_and_clusters():
    run = example_run()
    element = shown(run)
    assert "160 documents in 4 clusters" in "".join(element.itertext())
    assert [row[1] for row in cells(element)] == [f"●{c.name}" for c in run.evidence.clusters]
    assert len(list(element.iter("li"))) > 2
    assert len(list(element.iter("circle"))) == 160  # the map
    assert [text.text for text in element.iter("text")] == ["0", "1", "2", "3"]


def test_a_fitted_clusterer_shows_its_clusters_and_another_its_parameters():
    texts = ["whale song", "whales sing", "bird nest", "nests of birds", None]
    model = DocumentClusterer(2, effort=Effort(stability=False))
    assert "circle" not in model._repr_html_()
    assert "sk-" in model._repr_mimebundle_()["text/html"]
    with config_context(display="text"):
        assert set(model._repr_mimebundle_()) == {"text/plain"}
    pandas = pytest.importorskip("pandas")
    model.fit(pandas.Series(texts))
    rows = cells(shown(model))
    assert [row[1] for row in rows] == [*(f"●{cluster.name}" for cluster in model.clusters_), "●in no cluster"]
    assert model._repr_mimebundle_(include=None)["text/html"] == model._repr_html_()


def test_a_map_of_many_documents_shows_some_of_them():
    run = example_run()
    times = 20
    places, labels = np.tile(run.layout.coordinates, (times, 1)), np.tile(run.evidence.labels, times)
    drawn = dots(places, labels, "map")
    assert len(list(drawn.iter("circle"))) <= DOTS + len(run.evidence.clusters)
    assert len(dots(np.zeros((3, 2)), np.zeros(3, dtype=int), "one place")) == 2


def test_many_clusters_are_cut_short():
    run = example_run()
    many = tuple(replace(run.evidence.clusters[0], number=c, size=1) for c in range(160))
    tree = [Branch(0, -1, tuple(range(1, 161)), 160, 0, 1.0, 1.0, -1, "all")]
    tree += [Branch(c + 1, 0, (), 1, -1, 0.0, 0.0, c, str(c)) for c in range(160)]
    labels = np.arange(160, dtype=np.int32)
    crowd = changed(run, clusters=many, labels=labels, tree=tuple(tree), leaves=labels + 1, levels=(), model={})
    assert "… and 120 more" in "".join(shown(crowd).itertext())
    assert len(cells(shown(crowd))) == 40


def test_a_choice_shows_its_chart():
    choice = example_run().evidence.choice
    rows = cells(shown(choice))
    assert [row[0] for row in rows] == [str(k) for k in choice.ks]
    assert [row[0] for row in rows if "chosen" in row[-1]] == [str(choice.best)]
    assert [row[1:3] for row in rows].count(["–", "–"]) == 1  # one number of clusters has no score
    nothing = Choice(2, "RED-S", (2,), (None,), (None,), (2,), (), 9)
    assert cells(shown(nothing))[0][:3] == ["2", "–", "–"]
    assert "  2  –" in score_chart(nothing)


def test_text_html_and_picture_show_the_same_rows():
    choice = Choice(3, "KKM-S", (2, 3, 4, 5), (0.7, 0.9, 0.89, -0.1), (0.02, 0.01, 0.01, 0.2), (3, 4, 2, 5), (3, 4), 50)
    text = [line.split() for line in score_chart(choice).splitlines()[1:]]
    html = cells(shown(choice))
    assert [line[:2] for line in text] == [row[:2] for row in html]
    assert [row[-1] for row in html] == ["", "chosen", "close", ""]
    assert [line[-1] for line in text if line[-1] in ("chosen", "close")] == ["chosen", "close"]
    pytest.importorskip("matplotlib")
    ax = choice.plot()
    assert [f"{y:.3f}" for y in ax.lines[0].get_ydata()] == [row[1] for row in html]
    assert ax.get_title(loc="left") == "k = 3; close to it: 4"


def test_where_one_cloud_is_not_rejected_no_k_is_chosen():
    choice = Choice(1, "KKM-S", (2, 3), (0.5, 0.6), (0.1, 0.1), (3, 2), (2, 3), 20, 0.4)
    assert [row[-1] for row in cells(shown(choice))] == ["close", "highest"]


def test_a_single_split_has_a_score_and_no_spread():
    choice = Choice(2, "KKM-S", (2, 3), (0.9, 0.5), (None, None), (2, 3), (2,), 1)
    assert [row[1:3] for row in cells(shown(choice))] == [["0.900", "–"], ["0.500", "–"]]
    assert "±" not in score_chart(choice)


@pytest.mark.parametrize("payload", PAYLOADS[::17])
def test_nothing_becomes_markup(payload):
    run = changed(example_run(), source=payload, warnings=(payload,))
    tags = {part.tag for part in shown(run).iter()}
    plain = {"body", "div", "p", "ul", "li", "table", "thead", "tbody", "tr", "th", "td", "span"}
    assert tags == plain | {"svg", "rect", "g", "circle", "text"}


def test_a_loaded_run_shows_itself_without_any_other_import():
    """In a fresh process: showing a run must not depend on the report having been imported."""
    program = "from grampus.persist import Run; assert '<table' in Run.load('tests/golden/run-1')._repr_html_()"
    subprocess.run([sys.executable, "-c", program], check=True)
