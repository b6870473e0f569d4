// What a kernel whose thread blocks form clusters (sm_90 and newer) asks of the machine beside device.cuh. The blocks of a
// cluster run at the same time, and write into each other's shared memory. The CPU shim provides the same functions.

// Every thread of a cluster's blocks passes `cluster_arrive` once, and then `cluster_wait`: there, the barriers that any
// of them initialised before `barrier_init_fence` can be used.
KOGGE_DEVICE void cluster_arrive() { asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory"); }
KOGGE_DEVICE void cluster_wait() { asm volatile("barrier.cluster.wait.acquire;" ::: "memory"); }

// Writes a word to where `to` is in the shared memory of a block of the cluster, counted from its first, whose `barrier`
// then awaits four bytes less.
KOGGE_DEVICE void store_remote(u32* to, u32 block, u32 word, Barrier* barrier) {
    asm volatile(
        "{.reg .u32 place, told;\n"
        "mapa.shared::cluster.u32 place, %0, %2;\n"
        "mapa.shared::cluster.u32 told, %1, %2;\n"
        "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [place], %3, [told];}" ::"r"(shared_address(to)),
        "r"(shared_address(barrier)), "r"(block), "r"(word)
        : "memory");
}
// An arrival at the barrier of a block of the cluster, after what this thread has read and written.
KOGGE_DEVICE void arrive_remote(u32 block, Barrier* barrier) {
    asm volatile(
        "{.reg .u32 told;\n"
        "mapa.shared::cluster.u32 told, %0, %1;\n"
        "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [told];}" ::"r"(shared_address(barrier)),
        "r"(block)
        : "memory");
}
// As `barrier_wait`, for what other blocks write, and for their arrivals.
KOGGE_DEVICE void barrier_wait_remote(Barrier* barrier, u32 parity) {
    asm volatile(
        "{.reg .pred done;\n"
        "again: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], %1;\n"
        "@!done bra again;}" ::"r"(shared_address(barrier)),
        "r"(parity)
        : "memory");
}
