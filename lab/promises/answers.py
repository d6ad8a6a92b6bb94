"""One answer on every computer: hashes of labels, levels, names, map and page, next to those that were recorded.

``python -m lab.promises.answers [COLLECTION ...]`` prints them; without names, `> answers.toml` records them anew.
"""

import base64
import hashlib
import json
import re
import sys
import tomllib
import warnings
import zlib
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

from grampus import DocumentClusterer, __version__
from grampus.datasets import world_factbook
from grampus.persist import Run
from grampus.report.build import Shell, render
from grampus.report.page import page_of
from lab import Found, Table, Task, data
from lab.promises import promise

RECORDED: dict[str, str] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
COLLECTIONS = ("demo", "bbc", "20ng", "dev/snips7", "dev/gnad10_de", "dev/thucnews_zh")
ASKED = [*((name, way) for name in COLLECTIONS for way in ("words", "meaning")), ("digits", "words")]
GRID = 1024  # cells of the map on either side
PACKED = re.compile('id="(?:texts|index)">([^<]+)')


def collection(name: str) -> Any:
    """Return the texts of a collection, or the rows of a matrix."""
    if name == "digits":
        return load_digits().data
    return list(world_factbook().texts if name == "demo" else data.texts(name)[0])


def hashes(name: str, way: str) -> dict[str, str]:
    """Return the hashes of labels and names of all levels, verdict and map, and of the page."""
    warnings.simplefilter("ignore")
    model: Any = DocumentClusterer(embed="auto" if way == "meaning" else None).fit(collection(name))
    run = model.run_
    levels = [[np.asarray(run.level_labels(level)).tolist(), list(run.level_names(level))] for level in run.levels]
    layout = run.layout.coordinates.astype(np.float64)
    cells = np.floor(GRID * (layout - layout.min(axis=0)) / np.maximum(np.ptp(layout, axis=0), 1e-12) + 0.5)
    content = {"levels": levels, "map": cells.astype(int).tolist(), "verdict": model.choice_.answer}
    answer = json.dumps(content, ensure_ascii=False, default=str)
    return {f"{name}, {way}": first_digits(answer), f"{name}, {way}, page": first_digits(page(run))}


def first_digits(text: str) -> str:
    """Return the first digits of the hash of a text."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


def page(run: Run) -> str:
    """Return the page of a run as the command writes it, without what is not compared.

    That is the date, the time taken and all versions; script and style, which are files of the package; and how texts
    and words were compressed, which zlib may change.
    """
    same = replace(run, provenance=replace(run.provenance, created="", seconds=0.0, versions={}))
    html = render(page_of(same), Shell(script="", style="")).replace(f"Grampus {__version__}", "Grampus")
    return PACKED.sub(lambda found: zlib.decompress(base64.b64decode(found[1])).decode("latin-1"), html)


@promise("one-answer")
def one_answer(task: Task) -> Found:
    found: dict[str, str] = {}
    for name, way in ASKED[-1:] if task.quick else ASKED:
        found |= task.step(f"{name} {way}", partial(hashes, name, way))
    rows = [(key, value, RECORDED.get(key, "–")) for key, value in found.items()]
    apart = sum(value != ours for _, value, ours in rows)
    table = Table("Hashes", ("collection", "found", "ours"), rows)
    return Found(f"{apart} of {len(rows)} differ", {"different": apart}, [table])


if __name__ == "__main__":
    for name, way in ASKED:
        if len(sys.argv) == 1 or name in sys.argv:
            for key, value in hashes(name, way).items():
                print(f'"{key}" = "{value}"', flush=True)
