// The scan for short sequences where thread blocks can be a cluster: one cluster takes the whole, a block `S::SEGMENTS`
// segments, a warp a row, a lane a chunk.
//
// As by segments (segment_scan.cuh) a lane holds its chunk in registers. But the totals of segments are written into the
// shared memory of all blocks after, where a barrier counts them in: nobody polls, and nothing is kept from call to call.
// So what a block waits for is there in a fraction of the time that a slot in memory takes.

enum : u32 { MOST_CLUSTER = 16 };

template <class S>
struct ClusterShared {
    typedef typename S::Op::Element A;
    static constexpr u32 THREADS = LANES * ROWS_PER_SEGMENT * S::SEGMENTS;

    alignas(16) A row[S::SEGMENTS * ROWS_PER_SEGMENT];         // totals of ours
    alignas(16) Words<A> segment[S::SEGMENTS * MOST_CLUSTER];  // those of the blocks before
    Barrier told;                                              // ends once all of them have come
};

// `left`, then so many of a segment's rows or a tile's segments. All are loaded first, and combined whether they count
// or not: what stands under a condition would wait for it, and for its load, in turn.
template <class Op, class Stored, class A>
KOGGE_DEVICE Maybe<A> join_some(const Maybe<A>& left, const Stored* totals, u32 count) {
    A total[ROWS_PER_SEGMENT];
#pragma unroll
    for (u32 i = 0; i < ROWS_PER_SEGMENT; i++) memcpy(&total[i], &totals[i], sizeof(A));
    A all = left.exists ? Op::combine(left.value, total[0]) : total[0];
#pragma unroll
    for (u32 i = 1; i < ROWS_PER_SEGMENT; i++) all = choose(i < count, Op::combine(all, total[i]), all);
    return {choose(count > 0, all, left.value), left.exists || count > 0};
}

// `before`, then the first `end` segments of the sequence. All lanes of a warp, which all have the result.
template <class Op, class A>
KOGGE_DEVICE Maybe<A> fold_segments_told(Maybe<A> before, const Words<A>* segment, u32 end, u32 lane) {
    u32 tiles = end / SEGMENTS_PER_TILE;
    if (tiles > 0) {
        const Words<A>* tile = segment + (lane < tiles ? lane : 0) * SEGMENTS_PER_TILE;
        A total = join_some<Op>(Maybe<A>{A(), false}, tile, SEGMENTS_PER_TILE).value;
        if (tiles > 1) total = value_of_lane(kogge_stone<Op>(total, lane, tiles), tiles - 1);
        before = join<Op>(before, total);
    }
    return join_some<Op>(before, segment + tiles * SEGMENTS_PER_TILE, end % SEGMENTS_PER_TILE);
}

// `before`, then all `end` segments, the last tile as a tile, though it may be cut short. All lanes of a warp.
template <class Op, class A>
KOGGE_DEVICE Maybe<A> fold_all_segments(Maybe<A> before, const Words<A>* segment, u32 end, u32 lane) {
    u32 tiles = (end + SEGMENTS_PER_TILE - 1) / SEGMENTS_PER_TILE, first = lane * SEGMENTS_PER_TILE;
    if (tiles == 0) return before;
    A total = A();
    if (first < end) total = join_some<Op>(Maybe<A>{A(), false}, segment + first, end - first).value;
    sync_warp();
    return join<Op>(before, value_of_lane(kogge_stone<Op>(total, lane, tiles), tiles - 1));
}

// Tells all blocks after ours the total of segment `index` of the sequence. All lanes of a warp.
template <class S, class A>
KOGGE_DEVICE void tell_total(ClusterShared<S>& shared, u32 index, const A& total, u32 lane) {
    if (lane <= block_index() || lane >= block_count()) return;
    Words<A> words = to_words(total);
#pragma unroll
    for (u32 i = 0; i < Words<A>::COUNT; i++)
        store_remote(&shared.segment[index].word[i], lane, words.word[i], &shared.told);
}

