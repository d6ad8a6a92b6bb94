"""DuckDB: one SELECT on a database file, or on files that the query names."""

from contextlib import closing
from typing import Any

from ...errors import CorpusError
from .log import quoted, refusing
from .registry import Reader, Source, Table
from .tables import BATCH, check_names, first_line, import_extra, read_batches

_SETTINGS = {"python_enable_replacements": False, "autoinstall_known_extensions": False}
# A database file may come from anyone: its views and macros see nothing but the file itself.
_FILE_SETTINGS = {"enable_external_access": False, "autoload_known_extensions": False, "lock_configuration": True}


def open_duckdb(source: Source) -> Table:
    """Run one SELECT in DuckDB, on a database file opened read-only or, without a path, on none."""
    duckdb: Any = import_extra("duckdb", "duckdb")
    query = source.query
    if query is None:
        raise CorpusError(f"query must name what to read from {source.name}, such as FROM 'reviews.parquet' in DuckDB.")
    with refusing(f"{source.name} must answer the query", first_line):
        if source.path is None:
            connection = duckdb.connect(":memory:", config=_SETTINGS)
        else:
            connection = duckdb.connect(source.path, read_only=True, config=_SETTINGS | _FILE_SETTINGS)
        source.cleanup.enter_context(closing(connection))
        statements = connection.extract_statements(query)
        if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
            raise CorpusError(f"query must be one SELECT; got {quoted(query)!r}.")
        result = connection.execute(query)
        columns = check_names([column[0] for column in result.description], source.name)

    fetched = iter(lambda: result.fetchmany(BATCH), [])
    batches = ([dict(zip(columns, row, strict=True)) for row in rows] for rows in fetched)
    return Table("record", columns, read_batches(source, batches, first_line))


FORMATS = (Reader("duckdb", open_duckdb, (".duckdb",), (8, b"DUCK"), needs_path=True, takes_query=True),)
