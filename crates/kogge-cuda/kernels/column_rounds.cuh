// The scan of long lines that are too few to fill the machine: each is cut, along the order's rows, and
// shared out over thread blocks.
//
// A unit is `ROWS` rows of each of `COLUMNS` neighbouring lines; thread block b of G takes units b, b + G,
// …, counted across the lines first, through a ring of stages in shared memory. Each stage has workers of
// its own, one a row of a line. A worker folds its row and publishes the total; who has the last row of a
// segment publishes the segment's, of a tile the tile's and what precedes the next tile. So each finds in
// a few slots what precedes its row: the tile's prefix, up to seven segments, up to seven rows. Then it
// writes the values from shared memory: a unit is read once.
//
// Every worker publishes all that it can before it waits, and waits for units before its own only, in
// blocks that are all resident.

enum : u32 { ROWS_PER_TILE = ROWS_PER_SEGMENT * SEGMENTS_PER_TILE };

template <class S>
struct ColumnShared {
    typedef typename S::Input Input;
    typedef ColumnFetch<Input, S::COLUMNS> Fetch;
    static constexpr u32 STAGES = 3;
    static constexpr u32 ROW = Order<Input>::CHUNK * CHUNKS_PER_ROW;
    static constexpr u32 WORKERS = S::ROWS * S::COLUMNS, THREADS = STAGES * WORKERS;
    // What is added to a row keeps the rows that a warp reads together in banks of their own.
    static constexpr u32 PAD = Fetch::PITCH < 128 ? Fetch::PITCH : 0;
    static constexpr u32 ROW_BYTES = ROW * Fetch::PITCH + PAD, STAGE_BYTES = (S::ROWS * ROW_BYTES + 127) / 128 * 128;
    // The threads that ask for a row together, and for others after it.
    static constexpr u32 TEAM = S::COLUMNS > LANES ? S::COLUMNS : LANES, ROWS_PER_TEAM = TEAM / S::COLUMNS;
    static_assert(WORKERS % LANES == 0 && TEAM % S::COLUMNS == 0, "workers fill their warps");
    static_assert(ROWS_PER_TILE % S::ROWS == 0, "a unit lies within a tile");
    static_assert(STAGES < 16, "a named barrier for the workers of each stage");

    u8 stage[STAGES][STAGE_BYTES];
    Barrier full[STAGES];

    __device__ __forceinline__ u8* at(u32 s, u32 r, u32 column) {
        return stage[s] + r * ROW_BYTES + column * sizeof(Input);
    }
};

// What blocks tell each other of a strip: a slot a line for each of its rows, its segments, its tiles, and
// what precedes each tile; neighbouring lines side by side. Before them all, a slot a block says that it has
// read the epoch.
template <class S>
struct ColumnSlots {
    typedef typename S::Op::Element A;
    Workspace* workspace;
    u64 epoch, rows, segments, tiles;

    __device__ __forceinline__ ColumnSlots(const ColumnArguments<S>& arguments) {
        constexpr u32 ROW = ColumnShared<S>::ROW;
        workspace = arguments.workspace;
        epoch = load_epoch(&workspace->epoch) + 1;
        rows = (arguments.length + ROW - 1) / ROW;
        segments = (rows + ROWS_PER_SEGMENT - 1) / ROWS_PER_SEGMENT;
        tiles = (segments + SEGMENTS_PER_TILE - 1) / SEGMENTS_PER_TILE;
    }
    // The slot of place 0 of a line.
    __device__ __forceinline__ u64 of(u64 strip, u32 column) const {
        return block_count() + strip * (rows + segments + 2 * tiles) * S::COLUMNS + column;
    }
    __device__ __forceinline__ u64 row(u64 line, u64 i) const { return line + i * S::COLUMNS; }
    __device__ __forceinline__ u64 segment(u64 line, u64 i) const { return row(line, rows + i); }
    __device__ __forceinline__ u64 tile(u64 line, u64 i) const { return row(line, rows + segments + i); }
    __device__ __forceinline__ u64 before_tile(u64 line, u64 i) const { return row(line, rows + segments + tiles + i); }

    __device__ __forceinline__ void publish(u64 index, const A& value) const {
        Slot<A>::publish(workspace, index, value, epoch);
    }
    // Waits for those of a line's slots from `first` on of which `wanted` has a bit.
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

// A row of a line.
struct ColumnRow {
    u64 strip, row;
    u32 elements;  // that it has
};

template <class S>
struct ColumnWorker {
    typedef typename S::Op Op;
    typedef typename Op::Element A;
    typedef typename S::Input Input;
    typedef typename S::Output Output;
    typedef ColumnShared<S> Shared;

