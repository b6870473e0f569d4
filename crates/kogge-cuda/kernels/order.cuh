// The order of combination: chunk, row, segment, tile, block. A function of the element's size alone;
// see kogge-core's `Order`, whose constants these are.

enum : u32 {
    LANES = 32,
    CHUNKS_PER_ROW = 32,
    ROWS_PER_SEGMENT = 8,
    SEGMENTS_PER_TILE = 8,
    TILES_PER_BLOCK = 32,
    CHUNKS_PER_SEGMENT = CHUNKS_PER_ROW * ROWS_PER_SEGMENT,
    CHUNKS_PER_TILE = CHUNKS_PER_SEGMENT * SEGMENTS_PER_TILE,
};

template <class T>
struct Order {
    static constexpr u32 CHUNK = sizeof(T) > 16 ? 1 : 16 / sizeof(T);
    static constexpr u32 SEGMENT = CHUNK * CHUNKS_PER_SEGMENT;
    static constexpr u32 TILE = CHUNK * CHUNKS_PER_TILE;
    static constexpr u32 TILE_BYTES = TILE * sizeof(T);
    static_assert(TILE_BYTES % 16 == 0, "tiles keep the alignment of the first");
};
