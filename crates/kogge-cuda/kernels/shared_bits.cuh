// Bits in shared memory that lanes set of a word together; beside device.cuh, which most kernels need and this few. The CPU
// shim provides the same function.

KOGGE_DEVICE void set_shared_bits(u32* word, u32 bits) {
    asm volatile("red.relaxed.cta.shared.or.b32 [%0], %1;" ::"r"(shared_address(word)), "r"(bits) : "memory");
}