    Shared& shared;
    const ColumnArguments<S>& arguments;
    const ColumnSlots<S>& slots;
    typename Shared::Fetch fetch;
    u32 stage, index, row, column;
    u64 strips, units;

    __device__ __forceinline__ ColumnWorker(Shared& shared, const ColumnArguments<S>& arguments, const ColumnSlots<S>& slots)
        : shared(shared), arguments(arguments), slots(slots), fetch(arguments), stage(thread_index() / Shared::WORKERS),
          index(thread_index() % Shared::WORKERS), row(index / S::COLUMNS), column(index % S::COLUMNS),
          strips((arguments.lines + S::COLUMNS - 1) / S::COLUMNS), units((slots.rows + S::ROWS - 1) / S::ROWS * strips) {}

    __device__ __forceinline__ void run() {
        u64 step = (u64)block_count() * Shared::STAGES, unit = (u64)stage * block_count() + block_index();
        ask(unit);
#pragma unroll 1
        for (u32 parity = 0; unit < units; unit += step, parity ^= 1) {
            ColumnRow mine = row_of(unit, row);
            barrier_wait(&shared.full[stage], parity);
            Maybe<A> before = before_row(mine);
            if (exists(mine)) scan(mine, before);
            sync_group(1 + stage, Shared::WORKERS);  // all have read the stage
            ask(unit + step);
        }
    }

  private:
    __device__ __forceinline__ ColumnRow row_of(u64 unit, u32 r) const {
        u64 along = arguments.quotient(unit, strips), row = along * S::ROWS + r, start = row * Shared::ROW;
        u64 left = start < arguments.length ? arguments.length - start : 0;
        return {unit - along * strips, row, left < Shared::ROW ? (u32)left : Shared::ROW};
    }
    __device__ __forceinline__ bool exists(const ColumnRow& mine) const {
        return mine.elements > 0 && mine.strip * S::COLUMNS + column < arguments.lines;
    }
    __device__ __forceinline__ Line line_of(const ColumnRow& mine) const {
        return arguments.line(mine.strip * S::COLUMNS + column);
    }

    // Asks for a unit, if there is one.
    __device__ __forceinline__ void ask(u64 unit) {
        if (unit >= units) return;
        Barrier* full = &shared.full[stage];
        ColumnRow mine = row_of(unit, row);
        if (fetch.together) {
            const u8* strip = arguments.line(mine.strip * S::COLUMNS).input;
            u32 first = index / Shared::TEAM * Shared::ROWS_PER_TEAM;
#pragma unroll 1
            for (u32 r = first; r < first + Shared::ROWS_PER_TEAM; r++) {
                ColumnRow asked = row_of(unit, r);
                const u8* from = strip + (long long)(asked.row * Shared::ROW) * arguments.input_stride;
                fetch.template ask_together<Shared::TEAM>(shared.at(stage, r, 0), from, asked.elements, index % Shared::TEAM);
            }
            async_arrive(full);
        } else if (exists(mine)) {
            const u8* from = line_of(mine).input + (long long)(mine.row * Shared::ROW) * arguments.input_stride;
            fetch.ask_alone(shared.at(stage, row, column), from, mine.elements, full);
        } else {
            barrier_arrive(full);
        }
    }

    __device__ __forceinline__ StagedRow<S> staged(const ColumnRow& mine) const {
        return {shared.at(stage, row, column), mine.elements};
    }

    // What precedes this thread's row; on the way it publishes what only this thread can know. The threads
    // of a warp go step by step, since one may wait for another's.
    __device__ __forceinline__ Maybe<A> before_row(const ColumnRow& mine) {
        const Maybe<A> NOTHING = {A(), false};
        bool ours = exists(mine);
        u64 line = slots.of(mine.strip, column), segment = mine.row / ROWS_PER_SEGMENT, tile = mine.row / ROWS_PER_TILE;
        u32 rows = ours ? (u32)(mine.row % ROWS_PER_SEGMENT) : 0, segments = ours ? (u32)(segment % SEGMENTS_PER_TILE) : 0;
        bool last = mine.row + 1 == slots.rows;
        bool ends_segment = ours && (last || rows == ROWS_PER_SEGMENT - 1);
        bool ends_tile = ends_segment && (last || segments == SEGMENTS_PER_TILE - 1);

        Maybe<A> total = NOTHING;
        if (ours) {
            total = {staged(mine).total(), true};
            slots.publish(slots.row(line, mine.row), total.value);
        }
        sync_warp();
        A row[ROWS_PER_SEGMENT - 1];
        slots.await(slots.row(line, mine.row - rows), (1u << rows) - 1, row);
        if (ends_segment) {
            total = join<Op>(fold_after<Op>(NOTHING, row, rows), total);
            slots.publish(slots.segment(line, segment), total.value);
        }
        sync_warp();
        A part[SEGMENTS_PER_TILE - 1];
        slots.await(slots.segment(line, segment - segments), (1u << segments) - 1, part);
        if (ends_tile) end_tile(mine, line, tile, join<Op>(fold_after<Op>(NOTHING, part, segments), total), last);
        sync_warp();
        if (!ours) return NOTHING;
        Maybe<A> before = before_tile(mine, line, tile);
        return fold_after<Op>(fold_after<Op>(before, part, segments), row, rows);
    }

