// The scan of runs that lie one after another, each by itself: one thread block a window of positions.
//
// Twice a warp goes along the list of the window's chunks, a lane a chunk: first for the Kogge–Stone value
// of each chunk and the totals of rows, then, once what precedes each row is known, for the elements'
// values. A row may begin at any lane: a lane then takes what is left of it from the step before. So a
// window costs the same whether one run covers it or hundreds do.
//
// Only the run that enters the window has anything to do with other blocks. A block waits for blocks of
// lower index only, so they need not all be resident.

template <class S>
struct SegmentedArguments {
    const void* input;
    void* output;
    u64 length;
    Workspace* workspace;
    const u32* heads;       // the mask that heads.cuh makes
    const Window* windows;  // what precedes each window, and after the last all there is
    const void* offsets;    // if the runs are given by them
    u64 segments;           // and how many they give
    Inits<S> inits;
};

template <class S>
struct alignas(16) SegmentedShared {
    typedef WindowShape<S> W;
    typedef typename S::Op::Element A;
    typedef Stage<typename S::Input, S::REVERSE, W::REACH> In;
    typedef Stage<typename S::Output, S::REVERSE, W::REACH> Out;
    // Whether values take the places of their elements.
    static constexpr bool REUSED = sizeof(typename S::Input) == sizeof(typename S::Output) && sizeof(typename S::Input) % 4 == 0;

    u8 input[In::BYTES];
    u8 output[REUSED ? 16 : Out::BYTES];
    Barrier landed;
    A value[W::CAPACITY];  // the Kogge–Stone value of each listed chunk
    A row[W::ROWS];        // the totals of whole rows
    A segment[W::SEGMENTS];
    A before[W::ROWS];     // what precedes a row that follows a whole one
    A entering_value;      // the Kogge–Stone value of the entering run's last chunk,
    Entry entering_last;   // and that chunk, if it is here
    Maybe<A> base[2];      // what precedes the entering run's segments: in its first tile here, in the next
    u32 split;             // how many segments of the first tile are here, at most
    Entry row_after[W::ROWS];         // the first chunk of a row that follows a whole one
    Entry last_of_segment[W::SEGMENTS];  // the last chunk of a whole segment
    ListShared<S> list;
};

// A window at work.
template <class S>
struct SegmentedScan {
    typedef typename S::Op Op;
    typedef typename Op::Element A;
    typedef typename S::Input Input;
    typedef typename S::Output Output;
    typedef WindowShape<S> W;
    typedef SegmentedShared<S> Shared;
    static constexpr u32 E = W::E;

    Shared& shared;
    const SegmentedArguments<S>& arguments;
    u64 start;
    typename Shared::In in;
    typename Shared::Out out;
    Runs<S> runs;
    u32 warp, lane;

    __device__ __forceinline__ SegmentedScan(Shared& shared, const SegmentedArguments<S>& arguments)
        : shared(shared), arguments(arguments), start((u64)block_index() * W::WINDOW),
          in(arguments.input, arguments.length, start, shared.input),
          out(arguments.output, arguments.length, start, Shared::REUSED ? shared.input : shared.output),
          warp(thread_index() / LANES), lane(thread_index() % LANES) {
        if (Shared::REUSED) out.local = in.local;
    }

    // ---- whose number ----

