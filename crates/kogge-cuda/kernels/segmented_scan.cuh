// The scan of runs that lie one after another, each by itself: one thread block a window of positions, which
// it goes along twice.
//
// On the first way, a warp works out the Kogge–Stone values of chunks and the totals of rows, step by step; on the
// second, once what precedes its first row is known, the elements' values. So a window costs much the same
// whether one run covers it or hundreds do. What a window needs of the rows just before it, it reads again: so
// in place they have to be saved before.
//
// Only a run longer than a segment has anything to do with other windows. A block waits for blocks of lower
// index only, so they need not all be resident.

template <class S>
struct SegmentedArguments {
    const void* input;
    void* output;
    u64 length;
    Workspace* workspace;
    const u32* heads;       // the mask that heads.cuh makes
    const Window* windows;  // what precedes each of its windows, and after the last all there is
    const void* offsets;    // if the runs are given by them
    u64 segments;           // and how many they give
    const void* leads;      // if the scan is in place: the last segment's length before each window but the first,
    u64 lead_count;         // so many, as they lie in memory
    Inits<S> inits;
};

enum : u32 { SEGMENTED_THREADS = 256 };

// What ends in a step, of the run that enters it, in one word.
struct Ends {
    u32 bits;
    enum : u32 { WHOLE = 1, RUN = 2, NEXT = 4, EARLY = 8, ROW = 16 };

    __device__ __forceinline__ bool whole() const { return bits & WHOLE; }  // the row that enters, as a whole one
    __device__ __forceinline__ bool run() const { return bits & RUN; }      // the run,
    __device__ __forceinline__ bool next() const { return bits & NEXT; }    // in the row after that
    __device__ __forceinline__ bool early() const { return bits & EARLY; }  // it entered the window too
    __device__ __forceinline__ u32 row() const { return bits / ROW; }       // which row of the run enters
    __device__ __forceinline__ bool segment() const {
        return whole() && row() % ROWS_PER_SEGMENT == ROWS_PER_SEGMENT - 1;
    }
};

template <class S>
struct alignas(16) SegmentedShared {
    typedef WindowShape<S> W;
    typedef typename S::Op::Element A;

    Stage<S> stage;
    Barrier landed;
    A row[W::LEAD + W::ROWS];  // the total of the row that ends in each step, those before the window first
    A segment[W::ROWS];        // of the segment that does
    A last[W::ROWS];           // the Kogge–Stone value of the last chunk of the run that does
    u64 number[W::ROWS];       // and which run that is
    Ends ends[W::ROWS];
    Maybe<A> base[2];          // what precedes the early run's segments: in its first tile here, in the next
    u32 split;                 // how many segments of the first tile end here, at most
    // Of each warp: 1 + where its last head is, or 0; how many; whether a segment ends.
    u32 last_head[W::WARPS], heads[W::WARPS], segment_ends[W::WARPS];
    // What is kept from one way to the other: the Kogge–Stone values, of the step before each share too, and cells.
    A value[W::WARPS * (1 + W::STEPS) * LANES];
    u32 cell[W::ROWS * LANES];
};

// A window at work, as one warp sees it.
template <class S>
struct SegmentedScan {
    typedef typename S::Op Op;
    typedef typename Op::Element A;
    typedef typename S::Input Input;
    typedef typename S::Output Output;
    typedef WindowShape<S> W;
    static constexpr u32 E = W::E, STEPS = W::STEPS;

    SegmentedShared<S>& shared;
    const SegmentedArguments<S>& arguments;
    u64 start;
    u32 warp, lane;
    u64 run;          // where the run starts that has the position before the window
    Standing early;   // that run, as it enters the window,
    u64 early_row;    // and its row that does
    Standing standing;             // the run that enters this warp's share
    u32 heads_before;              // in this window


    __device__ __forceinline__ SegmentedScan(SegmentedShared<S>& shared, const SegmentedArguments<S>& arguments)
        : shared(shared), arguments(arguments), start((u64)block_index() * W::WINDOW), warp(thread_index() / LANES),
          lane(thread_index() % LANES) {}

    // ---- whose number ----

