// Hillis–Steele: one launch per step.
//
// Shows the scan as the data-parallel machines had it: all N elements take a step at once, from one
// array into another, for any N. On a GPU the only barrier across blocks that needs no care is the end
// of a kernel; here it is the barrier of every step. The whole array travels log2(N) times.
//
// Right because a launch reads one array and writes the other, and launches follow each other in order.
// A launch whose stride has passed N only copies, which brings the result home to y.
//
// source: Hillis and Steele, Communications of the ACM 29, 1986
// scan:   inclusive
// sizes:  1..2^16
// work:   N log2(N) - (N - 1)
// work (any N):  N ceil(log2(N)) - (2^ceil(log2(N)) - 1)
// steps:  log2(N)
// steps (any N): ceil(log2(N))
// host:
//     let G = ceil(N / BLOCK);
//     T other[N];
//     step<<<G, BLOCK>>>(x, y, 1, N);
//     for (stride = 2; stride < N; stride = 4 * stride) {
//         step<<<G, BLOCK>>>(y, other, stride, N);
//         step<<<G, BLOCK>>>(other, y, 2 * stride, N);
//     }

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

extern "C" __global__ void step(const T *from, T *to, unsigned stride, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    if (i >= stride)
        to[i] = combine(from[i - stride], from[i]);
    else
        to[i] = from[i];
}
