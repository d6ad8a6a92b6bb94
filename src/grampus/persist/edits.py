"""Edits of a run: a short log of what a reader changed, applied to the answer that was found.

An `Edit` names clusters by number and documents by id. `apply` is a pure function of the run that was found and the
log, so undoing the last edit is applying all but the last. Documents that are moved lose their place in the tree and
join the largest part of their new cluster; a split follows the tree.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from .records import Level
from .regrow import Plant, members_below, part_of, regrow

Run: TypeAlias = Any  # that of run.py, which imports this module
ACTIONS = ("rename", "merge", "split", "move", "noise", "exclude", "graft", "done", "reopen", "level")
LONGEST_NAME = 200
OUT, NONE = -2, -1  # an excluded document, a document in no cluster


@dataclass(frozen=True)
class Graft:
    """A branch of a cluster that was clustered again.

    Attributes
    ----------
    parent : int
        Position of its parent among the grafts, which is smaller; −1 for the first.
    name : str
    order : int
        Position of its split, counted from the top; −1 for a leaf.
    height, gain : float
        As of a `Branch`.
    documents : tuple of str
        Ids of the documents of a leaf.
    words : tuple of str
        Further words of its name.

    Examples
    --------
    >>> from grampus.persist import Graft
    >>> Graft(0, "whale song", -1, 0.5, 0.0, ("a", "b")).name
    'whale song'
    """

    parent: int
    name: str
    order: int
    height: float
    gain: float
    documents: tuple[str, ...] = ()
    words: tuple[str, ...] = ()


@dataclass(frozen=True)
class Edit:
    """One change of an answer.

    Attributes
    ----------
    action : str
        "rename": give the cluster a `name`. "merge": put the clusters together under the lowest number. "split": divide
        the cluster along the tree into `parts` or, where a branch divides into many at once, a few more. "move": put
        documents into the cluster. "noise": take documents out of all clusters. "exclude": leave documents out of the
        run. "graft": replace the branches of the cluster by `grafts`. "done", "reopen": mark the cluster as looked
        through, or not. "level": make the clusters of another level those of the run.
    clusters : tuple of int
        Numbers of clusters.
    documents : tuple of str
        Ids of documents.
    name : str
    parts : int
    level : str
        For "level", its name. For "rename", the level whose cluster is meant; "" for the clusters of the run.
    grafts : tuple of Graft

    Examples
    --------
    >>> from grampus import DocumentClusterer
    >>> from grampus.persist import Edit
    >>> texts = ["whale song", "whales sing", "bird nest", "nests of birds"]
    >>> run = DocumentClusterer(2, embed=None).fit(texts).run_
    >>> edited = run.edited(Edit("rename", (0,), name="Birds"), Edit("noise", documents=("1",)))
    >>> edited.evidence.clusters[0].name, edited.evidence.labels.tolist()
    ('Birds', [-1, 1, 0, 0])
    >>> edited.undone().evidence.labels.tolist()
    [1, 1, 0, 0]
    """

    action: str
    clusters: tuple[int, ...] = ()
    documents: tuple[str, ...] = ()
    name: str = ""
    parts: int = 0
    level: str = ""
    grafts: tuple[Graft, ...] = ()


@dataclass
class State:
    """A run while edits are applied to it; keys of clusters are their numbers, and new ones from k on.

    Attributes
    ----------
    keys : array of shape (n,)
        Cluster of every document; `NONE` or `OUT`.
    names : dict of int to str
        Names of the clusters that there are.
    plant : Plant
        The tree, with grafts.
    leaves : array of shape (n,)
        Leaf of every document; −1 for one without a place.
    fresh : int
        The next new key.
    went : dict of int to int
        Where clusters went that were merged.
    words : dict of int to tuple of str
        What tells the parts of a split apart: the names of their branches, and further words.
    levels : dict of str to tuple of int
        The branches of every level.
    rooted : array of shape (n,)
        Leaf of every document in the tree before it was moved.
    done : set of int
        Clusters that are marked as done.
    """

    keys: NDArray[np.intp]
    names: dict[int, str]
    plant: Plant
    leaves: NDArray[np.intp]
    fresh: int
    went: dict[int, int] = field(default_factory=dict)
    words: dict[int, tuple[str, ...]] = field(default_factory=dict)
    levels: dict[str, tuple[int, ...]] = field(default_factory=dict)
    rooted: NDArray[np.intp] = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    done: set[int] = field(default_factory=set)

    @classmethod
    def of(cls, run: Run) -> State:
        """Return the state of a run without edits."""
        seen = run.evidence
        names = {cluster.number: cluster.name for cluster in seen.clusters}
        labels, leaves = seen.labels.astype(np.intp), seen.leaves.astype(np.intp)
        levels = {level.name: level.branches for level in seen.levels}
        return cls(labels, names, Plant.of(seen.tree), leaves, len(names), levels=levels, rooted=leaves)

    def numbers(self) -> dict[int, int]:
        """Return the number of every cluster by its key: keys in ascending order."""
        return {key: number for number, key in enumerate(sorted(self.names))}

    def labels(self) -> NDArray[np.intp]:
        """Return the number of the cluster of every document; −1 for one in none, or left out."""
        number = np.full(self.fresh - OUT, NONE)
        number[np.array(sorted(self.names)) - OUT] = np.arange(len(self.names))
        return number[self.keys - OUT]

    def settle(self) -> None:
        """Drop clusters without documents; refuse a run without clusters."""
        left = set((np.flatnonzero(np.bincount(self.keys - OUT)) + OUT).tolist())
        if not any(key in left for key in self.names):
            raise InputError("edits must leave a document in a cluster; these leave none.")
        self.names = {key: name for key, name in self.names.items() if key in left}
        self.done &= self.names.keys()

    def level_parts(self, level: str) -> NDArray[np.int32]:
        """Return the cluster of every document at a level, before documents were moved; −1 for none."""
        return part_of(self.plant.branches, self.levels[level])[self.rooted]


def apply_edits(run: Run, edits: Sequence[Edit]) -> State:
    """Apply edits in their order."""
    state, place = State.of(run), run.documents.rows
    for edit in edits:
        step(state, edit, place)
    return state


def step(state: State, edit: Edit, place: Mapping[str, int]) -> None:
    """Apply one edit to a state; an edit that does not fit changes nothing."""
    _check(state, edit)
    at = _places(edit.documents, place)
    before = (state.keys, state.leaves, dict(state.names), set(state.done))
    state.keys, state.leaves = state.keys.copy(), state.leaves.copy()
    try:
        _STEPS[edit.action](state, edit, at, place)
        state.settle()
    except InputError:
        state.keys, state.leaves, state.names, state.done = before
        raise


def _check(state: State, edit: Edit) -> None:
    if edit.action not in ACTIONS:
        raise InputError(f"an edit must be one of {', '.join(ACTIONS)}; got {edit.action!r}.")
    if (edit.level or edit.action == "level") and edit.level not in state.levels:
        known = ", ".join(state.levels) or "(none)"
        raise InputError(f"{edit.action} must name one of the levels {known}; got {edit.level!r}.")
    if edit.level and edit.action not in ("rename", "level"):
        raise InputError(f"only names of other levels can be edited; got {edit.action} of {edit.level!r}.")
    for cluster in edit.clusters:
        if edit.level and 0 <= cluster < len(state.levels[edit.level]):
            continue
        if cluster not in state.names or edit.level:
            known = ", ".join(map(str, sorted(state.names)[:12])) + (", …" if len(state.names) > 12 else "")
            raise InputError(f"{edit.action} must name clusters that there are ({known}); got {cluster}.")
    wanted = {"merge": 2, "noise": 0, "exclude": 0, "level": 0}.get(edit.action, 1)
    count = len(set(edit.clusters))
    if count != len(edit.clusters) or (count < 2 if wanted == 2 else count != wanted):
        what = {0: "no cluster", 1: "one cluster", 2: "two different clusters or more"}[wanted]
        raise InputError(f"{edit.action} takes {what}; got {', '.join(map(str, edit.clusters)) or 'none'}.")
    if edit.action in ("move", "noise", "exclude") and not edit.documents:
        raise InputError(f"{edit.action} takes ids of documents; got none.")
    if edit.action == "rename":
        check_name(edit.name)


def check_name(name: Any, what: str = "a name") -> str:
    """Return the name of a cluster without blanks around it; refuse what is none."""
    if not isinstance(name, str) or not name.strip() or len(name) > LONGEST_NAME:
        raise InputError(f"{what} must have 1 to {LONGEST_NAME} characters; got {str(name)[:40]!r}.")
    return name.strip()


def _places(ids: Sequence[str], place: Mapping[str, int]) -> NDArray[np.intp]:
    unknown = [one for one in ids if one not in place]
    if unknown:
        what = f"{len(unknown)} of {len(ids)} are not, such as {unknown[0][:60]!r}"
        raise InputError(f"documents must be ids of the run; {what}.")
    return np.array([place[one] for one in ids], dtype=np.intp)


def _rename(state: State, edit: Edit, _: Any, __: Any) -> None:
    key, name = edit.clusters[0], edit.name.strip()
    if edit.level:
        branch = state.levels[edit.level][key]
        state.plant = state.plant.renamed(branch, name)
        key = state.plant.branches[branch].cluster  # a cluster may be one on several levels
    if key in state.names:
        state.names[key] = name


def _merge(state: State, edit: Edit, _: Any, __: Any) -> None:
    first, *rest = sorted(edit.clusters)
    state.names[first] = " + ".join(state.names[key] for key in (first, *rest))
    state.keys[np.isin(state.keys, rest)] = first
    state.words[first] = ()
    if not state.done >= {first, *rest}:  # a part of it is still to be looked through
        state.done.discard(first)
    for key in rest:
        del state.names[key]
        state.went[key] = first


def _split(state: State, edit: Edit, _: Any, __: Any) -> None:
    key = edit.clusters[0]
    members = np.flatnonzero(state.keys == key)
    wanted = max(2, edit.parts)
    parts = state.plant.parts(state.leaves[members], wanted)
    if len(parts) < wanted:
        found = f"cluster {key} must have at least {wanted} parts in the tree to be split; it has {len(parts)}"
        raise InputError(f"{found}. To look for more: grampus cluster RUN --within {key}.")
    below = members_below(state.plant, state.leaves[members])
    order = sorted(parts, key=lambda part: (-below[part], state.plant.position[part]))
    places = np.maximum(part_of(state.plant.branches, order)[state.leaves[members]], 0)  # without a place: the largest
    taken = set(state.names.values()) - {state.names[key]}
    for number, part in enumerate(order):
        made = state.fresh + number - 1 if number else key
        state.keys[members[places == number]] = made
        branch = state.plant.branches[part]
        state.words[made] = (branch.name, *branch.words)
        state.names[made] = free_name(branch.name, taken)
        taken.add(state.names[made])
    state.fresh += len(order) - 1
    state.done.discard(key)


def free_name(name: str, taken: set[str], key: Callable[[str], str] = str) -> str:
    """Return a name whose key is not taken: with a number behind it if need be."""
    text, count = name, 2
    while key(text) in taken:
        text, count = f"{name} ({count})", count + 1
    return text


def _move(state: State, edit: Edit, at: NDArray[np.intp], _: Any) -> None:
    """Move documents into a cluster, into none, or out of the run; what is out of it is in no cluster already."""
    key = edit.clusters[0] if edit.action == "move" else NONE if edit.action == "noise" else OUT
    at = at[state.keys[at] != (OUT if edit.action == "noise" else key)]
    state.keys[at], state.leaves[at] = key, -1


def _graft(state: State, edit: Edit, _: Any, place: Mapping[str, int]) -> None:
    """Put the documents of a cluster on new branches; those that the edit does not name join the largest later."""
    members = np.flatnonzero(state.keys == edit.clusters[0])
    leaves = [np.intersect1d(_places(graft.documents, place), members) for graft in edit.grafts]
    held = sum(map(len, leaves))
    if 2 * held < len(members) or len(np.unique(np.concatenate([*leaves, members[:0]]))) != held:
        raise InputError(f"branches of cluster {edit.clusters[0]} must hold most of its documents, each once.")
    state.plant, first = state.plant.grafted(state.leaves, members, edit.grafts)
    state.leaves[members] = -1
    for number, at in enumerate(leaves):
        state.leaves[at] = first + number


def _mark(state: State, edit: Edit, _: Any, __: Any) -> None:
    (state.done.add if edit.action == "done" else state.done.discard)(edit.clusters[0])


def _level(state: State, edit: Edit, _: Any, __: Any) -> None:
    """Take the clusters of another level, in the tree as it is after the edits so far."""
    levels = [Level(name, branches) for name, branches in state.levels.items()]
    grown = regrow(state.plant, state.leaves, state.labels(), _named(state), levels)
    state.levels = {level.name: level.branches for level in grown.levels}
    taken = {branch: state.fresh + place for place, branch in enumerate(state.levels[edit.level])}
    branches = tuple(replace(branch, cluster=taken.get(branch.index, -1)) for branch in grown.tree)
    parts = part_of(branches, state.levels[edit.level])[grown.leaves]
    for key in state.names:
        now = np.unique(parts[state.keys == key])
        if len(now) == 1 and now[0] >= 0:
            state.went[key] = state.fresh + int(now[0])
    state.plant, state.leaves = Plant.of(branches), grown.leaves.astype(np.intp)
    state.rooted = state.leaves
    state.keys[parts >= 0] = state.fresh + parts[parts >= 0]
    state.names = {key: branches[branch].name for branch, key in taken.items()}
    state.words = {key: (branches[branch].name, *branches[branch].words) for branch, key in taken.items()}
    state.fresh += len(taken)


def _named(state: State) -> list[tuple[str, tuple[str, ...]]]:
    """Return name and further words of every cluster."""
    found = {branch.cluster: branch.words for branch in state.plant.branches}
    found |= {key: words[1:] for key, words in state.words.items()}
    return [(state.names[key], found.get(key, ())) for key in sorted(state.names)]


_STEPS = {
    "rename": _rename, "merge": _merge, "split": _split, "move": _move, "noise": _move, "exclude": _move,
    "graft": _graft, "done": _mark, "reopen": _mark, "level": _level,
}  # fmt: skip


# -- numbers as a reader sees them, and as the log keeps them


def as_kept(run: Run, edits: Iterable[Edit]) -> tuple[Edit, ...]:
    """Return edits whose numbers are those of the run as it is, as rows of its log.

    Clusters that splits of these edits make have the numbers from ``run.n_clusters`` on.
    """
    base = run if run.original is None else run.original
    state = apply_edits(base, run.edits)
    known = sorted(state.names)
    kept: list[Edit] = []
    for asked in edits:
        if asked.action == "level":
            kept.append(asked)
            continue
        if asked.level and asked.level in run.levels and asked.level != run.level:
            before = tuple(_branch_before(state, base, run, asked.level, c) for c in asked.clusters)
            kept.append(replace(asked, clusters=before))
            continue
        edit = replace(asked, level="") if asked.level in run.levels else asked
        for cluster in edit.clusters:
            if cluster < 0:
                raise InputError(f"{edit.action} must name clusters by whole numbers from 0 on; got {cluster!r}.")
            if cluster >= len(known) and not any(other.action == "split" for other in kept):
                raise InputError(f"{edit.action} must name clusters from 0 to {len(known) - 1}; got {cluster}.")
        new = tuple(known[int(c)] if c < len(known) else state.fresh + int(c) - len(known) for c in edit.clusters)
        kept.append(replace(edit, clusters=new))
    return tuple(kept)


def _branch_before(state: State, base: Run, run: Run, level: str, cluster: int) -> int:
    """Return the cluster of a level in the log that holds most documents of a cluster of the edited level."""
    if base is run:
        return int(cluster)
    place = base.documents.rows
    inside = np.flatnonzero(run.level_labels(level) == cluster)
    found = state.level_parts(level)[[place[run.documents.ids[int(at)]] for at in inside]]
    return int(np.bincount(found[found >= 0]).argmax()) if (found >= 0).any() else -1


def refit(run: Run, edits: Sequence[Edit], old: Run, became: Mapping[int, int]) -> tuple[tuple[Edit, ...], list[str]]:
    """Return edits of another answer that fit this run, and a note for each that does not.

    Parameters
    ----------
    run : Run
        Without edits.
    edits : sequence of Edit
        The log of the other run; documents that are not in this one are left out.
    old : Run
        The other run, without the edits.
    became : mapping of int to int
        The cluster of this run for those clusters of the other that survive.
    """
    states, now = (State.of(run), State.of(old)), dict(became)
    places = tuple(each.documents.rows for each in (run, old))
    kept, notes = [], []
    for edit in edits:
        first = states[1].fresh
        with suppress(InputError):
            step(states[1], edit, places[1])
        known = tuple(one for one in edit.documents if one in places[0])
        grafts = tuple(replace(g, documents=tuple(one for one in g.documents if one in places[0])) for g in edit.grafts)
        before = states[0].fresh
        try:
            if any(cluster not in now for cluster in edit.clusters):
                raise InputError("a cluster did not survive.")
            if edit.documents and not known:
                raise InputError("none of its documents is there.")
            new = replace(edit, clusters=tuple(now[c] for c in edit.clusters), documents=known, grafts=grafts)
            step(states[0], new, places[0])
        except InputError as error:
            clusters = f" of {', '.join(map(str, edit.clusters))}" if edit.clusters else ""
            notes.append(f"An edit no longer fits ({edit.action}{clusters}): {error}")
            continue
        kept.append(new)
        if edit.action == "level":
            now = _same_documents(states, places)
            continue
        if edit.action == "merge":
            for cluster in edit.clusters:
                now.pop(cluster)
            now[min(edit.clusters)] = min(new.clusters)
        now |= dict(zip(range(first, states[1].fresh), range(before, states[0].fresh), strict=False))
    return tuple(kept), notes


def _same_documents(states: Sequence[State], places: Sequence[Mapping[str, int]]) -> dict[int, int]:
    """Return the cluster of the first state that holds most documents of each cluster of the second."""
    rows = [(places[0][one], row) for one, row in places[1].items() if one in places[0]]
    here, there = (states[side].keys[[pair[side] for pair in rows]] for side in (0, 1))
    found = {}
    for key in states[1].names:
        keys, counts = np.unique(here[(there == key) & (here >= 0)], return_counts=True)
        if len(keys):
            found[key] = int(keys[counts.argmax()])
    return found


def digest(run: Run) -> str:
    """Return a digest of the answer of a run: labels, names and ids. Edits downloaded from a page name it."""
    found = hashlib.sha256(run.evidence.labels.tobytes())
    names = [[cluster.name for cluster in run.evidence.clusters], list(run.documents.ids)]
    found.update(json.dumps(names).encode())
    return found.hexdigest()[:32]


def plain(edits: Sequence[Edit]) -> list[dict[str, Any]]:
    """Return edits as JSON values, without what is empty."""
    return [{name: value for name, value in asdict(edit).items() if value} for edit in edits]
