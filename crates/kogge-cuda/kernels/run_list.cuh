// Long runs, which go in rounds (run_tiles.cuh) and not by windows: the list of their tiles, and what they leave of
// each window of the scan.
//
// A run is long if it is longer than a segment and its end is in another window than its start: else windows would have
// to wait for each other, for its values or its total. At most one such run ends in a window and at most one leaves it, so what is left of a window is
// an interval. Which runs are long follows from the windows' first and last heads, and the launch that sums windows
// tells both kernels that scan. Beside stretches (below) a run is long by its length alone, and by offsets the launch that
// marks heads tells (offset_lists.cuh).

// A tile of a long run.
struct alignas(16) RunTile {
    u64 start;   // its first position
    u64 number;  // its segment's number if there are offsets, else how many runs come before; if numbers are wanted
    u32 count;   // elements
    u32 index;   // which of its run's tiles it is
    u32 tiles;   // how many its run has
    u32 unused;
};

struct alignas(16) RunList {
    u64 count, unused;
    // The tiles follow.
    __device__ __forceinline__ RunTile& tile(u64 index) const { return ((RunTile*)(this + 1))[index]; }
};

// What is left of a window: the positions `from` to `to` of it, unless it has `nothing` to do. `passes` says that
// the run that enters it is long.
struct Cover {
    u32 from, to;
    enum : u32 { PASSES = 1u << 31, NOTHING = 1u << 30 };
    __device__ __forceinline__ bool passes() const { return from & PASSES; }
    __device__ __forceinline__ bool nothing() const { return from & NOTHING; }
    __device__ __forceinline__ u32 first() const { return from & (NOTHING - 1); }
};

// The other way (stretch_scan.cuh): runs that are longer than three quarters of a tile go in rounds, wherever they lie, and the others in
// stretches, of those that start in one window of the mask and follow one another. At most the last of these is long.
struct alignas(16) Stretch {
    u64 from, to;  // positions
    u64 run;       // by offsets, the number of the first one in the order of the scan
};
// The order in which they are taken. Long ones stand at the front of their list and come first, the others from the end on: so
// no warp is left with a long one.
struct StretchOrder {
    u32 count, longer, room;  // how many there are, how many of them are long, and for how many there is room
    __device__ __forceinline__ u32 place(u32 index) const { return index < longer ? index : room - 1 - (index - longer); }
};
struct alignas(16) StretchList {
    StretchOrder order;
    u32 next;  // how many have been taken
    // The stretches follow.
    __device__ __forceinline__ Stretch& stretch(u64 index) const { return ((Stretch*)(this + 1))[index]; }
};

// The places of both lists that are taken while they are made, and how many blocks have done so. All 0 between calls.
struct alignas(16) PlacesTaken {
    u64 tiles;
    u64 stretches;  // the longer ones, and the others in the upper half
    u32 blocks, unused;
};

// Which runs are long, and where that is told. The host writes this struct byte for byte: see src/segments/mod.rs.
struct LongRuns {
    RunList* list;  // null if all runs go by windows
    Cover* covers;  // by window of the mask that a window of the scan begins with
    u32* cut;       // a bit each: whether the window has a cover
    StretchList* stretches;  // null if what isn't long goes by windows, which these two are for
    PlacesTaken* taken;
    u64 most;       // tiles for which the list has room
    u32 window;     // positions of a window of the scan, or one if there are stretches,
    u32 marked;     // and of the mask
    u32 tile;       // elements of a tile
    u32 shorter;    // elements of a run that isn't long, at most
    u32 offsets;    // bytes of an offset, if there are any
    u32 reverse;
    u32 numbered;   // whether numbers are wanted,
    u32 totals;     // or totals

    __device__ __forceinline__ bool are_long(u64 start, u64 end) const {
        return end > start && end - start > shorter && start / window != end / window;
    }
    __device__ __forceinline__ u32 tiles_of(u64 start, u64 end) const { return (u32)((end - start + tile - 1) / tile); }
    // What is left of the window at `start` of a sequence, where the run before began at `entering` - 1, the first head
    // is at `head` and the last at `last` - 1, and the next window's first at `behind`; ends stand for heads.
    __device__ __forceinline__ Cover cover(u64 start, u64 length, u64 entering, u64 head, u64 last, u64 behind) const {
        bool passes = entering > 0 && are_long(entering - 1, head);
        u32 from = passes ? (u32)(head - start) : 0, to = length - start < window ? (u32)(length - start) : window;
        if (length - start >= window && last > 0 && are_long(last - 1, behind)) to = (u32)(last - 1 - start);
        // A total of a run that ended just before is this window's business.
        bool nothing = from >= to && (passes || start == 0 || !totals);
        return {from | (passes ? Cover::PASSES : 0u) | (nothing ? Cover::NOTHING : 0u), to};
    }
};

// How many tiles, and how many stretches, some windows have or those before them: 32 bits of each, of which there are
// fewer than windows have elements.
struct Listed {
    u32 tiles, longer, shorter;
};
// Of offsets that aren't in order there may be more tiles: then so many that nothing behind has room in the list.
KOGGE_DEVICE Listed join_listed(const Listed& left, const Listed& right) {
    u32 tiles = left.tiles + right.tiles;
    return {tiles < left.tiles ? ~0u : tiles, left.longer + right.longer, left.shorter + right.shorter};
}

// A run whose tiles are put in the list by more than one thread.
struct ListedRun {
    u64 at, start, end, number;
    u32 tiles;

    // Thread `thread` of so many puts its share of the tiles in the list: halves, that neighbours write side by side.
    __device__ __forceinline__ void put(const LongRuns& runs, u32 thread, u32 threads) const {
        for (u64 half = thread; half < 2 * (u64)tiles && at + half / 2 < runs.most; half += threads) {
            u32 i = (u32)(half / 2);
            u64 first = start + (u64)i * runs.tile;
            RunTile tile = {first, number, (u32)(end - first < runs.tile ? end - first : runs.tile), i, tiles, 0};
            Quad quads[2];
            memcpy(quads, &tile, sizeof(tile));
            store_quad((Quad*)&runs.list->tile(at) + half, half % 2 ? quads[1] : quads[0]);
        }
    }
};
