// Blog style: inclusive scan of a block by warp shuffles, generic in type and operator.
#include <cub/cub.cuh>
constexpr int WARP_SIZE = 32;
constexpr unsigned FULL_MASK = 0xffffffffu;

template <typename T>
struct SumOp { __device__ __forceinline__ T operator()(const T& a, const T& b) const { return a + b; } };

template <typename T, typename Op>
__device__ __forceinline__ T warp_inclusive_scan(T val, Op op) {
    const int lane = threadIdx.x & (WARP_SIZE - 1);
#pragma unroll
    for (int offset = 1; offset < WARP_SIZE; offset <<= 1) {
        T other = __shfl_up_sync(FULL_MASK, val, offset);
        if (lane >= offset) val = op(other, val);
    }
    return val;
}

template <int BLOCK_THREADS, typename T, typename Op>
__device__ T block_inclusive_scan(T val, Op op, T (&)[1]);

template <typename T, int BLOCK_THREADS>
__global__ void __launch_bounds__(BLOCK_THREADS) scan_block(const T* __restrict__ in, T* __restrict__ out, const int n) {
    static_assert(BLOCK_THREADS % WARP_SIZE == 0, "whole warps");
    __shared__ T warp_sums[BLOCK_THREADS / WARP_SIZE];
    const int tid = threadIdx.x, lane = tid % WARP_SIZE, warp = tid / WARP_SIZE;
    SumOp<T> op;
    T val = tid < n ? in[tid] : T(0);
    val = warp_inclusive_scan(val, op);
    if (lane == WARP_SIZE - 1) warp_sums[warp] = val;
    __syncthreads();
    if (warp == 0) {
        T sum = lane < BLOCK_THREADS / WARP_SIZE ? warp_sums[lane] : T{};
        sum = warp_inclusive_scan<T, SumOp<T>>(sum, op);
        if (lane < BLOCK_THREADS / WARP_SIZE) warp_sums[lane] = sum;
    }
    __syncthreads();
    if (warp > 0) val = op(warp_sums[warp - 1], val);
    if (tid < n) out[tid] = val;
}
