// Sklansky: divide and conquer.
//
// Shows the least depth with half of Kogge–Stone's work: scan both halves, then put the total of the
// left half before every element of the right one. The price is the fan-out: in the last step one
// element is read by N / 2 threads (a broadcast, on a GPU, which costs nothing).
//
// Right because with stride s the elements read have bit s of their index clear and those written have
// it set. So reads and writes of a step never meet, and one barrier a step is enough, in place.
//
// source: Sklansky, IRE Transactions on Electronic Computers EC-9, 1960
// scan:   inclusive
// sizes:  1..2048
// work:   N log2(N) / 2
// steps:  log2(N)
// steps (any N): ceil(log2(N))
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
    for (unsigned i = threadIdx.x; i < n; i += blockDim.x) prefixes[i] = x[i];
    for (unsigned stride = 1; stride < n; stride *= 2) {
        __syncthreads();
        // Thread t combines for the t-th of the elements whose bit `stride` is set.
        unsigned within = threadIdx.x % stride;
        unsigned middle = (threadIdx.x - within) * 2 + stride;
        unsigned i = middle + within;
        if (i < n) prefixes[i] = combine(prefixes[middle - 1], prefixes[i]);
    }
    __syncthreads();  // every prefix is written
    for (unsigned i = threadIdx.x; i < n; i += blockDim.x) y[i] = prefixes[i];
}
