// Kogge–Stone over many blocks with a spin barrier.
//
// Shows the obvious way past one block, and its hazard: __syncthreads reaches one block only, so the
// blocks count themselves in on a counter and spin until all have come.
//
// Hazard: a block that spins keeps its place on the multiprocessor. If the grid has more blocks than
// fit, the blocks in place wait for blocks that can't start before one of those in place has ended,
// and nobody ever ends. With every block resident the result is right, which is what makes the fault
// hard to see: it appears with a longer array or a smaller GPU.
//
// scan:   inclusive
// sizes:  1..2^16
// work:   N log2(N) - (N - 1)
// work (any N):  N ceil(log2(N)) - (2^ceil(log2(N)) - 1)
// steps:  log2(N)
// steps (any N): ceil(log2(N))
// hazard: deadlock with N = 1024, resident = 2
// host:
//     unsigned arrived[1] = 0;
//     scan<<<ceil(N / BLOCK), BLOCK>>>(x, y, arrived, N);

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
