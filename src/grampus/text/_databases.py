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
from grampus.text._options import MiB, ReadOptions
from grampus.text._report import said
from grampus.text._rows import Row, Table
from grampus.text._streams import Expansion

__all__ = ["duckdb_table", "parquet_table", "sqlite_table"]

_BATCH = 256
_BATCH_BYTES = 64 * MiB
_RECORD = 16  # bytes charged for each record, so that endless empty ones end, too
_STEPS = 100_000  # of SQLite's virtual machine between two calls of the progress handler

_DUCKDB = {"python_enable_replacements": False, "autoinstall_known_extensions": False}
# A database file may come from anyone: its views and macros see nothing but the file itself.
_DUCKDB_FILE = {"enable_external_access": False, "autoload_known_extensions": False, "lock_configuration": True}


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
        steps = _Steps(options.max_query_steps)
        connection.set_progress_handler(steps, _STEPS)
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
        raise CorpusError(f"{name} must answer the query ({steps.reason(error)}).") from error
    rows = _sqlite_rows(connection, cursor, columns, name, steps)
    return Table(name, "record", columns, _limited(rows, path, name, options))


class _Steps:
    """A progress handler that ends a query after so many steps of SQLite's virtual machine without a record."""

    def __init__(self, limit: float) -> None:
        self.limit = limit
        self.done = 0

    def __call__(self) -> bool:
        self.done += _STEPS
        return self.done > self.limit

    def reason(self, error: Exception) -> str:
        if self.done > self.limit:
            return f"no record after {self.limit:,} steps of SQLite; raise max_query_steps if the query needs more"
        return said(error)


def _only_table(connection: sqlite3.Connection, name: str) -> str:
    """Return a query for the one table there is; with more, the user must choose."""
    found = connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name"
    )
    names = [row[0].decode("utf-8", "replace") for row in found if isinstance(row[0], bytes)]
    if len(names) != 1:
        listed = said(", ".join(names)) or "none"
        raise CorpusError(f"query must say what to read from {name}; its tables are: {listed}.")
    escaped = names[0].replace('"', '""')
    return f'SELECT * FROM "{escaped}"'  # noqa: S608


def _sqlite_rows(
    connection: sqlite3.Connection, cursor: sqlite3.Cursor, columns: tuple[str, ...], name: str, steps: _Steps
) -> Iterator[Row]:
    with closing(connection):
        place = 0
        while True:
            try:
                row = cursor.fetchone()
            except (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError, MemoryError) as error:
                raise CorpusError(
                    f"{name} must answer the query to its end; after record {place}: {steps.reason(error)}."
                ) from error
            if row is None:
                return
            place += 1
            steps.done = 0
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
    expansion = Expansion(name, options, os.path.getsize(path))
    largest = total = 0
    for group in range(file.metadata.num_row_groups):
        for number in range(file.metadata.num_columns):
            column = file.metadata.row_group(group).column(number)
            if column.path_in_schema.partition(".")[0] in chosen:
                largest, total = max(largest, column.total_uncompressed_size), total + column.total_uncompressed_size
    try:
        expansion.add(total)
    except CorpusError:
        file.close()
        raise
    # A value may be as large as all that its column chunk holds, and dictionaries repeat it for every row.
    batch = min(_BATCH, max(4, _BATCH_BYTES // max(largest, 1)))
    return Table(name, "record", columns, _limited(_parquet_rows(file, chosen, name, batch), path, name, options))


def _limited(rows: Iterator[Row], path: str, name: str, options: ReadOptions) -> Iterator[Row]:
    """Pass records on until they hold `max_ratio` times as much as their file."""
    expansion = Expansion(name, options, os.path.getsize(path))
    for row in rows:
        expansion.add(_RECORD + sum(len(value) for value in row.values.values() if isinstance(value, str | bytes)))
        yield row


def _parquet_rows(file: Any, columns: list[str], name: str, batch_size: int) -> Iterator[Row]:
    place = 0
    with closing(file):
        batches = file.iter_batches(batch_size=batch_size, columns=columns, use_threads=False)
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


def duckdb_table(path: str, name: str, query: str | None, options: ReadOptions) -> Table:
    """Run one SELECT in DuckDB, on a database file opened read-only or on none."""
    duckdb = _extra("duckdb", "duckdb")
    if query is None:
        raise CorpusError(f"query must say what to read from {name}, such as FROM 'reviews.parquet' in DuckDB.")
    connection: Any = None
    try:
        if path == ":memory:":
            connection = duckdb.connect(path, config=_DUCKDB)
        else:
            connection = duckdb.connect(path, read_only=True, config={**_DUCKDB, **_DUCKDB_FILE})
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
    rows = _duckdb_rows(connection, result, columns, name)
    if path != ":memory:":
        rows = _limited(rows, path, name, options)
    return Table(name, "record", columns, rows)


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
