"""The group of commands, and what becomes of errors: one clean line and an exit status."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import NoReturn

import click
from click.shell_completion import shell_complete

from .._version import __version__
from ..errors import GrampusError, KernelSpellingError
from .assign import assign
from .choose_k import choose_k
from .cluster import cluster
from .compare import compare
from .completion import completion
from .demo import demo
from .describe_kernel import describe_kernel
from .doctor import doctor
from .evaluate import evaluate
from .inspect import inspect
from .report import report
from .show import LINE, clean, plain_options, prepare_streams
from .tree import tree

INTERRUPTED, BROKEN_PIPE = 130, 141  # as shells report them
COMMANDS = (
    cluster, report, inspect, choose_k, tree, assign, evaluate, compare, describe_kernel, demo, doctor, completion
)  # fmt: skip


class _Group(click.Group):
    """A group that lists its commands in the order of use."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands as they were added."""
        return list(self.commands)


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="grampus")
def grampus() -> None:
    """Cluster documents through their Gram matrix: how many groups there are, which documents are in each, what
    each is about, and how far to believe it.

    \b
    Start with:  grampus demo
    Then:        grampus cluster FOLDER_OR_FILE
    """


for each in COMMANDS:
    grampus.add_command(each)


def main(args: Sequence[str] | None = None) -> NoReturn:
    """Run the command; every error is one line on standard error and a status other than 0."""
    words = list(sys.argv[1:] if args is None else args) or ["--help"]
    prepare_streams()
    if "_GRAMPUS_COMPLETE" in os.environ:  # set by the script that `completion` prints
        sys.exit(shell_complete(grampus, {}, "grampus", "_GRAMPUS_COMPLETE", os.environ["_GRAMPUS_COMPLETE"]))
    status = _run(words)
    try:
        sys.stdout.flush()
    except OSError:  # reported by _run; Python would try again at exit, and complain
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(status)


def _run(words: list[str]) -> int:
    """Run a command without click's own handling of Ctrl-C and broken pipes; return the status."""
    try:
        try:
            with grampus.make_context("grampus", list(words), obj=words) as ctx:
                grampus.invoke(ctx)
            status = 0
        except click.exceptions.Exit as stop:  # --help and --version
            status = stop.exit_code
        sys.stdout.flush()
    except BrokenPipeError:  # nobody is left to read a message
        return BROKEN_PIPE
    except (KeyboardInterrupt, click.Abort):
        return _fail("Interrupted; no file was left incomplete.", INTERRUPTED)
    except Exception as error:
        if os.environ.get("GRAMPUS_DEBUG") and not _expected(error):
            raise
        return _fail(_message(error), error.exit_code if isinstance(error, click.ClickException) else 1)
    return status


def _expected(error: Exception) -> bool:
    return isinstance(error, click.ClickException | GrampusError | OSError | MemoryError)


def _message(error: Exception) -> str:
    """Return what an error means to the person at the terminal."""
    if isinstance(error, click.ClickException):
        ctx = getattr(error, "ctx", None)
        return error.format_message() + (f" Try '{ctx.command_path} --help'." if ctx is not None else "")
    if isinstance(error, KernelSpellingError):
        return f"{error.message} (character {error.position + 1} of '{error.spelling}')"
    if isinstance(error, GrampusError):
        return plain_options(str(error))
    if isinstance(error, OSError):
        return (error.strerror or type(error).__name__) + (f": {error.filename}" if error.filename else "")
    if isinstance(error, MemoryError):
        return "Out of memory. Set a lower --max-memory, or cluster fewer documents."
    return f"{type(error).__name__}: {error} (this is a bug in Grampus; GRAMPUS_DEBUG=1 shows the stack trace)"


def _fail(message: str, status: int) -> int:
    """Write one line to standard error that holds nothing a terminal would interpret; return the status."""
    with suppress(BrokenPipeError):
        click.echo("Error: " + " ".join(clean(message, LINE).split()), err=True)
    return status
