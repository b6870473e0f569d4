// Reduce, then scan.
//
// Shows how to save a quarter of the hierarchical scan's traffic: the first kernel only reduces each
// tile, and writes nothing but its total; once the totals are scanned, the last kernel scans each tile
// from the value that precedes it. Elements are read twice and written once.
//
// Right because the reduction joins neighbouring runs only, left before right, so that the operator
// need not be commutative; because of a barrier a step; and because kernels follow each other in
// order. A single tile needs no reduction: the recursion ends there.
//
// source: Dotsenko, Govindaraju, Sloan, Boyd and Manferdelli, ICS 2008
// scan:   inclusive
// sizes:  1..2^20
// work:   (N / BLOCK) kogge_stone(BLOCK) + (2N - N / BLOCK - BLOCK + kogge_stone(N / BLOCK)) min(N / BLOCK - 1, 1)
// where:  N <= BLOCK^2
// host:
//     reduce_then_scan(x, y, n) {
//         let G = ceil(n / BLOCK);
//         T before[G];
//         if (G > 1) {
//             T totals[G];
//             reduce_tiles<<<G, BLOCK>>>(x, totals, n);
//             reduce_then_scan(totals, before, G);
//         }
//         scan_tiles<<<G, BLOCK>>>(x, y, before, n);
//     }
//     reduce_then_scan(x, y, N);

#ifndef ELEMENT
#define ELEMENT float
#endif
#ifndef IDENTITY
#define IDENTITY 0
#endif
#ifndef COMBINE
#define COMBINE(a, b) ((a) + (b))
#endif
#ifndef BLOCK
#define BLOCK 256
#endif

typedef ELEMENT T;
__device__ T combine(T a, T b) { return COMBINE(a, b); }

// Kogge–Stone over one value a thread. `scratch` is free again when all threads have passed a barrier.
__device__ T scan_block(T value, unsigned count, T *scratch) {
    unsigned t = threadIdx.x;
    scratch[t] = value;
    for (unsigned stride = 1; stride < count; stride *= 2) {
        __syncthreads();  // the last step's prefixes are written
        if (t >= stride && t < count) value = combine(scratch[t - stride], value);
        __syncthreads();  // the last step's prefixes are read
        scratch[t] = value;
    }
    return value;
}

extern "C" __global__ void reduce_tiles(const T *x, T *totals, unsigned n) {
    __shared__ T runs[BLOCK];
    unsigned first = blockIdx.x * BLOCK, count = min(n - first, BLOCK), t = threadIdx.x;
    if (t < count) runs[t] = x[first + t];
    for (unsigned stride = 1; stride < count; stride *= 2) {
        __syncthreads();
        unsigned left = t * 2 * stride;  // a run of `stride` elements begins here, another beside it
        if (left + stride < count) runs[left] = combine(runs[left], runs[left + stride]);
    }
    if (t == 0) totals[blockIdx.x] = runs[0];
}

extern "C" __global__ void scan_tiles(const T *x, T *y, const T *before, unsigned n) {
    __shared__ T scratch[BLOCK];
    unsigned first = blockIdx.x * BLOCK, count = min(n - first, BLOCK), t = threadIdx.x;
    T prefix = IDENTITY;
    if (t < count) prefix = x[first + t];
    prefix = scan_block(prefix, count, scratch);
    if (t >= count) return;
    if (blockIdx.x > 0) prefix = combine(before[blockIdx.x - 1], prefix);
    y[first + t] = prefix;
}
