// Kernel k-means on a GPU: the loops of many runs at a time. Compiled when first used (see _device.py).
//
// Sums that decide are in double precision, or in whole numbers (features), so that no result depends on the order in
// which threads come by. Single precision only rules out what a certified bound allows, as in _native/features.cpp.

typedef long long int64;

#define MOST_ROWS 768      // of a stored matrix that lie in shared memory together
#define OWN 17             // clusters of a warp, at most
#define MANY 4096          // clusters up to which a block counts for itself
#define NOTHING 0x7fffffff
#define ROUNDING (1.0 / (1 << 24))
#define INFINITE __longlong_as_double(0x7ff0000000000000LL)
#define ENDLESS __int_as_float(0x7f800000)

// Figures of the clusters, each an array of (runs, k).
enum { SIZE, INNER, SQUARE, OFFSET, SLOPE, EXTENT, COUNT, FIGURES };

struct Rule {  // kmeans/state.Rule
    double tolerance, shift, centroid;
    int adjusted, spherical;
};

__device__ inline double least_of(double a, double b) { return a < b ? a : b; }

// What is compared is offset + slope · S: ‖μ_c‖² − 2 S/n_c (`dominance`, Eqn 4) or −S/√W (`validation`, §4).
__device__ void set_figures(double* figures, int64 at, int64 stride, double size, double inner, double square, double count, Rule rule) {
    double offset = size > 0 ? 0.0 : INFINITE, slope = 0.0, extent = 0.0;
    if (!(size > 0)) extent = rule.spherical ? 0.0 : INFINITE;
    else if (rule.spherical) slope = inner > 0 ? -1.0 / sqrt(inner) : 0.0;
    else {
        offset = rule.centroid * ((inner + rule.shift * square) / (size * size));
        slope = -2.0 / size;
        extent = fabs(offset);
    }
    figures[SIZE * stride + at] = size, figures[INNER * stride + at] = inner, figures[SQUARE * stride + at] = square;
    figures[OFFSET * stride + at] = offset, figures[SLOPE * stride + at] = slope, figures[EXTENT * stride + at] = extent;
    figures[COUNT * stride + at] = count;
}

// The value of a document's own cluster: without the document itself (`dominance`, Eqn 12), or with σ.
__device__ double own_value(const double* figures, int64 at, int64 stride, double similar, double diagonal, double w, Rule rule) {
    const double one = least_of(w, 1.0);
    if (!rule.adjusted) return figures[OFFSET * stride + at] + figures[SLOPE * stride + at] * (similar + rule.shift * one);
    const double rest = figures[SIZE * stride + at] - one;
    if (rest <= 1e-12 * one) return -INFINITE;  // alone
    const double inner = figures[INNER * stride + at] - 2.0 * one * similar + one * one * diagonal
        + rule.shift * (figures[SQUARE * stride + at] - one * one);
    return rule.centroid * inner / (rest * rest) - 2.0 * (similar - one * diagonal) / rest;
}

