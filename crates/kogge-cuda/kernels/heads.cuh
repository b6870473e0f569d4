// Where runs start, as one bit an element: the first step of a scan by segments.
//
// A run is one of the caller's segments, given by offsets, by flags or by keys; the word segment is the
// order's. Whatever they are given by, a bit of the mask tells whether a run starts at that position of the
// scan: in reverse, positions count from the end and a run starts at its last element. The second step
// then knows one kind of input and one direction.
//
// Positions are shared out in windows. Of each the mask's maker notes the first and the last head and how many
// there are; `sum_windows` makes of it what precedes each window, and lists long runs and stretches (run_list.cuh), which by offsets
// the first step can do (offset_lists.cuh).

struct alignas(16) Window {
    u64 last;   // 1 + the position of the last head, or 0
    u64 heads;  // how many
};

enum : u32 { MARK_THREADS = 256, SUM_THREADS = LISTING_THREADS, MOST_MARKED = 8192 };

struct MarkArguments {
    const void* source;  // keys, flags, or one more offset than there are segments
    u64 length;          // elements
    u64 segments;        // if there are offsets
    u32* heads;
    Window* windows;
    u32* first;          // of each window, 1 + the place in it of its first head, or 0
    Workspace* workspace;
    u64 window_count;
    u32 block_windows;  // of a block that marks by offsets
    u32 unread;  // then, if not 0: no mask is read of a whole window that has no heads, nor have those before, so many with itself
    LongRuns long_runs;
};

// The head bits of a word, from the value of this lane's position and that of the position before.
struct ByFlag {
    typedef u8 Value;
    // A flag stands at a segment's first element, which in reverse comes last.
    template <bool REVERSE>
    static __device__ __forceinline__ bool starts(Value before, Value here) {
        return (REVERSE ? before : here) != 0;
    }
};
template <class Key>
struct ByKey {
    typedef Key Value;
    template <bool REVERSE>
    static __device__ __forceinline__ bool starts(Key before, Key here) {
        return !(before == here);
    }
};
// Floats of 16 bits are equal as numbers are: a NaN is not equal to itself, and zeros have no sign.
template <u32 INFINITE>
struct Half {
    u16 bits;
    __device__ __forceinline__ bool operator==(const Half& other) const {
        return bits == other.bits ? (bits & 0x7fff) <= INFINITE : ((bits | other.bits) & 0x7fff) == 0;
    }
};
typedef Half<0x7c00> KeyF16;
typedef Half<0x7f80> KeyBf16;
// The bits of a mask that another launch has made.
struct ByMask {};
// Whether a kernel finds heads itself, in flags or keys. Then nothing needs the numbers of runs.
template <class S>
constexpr bool finds_heads() {
    return !Same<typename S::Source, ByMask>::YES;
}

// What a thread block's warps found.
struct MarkShared {
    Window warp[MARK_THREADS / LANES];
    u32 first[MARK_THREADS / LANES];
};

// Notes the windows of which a block's warps, so many each, have the words of their lanes: from position `first` on, `place`
// of the window.
template <u32 WARPS>
KOGGE_DEVICE void note_windows(MarkShared& shared, const MarkArguments& arguments, u32 word, u64 first, u32 place, u32 warp, u32 lane) {
    u32 any = lanes_where(word != 0), heads = count_bits(word);
#pragma unroll
    for (u32 stride = 1; stride < LANES; stride *= 2) heads += shuffle_xor(heads, stride);
    u32 last = any ? highest_bit(any) : 0, bits = shuffle(word, last);
    u32 lowest = any ? lowest_bit(any) : 0, low_bits = shuffle(word, lowest);
    if (lane == 0) {
        shared.warp[warp] = {any ? first + last * 32 + highest_bit(bits) + 1 : 0, heads};
        shared.first[warp] = any ? place + lowest * 32 + lowest_bit(low_bits) + 1 : 0;
    }
    sync_block();
    u64 index = (u64)block_index() * (MARK_THREADS / LANES / WARPS) + thread_index();
    if (thread_index() >= MARK_THREADS / LANES / WARPS || index >= arguments.window_count) return;
    Window window = {0, 0};
    u32 first_head = 0;
    for (u32 w = thread_index() * WARPS; w < (thread_index() + 1) * WARPS; w++) {
        if (shared.warp[w].last) window.last = shared.warp[w].last;
        if (first_head == 0) first_head = shared.first[w];
        window.heads += shared.warp[w].heads;
    }
    arguments.windows[index] = window;
    arguments.first[index] = first_head;
}

