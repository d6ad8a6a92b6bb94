"""Options that several commands share, and what they are turned into."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from ..text.readers import READERS

if TYPE_CHECKING:
    from ..text import Corpus, TermVectorizer

FORMATS = tuple(READERS)
SOURCE_NAMES = ("text", "identity", "title", "label", "date", "query", "kind", "encoding", "pattern", "delimiter",
                "skip_errors", "duplicate_ids")  # fmt: skip
TERM_NAMES = ("weighting", "stop_words", "stemmer", "min_df", "ngrams")
# What the readers call by the names of Python's arguments, and how a person at a terminal asks for it.
SPOKEN = (
    ("with id=, or duplicate_ids='number' or 'skip' in ReadOptions", "with --id, or --duplicate-ids number or skip"),
    ("on_error='skip'", "--skip-errors"),
    ("pass encoding=", "use --encoding"),
    (" (follow_symlinks is off)", ""),
    (" (max_document_bytes)", ""),
    (" (max_total_bytes)", ""),
    (" (max_ratio)", ""),
    ("; raise max_query_steps if the query needs more", ""),
)
SCHEMES = ("auto", "RED-S", "KKM-S", "KM-S", "KM-P")
Command = Callable[..., Any]
if TYPE_CHECKING:
    _Type = click.ParamType[Any]
else:  # generic from click 8.3 on
    _Type = click.ParamType


def _together(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    def add(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return add


class Numbers(_Type):
    """Whole numbers as ``2-10`` or ``2,4,8``."""

    name = "RANGE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> list[int]:
        """Read the numbers."""
        if isinstance(value, list):
            return value
        found: list[int] = []
        for part in str(value).split(","):
            match = re.fullmatch(r"\s*(\d{1,6})\s*(?:-\s*(\d{1,6})\s*)?", part, re.ASCII)
            if match is None or (match[2] and int(match[2]) < int(match[1])):
                self.fail(f"{value!r} must be numbers such as 2-10 or 2,4,8.", param, ctx)
            found.extend(range(int(match[1]), int(match[2] or match[1]) + 1))
        return sorted(set(found))


class Count(_Type):
    """A whole number of at least 1, or ``auto``."""

    name = "K|auto"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | str:
        """Read the number."""
        if value == "auto" or isinstance(value, int):
            return value
        if not re.fullmatch(r"\d{1,9}", str(value), re.ASCII) or int(value) < 1:
            self.fail(f"{value!r} must be a whole number of at least 1, or 'auto'.", param, ctx)
        return int(value)


choice_options = _together(
    click.option("--ks", type=Numbers(), help="Values of k to choose from. [2-10]"),
    click.option(
        "--scheme",
        type=click.Choice(SCHEMES),
        default="auto",
        show_default=True,
        help="How k is chosen; auto is KKM-S up to 2,500 documents, then RED-S.",
    ),
)
source_options = _together(
    click.option("--text", multiple=True, metavar="COLUMN", help="Column of the text; several are joined. [text]"),
    click.option("--id", "identity", metavar="COLUMN", help="Column of the id. [id, or the record's number]"),
    click.option("--title", metavar="COLUMN", help="Column of the title."),
    click.option("--label", metavar="COLUMN", help="Column of known classes; a folder has 'folder'."),
    click.option("--date", metavar="COLUMN", help="Column of the date."),
    click.option("--query", metavar="SQL", help="One SELECT, for SQLite and DuckDB."),
    click.option("--format", "kind", type=click.Choice(FORMATS), help="Of the source, if its name does not tell."),
    click.option("--encoding", help="Of the source. [UTF-8, or detected]"),
    click.option("--pattern", default="*", show_default=True, help="Which files of a folder to read."),
    click.option("--delimiter", metavar="CHARACTER", help="Between the columns of a CSV file."),
    click.option("--skip-errors", is_flag=True, help="Leave out records that cannot be used, and count them."),
    click.option(
        "--duplicate-ids",
        type=click.Choice(["error", "number", "skip"]),
        default="error",
        show_default=True,
        help="What to do with an id seen before: stop, make it id#2, or leave the document out.",
    ),
)

term_options = _together(
    click.option(
        "--kernel",
        default="cosine|principal(30)|normalise",
        show_default=True,
        help="See 'grampus describe-kernel --help'.",
    ),
    click.option("--weighting", help="Three letters such as lec: local, global, length. [lec]"),
    click.option("--stop-words", metavar="NAME|FILE", help="smart, english, none, or a file. [smart]"),
    click.option("--stemmer", help="english, german, …, or none. [english]"),
    click.option("--min-df", type=click.IntRange(min=1), help="Documents a term must be in. [3, fewer for few texts]"),
    click.option("--ngrams", type=click.IntRange(1, 5), help="Longest term, in words. [1]"),
)

machine_options = _together(
    click.option(
        "--seed", type=click.IntRange(0, 2**32 - 1), default=0, show_default=True, help="Of every random step."
    ),
    click.option("--threads", type=click.IntRange(min=1), help="At most so many; results do not depend on it."),
    click.option("--max-memory", metavar="SIZE", help="Such as 4GB. [half of the machine's]"),
)

output_options = _together(
    click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output."),
    click.option("--quiet", "-q", is_flag=True, help="Nothing but errors."),
)

results_options = _together(
    click.option(
        "--results",
        metavar="FILE",
        type=click.Path(dir_okay=False, allow_dash=True),
        help="A row for each document, as .csv or .jsonl; - for standard output (CSV).",
    ),
    click.option(
        "--lossless",
        is_flag=True,
        help="CSV cells exactly as they are. By default those that a spreadsheet would run are made harmless.",
    ),
)


@dataclass(frozen=True)
class Source:
    """Where documents come from: an argument and the options about it."""

    place: str
    options: dict[str, Any]

    @classmethod
    def take(cls, place: str, options: dict[str, Any]) -> Source:
        """Take the options of a source out of all options."""
        if place == "-" or os.path.exists(place):
            folder = options["kind"] == "folder" or (options["kind"] is None and os.path.isdir(place))
            refuse(("delimiter",) if folder else ("pattern",), f"when SOURCE is {'a' if folder else 'no'} folder")
        return cls(place, {name: options.pop(name) for name in SOURCE_NAMES})

    @property
    def columns(self) -> dict[str, str]:
        """The columns that were named."""
        named = {"text": "+".join(self.options["text"]), "id": self.options["identity"]}
        named |= {name: self.options[name] for name in ("title", "label", "date")}
        return {name: column for name, column in named.items() if column}

    def read(self, progress: Callable[..., Any] | None = None) -> Corpus:
        """Read the documents; what was guessed and what was left out stands in the corpus's notes."""
        from ..errors import CorpusError

        try:
            corpus = self._read(progress)
        except CorpusError as error:
            raise CorpusError(_spoken(str(error))) from None
        left = [f"{count} left out: {reason}." for reason, count in corpus.skipped.items()]
        return replace(corpus, notes=tuple(_spoken(note) for note in (*corpus.notes, *left)))

    def _read(self, progress: Callable[..., Any] | None) -> Corpus:
        import warnings

        from ..text import CorpusWarning, ReadOptions, read_corpus

        options = self.options
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CorpusWarning)  # shown with the run's other notes
            return read_corpus(
                self.place,
                text=list(options["text"]) or None,
                id=options["identity"],
                label=options["label"],
                title=options["title"],
                date=options["date"],
                query=options["query"],
                format=options["kind"],
                options=ReadOptions(
                    encoding=options["encoding"],
                    on_error="skip" if options["skip_errors"] else "raise",
                    pattern=options["pattern"],
                    delimiter=options["delimiter"],
                    duplicate_ids=options["duplicate_ids"],
                ),
                progress=progress,
            )


