"""The shape of a run: types from the annotations of its records, ranges from one table, and what must fit together."""

import math
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from itertools import pairwise
from types import NoneType, UnionType
from typing import Any, NamedTuple, get_args, get_origin, get_type_hints

import numpy as np

from .._names import LEVELS
from ..describe import Cluster, Term
from ..errors import RunError
from ..text import Texts
from .records import FIGURES, Branch, Choice, Documents, Layout, Level, Provenance, RunEvidence

DEEPEST = 8  # levels of the clusterer's parameters
_INF = math.inf
_NAMES = {str: "a text", int: "a whole number", float: "a number", bool: "true or false"}


class Limits(NamedTuple):
    """Smallest and largest value of a field; a name is a size, which the values stay below.

    Arrays also have a type and a shape in sizes: n documents, k clusters, m branches, p pairs, s sampled documents.
    Values that are None or NaN are unknown, and pass.
    """

    low: float
    high: float | str
    dtype: str = ""
    shape: tuple[str | int, ...] = ()


LIMITS: dict[type, dict[str, Limits]] = {
    Provenance: {"seed": Limits(0, 2**32 - 1), "seconds": Limits(0, _INF)},
    RunEvidence: {
        "labels": Limits(-1, "k", "int32", ("n",)),
        "leaves": Limits(-1, "m", "int32", ("n",)),
        "second": Limits(-1, "k", "int32", ("n",)),
        **{name: Limits(one.low, one.high, "float32", ("n",)) for name, one in FIGURES.items()},
        "duplicates": Limits(0, "n", "int32", ("p", 2)),
        "duplicate_similarity": Limits(-_INF, _INF, "float32", ("p",)),
        "agreement": Limits(0, 1),
    },
    Layout: {
        "coordinates": Limits(-_INF, _INF, "float32", ("n", 2)),
        "sample": Limits(0, "n", "int32", ("s",)),
        "heatmap": Limits(-_INF, _INF, "float32", ("s", "s")),
    },
    Cluster: {
        "number": Limits(0, "k"), "size": Limits(1, _INF), "nearest": Limits(-1, "k"), "stability": Limits(-1, 1),
        "alike": Limits(-1, 1), "name_share": Limits(0, 1), "centre_share": Limits(0, 1),
        "central": Limits(0, "n"), "borderline": Limits(0, "n"), "outliers": Limits(0, "n"),
    },
    Branch: {
        "index": Limits(0, "m"), "parent": Limits(-1, "m"), "children": Limits(0, "m"), "order": Limits(-1, "m"),
        "cluster": Limits(-1, "k"), "size": Limits(0, _INF),
    },
    Level: {"branches": Limits(0, "m")},
    Choice: {
        "best": Limits(1, _INF), "ks": Limits(1, _INF), "standard_error": Limits(0, _INF), "n_splits": Limits(0, _INF),
        "p_value": Limits(0, 1),
    },
}  # fmt: skip


# -- types: from what JSON holds to records


def read_as(kind: Any, value: Any, where: str) -> Any:  # noqa: PLR0911  (one return for each kind of type)
    """Return a plain value as the type of an annotation; refuse what is not of that type."""
    origin, inner = _origin(kind), get_args(kind)
    if origin is UnionType:
        return None if value is None else read_as(next(part for part in inner if part is not NoneType), value, where)
    if kind is Term:
        _require(isinstance(value, list) and len(value) == 2, where, "a text and a number", value)
        return Term(read_as(str, value[0], f"{where}[0]"), read_as(float, value[1], f"{where}[1]"))
    if is_dataclass(kind):
        return _read_record(kind, value, where)
    if origin is tuple:
        _require(isinstance(value, list | tuple), where, "a list", value)
        return tuple(read_as(inner[0], item, f"{where}[{place}]") for place, item in enumerate(value))
    if origin in (dict, Mapping):
        _require(isinstance(value, dict), where, "an object", value)
        return {name: read_as(inner[1], item, f"{where}[{name!r}]") for name, item in value.items()}
    if origin is np.ndarray or kind is Texts:
        _require(isinstance(value, origin or kind), where, "texts" if kind is Texts else "an array", value)
        return value
    if kind is Any:
        _require(_is_shallow(value, DEEPEST), where, f"at most {DEEPEST} levels deep", value)
        return value
    fits = type(value) is kind or (kind is float and type(value) is int)
    _require(fits and not (type(value) is int and abs(value) > 2**53), where, _NAMES[kind], value)
    return kind(value)


def _origin(kind: Any) -> Any:
    """Return the type that an annotation has parts of; NumPy's NDArray is an alias of one from 2.5 on."""
    return get_origin(getattr(get_origin(kind), "__value__", kind))


