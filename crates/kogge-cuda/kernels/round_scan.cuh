// The scan for long sequences: one launch of blocks that are all resident, in rounds.
//
// Thread block c of G takes tiles c, c + G, c + 2G, … or draws them (below). Its warps have roles, and hand a tile on through a ring of stages in shared memory, by four barriers a stage:
//
//   loader ──full──▶ reducers ──reduced──▶ look-ahead ──ready──▶ scanners ──empty──▶ loader
//            └──────────────────full────────────────────────────▶
//
// The loader keeps `FLIGHT` copies in flight: what a multiprocessor asks for beyond its share of the memory's
// bandwidth only queues up, and the slots of others with it. Reducers publish a tile's total the moment it has landed. The
// look-ahead turns to a tile only when its own block has reduced `AHEAD` tiles more, and then finds
// the totals of all tiles before it published already: it hardly ever waits, and spinning would slow the
// memory for all. Its `LOOKERS` warps take tiles in turn, each with a fold of its own: one where a tile's time is enough for
// a look ahead. Scanners read the tile from shared memory once more and store from registers.
//
// No role can be two phases behind a barrier it waits on: a stage's next phase needs its scanners, who
// need the look-ahead, which needs the reducers, who need the load. A stage always serves the same group
// of scanners, since their number divides that of the stages.

constexpr u32 larger(u32 one, u32 other) { return one > other ? one : other; }

// The tile of a round that is drawn: which, where its elements are and its values go, and how many. Behind the last, any
// number.
struct Landing {
    u8 *input, *output;
    u32 tile, count;
};

template <class S>
struct Ring {
    typedef typename S::Op::Element A;
    typedef typename S::Input Input;
    // A tile may start anywhere in a sector of memory.
    static constexpr u32 STAGE_BYTES = (Order<Input>::TILE_BYTES + SECTOR + 127) / 128 * 128;
    static constexpr u32 LOADERS = 1, LOOKERS = S::LOOKERS, SCANNERS = SEGMENTS_PER_TILE;
    static constexpr u32 THREADS = LANES * (LOADERS + LOOKERS + S::REDUCERS + S::GROUPS * SCANNERS);
    // Rounds after its own whose tiles are known once a stage is full: so every role knows beforehand which is its next.
    static constexpr u32 COMING = larger(larger(S::AHEAD, 1), larger(S::LOOKERS, S::GROUPS)), TURNS = S::STAGES + COMING;
    static_assert(S::STAGES % S::GROUPS == 0, "a stage always serves the same scanners");
    static_assert(S::AHEAD < S::STAGES, "or the look-ahead waits for a stage that waits for it");
    static_assert(SEGMENTS_PER_TILE % S::REDUCERS == 0, "reducers share the segments evenly");

    u8 stage[S::STAGES][STAGE_BYTES];
    Barrier full[S::STAGES], reduced[S::STAGES], ready[S::STAGES], empty[S::STAGES];
    // The totals of the segments; and once the stage is ready, what precedes the tile, if anything does, or each of them
    // (`prefixes_ahead`).
    A segment[S::STAGES][SEGMENTS_PER_TILE];
    A before[S::STAGES];
    // Of wide values, the totals of rows.
    A row[S::STAGES][is_wide<A>() ? SEGMENTS_PER_TILE * ROWS_PER_SEGMENT : 1];
    bool preceded[S::STAGES];
    Landing landing[TURNS];
    u64 epoch;      // of this call
    Barrier begun;  // once all that look ahead have read it (`share_epoch`)

    // The tile of a round, where bytes go in a stage, and a tile's elements there.
    __device__ __forceinline__ Landing& of_round(u32 round) { return landing[round % TURNS]; }
    __device__ __forceinline__ u8* place(u32 s, const u8* from) { return stage[s] + (u64)from % SECTOR; }
    __device__ __forceinline__ Span<Input> landed(u32 s, const Landing& at) { return {place(s, at.input), at.count}; }
};

// The rounds of a thread block through tiles, which are those of a sequence or of lines (sequence.cuh, line_tiles.cuh).
//
// Multiprocessors differ in how fast they reach memory. So tiles may be drawn, that those which are quick take more: in
// lines, and in long sequences (`Tiles::drawn`). Not wide values, which were slower so.
template <class S, class Tiles>
struct Rounds {
    static constexpr bool MAY_DRAW = Tiles::MAY_DRAW && !is_wide<typename S::Op::Element>();
    Tiles tiles;
    bool drawn;

