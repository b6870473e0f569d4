// The scan of lines of at most a tile, each element read once.
//
// Warps share out the lines: a line of several segments has a team of warps, one a segment, which tell each
// other their totals; a line of a segment or less is one warp's, and a warp has as many as fit into the
// eight rows of a segment. Rows of a line go to rows of the warp, one by one; lines shorter than a row lie
// side by side in it, and a Kogge–Stone step is taken where the chunk before belongs to the same line.
//
// The lines of eight warps are a batch. Thread block c of G takes the batches c, c + G, c + 2G, …, which its
// loader warp keeps on the way into a ring of stages; no block waits for another. Lines that lie too far
// apart for one copy are read by the scanners themselves.

// The lines of a batch, and what of them a warp has.
template <class S>
struct WarpShare {
    u32 length;                // of a line
    u32 chunks;                // one at least, for the total of nothing
    u32 team, member;          // warps of a line, and this warp's place among them
    u32 lines_per_row;         // lines side by side in a row
    u32 rows_per_line;         // rows of a line that one warp has
    u32 inverse;        // 256 by that, rounded up: a row's line by a multiplication
    u32 lines_per_warp;
    u32 lines_per_batch;
    u32 line_in_row, index;    // this lane's line in a row, and its chunk in the line's row
    u32 warps;                 // that have lines

    __device__ __forceinline__ WarpShare(const LineArguments<S>& arguments, u32 warp, u32 lane) {
        constexpr u32 E = Order<typename S::Input>::CHUNK;
        length = (u32)arguments.length;
        chunks = length > 0 ? (length + E - 1) / E : 1;
        team = (chunks + CHUNKS_PER_SEGMENT - 1) / CHUNKS_PER_SEGMENT;
        member = warp % team;
        rows_per_line = team > 1 ? ROWS_PER_SEGMENT : (chunks + LANES - 1) / LANES;
        inverse = (256 + rows_per_line - 1) / rows_per_line;
        lines_per_row = chunks < LANES ? LANES / chunks : 1;
        lines_per_warp = ROWS_PER_SEGMENT / rows_per_line * lines_per_row;
        warps = SEGMENTS_PER_TILE / team * team;
        lines_per_batch = SEGMENTS_PER_TILE / team * lines_per_warp;
        line_in_row = chunks < LANES ? lane / chunks : 0;
        index = chunks < LANES ? lane % chunks : lane;
    }
};

// The batches of a thread block.
template <class S>
struct Batches {
    const LineArguments<S>& arguments;
    u32 lines_per_batch, count;

    __device__ __forceinline__ Batches(const LineArguments<S>& arguments, u32 lines_per_batch)
        : arguments(arguments), lines_per_batch(lines_per_batch) {
        u64 all = (arguments.lines + lines_per_batch - 1) / lines_per_batch;
        count = block_index() < all ? (u32)((all - block_index() + block_count() - 1) / block_count()) : 0;
    }
    __device__ __forceinline__ u64 first_line(u32 round) const {
        return ((u64)round * block_count() + block_index()) * lines_per_batch;
    }
    __device__ __forceinline__ u32 lines(u32 round) const {
        u64 left = arguments.lines - first_line(round);
        return left < lines_per_batch ? (u32)left : lines_per_batch;
    }
    __device__ __forceinline__ u32 stage(u32 round) const { return round % arguments.stages; }
    __device__ __forceinline__ u32 parity(u32 round) const { return round / arguments.stages & 1; }
};

template <class S>
struct LineRing {
    typedef typename S::Op::Element A;
    static constexpr u32 MOST_STAGES = 16, SCANNERS = SEGMENTS_PER_TILE;
    static constexpr u32 THREADS = LANES * (1 + S::GROUPS * SCANNERS);

    alignas(128) Barrier full[MOST_STAGES];
    Barrier empty[MOST_STAGES];
    A segment[S::GROUPS][2][SCANNERS];  // the totals of a batch's segments, and of the next one's

    // The stages follow.
    __device__ __forceinline__ u8* stage(const LineArguments<S>& arguments, u32 s) {
        return (u8*)(this + 1) + (u64)s * arguments.stage_bytes;
    }
};

