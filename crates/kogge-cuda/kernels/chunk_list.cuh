// The chunks of a window, in a list: the order starts anew at each run's first element, wherever that is,
// so which elements make a chunk is worked out from the mask of heads.
//
// A window's share are the segments of the order that start in it: its first chunk may begin after its
// first position, its last may end in the next window. Positions count from the window's start. Each
// thread has 32 of them, a word of the mask.

// The shape of windows of elements of this size.
template <class S>
struct WindowShape {
    typedef typename S::Input Input;
    static constexpr u32 E = Order<Input>::CHUNK, ROW = E * CHUNKS_PER_ROW, SEGMENT = Order<Input>::SEGMENT;
    static constexpr u32 WINDOW = S::WINDOW;
    static constexpr u32 REACH = WINDOW + SEGMENT;  // no segment that starts in it ends later
    static constexpr u32 WORDS = WINDOW / 32, MORE_WORDS = SEGMENT / 32 + 1;
    static constexpr u32 CAPACITY = S::CAPACITY < REACH ? S::CAPACITY : REACH;
    // If the list can't hold a window's chunks, it is made for the rows that start in one part of the
    // positions at a time; a row brings at most 31 chunks that start behind the part.
    static constexpr u32 PARTS = S::CAPACITY < REACH ? (REACH + CAPACITY - 33) / (CAPACITY - 32) : 1;
    static constexpr u32 PART = CAPACITY - 32;
    // One place for each multiple of a row or segment at which one that isn't shorter can start; an
    // index more, for what follows it.
    static constexpr u32 ROWS = REACH / ROW + 1, SEGMENTS = REACH / SEGMENT + 1;
    static_assert(WINDOW % SEGMENT == 0 && WINDOW <= Order<Input>::TILE, "a window is within a tile's length");
    static_assert(REACH <= 1 << 14 && E <= 16, "an entry holds a position and a count");
};

enum : u32 { SEGMENTED_THREADS = 256, SEGMENTED_WARPS = SEGMENTED_THREADS / LANES };

// A chunk of the list: its position, its elements, its place in its run, counted from the first of the
// run's segments in this window.
struct Entry {
    u32 bits;
    static constexpr u32 VALID = 1u << 31;

    static __device__ __forceinline__ Entry of(u32 position, u32 count, bool last, u32 index, bool entering) {
        return {VALID | position | (count - 1) << 14 | (u32)last << 18 | index << 19 | (u32)entering << 30};
    }
    __device__ __forceinline__ bool valid() const { return bits & VALID; }
    __device__ __forceinline__ u32 position() const { return bits & 0x3fff; }
    __device__ __forceinline__ u32 count() const { return (bits >> 14 & 15) + 1; }
    // Whether its run ends with it.
    __device__ __forceinline__ bool last() const { return bits >> 18 & 1; }
    __device__ __forceinline__ u32 index() const { return bits >> 19 & 0x7ff; }
    __device__ __forceinline__ u32 chunk_of_row() const { return bits >> 19 & 31; }
    __device__ __forceinline__ u32 row_of_segment() const { return bits >> 24 & 7; }
    __device__ __forceinline__ u32 segment() const { return bits >> 27 & 7; }
    // Whether its run has the window's first position too.
    __device__ __forceinline__ bool entering() const { return bits >> 30 & 1; }
};

// What a window's threads work out together before they list its chunks.
template <class S>
struct ListShared {
    typedef WindowShape<S> W;
    u32 words[W::WORDS + W::MORE_WORDS];  // the mask of heads, with one after the last element
    u16 heads_before[W::WORDS];           // in this window
    u32 first[SEGMENTED_WARPS], last[SEGMENTED_WARPS], more[SEGMENTED_WARPS], sums[SEGMENTED_WARPS];
    u32 list[W::CAPACITY];
};

enum : u32 { NOWHERE = ~0u };

// The runs of a window, as each thread sees them.
template <class S>
struct Runs {
    typedef WindowShape<S> W;
    static constexpr u32 E = W::E;

    u32 heads;       // this thread's word
    u32 base;        // where the run that holds the position before the word starts, as far as chunks go
    bool entering;   // whether that run has the window's first position
    u32 entry;       // where the first segment of the run starts that has the window's first position
    bool starts_at;  // whether that run starts there
    u32 first, end;  // the positions of this window's segments
    u32 last_base;   // of the run that holds the window's last position
    bool last_entering;
    bool leaves;     // whether that run goes on behind `end`

