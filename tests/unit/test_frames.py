"""Data frames in, data frames out: a document for every row, and results that join back on the index."""

import numpy as np
import pytest

import grampus
from grampus import DocumentClusterer, read_corpus
from grampus.documents import Effort
from grampus.errors import CorpusError, InputError
from grampus.text import CorpusWarning

pandas = pytest.importorskip("pandas")

TEXTS = ["whale song", "whales sing a song", None, "a song of whales", "bird nest", "  ", "a nest of birds", "nests"]
LIBRARIES = ["pandas", "polars", "pyarrow"]
EXPECTED = [0, 0, -1, 0, 1, -1, 1, 1]


def frame(library="pandas", **columns):
    module = pytest.importorskip(library)
    columns = {"n": list(range(8)), "Body": TEXTS} | columns
    return module.table(columns) if library == "pyarrow" else module.DataFrame(columns)


def two(**options):
    return DocumentClusterer(2, effort=Effort(stability=False, n_init=3), **options)


def same_groups(labels):
    """Labels with the group of the first document called 0; −1 stays."""
    first = labels[0]
    return [label if label < 0 else int(label != first) for label in labels.tolist()]


@pytest.mark.parametrize("library", LIBRARIES)
def test_every_row_has_a_label_and_rows_without_text_are_in_no_cluster(library):
    given = frame(library)
    model = two().fit(given, text="body")
    assert same_groups(model.labels_) == EXPECTED
    assert sum(cluster.size for cluster in model.clusters_) == 6
    assert model.branches_[0].size == 6
    assert "2 rows have no text: in no cluster (label −1)." in model.run_.evidence.warnings
    assert "1 of 8 texts are missing (null)." in model.run_.evidence.warnings
    assert not any("known term" in note for note in model.run_.evidence.warnings)
    assert same_groups(model.predict(given)) == EXPECTED
    assert not {2, 5} & {i for c in model.clusters_ for i in (*c.central, *c.borderline, *c.outliers)}


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_column_is_clustered(library):
    whole = frame(library)
    column = whole.column("Body") if library == "pyarrow" else whole["Body"]
    model = two().fit(column)
    assert same_groups(model.labels_) == EXPECTED
    assert same_groups(model.predict(column)) == EXPECTED


@pytest.mark.parametrize("kind", [list, tuple, np.array, iter])
def test_a_blank_text_of_a_list_is_a_row_without_a_text(kind):
    texts = [text or "" for text in TEXTS]
    model = two().fit(kind(texts))
    assert model.labels_.tolist() == two().fit(frame(), text="Body").labels_.tolist()
    assert model.predict(kind(texts)).tolist() == model.labels_.tolist()
    assert "2 rows have no text: in no cluster (label −1)." in model.run_.evidence.warnings


def test_other_documents_without_a_known_term_are_still_reported():
    model = two(embed=None).fit(frame(Body=[*TEXTS[:7], "of the"]), text="Body")
    assert (model.labels_ < 0).sum() == 3
    assert any(
        note == "1 document has no usable word: in no cluster (label −1)." for note in model.run_.evidence.warnings
    )


def test_the_text_is_guessed_aloud_and_remembered(tmp_path):
    with pytest.warns(CorpusWarning, match="reading the column 'Body'"):
        model = two().fit(frame())
    assert model.run_.provenance.columns == {"text": "Body"}
    new = frame(longer=["birds and nests and much else besides"] * 8)
    assert same_groups(model.predict(new)) == EXPECTED  # the fitted column, not the longest
    assert model.predict(new, text="longer").tolist() == [model.labels_[4]] * 8
    model.save(tmp_path / "run")
    assert same_groups(grampus.load(tmp_path / "run").predict(new)) == EXPECTED
    assert two().fit(frame()["Body"]).run_.provenance.columns == {"text": "Body"}


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_frame_of_numbers_is_a_matrix(library):
    rows = np.repeat([[0.0, 1.0], [1.0, 0.0]], 4, axis=0) + np.arange(16).reshape(8, 2) / 100
    columns = {"x": rows[:, 0], "y": rows[:, 1]}
    module = pytest.importorskip(library)
    given = module.table(columns) if library == "pyarrow" else module.DataFrame(columns)
    model = two().fit(given, corpus=frame(library), text="Body")
    assert np.array_equal(model.labels_, two().fit(rows).labels_)
    assert any("whale" in " ".join((c.name, *c.words)).lower() for c in model.clusters_)
    assert np.array_equal(model.predict(given), model.labels_)


def test_embeddings_take_texts_of_every_kind():
    rows = np.random.default_rng(0).normal(size=(8, 3))
    texts = [text or "" for text in TEXTS]
    models = [two().fit(rows, corpus=each) for each in (grampus.Corpus(texts), texts, frame()["Body"])]
    names = [[cluster.name for cluster in model.clusters_] for model in models]
    assert names[0] == names[1] == names[2]
    assert (models[2].labels_ >= 0).all()  # a row without a text still has a vector


