"""A stand-in for the array library of a GPU: as strict as one, and with textbook twins of the compiled functions.

Its arrays never turn into NumPy's by themselves, and refuse to be mixed with them. `RawModule` gives the twins below
instead of compiling anything, so what steers the device is tested where there is none.
"""

from types import SimpleNamespace

import numpy as np
import scipy.sparse as sp

SIZE, INNER, SQUARE, OFFSET, SLOPE, EXTENT, COUNT = range(7)


class Array(np.lib.mixins.NDArrayOperatorsMixin):
    """An array of the device."""

    def __init__(self, values):
        self.values = values

    shape = property(lambda self: self.values.shape)
    dtype = property(lambda self: self.values.dtype)
    ndim = property(lambda self: self.values.ndim)
    size = property(lambda self: self.values.size)
    T = property(lambda self: Array(self.values.T))

    def __array__(self, *args, **options):
        raise TypeError("an array of the device does not turn into one of NumPy by itself")

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **options):
        if out is not None:
            options["out"] = tuple(inside(value) for value in out)
        result = getattr(ufunc, method)(*(inside(value) for value in inputs), **options)
        return out[0] if out is not None else outside(result)

    def __array_function__(self, function, types, args, options):
        return outside(function(*nested(args), **nested(options)))

    def __len__(self):
        return len(self.values)

    def __getitem__(self, index):
        return outside(self.values[nested(index)])

    def __setitem__(self, index, value):
        self.values[nested(index)] = inside(value)

    def get(self):
        return np.array(self.values)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        found = getattr(self.values, name)
        if not callable(found):
            return found
        return lambda *args, **options: outside(found(*nested(args), **nested(options)))


class Rows:
    """A CSR array of the device."""

    def __init__(self, matrix):
        self.matrix = matrix

    shape = property(lambda self: self.matrix.shape)
    dtype = property(lambda self: self.matrix.dtype)
    nnz = property(lambda self: self.matrix.nnz)
    T = property(lambda self: Rows(self.matrix.T.tocsr()))
    data = property(lambda self: Array(self.matrix.data))
    indices = property(lambda self: Array(self.matrix.indices))
    indptr = property(lambda self: Array(self.matrix.indptr))

    def __matmul__(self, other):
        if isinstance(other, Rows):
            return Rows(sp.csr_array(self.matrix @ other.matrix))
        return Array(self.matrix @ inside(other))

    def __getitem__(self, index):
        return Rows(self.matrix[nested(index)])

    def toarray(self):
        return Array(self.matrix.toarray())

    def astype(self, dtype):
        return Rows(self.matrix.astype(dtype))

    def multiply(self, other):
        return Rows(sp.csr_array(self.matrix.multiply(other.matrix)))

    def sum(self, axis):
        return Array(np.asarray(self.matrix.sum(axis=axis)).reshape(-1, 1))

    def get(self):
        return self.matrix


def inside(value):
    """Return what an array of the device holds; NumPy's own arrays are refused, numbers are not."""
    if isinstance(value, Array):
        return value.values
    if isinstance(value, np.ndarray) and value.ndim:
        raise TypeError("an array of NumPy meets one of the device")
    return value


def nested(value):
    if isinstance(value, (tuple, list)):
        return type(value)(nested(item) for item in value)
    if isinstance(value, dict):
        return {name: nested(item) for name, item in value.items()}
    return inside(value)


def outside(value):
    if isinstance(value, np.ndarray):
        return Array(value)
    if isinstance(value, tuple):
        return tuple(outside(item) for item in value)
    return Array(np.asarray(value)) if isinstance(value, np.generic) else value


def maker(function):
    def make(*args, **options):
        plain = [value.values if isinstance(value, Array) else value for value in args]
        return Array(np.array(function(*plain, **options)))

    return make


class RawModule:
    """What CuPy's module of compiled functions offers."""

    def __init__(self, code, options):
        self.code = code

    def get_function(self, name):
        assert f"void {name}(" in self.code or f"FOLLOW({name}," in self.code, f"{name} is not in the file"
        return Function(TWINS[name])


class Function:
    max_dynamic_shared_size_bytes = 48 * 1024

    def __init__(self, twin):
        self.twin = twin

    def __call__(self, grid, block, args, shared_mem):
        assert all(1 <= g < 2**31 for g in grid)
        assert 1 <= block[0] <= 1024
        assert shared_mem <= 227 * 1024
        self.twin(*(plain(value) for value in args))