// How many of so many loads are under way together: a divisor of them, 8 at most.
constexpr u32 mark_batch(u32 loads) {
    u32 batch = 8;
    while (loads % batch != 0) batch--;
    return batch;
}

// The words of the mask that a warp makes of flags or keys, one a lane.
template <class Source, bool REVERSE, u32 WORDS>
struct MarkShare {
    typedef typename Source::Value Value;
    static constexpr u32 VECTOR = 16 / sizeof(Value), GROUP = LANES / VECTOR;
    static_assert(WORDS <= LANES, "a lane keeps a word of the mask");
    static constexpr bool VECTORS = WORDS % VECTOR == 0;

    const Value* from;  // where the first position's value is
    u64 first;
    u32 count;  // positions that there are
    u32 lane;

    __device__ __forceinline__ MarkShare(const void* source, u64 length, u64 first, u32 lane) : first(first), lane(lane) {
        u64 left = first < length ? length - first : 0;
        count = left < WORDS * 32 ? (u32)left : WORDS * 32;
        from = (const Value*)source + (REVERSE ? length - 1 - first : first);
    }
    __device__ __forceinline__ const Value* at(u32 place) const { return REVERSE ? from - place : from + place; }
    // The value before the share.
    __device__ __forceinline__ Value before() const {
        return first > 0 && count > 0 ? *(REVERSE ? from + 1 : from - 1) : Value();
    }
    __device__ __forceinline__ u32 words() const {
        u64 lowest = (u64)at(REVERSE ? VECTOR - 1 : 0);
        if (VECTORS && count == WORDS * 32 && lowest % 16 == 0) return of_vectors();
        return of_values();
    }

