// The shim: what kernels/device.cuh offers on a GPU, on CPU threads.
//
// A resident thread block is one OS thread; a CUDA thread is a fiber of it, switched at every warp
// collective and every wait, in an order drawn from a seed. So blocks race for real, warps interleave at
// random, and a test of 100 blocks runs in a second.
#pragma once
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <random>
#include <sched.h>
#include <thread>
#include <vector>

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef u64 Barrier;

#define KOGGE_DEVICE static inline
#define __device__
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
// Thread-local state is read afresh after every switch, so never kept across one by inlining.
#define SHIM_APART __attribute__((noinline))

struct alignas(16) Quad {
    u32 word[4];
};

// Saves the callee-saved registers and the stack of one fiber, and takes up another's.
extern "C" void shim_switch(void** save, void* load);
#if defined(__x86_64__)
asm(R"(
.text
.globl shim_switch
shim_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
)");
#else
#error "the shim's fiber switch is written for x86-64"
#endif

namespace shim {

enum : u32 { WARP = 32 };
inline std::atomic<bool> failed{false};

inline void fail(const char* what) {
    std::fprintf(stderr, "shim: %s\n", what);
    std::fflush(stderr);
    std::_Exit(3);
}

struct Block;

// A CUDA thread.
struct Fiber {
    void* stack_pointer = nullptr;
    u32 thread = 0;
    bool done = false;
    std::function<bool()> ready;  // what it waits for; empty if nothing
    std::unique_ptr<u8[]> stack;
};

// Threads that wait for each other: a warp, a named barrier, a block.
struct Group {
    u32 arrived = 0;
    u64 generation = 0;
    std::atomic<u32> order{0};
};

// A copy that the engine has yet to make, or an arrival that follows earlier ones.
struct Copy {
    u8* to;
    const u8* from;
    u32 bytes;
    Barrier* barrier;
    bool arrive;
};

struct Warp {
    Group group;
    u32 exchange[2][WARP];
    u64 collectives[WARP] = {};
};

struct Block {
    u32 index, count, threads;
    std::vector<Fiber> fibers;
    std::vector<Warp> warps;
    Group whole, named[16];
    std::unique_ptr<u8[]> memory;
    u8* shared;
    std::deque<Copy> copies;
    std::atomic<u32> issued{0};
    void* scheduler_stack = nullptr;
    Fiber* running = nullptr;
    std::mt19937 random;
    bool progress = false;
    const std::function<void()>* kernel = nullptr;
};

inline thread_local Block* block = nullptr;

// `block` is read afresh after every switch, in its own function.
SHIM_APART inline Block& current() { return *block; }
SHIM_APART inline u32 lane() { return current().running->thread % WARP; }
SHIM_APART inline Warp& warp() { return current().warps[current().running->thread / WARP]; }

SHIM_APART inline void yield() {
    Block& b = current();
    Fiber* self = b.running;
    shim_switch(&self->stack_pointer, b.scheduler_stack);
}
SHIM_APART inline void wait_for(std::function<bool()> ready) {
    if (ready()) return;
    current().running->ready = std::move(ready);
    yield();
}
// Gives others a turn while polling something that other blocks write.
SHIM_APART inline void pause() {
    bool first = true;
    wait_for([first]() mutable { bool again = first; first = false; return !again; });
}

SHIM_APART inline void meet(Group& group, u32 threads) {
    u64 generation = group.generation;
    if (++group.arrived == threads) {
        group.arrived = 0;
        group.generation++;
        current().progress = true;
    } else {
        wait_for([&group, generation] { return group.generation != generation; });
    }
}
// Orders the memory of all threads of the group.
inline void meet_ordered(Group& group, u32 threads) {
    group.order.fetch_add(1, std::memory_order_acq_rel);
    meet(group, threads);
    group.order.load(std::memory_order_acquire);
}

// All lanes give a word; a lane then reads those of others. No order of memory.
SHIM_APART inline u32* exchange(u32 word) {
    Warp& w = warp();
    u32 l = lane();
    u32* buffer = w.exchange[w.collectives[l]++ % 2];
    buffer[l] = word;
    meet(w.group, WARP);
    return buffer;
}
SHIM_APART inline u32 exchanged(u32 word, u32 from) { return exchange(word)[from % WARP]; }

[[noreturn]] inline void fiber_main() {
    (*current().kernel)();
    Block& b = current();
    b.running->done = true;
    b.progress = true;
    void* unused;
    shim_switch(&unused, b.scheduler_stack);
    std::abort();
}

// The layout of `Barrier`: phase, bytes awaited, arrivals of a phase, arrivals awaited.
struct Phase {
    u8 phase;
    std::int32_t bytes;
    u16 arrivals, awaited;
};
inline Phase unpack(u64 word) {
    return {(u8)(word >> 56), (std::int32_t)((u32)(word >> 32) << 8) >> 8, (u16)(word >> 16), (u16)word};
}
inline u64 pack(Phase p) {
    return (u64)p.phase << 56 | (u64)((u32)p.bytes & 0xffffff) << 32 | (u64)p.arrivals << 16 | p.awaited;
}
inline void update(Barrier* barrier, u32 arrivals, std::int32_t bytes) {
    std::atomic_ref<u64> word(*barrier);
    u64 seen = word.load(std::memory_order_relaxed), next;
    do {
        Phase p = unpack(seen);
        if (p.awaited < arrivals) fail("more arrivals than a barrier awaits");
        p.awaited -= arrivals;
        p.bytes += bytes;
        if (p.awaited == 0 && p.bytes == 0) p = {(u8)(p.phase + 1), 0, p.arrivals, p.arrivals};
        next = pack(p);
    } while (!word.compare_exchange_weak(seen, next, std::memory_order_acq_rel));
    current().progress = true;
}

inline void run_copy() {
    Block& b = current();
    Copy copy = b.copies.front();
    b.copies.pop_front();
    b.issued.load(std::memory_order_acquire);
    if (copy.bytes) std::memcpy(copy.to, copy.from, copy.bytes);
    if (copy.barrier) update(copy.barrier, copy.arrive ? 1 : 0, copy.arrive ? 0 : -(std::int32_t)copy.bytes);
    b.progress = true;
}
inline void issue(Copy copy) {
    current().issued.fetch_add(1, std::memory_order_release);
    current().copies.push_back(copy);
}

SHIM_APART inline void schedule() {
    Block& b = current();
    u32 left = b.threads, idle = 0;
    std::vector<u32> order(b.threads);
    for (u32 i = 0; i < b.threads; i++) order[i] = i;
    while (left > 0) {
        b.progress = false;
        // Warps in random order, some left out; lanes in random order from a random one on.
        u32 start = b.random() % b.threads, step = b.random() % 2 ? 1 : b.threads - 1, skip = b.random();
        for (u32 n = 0, i = start; n < b.threads; n++, i = (i + step) % b.threads) {
            Fiber& f = b.fibers[i];
            if (f.done || (skip >> (i / WARP) % 29 & 1 && idle == 0)) continue;
            if (f.ready) {
                if (!f.ready()) continue;
                f.ready = nullptr;
            }
            b.progress = true;
            b.running = &f;
            shim_switch(&b.scheduler_stack, f.stack_pointer);
            if (f.done) left--;
        }
        while (!b.copies.empty() && b.random() % 4) run_copy();
        idle = b.progress ? 0 : idle + 1;
        if (idle) sched_yield();
        if (idle > 20000000) fail("deadlock: no thread of a block can go on");
    }
    while (!b.copies.empty()) run_copy();
}

inline void run_block(u32 index, u32 count, u32 threads, u32 shared_bytes, u32 seed, const std::function<void()>& kernel) {
    Block b;
    b.index = index, b.count = count, b.threads = threads, b.kernel = &kernel;
    b.random.seed(seed * 7919 + index);
    b.memory.reset(new u8[shared_bytes + 128]);
    std::memset(b.memory.get(), 0xa5, shared_bytes + 128);
    b.shared = b.memory.get() + (128 - (std::uintptr_t)b.memory.get() % 128) % 128;
    b.warps = std::vector<Warp>(threads / WARP);
    b.fibers = std::vector<Fiber>(threads);
    block = &b;
    constexpr u32 STACK = 64 << 10;
    for (u32 t = 0; t < threads; t++) {
        Fiber& f = b.fibers[t];
        f.thread = t;
        f.stack.reset(new u8[STACK]);
        void** top = (void**)(((std::uintptr_t)f.stack.get() + STACK) & ~(std::uintptr_t)15);
        *--top = nullptr;
        *--top = (void*)fiber_main;
        for (int i = 0; i < 6; i++) *--top = nullptr;
        f.stack_pointer = top;
    }
    schedule();
    block = nullptr;
}

// Runs a kernel: all blocks resident.
inline void launch(u32 blocks, u32 threads, u32 shared_bytes, u32 seed, const std::function<void()>& kernel) {
    std::vector<std::thread> residents;
    for (u32 i = 0; i < blocks; i++)
        residents.emplace_back([=, &kernel] { run_block(i, blocks, threads, shared_bytes, seed, kernel); });
    for (auto& resident : residents) resident.join();
}

}  // namespace shim

