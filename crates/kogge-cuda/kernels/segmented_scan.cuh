// The scan of runs that lie one after another, each by itself: one thread block a window of positions, one warp a
// share of it.
//
// Where a run begins, nothing that came before matters. So a warp goes along its share once: of the run that enters it,
// it works out the totals of rows, and those that begin in it it scans at once. Only as far as the first head
// it goes along it again, when what precedes its first row is known. So short runs are read and combined once, and a run
// that covers the share costs no more than the two ways of any scan.
//
// Only a run longer than a segment has anything to do with other windows. A block waits for blocks of lower
// index only, so they need not all be resident.

// What is known of a warp's share, and the ways along it.
template <class S>
struct SegmentedScan {
    typedef typename S::Op Op;
    typedef typename Op::Element A;
    typedef typename S::Input Input;
    typedef typename S::Output Output;
    typedef WindowShape<S> W;
    static constexpr u32 E = W::E, STEPS = W::STEPS;

    SegmentedWindow<S> window;
    SegmentedShared<S>& shared;
    const SegmentedArguments<S>& arguments;
    u32 warp, lane;
    Standing standing;  // the run that enters the share
    u32 heads_before;   // in this window
    u32 plain;          // in how many steps no run begins, up to the first in which one does

    __device__ __forceinline__ SegmentedScan(SegmentedShared<S>& shared, const SegmentedArguments<S>& arguments)
        : window(shared, arguments), shared(shared), arguments(arguments), warp(window.warp), lane(window.lane) {}

    // ---- elements and heads ----

    // The first step of the share, and that behind the last, in which there are positions that don't go in rounds.
    __device__ __forceinline__ u32 first_step(const Cover& cover) const {
        u32 first = cover.first() / W::ROW, share = warp * STEPS;
        return first < share ? 0 : first - share < STEPS ? first - share : STEPS;
    }
    __device__ __forceinline__ u32 end_step(const Cover& cover) const {
        u32 end = (cover.to + W::ROW - 1) / W::ROW, share = warp * STEPS;
        return end < share ? 0 : end - share < STEPS ? end - share : STEPS;
    }
    // Begins to copy the warp's share, and what lies before the window.
    __device__ __forceinline__ void load(const Cover& cover) const {
        Span<Input> span = span_of<Input, S::REVERSE>(arguments.input, arguments.length, window.start, W::WINDOW);
        u32 begin = first_step(cover), end = W::IN_ROUNDS ? end_step(cover) : STEPS, first = warp * STEPS + begin;
        if (begin < end) shared.stage.load(span, is_whole(span, W::WINDOW), first, end - begin, 1 + first, lane);
        if (warp > 0 || window.start == 0 || cover.passes()) return;
        Span<Input> before = window.lead();
        shared.stage.load(before, is_whole(before, W::SEGMENT), ROWS_PER_SEGMENT - 1, 1, 0, lane);
    }
    // Some words of the mask from `first` on, one a lane. Whatever comes last ends with the elements.
    static constexpr u32 WORDS = STEPS * E, PART = words_at_once(WORDS);
    __device__ __forceinline__ u32 mask_word(u64 first) const {
        u64 position = (first + lane) * 32, length = arguments.length;
        u32 word = 0;
        if constexpr (finds_heads<S>())
            word = MarkShare<typename S::Source, S::REVERSE, PART>(arguments.source, length, first * 32, lane).words();
        else if (lane < PART && (window.inside || position < length)) word = arguments.heads[first + lane];
        bool ends = !window.inside && lane < PART && position <= length && length - position < 32;
        return ends ? word | 1u << (length - position) : word;
    }
    // Fetches the share's heads, and tells the other warps of them.
    __device__ __forceinline__ void note_heads() {
        u32 last = 0, count = 0, before = WORDS;
#pragma unroll
        for (u32 first = 0; first < WORDS; first += PART) {
            u32 place = warp * WORDS + first, word = mask_word(window.start / 32 + place);
            if (lane < PART) shared.mask[place + lane] = word;
            u32 with = lanes_where(word != 0), of = with ? highest_bit(with) : 0, bits = shuffle(word, of);
            if (with) last = (place + of) * 32 + highest_bit(bits) + 1;
            if (with && before == WORDS) before = first + lowest_bit(with);
            count += count_bits(word);
        }
        plain = before / E;
        if (window.numbered()) {
#pragma unroll
            for (u32 stride = 1; stride < LANES; stride *= 2) count += shuffle_xor(count, stride);
        }
        if (lane > 0) return;
        shared.last_head[warp] = last;
        shared.heads[warp] = count;
        shared.segment_ends[warp] = 0;
    }
    // The heads of this lane's cell in a step of the share.
    __device__ __forceinline__ u32 heads_at(u32 j) const { return cell_heads<E>(shared.mask + (warp * STEPS + j) * E, lane); }
    // Which run enters the window, as soon as it is known.
    __device__ __forceinline__ void await_early() {
        if constexpr (finds_heads<S>()) {
            barrier_wait(&shared.entered, 0);
            window.find_early(shared.entering);
        }
    }
    // Tells the windows behind this one of its heads, and this one's warps what those before it tell; by one warp.
    __device__ __forceinline__ void exchange_heads(u64 found, u64 epoch) const {
        u32 seen = lane < W::WARPS ? shared.last_head[lane] : 0, with = lanes_where(seen != 0);
        u32 place = shuffle(seen, with ? highest_bit(with) : 0);
        HeadExchange<S> heads(arguments, epoch);
        u64 entering = heads.before(found, with ? window.start + place : 0, lane);
        if (lane == 0) {
            shared.entering = entering;
            shared.epoch = epoch;
        }
        arrive_together(&shared.entered, lane);
        if (lane == 0) heads.end();
    }
    __device__ __forceinline__ void find_standing() {
        u32 seen = lane < warp ? shared.last_head[lane] : 0, with = lanes_where(seen != 0);
        u32 last = with ? shared.last_head[highest_bit(with)] : 0;
        heads_before = 0;
        if (window.numbered())
            for (u32 w = 0; w < warp; w++) heads_before += shared.heads[w];
        u32 first = warp * STEPS, cells = (last - 1) / E;
        const Standing& early = window.early;
        if (last == 0) await_early();
        if (last) standing = {cells % LANES, (last - 1) % E, first - 1 - cells / LANES, false};
        else standing = {early.lane, early.phase, early.row + first, early.early};
    }
    // How many heads the lanes before have.
    __device__ __forceinline__ u32 heads_below(u32 heads) const {
        u32 below = 0;
#pragma unroll
        for (u32 e = 0; e < E; e++) below += count_bits(lanes_where(heads >> e & 1) & ((1u << lane) - 1));
        return below;
    }

