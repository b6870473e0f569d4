// The scan of many lines of few elements that lie side by side: a thread takes as many neighbours as sixteen bytes have
// elements, from their first elements to their last.
//
// It asks for all of them before it combines any, in whole sixteen bytes, and then writes them likewise; it needs nobody
// else and nothing shared. So there are no stages and no turns, which lines that fill a ring of stages are worth
// (column_scan.cuh): threads that are many keep the memory busy by themselves.
//
// Every element lies beside those of its neighbours at a multiple of sixteen bytes, in input and output.

template <class S>
struct ShortColumns {
    typedef typename S::Op Op;
    typedef typename Op::Element A;
    typedef typename S::Input Input;
    typedef typename S::Output Output;
    // Lines of a thread: of one row of them, as of a line's chunk, there are sixteen bytes.
    static constexpr u32 E = Order<Input>::CHUNK, LINES = E, CHUNKS = (S::ELEMENTS + E - 1) / E;
    typedef Chunk<Input, LINES> In;
    typedef Chunk<Output, LINES> Out;
    static_assert(In::BYTES == 16 && Out::BYTES % 16 == 0, "neighbours are vectors");
    static_assert(CHUNKS <= CHUNKS_PER_OCTET, "delay lines of an octet");

    const ColumnArguments<S>& arguments;
    Line first;  // of the lines
    u32 length;
    In input[S::ELEMENTS];
    bool preceded;  // by initial values
    A init[LINES];

    __device__ __forceinline__ void load() {
#pragma unroll
        for (u32 i = 0; i < S::ELEMENTS; i++) {
            if (i >= length) continue;
            Quad quad = load_quad(first.input + i * arguments.input_stride);
#pragma unroll
            for (u32 w = 0; w < 4; w++) input[i].word[w] = quad.word[w];
        }
        preceded = arguments.inits.kind != INITS_NONE;
        if (!preceded) return;
#pragma unroll
        for (u32 v = 0; v < LINES; v++) init[v] = arguments.inits.of(number(v)).value;
    }

    __device__ __forceinline__ void scan() {
        if (are_plain<A>(input)) scan_values<true>();
        else scan_values<false>();
    }

  private:
    // `PLAIN` says that there is no NaN that needs care.
    template <bool PLAIN>
    __device__ __forceinline__ void scan_values() {
        Delays<A> delays[LINES] = {};
        A running[LINES];
#pragma unroll
        for (u32 v = 0; v < LINES; v++) running[v] = preceded ? init[v] : A();
#pragma unroll
        for (u32 i = 0; i < CHUNKS; i++) {
            if (i * E >= length) continue;
            A total[LINES];
            scan_chunk<PLAIN>(i * E, running, total);
#pragma unroll
            for (u32 v = 0; v < LINES; v++) {
                A before = delays[v].template through<Op>(total[v], 0, i);
                running[v] = preceded ? Op::combine(init[v], before) : before;
            }
        }
        if (!arguments.inits.totals) return;
#pragma unroll
        for (u32 v = 0; v < LINES; v++) arguments.inits.put_total(number(v), {running[v], true});
    }
    // Of a line beside the first; none of them lies on the next index of a slower axis.
    __device__ __forceinline__ u64 number(u32 line) const {
        return first.number + line * (u64)arguments.outer[arguments.axes - 1].number_stride;
    }
    // The values from element `begin` on, after `running`; and the chunks' own totals.
    template <bool PLAIN>
    __device__ __forceinline__ void scan_chunk(u32 begin, A (&running)[LINES], A (&total)[LINES]) const {
#pragma unroll
        for (u32 e = 0; e < E; e++) {
            u32 at = begin + e;
            if (at >= S::ELEMENTS || at >= length) continue;
            bool exists = at > 0 || preceded;
            A value[LINES];
#pragma unroll
            for (u32 v = 0; v < LINES; v++) {
                A own = widened<A, PLAIN>(input[at], v), through = exists ? Op::combine(running[v], own) : own;
                total[v] = e > 0 ? Op::combine(total[v], own) : own;
                value[v] = !S::EXCLUSIVE ? through : exists ? running[v] : Op::identity();
                running[v] = through;
            }
            put(at, narrowed<Output>(value));
        }
    }
    __device__ __forceinline__ void put(u32 at, const Out& output) const {
        u8* to = first.output + at * arguments.output_stride;
#pragma unroll
        for (u32 q = 0; q < Out::BYTES / 16; q++) {
            Quad quad;
#pragma unroll
            for (u32 w = 0; w < 4; w++) quad.word[w] = output.word[q * 4 + w];
            store_quad(to + q * 16, quad);
        }
    }
};

template <class S>
KOGGE_DEVICE void short_columns(const ColumnArguments<S>& arguments) {
    typedef ShortColumns<S> Columns;
    u64 index = (u64)block_index() * S::THREADS + thread_index();
    if (index >= arguments.lines / Columns::LINES) return;
    Columns columns = {arguments, arguments.line(index * Columns::LINES), (u32)arguments.length};
    columns.load();
    columns.scan();
}
