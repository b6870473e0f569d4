// The scan of lines of at most a tile, each element read once.
//
// Warps share out the lines: a line of several segments has a team of warps, one a segment, which tell each
// other their totals; a line of a segment or less is one warp's, and a warp has as many as fit into the
// eight rows of a segment. Rows of a line go to rows of the warp, one by one; lines shorter than a row lie
// side by side in it, and a Kogge–Stone step is taken where the chunk before belongs to the same line.
//
// The lines that a warp or a team takes at once are a lot. Each warp has a ring of stages of its own, and asks
// for a lot of later on as soon as it has one in registers: so nobody hands anything on but the teams their
// totals, and no block waits for another. Lots are drawn, since multiprocessors differ in how fast they reach memory.
// The lines of a lot lie at even distances, so that one copy has them; those too far apart for that are read as they
// are met.

// What a warp has of a lot.
template <class S>
struct LineShare {
    u32 team, member;        // warps of a line, and this warp's place among them
    u32 skipped, length;     // elements of a line before this warp's, and this warp's
    u32 chunks;              // of those; one at least, for the total of nothing
    u32 lines_per_row;       // lines side by side in a row
    u32 rows_per_line;       // rows of a line
    u32 inverse;             // 256 by that, rounded up: a row's line by a multiplication
    u32 lines_per_lot;
    u32 line_in_row, index;  // this lane's line in a row, and its chunk in the line's row
    u32 present, last;       // a bit for each row where this lane has a chunk, and where that ends its line
    u32 tail;                // elements of a last chunk

    __device__ __forceinline__ LineShare(u32 line, u32 warp, u32 lane) {
        constexpr u32 E = Order<typename S::Input>::CHUNK, SEGMENT = Order<typename S::Input>::SEGMENT;
        team = line > SEGMENT ? (line + SEGMENT - 1) / SEGMENT : 1;
        member = warp % team;
        skipped = member * SEGMENT;
        length = line - skipped < SEGMENT ? line - skipped : SEGMENT;
        chunks = length > 0 ? (length + E - 1) / E : 1;
        rows_per_line = team > 1 ? ROWS_PER_SEGMENT : (chunks + LANES - 1) / LANES;
        inverse = (256 + rows_per_line - 1) / rows_per_line;
        lines_per_row = team == 1 && chunks < LANES ? LANES / chunks : 1;
        lines_per_lot = ROWS_PER_SEGMENT / rows_per_line * lines_per_row;
        line_in_row = lines_per_row > 1 ? lane / chunks : 0;
        index = lane - line_in_row * chunks;
        tail = length - (chunks - 1) * E;
        present = last = 0;
#pragma unroll 1
        for (u32 j = 0; j < ROWS_PER_SEGMENT; j++) {
            if (line_in_row >= lines_per_row || line_of(j) >= lines_per_lot || chunk(j) >= chunks) continue;
            present |= 1u << j;
            if (chunk(j) + 1 == chunks) last |= 1u << j;
        }
    }
    // Row `row`: this lane's line among the lot's, the row of that line, and this lane's chunk of it.
    __device__ __forceinline__ u32 line_of(u32 row) const { return (row * inverse >> 8) * lines_per_row + line_in_row; }
    __device__ __forceinline__ u32 row_of_line(u32 row) const { return row - (row * inverse >> 8) * rows_per_line; }
    __device__ __forceinline__ u32 chunk(u32 row) const { return row_of_line(row) * LANES + index; }
};

// The lots of a team, as one lane of it takes them. The first are given, at even steps; later ones are drawn, in bunches
// if they are small, by all teams if there are so many and by none if not. A team draws until there is none left: so
// there are as many draws as bunches, and one more for each team, and these leave the numbers as they were.
template <class S>
struct LotDraws {
    u64 next, step, given, lots;
    u32* numbers;
    u32 bunch, left, draws;

