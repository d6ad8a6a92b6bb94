// The encoder's loops, compiled once for each instruction set, with -ffp-contract=off. See encoder_loops.hpp.
#include "encoder_loops.hpp"

#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__ARM_FEATURE_DOTPROD)
#include <arm_neon.h>
#endif

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

namespace grampus {
namespace {

// ---- products of whole numbers

#if defined(__AVX512VNNI__) && defined(__AVX512VL__)
constexpr int TOGETHER = 8;  // rows multiplied at a time

// Rows are shifted to 0 … 255, as the instruction wants them; 128 times the sum of a column is taken away again.
template <int R>
void multiply_tile(const int8_t* rows, const Layer& layer, int32_t* products) {
    const int depth = layer.depth;
    const __m256i shift = _mm256_set1_epi32(static_cast<int32_t>(0x80808080u));
    for (int column = 0; column < layer.wide; column += PANEL_COLUMNS) {
        const int8_t* panel = layer.weights + static_cast<int64_t>(column) * depth;
        __m256i sum[R];
        for (int r = 0; r < R; ++r) sum[r] = _mm256_setzero_si256();
        for (int k = 0; k < depth; k += STEP) {
            const __m256i weights = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(panel + k * PANEL_COLUMNS));
            for (int r = 0; r < R; ++r) {
                int32_t four;
                __builtin_memcpy(&four, rows + static_cast<int64_t>(r) * depth + k, 4);
                sum[r] = _mm256_dpbusd_epi32(sum[r], _mm256_xor_si256(_mm256_set1_epi32(four), shift), weights);
            }
        }
        const __m256i taken = _mm256_slli_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(layer.sums + column)), 7);
        for (int r = 0; r < R; ++r)
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(products + static_cast<int64_t>(r) * layer.wide + column),
                                _mm256_sub_epi32(sum[r], taken));
    }
}
#elif defined(__AVX2__)
constexpr int TOGETHER = 4;

// Two sums a column, of the even and the odd pairs of a step: 16-bit products never overflow their 32-bit sums.
template <int R>
void multiply_tile(const int8_t* rows, const Layer& layer, int32_t* products) {
    const int depth = layer.depth;
    alignas(32) int16_t wider[R * FEATURES];
    for (int at = 0; at < R * depth; ++at) wider[at] = rows[at];
    for (int column = 0; column < layer.wide; column += PANEL_COLUMNS) {
        const int8_t* panel = layer.weights + static_cast<int64_t>(column) * depth;
        __m256i low[R], high[R];
        for (int r = 0; r < R; ++r) low[r] = high[r] = _mm256_setzero_si256();
        for (int k = 0; k < depth; k += STEP) {
            const __m128i* at = reinterpret_cast<const __m128i*>(panel + k * PANEL_COLUMNS);
            const __m256i left = _mm256_cvtepi8_epi16(_mm_loadu_si128(at)), right = _mm256_cvtepi8_epi16(_mm_loadu_si128(at + 1));
            for (int r = 0; r < R; ++r) {
                int64_t four;
                __builtin_memcpy(&four, wider + r * depth + k, 8);
                const __m256i row = _mm256_set1_epi64x(four);
                low[r] = _mm256_add_epi32(low[r], _mm256_madd_epi16(row, left));
                high[r] = _mm256_add_epi32(high[r], _mm256_madd_epi16(row, right));
            }
        }
        for (int r = 0; r < R; ++r) {
            const __m256i pairs = _mm256_permute4x64_epi64(_mm256_hadd_epi32(low[r], high[r]), 0xd8);
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(products + static_cast<int64_t>(r) * layer.wide + column), pairs);
        }
    }
}
#elif defined(__ARM_FEATURE_DOTPROD)
constexpr int TOGETHER = 8;

