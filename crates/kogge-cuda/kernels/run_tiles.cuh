// The tiles of long runs, and what precedes them in their own run: what the kernel of rounds scans of the caller's
// segments. A run's tiles begin where it does, anywhere in 16 bytes.

template <class S>
struct RunTiles {
    typedef typename S::Input Input;
    typedef typename S::Op::Element A;
    static constexpr bool MAY_DRAW = true, PUT_DOWN = true;
    const SegmentedArguments<S>& arguments;
    u64 count;

    __device__ __forceinline__ RunTiles(const SegmentedArguments<S>& arguments) : arguments(arguments), count(arguments.list->count) {}
    __device__ __forceinline__ Workspace* workspace() const { return arguments.workspace; }
    __device__ __forceinline__ Readable readable() const { return Readable::of(arguments.input, arguments.output, arguments.length * sizeof(Input)); }
    __device__ __forceinline__ bool drawn() const { return true; }
    __device__ __forceinline__ const RunTile& at(u64 tile) const { return arguments.list->tile(tile); }
    __device__ __forceinline__ Span<Input> input(u64 tile) const {
        return span_of<Input, S::REVERSE>(arguments.input, arguments.length, at(tile).start, at(tile).count);
    }
    __device__ __forceinline__ u8* output(u64 tile) const {
        return span_of<typename S::Output, S::REVERSE>(arguments.output, arguments.length, at(tile).start, at(tile).count).bytes;
    }
    // By which a run finds its init and its total.
    __device__ __forceinline__ u64 number(const RunTile& tile) const {
        if (S::OFFSET_BYTES > 0 || !S::REVERSE) return tile.number;
        return arguments.windows[(arguments.length + S::MARKED - 1) / S::MARKED].heads - 1 - tile.number;
    }

    // What precedes one tile after another: in every run the look-ahead starts anew, on its own slots.
    struct Prefixes {
        const RunTiles& tiles;
        LookAhead<S> look_ahead;
        u64 first;  // the run's first tile

        __device__ __forceinline__ Prefixes(const RunTiles& tiles, u64 epoch)
            : tiles(tiles), look_ahead{{A(), false}, 0, nullptr, epoch}, first(~0ull) {}
        __device__ __forceinline__ Maybe<A> before(u64 index, u32 lane) {
            const RunTile& tile = tiles.at(index);
            if (index - tile.index != first) {
                first = index - tile.index;
                bool each = tiles.arguments.inits.kind == INITS_EACH;
                look_ahead.blocks = tiles.arguments.inits.of(each ? tiles.number(tile) : 0);
                look_ahead.block = 0;
                look_ahead.workspace = (Workspace*)Slot<A>::at(tiles.workspace(), first) - 1;
            }
            return look_ahead.before(tile.index, lane);
        }
        // Puts the run's total in its place, if the tile is its last and totals are wanted.
        __device__ __forceinline__ void end(u64 index, u32 lane) {
            const RunTile& tile = tiles.at(index);
            if (!tiles.arguments.inits.totals || tile.index + 1 < tile.tiles) return;
            Maybe<A> total = look_ahead.before(tile.tiles, lane);
            if (lane == 0) tiles.arguments.inits.put_total(tiles.number(tile), total);
        }
    };
};

// Writes rows one after another, to any address and as far as there are elements. Every lane writes the quad that its
// chunk shares with the one below; where elements are whole words, it turns its words till they are in their
// places of that quad, and takes the missing ones from the lane below.
template <class U, u32 E, bool REVERSE>
struct RowsOfRuns {
    static constexpr bool TURNED = Chunk<U, E>::BYTES == 16 && sizeof(U) % 4 == 0;
    StraddlingRows<U, E, REVERSE> rows;

    // A row of a whole segment; of one whose end is missing, the last with elements.
    __device__ __forceinline__ void write(u8* to, u32 count, u32 index, const Chunk<U, E>& chunk, u32 row, u32 lane) {
        write_row<false>(to, count, index, chunk, lane, row == 0, row == ROWS_PER_SEGMENT - 1);
    }
    __device__ __forceinline__ void write_cut(u8* to, u32 count, u32 index, const Chunk<U, E>& chunk, u32 lane, bool first, bool last) {
        write_row<true>(to, count, index, chunk, lane, first, last);
    }

