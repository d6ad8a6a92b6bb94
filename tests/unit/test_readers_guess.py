"""Guesses: the column of the text, names in another case, typos, dates and repeated ids."""

import io

import pytest

from grampus.errors import CorpusError
from grampus.text import CorpusWarning, ReadOptions, read_corpus
from grampus.text.readers.dates import normalise_dates, to_iso

CSV = b"""ID,Category,Description,Title,Date
7,sea,"The whale sang a long, low song, which nobody heard.",Whale,06.06.2024
8,air,"Birds sing in the morning, at least in spring.",Bird,7.6.2024
9,sea,"A herring says little, and nothing of note.",Herring,31.12.2023
"""


def read(data=CSV, **options):
    return read_corpus(io.BytesIO(data), format="csv", **options)


def test_the_text_is_the_column_with_the_longest_texts():
    with pytest.warns(CorpusWarning, match=r"^reading the column 'Description' \(text=NAME for another\)\.$"):
        corpus = read()
    assert corpus[1] == ("Birds sing in the morning, at least in spring.", "8", None, "Bird", "2024-06-07")


def test_long_texts_that_repeat_are_no_texts():
    same = "The same long sentence in every row of the table as in a legal notice."
    data = "notice,comment\n" + "".join(f"{same},comment number {n}\n" for n in range(50))
    with pytest.warns(CorpusWarning, match="the column 'comment'"):
        read(data.encode())


def test_names_match_in_another_case_and_typos_get_a_hint():
    assert read(text="description", label="CATEGORY").labels == ("sea", "air", "sea")
    with pytest.raises(
        CorpusError, match=r"must have a column 'Descripton'; its columns are: .*\. Did you mean 'Description'\?"
    ):
        read(text="Descripton")
    with pytest.raises(CorpusError, match=r"line 1 has no column 'txt' \(did you mean 'text'\?\); it has text"):
        read_corpus(io.BytesIO(b'{"text": "a"}'), text="txt")


def test_two_columns_that_differ_in_case_are_two():
    assert read(b"text,Text\na,b\n").texts == ["a"]
    assert read(b"text,Text\na,b\n", text="Text").texts == ["b"]


def test_a_table_without_texts_is_refused():
    with pytest.raises(CorpusError, match="must have a column of texts; its columns are: a, b"):
        read_corpus(io.BytesIO(b'[{"a": 1, "b": 2}]'))


@pytest.mark.parametrize(
    ("written", "iso"),
    [
        ("2024-06-06", "2024-06-06"), ("2024", "2024"), ("2024-06", "2024-06"),
        ("2024-06-06T10:00:00Z", "2024-06-06T10:00:00Z"), ("06.06.2024", "2024-06-06"), ("6.6.24", "2024-06-06"),
        ("6.6.1999 10:30", "1999-06-06T10:30:00"), ("2024/06/07", "2024-06-07"), ("20240607", "2024-06-07"),
        ("31/12/2023", "2023-12-31"), ("7-6-2024", "2024-06-07"), ("7 June 2024", "2024-06-07"),
        ("7th June, 2024", "2024-06-07"), ("June 7, 2024", "2024-06-07"), ("Jun 7 2024", "2024-06-07"),
        ("Friday, 7 June 2024", "2024-06-07"), ("7. Juni 2024", "2024-06-07"), ("7 juillet 2024", "2024-07-07"),
        ("7 de março de 2024", "2024-03-07"), ("1er août 2024", "2024-08-01"),
        ("Fri, 07 Jun 2024 09:30:00 +0000", "2024-06-07T09:30:00+00:00"),
        ("1717752600", "2024-06-07T09:30:00+00:00"), ("soon", None), ("31.02.2024", None), ("99/99/2024", None),
        ("", None),
    ],
)  # fmt: skip
def test_dates_in_their_usual_forms(written, iso):
    assert to_iso(written, day_first=True) == iso


def test_other_dates_tell_where_the_day_is():
    assert normalise_dates(["03/04/2024", "03/31/2024"], None) == (["2024-03-04", "2024-03-31"], [])
    assert normalise_dates(["03/04/2024", "31/03/2024"], None) == (["2024-04-03", "2024-03-31"], [])
    assert normalise_dates(["03/04/2024"], False) == (["2024-03-04"], [])
    dates, notes = normalise_dates(["03/04/2024", "soon", ""], None)
    assert dates == ["2024-04-03", "soon", ""]
    assert notes == [
        "dates such as 03/04/2024 were read with the day first (day_first=False for the month)",
        "1 of 3 dates are in a form that is not known, such as 'soon'",
    ]
    assert "some the month" in normalise_dates(["31/03/2024", "03/31/2024"], None)[1][0]


def test_doubtful_dates_are_noted():
    data = b"text,date\nwhale,03/04/2024\n"
    with pytest.warns(CorpusWarning, match="day first"):
        assert read(data).dates == ["2024-04-03"]
    assert read(data, options=ReadOptions(day_first=False)).dates == ["2024-03-04"]


def test_missing_texts_are_counted():
    corpus = read_corpus(io.BytesIO(b'[{"text": "a"}, {"text": null}, {"text": ""}]'))
    assert corpus.notes == ("1 of 3 texts are missing (null).",)
    assert corpus.skipped == {"empty text": 2}


@pytest.mark.filterwarnings("ignore::grampus.text.CorpusWarning")
def test_text_names_the_column_of_the_tables_of_a_folder(tmp_path):
    (tmp_path / "a.csv").write_text("id,body,note\n1,whale,a longer remark on it\n2,bird,another long remark\n")
    (tmp_path / "b.csv").write_text("x,y\nlong text that is not meant,b\n")
    (tmp_path / "c.txt").write_text("plain")
    corpus = read_corpus(tmp_path, text="Body")
    assert list(corpus.texts) == ["whale", "bird", "plain"]
    assert [file.path for file in corpus.files if file.reason] == ["b.csv"]
    assert next(iter(read_corpus(tmp_path, text=["note", "body"]).texts)) == "a longer remark on it\n\nwhale"
    with pytest.raises(CorpusError, match=r"must hold a table with a column 'bodi': a\.csv .* Did you mean 'body'\?"):
        read_corpus(tmp_path, text="bodi")
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).unlink()
    with pytest.raises(CorpusError, match="must hold a table with a column 'body'"):
        read_corpus(tmp_path, text="body")
