#include "dense.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "neighbours.hpp"

namespace grampus {
namespace {

constexpr double LEAST = 1.2e-38;  // smaller numbers lose digits in single precision
constexpr int WIDE = 4, MANY = 32 * WIDE;  // numbers in a vector, and numbers of which the WIDE largest are looked at first
constexpr int TOGETHER = 256;              // columns multiplied at a time, which stay in the cache
typedef float Vector __attribute__((vector_size(4 * WIDE), aligned(4)));

inline Vector load(const float* p) { return *reinterpret_cast<const Vector*>(p); }

// A number that at least p of the values reach, and few others: the p-th of the largest of every 32 values.
float limit_of(const float* values, int64_t n, int p, std::vector<float>& scratch) {
    if (n < MANY * (p + 1)) return rough_limit(values, n, p, scratch);
    scratch.resize(WIDE * (n / MANY));
    for (int64_t group = 0; group < n / MANY; ++group) {
        const float* at = values + group * MANY;
        Vector a = load(at), b = load(at + WIDE);
        for (int k = 2 * WIDE; k < MANY; k += 2 * WIDE) {
            const Vector x = load(at + k), y = load(at + k + WIDE);
            a = x > a ? x : a, b = y > b ? y : b;
        }
        a = b > a ? b : a;
        for (int k = 0; k < WIDE; ++k) scratch[WIDE * group + k] = a[k];
    }
    std::nth_element(scratch.begin(), scratch.begin() + (p - 1), scratch.end(), std::greater<float>());
    return scratch[p - 1];
}

}  // namespace

void rough_products(const int8_t* rows, int64_t count, const double* scales, const double* begins, const Layer& columns,
                    const double* others, int64_t n, float* products) {
    std::vector<int32_t> whole(count * TOGETHER);
    float scale[TOGETHER], other[TOGETHER];
    for (int first = 0; first < columns.wide; first += TOGETHER) {
        const int wide = std::min(TOGETHER, columns.wide - first), kept = static_cast<int>(std::min<int64_t>(wide, n - first));
        const Layer some{columns.depth, wide, columns.weights + static_cast<int64_t>(first) * columns.depth, columns.scale + first,
                         columns.sums + first};
        encoder_loops().multiply(rows, count, some, whole.data());
        for (int j = 0; j < kept; ++j) scale[j] = static_cast<float>(some.scale[j]), other[j] = static_cast<float>(others[first + j]);
        for (int64_t i = 0; i < count; ++i) {
            const float own = static_cast<float>(scales[i]), begin = static_cast<float>(begins[i]);
            const int32_t* product = whole.data() + i * wide;
            float* out = products + i * n + first;
            for (int j = 0; j < kept; ++j) out[j] = static_cast<float>(product[j]) * (own * scale[j]) + (begin + other[j]);
        }
    }
}

DenseRows::DenseRows(const double* rows, int64_t n, int64_t m, const double* far)
    : rows_(rows), n_(n), m_(m), far_(far), lengths_(n) {
    for (int64_t i = 0; i < n; ++i) {
        lengths_[i] = std::sqrt(loops().dot(rows + i * m, rows + i * m, m));
        longest_ = std::max(longest_, lengths_[i]);
        if (far) {
            rough_far_.push_back(static_cast<float>(far[i]));
            if (std::isfinite(far[i])) farthest_ = std::max(farthest_, std::fabs(far[i]));
        }
    }
    in_range_ = longest_ < 1e12 && farthest_ < 1e24;
}

// At most how far a rough value of document i lies from the exact one.
double DenseRows::error(int64_t i, double lost) const {
    const double terms = static_cast<double>(m_ + 4), product = lengths_[i] * longest_;
    const double dot = lost + 2 * UNIT * terms * product + terms * (LEAST + 1e-44 * longest_);
    return far_ ? 2 * dot + 8 * UNIT * (product + farthest_) : dot;
}

int64_t DenseRows::nearest(float* rough, const double* lost, int64_t first, int64_t last, int p, double tie, double margin,
                           int64_t* columns, double* values) const {
    int64_t compared = 0;
    std::vector<double> exacts, scratch;
    std::vector<float> limits;
    std::vector<int32_t> places(n_), some;
    std::vector<size_t> kept;
    for (int64_t i = first; i < last; ++i, rough += n_, columns += p, values += p) {
        const double wrong = error(i, lost[i - first]);
        double low = -INFINITY;
        if (in_range_) {
            if (far_) for (int64_t j = 0; j < n_; ++j) rough[j] = 2.0f * rough[j] - rough_far_[j];
            rough[i] = -std::numeric_limits<float>::infinity();
            const double limit = limit_of(rough, n_, p, limits);
            low = limit - 2 * wrong - 2 * (tie * (std::fabs(limit) + wrong) + margin);
            low -= 2 * UNIT * std::fabs(low);
        }
        some.clear(), exacts.clear();
        int64_t found = n_;
        if (std::isfinite(low)) found = loops().above(rough, n_, static_cast<float>(low), places.data());
        for (int64_t r = 0; r < found; ++r) {
            const int32_t j = std::isfinite(low) ? places[r] : static_cast<int32_t>(r);
            if (j == i) continue;
            const double product = loops().dot(rows_ + i * m_, rows_ + j * m_, m_);
            some.push_back(j);
            exacts.push_back(far_ ? 2.0 * product - far_[j] : product);
        }
        compared += found;
        settle(some, exacts, p, tie, margin, scratch, kept);
        for (int r = 0; r < p; ++r) columns[r] = some[kept[r]], values[r] = exacts[kept[r]];
    }
    return compared;
}

}  // namespace grampus