  private:
    template <bool CUT>
    __device__ __forceinline__ void write_row(u8* to, u32 count, u32 index, const Chunk<U, E>& chunk, u32 lane, bool first, bool last) {
        if constexpr (TURNED) return turn<CUT>(to, count, index, chunk, lane, first, last);
        u32 row_end = (index - lane + LANES) * E;
        u8* at = to + (u64)(REVERSE ? count - E - index * E : index * E) * sizeof(U);
        if constexpr (Chunk<U, E>::BYTES % 16 == 0) {
            if (row_end <= count && (u64)at % 16 != 0) return rows.write(at, chunk, lane, first, last || row_end + LANES * E > count);
            if (row_end <= count) return write_chunk<U, E, REVERSE, true>(to, count, index, E, chunk);
        }
        u32 left = count > index * E ? count - index * E : 0;
        write_chunk<U, E, REVERSE, false>(to, count, index, left < E ? left : E, chunk);
    }
    template <bool CUT>
    __device__ __forceinline__ void turn(u8* base, u32 count, u32 index, const Chunk<U, E>& chunk, u32 lane, bool first, bool last) {
        long long place = REVERSE ? (long long)count - E - index * E : (long long)index * E;
        u8 *to = base + place * (long long)sizeof(U), *end = base + (u64)count * sizeof(U);
        // The bytes of the quad that come from the lower address, or in reverse those of a chunk in its higher quad.
        u32 past = (u64)to % 16;
        if (REVERSE && past == 0) past = 16;
        u32 words = past / 4;
        Chunk<U, E> stored = chunk;
#pragma unroll
        for (u32 e = 0; REVERSE && e < E; e++) stored.put(e, chunk.get(E - 1 - e));
        u32 once[4];
        Quad own, quad;
#pragma unroll
        for (u32 i = 0; i < 4; i++) once[i] = words & 1 ? stored.word[(i + 3) % 4] : stored.word[i];
#pragma unroll
        for (u32 i = 0; i < 4; i++) own.word[i] = quad.word[i] = words & 2 ? once[(i + 2) % 4] : once[i];
        // Of one word, the last or in reverse the first, lanes always have their own.
#pragma unroll
        for (u32 i = REVERSE ? 1 : 0; i < (REVERSE ? 4 : 3); i++) {
            u32 turned = shuffle(own.word[i], (lane + LANES - 1) % LANES), below = lane > 0 ? turned : rows.carried.word[i];
            rows.carried.word[i] = turned;
            if (REVERSE ? i >= words : i < words) quad.word[i] = below;
        }
        u8* at = to - past + (REVERSE ? 16 : 0);
        if (first && lane == 0) put<CUT>(at, quad, REVERSE ? 0 : past, REVERSE ? past : 16, base, end);
        else if (!CUT || (at >= base && at + 16 <= end)) store_quad(at, quad);
        else put<CUT>(at, quad, 0, 16, base, end);
        if (last && lane == LANES - 1) put<CUT>(REVERSE ? at - 16 : at + 16, own, REVERSE ? past : 0, REVERSE ? 16 : past, base, end);
    }
    // Bytes `from` to `until` of a quad, as far as they are within the tile.
    template <bool CUT>
    static __device__ __forceinline__ void put(u8* at, const Quad& quad, u32 from, u32 until, const u8* base, const u8* end) {
        long long low = base - at, high = end - at;
        if (CUT && low > (long long)from) from = low < 16 ? (u32)low : 16;
        if (CUT && high < (long long)until) until = high > 0 ? (u32)high : 0;
        store_part<U>(at, quad, from, until);
    }
};

// Chunk `index` of a tile at any address; of what isn't there, something.
template <class S>
KOGGE_DEVICE InputChunk<S> read_near(const Span<typename S::Input>& tile, u32 index) {
    typedef typename S::Input Input;
    constexpr u32 E = Order<Input>::CHUNK;
    if constexpr (InputChunk<S>::BYTES % 16 == 0) {
        // Behind the end of a stage's elements there is room, before them there may be none.
        if (S::REVERSE && tile.count < E) return read_chunk<Input, S::REVERSE, false, FromShared>(tile, index);
        u32 near = index * E + E <= tile.count || !S::REVERSE ? index : 0;
        InputChunk<S> chunk = read_chunk<Input, S::REVERSE, true, FromSharedAnywhere>(tile, near);
        if constexpr (S::REVERSE && E > 1) {
            u32 count = elements_in(tile, index);
            if (count > 0 && count < E) chunk = read_chunk<Input, true, false, FromShared>(tile, index);
        }
        return chunk;
    }
    return read_chunk<Input, S::REVERSE, false, FromShared>(tile, index);
}

