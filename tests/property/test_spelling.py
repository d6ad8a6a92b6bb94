"""The kernel language: round trips over hundreds of generated kernels, and what is malformed is pointed at."""

import math
import pickle
from functools import reduce
from operator import add, mul, or_

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grampus.errors import InputError, KernelSpellingError
from grampus.kernels import (
    Centre,
    Cosine,
    Gaussian,
    Kernel,
    Linear,
    Map,
    Normalise,
    Nystrom,
    Polynomial,
    Power,
    Precomputed,
    Principal,
    Product,
    SelfTuning,
    Shift,
    Spectrum,
    Sum,
    parse_kernel,
    register,
)

POSITIVE = st.floats(1e-300, 1e300, exclude_min=True) | st.integers(1, 10**6)
WIDTHS = st.floats(1e-100, 1e100) | st.integers(1, 10**6)
SOURCES = st.one_of(
    st.sampled_from([Linear(), Cosine(), Precomputed()]),
    st.builds(Polynomial, st.integers(1, 50), coef0=st.floats(0, 1e6)),
    st.builds(Gaussian, WIDTHS),
    st.builds(lambda s: Gaussian(sigma=s), WIDTHS),
    st.builds(lambda g: Gaussian(gamma=g), WIDTHS),
    st.builds(SelfTuning, st.integers(1, 99)),
)
TRANSFORMS = st.one_of(
    st.sampled_from([Shift(), Shift("psd"), Centre(), Map(), Normalise(), Normalise(math.inf)]),
    st.builds(Shift, st.floats(allow_nan=False, allow_infinity=False)),
    st.builds(Normalise, st.floats(0, 1e9)),
    st.builds(Power, POSITIVE),
    st.builds(Principal, st.integers(1, 10**6)),
    st.builds(
        Nystrom,
        st.integers(1, 10**9),
        rank=st.none() | st.integers(1, 10**9),
        choose=st.sampled_from(["uniform", "kmeans++", "leverage"]),
        seed=st.integers(0, 2**32 - 1),
    ),
)


@st.composite
def kernels(draw):
    kernel = draw(SOURCES)
    for transform in draw(st.lists(TRANSFORMS, max_size=6)):
        kernel = kernel | transform
    return kernel


INPUTS = st.sampled_from(["terms", "vectors", "embedding", "year", "_x1"])
WEIGHTS = st.floats(1e-9, 1e9) | st.integers(1, 1000)


def expressions():
    """Sums, products, multiples, chains and inputs, nested at random."""
    plain = st.one_of(
        SOURCES, st.just(Spectrum(4)), st.builds(lambda name: Cosine().at(name), INPUTS),
        st.builds(lambda width, name: Gaussian(width).at(name), WIDTHS, INPUTS), st.just(Spectrum(3).at("text")),
    )  # fmt: skip

    def larger(inner):
        return st.one_of(
            st.builds(lambda kernel, transforms: reduce(or_, transforms, kernel), inner,
                      st.lists(TRANSFORMS | st.just(Principal("auto")), min_size=1, max_size=3)),
            st.builds(add, inner, inner),
            st.builds(mul, inner, inner),
            st.builds(mul, WEIGHTS, inner),
        )  # fmt: skip

    return st.recursive(plain, larger, max_leaves=6)


@settings(max_examples=500)
@given(expressions())
def test_expressions_round_trip(kernel):
    spelling = str(kernel)
    again = parse_kernel(spelling)
    assert again == kernel
    assert str(again) == spelling
    assert hash(again) == hash(kernel)
    assert again.inputs == kernel.inputs
    assert parse_kernel(spelling.replace(" ", "")) == kernel
    assert pickle.loads(pickle.dumps(kernel)) == kernel