// One block for a tile of rows and a run: what joins and leaves each cluster from `low` on, rows in rising order. OUT lines:
// where rows lie in the tile, in bytes; the row after the last fills a list up to a multiple of four; heads (2 · many): where
// what joins a cluster ends, in fours, then what leaves it; changed (slots, many): clusters with any.
extern "C" __global__ void list_moves(const int* old, const int* now, const int* rows, int64 count, int64 n,
                                      const int* runs, const int* anew, int slots, int low, int many, int room,
                                      int stride, int tall, int wide, unsigned* lines, unsigned short* heads, int* changed) {
    extern __shared__ int counts[];  // (2 · many)
    __shared__ int keys[2 * MOST_ROWS], totals[MOST_ROWS];
    const int slot = blockIdx.y, t = threadIdx.x, both = 2 * many;
    const int64 at = (int64)blockIdx.x * tall + t, list = (int64)blockIdx.x * slots + slot;
    int joins = -1, leaves = -1;
    if (at < count) {
        const int64 i = (int64)runs[slot] * n + rows[at];
        const int b = now[i], a = old[i];
        if (b >= 0 && (anew[slot] || a != b)) {
            if (b >= low && b < low + many) joins = 2 * (b - low);
            if (!anew[slot] && a >= low && a < low + many) leaves = 2 * (a - low) + 1;
        }
    }
    for (int c = t; c < both; c += tall) counts[c] = 0;
    keys[t] = joins, keys[tall + t] = leaves;
    __syncthreads();
    if (joins >= 0) atomicAdd(counts + joins, 1);
    if (leaves >= 0) atomicAdd(counts + leaves, 1);
    int before = 0, prior = 0;  // of the same list
    if (joins >= 0)
        for (int j = 0; j < t; ++j) before += keys[j] == joins;
    if (leaves >= 0)
        for (int j = 0; j < t; ++j) prior += keys[tall + j] == leaves;
    __syncthreads();
    const int each = (both + tall - 1) / tall, first = min(t * each, both), last = min(first + each, both);
    int sum = 0;
    for (int c = first; c < last; ++c) sum += (counts[c] + 3) & ~3;
    totals[t] = sum;
    for (int half = 1; half < tall; half <<= 1) {
        __syncthreads();
        const int other = t >= half ? totals[t - half] : 0;
        __syncthreads();
        totals[t] += other;
    }
    unsigned* line = lines + list * room;
    unsigned short* head = heads + list * stride;
    int start = totals[t] - sum;
    for (int c = first; c < last; ++c) {
        const int found = counts[c], end = start + ((found + 3) & ~3);
        head[c] = (unsigned short)(end / 4), counts[c] = start;
        if (found) changed[slot * many + c / 2] = 1;
        for (int e = start + found; e < end; ++e) line[e] = tall * wide;
        start = end;
    }
    __syncthreads();
    if (joins >= 0) line[counts[joins] + before] = t * wide;
    if (leaves >= 0) line[counts[leaves] + prior] = t * wide;
}

__device__ inline void fetch16(void* to, const void* from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from));
}
__device__ inline void fetch(float* to, const float* from) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from));
}
__device__ inline void fetch(double* to, const double* from) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from));
}

__device__ inline unsigned address(const void* shared) { return (unsigned)__cvta_generic_to_shared(shared); }
__device__ inline uint4 read_four(unsigned at) {
    uint4 found;
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(found.x), "=r"(found.y), "=r"(found.z), "=r"(found.w) : "r"(at));
    return found;
}
template <class T>
__device__ inline T read(unsigned at) {
    T found;
    if constexpr (sizeof(T) == 4) asm volatile("ld.shared.f32 %0, [%1];" : "=f"(found) : "r"(at));
    else asm volatile("ld.shared.f64 %0, [%1];" : "=d"(found) : "r"(at));
    return found;
}

// What four rows add to a sum. Two floats are added exactly, as their sum and its error (Knuth's two-sum), so that half as
// many must be converted: conversions take longest here. `rest` collects the errors, which are 2^-24 of the sums.
__device__ inline void two_sum(float& a, float& b) {
    const float sum = __fadd_rn(a, b), other = __fsub_rn(sum, a);
    b = __fadd_rn(__fsub_rn(a, __fsub_rn(sum, other)), __fsub_rn(b, other));
    a = sum;
}
__device__ inline double add_four(float p, float q, float r, float s, float& rest) {
    two_sum(p, q), two_sum(r, s);
    rest += q + s;
    return (double)p + (double)r;
}
__device__ inline double add_four(double p, double q, double r, double s, float& rest) { return (p + q) + (r + s); }