template <class S>
KOGGE_DEVICE void run_line_loader(LineRing<S>& ring, const LineArguments<S>& arguments, const Batches<S>& batches, u32 lane) {
    for (u32 r = 0; r < batches.count; r++) {
        u32 s = batches.stage(r);
        if (r >= arguments.stages) barrier_wait(&ring.empty[s], batches.parity(r) ^ 1);
        u32 bytes = (batches.lines(r) - 1) * (u32)arguments.axis[0].input + (u32)arguments.length * sizeof(typename S::Input);
        load_tile<S>(ring.stage(arguments, s), arguments.place(batches.first_line(r)).input, bytes, &ring.full[s], lane);
    }
}

// A warp's lines of one batch.
template <class S>
struct WarpLines {
    typedef typename S::Input Input;
    const LineArguments<S>& arguments;
    const WarpShare<S>& share;
    u64 first;   // line
    u32 lines;   // how many there are
    u8* stage;   // the first line's copy, or null
    u8* output;  // of the first line

    // Row `row` of the warp: this lane's line among the warp's, and its chunk there.
    __device__ __forceinline__ u32 line(u32 row) const {
        return (row * share.inverse >> 8) * share.lines_per_row + share.line_in_row;
    }
    __device__ __forceinline__ u32 row_of_line(u32 row) const {
        return row - (row * share.inverse >> 8) * share.rows_per_line;
    }
    __device__ __forceinline__ u32 chunk(u32 row) const {
        return share.member * CHUNKS_PER_SEGMENT + row_of_line(row) * LANES + share.index;
    }
    __device__ __forceinline__ bool exists(u32 row) const {
        return share.line_in_row < share.lines_per_row && line(row) < lines && chunk(row) < share.chunks;
    }
    __device__ __forceinline__ u64 number(u32 line) const { return arguments.place(first + line).number; }
    __device__ __forceinline__ Span<Input> staged(u32 line) const {
        return {stage + line * (u32)arguments.axis[0].input, share.length};
    }
    __device__ __forceinline__ u8* to(u32 line) const {
        return arguments.axes <= 1 ? output + line * arguments.axis[0].output : arguments.place(first + line).output;
    }
    __device__ __forceinline__ Span<Input> input(u32 line) const {
        return stage ? staged(line) : Span<Input>{arguments.place(first + line).input, share.length};
    }
};

// What precedes this warp's segment of its line, as the team tells; its first member puts the line's total
// in its place.
template <class S>
KOGGE_DEVICE Maybe<typename S::Op::Element> exchange(typename S::Op::Element (&segment)[SEGMENTS_PER_TILE], const WarpLines<S>& lines, const typename S::Op::Element& total, u32 warp, u32 barrier, u32 lane) {
    typedef typename S::Op Op;
    typedef typename Op::Element A;
    const WarpShare<S>& share = lines.share;
    u32 leader = warp - share.member;
    if (lane == 0) segment[warp] = total;
    sync_group(barrier + leader / share.team, share.team * LANES);
    u64 number = lines.number(0);
    Maybe<A> init = lines.arguments.inits.of(number), before = init, all = {A(), false};
#pragma unroll 1
    for (u32 i = 0; i < share.member; i++) before = join<Op>(before, segment[leader + i]);
    if (lines.arguments.inits.totals && share.member == 0 && lane == 0) {
#pragma unroll 1
        for (u32 i = 0; i < share.team; i++) all = join<Op>(all, segment[leader + i]);
        lines.arguments.inits.put_total(number, join<Op>(init, all));
    }
    return before;
}

// The inclusive Kogge–Stone values of the warp's rows; `index` is the chunk's place in its row of its line.
template <class Op, class A, u32 ROWS>
KOGGE_DEVICE void kogge_stone_lines(A (&value)[ROWS], u32 index) {
#pragma unroll
    for (u32 stride = 1; stride < LANES; stride *= 2) {
#pragma unroll
        for (u32 j = 0; j < ROWS; j++) {
            A left = value_of_lane_below(value[j], stride);
            value[j] = take_left<Op>(index >= stride, left, value[j]);
        }
    }
}

