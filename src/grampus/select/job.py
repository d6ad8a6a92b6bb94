"""One selection as a job: what is split, how, and the scores of every k."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

import joblib
import numpy as np
from numpy.typing import NDArray

from .._array import Array
from .._check import check_integer
from .._parallel import blas_threads, results_in_threads, thread_count
from .._progress import Progress
from ..cluster.kmeans import Rule
from ..errors import InputError
from ..gram import Gram
from ..kernels import Kernel, parse_kernel
from .checkpoint import Checkpoint, fingerprint
from .halves import Splitter
from .null import null_test
from .prototypes import Reduction, growing_rate, reduce_gram
from .results import NullTest
from .schemes import Scheme, check_scheme, scheme_for
from .splits import PROTOTYPES, Entropy, Splits, check_distinct, check_ks, check_splits, half, keyed_generator
from .strength import chance_strength, corrected, tables

_PER_CLUSTER = 10  # prototypes that the default rate leaves for each of max(ks) clusters, if there are enough documents


@dataclass(frozen=True)
class OrderedDocuments:
    """The collection in an order that only its content decides, so that the order of the rows changes nothing.

    Attributes
    ----------
    gram : Gram
        Without its trailing shift.
    names : array of shape (n,) or None
        Digests of the documents' content, sorted; None for a given matrix, whose rows keep their order.
    order : array of shape (n,)
        The original position of each document.
    shift : float or None
        The shift in the spelling, None for the one that brings the trace to 0.
    shifted : bool
        Whether the spelling has any shift.
    spelling : str
    """

    gram: Gram
    names: Array | None
    order: NDArray[np.intp]
    shift: float | None
    shifted: bool
    spelling: str

    @classmethod
    def of(cls, X: Any, kernel: str | Kernel) -> OrderedDocuments:
        """Fit the kernel, or take a Gram as it is."""
        if isinstance(X, Gram):
            gram, spelling = X, repr(X)
        else:
            read = parse_kernel(kernel)
            gram, spelling = read.gram(X), str(read)
        base, sigma = gram.split_shift()
        zero_trace = -base.trace() / len(base)
        shifted = base is not gram
        fixed = None if not shifted or np.isclose(sigma, zero_trace, rtol=1e-9, atol=0.0) else sigma
        base, order = base.canonical()
        return cls(base, base.documents().names, order, fixed, shifted, spelling)

    def rule(self, scheme: Scheme, gram: Gram) -> Rule:
        """Return the scheme's rule with the shift of the Gram that is clustered."""
        if scheme.rule.spherical:
            return scheme.rule
        return replace(scheme.rule, shift=-gram.trace() / len(gram) if self.shift is None else self.shift)


class Scores(NamedTuple):
    """Scores of one k, or of some of its splits: the arrays of `Selection` without the axis of k."""

    scores: Array
    strength: Array
    chance: float
    chance_error: float
    degenerate: int