// One block for 32 columns of K and some runs: each tile of rows is read once into shared memory, and every warp adds up
// some clusters of a run, their sums in registers. A row of zeros fills lists up to multiples of four. While a tile is
// added up, the next one arrives.
template <class T, bool WEIGHTED>
__device__ void follow(const T* matrix, const int* places, const int* rows, int64 count, int64 n, const int* runs,
                       const int* clear, int slots, int each, int units, int parts, int k, int low, int many, int room,
                       int stride, int tall, const unsigned* lines, const unsigned short* heads, const int* changed,
                       const double* weights, double* sums) {
    extern __shared__ double raw[];
    T* tiles = reinterpret_cast<T*>(raw);                                                                // (2, tall + 1, 32)
    unsigned* lists = reinterpret_cast<unsigned*>(tiles + 2 * (tall + 1) * 32);                          // (2, each, room)
    unsigned short* starts = reinterpret_cast<unsigned short*>(lists + 2 * each * room);                 // (2, each, stride)
    double* heavy = reinterpret_cast<double*>(starts + 2 * each * stride);                               // (2, tall + 1)
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const int group = blockIdx.y / parts, part = blockIdx.y % parts;
    const int there = min(each, slots - group * each), mine = warp / units, slot = group * each + mine;
    const int share = (many + units * parts - 1) / (units * parts), first = (part * units + warp % units) * share;
    const int own = mine < there ? min(share, many - first) : 0;  // clusters of this warp
    const int64 column = (int64)blockIdx.x * 32 + lane;
    constexpr int BYTES = 32 * sizeof(T), CHUNK = 16 / sizeof(T), CHUNKS = 32 / CHUNK;
    for (int q = threadIdx.x; q < 64; q += blockDim.x) tiles[((q >> 5) * (tall + 1) + tall) * 32 + (q & 31)] = 0;
    if (WEIGHTED && threadIdx.x < 2) heavy[threadIdx.x * (tall + 1) + tall] = 0.0;
    const int steps = (int)((count + tall - 1) / tall);
    const bool aligned = n % CHUNK == 0;
    auto load = [&](int step) {
        const int64 base = (int64)step * tall;
        T* to = tiles + (step & 1) * (tall + 1) * 32;
        const int left = count - base < tall ? (int)(count - base) : tall;
        if (aligned)
            for (int q = threadIdx.x; q < left * CHUNKS; q += blockDim.x) {
                const int t = q / CHUNKS, c = q % CHUNKS * CHUNK;
                const int64 from = (int64)blockIdx.x * 32 + c;
                if (from < n) fetch16(to + t * 32 + c, matrix + places[base + t] * n + from);
            }
        else
            for (int t = warp; t < left; t += blockDim.x >> 5)
                if (column < n) fetch(to + t * 32 + lane, matrix + places[base + t] * n + column);
        if (WEIGHTED)
            for (int t = threadIdx.x; t < left; t += blockDim.x)
                fetch(heavy + (step & 1) * (tall + 1) + t, weights + rows[base + t]);
        const int64 list = (int64)step * slots + group * each;
        for (int q = threadIdx.x; q < there * room / 4; q += blockDim.x)
            fetch16(lists + (step & 1) * each * room + q * 4, lines + list * room + q * 4);
        for (int q = threadIdx.x; q < there * stride / 8; q += blockDim.x)
            fetch16(starts + (step & 1) * each * stride + q * 8, heads + list * stride + q * 8);
    };
    double kept[OWN];
#pragma unroll
    for (int u = 0; u < OWN; ++u) kept[u] = 0.0;
    if (steps > 0) load(0);
    asm volatile("cp.async.commit_group;");
    for (int step = 0; step < steps; ++step) {
        if (step + 1 < steps) load(step + 1);
        asm volatile("cp.async.commit_group;");
        asm volatile("cp.async.wait_group 1;");
        __syncthreads();
        if (own > 0) {
            const unsigned here = address(tiles + (step & 1) * (tall + 1) * 32 + lane);
            const double* weight = heavy + (step & 1) * (tall + 1);
            const unsigned list = address(lists + ((step & 1) * each + mine) * room);
            const unsigned* head = reinterpret_cast<const unsigned*>(starts + ((step & 1) * each + mine) * stride) + first;
            unsigned line = list + 16 * (first ? head[-1] >> 16 : 0);
            uint4 at = read_four(line);  // offsets, read ahead
            auto four = [&](float& rest) {
                const T p = read<T>(here + at.x), q = read<T>(here + at.y), r = read<T>(here + at.z), s = read<T>(here + at.w);
                double w = 0.0, x = 0.0, y = 0.0, z = 0.0;
                if (WEIGHTED) w = weight[at.x / BYTES], x = weight[at.y / BYTES], y = weight[at.z / BYTES], z = weight[at.w / BYTES];
                at = read_four(line += 16);
                return WEIGHTED ? add_four(w * p, x * q, y * r, z * s, rest) : add_four(p, q, r, s, rest);
            };
#pragma unroll
            for (int u = 0; u < OWN; ++u) {
                if (u < own) {
                    const unsigned ends = head[u], middle = list + 16 * (ends & 0xffff), end = list + 16 * (ends >> 16);
                    float rest = 0.0f, lost = 0.0f;
#pragma unroll 1
                    while (line < middle) kept[u] += four(rest);
#pragma unroll 1
                    while (line < end) kept[u] -= four(lost);
                    kept[u] += (double)(rest - lost);
                }
            }
        }
        __syncthreads();
    }
    if (own <= 0) return;
    const bool anew = clear[slot];
    const unsigned some = __ballot_sync(~0u, lane < own && (anew || changed[slot * many + first + lane]));
    double* to = sums + ((int64)runs[slot] * k + low + first) * n + column;
#pragma unroll
    for (int u = 0; u < OWN; ++u)
        if (some >> u & 1 && column < n) to[u * n] = (anew ? 0.0 : to[u * n]) + kept[u];
}

