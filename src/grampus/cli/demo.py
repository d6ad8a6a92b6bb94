"""``demo``: real corpora that come with Grampus and with SciPy."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from .._rows import csv_text
from .._version import __version__
from .cluster import CLUSTERS, run_json
from .command import choice, command, option, refuse, repeat_line
from .options import MachineOptions, OutputOptions
from .outputs import check_outputs
from .show import console, print_json, progress_bars, say, show_run
from .types import FOLDER, PLACE

if TYPE_CHECKING:
    from ..persist import Run
    from ..text import Corpus

SPLITS = 10  # enough for the chart, and soon done
CORPORA = {  # name: values of k to try, and what its classes are
    "factbook": (range(2, 17), "chapter"),
    "scipy": (range(6, 16), "subpackage"),  # SciPy has a dozen of them; the coarsest split is of less interest
}


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of ``demo``."""

    clusters: int | str = CLUSTERS
    corpus: str = choice("Texts about countries, or the documentation of SciPy: ", tuple(CORPORA), default="factbook")
    page: str | None = option("Write an HTML page of the run.", "--report", type=PLACE)
    write: str | None = option("Write the corpus there as a folder, CSV and JSONL.", type=FOLDER)
    machine: MachineOptions
    output: OutputOptions


@command(Options, "demo", "Cluster a real corpus that comes with Grampus.")
def demo(options: Options) -> None:
    """Cluster texts about the countries of the world, and compare the clusters with the chapters they are from.

    \b
    Examples:
      grampus demo --report demo.html
      grampus demo --corpus scipy --seed 1
      grampus demo --write examples
    """
    options.machine.apply()
    if options.write is not None:
        refuse(("clusters", "page"), "with --write")
        places = list(map(str, write_corpora(Path(options.write), options.corpus)))
        options.output.print({"written": places, "command": repeat_line()}, *places)
        return
    from hashlib import sha256

    import numpy as np

    from .. import metrics
    from ..documents import DocumentClusterer, Effort

    check_outputs({"--report": options.page}, (), as_json=options.output.as_json)
    corpus = load_corpus(options.corpus)
    ks, kind = CORPORA[options.corpus]
    effort = Effort(ks=ks, n_splits=SPLITS)
    model = DocumentClusterer(options.clusters, effort=effort, random_state=options.machine.seed)
    with progress_bars(options.output.silent) as progress:
        run = model.fit(corpus, progress=progress).run_
        if options.page:
            from ..report import write_report

            write_report(run, options.page)
    assert corpus.labels is not None
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
            *nested_names(run),
            f"Agreement with the {len(set(corpus.labels))} {kind}s they are from: NMI {nmi:.3f}, ARI {ari:.3f}",
            f"Grampus {__version__}; labels {digest[:16]} (SHA-256)",
            *([f"Page: {options.page}"] if options.page else []),
            f"Again: {again}",
        )


def load_corpus(name: str) -> Corpus:
    """Return one of the corpora."""
    from .. import datasets

    return datasets.world_factbook() if name == "factbook" else datasets.scipy_docstrings()


def nested_names(run: Run) -> list[str]:
    """Return the fine level as lines, each below the cluster it is part of; none where there is no fine level."""
    if not {"middle", "fine"} <= set(run.levels):
        return []
    middle, fine = run.level_labels("middle"), run.level_labels("fine")
    names, parts = run.level_names("middle"), run.level_names("fine")
    lines = ["Finer, within each cluster:"]
    for number, name in enumerate(names):
        within = sorted(set(fine[middle == number].tolist()))
        below = "; ".join(f"{parts[part]} ({int((fine == part).sum())})" for part in within)
        lines.append(f"– {name}: {below}" if len(within) > 1 else f"– {name}")
    return lines


def write_corpora(folder: Path, name: str) -> tuple[Path, ...]:
    """Write a corpus as a folder of texts, a CSV and a JSONL file, to try the command on.

    Returns ``NAME/`` with a subfolder for each class, ``NAME.csv`` and ``NAME.jsonl``, whose columns are ``id``, the
    class (``chapter`` or ``subpackage``) and ``text``.
    """
    from .._files import write_file

    kind = CORPORA[name][1]
    rows = [{"id": each.id, kind: each.label, "text": each.text} for each in load_corpus(name)]
    for row in rows:
        file = folder / name / str(row[kind]) / f"{str(row['id']).partition(': ')[0]}.txt"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(str(row["text"]), encoding="utf-8")
    table = csv_text(list(rows[0]), [list(row.values()) for row in rows], lossless=True)
    write_file(folder / f"{name}.csv", table.encode())
    write_file(folder / f"{name}.jsonl", "".join(json.dumps(row) + "\n" for row in rows).encode())
    return folder / name, folder / f"{name}.csv", folder / f"{name}.jsonl"
