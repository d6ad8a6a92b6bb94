"""DocumentClusterer: from texts to labelled and explained clusters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from .._progress import Progress, as_progress
from ..describe.namer import Namer
from ..errors import InputError, RunError
from ..kernels import Kernel, parse_kernel
from ..persist import Choice, Run
from ..text import TermVectorizer
from ..text.embed.model import MEANING
from .answer import Answer, Request
from .find.levels import check_level
from .find.method import Method
from .find.methods import check_method
from .find.outliers import check_outliers
from .find.predict import Prediction, Predictor, saved_confidence
from .find.validation import choose_ks
from .fitted import FittedClusterer
from .given.effort import Effort
from .given.extra_inputs import TERMS
from .given.extras import require_extras
from .given.features import names_of_features
from .given.frames import Rows, corpus_of_rows, read_rows
from .given.guide import Guide, as_guide
from .given.large import gathered, is_in_pieces
from .given.parameters import check_seed, restored
from .pipeline import FITTED, STAGES, advance, compare, read


@dataclass(eq=False, repr=False)
class DocumentClusterer(ClusterMixin, TransformerMixin, FittedClusterer):
    """Cluster documents; describe the clusters, how they nest, and how far to trust them.

    Weakly assigned documents have a high ``oddness_`` and a low ``margin_``. Documents are sorted by content, and equal
    ones are clustered once with their number as weight: shuffling the rows changes nothing, nor do threads or the
    memory budget.

    Parameters
    ----------
    n_clusters : int, list of int, "auto" or None
        k; "auto" or None finds out how many groups there are by ``choose_levels``, and puts all documents in one
        cluster where there are none. A list asks for levels of these sizes, such as ``[5, 20, 80]``, which nest.
    kernel : str or Kernel
        A spelling such as ``"cosine|shift"`` or ``"boundrange(8)|normalise|shift"``. The default is the cosine of
        weighted terms, reduced to its leading components (latent semantic analysis), 30 or as many as there are
        clusters; the guide has the measurements.
    method : str or Method
        How the clusters are found: "consensus" of several views, "kernel-kmeans", "pddp", "bisecting", "spectral" or
        "kernel-pca", or an object with options, such as ``SpectralMethod(n_neighbors=10)``.
    terms : TermVectorizer, optional
        How texts become weighted terms, what is dropped from them first, and in which languages. By default lec weights
        of stems, without stop words and without terms in fewer than three documents (two below 200 documents, one below
        100); texts are cleaned, and each document has the stems and stop words of its language.
    embed : "auto", callable, str, path, Embedder or None
        What is compared besides words, as the input ``embedding``. "auto" is meaning: the rows of a multilingual
        sentence encoder, where the extra ``[meaning]`` is installed, texts are clustered with the default kernel, and
        the encoder knows their languages. The kernel becomes ``w * cosine|principal(auto)|normalise + (1 - w) *
        cosine@embedding``, w small for short texts and large for long ones. Otherwise a model or a function, see
        ``grampus.text.Embedder`` (w = 0.15, as where the corpus has an input of that name), or a text file of word
        vectors such as ``"glove.txt"``, see ``grampus.text.MeanVectors`` (w = 0.7). None compares words alone.
    names : callable or NameCommand, optional
        Names the clusters; by default they are named by their words. See `grampus.describe.ask_names`.
    outliers : "auto", float or None
        Whether documents that resemble the others too little are set aside, with the label −1: "auto" sets aside those
        that chance does not explain, a number at most that share of the documents. See the guide.
    level : "coarsest", "coarse", "middle", "fine" or "finest"
        The level that is the answer, where levels are found or their sizes are given. There may be fewer of them; then
        the middle one is shown, with a note.
    effort : Effort, optional
        How k is chosen, how many starts are run, and what is measured afterwards.
    random_state : int, RandomState or None
        Seed of every random step but one: whether there are groups, and how many, does not depend on it.

    Attributes
    ----------
    labels_ : array of shape (n,)
        Cluster of every document; 0 is the largest cluster, −1 a document that belongs to none.
    n_clusters_ : int
        Number of clusters.
    clusters_ : tuple of Cluster
        Description of each: name, words, size, phrases, documents to read, cohesion, separation, stability.
    choice_ : Choice or None
        How k was chosen, or, with the scheme "given", whether the clusters of a given k are groups. Its ``answer`` is
        "groups", "weak groups", "no groups" or "too few". None where that was not measured.
    branches_ : tuple of Branch
        The tree: how clusters merge, and their parts.
    margin_, oddness_, stability_ : arrays of shape (n,)
        How clearly, how typically and how steadily each document is in its cluster.
    memberships_ : array of shape (n, k)
        The probability of every cluster for each document, found when it is first asked for: how often a refit without
        the document would put it there. Rows sum to 1.
    confidence_ : array of shape (n,) or None
        How far the views of a consensus agree; None for other methods and levels.
    duplicates_ : array of shape (p, 2)
        Pairs of near-duplicate documents.
    result_ : object
        What the method returned for the distinct documents; None after loading.
    run_ : Run
        All of it as plain data. ``fit`` finds the labels; names, evidence, tree and map are made when ``run_``, or
        anything that is read from it, is first asked for, and kept.
    index_ : pandas.Index, list or None
        Of the pandas frame or column that was fitted, or the keys of a mapping; ``to_frame`` has it. None after
        loading.

    Examples
    --------
    >>> from grampus import DocumentClusterer
    >>> texts = ["whale song", "whales sing a song", "song of a whale", "bird nest", "a nest of birds", "nesting birds"]
    >>> model = DocumentClusterer(2).fit(texts)
    >>> bool(model.labels_[0] == model.labels_[1] != model.labels_[3])
    True
    >>> sorted(cluster.name for cluster in model.clusters_)
    ['Birds', 'Whale']
    >>> model.predict(["a bird"]) == model.labels_[3]
    array([ True])
    """

    n_clusters: int | str | Sequence[int] = "auto"
    _: KW_ONLY
    kernel: str | Kernel = TERMS
    method: str | Method = "consensus"
    terms: TermVectorizer | None = None
    embed: Any = MEANING
    names: Namer | None = None
    outliers: str | float | None = None
    level: str = "middle"
    effort: Effort | None = None
    random_state: Any = 0

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        corpus: Any = None,
        text: str | None = None,
        guide: Guide | Mapping[str, Any] | Sequence[str] | None = None,
        client: Any = None,
        scratch: str | PathLike[str] | None = None,
        progress: Progress | None = None,
    ) -> DocumentClusterer:
        """Cluster documents.

        Parameters
        ----------
        X : sequence or mapping of str, Corpus, data frame or column, or array or sparse array of shape (n, m)
            Texts, or rows of numbers such as your own embeddings. The keys of a mapping are the ids of its texts.
            Frames and columns may be those of pandas, polars or pyarrow. The columns of a sparse array are called as
            the scikit-learn pipeline that calls ``fit`` calls them. A row without a text (None, NaN, blank) is in
            no cluster, −1, and neither is a text without a word that is compared. Many texts:
            ``grampus.text.read_pieces('news/*.parquet')``, or a Dask bag or frame. Of more than 500,000 documents or
            1 GB of text a sample is clustered and all are assigned; the run shows the sample, and ``labels_`` has all.
        y : ignored
        corpus : Corpus, data frame, column or sequence of str, optional
            The texts, ids and titles of the rows of a matrix, for describing the clusters.
        text : str, optional
            Column of the texts in a data frame; by default ``"text"`` or, if there is none, the one with the longest
            and most varied texts, with a warning that names it.
        guide : Guide, dict or list, optional
            What is known: topics, as ``{"Flags": ["flag", "stripes"], "Climate": []}`` or a list of names; or, as a
            Guide, also labels of some documents and pairs that belong together or apart.
        client : distributed.Client, optional
            Let the workers of a Dask cluster read, clean and count texts; the answer is the same.
        scratch : path, optional
            Keep the texts in a folder there instead of memory; it is removed at the end, and an interrupted fit does
            not read them again.
        progress : callable, optional
            Called as ``progress(step, done, total)``.
        """
        request = self._request(as_guide(guide), progress)
        job = {name: repr(value) for name, value in {**self.get_params(), "text": text}.items()}
        texts, index, library = (None, None, None) if corpus is None else corpus_of_rows(corpus, text)
        rows = Rows(X) if is_in_pieces(X) else read_rows(X, None if corpus is not None else text)
        rows = replace(rows, features=names_of_features(X))
        with gathered(rows.X, text=text, client=client, scratch=scratch, job=job) as documents:
            answer = advance(Answer(request, replace(rows, X=documents), texts), STAGES[:FITTED])
        self.predictor_: Predictor | None = answer.predictor
        self.result_: Any = answer.clustering.result
        sure = answer.confidence
        self.confidence_: Any = None if sure is None else sure[answer.inputs.group]
        self.index_ = rows.index if index is None else index
        self._library = library or rows.library
        self._set_fitted(answer)
        return self

    def choose(self, X: Any, *, text: str | None = None, progress: Progress | None = None) -> Choice:
        """Choose k without clustering.

        Parameters
        ----------
        X, text : as for ``fit``
        progress : callable, optional
            As for ``fit``.
        """
        answer = Answer(self._request(None, progress), read_rows(X, text))
        answer = advance(answer, (read, compare))
        request = answer.request
        return choose_ks(answer.gram, answer.inputs, answer.kernel, request.effort, request.seed, request.progress)[0]

    def _request(self, guide: Guide | None = None, progress: Progress | None = None) -> Request:
        """Check the parameters before any work."""
        if self.terms is not None and not isinstance(self.terms, TermVectorizer):
            raise InputError(f"terms must be a TermVectorizer; got {type(self.terms).__name__}.")
        if self.names is not None and not callable(self.names):
            raise InputError(f"names must be a function or a NameCommand; got {type(self.names).__name__}.")
        check_level(self.level, self.n_clusters)
        check_outliers(self.outliers)
        if self.effort is not None and not isinstance(self.effort, Effort):
            raise InputError(f"effort must be an Effort; got {type(self.effort).__name__}.")
        return Request(
            self.get_params(deep=False),
            parse_kernel(self.kernel),
            check_method(self.method),
            self.effort or Effort(),
            check_seed(self.random_state),
            BaseEstimator.__repr__(self),
            guide,
            as_progress(progress),
        )

    def assign(self, X: Any, *, text: str | None = None, outliers: bool = False) -> Prediction:
        """Assign new documents: nearest cluster, second choice, their probabilities, and whether they fit at all.

        Parameters
        ----------
        X : as ``fit`` was given
            Texts, or rows of a matrix; for ``precomputed``, similarities to the fitted documents. A document without
            a text, or without a word that is known, gets −1.
        text : str, optional
            Column of the texts in a data frame; by default the one that was fitted, if there is one of that name.
        outliers : bool
            Whether documents unlike anything seen get −1 instead of the nearest cluster.
        """
        found = self._predicted(X, text, outliers, likeness=True)
        return replace(found, names=tuple(one.name for one in self.clusters_))

    @property
    def memberships_(self) -> NDArray[np.float64]:
        """The probability of every cluster for each document; rows sum to 1."""
        predictor = self._predictor()
        made = self._made
        group = made.inputs.group if isinstance(made, Answer) else made.model.get("group", np.arange(len(made)))
        if len(group) != len(self.labels_):
            raise RunError(
                "memberships_ are those of clustered documents; here a sample was clustered, and all others were "
                "assigned. Give documents to assign, whose result has memberships."
            )
        return predictor.memberships()[np.asarray(group)]

    def _predictor(self) -> Predictor:
        """Return what compares documents with the clusters; refuse where it was not saved."""
        check_is_fitted(self, "labels_")
        if self.predictor_ is None:
            raise RunError(
                "This run cannot assign new documents: the data for it was not saved (the texts of a string kernel, "
                "or a precomputed Gram). Recreate it with texts."
            )
        return self.predictor_

    def _compared(self, X: Any, text: str | None) -> tuple[Predictor, Rows]:
        """Return what compares new documents with the clusters, and these documents."""
        predictor = self._predictor()
        if isinstance(self._made, Run):
            require_extras(self._made.provenance)
        return predictor, read_rows(X, text, self._columns.get("text"))

    def _predicted(self, X: Any, text: str | None, outliers: bool, *, likeness: bool) -> Prediction:
        """Assign new documents; the names of the clusters are left out."""
        predictor, rows = self._compared(X, text)
        found = predictor.predict(rows.X, likeness=likeness)
        outside = rows.outside(found.known)
        outside = outside | found.unlike if outliers else outside
        labels = np.where(outside, -1, found.labels)
        return replace(found, labels=labels, index=rows.index, library=rows.library)

    def predict(self, X: Any, *, text: str | None = None, outliers: bool = False) -> NDArray[np.intp]:
        """Return the cluster of new documents; see ``assign``.

        A fitted document is compared like any other: there is no table of known texts.

        Parameters
        ----------
        X : list of str, Corpus, data frame or column, or array of shape (m, features)
            New documents, of the kind that was fitted.
        text, outliers : as for ``assign``
        """
        return self._predicted(X, text, outliers, likeness=outliers).labels

    def transform(self, X: Any, *, text: str | None = None) -> NDArray[np.float64]:
        """Return the probability of every cluster for new documents, as ``assign`` has it; all 0 for one in no cluster.

        So clusters can be the features of another model, and ``set_output(transform="pandas")`` calls them by name.
        ``memberships_`` has the probabilities of the fitted documents.

        Parameters
        ----------
        X, text : as for ``predict``

        Returns
        -------
        array of shape (m, k)

        Examples
        --------
        >>> from grampus import DocumentClusterer
        >>> model = DocumentClusterer(2).fit(["whale song", "whales sing", "bird nest", "nests of birds"])
        >>> model.transform(["a whale", ""]).argmax(axis=1).tolist(), model.transform([""]).tolist()
        ([0, 0], [[0.0, 0.0]])
        """
        predictor, rows = self._compared(X, text)
        found = predictor.predict_features(predictor.features_of(rows.X), memberships=True)
        assert found.memberships is not None
        return np.where(rows.outside(found.known)[:, None], 0.0, found.memberships)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return what the columns of ``transform`` are called: the names of the clusters.

        Parameters
        ----------
        input_features : ignored
        """
        return np.array([cluster.name for cluster in self.clusters_], dtype=object)

    def score(self, X: Any, y: Any = None, *, text: str | None = None) -> float:
        """Return how steady the clusters of documents are, which makes grid searches work: at most 1, and 0 by chance.

        It is the mean, over the documents, of the stability of the cluster that each is assigned to. A document in no
        cluster counts 0, and so does a cluster whose stability is not known: one alone, or one of too few documents.

        Parameters
        ----------
        X : as for ``predict``
        y : ignored
        text : str, optional
            As for ``predict``.

        Examples
        --------
        >>> from grampus import DocumentClusterer
        >>> from grampus.datasets import scipy_docstrings
        >>> texts = list(scipy_docstrings().texts)[::20]
        >>> 0 < DocumentClusterer(2, embed=None).fit(texts).score(texts) <= 1
        True
        """
        labels = self.predict(X, text=text)
        steady = [0.0 if one.stability is None else one.stability for one in self.clusters_]
        return float(np.nan_to_num(np.array([*steady, 0.0])[labels]).mean()) if len(labels) else 0.0

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
            words, polished, parameters = restored(run)
            model, method = cls(**parameters), parameters["method"]
            kernel = parse_kernel(run.provenance.kernel).for_clusters(1, method.components())  # as it was fitted
        except (LookupError, TypeError, ValueError) as error:
            raise RunError(f"The run's parameters are not a DocumentClusterer's ({error}). Recreate the run.") from None
        model.predictor_ = Predictor.restore(kernel, run.model, words, polished) if run.model else None
        model.terms = model.predictor_.vectorizer if model.predictor_ is not None and words else None
        model.result_, model.index_, model.confidence_ = None, None, saved_confidence(run.model)
        model._set_fitted(run)
        return model

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
