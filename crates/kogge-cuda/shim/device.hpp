// The shim: what kernels/device.cuh offers on a GPU, on CPU threads. What threads do together is the
// runtime's; what one thread does alone stands here, where a race detector sees it.
#pragma once
#include "runtime.hpp"

#include <bit>
#include <cstring>

#define KOGGE_DEVICE static inline
#define __device__
#define __forceinline__ inline

struct alignas(16) Quad {
    u32 word[4];
};

KOGGE_DEVICE u32 thread_index() { return shim::thread_index(); }
KOGGE_DEVICE u32 block_index() { return shim::block_index(); }
KOGGE_DEVICE u32 block_count() { return shim::block_count(); }
KOGGE_DEVICE u8* shared_memory() { return shim::shared_memory(); }

KOGGE_DEVICE void sync_block() { shim::sync_block(); }
KOGGE_DEVICE void sync_warp() { shim::sync_warp(); }
KOGGE_DEVICE void sync_group(u32 id, u32 threads) { shim::sync_group(id, threads); }
KOGGE_DEVICE u32 shuffle(u32 word, u32 lane) { return shim::shuffle(word, lane); }
KOGGE_DEVICE u32 shuffle_up(u32 word, u32 lanes) {
    u32 lane = thread_index() % 32;
    return shim::shuffle(word, lane < lanes ? lane : lane - lanes);
}
KOGGE_DEVICE u32 shuffle_xor(u32 word, u32 mask) { return shim::shuffle(word, (thread_index() % 32) ^ mask); }
KOGGE_DEVICE bool all_lanes(bool predicate) { return shim::all_lanes(predicate); }
KOGGE_DEVICE u32 lanes_where(bool predicate) { return shim::ballot(predicate); }

KOGGE_DEVICE Quad load_shared(const void* from) {
    Quad q;
    std::memcpy(&q, __builtin_assume_aligned(from, 16), 16);
    return q;
}

KOGGE_DEVICE void barrier_init(Barrier* barrier, u32 arrivals) { *barrier = shim::barrier_word(arrivals); }
KOGGE_DEVICE void barrier_arrive(Barrier* barrier) { shim::barrier_arrive(barrier, 0); }
KOGGE_DEVICE void barrier_wait(Barrier* barrier, u32 parity) { shim::barrier_wait(barrier, parity); }
KOGGE_DEVICE void barrier_init_fence() { shim::barrier_init_fence(); }
KOGGE_DEVICE void barrier_arrive_expect(Barrier* barrier, u32 bytes) { shim::barrier_arrive(barrier, bytes); }
KOGGE_DEVICE void bulk_load(void* to, const void* from, u32 bytes, Barrier* barrier) {
    shim::copy_later(to, from, bytes, barrier);
}
KOGGE_DEVICE void bulk_fence() {}
KOGGE_DEVICE void async_load(void* to, const void* from) { shim::copy_later(to, from, 16, nullptr); }
KOGGE_DEVICE void async_load_word(void* to, const void* from) { shim::copy_later(to, from, 4, nullptr); }
KOGGE_DEVICE void async_arrive(Barrier* barrier) { shim::arrive_later(barrier); }

// kernels/launches.cuh: here each launch begins when the one before has ended.
KOGGE_DEVICE void launch_dependents() {}
KOGGE_DEVICE void await_launches() {}

// kernels/bulk_store.cuh
KOGGE_DEVICE void bulk_store(void* to, const void* from, u32 bytes) { shim::store_later(to, from, bytes); }
KOGGE_DEVICE void await_bulk_stores() { shim::await_stores(); }
KOGGE_DEVICE void store_shared(void* to, const Quad& q) { std::memcpy(__builtin_assume_aligned(to, 16), &q, 16); }

