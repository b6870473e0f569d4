// Where runs start among the rows of a stage: a bit for each position, from the mask, or from the offsets themselves.
//
// By offsets a warp goes along those of its stretch, as many at once as it has lanes. As many are under way, and the first of
// the next stretch: so it waits for none, unless runs are very short.

// The shape of a stage.
template <class S>
struct StretchShape {
    typedef typename S::Input Input;
    static constexpr u32 E = Order<Input>::CHUNK, ROW = E * CHUNKS_PER_ROW, WARPS = S::WARPS, THREADS = WARPS * LANES;
    static constexpr u32 STEPS = S::ROWS, WORDS = STEPS * E;  // rows, and words of their heads
    static constexpr u32 POSITIONS = STEPS * ROW, BYTES = POSITIONS * sizeof(Input), ALIGN = 32;
    static_assert(STEPS <= LANES, "a lane has the words of a row");
};

template <u32 BYTES>
struct OffsetOf;
template <>
struct OffsetOf<4> {
    typedef u32 Type;
};
template <>
struct OffsetOf<8> {
    typedef u64 Type;
};

// By offsets of so many bytes.
template <class S, u32 OFFSET_BYTES>
struct StretchHeads {
    typedef typename OffsetOf<OFFSET_BYTES>::Type Offset;
    OffsetRuns<Offset, S::REVERSE> runs;
    u32 lane;
    u64 run;  // the first of those that lanes have, one each
    // Where they start, and as many behind them; and the first of the stretch that follows.
    Offset here, behind, following;
    bool asked;  // for the last

    __device__ __forceinline__ StretchHeads(const SegmentedArguments<S>& arguments, u32 lane)
        : runs(arguments), lane(lane), run(0), here(), behind(), following(), asked(false) {}
    __device__ __forceinline__ void ask(const Stretch& next) {
        if (!asked) following = offset(next.run);
        asked = true;
    }
    // Takes what was asked for; `go_on` asks for what is behind it, when more urgent loads are under way. Apart, since the first
    // would wait for the second: a warp has few scoreboards, and these loads had one.
    __device__ __forceinline__ void begin(const Stretch& next) {
        ask(next);
        run = next.run;
        here = following;
        asked = false;
    }
    __device__ __forceinline__ void go_on() { behind = offset(run + LANES); }
    // The words of so many positions from `base` on, when the stage's barrier says so.
    __device__ __forceinline__ void load(u32* words, u64 base, u32 positions) {
        for (u32 word = lane; word < StretchShape<S>::WORDS; word += LANES) words[word] = 0;
        sync_warp();
        for (;;) {
            u64 start = runs.position(here), place = start - base;
            if (place < positions) set_shared_bits(words + place / 32, 1u << place % 32);
            if (lanes_where(start >= base + positions) || run >= runs.count) return;
            run += LANES;
            here = behind;
            behind = offset(run + LANES);
        }
    }

  private:
    // Behind the last run stands what ends it.
    __device__ __forceinline__ Offset offset(u64 first) const {
        u64 number = first + lane;
        return runs.offset(number < runs.count ? number : runs.count);
    }
};

// By the mask.
template <class S>
struct StretchHeads<S, 0> {
    const u32* mask;
    u32 lane;

    __device__ __forceinline__ StretchHeads(const SegmentedArguments<S>& arguments, u32 lane) : mask(arguments.heads), lane(lane) {}
    __device__ __forceinline__ void ask(const Stretch&) {}
    __device__ __forceinline__ void begin(const Stretch&) {}
    __device__ __forceinline__ void go_on() {}
    __device__ __forceinline__ void load(u32* words, u64 base, u32 positions) {
        u32 count = (positions + StretchShape<S>::ROW - 1) / StretchShape<S>::ROW * StretchShape<S>::E;
        for (u32 word = lane; word < count; word += LANES) async_load_word(words + word, mask + base / 32 + word);
    }
};
