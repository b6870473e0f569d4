// Where runs start, given by offsets: as heads.cuh does by flags and keys, window by window.
//
// A thread block has some windows. All of it looks for the first run that starts there, sets a bit in shared memory for each up to
// the first that starts behind, and writes every word of the mask that is read, once: so nothing has to be cleared before, and no
// two blocks write to one word. Where it lists stretches whose warps go along the offsets themselves (offset_lists.cuh), there is no
// mask: then it notes each window's first run.

enum : u32 { OFFSET_THREADS = 1024, OFFSET_WARPS = 32, MARKED_POSITIONS = 1 << 19 };

// Runs as offsets give them, in the order of the scan: in reverse the last one comes first, and starts with its last element.
// An empty run starts where the one behind it does, or behind all elements.
template <class Offset, bool REVERSE>
struct OffsetRuns {
    const Offset* offsets;
    u64 count, length;

    template <class Arguments>
    __device__ __forceinline__ OffsetRuns(const Arguments& arguments)
        : offsets((const Offset*)arguments.source), count(arguments.segments), length(arguments.length) {}
    __device__ __forceinline__ Offset offset(u64 run) const { return offsets[REVERSE ? count - run : run]; }
    __device__ __forceinline__ u64 position(Offset offset) const { return REVERSE ? length - offset : offset; }
    __device__ __forceinline__ u64 start(u64 run) const { return position(offset(run)); }
    // Whether at least so many runs start before a position.
    __device__ __forceinline__ bool start_before(u64 runs, u64 position) const { return runs <= count && start(runs - 1) < position; }
};

// A thread block's windows.
template <u32 WINDOW>
struct OffsetWindows {
    u64 index, from;     // the first of them, and its first position
    u32 windows, count;  // how many, and how many positions there are of them

    __device__ __forceinline__ OffsetWindows(const MarkArguments& arguments) : index((u64)block_index() * arguments.block_windows), from(index * WINDOW) {
        u64 behind = arguments.window_count - index, left = arguments.length - from;
        windows = behind < arguments.block_windows ? (u32)behind : arguments.block_windows;
        count = left < windows * WINDOW ? (u32)left : windows * WINDOW;
    }
    __device__ __forceinline__ u64 position(u32 window) const { return from + window * WINDOW; }
};

// Of each window of a block 1 + the places of its first and last head in it, or 0, and the position where the last run ends that
// starts in it; and the words of the mask, of which a block has as many as its windows need, or each window's first run.
template <class Offset, bool REVERSE, u32 WINDOW, bool MASKED>
struct OffsetMarks {
    typedef OffsetRuns<Offset, REVERSE> Runs;
    static constexpr bool IS_MASKED = MASKED;
    static constexpr u32 BATCH = 3, WINDOW_QUADS = MASKED ? WINDOW / 128 : 0, FITTING = MARKED_POSITIONS / WINDOW;
    static constexpr u32 MOST = MASKED && FITTING < OFFSET_THREADS ? FITTING : OFFSET_THREADS, WORDS = MASKED ? MOST * WINDOW / 32 : 0;
    static_assert(WINDOW % 128 == 0, "windows of whole quads");
    u64 end[MOST];
    u32 first[MOST], last[MOST];
    u32 read[OFFSET_WARPS];  // a bit a window: whether its mask is read
    u32 counted[2][OFFSET_WARPS];
    union {
        alignas(16) u32 word[WORDS + !MASKED];
        Quad quad[MOST * WINDOW_QUADS + !MASKED];
        u64 run[MASKED ? 1 : MOST];
    };

    // Finds what starts in the block's windows.
    __device__ __forceinline__ void find(const Runs& runs, const OffsetWindows<WINDOW>& own) {
        u64 from = own.from;
        u32 count = own.count, windows = own.windows;
        for (u32 i = thread_index(); i < windows * WINDOW_QUADS; i += OFFSET_THREADS) quad[i] = {};
        if (thread_index() < windows) first[thread_index()] = last[thread_index()] = 0;
        u64 first_run = runs_before(runs, from), behind = from + count, start[BATCH], next[BATCH];
        // In order, so if the last of a batch starts behind, all that follow do.
        for (u64 run = first_run + thread_index(); run < runs.count; run += BATCH * OFFSET_THREADS) {
#pragma unroll
            for (u32 b = 0; b < BATCH; b++) {
                u64 here = run + b * OFFSET_THREADS;
                start[b] = here < runs.count ? runs.start(here) : ~0ull;
                next[b] = here < runs.count ? runs.start(here + 1) : ~0ull;
            }
#pragma unroll
            for (u32 b = 0; b < BATCH; b++) note(own, run + b * OFFSET_THREADS, start[b] - from, next[b], run == first_run && b == 0);
            if (start[BATCH - 1] >= behind) break;
        }
        sync_block();
    }
    // Windows wait for each other by their heads and by the mask, for ever if the two said different things, or if no run
    // started with the first element. So where offsets aren't in order, one does, and a window's heads are what is the first and
    // the last in the mask.
    __device__ __forceinline__ void agree(const OffsetWindows<WINDOW>& own) {
        bool wrong = thread_index() < own.windows && !(is_marked(first[thread_index()]) && is_marked(last[thread_index()]));
        wrong |= own.windows > 0 && own.from == 0 && (word[0] & 1) == 0;
        for (u32 i = thread_index(); i < own.windows * WINDOW_QUADS; i += OFFSET_THREADS) {
            u32 window = i / WINDOW_QUADS, place = i % WINDOW_QUADS * 128;
#pragma unroll
            for (u32 k = 0; k < 4; k++) {
                u32 bits = word[i * 4 + k], before = place + k * 32 + 1;
                if (bits == 0) continue;
                wrong |= first[window] == 0 || before + lowest_bit(bits) < first[window] || before + highest_bit(bits) > last[window];
            }
        }
        u32 warp = thread_index() / LANES, lane = thread_index() % LANES, wrongs = lanes_where(wrong);
        if (lane == 0) counted[0][warp] = wrongs;
        sync_block();
        if (all_lanes(counted[0][lane] == 0)) return;
        if (own.from == 0 && thread_index() == 0) word[0] |= 1;
        if (thread_index() < own.windows) find_heads(thread_index());
        sync_block();
    }
    // Writes the mask, as far as it is read.
    __device__ __forceinline__ void write(const MarkArguments& arguments, const OffsetWindows<WINDOW>& own) {
        u32 reads = lanes_where(is_read(thread_index(), own, arguments.unread));
        if (thread_index() % LANES == 0) read[thread_index() / LANES] = reads;
        sync_block();
        u32* mask = arguments.heads + own.from / 32;
        for (u32 i = thread_index(), quads = own.windows * WINDOW_QUADS; i < quads; i += OFFSET_THREADS) {
            u32 window = i / WINDOW_QUADS;
            if (read[window / LANES] >> window % LANES & 1) store_quad(mask + (u64)i * 4, quad[i]);
        }
    }

