// What precedes a tile: the left fold of init and the totals of whole blocks of 32 tiles, then the
// Kogge–Stone value of the tile before in its own block. One warp works it out from the slots of all
// tiles before, in one hop, keeping the fold from one call to the next.

template <class S>
struct LookAhead {
    typedef typename S::Op Op;
    typedef typename Op::Element A;
    // Blocks whose slots are asked for together.
    static constexpr u32 BATCH = sizeof(A) <= 8 ? 6 : sizeof(A) <= 16 ? 3 : 1;

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
#pragma unroll
            for (u32 k = 0; k < BATCH; k++) {
                u64 start = (first + k) * TILES_PER_BLOCK;
                u32 tiles = tile <= start ? 0 : tile - start < TILES_PER_BLOCK ? (u32)(tile - start) : TILES_PER_BLOCK;
                if (tiles > 0) {
                    prefix = join<Op>(blocks, value_of_lane(kogge_stone<Op>(value[k], lane, tiles), tiles - 1));
                    if (tiles < TILES_PER_BLOCK) return prefix;
                    blocks = prefix;
                    block++;
                }
            }
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
#pragma unroll
            for (u32 k = 0; k < BATCH; k++) {
                A seen;
                if (missing >> k & 1 &&
                    Slot<A>::peek(workspace, (block + k) * TILES_PER_BLOCK + lane, seen, epoch)) {
                    value[k] = seen;
                    missing &= ~(1u << k);
                }
            }
        }
    }
};
