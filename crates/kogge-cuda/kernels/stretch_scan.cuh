// The scan of stretches: runs of at most three quarters of a tile, one after another, each stretch by one warp.
//
// A warp goes along its stretch row by row and carries what precedes in registers: every element is read once, and
// nobody waits for anybody. A row here is 32 cells (cells.cuh), and chunks begin where their run does; so a Kogge–Stone
// step reaches into the row of cells before, whose values the lanes have kept. Where no run begins, which is most rows of
// longer runs, all that depends on the run is known beforehand: several rows go at once.
//
// Where cells are whole vectors, values take the places of the elements in their stage, and the copy engine stores them from there:
// so what memory gets to write lies together, of however many warps.

// One of two values by a mask of ones or zeros: an instruction a word, and no predicate, of which there are seven.
template <class T>
KOGGE_DEVICE T blend(u32 mask, const T& one, const T& other) {
    Words<T> words = to_words(one), others = to_words(other);
#pragma unroll
    for (u32 i = 0; i < Words<T>::COUNT; i++) words.word[i] = (words.word[i] & mask) | (others.word[i] & ~mask);
    return from_words<T>(words);
}

// Along stretches. `WHOLE` says that cells lie at multiples of 16 bytes, in input and output, and that runs have no initial
// value: what else there may be takes registers.
template <class S, bool WHOLE>
struct StretchWarp {
    typedef typename S::Op Op;
    typedef typename Op::Element A;
    typedef typename S::Input Input;
    typedef typename S::Output Output;
    typedef StretchShape<S> Shape;
    static constexpr u32 E = Shape::E, ROW = Shape::ROW, STEPS = Shape::STEPS;
    static constexpr bool VECTORS = InputChunk<S>::BYTES % 16 == 0;
    // Whether values go to memory by way of the stage.
    static constexpr bool STORED = WHOLE && VECTORS && S::BULK && sizeof(Input) == sizeof(Output);
    // Rows without a head that go at once; one where more would take too many registers.
    static constexpr u32 GROUP = sizeof(A) <= 4 && E <= 4 ? 2 : 1;

    StretchRing<S>& ring;
    const SegmentedArguments<S>& arguments;
    u32 warp, lane;
    A init;      // if there is one
    bool begun;  // whether there is

    // Of the row of cells before: the folds of its last chunks, the Kogge–Stone values by step, the chunks' last values.
    A tail, turned[5], passed;
    u32 below[5];  // ones where the lane so many below is of the same row of cells

    // The run that enters: in which lane its rows begin and where in a cell its chunks do, how many of its rows
    // are over, and what precedes the next one, its segment, and what there is of that.
    u32 head_lane, phase, rows;
    A row, before, segment;
    // What follows of that for this lane: a bit for each step that its chunk takes part in, and two more.
    enum : u32 { BEHIND_HEAD = 32, AT_HEAD = 64 };
    u32 takes;

    __device__ __forceinline__ StretchWarp(StretchRing<S>& ring, const SegmentedArguments<S>& arguments, u32 warp, u32 lane)
        : ring(ring), arguments(arguments), warp(warp), lane(lane), init(A()), begun(false), tail(A()), passed(A()), row(A()), before(A()), segment(A()) {
        if constexpr (!WHOLE) {
            Maybe<A> given = arguments.inits.of(0);
            init = given.value;
            begun = given.exists;
        }
#pragma unroll
        for (u32 k = 0; k < 5; k++) {
            turned[k] = A();
            below[k] = kept(lane >= 1u << k ? ~0u : 0u);
        }
        enter(0, 0);
    }

    __device__ __forceinline__ void scan_all() {
        StretchLoader<S> loader(ring, arguments, warp, lane);
        for (u32 s = 0; s < S::STAGES; s++) loader.template load<false>(s);
        u32 s = 0, parity = 0, empty = 0;
        StraddlingRows<Output, E, S::REVERSE> straddling = {};
        // Behind the last stretch all stages are empty: nothing is under way when the warp ends.
#pragma unroll 1
        while (empty < S::STAGES) {
            barrier_wait(&ring.full[warp][s], parity);
            StretchRows here = ring.rows[warp][s];
            loader.look_ahead();
            if (here.left == 0) {
                empty++;
            } else {
                Span<Input> stage = loader.staged(here.base, s);
                scan_stage(here, stage, s, straddling);
                // What lanes have loaded or put there, before the copy engine writes over it or reads it.
                if (S::BULK && (STORED || !WHOLE || !here.full(Shape::POSITIONS))) bulk_fence();
                sync_warp();
                if constexpr (STORED) store_stage(here, stage.bytes);
                loader.template load<STORED>(s);
            }
            if (++s < S::STAGES) continue;
            s = 0;
            parity ^= 1;
        }
    }

