// How thread blocks put long runs and stretches in their lists (run_list.cuh): in any order, since what is listed is scanned by
// itself. So no block waits for another: each takes as many places as it needs behind those that are taken.

enum : u32 { LISTING_THREADS = 1024, LISTING_WARPS = LISTING_THREADS / LANES };
static_assert(LISTING_WARPS == LANES, "a lane looks at what a warp has");

// What a thread has to list: the tiles of a run, or none, and a stretch, which may be empty.
struct ToList {
    u64 start, end, number;  // of the run
    u32 tiles;
    Stretch stretch;

    // More than half a tile is long for a stretch.
    __device__ __forceinline__ Listed count(const LongRuns& runs) const {
        bool some = stretch.from < stretch.to, longer = some && stretch.to - stretch.from > runs.tile / 2;
        return {tiles, longer, some && !longer};
    }
};

struct ListingShared {
    Listed warp[LISTING_WARPS], before;
    ListedRun longest[LISTING_WARPS];  // a long run that may have more tiles than lanes can put in the list
};

// What the lanes of a warp have together.
KOGGE_DEVICE Listed all_of_lanes(Listed all) {
#pragma unroll
    for (u32 stride = 1; stride < LANES; stride *= 2) all = join_listed(all, value_of_partner(all, stride));
    return all;
}

// The places of what a thread has to list.
struct Listing {
    const LongRuns& runs;
    ListingShared& shared;
    const ToList& own;
    Listed at;

    // Takes places for all that the block's threads have; they are known after a `sync_block`.
    __device__ __forceinline__ Listing(const LongRuns& runs, ListingShared& shared, const ToList& own) : runs(runs), shared(shared), own(own) {
        u32 warp = thread_index() / LANES, lane = thread_index() % LANES;
        Listed through = own.count(runs), left;
#pragma unroll
        for (u32 stride = 1; stride < LANES; stride *= 2) {
            left = value_of_lane_below(through, stride);
            if (lane >= stride) through = join_listed(left, through);
        }
        left = value_of_lane_below(through, 1);
        if (lane == LANES - 1) shared.warp[warp] = through;
        sync_block();
        Listed of_warp = shared.warp[lane];
        at = all_of_lanes(lane < warp ? of_warp : Listed{0, 0, 0});
        if (lane > 0) at = join_listed(at, left);
        if (thread_index() == LISTING_THREADS - 1) take(join_listed(at, own.count(runs)));
    }

    // Puts it in the lists, of which that of stretches has room for so many; the last block to do so says how much there is.
    __device__ __forceinline__ void put(u64 room) {
        u32 warp = thread_index() / LANES, lane = thread_index() % LANES;
        at = join_listed(shared.before, at);
        Listed count = own.count(runs);
        if (count.longer) runs.stretches->stretch(at.longer) = own.stretch;
        if (count.shorter) runs.stretches->stretch(room - 1 - at.shorter) = own.stretch;
        // The lanes put one run after another in the list, the whole block what takes them too long: of a warp's runs one,
        // since of so many windows as it has lanes all others together have no more tiles than lanes.
        ListedRun run = {at.tiles, own.start, own.end, own.number, own.tiles};
        u32 many = lanes_where(own.tiles > LANES + 1), longest = many ? highest_bit(many) : LANES;
        for (u32 rest = lanes_where(own.tiles > 0 && lane != longest); rest; rest &= rest - 1)
            value_of_lane(run, lowest_bit(rest)).put(runs, lane, LANES);
        if (many ? lane == longest : lane == 0) shared.longest[warp] = many ? run : ListedRun{0, 0, 0, 0, 0};
        sync_block();
        for (u32 rest = lanes_where(shared.longest[lane].tiles > 0); rest; rest &= rest - 1)
            shared.longest[lowest_bit(rest)].put(runs, thread_index(), LISTING_THREADS);
        if (thread_index() == LISTING_THREADS - 1 && comes_last(&runs.taken->blocks, block_count())) end(room);
    }

  private:
    __device__ __forceinline__ void take(const Listed& all) {
        u64 tiles = add_to(&runs.taken->tiles, all.tiles), stretches = add_to(&runs.taken->stretches, all.longer | (u64)all.shorter << 32);
        shared.before = {tiles < ~0u ? (u32)tiles : ~0u, (u32)stretches, (u32)(stretches >> 32)};
    }
    __device__ __forceinline__ void end(u64 room) {
        u64 tiles = take_sum(&runs.taken->tiles), stretches = take_sum(&runs.taken->stretches);
        u32 longer = (u32)stretches, shorter = (u32)(stretches >> 32);
        runs.list->count = tiles < runs.most ? tiles : runs.most;
        if (runs.stretches) *runs.stretches = {{longer + shorter, longer, (u32)room}, 0};
    }
};
