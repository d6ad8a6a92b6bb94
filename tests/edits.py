"""Random edits: applied by the page in a browser, and by the run, to be compared."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from grampus.errors import InputError
from grampus.persist import Edit, Run
from grampus.persist.regrow import preorder
from grampus.report import build, read_edits, write_report

# What the page shows, for a test to look at: the script's own scope is closed.
DOOR = """
window.door = {
  state, data, levels, log, undo, replay, rename, merge, split: splitCluster, move: moveTo, takeOut, partsIn,
  realGroups, editsAsFile,
  shown: () => ({
    labels: [...ownLabels].map((label) => (levels[data.level].clusters[label].none ? -1 : label)),
    names: realGroups().map((group) => group.name),
    sizes: realGroups().map((group) => group.size),
    tree: branches.map(({ parent, order, size, cluster, name, children }) =>
      [parent, order, size, cluster, name, children.map(({ index }) => index)]),
    leaves: leafOf ? [...leafOf] : null,
  }),
};
"""


def write_open_page(run: Run, file: Path) -> None:
    """Write the page of a run with a door to its script."""
    script = build.joined(build.page_scripts()).removesuffix("})();\n") + DOOR + "})();\n"
    with patch.object(build, "joined", lambda _: script):
        write_report(run, file)


def make_edits(page: Any, rng: np.random.Generator, count: int) -> None:
    """Edit the open page at random, undoing now and then."""
    for _ in range(count):
        action = rng.choice(["rename", "merge", "split", "move", "noise", "undo"], p=[0.2, 0.2, 0.25, 0.15, 0.12, 0.08])
        k = page.run("door.realGroups().length")
        some = [int(i) for i in rng.choice(page.run("door.data.n"), rng.integers(1, 12), replace=False)]
        one = int(rng.integers(k))
        if action == "rename":
            page.run(f"door.rename(door.state.groups[{one}], {json.dumps(f'name {rng.integers(4)}')})")
        elif action == "merge" and k > 1:
            chosen = rng.choice(k, min(k, int(rng.integers(2, 4))), replace=False).tolist()
            page.run(f"door.merge({json.dumps(chosen)}.map((c) => door.state.groups[c]))")
        elif action == "split":
            group = f"door.state.groups[{one}]"
            page.run(f"door.partsIn({group}) > 1 && door.split({group}, 2)")
        elif action == "move":
            page.run(f"door.move({some}, door.state.groups[{one}])")
        elif action == "noise":
            page.run(f"door.takeOut({some})")
        elif action == "undo":
            page.run("door.undo()")


def shown_by(run: Run) -> dict[str, Any]:
    """Return what the page of a run should show: labels, names, sizes and tree."""
    seen = run.evidence
    single = len(seen.tree) < 2
    order = [] if single else preorder(seen.tree)
    place = {index: number for number, index in enumerate(order)}
    ends = {index: number for number, index in enumerate(i for i in order if not seen.tree[i].children)}
    return {
        "labels": seen.labels.tolist(),
        "names": [cluster.name for cluster in seen.clusters],
        "sizes": [cluster.size for cluster in seen.clusters],
        "tree": [
            [place.get(b.parent, -1), b.order, b.size, b.cluster, b.name, [place[c] for c in b.children]]
            for b in (seen.tree[index] for index in order)
        ],
        "leaves": None if single else [ends.get(leaf, len(ends)) for leaf in seen.leaves.tolist()],
    }


def compare_with_page(page: Any, run: Run, folder: Path) -> tuple[list[str], tuple[Edit, ...]]:
    """Return which parts differ between the open page and the run edited with the page's file, and the edits.

    The tree of the page stays as found.
    """
    file = folder / "edits.json"
    file.write_text(page.run("door.editsAsFile()"))
    edits = read_edits(file, run)
    wanted, shown = shown_by(run.edited(*edits)), page.run("door.shown()")
    return [part for part in ("labels", "names", "sizes") if wanted[part] != shown[part]], edits


def random_edit(run: Run, rng: np.random.Generator) -> Edit | None:
    """Return an edit that fits a run; None if the one that was drawn does not."""
    k, ids = run.n_clusters, list(run.documents.ids)
    one = (int(rng.integers(k)),)
    some = tuple(ids[int(i)] for i in rng.choice(len(ids), int(rng.integers(1, 6)), replace=False))
    edit = {
        "rename": Edit("rename", one, name=f"name {rng.integers(100)}"),
        "merge": Edit("merge", tuple(int(c) for c in rng.choice(k, min(k, 2), replace=False))),
        "split": Edit("split", one, parts=int(rng.integers(2, 4))),
        "move": Edit("move", one, some),
        "noise": Edit("noise", documents=some),
        "exclude": Edit("exclude", documents=some),
    }[rng.choice(["rename", "merge", "split", "move", "noise", "exclude"])]
    try:
        run.edited(edit)
    except InputError:
        return None
    return edit
