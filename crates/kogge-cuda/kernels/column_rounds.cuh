// The scan of long lines that are too few to fill the machine: each is cut, along the order's segments,
// and shared out over thread blocks.
//
// A unit is `SEGMENTS` segments of each of `COLUMNS` neighbouring lines; thread block b of G takes units
// b, b + G, …, counted across the lines first. A worker looks after one row of one line. In step k of a
// block, between two barriers,
//
//   workers:     write the values of unit k - 1, ask for unit k + 2, fold the rows of unit k + 1;
//   look-ahead:  folds the segments of unit k, publishes their totals, finds out what precedes them,
//
// so that a unit is read from memory once, and its total is out long before a block waits for it. A unit
// waits for units before it only.

template <class S>
struct ColumnShared {
    typedef typename S::Op::Element A;
    typedef typename S::Input Input;
    static constexpr u32 STAGES = 3;
    static constexpr u32 ROWS = S::SEGMENTS * ROWS_PER_SEGMENT, ROW = Order<Input>::CHUNK * CHUNKS_PER_ROW;
    static constexpr u32 WORKERS = ROWS * S::COLUMNS, THREADS = LANES + WORKERS;
    // One element of every line; what is added to a row keeps the rows that a warp reads together in
    // banks of their own.
    static constexpr u32 PITCH = S::COLUMNS * sizeof(Input), PAD = PITCH < 128 ? PITCH : 0;
    static constexpr u32 ROW_BYTES = ROW * PITCH + PAD, STAGE_BYTES = (ROWS * ROW_BYTES + 127) / 128 * 128;
    static_assert(WORKERS % LANES == 0 && LANES % S::COLUMNS == 0, "workers fill their warps");
    static_assert(S::COLUMNS * S::SEGMENTS <= LANES, "a lane of the look-ahead folds one segment");
    static_assert(SEGMENTS_PER_TILE % S::SEGMENTS == 0, "a unit lies within a tile");

    u8 stage[STAGES][STAGE_BYTES];
    Barrier full[STAGES][WORKERS / LANES];
    A row[STAGES][ROWS][S::COLUMNS];              // totals
    A segment[STAGES][S::SEGMENTS][S::COLUMNS];  // totals, then what precedes each

    __device__ __forceinline__ u8* at(u32 s, u32 r, u32 e, u32 column) {
        return stage[s] + r * ROW_BYTES + e * PITCH + column * sizeof(Input);
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
    __device__ __forceinline__ ColumnUnit<S> unit(const ColumnArguments<S>& arguments, u32 k) const {
        return ColumnUnit<S>(arguments, (u64)k * block_count() + block_index(), strips);
    }
};

// ---- workers ----

template <class S>
struct FromStage {
    typedef typename S::Input Input;
    typedef ColumnShared<S> Shared;
    static constexpr u32 E = Order<Input>::CHUNK;
    const u8* row;

    __device__ __forceinline__ void take(u32 octet, u32 i, u32 count, Input (&value)[E]) {
#pragma unroll
        for (u32 e = 0; e < E; e++)
            if (e < count)
                value[e] = read_element<natural_alignment<Input>(), Input>(
                    row + ((octet * CHUNKS_PER_OCTET + i) * E + e) * Shared::PITCH);
    }
};

// Whether the lines of every strip lie side by side, and all at boundaries of 16 bytes.
template <class S>
KOGGE_DEVICE bool strips_are_whole(const ColumnArguments<S>& arguments) {
    constexpr u32 PITCH = ColumnShared<S>::PITCH;
    if (PITCH % 16 != 0 || arguments.axes == 0) return false;
    const OuterAxis& beside = arguments.outer[arguments.axes - 1];
    u64 all = (u64)arguments.input | (u64)arguments.input_stride;
    for (u32 k = 0; k + 1 < arguments.axes; k++) all |= (u64)arguments.outer[k].input_stride;
    return beside.input_stride == sizeof(typename S::Input) && beside.length % S::COLUMNS == 0 && all % 16 == 0;
}

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
    u32 warp, lane, row, column;
    bool whole;

    __device__ __forceinline__ ColumnWorker(Shared& shared, const ColumnArguments<S>& arguments, const ColumnRounds<S>& rounds, u32 index)
        : shared(shared), arguments(arguments), rounds(rounds), warp(index / LANES), lane(index % LANES),
          row(index / S::COLUMNS), column(index % S::COLUMNS), whole(strips_are_whole(arguments)) {}

    __device__ __forceinline__ void run() {
        for (u32 k = 0; k < Shared::STAGES; k++) ask(k);
        for (u32 k = 0; k <= rounds.count; k++) {
            if (k < rounds.count) fold(k);
            sync_block();
            if (k == 0) continue;
            scan(k - 1);
            ask(k - 1 + Shared::STAGES);
        }
    }

