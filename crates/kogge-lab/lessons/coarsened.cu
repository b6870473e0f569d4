// Thread-coarsened scan in three phases.
//
// Shows how a block scans more elements than it has threads, with little waste: each thread scans its
// own CHUNK of elements alone, the block scans the chunks' totals, and each thread puts the total of
// what precedes its chunk before its elements. Only the middle phase pays for parallelism.
//
// Right because the first and last phases keep to a thread's own chunk, and barriers stand between the
// phases. Loads and stores of global memory go through shared memory, so that neighbouring threads
// touch neighbouring elements; a chunk of even length costs bank conflicts there.
//
// scan:   inclusive
// sizes:  1..8192
// work:   (N / CHUNK) (CHUNK - 1) + kogge_stone(N / CHUNK) + (N / CHUNK - 1) (CHUNK - 1)
// steps:  min(CHUNK - 1, 1) + log2(N / CHUNK) + min(N / CHUNK - 1, 1)
// host:
//     let THREADS = ceil(N / CHUNK);
//     scan<<<1, THREADS, (N + THREADS) * sizeof(T)>>>(x, y, N);

#ifndef ELEMENT
#define ELEMENT float
#endif
#ifndef IDENTITY
#define IDENTITY 0
#endif
#ifndef COMBINE
#define COMBINE(a, b) ((a) + (b))
#endif
#ifndef CHUNK
#define CHUNK 8
#endif

typedef ELEMENT T;
__device__ T combine(T a, T b) { return COMBINE(a, b); }

extern "C" __global__ void scan(const T *x, T *y, unsigned n) {
    extern __shared__ T elements[];
    T *totals = elements + n;
    unsigned t = threadIdx.x, threads = blockDim.x;
    for (unsigned i = t; i < n; i += threads) elements[i] = x[i];
    __syncthreads();  // the elements are loaded

    unsigned first = t * CHUNK, last = min(first + CHUNK, n) - 1;
    for (unsigned i = first + 1; i <= last; i++) elements[i] = combine(elements[i - 1], elements[i]);

    T total = elements[last];
    totals[t] = total;
    for (unsigned stride = 1; stride < threads; stride *= 2) {
        __syncthreads();  // the last step's totals are written
        if (t >= stride) total = combine(totals[t - stride], total);
        __syncthreads();  // the last step's totals are read
        totals[t] = total;
    }
    __syncthreads();  // the totals before each chunk are written

    if (t > 0) {
        for (unsigned i = first; i < last; i++) elements[i] = combine(totals[t - 1], elements[i]);
        elements[last] = total;
    }
    __syncthreads();  // the prefixes are written
    for (unsigned i = t; i < n; i += threads) y[i] = elements[i];
}
