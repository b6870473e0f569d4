// Runs under an exact operator, one of which no order of combination changes the result: what a part of the sequence
// leaves to the next is the fold of what has come since its last head, its *tail*. So chunks, rows and segments lie
// where they do in a sequence that is a single run, and a bit an element tells where to start anew.

template <class A>
struct Tail {
    A value;
    u32 headed;  // whether a run starts in that part
};
template <class Op>
struct TailOperator {
    typedef Tail<typename Op::Element> Element;
    static __device__ __forceinline__ Element combine(const Element& left, const Element& right) {
        return {choose(right.headed != 0, right.value, Op::combine(left.value, right.value)), left.headed | right.headed};
    }
};
// What the rounds are told where they hand tails on.
template <class S>
struct Tailed : S {
    typedef TailOperator<typename S::Op> Op;
    typedef Op Plain;
};

// ---- bits ----

// The bits of a tile as they come from another launch's mask: in the order of its elements.
template <class S, bool FOUND_HERE>
struct BitsOf {
    static constexpr u32 E = Order<typename S::Input>::CHUNK, WORDS = Order<typename S::Input>::TILE / 32;
    static_assert((E & (E - 1)) == 0, "a chunk's bits lie in one word");

    // Those of a chunk of the tile.
    static __device__ __forceinline__ u32 of_chunk(const u32* bits, u32 chunk) { return bits[chunk * E / 32] >> chunk * E % 32 & ((1u << E) - 1); }
    // 1 + the place of a segment's last head in it, or 0.
    static __device__ __forceinline__ u32 last_head(const u32* bits, u32 segment, u32 lane) {
        constexpr u32 SEGMENT_WORDS = Order<typename S::Input>::SEGMENT / 32;
        u32 last = 0;
#pragma unroll
        for (u32 first = 0; first < SEGMENT_WORDS; first += LANES) {
            u32 word = first + lane < SEGMENT_WORDS ? bits[segment * SEGMENT_WORDS + first + lane] : 0, with = lanes_where(word != 0);
            if (with == 0) continue;
            u32 highest = highest_bit(with);
            last = (first + highest) * 32 + highest_bit(shuffle(word, highest)) + 1;
        }
        return last;
    }
};
// The bits of a tile as markers make them (markers.cuh): a word has those of a lane's chunks in several rows, so that nothing
// goes from lane to lane.
template <class S>
struct BitsOf<S, true> {
    static constexpr u32 E = Order<typename S::Input>::CHUNK, ROWS = E * ROWS_PER_SEGMENT < 32 ? ROWS_PER_SEGMENT : 32 / E;
    static constexpr u32 POSITIONS = ROWS * LANES * E, WORDS = Order<typename S::Input>::TILE / POSITIONS * LANES;

    static __device__ __forceinline__ u32 of_chunk(const u32* bits, u32 chunk) {
        u32 row = chunk / LANES;
        return bits[row / ROWS * LANES + chunk % LANES] >> row % ROWS * E & ((1u << E) - 1);
    }
    static __device__ __forceinline__ u32 last_head(const u32* bits, u32 segment, u32 lane) {
        constexpr u32 PARTS = ROWS_PER_SEGMENT / ROWS;
        u32 last = 0;
#pragma unroll
        for (u32 part = 0; part < PARTS; part++) {
            u32 word = bits[(segment * PARTS + part) * LANES + lane];
            if (word == 0) continue;
            u32 highest = highest_bit(word);
            last = part * POSITIONS + highest / E * LANES * E + lane * E + highest % E + 1;
        }
#pragma unroll
        for (u32 stride = 1; stride < LANES; stride *= 2) {
            u32 other = shuffle_xor(last, stride);
            if (other > last) last = other;
        }
        return last;
    }
};
template <class S>
using Bits = BitsOf<S, finds_heads<S>()>;

// ---- chunks ----

