"""``demo``: a real corpus that is already on this machine."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import click

from .._version import __version__
from .cluster import run_json
from .command import command, option, refuse, repeat_line
from .options import Count, MachineOptions, OutputOptions
from .results import csv_text
from .show import console, print_json, progress_bars, say, show_run

KS = range(6, 16)  # SciPy has a dozen subpackages; the coarsest split is of less interest here
SPLITS = 16  # enough for the chart, and soon done


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of ``demo``."""

    clusters: int | str = option("Number of clusters. [chosen]", "-k", "--clusters", type=Count(), default="auto")
    write: str | None = option("Write the corpus there as a folder, CSV and JSONL.", type=click.Path(file_okay=False))
    machine: MachineOptions
    output: OutputOptions


@command(Options, "demo", "Cluster a real corpus that is already on this machine.")
def demo(options: Options) -> None:
    """Cluster the documentation of SciPy, which Grampus depends on, and compare the clusters with its subpackages.

    \b
    Examples:
      grampus demo --seed 1
      grampus demo --write examples
    """
    options.machine.apply()
    if options.write is not None:
        refuse(("clusters",), "with --write")
        places = list(map(str, write_corpora(Path(options.write))))
        if options.output.as_json:
            print_json({"written": places, "command": repeat_line()})
        elif not options.output.quiet:
            say(console(), *places)
        return
    from hashlib import sha256

    import numpy as np

    from .. import metrics
    from ..datasets import scipy_docstrings
    from ..documents import DocumentClusterer, Effort

    corpus = scipy_docstrings()
    assert corpus.labels is not None
    effort = Effort(ks=KS, n_splits=SPLITS)
    model = DocumentClusterer(options.clusters, effort=effort, random_state=options.machine.seed)
    with progress_bars(options.output.silent) as progress:
        run = model.fit(corpus, progress=progress).run_
    counts = metrics.contingency_table(corpus.labels, run.evidence.labels)
    nmi, ari = metrics.nmi(counts), metrics.ari(counts)
    digest = sha256(np.ascontiguousarray(run.evidence.labels, dtype="<i8").tobytes()).hexdigest()
    again = repeat_line(seed=options.machine.seed)
    if options.output.as_json:
        scores = {"nmi": nmi, "ari": ari, "version": __version__, "labels_sha256": digest}
        print_json({**run_json(run), **scores, "command": again})
    elif not options.output.quiet:
        out = console()
        show_run(run, out)
        say(
            out,
            f"Agreement with SciPy's {len(set(corpus.labels))} subpackages: NMI {nmi:.3f}, ARI {ari:.3f}",
            f"Grampus {__version__}; labels {digest[:16]} (SHA-256)",
            f"Again: {again}",
        )


def write_corpora(folder: Path) -> tuple[Path, ...]:
    """Write SciPy's documentation as a folder of texts, a CSV and a JSONL file, to try the command on.

    Returns ``docs/`` with a subfolder for each subpackage, ``docs.csv`` and ``docs.jsonl``, whose columns are ``id``,
    ``package`` and ``text``.
    """
    from .._files import write_file
    from ..datasets import scipy_docstrings

    rows = [{"id": document.id, "package": document.label, "text": document.text} for document in scipy_docstrings()]
    for row in rows:
        file = folder / "docs" / str(row["package"]) / f"{row['id']}.txt"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(str(row["text"]), encoding="utf-8")
    table = csv_text(list(rows[0]), [list(row.values()) for row in rows], lossless=True)
    write_file(folder / "docs.csv", table.encode())
    write_file(folder / "docs.jsonl", "".join(json.dumps(row) + "\n" for row in rows).encode())
    return folder / "docs", folder / "docs.csv", folder / "docs.jsonl"
