// Double precision; see loops.hpp. Compiled with -ffp-contract=off.
#include "loops.hpp"

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

namespace grampus {
namespace {

constexpr double INFINITE = __builtin_inf();

inline double smaller(double a, double b) { return a < b ? a : b; }

#ifdef __AVX__
constexpr int WIDTH = 4;  // doubles in a register
#else
constexpr int WIDTH = 2;
#endif
typedef double Vector __attribute__((vector_size(8 * WIDTH), aligned(8)));

inline Vector load(const double* p) { return *reinterpret_cast<const Vector*>(p); }
inline void put(Vector v, double* p) { *reinterpret_cast<Vector*>(p) = v; }

// Distance to the own cluster without the document itself (`dominance`, Eqn 12); −∞ for a document that is alone.
double left_out(double similar, const Figures& f, int c, double diagonal, double weight, const Rule& rule) {
    const double one = smaller(weight, 1.0), rest = f.sizes[c] - one;
    if (rest <= 1e-12 * one) return -INFINITE;
    double gathered = f.within[c] - 2.0 * one * similar + one * one * diagonal;
    gathered += rule.shift * (f.squares[c] - one * one);
    return rule.centroid * gathered / (rest * rest) - 2.0 * (similar - one * diagonal) / rest;
}

void choose(double* tile, const Some& some, const Figures& f, const Rule& rule, int32_t* chosen) {
    double own[BLOCK], best[BLOCK], size[BLOCK];
    const int many = some.count;
    for (int r = 0; r < many; ++r) {
        const int c = some.current[r];
        best[r] = own[r] = INFINITE;
        size[r] = 0.0;
        if (c < 0) continue;
        const double similar = tile[c * many + r];
        if (rule.adjusted) own[r] = left_out(similar, f, c, some.diagonal[r], some.weights[r], rule);
        else own[r] = f.offsets[c] + f.slopes[c] * (similar + rule.shift * smaller(some.weights[r], 1.0));
    }
    for (int c = 0; c < f.k; ++c) {  // similarities become what is compared
        const double slope = f.slopes[c], offset = f.offsets[c];
        double* row = tile + static_cast<int64_t>(c) * many;
        for (int r = 0; r < many; ++r) row[r] = offset + slope * row[r];
    }
    for (int r = 0; r < many; ++r)
        if (some.current[r] >= 0) tile[some.current[r] * many + r] = own[r];
    for (int c = 0; c < f.k; ++c) {
        const double extent = f.extents[c];
        const double* row = tile + static_cast<int64_t>(c) * many;
        int r = 0;
        for (; r + WIDTH <= many; r += WIDTH) {  // compilers branch here on their own
            const Vector value = load(row + r), before = load(best + r);
            put(value < before ? Vector{} + extent : load(size + r), size + r);
            put(value < before ? value : before, best + r);
        }
        for (; r < many; ++r) {
            size[r] = row[r] < best[r] ? extent : size[r];
            best[r] = row[r] < best[r] ? row[r] : best[r];
        }
    }
    double first[BLOCK];
    for (int r = 0; r < many; ++r) best[r] += rule.tolerance * (some.reach[r] + size[r]), first[r] = 0.0;  // 0 where nothing is finite
    for (int c = f.k - 1; c >= 0; --c) {
        const double number = c;
        const double* row = tile + static_cast<int64_t>(c) * many;
        for (int r = 0; r < many; ++r) first[r] = row[r] <= best[r] ? number : first[r];
    }
    for (int r = 0; r < many; ++r)
        chosen[r] = rule.adjusted && some.current[r] >= 0 && own[r] <= best[r] ? some.current[r] : static_cast<int32_t>(first[r]);
}

// V registers of columns, one by one rather than as an array: so that compilers keep them in registers.
template <int V>
struct Columns {
    Vector here;
    Columns<V - 1> others;
    explicit Columns(const double* from) : here(load(from)), others(from + WIDTH) {}
    inline __attribute__((always_inline)) void add(const double* row) { here += load(row), others.add(row + WIDTH); }
    inline __attribute__((always_inline)) void add(const double* row, double w) { here += w * load(row), others.add(row + WIDTH, w); }
    inline __attribute__((always_inline)) void put(double* to) const { *reinterpret_cast<Vector*>(to) = here, others.put(to + WIDTH); }
};
template <>
struct Columns<0> {
    explicit Columns(const double*) {}
    void add(const double*) {}
    void add(const double*, double) {}
    void put(double*) const {}
};

constexpr int VECTORS = 8, COLUMNS = VECTORS * WIDTH;
constexpr int ROWS = 8;   // rows of a matrix that are fetched ahead
constexpr int LISTS = 4;  // lists whose sums are fetched ahead

// The columns stay in registers while the rows go by, one after the other.
template <bool UNIT>
void add_lists(const double* tile, const uint8_t* rows, const double* weights, const int64_t* bounds, int64_t lists, double* sums) {
    for (int64_t l = 0; l < lists; ++l, sums += COLUMNS) {
        int64_t e = bounds[l];
        const int64_t end = bounds[l + 1];
        if (l + LISTS < lists)
            for (int line = 0; line < COLUMNS; line += 8) __builtin_prefetch(sums + LISTS * COLUMNS + line, 1);
        if (e == end) continue;
        Columns<VECTORS> columns(sums);
        for (; e + 2 <= end; e += 2) {
            const double *a = tile + rows[e] * COLUMNS, *b = tile + rows[e + 1] * COLUMNS;
            if (UNIT) columns.add(a), columns.add(b);
            else columns.add(a, weights[e]), columns.add(b, weights[e + 1]);
        }
        if (e < end) {
            const double* a = tile + rows[e] * COLUMNS;
            if (UNIT) columns.add(a);
            else columns.add(a, weights[e]);
        }
        columns.put(sums);
    }
}

void add_tile(const double* tile, const uint8_t* rows, const double* weights, const int64_t* bounds, int64_t lists, double* sums) {
    (weights ? add_lists<false> : add_lists<true>)(tile, rows, weights, bounds, lists, sums);
}

template <class T>
void copy_tiles(const T* rows, int64_t stride, int64_t count, int64_t wide, double* tiles) {
    for (int64_t i = 0; i < count; ++i) {
        const T* row = rows + i * stride;
        double* to = tiles + i * COLUMNS;
        if (i + ROWS < count)
            for (int64_t j = 0; j < wide; j += 64 / static_cast<int64_t>(sizeof(T))) __builtin_prefetch(row + ROWS * stride + j);
        int64_t j = 0;
        for (; j + COLUMNS <= wide; j += COLUMNS, to += TILE * COLUMNS)
            for (int l = 0; l < COLUMNS; ++l) to[l] = static_cast<double>(row[j + l]);
        if (j == wide) continue;
        for (int l = 0; l < COLUMNS; ++l) to[l] = j + l < wide ? static_cast<double>(row[j + l]) : 0.0;
    }
}

void move(const double* sums, int64_t wide, double* __restrict from, double* __restrict to) {
    for (int64_t j = 0; j < wide; ++j) {
        from[j] -= sums[j];
        to[j] += sums[j];
    }
}

// The same sums while four rows at a time stream by.
template <class T>
void add_rows(const T* rows, int64_t stride, const int32_t* numbers, const double* weights, int64_t count, int64_t wide,
              double* __restrict target) {
    int64_t e = 0;
    for (; e + 4 <= count; e += 4) {
        const T *a = rows + numbers[e] * stride, *b = rows + numbers[e + 1] * stride;
        const T *c = rows + numbers[e + 2] * stride, *d = rows + numbers[e + 3] * stride;
        const double u = weights ? weights[e] : 1.0, v = weights ? weights[e + 1] : 1.0;
        const double w = weights ? weights[e + 2] : 1.0, x = weights ? weights[e + 3] : 1.0;
        for (int64_t j = 0; j < wide; ++j)
            target[j] = (((target[j] + u * double(a[j])) + v * double(b[j])) + w * double(c[j])) + x * double(d[j]);
    }
    for (; e < count; ++e) {
        const T* a = rows + numbers[e] * stride;
        const double u = weights ? weights[e] : 1.0;
        for (int64_t j = 0; j < wide; ++j) target[j] += u * double(a[j]);
    }
}

double dot(const double* a, const double* b, int64_t m) {
    double lane[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    int64_t t = 0;
    for (; t + 8 <= m; t += 8)
        for (int l = 0; l < 8; ++l) lane[l] += a[t + l] * b[t + l];
    for (int l = 0; t + l < m; ++l) lane[l] += a[t + l] * b[t + l];
    return ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]));
}

