// Kogge–Stone in shared memory, double buffered.
//
// Shows one barrier a step instead of two, for twice the shared memory: a step reads one buffer and
// writes the other, then the two change places.
//
// Right because what a step writes is never what the same step reads, and the next step, which writes
// over what this one read, comes after a barrier that all readers have reached.
//
// scan:   inclusive
// sizes:  1..1024
// work:   N log2(N) - (N - 1)
// work (any N):  N ceil(log2(N)) - (2^ceil(log2(N)) - 1)
// steps:  log2(N)
// steps (any N): ceil(log2(N))
// host:
//     scan<<<1, N, 2 * N * sizeof(T)>>>(x, y, N);

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
    extern __shared__ T buffers[];
    T *from = buffers, *to = buffers + n;
    unsigned i = threadIdx.x;
    from[i] = x[i];
    for (unsigned stride = 1; stride < n; stride *= 2) {
        __syncthreads();
        if (i >= stride)
            to[i] = combine(from[i - stride], from[i]);
        else
            to[i] = from[i];
        T *swap = from;
        from = to;
        to = swap;
    }
    y[i] = from[i];
}