#define FOLLOW(name, T, WEIGHTED)                                                                                    \
    extern "C" __global__ void __launch_bounds__(1024, 1)                                                            \
        name(const T* matrix, const int* places, const int* rows, int64 count, int64 n, const int* runs,             \
             const int* clear, int slots, int each, int units, int parts, int k, int low, int many, int room,        \
             int stride, int tall, const unsigned* lines, const unsigned short* heads, const int* changed,           \
             const double* weights, double* sums) {                                                                  \
        follow<T, WEIGHTED>(matrix, places, rows, count, n, runs, clear, slots, each, units, parts, k, low, many,    \
                            room, stride, tall, lines, heads, changed, weights, sums);                               \
    }
FOLLOW(follow32, float, false)
FOLLOW(follow64, double, false)
FOLLOW(follow32_weighted, float, true)
FOLLOW(follow64_weighted, double, true)

template <int N>
__device__ void add_up(double (&values)[N], double* scratch) {  // over a block of 256, in one fixed order
    const int t = threadIdx.x;
    for (int v = 0; v < N; ++v) {
        scratch[t] = values[v];
        __syncthreads();
        for (int half = 128; half > 0; half >>= 1) {
            if (t < half) scratch[t] += scratch[t + half];
            __syncthreads();
        }
        values[v] = scratch[0];
        __syncthreads();
    }
}

// One block for a cluster and a run: sizes and W, and what is compared. Sums of an empty cluster become 0.
extern "C" __global__ void measure(double* sums, const int* labels, const double* weights, int64 n, int k,
                                   const int* runs, int total, double tolerance, double shift, double centroid,
                                   int adjusted, int spherical, double* figures) {
    __shared__ double scratch[256];
    const int c = blockIdx.x;
    const int64 run = runs[blockIdx.y], first = run * n;
    double* own = sums + (run * k + c) * n;
    double values[4] = {0.0, 0.0, 0.0, 0.0};
    for (int64 i = threadIdx.x; i < n; i += 256) {
        if (labels[first + i] != c) continue;
        const double w = weights ? weights[i] : 1.0;
        values[0] += w, values[1] += w * own[i], values[2] += w * least_of(w, 1.0), values[3] += 1.0;
    }
    add_up(values, scratch);
    const Rule rule = {tolerance, shift, centroid, adjusted, spherical};
    const int64 stride = (int64)total * k;
    if (values[3] > 0) {
        if (threadIdx.x == 0) set_figures(figures, run * k + c, stride, values[0], values[1], values[2], values[3], rule);
        return;
    }
    for (int64 i = threadIdx.x; i < n; i += 256) own[i] = 0.0;
    if (threadIdx.x == 0) set_figures(figures, run * k + c, stride, 0.0, 0.0, 0.0, 0.0, rule);
}

