"""Options that several commands share, and what they are turned into."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import click

from .._config import DEVICES
from ..text.readers import READERS
from ..text.readers.options import SPLITS
from .command import MAIN, choice, given, option, refuse
from .limits import enforce
from .outputs import check_outputs
from .results import write_rows
from .settings import Configured, merged
from .show import console, plain_options, print_json, say
from .types import AT_LEAST_1, FILE, PLACE

if TYPE_CHECKING:
    from .._progress import Progress
    from ..text import Corpus, Pieces, ReadOptions, TermVectorizer

NAMED = 3  # files that a note names
LEAST = 50_000_000  # bytes of memory to work with
SMALL, MEDIUM = 500_000, 30_000_000  # bytes of a file that is read while the rest of the program is loaded
KERNEL = "cosine|principal(auto)|normalise"
FORMATS = tuple(READERS)
_COLUMNS = ("id", "title", "label", "date")
SECONDS = click.FloatRange(min=0, min_open=True, max=1e7)


@dataclass(frozen=True, kw_only=True)
class SourceOptions(Configured):
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
    format: str | None = option("csv, jsonl, html, …, such as for -. [from the name]", type=click.Choice(FORMATS))
    pattern: str | None = option("Files of a folder to read. [*]", metavar="GLOB")
    split: str | None = option(f"A document is: {', '.join(SPLITS[1:])}. [by looking]", type=click.Choice(SPLITS))
    skip_errors: bool = option("Skip and count records that cannot be used.")

    def check(self, source: str) -> None:
        """Refuse options that do not apply to the kind of source."""
        folder = os.path.isdir(source) or self.format == "folder"
        if not folder and (source == "-" or os.path.exists(source)):
            refuse(("pattern",), "unless SOURCE is a folder")

    @property
    def columns(self) -> dict[str, str]:
        """The columns that were named."""
        named = {"text": "+".join(self.text)} | {name: getattr(self, name) for name in _COLUMNS}
        return {name: column for name, column in named.items() if column}

    @property
    def options(self) -> ReadOptions:
        """How records are read: as the settings say, then as the command line does."""
        from ..text import ReadOptions

        given = {"pattern": self.pattern, "split": self.split, "on_error": "skip" if self.skip_errors else None}
        return ReadOptions(**merged(self.settings.reading, **given))

    @property
    def _named(self) -> dict[str, Any]:
        """The columns, the query and the format, as readers take them."""
        named = {name: getattr(self, name) for name in (*_COLUMNS, "query", "format")}
        return {"text": list(self.text) or None, **named}

    def pieces(self, source: str) -> Pieces | None:
        """Return the documents of a file, a folder or a pattern, to be read in pieces; None for other sources."""
        from .._outputs import is_run_folder
        from ..text import read_pieces

        if source in ("-", "duckdb:") or is_run_folder(source):
            return None
        if not os.path.exists(source) and not any(sign in source for sign in "*?["):
            return None  # reading it says what is wrong
        options = self.options
        return read_pieces(source, options=options, skip=options.on_error == "skip", **self._named)

    def begin(self, source: str, threads: int | None) -> Callable[[], Corpus] | None:
        """Begin to read a file in a copy of this process, which meanwhile loads what clusters; None where not worth it.

        A file that takes long is read here, where its progress is shown.
        """
        from .._parallel import may_copy, thread_count

        if not may_copy() or thread_count(threads) < 2 or not os.path.isfile(source):
            return None
        if not SMALL <= os.path.getsize(source) <= MEDIUM:
            return None
        from ..run import Apart, returned

        return Apart(lambda: returned(self._read(source, None)))

    def read(self, source: str, progress: Progress, begun: Callable[[], Corpus] | None = None) -> Corpus:
        """Read the documents, or wait for them; guesses and skipped records are in the corpus's notes."""
        if not os.path.exists(source) and (pieces := self.pieces(source)) is not None:
            return pieces.corpus()
        try:
            corpus = self._read(source, progress) if begun is None else begun()
        except Exception:
            if begun is None:
                raise
            corpus = self._read(source, progress)  # says what is wrong
        progress("reading", 100, 100)
        return replace(corpus, notes=tuple(plain_options(note) for note in (*corpus.notes, *_left_out(corpus))))

    def _read(self, source: str, progress: Progress | None) -> Corpus:
        import warnings

        from ..text import CorpusWarning, read_corpus

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CorpusWarning)  # shown with the other notes
            return read_corpus(source, options=self.options, progress=progress, **self._named)


def _left_out(corpus: Corpus) -> Iterator[str]:
    """Yield what was left out and why, with the first files of each kind; a note of its own tells of Grampus's own."""
    from ..text.readers.members import OWN

    for reason, count in corpus.skipped.items():
        places = [file.path for file in corpus.files if reason in file.reason.split("; ")]
        more = f" and {len(places) - NAMED:,} more" if len(places) > NAMED else ""
        if reason != OWN:
            yield f"{count:,} left out: {reason}{': ' if places else ''}{', '.join(places[:NAMED])}{more}."