    __device__ __forceinline__ Rounds(const Tiles& tiles) : tiles(tiles), drawn(MAY_DRAW && tiles.drawn()) {}
    static __device__ __forceinline__ u32 stage(u32 round) { return round % S::STAGES; }
    static __device__ __forceinline__ u32 parity(u32 round) { return round / S::STAGES & 1; }
    __device__ __forceinline__ bool has(u64 tile) const { return tile < tiles.count; }
    // The tile of a round: of every one, or of the first if they are drawn.
    static __device__ __forceinline__ u64 given(u32 round) { return (u64)round * block_count() + block_index(); }
    // The same of a round up to `COMING` after one whose stage is full. By a shuffle, so that the compiler knows it for the
    // same in all lanes.
    __device__ __forceinline__ u64 tile(Ring<S>& ring, u32 round) const {
        if constexpr (MAY_DRAW)
            if (drawn) return shuffle(ring.of_round(round).tile, 0);
        return given(round);
    }
    // Where it lies: put down by the loader where to work it out takes divisions or memory.
    __device__ __forceinline__ Landing landing(Ring<S>& ring, u32 round, u64 tile) const {
        if constexpr (MAY_DRAW && Tiles::PUT_DOWN) return ring.of_round(round);
        return landing_of(tile);
    }
    __device__ __forceinline__ void put_down(Ring<S>& ring, u32 round, u64 tile) const {
        if constexpr (Tiles::PUT_DOWN) {
            ring.of_round(round) = has(tile) ? landing_of(tile) : Landing{nullptr, nullptr, (u32)tile, 0};
        } else {
            ring.of_round(round).tile = (u32)tile;
        }
    }

  private:
    __device__ __forceinline__ Landing landing_of(u64 tile) const {
        Span<typename S::Input> from = tiles.input(tile);
        return {from.bytes, tiles.output(tile), (u32)tile, from.count};
    }
};

// Begins to fill a stage with a tile, and with what lies beside it where that may be read; gives the bytes that the copy engine brings.
template <class S>
KOGGE_DEVICE u32 begin_tile_load(Ring<S>& ring, const Readable& readable, u32 s, const Landing& at, u32 lane) {
    const u8* from = at.input;
    u32 bytes = at.count * sizeof(typename S::Input);
    readable.widen(from, bytes);
    return begin_load<S>(ring.place(s, from), from, bytes, &ring.full[s], lane);
}

// Fills the stage of one round after another when it is empty and all but a few others are full: `begin(stage, landing)`
// begins the copies and gives their bytes, `end(stage, bytes)` says that all are under way.
template <class S, class Tiles, class Begin, class End>
KOGGE_DEVICE void load_rounds(Ring<S>& ring, Rounds<S, Tiles>& rounds, u32 lane, const Begin& begin, const End& end) {
    Draws draws(rounds.tiles.workspace(), rounds.tiles.count, Ring<S>::COMING + 1);
    bool draw = rounds.drawn && lane == 0;
    u32 number = 0;
    u64 tile = rounds.given(0);
    for (u32 r = 0; rounds.has(tile); r++, tile = rounds.tile(ring, r)) {
        u32 s = rounds.stage(r);
        if (draw) number = draws.ask();
        if (r >= S::STAGES) barrier_wait(&ring.empty[s], rounds.parity(r) ^ 1);
        if (r >= S::FLIGHT) barrier_wait(&ring.full[rounds.stage(r - S::FLIGHT)], rounds.parity(r - S::FLIGHT));
        auto bytes = begin(s, rounds.landing(ring, r, tile));
        if (draw) rounds.put_down(ring, r + Ring<S>::COMING, draws.last);
        end(s, bytes);
        if (draw) draws.take(number);
    }
}
template <class S, class Tiles>
KOGGE_DEVICE void run_loader(Ring<S>& ring, Rounds<S, Tiles>& rounds, u32 lane) {
    Readable readable = rounds.tiles.readable();
    load_rounds(
        ring, rounds, lane,
        [&](u32 s, const Landing& at) { return begin_tile_load(ring, readable, s, at, lane); },
        [&](u32 s, u32 bytes) { end_load<S>(&ring.full[s], bytes, lane); });
}

// Whether the epoch is shared by an mbarrier, not by a barrier of some warps. By the latter the assembler learns that
// lanes go together (`sync_group`), so kernels are a tenth shorter, and nearly all are quicker. synccheck reports it where
// it is a `bar.sync`, which the look-ahead and the reducers reach in two places; of an mbarrier beside `barrier.sync` it
// reports nothing.
template <class A>
constexpr bool EPOCH_APART = EVERY_LANE_ARRIVES;

