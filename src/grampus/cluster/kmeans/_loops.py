"""The hot loops of kernel k-means, compiled by numba; the NumPy twins are in ``sums``.

Imported only when the ``[fast]`` extra is installed and the work is worth it. All arrays are C-ordered; every function
releases the interpreter's lock and works on a range of partitions or rows, so that threads can share the work.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

_DOCUMENTS = 256  # assigned at a time
_COLUMNS = 2048  # of the matrix at a time: a cluster's sums and four rows then stay in the first-level cache


def _compiled(function: Any) -> Any:
    return numba.njit(nogil=True, cache=True, boundscheck=False, error_model="numpy")(function)


@_compiled
def list_moves(old, new, weights, anew, k):  # type: ignore[no-untyped-def]
    """List, for each cluster of each partition, the documents to add (+w) and to take (−w), as rows of a CSR matrix."""
    partitions, n = new.shape
    starts = np.zeros(partitions * k + 1, dtype=np.int64)
    for p in range(partitions):
        for i in range(n):
            joined, left = np.int64(new[p, i]), np.int64(-1 if anew[p] else old[p, i])
            if joined != left:
                starts[p * k + joined + 1] += joined >= 0
                starts[p * k + left + 1] += left >= 0
    starts = np.cumsum(starts)
    documents = np.empty(starts[-1], dtype=np.int32)
    signed = np.empty(starts[-1])
    place = starts[:-1].copy()
    for p in range(partitions):
        for i in range(n):
            joined, left = np.int64(new[p, i]), np.int64(-1 if anew[p] else old[p, i])
            for cluster, sign in ((joined, 1.0), (left, -1.0)):
                if joined != left and cluster >= 0:
                    at = place[p * k + cluster]
                    documents[at], signed[at] = i, sign * weights[i]
                    place[p * k + cluster] = at + 1
    return starts, documents, signed


@_compiled
def add_rows(matrix, sums, starts, documents, signed, start, stop):  # type: ignore[no-untyped-def]
    """Add weighted rows of the matrix to the sums of clusters start … stop, four rows at a time."""
    n = matrix.shape[0]
    for first in range(0, n, _COLUMNS):
        last = min(first + _COLUMNS, n)
        for r in range(start, stop):
            target = sums[r, first:last]
            e, end = starts[r], starts[r + 1]
            while e + 4 <= end:
                row0, row1 = matrix[documents[e], first:last], matrix[documents[e + 1], first:last]
                row2, row3 = matrix[documents[e + 2], first:last], matrix[documents[e + 3], first:last]
                w0, w1, w2, w3 = signed[e], signed[e + 1], signed[e + 2], signed[e + 3]
                for j in range(last - first):
                    target[j] += (w0 * row0[j] + w1 * row1[j]) + (w2 * row2[j] + w3 * row3[j])
                e += 4
            while e < end:
                row0, w0 = matrix[documents[e], first:last], signed[e]
                for j in range(last - first):
                    target[j] += w0 * row0[j]
                e += 1


@_compiled
def figures_held(sums, labels, weights, sizes, within, squares, start, stop):  # type: ignore[no-untyped-def]
    """Sum the weights, the similarities and the squared weights inside each cluster."""
    for p in range(start, stop):
        for i in range(labels.shape[1]):
            c = labels[p, i]
            if c >= 0:
                w = weights[i]
                sizes[p, c] += w
                within[p, c] += w * sums[p, c, i]
                squares[p, c] += w * min(w, 1.0)


@_compiled
def left_out(similar, size, within, squares, diagonal, weight, shift, centroid):  # type: ignore[no-untyped-def]
    """Distance to the own cluster without the document itself; −∞ for a document that is alone."""
    one = min(weight, 1.0)
    rest = size - one
    if rest <= 1e-12 * one:
        return -np.inf
    gathered = within - 2.0 * one * similar + one * one * diagonal + shift * (squares - one * one)
    return centroid * gathered / (rest * rest) - 2.0 * (similar - one * diagonal) / rest


@_compiled
def choose(distance, extents, own, current, adjusted, tolerance, reach):  # type: ignore[no-untyped-def]
    """Apply the tie rule to one document's distances."""
    k = distance.shape[0]
    if current >= 0:
        distance[current] = own
    least = 0
    for c in range(1, k):
        if distance[c] < distance[least]:
            least = c
    limit = distance[least] + tolerance * (reach + extents[least])
    if adjusted and current >= 0 and own <= limit:
        return current
    for c in range(k):
        if distance[c] <= limit:
            return c
    return 0