// As `scan_whole_segment`, of a segment whose end is missing: row by row, since instructions that are seldom wanted push others out of
// their cache. What is read in place of the end comes after all that is there, and changes none of it.
// Where a chunk isn't plain, rows before it have been written, and will be again, with the same bits.
template <class S>
KOGGE_DEVICE bool scan_cut_segment(Ring<S>& ring, u32 s, const Span<typename S::Input>& tile, u8* to, u32 warp, u32 lane) {
    typedef typename S::Input Input;
    typedef typename S::Op::Element A;
    constexpr u32 E = Order<Input>::CHUNK;
    Maybe<A> before = before_segment(ring, s, warp);
    RowsOfRuns<typename S::Output, E, S::REVERSE> rows = {};
    u32 first = warp * CHUNKS_PER_SEGMENT, count = (tile.count - first * E + LANES * E - 1) / (LANES * E);
#pragma unroll 1
    for (u32 j = 0; j < count; j++) {
        u32 index = first + j * LANES + lane;
        InputChunk<S> input[1] = {read_near<S>(tile, index)};
        if (!all_lanes(are_plain<A>(input))) return false;
        A value = kogge_stone<typename S::Op>(S::Fold::template of<true>(input[0], E), lane, LANES);
        OutputChunk<S> output;
        before = scan_row<S, true, true>(before, input[0], E, value, LANES, lane, output);
        rows.write_cut(to, tile.count, index, output, lane, j == 0, j == count - 1);
    }
    give_back(ring, s, lane);
    return true;
}

// Where a tile of the list lies; behind the last, any number.
template <class S>
KOGGE_DEVICE Landing landing_in_list(const Rounds<S, RunTiles<S>>& rounds, u64 tile) {
    if (!rounds.has(tile)) return {nullptr, nullptr, (u32)tile, 0};
    auto from = rounds.tiles.input(tile);
    return {from.bytes, rounds.tiles.output(tile), (u32)tile, from.count};
}

// A loader as that of round_scan.cuh. A drawn number takes a trip to memory, and so does the tile of that number in the list:
// both are asked for before the loader waits for a stage.
template <class S>
KOGGE_DEVICE void run_loader(Ring<S>& ring, Rounds<S, RunTiles<S>>& rounds, u32 lane) {
    Readable readable = rounds.tiles.readable();
    constexpr u32 COMING = Ring<S>::COMING;
    Draws draws(rounds.tiles.workspace(), rounds.tiles.count, COMING + 1);
    bool draw = rounds.drawn && lane == 0;
    u32 number = 0;
    u64 tile = rounds.given(0);
    for (u32 r = 0; rounds.has(tile); r++, tile = rounds.tile(ring, r)) {
        u32 s = rounds.stage(r);
        Landing coming;
        if (draw) {
            if (r > 0) draws.take(number);
            coming = landing_in_list(rounds, draws.last);
            number = draws.ask();
        }
        if (r >= S::STAGES) barrier_wait(&ring.empty[s], rounds.parity(r) ^ 1);
        if (r >= S::FLIGHT) barrier_wait(&ring.full[rounds.stage(r - S::FLIGHT)], rounds.parity(r - S::FLIGHT));
        u32 bytes = begin_tile_load(ring, readable, s, rounds.landing(ring, r, tile), lane);
        if (draw) ring.of_round(r + COMING) = coming;
        end_load<S>(&ring.full[s], bytes, lane);
    }
}

