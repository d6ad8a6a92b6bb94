"""The model behind a prediction: what every step of a clustering keeps, needs beside that, and takes.

Each term names the arrays it stands for, and its factor is their bytes per entry. `lab/promises` compares the sum with
measured peaks (`limits-memory`). Time is counted in multiplications and bytes of text at the speed of this machine, and
is rough: half or twice as much is usual.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from .._config import settings
from .._parallel import thread_count
from ..describe.reading import LONGEST
from ..describe.wording import FEWEST_READ, MOST_READ, READ_IN_ALL
from ..persist.run import EXCERPT
from ..select.evidence import DOCUMENTS, DRAWS
from ..select.levels import CHECKED_AT, CHECKED_DOCUMENTS, MOST_CHECKED
from .find.graphs import MOST_GRAPHED
from .find.methods import CUTS
from .find.validation import FEWEST_SPLITS, READ_IN_SPLITS, STABILITY_SPLITS
from .given.effort import Effort
from .speed import Speed, machine_speed
from .tell.layout import LARGEST, REPRESENTATIVES

VIEWS = (15, 30, 45)  # components of the views of a consensus
VIEW_STARTS = 12  # of all views
PRODUCTS = 200  # with a vector, that the leading components cost
ITERATIONS = 12  # of k-means
LEAVES, SMALLEST = 4, 10  # parts of a cluster in the tree, and documents of each
LEXICON = 14e6  # bytes: stop words, stemmers and tables of languages, loaded with the first text


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
    product, whole : float
        Multiplications of a product with a vector, and of all similarities.
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
    below : float
        Multiplications of a product below the components.
    below_dense, below_stored : bool
        Whether that is a product with a matrix, and whether it is stored.
    """

    width: float
    entries: float
    sparse: bool
    product: float
    whole: float
    itemsize: int
    rank: int = 0
    landmarks: bool = False
    strings: bool = False
    each: float = 1.0
    below: float = 0.0
    below_dense: bool = False
    below_stored: bool = False

    @property
    def feature_bytes(self) -> float:
        """Bytes of the features."""
        return (4.0 + self.itemsize) * self.entries if self.sparse else 8.0 * self.entries

    def stored(self, n: int) -> bool:
        """Return whether the matrix is stored, as `gram.plan` decides: without features, in a quarter of the budget."""
        return self.width == 0 and n * n * self.itemsize <= settings().memory // 4


@dataclass(frozen=True)
class Step:
    """A step: what it keeps, the most it needs beside that, and its seconds.

    Attributes
    ----------
    name : str
    kept, beside : float
        Bytes.
    seconds : float
    """

    name: str
    kept: float
    beside: float
    seconds: float


@dataclass(frozen=True)
class Work:
    """What is to be done.

    Attributes
    ----------
    sizes : Sizes
    shape : Shape
    method : str
    effort : Effort
    k : int
    given : bool
        Whether k is given; otherwise it is chosen first.
    """

    sizes: Sizes
    shape: Shape
    method: str
    effort: Effort
    k: int
    given: bool

    @property
    def n(self) -> int:
        """Number of documents."""
        return self.sizes.documents

    @property
    def matrix(self) -> float:
        """Bytes of storing the whole matrix: the matrix, and the block that it is copied from."""
        return 2.0 * self.n**2 * self.shape.itemsize if self.shape.stored(self.n) else 0.0

    @property
    def product(self) -> float:
        """Multiplications of a product with a vector, once the matrix is stored if it is."""
        return float(self.n**2) if self.matrix else self.shape.product

    def seconds(self, products: float, speed: Speed) -> float:
        """Return the seconds of some products with a vector."""
        rate = speed.stream if self.shape.width else speed.flat / 2 if self.matrix else speed.function
        return products * self.product / rate

    @property
    def similarities(self) -> float:
        """Bytes of the similarities of all documents to all centroids."""
        return 8.0 * self.n * self.k

    @property
    def bounds(self) -> float:
        """Bytes of the bounds that tell which documents cannot move, for every thread."""
        size = 4.0 * self.n * (self.k + 8) * thread_count()
        return size if size <= settings().memory // 4 else 0.0


