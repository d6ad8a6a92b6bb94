"""Kernel and Transform: parameters without data. ``str()`` returns the spelling, ``gram`` fits to a collection."""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .._array import Array, Index, is_sparse, row_squares, take_rows
from .._check import check_vectors
from ..errors import InputError
from ..gram import Collection, FunctionGram, Gram
from ..gram.sources import SourceGram
from .spelled import Spelled

DEFAULT_INPUTS = {"vectors": "terms", "strings": "text", "gram": "gram"}  # read unless one is named, by what it takes


class Transform(Spelled, ABC):
    """A transform of a Gram, such as ``shift``. Calling it with a Gram fits it and returns the new Gram.

    Attributes
    ----------
    learns : bool
        Whether it learns from the collection, so that a document's self-similarity depends on the others.
    divides : bool
        Whether it divides by self-similarities: a document whose self-similarity is 0 has nothing to compare.
    keeps_zero : bool
        Whether a self-similarity of 0 stays 0.
    has_landmarks : bool
        Whether it compares all documents with a few of them.
    takes_negative : bool
        Whether it is defined for similarities below 0.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.gram import LinearGram
    >>> from grampus.kernels import Normalise
    >>> Normalise(1)(LinearGram(np.array([[1.0], [2.0]]))).dense()
    array([[1. , 0.8],
           [0.8, 1. ]])
    """

    learns: ClassVar[bool] = True
    divides: ClassVar[bool] = False
    keeps_zero: ClassVar[bool] = False
    has_landmarks: ClassVar[bool] = False
    takes_negative: ClassVar[bool] = True

    @abstractmethod
    def __call__(self, gram: Gram) -> Gram:
        """Fit to a Gram and return the transformed one."""

    def _components(self, spare: bool) -> int:
        """Return how many components it keeps, or computes if `spare`; 0 for all."""
        return 0

    def for_clusters(self, k: int, spare: int = 0) -> Transform:
        """Return the transform with the parameters that follow k filled in; see ``Kernel.for_clusters``."""
        return self


