// A segment: eight rows, one warp. Its total, and its values once what precedes it is known.

template <class S>
using InputChunk = Chunk<typename S::Input, Order<typename S::Input>::CHUNK>;
template <class S>
using OutputChunk = Chunk<typename S::Output, Order<typename S::Input>::CHUNK>;

// How the chunks of a segment lie in shared memory: all there, and at multiples of 16 bytes or not.
enum Lie { IN_PART, ANYWHERE, IN_PLACE };
template <class S>
KOGGE_DEVICE Lie lie_of_segment(const Span<typename S::Input>& tile, u32 index) {
    typedef typename S::Input Input;
    constexpr u32 E = Order<Input>::CHUNK;
    if (tile.count < (index + CHUNKS_PER_SEGMENT) * E) return IN_PART;
    return (u64)element_at<Input, S::REVERSE>(tile, index, S::REVERSE ? E - 1 : 0) % 16 == 0 ? IN_PLACE : ANYWHERE;
}

template <class S, class From>
KOGGE_DEVICE void read_segment(const Span<typename S::Input>& tile, u32 first, InputChunk<S> (&input)[ROWS_PER_SEGMENT]) {
#pragma unroll
    for (u32 j = 0; j < ROWS_PER_SEGMENT; j++)
        input[j] = read_chunk<typename S::Input, S::REVERSE, true, From>(tile, first + j * LANES);
}

// An operator may have a quicker form for numbers, `S::Plain`: where an operand is a NaN, it gives some NaN. What it gave
// is right if it is a number; else the operator itself is asked.
template <class S>
constexpr bool has_plain() {
    return !Same<typename S::Op, typename S::Plain>::YES;
}
template <class S, class O, class A, u32 N>
KOGGE_DEVICE bool are_numbers(const A (&value)[N]) {
    bool numbers = true;
    if constexpr (!Same<O, typename S::Op>::YES) {
#pragma unroll
        for (u32 i = 0; i < N; i++) numbers = numbers && O::is_number(value[i]);
    }
    return numbers;
}
// The fold of a plain chunk.
template <class S, class O>
KOGGE_DEVICE typename O::Element fold_of(const InputChunk<S>& chunk) {
    constexpr u32 E = Order<typename S::Input>::CHUNK;
    if constexpr (Same<O, typename S::Op>::YES) return S::Fold::template of<true>(chunk, E);
    typename O::Element total = widened<typename O::Element, true>(chunk, 0);
#pragma unroll
    for (u32 e = 1; e < E; e++) total = O::combine(total, widened<typename O::Element, true>(chunk, e));
    return total;
}

// The left fold of the row totals of a whole segment of plain chunks. Where `rows` is wanted, they are put there, and
// the fold is lane 0's alone.
template <class S, class Op = typename S::Op>
KOGGE_DEVICE typename Op::Element whole_segment_total(const InputChunk<S> (&input)[ROWS_PER_SEGMENT], u32 lane,
                                                         typename Op::Element* rows = nullptr) {
    typedef typename Op::Element A;
    A chunk[ROWS_PER_SEGMENT];
#pragma unroll
    for (u32 j = 0; j < ROWS_PER_SEGMENT; j++)
        chunk[j] = fold_of<S, Op>(input[j]);
    A row = row_totals<Op>(chunk, lane);
    if (rows) {
        if (lane < ROWS_PER_SEGMENT) rows[lane_of_row(lane)] = row;
        sync_warp();
        A total = rows[0];
#pragma unroll
        for (u32 j = 1; j < ROWS_PER_SEGMENT; j++) total = Op::combine(total, rows[j]);
        return total;
    }
    A total = value_of_lane(row, lane_of_row(0));
#pragma unroll
    for (u32 j = 1; j < ROWS_PER_SEGMENT; j++) total = Op::combine(total, value_of_lane(row, lane_of_row(j)));
    return total;
}
// The same by the quicker form of the operator, if that will do.
template <class S>
KOGGE_DEVICE typename S::Op::Element plain_segment_total(const InputChunk<S> (&input)[ROWS_PER_SEGMENT], u32 lane,
                                                         typename S::Op::Element* rows = nullptr) {
    typename S::Op::Element total[1] = {whole_segment_total<S, typename S::Plain>(input, lane, rows)};
    if (!all_lanes(are_numbers<S, typename S::Plain>(total))) total[0] = whole_segment_total<S>(input, lane, rows);
    return total[0];
}
// The same of any segment, row by row; `index` is its first chunk in the tile.
template <class S, class From>
KOGGE_DEVICE Maybe<typename S::Op::Element> part_segment_total(const Span<typename S::Input>& tile, u32 index, u32 lane) {
    typedef typename S::Op Op;
    typedef typename Op::Element A;
    Maybe<A> total = {A(), false};
#pragma unroll 1
    for (u32 j = 0; j < ROWS_PER_SEGMENT; j++) {
        u32 first = index + j * LANES, chunks = chunks_from(tile, first);
        if (chunks == 0) break;
        u32 count = elements_in(tile, first + lane);
        A value = A();
        if (count > 0)
            value = S::Fold::template of<false>(
                read_part_chunk<typename S::Input, S::REVERSE, From>(tile, first + lane), count);
        value = kogge_stone<Op>(value, lane, chunks);
        total = join<Op>(total, value_of_lane(value, chunks - 1));
    }
    return total;
}
template <class S>
KOGGE_DEVICE Maybe<typename S::Op::Element> segment_total(const Span<typename S::Input>& tile, u32 index, u32 lane,
                                                          typename S::Op::Element* rows = nullptr) {
    typedef typename S::Op::Element A;
    Lie lie = lie_of_segment<S>(tile, index);
    if (lie != IN_PART) {
        InputChunk<S> input[ROWS_PER_SEGMENT];
        if (lie == IN_PLACE) read_segment<S, FromShared>(tile, index + lane, input);
        else read_segment<S, FromSharedAnywhere>(tile, index + lane, input);
        if (all_lanes(are_plain<A>(input))) return {plain_segment_total<S>(input, lane, rows), true};
    }
    return part_segment_total<S, FromShared>(tile, index, lane);
}

