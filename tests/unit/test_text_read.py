"""Reading: every kind of source, every rule of docs/guide/reading.md."""

import bz2
import gzip
import io
import json
import lzma
import os
import pickle
import socket
import sqlite3
import subprocess
import sys
import warnings
from dataclasses import replace
from datetime import datetime

import numpy as np
import pytest

from grampus.errors import CorpusError, InputError, MissingExtraError
from grampus.text import Corpus, CorpusWarning, Document, ReadLimits, ReadOptions, Texts, read_corpus
from grampus.text.readers import tables
from grampus.text.readers.folder import _iso_time
from tests.fuzz import write_bomb
from tests.timing import refusal, soon

RECORDS = [
    {"id": "w", "text": "whale song", "label": "sea", "title": "Whale", "date": "2020-01-02"},
    {"id": "b", "text": "bird söng, \"loud\"\nand long", "label": "air", "title": "Bird", "date": "2021-03-04"},
]  # fmt: skip
COLUMNS = {"label": "label", "title": "title", "date": "date"}
EXPECTED = [Document(r["text"], r["id"], r["label"], r["title"], r["date"]) for r in RECORDS]


def csv_text(delimiter=",", end="\n"):
    rows = [list(RECORDS[0])] + [list(record.values()) for record in RECORDS]
    quoted = [['"' + value.replace('"', '""') + '"' for value in row] for row in rows]
    return end.join(delimiter.join(row) for row in quoted) + end


def jsonl_text():
    return "".join(json.dumps(record) + "\n" for record in RECORDS)


FILES = {
    "x.jsonl": jsonl_text(),
    "x.ndjson": jsonl_text().replace("\n", "\r\n\n"),
    "x.json": json.dumps(RECORDS, indent=2),
    "y.json": json.dumps({r["id"]: {k: v for k, v in r.items() if k != "id"} for r in RECORDS}, indent=2),
    "lines.json": jsonl_text(),
    "x.csv": csv_text(),
    "semicolon.csv": csv_text(";"),
    "mac.csv": csv_text(end="\r"),
    "dos.csv": csv_text(end="\r\n"),
    "x.tsv": csv_text("\t"),
}
PACKERS = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


def from_bytes(data, **options):
    if isinstance(data, str):
        data = data.encode()
    return read_corpus(io.BytesIO(data), **options)


def limited(**limits):
    return ReadOptions(limits=ReadLimits(**limits))


SKIP = ReadOptions(on_error="skip")