  private:
    // A value a lane, and a ballot a word.
    __device__ __forceinline__ u32 of_values() const {
        Value previous = before();
        u32 mine = 0;
#pragma unroll 4
        for (u32 w = 0; w < WORDS; w++) {
            u32 place = w * 32 + lane;
            Value here = place < count ? *at(place) : Value();
            // The value before lane 0's is the last lane's, a word earlier: a rotation brings both.
            Value rotated = value_of_lane(here, lane + LANES - 1);
            bool starts = Source::template starts<REVERSE>(lane == 0 ? previous : rotated, here);
            u32 word = lanes_where(place < count && (starts || first + place == 0));
            if (lane == w) mine = word;
            previous = rotated;
        }
        return mine;
    }
    // Sixteen bytes a lane, many asked for at once.
    __device__ __forceinline__ u32 of_vectors() const {
        constexpr u32 LOADS = VECTORS ? WORDS / VECTOR : 1, BATCH = mark_batch(LOADS);
        Value previous = before();
        u32 mine = 0;
#pragma unroll 1
        for (u32 start = 0; start < LOADS; start += BATCH) {
            Quad quad[BATCH];
#pragma unroll
            for (u32 k = 0; k < BATCH; k++)
                quad[k] = load_quad(at(((start + k) * LANES + lane) * VECTOR + (REVERSE ? VECTOR - 1 : 0)));
            u32 bits[BATCH];
#pragma unroll
            for (u32 k = 0; k < BATCH; k++) bits[k] = bits_of(quad[k], previous, start + k == 0 && first == 0);
            if constexpr (BATCH == GROUP) {
                // All loads at once: each lane of a group gets the word of one.
                mine = shuffle(joined<BATCH>(bits), lane % VECTOR * GROUP + lane / VECTOR);
                continue;
            }
#pragma unroll
            for (u32 k = 0; k < BATCH; k++) {
#pragma unroll
                for (u32 stride = 1; stride < GROUP; stride *= 2) bits[k] |= shuffle_xor(bits[k], stride);
                u32 word = shuffle(bits[k], lane % VECTOR * GROUP);
                if (lane / VECTOR == start + k) mine = word;
            }
        }
        return mine;
    }
    // The bits of a vector, in their places of the word that the lanes of a group put together. `previous` is the value
    // before lane 0's, and becomes that of the next vectors.
    __device__ __forceinline__ u32 bits_of(const Quad& quad, Value& previous, bool begins) const {
        Value value[VECTOR];
        memcpy(value, &quad, 16);
        Value rotated = value_of_lane(value[REVERSE ? 0 : VECTOR - 1], lane + LANES - 1);
        Value left = lane == 0 ? previous : rotated;
        previous = rotated;
        u32 bits = begins && lane == 0;
#pragma unroll
        for (u32 e = 0; e < VECTOR; e++) {
            Value here = value[REVERSE ? VECTOR - 1 - e : e];
            bits |= (u32)Source::template starts<REVERSE>(left, here) << e;
            left = here;
        }
        return bits << lane % GROUP * VECTOR;
    }
    // Of as many words as a group has lanes, that whose index a lane has in its group, put together: in every step a lane
    // keeps half of them, and gives the others to its partner.
    template <u32 COUNT>
    __device__ __forceinline__ u32 joined(const u32 (&bits)[COUNT]) const {
        if constexpr (COUNT == 1) {
            return bits[0];
        } else {
            constexpr u32 HALF = COUNT / 2;
            bool upper = lane & HALF;
            u32 half[HALF];
#pragma unroll
            for (u32 k = 0; k < HALF; k++) {
                u32 keeps = upper ? bits[k + HALF] : bits[k], gives = upper ? bits[k] : bits[k + HALF];
                half[k] = keeps | shuffle_xor(gives, HALF);
            }
            return joined(half);
        }
    }
};

// The warps that mark a window: a word a lane, if a block then has whole windows; else all of the block.
constexpr u32 mark_warps(u32 window) {
    u32 warps = window / (LANES * 32), all = MARK_THREADS / LANES;
    return warps > 0 && window % (LANES * 32) == 0 && all % warps == 0 ? warps : all;
}
// Heads by flag or key.
template <class Source, bool REVERSE, u32 WINDOW>
KOGGE_DEVICE void mark(const MarkArguments& arguments) {
    launch_dependents();
    constexpr u32 WARPS = mark_warps(WINDOW), WORDS = WINDOW / 32 / WARPS;
    static_assert(WINDOW % (WARPS * 32) == 0, "warps have equal shares");
    u32 warp = thread_index() / LANES, lane = thread_index() % LANES;
    u64 first = ((u64)block_index() * (MARK_THREADS / LANES) + warp) * WORDS * 32;
    u32 mine = MarkShare<Source, REVERSE, WORDS>(arguments.source, arguments.length, first, lane).words();
    if (lane < WORDS && first < arguments.window_count * WINDOW) arguments.heads[first / 32 + lane] = mine;
    note_windows<WARPS>(*(MarkShared*)shared_memory(), arguments, mine, first, warp % WARPS * WORDS * 32, warp, lane);
}

// The last segment that starts at this element or before: those that start there too are empty.
template <class Offset>
KOGGE_DEVICE u64 segment_of(const Offset* offsets, u64 segments, u64 element) {
    u64 low = 0, high = segments;
    while (high - low > 1) {
        u64 middle = low + (high - low) / 2;
        if (offsets[middle] <= element) low = middle;
        else high = middle;
    }
    return low;
}

