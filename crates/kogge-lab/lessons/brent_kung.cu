// Brent–Kung with contiguous threads.
//
// Shows the same network with the threads renumbered: with k pairs to combine in a step, threads 0 to
// k - 1 combine them. Whole warps fall idle instead of single lanes, and a block of B threads scans 2B
// elements. The price is in the banks of shared memory: with stride s the elements of neighbouring
// threads lie 2s apart.
//
// Right because the combinations of a step are those of the diverging tree, done by other threads, and
// the barriers stand where they stood; one more at the end, as a thread now stores elements that
// another computed.
//
// source: Brent and Kung, IEEE Transactions on Computers C-31, 1982
// scan:   inclusive
// sizes:  1..2048
// work:   2N - 2 - log2(N)
// work (any N):  2N - 1 - popcount(N) - floor(log2(N))
// steps:  max(2 log2(N), 1) - 1
// host:
//     scan<<<1, ceil(N / 2), N * sizeof(T)>>>(x, y, N);

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
    unsigned stride;
    for (unsigned i = threadIdx.x; i < n; i += blockDim.x) prefixes[i] = x[i];
    for (stride = 1; stride < n; stride *= 2) {
        __syncthreads();
        unsigned i = (threadIdx.x + 1) * 2 * stride - 1;
        if (i < n) prefixes[i] = combine(prefixes[i - stride], prefixes[i]);
    }
    for (stride /= 2; stride > 0; stride /= 2) {
        __syncthreads();
        unsigned i = (threadIdx.x + 1) * 2 * stride - 1 + stride;
        if (i < n) prefixes[i] = combine(prefixes[i - stride], prefixes[i]);
    }
    __syncthreads();  // every prefix is written
    for (unsigned i = threadIdx.x; i < n; i += blockDim.x) y[i] = prefixes[i];
}
