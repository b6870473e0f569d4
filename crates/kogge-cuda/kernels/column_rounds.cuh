// The scan of long lines that are too few to fill the machine: each is cut, along the order's segments,
// and shared out over thread blocks.
//
// A unit is `SEGMENTS` segments of each of `COLUMNS` neighbouring lines; thread block b of G takes units
// b, b + G, …, counted across the lines first, through a ring of stages in shared memory. Each stage has
// workers of its own, one a row of a line: they fold the rows, and once they know what precedes them, write
// the values and ask for a unit again. One warp, the look-ahead, takes the stages in turn: it folds
// segments, publishes their totals and finds out what precedes them.
//
//   workers ──reduced──▶ look-ahead ──ready──▶ workers
//
// So a unit is read from memory once, and its total is out long before the values are written. A unit
// waits for units before it only, in blocks that are all resident.

template <class S>
struct ColumnShared {
    typedef typename S::Op::Element A;
    typedef typename S::Input Input;
    static constexpr u32 STAGES = 3;
    static constexpr u32 ROWS = S::SEGMENTS * ROWS_PER_SEGMENT, ROW = Order<Input>::CHUNK * CHUNKS_PER_ROW;
    static constexpr u32 WORKERS = ROWS * S::COLUMNS, THREADS = LANES + STAGES * WORKERS;
    typedef ColumnFetch<Input, S::COLUMNS> Fetch;
    // What is added to a row keeps the rows that a warp reads together in banks of their own.
    static constexpr u32 PAD = Fetch::PITCH < 128 ? Fetch::PITCH : 0;
    static constexpr u32 ROW_BYTES = ROW * Fetch::PITCH + PAD, STAGE_BYTES = (ROWS * ROW_BYTES + 127) / 128 * 128;
    static_assert(WORKERS % LANES == 0 && LANES % S::COLUMNS == 0, "workers fill their warps");
    static_assert(S::COLUMNS * S::SEGMENTS <= LANES, "a lane of the look-ahead folds one segment");
    static_assert(STAGES < 16, "a named barrier for the workers of each stage");
    static_assert(SEGMENTS_PER_TILE % S::SEGMENTS == 0, "a unit lies within a tile");

    u8 stage[STAGES][STAGE_BYTES];
    Barrier full[STAGES][WORKERS / LANES], reduced[STAGES], ready[STAGES];
    A row[STAGES][ROWS][S::COLUMNS];              // totals
    A segment[STAGES][S::SEGMENTS][S::COLUMNS];  // totals, then what precedes each

    __device__ __forceinline__ u8* at(u32 s, u32 r, u32 column) {
        return stage[s] + r * ROW_BYTES + column * sizeof(Input);
    }
};

// A unit: which lines, and which part of them.
template <class S>
struct ColumnUnit {
    typedef ColumnShared<S> Shared;
    static constexpr u32 SEGMENT = Order<typename S::Input>::SEGMENT;

    u64 strip, first_segment, start;  // the first element
    u64 left;                         // elements of a line from there on

    __device__ __forceinline__ ColumnUnit(const ColumnArguments<S>& arguments, u64 index, u64 strips) {
        u64 along = arguments.quotient(index, strips);
        strip = index - along * strips;
        first_segment = along * S::SEGMENTS;
        start = first_segment * SEGMENT;
        left = arguments.length - start;
    }
    __device__ __forceinline__ bool is_last() const { return left <= S::SEGMENTS * SEGMENT; }
    __device__ __forceinline__ u32 segments() const {
        return is_last() ? (u32)((left + SEGMENT - 1) / SEGMENT) : S::SEGMENTS;
    }
    // Elements of row `r`, and rows of segment `m`.
    __device__ __forceinline__ u32 elements(u32 r) const {
        u64 before = (u64)r * Shared::ROW;
        return left <= before ? 0 : left - before < Shared::ROW ? (u32)(left - before) : Shared::ROW;
    }
    __device__ __forceinline__ u32 rows(u32 m) const {
        u64 first = (u64)m * SEGMENT, rest = left - first;
        return rest >= SEGMENT ? ROWS_PER_SEGMENT : (u32)((rest + Shared::ROW - 1) / Shared::ROW);
    }
};

// A thread block's share of the work.
template <class S>
struct ColumnRounds {
    u64 strips, units;
    u32 count;

