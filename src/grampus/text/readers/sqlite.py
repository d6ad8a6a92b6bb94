"""SQLite: the only table of a file, or one SELECT."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from typing import Any
from urllib.parse import quote

from ...errors import CorpusError
from .log import quoted, refusing
from .registry import Reader, Source, Table
from .tables import check_names, read_batches

_STEPS = 100_000  # of SQLite's virtual machine between two calls of the progress handler
# What a query may do. Everything else is refused: ATTACH, for one, could create a file.
_ALLOWED = {getattr(sqlite3, code) for code in ("SQLITE_SELECT", "SQLITE_READ", "SQLITE_FUNCTION", "SQLITE_RECURSIVE")}


def _authorise(action: int, *_: object) -> int:
    return sqlite3.SQLITE_OK if action in _ALLOWED else sqlite3.SQLITE_DENY


class _Steps:
    """A progress handler that ends a query after so many steps of SQLite's virtual machine without a record."""

    def __init__(self, limit: float) -> None:
        self.limit, self.done = limit, 0

    def __call__(self) -> bool:
        self.done += _STEPS
        return self.done > self.limit

    def explain(self, error: Exception) -> str:
        if self.done > self.limit:
            return f"no record after {self.limit:,} steps of SQLite; raise max_query_steps if the query needs more"
        return quoted(error)


def open_sqlite(source: Source) -> Table:
    """Run one SELECT on a SQLite file that is opened read-only."""
    assert source.path is not None
    path = os.path.abspath(source.path)
    # Without pending writes nothing is left beside the file: a reader of a file in WAL mode would make two more.
    still = "" if os.path.exists(f"{path}-wal") or os.path.exists(f"{path}-journal") else "&immutable=1"
    address = f"file:{quote(os.fsencode(path))}?mode=ro{still}"
    steps, query = _Steps(source.limits.max_query_steps), source.query
    with refusing(f"{source.name} must answer the query", steps.explain):
        connection = source.cleanup.enter_context(closing(sqlite3.connect(address, uri=True, check_same_thread=False)))
        connection.text_factory = bytes  # decoded by the rules for all bytes, so that none can stop the reading
        limit = int(min(source.limits.max_document_bytes, 2**31 - 1))
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, limit)
        connection.set_progress_handler(steps, _STEPS)
        if query is None:
            query = _select_only_table(connection, source.name)
        connection.set_authorizer(_authorise)
        cursor = connection.execute(query)
        if cursor.description is None:
            raise CorpusError(f"query must be a SELECT; got {quoted(query)!r}.")
        columns = check_names([column[0] for column in cursor.description], source.name)

    def batches() -> Iterator[list[dict[str, Any]]]:
        while (row := cursor.fetchone()) is not None:
            steps.done = 0
            yield [dict(zip(columns, row, strict=True))]

    return Table("record", columns, read_batches(source, batches(), steps.explain))


def _select_only_table(connection: sqlite3.Connection, name: str) -> str:
    """Return a query for the only table; views are no candidates, as they may compute anything."""
    tables = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name"
    names = [name.decode("utf-8", "replace") for (name,) in connection.execute(tables) if isinstance(name, bytes)]
    if len(names) != 1:
        listed = quoted(", ".join(names)) or "none"
        raise CorpusError(f"query must name what to read from {name}; its tables are: {listed}.")
    escaped = names[0].replace('"', '""')
    return f'SELECT * FROM "{escaped}"'  # noqa: S608


FORMATS = (
    Reader("sqlite", open_sqlite, (".sqlite", ".sqlite3", ".db"), (0, b"SQLite format 3\0"), needs_path=True,
           takes_query=True),
)  # fmt: skip
