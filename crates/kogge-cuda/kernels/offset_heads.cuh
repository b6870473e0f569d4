// Where runs start, given by offsets: as heads.cuh does by flags and keys, window by window.
//
// A thread block has some windows. All of it looks for the first run that starts there, and for the first that starts behind,
// sets a bit in shared memory for each run between, and writes every word of the mask once: so nothing has to be
// cleared before, and no two blocks write to one word.

enum : u32 { OFFSET_THREADS = 1024, OFFSET_WARPS = 32, MARKED_POSITIONS = 1 << 19 };

// Runs as offsets give them, in the order of the scan: in reverse the last one comes first, and starts with its last element.
// An empty run starts where the one behind it does, or behind all elements.
template <class Offset, bool REVERSE>
struct OffsetRuns {
    const Offset* offsets;
    u64 count, length;

    __device__ __forceinline__ OffsetRuns(const MarkArguments& arguments)
        : offsets((const Offset*)arguments.source), count(arguments.segments), length(arguments.length) {}
    __device__ __forceinline__ u64 start(u64 run) const { return REVERSE ? length - offsets[count - run] : offsets[run]; }
    // Whether at least so many runs start before a position.
    __device__ __forceinline__ bool start_before(u64 runs, u64 position) const { return runs <= count && start(runs - 1) < position; }
};

// Of each window of a block 1 + the places of its first and last head in it, or 0, and the words of the mask, of which a
// block has as many as its windows need.
template <class Offset, bool REVERSE, u32 WINDOW>
struct OffsetMarks {
    typedef OffsetRuns<Offset, REVERSE> Runs;
    static constexpr u32 BATCH = 4, WINDOW_QUADS = WINDOW / 128;
    static constexpr u32 FITTING = MARKED_POSITIONS / WINDOW, MOST = FITTING < OFFSET_THREADS ? FITTING : OFFSET_THREADS;
    static_assert(WINDOW % 128 == 0, "windows of whole quads");
    u32 first[MOST], last[MOST];
    u32 counted[2][2][OFFSET_WARPS];
    union {
        alignas(16) u32 word[MOST * WINDOW / 32];
        Quad quad[MOST * WINDOW_QUADS];
    };

    // So many windows from the position `from` on, of which there are `count` positions.
    __device__ __forceinline__ void find(const Runs& runs, u64 from, u32 count, u32 windows) {
        for (u32 i = thread_index(); i < windows * WINDOW_QUADS; i += OFFSET_THREADS) quad[i] = {};
        if (thread_index() < windows) first[thread_index()] = last[thread_index()] = 0;
        u64 low, high;
        search(runs, from, from + count, low, high);
        for (u64 run = low + thread_index(); run < high; run += BATCH * OFFSET_THREADS) {
            u64 start[BATCH], next[BATCH];
#pragma unroll
            for (u32 b = 0; b < BATCH; b++) {
                u64 here = run + b * OFFSET_THREADS;
                bool there = here < high;
                start[b] = there ? runs.start(here) : ~0ull;
                next[b] = there && here + 1 < high ? runs.start(here + 1) : ~0ull;
            }
#pragma unroll
            for (u32 b = 0; b < BATCH; b++) note(start[b] - from, next[b] - from, count, windows, run == low && b == 0);
        }
        sync_block();
    }

  private:
    // How many runs start before each of two positions. In every step the block tells 1,024 parts of what is left apart.
    __device__ __forceinline__ void search(const Runs& runs, u64 from, u64 behind, u64& low, u64& high) {
        constexpr u32 BITS = 10;
        static_assert(OFFSET_THREADS == 1u << BITS, "a thread a part");
        u32 shift = 0;
        while (runs.count >> shift > OFFSET_THREADS) shift += BITS;
        low = high = 0;
        for (u32 step = 0;; step ^= 1, shift -= BITS) {
            u64 parts = (u64)(thread_index() + 1) << shift;
            u32 before = lanes_where(runs.start_before(low + parts, from)), through = lanes_where(runs.start_before(high + parts, behind));
            u32 warp = thread_index() / LANES, lane = thread_index() % LANES;
            if (lane == 0) {
                counted[step][0][warp] = count_bits(before);
                counted[step][1][warp] = count_bits(through);
            }
            sync_block();
            u32 lows = counted[step][0][lane], highs = counted[step][1][lane];
#pragma unroll
            for (u32 stride = 1; stride < LANES; stride *= 2) {
                lows += shuffle_xor(lows, stride);
                highs += shuffle_xor(highs, stride);
            }
            low += (u64)lows << shift;
            high += (u64)highs << shift;
            if (shift == 0) return;
        }
    }
    // A run's start among these positions, and that of the run behind it, if it is among them too; whether it is the first of all.
    // Offsets that aren't in order mustn't lead to other memory.
    __device__ __forceinline__ void note(u64 start, u64 next, u32 count, u32 windows, bool begins) {
        if (start >= count) return;
        u32 place = (u32)start, window = place / WINDOW;
        set_shared_bits(word + place / 32, 1u << place % 32);
        if (begins) first[window] = place % WINDOW + 1;
        u32 behind = next < count ? (u32)next / WINDOW : windows;
        if (window == behind) return;
        last[window] = place % WINDOW + 1;
        if (behind < windows) first[behind] = (u32)next % WINDOW + 1;
    }
};

// Heads by offsets. How many there are in each window isn't noted: a run's number is looked up.
template <class Offset, bool REVERSE, u32 WINDOW>
KOGGE_DEVICE void mark_offsets(const MarkArguments& arguments) {
    typedef OffsetMarks<Offset, REVERSE, WINDOW> Marks;
    launch_dependents();
    Marks& marks = *(Marks*)shared_memory();
    u64 index = (u64)block_index() * arguments.block_windows, from = index * WINDOW, left = arguments.length - from;
    u64 behind = arguments.window_count - index;
    u32 windows = behind < arguments.block_windows ? (u32)behind : arguments.block_windows;
    marks.find(OffsetRuns<Offset, REVERSE>(arguments), from, left < windows * WINDOW ? (u32)left : windows * WINDOW, windows);
    for (u32 i = thread_index(); i < windows * Marks::WINDOW_QUADS; i += OFFSET_THREADS)
        store_quad(arguments.heads + from / 32 + (u64)i * 4, marks.quad[i]);
    if (thread_index() >= windows) return;
    u32 last = marks.last[thread_index()];
    arguments.windows[index + thread_index()] = {last ? from + thread_index() * WINDOW + last : 0, 0};
    arguments.first[index + thread_index()] = marks.first[thread_index()];
}
