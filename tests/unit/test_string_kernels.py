"""String kernels: spelling, bad input, large input, memory, and distinctive substrings."""

import gzip
import json
import pickle
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

from grampus.errors import InputError, KernelSpellingError, MemoryBudgetError
from grampus.gram import LinearGram
from grampus.kernels import BoundRange, FullString, Spectrum, String, Subsequence, distinctive_substrings, parse_kernel
from grampus.kernels.string import matching
from grampus.text import Corpus
from tests import memory
from tests.reference import naive_strings as naive
from tests.timing import soon

SPELLINGS = [
    "spectrum(4)", "spectrum(4, unit=bytes)", "boundrange(12)", "constant", "constant(unit=bytes)",
    "exponential(1.1)", "string(4)", "string(4, decay=0.7)", "fullstring(4, decay=2)", "subsequence(3)",
    "subsequence(3, decay=0.9, unit=bytes)",
]  # fmt: skip


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_spelling_round_trip(spelling):
    kernel = parse_kernel(spelling)
    assert str(kernel) == spelling
    assert parse_kernel(str(kernel | parse_kernel("constant|normalise").transforms[0])).source == kernel
    assert pickle.loads(pickle.dumps(kernel)) == kernel


@pytest.mark.parametrize(
    ("spelling", "message"),
    [
        ("spectrum", "needs length"),
        ("spectrum(0)", "length must be at least 1; got 0"),
        ("boundrange(-3)", "length must be at least 1; got -3"),
        ("subsequence(2.5)", "length must be a whole number; got 2.5"),
        ("exponential", "needs decay"),
        ("exponential(0)", "decay must be greater than 0; got 0"),
        ("exponential(nan)", "decay must be greater than 0; got nan"),
        ("string(3, decay=0)", "decay must be greater than 0"),
        ("fullstring(3, decay=nan)", "decay must be greater than 0"),
        ("subsequence(3, decay=-1)", "decay must be greater than 0"),
        ("string(3000, decay=0.5)", "decay must leave"),
        ("spectrum(3, unit=words)", "unit must be 'characters' or 'bytes'; got 'words'"),
        ("constant(unit=3)", "unit must be"),
        ("string(3, 0.5)", "takes at most 1 unnamed value"),
    ],
)
def test_bad_parameters(spelling, message):
    with pytest.raises(KernelSpellingError, match=message.replace("(", r"\(")):
        parse_kernel(spelling)


@pytest.mark.parametrize("spelling", ["spectrum(2)", "constant", "subsequence(2)"])
class TestBadDocuments:
    def test_a_bare_string(self, spelling):
        with pytest.raises(InputError, match=r"must be a list of strings; got one str\. Write \[text\]"):
            parse_kernel(spelling).gram("abc")

    def test_an_empty_collection(self, spelling):
        with pytest.raises(InputError, match="at least 1 string; got an empty collection"):
            parse_kernel(spelling).gram([])

    @pytest.mark.parametrize("odd", [3, None, 2.5, ["a"], b"bytes", float("nan")])
    def test_what_is_not_a_string(self, spelling, odd):
        with pytest.raises(InputError, match=f"must all be strings; document 1 is {type(odd).__name__}"):
            parse_kernel(spelling).gram(["a", odd])
        with pytest.raises(InputError, match="new documents must all be strings; document 0"):
            parse_kernel(spelling).cross([odd], ["a"])

    def test_numbers(self, spelling):
        with pytest.raises(InputError, match="must all be strings"):
            parse_kernel(spelling).gram(np.eye(2))
        with pytest.raises(InputError, match="must be a list of strings; got csr_array"):
            parse_kernel(spelling).gram(sp.csr_array(np.eye(2)))
        with pytest.raises(InputError, match="must be a list of strings; got int"):
            parse_kernel(spelling).gram(7)

    def test_strings_in_other_containers(self, spelling):
        kernel = parse_kernel(spelling)
        wanted = kernel.gram(["abc", "abd"]).dense()
        for container in (tuple, np.array, iter, lambda x: np.array(x, dtype=object)):
            np.testing.assert_array_equal(kernel.gram(container(["abc", "abd"])).dense(), wanted)

    def test_lone_surrogates(self, spelling):
        kernel = parse_kernel(spelling)
        assert kernel.gram(["x\ud800y\ud800y"]).dense()[0, 0] > kernel.gram(["x\ud800y\ud801z"]).dense()[0, 0]
        in_bytes = parse_kernel(
            spelling.replace(")", ", unit=bytes)") if "(" in spelling else spelling + "(unit=bytes)"
        )
        with pytest.raises(InputError, match=r"document 1 has a lone surrogate at 2.*unit=characters"):
            in_bytes.gram(["fine", "ab\udfff"])

    def test_empty_strings_resemble_nothing(self, spelling):
        kernel = parse_kernel(spelling)
        gram = kernel.gram(["", "abab", ""])
        assert gram.dense()[1, 1] > 0
        assert np.count_nonzero(gram.dense()) == 1
        assert kernel.gram(["", ""]).dense().tolist() == [[0, 0], [0, 0]]
        assert kernel.cross(["", "ab"], [""]).tolist() == [[0], [0]]
        assert kernel.cross([], ["ab"]).shape == (0, 1)
        assert (gram @ np.ones(3)).tolist() == [0, gram.dense()[1, 1], 0]


