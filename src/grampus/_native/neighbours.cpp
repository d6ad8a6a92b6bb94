#include "neighbours.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace grampus {
namespace {

constexpr double TIE = 1e-12;
constexpr int64_t STEP = 32;    // numbers of which only the largest is looked at first
constexpr int64_t SHARE = 4;    // a term of more than one document in so many is compared as a dense column
constexpr int TOGETHER = 32;    // documents that share a pass over the dense columns
constexpr double RANGE = 1e12;  // longer rows are not for single precision

}  // namespace

template <class T>
T rough_limit(const T* values, int64_t n, int p, std::vector<T>& scratch) {
    if (n < 2 * STEP * p) {
        scratch.assign(values, values + n);
    } else {
        scratch.clear();
        for (int64_t first = 0; first < n; first += STEP) {
            T top = values[first];
            const int64_t last = std::min(first + STEP, n);
            for (int64_t i = first; i < last; ++i) top = values[i] > top ? values[i] : top;
            scratch.push_back(top);
        }
    }
    std::nth_element(scratch.begin(), scratch.begin() + (p - 1), scratch.end(), std::greater<T>());
    return scratch[p - 1];
}
template double rough_limit(const double*, int64_t, int, std::vector<double>&);
template float rough_limit(const float*, int64_t, int, std::vector<float>&);

void settle(const std::vector<int32_t>& places, const std::vector<double>& values, int p, double tie, double margin,
            std::vector<double>& scratch, std::vector<size_t>& kept) {
    scratch = values;
    std::nth_element(scratch.begin(), scratch.begin() + (p - 1), scratch.end(), std::greater<double>());
    const double limit = scratch[p - 1], room = std::isfinite(limit) ? tie * std::fabs(limit) + margin : 0.0;
    int missing = p;
    for (const double v : values) missing -= v > limit + room;
    kept.clear();
    for (size_t r = 0; r < places.size(); ++r) {
        const bool above = values[r] > limit + room, level = !above && values[r] >= limit - room;
        if (above || (level && missing-- > 0)) kept.push_back(r);
    }
}

Postings::Postings(const Sparse& d)
    : d_(d), starts_(d.terms + 1, 0), entries_(d.indptr[d.n]), values_(d.indptr[d.n]) {
    for (int64_t e = 0; e < d.indptr[d.n]; ++e) ++starts_[d.entries[e].term + 1];
    for (int64_t t = 0; t < d.terms; ++t) starts_[t + 1] += starts_[t];
    std::vector<int64_t> next(starts_.begin(), starts_.end() - 1);
    for (int64_t i = 0; i < d.n; ++i)
        for (int64_t e = d.indptr[i]; e < d.indptr[i + 1]; ++e) {
            const int64_t to = next[d.entries[e].term]++;
            entries_[to] = {static_cast<int32_t>(i), d.entries[e].value};
            values_[to] = d.value(e, i);
        }
    const double longest = d.n ? *std::max_element(d.lengths.begin(), d.lengths.end()) : 0.0;
    if (!(longest < RANGE) || d.n > std::numeric_limits<int>::max() - LANES) return;
    while (frequent_ < d.terms && SHARE * (starts_[frequent_ + 1] - starts_[frequent_]) > d.n) ++frequent_;
    stride_ = static_cast<int>((d.n + LANES - 1) / LANES * LANES);
    columns_.assign(frequent_ * stride_, 0.0f), rows_.assign(d.n * frequent_, 0.0f);
    for (int64_t t = 0; t < frequent_; ++t)
        for (int64_t e = starts_[t]; e < starts_[t + 1]; ++e) {  // terms may be repeated in a row
            columns_[t * stride_ + entries_[e].term] += entries_[e].value;
            rows_[entries_[e].term * frequent_ + t] += entries_[e].value;
        }
}

void Postings::rows(const int64_t* documents, int64_t count, double* out) const {
    std::fill_n(out, count * d_.n, 0.0);
    for (int64_t r = 0; r < count; ++r) {
        double* row = out + r * d_.n;
        for (int64_t e = d_.indptr[documents[r]]; e < d_.indptr[documents[r] + 1]; ++e) {
            const double x = d_.value(e, documents[r]);
            const int32_t t = d_.entries[e].term;
            for (int64_t p = starts_[t]; p < starts_[t + 1]; ++p) row[entries_[p].term] += x * values_[p];
        }
    }
}

