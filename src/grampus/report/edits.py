"""Edits that a reader made in a page and downloaded as a JSON file."""

from os import PathLike
from pathlib import Path
from typing import Any

from .._files import read_json
from ..errors import InputError, RunError
from ..persist import Edit, Run
from ..persist.edits import ACTIONS, check_name, digest
from ..persist.schema import read_as

__all__ = ["read_edits"]

FORMAT, VERSION = "grampus-edits", 2
LARGEST_FILE = 100_000_000
MADE = tuple(action for action in ACTIONS if action != "graft")  # that a file may ask for


def read_edits(path: str | PathLike[str], run: Run) -> tuple[Edit, ...]:
    """Read edits downloaded from a page of this run; refuse those of another answer.

    Parameters
    ----------
    path : path
        The JSON file.
    run : Run
        The run whose page was edited.

    Returns
    -------
    tuple of Edit
        For ``run.edited``.

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
    ...     run.edited(*read_edits(file, run)).evidence.clusters[0].name
    'Animals'
    """
    return edits_of(read_json(Path(path), LARGEST_FILE, "edits"), run, str(path))


def edits_of(content: Any, run: Run, what: str = "edits") -> tuple[Edit, ...]:
    """Check edits read from JSON against a run."""
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise InputError(f'{what} must hold edits downloaded from a report ("format": "{FORMAT}").')
    version = content.get("version")
    if version not in (1, VERSION):
        raise InputError(f"{what} has version {version!r} of the edits; this version of Grampus reads 1 and {VERSION}.")
    if content.get("run") != run.provenance.fingerprint:
        raise InputError(f"{what} was made for other documents; use the edits of a report of this run.")
    if version == 1:
        edits = _first_version(content, run.n_clusters, what)
    else:
        if content.get("answer") != digest(run):
            why = "the run has been edited or made anew since"
            raise InputError(f"{what} was made for another answer: {why}. Write its page again.")
        try:
            edits = read_as(tuple[Edit, ...], content.get("edits"), "edits")
        except RunError as error:
            raise InputError(f"{what}: {error}") from None
        if any(edit.action not in MADE for edit in edits):
            raise InputError(f"{what} must hold edits of the kinds {', '.join(MADE)}.")
    run.edited(*edits)  # refuses what does not fit
    return edits


def _first_version(content: dict[str, Any], k: int, what: str) -> tuple[Edit, ...]:
    """Return the edits of a file of version 1: names by cluster, and groups of clusters that were merged."""
    names, merges = content.get("names", {}), content.get("merges", [])
    if not isinstance(names, dict) or not isinstance(merges, list):
        raise InputError(f"{what} must have names as an object and merges as a list.")
    groups = [_merge(merge, k, what) for merge in merges]
    together = [cluster for group in groups for cluster in group]
    if len(set(together)) < len(together):
        raise InputError(f"{what} merges a cluster twice; each may occur once.")
    named = {_cluster(key, k, what): check_name(value, f"{what}: a name") for key, value in names.items()}
    gone = {cluster for group in groups for cluster in group[1:]}
    renames = (Edit("rename", (cluster,), name=name) for cluster, name in named.items() if cluster not in gone)
    return (*(Edit("merge", group) for group in groups), *renames)


def _cluster(value: Any, k: int, what: str) -> int:
    number = int(value) if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 9 else value
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < k:
        raise InputError(f"{what} must name clusters by numbers from 0 to {k - 1}; got {value!r}.")
    return number


def _merge(value: Any, k: int, what: str) -> tuple[int, ...]:
    if not isinstance(value, list) or len(value) < 2:
        raise InputError(f"{what} must merge two clusters or more at a time; got {str(value)[:40]!r}.")
    return tuple(sorted(_cluster(cluster, k, what) for cluster in value))
