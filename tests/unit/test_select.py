"""Choosing k: behaviour, bad input, long work."""

import importlib
import itertools
import json
import subprocess
import sys
import textwrap
import time
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import silhouette_samples

from grampus import choose_k, config
from grampus.cluster.kmeans import Rule
from grampus.errors import InputError
from grampus.gram import DenseGram, LinearGram, shift
from grampus.gram.collection import content_names
from grampus.select import (
    Contest,
    Score,
    Selection,
    Splits,
    chance_strength,
    growing_rate,
    nearest_centroid,
    other_indices,
    reduce_gram,
    score_rows,
    silhouette,
    stability,
)
from grampus.select.nested import _shares
from grampus.select.null import Cloud
from grampus.select.results import _shown
from grampus.select.schemes import MOST_DOCUMENTS, SCHEMES, check_scheme, scheme_for
from grampus.select.strength import partition_similarity, strength
from grampus.select.ungrouped import deal_words
from tests.timing import no_slower

QUICK = {"kernel": "linear", "ks": range(2, 6), "splits": Splits(8), "random_state": 0}


def clouds(k=3, each=30, seed=0):
    rng = np.random.default_rng(seed)
    return np.repeat(9 * np.eye(max(k, 3))[:k], each, axis=0) + rng.normal(size=(k * each, max(k, 3)))


@pytest.fixture(scope="module")
def selection():
    return choose_k(clouds(), scheme="KKM-S", **QUICK)


# -- the answer


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_scheme_finds_well_separated_clouds(scheme):
    found = choose_k(clouds(), scheme=scheme, null=False, **QUICK)
    assert found.ranking[0] == 3
    assert found.scores.shape == found.strength.shape == (8, 4)
    assert found.scheme == scheme
    assert (found.reduction is not None) == (scheme == "RED-S")


@pytest.mark.parametrize(
    ("changes", "scheme"),
    [
        ({}, "KKM-S"),
        ({"scheme": "Auto"}, "KKM-S"),
        ({"splits": Splits(2, reduction=2)}, "RED-S"),
        ({"splits": Splits(2, n_neighbors=3)}, "RED-S"),
        ({"scheme": "red-s"}, "RED-S"),
    ],
)
def test_the_selection_names_the_scheme_that_ran(changes, scheme):
    found = choose_k(clouds(), null=False, **{**QUICK, "splits": Splits(2), **changes})
    assert found.scheme == scheme
    assert str(found).startswith(f"{scheme} on linear")
    assert (found.reduction is not None) == (scheme == "RED-S")


def test_by_default_the_documents_themselves_are_split(selection):
    np.testing.assert_array_equal(choose_k(clouds(), null=False, **QUICK).scores, selection.scores)


def test_many_documents_are_reduced():
    x = clouds(each=850)[: MOST_DOCUMENTS + 1]
    options = {"kernel": "linear", "ks": [3], "splits": Splits(1), "null": False, "random_state": 0}
    more, most = choose_k(x, **options), choose_k(x[:-1], **options)
    assert (more.scheme, len(more.reduction)) == ("RED-S", 625)
    assert (most.scheme, most.reduction) == ("KKM-S", None)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_scheme_that_was_named_runs_whatever_the_size(scheme):
    for n in (2, MOST_DOCUMENTS, MOST_DOCUMENTS + 1, 10**6):
        assert scheme_for(check_scheme(scheme), n, reduced=False) is SCHEMES[scheme]


def test_prototypes_of_few_documents_miss_groups_that_the_documents_show():
    # Eight clouds of 30 to 80 points, the nearest seven standard deviations apart: 108 prototypes leave three or four
    # of the smallest cloud in a half.
    rng = np.random.default_rng([711, 6])
    d = int(rng.integers(2, 11))
    while True:
        centres = 8.0 * rng.normal(size=(8, d))
        if (np.linalg.norm(centres[:, None] - centres, axis=2) + 99.0 * np.eye(8)).min() > 7:
            break
    x = np.concatenate(
        [c + rng.normal(size=(size, d)) for c, size in zip(centres, rng.integers(30, 80, 8), strict=True)]
    )
    options = {"kernel": "linear", "ks": [4, 7, 8, 9, 10], "splits": Splits(10), "null": False, "random_state": 6}
    assert choose_k(x, **options).best == 8
    assert choose_k(x, scheme="RED-S", **options).best != 8


