"""The group of commands, and what becomes of errors: one clean line and an exit status."""

import gc
import os
import sys
import traceback
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any, NoReturn

import click

from .._later import SELDOM, load_later
from .._parallel import begin_copies
from .._secrets import masked
from .._version import __version__
from ..errors import GrampusError, KernelSpellingError
from .limits import OUT_OF_MEMORY, TIMED_OUT, begin, passed, release
from .show import LINE, clean, plain_options, prepare_streams

INTERRUPTED, BROKEN_PIPE = 130, 141  # as shells report them
RARELY = (300_000, 50, 50)  # rounds of the garbage collector: a command is short, and its data are arrays
_NO_COMMAND = getattr(click.exceptions, "NoArgsIsHelpError", ())  # since click 8.2
COMMANDS = {  # in the order of use; each is a file of this folder, loaded when it is needed
    "cluster": "Cluster documents and describe the clusters.",
    "open": "Open documents or a saved run in the browser, and work on it.",
    "report": "Write a saved run as one HTML page that works offline.",
    "inspect": "Show what is in documents, or explain a kernel.",
    "choose-k": "Choose the number of clusters, and say how certain it is.",
    "tree": "Show the tree of a saved run, or grow one from documents.",
    "edit": "Rename, merge, split and correct clusters of a saved run.",
    "update": "Add documents to a saved run, or delete some.",
    "trends": "Show shares of clusters over time or by a column.",
    "assign": "Assign new documents to the clusters of a saved run.",
    "evaluate": "Compare the clusters of a saved run with known classes.",
    "compare": "Show which documents moved between two saved runs.",
    "demo": "Cluster a real corpus that comes with Grampus.",
    "doctor": "Show versions, extras, threads and memory; clear the cache.",
}
MOVED = {  # commands of 0.2
    "describe-kernel": "inspect --kernel", "completion": "doctor --completion", "cache": "doctor --clear-cache",
    "vectors": "cluster --embed FILE",
}  # fmt: skip


class _Commands(Mapping[str, click.Command]):
    """The commands by name, loaded when they are looked up."""

    def __getitem__(self, name: str) -> click.Command:
        if name not in COMMANDS:
            raise KeyError(name)
        module = name.replace("-", "_")
        return getattr(import_module(f".{module}", __package__), module)

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS)

    def __len__(self) -> int:
        return len(COMMANDS)


class _Group(click.Group):
    """A group that lists its commands in the order of use, without loading them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of use."""
        return list(COMMANDS)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command; where one has gone, the error names its new place."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            if args[0] not in MOVED:
                raise
            raise click.UsageError(f"{error.message} Use 'grampus {MOVED[args[0]]}'.", ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what each command does."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=_Group, commands=_Commands(), context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="grampus")
def grampus() -> None:
    """Cluster documents through their Gram matrix: how many groups there are, which documents are in each, what
    each is about, and how far to believe it.

    \b
    Start with:  grampus demo
    Then:        grampus cluster FOLDER_OR_FILE
    """


def main(args: Sequence[str] | None = None) -> NoReturn:
    """Run the command; every error is one line on standard error and a status other than 0."""
    try:
        words = list(sys.argv[1:] if args is None else args) or ["--help"]
        prepare_streams()
        if args is None:
            warnings.formatwarning = _warning
            gc.set_threshold(*RARELY)
            begin_copies()
            load_later(*SELDOM)
            os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # the loops have threads of their own; these would spin
        if "_GRAMPUS_COMPLETE" in os.environ:  # set by the script that `doctor --completion` prints
            from click.shell_completion import shell_complete

            sys.exit(shell_complete(grampus, {}, "grampus", "_GRAMPUS_COMPLETE", os.environ["_GRAMPUS_COMPLETE"]))
        status = _run(words)
        try:
            sys.stdout.flush()
        except OSError:  # reported by _run; Python would try again at exit, and complain
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:  # before or after the command itself
        status = _fail("Interrupted; no file was left incomplete.", INTERRUPTED)
    except MemoryError as error:
        status = _fail(_message(error), 1)
    if args is None and status in (TIMED_OUT, OUT_OF_MEMORY):
        os._exit(status)  # Python would wait for the threads of compiled loops
    if args is None:
        gc.freeze()  # the last look for cycles takes 0.3 s where there are many objects, and finds what ends anyway
    sys.exit(status)


def _run(words: list[str]) -> int:
    """Run a command without click's own handling of Ctrl-C and broken pipes; return the status."""
    begin()
    try:
        try:
            if any("\0" in word for word in words):
                raise click.UsageError("A word of the command must not hold a zero byte.")
            with grampus.make_context("grampus", list(words), obj=words) as ctx:
                grampus.invoke(ctx)
            status = 0
        except click.exceptions.Exit as stop:  # --help and --version
            status = stop.exit_code
        sys.stdout.flush()
    except BrokenPipeError:  # nobody is left to read a message
        return BROKEN_PIPE
    except _NO_COMMAND as asked:  # a group without a command shows its help
        click.echo(asked.format_message())
        return asked.exit_code
    except (KeyboardInterrupt, click.Abort):
        release()
        return _fail(*(passed() or ("Interrupted; no file was left incomplete.", INTERRUPTED)))
    except Exception as error:
        expected = isinstance(error, click.ClickException | GrampusError | OSError | MemoryError)
        if os.environ.get("GRAMPUS_DEBUG") and not expected:
            raise
        return _fail(_message(error), error.exit_code if isinstance(error, click.ClickException) else 1)
    finally:
        release()
    return status


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
        place = error.filename or ("standard output" if _printing(error) else "")
        return (error.strerror or type(error).__name__) + (f": {place}" if place else "")
    if isinstance(error, MemoryError):
        return "Out of memory. Cluster fewer documents; grampus cluster --dry-run predicts what is needed."
    return f"{type(error).__name__}: {error} (this is a bug in Grampus; GRAMPUS_DEBUG=1 shows the stack trace)"


def _printing(error: OSError) -> bool:
    """Return whether what prints has raised an error: whatever else writes names its file."""
    names = [frame.f_globals.get("__name__", "") for frame, _ in traceback.walk_tb(error.__traceback__)]
    return bool(names) and (names[-1].startswith("grampus.cli.") or names[-1].partition(".")[0] in ("click", "rich"))


def _warning(message: Warning | str, *_: Any, **__: Any) -> str:
    """Return a warning as one line, without the place in the code."""
    return f"Warning: {' '.join(clean(masked(str(message)), LINE).split())}\n"


def _fail(message: str, status: int) -> int:
    """Write one line to standard error that holds nothing a terminal would interpret; return the status."""
    with suppress(BrokenPipeError):
        click.echo("Error: " + " ".join(clean(masked(message), LINE).split()), err=True)
    return status
