// A window of positions, to which a thread block belongs: its shared memory, which run enters it, what of it goes in
// rounds, and what its rows and segments make of what precedes them.

enum : u32 { SEGMENTED_THREADS = 256 };

// What ends in a step, of the run that enters it, in one word.
struct Ends {
    u32 bits;
    enum : u32 { WHOLE = 1, RUN = 2, NEXT = 4, EARLY = 8, ROW = 16 };

    __device__ __forceinline__ bool whole() const { return bits & WHOLE; }  // the row that enters, as a whole one
    __device__ __forceinline__ bool run() const { return bits & RUN; }      // the run,
    __device__ __forceinline__ bool next() const { return bits & NEXT; }    // in the row after that
    __device__ __forceinline__ bool early() const { return bits & EARLY; }  // it entered the window too
    __device__ __forceinline__ u32 row() const { return bits / ROW; }       // which row of the run enters
    __device__ __forceinline__ bool segment() const {
        return whole() && row() % ROWS_PER_SEGMENT == ROWS_PER_SEGMENT - 1;
    }
};

template <class S>
struct alignas(16) SegmentedShared {
    typedef WindowShape<S> W;
    typedef typename S::Op::Element A;

    Stage<S> stage;
    Barrier landed, entered;
    u64 entering, epoch;       // if windows tell each other of heads: 1 + where the run starts that enters, and the call's
    u32 mask[W::ROWS * W::E];  // a bit a position, where runs start
    A row[W::LEAD + W::ROWS];  // the total of the row that ends in each step, those before the window first
    A segment[W::ROWS];        // of the segment that does
    A last[W::ROWS];           // the Kogge–Stone value of the last chunk of the run that does
    u64 number[W::ROWS];       // and which run that is
    Cover cover;               // what doesn't go in rounds
    Ends ends[W::ROWS];
    Maybe<A> base[2];          // what precedes the early run's segments: in its first tile here, in the next
    u32 split;                 // how many segments of the first tile end here, at most
    // Of each warp: 1 + where its last head is, or 0; how many; whether a segment ends.
    u32 last_head[W::WARPS], heads[W::WARPS], segment_ends[W::WARPS];
};

// A window, as each of its threads sees it.
template <class S>
struct SegmentedWindow {
    typedef typename S::Op Op;
    typedef typename Op::Element A;
    typedef typename S::Input Input;
    typedef WindowShape<S> W;
    static constexpr u32 E = W::E;

    SegmentedShared<S>& shared;
    const SegmentedArguments<S>& arguments;
    u64 start;
    u32 warp, lane;
    bool inside;      // elements go on behind the window
    u64 run;          // where the run starts that has the position before the window
    Standing early;   // that run, as it enters the window,
    u64 early_row;    // and its row that does

    __device__ __forceinline__ SegmentedWindow(SegmentedShared<S>& shared, const SegmentedArguments<S>& arguments)
        : shared(shared), arguments(arguments), start((u64)block_index() * W::WINDOW), warp(thread_index() / LANES),
          lane(thread_index() % LANES), inside(arguments.length - start > W::WINDOW) {}

    // ---- whose number ----

    __device__ __forceinline__ bool totals() const { return !finds_heads<S>() && arguments.inits.totals; }
    __device__ __forceinline__ bool inits_each() const { return !finds_heads<S>() && arguments.inits.kind == INITS_EACH; }
    __device__ __forceinline__ bool numbered() const { return inits_each() || totals(); }
    // The number, in the order of memory, of the run that holds this position and has so many before it.
    __device__ __forceinline__ u64 number_of(u64 runs_before, u64 position) const {
        if constexpr (S::OFFSET_BYTES == 0) {
            u64 all = arguments.windows[(arguments.length + W::MARKED - 1) / W::MARKED].heads;
            return S::REVERSE ? all - 1 - runs_before : runs_before;
        }
        u64 element = S::REVERSE ? arguments.length - 1 - position : position;
        if constexpr (S::OFFSET_BYTES == 8) return segment_of((const u64*)arguments.source, arguments.segments, element);
        return segment_of((const u32*)arguments.source, arguments.segments, element);
    }
    __device__ __forceinline__ u64 offset(u64 segment) const {
        if constexpr (S::OFFSET_BYTES == 8) return ((const u64*)arguments.source)[segment];
        else return ((const u32*)arguments.source)[segment];
    }
    __device__ __forceinline__ const Window& marked() const { return arguments.windows[block_index() * (u64)W::PARTS]; }
    // What precedes the run that has so many before it in this window and holds this position of it.
    __device__ __forceinline__ Maybe<A> init_of(u32 runs_before, u32 position) const {
        bool each = inits_each();
        if (each && start + position >= arguments.length) return {A(), false};
        return arguments.inits.of(each ? number_of(marked().heads + runs_before, start + position) : 0);
    }
    __device__ __forceinline__ u64 number_early() const { return number_of(marked().heads - 1, start - 1); }
    __device__ __forceinline__ Maybe<A> init_early() const {
        return arguments.inits.of(inits_each() ? number_early() : 0);
    }
    // ---- what goes in rounds ----

