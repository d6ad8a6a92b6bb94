"""Kernel k-means on dense, narrow features, compiled by numba: one start from its first iteration to its last.

The rules are those of ``engine`` and ``sums``, which are the twins of this file. Documents lie in a space of few
dimensions, so the sums of a document are one small product, made by BLAS for some hundred documents at a time; and
distances to centroids obey the triangle inequality, so that most documents need no product at all after the first
iterations (Hamerly 2010): as far as a centroid has moved, so far at most has a distance changed. Bounds leave room for
ties and rounding. A document is passed over only where its next cluster is certain, so the labels are those without
bounds.

What belongs together travels together, as tuples:

* documents: features, diagonal, reach, weights (reach: `sums.Rule.extent`)
* clusters: sums in feature space (k, m), sizes, within, squares, offsets, slopes, extents (see `sums.comparison`), and
  what the shift has added to the offsets
* rule: adjusted, tolerance, shift, spherical (see `sums.Rule`)
* bounds: on each document's distance from above (its own centroid) and from below (every other), and the centroids
  that they were taken from
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from ._loops import left_out

CONVERGED, OSCILLATED, MAX_ITER, NOT_FINITE = 0, 1, 2, 3
_ROWS = 256  # documents in one product: they and their sums stay in the second-level cache
_MOST = 0.75  # if so many documents are in doubt, all are looked at, which saves the copies of their rows
_ROOM = 4.0  # times the tolerance of ties: what bounds leave to ties and rounding


def _compiled(function: Any) -> Any:
    # "contract" lets a product and a sum be one instruction; nothing is reordered
    return numba.njit(nogil=True, cache=True, boundscheck=False, error_model="numpy", fastmath={"contract"})(function)


def _unordered(function: Any) -> Any:
    # sums in any order: of bounds, which have room for it, and for empty clusters, whose rule has a tolerance
    return numba.njit(nogil=True, cache=True, boundscheck=False, error_model="numpy", fastmath={"contract", "reassoc"})(
        function
    )


@_compiled
def run(documents, start, k, rule, max_iter, two_cycles):  # type: ignore[no-untyped-def]
    """Run one start to its end; return labels (−1 as in the start), predictions, outcome, moves and objectives.

    The objectives are those before each iteration, and that of the labels at the end.
    """
    inside = np.flatnonzero(start >= 0)
    mine = documents if len(inside) == len(start) else taken(documents, inside)
    labels, clusters, outcome, moves, objectives = iterate(mine, start[inside], k, rule, max_iter, two_cycles)
    found = np.full(len(start), -1, dtype=np.int32)
    found[inside] = labels
    predicted = found.copy()
    outside = np.flatnonzero(start < 0)
    if len(outside) and outcome != NOT_FINITE:
        none = np.full(len(start), -1, dtype=np.int32)
        place(documents, outside, none, clusters, rule, predicted, open_bounds(0, 0, 0))
    return found, predicted, outcome, moves, objectives


@_compiled
def nearest(documents, members, centres, tolerance):  # type: ignore[no-untyped-def]
    """Return the nearest of some documents for every member, as clusters of one document each."""
    rule = (False, tolerance, 0.0, False)
    ones = np.ones(len(centres))
    clusters = figures((documents[0][centres], ones, ones, ones), rule)
    none = np.full(len(documents[1]), -1, dtype=np.int32)
    labels = none.copy()
    place(documents, members, none, clusters, rule, labels, open_bounds(0, 0, 0))
    return labels[members]


@_compiled
def taken(documents, index):  # type: ignore[no-untyped-def]
    """Return some of the documents."""
    features, diagonal, reach, weights = documents
    return features[index], diagonal[index], reach[index], weights[index]


@_compiled
def iterate(documents, labels, k, rule, max_iter, two_cycles):  # type: ignore[no-untyped-def]
    """Assign and move until no document moves, labels have cycled long enough, or iterations run out."""
    adjusted, tolerance, _, spherical = rule
    features, diagonal, _, weights = documents
    n = len(labels)
    everyone, before = np.arange(n), np.full(n, -2, dtype=np.int32)
    groups = (np.zeros((k, features.shape[1])), np.zeros(k), np.zeros(k), np.zeros(k, dtype=np.int64))
    follow(documents, everyone, labels, labels, True, groups)
    bounded = not (adjusted or spherical)
    bounds, doubtful = open_bounds(n if bounded else 0, k, features.shape[1]), everyone
    total = (weights * diagonal).sum()
    moves, objectives = np.empty(64, dtype=np.int64), np.empty(64)
    outcome, cycles, made = MAX_ITER, 0, 0
    clusters = figures(groups, rule)
    objectives[0] = objective(total, clusters)
    while made < max_iter:
        if not np.isfinite(objectives[made]):
            outcome = NOT_FINITE
            break
        if bounded:
            doubtful = in_doubt(bounds, documents, labels, clusters, rule, 2 * len(doubtful) < n)
        new = labels.copy()
        place(documents, everyone if len(doubtful) > _MOST * n else doubtful, labels, clusters, rule, new, bounds)
        fill(documents, clusters, tolerance, new, bounds)
        movers = np.flatnonzero(new != labels)
        cycles = cycles + 1 if (new == before).all() else 0
        follow(documents, movers, labels, new, 2 * len(movers) > n, groups)
        labels, before = new, labels
        clusters = figures(groups, rule)
        if made + 2 > len(moves):
            moves, objectives = doubled(moves), doubled(objectives)
        moves[made] = len(movers)
        made += 1
        objectives[made] = objective(total, clusters)
        if len(movers) == 0 or cycles >= two_cycles:
            outcome = OSCILLATED if len(movers) else CONVERGED
            break
    return labels, clusters, outcome, moves[:made], objectives[: made + 1]


@_compiled
def doubled(values):  # type: ignore[no-untyped-def]
    """Return a copy with room for as many again."""
    larger = np.empty(2 * len(values), dtype=values.dtype)
    larger[: len(values)] = values
    return larger


@_compiled
def follow(documents, movers, old, new, anew, groups):  # type: ignore[no-untyped-def]
    """Add and take the documents that moved or, anew, add up all; nothing stays behind in an empty cluster."""
    features, _, _, weights = documents
    sums, sizes, squares, counts = groups
    if anew:
        sums[:], sizes[:], squares[:], counts[:] = 0.0, 0.0, 0.0, 0
        movers = np.arange(len(new))
    for i in movers:
        row, w = features[i], weights[i]
        for sign in (1.0, -1.0):
            if sign < 0.0 and anew:
                break
            c, signed = (new[i] if sign > 0.0 else old[i]), sign * w
            sizes[c] += signed
            squares[c] += signed * min(w, 1.0)
            counts[c] += np.int64(sign)
            target = sums[c]
            for t in range(len(row)):
                target[t] += signed * row[t]
    for c in range(len(counts)):
        if counts[c] == 0:
            sums[c], sizes[c], squares[c] = 0.0, 0.0, 0.0


@_compiled
def figures(groups, rule):  # type: ignore[no-untyped-def]
    """Return the clusters with what is compared; see `sums.State` and `sums.comparison`."""
    _, _, shift, spherical = rule
    sums, sizes, squares, _ = groups
    within, offsets, slopes, extents, shifts = np.zeros((5, len(sizes)))
    for c in range(len(sizes)):
        if sizes[c] == 0.0:
            offsets[c] = np.inf
            continue
        within[c] = square(sums[c])
        if spherical:
            slopes[c] = -1.0 / np.sqrt(within[c]) if within[c] > 0.0 else 0.0
        else:
            shifts[c] = shift * squares[c] / (sizes[c] * sizes[c])
            offsets[c] = (within[c] + shift * squares[c]) / (sizes[c] * sizes[c])
            slopes[c] = -2.0 / sizes[c]
            extents[c] = abs(offsets[c])
    return sums, sizes, within, squares, offsets, slopes, extents, shifts


@_unordered
def square(a):  # type: ignore[no-untyped-def]
    """Return the squared length of a vector."""
    total = 0.0
    for t in range(len(a)):
        total += a[t] * a[t]
    return total


@_compiled
def objective(total, clusters):  # type: ignore[no-untyped-def]
    """Return the unshifted objective (`dominance`, Eqn 3)."""
    sizes, within = clusters[1], clusters[2]
    explained = 0.0
    for c in range(len(sizes)):
        if sizes[c] > 0.0:
            explained += within[c] / sizes[c]
    return total - explained


@_compiled
def place(documents, chosen, labels, clusters, rule, new, bounds):  # type: ignore[no-untyped-def]
    """Give some documents, by rising number, the cluster that the rule says, and take their bounds anew."""
    features, k = documents[0], len(clusters[1])
    whole, rows = len(chosen) == len(labels), min(_ROWS, len(chosen))
    by_term = np.ascontiguousarray(clusters[0].T)
    copied, similar = np.empty((0 if whole else rows, features.shape[1])), np.empty((rows, k))
    values, nearest = np.empty((k, rows)), np.empty(rows, dtype=np.int64)
    least, second = np.empty(rows), np.empty(rows)
    for first in range(0, len(chosen), _ROWS):
        some = chosen[first : first + _ROWS]
        many = len(some)
        if whole:
            np.dot(features[first : first + many], by_term, similar[:many])
        else:
            copy_rows(features, some, copied)
            np.dot(copied[:many], by_term, similar[:many])
        compare(documents, some, labels, clusters, rule, similar, values)
        find_least(values, many, nearest, least, second)
        settle_ties(documents, some, labels, clusters, rule, values, nearest, least, second)
        for r in range(many):
            new[some[r]] = nearest[r]
        if len(bounds[0]):
            bind(bounds, documents, some, labels, clusters, rule, nearest, least, second)


@_compiled
def copy_rows(features, some, copied):  # type: ignore[no-untyped-def]
    """Put some rows one below the other."""
    for r in range(len(some)):
        i = some[r]
        for t in range(features.shape[1]):
            copied[r, t] = features[i, t]


@_compiled
def compare(documents, some, labels, clusters, rule, similar, values):  # type: ignore[no-untyped-def]
    """Turn sums of similarities (documents, k) into what is compared (k, documents); see `sums.comparison`."""
    _, sizes, within, squares, offsets, slopes, _, _ = clusters
    _, diagonal, _, weights = documents
    adjusted, _, shift, _ = rule
    for c in range(len(offsets)):
        row, offset, slope = values[c], offsets[c], slopes[c]
        for r in range(len(some)):
            row[r] = offset + slope * similar[r, c]
    if not adjusted and shift == 0.0:
        return
    for r in range(len(some)):
        i = some[r]
        c = labels[i]
        if c >= 0 and adjusted:
            values[c, r] = left_out(similar[r, c], sizes[c], within[c], squares[c], diagonal[i], weights[i], shift)
        elif c >= 0:
            values[c, r] += slopes[c] * shift * min(weights[i], 1.0)  # K_ii + σ is among its own sums


@_compiled
def find_least(values, many, nearest, least, second):  # type: ignore[no-untyped-def]
    """Find the least value of every column, where it stands, and the next."""
    nearest[:], least[:], second[:] = 0, values[0], np.inf
    for c in range(1, len(values)):
        row = values[c]
        for r in range(many):
            value, best = row[r], least[r]
            closer = value < best
            other = best if closer else value
            second[r] = other if other < second[r] else second[r]
            nearest[r] = c if closer else nearest[r]
            least[r] = value if closer else best


@_compiled
def settle_ties(documents, some, labels, clusters, rule, values, nearest, least, second):  # type: ignore[no-untyped-def]
    """Let the lowest number win a tie or, with `adjusted`, the document stay where it is; see `sums.Rule`."""
    adjusted, tolerance, _, _ = rule
    reach, extents = documents[2], clusters[6]
    for r in range(len(some)):
        limit = least[r] + tolerance * (reach[some[r]] + extents[nearest[r]])
        if second[r] > limit:
            continue
        current, winner = labels[some[r]], nearest[r]
        if adjusted and current >= 0 and values[current, r] <= limit:
            winner = current
        else:
            for c in range(nearest[r]):
                if values[c, r] <= limit:
                    winner = c
                    break
        if winner != nearest[r]:
            nearest[r], least[r], second[r] = winner, values[winner, r], least[r]


@_compiled
def open_bounds(n, k, m):  # type: ignore[no-untyped-def]
    """Return bounds that say nothing."""
    return np.full(n, np.inf), np.zeros(n), np.zeros((k, m))


@_compiled
def bind(bounds, documents, some, labels, clusters, rule, nearest, least, second):  # type: ignore[no-untyped-def]
    """Take the bounds of some documents from the values of their next cluster and of the nearest other."""
    upper, lower, _ = bounds
    _, diagonal, reach, weights = documents
    _, tolerance, shift, _ = rule
    slopes, extents, shifts = clusters[5], clusters[6], clusters[7]
    extent, most = extents.max(), shifts.max()
    for r in range(len(some)):
        i = some[r]
        own = shifts[labels[i]] + slopes[labels[i]] * shift * min(weights[i], 1.0)
        added = own if nearest[r] == labels[i] else shifts[nearest[r]]
        room = tolerance * (reach[i] + extent)
        upper[i] = np.sqrt(max(diagonal[i] + least[r] - added + room, 0.0))
        lower[i] = np.sqrt(max(diagonal[i] + second[r] - max(most, own) - room, 0.0))


@_unordered
def distance(a, b):  # type: ignore[no-untyped-def]
    """Return the Euclidean distance of two points."""
    total = 0.0
    for t in range(len(a)):
        total += (a[t] - b[t]) * (a[t] - b[t])
    return np.sqrt(total)


@_compiled
def loosen(bounds, labels, clusters):  # type: ignore[no-untyped-def]
    """Return by how much each centroid has moved at most, and the rest of them: bounds are wider by that.

    An empty cluster is anywhere, so then no bound holds.
    """
    centres = bounds[2]
    sums, sizes = clusters[0], clusters[1]
    moved = np.full(len(sizes), np.inf)
    for c in range(len(sizes)):
        centre = sums[c] / sizes[c] if sizes[c] > 0.0 else np.full(sums.shape[1], np.inf)
        if sizes[c] > 0.0:
            moved[c] = distance(centre, centres[c])
        centres[c] = centre
    most = moved.max()
    others = np.full(len(sizes), most)
    farthest = moved.argmax()
    moved[farthest] = -1.0
    others[farthest] = max(moved.max(), 0.0)
    moved[farthest] = most
    return moved, others


@_unordered
def in_doubt(bounds, documents, labels, clusters, rule, tighten):  # type: ignore[no-untyped-def]
    """Return the documents for which another cluster may be nearer than their own, or tie with it.

    With `tighten`, the distance to the own centroid is computed before a document is called doubtful.
    """
    upper, lower, centres = bounds
    features, _, reach, weights = documents
    slopes, extents, shifts = clusters[5:]
    _, tolerance, shift, _ = rule
    own_moved, others_moved = loosen(bounds, labels, clusters)
    least, extent = shifts.min(), extents.max()
    doubtful, many = np.empty(len(labels), dtype=np.int64), 0
    for i in range(len(labels)):
        c = labels[i]
        upper[i] += own_moved[c]
        lower[i] -= others_moved[c]
        size = reach[i] + extent
        room = shifts[c] - least + slopes[c] * shift * min(weights[i], 1.0) + _ROOM * tolerance * size
        others = lower[i] * lower[i] - room if lower[i] > 0.0 else -1.0
        if upper[i] * upper[i] < others:
            continue
        if tighten and others > 0.0 and upper[i] < np.inf:
            squared = 0.0
            for t in range(features.shape[1]):
                squared += (features[i, t] - centres[c, t]) * (features[i, t] - centres[c, t])
            upper[i] = np.sqrt(squared) + tolerance * np.sqrt(size)
            if upper[i] * upper[i] < others:
                continue
        doubtful[many] = i
        many += 1
    return doubtful[:many]


@_unordered
def fill(documents, clusters, tolerance, new, bounds):  # type: ignore[no-untyped-def]
    """Give every empty cluster the document farthest from its centroid; see `engine.fill_empty_clusters`."""
    features, diagonal, _, _ = documents
    sums, sizes, within = clusters[0], clusters[1], clusters[2]
    n, k = len(new), len(sizes)
    counts = np.zeros(k, dtype=np.int64)
    for i in range(n):
        counts[new[i]] += 1
    if counts.min() > 0:
        return
    far, least = np.empty(n), np.empty(n)
    for i in range(n):
        c = new[i]
        norm = within[c] / (sizes[c] * sizes[c])
        similar = 0.0
        for t in range(features.shape[1]):
            similar += features[i, t] * sums[c, t]
        far[i] = diagonal[i] + norm - 2.0 * similar / sizes[c]
        least[i] = tolerance * (abs(diagonal[i]) + abs(norm))
    usable = np.abs(far) > least
    for cluster in range(k):
        if counts[cluster]:
            continue
        farthest = -1
        for i in range(n):
            if usable[i] and counts[new[i]] > 1 and (farthest < 0 or far[i] > far[farthest]):
                farthest = i
        if farthest < 0:
            return
        for i in range(n):  # the lowest number among equals
            if usable[i] and counts[new[i]] > 1 and far[i] >= far[farthest] - least[farthest]:
                counts[new[i]] -= 1
                new[i], usable[i], counts[cluster] = cluster, False, 1
                if len(bounds[0]):
                    bounds[0][i] = np.inf
                break
