// The scan of lines that lie side by side, but are too few to give every lane one.
//
// A strip is `COLUMNS` neighbouring lines. It has a team of thread blocks, which take its rows in turn, each
// through a ring of stages in shared memory. A stage has workers of its own, a line each, and the block a
// look-ahead, a line to a thread:
//
//   workers ──reduced──▶ look-ahead ──ready──▶ the same workers
//
// Workers publish the totals of a row the moment it has landed, and learn those of the rows before it in its
// segment; who has the last row publishes the segment's. The look-ahead reads the totals of all segments before,
// whoever published them, and folds them along the order by itself: two hops, however many levels the order
// has. As in the rounds of one sequence it turns to a row only when its own block has reduced `AHEAD` rows more,
// and then hardly ever waits. Workers write the values from shared memory: a row is read once.
//
// Where there are as many strips as blocks, or more, a team is one block, and nothing is published.

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
    static constexpr u32 STAGES = S::STAGES, AHEAD = S::AHEAD;
    static constexpr u32 ROW = Order<typename S::Input>::CHUNK * CHUNKS_PER_ROW;
    static constexpr u32 STAGE_BYTES = (ROW * Fetch::PITCH + 127) / 128 * 128;
    static constexpr u32 WARPS = S::COLUMNS / LANES, THREADS = (STAGES + 1) * S::COLUMNS;
    static constexpr u32 MOST_SEGMENTS = sizeof(A) <= 4 ? 12 : sizeof(A) <= 8 ? 8 : 4;
    static_assert(S::COLUMNS % LANES == 0, "workers fill their warps");
    static_assert(AHEAD < STAGES, "or the look-ahead waits for a stage that waits for it");
    static_assert(STAGES < 16, "a named barrier for the workers of each stage");

    u8 stage[STAGES][STAGE_BYTES];
    Barrier full[STAGES], reduced[STAGES], ready[STAGES];
    // Of the rows in the stages: their totals, and what precedes them if the block is alone, else what precedes
    // their segments; if anything does.
    A total[STAGES][S::COLUMNS], before[STAGES][S::COLUMNS];
    bool preceded[STAGES];
    // Totals of segments, on their way from the slots to the look-ahead.
    A segment[MOST_SEGMENTS][S::COLUMNS];
};

// Which rows of which strips a thread block takes, one after another.
template <class S>
struct TeamShare {
    u64 strips, rows;
    u64 team, member;  // blocks of a strip, and this one's place among them
    u64 first, step;   // strips of this block
    u64 per_strip;     // rows that it takes of each
    u64 units;         // rows that it takes in all

    __device__ __forceinline__ TeamShare(const ColumnArguments<S>& arguments) {
        constexpr u32 ROW = TeamRing<S>::ROW;
        u64 blocks = block_count();
        strips = (arguments.lines + S::COLUMNS - 1) / S::COLUMNS;
        rows = (arguments.length + ROW - 1) / ROW;
        team = blocks > strips ? blocks / strips : 1;
        step = blocks / team;
        first = block_index() % step;
        member = block_index() / step;
        per_strip = member < rows && member < team ? (rows - member + team - 1) / team : 0;
        units = first < strips ? (strips - first + step - 1) / step * per_strip : 0;
    }
};

// What the blocks of a team tell each other: the totals of every row and of every segment of their strip, of which
// neighbouring lines share a slot if they fit. Before them all, a slot a block says that it has read the epoch.
template <class S>
struct TeamSlots {
    typedef typename S::Op::Element A;
    static constexpr u32 SHARED = sizeof(A) <= 4 ? 2 : 1;  // lines of a slot
    static constexpr u32 ACROSS = S::COLUMNS / SHARED;     // slots from one row to the next
    struct Totals {
        A line[SHARED];
    };
    Workspace* workspace;
    u64 epoch, rows, segments;

    __device__ __forceinline__ TeamSlots(const ColumnArguments<S>& arguments, const TeamShare<S>& share)
        : workspace(arguments.workspace), epoch(share.team > 1 ? load_epoch(&workspace->epoch) + 1 : 0), rows(share.rows),
          segments((rows + ROWS_PER_SEGMENT - 1) / ROWS_PER_SEGMENT) {}

    // The slot of a row, or of a segment, of a line.
    __device__ __forceinline__ u64 row(u64 strip, u64 row, u32 column) const {
        return block_count() + (strip * (rows + segments) + row) * ACROSS + column / SHARED;
    }
    __device__ __forceinline__ u64 segment(u64 strip, u64 segment, u32 column) const { return row(strip, rows + segment, column); }