DOCUMENTS = ["abc", "abd", "", "abcabc"]


@pytest.mark.parametrize("length", [7, 2**40, 10**20, 10**400])
def test_lengths_beyond_every_document(length):
    """Exact lengths find nothing; bounds bound nothing; neither takes time or memory."""
    for kernel in (Spectrum(length), String(length, decay=1.0), Subsequence(length)):
        with soon():
            gram = kernel.gram(DOCUMENTS)
        assert not gram.dense().any()
        cross, own = kernel.extend(["abcab"], gram)
        assert not cross.any()
        assert not own.any()
    for kernel, same in ((BoundRange(length), BoundRange(6)), (FullString(length), FullString(6))):
        np.testing.assert_array_equal(kernel.gram(DOCUMENTS).dense(), same.gram(DOCUMENTS).dense())


def test_a_new_string_longer_than_the_fitted_ones():
    for length in (6, 7, 50):
        kernel = Spectrum(length)
        cross, own = kernel.extend(["abcabcabc"], kernel.gram(DOCUMENTS))
        assert cross.tolist() == [[0, 0, 0, 2.0 if length == 6 else 0]]
        assert own == pytest.approx([{6: 6.0, 7: 3.0, 50: 0.0}[length]])


def test_strings_too_short_for_a_subsequence_are_left_out():
    strings = ["abcde", "ab", "abcdf", "", "abc"]
    for length in (3, 4):
        kernel = Subsequence(length, decay=0.6)
        codes = [np.array([ord(c) for c in s]) for s in strings]
        wanted = [[naive.plain_subsequence(x, y, length, 0.6) for y in codes] for x in codes]
        gram = kernel.gram(strings)
        np.testing.assert_allclose(gram.dense(), wanted, rtol=1e-12)
        np.testing.assert_allclose(gram.diagonal(), np.diag(wanted), rtol=1e-12)
        np.testing.assert_allclose(kernel.cross(strings[1:], strings), wanted[1:], rtol=1e-12)


def test_a_subsequence_table_beyond_the_memory_is_refused():
    with pytest.raises(MemoryBudgetError, match=r"subsequence\(50000\) of strings of up to 100000 characters needs"):
        Subsequence(50000).gram(["ab" * 50000]).dense()
    with pytest.raises(InputError, match="decay must leave"):
        String(10**400)


@pytest.mark.parametrize("kernel", [Spectrum(2), Subsequence(2)])
def test_a_corpus_is_its_texts(kernel):
    texts = ["abc", "abd"]
    np.testing.assert_array_equal(kernel.gram(Corpus(texts)).dense(), kernel.gram(texts).dense())
    np.testing.assert_array_equal(kernel.cross(Corpus(texts), texts), kernel.gram(texts).dense())


