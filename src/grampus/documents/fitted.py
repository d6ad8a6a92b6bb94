"""What a fitted clusterer tells: the run, made when it is first asked for, and all that is read from it."""

from collections.abc import Sequence
from os import PathLike
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .._names import number_of
from ..describe import Cluster
from ..notebook.widget import map_widget
from ..persist import Branch, Choice, Edit, Run
from ..persist.frame import frame_of
from ..report import write_report
from ..report.page import Embed
from .answer import Answer
from .pipeline import FITTED, STAGES, advance
from .tell.build_run import build_run
from .tell.naming import renamed, with_names

SHOWN = 8  # clusters that are named where a fitted clusterer is printed


def document_labels(answer: Answer) -> NDArray[np.intp]:
    """Return the cluster of every document, of a large collection too."""
    if answer.sample is not None:
        return np.concatenate(answer.sample.labels).astype(np.intp)
    return answer.labels[answer.inputs.group]


def completed_run(answer: Answer) -> Run:
    """Return the run of a fitted answer: the stages after the fit, and names that were asked for."""
    answer = advance(answer, STAGES[FITTED:])
    run, namer = build_run(answer), answer.request.parameters["names"]
    run = run if namer is None else with_names(run, namer)
    return renamed(run, answer.names, []) if answer.names else run


class FittedClusterer(BaseEstimator):
    """The outcome of a fit: labels at once, and the run, with names, evidence and map, when it is first asked for."""

    labels_: NDArray[np.intp]
    n_clusters_: int
    index_: Any
    _made: Answer | Run
    _library: str = "pandas"  # of the frame that was fitted

    @property
    def run_(self) -> Run:
        """All that is known as plain data."""
        check_is_fitted(self, "labels_")
        if isinstance(self._made, Answer):
            self._made = completed_run(self._made)
        return self._made

    @property
    def clusters_(self) -> tuple[Cluster, ...]:
        """Description of each cluster."""
        return self.run_.evidence.clusters

    @property
    def choice_(self) -> Choice | None:
        """How k was chosen, or whether the clusters of a given k are groups."""
        return self.run_.evidence.choice

    @property
    def branches_(self) -> tuple[Branch, ...]:
        """The tree."""
        return self.run_.evidence.tree

    @property
    def margin_(self) -> NDArray[np.float32]:
        """How clearly each document is in its cluster."""
        return self.run_.evidence.margin

    @property
    def oddness_(self) -> NDArray[np.float32]:
        """How untypical each document is of its cluster."""
        return self.run_.evidence.oddness

    @property
    def stability_(self) -> NDArray[np.float32]:
        """How steadily each document is in its cluster."""
        return self.run_.evidence.stability

    @property
    def duplicates_(self) -> NDArray[np.int32]:
        """Pairs of near-duplicate documents."""
        return self.run_.evidence.duplicates

    def _set_fitted(self, made: Answer | Run) -> None:
        """Set the fitted attributes from a run, or from the answer that it will be made of."""
        self._made = made
        self.labels_ = document_labels(made) if isinstance(made, Answer) else made.evidence.labels.astype(np.intp)
        self.n_clusters_ = made.n_clusters

    @property
    def _columns(self) -> dict[str, str]:
        """The columns that were read from a data frame."""
        return self._made.rows.columns if isinstance(self._made, Answer) else self._made.provenance.columns

    def __getstate__(self) -> Any:
        """Pickle the run rather than all that it would be made from."""
        if hasattr(self, "labels_"):
            _ = self.run_
        return super().__getstate__()

    def to_frame(self, table: str = "documents", *, index: Any = None) -> Any:
        """Return what was found as a data frame of the library whose frame was fitted, pandas by default.

        It joins a pandas frame on its index, and those of polars and pyarrow, which have none, row by row.

        Parameters
        ----------
        table, index : as for ``Run.to_frame``
            By default the index is that of the pandas frame that was fitted, else the ids of the documents.

        Examples
        --------
        >>> import pandas
        >>> from grampus import DocumentClusterer
        >>> notes = pandas.DataFrame({"body": ["whale song", "whales sing", "bird nest", None, "nests of birds"]})
        >>> model = DocumentClusterer(2).fit(notes, text="body")
        >>> notes.join(model.to_frame())["cluster"].tolist()
        [0, 0, 1, -1, 1]
        """
        return frame_of(self.run_, table, self.index_ if index is None else index, self._library)

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Plot the map of the documents with matplotlib and return the Axes; see `grampus.plots.document_map`.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        options
            Those of `grampus.plots.document_map`.
        """
        return self.run_.plot(ax=ax, **options)

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        """Return what was found; before that the parameters, as scikit-learn does."""
        if not hasattr(self, "labels_"):
            return super().__repr__(N_CHAR_MAX)
        clusters = self.clusters_
        shown = [f"{cluster.name} ({cluster.size:,})" for cluster in clusters[:SHOWN]]
        more = [] if len(clusters) <= SHOWN else [f"and {len(clusters) - SHOWN} more"]
        found = f"{number_of(len(self.labels_), 'document')} in {number_of(len(clusters), 'cluster')}"
        return f"<{type(self).__name__}: {found}: {', '.join(shown + more)}>"

    def _repr_html_(self) -> str | None:  # scikit-learn has a property
        """Show a fitted clusterer as its clusters and their map, another one as scikit-learn does."""
        if hasattr(self, "labels_"):
            return self.run_._repr_html_()
        return cast("str | None", getattr(super(), "_repr_html_", lambda: None)())

    def _repr_mimebundle_(self, **given: Any) -> dict[str, Any]:
        """Return what a notebook shows."""
        shown = self._repr_html_()
        return {"text/plain": repr(self)} | ({} if shown is None else {"text/html": shown})

    def save(self, path: str | PathLike[str], *, texts: bool = True) -> None:
        """Save the run in a folder, completely or not at all; see ``Run.save``.

        Parameters
        ----------
        path : path
            The folder to write; an older run in it is replaced.
        texts : bool
            Whether to save the texts.
        """
        self.run_.save(path, texts=texts)

    def report(self, path: str | PathLike[str], *, texts: Embed = "excerpts", edits: Sequence[Edit] = ()) -> None:
        """Write the page of the run: one HTML file to read, explore and correct; see `grampus.report`.

        Parameters
        ----------
        path : path
        texts : "excerpts", "full" or "none"
            How much of each document to include.
        edits : sequence of Edit
            Those of an earlier page are read by ``grampus.report.read_edits``.

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
        write_report(self.run_, path, texts=texts, edits=edits)

    def widget(self, *, height: int = 640) -> Any:
        """Return the map as a widget for Jupyter, marimo and other notebooks (the extra ``grampus[notebook]``).

        Parameters
        ----------
        height : int
            In pixels.

        Returns
        -------
        anywidget.AnyWidget
            Its `selection` is a list of row numbers: the documents that are selected, found or filtered on the map.
            Setting it selects documents.

        Examples
        --------
        >>> from grampus import DocumentClusterer
        >>> model = DocumentClusterer(2).fit(["whale song", "whales sing", "bird nest", "nests of birds"])
        >>> widget = model.widget()  # doctest: +SKIP
        >>> [model.run_.documents.ids[row] for row in widget.selection]  # doctest: +SKIP
        """
        return map_widget(self.run_, height)