    // All lanes of a warp take part.
    __device__ __forceinline__ void publish(u64 slot, u32 column, const A& total) const {
        Totals totals;
        totals.line[0] = total;
        if constexpr (SHARED == 2) totals.line[1] = value_of_partner(total, 1);
        if (column % SHARED == 0) Slot<Totals>::publish(workspace, slot, totals, epoch);
    }
    // Waits for this line's totals in `count` rows, or segments, from that of `slot` on. All lanes of a warp take
    // part; those that share a slot take turns with the rows.
    template <u32 MOST>
    __device__ __forceinline__ void await(u64 slot, u32 count, u32 column, A (&value)[MOST]) const {
        constexpr u32 LOADS = (MOST + SHARED - 1) / SHARED;
        u32 own = column % SHARED, missing = 0;
        Totals totals[LOADS];
#pragma unroll
        for (u32 j = 0; j < LOADS; j++) {
            totals[j] = Totals();
            if (j * SHARED + own < count) missing |= 1u << j;
        }
        while (!all_lanes(missing == 0)) {
            // All loads first, and none under a condition: a test between them would wait for each in turn.
            Totals seen[LOADS];
            bool fresh[LOADS];
#pragma unroll
            for (u32 j = 0; j < LOADS; j++) {
                u32 row = missing >> j & 1 ? j * SHARED + own : 0;
                fresh[j] = Slot<Totals>::peek(workspace, slot + row * ACROSS, seen[j], epoch);
            }
#pragma unroll
            for (u32 j = 0; j < LOADS; j++) {
                if (!(missing >> j & 1) || !fresh[j]) continue;
                totals[j] = seen[j];
                missing &= ~(1u << j);
            }
        }
#pragma unroll
        for (u32 i = 0; i < MOST; i++) {
            const Totals& from = totals[i / SHARED];
            value[i] = from.line[0];
            if constexpr (SHARED == 2) {
                A mine = choose(own == 0, from.line[0], from.line[1]), other = choose(own == 0, from.line[1], from.line[0]);
                value[i] = choose(own == i % 2, mine, value_of_partner(other, 1));
            }
        }
    }
};

// A row of a strip, as a worker of one of its lines sees it.
struct TeamRow {
    u64 strip, row;
    bool exists;      // whether the strip has this line
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
    const TeamShare<S>& share;
    const TeamSlots<S>& slots;
    const Fetch& fetch;
    u32 stage, column;
    TeamRow next;  // which is asked for, or will be

