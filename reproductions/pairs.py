"""`dominance` and `validation`, what explains the rest: a centroid's self-similarity that counts every pair once.

Eqn 4 of `dominance` sums K_jl over all ordered pairs of a cluster. A program that runs over j < l, as one writes for a
symmetric matrix, and divides by |C|² all the same, halves that term. The library follows the equation; the loops here
are plain ones that can do either.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from grampus import parse_kernel
from grampus.metrics import anmi, nmi
from grampus.select import chance_strength, prediction_strength, reduce_gram
from reproductions.dominance import PUBLISHED
from reproductions.outcome import Cell, Outcome, Table
from reproductions.protocol import documents
from reproductions.registry import reproduction
from reproductions.steps import Steps
from reproductions.validation import KS, TABLE_3, TRUE_K, spell

ORDERED, ONCE = 1.0, 0.5  # how often a pair counts, over two
Products = Callable[[NDArray[Any]], tuple[NDArray[Any], NDArray[Any]]]


def kernel_k_means(
    products: Products, labels: NDArray[Any], k: int, pairs: float, shift: float = 0.0
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return labels and ‖μ_c‖² after at most 100 iterations; `products` gives the sums of a partition's clusters.

    These are Σ_{j∈c} K_ij of every document and cluster, and Σ_{j,l∈c} K_jl of every cluster, without the shift.
    """
    rows, before, cycles = np.arange(len(labels)), labels, 0
    norms = np.zeros(k)
    for _ in range(100):
        sums, within = products(labels)
        sizes = np.bincount(labels, minlength=k)
        present = np.maximum(sizes, 1)
        sums[rows, labels] += shift
        norms = np.where(sizes > 0, pairs * (within + shift * sizes) / present**2, np.inf)
        new = (norms - 2 * sums / present).argmin(axis=1)
        if (new == labels).all():
            break
        cycles = cycles + 1 if (new == before).all() else 0
        before, labels = labels, new
        if cycles == 5:
            break
    return labels, norms


def of_terms(x: Any, k: int) -> Products:
    """Return the products for the cosine of rows of terms."""

    def products(labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        members = sp.csr_array((np.ones(len(labels)), (labels, np.arange(len(labels)))), shape=(k, len(labels)))
        centres = (members @ x).toarray()
        return np.asarray(x @ centres.T), np.einsum("ij,ij->i", centres, centres)

    return products


def of_matrix(matrix: NDArray[Any], k: int) -> Products:
    """Return the products for a stored matrix."""

    def products(labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        members = np.eye(k)[labels]
        sums = matrix @ members
        return sums, np.einsum("ij,ij->j", sums, members)

    return products


def unit_rows(x: Any) -> Any:
    """Return rows of length 1, in double precision."""
    lengths = np.sqrt(np.asarray(x.multiply(x).sum(axis=1), dtype=np.float64).ravel())
    return sp.csr_array(sp.diags_array(1 / np.where(lengths > 0, lengths, 1)) @ x.astype(np.float64))


def clustered(name: str, count: int, pairs: float, shift: float) -> list[float]:
    """Return mean NMI, its standard error and ANMI over random partitions."""
    found = documents(name)
    x, n = unit_rows(found.x), len(found.labels)
    starts = [np.random.default_rng([seed, n]).integers(0, found.k, n) for seed in range(count)]
    labels = np.array([kernel_k_means(of_terms(x, found.k), start, found.k, pairs, shift)[0] for start in starts])
    scores = [nmi(found.labels, row) for row in labels]
    return [float(np.mean(scores)), float(np.std(scores, ddof=1) / np.sqrt(count)), anmi(labels)]


@reproduction("dominance", "pairs", "Tables 2 and 3 when a centroid's self-similarity counts every pair once.")
def pairs_table(steps: Steps) -> Outcome:
    count = steps.trials(30, 5)
    rows, gaps = [], {ORDERED: [], ONCE: []}  # type: ignore[var-annotated]
    for name in ("bbcsport",) if steps.quick else PUBLISHED:
        scores, agreement = PUBLISHED[name][3], PUBLISHED[name][4]
        for column, shift in (("orig", 0.0), ("DS", -1.0)):
            place, cells = int(column == "DS"), []
            for pairs in (ORDERED, ONCE):

                def run(name: str = name, pairs: float = pairs, shift: float = shift) -> list[float]:
                    return clustered(name, count, pairs, shift)

                mean, error, agreed = steps.step(f"{name} {column} {pairs} {count}", run)
                cells += [Cell(mean, scores[place], error), Cell(agreed, agreement[place])]
                if name != "cstr":
                    gaps[pairs] += [abs(mean - scores[place]), abs(agreed - agreement[place])]
            rows.append((name, column, *cells))
    columns = ("set", "kernel", "NMI, Eqn 4", "ANMI, Eqn 4", "NMI, pairs once", "ANMI, pairs once")
    mean = {pairs: float(np.mean(values)) for pairs, values in gaps.items()}
    note = (
        f"{count} random partitions each. Mean distance from the published values, without cstr: {mean[ORDERED]:.3f} "
        f"with Eqn 4, {mean[ONCE]:.3f} with pairs counted once."
    )
    return Outcome([Table("Random starts", columns, rows)], notes=[note])


def strengths(matrix: NDArray[Any], n_splits: int, pairs: float, seed: int) -> list[float]:
    """Return the corrected strength of every k of `validation` on a stored matrix, shifted to trace 0."""
    n, shift, means = len(matrix), -float(np.trace(matrix)) / len(matrix), []
    for k in KS:
        chance, found = chance_strength(n - n // 2, k).mean, []
        for split in range(n_splits):
            rng = np.random.default_rng([seed, split, k])
            a, b = np.array_split(np.random.default_rng([seed, split]).permutation(n), 2)
            part = {0: a, 1: b}
            done = [
                kernel_k_means(of_matrix(matrix[np.ix_(p, p)], k), rng.integers(0, k, len(p)), k, pairs, shift)
                for p in part.values()
            ]
            for one, other in ((0, 1), (1, 0)):
                labels, norms = done[one]
                sizes = np.maximum(np.bincount(labels, minlength=k), 1)
                near = norms - 2 * (matrix[np.ix_(part[other], part[one])] @ np.eye(k)[labels]) / sizes
                found.append(prediction_strength(done[other][0], near.argmin(axis=1)))
        means.append(float((np.mean(found) - chance) / (1 - chance)))
    return means


@reproduction("validation", "pairs", "RED-S when a centroid's self-similarity counts every pair once.")
def pairs_choice(steps: Steps) -> Outcome:
    count, rows = steps.trials(50, 3), []
    for name in ("bbcsport",) if steps.quick else ("bbc", "bbcsport", "classic3", "ng3", "ng17-19", "cstr", "reviews"):
        tops = []
        for pairs in (ORDERED, ONCE):

            def run(name: str = name, pairs: float = pairs) -> list[float]:
                reduced = reduce_gram(parse_kernel("cosine").gram(documents(name).x)).gram.dense()
                return strengths(np.asarray(reduced, dtype=np.float64), count, pairs, steps.seed)

            found = steps.step(f"{name} {pairs} {count}", run)
            order = np.argsort(-np.array(found), kind="stable")[:3]
            tops.append(spell(tuple((KS[i], found[i]) for i in order)))
        rows.append((f"{name} ({TRUE_K[name]})", *tops, spell(TABLE_3[name]["RED-S"])))
    columns = ("set (true k)", "Eqn 4", "pairs once", "paper")
    return Outcome([Table("Top three k of RED-S", columns, rows)], notes=[f"{count} splits, plain loops."])
