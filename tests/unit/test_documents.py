"""DocumentClusterer: what goes in, what comes out, and what must not change it."""

import hashlib
import json
import re
from dataclasses import asdict

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import grampus
from grampus import DocumentClusterer
from grampus.documents import Effort
from grampus.errors import InputError, RunError
from grampus.metrics import ari
from grampus.text import Corpus, TermVectorizer

SEA = ["whale song in the deep sea", "deep sea whale", "song of the whale", "the sea and a whale", "whales sing deep"]
AIR = ["a bird in the old tree", "bird nest in a tree", "the tree and its birds", "old nest of a bird", "birds nest"]
TEXTS = [*SEA, *AIR]
EFFORT = ("ks", "scheme", "n_splits", "null", "stability", "n_init", "polish")


def label_hash(labels):
    return hashlib.sha256(np.asarray(labels, dtype=np.int64).tobytes()).hexdigest()


def quick(n_clusters, **options):
    """A clusterer that does not measure stability; options of its effort may be given by name."""
    effort = {name: options.pop(name) for name in EFFORT if name in options}
    return DocumentClusterer(n_clusters, effort=Effort(**{"stability": False, **effort}), **options)


def two(**options):
    return quick(2, **options)


@pytest.fixture(scope="module")
def corpus():
    from grampus.datasets import scipy_docstrings

    whole = scipy_docstrings()
    return whole.take(np.arange(0, len(whole), 9))


@pytest.fixture(scope="module")
def six(corpus):
    return quick(6).fit(corpus)


def test_texts_in_clusters_out():
    model = two().fit(TEXTS)
    assert len(set(model.labels_[:5])) == len(set(model.labels_[5:])) == 1
    assert model.labels_[0] != model.labels_[5]
    words = {cluster.number: cluster.name for cluster in model.clusters_}
    assert "whale" in words[model.labels_[0]].lower()
    assert "nest" in words[model.labels_[5]] or "bird" in words[model.labels_[5]].lower()
    assert model.n_clusters_ == 2
    assert sum(cluster.size for cluster in model.clusters_) == len(TEXTS)
    assert model.predict(["a song of the deep sea"]) == model.labels_[:1]
    run = model.run_
    assert run.documents.excerpts[0] == SEA[0]
    assert run.evidence.tree[0].size == len(TEXTS)
    assert np.isfinite(run.layout.coordinates).all()


def test_excerpts_are_without_headers_and_markup_where_anything_is_left():
    head, badge = "From: joe@sea.example\nSubject: News\n\n", "![Build](https://ci.example/badge.svg)\n"
    run = quick(2).fit([head + SEA[0], badge + SEA[1], badge, *SEA[2:], *AIR]).run_
    assert [run.documents.excerpts[at] for at in range(3)] == [f"News {SEA[0]}", SEA[1], badge.strip()]


def test_a_corpus_keeps_its_ids_titles_labels_and_dates():
    corpus = Corpus(TEXTS, ids=list("abcdefghij"), labels=["s"] * 5 + [""] * 5, titles=TEXTS, dates=["2020"] * 10)
    run = two().fit(corpus).run_
    assert run.documents.ids == list("abcdefghij")
    assert run.documents.classes == ["s"] * 5 + [""] * 5
    assert run.documents.titles == TEXTS
    assert run.documents.dates == ["2020"] * 10


@pytest.mark.parametrize("kind", ["sparse", "dense", "embeddings with texts"])
def test_rows_of_numbers_instead_of_texts(kind):
    x = TermVectorizer("lec", dtype=np.float64).fit_transform(TEXTS)
    rows = {"sparse": sp.csr_array(x), "dense": x.toarray()}.get(kind, x.toarray()[:, ::-1].copy())
    model = two().fit(rows, corpus=Corpus(TEXTS) if kind.startswith("emb") else None)
    assert ari(model.labels_, two().fit(TEXTS).labels_) == 1.0
    assert model.predict(rows).tolist() == model.labels_.tolist()
    assert (model.run_.documents.texts is None) == (not kind.startswith("emb"))
    if kind.startswith("emb"):
        assert any("whale" in cluster.name.lower() for cluster in model.clusters_)
    with pytest.raises(InputError, match="rows of a matrix"):
        model.predict(["a whale"])


def test_a_gram_matrix():
    x = TermVectorizer("lec", dtype=np.float64).fit_transform(TEXTS)
    model = two(kernel="precomputed").fit((x @ x.T).toarray())
    assert ari(model.labels_, two(kernel="linear").fit(TEXTS).labels_) == 1.0
    assert model.run_.evidence.agreement == 1.0
    assert model.clusters_[0].name == "cluster 1"
    with pytest.raises(InputError, match="takes a Gram matrix"):
        two(kernel="precomputed").fit(TEXTS)