@settings(max_examples=200)
@given(kernels())
def test_white_space_is_free_and_kernels_pickle(kernel):
    again = parse_kernel("  " + str(kernel).replace("|", " \n| ").replace("(", " ( ").replace(",", " , "))
    assert again == kernel
    assert (str(again), hash(again)) == (str(kernel), hash(kernel))
    assert pickle.loads(pickle.dumps(kernel)) == kernel
    assert parse_kernel(kernel) is kernel


@given(st.text(alphabet="abcdefghijklmnopqrstuvwxyz()|,=0123456789.-+*@ einfpsd", max_size=40))
def test_any_text_gives_a_kernel_or_a_pointed_error(text):
    try:
        result = parse_kernel(text)
    except KernelSpellingError as error:
        result = error
    assert isinstance(result, Kernel) or 0 <= result.position <= len(result.spelling)


@pytest.mark.parametrize(
    ("spelling", "same"),
    [
        ("cosine", "cosine"),
        ("linear | normalise(0)", "linear|normalise"),
        ("polynomial(2, coef0=1)", "polynomial(2)"),
        ("polynomial(degree=2)", "polynomial(2)"),
        ("gaussian(width=1.5)", "gaussian(1.5)"),
        ("gaussian(gamma=2e-1)", "gaussian(gamma=0.2)"),
        ("selftuning(7)", "selftuning"),
        ("cosine|shift(sigma=-.5)", "cosine|shift(-0.5)"),
        ("cosine|shift()", "cosine|shift"),
        ("linear|normalise(+10)", "linear|normalise(10)"),
        ("cosine|nystrom(500)", "cosine|nystrom"),
        ("cosine|nystrom(landmarks=20, choose = kmeans++)", "cosine|nystrom(20, choose=kmeans++)"),
        ("cosine|nystrom(rank=7, seed=1)|shift", "cosine|nystrom(rank=7, seed=1)|shift"),
        ("(cosine)", "cosine"),
        ("((cosine)|shift)|map", "cosine|shift|map"),
        (
            "0.5*cosine|principal(30)|normalise+.5*cosine@vectors",
            "0.5 * cosine|principal(30)|normalise + 0.5 * cosine@vectors",
        ),
        ("cosine@terms + gaussian(1)@embedding", "cosine@terms + gaussian(1)@embedding"),
        ("cosine|principal( auto )", "cosine|principal(auto)"),
        ("(cosine + spectrum(4)|normalise)|shift", "(cosine + spectrum(4)|normalise)|shift"),
        ("cosine + (linear + gaussian(1))", "cosine + linear + gaussian(1)"),
        ("cosine * (linear * gaussian(1))", "cosine * linear * gaussian(1)"),
        ("cosine * (linear + gaussian(1))", "cosine * (linear + gaussian(1))"),
        ("cosine * 2 * linear * 0.25", "0.5 * cosine * linear"),
        ("2 * (3 * cosine)", "6 * cosine"),
        ("2 * (cosine + linear)", "2 * (cosine + linear)"),
        ("(0.5 * cosine)|shift", "(0.5 * cosine)|shift"),
        ("0.5 * cosine|shift", "0.5 * cosine|shift"),
        ("(cosine|shift + 2 * gaussian(1))@embedding", "cosine@embedding|shift + 2 * gaussian(1)@embedding"),
    ],
)
def test_one_canonical_spelling(spelling, same):
    assert str(parse_kernel(spelling)) == same