def test_scores_are_the_corrected_strengths(selection):
    expected = (selection.strength - selection.chance) / (1 - selection.chance)
    np.testing.assert_allclose(selection.scores, expected, atol=1e-12)  # 90 documents: both halves have 45
    assert (selection.chance_error < 0.01).all()


def test_km_p_is_not_corrected():
    found = choose_k(clouds(), scheme="KM-P", null=False, **QUICK)
    np.testing.assert_array_equal(found.scores, found.strength)
    assert not found.chance.any()


def test_no_structure_is_an_answer():
    found = choose_k(np.random.default_rng(0).normal(size=(120, 4)), scheme="KKM-S", **QUICK)
    assert found.best == 1
    assert found.structure is False
    assert found.ranking[0] > 1
    assert "k = 1" in str(found)


def test_structure_is_found(selection):
    assert selection.structure is True
    assert selection.best == 3
    assert selection.null.p_value == pytest.approx(0.05)


def test_the_null_is_the_same_with_prototypes():
    options = {**QUICK, "ks": [2, 3], "splits": Splits(2)}
    found, reduced = (choose_k(clouds(each=15), scheme=scheme, **options).null for scheme in ("KKM-S", "RED-S"))
    assert found.p_value == reduced.p_value
    np.testing.assert_array_equal(found.observed, reduced.observed)
    np.testing.assert_array_equal(found.reference_mean, reduced.reference_mean)


def test_one_among_the_ks_gets_no_score():
    found = choose_k(clouds(), **{**QUICK, "ks": [1, 2, 3]}, null=False)
    assert found.ks == (2, 3)


def test_equal_scores_go_to_the_larger_k():
    scores = np.ones((4, 3))
    zero = np.zeros(3)
    made = Selection((2, 3, 4), scores, scores, zero, zero, zero.astype(int), None, "KKM-S", "linear", (0,))
    assert made.ranking == (4, 3, 2)


def test_nearly_perfect_scores_are_equal():
    # In one split of fifty a document on a border is predicted wrongly for the larger k.
    scores = np.ones((50, 4))
    scores[0, 1], scores[:, 2], scores[:, 3] = 0.6, 0.97, 0.5
    zero = np.zeros(4)
    made = Selection((2, 3, 4, 5), scores, scores, zero, zero, zero.astype(int), None, "KKM-S", "linear", (0,))
    assert made.ranking == (3, 2, 4, 5)
    assert made.close[0] == 2
    assert "k = 3 is 0.99 ± 0.01. k = 2 also predicts nearly perfectly; the largest such k is chosen" in made.confidence
    assert made.chart().splitlines()[2].endswith("◀ chosen")


@pytest.mark.parametrize("top", [0.3, 0.9, 0.979])
def test_below_that_the_highest_score_comes_first(top):
    scores = np.full((10, 3), [top, top - 1e-6, 0.1])
    zero = np.zeros(3)
    made = Selection((2, 3, 4), scores, scores, zero, zero, zero.astype(int), None, "RED-S", "linear", (0,))
    assert made.ranking == (2, 3, 4)


def test_shift_that_was_written_is_the_one_used():
    x = clouds()
    plain = choose_k(x, scheme="KKM-S", null=False, **QUICK)
    written = choose_k(x, scheme="KKM-S", null=False, **{**QUICK, "kernel": "linear|shift"})
    none = choose_k(x, scheme="KKM-S", null=False, **{**QUICK, "kernel": "linear|shift(0)"})
    np.testing.assert_array_equal(plain.scores, written.scores)
    assert not np.array_equal(plain.scores, none.scores)


