"""Put measured figures into the pages: each table below stands between two marks and is made from committed results.

``python -m docs.figures`` writes the tables anew from benchmarks/results and verify/RESULTS.md; a test compares them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

from benchmarks.measure import Outcome
from benchmarks.report import RESULTS, cells

ROOT = Path(__file__).parents[1]
LINES = ROOT / "verify" / "RESULTS.md"
ABSENT = "not measured yet"
_CODE = re.compile(r"\w*(?:Vectorizer|KMeans|KernelPCA|kkmeans|prediction\.strength)")

# README: what, and the row of the benchmark.
SPEED = (
    ("250 starts of kernel k-means, bbc (n = 2225, k = 5), with `[fast]`", "kernel-k-means-restarts"),
    ("the same", "kernel-k-means-kernlab"),
    ("the same", "kernel-k-means-tslearn"),
    ("k-means on sparse 20ng (k = 20), with `[fast]`", "sparse-k-means"),
    ("20ng, text to weighted terms", "text-to-terms"),
    ("`boundrange(12)` Gram of 757 documents", "strings-kernlab"),
    ("the same", "strings-boundrange"),
    ("PDDP tree, 3,000 documents, k = 20", "pddp-hipart"),
    ("spectral clustering of 10,000 sparse documents, k = 20", "spectral-precomputed"),
    ("20,000 synthetic ones: all links against a neighbour graph", "spectral-neighbours"),
    ("kernel-PCA k-means of 5,000 documents, k = 20", "kernel-pca-k-means"),
    ("choosing k on digits, 20 splits, k = 2…15", "choose-k-fpc"),
)
# README: what, the acceptance line, and which parts of its figure are shown.
FAITH = (
    ("kernlab's string kernels", "3.kernlab", ".+"),
    ("`pddp`, table 4: documents of CLASSIC3 (3,891) in another cell", "5.classic3", r"PDDP\w* k=\d: \d+(?= apart)"),
    ("`dominance`, tables 2 and 3: cells near to the print, aimed at 80 % and 95 %", "11.dominance", ".+"),
    ("`validation`, table 3: the true k first by RED-S", "7.table3", "[^;]+(?=;|$)"),
    ("`validation`, table 1: 84 sets, right first and among three (print 50 % and 74 %)", "7.table1", ".+"),
    ("defaults against scikit-learn's recipes, five sets; aim: mean gain 0.03 in both", "8.confirmation", "^[^;]+"),
    ("the same labels with 1, 2 and 4 threads, three batch sizes, stored, tiled, matrix-free", "4.same-labels", ".+"),
)
# docs/limits.md: what, and an acceptance line or the row of a benchmark.
SCALE = (
    (
        "products with `linear\\|normalise\\|shift`, 200,000 × 50,000 sparse float32, 20 columns: rise of memory",
        "1.memory-product",
    ),
    ("`map` at 20,000 rows, norms included: rise of memory", "1.memory-map"),
    ("reading 1,000,000 documents of 200 characters, peak memory", "2.text-memory"),
    ("20ng (18,846 documents), text to weighted terms", "text-to-terms"),
    ("`constant` on bbcsport (737 documents, all substrings)", "3.constant-memory"),
    ("string kernels: one document of 10 MB; a million of one character", "3.strings-large"),
    ("`subsequence(3)` Gram of 100 pages", "strings-subsequence"),
    ("kernel k-means, 50,000 and 100,000 sparse documents, k = 50", "4.sparse-growth"),
    ("250 starts on bbc (2,225 documents, k = 5, stored)", "kernel-k-means-restarts"),
    ("PDDP, 9,052 documents, k = 52", "pddp-svds"),
    ("the same, memory (n² would be 655 MB)", "5.memory"),
    ("spectral clustering of 100,000 sparse documents, k = 10 (n² would be 80 GB)", "6.memory"),
    ("a million documents under a Gaussian kernel, 150 landmarks", "6.nystrom-million"),
    ("choosing k on 20ng, 200 splits, k = 2…10, null test included", "7.20ng"),
    ("`grampus demo` (1,258 documents, k chosen)", "8.demo"),
    ("the report of 20ng", "9.20ng"),
    ("the report of 100,000 documents", "9.synthetic"),
)
# docs/guide/report.md
PAGES = (("20ng, 18,846 documents", "9.20ng"), ("100,000 made-up documents", "9.synthetic"))


def outcome(row: str) -> Outcome | None:
    """Return what a benchmark's row measured last."""
    path = RESULTS / f"{row}.json"
    if not path.exists():
        return None
    return Outcome(**json.loads(path.read_text(encoding="utf-8"))["outcomes"][0])


