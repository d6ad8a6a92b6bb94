// Documents given by rows of features, sparse or dense: screening in single precision, then sums in double.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kmeans.hpp"

namespace grampus {
namespace {

constexpr double RANGE = 1e12;  // lengths beyond this, or below its inverse, are not for single precision
constexpr int AHEAD = 4;        // documents whose bounds are fetched ahead
constexpr int DOUBT = 8;        // with more than one in so many left in doubt, single precision does not pay

// Screening in single precision, and bounds that say which documents cannot have changed cluster.
//
// A sum of m products is off by at most (m + 4) roundings times both lengths. A document's value for cluster c,
// offset + slope · S, changes by the change of the offset and at most its length times the way that slope · sum went:
// `drift`, added up over the iterations. So a value once computed bounds all later ones, on both sides.
class Screened : public Sums {
  public:
    Screened(const Documents& documents, const std::vector<double>& lengths, int64_t terms, int k)
        : documents_(documents), lengths_(lengths), terms_(terms), k_(k), stride_(padded(k)),
          offsets_(stride_), slopes_(stride_), drift_(stride_), old_slopes_(k), old_within_(k), old_offsets_(k), drifts_(k) {
        rough_ = are_moderate(lengths);
        slack_ = 8 * UNIT + 2 * std::sqrt(static_cast<double>(terms) * std::numeric_limits<double>::epsilon());
    }

    void changed(const Run& run) override {
        double total = 0.0;
        for (int c = 0; c < k_; ++c) total += run.sizes[c];
        const Rule& rule = run.rule;
        if (!(total < RANGE) || !(std::fabs(rule.shift) < RANGE)) rough_ = false;
        const int64_t computed = run.computed, doubtful = run.doubtful;
        if (DOUBT * (doubtful - doubtful_) > computed - computed_ && computed > computed_) rough_ = false;
        computed_ = computed, doubtful_ = doubtful;
        if (!rough_) return;
        if (table_.empty()) {
            table_.assign(static_cast<size_t>(terms_) * stride_, 0.0f);
            if (run.bounded && !rule.adjusted) bounds_.resize(static_cast<size_t>(documents_.n) * stride_);
            upper_.assign(documents_.n, std::numeric_limits<float>::infinity());
            others_.assign(documents_.n, 0.0);
        }
        std::vector<double> along(stride_), moved(stride_);
        refresh(table_.data(), along.data(), moved.data());
        double high = 0.0, steep = 0.0, slant = 0.0, far = 0.0, wide = 0.0, fall = 0.0, move = 0.0;
        for (int c = 0; c < stride_; ++c) {
            offsets_[c] = c < k_ ? static_cast<float>(run.offsets[c]) : std::numeric_limits<float>::infinity();
            slopes_[c] = c < k_ ? static_cast<float>(run.slopes[c]) : 0.0f;
            if (c >= k_) continue;
            const double s = run.slopes[c], was = old_slopes_[c], turn = s - was;
            const double length = std::sqrt(std::max(run.inner[c], 0.0)), old = std::sqrt(std::max(old_within_[c], 0.0));
            const double way = turn * turn * old * old + 2.0 * turn * s * along[c] + s * s * moved[c];
            const double drift = std::sqrt(std::max(way, 0.0)) + slack_ * (std::fabs(s) + std::fabs(was)) * (length + old);
            drifts_[c] += drift;
            move = std::max(move, drift);
            drift_[c] = static_cast<float>(drifts_[c]);
            fall = std::max(fall, old_offsets_[c] - run.offsets[c]);  // not where both are infinite
            old_slopes_[c] = s, old_within_[c] = run.inner[c], old_offsets_[c] = run.offsets[c];
            far = std::max(far, drifts_[c]);
            if (run.sizes[c] > 0) {
                high = std::max(high, std::fabs(run.offsets[c]));
                steep = std::max(steep, std::fabs(s) * length);
                slant = std::max(slant, std::fabs(s));
                wide = std::max(wide, run.extents[c]);
            }
        }
        steepest_ = std::max(steepest_, steep);
        steep_ = steep, wide_ = wide, far_ = far;
        if (std::isinf(fall)) std::fill(others_.begin(), others_.end(), -fall);  // a cluster is no longer empty
        else fallen_ += fall;
        moved_ += move;
        constant_ = 16 * UNIT * (high + slant * std::fabs(rule.shift)) + 1e-36;
    }

