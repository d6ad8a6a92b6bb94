"""Parquet and Arrow: a record per row, a few hundred at a time."""

from collections.abc import Iterator
from contextlib import closing
from functools import partial
from typing import Any

from .log import refusing
from .options import MB
from .registry import Reader, Source, Table
from .tables import BATCH, check_names, expansion, first_line, import_extra, read_batches

_BATCH_BYTES = 64 * MB
_SMALLEST_BATCH = 8


def open_parquet(source: Source) -> Table:
    """Read the wanted columns of a Parquet file."""
    parquet: Any = import_extra("pyarrow.parquet", "parquet")
    with refusing(f"{source.name} must be a valid Parquet file", first_line):
        file = source.cleanup.enter_context(closing(parquet.ParquetFile(source.path or source.seekable())))
        columns = check_names(file.schema_arrow.names, source.name)
        chosen = _chosen(file.schema_arrow, columns, source.wanted)
        # Not the columns' own sizes: pyarrow aborts the process where their metadata are damaged.
        groups = [file.metadata.row_group(number) for number in range(file.metadata.num_row_groups)]
        sizes = [max(group.total_byte_size, 1) for group in groups]  # decompressed, but still encoded
    expansion(source).add(sum(sizes))
    # A value may be as large as everything in its row group, and a dictionary may repeat it in every row.
    rows = min(BATCH, max(_SMALLEST_BATCH, _BATCH_BYTES // max(sizes, default=1)))
    batches = file.iter_batches(batch_size=rows, columns=chosen, use_threads=False)
    return Table("record", columns, read_batches(source, (batch.to_pylist() for batch in batches), first_line))


def _chosen(schema: Any, columns: tuple[str, ...], wanted: tuple[str, ...] | None) -> list[str]:
    """Return the columns to read: those wanted, in any case, or all that are no lists and no structures."""
    if wanted is None:
        return [name for name in columns if not schema.field(columns.index(name)).type.num_fields]
    folded = {name.casefold() for name in wanted}
    return [column for column in columns if column.casefold() in folded]


def open_arrow(source: Source) -> Table:
    """Read the wanted columns of an Arrow file (Feather 2)."""
    ipc, arrow = (import_extra(name, "parquet") for name in ("pyarrow.ipc", "pyarrow"))
    with refusing(f"{source.name} must be a valid Arrow file", first_line):
        # A file that Arrow opens itself is closed when Python comes by.
        given = source.cleanup.enter_context(arrow.OSFile(source.path)) if source.path else source.seekable()
        file = source.cleanup.enter_context(ipc.open_file(given))
        columns = check_names(file.schema.names, source.name)
        chosen = _chosen(file.schema, columns, source.wanted)
        count = file.num_record_batches
    return Table("record", columns, read_batches(source, _slices(file, count, chosen), first_line))


def _slices(file: Any, count: int, chosen: list[str]) -> Iterator[list[dict[str, Any]]]:
    for number in range(count):
        batch = file.get_batch(number).select(chosen)
        batch.validate(full=True)  # offsets beyond the data would end the process
        for start in range(0, batch.num_rows, BATCH):
            yield batch.slice(start, BATCH).to_pylist()


_row = partial(Reader, needs_path=True, in_folder=True, tabular=True)
FORMATS = (
    _row("parquet", open_parquet, (".parquet", ".pq"), (0, b"PAR1")),
    _row("arrow", open_arrow, (".arrow", ".feather"), (0, b"ARROW1")),
)