    // Reads the mask; all threads of the block take part. `start` is the window's first position, `length`
    // counts all, `last` is 1 + the position of the last head before the window.
    __device__ __forceinline__ void find(ListShared<S>& shared, const u32* mask, u64 mask_words, u64 start, u64 length, u64 last) {
        u32 index = thread_index(), warp = index / LANES, lane = index % LANES;
        u64 left = length - start;
        u32 elements = left < W::REACH + 32 ? (u32)left : W::REACH + 32;
        u32 more = 0;
        heads = index < W::WORDS ? word(mask, mask_words, start, elements, index) : 0;
        if (index < W::MORE_WORDS) more = word(mask, mask_words, start, elements, W::WORDS + index);
        if (index < W::WORDS) shared.words[index] = heads;
        if (index < W::MORE_WORDS) shared.words[W::WORDS + index] = more;
        note(shared.first, first_of(lanes_where(heads != 0)), false, heads, warp, lane);
        note(shared.last, last_of(lanes_where(heads != 0)), true, heads, warp, lane);
        note(shared.more, first_of(lanes_where(more != 0)), false, more, warp, lane);
        u32 below = lanes_where(heads != 0) & ((1u << lane) - 1), bits = shuffle(heads, last_of(below));
        starts_at = mask[start / 32] & 1;
        u32 done = starts_at ? 0 : (u32)((start + 1 - last) % W::SEGMENT);
        entry = done == 0 ? 0 : W::SEGMENT - done;
        sync_block();
        // A lane a warp.
        u32 first_head = NOWHERE, last_head = NOWHERE, first_more = NOWHERE;
        if (lane < SEGMENTED_WARPS) {
            first_head = shared.first[lane];
            last_head = shared.last[lane];
            first_more = shared.more[lane];
        }
        u32 with = lanes_where(last_head != NOWHERE), with_more = lanes_where(first_more != NOWHERE);
        u32 with_before = with & ((1u << warp) - 1);
        u32 before = from_warp(last_head, with_before, last_of(with_before));
        u32 head = from_warp(first_head, with, first_of(with)), final = from_warp(last_head, with, last_of(with));
        u32 behind = from_warp(first_more, with_more, first_of(with_more));
        if (below) before = (warp * LANES + last_of(below)) * 32 + highest_bit(bits);
        settle(before, head, behind, final, elements);
    }

  private:
    static __device__ __forceinline__ u32 first_of(u32 lanes) { return lanes ? lowest_bit(lanes) : 0; }
    static __device__ __forceinline__ u32 last_of(u32 lanes) { return lanes ? highest_bit(lanes) : 0; }
    // A word of the mask, with a head after the last element.
    static __device__ __forceinline__ u32 word(const u32* mask, u64 mask_words, u64 start, u32 elements, u32 index) {
        u32 bits = start / 32 + index < mask_words ? mask[start / 32 + index] : 0;
        return elements / 32 == index ? bits | 1u << elements % 32 : bits;
    }
    // What the lane has that is one of these, if there are any.
    static __device__ __forceinline__ u32 from_warp(u32 value, u32 lanes, u32 lane) {
        u32 seen = shuffle(value, lane);
        return lanes ? seen : NOWHERE;
    }
    // The first or last head of this warp's words, by the lane that has it.
    static __device__ __forceinline__ void note(u32* warps, u32 of, bool highest, u32 word, u32 warp, u32 lane) {
        u32 bits = shuffle(word, of);
        if (lane != 0) return;
        warps[warp] = bits ? (warp * LANES + of) * 32 + (highest ? highest_bit(bits) : lowest_bit(bits)) : NOWHERE;
    }
    // From the heads that matter: the last before this word, the window's first and last, the first behind
    // the window (counted from its end).
    __device__ __forceinline__ void settle(u32 before, u32 head, u32 behind, u32 final, u32 elements) {
        entering = before == NOWHERE || before == 0;
        base = before == NOWHERE ? entry : before;
        first = entry < head ? entry : head;
        last_entering = final == NOWHERE || final == 0;
        last_base = final == NOWHERE ? entry : final;
        leaves = false;
        if (elements <= W::WINDOW) {
            end = elements;
            return;
        }
        u32 last_segment = last_base + (W::WINDOW - 1 - last_base) / W::SEGMENT * W::SEGMENT;
        u32 next = behind == NOWHERE ? NOWHERE : W::WINDOW + behind;
        end = next < last_segment + W::SEGMENT ? next : last_segment + W::SEGMENT;
        leaves = end != next;
    }
};

// Where chunks start among the 32 positions of a word, from the heads among them and the first start that
// a chunk before them leads to.
template <u32 E>
KOGGE_DEVICE u32 chunk_starts(u32 heads, u32 first) {
    u32 starts = heads;
    if (first < 32 && (heads & (2u << first) - 1) == 0) starts |= 1u << first;
    // A start leads to the next unless a head comes before.
    u32 cut = heads;
#pragma unroll
    for (u32 width = 1; width < E;) {
        u32 step = width < E - width ? width : E - width;
        cut |= cut << step;
        width += step;
    }
    u32 open = ~cut;
#pragma unroll
    for (u32 stride = E; stride < 32; stride *= 2) {
        starts |= starts << stride & open;
        open &= open << stride;
    }
    return starts;
}

// The exclusive sum over the threads of the block, and the sum of all. Both halves of a word at once.
template <class S>
KOGGE_DEVICE u32 sum_before(ListShared<S>& shared, u32 value, u32& all) {
    u32 warp = thread_index() / LANES, lane = thread_index() % LANES, sum = value;
#pragma unroll
    for (u32 stride = 1; stride < LANES; stride *= 2) {
        u32 left = shuffle_up(sum, stride);
        if (lane >= stride) sum += left;
    }
    if (lane == LANES - 1) shared.sums[warp] = sum;
    sync_block();
    u32 before = sum - value;
    all = 0;
#pragma unroll
    for (u32 w = 0; w < SEGMENTED_WARPS; w++) {
        if (w < warp) before += shared.sums[w];
        all += shared.sums[w];
    }
    return before;
}

