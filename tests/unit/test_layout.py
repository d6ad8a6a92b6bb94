"""The map of the documents."""

import numpy as np
import pytest
from sklearn.manifold import trustworthiness
from sklearn.metrics import silhouette_score

from grampus import _native
from grampus.cluster import kernel_kmeans
from grampus.documents.tell import layout
from grampus.documents.tell.layout import coordinates
from grampus.gram import DenseGram, LinearGram, shift
from grampus.gram.graph import nearest_neighbors


def blobs(k, each=30, seed=0):
    rng = np.random.default_rng(seed)
    x = np.repeat(np.eye(k), each, axis=0) + 0.1 * rng.random((k * each, k))
    return x / np.linalg.norm(x, axis=1, keepdims=True), np.repeat(np.arange(k), each)


def test_groups_that_are_there_are_apart_and_neighbours_stay_neighbours():
    x, labels = blobs(6)
    places = coordinates(LinearGram(x))
    assert silhouette_score(places, labels) > 0.7
    assert trustworthiness(x, places, metric="cosine") > 0.9


def test_noise_looks_like_noise():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(600, 20))
    gram = LinearGram(x / np.linalg.norm(x, axis=1, keepdims=True))
    labels = kernel_kmeans(gram, 8, random_state=0).labels
    places = coordinates(gram)
    assert silhouette_score(places, labels) < 0.1
    counts, _, _ = np.histogram2d(*places.T, bins=6)
    assert (counts[1:-1, 1:-1] > 0).all()  # no islands, no holes


def test_a_bridge_looks_like_a_bridge():
    """Documents between two groups lie between them."""
    angle = np.concatenate([np.full(40, 0.0), np.linspace(0.0, 1.5, 60), np.full(40, 1.5)])
    rng = np.random.default_rng(0)
    x = np.column_stack([np.cos(angle), np.sin(angle)]) + 0.02 * rng.normal(size=(140, 2))
    places = coordinates(LinearGram(x / np.linalg.norm(x, axis=1, keepdims=True)))
    along = np.argsort(places[:, 0])
    ranks = np.empty(140)
    ranks[along] = np.arange(140)
    assert abs(np.corrcoef(ranks, angle)[0, 1]) > 0.9


@pytest.mark.parametrize("make", [LinearGram, lambda x: shift(LinearGram(x), 3.0)])
def test_neither_order_nor_shift_nor_repetition_matters(make):
    x, _ = blobs(5)
    order = np.random.default_rng(1).permutation(len(x))
    places = coordinates(LinearGram(x))
    np.testing.assert_array_equal(coordinates(make(x)), places)
    np.testing.assert_array_equal(coordinates(make(x[order])), places[order])


def test_a_large_collection_is_placed_by_representatives(monkeypatch):
    x, labels = blobs(6, each=100)
    monkeypatch.setattr(layout, "LARGEST", 300)
    monkeypatch.setattr(layout, "REPRESENTATIVES", 200)
    places = coordinates(LinearGram(x))
    assert silhouette_score(places, labels) > 0.7
    order = np.random.default_rng(1).permutation(len(x))
    np.testing.assert_array_equal(coordinates(LinearGram(x[order])), places[order])
    assert trustworthiness(x, places, metric="cosine") > 0.85


@pytest.mark.parametrize("n", [1, 2, 3, 4, 10])
def test_few_documents(n):
    places = coordinates(LinearGram(np.random.default_rng(0).random((n, 3))))
    assert places.shape == (n, 2)
    assert np.isfinite(places).all()


def test_documents_alike_empty_or_without_a_common_term():
    assert np.isfinite(coordinates(LinearGram(np.ones((9, 3))))).all()
    assert np.isfinite(coordinates(LinearGram(np.eye(9)))).all()
    assert np.isfinite(coordinates(DenseGram(-np.eye(4) + 0.5))).all()  # not positive semidefinite
    x, _ = blobs(3)
    x[:4] = 0.0
    places = coordinates(LinearGram(x))
    far = np.linalg.norm(places, axis=1)
    assert far[:4].min() > far[4:].max()  # on the rim


def test_edges_outside_the_documents_are_refused():
    one = np.ones(1, dtype=np.float32)
    with pytest.raises(Exception, match="inside 0 … 2"):
        _native.lay_out([0], [3], one, np.zeros((3, 2)), 0, 1, 1, 0)
    with pytest.raises(Exception, match="from 0 to 1"):
        _native.lay_out([0], [1], 2 * one, np.zeros((3, 2)), 0, 1, 1, 0)


def test_fewer_neighbours_are_those_remembered():
    x = np.random.default_rng(0).standard_normal((300, 7)).round(1)
    x[40:60] = x[0]  # ties
    known, fresh = LinearGram(x), LinearGram(x)
    nearest_neighbors(known, 25)
    for some, anew in zip(nearest_neighbors(known, 15), nearest_neighbors(fresh, 15), strict=True):
        np.testing.assert_array_equal(some, anew)
