// CUB's scans behind two C functions, for examples/measure.rs and `kogge bench`:
// nvcc -O3 -std=c++17 -arch=sm_90 -shared -Xcompiler -fPIC -o libcub.so cub.cu
#include <cstdint>
#include <cub/cub.cuh>
#if __has_include(<cub/device/device_segmented_scan.cuh>)
#include <cub/device/device_segmented_scan.cuh>
#endif
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
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

// Where line `i` of so many elements starts.
struct StartOfLine {
    uint64_t length;
    __host__ __device__ uint64_t operator()(uint64_t i) const { return i * length; }
};

// What is summed: 0 one sequence, 1 runs of equal 32-bit keys, 2 segments by 64-bit offsets, 3 segments of
// equal lengths.
template <class T>
int sum_of(int what, void* memory, size_t& bytes, uint64_t from, uint64_t to, int64_t n, uint64_t beside, uint64_t segments, cudaStream_t stream) {
    if (what == 0) return sum<T>(memory, bytes, from, to, n, stream);
    if (what == 1)
        return cub::DeviceScan::InclusiveSumByKey(memory, bytes, (const uint32_t*)beside, (const T*)from, (T*)to, n, cuda::std::equal_to<>{}, stream);
#if __has_include(<cub/device/device_segmented_scan.cuh>)
    if (what == 3) {
        StartOfLine start = {n / segments};
        auto offsets = thrust::make_transform_iterator(thrust::make_counting_iterator<uint64_t>(0), start);
        return cub::DeviceSegmentedScan::InclusiveSegmentedSum(memory, bytes, (const T*)from, (T*)to, offsets, offsets + 1, (int64_t)segments, stream);
    }
    auto offsets = (const uint64_t*)beside;
    return cub::DeviceSegmentedScan::InclusiveSegmentedSum(memory, bytes, (const T*)from, (T*)to, offsets, offsets + 1, (int64_t)segments, stream);
#else
    return 1;
#endif
}

extern "C" int cub_scan_of(int what, int which, uint64_t scratch, uint64_t* bytes, uint64_t from, uint64_t to, uint64_t n, uint64_t beside, uint64_t segments, uint64_t cu) {
    void* memory = (void*)scratch;
    auto stream = (cudaStream_t)cu;
    size_t size = *bytes;
    int status = 1;
    switch (which) {
        case 0: status = sum_of<int8_t>(what, memory, size, from, to, n, beside, segments, stream); break;
        case 1: status = sum_of<int16_t>(what, memory, size, from, to, n, beside, segments, stream); break;
        case 2: status = sum_of<__half>(what, memory, size, from, to, n, beside, segments, stream); break;
        case 3: status = sum_of<__nv_bfloat16>(what, memory, size, from, to, n, beside, segments, stream); break;
        case 4: status = sum_of<int32_t>(what, memory, size, from, to, n, beside, segments, stream); break;
        case 5: status = sum_of<float>(what, memory, size, from, to, n, beside, segments, stream); break;
        case 6: status = sum_of<int64_t>(what, memory, size, from, to, n, beside, segments, stream); break;
        case 7: status = sum_of<double>(what, memory, size, from, to, n, beside, segments, stream); break;
    }
    *bytes = size;
    return status;
}
