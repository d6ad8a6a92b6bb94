"""Probabilities of clusters: they sum to 1, follow the labels, survive saving, and tell doubtful documents."""

from __future__ import annotations

import numpy as np
import pytest

from grampus import DocumentClusterer
from grampus.documents import Effort
from grampus.documents.find.membership import membership_rules
from grampus.errors import RunError
from grampus.gram import LinearGram
from tests.unit.test_guide import QUICK, texts_of


@pytest.fixture(scope="module")
def model():
    return DocumentClusterer(3, effort=QUICK, embed=None).fit([*texts_of(30), "", "whale sea ship nest wing egg"])


def test_rows_sum_to_one_and_the_largest_is_the_cluster(model):
    shares = model.memberships_
    assert shares.shape == (92, 3)
    assert np.allclose(shares.sum(axis=1), 1.0)
    inside = model.labels_ >= 0
    assert (shares.argmax(axis=1) == model.labels_)[inside].mean() > 0.95
    assert shares[:90].max(axis=1).mean() > shares[91].max()  # one between two topics


def test_a_saved_model_has_the_same(model, tmp_path):
    model.save(tmp_path / "run")
    again = DocumentClusterer.load(tmp_path / "run")
    assert np.allclose(again.memberships_, model.memberships_)
    assert np.allclose(again.assign(["a whale"]).memberships, model.assign(["a whale"]).memberships)


def test_new_documents_have_two_probabilities_and_say_whether_they_fit(model):
    found = model.assign(["whale sea wave ship", "whale ship nest wing", "xyz"])
    assert np.allclose(found.memberships.sum(axis=1), 1.0)
    assert found.probability[0] > found.probability[1] > found.second_probability[1] > found.second_probability[0]
    assert found.fits.tolist()[::2] == [True, False]
    assert np.isnan(found.probability[2])


@pytest.mark.parametrize("kernel", ["cosine|shift", "spectrum(3)|normalise"])
def test_every_kernel_has_them(kernel):
    model = DocumentClusterer(3, effort=QUICK, kernel=kernel).fit(texts_of())
    assert np.allclose(model.memberships_.sum(axis=1), 1.0)


def test_one_cluster_is_certain_and_a_matrix_without_a_model_is_refused(tmp_path):
    model = DocumentClusterer(1, effort=QUICK, embed=None).fit(texts_of())
    assert (model.memberships_ == 1.0).all()
    x = np.random.default_rng(0).random((20, 4))
    model = DocumentClusterer(2, effort=Effort(stability=False), kernel="precomputed").fit(x @ x.T)
    assert np.allclose(model.memberships_.sum(axis=1), 1.0)
    model.save(tmp_path / "run")
    with pytest.raises(RunError, match="was not saved"):
        _ = DocumentClusterer.load(tmp_path / "run").memberships_


def test_probabilities_are_those_of_a_refit():
    """Two groups that touch: of documents with a probability of p about p stay where they are."""
    rng = np.random.default_rng(0)
    points = np.concatenate([rng.normal(0, 1, (600, 2)), rng.normal([2.5, 0], 1, (600, 2))])
    labels = (points[:, 0] > 1.25).astype(np.intp)
    gram = LinearGram(points)
    fitted, new = membership_rules(gram, labels, np.ones(len(points)))
    centres = np.array([points[labels == c].mean(axis=0) for c in range(2)])
    squared = ((points[:, None] - centres) ** 2).sum(axis=2)
    sure, apart = new.apply(squared).max(axis=1), np.abs(squared[:, 0] - squared[:, 1])
    order = np.argsort(apart)
    assert sure[order[:10]].mean() < 0.7
    assert sure[order[600:]].mean() > 0.97
    assert fitted.own >= new.own == 0.0