struct SumShared {
    ListingShared listing;
    Window warp[SUM_THREADS / LANES];
    Window before;  // what the blocks before have
};

KOGGE_DEVICE Window join_windows(const Window& left, const Window& right) {
    return {right.last > left.last ? right.last : left.last, left.heads + right.heads};
}

// What the thread blocks before this one have, by one warp.
KOGGE_DEVICE Window await_windows(Workspace* workspace, u64 epoch, u32 lane) {
    Window total = {0, 0};
    for (u64 block = lane; block < block_index(); block += LANES) {
        Window window;
        while (!Slot<Window>::peek(workspace, block, window, epoch)) {
        }
        total = join_windows(total, window);
    }
    sync_warp();
#pragma unroll
    for (u32 stride = 1; stride < LANES; stride *= 2) total = join_windows(total, value_of_partner(total, stride));
    return total;
}

// The number of the run that starts at this position: of runs before, or the segment's.
KOGGE_DEVICE u64 number_of_run(const MarkArguments& arguments, u64 runs_before, u64 start) {
    const LongRuns& runs = arguments.long_runs;
    u64 element = runs.reverse ? arguments.length - 1 - start : start;
    if (runs.offsets == 0) return runs_before;
    return runs.offsets == 8 ? segment_of((const u64*)arguments.source, arguments.segments, element)
                             : segment_of((const u32*)arguments.source, arguments.segments, element);
}

// A thread's window as `sum_windows` knows it: what precedes it, and its own last head.
struct SummedWindow {
    u64 place;
    Window before;
    u64 last;
};

// The lowest value in every group of so many lanes, a power of two.
KOGGE_DEVICE u64 lowest_of(u64 value, u32 lanes) {
    for (u32 stride = 1; stride < lanes; stride *= 2) {
        u64 other = value_of_partner(value, stride);
        value = other < value ? other : value;
    }
    return value;
}

// Tells what long runs leave of each window of the scan. Those of the mask that are parts of one have neighbouring lanes.
KOGGE_DEVICE void tell_covers(const MarkArguments& arguments, const SummedWindow& window, u32 lane) {
    const LongRuns& runs = arguments.long_runs;
    u64 length = arguments.length, count = arguments.window_count, place = window.place;
    u32 parts = runs.window / runs.marked;
    auto head_of = [&](u64 place) -> u64 {
        u32 first = place < count ? arguments.first[place] : 0;
        return first ? place * runs.marked + first - 1 : ~0ull;
    };
    u64 start = place / parts * runs.window, end = start + runs.window, behind_end = end + runs.window;
    u64 head = lowest_of(head_of(place), parts), behind = lowest_of(head_of(place + parts), parts);
    u64 last = ~lowest_of(~window.last, parts), entering = value_of_lane(window.before.last, lane / parts * parts);
    if (end > length) end = length;
    if (behind_end > length) behind_end = length;
    bool there = place % parts == 0 && place <= count && start <= length;
    Cover cover = {0, runs.window};
    if (there) cover = runs.cover(start, length, entering, head < end ? head : end, last, behind < behind_end ? behind : behind_end);
    bool cut = there && (cover.from > 0 || cover.to < end - start);
    if (cut) arguments.long_runs.covers[place] = cover;
    u32 cuts = lanes_where(cut);
    if (lane == 0 && place <= count) runs.cut[place / 32] = cuts;
}

