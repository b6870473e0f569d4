// Decoupled look-back with libcu++: the status of a tile is released behind its value and acquired
// before it.
#include <cuda/atomic>

enum : unsigned { NOTHING, AGGREGATE, PREFIX };
using Counter = cuda::atomic<unsigned, cuda::thread_scope_device>;
using Status = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;

__device__ void publish(int *values, int value, unsigned *status, unsigned kind, unsigned tile) {
    values[tile] = value;
    Status(status[tile]).store(kind, cuda::memory_order_release);
}

__device__ int look_back(unsigned tile, const int *aggregates, const int *prefixes,
                         unsigned *status) {
    int before = 0;
    for (unsigned k = tile - 1;; k--) {
        Status flag{status[k]};
        unsigned seen;
        do {
            seen = flag.load(cuda::memory_order_acquire);
        } while (seen == NOTHING);
        before += seen == PREFIX ? prefixes[k] : aggregates[k];
        if (seen == PREFIX) return before;
    }
}

__global__ void scan(const int *x, int *y, int *aggregates, int *prefixes, unsigned *status,
                     Counter *started) {
    __shared__ unsigned s_tile;
    __shared__ int s_before, s[64];
    if (threadIdx.x == 0) s_tile = started->fetch_add(1, cuda::memory_order_relaxed);
    __syncthreads();
    const unsigned tile = s_tile, i = tile * 64 + threadIdx.x;
    int v = x[i];
    s[threadIdx.x] = v;
    for (unsigned d = 1; d < 64; d *= 2) {
        __syncthreads();
        if (threadIdx.x >= d) v += s[threadIdx.x - d];
        __syncthreads();
        s[threadIdx.x] = v;
    }
    if (threadIdx.x == 63) {
        int before = 0;
        if (tile > 0) {
            publish(aggregates, v, status, AGGREGATE, tile);
            before = look_back(tile, aggregates, prefixes, status);
        }
        publish(prefixes, before + v, status, PREFIX, tile);
        s_before = before;
    }
    __syncthreads();
    y[i] = s_before + v;
}
