// Cells: the positions of a window, as many to a lane as a chunk has elements. A warp takes 32 in a step.
//
// The order starts anew at each run's first element, so chunks begin anywhere in their cells. But those of one
// run all begin at the same place of a cell, its phase: so a chunk's index in its row is a difference of lanes,
// and in every cell exactly one chunk of a run begins that came before the cell. What is left of it is in the
// next lane.

// The shape of windows of elements of this size.
template <class S>
struct WindowShape {
    typedef typename S::Input Input;
    static constexpr u32 E = Order<Input>::CHUNK, ROW = E * CHUNKS_PER_ROW, SEGMENT = Order<Input>::SEGMENT;
    static constexpr u32 WARPS = 8, THREADS = WARPS * LANES, STEPS = S::STEPS;
    static constexpr u32 ROWS = WARPS * STEPS, WINDOW = ROWS * ROW;
    static constexpr u32 LEAD = ROWS_PER_SEGMENT - 1;  // rows before the window that its first segment may have
    // Windows as heads.cuh counts them, which may be parts of these.
    static constexpr bool IN_ROUNDS = S::LONG_IN_ROUNDS;  // long runs do: then windows tell each other nothing
    static constexpr u32 PARTS = (WINDOW + MOST_MARKED - 1) / MOST_MARKED, MARKED = WINDOW / PARTS;
    static_assert(WINDOW % PARTS == 0 && ROWS % ROWS_PER_SEGMENT == 0, "a window is whole segments");
    static_assert(ROWS <= ROWS_PER_SEGMENT * SEGMENTS_PER_TILE && E <= 16, "a tile ends in a window once at most");
    static_assert(STEPS <= ROWS_PER_SEGMENT, "a run that begins in a share has no whole segment there");
};

enum : u32 { NOWHERE = ~0u };

// How chunks lie in a step: no run begins in it; or in each cell one chunk begins, at its first position; or else.
// `with` says which lanes have heads.
enum : u32 { ANY_PHASE, IN_PHASE, PLAIN };
template <u32 E>
KOGGE_DEVICE u32 way_of(u32 heads, u32 with, u32 phase) {
    if (with == 0) return PLAIN;
    return E == 1 || lanes_where(heads > 1 || phase != 0) == 0 ? IN_PHASE : ANY_PHASE;
}

// The run that enters a step. All lanes have the same.
struct Standing {
    u32 lane;    // in whose cells its rows begin
    u32 phase;   // where in a cell its chunks begin
    u32 row;     // which row of it enters the step
    bool early;  // whether it entered the window too
};

// What a lane knows of the run that enters its cell, and of those that begin in it.
struct Cell {
    u32 heads;     // a bit a position
    u32 phase;     // of the run that enters
    u32 chunk;     // the index in its row of its chunk that begins here, if it still does
    bool entered;  // whether that run entered the step too

    // The cell of this lane, and the run that enters the next step; `with` says which lanes have heads.
    template <u32 WAY>
    static __device__ __forceinline__ Cell of(u32 heads, u32 with, Standing& run, u32 lane) {
        run.row++;
        if (WAY == PLAIN) return {0, run.phase, (lane - run.lane) % LANES, true};
        u32 below = with & ((1u << lane) - 1), own = highest_bit(heads);
        u32 source = below ? highest_bit(below) : run.lane, last = highest_bit(with), phase = 0;
        if (WAY == ANY_PHASE) {
            u32 seen = shuffle(own, source), next = shuffle(own, last);
            phase = below ? seen : run.phase;
            run.phase = with ? next : run.phase;
        }
        run.lane = with ? last : run.lane;
        run.row = with ? 0 : run.row;
        run.early = run.early && with == 0;
        return {heads, phase, (lane - source) % LANES, below == 0};
    }
    // Where chunks begin: one at least.
    template <u32 WAY>
    __device__ __forceinline__ u32 starts() const {
        if (WAY != ANY_PHASE) return WAY == IN_PHASE ? 1 : 1u << phase;
        return (heads & (2u << phase) - 1) != 0 ? heads : heads | 1u << phase;
    }
    // Whether the run that enters ends here before a chunk of it begins.
    __device__ __forceinline__ bool ends_early() const { return (heads & (1u << phase) - 1) != 0; }
    // Whether it ends behind that chunk's start.
    __device__ __forceinline__ bool chunk_ends_late() const { return (heads & (2u << phase) - 1) == 0 && heads != 0; }
    // The index of the chunk whose last elements are here.
    __device__ __forceinline__ u32 chunk_before() const { return (chunk + LANES - 1) % LANES; }
};