  private:
    // Whether the mask has a head of this thread's window, if there is one: 1 + its place, or 0.
    __device__ __forceinline__ bool is_marked(u32 head) const {
        u32 place = thread_index() * WINDOW + head - 1;
        return head == 0 || (word[place / 32] >> place % 32 & 1);
    }
    // A window's first and last head, from the mask.
    __device__ __forceinline__ void find_heads(u32 window) {
        first[window] = last[window] = 0;
#pragma unroll 1
        for (u32 i = 0; i < WINDOW / 32; i++) {
            u32 bits = word[window * (WINDOW / 32) + i];
            if (bits == 0) continue;
            if (first[window] == 0) first[window] = i * 32 + lowest_bit(bits) + 1;
            last[window] = i * 32 + highest_bit(bits) + 1;
        }
    }
    // The last window may be cut short: a run that ends there may be short enough for a stretch, however many have no head.
    __device__ __forceinline__ bool is_read(u32 window, const OffsetWindows<WINDOW>& own, u32 unread) const {
        if (window >= own.windows) return false;
        if (unread == 0 || own.count < (window + 1) * WINDOW) return true;
        u32 lone = 0;
        while (lone < unread && lone <= window && first[window - lone] == 0) lone++;
        return lone < unread;
    }
    // How many runs start before a position. In every step the block tells 1,024 parts of what is left apart.
    __device__ __forceinline__ u64 runs_before(const Runs& runs, u64 position) {
        constexpr u32 BITS = 10;
        static_assert(OFFSET_THREADS == 1u << BITS, "a thread a part");
        u32 warp = thread_index() / LANES, lane = thread_index() % LANES, shift = 0;
        while (runs.count >> shift > OFFSET_THREADS) shift += BITS;
        u64 before = 0;
        for (u32 step = 0;; step ^= 1, shift -= BITS) {
            u32 parts = lanes_where(runs.start_before(before + ((u64)(thread_index() + 1) << shift), position));
            if (lane == 0) counted[step][warp] = count_bits(parts);
            sync_block();
            u32 all = counted[step][lane];
#pragma unroll
            for (u32 stride = 1; stride < LANES; stride *= 2) all += shuffle_xor(all, stride);
            before += (u64)all << shift;
            if (shift == 0) return before;
        }
    }
    // A run's start among these positions, and the position where it ends; whether it is the first of all.
    // Offsets that aren't in order mustn't lead to other memory.
    __device__ __forceinline__ void note(const OffsetWindows<WINDOW>& own, u64 number, u64 start, u64 next, bool begins) {
        if (start >= own.count) return;
        u32 place = (u32)start, window = place / WINDOW;
        if constexpr (MASKED) set_shared_bits(word + place / 32, 1u << place % 32);
        if (begins) note_first(window, place % WINDOW, number);
        u64 behind = next - own.from;
        u32 other = behind < own.count ? (u32)behind / WINDOW : own.windows;
        if (window == other) return;
        last[window] = place % WINDOW + 1;
        end[window] = next;
        if (other < own.windows) note_first(other, (u32)behind % WINDOW, number + 1);
    }
    __device__ __forceinline__ void note_first(u32 window, u32 place, u64 number) {
        first[window] = place + 1;
        if constexpr (!MASKED) run[window] = number;
    }
};

// Heads by offsets. How many there are in each window isn't noted: a run's number is looked up.
template <class Offset, bool REVERSE, u32 WINDOW, bool MASKED>
KOGGE_DEVICE void mark_offsets(const MarkArguments& arguments) {
    typedef OffsetMarks<Offset, REVERSE, WINDOW, MASKED> Marks;
    static_assert(MASKED, "what this makes is the mask");
    launch_dependents();
    Marks& marks = *(Marks*)shared_memory();
    OffsetWindows<WINDOW> own(arguments);
    marks.find(OffsetRuns<Offset, REVERSE>(arguments), own);
    // Tiles of exact operators, of which alone nothing is read without heads, wait for each other by the mask alone.
    if (arguments.unread == 0) marks.agree(own);
    marks.write(arguments, own);
    u32 window = thread_index();
    if (window >= own.windows) return;
    u32 last = marks.last[window];
    arguments.windows[own.index + window] = {last ? own.position(window) + last : 0, 0};
    arguments.first[own.index + window] = marks.first[window];
}
