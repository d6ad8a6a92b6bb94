#include "linkage.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "loops.hpp"

namespace grampus {
namespace {

constexpr double INFINITE = __builtin_inf();
constexpr double FAR = 1e6;  // of points of about unit length

struct Join {
    int64_t one, other;
    double height;
};

// Clusters in order, and their distances. One that was joined to another stays, closed, until there are many of these.
struct Clusters {
    double* apart;
    int64_t n;
    std::vector<int64_t> numbers;
    std::vector<double> sizes, closed;

    Clusters(double* apart, int64_t n) : apart(apart), n(n), numbers(n), sizes(n, 1.0), closed(n, 0.0) {
        std::iota(numbers.begin(), numbers.end(), 0);
        for (int64_t i = 0; i < n; ++i) row(i)[i] = INFINITE;
    }
    double* row(int64_t i) { return apart + i * n; }

    // The nearest cluster, the first of several; `before` where none is nearer.
    int64_t nearest(int64_t i, int64_t before) {
        const double least = loops().least_sum(row(i), closed.data(), n);
        if (before >= 0 && !(least < row(i)[before])) return before;
        int64_t place = 0;
        while (row(i)[place] + closed[place] != least) ++place;
        return place;
    }

    void merge(int64_t gone, int64_t kept, bool ward) {
        const double *from = row(gone), height = from[kept], one = sizes[gone], other = sizes[kept];
        double* to = row(kept);
        if (ward) loops().ward(from, sizes.data(), n, one, other, height, to);
        else for (int64_t i = 0; i < n; ++i) to[i] = (one * from[i] + other * to[i]) / (one + other);
        to[kept] = INFINITE;
        sizes[gone] = 0.0, closed[gone] = INFINITE, sizes[kept] = one + other;
        for (int64_t i = 0; i < n; ++i) row(i)[kept] = to[i];
    }