  private:
    // ---- a stage ----

    typedef StraddlingRows<Output, E, S::REVERSE> Straddling;
    __device__ __forceinline__ void scan_stage(const StretchRows& here, const Span<Input>& stage, u32 s, Straddling& straddling) {
        u32 steps = here.left < Shape::POSITIONS ? (here.left + ROW - 1) / ROW : STEPS;
        const u32* words = ring.heads[warp][s];
        u32 with_heads = rows_with_heads(words, steps);
        Span<Output> to = {STORED ? stage.bytes : output(here.base), Shape::POSITIONS};
        bool aligned = WHOLE || (u64)stage.bytes % 16 == 0, full = WHOLE && here.full(Shape::POSITIONS);
#pragma unroll 1
        for (u32 j = 0; j < steps;) {
            if constexpr (GROUP > 1) {
                if (j + GROUP <= steps && (with_heads >> j & ((1u << GROUP) - 1)) == 0) {
                    InputChunk<S> input[GROUP];
                    A out[GROUP][E];
#pragma unroll
                    for (u32 g = 0; g < GROUP; g++) input[g] = read(stage, j + g, aligned);
                    scan_plain_rows<GROUP>(out, input);
#pragma unroll
                    for (u32 g = 0; g < GROUP; g++) write(here, to, j + g, full, out[g], straddling);
                    j += GROUP;
                    continue;
                }
            }
            InputChunk<S> input[1] = {read(stage, j, aligned)};
            A out[1][E];
            if ((with_heads >> j & 1) == 0) {
                scan_plain_rows<1>(out, input);
            } else {
                u32 heads = heads_in(words + j * E);
                bool in_phase = E > 1 && lanes_where(heads > 1) == 0 && phase == 0;
                if (in_phase) scan_row_in_phase(out[0], input[0], heads != 0);
                else scan_row(out[0], input[0], heads);
            }
            write(here, to, j, full, out[0], straddling);
            j++;
        }
    }
    // A bit for each row: whether runs begin there.
    __device__ __forceinline__ u32 rows_with_heads(const u32* words, u32 steps) const {
        u32 heads = 0;
        if (lane < steps) {
#pragma unroll
            for (u32 e = 0; e < E; e++) heads |= words[lane * E + e];
        }
        return lanes_where(heads != 0);
    }
    // The heads of this lane's cell in a row of these words.
    __device__ __forceinline__ u32 heads_in(const u32* words) const {
        u32 place = lane * E, heads = words[place / 32] >> place % 32;
        if (32 % E != 0) heads |= words[(place + E - 1) / 32] << 1 << (31 - place % 32);
        return heads & ((1u << E) - 1);
    }
    __device__ __forceinline__ InputChunk<S> read(const Span<Input>& stage, u32 j, bool aligned) const {
        u32 index = j * LANES + lane;
        if constexpr (!VECTORS) return read_chunk<Input, S::REVERSE, false, FromShared>(stage, index);
        if (aligned) return read_chunk<Input, S::REVERSE, true, FromShared>(stage, index);
        return read_chunk<Input, S::REVERSE, true, FromSharedAnywhere>(stage, index);
    }
    // The lowest address of the values of a stage's positions, some of which may not exist.
    __device__ __forceinline__ u8* output(u64 base) const {
        u64 element = S::REVERSE ? arguments.length - base - Shape::POSITIONS : base;
        return (u8*)arguments.output + element * sizeof(Output);
    }
    // Writes a row of cells, as far as it is of the stretch: whole ones one after another, the others by their elements.
    __device__ __forceinline__ void write(const StretchRows& here, const Span<Output>& to, u32 j, bool full, const A (&out)[E], Straddling& straddling) const {
        Chunk<Output, E> chunk = narrowed<Output>(out);
        u32 index = j * LANES + lane, place = index * E, first = here.first();
        if constexpr (STORED) return put_back(to, place, chunk);
        if (full) return write_chunk<Output, E, S::REVERSE, true>(to.bytes, to.count, index, E, chunk);
        bool whole = j * ROW >= first && (j + 1) * ROW <= here.left;
        if constexpr (Chunk<Output, E>::BYTES % 16 == 0) {
            if (WHOLE || (u64)to.bytes % 16 == 0) {
                if (whole || (place >= first && place + E <= here.left))
                    return write_chunk<Output, E, S::REVERSE, true>(to.bytes, to.count, index, E, chunk);
            } else if (whole) {
                bool begins = j == 0 ? here.begins() : (j - 1) * ROW < first, ends = (j + 2) * ROW > here.left;
                u8* at = to.bytes + (u64)(S::REVERSE ? to.count - E - place : place) * sizeof(Output);
                return straddling.write(at, chunk, lane, begins, ends);
            }
        }
#pragma unroll
        for (u32 e = 0; e < E; e++) {
            Output value = chunk.get(e);
            u8* at = to.bytes + (u64)(S::REVERSE ? to.count - 1 - place - e : place + e) * sizeof(Output);
            if (place + e >= first && place + e < here.left) store_aligned<Output>(at, value);
        }
    }

