// Trades of terms between documents (select/ungrouped.py), with the random numbers of a NumPy generator.
#pragma once
#include <cstdint>

namespace grampus {

// What NumPy's bit generators offer to C (numpy/random/bitgen.h).
struct Bits {
    void* state;
    uint64_t (*next_uint64)(void*);
    uint32_t (*next_uint32)(void*);
    double (*next_double)(void*);
    uint64_t (*next_raw)(void*);
};

// Every pair of rows, one after the other, deals the terms that only one of the two has; each keeps its number of terms.
// Terms of a row are rising, before and after. Numbers are drawn as Generator.permutation draws them.
void trade(const int64_t* indptr, int32_t* terms, const int64_t* pairs, int64_t count, Bits* bits);

}  // namespace grampus
