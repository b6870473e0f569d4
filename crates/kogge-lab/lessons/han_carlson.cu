// Han–Carlson: Kogge–Stone on every other element.
//
// Shows a middle way: pair the neighbours, run Kogge–Stone over the pairs only, then fill the places
// between. One step more than Kogge–Stone, about half the work, and no fan-out.
//
// Right because a thread keeps its pair to itself until the totals are exchanged; the Kogge–Stone in
// between is double buffered, with one barrier a step; a last barrier puts the prefix of the pair
// before a thread's own ahead of its use.
//
// source: Han and Carlson, IEEE Symposium on Computer Arithmetic, 1987
// scan:   inclusive
// sizes:  1..2048
// work:   N - 1 + kogge_stone(N / 2)
// work (any N):  N - 1 + kogge_stone(floor(N / 2))
// steps:  min(N - 1, log2(N) + 1)
// host:
//     let PAIRS = floor(N / 2);
//     scan<<<1, ceil(N / 2), 2 * max(PAIRS, 1) * sizeof(T)>>>(x, y, N);

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
    unsigned t = threadIdx.x, pairs = n / 2;
    T *from = buffers, *to = buffers + pairs;
    T even = x[2 * t];
    if (t < pairs) from[t] = combine(even, x[2 * t + 1]);
    for (unsigned stride = 1; stride < pairs; stride *= 2) {
        __syncthreads();
        if (t < pairs) {
            if (t >= stride)
                to[t] = combine(from[t - stride], from[t]);
            else
                to[t] = from[t];
        }
        T *swap = from;
        from = to;
        to = swap;
    }
    __syncthreads();  // the prefixes of the pairs are written
    if (t > 0) even = combine(from[t - 1], even);
    y[2 * t] = even;
    if (t < pairs) y[2 * t + 1] = from[t];
}