    int screen(Run& run, int32_t* some, int count) override {
        if (!rough_ || table_.empty()) return count;
        static thread_local Numbers<float> sums;
        sums.resize(static_cast<size_t>(BLOCK) * stride_);
        const Rough rough{stride_, offsets_.data(), slopes_.data(), drift_.data()};
        const Rule& rule = run.rule;
        int left = bounds_.empty() ? count : suspects(run, rough, some, count), doubt = 0;
        if (left == 0) return 0;
        rough_sums(table_.data(), stride_, some, left, sums.data());
        for (int r = 0; r < left; ++r) {
            const int32_t i = some[r];
            const int own = run.labels[i];
            const float* row = sums.data() + static_cast<size_t>(r) * stride_;
            const double error = 2 * UNIT * (static_cast<double>(entries(i)) + 4) * lengths_[i] * steep_ + constant_;
            double more = own >= 0 ? extra(run, i, own) : 0.0, room = 2 * error;
            if (rule.adjusted && own >= 0) {
                const double rest = run.sizes[own] - std::min(documents_.weights[i], 1.0);
                if (rest < 0.5 || !(lengths_[i] * lengths_[i] <= 2 * std::fabs(documents_.diagonal[i]))) {
                    some[doubt++] = i;  // alone or nearly so
                    continue;
                }
                more = left_out(row[own], run, own, i) - (run.offsets[own] + run.slopes[own] * row[own]);
                const double ratio = run.sizes[own] / rest;  // how much larger the error is without the document
                room = 2 * error * (1 + ratio + ratio / rest) + 16 * UNIT * std::fabs(more);
            }
            float least, second;
            int winner;
            loops().least(row, rough, own, static_cast<float>(more), &least, &second, &winner);
            const bool certain = second - least > room + rule.tolerance * (run.reach[i] + wide_);
            if (certain) run.next[i] = winner;
            else some[doubt++] = i;
            if (own < 0 || bounds_.empty()) continue;
            float* bounds = bounds_.data() + static_cast<size_t>(i) * stride_;
            if (certain) {  // what is in doubt is looked at again
                loops().remember(row, rough, static_cast<float>(lengths_[i]), static_cast<float>(error), bounds);
                bounds[winner] = std::numeric_limits<float>::infinity();
                upper_[i] = static_cast<float>(run.slopes[winner] * row[winner] - lengths_[i] * drifts_[winner] + error);
                others_[i] = second - error - std::max(more, 0.0) + fallen_ + lengths_[i] * moved_;
            } else {
                upper_[i] = std::numeric_limits<float>::infinity();
            }
        }
        run.computed += left;
        run.doubtful += doubt;
        return doubt;
    }

    void forget(int64_t document) override {
        if (!upper_.empty()) upper_[document] = std::numeric_limits<float>::infinity();
    }

  protected:
    virtual void refresh(float* table, double* along, double* moved) = 0;
    virtual void rough_sums(const float* table, int stride, const int32_t* some, int count, float* out) const = 0;
    virtual int64_t entries(int64_t document) const = 0;

    // Move documents that may have changed cluster to the front; return how many. What loops without branches keeps is not
    // foreseen: first by one bound for all other clusters, which falls as fast as any of them may, then by each.
    int suspects(Run& run, const Rough& rough, int32_t* some, int count) {
        double mine[BLOCK];
        int left = 0;
        for (int r = 0; r < count; ++r) {
            const int32_t i = some[r];
            const int own = run.labels[i], c = own < 0 ? 0 : own;
            const double length = lengths_[i];
            const double room = constant_ + 16 * UNIT * length * (steepest_ + far_) + run.rule.tolerance * (run.reach[i] + wide_);
            mine[left] = upper_[i] + run.offsets[c] + length * drifts_[c] + extra(run, i, c) + room;
            run.next[i] = own;
            some[left] = i;
            left += !(own >= 0 && others_[i] - fallen_ - length * moved_ > mine[left]);
        }
        int kept = 0;
        for (int r = 0; r < left; ++r) {
            const int32_t i = some[r];
            const double length = lengths_[i];
            if (r + AHEAD < left) __builtin_prefetch(bounds_.data() + static_cast<size_t>(some[r + AHEAD]) * stride_);
            const double others = loops().lowest(bounds_.data() + static_cast<size_t>(i) * stride_, rough, static_cast<float>(length));
            others_[i] = others + fallen_ + length * moved_;
            some[kept] = i;
            kept += !(run.labels[i] >= 0 && others > mine[r]);
        }
        return kept;
    }