def test_gram_matrix_and_operator_give_the_same():
    x = clouds()
    options = {**QUICK, "scheme": "RED-S", "null": False}
    whole = choose_k(LinearGram(x), **options)
    np.testing.assert_array_equal(whole.scores, choose_k(x, **options).scores)
    # A matrix has no content to order its rows by: given in that order, it is the same.
    order = np.argsort(content_names(x), kind="stable")
    matrix = x[order] @ x[order].T
    np.testing.assert_array_equal(whole.scores, choose_k(matrix, **{**options, "kernel": "precomputed"}).scores)


def test_sparse_texts_with_an_empty_document():
    rng = np.random.default_rng(0)
    x = sp.lil_array(rng.random((80, 40)) * (rng.random((80, 40)) < 0.2))
    x[5] = 0
    found = choose_k(sp.csr_array(x), ks=[2, 3], splits=Splits(4), null=False, random_state=0)
    assert np.isfinite(found.scores).all()


def test_prototypes_name_documents_in_the_order_given():
    x = clouds()
    found = choose_k(x, scheme="RED-S", null=False, **QUICK).reduction
    matrix = x @ x.T
    expected = [[matrix[np.ix_(a, b)].mean() for b in found.members] for a in found.members]
    np.testing.assert_allclose(found.gram.matrix, expected)
    np.testing.assert_array_equal(found.members[:, 0], found.seeds)


# -- what it says


def test_confidence_and_chart(selection):
    assert selection.runner_up.winner == 3
    assert 0.5 <= selection.runner_up.wins <= 1
    assert selection.confidence.startswith("3 clusters agree best between halves")
    chart = str(selection)
    assert chart.splitlines()[0] == "KKM-S on linear: k = 3"
    assert "◀ chosen" in chart
    assert chart.count("█") > 30


def test_close_values_are_named():
    rng = np.random.default_rng(0)
    alike = 0.5 + 0.1 * rng.normal(size=50)
    scores = np.stack([alike + 0.01, alike + 0.01 * rng.normal(size=50) - 0.4, alike + 0.05 * rng.normal(size=50)], 1)
    zero = np.zeros(3)
    made = Selection((2, 3, 4), scores, scores, zero, zero, zero.astype(int), None, "KKM-S", "linear", (0,))
    assert made.close == (4,)
    assert "but 4 cannot be ruled out" in made.confidence
    assert made.plausible == (2, 4)


def test_the_contest_is_a_paired_t_test():
    rng = np.random.default_rng(1)
    a, b = rng.normal(1, 1, 30), rng.normal(0, 1, 30)
    from scipy import stats

    found = Contest.of(2, 3, a, b)
    assert found.p_value == pytest.approx(stats.ttest_rel(a, b, alternative="greater").pvalue)
    assert found.wins == (a > b).mean()
    assert Contest.of(2, 3, np.ones(5), np.zeros(5)).separated
    assert not Contest.of(2, 3, np.ones(5), np.ones(5)).separated


def test_threshold_rule(selection):
    assert selection.threshold_rule(0.9) == 3
    assert selection.threshold_rule(0.0) == 5
    with pytest.raises(InputError, match="threshold"):
        selection.threshold_rule(2)


def test_frame(selection):
    frame = pytest.importorskip("pandas") and selection.to_frame()
    assert frame.loc[3, "rank"] == 1
    assert frame.index.name == "k"


def test_other_indices_find_well_separated_clouds():
    found = other_indices(LinearGram(clouds()), range(2, 6), random_state=0)
    assert found.silhouette_k == found.gap_k == 3


def test_gap_finds_one_cloud():
    x = np.random.default_rng(2).normal(size=(100, 3))
    assert other_indices(LinearGram(x), range(2, 5), random_state=0).gap_k == 1


def test_silhouette_is_scikit_learns():
    rng = np.random.default_rng(0)
    x, labels = rng.normal(size=(50, 4)), rng.integers(0, 4, 50)
    labels[0] = 9  # alone
    np.testing.assert_allclose(silhouette(shift(LinearGram(x)), labels), silhouette_samples(x, labels), atol=1e-12)
    with pytest.raises(InputError, match="at least 2"):
        silhouette(LinearGram(x), np.zeros(50))


# -- stability