// What precedes a line's rows one after another, in lines that one warp has alone.
template <class S>
struct LinePrefix {
    typedef typename S::Op Op;
    typedef typename Op::Element A;
    Maybe<A> init, before, rows;  // `rows`: the line's rows so far, without init

    __device__ __forceinline__ void begin(const WarpLines<S>& lines, u32 row, bool exists) {
        if (lines.row_of_line(row) > 0) return;
        before.exists = init.exists = rows.exists = false;
        if (exists && lines.arguments.inits.kind != INITS_NONE)
            before = init = lines.arguments.inits.of(lines.number(lines.line(row)));
    }
    // Takes note of a row's Kogge–Stone values, of `count` elements in this lane's chunk.
    __device__ __forceinline__ void end(const WarpLines<S>& lines, u32 row, bool exists, const A& value, u32 count) {
        if (!lines.arguments.inits.totals) return;
        if (exists && lines.chunk(row) + 1 == lines.share.chunks) {
            Maybe<A> last = {value, count > 0};
            lines.arguments.inits.put_total(lines.number(lines.line(row)), join<Op>(init, join<Op>(rows, last)));
        }
        rows = join<Op>(rows, value_of_lane(value, LANES - 1));
    }
};

// The left fold of the totals of a segment's rows, of which `chunks` chunks exist.
template <class S>
KOGGE_DEVICE typename S::Op::Element fold_rows(const typename S::Op::Element (&value)[ROWS_PER_SEGMENT], u32 chunks) {
    typedef typename S::Op::Element A;
    A total = value_of_lane(value[0], (chunks < LANES ? chunks : LANES) - 1);
#pragma unroll
    for (u32 j = 1; j < ROWS_PER_SEGMENT; j++) {
        u32 left = chunks <= j * LANES ? 1 : chunks - j * LANES < LANES ? chunks - j * LANES : LANES;
        A row = value_of_lane(value[j], left - 1);
        total = choose(j * LANES < chunks, S::Op::combine(total, row), total);
    }
    return total;
}

// A warp's lines, of whole chunks at multiples of 16 bytes, in registers.
template <class S, bool PLAIN>
KOGGE_DEVICE void scan_whole_lines(LineRing<S>& ring, const WarpLines<S>& lines, const InputChunk<S> (&input)[ROWS_PER_SEGMENT], u32 group, u32 turn, u32 warp, u32 lane) {
    typedef typename S::Op Op;
    typedef typename Op::Element A;
    constexpr u32 E = Order<typename S::Input>::CHUNK;
    const WarpShare<S>& share = lines.share;
    A value[ROWS_PER_SEGMENT];
#pragma unroll
    for (u32 j = 0; j < ROWS_PER_SEGMENT; j++) value[j] = S::Fold::template of<PLAIN>(input[j], E);
    kogge_stone_lines<Op>(value, share.index);
    bool alone = share.team == 1;
    LinePrefix<S> prefix = {};
    if (!alone) {
        A total = fold_rows<S>(value, share.chunks - share.member * CHUNKS_PER_SEGMENT);
        prefix.before = exchange(ring.segment[group][turn], lines, total, warp, 1 + group * SEGMENTS_PER_TILE / 2, lane);
    }
#pragma unroll
    for (u32 j = 0; j < ROWS_PER_SEGMENT; j++) {
        bool exists = lines.exists(j);
        if (alone) prefix.begin(lines, j, exists);
        OutputChunk<S> output;
        Maybe<A> after = scan_row<S, true, PLAIN>(prefix.before, input[j], exists, value[j], LANES, share.index, output);
        if (alone) prefix.end(lines, j, exists, value[j], exists);
        prefix.before = after;
        if (exists)
            write_chunk<typename S::Output, E, S::REVERSE, true>(lines.to(lines.line(j)), share.length, lines.chunk(j), E, output);
    }
}