    // Puts a cell's values into the stage.
    __device__ __forceinline__ void put_back(const Span<Output>& stage, u32 place, const Chunk<Output, E>& chunk) const {
        Chunk<Output, E> stored = chunk;
        if constexpr (S::REVERSE && E > 1) {
#pragma unroll
            for (u32 e = 0; e < E; e++) stored.put(e, chunk.get(E - 1 - e));
        }
        u8* to = stage.bytes + (u64)(S::REVERSE ? stage.count - E - place : place) * sizeof(Output);
#pragma unroll
        for (u32 q = 0; q < Chunk<Output, E>::BYTES / 16; q++) {
            Quad quad;
#pragma unroll
            for (u32 i = 0; i < 4; i++) quad.word[i] = stored.word[q * 4 + i];
            store_shared(to + q * 16, quad);
        }
    }
    // Writes a stage's values, as far as they are of the stretch: what fills whole 16 bytes by the copy engine, the few bytes at either
    // end by the lanes.
    __device__ __forceinline__ void store_stage(const StretchRows& here, const u8* stage) const {
        u32 from = here.first(), end = here.left < Shape::POSITIONS ? here.left : (u32)Shape::POSITIONS;
        u32 bytes = (end - from) * (u32)sizeof(Output), skipped = (S::REVERSE ? Shape::POSITIONS - end : from) * (u32)sizeof(Output);
        u8* to = output(here.base) + skipped;
        const u8* source = stage + skipped;
        u32 head = (u32)(-(u64)to % 16);
        if (head > bytes) head = bytes;
        u32 middle = (bytes - head) / 16 * 16, tail = bytes - head - middle;
        if (lane == 0 && middle > 0) bulk_store(to + head, source + head, middle);
        store_end(to, source, head);
        store_end(to + head + middle, source + head + middle, tail);
    }
    // Fewer than 16 bytes, of whole elements.
    __device__ __forceinline__ void store_end(u8* to, const u8* from, u32 bytes) const {
        u32 at = lane * (u32)sizeof(Output);
        if (at >= bytes) return;
        Output value;
        memcpy(&value, __builtin_assume_aligned(from + at, alignof(Output)), sizeof(Output));
        store_aligned<Output>(to + at, value);
    }

    // ---- the run that enters a row of cells ----

    __device__ __forceinline__ void enter(u32 lane_of_head, u32 place) {
        head_lane = lane_of_head;
        phase = place;
        rows = 0;
        takes = reach((lane - lane_of_head - 1) % LANES);
        if (lane >= lane_of_head) takes |= BEHIND_HEAD;
        if (lane == lane_of_head) takes |= AT_HEAD;
    }
    // A bit for each Kogge–Stone step that the chunk of this index in its row takes part in.
    static __device__ __forceinline__ u32 reach(u32 index) { return index == 0 ? 0 : (2u << highest_bit(index)) - 1; }
    // `right` after what precedes it: `left`, or if it is the `first` of its run the initial value, if there is one.
    __device__ __forceinline__ A follow(bool first, const A& left, const A& right) const {
        if constexpr (WHOLE) return choose(first, right, Op::combine(left, right));
        return choose(first && !begun, right, Op::combine(choose(first, init, left), right));
    }
    // Takes in the total of the row that ends.
    __device__ __forceinline__ void pass_row(const A& total) {
        row = follow(rows == 0, row, total);
        segment = choose(rows % ROWS_PER_SEGMENT == 0, total, Op::combine(segment, total));
        if (++rows % ROWS_PER_SEGMENT > 0) return;
        before = follow(rows == ROWS_PER_SEGMENT, before, segment);
        row = before;
    }
    // What precedes a chunk of the run that entered, from the Kogge–Stone value of the chunk before; `first` says that its
    // first row has just ended, and `entering` is what preceded that.
    __device__ __forceinline__ A before_chunk(const A& value, const A& entering, bool first, bool behind, bool at_head) const {
        A begin = choose(behind, row, entering);
        return choose(at_head, begin, follow(first && !behind, begin, value));
    }

