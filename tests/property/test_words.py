"""The compiled scanner against its naive twin, over all of Unicode; hostile arrays are refused."""

from collections import defaultdict
from itertools import count

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grampus._native.dense import DenseNeighbours, RoundedRows
from grampus._native.words import Chunks, KnownWords, WordIndex, WordNumbers, _letters, side_by_side
from grampus.describe import reading
from grampus.errors import InputError
from grampus.report.words import word_index
from grampus.text import Terms
from grampus.text.languages.detect import detect_language, detect_languages
from tests.reference import naive_words

# Letters of every kind, digits, marks, signs, characters of one to four bytes, and those whose lower case is uneven.
SIGNS = st.sampled_from("aZ09_ -'\n\t\x00.ßİΣςéÉñ٣²½ⅷµﬁＡ中文かカไทยहि\u0301\u200d\ufffd\u2028𝒜🐋𐐀")
TEXTS = st.lists(
    st.one_of(
        st.text(SIGNS, max_size=40), st.text(st.characters(exclude_categories=["Cs"]), max_size=30), st.text("aB_ 1")
    ),
    max_size=8,
)


def joined(texts):
    data = [text.encode() for text in texts]
    return b"".join(data), np.cumsum([0, *map(len, data)])


@settings(max_examples=80, deadline=None)
@given(TEXTS)
def test_numbers_are_those_of_the_expression(texts):
    numbers = WordNumbers()
    found, lengths = numbers.read(*joined(texts))
    wanted, words = naive_words.numbered(texts)
    assert [part.tolist() for part in np.split(found, np.cumsum(lengths))][: len(texts)] == wanted
    assert numbers.words(0) == words
    assert len(numbers) == len(words)


@settings(max_examples=80, deadline=None)
@given(TEXTS, TEXTS)
def test_the_index_is_that_of_the_twin(texts, titles):
    n = min(len(texts), len(titles))
    both = [f"{title} {text}" for title, text in zip(titles[:n], texts[:n], strict=True)]
    assert word_index([titles[:n], texts[:n]]) == naive_words.index(both)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.lists(st.sampled_from(["a", "ab", "b", "é", "éb", "鯨", "ba"]), max_size=8), max_size=5), st.data())
def test_words_side_by_side_are_those_of_the_twin(texts, data):
    one, other = (data.draw(st.sampled_from(["a", "ab", "b", "é", "鯨"])) for _ in range(2))
    spaced = [" " + "".join(word + " " * data.draw(st.integers(1, 3)) for word in text) for text in texts]
    assert side_by_side([text.encode() for text in spaced], one, other) == naive_words.side_by_side(texts, one, other)


CHUNKS = st.lists(
    st.one_of(
        st.text("aZint09_.,!?-'\"()@/&#;=%+:|>*[]{}\x00\x1f\v~é²鯨", min_size=1, max_size=12),
        st.sampled_from(
            [
                "setUp",
                "aSetUp",
                "(seT)",
                "www",
                "www.",
                "int",
                "void,",
                "(void)",
                "x" * 60,
                "x" * 61,
                "a1b2c3d",
                "a1b2c3d4",
            ]
        ),
        st.text(st.characters(exclude_categories=["Cs", "Zs"], exclude_characters="\n"), min_size=1, max_size=8),
    ),
    max_size=12,
)


@settings(max_examples=300, deadline=None)
@given(CHUNKS)
def test_plain_chunks_are_read_as_python_reads_them(given):
    chunks = reading.chunks_of_texts()
    numbers = chunks.read([" ".join(given).encode()])[0].tolist()
    codes, lengths, words = chunks.codes(
        reading.BREAK, reading.STOP, lambda one, number: reading.codes_of(one, number, None)
    )
    known: defaultdict[str, int] = defaultdict(count().__next__)
    wanted = [reading.codes_of(one, known.__getitem__, None) for one in dict.fromkeys(given)]
    assert [part.tolist() for part in np.split(codes, np.cumsum(lengths))[:-1]] == wanted
    assert words == list(known)
    assert [list(dict.fromkeys(given))[number] for number in numbers] == given