    __device__ __forceinline__ ColumnRounds(const ColumnArguments<S>& arguments) {
        constexpr u32 UNIT = S::SEGMENTS * Order<typename S::Input>::SEGMENT;
        strips = (arguments.lines + S::COLUMNS - 1) / S::COLUMNS;
        units = (arguments.length + UNIT - 1) / UNIT * strips;
        count = block_index() < units ? (u32)((units - block_index() + block_count() - 1) / block_count()) : 0;
    }
    static __device__ __forceinline__ u32 stage(u32 k) { return k % ColumnShared<S>::STAGES; }
    static __device__ __forceinline__ u32 parity(u32 k) { return k / ColumnShared<S>::STAGES & 1; }
    __device__ __forceinline__ ColumnUnit<S> unit(const ColumnArguments<S>& arguments, u32 k) const {
        return ColumnUnit<S>(arguments, (u64)k * block_count() + block_index(), strips);
    }
};

// ---- workers ----

template <class S>
struct FromStage {
    typedef typename S::Input Input;
    const u8* row;

    __device__ __forceinline__ void begin_octet() {}
    __device__ __forceinline__ void end_octet() {}
    __device__ __forceinline__ void take(u32 octet, u32 i, u32 count, Input (&value)[Order<Input>::CHUNK]) {
        read_column_chunk<Input, S::COLUMNS>(row, octet * CHUNKS_PER_OCTET + i, count, value);
    }
};

// One of the workers of a stage: it looks after a row of a line, and its warp asks for its warp's rows.
template <class S>
struct ColumnWorker {
    typedef typename S::Op Op;
    typedef typename Op::Element A;
    typedef typename S::Input Input;
    typedef typename S::Output Output;
    typedef ColumnShared<S> Shared;
    typedef ColumnUnit<S> Unit;

    Shared& shared;
    const ColumnArguments<S>& arguments;
    const ColumnRounds<S>& rounds;
    typename Shared::Fetch fetch;
    u32 stage, warp, lane, row, column;

    __device__ __forceinline__ ColumnWorker(Shared& shared, const ColumnArguments<S>& arguments, const ColumnRounds<S>& rounds, u32 stage, u32 index)
        : shared(shared), arguments(arguments), rounds(rounds), fetch(arguments), stage(stage), warp(index / LANES),
          lane(index % LANES), row(index / S::COLUMNS), column(index % S::COLUMNS) {}

    __device__ __forceinline__ void run() {
        ask(stage);
#pragma unroll 1
        for (u32 k = stage; k < rounds.count; k += Shared::STAGES) {
            fold(k);
            sync_warp();
            if (lane == 0) barrier_arrive(&shared.reduced[stage]);
            barrier_wait(&shared.ready[stage], rounds.parity(k));
            scan(k);
            ask(k + Shared::STAGES);
        }
    }

  private:
    // Asks for the warp's rows of unit `k`, if there is one, where the warp has read all.
    __device__ __forceinline__ void ask(u32 k) {
        if (k >= rounds.count) return;
        Unit unit = rounds.unit(arguments, k);
        u64 index = unit.strip * S::COLUMNS;
        Barrier* full = &shared.full[stage][warp];
        sync_warp();
        if (fetch.together) {
            constexpr u32 ROWS = LANES / S::COLUMNS;
            const u8* strip = arguments.line(index).input;
#pragma unroll 1
            for (u32 r = warp * ROWS; r < (warp + 1) * ROWS; r++)
                fetch.ask_together(shared.at(stage, r, 0), first_of(unit, strip, r, arguments.input_stride), unit.elements(r), lane);
            async_arrive(full);
        } else if (has_row(unit)) {
            const u8* line = arguments.line(index + column).input;
            fetch.ask_alone(shared.at(stage, row, column), first_of(unit, line, row, arguments.input_stride), unit.elements(row), full);
        } else {
            barrier_arrive(full);
        }
    }
    // The first element of a row of a unit.
    template <class Byte>
    static __device__ __forceinline__ Byte* first_of(const Unit& unit, Byte* line, u32 row, long long stride) {
        return line + (long long)(unit.start + row * Shared::ROW) * stride;
    }
    __device__ __forceinline__ bool has_row(const Unit& unit) const {
        return unit.strip * S::COLUMNS + column < arguments.lines && unit.elements(row) > 0;
    }