    // ---- Kogge and Stone ----

    // The value of the lane below, and that of a row of cells before for lane 0.
    template <u32 G>
    __device__ __forceinline__ void turn(A (&value)[G], A& last) const {
        A moved[G];
#pragma unroll
        for (u32 g = 0; g < G; g++) moved[g] = value_of_lane(value[g], lane + LANES - 1);
#pragma unroll
        for (u32 g = 0; g < G; g++) value[g] = blend(below[0], moved[g], g > 0 ? moved[g > 0 ? g - 1 : 0] : last);
        last = moved[G - 1];
    }
    template <u32 G>
    __device__ __forceinline__ void kogge_stone_cells(A (&value)[G], u32 steps) {
#pragma unroll
        for (u32 k = 0; k < 5; k++) {
            A moved[G];
#pragma unroll
            for (u32 g = 0; g < G; g++) moved[g] = value_of_lane(value[g], lane - (1u << k));
#pragma unroll
            for (u32 g = 0; g < G; g++) {
                A left = blend(below[k], moved[g], g > 0 ? moved[g > 0 ? g - 1 : 0] : turned[k]);
                value[g] = take_left<Op>(steps >> k & 1, left, value[g]);
            }
            turned[k] = moved[G - 1];
        }
    }
    // The values of the chunk that goes over into this cell, up to where another begins, from what it was below.
    __device__ __forceinline__ void scan_rest(A (&out)[E], const InputChunk<S>& input, A running, u32 starts) const {
#pragma unroll
        for (u32 e = 0; e + 1 < E; e++) {
            A through = Op::combine(running, widened<A, false>(input, e));
            out[e] = choose(e < starts, S::EXCLUSIVE ? running : through, out[e]);
            running = through;
        }
    }

    // ---- rows of cells in which no run begins ----

    template <u32 G>
    __device__ __forceinline__ void scan_plain_rows(A (&out)[G][E], const InputChunk<S> (&input)[G]) {
        A value[G], last[G];
#pragma unroll
        for (u32 g = 0; g < G; g++) {
            A fold = widened<A, false>(input[g], 0);
#pragma unroll
            for (u32 e = 1; e < E; e++) {
                A element = widened<A, false>(input[g], e);
                fold = choose(e == phase, element, Op::combine(fold, element));
            }
            value[g] = fold;
        }
        turn(value, tail);
#pragma unroll
        for (u32 g = 0; g < G; g++) {
#pragma unroll
            for (u32 e = 0; e + 1 < E; e++)
                value[g] = choose(e < phase, Op::combine(value[g], widened<A, false>(input[g], e)), value[g]);
        }
        kogge_stone_cells(value, takes);
        A total[G];
#pragma unroll
        for (u32 g = 0; g < G; g++) total[g] = value_of_lane(value[g], head_lane);
#pragma unroll
        for (u32 g = 0; g < G; g++) {
            A entering = row;
            bool first = g == 0 && rows == 0;
            pass_row(total[g]);
            A begin = before_chunk(value[g], entering, first, takes & BEHIND_HEAD, takes & AT_HEAD), running = begin;
#pragma unroll
            for (u32 e = 0; e < E; e++) {
                if (e > 0) running = choose(e == phase, begin, running);
                A through = Op::combine(running, widened<A, false>(input[g], e));
                out[g][e] = S::EXCLUSIVE ? running : through;
                running = through;
            }
            last[g] = running;
        }
        turn(last, passed);
#pragma unroll
        for (u32 g = 0; g < G; g++) scan_rest(out[g], input[g], last[g], phase);
    }

    // ---- a row of cells in which runs begin ----

