#include "vectors.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <vector>

#include "loops.hpp"

namespace grampus {
namespace {

constexpr int64_t ENTRIES = 32768;  // of a piece of sparse rows
constexpr int64_t COLUMNS = 512;    // of a piece of a basis

// W columns of the product of rows i and j; two rows at a time, so that no sum waits for the one before.
template <int W, class I>
inline void two_rows(const SparseRows<I>& a, int64_t i, int64_t j, const double* given, int64_t wide, double* one, double* other) {
    double x[W] = {}, y[W] = {};
    I p = a.ends[i], q = a.ends[j];
    const I last = a.ends[i + 1], end = a.ends[j + 1];
    for (I both = std::min<I>(last - p, end - q); both > 0; --both, ++p, ++q) {
        const double v = a.values[p], w = a.values[q];
        const double *r = given + static_cast<int64_t>(a.columns[p]) * wide, *s = given + static_cast<int64_t>(a.columns[q]) * wide;
        for (int c = 0; c < W; ++c) x[c] += v * r[c], y[c] += w * s[c];
    }
    for (; p < last; ++p) {
        const double v = a.values[p], *r = given + static_cast<int64_t>(a.columns[p]) * wide;
        for (int c = 0; c < W; ++c) x[c] += v * r[c];
    }
    for (; q < end; ++q) {
        const double w = a.values[q], *s = given + static_cast<int64_t>(a.columns[q]) * wide;
        for (int c = 0; c < W; ++c) y[c] += w * s[c];
    }
    for (int c = 0; c < W; ++c) one[c] = x[c];
    for (int c = 0; c < W; ++c) other[c] = y[c];
}

template <int W, class I>
void columns_of(const SparseRows<I>& a, int64_t first, int64_t last, const double* given, int64_t wide, double* found) {
    for (int64_t i = first; i < last; i += 2) {
        const int64_t j = std::min(i + 1, last - 1);
        two_rows<W>(a, i, j, given, wide, found + (i - first) * wide, found + (j - first) * wide);
    }
}

// OUT found: the products of the rows first … last alone.
template <class I>
void some_rows(const SparseRows<I>& a, int64_t first, int64_t last, const double* given, int64_t wide, double* found) {
    int64_t c = 0;
    for (; c + 8 <= wide; c += 8) columns_of<8>(a, first, last, given + c, wide, found + c);
    for (; c + 4 <= wide; c += 4) columns_of<4>(a, first, last, given + c, wide, found + c);
    for (; c + 2 <= wide; c += 2) columns_of<2>(a, first, last, given + c, wide, found + c);
    if (c < wide) columns_of<1>(a, first, last, given + c, wide, found + c);
}

// Add row i, times W numbers, to the columns.
template <int W, class I>
inline void scatter(const SparseRows<I>& a, int64_t i, const double* own, double* sum, int64_t wide = W) {
    for (I e = a.ends[i]; e < a.ends[i + 1]; ++e) {
        double* to = sum + static_cast<int64_t>(a.columns[e]) * wide;
        for (int c = 0; c < W; ++c) to[c] += a.values[e] * own[c];
    }
}

}  // namespace

template <class I>
void times(const SparseRows<I>& a, const double* given, int64_t wide, double* found, Team& team) {
    const int64_t entries = static_cast<int64_t>(a.ends[a.n]), pieces = std::max<int64_t>(1, entries / ENTRIES);
    const auto begin = [&](int64_t p) {
        if (p == pieces) return a.n;
        const I place = static_cast<I>(entries / pieces * p);
        return static_cast<int64_t>(p == 0 ? 0 : std::lower_bound(a.ends, a.ends + a.n, place) - a.ends);
    };
    team.share(pieces, [&](int64_t p) { some_rows(a, begin(p), begin(p + 1), given, wide, found + begin(p) * wide); });
}

template <class I>
void times_square(const SparseRows<I>& a, const double* scale, const double* given, int64_t wide, int64_t piece, double* found,
                  Team& team) {
    const int64_t size = a.m * wide, pieces = (a.n + piece - 1) / piece;
    const std::unique_ptr<double[]> sums(new double[static_cast<size_t>(pieces * size)]);  // each piece clears its own
    team.share(pieces, [&](int64_t p) {
        double* sum = sums.get() + p * size;
        std::fill(sum, sum + size, 0.0);
        const int64_t first = p * piece, last = std::min(a.n, first + piece);
        std::vector<double> products(static_cast<size_t>((last - first) * wide));
        some_rows(a, first, last, given, wide, products.data());
        for (int64_t i = first; i < last; ++i) {
            double* own = products.data() + (i - first) * wide;
            for (int64_t c = 0; c < wide; ++c) own[c] = scale[i] * (scale[i] * own[c]);
            if (wide == 2) scatter<2>(a, i, own, sum);
            else for (int64_t c = 0; c < wide; ++c) scatter<1>(a, i, own + c, sum + c, wide);
        }
    });
    team.share(size, COLUMNS, [&](int64_t from, int64_t to) {
        std::fill(found + from, found + to, 0.0);
        for (int64_t p = 0; p < pieces; ++p)
            for (int64_t t = from; t < to; ++t) found[t] += sums[p * size + t];
    });
}

void along(const double* basis, int64_t count, int64_t n, const double* vectors, int64_t wide, double* found, Team& team) {
    const int64_t size = wide * count, pieces = (n + COLUMNS - 1) / COLUMNS;
    std::vector<double> parts(static_cast<size_t>(pieces * size));
    team.share(n, COLUMNS, [&](int64_t first, int64_t last) {
        double* part = parts.data() + first / COLUMNS * size;
        for (int64_t r = 0; r < count; ++r)
            for (int64_t v = 0; v < wide; ++v) part[v * count + r] = loops().dot(basis + r * n + first, vectors + v * n + first, last - first);
    });
    std::fill(found, found + size, 0.0);
    for (int64_t p = 0; p < pieces; ++p)
        for (int64_t t = 0; t < size; ++t) found[t] += parts[p * size + t];
}

void take_away(const double* basis, int64_t count, int64_t n, const double* factors, int64_t wide, double* vectors, Team& team) {
    std::vector<int32_t> rows(static_cast<size_t>(count));
    std::iota(rows.begin(), rows.end(), 0);
    std::vector<double> less(factors, factors + wide * count);
    for (double& factor : less) factor = -factor;
    team.share(n, COLUMNS, [&](int64_t first, int64_t last) {
        for (int64_t v = 0; v < wide; ++v)
            loops().add_rows64(basis + first, n, rows.data(), less.data() + v * count, count, last - first, vectors + v * n + first);
    });
}

template void times(const SparseRows<int32_t>&, const double*, int64_t, double*, Team&);
template void times(const SparseRows<int64_t>&, const double*, int64_t, double*, Team&);
template void times_square(const SparseRows<int32_t>&, const double*, const double*, int64_t, int64_t, double*, Team&);
template void times_square(const SparseRows<int64_t>&, const double*, const double*, int64_t, int64_t, double*, Team&);

}  // namespace grampus
