"""What `normalised` proves about K^t, on random collections."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from grampus.errors import InputError
from grampus.gram import LinearGram, normalise

ORDERS = st.floats(1e-3, 100) | st.just(np.inf)
VECTORS = st.tuples(st.integers(2, 8), st.integers(1, 4)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=st.floats(-4, 4).map(lambda v: round(v, 2)))
)
ROUNDING = 1e-12


def of(x: np.ndarray, order: float) -> np.ndarray:
    return normalise(LinearGram(x), order).dense()


@given(VECTORS, ORDERS)
def test_properties_1_to_3_bounded_symmetric_and_maximal_for_itself(x, t):
    K = of(x, t)
    assert np.abs(K).max() <= 1 + ROUNDING
    assert np.array_equal(K, K.T)
    filled = (x**2).sum(axis=1) > 0
    np.testing.assert_allclose(K.diagonal(), filled.astype(float), atol=ROUNDING)


@given(VECTORS, st.floats(1e-2, 100) | st.just(np.inf))
def test_property_4_one_only_for_equal_vectors(x, t):
    K = of(x, t)
    for i in range(len(x)):
        for j in range(len(x)):
            if x[i].any() and np.array_equal(x[i], x[j]):
                assert K[i, j] == pytest.approx(1, abs=ROUNDING)
            elif np.linalg.norm(x[i] - x[j]) > 0.05 * (np.linalg.norm(x[i]) + np.linalg.norm(x[j])):
                assert K[i, j] < 1 - 1e-9


@given(VECTORS, ORDERS, ORDERS)
def test_properties_5_to_7_sign_and_decrease_with_the_order(x, s, t):
    s, t = min(s, t), max(s, t)
    low, high = of(x, s), of(x, t)
    large = np.abs(low) > 1e-9
    assert np.array_equal(np.sign(high)[large], np.sign(low)[large])
    assert (np.abs(high) <= np.abs(low) + ROUNDING).all()
    cosine = of(x, 0)
    assert (high[cosine > 0] <= low[cosine > 0] + ROUNDING).all()
    assert (high[cosine < 0] >= low[cosine < 0] - ROUNDING).all()


@given(VECTORS, ORDERS)
def test_property_8_positive_semi_definite_with_a_metric_below(x, t):
    K = of(x, t)
    assert np.linalg.eigvalsh(K).min() >= -1e-10 * len(K)
    filled = np.flatnonzero(x.any(axis=1))
    D = np.sqrt(np.maximum(2 * (1 - K[np.ix_(filled, filled)]), 0))
    for k in range(len(filled)):
        assert (D[:, [k]] + D[[k], :] + 1e-7 >= D).all()


@given(VECTORS)
def test_tends_to_the_cosine_as_t_tends_to_0(x):
    cosine = of(x, 0)
    norms = np.linalg.norm(x, axis=1)
    expected = np.divide(x @ x.T, np.outer(norms, norms), out=np.zeros_like(cosine), where=np.outer(norms, norms) > 0)
    np.testing.assert_allclose(cosine, expected, atol=1e-12)
    gaps = [np.abs(of(x, t) - cosine).max() for t in (1e-2, 1e-4, 1e-8)]
    assert gaps[2] < 1e-6
    assert gaps[1] <= gaps[0] + ROUNDING
    assert gaps[2] <= gaps[1] + ROUNDING


@pytest.mark.parametrize(("t", "value"), [(0, 1.0), (1, 0.8), (np.inf, 0.5)])
def test_figure_1_at_gamma_2(t, value):
    assert of(np.array([[1.0], [2.0]]), t)[0, 1] == pytest.approx(value, abs=1e-15)


@given(st.floats(1, 2), st.floats(0.01, 100), st.sampled_from([1.0, -1.0]))
def test_equation_9(gamma, t, cosine):
    expected = cosine * 2 ** (1 / t) * gamma / (1 + gamma ** (2 * t)) ** (1 / t)
    assert of(np.array([[1.0], [cosine * gamma]]), t)[0, 1] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("t", [-1, -1e-9, -np.inf, np.nan, "1", None, True])
def test_other_orders_are_refused(t):
    with pytest.raises(InputError, match="order must be 0, a positive number or inf; got"):
        normalise(LinearGram(np.eye(2)), t)


@given(st.floats(0, 200) | st.floats(0, 1e-290), st.floats(-250, 250), st.floats(-250, 250))
@example(5e-324, 0.0, 100.0)
@example(1e-310, -100.0, 100.0)
def test_no_overflow_at_extreme_scales(t, a, b):
    x = np.array([[10.0 ** (a / 2)], [10.0 ** (b / 2)]])
    K = of(x, t)
    assert np.isfinite(K).all()
    assert 0 <= K[0, 1] <= 1 + ROUNDING
