"""Embedding by the smallest eigenvectors of a graph Laplacian of the similarities."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..._array import Array, inverse_root, scale_rows, unit_rows
from ..._check import check_choice, check_flag, check_integer
from ...errors import InputError
from ...gram import Gram, SparseGram, eigenpairs, neighbour_graph, require_gram
from ...gram.graph import GraphOperator, components, degrees, nearest, positive_part

LAPLACIANS = ("random-walk", "symmetric", "unnormalised")
PLANE = 2  # coordinates of a plot


@dataclass(frozen=True)
class SpectralEmbedding:
    """Documents embedded by the smallest eigenvectors of a graph Laplacian.

    Attributes
    ----------
    coordinates : array of shape (n, l)
        One row per document; 0 for those without links.
    eigenvalues : array of shape (l,)
        Of the Laplacian, smallest first.
    plane : array of shape (n, 2)
        The first two coordinates after the constant one, for plots.
    laplacian : str
        ``"random-walk"``, ``"symmetric"`` or ``"unnormalised"``.
    method : str
        How the eigenvectors were computed; see ``grampus.gram.eigenpairs``. ``"known"`` if all were known.
    degrees : array of shape (n,)
        Row sums of the graph.
    components : array of shape (n,)
        Connected component of every document, by size.
    isolated : array of int
        Documents without links.
    negative : float
        Share of similarities that were negative and count as 0.
    n_neighbors : int or None
        Number of neighbours that were kept.
    coefficients : array of shape (n, l)
        Factors of a new document's similarities.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.cluster import spectral_embedding
    >>> from grampus.gram import DenseGram
    >>> K = np.array([[1, 1, 0, 0], [1, 1, 0.1, 0], [0, 0.1, 1, 1], [0, 0, 1, 1]])
    >>> spectral_embedding(DenseGram(K), 2).eigenvalues.round(3)
    array([0.   , 0.091])
    """

    coordinates: Array
    eigenvalues: Array
    plane: Array
    laplacian: str
    method: str
    degrees: Array
    components: NDArray[np.intp]
    isolated: NDArray[np.intp]
    negative: float
    n_neighbors: int | None
    coefficients: Array

    @property
    def n_components(self) -> int:
        """Number of connected components, without isolated documents."""
        return len(np.unique(self.components[self.degrees > 0]))

    def take(self, index: NDArray[np.intp]) -> SpectralEmbedding:
        """Return the documents in another order."""
        names = ("coordinates", "plane", "degrees", "components", "coefficients")
        rows: dict[str, Any] = {name: getattr(self, name)[index] for name in names}
        return replace(self, isolated=np.flatnonzero(np.isin(index, self.isolated)), **rows)

    def edit(self, cross: Array) -> Array:
        """Return the links of new documents: negative similarities become 0, and only the nearest count."""
        links = np.maximum(cross, 0.0)
        if self.n_neighbors is None or self.n_neighbors >= links.shape[1]:
            return links
        columns, values = nearest(links, self.n_neighbors)
        links = np.zeros_like(links)
        np.put_along_axis(links, columns, values, axis=1)
        return links

    def place(self, sums: Array) -> Array:
        """Return the coordinates of new documents.

        Parameters
        ----------
        sums : array of shape (m, l + 1)
            Their links times the coefficients, and times a last column that is 1 for documents with links.
        """
        sums, degree = sums[:, :-1], sums[:, -1]
        linked = degree > 0
        safe = np.where(linked, degree, 1.0)[:, None]
        if self.laplacian == "unnormalised":  # (d − λ) v = W v
            rest = safe - self.eigenvalues
            out = sums / np.where(rest > 0, rest, safe)
        else:  # μ v = D⁻¹ W v, μ = 1 − λ
            walk = 1.0 - self.eigenvalues
            inverse = np.divide(1.0, walk, out=np.zeros_like(walk), where=np.abs(walk) > 1e-10)
            out = sums * inverse / (safe if self.laplacian == "random-walk" else np.sqrt(safe))
        out[~linked] = 0.0
        return unit_rows(out) if self.laplacian == "symmetric" else out


def spectral_embedding(
    gram: Gram,
    n_components: int,
    *,
    laplacian: str = "random-walk",
    n_neighbors: int | None = None,
    loops: bool = False,
) -> SpectralEmbedding:
    """Embed documents by the smallest eigenvectors of a graph Laplacian (`strings`, "Spectral clustering").

    With explicit non-negative features (terms), nothing of size n × n is formed.

    Parameters
    ----------
    gram : Gram
        Similarities W. Negative ones count as 0, which requires the matrix, or neighbours; those of a low-rank Gram
        (``nystrom``) are kept, so that nothing of size n × n is needed.
    n_components : int
        l, the number of eigenvectors, fewer than the documents.
    laplacian : "random-walk", "symmetric" or "unnormalised"
        D⁻¹L, D^−½ L D^−½ with rows normalised to unit length, or L = D − W.
    n_neighbors : int, optional
        Keep only this many nearest neighbours of each document (``grampus.gram.neighbour_graph``).
    loops : bool
        Whether self-similarities count as links of a document to itself. False by default, as usual for graphs, so that
        a dominant diagonal does no harm.

    Returns
    -------
    SpectralEmbedding

    Notes
    -----
    Eigenvectors of eigenvalue 0 are known: one for each connected component. With more components than `n_components`
    only the largest get a coordinate, documents of the others lie at 0, and a warning is issued.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.cluster import spectral_embedding
    >>> from grampus.gram import LinearGram
    >>> rows = np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 2.0]])
    >>> found = spectral_embedding(LinearGram(rows), 2)
    >>> found.n_components, found.coordinates.round(3).tolist()
    (2, [[0.408, 0.0], [0.408, 0.0], [0.408, 0.0], [0.0, 0.5], [0.0, 0.5]])
    """
    n = len(require_gram(gram))
    count = check_integer(n_components, "n_components", low=1, high=n - 1, of=" (one less than the documents)")
    check_choice(laplacian, "laplacian", LAPLACIANS)
    ordered, order = gram.canonical()
    found = _embedding(ordered, count, laplacian, n_neighbors, check_flag(loops, "loops"))
    return found.take(np.argsort(order))


def _embedding(gram: Gram, count: int, laplacian: str, n_neighbors: int | None, loops: bool) -> SpectralEmbedding:
    n = len(gram)
    graph, negative = _links(gram, n_neighbors, loops)
    degree = _positive_degrees(graph, loops)
    linked = degree > 0
    if not linked.any():
        raise InputError(
            "No two documents resemble each other: their similarities are 0, or negative ones outweigh the others, so "
            "there is no graph to cut. Use another kernel, or check the documents."
        )
    if count > linked.sum():
        raise InputError(
            f"The number of eigenvectors (for SpectralKMeans: of clusters) must be at most {linked.sum()}, the number "
            f"of documents that resemble another; got {count}."
        )
    parts = components(graph)
    wanted = min(max(count, PLANE + 1), int(linked.sum()))
    weight = linked.astype(np.float64) if laplacian == "unnormalised" else np.sqrt(np.maximum(degree, 0.0))
    known = _known(parts, weight, wanted)
    _warn_components(np.bincount(parts[linked]), count)
    values, vectors, method = _eigenvectors(graph, degree, known, wanted, laplacian, loops)
    vectors[~linked] = 0.0  # exactly, without rounding
    scale = inverse_root(degree)
    placed = vectors if laplacian == "unnormalised" else scale_rows(scale, vectors)
    plane = np.zeros((n, PLANE))
    shown = (vectors if laplacian == "symmetric" else placed)[:, 1 : PLANE + 1]
    plane[:, : shown.shape[1]] = shown
    placed = placed[:, :count]
    return SpectralEmbedding(
        coordinates=unit_rows(vectors[:, :count]) if laplacian == "symmetric" else placed.copy(),
        eigenvalues=values[:count],
        plane=plane,
        laplacian=laplacian,
        method=method,
        degrees=degree,
        components=parts,
        isolated=np.flatnonzero(~linked),
        negative=negative,
        n_neighbors=None if n_neighbors is None else int(n_neighbors),
        coefficients=placed.copy(),
    )


def _warn_components(sizes: NDArray[np.intp], count: int) -> None:
    """Warn if the graph has more components than coordinates."""
    found = int((sizes > 0).sum())
    if found > count:
        warnings.warn(
            f"The graph has {found} components where at most {count} can be distinguished; only the largest "
            f"({', '.join(map(str, sizes[:count][:5]))}{', …' if count > 5 else ''} documents) get coordinates of "
            "their own. Use a larger n_neighbors, or a kernel that links more documents.",
            stacklevel=5,
        )


def _links(gram: Gram, n_neighbors: int | None, loops: bool) -> tuple[Gram, float]:
    """Return the similarities without negative ones, and the share of those."""
    base = gram if loops else gram.split_shift()[0]
    if n_neighbors is not None:
        graph = neighbour_graph(base, n_neighbors)
        if loops:
            diagonal = np.maximum(base.diagonal(), 0.0).astype(np.float64)
            graph = SparseGram(graph.matrix + sp.diags_array(diagonal).tocsr())
        return graph, 0.0
    positive, share = positive_part(base)
    if share > 0:
        warnings.warn(
            f"{share:.1%} of the similarities are negative; they count as 0, as no link. Use a kernel without negative "
            "values if that is not intended.",
            stacklevel=4,
        )
    return positive, share


def _positive_degrees(graph: Gram, loops: bool) -> Array:
    """Return the degrees; documents whose links sum to less than 0 get degree 0 and lose all links.

    Links can be negative only as approximation errors of a low-rank Gram, or as loops of a shifted matrix-free one.
    """
    linked = np.ones(len(graph))
    while ((degree := linked * degrees(graph, loops=loops, among=linked)) < 0).any():
        linked[degree < 0] = 0.0
    if not linked.all() and linked.any():
        warnings.warn(
            f"The links of {int((linked == 0).sum())} documents sum to less than 0; they count as linked to nothing. "
            "Use more landmarks, n_neighbors=…, or a kernel without negative values.",
            stacklevel=4,
        )
    return degree


def _known(parts: NDArray[np.intp], weight: Array, most: int) -> Array:
    """Return the eigenvectors of eigenvalue 0: one for each component that has links, largest component first."""
    names = np.unique(parts[weight > 0])[:most]
    inside = np.flatnonzero(np.isin(parts, names))
    known = np.zeros((len(parts), len(names)))
    known[inside, np.searchsorted(names, parts[inside])] = weight[inside]
    return known / np.sqrt(np.einsum("ij,ij->j", known, known))


def _eigenvectors(
    graph: Gram, degree: Array, known: Array, wanted: int, laplacian: str, loops: bool
) -> tuple[Array, Array, str]:
    """Return eigenvalues of the Laplacian, smallest first, and orthonormal vectors: the known ones, then others.

    The smallest of L_sym = I − A are the largest of A = D^−½ W D^−½; those of L = D − W the largest of W − D.
    """
    more = wanted - known.shape[1]
    if more <= 0:
        return np.zeros(wanted), known[:, :wanted], "known"
    diagonal = np.zeros(len(degree)) if loops else graph.diagonal().astype(np.float64)
    if laplacian == "unnormalised":
        low, top = 3.0 * float(degree.max()), 0.0
        scale = (degree > 0).astype(np.float64)
        added = -diagonal * scale - degree
    else:
        low, top = 3.0, 1.0
        scale = inverse_root(degree)
        added = -(scale**2) * diagonal
    added[degree <= 0] = -low  # documents without links come after everything else
    pairs = eigenpairs(GraphOperator(graph, scale, added, known, low), more)
    if pairs.values[0] > top + 1e-6 * low:
        raise InputError(
            "Negative similarities outweigh the others: the Laplacian has a negative eigenvalue, and there is no cut. "
            "Use more landmarks, n_neighbors=…, or a kernel without negative values."
        )
    values = np.concatenate([np.zeros(known.shape[1]), np.maximum(top - pairs.values, 0.0)])
    others = pairs.vectors * (degree > 0)[:, None]  # exactly 0 for documents without links
    return values, np.concatenate([known, others], axis=1), pairs.method
