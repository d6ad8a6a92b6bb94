"""Kernel k-means on dense, narrow features, compiled by numba: one start from its first iteration to its last.

The rules are those of ``engine`` and ``sums``, which are the twins of this file. Documents lie in a space of few
dimensions, so their sums of similarities are small products of the clusters' sums with blocks of documents. Blocks are
held term by term: BLAS is at its best then, and every step after it is a straight loop along documents.

Products are made in single precision first, in half the time. Where the two nearest clusters of a document are closer
than its rounding can tell, and only there, the document is looked at again in double precision; so the labels are those
of double precision.

What belongs together travels together, as tuples:

* documents: features (of all), numbers of those meant, and their diagonal, reach (see `sums.Rule.extent`), weights,
  lengths in feature space, and blocks in single precision, which are empty where it is not to be used
* groups: the clusters' sums in feature space (k, m), sizes, squares (see `sums.State`) and numbers of members
* clusters: sums, sizes, within, squares, offsets, slopes, extents (see `sums.comparison`)
* rule: adjusted, tolerance, shift, spherical, centroid (see `sums.Rule`); plain is that of unshifted distances, made
  outside, because a tuple of constants would be a type of its own and everything would be compiled twice
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from ._loops import left_out
from .state import JOINS

CONVERGED, OSCILLATED, MAX_ITER, NOT_FINITE = 0, 1, 2, 3
_BLOCK = 1024  # documents in one product, at most: a call of BLAS costs as much as a few hundred of them
_LINE = 8  # numbers in a line of the cache
_DOUBT = 8  # with more than one document in so many to look at again, single precision does not pay
_UNIT = 2.0**-24  # the rounding of single precision
_RANGE = (
    1e12  # lengths and numbers of documents beyond this, or lengths below its inverse, are not for single precision
)


def _compiled(function: Any) -> Any:
    # "contract" lets a product and a sum be one instruction; nothing is reordered
    return numba.njit(nogil=True, cache=True, boundscheck=False, error_model="numpy", fastmath={"contract"})(function)


@_compiled
def run(inner, outer, start, k, rule, plain, max_iter, two_cycles):  # type: ignore[no-untyped-def]
    """Run one start to its end; return labels (−1 as in the start), predictions, outcome, moves and objectives.

    `inner` are the documents that have a label or join one, `outer` those that are predicted. The objectives are those
    before each iteration, and that of the labels at the end.
    """
    inside, outside = inner[1], outer[1]
    labels, clusters, outcome, moves, objectives = iterate(inner, start[inside], k, rule, plain, max_iter, two_cycles)
    found = np.full(len(start), -1, dtype=np.int32)
    found[inside] = labels
    predicted = found.copy()
    if len(outside):
        predicted[outside] = once(outer, start[outside], clusters, rule)
    return found, predicted, outcome, moves, objectives


@_compiled
def once(documents, labels, clusters, rule):  # type: ignore[no-untyped-def]
    """Return the next cluster of every document."""
    if len(documents[6]):
        return screened(documents, labels, clusters, rule)[0]
    return place(documents, packed(documents), labels, clusters, rule)


@_compiled
def taken(documents, chosen, rule):  # type: ignore[no-untyped-def]
    """Return some of the documents, with blocks in single precision where that can be used."""
    features, numbers, diagonal, reach, weights, lengths, none = documents
    numbers, diagonal, reach = numbers[chosen], diagonal[chosen], reach[chosen]
    weights, lengths = weights[chosen], lengths[chosen]
    part = (features, numbers, diagonal, reach, weights, lengths, none)
    small = roughly(part) if rough_suits(part, rule) else none
    return features, numbers, diagonal, reach, weights, lengths, small


@_compiled
def iterate(documents, labels, k, rule, plain, max_iter, two_cycles):  # type: ignore[no-untyped-def]
    """Assign and move until no document moves, labels have cycled long enough, or iterations run out."""
    features, _, diagonal, _, weights, _, small = documents
    n, rough = len(labels), len(small) > 0
    blocks = np.empty(0) if rough else packed(documents)
    if (labels == JOINS).any():
        labels = joined(documents, blocks, labels, k, plain)
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
        if rough:
            new, doubtful = screened(documents, labels, clusters, rule)
            if doubtful * _DOUBT > n:
                rough, blocks = False, packed(documents)
        else:
            new = place(documents, blocks, labels, clusters, rule)
        fill(documents, clusters, rule, new)
        movers, returned = moved(labels, before, new)
        cycles = cycles + 1 if returned else 0
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
def moved(labels, before, new):  # type: ignore[no-untyped-def]
    """Return the documents with a new label, and whether all are back where they were one iteration before."""
    movers, many, returned = np.empty(len(new), dtype=np.int64), 0, True
    for i in range(len(new)):
        movers[many] = i
        many += new[i] != labels[i]
        returned &= new[i] == before[i]
    return movers[:many], returned


@_compiled
def joined(documents, blocks, labels, k, plain):  # type: ignore[no-untyped-def]
    """Return the labels when every document has joined the nearest of those that have one, k clusters of one each."""
    features, numbers, diagonal, _, weights, lengths, small = documents
    documents = (features, numbers, diagonal, np.abs(diagonal), weights, lengths, small)
    centres, ones = np.zeros((k, features.shape[1])), np.ones(k)
    for i in range(len(labels)):
        if labels[i] >= 0:
            centres[labels[i]] = features[numbers[i]]
    clusters = figures((centres, ones, ones, np.ones(k, dtype=np.int64)), plain)
    none = np.full(len(labels), -1, dtype=np.int32)
    if len(small):
        found, _ = screened(documents, none, clusters, plain)
    else:
        found = place(documents, blocks, none, clusters, plain)
    for i in range(len(labels)):
        if labels[i] >= 0:
            found[i] = labels[i]
    return found


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
    return pack(documents, np.empty(len(documents[1]) * documents[0].shape[1]))


@_compiled
def roughly(documents):  # type: ignore[no-untyped-def]
    """Return the same in single precision."""
    return pack(documents, np.empty(len(documents[1]) * documents[0].shape[1], dtype=np.float32))


@_compiled
def pack(documents, blocks):  # type: ignore[no-untyped-def]
    """Fill the blocks."""
    features, numbers = documents[0], documents[1]
    n, m, wide = len(numbers), features.shape[1], width(len(numbers))
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
    features, numbers, _, _, weights, _, _ = documents
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
    _, _, shift, spherical, centroid = rule
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
            offsets[c] = centroid * (within[c] + shift * squares[c]) / (sizes[c] * sizes[c])
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
    winner, zeros, ones = np.empty(wide, dtype=np.int64), np.zeros(k), np.ones(k)
    for first in range(0, n, wide):
        many = min(wide, n - first)
        tile = values[: k * many].reshape(k, many)
        np.dot(clusters[0], blocks[first * m : (first + many) * m].reshape(m, many), tile)
        compare(documents, first, labels, clusters, rule, tile)
        find_least(tile, zeros, ones, winner, least, second)
        settle_ties(documents, first, labels, clusters, rule, tile, winner, least, second)
        for r in range(many):
            new[first + r] = winner[r]
    return new


@_compiled
def rough_suits(documents, rule):  # type: ignore[no-untyped-def]
    """Say whether single precision can be used: plain or shifted distances, lengths that leave its range far away."""
    adjusted, _, shift, spherical, _ = rule
    if adjusted or spherical or not len(documents[5]):
        return False
    longest = documents[5].max()
    return 1 / _RANGE < longest < _RANGE and documents[4].sum() < _RANGE and abs(shift) < _RANGE


@_compiled
def screened(documents, labels, clusters, rule):  # type: ignore[no-untyped-def]
    """Return the next cluster of every document as `place` does, and how many of them were looked at again.

    A product of m terms in single precision is off by at most (m + 2) units of rounding times both lengths, here that
    of the document and the longest of the clusters' sums times their slopes.
    """
    _, tolerance, shift, _, _ = rule
    sums, _, within, _, offsets, slopes, extents = clusters
    _, _, _, reach, weights, lengths, blocks = documents
    n, k, m = len(labels), sums.shape[0], sums.shape[1]
    steep = high = slant = 0.0
    for c in range(k):
        if slopes[c] != 0.0:
            steep = max(steep, abs(slopes[c]) * np.sqrt(within[c]))
            high, slant = max(high, abs(offsets[c])), max(slant, abs(slopes[c]))
    constant = 16.0 * _UNIT * (high + slant * abs(shift))
    widest = 4.0 * _UNIT * (m + 2) * lengths.max() * steep + constant + tolerance * (reach.max() + extents.max())
    wide, small = width(n), sums.astype(np.float32)
    heights, tilts = offsets.astype(np.float32), slopes.astype(np.float32)
    new, doubtful = np.empty(n, dtype=np.int32), 0
    values = np.empty(k * wide, dtype=np.float32)
    least, second = np.empty(wide, dtype=np.float32), np.empty(wide, dtype=np.float32)
    winner = np.empty(wide, dtype=np.int32)
    for first in range(0, n, wide):
        many = min(wide, n - first)
        tile = values[: k * many].reshape(k, many)
        np.dot(small, blocks[first * m : (first + many) * m].reshape(m, many), tile)
        if shift != 0.0:
            for r in range(many):
                c = labels[first + r]
                if c >= 0:  # K_ii + σ is among its own sums
                    tile[c, r] += np.float32(shift * min(weights[first + r], 1.0))
        find_least(tile, heights, tilts, winner, least, second)
        closest = np.float32(np.inf)
        for r in range(many):
            closest = min(closest, second[r] - least[r])
            new[first + r] = winner[r]
        if closest > widest:
            continue
        for r in range(many):
            i, c = first + r, winner[r]
            room = 4.0 * _UNIT * (m + 2) * lengths[i] * steep + constant + tolerance * (reach[i] + extents[c])
            if not second[r] - least[r] > room:
                new[i] = looked_at(documents, i, labels, clusters, rule)
                doubtful += 1
    return new, doubtful


@_compiled
def looked_at(documents, i, labels, clusters, rule):  # type: ignore[no-untyped-def]
    """Return the next cluster of one document, in double precision."""
    sums, row = clusters[0], documents[0][documents[1][i]]
    values, least, second = np.zeros((len(sums), 1)), np.empty(1), np.empty(1)
    winner = np.empty(1, dtype=np.int64)
    for c in range(len(sums)):
        for t in range(len(row)):
            values[c, 0] += sums[c, t] * row[t]
    compare(documents, i, labels, clusters, rule, values)
    find_least(values, np.zeros(len(sums)), np.ones(len(sums)), winner, least, second)
    settle_ties(documents, i, labels, clusters, rule, values, winner, least, second)
    return winner[0]


@_compiled
def compare(documents, first, labels, clusters, rule, values):  # type: ignore[no-untyped-def]
    """Turn sums of similarities (k, documents) into what is compared; see `sums.comparison`."""
    _, sizes, within, squares, offsets, slopes, _ = clusters
    _, _, diagonal, _, weights, _, _ = documents
    adjusted, _, shift, _, centroid = rule
    own = np.empty(values.shape[1])
    changed = adjusted or shift != 0.0
    if changed:
        for r in range(len(own)):
            i = first + r
            c = labels[i]
            if c >= 0 and adjusted:
                own[r] = left_out(
                    values[c, r], sizes[c], within[c], squares[c], diagonal[i], weights[i], shift, centroid
                )
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
def find_least(values, offsets, slopes, winner, least, second):  # type: ignore[no-untyped-def]
    """Find the least of offset + slope · value in every column, where it stands, and the next."""
    many = values.shape[1]
    for c in range(len(values)):
        row, offset, slope = values[c], offsets[c], slopes[c]
        if c == 0:
            for r in range(many):
                winner[r], least[r], second[r] = 0, offset + slope * row[r], np.inf
            continue
        for r in range(many):
            value, best = offset + slope * row[r], least[r]
            closer = value < best
            other = best if closer else value
            second[r] = other if other < second[r] else second[r]
            winner[r] = c if closer else winner[r]
            least[r] = value if closer else best


@_compiled
def settle_ties(documents, first, labels, clusters, rule, values, winner, least, second):  # type: ignore[no-untyped-def]
    """Let the lowest number win a tie or, with `adjusted`, the document stay where it is; see `sums.Rule`."""
    adjusted, tolerance, _, _, _ = rule
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
    features, numbers, diagonal, _, _, _, _ = documents
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
