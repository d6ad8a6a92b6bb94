"""Where a command writes: outputs are validated before the expensive work."""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import combinations
from pathlib import Path

import click

TABLES = (".csv", ".jsonl", ".ndjson", ".xlsx", ".parquet")
_ADDED = 18  # characters of the name of a temporary file beside it


def check_outputs(outputs: Mapping[str, str | None], inputs: Sequence[str | None], *, as_json: bool = False) -> None:
    """Refuse outputs that cannot be written, or that would destroy an input or each other.

    Parameters
    ----------
    outputs : mapping of str to str
        Path of each option; None where it was not given.
    inputs : sequence of str
        Paths that the command reads.
    as_json : bool
        Whether standard output is taken by a JSON document.
    """
    given = {option: place for option, place in outputs.items() if place}
    if given.get("--results") == "-":
        if as_json:
            raise click.UsageError("--results - and --json both use standard output; give --results a file.")
        del given["--results"]
    for option, place in given.items():
        if option == "--results" and Path(place).suffix.lower() not in TABLES:
            raise click.UsageError(f"--results must end in .csv, .xlsx, .jsonl or .parquet; got {place!r}.")
        _check_writable(place)
        for source in inputs:
            if source and _same(place, source):
                raise click.UsageError(f"{option} {place} is an input and would be overwritten. Choose another path.")
        if os.path.isfile(place) and _open_as(place, 1):
            raise click.UsageError(f"{option} {place} already receives standard output. Choose another path.")
    for (one, place), (other, second) in combinations(given.items(), 2):
        if _same(place, second):
            raise click.UsageError(f"{one} and {other} must be different paths; both are {place}.")


def _check_writable(place: str) -> None:
    """Refuse a path below something that is not a folder, or that may not be written."""
    real = Path(os.path.realpath(place))
    above = (real, *real.parents) if real.is_dir() else real.parents
    folder = next(path for path in (*above, Path("/")) if path.exists())
    if not folder.is_dir():
        raise click.UsageError(f"{place} cannot be written: {folder} is not a folder.")
    most = _longest_name(folder)
    if len(os.fsencode(real.name)) > most:
        raise click.UsageError(f"{place[:40]}… cannot be written: its name must have at most {most} bytes.")
    special = os.path.exists(place) and not (os.path.isfile(place) or os.path.isdir(place))
    if not os.access(place if special else folder, os.W_OK):
        raise click.UsageError(f"{place} cannot be written: no permission to write {'it' if special else folder}.")


def _longest_name(folder: Path) -> int:
    """Return how long a name may be, with room for what is added to it while it is written."""
    try:
        return os.pathconf(folder, "PC_NAME_MAX") - _ADDED
    except (AttributeError, OSError, ValueError):
        return 255 - _ADDED


def _same(place: str, other: str) -> bool:
    """Return whether two paths lead to the same file, through links of any kind; ``-`` is standard input."""
    if other == "-":
        return os.path.isfile(place) and _open_as(place, 0)
    with suppress(OSError):  # one of them is not there
        return os.path.samefile(place, other)
    return os.path.realpath(place) == os.path.realpath(other)


def _open_as(place: str, handle: int) -> bool:
    """Return whether a path is the file that is open under a descriptor."""
    with suppress(OSError):
        return os.path.samestat(os.stat(place), os.fstat(handle))
    return False
