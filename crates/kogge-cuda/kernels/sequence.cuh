// The tiles of one sequence, and what precedes them: what the kernel of rounds scans, where it isn't lines.

template <class S>
struct SequenceTiles {
    typedef typename S::Input Input;
    static constexpr u32 TILE = Order<Input>::TILE;
    static constexpr bool MAY_DRAW = true, PUT_DOWN = false;
    const Arguments<S>& arguments;
    u64 count;

    __device__ __forceinline__ SequenceTiles(const Arguments<S>& arguments)
        : arguments(arguments), count((arguments.length + TILE - 1) / TILE) {}
    __device__ __forceinline__ Workspace* workspace() const { return arguments.workspace; }
    __device__ __forceinline__ Readable readable() const { return Readable::of(arguments.input, arguments.output, arguments.length * sizeof(Input)); }
    // Fewer tiles are faster in turn; so are those of bytes, where two warps look ahead.
    __device__ __forceinline__ bool drawn() const { return S::LOOKERS == 1 && count >= S::DRAW_FROM; }
    __device__ __forceinline__ Span<Input> input(u64 tile) const {
        return span_of<Input, S::REVERSE>(arguments.input, arguments.length, tile * TILE, TILE);
    }
    __device__ __forceinline__ u8* output(u64 tile) const {
        return span_of<typename S::Output, S::REVERSE>(arguments.output, arguments.length, tile * TILE, TILE).bytes;
    }

    // What precedes one tile after another. All lanes of a warp take part.
    struct Prefixes {
        const SequenceTiles& tiles;
        LookAhead<S> look_ahead;

        __device__ __forceinline__ Prefixes(const SequenceTiles& tiles, u64 epoch)
            : tiles(tiles), look_ahead{init_of(tiles.arguments), 0, tiles.workspace(), epoch} {}
        __device__ __forceinline__ Maybe<typename S::Op::Element> before(u64 tile, u32 lane) {
            return look_ahead.before(tile, lane);
        }
        // Puts the total in its place, if the tile is the last and it is wanted.
        __device__ __forceinline__ void end(u64 tile, u32 lane) {
            if (tile + 1 < tiles.count || !tiles.arguments.total) return;
            Maybe<typename S::Op::Element> total = look_ahead.before(tiles.count, lane);
            if (lane == 0) store_total(tiles.arguments, total);
        }
    };
};

template <class S>
KOGGE_DEVICE void sequence_scan(const Arguments<S>& arguments) {
    round_scan<S>(SequenceTiles<S>(arguments));
}
