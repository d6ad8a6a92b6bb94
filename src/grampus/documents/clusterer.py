"""DocumentClusterer: texts in, labelled and explained clusters out."""

from __future__ import annotations

import time
import warnings
from dataclasses import replace
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from .._array import Array
from .._check import check_flag, check_integer
from .._parallel import limits_threads
from .._progress import Progress
from .._random import seed_words
from ..cluster import Clustering
from ..errors import InputError, RunError
from ..gram import Gram
from ..kernels import Kernel, parse_kernel
from ..persist import Choice, Run
from ..report import Edits, write_report
from ..report.page import Embed
from ..select.splits import check_ks
from ..text import Corpus, TermVectorizer
from .build_run import Partition, compose
from .inputs import Collection, collect
from .methods import STARTS, cluster_from
from .predict import Placement, Placer
from .validation import choose, stability


class DocumentClusterer(ClusterMixin, BaseEstimator):
    """Cluster documents and say what the clusters are, how they nest, and how far they can be trusted.

    Every document is placed; those that hardly belong have a high ``oddness_`` and a low ``margin_``. Documents are
    brought into an order that their content decides, and equal ones are clustered once with their number as weight:
    shuffling the rows changes nothing, nor do threads or the memory budget.

    Parameters
    ----------
    n_clusters : int or "auto"
        k, or let ``choose_k`` choose it.
    kernel : str or Kernel
        A spelling such as ``"cosine|shift"`` or ``"boundrange(8)|normalise|shift"``. The default is the cosine of
        weighted terms, brought to its leading 30 components (latent semantic analysis): see the guide for the
        measurements.
    terms : TermVectorizer, optional
        How texts become weighted terms. By default lec weights of stems, without stop words and terms in fewer than
        three documents (fewer than two below 200 documents, none below 100).
    ks : int or iterable of int, optional
        Values of k to choose from; 2 … 10 by default.
    scheme : "auto", "RED-S", "KKM-S", "KM-S" or "KM-P"
        How k is chosen, as in `choose_k`: "auto" is KKM-S up to 2,500 different documents and RED-S for more.
    n_splits : int
        Splits of the documents for choosing k and for stability.
    null : bool
        Whether to test for groups at all when k is chosen; where there are none, all documents are one cluster. Costs
        several times as much as the choice itself.
    stability : bool
        Whether to measure how stable clusters and documents are.
    init : "auto", "spectral", "random", "k-means++" or "pddp"
        Where to start. "spectral" cuts the graph of the 20 nearest neighbours; "auto" starts at random, and takes the
        partition that comes of the cut if its normalised cut is less than a third. With fewer than 100 documents or
        more than 50,000, and where the graph falls apart, both are "random".
    n_init : int
        Starts, the best of which is kept; for the cut, of k-means on the graph's eigenvectors.
    polish : bool
        Single moves after convergence, while they lower the objective.
    random_state : int, RandomState or None
        Seed of every random step.
    n_jobs : int, optional
        Threads. The result does not depend on it.

    Attributes
    ----------
    labels_ : array of shape (n,)
        Cluster of every document; 0 is the largest cluster.
    n_clusters_ : int
        How many there are.
    clusters_ : tuple of Cluster
        What each is about: label, terms, phrases, documents to look at, cohesion, separation, stability.
    selection_ : Choice or None
        How k was chosen.
    tree_ : tuple of Branch
        How clusters merge, and their parts.
    margin_, oddness_, stability_ : arrays of shape (n,)
        How clearly, how typically and how steadily each document is in its cluster.
    duplicates_ : array of shape (p, 2)
        Pairs of documents that are nearly the same.
    result_ : Clustering
        What kernel k-means returned for the distinct documents; None after loading.
    run_ : Run
        All of it as plain data.

    Examples
    --------
    >>> from grampus import DocumentClusterer
    >>> texts = ["whale song", "whales sing a song", "song of a whale", "bird nest", "a nest of birds", "nesting birds"]
    >>> model = DocumentClusterer(2).fit(texts)
    >>> bool(model.labels_[0] == model.labels_[1] != model.labels_[3])
    True
    >>> sorted(cluster.label for cluster in model.clusters_)
    ['bird, nest', 'song, whale, sing']
    >>> model.predict(["a bird"]) == model.labels_[3]
    array([ True])
    """

    def __init__(
        self,
        n_clusters: int | str = "auto",
        *,
        kernel: str | Kernel = "cosine|principal(30)|normalise",
        terms: TermVectorizer | None = None,
        ks: Any = None,
        scheme: str = "auto",
        n_splits: int = 50,
        null: bool = False,
        stability: bool = True,
        n_init: int = 10,
        init: str = "auto",
        polish: bool = True,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.terms = terms
        self.ks = ks
        self.scheme = scheme
        self.n_splits = n_splits
        self.null = null
        self.stability = stability
        self.n_init = n_init
        self.init = init
        self.polish = polish
        self.random_state = random_state
        self.n_jobs = n_jobs

    @limits_threads
    def fit(
        self, X: Any, y: Any = None, *, corpus: Corpus | None = None, progress: Progress | None = None
    ) -> DocumentClusterer:
        """Cluster documents.

        Parameters
        ----------
        X : sequence of str, Corpus, or array or sparse array of shape (n, m)
            Texts, or rows of numbers such as your own embeddings.
        y : ignored
        corpus : Corpus, optional
            The texts, ids and titles of the rows of a matrix, to describe the clusters by.
        progress : callable, optional
            Called with the name of a step, how many parts of it are done, and of how many.
        """
        began, tell = time.perf_counter(), progress or (lambda *_: None)
        kernel, seed = parse_kernel(self.kernel), _seed(self.random_state)
        ks = self._check()
        tell("reading terms", 0, 1)
        collection = collect(X, kernel, self.terms, corpus)
        gram = kernel.gram(collection.features)
        tell("reading terms", 1, 1)
        notes = list(collection.corpus.notes)
        choice = self._choose(gram, collection, ks, seed, tell) if self.n_clusters == "auto" else None
        k = choice.best if choice else self._given(collection)
        result = self._cluster(gram, collection, k, seed, notes, tell)
        labels = _by_size(result.labels, collection.weights)
        placer = Placer.of(
            kernel, gram, collection.features, labels, collection.weights, collection.vectorizer, bool(self.polish)
        )
        found = Partition(collection, gram, labels, result, placer, choice, seed, notes)
        steady = stability(found, self.n_splits, self.n_jobs, tell) if self.stability else None
        run = compose(found, steady, self._plain(seed, ks), repr(self), tell)
        self.placer_: Placer | None = placer
        self.result_: Clustering | None = result
        self.run_ = replace(run, seconds=round(time.perf_counter() - began, 3))
        self._settle()
        return self

    def choose(self, X: Any, *, progress: Progress | None = None) -> Choice:
        """Choose k and do nothing else.

        Parameters
        ----------
        X : as for ``fit``
        progress : callable, optional
            As for ``fit``.
        """
        tell = progress or (lambda *_: None)
        kernel, seed = parse_kernel(self.kernel), _seed(self.random_state)
        ks = self._check()
        collection = collect(X, kernel, self.terms)
        return self._choose(kernel.gram(collection.features), collection, ks, seed, tell)

    def _choose(
        self, gram: Gram, collection: Collection, ks: tuple[int, ...] | None, seed: int, tell: Progress
    ) -> Choice:
        return choose(
            gram,
            collection,
            ks=ks,
            scheme=self.scheme,
            n_splits=self.n_splits,
            null=self.null,
            seed=seed,
            n_jobs=self.n_jobs,
            tell=tell,
        )

    def _check(self) -> tuple[int, ...] | None:
        """Check the parameters before any work; return ks, read once: it may be a generator."""
        for name in ("polish", "stability", "null"):
            check_flag(getattr(self, name), name)
        check_integer(self.n_splits, "n_splits", low=1)
        if self.terms is not None and not isinstance(self.terms, TermVectorizer):
            raise InputError(f"terms must be a TermVectorizer; got {type(self.terms).__name__}.")
        if isinstance(self.n_clusters, str) and self.n_clusters != "auto":
            raise InputError(f"n_clusters must be a whole number or 'auto'; got {self.n_clusters!r}.")
        if str(self.init) not in STARTS:
            raise InputError(
                f"init must be one of {', '.join(map(repr, STARTS))}, not an array: documents are reordered before "
                f"they start. Got {self.init!r}."
            )
        return None if self.ks is None else check_ks(self.ks)

    def _given(self, collection: Collection) -> int:
        distinct = int((collection.weights > 0).sum())
        what = "the number of documents" if distinct == collection.n else "the documents that differ"
        if distinct < len(collection.weights):
            what += " and hold terms" if collection.holds_terms else " and are not zero throughout"
        return check_integer(self.n_clusters, "n_clusters", low=1, high=distinct, of=f" ({what})")

    def _cluster(
        self, gram: Gram, collection: Collection, k: int, seed: int, notes: list[str], tell: Progress
    ) -> Clustering:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            result = cluster_from(
                gram,
                k,
                collection.weights,
                init=self.init,
                n_init=self.n_init,
                polish=self.polish,
                seed=seed,
                n_jobs=self.n_jobs,
                progress=tell,
            )
        notes.extend(str(warning.message) for warning in caught)
        return result

    def _plain(self, seed: int, ks: tuple[int, ...] | None) -> dict[str, Any]:
        """Return the parameters as values that JSON knows; the vectorizer is kept with the run."""
        found = self.get_params(deep=False)
        found |= {"kernel": str(parse_kernel(self.kernel)), "random_state": seed, "terms": None}
        found["ks"] = None if ks is None else list(ks)
        return {name: value.item() if isinstance(value, np.generic) else value for name, value in found.items()}

    def place(self, X: Any) -> Placement:
        """Return where new documents belong: nearest cluster, second choice, margin, and whether anything is known.

        Parameters
        ----------
        X : as ``fit`` was given
            Texts, or rows of a matrix; for ``precomputed``, similarities to the fitted documents.
        """
        check_is_fitted(self, "run_")
        if self.placer_ is None:
            raise RunError(
                "This run cannot place new documents: what that needs was left out (the texts of a string kernel, or a "
                "precomputed Gram). Make it anew with texts."
            )
        return self.placer_.place(X)

    def predict(self, X: Any) -> NDArray[np.intp]:
        """Return the cluster of new documents; see ``place``.

        A document shown again is compared like any other: there is no table of known texts.

        Parameters
        ----------
        X : list of str, Corpus, or array of shape (m, features)
            New documents, of the kind that was fitted.
        """
        return self.place(X).labels

    def save(self, path: str | PathLike[str], *, texts: bool = True) -> None:
        """Write the run into a folder, whole or not at all; see ``Run.save``.

        Parameters
        ----------
        path : path
            The folder to write; an older run in it is replaced.
        texts : bool
            Whether the texts are kept.
        """
        check_is_fitted(self, "run_")
        self.run_.save(path, texts=texts)

    def report(self, path: str | PathLike[str], *, texts: Embed = "excerpts", edits: Edits | None = None) -> None:
        """Write the page of the run: one HTML file to look at, explore and correct; see `grampus.report`.

        Parameters
        ----------
        path : path
        texts : "excerpts", "full" or "none"
            How much of each document to put in.
        edits : Edits, optional
            Names and merges from an earlier page, read by ``grampus.report.read_edits``.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> from grampus import DocumentClusterer
        >>> model = DocumentClusterer(2).fit(["whale song", "whales sing", "bird nest", "nests of birds"])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.report(Path(folder, "page.html"))
        ...     Path(folder, "page.html").stat().st_size > 10_000
        True
        """
        check_is_fitted(self, "run_")
        write_report(self.run_, path, texts=texts, edits=edits)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> DocumentClusterer:
        """Return the fitted clusterer of a run folder.

        Examples
        --------
        >>> import tempfile
        >>> from grampus import DocumentClusterer
        >>> model = DocumentClusterer(2).fit(["whale song", "whales sing", "bird nest", "nests of birds"])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.save(f"{folder}/run")
        ...     again = DocumentClusterer.load(f"{folder}/run")
        >>> again.predict(["a whale"]) == model.predict(["a whale"])
        array([ True])
        """
        return cls.of_run(Run.load(path))

    @classmethod
    def of_run(cls, run: Run) -> DocumentClusterer:
        """Return the fitted clusterer that a Run describes."""
        try:
            parameters = dict(run.parameters)
            words = parameters.pop("terms")
            parameters["scheme"] = parameters.get("scheme") or "auto"  # None in runs of the time before "auto"
            model = cls(**parameters)
            kernel = parse_kernel(run.kernel)
        except (KeyError, TypeError) as error:
            raise RunError(
                f"The run's parameters are not a DocumentClusterer's ({error}). Make the run anew."
            ) from None
        polished = bool(model.polish)
        model.placer_ = Placer.restore(kernel, run.model, words, polished) if run.model else None
        model.terms = model.placer_.vectorizer if model.placer_ is not None and words else None
        model.run_, model.result_ = run, None
        model._settle()
        return model

    def _settle(self) -> None:
        """Show what the run holds under scikit-learn's names."""
        run = self.run_
        self.labels_ = run.labels.astype(np.intp)
        self.n_clusters_ = run.n_clusters
        self.clusters_, self.selection_, self.tree_ = run.clusters, run.choice, run.tree
        self.margin_, self.oddness_, self.stability_ = run.margin, run.oddness, run.stability
        self.duplicates_ = run.duplicates

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = tags.input_tags.sparse = True
        return tags


def load(path: str | PathLike[str]) -> DocumentClusterer:
    """Return the fitted clusterer of a run folder; a run with a changed byte is refused.

    Parameters
    ----------
    path : path
        What ``DocumentClusterer.save`` or ``grampus cluster --out`` wrote.

    Examples
    --------
    >>> import tempfile
    >>> import grampus
    >>> model = grampus.DocumentClusterer(2).fit(["whale song", "whales sing", "bird nest", "nests of birds"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(f"{folder}/run")
    ...     grampus.load(f"{folder}/run").labels_.tolist() == model.labels_.tolist()
    True
    """
    return DocumentClusterer.load(path)


def _seed(random_state: Any) -> int:
    """Return a seed that can be recorded in the run: an int as it is, otherwise one that is drawn."""
    if isinstance(random_state, int | np.integer) and not isinstance(random_state, bool):
        return check_integer(random_state, "random_state", low=0, high=2**32 - 1)
    return seed_words(random_state, 1)[0]


def _by_size(labels: NDArray[np.intp], weights: Array) -> NDArray[np.intp]:
    """Renumber clusters: most documents first, then the one with the earliest document."""
    found, first, group = np.unique(labels, return_index=True, return_inverse=True)
    sizes = np.bincount(group.reshape(-1), weights=weights, minlength=len(found))
    rank = np.empty(len(found), dtype=np.intp)
    rank[np.lexsort((first, -sizes))] = np.arange(len(found))
    return rank[group.reshape(-1)]
