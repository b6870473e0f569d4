// Decoupled look-back with status and value packed in one 64-bit word, so that
// no fence is needed between them; a warp looks at 32 predecessors at once.
typedef unsigned long long u64;
typedef unsigned int u32;
enum { INVALID = 0, AGGREGATE = 1, PREFIX = 2 };
#define PACK(status, value) (((u64)(status) << 32) | (u32)(value))

__device__ u32 tile_counter = 0;

__device__ __inline__ u32 warp_sum(u32 v) {
    for (int d = 16; d; d >>= 1) v += __shfl_down_sync(~0u, v, d);
    return __shfl_sync(~0u, v, 0);
}

extern "C" __global__ void scan(const u32 *in, u32 *out, volatile u64 *status, u32 n)
{
    __shared__ u32 s_tile, s_prefix, s[256];
    if (!threadIdx.x) s_tile = atomicAdd(&tile_counter, 1);
    __syncthreads();
    const u32 tile = s_tile, i = tile * blockDim.x + threadIdx.x;
    u32 v = i < n ? in[i] : 0u;
    s[threadIdx.x] = v;
    __syncthreads();
    for (u32 d = 1; d < blockDim.x; d <<= 1) {
        u32 t = 0;
        if (threadIdx.x >= d) t = s[threadIdx.x - d];
        __syncthreads();
        s[threadIdx.x] += t;
        __syncthreads();
    }
    const u32 total = s[blockDim.x - 1];
    if (threadIdx.x < 32) {
        const u32 lane = threadIdx.x;
        if (lane == 0) status[tile] = PACK(tile ? AGGREGATE : PREFIX, total);
        u32 running = 0;
        int look = (int)tile - 1 - (int)lane;
        while (tile > 0) {
            u64 word;
            do {
                word = look >= 0 ? status[look] : PACK(PREFIX, 0);
            } while (__any_sync(~0u, (word >> 32) == INVALID));
            const u32 done = __ballot_sync(~0u, (word >> 32) == PREFIX);
            const u32 last = done ? __ffs(done) - 1 : 31;
            running += warp_sum(lane <= last ? (u32)word : 0);
            if (done) break;
            look -= 32;
        }
        if (lane == 0) {
            if (tile) status[tile] = PACK(PREFIX, running + total);
            s_prefix = running;
        }
    }
    __syncthreads();
    if (i < n) out[i] = s_prefix + s[threadIdx.x];
}