def test_what_is_said_of_chunks_is_checked():
    chunks = Chunks(".", "@", ["int"], 60)
    chunks.read([b"a@b"])
    with pytest.raises(InputError, match="below 0"):
        chunks.codes(-1, 0, lambda chunk, number: [])
    with pytest.raises(InputError, match="numbers of words"):
        chunks.codes(-1, -2, lambda chunk, number: [7])
    with pytest.raises(InputError, match="ASCII"):
        Chunks("…", "@", [], 60)
    with pytest.raises(InputError, match="blanks"):
        Chunks(".", "@", ["a b"], 60)


def test_the_index_of_many_documents_and_long_words():
    texts = [f"w{number % 7} {'long' * (number % 40)} common" for number in range(9000)]
    assert word_index([texts]) == naive_words.index(texts)


@settings(max_examples=30, deadline=None)
@given(TEXTS)
def test_terms_are_those_of_the_expression(texts):
    options = {"stop_words": None, "stemmer": None}
    plain = [text for text in texts if text.isascii()] + ["whale song"]
    fast = Terms(**options)
    slow = Terms(tokenizer=r"(?:\b\w\w+\b)", **options)
    assert (fast.fit_transform(plain) != slow.fit_transform(plain)).nnz == 0
    assert fast.vocabulary_ == slow.vocabulary_


def test_letters_are_python_s():
    bits = np.unpackbits(_letters(), bitorder="little")
    assert bits.tolist() == [int(chr(code).isalnum()) for code in range(0x110000)]