@dataclass(frozen=True)
class ScoringJob:
    """Everything that the scores depend on, checked and prepared.

    Attributes
    ----------
    documents : OrderedDocuments
    scheme : Scheme
    ks : tuple of int
    reduction : Reduction or None
        The prototypes that are split, in the canonical order.
    splitter : Splitter
    n_jobs : int or None
    """

    documents: OrderedDocuments
    scheme: Scheme
    ks: tuple[int, ...]
    reduction: Reduction | None
    splitter: Splitter
    n_jobs: int | None

    @classmethod
    def of(
        cls,
        documents: OrderedDocuments,
        ks: Any,
        scheme: str,
        splits: Splits,
        entropy: Entropy,
        n_jobs: int | None,
        report: Progress,
    ) -> ScoringJob:
        """Check the arguments, and make the prototypes if the scheme has any."""
        thread_count(n_jobs)
        n, splits = len(documents.gram), check_splits(splits)
        row = scheme_for(check_scheme(scheme), n, reduced=splits.reduced)
        values = check_ks(ks, n // 2)
        if row.rule.spherical and documents.shifted:
            raise InputError(f"{row.name} uses no shift; leave the trailing shift out of the kernel.")
        if splits.reduced and not row.reduced:
            uses = f"{row.name} uses every document"
            raise InputError(f"reduction, n_neighbors and seeds belong to RED-S; {uses}. Leave them out.")
        gram, names, reduced = documents.gram, documents.names, None
        if row.reduced:
            report("finding prototypes", 0, 1)
            reduced = _reduce(gram, splits, values[-1], entropy)
            report("finding prototypes", 1, 1)
            gram, names = reduced.gram, None if names is None else np.sort(names[reduced.members], axis=1)
        check_distinct(names, (half(len(gram), entropy, number) for number in range(splits.n)), values[-1])
        splitter = Splitter.of(gram, documents.rule(row, gram), values, splits, entropy)
        return cls(documents, row, values, reduced, splitter, n_jobs)

    def manifest(self) -> dict[str, Any]:
        """Return what a checkpoint must match to be continued."""
        rule, splits, reduced = self.splitter.batch.rule, self.splitter.splits, self.reduction
        return {
            "corpus": fingerprint(self.documents.gram, self.documents.names),
            "documents": len(self.documents.gram),
            "scheme": self.scheme.name,
            "kernel": self.documents.spelling,
            "rule": asdict(rule) | {"shift": f"{rule.shift:.9g}"},
            "rate": None if reduced is None else reduced.rate,
            "n_neighbors": None if reduced is None else reduced.n_neighbors,
            "seeds": None if reduced is None else splits.seeds,
            "n_splits": splits.n,
            "init": f"{splits.n_init} × {splits.init}",
            "seed": list(self.splitter.entropy),
        }

    def score(self, kept: Checkpoint, report: Progress) -> list[Scores]:
        """Return the scores of every k; those that are finished already are read."""
        finished = {k: kept.load(_name(k), Scores) for k in self.ks}
        parts: dict[int, list[Scores]] = {k: [] for k in self.ks if finished[k] is None}
        each = self.splitter.splits.n
        done, total = each * (len(self.ks) - len(parts)), each * len(self.ks)
        report("choosing k", done, total)
        for k, part in self._parts(list(parts)):
            parts[k].append(part)
            done += len(part.scores)
            report("choosing k", done, total)
            if sum(len(part.scores) for part in parts[k]) == each:
                finished[k] = whole = _joined(parts[k])
                kept.save(_name(k), whole._asdict())
        return [scores for scores in finished.values() if scores is not None]

    def _parts(self, ks: Sequence[int]) -> Iterator[tuple[int, Scores]]:
        """Yield every k with the scores of each batch of splits.

        joblib's workers share the batches. With one worker, where runs are independent, threads share the values of k,
        the largest first; otherwise the threads work inside a batch.
        """
        workers, threads = int(joblib.effective_n_jobs(self.n_jobs)), thread_count(self.n_jobs)
        if workers == 1 and (not self.splitter.batch.independent or len(ks) < 2 * threads):
            for k in ks:
                yield from ((k, self._batch(k, numbers, threads)) for numbers in self._batches(k, 1))
            return
        with blas_threads():
            if workers == 1:
                falling = sorted(ks, reverse=True)

                def whole(i: int) -> list[Scores]:
                    return [self._batch(falling[i], numbers, 1) for numbers in self._batches(falling[i], 1)]

                for k, parts in zip(falling, results_in_threads(whole, len(falling), threads), strict=True):
                    yield from ((k, part) for part in parts)
                return
            parallel = joblib.Parallel(n_jobs=self.n_jobs, prefer="threads", return_as="generator")
            for k in ks:
                calls = (joblib.delayed(self._batch)(k, numbers, 1) for numbers in self._batches(k, workers))
                yield from ((k, part) for part in parallel(calls))

    def _batch(self, k: int, numbers: Sequence[int], threads: int) -> Scores:
        """Cluster the halves of some splits and score their predictions of each other."""
        counts = tables(*self.splitter.halves(k, numbers, threads).crossed(), k)
        values, degenerate = self.scheme.score(counts)
        scores, chance, error, n = values, 0.0, 0.0, len(self.splitter.batch.gram)
        if self.scheme.corrected:
            both = np.array([chance_strength(size, k) for size in (n // 2, n - n // 2)])
            scores, (chance, error) = corrected(values, np.tile(both[:, 0], len(numbers))), both.mean(axis=0).tolist()
        each, strength = (some.reshape(-1, 2).mean(axis=1) for some in (scores, values))
        return Scores(each, strength, chance, error, int(degenerate.sum()))

    def _batches(self, k: int, workers: int) -> list[range]:
        """Cut the splits into batches that fit into memory, at least one for each worker."""
        n = self.splitter.splits.n
        step = min(-(-n // workers), self.splitter.at_once(k, workers))
        return [range(first, min(first + step, n)) for first in range(0, n, step)]

    def test_null(self, kept: Checkpoint, report: Progress) -> NullTest:
        """Compare the documents with single clouds, or read a finished test."""
        name, documents = "null_" + "_".join(map(str, self.ks)), self.documents
        found = kept.load(name, NullTest)
        if found is None:
            rule, threads = documents.rule(self.scheme, documents.gram), thread_count(self.n_jobs)
            splits, entropy = self.splitter.splits, self.splitter.entropy
            found = null_test(documents.gram, rule, self.ks, splits, entropy, threads=threads, report=report)
            kept.save(name, vars(found))
        return found

    def restored_reduction(self) -> Reduction | None:
        """Return the prototypes with the documents' numbers as they were given."""
        found, order = self.reduction, self.documents.order
        return None if found is None else replace(found, seeds=order[found.seeds], members=order[found.members])


def _joined(parts: Sequence[Scores]) -> Scores:
    """Put the batches of one k together."""
    return parts[0]._replace(
        scores=np.concatenate([part.scores for part in parts]),
        strength=np.concatenate([part.strength for part in parts]),
        degenerate=sum(part.degenerate for part in parts),
    )


def _name(k: int) -> str:
    return f"k_{k:05d}"


def _reduce(gram: Gram, splits: Splits, k: int, entropy: Entropy) -> Reduction:
    """Make the prototypes; there must be enough of them for both halves."""
    n, rate = len(gram), splits.reduction
    if rate is None:
        rate = growing_rate(n, least=_PER_CLUSTER * k)
    check_integer(rate, "reduction", low=1, high=n, of=" (the number of documents)")
    if n // rate < 2 * k:
        raise InputError(
            f"reduction = {rate} leaves {n // rate} prototypes of {n} documents; max(ks) = {k} needs at least "
            f"{2 * k}. Use a smaller rate, smaller ks, or scheme='KKM-S'."
        )
    rng = keyed_generator(entropy, PROTOTYPES)
    return reduce_gram(gram, rate, splits.n_neighbors, seeds=splits.seeds, random_state=rng)
