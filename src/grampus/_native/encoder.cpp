#include "encoder.hpp"

#include <algorithm>


namespace grampus {
namespace {

constexpr int64_t BATCH = 2048;  // pieces whose distinct ones are projected once
constexpr int64_t GROUP = 128;   // pieces read together; a text is never divided

template <class T>
T* sized(std::vector<T>& values, int64_t size) {
    if (static_cast<int64_t>(values.size()) < size) values.resize(size);
    return values.data();
}

}  // namespace

void Encoder::encode(const Network& net, const int32_t* pieces, const int64_t* starts, int64_t texts, float* rows) {
    for (int64_t first = 0, last; first < texts; first = last) {
        for (last = first + 1; last < texts && starts[last + 1] - starts[first] <= BATCH; ++last) {}
        batch(net, pieces, starts + first, last - first, rows + first * ROW);
    }
}

void Encoder::batch(const Network& net, const int32_t* pieces, const int64_t* starts, int64_t texts, float* rows) {
    const EncoderLoops& loops = encoder_loops();
    pieces += starts[0];
    const int64_t length = starts[texts] - starts[0];
    distinct_.assign(pieces, pieces + length);
    std::sort(distinct_.begin(), distinct_.end());
    distinct_.erase(std::unique(distinct_.begin(), distinct_.end()), distinct_.end());
    const int64_t count = static_cast<int64_t>(distinct_.size());
    places_.resize(length), starts_.resize(texts + 1), lengths_.resize(texts);
    for (int64_t t = 0; t < length; ++t)
        places_[t] = static_cast<int32_t>(std::lower_bound(distinct_.begin(), distinct_.end(), pieces[t]) - distinct_.begin());
    for (int64_t i = 0; i <= texts; ++i) starts_[i] = starts[i] - starts[0];
    for (int64_t i = 0; i < texts; ++i) lengths_[i] = starts_[i + 1] - starts_[i];

    const int64_t longest = std::max(GROUP, *std::max_element(lengths_.begin(), lengths_.end()));
    int8_t* bytes = sized(bytes_, std::max({count * ALL_BRANCHES, longest * BRANCH, texts * FEATURES}));
    int32_t* room = sized(room_, std::max({count * ALL_BRANCHES, longest * 5 * BRANCH, texts * 2 * ROW}));
    float* projected = sized(projected_, count * ALL_BRANCHES);
    double* scales = sized(scales_, count * BRANCHES);
    int32_t* products = sized(products_, count * ALL_WINDOWS);
    loops.project(net, distinct_.data(), count, bytes, room, projected, scales, products);

    const Projected known{count, projected, scales, products};
    const Rooms rooms{bytes, sized(row_scales_, longest), sized(hidden_, longest * BRANCH), sized(last_, longest * ALL_BRANCHES), room};
    double* sums = sized(sums_, texts * FEATURES);
    for (int64_t first = 0, last; first < texts; first = last) {
        for (last = first + 1; last < texts && starts_[last + 1] - starts_[first] <= GROUP; ++last) {}
        loops.read(net, known, pieces, places_.data(), starts_.data() + first, last - first, rooms, sums + first * FEATURES);
    }
    loops.finish(net, sums, lengths_.data(), texts, bytes, room, sized(values_, texts * (1 + ROW + 2 * HIDDEN + HIDDEN + 2 * ROW + ROW)), rows);
}

}  // namespace grampus
