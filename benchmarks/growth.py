"""How time and memory grow with the number of documents: ``python -m benchmarks.growth``.

Each method meets the same made-up documents in growing numbers, every run in a process of its own. The exponent is the
slope of a straight line through the logarithms of the upper half of the sizes. Writes Markdown, JSON and a picture
into benchmarks/results.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from benchmarks.report import RESULTS, provenance

SIZES = (1000, 2000, 4000, 8000, 16000, 32000)
STORED = 8000  # the largest size for methods that store n² numbers
TOPICS, VOCABULARY, LENGTH = 20, 20_000, 60

SETUP = """
    import time
    import numpy as np
    import grampus.text
    from grampus import KernelKMeans, PDDP, SpectralKMeans, choose_k
    from grampus.cluster import fast
    from benchmarks.growth import made_up
    x, texts = made_up({n}, {texts})
    input_bytes = sum(map(len, texts)) if texts else x.data.nbytes + x.indices.nbytes + x.indptr.nbytes
    small, some = made_up(300, {texts})
    def work(x, texts):
        {work}
    least, fast.WORTH_IT = fast.WORTH_IT, 0.0
    work(small, some)  # import, and load the compiled loops
    fast.WORTH_IT = least
"""
WORK = """
    began = time.perf_counter()
    work(x, texts)
    print("seconds", time.perf_counter() - began)