// The sum of a chunk of bytes since its last head.
template <class S>
KOGGE_DEVICE int packed_tail(const InputChunk<S>& input, u32 heads) {
    u32 last = heads ? highest_bit(heads) : 0;
    u64 low = last < 8 ? ~0ull << 8 * last : 0, high = last > 8 ? ~0ull << 8 * (last - 8) : ~0ull;
    u32 kept[4] = {(u32)low, (u32)(low >> 32), (u32)high, (u32)(high >> 32)};
    int tail = 0;
#pragma unroll
    for (u32 i = 0; i < 4; i++) tail = add_bytes(input.word[i] & kept[i], tail);
    return tail;
}
// The tail of a chunk's first `count` elements.
template <class S, bool PLAIN, class Op = typename S::Op>
KOGGE_DEVICE typename Op::Element tail_of_chunk(const InputChunk<S>& input, u32 heads, u32 count) {
    typedef typename Op::Element A;
    if constexpr (Same<typename S::Fold, PackedSum<S>>::YES && sizeof(typename S::Input) == 1) {
        if (count == Order<typename S::Input>::CHUNK) return packed_tail<S>(input, heads);
    }
    A tail = widened<A, PLAIN>(input, 0);
#pragma unroll
    for (u32 e = 1; e < Order<typename S::Input>::CHUNK; e++) {
        if (e >= count) continue;
        A value = widened<A, PLAIN>(input, e);
        tail = choose(heads >> e & 1, value, Op::combine(tail, value));
    }
    return tail;
}
// The values of a chunk that follows the tail `running`. As any order will do, a run's init comes in at the end.
template <class S, bool PLAIN, class Op = typename S::Op>
KOGGE_DEVICE OutputChunk<S> scan_headed_chunk(typename Op::Element running, const InputChunk<S>& input, u32 heads,
                                              const Maybe<typename Op::Element>& init) {
    typedef typename Op::Element A;
    A value[Order<typename S::Input>::CHUNK];
#pragma unroll
    for (u32 e = 0; e < Order<typename S::Input>::CHUNK; e++) {
        A own = widened<A, PLAIN>(input, e);
        bool head = heads >> e & 1;
        A through = choose(head, own, Op::combine(running, own));
        value[e] = S::EXCLUSIVE ? running : through;
        if (init.exists) value[e] = Op::combine(init.value, value[e]);
        if (S::EXCLUSIVE) value[e] = choose(head, or_identity<typename S::Op>(init), value[e]);
        running = through;
    }
    return narrowed<typename S::Output>(value);
}

// ---- rows ----

// How many lanes it is down to the last that has a head, or to lane 0: Kogge–Stone steps that reach no farther take in
// one run alone. `with` has a bit for each lane that has a head.
KOGGE_DEVICE u32 reach_of(u32 with, u32 lane) {
    u32 below = with & ~0u >> (LANES - 1 - lane);
    return below ? lane - highest_bit(below) : lane;
}
// The tail of the row's chunks up to each lane's.
template <class Op, class A>
KOGGE_DEVICE A tails_of_row(A value, u32 reach) {
#pragma unroll
    for (u32 stride = 1; stride < LANES; stride *= 2) {
        A left = value_of_lane_below(value, stride);
        value = take_left<Op>(reach >= stride, left, value);
    }
    return value;
}
// What precedes each lane's chunk, from the tails of a row up to it and from `before`, the tail of all that precedes the
// row; which becomes that of what precedes the next.
template <class Op, class A>
KOGGE_DEVICE A before_headed_chunk(A& before, const A& tail, u32 with, u32 lane, u32 chunks) {
    A left = value_of_lane_below(tail, 1), last = value_of_lane(tail, chunks - 1);
    A entered = choose((with & ((1u << lane) - 1)) != 0, left, Op::combine(before, left));
    entered = choose(lane == 0, before, entered);
    before = choose(with != 0, last, Op::combine(before, last));
    return entered;
}

// ---- segments ----

