"""Predict memory and time of a clustering before it starts, and refuse what exceeds the limits.

The sizes of the documents are counted, or estimated from a sample of the texts; what their Gram costs is asked of a
Gram of a few of them. The stages of the pipeline say what they cost, and the rates of `work` turn that into seconds.
"""

from __future__ import annotations

import logging
import math
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from .._array import is_sparse, take_rows
from .._config import format_size, machine_memory, may_keep, settings
from .._memory import resident
from ..errors import InputError, MemoryBudgetError
from ..kernels import Kernel, parse_kernel
from ..text import Corpus
from ..text.meaning.encoder import DIMENSIONS
from ..text.meaning.maker import MeaningInput
from .answer import Request
from .given.extra_inputs import combined_kernel, make_input
from .given.inputs import Inputs, as_corpus, default_terms
from .work import Shape, Sizes, StageCost, Work, WorkUnits

SAMPLE = 200  # documents of which a Gram is made, to ask it for its cost
SAMPLE_BYTES = 1_500_000  # of text, to count terms in
PIECE = 4.5  # characters of a word piece of the encoder
TRIVIAL = 2_000  # documents up to which nothing is predicted unless a limit is set
NOTABLE_SECONDS, NOTABLE_BYTES = 20.0, 1_000_000_000  # from here on a prediction is announced
TOLERANCE = 2.0  # of a predicted time: what may take half of it is not refused

logger = logging.getLogger("grampus")
Costs = Iterable[Callable[[Work], StageCost]]  # of the stages


@dataclass(frozen=True)
class Step:
    """A step of a prediction: what it keeps, the most it needs beside that, and its seconds.

    Attributes
    ----------
    name : str
    kept, beside : float
        Bytes.
    seconds : float
        Of processor time.
    alone : float, optional
        Of wall time; by default as much as processor time.
    """

    name: str
    kept: float
    beside: float
    seconds: float
    alone: float | None = None

    @property
    def wall(self) -> float:
        """Wall time, in seconds."""
        return self.seconds if self.alone is None else self.alone


@dataclass(frozen=True)
class PredictedCost:
    """The predicted cost of a clustering.

    Attributes
    ----------
    documents : int
    k : int
        Number of clusters that was assumed.
    now : int
        Resident memory of the process before the work.
    steps : tuple of Step
    pairs : bool
        Whether every document is compared with every other, so that cost grows with the square of their number.

    Examples
    --------
    >>> from grampus.documents.cost import PredictedCost, Step
    >>> str(PredictedCost(5000, 8, 100_000_000, (Step("reading", 2e7, 1e7, 3.0), Step("clustering", 1e7, 5e8, 60.0))))
    'about 630.0 MB and 1 min'
    """

    documents: int
    k: int
    now: int
    steps: tuple[Step, ...]
    pairs: bool = False

    @property
    def memory(self) -> int:
        """The largest resident memory of the process, in bytes."""
        held, peak = float(self.now), float(self.now)
        for step in self.steps:
            peak = max(peak, held + step.kept + step.beside)
            held += step.kept
        return int(peak)

    @property
    def seconds(self) -> float:
        """Processor time, in seconds."""
        return sum(step.seconds for step in self.steps)

    @property
    def wall(self) -> float:
        """Wall time, in seconds; where nothing else runs on the machine, unless a pace is given."""
        return sum(step.wall for step in self.steps)

    def at(self, pace: float) -> PredictedCost:
        """Return the same where wall time goes by so many times as fast as alone."""
        return replace(self, steps=tuple(replace(step, alone=pace * step.wall) for step in self.steps))

    def after(self, seconds: float, wall: float) -> PredictedCost:
        """Return the same with what was spent before: on starting, and on reading the documents."""
        return replace(self, steps=(Step("reading files", 0.0, 0.0, seconds, wall), *self.steps))

    @property
    def notable(self) -> bool:
        """Whether it is worth announcing: what it needs beyond what the process holds."""
        return self.seconds > NOTABLE_SECONDS or self.memory - self.now > NOTABLE_BYTES

    def __str__(self) -> str:
        return f"about {format_size(self.memory)} and {format_time(self.seconds)}"


