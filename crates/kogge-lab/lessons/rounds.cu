// Look-ahead in rounds.
//
// Shows how kogge's own CUDA engine scans in one launch without a chain. The grid is as many blocks as
// fit at once. In round r block c takes tile r G + c. It reduces a tile a round before it scans it, and
// publishes the aggregate at once; when it comes to scan round r, it reads all G aggregates of that
// round and folds them itself. One hop between blocks, not a walk; the aggregates are out long before
// anyone asks; and every block folds in the same order, so the bits are the same every time.
//
// Right because the launch is cooperative, so that a block waited for is running and has only its own
// reduction to do before it publishes; because fences order an aggregate and its flag; and because all
// blocks fold the same aggregates in the same order, so that their carries agree. Flags hold the number
// of the call, which rises, so that nothing is cleared between calls. (The engine puts aggregate and
// number into one word that is read and written whole, which makes the fences needless, and gives the
// loading, reducing, looking and scanning to different warps.)
//
// scan:   inclusive
// sizes:  1..2^20
// host:
//     let TILES = ceil(N / BLOCK);
//     let G = min(TILES, BLOCKS);
//     T aggregates[TILES];
//     unsigned epochs[TILES] = 0;
//     cooperative scan<<<G, BLOCK>>>(x, y, aggregates, epochs, 1, N);

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
#define BLOCK 128
#endif
#ifndef BLOCKS
#define BLOCKS 8
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

// Leaves the total of `count` values, one a thread, in scratch[0] for thread 0: neighbouring runs are
// joined, left before right.
__device__ void reduce_block(T value, unsigned count, T *scratch) {
    unsigned t = threadIdx.x;
    scratch[t] = value;
    for (unsigned stride = 1; stride < count; stride *= 2) {
        __syncthreads();
        unsigned left = t * 2 * stride;
        if (left + stride < count) scratch[left] = combine(scratch[left], scratch[left + stride]);
    }
}

// Reduces this block's tile and tells the grid.
__device__ void publish(unsigned tile, const T *x, T *aggregates, unsigned *epochs, unsigned epoch,
                        unsigned n, T *scratch) {
    unsigned first = tile * BLOCK, count = min(n - first, BLOCK), t = threadIdx.x;
    T value = IDENTITY;
    if (t < count) value = x[first + t];
    reduce_block(value, count, scratch);
    if (t == 0) {
        aggregates[tile] = scratch[0];
        __threadfence();  // the aggregate is visible before its epoch
        *(volatile unsigned *)&epochs[tile] = epoch;
    }
    __syncthreads();  // the scratch is free
}

// This thread's aggregate of the round, once it is there.
__device__ T await(unsigned tile, const T *aggregates, unsigned *epochs, unsigned epoch) {
    while (*(volatile unsigned *)&epochs[tile] != epoch) {
    }
    __threadfence();  // the epoch is read before the aggregate
    return aggregates[tile];
}

extern "C" __global__ void scan(const T *x, T *y, T *aggregates, unsigned *epochs, unsigned epoch,
                                unsigned n) {
    __shared__ T scratch[BLOCK];
    unsigned tiles = (n + BLOCK - 1) / BLOCK, grid = gridDim.x, block = blockIdx.x, t = threadIdx.x;
    T carry = IDENTITY;  // the fold of all earlier rounds
    publish(block, x, aggregates, epochs, epoch, n, scratch);
    for (unsigned base = 0; base + block < tiles; base += grid) {
        unsigned tile = base + block, members = min(tiles - base, grid);
        if (tile + grid < tiles) publish(tile + grid, x, aggregates, epochs, epoch, n, scratch);

        T round = IDENTITY;
        if (t < members) round = await(base + t, aggregates, epochs, epoch);
        scan_block(round, members, scratch);
        __syncthreads();  // the prefixes of the round's aggregates are written
        T before = carry;
        if (block > 0) before = base > 0 ? combine(carry, scratch[block - 1]) : scratch[block - 1];
        carry = base > 0 ? combine(carry, scratch[members - 1]) : scratch[members - 1];
        __syncthreads();  // they are read: the scratch is free

        unsigned first = tile * BLOCK, count = min(n - first, BLOCK);
        T prefix = IDENTITY;
        if (t < count) prefix = x[first + t];
        prefix = scan_block(prefix, count, scratch);
        if (t < count && tile > 0) prefix = combine(before, prefix);
        if (t < count) y[first + t] = prefix;
        __syncthreads();  // the scratch is free
    }
}