# Each with the position the caret must point at and a word the message must hold.
MALFORMED = [
    ("", 0, "Expected a kernel"),
    ("   ", 3, "Expected a kernel"),
    ("|", 0, "Expected a kernel"),
    ("|shift", 0, "Expected a kernel"),
    ("cosin", 0, "did you mean 'cosine'"),
    ("Cosine", 0, "did you mean 'cosine'"),
    ("liner|shift", 0, "did you mean 'linear'"),
    ("xyzzy", 0, "known are"),
    ("gausian(1)", 0, "did you mean 'gaussian'"),
    ("shift", 0, "must follow a kernel"),
    ("map|cosine", 0, "must follow a kernel"),
    ("cosine|", 7, "Expected a transform"),
    ("cosine||shift", 7, "got '|'"),
    ("cosine|linear", 7, "can only stand first"),
    ("cosine|shfit", 7, "did you mean 'shift'"),
    ("cosine|normalis", 7, "did you mean 'normalise'"),
    ("cosine|centr", 7, "did you mean 'centre'"),
    ("cosine shift", 7, "Expected '|'"),
    ("cosine)", 6, "Expected '|'"),
    ("cosine(1)", 7, "takes no"),
    ("cosine|map(1)", 11, "takes no"),
    ("cosine|centre(x=1)", 16, "has no parameter 'x'"),
    ("polynomial", 0, "needs degree"),
    ("polynomial()", 0, "needs degree"),
    ("polynomial(", 11, "Expected a value"),
    ("polynomial(2", 12, "Expected ',' or ')'"),
    ("polynomial(2,", 13, "Expected a value"),
    ("polynomial(2,)", 13, "Expected a value"),
    ("polynomial(,2)", 11, "Expected a value"),
    ("polynomial(2 3)", 13, "Expected ',' or ')'"),
    ("polynomial(2, 3)", 14, "at most 1"),
    ("polynomial(2, degree=3)", 21, "given twice"),
    ("polynomial(degree=2, degree=3)", 28, "given twice"),
    ("polynomial(coef0=1, 2)", 20, "cannot follow"),
    ("polynomial(degre=2)", 17, "did you mean 'degree'"),
    ("polynomial(degree=)", 18, "Expected a value"),
    ("polynomial(=2)", 11, "Expected a value"),
    ("polynomial(0)", 11, "at least 1"),
    ("polynomial(2.5)", 11, "whole number"),
    ("polynomial(two)", 11, "whole number"),
    ("polynomial(2, coef0=-1)", 20, "at least 0"),
    ("gaussian", 0, "exactly one of"),
    ("gaussian(1, gamma=2)", 0, "exactly one of"),
    ("gaussian(0)", 9, "greater than 0"),
    ("gaussian(gamma=inf)", 15, "greater than 0"),
    ("gaussian(1..5)", 9, "does not belong"),
    ("gaussian(1e)", 9, "does not belong"),
    ("selftuning(0)", 11, "at least 1"),
    ("cosine|power", 7, "needs exponent"),
    ("cosine|power(0)", 13, "greater than 0"),
    ("cosine|power(nan)", 13, "greater than 0"),
    ("cosine|normalise(-1)", 17, "order must be"),
    ("cosine|normalise(nan)", 17, "order must be"),
    ("cosine|shift(zero)", 13, "'psd'"),
    ("cosine|shift(inf)", 13, "'psd'"),
    ("cosine|nystrom(0)", 15, "at least 1"),
    ("cosine|nystrom(5, 3)", 18, "at most 1"),
    ("cosine|nystrom(rank=0)", 20, "at least 1"),
    ("cosine|nystrom(choose=best)", 22, "'kmeans++'"),
    ("cosine|nystrom(choose=kmeans+)", 28, "does not belong"),
    ("cosine|nystrom(seed=-1)", 20, "between 0"),
    ("cosine++|shift", 7, "got '+'"),
    ("cosine;shift", 6, "does not belong"),
    ("cosine|shift('psd')", 13, "does not belong"),
    ("__import__(os)", 0, "not a known kernel"),
    ("cosine|shift(__import__)", 13, "'psd'"),
    ("2", 0, "Expected a kernel"),
    ("cosine\u00a0|\u2009shift(\u0661)", 15, "does not belong"),
]
# Sums, products, weights, inputs and parentheses.
MALFORMED_ALGEBRA = [
    ("+cosine", 0, "Expected a kernel; got '+'"),
    ("cosine+", 7, "Expected a kernel"),
    ("cosine + + linear", 9, "got '+'"),
    ("cosine +| shift", 8, "got '|'"),
    ("cosine + shift", 9, "'shift' is a transform"),
    ("cosine + liner", 9, "did you mean 'linear'"),
    ("cosine + linear|shfit", 16, "did you mean 'shift'"),
    ("cosine|shift + map", 15, "must follow a kernel"),
    ("cosine|linear + cosine", 7, "combined by '+'"),
    ("cosine - linear", 7, "weights greater than 0"),
    ("-cosine", 0, "weights greater than 0"),
    ("-0.5 * cosine", 0, "weights greater than 0"),
    ("cosine + -0.5 * linear", 9, "weights greater than 0"),
    ("cosine+0.5", 7, "0.5 is a weight"),
    ("cosine +0.5 linear", 8, "0.5 is a weight"),
    ("0.5", 0, "0.5 is a weight"),
    ("0.5 * 2", 0, "0.5 is a weight"),
    ("0.5 cosine", 0, "0.5 is a weight"),
    ("0.5 *", 5, "Expected a kernel"),
    ("* cosine", 0, "got '*'"),
    ("cosine ** 2", 8, "got '*'"),
    ("cosine * * linear", 9, "got '*'"),
    ("cosine *| shift", 8, "got '|'"),
    ("cosine * shift", 9, "'shift' is a transform"),
    ("0 * cosine", 0, "greater than 0"),
    ("cosine * 0", 9, "greater than 0"),
    ("linear + cosine * 0.0", 18, "greater than 0"),
    ("1e400 * cosine", 0, "greater than 0"),
    ("1e308 * cosine * 1e308", 17, "greater than 0"),
    ("1e-300 * 1e-300 * cosine", 9, "greater than 0"),
    ("1..5 * cosine", 0, "does not belong"),
    ("0,5 * cosine", 1, "does not belong"),
    ("half * cosine", 0, "not a known kernel"),
    ("0.5 * cosine 0.5 * linear", 13, "Expected '|'"),
    ("cosine / 2", 7, "does not belong"),
    ("cosine ^ 2", 7, "does not belong"),
    ("()", 1, "Expected a kernel; got ')'"),
    ("(cosine", 0, "never closed"),
    ("cosine + (linear|shift", 9, "never closed"),
    ("((cosine + linear)|shift", 0, "never closed"),
    ("(cosine + linear))", 17, "got ')'"),
    ("(cosine linear)", 8, "or ')'; got 'linear'"),
    ("(cosine, linear)", 7, "does not belong"),
    ("(cosine + linear)shift", 17, "Expected '|'"),
    ("(cosine + linear)|", 18, "Expected a transform"),
    ("(cosine|)", 8, "Expected a transform; got ')'"),
    ("cosine|(shift)", 7, "Expected a transform; got '('"),
    ("cosine|shift(0.5 + 1)", 17, "does not belong"),
    ("polynomial(2)(3)", 13, "Expected '|'"),
    ("@embedding", 0, "Expected a kernel; got '@'"),
    ("cosine@", 7, "name of an input"),
    ("cosine@|shift", 7, "name of an input"),
    ("cosine@2", 7, "name of an input"),
    ("cosine @ (embedding)", 9, "name of an input"),
    ("cosine@@embedding", 7, "name of an input"),
    ("cosine@word-vectors", 11, "weights greater than 0"),
    ("cosine@a@b", 8, "Expected '|'"),
    ("cosine|shift@embedding", 12, "Expected '|'"),
    ("cosine@embedding(2)", 16, "got '('"),
    ("cosine@text", 7, "rows of numbers"),
    ("spectrum(4)@terms", 12, "must be 'text'"),
    ("precomputed@embedding", 12, "must not be named"),
    ("(cosine + cosine@vectors)@embedding", 26, "has none yet"),
    ("(cosine + spectrum(4))@embedding", 23, "must be 'text'"),
    ("cosine|principal(automatic)", 17, "'auto'"),
    ("cosine|principal(rank=inf)", 22, "whole number"),
    ("cosine + cosine|principal(0)", 26, "at least 1"),
    ("(" * 60 + "cosine" + ")" * 60, 50, "50 deep"),
]
MALFORMED += MALFORMED_ALGEBRA