def test_stability_of_companions():
    x = clouds()
    x[0] = x[40:60].mean(axis=0) / 2 + x[1:30].mean(axis=0) / 2  # on the border of two clouds
    labels = np.repeat([0, 1, 2], 30)
    found = stability(LinearGram(x), labels, splits=Splits(10), random_state=0)
    assert found.documents[0] == found.documents.min()
    assert found.documents[31:].min() > 0.95
    assert found.clusters.shape == (3,)
    assert (found.expected < 0.5).all()
    order = np.random.default_rng(0).permutation(90)
    again = stability(LinearGram(x[order]), labels[order], splits=Splits(10), random_state=0)
    np.testing.assert_allclose(again.documents, found.documents[order])


def test_stability_equals_counting_pairs():
    from grampus._random import seed_words
    from grampus.select.halves import Splitter

    rng = np.random.default_rng(5)
    x = rng.normal(size=(30, 2))
    labels = rng.integers(0, 3, 30)
    gram = DenseGram(x @ x.T)  # a matrix keeps its order
    found = stability(gram, labels, splits=Splits(3), random_state=4)
    halves = Splitter.of(gram, Rule(), [3], Splits(3), tuple(seed_words(4))).halves(3, range(3), 1)
    everyone = np.where(halves.labels >= 0, halves.labels, halves.predicted)
    for i in (0, 7, 29):
        companions = [j for j in range(30) if labels[j] == labels[i] and j != i]
        assert found.documents[i] == pytest.approx((everyone[:, companions] == everyone[:, [i]]).mean())
    together = [np.mean([run[i] == run[j] for i, j in itertools.combinations(range(30), 2)]) for run in everyone]
    np.testing.assert_allclose(found.expected, np.mean(together))


def test_halves_of_k_documents_are_enough_for_stability():
    found = stability(
        LinearGram(np.array([[0.0], [0.1], [9.0], [9.1]])), [0, 0, 1, 1], splits=Splits(4), random_state=0
    )
    assert found.clusters.shape == (2,)


def test_one_cluster_is_predicted_perfectly_by_chance():
    assert chance_strength(7, 1) == (1.0, 0.0)
    with pytest.raises(InputError, match="at least 1"):
        chance_strength(7, 0)
    with pytest.raises(InputError, match="pairs at least 2"):
        chance_strength(7, 2, 1)


def test_the_threshold_rule_of_one_split_adds_no_error():
    one = choose_k(clouds(), scheme="KKM-S", **{**QUICK, "splits": Splits(1)}, null=False)
    assert one.threshold_rule(0.999) == max(k for k, mean in zip(one.ks, one.strength[0], strict=True) if mean >= 0.999)
    assert one.threshold_rule(0.999) < 5


def test_a_shift_is_part_of_the_distance_to_a_centroid():
    """A training document is nearer to its own class by what the shift adds; at last it always stays there."""
    x = np.random.default_rng(3).normal(size=(12, 2))
    labels = np.array(["a", "b", "a", "b", "a", "b", "a", "b"])
    changed = set()
    for sigma in (0.0, 0.5, 2.0, 50.0):
        found = nearest_centroid(shift(LinearGram(x), sigma), labels)
        matrix = x @ x.T + sigma * np.eye(12)
        distances = []
        for name in "ab":
            own = np.flatnonzero(labels == name)
            inner = matrix[np.ix_(own, own)].mean()
            distances.append(inner - 2.0 * matrix[:, own].mean(axis=1))
        np.testing.assert_array_equal(found, np.array(["a", "b"])[np.argmin(distances, axis=0)])
        changed.add(tuple(found))
    assert len(changed) > 1
    np.testing.assert_array_equal(found[:8], labels)