// One thread for a document and a run: its next cluster, ties by the rule. Documents that are only predicted have label
// −1 and are looked at with `outside`. OUT far: the distance to the next cluster without the shift, and what is a tie of
// it; touched: documents that move in any run; tally (runs, 2): documents that move, and that do not move back.
extern "C" __global__ void assign(const double* sums, const int* labels, const int* before, const double* diagonal,
                                  const double* weights, int64 n, int k, const int* runs, int total,
                                  const double* figures, double tolerance, double shift, double centroid, int adjusted,
                                  int spherical, int outside, int* next, int* touched, int* tally, int* counts) {
    extern __shared__ int here[];  // (k), where that fits
    const bool few = k <= MANY;
    const int64 run = runs[blockIdx.y], i = (int64)blockIdx.x * blockDim.x + threadIdx.x, stride = (int64)total * k;
    const Rule rule = {tolerance, shift, centroid, adjusted, spherical};
    int moved = 0, strayed = 0;
    if (few) {
        for (int c = threadIdx.x; c < k; c += blockDim.x) here[c] = 0;
        __syncthreads();
    }
    if (i < n) {
        const int64 at = run * n + i;
        const int current = labels[at];
        if ((current < 0) == (outside != 0)) {
            const double* mine = sums + run * k * n + i;
            const double* offset = figures + OFFSET * stride + run * k;
            const double* slope = figures + SLOPE * stride + run * k;
            const double reach = spherical ? sqrt(fabs(diagonal[i])) : fabs(diagonal[i]);
            const double w = weights ? weights[i] : 1.0;
            const double own = current < 0 ? INFINITE : own_value(figures, run * k + current, stride, mine[current * n], diagonal[i], w, rule);
            double best = INFINITE, second = INFINITE;
            int chosen = 0;
#pragma unroll 4
            for (int c = 0; c < k; ++c) {
                const double value = c == current ? own : offset[c] + slope[c] * mine[c * n];
                if (value < best) second = best, best = value, chosen = c;
                else if (value < second) second = value;
            }
            if (best < INFINITE) best += tolerance * (reach + figures[EXTENT * stride + run * k + chosen]);
            if (adjusted && current >= 0 && own <= best) chosen = current;
            else if (second <= best)  // the first of equals
                for (int c = 0; c < k; ++c) {
                    const double value = c == current ? own : offset[c] + slope[c] * mine[c * n];
                    if (value <= best) {
                        chosen = c;
                        break;
                    }
                }
            next[at] = chosen;
            if (!outside) {
                moved = chosen != current, strayed = chosen != before[at];
                if (moved) touched[i] = 1;
                atomicAdd(few ? here + chosen : counts + run * k + chosen, 1);
            }
        } else {
            next[at] = current;
        }
    }
    moved = __syncthreads_count(moved), strayed = __syncthreads_count(strayed);
    if (few && !outside)
        for (int c = threadIdx.x; c < k; c += blockDim.x)
            if (here[c]) atomicAdd(counts + run * k + c, here[c]);
    if (threadIdx.x == 0 && !outside) {
        if (moved) atomicAdd(tally + run * 2, moved);
        if (strayed) atomicAdd(tally + run * 2 + 1, strayed);
    }
}

// One block of 1024: the documents that were touched, in rising order, and their number; none is touched any more.
extern "C" __global__ void collect(int* touched, int64 n, int* rows, int* number) {
    __shared__ int found[32];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    int base = 0;
    for (int64 start = 0; start < n; start += 8 * 1024) {  // each warp looks at 256, 32 at a time
        unsigned same[8];
        int all = 0;
#pragma unroll
        for (int v = 0; v < 8; ++v) {
            const int64 i = start + warp * 256 + v * 32 + lane;
            const bool here = i < n && touched[i];
            if (here) touched[i] = 0;
            same[v] = __ballot_sync(~0u, here);
            all += __popc(same[v]);
        }
        if (lane == 0) found[warp] = all;
        __syncthreads();
        int before = found[lane];
        for (int half = 1; half < 32; half <<= 1) {
            const int other = __shfl_up_sync(~0u, before, half);
            if (lane >= half) before += other;
        }
        const int total = __shfl_sync(~0u, before, 31);
        int place = base + (warp ? __shfl_sync(~0u, before, warp - 1) : 0);
#pragma unroll
        for (int v = 0; v < 8; ++v) {
            if (same[v] >> lane & 1) rows[place + __popc(same[v] & ((1u << lane) - 1))] = (int)(start + warp * 256 + v * 32 + lane);
            place += __popc(same[v]);
        }
        base += total;
        __syncthreads();
    }
    if (threadIdx.x == 0) *number = base;
}