class Kernel(Spelled, ABC):
    """Parameters and a function of two collections.

    Your own kernel is a frozen dataclass with a ``name``, ``_cross`` and ``_diagonal``; decorated with ``register``,
    it can be spelled like the others. ``kernel | transform`` composes, ``+`` and ``*`` combine kernels, and
    ``kernel.at("embedding")`` names the input that it reads.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.kernels import Linear, Shift
    >>> kernel = Linear() | Shift()
    >>> str(kernel)
    'linear|shift'
    >>> kernel.gram(np.eye(2)).dense()
    array([[0., 0.],
           [0., 0.]])
    """

    __array_ufunc__ = None  # numbers of NumPy leave * to the kernel
    _combine: ClassVar[Callable[[Kernel, str, Any], Any]]  # set by algebra.py, whose classes derive from this one
    _binds: ClassVar[int] = 3
    """How tightly the spelling holds together: 0 a sum, 1 a product, 2 a chain of transforms, 3 a name."""

    takes: ClassVar[str] = "vectors"
    """Type of the collection: ``"vectors"``, ``"strings"``, ``"gram"`` for a given matrix, or ``"mixed"``."""

    # -- required of a plain kernel

    @abstractmethod
    def _cross(self, new: Any, fitted: Any) -> Array:
        """Return the dense similarities of two collections, both as ``_collect`` returns them."""

    @abstractmethod
    def _diagonal(self, new: Any) -> Array:
        """Return K(x, x) for every document x of a collection."""

    # -- derived; override where a kernel has structure

    def _collect(self, documents: Any) -> Any:
        """Check a collection and convert it to the form that ``_cross`` takes: here, a float matrix."""
        return check_vectors(documents)

    def _gram(self, fitted: Any) -> SourceGram:
        """Return the Gram of what ``_collect`` returned; its source stores that as ``collection``."""
        return FunctionGram(self._cross, fitted, self._diagonal)

    def _collect_new(self, new: Any, fitted: Any) -> Any:
        """Check new documents against the fitted ones."""
        new = check_vectors(new, "new documents", rows=0)
        if new.shape[1] != fitted.shape[1]:
            raise InputError(
                f"New documents must have the {fitted.shape[1]} columns of the fitted ones; got {new.shape[1]}. "
                "Transform them with the same fitted vocabulary."
            )
        return new

    def _pick(self, documents: Any) -> Any:
        """Return the input that this kernel reads; a collection without names is that of kernels that name none."""
        if is_sparse(documents) or not isinstance(documents, Mapping):  # an old sparse array may be a dict itself
            return documents
        name = self.inputs[0]
        if name not in documents:
            held = ", ".join(map(repr, documents)) or "none"
            raise InputError(f"kernel '{self}' reads the input {name!r}; the documents have {held}.")
        return documents[name]

    def _learned(self) -> list[str]:
        """Return the names of the transforms that learn from the collection."""
        return [transform.name for transform in self.transforms if transform.learns]

    def _parts(self, new: Any, rows: int) -> Iterator[Any]:
        """Split what ``_collect_new`` returned into pieces of `rows` documents."""
        count = new.shape[0] if hasattr(new, "shape") else len(new)
        for start in range(0, count, rows):
            yield take_rows(new, slice(start, min(start + rows, count)))

    def _unreduced(self, transforms: tuple[Transform, ...]) -> Kernel:
        """Return the plain kernel with transforms; see ``unreduced``."""
        return reduce(operator.or_, transforms, self)

    def _empty(self, documents: Any, transforms: tuple[Transform, ...], from_texts: bool) -> NDArray[np.bool_]:
        """Return which documents have nothing to compare for this kernel, followed by transforms; see ``empty``."""
        rows = self._pick(documents)
        none = np.zeros(rows.shape[0] if hasattr(rows, "shape") else len(rows), dtype=bool)
        if self.takes != "vectors" or not len(none):
            return none
        zero = row_squares(rows) == 0
        if not zero.any():
            return none
        counted = (from_texts and self.inputs == ("terms",)) or self.inputs == ("components",)
        return zero if counted or self._divides_by_zero(rows[np.flatnonzero(zero)[:1]], transforms) else none

    def _divides_by_zero(self, row: Any, transforms: tuple[Transform, ...]) -> bool:
        """Return whether transforms normalise this row of zeros at a point where its self-similarity is 0."""
        if self._diagonal(self._collect(row))[0] != 0:
            return False
        for transform in transforms:
            if transform.divides or not transform.keeps_zero:
                return transform.divides
        return False

    @property
    def inputs(self) -> tuple[str, ...]:
        """The inputs of a corpus that the kernel reads, without repetition."""
        return (DEFAULT_INPUTS[self.source.takes],)

    @property
    def reads_names(self) -> bool:
        """Whether documents must be a dict of inputs by name, since a name tells which is read where."""
        return self.inputs != (DEFAULT_INPUTS.get(self.source.takes),)

    @property
    def reads_only_texts(self) -> bool:
        """Whether it compares texts as strings and reads nothing else."""
        return self.source.takes == "strings"

    @property
    def is_precomputed(self) -> bool:
        """Whether similarities are given: the documents are a Gram matrix."""
        return self.source.takes == "gram"

    @property
    def parts(self) -> tuple[Kernel, ...]:
        """The kernels that are added or multiplied; none for a plain kernel."""
        return ()

    @property
    def has_landmarks(self) -> bool:
        """Whether a transform at the end of the chain compares documents with landmarks only."""
        return any(transform.has_landmarks for transform in self.transforms)

    @property
    def ignores_origin(self) -> bool:
        """Whether moving all rows by the same vector leaves the centred Gram as it is."""
        return False

    @property
    def of_products(self) -> Callable[[Array], Array] | None:
        """The function of the inner product of two rows that the kernel is; None if it is none."""
        return None

    @property
    def source(self) -> Kernel:
        """The kernel at the head of a chain: a plain one, or a sum or product."""
        return self

    @property
    def plain(self) -> Kernel:
        """The similarities at the head of a chain; the source need not be similarities (``selftuning``)."""
        return self.source

    @property
    def transforms(self) -> tuple[Transform, ...]:
        """The transforms that follow the plain kernel."""
        return ()

    # -- public

    def __or__(self, transform: Transform) -> Kernel:
        if not isinstance(transform, Transform):
            return NotImplemented
        return Piped(self, (transform,))

    def __add__(self, other: Any) -> Kernel:
        return self._combine("+", other)

    def __mul__(self, other: Any) -> Kernel:
        return self._combine("*", other)

    __rmul__ = __mul__

    def at(self, name: str) -> Kernel:
        """Return the kernel that reads another input of a corpus, spelled ``kernel@name``.

        Parameters
        ----------
        name : str
            Such as ``"embedding"``.

        Examples
        --------
        >>> from grampus.kernels import Cosine
        >>> str(Cosine() + 0.5 * Cosine().at("embedding"))
        'cosine + 0.5 * cosine@embedding'
        """
        return self._combine("@", name)

    def for_clusters(self, k: int, spare: int = 0) -> Kernel:
        """Return the kernel with the parameters that follow k filled in, such as ``principal(auto)``.

        Parameters
        ----------
        k : int
            Number of clusters.
        spare : int
            Where the kernel keeps some components, compute as many at once, for ``grampus.gram.at_rank``. The kernel
            and its Gram stay the same.

        Examples
        --------
        >>> from grampus import parse_kernel
        >>> str(parse_kernel("cosine|principal(auto)").for_clusters(50))
        'cosine|principal(50)'
        """
        return self

    def rank(self, *, spare: bool = False) -> int:
        """Return the most components or landmarks that any part of the kernel keeps; 0 if none is reduced.

        Parameters
        ----------
        spare : bool
            Count components that are computed on the side, too; see ``for_clusters``.

        Examples
        --------
        >>> from grampus import parse_kernel
        >>> [parse_kernel(spelling).rank() for spelling in ("cosine|principal(50)|normalise", "cosine|shift")]
        [50, 0]
        """
        below = [part.rank(spare=spare) for part in self.source.parts]
        return max([*below, *(transform._components(spare) for transform in self.transforms)], default=0)

    def shares(self) -> dict[str, float]:
        """Return the weight of every input in a sum of kernels; nothing for a kernel that is no such sum."""
        return {}

    def unreduced(self, *transforms: Transform) -> Kernel:
        """Return the kernel without the transforms of its parts, and others in their place.

        Parameters
        ----------
        *transforms : Transform
            Follow every plain kernel instead of what follows it now, such as components and shifts.

        Examples
        --------
        >>> from grampus import parse_kernel
        >>> from grampus.kernels import Normalise
        >>> kernel = parse_kernel("0.5 * cosine|principal(30)|normalise + 0.5 * gaussian(1)@vectors")
        >>> str(kernel.unreduced(Normalise()))
        '0.5 * linear|normalise + 0.5 * gaussian(1)@vectors|normalise'
        """
        return self.plain._unreduced(transforms)

    def empty(self, documents: Any, *, from_texts: bool = False) -> NDArray[np.bool_]:
        """Return which documents have nothing to compare: rows of zeros, if zeros mean that.

        They do for terms of texts, and under a kernel that compares directions (``cosine``). Elsewhere, as for
        embeddings under ``gaussian`` or ``linear``, the origin is a point like any other. In a sum, all parts must have
        nothing to compare; in a product, one.

        Parameters
        ----------
        documents : collection
            As for ``gram``.
        from_texts : bool
            Whether rows of terms were counted in texts.

        Examples
        --------
        >>> import numpy as np
        >>> from grampus.kernels import Cosine, Gaussian
        >>> rows = np.array([[1.0], [0.0]])
        >>> Cosine().empty(rows).tolist(), Gaussian(1).empty(rows).tolist()
        ([False, True], [False, False])
        """
        return self.source._empty(documents, self.transforms, from_texts)

    def as_new(self, documents: Any, index: Index) -> Any:
        """Return some of the fitted documents in the form of new ones.

        Parameters
        ----------
        documents : collection
            As for ``gram``.
        index : array of int or slice
            Which of them.
        """
        rows = take_rows(documents, index)
        return (rows, documents.diagonal()[index]) if self.is_precomputed else rows

    def knows_diagonal(self, new: Any) -> bool:
        """Return whether the self-similarities of new documents are known: for given similarities, if they come along.

        Parameters
        ----------
        new : collection
            New documents; with given similarities, these or the pair (similarities, self-similarities).
        """
        return not self.is_precomputed or isinstance(new, tuple)

    def gram(self, documents: Any, collection: Collection | None = None) -> Gram:
        """Fit to a collection (a matrix, or strings for a string kernel) and return its Gram.

        Parameters
        ----------
        documents : array, sparse matrix, list of str, or dict of these
            The collection; in a dict, by the names of the inputs that kernels read, such as ``"embedding"``.
        collection : Collection, optional
            The names of the documents, if they are already known; otherwise computed from their content.
        """
        gram: Any = self.source._gram(self.source._collect(self.source._pick(documents)))
        gram.kernel = self.source
        if collection is not None:
            gram.named(collection)
        for transform in self.transforms:
            gram = transform(gram)
        return gram

    def extend(self, new: Any, gram: Gram) -> tuple[Array, Array | None]:
        """Compare new documents with those of a Gram that this kernel made.

        Parameters
        ----------
        new : collection of m documents
        gram : Gram
            What ``gram`` returned for the fitted documents.

        Returns
        -------
        cross : array of shape (m, n)
        diagonal : array of shape (m,), or None if it is unknown (a precomputed kernel without it)
        """
        root = gram._root()
        if getattr(root, "kernel", None) != self.source:
            raise InputError(f"gram must have been made by this kernel, '{self}'; it was made by another, or by hand.")
        return gram._compared(root._collect_new(new))

    def cross(self, new: Any, documents: Any) -> Array:
        """Return the similarities of new documents to a collection, shape (m, n), after fitting to the collection.

        Parameters
        ----------
        new : array, sparse matrix or list of str
            New documents: the rows.
        documents : array, sparse matrix or list of str
            The collection: the columns.
        """
        return self.extend(new, self.gram(documents))[0]

    def diagonal(self, new: Any) -> Array:
        """Return the self-similarities of documents, for kernels that learn nothing from a collection.

        Parameters
        ----------
        new : array, sparse matrix or list of str
            Documents.
        """
        learned = self._learned()
        if learned:
            raise InputError(
                f"Under '{learned[0]}' a document's self-similarity depends on the fitted collection; "
                "use kernel.extend(new, gram) instead of kernel.diagonal(new)."
            )
        return self.gram(new).diagonal()


