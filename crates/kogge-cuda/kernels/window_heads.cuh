// Heads that windows find themselves, in flags or keys, if a scan needs no numbers of segments: then it takes one launch,
// and where runs start is read once.
//
// Of what lies before it, a window has to know where the run starts that enters it. It looks at the positions just before,
// where short runs start. For longer ones, each publishes its last head, and looks back to the nearest window that has
// one. A window without heads publishes what it has found, so those behind needn't look farther.

// How many of a share's words its warp makes at once: equal parts, one a lane at most.
constexpr u32 words_at_once(u32 words) {
    u32 part = words < LANES ? words : LANES;
    while (words % part != 0) part--;
    return part;
}

// What is looked at before a window.
template <class S>
struct HeadsBefore {
    typedef typename S::Source::Value Value;
    enum : u32 { WORDS = 4, POSITIONS = WORDS * 32 };
    const SegmentedArguments<S>& arguments;
    u64 start;  // of the window

    // Asks for it, and for the value before; by one warp.
    __device__ __forceinline__ void ask(u32 lane) const {
        constexpr u32 STRIDE = 64 / sizeof(Value);
        static_assert(POSITIONS < LANES * STRIDE, "a lane asks once");
        u64 position = start - 1 - lane * STRIDE;
        if (start > 0 && lane * STRIDE <= POSITIONS)
            prefetch((const Value*)arguments.source + (S::REVERSE ? arguments.length - 1 - position : position));
    }
    // 1 + the position of the last head there, or 0.
    __device__ __forceinline__ u64 last(u32 lane) const {
        if (start == 0) return 0;
        u64 first = start - POSITIONS;
        u32 word = MarkShare<typename S::Source, S::REVERSE, WORDS>(arguments.source, arguments.length, first, lane).words();
        u32 with = lanes_where(lane < WORDS && word != 0), of = with ? highest_bit(with) : 0, bits = shuffle(word, of);
        return with ? first + of * 32 + highest_bit(bits) + 1 : 0;
    }
};

// A slot holds 1 + the position of the last head up to a window's end, or 0 as long as that isn't known.
template <class S>
struct HeadExchange {
    Workspace *workspace, *slots;
    u64 epoch;

    // The slots lie behind those of runs.
    __device__ __forceinline__ HeadExchange(const SegmentedArguments<S>& arguments, u64 epoch) : workspace(arguments.workspace), epoch(epoch) {
        RunSlots<S> runs(workspace, arguments.length, epoch);
        slots = (Workspace*)Slot<typename S::Op::Element>::at(workspace, runs.end) - 1;
    }
    // The last head before this window, which is `found` if that isn't 0; tells others of it, or of this window's own
    // `last` one. All lanes of a warp.
    __device__ __forceinline__ u64 before(u64 found, u64 last, u32 lane) const {
        u64 known = last ? last : found;
        if (lane == 0) Slot<u64>::publish(slots, block_index(), known, epoch);
        // The first window has a head.
        if (found || block_index() == 0) return found;
        found = look_back(lane);
        if (known == 0 && lane == 0) Slot<u64>::publish(slots, block_index(), found, epoch);
        return found;
    }
    // Notes that this block has read the epoch. When all have, it moves on.
    __device__ __forceinline__ void end() const {
        if (draw_number_of(&workspace->drawn, block_count()) + 1 == block_count()) store_epoch(&workspace->epoch, epoch);
    }

  private:
    __device__ __forceinline__ u64 look_back(u32 lane) const {
        for (u32 end = block_index();; end -= LANES) {
            // The nearest window is lane 0's.
            u64 last = 0;
            u32 known, with;
            do {
                bool seen = lane >= end || Slot<u64>::peek(slots, end - 1 - lane, last, epoch);
                known = lanes_where(seen);
                with = lanes_where(seen && lane < end && last != 0);
            } while ((with ? ~known & ((with & -with) - 1) : ~known) != 0);
            if (with) return value_of_lane(last, lowest_bit(with));
        }
    }
};