def test_weights_that_overflow_are_refused():
    with pytest.raises(InputError, match="decay makes long substrings weigh more"):
        parse_kernel("exponential(0.5)").gram(["ab" * 2000])
    with pytest.raises(InputError, match="decay must keep the similarities finite"):
        parse_kernel("subsequence(2, decay=1e200)").gram(["abab"])
    assert np.isfinite(parse_kernel("exponential(1e300)").gram(["abab"]).dense()).all()
    assert np.isfinite(parse_kernel("exponential(2)").cross(["ab" * 3000], ["ab" * 3000, "ab"])).all()


def test_new_strings_with_unknown_characters_and_private_substrings():
    kernel = parse_kernel("constant")
    gram = kernel.gram(["common secret", "common", "other"])
    cross, own = kernel.extend(["secret ж", "жжж", "\U0001f600"], gram)
    twin = naive.weight("constant")
    wanted = [
        [naive.substring_kernel(x, y, twin) for y in ("common secret", "common", "other")] for x in ("secret ж", "жжж")
    ]
    np.testing.assert_allclose(cross[:2], wanted, rtol=1e-12)
    assert cross[0, 0] > 20  # "secret" is in one fitted document only, and counts
    assert cross[2].tolist() == [0, 0, 0]
    assert own[1] == pytest.approx(14)


def test_long_shared_passages_are_sorted_together(monkeypatch):
    passage = "".join(np.random.default_rng(0).choice(list("abcdefgh"), size=3000))
    kernel = parse_kernel("constant")
    gram = kernel.gram([passage, "abc"])
    calls = []
    plain = matching.cross_by_sorting
    monkeypatch.setattr(matching, "cross_by_sorting", lambda *a: calls.append(1) or plain(*a))
    np.testing.assert_allclose(kernel.extend([passage], gram)[0][0], gram.dense()[0], rtol=1e-12)
    assert calls == [1]
    kernel.extend([passage[:50]], gram)
    assert calls == [1]


def test_all_long_runs_of_one_character():
    gram = parse_kernel("constant").gram(["a" * 3000, "a" * 2000, "b"])
    n, m = 3000, 2000
    lengths = np.arange(1, n + 1)
    assert gram.dense()[0, 0] == pytest.approx(np.sum((n - lengths + 1.0) ** 2), rel=1e-12)
    wanted = np.sum((n - lengths + 1.0)[:m] * (m - lengths[:m] + 1.0))
    assert gram.dense()[0, 1] == pytest.approx(wanted, rel=1e-12)
    assert gram.dense()[2].tolist() == [0, 0, 1]


def test_a_million_documents_of_one_character():
    documents = [chr(97 + i % 26) for i in range(10**6)]
    with soon():
        gram = parse_kernel("spectrum(1)|normalise").gram(documents)
        product = gram @ np.ones(10**6)
    assert product[0] == pytest.approx(38462)
    assert product[25] == pytest.approx(38461)
    assert gram.source.rows.nnz == 10**6


def test_one_long_document_has_only_private_mass():
    text = "".join(np.random.default_rng(0).choice(list("acgt"), size=300_000))
    gram = parse_kernel("boundrange(10)").gram([text])
    counts = [np.unique(_windows(text, size), return_counts=True)[1] for size in range(1, 11)]
    wanted = sum(float((c.astype(float) ** 2).sum()) for c in counts)
    assert gram.dense()[0, 0] == pytest.approx(wanted, rel=1e-12)
    assert gram.rows.shape == (1, 1)


def _windows(text, size):
    codes = np.array([ord(c) % 32 for c in text], dtype=np.int64)
    return sum(codes[i : len(codes) - size + 1 + i] << (5 * i) for i in range(size))


