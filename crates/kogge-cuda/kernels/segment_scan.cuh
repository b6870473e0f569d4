// The scan for short sequences: one thread block a segment, one warp a row, one chunk a lane.
//
// Every lane holds its chunk in registers from the first instruction on, so the loads of the whole
// sequence are in flight at once. The blocks exchange the totals of segments; each works out for itself
// what precedes it, its warps sharing the blocks of 32 tiles. A block waits for blocks of lower index
// only, so they need not all be resident. A single segment needs no exchange at all.

template <class S>
struct SegmentShared {
    typedef typename S::Op::Element A;
    static constexpr u32 MAX_BLOCKS = 16;

    A row[ROWS_PER_SEGMENT];
    A segment[SEGMENTS_PER_TILE];  // those before ours in our tile
    A block[MAX_BLOCKS];           // totals of blocks; of ours, up to our tile
};
enum : u32 { SEGMENT_THREADS = LANES * ROWS_PER_SEGMENT };

// The value of a slot, waited for.
template <class A>
KOGGE_DEVICE A await_slot(Workspace* workspace, u64 index, u64 epoch) {
    A value;
    while (!Slot<A>::peek(workspace, index, value, epoch)) {
    }
    return value;
}

// The total of the first `tiles` tiles of a block. A lane waits for the segments of one tile.
template <class S>
KOGGE_DEVICE typename S::Op::Element block_total(Workspace* workspace, u64 epoch, u32 block, u32 tiles, u64 segments, u32 lane) {
    typedef typename S::Op Op;
    typedef typename Op::Element A;
    u64 first = ((u64)block * TILES_PER_BLOCK + lane) * SEGMENTS_PER_TILE;
    A total = A();
    if (lane < tiles) {
        A part[SEGMENTS_PER_TILE];
        u32 missing = first + SEGMENTS_PER_TILE <= segments ? 0xff : (1u << (u32)(segments - first)) - 1;
        u32 exist = missing;
        while (missing) {
            // All loads first, and none under a condition: a test between them would wait for each in turn.
            A seen[SEGMENTS_PER_TILE];
            bool fresh[SEGMENTS_PER_TILE];
#pragma unroll
            for (u32 i = 0; i < SEGMENTS_PER_TILE; i++)
                fresh[i] = Slot<A>::peek(workspace, first + (missing >> i & 1 ? i : 0), seen[i], epoch);
#pragma unroll
            for (u32 i = 0; i < SEGMENTS_PER_TILE; i++) {
                if (!(missing >> i & 1) || !fresh[i]) continue;
                part[i] = seen[i];
                missing &= ~(1u << i);
            }
        }
        total = part[0];
#pragma unroll
        for (u32 i = 1; i < SEGMENTS_PER_TILE; i++)
            if (exist >> i & 1) total = Op::combine(total, part[i]);
    }
    sync_warp();
    return value_of_lane(kogge_stone<Op>(total, lane, tiles), tiles - 1);
}

// What precedes `segment` of `segments`, all threads taking part: first the exchange, into shared memory.
template <class S>
KOGGE_DEVICE void exchange(SegmentShared<S>& shared, Workspace* workspace, u64 epoch, u32 segment, u64 segments, u32 warp, u32 lane) {
    u32 tile = segment / SEGMENTS_PER_TILE, own = tile / TILES_PER_BLOCK, inner = tile % TILES_PER_BLOCK;
    for (u32 b = warp; b < own + (inner > 0); b += ROWS_PER_SEGMENT) {
        auto total = block_total<S>(workspace, epoch, b, b < own ? TILES_PER_BLOCK : inner, segments, lane);
        if (lane == 0) shared.block[b] = total;
    }
    if (warp == ROWS_PER_SEGMENT - 1 && lane < segment % SEGMENTS_PER_TILE)
        shared.segment[lane] =
            await_slot<typename S::Op::Element>(workspace, tile * SEGMENTS_PER_TILE + lane, epoch);
}
// Then the fold.
template <class S>
KOGGE_DEVICE Maybe<typename S::Op::Element> fold_before(const SegmentShared<S>& shared, Maybe<typename S::Op::Element> before, u32 segment) {
    typedef typename S::Op Op;
    u32 tile = segment / SEGMENTS_PER_TILE, own = tile / TILES_PER_BLOCK, inner = tile % TILES_PER_BLOCK;
    for (u32 b = 0; b < own + (inner > 0); b++) before = join<Op>(before, shared.block[b]);
#pragma unroll
    for (u32 i = 0; i < SEGMENTS_PER_TILE - 1; i++)
        if (i < segment % SEGMENTS_PER_TILE) before = join<Op>(before, shared.segment[i]);
    return before;
}

