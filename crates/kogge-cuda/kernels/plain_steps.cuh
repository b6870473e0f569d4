// The first steps of a warp's share, as long as no run begins in them: the elements of one run.
//
// Chunks then begin at one place of their cells throughout, and rows in one lane of their steps. So a lane takes, row
// after row, the chunk of its own index: no row reaches from one turn into the next. The first row begins up to a row
// before the share and the last one goes on behind these steps; of both, lanes write only what is in these steps.

template <class S>
struct PlainSteps {
    typedef typename S::Op Op;
    typedef typename Op::Element A;
    typedef typename S::Output Output;
    typedef WindowShape<S> W;
    static constexpr u32 E = W::E, STEPS = W::STEPS;

    const SegmentedWindow<S>& window;
    SegmentedShared<S>& shared;
    const Standing& run;  // that enters the share
    u32 steps;            // how many
    u32 warp, lane;

    __device__ __forceinline__ PlainSteps(const SegmentedWindow<S>& window, const Standing& run, u32 steps)
        : window(window), shared(window.shared), run(run), steps(steps), warp(window.warp), lane(window.lane) {}

    // Cell `add` behind that in which this lane's chunk begins of the row that ends in step `j`; those behind the
    // share, which nobody asks for, are left alone.
    __device__ __forceinline__ InputChunk<S> read(u32 j, u32 add) const {
        u32 cell = run.lane + lane + add, most = LANES - 1 + (STEPS - j) * LANES;
        return shared.stage.read(warp * STEPS + j, j < STEPS || cell < most ? cell : most);
    }
    // The fold of the chunk that begins in `input`; `tail` becomes that of what is in this cell.
    __device__ __forceinline__ A fold(const InputChunk<S>& input, u32 j, A& tail) const {
        tail = widened<A, false>(input, 0);
#pragma unroll
        for (u32 e = 1; e < E; e++) {
            A element = widened<A, false>(input, e);
            tail = choose(e <= run.phase, element, Op::combine(tail, element));
        }
        A value = tail;
        InputChunk<S> next = read(j, 1);
#pragma unroll
        for (u32 e = 0; e + 1 < E; e++) value = choose(e < run.phase, Op::combine(value, widened<A, false>(next, e)), value);
        return value;
    }

    // Notes the totals of the rows that end in these steps.
    __device__ __forceinline__ void reduce() const {
        A value[STEPS], tail;
#pragma unroll
        for (u32 j = 0; j < STEPS; j++) {
            value[j] = A();
            if (j < steps) value[j] = fold(read(j, 0), j, tail);
        }
        A total = row_totals<Op>(value, lane);
        // The row that this lane looks after.
        u32 j = 0;
#pragma unroll
        for (u32 bit = 1; bit < STEPS; bit *= 2) j = j * 2 + (lane & bit ? 1 : 0);
        if (lane >= STEPS || j >= steps) return;
        Ends ends = {(run.row + j) * Ends::ROW | (run.early ? Ends::EARLY : 0) | Ends::WHOLE};
        shared.ends[warp * STEPS + j] = ends;
        shared.row[W::LEAD + warp * STEPS + j] = total;
        if (ends.segment()) shared.segment_ends[warp] = 1;
    }

    // Writes the values of these steps; `prefix` is of the row that enters the first, and becomes that of the row that
    // enters the step behind them.
    template <class Writer>
    __device__ __forceinline__ void scan(RunPrefix<S>& prefix, const Writer& writer, bool told) const {
        A passed = A();
#pragma unroll
        for (u32 first = 0; first <= STEPS; first += GROUP)
            if (first <= steps) scan_group(first, prefix, passed, writer, told);
    }

  private:
    // So many rows at once, that the shuffles of one hide the latency of another's; fewer where that takes too many
    // registers.
    static constexpr u32 GROUP = sizeof(A) <= 4 && E <= 4 ? 3 : 1;

    // The rows that end in steps `first` and the next, as far as there are some. One that ends with a step's last cell
    // lies in the step before: then there is nothing of the first here.
    template <class Writer>
    __device__ __forceinline__ void scan_group(u32 first, RunPrefix<S>& prefix, A& passed, const Writer& writer, bool told) const {
        InputChunk<S> input[GROUP];
        A value[GROUP], tail, first_tail;
#pragma unroll
        for (u32 i = 0; i < GROUP; i++) {
            u32 j = first + i < STEPS ? first + i : STEPS;
            input[i] = read(j, 0);
            value[i] = fold(input[i], j, tail);
            if (i == 0) first_tail = tail;
        }
#pragma unroll
        for (u32 stride = 1; stride < LANES; stride *= 2) {
#pragma unroll
            for (u32 i = 0; i < GROUP; i++)
                value[i] = take_left<Op>(lane >= stride, value_of_lane_below(value[i], stride), value[i]);
        }
        A out[GROUP][E], turned[GROUP];
#pragma unroll
        for (u32 i = 0; i < GROUP; i++) {
            A running = scan_tails(out[i], input[i], value_of_lane(value[i], lane + LANES - 1), prefix.row);
            // The run's first chunk has nothing before it.
            if (first == 0 && i == 0) running = choose(lane > 0 || prefix.row.exists, running, first_tail);
            turned[i] = value_of_lane(running, lane + LANES - 1);
            u32 j = first + i, step = warp * STEPS + j;
            if (j < steps) prefix.pass_row(window, run.row + j, run.early, step, shared.row[W::LEAD + step], told);
        }
#pragma unroll
        for (u32 i = 0; i < GROUP; i++) {
            scan_heads(out[i], input[i], choose(lane > 0, turned[i], passed));
            passed = turned[i];
            u32 cell = (first + i) * LANES + run.lane + lane - LANES;
            if (cell < steps * LANES) writer.write_whole(warp * STEPS * LANES + cell, narrowed<Output>(out[i]));
        }
    }
    // The values of the chunk that begins in a cell, as far as they are there, from the Kogge–Stone value of the
    // lane before; gives the last.
    __device__ __forceinline__ A scan_tails(A (&out)[E], const InputChunk<S>& input, const A& before, const Maybe<A>& prefix) const {
        A joined = choose(prefix.exists, Op::combine(prefix.value, before), before);
        A running = choose(lane > 0, joined, prefix.value);
#pragma unroll
        for (u32 e = 0; e < E; e++) {
            A through = Op::combine(running, widened<A, false>(input, e));
            out[e] = S::EXCLUSIVE ? running : through;
            running = choose(e < run.phase, running, through);
        }
        return running;
    }
    // Those of the chunk that goes over into the cell, from what it was in the lane before.
    __device__ __forceinline__ void scan_heads(A (&out)[E], const InputChunk<S>& input, A running) const {
#pragma unroll
        for (u32 e = 0; e + 1 < E; e++) {
            A through = Op::combine(running, widened<A, false>(input, e));
            out[e] = choose(e < run.phase, S::EXCLUSIVE ? running : through, out[e]);
            running = through;
        }
    }
};
