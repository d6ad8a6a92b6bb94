// Where clusterings start: the steps of greedy k-means++, and the joins of Ward's rule.
#pragma once
#include <cstdint>
#include <vector>

#include "kmeans.hpp"

namespace grampus {

constexpr int WIDE = 16;  // documents of a panel

// Rows of features (n, m), and the same in single precision: panels of documents side by side.
struct Panels {
    Panels(const double* rows, int64_t n, int64_t m);
    const double* const rows;
    const int64_t n, m;
    Numbers<float> small;  // (panels, m, WIDE)
    std::vector<double> lengths;
    bool rough;  // whether single precision can hold them
};

// Documents, their squared distances from the nearest centre drawn so far, and which centre that is.
class Seeds {
public:
    // IN diagonal, mass (n): self-similarity of each document, and the weight that it stands for.
    Seeds(const double* diagonal, const double* mass, int64_t n);

    // Draw positions with chances in proportion to mass times distance; before the first centre, to mass.
    // False where every document equals a centre.
    bool draw(const double* uniform, int64_t count, int64_t* centres);

    // IN similar (count, n): similarities of the centres drawn. Keep the one that leaves the smallest sum of distances.
    void take(const double* similar, const int64_t* centres, int64_t count);

    // Draw k centres of the same documents, the best of `trials` each; fewer where no others are left.
    // IN uniform (1 + (k − 1) · trials).
    void spread(const Panels& panels, const double* uniform, int64_t k, int trials, Team& team);

    const std::vector<int32_t>& labels() const { return labels_; }

private:
    double distance(double similar, int64_t centre, int64_t i) const;
    // OUT far (count, n): squared distances from the centres drawn, infinite where one is certainly not the nearest.
    void measure(const Panels& panels, const int64_t* centres, int count, double* far, Team& team) const;
    void keep(const double* far, const int64_t* centres, int64_t count, Team& team);

    std::vector<double> diagonal_, mass_, nearest_, total_;
    std::vector<int32_t> labels_;
    double size_ = 0.0;
    int32_t taken_ = 0;
};

// IN total (k, k): sums of similarities between clusters; sizes (k); groups (count, k). Both arrays are overwritten.
// OUT joins (k − 1, 2): the clusters joined at every step; the i-th union is number k + i. Clusters of one group are
// joined before others, by the first of the groups first; the first of equal costs is taken.
void ward(double* total, double* sizes, int64_t k, const int64_t* groups, int64_t count, int64_t* joins);

}  // namespace grampus