    __device__ __forceinline__ bool numbered() const { return arguments.inits.kind == INITS_EACH || arguments.inits.totals; }
    // The number, in the order of memory, of the run that holds this position and has so many before it.
    __device__ __forceinline__ u64 number_of(u64 runs_before, u64 position) const {
        if constexpr (S::OFFSET_BYTES == 0) {
            u64 all = arguments.windows[(arguments.length + W::MARKED - 1) / W::MARKED].heads;
            return S::REVERSE ? all - 1 - runs_before : runs_before;
        }
        // The last segment that starts at its element or before: those that start there too are empty.
        u64 element = S::REVERSE ? arguments.length - 1 - position : position, low = 0, high = arguments.segments;
        while (high - low > 1) {
            u64 middle = low + (high - low) / 2;
            if (offset(middle) <= element) low = middle;
            else high = middle;
        }
        return low;
    }
    __device__ __forceinline__ u64 offset(u64 segment) const {
        if constexpr (S::OFFSET_BYTES == 8) return ((const u64*)arguments.offsets)[segment];
        else return ((const u32*)arguments.offsets)[segment];
    }
    __device__ __forceinline__ const Window& marked() const { return arguments.windows[block_index() * (u64)W::PARTS]; }
    // What precedes the run that has so many before it in this window and holds this position of it.
    __device__ __forceinline__ Maybe<A> init_of(u32 runs_before, u32 position) const {
        bool each = arguments.inits.kind == INITS_EACH;
        if (each && start + position >= arguments.length) return {A(), false};
        return arguments.inits.of(each ? number_of(marked().heads + runs_before, start + position) : 0);
    }
    __device__ __forceinline__ u64 number_early() const { return number_of(marked().heads - 1, start - 1); }
    __device__ __forceinline__ Maybe<A> init_early() const {
        return arguments.inits.of(arguments.inits.kind == INITS_EACH ? number_early() : 0);
    }
    // How many heads the lanes before have.
    __device__ __forceinline__ u32 heads_below(u32 heads) const {
        u32 below = 0;
#pragma unroll
        for (u32 e = 0; e < E; e++) below += count_bits(lanes_where(heads >> e & 1) & ((1u << lane) - 1));
        return below;
    }

    // ---- elements ----

    // Whether elements go on behind the window.
    __device__ __forceinline__ bool inside() const { return arguments.length - start > W::WINDOW; }

    // The last segment's length before the window, where nobody overwrites it.
    __device__ __forceinline__ Span<Input> lead() const {
        u64 from = start - W::SEGMENT, place = S::REVERSE ? arguments.lead_count - block_index() : block_index() - 1;
        if (arguments.leads) return {(u8*)arguments.leads + place * W::SEGMENT * sizeof(Input), W::SEGMENT};
        return span_of<Input, S::REVERSE>(arguments.input, arguments.length, from, W::SEGMENT);
    }
    // Begins to copy the warp's share, and what lies before the window.
    __device__ __forceinline__ void load() const {
        Span<Input> span = span_of<Input, S::REVERSE>(arguments.input, arguments.length, start, W::WINDOW);
        shared.stage.load(span, is_whole(span, W::WINDOW), warp * STEPS, STEPS, 1 + warp * STEPS, lane);
        if (warp > 0 || start == 0) return;
        Span<Input> before = lead();
        shared.stage.load(before, is_whole(before, W::SEGMENT), ROWS_PER_SEGMENT - 1, 1, 0, lane);
    }
    // The places of what is kept of a step of the share, where the one before is the first.
    __device__ __forceinline__ A& value_at(u32 step) const {
        return shared.value[(warp * (1 + STEPS) + step) * LANES + lane];
    }
    __device__ __forceinline__ u32& cell_at(u32 step) const { return shared.cell[(warp * STEPS + step) * LANES + lane]; }

    // ---- where runs stand ----

