"""Names and merges of clusters that a reader made in a page and downloaded as a JSON file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any

from .._files import open_regular
from ..errors import InputError
from ..persist import Run

__all__ = ["Edits", "read_edits"]

FORMAT, VERSION = "grampus-edits", 1
LONGEST_NAME = 200
LARGEST_FILE = 10_000_000


@dataclass(frozen=True)
class Edits:
    """What a reader changed about the clusters of a run.

    Attributes
    ----------
    run : str
        Fingerprint of the documents that the edits were made for.
    names : mapping of int to str
        New names by cluster; a merged cluster goes by its lowest number.
    merges : tuple of tuples of int
        Clusters that belong together; no cluster occurs twice.
    levels : mapping of str to Edits
        Edits of the clusters of the other levels, by the level's name.

    Examples
    --------
    >>> from grampus.report import Edits
    >>> Edits("ab", {0: "Whales"}, ((0, 2),)).groups(4)
    [(0, 2), (1,), (3,)]
    """

    run: str
    names: Mapping[int, str] = field(default_factory=dict)
    merges: tuple[tuple[int, ...], ...] = ()
    levels: Mapping[str, Edits] = field(default_factory=dict)

    def groups(self, k: int) -> list[tuple[int, ...]]:
        """Return the clusters 0 … k − 1 after the merges, sorted by their lowest number."""
        merged = {cluster for merge in self.merges for cluster in merge}
        together = [*self.merges, *((cluster,) for cluster in range(k) if cluster not in merged)]
        return sorted(tuple(sorted(group)) for group in together)


def read_edits(path: str | PathLike[str], run: Run) -> Edits:
    """Read edits downloaded from a page of this run; refuse those of other documents.

    Parameters
    ----------
    path : path
        The JSON file.
    run : Run
        The run whose page was edited.

    Returns
    -------
    Edits

    Examples
    --------
    >>> import json
    >>> import tempfile
    >>> from pathlib import Path
    >>> from grampus import DocumentClusterer
    >>> from grampus.report import read_edits
    >>> run = DocumentClusterer(2, random_state=0).fit(["whale", "a whale", "bird", "birds"]).run_
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "edits.json")
    ...     made_for = {"format": "grampus-edits", "version": 1, "run": run.provenance.fingerprint}
    ...     _ = file.write_text(json.dumps({**made_for, "names": {"0": "Animals"}}))
    ...     read_edits(file, run).names
    {0: 'Animals'}
    """
    file = Path(path)
    try:
        with open_regular(file, LARGEST_FILE) as stream:
            given = json.loads(stream.read().decode("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not JSON"
        raise InputError(f"{file} cannot be read as edits: {reason}.") from None
    return edits_of(given, run, str(file))


def edits_of(given: Any, run: Run, what: str = "edits") -> Edits:
    """Check edits read from JSON against a run."""
    if not isinstance(given, dict) or given.get("format") != FORMAT:
        raise InputError(f'{what} must hold edits downloaded from a report ("format": "{FORMAT}").')
    if given.get("version") != VERSION:
        raise InputError(
            f"{what} has version {given.get('version')!r} of the edits; this version of Grampus reads {VERSION}."
        )
    if given.get("run") != run.provenance.fingerprint:
        raise InputError(f"{what} was made for other documents; use the edits of a report of this run.")
    more = given.get("levels", {})
    if not isinstance(more, dict) or any(name not in run.levels for name in more):
        known = ", ".join(run.levels) or "none"
        raise InputError(f"{what} must name levels of the run ({known}); got {str(more)[:40]!r}.")
    levels = {name: _checked(edits, len(run.level_names(name)), run, what) for name, edits in more.items()}
    return replace(_checked(given, run.n_clusters, run, what), levels=levels)


def _checked(given: Any, k: int, run: Run, what: str) -> Edits:
    """Check the names and merges of k clusters."""
    if not isinstance(given, dict):
        raise InputError(f"{what} must have an object for each level; got {str(given)[:40]!r}.")
    names, merges = given.get("names", {}), given.get("merges", [])
    if not isinstance(names, dict) or not isinstance(merges, list):
        raise InputError(f"{what} must have names as an object and merges as a list.")
    checked = {_cluster(key, k, what): _name(value, what) for key, value in names.items()}
    groups = tuple(_merge(merge, k, what) for merge in merges)
    together = [cluster for group in groups for cluster in group]
    if len(set(together)) < len(together):
        raise InputError(f"{what} merges a cluster twice; each may occur once.")
    return Edits(run.provenance.fingerprint, checked, groups)


def _cluster(value: Any, k: int, what: str) -> int:
    number = int(value) if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 9 else value
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < k:
        raise InputError(f"{what} must name clusters by numbers from 0 to {k - 1}; got {value!r}.")
    return number


def _name(value: Any, what: str) -> str:
    if not isinstance(value, str) or not value.strip() or len(value) > LONGEST_NAME:
        raise InputError(f"{what} must give names of 1 to {LONGEST_NAME} characters; got {str(value)[:40]!r}.")
    return value.strip()


def _merge(value: Any, k: int, what: str) -> tuple[int, ...]:
    if not isinstance(value, list) or len(value) < 2:
        raise InputError(f"{what} must merge two clusters or more at a time; got {str(value)[:40]!r}.")
    return tuple(sorted(_cluster(cluster, k, what) for cluster in value))
