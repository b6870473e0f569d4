// What a window and those before it tell each other about the run that enters it, and the totals of runs that need
// what was told.

template <class S>
struct WindowExchange {
    typedef typename S::Op Op;
    typedef typename Op::Element A;
    typedef WindowShape<S> W;
    static constexpr u32 E = W::E;

    const SegmentedWindow<S>& window;
    SegmentedShared<S>& shared;
    const SegmentedArguments<S>& arguments;
    u32 lane;

    __device__ __forceinline__ explicit WindowExchange(const SegmentedWindow<S>& window)
        : window(window), shared(window.shared), arguments(window.arguments), lane(window.lane) {}

    // Whether the early run's elements, or its total, wait for other windows.
    __device__ __forceinline__ bool awaits_others() const {
        if (W::IN_ROUNDS || !window.early.early || window.early_row < ROWS_PER_SEGMENT) return false;
        return window.totals() || (window.start < arguments.length && !(shared.mask[0] & 1));
    }
    // What this window and those before tell each other, by one warp.
    __device__ __forceinline__ void tell(bool awaits) const {
        if constexpr (!W::IN_ROUNDS) {
            u64 epoch = finds_heads<S>() ? shared.epoch : load_epoch(&arguments.workspace->epoch);
            RunSlots<S> slots(arguments.workspace, arguments.length, epoch);
            sum_segments(&slots);
            if (exchanges(slots, awaits)) return;
        } else {
            sum_segments(nullptr);
        }
        if (lane > 0) return;
        shared.base[0] = window.early.early && !window.passes() ? window.init_early() : Maybe<A>{A(), false};
        shared.split = SEGMENTS_PER_TILE + 1;
    }
    // Whether it is told of the early run by others, or tells them.
    __device__ __forceinline__ bool exchanges(const RunSlots<S>& slots, bool awaits) const {
        u32 step = window.early_segment() + lane * ROWS_PER_SEGMENT;
        bool mine = window.early.early && step < W::ROWS && shared.ends[step].early() && shared.ends[step].segment();
        u32 whole = count_bits(lanes_where(mine));
        if (!awaits && whole == 0) return false;
        exchange(slots, whole);
        return true;
    }
    // The totals of segments that end here; tells those of the run that has the window's last position.
    __device__ __forceinline__ void sum_segments(const RunSlots<S>* slots) const {
        u32 last = 0;
        for (u32 w = 0; w < W::WARPS; w++)
            if (shared.last_head[w]) last = shared.last_head[w];
        u32 cells = (last - 1) / E, since = last ? cells / LANES : 0;
        u32 row_start = last ? cells % LANES * E + (last - 1) % E : window.early.lane * E + window.early.phase;
        for (u32 step = lane; step < W::ROWS; step += LANES) {
            Ends ends = shared.ends[step];
            if (!ends.segment()) continue;
            A total = window.join_rows({A(), false}, ROWS_PER_SEGMENT, step + 1).value;
            shared.segment[step] = total;
            if (slots == nullptr) continue;
            bool leaves = last ? !ends.early() && step - ends.row() - 1 == since : ends.early();
            if (leaves) slots->publish(slots->of_segment(window.start + step * W::ROW + row_start - W::SEGMENT), total);
        }
        sync_warp();
    }

