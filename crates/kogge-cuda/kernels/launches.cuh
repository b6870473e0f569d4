// Launches that follow one another on a stream, of which one may begin before that before it has ended (`dependent` in
// src/launch.rs): its blocks are in place then, and wait. Beside device.cuh, which most kernels need and this few. The CPU
// shim provides the same functions.

// Lets the launch after this begin, once every block has called it.
KOGGE_DEVICE void launch_dependents() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}
// Waits until the launches before have ended and can be read. A launch that may begin early must call it, or those after
// it wouldn't wait for them.
//
// Stretches do so at their end, and before read what was written by the launch two before, for which the one between them has
// waited before it let them begin. What PTX says of the wait promises that to the launch that waits; that it holds for the next
// is relied on: the first has ended, and nothing since has brought those lines into a cache.
KOGGE_DEVICE void await_launches() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