KOGGE_DEVICE u32 thread_index() { return shim::current().running->thread; }
KOGGE_DEVICE u32 block_index() { return shim::current().index; }
KOGGE_DEVICE u32 block_count() { return shim::current().count; }
KOGGE_DEVICE u8* shared_memory() { return shim::current().shared; }

KOGGE_DEVICE void sync_block() { shim::meet_ordered(shim::current().whole, shim::current().threads); }
KOGGE_DEVICE void sync_warp() { shim::meet_ordered(shim::warp().group, shim::WARP); }
KOGGE_DEVICE void sync_group(u32 id, u32 threads) { shim::meet_ordered(shim::current().named[id], threads); }
KOGGE_DEVICE u32 shuffle(u32 word, u32 lane) { return shim::exchanged(word, lane); }
KOGGE_DEVICE u32 shuffle_up(u32 word, u32 lanes) {
    u32 lane = shim::lane();
    return shim::exchanged(word, lane < lanes ? lane : lane - lanes);
}
KOGGE_DEVICE u32 shuffle_xor(u32 word, u32 mask) { return shim::exchanged(word, shim::lane() ^ mask); }
SHIM_APART inline bool all_lanes(bool predicate) {
    u32* votes = shim::exchange(predicate);
    bool all = true;
    for (u32 i = 0; i < shim::WARP; i++) all = all && votes[i];
    return all;
}

