// Adjacent synchronisation as a textbook has it: flags raised by atomicAdd,
// polled by atomicAdd of nothing; no fence on the reader's side.
#define SECTION 64
__device__ int flags[64];
__device__ int scan_value[64];
__device__ int blockCounter;

__global__ void stream_scan(int *X, int *Y, int N)
{
    __shared__ int sbid;
    if (threadIdx.x == 0)
        sbid = atomicAdd(&blockCounter, 1);
    __syncthreads();
    const int bid = sbid;
    __shared__ int XY[SECTION];
    int i = bid * SECTION + threadIdx.x;
    XY[threadIdx.x] = (i < N) ? X[i] : 0;
    for (int stride = 1; stride < SECTION; stride <<= 1) {
        __syncthreads();
        int tmp = (threadIdx.x >= stride) ? XY[threadIdx.x - stride] : 0;
        __syncthreads();
        XY[threadIdx.x] += tmp;
    }
    __syncthreads();
    __shared__ int previous_sum;
    if (threadIdx.x == 0) {
        int local_sum = XY[SECTION - 1];
        // Wait for the block before
        while (bid > 0 && atomicAdd(&flags[bid], 0) == 0) { }
        previous_sum = bid > 0 ? scan_value[bid] : 0;
        scan_value[bid + 1] = previous_sum + local_sum;
        __threadfence();
        atomicAdd(&flags[bid + 1], 1);
    }
    __syncthreads();
    if (i < N) Y[i] = previous_sum + XY[threadIdx.x];
}