def test_results_join_back_on_the_index():
    given = frame(kind=["sea"] * 4 + ["air"] * 4).set_index(pandas.date_range("2024-01-01", periods=8))
    model = two().fit(given, text="Body")
    both = given.join(model.to_frame())
    assert both["cluster"].tolist() == model.labels_.tolist()
    assert both["name"].isna().tolist() == (model.labels_ < 0).tolist()
    assert model.to_frame().index.equals(given.index)
    assert both.loc[given.index[0], "name"] == model.clusters_[model.labels_[0]].name
    assigned = model.assign(given.iloc[[0, 2, 4]]).to_frame()
    assert assigned.index.equals(given.index[[0, 2, 4]])
    assert assigned["cluster"].tolist() == model.labels_[[0, 2, 4]].tolist()
    assert assigned["name"].iloc[0] == both["name"].iloc[0]


def test_a_saved_run_has_ids_and_takes_an_index(tmp_path):
    given = frame().set_index(pandas.Index(range(10, 18)))
    two().fit(given, text="Body").save(tmp_path / "run")
    again = grampus.load(tmp_path / "run")
    assert again.to_frame().index.tolist() == [str(n) for n in range(10, 18)]
    assert given.join(again.to_frame(index=given.index))["cluster"].tolist() == again.labels_.tolist()
    with pytest.raises(InputError, match="a value for each of the 8 documents; got 3"):
        again.to_frame(index=[1, 2, 3])


def test_every_table_of_a_run():
    things = ("whale song deep sea", "bird nest high tree", "deep sea whale", "tree bird")
    texts = [f"{thing} {word}" for thing in things for word in ("grey", "old", "young", "tired", "old")]
    model = DocumentClusterer("auto", effort=Effort(ks=(2, 3), scheme="KKM-S", n_splits=4, null=False)).fit(texts)
    run = model.run_
    clusters = run.to_frame("clusters")
    assert clusters["size"].tolist() == [cluster.size for cluster in model.clusters_]
    assert clusters.index.name == "cluster"
    levels = run.to_frame("levels")
    assert levels.columns.tolist() == [column for level in run.levels for column in (level, f"{level}_name")]
    assert levels[run.levels[-1]].tolist() == run.level_labels(run.levels[-1]).tolist()
    tree = run.to_frame("tree")
    assert tree["parent"].tolist() == [branch.parent for branch in model.branches_]
    pairs = run.to_frame("duplicates")
    assert pairs["first"].tolist() == [run.documents.ids[i] for i in model.duplicates_[:, 0]]
    assert (pairs["similarity"] >= 0.9).all()
    choice = run.to_frame("choice")
    assert choice.equals(model.choice_.to_frame())
    assert choice.index.tolist() == [2, 3]
    assert "chosen" in choice["standing"].tolist()
    assert len(two().fit(texts).to_frame("choice")) == 0
    with pytest.raises(InputError, match="table must be one of 'documents', 'levels', 'clusters'"):
        run.to_frame("documnets")


def test_a_corpus_joins_its_clusters():
    corpus = read_corpus(frame().set_index(pandas.Index(list("abcdefgh"))), text="Body")
    both = corpus.to_frame().join(two().fit(corpus).to_frame())
    assert both["text"].tolist() == [text for text in TEXTS if text and text.strip()]
    assert both["cluster"].notna().all()


@pytest.mark.parametrize(
    ("fit", "error", "message"),
    [
        (lambda: two().fit(frame(), text="boddy"), CorpusError, "Did you mean 'Body'"),
        (lambda: two().fit(["a", "b"], text="Body"), InputError, "must name a column of a data frame; X is of type li"),
        (lambda: two().fit(frame()["n"]), CorpusError, "row 1 must have a string in column 'text'; it has int"),
        (lambda: two().fit(frame(Body=[None] * 8), text="Body"), InputError, "all 8 are missing or empty"),
        (lambda: two().fit(np.eye(8), corpus=grampus.Corpus(["a"] * 8), text="x"), InputError, "corpus is a Corpus"),
        (lambda: two().fit(np.eye(3), corpus=frame()["Body"]), InputError, "each of the 3 rows of X; got 8"),
    ],
)
def test_what_cannot_be_read_is_named(fit, error, message):
    with pytest.raises(error, match=message):
        fit()


def test_missing_rows_under_a_string_kernel():
    model = two(kernel="spectrum(3)|normalise").fit(frame(), text="Body")
    assert len(model.labels_) == 8
    assert set(model.labels_[[2, 5]]) == {-1}


def test_choosing_k_takes_frames():
    many = pandas.DataFrame({"Body": [f"{text} {word}" for text in TEXTS for word in ("grey", "old", "young")]})
    effort = Effort(ks=(2,), scheme="KKM-S", n_splits=2, null=False)
    assert DocumentClusterer(effort=effort).choose(many, text="Body").ks == (2,)