void distances(const double* point, const double* columns, int64_t first, int64_t n, int64_t m, double* __restrict out) {
    for (int64_t j = first; j < n; ++j) out[j] = 0.0;
    int64_t t = 0;
    for (; t + 4 <= m; t += 4) {  // four columns for each time that the sums are read and written
        const double *own = point + t, *a = columns + t * n, *b = a + n, *c = b + n, *d = c + n;
        for (int64_t j = first; j < n; ++j) {
            const double x = own[0] - a[j], y = own[1] - b[j], z = own[2] - c[j], w = own[3] - d[j];
            out[j] = (((out[j] + x * x) + y * y) + z * z) + w * w;
        }
    }
    for (; t < m; ++t)
        for (int64_t j = first; j < n; ++j) {
            const double apart = point[t] - columns[t * n + j];
            out[j] += apart * apart;
        }
    for (int64_t j = first; j < n; ++j) out[j] = __builtin_sqrt(out[j]);
}

double least_sum(const double* a, const double* b, int64_t n) {
    constexpr int MANY = 4;  // registers, since one comparison waits for the one before
    Vector least[MANY];
    for (Vector& some : least) some = Vector{} + INFINITE;
    int64_t i = 0;
    for (; i + MANY * WIDTH <= n; i += MANY * WIDTH)
        for (int v = 0; v < MANY; ++v) {
            const Vector sum = load(a + i + v * WIDTH) + load(b + i + v * WIDTH);
            least[v] = sum < least[v] ? sum : least[v];
        }
    double found = INFINITE;
    for (; i < n; ++i) found = smaller(a[i] + b[i], found);
    for (const Vector& some : least)
        for (int lane = 0; lane < WIDTH; ++lane) found = smaller(some[lane], found);
    return found;
}