template <int R>
void multiply_tile(const int8_t* rows, const Layer& layer, int32_t* products) {
    const int depth = layer.depth;
    for (int column = 0; column < layer.wide; column += PANEL_COLUMNS) {
        const int8_t* panel = layer.weights + static_cast<int64_t>(column) * depth;
        int32x4_t low[R], high[R];
        for (int r = 0; r < R; ++r) low[r] = high[r] = vdupq_n_s32(0);
        for (int k = 0; k < depth; k += 4 * STEP) {
            int8x16_t row[R];
            for (int r = 0; r < R; ++r) row[r] = vld1q_s8(rows + static_cast<int64_t>(r) * depth + k);
            const int8_t* at = panel + k * PANEL_COLUMNS;
#define GRAMPUS_STEP(S)                                                                  \
    {                                                                                    \
        const int8x16_t left = vld1q_s8(at + 32 * S), right = vld1q_s8(at + 32 * S + 16); \
        for (int r = 0; r < R; ++r) {                                                    \
            low[r] = vdotq_laneq_s32(low[r], left, row[r], S);                           \
            high[r] = vdotq_laneq_s32(high[r], right, row[r], S);                        \
        }                                                                                \
    }
            GRAMPUS_STEP(0) GRAMPUS_STEP(1) GRAMPUS_STEP(2) GRAMPUS_STEP(3)
#undef GRAMPUS_STEP
        }
        for (int r = 0; r < R; ++r) {
            vst1q_s32(products + static_cast<int64_t>(r) * layer.wide + column, low[r]);
            vst1q_s32(products + static_cast<int64_t>(r) * layer.wide + column + 4, high[r]);
        }
    }
}
#else
constexpr int TOGETHER = 32;

template <int R>
void multiply_tile(const int8_t* rows, const Layer& layer, int32_t* products) {
    const int depth = layer.depth;
    int16_t wider[R * FEATURES], weights[FEATURES];  // compilers know the sum of products of 16-bit numbers
    for (int at = 0; at < R * depth; ++at) wider[at] = rows[at];
    for (int column = 0; column < layer.wide; ++column) {
        const int8_t* at = layer.weights + static_cast<int64_t>(column / PANEL_COLUMNS) * PANEL_COLUMNS * depth + column % PANEL_COLUMNS * STEP;
        for (int k = 0; k < depth; ++k) weights[k] = at[k / STEP * PANEL_COLUMNS * STEP + k % STEP];
        for (int r = 0; r < R; ++r) {
            const int16_t* row = wider + r * depth;
            int32_t sum = 0;
            for (int k = 0; k < depth; ++k) sum += row[k] * weights[k];
            products[static_cast<int64_t>(r) * layer.wide + column] = sum;
        }
    }
}
#endif

// IN rows (count, depth) of 8-bit numbers; OUT products (count, wide), exact.
void multiply(const int8_t* rows, int64_t count, const Layer& layer, int32_t* products) {
    int64_t row = 0;
    const auto tiles = [&](auto tile, int together) {
        for (; row + together <= count; row += together) tile(rows + row * layer.depth, layer, products + row * layer.wide);
    };
    tiles(multiply_tile<TOGETHER>, TOGETHER);
    tiles(multiply_tile<4>, 4);
    tiles(multiply_tile<2>, 2);
    tiles(multiply_tile<1>, 1);
}

// ---- double precision, in eight lanes added as a tree