// The tail of a whole segment whose last head is at the place before `last`; nothing if its chunks aren't plain, or a value
// isn't the number that `Op` needs.
template <class S, class From, class Op>
KOGGE_DEVICE Maybe<typename Op::Element> tail_of_whole_segment(const Span<typename S::Input>& tile, const u32* bits, u32 start, u32 last, u32 lane) {
    typedef typename Op::Element A;
    constexpr u32 E = Order<typename S::Input>::CHUNK;
    InputChunk<S> input[ROWS_PER_SEGMENT];
    read_segment<S, From>(tile, start + lane, input);
    if (!all_lanes(are_plain<A>(input))) return {A(), false};
    A value[ROWS_PER_SEGMENT];
#pragma unroll
    for (u32 j = 0; j < ROWS_PER_SEGMENT; j++) value[j] = fold_of<S, Op>(input[j]);
    if (!all_lanes(are_numbers<S, Op>(value))) return {A(), false};
    // The row of the last head by itself, from the lane on that has it; then the rows after it, whole.
    u32 chunk = (last - 1) / E, row = chunk / LANES, index = start + row * LANES + lane;
    InputChunk<S> headed = read_chunk<typename S::Input, S::REVERSE, true, From>(tile, index);
    A tail = tail_of_chunk<S, false, Op>(headed, Bits<S>::of_chunk(bits, index), E);
    u32 first = chunk % LANES;
    tail = value_of_lane(tails_of_row<Op>(tail, lane < first ? 0 : lane - first), LANES - 1);
    A totals = row_totals<Op>(value, lane);
#pragma unroll
    for (u32 j = 1; j < ROWS_PER_SEGMENT; j++) {
        A total = value_of_lane(totals, lane_of_row(j));
        tail = choose(j > row, Op::combine(tail, total), tail);
    }
    return {tail, true};
}
// The same of any segment, row by row.
template <class S>
KOGGE_DEVICE typename S::Op::Element tail_of_part_segment(const Span<typename S::Input>& tile, const u32* bits, u32 start, u32 last, u32 lane) {
    typedef typename S::Op Op;
    typedef typename S::Input Input;
    typedef typename Op::Element A;
    A tail = A();
#pragma unroll 1
    for (u32 j = (last - 1) / Order<Input>::CHUNK / LANES; j < ROWS_PER_SEGMENT; j++) {
        u32 first = start + j * LANES, chunks = chunks_from(tile, first), count = elements_in(tile, first + lane);
        if (chunks == 0) break;
        u32 heads = count > 0 ? Bits<S>::of_chunk(bits, first + lane) : 0, with = lanes_where(heads != 0);
        A value = tail_of_chunk<S, false>(read_part_chunk<Input, S::REVERSE, FromShared>(tile, first + lane), heads, count);
        value = value_of_lane(tails_of_row<Op>(value, reach_of(with, lane)), chunks - 1);
        tail = choose(with != 0, value, Op::combine(tail, value));
    }
    return tail;
}
// The tail of the segment whose first chunk is `start`, if it has elements.
template <class S>
KOGGE_DEVICE Maybe<Tail<typename S::Op::Element>> tail_of_segment(const Span<typename S::Input>& tile, const u32* bits, u32 start, u32 lane) {
    typedef typename S::Op::Element A;
    u32 last = Bits<S>::last_head(bits, start / CHUNKS_PER_SEGMENT, lane);
    if (last == 0) {
        Maybe<A> total = segment_total<S>(tile, start, lane);
        return {{total.value, 0}, total.exists};
    }
    Lie lie = lie_of_segment<S>(tile, start);
    Maybe<A> tail = {A(), false};
    if (lie == IN_PLACE) tail = tail_of_whole_segment<S, FromShared, typename S::Plain>(tile, bits, start, last, lane);
    if (lie == ANYWHERE) tail = tail_of_whole_segment<S, FromSharedAnywhere, typename S::Plain>(tile, bits, start, last, lane);
    if (!tail.exists) tail.value = tail_of_part_segment<S>(tile, bits, start, last, lane);
    return {{tail.value, 1}, true};
}
