// The scan of many lines: a lane a line, from its first element to its last.
//
// Lines that lie side by side are read and written together, a strip of 32 by a warp; nothing is
// exchanged and nothing read twice. A warp takes strip after strip, and asks for octets of chunks some way
// ahead, over the ends of lines, so that short lines keep the memory as busy as long ones.

template <class S>
struct ColumnRing {
    typedef typename S::Input Input;
    typedef ColumnFetch<Input, LANES> Fetch;
    static constexpr u32 STAGES = 3, WARPS = S::COLUMNS / LANES;
    static constexpr u32 OCTET = Order<Input>::CHUNK * CHUNKS_PER_OCTET;
    static constexpr u32 STAGE_BYTES = (OCTET * Fetch::PITCH + 127) / 128 * 128;

    u8 stage[WARPS][STAGES][STAGE_BYTES];
    Barrier full[WARPS][STAGES];
};

// The octets of a warp's strips in turn: asked for, and taken.
template <class S>
struct Strips {
    typedef typename S::Input Input;
    typedef ColumnRing<S> Ring;

    Ring& ring;
    const ColumnArguments<S>& arguments;
    typename Ring::Fetch fetch;
    u32 warp, lane;
    u64 strips, step;  // of all, and from one of this warp's to its next
    // The strip that is asked for: where its next octet lies, and elements that are left of a line.
    u64 asked;
    const u8* from;
    u64 left;
    u32 asked_stage;
    // The stage that is taken, and the parity of its phase.
    u32 stage, parity;

    __device__ __forceinline__ Strips(Ring& ring, const ColumnArguments<S>& arguments)
        : ring(ring), arguments(arguments), fetch(arguments), warp(thread_index() / LANES), lane(thread_index() % LANES),
          strips((arguments.lines + LANES - 1) / LANES), step((u64)block_count() * Ring::WARPS), asked(first()),
          asked_stage(0), stage(0), parity(0) {
        if (arguments.length == 0) asked = strips;
        enter();
        for (u32 i = 0; i < Ring::STAGES; i++) ask();
    }
    __device__ __forceinline__ u64 first() const { return (u64)block_index() * Ring::WARPS + warp; }

    // As a source of chunks.
    __device__ __forceinline__ void begin_octet() { barrier_wait(&ring.full[warp][stage], parity); }
    __device__ __forceinline__ void take(u32, u32 i, u32 count, Input (&value)[Order<Input>::CHUNK]) {
        read_column_chunk<Input, LANES>(ring.stage[warp][stage] + lane * sizeof(Input), i, count, value);
    }
    __device__ __forceinline__ void end_octet() {
        sync_warp();
        ask();
        stage++;
        if (stage < Ring::STAGES) return;
        stage = 0;
        parity ^= 1;
    }

  private:
    __device__ __forceinline__ void enter() {
        left = arguments.length;
        u64 line = asked * LANES + (fetch.together ? 0 : lane);
        from = line < arguments.lines ? arguments.line(line).input : nullptr;
    }
    // Asks for the next octet, if there is one.
    __device__ __forceinline__ void ask() {
        if (asked >= strips) return;
        u32 count = left < Ring::OCTET ? (u32)left : Ring::OCTET;
        Barrier* full = &ring.full[warp][asked_stage];
        u8* to = ring.stage[warp][asked_stage];
        asked_stage = asked_stage + 1 < Ring::STAGES ? asked_stage + 1 : 0;
        if (fetch.together) {
            fetch.ask_together(to, from, count, lane);
            async_arrive(full);
        } else if (from) {
            fetch.ask_alone(to + lane * sizeof(Input), from, count, full);
        } else {
            barrier_arrive(full);
        }
        left -= count;
        if (from) from += (long long)count * arguments.input_stride;
        if (left > 0) return;
        asked += step;
        enter();
    }
};

// All lanes take part, whether or not they have a line.
template <class S, u32 ALIGNMENT>
KOGGE_DEVICE void scan_line(Strips<S>& source, const ColumnArguments<S>& arguments, bool exists, const Line& line) {
    typedef typename S::Op::Element A;
    constexpr u32 ROW = Order<typename S::Input>::CHUNK * CHUNKS_PER_ROW;
    ExistingPlaces<typename S::Output, ALIGNMENT> sink = {{line.output, arguments.output_stride}, exists};
    Maybe<A> init = {A(), false};
    if (exists) init = arguments.inits.of(line.number);
    Course<S> course(init);
    Delays<A> delays = {};
    u64 left = arguments.length;
#pragma unroll 1
    for (; left >= ROW; left -= ROW)
        course.end_row(descend_row<S, true>(delays, course.before, ROW, source, sink));
    if (left > 0) course.end_row(descend_row<S, false>(delays, course.before, (u32)left, source, sink));
    if (exists) arguments.inits.put_total(line.number, course.end());
}

template <class S>
KOGGE_DEVICE void column_scan(const ColumnArguments<S>& arguments) {
    typedef typename S::Output Output;
    ColumnRing<S>& ring = *(ColumnRing<S>*)shared_memory();
    for (u32 i = thread_index(); i < ring.WARPS * ring.STAGES; i += S::COLUMNS) barrier_init(&ring.full[0][0] + i, LANES);
    sync_block();
    Strips<S> source(ring, arguments);
#pragma unroll 1
    for (u64 strip = source.first(); strip < source.strips; strip += source.step) {
        u64 index = strip * LANES + source.lane;
        bool exists = index < arguments.lines;
        Line line = arguments.line(exists ? index : 0);
        constexpr u32 NATURAL = natural_alignment<Output>();
        if constexpr (alignof(Output) < NATURAL) {
            bool natural = ((u64)line.output | (u64)arguments.output_stride) % NATURAL == 0;
            if (!all_lanes(natural)) {
                scan_line<S, alignof(Output)>(source, arguments, exists, line);
                continue;
            }
        }
        scan_line<S, NATURAL>(source, arguments, exists, line);
    }
}
