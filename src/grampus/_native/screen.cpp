// Single precision; see loops.hpp. May fuse a product and a sum: nothing depends on its last bits.
#include "loops.hpp"

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

namespace grampus {
namespace {

#ifdef __AVX__
constexpr int WIDTH = 8;  // floats in a register
#else
constexpr int WIDTH = 4;
#endif
static_assert(LANES % WIDTH == 0, "tables are padded to whole registers");
typedef float Vector __attribute__((vector_size(4 * WIDTH), aligned(4)));
constexpr float INFINITE = __builtin_inff();
constexpr int WIDE = 8;                       // vectors of clusters that one pass over a sparse row keeps in registers
constexpr int NARROW = 3;                     // the same for several dense rows at once
constexpr int AHEAD = PADDING;                // entries that the next rows of the table are fetched ahead
constexpr int FEW = 4, MOST = 6;              // dense rows at once
constexpr int REGISTERS = LANES == 4 ? 18 : 12;  // for their sums; with 24 of 32, compilers spill some

inline const Vector* at(const float* p) { return reinterpret_cast<const Vector*>(p); }
inline Vector* at(float* p) { return reinterpret_cast<Vector*>(p); }
inline Vector smaller(Vector a, Vector b) { return a < b ? a : b; }

// By halves, without a branch and without one lane waiting for the other.
inline float smallest(Vector v) {
    float lanes[WIDTH];
    *at(lanes) = v;
    for (int half = WIDTH / 2; half; half /= 2)
        for (int l = 0; l < half; ++l) lanes[l] = lanes[l + half] < lanes[l] ? lanes[l + half] : lanes[l];
    return lanes[0];
}

// V vectors of sums, one by one rather than as an array: so that compilers keep them in registers.
template <int V>
struct Sums {
    Vector here = {};
    Sums<V - 1> others;
    inline __attribute__((always_inline)) void add(const Vector* row, float x) {
        here += row[0] * x;
        others.add(row + 1, x);
    }
    inline __attribute__((always_inline)) void put(Vector* out) const {
        out[0] = here;
        others.put(out + 1);
    }
};
template <>
struct Sums<0> {
    void add(const Vector*, float) {}
    void put(Vector*) const {}
};

template <int V>
void sparse_row(const Entry* e, const Entry* end, const float* table, int stride, float* out) {
    Sums<V> sums;
    for (; e != end; ++e) {
        const Entry ahead = e[AHEAD];  // entries are padded
        for (int v = 0; v < V; v += 64 / (4 * WIDTH)) __builtin_prefetch(table + static_cast<int64_t>(ahead.term) * stride + v * WIDTH);
        sums.add(at(table + static_cast<int64_t>(e->term) * stride), e->value);
    }
    sums.put(at(out));
}

using SparseRow = void (*)(const Entry*, const Entry*, const float*, int, float*);
constexpr SparseRow SPARSE[] = {sparse_row<1>, sparse_row<2>, sparse_row<3>, sparse_row<4>,
                                sparse_row<5>, sparse_row<6>, sparse_row<7>, sparse_row<8>};

void sparse_sums(const Entry* entries, const int64_t* starts, const int32_t* documents, int count, const float* table,
                 int stride, float* out) {
    for (int column = 0; column < stride; column += WIDE * WIDTH) {
        const int vectors = (stride - column) / WIDTH;
        const SparseRow part = SPARSE[(vectors < WIDE ? vectors : WIDE) - 1];
        for (int r = 0; r < count; ++r) {
            const int64_t i = documents[r];
            part(entries + starts[i], entries + starts[i + 1], table + column, stride, out + static_cast<int64_t>(r) * stride + column);
        }
    }
}

// The sums of R dense rows.
template <int V, int R>
struct Rows {
    Sums<V> here;
    Rows<V, R - 1> others;
    inline __attribute__((always_inline)) void add(const Vector* row, const float* const* x, int64_t t) {
        here.add(row, x[0][t]);
        others.add(row, x + 1, t);
    }
    inline __attribute__((always_inline)) void put(float* const* out) const {
        here.put(at(out[0]));
        others.put(out + 1);
    }
};
template <int V>
struct Rows<V, 0> {
    void add(const Vector*, const float* const*, int64_t) {}
    void put(float* const*) const {}
};

template <int V, int R>
void dense_rows(const float* const* x, int64_t m, const float* table, int stride, float* const* out) {
    Rows<V, R> rows;
    for (int64_t t = 0; t < m; ++t) rows.add(at(table + t * stride), x, t);
    rows.put(out);
}

struct DenseRows {
    int most;  // rows
    void (*part)(const float* const*, int64_t, const float*, int, float* const*);
};
template <int V>
constexpr int most_rows() { return REGISTERS / V < MOST ? REGISTERS / V : MOST; }
template <int V>
constexpr DenseRows many_rows() { return {most_rows<V>(), dense_rows<V, most_rows<V>()>}; }
template <int V>
constexpr DenseRows few_rows() { return {FEW, dense_rows<V, FEW>}; }
constexpr DenseRows DENSE[NARROW][2] = {
    {few_rows<1>(), many_rows<1>()}, {few_rows<2>(), many_rows<2>()}, {few_rows<3>(), many_rows<3>()}};

void dense_sums(const float* rows, int64_t m, const int32_t* documents, int count, const float* table, int stride,
                float* out) {
    for (int column = 0; column < stride;) {
        const int left = (stride - column) / WIDTH, parts = (left + NARROW - 1) / NARROW, vectors = (left + parts - 1) / parts;
        for (int r = 0; r < count;) {
            const DenseRows& few = DENSE[vectors - 1][count - r > FEW];
            const float* x[MOST];
            float* to[MOST];
            for (int d = 0; d < few.most; ++d) {  // the last document fills up
                const int place = r + d < count ? r + d : count - 1;
                x[d] = rows + documents[place] * m;
                to[d] = out + static_cast<int64_t>(place) * stride + column;
            }
            few.part(x, m, table + column, stride, to);
            r += few.most;
        }
        column += vectors * WIDTH;
    }
}

void least(const float* sums, const Rough& rough, int own, float extra, float* first, float* second, int* winner) {
    if (extra == 0.0f) own = -1;  // a lane cannot be changed without a detour through memory
    // Each lane keeps its own least and second; whatever the winner beats is at least the second.
    Vector low = Vector{} + INFINITE, next = low, place = Vector{}, number = Vector{};
    for (int l = 0; l < WIDTH; ++l) number[l] = static_cast<float>(l);
    for (int c = 0; c < rough.stride; c += WIDTH) {
        Vector value = *at(rough.offsets + c) + *at(rough.slopes + c) * *at(sums + c);
        if (own >= c && own < c + WIDTH) value[own - c] += extra;
        const auto closer = value < low;
        const Vector other = closer ? low : value;
        next = smaller(next, other);
        place = closer ? number : place;
        low = closer ? value : low;
        number += static_cast<float>(WIDTH);
    }
    float lows[WIDTH], nexts[WIDTH], places[WIDTH];
    *at(lows) = low, *at(nexts) = next, *at(places) = place;
    for (int half = WIDTH / 2; half; half /= 2)
        for (int l = 0; l < half; ++l) {
            const bool closer = lows[l + half] < lows[l];
            const float beaten = closer ? lows[l] : lows[l + half], after = nexts[l + half] < nexts[l] ? nexts[l + half] : nexts[l];
            nexts[l] = beaten < after ? beaten : after;
            places[l] = closer ? places[l + half] : places[l];
            lows[l] = closer ? lows[l + half] : lows[l];
        }
    *first = lows[0];
    *second = nexts[0];
    *winner = static_cast<int>(places[0]);
}

void remember(const float* sums, const Rough& rough, float length, float error, float* bounds) {
    for (int c = 0; c < rough.stride; c += WIDTH)
        *at(bounds + c) = *at(rough.slopes + c) * *at(sums + c) + (*at(rough.drift + c) * length - error);
}

float lowest(const float* bounds, const Rough& rough, float length) {
    Vector low = Vector{} + INFINITE;
    for (int c = 0; c < rough.stride; c += WIDTH)
        low = smaller(low, *at(bounds + c) + (*at(rough.offsets + c) - *at(rough.drift + c) * length));
    return smallest(low);
}

void refresh(const double* fresh, float* __restrict old, int stride, double* __restrict along,
             double* __restrict moved) {
    for (int c = 0; c < stride; ++c) {
        const double was = old[c], change = fresh[c] - was;
        along[c] += was * change;
        moved[c] += change * change;
        old[c] = static_cast<float>(fresh[c]);
    }
}

void post(const Entry* postings, int64_t count, float x, float* __restrict sums) {
    int64_t e = 0;
    for (; e + 4 <= count; e += 4) {  // documents of a term are distinct
        const Entry a = postings[e], b = postings[e + 1], c = postings[e + 2], d = postings[e + 3];
        const float u = sums[a.term] + x * a.value, v = sums[b.term] + x * b.value;
        const float w = sums[c.term] + x * c.value, y = sums[d.term] + x * d.value;
        sums[a.term] = u;
        sums[b.term] = v;
        sums[c.term] = w;
        sums[d.term] = y;
    }
    for (; e < count; ++e) sums[postings[e].term] += x * postings[e].value;
}

int64_t above(const float* values, int64_t n, float limit, int32_t* places) {
    constexpr int STEP = 32;
    int64_t found = 0, i = 0;
    for (; i + STEP <= n; i += STEP) {
        int any = 0;
        for (int l = 0; l < STEP; ++l) any |= values[i + l] > limit;
        if (any)
            for (int l = 0; l < STEP; ++l)
                if (values[i + l] > limit) places[found++] = static_cast<int32_t>(i + l);
    }
    for (; i < n; ++i)
        if (values[i] > limit) places[found++] = static_cast<int32_t>(i);
    return found;
}

}  // namespace

void JOIN(fill_single_, GRAMPUS_ISA)(Loops& table) {
    table.sparse_sums = sparse_sums;
    table.dense_sums = dense_sums;
    table.least = least;
    table.remember = remember;
    table.lowest = lowest;
    table.refresh = refresh;
    table.post = post;
    table.above = above;
}

}  // namespace grampus
