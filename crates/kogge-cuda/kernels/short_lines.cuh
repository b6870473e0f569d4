// The scan of short lines of consecutive elements in a table so small that a warp has a single row: a chunk a lane, from
// memory to registers and back.
//
// Lines of a row or less lie side by side in it, as they do in line_scan.cuh; a longer line, of a segment at most, has a
// warp for each of its rows, and those of a thread block tell each other their totals. There is no ring to set up and
// nothing to draw, little code to bring in, and every multiprocessor has a part of the table.

template <class S>
struct ShortLines {
    typedef typename S::Op Op;
    typedef typename Op::Element A;
    A row[ROWS_PER_SEGMENT];  // the totals of the rows of the block's lines
};

// Where a lane's chunk lies.
template <class S>
struct ShortLineShare {
    typedef typename S::Input Input;
    static constexpr u32 E = Order<Input>::CHUNK;
    u32 length, chunks, rows;  // of a line
    u32 warp, row, index;      // this warp, its row of the line, and this lane's chunk of the line's in it
    u64 line;
    bool exists;

    // So many lines, or rows that lines share, are a thread block's.
    __device__ __forceinline__ ShortLineShare(const LineArguments<S>& arguments, u32 lane) {
        length = (u32)arguments.length;
        chunks = (length + E - 1) / E;
        rows = (chunks + LANES - 1) / LANES;
        warp = thread_index() / LANES;
        u32 team = warp / rows, beside = rows == 1 ? LANES / chunks : 1, line_in_row = rows == 1 ? lane / chunks : 0;
        row = warp - team * rows;
        index = lane - line_in_row * chunks;
        line = (block_index() * arguments.bunch + team) * beside + line_in_row;
        exists = line_in_row < beside && line < arguments.lines && chunk() < chunks;
    }
    __device__ __forceinline__ u32 chunk() const { return row * LANES + index; }
    __device__ __forceinline__ bool ends_line() const { return exists && chunk() + 1 == chunks; }
    // Elements of the lane's chunk.
    __device__ __forceinline__ u32 count() const {
        u32 left = length - chunk() * E;
        return !exists ? 0 : left < E ? left : E;
    }
};

// `before`, then the rows of the line from its first to one before `end`, as the block's warps tell.
template <class S, class A = typename S::Op::Element>
KOGGE_DEVICE Maybe<A> fold_rows_before(Maybe<A> before, const ShortLines<S>& shared, const ShortLineShare<S>& share, u32 end) {
#pragma unroll 1
    for (u32 i = 0; i < end; i++) before = join<typename S::Op>(before, shared.row[share.warp - share.row + i]);
    return before;
}

// What a lane's line has in its row up to this chunk; the block's warps are told of the row. `PLAIN` says that the warp has no
// NaN that needs care.
template <class S, bool PLAIN>
KOGGE_DEVICE typename S::Op::Element fold_short_row(const ShortLineShare<S>& share, const InputChunk<S>& input) {
    typedef typename S::Op Op;
    typedef typename Op::Element A;
    u32 lane = thread_index() % LANES;
    A value = S::Fold::template of<PLAIN>(input, share.count());
#pragma unroll
    for (u32 stride = 1; stride < LANES; stride *= 2) {
        A left = value_of_lane_below(value, stride);
        value = take_left<Op>(share.index >= stride, left, value);
    }
    // Of a line's last row, which may be cut short, nobody asks for the total.
    if (share.rows > 1 && lane == LANES - 1) ((ShortLines<S>*)shared_memory())->row[share.warp] = value;
    return value;
}

// The values of a lane's chunk, after its line's `init`, from that `value`; and the total of its line by the lane that has the
// last.
template <class S, bool PLAIN>
KOGGE_DEVICE OutputChunk<S> scan_short_row(const LineArguments<S>& arguments, const ShortLineShare<S>& share, const InputChunk<S>& input,
                                           const typename S::Op::Element& value, const Maybe<typename S::Op::Element>& init, u64 number) {
    typedef typename S::Op Op;
    typedef typename Op::Element A;
    ShortLines<S>& shared = *(ShortLines<S>*)shared_memory();
    OutputChunk<S> output;
    scan_row<S, true, PLAIN>(fold_rows_before<S>(init, shared, share, share.row), input, share.count(), value, LANES, share.index, output);
    if (arguments.inits.totals && share.ends_line()) {
        Maybe<A> all = fold_rows_before<S>({A(), false}, shared, share, share.row);
        arguments.inits.put_total(number, join<Op>(init, join<Op>(all, value)));
    }
    return output;
}

template <class S>
KOGGE_DEVICE void short_line_scan(const LineArguments<S>& arguments) {
    typedef typename S::Op::Element A;
    typedef typename S::Input Input;
    typedef typename S::Output Output;
    constexpr u32 E = Order<Input>::CHUNK;
    ShortLineShare<S> share(arguments, thread_index() % LANES);
    LinePlace at = arguments.place(share.exists ? share.line : 0);
    u32 count = share.count(), chunk = share.chunk();
    InputChunk<S> input[1] = {};
    Span<Input> line = {at.input, share.length};
    if (count > 0 && arguments.whole) input[0] = read_chunk<Input, S::REVERSE, true, FromGlobal>(line, chunk);
    else if (count > 0) input[0] = read_chunk<Input, S::REVERSE, false, FromGlobal>(line, chunk);
    Maybe<A> init = {A(), false};
    if (share.exists) init = arguments.inits.of(at.number);
    bool plain = true;
    if constexpr (Pair<Input>::EXISTS && is_float<A>()) plain = all_lanes(are_plain<A>(input));
    A value = plain ? fold_short_row<S, true>(share, input[0]) : fold_short_row<S, false>(share, input[0]);
    // All warps meet at one barrier, whichever way they went.
    if (share.rows > 1) sync_block();
    OutputChunk<S> output;
    if (plain) output = scan_short_row<S, true>(arguments, share, input[0], value, init, at.number);
    else output = scan_short_row<S, false>(arguments, share, input[0], value, init, at.number);
    if (count > 0 && arguments.whole) write_chunk<Output, E, S::REVERSE, true>(at.output, share.length, chunk, E, output);
    else if (count > 0) write_chunk<Output, E, S::REVERSE, false>(at.output, share.length, chunk, count, output);
}
