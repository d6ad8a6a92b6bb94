"""Row order does not matter; fast counting equals naive counting."""

from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grampus.errors import InputError
from grampus.text import Corpus, Terms, Texts, Weighting
from grampus.text.terms.weighting import GLOBAL, LOCAL, NORMALISATION

words = st.sampled_from(["whale", "bird", "song", "the", "deep", "sea", "été", "x", "a_b"])
CODES = ["".join(code) for code in product(LOCAL, GLOBAL, NORMALISATION)]
documents = st.lists(st.lists(words, max_size=8).map(" ".join), min_size=1, max_size=12)


@given(documents, st.randoms(use_true_random=False), st.integers(1, 3), st.integers(1, 3))
def test_shuffled_documents_have_the_same_weights(texts, random, low, width):
    texts = ["whale bird song"] * 3 + texts  # so that some terms are in three documents
    order = list(range(len(texts)))
    random.shuffle(order)
    options = {"ngram_range": (1, width), "min_df": low}
    counts = Terms(**options).fit_transform(texts)
    shuffled = Terms(**options).fit_transform([texts[place] for place in order])
    for code in random.sample(CODES, 10):
        expected = Weighting(code).fit_transform(counts)[order]
        assert (Weighting(code).fit_transform(shuffled) != expected).nnz == 0, code


@given(st.lists(st.text(max_size=20), max_size=20), st.randoms(use_true_random=False))
def test_fingerprint_does_not_see_the_order_and_sees_everything_else(texts, random):
    order = list(range(len(texts)))
    random.shuffle(order)
    corpus = Corpus(texts)
    assert corpus.take(order).fingerprint == corpus.fingerprint
    assert Corpus([*texts, "x"]).fingerprint != corpus.fingerprint
    if texts:
        assert Corpus(texts[1:]).fingerprint != corpus.fingerprint
        assert Corpus([*texts[1:], texts[0] + "!"]).fingerprint != corpus.fingerprint


@given(st.lists(st.text(max_size=30)))
def test_texts_are_a_list_of_strings(texts):
    stored = Texts(texts)
    assert stored == texts
    assert list(stored) == [stored[place] for place in range(len(texts))] == texts
    assert stored[::-2] == texts[::-2]
    assert list(reversed(stored)) == texts[::-1]


@given(documents, st.integers(1, 3), st.integers(0, 2), st.integers(1, 3))
def test_counts_equal_a_naive_count(texts, low, more, least):
    high = low + more
    stops = {"the", "deep"}

    def naive(text):
        tokens = [t for t in text.lower().split() if len(t) > 1 and t not in stops]
        return Counter(" ".join(tokens[at : at + n]) for n in range(low, high + 1) for at in range(len(tokens) - n + 1))

    counted = [naive(text) for text in texts]
    frequency = Counter(term for counts in counted for term in counts)
    names = sorted(term for term, times in frequency.items() if times >= least)
    terms = Terms(stop_words=stops, stemmer=None, ngram_range=(low, high), min_df=least)
    if not names:
        with pytest.raises(InputError, match="at least one term"):
            terms.fit(texts)
        return
    expected = np.array([[counts[name] for name in names] for counts in counted])
    found = terms.fit_transform(texts)
    assert terms.get_feature_names_out().tolist() == names
    assert np.array_equal(found.toarray(), expected)
    assert np.array_equal(terms.transform(texts).toarray(), expected)