    // The total of this thread's row.
    __device__ __forceinline__ void fold(u32 k) {
        Unit unit = rounds.unit(arguments, k);
        barrier_wait(&shared.full[stage][warp], rounds.parity(k));
        if (!has_row(unit)) return;
        FromStage<S> source = {shared.at(stage, row, column)};
        u32 count = unit.elements(row);
        if (count == Shared::ROW) {
            shared.row[stage][row][column] = whole_row_total<S>(source);
        } else {
            Delays<A> delays = {};
            Nowhere nowhere;
            shared.row[stage][row][column] = descend_row<S, false>(delays, {A(), false}, count, source, nowhere);
        }
    }

    // The values of this thread's row.
    __device__ __forceinline__ void scan(u32 k) {
        Unit unit = rounds.unit(arguments, k);
        Maybe<A> before = before_row(unit);
        sync_group(1 + stage, Shared::WORKERS);  // the totals of rows are read
        if (!has_row(unit)) return;
        u8* to = first_of(unit, arguments.line(unit.strip * S::COLUMNS + column).output, row, arguments.output_stride);
        constexpr u32 NATURAL = natural_alignment<Output>();
        if constexpr (alignof(Output) < NATURAL) {
            if (((u64)to | (u64)arguments.output_stride) % NATURAL != 0)
                return scan_to<alignof(Output)>(unit, before, to);
        }
        scan_to<NATURAL>(unit, before, to);
    }
    template <u32 ALIGNMENT>
    __device__ __forceinline__ void scan_to(const Unit& unit, const Maybe<A>& before, u8* to) {
        FromStage<S> source = {shared.at(stage, row, column)};
        Places<Output, ALIGNMENT> sink = {to, arguments.output_stride};
        Delays<A> delays = {};
        u32 count = unit.elements(row);
        if (count == Shared::ROW) descend_row<S, true>(delays, before, count, source, sink);
        else descend_row<S, false>(delays, before, count, source, sink);
    }
    __device__ __forceinline__ Maybe<A> before_row(const Unit& unit) const {
        if (!has_row(unit)) return {A(), false};
        u32 m = row / ROWS_PER_SEGMENT;
        bool preceded = arguments.inits.kind != INITS_NONE || unit.first_segment + m > 0;
        Maybe<A> before = {shared.segment[stage][m][column], preceded};
#pragma unroll 1
        for (u32 r = m * ROWS_PER_SEGMENT; r < row; r++) before = join<Op>(before, shared.row[stage][r][column]);
        return before;
    }
};

// ---- look-ahead ----

// The slots of an exchange: one a thread block, which says that it has read the epoch; then for each strip
// its segments, its tiles, and what precedes each block of tiles but the first; neighbouring lines side by
// side.
template <class S>
struct ColumnSlots {
    typedef typename S::Op::Element A;
    Workspace* workspace;
    u64 epoch, segments, tiles, blocks;

    __device__ __forceinline__ ColumnSlots(const ColumnArguments<S>& arguments) {
        constexpr u32 SEGMENT = Order<typename S::Input>::SEGMENT;
        workspace = arguments.workspace;
        epoch = load_epoch(&workspace->epoch) + 1;
        segments = (arguments.length + SEGMENT - 1) / SEGMENT;
        tiles = (segments + SEGMENTS_PER_TILE - 1) / SEGMENTS_PER_TILE;
        blocks = (tiles + TILES_PER_BLOCK - 1) / TILES_PER_BLOCK;
    }
    __device__ __forceinline__ u64 at(u64 strip, u64 place, u32 column) const {
        return block_count() + (strip * (segments + tiles + blocks) + place) * S::COLUMNS + column;
    }
    __device__ __forceinline__ u64 segment(u64 strip, u64 segment, u32 column) const { return at(strip, segment, column); }
    __device__ __forceinline__ u64 tile(u64 strip, u64 tile, u32 column) const { return at(strip, segments + tile, column); }
    __device__ __forceinline__ u64 block(u64 strip, u64 block, u32 column) const { return at(strip, segments + tiles + block, column); }

    __device__ __forceinline__ void publish(u64 index, const A& value) const {
        Slot<A>::publish(workspace, index, value, epoch);
    }
    // Waits for those of the slots `first`, `first` + `COLUMNS`, … of which `wanted` has a bit.
    template <u32 PLACES>
    __device__ __forceinline__ void await(u64 first, u32 wanted, A (&value)[PLACES]) const {
        u32 missing = wanted;
        while (missing) {
            // All loads first, and none under a condition: a test between them would wait for each in turn.
            A seen[PLACES];
            bool fresh[PLACES];
#pragma unroll
            for (u32 j = 0; j < PLACES; j++)
                fresh[j] = Slot<A>::peek(workspace, missing >> j & 1 ? first + (u64)j * S::COLUMNS : 0, seen[j], epoch);
#pragma unroll
            for (u32 j = 0; j < PLACES; j++) {
                if (!(missing >> j & 1) || !fresh[j]) continue;
                value[j] = seen[j];
                missing &= ~(1u << j);
            }
        }
    }
};

