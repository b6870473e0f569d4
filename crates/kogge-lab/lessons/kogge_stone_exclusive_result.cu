// Exclusive scan by shifting the result.
//
// Shows the other way: scan inclusively, then let thread i store its left neighbour's prefix. The
// total of the block, prefixes[N - 1], is at hand as well, which a hierarchical scan wants.
//
// Right because of a barrier more: the neighbour's last write comes before this thread's read. The
// identity is stored, never combined.
//
// scan:   exclusive
// sizes:  1..1024
// work:   N log2(N) - (N - 1)
// work (any N):  N ceil(log2(N)) - (2^ceil(log2(N)) - 1)
// steps:  log2(N)
// steps (any N): ceil(log2(N))
// host:
//     scan<<<1, N, N * sizeof(T)>>>(x, y, N);

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

extern "C" __global__ void scan(const T *x, T *y, unsigned n) {
    extern __shared__ T prefixes[];
    unsigned i = threadIdx.x;
    prefixes[i] = x[i];
    for (unsigned stride = 1; stride < n; stride *= 2) {
        __syncthreads();  // the last step's prefixes are written
        T prefix = prefixes[i];
        if (i >= stride) prefix = combine(prefixes[i - stride], prefix);
        __syncthreads();  // the last step's prefixes are read
        prefixes[i] = prefix;
    }
    __syncthreads();  // the neighbour's prefix is written
    if (i > 0)
        y[i] = prefixes[i - 1];
    else
        y[i] = IDENTITY;
}
