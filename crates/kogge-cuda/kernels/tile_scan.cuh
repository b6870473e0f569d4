// The scan for sequences that fit into a device's registers: one warp a segment, and a thread block for each
// tile or, where there are so few that most multiprocessors would have none, for a share of one.
//
// A lane holds its chunks of eight rows from the first instruction on, so the loads of the whole sequence
// are in flight at once. A warp works out its segment's total first, by the fewest shuffles, and the
// Kogge–Stone values while the totals of others are on their way. A thread block waits for blocks of lower
// index only, so they need not all be resident.
//
// Blocks of a tile publish its total, in copies: hundreds of warps that read one line of the cache queue up
// for it. Blocks of a share publish the total of every segment, and are few: a block of the order at most.

enum : u32 { MOST_BLOCKS = 32 };

template <class S>
struct TileShared {
    typedef typename S::Op::Element A;
    static_assert(SEGMENTS_PER_TILE % S::SHARE == 0, "shares make up tiles");

    A segment[S::SHARE];   // the totals of ours
    A block[MOST_BLOCKS];  // of the tiles before, by blocks of the order; the last may be cut short
    Maybe<A> before;       // what precedes our share
    u64 epoch;             // of this call
};

// Whether a segment is all there, and its chunks lie at multiples of 16 bytes where they are whole quads.
template <class S>
KOGGE_DEVICE bool lies_whole(const Span<typename S::Input>& span, const u8* to, u32 first) {
    typedef typename S::Input Input;
    constexpr u32 E = Order<Input>::CHUNK;
    if (span.count < (first + CHUNKS_PER_SEGMENT) * E) return false;
    if (Chunk<typename S::Output, E>::BYTES % 16 == 0 && (u64)(to + (S::REVERSE ? span.count * sizeof(typename S::Output) : 0)) % 16 != 0) return false;
    return Chunk<Input, E>::BYTES % 16 != 0 || (u64)element_at<Input, S::REVERSE>(span, first, S::REVERSE ? E - 1 : 0) % 16 == 0;
}

// Asks for a segment that is going to be read row by row, so that its rows are waited for once.
template <class S>
KOGGE_DEVICE void prefetch_segment(const Span<typename S::Input>& span, u32 first, u32 lane) {
    typedef typename S::Input Input;
    u32 before = first * Order<Input>::CHUNK;
    if (span.count <= before) return;
    u32 count = span.count - before < Order<Input>::SEGMENT ? span.count - before : Order<Input>::SEGMENT;
    const u8* from = element_at<Input, S::REVERSE>(span, first, S::REVERSE ? count - 1 : 0);
    u32 bytes = count * (u32)sizeof(Input);
    for (u32 at = lane * CACHE_LINE; at < bytes; at += LANES * CACHE_LINE) prefetch(from + at);
    if (lane == 0) prefetch(from + bytes - 1);
}

// `before`, then the first `end` tiles. All threads of the block.
template <class S>
KOGGE_DEVICE Maybe<typename S::Op::Element> fold_tiles(TileShared<S>& shared, Workspace* workspace, u64 slots, Maybe<typename S::Op::Element> before, u32 end, u32 warp, u32 lane) {
    typedef typename S::Op Op;
    typedef typename Op::Element A;
    u32 blocks = (end + TILES_PER_BLOCK - 1) / TILES_PER_BLOCK;
#pragma unroll 1
    for (u32 b = warp; b < blocks; b += S::SHARE) {
        u32 first = b * TILES_PER_BLOCK, count = end - first < TILES_PER_BLOCK ? end - first : TILES_PER_BLOCK;
        A value = A();
        if (lane < count) value = Slot<A>::await(workspace, slots + first + lane, shared.epoch);
        sync_warp();
        value = kogge_stone<Op>(value, lane, count);
        if (lane == count - 1) shared.block[b] = value;
    }
    sync_block();
#pragma unroll 4
    for (u32 b = 0; b < blocks; b++) before = join<Op>(before, shared.block[b]);
    return before;
}

// `before`, then the first `end` segments, of one block of the order; a lane a tile. `TOTAL` says that the
// last tile is folded as a tile, though it may be cut short. All lanes of a warp.
template <class S, bool TOTAL>
KOGGE_DEVICE Maybe<typename S::Op::Element> fold_segments(Workspace* workspace, u64 epoch, Maybe<typename S::Op::Element> before, u32 end, u32 lane) {
    typedef typename S::Op Op;
    typedef typename Op::Element A;
    u32 first = lane * SEGMENTS_PER_TILE, tiles = (TOTAL ? end + SEGMENTS_PER_TILE - 1 : end) / SEGMENTS_PER_TILE;
    A segment[SEGMENTS_PER_TILE];
    bool fresh;
    do {
        // All loads first, and none under a condition: a test between them would wait for each in turn.
        fresh = true;
#pragma unroll
        for (u32 i = 0; i < SEGMENTS_PER_TILE; i++)
            fresh = Slot<A>::peek(workspace, first + i < end ? first + i : end - 1, segment[i], epoch) && fresh;
    } while (!all_lanes(fresh));
    A total = segment[0];
#pragma unroll
    for (u32 i = 1; i < SEGMENTS_PER_TILE; i++)
        total = choose(first + i < end, Op::combine(total, segment[i]), total);
    total = kogge_stone<Op>(total, lane, tiles);
    if (tiles > 0) before = join<Op>(before, value_of_lane(total, tiles - 1));
    if constexpr (!TOTAL) {
#pragma unroll
        for (u32 i = 0; i < SEGMENTS_PER_TILE; i++) {
            A next = value_of_lane(segment[i], tiles % LANES);
            if (tiles * SEGMENTS_PER_TILE + i < end) before = join<Op>(before, next);
        }
    }
    return before;
}