def test_the_subsequence_kernel_equals_the_plain_programme():
    rng = np.random.default_rng(1)
    strings = ["".join(rng.choice(list("abcde"), size=50)) for _ in range(4)]
    codes = [np.array([ord(c) for c in s]) for s in strings]
    for length in (1, 2, 4):
        wanted = [[naive.plain_subsequence(x, y, length, 0.6) for y in codes] for x in codes]
        np.testing.assert_allclose(Subsequence(length, decay=0.6).gram(strings).dense(), wanted, rtol=1e-12)


def test_distinctive_substrings():
    texts = ["the cat sat", "a cat ran", "my dog sat", "a dog ran", "one dog"]
    for kernel in ("boundrange(3)", "boundrange(3)|normalise|shift", "spectrum(3)|normalise(1)"):
        cats, dogs = distinctive_substrings(parse_kernel(kernel).gram(texts), [7, 7, 9, 9, 9], top=2)
        assert cats[0].substring in (" ca", "cat", "at ")
        assert dogs[0].substring in (" do", "dog", "og ")
        assert cats[0].contrast > 0
    found = distinctive_substrings(parse_kernel("constant(unit=bytes)").gram(texts), [0, 0, 1, 1, 1])
    assert found[1][0].substring == b" dog"
    assert len({t.substring for t in found[0]}) == len(found[0])


def test_contrast_is_the_difference_of_means():
    texts = ["ab", "ab", "b", "c"]
    ((first, *_), _) = distinctive_substrings(parse_kernel("spectrum(2)").gram(texts), [0, 0, 1, 1])
    assert first == ("ab", 1.0)


def test_the_search_goes_on_until_there_are_enough():
    texts = ["a" * 200 + "|wine", "a" * 200 + "#wine", "zz", "zz"]  # the parts of the run come first, 200 of them
    for top in (2, 4, 10):
        found = distinctive_substrings(parse_kernel("constant").gram(texts), [0, 0, 1, 1], top=top)[0]
        assert [part.substring for part in found] == ["a", "wine"]


def test_distinctive_substrings_are_spread_over_the_cluster():
    """The cluster has i most often, but all documents have it."""
    texts = ["eieio eieio wine", "eieio eieie wine", "i e beer", "e i beer"]
    wine, beer = distinctive_substrings(parse_kernel("spectrum(1)").gram(texts), [0, 0, 1, 1], top=2)
    assert [part.substring for part in wine] == ["o", "n"]
    assert [part.substring for part in beer] == ["b", "r"]


