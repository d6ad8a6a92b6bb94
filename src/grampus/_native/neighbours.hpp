// Similarities of sparse documents through an inverted index: rows of the Gram, nearest neighbours, near-duplicates.
#pragma once
#include "kmeans.hpp"

namespace grampus {

class Postings {
  public:
    explicit Postings(const Sparse& documents);
    int64_t count() const { return d_.n; }

    // IN document numbers; OUT out (count, n): rows of the Gram in double precision, each summed in the order of its terms.
    void rows(const int64_t* documents, int64_t count, double* out) const;
    // OUT columns, values (last − first, p): the p most similar other documents of each of first … last, columns in rising
    // order, equal ones (up to rounding) first come first; −1 and 0 where fewer than p are above 0.
    void nearest(int64_t first, int64_t last, int p, int64_t* columns, double* values) const;

  private:
    double exact(const double* row, int64_t document) const;
    void frequent_sums(int64_t first, int64_t last, int64_t wide, float* sums) const;

    const Sparse& d_;
    std::vector<int64_t> starts_;
    std::vector<Entry> entries_;  // (document, value) in single precision, by term
    std::vector<double> values_;  // the same in double precision
    // Terms of many documents are the first ones; they are also stored as dense columns, in single precision.
    int64_t frequent_ = 0;
    int stride_ = 0;
    Numbers<float> columns_, rows_;  // (frequent, stride), (n, frequent)
};

struct Pair {
    int64_t i, j;
    double value;
};

// Which terms a row has, roughly: one bit of 256 for each, and how many of its bits a near-duplicate may lack.
struct Outline {
    uint64_t bits[4] = {0, 0, 0, 0};
    int32_t may_lack = 0;

    void add(int32_t term) {
        const uint32_t place = (static_cast<uint32_t>(term) * 2654435769u) >> 24;
        bits[place >> 6] |= uint64_t(1) << (place & 63);
    }
    bool apart(const Outline& other) const {
        int lacking = 0;
        for (int w = 0; w < 4; ++w) lacking += popcount(bits[w] & ~other.bits[w]);
        return lacking > may_lack;
    }
    static int popcount(uint64_t x) {
        x -= (x >> 1) & 0x5555555555555555u;
        x = (x & 0x3333333333333333u) + ((x >> 2) & 0x3333333333333333u);
        x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fu;
        return static_cast<int>((x * 0x0101010101010101u) >> 56);
    }
};

// Pairs i < j of rows of length 1 whose product is at least `threshold`, found from first … last. IN/OUT see neighbours.cpp.
class Heads {
  public:
    Heads(const Sparse& unit, double threshold);
    std::vector<Pair> pairs(int64_t first, int64_t last) const;

  private:
    const Sparse& d_;
    const double threshold_;
    std::vector<int64_t> row_starts_, starts_;
    std::vector<int32_t> row_terms_, documents_;  // the rare terms of every row; the rows of every rare term
    std::vector<Outline> outlines_;
};

// A number that at least p of the values reach, and few others: the p-th of the largest of every 32 values.
template <class T>
T rough_limit(const T* values, int64_t n, int p, std::vector<T>& scratch);

// Keep p of the candidates by the tie rule. IN candidates in rising order with their values, at least p of them; OUT kept:
// their positions.
void settle(const std::vector<int32_t>& places, const std::vector<double>& values, int p, double tie, double margin,
            std::vector<double>& scratch, std::vector<size_t>& kept);

// The p largest of n values, places in rising order; of those equal up to `tie` times the limit
// plus `margin`, the first. OUT p places.
void largest(const double* values, int64_t n, int p, double tie, double margin, int64_t* places);

}  // namespace grampus
