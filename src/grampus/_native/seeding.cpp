#include "seeding.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace grampus {
namespace {

constexpr double NOISE = 1e-12;  // of their size: distances that differ by less are equal
constexpr double INFINITE = std::numeric_limits<double>::infinity();
constexpr int PARTS = 4;  // partial sums: one fixed order

// The costs of joins, above the diagonal; infinite where a cluster is gone.
class Costs {
public:
    Costs(double* total, double* sizes, int64_t k) : total_(total), sizes_(sizes), k_(k), own_(k), cost_(k * k, INFINITE), least_(k, INFINITE) {
        for (int64_t c = 0; c < k; ++c) own_[c] = total[c * k + c] / (sizes[c] * sizes[c]);
        for (int64_t a = 0; a < k; ++a)
            for (int64_t b = a + 1; b < k; ++b) {
                at(a, b) = joined(a, b);
                least_[a] = std::min(least_[a], at(a, b));
            }
    }

    // The cheapest join of all, the first of equals.
    void cheapest(int64_t& one, int64_t& other) const {
        one = std::min_element(least_.begin(), least_.end()) - least_.begin();
        const double* row = cost_.data() + one * k_;
        other = std::min_element(row, row + k_) - row;
    }

    // The cheapest join inside a group; false where there is none.
    bool cheapest(const int64_t* group, int64_t& one, int64_t& other) const {
        double best = INFINITE;
        for (int64_t a = 0; a < k_; ++a) {
            if (!(least_[a] < best)) continue;
            for (int64_t b = a + 1; b < k_; ++b)
                if (group[a] == group[b] && cost_[a * k_ + b] < best) best = cost_[a * k_ + b], one = a, other = b;
        }
        return best < INFINITE;
    }

    // Join `other` to `one`, which is less.
    void join(int64_t one, int64_t other) {
        double* total = total_;
        for (int64_t c = 0; c < k_; ++c) total[one * k_ + c] += total[other * k_ + c];
        for (int64_t c = 0; c < k_; ++c) total[c * k_ + one] += total[c * k_ + other];
        sizes_[one] += sizes_[other];
        own_[one] = total[one * k_ + one] / (sizes_[one] * sizes_[one]);
        for (int64_t c = 0; c < other; ++c) changed(c, other, INFINITE);
        std::fill_n(cost_.begin() + other * k_, k_, INFINITE);
        sizes_[other] = -1.0;  // gone
        least_[other] = INFINITE;
        for (int64_t c = 0; c < one; ++c)
            if (sizes_[c] > 0.0) changed(c, one, joined(one, c));
        for (int64_t c = one + 1; c < k_; ++c)
            if (sizes_[c] > 0.0) at(one, c) = joined(one, c);
        least_[one] = smallest(one);
    }

private:
    double& at(int64_t a, int64_t b) { return cost_[a * k_ + b]; }

    double smallest(int64_t a) const { return *std::min_element(cost_.begin() + a * k_ + a, cost_.begin() + (a + 1) * k_); }

    // n_a n_b / (n_a + n_b) ‖μ_a − μ_b‖²: by how much the objective rises.
    double joined(int64_t a, int64_t b) const {
        const double squared = own_[a] + own_[b] - 2.0 * total_[a * k_ + b] / (sizes_[a] * sizes_[b]);
        return sizes_[a] * sizes_[b] / (sizes_[a] + sizes_[b]) * squared;
    }

    void changed(int64_t a, int64_t b, double cost) {
        const double before = at(a, b);
        at(a, b) = cost;
        if (cost <= least_[a]) least_[a] = cost;
        else if (before == least_[a]) least_[a] = smallest(a);
    }

    double* total_;
    double* sizes_;
    int64_t k_;
    std::vector<double> own_, cost_, least_;
};

}  // namespace

Seeds::Seeds(const double* diagonal, const double* mass, int64_t n)
    : diagonal_(diagonal, diagonal + n), mass_(mass, mass + n), nearest_(n, 1.0), total_(n), labels_(n, 0) {
    for (int64_t i = 0; i < n; ++i) size_ += mass_[i] * std::fabs(diagonal_[i]);
}