// The look-ahead and the reducers meet once, when the epoch has been read: so a slot that holds it tells
// that no warp of its block has yet to read the one before.
template <class S>
KOGGE_DEVICE void share_epoch(Ring<S>& ring, bool read, u32 lane) {
    if constexpr (!EPOCH_APART<typename S::Op::Element>) return sync_group(2, LANES * (Ring<S>::LOOKERS + S::REDUCERS));
    if (read) arrive_together(&ring.begun, lane);
    else barrier_wait(&ring.begun, 0);
}

// Whether the look-ahead works out what precedes each segment of a tile: of numbers of 8 bytes, which are quick to
// combine. Elsewhere each scanner does, since the look-ahead is what all wait for.
template <class A>
constexpr bool prefixes_ahead() {
    return Same<A, long long>::YES || Same<A, u64>::YES || Same<A, double>::YES;
}
// Puts what precedes a tile in its place; or what precedes each segment, where it begins, in the place of its total.
template <class S>
KOGGE_DEVICE void put_prefix(Ring<S>& ring, u32 s, Maybe<typename S::Op::Element> before) {
    typedef typename S::Op::Element A;
    ring.preceded[s] = before.exists;
    if constexpr (!prefixes_ahead<A>()) {
        if (before.exists) ring.before[s] = before.value;
    } else {
#pragma unroll
        for (u32 i = 0; i < SEGMENTS_PER_TILE; i++) {
            A total = ring.segment[s][i];
            if (before.exists) ring.segment[s][i] = before.value;
            before = join<typename S::Op>(before, total);
        }
    }
}

template <class S, class Tiles>
KOGGE_DEVICE void run_look_ahead(Ring<S>& ring, Rounds<S, Tiles>& rounds, u32 warp, u32 lane) {
    typedef typename S::Op::Element A;
    Workspace* workspace = rounds.tiles.workspace();
    u64 epoch = load_epoch(&workspace->epoch) + 1;
    if (warp == 0 && lane == 0) ring.epoch = epoch;
    share_epoch(ring, true, lane);
    typename Tiles::Prefixes prefixes(rounds.tiles, epoch);
    u64 tiles = rounds.tiles.count;
    bool last = false;
    u64 tile = rounds.given(warp), next;
    for (u32 r = warp; rounds.has(tile); r += S::LOOKERS, tile = next) {
        u32 s = rounds.stage(r), ahead = r;
        barrier_wait(&ring.reduced[s], rounds.parity(r));
        next = rounds.tile(ring, r + S::LOOKERS);
#pragma unroll
        for (u32 i = 1; i <= S::AHEAD; i++) ahead += rounds.has(rounds.tile(ring, r + i));
        barrier_wait(&ring.reduced[rounds.stage(ahead)], rounds.parity(ahead));
        Maybe<A> prefix = prefixes.before(tile, lane);
        if (lane == 0) put_prefix(ring, s, prefix);
        arrive_together(&ring.ready[s], lane);  // all have looked up the tiles that follow
        prefixes.end(tile, lane);
        last = tile == tiles - 1;
    }
    if (!last) return;
    // The last tile was ours: the epoch moves on when every block has read it, as the slot of its first tile tells.
    for (tile = lane; tile < tiles && tile < block_count(); tile += LANES) Slot<A>::await(workspace, tile, epoch);
    sync_warp();
    if (lane == 0) store_epoch(&workspace->epoch, epoch);
}

template <class S, class Tiles>
KOGGE_DEVICE void run_reducer(Ring<S>& ring, Rounds<S, Tiles>& rounds, u32 warp, u32 lane) {
    typedef typename S::Op Op;
    typedef typename Op::Element A;
    typedef typename S::Input Input;
    constexpr u32 SHARE = SEGMENTS_PER_TILE / S::REDUCERS;
    share_epoch(ring, false, lane);
    u64 index = rounds.given(0), next;
    for (u32 r = 0; rounds.has(index); r++, index = next) {
        u32 s = rounds.stage(r);
        Span<Input> tile = ring.landed(s, rounds.landing(ring, r, index));
        barrier_wait(&ring.full[s], rounds.parity(r));
        next = rounds.tile(ring, r + 1);
        for (u32 i = warp * SHARE; i < (warp + 1) * SHARE; i++) {
            A* rows = is_wide<A>() ? ring.row[s] + i * ROWS_PER_SEGMENT : nullptr;
            Maybe<A> total = segment_total<S>(tile, i * CHUNKS_PER_SEGMENT, lane, rows);
            if (lane == 0 && total.exists) ring.segment[s][i] = total.value;
        }
        sync_group(1, S::REDUCERS * LANES);
        if (warp == 0 && lane == 0) {
            u32 segments = (tile.count + Order<Input>::SEGMENT - 1) / Order<Input>::SEGMENT;
            A total = ring.segment[s][0];
#pragma unroll
            for (u32 i = 1; i < SEGMENTS_PER_TILE; i++)
                if (i < segments) total = Op::combine(total, ring.segment[s][i]);
            Slot<A>::publish(rounds.tiles.workspace(), index, total, ring.epoch);
        }
        arrive_for_all(&ring.reduced[s], warp == 0 && lane == 0);
    }
}

