"""A real corpus that comes with our dependencies: the documentation of SciPy's public names, by subpackage."""

from __future__ import annotations

import importlib
import inspect
import re
import types
import warnings
from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from . import metrics
from .cluster import Clustering, kernel_kmeans
from .describe import keywords
from .kernels import parse_kernel
from .text import Corpus, TermVectorizer

__all__ = ["Demo", "run", "scipy_docstrings"]

KERNEL = "cosine|shift"
_NAMES = re.compile(r"\{'\w+'(?:, '\w+')*\}")
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
    corpus : Corpus
    clustering : Clustering
    keywords : list of lists of str
        For each cluster.
    nmi, ari : float
        Agreement of the clusters with SciPy's subpackages.
    """

    corpus: Corpus
    clustering: Clustering
    keywords: list[list[str]]
    nmi: float
    ari: float

    def by_size(self) -> NDArray[np.intp]:
        """Return the clusters' numbers, largest first."""
        return np.argsort(-self.clustering.sizes, kind="stable")

    def classes(self, cluster: int) -> list[tuple[str, int]]:
        """Return the subpackages of a cluster's documents with their counts, most frequent first."""
        labels = np.array(self.corpus.labels)[self.clustering.labels == cluster]
        return sorted(Counter(labels.tolist()).items(), key=lambda pair: (-pair[1], pair[0]))


def run(n_clusters: int | None = None, random_state: int = 0) -> Demo:
    """Cluster SciPy's documentation; k is the number of subpackages unless it is given.

    Examples
    --------
    >>> from grampus.demo import run
    >>> found = run()
    >>> found.nmi > 0.4
    True
    """
    corpus = scipy_docstrings()
    assert corpus.labels is not None
    vectorizer = TermVectorizer("lfc", min_df=3)
    weights = vectorizer.fit_transform(corpus.texts)
    gram = parse_kernel(KERNEL).gram(weights)
    k = len(set(corpus.labels)) if n_clusters is None else n_clusters
    clustering = kernel_kmeans(gram, k, n_init=20, polish=True, random_state=random_state, identity=list(corpus.texts))
    table = metrics.contingency_table(corpus.labels, clustering.labels)
    words = keywords(weights, clustering.labels, vectorizer.get_feature_names_out().tolist())
    return Demo(corpus, clustering, words, metrics.nmi(table), metrics.ari(table))
