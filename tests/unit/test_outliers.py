"""Outliers: the score, the rule, what is carried on, and new documents."""

from __future__ import annotations

import numpy as np
import pytest

from grampus import DocumentClusterer, load, parse_kernel
from grampus.documents import Effort
from grampus.documents.find.outliers import familiarity, stand_out
from grampus.errors import InputError

QUICK = Effort(stability=False, n_init=2)


def cloud(strange: int = 4) -> np.ndarray:
    """Two groups, and rows that share nothing with them."""
    rng = np.random.default_rng(0)
    rows = np.zeros((200 + strange, 12))
    rows[:100, :4], rows[100:200, 4:8] = 1 + 0.3 * rng.random((100, 4)), 1 + 0.3 * rng.random((100, 4))
    rows[200:, 8:] = 0.001 + np.eye(4)[np.arange(strange) % 4]
    rows[200:, :8] = 0.05
    return rows


@pytest.mark.parametrize("kernel", ["cosine", "cosine|principal(3)|normalise", "gaussian(1)", "cosine|shift"])
def test_familiarity_is_the_root_mean_square_similarity_to_the_others(kernel):
    rows = cloud()
    plain = parse_kernel("gaussian(1)" if "gauss" in kernel else "cosine").gram(rows).dense()
    np.fill_diagonal(plain, 0.0)
    expected = np.sqrt((plain**2).sum(axis=1) / (len(rows) - 1))
    np.testing.assert_allclose(familiarity(parse_kernel(kernel), rows, np.ones(len(rows))), expected, rtol=1e-9)


def test_copies_count_as_documents():
    rows = cloud()
    weights = np.ones(len(rows))
    weights[0] = 3
    whole = familiarity(parse_kernel("cosine"), np.vstack([rows, rows[[0, 0]]]), np.ones(len(rows) + 2))
    np.testing.assert_allclose(familiarity(parse_kernel("cosine"), rows, weights), whole[: len(rows)], rtol=1e-9)


@pytest.mark.parametrize(
    "kernel", ["selftuning(5)", "selftuning(5)|principal(3)|normalise", "0.5 * cosine + 0.5 * selftuning(5)|shift"]
)
def test_outliers_under_a_kernel_made_of_distances(kernel):
    rows = cloud()
    model = DocumentClusterer(2, kernel=kernel, outliers="auto", effort=QUICK).fit(rows)
    values = familiarity(parse_kernel(kernel), rows, np.ones(len(rows)))
    assert len(set(model.labels_[:100])) == len(set(model.labels_[100:200])) == 1
    assert model.labels_[0] != model.labels_[100]
    assert (values > 0).all()
    assert np.isfinite(model.assign(rows[:3] + 0.01).likeness).all()


def test_outliers_need_a_diagonal():
    gram = parse_kernel("cosine").gram(cloud()).dense()
    np.fill_diagonal(gram, 0.0)
    with pytest.raises(InputError, match="the diagonal of the Gram matrix must be above 0; its smallest value is 0"):
        DocumentClusterer(2, kernel="precomputed", outliers="auto").fit(gram)


def test_nothing_stands_out_where_nothing_is_planted():
    for seed in range(50):
        values = np.exp(np.random.default_rng(seed).normal(size=1000) / 5)
        assert not stand_out(values, np.ones(1000)).any()


def test_never_more_than_asked_for_and_ties_together():
    values = np.append(np.exp(np.random.default_rng(0).normal(size=500) / 10), [0.1, 0.1, 0.2])
    copies = np.ones(503)
    assert stand_out(values, copies).nonzero()[0].tolist() == [500, 501, 502]
    assert stand_out(values, copies, 2 / 503).nonzero()[0].tolist() == [500, 501]
    assert not stand_out(values, copies, 1 / 503).any()


def test_outliers_are_in_no_cluster_level_or_leaf():
    model = DocumentClusterer(2, kernel="cosine", outliers="auto", effort=QUICK).fit(cloud())
    run = model.run_
    assert model.labels_[200:].tolist() == [-1] * 4
    assert model.labels_[:200].min() >= 0
    assert [cluster.size for cluster in model.clusters_] == [100, 100]
    assert run.evidence.leaves[200:].tolist() == [-1] * 4
    assert all((run.level_labels(name)[200:] == -1).all() for name in run.levels)
    assert any("unlike any group" in note for note in run.evidence.warnings)


def test_off_by_default_and_checked():
    assert DocumentClusterer(2, kernel="cosine", effort=QUICK).fit(cloud()).labels_.min() == 0
    for wrong in (0, 1.5, "some", True):
        with pytest.raises(InputError, match="outliers must be"):
            DocumentClusterer(2, outliers=wrong).fit(cloud())


def test_order_does_not_matter():
    rows = cloud()
    order = np.random.default_rng(3).permutation(len(rows))
    model = DocumentClusterer(2, kernel="cosine", outliers=0.05, effort=QUICK)
    assert model.fit(rows).labels_[order].tolist() == model.fit(rows[order]).labels_.tolist()


def test_new_documents_unlike_anything_seen(tmp_path):
    words, rng = (
        ["whale", "sea", "ship", "song", "wave", "deep", "bird", "nest", "wing", "tree"],
        np.random.default_rng(0),
    )
    model = DocumentClusterer(2, effort=QUICK).fit([" ".join(rng.choice(words, 6)) for _ in range(150)])
    new = ["whale and sea ship song", "tax audit of the ledger and a ship", "nothing known"]
    found = model.assign(new)
    assert found.unlike.tolist() == [False, True, True]
    assert model.predict(new, outliers=True)[1:].tolist() == [-1, -1]
    assert model.predict(new).min() >= 0
    model.save(tmp_path / "run")
    assert load(tmp_path / "run").assign(new).likeness.tolist() == found.likeness.tolist()


def test_labels_alone_do_not_compare_documents_with_the_fitted_ones():
    model = DocumentClusterer(2, kernel="cosine", effort=QUICK).fit(cloud(0))
    labels = model.predict(cloud())
    assert "_familiarity" not in vars(model.predictor_)
    assert (model.predict(cloud(), outliers=True) == -1).any()
    assert model.assign(cloud()).labels.tolist() == labels.tolist()
