// Products of sparse rows with a vector on a GPU, each row summed in one fixed order.

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