// Distances of documents to the clusters they are assigned to, without the shift, for one run.
extern "C" __global__ void distances(const double* sums, const int* next, const double* diagonal, int64 n, int k,
                                     int64 run, int total, const double* figures, double tolerance, double* far, double* least) {
    const int64 i = (int64)blockIdx.x * blockDim.x + threadIdx.x, stride = (int64)total * k;
    if (i >= n) return;
    const int c = next[run * n + i];
    far[i] = -INFINITE, least[i] = 0.0;
    if (c < 0) return;
    const double size = figures[SIZE * stride + run * k + c];
    const double norm = size > 0 ? figures[INNER * stride + run * k + c] / (size * size) : INFINITE;
    far[i] = diagonal[i] + norm - 2.0 * sums[(run * k + c) * n + i] / (size > 0 ? size : 1.0);
    least[i] = tolerance * (fabs(diagonal[i]) + fabs(norm));
}

// ---- rows of features: sums are whole numbers, value · 2^b, so that adding and taking away leaves nothing behind ----

__device__ inline void add_whole(int64* to, double value) {
    atomicAdd(reinterpret_cast<unsigned long long*>(to), (unsigned long long)__double2ll_rn(value));
}

// One warp for a document that joins or leaves a cluster. Sparse rows have indptr and indices, dense ones `wide` columns.
// OUT sums (features, k); tallies (3, k): Σ w, Σ w min(w, 1), number.
extern "C" __global__ void move_rows(const int64* indptr, const int* indices, const double* data, int64 wide, int64 n,
                                     int k, const int* old, const int* now, int anew, const double* weights,
                                     double factor, double weight_factor, int64* sums, int64* tallies) {
    const int lane = threadIdx.x & 31;
    const int64 warps = (int64)gridDim.x * (blockDim.x >> 5);
    for (int64 i = ((int64)blockIdx.x * blockDim.x + threadIdx.x) >> 5; i < n; i += warps) {
        const int b = now[i], a = old[i];
        if (b < 0 || (!anew && a == b)) continue;
        const double w = weights ? weights[i] : 1.0;
        const int64 first = indptr ? indptr[i] : i * wide, last = indptr ? indptr[i + 1] : first + wide;
        for (int64 e = first + lane; e < last; e += 32) {
            const int64 t = (indptr ? indices[e] : e - first) * (int64)k;
            const double value = w * data[e] * factor;
            add_whole(sums + t + b, value);
            if (!anew) add_whole(sums + t + a, -value);
        }
        if (lane < 3) {
            const double value = lane == 0 ? w * weight_factor : lane == 1 ? w * least_of(w, 1.0) * weight_factor : 1.0;
            add_whole(tallies + lane * k + b, value);
            if (!anew) add_whole(tallies + lane * k + a, -value);
        }
    }
}

// Σ of squares of every cluster's sums over a part of the features: partial (parts, k); and the table in single precision.
extern "C" __global__ void fold(const int64* sums, int64 features, int k, int stride, double factor, int64 each,
                                double* partial, float* table) {
    const int64 first = (int64)blockIdx.x * each, last = first + each < features ? first + each : features;
    for (int c = threadIdx.x; c < stride; c += blockDim.x) {
        double sum = 0.0;
        for (int64 t = first; t < last; ++t) {
            const double value = c < k ? (double)sums[t * k + c] * factor : 0.0;
            sum += value * value;
            table[t * stride + c] = (float)value;
        }
        if (c < k) partial[(int64)blockIdx.x * k + c] = sum;
    }
}

extern "C" __global__ void measure_rows(const double* partial, int64 parts, int k, const int64* tallies,
                                        double weight_factor, double tolerance, double shift, double centroid,
                                        int adjusted, int spherical, double* figures) {
    const int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= k) return;
    const Rule rule = {tolerance, shift, centroid, adjusted, spherical};
    double inner = 0.0;
    for (int64 p = 0; p < parts; ++p) inner += partial[p * k + c];
    const double count = (double)tallies[2 * k + c];
    if (count > 0) set_figures(figures, c, k, (double)tallies[c] * weight_factor, inner, (double)tallies[k + c] * weight_factor, count, rule);
    else set_figures(figures, c, k, 0.0, 0.0, 0.0, 0.0, rule);
}

struct Nearest {
    float least, second;
    int winner;
    __device__ void look(float value, int c) {
        if (value < least) second = least, least = value, winner = c;
        else if (value < second) second = value;
    }
    __device__ void join() {  // over a warp
        for (int half = 16; half > 0; half >>= 1) {
            const float low = __shfl_xor_sync(~0u, least, half), next = __shfl_xor_sync(~0u, second, half);
            const int place = __shfl_xor_sync(~0u, winner, half);
            const float higher = low < least ? least : low;
            second = fminf(fminf(second, next), higher);
            if (low < least || (low == least && place < winner)) least = low, winner = place;
        }
    }
};

