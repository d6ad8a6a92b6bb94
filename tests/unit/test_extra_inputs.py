"""Embeddings next to terms: the kernel, the notes, the run, new documents, a saved run."""

import json
import pickle
from pathlib import Path

import numpy as np
import pytest

import grampus
from grampus import DocumentClusterer
from grampus.documents import Effort, update_run
from grampus.documents.given.extra_inputs import TERMS, combined_kernel, make_input, weighted_kernel
from grampus.errors import InputError, RunError
from grampus.kernels import parse_kernel
from grampus.persist import Edit, Run
from grampus.text import Corpus, Embedder, TermVectorizer
from grampus.text.cache import file_digest
from grampus.text.embed.maker import EmbeddingInput

from .test_vectors import static_model

GOLDEN = Path(__file__).parents[1] / "golden"
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
    assert not same(DocumentClusterer(2, embed=None, effort=QUICK).fit(texts()).labels_)
    model = DocumentClusterer(2, embed=tiny, effort=QUICK).fit(texts())
    assert same(model.labels_)
    run = model.run_
    assert run.provenance.kernel == "0.7 * cosine|principal(30)|normalise + 0.3 * cosine@embedding"
    record = {"name": str(tiny), "kind": "vectors", "sha256": file_digest(tiny)}
    assert run.provenance.parameters["inputs"] == {"embedding": record}
    note = next(note for note in run.evidence.warnings if "no vector" in note)
    assert "of the different ones" in note
    assert {"whale", "bird"} & {term.text for cluster in model.clusters_ for term in cluster.terms}  # names are words
    assert model.predict(["an eagle", "a shark and an orca"]).tolist() == [model.labels_[20], model.labels_[0]]


def test_a_saved_run_needs_no_file_of_vectors(tiny, tmp_path):
    model = DocumentClusterer(2, embed=str(tiny), effort=QUICK).fit(texts())
    model.save(tmp_path / "run")
    new = ["an eagle", "a shark", "nothing known"]
    expected = model.assign(new)
    tiny.unlink()
    again = grampus.load(tmp_path / "run")
    found = again.assign(new)
    np.testing.assert_array_equal(found.labels, expected.labels)
    np.testing.assert_array_equal(found.margin, expected.margin)
    assert found.known.tolist() == [True, True, False]
    assert again.embed == str(tiny)
    copied = pickle.loads(pickle.dumps(again.predictor_.makers))
    assert copied["embedding"].words_ == sorted([*SEA, *SKY, "common"])


def test_the_order_of_documents_does_not_matter(tiny):
    order = np.random.default_rng(3).permutation(40)
    every = texts()
    labels = DocumentClusterer(3, embed=tiny, effort=QUICK).fit(every).labels_
    shuffled = DocumentClusterer(3, embed=tiny, effort=QUICK).fit([every[i] for i in order]).labels_
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


def test_makers_are_pickled_without_the_file_and_the_model(tiny, tmp_path):
    folder = static_model(tmp_path / "model", np.eye(4, 2, dtype=np.float32))
    for embed in (tiny, Embedder(folder)):
        model = DocumentClusterer(2, embed=embed, effort=QUICK).fit(texts())
        data = pickle.dumps((model.predictor_.makers, model.embed))
        assert len(data) < 5000
        maker, new = pickle.loads(data)[0]["embedding"], Corpus(["an eagle and a whale"])
        np.testing.assert_array_equal(maker.transform(new), model.predictor_.makers["embedding"].transform(new))


def test_the_choice_of_k(tiny):
    model = DocumentClusterer(embed=tiny, effort=Effort(ks=(2, 3), n_splits=4))
    assert model.choose(texts()).ranking[0] == 2
    model.set_params(n_clusters=2).fit(Corpus(texts()))
    assert same(model.labels_)
    assert json.dumps(model.run_.provenance.parameters)


def test_an_input_of_the_corpus_is_added_by_default():
    corpus = Corpus(texts()).with_input("embedding", topics(texts()))
    model = DocumentClusterer(2, effort=QUICK).fit(corpus)
    assert same(model.labels_)
    assert "@embedding" in model.run_.provenance.kernel


def test_kernels_that_read_what_was_asked_for(tiny):
    model = DocumentClusterer(2, kernel="cosine@embedding", embed=tiny, effort=QUICK).fit(texts())
    assert same(model.labels_)
    for embed in (tiny, topics):
        with pytest.raises(InputError, match="embed must be read by the kernel"):
            DocumentClusterer(2, kernel="cosine", embed=embed).fit(texts())
        with pytest.raises(InputError, match="embed needs texts"):
            DocumentClusterer(2, embed=embed).fit(np.eye(4))
    with pytest.raises(InputError, match="there is no"):
        DocumentClusterer(2, embed="no such file.txt").fit(texts())
    maker = make_input(tiny, parse_kernel(TERMS), Corpus(texts()), None)
    assert combined_kernel(parse_kernel("cosine|principal( auto )|normalise"), maker, set()) == weighted_kernel(0.7)
    assert combined_kernel(parse_kernel(TERMS), maker, {"embedding"}) == weighted_kernel(0.15)  # the rows given win
    with pytest.raises(InputError, match="embed must be read"):  # not the default: what was asked for is kept
        combined_kernel(parse_kernel("cosine|principal(30)|normalise"), maker, set())


def test_words_are_split_as_for_the_terms(tiny):
    words = TermVectorizer("lec", stop_words=[*SKY, "common"], dtype=np.float64)
    model = DocumentClusterer(2, terms=words, embed=tiny, effort=QUICK).fit(texts())
    assert model.predictor_.makers["embedding"].coverage_.unknown_documents == 20


def test_a_run_of_0_2_with_word_vectors_assigns_and_says_what_is_gone():
    run = Run.load(GOLDEN / "run-2-vectors")
    assert "Word vectors by name are gone" in run.evidence.warnings[-1]
    model = DocumentClusterer.of_run(run)
    assert same(model.labels_, np.repeat([0, 1], 10))
    assert model.embed is None
    assert model.predict(["an eagle", "a shark"]).tolist() == [model.labels_[10], model.labels_[0]]
    assert run.edited(Edit("rename", (0,), name="Sea")).evidence.clusters[0].name == "Sea"
    with pytest.raises(RunError, match="cannot be updated: it compares word vectors"):
        update_run(run, ["a new whale"])
