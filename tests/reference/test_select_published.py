"""Choosing k against fpc, the paper and sets with a known answer: samples of what `python -m lab` runs in full."""

from __future__ import annotations

import numpy as np
import pytest

from grampus import choose_k
from grampus.select import Splits
from lab.promises.choose_k import FPC, iris_strengths, mixture, structureless


def test_fpc_on_iris():
    assert np.abs(iris_strengths(200) - FPC).max() <= 0.05


@pytest.mark.slow
@pytest.mark.parametrize("number", [0, 3])
def test_no_structure_is_seen_as_such(number):
    x, kernel = structureless(number)
    assert choose_k(x, kernel=kernel, splits=Splits(5), random_state=number).best == 1


@pytest.mark.slow
@pytest.mark.parametrize("number", [1, 9])
def test_well_separated_mixtures(number):
    x, kernel, k = mixture(number)
    assert choose_k(x, kernel=kernel, splits=Splits(20), random_state=number).best == k


@pytest.mark.corpus
def test_the_papers_first_choice_on_cstr(corpora, monkeypatch):
    monkeypatch.setenv("GRAMPUS_DATA", str(corpora))
    from lab.data import documents
    from lab.papers.validation import PRINTED, estimates

    found = estimates(documents("cstr"), "RED-S", 40)["RED-S"]["top"]
    assert found[0][0] == PRINTED["table3"]["cstr"]["RED-S"][0][0]
