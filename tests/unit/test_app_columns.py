"""Filters by the columns of the table that documents came from: a document gets its own values, or none."""

from __future__ import annotations

import base64
import csv
import gzip
import json
import sqlite3
import warnings
import zipfile
from datetime import date
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from grampus import DocumentClusterer
from grampus._workbook import xlsx_bytes
from grampus.app import OpenRun, Session, columns
from grampus.app.columns import MOST_COLUMNS, table_columns
from grampus.persist import Documents, Edit
from grampus.report.page import UNKNOWN_DAY
from grampus.text import CorpusWarning, ReadOptions, Texts, read_corpus
from tests.pages import PAYLOADS

N = 40
WORDS = ["whale", "song", "ocean", "tide", "krill", "rose", "soil", "seed", "bloom", "petal"]
NAMES = ("id", "text", "price", "day", "country", "sold", "remark", "batch", "serial")


def row(i):
    """Return a row; every value tells which it is of."""
    return [
        f"d{i}", f"{WORDS[i % 10]} {WORDS[(3 * i + 1) % 10]} number {i}", f"{i * i / 4}", f"2020-01-{i % 28 + 1:02}",
        ("DE", "FR", "", "UK")[i % 4], ("true", "false")[i % 2], f"remark of row {i}", "constant", str(1000 + i),
    ]  # fmt: skip


ROWS = [row(i) for i in range(N)]


def write_csv(path, rows=ROWS, names=NAMES, delimiter=","):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter=delimiter).writerows([names, *rows])
    return path


