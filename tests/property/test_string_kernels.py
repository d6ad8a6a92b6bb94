"""Every string kernel equals its definition, on strings of every kind, fitted and new."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from grampus.kernels import parse_kernel
from grampus.kernels.string import matching, suffix
from grampus.kernels.string import suffix_tree as tree
from grampus.kernels.string.features import Lengths, build_index
from grampus.kernels.string.strings import read_strings
from grampus.testing import check_gram
from tests.reference import naive_strings as naive

# Small alphabets make repeats; the last two hold astral characters, a lone surrogate, newlines and a zero.
ALPHABETS = ["a", "ab", "abc", "a\U0001f600\U00010348", "\n\ud83d \0é"]
KERNELS = {
    "spectrum(1)": naive.weight("spectrum", 1),
    "spectrum(3)": naive.weight("spectrum", 3),
    "boundrange(1)": naive.weight("boundrange", 1),
    "boundrange(4)": naive.weight("boundrange", 4),
    "boundrange(40)": naive.weight("boundrange", 40),
    "boundrange(4000)": naive.weight("boundrange", 4000),
    "constant": naive.weight("constant"),
    "exponential(1.3)": naive.weight("exponential", decay=1.3),
    "exponential(1)": naive.weight("exponential", decay=1),
    "exponential(0.7)": naive.weight("exponential", decay=0.7),
    "string(2, decay=0.7)": naive.weight("string", 2, 0.7),
    "fullstring(3, decay=0.7)": naive.weight("fullstring", 3, 0.7),
    "fullstring(3, decay=1)": naive.weight("fullstring", 3, 1),
}


@st.composite
def string_lists(draw, *, low=1, most=9, size=14, alphabets=ALPHABETS):
    alphabet = draw(st.sampled_from(alphabets))
    return draw(st.lists(st.text(alphabet, max_size=size), min_size=low, max_size=most))


def close(got, wanted):
    wanted = np.asarray(wanted)
    np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=1e-12 * max(np.abs(wanted).max(initial=0.0), 1.0))


@pytest.mark.parametrize("spelling", KERNELS)
@settings(max_examples=15)
@example(fitted=["", "a", "a" * 14], new=["", "a" * 20, "b"])
@example(fitted=["a" * 30], new=["a" * 30, "a" * 29])
@example(fitted=["abab\nabab", "abab\n", "\n"], new=["abab\nabab\n"])
@example(fitted=["\U0001f600\U0001f601", "\U0001f601", "\ud83d\ude00"], new=["\U0001f600", "\ud83d"])
@given(fitted=string_lists(), new=string_lists(low=0, most=5))
def test_substring_kernels_equal_their_definition(spelling, fitted, new):
    kernel, weight = parse_kernel(spelling), KERNELS[spelling]

    def twin(x, y):
        return naive.substring_kernel(x, y, weight)

    gram = kernel.gram(fitted)
    close(gram.dense(), naive.matrix(fitted, fitted, twin))
    cross, diagonal = kernel.extend(new, gram)
    close(cross, naive.matrix(new, fitted, twin))
    close(diagonal, [twin(x, x) for x in new])


@pytest.mark.parametrize(("length", "decay"), [(1, 0.5), (2, 0.5), (3, 0.9), (4, 1.1), (2, 1)])
@settings(max_examples=15)
@example(fitted=["", "a"], new=["", "aa"])
@given(fitted=string_lists(most=5, size=8), new=string_lists(low=0, most=4, size=8))
def test_subsequence_equals_its_definition(length, decay, fitted, new):
    def twin(x, y):
        return naive.subsequence_kernel(x, y, length, decay)

    kernel = parse_kernel(f"subsequence({length}, decay={decay})")
    gram = kernel.gram(fitted)
    close(gram.dense(), naive.matrix(fitted, fitted, twin))
    cross, diagonal = kernel.extend(new, gram)
    close(cross, naive.matrix(new, fitted, twin))
    close(diagonal, [twin(x, x) for x in new])


@settings(max_examples=60)
@given(strings=string_lists(size=60, most=6), depth=st.sampled_from([1, 2, 7, 50, np.inf]))
def test_suffixes_are_sorted_and_their_common_prefixes_measured(strings, depth):
    text = read_strings(strings, "characters")
    found = suffix.sort_suffixes(text, depth)
    limit = int(min(depth, 10**6))
    everything = [(d, i) for d, s in enumerate(strings) for i in range(len(s))]
    suffixes = [strings[d][i:][:limit] for d, i in everything]
    codes = [[ord(c) for c in s] for s in suffixes]
    assert sorted(found.order) == list(range(len(everything)))
    ordered = [codes[i] for i in found.order]
    assert ordered == sorted(codes)

    def common(a, b):
        return next((k for k, (p, q) in enumerate(zip(a, b, strict=False)) if p != q), min(len(a), len(b)))

    assert list(found.lcp[1:-1]) == [common(a, b) for a, b in pairwise(ordered)]


@settings(max_examples=200)
@given(inner=st.lists(st.integers(0, 5), max_size=40))
def test_nodes_are_the_intervals_of_equal_prefixes(inner):
    lcp = np.array([0, *inner, 0], dtype=np.int32)
    found = tree.build_tree(lcp)
    wanted = set()
    for depth in set(inner) - {0}:
        start = 0
        for end in [*np.flatnonzero(lcp[1:] < depth), None]:
            if end is None:
                break
            if end > start and lcp[start + 1 : end + 1].min() == depth:
                wanted.add((start, int(end), depth))
            start = int(end) + 1
    got = list(zip(found.low.tolist(), found.high.tolist(), found.depth.tolist(), strict=True))
    assert set(got) == wanted
    assert len(got) == len(wanted)
    for low, high, above, parent in zip(found.low, found.high, found.above, found.parent, strict=True):
        assert above == max(lcp[low], lcp[high + 1])
        assert (parent == tree.NONE) == (above == 0)
        if parent != tree.NONE:
            assert found.depth[parent] == above
            assert found.low[parent] <= low <= high <= found.high[parent]


@settings(max_examples=50)
@given(fitted=string_lists(size=40), new=string_lists(size=40, most=4))
def test_matching_equals_sorting_together(fitted, new):
    for weights in (Lengths(), Lengths(2, 6), Lengths(rate=-0.3)):
        index = build_index(read_strings(fitted, "characters"), weights)
        text = read_strings(new, "characters")
        if not len(index.text.units) or not len(text.units):
            continue
        close(matching.cross(text, index), matching.cross_by_sorting(text, index))


@settings(max_examples=40)
@given(strings=string_lists(low=2, size=20))
def test_bytes_are_the_utf8_bytes(strings):
    strings = [s.replace("\ud83d", "?") for s in strings]
    plain = parse_kernel("boundrange(3)").gram([s.encode().decode("latin-1") for s in strings]).dense()
    for documents in (strings, [s.encode() for s in strings]):
        close(parse_kernel("boundrange(3, unit=bytes)").gram(documents).dense(), plain)


TRANSFORMS = ["", "|normalise", "|normalise(1)", "|shift", "|power(0.5)", "|centre", "|normalise|shift|map"]


CHAINS = [("constant", transform) for transform in TRANSFORMS]
CHAINS += [("subsequence(2)", transform) for transform in ("", "|normalise|shift", "|power(0.5)")]
CHAINS += [(kernel, "|normalise") for kernel in ("spectrum(2)", "boundrange(3)", "exponential(1.3)")]


@pytest.mark.parametrize(("spelling", "transform"), CHAINS)
def test_check_gram_with_every_transform(spelling, transform):
    rng = np.random.default_rng(len(spelling + transform))
    strings = ["".join(rng.choice(list("abcd"), size=rng.integers(1, 12))) for _ in range(20)] + ["", "xyz", "xyz"]
    new = ["abca", "", "zz", strings[3]]
    if spelling.startswith("subsequence"):
        strings = strings[-12:]

        def twin(x, y):
            return naive.subsequence_kernel(x, y, 2, 0.5)
    else:
        weight = (
            KERNELS | {"spectrum(2)": naive.weight("spectrum", 2), "boundrange(3)": naive.weight("boundrange", 3)}
        )[spelling]

        def twin(x, y):
            return naive.substring_kernel(x, y, weight)

    gram = parse_kernel(spelling + transform).gram(strings)
    given_matrix = naive.matrix(strings, strings, twin)
    cross = naive.matrix(new, strings, twin), np.array([twin(x, x) for x in new])
    stored = parse_kernel("precomputed" + transform).gram(given_matrix)
    wanted = stored.extend(*cross)
    check_gram(gram, stored.dense(), extension=(cross, wanted))
    got = parse_kernel(spelling + transform).extend(new, gram)
    close(got[0], wanted[0])
    close(got[1], wanted[1])
    if "centre" in transform or "map" in transform:
        return
    some = [5, 0, 11, 7]
    part = gram.take(some)
    close(parse_kernel(spelling + transform).extend(new, part)[0], wanted[0][:, some])
