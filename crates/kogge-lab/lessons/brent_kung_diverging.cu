// Brent–Kung with a diverging reduction tree.
//
// Shows the scan of little work: a tree of totals going up, then the totals handed down to the places
// between. It applies the operator fewer than 2N times, where Kogge–Stone needs N log2(N).
//
// Right because within a step no thread reads what another writes: going up, the element read is the
// end of a left half; going down, it is a finished prefix. One barrier a step is enough. The weakness
// is in the condition: thread i works for element i, so that with stride s one thread in 2s is active
// and nearly every warp of the block stays awake for one of its lanes.
//
// source: Brent and Kung, IEEE Transactions on Computers C-31, 1982
// scan:   inclusive
// sizes:  1..1024
// work:   2N - 2 - log2(N)
// work (any N):  2N - 1 - popcount(N) - floor(log2(N))
// steps:  max(2 log2(N), 1) - 1
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
    unsigned i = threadIdx.x, stride;
    prefixes[i] = x[i];
    for (stride = 1; stride < n; stride *= 2) {
        __syncthreads();
        if ((i + 1) % (2 * stride) == 0) prefixes[i] = combine(prefixes[i - stride], prefixes[i]);
    }
    for (stride /= 2; stride > 0; stride /= 2) {
        __syncthreads();
        if ((i + 1) % (2 * stride) == stride && i > stride)
            prefixes[i] = combine(prefixes[i - stride], prefixes[i]);
    }
    y[i] = prefixes[i];
}