    // Gives the first number that is drawn: it takes a trip to memory, which a place in shared memory would wait for.
    __device__ __forceinline__ u32 begin(const LineArguments<S>& arguments, u64 first, u64 between, u64 all_given, u64 count) {
        next = first, step = between, given = all_given, lots = count;
        numbers = &arguments.workspace->drawn;
        bunch = lots > given ? (u32)arguments.bunch : 0;
        left = 0;
        if (bunch == 0) return 0;
        draws = (u32)((lots - given + bunch - 1) / bunch + step);
        return draw_number_of(numbers, draws);
    }
    // The next lot; behind the last any number.
    __device__ __forceinline__ u64 take(u32& drawn) {
        u64 lot = next;
        if (bunch == 0) {
            next += step;
            return lot;
        }
        if (left == 0) {
            left = bunch;
            lot = next = given + (u64)drawn * bunch;
            if (lot < lots) drawn = draw_number_of(numbers, draws);
        }
        left--;
        next++;
        return lot;
    }
};

template <class S>
struct LineRings {
    typedef typename S::Op::Element A;
    static constexpr u32 MOST_STAGES = 8, WARPS = S::WARPS, THREADS = LANES * WARPS;
    static constexpr u32 PAD = 32;  // what a chunk that is cut short may read beside a lot

    alignas(128) Barrier full[WARPS][MOST_STAGES];
    u64 lot[WARPS][MOST_STAGES];  // in each stage
    u64 coming[WARPS][2];         // the next to ask for, by the first warp of each team, and in the next turn
    LotDraws<S> draws[WARPS];     // of the teams' first warps; here, since threads need their registers
    A segment[2][WARPS];  // the totals of a lot's segments, and of the next one's
    // The stages follow.
};

// What one warp has of a lot: lines that lie at even distances.
template <class S>
struct LotRows {
    typedef typename S::Input Input;
    typedef typename S::Output Output;
    static constexpr u32 E = Order<Input>::CHUNK;

    const LineArguments<S>& arguments;
    const LineShare<S>& share;
    LinePlace at;  // of the warp's part of the first line
    u32 lines;
    u32 present;   // a bit for each row where this lane has a chunk
    u8* stage;     // the copy of that part, or null

    __device__ __forceinline__ bool exists(u32 row) const { return present >> row & 1; }
    // Elements of the lane's chunk.
    __device__ __forceinline__ u32 count(u32 row) const {
        u32 whole = share.last >> row & 1 ? share.tail : E;
        return exists(row) ? whole : 0;
    }
    // Elements from the start of the warp's part of a line to a whole chunk, which may begin before it.
    __device__ __forceinline__ int place(u32 chunk) const {
        return S::REVERSE ? (int)share.length - (int)(E + chunk * E) : (int)(chunk * E);
    }
    __device__ __forceinline__ u64 number(u32 line) const { return at.number + line * (u64)arguments.along().number; }
    __device__ __forceinline__ u8* staged(u32 line) const { return stage + line * (u32)arguments.along().input; }
    __device__ __forceinline__ u8* from(u32 line) const { return at.input + line * arguments.along().input; }
    __device__ __forceinline__ u8* to(u32 line) const { return at.output + line * arguments.along().output; }
};

// What precedes this warp's segment of its line, as the team tells; its first member puts the line's total
// in its place.
template <class S>
KOGGE_DEVICE Maybe<typename S::Op::Element> exchange(typename S::Op::Element* segment, const LotRows<S>& rows, const typename S::Op::Element& total, u32 warp, u32 lane) {
    typedef typename S::Op Op;
    typedef typename Op::Element A;
    const LineShare<S>& share = rows.share;
    u32 leader = warp - share.member;
    if (lane == 0) segment[warp] = total;
    sync_group(1 + leader / share.team, share.team * LANES);
    u64 number = rows.number(0);
    Maybe<A> init = rows.arguments.inits.of(number), before = init, all = {A(), false};
#pragma unroll 1
    for (u32 i = 0; i < share.member; i++) before = join<Op>(before, segment[leader + i]);
    if (rows.arguments.inits.totals && share.member == 0 && lane == 0) {
#pragma unroll 1
        for (u32 i = 0; i < share.team; i++) all = join<Op>(all, segment[leader + i]);
        rows.arguments.inits.put_total(number, join<Op>(init, all));
    }
    return before;
}

