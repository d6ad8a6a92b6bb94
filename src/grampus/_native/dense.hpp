// Nearest neighbours of dense rows: rough products rule out, double precision decides.
#pragma once
#include <cstdint>
#include <vector>

#include "encoder_loops.hpp"

namespace grampus {

class DenseRows {
  public:
    // IN rows (n, m); far (n) or none. The nearness of i and j is x_i · x_j, with far 2 x_i · x_j − far_j.
    DenseRows(const double* rows, int64_t n, int64_t m, const double* far);
    int64_t count() const { return n_; }

    // IN rough (last − first, n): products with all rows in single precision, which are overwritten, and by how much more than
    // rounding each row of them may be wrong (lost); OUT columns, values (last − first, p): the p nearest other rows, columns in
    // rising order; of those equal up to `tie` times the p-th plus `margin` the first are taken. Returns how many were compared.
    int64_t nearest(float* rough, const double* lost, int64_t first, int64_t last, int p, double tie, double margin, int64_t* columns,
                    double* values) const;

  private:
    double error(int64_t i, double lost) const;

    const double* rows_;
    const int64_t n_, m_;
    const double* far_;
    std::vector<double> lengths_;
    std::vector<float> rough_far_;
    double longest_ = 0.0, farthest_ = 0.0;
    bool in_range_ = true;
};

// IN rows (count, depth) of 8-bit numbers with their scales, columns (n of them, and some more) with theirs, and what is added for
// a row and for a column; OUT products (count, n) in single precision.
void rough_products(const int8_t* rows, int64_t count, const double* scales, const double* begins, const Layer& columns,
                    const double* others, int64_t n, float* products);

}  // namespace grampus