inline double added(const double* lanes) {
    return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

double sum_of(const double* values, int count) {
    double lanes[8] = {};
    for (int at = 0; at < count; at += 8)
        for (int lane = 0; lane < 8; ++lane) lanes[lane] += values[at + lane];
    return added(lanes);
}

double squares_of(const double* values, int count) {
    double lanes[8] = {};
    for (int at = 0; at < count; at += 8)
        for (int lane = 0; lane < 8; ++lane) lanes[lane] += values[at + lane] * values[at + lane];
    return added(lanes);
}

inline double larger(double a, double b) { return a > b ? a : b; }

// Layer normalisation in place.
void normalise(double* values, int count, const double* scale, const double* bias, double epsilon) {
    const double mean = sum_of(values, count) / count;
    for (int at = 0; at < count; ++at) values[at] -= mean;
    const double inverse = 1.0 / __builtin_sqrt(squares_of(values, count) / count + epsilon);
    for (int at = 0; at < count; ++at) values[at] = values[at] * inverse * scale[at] + bias[at];
}

// The largest size of any value: as bits without their sign, numbers are ordered as whole numbers are.
template <class T, class Bits>
double largest_of(const T* values, int count, Bits sign) {
    constexpr int LANES = 16;
    Bits lanes[LANES] = {};
    for (int at = 0; at < count; at += LANES) {
        Bits bits[LANES];
        __builtin_memcpy(bits, values + at, sizeof bits);
        for (int lane = 0; lane < LANES; ++lane) {
            const Bits size = bits[lane] & ~sign;
            lanes[lane] = size > lanes[lane] ? size : lanes[lane];
        }
    }
    Bits most = 0;
    for (const Bits lane : lanes) most = lane > most ? lane : most;
    T found;
    __builtin_memcpy(&found, &most, sizeof found);
    return found;
}
inline double largest_of(const float* values, int count) { return largest_of(values, count, INT32_MIN); }
inline double largest_of(const double* values, int count) { return largest_of(values, count, INT64_MIN); }

// Rounds to 8 bits and returns the scale. Adding 3 · 2^51 rounds to a whole number, ties to even, and leaves it in the last bits.
template <class T>
double rounded(const T* values, int count, int8_t* bytes) {
    constexpr double WHOLE = 6755399441055744.0;
    const double most = largest_of(values, count), inverse = most > 0.0 ? 127.0 / most : 0.0;
    for (int at = 0; at < count; ++at) {
        const double whole = static_cast<double>(values[at]) * inverse + WHOLE;
        int64_t bits;
        __builtin_memcpy(&bits, &whole, 8);
        bytes[at] = static_cast<int8_t>(bits);
    }
    return most / 127.0;
}

// e^x for 0 ≤ x ≤ 40, by its series around a multiple of ln 2.
double exponential(double x) {
    const int whole = static_cast<int>(x * 1.4426950408889634 + 0.5);
    const double rest = (x - whole * 6.93147180369123816490e-01) - whole * 1.90821492927058770002e-10;
    double sum = 1.0;
    for (int n = 14; n > 0; --n) sum = 1.0 + sum * rest / n;
    const uint64_t bits = static_cast<uint64_t>(1023 + whole) << 52;
    double power;
    __builtin_memcpy(&power, &bits, 8);
    return sum * power;
}

double hyperbolic_tangent(double x) {
    const double size = x < 0 ? -x : x;
    const double value = size > 20.0 ? 1.0 : 1.0 - 2.0 / (exponential(2.0 * size) + 1.0);
    return x < 0 ? -value : value;
}

// ---- the network

void project(const Network& net, const int32_t* pieces, int64_t count, int8_t* bytes, int32_t* room, float* rows, double* scales,
             int32_t* products) {
    for (int64_t i = 0; i < count; ++i)
        __builtin_memcpy(bytes + i * TABLE, net.table[pieces[i] % CHUNKS] + static_cast<int64_t>(pieces[i] / CHUNKS) * TABLE, TABLE);
    multiply(bytes, count, net.project, room);
    alignas(32) double values[ALL_BRANCHES];
    for (int64_t i = 0; i < count; ++i) {
        const double scale = net.chunk_scale[pieces[i] % CHUNKS], low = net.chunk_low[pieces[i] % CHUNKS];
        const int32_t* product = room + i * ALL_BRANCHES;
        for (int j = 0; j < ALL_BRANCHES; ++j)
            values[j] = (product[j] * (scale * net.project.scale[j]) + low * net.project_low[j]) + net.project_bias[j];
        normalise(values, ALL_BRANCHES, net.norm_scale, net.norm_bias, net.epsilon);
        for (int j = 0; j < ALL_BRANCHES; ++j) rows[i * ALL_BRANCHES + j] = static_cast<float>(values[j]);
    }
    int32_t* target = products;
    for (int branch = 0; branch < BRANCHES; ++branch) {  // products of all pieces, one branch after the other
        for (int64_t i = 0; i < count; ++i)
            scales[BRANCHES * i + branch] = rounded(rows + i * ALL_BRANCHES + branch * BRANCH, BRANCH, bytes + i * BRANCH);
        multiply(bytes, count, net.first[branch], target);
        target += count * net.first[branch].wide;
    }
}

struct Window {
    const Layer& layer;
    const double* bias;
    const int32_t* products;  // of a row: one stretch of 256 for each place in the window
    const double* scales;     // of the rows, every `stride`
    int stride, before, size;
};

// Σ over a window of products and their scales, at least 0, and then the row itself. Windows end where their text ends.
// Where there are places, piece t is row places[t] of the products and of what is added.
void combine(const Window& window, const int32_t* places, int64_t first, int64_t end, const float* added, int64_t added_stride, float* out,
             int64_t out_stride) {
    alignas(32) double sums[BRANCH];
    for (int64_t t = first; t < end; ++t) {
        if (places && t + window.size < end)  // rows of distinct pieces lie anywhere
            for (int64_t at = 0; at < window.layer.wide; at += 16)
                __builtin_prefetch(window.products + places[t + window.size] * static_cast<int64_t>(window.layer.wide) + at);
        for (int j = 0; j < BRANCH; ++j) sums[j] = window.bias[j];
        for (int o = 0; o < window.size; ++o) {
            const int64_t other = t + o - window.before;
            if (other < first || other >= end) continue;
            const int64_t row = places ? places[other] : other;
            const double scale = window.scales[row * window.stride];
            const int32_t* product = window.products + row * window.layer.wide + o * BRANCH;
            const double* column = window.layer.scale + o * BRANCH;
            for (int j = 0; j < BRANCH; ++j) sums[j] += product[j] * (scale * column[j]);
        }
        const float* own = added + (places ? places[t] : t) * added_stride;
        float* target = out + t * out_stride;
        for (int j = 0; j < BRANCH; ++j) target[j] = static_cast<float>(larger(sums[j], 0.0) + own[j]);
    }
}

void read(const Network& net, const Projected& known, const int32_t* pieces, const int32_t* places, const int64_t* starts, int64_t texts,
          const Rooms& rooms, double* sums) {
    const int64_t origin = starts[0], length = starts[texts] - origin;
    pieces += origin, places += origin;
    const int32_t* products = known.products;
    for (int branch = 0; branch < BRANCHES; ++branch) {
        const Window first{net.first[branch], net.first_bias[branch], products, known.scales + branch, BRANCHES, BEFORE[branch], WINDOWS[branch]};
        for (int64_t i = 0; i < texts; ++i)
            combine(first, places, starts[i] - origin, starts[i + 1] - origin, known.rows + branch * BRANCH, ALL_BRANCHES, rooms.hidden, BRANCH);
        for (int64_t t = 0; t < length; ++t) rooms.scales[t] = rounded(rooms.hidden + t * BRANCH, BRANCH, rooms.bytes + t * BRANCH);
        multiply(rooms.bytes, length, net.second[branch], rooms.products);
        const Window second{net.second[branch], net.second_bias[branch], rooms.products, rooms.scales, 1, BEFORE[branch], WINDOWS[branch]};
        for (int64_t i = 0; i < texts; ++i)
            combine(second, nullptr, starts[i] - origin, starts[i + 1] - origin, rooms.hidden, BRANCH, rooms.last + branch * BRANCH, ALL_BRANCHES);
        products += known.count * net.first[branch].wide;
    }
    alignas(32) double values[FEATURES];
    for (int64_t i = 0; i < texts; ++i, sums += FEATURES) {
        for (int j = 0; j < FEATURES; ++j) sums[j] = 0.0;
        for (int64_t t = starts[i] - origin; t < starts[i + 1] - origin; ++t) {
            const int chunk = pieces[t] % CHUNKS;
            const uint8_t* row = net.table[chunk] + static_cast<int64_t>(pieces[t] / CHUNKS) * TABLE;
            for (int j = 0; j < TABLE; ++j) values[j] = row[j] * net.chunk_scale[chunk] + net.chunk_low[chunk];
            for (int j = 0; j < ALL_BRANCHES; ++j) values[TABLE + j] = rooms.last[t * ALL_BRANCHES + j];
            normalise(values, FEATURES, net.feature_scale, net.feature_bias, net.epsilon);
            for (int j = 0; j < FEATURES; ++j) sums[j] += values[j];
        }
    }
}

// IN rows (count, depth); OUT (count, wide), each in double precision.
void apply(const Layer& layer, const double* rows, int64_t stride, int64_t count, int8_t* bytes, double* scales, int32_t* room, double* out) {
    for (int64_t i = 0; i < count; ++i) scales[i] = rounded(rows + i * stride, layer.depth, bytes + i * layer.depth);
    multiply(bytes, count, layer, room);
    for (int64_t i = 0; i < count; ++i)
        for (int j = 0; j < layer.wide; ++j) out[i * layer.wide + j] = room[i * layer.wide + j] * (scales[i] * layer.scale[j]);
}

void finish(const Network& net, const double* sums, const int64_t* lengths, int64_t count, int8_t* bytes, int32_t* room, double* values,
            float* rows) {
    double* scales = values;
    double* joined = scales + count;                 // (count, 512)
    double* both = joined + count * ROW;             // (count, 640): a hidden layer, and what goes round it
    double* inner = both + count * 2 * HIDDEN;       // (count, 320)
    double* outer = inner + count * HIDDEN;          // (count, 1024): the other hidden layer, and what goes round it
    double* row = outer + count * 2 * ROW;           // (count, 512)
    apply(net.join, sums, FEATURES, count, bytes, scales, room, joined);
    for (int64_t i = 0; i < count; ++i) {
        const double length = static_cast<double>(lengths[i]), inverse = 1.0 / __builtin_sqrt(length);
        for (int j = 0; j < ROW; ++j) joined[i * ROW + j] = (joined[i * ROW + j] + length * net.join_bias[j]) * inverse;
    }
    apply(net.hidden, joined, ROW, count, bytes, scales, room, both);
    for (int64_t i = 0; i < count; ++i)
        for (int j = 0; j < HIDDEN; ++j) both[i * 2 * HIDDEN + j] = larger(both[i * 2 * HIDDEN + j], 0.0);
    apply(net.inner, both, 2 * HIDDEN, count, bytes, scales, room, inner);
    for (int64_t i = 0; i < count; ++i)
        for (int j = 0; j < HIDDEN; ++j) inner[i * HIDDEN + j] = larger(both[i * 2 * HIDDEN + HIDDEN + j] + inner[i * HIDDEN + j], 0.0);
    apply(net.outer, inner, HIDDEN, count, bytes, scales, room, outer);
    for (int64_t i = 0; i < count; ++i)
        for (int j = 0; j < ROW; ++j) outer[i * 2 * ROW + j] = larger(outer[i * 2 * ROW + j], 0.0);
    apply(net.last, outer, 2 * ROW, count, bytes, scales, room, row);
    for (int64_t i = 0; i < count; ++i) {
        double* value = row + i * ROW;
        for (int j = 0; j < ROW; ++j) value[j] = hyperbolic_tangent(outer[i * 2 * ROW + ROW + j] + value[j]);
        const double inverse = 1.0 / __builtin_sqrt(larger(squares_of(value, ROW), net.epsilon));
        for (int j = 0; j < ROW; ++j) rows[i * ROW + j] = static_cast<float>(value[j] * inverse);
    }
}

}  // namespace

void JOIN(fill_encoder_, GRAMPUS_ISA)(EncoderLoops& table) { table = {"", multiply, project, read, finish}; }

}  // namespace grampus
