// Where the elements of a tile lie: from the sequence's order to addresses, forwards or in reverse, full
// or cut short by the end, at any alignment of the elements.
//
// `Whole` says that all elements are there and every chunk is a whole number of 16-byte words at a
// 16-byte boundary; then lanes move vectors. Else they move elements, as many as there are.

// A part of the sequence that begins with a chunk: its first byte in memory, and its elements.
template <class T>
struct Span {
    u8* bytes;
    u32 count;
};

// The part of `length` elements at `base` that starts at element `start` of the sequence and has at most
// `limit` elements. In reverse it is counted from the end.
template <class T, bool REVERSE>
KOGGE_DEVICE Span<T> span_of(const void* base, u64 length, u64 start, u32 limit) {
    u64 left = length - start;
    u32 count = left < limit ? (u32)left : limit;
    u64 first = REVERSE ? left - count : start;
    return {(u8*)base + first * sizeof(T), count};
}

template <class T>
KOGGE_DEVICE bool is_whole(const Span<T>& span, u32 elements) {
    return span.count == elements && (u64)span.bytes % 16 == 0;
}

// Elements of chunk `index` that exist.
template <class T>
KOGGE_DEVICE u32 elements_in(const Span<T>& span, u32 index) {
    constexpr u32 E = Order<T>::CHUNK;
    u32 before = index * E;
    return span.count <= before ? 0 : span.count - before < E ? span.count - before : E;
}

// The address of element `e` of chunk `index`.
template <class T, bool REVERSE>
KOGGE_DEVICE u8* element_at(const Span<T>& span, u32 index, u32 e) {
    u32 place = index * Order<T>::CHUNK + e;
    return span.bytes + (u64)(REVERSE ? span.count - 1 - place : place) * sizeof(T);
}

struct FromShared {
    static __device__ __forceinline__ Quad load(const u8* from) { return load_shared(from); }
};
struct FromGlobal {
    static __device__ __forceinline__ Quad load(const u8* from) { return load_quad(from); }
};

template <class T, bool REVERSE, bool WHOLE, class From>
KOGGE_DEVICE Chunk<T, Order<T>::CHUNK> read_chunk(const Span<T>& span, u32 index) {
    constexpr u32 E = Order<T>::CHUNK;
    Chunk<T, E> chunk = {};
    if constexpr (WHOLE && Chunk<T, E>::BYTES % 16 == 0) {
        constexpr u32 QUADS = Chunk<T, E>::BYTES / 16;
        const u8* from = element_at<T, REVERSE>(span, index, REVERSE ? E - 1 : 0);
        Chunk<T, E> stored;
#pragma unroll
        for (u32 q = 0; q < QUADS; q++) {
            Quad quad = From::load(from + q * 16);
#pragma unroll
            for (u32 i = 0; i < 4; i++) stored.word[q * 4 + i] = quad.word[i];
        }
        if constexpr (!REVERSE || E == 1) return stored;
#pragma unroll
        for (u32 e = 0; e < E; e++) chunk.put(e, stored.get(E - 1 - e));
    } else {
        u32 count = elements_in(span, index);
#pragma unroll
        for (u32 e = 0; e < E; e++)
            if (e < count) {
                T value;
                memcpy(&value, (const T*)element_at<T, REVERSE>(span, index, e), sizeof(T));
                chunk.put(e, value);
            }
    }
    return chunk;
}

// Writes chunk `index` of the output; `E` elements to a chunk, however large an output element is.
template <class U, u32 E, bool REVERSE, bool WHOLE>
KOGGE_DEVICE void write_chunk(u8* base, u32 span_count, u32 index, u32 count, const Chunk<U, E>& chunk) {
    u32 place = index * E;
    if constexpr (WHOLE && Chunk<U, E>::BYTES % 16 == 0) {
        u8* to = base + (u64)(REVERSE ? span_count - E - place : place) * sizeof(U);
        Chunk<U, E> stored = chunk;
        if constexpr (REVERSE && E > 1) {
#pragma unroll
            for (u32 e = 0; e < E; e++) stored.put(e, chunk.get(E - 1 - e));
        }
#pragma unroll
        for (u32 q = 0; q < Chunk<U, E>::BYTES / 16; q++) {
            Quad quad;
#pragma unroll
            for (u32 i = 0; i < 4; i++) quad.word[i] = stored.word[q * 4 + i];
            store_quad(to + q * 16, quad);
        }
    } else {
#pragma unroll
        for (u32 e = 0; e < E; e++)
            if (e < count) {
                U value = chunk.get(e);
                memcpy((U*)(base + (u64)(REVERSE ? span_count - 1 - place - e : place + e) * sizeof(U)), &value,
                       sizeof(U));
            }
    }
}

// Lanes that have a chunk, in the row whose first chunk is `first`.
template <class T>
KOGGE_DEVICE u32 chunks_from(const Span<T>& span, u32 first) {
    constexpr u32 E = Order<T>::CHUNK;
    u32 chunks = (span.count + E - 1) / E;
    return chunks <= first ? 0 : chunks - first < LANES ? chunks - first : LANES;
}