def test_string_kernels_tell_substrings():
    kernel = "boundrange(6)|normalise|shift"
    model = two(kernel=kernel).fit(TEXTS)
    assert len(set(model.labels_[:5])) == len(set(model.labels_[5:])) == 1
    assert model.predict(["whales of the sea"]) == model.labels_[:1]
    assert any("whale" in term.text for cluster in model.clusters_ for term in cluster.terms)
    with pytest.raises(InputError, match="takes texts"):
        two(kernel=kernel).fit(np.eye(3))


def test_shuffled_rows_repeated_runs_and_threads_change_nothing(corpus, six):
    expected = label_hash(six.labels_)
    for seed in range(2):
        order = np.random.default_rng(seed).permutation(len(corpus))
        with grampus.config(threads=1 + seed % 2):
            shuffled = quick(6).fit(corpus.take(order))
        labels = np.empty(len(corpus), dtype=int)
        labels[order] = shuffled.labels_
        assert label_hash(labels) == expected
        oddness = np.empty(len(corpus))
        oddness[order] = shuffled.oddness_
        assert np.array_equal(oddness, six.oddness_)
        assert [c.name for c in shuffled.clusters_] == [c.name for c in six.clusters_]


def test_copies_stay_together_and_documents_without_words_are_in_no_cluster():
    texts = [*TEXTS, *TEXTS[:3], "for the", "the of and", TEXTS[0]]
    model = two(embed=None).fit(texts)
    assert model.labels_[10:13].tolist() == model.labels_[:3].tolist()
    assert model.labels_[15] == model.labels_[0]
    assert set(model.labels_) == {-1, 0, 1}
    assert model.oddness_[13] == model.oddness_[14] == 1.0
    assert "2 documents have no usable word: in no cluster (label −1)." in model.run_.evidence.warnings
    assert [0, 15] in model.duplicates_.tolist()
    assert not {13, 14} & set(model.duplicates_.ravel().tolist())
    assert sum(cluster.size for cluster in model.clusters_) == len(texts) - 2
    assert model.predict(["the of", TEXTS[0]]).tolist() == [-1, model.labels_[0]]


@pytest.mark.parametrize("options", [{}, {"polish": False}, {"kernel": "cosine"}, {"kernel": "gaussian(1)"}])
def test_documents_shown_again_get_their_label_when_it_converged(corpus, six, options):
    model = quick(6, **options).fit(corpus) if options else six
    assert 0.9 < model.run_.evidence.agreement <= 1.0
    if model.effort.polish or model.result_.outcome == "converged":
        assert model.run_.evidence.agreement == 1.0
        assert model.predict(corpus).tolist() == model.labels_.tolist()
    share = (model.predict(corpus) == model.labels_).mean()
    assert share == pytest.approx(model.run_.evidence.agreement, abs=1e-6)


@pytest.mark.parametrize(
    ("kernel", "texts"),
    [("cosine|shift", True), ("cosine|shift|map", True), ("boundrange(4)|normalise|shift", True), ("cosine", False)],
)
def test_a_loaded_run_answers_as_before(tmp_path, kernel, texts):
    model = two(kernel=kernel).fit(TEXTS)
    model.save(tmp_path / "run", texts=texts)
    again = grampus.load(tmp_path / "run")
    assert label_hash(again.labels_) == label_hash(model.labels_)
    new = [*TEXTS, "a whale", "xyzzy", ""]
    one, other = model.assign(new), again.assign(new)
    assert one.labels.tolist() == other.labels.tolist()
    assert one.known.tolist() == other.known.tolist()
    np.testing.assert_allclose(one.margin, other.margin, atol=1e-12)
    assert again.get_params()["kernel"] == kernel
    assert (again.run_.documents.texts is not None) == texts


def test_without_texts_a_string_kernel_cannot_place(tmp_path):
    two(kernel="spectrum(3)|normalise").fit(TEXTS).save(tmp_path / "run", texts=False)
    again = grampus.load(tmp_path / "run")
    assert len(again.labels_) == len(TEXTS)
    with pytest.raises(RunError, match="cannot assign new documents"):
        again.predict(["a whale"])


def test_a_function_as_tokenizer_works_but_cannot_be_saved():
    model = two(terms=TermVectorizer(tokenizer=str.split)).fit(TEXTS)
    assert model.predict(["whale"]) == model.labels_[:1]
    assert dict(model.run_.model) == {}
    assert any("tokenizer" in note for note in model.run_.evidence.warnings)


def test_scikit_learn_conventions():
    model = two(terms=TermVectorizer("tfidf"))
    again = clone(model)
    assert again.get_params()["terms__weighting"] == "tfidf"
    assert again.fit_predict(TEXTS).tolist() == model.fit(TEXTS).labels_.tolist()
    with pytest.raises(Exception, match="not fitted"):
        DocumentClusterer(2).predict(["a"])


