// Where the elements of a tile lie: from the sequence's order to addresses, forwards or in reverse, full
// or cut short by the end, at any alignment of the elements.
//
// `Whole` says that all elements are there and every chunk is a whole number of 16-byte words at a
// 16-byte boundary; then lanes move vectors. Else they move elements, as many as there are.

// A value at an address that is a multiple of its alignment: of a pointer to it the compiler doesn't conclude that, and moves bytes.
template <class T>
KOGGE_DEVICE T load_aligned(const u8* from) {
    T value;
    memcpy(&value, __builtin_assume_aligned(from, alignof(T)), sizeof(T));
    return value;
}
template <class T>
KOGGE_DEVICE void store_aligned(u8* to, const T& value) {
    memcpy(__builtin_assume_aligned(to, alignof(T)), &value, sizeof(T));
}

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
    static constexpr bool QUADS = false;
    static __device__ __forceinline__ Quad load(const u8* from) { return load_shared(from); }
};
// Bytes `skip` to `skip` + 16 of two quads, one after the other; `skip` is below 16.
KOGGE_DEVICE Quad straddle(const Quad& low, const Quad& high, u32 skip) {
    u32 word[8], bits = 8 * (skip % 4);
#pragma unroll
    for (u32 i = 0; i < 8; i++) word[i] = i < 4 ? low.word[i] : high.word[i - 4];
#pragma unroll
    for (u32 i = 0; i < 6; i++) word[i] = skip & 8 ? word[i + 2] : word[i];
#pragma unroll
    for (u32 i = 0; i < 5; i++) word[i] = skip & 4 ? word[i + 1] : word[i];
    Quad quad;
#pragma unroll
    for (u32 i = 0; i < 4; i++) quad.word[i] = (u32)(((u64)word[i + 1] << 32 | word[i]) >> bits);
    return quad;
}
// Sixteen bytes from any address, by way of the two quads in which they lie.
struct FromSharedAnywhere {
    static __device__ __forceinline__ Quad load(const u8* from) {
        u32 skip = (u64)from % 16;
        return straddle(load_shared(from - skip), load_shared(from - skip + 16), skip);
    }
};
struct FromGlobal {
    static constexpr bool QUADS = true;
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
                chunk.put(e, load_aligned<T>(element_at<T, REVERSE>(span, index, e)));
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
                // By bytes: words would be stored under predicates, with which whole chunks beside it are busy too.
                U value = chunk.get(e);
                memcpy(base + (u64)(REVERSE ? span_count - 1 - place - e : place + e) * sizeof(U), &value, sizeof(U));
            }
    }
}

// Whether `count` elements are a whole chunk of quads, the lowest of them at a multiple of 16 bytes.
template <class T, u32 E>
KOGGE_DEVICE bool are_quads(const u8* lowest, u32 count) {
    return Chunk<T, E>::BYTES % 16 == 0 && count == E && (u64)lowest % 16 == 0;
}
// A chunk that may be cut short or lie anywhere: by quads where it is made of them, unless `From` says that
// it isn't worth the code.
template <class T, bool REVERSE, class From>
KOGGE_DEVICE Chunk<T, Order<T>::CHUNK> read_part_chunk(const Span<T>& span, u32 index) {
    constexpr u32 E = Order<T>::CHUNK;
    if constexpr (From::QUADS) {
        if (are_quads<T, E>(element_at<T, REVERSE>(span, index, REVERSE ? E - 1 : 0), elements_in(span, index)))
            return read_chunk<T, REVERSE, true, From>(span, index);
    }
    return read_chunk<T, REVERSE, false, From>(span, index);
}
template <class U, u32 E, bool REVERSE, class From>
KOGGE_DEVICE void write_part_chunk(u8* base, u32 span_count, u32 index, u32 count, const Chunk<U, E>& chunk) {
    if constexpr (From::QUADS) {
        if (are_quads<U, E>(base + (u64)(REVERSE ? span_count - E - index * E : index * E) * sizeof(U), count))
            return write_chunk<U, E, REVERSE, true>(base, span_count, index, count, chunk);
    }
    write_chunk<U, E, REVERSE, false>(base, span_count, index, count, chunk);
}