@pytest.mark.parametrize(("spelling", "position", "word"), MALFORMED)
def test_malformed_spellings_are_pointed_at(spelling, position, word):
    with pytest.raises(KernelSpellingError) as caught:
        parse_kernel(spelling)
    message, shown, caret = str(caught.value).split("\n")
    assert word in message
    assert caught.value.position == position
    assert caret.index("^") - 2 == position
    assert shown == "  " + caught.value.spelling


def test_enough_malformed_spellings():
    assert len(MALFORMED) >= 120
    assert len(MALFORMED_ALGEBRA) >= 60


@pytest.mark.parametrize("thing", [None, 3, b"cosine", ["cosine"], Shift()])
def test_only_spellings_and_kernels_are_read(thing):
    with pytest.raises(InputError, match="kernel must be a spelling"):
        parse_kernel(thing)


def test_very_long_spellings_are_refused():
    with pytest.raises(KernelSpellingError, match="at most 2000"):
        parse_kernel("cosine" + "|shift" * 1000)


PIECES = ["cosine", "linear", "shift", "spectrum(4)", "0.5", "2", "(", ")", "+", "*", "|", "@", "embedding", "-", " "]


@given(st.lists(st.sampled_from(PIECES), max_size=12))
def test_any_pieces_give_a_kernel_or_a_pointed_error(pieces):
    try:
        result = parse_kernel("".join(pieces))
    except KernelSpellingError as error:
        result = error
    if isinstance(result, Kernel):
        assert parse_kernel(str(result)) == result
    else:
        assert 0 <= result.position <= len(result.spelling)


