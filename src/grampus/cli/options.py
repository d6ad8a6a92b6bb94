"""Options that several commands share, and what they are turned into."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar

import click

from .command import MAIN, option, refuse
from .outputs import check_outputs
from .show import plain_options

if TYPE_CHECKING:
    from ..text import Corpus, TermVectorizer

FORMATS = ("folder", "csv", "tsv", "json", "jsonl", "lines", "sqlite", "parquet", "duckdb")
SCHEMES = ("auto", "RED-S", "KKM-S", "KM-S", "KM-P")
Progress = Callable[[str, int, int], None]
if TYPE_CHECKING:
    _Type = click.ParamType[Any]
else:  # generic from click 8.3 on
    _Type = click.ParamType


class Numbers(_Type):
    """Whole numbers as ``2-10`` or ``2,4,8``."""

    name = "RANGE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        """Parse the numbers."""
        if isinstance(value, tuple):
            return value
        found: list[int] = []
        for entry in str(value).split(","):
            match = re.fullmatch(r"\s*(\d{1,6})\s*(?:-\s*(\d{1,6})\s*)?", entry, re.ASCII)
            if match is None or (match[2] and int(match[2]) < int(match[1])):
                self.fail(f"{value!r} must be numbers such as 2-10 or 2,4,8.", param, ctx)
            found.extend(range(int(match[1]), int(match[2] or match[1]) + 1))
        return tuple(sorted(set(found)))


class Count(_Type):
    """A whole number of at least 1, or ``auto``."""

    name = "K|auto"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | str:
        """Parse the number."""
        if value == "auto" or isinstance(value, int):
            return value
        if not re.fullmatch(r"\d{1,9}", str(value), re.ASCII) or int(value) < 1:
            self.fail(f"{value!r} must be a whole number of at least 1, or 'auto'.", param, ctx)
        return int(value)


@dataclass(frozen=True, kw_only=True)
class SourceOptions:
    """How documents are read."""

    heading: ClassVar[str] = "Reading documents"
    text: tuple[str, ...] = option(
        "--text", heading=MAIN, multiple=True, metavar="COLUMN",
        help="Column with the text; repeat it to join several. [text]",
    )  # fmt: skip
    label: str | None = option(
        "--label", heading=MAIN, metavar="COLUMN", help="Column with known classes; 'folder' for a folder."
    )
    id: str | None = option("--id", metavar="COLUMN", help="Column with the id. [id, or the record's number]")
    title: str | None = option("--title", metavar="COLUMN", help="Column with the title.")
    date: str | None = option("--date", metavar="COLUMN", help="Column with the date.")
    query: str | None = option("--query", metavar="SQL", help="One SELECT, for SQLite and DuckDB.")
    format: str | None = option(
        "--format", type=click.Choice(FORMATS), metavar="NAME",
        help=f"{', '.join(FORMATS[:-1])} or {FORMATS[-1]}. [from the file's name]",
    )  # fmt: skip
    encoding: str | None = option("--encoding", metavar="NAME", help="Character encoding. [UTF-8, or detected]")
    pattern: str = option("--pattern", default="*", metavar="GLOB", help="Files of a folder to read. [*]")
    delimiter: str | None = option("--delimiter", metavar="CHARACTER", help="Column separator of a CSV file.")
    skip_errors: bool = option("--skip-errors", is_flag=True, help="Skip and count records that cannot be used.")
    duplicate_ids: str = option(
        "--duplicate-ids", type=click.Choice(["error", "number", "skip"]), default="error", metavar="ACTION",
        help="For an id seen before: error, number (as id#2), or skip. [error]",
    )  # fmt: skip

    def check(self, source: str) -> None:
        """Refuse options that do not apply to the kind of source."""
        if source == "-" or os.path.exists(source):
            folder = self.format == "folder" or (self.format is None and os.path.isdir(source))
            refuse(("delimiter",) if folder else ("pattern",), f"{'when' if folder else 'unless'} SOURCE is a folder")

    @property
    def columns(self) -> dict[str, str]:
        """The columns that were named."""
        named = {"text": "+".join(self.text), "id": self.id, "title": self.title, "label": self.label}
        return {name: column for name, column in (named | {"date": self.date}).items() if column}

    def read(self, source: str, progress: Progress) -> Corpus:
        """Read the documents; guesses and skipped records are in the corpus's notes."""
        import warnings

        from ..text import CorpusWarning, ReadOptions, read_corpus

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CorpusWarning)  # shown with the other notes
            corpus = read_corpus(
                source,
                text=list(self.text) or None,
                id=self.id,
                label=self.label,
                title=self.title,
                date=self.date,
                query=self.query,
                format=self.format,
                encoding=self.encoding,
                on_error="skip" if self.skip_errors else "raise",
                options=ReadOptions(
                    pattern=self.pattern, delimiter=self.delimiter, duplicate_ids=self.duplicate_ids
                ),
                progress=lambda now: progress("reading", round(100 * (now.share or 0.0)), 100),
            )  # fmt: skip
        progress("reading", 100, 100)
        skipped = [f"{count} left out: {reason}." for reason, count in corpus.skipped.items()]
        return replace(corpus, notes=tuple(plain_options(note) for note in (*corpus.notes, *skipped)))


