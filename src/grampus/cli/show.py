"""What people see in a terminal: tables, a chart, progress. Control characters of documents never reach it."""

from __future__ import annotations

import codecs
import errno
import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from rich.console import Console

    from ..persist import Choice, Run

# C0, DEL, C1, line separators, and marks that change the direction of text.
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]+")
BAR = 24
PLAIN = {"█": "#", "◀": "<", "±": "+-", "·": "-", "–": "-", "−": "-", "…": "...", "×": "x",
         "─": "-", "│": "|", "├": "|", "└": "`"}  # fmt: skip


def clean(text: str, width: int = 200) -> str:
    """Return text on one line without anything that a terminal would obey."""
    folded = _UNSAFE.sub(" ", text).strip()
    return folded if len(folded) <= width else folded[: width - 1] + "…"


def console(file: TextIO | None = None) -> Console:
    """Return a console that prints what it is given: no markup, no emoji, no colouring of numbers."""
    from rich.console import Console

    class Plain(Console):
        """A console that leaves a reader who has gone to the command, where rich would end with status 1."""

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))

    return Plain(file=file or sys.stdout, markup=False, emoji=False, highlight=False)


def prepare_streams() -> None:
    """Make standard output and errors fit to be written to: none is missing, and every character has a spelling."""
    codecs.register_error("grampus", spell_out)
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by whoever started the command
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115  (until the end)
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="grampus")


def spell_out(error: UnicodeError) -> tuple[str, int]:
    r"""Return what stands for characters that an encoding lacks: ASCII for our own drawings, escapes for the rest.

    Examples
    --------
    >>> import codecs
    >>> from grampus.cli.show import spell_out
    >>> codecs.register_error("grampus", spell_out)
    >>> "±0.01 ██ ◀ 鯨".encode("ascii", "grampus")
    b'+-0.01 ## < \\u9be8'
    """
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lost = error.object[error.start : error.end]
    return "".join(PLAIN.get(c) or c.encode("ascii", "backslashreplace").decode() for c in lost), error.end


def print_json(value: Any) -> None:
    """Print one JSON document; characters beyond ASCII are escaped."""
    sys.stdout.write(json.dumps(value, indent=1, allow_nan=False) + "\n")


def table(columns: Sequence[tuple[str, str]], rows: Sequence[Sequence[Any]], title: str | None = None) -> Any:
    """Return a rich table; columns are (name, "left" or "right")."""
    from rich.table import Table

    made = Table(title=None if title is None else clean(title), title_justify="left")
    for name, side in columns:
        made.add_column(name, justify="right" if side == "right" else "left", overflow="fold")
    for row in rows:
        made.add_row(*(clean(str(cell)) for cell in row))
    return made


def chart_of_k(choice: Choice) -> str:
    """Return the scores of every k as bars, with the one that was taken marked.

    Examples
    --------
    >>> from grampus.cli.show import chart_of_k
    >>> from grampus.persist import Choice
    >>> print(chart_of_k(Choice(2, "RED-S", (2, 3), (0.9, 0.45), (0.01, 0.02), (2, 3), (2,), 20)))
     k  score
     2  0.90 ±0.01  ████████████████████████ ◀ taken
     3  0.45 ±0.02  ████████████
    """
    top = max((mean for mean in choice.mean if mean is not None), default=0.0)
    lines = [" k  score"]
    for k, mean, error in zip(choice.ks, choice.mean, choice.standard_error, strict=True):
        if mean is None:
            lines.append(f"{k:2d}  –")
            continue
        bar = "█" * round(BAR * max(mean, 0.0) / top) if top > 0 else ""
        mark = " ◀ taken" if k == choice.best else " · close" if k in choice.plausible else ""
        spread = "" if error is None else f" ±{error:.2f}"  # a single split has none
        lines.append(f"{k:2d}  {mean:.2f}{spread}  {bar}{mark}".rstrip())
    return "\n".join(lines)


def show_run(run: Run, out: Console) -> None:
    """Print the chart of k, the clusters and the remarks of a run."""
    if run.evidence.choice is not None:
        out.print(chart_of_k(run.evidence.choice))
        if run.evidence.choice.verdict:
            out.print(clean(run.evidence.choice.verdict, 500))
        out.print()
    stable = any(cluster.stability is not None for cluster in run.evidence.clusters)
    columns = [("#", "right"), ("documents", "right"), ("about", "left"), ("words", "left")]
    columns += [("stable", "right")] if stable else []
    rows = []
    for cluster in run.evidence.clusters:
        words = ", ".join(term.text for term in cluster.terms[3:9])
        row = [cluster.number, cluster.size, cluster.label, words]
        rows.append([*row, "–" if cluster.stability is None else f"{cluster.stability:.2f}"] if stable else row)
    none = f", {run.n_unassigned} in no cluster" if run.n_unassigned else ""
    title = f"{len(run)} documents from {run.provenance.source}, {run.n_clusters} clusters{none}"
    out.print(table(columns, rows, title))
    pairs, odd = len(run.evidence.duplicates), int((run.evidence.oddness >= 0.5).sum())
    out.print(f"{pairs} pairs nearly the same, {odd} odd documents; {run.provenance.seconds:.1f} s")
    for remark in run.evidence.warnings:
        out.print(f"Note: {clean(remark, 500)}")


@contextmanager
def progress(quiet: bool) -> Iterator[Callable[[str, int, int], None]]:
    """Give a function that shows how far a step has come and how long it will take, on a terminal only."""
    if quiet or not sys.stderr.isatty():
        yield lambda *_: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    parts = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*parts, console=console(sys.stderr), transient=True) as bars:
        tasks: dict[str, Any] = {}

        def tell(step: str, done: int, total: int) -> None:
            if step not in tasks:
                tasks[step] = bars.add_task(step, total=total)
            bars.update(tasks[step], completed=done, total=total)

        yield tell
