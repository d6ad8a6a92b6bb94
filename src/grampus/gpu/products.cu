// Products of sparse rows with a vector, or with other rows, on a GPU; every sum has one fixed order.

typedef long long int64;

// `lanes` threads for a row: 32, with several rows to a block, or the whole block.
extern "C" __global__ void times(const int64* indptr, const int* indices, const double* data, int64 rows, int lanes,
                                 const double* v, double* out) {
    __shared__ double parts[32];
    const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31, warps = blockDim.x >> 5;
    const int64 r = lanes == 32 ? (int64)blockIdx.x * warps + warp : blockIdx.x;
    double sum = 0.0;
    if (r < rows)
        for (int64 e = indptr[r] + (lanes == 32 ? lane : threadIdx.x); e < indptr[r + 1]; e += lanes) sum += data[e] * v[indices[e]];
    for (int half = 16; half > 0; half >>= 1) sum += __shfl_xor_sync(~0u, sum, half);
    if (lanes == 32) {
        if (lane == 0 && r < rows) out[r] = sum;
        return;
    }
    if (lane == 0) parts[warp] = sum;
    __syncthreads();
    if (threadIdx.x) return;
    sum = 0.0;
    for (int w = 0; w < warps; ++w) sum += parts[w];
    out[r] = sum;
}

// Some rows as the columns of a dense table (terms, wide), which is 0; a thread for each, as terms may be repeated.
extern "C" __global__ void lay_out(const int64* indptr, const int* indices, const double* data, const int64* some, int64 wide,
                                   double* table) {
    const int64 c = (int64)blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= wide) return;
    for (int64 e = indptr[some[c]]; e < indptr[some[c] + 1]; ++e) table[indices[e] * wide + c] += data[e];
}

// Similarities of all rows (n) to some, which are the columns of a dense table (terms, wide); OUT out (wide, n).
extern "C" __global__ void compare(const int64* indptr, const int* indices, const double* data, int64 n, const double* table,
                                   int64 wide, double* out) {
    __shared__ double tile[32][33];
    const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31, warps = blockDim.x >> 5;
    const int64 first = (int64)blockIdx.x * 32, low = (int64)blockIdx.y * 32;
    for (int d = warp; d < 32; d += warps) {
        const int64 r = first + d;
        double sum = 0.0;
        if (r < n && low + lane < wide)
            for (int64 e = indptr[r]; e < indptr[r + 1]; ++e) sum += data[e] * table[indices[e] * wide + low + lane];
        tile[d][lane] = sum;
    }
    __syncthreads();
    for (int c = warp; c < 32; c += warps)
        if (low + c < wide && first + lane < n) out[(low + c) * n + first + lane] = tile[lane][c];
}
