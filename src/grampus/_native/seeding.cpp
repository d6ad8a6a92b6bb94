#include "seeding.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace grampus {
namespace {

constexpr double NOISE = 1e-12;  // of their size: distances that differ by less are equal
constexpr double INFINITE = std::numeric_limits<double>::infinity();
constexpr int LANES = 4;  // partial sums: one fixed order

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
    int64_t best = 0;
    if (taken_ == 0) {
        std::fill(nearest_.begin(), nearest_.end(), INFINITE);
    } else {
        double least = INFINITE;
        std::vector<double> left(count);
        for (int64_t c = 0; c < count; ++c) {
            const double* row = similar + c * n;
            const auto remains = [&](int64_t i) { return mass_[i] * std::min(distance(row[i], centres[c], i), nearest_[i]); };
            double part[LANES] = {};
            int64_t i = 0;
            for (; i + LANES <= n; i += LANES)
                for (int l = 0; l < LANES; ++l) part[l] += remains(i + l);
            for (; i < n; ++i) part[0] += remains(i);
            left[c] = (part[0] + part[1]) + (part[2] + part[3]);
            least = std::min(least, left[c]);
        }
        while (best < count - 1 && !(left[best] <= least + NOISE * size_)) ++best;  // the first of equals
    }
    const int64_t centre = centres[best];
    const double* row = similar + best * n;
    for (int64_t i = 0; i < n; ++i) {
        const double d = distance(row[i], centre, i);
        if (i == centre || d < nearest_[i] - NOISE * (diagonal_[i] + diagonal_[centre])) labels_[i] = taken_;
        nearest_[i] = std::min(nearest_[i], d);
    }
    nearest_[centre] = 0.0;
    ++taken_;
}

void Seeds::spread(const double* rows, int m, const double* uniform, int64_t k, int trials, Gemm multiply) {
    const int n = static_cast<int>(nearest_.size()), most = std::max(trials, 1);
    const double one = 1.0, none = 0.0;
    std::vector<double> similar(static_cast<size_t>(most) * n), drawn(static_cast<size_t>(most) * m);
    std::vector<int64_t> centres(most);
    int count = 1;
    for (int64_t step = 0; step < k; ++step, uniform += count, count = trials) {
        if (!draw(uniform, count, centres.data())) break;  // every document equals a centre
        for (int c = 0; c < count; ++c) std::copy_n(rows + centres[c] * m, m, drawn.begin() + static_cast<int64_t>(c) * m);
        multiply("T", "N", &n, &count, &m, &one, rows, &m, drawn.data(), &m, &none, similar.data(), &n);
        take(similar.data(), centres.data(), count);
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