def test_a_cloud_has_the_mean_and_the_spread_of_the_documents():
    x = np.random.default_rng(0).normal(size=(40, 3)) * [3.0, 1.0, 0.2] + [5.0, -1.0, 2.0]
    cloud = Cloud.of(LinearGram(x))
    np.testing.assert_allclose(np.sort(cloud.spread**2), np.sort(np.linalg.eigvalsh(np.cov(x.T, bias=True))))
    np.testing.assert_allclose(cloud.centre @ cloud.centre, x.mean(axis=0) @ x.mean(axis=0))
    drawn = cloud.draw(4000, np.random.default_rng(1)).dense()
    assert drawn.mean() == pytest.approx(x.mean(axis=0) @ x.mean(axis=0), rel=0.05)
    assert np.trace(drawn) / 4000 == pytest.approx((x**2).sum(axis=1).mean(), rel=0.05)


def test_the_contest_of_one_split_is_no_test():
    one = Contest.of(3, 4, np.array([0.9]), np.array([0.5]))
    assert (one.p_value, one.wins, one.standard_error) == (0.5, 1.0, np.inf)
    assert not one.separated


@pytest.mark.parametrize("chosen", [0, 7, 19])
def test_a_long_chart_keeps_the_chosen_value_and_its_neighbours(chosen):
    rows = [Score(k, 0.5, 0.1, "chosen" if k == chosen + 2 else "", "") for k in range(2, 22)]
    kept = [row.k for row in _shown(rows)]
    assert set(range(max(chosen + 1, 2), min(chosen + 4, 22))) <= set(kept)
    assert (kept[0], kept[-1]) == (2, 21)
    assert 11 <= len(kept) <= 14
    assert _shown(rows[:14]) == rows[:14]


def test_degenerate_runs_are_counted_among_both_halves(selection):
    runs = np.zeros(len(selection.ks), dtype=int)
    runs[1] = 3
    notes = [row.note for row in score_rows(replace(selection, degenerate=runs))]
    assert notes == ["", f"3 of {2 * selection.n_splits} runs degenerate", *[""] * (len(runs) - 2)]


def test_small_clusters_are_not_divided_further():
    assert _shares(np.array([9.0, 1.0]), np.array([1, 100]), 5).tolist() == [1, 4]
    assert _shares(np.array([9.0, 1.0]), np.array([40, 100]), 3).tolist() == [2, 1]
    assert _shares(np.array([9.0, 1.0]), np.array([1, 2]), 9).tolist() == [1, 2]  # no more than there may be


# -- bad input


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"ks": [2, 50]}, "at least 100"),
        ({"ks": [2, 3, 2]}, "twice"),
        ({"ks": [0, 2]}, "at least 1"),
        ({"ks": []}, "at least one value above 1"),
        ({"ks": [1]}, "at least one value above 1"),
        ({"ks": [2.5]}, "whole number"),
        ({"ks": "23"}, "whole number"),
        ({"scheme": "XX"}, "scheme must be one of auto, KM-S"),
        ({"scheme": None}, "scheme must be one of auto, KM-S"),
        ({"splits": 8}, "splits must be a Splits; got 8"),
        ({"splits": Splits(8, reduction=30)}, "leaves 3 prototypes"),
        ({"splits": Splits(8, reduction=91)}, "reduction"),
        ({"scheme": "KKM-S", "splits": Splits(8, reduction=4)}, "belong to RED-S"),
        ({"scheme": "KKM-S", "splits": Splits(8, n_neighbors=3)}, "belong to RED-S"),
        ({"scheme": "KKM-S", "splits": Splits(8, seeds="random")}, "belong to RED-S"),
        ({"splits": Splits(8, n_neighbors=90)}, "n_neighbors"),
        ({"scheme": "KM-S", "kernel": "linear|shift"}, "uses no shift"),
        ({"progress": 3}, "progress must be a function"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"null": 1}, "null"),
        ({"random_state": "x"}, "random_state"),
        ({"kernel": "nope"}, "nope"),
    ],
)
def test_bad_input_says_what_must_hold(changes, words):
    with pytest.raises(InputError, match=words):
        choose_k(clouds(), **{**QUICK, "null": False, **changes})


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n": 0}, "n must be"),
        ({"reduction": 0}, "reduction must be"),
        ({"n_neighbors": -5}, "n_neighbors must be"),
        ({"n_neighbors": "x"}, "n_neighbors must be"),
        ({"n_neighbors": None}, "n_neighbors must be"),
        ({"init": "pddp"}, "init must be one of"),
        ({"n_init": 0}, "n_init must be"),
        ({"seeds": "dense"}, "seeds must be one of 'compactness', 'random'"),
    ],
)
def test_splits_say_what_must_hold(options, words):
    with pytest.raises(InputError, match=words):
        Splits(**options)