// The heads of a lane's cell, from the words of the mask that are the step's.
template <u32 E>
KOGGE_DEVICE u32 cell_heads(const u32* mask, u32 lane) {
    u32 place = lane * E, shift = place % 32, heads = mask[place / 32] >> shift;
    if (32 % E != 0 && shift + E > 32) heads |= mask[place / 32 + 1] << (32 - shift);
    return heads & ((1u << E) - 1);
}

// What one step hands to the next: of its last lanes, the chunk that isn't over, and the Kogge–Stone values.
template <class A>
struct Passing {
    A tail, turned[5];
};

// The Kogge–Stone values of the chunks that end in a step's cells, or go over into them.
template <class S>
struct CellValues {
    typedef typename S::Op Op;
    typedef typename Op::Element A;
    static constexpr u32 E = Order<typename S::Input>::CHUNK;

    // That of the chunk that enters the cell. `cut`, if it is wanted, becomes that of the chunk that
    // begins at the phase and ends at the head behind it.
    template <u32 WAY, bool CUT>
    static __device__ __forceinline__ A of(const InputChunk<S>& input, const Cell& cell, Passing<A>& passing, u32 lane, A& cut) {
        u32 starts = cell.starts<WAY>(), first = WAY == PLAIN ? cell.phase : lowest_bit(starts), index = cell.chunk_before();
        A tail = widened<A, false>(input, 0);
#pragma unroll
        for (u32 e = 1; e < E; e++) {
            A element = widened<A, false>(input, e);
            A through = Op::combine(tail, element);
            tail = WAY == IN_PHASE ? through : choose(starts >> e & 1, element, through);
        }
        A turned = value_of_lane(tail, lane + LANES - 1), value = choose(lane > 0, turned, passing.tail);
        passing.tail = turned;
#pragma unroll
        for (u32 e = 0; e + 1 < E && WAY != IN_PHASE; e++) value = take_right(e < first, value, widened<A, false>(input, e));
        if (CUT) cut = between(input, cell.phase, lowest_behind(cell));
        // Kogge and Stone, in which what is left of a lane may be a lane of the step before.
#pragma unroll
        for (u32 k = 0; k < 5; k++) {
            u32 stride = 1u << k;
            if (CUT) {
                A near = value_of_lane(value, lane + 1 - stride), far = value_of_lane(passing.turned[k], lane + 1);
                cut = take_left<Op>(cell.chunk >= stride, choose(lane + 1 >= stride, near, far), cut);
            }
            turned = value_of_lane(value, lane - stride);
            A left = choose(lane >= stride, turned, passing.turned[k]);
            passing.turned[k] = turned;
            value = take_left<Op>(index >= stride, left, value);
        }
        return value;
    }
    // The left fold of the elements of a cell from `from` to `end`, if there are any.
    static __device__ __forceinline__ A between(const InputChunk<S>& input, u32 from, u32 end) {
        A fold = widened<A, false>(input, 0);
#pragma unroll
        for (u32 e = 1; e < E; e++) {
            A element = widened<A, false>(input, e);
            fold = choose(e <= from, element, take_right(e < end, fold, element));
        }
        return fold;
    }
    // The first head of a cell behind its phase.
    static __device__ __forceinline__ u32 lowest_behind(const Cell& cell) {
        u32 behind = cell.heads & ~((2u << cell.phase) - 1);
        return behind ? lowest_bit(behind) : E;
    }

  private:
    static __device__ __forceinline__ A take_right(bool takes, const A& value, const A& right) {
        return choose(takes, Op::combine(value, right), value);
    }
};

// A window's elements in shared memory, cell by cell as they lie in global memory, and the step before them.
template <class S>
struct Stage {
    typedef typename S::Input Input;
    typedef WindowShape<S> W;
    static constexpr u32 E = W::E, QUADS = sizeof(InputChunk<S>) / 16;
    static constexpr bool VECTORS = InputChunk<S>::BYTES % 16 == 0;