// Bytes `first` to `end` of a quad, multiples of the elements' alignment.
template <class U>
KOGGE_DEVICE void store_part(u8* to, const Quad& quad, u32 first, u32 end) {
    constexpr u32 STEP = alignof(U) < 4 ? alignof(U) : 4;
#pragma unroll
    for (u32 b = 0; b < 16; b += STEP) {
        if (b < first || b >= end) continue;
        u32 word = quad.word[b / 4] >> 8 * (b % 4);
        memcpy(__builtin_assume_aligned(to + b, STEP), &word, STEP);
    }
}

// Writes whole rows, one after another, to where no chunk begins at 16 bytes: every lane writes the quad
// that its chunk shares with the one below, all but the two at the ends whole.
template <class U, u32 E, bool REVERSE>
struct StraddlingRows {
    // Chunks that are no whole quads are never written this way.
    static constexpr u32 QUADS = Chunk<U, E>::BYTES < 16 ? 1 : Chunk<U, E>::BYTES / 16;
    Quad carried;  // lane 0: of the last lane in the row before

    __device__ __forceinline__ void write(u8* to, const Chunk<U, E>& chunk, u32 lane, bool first, bool last) {
        u32 past = (u64)to % 16;
        Quad own[QUADS];
        memory_order(own, chunk);
        Quad beside = own[REVERSE ? 0 : QUADS - 1], below;
#pragma unroll
        for (u32 i = 0; i < 4; i++) {
            u32 word = shuffle(beside.word[i], (lane + LANES - 1) % LANES);
            below.word[i] = lane > 0 ? word : carried.word[i];
            carried.word[i] = word;
        }
#pragma unroll
        for (u32 q = 0; q < QUADS; q++) {
            Quad quad;
            if constexpr (REVERSE) quad = straddle(own[q], q + 1 < QUADS ? own[(q + 1) % QUADS] : below, 16 - past);
            else quad = straddle(q > 0 ? own[(q + QUADS - 1) % QUADS] : below, own[q], 16 - past);
            bool shared = first && lane == 0 && q == (REVERSE ? QUADS - 1 : 0);
            u8* at = to - past + 16 * (REVERSE ? q + 1 : q);
            if (shared) store_part<U>(at, quad, REVERSE ? 0 : past, REVERSE ? past : 16);
            else store_quad(at, quad);
        }
        if (last && lane == LANES - 1) {
            Quad quad = straddle(beside, beside, 16 - past);
            store_part<U>(REVERSE ? to - past : to - past + 16 * QUADS, quad, REVERSE ? past : 0, REVERSE ? 16 : past);
        }
    }

  private:
    // The chunk as it lies in memory.
    static __device__ __forceinline__ void memory_order(Quad (&own)[QUADS], const Chunk<U, E>& chunk) {
        Chunk<U, E> stored = chunk;
        if constexpr (REVERSE && E > 1) {
#pragma unroll
            for (u32 e = 0; e < E; e++) stored.put(e, chunk.get(E - 1 - e));
        }
#pragma unroll
        for (u32 q = 0; q < QUADS; q++) {
#pragma unroll
            for (u32 i = 0; i < 4; i++) own[q].word[i] = stored.word[q * 4 + i];
        }
    }
};

// Lanes that have a chunk, in the row whose first chunk is `first`.
template <class T>
KOGGE_DEVICE u32 chunks_from(const Span<T>& span, u32 first) {
    constexpr u32 E = Order<T>::CHUNK;
    u32 chunks = (span.count + E - 1) / E;
    return chunks <= first ? 0 : chunks - first < LANES ? chunks - first : LANES;
}