    // What precedes the early run's segments, told by the blocks before, and what they and its `whole` ones
    // that end here make whole; by one warp.
    __device__ __forceinline__ void exchange(const RunSlots<S>& slots, u32 whole) const {
        u64 segment = window.early_row / ROWS_PER_SEGMENT, tile = segment / SEGMENTS_PER_TILE;
        u64 block = tile / TILES_PER_BLOCK, tile_start = window.run + tile * slots.TILE, block_start = window.run + block * slots.BLOCK;
        u32 done = (u32)(segment % SEGMENTS_PER_TILE), tiles = (u32)(tile % TILES_PER_BLOCK), rest = SEGMENTS_PER_TILE - done;
        bool complete = whole >= rest;

        // All are asked for at once; only the segments must be there for this tile to be told.
        u64 segment_slot = slots.of_segment(lane < done ? tile_start + lane * slots.SEGMENT : window.run);
        u64 tile_slot = slots.of_tile(lane < tiles ? block_start + lane * slots.TILE : window.run);
        A earlier, before;
        bool segment_seen = slots.peek(segment_slot, earlier), tile_seen = slots.peek(tile_slot, before);
        typename RunSlots<S>::Blocks seen = slots.look(window.run, block > 0 ? block : 1, lane);
        if (lane < done && !segment_seen) earlier = slots.await(segment_slot);
        sync_warp();
        A part[SEGMENTS_PER_TILE - 1];
        Maybe<A> through = {A(), false};
#pragma unroll
        for (u32 i = 0; i < SEGMENTS_PER_TILE - 1; i++) part[i] = value_of_lane(earlier, i);
#pragma unroll
        for (u32 i = 0; i < SEGMENTS_PER_TILE - 1; i++)
            if (i < done) through = join<Op>(through, part[i]);
        Maybe<A> in_tile = through;
        through = window.join_segments(through, window.early_segment(), 0, complete ? rest : whole);
        if (complete && lane == 0) slots.publish(slots.of_tile(tile_start), through.value);

        if (lane < tiles && !tile_seen) before = slots.await(tile_slot);
        A stepped = kogge_stone<Op>(lane == tiles && complete ? through.value : before, lane, tiles + complete);
        bool ends_block = complete && tiles == TILES_PER_BLOCK - 1;
        if (ends_block && lane == LANES - 1) slots.publish(slots.of_block(block_start), stepped);
        Maybe<A> blocks = window.init_early();
        if (block > 0) blocks = {slots.fold_of_blocks(seen, window.run, block, lane), true};
        Maybe<A> first = blocks, next = join<Op>(blocks, value_of_lane(stepped, tiles));
        if (ends_block && lane == 0) slots.publish(slots.of_fold(block_start), next.value);
        if (tiles > 0) first = join<Op>(blocks, value_of_lane(stepped, (tiles - 1) % LANES));
#pragma unroll
        for (u32 i = 0; i < SEGMENTS_PER_TILE - 1; i++)
            if (i < done) first = join<Op>(first, part[i]);
        if (lane == 0) {
            shared.base[0] = first;
            shared.base[1] = next;
            shared.split = rest;
        }
        if (window.totals()) total_early(in_tile, rest, before, stepped, tiles, blocks);
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
        u32 rows = window.early.row % ROWS_PER_SEGMENT + step + shared.ends[step].next(), segments = rows / ROWS_PER_SEGMENT;
        u32 in_segment = rows % ROWS_PER_SEGMENT;
        bool in_next = segments >= rest;
        Maybe<A> segment_total = join<Op>(window.join_rows({A(), false}, in_segment, step + shared.ends[step].next()), shared.last[step]);
        Maybe<A> tile = in_next ? Maybe<A>{A(), false} : in_tile;
        tile = join<Op>(window.join_segments(tile, window.early_segment(), in_next ? rest : 0, segments), segment_total.value);
        Maybe<A> total;
        if (in_next && tiles == TILES_PER_BLOCK - 1) {
            total = join<Op>(join<Op>(blocks, value_of_lane(stepped, LANES - 1)), tile.value);
        } else {
            // The totals of the tiles before in the block: those told, and the one made whole here.
            u32 place = in_next ? tiles + 1 : tiles;
            Maybe<A> made = in_next ? window.join_segments(in_tile, window.early_segment(), 0, rest) : tile;
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
        u32 first = ends.early() ? window.early_segment() : step - ends.row() - 1 + ROWS_PER_SEGMENT;
        Maybe<A> segment = window.join_rows({A(), false}, rows % ROWS_PER_SEGMENT, step + ends.next());
        segment = join<Op>(segment, shared.last[step]);
        Maybe<A> tile = join<Op>(window.join_segments({A(), false}, first, 0, segments), segment.value);
        arguments.inits.put_total(shared.number[step], join<Op>(arguments.inits.of(shared.number[step]), tile.value));
    }
};
