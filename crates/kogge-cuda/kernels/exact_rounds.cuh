// The caller's segments under an exact operator (tails.cuh), in the rounds of the flat scan (round_scan.cuh): tiles are
// those of the whole sequence, wherever runs start, and a bit an element goes with them. The look-ahead is that of the
// flat scan, on tails.
//
// The bits are those of a mask that another launch has made, and come into a stage with its tile. Or keys are read here,
// once, by further warps which make a tile's bits of them (markers.cuh): that pays where keys are wide.

// Measured: tails of numbers of up to four bytes are quicker so, of eight bytes slower.
template <class A>
constexpr bool EPOCH_APART<Tail<A>> = EVERY_LANE_ARRIVES || sizeof(A) <= 4;

template <class S>
struct ExactRing : Ring<Tailed<S>>, MarkerRing<S, finds_heads<S>()> {
    static constexpr u32 THREADS = Ring<Tailed<S>>::THREADS + LANES * S::MARKERS;
    static_assert(finds_heads<S>() == (S::MARKERS > 0), "markers read flags or keys");
    // A stage is full when its tile has come, and its bits have or have been made.
    static constexpr u32 FILLS = load_arrivals<S>() + (finds_heads<S>() ? S::MARKERS * ARRIVALS : load_arrivals<S>());
    // Markers make the bits of a tile while those of the one before in its stage are still read.
    static constexpr u32 MASKS = finds_heads<S>() ? 2 * S::STAGES : S::STAGES;
    alignas(16) u32 mask[MASKS][Bits<S>::WORDS];

    // The bits of a round's tile.
    __device__ __forceinline__ u32* bits(u32 round) { return mask[round % MASKS]; }
};

template <class S>
struct ExactTiles {
    typedef typename S::Input Input;
    typedef Tail<typename S::Op::Element> A;
    static constexpr u32 TILE = Order<Input>::TILE;
    static constexpr bool MAY_DRAW = false, PUT_DOWN = false;
    const SegmentedArguments<S>& arguments;
    u64 count;

    __device__ __forceinline__ ExactTiles(const SegmentedArguments<S>& arguments)
        : arguments(arguments), count((arguments.length + TILE - 1) / TILE) {}
    __device__ __forceinline__ Workspace* workspace() const { return arguments.workspace; }
    __device__ __forceinline__ Readable readable() const { return Readable::of(arguments.input, arguments.output, arguments.length * sizeof(Input)); }
    __device__ __forceinline__ bool drawn() const { return false; }
    __device__ __forceinline__ Span<Input> input(u64 tile) const {
        return span_of<Input, S::REVERSE>(arguments.input, arguments.length, tile * TILE, TILE);
    }
    __device__ __forceinline__ u8* output(u64 tile) const {
        return span_of<typename S::Output, S::REVERSE>(arguments.output, arguments.length, tile * TILE, TILE).bytes;
    }
    __device__ __forceinline__ const u8* mask(u64 tile) const { return (const u8*)(arguments.heads + tile * (TILE / 32)); }
    // Whether a tile has heads, if that is noted of tiles: of those that haven't there may be no mask.
    __device__ __forceinline__ bool has_heads(u64 tile) const { return tile >= count || arguments.first == nullptr || arguments.first[tile]; }

    struct Prefixes {
        LookAhead<Tailed<S>> look_ahead;

        // The first element is a head: nothing precedes it.
        __device__ __forceinline__ Prefixes(const ExactTiles& tiles, u64 epoch)
            : look_ahead{{A(), false}, 0, tiles.workspace(), epoch} {}
        __device__ __forceinline__ Maybe<A> before(u64 tile, u32 lane) { return look_ahead.before(tile, lane); }
        __device__ __forceinline__ void end(u64, u32) {}
    };
};
template <class S>
using ExactRounds = Rounds<Tailed<S>, ExactTiles<S>>;

// The bits of a tile without heads.
template <class S>
KOGGE_DEVICE void clear_bits(u32* mask, u32 lane) {
    for (u32 i = lane; i < Bits<S>::WORDS / 4; i += LANES) ((Quad*)mask)[i] = {};
    if constexpr (S::BULK) bulk_fence();
}

