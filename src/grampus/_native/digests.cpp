#include "digests.hpp"

#include <algorithm>
#include <cstring>

namespace grampus {

namespace {

constexpr int DIGEST = 16, WORDS = 16;  // bytes of a digest, words of a block
constexpr uint64_t START[8] = {0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
                               0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};
constexpr uint8_t ORDER[10][16] = {  // of the words of a block, by round
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4}, {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13}, {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11}, {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5}, {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0}};

uint64_t turned(uint64_t x, int bits) { return x >> bits | x << (64 - bits); }

// RFC 7693, §3.1: G mixes four words of the state with two of the block.
inline void mix(uint64_t& a, uint64_t& b, uint64_t& c, uint64_t& d, uint64_t x, uint64_t y) {
    a += b + x, d = turned(d ^ a, 32), c += d, b = turned(b ^ c, 24);
    a += b + y, d = turned(d ^ a, 16), c += d, b = turned(b ^ c, 63);
}

template <int ROUND>
inline void mix_all(uint64_t* v, const uint64_t* m) {
    constexpr const uint8_t* s = ORDER[ROUND % 10];
    mix(v[0], v[4], v[8], v[12], m[s[0]], m[s[1]]), mix(v[1], v[5], v[9], v[13], m[s[2]], m[s[3]]);
    mix(v[2], v[6], v[10], v[14], m[s[4]], m[s[5]]), mix(v[3], v[7], v[11], v[15], m[s[6]], m[s[7]]);
    mix(v[0], v[5], v[10], v[15], m[s[8]], m[s[9]]), mix(v[1], v[6], v[11], v[12], m[s[10]], m[s[11]]);
    mix(v[2], v[7], v[8], v[13], m[s[12]], m[s[13]]), mix(v[3], v[4], v[9], v[14], m[s[14]], m[s[15]]);
    if constexpr (ROUND < 11) mix_all<ROUND + 1>(v, m);
}

// RFC 7693, §3.2 and §3.3, for messages of words of eight bytes, the least byte first: the last block is compressed at the
// end, filled up with zeros.
struct Digest {
    uint64_t state[8], seen = 0, block[WORDS];
    int filled = 0;

    Digest() {
        std::copy(START, START + 8, state);
        state[0] ^= 0x01010000 ^ DIGEST;
    }

    void compress(bool last) {
        uint64_t v[16];
        seen += 8 * filled;
        std::copy(state, state + 8, v), std::copy(START, START + 8, v + 8);
        v[12] ^= seen;
        if (last) v[14] = ~v[14];
        mix_all<0>(v, block);
        for (int i = 0; i < 8; ++i) state[i] ^= v[i] ^ v[i + 8];
        filled = 0;
    }

    void add(int64_t column) { add_bits(uint64_t(column)); }
    void add(double value) {
        uint64_t bits;
        std::memcpy(&bits, &value, 8);
        add_bits(bits);
    }
    void add_bits(uint64_t bits) {
        if (filled == WORDS) compress(false);
        block[filled++] = bits;
    }

    void write(char* name) {
        std::fill(block + filled, block + WORDS, uint64_t(0));
        compress(true);
        for (int b = 0; b < DIGEST; ++b) {
            const int byte = int(state[b / 8] >> 8 * (b % 8) & 0xff);
            name[2 * b] = "0123456789abcdef"[byte >> 4], name[2 * b + 1] = "0123456789abcdef"[byte & 15];
        }
    }
};

}  // namespace

template <class T, class I>
void name_sparse(const int64_t* indptr, const I* columns, const T* values, int64_t first, int64_t last, char* names) {
    for (int64_t row = first; row < last; ++row) {
        Digest digest;
        for (int64_t e = indptr[row]; e < indptr[row + 1]; ++e)
            if (values[e] != 0) digest.add(int64_t(columns[e]));
        for (int64_t e = indptr[row]; e < indptr[row + 1]; ++e)
            if (values[e] != 0) digest.add(double(values[e]));
        digest.write(names + 2 * DIGEST * row);
    }
}

template <class T>
void name_dense(const T* rows, int64_t wide, int64_t first, int64_t last, char* names) {
    for (int64_t row = first; row < last; ++row) {
        Digest digest;
        const T* values = rows + row * wide;
        for (int64_t c = 0; c < wide; ++c)
            if (values[c] != 0) digest.add(c);
        for (int64_t c = 0; c < wide; ++c)
            if (values[c] != 0) digest.add(double(values[c]));
        digest.write(names + 2 * DIGEST * row);
    }
}

template void name_sparse(const int64_t*, const int32_t*, const float*, int64_t, int64_t, char*);
template void name_sparse(const int64_t*, const int32_t*, const double*, int64_t, int64_t, char*);
template void name_sparse(const int64_t*, const int64_t*, const float*, int64_t, int64_t, char*);
template void name_sparse(const int64_t*, const int64_t*, const double*, int64_t, int64_t, char*);
template void name_dense(const float*, int64_t, int64_t, int64_t, char*);
template void name_dense(const double*, int64_t, int64_t, int64_t, char*);

}  // namespace grampus