def format_time(seconds: float) -> str:
    """Format a rough duration: ``format_time(7300) == '2 h'``."""
    for unit, size in (("days", 86400.0), ("h", 3600.0), ("min", 60.0)):
        if seconds >= 1.0 * size if unit != "days" else seconds >= 2.0 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{max(seconds, 1.0):.0f} s"


def predict_request(request: Request, X: Any, costs: Costs) -> PredictedCost:
    """Predict the cost of clustering documents as it was requested; `costs` are those of the stages."""
    corpus = as_corpus(X)
    maker = make_input(request.parameters["embed"], request.kernel, corpus, request.parameters["terms"])
    held = set() if corpus is None else {*corpus.inputs}
    request = replace(request, kernel=combined_kernel(request.kernel, maker, held))
    sizes, sample = _of_rows(X) if corpus is None else _of_texts(corpus, isinstance(X, Corpus), request)
    if isinstance(maker, MeaningInput) and corpus is not None:
        some = corpus.take(np.unique(np.linspace(0, len(corpus) - 1, min(len(corpus), SAMPLE)).astype(np.intp)))
        read = sum(map(len, maker.texts(some))) / max(len(some), 1)
        sizes = replace(sizes, pieces=read / PIECE * len(corpus))
    kernel = request.kernel.for_clusters(_clusters(request, sizes.documents), request.method.components())
    return _predicted(request, kernel, sizes, sample, costs)


def check_cost(inputs: Inputs, kernel: Kernel, request: Request, costs: Costs) -> PredictedCost | None:
    """Refuse documents that were read if clustering them would exceed the machine's memory or the limits that were set.

    Returns what was predicted; None for few documents, of which nothing needs to be.

    Parameters
    ----------
    inputs : Inputs
    kernel : Kernel
        With its number of components.
    request : Request
    costs : iterable of functions
        The costs of the stages.
    """
    now, n = settings(), len(inputs.weights)
    if n <= TRIVIAL and _clusters(request, n) < n and now.max_memory is None and now.timeout is None:
        return None
    main = inputs.described if inputs.described is not None else inputs.main
    entries, terms = (0, 0) if isinstance(main, list) else (main.nnz if is_sparse(main) else main.size, main.shape[1])
    sizes = Sizes(n, inputs.corpus.texts.nbytes if inputs.has_texts else 0, entries, terms, collected=True)
    every = np.unique(np.linspace(0, n - 1, min(n, SAMPLE)).astype(np.intp))
    sample = None if kernel.is_precomputed else take_rows(inputs.features, every)
    timed = now.timeout is not None or logger.isEnabledFor(logging.INFO)
    predicted = _predicted(request, kernel, sizes, sample, costs, timed=timed)
    logger.info("predicted: %s", predicted)
    refuse_cost(predicted, kernel)
    return predicted


def _predicted(
    request: Request, kernel: Kernel, sizes: Sizes, sample: Any, costs: Costs, *, timed: bool = True
) -> PredictedCost:
    """Sum the costs of the stages for documents of these sizes; `sample` are some of them, as the kernel takes them.

    Where seconds are not asked for they are 0: the rates of this machine take a tenth of one to measure.
    """
    n, shape = sizes.documents, shape_of(kernel, sample, sizes)
    k = min(_clusters(request, n), max(n, 1))
    work = Work(sizes, shape, request.method, request.effort, k, request.k is not None)
    stages = [one for cost in costs if (one := cost(work)) != StageCost(one.name)]  # others have nothing to do
    steps = tuple(
        Step(one.name, one.kept, one.beside, *((one.units.seconds, one.units.wall) if timed else (0.0, 0.0)))
        for one in stages
    )
    return PredictedCost(n, k, resident() or 0, steps, shape.width == 0)


