// Kogge–Stone over many blocks, launched cooperatively.
//
// Shows the same kernel made right by its launch. A cooperative launch either puts every block of the
// grid on the GPU at once or is refused, so no block waits for one that can't start.
//
// Right because of that, and of the fences. A thread's fence orders what its block wrote (which the
// block's barrier put before the fence) before the count; a reader's fence orders the count before
// what it reads. cooperative_groups::this_grid().sync() does the same; it is written out here so that
// nothing is hidden and no header is needed.
//
// scan:   inclusive
// sizes:  1..2^16
// work:   N log2(N) - (N - 1)
// work (any N):  N ceil(log2(N)) - (2^ceil(log2(N)) - 1)
// steps:  log2(N)
// steps (any N): ceil(log2(N))
// host:
//     unsigned arrived[1] = 0;
//     cooperative scan<<<ceil(N / BLOCK), BLOCK>>>(x, y, arrived, N);

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

__device__ void grid_barrier(unsigned *arrived, unsigned expected) {
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();  // what this block wrote is visible before it is counted
        atomicAdd(arrived, 1u);
        while (*(volatile unsigned *)arrived < expected) {
        }
        __threadfence();  // nothing below is read before all were counted
    }
    __syncthreads();
}

extern "C" __global__ void scan(const T *x, T *y, unsigned *arrived, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned expected = 0;
    if (i < n) y[i] = x[i];
    for (unsigned stride = 1; stride < n; stride *= 2) {
        grid_barrier(arrived, expected += gridDim.x);  // the last step's prefixes are written
        T prefix = IDENTITY;
        if (i < n) prefix = y[i];
        if (i < n && i >= stride) prefix = combine(y[i - stride], prefix);
        grid_barrier(arrived, expected += gridDim.x);  // the last step's prefixes are read
        if (i < n) y[i] = prefix;
    }
}
