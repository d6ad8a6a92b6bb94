// The innermost loops, compiled once for each instruction set (see CMakeLists.txt) and chosen when the module is loaded.
//
// loops.cpp holds those in double precision: sums have one fixed order and no operation is fused, so their bits are the
// same on every machine. screen.cpp holds those in single precision. They may fuse and reorder, because they only rule
// out what a certified bound allows; everything else is decided in double precision.
//
// Both files see raw pointers only: code of the standard library compiled for a newer processor must not be linked in.
#pragma once
#include <cstdint>

namespace grampus {

#if defined(__aarch64__) || defined(_M_ARM64)
constexpr int LANES = 4;  // floats in a vector; tables of clusters are padded to a multiple
#else
constexpr int LANES = 8;
#endif
constexpr int BLOCK = 64;   // documents assigned together
constexpr int PADDING = 6;  // entries after the last that may be read
constexpr int TILE = 256;   // rows of a tile of a stored matrix, which stays in the first-level cache
constexpr int PANEL = 512;  // columns whose sums stay in the first-level cache while rows stream by

struct Rule {  // kmeans/state.Rule
    bool adjusted;
    double tolerance;
    double shift;
    bool spherical;
    double centroid;
};

struct Entry {  // one entry of a sparse row in single precision
    int32_t term;
    float value;
};

struct Figures {  // of k clusters; see kmeans/state.State and state.comparison
    int k;
    const double *sizes, *within, *squares;    // Σ w, Σ of similarities inside, Σ w min(w, 1)
    const double *offsets, *slopes, *extents;  // compared is offset + slope · S; the extent is its part in a tie
};

struct Some {  // documents of one block, gathered
    int count;
    const int32_t* current;  // the cluster each is in, −1 for none
    const double *diagonal, *weights, *reach;
};

struct Rough {  // clusters in single precision, each array padded to `stride`
    int stride;
    const float *offsets, *slopes, *drift;  // drift: how far slope · sum has moved since the start, added up
};

struct Loops {
    const char* name;

    // ---- double precision, bits fixed ----
    // IN tile (k, count) sums of similarities, which is overwritten; OUT chosen: the next cluster of each document, ties by
    // the rule.
    void (*choose)(double* tile, const Some& some, const Figures& figures, const Rule& rule, int32_t* chosen);
    // Columns of a tile of a stored matrix; it has TILE rows.
    int columns;
    // IN rows of a matrix; OUT tiles side by side; columns of the last that are not there are 0.
    void (*copy_tiles32)(const float* rows, int64_t stride, int64_t count, int64_t wide, double* tiles);
    void (*copy_tiles64)(const double* rows, int64_t stride, int64_t count, int64_t wide, double* tiles);
    // IN a tile, lists of its rows, their weights (none: all 1) and where each list begins, `lists` + 1 places;
    // IN/OUT sums (lists, columns) += Σ w · row, in order.
    void (*add_tile)(const double* tile, const uint8_t* rows, const double* weights, const int64_t* bounds, int64_t lists, double* sums);
    // IN sums (wide); IN/OUT from −= sums, to += sums.
    void (*move)(const double* sums, int64_t wide, double* from, double* to);
    // The same with rows of a matrix, in `wide` columns.
    void (*add_rows32)(const float* rows, int64_t stride, const int32_t* numbers, const double* weights, int64_t count,
                       int64_t wide, double* target);
    void (*add_rows64)(const double* rows, int64_t stride, const int32_t* numbers, const double* weights, int64_t count,
                       int64_t wide, double* target);
    // OUT: Σ_t a_t b_t in eight lanes, added as a tree.
    double (*dot)(const double* a, const double* b, int64_t m);
    // OUT out[j], j = first … n: distances of a point (m) from points in columns (m, n).
    void (*distances)(const double* point, const double* columns, int64_t first, int64_t n, int64_t m, double* out);
    // OUT: the least of a[i] + b[i].
    double (*least_sum)(const double* a, const double* b, int64_t n);
    // IN distances from a cluster and sizes of all, the sizes of it and of another and how far these are apart; IN/OUT to:
    // distances from the other, then from both (Ward 1963).
    void (*ward)(const double* from, const double* sizes, int64_t n, double one, double other, double height, double* to);
    // IN eight pairs of strings, interleaved, and scratch of (length + 3) · (ny + 1) · 8 doubles; OUT eight similarities.
    void (*subsequence)(const int32_t* xs, int64_t nx, const int32_t* ys, int64_t ny, int length, double decay,
                        double* scratch, double* out);

    // ---- single precision, only to rule out ----
    // IN documents (numbers); IN table (terms, stride); OUT out (count, stride): sums of similarities.
    void (*sparse_sums)(const Entry* entries, const int64_t* starts, const int32_t* documents, int count,
                        const float* table, int stride, float* out);
    void (*dense_sums)(const float* rows, int64_t m, const int32_t* documents, int count, const float* table, int stride,
                       float* out);
    // IN sums (stride), the own cluster or −1 and what is added to it; OUT least and second value and the least's place.
    void (*least)(const float* sums, const Rough& rough, int own, float extra, float* least, float* second, int* winner);
    // IN sums, length of the document, error; OUT bounds (stride): slope · sum + length · drift − error.
    void (*remember)(const float* sums, const Rough& rough, float length, float error, float* bounds);
    // OUT: the least value any cluster can have by now, but for the own one, whose bound is infinite.
    float (*lowest)(const float* bounds, const Rough& rough, float length);
    // IN table old (stride), fresh (stride): OUT old = fresh; IN/OUT along += old · change, moved += change².
    void (*refresh)(const double* fresh, float* old, int stride, double* along, double* moved);
    // IN postings (document, value) of one term; IN/OUT sums[document] += x · value.
    void (*post)(const Entry* postings, int64_t count, float x, float* sums);
    // OUT: positions of the numbers of values[0 … n) above the limit; returns how many.
    int64_t (*above)(const float* values, int64_t n, float limit, int32_t* places);
};

const Loops& loops();

}  // namespace grampus