    // What the own cluster's value has more: K_ii + σ is among its own sums.
    double extra(const Run& run, int64_t i, int own) const {
        return run.rule.shift == 0.0 ? 0.0 : run.slopes[own] * run.rule.shift * std::min(documents_.weights[i], 1.0);
    }

    // Distance to the own cluster without the document itself, as in loops.cpp.
    double left_out(double similar, const Run& run, int c, int64_t i) const {
        const double one = std::min(documents_.weights[i], 1.0), rest = run.sizes[c] - one, own = documents_.diagonal[i];
        const double inner = run.inner[c] - 2.0 * one * similar + one * one * own + run.rule.shift * (run.squares[c] - one * one);
        return run.rule.centroid * inner / (rest * rest) - 2.0 * (similar - one * own) / rest;
    }

    const Documents& documents_;
    const std::vector<double>& lengths_;
    const int64_t terms_;
    const int k_, stride_;
    bool rough_ = true;
    Numbers<float> table_, bounds_, offsets_, slopes_, drift_;
    std::vector<float> upper_;
    std::vector<double> old_slopes_, old_within_, old_offsets_, drifts_;
    std::vector<double> others_;  // at least this less `fallen_` and length · `moved_` is every other cluster's value
    double fallen_ = 0, moved_ = 0, steep_ = 0, steepest_ = 0, wide_ = 0, far_ = 0, constant_ = 0, slack_ = 0;
    int64_t computed_ = 0, doubtful_ = 0;
};

class SparseSums final : public Screened {
  public:
    SparseSums(const Sparse& d, int k)
        : Screened(d, d.lengths, d.terms, k), d_(d), sums_(static_cast<size_t>(d.terms) * k, 0.0), within_(k, 0.0),
          touched_(d.terms, 1), changed_(k, 1) {}

    void clear() override {
        std::fill(sums_.begin(), sums_.end(), 0.0);
        std::fill(touched_.begin(), touched_.end(), char(1));
        std::fill(changed_.begin(), changed_.end(), char(1));
    }

    void add(const int32_t* some, const double* w, int64_t count, int c) override {
        double* sums = sums_.data() + c * d_.terms;
        for (int64_t r = 0; r < count; ++r) {
            const int64_t i = some[r];
            for (int64_t e = d_.indptr[i]; e < d_.indptr[i + 1]; ++e) {
                const int32_t t = d_.entries[e].term;
                sums[t] += w[r] * d_.value(e, i);
                __atomic_store_n(&touched_[t], 1, __ATOMIC_RELAXED);  // other threads do the same for other clusters
            }
            changed_[c] = 1;
        }
    }

    void empty(int c) override {
        std::fill_n(sums_.begin() + c * d_.terms, d_.terms, 0.0);
        std::fill(touched_.begin(), touched_.end(), char(1));
        changed_[c] = 1;
    }

    void within(const Run&, double* out) override {
        for (int c = 0; c < k_; ++c) {
            if (changed_[c]) {
                const double* sums = sums_.data() + c * d_.terms;
                within_[c] = loops().dot(sums, sums, d_.terms);
                changed_[c] = 0;
            }
            out[c] = within_[c];
        }
    }

    void tile(const int32_t* some, int count, double* out) const override {
        for (int c = 0; c < k_; ++c)
            for (int r = 0; r < count; ++r) out[c * count + r] = at(some[r], c);
    }

    double at(int64_t i, int c) const override {
        const double* sums = sums_.data() + c * d_.terms;
        double sum = 0.0;
        for (int64_t e = d_.indptr[i]; e < d_.indptr[i + 1]; ++e) sum += d_.value(e, i) * sums[d_.entries[e].term];
        return sum;
    }

  protected:
    void refresh(float* table, double* along, double* moved) override {
        std::vector<double> fresh(stride_);
        for (int64_t t = 0; t < d_.terms; ++t) {
            if (!touched_[t]) continue;
            for (int c = 0; c < k_; ++c) fresh[c] = sums_[c * d_.terms + t];
            loops().refresh(fresh.data(), table + t * stride_, stride_, along, moved);
            touched_[t] = 0;
        }
    }

