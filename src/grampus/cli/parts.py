"""Many documents: whether to work in memory or in parts, and how."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import click

from .command import option, refuse
from .show import console, say

if TYPE_CHECKING:
    from .._progress import Progress
    from ..documents.scaled import Planned
    from ..persist import Run
    from ..text import Pieces


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

    tables: str | None = option(
        "In parts: write one row per document as Parquet files in a folder.",
        metavar="DIR",
        type=click.Path(file_okay=False),
    )

    def plan(self, pieces: Pieces | None) -> Planned:
        """Return whether to work in parts, and what that will take; refuse what does not fit."""
        from ..documents.scaled import Planned, plan_parts

        asked = self.scratch is not None or self.dask is not None
        if pieces is None:
            if asked:
                raise click.UsageError("--scratch and --dask need a file, a folder or a pattern as SOURCE.")
            return Planned(False)
        plan = plan_parts(pieces, asked, self.scratch, on_workers=self.dask is not None)
        if plan.in_parts:
            refuse(("results", "lossless"), "in parts; --tables writes them")
        else:
            refuse(("tables",), "in memory; --results writes them")
        return plan

    def fit(self, model: Any, pieces: Pieces, plan: Planned, progress: Progress, *, silent: bool) -> Run:
        """Cluster in parts, write the tables that were asked for, and return the run."""
        from ..documents.scaled import check_model, open_parts, write_tables

        check_model(model, {})
        if not silent:
            say(console(stderr=True), plan.sentence)
        with ExitStack() as cleanup:
            client = None
            if self.dask is not None:
                from ..scale.dask import connected

                client = cleanup.enter_context(connected(self.dask))
                if not silent and (self.dask != "local" or find_spec("bokeh")):  # our own needs it to draw
                    say(console(stderr=True), f"Dask dashboard: {client.dashboard_link}")
            progress("reading", 0, 1)
            parts = cleanup.enter_context(open_parts(pieces, model.get_params(), None, client, self.scratch))
            progress("reading", 1, 1)
            model.fit(parts, progress=progress)
            if self.tables is not None:
                progress("writing the tables", 0, 1)
                write_tables(parts, Path(self.tables), model.run_)
                progress("writing the tables", 1, 1)
        run: Run = model.run_
        return run