def predict_steps(work: Work) -> tuple[Step, ...]:
    """Return the steps of a clustering with their costs."""
    speed = machine_speed()
    steps = (_read, _compare, _look, _cluster, _measure, _describe, _draw)
    return tuple(step(work, speed) for step in steps)


def _read(work: Work, speed: Speed) -> Step:
    """Turn texts to terms, or put rows in canonical order."""
    sizes, n, z = work.sizes, work.n, work.sizes.entries
    if sizes.collected:
        return Step("reading", 0.0, 0.0, 0.0)
    if not sizes.bytes:
        return Step("reading", (sizes.itemsize + 4.0 * sizes.sparse) * z, 16.0 * n, n * 1e-6 + z / speed.stream)
    texts = 0.0 if sizes.held else 1.1 * sizes.bytes + 64.0 * n  # UTF-8, with room to grow; offsets and ids
    cleaned = sizes.bytes * sizes.cleaned
    # Weighted counts, 12 bytes an entry and a third of that left in the heap; names, groups and order of documents;
    # the vocabulary with its written forms.
    kept = texts + cleaned + 16.0 * z + 48.0 * n + 250.0 * sizes.terms + LEXICON
    # Counts before they are weighted, sorted and put in order: 8, 12 and 7 bytes an entry.
    return Step("reading", kept, 27.0 * z, sizes.bytes / speed.text)


def _compare(work: Work, speed: Speed) -> Step:
    """Learn the kernel: components, landmarks or substrings, if any."""
    shape, n = work.shape, work.n
    if shape.strings and shape.width:
        # The suffix array, its intervals and the substrings that they stand for: some 60 bytes a character, and 21 more
        # while suffixes are sorted.
        size = float(work.sizes.bytes)
        return Step("the kernel", shape.feature_bytes + 61.0 * size, 21.0 * size, 1e-6 * size * speed.slower)
    if shape.landmarks:
        m = shape.rank
        seconds = n * m * (shape.each / speed.function + m / speed.product)
        return Step("the kernel", 8.0 * n * m, 40.0 * m * m, seconds)
    if shape.rank:
        # Features and what maps new documents to them, at the rank of the kernel and of its views.
        kept = 16.0 * n * shape.rank * 5 / 3
        beside = 8.0 * n * (2 * shape.rank + 1) + (2.0 * 8 * n * n if shape.below_stored else 0.0)  # Lanczos's basis
        rate = speed.stream if not shape.below_dense else speed.flat / 2 if shape.below_stored else speed.function
        return Step("the kernel", kept, beside, _eigen(n, shape.rank, shape.below / rate, speed))
    return Step("the kernel", 0.0, 0.0, 0.0)


def _eigen(n: int, rank: float, product: float, speed: Speed) -> float:
    """Return the seconds of some leading eigenpairs: products of so many seconds, and an orthogonal basis."""
    return max(PRODUCTS, 3.0 * rank) * (product + 8.0 * n * max(32.0, rank) / speed.flat)


def _look(work: Work, speed: Speed) -> Step:
    """Look for groups in a sample, compared with data without groups."""
    if work.given and not work.effort.stability:
        return Step("looking for groups", 0.0, 0.0, 0.0)
    shape, sizes = work.shape, work.sizes
    some = min(work.n, CHECKED_DOCUMENTS if work.given else DOCUMENTS)
    rows = 30e6 + 8.0 * some * some * (shape.width == 0)
    # Collections without groups, one for each thread: columns, weights and their orders, or rows in double precision.
    sparse, entries = (
        (shape.sparse, shape.entries) if shape.strings or not sizes.entries else (sizes.sparse, sizes.entries)
    )
    rows += min(thread_count(), DRAWS) * (60.0 if sparse else 24.0) * entries * some / max(work.n, 1)
    if shape.sparse and shape.width:  # sums of twice as many small clusters, also transposed; and those of k-means
        most = max(*CHECKED_AT, min(work.k, MOST_CHECKED)) if work.given else 2.0 * some**0.5
        rows += thread_count() * (2 * 16.0 + 12.0) * most * shape.width
    return Step(
        "looking for groups",
        0.0,
        rows,
        (1.0 if work.given else 8.0) * (0.3 + min(some, CHECKED_DOCUMENTS) / 2000) * speed.slower,
    )


