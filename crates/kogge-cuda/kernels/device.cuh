// What a kernel asks of the machine: every intrinsic, every line of PTX and every access that another
// thread can see stands here and nowhere else. The CPU shim provides the same functions (shim/device.hpp),
// so the other files are the same text on a GPU and under a race detector.
//
// Shared memory is one dynamic array; barriers are mbarriers of 8 bytes in it; times are phases.

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef u64 Barrier;

#define KOGGE_DEVICE static __device__ __forceinline__

struct alignas(16) Quad {
    u32 word[4];
};

// A text that begins with a definition of KOGGE_KEEP_LOADS has L2 give up other lines before those of bulk loads, one of
// KOGGE_KEEP_STORES before those of stores of 16 bytes: src/segments/kept.rs says which.
#define KOGGE_KEPT "{.reg .b64 kept; createpolicy.fractional.L2::evict_last.b64 kept, 1.0; "

// ---- where am I ----

KOGGE_DEVICE u32 thread_index() { return threadIdx.x; }
KOGGE_DEVICE u32 block_index() { return blockIdx.x; }
KOGGE_DEVICE u32 block_count() { return gridDim.x; }
KOGGE_DEVICE u8* shared_memory() {
    extern __shared__ __align__(128) u8 kogge_shared[];
    return kogge_shared;
}
KOGGE_DEVICE u32 shared_address(const void* pointer) { return (u32)__cvta_generic_to_shared(pointer); }

// ---- threads of a block, lanes of a warp ----

KOGGE_DEVICE void sync_block() { __syncthreads(); }
KOGGE_DEVICE void sync_warp() { __syncwarp(); }
// A barrier of `threads` threads of the block, whole warps; `id` from 1 to 15. The aligned instruction, since from it the
// assembler knows that lanes go together: without, kernels in rounds are up to a fifth longer, and slower. compute-sanitizer's
// synccheck takes it for a barrier of all warps (arrivals.cuh).
KOGGE_DEVICE void sync_group(u32 id, u32 threads) {
#ifdef KOGGE_EVERY_LANE_ARRIVES
    asm volatile("barrier.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
#else
    asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
#endif
}
KOGGE_DEVICE u32 shuffle(u32 word, u32 lane) { return __shfl_sync(~0u, word, lane); }
KOGGE_DEVICE u32 shuffle_up(u32 word, u32 lanes) { return __shfl_up_sync(~0u, word, lanes); }
KOGGE_DEVICE u32 shuffle_xor(u32 word, u32 mask) { return __shfl_xor_sync(~0u, word, mask); }
KOGGE_DEVICE bool all_lanes(bool predicate) { return __all_sync(~0u, predicate); }
// A bit for each lane that says yes.
KOGGE_DEVICE u32 lanes_where(bool predicate) { return __ballot_sync(~0u, predicate); }

// ---- shared memory ----

KOGGE_DEVICE Quad load_shared(const void* from) {
    Quad q;
    asm volatile("ld.shared.v4.u32 {%0,%1,%2,%3}, [%4];"
                 : "=r"(q.word[0]), "=r"(q.word[1]), "=r"(q.word[2]), "=r"(q.word[3])
                 : "r"(shared_address(from))
                 : "memory");
    return q;
}

// ---- barriers in shared memory ----

KOGGE_DEVICE void barrier_init(Barrier* barrier, u32 arrivals) {
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals) : "memory");
}
KOGGE_DEVICE void barrier_arrive(Barrier* barrier) {
    asm volatile("{.reg .b64 state; mbarrier.arrive.shared.b64 state, [%0];}" ::"r"(shared_address(barrier))
                 : "memory");
}
// Waits for the end of the phase of this parity. The caller is never two phases behind.
KOGGE_DEVICE void barrier_wait(Barrier* barrier, u32 parity) {
#if __CUDA_ARCH__ >= 900
    asm volatile(
        "{.reg .pred done;\n"
        "again: mbarrier.try_wait.parity.shared.b64 done, [%0], %1;\n"
        "@!done bra again;}" ::"r"(shared_address(barrier)),
        "r"(parity)
        : "memory");
#else
    asm volatile(
        "{.reg .pred done;\n"
        "again: mbarrier.test_wait.parity.shared.b64 done, [%0], %1;\n"
        "@!done bra again;}" ::"r"(shared_address(barrier)),
        "r"(parity)
        : "memory");
#endif
}
// Makes initialised barriers visible to the copy engine; a `sync_block` follows.
KOGGE_DEVICE void barrier_init_fence() {
#if __CUDA_ARCH__ >= 900
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
}

// ---- copies from global to shared memory that nobody waits for ----

// The bulk ones need sm_90: a kernel for an older machine never calls them.
// One arrival, and `bytes` that the phase waits for as well.
KOGGE_DEVICE void barrier_arrive_expect(Barrier* barrier, u32 bytes) {
    asm volatile("{.reg .b64 state; mbarrier.arrive.expect_tx.shared.b64 state, [%0], %1;}" ::"r"(
                     shared_address(barrier)),
                 "r"(bytes)
                 : "memory");
}
// `bytes`, `to` and `from` are multiples of 16.
KOGGE_DEVICE void bulk_load(void* to, const void* from, u32 bytes, Barrier* barrier) {
#ifdef KOGGE_KEEP_LOADS
    asm volatile(
        KOGGE_KEPT "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, [%3], kept;}" ::"r"(
            shared_address(to)),
        "l"(from), "r"(bytes), "r"(shared_address(barrier))
        : "memory");
#else
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
            shared_address(to)),
        "l"(from), "r"(bytes), "r"(shared_address(barrier))
        : "memory");
