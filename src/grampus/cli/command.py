"""Commands whose options are the fields of a frozen dataclass, listed in the help under headings.

A field that is a dataclass itself holds options that several commands share.
"""

from __future__ import annotations

import inspect
import re
import shlex
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import field, fields
from typing import Any, TypeVar, get_type_hints

import click
from click.core import ParameterSource

from .._secrets import masked_words

MAIN = "Main options"
_LIMITS = re.compile(r"\s+\[(?:\d+<=?)?x[<>]=?[\d.]+\]$")  # the errors name them
MOVED = {  # options of 0.2, for the error about them
    "--encoding": "[reading] encoding", "--delimiter": "[reading] delimiter",
    "--duplicate-ids": "[reading] duplicate_ids", "--month-first": "[reading] day_first",
    "--weighting": "[terms] weighting", "--stemmer": "[terms] stemmer", "--min-df": "[terms] min_df",
    "--ngrams": "[terms] ngram_range", "--no-clean": "[terms] clean", "--init": "[methods.kernel-kmeans] init",
    "--ks": "[effort] ks", "--scheme": "[effort] scheme", "--splits": "[effort] n_splits", "--null": "[effort] null",
    "--starts": "[effort] n_init", "--no-polish": "[effort] polish", "--labels-known": "[guide] labels",
    "--must-link": "[guide] must_link", "--cannot-link": "[guide] cannot_link", "--keep-labels": "[guide] fixed",
    "--names": "[naming] names", "--name-timeout": "[naming] timeout", "--vectors": "--embed FILE",
    "--full-text": "--texts full", "--no-text": "--texts none", "--seed-terms": "--topics FILE",
    "--name-url": "[naming] url",
}  # fmt: skip
T = TypeVar("T")


def argument(**settings: Any) -> Any:
    """Declare a positional argument as a field."""
    return field(metadata={"make": lambda name, hint: click.Argument([name], **settings)})


def option(help: str, *flags: str, heading: str | None = None, **settings: Any) -> Any:  # noqa: A002
    """Declare an option as a field; by default its flag is the field's name, and a bool takes no value.

    It is listed under `heading`, or under the heading of its dataclass.
    """

    def make(name: str, hint: Any) -> click.Option:
        names = flags or (f"--{name.replace('_', '-')}",)
        kind = settings.get("type")
        if isinstance(kind, click.IntRange | click.Choice):  # the help lists the values, errors name the limits
            settings.setdefault("metavar", "N" if isinstance(kind, click.IntRange) else "NAME")
        return click.Option([name, *names], help=help, is_flag=hint is bool, **settings)

    return field(metadata={"make": make, "heading": heading})


def choice(help: str, names: Sequence[str], *flags: str, default: str | None, shown: str = "") -> Any:  # noqa: A002
    """Declare an option that takes one of some names as a field; its help lists them, and the default as `shown`."""
    words = f"{help}{', '.join(names)}." + (f" [{shown or default}]" if shown or default else "")
    return option(words, *flags, type=click.Choice(names), default=default)


def command(kind: type[T], name: str, short_help: str) -> Callable[[Callable[[T], None]], Command]:
    """Make a command of a function of one dataclass; the function's docstring is the help."""

    def decorate(function: Callable[[T], None]) -> Command:
        different = {one.name: one for one in _parameters(kind)}.values()
        return Command(
            name,
            params=sorted(different, key=lambda one: one.name == "settings"),  # groups share it; it is listed last
            callback=lambda **values: function(_gather(kind, values)),
            help=inspect.getdoc(function),
            short_help=short_help,
        )

    return decorate


def _parameters(kind: type) -> Iterator[click.Parameter]:
    hints = get_type_hints(kind)
    for entry in fields(kind):
        if "make" not in entry.metadata:
            yield from _parameters(hints[entry.name])
        else:
            made = entry.metadata["make"](entry.name, hints[entry.name])
            made.heading = entry.metadata.get("heading") or getattr(kind, "heading", MAIN)
            yield made


def _gather(kind: type[T], values: Mapping[str, Any]) -> T:
    """Build a dataclass, and the parts inside it, from the values of all options."""
    hints = get_type_hints(kind)

    def value(entry: Any) -> Any:
        return values[entry.name] if "make" in entry.metadata else _gather(hints[entry.name], values)

    return kind(**{entry.name: value(entry) for entry in fields(kind)})  # type: ignore[arg-type]


class Command(click.Command):
    """A command that lists its options under headings, ``--help`` under the last one."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the words; the error about an option that has moved into the settings names its key."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            place = MOVED.get(error.option_name)
            if place is None:
                raise
            where = " in --settings FILE" if place[0] == "[" else ""
            raise click.UsageError(f"{error.message} Use {place}{where}.", ctx) from None

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options."""
        sections: dict[str, list[tuple[str, str]]] = {}
        heading = MAIN
        for parameter in self.get_params(ctx):
            heading = getattr(parameter, "heading", heading)
            record = parameter.get_help_record(ctx) if isinstance(parameter, click.Option) else None
            if record is not None:
                sections.setdefault(heading, []).append((record[0], _LIMITS.sub("", record[1])))
        for heading, records in sections.items():
            with formatter.section(heading):
                formatter.write_dl(records)


def given(names: Collection[str]) -> list[str]:
    """Return the flags of those options that stand on the command line."""
    ctx = click.get_current_context()
    flags = {str(param.name): max(param.opts, key=len) for param in ctx.command.params}
    missing = set(names) - flags.keys()
    if missing:
        raise LookupError(f"'{ctx.command_path}' has no parameter called {', '.join(sorted(missing))}")
    return [flags[name] for name in flags
            if name in names and ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE]  # fmt: skip


def refuse(names: Collection[str], why: str) -> None:
    """Refuse options of the present command that were given but have no effect on what it does."""
    if refused := given(names):
        verb = "combined" if why.startswith("with ") else "used"
        raise click.UsageError(f"{', '.join(refused)} cannot be {verb} {why}.", click.get_current_context())


def names_of(*kinds: type) -> tuple[str, ...]:
    """Return the names of the options of dataclasses."""
    return tuple(str(entry.name) for kind in kinds for entry in _parameters(kind))


def repeat_line(**settled: Any) -> str:
    """Return the line that repeats the present command; options left to their defaults that matter are added.

    Passwords and keys are masked: the line is printed, saved and shown on the page.
    """
    words: list[str] = list(click.get_current_context().obj)
    for name, value in settled.items():
        flag = f"--{name.replace('_', '-')}"
        if not any(word == flag or word.startswith(flag + "=") for word in words):
            words += [flag, str(value)]
    return shlex.join(["grampus", *masked_words(words)])