def test_distinctive_substrings_take_one_cluster_at_a_time():
    texts = [f"document {i} of {i % 7} kinds" for i in range(200)]
    gram = parse_kernel("constant").gram(texts)
    found = distinctive_substrings(gram, np.arange(200) // 2, top=1)
    assert len(found) == 100
    _, peak = _traced(lambda: distinctive_substrings(gram, np.arange(200) // 2, top=1))
    assert peak < 100 * gram.rows.shape[1] * 8  # less than clusters × features


def _traced(work):
    tracemalloc.start()
    try:
        return work(), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_distinctive_substrings_of_a_part_and_their_limits():
    texts = ["the cat sat", "a cat ran", "my dog sat", "a dog ran"]
    gram = BoundRange(3).gram(texts)
    part = gram.take([1, 3, 0])
    assert distinctive_substrings(part, [0, 1, 0])[0][0].substring == "t"  # in both cats, and not in "a dog ran"
    part = Spectrum(3).gram(texts).take([1, 3, 0])
    assert distinctive_substrings(part, [0, 1, 0])[0][0].substring in (" ca", "cat", "at ")
    assert distinctive_substrings(BoundRange(3).gram(["", ""]), [0, 1]) == [[], []]
    assert distinctive_substrings(gram, [0, 0, 0, 0], top=1)[0][0].contrast > 0
    with pytest.raises(InputError, match="labels must have 4 entries, one for each document; got 2"):
        distinctive_substrings(gram, [0, 1])
    with pytest.raises(InputError, match="needs the Gram of a substring kernel"):
        distinctive_substrings(LinearGram(np.eye(2)), [0, 1])
    with pytest.raises(InputError, match="top must be at least 1"):
        distinctive_substrings(gram, [0, 0, 1, 1], top=0)


def test_features_alone_make_the_gram():
    texts = ["the cat sat", "a cat ran", "my dog sat", "", "zzz"]
    for kernel in ("constant", "spectrum(2)|normalise"):
        gram = parse_kernel(kernel).gram(texts)
        found = gram.features()
        rows = found.rows.toarray() * found.scale[:, None]
        np.testing.assert_allclose(rows @ rows.T, gram.dense(), rtol=1e-12, atol=1e-12)
        assert gram.dense()[4, 4] > 0


def test_features_stay_small_for_long_lengths():
    strings = ["".join(np.random.default_rng(i).choice(list("ab"), size=400)) for i in range(20)]
    short, long = (BoundRange(length).gram(strings) for length in (12, 400))
    assert long.rows.nnz < 1.5 * short.rows.nnz
    assert Spectrum(3).gram([*strings, "xyz"]).rows.shape[1] == 9  # and the mass of the last one


# -- the corpora


def read(folder, name, labels=None):
    with gzip.open(folder / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        records = map(json.loads, lines)
        return [record["text"] for record in records if labels is None or record["label"] in labels]


@pytest.mark.corpus
def test_spectrum_equals_counted_substrings(corpora):
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.metrics.pairwise import cosine_similarity

    texts = read(corpora, "bbcsport")[::4]
    counts = CountVectorizer(analyzer=lambda s: [s[i : i + 4] for i in range(len(s) - 3)]).fit_transform(texts)
    ours = parse_kernel("spectrum(4)|normalise").gram(texts).dense()
    np.testing.assert_allclose(ours, cosine_similarity(counts), rtol=0, atol=1e-12)


@pytest.mark.corpus
def test_distinctive_substrings_of_real_documents_are_words(corpora):
    labels = ("athletics", "cricket", "football", "rugby", "tennis")
    parts = [read(corpora, "bbcsport", (label,)) for label in labels]
    gram = parse_kernel("boundrange(12)|normalise").gram([text for part in parts for text in part])
    found = distinctive_substrings(gram, np.repeat(np.arange(5), [len(part) for part in parts]), top=4)
    words = ("Olympi", "icket", "Chelsea", "Six Nations", "Open")
    for cluster, word in zip(found, words, strict=True):
        best = [part.substring for part in cluster]
        assert word in best
        assert min(map(len, best)) > 1


@pytest.mark.corpus
def test_constant_equals_the_twin_on_real_documents(corpora):
    texts = [text[:1500] for text in read(corpora, "bbcsport")[:8]]
    wanted = naive.matrix(texts, texts, lambda x, y: naive.common_prefixes(x, y).sum())
    np.testing.assert_allclose(parse_kernel("constant").gram(texts).dense(), wanted, rtol=1e-12)


@pytest.mark.slow
@pytest.mark.corpus
@pytest.mark.skipif(not memory.available(), reason="measured through Linux's process files")
@pytest.mark.parametrize(
    ("kernel", "name"), [("constant", "bbcsport"), ("boundrange(25)", "r52_stemmed")], ids=["constant", "boundrange"]
)
def test_memory_on_real_collections(corpora, kernel, name):
    setup = f"""
        import pathlib, numpy as np, grampus
        from tests.unit.test_string_kernels import read
        labels = None if "{name}" == "bbcsport" else ("crude", "interest", "coffee")
        texts = read(pathlib.Path({str(corpora)!r}), "{name}", labels)
        grampus.parse_kernel("{kernel}").gram(texts[:40]).dense()
        input_bytes = sum(map(len, texts))
    """
    work = f"""
        K = grampus.parse_kernel("{kernel}").gram(texts).dense()
        assert K.shape == (len(texts), len(texts))
    """
    assert memory.rise(setup, work)["rise"] < 500_000_000
