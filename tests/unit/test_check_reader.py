"""check_reader: the library's readers pass it, and it finds planted faults."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing

import pytest

from grampus.errors import CorpusError, InputError
from grampus.testing import check_reader
from grampus.text import BadRecord, Reader, Record, Table, read_corpus, register_reader
from grampus.text.readers import READERS, registry

TEXTS = ["whale song", "bird söng"]
EXAMPLES = {
    "csv": "text\nwhale song\nbird söng\n",
    "tsv": "id\ttext\n1\twhale song\n2\tbird söng\n",
    "json": json.dumps(TEXTS),
    "jsonl": "".join(json.dumps({"text": text}) + "\n" for text in TEXTS),
    "lines": "\n".join(TEXTS),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_readers_of_text_conform(name):
    check_reader(READERS[name], EXAMPLES[name].encode(), TEXTS)


def test_readers_of_one_document_and_of_databases_conform(tmp_path):
    check_reader(READERS["text"], "whale\nsöng".encode(), ["whale\nsöng"])
    path = tmp_path / "x.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE t (text)")
        connection.executemany("INSERT INTO t VALUES (?)", [(text,) for text in TEXTS])
        connection.commit()
    check_reader(READERS["sqlite"], path.read_bytes(), TEXTS)


@pytest.mark.parametrize("name", ["parquet", "arrow", "duckdb"])
def test_optional_readers_conform(name, tmp_path):
    path = tmp_path / f"x.{name}"
    if name == "parquet":
        pyarrow = pytest.importorskip("pyarrow")
        pytest.importorskip("pyarrow.parquet").write_table(pyarrow.table({"text": TEXTS}), path)
    elif name == "arrow":
        table = pytest.importorskip("pyarrow").table({"text": TEXTS})
        with pytest.importorskip("pyarrow.ipc").new_file(path, table.schema) as file:
            file.write_table(table)
    else:
        with pytest.importorskip("duckdb").connect(str(path)) as connection:
            connection.execute("CREATE TABLE t (n INTEGER, text VARCHAR)")
            connection.executemany("INSERT INTO t VALUES (?, ?)", list(enumerate(TEXTS)))
    query = "SELECT text FROM t ORDER BY n" if name == "duckdb" else None
    check_reader(READERS[name], path.read_bytes(), TEXTS, query=query)


def shouts(source):
    """Open a file whose documents end in exclamation marks, behind a first line `SHOUTS`."""
    text = "".join(source.text())
    if not text.startswith("SHOUTS\n"):
        raise CorpusError(f"{source.name} must begin with SHOUTS.")
    lines = text.removeprefix("SHOUTS\n").split("!")
    return Table("shout", ("text",), (Record(n, {"text": line}) for n, line in enumerate(lines, 1)))


DATA, MAGIC = b"SHOUTS\nwhale!bird", (0, b"SHOUTS")
SHOUTS = Reader("shouts", shouts, (".shout",), MAGIC)


def kept_open(source):
    kept.append(open(source.path, "rb"))  # noqa: SIM115
    return shouts(source)


def changing(source):
    calls.append(1)
    table = shouts(source)
    return Table("shout", ("text",), table.records if len(calls) < 3 else iter([Record(1, {"text": "other"})]))


def numbered_from_zero(source):
    return Table("shout", ("text",), (Record(r.number - 1, r.values) for r in shouts(source).records))


def other_columns(source):
    return Table("shout", ("text",), (Record(r.number, {**r.values, "more": 1}) for r in shouts(source).records))


def losing(source):
    return Table("shout", ("text",), iter(list(shouts(source).records)[:-1]))


def careless(source):
    text = "".join(source.text())
    assert text.startswith("SHOUTS\n")
    lines = text.removeprefix("SHOUTS\n").split("!")
    return Table("shout", ("text",), (Record(n, {"text": line}) for n, line in enumerate(lines, 1)))


def chatty(source):
    try:
        return shouts(source)
    except CorpusError as error:
        raise CorpusError("two\nlines") from error


def raw(source):
    """Forget that the stream may be compressed."""
    text = source.stream.read().decode("utf-8", "replace").removeprefix("SHOUTS\n")
    lines = text.split("!")
    return Table("shout", ("text",), (Record(n, {"text": line}) for n, line in enumerate(lines, 1)))


kept: list = []
calls: list = []


@pytest.mark.parametrize(
    ("reader", "message"),
    [
        (Reader("", shouts), "must have a name"),
        (Reader("x", shouts, ("shout",)), "with the dot"),
        (Reader("x", shouts, (".Shout",)), "lower case"),
        (Reader("x", shouts, magic=(12, b"SHOUTS")), "within the first 16"),
        (Reader("x", shouts, magic=(0, b"WHISPER")), "must be in the example"),
        (Reader("x", kept_open, (".shout",), needs_path=True), "must be closed"),
        (Reader("x", changing, (".shout",)), "the second time"),
        (Reader("x", numbered_from_zero), "rising numbers from 1"),
        (Reader("x", other_columns), r"got also \['more'\]"),
        (Reader("x", losing), "the first time, the texts must be"),
        (Reader("x", lambda source: Table("", ("text",), shouts(source).records)), "must name its unit"),
        (Reader("x", lambda source: Table("x", None, iter(["whale"]))), "must be Record or BadRecord"),
        (Reader("x", careless), "must raise a CorpusError; got AssertionError"),
        (Reader("x", chatty), "errors must be one line"),
        (Reader("x", raw), "compressed, the texts must be"),
        (Reader("x", shouts, in_folder=True), "in a folder"),
    ],
)
def test_planted_faults_are_found(reader, message):
    calls.clear()
    try:
        with pytest.raises(AssertionError, match=message):
            check_reader(reader, DATA, ["whale", "bird"])
    finally:
        while kept:
            kept.pop().close()
    assert reader.name not in READERS


def test_a_good_reader_passes_and_is_not_left_registered():
    check_reader(SHOUTS, DATA, ["whale", "bird"])
    assert "shouts" not in READERS


@pytest.fixture
def headed():
    """A registered reader of one document per file, as one for PDF would be."""

    def open_headed(source):
        data = b"".join(source.chunks())
        if not data.startswith(b"\0HEAD"):
            return Table("file", ("text",), iter([BadRecord(1, "no head", "has no head")]))
        return Table("file", ("text",), iter([Record(1, {"text": data[5:].decode("utf-8", "replace")})]))

    reader = Reader("headed", open_headed, (".head",), (0, b"\0HEAD"), in_folder=True)
    register_reader(reader)
    yield reader
    del READERS["headed"]


def test_a_registered_reader_reads_files_and_members_of_folders(tmp_path, headed):
    check_reader(headed, b"\0HEADwhale", ["whale"])
    (tmp_path / "a.head").write_bytes(b"\0HEADwhale")
    (tmp_path / "b.unnamed").write_bytes(b"\0HEADbird")
    (tmp_path / "c.txt").write_bytes(b"plain")
    (tmp_path / "d.head").write_bytes(b"broken")
    assert read_corpus(tmp_path / "a.head").texts == ["whale"]
    corpus = read_corpus(tmp_path)
    assert corpus.texts == ["whale", "bird", "plain"]
    assert corpus.skipped == {"no head": 1}


@pytest.mark.parametrize(
    "reader", [Reader("csv", shouts), Reader("x", shouts, (".csv",)), Reader("x", shouts, (".gz",))]
)
def test_names_and_suffixes_must_be_new(reader):
    with pytest.raises(InputError, match="is taken"):
        register_reader(reader)


def test_readers_of_installed_packages_are_found(tmp_path, monkeypatch):
    class Entry:
        name = "shouts"

        def load(self):
            return SHOUTS

    class Broken(Entry):
        name = "broken"

        def load(self):
            raise ImportError("no such module")

    monkeypatch.setattr(
        registry, "entry_points", lambda group: [Entry(), Broken()] if group == "grampus.readers" else []
    )
    registry.load_plugins.cache_clear()
    (tmp_path / "x.shout").write_bytes(DATA)
    try:
        with pytest.warns(UserWarning, match="'broken' of an installed package could not be loaded"):
            assert read_corpus(tmp_path / "x.shout").texts == ["whale", "bird"]
        assert read_corpus(tmp_path / "x.shout", format="shouts").texts == ["whale", "bird"]
    finally:
        READERS.pop("shouts", None)
        registry.load_plugins.cache_clear()
