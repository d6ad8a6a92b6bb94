"""Names of the clusters of a run from elsewhere: a function, a program, a language model, or a file."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ..._files import read_json
from ...describe import Known, ask_names
from ...describe.namer import LONGEST_TEXT, TYPICAL, Namer, wrong_name
from ...errors import InputError
from ...persist import Run
from ...persist.edits import free_name
from ...persist.regrow import part_of

LARGEST_FILE = 100_000_000
LEVEL = "clusters"
PLACE = "names"  # in the parameters of a run


def with_names(run: Run, namer: Namer, earlier: Run | None = None) -> Run:
    """Return a run whose clusters are named by a function, a program or a language model, at every level.

    The finest level is named first, so that a cluster is named knowing the names of its parts. A name that cannot be
    used is replaced by the one the cluster has, and the run gets a note. The names are stored with the request they
    answer, so that the same request is not made again.

    Parameters
    ----------
    run : Run
    namer : callable, NameCommand or LanguageModel
        See `grampus.describe.ask_names` for what it gets and returns. Asked once for each level.
    earlier : Run, optional
        A run whose stored names are used if the request is the same.

    Examples
    --------
    >>> from grampus import DocumentClusterer
    >>> from grampus.documents import with_names
    >>> run = DocumentClusterer(2).fit(["whale song", "whales sing", "bird nest", "nests of birds"]).run_
    >>> named = with_names(run, lambda request: [cluster["terms"][0].upper() for cluster in request["clusters"]])
    >>> sorted(cluster.name for cluster in named.evidence.clusters)
    ['BIRD', 'WHALE']
    """
    tree, known = run.evidence.tree, _stored(earlier)
    names, given, finer = {branch.index: branch.name for branch in tree}, set[int](), tuple[int, ...]()
    stored, notes = dict[str, list[str]](), list[str]()
    for level, branches in _levels(run):
        asked = [group for group in _groups(run, branches, finer, names) if branches[group.number] not in given]
        if asked:
            found = ask_names(namer, level, asked, known)
            names |= {branches[group.number]: name for group, name in zip(asked, found.names, strict=True)}
            stored |= {found.digest: list(found.names)} if found.digest else {}
            notes += [found.warning] if found.warning else []
        given, finer = given | set(branches), branches
    parameters = {**run.provenance.parameters, PLACE: stored} if stored else run.provenance.parameters
    run = replace(run, provenance=replace(run.provenance, parameters=parameters))
    run = replace(run, evidence=replace(run.evidence, tree=tuple(replace(one, name=names[one.index]) for one in tree)))
    return renamed(run, {branch.cluster: names[branch.index] for branch in tree if branch.cluster >= 0}, notes)


def _levels(run: Run) -> list[tuple[str, tuple[int, ...]]]:
    """Return the branches of every level, the finest first; those of the clusters alone if there are no levels."""
    shown = {branch.cluster: branch.index for branch in run.evidence.tree if branch.cluster >= 0}
    own = (LEVEL, tuple(shown[cluster] for cluster in range(run.n_clusters)))
    levels = [(level.name, level.branches) for level in reversed(run.evidence.levels)]
    return levels if any(set(branches) == set(own[1]) for _, branches in levels) else [own, *levels]


def _groups(run: Run, branches: Sequence[int], finer: Sequence[int], names: Mapping[int, str]) -> list[Known]:
    """Return what is known about the groups of a level, and the names of their parts at the next finer one."""
    seen, texts, found = run.evidence, run.documents.texts or run.documents.excerpts, []
    owner = part_of(seen.tree, branches)
    for number, index in enumerate(branches):
        branch, members = seen.tree[index], np.flatnonzero(owner[seen.leaves] == number)
        if branch.cluster >= 0:
            cluster = seen.clusters[branch.cluster]
            terms, phrases, central = [one.text for one in cluster.terms], cluster.phrases, list(cluster.central)
        else:
            held = Counter(seen.labels[members].tolist()) if len(np.unique(seen.labels[members])) > 1 else Counter()
            inside = [seen.clusters[one] for one, _ in held.most_common() if one >= 0]
            terms = [branch.name, *branch.words, *(word for one in inside for word in (one.name, *one.words))]
            phrases = ()
            central = members[np.argsort(-np.nan_to_num(seen.margin[members]), kind="stable")].tolist()
        found.append(
            Known(
                number,
                branch.size,
                names[index],
                tuple(dict.fromkeys(terms)),
                tuple(one.text for one in phrases),
                () if texts is None else tuple(texts[at][:LONGEST_TEXT] for at in central[:TYPICAL]),
                tuple(names[other] for other in branches if other != index),
                tuple(names[part] for part in finer if owner[part] == number and part != index),
            )
        )
    return found


def _stored(run: Run | None) -> dict[str, list[str]]:
    """Return the names that a run stores, by the request they answer; nothing that is not a name."""
    stored = None if run is None else run.provenance.parameters.get(PLACE)
    if not isinstance(stored, dict):
        return {}
    return {
        digest: names
        for digest, names in stored.items()
        if isinstance(names, list) and not any(map(wrong_name, names)) and len(set(names)) == len(names)
    }


def with_names_of(run: Run, path: str | PathLike[str]) -> Run:
    """Return a run whose clusters have the names of a file, matched by documents.

    The file is a JSON object from names to lists of ids of documents, some or all of a cluster. A cluster gets the name
    whose documents are mostly in it; of several, the one with most documents there. Names that fit nowhere are reported
    in a note. The ids stay the same when documents are added or clustered anew, so the names survive.

    Parameters
    ----------
    run : Run
    path : path
        The file; `write_names` writes one.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from grampus import DocumentClusterer
    >>> from grampus.documents import with_names_of
    >>> run = DocumentClusterer(2).fit(["whale song", "whales sing", "bird nest", "nests of birds"]).run_
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "names.json")
    ...     _ = file.write_text('{"Sea": ["1", "2"]}')
    ...     sorted(cluster.name for cluster in with_names_of(run, file).evidence.clusters)
    ['Birds', 'Sea']
    """
    given = read_names(path)
    number = {one: at for at, one in enumerate(run.documents.ids)}
    labels = run.evidence.labels
    claims: dict[int, tuple[int, str]] = {}
    missing = []
    for name, ids in given.items():
        at = [int(labels[number[one]]) for one in ids if one in number]
        best = max(set(at), key=lambda cluster: (at.count(cluster), -cluster), default=-1)
        if best < 0 or 2 * at.count(best) <= len(at):
            missing.append(name)
        elif best not in claims or at.count(best) > claims[best][0]:
            missing += [claims[best][1]] if best in claims else []
            claims[best] = (at.count(best), name)
        else:
            missing.append(name)
    notes = []
    if missing:
        notes = [f"{len(missing)} of {len(given)} names of {path} fit no cluster: {', '.join(sorted(missing)[:3])}."]
    return renamed(run, {cluster: name for cluster, (_, name) in claims.items()}, notes)


def write_names(run: Run, path: str | PathLike[str]) -> None:
    """Write the names of the clusters of a run and the ids of their documents, for ``with_names_of``.

    Parameters
    ----------
    run : Run
    path : path
        The JSON file to write.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from grampus import DocumentClusterer
    >>> from grampus.documents import write_names
    >>> run = DocumentClusterer(2).fit(["whale song", "whales sing", "bird nest", "nests of birds"]).run_
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_names(run, Path(folder, "names.json"))
    ...     "Whale" in Path(folder, "names.json").read_text()
    True
    """
    found: dict[str, list[str]] = {cluster.name: [] for cluster in run.evidence.clusters}
    for one, label in zip(run.documents.ids, run.evidence.labels.tolist(), strict=True):
        if label >= 0:
            found[run.evidence.clusters[label].name].append(one)
    Path(path).write_text(json.dumps(found, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def read_names(path: str | PathLike[str]) -> dict[str, list[str]]:
    """Read a file of names: a JSON object from names to lists of ids."""
    file = Path(path)
    given = read_json(file, LARGEST_FILE, "names of clusters")
    if not isinstance(given, dict) or not all(_is_list_of_ids(value) for value in given.values()):
        such = '{"Whales": ["12", "40"]}'
        raise InputError(f"{file} must be a JSON object from names to lists of ids, such as {such}.")
    for name in given:
        if wrong := wrong_name(name):
            raise InputError(f"{file} must hold names of one line of 1 to 80 characters; {name[:40]!r}: {wrong}.")
    return {name.strip(): ids for name, ids in given.items()}


def _is_list_of_ids(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def renamed(run: Run, names: Mapping[int, str], notes: Sequence[str]) -> Run:
    """Return a run with other names of clusters; in a conflict, an older name gets a number."""
    seen = run.evidence
    final = {cluster.number: names.get(cluster.number, cluster.name) for cluster in seen.clusters}
    taken = {name.casefold() for name in names.values()}
    for number in sorted(final):
        if number not in names:
            final[number] = free_name(final[number], taken, str.casefold)
            taken.add(final[number].casefold())
    clusters = tuple(
        cluster
        if cluster.name == final[cluster.number]
        else replace(cluster, name=final[cluster.number], name_share=None, centre_share=None)
        for cluster in seen.clusters
    )
    tree = tuple(replace(branch, name=final[branch.cluster]) if branch.cluster >= 0 else branch for branch in seen.tree)
    warnings = tuple(dict.fromkeys([*seen.warnings, *notes]))
    return replace(run, evidence=replace(seen, clusters=clusters, tree=tree, warnings=warnings))