    __device__ __forceinline__ Maybe<A> before_tile(const ColumnRow& mine, u64 line, u64 tile) const {
        if (tile == 0) return arguments.inits.of(line_of(mine).number);
        A value[1];
        slots.await(slots.before_tile(line, tile), 1, value);
        return {value[0], true};
    }

    // A tile's total is known: publishes it, and what precedes the next tile; or puts the line's total.
    __device__ __forceinline__ void end_tile(const ColumnRow& mine, u64 line, u64 tile, const Maybe<A>& total, bool last) const {
        if (!last) slots.publish(slots.tile(line, tile), total.value);
        else if (!arguments.inits.totals) return;
        u32 tiles = (u32)(tile % TILES_PER_BLOCK);
        A value = last_kogge_stone(slots.tile(line, tile - tiles), tiles, total.value);
        Maybe<A> through = join<Op>(before_tile(mine, line, tile - tiles), value);
        if (last) arguments.inits.put_total(line_of(mine).number, through);
        else slots.publish(slots.before_tile(line, tile + 1), through.value);
    }

    // The Kogge–Stone value of a tile of total `last` that comes after the `count` tiles from the slot `first`
    // on: a balanced tree over 32 places, at whose end they lie. A binary counter joins batches of places.
    __device__ __forceinline__ A last_kogge_stone(u64 first, u32 count, const A& last) const {
        constexpr u32 BATCH = sizeof(A) <= 8 ? 16 : 4, BATCHES = TILES_PER_BLOCK / BATCH;
        u32 unused = TILES_PER_BLOCK - 1 - count;
        Maybe<A> node[BATCHES];
#pragma unroll
        for (u32 b = 0; b < BATCHES; b++) {
            u32 start = b * BATCH, wanted = 0;
#pragma unroll
            for (u32 j = 0; j < BATCH; j++)
                if (start + j >= unused && start + j < TILES_PER_BLOCK - 1) wanted |= 1u << j;
            A value[BATCH];
            slots.await(first + ((u64)start - unused) * S::COLUMNS, wanted, value);
            if (b == BATCHES - 1) value[BATCH - 1] = last;
#pragma unroll
            for (u32 stride = 1; stride < BATCH; stride *= 2) {
#pragma unroll
                for (u32 i = 2 * stride - 1; i < BATCH; i += 2 * stride)
                    if (start + i - stride >= unused) value[i] = Op::combine(value[i - stride], value[i]);
            }
            node[b] = {value[BATCH - 1], start + BATCH > unused};
        }
#pragma unroll
        for (u32 stride = 1; stride < BATCHES; stride *= 2) {
#pragma unroll
            for (u32 b = 0; b < BATCHES; b += 2 * stride) node[b] = join<Op>(node[b], node[b + stride]);
        }
        return node[0].value;
    }

    // The values of this thread's row.
    __device__ __forceinline__ void scan(const ColumnRow& mine, const Maybe<A>& before) {
        u8* to = line_of(mine).output + (long long)(mine.row * Shared::ROW) * arguments.output_stride;
        staged(mine).scan(before, to, arguments.output_stride);
    }
};

template <class S>
KOGGE_DEVICE void column_rounds(const ColumnArguments<S>& arguments) {
    typedef typename S::Op::Element A;
    typedef ColumnShared<S> Shared;
    Shared& shared = *(Shared*)shared_memory();
    ColumnSlots<S> slots(arguments);
    if (thread_index() < Shared::STAGES) barrier_init(&shared.full[thread_index()], Shared::WORKERS);
    sync_block();
    if (thread_index() == 0) slots.publish(block_index(), A());
    ColumnWorker<S>(shared, arguments, slots).run();
    if (block_index() > 0 || thread_index() >= LANES) return;
    // Once every block has read the epoch, it moves on.
    for (u64 i = thread_index(); i < block_count(); i += LANES) {
        A unused;
        while (!Slot<A>::peek(slots.workspace, i, unused, slots.epoch)) {
        }
    }
    sync_warp();
    if (thread_index() == 0) store_epoch(&slots.workspace->epoch, slots.epoch);
}