@pytest.mark.parametrize(
    ("options", "data", "message"),
    [
        ({"n_clusters": 3}, ["whale", "bird"], r"between 1 and 2 \(the number of documents\)"),
        ({"n_clusters": 4}, ["a whale", "a whale", "bird"], r"between 1 and 2 \(the documents that differ"),
        ({"n_clusters": "many"}, TEXTS, "a list of them or 'auto'"),
        ({"n_clusters": 0}, TEXTS, "between 1"),
        ({"kernel": "cosin"}, TEXTS, "did you mean"),
        ({"polish": 1}, TEXTS, "True or False"),
        ({"terms": "lfc"}, TEXTS, "TermVectorizer"),
        ({"random_state": -1}, TEXTS, "random_state"),
        ({"random_state": "x"}, TEXTS, "random_state"),
        ({}, [], "at least one"),
        ({}, "one text", "single string"),
        ({}, ["a", None], "at least one term"),
        ({}, ["the", "of"], "at least one term"),
        ({}, np.zeros((3, 2)), "between 1 and 1"),
        ({}, np.full((3, 2), np.nan), "NaN"),
        ({"n_splits": 0}, TEXTS, "n_splits"),
    ],
)
def test_bad_input_is_said(options, data, message):
    with pytest.raises(InputError, match=message):
        quick(**{"n_clusters": 2, **options}).fit(data)


@pytest.mark.parametrize("texts", [["whale"], ["whale", "bird"], ["whale", "whale"], TEXTS[:3]])
def test_few_documents(texts):
    run = quick(1).fit(texts).run_
    assert run.evidence.labels.tolist() == [0] * len(texts)
    assert run.evidence.second.tolist() == [-1] * len(texts)
    assert run.evidence.tree[0].cluster == 0


def test_no_documents_to_place():
    assert two().fit(TEXTS).predict([]).tolist() == []
    assert two(kernel="spectrum(2)|normalise").fit(TEXTS).predict([]).tolist() == []


@pytest.mark.parametrize("kernel", ["gaussian(2)", "linear", "polynomial(2)", "selftuning(3)", "gaussian(2)|normalise"])
def test_the_origin_is_a_place_for_rows_of_a_matrix(kernel, tmp_path):
    rows = np.vstack([np.zeros((10, 2)), np.random.default_rng(0).normal(size=(10, 2)) * 0.1 + 5])
    model = two(kernel=kernel).fit(rows)
    assert ari(model.labels_, np.repeat([0, 1], 10)) == 1.0
    assert not any("zeros" in note or "known term" in note for note in model.run_.evidence.warnings)
    model.save(tmp_path / "run")
    for each in (model, grampus.load(tmp_path / "run")):
        placed = each.assign(rows[[0, -1]])
        assert placed.labels.tolist() == model.labels_[[0, -1]].tolist()
        assert placed.known.all()


@pytest.mark.parametrize("kernel", ["linear", "gaussian(2)"])
def test_two_distinct_rows_are_two_clusters_though_one_is_zero(kernel):
    assert two(kernel=kernel).fit(np.repeat([[0.0, 0.0], [5.0, 5.0]], 10, axis=0)).labels_[[0, 10]].tolist() == [0, 1]


@pytest.mark.parametrize(
    "kernel",
    ["cosine", "cosine|shift", "cosine|principal(30)|normalise", "linear|principal(2)|normalise", "cosine|centre"],
)
def test_rows_of_zeros_have_no_say_where_directions_are_compared(kernel, tmp_path):
    counts = np.array([[3.0, 1, 0, 0], [2, 1, 0, 0], [4, 1, 0, 0], [0, 0, 1, 3], [0, 0, 1, 2], [0, 0, 1, 4]])
    rows = np.vstack([counts, np.zeros((20, 4))])
    for form, said in ((rows, "20 documents hold nothing but zeros"), (sp.csr_array(rows), "20 documents have no usa")):
        model = two(kernel=kernel).fit(form)
        assert ari(model.labels_[:6], np.repeat([0, 1], 3)) == 1.0
        assert any(said in note for note in model.run_.evidence.warnings)
        model.save(tmp_path / "run")
        for each in (model, grampus.load(tmp_path / "run")):
            assert each.assign(form[[0, 6]]).known.tolist() == [True, False]
    with pytest.raises(InputError, match=r"between 1 and 6 .the documents that differ and are not zero throughout"):
        DocumentClusterer(7, kernel=kernel).fit(rows)


def test_texts_without_terms_have_no_say_under_any_kernel():
    model = two(kernel="gaussian(1)").fit([*TEXTS, "", "the of and"])
    assert "1 document has no usable word: in no cluster (label −1)." in model.run_.evidence.warnings
    assert model.assign(["", TEXTS[0]]).known.tolist() == [False, True]