def _read_record(kind: Any, value: Any, where: str) -> Any:
    _require(isinstance(value, dict), where, "an object", value)
    hints, values = _hints(kind), {}
    for part in fields(kind):
        name = f"{where}.{part.name}" if where else part.name
        if part.name in value:
            values[part.name] = read_as(hints[part.name], value[part.name], name)
        elif part.default is MISSING and part.default_factory is MISSING:
            raise RunError(f"{name} is missing.")
    for name in value:
        if name not in values:
            raise RunError(f"{where or 'the run'} has an unknown field {str(name)[:80]!r}.")
    return kind(**values)


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def _is_shallow(value: Any, levels: int) -> bool:
    if not isinstance(value, list | dict):
        return True
    inside = value.values() if isinstance(value, dict) else value
    return levels > 0 and all(_is_shallow(item, levels - 1) for item in inside)


def _require(fits: bool, where: str, what: str, value: Any) -> None:
    if not fits:
        plain = value is None or isinstance(value, str | int | float | tuple)
        raise RunError(f"{where} must be {what}; got {repr(value)[:60] if plain else type(value).__name__}.")


# -- ranges, and what must fit together


def check_parts(
    provenance: Provenance, documents: Documents, evidence: RunEvidence, layout: Layout, model: Mapping[str, Any]
) -> None:
    """Refuse parts of a run with a value out of range, and parts that do not fit together."""
    n, k = len(documents.ids), len(evidence.clusters)
    sizes: dict[str | int, int] = {"n": n, "k": k, "m": len(evidence.tree), 2: 2}
    sizes |= {"p": _length(evidence.duplicates), "s": _length(layout.sample)}
    for name, part in (("provenance", provenance), ("evidence", evidence), ("layout", layout)):
        _check_ranges(part, sizes, name)
    for name in (part.name for part in fields(Documents)):
        texts = getattr(documents, name)
        if texts is not None and (not isinstance(texts, Texts) or len(texts) != n):
            raise RunError(f"documents.{name} must be {n} texts, one for each document.")
    _check_clusters(evidence)
    _check_tree(evidence)
    if evidence.choice is not None:
        _check_choice(evidence.choice)
    _check_levels(evidence)
    _check_model(model, n, k)


def _length(array: Any) -> int:
    return len(array) if np.ndim(array) else 0


def _check_ranges(record: Any, sizes: dict[str | int, int], where: str) -> None:
    limits = LIMITS[type(record)]
    for part in fields(record):
        value, name = getattr(record, part.name), f"{where}.{part.name}"
        if part.name in limits:
            _check_limits(value, limits[part.name], sizes, name)
        elif type(value) in LIMITS:
            _check_ranges(value, sizes, name)
        elif isinstance(value, tuple) and value and type(value[0]) in LIMITS:
            for place, item in enumerate(value):
                _check_ranges(item, sizes, f"{name}[{place}]")


def _check_limits(value: Any, limits: Limits, sizes: dict[str | int, int], where: str) -> None:
    if limits.dtype:
        shape = tuple(sizes[axis] for axis in limits.shape)
        if not isinstance(value, np.ndarray) or value.dtype != limits.dtype or value.shape != shape:
            got = f"{value.dtype} of shape {value.shape}" if isinstance(value, np.ndarray) else type(value).__name__
            raise RunError(f"{where} must be {limits.dtype} of shape {shape}; got {got}.")
    low, high = limits.low, sizes[limits.high] - 1 if isinstance(limits.high, str) else limits.high
    if isinstance(value, np.ndarray):
        outside = bool(((value < low) | (value > high)).any())
    else:  # a thousand small tuples: no array for each
        value = [item for item in (value if isinstance(value, tuple) else (value,)) if item is not None]
        outside = any(item < low or item > high for item in value)
    if outside:
        numbers = np.asarray(value)
        rule = f"at least {low}" if high == _INF else f"from {low} to {high}"
        got = f"{numbers.min()} to {numbers.max()}" if numbers.size > 1 else numbers.min()
        raise RunError(f"{where} must be {rule}; got {got}.")


def _check_clusters(seen: RunEvidence) -> None:
    sizes = np.bincount(seen.labels[seen.labels >= 0], minlength=len(seen.clusters)).tolist()
    for place, (cluster, size) in enumerate(zip(seen.clusters, sizes, strict=True)):
        where = f"evidence.clusters[{place}]"
        _require(cluster.number == place, f"{where}.number", f"{place}, its position", cluster.number)
        _require(cluster.size == size, f"{where}.size", f"{size}, as in the labels", cluster.size)


