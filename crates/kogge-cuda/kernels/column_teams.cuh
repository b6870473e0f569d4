// The scan of lines that lie side by side, but are too few to give every lane one.
//
// A strip is `COLUMNS` neighbouring lines. It has a team of thread blocks, which take its rows in turn, each
// through a ring of stages in shared memory. A stage has workers of its own, a line each, and the block a
// look-ahead, a line to a thread:
//
//   workers ──reduced──▶ look-ahead ──ready──▶ the same workers
//
// Workers tell the totals of a row the moment it has landed, and learn those of the rows before it in its
// segment: through slots, or in a cluster directly. Who has the last row publishes the segment's. The look-ahead
// reads the totals of all segments before, whoever published them, and folds them along the order by itself: two
// hops, however many levels the order has. It must fold the segments of all blocks in the time of one row, so
// nothing that it needs lies in local memory. Workers write the values from shared memory: a row is read once.
//
// Where there are as many strips as blocks, or more, a team is one block, which draws its strips, and nothing is published.

// Stages in turn, and the parity of their phases.
template <u32 STAGES>
struct RingTurn {
    u32 stage, parity;

    __device__ __forceinline__ void next() {
        if (++stage < STAGES) return;
        stage = 0;
        parity ^= 1;
    }
};

template <class S>
struct TeamRing {
    typedef typename S::Op::Element A;
    typedef ColumnFetch<typename S::Input, S::COLUMNS> Fetch;
    static constexpr u32 STAGES = S::STAGES;
    static constexpr u32 ROW = Order<typename S::Input>::CHUNK * CHUNKS_PER_ROW;
    static constexpr u32 STAGE_BYTES = (ROW * Fetch::PITCH + 127) / 128 * 128;
    static constexpr u32 WARPS = S::COLUMNS / LANES, THREADS = (STAGES + 1) * S::COLUMNS;
    static constexpr u32 MOST_SEGMENTS = sizeof(A) <= 8 ? 6 : 4;
    static_assert(S::COLUMNS % LANES == 0, "workers fill their warps");
    static_assert(STAGES < 16, "a named barrier for the workers of each stage");
    // Strips that are known at a time: some for every stage, and as many that the look-ahead's other warps may lag behind.
    static constexpr u32 TURNS = 2 * STAGES + 2;

    u8 stage[STAGES][STAGE_BYTES];
    Barrier full[STAGES], reduced[STAGES], ready[STAGES];
    // Of the rows in the stages: their totals, and what precedes them if the block is alone, else what precedes
    // their segments; if anything does.
    A total[STAGES][S::COLUMNS], before[STAGES][S::COLUMNS];
    bool preceded[STAGES];
    // Totals of segments, on their way from the slots to the look-ahead.
    A segment[MOST_SEGMENTS][S::COLUMNS];
    A delay[TILES_PER_BLOCK - 1][S::COLUMNS];  // of the look-ahead's course
    ClusterRows<S, STAGES> cluster;
    // Here, not in every thread: workers need their registers.
    TeamShare<S> share;
    TeamSlots<S> slots;
    Draws draws;
    u32 strip[TURNS];  // of a turn: those that were drawn

    // The strip of a turn; `share.strips` or more behind the last.
    __device__ __forceinline__ u64 strip_of(u64 turn) const {
        return turn < share.given ? share.first + turn * share.step : strip[turn % TURNS];
    }
};

// A row of a strip, as a worker of one of its lines sees it.
struct TeamRow {
    u64 strip, row;
    bool exists;      // whether the strip has this line, and the line this row
    u32 elements;     // none, if there is no such row
    const u8* input;  // its first element: of this line, or of the strip where that is asked for together
    u8* output;
};

// A worker, from row to row of its stage.
template <class S>
struct TeamWorker {
    typedef typename S::Op Op;
    typedef typename Op::Element A;
    typedef typename S::Input Input;
    typedef TeamRing<S> Ring;
    typedef typename Ring::Fetch Fetch;

    Ring& ring;
    const ColumnArguments<S>& arguments;
    const Fetch& fetch;
    u32 stage, column;
    TeamRow next;  // which is asked for, or will be

    __device__ __forceinline__ void run() {
        turn_to(stage);
        ask();
        u32 parity = 0;
#pragma unroll 1
        for (u64 unit = stage; next.strip < ring.share.strips; unit += Ring::STAGES, parity ^= 1) {
            TeamRow row = next;
            barrier_wait(&ring.full[stage], parity);
            A rows[ROWS_PER_SEGMENT - 1] = {};
            u32 before = reduce(row, rows, parity, unit >= Ring::STAGES);
            barrier_wait(&ring.ready[stage], parity);
            if (row.exists) {
                Maybe<A> prefix = {ring.before[stage][column], ring.preceded[stage]};
                staged(row).scan(fold_after<Op>(prefix, rows, before), row.output, arguments.output_stride);
            }
            advance(unit + Ring::STAGES);
            if constexpr (Ring::WARPS == 1) sync_warp();
            else sync_group(1 + stage, S::COLUMNS);  // all have read the stage
            ask();
        }
        // Shared memory must stay until nobody writes into it any longer.
        if constexpr (S::CLUSTER > 1)
            if (stage < ring.share.per_strip) ring.cluster.await_taken(stage, parity ^ 1);
    }