    // A run that starts so many positions before the window.
    __device__ __forceinline__ void find_early() {
        u64 last = marked().last, here = start / E;
        run = last > 0 ? last - 1 : 0;
        u64 cells = run / E;
        early = {(u32)(cells % LANES), (u32)(run % E), 0, start > 0};
        early_row = start > 0 ? here / LANES - 1 - cells / LANES : 0;
        early.row = (u32)early_row;
    }
    // Reads the share's heads, and tells the other warps of them.
    __device__ __forceinline__ void note_heads() const {
        u32 heads[STEPS];
        u64 first = start + (u64)(warp * STEPS * LANES + lane) * E;
        read_heads<E>(arguments.heads, first, arguments.length, inside(), heads);
#pragma unroll
        for (u32 j = 0; j < STEPS; j++) cell_at(j) = heads[j];
        u32 last = 0, count = 0;
#pragma unroll
        for (u32 j = STEPS; j-- > 0;) {
            u32 with = lanes_where(heads[j] != 0), of = highest_bit(with);
            if (with == 0) continue;
            last = ((warp * STEPS + j) * LANES + of) * E + highest_bit(shuffle(heads[j], of)) + 1;
            break;
        }
        if (numbered()) {
#pragma unroll
            for (u32 j = 0; j < STEPS; j++) count += count_bits(heads[j]);
#pragma unroll
            for (u32 stride = 1; stride < LANES; stride *= 2) count += shuffle_xor(count, stride);
        }
        if (lane > 0) return;
        shared.last_head[warp] = last;
        shared.heads[warp] = count;
        shared.segment_ends[warp] = 0;
    }
    __device__ __forceinline__ void find_standing() {
        u32 last = 0;
        heads_before = 0;
#pragma unroll
        for (u32 w = 0; w + 1 < W::WARPS; w++) {
            u32 seen = w < warp ? shared.last_head[w] : 0;
            if (seen) last = seen;
        }
        if (numbered())
            for (u32 w = 0; w < warp; w++) heads_before += shared.heads[w];
        u32 first = warp * STEPS, cells = (last - 1) / E;
        if (last) standing = {cells % LANES, (last - 1) % E, first - 1 - cells / LANES, false};
        else standing = {early.lane, early.phase, early.row + first, early.early};
    }

    // ---- the first way ----