    void rough_sums(const float* table, int stride, const int32_t* some, int count, float* out) const override {
        loops().sparse_sums(d_.entries.data(), d_.indptr, some, count, table, stride, out);
    }

    int64_t entries(int64_t i) const override { return d_.indptr[i + 1] - d_.indptr[i]; }

  private:
    const Sparse& d_;
    Numbers<double> sums_;  // (k, terms): the clusters' sums in feature space
    std::vector<double> within_;
    std::vector<char> touched_, changed_;
};

class DenseSums final : public Screened {
  public:
    DenseSums(const Dense& d, int k)
        : Screened(d, d.lengths, d.m, k), d_(d), sums_(static_cast<size_t>(k) * d.m, 0.0) {}

    void clear() override { std::fill(sums_.begin(), sums_.end(), 0.0); }
    void add(const int32_t* some, const double* w, int64_t count, int c) override {
        loops().add_rows64(d_.rows, d_.m, some, w, count, d_.m, sums_.data() + c * d_.m);
    }
    void empty(int c) override { std::fill_n(sums_.begin() + c * d_.m, d_.m, 0.0); }

    void within(const Run&, double* out) override {
        for (int c = 0; c < k_; ++c) out[c] = loops().dot(sums_.data() + c * d_.m, sums_.data() + c * d_.m, d_.m);
    }

    void tile(const int32_t* some, int count, double* out) const override {
        for (int c = 0; c < k_; ++c)
            for (int r = 0; r < count; ++r) out[c * count + r] = at(some[r], c);
    }

    double at(int64_t i, int c) const override { return loops().dot(d_.rows + i * d_.m, sums_.data() + c * d_.m, d_.m); }

  protected:
    void refresh(float* table, double* along, double* moved) override {
        std::vector<double> fresh(stride_);
        for (int64_t t = 0; t < d_.m; ++t) {
            for (int c = 0; c < k_; ++c) fresh[c] = sums_[c * d_.m + t];
            loops().refresh(fresh.data(), table + t * stride_, stride_, along, moved);
        }
    }

    void rough_sums(const float* table, int stride, const int32_t* some, int count, float* out) const override {
        loops().dense_sums(d_.small.data(), d_.m, some, count, table, stride, out);
    }

    int64_t entries(int64_t) const override { return d_.m; }

  private:
    const Dense& d_;
    Numbers<double> sums_;  // (k, m)
};

}  // namespace

bool are_moderate(const std::vector<double>& lengths) {
    double longest = 0.0;
    for (const double length : lengths) longest = std::max(longest, length);
    return 1 / RANGE < longest && longest < RANGE;
}

Sparse::Sparse(const float* d32, const double* d64, const int32_t* indices, const int64_t* indptr, const double* scale,
               int64_t n, int64_t terms, const double* diagonal, const double* weights)
    : Documents(n, diagonal, weights), d32(d32), d64(d64), indices(indices), indptr(indptr), scale(scale), terms(terms),
      entries(indptr[n] + PADDING, Entry{0, 0.0f}), place(terms), lengths(n) {
    std::vector<int64_t> count(terms, 0);
    for (int64_t e = 0; e < indptr[n]; ++e) ++count[indices[e]];
    std::vector<int32_t> order(terms);
    for (int64_t t = 0; t < terms; ++t) order[t] = static_cast<int32_t>(t);
    std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return count[a] > count[b]; });
    for (int64_t t = 0; t < terms; ++t) place[order[t]] = static_cast<int32_t>(t);
    for (int64_t i = 0; i < n; ++i) {
        double square = 0.0;
        for (int64_t e = indptr[i]; e < indptr[i + 1]; ++e) {
            const double x = value(e, i);
            square += x * x;
            entries[e] = {place[indices[e]], static_cast<float>(x)};
        }
        lengths[i] = std::sqrt(square);
    }
}

std::unique_ptr<Sums> Sparse::sums(int k) const { return std::make_unique<SparseSums>(*this, k); }

Dense::Dense(const double* rows, int64_t n, int64_t m, const double* diagonal, const double* weights)
    : Documents(n, diagonal, weights), rows(rows), m(m), small(rows, rows + n * m), lengths(n) {
    for (int64_t i = 0; i < n; ++i) lengths[i] = std::sqrt(loops().dot(rows + i * m, rows + i * m, m));
}

std::unique_ptr<Sums> Dense::sums(int k) const { return std::make_unique<DenseSums>(*this, k); }

}  // namespace grampus