"""


@dataclass(frozen=True)
class Method:
    """A curve: its name, what is run, the largest size, and whether it reads texts."""

    name: str
    work: str
    largest: int = SIZES[-1]
    texts: bool = False


METHODS = (
    Method("texts to weighted terms", "grampus.text.TermVectorizer(min_df=3).fit_transform(texts)", texts=True),
    Method("kernel k-means, cosine", "KernelKMeans(20, kernel='cosine', n_init=3, random_state=0).fit(x)"),
    Method(
        "kernel k-means, cosine|power(0.6), stored",
        "KernelKMeans(20, kernel='cosine|power(0.6)', n_init=3, random_state=0).fit(x)",
        STORED,
    ),
    Method("PDDP", "PDDP(20).fit(x)"),
    Method("spectral, cosine", "SpectralKMeans(20, kernel='cosine', n_init=3, random_state=0).fit(x)"),
    Method(
        "choose_k, RED-S",
        "choose_k(x, scheme='RED-S', ks=range(2, 7), n_splits=20, null=False, random_state=0)",
        16000,
    ),
)


@dataclass(frozen=True)
class Point:
    """One run."""

    method: str
    n: int
    seconds: float
    rise: float
    input: float


def made_up(n: int, texts: bool) -> tuple[Any, list[str]]:
    """Return n made-up documents of twenty topics: unit rows of logarithmic weights, or the texts themselves."""
    import scipy.sparse as sp

    rng = np.random.default_rng(0)
    common = 1 / np.arange(1, VOCABULARY + 1)
    cumulative = np.cumsum(common / common.sum())
    own = rng.integers(0, VOCABULARY, (TOPICS, 200))
    topics = np.arange(n) % TOPICS
    words = np.searchsorted(cumulative, rng.random((n, LENGTH))).clip(max=VOCABULARY - 1)
    special = rng.random((n, LENGTH)) < 0.3
    words[special] = own[np.repeat(topics, LENGTH).reshape(n, LENGTH)[special], rng.integers(0, 200, special.sum())]
    if texts:
        return None, [" ".join(f"w{word}" for word in row) for row in words.tolist()]
    rows = np.repeat(np.arange(n), LENGTH)
    counts = sp.coo_array((np.ones(n * LENGTH), (rows, words.ravel())), shape=(n, VOCABULARY)).tocsr()
    counts.data = 1 + np.log(counts.data)
    often = np.maximum(np.bincount(counts.indices, minlength=VOCABULARY), 1)
    counts.data *= 1 + np.log(n / often)[counts.indices]
    return sp.csr_array(counts), []


def measure(method: Method, n: int) -> Point:
    """Run one method on n documents in a fresh process."""
    from tests import memory

    found = memory.rise(SETUP.format(n=n, texts=method.texts, work=method.work), WORK)
    return Point(method.name, n, found["seconds"], found["rise"], found["input"])


def exponent(sizes: Sequence[float], values: Sequence[float]) -> float:
    """Return the slope of log value against log n over the upper half of the sizes, two at least."""
    kept = slice(-max(2, len(sizes) // 2), None)
    return float(np.polyfit(np.log(sizes[kept]), np.log(np.maximum(values[kept], 1e-9)), 1)[0])


def table(points: Sequence[Point]) -> str:
    """Return the curves as Markdown: seconds and megabytes for each size, and the exponents."""
    sizes = sorted({point.n for point in points})
    lines = [
        f"| method | {' | '.join(f'n = {n:,}' for n in sizes)} | time grows as | memory as |",
        "|---" * (len(sizes) + 3) + "|",
    ]
    for name in dict.fromkeys(point.method for point in points):
        curve = {point.n: point for point in points if point.method == name}
        cells = [f"{curve[n].seconds:.2f} s, {curve[n].rise / 1e6:.0f} MB" if n in curve else "–" for n in sizes]
        last = list(curve.values())[-1]
        grown = [
            f"n^{exponent(list(curve), [getattr(p, value) for p in curve.values()]):.1f}"
            for value in ("seconds", "rise")
        ]
        if last.rise < last.input:  # a few pages more or less say nothing
            grown[1] = "below the input"
        lines.append(f"| {name.replace('|', chr(92) + '|')} | {' | '.join(cells)} | {' | '.join(grown)} |")
    return "\n".join(lines)


def draw(points: Sequence[Point]) -> None:
    """Draw both families of curves on logarithmic axes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4.2), layout="constrained")
    for axes, value, title, unit in zip(
        figure.subplots(1, 2), ("seconds", "rise"), ("time", "memory beyond the input"), ("seconds", "MB"), strict=True
    ):
        for name in dict.fromkeys(point.method for point in points):
            curve = [point for point in points if point.method == name]
            values = [getattr(point, value) / (1e6 if value == "rise" else 1) for point in curve]
            axes.loglog([point.n for point in curve], values, marker="o", markersize=3, label=name)
        axes.set(title=title, xlabel="documents", ylabel=unit)
        axes.grid(alpha=0.3)
    axes.legend(fontsize=7)
    figure.savefig(RESULTS / "growth.png", dpi=100, metadata={"Software": None})


def main(arguments: Sequence[str] | None = None) -> int:
    """Run every curve and write it down; return the exit status."""
    parser = argparse.ArgumentParser("python -m benchmarks.growth", description="Time and memory against n.")
    parser.add_argument("--quick", action="store_true", help="two small sizes; nothing is written")
    options = parser.parse_args(arguments)
    points = []
    for method in METHODS:
        for n in SIZES[:2] if options.quick else SIZES:
            if n <= method.largest:
                points.append(measure(method, n))
                print(f"{method.name}, n = {n}: {points[-1].seconds:.2f} s", file=sys.stderr, flush=True)
    made = provenance()
    said = "; ".join(["`python -m benchmarks.growth`", *made.values()])
    told = f"Memory is what the resident memory rises beyond the input. {said}."
    page = f"![Curves of time and memory](growth.png)\n\n{table(points)}\n\n{told}\n"
    print(page)
    if not options.quick:
        (RESULTS / "growth").mkdir(parents=True, exist_ok=True)
        (RESULTS / "growth.md").write_text(page, encoding="utf-8")
        kept = {"provenance": made, "points": [asdict(point) for point in points]}
        (RESULTS / "growth" / "points.json").write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
        draw(points)
    return 0


if __name__ == "__main__":
    sys.exit(main())