    __device__ __forceinline__ void reduce() const {
        if (arguments.inits.totals) reduce_steps<true>();
        else reduce_steps<false>();
        reduce_lead();
    }
    // The step before the share, as far as the row goes that enters it.
    __device__ __forceinline__ Cell cell_before() const {
        return {0, standing.phase, (lane - standing.lane) % LANES, true};
    }
    template <bool TOTALS>
    __device__ __forceinline__ void reduce_steps() const {
        Passing<A> passing = {};
        Standing at = standing;
        u32 runs = heads_before;
        A cut = A();
        value_at(0) = CellValues<S>::template of<PLAIN, false>(shared.stage.read(warp * STEPS, lane), cell_before(), passing, lane, cut);
#pragma unroll 1
        for (u32 j = 0; j < STEPS; j++) {
            u32 way = TOTALS ? ANY_PHASE : way_of<E>(cell_at(j), at.phase);
            if (way == IN_PHASE) reduce_step<IN_PHASE, false>(j, at, passing, runs);
            else if (way == PLAIN) reduce_step<PLAIN, false>(j, at, passing, runs);
            else reduce_step<ANY_PHASE, TOTALS>(j, at, passing, runs);
        }
    }
    template <u32 WAY, bool TOTALS>
    __device__ __forceinline__ void reduce_step(u32 j, Standing& at, Passing<A>& passing, u32& runs) const {
        u32 heads = cell_at(j), step = warp * STEPS + j;
        Standing entering = at;
        A cut = A();
        Cell here = Cell::of<WAY>(heads, at, lane);
        InputChunk<S> input = shared.stage.read(1 + step, lane);
        A value = CellValues<S>::template of<WAY, TOTALS>(input, here, passing, lane, cut);
        value_at(1 + j) = value;
        cell_at(j) = here.packed(entering.lane);
        bool ends = TOTALS && lanes_where(here.entered && heads != 0) != 0;
        note_row(here, entering, step, ends, value);
        if (!TOTALS) return;
        u32 below = heads_below(heads);
        sync_warp();
        put_totals(here, entering, step, runs + below, input, choose(here.chunk_ends_late(), cut, value));
        runs += shuffle(below + count_bits(heads), LANES - 1);
    }
    // Notes the row that ends in a step.
    __device__ __forceinline__ void note_row(const Cell& here, const Standing& at, u32 step, bool run_ends, const A& value) const {
        bool whole = here.entered && !here.ends_early();
        if (!inside()) whole = whole && start + (step * LANES + at.lane) * E + at.phase <= arguments.length;
        if (lane != at.lane) return;
        Ends ends = {at.row * Ends::ROW | (at.early ? Ends::EARLY : 0) | (run_ends ? Ends::RUN : 0) | (whole ? Ends::WHOLE : 0)};
        shared.ends[step] = ends;
        shared.row[W::LEAD + step] = value;
        if (ends.segment()) shared.segment_ends[warp] = 1;
    }
    // The totals of the runs that end in this cell, from the number of heads before it and the Kogge–Stone
    // value of the last chunk of the run that enters. One that entered the step has to wait for its rows.
    __device__ __forceinline__ void put_totals(const Cell& here, const Standing& at, u32 step, u32 runs,
                                               const InputChunk<S>& input, const A& last) const {
        if (here.heads == 0) return;
        u32 position = (step * LANES + lane) * E, from = lowest_bit(here.heads);
        if (here.entered) {
            if (start + position + from == 0) {
                shared.ends[step].bits &= ~(u32)Ends::RUN;
            } else {
                shared.last[step] = last;
                shared.number[step] = number_of(marked().heads + runs - 1, start + position + from - 1);
                if (lane > at.lane || (lane == at.lane && here.chunk_ends_late())) shared.ends[step].bits |= Ends::NEXT;
            }
        } else {
            put_total(runs - 1, position + from - 1, last);
        }
        // Those that begin here as well.
        for (u32 rest = here.heads & (here.heads - 1); rest; rest &= rest - 1) {
            u32 end = lowest_bit(rest);
            put_total(runs++, position + end - 1, CellValues<S>::between(input, from, end));
            from = end;
        }
    }
    __device__ __forceinline__ void put_total(u32 runs_before, u32 position, const A& value) const {
        u64 number = number_of(marked().heads + runs_before, start + position);
        arguments.inits.put_total(number, join<Op>(arguments.inits.of(number), value));
    }
    // Rows before the window of the segment that enters it, a row a warp.
    __device__ __forceinline__ void reduce_lead() const {
        u32 rows = early.row % ROWS_PER_SEGMENT, place = W::LEAD - 1 - warp;
        if (!early.early || warp >= rows) return;
        Span<Input> span = lead();
        if (!S::REVERSE) span.bytes += early.phase * sizeof(Input);
        span.count -= early.phase;
        u32 index = place * LANES + early.lane + lane;
        InputChunk<S> chunk = read_chunk<Input, S::REVERSE, false, FromGlobal>(span, index);
        A value = S::Fold::template of<false>(chunk, E);
        A total = value_of_lane(kogge_stone<Op>(value, lane, LANES), LANES - 1);
        if (lane == 0) shared.row[place] = total;
    }

    // ---- what precedes rows ----

    // `before`, then so many rows, the last of which ends in the step before this.
    __device__ __forceinline__ Maybe<A> join_rows(Maybe<A> before, u32 rows, u32 step) const {
        for (u32 place = W::LEAD + step - rows; place < W::LEAD + step; place++) before = join<Op>(before, shared.row[place]);
        return before;
    }
    // `before`, then segments `from` to `end` of those that end in the window, the first in step `first`.
    __device__ __forceinline__ Maybe<A> join_segments(Maybe<A> before, u32 first, u32 from, u32 end) const {
        for (; from < end; from++) before = join<Op>(before, shared.segment[first + from * ROWS_PER_SEGMENT]);
        return before;
    }
    // The step in which the early run's first segment ends.
    __device__ __forceinline__ u32 early_segment() const { return ROWS_PER_SEGMENT - 1 - early.row % ROWS_PER_SEGMENT; }

