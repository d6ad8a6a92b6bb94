"""Files made to do harm: they read nothing else, and end soon with one clear line."""

import bz2
import gzip
import io
import lzma
import os
import random
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

from grampus.errors import CorpusError, InputError
from grampus.text import ReadLimits, ReadOptions, read_corpus, stop_words
from tests import timing
from tests.timing import soon

ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT 'a' AS text FROM c"


def refusal(*arguments, **options):
    """Return the one line with which a source is refused, soon."""
    with soon(), pytest.raises(CorpusError) as caught:
        read_corpus(*arguments, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


# ---- DuckDB -------------------------------------------------------------------------------------------------


@pytest.fixture
def secret(tmp_path):
    path = tmp_path / "secret.txt"
    path.write_text("hunter2", encoding="utf-8")
    return path


@pytest.fixture
def database(tmp_path, secret):
    duckdb = pytest.importorskip("duckdb")
    path = tmp_path / "x.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE t AS SELECT 'whale' AS text")
        connection.execute(f"CREATE VIEW evil AS SELECT content AS text FROM read_text('{secret}')")
        connection.execute(f"CREATE VIEW listing AS SELECT file AS text FROM glob('{tmp_path}/*')")
        connection.execute("CREATE MACRO content(path) AS TABLE SELECT content AS text FROM read_text(path)")
    return path


@pytest.mark.parametrize(
    "query",
    [
        "SELECT text FROM evil", "SELECT text FROM listing", "SELECT text FROM content('{secret}')",
        "SELECT content AS text FROM read_text('{secret}')", "SELECT * FROM read_csv('{secret}', header=false)",
        "SELECT * FROM 'https://example.invalid/x.csv'", "SELECT * FROM sqlite_scan('{secret}', 't')",
        "SELECT * FROM '{secret}.parquet'",
    ],
)  # fmt: skip
def test_a_duckdb_file_reads_nothing_but_itself(database, secret, query):
    message = refusal(database, query=query.format(secret=secret))
    assert "must answer the query" in message
    assert "hunter2" not in message
    assert read_corpus(database, query="SELECT text FROM t").texts == ["whale"]


def test_sql_without_a_database_installs_nothing(monkeypatch, tmp_path):
    pytest.importorskip("duckdb")
    monkeypatch.setenv("HOME", str(tmp_path))
    for query in ("SELECT * FROM 'https://example.invalid/x.csv'", "SELECT * FROM sqlite_scan('x.db', 't')"):
        assert "must answer the query" in refusal("duckdb:", query=query)
        assert not (tmp_path / ".duckdb").exists()
    setting = "SELECT current_setting('autoinstall_known_extensions')::VARCHAR AS text"
    assert read_corpus("duckdb:", query=setting).texts == ["false"]


def test_a_duckdb_view_that_repeats_its_file_is_refused(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    path = tmp_path / "x.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE VIEW big AS SELECT repeat('whale ', 10000) AS text FROM range(100000)")
    assert "must not expand more than 200 times" in refusal(path, query="SELECT text FROM big")


# ---- SQLite -------------------------------------------------------------------------------------------------


def sqlite_file(path, *statements):
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()
    return path


def test_a_view_is_not_the_only_table(tmp_path):
    path = sqlite_file(tmp_path / "x.db", f"CREATE VIEW v AS {ENDLESS} WHERE x < 0")
    assert "its tables are: none" in refusal(path)
    sqlite_file(path, "CREATE TABLE t (text)", "INSERT INTO t VALUES ('whale')")
    assert read_corpus(path).texts == ["whale"]


def test_a_query_without_a_record_ends(tmp_path):
    path = sqlite_file(tmp_path / "x.db", f"CREATE VIEW v AS {ENDLESS} WHERE x < 0")
    options = ReadOptions(limits=ReadLimits(max_query_steps=1_000_000))
    message = refusal(path, query="SELECT text FROM v", options=options)
    assert "no record after 1,000,000 steps of SQLite; raise max_query_steps" in message
    late = f"{ENDLESS} WHERE x < 3"
    assert "after record 1: no record after 1,000,000 steps" in refusal(path, query=late, options=options)