// kernels/cluster.cuh
KOGGE_DEVICE void cluster_arrive() { shim::cluster_arrive(); }
KOGGE_DEVICE void cluster_wait() { shim::cluster_wait(); }
KOGGE_DEVICE void store_remote(u32* to, u32 block, u32 word, Barrier* barrier) {
    shim::store_remote(to, block, word, barrier);
}
KOGGE_DEVICE void arrive_remote(u32 block, Barrier* barrier) { shim::arrive_remote(block, barrier); }
KOGGE_DEVICE void barrier_wait_remote(Barrier* barrier, u32 parity) { shim::barrier_wait(barrier, parity); }

// kernels/draw.cuh
KOGGE_DEVICE u32 draw_number(u32* next) { return __atomic_fetch_add(next, 1, __ATOMIC_RELAXED); }
KOGGE_DEVICE u32 draw_number_of(u32* next, u32 count) {
    u32 number = __atomic_load_n(next, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(next, &number, number + 1 < count ? number + 1 : 0, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
    return number;
}
// kernels/tally.cuh
KOGGE_DEVICE u64 add_to(u64* sum, u64 value) { return __atomic_fetch_add(sum, value, __ATOMIC_RELAXED); }
KOGGE_DEVICE u64 take_sum(u64* sum) { return __atomic_exchange_n(sum, 0, __ATOMIC_RELAXED); }
KOGGE_DEVICE bool comes_last(u32* count, u32 calls) {
    bool last = __atomic_add_fetch(count, 1, __ATOMIC_ACQ_REL) == calls;
    if (last) __atomic_store_n(count, 0, __ATOMIC_RELAXED);
    return last;
}
// kernels/shared_bits.cuh
KOGGE_DEVICE void set_shared_bits(u32* word, u32 bits) { __atomic_fetch_or(word, bits, __ATOMIC_RELAXED); }

enum : u32 { CACHE_LINE = 128 };
KOGGE_DEVICE void prefetch(const void*) {}
KOGGE_DEVICE Quad load_quad(const void* from) { return load_shared(from); }
KOGGE_DEVICE void store_quad(void* to, Quad q) { std::memcpy(__builtin_assume_aligned(to, 16), &q, 16); }

KOGGE_DEVICE void store_slot(void* to, u64 low, u64 high) { shim::store_slot(to, low, high); }
KOGGE_DEVICE void load_slot(const void* from, u64& low, u64& high) { shim::load_slot(from, low, high); }
KOGGE_DEVICE u64 load_epoch(const u64* from) { return shim::load_word(from); }
KOGGE_DEVICE void store_epoch(u64* to, u64 epoch) { shim::store_word(to, epoch); }
KOGGE_DEVICE void set_bits(u32* word, u32 bits) { __atomic_fetch_or(word, bits, __ATOMIC_RELAXED); }

KOGGE_DEVICE u32 kept(u32 word) { return word; }
KOGGE_DEVICE u32 count_bits(u32 word) { return (u32)std::popcount(word); }
KOGGE_DEVICE u32 lowest_bit(u32 word) { return (u32)std::countr_zero(word); }
KOGGE_DEVICE u32 highest_bit(u32 word) { return 31 - (u32)std::countl_zero(word); }
KOGGE_DEVICE int add_bytes(u32 word, int accumulator) {
    for (int i = 0; i < 4; i++) accumulator += (signed char)(word >> 8 * i);
    return accumulator;
}
KOGGE_DEVICE int add_halfwords(u32 word, int accumulator) { return accumulator + (short)word + (short)(word >> 16); }
KOGGE_DEVICE u16 half_of_float(float value) {
    _Float16 half = (_Float16)value;
    u16 bits;
    std::memcpy(&bits, &half, 2);
    return bits;
}
KOGGE_DEVICE float float_of_half(u16 bits) {
    _Float16 half;
    std::memcpy(&half, &bits, 2);
    return (float)half;
}
KOGGE_DEVICE u16 brain_of_float(float value) {
    u32 bits;
    std::memcpy(&bits, &value, 4);
    return (u16)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
KOGGE_DEVICE u32 halves_of_floats(float first, float second) {
    return (u32)half_of_float(second) << 16 | half_of_float(first);
}
KOGGE_DEVICE u32 brains_of_floats(float first, float second) {
    return (u32)brain_of_float(second) << 16 | brain_of_float(first);
}