    // Whether the early run's elements, or its total, wait for other windows.
    __device__ __forceinline__ bool awaits_others() const {
        if (!early.early || early_row < ROWS_PER_SEGMENT) return false;
        return arguments.inits.totals || (start < arguments.length && !(arguments.heads[start / 32] & 1));
    }
    // What this window and those before tell each other, by one warp.
    __device__ __forceinline__ void tell(bool awaits) const {
        RunSlots<S> slots(arguments.workspace, arguments.length);
        sum_segments(slots);
        u32 step = early_segment() + lane * ROWS_PER_SEGMENT;
        bool mine = early.early && step < W::ROWS && shared.ends[step].early() && shared.ends[step].segment();
        u32 whole = count_bits(lanes_where(mine));
        if (awaits || whole > 0) exchange(slots, whole);
        else if (lane == 0) {
            shared.base[0] = early.early ? init_early() : Maybe<A>{A(), false};
            shared.split = SEGMENTS_PER_TILE + 1;
        }
    }
    // The totals of segments that end here; tells those of the run that has the window's last position.
    __device__ __forceinline__ void sum_segments(const RunSlots<S>& slots) const {
        u32 last = 0;
        for (u32 w = 0; w < W::WARPS; w++)
            if (shared.last_head[w]) last = shared.last_head[w];
        u32 cells = (last - 1) / E, since = last ? cells / LANES : 0;
        u32 row_start = last ? cells % LANES * E + (last - 1) % E : early.lane * E + early.phase;
        for (u32 step = lane; step < W::ROWS; step += LANES) {
            Ends ends = shared.ends[step];
            if (!ends.segment()) continue;
            A total = join_rows({A(), false}, ROWS_PER_SEGMENT, step + 1).value;
            shared.segment[step] = total;
            bool leaves = last ? !ends.early() && step - ends.row() - 1 == since : ends.early();
            if (leaves) slots.publish(slots.of_segment(start + step * W::ROW + row_start - W::SEGMENT), total);
        }
        sync_warp();
    }