double Postings::exact(const double* row, int64_t j) const {
    double sum = 0.0;
    for (int64_t e = d_.indptr[j]; e < d_.indptr[j + 1]; ++e) sum += d_.value(e, j) * row[d_.entries[e].term];
    return sum;
}

// OUT sums (last − first, wide): the part of the similarities that comes from frequent terms.
void Postings::frequent_sums(int64_t first, int64_t last, int64_t wide, float* sums) const {
    if (frequent_ == 0) {
        std::fill_n(sums, (last - first) * wide, 0.0f);
        return;
    }
    int32_t documents[TOGETHER];
    for (int64_t i = first; i < last; ++i) documents[i - first] = static_cast<int32_t>(i);
    loops().dense_sums(rows_.data(), frequent_, documents, static_cast<int>(last - first), columns_.data(), stride_, sums);
}

void Postings::nearest(int64_t first, int64_t last, int p, int64_t* columns, double* values) const {
    const int64_t wide = std::max<int64_t>(stride_, d_.n);
    Numbers<float> together(TOGETHER * wide);
    std::vector<double> row(d_.terms, 0.0), exacts, scratch;
    std::vector<float> rough;
    std::vector<int32_t> places(d_.n), some;
    std::vector<size_t> kept;
    double longest = 0.0;
    for (const double length : d_.lengths) longest = std::max(longest, length);
    const bool in_range = longest < RANGE;
    for (int64_t i = first; i < last; ++i, columns += p, values += p) {
        const int64_t place = (i - first) % TOGETHER;
        if (place == 0) frequent_sums(i, std::min<int64_t>(i + TOGETHER, last), wide, together.data());
        float* sums = together.data() + place * wide;
        const int64_t begin = d_.indptr[i], end = d_.indptr[i + 1];
        for (int64_t e = begin; e < end; ++e) {
            const Entry x = d_.entries[e];
            row[x.term] = d_.value(e, i);
            if (x.term >= frequent_)
                loops().post(entries_.data() + starts_[x.term], starts_[x.term + 1] - starts_[x.term], x.value, sums);
        }
        sums[i] = -std::numeric_limits<float>::infinity();
        const double error = 2 * UNIT * static_cast<double>(end - begin + 4) * d_.lengths[i] * longest;
        const double limit = rough_limit(sums, d_.n, p, rough) - 2 * error * (1 + TIE);
        // Where fewer than p are above 0 the others do not matter: only what shares a term is looked at.
        const float low = static_cast<float>(in_range ? limit - UNIT * std::fabs(limit) : -INFINITY);
        const int64_t found = loops().above(sums, d_.n, low, places.data());
        some.clear(), exacts.clear();
        for (int64_t r = 0; r < found; ++r) {
            const int32_t j = places[r];
            if (j == i || (sums[j] == 0.0f && in_range)) continue;
            some.push_back(j);
            exacts.push_back(exact(row.data(), j));
        }
        for (int64_t e = begin; e < end; ++e) row[d_.entries[e].term] = 0.0;
        std::fill_n(columns, p, int64_t(-1));
        std::fill_n(values, p, 0.0);
        if (static_cast<int>(some.size()) > p) settle(some, exacts, p, TIE, 0.0, scratch, kept);
        else {
            kept.resize(some.size());
            for (size_t r = 0; r < kept.size(); ++r) kept[r] = r;
        }
        int at = 0;
        for (const size_t r : kept)
            if (exacts[r] > 0) columns[at] = some[r], values[at] = exacts[r], ++at;
    }
}

