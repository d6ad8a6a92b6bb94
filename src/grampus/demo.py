"""A real corpus that comes with our dependencies: the documentation of SciPy's public names, by subpackage."""

from __future__ import annotations

import csv
import importlib
import inspect
import io
import json
import re
import types
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from os import PathLike
from pathlib import Path

import numpy as np

from . import metrics
from ._files import write_file
from .documents import DocumentClusterer
from .persist import Run
from .text import Corpus

__all__ = ["Demo", "run", "scipy_docstrings", "write_corpora"]

KS = range(6, 16)  # SciPy has a dozen subpackages; the coarsest split of all is of less interest here
_NAMES = re.compile(r"\{'\w+'(?:, '\w+')*\}")
SPLITS = 16  # enough to show the chart, and soon done
SMALLEST = 20  # documents a subpackage must have to be a class of its own


def scipy_docstrings() -> Corpus:
    """Return the docstrings of SciPy's public functions, classes and distributions, labelled by subpackage.

    Only subpackages with at least 20 of them; a text that appears under two names is taken once.

    Examples
    --------
    >>> from grampus.demo import scipy_docstrings
    >>> corpus = scipy_docstrings()
    >>> len(corpus) > 1000, "linalg" in set(corpus.labels)
    (True, True)
    """
    import scipy

    found: dict[str, tuple[str, str]] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # SciPy's own deprecations are not the reader's concern here
        for subpackage in sorted(scipy.__all__):
            module = getattr(scipy, subpackage, None)
            if not isinstance(module, types.ModuleType):
                continue
            module = importlib.import_module(module.__name__)
            for name in sorted(getattr(module, "__all__", ())):
                thing = getattr(module, name, None)
                text = _steady(inspect.getdoc(thing) or "") if callable(thing) else ""
                if text:
                    found.setdefault(text, (subpackage, name))
    sizes = Counter(subpackage for subpackage, _ in found.values())
    kept = [(text, *names) for text, names in found.items() if sizes[names[0]] >= SMALLEST]
    return Corpus(
        [text for text, _, _ in kept],
        ids=[f"scipy.{subpackage}.{name}" for _, subpackage, name in kept],
        labels=[subpackage for _, subpackage, _ in kept],
        source=f"docstrings of SciPy {scipy.__version__}",
    )


def _steady(text: str) -> str:
    """Take out what SciPy writes anew in every process: drawn numbers, and sets of names in the order of a hash."""
    lines = (line for line in text.splitlines() if "# may vary" not in line)
    return _NAMES.sub(lambda names: ", ".join(sorted(re.findall(r"'\w+'", names[0]))), "\n".join(lines)).strip()


@dataclass(frozen=True)
class Demo:
    """What the demonstration found.

    Attributes
    ----------
    run : Run
        Everything about the clusters.
    nmi, ari : float
        Agreement of the clusters with SciPy's subpackages.
    classes : int
        How many subpackages there are.
    """

    run: Run
    nmi: float
    ari: float
    classes: int

    @property
    def digest(self) -> str:
        """SHA-256 of the labels: the same on every machine with these versions of Grampus and SciPy."""
        return sha256(np.ascontiguousarray(self.run.evidence.labels, dtype="<i8").tobytes()).hexdigest()


def run(
    n_clusters: int | str = "auto",
    random_state: int = 0,
    n_jobs: int | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> Demo:
    """Cluster SciPy's documentation; k is chosen unless it is given.

    Parameters
    ----------
    n_clusters : int or "auto"
        k, or let it be chosen.
    random_state : int
        Seed of every random step.
    n_jobs : int, optional
        Threads. The result does not depend on it.
    progress : callable, optional
        Called with the name of a stage, what is done of it, and how much there is.

    Examples
    --------
    >>> from grampus.demo import run
    >>> found = run(11)
    >>> found.nmi > 0.4
    True
    """
    corpus = scipy_docstrings()
    assert corpus.labels is not None
    model = DocumentClusterer(n_clusters, ks=KS, n_splits=SPLITS, random_state=random_state, n_jobs=n_jobs)
    model.fit(corpus, progress=progress)
    table = metrics.contingency_table(corpus.labels, model.labels_)
    return Demo(model.run_, metrics.nmi(table), metrics.ari(table), len(set(corpus.labels)))


def write_corpora(folder: str | PathLike[str]) -> tuple[Path, ...]:
    """Write SciPy's documentation as a folder of texts, a CSV and a JSONL file, to try the command on.

    Parameters
    ----------
    folder : path
        Where to write; it is made if it is not there.

    Returns
    -------
    tuple of Path
        ``docs/`` with a subfolder for each subpackage, ``docs.csv`` and ``docs.jsonl``, whose columns are ``id``,
        ``package`` and ``text``.

    Examples
    --------
    >>> import tempfile
    >>> from grampus.demo import write_corpora
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [place.name for place in write_corpora(folder)]
    ['docs', 'docs.csv', 'docs.jsonl']
    """
    corpus, place = scipy_docstrings(), Path(folder)
    rows = [{"id": document.id, "package": document.label, "text": document.text} for document in corpus]
    for row in rows:
        file = place / "docs" / str(row["package"]) / f"{row['id']}.txt"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(str(row["text"]), encoding="utf-8")
    out = io.StringIO()
    table = csv.DictWriter(out, ["id", "package", "text"], lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    write_file(place / "docs.csv", out.getvalue().encode())
    write_file(place / "docs.jsonl", "".join(json.dumps(row) + "\n" for row in rows).encode())
    return place / "docs", place / "docs.csv", place / "docs.jsonl"
