"""Kernel k-means on dense, narrow features, compiled by numba: one start from its first iteration to its last.

The rules are those of ``engine`` and ``sums``, which are the twins of this file. Documents lie in a space of few
dimensions, so their sums of similarities are small products of the clusters' sums with blocks of documents. Blocks are
held term by term: BLAS is at its best then, and every step after it is a straight loop along documents.

What belongs together travels together, as tuples:

* documents: features (of all), numbers of those meant, and their diagonal, reach and weights (see `sums.Rule.extent`)
* groups: the clusters' sums in feature space (k, m), sizes, squares (see `sums.State`) and numbers of members
* clusters: sums, sizes, within, squares, offsets, slopes, extents (see `sums.comparison`)
* rule: adjusted, tolerance, shift, spherical (see `sums.Rule`)
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from ._loops import left_out

CONVERGED, OSCILLATED, MAX_ITER, NOT_FINITE = 0, 1, 2, 3
_BLOCK = 256  # documents in one product, at most: they and their sums stay in the second-level cache
_LINE = 8  # numbers in a line of the cache


def _compiled(function: Any) -> Any:
    # "contract" lets a product and a sum be one instruction; nothing is reordered
    return numba.njit(nogil=True, cache=True, boundscheck=False, error_model="numpy", fastmath={"contract"})(function)


@_compiled
def run(documents, start, k, rule, max_iter, two_cycles):  # type: ignore[no-untyped-def]
    """Run one start to its end; return labels (−1 as in the start), predictions, outcome, moves and objectives.

    The objectives are those before each iteration, and that of the labels at the end.
    """
    inside, outside = np.flatnonzero(start >= 0), np.flatnonzero(start < 0)
    labels, clusters, outcome, moves, objectives = iterate(
        taken(documents, inside), start[inside], k, rule, max_iter, two_cycles
    )
    found = np.full(len(start), -1, dtype=np.int32)
    found[inside] = labels
    predicted = found.copy()
    if len(outside):
        rest = taken(documents, outside)
        predicted[outside] = place(rest, packed(rest), start[outside], clusters, rule)
    return found, predicted, outcome, moves, objectives


@_compiled
def nearest(documents, members, centres, tolerance):  # type: ignore[no-untyped-def]
    """Return the nearest of some documents for every member: clusters of one document each."""
    rule = (False, tolerance, 0.0, False)
    ones = np.ones(len(centres))
    clusters = figures((documents[0][centres], ones, ones, np.ones(len(centres), dtype=np.int64)), rule)
    some = taken(documents, members)
    return place(some, packed(some), np.full(len(members), -1, dtype=np.int32), clusters, rule)


@_compiled
def taken(documents, chosen):  # type: ignore[no-untyped-def]
    """Return some of the documents."""
    features, numbers, diagonal, reach, weights = documents
    return features, numbers[chosen], diagonal[chosen], reach[chosen], weights[chosen]


@_compiled
def iterate(documents, labels, k, rule, max_iter, two_cycles):  # type: ignore[no-untyped-def]
    """Assign and move until no document moves, labels have cycled long enough, or iterations run out."""
    features, _, diagonal, _, weights = documents
    n, blocks = len(labels), packed(documents)
    before = np.full(n, -2, dtype=np.int32)
    groups = (np.zeros((k, features.shape[1])), np.zeros(k), np.zeros(k), np.zeros(k, dtype=np.int64))
    follow(documents, np.arange(n), labels, labels, True, groups)
    clusters = figures(groups, rule)
    total = (weights * diagonal).sum()
    moves, objectives = np.empty(64, dtype=np.int64), np.empty(64)
    objectives[0] = objective(total, clusters)
    outcome, cycles, made = MAX_ITER, 0, 0
    while made < max_iter:
        if not np.isfinite(objectives[made]):
            outcome = NOT_FINITE
            break
        new = place(documents, blocks, labels, clusters, rule)
        fill(documents, clusters, rule, new)
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
def width(n):  # type: ignore[no-untyped-def]
    """Return how many documents a block holds; the last one may hold fewer."""
    blocks = max(1, -(-n // _BLOCK))
    return max(1, -(-n // blocks))


@_compiled
def packed(documents):  # type: ignore[no-untyped-def]
    """Return the features of some documents as blocks (terms, documents), one behind the other."""
    features, numbers = documents[0], documents[1]
    n, m, wide = len(numbers), features.shape[1], width(len(numbers))
    blocks = np.empty(n * m)
    for first in range(0, n, wide):
        many = min(wide, n - first)
        block = blocks[first * m : (first + many) * m].reshape(m, many)
        for left in range(0, m, _LINE):
            for r in range(many):
                i = numbers[first + r]
                for t in range(left, min(left + _LINE, m)):
                    block[t, r] = features[i, t]
    return blocks


@_compiled
def follow(documents, movers, old, new, anew, groups):  # type: ignore[no-untyped-def]
    """Add and take the documents that moved or, anew, add up all; nothing stays behind in an empty cluster."""
    features, numbers, _, _, weights = documents
    sums, sizes, squares, counts = groups
    if anew:
        sums[:], sizes[:], squares[:], counts[:] = 0.0, 0.0, 0.0, 0
        movers = np.arange(len(new))
    for i in movers:
        row, w = features[numbers[i]], weights[i]
        for sign in (1, -1):
            if sign < 0 and anew:
                break
            c, signed = (new[i] if sign > 0 else old[i]), sign * w
            counts[c] += sign
            sizes[c] += signed
            squares[c] += signed * min(w, 1.0)
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
    within, offsets, slopes, extents = np.zeros((4, len(sizes)))
    for c in range(len(sizes)):
        if sizes[c] == 0.0:
            offsets[c] = np.inf
            continue
        for t in range(sums.shape[1]):
            within[c] += sums[c, t] * sums[c, t]
        if spherical:
            slopes[c] = -1.0 / np.sqrt(within[c]) if within[c] > 0.0 else 0.0
        else:
            offsets[c] = (within[c] + shift * squares[c]) / (sizes[c] * sizes[c])
            slopes[c] = -2.0 / sizes[c]
            extents[c] = abs(offsets[c])
    return sums, sizes, within, squares, offsets, slopes, extents


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
def place(documents, blocks, labels, clusters, rule):  # type: ignore[no-untyped-def]
    """Return the next cluster of every document: the nearest, ties by the rule."""
    n, m, k = len(labels), clusters[0].shape[1], len(clusters[1])
    wide = width(n)
    new = np.empty(n, dtype=np.int32)
    values, least, second = np.empty(k * wide), np.empty(wide), np.empty(wide)
    winner = np.empty(wide, dtype=np.int64)
    for first in range(0, n, wide):
        many = min(wide, n - first)
        tile = values[: k * many].reshape(k, many)
        np.dot(clusters[0], blocks[first * m : (first + many) * m].reshape(m, many), tile)
        compare(documents, first, labels, clusters, rule, tile)
        find_least(tile, winner, least, second)
        settle_ties(documents, first, labels, clusters, rule, tile, winner, least, second)
        for r in range(many):
            new[first + r] = winner[r]
    return new


@_compiled
def compare(documents, first, labels, clusters, rule, values):  # type: ignore[no-untyped-def]
    """Turn sums of similarities (k, documents) into what is compared; see `sums.comparison`."""
    _, sizes, within, squares, offsets, slopes, _ = clusters
    _, _, diagonal, _, weights = documents
    adjusted, _, shift, _ = rule
    own = np.empty(values.shape[1])
    changed = adjusted or shift != 0.0
    if changed:
        for r in range(len(own)):
            i = first + r
            c = labels[i]
            if c >= 0 and adjusted:
                own[r] = left_out(values[c, r], sizes[c], within[c], squares[c], diagonal[i], weights[i], shift)
            elif c >= 0:  # K_ii + σ is among its own sums
                own[r] = offsets[c] + slopes[c] * (values[c, r] + shift * min(weights[i], 1.0))
    for c in range(len(offsets)):
        row, offset, slope = values[c], offsets[c], slopes[c]
        for r in range(len(row)):
            row[r] = offset + slope * row[r]
    if changed:
        for r in range(len(own)):
            if labels[first + r] >= 0:
                values[labels[first + r], r] = own[r]


@_compiled
def find_least(values, winner, least, second):  # type: ignore[no-untyped-def]
    """Find the least value of every column, where it stands, and the next."""
    many = values.shape[1]
    for r in range(many):
        winner[r], least[r], second[r] = 0, values[0, r], np.inf
    for c in range(1, len(values)):
        row = values[c]
        for r in range(many):
            value, best = row[r], least[r]
            closer = value < best
            other = best if closer else value
            second[r] = other if other < second[r] else second[r]
            winner[r] = c if closer else winner[r]
            least[r] = value if closer else best


@_compiled
def settle_ties(documents, first, labels, clusters, rule, values, winner, least, second):  # type: ignore[no-untyped-def]
    """Let the lowest number win a tie or, with `adjusted`, the document stay where it is; see `sums.Rule`."""
    adjusted, tolerance, _, _ = rule
    reach, extents = documents[3], clusters[6]
    for r in range(values.shape[1]):
        limit = least[r] + tolerance * (reach[first + r] + extents[winner[r]])
        if second[r] > limit:
            continue
        current = labels[first + r]
        if adjusted and current >= 0 and values[current, r] <= limit:
            winner[r] = current
            continue
        for c in range(winner[r]):
            if values[c, r] <= limit:
                winner[r] = c
                break


@_compiled
def fill(documents, clusters, rule, new):  # type: ignore[no-untyped-def]
    """Give every empty cluster the document farthest from its centroid; see `engine.fill_empty_clusters`."""
    features, numbers, diagonal, _, _ = documents
    sums, sizes, within = clusters[0], clusters[1], clusters[2]
    n, k, tolerance = len(new), len(sizes), rule[1]
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
            similar += features[numbers[i], t] * sums[c, t]
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
                break
