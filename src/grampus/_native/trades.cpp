#include "trades.hpp"

#include <algorithm>
#include <vector>

namespace grampus {
namespace {

// A number from 0 to `last`, each equally likely: as many bits as `last` has, until they are not more.
uint32_t up_to(Bits* bits, uint32_t last) {
    uint32_t mask = last, drawn;
    for (int half = 1; half < 32; half *= 2) mask |= mask >> half;
    do drawn = bits->next_uint32(bits->state) & mask;
    while (drawn > last);
    return drawn;
}

}  // namespace

void trade(const int64_t* indptr, int32_t* terms, const int64_t* pairs, int64_t count, Bits* bits) {
    std::vector<int32_t> both, apart;
    for (const int64_t* pair = pairs; pair < pairs + 2 * count; pair += 2) {
        int32_t *one = terms + indptr[pair[0]], *one_end = terms + indptr[pair[0] + 1];
        int32_t *other = terms + indptr[pair[1]], *other_end = terms + indptr[pair[1] + 1];
        both.clear(), apart.clear();
        for (const int32_t *a = one, *b = other; a < one_end || b < other_end;) {
            if (b == other_end || (a < one_end && *a < *b)) apart.push_back(*a++);
            else if (a == one_end || *b < *a) apart.push_back(*b++);
            else both.push_back(*a), ++a, ++b;
        }
        for (size_t i = apart.size(); i-- > 1;) std::swap(apart[i], apart[up_to(bits, static_cast<uint32_t>(i))]);
        const auto middle = apart.begin() + ((one_end - one) - static_cast<int64_t>(both.size()));
        std::sort(apart.begin(), middle), std::sort(middle, apart.end());
        std::merge(both.begin(), both.end(), apart.begin(), middle, one);
        std::merge(both.begin(), both.end(), middle, apart.end(), other);
    }
}

}  // namespace grampus