    // What precedes the early run's segments, told by the blocks before, and what they and its `whole` ones
    // that end here make whole; by one warp.
    __device__ __forceinline__ void exchange(const RunSlots<S>& slots, u32 whole) const {
        u64 segment = early_row / ROWS_PER_SEGMENT, tile = segment / SEGMENTS_PER_TILE;
        u64 block = tile / TILES_PER_BLOCK, tile_start = run + tile * slots.TILE, block_start = run + block * slots.BLOCK;
        u32 done = (u32)(segment % SEGMENTS_PER_TILE), tiles = (u32)(tile % TILES_PER_BLOCK), rest = SEGMENTS_PER_TILE - done;
        bool complete = whole >= rest;

        A earlier = A();
        if (lane < done) earlier = slots.await(slots.of_segment(tile_start + lane * slots.SEGMENT));
        Maybe<A> through = {A(), false};
        for (u32 i = 0; i < done; i++) through = join<Op>(through, value_of_lane(earlier, i));
        Maybe<A> in_tile = through;
        through = join_segments(through, early_segment(), 0, complete ? rest : whole);
        if (complete && lane == 0) slots.publish(slots.of_tile(tile_start), through.value);

        A before = A();
        if (lane < tiles) before = slots.await(slots.of_tile(block_start + lane * slots.TILE));
        A stepped = kogge_stone<Op>(lane == tiles && complete ? through.value : before, lane, tiles + complete);
        bool ends_block = complete && tiles == TILES_PER_BLOCK - 1;
        if (ends_block && lane == LANES - 1) slots.publish(slots.of_block(block_start), stepped);
        Maybe<A> blocks = init_early();
        if (block > 0) blocks = {slots.fold_of_blocks(run, block, lane), true};
        Maybe<A> first = blocks, next = join<Op>(blocks, value_of_lane(stepped, tiles));
        if (ends_block && lane == 0) slots.publish(slots.of_fold(block_start), next.value);
        if (tiles > 0) first = join<Op>(blocks, value_of_lane(stepped, (tiles - 1) % LANES));
        for (u32 i = 0; i < done; i++) first = join<Op>(first, value_of_lane(earlier, i));
        if (lane == 0) {
            shared.base[0] = first;
            shared.base[1] = next;
            shared.split = rest;
        }
        if (arguments.inits.totals) total_early(in_tile, rest, before, stepped, tiles, blocks);
    }
    // The total of the early run, if it ends here: its last tile, cut short, in its block.
    __device__ __forceinline__ void total_early(const Maybe<A>& in_tile, u32 rest, const A& before, const A& stepped,
                                                u32 tiles, const Maybe<A>& blocks) const {
        u32 step = NOWHERE;
        for (u32 first = 0; first < W::ROWS && step == NOWHERE; first += LANES) {
            bool ends = first + lane < W::ROWS && shared.ends[first + lane].early() && shared.ends[first + lane].run();
            u32 where = lanes_where(ends);
            if (where) step = first + lowest_bit(where);
        }
        if (step == NOWHERE) return;
        // Rows since the first segment began that ends here.
        u32 rows = early.row % ROWS_PER_SEGMENT + step + shared.ends[step].next(), segments = rows / ROWS_PER_SEGMENT;
        u32 in_segment = rows % ROWS_PER_SEGMENT;
        bool in_next = segments >= rest;
        Maybe<A> segment_total = join<Op>(join_rows({A(), false}, in_segment, step + shared.ends[step].next()), shared.last[step]);
        Maybe<A> tile = in_next ? Maybe<A>{A(), false} : in_tile;
        tile = join<Op>(join_segments(tile, early_segment(), in_next ? rest : 0, segments), segment_total.value);
        Maybe<A> total;
        if (in_next && tiles == TILES_PER_BLOCK - 1) {
            total = join<Op>(join<Op>(blocks, value_of_lane(stepped, LANES - 1)), tile.value);
        } else {
            // The totals of the tiles before in the block: those told, and the one made whole here.
            u32 place = in_next ? tiles + 1 : tiles;
            Maybe<A> made = in_next ? join_segments(in_tile, early_segment(), 0, rest) : tile;
            A value = lane == tiles ? made.value : before;
            if (lane == place) value = tile.value;
            total = join<Op>(blocks, value_of_lane(kogge_stone<Op>(value, lane, place + 1), place));
        }
        if (lane == 0) arguments.inits.put_total(shared.number[step], total);
    }
    // The total of the run that enters a step and ends in it, if no other window knows of its segments; a thread
    // a step. Such a run has no whole tile.
    __device__ __forceinline__ void total_of_step(u32 step, bool told) const {
        if (step >= W::ROWS) return;
        Ends ends = shared.ends[step];
        if (!ends.run() || (ends.early() && told && shared.split <= SEGMENTS_PER_TILE)) return;
        u32 rows = ends.row() + ends.next(), segments = rows / ROWS_PER_SEGMENT;
        u32 first = ends.early() ? early_segment() : step - ends.row() - 1 + ROWS_PER_SEGMENT;
        Maybe<A> segment = join_rows({A(), false}, rows % ROWS_PER_SEGMENT, step + ends.next());
        segment = join<Op>(segment, shared.last[step]);
        Maybe<A> tile = join<Op>(join_segments({A(), false}, first, 0, segments), segment.value);
        arguments.inits.put_total(shared.number[step], join<Op>(arguments.inits.of(shared.number[step]), tile.value));
    }

    // ---- the second way ----

