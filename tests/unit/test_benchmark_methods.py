"""Which method for which data: the page shows what was measured, and the measurement measures."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from benchmarks import methods
from benchmarks.method_data import Set, _drawn, _habits, _misspelt, _motifs

RECORD = json.loads((methods.RESULTS / "cells.json").read_text())
CELLS = [methods.Cell(**cell) for cell in RECORD["cells"]]


@pytest.mark.parametrize("group", methods.GROUPS)
@pytest.mark.parametrize("kind", ["scores", "costs"])
def test_the_page_shows_the_committed_figures(group, kind):
    make = {"scores": methods.scores_table, "costs": methods.costs_table}[kind]
    text = methods.GUIDE.read_text(encoding="utf-8")
    shown = text.split(f"<!-- {group} {kind} -->\n")[1].split(f"\n<!-- end of {group} {kind} -->")[0]
    assert shown == make([cell for cell in CELLS if cell.group == group])


def test_the_defaults_are_still_those_that_were_measured():
    assert RECORD["defaults"] == methods.defaults()


def test_every_method_and_group_was_measured():
    for group, (_, rows) in methods.GROUPS.items():
        assert {cell.method for cell in CELLS if cell.group == group} == {method.name for method in rows}


def test_a_cell_holds_scores_time_and_memory():
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], 30)
    found = Set("two", "clouds", labels, 9.0 * np.eye(2)[labels] + rng.normal(size=(60, 2)))
    linear, text = methods._kkm("linear"), methods._kkm("spectrum(3)")
    cell = methods.measure("numbers", replace(linear, seeds=2), found)
    assert cell.nmi == cell.ari == 1.0
    assert cell.seconds > 0
    assert cell.method == 'KernelKMeans(kernel="linear")'
    assert methods.measure("strings", text, found) is None, "there are no texts"
    long = replace(found, texts=["a" * 40_000] * 60)
    assert methods.measure("strings", text, long) is None, "too many characters"


def test_the_best_of_a_column_is_bold():
    rows = [
        methods.Cell("g", name, "set", score, 0.5, 1.0, None) for name, score in (("a", 0.9), ("b", 0.89), ("c", 0.5))
    ]
    table = methods.scores_table(rows)
    assert table.count("**") == 4
    assert "| `c` | 0.50 / 0.50 |" in table
    assert "1.00 s / – MB" in methods.costs_table(rows)


def test_made_data_is_what_it_says():
    strings, labels = _motifs(classes=2, each=3)
    assert set("".join(strings)) == set("ACGT")
    assert labels.tolist() == [0, 0, 0, 1, 1, 1]
    assert len(_habits(classes=2, each=3)[0][0]) == 400
    wrong = _misspelt(["abcdefghij " * 50])[0]
    assert 0.05 < np.mean([a != b for a, b in zip(wrong, "abcdefghij " * 50, strict=True)]) < 0.25
    assert np.bincount(_drawn(np.repeat([0, 1], (10, 3)), 5) >= 10).tolist() == [5, 3]