template <class S, bool WHOLE>
KOGGE_DEVICE void scan_in_cluster(ClusterShared<S>& shared, const Arguments<S>& arguments, const Span<typename S::Input>& span, u8* to) {
    typedef typename S::Op Op;
    typedef typename Op::Element A;
    typedef typename S::Input Input;
    constexpr u32 E = Order<Input>::CHUNK;
    u32 warp = thread_index() / LANES, lane = thread_index() % LANES, index = thread_index();
    u32 segment = warp / ROWS_PER_SEGMENT, row = warp % ROWS_PER_SEGMENT, first = block_index() * S::SEGMENTS;
    bool others = block_count() > 1, last = block_index() + 1 == block_count();
    if (others && index == 0) {
        barrier_init(&shared.told, 1);
        barrier_init_fence();
        if (first > 0) barrier_arrive_expect(&shared.told, first * (u32)sizeof(Words<A>));
    }
    u32 chunks = WHOLE ? LANES : chunks_from(span, warp * LANES), count = WHOLE ? E : elements_in(span, index);
    u32 rows = WHOLE ? ROWS_PER_SEGMENT * S::SEGMENTS : (span.count + E * LANES - 1) / (E * LANES);
    const A* ours = shared.row + segment * ROWS_PER_SEGMENT;
    bool exists = WHOLE || rows > segment * ROWS_PER_SEGMENT;

    InputChunk<S> input = read_chunk<Input, S::REVERSE, WHOLE, FromGlobal>(span, index);
    if (others) cluster_arrive();
    A value = A();
    if (WHOLE || count > 0) value = S::Fold::template of<false>(input, count);
    value = kogge_stone<Op>(value, lane, chunks);
    if (chunks > 0 && lane == chunks - 1) shared.row[warp] = value;
    sync_block();
    if (others) cluster_wait();
    Maybe<A> total = {A(), false};
    if (row == 0 && exists) total = join_some<Op>(total, ours, WHOLE ? ROWS_PER_SEGMENT : rows - segment * ROWS_PER_SEGMENT);
    if (row == 0 && !last) tell_total<S>(shared, first + segment, total.value, lane);

    Maybe<A> before = init_of(arguments);
    if (first > 0) {
        barrier_wait_remote(&shared.told, 0);
        before = fold_segments_told<Op>(before, shared.segment, first, lane);
    }
    if (last && arguments.total) {
        sync_block();  // nobody reads there any longer
        if (row == 0 && exists && lane == 0) shared.segment[first + segment] = to_words(total.value);
        sync_block();
        u32 segments = first + (rows + ROWS_PER_SEGMENT - 1) / ROWS_PER_SEGMENT;
        if (warp == 0) {
            Maybe<A> all = fold_all_segments<Op>(init_of(arguments), shared.segment, segments, lane);
            if (lane == 0) store_total(arguments, all);
        }
    }
    if (chunks == 0) return;
    if constexpr (S::SEGMENTS > 1)
        if (segment > 0) before = join<Op>(before, join_some<Op>(Maybe<A>{A(), false}, shared.row, ROWS_PER_SEGMENT));
    before = join_some<Op>(before, ours, row);
    OutputChunk<S> output;
    scan_row<S, WHOLE, false>(before, input, count, value, chunks, lane, output);
    write_chunk<typename S::Output, E, S::REVERSE, WHOLE>(to, span.count, index, count, output);
}

template <class S>
KOGGE_DEVICE void cluster_scan(const Arguments<S>& arguments) {
    typedef typename S::Input Input;
    typedef typename S::Output Output;
    constexpr u32 SHARE = Order<Input>::SEGMENT * S::SEGMENTS;
    ClusterShared<S>& shared = *(ClusterShared<S>*)shared_memory();
    u64 start = (u64)block_index() * SHARE;
    Span<Input> span = span_of<Input, S::REVERSE>(arguments.input, arguments.length, start, SHARE);
    u8* to = span_of<Output, S::REVERSE>(arguments.output, arguments.length, start, SHARE).bytes;
    if (is_whole(span, SHARE) && (u64)to % 16 == 0)
        scan_in_cluster<S, true>(shared, arguments, span, to);
    else
        scan_in_cluster<S, false>(shared, arguments, span, to);
}
