// Kogge–Stone in shared memory, two barriers a step.
//
// Shows the scan that most kernels are built on: one load and one store of global memory per element,
// every step in between on chip.
//
// Right because of the two barriers, as in global memory: one between the last step's writes and this
// step's reads, one between this step's reads and its writes.
//
// source: Kogge and Stone, IEEE Transactions on Computers C-22, 1973
// scan:   inclusive
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
    y[i] = prefixes[i];
}
