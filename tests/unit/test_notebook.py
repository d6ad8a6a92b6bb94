"""A run shows itself in a notebook."""

from __future__ import annotations

from dataclasses import replace
from xml.etree.ElementTree import fromstring

import numpy as np
import pytest

from grampus.cli.show import chart_of_k
from grampus.persist import Branch, Choice
from tests.pages import PAYLOADS, example_run
from tests.runs import changed


def shown(result):
    """What a notebook would show, as elements; it must be well formed."""
    return fromstring(result._repr_html_())


def test_a_run_shows_its_verdict_and_clusters():
    run = example_run()
    element = shown(run)
    assert "160 documents in 4 clusters" in "".join(element.itertext())
    assert [row.find("td").text for row in element.find("table").find("tbody")] == [
        c.label for c in run.evidence.clusters
    ]


def test_many_clusters_are_cut_short():
    run = example_run()
    many = tuple(replace(run.evidence.clusters[0], number=c, size=1) for c in range(160))
    tree = [Branch(0, -1, tuple(range(1, 161)), 160, 0, 1.0, 1.0, -1, "all")]
    tree += [Branch(c + 1, 0, (), 1, -1, 0.0, 0.0, c, str(c)) for c in range(160)]
    labels = np.arange(160, dtype=np.int32)
    crowd = changed(run, clusters=many, labels=labels, tree=tuple(tree), leaves=labels + 1, model={})
    assert "… and 130 more" in "".join(shown(crowd).itertext())


def test_a_choice_shows_its_chart():
    choice = example_run().evidence.choice
    radii = [circle.get("r") for circle in shown(choice).iter("circle")]
    assert len(radii) == 4  # one number of clusters has no score
    assert radii.index("6") == choice.ks.index(choice.best)
    assert not list(shown(Choice(2, "RED-S", (2,), (None,), (None,), (2,), (), 9)).iter("svg"))


def test_a_single_split_has_a_score_and_no_spread():
    choice = Choice(2, "KKM-S", (2, 3), (0.9, 0.5), (None, None), (2, 3), (2,), 1)
    titles = [title.text for title in shown(choice).iter("title")]
    assert titles == ["2 clusters: 0.900", "3 clusters: 0.500"]
    assert "±" not in chart_of_k(choice)


@pytest.mark.parametrize("payload", PAYLOADS[::17])
def test_nothing_becomes_markup(payload):
    run = changed(example_run(), source=payload, warnings=(payload,))
    tags = {part.tag for part in shown(run).iter()}
    assert tags == {"div", "p", "strong", "ul", "li", "table", "thead", "tbody", "tr", "th", "td"}
