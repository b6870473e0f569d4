// A warp's way along stretches: a ring of stages, each of them filled with the elements and heads of some rows.
//
// Stretches are taken one after another from a list that all warps share, as soon as a stage is free: so long and short
// ones even out. Two are asked for ahead, since a number takes a trip to memory and the stretch another. Of a stretch
// its own elements alone are loaded: what lies beside them another warp may be writing over.

// What a stage holds: rows from the position `base` on, of which the stretch has those from `from` on, `left` from
// `base` to its end; nothing if the list is at its end.
struct StretchRows {
    enum : u32 { BEGINS = 1u << 31 };
    u64 base;
    u32 from, left;
    __device__ __forceinline__ bool begins() const { return from & BEGINS; }
    __device__ __forceinline__ u32 first() const { return from & ~(u32)BEGINS; }
    // Whether all of so many positions are of the stretch.
    __device__ __forceinline__ bool full(u32 positions) const { return first() == 0 && left >= positions; }
};

template <class S>
struct alignas(16) StretchRing {
    typedef StretchShape<S> Shape;
    static constexpr u32 WARPS = Shape::WARPS, STAGES = S::STAGES;
    // Room for any alignment, and for the quad behind a chunk that lies anywhere.
    alignas(16) u8 stage[WARPS][STAGES][2 * Shape::ALIGN + (Shape::BYTES + 15) / 16 * 16];
    u32 heads[WARPS][STAGES][Shape::WORDS];
    StretchRows rows[WARPS][STAGES];
    Barrier full[WARPS][STAGES];
};

template <class S>
struct StretchLoader {
    typedef typename S::Input Input;
    typedef StretchShape<S> Shape;

    StretchRing<S>& ring;
    const SegmentedArguments<S>& arguments;
    u32 warp, lane;
    StretchOrder order;
    StretchHeads<S, S::OFFSET_BYTES> heads;
    Stretch at, next;
    u32 number;  // lane 0: of that after the next
    bool begins;

    __device__ __forceinline__ StretchLoader(StretchRing<S>& ring, const SegmentedArguments<S>& arguments, u32 warp, u32 lane)
        : ring(ring), arguments(arguments), warp(warp), lane(lane), order(arguments.stretches->order), heads(arguments, lane), begins(true) {
        u32 first = draw(), second = draw();
        number = draw();
        at = fetch(first);
        next = fetch(second);
        heads.begin(at);
    }

    // Where a stage has the positions from `base` on: as they lie in memory, at as many bytes from a multiple of 16.
    __device__ __forceinline__ Span<Input> staged(u64 base, u32 s) const {
        return {ring.stage[warp][s] + address(base) % Shape::ALIGN, Shape::POSITIONS};
    }
    // Begins to fill a stage that nobody reads any longer.
    __device__ __forceinline__ void load(u32 s) {
        if (at.from == at.to) {
            at = next;
            heads.begin(at);
            next = fetch(number);
            number = draw();
            begins = true;
        } else {
            heads.ask(next);
        }
        StretchRows rows = {at.from / Shape::ROW * Shape::ROW, 0, 0};
        u64 left = at.to - rows.base, end = left < Shape::POSITIONS ? at.to : rows.base + Shape::POSITIONS;
        bool some = at.from < at.to;
        if (some) {
            rows.from = (u32)(at.from - rows.base) | (begins ? (u32)StretchRows::BEGINS : 0);
            rows.left = (u32)left;
            heads.load(ring.heads[warp][s], rows.base, (u32)(end - rows.base));
        }
        if (S::BULK && rows.full(Shape::POSITIONS) && Shape::BYTES % 16 == 0 && address(0) % 16 == 0) load_full(rows, s);
        else load_elements(rows, some ? (u32)(end - rows.base) : 0, s);
        if (some) at.from = end;
        begins = false;
    }

  private:
    __device__ __forceinline__ u32 draw() const { return lane == 0 ? draw_number(&arguments.stretches->next) : 0; }
    __device__ __forceinline__ Stretch fetch(u32 drawn) const {
        u32 index = shuffle(drawn, 0);
        if (index >= order.count) return {0, 0, 0};
        return arguments.stretches->stretch(order.place(index));
    }
    // The lowest address of the elements at a stage's positions, some of which may not exist.
    __device__ __forceinline__ u64 address(u64 base) const {
        u64 element = S::REVERSE ? arguments.length - base - Shape::POSITIONS : base;
        return (u64)arguments.input + element * sizeof(Input);
    }
    // Elements at multiples of 16 bytes for all of a stage.
    __device__ __forceinline__ void load_full(const StretchRows& rows, u32 s) const {
        Barrier* full = &ring.full[warp][s];
        async_arrive(full);
        sync_warp();
        if (lane > 0) return;
        ring.rows[warp][s] = rows;
        barrier_arrive_expect(full, Shape::BYTES);
        bulk_load(ring.stage[warp][s], (const u8*)address(rows.base), Shape::BYTES, full);
    }
    // Those of some positions, up to `end`: what fills whole 16 bytes by the copy engine (below sm_90 by asynchronous
    // loads), the few bytes at either end by the lanes.
    __device__ __forceinline__ void load_elements(const StretchRows& rows, u32 end, u32 s) const {
        u32 from = rows.first();
        u32 skipped = (S::REVERSE ? Shape::POSITIONS - end : from) * sizeof(Input), bytes = (end - from) * (u32)sizeof(Input);
        const u8* source = (const u8*)(address(rows.base) + skipped);
        u8* to = staged(rows.base, s).bytes + skipped;
        u32 head = (u32)(-(u64)source % 16);
        if (head > bytes) head = bytes;
        u32 middle = (bytes - head) / 16 * 16, tail = bytes - head - middle;
        load_end(to, source, head);
        load_end(to + head + middle, source + head + middle, tail);
        Barrier* full = &ring.full[warp][s];
        if constexpr (!S::BULK) {
            for (u32 place = head + lane * 16; place < head + middle; place += LANES * 16) async_load(to + place, source + place);
        }
        async_arrive(full);
        sync_warp();
        if (lane > 0) return;
        ring.rows[warp][s] = rows;
        if constexpr (S::BULK) {
            barrier_arrive_expect(full, middle);
            if (middle > 0) bulk_load(to + head, source + head, middle, full);
        } else {
            barrier_arrive(full);
        }
    }
    // Fewer than 16 bytes, of whole elements; words of them without waiting.
    __device__ __forceinline__ void load_end(u8* to, const u8* from, u32 bytes) const {
        if constexpr (alignof(Input) % 4 == 0) {
            if (lane * 4 < bytes) async_load_word(to + lane * 4, from + lane * 4);
        } else {
            if (lane < bytes) to[lane] = from[lane];
        }
    }
};