@dataclass(frozen=True, kw_only=True)
class TermOptions(Configured):
    """How documents are compared."""

    heading: ClassVar[str] = "Comparing documents"
    kernel: str = option(f"'grampus inspect --kernel TEXT' explains it. [{KERNEL}]", default=KERNEL)
    language: str | None = option("Language of all documents, such as de. [found for each]", metavar="NAME")
    stop_words: str | None = option("A language, english, none or a file. [of the language]", metavar="NAME|FILE")

    def check(self) -> None:
        """Refuse an invalid kernel, and options about terms if it compares strings."""
        from ..kernels import parse_kernel

        self._language()
        kernel = parse_kernel(self.kernel)
        if kernel.reads_only_texts:
            refuse(("language", "stop_words"), f"with kernel '{kernel}', which compares texts as strings")

    def _language(self) -> dict[str, Any]:
        """Return what a language of all documents means for their terms."""
        if self.language in (None, "auto"):
            return {}
        from ..text.languages.table import find_language

        return dict.fromkeys(("stop_words", "stemmer"), find_language(str(self.language)).code)

    def vectorizer(self, n: int) -> TermVectorizer | None:
        """Return the vectorizer for n documents; None if everything is left to its default."""
        values = self._language() | self.settings.terms
        if self.stop_words is not None:
            values["stop_words"] = None if self.stop_words == "none" else self.stop_words
        return default_vectorizer(n).set_params(**values) if values else None


@dataclass(frozen=True, kw_only=True)
class VectorOptions:
    """What is compared besides terms."""

    heading: ClassVar[str] = "Comparing documents"
    meaning: str = choice("Compare meaning besides words: ", ("auto", "on", "off"), default="auto")
    embed: str | None = option(
        "Add embeddings: a model's folder, .onnx file or name, or word vectors as text.", metavar="MODEL"
    )
    embeddings: str | None = option("Add the rows of a .npy, .npz, .safetensors or .parquet file.", type=PLACE)

    def check(self, kernel: str) -> None:
        """Refuse two sources of embeddings; fail early where meaning is asked for and its encoder is missing."""
        if self.embeddings:
            refuse(("embed",), "with --embeddings")
        if self.meaning == "on":
            from ..kernels import parse_kernel
            from ..text.embed.model import MEANING, find_model

            refuse(("embed", "embeddings"), "with --meaning on")
            if kernel != KERNEL and "embedding" not in parse_kernel(kernel).inputs:
                raise click.UsageError(
                    f"--meaning on must be read by the kernel; {kernel!r} does not. Add '@embedding', or leave it out."
                )
            find_model(MEANING)

    @property
    def source(self) -> str | None:
        """What is compared besides words, as a clusterer takes it."""
        return self.embed or (None if self.meaning == "off" else "auto")

    def spelled(self) -> dict[str, str]:
        """Return what the line that repeats a command says about meaning, whatever is installed then."""
        if given(("kernel", "embed", "embeddings")):
            return {}
        from ..text.meaning.encoder import encoder_digest

        return {"meaning": "off" if self.source is None or encoder_digest() is None else "on"}

    def documents(self, corpus: Corpus, kernel: str) -> tuple[Any, Corpus | None]:
        """Return what to cluster, and the corpus that describes it if that is a matrix.

        The rows of --embeddings, matched by id where the file has ids, are added to the terms. A kernel of the user's
        that names no input compares the rows alone.
        """
        if self.embeddings is None:
            return corpus, None
        from ..kernels import parse_kernel
        from ..text import read_embeddings

        reads = ("embedding",) if kernel == KERNEL else parse_kernel(kernel).inputs
        if not {"terms", "embedding"} & set(reads):
            raise click.UsageError(f"--embeddings must be read by the kernel; {kernel!r} does not. Add '@embedding'.")
        rows = read_embeddings(self.embeddings, corpus.ids)
        if reads == ("terms",):
            return rows, corpus
        return corpus.with_input("embedding", rows), None


@dataclass(frozen=True, kw_only=True)
class RowOptions:
    """Rows of numbers that come with new documents."""

    heading: ClassVar[str] = "Reading documents"
    embeddings: str | None = option(
        "Rows of the documents, as of the run: .npy, .npz, .safetensors or .parquet.", type=PLACE
    )

    def add(self, corpus: Corpus) -> Corpus:
        """Return the documents with their rows, matched by id where the file has ids."""
        if self.embeddings is None:
            return corpus
        from ..text import read_embeddings

        return corpus.with_input("embedding", read_embeddings(self.embeddings, corpus.ids))


def default_vectorizer(n: int) -> TermVectorizer:
    """Return how n texts become terms by default."""
    from ..documents import default_terms

    return default_terms(n)


@dataclass(frozen=True, kw_only=True)
class MachineOptions:
    """Seed, threads, memory and device."""

    heading: ClassVar[str] = "Reproducibility and resources"
    seed: int = option("Seed of the random steps. [0]", type=click.IntRange(0, 2**32 - 1), default=0)
    threads: int | None = option("Most threads to use; results are the same.", type=AT_LEAST_1)
    max_memory: str | None = option("Most memory, such as 4GB: refuse more, and stop there.", metavar="SIZE")
    timeout: float | None = option("Most seconds: refuse more, and stop there.", type=SECONDS, metavar="SECONDS")
    device: str | None = option("Use a GPU: cuda, or auto where there is one. [cpu]", type=click.Choice(DEVICES))

    def apply(self) -> None:
        """Set the limits, the number of threads and the device; fail early where there is none."""
        from .. import config
        from .._backend import require_device
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
        require_device()


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

    def print(self, value: Any, *lines: str) -> None:
        """Print a value for programs, or lines for people."""
        if self.as_json:
            print_json(value)
        elif not self.quiet:
            say(console(), *lines)


@dataclass(frozen=True, kw_only=True)
class ResultOptions:
    """A table of documents as a file."""

    heading: ClassVar[str] = "Output"
    results: str | None = option(
        "Write a row per document: .csv, .xlsx, .jsonl, .parquet, or - for standard output.", type=FILE
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
