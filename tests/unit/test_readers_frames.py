"""Data frames in and out: pandas, polars and pyarrow alike."""

import io
import subprocess
import sys
from datetime import date

import pytest

from grampus.errors import CorpusError, InputError
from grampus.text import CorpusWarning, ReadOptions, read_corpus
from grampus.text.frame import from_frame, is_frame

COLUMNS = {
    "Body": ["Whales sing in the deep sea", None, "Birds sing in the air"],
    "Kind": ["sea", "sea", "air"],
    "When": [date(2024, 6, 6), date(2024, 6, 7), None],
}


def frame(library):
    module = pytest.importorskip(library)
    return module.table(COLUMNS) if library == "pyarrow" else module.DataFrame(COLUMNS)


LIBRARIES = ["pandas", "polars", "pyarrow"]


@pytest.mark.parametrize("library", LIBRARIES)
def test_frames(library):
    corpus = read_corpus(frame(library), text="body", label="kind", date="When")
    assert corpus.texts == ["Whales sing in the deep sea", "Birds sing in the air"]
    assert corpus.labels == ("sea", "air")
    assert corpus.dates == ["2024-06-06", ""]
    assert corpus.ids == (["0", "2"] if library == "pandas" else ["1", "3"])
    assert (corpus.skipped, corpus.notes) == ({"empty text": 1}, ("1 of 3 texts are missing (null).",))


@pytest.mark.parametrize("library", LIBRARIES)
def test_columns_are_guessed_and_rows_can_all_be_kept(library):
    with pytest.warns(CorpusWarning, match="reading the column 'Body'"):
        corpus = from_frame(frame(library), options=ReadOptions(empty="keep"))
    assert corpus.texts == ["Whales sing in the deep sea", "", "Birds sing in the air"]


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_column_is_the_text(library):
    whole = frame(library)
    column = whole.column("Body") if library == "pyarrow" else whole["Body"]
    assert is_frame(column)
    assert list(read_corpus(column).texts) == ["Whales sing in the deep sea", "Birds sing in the air"]


def test_the_index_of_a_pandas_frame_is_the_id():
    pandas = pytest.importorskip("pandas")
    given = pandas.DataFrame({"text": ["a b", "c d"], "n": [1, 2]}, index=["x", "y"])
    corpus = read_corpus(given)
    assert corpus.ids == ["x", "y"]
    back = corpus.to_frame().join(given["n"])
    assert back["n"].tolist() == [1, 2]
    assert read_corpus(given.assign(id=["p", "q"])).ids == ["p", "q"]
    with pytest.warns(CorpusWarning, match="1 repeated id was numbered"):
        assert read_corpus(given.set_index(pandas.Index(["x", "x"]))).ids == ["x", "x#2"]


def test_missing_values_of_every_kind():
    pandas = pytest.importorskip("pandas")
    given = pandas.DataFrame({"text": ["a", None, float("nan"), pandas.NA, pandas.NaT]}, dtype=object)
    assert read_corpus(given).notes == ("4 of 5 texts are missing (null).",)


def test_wrong_frames():
    pandas = pytest.importorskip("pandas")
    for wrong, error, message in [
        (pandas.DataFrame([["a", "b"]], columns=["x", "x"]), InputError, "different column names; 'x'"),
        (pandas.DataFrame({"n": [1, 2]}), CorpusError, "the DataFrame must have a column of texts; its columns are: n"),
        (pandas.DataFrame({"text": ["a", 3]}), CorpusError, "row 2 must have a string in column 'text'; it has int"),
        (pandas.DataFrame({"text": []}), CorpusError, "There are no documents in"),
    ]:
        with pytest.raises(error, match=message):
            read_corpus(wrong)
    with pytest.raises(CorpusError, match="Did you mean 'text'"):
        read_corpus(pandas.DataFrame({"text": ["a"]}), text="txet")
    with pytest.raises(InputError, match="format must be left out"):
        read_corpus(pandas.DataFrame({"text": ["a"]}), format="csv")
    with pytest.raises(InputError, match="must be a data frame"):
        from_frame(["a"])


def test_a_corpus_as_a_frame():
    pytest.importorskip("pandas")
    corpus = read_corpus(io.BytesIO(b"id,text,title\na,whale,W\n"), format="csv")
    found = corpus.to_frame()
    assert found.to_dict("index") == {"a": {"text": "whale", "title": "W"}}
    assert found.index.name == "id"


def test_recognising_frames_imports_no_library():
    program = (
        "import sys; from grampus.text.frame import is_frame as i; i([]); print({'pandas', 'polars'} & {*sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
