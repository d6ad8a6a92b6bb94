"""Forged runs: folders whose hashes are right and whose content is not."""

from __future__ import annotations

import copy
import hashlib
import io
import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from grampus.persist import folder

Change = Callable[[dict[str, Any], dict[str, Any]], None]
Generator = np.random.Generator
WICKED = "\x1b]0;PWN\x07"
TEXTS = (
    "", " ", "x", "0", "nan", "None", "true", WICKED, "\x00", "a\nb\r\nc", "\ud800", "\udfff\ud800", "\u202eevil\u2066",
    "\u200b", "\ufeff", "e" + "\u0301" * 3000,
    "𝟘", "İ", "ﷺ" * 500, "\U0001f3f4\U000e0067\U000e007f", "x" * 200_000, "../../etc/passwd", "cosine|shift",
    "polynomial(300)", "<script>alert(1)</script>", "{0.__class__}", "%s%n", "=1+1", "9" * 4000, "--", "-1", "c:\\nul",
    "2026-13-45", "coarse", "fine", "rename", "graft", "🦆", "\U0010ffff",
)  # fmt: skip
NUMBERS = (
    None, True, False, -1, -2, 0, 1, 2, 3, 7, 200, 10**6, 2**31, 2**32, 2**53, 2**53 + 1, 2**63, 10**30, 0.0, -0.0, 0.5,
    1.0, 1.5, -0.5, 1e-320, 1e300, -1e300, 1.7976931348623157e308,
)  # fmt: skip
TYPES = ("int8", "int64", "float16", "float32", "float64", "uint8", "bool", ">i4")
KEYS = (
    "__class__", "__init__", "self", "", WICKED, "kernel", "ｋernel", "a" * 5000, "0", "\ud800", "labels", "original",
)  # fmt: skip


def write_forged(base: Path, place: Path, change: Change) -> Path:
    """Write a run like the one in `base` after a change of its manifest and arrays, with the right hashes."""
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    manifest = json.loads((base / "manifest.json").read_bytes())
    manifest.pop("sha256")
    entries = dict(manifest["arrays"])
    arrays = _Lazy(base, entries)
    change(manifest, arrays)
    for name in entries:
        if name not in arrays.given and name not in arrays.gone:
            os.link(base / entries[name]["file"], place / entries[name]["file"])
    for name, content in arrays.given.items():
        data = content if isinstance(content, bytes) else _npy(content)
        digest = hashlib.sha256(data).hexdigest()
        if isinstance(manifest.get("arrays"), dict):
            manifest["arrays"][name] = {"file": f"{name}-{digest[:16]}.npy", "sha256": digest}
        if "/" not in name and "\0" not in name and len(name) < 200:
            (place / os.fsencode(f"{name}-{digest[:16]}.npy".encode("utf-8", "replace")).decode()).write_bytes(data)
    (place / "manifest.json").write_bytes(folder._encode(manifest))
    return place


class _Lazy(dict[str, Any]):
    """Arrays of a run, read when they are asked for."""

    def __init__(self, base: Path, entries: dict[str, Any]) -> None:
        super().__init__()
        self.base, self.entries = base, entries
        self.given: dict[str, Any] = {}
        self.gone: set[str] = set()

    def __iter__(self) -> Iterator[str]:
        return iter([name for name in self.entries if name not in self.gone])

    def __missing__(self, name: str) -> Any:
        return np.load(self.base / self.entries[name]["file"])

    def __setitem__(self, name: str, value: Any) -> None:
        super().__setitem__(name, value)
        self.given[name] = value

    def __delitem__(self, name: str) -> None:
        self.gone.add(name)
        self.given.pop(name, None)


def _npy(content: Any) -> bytes:
    stream = io.BytesIO()
    np.save(stream, content, allow_pickle=False)
    return stream.getvalue()


def _any_place(rng: Generator, manifest: dict[str, Any]) -> tuple[Any, Any]:
    """Return a container and a key in it: first the part, so that long lists do not hide the rest."""
    at, key = manifest, "run"
    while True:
        inner = at[key]
        keys = list(inner) if isinstance(inner, dict) else list(range(len(inner))) if isinstance(inner, list) else []
        if not keys or (at is not manifest and rng.random() < 0.15):
            return at, key
        at, key = inner, keys[int(rng.integers(len(keys)))]


