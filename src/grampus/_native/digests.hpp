// Digests of rows, as hashlib.blake2b gives them.
#pragma once
#include <cstdint>

namespace grampus {

// Write the BLAKE2b digest of 16 bytes (RFC 7693, no key) of every row from `first` to `last`, in hexadecimal: the numbers of
// the columns that do not hold 0, then what they hold, eight bytes each.
template <class T, class I>
void name_sparse(const int64_t* indptr, const I* columns, const T* values, int64_t first, int64_t last, char* names);
template <class T>
void name_dense(const T* rows, int64_t wide, int64_t first, int64_t last, char* names);

}  // namespace grampus
