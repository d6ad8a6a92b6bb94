"""Records from SQLite, DuckDB and Parquet."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from importlib import import_module
from types import ModuleType
from typing import Any
from urllib.parse import quote

from grampus.errors import CorpusError, MissingExtraError
from grampus.text._options import ReadOptions
from grampus.text._report import said
from grampus.text._rows import Row, Table

__all__ = ["duckdb_table", "parquet_table", "sqlite_table"]

_BATCH = 256


def _names(columns: Sequence[str], name: str) -> tuple[str, ...]:
    repeated = next((column for column in columns if list(columns).count(column) > 1), None)
    if repeated is not None:
        raise CorpusError(
            f"{name} must give different column names; {said(repeated)!r} occurs more than once. Use AS in the query."
        )
    return tuple(columns)


# What a reading query may do. Everything else is refused: ATTACH, for one, could create a file.
_ALLOWED = {getattr(sqlite3, code) for code in ("SQLITE_SELECT", "SQLITE_READ", "SQLITE_FUNCTION", "SQLITE_RECURSIVE")}


def _authorise(action: int, *_: object) -> int:
    return sqlite3.SQLITE_OK if action in _ALLOWED else sqlite3.SQLITE_DENY


def sqlite_table(path: str, name: str, query: str | None, options: ReadOptions) -> Table:
    """Run one SELECT on a SQLite file that is opened read-only."""
    address = f"file:{quote(os.fsencode(os.path.abspath(path)))}?mode=ro"
    try:
        connection = sqlite3.connect(address, uri=True, check_same_thread=False)
    except sqlite3.Error as error:
        raise CorpusError(f"{name} must be a readable SQLite file ({said(error)}).") from error
    try:
        connection.text_factory = bytes  # decoded by the rules for all bytes, so that none can stop the reading
        limit = int(min(options.max_document_bytes, 2**31 - 1))
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, limit)
        if query is None:
            query = _only_table(connection, name)
        connection.set_authorizer(_authorise)
        cursor = connection.execute(query)
        if cursor.description is None:
            raise CorpusError(f"query must be a SELECT; got {said(query)!r}.")
        columns = _names([column[0] for column in cursor.description], name)
    except (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError, MemoryError) as error:
        connection.close()
        if isinstance(error, CorpusError):
            raise
        raise CorpusError(f"{name} must answer the query ({said(error)}).") from error
    return Table(name, "record", columns, _sqlite_rows(connection, cursor, columns, name))


def _only_table(connection: sqlite3.Connection, name: str) -> str:
    """Return a query for the one table there is; with more, the user must choose."""
    found = connection.execute(
        "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%' ORDER BY name"
    )
    names = [row[0].decode("utf-8", "replace") for row in found if isinstance(row[0], bytes)]
    if len(names) != 1:
        listed = said(", ".join(names)) or "none"
        raise CorpusError(f"query must say what to read from {name}; its tables are: {listed}.")
    escaped = names[0].replace('"', '""')
    return f'SELECT * FROM "{escaped}"'  # noqa: S608


def _sqlite_rows(
    connection: sqlite3.Connection, cursor: sqlite3.Cursor, columns: tuple[str, ...], name: str
) -> Iterator[Row]:
    with closing(connection):
        place = 0
        while True:
            try:
                row = cursor.fetchone()
            except (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError, MemoryError) as error:
                raise CorpusError(
                    f"{name} must answer the query to its end; after record {place}: {said(error)}."
                ) from error
            if row is None:
                return
            place += 1
            yield Row(place, dict(zip(columns, row, strict=True)))


def _extra(module: str, extra: str) -> ModuleType:
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise MissingExtraError(
            f"{package} must be installed to read this; run: pip install 'grampus[{extra}]'"
        ) from error


def parquet_table(path: str, name: str, wanted: Sequence[str] | None, options: ReadOptions) -> Table:
    """Read the wanted columns of a Parquet file, a few hundred rows at a time."""
    parquet = _extra("pyarrow.parquet", "parquet")
    try:
        file = parquet.ParquetFile(path)
        columns = _names(file.schema_arrow.names, name)
    except CorpusError:
        raise
    except Exception as error:  # pyarrow raises many kinds for damaged files
        raise CorpusError(f"{name} must be a valid Parquet file ({_first_line(error)}).") from error
    chosen = [column for column in columns if wanted is None or column in wanted]
    return Table(name, "record", columns, _parquet_rows(file, chosen, name))


def _parquet_rows(file: Any, columns: list[str], name: str) -> Iterator[Row]:
    place = 0
    with closing(file):
        batches = file.iter_batches(batch_size=_BATCH, columns=columns, use_threads=False)
        while True:
            try:
                batch = next(batches, None)
                rows = None if batch is None else batch.to_pylist()
            except Exception as error:  # as above
                raise CorpusError(
                    f"{name} must be a valid Parquet file; after record {place}: {_first_line(error)}."
                ) from error
            if rows is None:
                return
            for row in rows:
                place += 1
                yield Row(place, row)


def _first_line(error: Exception) -> str:
    text = str(error).strip()
    return said(text.splitlines()[0] if text else type(error).__name__)


def duckdb_table(path: str, name: str, query: str | None) -> Table:
    """Run one SELECT in DuckDB, on a database file opened read-only or on none."""
    duckdb = _extra("duckdb", "duckdb")
    if query is None:
        raise CorpusError(f"query must say what to read from {name}, such as FROM 'reviews.parquet' in DuckDB.")
    connection: Any = None
    try:
        settings = {"python_enable_replacements": False}
        if path == ":memory:":
            connection = duckdb.connect(path, config=settings)
        else:
            connection = duckdb.connect(path, read_only=True, config=settings)
        statements = connection.extract_statements(query)
        if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
            raise CorpusError(f"query must be one SELECT; got {said(query)!r}.")
        result = connection.execute(query)
        columns = _names([column[0] for column in result.description], name)
    except Exception as error:  # DuckDB raises many kinds, some outside its own tree
        if connection is not None:
            connection.close()
        if isinstance(error, CorpusError):
            raise
        raise CorpusError(f"{name} must answer the query ({_first_line(error)}).") from error
    return Table(name, "record", columns, _duckdb_rows(connection, result, columns, name))


def _duckdb_rows(connection: Any, result: Any, columns: tuple[str, ...], name: str) -> Iterator[Row]:
    place = 0
    with closing(connection):
        while True:
            try:
                rows = result.fetchmany(_BATCH)
            except Exception as error:  # as above
                raise CorpusError(
                    f"{name} must answer the query to its end; after record {place}: {_first_line(error)}."
                ) from error
            if not rows:
                return
            for row in rows:
                place += 1
                yield Row(place, dict(zip(columns, row, strict=True)))