// The loader of rounds, which brings a tile's bits with it, unless they are made here.
template <class S>
KOGGE_DEVICE void run_exact_loader(ExactRing<S>& ring, ExactRounds<S>& rounds, u32 lane) {
    typedef typename S::Input Input;
    if constexpr (finds_heads<S>()) return run_loader<Tailed<S>>(ring, rounds, lane);
    struct Bytes {
        u32 mask, tile;
    };
    Readable readable = rounds.tiles.readable();
    u32 round = 0, with_heads = 0;  // of that round and those after it, a bit each
    load_rounds<Tailed<S>>(
        ring, rounds, lane,
        [&](u32 s, const Landing& at) {
            u32 quads = (at.count + 127) / 128;
            Bytes bytes = {0, 0};
            if (round % LANES == 0) with_heads = lanes_where(rounds.tiles.has_heads(rounds.given(round + lane)));
            if (with_heads >> round++ % LANES & 1) bytes.mask = begin_load<S>((u8*)ring.mask[s], rounds.tiles.mask(at.tile), quads * 16, &ring.full[s], lane);
            else clear_bits<S>(ring.mask[s], lane);
            bytes.tile = begin_tile_load(ring, readable, s, at, lane);
            return bytes;
        },
        [&](u32 s, Bytes bytes) {
            end_load<S>(&ring.full[s], bytes.mask, lane);
            end_load<S>(&ring.full[s], bytes.tile, lane);
        });
}

// Makes a share of every tile's bits, piece by piece.
template <class S>
KOGGE_DEVICE void run_exact_marker(ExactRing<S>& ring, ExactRounds<S>& rounds, u32 warp, u32 lane) {
    constexpr u32 SHARE = Marker<S>::SHARE;
    Marker<S> marker{ring.marker[warp], rounds.tiles.arguments, warp, lane};
    for (u32 n = 0; n < S::PIECES; n++) marker.ask(rounds, n);
    for (u32 r = 0; rounds.has(rounds.given(r)); r++) {
        u32 s = rounds.stage(r);
#pragma unroll 1
        for (u32 n = r * SHARE; n < (r + 1) * SHARE; n++) {
            u32 word = marker.word(rounds, n);
            marker.ask(rounds, n + S::PIECES);
            ring.bits(r)[(warp * SHARE + n - r * SHARE) * LANES + lane] = word;
        }
        if (r >= S::STAGES) barrier_wait(&ring.empty[s], rounds.parity(r) ^ 1);
        arrive_together(&ring.full[s], lane);
    }
}

template <class S>
KOGGE_DEVICE void run_exact_reducer(ExactRing<S>& ring, ExactRounds<S>& rounds, u32 warp, u32 lane) {
    typedef Tail<typename S::Op::Element> A;
    typedef typename S::Input Input;
    constexpr u32 SHARE = SEGMENTS_PER_TILE / S::REDUCERS;
    share_epoch(ring, false, lane);
    u64 index = rounds.given(0), next;
    for (u32 r = 0; rounds.has(index); r++, index = next) {
        u32 s = rounds.stage(r);
        Span<Input> tile = ring.landed(s, rounds.landing(ring, r, index));
        u32 segments = (tile.count + Order<Input>::SEGMENT - 1) / Order<Input>::SEGMENT;
        barrier_wait(&ring.full[s], rounds.parity(r));
        next = rounds.tile(ring, r + 1);
        for (u32 i = warp * SHARE; i < (warp + 1) * SHARE && i < segments; i++) {
            Maybe<A> tail = tail_of_segment<S>(tile, ring.bits(r), i * CHUNKS_PER_SEGMENT, lane);
            if (lane == 0) ring.segment[s][i] = tail.value;
        }
        sync_group(1, S::REDUCERS * LANES);
        if (warp == 0 && lane == 0) {
            A total = ring.segment[s][0];
#pragma unroll
            for (u32 i = 1; i < SEGMENTS_PER_TILE; i++)
                if (i < segments) total = TailOperator<typename S::Op>::combine(total, ring.segment[s][i]);
            Slot<A>::publish(rounds.tiles.workspace(), index, total, ring.epoch);
        }
        arrive_for_all(&ring.reduced[s], warp == 0 && lane == 0);
    }
}