struct Screen {  // see _native/features.cpp
    double steep, constant, wide, tolerance, shift;
    int spherical;
};

__device__ inline void settle(Nearest near, int64 i, int current, double length, double entries, double diagonal,
                              Screen by, int* next, int* doubtful, int* doubts) {
    const double error = 2 * ROUNDING * (entries + 4) * length * by.steep + by.constant;
    const double reach = by.spherical ? sqrt(fabs(diagonal)) : fabs(diagonal);
    if (near.second - near.least > 2 * error + by.tolerance * (reach + by.wide)) next[i] = near.winner;
    else doubtful[atomicAdd(doubts, 1)] = (int)i;
}

// One warp for a document: its sums in single precision, the clusters side by side in registers.
#define WIDE 8
extern "C" __global__ void screen_sparse(const int64* indptr, const int* indices, const float* data, int64 n, int k,
                                         int stride, const float* table, const double* figures, const int* labels,
                                         const double* lengths, const double* diagonal, const double* weights,
                                         double steep, double constant, double wide, double tolerance, double shift,
                                         int spherical, int outside, int* next, int* doubtful, int* doubts) {
    const int lane = threadIdx.x & 31;
    const int64 i = ((int64)blockIdx.x * blockDim.x + threadIdx.x) >> 5;
    if (i >= n) return;
    const int current = labels[i];
    if ((current < 0) != (outside != 0)) {
        if (lane == 0) next[i] = current;
        return;
    }
    const double w = weights ? least_of(weights[i], 1.0) : 1.0;
    const int64 first = indptr[i], last = indptr[i + 1];
    Nearest near = {ENDLESS, ENDLESS, 0};
    for (int left = 0; left < stride; left += 32 * WIDE) {
        float sums[WIDE] = {};
        const int many = min(WIDE, (stride - left) / 32);
        for (int64 e = first; e < last; e += 32) {
            const bool there = e + lane < last;
            const int term = there ? indices[e + lane] : 0;
            const float value = there ? data[e + lane] : 0.0f;
            const int length = last - e < 32 ? (int)(last - e) : 32;
            for (int j = 0; j < length; ++j) {
                const float* row = table + (int64)__shfl_sync(~0u, term, j) * stride + left + lane;
                const float x = __shfl_sync(~0u, value, j);
#pragma unroll
                for (int v = 0; v < WIDE; ++v)
                    if (v < many) sums[v] += x * row[v * 32];
            }
        }
#pragma unroll
        for (int v = 0; v < WIDE; ++v) {
            const int c = left + v * 32 + lane;
            if (c >= k) continue;
            float value = (float)figures[OFFSET * k + c] + (float)figures[SLOPE * k + c] * sums[v];
            if (c == current && shift != 0.0) value += (float)(figures[SLOPE * k + c] * shift * w);
            near.look(value, c);
        }
    }
    near.join();
    const Screen by = {steep, constant, wide, tolerance, shift, spherical};
    if (lane == 0) settle(near, i, current, lengths[i], (double)(last - first), diagonal[i], by, next, doubtful, doubts);
}

// The same for sums (count, stride) that a product in half precision gave, of documents from `first` on; times `left` of
// the document and `right` of the cluster.
extern "C" __global__ void screen_dense(const float* sums, int64 first, int64 count, double entries, int k, int stride,
                                        const double* left, const double* right, const double* figures, const int* labels, const double* lengths,
                                        const double* diagonal, const double* weights, double steep, double constant,
                                        double wide, double tolerance, double shift, int spherical, int outside,
                                        int* next, int* doubtful, int* doubts) {
    const int lane = threadIdx.x & 31;
    const int64 r = ((int64)blockIdx.x * blockDim.x + threadIdx.x) >> 5, i = first + r;
    if (r >= count) return;
    const int current = labels[i];
    if ((current < 0) != (outside != 0)) {
        if (lane == 0) next[i] = current;
        return;
    }
    const double w = weights ? least_of(weights[i], 1.0) : 1.0;
    const double scale = left[i];
    Nearest near = {ENDLESS, ENDLESS, 0};
    for (int c = lane; c < k; c += 32) {
        float value = (float)figures[OFFSET * k + c] + (float)(figures[SLOPE * k + c] * right[c] * scale) * sums[r * stride + c];
        if (c == current && shift != 0.0) value += (float)(figures[SLOPE * k + c] * shift * w);
        near.look(value, c);
    }
    near.join();
    const Screen by = {steep, constant, wide, tolerance, shift, spherical};
    if (lane == 0) settle(near, i, current, lengths[i], entries, diagonal[i], by, next, doubtful, doubts);
}

