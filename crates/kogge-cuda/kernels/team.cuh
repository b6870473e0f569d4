// A team: the thread blocks that take the rows of a strip in turn, and what they tell each other through slots in memory.
//
// With clusters (`S::CLUSTER` blocks each) the rows of a segment are those of one cluster, whose blocks tell each other
// the totals of rows themselves (team_cluster.cuh). Without, rows go round the whole team.

// Which rows of which strips a thread block takes, one after another.
template <class S>
struct TeamShare {
    // Rows of a segment that are one block's, in a cluster.
    static constexpr u32 MINE = ROWS_PER_SEGMENT / S::CLUSTER;
    u64 strips, rows;
    u64 team, member;  // blocks of a strip, and this one's place among them
    u64 first, step;   // strips of this block
    u64 per_strip;     // rows that it takes of each, of which the last may lie behind the end
    u64 given;         // turns whose strips aren't drawn

    __device__ __forceinline__ TeamShare(const ColumnArguments<S>& arguments) {
        constexpr u32 ROW = Order<typename S::Input>::CHUNK * CHUNKS_PER_ROW;
        u64 blocks = block_count();
        strips = (arguments.lines + S::COLUMNS - 1) / S::COLUMNS;
        rows = (arguments.length + ROW - 1) / ROW;
        team = blocks > strips ? blocks / strips / S::CLUSTER * S::CLUSTER : 1;
        step = blocks / team;
        first = block_index() / team;
        member = block_index() % team;
        per_strip = first < step ? of_a_strip() : 0;
        // Those that the stages reach into from a strip's last row on, since from the first the next is drawn.
        given = team == 1 && rows > 0 && strips >> 31 == 0 ? (S::STAGES + rows - 1) / rows + 1 : ~(u64)0;
    }

    // Whether strips are drawn.
    __device__ __forceinline__ bool draws() const { return ~given != 0; }

    // The row that is this block's unit `unit` of a strip.
    __device__ __forceinline__ u64 row(u64 unit) const {
        if constexpr (S::CLUSTER == 1) return member + unit * team;
        u64 segment = member / S::CLUSTER + unit / MINE * (team / S::CLUSTER);
        return segment * ROWS_PER_SEGMENT + unit % MINE * S::CLUSTER + member % S::CLUSTER;
    }

  private:
    __device__ __forceinline__ u64 of_a_strip() const {
        if constexpr (S::CLUSTER == 1) return turns(rows, member, team);
        u64 segments = (rows + ROWS_PER_SEGMENT - 1) / ROWS_PER_SEGMENT;
        return turns(segments, member / S::CLUSTER, team / S::CLUSTER) * MINE;
    }
    static __device__ __forceinline__ u64 turns(u64 all, u64 first, u64 step) {
        return first < all ? (all - first + step - 1) / step : 0;
    }
};

// The totals of every segment of the strip and, without clusters, of every row. Neighbouring lines share a slot if their
// totals fit. Before them all, a slot a block says that it has read the epoch.
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
        : workspace(arguments.workspace), epoch(share.team > 1 ? load_epoch(&workspace->epoch) + 1 : 0),
          rows(S::CLUSTER > 1 ? 0 : share.rows), segments((share.rows + ROWS_PER_SEGMENT - 1) / ROWS_PER_SEGMENT) {}

    // The slot of a row, or of a segment, of a line.
    __device__ __forceinline__ u64 row(u64 strip, u64 row, u32 column) const {
        return block_count() + (strip * (rows + segments) + row) * ACROSS + column / SHARED;
    }
    __device__ __forceinline__ u64 segment(u64 strip, u64 segment, u32 column) const {
        return row(strip, rows + segment, column);
    }

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