// The inclusive Kogge–Stone values of the warp's rows; `index` is the chunk's place in its row of its line,
// of which `chunks` have a place.
template <class Op, class A>
KOGGE_DEVICE void kogge_stone_lines(A (&value)[ROWS_PER_SEGMENT], u32 index, u32 chunks) {
#pragma unroll
    for (u32 stride = 1; stride < LANES; stride *= 2) {
        if (stride >= chunks) break;
#pragma unroll
        for (u32 j = 0; j < ROWS_PER_SEGMENT; j++) {
            A left = value_of_lane_below(value[j], stride);
            value[j] = take_left<Op>(index >= stride, left, value[j]);
        }
    }
}

// What precedes a line's rows one after another, in lines that one warp has alone.
template <class S>
struct LinePrefix {
    typedef typename S::Op Op;
    typedef typename Op::Element A;
    Maybe<A> init, before, rows;  // `rows`: the line's rows so far, without init

    __device__ __forceinline__ void begin(const LotRows<S>& lot, u32 row, bool exists) {
        if (lot.share.row_of_line(row) > 0) return;
        before.exists = init.exists = rows.exists = false;
        if (lot.arguments.inits.kind == INITS_NONE) return;
        if (exists) before = init = lot.arguments.inits.of(lot.number(lot.share.line_of(row)));
    }
    // Takes note of a row's Kogge–Stone values, of `count` elements in this lane's chunk.
    __device__ __forceinline__ void end(const LotRows<S>& lot, u32 row, bool exists, const A& value, u32 count) {
        if (!lot.arguments.inits.totals) return;
        if (exists && lot.share.last >> row & 1) {
            Maybe<A> last = {value, count > 0};
            lot.arguments.inits.put_total(lot.number(lot.share.line_of(row)), join<Op>(init, join<Op>(rows, last)));
        }
        rows = join<Op>(rows, value_of_lane(value, LANES - 1));
    }
};

// The left fold of the totals of a segment's rows, of which `chunks` chunks exist.
template <class S>
KOGGE_DEVICE typename S::Op::Element fold_rows(const typename S::Op::Element (&value)[ROWS_PER_SEGMENT], u32 chunks) {
    typedef typename S::Op::Element A;
    A total = value_of_lane(value[0], (chunks < LANES ? chunks : LANES) - 1);
#pragma unroll
    for (u32 j = 1; j < ROWS_PER_SEGMENT; j++) {
        u32 left = chunks <= j * LANES ? 1 : chunks - j * LANES < LANES ? chunks - j * LANES : LANES;
        A row = value_of_lane(value[j], left - 1);
        total = choose(j * LANES < chunks, S::Op::combine(total, row), total);
    }
    return total;
}

// Copies elements from shared to global memory by one warp, in 16 bytes if both addresses allow it.
template <class T>
KOGGE_DEVICE void store_elements(u8* to, const u8* from, u32 count, u32 lane) {
    u32 bytes = count * sizeof(T);
    if (((u64)to ^ (u64)from) % 16 != 0) {
        for (u32 i = lane; i < count; i += LANES) store_aligned<T>(to + i * sizeof(T), load_aligned<T>(from + i * sizeof(T)));
        return;
    }
    u32 head = (u32)(-(u64)to % 16);
    if (head > bytes) head = bytes;
    u32 middle = (bytes - head) / 16 * 16, tail = bytes - head - middle;
    if (lane < head) to[lane] = from[lane];
    if (lane < tail) to[head + middle + lane] = from[head + middle + lane];
    for (u32 at = head + lane * 16; at < head + middle; at += LANES * 16) store_quad(to + at, load_shared(from + at));
}

// How a lot's values reach the output: as whole chunks at multiples of 16 bytes; over the elements in the stage,
// and from there in one piece, or a piece a line; else each by itself.
enum Route { BY_CHUNK, BY_ELEMENT, BY_LINE, BY_LOT };
template <class S>
KOGGE_DEVICE Route route_of(const LotRows<S>& rows) {
    typedef typename S::Output Output;
    constexpr u32 LONG = 256;  // bytes of a line that are worth a copy of its own
    if (sizeof(typename S::Input) != sizeof(Output) || !rows.stage) return BY_ELEMENT;
    if (rows.arguments.dense) return BY_LOT;
    // Lines that share elements can't be written over.
    u64 bytes = rows.arguments.length * sizeof(Output);
    return bytes >= LONG && (rows.lines == 1 || rows.arguments.along().input >= (long long)bytes) ? BY_LINE : BY_ELEMENT;
}
template <class S>
KOGGE_DEVICE void store_rows(const LotRows<S>& rows, Route route, u32 lane) {
    typedef typename S::Output Output;
    u32 pieces = route == BY_LOT ? 1 : rows.lines;
    u32 count = route == BY_LOT ? rows.lines * rows.share.length : rows.share.length;
    for (u32 i = 0; i < pieces; i++) store_elements<Output>(rows.to(i), rows.staged(i), count, lane);
}

