"""Results as rows of a table, and as text: CSV that is safe to open in a spreadsheet, or exact; JSONL."""

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias

Run: TypeAlias = Any  # that of persist

# Characters that start a formula in a spreadsheet: OWASP's list, and their full-width forms.
TRIGGERS = "=+-@\t\r\n\x00＝＋－＠"
_BREAKS = re.compile("[\x00\t\r\n\v\f\x85\u2028\u2029]")
_LINES = re.compile("[\x85\u2028\u2029]")  # line breaks to Python and JavaScript, not to JSON
# Spreadsheets skip these before a formula: blanks, controls, and characters without width.
_SKIPPED = re.compile(
    "[\\s\x00-\x20\x7f-\xa0\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff]*"
)


def harmless(cell: str) -> str:
    r"""Defuse a cell: an apostrophe before what a spreadsheet would run, and blanks for line breaks.

    Examples
    --------
    >>> from grampus._rows import harmless
    >>> harmless("=1+1"), harmless("a\tb"), harmless("whale")
    ("'=1+1", 'a b', 'whale')
    """
    risky = cell[:1] in TRIGGERS if cell else False
    folded = _BREAKS.sub(" ", cell)
    first = _SKIPPED.match(cell)
    shown = cell[first.end() : first.end() + 1] if first else ""
    return f"'{folded}" if risky or (shown and shown in TRIGGERS) else folded


def csv_text(header: Sequence[str], rows: Iterable[Sequence[Any]], *, lossless: bool) -> str:
    """Return rows as CSV; strings are defused unless `lossless`. Numbers are unchanged."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)  # a lone carriage return must be quoted
    for row in ([*header], *rows):
        writer.writerow(row if lossless else [harmless(cell) if isinstance(cell, str) else cell for cell in row])
    return out.getvalue()


def jsonl_text(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return rows as JSON, one line each; always lossless."""
    lines = (json.dumps(dict(zip(header, row, strict=True)), ensure_ascii=False, allow_nan=False) for row in rows)
    return "".join(_LINES.sub(lambda found: f"\\u{ord(found[0]):04x}", line) + "\n" for line in lines)


def document_rows(run: Run) -> tuple[list[str], Iterator[list[Any]]]:
    """Return the columns and rows of the documents of a run; what is unknown is None, and so is no cluster."""
    singular = {"titles": "title", "classes": "label", "dates": "date", "excerpts": "excerpt"}
    columns = {name: column for part, name in singular.items() if (column := getattr(run.documents, part)) is not None}
    seen = run.evidence
    names = [cluster.name for cluster in seen.clusters]
    others = [name for name in run.levels if name != (run.level or "middle")]
    levels = {name: (run.level_labels(name), run.level_names(name)) for name in others}
    others = [f"{what}_{name}" for name in levels for what in ("cluster", "name")]
    first, *figures = seen.figures()
    header = ["id", "cluster", "name", "words", first, "second", *figures, *others, *columns]

    def rows() -> Iterator[list[Any]]:
        for i, cluster in enumerate(seen.labels.tolist()):
            yield [
                run.documents.ids[i],
                *cluster_cells(cluster, names),
                "" if cluster < 0 else ", ".join(seen.clusters[cluster].words),
                rounded(getattr(seen, first)[i]),
                cluster_cells(int(seen.second[i]), names)[0],
                *(rounded(getattr(seen, name)[i]) for name in figures),
                *(cell for labels, called in levels.values() for cell in cluster_cells(int(labels[i]), called)),
                *(column[i] for column in columns.values()),
            ]

    return header, rows()


def cluster_cells(cluster: int, names: Sequence[str]) -> tuple[int | None, str]:
    """Return the number and the name of a document's cluster; nothing where it is in none."""
    return (None, "no cluster") if cluster < 0 else (cluster, names[cluster])


def rounded(value: Any) -> float | None:
    """Return a figure as a table has it; None for what is unknown."""
    return None if value != value else round(float(value), 4)  # noqa: PLR0124  (not a number)