def _spoken(message: str) -> str:
    """Return what a reader said with the command's options in place of Python's arguments."""
    for argument, option in SPOKEN:
        message = message.replace(argument, option)
    return message


def refuse(names: Sequence[str], why: str) -> None:
    """Refuse options of the present command that were given and have no part in what it does."""
    ctx = click.get_current_context()
    given = [
        max(param.opts, key=len)
        for param in ctx.command.params
        if param.name in names and ctx.get_parameter_source(param.name) is ParameterSource.COMMANDLINE
    ]
    if given:
        raise click.UsageError(f"{', '.join(given)} {'has' if len(given) == 1 else 'have'} no part {why}.", ctx)


def check_terms(spelling: str) -> None:
    """Refuse a kernel that cannot be read, and options about terms where it takes texts as they are."""
    from ..kernels import parse_kernel

    kernel = parse_kernel(spelling)
    if kernel.source.takes == "strings":
        refuse(TERM_NAMES, f"with kernel '{kernel}', which compares texts as they are")


def take_terms(options: dict[str, Any], n: int) -> TermVectorizer | None:
    """Take the options about terms out of all options; None if all are left to the defaults."""
    named = {name: options.pop(name) for name in TERM_NAMES}
    given = {name: value for name, value in named.items() if value is not None}
    if not given:
        return None
    from ..documents.inputs import default_terms

    if "ngrams" in given:
        given["ngram_range"] = (1, given.pop("ngrams"))
    for name in ("stop_words", "stemmer"):
        if given.get(name) == "none":
            given[name] = None
    return default_terms(n).set_params(**given)


def use_machine(options: dict[str, Any]) -> dict[str, Any]:
    """Set the memory budget; return seed and threads as an estimator takes them."""
    memory = options.pop("max_memory")
    if memory is not None:
        from .._config import config

        config(memory=memory)
    return {"random_state": options.pop("seed"), "n_jobs": options.pop("threads")}


def repeat_line(ctx: click.Context, **settled: Any) -> str:
    """Return the line that repeats a command; options that were left to their defaults but matter are added."""
    given: list[str] = list(ctx.obj)
    for name, value in settled.items():
        option = f"--{name.replace('_', '-')}"
        if not any(word == option or word.startswith(option + "=") for word in given):
            given += [option, str(value)]
    return shlex.join(["grampus", *given])
