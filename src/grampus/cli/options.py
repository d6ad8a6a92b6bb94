"""Options that several commands share, and what they are turned into."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar

import click

from .._config import DEVICES
from ..text.readers import READERS
from ..text.readers.options import SPLITS
from .command import MAIN, option, refuse
from .limits import enforce
from .outputs import check_outputs
from .results import write_rows
from .show import plain_options

if TYPE_CHECKING:
    from .._progress import Progress
    from ..documents import Effort
    from ..text import Corpus, Pieces, ReadOptions, TermVectorizer

FORMATS = tuple(READERS)
LEAST = 50_000_000  # bytes of memory to work with
SCHEMES = click.Choice(["levels", "auto", "RED-S", "KKM-S", "KM-S", "KM-P"])
ACTIONS = click.Choice(["auto", "error", "number", "skip"])
KERNEL = "cosine|principal(auto)|normalise"
_COLUMNS = ("id", "title", "label", "date")
FILE = click.Path(dir_okay=False, allow_dash=True)
SECONDS = click.FloatRange(min=0, min_open=True, max=1e7)
AT_LEAST_1 = click.IntRange(min=1)
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
        "Column with the text; may be repeated. [text, or guessed]", heading=MAIN, multiple=True, metavar="COLUMN"
    )
    label: str | None = option("Column with known classes; 'folder' for a folder.", heading=MAIN, metavar="COLUMN")
    id: str | None = option("Column with the id. [id, or the record's number]", metavar="COLUMN")
    title: str | None = option("Column with the title.", metavar="COLUMN")
    date: str | None = option("Column with the date.", metavar="COLUMN")
    query: str | None = option("One SELECT, for SQLite and DuckDB.", metavar="SQL")
    format: str | None = option(f"{', '.join(FORMATS)}. [from the file's name]", type=click.Choice(FORMATS))
    encoding: str | None = option("Character encoding. [UTF-8, or detected]", metavar="NAME")
    pattern: str = option("Files of a folder to read. [*]", default="*", metavar="GLOB")
    delimiter: str | None = option("Column separator of a CSV file.", metavar="CHARACTER")
    skip_errors: bool = option("Skip and count records that cannot be used.")
    duplicate_ids: str = option(
        "For an id seen before: error, number or skip. [number; error with --id]", type=ACTIONS, default="auto"
    )
    split: str = option(
        f"A document is: {', '.join(SPLITS[1:])}. [by looking]", type=click.Choice(SPLITS), default="auto"
    )

    month_first: bool = option("Read 03/04/2024 as 4 March. [by the other dates]")

    def check(self, source: str) -> None:
        """Refuse options that do not apply to the kind of source."""
        if source == "-" or os.path.exists(source):
            folder = self.format == "folder" or (self.format is None and os.path.isdir(source))
            refuse(("delimiter",) if folder else ("pattern",), f"{'when' if folder else 'unless'} SOURCE is a folder")

    @property
    def columns(self) -> dict[str, str]:
        """The columns that were named."""
        named = {"text": "+".join(self.text)} | {name: getattr(self, name) for name in _COLUMNS}
        return {name: column for name, column in named.items() if column}

    @property
    def options(self) -> ReadOptions:
        """How records are read."""
        from ..text import ReadOptions

        return ReadOptions(
            encoding=self.encoding,
            on_error="skip" if self.skip_errors else "raise",
            pattern=self.pattern,
            delimiter=self.delimiter,
            duplicate_ids=self.duplicate_ids,
            split=self.split,
            day_first=False if self.month_first else None,
        )

    def pieces(self, source: str) -> Pieces | None:
        """Return the documents of a file, a folder or a pattern, to be read in pieces; None for other sources."""
        from ..text import read_pieces

        if source in ("-", "duckdb:") or (
            os.path.isdir(source) and os.path.exists(os.path.join(source, "manifest.json"))
        ):
            return None
        if not os.path.exists(source) and not any(sign in source for sign in "*?["):
            return None  # reading it says what is wrong
        given = {name: getattr(self, name) for name in (*_COLUMNS, "query", "format")}
        return read_pieces(source, text=list(self.text) or None, options=self.options, skip=self.skip_errors, **given)

    def read(self, source: str, progress: Progress) -> Corpus:
        """Read the documents; guesses and skipped records are in the corpus's notes."""
        import warnings

        from ..text import CorpusWarning, read_corpus

        if not os.path.exists(source) and (pieces := self.pieces(source)) is not None:
            return pieces.corpus()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CorpusWarning)  # shown with the other notes
            corpus = read_corpus(
                source,
                text=list(self.text) or None,
                options=self.options,
                progress=progress,
                **{name: getattr(self, name) for name in (*_COLUMNS, "query", "format")},
            )
        progress("reading", 100, 100)
        skipped = [f"{count} left out: {reason}." for reason, count in corpus.skipped.items()]
        return replace(corpus, notes=tuple(plain_options(note) for note in (*corpus.notes, *skipped)))


