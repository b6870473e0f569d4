// One thread per output.
//
// Shows the scan that needs no barrier at all, and why nobody uses it: thread i folds x[0] to x[i] by
// itself. All outputs are ready after one step, but the step is N long and the work is quadratic. It
// claims no more elements than a block of the others scans: at 2,048 it applies the operator two
// million times, where Brent–Kung does so 4,083 times.
//
// Right because threads only read x, and each writes an element of y that is its alone.
//
// scan:   inclusive
// sizes:  1..1024
// work:   N (N - 1) / 2
// steps:  min(N - 1, 1)
// host:
//     scan<<<ceil(N / BLOCK), BLOCK>>>(x, y, N);

#ifndef ELEMENT
#define ELEMENT float
#endif
#ifndef IDENTITY
#define IDENTITY 0
#endif
#ifndef COMBINE
#define COMBINE(a, b) ((a) + (b))
#endif
#ifndef BLOCK
#define BLOCK 256
#endif

typedef ELEMENT T;
__device__ T combine(T a, T b) { return COMBINE(a, b); }

extern "C" __global__ void scan(const T *x, T *y, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    T prefix = x[0];
    for (unsigned k = 1; k <= i; k++) prefix = combine(prefix, x[k]);
    y[i] = prefix;
}
