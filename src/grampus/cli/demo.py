"""What ``grampus demo`` prints."""

from __future__ import annotations

import time
from typing import TextIO

from rich.console import Console
from rich.table import Table

from .. import demo

WORDS, CLASSES = 6, 3


def show(n_clusters: int | None, seed: int, out: TextIO) -> None:
    """Run the demonstration and print its clusters as a table."""
    began = time.perf_counter()
    found = demo.run(n_clusters, seed)
    seconds = time.perf_counter() - began
    console = Console(file=out, highlight=False)
    corpus, result = found.corpus, found.clustering
    table = Table(title=f"{len(corpus)} {corpus.source}, {result.n_clusters} clusters", title_justify="left")
    table.add_column("cluster", justify="right")
    table.add_column("documents", justify="right")
    table.add_column("about", overflow="fold")
    table.add_column("from SciPy's", overflow="fold")
    for number, cluster in enumerate(found.by_size(), 1):
        classes = ", ".join(f"{name} {count}" for name, count in found.classes(cluster)[:CLASSES])
        words = ", ".join(found.keywords[cluster][:WORDS])
        table.add_row(str(number), str(result.sizes[cluster]), words, classes)
    console.print(table)
    console.print(f"Agreement with the subpackages: NMI {found.nmi:.3f}, ARI {found.ari:.3f}")
    console.print(f"Kernel {demo.KERNEL}, {len(result.runs)} starts, seed {seed}; the best {result.outcome}")
    console.print(f"Corpus {corpus.fingerprint[:16]}, {seconds:.1f} s")
    console.print(f"Again: grampus demo --clusters {result.n_clusters} --seed {seed}")
