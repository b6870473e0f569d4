// Blelloch: up-sweep and down-sweep.
//
// Shows the exclusive scan of the tree itself. Going up, every node learns the total below it. Then the
// root is given the identity and every node passes to its left child what it was given, and to its
// right child that, combined with the left child's total.
//
// Right because a step touches each pair from one thread only, with a barrier between steps. The order
// of the operands matters: what was given stands left of the left child's total. Many a published
// version has them the other way round, which only a non-commutative operator shows.
//
// source: Blelloch, IEEE Transactions on Computers 38, 1989
// scan:   exclusive
// sizes:  1..2048
// work:   2 (2^ceil(log2(N)) - 1)
// steps:  2 ceil(log2(N))
// host:
//     let P = 2^ceil(log2(N));
//     scan<<<1, ceil(P / 2), P * sizeof(T)>>>(x, y, N, P);

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

extern "C" __global__ void scan(const T *x, T *y, unsigned n, unsigned padded) {
    extern __shared__ T tree[];
    unsigned t = threadIdx.x, stride;
    for (unsigned i = t; i < padded; i += blockDim.x) {
        if (i < n)
            tree[i] = x[i];
        else
            tree[i] = IDENTITY;
    }
    for (stride = 1; stride < padded; stride *= 2) {
        __syncthreads();
        unsigned right = (t + 1) * 2 * stride - 1;
        if (right < padded) tree[right] = combine(tree[right - stride], tree[right]);
    }
    if (t == 0) tree[padded - 1] = IDENTITY;  // in the place of the total, which this thread wrote
    for (stride /= 2; stride > 0; stride /= 2) {
        __syncthreads();
        unsigned right = (t + 1) * 2 * stride - 1;
        if (right < padded) {
            T total = tree[right - stride];
            T given = tree[right];
            tree[right - stride] = given;
            tree[right] = combine(given, total);
        }
    }
    __syncthreads();  // every prefix is written
    for (unsigned i = t; i < n; i += blockDim.x) y[i] = tree[i];
}
