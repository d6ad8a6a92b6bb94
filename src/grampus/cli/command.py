"""Commands whose options are the fields of a frozen dataclass, listed in the help under headings.

A field that is a dataclass itself holds options that several commands share.
"""

from __future__ import annotations

import inspect
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, fields, is_dataclass
from typing import Any, TypeVar, get_type_hints

import click
from click.core import ParameterSource

from .._secrets import masked_words

MAIN = "Main options"
_LIMITS = re.compile(r"\s+\[(?:\d+<=)?x[<>]=\d+\]$")  # the errors name them
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


def command(kind: type[T], name: str, short_help: str) -> Callable[[Callable[[T], None]], Command]:
    """Make a command of a function of one dataclass; the function's docstring is the help."""

    def decorate(function: Callable[[T], None]) -> Command:
        return Command(
            name,
            params=list(_parameters(kind)),
            callback=lambda **values: function(_gather(kind, values)),
            help=inspect.getdoc(function),
            short_help=short_help,
        )

    return decorate


def _parameters(kind: type) -> Iterator[click.Parameter]:
    hints = get_type_hints(kind)
    for entry in fields(kind):
        if is_dataclass(hints[entry.name]):
            yield from _parameters(hints[entry.name])
        else:
            made = entry.metadata["make"](entry.name, hints[entry.name])
            made.heading = entry.metadata.get("heading") or getattr(kind, "heading", MAIN)
            yield made


def _gather(kind: type[T], values: Mapping[str, Any]) -> T:
    """Build a dataclass, and the parts inside it, from the values of all options."""
    hints = get_type_hints(kind)
    names = [entry.name for entry in fields(kind)]  # type: ignore[arg-type]
    return kind(**{n: _gather(hints[n], values) if is_dataclass(hints[n]) else values[n] for n in names})


class Command(click.Command):
    """A command that lists its options under headings, ``--help`` under the last one."""

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


def refuse(names: Sequence[str], why: str) -> None:
    """Refuse options of the present command that were given but have no effect on what it does."""
    ctx = click.get_current_context()
    given = [
        max(param.opts, key=len)
        for param in ctx.command.params
        if param.name in names and ctx.get_parameter_source(param.name) is ParameterSource.COMMANDLINE
    ]
    if given:
        raise click.UsageError(f"{', '.join(given)} cannot be used {why}.", ctx)


def names_of(*kinds: type) -> tuple[str, ...]:
    """Return the names of the options of dataclasses."""
    return tuple(entry.name for kind in kinds for entry in fields(kind))


def repeat_line(**settled: Any) -> str:
    """Return the line that repeats the present command; options left to their defaults that matter are added.

    Passwords and keys are masked: the line is printed, saved and shown on the page.
    """
    given: list[str] = list(click.get_current_context().obj)
    for name, value in settled.items():
        flag = f"--{name.replace('_', '-')}"
        if not any(word == flag or word.startswith(flag + "=") for word in given):
            given += [flag, str(value)]
    return shlex.join(["grampus", *masked_words(given)])
