"""``open``: a run in the browser, alive."""

from __future__ import annotations

import gc
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .command import MAIN, argument, command, names_of, option, refuse, repeat_line
from .options import OutputOptions, SourceOptions
from .outputs import check_outputs
from .show import console, print_json, say
from .types import FOLDER

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._progress import Progress
    from ..app import Making, OpenRun
    from ..persist import Run


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of ``open``."""

    source: str = argument()
    documents: SourceOptions
    out: str | None = option("Folder of the run that is made. [SOURCE-run]", heading=MAIN, type=FOLDER)
    no_browser: bool = option("Print the address, and open no browser.", heading=MAIN)
    output: OutputOptions


@command(Options, "open", "Open documents or a saved run in the browser, and work on it.")
def open(options: Options) -> None:  # noqa: A001  (a command's function has its name)
    """Open SOURCE in the browser: the folder of a saved run, a page, or documents, which are clustered first. Every
    change is saved in the run as it is made. Only this computer can reach it. Ctrl-C ends it.

    \b
    Examples:
      grampus open run
      grampus open news.csv --text body
      grampus open page.html
    """
    from ..app import Server, Session

    server = Server(Session(_opened(options)))
    lines = (f"Open: {server.address}", "Ctrl-C ends it; every change is saved.")
    if options.output.as_json:
        print_json({"address": server.address, "command": repeat_line()})
    elif not options.output.quiet or options.no_browser:
        say(console(), *lines[: 1 if options.output.quiet else 2])
    if not options.no_browser:
        import webbrowser

        webbrowser.open(server.address)
    try:
        gc.freeze()  # what is loaded stays; to look through it for garbage takes 0.1 s in the middle of an edit
        server.serve_forever()
    except KeyboardInterrupt:
        store = server.session.store
        if not options.output.silent:
            saved = "Ended; no run was made." if store is None else f"Ended. Everything is saved in {store.place}."
            say(console(), saved)
    finally:
        server.server_close()


def _opened(options: Options) -> OpenRun | Making:
    """Return the run that is opened, or the work that makes it."""
    from .._outputs import is_run_folder
    from ..app import Making, OpenRun

    if is_run_folder(options.source):
        refuse(("out", *names_of(SourceOptions)), "with a saved run")
        return OpenRun(options.source)
    if not os.path.exists(options.source):
        raise click.UsageError(f"There must be documents or a run at {options.source}; there is nothing.")
    options.documents.check(options.source)
    check_outputs({"--out": options.out}, (options.source,))
    line, name = repeat_line(), Path(options.source).name
    if _is_page(options.source):
        refuse(names_of(SourceOptions), "with a page")
        return Making(f"Opening {name}", lambda progress: _shown(options))
    return Making(f"Clustering {name}", lambda progress: _made(options, line, progress))


def _is_page(source: str) -> bool:
    """Return whether a file is a page of Grampus, not documents."""
    from .._files import open_regular
    from .._outputs import is_page

    if not os.path.isfile(source):
        return False
    with open_regular(source) as stream:
        return is_page(stream)


def _made(options: Options, line: str, progress: Progress) -> OpenRun:
    """Cluster the documents and save the run."""
    from ..documents import DocumentClusterer

    corpus = options.documents.read(options.source, progress)

    def make() -> Run:
        run = DocumentClusterer().fit(corpus, progress=progress).run_
        provenance = replace(run.provenance, columns=options.documents.columns, command=line)
        return replace(run, provenance=provenance)

    return _kept(options, lambda run: run.provenance.fingerprint == corpus.fingerprint, make)


def _kept(options: Options, same: Callable[[Run], bool], make: Callable[[], Run]) -> OpenRun:
    """Make a run and save it; one that was made of the same before is opened as it is."""
    from ..app import OpenRun
    from ..errors import RunError

    base = options.out or f"{Path(options.source).resolve()}-run"
    places = [base] if options.out else [base, *(f"{base}-{number}" for number in range(2, 100))]
    for place in places:
        if not os.path.exists(place):
            break
        if same((saved := OpenRun(place)).run):
            return saved
    else:
        raise RunError(f"{base} holds a run of other documents. Choose another folder with --out.")
    make().save(place)
    return OpenRun(place)


def _shown(options: Options) -> OpenRun:
    """Save what a page shows as a run."""
    from ..app import run_of_page
    from ..persist.edits import digest

    run = run_of_page(options.source)
    return _kept(options, lambda saved: digest(saved.undone(len(saved.edits))) == digest(run), lambda: run)
