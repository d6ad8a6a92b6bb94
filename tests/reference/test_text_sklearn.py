"""The whole pipeline against scikit-learn's vectorizers, on made-up texts and on the corpora."""

import re

import numpy as np
import pytest
import Stemmer
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

from grampus.text import Terms, TermVectorizer, read_corpus, stop_words


def made_up(n=300, seed=0):
    rng = np.random.default_rng(seed)
    words = np.array([f"{stem}{end}" for stem in ("whale", "swim", "sing", "dive", "été", "the", "x") for end in
                      ("", "s", "ing", "ed", "s'", "_1", "-2")])  # fmt: skip
    return [" ".join(rng.choice(words, rng.integers(0, 40))) for _ in range(n)]


def stemmed_words(text, findall=re.compile(r"\b\w\w+\b").findall):
    stops = stop_words("smart")
    return Stemmer.Stemmer("english").stemWords([word for word in findall(text.lower()) if word not in stops])


@pytest.mark.parametrize("ngrams", [(1, 1), (1, 2), (2, 3)])
@pytest.mark.parametrize(("low", "high"), [(1, 1.0), (3, 0.5), (0.02, 120)])
def test_counts_equal_count_vectorizer(ngrams, low, high):
    texts = made_up()
    theirs = CountVectorizer(ngram_range=ngrams, min_df=low, max_df=high)
    expected = theirs.fit_transform(texts)
    ours = Terms(stop_words=None, stemmer=None, ngram_range=ngrams, min_df=low, max_df=high)
    found = ours.fit_transform(texts)
    assert ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()
    assert (found != expected).nnz == 0
    new = made_up(50, seed=1)
    assert (ours.transform(new) != theirs.transform(new)).nnz == 0


def test_pipeline_equals_tfidf_vectorizer():
    texts = made_up()
    theirs = TfidfVectorizer(analyzer=stemmed_words, min_df=3, sublinear_tf=True, smooth_idf=False)
    ours = TermVectorizer("ddc", min_df=3)
    assert abs(ours.fit_transform(texts) - theirs.fit_transform(texts)).max() < 1e-6
    new = made_up(50, seed=1)
    assert abs(ours.transform(new) - theirs.transform(new)).max() < 1e-6


@pytest.mark.corpus
def test_pipeline_equals_tfidf_vectorizer_on_bbcsport(corpora):
    corpus = read_corpus(corpora / "bbcsport.jsonl.gz", label="label")
    assert len(corpus) == 737
    assert len(set(corpus.labels)) == 5
    theirs = TfidfVectorizer(analyzer=stemmed_words, min_df=3, sublinear_tf=True, smooth_idf=False)
    expected = theirs.fit_transform(corpus.texts)
    ours = TermVectorizer("ddc", min_df=3, dtype=np.float64)
    assert abs(ours.fit_transform(corpus) - expected).max() < 1e-12
    assert ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("name", "documents", "classes"),
    [("bbc", 2225, 5), ("classic4", 7095, 4), ("r52_stemmed", 9100, 52), ("ohsumed_single23", 7400, 23)],
)
def test_the_corpora_are_read_whole(corpora, name, documents, classes):
    corpus = read_corpus(corpora / f"{name}.jsonl.gz", label="label")
    assert (len(corpus), len(set(corpus.labels))) == (documents, classes)
    assert corpus.skipped == {}
    assert corpus.notes == ()
