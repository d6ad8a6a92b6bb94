"""Identities of the other transforms on random Grams and partitions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grampus.gram import (
    DenseGram,
    LinearGram,
    centre,
    dominance_ratio,
    eigenvalues,
    empirical_map,
    normalise,
    objective,
    power,
    shift,
)
from tests.reference import naive


@st.composite
def grams(draw, signed=True):
    n = draw(st.integers(2, 12))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    x = rng.standard_normal((n, draw(st.integers(1, 6)))) if signed else rng.random((n, 4))
    return LinearGram(x)


@st.composite
def partitioned(draw):
    gram = draw(grams())
    return gram, np.array(draw(st.lists(st.integers(0, 4), min_size=len(gram), max_size=len(gram))))


@given(partitioned(), st.floats(-3, 3))
def test_a_shift_changes_every_objective_by_sigma_times_n_minus_non_empty(pair, sigma):
    gram, labels = pair
    difference = objective(shift(gram, sigma), labels) - objective(gram, labels)
    assert difference == pytest.approx(sigma * (len(gram) - len(np.unique(labels))), abs=1e-9)


@given(partitioned())
def test_objective_is_the_sum_of_squared_distances(pair):
    gram, labels = pair
    x = gram.rows
    explicit = sum(((x[labels == c] - x[labels == c].mean(axis=0)) ** 2).sum() for c in np.unique(labels))
    assert objective(gram, labels) == pytest.approx(explicit, abs=1e-9)
    assert objective(gram, labels) == pytest.approx(naive.objective(gram.dense(), labels), abs=1e-9)


@given(grams())
def test_the_default_shift_brings_the_trace_to_zero_and_psd_repairs_it(gram):
    shifted = shift(normalise(gram))
    assert shifted.trace() == pytest.approx(0, abs=1e-12 * len(gram))
    assert eigenvalues(shift(shifted, "psd")).min() >= -1e-9
    assert shift(gram, "psd").sigma == pytest.approx(0, abs=1e-9)


@given(grams(signed=False), st.sampled_from(["plain", "shift", "power"]))
def test_map_equals_dense_r_r_transposed(gram, below):
    base = {"plain": gram, "shift": shift(normalise(gram)), "power": power(normalise(gram), 0.6)}[below]
    R = naive.unit_rows(base.dense())
    np.testing.assert_allclose(empirical_map(base).dense(), R @ R.T, atol=1e-10)


@given(grams())
def test_a_centred_gram_has_zero_row_sums(gram):
    scale = np.abs(gram.dense()).max() * len(gram)
    centred = centre(gram)
    assert np.abs(centred.dense().sum(axis=1)).max() <= 1e-12 * scale
    assert np.abs(centred @ np.ones(len(gram))).max() <= 1e-12 * scale
    np.testing.assert_allclose(centre(centred).dense(), centred.dense(), atol=1e-12 * scale)


@given(grams(), st.integers(0, 2**32 - 1))
def test_take_is_a_principal_submatrix_where_pushing_it_inside_would_be_wrong(gram, seed):
    index = np.random.default_rng(seed).permutation(len(gram))[: max(1, len(gram) - 1)]
    part = np.ix_(index, index)
    for transform in (centre, empirical_map, lambda g: centre(empirical_map(shift(g)))):
        whole = transform(gram)
        np.testing.assert_allclose(whole.take(index).dense(), whole.dense()[part], atol=1e-9)
    shifted = shift(gram)
    assert shifted.take(index).sigma == shifted.sigma  # fitted on the whole collection, and kept
    assert shift(shift(gram).take(index), -0.5).take([0]).sigma == -0.5


def test_pushing_take_inside_is_wrong_for_centre_and_map():
    gram = LinearGram(np.random.default_rng(0).random((6, 3)))
    index = np.arange(3)
    for transform in (centre, empirical_map):
        gap = transform(gram.take(index)).dense() - transform(gram).take(index).dense()
        assert np.abs(gap).max() > 1e-3


def test_dominance_ratio_of_known_matrices():
    assert dominance_ratio(DenseGram(np.full((3, 3), 2.0))) == 1.0
    assert dominance_ratio(LinearGram(np.eye(4))) == np.inf
    assert dominance_ratio(shift(DenseGram(np.array([[1.0, 0.5], [0.5, 3.0]])))) == 0.0


@given(grams())
def test_all_eigenvalues_and_the_largest_agree_with_numpy(gram):
    expected = np.linalg.eigvalsh(gram.dense())[::-1]
    np.testing.assert_allclose(eigenvalues(gram), expected, atol=1e-9)
    np.testing.assert_allclose(eigenvalues(gram, 2), expected[:2], atol=1e-9)


def test_extreme_eigenvalues_of_a_large_gram_come_from_products():
    gram = LinearGram(np.random.default_rng(1).standard_normal((700, 8)))
    expected = np.linalg.eigvalsh(gram.dense())
    np.testing.assert_allclose(eigenvalues(gram, 5), expected[::-1][:5], rtol=1e-9)
    assert shift(shift(gram), "psd").sigma == pytest.approx(gram.trace() / 700, rel=1e-6)