def _cluster(work: Work, speed: Speed) -> Step:
    """Run the method; a Gram without features is compared with itself as a whole."""
    n, k, shape, splits = work.n, work.k, work.shape, work.effort
    name = "comparing all pairs" if shape.width == 0 else "clustering"
    rank = min(shape.width or n, max(VIEWS))
    fitted = _engine(work)
    # Without features all starts share a pass over the similarities; a start on a stored matrix reads it a few times.
    passes = (
        splits.n_init * k * ITERATIONS / 2 if shape.width else 6.0 * splits.n_init if work.matrix else 2.0 * ITERATIONS
    )
    seconds = work.seconds(passes, speed)
    if work.method == "consensus":
        views = 16.0 * n * sum(VIEWS) + 4.0 * n * max(VIEWS)  # features and maps of every view; single precision
        views += 16.0 * n * VIEW_STARTS
        graph = (480.0 + 8.0 * (2 * 45 + 1)) * n if n <= MOST_GRAPHED else 0.0  # links, and Lanczos's basis
        kept = 680.0 * n  # the partitions of all views, as labels and as columns
        seconds = VIEW_STARTS * ITERATIONS * n * k * rank / speed.flat / 4 + n * 1e-5 * speed.slower
        seconds += n * min(n, MOST_GRAPHED) * 30.0 / speed.product if graph else 0.0
        if not shape.rank or shape.landmarks:  # components of a kernel that has none of its own
            seconds += _eigen(n, rank, work.seconds(1, speed), speed)
            seconds += shape.whole / speed.function if work.matrix else 0.0
        beside = max(views + graph + work.bounds + fitted + work.matrix, _agreements(work))
        return Step(name, kept, beside, seconds)
    if work.method == "kernel-kmeans":
        graph = 1200.0 * n if n <= MOST_GRAPHED else 0.0
        seconds += n * min(n, MOST_GRAPHED) * 30.0 / speed.product if graph else 0.0
        return Step(name, 40.0 * n, graph + work.bounds + fitted + work.matrix, seconds)
    vectors = 8.0 * n * (65 if work.method in ("pddp", "bisecting") else 2 * k + 1 + 3 * k)
    seconds = _eigen(n, k, work.seconds(1, speed), speed)
    return Step(name, 40.0 * n, vectors + fitted + work.matrix, seconds)


def _agreements(work: Work) -> float:
    """Return the bytes of how often every two documents are together; `gram.plan` stores that for many clusters."""
    n, k, starts = work.n, work.k, work.effort.n_init
    partitions = VIEW_STARTS * (1.5 if n <= MOST_GRAPHED and k <= CUTS else 1.0)
    stored, passed = (2.0 * partitions + 6.0 * starts) * n, 15.0 * k * starts * partitions  # for each document
    return 8.0 * n * n + work.bounds if stored < passed and 8.0 * n * n <= settings().memory // 4 else 0.0


def _engine(work: Work) -> float:
    """Return the bytes of k-means over features: the documents in single precision, and the sums of the clusters."""
    shape, k = work.shape, work.k
    if shape.sparse:
        return 8.0 * shape.entries + 12.0 * k * shape.width * thread_count()
    return 0.5 * shape.feature_bytes + 12.0 * k * shape.width * thread_count()