@dataclass(frozen=True, kw_only=True)
class TermOptions:
    """How documents are compared."""

    heading: ClassVar[str] = "Comparing documents"
    kernel: str = option(f"See 'grampus describe-kernel --help'. [{KERNEL}]", default=KERNEL)
    weighting: str | None = option("Three letters such as lec: local, global, length. [lec]", metavar="LETTERS")
    language: str | None = option(
        "Language of all documents, such as de or German. [auto: found for each]", metavar="NAME"
    )
    stop_words: str | None = option("A language, english, none or a file. [of the language]", metavar="NAME|FILE")
    stemmer: str | None = option("english, german, …, or none. [of the language]", metavar="LANGUAGE")
    no_clean: bool = option("Count mail headers, signatures, addresses and markup, too.")
    min_df: int | None = option("Documents a term must occur in. [3, or fewer]", type=AT_LEAST_1)
    ngrams: int | None = option("Longest term, in words. [1]", type=click.IntRange(1, 5))

    def check(self) -> None:
        """Refuse an invalid kernel, and options about terms if it compares strings."""
        from ..kernels import parse_kernel

        if self.language not in (None, "auto"):
            from ..text.languages import find_language

            find_language(str(self.language))
        kernel = parse_kernel(self.kernel)
        if kernel.reads_only_texts:
            names = [entry.name for entry in fields(self) if entry.name != "kernel"]
            refuse(names, f"with kernel '{kernel}', which compares texts as strings")

    def vectorizer(self, n: int) -> TermVectorizer | None:
        """Return the vectorizer for n documents; None if every option is left to its default."""
        given: dict[str, Any] = {}
        if self.language not in (None, "auto"):
            from ..text.languages import find_language

            given = dict.fromkeys(("stop_words", "stemmer"), find_language(str(self.language)).code)
        given |= {
            name: None if value == "none" and name in ("stop_words", "stemmer") else value
            for name in ("weighting", "stop_words", "stemmer", "min_df")
            if (value := getattr(self, name)) is not None
        }
        if self.ngrams is not None:
            given["ngram_range"] = (1, self.ngrams)
        if self.no_clean:
            given["clean"] = False
        return default_vectorizer(n).set_params(**given) if given else None


@dataclass(frozen=True, kw_only=True)
class VectorOptions:
    """What is compared besides terms."""

    heading: ClassVar[str] = "Comparing documents"
    vectors: str | None = option(
        "Add word vectors: a name from 'grampus vectors list', or a file.", metavar="NAME|FILE"
    )
    embed: str | None = option("Add embeddings by a model: a folder, an .onnx file, or a name.", metavar="MODEL")
    embeddings: str | None = option(
        "Add the rows of a .npy, .npz, .safetensors or .parquet file.", type=click.Path(dir_okay=False)
    )

    def check(self) -> None:
        """Refuse two sources of embeddings."""
        if self.embeddings:
            refuse(("embed",), "with --embeddings")

    def documents(self, corpus: Corpus, kernel: str) -> tuple[Any, Corpus | None]:
        """Return what to cluster, and the corpus that describes it if that is a matrix.

        The rows of --embeddings, matched by id where the file has ids, are added to the terms. A kernel of the user's
        that names no input compares the rows alone.
        """
        if self.embeddings is None:
            return corpus, None
        from ..kernels import parse_kernel
        from ..text import read_embeddings

        rows = read_embeddings(self.embeddings, corpus.ids)
        if kernel != KERNEL and parse_kernel(kernel).inputs == ("terms",):
            return rows, corpus
        return corpus.with_input("embedding", rows), None


