// The sentence encoder in whole numbers: pieces of a text to one row. See text/meaning/encoder.py. Raw pointers only.
//
// Weights are 8-bit numbers with a scale for each column, activations 8-bit numbers with a scale for each row, their
// products exact 32-bit numbers. Everything else is in double precision, in one fixed order, without a fused operation
// and without a function of the mathematical library: the same bits on every machine, for any batch.
#pragma once
#include <cstdint>

namespace grampus {

constexpr int BRANCHES = 3, BRANCH = 256, TABLE = 512, CHUNKS = 17;
constexpr int ALL_BRANCHES = BRANCHES * BRANCH, FEATURES = TABLE + ALL_BRANCHES;
constexpr int WINDOWS[BRANCHES] = {2, 3, 5}, BEFORE[BRANCHES] = {0, 1, 2};  // pieces of a window, and how many precede
constexpr int ALL_WINDOWS = 10 * BRANCH;                                    // one product for each place of each window
constexpr int HIDDEN = 320, ROW = 512;
constexpr int PANEL_COLUMNS = 8, STEP = 4;  // weights lie as (wide / 8, depth / 4, 8, 4)

struct Layer {  // depth and wide are multiples of STEP and PANEL_COLUMNS
    int depth = 0, wide = 0;
    const int8_t* weights = nullptr;
    const double* scale = nullptr;   // (wide)
    const int32_t* sums = nullptr;   // (wide) of the weights of a column
};

struct Network {
    const uint8_t* table[CHUNKS];  // row p / 17 of chunk p % 17 is that of piece p
    const double *chunk_scale, *chunk_low;
    int64_t pieces;
    double epsilon;
    Layer project, first[BRANCHES], second[BRANCHES], join, hidden, inner, outer, last;
    const double *project_low, *project_bias, *norm_scale, *norm_bias;  // (768); low: sums of the weights' columns
    const double *first_bias[BRANCHES], *second_bias[BRANCHES];
    const double *feature_scale, *feature_bias, *join_bias;
};

struct Projected {  // what depends on a piece alone, for the distinct pieces of a batch
    int64_t count;
    const float* rows;        // (count, 768)
    const double* scales;     // (count, 3)
    const int32_t* products;  // (count, 512), (count, 768) and (count, 1280) of the first windows
};

struct Rooms {  // for as many pieces as are read together
    int8_t* bytes;      // (pieces, 256)
    double* scales;     // (pieces)
    float *hidden, *last;  // (pieces, 256), (pieces, 768)
    int32_t* products;  // (pieces, 1280)
};

struct EncoderLoops {
    const char* name;
    // IN rows (count, depth) of 8-bit numbers, depth a multiple of 16, at most 1280; OUT products (count, wide), exact.
    void (*multiply)(const int8_t* rows, int64_t count, const Layer& layer, int32_t* products);
    // IN distinct pieces; OUT the arrays of Projected. Room for (count, 768) bytes and products.
    void (*project)(const Network& net, const int32_t* pieces, int64_t count, int8_t* bytes, int32_t* room, float* rows, double* scales,
                    int32_t* products);
    // IN pieces, their places among the distinct ones, and where each text begins; OUT sums of its features (texts, 1280).
    void (*read)(const Network& net, const Projected& known, const int32_t* pieces, const int32_t* places, const int64_t* starts,
                 int64_t texts, const Rooms& rooms, double* sums);
    // IN sums of features (count, 1280) and lengths; OUT rows of unit length (count, 512). Room for (count, 1280) bytes,
    // (count, 1024) products and (count, 3009) values.
    void (*finish)(const Network& net, const double* sums, const int64_t* lengths, int64_t count, int8_t* bytes, int32_t* room,
                   double* values, float* rows);
};

const EncoderLoops& encoder_loops();

}  // namespace grampus