bool Seeds::draw(const double* uniform, int64_t count, int64_t* centres) {
    const int64_t n = static_cast<int64_t>(nearest_.size());
    double sum = 0.0;
    for (int64_t i = 0; i < n; ++i) total_[i] = sum += mass_[i] * nearest_[i];
    if (!(sum > 0.0)) return false;
    for (int64_t c = 0; c < count; ++c) {
        const int64_t place = std::upper_bound(total_.begin(), total_.end(), uniform[c] * sum) - total_.begin();
        centres[c] = std::min(place, n - 1);
    }
    return true;
}

inline double Seeds::distance(double similar, int64_t centre, int64_t i) const {
    const double size = diagonal_[centre] + diagonal_[i], squared = size - 2.0 * similar;
    return squared > NOISE * std::fabs(size) ? squared : 0.0;
}

void Seeds::take(const double* similar, const int64_t* centres, int64_t count) {
    const int64_t n = static_cast<int64_t>(nearest_.size());
    std::vector<double> far(static_cast<size_t>(count) * n);
    for (int64_t c = 0; c < count; ++c)
        for (int64_t i = 0; i < n; ++i) far[c * n + i] = distance(similar[c * n + i], centres[c], i);
    Team alone;
    keep(far.data(), centres, count, alone);
}

void Seeds::keep(const double* far, const int64_t* centres, int64_t count, Team& team) {
    const int64_t n = static_cast<int64_t>(nearest_.size());
    int64_t best = 0;
    if (taken_ == 0) {
        std::fill(nearest_.begin(), nearest_.end(), INFINITE);
    } else {
        std::vector<double> left(count);
        team.share(count, [&](int64_t c) {
            const double *row = far + c * n, *nearest = nearest_.data(), *mass = mass_.data();
            double part[PARTS] = {};
            int64_t i = 0;
            for (; i + PARTS <= n; i += PARTS)
                for (int l = 0; l < PARTS; ++l) part[l] += mass[i + l] * std::min(row[i + l], nearest[i + l]);
            for (; i < n; ++i) part[0] += mass[i] * std::min(row[i], nearest[i]);
            left[c] = (part[0] + part[1]) + (part[2] + part[3]);
        });
        const double least = *std::min_element(left.begin(), left.end());
        while (best < count - 1 && !(left[best] <= least + NOISE * size_)) ++best;  // the first of equals
    }
    const int64_t centre = centres[best];
    const double* row = far + best * n;
    for (int64_t i = 0; i < n; ++i) {
        if (i == centre || row[i] < nearest_[i] - NOISE * (diagonal_[i] + diagonal_[centre])) labels_[i] = taken_;
        nearest_[i] = std::min(nearest_[i], row[i]);
    }
    nearest_[centre] = 0.0;
    ++taken_;
}

Panels::Panels(const double* rows, int64_t n, int64_t m)
    : rows(rows), n(n), m(m), small(static_cast<size_t>((n + WIDE - 1) / WIDE * WIDE * m), 0.0f), lengths(n) {
    for (int64_t i = 0; i < n; ++i) {
        const double* row = rows + i * m;
        float* column = small.data() + i / WIDE * WIDE * m + i % WIDE;
        for (int64_t t = 0; t < m; ++t) column[t * WIDE] = static_cast<float>(row[t]);
        lengths[i] = std::sqrt(loops().dot(row, row, m));
    }
    rough = are_moderate(lengths);
}

namespace {

// Centres in single precision. The squared distance of document i, less K_ii, is at least offset − 2 S − drift · length:
// a sum of m products is off by at most (m + 4) roundings times both lengths, and twice that is allowed for.
struct Drawn {
    Drawn(const Panels& panels, const double* diagonal, const int64_t* centres, int count)
        : panels(panels), diagonal(diagonal), count(count), rows(count * panels.m), numbers(count), offsets(count), drifts(count) {
        for (int c = 0; c < count; ++c) {
            const int64_t i = centres[c], m = panels.m;
            for (int64_t t = 0; t < m; ++t) rows[c * m + t] = static_cast<float>(-2.0 * panels.rows[i * m + t]);
            numbers[c] = c;
            offsets[c] = static_cast<float>(diagonal[i] - 8 * UNIT * std::fabs(diagonal[i]));
            drifts[c] = static_cast<float>(4 * UNIT * static_cast<double>(m + 8) * panels.lengths[i]);
        }
    }

