"""choose_k: how many clusters, by how well halves of the collection predict each other."""

from pathlib import Path
from typing import Any

import numpy as np

from .._check import check_flag
from .._parallel import limits_threads
from .._progress import Progress, as_progress
from .._random import seed_words
from ..kernels import Kernel
from .checkpoint import Checkpoint, read_manifest
from .job import OrderedDocuments, Scores, ScoringJob
from .results import Selection
from .splits import Entropy, Splits


@limits_threads
def choose_k(
    X: Any,
    *,
    kernel: str | Kernel = "cosine",
    ks: Any = range(2, 11),
    scheme: str = "auto",
    splits: Splits = Splits(),  # noqa: B008  (frozen)
    null: bool = True,
    random_state: Any = None,
    n_jobs: int | None = None,
    checkpoint: str | Path | None = None,
    progress: Progress | None = None,
) -> Selection:
    """Choose the number of clusters by prediction strength (`validation`).

    The collection is split into halves many times. Both halves are clustered, each predicts the other by its centroids,
    and a value of k is good when predictions and clusterings agree. All splits run in lockstep; one product clusters
    one half and predicts the other. The result depends on the seed alone: not on threads or the memory budget, nor on
    the order of the documents where their content is known (it is not for stored similarities, and for a Nyström Gram
    given as `X`).

    Parameters
    ----------
    X : array or sparse array of shape (n, m), list of n strings, or Gram
        What the kernel takes; or a Gram, which is used as it is.
    kernel : str or Kernel
        The plain kernel. KKM-S and RED-S add the shift that brings the trace to 0, RED-S after the reduction; a
        trailing ``shift`` in the spelling means that one, and ``"linear|shift(0)"`` means none.
    ks : iterable of int
        Values to try, at most half as many as there are documents. 1 is always possible through the null test.
    scheme : "auto", "RED-S", "KKM-S", "KM-S" or "KM-P"
        Kernel k-means on prototypes or on all documents, or k-means by cosine; scored by prediction strength (S) or
        by partition similarity (P). "auto" is KKM-S up to 2,500 documents, and RED-S for more or where `splits` sets
        ``reduction``, ``n_neighbors`` or ``seeds``; ``Selection.scheme`` is the one that ran.
    splits : Splits
        How many splits there are, how their halves start, and the prototypes of RED-S.
    null : bool
        Whether to compare with single clouds of the same spectrum; if the documents do no better, ``best`` is 1.
    random_state : int, RandomState or None
        Seed of the splits and starts.
    n_jobs : int, optional
        Workers of joblib, each with some of the splits; one for each core by default, as threads.
    checkpoint : path, optional
        A folder that keeps every finished k; a call with the same arguments continues from there.
    progress : callable, optional
        Called as ``progress(step, done, total)``; the steps are "finding prototypes", "choosing k" (splits, over all
        values of k) and "testing for groups".

    Returns
    -------
    Selection

    Notes
    -----
    A split's score is the mean of both directions (two-fold cross-validation).
    Strengths are corrected by the mean strength of random partitions (Eqn 2); KM-P is not corrected.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus import choose_k
    >>> from grampus.select import Splits
    >>> rng = np.random.default_rng(0)
    >>> X = np.repeat(np.eye(4) * 9, 40, axis=0) + rng.normal(size=(160, 4))
    >>> selection = choose_k(X, kernel="linear", ks=range(2, 7), splits=Splits(20), random_state=0)
    >>> selection.best
    4
    """
    null, report = check_flag(null, "null"), as_progress(progress)
    documents = OrderedDocuments.of(X, kernel)
    job = ScoringJob.of(documents, ks, scheme, splits, _entropy(random_state, checkpoint), n_jobs, report)
    kept = Checkpoint() if checkpoint is None else Checkpoint.open(checkpoint, job.manifest())
    columns = job.score(kept, report)
    stacked = (np.stack([np.asarray(value) for value in values], axis=-1) for values in zip(*columns, strict=True))
    scored: dict[str, Any] = dict(zip(Scores._fields, stacked, strict=True))
    return Selection(
        ks=job.ks,
        **scored,
        null=job.test_null(kept, report) if null else None,
        scheme=job.scheme.name,
        kernel=documents.spelling,
        seed=job.splitter.entropy,
        reduction=job.restored_reduction(),
    )


def _entropy(random_state: Any, checkpoint: str | Path | None) -> Entropy:
    """Return the seed of everything random; without a random_state, a checkpoint is continued with its own."""
    if checkpoint is not None and random_state is None and Path(checkpoint).is_dir():
        found = read_manifest(Path(checkpoint))
        if found is not None and isinstance(found.get("seed"), list):
            return tuple(int(number) for number in found["seed"])
    return tuple(seed_words(random_state))
