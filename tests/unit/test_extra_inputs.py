"""Word vectors and embeddings next to terms: the kernel, the notes, the run, new documents, a saved run."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest

import grampus
from grampus import DocumentClusterer
from grampus.documents import Effort
from grampus.documents.given.extra_inputs import COMBINED, TERMS, combined_kernel
from grampus.errors import InputError
from grampus.kernels import parse_kernel
from grampus.text import Corpus, Embedder, TermVectorizer, load_vectors
from grampus.text.embed.maker import EmbeddingInput
from grampus.text.vectors.registry import add_vectors

from .test_vectors import static_model

SEA, SKY = ["whale", "dolphin", "seal", "orca", "shark"], ["bird", "eagle", "robin", "crow", "owl"]
QUICK = Effort(stability=False, n_init=2)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("GRAMPUS_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def tiny(tmp_path):
    """Vectors in which the animals of the sea are alike, and those of the sky."""
    rng = np.random.default_rng(0)
    path = tmp_path / "tiny.txt"
    lines = [f"common {' '.join(['0.1'] * 6)}"]
    for side, words in enumerate((SEA, SKY)):
        lines += [f"{word} {' '.join(map(str, rng.normal(size=6) / 9 + np.eye(6)[side]))}" for word in words]
    path.write_text("\n".join(lines) + "\n")
    return path


def texts():
    """Return texts of two topics that share no words within a topic but one, and a word with everything."""
    return [f"{word} common {noise}" for words in (SEA, SKY) for word in words for noise in ("xx", "yy", "zz", "xx yy")]


TRUE = np.repeat([0, 1], 20)


def same(labels, truth=TRUE):
    return grampus.metrics.ari(truth, labels) == 1


def test_vectors_find_what_terms_cannot(tiny):
    assert not same(DocumentClusterer(2, effort=QUICK).fit(texts()).labels_)
    model = DocumentClusterer(2, vectors=tiny, effort=QUICK).fit(texts())
    assert same(model.labels_)
    run = model.run_
    assert run.provenance.kernel == "0.7 * cosine|principal(30)|normalise + 0.3 * cosine@vectors"
    assert run.provenance.parameters["inputs"] == {"vectors": {"name": str(tiny), "sha256": load_vectors(tiny).sha256}}
    note = next(note for note in run.evidence.warnings if "no vector" in note)
    assert "of the different ones" in note
    assert {"whale", "bird"} & {term.text for cluster in model.clusters_ for term in cluster.terms}  # names are words
    assert model.predict(["an eagle", "a shark and an orca"]).tolist() == [model.labels_[20], model.labels_[0]]


def test_a_saved_run_needs_no_file_of_vectors(tiny, tmp_path):
    model = DocumentClusterer(2, vectors=str(tiny), effort=QUICK).fit(texts())
    model.save(tmp_path / "run")
    new = ["an eagle", "a shark", "nothing known"]
    expected = model.assign(new)
    tiny.unlink()
    again = grampus.load(tmp_path / "run")
    found = again.assign(new)
    np.testing.assert_array_equal(found.labels, expected.labels)
    np.testing.assert_array_equal(found.margin, expected.margin)
    assert found.known.tolist() == [True, True, False]
    assert again.vectors == str(tiny)
    copied = pickle.loads(pickle.dumps(again.predictor_.makers))
    assert copied["vectors"].words_ == sorted([*SEA, *SKY, "common"])


def test_the_order_of_documents_does_not_matter(tiny):
    order = np.random.default_rng(3).permutation(40)
    every = texts()
    labels = DocumentClusterer(3, vectors=tiny, effort=QUICK).fit(every).labels_
    shuffled = DocumentClusterer(3, vectors=tiny, effort=QUICK).fit([every[i] for i in order]).labels_
    np.testing.assert_array_equal(shuffled, labels[order])


def topics(batch):
    """Embed a text by its topic."""
    return np.array([[sum(w in text for w in SEA), sum(w in text for w in SKY), 0.1] for text in batch], float)


def test_embeddings_of_a_function(tmp_path):
    steps = []
    model = DocumentClusterer(2, embed=topics, effort=QUICK)
    model.fit(texts(), progress=lambda step, done, total: steps.append(step))
    assert same(model.labels_)
    assert "embedding" in steps
    assert model.run_.provenance.kernel == "0.15 * cosine|principal(30)|normalise + 0.85 * cosine@embedding"
    assert model.run_.provenance.parameters["inputs"] == {
        "embedding": {"name": "topics", "kind": "function", "sha256": None}
    }
    assert model.predict(["an eagle"]) == model.labels_[20]
    assert any("a function cannot be stored" in note for note in model.run_.evidence.warnings)
    model.save(tmp_path / "run")
    assert grampus.load(tmp_path / "run").embed is None


def test_a_saved_run_finds_its_model_again(tmp_path):
    folder = static_model(tmp_path / "model", np.array([[0, 0], [1, 0], [1, 0.2], [0, 1]], np.float32))
    every = [f"{word} common {noise}" for word in ("whale", "whales", "bird") for noise in ("xx", "yy", "zz")]
    model = DocumentClusterer(2, embed=folder, effort=QUICK).fit(every)
    assert same(model.labels_, [0] * 6 + [1] * 3)
    assert len(model.run_.provenance.parameters["inputs"]["embedding"]["sha256"]) == 64
    model.save(tmp_path / "run")
    again = grampus.load(tmp_path / "run")
    np.testing.assert_array_equal(again.predict(["whales", "a bird"]), model.predict(["whales", "a bird"]))
    with pytest.raises(ValueError, match="digest"):
        EmbeddingInput.unpack({"model": str(folder), "sha256": None}, {})
    static_model(folder, np.eye(4, 2, dtype=np.float32))
    with pytest.raises(InputError, match="has changed"):
        grampus.load(tmp_path / "run").predict(["whales"])


def test_makers_are_pickled_without_the_set_and_the_model(tiny, tmp_path):
    folder = static_model(tmp_path / "model", np.eye(4, 2, dtype=np.float32))
    model = DocumentClusterer(2, vectors=load_vectors(tiny), embed=Embedder(folder), effort=QUICK).fit(texts())
    data = pickle.dumps((model.predictor_.makers, model.vectors, model.embed))
    assert len(data) < 5000
    makers, vectors, embedder = pickle.loads(data)
    new = Corpus(["an eagle and a whale"])
    for name in ("vectors", "embedding"):
        np.testing.assert_array_equal(makers[name].transform(new), model.predictor_.makers[name].transform(new))
    assert (vectors.sha256, embedder.sha256) == (load_vectors(tiny).sha256, Embedder(folder).sha256)


def test_both_at_once_and_the_choice_of_k(tiny):
    model = DocumentClusterer(vectors=load_vectors(tiny), embed=Embedder(topics), effort=Effort(ks=(2, 3), n_splits=4))
    assert model.choose(texts()).best == 2
    model.set_params(n_clusters=2).fit(Corpus(texts()))
    assert same(model.labels_)
    assert set(model.run_.provenance.parameters["inputs"]) == {"vectors", "embedding"}
    assert json.dumps(model.run_.provenance.parameters)


def test_an_input_of_the_corpus_is_added_by_default():
    corpus = Corpus(texts()).with_input("embedding", topics(texts()))
    model = DocumentClusterer(2, effort=QUICK).fit(corpus)
    assert same(model.labels_)
    assert "@embedding" in model.run_.provenance.kernel


def test_kernels_that_read_what_was_asked_for(tiny):
    model = DocumentClusterer(2, kernel="cosine@vectors", vectors=tiny, effort=QUICK).fit(texts())
    assert same(model.labels_)
    with pytest.raises(InputError, match="vectors must be read by the kernel"):
        DocumentClusterer(2, kernel="cosine", vectors=tiny).fit(texts())
    with pytest.raises(InputError, match="embed must be read by the kernel"):
        DocumentClusterer(2, kernel="cosine@vectors", vectors=tiny, embed=topics).fit(texts())
    with pytest.raises(InputError, match="need texts"):
        DocumentClusterer(2, vectors=tiny).fit(np.eye(4))
    with pytest.raises(InputError, match="there is no"):
        DocumentClusterer(2, vectors="no such set").fit(texts())
    for spelling in COMBINED.values():
        assert str(parse_kernel(spelling)) == spelling
    assert str(combined_kernel(parse_kernel("cosine|principal( auto )|normalise"), {"vectors"}, set())) != TERMS
    with pytest.raises(InputError, match="vectors must be read"):  # not the default: what was asked for is kept
        combined_kernel(parse_kernel("cosine|principal(30)|normalise"), {"vectors"}, set())


def test_words_are_split_as_for_the_terms(tiny):
    words = TermVectorizer("lec", stop_words=[*SKY, "common"], dtype=np.float64)
    model = DocumentClusterer(2, terms=words, vectors=tiny, effort=QUICK).fit(texts())
    assert model.predictor_.makers["vectors"].coverage_.unknown_documents == 20


def test_a_set_at_hand_is_mentioned_and_changes_nothing(tiny):
    before = DocumentClusterer(2, effort=QUICK).fit(texts())
    add_vectors("tiny", tiny)
    after = DocumentClusterer(2, effort=QUICK).fit(texts())
    np.testing.assert_array_equal(after.labels_, before.labels_)
    extra = set(after.run_.evidence.warnings) - set(before.run_.evidence.warnings)
    assert len(extra) == 1
    assert "vectors='tiny'" in extra.pop()
    assert not any(
        "at hand" in note for note in DocumentClusterer(2, vectors="tiny").fit(texts()).run_.evidence.warnings
    )