    // Whether a document of a panel, which begins with `first` and has so many, may be nearer to a centre than `nearest`.
    // OUT places (count, WIDE): which documents, to which centres; sums (count, WIDE).
    bool near(int64_t first, int many, const double* nearest, float* sums, int32_t* places) const {
        float limits[WIDE], lengths[WIDE];
        for (int l = 0; l < WIDE; ++l) {
            const int64_t i = first + std::min(l, many - 1);  // the last document fills up
            const double slack = 2 * UNIT * (nearest[i] + std::fabs(diagonal[i])) + 1e-36;
            limits[l] = static_cast<float>(nearest[i] - diagonal[i] + slack);
            lengths[l] = static_cast<float>(panels.lengths[i]);
        }
        loops().dense_sums(rows.data(), panels.m, numbers.data(), count, panels.small.data() + first * panels.m, WIDE, sums);
        int32_t any = 0;
        for (int c = 0; c < count; ++c)
            for (int l = 0; l < WIDE; ++l)
                any |= places[c * WIDE + l] = !(sums[c * WIDE + l] + (offsets[c] - drifts[c] * lengths[l]) > limits[l]);
        return any;
    }

    const Panels& panels;
    const double* diagonal;
    const int count;
    Numbers<float> rows;
    std::vector<int32_t> numbers;
    std::vector<float> offsets, drifts;
};

}  // namespace

void Seeds::measure(const Panels& panels, const int64_t* centres, int count, double* far, Team& team) const {
    const int64_t n = panels.n, m = panels.m;
    const Drawn drawn(panels, diagonal_.data(), centres, count);
    const bool rough = panels.rough && taken_ > 0;
    team.share(n, PIECE, [&](int64_t first, int64_t last) {
        Numbers<float> sums(static_cast<size_t>(count) * WIDE);
        std::vector<int32_t> places(static_cast<size_t>(count) * WIDE, 1);
        for (; first < last; first += WIDE) {
            const int many = static_cast<int>(std::min<int64_t>(WIDE, last - first));
            const bool any = !rough || drawn.near(first, many, nearest_.data(), sums.data(), places.data());
            for (int c = 0; c < count; ++c) {
                const double* centre = panels.rows + centres[c] * m;
                double* to = far + c * n + first;
                std::fill_n(to, many, INFINITE);
                for (int l = 0; any && l < many; ++l)
                    if (places[c * WIDE + l]) to[l] = distance(loops().dot(centre, panels.rows + (first + l) * m, m), centres[c], first + l);
            }
        }
    });
}

void Seeds::spread(const Panels& panels, const double* uniform, int64_t k, int trials, Team& team) {
    const int most = std::max(trials, 1);
    std::vector<double> far(static_cast<size_t>(most) * nearest_.size());
    std::vector<int64_t> centres(most);
    int count = 1;
    for (int64_t step = 0; step < k; ++step, uniform += count, count = trials) {
        if (!draw(uniform, count, centres.data())) break;  // every document equals a centre
        measure(panels, centres.data(), count, far.data(), team);
        keep(far.data(), centres.data(), count, team);
    }
}

void ward(double* total, double* sizes, int64_t k, const int64_t* groups, int64_t count, int64_t* joins) {
    Costs costs(total, sizes, k);
    std::vector<int64_t> number(k);
    for (int64_t c = 0; c < k; ++c) number[c] = c;
    for (int64_t step = 0; step < k - 1; ++step) {
        int64_t one = 0, other = 0, g = 0;
        while (g < count && !costs.cheapest(groups + g * k, one, other)) ++g;
        if (g == count) costs.cheapest(one, other);
        joins[2 * step] = number[one];
        joins[2 * step + 1] = number[other];
        number[one] = k + step;
        costs.join(one, other);
    }
}

}  // namespace grampus
