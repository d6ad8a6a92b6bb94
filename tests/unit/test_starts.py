"""Where the clustering of documents starts."""

import numpy as np
import pytest

import grampus
from grampus.documents import Job, KernelKMeansMethod
from grampus.documents.find.graphs import LESS, NEIGHBOURS, neighbours_of, spectral_start
from grampus.errors import InputError, MemoryBudgetError
from grampus.gram import LinearGram


def directions(sizes, noise, seed=0, dims=8):
    """Documents around different directions of unit length."""
    rng = np.random.default_rng(seed)
    rows = np.repeat(np.eye(dims)[: len(sizes)], sizes, axis=0) + noise * rng.standard_normal((sum(sizes), dims))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True), np.repeat(np.arange(len(sizes)), sizes)


def torn():
    """A wide group beside a small one: k-means from random partitions tears the wide one apart."""
    rng = np.random.default_rng(1)
    angle = rng.uniform(-0.9, 0.9, 600)
    wide = np.c_[np.cos(angle), np.sin(angle), np.zeros(600)]
    rows = np.concatenate([wide, np.tile([np.cos(1.2), 0.0, np.sin(1.2)], (30, 1))])
    rows = np.c_[rows, np.zeros((630, 2))] + 0.05 * rng.standard_normal((630, 5))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True), np.repeat([0, 1], [600, 30])


def same(first, second):
    return np.array_equal(first[:, None] == first, second[:, None] == second)


def found(x, k, init, weights=None):
    weights = np.ones(len(x)) if weights is None else weights
    return KernelKMeansMethod(init).cluster(LinearGram(x), Job(k, weights)).labels


@pytest.mark.parametrize("k", [2, 5])
def test_the_cut_is_that_of_the_definition(k):
    x, _ = directions((60, 50, 40), 0.4)
    weights = np.ones(len(x))
    weights[::7] = 0.0
    graph = neighbours_of(LinearGram(x), weights)
    assert graph is not None
    labels = np.random.default_rng(0).integers(0, k, len(x))
    links, own = graph.links.dense(), labels[graph.documents]
    naive = sum(links[own == c][:, own != c].sum() / links[own == c].sum() for c in range(k))
    assert graph.cut(labels) == pytest.approx(naive, rel=1e-12)
    assert len(graph.documents) == (weights > 0).sum()


def test_the_cut_is_taken_where_k_means_tears_a_group_apart():
    x, classes = torn()
    usual, cut = found(x, 2, "random"), found(x, 2, "spectral")
    graph = neighbours_of(LinearGram(x), np.ones(len(x)))
    assert graph is not None
    start = spectral_start(graph, 2, len(x), 10, 0)
    assert start is not None
    assert same(start, classes)
    assert graph.cut(cut) < LESS * graph.cut(usual)
    np.testing.assert_array_equal(found(x, 2, "auto"), cut)


def test_a_partition_that_is_as_good_is_left():
    x, classes = directions((60, 50, 40), 0.1)
    np.testing.assert_array_equal(found(x, 3, "auto"), found(x, 3, "random"))
    assert same(found(x, 3, "spectral"), classes)


def test_documents_without_weight_have_no_say():
    x, classes = directions((60, 60, 40), 0.1)
    weights = np.ones(len(x))
    weights[:10] = 0.0
    assert same(found(x, 3, "spectral", weights), classes)


@pytest.mark.parametrize("what", ["few documents", "one cluster", "no links", "pieces"])
def test_where_there_is_no_graph_to_cut_the_start_is_random(what):
    x, _ = directions((60, 50, 40), 0.1)
    k = 3
    if what == "few documents":
        x = x[::2]
        assert len(x) < 5 * NEIGHBOURS
    elif what == "one cluster":
        k = 1
    elif what == "no links":
        x = np.eye(120)
    else:
        x = np.repeat(np.eye(4), 40, axis=0) * np.linspace(1, 2, 160)[:, None]
    np.testing.assert_array_equal(found(x, k, "spectral"), found(x, k, "random"))


def test_an_unknown_start_is_refused():
    with pytest.raises(InputError, match="init must be one of 'auto', 'spectral'"):
        KernelKMeansMethod("somewhere")


def test_a_graph_beyond_the_memory_budget_names_the_way_out():
    x, _ = directions((900, 900), 0.4)
    with grampus.config(memory="1MB"):
        with pytest.raises(MemoryBudgetError, match="Use init='random'"):
            neighbours_of(LinearGram(x), np.ones(len(x)))
        assert len(found(x, 2, "random")) == 1800
