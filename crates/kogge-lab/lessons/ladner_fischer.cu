// Ladner–Fischer: least depth with linear work.
//
// Shows that depth and work need not be traded: log2(N) steps, and fewer than 4N applications. The
// network P0 is Sklansky's, except that its left half may take a step longer for all but its last
// element, as only that one is awaited. So the left half is a P1: neighbours are paired, a P0 scans
// the pairs, and a last step fills the places between.
//
// Right because a step only reads elements that are complete for their place in the network and that
// nobody writes in that step. `left_of` finds for each element and step which element to take in; it
// walks down the recursion instead of storing the network.
//
// source: Ladner and Fischer, Journal of the ACM 27, 1980
// scan:   inclusive
// sizes:  1..1024
// work:   4N - fibonacci(log2(N) + 5) + 1
// steps:  log2(N)
// steps (any N): ceil(log2(N))
// host:
//     scan<<<1, N, N * sizeof(T)>>>(x, y, N);

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

// The element that `i` takes in on its left in `step`, or -1 for none, in the network P0 of 2^levels
// elements. The subnetwork at hand has element j at index first + j * apart.
__device__ int left_of(int i, int step, int levels) {
    int first = 0, apart = 1, j = i;
    bool pairs = false;  // P1, not P0
    for (; levels > 0; levels--) {
        int half = 1 << (levels - 1);
        if (!pairs) {
            if (j < half) {
                pairs = true;
                continue;
            }
            if (step == levels) return first + (half - 1) * apart;
            first += half * apart;
            j -= half;
        } else {
            if (step == 1) return j % 2 == 1 ? first + (j - 1) * apart : -1;
            if (j % 2 == 0) return j > 0 && step == levels + 1 ? first + (j - 1) * apart : -1;
            first += apart;
            apart *= 2;
            j /= 2;
            step -= 1;
            pairs = false;
        }
    }
    return -1;
}

extern "C" __global__ void scan(const T *x, T *y, unsigned n) {
    extern __shared__ T prefixes[];
    unsigned i = threadIdx.x;
    int levels = 0;
    while ((1u << levels) < n) levels++;
    prefixes[i] = x[i];
    for (int step = 1; step <= levels; step++) {
        __syncthreads();
        int left = left_of(i, step, levels);
        if (left >= 0) prefixes[i] = combine(prefixes[left], prefixes[i]);
    }
    y[i] = prefixes[i];
}
