// The tiles of many lines, line after line, and what precedes them in their own line: what the kernel of
// rounds scans, where lines are longer than a tile.

template <class S>
struct LineTiles {
    typedef typename S::Input Input;
    typedef typename S::Op::Element A;
    static constexpr u32 TILE = Order<Input>::TILE;
    const LineArguments<S>& arguments;
    u64 per_line, count;
    // The line of the last tile that was asked for, and its first tile.
    LinePlace line;
    u64 first;

    __device__ __forceinline__ LineTiles(const LineArguments<S>& arguments)
        : arguments(arguments), per_line((arguments.length + TILE - 1) / TILE), count(per_line * arguments.lines), first(~0ull) {}
    __device__ __forceinline__ Workspace* workspace() const { return arguments.workspace; }
    // Tiles rise from call to call.
    __device__ __forceinline__ void turn_to(u64 tile) {
        if (first != ~0ull && tile - first < per_line) return;
        u64 index = quotient(tile, per_line);
        first = index * per_line;
        line = arguments.place(index);
    }
    __device__ __forceinline__ Span<Input> input(u64 tile) {
        turn_to(tile);
        return span_of<Input, S::REVERSE>(line.input, arguments.length, (tile - first) * TILE, TILE);
    }
    __device__ __forceinline__ u8* output(u64 tile) {
        turn_to(tile);
        return span_of<typename S::Output, S::REVERSE>(line.output, arguments.length, (tile - first) * TILE, TILE).bytes;
    }

    // What precedes one tile after another: in every line the look-ahead starts anew, on its own slots.
    struct Prefixes {
        LineTiles& tiles;
        LookAhead<S> look_ahead;
        u64 first;  // tile of its line

        __device__ __forceinline__ Prefixes(LineTiles& tiles, u64 epoch)
            : tiles(tiles), look_ahead{{A(), false}, 0, nullptr, epoch}, first(~0ull) {}
        __device__ __forceinline__ Maybe<A> before(u64 tile, u32 lane) {
            tiles.turn_to(tile);
            if (first != tiles.first) {
                first = tiles.first;
                look_ahead.blocks = tiles.arguments.inits.of(tiles.line.number);
                look_ahead.block = 0;
                look_ahead.workspace = (Workspace*)Slot<A>::at(tiles.workspace(), first) - 1;
            }
            return look_ahead.before(tile - first, lane);
        }
        // Puts the line's total in its place, if the tile is its last and totals are wanted.
        __device__ __forceinline__ void end(u64 tile, u32 lane) {
            if (tile - first + 1 < tiles.per_line || !tiles.arguments.inits.totals) return;
            Maybe<A> total = look_ahead.before(tiles.per_line, lane);
            if (lane == 0) tiles.arguments.inits.put_total(tiles.line.number, total);
        }
    };
};

template <class S>
KOGGE_DEVICE void long_line_scan(const LineArguments<S>& arguments) {
    round_scan<S>(LineTiles<S>(arguments));
}