// A warp, from lot to lot. `WHOLE` says that every line begins at a multiple of 16 bytes, is whole chunks, and
// goes through the ring. Such lines have a kernel of their own: beside the other paths it spilled registers.
template <class S>
struct LineWarp {
    typedef typename S::Op Op;
    typedef typename Op::Element A;
    typedef typename S::Input Input;
    typedef typename S::Output Output;
    typedef LineRings<S> Rings;
    static constexpr u32 E = Order<Input>::CHUNK;
    static constexpr bool WHOLE = S::WHOLE;
    static_assert(!WHOLE || InputChunk<S>::BYTES % 16 == 0, "chunks are vectors");

    Rings& rings;
    const LineArguments<S>& arguments;
    const LineShare<S>& share;
    u32 warp, lane;
    u8* stages;                  // of this warp
    u64 run, lots_per_run;       // lines at even distances, and their lots
    u64 lots, step;              // of all teams, and from one of this team's to its next
    Rotation rotation;

    __device__ __forceinline__ LineWarp(Rings& rings, const LineArguments<S>& arguments, const LineShare<S>& share, u32 warp, u32 lane)
        : rings(rings), arguments(arguments), share(share), warp(warp), lane(lane),
          stages((u8*)(&rings + 1) + warp * arguments.stages * arguments.stage_bytes),
          run(arguments.axes <= 1 ? arguments.lines : arguments.along().length),
          lots_per_run((run + share.lines_per_lot - 1) / share.lines_per_lot),
          lots(arguments.axes <= 1 ? lots_per_run : arguments.lines / run * lots_per_run),
          step((u64)block_count() * (Rings::WARPS / share.team)), rotation(lane) {}

    __device__ __forceinline__ void scan_all() {
        // Blocks have a lot each before one has a second: of few lots, multiprocessors share the memory's trips evenly.
        u64 first = (u64)(warp / share.team) * block_count() + block_index();
        // Values that go over the elements keep a stage till they are out: it is filled a lot later.
        u32 ahead = arguments.stages > 0 && !WHOLE ? arguments.stages - 1 : arguments.stages;
        bool takes = share.member == 0 && lane == 0;
        LotDraws<S>& draws = rings.draws[warp];
        u32 drawn = 0;
        if (takes) drawn = draws.begin(arguments, first + (ahead + 1) * step, step, (ahead + 1) * step, lots);
        for (u32 s = 0; s < ahead; s++) load(first + s * step, s);
        u64* coming = rings.coming[warp - share.member];
        u64 next = first + ahead * step;
        u32 s = 0, parity = 0, turn = 0;
#pragma unroll 1
        while (true) {
            sync_warp();
            u64 lot = ahead > 0 ? rings.lot[warp][s] : next;
            if (lot >= lots) break;
            if (takes) coming[turn] = draws.take(drawn);
            LotRows<S> rows = rows_of(lot);
            if (WHOLE || arguments.stages > 0) {
                rows.stage = stage_of(rows.at.input, s);
                barrier_wait(&rings.full[warp][s], parity);
            }
            InputChunk<S> input[ROWS_PER_SEGMENT];
            read(rows, input);
            if (!WHOLE) bulk_fence();
            sync_warp();
            if (WHOLE || arguments.stages > 0) load(next, WHOLE ? s : (s > 0 ? s : arguments.stages) - 1);
            scan(rows, input, rings.segment[turn]);
            sync_warp();
            next = coming[turn];
            turn ^= 1;
            if (++s < arguments.stages) continue;
            s = 0;
            parity ^= 1;
        }
    }