def plain(value):
    if isinstance(value, Array):
        assert value.values.flags.c_contiguous, "a compiled function reads rows one after the other"
        return value.values
    assert not isinstance(value, np.ndarray), "an array of NumPy was given to a compiled function"
    assert isinstance(value, (int, np.int32, np.float64, np.intp)), f"{type(value)} has no fixed size"
    return None if isinstance(value, np.intp) and not isinstance(value, int) and value == 0 else value


# ---- twins ----


def set_figures(figures, at, size, inner, square, count, tolerance, shift, centroid, adjusted, spherical):
    offset, slope, extent = (0.0 if size > 0 else np.inf), 0.0, 0.0
    if not size > 0:
        extent = 0.0 if spherical else np.inf
    elif spherical:
        slope = -1.0 / np.sqrt(inner) if inner > 0 else 0.0
    else:
        offset = centroid * (inner + shift * square) / size**2
        slope, extent = -2.0 / size, abs(offset)
    figures[(slice(None), *at)] = [size, inner, square, offset, slope, extent, count]


def own_value(figures, c, similar, diagonal, w, tolerance, shift, centroid, adjusted, spherical):
    one = min(w, 1.0)
    if not adjusted:
        return figures[OFFSET, c] + figures[SLOPE, c] * (similar + shift * one)
    rest = figures[SIZE, c] - one
    if rest <= 1e-12 * one:
        return -np.inf
    left = figures[INNER, c] - 2 * one * similar + one**2 * diagonal + shift * (figures[SQUARE, c] - one**2)
    return centroid * left / rest**2 - 2 * (similar - one * diagonal) / rest


def choose(sums, figures, current, diagonal, w, rule):
    """Return the next cluster of one document with sums (k,)."""
    tolerance, _, _, adjusted, spherical = rule
    with np.errstate(invalid="ignore"):
        values = figures[OFFSET] + figures[SLOPE] * sums
    if current >= 0:
        values[current] = own_value(figures, current, sums[current], diagonal, w, *rule)
    reach = np.sqrt(abs(diagonal)) if spherical else abs(diagonal)
    best = values.argmin()
    limit = values[best] + tolerance * (reach + figures[EXTENT, best])
    if adjusted and current >= 0 and values[current] <= limit:
        return current
    return int((values <= limit).argmax())


