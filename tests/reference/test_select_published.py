"""Choosing k against fpc, the paper and sets with a known answer: samples of what `python -m lab` runs in full."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from grampus import choose_k
from grampus.select import Splits
from lab.promises.choose_k import mixture, structureless

FPC = (0.976, 0.671, 0.541, 0.490, 0.460)  # fpc 2.2-10, prediction.strength(iris[, 1:4], 2, 6, M = 50), set.seed(1)


def test_fpc_on_iris():
    """Plain k-means and centroid classification; strengths are not corrected."""
    x = load_iris().data
    how = {"kernel": "linear|shift(0)", "ks": range(2, 7), "scheme": "KKM-S", "null": False, "random_state": 0}
    found = choose_k(x - x.mean(axis=0), splits=Splits(200, init="documents", n_init=1), **how)
    assert np.abs(found.strength.mean(axis=0) - FPC).max() <= 0.05


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