// Copies elements from shared to global memory by one warp, in 16 bytes if both addresses allow it.
template <class T>
KOGGE_DEVICE void store_elements(u8* to, const u8* from, u32 count, u32 lane) {
    u32 bytes = count * sizeof(T);
    if (((u64)to ^ (u64)from) % 16 != 0) {
        for (u32 i = lane; i < count; i += LANES) memcpy((T*)(to + i * sizeof(T)), (const T*)(from + i * sizeof(T)), sizeof(T));
        return;
    }
    u32 head = (u32)(-(u64)to % 16);
    if (head > bytes) head = bytes;
    u32 middle = (bytes - head) / 16 * 16, tail = bytes - head - middle;
    if (lane < head) to[lane] = from[lane];
    if (lane < tail) to[head + middle + lane] = from[head + middle + lane];
    for (u32 at = head + lane * 16; at < head + middle; at += LANES * 16) store_quad(to + at, load_shared(from + at));
}

// How a warp's values reach the output, where they aren't whole chunks at multiples of 16 bytes: over the
// elements in the stage, and from there in one piece, or a piece a line; else each by itself.
enum Route { BY_ELEMENT, BY_LINE, BY_WARP };
template <class S>
KOGGE_DEVICE Route route_of(const WarpLines<S>& lines) {
    typedef typename S::Output Output;
    constexpr u32 LONG = 256;  // bytes of a line that are worth a copy of its own
    if (sizeof(typename S::Input) != sizeof(Output) || !lines.stage) return BY_ELEMENT;
    if (lines.arguments.dense) return BY_WARP;
    // Lines that share elements can't be written over.
    u32 bytes = lines.share.length * sizeof(Output);
    return bytes >= LONG && (lines.arguments.lines == 1 || lines.arguments.axis[0].input >= bytes) ? BY_LINE : BY_ELEMENT;
}
template <class S>
KOGGE_DEVICE void store_lines(const WarpLines<S>& lines, Route route, u32 lane) {
    typedef typename S::Output Output;
    const WarpShare<S>& share = lines.share;
    // What of a line the warp has.
    u32 segment = Order<typename S::Input>::SEGMENT, before = share.member * segment;
    u32 count = share.team == 1 || share.length - before < segment ? share.length - before : segment;
    u32 skipped = S::REVERSE ? share.length - before - count : before;
    u32 pieces = route == BY_WARP ? 1 : lines.lines;
    if (route == BY_WARP && share.team == 1) count = lines.lines * share.length;
    for (u32 i = 0; i < pieces; i++)
        store_elements<Output>(lines.to(i) + skipped * sizeof(Output),
                               lines.staged(i).bytes + skipped * sizeof(Output), count, lane);
}

// A warp's lines, element by element and row by row.
template <class S>
KOGGE_DEVICE void scan_part_lines(LineRing<S>& ring, const WarpLines<S>& lines, u32 group, u32 turn, u32 warp, u32 lane) {
    typedef typename S::Op Op;
    typedef typename Op::Element A;
    typedef typename S::Input Input;
    constexpr u32 E = Order<Input>::CHUNK;
    const WarpShare<S>& share = lines.share;
    bool alone = share.team == 1;
    LinePrefix<S> prefix = {};
    if (!alone) {
        A total = part_segment_total<S>(lines.input(0), share.member * CHUNKS_PER_SEGMENT, lane).value;
        prefix.before = exchange(ring.segment[group][turn], lines, total, warp, 1 + group * SEGMENTS_PER_TILE / 2, lane);
    }
    Route route = route_of(lines);
#pragma unroll 1
    for (u32 j = 0; j < ROWS_PER_SEGMENT; j++) {
        bool exists = lines.exists(j);
        if (all_lanes(!exists)) break;
        // No line has elements from its last chunk on.
        u32 line = exists ? lines.line(j) : 0, chunk = exists ? lines.chunk(j) : share.chunks;
        Span<Input> span = lines.input(line);
        u32 count = elements_in(span, chunk);
        InputChunk<S> input = read_chunk<Input, S::REVERSE, false, FromShared>(span, chunk);
        A value[1] = {S::Fold::template of<false>(input, count)};
        kogge_stone_lines<Op>(value, share.index);
        if (alone) prefix.begin(lines, j, exists);
        OutputChunk<S> output = {};
        Maybe<A> after = scan_row<S, false, false>(prefix.before, input, count, value[0], LANES, share.index, output);
        if (alone) prefix.end(lines, j, exists, value[0], count);
        prefix.before = after;
        if (count == 0) continue;
        u8* to = route == BY_ELEMENT ? lines.to(line) : span.bytes;
        write_chunk<typename S::Output, E, S::REVERSE, false>(to, share.length, chunk, count, output);
    }
    if (route == BY_ELEMENT) return;
    sync_warp();
    store_lines(lines, route, lane);
    bulk_fence();
}