    // What precedes the segment, and the row, of the run that enters the share.
    struct Prefix {
        Maybe<A> segment, row;
    };
    __device__ __forceinline__ Prefix prefix_of_share(bool told) const {
        u32 step = warp * STEPS, first, segments, from = 0;
        Maybe<A> before;
        if (standing.early) {
            first = early_segment();
            segments = (early.row % ROWS_PER_SEGMENT + step) / ROWS_PER_SEGMENT;
            before = told ? shared.base[0] : init_early();
            if (told && segments >= shared.split) {
                before = shared.base[1];
                from = shared.split;
            }
        } else {
            first = step - 1 - standing.row + ROWS_PER_SEGMENT;
            segments = standing.row / ROWS_PER_SEGMENT;
            before = {A(), false};
            if (step > 0) before = init_of(heads_before - 1, step * W::ROW - 1);
        }
        before = join_segments(before, first, from, segments);
        return {before, join_rows(before, standing.row % ROWS_PER_SEGMENT, step)};
    }
    // What precedes the next row, once the one that enters a step has ended.
    __device__ __forceinline__ void pass_row(Prefix& prefix, const Standing& at, u32 step, const A& row, bool told) const {
        prefix.row = {choose(prefix.row.exists, Op::combine(prefix.row.value, row), row), true};
        if (at.row % ROWS_PER_SEGMENT < ROWS_PER_SEGMENT - 1 || !told) return;
        u32 segments = (early.row % ROWS_PER_SEGMENT + step + 1) / ROWS_PER_SEGMENT;
        if (at.early && segments == shared.split) prefix.segment = shared.base[1];
        else prefix.segment = join<Op>(prefix.segment, shared.segment[step]);
        prefix.row = prefix.segment;
    }
    // What precedes the chunk that begins at a cell's phase, from what precedes its row.
    static __device__ __forceinline__ A before_chunk(const Maybe<A>& row, const Cell& here, const A& value) {
        A joined = choose(here.chunk == 0, row.value, Op::combine(row.value, value));
        return choose(row.exists, joined, value);
    }
    // A cell's values, as far as they don't belong to the chunk that enters it; gives the last one's fold.
    template <u32 WAY, bool INIT>
    __device__ __forceinline__ A scan_chunks(A (&out)[E], const InputChunk<S>& input, const Cell& here, A running,
                                             const A (&init)[INIT ? E : 1]) const {
        u32 starts = here.starts<WAY>();
        A prefix = running;
#pragma unroll
        for (u32 e = 0; e < E; e++) {
            A element = widened<A, false>(input, e);
            bool head = WAY == ANY_PHASE || (WAY == IN_PHASE && e == 0) ? here.heads >> e & 1 : false;
            if (e > 0 && WAY != IN_PHASE) running = choose(starts >> e & 1, prefix, running);
            if (INIT) running = choose(head, init[INIT ? e : 0], running);
            out[e] = INIT ? running : choose(head, Op::identity(), running);
            running = Op::combine(running, element);
            if (!INIT) running = choose(head, element, running);
            if (!S::EXCLUSIVE) out[e] = running;
        }
        return running;
    }
    // What goes along with the second way.
    struct Going {
        Prefix prefix;
        Standing at;
        Maybe<A> first;  // what precedes the last run that began
        A passed;        // the fold of the chunk that enters the step
        u32 runs;
    };
    template <bool INIT>
    __device__ __forceinline__ void scan(bool told) const {
        bool each = INIT && arguments.inits.kind == INITS_EACH;
        Going going = {prefix_of_share(told), standing, {A(), INIT}, A(), heads_before};
        if (INIT && !each) going.first = arguments.inits.of(0);
        A out[E];
        const A none[1] = {};
        // The chunk that enters the share.
        Cell whole = cell_before();
        A running = before_chunk(going.prefix.row, whole, value_at(0));
        InputChunk<S> input = shared.stage.read(warp * STEPS, lane);
        if (standing.row == 0 && lane == standing.lane && !going.prefix.row.exists) whole.heads = 1u << whole.phase;
        running = scan_chunks<ANY_PHASE, false>(out, input, whole, running, none);
        going.passed = value_of_lane(running, LANES - 1);
        Span<Output> span = span_of<Output, S::REVERSE>(arguments.output, arguments.length, start, W::WINDOW);
        CellWriter<Output, E, S::REVERSE> writer(span, W::WINDOW);
#pragma unroll 1
        for (u32 j = 0; j < STEPS; j++) {
            Cell here = Cell::of_packed(cell_at(j));
            u32 way = way_of<E>(here.heads, here.phase);
            if (way == IN_PHASE) scan_step<IN_PHASE, INIT>(out, j, here, going, told, each);
            else if (way == PLAIN) scan_step<PLAIN, INIT>(out, j, here, going, told, each);
            else scan_step<ANY_PHASE, INIT>(out, j, here, going, told, each);
            writer.write((warp * STEPS + j) * LANES + lane, narrowed<Output>(out), lane, j == 0, j + 1 == STEPS);
        }
    }
    // The values of a step.
    template <u32 WAY, bool INIT>
    __device__ __forceinline__ void scan_step(A (&out)[E], u32 j, const Cell& here, Going& going, bool told, bool each) const {
        InputChunk<S> input = shared.stage.read(1 + warp * STEPS + j, lane);
        A value = value_at(1 + j), init[INIT ? E : 1];
        Maybe<A> entering = going.prefix.row, begun = going.first;
        Standing& at = going.at;
        at.lane = Cell::rows_of_packed(cell_at(j));
#pragma unroll
        for (u32 e = 0; INIT && e < E; e++) init[INIT ? e : 0] = going.first.value;
        pass_row(going.prefix, at, warp * STEPS + j, value_of_lane(value, at.lane), told);
        if (INIT && each && WAY != PLAIN) {
            u32 below = heads_below(here.heads), position = ((warp * STEPS + j) * LANES + lane) * E;
            A last = A();
            for (u32 rest = here.heads, k = going.runs + below; rest; rest &= rest - 1, k++) {
                u32 place = lowest_bit(rest);
                last = init_of(k, position + place).value;
#pragma unroll
                for (u32 e = 0; e < E; e++) init[INIT ? e : 0] = choose(e == place, last, init[INIT ? e : 0]);
            }
            u32 with = lanes_where(here.heads != 0);
            begun.value = value_of_lane(last, lane - here.chunk);
            last = value_of_lane(last, with ? highest_bit(with) : 0);
            if (with) going.first.value = last;
            going.runs += shuffle(below + count_bits(here.heads), LANES - 1);
        }
        if (WAY == PLAIN || here.entered) begun = lane >= at.lane ? going.prefix.row : entering;
        A running = scan_chunks<WAY, INIT>(out, input, here, before_chunk(begun, here, value), init);
        A turned = value_of_lane(running, lane + LANES - 1), rest = choose(lane > 0, turned, going.passed);
        going.passed = turned;
        u32 starts = WAY == PLAIN ? here.phase : lowest_bit(here.starts<WAY>());
#pragma unroll
        for (u32 e = 0; e + 1 < E && WAY != IN_PHASE; e++) {
            A through = Op::combine(rest, widened<A, false>(input, e));
            out[e] = choose(e < starts, S::EXCLUSIVE ? rest : through, out[e]);
            rest = through;
        }
        at.row++;
        if (WAY == PLAIN || !lanes_where(here.heads != 0)) return;
        going.prefix = {going.first, going.first};
        at.row = 0;
        at.early = false;
    }