// The stretch of the runs that start in a thread's window: from its first head to the end of the last run, unless
// that is long. An end that is farther away than a run that isn't long is not looked for.
KOGGE_DEVICE Stretch stretch_of(const MarkArguments& arguments, const SummedWindow& window) {
    const LongRuns& runs = arguments.long_runs;
    if (window.place >= arguments.window_count || window.last == 0) return {0, 0, 0};
    u64 from = window.place * runs.marked + arguments.first[window.place] - 1, end = arguments.length;
    u64 farthest = window.place + 1 + runs.shorter / runs.marked + 1;
    // So many are asked for at once as there can be.
    constexpr u32 BATCH = 6;
    bool found = false;
    for (u64 place = window.place + 1; !found && place < arguments.window_count; place += BATCH) {
        u32 first[BATCH];
#pragma unroll
        for (u32 i = 0; i < BATCH; i++) first[i] = place + i < arguments.window_count ? arguments.first[place + i] : 0;
#pragma unroll
        for (u32 i = 0; i < BATCH; i++) {
            if (found || place + i >= arguments.window_count || (first[i] == 0 && place + i < farthest)) continue;
            end = (place + i) * runs.marked + (first[i] ? first[i] - 1 : 0);
            found = true;
        }
    }
    return {from, runs.are_long(window.last - 1, end) ? window.last - 1 : end, 0};
}

// Puts the tiles of the long runs that end in this block's windows in their list, and the stretches of its windows, if
// there are to be some, in theirs.
KOGGE_DEVICE void list_runs(const MarkArguments& arguments, SumShared& shared, const SummedWindow& window) {
    const LongRuns& runs = arguments.long_runs;
    u64 count = arguments.window_count, end = 0;
    // The run that enters a window ends with the first head there; that which goes on to the end, behind them all.
    u32 first = window.place < count ? arguments.first[window.place] : 0;
    if (first > 0) end = window.place * runs.marked + first - 1;
    if (window.place == count) end = arguments.length;
    u64 start = window.before.last > 0 ? window.before.last - 1 : end;
    u32 tiles = runs.are_long(start, end) ? runs.tiles_of(start, end) : 0;
    u64 number = tiles > 0 && runs.numbered ? number_of_run(arguments, window.before.heads - 1, start) : 0;
    ToList own = {start, end, number, tiles, {0, 0, 0}};
    if (runs.stretches) own.stretch = stretch_of(arguments, window);
    Listing listing(runs, shared.listing, own);
    sync_block();
    listing.put(count);
}

// What precedes each window in its place, and after the last place what there is in all; a thread a
// window, and one more. Takes an epoch for itself and begins one for the launch that follows.
KOGGE_DEVICE void sum_windows(const MarkArguments& arguments) {
    launch_dependents();
    await_launches();
    SumShared& shared = *(SumShared*)shared_memory();
    u32 warp = thread_index() / LANES, lane = thread_index() % LANES;
    u64 count = arguments.window_count, place = (u64)block_index() * SUM_THREADS + thread_index();
    u64 epoch = load_epoch(&arguments.workspace->epoch) + 1;
    Window own = {0, 0}, before = {0, 0};
    if (place < count) own = arguments.windows[place];
    Window total = own;
#pragma unroll
    for (u32 stride = 1; stride < LANES; stride *= 2) {
        Window left = value_of_lane_below(total, stride);
        if (lane >= stride) total = join_windows(left, total);
    }
    Window left = value_of_lane_below(total, 1);
    if (lane == LANES - 1) shared.warp[warp] = total;
    sync_block();
    for (u32 w = 0; w < warp; w++) before = join_windows(before, shared.warp[w]);
    if (thread_index() == SUM_THREADS - 1)
        Slot<Window>::publish(arguments.workspace, block_index(), join_windows(before, total), epoch);
    if (warp == 0) {
        Window earlier = await_windows(arguments.workspace, epoch, lane);
        if (lane == 0) shared.before = earlier;
    }
    sync_block();
    before = join_windows(shared.before, before);
    if (lane > 0) before = join_windows(before, left);
    if (place <= count) arguments.windows[place] = before;
    if (arguments.long_runs.list) {
        SummedWindow window = {place, before, own.last};
        if (!arguments.long_runs.stretches) tell_covers(arguments, window, lane);
        list_runs(arguments, shared, window);
    }
    if (block_index() + 1 < block_count() || thread_index() != SUM_THREADS - 1) return;
    // Every block has read the epoch: this one has seen their slots.
    store_epoch(&arguments.workspace->epoch, epoch + 1);
}
