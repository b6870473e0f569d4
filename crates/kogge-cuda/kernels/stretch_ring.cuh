// A warp's way along stretches: a ring of stages, each of them filled with the elements and heads of some rows.
//
// Stretches are taken one after another from a list that all warps share, as soon as a stage is free: so long and short
// ones even out. Two are asked for ahead, since a number takes a trip to memory, the stretch another, and where its runs start a third.
// In place a stretch's own elements alone are loaded: what lies beside them another warp may be writing over.

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
    // Stretches that a warp has without drawing them: all warps at once would wait for each other.
    static constexpr u32 GIVEN = 3;

    StretchRing<S>& ring;
    const SegmentedArguments<S>& arguments;
    u32 warp, lane;
    Readable readable;
    StretchOrder order;
    StretchHeads<S, S::OFFSET_BYTES> heads;
    Stretch at, next;
    u32 number;  // lane 0: of that after the next
    bool begins;

    __device__ __forceinline__ StretchLoader(StretchRing<S>& ring, const SegmentedArguments<S>& arguments, u32 warp, u32 lane)
        : ring(ring), arguments(arguments), warp(warp), lane(lane), order(arguments.stretches->order), heads(arguments, lane), begins(true) {
        readable = Readable::of(arguments.input, arguments.output, arguments.length * sizeof(Input));
        u32 own = block_index() * Shape::WARPS + warp, all = block_count() * Shape::WARPS;
        at = fetch(own);
        next = fetch(own + all);
        number = own - all;
        heads.begin(at);
        heads.go_on();
    }
    // Asks for what the next stretch needs: it has come by now, and the answer takes no longer than a stage.
    __device__ __forceinline__ void look_ahead() { heads.ask(next); }

    // Where a stage has the positions from `base` on: at as many bytes from a multiple of `ALIGN` as in memory.
    __device__ __forceinline__ Span<Input> staged(u64 base, u32 s) const {
        return {ring.stage[warp][s] + address(base) % Shape::ALIGN, Shape::POSITIONS};
    }
    // Begins to fill a stage that nobody reads any longer, but `STORED` copies of its values: with the elements first, for which the
    // warp waits.
    template <bool STORED>
    __device__ __forceinline__ void load(u32 s) {
        bool follows = at.from == at.to;
        if (follows) {
            at = next;
            heads.begin(at);
        }
        StretchRows rows = {at.from / Shape::ROW * Shape::ROW, 0, 0};
        u64 left = at.to - rows.base, end = left < Shape::POSITIONS ? at.to : rows.base + Shape::POSITIONS;
        u32 positions = at.from < at.to ? (u32)(end - rows.base) : 0, bytes = 0;
        if constexpr (STORED) {
            if (lane == 0) await_bulk_stores();
            sync_warp();
        }
        if (positions > 0) {
            rows.from = (u32)(at.from - rows.base) | (begins || follows ? (u32)StretchRows::BEGINS : 0);
            rows.left = (u32)left;
            bytes = load_elements(rows, positions, s);
            at.from = end;
        }
        if (follows) heads.go_on();
        if (positions > 0) heads.load(ring.heads[warp][s], rows.base, positions);
        end_load(rows, bytes, s);
        begins = false;
        if (!follows) return;
        next = fetch(shuffle(number, 0) + GIVEN * block_count() * Shape::WARPS);
        number = draw();
    }

  private:
    // Of so many numbers that it never begins anew: the compiler would join lanes' plain sums into one, and wait for it at once.
    __device__ __forceinline__ u32 draw() const { return lane == 0 ? draw_number_of(&arguments.stretches->next, ~0u) : 0; }
    __device__ __forceinline__ Stretch fetch(u32 index) const {
        if (index >= order.count) return {0, 0, 0};
        return arguments.stretches->stretch(order.place(index));
    }
    // The lowest address of the elements at a stage's positions, some of which may not exist.
    __device__ __forceinline__ u64 address(u64 base) const {
        u64 element = S::REVERSE ? arguments.length - base - Shape::POSITIONS : base;
        return (u64)arguments.input + element * sizeof(Input);
    }
    // The elements of some positions, up to `end`: what fills whole 16 bytes by the copy engine (below sm_90 by asynchronous
    // loads), the few bytes at either end by the lanes. Gives the bytes that the copy engine brings.
    __device__ __forceinline__ u32 load_elements(const StretchRows& rows, u32 end, u32 s) const {
        u32 from = rows.first(), bytes = (end - from) * (u32)sizeof(Input);
        const u8 *first = (const u8*)address(rows.base), *source = first + (S::REVERSE ? Shape::POSITIONS - end : from) * sizeof(Input);
        if constexpr (S::BULK) readable.widen(source, bytes);
        u8* to = staged(rows.base, s).bytes + (source - first);
        u32 head = (u32)(-(u64)source % 16);
        if (head > bytes) head = bytes;
        u32 middle = (bytes - head) / 16 * 16, tail = bytes - head - middle;
        load_end(to, source, head);
        load_end(to + head + middle, source + head + middle, tail);
        if constexpr (!S::BULK) {
            for (u32 place = head + lane * 16; place < head + middle; place += LANES * 16) async_load(to + place, source + place);
        } else if (lane == 0 && middle > 0) {
            bulk_load(to + head, source + head, middle, &ring.full[warp][s]);
        }
        return middle;
    }
    // Says that all of it is under way.
    __device__ __forceinline__ void end_load(const StretchRows& rows, u32 bytes, u32 s) const {
        Barrier* full = &ring.full[warp][s];
        async_arrive(full);
        sync_warp();
        if (lane > 0) return;
        ring.rows[warp][s] = rows;
        if constexpr (S::BULK) barrier_arrive_expect(full, bytes);
        else barrier_arrive(full);
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
