// The scan of many lines: a lane a line, from its first element to its last.
//
// Lines that lie side by side are read and written together, a strip of `COLUMNS` by a thread block;
// nothing is exchanged and nothing read twice. A block draws strip after strip, and asks for octets of
// chunks some way ahead, over the ends of lines, so that short lines keep the memory as busy as long ones.

template <class S>
struct ColumnRing {
    typedef typename S::Input Input;
    typedef ColumnFetch<Input, S::COLUMNS> Fetch;
    static constexpr u32 STAGES = S::STAGES, OCTET = Order<Input>::CHUNK * CHUNKS_PER_OCTET / S::SHARE;
    static constexpr u32 STAGE_BYTES = (OCTET * Fetch::PITCH + 127) / 128 * 128;
    // Strips that are given before the first is drawn: those that the stages reach into, the one after, and the one
    // during which it is drawn. And strips that are known at a time, with one for who lags behind.
    static constexpr u32 GIVEN = STAGES + 2, TURNS = STAGES + 5;
    static_assert(GIVEN + 1 < TURNS, "or a strip takes the place of one that is scanned");

    u8 stage[STAGES][STAGE_BYTES];
    Barrier full[STAGES];
    u64 strip[TURNS];  // of a turn: those that were drawn
};

// The octets of a thread block's strips, one turn after another: asked for, and taken.
template <class S>
struct Strips {
    typedef typename S::Input Input;
    typedef ColumnRing<S> Ring;

    Ring& ring;
    const ColumnArguments<S>& arguments;
    typename Ring::Fetch fetch;
    u32 index;    // of the thread
    u64 strips;   // of all blocks
    u32 given;    // turns whose strips aren't drawn
    // By the first thread, which draws when the block turns to a strip, and tells before the next barrier.
    Draws draws;
    u32 number, told;
    bool drawn;
    // The strip that is asked for, and its turn: where its next octet lies, and elements that are left of a line.
    u64 asked;
    u32 turn;
    const u8* from;
    u64 left;
    u32 asked_stage;
    // The stage that is taken, and the parity of its phase.
    u32 stage, parity;

    __device__ __forceinline__ Strips(Ring& ring, const ColumnArguments<S>& arguments)
        : ring(ring), arguments(arguments), fetch(arguments), index(thread_index()),
          strips((arguments.lines + S::COLUMNS - 1) / S::COLUMNS), given(arguments.length > 0 && strips >> 31 == 0 ? Ring::GIVEN : ~0u),
          draws(arguments.workspace, strips, given), number(0), told(given), drawn(false), asked(block_index()), turn(0), asked_stage(0), stage(0), parity(0) {
        if (arguments.length == 0) asked = strips;
        enter();
        for (u32 i = 0; i < Ring::STAGES; i++) ask();
    }

    // The strip of a turn up to that which is asked for; `strips` or more behind the last.
    __device__ __forceinline__ u64 strip_of(u32 turn) const {
        if (turn < given) return (u64)turn * block_count() + block_index();
        return ring.strip[turn % Ring::TURNS];
    }

    // As a source of chunks.
    __device__ __forceinline__ void begin_octet() { barrier_wait(&ring.full[stage], parity); }
    __device__ __forceinline__ void take(u32, u32 i, Input (&value)[Order<Input>::CHUNK]) {
        // Behind a line's end anything may be taken, but not behind the stage.
        if (i >= CHUNKS_PER_OCTET / S::SHARE) i = 0;
        read_column_chunk<Input, S::COLUMNS>(ring.stage[stage] + index * sizeof(Input), i, value);
    }
    __device__ __forceinline__ void end_octet() {
        if (drawn && index == 0) ring.strip[told % Ring::TURNS] = draws.take(number);
        told += drawn;
        sync_block();
        drawn = ask() && given == Ring::GIVEN;
        if (drawn && index == 0) number = draws.ask();
        stage++;
        if (stage < Ring::STAGES) return;
        stage = 0;
        parity ^= 1;
    }

  private:
    __device__ __forceinline__ void enter() {
        left = arguments.length;
        u64 line = asked * S::COLUMNS + (fetch.together ? 0 : index);
        from = line < arguments.lines ? arguments.line(line).input : nullptr;
    }
    // Asks for the next octet, if there is one. Whether it then turned to another strip.
    __device__ __forceinline__ bool ask() {
        if (asked >= strips) return false;
        u32 count = left < Ring::OCTET ? (u32)left : Ring::OCTET;
        Barrier* full = &ring.full[asked_stage];
        u8* to = ring.stage[asked_stage];
        asked_stage = asked_stage + 1 < Ring::STAGES ? asked_stage + 1 : 0;
        if (fetch.together) {
            fetch.template ask_together<S::COLUMNS>(to, from, count, index);
            async_arrive(full);
        } else if (from) {
            fetch.ask_alone(to + index * sizeof(Input), from, count, full);
        } else {
            barrier_arrive(full);
        }
        left -= count;
        if (from) from += (long long)count * arguments.input_stride;
        if (left > 0) return false;
        asked = strip_of(++turn);
        enter();
        return true;
    }
};

// All threads take part, whether or not they have a line.
template <class S, u32 ALIGNMENT>
KOGGE_DEVICE void scan_strip(Strips<S>& source, const ColumnArguments<S>& arguments, u64 strip) {
    typedef typename S::Op::Element A;
    constexpr u32 ROW = Order<typename S::Input>::CHUNK * CHUNKS_PER_ROW;
    u64 index = strip * S::COLUMNS + source.index;
    bool exists = index < arguments.lines;
    Line line = arguments.line(exists ? index : 0);
    ExistingPlaces<typename S::Output, ALIGNMENT> sink = {{line.output, arguments.output_stride}, exists};
    Maybe<A> init = {A(), false};
    if (exists) init = arguments.inits.of(line.number);
    A tile_delays[TILES_PER_BLOCK - 1];  // in local memory: touched once in thousands of elements
    Course<S, 1> course(init, tile_delays);
    Delays<A> delays = {};
    u64 left = arguments.length;
    if constexpr (!S::SHORT) {
#pragma unroll 1
        for (; left >= ROW; left -= ROW)
            course.end_row(descend_row<S, true>(delays, course.before, ROW, source, sink));
    }
    constexpr u32 OCTETS = S::SHORT ? 1 : OCTETS_PER_ROW;
    if (left > 0) course.end_row(descend_row<S, false, OCTETS>(delays, course.before, (u32)left, source, sink));
    if (exists && arguments.inits.totals) arguments.inits.put_total(line.number, course.end());
}

template <class S>
KOGGE_DEVICE void column_scan(const ColumnArguments<S>& arguments) {
    typedef typename S::Output Output;
    constexpr u32 NATURAL = natural_alignment<Output>();
    ColumnRing<S>& ring = *(ColumnRing<S>*)shared_memory();
    if (thread_index() < ring.STAGES) barrier_init(&ring.full[thread_index()], S::COLUMNS);
    sync_block();
    Strips<S> source(ring, arguments);
    bool natural = alignof(Output) == NATURAL || arguments.writes_at_multiples_of(NATURAL);
#pragma unroll 1
    for (u32 turn = 0;; turn++) {
        u64 strip = source.strip_of(turn);
        if (strip >= source.strips) return;
        if (natural) scan_strip<S, NATURAL>(source, arguments, strip);
        else if constexpr (alignof(Output) < NATURAL) scan_strip<S, alignof(Output)>(source, arguments, strip);
    }
}