// What precedes segment `warp` of the tile in stage `s`.
template <class S>
KOGGE_DEVICE Maybe<typename S::Op::Element> before_segment(const Ring<S>& ring, u32 s, u32 warp) {
    typedef typename S::Op::Element A;
    if constexpr (prefixes_ahead<A>()) {
        if (warp == 0 && !ring.preceded[s]) return {A(), false};
        return {ring.segment[s][warp], true};
    }
    Maybe<A> before = {ring.before[s], ring.preceded[s]};
#pragma unroll
    for (u32 i = 0; i + 1 < SEGMENTS_PER_TILE; i++)
        if (i < warp) before = join<typename S::Op>(before, ring.segment[s][i]);
    return before;
}

// Lets the loader fill the stage anew, when all lanes have read what they need of it.
template <class S>
KOGGE_DEVICE void give_back(Ring<S>& ring, u32 s, u32 lane) {
    arrive_together(&ring.empty[s], lane);
}

// Writes rows whose chunks are at multiples of 16 bytes.
template <class U, u32 E, bool REVERSE>
struct RowsInPlace {
    __device__ __forceinline__ void write(u8* to, u32 count, u32 index, const Chunk<U, E>& chunk, u32, u32) {
        write_chunk<U, E, REVERSE, true>(to, count, index, E, chunk);
    }
};
// Writes rows to any address.
template <class U, u32 E, bool REVERSE>
struct RowsAnywhere {
    StraddlingRows<U, E, REVERSE> rows;
    __device__ __forceinline__ void write(u8* to, u32 count, u32 index, const Chunk<U, E>& chunk, u32 row, u32 lane) {
        u8* at = to + (u64)(REVERSE ? count - E - index * E : index * E) * sizeof(U);
        if constexpr (Chunk<U, E>::BYTES % 16 == 0) {
            if ((u64)at % 16 != 0) return rows.write(at, chunk, lane, row == 0, row == ROWS_PER_SEGMENT - 1);
        }
        write_chunk<U, E, REVERSE, true>(to, count, index, E, chunk);
    }
};

// The values of segment `warp`, all there and of plain chunks. The stage is given back as soon as the
// segment is in registers; if a chunk isn't plain, or a value isn't the number that `Op` needs, nothing has been done.
template <class S, class From, template <class, u32, bool> class Rows, class Op>
KOGGE_DEVICE bool scan_whole_segment(Ring<S>& ring, u32 s, const Span<typename S::Input>& tile, u8* to, u32 warp, u32 lane) {
    typedef typename Op::Element A;
    constexpr u32 E = Order<typename S::Input>::CHUNK;
    u32 first = warp * CHUNKS_PER_SEGMENT + lane;
    InputChunk<S> input[ROWS_PER_SEGMENT];
    read_segment<S, From>(tile, first, input);
    if (!all_lanes(are_plain<A>(input))) return false;
    Maybe<A> before = before_segment(ring, s, warp);
    A value[ROWS_PER_SEGMENT], preceding[1] = {before.value};
    // As soon as may be; of 8 bytes that was slower.
    constexpr bool CAREFUL = !Same<Op, typename S::Op>::YES, EARLY = !CAREFUL && sizeof(A) <= 4;
    if constexpr (EARLY) give_back(ring, s, lane);
#pragma unroll
    for (u32 j = 0; j < ROWS_PER_SEGMENT; j++) value[j] = fold_of<S, Op>(input[j]);
    if constexpr (CAREFUL) {
        bool numbers = are_numbers<S, Op>(value) && (!before.exists || are_numbers<S, Op>(preceding));
        if (!all_lanes(numbers)) return false;
    }
    if constexpr (!EARLY) give_back(ring, s, lane);
    kogge_stone_rows<Op>(value, lane);
    Rows<typename S::Output, E, S::REVERSE> rows = {};
#pragma unroll
    for (u32 j = 0; j < ROWS_PER_SEGMENT; j++) {
        OutputChunk<S> output;
        before = scan_row<S, true, true, Op>(before, input[j], E, value[j], LANES, lane, output);
        rows.write(to, tile.count, first + j * LANES, output, j, lane);
    }
    return true;
}

