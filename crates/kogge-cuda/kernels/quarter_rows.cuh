// A whole segment of wide values, a row to four lanes.
//
// Lane 4r + q has the chunks q, q + 4, … q + 28 of row r. So Kogge–Stone steps of stride 1 and 2 are shuffles among four
// lanes, and those of 4, 8 and 16 stay within a lane: 16 shuffles for eight chunks, where a lane a chunk takes 40.
// Values of many words are limited by them.

enum : u32 { LANES_PER_ROW = LANES / ROWS_PER_SEGMENT, CHUNKS_PER_LANE = CHUNKS_PER_ROW / LANES_PER_ROW };

// Whether that is worth the bank conflicts of reading chunks so.
template <class A>
constexpr bool is_wide() {
    return sizeof(A) > 8;
}

template <class S>
struct QuarterRows {
    typedef typename S::Op Op;
    typedef typename Op::Element A;
    typedef typename S::Input Input;
    static constexpr u32 E = Order<Input>::CHUNK;
    u32 lane, row, place;  // and the lane's place among those of its row

    __device__ __forceinline__ explicit QuarterRows(u32 lane) : lane(lane), row(lane / LANES_PER_ROW), place(lane % LANES_PER_ROW) {}

    // The lane's chunk `i`, counted in the segment.
    __device__ __forceinline__ u32 chunk(u32 i) const { return row * CHUNKS_PER_ROW + i * LANES_PER_ROW + place; }
    // Chunks of 16 bytes of two neighbouring rows lie in the same banks, so odd rows read theirs in another order.
    __device__ __forceinline__ void read(const Span<Input>& tile, u32 first, InputChunk<S> (&input)[CHUNKS_PER_LANE]) const {
        constexpr bool TURNS = InputChunk<S>::BYTES == 16;
        bool odd = TURNS && row % 2 == 1;
#pragma unroll
        for (u32 i = 0; i < CHUNKS_PER_LANE; i += 2) {
            InputChunk<S> one = read_chunk<Input, S::REVERSE, true, FromShared>(tile, first + chunk(i + odd));
            InputChunk<S> other = read_chunk<Input, S::REVERSE, true, FromShared>(tile, first + chunk(i + 1 - odd));
            input[i] = TURNS ? choose(odd, other, one) : one;
            input[i + 1] = TURNS ? choose(odd, one, other) : other;
        }
    }
    // Another value of this row, so many chunks before: of lane `place - stride`, and of the chunk before where that is another row of four.
    __device__ __forceinline__ A turned(const A& value, u32 stride) const {
        return value_of_lane(value, row * LANES_PER_ROW + (place - stride) % LANES_PER_ROW);
    }
    __device__ __forceinline__ void kogge_stone(A (&value)[CHUNKS_PER_LANE]) const {
#pragma unroll
        for (u32 stride = 1; stride < LANES_PER_ROW; stride *= 2) {
            A here = turned(value[CHUNKS_PER_LANE - 1], stride);
#pragma unroll
            for (u32 i = CHUNKS_PER_LANE; i-- > 1;) {
                A before = turned(value[i - 1], stride);
                value[i] = Op::combine(choose(place >= stride, here, before), value[i]);
                here = before;
            }
            value[0] = take_left<Op>(place >= stride, here, value[0]);
        }
#pragma unroll
        for (u32 stride = 1; stride < CHUNKS_PER_LANE; stride *= 2) {
#pragma unroll
            for (u32 i = CHUNKS_PER_LANE; i-- > stride;) value[i] = Op::combine(value[i - stride], value[i]);
        }
    }
    // What precedes this lane's row: `before`, then the totals of rows.
    __device__ __forceinline__ A before_row(A before, const A* totals) const {
#pragma unroll
        for (u32 r = 0; r + 1 < ROWS_PER_SEGMENT; r++) before = choose(r < row, Op::combine(before, totals[r]), before);
        return before;
    }
    // The values of the segment whose first chunk is `first`, from what precedes this lane's row on.
    __device__ __forceinline__ void scan(const A& prefix, const InputChunk<S> (&input)[CHUNKS_PER_LANE], u8* to, u32 count, u32 first) const {
        A value[CHUNKS_PER_LANE], below = A();
#pragma unroll
        for (u32 i = 0; i < CHUNKS_PER_LANE; i++) value[i] = S::Fold::template of<true>(input[i], E);
        kogge_stone(value);
#pragma unroll
        for (u32 i = 0; i < CHUNKS_PER_LANE; i++) {
            A here = turned(value[i], 1), left = i > 0 ? choose(place > 0, here, below) : here, running = Op::combine(prefix, left);
            if (i == 0) running = choose(place > 0, running, prefix);
            below = here;
            write_chunk<typename S::Output, E, S::REVERSE, true>(to, count, first + chunk(i), E, scan_chunk<S, true>({running, true}, input[i]));
        }
    }
};
