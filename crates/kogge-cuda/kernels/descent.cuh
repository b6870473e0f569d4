// A lane goes down a line: it meets the chunks one after another, and needs no other lane.
//
// The Kogge–Stone value of a chunk depends on the chunks before it alone, so it can be had as the chunk
// arrives: the step of stride d takes on its left what the same step gave d chunks before. Delay lines of
// 1, 2, 4, 8 and 16 values hold that, and no element is looked at twice. Chunks go by octets, so that
// the places of the delay lines are known to the compiler, and stay in registers.

enum : u32 { CHUNKS_PER_OCTET = 8, OCTETS_PER_ROW = CHUNKS_PER_ROW / CHUNKS_PER_OCTET };

// Puts a step's value in its place in a delay line and, if the line is filled, takes in what was there.
template <class Op, class A>
KOGGE_DEVICE A delayed(A& place, const A& value, bool filled) {
    A left = place;
    place = value;
    if (!filled) return value;
    return Op::combine(left, value);
}

template <class A>
struct Delays {
    A one[1], two[2], four[4], eight[8];
    A recent[8], older[8];  // sixteen: those of the octet before, and of the one before that

    // The Kogge–Stone value of chunk `i` of an octet of a row, whose own total is `value`.
    template <class Op>
    __device__ __forceinline__ A through(A value, u32 octet, u32 i) {
        value = delayed<Op>(one[0], value, octet > 0 || i >= 1);
        value = delayed<Op>(two[i % 2], value, octet > 0 || i >= 2);
        value = delayed<Op>(four[i % 4], value, octet > 0 || i >= 4);
        value = delayed<Op>(eight[i], value, octet > 0);
        A left = older[i];
        older[i] = recent[i];
        recent[i] = value;
        if (octet < 2) return value;
        return Op::combine(left, value);
    }
};

// The elements of chunk after chunk come from the source, octet by octet, and the values go to the sink.
// Gives the total of the row. `before` is what precedes the row, `count` the elements that it has, one at
// least, and no more than so many octets.
template <class S, bool WHOLE, u32 OCTETS = OCTETS_PER_ROW, class Source, class Sink>
KOGGE_DEVICE typename S::Op::Element descend_row(Delays<typename S::Op::Element>& delays,
                                                 const Maybe<typename S::Op::Element>& before, u32 count,
                                                 Source& source, Sink& sink) {
    typedef typename S::Op Op;
    typedef typename Op::Element A;
    constexpr u32 E = Order<typename S::Input>::CHUNK;
    // Whole rows of small values have code for each octet: none of its operands is chosen, and loads run ahead.
    constexpr u32 OCTETS_AT_ONCE = WHOLE && E <= 4 && sizeof(A) <= 8 ? OCTETS_PER_ROW : 1;
    Maybe<A> left = before;
    A row = A();
#pragma unroll(OCTETS_AT_ONCE)
    for (u32 octet = 0; octet < OCTETS; octet++) {
        if (!WHOLE && octet * CHUNKS_PER_OCTET * E >= count) break;
        source.begin_octet();
        // Each chunk is asked for before the one ahead of it is worked on, or its load would be waited for.
        typename S::Input next[E];
        source.take(octet, 0, next);
#pragma unroll
        for (u32 i = 0; i < CHUNKS_PER_OCTET; i++) {
            u32 first = (octet * CHUNKS_PER_OCTET + i) * E;
            if (!WHOLE && first >= count) continue;
            typename S::Input input[E];
#pragma unroll
            for (u32 e = 0; e < E; e++) input[e] = next[e];
            if (i + 1 < CHUNKS_PER_OCTET) source.take(octet, i + 1, next);
            A total = Convert<A, typename S::Input>::of(input[0]);
            Maybe<A> running = left;
            // A chunk that is cut short goes the same way, without a branch an element.
#pragma unroll
            for (u32 e = 0; e < E; e++) {
                bool exists = WHOLE || first + e < count;
                A value = Convert<A, typename S::Input>::of(input[e]);
                if (e > 0) total = WHOLE ? Op::combine(total, value) : choose(exists, Op::combine(total, value), total);
                Maybe<A> through = join<Op>(running, value);
                sink.put(i * E + e, S::EXCLUSIVE ? or_identity<Op>(running) : through.value, exists);
                running = through;
            }
            row = delays.template through<Op>(total, octet, i);
            left = join<Op>(before, row);
        }
        source.end_octet();
    }
    return row;
}

// The left fold of a whole chunk.
template <class S, class Source>
KOGGE_DEVICE typename S::Op::Element chunk_total(Source& source, u32 octet, u32 i) {
    typedef typename S::Op Op;
    typedef typename Op::Element A;
    constexpr u32 E = Order<typename S::Input>::CHUNK;
    typename S::Input input[E];
    source.take(octet, i, input);
    A total = Convert<A, typename S::Input>::of(input[0]);
#pragma unroll
    for (u32 e = 1; e < E; e++) total = Op::combine(total, Convert<A, typename S::Input>::of(input[e]));
    return total;
}

