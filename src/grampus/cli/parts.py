"""Many documents: whether to work in memory or in parts, and how."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import click

from .command import option
from .show import console, say

if TYPE_CHECKING:
    from .._progress import Progress
    from ..persist import Run
    from ..text import Pieces

TABLE = ".parquet"


@dataclass(frozen=True, kw_only=True)
class PartsOptions:
    """Where the pieces of many documents are."""

    heading: ClassVar[str] = "Many documents"
    scratch: str | None = option(
        "Work in parts, in a folder in this one; removed at the end. [where memory is short]",
        metavar="DIR",
        type=click.Path(file_okay=False),
    )
    dask: str | None = option("Work in parts on Dask: local, or tcp://HOST:PORT.", metavar="local|ADDRESS")

    def apply(self, pieces: Pieces | None, results: str | None, silent: bool) -> bool:
        """Return whether to work in parts, and say so with what it will take; refuse what does not fit."""
        from ..documents.scaled import plan_parts

        asked = self.scratch is not None or self.dask is not None
        if pieces is None:
            if asked:
                raise click.UsageError("--scratch and --dask need a file, a folder or a pattern as SOURCE.")
            return False
        plan = plan_parts(pieces, asked, self.scratch, on_workers=self.dask is not None)
        table = results is not None and Path(results).suffix.lower() == TABLE
        if plan.in_parts and results is not None and not table:
            raise click.UsageError(f"--results must end in {TABLE} in parts: a folder of tables; got {results!r}.")
        if not plan.in_parts and table:
            raise click.UsageError(f"--results must end in .csv or .jsonl in memory; got {results!r}.")
        if plan.in_parts and not silent:
            say(console(stderr=True), plan.sentence)
        return plan.in_parts

    def fit(self, model: Any, pieces: Pieces, results: str | None, progress: Progress) -> Run:
        """Cluster in parts, write the tables that were asked for, and return the run."""
        from ..documents.scaled import open_parts, write_tables

        with ExitStack() as cleanup:
            client = None
            if self.dask is not None:
                from ..scale.dask import connect

                client = connect(self.dask)
                cleanup.callback(_shut, client)
            progress("reading", 0, 1)
            parts = cleanup.enter_context(open_parts(pieces, model.get_params(), None, client, self.scratch))
            progress("reading", 1, 1)
            model.fit(parts, progress=progress)
            if results is not None:
                progress("writing the tables", 0, 1)
                write_tables(parts, Path(results), model.run_)
                progress("writing the tables", 1, 1)
        run: Run = model.run_
        return run


def _shut(client: Any) -> None:
    """Close a client, and the cluster on this machine that it belongs to."""
    cluster = client.cluster
    client.close()
    if cluster is not None:
        cluster.close()
