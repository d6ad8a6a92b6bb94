"""What the readers of SQLite, DuckDB and Parquet share."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from math import inf
from types import ModuleType

from ...errors import CorpusError, MissingExtraError
from .log import quoted
from .registry import Record, Source
from .streams import Expansion

BATCH = 256
_RECORD_BYTES = 64  # counted for each record, so that endless empty ones end, too


def import_extra(module: str, extra: str) -> ModuleType:
    """Import an optional dependency, or say how to install it."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise MissingExtraError(f"{package} must be installed for this; run: pip install 'grampus[{extra}]'") from error


def check_names(columns: Sequence[str], name: str) -> tuple[str, ...]:
    """Return the columns' names, which must be different."""
    repeated = next((column for column in columns if list(columns).count(column) > 1), None)
    if repeated is not None:
        raise CorpusError(
            f"{name} must give different column names; {quoted(repeated)!r} occurs more than once. Use AS in the query."
        )
    return tuple(columns)


def expansion(source: Source) -> Expansion:
    """Return a guard that compares records with the size of their file, if there is one."""
    size = os.path.getsize(source.path) if source.path else inf
    return Expansion(source.name, source.limits, size, source.archive)


def read_batches(
    source: Source, batches: Iterator[Sequence[Mapping[str, object]]], explain: Callable[[Exception], str]
) -> Iterator[Record]:
    """Yield the records of batches until there are none, within `max_ratio` times the size of their file."""
    guard, number = expansion(source), 0
    while True:
        try:
            batch = next(batches, None)
        except Exception as error:  # pyarrow and DuckDB raise many kinds, some outside their own trees
            raise CorpusError(
                f"{source.name} must be readable to its end; after record {number}: {explain(error)}."
            ) from error
        if batch is None:
            return
        for values in batch:
            number += 1
            guard.add(_RECORD_BYTES + sum(len(value) for value in values.values() if isinstance(value, str | bytes)))
            yield Record(number, values)


def first_line(error: Exception) -> str:
    """Return the first line of an error's message."""
    text = str(error).strip()
    return quoted(text.splitlines()[0] if text else type(error).__name__)
