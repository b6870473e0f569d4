// The same of wide values, by fewer shuffles: of a whole block of tiles the total alone counts, so that lanes share
// the trees of several of them; only the block of the tile itself takes Kogge–Stone steps. For values of up to 8
// bytes this is slower, since more steps follow one another.

template <class S>
struct WideLookAhead {
    typedef typename S::Op Op;
    typedef typename Op::Element A;
    // Whole blocks whose slots are asked for together, beside those of the block that isn't whole.
    static constexpr u32 BATCH = sizeof(A) <= 16 ? 4 : 1;

    Maybe<A> blocks;  // init and all blocks before `block`
    u64 block;
    Workspace* workspace;
    u64 epoch;

    // What precedes `tile`; tiles rise from call to call. All lanes of the warp take part and get it.
    __device__ __forceinline__ Maybe<A> before(u64 tile, u32 lane) {
        u64 end = tile / TILES_PER_BLOCK;
        u32 rest = (u32)(tile % TILES_PER_BLOCK);
        A part;
        while (true) {
            A value[BATCH];
            u32 whole = end - block < BATCH ? (u32)(end - block) : BATCH;
            wait(whole, end * TILES_PER_BLOCK, rest, lane, value, part);
            A total = row_totals<Op>(value, lane);
#pragma unroll
            for (u32 k = 0; k < BATCH; k++)
                if (k < whole) blocks = join<Op>(blocks, value_of_lane(total, lane_of_row<BATCH>(k)));
            block += whole;
            if (block == end) break;
        }
        if (rest == 0) return blocks;
        return join<Op>(blocks, value_of_lane(kogge_stone<Op>(part, lane, rest), rest - 1));
    }

  private:
    // The totals of the tiles of `whole` blocks from `block` on, a block to a register, and of `rest` tiles from `tile` on.
    __device__ __forceinline__ void wait(u32 whole, u64 tile, u32 rest, u32 lane, A (&value)[BATCH], A& part) {
        u64 first = block * TILES_PER_BLOCK + lane;
        u32 missing = lane < rest ? 1u << BATCH : 0;
        part = A();
#pragma unroll
        for (u32 k = 0; k < BATCH; k++) {
            value[k] = A();
            if (k < whole) missing |= 1u << k;
        }
        while (!all_lanes(missing == 0)) {
            // All loads first, and none under a condition: a test between them would wait for each in turn.
            A seen[BATCH + 1];
            bool fresh[BATCH + 1];
#pragma unroll
            for (u32 k = 0; k <= BATCH; k++) {
                u64 wanted = k < BATCH ? first + k * TILES_PER_BLOCK : tile + lane;
                fresh[k] = Slot<A>::peek(workspace, missing >> k & 1 ? wanted : 0, seen[k], epoch);
            }
#pragma unroll
            for (u32 k = 0; k <= BATCH; k++) {
                if (!(missing >> k & 1) || !fresh[k]) continue;
                if (k < BATCH) value[k < BATCH ? k : 0] = seen[k];
                else part = seen[k];
                missing &= ~(1u << k);
            }
        }
    }
};

template <class S, bool WIDE>
struct LookAheadFor {
    typedef NarrowLookAhead<S> Type;
};
template <class S>
struct LookAheadFor<S, true> {
    typedef WideLookAhead<S> Type;
};
template <class S>
using LookAhead = typename LookAheadFor<S, is_wide<typename S::Op::Element>()>::Type;