// What the blocks of a launch tell each other.
template <class S>
struct TileExchange {
    typedef typename S::Op Op;
    typedef typename Op::Element A;
    static constexpr bool WHOLE_TILES = S::SHARE == SEGMENTS_PER_TILE;
    TileShared<S>& shared;
    const Arguments<S>& arguments;
    u32 segments;  // of the sequence
    u32 warp, lane;

    // Publishes the totals of our segments, and puts them where all warps see them. All threads.
    __device__ __forceinline__ void publish(const Maybe<A>& total) {
        Workspace* workspace = arguments.workspace;
        bool alone = block_count() == 1;
        if (lane == 0) {
            u64 epoch = alone ? 0 : load_epoch(&workspace->epoch) + 1;
            if (warp == 0) shared.epoch = epoch;
            if (total.exists) {
                shared.segment[warp] = total.value;
                if (!WHOLE_TILES && !alone) Slot<A>::publish(workspace, block_index() * S::SHARE + warp, total.value, epoch);
            }
        }
        sync_block();
        if (WHOLE_TILES && warp == 0 && lane < S::COPIES && !alone) {
            u32 count = segments - block_index() * S::SHARE;
            A tile = shared.segment[0];
#pragma unroll
            for (u32 i = 1; i < S::SHARE; i++)
                if (i < count) tile = Op::combine(tile, shared.segment[i]);
            Slot<A>::publish(workspace, lane * block_count() + block_index(), tile, shared.epoch);
        }
    }

    // What precedes our share. All threads.
    __device__ __forceinline__ Maybe<A> before() {
        Maybe<A> before = init_of(arguments);
        if (block_index() > 0) before = fold<false>(before, block_index() * S::SHARE);
        // Every block has read the epoch: we have seen a slot of each.
        if (block_index() + 1 == block_count()) {
            if (block_index() > 0 && warp == 0 && lane == 0) store_epoch(&arguments.workspace->epoch, shared.epoch);
            if (arguments.total) put_total();
        }
        return before;
    }

  private:
    template <bool TOTAL>
    __device__ __forceinline__ Maybe<A> fold(Maybe<A> before, u32 end) {
        Workspace* workspace = arguments.workspace;
        if constexpr (WHOLE_TILES) {
            u64 copy = block_index() % S::COPIES * block_count();
            return fold_tiles<S>(shared, workspace, copy, before, (end + S::SHARE - 1) / S::SHARE, warp, lane);
        } else {
            if (warp == 0) {
                before = fold_segments<S, TOTAL>(workspace, shared.epoch, before, end, lane);
                if (lane == 0) shared.before = before;
            }
            sync_block();
            return shared.before;
        }
    }
    __device__ __forceinline__ void put_total() {
        Maybe<A> all = init_of(arguments);
        sync_block();
        if (block_count() > 1) {
            all = fold<true>(all, segments);
        } else if (segments > 0) {
            A tile = shared.segment[0];
            for (u32 i = 1; i < segments; i++) tile = Op::combine(tile, shared.segment[i]);
            all = join<Op>(all, tile);
        }
        sync_block();
        if (warp == 0 && lane == 0) store_total(arguments, all);
    }
};

template <class S>
KOGGE_DEVICE void tile_scan(const Arguments<S>& arguments) {
    typedef typename S::Op Op;
    typedef typename Op::Element A;
    typedef typename S::Input Input;
    typedef typename S::Output Output;
    constexpr u32 E = Order<Input>::CHUNK, SEGMENT = Order<Input>::SEGMENT, SHARE = S::SHARE * SEGMENT;
    TileShared<S>& shared = *(TileShared<S>*)shared_memory();
    u32 warp = thread_index() / LANES, lane = thread_index() % LANES, first = warp * CHUNKS_PER_SEGMENT;
    u64 start = (u64)block_index() * SHARE;
    Span<Input> span = span_of<Input, S::REVERSE>(arguments.input, arguments.length, start, SHARE);
    u8* to = span_of<Output, S::REVERSE>(arguments.output, arguments.length, start, SHARE).bytes;

    InputChunk<S> input[ROWS_PER_SEGMENT];
    bool whole = lies_whole<S>(span, to, first);
    if (whole) {
        read_segment<S, FromGlobal>(span, first + lane, input);
        whole = all_lanes(are_plain<A>(input));
    } else {
        prefetch_segment<S>(span, first, lane);
    }
    Maybe<A> total;
    if (whole) total = {whole_segment_total<S>(input, lane), true};
    else total = part_segment_total<S, FromGlobal>(span, first, lane);
    TileExchange<S> exchange = {shared, arguments, (u32)((arguments.length + SEGMENT - 1) / SEGMENT), warp, lane};
    exchange.publish(total);
    A value[ROWS_PER_SEGMENT];
    if (whole) {
#pragma unroll
        for (u32 j = 0; j < ROWS_PER_SEGMENT; j++) value[j] = S::Fold::template of<true>(input[j], E);
        kogge_stone_rows<Op>(value, lane);
    }
    Maybe<A> before = exchange.before();
    if (!total.exists) return;
#pragma unroll
    for (u32 i = 0; i < S::SHARE; i++)
        if (i < warp) before = join<Op>(before, shared.segment[i]);
    if (!whole) return scan_part_segment<S, FromGlobal>(span, to, first, before, lane);
#pragma unroll
    for (u32 j = 0; j < ROWS_PER_SEGMENT; j++) {
        OutputChunk<S> output;
        before = scan_row<S, true, true>(before, input[j], E, value[j], LANES, lane, output);
        write_chunk<Output, E, S::REVERSE, true>(to, span.count, first + j * LANES + lane, E, output);
    }
}