def test_stability_reduces_nothing_and_needs_enough_documents():
    with pytest.raises(InputError, match="at least 6"):
        stability(LinearGram(np.eye(5)), [0, 1, 2, 0, 1])
    with pytest.raises(InputError, match="uses every document"):
        stability(LinearGram(clouds()), np.repeat([0, 1, 2], 30), splits=Splits(5, reduction=2))


def test_halves_must_hold_k_distinct_documents():
    x = np.repeat(np.arange(6.0)[:, None], 15, axis=0)
    with pytest.raises(InputError, match="distinct documents"):
        choose_k(x, kernel="linear", ks=[2, 7], scheme="KKM-S", splits=Splits(3), null=False, random_state=0)
    with pytest.raises(InputError, match="distinct documents"):
        choose_k(x, kernel="linear", ks=[2, 7], splits=Splits(3, reduction=4), null=False, random_state=0)


def test_a_single_split_has_no_standard_error_and_says_none():
    x = np.repeat(np.eye(3) * 9, 20, axis=0) + np.random.default_rng(0).normal(size=(60, 3))
    found = choose_k(x, kernel="linear", ks=(2, 3, 4), scheme="KKM-S", splits=Splits(1), null=False, random_state=0)
    assert np.isnan(found.standard_error).all()
    assert "The score of k = 3 is 1.00. k = 2 also predicts nearly perfectly" in found.confidence
    page = found._repr_html_()
    for words in (found.confidence, found.chart(), str(found), page):
        assert "nan" not in words
        assert "±" not in words
    assert page.count("–") == 3


def test_nan_is_refused():
    x = clouds()
    x[3, 1] = np.nan
    with pytest.raises(InputError, match=r"NaN|finite"):
        choose_k(x, null=False, **QUICK)


def test_reduction_refuses():
    gram = LinearGram(clouds())
    for changes, words in (({"rate": 0}, "rate"), ({"n_neighbors": 90}, "n_neighbors"), ({"seeds": "best"}, "seeds")):
        with pytest.raises(InputError, match=words):
            reduce_gram(gram, **changes)
    with pytest.raises(InputError, match="Gram"):
        reduce_gram(np.eye(3))


def test_random_seeds_are_the_baseline():
    gram = LinearGram(clouds())
    one, two = (reduce_gram(gram, seeds="random", random_state=s) for s in (0, 1))
    assert len(one) == 22
    assert one.seeds.tolist() != two.seeds.tolist()


def test_choose_k_takes_random_seeds(tmp_path):
    options = {**QUICK, "ks": [2, 3], "null": False}
    random = Splits(8, seeds="random")
    base, found, again = (
        choose_k(clouds(), **{**options, "splits": splits, "scheme": scheme})
        for splits, scheme in ((Splits(8), "RED-S"), (random, "auto"), (random, "RED-S"))
    )
    assert found.scheme == "RED-S"
    assert sorted(found.reduction.seeds) != sorted(base.reduction.seeds)
    assert (found.reduction.seeds == again.reduction.seeds).all()
    choose_k(clouds(), checkpoint=tmp_path / "kept", **{**options, "splits": random})
    with pytest.raises(InputError, match="choice of the prototypes' seeds"):
        choose_k(clouds(), checkpoint=tmp_path / "kept", **{**options, "scheme": "RED-S"})


def test_schemes_of_ones_own_are_rows_of_the_table(monkeypatch):
    monkeypatch.setitem(SCHEMES, "HALF", replace(SCHEMES["RED-S"], name="HALF", rule=Rule(centroid=0.5)))
    options = {**QUICK, "ks": [2, 3], "null": False}
    base, half = (choose_k(clouds(), scheme=scheme, **options) for scheme in ("RED-S", "half"))
    assert half.scheme == "HALF"
    np.testing.assert_array_equal(half.reduction.seeds, base.reduction.seeds)
    assert not np.array_equal(half.scores, base.scores)