template <class S>
struct ColumnLookAhead {
    typedef typename S::Op Op;
    typedef typename Op::Element A;
    typedef ColumnShared<S> Shared;
    typedef ColumnUnit<S> Unit;
    // The lanes that share a line's tiles; the last of them looks after the line.
    static constexpr u32 SHARERS = LANES / S::COLUMNS, SHARE = TILES_PER_BLOCK / SHARERS;

    Shared& shared;
    const ColumnArguments<S>& arguments;
    const ColumnRounds<S>& rounds;
    u32 lane, column;
    bool looks_after;
    ColumnSlots<S> slots;

    __device__ __forceinline__ ColumnLookAhead(Shared& shared, const ColumnArguments<S>& arguments, const ColumnRounds<S>& rounds, u32 lane)
        : shared(shared), arguments(arguments), rounds(rounds), lane(lane), column(lane % S::COLUMNS),
          looks_after(lane / S::COLUMNS == SHARERS - 1), slots(arguments) {}

    __device__ __forceinline__ void run() {
        sync_warp();
        if (lane == 0) slots.publish(block_index(), A());
#pragma unroll 1
        for (u32 k = 0; k < rounds.count; k++) {
            u32 s = rounds.stage(k);
            barrier_wait(&shared.reduced[s], rounds.parity(k));
            look(s, rounds.unit(arguments, k));
            sync_warp();
            if (lane == 0) barrier_arrive(&shared.ready[s]);
        }
        if (block_index() == 0) end();
    }

  private:
    // Once every block has read the epoch, it moves on.
    __device__ __forceinline__ void end() {
        for (u64 i = lane; i < block_count(); i += LANES) {
            A unused;
            while (!Slot<A>::peek(slots.workspace, i, unused, slots.epoch)) {
            }
        }
        sync_warp();
        if (lane == 0) store_epoch(&slots.workspace->epoch, slots.epoch);
    }

    __device__ __forceinline__ void look(u32 s, const Unit& unit) {
        u64 line = unit.strip * S::COLUMNS + column;
        bool exists = line < arguments.lines;
        fold_segments(s, unit, exists);
        sync_warp();

        u32 beside = (u32)(unit.first_segment % SEGMENTS_PER_TILE);
        u64 tile = unit.first_segment / SEGMENTS_PER_TILE, block = tile / TILES_PER_BLOCK;
        u32 tiles = exists ? (u32)(tile % TILES_PER_BLOCK) : 0;
        bool ends_tile = unit.is_last() || beside + S::SEGMENTS == SEGMENTS_PER_TILE;
        bool ends_block = unit.is_last() || (ends_tile && tile % TILES_PER_BLOCK == TILES_PER_BLOCK - 1);
        bool ours = exists && looks_after;

        A segment[SEGMENTS_PER_TILE - 1];
        slots.await(slots.segment(unit.strip, unit.first_segment - beside, column), ours ? (1u << beside) - 1 : 0, segment);
        Maybe<A> total = {A(), false}, blocks = {A(), false};
        if (ours) {
            total = fold_tile(s, unit, segment, beside);
            if (ends_tile && !unit.is_last()) slots.publish(slots.tile(unit.strip, tile, column), total.value);
        }
        u64 first = slots.tile(unit.strip, tile - tile % TILES_PER_BLOCK, column);
        Maybe<A> before = fold_tiles(first, tiles, {A(), false});
        Maybe<A> through = before;
        if (ends_block) through = fold_tiles(first, tiles, total);
        if (!ours) return;

        u64 number = arguments.line(line).number;
        if (block > 0) {
            A value[1];
            slots.await(slots.block(unit.strip, block, column), 1, value);
            blocks = {value[0], true};
        } else {
            blocks = arguments.inits.of(number);
        }
        if (unit.is_last()) arguments.inits.put_total(number, join<Op>(blocks, through));
        else if (ends_block) slots.publish(slots.block(unit.strip, block + 1, column), join<Op>(blocks, through).value);
        replace_by_prefixes(s, unit, join<Op>(blocks, before), segment, beside);
    }