  private:
    // Asks for the warp's rows of unit `k`, if there is one, into a stage that the warp has done with.
    __device__ __forceinline__ void ask(u32 k) {
        if (k >= rounds.count) return;
        Unit unit = rounds.unit(arguments, k);
        u64 index = unit.strip * S::COLUMNS;
        Barrier* full = &shared.full[k % Shared::STAGES][warp];
        sync_warp();
        if (whole) {
            ask_together(k % Shared::STAGES, unit, arguments.line(index).input);
            return async_arrive(full);
        }
        if (index + column >= arguments.lines || unit.elements(row) == 0) return barrier_arrive(full);
        const u8* from = arguments.line(index + column).input + (long long)(unit.start + row * Shared::ROW) * arguments.input_stride;
        u8* to = shared.at(k % Shared::STAGES, row, 0, column);
        if (sizeof(Input) % 4 == 0 && ((u64)from | (u64)arguments.input_stride) % 4 == 0) {
            ask_words(to, from, unit.elements(row));
            return async_arrive(full);
        }
        copy_elements(to, from, unit.elements(row));
        barrier_arrive(full);
    }
    // The warp's rows, 16 bytes a lane at a time; `from` is the strip's first element.
    __device__ __forceinline__ void ask_together(u32 s, const Unit& unit, const u8* from) {
        constexpr u32 PIECES = Shared::PITCH < 16 ? 1 : Shared::PITCH / 16, ROWS = LANES / S::COLUMNS;
#pragma unroll 1
        for (u32 j = 0; j < ROWS; j++) {
            u32 r = warp * ROWS + j, count = unit.elements(r);
            const u8* row = from + (long long)(unit.start + r * Shared::ROW) * arguments.input_stride;
            u8* to = shared.at(s, r, 0, 0);
#pragma unroll 8
            for (u32 i = lane; i < count * PIECES; i += LANES)
                async_load(to + i * 16, row + (long long)(i / PIECES) * arguments.input_stride + i % PIECES * 16);
        }
    }
    // This thread's row, word by word.
    __device__ __forceinline__ void ask_words(u8* to, const u8* from, u32 count) {
#pragma unroll 4
        for (u32 e = 0; e < count; e++) {
#pragma unroll
            for (u32 w = 0; w + 4 <= sizeof(Input); w += 4) async_load_word(to + w, from + w);
            to += Shared::PITCH;
            from += arguments.input_stride;
        }
    }
    // This thread's row, at any alignment.
    __device__ __forceinline__ void copy_elements(u8* to, const u8* from, u32 count) {
        constexpr u32 AT_ONCE = 8;
#pragma unroll 1
        for (u32 first = 0; first < count; first += AT_ONCE) {
            Input value[AT_ONCE];
#pragma unroll
            for (u32 i = 0; i < AT_ONCE; i++)
                if (first + i < count) value[i] = read_element<alignof(Input), Input>(from + (long long)(first + i) * arguments.input_stride);
#pragma unroll
            for (u32 i = 0; i < AT_ONCE; i++)
                if (first + i < count) write_element<natural_alignment<Input>()>(to + (first + i) * Shared::PITCH, value[i]);
        }
    }

    __device__ __forceinline__ bool has_row(const Unit& unit) const {
        return unit.strip * S::COLUMNS + column < arguments.lines && unit.elements(row) > 0;
    }

    // The total of this thread's row.
    __device__ __forceinline__ void fold(u32 k) {
        u32 s = k % Shared::STAGES;
        Unit unit = rounds.unit(arguments, k);
        barrier_wait(&shared.full[s][warp], k / Shared::STAGES & 1);
        if (!has_row(unit)) return;
        FromStage<S> source = {shared.at(s, row, 0, column)};
        u32 count = unit.elements(row);
        if (count == Shared::ROW) {
            shared.row[s][row][column] = whole_row_total<S>(source);
        } else {
            Delays<A> delays = {};
            Nowhere nowhere;
            shared.row[s][row][column] = descend_row<S, false>(delays, {A(), false}, count, source, nowhere);
        }
    }

