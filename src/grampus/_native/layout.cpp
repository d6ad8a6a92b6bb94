#include "layout.hpp"

#include <vector>

namespace grampus {
namespace {

constexpr float LONGEST = 4.0f;   // of one step along one axis
constexpr float SOFT = 1e-3f;     // keeps the repulsion of two documents at one place finite
constexpr float SPREAD = 1.5f;    // similarity on the map is 1 / (1 + SPREAD d²)

// Steele, Lea & Flood 2014 (SplitMix64): a number for every counter.
inline uint64_t mixed(uint64_t counter) {
    uint64_t z = counter * 0x9e3779b97f4a7c15ULL;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}

inline float limited(float step) { return step > LONGEST ? LONGEST : step < -LONGEST ? -LONGEST : step; }

constexpr int WIDE = 4;
typedef float Vector __attribute__((vector_size(4 * WIDE)));

inline Vector limited(Vector step) {
    step = step > LONGEST ? Vector{} + LONGEST : step;
    return step < -LONGEST ? Vector{} - LONGEST : step;
}

}  // namespace

void lay_out(const Pull* edges, int64_t count, int64_t n, int64_t fixed, int epochs, int repulsions, uint64_t seed, float* places) {
    std::vector<float> owed(count, 0.0f);  // an edge acts when its weights add up to 1
    for (int64_t e = 0; e < count; ++e) owed[e] = static_cast<float>(mixed(seed + 1 + e) >> 40) * (1.0f / (1 << 24));
    for (int epoch = 0; epoch < epochs; ++epoch) {
        const float rate = 1.0f - static_cast<float>(epoch) / static_cast<float>(epochs);
        const uint64_t stream = mixed(seed ^ (0x5851f42d4c957f2dULL * (epoch + 1)));
        for (int64_t e = 0; e < count; ++e) {
            owed[e] += edges[e].weight;
            if (owed[e] < 1.0f) continue;
            owed[e] -= 1.0f;
            float* a = places + 2 * edges[e].head;
            float* b = places + 2 * edges[e].tail;
            const float dx = a[0] - b[0], dy = a[1] - b[1], d = dx * dx + dy * dy;
            uint64_t drawn = 0;
            const float pull = -2.0f * SPREAD / (1.0f + SPREAD * d) * rate;
            const float px = limited(pull * dx), py = limited(pull * dy);
            a[0] += px, a[1] += py;
            if (edges[e].tail >= fixed) b[0] -= px, b[1] -= py;
            // All pushes start from one place, so that no division waits for another.
            const float x = a[0], y = a[1];
            Vector sx{}, sy{};
            for (int r = 0; r < repulsions; r += WIDE) {
                Vector ax{}, ay{};
                for (int k = 0; k < WIDE; ++k) {  // one number draws two
                    if (k % 2 == 0) drawn = mixed(stream + static_cast<uint64_t>(e) * repulsions + r + k);
                    const uint64_t half = k % 2 ? drawn >> 32 : drawn & 0xffffffff;
                    const float* c = r + k < repulsions ? places + 2 * ((half * static_cast<uint64_t>(n)) >> 32) : a;  // a: no push
                    ax[k] = x - c[0], ay[k] = y - c[1];
                }
                const Vector far = ax * ax + ay * ay;
                const Vector push = 2.0f * rate / ((SOFT + far) * (1.0f + SPREAD * far));
                sx += limited(push * ax), sy += limited(push * ay);
            }
            a[0] = x + ((sx[0] + sx[1]) + (sx[2] + sx[3])), a[1] = y + ((sy[0] + sy[1]) + (sy[2] + sy[3]));
        }
    }
}

}  // namespace grampus
