// Decoupled look-back.
//
// Shows the chain cut: a tile publishes its aggregate as soon as it has one, long before its prefix. A
// block that needs what precedes its tile walks back over aggregates, folding them, until it meets a
// tile whose prefix is out; it need not wait for its neighbour's wait to end.
//
// Right because ids come from a counter, so that every tile looked at belongs to a block that has
// started; because aggregate and prefix of a tile lie in different places, so that what a reader was
// promised is never overwritten; and because each is put before its flag by a fence, and read behind
// one. The fold takes earlier tiles on its left, so any associative operator will do. How many
// aggregates are folded depends on timing: for floating point, so does the rounding, from run to run.
//
// source: Merrill and Garland, NVIDIA Technical Report NVR-2016-002
// scan:   inclusive
// sizes:  1..2^20
// host:
//     let G = ceil(N / BLOCK);
//     T aggregates[G];
//     T prefixes[G];
//     unsigned status[G] = 0;
//     unsigned started[1] = 0;
//     scan<<<G, BLOCK>>>(x, y, aggregates, prefixes, status, started, N);

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

#define NOTHING 0
#define AGGREGATE 1
#define PREFIX 2

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

// What precedes `tile`, which is not the first.
__device__ T look_back(unsigned tile, const T *aggregates, const T *prefixes, unsigned *status) {
    T before = IDENTITY;
    for (unsigned k = tile - 1;; k--) {
        unsigned seen;
        do {
            seen = *(volatile unsigned *)&status[k];
        } while (seen == NOTHING);
        __threadfence();  // the flag is read before what it promises
        T value = seen == PREFIX ? prefixes[k] : aggregates[k];
        before = k == tile - 1 ? value : combine(value, before);
        if (seen == PREFIX) return before;
    }
}

__device__ void publish(T *values, T value, unsigned *status, unsigned kind, unsigned tile) {
    values[tile] = value;
    __threadfence();  // the value is visible before the flag
    *(volatile unsigned *)&status[tile] = kind;
}

extern "C" __global__ void scan(const T *x, T *y, T *aggregates, T *prefixes, unsigned *status,
                                unsigned *started, unsigned n) {
    __shared__ T scratch[BLOCK];
    __shared__ T before;
    __shared__ unsigned id;
    if (threadIdx.x == 0) id = atomicAdd(started, 1u);
    __syncthreads();  // the tile of this block is known
    unsigned tile = id, first = tile * BLOCK, count = min(n - first, BLOCK), t = threadIdx.x;
    T prefix = IDENTITY;
    if (t < count) prefix = x[first + t];
    prefix = scan_block(prefix, count, scratch);

    if (t == count - 1) {
        if (tile == 0) {
            publish(prefixes, prefix, status, PREFIX, tile);
        } else {
            publish(aggregates, prefix, status, AGGREGATE, tile);
            before = look_back(tile, aggregates, prefixes, status);
            publish(prefixes, combine(before, prefix), status, PREFIX, tile);
        }
    }
    __syncthreads();  // what precedes this tile is known
    if (t >= count) return;
    if (tile > 0) prefix = combine(before, prefix);
    y[first + t] = prefix;
}