void ward(const double* from, const double* sizes, int64_t n, double one, double other, double height, double* __restrict to) {
    for (int64_t i = 0; i < n; ++i) {
        const double size = sizes[i], share = 1.0 / (one + other + size);
        to[i] = __builtin_sqrt((size + one) * share * from[i] * from[i] + (size + other) * share * to[i] * to[i] - size * share * height * height);
    }
}

constexpr int PAIRS = 8;

// Turn S_l (`from`) into S_{l + 1}, R_l of the last character into that of this one, and D_l[i − 1] into D_l[i].
// `from` may be `ended`: each row is read before it is written.
inline void step(const double* weight, double decay, int64_t size, const double* from, double* ended, double* running,
                 double* before) {
    double last[PAIRS], old[PAIRS], now[PAIRS];
    for (int l = 0; l < PAIRS; ++l) last[l] = running[l];
    for (int64_t t = 0; t < size; t += PAIRS) {
        for (int l = 0; l < PAIRS; ++l) old[l] = before[t + l];
        for (int l = 0; l < PAIRS; ++l) now[l] = decay * running[t + l] + from[t + PAIRS + l];
        for (int l = 0; l < PAIRS; ++l) ended[t + PAIRS + l] = weight[t + PAIRS + l] * old[l];
        for (int l = 0; l < PAIRS; ++l) before[t + l] = decay * old[l] + last[l];
        for (int l = 0; l < PAIRS; ++l) last[l] = running[t + PAIRS + l] = now[l];
    }
}

// Rows of PAIRS numbers; the first row stands for "before the first character" and stays 0 in `weight` and `ended`.
void subsequence(const int32_t* xs, int64_t nx, const int32_t* ys, int64_t ny, int length, double decay, double* scratch,
                 double* out) {
    const int64_t size = ny * PAIRS, end = size + PAIRS;
    double *weight = scratch, *ended = weight + end, *running = ended + end, *total = running + end;
    double* before = total + end;
    for (int64_t t = 0; t < (length + 3) * end; ++t) scratch[t] = 0.0;
    const double square = decay * decay;
    for (int64_t i = 0; i < nx; ++i) {
        for (int64_t t = 0; t < size; t += PAIRS)
            for (int l = 0; l < PAIRS; ++l) weight[t + PAIRS + l] = ys[t + l] == xs[i * PAIRS + l] ? square : 0.0;
        const double* last = weight;
        for (int level = 0; level + 1 < length; ++level) {
            step(weight, decay, size, last, ended, running, before + level * end);
            last = ended;
        }
        for (int64_t t = 0; t < end; ++t) total[t] += last[t];
    }
    for (int l = 0; l < PAIRS; ++l) out[l] = 0.0;
    for (int64_t t = 0; t < end; t += PAIRS)
        for (int l = 0; l < PAIRS; ++l) out[l] += total[t + l];
}

}  // namespace

void JOIN(fill_double_, GRAMPUS_ISA)(Loops& table) {
    table.choose = choose;
    table.add_tile = add_tile;
    table.columns = COLUMNS;
    table.copy_tiles32 = copy_tiles<float>;
    table.copy_tiles64 = copy_tiles<double>;
    table.move = move;
    table.add_rows32 = add_rows<float>;
    table.add_rows64 = add_rows<double>;
    table.dot = dot;
    table.distances = distances;
    table.least_sum = least_sum;
    table.ward = ward;
    table.subsequence = subsequence;
}

}  // namespace grampus