// One warp for a document that is in doubt, or for all: its next cluster in double precision, ties by the rule. Sums of
// dense rows are given as products (count, k), of documents from `first` on.
extern "C" __global__ void decide(const int64* indptr, const int* indices, const double* data, const double* products,
                                  int64 start, int k, const int64* sums, double factor, const double* figures, const int* labels,
                                  const double* diagonal, const double* weights, double tolerance, double shift,
                                  double centroid, int adjusted, int spherical, int outside, int64 count,
                                  const int* which, int* next, double* similar) {
    extern __shared__ double values[];
    const int lane = threadIdx.x;
    const Rule rule = {tolerance, shift, centroid, adjusted, spherical};
    for (int64 at = blockIdx.x; at < count; at += gridDim.x) {
        const int64 i = which ? which[start + at] : start + at;
        const int current = labels[i];
        if (!similar && (current < 0) != (outside != 0)) {
            if (lane == 0) next[i] = current;
            continue;
        }
        const int64 first = products ? 0 : indptr[i], last = products ? 0 : indptr[i + 1];
        const double w = weights ? weights[i] : 1.0, reach = spherical ? sqrt(fabs(diagonal[i])) : fabs(diagonal[i]);
        double best = INFINITE, size = 0.0;
        for (int c = lane; c < k; c += 32) {
            double sum = products ? products[at * k + c] : 0.0;
            for (int64 e = first; e < last; ++e) sum += data[e] * ((double)sums[indices[e] * (int64)k + c] * factor);
            if (similar) {  // of the cluster it goes to: for documents that fill an empty one
                if (c == next[i]) similar[i] = sum;
                continue;
            }
            double value = figures[OFFSET * k + c] + figures[SLOPE * k + c] * sum;
            if (c == current) value = own_value(figures, c, k, sum, diagonal[i], w, rule);
            values[c] = value;
            if (value < best) best = value, size = figures[EXTENT * k + c];
        }
        if (similar) continue;
        double low = best;
        for (int half = 16; half > 0; half >>= 1) low = least_of(low, __shfl_xor_sync(~0u, low, half));
        // The extent is that of the first cluster with the least value.
        int holder = NOTHING;
        __syncwarp();
        for (int c = lane; c < k; c += 32)
            if (values[c] == low) {
                holder = c;
                break;
            }
        for (int half = 16; half > 0; half >>= 1) holder = min(holder, __shfl_xor_sync(~0u, holder, half));
        size = holder == NOTHING ? 0.0 : figures[EXTENT * k + holder];
        low += tolerance * (reach + size);
        int chosen = NOTHING;
        for (int c = lane; c < k; c += 32)
            if (values[c] <= low) {
                chosen = c;
                break;
            }
        for (int half = 16; half > 0; half >>= 1) chosen = min(chosen, __shfl_xor_sync(~0u, chosen, half));
        if (chosen == NOTHING) chosen = 0;
        if (adjusted && current >= 0 && values[current] <= low) chosen = current;
        if (lane == 0) next[i] = chosen;
        __syncwarp();
    }
}

// tally (2): documents that move, and that do not move back; counts (k): documents of each next cluster.
extern "C" __global__ void count_moves(const int* labels, const int* before, const int* next, int64 n, int* tally, int* counts) {
    const int64 i = (int64)blockIdx.x * blockDim.x + threadIdx.x;
    const bool there = i < n && labels[i] >= 0;
    const int moved = __syncthreads_count(there && next[i] != labels[i]), strayed = __syncthreads_count(there && next[i] != before[i]);
    if (there) atomicAdd(counts + next[i], 1);
    if (threadIdx.x) return;
    if (moved) atomicAdd(tally, moved);
    if (strayed) atomicAdd(tally + 1, strayed);
}
