// Sums of global memory to which all thread blocks add, in any order; beside device.cuh, which most kernels need and this few.
// The CPU shim provides the same functions.

// Adds; gives what was there before.
KOGGE_DEVICE u64 add_to(u64* sum, u64 value) {
    u64 before;
    asm volatile("atom.relaxed.gpu.global.add.u64 %0, [%1], %2;" : "=l"(before) : "l"(sum), "l"(value) : "memory");
    return before;
}
// What is there, and 0 in its place.
KOGGE_DEVICE u64 take_sum(u64* sum) {
    u64 there;
    asm volatile("atom.relaxed.gpu.global.exch.b64 %0, [%1], 0;" : "=l"(there) : "l"(sum) : "memory");
    return there;
}
// Whether this is the last of so many calls, which then sees what the threads of all others have added before; the count begins anew.
KOGGE_DEVICE bool comes_last(u32* count, u32 calls) {
    u32 before;
    asm volatile("atom.acq_rel.gpu.global.inc.u32 %0, [%1], %2;" : "=r"(before) : "l"(count), "r"(calls - 1) : "memory");
    return before == calls - 1;
}