template <class S>
KOGGE_DEVICE void scan_warp_lines(LineRing<S>& ring, const WarpLines<S>& lines, Barrier* empty, u32 group, u32 turn, u32 warp, u32 lane) {
    typedef typename S::Op::Element A;
    typedef typename S::Input Input;
    if (lines.arguments.whole) {
        InputChunk<S> input[ROWS_PER_SEGMENT];
#pragma unroll
        for (u32 j = 0; j < ROWS_PER_SEGMENT; j++) {
            input[j] = {};
            if (!lines.exists(j)) continue;
            u32 line = lines.line(j), chunk = lines.chunk(j);
            if (lines.stage) input[j] = read_chunk<Input, S::REVERSE, true, FromShared>(lines.staged(line), chunk);
            else input[j] = read_chunk<Input, S::REVERSE, true, FromGlobal>(lines.input(line), chunk);
        }
        sync_warp();
        if (lines.stage && lane == 0) barrier_arrive(empty);
        if constexpr (Pair<Input>::EXISTS && is_float<A>()) {
            if (all_lanes(are_plain<A>(input))) return scan_whole_lines<S, true>(ring, lines, input, group, turn, warp, lane);
        }
        scan_whole_lines<S, false>(ring, lines, input, group, turn, warp, lane);
    } else {
        scan_part_lines<S>(ring, lines, group, turn, warp, lane);
        sync_warp();
        if (lines.stage && lane == 0) barrier_arrive(empty);
    }
}

template <class S>
KOGGE_DEVICE void run_line_scanner(LineRing<S>& ring, const LineArguments<S>& arguments, const WarpShare<S>& share, const Batches<S>& batches, u32 group, u32 warp, u32 lane) {
    typedef typename S::Input Input;
    if (warp >= share.warps) return;
    u32 ours = warp / share.team * share.lines_per_warp;
    for (u32 r = group; r < batches.count; r += S::GROUPS) {
        u32 left = batches.lines(r), s = arguments.stages > 0 ? batches.stage(r) : 0;
        u64 first = batches.first_line(r);
        u8* stage = nullptr;
        if (arguments.stages > 0) {
            barrier_wait(&ring.full[s], batches.parity(r));
            stage = ring.stage(arguments, s) + (u64)arguments.place(first).input % 16 + (u64)ours * (u32)arguments.axis[0].input;
        }
        if (ours >= left) return;  // the last batch
        u32 count = left - ours < share.lines_per_warp ? left - ours : share.lines_per_warp;
        WarpLines<S> lines = {arguments, share, first + ours, count, stage, arguments.place(first + ours).output};
        scan_warp_lines(ring, lines, &ring.empty[s], group, r / S::GROUPS % 2, warp, lane);
    }
}

template <class S>
KOGGE_DEVICE void line_scan(const LineArguments<S>& arguments) {
    LineRing<S>& ring = *(LineRing<S>*)shared_memory();
    u32 warp = thread_index() / LANES, lane = thread_index() % LANES;
    u32 scanner = warp > 0 ? (warp - 1) % ring.SCANNERS : 0, group = warp > 0 ? (warp - 1) / ring.SCANNERS : 0;
    WarpShare<S> share(arguments, scanner, lane);
    if (thread_index() == 0) {
        for (u32 s = 0; s < arguments.stages; s++) {
            barrier_init(&ring.full[s], S::BULK ? 1 : LANES + 1);
            barrier_init(&ring.empty[s], share.warps);
        }
        barrier_init_fence();
    }
    sync_block();
    Batches<S> batches(arguments, share.lines_per_batch);
    if (warp > 0) run_line_scanner(ring, arguments, share, batches, group, scanner, lane);
    else if (arguments.stages > 0) run_line_loader(ring, arguments, batches, lane);
}
