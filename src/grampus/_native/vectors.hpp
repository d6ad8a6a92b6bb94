// Products of a few vectors with sparse rows and with a basis, shared by a team of threads.
//
// Every sum has one order, whatever the number of threads: that of the entries of a row, as SciPy has it.
#pragma once
#include <cstdint>

#include "team.hpp"

namespace grampus {

template <class I>
struct SparseRows {  // CSR, (n, m)
    const double* values;
    const I *columns, *ends;  // ends: n + 1 places
    int64_t n, m;
};

// IN given (m, wide); OUT found (n, wide) = A · given.
template <class I>
void times(const SparseRows<I>& a, const double* given, int64_t wide, double* found, Team& team);

// IN scale (n), given (m, wide); OUT found (m, wide) = Aᵀ diag(scale)² A · given, from sums over `piece` rows at a time.
template <class I>
void times_square(const SparseRows<I>& a, const double* scale, const double* given, int64_t wide, int64_t piece, double* found,
                  Team& team);

// IN basis (count, n), vectors (wide, n); OUT found (wide, count): inner products.
void along(const double* basis, int64_t count, int64_t n, const double* vectors, int64_t wide, double* found, Team& team);

// IN factors (wide, count); IN/OUT vectors (wide, n) −= factors · basis.
void take_away(const double* basis, int64_t count, int64_t n, const double* factors, int64_t wide, double* vectors, Team& team);

}  // namespace grampus
