"""What Python users hand over and get back: lists with gaps, mappings, arrays of strings, pipelines, grid searches."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.decomposition import TruncatedSVD
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import grampus
from grampus import DocumentClusterer
from grampus.datasets import scipy_docstrings
from grampus.documents import Effort, predict_cost, update_run
from grampus.errors import InputError

TEXTS = ["whale song", "whales sing songs", "song of whales", "bird nest", "nests of birds", "nesting birds"]
GROUPS = [0, 0, 0, 1, 1, 1]


def two(**options):
    return DocumentClusterer(2, effort=Effort(stability=False, n_init=3), **options)


@pytest.mark.parametrize("gap", [None, float("nan"), np.nan, ""], ids=["None", "NaN", "numpy NaN", "blank"])
def test_a_gap_in_a_list_is_a_row_without_a_text(gap):
    model = two().fit([*TEXTS[:3], gap, *TEXTS[3:]])
    assert model.labels_.tolist() == [0, 0, 0, -1, 1, 1, 1]
    assert model.predict([gap, "whales"]).tolist() == [-1, 0]
    assert "1 row has no text: in no cluster (label −1)." in model.run_.evidence.warnings


def test_nothing_but_blank_texts_are_assigned_to_none():
    model = two().fit(TEXTS)
    assert model.predict(["", None]).tolist() == [-1, -1]
    assert model.transform([""]).tolist() == [[0.0, 0.0]]


def test_pandas_na_in_a_list_is_a_row_without_a_text():
    pandas = pytest.importorskip("pandas")
    assert two().fit([pandas.NA, *TEXTS]).labels_.tolist() == [-1, *GROUPS]


def test_nothing_but_gaps_is_refused():
    with pytest.raises(InputError, match="X must have a text for some document; got none"):
        two().fit([None, None])


@pytest.mark.parametrize(
    "given",
    [
        np.array(TEXTS),
        np.array(TEXTS, dtype=object),
        np.array(TEXTS, dtype=object)[:, None],
        (text for text in TEXTS),
        tuple(TEXTS),
    ],
    ids=["U", "object", "one column", "generator", "tuple"],
)
def test_texts_are_taken_in_any_sequence(given):
    assert two().fit(given).labels_.tolist() == GROUPS


if hasattr(np.dtypes, "StringDType"):  # NumPy 2 or later

    def test_variable_width_strings_are_taken():
        assert two().fit(np.array(TEXTS, dtype=np.dtypes.StringDType())).labels_.tolist() == GROUPS
        gaps = np.array([*TEXTS, None], dtype=np.dtypes.StringDType(na_object=None))
        assert two().fit(gaps).labels_.tolist() == [*GROUPS, -1]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([text.encode() for text in TEXTS], r"number 0 is bytes. Decode them first: text.decode\('utf-8'\)"),
        (np.array([text.encode() for text in TEXTS]), "number 0 is bytes"),
        ([*TEXTS, b"whale"], "number 6 is bytes"),
        ([text.split() for text in TEXTS], r"number 0 is a list. Join its words first: ' '.join\(words\)"),
        ({"text": TEXTS}, "number 0 is a list"),
        (np.array(TEXTS).reshape(-1, 2), r"one text for each document; got texts of shape \(3, 2\)"),
        (["", " "], "no document has a usable word"),
        (Path("papers"), r"got a path. Read the file or folder first: grampus.read_corpus\(path\)"),
        ([Path("a.txt"), Path("b.txt")], "number 0 is a path. Read the files first"),
        (set(TEXTS), "X must have an order, that of the labels; got a set"),
        ({"a": 1}, "X must have a text for some document"),
    ],
    ids=[
        "bytes",
        "array of bytes",
        "bytes among texts",
        "lists of words",
        "columns",
        "two columns",
        "blanks",
        "path",
        "paths",
        "set",
        "mapping of numbers",
    ],
)
def test_what_holds_no_texts_is_refused_in_a_sentence(given, message):
    with pytest.raises(InputError, match=message):
        two().fit(given)


def test_a_lazy_frame_is_refused_with_the_remedy():
    polars = pytest.importorskip("polars")
    with pytest.raises(InputError, match=r"got a LazyFrame, which holds no rows yet. Give X.collect\(\)"):
        two().fit(polars.DataFrame({"text": TEXTS}).lazy())


def test_the_keys_of_a_mapping_are_the_ids():
    given = {f"mail-{n}": text for n, text in enumerate(TEXTS)} | {"empty": None}
    model = two().fit(given)
    assert list(model.run_.documents.ids) == list(given)
    assert model.labels_.tolist() == [*GROUPS, -1]
    assert predict_cost(two(), given).documents == 7
    run = update_run(two().fit({key: given[key] for key in list(given)[:6]}).run_, {"mail-9": "a song of whales"})
    assert list(run.documents.ids) == [*list(given)[:6], "mail-9"]


def test_a_frame_of_a_mapping_has_its_keys():
    pytest.importorskip("pandas")
    model = two().fit(dict(zip(range(10, 16), TEXTS, strict=True)))
    assert model.to_frame().index.tolist() == list(range(10, 16))
    assert model.assign({7: "whale"}).to_frame().index.tolist() == [7]


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_a_frame_comes_back_in_its_own_library_and_joins_by_row(library):
    module = pytest.importorskip(library)
    make = module.table if library == "pyarrow" else module.DataFrame
    frame = make({"id": [9, 8, 7, 6, 5, 4], "text": TEXTS})
    model = two().fit(frame)
    found, assigned = model.to_frame(), model.assign(frame).to_frame()
    assert isinstance(found, type(frame))
    assert isinstance(assigned, type(frame))
    assert list(found["cluster"].to_pylist() if library == "pyarrow" else found["cluster"]) == GROUPS
    for table in ("clusters", "tree", "levels", "duplicates", "choice"):
        assert isinstance(model.to_frame(table), type(frame))
    if library == "polars":
        joined = frame.hstack(found)
        assert joined["id"].to_list() == [9, 8, 7, 6, 5, 4]
        assert model.to_frame("clusters").columns[:2] == ["cluster", "name"]


def test_frames_of_rows_come_back_in_the_library_of_their_texts():
    polars = pytest.importorskip("polars")
    rows = np.repeat(np.eye(2, 4), 3, axis=0) + 0.01 * np.arange(24).reshape(6, 4)
    found = two(kernel="cosine").fit(rows, corpus=polars.DataFrame({"text": TEXTS})).to_frame()
    assert isinstance(found, polars.DataFrame)


def test_a_pipeline_names_clusters_by_its_features():
    pipeline = make_pipeline(TfidfVectorizer(), two())
    pipeline.fit(TEXTS)
    features = {*pipeline[0].get_feature_names_out()}
    assert {cluster.name.casefold() for cluster in pipeline[-1].clusters_} <= features
    assert pipeline.predict(["whales"]).tolist() in ([0], [1])
    labels = clone(pipeline).fit_predict(TEXTS)
    assert labels.tolist() == pipeline[-1].labels_.tolist()


def test_fit_predict_of_a_pipeline_knows_the_features_too():
    pipeline = make_pipeline(TfidfVectorizer(), two())
    pipeline.fit_predict(TEXTS)
    assert not any(cluster.name.startswith("#") for cluster in pipeline[-1].clusters_)


def test_a_matrix_outside_a_pipeline_has_numbered_columns():
    assert two().fit(TfidfVectorizer().fit_transform(TEXTS)).clusters_[0].name.startswith("#")


def test_a_pipeline_of_dense_rows_works():
    pipeline = make_pipeline(TfidfVectorizer(), TruncatedSVD(3, random_state=0), two(kernel="cosine"))
    assert len(pipeline.fit_predict(TEXTS)) == 6


@pytest.mark.slow
def test_a_grid_search_needs_no_scorer(tmp_path):
    texts = list(scipy_docstrings().texts)[:80]
    search = GridSearchCV(DocumentClusterer(embed=None), {"n_clusters": [2, 9]}, cv=2).fit(texts)
    assert search.best_params_["n_clusters"] in (2, 9)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert 0 < search.best_score_ <= 1
    best = search.best_estimator_
    assert best.score(texts) == pytest.approx(
        np.mean([best.clusters_[label].stability for label in best.predict(texts)])
    )
    assert best.score([]) == 0.0
    best.save(tmp_path / "run")
    assert grampus.load(tmp_path / "run").score(texts) == best.score(texts)


def test_a_fitted_clusterer_says_what_it_found():
    model = two().set_params(embed=None)  # names by words, with and without the extra [meaning]
    assert repr(model).startswith("DocumentClusterer(")
    model.fit(TEXTS)
    assert repr(model) == "<DocumentClusterer: 6 documents in 2 clusters: Song (3), Nest (3)>"
    assert model.fit(TEXTS).run_.provenance.command.startswith("DocumentClusterer(")  # fitted a second time
    many = DocumentClusterer(10, effort=Effort(stability=False)).fit([f"word{n} term{n}" for n in range(10)] * 2)
    assert "and 2 more>" in repr(many)
    assert repr(model.branches_[1]) == "<Branch 1: Song (3) in 0>"


def test_the_package_shows_what_is_public():
    assert {name for name in dir(grampus) if name.startswith("_")} == {"__version__"}
    assert {*grampus.__all__, "metrics", "plots", "text"} <= {*dir(grampus)}
    assert all(getattr(grampus, name) is not None for name in dir(grampus))
    assert not {"TYPE_CHECKING", "annotations", "Any"} & {*dir(grampus), *dir(grampus.text)}


def test_confidence_is_there_after_loading(tmp_path):
    texts = list(scipy_docstrings().texts)[:120]
    model = DocumentClusterer(3, embed=None, effort=Effort(stability=False)).fit([*texts, texts[0]])
    model.save(tmp_path / "run")
    again = grampus.load(tmp_path / "run")
    assert model.confidence_.shape == (121,)
    np.testing.assert_array_equal(again.confidence_, model.confidence_)
    spectral = DocumentClusterer(3, embed=None, method="pddp", effort=Effort(stability=False)).fit(texts)
    spectral.save(tmp_path / "other")
    assert grampus.load(tmp_path / "other").confidence_ is None


def test_memberships_are_features_of_another_model(tmp_path):
    classes = [0, 0, 0, 1, 1, 1]
    pipeline = make_pipeline(two(), LogisticRegression()).fit(TEXTS, classes)
    assert pipeline.predict(["whales", "birds"]).tolist() == [0, 1]
    model = pipeline[0]
    shares = model.transform(["whales", None, "xyzzy"])
    assert shares.shape == (3, 2)
    assert shares[0].sum() == pytest.approx(1.0)
    assert shares[0].argmax() == model.predict(["whales"])[0]
    assert shares[1].tolist() == [0.0, 0.0]
    np.testing.assert_allclose(shares[0], model.assign(["whales"]).memberships[0])
    assert model.get_feature_names_out().tolist() == [cluster.name for cluster in model.clusters_]
    model.save(tmp_path / "run")
    np.testing.assert_allclose(grampus.load(tmp_path / "run").transform(["whales"]), shares[:1])
    with pytest.raises(NotFittedError):
        two().transform(TEXTS)


def test_memberships_are_a_frame_with_the_names_of_clusters():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"text": TEXTS}, index=list("abcdef"))
    model = two().set_output(transform="pandas")
    found = model.fit_transform(frame)
    assert found.index.tolist() == list("abcdef")
    assert list(found.columns) == [cluster.name for cluster in model.clusters_]
