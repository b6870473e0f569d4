// Exclusive scan by a shifted load.
//
// Shows that an exclusive scan is an inclusive scan of the sequence moved up by one place, with the
// identity let in at the bottom. The shift costs nothing: thread i loads x[i - 1].
//
// Right because the inclusive prefix of place i in (identity, x[0], ..., x[N - 2]) is exactly what
// precedes x[i]. Some applications have the identity for an operand; it needs an operator whose
// identity is exact.
//
// scan:   exclusive
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
    if (i > 0)
        from[i] = x[i - 1];
    else
        from[i] = IDENTITY;
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
