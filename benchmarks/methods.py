"""Which method for which data: our methods on data of different kinds, with scores, time and memory for every cell.

``python -m benchmarks.methods`` measures everything in one process and on one thread, in a quarter of an hour, and
writes benchmarks/results/methods/ (Markdown and JSON) and the tables of docs/guide/which_method.md. The number of
clusters is that of the classes; time is processor time. Needs the research corpora (`GRAMPUS_DATA`).
"""

from __future__ import annotations

import os

THREADS = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMBA")}
if __name__ == "__main__":
    os.environ.update(THREADS)  # before NumPy is imported

import ctypes  # noqa: E402
import gc  # noqa: E402
import json  # noqa: E402
import platform  # noqa: E402
import sys  # noqa: E402
import time  # noqa: E402
import warnings  # noqa: E402
from collections.abc import Callable, Sequence  # noqa: E402
from dataclasses import asdict, dataclass, replace  # noqa: E402
from importlib.metadata import version  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

import numpy as np  # noqa: E402

from benchmarks import method_data as data  # noqa: E402
from benchmarks.report import provenance  # noqa: E402
from grampus import (  # noqa: E402
    PDDP,
    BisectingKernelKMeans,
    DocumentClusterer,
    KernelKMeans,
    KernelPCAKMeans,
    SpectralKMeans,
)
from grampus.metrics import ari, nmi  # noqa: E402

RESULTS = Path(__file__).parent / "results" / "methods"
GUIDE = Path(__file__).parents[1] / "docs" / "guide" / "which_method.md"
SEEDS = 3
CLOSE = 0.02  # NMI within this of the best of its column is set in bold


@dataclass(frozen=True)
class Method:
    """A row: how it is written, how it is made, and how many seeds are measured."""

    name: str
    make: Callable[[int, int], Any]  # k and seed to an estimator
    rows: str = "x"  # what it is fitted to: weighted terms or numbers (x), or the texts themselves
    limit: int | None = None  # the largest input, in characters, that is measured
    seeds: int = SEEDS


def _kkm(kernel: str, **more: Any) -> Method:
    rows = "texts" if any(kernel.startswith(name) for name in ("spectrum", "boundrange")) else "x"
    limit = 1_000_000 if rows == "texts" else None
    return Method(
        f'KernelKMeans(kernel="{kernel}")',
        lambda k, seed: KernelKMeans(k, kernel=kernel, random_state=seed, n_jobs=1),
        rows=rows,
        limit=limit,
        **more,
    )


def _tree(kernel: str, rows: str = "x", **options: Any) -> Method:
    said = "".join(f", {name}={value!r}" for name, value in options.items()).replace("'", '"')
    return Method(
        f'PDDP(kernel="{kernel}"{said})', lambda k, seed: PDDP(k, kernel=kernel, **options), rows=rows, seeds=1
    )


def _bisecting(kernel: str, rows: str = "x") -> Method:
    return Method(
        f'BisectingKernelKMeans(kernel="{kernel}")',
        lambda k, seed: BisectingKernelKMeans(k, kernel=kernel, random_state=seed, n_jobs=1),
        rows=rows,
    )


def _spectral(kernel: str, rows: str = "x", **options: Any) -> Method:
    said = "".join(f", {name}={value!r}" for name, value in options.items()).replace("'", '"')
    return Method(
        f'SpectralKMeans(kernel="{kernel}"{said})',
        lambda k, seed: SpectralKMeans(k, kernel=kernel, random_state=seed, n_jobs=1, **options),
        rows=rows,
    )


def _kpca(kernel: str, rows: str = "x") -> Method:
    return Method(
        f'KernelPCAKMeans(kernel="{kernel}")',
        lambda k, seed: KernelPCAKMeans(k, kernel=kernel, random_state=seed, n_jobs=1),
        rows=rows,
    )