def default_vectorizer(n: int) -> TermVectorizer:
    """Return how n texts become terms by default."""
    from ..documents import default_terms

    return default_terms(n)


@dataclass(frozen=True, kw_only=True)
class SplitOptions:
    """How k is chosen."""

    heading: ClassVar[str] = "Choosing k"
    ks: tuple[int, ...] | None = option("Values of k to choose from. [2 to about 2 √n]", type=Numbers())
    scheme: str = option(
        "levels, or the papers' auto, RED-S, KKM-S, KM-S, KM-P. [levels]", type=SCHEMES, default=SCHEMES.choices[0]
    )
    splits: int = option("Random halvings of those schemes, and for stability. [50]", type=AT_LEAST_1, default=50)
    null: bool = option("Also test whether there are any groups with those schemes; slower.")

    def effort(self, **others: Any) -> Effort:
        """Return the options as DocumentClusterer takes them, with others of its effort."""
        from ..documents import Effort

        return Effort(ks=self.ks, scheme=self.scheme, n_splits=self.splits, null=self.null, **others)


@dataclass(frozen=True, kw_only=True)
class MachineOptions:
    """Seed, threads, memory and device."""

    heading: ClassVar[str] = "Reproducibility and resources"
    seed: int = option("Seed of every random step. [0]", type=click.IntRange(0, 2**32 - 1), default=0)
    threads: int | None = option("Most threads to use; results are the same.", type=AT_LEAST_1)
    max_memory: str | None = option("Most memory, such as 4GB: refuse more, and stop there.", metavar="SIZE")
    timeout: float | None = option("Most seconds: refuse more, and stop there.", type=SECONDS, metavar="SECONDS")
    device: str | None = option("Use a GPU: cuda, or auto where there is one. [cpu]", type=click.Choice(DEVICES))

    def apply(self) -> None:
        """Set the limits, the number of threads and the device; fail early where there is none."""
        from .. import config
        from .._backend import current
        from .._config import format_size, parse_size
        from .._memory import resident

        if self.timeout is not None and not self.timeout > 0:
            raise click.UsageError("--timeout must be a number of seconds above 0.")
        most = None if self.max_memory is None else parse_size(self.max_memory, "max_memory")
        now = resident() or 0
        if most is not None and most < now + LEAST:
            raise click.UsageError(
                f"--max-memory must leave room for work: Grampus itself takes {format_size(now)} before it reads "
                f"anything. Got {format_size(most)}; set at least {format_size(now + LEAST)}."
            )
        # The limit is for the whole process, the budget for its arrays: what is left of it.
        budget = None if most is None else min(most - now, config().memory)
        config(memory=budget, threads=self.threads, device=self.device, max_memory=most, timeout=self.timeout)
        enforce(self.timeout, most)
        current()


@dataclass(frozen=True, kw_only=True)
class OutputOptions:
    """What is printed."""

    heading: ClassVar[str] = "Output"
    as_json: bool = option("Print one JSON document.", "--json")
    quiet: bool = option("Print errors only.", "-q", "--quiet")

    @property
    def silent(self) -> bool:
        """Whether nothing is printed for people."""
        return self.quiet or self.as_json


@dataclass(frozen=True, kw_only=True)
class ResultOptions:
    """A table of documents as a file."""

    heading: ClassVar[str] = "Output"
    results: str | None = option(
        "Write one row per document to a .csv or .jsonl file, or - for standard output.", type=FILE
    )
    lossless: bool = option("Keep CSV cells that a spreadsheet would run.")

    def check(self, output: OutputOptions, inputs: Sequence[str | None], **others: str | None) -> None:
        """Fail early: validate outputs before the expensive work."""
        if not self.results:
            refuse(("lossless",), "without --results")
        places = {f"--{name}": place for name, place in others.items()}
        check_outputs(places | {"--results": self.results}, inputs, as_json=output.as_json)

    def write(self, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        """Write the file, if one was requested."""
        if self.results:
            write_rows(self.results, header, rows, lossless=self.lossless)

    @property
    def on_stdout(self) -> bool:
        """Whether standard output is taken by the rows."""
        return self.results == "-"
