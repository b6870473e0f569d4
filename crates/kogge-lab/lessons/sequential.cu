// Sequential scan.
//
// Shows what every other lesson must give: one thread walks the array and keeps the prefix of all it
// has seen. No scan does less work, and none takes more steps: each application waits for the last.
//
// Right because one thread needs no one: y[i] = y[i - 1] o x[i], by induction on i.
//
// scan:   inclusive
// sizes:  1..2^20
// work:   N - 1
// steps:  min(N - 1, 1)
// host:
//     scan<<<1, 1>>>(x, y, N);

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
    T prefix = x[0];
    y[0] = prefix;
    for (unsigned i = 1; i < n; i++) {
        prefix = combine(prefix, x[i]);
        y[i] = prefix;
    }
}
