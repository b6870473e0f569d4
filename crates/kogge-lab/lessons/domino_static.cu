// Domino scan with static block ids.
//
// Shows the chained scan: one launch, every element read and written once. A block scans its tile,
// waits for the flag of the tile before, takes the prefix there, and passes its own on.
//
// Hazard: the tile is blockIdx.x, and nothing says that block 0 starts first. If the blocks in place
// are not the first of the grid, each spins on a flag of a block that can't start until one of them
// ends. Most GPUs start blocks in order most of the time, so that tests pass.
//
// scan:   inclusive
// sizes:  1..2^20
// work:   (N / BLOCK) kogge_stone(BLOCK) + (N / BLOCK - 1) + N - BLOCK
// steps:  log2(BLOCK) + 2 min(N / BLOCK - 1, 1)
// hazard: deadlock with N = 2048, resident = 2, order = reverse
// host:
//     let G = ceil(N / BLOCK);
//     T prefixes[G];
//     unsigned ready[G] = 0;
//     scan<<<G, BLOCK>>>(x, y, prefixes, ready, N);

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

extern "C" __global__ void scan(const T *x, T *y, T *prefixes, unsigned *ready, unsigned n) {
    __shared__ T scratch[BLOCK];
    __shared__ T before;
    unsigned tile = blockIdx.x;
    unsigned first = tile * BLOCK, count = min(n - first, BLOCK), t = threadIdx.x;
    T prefix = IDENTITY;
    if (t < count) prefix = x[first + t];
    prefix = scan_block(prefix, count, scratch);

    if (t == count - 1) {
        T through = prefix;  // the prefix that includes this tile
        if (tile > 0) {
            while (*(volatile unsigned *)&ready[tile - 1] == 0) {
            }
            __threadfence();  // the flag is read before the prefix
            before = prefixes[tile - 1];
            through = combine(before, prefix);
        }
        prefixes[tile] = through;
        __threadfence();  // the prefix is visible before the flag
        *(volatile unsigned *)&ready[tile] = 1;
    }
    __syncthreads();  // the prefix before this tile is known
    if (t >= count) return;
    if (tile > 0) prefix = combine(before, prefix);
    y[first + t] = prefix;
}
