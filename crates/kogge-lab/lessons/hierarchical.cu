// Hierarchical scan in three kernels, inclusive.
//
// Shows how to scan any N with nothing but blocks that know only themselves: scan every tile, scan the
// tiles' totals, put the total of what precedes a tile before its elements. The middle step is the same
// problem, BLOCK times smaller, so it calls itself. Every element is read and written twice, four
// times the traffic of a copy's half.
//
// Right because a kernel sees all that earlier kernels wrote, and within a kernel no block touches what
// another does.
//
// scan:   inclusive
// sizes:  1..2^20
// work:   (N / BLOCK) kogge_stone(BLOCK) + kogge_stone(N / BLOCK) + N - BLOCK
// steps:  log2(BLOCK) + ceil(log2(N / BLOCK)) + min(N / BLOCK - 1, 1)
// where:  N <= BLOCK^2
// host:
//     hierarchical(x, y, n) {
//         let G = ceil(n / BLOCK);
//         T totals[G];
//         scan_tiles<<<G, BLOCK>>>(x, y, totals, n);
//         if (G > 1) {
//             T before[G];
//             hierarchical(totals, before, G);
//             add<<<G - 1, BLOCK>>>(y, before, n);
//         }
//     }
//     hierarchical(x, y, N);

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

extern "C" __global__ void scan_tiles(const T *x, T *y, T *totals, unsigned n) {
    __shared__ T scratch[BLOCK];
    unsigned first = blockIdx.x * BLOCK, count = min(n - first, BLOCK), t = threadIdx.x;
    T prefix = IDENTITY;
    if (t < count) prefix = x[first + t];
    prefix = scan_block(prefix, count, scratch);
    if (t < count) y[first + t] = prefix;
    if (t == count - 1) totals[blockIdx.x] = prefix;
}

// Tile 0 has nothing before it: block b serves tile b + 1.
extern "C" __global__ void add(T *y, const T *before, unsigned n) {
    unsigned i = (blockIdx.x + 1) * BLOCK + threadIdx.x;
    if (i < n) y[i] = combine(before[blockIdx.x], y[i]);
}