// A reducer and a scanner as those of round_scan.cuh, for tiles that often begin anywhere in 16 bytes and are often cut
// short. The total of a segment that is cut short counts for the total of its run alone.
template <class S>
KOGGE_DEVICE void run_reducer(Ring<S>& ring, Rounds<S, RunTiles<S>>& rounds, u32 warp, u32 lane) {
    typedef typename S::Op Op;
    typedef typename Op::Element A;
    typedef typename S::Input Input;
    bool totals = rounds.tiles.arguments.inits.totals;
    share_epoch(ring, false, lane);
    u64 index = rounds.given(0), next;
    for (u32 r = 0; rounds.has(index); r++, index = next) {
        u32 s = rounds.stage(r);
        Span<Input> tile = ring.landed(s, rounds.landing(ring, r, index));
        u32 segments = (tile.count + Order<Input>::SEGMENT - 1) / Order<Input>::SEGMENT;
        barrier_wait(&ring.full[s], rounds.parity(r));
        next = rounds.tile(ring, r + 1);
        for (u32 i = warp; i < segments; i += S::REDUCERS) {
            Maybe<A> total = {A(), true};
            A* rows = is_wide<A>() ? ring.row[s] + i * ROWS_PER_SEGMENT : nullptr;
            if (totals || tile.count >= (i + 1) * Order<Input>::SEGMENT) total = segment_total<S>(tile, i * CHUNKS_PER_SEGMENT, lane, rows);
            if (lane == 0) ring.segment[s][i] = total.value;
        }
        sync_group(1, S::REDUCERS * LANES);
        if (warp == 0 && lane == 0) {
            A total = ring.segment[s][0];
#pragma unroll
            for (u32 i = 1; i < SEGMENTS_PER_TILE; i++)
                if (i < segments) total = Op::combine(total, ring.segment[s][i]);
            Slot<A>::publish(rounds.tiles.workspace(), index, total, ring.epoch);
        }
        arrive_for_all(&ring.reduced[s], warp == 0 && lane == 0);
    }
}
template <class S>
KOGGE_DEVICE void run_scanner(Ring<S>& ring, Rounds<S, RunTiles<S>>& rounds, u32 warp, u32 lane) {
    typedef typename S::Input Input;
    typedef typename S::Output Output;
    u32 group = warp / ring.SCANNERS;
    u64 index = rounds.given(group), next;
    for (u32 r = group; rounds.has(index); r += S::GROUPS, index = next) {
        // Another one in every round: of tiles that are cut short the last are missing.
        u32 segment = (warp + r) % ring.SCANNERS, start = segment * CHUNKS_PER_SEGMENT;
        u32 s = rounds.stage(r);
        Landing at = rounds.landing(ring, r, index);
        Span<Input> tile = ring.landed(s, at);
        u8* to = at.output;
        barrier_wait(&ring.full[s], rounds.parity(r));
        next = rounds.tile(ring, r + S::GROUPS);
        barrier_wait(&ring.ready[s], rounds.parity(r));
        u8* first = to + (S::REVERSE ? (u64)tile.count * sizeof(Output) : 0);
        bool there = chunks_from(tile, start) > 0, done = false;
        Lie lie = lie_of_segment<S>(tile, start);
        if constexpr (is_wide<typename S::Op::Element>()) {
            if (lie == IN_PLACE && (u64)first % 16 == 0) done = scan_wide_segment(ring, s, tile, to, segment, lane);
            if (done) continue;
        }
        if (!is_wide<typename S::Op::Element>() && lie == IN_PLACE && (u64)first % 16 == 0) {
            done = scan_whole_segment<S, FromShared, RowsInPlace, typename S::Plain>(ring, s, tile, to, segment, lane);
            if (has_plain<S>() && !done)
                done = scan_whole_segment<S, FromShared, RowsInPlace, typename S::Op>(ring, s, tile, to, segment, lane);
        } else if (lie != IN_PART) {
            done = scan_whole_segment<S, FromSharedAnywhere, RowsOfRuns, typename S::Op>(ring, s, tile, to, segment, lane);
        } else if (there) {
            done = scan_cut_segment<S>(ring, s, tile, to, segment, lane);
        }
        if (done) continue;
        if (there) scan_part_segment<S, FromShared>(tile, to, start, before_segment(ring, s, segment), lane);
        give_back(ring, s, lane);
    }
}

template <class S>
KOGGE_DEVICE void long_run_scan(const SegmentedArguments<S>& arguments) {
    // In this order: stretches, which the next launch takes, wait for what this one has waited for and not for it.
    await_launches();
    launch_dependents();
    // How many tiles there are, the host doesn't know.
    if (block_index() < arguments.list->count) round_scan<S>(RunTiles<S>(arguments));
}