  private:
    // Whether chunks are read and written where they are, as vectors.
    __device__ __forceinline__ bool in_place() const { return InputChunk<S>::BYTES % 16 == 0 && arguments.whole; }
    __device__ __forceinline__ LotRows<S> rows_of(u64 lot) const {
        u64 outer = arguments.axes <= 1 ? 0 : quotient(lot, lots_per_run), first = (lot - outer * lots_per_run) * share.lines_per_lot;
        LinePlace at = arguments.place(outer * run + first);
        u64 skipped = S::REVERSE ? arguments.length - share.skipped - share.length : share.skipped;
        at.input += skipped * sizeof(Input);
        at.output += skipped * sizeof(Output);
        LotRows<S> rows = {arguments, share, at, share.lines_per_lot, share.present, nullptr};
        if (run - first < share.lines_per_lot) {
            rows.lines = (u32)(run - first);
            for (u32 j = 0; j < ROWS_PER_SEGMENT; j++)
                if (share.line_of(j) >= rows.lines) rows.present &= ~(1u << j);
        }
        return rows;
    }
    __device__ __forceinline__ u8* stage_of(const u8* from, u32 s) const {
        return stages + s * arguments.stage_bytes + Rings::PAD + (u64)from % 16;
    }

    // Asks for a lot, if there is such a lot: what fills whole 16 bytes by the copy engine (below sm_90 by
    // asynchronous loads), the few bytes at either end by the lanes.
    __device__ __forceinline__ void load(u64 lot, u32 s) const {
        if (lane == 0) rings.lot[warp][s] = lot;
        if (lot >= lots) return;
        LotRows<S> rows = rows_of(lot);
        const u8* from = rows.at.input;
        u8* to = stage_of(from, s);
        Barrier* full = &rings.full[warp][s];
        u32 bytes = (rows.lines - 1) * (u32)arguments.along().input + share.length * (u32)sizeof(Input);
        u32 head = (u32)(-(u64)from % 16);
        if (head > bytes) head = bytes;
        u32 middle = (bytes - head) / 16 * 16, tail = bytes - head - middle;
        if (!WHOLE) {
            load_end(to, from, head);
            load_end(to + head + middle, from + head + middle, tail);
        }
        if constexpr (!S::BULK) {
            for (u32 at = head + lane * 16; at < head + middle; at += LANES * 16) async_load(to + at, from + at);
        }
        if (!WHOLE || !S::BULK) {
            async_arrive(full);
            sync_warp();
        }
        if (lane > 0) return;
        if constexpr (S::BULK) {
            barrier_arrive_expect(full, middle);
            if (middle > 0) bulk_load(to + head, from + head, middle, full);
        } else {
            barrier_arrive(full);
        }
    }
    // Fewer than 16 bytes, of whole elements; words of them without waiting.
    __device__ __forceinline__ void load_end(u8* to, const u8* from, u32 bytes) const {
        if constexpr (alignof(Input) % 4 == 0) {
            if (lane * 4 < bytes) async_load_word(to + lane * 4, from + lane * 4);
        } else {
            if (lane < bytes) to[lane] = from[lane];
        }
    }

    __device__ __forceinline__ void read(const LotRows<S>& rows, InputChunk<S> (&input)[ROWS_PER_SEGMENT]) const {
        if constexpr (WHOLE) {
            read_by(rows, input, [&](u32 line, u32 chunk, u32) {
                return read_chunk<Input, S::REVERSE, true, FromShared>({rows.staged(line), share.length}, chunk);
            });
        } else if (rows.stage) {
            read_by(rows, input, [&](u32 line, u32 chunk, u32 count) {
                const u8* from = rows.staged(line) + rows.place(chunk) * (int)sizeof(Input);
                return Gather<Input, E>::template load<S::REVERSE>(from, count, rotation);
            });
        } else if (in_place()) {
            read_by(rows, input, [&](u32 line, u32 chunk, u32) {
                return read_chunk<Input, S::REVERSE, true, FromGlobal>({rows.from(line), share.length}, chunk);
            });
        } else {
            read_by(rows, input, [&](u32 line, u32 chunk, u32) {
                return read_chunk<Input, S::REVERSE, false, FromGlobal>({rows.from(line), share.length}, chunk);
            });
        }
    }
    template <class Read>
    __device__ __forceinline__ void read_by(const LotRows<S>& rows, InputChunk<S> (&input)[ROWS_PER_SEGMENT], const Read& chunk_of) const {
#pragma unroll
        for (u32 j = 0; j < ROWS_PER_SEGMENT; j++) {
            input[j] = {};
            u32 count = WHOLE ? E * rows.exists(j) : rows.count(j);
            if (count > 0) input[j] = chunk_of(share.line_of(j), share.chunk(j), count);
        }
    }