KOGGE_DEVICE Quad load_shared(const void* from) {
    Quad q;
    std::memcpy(&q, __builtin_assume_aligned(from, 16), 16);
    return q;
}

KOGGE_DEVICE void barrier_init(Barrier* barrier, u32 arrivals) {
    std::atomic_ref<u64>(*barrier).store(shim::pack({0, 0, (u16)arrivals, (u16)arrivals}), std::memory_order_relaxed);
}
KOGGE_DEVICE void barrier_arrive(Barrier* barrier) { shim::update(barrier, 1, 0); }
KOGGE_DEVICE void barrier_wait(Barrier* barrier, u32 parity) {
    auto passed = [barrier, parity] {
        u64 word = std::atomic_ref<u64>(*barrier).load(std::memory_order_acquire);
        return (shim::unpack(word).phase & 1) != parity;
    };
    shim::wait_for(passed);
    passed();  // once more in this thread's own name, to acquire
}
KOGGE_DEVICE void barrier_init_fence() {}
KOGGE_DEVICE void barrier_arrive_expect(Barrier* barrier, u32 bytes) { shim::update(barrier, 1, (std::int32_t)bytes); }
KOGGE_DEVICE void bulk_load(void* to, const void* from, u32 bytes, Barrier* barrier) {
    if (((std::uintptr_t)to | (std::uintptr_t)from | bytes) % 16) shim::fail("a bulk copy off its 16 bytes");
    shim::issue({(u8*)to, (const u8*)from, bytes, barrier, false});
}
KOGGE_DEVICE void bulk_fence() {}
KOGGE_DEVICE void async_load(void* to, const void* from) {
    if (((std::uintptr_t)to | (std::uintptr_t)from) % 16) shim::fail("an asynchronous load off its 16 bytes");
    shim::issue({(u8*)to, (const u8*)from, 16, nullptr, false});
}
KOGGE_DEVICE void async_arrive(Barrier* barrier) { shim::issue({nullptr, nullptr, 0, barrier, true}); }

KOGGE_DEVICE Quad load_quad(const void* from) { return load_shared(from); }
KOGGE_DEVICE void store_quad(void* to, Quad q) { std::memcpy(__builtin_assume_aligned(to, 16), &q, 16); }

// 16 bytes at once, by cmpxchg16b.
SHIM_APART inline void store_slot(void* to, u64 low, u64 high) {
    auto* slot = (unsigned __int128*)to;
    unsigned __int128 value = (unsigned __int128)high << 64 | low, seen = *slot, before;
    while ((before = __sync_val_compare_and_swap(slot, seen, value)) != seen) seen = before;
}
SHIM_APART inline void load_slot(const void* from, u64& low, u64& high) {
    shim::pause();
    unsigned __int128 value = __sync_val_compare_and_swap((unsigned __int128*)from, 0, 0);
    low = (u64)value, high = (u64)(value >> 64);
}
KOGGE_DEVICE u64 load_epoch(const u64* from) {
    return std::atomic_ref<u64>(*const_cast<u64*>(from)).load(std::memory_order_relaxed);
}
KOGGE_DEVICE void store_epoch(u64* to, u64 epoch) { std::atomic_ref<u64>(*to).store(epoch, std::memory_order_relaxed); }

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