def noted(*arguments, **options):
    """Read with warnings caught; return the corpus after checking that notes and warnings agree."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        corpus = read_corpus(*arguments, **options)
    assert [str(w.message) for w in caught] == [note for note in corpus.notes if "split= to change" not in note]
    assert all(w.category is CorpusWarning and w.filename == __file__ for w in caught)
    return corpus


# ---- sources ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", PACKERS)
@pytest.mark.parametrize("name", FILES)
def test_every_file_format(tmp_path, name, suffix):
    path = tmp_path / (name + suffix)
    path.write_bytes(PACKERS[suffix](FILES[name].encode()))
    corpus = read_corpus(path, **COLUMNS)
    assert list(corpus) == EXPECTED
    assert corpus.source == str(path)
    assert corpus.skipped == {}
    assert corpus.notes == ()


@pytest.mark.parametrize("mark", ["utf-8-sig", "utf-16", "utf-32"])
@pytest.mark.parametrize("name", FILES)
def test_byte_order_marks(tmp_path, name, mark):
    path = tmp_path / name
    path.write_bytes(FILES[name].encode(mark))
    assert list(read_corpus(path, **COLUMNS)) == EXPECTED


def test_utf_16_without_a_mark(tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes("id,text\na,whale song\n".encode("utf-16-le"))
    assert read_corpus(path)[0].text == "whale song"


def test_several_compressed_streams_and_padding():
    packed = gzip.compress(b'{"text": "one"}\n') + gzip.compress(b'{"text": "two"}\n') + b"\0" * 100
    assert from_bytes(packed).texts == ["one", "two"]
    with pytest.warns(CorpusWarning, match="bytes after the end of the gzip data"):
        assert from_bytes(packed + b"more").texts == ["one", "two"]


@pytest.mark.parametrize("packer", [gzip.compress, bz2.compress, lzma.compress])
def test_damaged_compression(packer):
    packed = packer(b'{"text": "whale song"}\n' * 1000)
    with pytest.raises(CorpusError, match="ends too early"):
        from_bytes(packed[: len(packed) // 2])
    with pytest.raises(CorpusError, match=r"damaged|ends too early"):
        from_bytes(packed[:20] + b"\xff" * 9 + packed[29:])


def test_standard_input(monkeypatch):
    def given(data):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        return read_corpus("-")

    assert given(jsonl_text().encode()).ids == ["w", "b"]
    assert given(json.dumps(RECORDS).encode()).ids == ["w", "b"]
    assert given(b"one line\nanother\n").texts == ["one line", "another"]
    assert given(gzip.compress(b"packed\n")).texts == ["packed"]
    assert given(b'{"text": "only"}').texts == ["only"]


def test_standard_input_that_has_no_bytes(monkeypatch):
    for replaced in (None, io.StringIO("x")):
        monkeypatch.setattr(sys, "stdin", replaced)
        with pytest.raises(CorpusError, match="standard input must be open"):
            read_corpus("-")


def test_lines_split_at_line_feeds_only():
    corpus = from_bytes("one\u2028still one\x0bstill\r\ntwo", format="lines")
    assert corpus.texts == ["one\u2028still one\x0bstill", "two"]


def test_json_strings_and_maps():
    assert from_bytes('["one", "two"]').texts == ["one", "two"]
    assert from_bytes('{"a": "one",\n"b": "two"}').ids == ["a", "b"]
    assert from_bytes('"one"\n"two"\n', format="jsonl").texts == ["one", "two"]


def test_large_json_is_read_in_pieces():
    records = [{"id": str(n), "text": "é whale " * (n % 50), "n": n / 7} for n in range(1, 30000)]
    data = json.dumps(records, ensure_ascii=False).encode()
    assert len(data) > 4 * 2**18
    corpus = from_bytes(data, options=ReadOptions(limits=ReadLimits(max_document_bytes=2**20), empty="keep"))
    assert corpus.texts == [record["text"] for record in records]


def test_numbers_cut_at_a_piece_are_whole(monkeypatch):
    monkeypatch.setattr("grampus.text.readers.streams._CHUNK", 64)
    data = json.dumps([{"text": "x", "label": 123456789 + n} for n in range(300)])
    assert from_bytes(data, label="label").labels == tuple(str(123456789 + n) for n in range(300))


def test_sqlite(tmp_path):
    path = tmp_path / "odd ?#%name.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE t (id, text, label, title, date)")
    connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?)", [list(r.values()) for r in RECORDS])
    connection.commit()
    assert list(read_corpus(path, **COLUMNS)) == EXPECTED
    assert read_corpus(path, query="SELECT upper(text) AS text FROM t").ids == ["1", "2"]
    connection.execute("CREATE TABLE other (x)")
    connection.execute("INSERT INTO other VALUES (CAST(x'c3a9ff' AS TEXT))")
    connection.commit()
    connection.close()
    with pytest.raises(CorpusError, match="its tables are: other, t"):
        read_corpus(path)
    with pytest.warns(CorpusWarning, match="record 1"):
        assert read_corpus(path, query="SELECT x AS text FROM other")[0].text.startswith("é")
    assert sorted(os.listdir(tmp_path)) == [path.name]


@pytest.mark.parametrize(
    "query",
    [
        "DELETE FROM t", "DROP TABLE t", "CREATE TABLE z (a)", "ATTACH 'new.db' AS n", "PRAGMA user_version = 3",
        "SELECT 1 AS text; SELECT 2", "SELECT nonsense FROM t", "nonsense", "", "VACUUM INTO 'copy.db'",
        "SELECT id, id FROM t", "SELECT load_extension('x')",
    ],
)  # fmt: skip
def test_sqlite_is_only_read(tmp_path, query, monkeypatch):
    monkeypatch.chdir(tmp_path)
    connection = sqlite3.connect("x.db")
    connection.execute("CREATE TABLE t (id, text)")
    connection.execute("INSERT INTO t VALUES (1, 'whale')")
    connection.commit()
    connection.close()
    before = (tmp_path / "x.db").read_bytes()
    with pytest.raises(CorpusError) as caught:
        read_corpus("x.db", query=query)
    assert "\n" not in str(caught.value)
    assert (tmp_path / "x.db").read_bytes() == before
    assert os.listdir(tmp_path) == ["x.db"]


def test_parquet(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "x.parquet"
    table = [{**record, "date": datetime.fromisoformat(record["date"])} for record in RECORDS]
    parquet.write_table(pyarrow.Table.from_pylist(table), path)
    corpus = read_corpus(path, **COLUMNS)
    assert corpus.texts == [record["text"] for record in RECORDS]
    assert corpus.dates == ["2020-01-02T00:00:00", "2021-03-04T00:00:00"]
    with pytest.raises(CorpusError, match=r"must have a column 'body'; its columns are: id, text"):
        read_corpus(path, text="body")
    with pytest.raises(InputError, match="query must be left out"):
        read_corpus(path, query="SELECT 1")


def test_duckdb(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    path = tmp_path / "x.duckdb"
    connection = duckdb.connect(str(path))
    connection.execute("CREATE TABLE t (id VARCHAR, text VARCHAR, label VARCHAR, title VARCHAR, date DATE)")
    connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?)", [list(r.values()) for r in RECORDS])
    connection.close()
    assert list(read_corpus(path, query="SELECT * FROM t ORDER BY id DESC", **COLUMNS)) == EXPECTED
    (tmp_path / "x.csv").write_text("text\nwhale\n", encoding="utf-8")
    assert read_corpus("duckdb:", query=f"SELECT text FROM '{tmp_path}/x.csv'").texts == ["whale"]
    for query in ("DROP TABLE t", "SELECT 1; SELECT 2", f"COPY t TO '{tmp_path}/out.csv'", "nonsense"):
        with pytest.raises(CorpusError, match="query"):
            read_corpus(path, query=query)
    with pytest.raises(CorpusError, match="query must name what to read"):
        read_corpus(path)
    assert sorted(os.listdir(tmp_path)) == ["x.csv", "x.duckdb"]


@pytest.mark.parametrize(("module", "name"), [("pyarrow", "x.parquet"), ("duckdb", "x.duckdb")])
def test_a_missing_extra_says_how_to_get_it(tmp_path, monkeypatch, module, name):
    (tmp_path / name).write_bytes(b"x")

    def absent(name):
        raise ImportError(name)

    monkeypatch.setattr(tables, "import_module", absent)
    with pytest.raises(MissingExtraError, match=rf"^{module} must be installed.*pip install 'grampus\[[a-z]+\]'$"):
        read_corpus(tmp_path / name)


# ---- folders ------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path):
    root = tmp_path / "docs"
    for name, text in {"sea/deep/w.txt": "whale", "air/b.md": "bird", "top.txt": "top"}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return root


def test_a_folder_is_read_in_the_order_of_its_paths(folder):
    corpus = noted(folder, label="folder", title="name", date="modified")
    assert [(d.id, d.text, d.label, d.title) for d in corpus] == [
        ("air/b.md", "bird", "air", "b.md"),
        ("sea/deep/w.txt", "whale", "sea", "w.txt"),
        ("top.txt", "top", "", "top.txt"),
    ]
    assert datetime.fromisoformat(corpus[0].date).tzinfo is not None
    assert corpus.notes == ("1 document has no label; it is the empty string.",)
    assert read_corpus(folder).labels is None


def test_what_a_folder_leaves_out_is_counted(folder):
    os.mkfifo(folder / "fifo")
    server = socket.socket(socket.AF_UNIX)
    server.bind(os.path.relpath(folder / "socket"))
    server.close()
    (folder / "loop").symlink_to(folder, target_is_directory=True)
    (folder / ".hidden").write_text("x", encoding="utf-8")
    (folder / "empty.txt").write_text(" \n", encoding="utf-8")
    (folder / "large.txt").write_text("x" * 2000, encoding="utf-8")
    (folder / "picture.gif").write_bytes(b"GIF89a text")
    (folder / "noise.bin").write_bytes(bytes(range(256)))
    (folder / "broken.gz").write_bytes(gzip.compress(b"x" * 100)[:-9])
    corpus = noted(folder, options=limited(max_document_bytes=1000))
    assert corpus.ids == ["air/b.md", "sea/deep/w.txt", "top.txt"]
    assert corpus.skipped == {
        "hidden (its name begins with a dot)": 1, "not a regular file (device, FIFO or socket)": 2,
        "symbolic link (follow_symlinks is off)": 1, "empty text": 1, "larger than 1.0 kB (max_document_bytes)": 1,
        "not text (a picture)": 1, "not text (binary)": 1, "could not be read": 1,
    }  # fmt: skip
    assert len(corpus.notes) == 1
    assert "broken.gz must be complete gzip data" in corpus.notes[0]


def test_links_are_followed_on_request_and_loops_end(folder, tmp_path):
    (tmp_path / "outside.txt").write_text("outside", encoding="utf-8")
    (folder / "link.txt").symlink_to(tmp_path / "outside.txt")
    (folder / "loop").symlink_to(folder, target_is_directory=True)
    (folder / "self").symlink_to("self")
    (folder / "nowhere").symlink_to(tmp_path / "absent")
    corpus = read_corpus(folder, options=ReadOptions(follow_symlinks=True))
    assert corpus.ids == ["air/b.md", "link.txt", "sea/deep/w.txt", "top.txt"]
    assert corpus.skipped == {
        "folder already entered through a link": 1,
        "symbolic link that leads nowhere or in a circle": 2,
    }


def test_names_with_odd_bytes_and_patterns(folder):
    odd = os.path.join(os.fsencode(folder), b"odd\xff\n.txt")
    with open(odd, "wb") as out:
        out.write(b"odd")
    corpus = read_corpus(folder, options=ReadOptions(pattern="*.txt"))
    assert corpus.ids == ["odd\\xff\\n.txt", "sea/deep/w.txt", "top.txt"]
    assert corpus.skipped == {"name does not match pattern": 1}


def test_a_byte_and_its_spelling_are_different_names(folder):
    for name in (b"x\xff.txt", b"x\\xff.txt"):
        with open(os.path.join(os.fsencode(folder), name), "wb") as out:
            out.write(b"odd")
    assert read_corpus(folder).ids[-2:] == ["x\\\\xff.txt", "x\\xff.txt"]


def test_a_date_beyond_all_calendars(folder):
    os.utime(folder / "top.txt", (1e12, 1e12))  # some file systems keep it, some take the latest they know
    assert len(read_corpus(folder)) == 3
    assert [_iso_time(seconds) for seconds in (0, 1e12, -1e12, 1e300)] == ["1970-01-01T00:00:00+00:00", "", "", ""]


def test_long_paths_are_not_cut(tmp_path):
    path = tmp_path / ("d" * 150) / ("e" * 150) / ("f" * 150 + ".txt")
    path.parent.mkdir(parents=True)
    path.write_text("x", encoding="utf-8")
    corpus = read_corpus(tmp_path, label="folder", title="name")
    assert corpus[0] == Document("x", path.relative_to(tmp_path).as_posix(), "d" * 150, "f" * 150 + ".txt")


def test_compressed_files_in_a_folder(tmp_path):
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress("größer".encode()))
    assert read_corpus(tmp_path).texts == ["größer"]


def test_a_very_deep_folder_does_not_recurse(tmp_path):
    deep = tmp_path
    for _ in range(200):
        deep = deep / "d"
    deep.mkdir(parents=True)
    (deep / "x.txt").write_text("deep", encoding="utf-8")
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(150)
    try:
        assert read_corpus(tmp_path).texts == ["deep"]
    finally:
        sys.setrecursionlimit(limit)


# ---- encodings ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Les élèves étaient déjà très fatigués après l'été, où ça finira-t-il ? Le cœur a ses raisons.", "cp1252"),
        ("El niño comió mañana; ¿dónde está el señor Núñez? ¡Qué día más bonito!", "cp1252"),
        ("Wieloryb płynie przez ocean i śpiewa pieśń o morzu, a żółw ćwiczy.", "cp1250"),
        ("Wieloryb płynie przez ocean i śpiewa pieśń o morzu, a żółw ćwiczy.", "iso8859_2"),
        ("Кит плывёт в океане и поёт песню о море, а птица сидит на дереве.", "cp1251"),
        ("Кит плывёт в океане и поёт песню о море, а птица сидит на дереве.", "koi8_r"),
        ("Η φάλαινα κολυμπά στον ωκεανό και τραγουδά.", "cp1253"),
    ],
)
def test_other_encodings_are_detected_and_named(tmp_path, text, encoding):
    (tmp_path / "odd.txt").write_bytes(text.encode(encoding))
    (tmp_path / "plain.txt").write_text("ascii", encoding="ascii")
    corpus = noted(tmp_path)
    assert corpus[0].text == text
    assert corpus.notes == (f"not UTF-8, read as {encoding} (pass encoding= if that is wrong): odd.txt.",)


def test_detection_begins_where_utf_8_ends(tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes(
        b"id,text\n" + b"".join(b"%d,plain words\n" % n for n in range(50000)) + "z,été\n".encode("cp1252")
    )
    assert path.stat().st_size > 2 * 2**18
    corpus = noted(path)
    assert corpus[-1].text == "été"
    assert "read as cp1252" in corpus.notes[0]


def test_a_few_broken_bytes_in_utf_8_stay_utf_8():
    with pytest.warns(CorpusWarning, match="bytes that are not utf-8 became U\\+FFFD"):
        corpus = from_bytes("été où ça vögel ".encode() + b"\xff!", format="lines")
    assert corpus[0].text == "été où ça vögel \ufffd!"


def test_a_stated_encoding_is_used(tmp_path):
    path = tmp_path / "x.txt"
    path.write_bytes("größer".encode("cp437"))
    assert read_corpus(path, options=ReadOptions(encoding="cp437"))[0].text == "größer"
    path.write_bytes(b"caf\xe9")
    with pytest.warns(CorpusWarning, match="not ascii became"):
        assert read_corpus(path, options=ReadOptions(encoding="ascii"))[0].text == "caf\ufffd"


def values(tmp_path, *rows):
    """Return a SQLite file whose texts are the given bytes."""
    path = tmp_path / "values.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE t (text TEXT)")
    connection.executemany("INSERT INTO t VALUES (CAST(? AS TEXT))", [(row,) for row in rows])
    connection.commit()
    connection.close()
    return path


def test_a_zero_byte_in_a_short_text_is_not_utf_16(tmp_path):
    assert from_bytes(b"ab\0\n", format="lines").texts == ["ab\0"]
    assert from_bytes(b"ab\0\ncd\0\n" + b"plain words\n" * 9, format="lines")[0].text == "ab\0"
    assert read_corpus(values(tmp_path, b"ab\0", b"a\0b\0c\0d\0e\0")).texts == ["ab\0", "a\0b\0c\0d\0e\0"]


def test_values_with_a_mark_are_read_by_it(tmp_path):
    assert (
        read_corpus(values(tmp_path, "größer".encode("utf-16"), "größer".encode("utf-8-sig"))).texts == ["größer"] * 2
    )


def test_one_accent_is_not_chinese(tmp_path):
    for text in ("São Paulo", "Genève", "ÄÖÜ", "Málaga, España"):
        (tmp_path / "x.txt").write_bytes(text.encode("cp1252"))
        assert noted(tmp_path)[0].text == text


@pytest.mark.parametrize("encoding", ["shift_jis", "euc_jp"])
def test_several_pairs_are(tmp_path, encoding):
    text = "鯨は海を泳ぎ、歌を歌う。日本語のテキストです。"
    (tmp_path / "x.txt").write_bytes(text.encode(encoding))
    assert noted(tmp_path)[0].text == text


def test_the_values_of_a_database_share_an_encoding(tmp_path):
    texts = ["São Paulo", "Les élèves étaient déjà très fatigués après l'été", "plain", "crème brûlée", "naïve", "où"]
    corpus = noted(values(tmp_path, *(text.encode("cp1252") for text in texts)))
    assert corpus.texts == texts
    assert len(corpus.notes) == 1
    assert "read as cp1252" in corpus.notes[0]
    (tmp_path / "other").mkdir()
    japanese = ["鯨は海を泳ぎ、歌を歌う。日本語のテキストです。", "鯨", "海"]
    assert noted(values(tmp_path / "other", *(text.encode("shift_jis") for text in japanese))).texts == japanese


@pytest.mark.parametrize("order", ["le", "be"])
@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_a_stated_byte_order_outlives_a_broken_unit(tmp_path, encoding, order, monkeypatch):
    monkeypatch.setattr("grampus.text.readers.streams._CHUNK", 512)
    text = "größer\n" * 400
    half = f"\ufeff{text}".encode(f"{encoding}-{order}")
    lone = "\ud800".encode(f"{encoding}-{order}", "surrogatepass")
    path = tmp_path / "x.txt"
    path.write_bytes(half + lone + text.encode(f"{encoding}-{order}"))
    with pytest.warns(CorpusWarning, match="became U\\+FFFD"):
        corpus = read_corpus(path, options=ReadOptions(encoding=encoding))
    assert corpus[-1].text == "größer"
    assert len(corpus) == 800
    path.write_bytes("größer".encode(f"{encoding}-le"))
    assert read_corpus(path, options=ReadOptions(encoding=encoding))[0].text == "größer"


def test_a_stated_encoding_with_shifts_keeps_its_state(monkeypatch):
    monkeypatch.setattr("grampus.text.readers.streams._CHUNK", 64)
    data = ("鯨" * 100).encode("iso2022_jp")
    stream = io.BytesIO(data[:131] + b"\xff\xff" + data[131:])
    corpus = noted(stream, options=ReadOptions(encoding="iso2022_jp"), format="lines")
    assert "became U+FFFD" in corpus.notes[0]
    assert corpus[0].text.count("鯨") >= 98


def test_lone_surrogates_become_replacement_characters():
    with pytest.warns(CorpusWarning, match="lone surrogates"):
        corpus = from_bytes(b'{"text": "a\\ud800b \\ud83d\\ude00"}\n{"text": "c"}')
    assert corpus[0].text == "a\ufffdb \U0001f600"
    assert corpus.fingerprint


@pytest.mark.parametrize("text", ["鯨は海を泳ぎ、歌を歌う。", "ปลาวาฬว่ายน้ำ", "고래가 바다에서", "a 鯨 whale"])
def test_scripts_without_spaces_are_read_without_a_warning(text):
    assert from_bytes(text, format="lines").notes == ()


# ---- rules for records --------------------------------------------------------------------------------------


def test_empty_texts():
    data = '{"id": 1, "text": "a"}\n{"id": 2, "text": " \\n"}\n{"id": 3, "text": null}\n'
    corpus = from_bytes(data)
    assert corpus.ids == ["1"]
    assert corpus.skipped == {"empty text": 2}
    assert from_bytes(data, options=ReadOptions(empty="keep")).texts == ["a", " \n", ""]
    with pytest.raises(CorpusError, match=r"line 2 has an empty text"):
        from_bytes(data, options=ReadOptions(empty="error"))


def test_duplicate_ids():
    data = "".join(json.dumps({"id": i, "text": t}) + "\n" for i, t in zip(["a", "a", "a#2", "a"], "wxyz", strict=True))
    with pytest.raises(CorpusError, match=r"line 2 has the id 'a', which was seen before.*duplicate_ids='number'"):
        from_bytes(data, id="id")
    with pytest.warns(CorpusWarning, match="3 repeated ids were numbered"):
        assert from_bytes(data).ids == ["a", "a#2", "a#2#2", "a#3"]
    numbered = from_bytes(data, options=ReadOptions(duplicate_ids="number"))
    assert numbered.ids == ["a", "a#2", "a#2#2", "a#3"]
    skipped = from_bytes(data, options=ReadOptions(duplicate_ids="skip"))
    assert (skipped.ids, skipped.skipped) == (["a", "a#2"], {"id seen before": 2})


def test_ids_are_the_column_or_the_record_s_number():
    assert from_bytes('{"text": "a"}\n\n{"text": " "}\n{"text": "b"}').ids == ["1", "3"]
    assert from_bytes('{"text": "a", "key": 7.5}', id="key").ids == ["7.5"]
    with pytest.raises(CorpusError, match="line 2 has no column 'id'"):
        from_bytes('{"text": "a", "id": 1}\n{"text": "b"}')
    with pytest.raises(CorpusError, match="has no id in column 'id'"):
        from_bytes('{"text": "a", "id": ""}')


def test_values_that_are_not_strings():
    data = '{"text": "a", "label": true}\n{"text": "b", "label": 3}\n{"text": "c", "label": null}'
    with pytest.warns(CorpusWarning, match="1 document has no label"):
        assert from_bytes(data, label="label").labels == ("true", "3", "")
    for value in ("3", "[1]", "{}", "true"):
        with pytest.raises(CorpusError, match="must have a string in column 'text'"):
            from_bytes(f'{{"text": {value}}}')


def test_an_absent_label_is_as_a_null_one():
    data = '{"text": "a", "kind": "x"}\n{"text": "b", "kind": null}\n{"text": "c"}'
    with pytest.warns(CorpusWarning, match="2 documents have no label"):
        assert from_bytes(data, label="kind").labels == ("x", "", "")
    assert from_bytes(data, title="kind").titles == ["x", "", ""]
    with pytest.raises(CorpusError, match="must have a column 'knid'; no record has it"):
        from_bytes(data, label="knid")


def test_an_id_within_a_member_comes_before_its_key():
    members = {"a": {"id": "w", "text": "one"}, "b": {"id": "v", "text": "two"}}
    assert from_bytes(json.dumps(members), format="json").ids == ["w", "v"]


def test_a_stream_of_json_lines_may_begin_with_a_broken_one():
    broken = '{"text": "a\n\n{"text": "b"}\n{"text": "c"}\n'
    assert from_bytes(broken, options=SKIP).texts == ["b", "c"]
    with pytest.raises(CorpusError, match="line 1 is not JSON"):
        from_bytes(broken)
    assert from_bytes('{"a":\n{"text": "one"}\n}').ids == ["a"]


def test_several_text_columns():
    assert from_bytes('{"a": "one", "b": null, "c": "two"}', text=["a", "b", "c"])[0].text == "one\n\ntwo"


@pytest.mark.parametrize(
    ("data", "kind", "message"),
    [
        ("id,size\n1,\n", "csv", "must have a column of texts; its columns are: id, size"),
        ("id,text\n1\n", "csv", "line 2 must have 2 fields, as the header; it has 1"),
        ("id,text\n1,a\n2,b,c\n", "csv", "line 3 must have 2 fields, as the header; it has 3"),
        ('id,text\n1,"a\n2,b\n', "csv", "line 2 opens a quote that is not closed"),
        ("text,text\na,b\n", "csv", "different column names; 'text' occurs more than once"),
        ("", "csv", "at least one row; it is empty"),
        ("text\n", "csv", "There are no documents in"),
        ("", "jsonl", "There are no documents in"),
        ("", "json", "must hold a JSON array or object"),
        ("3", "json", "must hold a JSON array or object"),
        ("[]", "json", "There are no documents in"),
        ("[1]", "json", "record 1 must be an object or a string; it is a number"),
        ('["a" "b"]', "json", "at record 1: ',' or ']' expected"),
        ('["a"', "json", "the end of the file found"),
        ('["a"] 3', "json", "more follows after record 1"),
        ('{"a": "x", 3: 4}', "json", "expected"),
        ("[" * 100000, "json", "nested too deeply"),
        ('{"text": "a"}\nnonsense\n', "jsonl", "line 2 is not JSON"),
        ('{"text": ' + "[" * 100000, "jsonl", "nested too deeply"),
        ('{"text": ' + "9" * 5000 + "}", "jsonl", "line 1 is not JSON"),
        ('{"text": "a"}\n{"body": "a"}', "jsonl", "line 2 has no column 'text'; it has body"),
        ("[]", "jsonl", "must be an object or a string; it is an array"),
        (" \n \n", "lines", "All were left out: 2 × empty text"),
    ],
)
def test_bad_files_give_one_clear_line(data, kind, message):
    with pytest.raises(CorpusError) as caught:
        from_bytes(data, format=kind)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_bad_records_can_be_left_out():
    data = '{"text": "a"}\nnonsense\n{"body": 3}\n[]\n{"text": "b"}\n{"text": 3}\n'
    corpus = from_bytes(data, options=SKIP)
    assert corpus.texts == ["a", "b"]
    assert corpus.skipped == {
        "not JSON": 1, "missing column": 1, "not an object or string": 1, "not a string": 1,
    }  # fmt: skip
    rows = from_bytes("id,text\n1,a\n2\n3,b\n", format="csv", options=SKIP)
    assert (rows.texts, rows.skipped) == (["a", "b"], {"wrong number of fields": 1})


def test_csv_dialects():
    headless = from_bytes("1,whale\n2,bird\n", format="csv", text="1", id="0", options=ReadOptions(header=False))
    assert (headless.ids, headless.texts) == (["1", "2"], ["whale", "bird"])
    assert from_bytes("id|text\n1|a,b\n", format="csv").texts == ["a,b"]
    assert from_bytes("id^text\n1^a\n", format="csv", options=ReadOptions(delimiter="^")).texts == ["a"]
    assert from_bytes("\n\n id , text \n1,a\n", format="csv").texts == ["a"]


def test_long_csv_fields_and_the_process_wide_limit():
    import csv

    before = csv.field_size_limit()
    text = "whale " * 50000
    assert from_bytes(f'id,text\n1,"{text}"\n', format="csv").texts == [text]
    assert csv.field_size_limit() == before
    with pytest.raises(CorpusError, match=r"longer than 131\.1 kB"):
        from_bytes('id,text\n1,"' + "whale\n" * 50000, format="csv", options=limited(max_document_bytes=2**17))
    assert csv.field_size_limit() == before


# ---- limits -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["x.jsonl", "x.csv", "x.json", "x.txt"])
def test_a_long_line_without_an_end_is_quick(tmp_path, name):
    """No reader looks at a piece of the file more than a few times."""
    path = tmp_path / name
    path.write_bytes(b"x" * (8 << 20))
    with soon(), pytest.raises(CorpusError):
        read_corpus(path, options=limited(max_document_bytes=4 << 20))


@pytest.mark.parametrize("name", ["x.jsonl.gz", "x.csv.gz", "x.json.gz", "x.txt.gz"])
def test_a_decompression_bomb_is_refused(tmp_path, name):
    write_bomb(tmp_path / name, 1 << 30)
    with soon(), pytest.raises(CorpusError, match="must not expand more than 200 times when it is read"):
        read_corpus(tmp_path / name)


def test_a_bomb_in_a_folder_is_left_out(tmp_path):
    write_bomb(tmp_path / "bomb.gz", 1 << 30)
    (tmp_path / "x.txt").write_text("whale", encoding="utf-8")
    generous = noted(tmp_path, options=limited(max_document_bytes=1 << 29))
    assert generous.skipped == {"could not be read": 1}
    assert "max_ratio" in generous.notes[0]
    corpus = noted(tmp_path, options=limited(max_document_bytes=1 << 20))
    assert corpus.skipped == {"could not be read": 1}


@pytest.mark.slow
def test_repetitive_but_honest_files_pass():
    packed = gzip.compress(b'{"text": "the same whale again"}\n' * 100000)
    assert len(from_bytes(packed)) == 100000


def test_total_and_record_limits():
    data = b'{"text": "' + b"w" * 100 + b'"}\n'
    with pytest.raises(CorpusError, match="max_total_bytes"):
        from_bytes(data * 50, options=limited(max_total_bytes=1000))
    long = b'{"text": "' + b"w" * 500 + b'"}\n'
    with pytest.raises(CorpusError, match=r"line 2 is longer than 300 B"):
        from_bytes(data + long, options=limited(max_document_bytes=300))
    kept = from_bytes(data + long + data, options=replace(limited(max_document_bytes=300), on_error="skip"))
    assert (len(kept), sum(kept.skipped.values())) == (2, 1)


def test_a_record_is_as_long_as_its_utf_8(tmp_path):
    options = limited(max_document_bytes=10)
    corpus = from_bytes("é\nééééééé\nb\n", format="lines", options=replace(options, on_error="skip"))
    assert (corpus.texts, corpus.skipped) == (["é", "b"], {"record too long": 1})
    with pytest.raises(CorpusError, match=r"line 2 is longer than 10 B \(max_document_bytes\)"):
        from_bytes("é\nééééééé\nb\n", format="lines", options=options)
    data = b"a,b\naaaaaa,bbbbbb\na,b\n"
    corpus = from_bytes(data, format="csv", text=["a", "b"], options=replace(options, on_error="skip"))
    assert (corpus.texts, corpus.skipped) == (["a\n\nb"], {"record too long": 1})
    (tmp_path / "long.txt").write_bytes("éàéàéà".encode("cp1252"))
    (tmp_path / "short.txt").write_bytes(b"whale")
    corpus = noted(tmp_path, options=options)
    assert (corpus.ids, corpus.skipped) == (["short.txt"], {"larger than 10 B (max_document_bytes)": 1})


@pytest.mark.parametrize("limit", [float("inf"), 2**70, 10**400])
def test_limits_that_limit_nothing(tmp_path, limit):
    options = limited(max_document_bytes=limit, max_total_bytes=limit)
    for kind in ("csv", "lines", "jsonl", "json"):
        data = {"csv": "text\nwhale\n", "lines": "whale", "jsonl": '"whale"', "json": '["whale"]'}[kind]
        assert from_bytes(data, format=kind, options=options).texts == ["whale"]
    assert read_corpus(values(tmp_path, b"whale"), options=options).texts == ["whale"]


@pytest.mark.parametrize(("packer", "opener"), [(gzip.compress, gzip.GzipFile), (lzma.compress, lzma.LZMAFile)])
def test_an_open_file_that_turns_out_damaged(packer, opener):
    packed = packer(b'{"text": "whale song"}\n' * 1000 + os.urandom(1000))
    for damaged in (packed[: len(packed) // 2], packed[:40] + b"\xff" * 9 + packed[49:]):
        stream = opener(fileobj=io.BytesIO(damaged)) if opener is gzip.GzipFile else opener(io.BytesIO(damaged))
        with pytest.raises(CorpusError, match="must be readable to its end"):
            read_corpus(stream, format="lines")


def test_a_fifo_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "x.jsonl")
    error = refusal(read_corpus, tmp_path / "x.jsonl")
    assert isinstance(error, CorpusError)
    assert "must be a readable file (not a regular file but a device" in str(error)


# ---- parameters and progress --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"source": 3}, "source must be a path"),
        ({"source": b"bytes"}, "source must be a path"),
        ({"source": "absent.csv"}, "There is no file or folder .*absent.csv"),
        ({"source": "absent\0.csv"}, "zero byte"),
        ({"source": "absent", "format": "folder"}, "must be a folder"),
        ({"source": io.StringIO("x"), "format": "lines"}, "binary mode"),
        ({"source": io.BytesIO(b"x"), "format": "sqlite"}, "for a stream"),
        ({"source": io.BytesIO(b"x"), "query": "SELECT 1"}, "query must be left out"),
        ({"source": "-", "format": "xml"}, "format must be one of"),
        ({"source": "-", "text": []}, "text must be a column's name"),
        ({"source": "-", "text": 5}, "text must be a column's name"),
        ({"source": "-", "query": 5}, "query must be a string of SQL"),
        ({"source": "-", "options": 5}, "options must be a ReadOptions"),
        ({"source": "-", "progress": 5}, "progress must be a function"),
        ({"source": "-", "label": 3}, "label must be a column's name"),
    ],
)
def test_wrong_parameters(options, message):
    with pytest.raises(InputError, match=message):
        read_corpus(**options)


def test_no_options_are_the_default_ones():
    assert from_bytes("whale", format="lines", options=None).texts == ["whale"]


def test_a_name_that_does_not_tell(tmp_path):
    (tmp_path / "x.weird").write_text("x", encoding="utf-8")
    assert read_corpus(tmp_path / "x.weird").texts == ["x"]
    (tmp_path / "y.weird").write_bytes(b"\x89PNG\0\0")
    with pytest.raises(CorpusError, match="must be a file of a known kind; it looks like a picture"):
        read_corpus(tmp_path / "y.weird")
    (tmp_path / "y.doc").write_bytes(b"\xd0\xcf\x11\xe0\0")
    with pytest.raises(CorpusError, match=r"looks like an old office document; save it as \.docx"):
        read_corpus(tmp_path / "y.doc")
    assert read_corpus(tmp_path / "x.weird", format="lines").texts == ["x"]


@pytest.mark.parametrize(
    "options",
    [{"empty": "drop"}, {"duplicate_ids": "x"}, {"delimiter": "ab"}, {"delimiter": '"'}, {"pattern": 3},
     {"on_error": "ignore"}, {"limits": 5}, *({"encoding": name} for name in ("nonsense", "base64", "rot13", 3, "")),
     {"max_ratio": 0}, {"max_total_bytes": -1}, {"max_document_bytes": "1"}],
)  # fmt: skip
def test_wrong_options_and_limits(options):
    (name,) = options
    what = "a text encoding" if name == "encoding" else "a positive number" if name.startswith("max") else ""
    with pytest.raises(InputError, match=f"{name} must be {what}"):
        (ReadLimits if name.startswith("max") else ReadOptions)(**options)


def test_progress(tmp_path):
    path = tmp_path / "x.jsonl.gz"
    path.write_bytes(gzip.compress(jsonl_text().encode()))
    seen = []
    read_corpus(path, progress=lambda *call: seen.append(call))
    size = path.stat().st_size
    assert seen[-1] == ("reading", size, size)
    streamed = []
    from_bytes("whale\n" * 1000, format="lines", progress=lambda *call: streamed.append(call))
    assert streamed[0] == ("reading", 256, None)
    assert streamed[-1] == ("reading", 1000, 1000)


# ---- the corpus itself --------------------------------------------------------------------------------------


def test_corpus_checks_what_it_is_given():
    for options, message in [
        ({"texts": "one"}, "texts must be a sequence of strings"),
        ({"texts": ["a", 3]}, "texts must be strings; number 1 is int"),
        ({"texts": 5}, "texts must be a sequence of strings; got one int"),
        ({"texts": ["a"], "labels": 5}, "labels must be a sequence of strings; got one int"),
        ({"texts": ["a", "b"], "ids": Texts(["x", "x"])}, "'x' occurs more than once"),
        ({"texts": ["a"], "ids": ["x", "y"]}, "ids must have one value per text, 1; got 2"),
        ({"texts": ["a", "b"], "ids": ["x", "x"]}, "'x' occurs more than once"),
        ({"texts": ["a"], "labels": "z"}, "labels must be a sequence"),
        ({"texts": ["a"], "labels": []}, "labels must have one value per text"),
        ({"texts": ["a"], "dates": [3]}, "dates must be strings"),
    ]:
        with pytest.raises(CorpusError, match=message):
            Corpus(**options)


def test_corpus_take_index_and_pickle():
    corpus = Corpus(["a", "b", "c"], ids=["x", "y", "z"], labels=["1", "2", "3"], titles=["A", "B", "C"])
    part = corpus.take(np.array([2, -3]))
    assert list(part) == [corpus[2], corpus[0]] == [Document("c", "z", "3", "C"), Document("a", "x", "1", "A")]
    assert corpus.take([True, False, True]).ids == ["x", "z"]
    assert len(corpus.take([])) == 0
    assert corpus[-1] == corpus[2]
    assert pickle.loads(pickle.dumps(corpus)) == corpus
    assert corpus != part
    assert repr(corpus) == "<Corpus: 3 documents with labels, titles, 3 bytes from memory>"
    for wrong in ([3], [-4], [0.5], [[0]], [True], [0, 0], [[0], [0, 0]], 5, None):
        with pytest.raises(CorpusError):
            corpus.take(wrong)
    with pytest.raises(IndexError):
        corpus[3]
    with pytest.raises(AttributeError):
        corpus.source = "x"


def test_texts_compare_and_hash():
    texts = Texts(["a", "é"])
    assert texts == ["a", "é"] == texts
    assert texts != ["a"]
    assert texts != "aé"
    assert hash(texts) == hash(Texts(["a", "é"])) == hash(("a", "é"))
    assert len({texts, ("a", "é")}) == 1
    assert pickle.loads(pickle.dumps(texts)) == texts
    assert repr(texts) == "<Texts: 2 strings, 3 bytes>"


def test_reading_imports_no_heavy_library(tmp_path):
    """scikit-learn (with pandas and pyarrow where they are installed) would take more memory than a bomb may."""
    path = tmp_path / "x.jsonl"
    path.write_text('{"text": "whales sing"}\n', encoding="utf-8")
    program = (
        "import sys; from grampus.text import read_corpus; read_corpus(sys.argv[1]);"
        "print(*({'sklearn', 'scipy', 'pandas', 'pyarrow', 'duckdb'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_pages_and_runs_of_grampus_are_left_out_whatever_their_names(tmp_path):
    from grampus import DocumentClusterer
    from grampus.report import write_report

    for place in range(12):
        (tmp_path / f"{place}.txt").write_text(f"{'whale song' if place % 2 else 'bird nest'} number {place}")
    (tmp_path / "other.html").write_text("<!doctype html><html><body>Grampus is a dolphin</body></html>")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "manifest.json").write_text('{"text": "the format of a grampus run"}')
    before = read_corpus(str(tmp_path))
    assert len(before) == 14
    run = DocumentClusterer(2, random_state=0).fit(before).run_
    run.save(tmp_path / "any name")
    write_report(run, tmp_path / "letters.htm")
    again = read_corpus(str(tmp_path))
    assert list(again.ids) == list(before.ids)
    assert "what Grampus wrote earlier was left out: any name, letters.htm." in again.notes
    reasons = {record.path: record.reason for record in again.files if record.reason}
    assert reasons == {"any name": "written by Grampus", "letters.htm": "written by Grampus"}
    for name, kind in (("any name", "saved run"), ("letters.htm", "page")):
        with pytest.raises(CorpusError, match=rf"{name} must be documents; it is a {kind} of Grampus\. See it with"):
            read_corpus(tmp_path / name)
    assert len(read_corpus(tmp_path / "letters.htm", format="html")) > 0  # who names a format is obeyed
