// A row: 32 chunks, one a lane, combined by Kogge and Stone.

// `value` with what is on its left, if the lane takes it. All lanes combine, and choose word by word: the
// compiler would make a branch of a condition, row by row, where shuffles then wait for the warp.
template <class Op, class A>
KOGGE_DEVICE A take_left(bool takes, const A& left, const A& value) {
    return choose(takes, Op::combine(left, value), value);
}

// The inclusive Kogge–Stone value of each lane. Lanes from `chunks` on hold nothing and take no part; no
// value of theirs reaches a lane before them.
template <class Op, class A>
KOGGE_DEVICE A kogge_stone(A value, u32 lane, u32 chunks) {
#pragma unroll
    for (u32 stride = 1; stride < LANES; stride *= 2) {
        A left = value_of_lane_below(value, stride);
        value = take_left<Op>(lane >= stride && lane < chunks, left, value);
    }
    return value;
}

// The same for the eight full rows of a segment at once, so that the steps of one hide the latency of
// another's.
template <class Op, class A>
KOGGE_DEVICE void kogge_stone_rows(A (&value)[ROWS_PER_SEGMENT], u32 lane) {
#pragma unroll
    for (u32 stride = 1; stride < LANES; stride *= 2) {
#pragma unroll
        for (u32 j = 0; j < ROWS_PER_SEGMENT; j++) {
            A left = value_of_lane_below(value[j], stride);
            value[j] = take_left<Op>(lane >= stride, left, value[j]);
        }
    }
}

// The totals of so many full rows, a power of two, as the last lane's Kogge–Stone value would be: the balanced
// tree over the lanes. Lane l gets that of the row whose `lane_of_row` has the bits of l that count.
//
// Every stride halves the rows that a lane looks after: it keeps one half, gives the other to its partner
// and takes the partner's share of its own. 9 shuffles instead of 40 for eight rows.
template <class Op, u32 STRIDE = 1, u32 ROWS = ROWS_PER_SEGMENT, class A>
KOGGE_DEVICE A row_totals(const A (&value)[ROWS], u32 lane) {
    constexpr u32 KEPT = ROWS > 1 ? ROWS / 2 : 1;
    bool upper = lane & STRIDE;
    A kept[KEPT];
#pragma unroll
    for (u32 i = 0; i < KEPT; i++) {
        A low = value[i], high = value[ROWS > 1 ? KEPT + i : i];
        A mine = choose(upper, high, low), other = value_of_partner(choose(upper, low, high), STRIDE);
        kept[i] = Op::combine(choose(upper, other, mine), choose(upper, mine, other));
    }
    if constexpr (STRIDE * 2 < LANES) return row_totals<Op, STRIDE * 2>(kept, lane);
    else return kept[0];
}
// A lane that gets row r of so many: bit 0 chose between halves, bit 1 between quarters, …
template <u32 ROWS = ROWS_PER_SEGMENT>
KOGGE_DEVICE u32 lane_of_row(u32 row) {
    if constexpr (ROWS <= 1) return 0;
    else return (row & ROWS / 2 ? 1 : 0) | lane_of_row<ROWS / 2>(row) << 1;
}