  private:
    __device__ __forceinline__ void turn_to(u64 unit) {
        next.elements = 0;
        next.strip = ring.share.strips;
        if (ring.share.per_strip == 0) return;
        u64 turn = ColumnArguments<S>::quotient(unit, ring.share.per_strip), index;
        next.strip = ring.strip_of(turn);
        if (next.strip >= ring.share.strips) return;
        next.row = ring.share.row(unit - turn * ring.share.per_strip);
        next.elements = elements(next.row);
        index = next.strip * S::COLUMNS + column;
        next.exists = index < arguments.lines && next.elements > 0;
        Line line = arguments.line(next.exists && !fetch.together ? index : next.strip * S::COLUMNS);
        next.input = line.input + (long long)(next.row * Ring::ROW) * arguments.input_stride;
        if (next.exists) line = arguments.line(index);
        next.output = line.output + (long long)(next.row * Ring::ROW) * arguments.output_stride;
    }
    // The same for the next unit of the stage, most often further down the same strip.
    __device__ __forceinline__ void advance(u64 unit) {
        u64 rows = Ring::STAGES * ring.share.team;
        if (next.row + rows >= ring.share.rows) return turn_to(unit);
        next.row += rows;
        next.elements = elements(next.row);
        next.input += (long long)(rows * Ring::ROW) * arguments.input_stride;
        next.output += (long long)(rows * Ring::ROW) * arguments.output_stride;
    }
    __device__ __forceinline__ u32 elements(u64 row) const {
        if (row >= ring.share.rows) return 0;
        u64 left = arguments.length - row * Ring::ROW;
        return left < Ring::ROW ? (u32)left : Ring::ROW;
    }

    __device__ __forceinline__ StagedRow<S> staged(const TeamRow& row) const {
        return {ring.stage[stage] + column * sizeof(Input), row.elements};
    }

    // Asks for the next row, if there is one.
    __device__ __forceinline__ void ask() {
        if (next.strip >= ring.share.strips) return;
        Barrier* full = &ring.full[stage];
        u8* to = ring.stage[stage];
        if (fetch.together) {
            fetch.template ask_together<S::COLUMNS>(to, next.input, next.elements, column);
            async_arrive(full);
        } else if (next.exists) {
            fetch.ask_alone(to + column * sizeof(Input), next.input, next.elements, full);
        } else {
            barrier_arrive(full);
        }
    }

    // Tells the row's total; in a team, learns how many rows come before it in its segment, and their totals. `again` is
    // whether the stage had a row before.
    __device__ __forceinline__ u32 reduce(const TeamRow& row, A (&before)[ROWS_PER_SEGMENT - 1], u32 parity, bool again) {
        A total = A();
        if (row.exists) total = staged(row).total();
        u32 rows = 0;
        if (ring.share.team == 1) {
            ring.total[stage][column] = total;
        } else {
            rows = (u32)(row.row % ROWS_PER_SEGMENT);
            if constexpr (S::CLUSTER > 1) {
                ring.cluster.exchange(stage, column, parity, again, total, before);
            } else {
                ring.slots.publish(ring.slots.row(row.strip, row.row, column), column, total);
                ring.slots.await(ring.slots.row(row.strip, row.row - rows, column), rows, column, before);
            }
            if (row.row + 1 == ring.share.rows || row.elements > 0 && rows == ROWS_PER_SEGMENT - 1) {
                total = join<Op>(fold_after<Op>({A(), false}, before, rows), total).value;
                ring.slots.publish(ring.slots.segment(row.strip, row.row / ROWS_PER_SEGMENT, column), column, total);
            }
        }
        arrive_together(&ring.reduced[stage], column % LANES);
        return rows;
    }
};

// What precedes one row of a line after another, by one thread of the look-ahead.
template <class S>
struct TeamLookAhead {
    typedef typename S::Op Op;
    typedef typename Op::Element A;
    typedef TeamRing<S> Ring;
    typedef RingTurn<Ring::STAGES> Turn;

    Ring& ring;
    const ColumnArguments<S>& arguments;
    u32 column;
    Turn turn;

    __device__ __forceinline__ void run() {
        if (ring.share.per_strip == 0) return;
        u64 strip;
#pragma unroll 1
        for (u64 turn = 0; (strip = ring.strip_of(turn)) < ring.share.strips; turn++) go_down(strip, turn);
    }

  private:
    typedef Course<S, S::COLUMNS> Path;

