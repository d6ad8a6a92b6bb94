"""Weights by hand on a 4 × 3 matrix, against scikit-learn, and at the edges."""

import math
import pickle
from unittest import SkipTest

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import normalize
from sklearn.utils.estimator_checks import parametrize_with_checks

from grampus.errors import InputError
from grampus.text import Weighting
from grampus.text.terms.weighting import GLOBAL, LOCAL, NAMED, NORMALISATION, Counts, to_unit_length

# Four documents, three terms; the second term is in all of them.
COUNTS = np.array([[4, 1, 0], [0, 1, 2], [1, 2, 0], [0, 4, 0]])

L3, L5 = math.log2(3), math.log2(5)
LOCAL_BY_HAND = {
    "t": [[4, 1, 0], [0, 1, 2], [1, 2, 0], [0, 4, 0]],
    "b": [[1, 1, 0], [0, 1, 1], [1, 1, 0], [0, 1, 0]],
    "l": [[L5, 1, 0], [0, 1, L3], [1, L3, 0], [0, L5, 0]],
    "a": [[3, 1, 0], [0, 1, 2], [1, 2, 0], [0, 3, 0]],
    "n": [[1, 0.625, 0], [0, 0.75, 1], [0.75, 1, 0], [0, 1, 0]],
    "d": [
        [1 + math.log(4), 1, 0], [0, 1, 1 + math.log(2)], [1, 1 + math.log(2), 0], [0, 1 + math.log(4), 0],
    ],
}  # fmt: skip
# Totals 5, 8, 2; documents 2, 4, 1; squares 17, 22, 4; n = 4, log₂ n = 2.
GLOBAL_BY_HAND = {
    "x": [1, 1, 1],
    "e": [1 + (0.8 * math.log2(0.8) + 0.2 * math.log2(0.2)) / 2, 1 + (2 * 0.125 * -3 + 0.25 * -2 + 0.5 * -1) / 2, 1],
    "f": [1, 0, 2],
    "g": [2.5, 2, 2],
    "n": [1 / math.sqrt(17), 1 / math.sqrt(22), 0.5],
    "p": [0, 0, math.log2(3)],
    "d": [1 + math.log(2), 1, 1 + math.log(4)],
    "s": [1 + math.log(5 / 3), 1, 1 + math.log(5 / 2)],
}


@pytest.mark.parametrize("norm", NORMALISATION)
@pytest.mark.parametrize("weight", GLOBAL)
@pytest.mark.parametrize("local", LOCAL)
def test_every_weighting_by_hand(local, weight, norm):
    expected = np.array(LOCAL_BY_HAND[local], float) * np.array(GLOBAL_BY_HAND[weight])
    if norm == "c":
        lengths = np.linalg.norm(expected, axis=1, keepdims=True)
        expected = expected / np.where(lengths > 0, lengths, 1)
    found = Weighting(local + weight + norm).fit_transform(COUNTS)
    np.testing.assert_allclose(found.toarray(), expected, rtol=1e-13, atol=1e-15)


def test_the_hand_tables_cover_the_library():
    assert set(LOCAL_BY_HAND) == set(LOCAL)
    assert set(GLOBAL_BY_HAND) == set(GLOBAL)


@pytest.mark.parametrize(
    ("code", "options"),
    [
        ("tfidf", {}),
        ("tsx", {"norm": None}),
        ("txc", {"use_idf": False}),
        ("tdx", {"smooth_idf": False, "norm": None}),
        ("dominance", {"smooth_idf": False, "sublinear_tf": True, "norm": None}),
        ("ddc", {"smooth_idf": False, "sublinear_tf": True}),
        ("dsc", {"sublinear_tf": True}),
    ],
)
def test_equals_scikit_learn_where_they_coincide(code, options):
    rng = np.random.default_rng(0)
    counts = sp.csr_matrix(rng.poisson(0.4, (60, 40)))
    counts = counts[:, np.flatnonzero(counts.getnnz(0))]
    ours = Weighting(code).fit_transform(counts)
    theirs = TfidfTransformer(**options).fit_transform(counts)
    np.testing.assert_allclose(ours.toarray(), theirs.toarray(), rtol=1e-12, atol=1e-14)


def test_new_documents_get_the_fitted_global_weights():
    weighting = Weighting("tfx").fit(COUNTS)
    assert weighting.transform([[1, 1, 1], [0, 0, 3]]).toarray().tolist() == [[1, 0, 2], [0, 0, 6]]
    assert weighting.global_weights_.tolist() == [1, 0, 2]
    assert weighting.document_frequency_.tolist() == [2, 4, 1]
    assert weighting.n_documents_ == 4


def test_augmented_uses_the_new_document_s_own_largest_count():
    found = Weighting("nxx").fit(COUNTS).transform([[10, 5, 0]])
    assert found.toarray().tolist() == [[1.0, 0.75, 0.0]]


@pytest.mark.parametrize("name", NAMED)
def test_a_name_is_its_three_letters(name):
    named, spelled = (Weighting(code).fit_transform(COUNTS) for code in (name, NAMED[name]))
    assert (named != spelled).nnz == 0


@pytest.mark.parametrize("weight", GLOBAL)
def test_edges_stay_finite(weight):
    """An empty document, a term of every document, a term of none, a single document."""
    odd = np.array([[0, 0, 0], [2, 1, 0], [0, 3, 0]])
    for counts in (odd, odd[1:2], np.array([[1], [1]])):
        weighting = Weighting(f"t{weight}c").fit(counts)
        assert np.isfinite(weighting.global_weights_).all()
        assert np.isfinite(weighting.transform(counts).toarray()).all()


