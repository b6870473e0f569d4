// The scan of many lines: a lane a line, from its first element to its last; `COLUMNS` lines to a block.
//
// Lines that lie side by side are read and written together, a warp 32 of them. Nothing is exchanged and
// nothing looked at twice; what hides the memory's latency is the octet of chunks that every lane has
// asked for ahead.

// It needs no shared memory.
template <class S>
struct NothingShared {};

// The chunks of a line in turn, asked for ahead.
template <class T, u32 ALIGNMENT>
struct ChunksAhead {
    static constexpr u32 E = Order<T>::CHUNK;
    static constexpr u32 AHEAD = E <= 4 ? 8 : E <= 8 ? 4 : 2;
    static_assert(CHUNKS_PER_OCTET % AHEAD == 0, "a chunk's place is known to the compiler");

    const u8* next;
    long long stride;
    u64 chunks;  // whole ones not yet asked for
    T held[AHEAD][E];

    __device__ __forceinline__ ChunksAhead(const u8* from, long long stride, u64 length)
        : next(from), stride(stride), chunks(length / E) {
#pragma unroll
        for (u32 i = 0; i < AHEAD; i++) ask(i);
    }
    __device__ __forceinline__ void take(u32, u32 i, u32 count, T (&value)[E]) {
        if (count == E) {
#pragma unroll
            for (u32 e = 0; e < E; e++) value[e] = held[i % AHEAD][e];
            ask(i % AHEAD);
        } else {
            // The end of the line.
#pragma unroll
            for (u32 e = 0; e < E; e++)
                if (e < count) value[e] = read_element<ALIGNMENT, T>(next + (long long)e * stride);
        }
    }

  private:
    __device__ __forceinline__ void ask(u32 i) {
        if (chunks == 0) return;
        chunks--;
#pragma unroll
        for (u32 e = 0; e < E; e++) {
            held[i][e] = read_element<ALIGNMENT, T>(next);
            next += stride;
        }
    }
};

// The places of a line in turn.
template <class U, u32 ALIGNMENT>
struct Places {
    u8* next;
    long long stride;

    template <class A>
    __device__ __forceinline__ void put(u32, u32, u32, const A& value) {
        write_element<ALIGNMENT, U>(next, Convert<U, A>::of(value));
        next += stride;
    }
};

template <class S, u32 INPUT_ALIGNMENT, u32 OUTPUT_ALIGNMENT>
KOGGE_DEVICE void scan_line(const ColumnArguments<S>& arguments, const Line& line) {
    typedef typename S::Op::Element A;
    typedef typename S::Input Input;
    constexpr u32 ROW = Order<Input>::CHUNK * CHUNKS_PER_ROW;
    ChunksAhead<Input, INPUT_ALIGNMENT> source(line.input, arguments.input_stride, arguments.length);
    Places<typename S::Output, OUTPUT_ALIGNMENT> sink = {line.output, arguments.output_stride};
    Course<S> course(arguments.inits.of(line.number));
    Delays<A> delays = {};
    u64 left = arguments.length;
#pragma unroll 1
    for (; left >= ROW; left -= ROW)
        course.end_row(descend_row<S, true>(delays, course.before, ROW, source, sink));
    if (left > 0) course.end_row(descend_row<S, false>(delays, course.before, (u32)left, source, sink));
    arguments.inits.put_total(line.number, course.end());
}

template <class S>
KOGGE_DEVICE void column_scan(const ColumnArguments<S>& arguments) {
    typedef typename S::Input Input;
    typedef typename S::Output Output;
    u64 index = (u64)block_index() * S::COLUMNS + thread_index();
    if (index >= arguments.lines) return;
    Line line = arguments.line(index);
    constexpr u32 INPUT = natural_alignment<Input>(), OUTPUT = natural_alignment<Output>();
    constexpr bool LESS = alignof(Input) < INPUT || alignof(Output) < OUTPUT;
    if constexpr (LESS) {
        bool natural = ((u64)line.input | (u64)arguments.input_stride) % INPUT == 0 &&
                       ((u64)line.output | (u64)arguments.output_stride) % OUTPUT == 0;
        if (!natural) return scan_line<S, alignof(Input), alignof(Output)>(arguments, line);
    }
    scan_line<S, INPUT, OUTPUT>(arguments, line);
}