def test_operators_make_what_the_language_spells():
    assert Cosine() + 0.5 * Gaussian(1) == parse_kernel("cosine + 0.5 * gaussian(1)")
    assert np.float64(0.5) * Cosine() == Cosine() * 0.5 == parse_kernel("0.5 * cosine")
    assert (Cosine() + Linear()) | Shift() == parse_kernel("(cosine + linear)|shift")
    assert 2 * Cosine() * (3 * Linear()) == parse_kernel("6 * cosine * linear")
    assert (Cosine() | Shift()).at("embedding") == parse_kernel("cosine@embedding|shift")
    assert (Cosine() + Linear() | Principal("auto")).for_clusters(70) == parse_kernel("(cosine + linear)|principal(70)")
    assert (
        str(parse_kernel("0.5 * cosine|principal(auto) + linear").for_clusters(4))
        == "0.5 * cosine|principal(30) + linear"
    )
    for wrong in (1, "cosine", None, Shift()):
        with pytest.raises(TypeError):
            Cosine() + wrong
    with pytest.raises(TypeError):
        Cosine() * "2"
    with pytest.raises(InputError, match="two kernels or more"):
        Sum((Cosine(),))
    with pytest.raises(InputError, match="no weights of their own"):
        Product((Cosine(), 2 * Linear()))


def test_transforms_only_follow():
    with pytest.raises(TypeError):
        Cosine() | "shift"
    with pytest.raises(TypeError):
        Cosine() | Shift() | Linear()


def test_names_cannot_be_taken_twice_or_be_unreadable():
    with pytest.raises(InputError, match="is taken by"):
        register(type("Mine", (Linear,), {"name": "linear"}))
    with pytest.raises(InputError, match="letters, digits"):
        register(type("Odd", (Linear,), {"name": "my-kernel"}))
    with pytest.raises(InputError, match="Kernel or Transform"):
        register(int)
