"""Is there any structure? The documents against single clouds with the same spectrum.

The reference keeps what a kernel sees of the documents as a whole, their mean and the variance along every principal
component in feature space, and nothing else: coordinates are independent and uniform. It is the gap statistic's
reference (Tibshirani, Walther & Hastie 2001, §4: uniform along the principal components; among single clouds the
uniform one looks most like clusters) with variances in place of ranges, which is SigClust's spectrum (Liu, Hayes, Nobel
& Marron 2008) carried over to a kernel.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from .._array import Array
from .._parallel import blas_threads
from .._progress import Progress
from ..cluster.kmeans import Rule
from ..gram import DenseGram, Gram
from ..gram.lapack import symmetric_eigh
from .halves import Splitter
from .results import NullTest
from .splits import Entropy, Splits, null_generator
from .strength import adjusted_rand, tables

DRAWS, SPLITS, DOCUMENTS = 19, 5, 500


@dataclass(frozen=True)
class Cloud:
    """Mean and spread of a collection along its principal components in feature space.

    Attributes
    ----------
    centre : array of shape (r + 1,)
        The mean's coordinates; the last one is what of it lies outside the components.
    spread : array of shape (r,)
        Standard deviation along every component.
    """

    centre: Array
    spread: Array

    @classmethod
    def of(cls, gram: Gram) -> Cloud:
        """Read a Gram; costs an eigendecomposition. Directions of negative eigenvalues are left out."""
        matrix = gram.dense().astype(np.float64)
        n = len(matrix)
        means = matrix.mean(axis=1)
        grand = float(means.mean())
        with blas_threads(10.0 * n**3):
            values, vectors = symmetric_eigh(matrix - means[:, None] - means + grand)
        kept = values > 1e-10 * max(float(np.abs(values).max()), np.finfo(np.float64).tiny)
        values, vectors = values[kept], vectors[:, kept]
        along = (vectors.T @ means) / np.sqrt(values)  # ⟨m, u_j⟩; the components have length √λ
        rest = np.sqrt(max(grand - float(along @ along), 0.0))
        return cls(np.append(along, rest), np.sqrt(values / n))

    def draw(self, n: int, rng: np.random.Generator) -> DenseGram:
        """Return the Gram of n points drawn from the cloud."""
        points = np.empty((n, len(self.centre)))
        points[:, :-1] = rng.uniform(-np.sqrt(3.0), np.sqrt(3.0), size=(n, len(self.spread))) * self.spread
        points[:, -1] = 0.0
        points += self.centre
        with blas_threads(2.0 * n * n * points.shape[1]):
            return DenseGram.trusted(points @ points.T)


def null_test(
    gram: Gram, rule: Rule, ks: Sequence[int], splits: Splits, entropy: Entropy, *, threads: int, report: Progress
) -> NullTest:
    """Compare the documents (at most 500, drawn at random) with reference clouds, on 5 splits each.

    Each half gets one start, by k-means++ where `splits` leaves the choice.

    Documents, not prototypes: averages of neighbours form lumps also where the documents have none. Every set gets, at
    each k, the mean adjusted Rand index of clusterings and predictions; prediction strength would not do, as it rewards
    a large cluster with a few outliers, which sparse texts have and the reference has not. Scores are transformed to
    −log(1 − score + 1/n), put in standard deviations from the mean over all sets, the documents among them, and the
    largest over k is a set's statistic; its rank is the test. Under the null all sets are alike, so the level is exact
    but for the spectrum, which is estimated.
    """
    if len(gram) > DOCUMENTS:
        gram = gram.take(np.sort(null_generator(entropy, 0).permutation(len(gram))[:DOCUMENTS]))
    few = replace(splits, n=SPLITS, init="k-means++" if splits.init == "auto" else splits.init, n_init=1)
    cloud = Cloud.of(gram)
    scores = np.empty((DRAWS + 1, len(ks)))
    for draw in range(DRAWS + 1):
        report("testing for groups", draw, DRAWS + 1)
        drawn = gram if draw == 0 else cloud.draw(len(gram), null_generator(entropy, draw))
        scores[draw] = _mean_scores(drawn, rule, ks, few, entropy, threads)
    report("testing for groups", DRAWS + 1, DRAWS + 1)
    errors = -np.log(np.maximum(1.0 - scores, 0.0) + 1.0 / len(gram))  # tells 1 from 0.95 as it tells 0.5 from 0
    spread = errors.std(axis=0)
    excess = np.divide(errors - errors.mean(axis=0), spread, out=np.zeros_like(scores), where=spread > 0).max(axis=1)
    return NullTest(
        p_value=float((excess >= excess[0]).mean()),
        statistic=float(excess[0]),
        reference_mean=scores[1:].mean(axis=0),
        reference_sd=scores[1:].std(axis=0, ddof=1),
        observed=scores[0],
        n_draws=DRAWS,
        n_splits=SPLITS,
        n_documents=len(gram),
    )


def _mean_scores(gram: Gram, rule: Rule, ks: Sequence[int], splits: Splits, entropy: Entropy, threads: int) -> Array:
    """Return the mean adjusted Rand index at every k over a few splits."""
    gram = DenseGram.trusted(gram.dense())
    splitter = Splitter.of(gram, rule, ks, splits, entropy, times=DRAWS + 1)
    crossed = ((splitter.halves(k, range(splits.n), threads).crossed(), k) for k in ks)
    return np.array([adjusted_rand(tables(*halves, k)).mean() for halves, k in crossed])