def test_stated_rules_at_the_edges():
    rules = np.array([[1, 2, 0], [1, 0, 0]])
    assert Weighting("tpx").fit(rules).global_weights_.tolist() == [0, 0, 0]
    assert Weighting("tfx").fit(rules).global_weights_.tolist() == [0, 1, 0]
    assert Weighting("tex").fit(rules[:1]).global_weights_.tolist() == [1, 1, 1]
    assert Weighting("tpx").fit([[1, 0], [1, 0], [1, 1]]).global_weights_.tolist() == [0, 1]
    assert Weighting("tpx").fit([[1, 1], [1, 0], [0, 0]]).global_weights_[0] == -1
    empty = Weighting("lfc").fit(rules).transform([[0, 0, 0]])
    assert empty.shape == (1, 3)
    assert empty.nnz == 0


def test_zeros_are_not_stored():
    found = Weighting("tfx").fit_transform(COUNTS)
    assert found.nnz == np.count_nonzero(found.toarray()) == 3


@pytest.mark.parametrize(
    ("given", "asked", "expected"),
    [
        (np.float32, None, np.float32),
        (np.float64, None, np.float64),
        (np.int32, None, np.float64),
        (np.int64, np.float32, np.float32),
        (np.float32, "float64", np.float64),
    ],
)
def test_dtype(given, asked, expected):
    counts = sp.csr_matrix(COUNTS.astype(given))
    before = counts.copy()
    found = Weighting("lfc", dtype=asked).fit_transform(counts)
    assert found.dtype == expected
    assert counts.dtype == given
    assert (counts != before).nnz == 0


def test_float32_storage_has_float64_sums():
    rng = np.random.default_rng(1)
    counts = sp.csr_matrix(rng.poisson(1.0, (500, 50)).astype(np.float32))
    single = Weighting("lec").fit_transform(counts)
    double = Weighting("lec").fit_transform(counts.astype(np.float64))
    np.testing.assert_allclose(single.toarray(), double.toarray(), atol=1e-7)


def test_stored_zeros_and_duplicates_do_not_count():
    twice = sp.csr_matrix((np.array([1, 1, 0]), np.array([0, 0, 1]), np.array([0, 3, 3])), shape=(2, 2))
    weighting = Weighting("tfx")
    assert weighting.fit_transform(twice).toarray().tolist() == [[2, 0], [0, 0]]
    assert weighting.document_frequency_.tolist() == [1, 0]
    assert twice.nnz == 3


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, bool, np.int64])
def test_duplicates_of_small_integers_do_not_wrap_around(dtype):
    most = {np.uint8: 200, np.int8: 100, bool: 1, np.int64: 200}[dtype]
    twice = sp.csr_matrix((np.array([most, most], dtype), np.array([0, 0]), np.array([0, 2])), shape=(1, 1))
    assert Weighting("txx").fit_transform(twice).toarray().tolist() == [[2 * most]]


@pytest.mark.parametrize("code", ["", "xyz", "lf", "lfcc", "LFC", "qfc", "lqc", "lfq", None, 3, ("l", "f", "c")])
def test_a_wrong_spelling_says_what_is_allowed(code):
    with pytest.raises(InputError, match=r"three letters.*dominance or tfidf; got"):
        Weighting(code).fit(COUNTS)


def test_negative_counts_are_refused():
    with pytest.raises(InputError, match="0 or more; got -2"):
        Weighting().fit(np.array([[1, -2]]))


def test_wrong_dtype_is_refused():
    with pytest.raises(InputError, match="float32, float64 or None"):
        Weighting(dtype=np.int32).fit_transform(COUNTS)
    for wrong in ("flaot32", np.int32, 3):
        with pytest.raises(InputError, match="float32, float64 or None"):
            Weighting(dtype=wrong).fit(COUNTS)


def test_clone_pickle_and_names():
    weighting = Weighting("lec", dtype=np.float32)
    assert clone(weighting).get_params() == weighting.get_params()
    again = pickle.loads(pickle.dumps(weighting.fit(COUNTS)))
    assert (again.transform(COUNTS) != weighting.transform(COUNTS)).nnz == 0
    assert weighting.get_feature_names_out(["a", "b", "c"]).tolist() == ["a", "b", "c"]


@parametrize_with_checks([Weighting(), Weighting("npx"), Weighting("dominance")])
def test_scikit_learn_checks(estimator, check):
    try:
        check(estimator)
    except SkipTest as skipped:  # array API input is not promised, and scikit-learn looks at it only when told
        if "SCIPY_ARRAY_API" not in str(skipped):
            raise


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float64])
@pytest.mark.parametrize("most", [7, 100_000])
def test_sums_over_terms_add_the_smallest_counts_first(dtype, most):
    rng = np.random.default_rng(0)
    rows = sp.csr_matrix(rng.integers(1, most, (300, 20)) * (rng.random((300, 20)) < 0.5), dtype=dtype)
    sums = [sum(sorted(math.sqrt(count) for count in column if count)) for column in rows.toarray().T.tolist()]
    assert Counts(rows).sum(np.sqrt).tolist() == sums
    assert Counts(rows[rng.permutation(300)]).sum(np.sqrt).tolist() == sums


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_of_unit_length_have_the_bits_of_scikit_learn(dtype):
    rows = sp.random(300, 500, 0.05, format="csr", random_state=0, dtype=dtype)
    rows.data *= np.random.default_rng(0).random(rows.nnz).astype(dtype) * 7
    rows = sp.vstack([rows, sp.csr_matrix((1, 500), dtype=dtype)], format="csr")  # and a row of zeros
    wanted = normalize(rows)
    np.testing.assert_array_equal(to_unit_length(rows.copy()).data, wanted.data)
