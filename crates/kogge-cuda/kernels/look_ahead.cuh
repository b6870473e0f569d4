// What precedes a tile: the left fold of init and the totals of whole blocks of 32 tiles, then the
// Kogge–Stone value of the tile before in its own block. One warp works it out from the slots of all
// tiles before, in one hop, keeping the fold from one call to the next.

template <class S>
struct NarrowLookAhead {
    typedef typename S::Op Op;
    typedef typename Op::Element A;
    // Blocks whose slots are asked for together.
    static constexpr u32 BATCH = 6;

    Maybe<A> blocks;  // init and all blocks before `block`
    u64 block;
    Workspace* workspace;
    u64 epoch;

    // What precedes `tile`; tiles rise from call to call. All lanes of the warp take part and get it.
    __device__ __forceinline__ Maybe<A> before(u64 tile, u32 lane) {
        Maybe<A> prefix = blocks;
        while (block * TILES_PER_BLOCK < tile) {
            A value[BATCH];
            wait(tile, lane, value);
            u64 first = block;
            u32 tiles[BATCH];
#pragma unroll
            for (u32 k = 0; k < BATCH; k++) {
                u64 start = (first + k) * TILES_PER_BLOCK;
                tiles[k] = tile <= start ? 0 : tile - start < TILES_PER_BLOCK ? (u32)(tile - start) : TILES_PER_BLOCK;
            }
            // The blocks of a batch step together, so that one's shuffles hide another's.
#pragma unroll
            for (u32 stride = 1; stride < LANES; stride *= 2) {
#pragma unroll
                for (u32 k = 0; k < BATCH; k++) {
                    A left = value_of_lane_below(value[k], stride);
                    value[k] = take_left<Op>(lane >= stride && lane < tiles[k], left, value[k]);
                }
            }
#pragma unroll
            for (u32 k = 0; k < BATCH; k++) {
                A total = value_of_lane(value[k], tiles[k] - 1);
                if (tiles[k] > 0) prefix = join<Op>(blocks, total);
                if (tiles[k] == TILES_PER_BLOCK) {
                    blocks = prefix;
                    block++;
                }
            }
            if (block < first + BATCH) break;
        }
        return prefix;
    }

  private:
    // The totals of the tiles from `block` on that come before `tile`, a block to a register.
    __device__ __forceinline__ void wait(u64 tile, u32 lane, A (&value)[BATCH]) {
        u32 missing = 0;
#pragma unroll
        for (u32 k = 0; k < BATCH; k++) {
            value[k] = A();
            if ((block + k) * TILES_PER_BLOCK + lane < tile) missing |= 1u << k;
        }
        while (!all_lanes(missing == 0)) {
            // All loads first, and none under a condition: a test between them would wait for each in turn.
            A seen[BATCH];
            bool fresh[BATCH];
#pragma unroll
            for (u32 k = 0; k < BATCH; k++) {
                u64 index = block * TILES_PER_BLOCK + (missing >> k & 1 ? k * TILES_PER_BLOCK + lane : 0);
                fresh[k] = Slot<A>::peek(workspace, index, seen[k], epoch);
            }
#pragma unroll
            for (u32 k = 0; k < BATCH; k++) {
                if (!(missing >> k & 1) || !fresh[k]) continue;
                value[k] = seen[k];
                missing &= ~(1u << k);
            }
        }
    }
};