    // ---- all of it ----

    __device__ __forceinline__ void run_window() {
        if (thread_index() == 0) barrier_init(&shared.landed, SEGMENTED_THREADS);
        load();
        find_early();
        note_heads();
        sync_block();
        async_arrive(&shared.landed);
        find_standing();
        barrier_wait(&shared.landed, 0);
        reduce();
        sync_block();
        bool awaits = awaits_others(), told = awaits;
#pragma unroll
        for (u32 w = 0; w < W::WARPS; w++) told |= shared.segment_ends[w] != 0;
        if (told) {
            if (warp == 0) tell(awaits);
            sync_block();
        }
        if (arguments.inits.totals) total_of_step(thread_index(), told);
        if (arguments.inits.kind == INITS_NONE) scan<false>(told);
        else scan<true>(told);
    }
};

// The totals of segments without elements, which no window meets.
template <class S>
KOGGE_DEVICE void put_empty_totals(const SegmentedScan<S>& scan) {
    const SegmentedArguments<S>& arguments = scan.arguments;
    u64 stride = (u64)block_count() * SEGMENTED_THREADS;
    for (u64 i = (u64)block_index() * SEGMENTED_THREADS + thread_index(); i < arguments.segments; i += stride)
        if (scan.offset(i) >= scan.offset(i + 1)) arguments.inits.put_total(i, arguments.inits.of(i));
}

template <class S>
KOGGE_DEVICE void segmented_scan(const SegmentedArguments<S>& arguments) {
    SegmentedScan<S> scan(*(SegmentedShared<S>*)shared_memory(), arguments);
    if (arguments.length > 0) scan.run_window();
    if constexpr (S::OFFSET_BYTES > 0)
        if (arguments.inits.totals) put_empty_totals(scan);
}
