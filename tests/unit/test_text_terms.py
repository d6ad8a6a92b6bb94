"""Terms: every step by hand, and what is refused."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

import grampus.text.terms.count as count_module
from grampus.errors import InputError
from grampus.text import Corpus, Terms, TermVectorizer, Tokenizer, Weighting, stemmers, stop_words

TEXTS = ["The whale swims.", "Whales are swimming; the whale dives.", "Birds sing, and sang in 1999"]


def table(texts=TEXTS, **options):
    terms = Terms(**options)
    counts = terms.fit_transform(texts)
    return dict(zip(terms.get_feature_names_out(), counts.toarray().T.tolist(), strict=True))


def test_the_default_steps():
    assert table() == {
        "1999": [0, 0, 1], "bird": [0, 0, 1], "dive": [0, 1, 0], "sang": [0, 0, 1], "sing": [0, 0, 1],
        "swim": [1, 1, 0], "whale": [1, 2, 0],
    }  # fmt: skip


def test_stop_words_are_compared_before_stemming():
    assert "be" in table(["being beings"], stop_words=["being"])
    assert "be" not in table(["being swims"], stop_words=["being"])


def test_stop_words_are_lowercased_with_the_text():
    assert list(table(["The Whale"], stop_words=["THE"])) == ["whale"]
    assert list(table(["The Whale the"], stop_words=["The"], tokenizer=Tokenizer(lowercase=False), stemmer=None)) == [
        "Whale",
        "the",
    ]


def test_length_is_the_token_s_own():
    assert list(table(["a whales swim dives"], tokenizer=Tokenizer(min_length=5), stop_words=None)) == ["dive", "whale"]
    assert list(table(["whales swim"], tokenizer=Tokenizer(max_length=4))) == ["swim"]


@pytest.mark.parametrize("text", ["Ab a b_c 12 x1 - don't", "Äb a b_c 12 x1 - don't É été"])
def test_the_fast_tokeniser_is_the_expression(text):
    fast = table([text], stop_words=None, stemmer=None)
    slow = table([text], stop_words=None, stemmer=None, tokenizer=r"(?:\b\w\w+\b)")
    assert fast == slow
    assert "don" in fast
    assert "a" not in fast


def test_the_fast_tokeniser_on_every_ascii_character():
    text = "".join(f"q{chr(code)}z {chr(code)} {chr(code)}{chr(code)} " for code in range(128))
    options = {"stop_words": None, "stemmer": None}
    assert table([text], **options) == table([text], tokenizer=r"(?:\b\w\w+\b)", **options)


def test_numbers_are_terms_unless_told_otherwise():
    texts = ["17 whales in 2026", "٤٢ whales, 3d, b2b"]
    assert set(table(texts)) == {"17", "2026", "3d", "b2b", "whale", "٤٢"}
    assert set(table(texts, numbers=False)) == {"3d", "b2b", "whale"}
    assert set(table(["in 2026 whales sing"], numbers=False, ngram_range=(2, 2))) == {"whale sing"}
    with pytest.raises(InputError, match="Check stop_words and numbers"):
        Terms(numbers=False).fit(["17", "2026"])


def test_n_grams_step_over_stop_words():
    found = table(["whales and birds", "birds sing songs"], ngram_range=(1, 3))
    assert found == {
        "bird": [1, 1], "bird sing": [0, 1], "bird sing song": [0, 1], "sing": [0, 1], "sing song": [0, 1],
        "song": [0, 1], "whale": [1, 0], "whale bird": [1, 0],
    }  # fmt: skip


def test_n_grams_of_one_order_do_not_cross_documents():
    assert table(["aa bb", "cc", "dd ee"], ngram_range=(2, 2)) == {"aa bb": [1, 0, 0], "dd ee": [0, 0, 1]}


def test_an_unknown_word_breaks_an_n_gram_and_a_stop_word_does_not():
    terms = Terms(ngram_range=(2, 2)).fit(["whale bird"])
    new = ["whale the bird", "whale unknown bird", "bird whale", "whale bird whale bird"]
    assert terms.transform(new).toarray().ravel().tolist() == [1, 0, 0, 2]


def test_transform_of_n_grams_whose_parts_were_left_out():
    texts = ["aa bb cc", "aa bb cc dd", "aa", "bb", "cc"]
    terms = Terms(ngram_range=(1, 3), max_df=2, min_df=2)
    counts = terms.fit_transform(texts)
    assert terms.get_feature_names_out().tolist() == ["aa bb", "aa bb cc", "bb cc"]
    assert (terms.transform(texts) != counts).nnz == 0


def test_a_token_and_an_n_gram_of_one_name_are_one_term():
    from sklearn.feature_extraction.text import CountVectorizer

    def split(text):
        return text.split("|")

    texts, new = ["a|b|a b", "a|b|c"], ["b|c|c", "a b|a|b", "a|b", "x|a b|c"]
    terms = Terms(tokenizer=split, ngram_range=(1, 2), stemmer=None, stop_words=None)
    theirs = CountVectorizer(tokenizer=split, token_pattern=None, ngram_range=(1, 2))
    assert np.array_equal(terms.fit_transform(texts).toarray(), theirs.fit_transform(texts).toarray())
    assert terms.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()
    found = terms.transform(new)
    assert np.array_equal(found.toarray(), theirs.transform(new).toarray())
    assert found.has_canonical_format
    both = TermVectorizer(tokenizer=split, ngram_range=(1, 2), stemmer=None, stop_words=None).fit(texts)
    assert both.transform(new).shape == (4, 6)


def test_merged_terms_are_counted_once_a_document():
    def split(text):
        return text.split("|")

    options = {"tokenizer": split, "ngram_range": (1, 2), "stemmer": None, "stop_words": None}
    assert table(["a|b|a b", "c"], **options)["a b"] == [2, 0]
    with pytest.raises(InputError, match="at least one term must remain"):
        Terms(min_df=2, **options).fit(["a|b|a b", "c"])


def test_counts_that_do_not_fit_their_type_are_refused():
    with pytest.raises(InputError, match="dtype must hold the largest count, 300; uint8 does not"):
        Terms(dtype=np.uint8).fit(["whale " * 300])
    assert Terms(dtype=np.uint8).fit_transform(["whale " * 200]).data.tolist() == [200]


def test_a_lone_surrogate_in_a_token_has_no_stem_and_does_no_harm():
    assert sorted(table(["whales x\ud800s"], tokenizer=str.split)) == ["whale", "x\ud800s"]


def test_document_frequency_counts_and_shares():
    texts = ["aa bb cc", "aa bb", "aa", "aa dd"]
    assert list(table(texts, min_df=2)) == ["aa", "bb"]
    assert list(table(texts, min_df=0.5)) == ["aa", "bb"]
    assert list(table(texts, max_df=0.75)) == ["bb", "cc", "dd"]
    assert list(table(texts, max_df=1)) == ["cc", "dd"]
    assert list(table(texts, max_df=1.0, min_df=1)) == ["aa", "bb", "cc", "dd"]


def test_max_features_keeps_the_most_frequent_and_breaks_ties_by_name():
    assert list(table(["bb aa cc", "cc dd"], max_features=2)) == ["aa", "cc"]
    assert len(table(["bb aa"], max_features=9)) == 2


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32, np.float64])
def test_dtype_and_sorted_rows(dtype):
    counts = Terms(dtype=dtype).fit_transform(TEXTS)
    assert counts.dtype == dtype
    assert counts.has_canonical_format


def test_empty_documents_are_rows_of_zeros():
    counts = Terms().fit_transform(["", "whale", "the and of", "  "])
    assert counts.toarray().tolist() == [[0], [1], [0], [0]]
    assert Terms().fit(["whale"]).transform([]).shape == (0, 1)
    for dtype in (np.float32, np.float64):
        none = TermVectorizer(dtype=dtype).fit(["whale song"]).transform([])
        assert (none.shape, none.dtype) == ((0, 2), dtype)


def test_chunks_do_not_show(monkeypatch):
    texts = [f"whale{n % 7} bird{n % 5} song{n % 3} " * (n % 4) for n in range(200)]
    whole = table(texts, ngram_range=(1, 2))
    monkeypatch.setattr(count_module, "_CHUNK_CHARACTERS", 100)
    monkeypatch.setattr(count_module, "_LEXICON_LIMIT", 3)
    assert table(texts, ngram_range=(1, 2)) == whole
    terms = Terms(ngram_range=(1, 2))
    counts = terms.fit_transform(texts)
    assert (terms.transform(iter(texts)) != counts).nnz == 0


def test_a_corpus_a_generator_and_a_list_are_the_same():
    counts = Terms().fit_transform(TEXTS)
    assert (Terms().fit_transform(Corpus(TEXTS)) != counts).nnz == 0
    assert (Terms().fit_transform(text for text in TEXTS) != counts).nnz == 0


def test_other_stemmers():
    assert list(table(["generously"], stemmer="porter")) == ["gener"]
    assert list(table(["generously"], stemmer="english")) == ["generous"]
    assert list(table(["Vögel fliegen"], stemmer="german")) == ["flieg", "vogel"]
    assert list(table(["whales"], stemmer=None)) == ["whales"]
    assert {"porter", "english", "french", "russian"} <= set(stemmers())


def test_tokenizer_as_callable_and_as_group():
    assert list(table(["a,b c"], tokenizer=lambda text: text.split(","), stop_words=None)) == ["a", "b c"]
    assert list(table(["<whale> bird"], tokenizer=r"<(\w+)>")) == ["whale"]


def test_stop_lists(tmp_path):
    assert len(stop_words("smart")) == 570
    assert {"the", "a's", "zero"} <= stop_words("smart")
    assert stop_words("english") != stop_words("smart")
    assert stop_words(None) == frozenset()
    path = tmp_path / "stops.txt"
    path.write_text("\ufeff# mine\nwhale\n\n Bird \n", encoding="utf-8")
    assert stop_words(path) == stop_words(str(path)) == {"whale", "Bird"}
    assert list(table(["whale bird song"], stop_words=path)) == ["song"]


def test_wrong_stop_lists(tmp_path):
    (tmp_path / "x").write_bytes(b"\xff\xfe\xff")
    must = "stop_words must"
    for wrong, message in (("smrt", must), (3, must), (["the", 4], must), (tmp_path / "x", "not UTF-8")):
        with pytest.raises(InputError, match=message):
            stop_words(wrong)
    with pytest.raises(InputError, match="can be read more than once"):
        Terms(stop_words=(word for word in ["the"])).fit(TEXTS)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tokenizer": "("}, "valid regular expression"),
        ({"tokenizer": "(a)(b)"}, "at most one capturing group"),
        ({"tokenizer": 3}, "regular expression or a callable"),
        ({"tokenizer": lambda _: [1]}, "must return strings; got 1"),
        ({"tokenizer": lambda _: [["a"]]}, "must return strings"),
        ({"stemmer": "klingon"}, "Known are arabic"),
        ({"ngram_range": (0, 1)}, "ngram_range must"),
        ({"ngram_range": (2, 1)}, "ngram_range must"),
        ({"ngram_range": 2}, "ngram_range must"),
        ({"ngram_range": (1.0, 2)}, "ngram_range must"),
        ({"min_df": 0}, "min_df must"),
        ({"min_df": True}, "min_df must"),
        ({"max_df": 1.5}, "max_df must"),
        ({"max_df": "3"}, "max_df must"),
        ({"tokenizer": Tokenizer(min_length=0)}, "min_length must"),
        ({"numbers": "no"}, "numbers must be True or False"),
        ({"tokenizer": Tokenizer(min_length=3, max_length=2)}, "max_length must be an integer, at least 3"),
        ({"max_features": 0}, "max_features must"),
        ({"dtype": "O"}, "dtype must"),
        ({"dtype": "complex64"}, "dtype must"),
        ({"min_df": 4}, "at least one term must remain"),
    ],
)
def test_wrong_parameters(options, message):
    with pytest.raises(InputError, match=message):
        Terms(**options).fit(TEXTS)


@pytest.mark.parametrize(
    ("documents", "message"),
    [
        ("one string", "iterable of strings; got str"),
        (b"bytes", "got bytes"),
        (3, "got int"),
        (["a whale", None], "document 1 is NoneType"),
        ([b"whale"], "document 0 is bytes"),
        ([], "at least one document"),
        (["the", "and"], "at least one term"),
    ],
)
def test_wrong_documents(documents, message):
    with pytest.raises(InputError, match=message):
        Terms().fit(documents)


def test_a_failed_fit_leaves_the_old_one():
    terms = Terms().fit(["whale"])
    with pytest.raises(InputError):
        terms.fit(["the"])
    assert terms.transform(["whale"]).toarray().tolist() == [[1]]


def test_clone_pickle_pipeline():
    terms = Terms(ngram_range=(1, 2), stemmer="porter")
    assert clone(terms).get_params() == terms.get_params()
    again = pickle.loads(pickle.dumps(terms.fit(TEXTS)))
    assert (again.transform(TEXTS) != terms.transform(TEXTS)).nnz == 0
    pipeline = make_pipeline(Terms(), Weighting("lfc"))
    weighted = pipeline.fit_transform(TEXTS)
    assert pipeline.get_feature_names_out().tolist() == pipeline[0].get_feature_names_out().tolist()
    both = TermVectorizer("lfc", dtype=np.float64)
    assert (both.fit_transform(TEXTS) != weighted).nnz == 0
    assert (both.transform(TEXTS) != pipeline.transform(TEXTS)).nnz == 0
    assert both.vocabulary_ == pipeline[0].vocabulary_


def test_vectorizer_stores_float32_and_clones():
    vectorizer = TermVectorizer("tec", min_df=1, stop_words="english")
    assert vectorizer.fit_transform(TEXTS).dtype == np.float32
    assert clone(vectorizer).get_params() == vectorizer.get_params()
    assert set(vectorizer.get_params()) == {*Terms().get_params(), "weighting"}
    assert vectorizer.fit(TEXTS).get_feature_names_out().tolist() == list(vectorizer.vocabulary_)


def test_vectorizer_checks_the_weighting_before_it_reads():
    def texts():
        raise AssertionError("read")
        yield ""

    with pytest.raises(InputError, match="three letters"):
        TermVectorizer("zzz").fit(texts())


@pytest.mark.parametrize("how", [{}, {"ngram_range": (1, 2)}, {"stemmer": "auto", "stop_words": "auto"}])
def test_terms_that_remember_words_count_the_same(how):
    texts = ["Whales sang", "Die Wale sangen und die Vögel nicht", "a whale, a bird, a bird", "unknown words", ""]
    terms = TermVectorizer(**how).fit(texts * 2)
    again = terms.remembering()
    for some in (texts, texts[::-1], texts[:1], ["new words", *texts]):
        assert (terms.transform(some) != again.transform(some)).nnz == 0
    assert len([one for idle in again._units.known.values() for one in idle]) >= 1
    assert terms._units.known is None  # what is stored does not grow
