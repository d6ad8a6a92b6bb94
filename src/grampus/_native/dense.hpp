// Nearest neighbours of dense rows: products in single precision rule out, double precision decides.
#pragma once
#include <cstdint>
#include <vector>

namespace grampus {

class DenseRows {
  public:
    // IN rows (n, m); far (n) or none. The nearness of i and j is x_i · x_j, with far 2 x_i · x_j − far_j.
    DenseRows(const double* rows, int64_t n, int64_t m, const double* far);
    int64_t count() const { return n_; }

    // IN rough (last − first, n): products with all rows in single precision, which are overwritten; OUT columns, values
    // (last − first, p): the p nearest other rows, columns in rising order; of those equal up to `tie` times the p-th plus
    // `margin` the first are taken.
    void nearest(float* rough, int64_t first, int64_t last, int p, double tie, double margin, int64_t* columns, double* values) const;

  private:
    double error(int64_t i) const;

    const double* rows_;
    const int64_t n_, m_;
    const double* far_;
    std::vector<double> lengths_;
    std::vector<float> rough_far_;
    double longest_ = 0.0, farthest_ = 0.0;
    bool in_range_ = true;
};

}  // namespace grampus