def test_a_vocabulary_grows():
    words = [f"word{number}" for number in range(20_000)]
    numbers = WordNumbers()
    found, _ = numbers.read(*joined([" ".join(words), " ".join(words[::-1])]))
    assert found.tolist() == [*range(20_000), *reversed(range(20_000))]
    assert numbers.words(19_998) == words[-2:]
    assert numbers.words(20_000) == []


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=60))
def test_bytes_that_are_no_utf_8_separate_words(data):
    numbers, index = WordNumbers(), WordIndex()
    ends = [0, len(data) // 2, len(data)]
    _, lengths = numbers.read(data, ends)
    index.add([(data, ends)])
    assert lengths.sum() <= len(data)
    assert len(numbers.words(0)) == len(numbers)
    assert len(index.packed()) >= 4


@settings(max_examples=80, deadline=None)
@given(TEXTS, st.lists(st.text("abZ0", max_size=2), max_size=6), st.lists(st.text("abZ0", max_size=2), max_size=6))
def test_known_words_are_counted_once(texts, first, second):
    plain = [text for text in texts if text.isascii()]
    counts = KnownWords(first, second).count(*joined(plain))
    wanted = [[len({*text.lower().split()} & {*words}) for words in (first, second)] for text in plain]
    assert counts.tolist() == wanted


def test_languages_of_many_texts_are_those_of_each():
    texts = [
        "The whale is in the sea and it was that of the ship.",
        "Der Wal ist das Tier, das in der See lebt.",
        "La baleine est un animal qui vit dans les mers du monde.",
        "Кит живёт в море и поёт песни.",
        "naïve the of and to in is",
        "",
        "the of and to " + "der die das und ist nicht " * 3,
        "x" * 5000,
    ]
    for among in (None, ("de", "fr"), ("en", "de")):
        assert detect_languages(texts, among) == [detect_language(text, among) for text in texts]


@pytest.mark.parametrize("ends", [[], [1, 0], [0, 9], [-1, 3], [[0, 3]]])
def test_offsets_outside_the_bytes_are_refused(ends):
    with pytest.raises(InputError, match="offsets"):
        WordNumbers().read(b"abc", ends)
    with pytest.raises(InputError, match="offsets"):
        WordIndex().add([(b"abc", ends)])


def test_columns_and_flags_must_fit():
    with pytest.raises(InputError, match="equally many"):
        WordIndex().add([(b"abc", [0, 3]), (b"abc", [0, 1, 3])])
    with pytest.raises(InputError, match="blanks"):
        WordNumbers().read(b"abc", [0, 3], [1, 1])
    with pytest.raises(InputError, match="first"):
        WordNumbers().words(1)


KINDS = {
    "clouds": lambda rng, n, m: rng.normal(size=(n, m)),
    "grid": lambda rng, n, m: rng.integers(0, 3, size=(n, m)).astype(float),  # ties
    "nearly ties": lambda rng, n, m: rng.integers(-2, 3, (n, m)) + 1e-8 * rng.normal(size=(n, m)),
    "tiny": lambda rng, n, m: 1e-30 * rng.normal(size=(n, m)),
    "huge": lambda rng, n, m: 1e30 * rng.normal(size=(n, m)),
    "uneven": lambda rng, n, m: rng.normal(size=(n, m)) * 10.0 ** rng.integers(-25, 9, (n, 1)),
    "zeros": lambda rng, n, m: rng.normal(size=(n, m)) * (rng.random((n, 1)) < 0.3),
}


@settings(max_examples=50, deadline=None)
@given(
    st.integers(0, 2**32 - 1), st.sampled_from(sorted(KINDS)), st.sampled_from([4, 60, 500]),
    st.sampled_from([1, 2, 30, 70]), st.sampled_from([1, 3]), st.booleans(),
)  # fmt: skip
def test_neighbours_of_dense_rows_are_those_of_all_products(seed, kind, n, m, p, by_distance):
    rows = KINDS[kind](np.random.default_rng(seed), n, m)
    own = np.einsum("ij,ij->i", rows, rows)
    far = np.where(own > 0, own, np.inf)
    exact = 2.0 * (rows @ rows.T) - far if by_distance else rows @ rows.T
    np.fill_diagonal(exact, -np.inf)
    tie = 1e-12 * own.max() if by_distance else 0.0
    relative = 0.0 if by_distance else 1e-12
    columns, values = DenseNeighbours(rows, far if by_distance else None).nearest(1, n, p, relative, tie)
    for i in range(1, n, 1 + n // 12):
        found, value = columns[i - 1], values[i - 1]
        limit = np.sort(exact[i])[-p]
        room = relative * abs(limit) + tie if np.isfinite(limit) else 0.0
        slack = 1e-14 * (own[i] + own.max()) * m  # of the products that this test forms
        assert (np.diff(found) > 0).all()
        assert i not in found
        np.testing.assert_allclose(value, exact[i, found], rtol=1e-9, atol=slack)
        assert (exact[i, found] >= limit - room - slack).all()
        assert set(np.flatnonzero(exact[i] > limit + room + slack)) <= set(found)


def test_rounding_to_bytes_is_given_up_where_it_rules_nothing_out():
    rng = np.random.default_rng(0)
    apart = rng.normal(size=(400, 80))
    alike = np.repeat(rng.normal(size=(2, 80)), 200, axis=0) + 1e-6 * apart
    for rows in (apart, alike):
        exact = rows @ rows.T
        np.fill_diagonal(exact, -np.inf)
        some = DenseNeighbours(rows)
        some._rounded = RoundedRows(rows)
        for _ in range(2):  # by bytes, and, if these ruled out nothing, in single precision
            columns, _ = some.nearest(0, 400, 5, 0.0)
            np.testing.assert_array_equal(columns, np.sort(np.argsort(-exact, axis=1)[:, :5], axis=1))
        assert (some._rounded is None) == (rows is alike)


def test_hostile_rows_are_refused():
    with pytest.raises(InputError, match="finite"):
        DenseNeighbours(np.array([[np.nan], [1.0]]))
    with pytest.raises(InputError, match="rows"):
        DenseNeighbours(np.ones(3))
    with pytest.raises(InputError, match="far"):
        DenseNeighbours(np.ones((3, 1)), np.ones(2))
    some = DenseNeighbours(np.ones((3, 1)))
    for first, last, p in ((0, 4, 1), (-1, 2, 1), (0, 3, 3), (0, 3, 0)):
        with pytest.raises(InputError):
            some.nearest(first, last, p, 0.0)
