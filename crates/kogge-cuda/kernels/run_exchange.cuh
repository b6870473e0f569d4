// What blocks tell each other about a run that is longer than a window: the totals of its segments, of its
// tiles and of its blocks of tiles, and the running fold of its blocks.
//
// Each has a slot, at the place of its start divided by its length; whole segments of one run lie a length
// apart at least, and so do tiles and blocks, so no two share a slot. A thread block waits for blocks of
// lower index only. The fold of the blocks before is taken from the nearest one that is known: a left fold
// has the same bits wherever it is taken up.

template <class S>
struct RunSlots {
    typedef typename S::Op::Element A;
    typedef typename S::Input Input;
    static constexpr u64 SEGMENT = Order<Input>::SEGMENT, TILE = Order<Input>::TILE, BLOCK = TILE * TILES_PER_BLOCK;
    Workspace* workspace;
    u64 epoch, tiles, blocks, folds, end;  // where the slots of each kind begin, and end

    __device__ __forceinline__ RunSlots(Workspace* workspace, u64 length, u64 epoch) : workspace(workspace), epoch(epoch) {
        tiles = length / SEGMENT + 1;
        blocks = tiles + length / TILE + 1;
        folds = blocks + length / BLOCK + 1;
        end = folds + length / BLOCK + 1;
    }
    __device__ __forceinline__ u64 of_segment(u64 start) const { return start / SEGMENT; }
    __device__ __forceinline__ u64 of_tile(u64 start) const { return tiles + start / TILE; }
    __device__ __forceinline__ u64 of_block(u64 start) const { return blocks + start / BLOCK; }
    __device__ __forceinline__ u64 of_fold(u64 start) const { return folds + start / BLOCK; }
    __device__ __forceinline__ void publish(u64 slot, const A& value) const {
        Slot<A>::publish(workspace, slot, value, epoch);
    }
    // Whether a slot holds a value, which is then in `value`.
    __device__ __forceinline__ bool peek(u64 slot, A& value) const {
        return Slot<A>::peek(workspace, slot, value, epoch);
    }
    __device__ __forceinline__ A await(u64 slot) const {
        A value;
        while (!peek(slot, value)) {
        }
        return value;
    }

    // The nearest blocks before, as a lane sees them.
    struct Blocks {
        A fold, total;
        bool folded, known;
    };
    // What is known of a run's first `count` blocks.
    __device__ __forceinline__ Blocks look(u64 run, u64 count, u32 lane) const {
        u64 block = run + (count - 1 - (lane < count ? lane : 0)) * BLOCK;
        Blocks seen;
        seen.folded = peek(of_fold(block), seen.fold) && lane < count;
        seen.known = peek(of_block(block), seen.total);
        return seen;
    }
    // Their fold and what precedes them, from what was seen of them. All lanes of the warp.
    __device__ __forceinline__ A fold_of_blocks(Blocks seen, u64 run, u64 count, u32 lane) const {
        u32 nearest;
        while (true) {
            u32 folded = lanes_where(seen.folded), known = lanes_where(seen.known);
            nearest = folded ? lowest_bit(folded) : 0;
            if (folded != 0 && (~known & (1u << nearest) - 1) == 0) break;
            seen = look(run, count, lane);
        }
        A before = value_of_lane(seen.fold, nearest);
        for (u32 i = nearest; i > 0; i--) before = S::Op::combine(before, value_of_lane(seen.total, i - 1));
        return before;
    }
};
