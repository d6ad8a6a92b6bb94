"""Both halves of many splits, clustered and predicting each other, in one batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .._parallel import blas_threads
from ..cluster.kmeans import Batch, Labels, Rule
from ..gram import Gram
from .splits import Entropy, Splits


@dataclass(frozen=True)
class HalfPartitions:
    """Labels and predictions of both halves of some splits, (2 · splits, n): row 2t is the first half of the t-th."""

    labels: Labels
    predicted: Labels

    def crossed(self) -> tuple[Labels, Labels]:
        """Return the clustering of every half, and what the other half predicts of it."""
        return self.labels, self.predicted[np.arange(len(self.labels)) ^ 1]


@dataclass(frozen=True)
class Splitter:
    """What all splits of one collection share."""

    batch: Batch
    splits: Splits
    entropy: Entropy

    @classmethod
    def of(
        cls, gram: Gram, rule: Rule, ks: Sequence[int], splits: Splits, entropy: Entropy, *, times: int = 1
    ) -> Splitter:
        """Prepare the splits of a Gram without its shift, which `rule` holds; the same is done `times` times."""
        runs = 2 * splits.n * splits.n_init * times
        return cls(Batch(gram, rule, ks, runs, share=0.5), splits, entropy)

    def at_once(self, k: int, workers: int = 1) -> int:
        """Return how many splits fit into the memory budget together."""
        return max(1, self.batch.starts_at_once(k) // (2 * workers * self.splits.n_init))

    def halves(self, k: int, numbers: Sequence[int], threads: int) -> HalfPartitions:
        """Cluster both halves of some splits; the products that cluster one half predict the other."""
        with blas_threads():
            starts = self.splits.draw(self.batch.gram, k, self.entropy, numbers)
        return self.halves_from(k, starts, threads)

    def halves_from(self, k: int, starts: Labels, threads: int) -> HalfPartitions:
        """Cluster both halves of some splits from given starts, as `Splits.draw` orders them."""
        labels, predicted, objective = np.empty_like(starts), np.empty_like(starts), np.empty(len(starts))
        for run in self.batch.run(k, starts, threads):
            labels[run.index], predicted[run.index], objective[run.index] = run.labels, run.predicted, run.objective
        best = self.batch.best(objective.reshape(-1, self.splits.n_init))
        best += np.arange(len(best)) * self.splits.n_init
        return HalfPartitions(labels[best], predicted[best])
