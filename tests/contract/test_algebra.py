"""Sums, products and multiples of Grams pass the conformance suite against their naive twins."""

from __future__ import annotations

import math
from functools import reduce

import numpy as np
import pytest
import scipy.sparse as sp

from grampus.errors import InputError
from grampus.gram import DenseGram, Gram, LinearGram, product, shift, weighted_sum
from grampus.kernels import parse_kernel
from grampus.testing import check_gram
from tests.contract.test_grams import NEW, TRANSFORMS, N, collection, twin_of
from tests.reference import naive

WORDS = ["ab", "ba", "", "abba", "cab", "abc", "bca", "aab", "bba", "cc", "cba", "ba", "ab", "acb"]
NEW_WORDS = ["abab", "", "ca", "ab"]


def add(twins, weights):
    """Add twins, entry by entry."""
    summed = [sum(w * getattr(twin, name) for w, twin in zip(weights, twins, strict=True)) for name in "KCd"]
    return naive.Twin(*summed)


def multiply(*twins):
    return naive.Twin(*(math.prod(getattr(twin, name) for twin in twins) for name in "KCd"))


def documents(kind: str, dtype=np.float64) -> tuple[dict, dict]:
    """Return fitted and new documents with three inputs: terms and text have copies, the embedding has none."""
    rng = np.random.default_rng(5)
    fitted = {"terms": collection(N, 0), "embedding": rng.standard_normal((N, 3)), "text": WORDS}
    new = {"terms": collection(NEW, 1), "embedding": rng.standard_normal((NEW, 3)), "text": NEW_WORDS}
    for given in (fitted, new):
        for name in ("terms", "embedding"):
            given[name] = given[name].astype(dtype)
        if kind == "sparse":
            given["terms"] = sp.csr_array(given["terms"])
    return fitted, new


def spectrum_twin(fitted, new):
    """The spectrum kernel of length 1, counted letter by letter."""
    counts = [np.array([[word.count(letter) for letter in "abc"] for word in words], float) for words in (fitted, new)]
    return naive.source("linear", *counts)


def twins(fitted: dict, new: dict) -> dict[str, naive.Twin]:
    """Return the twins of the parts that the cases below are made of."""
    dense = lambda x: np.asarray(x.toarray() if sp.issparse(x) else x, dtype=float)  # noqa: E731
    terms = [dense(given["terms"]) for given in (fitted, new)]
    rows = [dense(given["embedding"]) for given in (fitted, new)]
    return {
        "linear": twin_of("linear", *terms)[1],
        "cosine": twin_of("linear|normalise", *terms)[1],
        "gaussian(1.5)": twin_of("gaussian(1.5)", *terms)[1],
        "linear|principal(3)|normalise": twin_of("linear|principal(3)|normalise", *terms)[1],
        "cosine|shift": twin_of("linear|normalise|shift", *terms)[1],
        "cosine|centre": twin_of("linear|normalise|centre", *terms)[1],
        "cosine|map": twin_of("linear|normalise|map", *terms)[1],
        "cosine@embedding": naive.normalise(naive.source("linear", *rows)),
        "gaussian(sigma=0.7)@embedding": naive.source("gaussian", *rows, rate=1 / (2 * 0.7**2)),
        "linear@embedding|shift(0.3)": naive.shift(naive.source("linear", *rows), 0.3),
        "spectrum(1)": spectrum_twin(fitted["text"], new["text"]),
    }