def _check_tree(evidence: RunEvidence) -> None:
    """Refuse what is not a tree with the root first, and leaves that are parts of one cluster each."""
    tree, k = evidence.tree, len(evidence.clusters)
    _require(len(tree) > 0, "evidence.tree", "a tree with a root", ())
    above = {child: branch.index for branch in tree for child in branch.children}
    of_branch: list[int] = []  # the cluster that each branch is, or is a part of
    for place, branch in enumerate(tree):
        where, parent = f"evidence.tree[{place}]", above.get(place, -1)
        _require(branch.index == place, f"{where}.index", f"{place}, its position", branch.index)
        fits = branch.parent == parent < place and (parent < 0) == (place == 0)
        _require(fits, f"{where}.parent", "the earlier branch whose child it is, or −1 for the root", branch.parent)
        inside = of_branch[parent] if place else -1
        _require(inside < 0 or branch.cluster < 0, f"{where}.cluster", "−1 inside another cluster", branch.cluster)
        of_branch.append(max(inside, branch.cluster))
        known = bool(branch.children) or of_branch[place] >= 0
        _require(known, f"{where}.cluster", "a cluster, or below one, as it is a leaf", branch.cluster)
    if sum(len(branch.children) for branch in tree) != len(tree) - 1:
        raise RunError("evidence.tree must name every branch but the root as a child once.")
    if sorted(branch.cluster for branch in tree if branch.cluster >= 0) != list(range(k)):
        raise RunError("evidence.tree must hold every cluster once.")
    expected = [-2 if branch.children else cluster for branch, cluster in zip(tree, of_branch, strict=True)]
    if (np.array([*expected, -1])[evidence.leaves] != evidence.labels).any():
        raise RunError("evidence.leaves must be leaves of the tree, in the clusters of the labels.")
    counts = np.bincount(evidence.leaves[evidence.leaves >= 0], minlength=len(tree))
    for branch in reversed(tree):
        size = int(counts[branch.index])
        _require(branch.size == size, f"evidence.tree[{branch.index}].size", f"{size}, as in the leaves", branch.size)
        if branch.index:
            counts[branch.parent] += size


def _check_levels(evidence: RunEvidence) -> None:
    """Refuse levels whose branches do not hold every document of a cluster once."""
    parents, left = [branch.parent for branch in evidence.tree], [*LEVELS]
    for place, level in enumerate(evidence.levels):
        where = f"evidence.levels[{place}]"
        _require(level.name in left, f"{where}.name", f"one of {', '.join(LEVELS)}, in this order", level.name)
        left = left[left.index(level.name) + 1 :]
        chosen = set(level.branches)
        _require(len(chosen) == len(level.branches) > 0, f"{where}.branches", "different branches", level.branches)
        held = [index in chosen for index in range(len(parents))]
        for index in range(1, len(parents)):
            if held[index] and held[parents[index]]:
                raise RunError(f"{where}.branches must not lie inside each other; {index} is inside another.")
            held[index] |= held[parents[index]]
        if not all(held[branch.index] for branch in evidence.tree if not branch.children):
            raise RunError(f"{where}.branches must hold every leaf of the tree.")


def _check_choice(choice: Choice) -> None:
    ks, where = choice.ks, "evidence.choice"
    _require(all(a < b for a, b in pairwise(ks)), f"{where}.ks", "ascending", ks)
    for name in ("mean", "standard_error"):
        _require(len(getattr(choice, name)) == len(ks), f"{where}.{name}", f"{len(ks)} values, one for each k", ())
    _require(len(choice.expected) in (0, len(ks)), f"{where}.expected", f"{len(ks)} values or none", ())
    known = ("", "groups", "weak groups", "no groups", "too few")
    _require(choice.answer in known, f"{where}.answer", "a known answer", choice.answer)
    for name in ("ranking", "plausible"):
        found = getattr(choice, name)
        _require(len(set(found)) == len(found) and set(found) <= set(ks), f"{where}.{name}", "values of ks", found)


def _check_model(model: Mapping[str, Any], n: int, k: int) -> None:
    """Check what every model holds; the rest is checked where the model is restored."""
    for name, value in model.items():
        _require(isinstance(value, np.ndarray | Texts), f"model.{name}", "an array or texts", value)
    labels, weights = model.get("labels", np.zeros(1, np.int32)), model.get("weights", np.zeros(1))
    fits = isinstance(labels, np.ndarray) and labels.dtype == np.int32 and labels.ndim == 1 and len(labels)
    if not fits or labels.min() < -1 or not 0 <= labels.max() < k:
        raise RunError(f"model.labels must be clusters from 0 to {k - 1} or −1, not all −1, as int32.")
    group = model.get("group", np.zeros(n, np.int64))
    fits = isinstance(group, np.ndarray) and group.dtype.kind in "iu" and group.shape == (n,)
    if not fits or group.min(initial=0) < 0 or group.max(initial=0) >= len(labels):
        raise RunError(f"model.group must be {n} whole numbers from 0 to {len(labels) - 1}, one for each document.")
    fits = isinstance(weights, np.ndarray) and weights.dtype.kind == "f" and weights.ndim == 1
    if not fits or not np.isfinite(weights).all() or (weights < 0).any():
        raise RunError("model.weights must be finite numbers of at least 0.")
    terms = model.get("words.terms", Texts())
    _require(isinstance(terms, Texts), "model.words.terms", "texts", terms)
    for name in ("words.global_weights", "words.document_frequency"):
        values = np.asarray(model.get(name, np.zeros(len(terms))))
        if values.shape != (len(terms),) or values.dtype.kind not in "iuf" or not np.isfinite(values).all():
            raise RunError(f"model.{name} must be {len(terms)} finite numbers, one for each term.")
