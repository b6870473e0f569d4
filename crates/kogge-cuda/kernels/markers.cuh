// Markers: warps of the rounds that make the bits of every tile, one an element, from flags or keys (`LaneBits`).
//
// Each has a share of a tile, and pieces of flags or keys of it under way to buffers of its own: so what is under way
// takes no registers, and the next piece is asked for as soon as one has been looked at, however far the rounds have got.

// The buffers of a marker. A piece gives each lane a word.
template <class S>
struct MarkerShared {
    typedef typename S::Source::Value Value;
    // With the value before the piece's first, and whole 16 bytes.
    static constexpr u32 BYTES = (Bits<S>::POSITIONS * sizeof(Value) + 48 + 127) / 128 * 128;
    alignas(128) u8 piece[S::PIECES][BYTES];
    Barrier landed[S::PIECES];
};
// Those of a block; none where another launch has made the bits.
template <class S, bool SOME>
struct MarkerRing {};
template <class S>
struct MarkerRing<S, true> {
    MarkerShared<S> marker[S::MARKERS];
};

// Where the values of a piece lie, and of the position before; and the copy, which is of whole 16 bytes wherever those are
// the caller's.
template <class S>
struct MarkerPiece {
    typedef typename S::Source::Value Value;
    static constexpr u32 POSITIONS = Bits<S>::POSITIONS;
    u64 position;
    u32 count;
    u64 first, from, end;  // addresses: of the first position's value, and of the copy

    __device__ __forceinline__ MarkerPiece(const SegmentedArguments<S>& arguments, u64 position) : position(position) {
        u64 left = position < arguments.length ? arguments.length - position : 0;
        count = left < POSITIONS ? (u32)left : POSITIONS;
        u64 base = (u64)arguments.source, behind = base + arguments.length * sizeof(Value);
        from = end = first = base;
        if (count == 0) return;
        u32 values = count + (position > 0);
        first = base + (S::REVERSE ? left - 1 : position) * sizeof(Value);
        from = first - (S::REVERSE ? count - 1 : values - count) * sizeof(Value);
        end = from + values * sizeof(Value);
        u64 lower = from / 16 * 16, higher = (end + 15) / 16 * 16;
        if (lower >= base) from = lower;
        if (higher <= behind) end = higher;
    }
};

// The values of a piece in shared memory, where that of its first position is at `from`.
template <class S>
struct MarkerValues {
    typedef typename S::Source Source;
    typedef typename Source::Value Value;
    static constexpr u32 E = Order<typename S::Input>::CHUNK, BYTES = E * sizeof(Value), VECTOR = BYTES < 16 ? BYTES : 16;
    const Value* from;
    u32 lane;

    __device__ __forceinline__ const Value* at(u32 place) const { return S::REVERSE ? from - place : from + place; }
    // Whether a lane's chunk can be read by vectors.
    __device__ __forceinline__ bool in_place() const { return (u64)at(S::REVERSE ? E - 1 : 0) % VECTOR == 0; }

    template <bool WHOLE>
    __device__ __forceinline__ void read(Value (&value)[E], u32 place, u32 count) const {
        if constexpr (!WHOLE) {
#pragma unroll
            for (u32 e = 0; e < E; e++) value[e] = place + e < count ? *at(place + e) : Value();
        } else {
            Value stored[E];
            const Value* lowest = at(place + (S::REVERSE ? E - 1 : 0));
            if constexpr (BYTES < 16) memcpy(stored, __builtin_assume_aligned(lowest, BYTES), BYTES);
            else {
#pragma unroll
                for (u32 i = 0; i < BYTES / 16; i++) {
                    Quad quad = load_shared((const u8*)lowest + i * 16);
                    memcpy((u8*)stored + i * 16, &quad, 16);
                }
            }
#pragma unroll
            for (u32 e = 0; e < E; e++) value[e] = stored[S::REVERSE ? E - 1 - e : e];
        }
    }
    // This lane's word of the bits.
    template <bool WHOLE>
    __device__ __forceinline__ u32 word(u64 position, u32 count) const {
        Value previous = position > 0 && count > 0 ? *(S::REVERSE ? from + 1 : from - 1) : Value();
        u32 word = 0;
#pragma unroll
        for (u32 j = 0; j < Bits<S>::ROWS; j++) {
            Value value[E];
            u32 place = (j * LANES + lane) * E;
            read<WHOLE>(value, place, count);
            // The value before lane 0's is the last lane's, a row earlier: a rotation brings both.
            Value rotated = value_of_lane(value[E - 1], lane + LANES - 1), left = lane == 0 ? previous : rotated;
            previous = rotated;
#pragma unroll
            for (u32 e = 0; e < E; e++) {
                bool starts = Source::template starts<S::REVERSE>(left, value[e]) && (WHOLE || place + e < count);
                if (starts) word |= 1u << (j * E + e);
                left = value[e];
            }
        }
        return word | (position == 0 && lane == 0 && count > 0);
    }
};

template <class S>
struct Marker {
    typedef typename S::Source::Value Value;
    static constexpr u32 SHARE = Order<typename S::Input>::TILE / Bits<S>::POSITIONS / S::MARKERS;
    static_assert(SHARE > 0, "every marker has a piece of a tile");
    MarkerShared<S>& shared;
    const SegmentedArguments<S>& arguments;
    u32 warp, lane;

    // The `n`th piece of this warp.
    template <class Rounds>
    __device__ __forceinline__ MarkerPiece<S> piece(const Rounds& rounds, u32 n) const {
        u64 tile = rounds.given(n / SHARE), place = (warp * SHARE + n % SHARE) * Bits<S>::POSITIONS;
        return MarkerPiece<S>(arguments, tile * Order<typename S::Input>::TILE + place);
    }
    template <class Rounds>
    __device__ __forceinline__ void ask(const Rounds& rounds, u32 n) const {
        if (!rounds.has(rounds.given(n / SHARE))) return;
        MarkerPiece<S> at = piece(rounds, n);
        Barrier* landed = &shared.landed[n % S::PIECES];
        u32 bytes = begin_load<S>(shared.piece[n % S::PIECES] + at.from % 16, (const u8*)at.from, (u32)(at.end - at.from), landed, lane);
        end_load<S>(landed, bytes, lane);
    }
    // This lane's word of the `n`th piece, when it has come; then its buffer is free.
    template <class Rounds>
    __device__ __forceinline__ u32 word(const Rounds& rounds, u32 n) const {
        barrier_wait(&shared.landed[n % S::PIECES], n / S::PIECES & 1);
        MarkerPiece<S> at = piece(rounds, n);
        const u8* from = shared.piece[n % S::PIECES] + at.from % 16 + (at.first - at.from);
        MarkerValues<S> values{(const Value*)from, lane};
        bool whole = at.count == Bits<S>::POSITIONS && values.in_place();
        u32 word = whole ? values.template word<true>(at.position, at.count) : values.template word<false>(at.position, at.count);
        sync_warp();
        return word;
    }
};