@pytest.mark.slow
def test_steps_are_counted_from_the_last_record(tmp_path):
    path = sqlite_file(tmp_path / "x.db", f"CREATE TABLE t AS {ENDLESS} LIMIT 100000")
    corpus = read_corpus(path, options=ReadOptions(limits=ReadLimits(max_query_steps=200_000)))
    assert len(corpus) == 100_000


@pytest.mark.slow
@pytest.mark.parametrize("text", ["'a'", "''", "hex(zeroblob(5000000))"])
def test_a_query_that_yields_without_end_is_refused(tmp_path, text):
    path = sqlite_file(tmp_path / "x.db", f"CREATE VIEW v AS {ENDLESS.replace(chr(39) + 'a' + chr(39), text)}")
    assert "must not expand more than 200 times" in refusal(path, query="SELECT text FROM v")


def test_a_column_that_is_computed_counts_too(tmp_path):
    path = sqlite_file(
        tmp_path / "x.db",
        "CREATE TABLE t (id INTEGER PRIMARY KEY, text AS (hex(zeroblob(30000000))))",
        "INSERT INTO t (id) SELECT value FROM (WITH RECURSIVE c(value) AS "
        "(SELECT 1 UNION ALL SELECT value + 1 FROM c LIMIT 200) SELECT value FROM c)",
    )
    assert "must not expand more than 200 times" in refusal(path)


# ---- Parquet and compressed files ---------------------------------------------------------------------------


def test_a_parquet_file_that_repeats_one_text_is_refused_with_little_memory(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    repeated = pyarrow.DictionaryArray.from_arrays(
        pyarrow.array([0] * 3_000_000, pyarrow.int32()), pyarrow.array(["whale " * 10_000])
    )
    path = tmp_path / "x.parquet"
    parquet.write_table(pyarrow.table({"text": repeated}), path)
    assert path.stat().st_size < 20_000
    program = (
        "import resource, sys; from grampus.text import read_corpus\n"
        "import pyarrow.parquet\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "try: read_corpus(sys.argv[1])\n"
        "except ValueError as error: print(error)\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)"
    )
    done = subprocess.run([sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True)
    message, kilobytes = done.stdout.splitlines()
    assert "must not expand more than 200 times when it is read (max_ratio)" in message
    assert int(kilobytes) < 120_000  # beyond what importing pyarrow takes


def test_parquet_pages_that_unpack_to_much_are_not_unpacked(tmp_path, monkeypatch):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "x.parquet"
    parquet.write_table(
        pyarrow.table({"text": ["w" * 1_000_000] * 50, "id": [str(n) for n in range(50)]}),
        path, compression="zstd", use_dictionary=False,
    )  # fmt: skip
    monkeypatch.setattr(parquet.ParquetFile, "iter_batches", lambda *_, **__: pytest.fail("pages were read"))
    assert "must not expand more than 200 times" in refusal(path)


@pytest.mark.parametrize("size", [10, 1000, 30_000])
def test_honest_parquet_files_are_read_whole(tmp_path, size):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "x.parquet"
    rng = random.Random(0)
    texts = [rng.randbytes(size // 2).hex() for _ in range(600)]
    parquet.write_table(pyarrow.table({"text": texts}), path)
    assert read_corpus(path).texts == texts


@pytest.mark.parametrize(("suffix", "opener"), [(".gz", gzip.open), (".bz2", bz2.open), (".xz", lzma.open)])
def test_a_bomb_of_short_lines_is_refused_before_they_are_read(tmp_path, suffix, opener):
    path = tmp_path / f"x.txt{suffix}"
    with opener(path, "wb") as file:
        file.write(b"a b\n" * 1_500_000)
    assert path.stat().st_size < 30_000
    assert "must not expand more than 200 times" in refusal(path)


def test_a_bomb_in_a_stream_is_refused():
    assert "must not expand" in refusal(io.BytesIO(gzip.compress(b"a b\n" * 1_500_000)), format="lines")


# ---- files that are none ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["fifo", "zero", "large"])
def test_stop_words_come_from_a_regular_file(tmp_path, kind):
    path = tmp_path / "stops"
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "zero":
        path.symlink_to("/dev/zero")
    else:
        with path.open("wb") as file:
            file.truncate(20_000_000)
    error = timing.refusal(stop_words, path)
    assert isinstance(error, InputError)
    assert ("file too large" if kind == "large" else "not a regular file") in str(error)