def read_run(path, original=None, options=None, **named):
    """Return what a run holds of the documents of a file."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CorpusWarning)
        corpus = read_corpus(
            path, options=options, **{**named, **({"text": named["text"].split("+")} if "text" in named else {})}
        )
    made_from = SimpleNamespace(source=str(path), columns=named)
    return SimpleNamespace(
        provenance=made_from, documents=Documents(ids=corpus.ids, texts=corpus.texts), original=original
    )


def take(run, rows):
    """Return a run with some of its documents."""
    held = run.documents
    return SimpleNamespace(
        provenance=run.provenance, documents=Documents(ids=held.ids.take(rows), texts=held.texts.take(rows)),
        original=run.original,
    )  # fmt: skip


def unpacked(column):
    """Return the value of every document in a column that the page gets; None where it is unknown."""
    if column["kind"] == "category":
        codes = np.frombuffer(base64.b64decode(column["codes"]), "u1")
        return [None if column["values"][code] == "unknown" else column["values"][code] for code in codes]
    kind = "<i4" if column["kind"] == "date" else "<f8"
    numbers = np.frombuffer(base64.b64decode(column["numbers"]), kind).tolist()
    return [None if one in (UNKNOWN_DAY,) or one != one else one for one in numbers]  # noqa: PLR0124


def offered(run, place=Path("/nowhere/run")):
    """Return the columns by name, as (kind, values), and the sentence."""
    found, note = table_columns(run, place)
    return {column["name"]: (column["kind"], unpacked(column)) for column in found}, note


def check_rows(run, found, rows=ROWS):
    """Check that every document has the values of its own row."""
    by_text = {one[1]: one for one in rows}
    for at, text in enumerate(run.documents.texts):
        _, _, price, day, country, sold, *_ = by_text[text]
        assert found["price"][1][at] == float(price)
        assert found["day"][1][at] == (date.fromisoformat(day) - date(1970, 1, 1)).days
        assert found["country"][1][at] == (country or None)
        assert found["sold"][1][at] == sold


def as_values(values):
    """Return a row as values with types."""
    one, text, price, day, country, sold, *rest = values
    return [one, text, float(price), date.fromisoformat(day), country or None, sold == "true", *rest]


def write_jsonl(path):
    plain = [[*as_values(one)[:3], one[3], *as_values(one)[4:]] for one in ROWS]
    path.write_text("\n".join(json.dumps(dict(zip(NAMES, one, strict=True))) for one in plain))


def write_json(path):
    path.write_text(json.dumps([dict(zip(NAMES, one, strict=True)) for one in ROWS]))


def write_parquet(path):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(arrow.Table.from_pylist([dict(zip(NAMES, as_values(one), strict=True)) for one in ROWS]), path)


def write_sqlite(path):
    with sqlite3.connect(path) as database:
        database.execute(f"CREATE TABLE t ({', '.join(NAMES)})")
        marks = ", ".join("?" * len(NAMES))
        database.executemany(f"INSERT INTO t VALUES ({marks})", [[*one[:2], float(one[2]), *one[3:]] for one in ROWS])
    database.close()


WRITERS = {
    "t.csv": write_csv,
    "t.tsv": lambda path: write_csv(path, delimiter="\t"),
    "t.csv.gz": lambda path: path.write_bytes(gzip.compress(write_csv(path.with_suffix("")).read_bytes())),
    "t.jsonl": write_jsonl,
    "t.json": write_json,
    "t.parquet": write_parquet,
    "t.xlsx": lambda path: path.write_bytes(xlsx_bytes(NAMES, [[*one[:2], float(one[2]), *one[3:]] for one in ROWS])),
    "t.sqlite": write_sqlite,
}  # fmt: skip


@pytest.mark.parametrize("name", WRITERS)
def test_every_kind_of_table_gives_numbers_dates_and_categories(tmp_path, name):
    WRITERS[name](tmp_path / name)
    run = read_run(tmp_path / name)
    found, note = offered(run)
    assert note == ""
    assert {name: kind for name, (kind, _) in found.items()} == {
        "price": "number", "day": "date", "country": "category", "sold": "category",
    }  # fmt: skip
    check_rows(run, found)


def test_columns_that_the_run_used_are_left_out(tmp_path):
    path = write_csv(tmp_path / "t.csv")
    run = read_run(path, text="remark+text", id="serial", label="country", date="day")
    found, note = offered(run)
    assert (set(found), note) == ({"price", "sold"}, "")


@pytest.mark.parametrize("ids", [True, False])
def test_rows_that_were_skipped_shift_nothing(tmp_path, ids):
    empty = [
        ["e", "", "-1", "1999-01-01", "XX", "true", "", "", ""],
        ["f", " \t", "-2", "1999-01-01", "XX", "true", "", "", ""],
    ]
    rows = [empty[0], *ROWS[:7], *empty, *ROWS[7:20], empty[1], empty[1], *ROWS[20:], empty[0]]
    names = NAMES if ids else ("key", *NAMES[1:])
    path = write_csv(tmp_path / "t.csv", rows, names)
    with path.open("a") as file:
        file.write("one,field,too,few\n")
    run = read_run(path, options=ReadOptions(on_error="skip"))
    assert len(run.documents.ids) == N
    found, note = offered(run)
    assert note == ""
    check_rows(run, found)


def test_documents_with_an_id_keep_their_values_when_rows_move_come_or_go(tmp_path):
    path = write_csv(tmp_path / "t.csv")
    run = read_run(path)
    write_csv(path, [row(99), *ROWS[::-1]])
    check_rows(run, offered(run)[0])
    write_csv(path, ROWS[5:])
    found, note = offered(run)
    assert note == ""
    assert found["price"][1][:5] == found["country"][1][:5] == found["day"][1][:5] == [None] * 5
    check_rows(take(run, range(5, N)), {name: (kind, values[5:]) for name, (kind, values) in found.items()})


CHANGES = {
    "a row less": lambda rows: rows[1:],
    "the last row less": lambda rows: rows[:-1],
    "a row more": lambda rows: [*rows, row(99)],
    "two rows changed places": lambda rows: [rows[1], rows[0], *rows[2:]],
    "another text": lambda rows: [[rows[0][0], "other words", *rows[0][2:]], *rows[1:]],
    "an empty text": lambda rows: [[rows[0][0], "", *rows[0][2:]], *rows[1:]],
}


@pytest.mark.parametrize("change", CHANGES)
def test_numbered_rows_of_another_table_are_refused(tmp_path, change):
    names = ("key", *NAMES[1:])
    path = write_csv(tmp_path / "t.csv", names=names)
    run = read_run(path)
    write_csv(path, CHANGES[change](ROWS), names)
    assert offered(run) == (
        {},
        "t.csv no longer matches these documents, so its other columns are not among the filters.",
    )


def test_a_text_that_was_changed_is_noticed(tmp_path):
    path = write_csv(tmp_path / "t.csv")
    run = read_run(path)
    write_csv(path, CHANGES["another text"](ROWS))
    found, note = offered(run)
    assert not found
    assert "no longer matches" in note


def test_rows_with_the_same_text_are_told_apart_only_in_the_same_table(tmp_path):
    rows = [[one[0], "the same words", *one[2:]] for one in ROWS]
    path = write_csv(tmp_path / "t.csv", rows, ("key", *NAMES[1:]))
    run = read_run(path)
    assert offered(run)[0]["price"][1] == [float(one[2]) for one in rows]
    write_csv(path, rows[1:], ("key", *NAMES[1:]))
    assert not offered(run)[0]


def test_ids_that_occur_twice_are_told_apart_only_in_the_same_table(tmp_path):
    rows = [["x", "the same words", *one[2:]] for one in ROWS]
    path = write_csv(tmp_path / "t.csv", rows)
    run = read_run(path)
    assert list(run.documents.ids[:2]) == ["x", "x#2"]
    assert offered(run)[0]["price"][1] == [float(one[2]) for one in rows]
    write_csv(path, rows[1:])
    assert not offered(run)[0]
    once = write_csv(tmp_path / "once.csv", [*ROWS[:20], ["d3", *ROWS[3][1:]], *ROWS[20:]])
    run = read_run(once)
    write_csv(once, [*ROWS[:3], *ROWS[4:20], ["d3", *ROWS[3][1:]], *ROWS[20:]])  # one of the two is gone
    assert not offered(run)[0]


def changed_rows(rows, how, rng):
    """Return rows of which some are gone, new, emptied or in another place."""
    some = rng.integers(len(rows), size=3).tolist()
    if how == "gone":
        return [one for at, one in enumerate(rows) if at not in some]
    if how == "emptied":
        return [[one[0], "" if at in some else one[1], one[2]] for at, one in enumerate(rows)]
    if how == "new":
        return [*rows[: some[0]], ["new", rows[0][1], "-1"], *rows[some[0] :]]
    return [rows[at] for at in rng.permutation(len(rows))]


# Rows that agree in id and text cannot be told apart when they change places.
@pytest.mark.parametrize(
    ("ids", "how"),
    [("different", "moved"), *product(("different", "repeated", "numbered"), ("gone", "emptied", "new"))],
)
def test_no_document_ever_gets_the_values_of_another(tmp_path, ids, how):
    rng, offers = np.random.default_rng(7), 0
    for _ in range(15):
        texts = [f"words {at}" if at else "" for at in rng.integers(rng.choice([3, 100]), size=12)] + ["words", "more"]
        keys = [f"i{rng.integers(5)}" if ids == "repeated" else f"i{at}" for at in range(len(texts))]
        rows = [[key, one, str(at * 1.5)] for at, (key, one) in enumerate(zip(keys, texts, strict=True))]
        names = ["key" if ids == "numbered" else "id", "text", "price"]
        run = read_run(write_csv(tmp_path / "t.csv", rows, names))
        right = offered(run)[0]["price"][1]
        write_csv(tmp_path / "t.csv", changed_rows(rows, how, rng), names)
        found = offered(run)[0].get("price", ("", [None] * len(right)))[1]
        assert all(one in (None, value) for one, value in zip(found, right, strict=True))
        offers += any(found)
    assert offers or ids != "different"


def test_documents_that_were_excluded_or_added_change_no_other(tmp_path):
    path = write_csv(tmp_path / "t.csv", names=("key", *NAMES[1:]))
    whole = read_run(path)
    some = take(whole, range(3, N, 3))
    some.original = whole
    check_rows(some, offered(some)[0])
    path = write_csv(tmp_path / "with_ids.csv")
    run = read_run(path)
    run.documents = Documents(ids=run.documents.ids + Texts(["new"]), texts=run.documents.texts + Texts(["new words"]))
    found, _ = offered(run)
    assert {values[-1] for _, values in found.values()} == {None}
    check_rows(take(run, range(N)), found)


def test_a_table_that_is_gone_is_named(tmp_path):
    path = write_csv(tmp_path / "t.csv")
    run = read_run(path)
    path.unlink()
    assert offered(run) == ({}, "t.csv was not found, so its other columns are not among the filters.")


def test_a_table_is_found_next_to_the_run(tmp_path, monkeypatch):
    write_csv(tmp_path / "t.csv")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    write_csv(elsewhere / "t.csv", ROWS[:4])  # another one, where the app was started
    monkeypatch.chdir(tmp_path)
    run = read_run("t.csv")
    monkeypatch.chdir(elsewhere)
    assert not offered(run)[0]
    check_rows(run, offered(run, tmp_path / "t.csv-run")[0])


@pytest.mark.parametrize(("limit", "value"), [("MOST_BYTES", 100), ("MOST_ROWS", N - 1)])
def test_a_table_that_is_too_large_is_not_read(tmp_path, monkeypatch, limit, value):
    run = read_run(write_csv(tmp_path / "t.csv"))
    monkeypatch.setattr(columns, limit, value)
    assert offered(run) == ({}, "t.csv is too large to be read again, so its other columns are not among the filters.")


def test_a_table_that_grows_when_it_is_read_is_refused(tmp_path, monkeypatch):
    WRITERS["t.csv.gz"](tmp_path / "t.csv.gz")
    run = read_run(tmp_path / "t.csv.gz")
    monkeypatch.setattr(columns, "MOST_BYTES", (tmp_path / "t.csv.gz").stat().st_size)
    assert offered(run) == ({}, "t.csv.gz could not be read again, so its other columns are not among the filters.")


@pytest.mark.parametrize("content", [b"", b"\0" * 1000, b'"never closed', b"PAR1", b"id,text\n"])
def test_a_damaged_table_is_left_out(tmp_path, content):
    path = write_csv(tmp_path / "t.csv")
    run = read_run(path)
    path.write_bytes(content)
    found, note = offered(run)
    assert not found
    assert note.startswith("t.csv ")


def test_folders_and_archives_of_tables_are_left_out(tmp_path):
    folder = tmp_path / "tables.csv"
    folder.mkdir()
    write_csv(folder / "a.csv")
    archive = tmp_path / "tables.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        packed.write(folder / "a.csv", "a.csv")
    for path in (folder, archive):
        assert offered(read_run(path)) == ({}, "")


SOURCES = (
    "",
    "-",
    "duckdb:",
    "standard input",
    "notes.txt",
    "//server/share/t.csv",
    r"\\server\share\t.csv",
    "a\0b",
    "DataFrame",
)


@pytest.mark.parametrize("source", SOURCES)
def test_sources_that_are_no_files_are_not_touched(tmp_path, monkeypatch, source):
    run = read_run(write_csv(tmp_path / "t.csv"))
    run.provenance.source = source
    monkeypatch.setattr(columns, "open_table", None)
    assert offered(run) == ({}, "")


@pytest.mark.parametrize("source", ["https://example.org/t.csv", "a\0b.csv", "x" * 5000 + ".csv", "../../t.csv"])
def test_sources_that_cannot_be_there_are_not_fetched(tmp_path, monkeypatch, source):
    run = read_run(write_csv(tmp_path / "t.csv"))
    run.provenance.source = source
    monkeypatch.setattr(columns, "open_table", None)
    assert "was not found" in offered(run)[1]


def test_a_run_without_texts_has_no_columns(tmp_path):
    run = read_run(write_csv(tmp_path / "t.csv"))
    run.documents = Documents(ids=run.documents.ids)
    assert offered(run) == ({}, "")


def kinds_of(tmp_path, columns_of_values):
    """Return the kinds of columns with these values."""
    names, values = list(columns_of_values), list(columns_of_values.values())
    rows = [[f"d{i}", f"words of document {i}", *cells] for i, cells in enumerate(zip(*values, strict=True))]
    run = read_run(write_csv(tmp_path / "t.csv", rows, ["id", "text", *names]))
    return {name: kind for name, (kind, _) in offered(run)[0].items()}


def test_kinds_of_columns(tmp_path):
    n = range(200)
    assert kinds_of(tmp_path, {
        "number": [i * 1.5 for i in n],
        "with gaps": ["n/a" if i % 3 else i * 7 for i in n],
        "few typing errors": ["soon" if i < 5 else i * 7 for i in n],
        "many typing errors": ["soon" if i < 50 else i * 7 for i in n],
        "rating": [i % 5 for i in n],
        "year": [1900 + i % 90 for i in n],
        "codes": [f"{i % 20:05}" for i in n],
        "day first": [f"{i % 28 + 1}/03/2020" for i in n],
        "seconds": [1_500_000_000 + 90_000 * i for i in n],
        "counted": [i + 17 for i in n],
        "order_id": [(i * 7919) % 10_007 for i in n],
        "constant": ["x" for _ in n],
        "free text": [f"remark {i}" for i in n],
        "long": ["x" * 101 if i == 150 else "short" for i in n],
        "none": ["" for _ in n],
        "large": ["1e999" if i == 3 else f"{i}e300" for i in n],
    }) == {
        "number": "number", "with gaps": "number", "few typing errors": "number", "rating": "category",
        "year": "number", "codes": "category", "day first": "date", "seconds": "date", "large": "number",
    }  # fmt: skip


def test_at_most_a_dozen_columns_are_offered(tmp_path):
    found = kinds_of(tmp_path, {f"c{at}": [f"v{i % 3}" for i in range(N)] for at in range(30)})
    assert list(found) == [f"c{at}" for at in range(MOST_COLUMNS)]


def test_records_with_columns_of_their_own_keep_to_their_documents(tmp_path):
    records = [{"id": f"d{i}", "text": f"words {i}", **({"late": f"v{i % 3}"} if i > 20 else {}), "list": [i],
                "mixed": [None, True, 2, 2.5][i % 4], f"own {i}": i} for i in range(300)]  # fmt: skip
    path = tmp_path / "t.jsonl"
    path.write_text("\n".join(map(json.dumps, records)))
    found, _ = offered(read_run(path))
    assert found == {
        "late": ("category", [f"v{i % 3}" if i > 20 else None for i in range(300)]),
        "mixed": ("category", [[None, "true", "2", "2.5"][i % 4] for i in range(300)]),
    }


def test_columns_that_cannot_be_offered_are_dropped_while_reading(tmp_path, monkeypatch):
    monkeypatch.setattr(columns, "FIRST", 20)
    monkeypatch.setattr(columns, "EVERY", 30)
    monkeypatch.setattr(columns, "MOST_VALUES", 10)
    monkeypatch.setattr(columns, "MOST_KEPT", 50)
    run = read_run(write_csv(tmp_path / "t.csv"))
    kept = columns._read(run.provenance.source, columns.find_reader("t.csv", b""), {})[2]
    assert "remark" not in kept
    assert sum(len(one.different) for one in kept.values()) < 50 + 30 * len(NAMES)
    found, _ = offered(run)
    assert found["country"][1] == [one[4] or None for one in ROWS]


@pytest.mark.parametrize("payload", PAYLOADS[:: max(len(PAYLOADS) // 12, 1)])
def test_names_and_values_with_markup_stay_text(tmp_path, payload):
    named = " ".join(payload.split()) or "x"
    rows = [[f"d{i}", f"words {i}", payload if i % 2 else "plain"] for i in range(N)]
    run = read_run(write_csv(tmp_path / "t.csv", rows, ["id", "text", named]))
    found, _ = table_columns(run, Path("/nowhere"))
    assert json.loads(json.dumps(found)) == found
    if len(payload) <= columns.LONGEST:
        assert len(found[0]["values"]) == 2


def test_the_app_keeps_what_it_read(tmp_path, monkeypatch):
    path = write_csv(tmp_path / "t.csv")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CorpusWarning)
        model = DocumentClusterer(2, embed=None, random_state=0).fit(read_corpus(path))
    model.run_.edited(Edit("exclude", documents=("d3", "d4"))).save(tmp_path / "t.csv-run")
    session = Session(OpenRun(tmp_path / "t.csv-run"))
    answer = json.loads(session.columns({}).body)
    found = {column["name"]: column for column in answer["columns"]}
    assert answer["note"] == ""
    assert {"words", "price", "day", "country", "sold"} <= set(found)
    assert unpacked(found["price"]) == [float(one[2]) for at, one in enumerate(ROWS) if at not in (3, 4)]
    path.unlink()
    assert json.loads(session.columns({}).body) == answer