    __device__ __forceinline__ void scan(const LotRows<S>& rows, const InputChunk<S> (&input)[ROWS_PER_SEGMENT], A* segment) const {
        if constexpr (Pair<Input>::EXISTS && is_float<A>()) {
            if (all_lanes(are_plain<A>(input))) return scan_chunks<true>(rows, input, segment);
        }
        scan_chunks<false>(rows, input, segment);
    }
    template <bool PLAIN>
    __device__ __forceinline__ void scan_chunks(const LotRows<S>& rows, const InputChunk<S> (&input)[ROWS_PER_SEGMENT], A* segment) const {
        A value[ROWS_PER_SEGMENT];
#pragma unroll
        for (u32 j = 0; j < ROWS_PER_SEGMENT; j++) value[j] = S::Fold::template of<PLAIN>(input[j], WHOLE ? E : rows.count(j));
        kogge_stone_lines<Op>(value, share.index, share.chunks);
        bool alone = share.team == 1;
        LinePrefix<S> prefix = {};
        if (!alone) prefix.before = exchange<S>(segment, rows, fold_rows<S>(value, share.chunks), warp, lane);
        Route route = WHOLE || in_place() ? BY_CHUNK : route_of(rows);
#pragma unroll
        for (u32 j = 0; j < ROWS_PER_SEGMENT; j++) {
            bool exists = rows.exists(j);
            u32 count = WHOLE ? E * exists : rows.count(j);
            if (alone) prefix.begin(rows, j, exists);
            OutputChunk<S> output;
            Maybe<A> after = scan_row<S, true, PLAIN>(prefix.before, input[j], count, value[j], LANES, share.index, output);
            if (alone) prefix.end(rows, j, exists, value[j], count);
            prefix.before = after;
            if (count > 0) write(rows, route, j, count, output);
        }
        if (route == BY_CHUNK || route == BY_ELEMENT) return;
        sync_warp();
        store_rows(rows, route, lane);
    }
    __device__ __forceinline__ void write(const LotRows<S>& rows, Route route, u32 row, u32 count, const OutputChunk<S>& output) const {
        u32 line = share.line_of(row), chunk = share.chunk(row);
        if (route == BY_CHUNK)
            write_chunk<Output, E, S::REVERSE, true>(rows.to(line), share.length, chunk, E, output);
        else if (route == BY_ELEMENT)
            write_chunk<Output, E, S::REVERSE, false>(rows.to(line), share.length, chunk, count, output);
        else if constexpr (sizeof(Input) == sizeof(Output))
            Gather<Output, E>::template store<S::REVERSE>(
                rows.staged(line) + rows.place(chunk) * (int)sizeof(Output), output, count, rotation);
    }
};

template <class S>
KOGGE_DEVICE void line_scan(const LineArguments<S>& arguments) {
    typedef LineRings<S> Rings;
    Rings& rings = *(Rings*)shared_memory();
    // By a shuffle, so that the compiler knows it for the same in all lanes.
    u32 warp = shuffle(thread_index() / LANES, 0), lane = thread_index() % LANES;
    LineShare<S> share((u32)arguments.length, warp, lane);
    if (lane == 0) {
        // A whole lot has one copy by one lane; the ends of others are asked for by all.
        u32 arrivals = S::WHOLE && S::BULK ? 1 : 1 + LANES;
        for (u32 s = 0; s < arguments.stages; s++) barrier_init(&rings.full[warp][s], arrivals);
        barrier_init_fence();
    }
    sync_block();
    if (warp < Rings::WARPS / share.team * share.team) LineWarp<S>(rings, arguments, share, warp, lane).scan_all();
}