// One thread's chunks: those that start in its word, and one behind the window.
template <class S>
struct Chunks {
    typedef WindowShape<S> W;
    static constexpr u32 E = W::E;
    const Runs<S>& runs;
    u32 next;    // the word behind this thread's
    u32 starts;  // in its word
    bool behind;

    __device__ __forceinline__ Chunks(const ListShared<S>& shared, const Runs<S>& runs) : runs(runs), starts(0) {
        u32 index = thread_index(), at = index * 32;
        if (index < W::WORDS && at < runs.end) {
            next = shared.words[index + 1];
            u32 first = runs.base >= at ? runs.base - at : (E - (at - runs.base) % E) % E;
            starts = chunk_starts<E>(runs.heads, first);
            if (runs.end - at < 32) starts &= (1u << (runs.end - at)) - 1;
        }
        behind = behind_position() < runs.end;
    }
    // A thread's chunk behind the window, of the segment that reaches over its end.
    __device__ __forceinline__ u32 behind_position() const {
        return runs.last_base + (W::WINDOW - runs.last_base + E - 1) / E * E + thread_index() * E;
    }
    __device__ __forceinline__ u32 count_behind() const {
        u32 start = behind_position() - thread_index() * E;
        return start < runs.end ? (runs.end - start + E - 1) / E : 0;
    }
    __device__ __forceinline__ Entry behind_entry() const {
        u32 position = behind_position(), left = runs.end - position;
        return Entry::of(position, left < E ? left : E, left <= E && !runs.leaves, (position - runs.last_base) / E,
                         runs.last_entering);
    }
    // The chunk that starts at bit `i` of the word.
    __device__ __forceinline__ Entry entry(u32 i) const {
        u32 at = thread_index() * 32, position = at + i, heads = runs.heads & (2u << i) - 1;
        u32 base = heads ? at + highest_bit(heads) : runs.base;
        u32 ahead = (u32)(((u64)next << 32 | runs.heads) >> (i + 1)) & (1u << E) - 1;
        bool entering = heads ? base == 0 : runs.entering;
        return Entry::of(position, ahead ? lowest_bit(ahead) + 1 : E, ahead != 0, (position - base) / E, entering);
    }
    // Keeps those whose row starts in this part of the window.
    __device__ __forceinline__ void keep_part(u32 part) {
        u32 from = part * W::PART, kept = 0;
        for (u32 rest = starts; rest; rest &= rest - 1)
            if (row_start(entry(lowest_bit(rest))) - from < W::PART) kept |= 1u << lowest_bit(rest);
        starts = kept;
        behind = behind && row_start(behind_entry()) - from < W::PART;
    }
    static __device__ __forceinline__ u32 row_start(const Entry& entry) {
        return entry.position() - entry.chunk_of_row() * E;
    }
    // Writes them to the list, from `place` on; the one behind the window to a place of its own. The chunks
    // of a run follow each other, so where the next one starts tells what there is to a chunk.
    __device__ __forceinline__ void put(u32* list, u32 place, u32 place_behind) const {
        constexpr u32 NEXT = E + (1u << 19);  // from a whole chunk of a run to the next
        for (u32 rest = starts; rest;) {
            // From a start to the next head in the word.
            u32 i = lowest_bit(rest), heads = runs.heads & ~1u << i;
            u32 group = heads ? rest & ((heads & (0 - heads)) - 1) : rest;
            rest ^= group;
            u32 last = highest_bit(group);
            if (i < last)
                for (u32 bits = entry(i).bits; i < last; i += E, bits += NEXT) list[place++] = bits;
            list[place++] = entry(last).bits;
        }
        if (behind) list[place_behind] = behind_entry().bits;
    }
};

// Lists the chunks of a window, or of one part of it, and gives their number; all threads of the block.
// `part` is `NOWHERE` for all; if they don't fit, nothing is listed. A `sync_block` follows.
template <class S>
KOGGE_DEVICE u32 list_chunks(ListShared<S>& shared, const Runs<S>& runs, u32 part) {
    typedef WindowShape<S> W;
    Chunks<S> chunks(shared, runs);
    if (part != NOWHERE) chunks.keep_part(part);
    u32 index = thread_index(), all, kept;
    u32 before = sum_before(shared, count_bits(chunks.starts) | count_bits(runs.heads) << 16, all);
    if (index < W::WORDS) shared.heads_before[index] = (u16)(before >> 16);
    u32 listed = all & 0xffff, place_behind = listed + index;
    if (part == NOWHERE) {
        // Behind the window chunks follow each other thread by thread.
        listed += chunks.count_behind();
    } else {
        sync_block();
        place_behind = listed + sum_before(shared, chunks.behind, kept);
        listed += kept;
    }
    if (listed <= W::CAPACITY) chunks.put(shared.list, before & 0xffff, place_behind);
    return listed;
}
