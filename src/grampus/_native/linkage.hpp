// Centres of points, and their trees by nearest-neighbour chains (Murtagh 1983), with the rules of Lance & Williams (1967).
#pragma once
#include <cstdint>

namespace grampus {

// IN points (n, m); OUT apart (n, n): Euclidean distances, each the root of a sum in the order of the columns.
void distances(const double* points, int64_t n, int64_t m, double* apart);

// IN/OUT apart (n, n): what stands above the diagonal, then below it, too.
void mirror(double* apart, int64_t n);

// IN/OUT apart (n, n), symmetric, which is overwritten; OUT joins (n − 1, 2): the two nodes of every step, the smaller
// first; step i makes node n + i. Ward's rule, else average linkage.
void join(double* apart, int64_t n, bool ward, int64_t* joins);

// IN points (n, m) and their clusters; OUT centres (k, m): means, added up in the order of the points; one that is empty
// is far away from everything.
void centres(const double* points, const int64_t* labels, int64_t n, int64_t m, int64_t k, double* centres);

// IN points (n, m) and centres (k, m); OUT the nearest centre of each point, the first of several that are equally near.
void nearest_centres(const double* points, const double* centres, int64_t n, int64_t m, int64_t k, int64_t* labels);

}  // namespace grampus
