"""A vectorizer taken apart and put together again weighs texts as before."""

import json

import numpy as np
import pytest

from grampus.errors import InputError
from grampus.text import TermVectorizer, Texts, Tokenizer
from grampus.text.terms.persist import pack_vectorizer, plain_parameters, unpack_vectorizer

TEXTS = ["The blue whale sang.", "a whale and the blue sea", "Birds sang in the old tree", "old trees, blue birds"]
NEW = [*TEXTS, "nothing known", "", "the blue whale sang in the sea; blue birds"]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"weighting": "tfidf", "stemmer": None, "stop_words": None, "dtype": np.float64},
        {"ngram_range": (1, 3), "stop_words": ["the", "a"]},
        {"ngram_range": (2, 2), "stop_words": None},
        {"tokenizer": Tokenizer(r"\w", lowercase=False, max_length=9), "max_features": 7},
    ],
)
def test_it_weighs_as_before(options):
    vectorizer = TermVectorizer(**options).fit(TEXTS)
    parameters = json.loads(json.dumps(plain_parameters(vectorizer)))
    again = unpack_vectorizer(parameters, pack_vectorizer(vectorizer))
    assert (again.transform(NEW) != vectorizer.transform(NEW)).nnz == 0
    assert again.transform(NEW).dtype == vectorizer.transform(NEW).dtype
    assert again.get_feature_names_out().tolist() == vectorizer.get_feature_names_out().tolist()


def test_a_stop_list_in_a_file_is_kept_as_words(tmp_path):
    (tmp_path / "stops.txt").write_text("the\nblue\n")
    vectorizer = TermVectorizer(stop_words=str(tmp_path / "stops.txt")).fit(TEXTS)
    assert plain_parameters(vectorizer)["stop_words"] == ["blue", "the"]


def test_what_a_file_cannot_hold_is_said():
    with pytest.raises(InputError, match="regular expression"):
        plain_parameters(TermVectorizer(tokenizer=str.split))
    with pytest.raises(InputError, match="must not contain blanks"):
        pack_vectorizer(
            TermVectorizer(tokenizer=r"\w+ \w+", ngram_range=(1, 2), stemmer=None, stop_words=None).fit(TEXTS)
        )


def test_texts_as_arrays():
    texts = Texts(["whale", "", "ö ✓"])
    data, ends = texts.to_arrays()
    assert Texts.from_arrays(data, ends) == texts
    for bad in ((data, ends[:-1]), (data[:-1], ends), (data, ends[::-1]), (data.astype(int), ends), (data, ends + 1)):
        with pytest.raises(InputError, match="rising offsets"):
            Texts.from_arrays(*bad)
    with pytest.raises(InputError, match="UTF-8"):
        Texts.from_arrays(np.array([0xC3, 0xC3], np.uint8), np.array([0, 2]))


def test_parameters_are_stored_under_the_names_of_older_runs():
    names = {"weighting", "tokenizer", "lowercase", "stop_words", "stemmer", "ngram_range", "min_df", "max_df",
             "min_length", "max_length", "max_features", "numbers", "dtype", "clean"}  # fmt: skip
    assert set(plain_parameters(TermVectorizer())) == names