@dataclass(frozen=True)
class Piped(Kernel):
    """A kernel followed by transforms, written ``kernel|transform|…``; made by ``kernel | transform``.

    Examples
    --------
    >>> from grampus.kernels import Cosine, Map, Shift
    >>> kernel = Cosine() | Shift() | Map()
    >>> [str(transform) for transform in kernel.transforms]
    ['normalise', 'shift', 'map']
    """

    _binds: ClassVar[int] = 2
    head: Kernel
    tail: tuple[Transform, ...]

    def __str__(self) -> str:
        return "|".join([spell_inside(self.head, self._binds), *map(str, self.tail)])

    def __or__(self, transform: Transform) -> Kernel:
        if not isinstance(transform, Transform):
            return NotImplemented
        return Piped(self.head, (*self.tail, transform))

    @property
    def source(self) -> Kernel:
        """The plain kernel at the head."""
        return self.head.source

    @property
    def plain(self) -> Kernel:
        """The similarities at the head."""
        return self.head.plain

    @property
    def transforms(self) -> tuple[Transform, ...]:
        """The transforms, those inside the head first."""
        return self.head.transforms + self.tail

    @property
    def inputs(self) -> tuple[str, ...]:
        """The inputs of the head."""
        return self.head.inputs

    @property
    def parts(self) -> tuple[Kernel, ...]:
        """The kernels that the head adds or multiplies."""
        return self.head.parts

    def for_clusters(self, k: int, spare: int = 0) -> Kernel:
        """Return the chain with the parameters that follow k filled in."""
        return Piped(self.head.for_clusters(k, spare), tuple(one.for_clusters(k, spare) for one in self.tail))

    def _learned(self) -> list[str]:
        return self.head._learned() + [transform.name for transform in self.tail if transform.learns]

    def _cross(self, new: Any, fitted: Any) -> Array:
        return self.source._cross(new, fitted)

    def _diagonal(self, new: Any) -> Array:
        return self.source._diagonal(new)


def spell_inside(kernel: Kernel, binds: int) -> str:
    """Return the spelling of a kernel inside another, in parentheses where it binds less tightly."""
    return str(kernel) if kernel._binds >= binds else f"({kernel})"


def ones(documents: Any) -> Array:
    """Return 1 for every row: the self-similarities of a kernel that depends on distances."""
    return np.ones(documents.shape[0], dtype=documents.dtype)