def _measure(work: Work, speed: Speed) -> Step:
    """Make the partitions of the levels and the centroids; measure stability on halves."""
    n, k, shape = work.n, work.k, work.shape
    around = 3.0 * work.similarities + work.matrix / 2  # sums by group of the finer level
    comparing = work.seconds(12.0 if shape.width else 60.0, speed)
    if not work.effort.stability or n < 4 * k:
        return Step("measuring", work.similarities, around, comparing)
    splits = min(work.effort.n_splits, STABILITY_SPLITS, max(FEWEST_SPLITS, READ_IN_SPLITS // max(n, 1)))
    runs = 6.0 * splits  # two halves, three starts
    starts = min(12.0 * runs * n, 2.0**28)
    # Rows of two halves and of the one being read, for k-means++; sparse ones through an inverted index.
    halves = 8.0 * shape.entries if shape.sparse else 1.5 * shape.feature_bytes
    seconds = comparing + runs * ITERATIONS * n * k * (shape.entries / n or n / 4) / speed.flat / 8
    if shape.width == 0:
        seconds += shape.whole / speed.function if work.matrix else work.seconds(2.0 * ITERATIONS, speed)
    beside = max(around, starts + work.bounds + _engine(work) + halves + work.matrix)
    return Step("measuring", work.similarities, beside, seconds)


def _describe(work: Work, speed: Speed) -> Step:
    """Collect evidence, names, the tree and near-duplicates; predict the documents again."""
    sizes, n, k, shape = work.sizes, work.n, work.k, work.shape
    evidence = 4.0 * work.similarities  # squared distances, without the nearest, and two of them sorted
    leaves = min(LEAVES * k, max(k, n // SMALLEST))
    read = min(n, max(min(READ_IN_ALL, MOST_READ * k), FEWEST_READ * leaves))
    characters = read * min(LONGEST, sizes.bytes / max(n, 1))
    # Scores of the terms that occur in each node of the tree, sparse, and the arrays that they are computed from.
    occur = min(0.6 * sizes.terms * leaves, sizes.entries * (1.0 + math.log2(leaves)))
    named = 48.0 * occur + 16.0 * k * sizes.terms if sizes.bytes else 0.0
    again = (
        (18.0 * sizes.entries + 24.0 * n * (min(shape.width, 45.0) + k)) if shape.rank and not shape.landmarks else 0.0
    )
    if not shape.rank and shape.width:
        again = shape.feature_bytes + 24.0 * n * k
    kept = 8.0 * sizes.entries * (sizes.bytes > 0) + n * (60.0 + min(EXCERPT, sizes.bytes / max(n, 1)))
    seconds = characters / speed.text * 12 + 6.0 * leaves * 1e-3 * speed.slower + n * 2e-5 * speed.slower
    seconds += work.seconds(3.0 if shape.width else 30.0, speed)
    return Step("describing", kept, max(evidence, named + 8.0 * characters, again), seconds)


def _draw(work: Work, speed: Speed) -> Step:
    """Draw the map; build the run and its page."""
    n, shape = work.n, work.shape
    laid = min(n, LARGEST if n <= LARGEST else REPRESENTATIVES)
    # Neighbours and distances, then links in both directions with their weights; the rest among representatives.
    layout = 2000.0 * laid + (320.0 * n if n > LARGEST else 0.0) + work.matrix
    layout += 0.5 * shape.feature_bytes * laid / n + (shape.feature_bytes * laid / n if n > LARGEST else 0.0)
    page = 4.0 * n * (60.0 + min(EXCERPT, work.sizes.bytes / max(n, 1)))
    compared = float(laid) ** 2 + (n - laid) * 1000.0
    seconds = compared * min(shape.width or 1.0, 60.0) / speed.product + n * 1e-4 * speed.slower
    if shape.width == 0:
        seconds += _eigen(n, 2, work.seconds(1, speed), speed) / 3 + shape.whole / speed.function
    return Step("drawing", 0.0, max(layout, page), seconds)