// Order the terms of a row from rare to frequent. A tail shorter than the threshold cannot make a pair by itself, so the
// part before it, the head, shares a term with the other row (Bayardo, Ma & Srikant 2007). If the two heads shared none,
// every common term would come after the end of the shorter head, that is, in a tail: so heads need only meet heads.
//
// Rows that meet are compared by their outlines first: every term sets one of 256 bits. A bit that the other row lacks is
// a term that it lacks, and by Cauchy–Schwarz a row that lacks terms of squared length m has a product of at most
// √(1 − m). So there is a number of bits, found from the row's lightest terms, that its partner may lack at most.
Heads::Heads(const Sparse& unit, double threshold)
    : d_(unit), threshold_(threshold), row_starts_(unit.n + 1, 0), starts_(unit.terms + 1, 0), outlines_(unit.n) {
    std::vector<int64_t> order;
    std::vector<double> squares;
    const double bound = threshold * threshold * (1 - 1e-9) - 1e-12;
    for (int64_t i = 0; i < unit.n; ++i) {
        order.clear(), squares.clear();
        double left = 0.0;
        for (int64_t e = unit.indptr[i]; e < unit.indptr[i + 1]; ++e) {
            order.push_back(e);
            squares.push_back(unit.value(e, i) * unit.value(e, i));
            left += squares.back();
            outlines_[i].add(unit.entries[e].term);
        }
        std::sort(squares.begin(), squares.end());
        double lacking = 0.0;
        for (const double square : squares) {
            lacking += square;
            if (lacking > left - bound + 1e-9) break;
            ++outlines_[i].may_lack;
        }
        // Places of terms go from frequent to rare.
        std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return unit.entries[a].term > unit.entries[b].term; });
        for (const int64_t e : order) {
            if (left < bound) break;
            row_terms_.push_back(unit.entries[e].term);
            left -= unit.value(e, i) * unit.value(e, i);
        }
        row_starts_[i + 1] = static_cast<int64_t>(row_terms_.size());
    }
    for (const int32_t t : row_terms_) ++starts_[t + 1];
    for (int64_t t = 0; t < unit.terms; ++t) starts_[t + 1] += starts_[t];
    std::vector<int64_t> next(starts_.begin(), starts_.end() - 1);
    documents_.resize(row_terms_.size());
    for (int64_t i = 0; i < unit.n; ++i)
        for (int64_t e = row_starts_[i]; e < row_starts_[i + 1]; ++e) documents_[next[row_terms_[e]]++] = static_cast<int32_t>(i);
}

std::vector<Pair> Heads::pairs(int64_t first, int64_t last) const {
    std::vector<Pair> found;
    std::vector<int64_t> seen(d_.n, -1);
    std::vector<double> row(d_.terms, 0.0);
    for (int64_t i = std::max<int64_t>(first, 0); i < std::min(last, d_.n); ++i) {
        for (int64_t e = d_.indptr[i]; e < d_.indptr[i + 1]; ++e) row[d_.entries[e].term] = d_.value(e, i);
        for (int64_t h = row_starts_[i]; h < row_starts_[i + 1]; ++h) {
            const int32_t t = row_terms_[h];
            const auto end = documents_.begin() + starts_[t + 1];
            for (auto at = std::upper_bound(documents_.begin() + starts_[t], end, static_cast<int32_t>(i)); at != end; ++at) {
                const int64_t j = *at;
                if (seen[j] == i) continue;
                seen[j] = i;
                if (outlines_[i].apart(outlines_[j]) || outlines_[j].apart(outlines_[i])) continue;
                double value = 0.0;
                for (int64_t e = d_.indptr[j]; e < d_.indptr[j + 1]; ++e) value += d_.value(e, j) * row[d_.entries[e].term];
                if (value >= threshold_) found.push_back({i, j, value});
            }
        }
        for (int64_t e = d_.indptr[i]; e < d_.indptr[i + 1]; ++e) row[d_.entries[e].term] = 0.0;
    }
    return found;
}

void largest(const double* values, int64_t n, int p, double tie, double margin, int64_t* places) {
    std::vector<double> scratch, some;
    std::vector<int32_t> where;
    std::vector<size_t> kept;
    const double limit = rough_limit(values, n, p, scratch);
    const double room = std::isfinite(limit) ? 2 * (tie * std::fabs(limit) + margin) : 0.0;
    for (int64_t i = 0; i < n; ++i)
        if (values[i] >= limit - room) where.push_back(static_cast<int32_t>(i)), some.push_back(values[i]);
    if (where.size() < static_cast<size_t>(p)) throw std::invalid_argument("similarities must be numbers; some are NaN");
    settle(where, some, p, tie, margin, scratch, kept);
    for (int r = 0; r < p; ++r) places[r] = where[kept[r]];
}

}  // namespace grampus