# Spelling, and how its head is made of parts; what follows '|' after the head are transforms of the naive twins.
SUMS = [
    ("0.5 * linear", [(0.5, "linear")], ()),
    ("2 * cosine|shift", [(2.0, "cosine|shift")], ()),
    ("cosine + gaussian(1.5)", [(1, "cosine"), (1, "gaussian(1.5)")], ()),
    ("linear + 0.3 * cosine", [(1, "linear"), (0.3, "cosine")], ()),
    ("0.5 * linear|principal(3)|normalise + 0.5 * cosine@embedding",
     [(0.5, "linear|principal(3)|normalise"), (0.5, "cosine@embedding")], ()),
    ("cosine|shift + 2 * linear@embedding|shift(0.3)", [(1, "cosine|shift"), (2, "linear@embedding|shift(0.3)")], ()),
    ("cosine + gaussian(sigma=0.7)@embedding", [(1, "cosine"), (1, "gaussian(sigma=0.7)@embedding")], ()),
    ("cosine|centre + cosine|map", [(1, "cosine|centre"), (1, "cosine|map")], ()),
    ("spectrum(1) + linear + cosine@embedding", [(1, "spectrum(1)"), (1, "linear"), (1, "cosine@embedding")], ()),
    ("(cosine + 0.5 * cosine@embedding)|shift", [(1, "cosine"), (0.5, "cosine@embedding")], ("shift",)),
    ("(linear + spectrum(1))|normalise", [(1, "linear"), (1, "spectrum(1)")], ("normalise",)),
    ("(cosine + gaussian(1.5))|principal(3)", [(1, "cosine"), (1, "gaussian(1.5)")], ("principal(3)",)),
    ("(cosine + cosine@embedding)|principal(3)", [(1, "cosine"), (1, "cosine@embedding")], ("principal(3)",)),
    ("(cosine + cosine@embedding)|centre|map|shift",
     [(1, "cosine"), (1, "cosine@embedding")], ("centre", "map", "shift")),
    ("(linear|principal(3)|normalise + gaussian(1.5))|normalise(1)",
     [(1, "linear|principal(3)|normalise"), (1, "gaussian(1.5)")], ("normalise(1)",)),
]  # fmt: skip
PRODUCTS = [
    ("cosine * gaussian(1.5)", ["cosine", "gaussian(1.5)"], ()),
    ("linear * cosine@embedding", ["linear", "cosine@embedding"], ()),
    ("cosine|shift * linear@embedding|shift(0.3)", ["cosine|shift", "linear@embedding|shift(0.3)"], ()),
    ("linear * spectrum(1) * gaussian(sigma=0.7)@embedding",
     ["linear", "spectrum(1)", "gaussian(sigma=0.7)@embedding"], ()),
    ("(cosine|centre * cosine@embedding)|shift", ["cosine|centre", "cosine@embedding"], ("shift",)),
]  # fmt: skip
# Every sum in one layout and type, those of explicit features in others too.
CASES = [(*case, "dense", np.float64) for case in SUMS]
CASES += [(*SUMS[i], "sparse", dtype) for i, dtype in ((1, np.float32), (3, np.float32), (4, np.float64))]


def check(spelling, plain, after, fitted, new):
    twin = reduce(lambda found, name: TRANSFORMS[name](found), after, plain)
    kernel = parse_kernel(spelling)
    gram = kernel.gram(fitted)
    check_gram(gram, twin.K, extension=((plain.C, plain.d), (twin.C, twin.d)), new=new)
    cross, own = kernel.extend(new, gram)
    tolerance = (1e-9 if gram.dtype == np.float64 else 1e-4) * max(np.abs(twin.K).max(), 1)
    np.testing.assert_allclose(cross, twin.C, atol=tolerance)
    np.testing.assert_allclose(own, twin.d, atol=tolerance)
    return gram


@pytest.mark.parametrize(("spelling", "parts", "after", "layout", "dtype"), CASES)
def test_sums_conform(spelling, parts, after, layout, dtype):
    fitted, new = documents(layout, dtype)
    known = twins(fitted, new)
    plain = add([known[name] for _, name in parts], [weight for weight, _ in parts])
    gram = check(spelling, plain, after, fitted, new)
    assert gram.dtype == dtype


@pytest.mark.parametrize(("spelling", "parts", "after"), PRODUCTS)
def test_products_conform(spelling, parts, after):
    fitted, new = documents("dense")
    known = twins(fitted, new)
    check(spelling, multiply(*(known[name] for name in parts)), after, fitted, new)


def test_nested_combinations_conform():
    fitted, new = documents("dense")
    known = twins(fitted, new)
    a, b, c = known["cosine"], known["gaussian(1.5)"], known["cosine@embedding"]
    inner = naive.shift(add([a, b], [0.5, 2]), 0.3)
    plain = add([multiply(inner, c), b], [1, 3])
    spelling = "((0.5 * cosine + 2 * gaussian(1.5))|shift(0.3)) * cosine@embedding + 3 * gaussian(1.5)"
    check(spelling, plain, (), fitted, new)
    check(f"({spelling})|normalise|map", plain, ("normalise", "map"), fitted, new)


def test_nystrom_of_a_sum_conforms():
    fitted, new = documents("dense")
    known = twins(fitted, new)
    plain = add([known["cosine"], known["gaussian(sigma=0.7)@embedding"]], [1, 1])
    kernel = parse_kernel("(cosine + gaussian(sigma=0.7)@embedding)|nystrom(6)")
    gram = kernel.gram(fitted)
    twin = naive.nystrom(plain, gram.source.landmarks)
    check_gram(gram, twin.K, extension=((plain.C, plain.d), (twin.C, twin.d)), new=new)


