"""A fit finds the labels; the run is made when it is first asked for, and is the one that belongs to them."""

import pickle

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from grampus import DocumentClusterer
from grampus.documents import Guide, fitted

SEA = ["whale song in the deep sea", "deep sea whale", "song of the whale", "the sea and a whale", "whales sing deep"]
AIR = ["a bird in the old tree", "bird nest in a tree", "the tree and its birds", "old nest of a bird", "birds nest"]
TEXTS = [*SEA, *AIR, "prices of oil and steel"]


@pytest.fixture
def built(monkeypatch):
    """The partitions of which a run was made."""
    seen = []
    whole = fitted.build_run
    monkeypatch.setattr(fitted, "build_run", lambda found, *rest: [seen.append(found), whole(found, *rest)][1])
    return seen


def test_labels_and_predictions_need_no_run(built):
    model = DocumentClusterer(2).fit(TEXTS)
    assert len(model.labels_) == len(TEXTS)
    before = {*vars(model)}
    model.predict(["a whale"])
    assert not built
    assert {*vars(model)} == before
    assert model.clusters_[0].size == int((model.labels_ == 0).sum())
    assert model.margin_ is model.run_.evidence.margin
    assert len(built) == 1


def test_a_generator_is_read_once():
    model = DocumentClusterer(2).fit(text for text in TEXTS)
    assert model.predict(text for text in TEXTS).tolist() == model.predict(TEXTS).tolist()
    assert np.array_equal(model.assign(iter(TEXTS)).likeness, model.assign(TEXTS).likeness)


@pytest.mark.parametrize(
    ("options", "given"),
    [
        ({"n_clusters": 2}, {}),
        ({"n_clusters": "auto"}, {}),
        ({"n_clusters": 2, "outliers": 0.1}, {}),
        ({"n_clusters": 3}, {"guide": Guide(labels={0: "Sea", 5: "Air", 10: "Trade"})}),
    ],
)
def test_the_run_has_the_labels_of_the_fit(options, given):
    model = DocumentClusterer(**options).fit(TEXTS, **given)
    labels, count = model.labels_.copy(), model.n_clusters_
    assert model.run_.evidence.labels.tolist() == labels.tolist()
    assert model.run_.n_clusters == count
    np.testing.assert_array_equal(model.labels_, labels)


def test_rows_without_a_text_are_in_no_cluster_before_and_after():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"text": [*SEA, None, *AIR, ""]})
    model = DocumentClusterer(2).fit(frame)
    labels = model.labels_.copy()
    assert np.flatnonzero(labels < 0).tolist() == [5, 11]
    assert model.run_.evidence.labels.tolist() == labels.tolist()


def test_a_matrix_may_be_changed_after_the_fit():
    rows = np.random.default_rng(0).normal(size=(30, 4)) + np.repeat(np.eye(3, 4) * 9, 10, axis=0)
    names = DocumentClusterer(3, kernel="cosine").fit(rows.copy()).run_
    model = DocumentClusterer(3, kernel="cosine").fit(rows)
    rows[:] = 0.0
    np.testing.assert_array_equal(model.run_.evidence.margin, names.evidence.margin)
    np.testing.assert_array_equal(model.run_.layout.coordinates, names.layout.coordinates)


def test_a_pickle_holds_the_run():
    model = DocumentClusterer(2).fit(TEXTS, progress=lambda *_: None)
    again = pickle.loads(pickle.dumps(model))
    assert again.clusters_ == model.clusters_
    assert again.predict(["a whale"]).tolist() == model.predict(["a whale"]).tolist()


def test_a_run_that_was_interrupted_is_made_again(monkeypatch):
    calls, whole = [], fitted.build_run

    def once(*given):
        calls.append(given)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return whole(*given)

    monkeypatch.setattr(fitted, "build_run", once)
    model = DocumentClusterer(2).fit(TEXTS)
    with pytest.raises(KeyboardInterrupt):
        _ = model.run_
    again = DocumentClusterer(2).fit(TEXTS)
    assert model.clusters_ == again.clusters_
    assert model.run_.evidence.warnings == again.run_.evidence.warnings


def test_nothing_is_there_before_a_fit():
    model = DocumentClusterer(2)
    for name in ("run_", "clusters_", "choice_", "branches_", "margin_", "oddness_", "stability_", "duplicates_"):
        with pytest.raises(NotFittedError):
            getattr(model, name)
    assert not hasattr(model, "run_")
    assert pickle.loads(pickle.dumps(model)).n_clusters == 2