    // The totals of the unit's segments, a lane each.
    __device__ __forceinline__ void fold_segments(u32 s, const Unit& unit, bool exists) {
        u32 m = lane / S::COLUMNS;
        if (m >= unit.segments() || !exists) return;
        A total = shared.row[s][m * ROWS_PER_SEGMENT][column];
#pragma unroll 1
        for (u32 r = 1; r < unit.rows(m); r++) total = Op::combine(total, shared.row[s][m * ROWS_PER_SEGMENT + r][column]);
        shared.segment[s][m][column] = total;
        slots.publish(slots.segment(unit.strip, unit.first_segment + m, column), total);
    }
    // The total of the tile, up to the end of the unit.
    __device__ __forceinline__ Maybe<A> fold_tile(u32 s, const Unit& unit, const A (&segment)[SEGMENTS_PER_TILE - 1], u32 beside) const {
        Maybe<A> total = {A(), false};
#pragma unroll
        for (u32 i = 0; i < SEGMENTS_PER_TILE - 1; i++)
            if (i < beside) total = join<Op>(total, segment[i]);
#pragma unroll 1
        for (u32 m = 0; m < unit.segments(); m++) total = join<Op>(total, shared.segment[s][m][column]);
        return total;
    }
    // The Kogge–Stone value of the last of `count` tiles from the slot `first` on, and of one more that comes
    // after them, if it exists: a balanced tree over 32 places, at whose end they lie. All lanes take part;
    // that which looks after the line gives the last tile and gets the value.
    __device__ __forceinline__ Maybe<A> fold_tiles(u64 first, u32 count, const Maybe<A>& last) const {
        u32 lasts = (u32)value_of_lane((u32)last.exists, (SHARERS - 1) * S::COLUMNS + column), unused = TILES_PER_BLOCK - count - lasts;
        u32 place = lane / S::COLUMNS * SHARE, tiles = unused + count;
        u32 wanted = 0;
#pragma unroll
        for (u32 j = 0; j < SHARE; j++)
            if (place + j >= unused && place + j < tiles) wanted |= 1u << j;
        A value[SHARE];
        slots.await(first + ((u64)place - unused) * S::COLUMNS, wanted, value);
        if (looks_after && lasts) value[SHARE - 1] = last.value;
#pragma unroll
        for (u32 stride = 1; stride < SHARE; stride *= 2) {
#pragma unroll
            for (u32 i = 2 * stride - 1; i < SHARE; i += 2 * stride)
                if (place + i - stride >= unused) value[i] = Op::combine(value[i - stride], value[i]);
        }
        A all = value[SHARE - 1];
#pragma unroll
        for (u32 stride = SHARE; stride < TILES_PER_BLOCK; stride *= 2) {
            A left = value_of_lane_below(all, stride / SHARE * S::COLUMNS);
            if (place + SHARE > unused + stride) all = Op::combine(left, all);
        }
        return {all, count + lasts > 0};
    }
    // Puts what precedes each segment in the place of its total. `before` is what precedes the tile.
    __device__ __forceinline__ void replace_by_prefixes(u32 s, const Unit& unit, Maybe<A> before, const A (&segment)[SEGMENTS_PER_TILE - 1], u32 beside) {
#pragma unroll
        for (u32 i = 0; i < SEGMENTS_PER_TILE - 1; i++)
            if (i < beside) before = join<Op>(before, segment[i]);
#pragma unroll 1
        for (u32 m = 0; m < unit.segments(); m++) {
            A value = shared.segment[s][m][column];
            if (before.exists) shared.segment[s][m][column] = before.value;
            before = join<Op>(before, value);
        }
    }
};

template <class S>
KOGGE_DEVICE void column_rounds(const ColumnArguments<S>& arguments) {
    typedef ColumnShared<S> Shared;
    constexpr u32 WARPS = Shared::WORKERS / LANES;
    Shared& shared = *(Shared*)shared_memory();
    if (thread_index() < Shared::STAGES) {
        u32 s = thread_index();
        for (u32 w = 0; w < WARPS; w++) barrier_init(&shared.full[s][w], LANES);
        barrier_init(&shared.reduced[s], WARPS);
        barrier_init(&shared.ready[s], 1);
    }
    sync_block();
    ColumnRounds<S> rounds(arguments);
    u32 worker = thread_index() - LANES;
    if (thread_index() < LANES) ColumnLookAhead<S>(shared, arguments, rounds, thread_index()).run();
    else ColumnWorker<S>(shared, arguments, rounds, worker / Shared::WORKERS, worker % Shared::WORKERS).run();
}