    // ---- totals of rows ----

    // The run that enters the share, where it enters step `j` of it, if none begins before.
    __device__ __forceinline__ Standing standing_at(u32 j) const {
        return {standing.lane, standing.phase, standing.row + j, standing.early};
    }
    // The cell of the step before, as far as the row goes that enters such a step; and the Kogge–Stone values there.
    __device__ __forceinline__ Cell cell_before() const {
        return {0, standing.phase, (lane - standing.lane) % LANES, true};
    }
    __device__ __forceinline__ A value_before(u32 j, Passing<A>& passing) const {
        A cut = A();
        return CellValues<S>::template of<PLAIN, false>(shared.stage.read(warp * STEPS + j, lane), cell_before(), passing, lane, cut);
    }
    // Notes the row that ends in a step.
    __device__ __forceinline__ void note_row(const Cell& here, const Standing& at, u32 step, bool run_ends, const A& value) const {
        bool whole = here.entered && !here.ends_early();
        if (!window.inside) whole = whole && window.start + (step * LANES + at.lane) * E + at.phase <= arguments.length;
        if (lane != at.lane) return;
        Ends ends = {at.row * Ends::ROW | (at.early ? Ends::EARLY : 0) | (run_ends ? Ends::RUN : 0) | (whole ? Ends::WHOLE : 0)};
        shared.ends[step] = ends;
        shared.row[W::LEAD + step] = value;
        if (ends.segment()) shared.segment_ends[warp] = 1;
    }
    // Rows before the window of the segment that enters it, a row a warp.
    __device__ __forceinline__ void reduce_lead() const {
        const Standing& early = window.early;
        u32 rows = early.row % ROWS_PER_SEGMENT, place = W::LEAD - 1 - warp;
        if (!early.early || warp >= rows) return;
        Span<Input> span = window.lead();
        if (!S::REVERSE) span.bytes += early.phase * sizeof(Input);
        span.count -= early.phase;
        InputChunk<S> chunk = {};
#pragma unroll
        for (u32 e = 0; e < E; e++) {
            chunk.put(e, load_aligned<Input>(element_at<Input, S::REVERSE>(span, place * LANES + early.lane + lane, e)));
        }
        A value = S::Fold::template of<false>(chunk, E);
        A total = value_of_lane(kogge_stone<Op>(value, lane, LANES), LANES - 1);
        if (lane == 0) shared.row[place] = total;
    }

