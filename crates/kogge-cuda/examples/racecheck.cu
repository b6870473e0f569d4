// What compute-sanitizer's racecheck follows: warp 0 hands a word a lane to the last warp, which reads another lane's, by an
// mbarrier. There is no race in any of these kernels.
//
// nvcc -arch=sm_90 -lineinfo -o racecheck examples/racecheck.cu && compute-sanitizer --tool racecheck ./racecheck
#include <cstdio>

typedef unsigned u32;
typedef unsigned long long Barrier;

__device__ u32 shared_address(const void* pointer) { return (u32)__cvta_generic_to_shared(pointer); }
__device__ void barrier_init(Barrier* barrier, u32 arrivals) {
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals) : "memory");
}
__device__ void barrier_arrive(Barrier* barrier) {
    asm volatile("{.reg .b64 state; mbarrier.arrive.shared.b64 state, [%0];}" ::"r"(shared_address(barrier)) : "memory");
}
__device__ void barrier_wait(Barrier* barrier, u32 parity) {
    asm volatile("{.reg .pred done;\nagain: mbarrier.test_wait.parity.shared.b64 done, [%0], %1;\n@!done bra again;}" ::"r"(
                     shared_address(barrier)),
                 "r"(parity)
                 : "memory");
}

enum How { EACH_LANE, ONE_FOR_ITS_WARP, ONE_WARP_FOR_TWO };

template <How HOW>
__global__ void hand_over(u32* out) {
    __shared__ u32 word[64];
    __shared__ Barrier full;
    u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32, words = HOW == ONE_WARP_FOR_TWO ? 64 : 32;
    if (threadIdx.x == 0) barrier_init(&full, HOW == ONE_FOR_ITS_WARP ? 1 : 32);
    __syncthreads();
    if (warp == 2) {
        barrier_wait(&full, 0);
        for (u32 i = lane; i < words; i += 32) out[i] = word[words - 1 - i];
    } else if (warp * 32 < words) {
        word[threadIdx.x] = threadIdx.x;
        if (HOW == ONE_FOR_ITS_WARP) __syncwarp();
        if (HOW == ONE_WARP_FOR_TWO) asm volatile("barrier.sync 1, 64;" ::: "memory");
        if (HOW == ONE_FOR_ITS_WARP ? lane == 0 : warp == 0) barrier_arrive(&full);
    }
}

template <How HOW>
void run(const char* how, u32* out) {
    hand_over<HOW><<<1, 96>>>(out);
    printf("%s: %s\n", how, cudaGetErrorString(cudaDeviceSynchronize()));
    fflush(stdout);
}

int main() {
    u32* out;
    cudaMalloc(&out, 256);
    run<EACH_LANE>("each lane arrives", out);
    run<ONE_FOR_ITS_WARP>("one lane arrives, after __syncwarp", out);
    run<ONE_WARP_FOR_TWO>("one warp arrives for two, after barrier.sync", out);
}