// The values of segment `warp`, all there and of plain chunks. The stage is given back as soon as the segment and its
// bits are in registers; of one or two bytes, whose values don't fit in beside them, when they have been read once more.
// If a chunk isn't plain, or a value isn't the number that `Op` needs, nothing has been done.
template <class S, class From, template <class, u32, bool> class Rows, class Op>
KOGGE_DEVICE bool scan_headed_segment(ExactRing<S>& ring, u32 s, const u32* bits, const Span<typename S::Input>& tile, u8* to,
                                      const Maybe<typename Op::Element>& init, u32 warp, u32 lane) {
    typedef typename Op::Element A;
    constexpr u32 E = Order<typename S::Input>::CHUNK;
    u32 first = warp * CHUNKS_PER_SEGMENT + lane, heads[ROWS_PER_SEGMENT], with[ROWS_PER_SEGMENT], reach[ROWS_PER_SEGMENT];
    InputChunk<S> input[ROWS_PER_SEGMENT];
    read_segment<S, From>(tile, first, input);
    if (!all_lanes(are_plain<A>(input))) return false;
    A before = before_segment<Tailed<S>>(ring, s, warp).value.value, tail[ROWS_PER_SEGMENT];
    if constexpr (!Same<Op, typename S::Op>::YES) {
        A others[2] = {before, or_identity<typename S::Op>(init)};
        bool numbers = are_numbers<S, Op>(others);
#pragma unroll
        for (u32 j = 0; j < ROWS_PER_SEGMENT; j++) numbers = numbers && Op::is_number(fold_of<S, Op>(input[j]));
        if (!all_lanes(numbers)) return false;
    }
#pragma unroll
    for (u32 j = 0; j < ROWS_PER_SEGMENT; j++) heads[j] = Bits<S>::of_chunk(bits, first + j * LANES);
    constexpr bool AGAIN = sizeof(typename S::Input) <= 2;
    if constexpr (!AGAIN) give_back(ring, s, lane);
#pragma unroll
    for (u32 j = 0; j < ROWS_PER_SEGMENT; j++) {
        tail[j] = tail_of_chunk<S, true, Op>(input[j], heads[j], E);
        with[j] = lanes_where(heads[j] != 0);
        reach[j] = reach_of(with[j], lane);
    }
    // The rows step together, so that one's shuffles hide another's.
#pragma unroll
    for (u32 stride = 1; stride < LANES; stride *= 2) {
#pragma unroll
        for (u32 j = 0; j < ROWS_PER_SEGMENT; j++) {
            A left = value_of_lane_below(tail[j], stride);
            tail[j] = take_left<Op>(reach[j] >= stride, left, tail[j]);
        }
    }
    Rows<typename S::Output, E, S::REVERSE> rows = {};
#pragma unroll
    for (u32 j = 0; j < ROWS_PER_SEGMENT; j++) {
        if constexpr (AGAIN) {
            input[j] = read_chunk<typename S::Input, S::REVERSE, true, From>(tile, first + j * LANES);
            heads[j] = Bits<S>::of_chunk(bits, first + j * LANES);
        }
        A running = before_headed_chunk<Op>(before, tail[j], with[j], lane, LANES);
        OutputChunk<S> output = scan_headed_chunk<S, true, Op>(running, input[j], heads[j], init);
        rows.write(to, tile.count, first + j * LANES, output, j, lane);
    }
    if constexpr (AGAIN) give_back(ring, s, lane);
    return true;
}
// The same of any segment, row by row.
template <class S>
KOGGE_DEVICE void scan_headed_part(ExactRing<S>& ring, u32 s, const u32* bits, const Span<typename S::Input>& tile, u8* to,
                                   const Maybe<typename S::Op::Element>& init, u32 warp, u32 lane) {
    typedef typename S::Op Op;
    typedef typename S::Input Input;
    typedef typename Op::Element A;
    A before = before_segment<Tailed<S>>(ring, s, warp).value.value;
#pragma unroll 1
    for (u32 j = 0; j < ROWS_PER_SEGMENT; j++) {
        u32 first = warp * CHUNKS_PER_SEGMENT + j * LANES, chunks = chunks_from(tile, first), index = first + lane;
        if (chunks == 0) break;
        u32 count = elements_in(tile, index), heads = count > 0 ? Bits<S>::of_chunk(bits, index) : 0;
        u32 with = lanes_where(heads != 0);
        InputChunk<S> input = read_part_chunk<Input, S::REVERSE, FromShared>(tile, index);
        A tail = tails_of_row<Op>(tail_of_chunk<S, false>(input, heads, count), reach_of(with, lane));
        A running = before_headed_chunk<Op>(before, tail, with, lane, chunks);
        OutputChunk<S> output = scan_headed_chunk<S, false>(running, input, heads, init);
        write_part_chunk<typename S::Output, Order<Input>::CHUNK, S::REVERSE, FromShared>(to, tile.count, index, count, output);
    }
}

