// Domino scan with dynamic block ids.
//
// Shows the chained scan made safe: a block takes the number of its tile from a counter when it starts,
// so the tile before belongs to a block that has started already, and runs.
//
// Right because of that, for any number of resident blocks and any order of starting, and because of
// two fences. The writer's puts the prefix before the flag; the reader's puts the flag before the
// prefix. Without them the flag may be seen while the prefix is not.
//
// source: Yan, Long and Zhang, PPoPP 2013 (StreamScan)
// scan:   inclusive
// sizes:  1..2^20
// work:   (N / BLOCK) kogge_stone(BLOCK) + (N / BLOCK - 1) + N - BLOCK
// steps:  log2(BLOCK) + 2 min(N / BLOCK - 1, 1)
// host:
//     let G = ceil(N / BLOCK);
//     T prefixes[G];
//     unsigned ready[G] = 0;
//     unsigned started[1] = 0;
//     scan<<<G, BLOCK>>>(x, y, prefixes, ready, started, N);

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

extern "C" __global__ void scan(const T *x, T *y, T *prefixes, unsigned *ready, unsigned *started, unsigned n) {
    __shared__ T scratch[BLOCK];
    __shared__ T before;
    __shared__ unsigned id;
    if (threadIdx.x == 0) id = atomicAdd(started, 1u);
    __syncthreads();  // the tile of this block is known
    unsigned tile = id;
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
