// Copies from shared to global memory by the copy engine, for sm_90; beside device.cuh, which most kernels need and this few. The
// CPU shim provides the same functions.

// Begins a copy of this thread's. `bytes`, `to` and `from` are multiples of 16; what other threads have put there, they and a
// `bulk_fence` of theirs must come before.
KOGGE_DEVICE void bulk_store(void* to, const void* from, u32 bytes) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(shared_address(from)), "r"(bytes) : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
// Waits until all that this thread's copies take from shared memory has been read: then it may be written over, and the block may end.
KOGGE_DEVICE void await_bulk_stores() { asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); }
// Sixteen bytes of shared memory, by this thread.
KOGGE_DEVICE void store_shared(void* to, const Quad& q) {
    asm volatile("st.shared.v4.u32 [%0], {%1,%2,%3,%4};" ::"r"(shared_address(to)), "r"(q.word[0]), "r"(q.word[1]), "r"(q.word[2]), "r"(q.word[3])
                 : "memory");
}
