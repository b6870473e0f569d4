// Kogge–Stone in global memory, one block.
//
// Shows the scan of least depth. After the step with stride s, y[i] covers the 2s elements that end
// at i; so log2(N) steps suffice, where the sequential scan needs N - 1.
//
// Right because of two barriers a step. The first separates the writes of the last step from the reads
// of this one. The second separates this step's reads from its writes: y[i - stride] is the element
// that thread i - stride is about to overwrite. The barriers stand outside every branch, so all
// threads meet at them.
//
// source: Kogge and Stone, IEEE Transactions on Computers C-22, 1973
// scan:   inclusive
// sizes:  1..1024
// work:   N log2(N) - (N - 1)
// work (any N):  N ceil(log2(N)) - (2^ceil(log2(N)) - 1)
// steps:  log2(N)
// steps (any N): ceil(log2(N))
// host:
//     scan<<<1, N>>>(x, y, N);

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
    unsigned i = threadIdx.x;
    y[i] = x[i];
    for (unsigned stride = 1; stride < n; stride *= 2) {
        __syncthreads();  // the last step's prefixes are written
        T prefix = y[i];
        if (i >= stride) prefix = combine(y[i - stride], prefix);
        __syncthreads();  // the last step's prefixes are read
        y[i] = prefix;
    }
}