def line_figures() -> dict[str, str]:
    """Return the figure of every acceptance line that has one."""
    found = {}
    for text in LINES.read_text(encoding="utf-8").splitlines():
        row = [cell.strip() for cell in re.split(r"(?<!\\)\|", text)[1:-1]]
        if len(row) > 3 and (name := re.match(r"\d+\.[\w-]+", row[1])) and row[2] != "–":
            found[name[0]] = row[2] if row[3].startswith("passed") else f"**not met:** {row[2]}"
    return found


def speed() -> str:
    """Return the README's table of ratios."""
    lines = ["| what | peer | ratio | made by |", "|---|---|---|---|"]
    for what, row in SPEED:
        measured = outcome(row)
        peer, ratio = "–", ABSENT
        if measured is not None:
            peer, ratio = _CODE.sub(r"`\g<0>`", measured.peer), cells(measured)[4].replace("×", " ×")
        if measured is not None and measured.extrapolated != 1:
            peer += ", extrapolated"
        if measured is not None and measured.bad:
            short = f"short of the {measured.promise:g} × aimed at"
            ratio += f", {short if measured.status == 'short' else measured.status}"
        lines.append(f"| {what} | {peer} | {ratio} | `python -m benchmarks {row}` |")
    return "\n".join(lines)


def faith() -> str:
    """Return the README's table of how near we are to others' results, met or not."""
    figures = line_figures()
    lines = ["| what | figure | made by |", "|---|---|---|"]
    for what, source, part in FAITH:
        figure = figures.get(source, ABSENT)
        mark, _, told = figure.rpartition("** ")
        shown = "; ".join(re.findall(part, told)) or told
        lines.append(f"| {what} | {f'{mark}** ' if mark else ''}{shown} | `python -m verify --only {source}` |")
    return "\n".join(lines)


def scale() -> str:
    """Return the table of what was measured at which size."""
    return _table("what", SCALE)


def pages() -> str:
    """Return the sizes and times of two reports."""
    return _table("report of", PAGES)


def _table(head: str, rows: tuple[tuple[str, str], ...]) -> str:
    figures = line_figures()
    lines = [f"| {head} | figure | made by |", "|---|---|---|"]
    for what, source in rows:
        if source[0].isdigit():
            figure, command = figures.get(source, ABSENT), f"python -m verify --only {source}"
        else:
            measured = outcome(source)
            figure, command = ABSENT if measured is None else cells(measured)[2], f"python -m benchmarks {source}"
        lines.append(f"| {what} | {figure} | `{command}` |")
    return "\n".join(lines)


TABLES: dict[str, tuple[Path, Callable[[], str]]] = {
    "speed": (ROOT / "README.md", speed),
    "faith": (ROOT / "README.md", faith),
    "scale": (ROOT / "docs" / "limits.md", scale),
    "pages": (ROOT / "docs" / "guide" / "report.md", pages),
}


def filled(name: str) -> tuple[Path, str]:
    """Return a page, and its text with the table as the results have it now."""
    page, make = TABLES[name]
    before, rest = page.read_text(encoding="utf-8").split(f"<!-- {name} -->\n")
    after = rest.split(f"<!-- end of {name} -->\n")[1]
    return page, f"{before}<!-- {name} -->\n{make()}\n<!-- end of {name} -->\n{after}"


if __name__ == "__main__":
    for found in TABLES:
        path, text = filled(found)
        path.write_text(text, encoding="utf-8")
