// The scan for sequences that fit into a device's registers: one thread block a tile, one warp a segment.
//
// A lane holds its chunks of eight rows from the first instruction on, so the loads of the whole sequence
// are in flight at once. A warp works out its segment's total first, by the fewest shuffles, and the
// Kogge–Stone values while the totals of others are on their way. A thread block waits for blocks of lower
// index only, so they need not all be resident.
//
// A tile's total is published in copies: hundreds of warps that read one line of the cache queue up for it.

enum : u32 { TILE_THREADS = LANES * SEGMENTS_PER_TILE, MOST_BLOCKS = 32 };

template <class S>
struct TileShared {
    typedef typename S::Op::Element A;
    A segment[SEGMENTS_PER_TILE];  // the totals of ours
    A block[MOST_BLOCKS];          // of the tiles before, by blocks of the order; the last may be cut short
    u64 epoch;                     // of this call
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
    for (u32 at = lane * CACHE_LINE; at < bytes; at += (u32)LANES * CACHE_LINE) prefetch(from + at);
    if (lane == 0) prefetch(from + bytes - 1);
}

// `before`, then the first `end` tiles. All threads of the block.
template <class S>
KOGGE_DEVICE Maybe<typename S::Op::Element> fold_tiles(TileShared<S>& shared, Workspace* workspace, u64 slots, Maybe<typename S::Op::Element> before, u32 end, u32 warp, u32 lane) {
    typedef typename S::Op Op;
    typedef typename Op::Element A;
    u32 blocks = (end + TILES_PER_BLOCK - 1) / TILES_PER_BLOCK;
#pragma unroll 1
    for (u32 b = warp; b < blocks; b += SEGMENTS_PER_TILE) {
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

// What the blocks of a launch tell each other.
template <class S>
struct TileExchange {
    typedef typename S::Op Op;
    typedef typename Op::Element A;
    TileShared<S>& shared;
    const Arguments<S>& arguments;
    u32 warp, lane;
    u64 epoch;  // of the call before, in the first thread

    __device__ __forceinline__ TileExchange(TileShared<S>& shared, const Arguments<S>& arguments, u32 warp, u32 lane)
        : shared(shared), arguments(arguments), warp(warp), lane(lane), epoch(0) {
        if (thread_index() == 0 && block_count() > 1) epoch = load_epoch(&arguments.workspace->epoch);
    }
    // To be called when the elements have been asked for too.
    __device__ __forceinline__ void share_epoch() {
        if (thread_index() == 0) shared.epoch = epoch + 1;
    }

    // Publishes the total of our `segments` segments, each of which puts its own where all warps see it. All
    // threads.
    __device__ __forceinline__ void publish(const Maybe<A>& total, u32 segments) {
        if (lane == 0 && total.exists) shared.segment[warp] = total.value;
        sync_block();
        if (warp > 0 || lane >= S::COPIES || block_count() == 1) return;
        Slot<A>::publish(arguments.workspace, lane * block_count() + block_index(), tile_total(segments), shared.epoch);
    }

    // What precedes our tile. All threads.
    __device__ __forceinline__ Maybe<A> before(u32 segments) {
        Maybe<A> before = init_of(arguments);
        if (block_index() > 0) before = fold(before, block_index());
        if (block_index() + 1 == block_count()) {
            // Every block has read the epoch: we have seen its slot.
            if (block_index() > 0 && thread_index() == 0) store_epoch(&arguments.workspace->epoch, shared.epoch);
            if (arguments.total) put_total(segments);
        }
        return before;
    }

  private:
    __device__ __forceinline__ A tile_total(u32 segments) {
        A total = shared.segment[0];
#pragma unroll
        for (u32 i = 1; i < SEGMENTS_PER_TILE; i++)
            if (i < segments) total = Op::combine(total, shared.segment[i]);
        return total;
    }
    __device__ __forceinline__ Maybe<A> fold(const Maybe<A>& before, u32 end) {
        u64 copy = block_index() % S::COPIES * block_count();
        return fold_tiles<S>(shared, arguments.workspace, copy, before, end, warp, lane);
    }
    __device__ __forceinline__ void put_total(u32 segments) {
        Maybe<A> all = init_of(arguments);
        sync_block();
        if (block_count() > 1) all = fold(all, block_count());
        else if (segments > 0) all = join<Op>(all, tile_total(segments));
        if (thread_index() == 0) store_total(arguments, all);
    }
};

// A whole segment's values, from the Kogge–Stone values of its chunks.
template <class S, class O, class A>
KOGGE_DEVICE void write_segment(Maybe<A> before, const InputChunk<S> (&input)[ROWS_PER_SEGMENT], const A (&value)[ROWS_PER_SEGMENT],
                                u8* to, u32 count, u32 first, u32 lane) {
    constexpr u32 E = Order<typename S::Input>::CHUNK;
#pragma unroll
    for (u32 j = 0; j < ROWS_PER_SEGMENT; j++) {
        OutputChunk<S> output;
        before = scan_row<S, true, true, O>(before, input[j], E, value[j], LANES, lane, output);
        write_chunk<typename S::Output, E, S::REVERSE, true>(to, count, first + j * LANES + lane, E, output);
    }
}

template <class S>
KOGGE_DEVICE void tile_scan(const Arguments<S>& arguments) {
    typedef typename S::Op Op;
    typedef typename Op::Element A;
    typedef typename S::Input Input;
    typedef typename S::Output Output;
    constexpr u32 TILE = Order<Input>::TILE;
    TileShared<S>& shared = *(TileShared<S>*)shared_memory();
    u32 warp = thread_index() / LANES, lane = thread_index() % LANES, first = warp * CHUNKS_PER_SEGMENT;
    u64 start = (u64)block_index() * TILE;
    Span<Input> span = span_of<Input, S::REVERSE>(arguments.input, arguments.length, start, TILE);
    u8* to = span_of<Output, S::REVERSE>(arguments.output, arguments.length, start, TILE).bytes;

    u32 segments = (span.count + Order<Input>::SEGMENT - 1) / Order<Input>::SEGMENT;
    TileExchange<S> exchange(shared, arguments, warp, lane);
    InputChunk<S> input[ROWS_PER_SEGMENT];
    bool whole = lies_whole<S>(span, to, first);
    if (whole) {
        read_segment<S, FromGlobal>(span, first + lane, input);
    } else {
        prefetch_segment<S>(span, first, lane);
    }
    exchange.share_epoch();
    if (whole) whole = all_lanes(are_plain<A>(input));
    Maybe<A> total;
    if (whole) total = {plain_segment_total<S>(input, lane), true};
    else total = part_segment_total<S, FromGlobal>(span, first, lane);
    exchange.publish(total, segments);
    A value[ROWS_PER_SEGMENT];
    if (whole) {
#pragma unroll
        for (u32 j = 0; j < ROWS_PER_SEGMENT; j++) value[j] = fold_of<S, typename S::Plain>(input[j]);
        kogge_stone_rows<typename S::Plain>(value, lane);
    }
    Maybe<A> before = exchange.before(segments);
    if (!total.exists) return;
#pragma unroll
    for (u32 i = 0; i < SEGMENTS_PER_TILE; i++)
        if (i < warp) before = join<Op>(before, shared.segment[i]);
    if (!whole) return scan_part_segment<S, FromGlobal>(span, to, first, before, lane);
    if constexpr (has_plain<S>()) {
        A preceding[1] = {before.value};
        bool numbers = are_numbers<S, typename S::Plain>(value) && (!before.exists || are_numbers<S, typename S::Plain>(preceding));
        if (!all_lanes(numbers)) {
#pragma unroll
            for (u32 j = 0; j < ROWS_PER_SEGMENT; j++) value[j] = fold_of<S, Op>(input[j]);
            kogge_stone_rows<Op>(value, lane);
            return write_segment<S, Op>(before, input, value, to, span.count, first, lane);
        }
    }
    write_segment<S, typename S::Plain>(before, input, value, to, span.count, first, lane);
}