    // ---- totals of runs ----

    // Totals of rows and of the runs that end in the share.
    __device__ __forceinline__ void put_all_totals() const {
        Passing<A> passing = {};
        Standing at = standing;
        u32 runs = heads_before;
        value_before(0, passing);
#pragma unroll 1
        for (u32 j = 0; j < STEPS; j++) {
            u32 heads = heads_at(j), step = warp * STEPS + j;
            Standing entering = at;
            A cut = A();
            Cell here = Cell::of<ANY_PHASE>(heads, lanes_where(heads != 0), at, lane);
            InputChunk<S> input = shared.stage.read(1 + step, lane);
            A value = CellValues<S>::template of<ANY_PHASE, true>(input, here, passing, lane, cut);
            note_row(here, entering, step, lanes_where(here.entered && heads != 0) != 0, value);
            u32 below = heads_below(heads);
            sync_warp();
            put_totals(here, entering, step, runs + below, input, choose(here.chunk_ends_late(), cut, value));
            runs += shuffle(below + count_bits(heads), LANES - 1);
        }
    }
    // The totals of the runs that end in this cell, from the number of heads before it and the Kogge–Stone
    // value of the last chunk of the run that enters. One that entered the step has to wait for its rows.
    __device__ __forceinline__ void put_totals(const Cell& here, const Standing& at, u32 step, u32 runs,
                                               const InputChunk<S>& input, const A& last) const {
        if (here.heads == 0) return;
        u32 position = (step * LANES + lane) * E, from = lowest_bit(here.heads);
        if (here.entered) {
            if (window.start + position + from == 0 || (at.early && window.passes())) {
                shared.ends[step].bits &= ~(u32)Ends::RUN;
            } else {
                shared.last[step] = last;
                u64 runs_before = window.marked().heads + runs - 1;
                shared.number[step] = window.number_of(runs_before, window.start + position + from - 1);
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
        u64 number = window.number_of(window.marked().heads + runs_before, window.start + position);
        arguments.inits.put_total(number, join<Op>(arguments.inits.of(number), value));
    }

    // ---- values ----

    // What goes along with a way over steps.
    struct Going {
        Standing at;
        Passing<A> passing;
        RunPrefix<S> prefix;   // of the run that enters the step
        Maybe<A> first;  // what precedes the last run that began
        A passed;        // the fold of the chunk that enters the step
        u32 runs;
    };
    template <bool INIT>
    __device__ __forceinline__ Going begin(u32 j) const {
        Going going = {standing_at(j), {}, {{A(), false}, {A(), false}}, {A(), INIT}, A(), heads_before};
        if (INIT && !window.inits_each()) going.first = arguments.inits.of(0);
        return going;
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
    // The initial values of the runs that begin in a step, where each has its own; `begun` becomes that of the
    // last one that begins before this lane's cell ends.
    template <bool INIT>
    __device__ __forceinline__ void find_inits(A (&init)[INIT ? E : 1], u32 j, const Cell& here, u32 with, Going& going, A& begun) const {
        u32 below = heads_below(here.heads), position = ((warp * STEPS + j) * LANES + lane) * E;
        A last = A();
        for (u32 rest = here.heads, k = going.runs + below; rest; rest &= rest - 1, k++) {
            u32 place = lowest_bit(rest);
            last = window.init_of(k, position + place).value;
#pragma unroll
            for (u32 e = 0; e < E; e++) init[INIT ? e : 0] = choose(e == place, last, init[INIT ? e : 0]);
        }
        begun = value_of_lane(last, lane - here.chunk);
        going.first.value = value_of_lane(last, highest_bit(with));
        going.runs += shuffle(below + count_bits(here.heads), LANES - 1);
    }
    // The values of a step, the first way or the second; says whether this cell's wait for the second.
    template <u32 WAY, bool INIT, bool AGAIN>
    __device__ __forceinline__ bool scan_step(A (&out)[E], u32 j, u32 heads, u32 with, Going& going, bool told) const {
        u32 step = warp * STEPS + j;
        Standing at = going.at;
        A cut = A(), init[INIT ? E : 1];
        InputChunk<S> input = shared.stage.read(1 + step, lane);
        Cell here = Cell::of<WAY>(heads, with, going.at, lane);
        A value = CellValues<S>::template of<WAY, false>(input, here, going.passing, lane, cut);
        if (!AGAIN) note_row(here, at, step, false, value);
        Maybe<A> entering = going.prefix.row, begun = going.first;
#pragma unroll
        for (u32 e = 0; INIT && e < E; e++) init[INIT ? e : 0] = going.first.value;
        going.prefix.pass_row(window, at.row, at.early, step, value_of_lane(value, at.lane), AGAIN && told);
        if (INIT && WAY != PLAIN && window.inits_each()) find_inits<INIT>(init, j, here, with, going, begun.value);
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
        if (WAY != PLAIN) going.prefix = {going.first, going.first};
        return here.entered;
    }

    // ---- the ways along a share ----

    typedef CellWriter<Output, E, S::REVERSE, W::IN_ROUNDS> Writer;
    __device__ __forceinline__ Writer writer() const {
        Span<Output> span = span_of<Output, S::REVERSE>(arguments.output, arguments.length, window.start, W::WINDOW);
        return Writer(span, W::WINDOW, window.is_cut(shared.cover));
    }
    // Steps from `j` on. The first way, cells that the run enters that entered step `waits` aren't written, nor any if
    // vectors can't be; the second way they are, and others only if all are.
    template <bool INIT, bool AGAIN>
    __device__ __forceinline__ void scan_steps(u32 j, u32 end, u32 waits, Going& going, Writer& writer, bool all, bool told) const {
        A out[E];
#pragma unroll 1
        for (u32 first = j; j < end; j++) {
            u32 heads = heads_at(j), with = lanes_where(heads != 0), way = way_of<E>(heads, with, going.at.phase);
            bool entered;
            if (way == IN_PHASE) entered = scan_step<IN_PHASE, INIT, AGAIN>(out, j, heads, with, going, told);
            else if (way == PLAIN) entered = scan_step<PLAIN, INIT, AGAIN>(out, j, heads, with, going, told);
            else entered = scan_step<ANY_PHASE, INIT, AGAIN>(out, j, heads, with, going, told);
            bool writes = AGAIN ? all || entered : writer.whole && (j != waits || !entered);
            u32 index = (warp * STEPS + j) * LANES + lane;
            if (AGAIN || writer.whole) writer.write(index, narrowed<Output>(out), shared.cover, lane, writes, j == first, j + 1 == end);
        }
    }
    // The first way, if no totals are wanted; `plain` steps have been looked at.
    template <bool INIT>
    __device__ __forceinline__ void scan_first(u32 j, u32 end, bool enters, Writer& writer) const {
        Going going = begin<INIT>(j);
        value_before(j, going.passing);
        scan_steps<INIT, false>(j, end, enters ? j : STEPS, going, writer, false, false);
    }
    // The second way, from step `j` on.
    template <bool INIT>
    __device__ __forceinline__ void scan_again(u32 j, u32 end, const RunPrefix<S>& prefix, Writer& writer, bool all, bool told) const {
        Going going = begin<INIT>(j);
        going.prefix = prefix;
        // The chunk that enters the step.
        A out[E];
        const A none[1] = {};
        Cell whole = cell_before();
        A running = before_chunk(prefix.row, whole, value_before(j, going.passing));
        if (going.at.row == 0 && lane == standing.lane && !prefix.row.exists) whole.heads = 1u << whole.phase;
        running = scan_chunks<ANY_PHASE, false>(out, shared.stage.read(warp * STEPS + j, lane), whole, running, none);
        going.passed = value_of_lane(running, LANES - 1);
        scan_steps<INIT, true>(j, end, STEPS, going, writer, all, told);
    }

    // ---- all of it ----

    // Whether some warp has noted that a segment ends.
    __device__ __forceinline__ bool segments_end() const {
        return lanes_where(lane < W::WARPS && shared.segment_ends[lane % W::WARPS] != 0) != 0;
    }
    __device__ __forceinline__ void run_window() {
        Cover cover = window.find_cover();
        if (cover.nothing()) return;
        if (thread_index() == 0) {
            barrier_init(&shared.landed, SEGMENTED_THREADS);
            barrier_init(&shared.entered, ARRIVALS);
        }
        u64 epoch = 0, found = 0;
        if constexpr (finds_heads<S>()) {
            if (warp == 0) {
                epoch = load_epoch(&arguments.workspace->epoch) + 1;
                HeadsBefore<S>{arguments, window.start}.ask(lane);
            }
        }
        if (W::IN_ROUNDS && thread_index() == 0) shared.cover = cover;
        // What ends in steps that nobody goes along isn't noted.
        if (W::IN_ROUNDS && thread_index() < W::ROWS && window.is_cut(cover)) shared.ends[thread_index()] = {0};
        load(cover);
        if constexpr (!finds_heads<S>()) window.find_early(window.marked().last);
        note_heads();
        if constexpr (finds_heads<S>())
            if (warp == 0) found = HeadsBefore<S>{arguments, window.start}.last(lane);
        sync_block();
        async_arrive(&shared.landed);
        if (finds_heads<S>() && warp == 0) exchange_heads(found, epoch);
        find_standing();
        barrier_wait(&shared.landed, 0);

        Writer writer = this->writer();
        bool totals = window.totals(), none = arguments.inits.kind == INITS_NONE, direct = !totals && writer.whole;
        bool enters = (shared.mask[warp * STEPS * E] & 1) == 0, waits = enters && !(standing.early && window.passes());
        u32 end = W::IN_ROUNDS ? end_step(shared.cover) : STEPS;
        if (!direct) plain = 0;
        PlainSteps<S> steps(window, standing, plain);
        if (totals) put_all_totals();
        else {
            if (plain > 0 && (!W::IN_ROUNDS || (waits && end > 0))) steps.reduce();
            if (plain < end && none) scan_first<false>(plain, end, waits, writer);
            if (plain < end && !none) scan_first<true>(plain, end, waits, writer);
        }
        await_early();
        if (!window.passes()) reduce_lead();
        sync_block();
        WindowExchange<S> exchange(window);
        bool awaits = exchange.awaits_others(), told = segments_end() || awaits;
        if (told) {
            if (warp == 0) exchange.tell(awaits);
            sync_block();
        }
        if (totals) exchange.total_of_step(thread_index(), told);

        if (W::IN_ROUNDS && end_step(shared.cover) == 0) return;
        if (direct && !waits) return;
        RunPrefix<S> prefix = RunPrefix<S>::of_share(window, standing, heads_before, told);
        if (plain > 0) steps.scan(prefix, writer, told);
        end = direct ? plain + 1 : STEPS;
        if (plain < STEPS && none) scan_again<false>(plain, end, prefix, writer, !direct, told);
        if (plain < STEPS && !none) scan_again<true>(plain, end, prefix, writer, !direct, told);
    }
};

// The totals of segments without elements, which no window meets.
template <class S>
KOGGE_DEVICE void put_empty_totals(const SegmentedWindow<S>& window) {
    const SegmentedArguments<S>& arguments = window.arguments;
    u64 stride = (u64)block_count() * SEGMENTED_THREADS;
    for (u64 i = (u64)block_index() * SEGMENTED_THREADS + thread_index(); i < arguments.segments; i += stride)
        if (window.offset(i) >= window.offset(i + 1)) arguments.inits.put_total(i, arguments.inits.of(i));
}

template <class S>
KOGGE_DEVICE void segmented_scan(const SegmentedArguments<S>& arguments) {
    await_launches();
    SegmentedScan<S> scan(*(SegmentedShared<S>*)shared_memory(), arguments);
    if (arguments.length > 0) scan.run_window();
    if constexpr (S::OFFSET_BYTES > 0)
        if (arguments.inits.totals) put_empty_totals(scan.window);
}