def test_empty_documents_are_nobodys_neighbours():
    x = np.vstack([np.eye(4), np.eye(4), np.zeros((2, 4))])
    x = x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1)
    members = reduce_gram(LinearGram(x), 1, 2).members
    ordinary = members[members[:, 0] < 8]
    assert ordinary.max() < 8


def test_rate_grows_and_shrinks():
    assert growing_rate(10_000) == 4
    assert growing_rate(10_004) == 5
    assert 18_846 // growing_rate(18_846) <= 2500
    assert growing_rate(60, least=100) == 1


def test_classifier_refuses():
    gram = LinearGram(clouds())
    for labels, documents in (([0, 1], [1, 1]), ([0, 1], [0, 99]), ([0, 1, 2], [0, 1]), ([], [])):
        with pytest.raises(InputError):
            nearest_centroid(gram, labels, documents)


# -- long work


def test_a_larger_budget_never_costs_more():
    # The matrix of an empirical map costs n³: stored whenever it fits, it took 2.9 times as long.
    rng = np.random.default_rng(0)
    x = sp.csr_array(rng.random((1600, 500)) * (rng.random((1600, 500)) < 0.02))
    options = {"kernel": "cosine|shift|map", "ks": [3], "scheme": "KKM-S", "null": False, "n_jobs": 1}

    def choose_within(memory):
        with config(memory=memory):
            choose_k(x, splits=Splits(2, init="random", n_init=1), random_state=0, **options)

    assert no_slower(partial(choose_within, "2GB"), partial(choose_within, "40MB"), 1.2)


def test_progress_counts_the_splits():
    told = []
    choose_k(clouds(), scheme="RED-S", **{**QUICK, "ks": [2, 3]}, progress=lambda *now: told.append(now))
    assert list(dict.fromkeys(step for step, _, _ in told)) == [
        "finding prototypes",
        "choosing k",
        "testing for groups",
    ]
    splits = [now for now in told if now[0] == "choosing k"]
    assert splits[0] == ("choosing k", 0, 16)
    assert splits[-1] == ("choosing k", 16, 16)
    assert all(a[1] <= b[1] for a, b in itertools.pairwise(splits))


def test_checkpoint_is_used_again(tmp_path, monkeypatch):
    choose = importlib.import_module("grampus.select.job")
    folder = tmp_path / "kept"
    first = choose_k(clouds(), checkpoint=folder, **QUICK)
    monkeypatch.setattr(choose.ScoringJob, "_batch", lambda *_: pytest.fail("nothing is left to do"))
    again = choose_k(clouds(), checkpoint=folder, **{**QUICK, "random_state": None})
    np.testing.assert_array_equal(first.scores, again.scores)
    assert first.null.p_value == again.null.p_value
    monkeypatch.undo()
    more = choose_k(clouds(), checkpoint=folder, **{**QUICK, "ks": [2, 3, 7]}, null=False)
    assert more.ks == (2, 3, 7)


@pytest.mark.parametrize(
    ("changes", "x", "words"),
    [
        ({}, clouds(seed=1), "corpus"),
        ({}, clouds(each=31), "corpus|number of documents"),
        ({"scheme": "RED-S"}, clouds(), "scheme"),
        ({"splits": Splits(9)}, clouds(), "number of splits"),
        ({"random_state": 5}, clouds(), "random_state"),
        ({"splits": Splits(8, n_init=1)}, clouds(), "start of the halves"),
        ({"kernel": "linear|shift(0)"}, clouds(), "kernel|shift"),
        ({"kernel": "polynomial(2)"}, clouds(), "corpus|kernel"),
    ],
)
def test_checkpoint_of_another_job_is_refused(tmp_path, changes, x, words):
    options = {**QUICK, "ks": [2], "scheme": "KKM-S", "null": False}
    choose_k(clouds(), checkpoint=tmp_path / "kept", **options)
    with pytest.raises(InputError, match=words) as refused:
        choose_k(x, checkpoint=tmp_path / "kept", **{**options, **changes})
    assert "another folder" in str(refused.value)