    // The values of this thread's row.
    __device__ __forceinline__ void scan(u32 k) {
        Unit unit = rounds.unit(arguments, k);
        if (!has_row(unit)) return;
        Line line = arguments.line(unit.strip * S::COLUMNS + column);
        line.output += (long long)(unit.start + row * Shared::ROW) * arguments.output_stride;
        constexpr u32 NATURAL = natural_alignment<Output>();
        if constexpr (alignof(Output) < NATURAL) {
            if (((u64)line.output | (u64)arguments.output_stride) % NATURAL != 0)
                return scan_to<alignof(Output)>(k % Shared::STAGES, unit, line.output);
        }
        scan_to<NATURAL>(k % Shared::STAGES, unit, line.output);
    }
    template <u32 ALIGNMENT>
    __device__ __forceinline__ void scan_to(u32 s, const Unit& unit, u8* to) {
        Maybe<A> before = before_row(s, unit);
        FromStage<S> source = {shared.at(s, row, 0, column)};
        Places<Output, ALIGNMENT> sink = {to, arguments.output_stride};
        Delays<A> delays = {};
        u32 count = unit.elements(row);
        if (count == Shared::ROW) descend_row<S, true>(delays, before, count, source, sink);
        else descend_row<S, false>(delays, before, count, source, sink);
    }
    __device__ __forceinline__ Maybe<A> before_row(u32 s, const Unit& unit) const {
        u32 m = row / ROWS_PER_SEGMENT;
        bool preceded = arguments.inits.kind != INITS_NONE || unit.first_segment + m > 0;
        Maybe<A> before = {shared.segment[s][m][column], preceded};
#pragma unroll 1
        for (u32 r = m * ROWS_PER_SEGMENT; r < row; r++) before = join<Op>(before, shared.row[s][r][column]);
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
    // Waits for the `count` slots of a line from `first` on, which go to the last places of `value`.
    template <u32 PLACES>
    __device__ __forceinline__ void await(u64 first, u32 count, A (&value)[PLACES]) const {
        static_assert(PLACES < 32, "a bit each");
        constexpr u32 BATCH = sizeof(A) <= 8 ? PLACES : 4;
        u32 unused = PLACES - count, missing = ((1u << count) - 1) << unused;
#pragma unroll
        for (u32 start = 0; start < PLACES; start += BATCH) {
            constexpr u32 ALL = (1u << BATCH) - 1;
            while (missing >> start & ALL) {
                // All loads first: a test between them would wait for each in turn.
                A seen[BATCH];
                bool fresh[BATCH];
#pragma unroll
                for (u32 j = 0; j < BATCH; j++) {
                    fresh[j] = false;
                    if (missing >> (start + j) & 1)
                        fresh[j] = Slot<A>::peek(workspace, first + (u64)(start + j - unused) * S::COLUMNS, seen[j], epoch);
                }
#pragma unroll
                for (u32 j = 0; j < BATCH; j++) {
                    if (start + j >= PLACES || !fresh[j]) continue;
                    value[start + j] = seen[j];
                    missing &= ~(1u << (start + j));
                }
            }
        }
    }
};

// The Kogge–Stone value of the last of the `count` values at the end of the array: a balanced tree.
template <class Op, class A>
KOGGE_DEVICE Maybe<A> last_kogge_stone(A (&value)[TILES_PER_BLOCK], u32 count) {
#pragma unroll
    for (u32 stride = 1; stride < TILES_PER_BLOCK; stride *= 2) {
#pragma unroll
        for (u32 i = 2 * stride - 1; i < TILES_PER_BLOCK; i += 2 * stride)
            if (i - stride >= TILES_PER_BLOCK - count) value[i] = Op::combine(value[i - stride], value[i]);
    }
    return {value[TILES_PER_BLOCK - 1], count > 0};
}

template <class S>
struct ColumnLookAhead {
    typedef typename S::Op Op;
    typedef typename Op::Element A;
    typedef ColumnShared<S> Shared;
    typedef ColumnUnit<S> Unit;

    Shared& shared;
    const ColumnArguments<S>& arguments;
    const ColumnRounds<S>& rounds;
    u32 lane;
    ColumnSlots<S> slots;

    __device__ __forceinline__ ColumnLookAhead(Shared& shared, const ColumnArguments<S>& arguments, const ColumnRounds<S>& rounds, u32 lane)
        : shared(shared), arguments(arguments), rounds(rounds), lane(lane), slots(arguments) {}

