// A copy from global memory into a stage, by one warp: what fills whole 16 bytes by the copy engine (below sm_90 by
// asynchronous loads), the few bytes at either end by the lanes.
template <class S>
KOGGE_DEVICE void load_tile(u8* stage, const u8* from, u32 bytes, Barrier* full, u32 lane) {
    u8* to = stage + (u64)from % 16;
    u32 head = (u32)(-(u64)from % 16);
    if (head > bytes) head = bytes;
    u32 middle = (bytes - head) / 16 * 16, tail = bytes - head - middle;
    if (lane < head) to[lane] = from[lane];
    if (lane < tail) to[head + middle + lane] = from[head + middle + lane];
    if constexpr (S::BULK) {
        if (head + tail > 0) bulk_fence();
        sync_warp();
        if (lane == 0) {
            barrier_arrive_expect(full, middle);
            if (middle > 0) bulk_load(to + head, from + head, middle, full);
        }
    } else {
        for (u32 at = head + lane * 16; at < head + middle; at += LANES * 16) async_load(to + at, from + at);
        async_arrive(full);
        sync_warp();
        if (lane == 0) barrier_arrive(full);
    }
}