def test_checkpoints_of_other_formats_arrays_or_versions_and_other_folders_are_refused(tmp_path):
    options = {**QUICK, "ks": [2], "scheme": "KKM-S", "null": False}
    folder = tmp_path / "kept"
    choose_k(clouds(), checkpoint=folder, **options)
    np.savez(folder / "k_00002.npz", scores=np.ones(8))
    with pytest.raises(InputError, match="Delete it to recompute it"):
        choose_k(clouds(), checkpoint=folder, **options)
    manifest = folder / "selection.json"
    told = json.loads(manifest.read_text())
    manifest.write_text(json.dumps({**told, "format": 1}))
    with pytest.raises(InputError, match=r"format of the files differs \(1 there, 2 here\)"):
        choose_k(clouds(), checkpoint=folder, **options)
    manifest.write_text(json.dumps({**told, "grampus": "0.0.1"}))
    with pytest.raises(InputError, match="version of Grampus differs"):
        choose_k(clouds(), checkpoint=folder, **options)
    manifest.write_text("{")
    with pytest.raises(InputError, match="cannot be read"):
        choose_k(clouds(), checkpoint=folder, **options)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "letter.txt").write_text("dear")
    with pytest.raises(InputError, match="not empty"):
        choose_k(clouds(), checkpoint=tmp_path / "other", **options)
    with pytest.raises(InputError, match="folder"):
        choose_k(clouds(), checkpoint=tmp_path / "other" / "letter.txt", **options)


KILLED = """
    import sys
    import numpy as np
    from grampus import choose_k
    from grampus.select import Splits
    rng = np.random.default_rng(0)
    x = np.repeat(9 * np.eye(4), 60, axis=0) + rng.normal(size=(240, 4))
    print("ready", flush=True)
    found = choose_k(x, kernel="linear", scheme="KKM-S", ks=range(2, 8), splits=Splits(int(sys.argv[1])), null=False,
                     random_state=0, checkpoint=sys.argv[2] if len(sys.argv) > 2 else None)
    print(found.scores.tobytes().hex())
"""


def killed_and_resumed(folder, splits, kills, pause):
    """Kill a selection so many times, each after a pause, then let it finish; return its output and how many hit."""
    command, hit = [sys.executable, "-c", textwrap.dedent(KILLED), str(splits), str(folder)], 0
    for _ in range(kills):
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as run:
            run.stdout.readline()
            time.sleep(pause)
            hit += run.poll() is None
            run.kill()
        for file in folder.glob("k_*.npz"):
            with np.load(file) as stored:
                assert stored["scores"].shape == (splits,)
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.split()[-1], hit


@pytest.mark.slow
def test_a_killed_selection_goes_on(tmp_path):
    script = textwrap.dedent(KILLED)
    alone = subprocess.run([sys.executable, "-c", script, "60"], capture_output=True, text=True, check=True)
    resumed, hit = killed_and_resumed(tmp_path / "kept", 60, 2, 0.15)
    assert hit >= 1
    assert resumed == alone.stdout.split()[-1]
    assert sorted(f.name for f in (tmp_path / "kept").iterdir()) == [
        *(f"k_{k:05d}.npz" for k in range(2, 8)),
        "selection.json",
    ]


def test_a_cluster_of_two_is_not_degenerate():
    counts = np.array([[[2, 0], [0, 3]], [[1, 0], [0, 3]]])
    for score in (strength, partition_similarity):
        assert score(counts).degenerate.tolist() == [False, True]


def test_words_are_dealt_in_the_order_that_is_drawn():
    order = np.random.default_rng(0).permutation(8)
    dealt = deal_words(["a b c d", "", "e f g", "h"], np.random.default_rng(0))
    assert [len(text.split()) for text in dealt] == [4, 0, 3, 1]
    assert " ".join(dealt).split() == ["abcdefgh"[at] for at in order]