    __device__ __forceinline__ void run() {
        sync_warp();
        if (lane == 0) slots.publish(block_index(), A());
        for (u32 k = 0; k <= rounds.count; k++) {
            sync_block();
            if (k < rounds.count) look(k % Shared::STAGES, rounds.unit(arguments, k));
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
        u32 m = lane / S::COLUMNS, column = lane % S::COLUMNS;
        bool exists = unit.strip * S::COLUMNS + column < arguments.lines;
        if (m < unit.segments() && exists) {
            A total = shared.row[s][m * ROWS_PER_SEGMENT][column];
#pragma unroll 1
            for (u32 r = 1; r < unit.rows(m); r++) total = Op::combine(total, shared.row[s][m * ROWS_PER_SEGMENT + r][column]);
            shared.segment[s][m][column] = total;
            slots.publish(slots.segment(unit.strip, unit.first_segment + m, column), total);
        }
        sync_warp();
        if (lane < S::COLUMNS && exists) look_before(s, unit, column);
        sync_warp();
    }

    // Puts what precedes each segment of a line's unit in the place of its total.
    __device__ __forceinline__ void look_before(u32 s, const Unit& unit, u32 column) {
        u32 beside = (u32)(unit.first_segment % SEGMENTS_PER_TILE);
        u64 tile = unit.first_segment / SEGMENTS_PER_TILE, block = tile / TILES_PER_BLOCK;
        u32 tiles = (u32)(tile % TILES_PER_BLOCK);
        bool ends_tile = unit.is_last() || beside + S::SEGMENTS == SEGMENTS_PER_TILE;

        A segment[SEGMENTS_PER_TILE - 1];
        slots.await(slots.segment(unit.strip, unit.first_segment - beside, column), beside, segment);
        Maybe<A> total = {A(), false};
        for_each_segment(segment, beside, [&](const A& value) { total = join<Op>(total, value); });
#pragma unroll 1
        for (u32 m = 0; m < unit.segments(); m++) total = join<Op>(total, shared.segment[s][m][column]);
        if (ends_tile && !unit.is_last()) slots.publish(slots.tile(unit.strip, tile, column), total.value);

        A before[TILES_PER_BLOCK - 1], first[1];
        slots.await(slots.tile(unit.strip, tile - tiles, column), tiles, before);
        Maybe<A> blocks = {A(), true};
        if (block > 0) {
            slots.await(slots.block(unit.strip, block, column), 1, first);
            blocks.value = first[0];
        } else {
            blocks = arguments.inits.of(number(unit, column));
        }
        if (ends_tile && (tiles == TILES_PER_BLOCK - 1 || unit.is_last()))
            end_block(unit, column, block, blocks, before, tiles, total.value);

        Maybe<A> running = join<Op>(blocks, fold_tiles(before, tiles));
        for_each_segment(segment, beside, [&](const A& value) { running = join<Op>(running, value); });
#pragma unroll 1
        for (u32 m = 0; m < unit.segments(); m++) {
            A value = shared.segment[s][m][column];
            if (running.exists) shared.segment[s][m][column] = running.value;
            running = join<Op>(running, value);
        }
    }

    template <class F>
    static __device__ __forceinline__ void for_each_segment(const A (&segment)[SEGMENTS_PER_TILE - 1], u32 count, F f) {
#pragma unroll
        for (u32 i = 0; i < SEGMENTS_PER_TILE - 1; i++)
            if (i >= SEGMENTS_PER_TILE - 1 - count) f(segment[i]);
    }
    // The Kogge–Stone value of the last of the tiles before.
    static __device__ __forceinline__ Maybe<A> fold_tiles(const A (&before)[TILES_PER_BLOCK - 1], u32 tiles) {
        A value[TILES_PER_BLOCK];
#pragma unroll
        for (u32 i = 1; i < TILES_PER_BLOCK; i++) value[i] = before[i - 1];
        return last_kogge_stone<Op>(value, tiles);
    }
    // What precedes the next block of tiles, or the line's total.
    __device__ __forceinline__ void end_block(const Unit& unit, u32 column, u64 block, const Maybe<A>& blocks, const A (&before)[TILES_PER_BLOCK - 1], u32 tiles, const A& tile) {
        A value[TILES_PER_BLOCK];
#pragma unroll
        for (u32 i = 0; i < TILES_PER_BLOCK - 1; i++) value[i] = before[i];
        value[TILES_PER_BLOCK - 1] = tile;
        Maybe<A> through = join<Op>(blocks, last_kogge_stone<Op>(value, tiles + 1));
        if (unit.is_last()) arguments.inits.put_total(number(unit, column), through);
        else slots.publish(slots.block(unit.strip, block + 1, column), through.value);
    }
    __device__ __forceinline__ u64 number(const Unit& unit, u32 column) const {
        return arguments.line(unit.strip * S::COLUMNS + column).number;
    }
};

template <class S>
KOGGE_DEVICE void column_rounds(const ColumnArguments<S>& arguments) {
    typedef ColumnShared<S> Shared;
    Shared& shared = *(Shared*)shared_memory();
    for (u32 i = thread_index(); i < Shared::STAGES * (Shared::WORKERS / LANES); i += Shared::THREADS)
        barrier_init(&shared.full[0][0] + i, LANES);
    sync_block();
    ColumnRounds<S> rounds(arguments);
    if (thread_index() < LANES) ColumnLookAhead<S>(shared, arguments, rounds, thread_index()).run();
    else ColumnWorker<S>(shared, arguments, rounds, thread_index() - LANES).run();
}