# What belongs together travels together, as tuples:
#   clusters: labels, sizes, within, squares, offsets, slopes, extents (see sums.State and sums.comparison)
#   documents: diagonal, reach, weights
#   rule: adjusted, tolerance, shift, centroid (see sums.Rule)


@_compiled
def assign_held(sums, clusters, documents, rule, new, chosen, start, stop):  # type: ignore[no-untyped-def]
    """Assign every document of partitions start … stop, some at a time so that each step is a straight loop."""
    labels, _, _, _, offsets, slopes, extents = clusters
    _, reach, _ = documents
    adjusted, tolerance, _, _ = rule
    k, n = sums.shape[1], sums.shape[2]
    best, own, size = np.empty(_DOCUMENTS), np.empty(_DOCUMENTS), np.empty(_DOCUMENTS)
    for p in range(start, stop):
        for first in range(0, n, _DOCUMENTS):
            many = min(_DOCUMENTS, n - first)
            own_distances(sums[p], p, clusters, documents, rule, first, own[:many])
            best[:many] = np.inf
            for c in range(k):
                slope, offset, row = slopes[p, c], offsets[p, c], sums[p, c, first : first + many]
                mine, extent = labels[p, first : first + many], extents[p, c]
                for i in range(many):
                    d = own[i] if mine[i] == c else offset + slope * row[i]
                    size[i] = extent if d < best[i] else size[i]
                    best[i] = d if d < best[i] else best[i]
            for i in range(many):
                best[i] += tolerance * (reach[first + i] + size[i])
                new[p, first + i] = -1
                if adjusted and labels[p, first + i] >= 0 and own[i] <= best[i]:
                    new[p, first + i] = labels[p, first + i]
            for c in range(k):
                slope, offset, row = slopes[p, c], offsets[p, c], sums[p, c, first : first + many]
                mine = labels[p, first : first + many]
                found = new[p, first : first + many]
                for i in range(many):
                    d = own[i] if mine[i] == c else offset + slope * row[i]
                    found[i] = c if found[i] < 0 and d <= best[i] else found[i]
            for i in range(first, first + many):
                chosen[p, i] = sums[p, new[p, i], i]


@_compiled
def own_distances(sums, p, clusters, documents, rule, first, out):  # type: ignore[no-untyped-def]
    """Distances of documents to the clusters that partition p has them in; infinite for those in none."""
    labels, sizes, within, squares, offsets, slopes, _ = clusters
    diagonal, _, weights = documents
    adjusted, _, shift, centroid = rule
    for i in range(len(out)):
        at = first + i
        c = labels[p, at]
        out[i] = np.inf
        if c >= 0 and adjusted:
            out[i] = left_out(
                sums[c, at],
                sizes[p, c],
                within[p, c],
                squares[p, c],
                diagonal[at],
                weights[at],
                shift,
                centroid,
            )
        elif c >= 0:
            out[i] = offsets[p, c] + slopes[p, c] * (sums[c, at] + shift * min(weights[at], 1.0))


@_compiled
def assign_sparse(  # type: ignore[no-untyped-def]
    entries, centroids, clusters, documents, rule, new, chosen, start, stop
):
    """Assign rows start … stop: one pass over their entries, along the contiguous clusters of each term."""
    data, indices, indptr, scale = entries
    labels, sizes, within, squares, offsets, slopes, extents = clusters
    diagonal, reach, weights = documents
    adjusted, tolerance, shift, centroid = rule
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
                distance[c] = offsets[p, c] + slopes[p, c] * sums[p * k + c]
            own = 0.0
            if current >= 0:
                own = distance[current] + slopes[p, current] * shift * min(weights[i], 1.0)
                if adjusted:
                    own = left_out(
                        sums[p * k + current],
                        sizes[p, current],
                        within[p, current],
                        squares[p, current],
                        diagonal[i],
                        weights[i],
                        shift,
                        centroid,
                    )
            c = choose(distance, extents[p], own, current, adjusted, tolerance, reach[i])
            new[p, i] = c
            chosen[p, i] = sums[p * k + c]


@_compiled
def move_sparse(entries, weights, old, new, anew, centroids, k):  # type: ignore[no-untyped-def]
    """Add and take the features of documents that moved."""
    data, indices, indptr, scale = entries
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