@pytest.mark.parametrize(
    ("ks", "said"),
    [("abc", "whole number"), ([2, 2], "twice"), ([1], "above 1"), ([2.5], "whole number"), ([], "above 1")],
)
def test_ks_is_checked_before_any_work(ks, said):
    with pytest.raises(InputError, match=said):
        Effort(ks=ks)


def test_ks_may_be_a_number_or_a_generator():
    rows = np.repeat(np.eye(3) * 9, 20, axis=0) + np.random.default_rng(0).normal(size=(60, 3))
    for given, read in ((3, (3,)), ((k for k in (2, 3)), (2, 3)), (np.array([3, 2]), (2, 3))):
        model = quick("auto", ks=given, kernel="linear", n_splits=5).fit(rows)
        assert model.effort.ks == read
        assert model.choice_.ks == read
        assert model.run_.provenance.parameters["effort"]["ks"] == list(read)


def test_the_verdict_of_a_single_split_is_fit_for_json():
    rows = np.repeat(np.eye(3) * 9, 20, axis=0) + np.random.default_rng(0).normal(size=(60, 3))
    choice = quick("auto", ks=(2, 3), kernel="linear", n_splits=1, scheme="auto").choose(rows)
    written = json.dumps(asdict(choice), allow_nan=False)
    assert choice.standard_error == (None, None)
    assert "nan" not in written
    assert "±" not in choice.verdict


def test_k_is_chosen():
    model = DocumentClusterer(effort=Effort(ks=range(2, 5), n_splits=10, scheme="auto")).fit(
        [*SEA * 4, *AIR * 4, *(f"{text} x{i}" for i, text in enumerate(TEXTS))]
    )
    assert model.choice_.ks == (2, 3, 4)
    assert model.n_clusters_ == model.choice_.best
    assert model.choice_.verdict
    assert np.isfinite(model.stability_).any()
    for scheme in ("auto", "levels"):
        few = DocumentClusterer(effort=Effort(scheme=scheme)).fit(["whale", "bird", "whale"])
        assert few.n_clusters_ == 1
        assert "too few" in few.choice_.verdict.lower()


def test_the_tree_cut_at_k_is_the_clustering(six):
    run = six.run_
    below = {}
    for branch in reversed(run.evidence.tree):
        below[branch.index] = {branch.index}.union(*(below[child] for child in branch.children))
        assert branch.size == np.isin(run.evidence.leaves, list(below[branch.index])).sum()
    for cluster in run.evidence.clusters:
        (branch,) = [branch for branch in run.evidence.tree if branch.cluster == cluster.number]
        assert (
            np.isin(run.evidence.leaves, list(below[branch.index])) == (run.evidence.labels == cluster.number)
        ).all()
    splits = sorted((branch for branch in run.evidence.tree if branch.order >= 0), key=lambda branch: branch.order)
    assert [branch.order for branch in splits] == list(range(len(splits)))
    assert all(branch.cluster < 0 for branch in splits[: run.n_clusters - 1])
    assert all(branch.name for branch in run.evidence.tree)


def test_components_follow_the_number_of_clusters():
    rng = np.random.default_rng(0)
    words = [[f"{'abcdefghij'[c // 10]}{'abcdefghij'[c % 10]}{x}word" for x in "xyzuvw"] for c in range(40)]
    texts = [" ".join(rng.choice(words[i % 40], 8)) for i in range(200)]
    many, few = quick(40, embed=None).fit(texts), quick(5, embed=None).fit(texts)
    assert many.predictor_.gram.features().rows.shape[1] == 40
    assert few.predictor_.gram.features().rows.shape[1] == 30
    assert many.run_.provenance.kernel == "cosine|principal(40)|normalise"
    assert len(set(zip(many.labels_, np.arange(200) % 40, strict=True))) == 40


def test_near_copies_of_one_text_are_reported():
    """The weights of terms do not show it: what all documents share has none."""
    rng = np.random.default_rng(0)
    names = [f"name{n}" for n in range(14)]
    text = (
        "the ship left the harbour in the early morning and sailed along the coast until the storm came from the north"
    )
    copies = []
    for _ in range(200):
        words = text.split()
        for place, name in zip(rng.choice(len(words), 2, replace=False), rng.choice(names, 2), strict=True):
            words[place] = name
        copies.append(" ".join(words))
    note = r"(\d+) of 200 documents are nearly copies of each other: they share four fifths of their words"
    notes = DocumentClusterer(3, random_state=0).fit(copies).run_.evidence.warnings
    (count,) = [found[1] for line in notes if (found := re.match(note, line))]
    assert int(count) >= 190
    usual = two().fit(TEXTS * 3).run_.evidence.warnings
    assert not any("nearly copies" in line for line in usual)
