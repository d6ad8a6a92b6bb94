"""The hot loops of kernel k-means, compiled by numba; the NumPy twins are in ``sums``.

Imported only when the ``[fast]`` extra is installed and the work is worth it. All arrays are C-ordered; every function
releases the interpreter's lock and works on a range of partitions or rows, so that threads can share the work.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

_COLUMNS = 512  # of a matrix's row at a time: the sums of one partition then stay in the first-level cache


def _compiled(function: Any) -> Any:
    return numba.njit(nogil=True, cache=True, boundscheck=False, error_model="numpy")(function)


@_compiled
def move_held(matrix, sums, old, new, weights, anew, start, stop):  # type: ignore[no-untyped-def]
    """Add and take the rows of documents that moved, for partitions start … stop."""
    n = matrix.shape[0]
    for p in range(start, stop):
        for first in range(0, n, _COLUMNS):
            last = min(first + _COLUMNS, n)
            if anew[p]:
                sums[p, :, first:last] = 0.0
            for i in range(n):
                joined = new[p, i]
                left = old[p, i]
                if not anew[p] and joined == left:
                    continue
                w = weights[i]
                row = matrix[i, first:last]  # plain slices let the compiler see straight, long loops
                if joined >= 0:
                    target = sums[p, joined, first:last]
                    for j in range(last - first):
                        target[j] += w * row[j]
                if left >= 0 and not anew[p]:
                    target = sums[p, left, first:last]
                    for j in range(last - first):
                        target[j] -= w * row[j]


@_compiled
def within_held(sums, labels, weights, out, start, stop):  # type: ignore[no-untyped-def]
    """Sum the similarities inside each cluster."""
    for p in range(start, stop):
        for i in range(labels.shape[1]):
            c = labels[p, i]
            if c >= 0:
                out[p, c] += weights[i] * sums[p, c, i]


@_compiled
def left_out(similar, size, within, squares, diagonal, weight, shift):  # type: ignore[no-untyped-def]
    """Distance to the own cluster without the document itself; −∞ for a document that is alone."""
    rest = size - weight
    if rest <= 1e-12 * weight:
        return -np.inf
    gathered = within - 2.0 * weight * similar + weight * weight * diagonal + shift * (squares - weight * weight)
    return gathered / (rest * rest) - 2.0 * (similar - weight * diagonal) / rest


@_compiled
def choose(distance, own, current, tolerance):  # type: ignore[no-untyped-def]
    """Apply the tie rule to one document's distances."""
    k = distance.shape[0]
    if current >= 0:
        distance[current] = own
    best = distance[0]
    for c in range(1, k):
        if distance[c] < best:
            best = distance[c]
    limit = best + tolerance
    if current >= 0 and own <= limit:
        return current
    for c in range(k):
        if distance[c] <= limit:
            return c
    return 0


@_compiled
def assign_held(  # type: ignore[no-untyped-def]
    sums, labels, sizes, within, squares, norms, diagonal, weights, adjusted, tolerance, shift, new, chosen, start, stop
):
    """Assign every document of partitions start … stop."""
    k, n = sums.shape[1], sums.shape[2]
    distance = np.empty(k)
    for p in range(start, stop):
        for i in range(n):
            current = labels[p, i]
            for c in range(k):
                distance[c] = norms[p, c] if sizes[p, c] <= 0 else norms[p, c] - 2.0 * sums[p, c, i] / sizes[p, c]
            own = 0.0
            if current >= 0:
                own = distance[current] - 2.0 * shift * weights[i] / sizes[p, current]
                if adjusted:
                    own = left_out(
                        sums[p, current, i],
                        sizes[p, current],
                        within[p, current],
                        squares[p, current],
                        diagonal[i],
                        weights[i],
                        shift,
                    )
            c = choose(distance, own, current, tolerance)
            new[p, i] = c
            chosen[p, i] = sums[p, c, i]


@_compiled
def assign_sparse(  # type: ignore[no-untyped-def]
    data,
    indices,
    indptr,
    scale,
    centroids,
    labels,
    sizes,
    within,
    squares,
    norms,
    diagonal,
    weights,
    adjusted,
    tolerance,
    shift,
    new,
    chosen,
    start,
    stop,
):
    """Assign rows start … stop: one pass over their entries, along the contiguous clusters of each term."""
    partitions, k = sizes.shape
    columns = partitions * k
    sums = np.empty(columns)
    distance = np.empty(k)
    for i in range(start, stop):
        sums[:] = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            x = data[e] * scale[i]
            row = centroids[indices[e]]
            for c in range(columns):
                sums[c] += x * row[c]
        for p in range(partitions):
            current = labels[p, i]
            for c in range(k):
                distance[c] = norms[p, c] if sizes[p, c] <= 0 else norms[p, c] - 2.0 * sums[p * k + c] / sizes[p, c]
            own = 0.0
            if current >= 0:
                own = distance[current] - 2.0 * shift * weights[i] / sizes[p, current]
                if adjusted:
                    own = left_out(
                        sums[p * k + current],
                        sizes[p, current],
                        within[p, current],
                        squares[p, current],
                        diagonal[i],
                        weights[i],
                        shift,
                    )
            c = choose(distance, own, current, tolerance)
            new[p, i] = c
            chosen[p, i] = sums[p * k + c]


@_compiled
def move_sparse(data, indices, indptr, scale, weights, old, new, anew, centroids, k):  # type: ignore[no-untyped-def]
    """Add and take the features of documents that moved."""
    for p in range(new.shape[0]):
        for i in range(new.shape[1]):
            joined = new[p, i]
            left = old[p, i]
            if not anew and joined == left:
                continue
            w = weights[i] * scale[i]
            for e in range(indptr[i], indptr[i + 1]):
                x = w * data[e]
                t = indices[e]
                if joined >= 0:
                    centroids[t, p * k + joined] += x
                if left >= 0 and not anew:
                    centroids[t, p * k + left] -= x
