// The tiles of many lines, line after line, and what precedes them in their own line: what the kernel of
// rounds scans, where lines are long.

template <class S>
struct LineTiles {
    typedef typename S::Input Input;
    typedef typename S::Op::Element A;
    static constexpr u32 TILE = Order<Input>::TILE;
    static constexpr bool MAY_DRAW = true, PUT_DOWN = true;
    const LineArguments<S>& arguments;
    u64 per_line, count;

    __device__ __forceinline__ LineTiles(const LineArguments<S>& arguments)
        : arguments(arguments), per_line((arguments.length + TILE - 1) / TILE), count(per_line * arguments.lines) {}
    __device__ __forceinline__ Workspace* workspace() const { return arguments.workspace; }
    __device__ __forceinline__ Readable readable() const { return arguments.readable; }
    __device__ __forceinline__ bool drawn() const { return true; }
    // Anew for every tile: to keep the line from one to the next made the kernel slower by a twentieth. There are
    // fewer than 2^32 tiles; where lines lie at even distances, a longer division would crowd the kernel.
    __device__ __forceinline__ u64 line_of(u64 tile) const {
        return S::EVEN ? (u32)tile / (u32)per_line : quotient(tile, per_line);
    }
    // The first element of a tile in its line.
    __device__ __forceinline__ u64 start(u64 tile) const { return (tile - line_of(tile) * per_line) * TILE; }
    __device__ __forceinline__ Span<Input> input(u64 tile) const {
        return span_of<Input, S::REVERSE>(arguments.place(line_of(tile)).input, arguments.length, start(tile), TILE);
    }
    __device__ __forceinline__ u8* output(u64 tile) const {
        return span_of<typename S::Output, S::REVERSE>(arguments.place(line_of(tile)).output, arguments.length, start(tile), TILE).bytes;
    }

    // What precedes one tile after another: in every line the look-ahead starts anew, on its own slots.
    struct Prefixes {
        const LineTiles& tiles;
        LookAhead<S> look_ahead;
        u64 line;

        __device__ __forceinline__ Prefixes(const LineTiles& tiles, u64 epoch)
            : tiles(tiles), look_ahead{{A(), false}, 0, nullptr, epoch}, line(~0ull) {}
        __device__ __forceinline__ Maybe<A> before(u64 tile, u32 lane) {
            u64 index = tiles.line_of(tile), first = index * tiles.per_line;
            if (index != line) {
                line = index;
                look_ahead.blocks = tiles.arguments.inits.of(tiles.arguments.place(line).number);
                look_ahead.block = 0;
                look_ahead.workspace = (Workspace*)Slot<A>::at(tiles.workspace(), first) - 1;
            }
            return look_ahead.before(tile - first, lane);
        }
        // Puts the line's total in its place, if the tile is its last and totals are wanted.
        __device__ __forceinline__ void end(u64 tile, u32 lane) {
            if (!tiles.arguments.inits.totals || tile + 1 < (line + 1) * tiles.per_line) return;
            Maybe<A> total = look_ahead.before(tiles.per_line, lane);
            if (lane == 0) tiles.arguments.inits.put_total(tiles.arguments.place(line).number, total);
        }
    };
};

template <class S>
KOGGE_DEVICE void long_line_scan(const LineArguments<S>& arguments) {
    round_scan<S>(LineTiles<S>(arguments));
}
