"""The work of a clustering: what is known of its documents and their Gram, and the units that its cost is counted in.

The cost of a stage stands next to it in `pipeline`, that of a method is asked of the method. Each term names the arrays
it stands for, and its factor is their bytes per entry; `lab/promises` compares the sum with measured peaks
(`limits-memory`). One table of rates turns units of work into seconds, which are rough: half or twice as much is usual.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import astuple, dataclass
from functools import cache
from time import perf_counter, process_time, thread_time
from timeit import repeat
from typing import Any

import numpy as np

from .._config import may_keep
from .._parallel import thread_count
from ..gram.graph import PRODUCTS
from .given.effort import Effort

ITERATIONS = 12  # of k-means, about
PACED = 0.1  # seconds of work that tell how busy the machine is
ARRAYS, TEXTS = 0.004, 0.020  # seconds that the two measurements take where the rates were measured


@dataclass(frozen=True)
class WorkUnits:
    """Units of work by kind, or how many of each are done in a second.

    Attributes
    ----------
    products, passes, sparse, functions : float
        Multiplications of matrix products, of passes over vectors, of sparse products, and inside a function of two
        documents such as the Gaussian kernel.
    text : float
        Bytes of text that are cleaned, counted and weighted.
    python : float
        Steps of Python.
    pieces : float
        Word pieces that are encoded.
    """

    products: float = 0.0
    passes: float = 0.0
    sparse: float = 0.0
    functions: float = 0.0
    text: float = 0.0
    python: float = 0.0
    pieces: float = 0.0

    def __add__(self, other: WorkUnits) -> WorkUnits:
        return WorkUnits(*(one + more for one, more in zip(astuple(self), astuple(other), strict=True)))

    def __mul__(self, times: float) -> WorkUnits:
        return WorkUnits(*(times * one for one in astuple(self)))

    @property
    def seconds(self) -> float:
        """Processor time on this machine."""
        return sum(one / rate for one, rate in zip(astuple(self), astuple(machine_rates()), strict=True))

    @property
    def wall(self) -> float:
        """Time on this machine where nothing else runs: Python and its work on texts take one core, the rest all."""
        alone = WorkUnits(text=self.text, python=self.python).seconds
        return alone + (self.seconds - alone) / thread_count()


RATES = WorkUnits(products=5e9, passes=2e9, sparse=4e8, functions=2.5e9, text=8e6, python=1e6, pieces=2e4)  # a second


@cache
def machine_rates() -> WorkUnits:
    """Return the rates of this machine, from a tenth of a second of work of each kind; once for each process.

    Examples
    --------
    >>> from grampus.documents.work import machine_rates
    >>> machine_rates().products > machine_rates().sparse
    True
    """
    arrays, texts = ARRAYS / _fastest(_arrays), TEXTS / _fastest(_texts)
    speeds = 4 * (arrays,) + 2 * (texts,) + (arrays,)
    return WorkUnits(*(rate * speed for rate, speed in zip(astuple(RATES), speeds, strict=True)))


def present_pace() -> float:
    """Return wall time over processor time of a tenth of a second of work: 1 unless others use the processors."""
    wall, own = perf_counter(), thread_time()
    while thread_time() - own < PACED:
        _arrays()
    return max((perf_counter() - wall) / (thread_time() - own), 1.0)


def _fastest(work: Callable[[], object]) -> float:
    """Return the shortest of a few runs, in seconds; other processes can only make it longer."""
    return max(min(repeat(work, timer=process_time, repeat=4, number=1)), 1e-4)


def _arrays() -> object:
    """Multiply matrices, and pass over them with exp, as the kernels and k-means do."""
    x = np.linspace(0.0, 1.0, 256 * 256).reshape(256, 256)
    return np.exp(-(x @ x)).sum() + sum(float((x * y).sum()) for y in np.linspace(0.0, 1.0, 20))


def _texts() -> object:
    """Count the words of a text."""
    counts: dict[str, int] = {}
    for word in re.findall(r"\w+", " ".join(f"whale{i % 997} sea harbour" for i in range(12_000))):
        counts[word] = counts.get(word, 0) + 1
    return counts


@dataclass(frozen=True)
class Sizes:
    """What is known of the documents.

    Attributes
    ----------
    documents : int
        n.
    bytes : int
        Of the texts, in UTF-8; 0 without texts.
    entries, terms : float
        Stored entries and columns of the matrix of terms, or of the given matrix.
    collected : bool
        Whether the terms are counted already, and part of what the process has.
    held : bool
        Whether the texts are in a Corpus already.
    cleaned : float
        Share of the text that is stored again because it was cleaned.
    sparse, itemsize : bool and int
        Of a given matrix.
    pieces : float
        Word pieces that the encoder of meaning reads; 0 where it does not.
    """

    documents: int
    bytes: int
    entries: float
    terms: float
    collected: bool = False
    held: bool = True
    cleaned: float = 0.0
    sparse: bool = True
    itemsize: int = 8
    pieces: float = 0.0


@dataclass(frozen=True)
class Shape:
    """What a Gram of all documents would be, from one of a few.

    Attributes
    ----------
    width : float
        Columns of its explicit features; 0 if it has none.
    entries : float
        Stored entries of the features.
    sparse : bool
    whole : float
        Multiplications of all similarities, where there are no features.
    itemsize : int
        Bytes of an entry.
    rank : int
        Components or landmarks that must be learned; 0 if none.
    landmarks : bool
        Whether they are landmarks, found without eigenvectors of the whole.
    strings : bool
        Whether the features are substrings.
    each : float
        Multiplications of one similarity, below landmarks.
    below : WorkUnits
        Those of a product with a vector, below the components.
    below_stored : bool
        Whether that is a product with a stored matrix.
    """

    width: float
    entries: float
    sparse: bool
    whole: float
    itemsize: int
    rank: int = 0
    landmarks: bool = False
    strings: bool = False
    each: float = 1.0
    below: WorkUnits = WorkUnits()
    below_stored: bool = False

    @property
    def feature_bytes(self) -> float:
        """Bytes of the features."""
        return (4.0 + self.itemsize) * self.entries if self.sparse else 8.0 * self.entries


@dataclass(frozen=True)
class StageCost:
    """The cost of a stage.

    Attributes
    ----------
    name : str
        For the reader.
    kept, beside : float
        Bytes that it keeps, and the most it needs beside them.
    units : WorkUnits
    """

    name: str
    kept: float = 0.0
    beside: float = 0.0
    units: WorkUnits = WorkUnits()


@dataclass(frozen=True)
class Work:
    """What is to be done.

    Attributes
    ----------
    sizes : Sizes
    shape : Shape
    method : Method
        Which is asked for its cost.
    effort : Effort
    k : int
    given : bool
        Whether k is given; otherwise it is chosen first.
    """

    sizes: Sizes
    shape: Shape
    method: Any  # defined above this module
    effort: Effort
    k: int
    given: bool

    @property
    def n(self) -> int:
        """Number of documents."""
        return self.sizes.documents

    @property
    def matrix(self) -> float:
        """Bytes of storing the whole matrix, without features: the matrix, and the block that it is copied from."""
        size = self.n**2 * self.shape.itemsize
        return 2.0 * size if self.shape.width == 0 and may_keep(size) else 0.0

    @property
    def similarities(self) -> float:
        """Bytes of the similarities of all documents to all centroids."""
        return 8.0 * self.n * self.k

    @property
    def bounds(self) -> float:
        """Bytes of the bounds that tell which documents cannot move, for every thread."""
        size = 4.0 * self.n * (self.k + 8) * thread_count()
        return size if may_keep(size) else 0.0

    @property
    def engine(self) -> float:
        """Bytes of k-means over features: the documents in single precision, and the sums of the clusters."""
        shape = self.shape
        rows = 8.0 * shape.entries if shape.sparse else 0.5 * shape.feature_bytes
        return rows + 12.0 * self.k * shape.width * thread_count()

    def multiply(self, times: float) -> WorkUnits:
        """Return the units of some products with a vector, with the matrix once it is stored if it is."""
        if self.shape.width:
            return WorkUnits(sparse=2.0 * times * self.shape.entries)
        passes = 2.0 * times * self.n**2
        return WorkUnits(passes=passes) if self.matrix else WorkUnits(functions=times * self.shape.whole)

    def decompose(self, rank: float, product: WorkUnits) -> WorkUnits:
        """Return the units of some leading eigenpairs: products with a vector, and an orthogonal basis."""
        return (product + WorkUnits(passes=8.0 * self.n * max(32.0, rank))) * max(PRODUCTS, 3.0 * rank)