// The total of a whole row: the last chunk's Kogge–Stone value, which is a balanced tree.
template <class S, class Source>
KOGGE_DEVICE typename S::Op::Element whole_row_total(Source& source) {
    typedef typename S::Op Op;
    typedef typename Op::Element A;
    A row = A(), half = A();
#pragma unroll 1
    for (u32 octet = 0; octet < OCTETS_PER_ROW; octet++) {
        A value[CHUNKS_PER_OCTET];
#pragma unroll
        for (u32 i = 0; i < CHUNKS_PER_OCTET; i++) value[i] = chunk_total<S>(source, octet, i);
#pragma unroll
        for (u32 stride = 1; stride < CHUNKS_PER_OCTET; stride *= 2) {
#pragma unroll
            for (u32 i = 0; i < CHUNKS_PER_OCTET; i += 2 * stride) value[i] = Op::combine(value[i], value[i + stride]);
        }
        half = octet % 2 == 0 ? value[0] : Op::combine(half, value[0]);
        if (octet % 2 == 1) row = octet == 1 ? half : Op::combine(row, half);
    }
    return row;
}

// The left fold of the first `count` values, after `before`.
template <class Op, u32 N, class A>
KOGGE_DEVICE Maybe<A> fold_after(Maybe<A> before, const A (&value)[N], u32 count) {
#pragma unroll
    for (u32 i = 0; i < N; i++)
        if (i < count) before = join<Op>(before, value[i]);
    return before;
}

// For whom only the total counts.
struct Nowhere {
    template <class A>
    __device__ __forceinline__ void put(u32, const A&, bool) {}
};

// The places of a line, `index` of an octet after the one before. Four pointers take turns, so that an address doesn't depend
// on the last three.
template <class U, u32 ALIGNMENT>
struct Places {
    enum : u32 { TURNS = 4 };
    u8* next[TURNS];
    long long step;

    __device__ __forceinline__ Places(u8* first, long long stride) : step(TURNS * stride) {
#pragma unroll
        for (u32 i = 0; i < TURNS; i++) next[i] = first + i * stride;
    }
    template <class A>
    __device__ __forceinline__ void put(u32 index, const A& value, bool exists) {
        u8*& to = next[index % TURNS];
        if (exists) write_element<ALIGNMENT, U>(to, Convert<U, A>::of(value));
        to += step;
    }
};

// The same for a lane that may have no line.
template <class U, u32 ALIGNMENT>
struct ExistingPlaces {
    Places<U, ALIGNMENT> places;
    bool exist;

    template <class A>
    __device__ __forceinline__ void put(u32 index, const A& value, bool exists) {
        places.put(index, value, exist && exists);
    }
};

// What precedes the rows of a line, as they end one after another: the levels of the order above the row. Its delay lines
// of tiles lie where it is told, `PITCH` values apart.
template <class S, u32 PITCH>
struct Course {
    typedef typename S::Op Op;
    typedef typename Op::Element A;
    enum : u32 { PLACES = TILES_PER_BLOCK - 1, TILE_STEPS = 5 };
    static_assert(1 << TILE_STEPS == TILES_PER_BLOCK, "a step a power of two");

    Maybe<A> blocks;   // init and the whole blocks before
    Maybe<A> segment;  // what precedes the segment
    Maybe<A> before;   // what precedes the row
    // The totals, so far, of the segment and of the tile; a Kogge–Stone step each of the tiles before.
    Maybe<A> segment_total, tile_total;
    A* delay;  // what is indexed at run time would take all else to local memory with it
    u64 row;   // rows that have ended

    __device__ __forceinline__ Course(const Maybe<A>& init, A* delay) : delay(delay) {
        blocks = segment = before = init;
        segment_total = tile_total = {A(), false};
        row = 0;
    }
    __device__ __forceinline__ void end_row(const A& total) {
        segment_total = join<Op>(segment_total, total);
        before = join<Op>(before, total);
        row++;
        if (row % ROWS_PER_SEGMENT == 0) end_segment();
        if (row % (ROWS_PER_SEGMENT * SEGMENTS_PER_TILE) == 0) end_tile();
    }
    // The same for a whole segment, at the start of one.
    __device__ __forceinline__ void end_rows_of_segment(const A& total) {
        segment_total = {total, true};
        end_segment();
        row += ROWS_PER_SEGMENT;
        if (row % (ROWS_PER_SEGMENT * SEGMENTS_PER_TILE) == 0) end_tile();
    }
    // The total of the line, after its last row.
    __device__ __forceinline__ Maybe<A> end() {
        if (segment_total.exists) end_segment();
        if (tile_total.exists) {
            row += ROWS_PER_SEGMENT * SEGMENTS_PER_TILE - 1;
            end_tile();
        }
        return before;
    }

  private:
    __device__ __forceinline__ void end_segment() {
        tile_total = join<Op>(tile_total, segment_total);
        before = segment = join<Op>(segment, segment_total);
        segment_total.exists = false;
    }
    // All places are read before any is written, or each would be waited for in turn.
    __device__ __forceinline__ void end_tile() {
        u32 tile = (u32)((row / (ROWS_PER_SEGMENT * SEGMENTS_PER_TILE) - 1) % TILES_PER_BLOCK);
        A value = tile_total.value, left[TILE_STEPS];
#pragma unroll
        for (u32 step = 0; step < TILE_STEPS; step++)
            if (tile >= 1u << step) left[step] = *place(tile, 1u << step);
#pragma unroll
        for (u32 step = 0; step < TILE_STEPS; step++) {
            *place(tile, 1u << step) = value;
            if (tile >= 1u << step) value = Op::combine(left[step], value);
        }
        before = segment = join<Op>(blocks, value);
        if (tile == TILES_PER_BLOCK - 1) blocks = before;
        tile_total.exists = false;
    }
    // Where the step of this stride finds its left operand, and leaves its own.
    __device__ __forceinline__ A* place(u32 tile, u32 stride) const { return delay + (stride - 1 + tile % stride) * PITCH; }
};
