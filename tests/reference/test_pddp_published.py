"""`pddp`, table 4: CLASSIC3 by PDDP and PDDP_OCPC; its first split against SciPy's svds."""

import numpy as np
import pytest

from grampus import PDDP
from lab import data
from lab.papers.pddp import confusion


@pytest.fixture(scope="module")
def classic3(corpora):
    found = data.classic3_tmg()
    return found.x, found.labels


@pytest.mark.corpus
@pytest.mark.parametrize("name", ["PDDP", "PDDP_OCPC"])
@pytest.mark.parametrize("k", [3, 4])
def test_confusion_matrices_of_classic3(corpora, monkeypatch, name, k):
    monkeypatch.setenv("GRAMPUS_DATA", str(corpora))
    ours, published = confusion(name, k)
    assert published.sum() == ours.sum() == 3891
    assert np.abs(ours - published).sum() // 2 <= 38


@pytest.mark.corpus
def test_trees_of_classic3_do_not_depend_on_the_order(classic3):
    x, _ = classic3
    model = PDDP(12)
    expected = model.fit(x).tree_
    assert not expected.close_calls
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(x.shape[0])
        found = model.fit(x[order]).tree_
        for a, b in zip(expected.nodes, found.nodes, strict=True):
            assert np.array_equal(a.members, np.sort(order[b.members]))
            assert a.scatter == b.scatter
            assert a.split is None or np.array_equal(a.split.eigenvalues, b.split.eigenvalues)


@pytest.mark.corpus
def test_the_first_split_of_classic3_is_scipys(classic3):
    from scipy.sparse.linalg import LinearOperator, svds

    x, _ = classic3
    mean = np.asarray(x.mean(axis=0)).ravel()
    centred = LinearOperator(
        x.shape,
        matvec=lambda v: x @ v.ravel() - mean @ v.ravel(),
        rmatvec=lambda w: x.T @ w.ravel() - mean * w.sum(),
        dtype=np.float64,
    )
    u, s, _ = svds(centred, k=2, tol=1e-12, v0=np.ones(x.shape[0]) + np.arange(x.shape[0]) % 7)
    order = np.argsort(-s)
    tree = PDDP(2).fit(x).tree_
    split = tree.root.split
    assert split.eigenvalues[0] == pytest.approx(s[order[0]] ** 2, rel=1e-9)
    assert split.eigengap == pytest.approx(1 - (s[order[1]] / s[order[0]]) ** 2, rel=1e-3)
    sides = {frozenset(np.flatnonzero(side).tolist()) for side in (u[:, order[0]] <= 0, u[:, order[0]] > 0)}
    assert {frozenset(leaf.members.tolist()) for leaf in tree.leaves} == sides