WORDS = "cosine|principal(100)|normalise"
GROUPS: dict[str, tuple[Callable[[], list[data.Set]], tuple[Method, ...]]] = {
    "texts": (
        data.text_sets,
        (
            _kkm("cosine"),
            _kkm("cosine|shift"),
            _kkm("cosine|shift|map", seeds=1),  # two passes over n² similarities: slow
            _kkm("cosine|principal(20)|normalise"),
            _kkm(WORDS),
            Method(
                "DocumentClusterer()",
                lambda k, seed: DocumentClusterer(k, stability=False, random_state=seed, n_jobs=1),
                rows="texts",
            ),
            _tree("cosine"),
            _tree("cosine", cut="projection"),
            _tree("cosine", cut="projection", refine=True),
            _tree(WORDS, cut="projection", refine=True),
            _bisecting("cosine"),
            _spectral("cosine"),
            _spectral("cosine", laplacian="symmetric"),
            _kpca("cosine"),
            _kkm("spectrum(5)|normalise|shift"),
        ),
    ),
    "numbers": (
        data.number_sets,
        (
            _kkm("linear"),
            _kkm("cosine"),
            _kkm("gaussian(gamma=0.1)"),
            _kkm("selftuning"),
            _tree("linear", cut="projection"),
            _tree("linear", cut="projection", refine=True),
            _bisecting("linear"),
            _spectral("gaussian(gamma=0.1)"),
            _spectral("selftuning"),
            _spectral("selftuning", neighbours=10),
            _kpca("linear|normalise(1)"),
            _kpca("polynomial(2)|normalise(10)"),
        ),
    ),
    "strings": (
        data.string_sets,
        (
            _kkm(WORDS),
            _kkm("spectrum(4)|normalise"),
            _kkm("spectrum(4)|normalise|shift"),
            _kkm("spectrum(7)|normalise|shift"),
            _kkm("boundrange(8)|normalise|shift", seeds=1),  # slow, too
            _kkm("spectrum(4)|normalise|principal(50)|normalise"),
            _tree("spectrum(4)|normalise", rows="texts", cut="projection", refine=True),
            _spectral("spectrum(4)|normalise", rows="texts"),
            _spectral("spectrum(7)|normalise", rows="texts"),
            _kpca("spectrum(4)|normalise", rows="texts"),
        ),
    ),
}


@dataclass(frozen=True)
class Cell:
    """One method on one set: means over the seeds; memory is the largest rise."""

    group: str
    method: str
    name: str
    nmi: float
    ari: float
    seconds: float
    megabytes: float | None


def _resident(key: str) -> int:
    for text in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
        if text.startswith(f"{key}:"):
            return int(text.split()[1]) * 1024
    raise RuntimeError(f"no {key}")


def rise(work: Callable[[], Any]) -> tuple[Any, float, float | None]:
    """Return what `work` returns, its processor seconds, and the rise of the resident memory in MB (on Linux)."""
    marks = Path("/proc/self/clear_refs")
    gc.collect()
    if marks.exists():
        ctypes.CDLL(None).malloc_trim(0)  # what earlier cells left must not hide what this one takes
        marks.write_text("5", encoding="utf-8")
        before = _resident("VmRSS")
    began = time.process_time()
    made = work()
    seconds = time.process_time() - began
    return made, seconds, (_resident("VmHWM") - before) / 1e6 if marks.exists() else None


def measure(group: str, method: Method, found: data.Set) -> Cell | None:
    """Fit one method to one set; None where it has no meaning there or is left out for its size."""
    rows = found.x if method.rows == "x" else found.texts
    if rows is None or (method.limit is not None and sum(map(len, rows)) > method.limit):
        return None
    scores, times, rises = [], [], []
    for seed in range(method.seeds):
        model = method.make(found.k, seed)
        _, seconds, megabytes = rise(lambda model=model: model.fit(rows))  # type: ignore[misc]
        scores.append((nmi(found.labels, model.labels_), ari(found.labels, model.labels_)))
        times.append(seconds)
        rises.append(megabytes)
    mean = np.mean(scores, axis=0)
    largest = None if rises[0] is None else max(value for value in rises if value is not None)
    return Cell(group, method.name, found.name, float(mean[0]), float(mean[1]), float(np.mean(times)), largest)


def sets_table(sets: Sequence[data.Set]) -> str:
    """Return what the columns are."""
    lines = ["| set | kind | documents | classes | smallest and largest class |", "|---|---|---|---|---|"]
    for found in sets:
        sizes = np.unique(found.labels, return_counts=True)[1]
        lines.append(
            f"| {found.name} | {found.kind} | {len(found.labels):,} | {found.k} | {sizes.min():,}–{sizes.max():,} |"
        )
    return "\n".join(lines)


