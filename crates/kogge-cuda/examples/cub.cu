// CUB's scans behind one C function, for examples/measure.rs:
// nvcc -O3 -std=c++17 -arch=sm_90 -shared -Xcompiler -fPIC -o libcub.so cub.cu
#include <cstdint>
#include <cub/cub.cuh>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

struct Pair {
    float a, b;
};
struct ComposePairs {
    __host__ __device__ Pair operator()(const Pair& l, const Pair& r) const {
        return {l.a * r.a, l.b * r.a + r.b};
    }
};
struct Larger {
    __host__ __device__ float operator()(float l, float r) const { return l > r ? l : r; }
};

template <class T>
int sum(void* memory, size_t& bytes, uint64_t from, uint64_t to, int64_t n, cudaStream_t stream) {
    return cub::DeviceScan::InclusiveSum(memory, bytes, (const T*)from, (T*)to, n, stream);
}

extern "C" int cub_scan(int which, uint64_t scratch, uint64_t from, uint64_t to, uint64_t* bytes, uint64_t n, uint64_t cu) {
    void* memory = (void*)scratch;
    auto stream = (cudaStream_t)cu;
    size_t size = *bytes;
    int status = 1;
    switch (which) {
        case 0: status = sum<int8_t>(memory, size, from, to, n, stream); break;
        case 1: status = sum<int16_t>(memory, size, from, to, n, stream); break;
        case 2: status = sum<__half>(memory, size, from, to, n, stream); break;
        case 3: status = sum<__nv_bfloat16>(memory, size, from, to, n, stream); break;
        case 4: status = sum<int32_t>(memory, size, from, to, n, stream); break;
        case 5: status = sum<float>(memory, size, from, to, n, stream); break;
        case 6: status = sum<int64_t>(memory, size, from, to, n, stream); break;
        case 7: status = sum<double>(memory, size, from, to, n, stream); break;
        case 8:
            status = cub::DeviceScan::InclusiveScan(memory, size, (const Pair*)from, (Pair*)to, ComposePairs{}, (int64_t)n, stream);
            break;
        case 9:
            status = cub::DeviceScan::InclusiveScan(memory, size, (const float*)from, (float*)to, Larger{}, (int64_t)n, stream);
            break;
    }
    *bytes = size;
    return status;
}
