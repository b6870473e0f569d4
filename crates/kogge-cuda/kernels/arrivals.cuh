// How warps arrive at a barrier: their lanes meet, and one of them arrives for all.
//
// compute-sanitizer's racecheck doesn't follow an order that leads from one thread to another by `__syncwarp`, or a barrier
// of some warps, and on by an arrival. For its sake a text that begins with a definition of KOGGE_EVERY_LANE_ARRIVES has all
// of them arrive; and for synccheck's, other barriers of some warps.

#ifdef KOGGE_EVERY_LANE_ARRIVES
constexpr bool EVERY_LANE_ARRIVES = true;
#else
constexpr bool EVERY_LANE_ARRIVES = false;
#endif
// How often a warp arrives, and warps that have met.
constexpr u32 ARRIVALS = EVERY_LANE_ARRIVES ? LANES : 1;
constexpr u32 arrivals_of(u32 warps) { return EVERY_LANE_ARRIVES ? warps * LANES : 1; }

// All lanes of a warp.
KOGGE_DEVICE void arrive_together(Barrier* barrier, u32 lane) {
    sync_warp();
    if (lane < ARRIVALS) barrier_arrive(barrier);
}
// All lanes of warps that have met; `one` of them for all.
KOGGE_DEVICE void arrive_for_all(Barrier* barrier, bool one) {
    if (EVERY_LANE_ARRIVES || one) barrier_arrive(barrier);
}