    // Leave out those that are closed; IN/OUT places of clusters.
    void close_ranks(std::vector<int64_t>& places) {
        std::vector<int64_t> open, now(n, -1);
        for (int64_t i = 0; i < n; ++i)
            if (sizes[i] > 0.0) now[i] = static_cast<int64_t>(open.size()), open.push_back(i);
        const int64_t left = static_cast<int64_t>(open.size());
        for (int64_t i = 0; i < left; ++i)  // every entry moves towards the beginning
            for (int64_t j = 0; j < left; ++j) apart[i * left + j] = apart[open[i] * n + open[j]];
        for (int64_t i = 0; i < left; ++i) numbers[i] = numbers[open[i]], sizes[i] = sizes[open[i]];
        for (int64_t& place : places) place = now[place];
        n = left;
        numbers.resize(n), sizes.resize(n), closed.assign(n, 0.0);
    }
};

int64_t root(std::vector<int64_t>& parents, int64_t node) {
    while (parents[node] != node) node = parents[node] = parents[parents[node]];
    return node;
}

}  // namespace

void distances(const double* points, int64_t n, int64_t m, double* apart) {
    std::vector<double> columns(n * m);
    for (int64_t i = 0; i < n; ++i)
        for (int64_t t = 0; t < m; ++t) columns[t * n + i] = points[i * m + t];
    for (int64_t i = 0; i < n; ++i) {
        apart[i * n + i] = 0.0;
        loops().distances(points + i * m, columns.data(), i + 1, n, m, apart + i * n);
    }
    mirror(apart, n);
}

void mirror(double* apart, int64_t n) {
    for (int64_t i = 0; i < n; i += BLOCK)  // by squares that stay in the cache
        for (int64_t j = i; j < n; j += BLOCK)
            for (int64_t r = i; r < std::min(i + BLOCK, n); ++r)
                for (int64_t c = std::max(j, r + 1); c < std::min(j + BLOCK, n); ++c) apart[c * n + r] = apart[r * n + c];
}

void join(double* apart, int64_t n, bool ward, int64_t* joins) {
    Clusters all(apart, n);
    std::vector<int64_t> chain;
    std::vector<Join> found;
    for (int64_t left = n; left > 1; --left) {
        if (4 * left < 3 * all.n) all.close_ranks(chain);
        if (chain.empty()) chain.push_back(std::find_if(all.sizes.begin(), all.sizes.end(), [](double size) { return size > 0.0; }) - all.sizes.begin());
        for (;;) {  // until two clusters are nearest to each other
            const int64_t before = chain.size() > 1 ? chain[chain.size() - 2] : -1;
            const int64_t next = all.nearest(chain.back(), before);
            if (next == before) break;
            chain.push_back(next);
        }
        const int64_t last = chain.back(), before = chain[chain.size() - 2];
        chain.resize(chain.size() - 2);
        const int64_t gone = std::min(last, before), kept = std::max(last, before);
        found.push_back({all.numbers[gone], all.numbers[kept], all.row(gone)[kept]});
        all.merge(gone, kept, ward);
    }
    std::stable_sort(found.begin(), found.end(), [](const Join& a, const Join& b) { return a.height < b.height; });
    std::vector<int64_t> parents(2 * n - 1);
    std::iota(parents.begin(), parents.end(), 0);
    for (const Join& step : found) {
        const int64_t one = root(parents, step.one), other = root(parents, step.other);
        parents[one] = parents[other] = n + (&step - found.data());
        *joins++ = std::min(one, other), *joins++ = std::max(one, other);
    }
}

void centres(const double* points, const int64_t* labels, int64_t n, int64_t m, int64_t k, double* centres) {
    std::fill(centres, centres + k * m, 0.0);
    std::vector<double> sizes(k, 0.0);
    for (int64_t i = 0; i < n; ++i) {
        double* sum = centres + labels[i] * m;
        for (int64_t t = 0; t < m; ++t) sum[t] += points[i * m + t];
        sizes[labels[i]] += 1.0;
    }
    for (int64_t c = 0; c < k; ++c)
        for (int64_t t = c * m; t < (c + 1) * m; ++t) centres[t] = sizes[c] > 0.0 ? centres[t] / sizes[c] : FAR;
}

// Half the square of a centre less its product with a point, in single precision, and in double where that is too close.
void nearest_centres(const double* points, const double* centres, int64_t n, int64_t m, int64_t k, int64_t* labels) {
    const int stride = static_cast<int>((k + LANES - 1) / LANES) * LANES;
    std::vector<float> rows(n * m + PADDING), table(m * stride + PADDING), offsets(stride, static_cast<float>(INFINITE)), slopes(stride, -1.0f);
    std::vector<double> lengths(n), squares(k);
    const auto square_of = [m](const double* row) { return loops().dot(row, row, m); };
    std::copy(points, points + n * m, rows.begin());
    for (int64_t i = 0; i < n; ++i) lengths[i] = std::sqrt(square_of(points + i * m));
    const double near = 16.0 * *std::max_element(lengths.begin(), lengths.end());
    double longest = 0.0;  // of the centres that are not far from all points, as an empty one is
    for (int64_t c = 0; c < k; ++c) {
        squares[c] = square_of(centres + c * m);
        if (squares[c] <= near * near) longest = std::max(longest, std::sqrt(squares[c]));
        offsets[c] = static_cast<float>(0.5 * squares[c]);
        for (int64_t t = 0; t < m; ++t) table[t * stride + c] = static_cast<float>(centres[c * m + t]);
    }
    const Rough rough{stride, offsets.data(), slopes.data(), nullptr};
    const double unit = 1.2e-7 * static_cast<double>(m + 8);  // more than all roundings of a sum, relative to its parts
    std::vector<float> sums(BLOCK * stride);
    int32_t numbers[BLOCK];
    for (int64_t first = 0; first < n; first += BLOCK) {
        const int count = static_cast<int>(std::min<int64_t>(BLOCK, n - first));
        std::iota(numbers, numbers + count, static_cast<int32_t>(first));
        loops().dense_sums(rows.data(), m, numbers, count, table.data(), stride, sums.data());
        for (int r = 0; r < count; ++r) {
            const int64_t i = first + r;
            float least, second;
            int winner;
            loops().least(sums.data() + r * stride, rough, -1, 0.0f, &least, &second, &winner);
            // A far centre is wrong by less than 2 units of its value, the others by what their lengths say.
            const double room = 2.0 * unit * (lengths[i] * longest + 0.5 * longest * longest + 2.0 * std::fabs(second));
            labels[i] = winner;
            if (k == 1 || (second - least > room && squares[winner] <= near * near)) continue;
            double best = -INFINITE;
            labels[i] = 0;
            for (int64_t c = 0; c < k; ++c) {
                const double similar = loops().dot(points + i * m, centres + c * m, m) - 0.5 * squares[c];
                if (similar > best) best = similar, labels[i] = c;
            }
        }
    }
}

}  // namespace grampus