// The values of a whole chunk, from what precedes it on.
template <class S, bool PLAIN, class O = typename S::Op>
KOGGE_DEVICE OutputChunk<S> scan_chunk(Maybe<typename O::Element> running, const InputChunk<S>& input) {
    typedef typename O::Element A;
    A value[Order<typename S::Input>::CHUNK];
#pragma unroll
    for (u32 e = 0; e < Order<typename S::Input>::CHUNK; e++) {
        Maybe<A> through = join<O>(running, widened<A, PLAIN>(input, e));
        value[e] = S::EXCLUSIVE ? or_identity<typename S::Op>(running) : through.value;
        running = through;
    }
    return narrowed<typename S::Output>(value);
}

template <class S, bool PLAIN>
KOGGE_DEVICE void scan_part_chunk(Maybe<typename S::Op::Element> running, const InputChunk<S>& input, u32 count, OutputChunk<S>& output) {
    typedef typename S::Op Op;
    typedef typename Op::Element A;
#pragma unroll
    for (u32 e = 0; e < Order<typename S::Input>::CHUNK; e++) {
        if (e >= count) continue;
        Maybe<A> through = join<Op>(running, widened<A, PLAIN>(input, e));
        output.put(e, Convert<typename S::Output, A>::of(S::EXCLUSIVE ? or_identity<Op>(running) : through.value));
        running = through;
    }
}

// The values of one row, written out; gives what precedes the next row. `before` is what precedes this
// one, `chunk_total` this lane's Kogge–Stone value, `chunks` how many lanes have a chunk.
template <class S, bool WHOLE, bool PLAIN, class O = typename S::Op>
KOGGE_DEVICE Maybe<typename O::Element> scan_row(const Maybe<typename O::Element>& before, const InputChunk<S>& input, u32 count,
                                                 const typename O::Element& kogge_stone_value, u32 chunks, u32 lane,
                                                 OutputChunk<S>& output) {
    typedef typename O::Element A;
    A left = value_of_lane_below(kogge_stone_value, 1);
    Maybe<A> running = before;
    if (lane > 0 && count > 0) running = join<O>(before, left);
    if constexpr (WHOLE) output = scan_chunk<S, PLAIN, O>(running, input);
    else scan_part_chunk<S, PLAIN>(running, input, count, output);
    return join<O>(before, value_of_lane(kogge_stone_value, chunks - 1));
}

// The values of a segment of which the end may be missing, element by element; `first` is its first chunk in
// the tile, `before` what precedes it.
template <class S, class From>
KOGGE_DEVICE void scan_part_segment(const Span<typename S::Input>& tile, u8* to, u32 first, Maybe<typename S::Op::Element> before, u32 lane) {
    typedef typename S::Op::Element A;
    typedef typename S::Input Input;
    constexpr u32 E = Order<Input>::CHUNK;
#pragma unroll 1
    for (u32 j = 0; j < ROWS_PER_SEGMENT; j++) {
        u32 row = first + j * LANES, chunks = chunks_from(tile, row), count = elements_in(tile, row + lane);
        if (chunks == 0) break;
        InputChunk<S> input = read_part_chunk<Input, S::REVERSE, From>(tile, row + lane);
        A value = A();
        if (count > 0) value = S::Fold::template of<false>(input, count);
        value = kogge_stone<typename S::Op>(value, lane, chunks);
        OutputChunk<S> output = {};
        before = scan_row<S, false, false>(before, input, count, value, chunks, lane, output);
        write_part_chunk<typename S::Output, E, S::REVERSE, From>(to, tile.count, row + lane, count, output);
    }
}
