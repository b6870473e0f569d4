// The totals of rows, told among the blocks of a cluster that has the whole segment: written into the shared memory of the
// blocks that have later rows, where a barrier counts them in. Nobody polls.
//
// A stage always has the same place among the rows of a segment. Its totals are overwritten by those for its next row, so
// whoever has read them says so to the stages they came from.

template <class S, u32 STAGES, bool CLUSTERED = (S::CLUSTER > 1)>
struct ClusterRows {};

template <class S, u32 STAGES>
struct ClusterRows<S, STAGES, true> {
    typedef typename S::Op::Element A;
    static constexpr u32 WARPS = S::COLUMNS / LANES, MINE = ROWS_PER_SEGMENT / S::CLUSTER;
    static_assert(STAGES % MINE == 0, "a stage keeps its place in the segment");

    alignas(16) Words<A> row[STAGES][ROWS_PER_SEGMENT - 1][S::COLUMNS];  // before that of the stage
    Barrier told[STAGES];                                                // ends once all of them have come
    Barrier taken[STAGES];  // ends once all later rows have read what this stage told last

    // The place of a stage's rows in their segments.
    static __device__ __forceinline__ u32 place(u32 stage) { return stage % MINE * S::CLUSTER + block_index() % S::CLUSTER; }

    // By one thread a stage; `cluster_arrive` and `cluster_wait` follow.
    __device__ __forceinline__ void init(u32 stage) {
        u32 later = ROWS_PER_SEGMENT - 1 - place(stage);
        barrier_init(&told[stage], 1);
        barrier_init(&taken[stage], later > 0 ? later * WARPS : 1);
        barrier_init_fence();
    }

    // Tells a row's total, and learns those of the rows before it in its segment. `again` is whether the stage had a row
    // before. All threads of a stage.
    __device__ __forceinline__ void exchange(u32 stage, u32 column, u32 parity, bool again, const A& total,
                                             A (&before)[ROWS_PER_SEGMENT - 1]) {
        u32 place = this->place(stage), first = stage - stage % MINE, lane = column % LANES;
        if (place > 0 && column == 0) barrier_arrive_expect(&told[stage], place * (u32)(sizeof(Words<A>) * S::COLUMNS));
        if (again) await_taken(stage, parity ^ 1);
        Words<A> words = to_words(total);
#pragma unroll 1
        for (u32 later = place + 1; later < ROWS_PER_SEGMENT; later++) {
            u32 to = first + later / S::CLUSTER;
#pragma unroll
            for (u32 i = 0; i < Words<A>::COUNT; i++)
                store_remote(&row[to][place][column].word[i], later % S::CLUSTER, words.word[i], &told[to]);
        }
        if (place == 0) return;
        barrier_wait_remote(&told[stage], parity);
#pragma unroll
        for (u32 i = 0; i < ROWS_PER_SEGMENT - 1; i++)
            if (i < place) before[i] = from_words<A>(row[stage][i][column]);
        sync_warp();
        if (lane < place) arrive_remote(lane % S::CLUSTER, &taken[first + lane / S::CLUSTER]);
    }
    // Waits till all have read what this stage told in the phase of this parity.
    __device__ __forceinline__ void await_taken(u32 stage, u32 parity) {
        if (place(stage) < ROWS_PER_SEGMENT - 1) barrier_wait_remote(&taken[stage], parity);
    }
};