#endif
}
// Orders this thread's ordinary stores to shared memory before later bulk loads over them.
KOGGE_DEVICE void bulk_fence() {
#if __CUDA_ARCH__ >= 900
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}
// Sixteen bytes, by this thread.
KOGGE_DEVICE void async_load(void* to, const void* from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from) : "memory");
}
// Four bytes, by this thread.
KOGGE_DEVICE void async_load_word(void* to, const void* from) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(shared_address(to)), "l"(from) : "memory");
}
// One arrival, once this thread's asynchronous loads so far are done.
KOGGE_DEVICE void async_arrive(Barrier* barrier) {
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(shared_address(barrier)) : "memory");
}

// ---- global memory that one thread owns ----

enum : u32 { CACHE_LINE = 128 };
// Brings the line of the cache in which the byte lies.
KOGGE_DEVICE void prefetch(const void* from) { asm volatile("prefetch.global.L1 [%0];" ::"l"(from)); }

KOGGE_DEVICE Quad load_quad(const void* from) {
    Quad q;
    asm volatile("ld.global.v4.u32 {%0,%1,%2,%3}, [%4];"
                 : "=r"(q.word[0]), "=r"(q.word[1]), "=r"(q.word[2]), "=r"(q.word[3])
                 : "l"(from)
                 : "memory");
    return q;
}
// Streaming stores (`.cs`) were slower by a hundredth on an H200.
KOGGE_DEVICE void store_quad(void* to, Quad q) {
#ifdef KOGGE_KEEP_STORES
    asm volatile(KOGGE_KEPT "st.global.L2::cache_hint.v4.u32 [%0], {%1,%2,%3,%4}, kept;}" ::"l"(to), "r"(q.word[0]),
                 "r"(q.word[1]), "r"(q.word[2]), "r"(q.word[3])
                 : "memory");
#else
    asm volatile("st.global.v4.u32 [%0], {%1,%2,%3,%4};" ::"l"(to), "r"(q.word[0]), "r"(q.word[1]),
                 "r"(q.word[2]), "r"(q.word[3])
                 : "memory");
#endif
}

// ---- global memory that blocks share: 16 bytes are read and written as one ----

KOGGE_DEVICE void store_slot(void* to, u64 low, u64 high) {
    asm volatile("{.reg .b128 q; mov.b128 q, {%1,%2}; st.relaxed.gpu.global.b128 [%0], q;}" ::"l"(to), "l"(low),
                 "l"(high)
                 : "memory");
}
KOGGE_DEVICE void load_slot(const void* from, u64& low, u64& high) {
    asm volatile("{.reg .b128 q; ld.relaxed.gpu.global.b128 q, [%2]; mov.b128 {%0,%1}, q;}"
                 : "=l"(low), "=l"(high)
                 : "l"(from)
                 : "memory");
}
KOGGE_DEVICE u64 load_epoch(const u64* from) {
    u64 epoch;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(epoch) : "l"(from) : "memory");
    return epoch;
}
KOGGE_DEVICE void store_epoch(u64* to, u64 epoch) {
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(to), "l"(epoch) : "memory");
}

// Sets bits of a word of global memory that other threads set bits of.
KOGGE_DEVICE void set_bits(u32* word, u32 bits) {
    asm volatile("red.relaxed.gpu.global.or.b32 [%0], %1;" ::"l"(word), "r"(bits) : "memory");
}

// ---- arithmetic with its own instruction ----

// The same word, which the compiler keeps in a register rather than work it out anew in every turn.
KOGGE_DEVICE u32 kept(u32 word) {
    asm volatile("" : "+r"(word));
    return word;
}

KOGGE_DEVICE u32 count_bits(u32 word) { return __popc(word); }
// The index of a bit of a word that isn't 0.
KOGGE_DEVICE u32 lowest_bit(u32 word) { return __ffs(word) - 1; }
KOGGE_DEVICE u32 highest_bit(u32 word) { return 31 - __clz(word); }

// `accumulator` plus the sum of four bytes, or of two halfwords.
KOGGE_DEVICE int add_bytes(u32 word, int accumulator) { return __dp4a((int)word, 0x01010101, accumulator); }
KOGGE_DEVICE int add_halfwords(u32 word, int accumulator) {
    int sum;
    asm("dp2a.lo.s32.s32 %0, %1, %2, %3;" : "=r"(sum) : "r"(word), "r"(0x0101), "r"(accumulator));
    return sum;
}
// To nearest even; what becomes of a NaN is left open.
KOGGE_DEVICE u16 half_of_float(float value) {
    u16 half;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(value));
    return half;
}
KOGGE_DEVICE float float_of_half(u16 half) {
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(half));
    return value;
}
// Two at once, the first in the low half of the word.
KOGGE_DEVICE u32 halves_of_floats(float first, float second) {
    u32 word;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(second), "f"(first));
    return word;
}
KOGGE_DEVICE u32 brains_of_floats(float first, float second) {
    u32 word;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(second), "f"(first));
    return word;
}
KOGGE_DEVICE u16 brain_of_float(float value) {
    u16 brain;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(brain) : "f"(value));
    return brain;
}
