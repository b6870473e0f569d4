// The style of a template library: a class with its storage type, policies as
// template arguments, items per thread in registers.
namespace detail {
template <typename T> struct Sum { __host__ __device__ __forceinline__ T operator()(T a, T b) const { return a + b; } };
}

template <typename T, int THREADS>
struct BlockScan {
    enum { WARPS = (THREADS + 31) / 32 };
    T *storage;
    __device__ explicit BlockScan(T *s) : storage(s) {}

    template <typename Op>
    __device__ T WarpScan(T x, Op op) {
        #pragma unroll
        for (int d = 1; d < 32; d <<= 1) {
            T y = __shfl_up_sync(0xffffffff, x, d);
            if ((threadIdx.x & 31) >= d) x = op(y, x);
        }
        return x;
    }

    template <int ITEMS, typename Op>
    __device__ void InclusiveScan(T (&items)[ITEMS], Op op) {
        T sum = items[0];
        #pragma unroll
        for (int i = 1; i < ITEMS; ++i) sum = op(sum, items[i]);
        T before, total;
        ExclusiveSum(sum, before, total);
        items[0] = threadIdx.x ? op(before, items[0]) : items[0];
        #pragma unroll
        for (int i = 1; i < ITEMS; ++i) items[i] = op(items[i - 1], items[i]);
    }

    __device__ void ExclusiveSum(T input, T &output, T &aggregate) {
        T x = WarpScan(input, detail::Sum<T>());
        if ((threadIdx.x & 31) == 31) storage[threadIdx.x >> 5] = x;
        __syncthreads();
        T before = 0;
        aggregate = 0;
        for (int w = 0; w < WARPS; ++w) {
            if (w == threadIdx.x >> 5) before = aggregate;
            aggregate += storage[w];
        }
        output = before + x - input;
        __syncthreads();
    }
};

template <typename T, int THREADS, int ITEMS>
__global__ void BlockScanKernel(T *d_in, T *d_out) {
    __shared__ T temp[BlockScan<T, THREADS>::WARPS];
    T items[ITEMS];
    for (int i = 0; i < ITEMS; ++i) items[i] = d_in[threadIdx.x * ITEMS + i];
    BlockScan<T, THREADS>(temp).InclusiveScan(items, detail::Sum<T>());
    for (int i = 0; i < ITEMS; ++i) d_out[threadIdx.x * ITEMS + i] = items[i];
}
