// What the runtime tells ThreadSanitizer, if the program is built for it (KOGGE_TSAN): which thread runs,
// and who comes after whom. Otherwise nothing.
#pragma once
#ifdef KOGGE_TSAN
extern "C" {
void* __tsan_get_current_fiber();
void* __tsan_create_fiber(unsigned flags);
void __tsan_switch_to_fiber(void* fiber, unsigned flags);
void __tsan_acquire(void* address);
void __tsan_release(void* address);
void __tsan_read_range(void* address, unsigned long bytes);
void __tsan_write_range(void* address, unsigned long bytes);
unsigned long long __tsan_atomic64_load(const volatile unsigned long long* address, int order);
}

namespace order {
// A thread as the detector knows it.
typedef void* Thread;
inline Thread current() { return __tsan_get_current_fiber(); }
inline Thread create() { return __tsan_create_fiber(0); }
// What follows is done by `thread`, which doesn't come after what was done before.
inline void run_as(Thread thread) { __tsan_switch_to_fiber(thread, 1); }
// All before `release(x)` comes before all after a later `acquire(x)`.
inline void release(const void* at) { __tsan_release(const_cast<void*>(at)); }
inline void acquire(const void* at) { __tsan_acquire(const_cast<void*>(at)); }
inline void reads(const void* at, u32 bytes) { __tsan_read_range(const_cast<void*>(at), bytes); }
inline void writes(void* at, u32 bytes) { __tsan_write_range(at, bytes); }
// An access that races with plain ones only.
inline void touches(const u64* at) { __tsan_atomic64_load(at, 0); }
}  // namespace order
#else
namespace order {
typedef void* Thread;
inline Thread current() { return nullptr; }
inline Thread create() { return nullptr; }
inline void run_as(Thread) {}
inline void release(const void*) {}
inline void acquire(const void*) {}
inline void reads(const void*, u32) {}
inline void writes(void*, u32) {}
inline void touches(const u64*) {}
}  // namespace order
#endif