def test_grams_made_by_hand_combine():
    x, y = collection(N, 0), collection(N, 1, signed=True).astype(np.float32)
    a, b = LinearGram(sp.csr_array(x)), DenseGram(y @ y.T)
    y = y.astype(float)
    assert (a + b).dtype == (a * b).dtype == np.float32  # no more exact than its parts
    check_gram(np.float32(0.5) * a * 3 + b, 1.5 * x @ x.T + y @ y.T)
    check_gram(a * b, (x @ x.T) * (y @ y.T))
    check_gram(weighted_sum([a, LinearGram(y)], [2, 0.25]), 2 * x @ x.T + 0.25 * y @ y.T)
    with pytest.raises(InputError, match="cannot compare new documents"):
        next((a + b).compare(x))


def test_features_stand_side_by_side():
    fitted, _ = documents("sparse")
    kernel = parse_kernel("linear|principal(3)|normalise + 4 * cosine@embedding")
    dense = kernel.gram(fitted).features()
    assert isinstance(dense.rows, np.ndarray)
    assert dense.rows.shape == (N, 6)
    np.testing.assert_allclose((dense.rows[:, 3:] ** 2).sum(axis=1), 4.0)
    wide = {"terms": sp.csr_array(np.eye(N, 500)), "embedding": fitted["embedding"]}
    assert sp.issparse(parse_kernel("linear + linear@embedding").gram(wide).features().rows)
    assert parse_kernel("cosine + gaussian(1)").gram(fitted).features() is None
    assert parse_kernel("cosine * cosine").gram(fitted).features() is None
    multiple = 9 * LinearGram(np.ones((2, 1)))
    np.testing.assert_array_equal(multiple.features().scale, 3.0)  # the rows are not copied


def test_copies_are_equal_in_every_part():
    terms = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    embedding = np.array([[1.0], [2.0], [3.0], [1.0]])
    gram = parse_kernel("linear + linear@embedding").gram({"terms": terms, "embedding": embedding})
    found = gram.documents()
    assert found.group[0] == found.group[3]
    assert len(found.first) == 3
    assert len(parse_kernel("linear + cosine").gram(terms).documents().first) == 2
    unknown = gram + DenseGram(np.eye(4))
    assert unknown.documents().names is None


@pytest.mark.parametrize("weight", [0, -1, -0.5, math.inf, math.nan, True, "2", 10**400])
def test_weights_are_greater_than_zero(weight):
    gram = LinearGram(np.ones((3, 1)))
    with pytest.raises(InputError, match="greater than 0"):
        weighted_sum([gram], [weight])


def test_what_cannot_be_combined():
    gram = LinearGram(np.ones((3, 1)))
    with pytest.raises(InputError, match="same documents"):
        gram + LinearGram(np.ones((4, 1)))
    with pytest.raises(InputError, match="at least one"):
        weighted_sum([])
    with pytest.raises(InputError, match="one number for each"):
        weighted_sum([gram], [1, 2])
    with pytest.raises(InputError, match="must be a Gram"):
        product([gram, np.eye(3)])
    for other in (np.eye(3), "cosine", None):
        with pytest.raises(TypeError):
            gram + other
    with pytest.raises(TypeError):
        gram * np.eye(3)
    with pytest.raises(InputError, match="principal must come before shift"):
        parse_kernel("(cosine|shift + cosine)|principal(2)").gram(np.eye(3))


def test_shifts_add_up():
    x = collection(N, 0)
    a = shift(LinearGram(x), 0.5)
    below, sigma = (a + 2 * shift(a, -2)).split_shift()
    assert sigma == pytest.approx(0.5 + 2 * (0.5 - 2))
    np.testing.assert_allclose(below.dense(), 3 * x @ x.T, atol=1e-12)
    whole: Gram = LinearGram(x) + LinearGram(x)
    assert whole.split_shift()[0] is whole


def test_self_similarities_of_a_sum_need_no_collection_unless_a_part_learns():
    x = collection(N, 0)
    squares = np.square(x).sum(axis=1)
    np.testing.assert_allclose(parse_kernel("linear + 2 * cosine").diagonal(x), squares + 2 * (squares > 0))
    for spelled in ("linear + 0.5 * cosine|shift", "cosine * (linear|centre)"):
        with pytest.raises(InputError, match=r"Under '(shift|centre)' a document's self-similarity depends on"):
            parse_kernel(spelled).diagonal(x)
