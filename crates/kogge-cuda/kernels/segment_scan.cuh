// The scan for short sequences: one thread block a segment, one warp a row, one chunk a lane.
//
// Every lane holds its chunk in registers from the first instruction on, so the loads of the whole
// sequence are in flight at once. The blocks exchange the totals of segments; each works out for itself
// what precedes it: a thread waits for one segment, and the first warp combines 256 of them, a block of the
// order. A thread block waits for blocks of lower index only, so they need not all be resident. A single
// segment needs no exchange at all.
//
// Every instruction runs once or twice, so what counts is how many have to be fetched: loops stay loops.

enum : u32 { SEGMENT_THREADS = LANES * ROWS_PER_SEGMENT };

template <class S>
struct SegmentShared {
    typedef typename S::Op::Element A;
    static_assert(SEGMENT_THREADS == SEGMENTS_PER_TILE * TILES_PER_BLOCK, "a thread waits for one segment");

    A row[ROWS_PER_SEGMENT];
    A segment[SEGMENT_THREADS];  // of the block that is being combined
    Maybe<A> before;             // what precedes ours
};

// `before`, then the `count` segments of a block of which `tiles` tiles are folded as tiles, the last maybe
// cut short; what follows them is folded segment by segment. One warp.
template <class S>
KOGGE_DEVICE Maybe<typename S::Op::Element> fold_block(const SegmentShared<S>& shared, Maybe<typename S::Op::Element> before, u32 count, u32 tiles, u32 lane) {
    typedef typename S::Op Op;
    typedef typename Op::Element A;
    u32 first = lane * SEGMENTS_PER_TILE, end = first + SEGMENTS_PER_TILE < count ? first + SEGMENTS_PER_TILE : count;
    A total = A();
    if (lane < tiles) {
        total = shared.segment[first];
#pragma unroll 1
        for (u32 i = first + 1; i < end; i++) total = Op::combine(total, shared.segment[i]);
    }
    sync_warp();
    if (tiles > 0) before = join<Op>(before, value_of_lane(kogge_stone<Op>(total, lane, tiles), tiles - 1));
#pragma unroll 1
    for (u32 i = tiles * SEGMENTS_PER_TILE; i < count; i++) before = join<Op>(before, shared.segment[i]);
    return before;
}

// `before`, then the first `end` segments. `TOTAL` says that their last tile is folded as a tile, though it
// may be cut short. All threads of the block; the first warp gets it.
template <class S, bool TOTAL>
KOGGE_DEVICE Maybe<typename S::Op::Element> fold_before(SegmentShared<S>& shared, Workspace* workspace, u64 epoch, Maybe<typename S::Op::Element> before, u32 end, u32 warp, u32 lane) {
    u32 index = thread_index();
#pragma unroll 1
    for (u32 first = 0; first < end; first += SEGMENT_THREADS) {
        u32 count = end - first < SEGMENT_THREADS ? end - first : SEGMENT_THREADS;
        if (index < count) shared.segment[index] = Slot<typename S::Op::Element>::await(workspace, first + index, epoch);
        sync_block();
        u32 tiles = (TOTAL ? count + SEGMENTS_PER_TILE - 1 : count) / SEGMENTS_PER_TILE;
        if (warp == 0) before = fold_block(shared, before, count, tiles, lane);
        if (first + SEGMENT_THREADS < end) sync_block();
    }
    return before;
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
    A value = A();
    if (WHOLE || count > 0) value = S::Fold::template of<false>(input, count);
    value = kogge_stone<Op>(value, lane, chunks);
    if (chunks > 0 && lane == chunks - 1) shared.row[warp] = value;
    sync_block();
    Maybe<A> total = {A(), false};
    if (index == 0 && rows > 0) {
        total = {shared.row[0], true};
        for (u32 j = 1; j < rows; j++) total = join<Op>(total, shared.row[j]);
        if (segments > 1) Slot<A>::publish(arguments.workspace, segment, total.value, epoch);
    }
    if (segments > 1) {
        Maybe<A> ours = fold_before<S, false>(shared, arguments.workspace, epoch, before, segment, warp, lane);
        if (index == 0) shared.before = ours;
        sync_block();
        before = shared.before;
    }
    if (segment + 1 >= segments) {
        // Every block has read the epoch: the exchange has seen its slot.
        if (segments > 1 && index == 0) store_epoch(&arguments.workspace->epoch, epoch);
        if (arguments.total) {
            Maybe<A> all = join<Op>(before, total);
            if (segments > 1)
                all = fold_before<S, true>(shared, arguments.workspace, epoch, init_of(arguments), (u32)segments, warp, lane);
            if (index == 0) store_total(arguments, all);
        }
    }
    if (chunks == 0) return;
    for (u32 j = 0; j < warp; j++) before = join<Op>(before, shared.row[j]);
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