def draw_value(rng: Generator, old: Any, depth: int = 0) -> Any:
    """Return a value of another type, another range, or nearly the same."""
    kind = int(rng.integers(6))
    if kind == 0 and isinstance(old, int) and not isinstance(old, bool):
        return old + int(rng.choice([-2, -1, 1, 2]))
    if kind <= 1:
        return NUMBERS[int(rng.integers(len(NUMBERS)))]
    if kind == 2:
        return TEXTS[int(rng.integers(len(TEXTS)))]
    if kind == 3 and isinstance(old, list):
        order = rng.permutation(len(old)).tolist()
        return [[old[i] for i in order], old * 2, old[: len(old) // 2], [*old, None], old[::-1]][int(rng.integers(5))]
    if kind == 4 and depth < 3:
        size = int(rng.choice([0, 1, 2, 3, 50]))
        if rng.random() < 0.5:
            return [draw_value(rng, None, depth + 1) for _ in range(size)]
        return {str(TEXTS[int(rng.integers(len(TEXTS)))]): draw_value(rng, None, depth + 1) for _ in range(size)}
    nested: Any = 1
    for _ in range(int(rng.choice([2, 9, 60]))):
        nested = [nested]
    return nested if kind == 5 else NUMBERS[int(rng.integers(len(NUMBERS)))]


def change_value(rng: Generator, manifest: dict[str, Any], _: dict[str, Any]) -> None:
    """Give a field another value."""
    at, key = _any_place(rng, manifest)
    at[key] = draw_value(rng, at[key])


def change_key(rng: Generator, manifest: dict[str, Any], _: dict[str, Any]) -> None:
    """Drop, rename or add a field."""
    at, key = _any_place(rng, manifest)
    if not isinstance(at, dict):
        at, key = manifest["run"], str(rng.choice(list(manifest["run"])))
    how = rng.integers(3)
    name = KEYS[int(rng.integers(len(KEYS)))]
    if how == 0:
        del at[key]
    elif how == 1:
        at[name] = at.pop(key)
    else:
        at[name] = draw_value(rng, at[key])


def change_tree(rng: Generator, manifest: dict[str, Any], _: dict[str, Any]) -> None:
    """Turn the tree into a cycle, a forest or another tree."""
    seen = manifest["run"]["evidence"]
    tree = seen["tree"]
    one, other = (tree[int(i)] for i in rng.integers(len(tree), size=2))
    how = rng.integers(6)
    if how == 0:
        one["parent"], other["children"] = other["index"], [one["index"]]
    elif how == 1:
        one["children"], other["children"] = other["children"], one["children"]
    elif how == 2:
        one["parent"], other["parent"] = other["parent"], one["parent"]
    elif how == 3:
        for name in ("order", "cluster", "size", "height", "gain"):
            one[name], other[name] = other[name], one[name]
    elif how == 4:
        seen["tree"] = [tree[int(i)] for i in rng.permutation(len(tree))]
    else:
        one["order"] = other["order"]
    if seen.get("levels") and rng.random() < 0.3:
        level = seen["levels"][int(rng.integers(len(seen["levels"])))]
        level["branches"] = rng.integers(-1, len(tree) + 1, size=int(rng.integers(0, 6))).tolist()


def change_log(rng: Generator, manifest: dict[str, Any], _: dict[str, Any]) -> None:
    """Add an edit, a graft or an update that may not fit."""
    run = manifest["run"]
    if rng.random() < 0.3:
        drawn = {name: draw_value(rng, 3) for name in ("documents", "added", "deleted", "moved")}
        change = {"cluster": draw_value(rng, 0), "name": "x", "kind": "grown", "before": 1, "after": 2, "drift": 0.5}
        update = {
            "created": "2026-01-02T03:04:05Z", "documents": 6, "added": 2, "deleted": 0, "moved": 1, "changes": [],
        }  # fmt: skip
        one = dict(update)
        for name in rng.choice(list(drawn), 1).tolist():
            one[name] = drawn[name]
        run["history"] = [*run.get("history", []), {**one, "changes": [change] * int(rng.integers(3))}]
        return
    ids = [str(i) for i in rng.integers(0, 170, size=int(rng.integers(0, 9)))]
    action = str(rng.choice(["rename", "merge", "split", "move", "noise", "exclude", "graft", "other"]))
    clusters = rng.integers(-2, 9, size=int(rng.integers(0, 4))).tolist()
    edit: dict[str, Any] = {"action": action, "clusters": clusters, "documents": ids}
    edit["name"] = TEXTS[int(rng.integers(len(TEXTS)))]
    edit["parts"] = int(rng.choice([0, 1, 2, 3, -1, 10**6, 2**53]))
    edit["level"] = str(rng.choice(["", "", "", "coarse", "fine", "middle", "x"]))
    if action == "graft":
        count = int(rng.integers(0, 5))
        everyone = [str(i) for i in range(160)]
        parts = np.array_split(rng.permutation(everyone), max(1, count))
        edit["grafts"] = [
            {
                "parent": int(rng.choice([-1, 0, i - 1, i, i + 1, 7, -5])),
                "name": edit["name"],
                "order": int(rng.choice([-1, 0, 1, 2**53])),
                "height": float(rng.choice([0.5, -1.0, 1e300])),
                "gain": 0.0,
                "documents": parts[i].tolist() if rng.random() < 0.8 else ids,
            }
            for i in range(count)
        ]
        edit["clusters"] = [int(rng.integers(4))]
    run["edits"] = [*run.get("edits", []), edit]


def change_array(rng: Generator, manifest: dict[str, Any], arrays: dict[str, Any]) -> None:
    """Give an array other values, another shape, type or name; or take it away."""
    names = sorted(manifest["arrays"])
    name = names[int(rng.integers(len(names)))]
    old, how = arrays[name], rng.integers(7)
    if how == 0:
        del arrays[name]
        del manifest["arrays"][name]
    elif how == 1:
        arrays[str(rng.choice([name + "x", name.partition(".")[0], "x", "model.x", "edits", "history.x"]))] = old
    elif how == 2:
        with np.errstate(invalid="ignore"):
            arrays[name] = old.astype(str(rng.choice(TYPES)))
    elif how == 3:
        arrays[name] = old.reshape([(-1, 1), (1, -1), (-1,)][int(rng.integers(3))]) if old.size else old
    elif how == 4:
        arrays[name] = np.concatenate([old, old]) if old.ndim else old
    elif how == 5 and old.size:
        new = old.copy()
        values = (-1, 0, 1, 255, 2**31 - 1) if old.dtype.kind in "iu" else (np.nan, np.inf, -np.inf, -1, 0, 2, 1e30)
        with np.errstate(all="ignore"):
            new.flat[int(rng.integers(old.size))] = np.asarray(values[int(rng.integers(len(values)))]).astype(old.dtype)
        arrays[name] = new
    elif old.size:
        arrays[name] = rng.permutation(old.ravel()).reshape(old.shape)


CHANGES = {
    "value": change_value, "key": change_key, "tree": change_tree, "log": change_log, "array": change_array,
}  # fmt: skip


def draw_change(seed: int) -> tuple[str, Change]:
    """Return one to three changes of a manifest, and what they are."""
    rng = np.random.default_rng([29, seed])
    count = int(rng.choice([1, 1, 1, 2, 3]))
    kinds = rng.choice(list(CHANGES), count, p=[0.4, 0.1, 0.12, 0.18, 0.2]).tolist()

    def change(manifest: dict[str, Any], arrays: dict[str, Any]) -> None:
        for kind in kinds:
            before = copy.deepcopy(manifest)
            try:
                CHANGES[kind](rng, manifest, arrays)
            except (KeyError, TypeError, IndexError, ValueError, AttributeError):  # no place for it after the others
                manifest.clear()
                manifest.update(before)

    return "+".join(kinds), change