@dataclass(frozen=True, kw_only=True)
class TermOptions:
    """How documents are compared."""

    heading: ClassVar[str] = "Comparing documents"
    kernel: str = option(
        "--kernel", default="cosine|principal(30)|normalise", metavar="KERNEL",
        help="See 'grampus describe-kernel --help'. [cosine|principal(30)|normalise]",
    )  # fmt: skip
    weighting: str | None = option(
        "--weighting", metavar="LETTERS", help="Three letters such as lec: local, global, length. [lec]"
    )
    stop_words: str | None = option(
        "--stop-words", metavar="NAME|FILE", help="smart, english, none, or a file. [smart]"
    )
    stemmer: str | None = option("--stemmer", metavar="LANGUAGE", help="english, german, …, or none. [english]")
    min_df: int | None = option(
        "--min-df", type=click.IntRange(min=1), metavar="N",
        help="Documents that a term must occur in. [3, fewer for small collections]",
    )  # fmt: skip
    ngrams: int | None = option("--ngrams", type=click.IntRange(1, 5), metavar="N", help="Longest term, in words. [1]")

    def check(self) -> None:
        """Refuse an invalid kernel, and options about terms if it compares strings."""
        from ..kernels import parse_kernel

        kernel = parse_kernel(self.kernel)
        if kernel.source.takes == "strings":
            names = [entry.name for entry in fields(self) if entry.name != "kernel"]
            refuse(names, f"with kernel '{kernel}', which compares texts as strings")

    def vectorizer(self, n: int) -> TermVectorizer | None:
        """Return the vectorizer for n documents; None if every option is left to its default."""
        given = {
            name: None if value == "none" and name in ("stop_words", "stemmer") else value
            for name in ("weighting", "stop_words", "stemmer", "min_df")
            if (value := getattr(self, name)) is not None
        }
        if self.ngrams is not None:
            given["ngram_range"] = (1, self.ngrams)
        return default_vectorizer(n).set_params(**given) if given else None


def default_vectorizer(n: int) -> TermVectorizer:
    """Return how n texts become terms by default."""
    from ..documents.inputs import default_terms  # private: wanted as a public name of documents

    return default_terms(n)


@dataclass(frozen=True, kw_only=True)
class SplitOptions:
    """How k is chosen."""

    heading: ClassVar[str] = "Choosing k"
    ks: tuple[int, ...] | None = option("--ks", type=Numbers(), help="Values of k to choose from. [2-10]")
    scheme: str = option(
        "--scheme", type=click.Choice(SCHEMES), metavar="NAME", default="auto",
        help="RED-S, KKM-S, KM-S or KM-P. [KKM-S up to 2,500 documents, then RED-S]",
    )  # fmt: skip
    splits: int = option(
        "--splits", type=click.IntRange(min=1), metavar="N", default=50,
        help="Random halvings of the documents, also for stability. [50]",
    )  # fmt: skip
    null: bool = option("--null", is_flag=True, help="Also test whether there are any groups; slower.")


@dataclass(frozen=True, kw_only=True)
class MachineOptions:
    """Seed, threads and memory."""

    heading: ClassVar[str] = "Reproducibility and resources"
    seed: int = option(
        "--seed", type=click.IntRange(0, 2**32 - 1), metavar="N", default=0, help="Seed of every random step. [0]"
    )
    threads: int | None = option(
        "--threads", type=click.IntRange(min=1), metavar="N", help="Maximum number of threads; results are the same."
    )
    max_memory: str | None = option(
        "--max-memory", metavar="SIZE", help="Memory budget such as 4GB. [half of the machine's]"
    )

    def apply(self) -> dict[str, Any]:
        """Set the memory budget; return seed and threads as an estimator takes them."""
        if self.max_memory is not None:
            from .. import config

            config(memory=self.max_memory)
        return {"random_state": self.seed, "n_jobs": self.threads}


@dataclass(frozen=True, kw_only=True)
class OutputOptions:
    """What is printed."""

    heading: ClassVar[str] = "Output"
    as_json: bool = option("--json", is_flag=True, help="Print one JSON document.")
    quiet: bool = option("-q", "--quiet", is_flag=True, help="Print errors only.")

    @property
    def silent(self) -> bool:
        """Whether nothing is printed for people."""
        return self.quiet or self.as_json


@dataclass(frozen=True, kw_only=True)
class ResultOptions:
    """A table of documents as a file."""

    heading: ClassVar[str] = "Output"
    results: str | None = option(
        "--results", metavar="FILE", type=click.Path(dir_okay=False, allow_dash=True),
        help="Write one row per document to a .csv or .jsonl file, or - for CSV on standard output.",
    )  # fmt: skip
    lossless: bool = option(
        "--lossless", is_flag=True,
        help="Write CSV cells unchanged. By default, cells that a spreadsheet would run are defused.",
    )  # fmt: skip

    def check(self, output: OutputOptions, inputs: Sequence[str | None], **others: str | None) -> None:
        """Fail early: validate outputs before the expensive work."""
        if not self.results:
            refuse(("lossless",), "without --results")
        places = {f"--{name}": place for name, place in others.items()}
        check_outputs(places | {"--results": self.results}, inputs, as_json=output.as_json)

    def write(self, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        """Write the file, if one was requested."""
        if self.results:
            from .results import write_rows

            write_rows(self.results, header, rows, lossless=self.lossless)

    @property
    def on_stdout(self) -> bool:
        """Whether standard output is taken by the rows."""
        return self.results == "-"
