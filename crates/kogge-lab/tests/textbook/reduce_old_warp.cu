// A reduction that trusts the warp to run in step, as before Volta, beside the
// same with __syncwarp: the first is a race today.
template <unsigned int blockSize>
__device__ void warpReduce(int *sdata, unsigned int tid) {
    if (blockSize >= 64) sdata[tid] += sdata[tid + 32];
    if (blockSize >= 32) sdata[tid] += sdata[tid + 16];
    if (blockSize >= 16) sdata[tid] += sdata[tid + 8];
    if (blockSize >= 8) sdata[tid] += sdata[tid + 4];
    if (blockSize >= 4) sdata[tid] += sdata[tid + 2];
    if (blockSize >= 2) sdata[tid] += sdata[tid + 1];
}

__device__ void warpReduceSync(int *sdata, unsigned int tid) {
    for (int d = 32; d > 0; d /= 2) {
        int v = sdata[tid + d];
        __syncwarp();
        sdata[tid] += v;
        __syncwarp();
    }
}

template <unsigned int blockSize, bool SYNC>
__global__ void reduce(int *g_idata, int *g_odata, unsigned int n) {
    __shared__ int sdata[blockSize + 32];
    unsigned int tid = threadIdx.x;
    unsigned int i = blockIdx.x * (blockSize * 2) + tid;
    sdata[tid] = 0;
    if (tid < 32) sdata[blockSize + tid] = 0;
    while (i < n) {
        sdata[tid] += g_idata[i] + (i + blockSize < n ? g_idata[i + blockSize] : 0);
        i += blockSize * 2 * gridDim.x;
    }
    __syncthreads();
    if (blockSize >= 256) { if (tid < 128) { sdata[tid] += sdata[tid + 128]; } __syncthreads(); }
    if (blockSize >= 128) { if (tid < 64) { sdata[tid] += sdata[tid + 64]; } __syncthreads(); }
    if (tid < 32) { if (SYNC) warpReduceSync(sdata, tid); else warpReduce<blockSize>(sdata, tid); }
    if (tid == 0) atomicAdd(g_odata, sdata[0]);
}