    // What doesn't. Windows of short runs alone look at a bit, which their neighbours have brought into the cache, and
    // don't wait for memory.
    __device__ __forceinline__ Cover find_cover() const {
        Cover all = {0, inside ? W::WINDOW : (u32)(arguments.length - start)};
        u64 index = block_index() * (u64)W::PARTS;
        if constexpr (W::IN_ROUNDS) {
            if (arguments.cut[index / 32] >> index % 32 & 1) all = arguments.covers[index];
        }
        return all;
    }
    // Whether some positions go in rounds.
    __device__ __forceinline__ bool is_cut(const Cover& cover) const {
        return W::IN_ROUNDS && (cover.first() > 0 || cover.to < (inside ? W::WINDOW : (u32)(arguments.length - start)));
    }
    // Whether the run that enters the window does.
    __device__ __forceinline__ bool passes() const { return W::IN_ROUNDS && shared.cover.passes(); }

    // ---- what lies before ----

    // The last segment's length before the window, where nobody overwrites it.
    __device__ __forceinline__ Span<Input> lead() const {
        u64 from = start - W::SEGMENT, place = S::REVERSE ? arguments.lead_count - block_index() : block_index() - 1;
        if (arguments.leads) return {(u8*)arguments.leads + place * W::SEGMENT * sizeof(Input), W::SEGMENT};
        return span_of<Input, S::REVERSE>(arguments.input, arguments.length, from, W::SEGMENT);
    }
    // The run that enters the window starts at position `last` - 1.
    __device__ __forceinline__ void find_early(u64 last) {
        u64 here = start / E;
        run = last > 0 ? last - 1 : 0;
        u64 cells = run / E;
        early = {(u32)(cells % LANES), (u32)(run % E), 0, start > 0};
        early_row = start > 0 ? here / LANES - 1 - cells / LANES : 0;
        early.row = (u32)early_row;
    }
    // ---- what precedes rows ----

    // `before`, then so many rows, the last of which ends in the step before this.
    __device__ __forceinline__ Maybe<A> join_rows(Maybe<A> before, u32 rows, u32 step) const {
        const A* row = shared.row + W::LEAD + step - rows;
#pragma unroll
        for (u32 i = 0; i < ROWS_PER_SEGMENT; i++)
            if (i < rows) before = join<Op>(before, row[i]);
        return before;
    }
    // `before`, then segments `from` to `end` of those that end in the window, the first in step `first`.
    __device__ __forceinline__ Maybe<A> join_segments(Maybe<A> before, u32 first, u32 from, u32 end) const {
        for (; from < end; from++) before = join<Op>(before, shared.segment[first + from * ROWS_PER_SEGMENT]);
        return before;
    }
    // The step in which the early run's first segment ends.
    __device__ __forceinline__ u32 early_segment() const { return ROWS_PER_SEGMENT - 1 - early.row % ROWS_PER_SEGMENT; }
};

// What precedes the segment, and the row, of a run.
template <class S>
struct RunPrefix {
    typedef typename S::Op Op;
    typedef typename Op::Element A;
    typedef WindowShape<S> W;
    Maybe<A> segment, row;

    // Of the run that enters a warp's share, in which so many heads lie before in the window. `told` says that
    // windows have told each other of it.
    static __device__ __forceinline__ RunPrefix of_share(const SegmentedWindow<S>& window, const Standing& run, u32 heads, bool told) {
        const SegmentedShared<S>& shared = window.shared;
        u32 step = window.warp * W::STEPS, first, segments, from = 0;
        Maybe<A> before;
        if (run.early) {
            first = window.early_segment();
            segments = (window.early.row % ROWS_PER_SEGMENT + step) / ROWS_PER_SEGMENT;
            before = told ? shared.base[0] : window.init_early();
            if (told && segments >= shared.split) {
                before = shared.base[1];
                from = shared.split;
            }
        } else {
            first = step - 1 - run.row + ROWS_PER_SEGMENT;
            segments = run.row / ROWS_PER_SEGMENT;
            before = {A(), false};
            if (step > 0) before = window.init_of(heads - 1, step * W::ROW - 1);
        }
        before = window.join_segments(before, first, from, segments);
        return {before, window.join_rows(before, run.row % ROWS_PER_SEGMENT, step)};
    }
    // That of the next row, once row `number` of the run has ended in a step.
    __device__ __forceinline__ void pass_row(const SegmentedWindow<S>& window, u32 number, bool early, u32 step, const A& total, bool told) {
        const SegmentedShared<S>& shared = window.shared;
        row = {choose(row.exists, Op::combine(row.value, total), total), true};
        if (!told || number % ROWS_PER_SEGMENT < ROWS_PER_SEGMENT - 1) return;
        u32 segments = (window.early.row % ROWS_PER_SEGMENT + step + 1) / ROWS_PER_SEGMENT;
        if (early && segments == shared.split) segment = shared.base[1];
        else segment = join<Op>(segment, shared.segment[step]);
        row = segment;
    }
};
