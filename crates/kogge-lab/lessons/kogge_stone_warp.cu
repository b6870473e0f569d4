// Kogge–Stone on warps, with shuffles.
//
// Shows a scan whose five steps touch no memory: a lane takes the prefix of the lane below it straight
// from that lane's register. Only the warps' totals go through shared memory, where the first warp
// scans them in turn; two barriers do for 1,024 elements.
//
// Right because every lane of a warp takes part in every shuffle (the block is rounded up to whole
// warps), because a lane below `distance` discards what it received, and because the barriers put the
// totals before the first warp reads them and their prefixes before the other warps do.
//
// scan:   inclusive
// sizes:  1..1024
// work (any N):  floor(N / 32) kogge_stone(32) + kogge_stone(N % 32) + kogge_stone(ceil(N / 32)) + max(N, 32) - 32
// steps (any N): ceil(log2(min(N, 32))) + ceil(log2(ceil(N / 32))) + (N > 32)
// host:
//     scan<<<1, 32 * ceil(N / 32)>>>(x, y, N);

#ifndef ELEMENT
#define ELEMENT float
#endif
#ifndef IDENTITY
#define IDENTITY 0
#endif
#ifndef COMBINE
#define COMBINE(a, b) ((a) + (b))
#endif

typedef ELEMENT T;
__device__ T combine(T a, T b) { return COMBINE(a, b); }

// The inclusive prefix of `value` among the first `count` lanes of the warp.
__device__ T scan_warp(T value, unsigned count) {
    unsigned lane = threadIdx.x % 32;
    for (unsigned distance = 1; distance < 32; distance *= 2) {
        T left = __shfl_up_sync(0xffffffffu, value, distance);
        if (lane >= distance && lane < count) value = combine(left, value);
    }
    return value;
}

extern "C" __global__ void scan(const T *x, T *y, unsigned n) {
    __shared__ T totals[32];
    unsigned i = threadIdx.x, lane = i % 32, warp = i / 32, warps = blockDim.x / 32;
    T prefix = IDENTITY;
    if (i < n) prefix = x[i];
    prefix = scan_warp(prefix, n - 32 * warp);
    if (lane == 31) totals[warp] = prefix;
    __syncthreads();  // the totals are written
    if (warp == 0) {
        T total = IDENTITY;
        if (lane < warps) total = totals[lane];
        total = scan_warp(total, warps);
        if (lane < warps) totals[lane] = total;
    }
    __syncthreads();  // the prefixes of the totals are written
    if (i >= n) return;
    if (warp > 0) prefix = combine(totals[warp - 1], prefix);
    y[i] = prefix;
}
