// A row: 32 chunks, one a lane, combined by Kogge and Stone.

// The inclusive Kogge–Stone value of each lane. Lanes from `chunks` on hold nothing and take no part; no
// value of theirs reaches a lane before them.
template <class Op, class A>
KOGGE_DEVICE A kogge_stone(A value, u32 lane, u32 chunks) {
#pragma unroll
    for (u32 stride = 1; stride < LANES; stride *= 2) {
        A left = value_of_lane_below(value, stride);
        if (lane >= stride && lane < chunks) value = Op::combine(left, value);
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
            if (lane >= stride) value[j] = Op::combine(left, value[j]);
        }
    }
}

// The totals of the eight full rows of a segment, as the last lane's Kogge–Stone value would be: the
// balanced tree over the lanes. Lane l gets that of row `row_of_lane(l)`.
//
// Every stride halves the rows that a lane looks after: it keeps one half, gives the other to its partner
// and takes the partner's share of its own. 9 shuffles instead of 40.
template <class Op, class A>
KOGGE_DEVICE A row_totals(A (&value)[ROWS_PER_SEGMENT], u32 lane) {
#pragma unroll
    for (u32 stride = 1, rows = ROWS_PER_SEGMENT / 2; stride < LANES; stride *= 2, rows /= 2) {
        bool upper = lane & stride;
        if (rows > 0) {
#pragma unroll
            for (u32 i = 0; i < rows; i++) {
                A low = value[i], high = value[rows + i];
                A mine = choose(upper, high, low), other = value_of_partner(choose(upper, low, high), stride);
                value[i] = Op::combine(choose(upper, other, mine), choose(upper, mine, other));
            }
        } else {
            A mine = value[0], other = value_of_partner(mine, stride);
            value[0] = Op::combine(choose(upper, other, mine), choose(upper, mine, other));
        }
    }
    return value[0];
}
// A lane that looks after row r in `row_totals`: bit 0 chose between halves, bit 1 between quarters, …
KOGGE_DEVICE u32 lane_of_row(u32 row) { return (row & 4) >> 2 | (row & 2) | (row & 1) << 2; }
