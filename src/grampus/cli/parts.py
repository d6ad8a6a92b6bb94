"""Many documents: read them in pieces, on this machine or on Dask workers."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import click

from .command import option, refuse
from .show import console, one_step, say
from .types import FOLDER

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._progress import Progress
    from ..persist import Run
    from ..text import Corpus
    from .options import SourceOptions

IN_MEMORY = 15.0  # bytes for each byte of text, an estimate on the safe side


@dataclass(frozen=True, kw_only=True)
class PartsOptions:
    """Where the pieces of many documents are, and who works on them."""

    heading: ClassVar[str] = "Many documents"
    scratch: str | None = option(
        "Keep texts in a folder in this one, not in memory; removed at the end. [where memory is short]",
        metavar="DIR",
        type=FOLDER,
    )
    dask: str | None = option("Let Dask workers read and count: local, or tcp://HOST:PORT.", metavar="local|ADDRESS")
    tables: str | None = option("Write one row per document as Parquet files in a folder.", metavar="DIR", type=FOLDER)

    def gather(
        self,
        cleanup: ExitStack,
        reader: SourceOptions,
        source: str,
        progress: Progress,
        begun: Callable[[], Corpus] | None,
        *,
        silent: bool,
    ) -> Corpus | Any:
        """Read the documents: a corpus, or the pieces of a collection that is too large to be held."""
        from .._config import settings
        from ..documents.given.large import HELD_BYTES, gathered

        pieces, asked = reader.pieces(source), self.scratch is not None or self.dask is not None
        if pieces is None and asked:
            raise click.UsageError("--scratch and --dask need a file, a folder or a pattern as SOURCE.")
        size = 0 if pieces is None else pieces.text_size
        if pieces is None or not (asked or size > HELD_BYTES or IN_MEMORY * size > settings().memory):
            return reader.read(source, progress, begun)
        client = None
        if self.dask is not None:
            from ..run.dask import connected

            client = cleanup.enter_context(connected(self.dask))
            if not silent and (self.dask != "local" or find_spec("bokeh")):  # our own needs it to draw
                say(console(stderr=True), f"Dask dashboard: {client.dashboard_link}")
        with one_step(progress, "reading"):
            return cleanup.enter_context(gathered(pieces, client=client, scratch=self.scratch))

    def check(self, documents: Any, *options: str) -> None:
        """Refuse options that need all documents at once, for a collection that is too large for that."""
        from ..text.spool import Spool

        if isinstance(documents, Spool):
            refuse(options, f"for {documents.documents:,} documents; --tables writes results of all")

    def write(self, documents: Any, run: Run, progress: Progress) -> None:
        """Write the tables, where they are asked for."""
        from ..documents.given.large import write_tables

        if self.tables is not None:
            with one_step(progress, "writing the tables"):
                write_tables(documents, Path(self.tables), run)
