// What the shim's runtime offers device.hpp: threads of a block that wait for each other, barriers,
// copies that somebody else makes, words that blocks share.
//
// The runtime is a translation unit of its own and is never instrumented. So a race detector sees the
// kernel's accesses, and of the runtime only what it says: who comes after whom.
#pragma once
#include <cstdint>

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef u64 Barrier;

namespace shim {

// Runs `kernel(arguments)` in every thread of `blocks` blocks, in an order drawn from `seed`. So many blocks
// are a cluster, or all of them; and so many are resident at once, or all: then a block begins when another has ended, and
// those of lower index have begun.
void launch(u32 blocks, u32 threads, u32 shared_bytes, u32 seed, void (*kernel)(const void*), const void* arguments,
            u32 cluster = ~0u, u32 residents = ~0u);
// The same of blocks that need not all be resident: now and then one is at a time, and waits for ever if it waits for a later one.
inline void launch_many(u32 blocks, u32 threads, u32 shared_bytes, u32 seed, void (*kernel)(const void*), const void* arguments) {
    launch(blocks, threads, shared_bytes, seed, kernel, arguments, ~0u, seed % 3 ? blocks : 1);
}
// Ends the program: the kernel did what a GPU would punish.
[[noreturn]] void fail(const char* what);

u32 thread_index();
u32 block_index();
u32 block_count();
u8* shared_memory();

void sync_block();
void sync_warp();
void sync_group(u32 id, u32 threads);
// The word that another lane of the warp gives; whether all give a non-zero one; a bit for each that does.
// No order of memory.
u32 shuffle(u32 word, u32 from);
bool all_lanes(u32 word);
u32 ballot(u32 word);

u64 barrier_word(u32 arrivals);
void barrier_arrive(Barrier* barrier, u32 bytes);
void barrier_wait(Barrier* barrier, u32 parity);
// Barriers that this thread has initialised can be used by who has passed `cluster_wait`.
void barrier_init_fence();
// Bytes that will be copied at some later time; then the barrier, if there is one, awaits so many less.
void copy_later(void* to, const void* from, u32 bytes, Barrier* barrier);
// An arrival once this thread's copies so far are made.
void arrive_later(Barrier* barrier);
// Bytes of shared memory that will be read, and stored, at some later time; and a wait until all of this thread's are.
void store_later(void* to, const void* from, u32 bytes);
void await_stores();

// Every thread of a cluster passes both, once.
void cluster_arrive();
void cluster_wait();
// A word that will be written at some later time to where `to` is in another block of the cluster; then its barrier awaits
// so much less.
void store_remote(u32* to, u32 block, u32 word, Barrier* barrier);
// An arrival there at some later time.
void arrive_remote(u32 block, Barrier* barrier);

// Memory that blocks share, in whole words, without any order among them.
void store_slot(void* to, u64 low, u64 high);
void load_slot(const void* from, u64& low, u64& high);
u64 load_word(const u64* from);
void store_word(u64* to, u64 word);

}  // namespace shim
