// Decoupled look-back with libcu++: status and value of a tile are one word, so that nothing needs
// to be ordered.
#include <cuda/atomic>

enum : unsigned { NOTHING, AGGREGATE, PREFIX };
struct alignas(8) Status {
    unsigned kind;
    int value;
};
struct Tile {
    cuda::atomic<Status, cuda::thread_scope_device> status;

    __device__ void publish(unsigned kind, int value) {
        status.store(Status{kind, value}, cuda::std::memory_order_relaxed);
    }
    __device__ Status wait() {
        Status seen;
        do {
            seen = status.load(cuda::std::memory_order_relaxed);
        } while (seen.kind == NOTHING);
        return seen;
    }
};

__global__ void scan(const int *x, int *y, Tile *tiles) {
    const int tile = blockIdx.x, i = tile * 64 + threadIdx.x;
    __shared__ int s_before, s[64];
    s[threadIdx.x] = x[i];
    for (int d = 1; d < 64; d *= 2) {
        __syncthreads();
        const int v = threadIdx.x >= d ? s[threadIdx.x - d] : 0;
        __syncthreads();
        s[threadIdx.x] += v;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        const int total = s[63];
        tiles[tile].publish(tile ? AGGREGATE : PREFIX, total);
        int before = 0;
        for (int k = tile - 1; k >= 0; k--) {
            const Status seen = tiles[k].wait();
            before += seen.value;
            if (seen.kind == PREFIX) break;
        }
        if (tile) tiles[tile].publish(PREFIX, before + total);
        s_before = before;
    }
    __syncthreads();
    y[i] = s_before + s[threadIdx.x];
}
