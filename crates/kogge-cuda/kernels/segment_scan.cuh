// The scan for the shortest sequences, and for elements of which a warp can't hold a segment: one thread
// block a segment, one warp a row, one chunk a lane.
//
// Every lane holds its chunk in registers from the first instruction on, so the loads of the whole
// sequence are in flight at once. The blocks exchange the totals of segments, and the first warp of each
// works out what precedes it, a lane a tile. A thread block waits for blocks of lower index only, so they
// need not all be resident. A single segment needs no exchange at all.
//
// Every instruction runs once or twice, so what counts is how many follow one another.

enum : u32 { SEGMENT_THREADS = LANES * ROWS_PER_SEGMENT };

template <class S>
struct SegmentShared {
    typedef typename S::Op::Element A;

    A row[ROWS_PER_SEGMENT];
    Maybe<A> before;  // what precedes our segment
};

// The lane that looks after the tile in which segment `end` lies.
KOGGE_DEVICE u32 lane_of_segment(u32 end) { return end / SEGMENTS_PER_TILE % LANES; }

// `before`, then the first `end` segments, the slots of a block of the order at once and those of a tile in a
// lane. `TOTAL` says that the last tile is folded as a tile, though it may be cut short; all lanes have the
// result then, else that of segment `end` has it. All lanes of a warp.
template <class S, bool TOTAL>
KOGGE_DEVICE Maybe<typename S::Op::Element> fold_segments(Workspace* workspace, u64 epoch, Maybe<typename S::Op::Element> before, u32 end, u32 lane) {
    typedef typename S::Op Op;
    typedef typename Op::Element A;
#pragma unroll 1
    for (u32 block = 0; block < end; block += SEGMENTS_PER_TILE * TILES_PER_BLOCK) {
        u32 first = block + lane * SEGMENTS_PER_TILE;
        u32 tiles = (end - block + (TOTAL ? SEGMENTS_PER_TILE - 1 : 0)) / SEGMENTS_PER_TILE;
        if (tiles > TILES_PER_BLOCK) tiles = TILES_PER_BLOCK;
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
        if (TOTAL || tiles == TILES_PER_BLOCK) continue;
        // The last turn.
#pragma unroll
        for (u32 i = 0; i < SEGMENTS_PER_TILE; i++)
            if (first + i < end) before = join<Op>(before, segment[i]);
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
    u64 last_epoch = 0;  // what comes of it waits till the elements have been asked for
    if (segments > 1 && warp == 0) last_epoch = load_epoch(&arguments.workspace->epoch);
    Maybe<A> before = init_of(arguments);
    u32 chunks = WHOLE ? LANES : chunks_from(span, warp * LANES), count = WHOLE ? E : elements_in(span, index);
    u32 rows = WHOLE ? ROWS_PER_SEGMENT : (span.count + E * LANES - 1) / (E * LANES);

    InputChunk<S> input = read_chunk<Input, S::REVERSE, WHOLE, FromGlobal>(span, index);
    A value = A();
    if (WHOLE || count > 0) value = S::Fold::template of<false>(input, count);
    value = kogge_stone<Op>(value, lane, chunks);
    if (chunks > 0 && lane == chunks - 1) shared.row[warp] = value;
    sync_block();
    if (warp == 0) {
        u64 epoch = last_epoch + 1;
        Maybe<A> total = {A(), false};
#pragma unroll
        for (u32 j = 0; j < ROWS_PER_SEGMENT; j++)
            if (j < rows) total = join<Op>(total, shared.row[j]);
        if (segments > 1) {
            if (lane == 0) Slot<A>::publish(arguments.workspace, segment, total.value, epoch);
            before = fold_segments<S, false>(arguments.workspace, epoch, before, segment, lane);
            if (lane == lane_of_segment(segment)) shared.before = before;
        }
        if (segment + 1 >= segments) {
            // Every block has read the epoch: the exchange has seen its slot.
            if (segments > 1 && lane == 0) store_epoch(&arguments.workspace->epoch, epoch);
            if (arguments.total) {
                Maybe<A> all = join<Op>(before, total);  // of a single segment
                if (segments > 1)
                    all = fold_segments<S, true>(arguments.workspace, epoch, init_of(arguments), (u32)segments, lane);
                if (lane == 0) store_total(arguments, all);
            }
        }
    }
    if (segments > 1) {
        sync_block();
        before = shared.before;
    }
    if (chunks == 0) return;
#pragma unroll
    for (u32 j = 0; j < ROWS_PER_SEGMENT; j++)
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