// The total of all: once more from the slots, since it is folded by tiles and blocks alone. One warp.
template <class S>
KOGGE_DEVICE Maybe<typename S::Op::Element> fold_all(Workspace* workspace, u64 epoch, Maybe<typename S::Op::Element> total, u64 segments, u32 lane) {
    u32 tiles = (u32)((segments + SEGMENTS_PER_TILE - 1) / SEGMENTS_PER_TILE);
    for (u32 b = 0; b * TILES_PER_BLOCK < tiles; b++) {
        u32 left = tiles - b * TILES_PER_BLOCK;
        u32 here = left < TILES_PER_BLOCK ? left : TILES_PER_BLOCK;
        total = join<typename S::Op>(total, block_total<S>(workspace, epoch, b, here, segments, lane));
    }
    return total;
}

template <class S, bool WHOLE>
KOGGE_DEVICE void scan_one_segment(SegmentShared<S>& shared, const Arguments<S>& arguments, const Span<typename S::Input>& span, u8* to, u64 segments) {
    typedef typename S::Op Op;
    typedef typename Op::Element A;
    typedef typename S::Input Input;
    constexpr u32 E = Order<Input>::CHUNK;
    u32 warp = thread_index() / LANES, lane = thread_index() % LANES, index = thread_index();
    u32 segment = block_index();
    u64 epoch = segments > 1 ? load_epoch(&arguments.workspace->epoch) + 1 : 0;
    Maybe<A> before = init_of(arguments);
    u32 chunks = WHOLE ? LANES : chunks_from(span, warp * LANES), count = WHOLE ? E : elements_in(span, index);
    u32 rows = WHOLE ? ROWS_PER_SEGMENT : (span.count + E * LANES - 1) / (E * LANES);

    InputChunk<S> input = read_chunk<Input, S::REVERSE, WHOLE, FromGlobal>(span, index);
    if (segments > 1) Slot<A>::prefetch(arguments.workspace, index, segment, SEGMENT_THREADS);
    A value = A();
    if (WHOLE || count > 0) value = S::Fold::template of<false>(input, count);
    value = kogge_stone<Op>(value, lane, chunks);
    if (chunks > 0 && lane == chunks - 1) shared.row[warp] = value;
    sync_block();
    Maybe<A> total = {A(), false};
    if (index == 0 && rows > 0) {
        total = {shared.row[0], true};
#pragma unroll
        for (u32 j = 1; j < ROWS_PER_SEGMENT; j++)
            if (j < rows) total = join<Op>(total, shared.row[j]);
        if (segments > 1) Slot<A>::publish(arguments.workspace, segment, total.value, epoch);
    }
    if (segments > 1) {
        sync_warp();
        exchange<S>(shared, arguments.workspace, epoch, segment, segments, warp, lane);
        sync_block();
    }
    if (segment + 1 >= segments) {
        // Every block has read the epoch: the exchange has seen its slot.
        if (segments > 1 && index == 0) store_epoch(&arguments.workspace->epoch, epoch);
        if (arguments.total && segments <= 1 && index == 0) store_total(arguments, join<Op>(before, total));
        if (arguments.total && segments > 1 && warp == 0) {
            Maybe<A> all = fold_all<S>(arguments.workspace, epoch, before, segments, lane);
            if (lane == 0) store_total(arguments, all);
        }
    }
    if (chunks == 0) return;
    before = fold_before<S>(shared, before, segment);
#pragma unroll
    for (u32 j = 0; j < ROWS_PER_SEGMENT - 1; j++)
        if (j < warp) before = join<Op>(before, shared.row[j]);
    OutputChunk<S> output;
    scan_row<S, WHOLE, false>(before, input, count, value, chunks, lane, output);
    write_chunk<typename S::Output, E, S::REVERSE, WHOLE>(to, span.count, index, count, output);
}

template <class S>
KOGGE_DEVICE void segment_scan(const Arguments<S>& arguments) {
    typedef typename S::Input Input;
    typedef typename S::Output Output;
    constexpr u32 SEGMENT = Order<Input>::SEGMENT;
    SegmentShared<S>& shared = *(SegmentShared<S>*)shared_memory();
    u64 segments = (arguments.length + SEGMENT - 1) / SEGMENT, start = (u64)block_index() * SEGMENT;
    Span<Input> span = span_of<Input, S::REVERSE>(arguments.input, arguments.length, start, SEGMENT);
    u8* to = span_of<Output, S::REVERSE>(arguments.output, arguments.length, start, SEGMENT).bytes;
    if (is_whole(span, SEGMENT) && (u64)to % 16 == 0)
        scan_one_segment<S, true>(shared, arguments, span, to, segments);
    else
        scan_one_segment<S, false>(shared, arguments, span, to, segments);
}
