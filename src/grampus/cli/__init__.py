"""The command ``grampus``. Nothing heavy is imported before a command runs, so that help is immediate."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, NoReturn

import click

from .._version import __version__
from ..errors import GrampusError, KernelSpellingError
from .clustering import choose_k, cluster, tree
from .other import completion, demo, describe_kernel, doctor
from .report import report
from .runs import assign, compare, evaluate
from .show import prepare_streams

__all__ = ["main"]

INTERRUPTED, BROKEN_PIPE = 130, 141  # as shells say it


class _InterruptedError(Exception):
    """Ctrl-C; click would print an empty line before it says so."""


class _ReaderGoneError(Exception):
    """A broken pipe; click would end with status 1."""


@contextmanager
def _kept_from_click() -> Iterator[None]:
    """Give what click would end the process for another name."""
    try:
        yield
    except KeyboardInterrupt:
        raise _InterruptedError from None
    except BrokenPipeError:
        raise _ReaderGoneError from None


class _Group(click.Group):
    """A group that leaves interruptions and broken pipes to `main`."""

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """Read the command line; ``--help`` and ``--version`` print here."""
        with _kept_from_click():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> object:
        """Run a command."""
        with _kept_from_click():
            return super().invoke(ctx)


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="grampus")
def grampus() -> None:
    """Cluster documents through their Gram matrix: how many groups, which documents, what about, how sure.

    \b
    Start with:  grampus demo
    Then:        grampus cluster FOLDER_OR_FILE
    """


for command in (cluster, report, choose_k, tree, assign, evaluate, compare, describe_kernel, demo, doctor, completion):
    grampus.add_command(command)


def main(args: Sequence[str] | None = None) -> NoReturn:
    """Run the command; every error is one line on standard error and a status that is not 0."""
    given = list(sys.argv[1:] if args is None else args) or ["--help"]
    prepare_streams()
    try:
        status = grampus.main(given, prog_name="grampus", standalone_mode=False, obj=given)
        sys.stdout.flush()
    except (_ReaderGoneError, BrokenPipeError):  # nothing to say, and nobody to say it to
        status = BROKEN_PIPE
    except (_InterruptedError, KeyboardInterrupt, click.Abort):
        status = _say("Interrupted. Nothing was half written.", INTERRUPTED)
    except click.ClickException as error:
        status = _say(error.format_message() + _hint(error), error.exit_code)
    except KernelSpellingError as error:
        status = _say(f"{error.message} (character {error.position + 1} of '{error.spelling}')", 1)
    except GrampusError as error:
        status = _say(str(error), 1)
    except OSError as error:
        place = f": {error.filename}" if error.filename else ""
        status = _say(f"{error.strerror or type(error).__name__}{place}", 1)
    except MemoryError:
        status = _say("There is not enough memory. Set a lower --max-memory, or cluster fewer documents.", 1)
    except Exception as error:
        if os.environ.get("GRAMPUS_DEBUG"):
            raise
        status = _say(f"{type(error).__name__}: {error} (a fault of Grampus; GRAMPUS_DEBUG=1 shows where)", 1)
    try:
        sys.stdout.flush()
    except OSError:  # said above; Python would try again at the end, and complain
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(status if isinstance(status, int) else 0)


def _say(message: str, status: int) -> int:
    """Write one line to standard error."""
    with suppress(BrokenPipeError):
        click.echo("Error: " + " ".join(message.split()), err=True)
    return status


def _hint(error: click.ClickException) -> str:
    if isinstance(error, click.UsageError) and error.ctx is not None:
        return f" Try '{error.ctx.command_path} --help'."
    return ""