template <class S>
KOGGE_DEVICE void run_exact_scanner(ExactRing<S>& ring, ExactRounds<S>& rounds, u32 warp, u32 lane) {
    typedef typename S::Input Input;
    typedef typename S::Output Output;
    u32 segment = warp % ring.SCANNERS, group = warp / ring.SCANNERS;
    Maybe<typename S::Op::Element> init = rounds.tiles.arguments.inits.of(0);
    u64 index = rounds.given(group), next;
    for (u32 r = group; rounds.has(index); r += S::GROUPS, index = next) {
        u32 s = rounds.stage(r);
        Landing at = rounds.landing(ring, r, index);
        Span<Input> tile = ring.landed(s, at);
        u8* to = at.output;
        const u32* bits = ring.bits(r);
        barrier_wait(&ring.full[s], rounds.parity(r));
        next = rounds.tile(ring, r + S::GROUPS);
        barrier_wait(&ring.ready[s], rounds.parity(r));
        Lie lie = lie_of_segment<S>(tile, segment * CHUNKS_PER_SEGMENT);
        u8* first = to + (S::REVERSE ? (u64)tile.count * sizeof(Output) : 0);
        bool done = false;
        if (lie == IN_PLACE && (u64)first % 16 == 0)
            done = scan_headed_segment<S, FromShared, RowsInPlace, typename S::Plain>(ring, s, bits, tile, to, init, segment, lane);
        else if (lie != IN_PART)
            done = scan_headed_segment<S, FromSharedAnywhere, RowsAnywhere, typename S::Plain>(ring, s, bits, tile, to, init, segment, lane);
        if (done) continue;
        scan_headed_part<S>(ring, s, bits, tile, to, init, segment, lane);
        give_back(ring, s, lane);
    }
}

template <class S>
KOGGE_DEVICE void exact_run_scan(const SegmentedArguments<S>& arguments) {
    ExactRing<S>& ring = *(ExactRing<S>*)shared_memory();
    u32 warp = thread_index() / LANES, lane = thread_index() % LANES;
    if (thread_index() == 0) {
        for (u32 s = 0; s < S::STAGES; s++) {
            barrier_init(&ring.full[s], ring.FILLS);
            barrier_init(&ring.reduced[s], arrivals_of(S::REDUCERS));
            barrier_init(&ring.ready[s], ARRIVALS);
            barrier_init(&ring.empty[s], ring.SCANNERS * ARRIVALS);
        }
        if constexpr (finds_heads<S>())
            for (u32 m = 0; m < S::MARKERS; m++)
                for (u32 p = 0; p < S::PIECES; p++) barrier_init(&ring.marker[m].landed[p], load_arrivals<S>());
        barrier_init(&ring.begun, ring.LOOKERS * ARRIVALS);
        barrier_init_fence();
    }
    await_launches();
    ExactRounds<S> rounds((ExactTiles<S>(arguments)));
    sync_block();
    if (warp == 0) run_exact_loader(ring, rounds, lane);
    else if (warp < 1 + S::LOOKERS) run_look_ahead(ring, rounds, warp - 1, lane);
    else if (warp < 1 + S::LOOKERS + S::REDUCERS) run_exact_reducer(ring, rounds, warp - 1 - S::LOOKERS, lane);
    else if (warp < Ring<Tailed<S>>::THREADS / LANES) run_exact_scanner(ring, rounds, warp - 1 - S::LOOKERS - S::REDUCERS, lane);
    else if constexpr (finds_heads<S>()) run_exact_marker(ring, rounds, warp - Ring<Tailed<S>>::THREADS / LANES, lane);
}