    __device__ __forceinline__ void run() {
        turn_to(stage);
        ask();
        u32 parity = 0;
#pragma unroll 1
        for (u64 unit = stage; unit < share.units; unit += Ring::STAGES, parity ^= 1) {
            TeamRow row = next;
            barrier_wait(&ring.full[stage], parity);
            A rows[ROWS_PER_SEGMENT - 1] = {};
            u32 before = reduce(row, rows);
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
    }

  private:
    __device__ __forceinline__ void turn_to(u64 unit) {
        next.elements = 0;
        if (unit >= share.units) return;
        u64 turn = ColumnArguments<S>::quotient(unit, share.per_strip), index;
        next.strip = share.first + turn * share.step;
        next.row = share.member + (unit - turn * share.per_strip) * share.team;
        next.elements = elements(next.row);
        index = next.strip * S::COLUMNS + column;
        next.exists = index < arguments.lines;
        Line line = arguments.line(next.exists && !fetch.together ? index : next.strip * S::COLUMNS);
        next.input = line.input + (long long)(next.row * Ring::ROW) * arguments.input_stride;
        if (next.exists) line = arguments.line(index);
        next.output = line.output + (long long)(next.row * Ring::ROW) * arguments.output_stride;
    }
    // The same for the next unit of the stage, most often further down the same strip.
    __device__ __forceinline__ void advance(u64 unit) {
        u64 rows = Ring::STAGES * share.team;
        if (unit >= share.units || next.row + rows >= share.rows) return turn_to(unit);
        next.row += rows;
        next.elements = elements(next.row);
        next.input += (long long)(rows * Ring::ROW) * arguments.input_stride;
        next.output += (long long)(rows * Ring::ROW) * arguments.output_stride;
    }
    __device__ __forceinline__ u32 elements(u64 row) const {
        u64 left = arguments.length - row * Ring::ROW;
        return left < Ring::ROW ? (u32)left : Ring::ROW;
    }

    __device__ __forceinline__ StagedRow<S> staged(const TeamRow& row) const {
        return {ring.stage[stage] + column * sizeof(Input), row.elements};
    }

    // Asks for the next row, if there is one.
    __device__ __forceinline__ void ask() {
        if (next.elements == 0) return;
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

    // Tells the row's total; in a team, learns how many rows come before it in its segment, and their totals.
    __device__ __forceinline__ u32 reduce(const TeamRow& row, A (&before)[ROWS_PER_SEGMENT - 1]) {
        A total = A();
        if (row.exists) total = staged(row).total();
        ring.total[stage][column] = total;
        u32 rows = 0;
        if (share.team > 1) {
            rows = (u32)(row.row % ROWS_PER_SEGMENT);
            slots.publish(slots.row(row.strip, row.row, column), column, total);
            slots.await(slots.row(row.strip, row.row - rows, column), rows, column, before);
            if (rows == ROWS_PER_SEGMENT - 1 || row.row + 1 == share.rows) {
                total = join<Op>(fold_after<Op>({A(), false}, before, rows), total).value;
                slots.publish(slots.segment(row.strip, row.row / ROWS_PER_SEGMENT, column), column, total);
            }
        }
        sync_warp();
        if (column % LANES == 0) barrier_arrive(&ring.reduced[stage]);
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
    const TeamShare<S>& share;
    const TeamSlots<S>& slots;
    u32 column;
    u64 unit, reduced;  // how many are done, and how many are known to be reduced
    Turn turn, reduced_turn;

    __device__ __forceinline__ void run() {
        typename Course<S>::TileDelays delays;
        if (share.per_strip == 0) return;
#pragma unroll 1
        for (u64 strip = share.first; strip < share.strips; strip += share.step) go_down(strip, delays);
    }

  private:
    __device__ __forceinline__ void go_down(u64 strip, typename Course<S>::TileDelays& delays) {
        u64 index = strip * S::COLUMNS + column, number = 0, row = share.member;
        bool exists = index < arguments.lines, alone = share.team == 1;
        Maybe<A> init = {A(), false};
        if (exists) {
            number = arguments.line(index).number;
            init = arguments.inits.of(number);
        }
        Course<S> course(init, delays);
#pragma unroll 1
        for (; row < share.rows; row += share.team, unit++, turn.next()) {
            await_reduced(unit + Ring::AHEAD < share.units ? unit + Ring::AHEAD : share.units - 1);
            if (!alone) take_in(course, strip, row);
            A own = ring.total[turn.stage][column];
            ring.before[turn.stage][column] = course.before.value;
            if (column == 0) ring.preceded[turn.stage] = course.before.exists;
            sync_warp();
            if (column % LANES == 0) barrier_arrive(&ring.ready[turn.stage]);
            if (alone) course.end_row(own);
        }
        // Who has the last row puts the total in its place.
        if (row - share.team + 1 < share.rows || !arguments.inits.totals) return;
        if (!alone) {
            take_in(course, strip, share.rows);
            if (share.rows % ROWS_PER_SEGMENT > 0) {
                A last[1];
                slots.await(slots.segment(strip, share.rows / ROWS_PER_SEGMENT, column), 1, column, last);
                course.segment_total = {last[0], true};
                course.row = share.rows;
            }
        }
        if (exists) arguments.inits.put_total(number, course.end());
    }
    __device__ __forceinline__ void await_reduced(u64 last) {
        for (; reduced <= last; reduced++, reduced_turn.next())
            barrier_wait(&ring.reduced[reduced_turn.stage], reduced_turn.parity);
    }
    // Takes into the course the segments that end before `row`.
    __device__ __forceinline__ void take_in(Course<S>& course, u64 strip, u64 row) const {
        u64 end = row / ROWS_PER_SEGMENT;
#pragma unroll 1
        for (u64 first = course.row / ROWS_PER_SEGMENT; first < end; first += Ring::MOST_SEGMENTS) {
            u32 count = end - first < Ring::MOST_SEGMENTS ? (u32)(end - first) : Ring::MOST_SEGMENTS;
            A value[Ring::MOST_SEGMENTS];
            slots.await(slots.segment(strip, first, column), count, column, value);
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
    TeamShare<S> share(arguments);
    bool alone = share.team == 1;
    TeamSlots<S> slots(arguments, share);
    typename Ring::Fetch fetch(arguments);
    u32 group = thread_index() / S::COLUMNS, column = thread_index() % S::COLUMNS;
    if (thread_index() < Ring::STAGES) {
        barrier_init(&ring.full[thread_index()], S::COLUMNS);
        barrier_init(&ring.reduced[thread_index()], Ring::WARPS);
        barrier_init(&ring.ready[thread_index()], Ring::WARPS);
    }
    sync_block();
    if (thread_index() == 0 && !alone) Slot<Totals>::publish(slots.workspace, block_index(), Totals(), slots.epoch);
    if (group < Ring::STAGES) return TeamWorker<S>{ring, arguments, share, slots, fetch, group, column, {}}.run();
    TeamLookAhead<S>{ring, arguments, share, slots, column, 0, 0, {0, 0}, {0, 0}}.run();
    if (alone || block_index() > 0 || column >= LANES) return;
    // Once every block has read the epoch, it moves on.
    for (u64 i = column; i < block_count(); i += LANES) Slot<Totals>::await(slots.workspace, i, slots.epoch);
    sync_warp();
    if (column == 0) store_epoch(&slots.workspace->epoch, slots.epoch);
}
