// Numbers that warps of all thread blocks draw, each of them once; beside device.cuh, which most kernels need and this
// few. The CPU shim provides the same function.

// The next number.
KOGGE_DEVICE u32 draw_number(u32* next) {
    u32 number;
    asm volatile("atom.relaxed.gpu.global.add.u32 %0, [%1], 1;" : "=r"(number) : "l"(next) : "memory");
    return number;
}
// The next of `count` numbers; the draw of the last begins them anew.
KOGGE_DEVICE u32 draw_number_of(u32* next, u32 count) {
    u32 number;
    asm volatile("atom.relaxed.gpu.global.inc.u32 %0, [%1], %2;" : "=r"(number) : "l"(next), "r"(count - 1) : "memory");
    return number;
}