    // The number of the run that starts at this position of the window, in the order of memory.
    __device__ __forceinline__ u64 number_at(u32 position) const {
        u32 word = position / 32;
        u64 before = arguments.windows[block_index()].heads + shared.list.heads_before[word] +
                     count_bits(shared.list.words[word] & (1u << position % 32) - 1);
        return number_of(before, start + position);
    }
    // The number of the run that holds the window's first position.
    __device__ __forceinline__ u64 number_entering() const {
        return number_of(arguments.windows[block_index()].heads - (runs.starts_at ? 0 : 1), start);
    }
    __device__ __forceinline__ u64 number_of(u64 runs_before, u64 position) const {
        if constexpr (S::OFFSET_BYTES == 0) {
            u64 windows = (arguments.length + W::WINDOW - 1) / W::WINDOW;
            return S::REVERSE ? arguments.windows[windows].heads - 1 - runs_before : runs_before;
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
    // What precedes the run that starts at this position; what precedes the entering run.
    __device__ __forceinline__ Maybe<A> init_at(u32 position) const {
        return arguments.inits.of(arguments.inits.kind == INITS_EACH ? number_at(position) : 0);
    }
    __device__ __forceinline__ Maybe<A> init_entering() const {
        return arguments.inits.of(arguments.inits.kind == INITS_EACH ? number_entering() : 0);
    }

    // ---- elements ----

    __device__ __forceinline__ u8* memory_of(u8* local, u32 bytes, u32 position) const {
        return local + (S::REVERSE ? (long long)W::REACH - E - position : (long long)position) * bytes;
    }
    typedef Gather<Input, E> From;
    typedef Gather<Output, E> To;
    __device__ __forceinline__ const u8* source(const Entry& entry) const {
        return memory_of(in.local, sizeof(Input), entry.position());
    }
    __device__ __forceinline__ u8* target(const Entry& entry) const {
        return memory_of(out.local, sizeof(Output), entry.position());
    }
    // Whether every lane has a whole chunk that one access moves.
    static __device__ __forceinline__ bool quads(bool here, const Entry& entry, const u8* at) {
        return all_lanes(here && entry.count() == E && (u64)at % 16 == 0);
    }

    // What can be copied before the mask is known, and the rest.
    __device__ __forceinline__ void load_early() const {
        u64 left = arguments.length - start;
        in.load(W::SEGMENT, left < W::WINDOW ? (u32)left : W::WINDOW, SEGMENTED_THREADS);
    }
    __device__ __forceinline__ void load_rest() {
        in.load(runs.first, runs.end < W::SEGMENT ? runs.end : W::SEGMENT, SEGMENTED_THREADS);
        in.load(W::WINDOW, runs.end, SEGMENTED_THREADS);
        async_arrive(&shared.landed);
    }

    // ---- the first way along the list ----

    // Where warp `w`'s share of the list begins: at the start of a row.
    __device__ __forceinline__ u32 share_start(u32 listed, u32 w) const {
        u32 place = listed * w / SEGMENTED_WARPS;
        return place < listed ? place - Entry{shared.list.list[place]}.chunk_of_row() : listed;
    }
    __device__ __forceinline__ void reduce(u32 listed) {
        u32 stop = share_start(listed, warp + 1);
        Rotation rotation(lane);
        A rotated[5];
#pragma unroll
        for (u32 k = 0; k < 5; k++) rotated[k] = A();
#pragma unroll 1
        for (u32 place = share_start(listed, warp); place < stop; place += LANES) {
            bool here = place + lane < stop;
            Entry entry = {here ? shared.list.list[place + lane] : 0};
            A value = A();
            const u8* from = source(entry);
            if (From::QUAD && quads(here, entry, from)) {
                if constexpr (From::QUAD) value = S::Fold::template of<false>(From::template load_quad<S::REVERSE>(from), E);
            } else if (here) {
                value = S::Fold::template of<false>(From::template load<S::REVERSE>(from, entry.count(), rotation), entry.count());
            }
            // Kogge and Stone, in which what is left of a lane may be a lane of the step before.
#pragma unroll
            for (u32 k = 0; k < 5; k++) {
                u32 stride = 1u << k;
                A turned = value_of_lane(value, lane - stride);
                A left = choose(lane >= stride, turned, rotated[k]);
                rotated[k] = turned;
                value = take_left<Op>(entry.chunk_of_row() >= stride, left, value);
            }
            if (here) note(entry, place + lane, value);
        }
    }
    // Notes what others need of a chunk's Kogge–Stone value.
    __device__ __forceinline__ void note(const Entry& entry, u32 place, const A& value) {
        u32 position = entry.position(), chunk = entry.chunk_of_row();
        shared.value[place] = value;
        if (entry.entering() && entry.last()) {
            shared.entering_last = entry;
            shared.entering_value = value;
        }
        // Only the first and the last chunk of a row.
        if ((chunk + 1) % CHUNKS_PER_ROW > 1) return;
        if (chunk == 0) {
            if (entry.index() > 0) shared.row_after[position / W::ROW] = entry;
        } else if (entry.count() == E) {
            u32 row = position - (CHUNKS_PER_ROW - 1) * E, segment = row - (ROWS_PER_SEGMENT - 1) * W::ROW;
            shared.row[row / W::ROW] = value;
            if (entry.row_of_segment() == ROWS_PER_SEGMENT - 1) shared.last_of_segment[segment / W::SEGMENT] = entry;
        }
    }

    // ---- what precedes rows ----

    // `before`, then the rows from position `row` on that come before position `end`.
    __device__ __forceinline__ Maybe<A> join_rows(Maybe<A> before, u32 row, u32 end) const {
        for (; row < end; row += W::ROW) before = join<Op>(before, shared.row[row / W::ROW]);
        return before;
    }
    // `before`, then the segments from position `segment` on that come before position `end`.
    __device__ __forceinline__ Maybe<A> join_segments(Maybe<A> before, u32 segment, u32 end) const {
        for (; segment < end; segment += W::SEGMENT) before = join<Op>(before, shared.segment[segment / W::SEGMENT]);
        return before;
    }
    // Where the run of a chunk starts, as far as chunks go; where its row and segment do.
    static __device__ __forceinline__ u32 run_start(const Entry& entry) { return entry.position() - entry.index() * E; }
    static __device__ __forceinline__ u32 row_start(const Entry& entry) {
        return entry.position() - entry.chunk_of_row() * E;
    }
    static __device__ __forceinline__ u32 segment_start(const Entry& entry) {
        return entry.position() - entry.index() % CHUNKS_PER_SEGMENT * E;
    }

    // The totals of whole segments, by one warp, which tells those of a run that goes on behind the window.
    __device__ __forceinline__ void sum_segments(const RunSlots<S>& slots, bool single) {
        if (lane < W::SEGMENTS) {
            Entry last = shared.last_of_segment[lane];
            if (last.valid()) {
                u32 segment = segment_start(last);
                A total = SINGLE && single ? shared.segment[lane] : join_rows({A(), false}, segment, segment + W::SEGMENT).value;
                shared.segment[lane] = total;
                if (runs.leaves && segment >= runs.last_base) slots.publish(slots.of_segment(start + segment), total);
            }
        }
        sync_warp();
        // A run that starts here can have a whole first tile; of the entering run's, `exchange` tells.
        bool tile = runs.leaves && !runs.last_entering && runs.last_base + W::SEGMENT * SEGMENTS_PER_TILE <= runs.end;
        if (tile && lane == 0)
            slots.publish(slots.of_tile(start + runs.last_base), join_segments({A(), false}, runs.last_base, runs.end).value);
    }

    // What precedes the entering run's segments, told by the blocks before, and what they and it make
    // whole; by one warp. `run` is where the run starts.
    __device__ __forceinline__ void exchange(const RunSlots<S>& slots, u64 run) {
        u64 segment = (start + runs.entry - run) / W::SEGMENT, tile = segment / SEGMENTS_PER_TILE;
        u64 block = tile / TILES_PER_BLOCK, tile_start = run + tile * slots.TILE, block_start = run + block * slots.BLOCK;
        u32 done = (u32)(segment % SEGMENTS_PER_TILE), tiles = (u32)(tile % TILES_PER_BLOCK), rest = SEGMENTS_PER_TILE - done;
        u32 whole = whole_entering();
        bool complete = whole >= rest;

        A earlier = A();
        if (lane < done) earlier = slots.await(slots.of_segment(tile_start + lane * slots.SEGMENT));
        Maybe<A> through = {A(), false};
        for (u32 i = 0; i < done; i++) through = join<Op>(through, value_of_lane(earlier, i));
        Maybe<A> in_tile = through;
        u32 tile_end = runs.entry + (complete ? rest : whole) * W::SEGMENT;
        through = join_segments(through, runs.entry, tile_end);
        if (complete && lane == 0) slots.publish(slots.of_tile(tile_start), through.value);

        A before = A();
        if (lane < tiles) before = slots.await(slots.of_tile(block_start + lane * slots.TILE));
        A stepped = kogge_stone<Op>(lane == tiles && complete ? through.value : before, lane, tiles + complete);
        bool ends_block = complete && tiles == TILES_PER_BLOCK - 1;
        if (ends_block && lane == LANES - 1) slots.publish(slots.of_block(block_start), stepped);
        Maybe<A> blocks = init_entering();
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
        if (arguments.inits.totals && shared.entering_last.valid()) total_entering(in_tile, rest, before, stepped, tiles, blocks);
    }
    // How many whole segments of the entering run start here.
    __device__ __forceinline__ u32 whole_entering() const {
        bool mine = false;
        if (lane < W::SEGMENTS) mine = shared.last_of_segment[lane].valid() && shared.last_of_segment[lane].entering();
        return count_bits(lanes_where(mine));
    }
    // The total of the entering run, which ends here: its last tile, cut short, in its block.
    __device__ __forceinline__ void total_entering(const Maybe<A>& in_tile, u32 rest, const A& before, const A& stepped,
                                                   u32 tiles, const Maybe<A>& blocks) const {
        Entry last = shared.entering_last;
        bool in_next = last.segment() >= rest;
        u32 segment = segment_start(last), first = in_next ? runs.entry + rest * W::SEGMENT : runs.entry;
        Maybe<A> segment_total = join<Op>(join_rows({A(), false}, segment, row_start(last)), shared.entering_value);
        Maybe<A> tile = in_next ? Maybe<A>{A(), false} : in_tile;
        tile = join<Op>(join_segments(tile, first, segment), segment_total.value);
        Maybe<A> total;
        if (in_next && tiles == TILES_PER_BLOCK - 1) {
            total = join<Op>(join<Op>(blocks, value_of_lane(stepped, LANES - 1)), tile.value);
        } else {
            // The totals of the tiles before in the block: those told, and the one made whole here.
            u32 place = in_next ? tiles + 1 : tiles;
            Maybe<A> made = in_next ? join_segments(in_tile, runs.entry, first) : tile;
            A value = lane == tiles ? made.value : before;
            if (lane == place) value = tile.value;
            total = join<Op>(blocks, value_of_lane(kogge_stone<Op>(value, lane, place + 1), place));
        }
        if (lane == 0) arguments.inits.put_total(number_entering(), total);
    }

    // What precedes the run or segment of a chunk that starts at or before its row.
    __device__ __forceinline__ Maybe<A> base_of(const Entry& entry) const {
        if (!entry.entering()) return join_segments(init_at(run_start(entry)), run_start(entry), segment_start(entry));
        bool in_next = entry.segment() >= shared.split;
        u32 first = runs.entry + (in_next ? shared.split * W::SEGMENT : 0);
        return join_segments(shared.base[in_next], first, segment_start(entry));
    }
    __device__ __forceinline__ void find_before() {
        u32 index = thread_index();
        if (index >= W::ROWS) return;
        Entry entry = shared.row_after[index];
        if (entry.valid()) shared.before[index] = join_rows(base_of(entry), segment_start(entry), entry.position()).value;
    }

    // ---- the second way along the list ----

    __device__ __forceinline__ void scan(u32 listed) {
        Rotation rotation(lane);
        bool first_exists = arguments.inits.kind != INITS_NONE, totals = arguments.inits.totals;
#pragma unroll 1
        for (u32 first = warp * LANES; first < listed; first += SEGMENTED_THREADS) {
            u32 place = first + lane;
            bool here = place < listed;
            Entry entry = {here ? shared.list.list[place] : 0};
            const u8* from = source(entry);
            u8* to = target(entry);
            bool whole = From::QUAD && To::QUAD && quads(here, entry, from);
            if (!Shared::REUSED && whole) whole = quads(here, entry, to);
            if (!here) continue;
            Maybe<A> running = {A(), false};
            if (entry.index() >= CHUNKS_PER_ROW) running = {shared.before[row_start(entry) / W::ROW], true};
            else if (entry.entering()) running = shared.base[0];
            else if (first_exists) running = init_at(run_start(entry));
            if (entry.chunk_of_row() > 0) running = join<Op>(running, shared.value[place - 1]);
            if (whole) {
                if constexpr (From::QUAD && To::QUAD)
                    To::template store_quad<S::REVERSE>(to, scanned<true>(From::template load_quad<S::REVERSE>(from), E, running));
            } else {
                InputChunk<S> input = From::template load<S::REVERSE>(from, entry.count(), rotation);
                To::template store<S::REVERSE>(to, scanned<false>(input, entry.count(), running), entry.count(), rotation);
            }
            if (totals && entry.last() && !entry.entering()) total_of(entry, shared.value[place]);
        }
    }
    // The values of a chunk's elements, from what precedes them.
    template <bool WHOLE>
    static __device__ __forceinline__ OutputChunk<S> scanned(const InputChunk<S>& input, u32 count, Maybe<A> running) {
        A value[E];
#pragma unroll
        for (u32 e = 0; e < E; e++) {
            value[e] = A();
            if (!WHOLE && e >= count) continue;
            Maybe<A> through = join<Op>(running, widened<A, false>(input, e));
            value[e] = S::EXCLUSIVE ? or_identity<Op>(running) : through.value;
            running = through;
        }
        return narrowed<Output>(value);
    }
    // The total of a run that starts and ends here; a tile's, which may be cut short.
    __device__ __forceinline__ void total_of(const Entry& last, const A& value) const {
        u32 run = run_start(last), segment = segment_start(last);
        Maybe<A> segment_total = join<Op>(join_rows({A(), false}, segment, row_start(last)), value);
        Maybe<A> tile = join<Op>(join_segments({A(), false}, run, segment), segment_total.value);
        arguments.inits.put_total(number_at(run), join<Op>(init_at(run), tile.value));
    }

    // ---- a window within one run ----

    // Whether a warp has the registers for a segment: its chunks and their Kogge–Stone values.
    static constexpr bool SINGLE = sizeof(Input) * E <= 16 && sizeof(A) <= 8 && W::WINDOW / W::SEGMENT <= SEGMENTED_WARPS;
    // Whether all segments of the window are whole ones of a run that goes on behind it.
    __device__ __forceinline__ bool is_single() const {
        return SINGLE && runs.last_entering && runs.last_base == runs.entry && runs.leaves && runs.end - runs.first == W::WINDOW;
    }
    // The last chunk of this warp's segment.
    __device__ __forceinline__ Entry last_chunk() const {
        u32 index = (warp + 1) * CHUNKS_PER_SEGMENT - 1;
        return Entry::of(runs.entry + index * E, E, false, index, true);
    }
    // The place of a chunk of this warp's segment in a stage.
    __device__ __forceinline__ u32 position_in_segment(u32 row) const {
        return runs.entry + (warp * CHUNKS_PER_SEGMENT + row * CHUNKS_PER_ROW + lane) * E;
    }
    // A segment a warp, all of it in registers; no list is needed.
    struct Segment {
        InputChunk<S> input[ROWS_PER_SEGMENT];
        A value[ROWS_PER_SEGMENT];
    };
    static __device__ __forceinline__ bool has_segment(u32 warp) { return warp < W::WINDOW / W::SEGMENT; }
    __device__ __forceinline__ void reduce_segment(Segment& segment) {
        if (!has_segment(warp)) return;
        Rotation rotation(lane);
#pragma unroll
        for (u32 j = 0; j < ROWS_PER_SEGMENT; j++) {
            const u8* from = memory_of(in.local, sizeof(Input), position_in_segment(j));
            segment.input[j] = From::template load<S::REVERSE>(from, E, rotation);
            segment.value[j] = S::Fold::template of<false>(segment.input[j], E);
        }
        kogge_stone_rows<Op>(segment.value, lane);
        A total = value_of_lane(segment.value[0], LANES - 1);
#pragma unroll
        for (u32 j = 1; j < ROWS_PER_SEGMENT; j++) total = Op::combine(total, value_of_lane(segment.value[j], LANES - 1));
        if (lane == 0) {
            u32 place = segment_start(last_chunk()) / W::SEGMENT;
            shared.segment[place] = total;
            shared.last_of_segment[place] = last_chunk();
        }
    }
    __device__ __forceinline__ void scan_segment(const Segment& segment) const {
        if (!has_segment(warp)) return;
        Rotation rotation(lane);
        Maybe<A> before = base_of(last_chunk());
#pragma unroll
        for (u32 j = 0; j < ROWS_PER_SEGMENT; j++) {
            OutputChunk<S> output;
            before = scan_row<S, true, false>(before, segment.input[j], E, segment.value[j], LANES, lane, output);
            u8* to = memory_of(out.local, sizeof(Output), position_in_segment(j));
            To::template store<S::REVERSE>(to, output, E, rotation);
        }
    }

    // ---- all of it ----

    __device__ __forceinline__ void clear() {
        u32 index = thread_index();
        if (index < W::ROWS) shared.row_after[index] = {0};
        if (index < W::SEGMENTS) shared.last_of_segment[index] = {0};
        if (index == 0) {
            shared.entering_last = {0};
            barrier_init(&shared.landed, SEGMENTED_THREADS);
        }
    }
    __device__ __forceinline__ void run() {
        clear();
        load_early();
        u64 windows = (arguments.length + W::WINDOW - 1) / W::WINDOW;
        u64 last = arguments.windows[block_index()].last;
        runs.find(shared.list, arguments.heads, windows * W::WORDS, start, arguments.length, last);
        load_rest();
        u64 entering = runs.starts_at ? start : last - 1;
        if (SINGLE && is_single()) scan_single(entering);
        else scan_list(entering);
        sync_block();
        store();
    }
    __device__ __forceinline__ void scan_single(u64 entering) {
        Segment segment;
        barrier_wait(&shared.landed, 0);
        sync_block();
        reduce_segment(segment);
        sync_block();
        if (warp == 0) tell(true, entering);
        sync_block();
        scan_segment(segment);
    }
    // Lists the chunks and goes along them twice. If the list can't hold them all, part after part goes the
    // first way; then each part goes both. One loop, since the text of each step is long.
    __device__ __forceinline__ void scan_list(u64 entering) {
        u32 part = NOWHERE;
        bool told = false;
#pragma unroll 1
        while (true) {
            u32 listed = list_chunks<S>(shared.list, runs, part);
            barrier_wait(&shared.landed, 0);
            sync_block();
            if (listed > W::CAPACITY) {
                part = 0;
                continue;
            }
            reduce(listed);
            sync_block();
            if (!told && (part == NOWHERE || part == W::PARTS - 1)) {
                if (warp == 0) tell(false, entering);
                sync_block();
                find_before();
                sync_block();
                told = true;
                if (part != NOWHERE) {
                    part = 0;
                    continue;
                }
            }
            if (told) scan(listed);
            if (part == NOWHERE || (told && part == W::PARTS - 1)) return;
            part++;
            sync_block();
        }
    }
    // What this window and those before tell each other, by one warp; `run` is where the entering run starts.
    __device__ __forceinline__ void tell(bool single, u64 run) {
        RunSlots<S> slots(arguments.workspace, arguments.length);
        sum_segments(slots, single);
        bool enters = runs.entry == runs.first && (runs.starts_at || !starts_run(runs.entry));
        if (enters && runs.entry < runs.end) exchange(slots, run);
    }
    __device__ __forceinline__ bool starts_run(u32 position) const {
        return shared.list.words[position / 32] >> position % 32 & 1;
    }
    __device__ __forceinline__ void store() const {
        if (runs.first >= runs.end) return;
        if (!Shared::REUSED || (u64)in.global % 16 == (u64)out.global % 16) out.store(runs.first, runs.end, SEGMENTED_THREADS);
        else out.store_elements(out.global, runs.first, runs.end, SEGMENTED_THREADS);
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
    if (scan.start < arguments.length) scan.run();
    if constexpr (S::OFFSET_BYTES > 0)
        if (arguments.inits.totals) put_empty_totals(scan);
}