    __device__ __forceinline__ void scan_row(A (&out)[E], const InputChunk<S>& input, u32 heads) {
        u32 with = lanes_where(heads != 0), lower = with & ((1u << lane) - 1), own = highest_bit(heads | 1);
        u32 source = lower ? highest_bit(lower) : head_lane, newest = highest_bit(with);
        u32 seen = shuffle(own, source), last_phase = shuffle(own, newest), place = lower ? seen : phase;
        // Where chunks begin in this cell: that of the run that enters it, unless it ends before, and every head.
        u32 starts = (heads & (2u << place) - 1) != 0 ? heads : heads | 1u << place;
        u32 first = lowest_bit(starts), chunk = (lane - source) % LANES;
        A value[1], last[1], fold = widened<A, false>(input, 0);
#pragma unroll
        for (u32 e = 1; e < E; e++) {
            A element = widened<A, false>(input, e);
            fold = choose(starts >> e & 1, element, Op::combine(fold, element));
        }
        value[0] = fold;
        turn(value, tail);
#pragma unroll
        for (u32 e = 0; e + 1 < E; e++) value[0] = choose(e < first, Op::combine(value[0], widened<A, false>(input, e)), value[0]);
        kogge_stone_cells(value, reach((chunk - 1) % LANES));
        A entering = row;
        bool entered = lower == 0, none = rows == 0;
        pass_row(value_of_lane(value[0], head_lane));
        A begin = before_chunk(value[0], entering, none, takes & BEHIND_HEAD, chunk == 0);
        // Of a run that began in this row of cells nothing but the initial value precedes the row.
        begin = choose(entered, begin, WHOLE ? value[0] : follow(true, init, value[0]));
        A running = begin;
#pragma unroll
        for (u32 e = 0; e < E; e++) {
            A element = widened<A, false>(input, e);
            bool head = heads >> e & 1;
            if (e > 0) running = choose(starts >> e & 1, begin, running);
            A through = follow(head, running, element);
            out[e] = through;
            if (S::EXCLUSIVE) out[e] = choose(head, !WHOLE && begun ? init : Op::identity(), running);
            running = through;
        }
        last[0] = running;
        turn(last, passed);
        scan_rest(out, input, last[0], first);
        enter(newest, last_phase);
    }
    // The same where chunks are cells: a `head` comes first in its cell, and nothing goes over into the next.
    __device__ __forceinline__ void scan_row_in_phase(A (&out)[E], const InputChunk<S>& input, bool head) {
        u32 with = lanes_where(head), lower = with & ((1u << lane) - 1);
        u32 source = lower ? highest_bit(lower) : head_lane, chunk = (lane - source) % LANES;
        A value[1] = {widened<A, false>(input, 0)};
#pragma unroll
        for (u32 e = 1; e < E; e++) value[0] = Op::combine(value[0], widened<A, false>(input, e));
        turn(value, tail);
        kogge_stone_cells(value, reach((chunk - 1) % LANES));
        A entering = row;
        bool none = rows == 0;
        pass_row(value_of_lane(value[0], head_lane));
        A begin = before_chunk(value[0], entering, none, takes & BEHIND_HEAD, chunk == 0);
        A running = choose(lower == 0, begin, WHOLE ? value[0] : follow(true, init, value[0]));
#pragma unroll
        for (u32 e = 0; e < E; e++) {
            A through = follow(e == 0 && head, running, widened<A, false>(input, e));
            out[e] = through;
            if (S::EXCLUSIVE) out[e] = choose(e == 0 && head, !WHOLE && begun ? init : Op::identity(), running);
            running = through;
        }
        enter(highest_bit(with), 0);
    }
};

// Whether every cell is of whole vectors, and no run has an initial value.
template <class S>
KOGGE_DEVICE bool are_whole(const SegmentedArguments<S>& arguments) {
    typedef typename S::Input Input;
    typedef typename S::Output Output;
    // In reverse, cells end where the elements do.
    u64 input = (u64)arguments.input + (S::REVERSE ? arguments.length * sizeof(Input) : 0);
    u64 output = (u64)arguments.output + (S::REVERSE ? arguments.length * sizeof(Output) : 0);
    bool vectors = InputChunk<S>::BYTES % 16 == 0 && Chunk<Output, Order<Input>::CHUNK>::BYTES % 16 == 0;
    return vectors && (input | output) % 16 == 0 && arguments.inits.kind == INITS_NONE;
}

template <class S>
KOGGE_DEVICE void stretch_scan(const SegmentedArguments<S>& arguments) {
    StretchRing<S>& ring = *(StretchRing<S>*)shared_memory();
    // By a shuffle, so that the compiler knows it for the same in all lanes.
    u32 warp = shuffle(thread_index() / LANES, 0), lane = thread_index() % LANES;
    if (lane == 0) {
        for (u32 s = 0; s < S::STAGES; s++) barrier_init(&ring.full[warp][s], 1 + LANES);
        barrier_init_fence();
    }
    sync_block();
    // The launch before takes long runs, and has let this one begin when lists and mask were there. That it has ended, those
    // that follow want to know.
    if (are_whole(arguments)) StretchWarp<S, true>(ring, arguments, warp, lane).scan_all();
    else StretchWarp<S, false>(ring, arguments, warp, lane).scan_all();
    await_launches();
}
