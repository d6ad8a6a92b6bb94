"""The map of the documents."""

from __future__ import annotations

import numpy as np
import pytest

from grampus.cluster import embedding_2d
from grampus.describe import evidence
from grampus.documents.layout import GAP, arrange, coordinates, disc
from grampus.gram import LinearGram


def blobs(k, each=30, seed=0):
    rng = np.random.default_rng(seed)
    x = np.repeat(np.eye(k), each, axis=0) + 0.1 * rng.random((k * each, k))
    return LinearGram(x), np.repeat(np.arange(k), each)


@pytest.mark.parametrize("k", [2, 3, 8, 25])
def test_discs_do_not_overlap(k):
    rng = np.random.default_rng(k)
    radii = np.sqrt(rng.dirichlet(np.ones(k)))
    similar = rng.random((k, k))
    places = arrange((similar + similar.T) / 2 + np.eye(k), radii)
    apart = np.linalg.norm(places[:, None] - places[None], axis=2) + 9 * np.eye(k)
    assert (apart > 0.97 * GAP * (radii[:, None] + radii[None]) - 9 * np.eye(k)).all()


def test_alike_clusters_are_neighbours():
    similar = np.full((6, 6), 0.05) + 0.95 * np.eye(6)
    similar[0, 5] = similar[5, 0] = 0.9
    places = arrange(similar, np.full(6, 0.4))
    others = np.linalg.norm(places[1:5] - places[0], axis=1)
    assert np.linalg.norm(places[5] - places[0]) <= others.min() + 1e-6


def test_a_cluster_stays_in_its_disc_and_borders_face_each_other():
    gram, labels = blobs(4)
    seen = evidence(gram, labels)
    places = coordinates(gram, seen)
    middles = np.array([places[labels == c].mean(axis=0) for c in range(4)])
    nearest = np.linalg.norm(places[:, None] - middles[None], axis=2).argmin(axis=1)
    assert (nearest == labels).mean() > 0.95
    towards = (places - middles[labels]) * (middles[seen.second] - middles[labels])
    doubtful = np.array([np.argmin(np.where(labels == c, seen.margin, np.inf)) for c in range(4)])
    assert (towards.sum(axis=1)[doubtful] > 0).all()


def test_the_order_of_the_documents_does_not_matter():
    gram, labels = blobs(5)
    order = np.random.default_rng(1).permutation(len(labels))
    places = coordinates(gram, evidence(gram, labels))
    mixed = coordinates(gram.take(order), evidence(gram.take(order), labels[order]))
    np.testing.assert_allclose(mixed, places[order], atol=1e-6)


def test_one_or_two_clusters_are_shown_by_their_principal_components():
    gram, labels = blobs(2)
    np.testing.assert_array_equal(coordinates(gram, evidence(gram, labels)), embedding_2d(gram))


def test_documents_that_are_all_alike_lie_in_the_middle():
    assert not disc(np.ones((5, 3)), np.zeros((5, 2))).any()
    gram = LinearGram(np.repeat(np.eye(3), 2, axis=0))
    assert np.isfinite(coordinates(gram, evidence(gram, [0, 0, 1, 1, 2, 2]))).all()