// The same of wide values, in place, where something precedes them.
template <class S>
KOGGE_DEVICE bool scan_wide_segment(Ring<S>& ring, u32 s, const Span<typename S::Input>& tile, u8* to, u32 warp, u32 lane) {
    typedef typename S::Op::Element A;
    QuarterRows<S> rows(lane);
    InputChunk<S> input[CHUNKS_PER_LANE];
    rows.read(tile, warp * CHUNKS_PER_SEGMENT, input);
    Maybe<A> segment = before_segment(ring, s, warp);
    if (!segment.exists || !all_lanes(are_plain<A>(input))) return false;
    A before = rows.before_row(segment.value, ring.row[s] + warp * ROWS_PER_SEGMENT);
    give_back(ring, s, lane);
    rows.scan(before, input, to, tile.count, warp * CHUNKS_PER_SEGMENT);
    return true;
}

template <class S, class Tiles>
KOGGE_DEVICE void run_scanner(Ring<S>& ring, Rounds<S, Tiles>& rounds, u32 warp, u32 lane) {
    typedef typename S::Input Input;
    typedef typename S::Output Output;
    u32 segment = warp % ring.SCANNERS, group = warp / ring.SCANNERS;
    u64 index = rounds.given(group), next;
    for (u32 r = group; rounds.has(index); r += S::GROUPS, index = next) {
        u32 s = rounds.stage(r);
        Landing at = rounds.landing(ring, r, index);
        Span<Input> tile = ring.landed(s, at);
        u8* to = at.output;
        barrier_wait(&ring.full[s], rounds.parity(r));
        next = rounds.tile(ring, r + S::GROUPS);
        barrier_wait(&ring.ready[s], rounds.parity(r));
        Lie lie = lie_of_segment<S>(tile, segment * CHUNKS_PER_SEGMENT);
        u8* first = to + (S::REVERSE ? (u64)tile.count * sizeof(Output) : 0);
        bool done = false;
        if constexpr (is_wide<typename S::Op::Element>()) {
            if (lie == IN_PLACE && (u64)first % 16 == 0) done = scan_wide_segment(ring, s, tile, to, segment, lane);
            if (done) continue;
        }
        if (!is_wide<typename S::Op::Element>() && lie == IN_PLACE && (u64)first % 16 == 0) {
            done = scan_whole_segment<S, FromShared, RowsInPlace, typename S::Plain>(ring, s, tile, to, segment, lane);
            if (has_plain<S>() && !done)
                done = scan_whole_segment<S, FromShared, RowsInPlace, typename S::Op>(ring, s, tile, to, segment, lane);
        } else if (lie != IN_PART) {
            done = scan_whole_segment<S, FromSharedAnywhere, RowsAnywhere, typename S::Op>(ring, s, tile, to, segment, lane);
        }
        if (done) continue;
        u32 start = segment * CHUNKS_PER_SEGMENT;
        if (chunks_from(tile, start) > 0)
            scan_part_segment<S, FromShared>(tile, to, start, before_segment(ring, s, segment), lane);
        give_back(ring, s, lane);
    }
}

template <class S, class Tiles>
KOGGE_DEVICE void round_scan(const Tiles& tiles) {
    Ring<S>& ring = *(Ring<S>*)shared_memory();
    u32 warp = thread_index() / LANES, lane = thread_index() % LANES;
    if (thread_index() == 0) {
        for (u32 s = 0; s < S::STAGES; s++) {
            barrier_init(&ring.full[s], load_arrivals<S>());
            barrier_init(&ring.reduced[s], arrivals_of(S::REDUCERS));
            barrier_init(&ring.ready[s], ARRIVALS);
            barrier_init(&ring.empty[s], ring.SCANNERS * ARRIVALS);
        }
        barrier_init(&ring.begun, ring.LOOKERS * ARRIVALS);
        barrier_init_fence();
    }
    Rounds<S, Tiles> rounds(tiles);
    if (rounds.drawn && thread_index() < Ring<S>::COMING) rounds.put_down(ring, thread_index(), rounds.given(thread_index()));
    sync_block();
    if (warp == 0) run_loader(ring, rounds, lane);
    else if (warp < 1 + S::LOOKERS) run_look_ahead(ring, rounds, warp - 1, lane);
    else if (warp < 1 + S::LOOKERS + S::REDUCERS) run_reducer(ring, rounds, warp - 1 - S::LOOKERS, lane);
    else run_scanner(ring, rounds, warp - 1 - S::LOOKERS - S::REDUCERS, lane);
}