def list_moves(old, now, rows, count, n, runs, anew, slots, low, many, room, stride, tall, wide, *out):
    lines, heads, changed = out
    for tile in range(len(lines)):
        for slot in range(slots):
            found = [[] for _ in range(2 * many)]
            for t, i in enumerate(rows[tile * tall : min((tile + 1) * tall, count)]):
                a, b = old[runs[slot], i], now[runs[slot], i]
                if b >= 0 and (anew[slot] or a != b):
                    if low <= b < low + many:
                        found[2 * (b - low)].append(t)
                    if not anew[slot] and low <= a < low + many:
                        found[2 * (a - low) + 1].append(t)
            end = 0
            for key, some in enumerate(found):
                whole = [*some, *[tall] * (-len(some) % 4)]
                lines[tile, slot, end : end + len(whole)] = np.array(whole, dtype=int) * wide
                end += len(whole)
                heads[tile, slot, key] = end // 4
                changed[slot, key // 2] |= bool(some)
            assert end + 4 <= room


def follow(matrix, places, rows, count, n, runs, clear, slots, each, units, parts, k, low, many, room, stride, *rest):
    tall, lines, heads, changed, weights, sums = rest
    assert units * parts * 17 >= many
    assert len(lines) == -(-count // tall)
    wide = 32 * matrix.dtype.itemsize
    for slot in range(slots):
        for c in range(many):
            total = np.zeros(n)
            for tile in range(len(lines)):
                middle, end = 4 * heads[tile, slot, 2 * c : 2 * c + 2].astype(int)
                for place in range(4 * heads[tile, slot, 2 * c - 1] if c else 0, end):
                    t = lines[tile, slot, place] // wide
                    if t < tall:
                        at = tile * tall + t
                        w = (1.0 if weights is None else weights[rows[at]]) * (1.0 if place < middle else -1.0)
                        total += w * matrix[places[at]].astype(np.float64)
            if clear[slot] or changed[slot, c]:
                sums[runs[slot], low + c] = (0.0 if clear[slot] else sums[runs[slot], low + c]) + total


def collect(touched, n, rows, number):
    found = np.flatnonzero(touched)
    rows[: len(found)], number[0] = found, len(found)
    touched[:] = 0


def half_product(a, b, out):
    for array in (a, b, out):
        assert array.values.flags.c_contiguous
    assert a.shape[1] == b.shape[1]
    assert all(side % 16 == 0 for side in a.shape)
    assert (a.dtype, b.dtype, out.dtype) == (np.float16, np.float16, np.float32)
    out.values[:] = b.values.astype(np.float32) @ a.values.T.astype(np.float32)


def measure(sums, labels, weights, n, k, runs, total, *rest):
    *rule, figures = rest
    for run in runs:
        for c in range(k):
            members = labels[run] == c
            w = np.ones(n)[members] if weights is None else weights[members]
            if not members.any():
                sums[run, c] = 0.0
            inner = float(w @ sums[run, c, members])
            set_figures(figures, (run, c), w.sum(), inner, (w * np.minimum(w, 1)).sum(), members.sum(), *rule)


def assign(sums, labels, before, diagonal, weights, n, k, runs, total, figures, *rest):
    *rule, outside, following, touched, tally, counts = rest
    for run in runs:
        for i in range(n):
            current = labels[run, i]
            if (current < 0) != bool(outside):
                following[run, i] = current
                continue
            w = 1.0 if weights is None else weights[i]
            chosen = choose(sums[run, :, i], figures[:, run], current, diagonal[i], w, rule)
            following[run, i] = chosen
            if outside:
                continue
            if chosen != current:
                touched[i] = 1
                tally[2 * run] += 1
            tally[2 * run + 1] += chosen != before[run, i]
            counts[run * k + chosen] += 1


def distances(sums, following, diagonal, n, k, run, total, figures, tolerance, far, least):
    far[:], least[:] = -np.inf, 0.0
    for i in np.flatnonzero(following[run] >= 0):
        c = following[run, i]
        size = figures[SIZE, run, c]
        norm = figures[INNER, run, c] / size**2 if size > 0 else np.inf
        far[i] = diagonal[i] + norm - 2 * sums[run, c, i] / (size if size > 0 else 1.0)
        least[i] = tolerance * (abs(diagonal[i]) + abs(norm))


def row(indptr, indices, data, wide, i):
    """Return columns and values of one document."""
    if indptr is None:
        return np.arange(wide), data[i]
    part = slice(indptr[i], indptr[i + 1])
    return indices[part], data[part]


def whole(value):
    return np.rint(value).astype(np.int64)


def move_rows(indptr, indices, data, wide, n, k, old, now, anew, weights, factor, weight_factor, sums, tallies):
    for i in range(n):
        a, b = old[i], now[i]
        if b < 0 or (not anew and a == b):
            continue
        w = 1.0 if weights is None else weights[i]
        columns, values = row(indptr, indices, data, wide, i)
        tally = whole(np.array([w * weight_factor, w * min(w, 1) * weight_factor, 1.0]))
        np.add.at(sums, (columns, b), whole(w * values * factor))
        tallies[:, b] += tally
        if not anew:
            np.add.at(sums, (columns, a), -whole(w * values * factor))
            tallies[:, a] -= tally


def fold(sums, features, k, stride, factor, each, partial, table):
    values = sums * factor
    table[:] = 0
    table[:, :k] = values
    for part in range(len(partial)):
        partial[part] = (values[part * each : (part + 1) * each] ** 2).sum(axis=0)


def measure_rows(partial, parts, k, tallies, weight_factor, *rest):
    *rule, figures = rest
    for c in range(k):
        size, square, count = tallies[0, c] * weight_factor, tallies[1, c] * weight_factor, tallies[2, c]
        inner = partial[:, c].sum()
        set_figures(figures, (c,), *((size, inner, square, count) if count else (0.0, 0.0, 0.0, 0.0)), *rule)


def settle(sums, entries, i, figures, labels, lengths, diagonal, weights, screen, outside, following, doubtful, doubts):
    steep, constant, wide, tolerance, shift, spherical = screen
    current = labels[i]
    if (current < 0) != bool(outside):
        following[i] = current
        return
    values = (figures[OFFSET] + figures[SLOPE] * sums).astype(np.float32)
    if current >= 0:
        values[current] += figures[SLOPE, current] * shift * (1.0 if weights is None else min(weights[i], 1.0))
    order = np.argsort(values, kind="stable")
    second = values[order[1]] if len(order) > 1 else np.inf
    error = 2 * 2.0**-24 * (entries + 4) * lengths[i] * steep + constant
    reach = np.sqrt(abs(diagonal[i])) if spherical else abs(diagonal[i])
    if second - values[order[0]] > 2 * error + tolerance * (reach + wide):
        following[i] = order[0]
    else:
        doubtful[doubts[0]] = i
        doubts[0] += 1


def screen_sparse(indptr, indices, data, n, k, stride, table, figures, labels, lengths, diagonal, weights, *rest):
    *screen, outside, following, doubtful, doubts = rest
    for i in range(n):
        columns, values = row(indptr, indices, data, None, i)
        sums = values @ table[columns, :k]
        settle(
            sums, len(columns), i, figures, labels, lengths, diagonal, weights, screen, outside, following, doubtful,
            doubts,
        )  # fmt: skip


def screen_dense(sums, first, count, entries, k, stride, left, right, figures, labels, lengths, diagonal, *rest):
    weights, *screen, outside, following, doubtful, doubts = rest
    for r in range(count):
        settle(
            sums[r, :k] * left[first + r] * right[:k],
            entries,
            first + r,
            figures,
            labels,
            lengths,
            diagonal,
            weights,
            screen,
            outside,
            following,
            doubtful,
            doubts,
        )


def decide(indptr, indices, data, products, first, k, sums, factor, figures, labels, diagonal, weights, *rest):
    *rule, outside, count, which, following, similar = rest
    for at in range(count):
        i = first + at if which is None else which[first + at]
        if products is None:
            terms, values = row(indptr, indices, data, None, i)
            found = values @ (sums[terms] * factor)
        else:
            found = products[at]
        if similar is not None:
            similar[i] = found[following[i]] if following[i] >= 0 else 0.0
        elif (labels[i] < 0) != bool(outside):
            following[i] = labels[i]
        else:
            w = 1.0 if weights is None else weights[i]
            following[i] = choose(found, figures, labels[i], diagonal[i], w, rule)


def count_moves(labels, before, following, n, tally, counts):
    there = labels >= 0
    tally[0] += (following != labels)[there].sum()
    tally[1] += (following != before)[there].sum()
    counts += np.bincount(following[there], minlength=len(counts)).astype(np.int32)


def times(indptr, indices, data, rows, lanes, v, out):
    out[:] = sp.csr_array((data, indices, indptr), shape=(rows, len(v))) @ v


def lay_out(indptr, indices, data, some, wide, table):
    for c in range(wide):
        columns, values = row(indptr, indices, data, None, some[c])
        np.add.at(table[:, c], columns, values)


def compare(indptr, indices, data, n, table, wide, out):
    out[:] = (sp.csr_array((data, indices, indptr), shape=(n, len(table))) @ table).T


TWINS = {
    "times": times,
    "lay_out": lay_out,
    "compare": compare,
    "list_moves": list_moves,
    **{f"follow{bits}{weighted}": follow for bits in (32, 64) for weighted in ("", "_weighted")},
    "collect": collect,
    "measure": measure,
    "assign": assign,
    "distances": distances,
    "move_rows": move_rows,
    "fold": fold,
    "measure_rows": measure_rows,
    "screen_sparse": screen_sparse,
    "screen_dense": screen_dense,
    "decide": decide,
    "count_moves": count_moves,
}


class Library:
    """The module."""


def library(memory=2**34):
    """Return the stand-in as a module with so many bytes of memory."""
    names = ["asarray", "zeros", "empty", "full", "ones", "arange", "ascontiguousarray"]
    made = Library()
    for name in names:
        setattr(made, name, maker(getattr(np, name)))
    made.__name__ = "standin"
    made.ndarray, made.RawModule, made.sparse_rows = Array, RawModule, Rows
    made.flatnonzero, made.half_product = np.flatnonzero, half_product
    runtime = SimpleNamespace(memGetInfo=lambda: (memory, memory), getDeviceCount=lambda: 1, getDevice=lambda: 0)
    made.used = []  # numbers of cards
    made.cuda = SimpleNamespace(
        runtime=runtime, Device=lambda number: SimpleNamespace(use=lambda: made.used.append(number))
    )
    made.get_default_memory_pool = lambda: SimpleNamespace(free_bytes=lambda: 0)
    return made