def scores_table(cells: Sequence[Cell]) -> str:
    """Return NMI / ARI; what comes within 0.02 of the best NMI of its column is bold."""
    best = {name: max(cell.nmi for cell in cells if cell.name == name) for name in _names(cells)}

    def show(cell: Cell) -> str:
        text = f"{cell.nmi:.2f} / {cell.ari:.2f}"
        return f"**{text}**" if cell.nmi > best[cell.name] - CLOSE else text

    return _table(cells, show)


def costs_table(cells: Sequence[Cell]) -> str:
    """Return seconds / megabytes."""
    return _table(
        cells, lambda c: f"{c.seconds:.2f} s / {'–' if c.megabytes is None else f'{max(c.megabytes, 1):.0f}'} MB"
    )


def _names(cells: Sequence[Cell]) -> list[str]:
    return list(dict.fromkeys(cell.name for cell in cells))


def _table(cells: Sequence[Cell], show: Callable[[Cell], str]) -> str:
    names = _names(cells)
    lines = [f"| method | {' | '.join(names)} |", f"|---|{'---|' * len(names)}"]
    for method in dict.fromkeys(cell.method for cell in cells):
        found = {cell.name: show(cell) for cell in cells if cell.method == method}
        lines.append(f"| `{method.replace('|', chr(92) + '|')}` | {' | '.join(found.get(n, '–') for n in names)} |")
    return "\n".join(lines)


def defaults() -> dict[str, str]:
    """Return what the row `DocumentClusterer()` stands for."""
    return {name: str(DocumentClusterer().get_params()[name]) for name in ("kernel", "init", "n_init", "polish")}


def put(name: str, table: str) -> None:
    """Write a table between its marks in the guide."""
    text = GUIDE.read_text(encoding="utf-8")
    before, rest = text.split(f"<!-- {name} -->\n")
    _, after = rest.split(f"<!-- end of {name} -->\n")
    GUIDE.write_text(f"{before}<!-- {name} -->\n{table}\n<!-- end of {name} -->\n{after}", encoding="utf-8")


def write(cells: Sequence[Cell], sets: dict[str, list[data.Set]], seconds: float) -> None:
    """Write the tables and figures into the results and into the guide."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    versions = {name: version(name) for name in ("grampus", "numpy", "scipy", "scikit-learn")}
    record = {
        "made": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
        "commit": provenance()["commit"],
        "defaults": defaults(),
        "machine": platform.machine(),
        "threads": 1,
        "seeds": SEEDS,
        "seconds": round(seconds, 1),
        "versions": versions,
        "cells": [asdict(cell) for cell in cells],
    }
    (RESULTS / "cells.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    made = f"{record['made']}, {record['commit']}, {seconds:.0f} s; {versions}; one thread."
    parts = ["# Which method for which data", made]
    for group in GROUPS:
        here = [cell for cell in cells if cell.group == group]
        tables = (sets_table(sets[group]), scores_table(here), costs_table(here))
        parts += [f"## {group}", *tables]
        for kind, table in zip(("sets", "scores", "costs"), tables, strict=True):
            put(f"{group} {kind}", table)
    (RESULTS / "tables.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def main() -> None:
    warnings.simplefilter("ignore")
    began = time.perf_counter()
    cells: list[Cell] = []
    sets = {group: make() for group, (make, _) in GROUPS.items()}
    for group, (_, methods) in GROUPS.items():
        for method in methods:
            for number, found in enumerate(sets[group]):
                if number == 0:
                    measure(group, replace(method, seeds=1), found.small())  # to compile and import
                if (cell := measure(group, method, found)) is not None:
                    cells.append(cell)
                    print(
                        f"{cell.method} {cell.name}: {cell.nmi:.3f} / {cell.ari:.3f}, {cell.seconds:.2f} s, "
                        f"{cell.megabytes or 0:.0f} MB",
                        flush=True,
                    )
    write(cells, sets, time.perf_counter() - began)
    print(f"{len(cells)} cells in {time.perf_counter() - began:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
