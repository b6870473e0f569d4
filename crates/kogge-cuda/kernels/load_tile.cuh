// A copy from global memory into a stage, by one warp: what fills whole 16 bytes by the copy engine (below sm_90 by
// asynchronous loads), the few bytes at either end by the lanes.

// Begins it, to a place as far from a multiple of 16 bytes as they are in memory; gives the bytes that the copy engine brings.
template <class S>
KOGGE_DEVICE u32 begin_load(u8* to, const u8* from, u32 bytes, Barrier* full, u32 lane) {
    u32 head = (u32)(-(u64)from % 16);
    if (head > bytes) head = bytes;
    u32 middle = (bytes - head) / 16 * 16, tail = bytes - head - middle;
    if (lane < head) to[lane] = from[lane];
    if (lane < tail) to[head + middle + lane] = from[head + middle + lane];
    if constexpr (S::BULK) {
        if (head + tail > 0) bulk_fence();
        sync_warp();
        if (lane == 0 && middle > 0) bulk_load(to + head, from + head, middle, full);
        return middle;
    } else {
        for (u32 at = head + lane * 16; at < head + middle; at += LANES * 16) async_load(to + at, from + at);
        return 0;
    }
}
// Says that all of it is under way: the barrier waits for what has yet to come.
template <class S>
KOGGE_DEVICE void end_load(Barrier* full, u32 bytes, u32 lane) {
    if constexpr (!S::BULK) {
        async_arrive(full);
        arrive_together(full, lane);
    } else {
        sync_warp();
        if (lane == 0) barrier_arrive_expect(full, bytes);
        else if (lane < ARRIVALS) barrier_arrive(full);
    }
}
// How often that arrives.
template <class S>
constexpr u32 load_arrivals() { return S::BULK ? ARRIVALS : LANES + ARRIVALS; }