    alignas(16) InputChunk<S> cell[(1 + W::ROWS) * LANES];

    // Begins to copy steps of a span, from `first` on, to steps from `to` on; a lane copies cells for itself and
    // others. Vectors are there when asynchronous loads are done.
    __device__ __forceinline__ void load(const Span<Input>& span, bool whole, u32 first, u32 steps, u32 to, u32 lane) {
        if (VECTORS && whole) {
            for (u32 j = 0; j < steps; j++) {
                const u8* from = element_at<Input, S::REVERSE>(span, (first + j) * LANES + lane, S::REVERSE ? E - 1 : 0);
                u8* at = (u8*)&cell[(to + j) * LANES + lane];
#pragma unroll
                for (u32 q = 0; q < QUADS; q++) async_load(at + q * 16, from + q * 16);
            }
        } else {
#pragma unroll 1
            for (u32 j = 0; j < steps; j++)
                cell[(to + j) * LANES + lane] =
                    turned(read_chunk<Input, S::REVERSE, false, FromGlobal>(span, (first + j) * LANES + lane));
        }
    }
    __device__ __forceinline__ InputChunk<S> read(u32 step, u32 lane) const {
        const InputChunk<S>* from = &cell[step * LANES + lane];
        if constexpr (!VECTORS) return turned(*from);
        InputChunk<S> stored;
#pragma unroll
        for (u32 q = 0; q < QUADS; q++) {
            Quad quad = load_shared((const u8*)from + q * 16);
#pragma unroll
            for (u32 i = 0; i < 4; i++) stored.word[q * 4 + i] = quad.word[i];
        }
        return turned(stored);
    }

  private:
    // From the order of memory to that of the scan, and back.
    static __device__ __forceinline__ InputChunk<S> turned(const InputChunk<S>& chunk) {
        if constexpr (!S::REVERSE || E == 1) return chunk;
        InputChunk<S> other = {};
#pragma unroll
        for (u32 e = 0; e < E; e++) other.put(e, chunk.get(E - 1 - e));
        return other;
    }
};

// Writes a warp's steps, one after another, or what a cover leaves of them; vectors only of lanes that are `here`.
template <class U, u32 E, bool REVERSE, bool COVERED>
struct CellWriter {
    Span<U> span;
    bool whole;  // all cells are there, in whole vectors
    bool there;  // all are there, and written
    StraddlingRows<U, E, REVERSE> rows;

    __device__ __forceinline__ CellWriter(const Span<U>& span, u32 elements, bool cut)
        : span(span), whole(is_whole(span, elements)), there(span.count == elements && !cut), rows() {}
    __device__ __forceinline__ void write_whole(u32 index, const Chunk<U, E>& chunk) const {
        write_chunk<U, E, REVERSE, true>(span.bytes, span.count, index, E, chunk);
    }
    __device__ __forceinline__ void write(u32 index, const Chunk<U, E>& chunk, const Cover& cover, u32 lane, bool here, bool first, bool last) {
        if (whole) {
            if (!here) return;
            if (!COVERED || (index * E >= cover.first() && index * E + E <= cover.to)) write_whole(index, chunk);
            else write_left(index, chunk, cover);
            return;
        }
        if constexpr (Chunk<U, E>::BYTES % 16 == 0) {
            u32 place = REVERSE ? span.count - E - index * E : index * E;
            if (there) return rows.write(span.bytes + place * (u64)sizeof(U), chunk, lane, first, last);
        }
        if constexpr (COVERED) return write_left(index, chunk, cover);
        u32 before = index * E, left = span.count > before ? span.count - before : 0;
        write_chunk<U, E, REVERSE, false>(span.bytes, span.count, index, left < E ? left : E, chunk);
    }

  private:
    // Element by element, what doesn't go in rounds.
    __device__ __forceinline__ void write_left(u32 index, const Chunk<U, E>& chunk, const Cover& cover) const {
#pragma unroll
        for (u32 e = 0; e < E; e++) {
            u32 place = index * E + e;
            U value = chunk.get(e);
            if (place >= cover.first() && place < cover.to)
                store_aligned<U>(span.bytes + (u64)(REVERSE ? span.count - 1 - place : place) * sizeof(U), value);
        }
    }
};