def refuse_cost(found: PredictedCost, kernel: Kernel | str) -> None:
    """Raise MemoryBudgetError for a prediction beyond the limits, with what would fit.

    Parameters
    ----------
    found : PredictedCost
    kernel : Kernel or str
        What is compared, for advice.
    """
    now = settings()
    most = machine_memory() if now.max_memory is None else min(now.max_memory, machine_memory())
    whose = "this machine has" if now.max_memory is None else "max_memory allows"
    share, words = 1.0, ""
    if found.memory > most:
        share, words = most / found.memory, f"needs about {format_size(found.memory)}; {whose} {format_size(most)}"
    elif now.timeout is not None and found.wall > TOLERANCE * now.timeout:
        share = now.timeout / found.wall
        words = f"takes about {format_time(found.wall)}; timeout allows {format_time(now.timeout)}"
    if words:
        what = f"Clustering {found.documents:,} documents into {found.k:,} clusters"
        raise MemoryBudgetError(f"{what} {words}. {advice(found, kernel, share)}")


def advice(found: PredictedCost, kernel: Kernel | str, share: float) -> str:
    """Return what would fit where only a share of the cost may be spent."""
    spelled, ways = str(kernel), []
    if found.pairs and not parse_kernel(kernel).rank():
        ways.append(f"the kernel '{spelled}|nystrom(500)'")
    fewer = int(found.documents * (share**0.5 if found.pairs else share) * 0.9)
    if fewer >= 100:
        ways.append(f"about {_round(fewer):,} documents")
    if found.k > 100:
        ways.append(f"fewer clusters, such as {max(2, _round(found.k * share * 0.9)):,}")
    ways.append("the documents in parts")
    return f"Use {' or '.join([', '.join(ways[:-1]), ways[-1]] if len(ways) > 1 else ways)}."