    // Meanwhile draws the strip of a later turn, and tells it with the last row.
    __device__ __forceinline__ void go_down(u64 strip, u64 current) {
        bool draws = ring.share.draws() && column == 0;
        u32 drawn = draws ? ring.draws.ask() : 0;
        u64 index = strip * S::COLUMNS + column, number = 0;
        bool exists = index < arguments.lines, alone = ring.share.team == 1, last = false;
        Maybe<A> init = {A(), false};
        if (exists) {
            number = arguments.line(index).number;
            init = arguments.inits.of(number);
        }
        Path course(init, &ring.delay[0][column]);
#pragma unroll 1
        for (u64 unit = 0; unit < ring.share.per_strip; unit++, turn.next()) {
            u64 row = ring.share.row(unit);
            last = row + 1 == ring.share.rows || last;
            barrier_wait(&ring.reduced[turn.stage], turn.parity);
            if (!alone) take_in(course, strip, row < ring.share.rows ? row : ring.share.rows);
            A own = alone ? ring.total[turn.stage][column] : A();
            ring.before[turn.stage][column] = course.before.value;
            if (column == 0) ring.preceded[turn.stage] = course.before.exists;
            if (draws && unit + 1 == ring.share.per_strip)
                ring.strip[(current + ring.share.given) % Ring::TURNS] = (u32)ring.draws.take(drawn);
            arrive_together(&ring.ready[turn.stage], column % LANES);
            if (alone) course.end_row(own);
        }
        // Who has the last row puts the total in its place.
        if (!last || !arguments.inits.totals) return;
        if (!alone) {
            take_in(course, strip, ring.share.rows);
            if (ring.share.rows % ROWS_PER_SEGMENT > 0) {
                A last[1];
                ring.slots.await(ring.slots.segment(strip, ring.share.rows / ROWS_PER_SEGMENT, column), 1, column, last);
                course.segment_total = {last[0], true};
                course.row = ring.share.rows;
            }
        }
        if (exists) arguments.inits.put_total(number, course.end());
    }
    // Takes into the course the segments that end before `row`.
    __device__ __forceinline__ void take_in(Path& course, u64 strip, u64 row) const {
        u64 end = row / ROWS_PER_SEGMENT;
#pragma unroll 1
        for (u64 first = course.row / ROWS_PER_SEGMENT; first < end; first += Ring::MOST_SEGMENTS) {
            u32 count = end - first < Ring::MOST_SEGMENTS ? (u32)(end - first) : Ring::MOST_SEGMENTS;
            A value[Ring::MOST_SEGMENTS];
            ring.slots.await(ring.slots.segment(strip, first, column), count, column, value);
#pragma unroll
            for (u32 i = 0; i < Ring::MOST_SEGMENTS; i++) ring.segment[i][column] = value[i];
#pragma unroll 1
            for (u32 i = 0; i < count; i++) course.end_rows_of_segment(ring.segment[i][column]);
        }
    }
};

template <class S>
KOGGE_DEVICE void column_teams(const ColumnArguments<S>& arguments) {
    typedef typename TeamSlots<S>::Totals Totals;
    typedef TeamRing<S> Ring;
    Ring& ring = *(Ring*)shared_memory();
    typename Ring::Fetch fetch(arguments);
    u32 group = thread_index() / S::COLUMNS, column = thread_index() % S::COLUMNS;
    if (thread_index() < Ring::STAGES) {
        barrier_init(&ring.full[thread_index()], S::COLUMNS);
        barrier_init(&ring.reduced[thread_index()], Ring::WARPS * ARRIVALS);
        barrier_init(&ring.ready[thread_index()], Ring::WARPS * ARRIVALS);
        if constexpr (S::CLUSTER > 1) ring.cluster.init(thread_index());
    }
    if (thread_index() == 0) {
        ring.share = TeamShare<S>(arguments);
        ring.slots = TeamSlots<S>(arguments, ring.share);
        if (ring.share.draws()) ring.draws = Draws(arguments.workspace, ring.share.strips, (u32)ring.share.given);
    }
    sync_block();
    if constexpr (S::CLUSTER > 1) {
        cluster_arrive();
        cluster_wait();
    }
    bool alone = ring.share.team == 1;
    if (thread_index() == 0 && !alone) Slot<Totals>::publish(ring.slots.workspace, block_index(), Totals(), ring.slots.epoch);
    if (group < Ring::STAGES) return TeamWorker<S>{ring, arguments, fetch, group, column, {}}.run();
    TeamLookAhead<S>{ring, arguments, column, {0, 0}}.run();
    if (alone || block_index() > 0 || column >= LANES) return;
    // Once every block has read the epoch, it moves on.
    for (u64 i = column; i < block_count(); i += LANES) Slot<Totals>::await(ring.slots.workspace, i, ring.slots.epoch);
    sync_warp();
    if (column == 0) store_epoch(&ring.slots.workspace->epoch, ring.slots.epoch);
}