def _round(value: float) -> int:
    """Return a number rounded down to two digits."""
    size = 10 ** max(0, int(math.log10(max(value, 1.0))) - 1)
    return int(value // size * size)


def _clusters(request: Request, n: int) -> int:
    """Return the number of clusters, or one to assume where it is to be chosen."""
    return request.k or max(request.effort.ks or (max(2, min(60, round(n**0.35))),))


def _grown(counts: list[int], times: float) -> float:
    """Return how many distinct terms there are in so many times the texts.

    Heaps' law: each doubling multiplies their number by some 2^g. From the last two doublings of the sample, g falls by
    the same factor each time (a vocabulary is finite), and never rises.
    """
    quarter, half, whole = (max(count, 1) for count in counts)
    before, last = math.log2(max(half / quarter, 1.0)), math.log2(max(whole / half, 1.0))
    falls = min(last / before, 1.0) if before > 0 else 1.0
    doublings = math.log2(times)
    sum_of_g = last * (doublings if falls > 0.999 else falls * (1.0 - falls**doublings) / (1.0 - falls))
    return whole * 2.0**sum_of_g


def _substrings(kernel: Kernel, sample: Any, times: float) -> float:
    """Return how many substrings several documents share in so many times the sample.

    Their number grows as some power of the texts': the last doubling of the sample says which, 0.7 at most, to which it
    falls in prose; a small alphabet is soon exhausted.
    """
    half, whole = (kernel.source.gram(sample[::step]).features() for step in (2, 1))
    if half is None or whole is None or not half.entries:
        return 0.0
    power = math.log2(max(whole.rows.shape[1] / half.rows.shape[1], 1.0))
    return float(whole.rows.shape[1] * times ** min(power, 0.7))


def _of_texts(corpus: Corpus, held: bool, request: Request) -> tuple[Sizes, Any]:
    """Return the sizes of a corpus from a sample of it, and the sample in the form that the kernel takes."""
    n, total = len(corpus), corpus.texts.nbytes
    count = int(max(min(n, SAMPLE), min(n, n * SAMPLE_BYTES / max(total, 1))))
    every = np.unique(np.linspace(0, n - 1, count).astype(np.intp)).tolist()
    texts = [corpus.texts[at] for at in every]
    words = clone(request.parameters["terms"] or default_terms(n))
    least, grow = words.min_df if isinstance(words.min_df, int) else 1, n / max(len(every), 1)
    prepared = words.prepare(texts)
    try:
        counted: Any = words.set_params(min_df=1).fit_transform(prepared)
        found, half, quarter = (np.bincount(counted[::step].indices, minlength=counted.shape[1]) for step in (1, 2, 4))
        common = found >= least
        # A rare term of the sample may be in enough documents of all, but there are no more terms than distinct words.
        terms = min(_grown([int((some >= low).sum()) for some in (quarter, half, found)], grow) for low in (least, 1))
        entries = (found[common].sum() + found[~common].sum() * (1.0 - grow**-0.3)) * grow
    except InputError:  # no terms
        counted, terms, entries = None, 0.0, 0.0
    sizes = Sizes(n, total, entries, min(terms, entries), held=held, cleaned=_cleaned_share(prepared, texts))
    some = slice(0, None, max(1, len(every) // SAMPLE))
    if request.kernel.reads_only_texts:
        return sizes, texts[some]
    return sizes, None if counted is None or request.kernel.inputs != ("terms",) else counted[some]


def _cleaned_share(prepared: Any, texts: list[str]) -> float:
    """Return the share of the text that cleaning leaves, where it changes any."""
    if not prepared.dropped.documents:
        return 0.0
    return sum(map(len, prepared.texts)) / max(sum(map(len, texts)), 1)


def _of_rows(X: Any) -> tuple[Sizes, Any]:
    """Return the sizes of a matrix, and some rows."""
    n, m = X.shape
    every = np.unique(np.linspace(0, n - 1, min(n, SAMPLE)).astype(np.intp))
    rows = X.tocsr()[every] if is_sparse(X) else np.asarray(X)[every]
    entries = float(X.nnz if is_sparse(X) else n * m)
    return Sizes(n, 0, entries, m, sparse=is_sparse(X), itemsize=max(X.dtype.itemsize, 4)), rows


def shape_of(kernel: Kernel, sample: Any, sizes: Sizes) -> Shape:
    """Return what the Gram of all documents would be, from the costs of a Gram of some of them."""
    n, rank = sizes.documents, min(kernel.rank(spare=True), sizes.documents)
    if sample is None and kernel.is_precomputed:
        return Shape(0.0, 0.0, False, float(n * n), 8, rank)
    if sample is None:  # inputs that are still to be made, such as embeddings
        width = rank + DIMENSIONS if sizes.pieces else rank or 400.0
        return Shape(width, width * n, False, 0.0, 8, rank, below=WorkUnits(sparse=2 * sizes.entries))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The Gram is indefinite", UserWarning)  # so few documents tell nothing
        gram = kernel.gram(sample).split_shift()[0]
        plain = kernel.source.gram(sample)
    explicit, strings, itemsize = gram.features(), kernel.reads_only_texts, gram.dtype.itemsize
    grow = n / len(gram)
    if explicit is None:
        return Shape(0.0, 0.0, False, gram.cost().whole * grow**2, itemsize, strings=strings)
    if is_sparse(explicit.rows):
        width = _substrings(kernel, sample, grow) if strings else sizes.terms or explicit.rows.shape[1]
        return Shape(width, explicit.entries * grow, True, 0.0, itemsize, strings=strings)
    width, each = float(rank or explicit.rows.shape[1]), plain.cost().whole / len(gram) ** 2
    dense = plain.features() is None
    stored = dense and may_keep(n * n * plain.dtype.itemsize)
    below = WorkUnits(passes=2.0 * n * n) if stored else WorkUnits(functions=each * n * n)
    if not dense:
        below = WorkUnits(sparse=plain.cost().product * grow)
    return Shape(width, n * width, False, 0.0, itemsize, rank, kernel.has_landmarks, strings, each, below, stored)
