// A window's elements in shared memory, and chunks of them that begin anywhere.
//
// The stage keeps the order of memory and its alignment in 16 bytes, so that copies move vectors. In
// reverse its positions therefore run downwards.

// Where the positions of a window lie in global memory, and in a stage that is its copy.
template <class T, bool REVERSE, u32 REACH>
struct Stage {
    static constexpr u32 PAD = 32;  // what a chunk that is cut short may read beside it
    static constexpr u32 BYTES = (PAD + 16 + REACH * sizeof(T) + PAD + 15) / 16 * 16;
    u8* global;  // where the lowest place is, or would be
    u8* local;

    __device__ __forceinline__ Stage(const void* base, u64 length, u64 start, u8* stage) {
        global = (u8*)((u64)base + (REVERSE ? length - start - REACH : start) * sizeof(T));
        local = stage + PAD + (u64)global % 16;
    }
    // The offset of the lowest byte of the positions from `first` to `end`.
    static __device__ __forceinline__ u32 offset(u32 first, u32 end) {
        return (REVERSE ? REACH - end : first) * (u32)sizeof(T);
    }
    __device__ __forceinline__ u8* at(u32 position) const { return local + offset(position, position + 1); }

    // Copies these positions in, without waiting; all threads of the block take part.
    __device__ __forceinline__ void load(u32 first, u32 end, u32 threads) const {
        if (first >= end) return;
        u32 at = offset(first, end), bytes = (end - first) * (u32)sizeof(T), index = thread_index();
        const u8* from = global + at;
        u8* to = local + at;
        u32 head = (u32)(-(u64)from % 16);
        if (head > bytes) head = bytes;
        u32 middle = (bytes - head) / 16 * 16, tail = bytes - head - middle;
        if (index < head) to[index] = from[index];
        if (index < tail) to[head + middle + index] = from[head + middle + index];
        for (u32 i = head + index * 16; i < head + middle; i += threads * 16) async_load(to + i, from + i);
    }
    // Copies these positions out, by all threads of the block.
    __device__ __forceinline__ void store(u32 first, u32 end, u32 threads) const {
        u32 at = offset(first, end), bytes = (end - first) * (u32)sizeof(T), index = thread_index();
        u8* to = global + at;
        const u8* from = local + at;
        u32 head = (u32)(-(u64)to % 16);
        if (head > bytes) head = bytes;
        u32 middle = (bytes - head) / 16 * 16, tail = bytes - head - middle;
        if (index < head) to[index] = from[index];
        if (index < tail) to[head + middle + index] = from[head + middle + index];
        for (u32 i = head + index * 16; i < head + middle; i += threads * 16) store_quad(to + i, load_shared(from + i));
    }
    // The same to places of another alignment, element by element.
    __device__ __forceinline__ void store_elements(u8* to, u32 first, u32 end, u32 threads) const {
        u32 at = offset(first, end), count = end - first;
        for (u32 i = thread_index(); i < count; i += threads) {
            u32 place = at + i * (u32)sizeof(T);
            store_aligned<T>(to + place, load_aligned<T>(local + place));
        }
    }
};

// Four words of which lane l meets bank after bank in an order of its own, since 32 lanes that each take
// the first of four words would meet in eight banks.
struct Rotation {
    u32 by, place[4];
    __device__ __forceinline__ Rotation(u32 lane) : by(lane / 8 % 4) {
#pragma unroll
        for (u32 k = 0; k < 4; k++) place[k] = kept((k + by) % 4);
    }
    // The words in their order, from those met one after another.
    __device__ __forceinline__ void to_order(u32 (&word)[4]) const { rotate(word, by % 2, by / 2); }
    __device__ __forceinline__ void from_order(u32 (&word)[4]) const { rotate(word, by % 2, by / 2 != by % 2); }

  private:
    static __device__ __forceinline__ void rotate(u32 (&word)[4], bool by_one, bool by_two) {
        u32 once[4];
#pragma unroll
        for (u32 k = 0; k < 4; k++) once[k] = by_one ? word[(k + 3) % 4] : word[k];
#pragma unroll
        for (u32 k = 0; k < 4; k++) word[k] = by_two ? once[(k + 2) % 4] : once[k];
    }
};

template <class T, u32 E>
struct Gather {
    static constexpr bool WORDWISE = sizeof(T) % 4 == 0, ROTATED = WORDWISE && E * sizeof(T) == 16;
    static constexpr u32 PER_ELEMENT = WORDWISE ? sizeof(T) / 4 : 1;
    static constexpr bool SHIFTED = sizeof(T) <= 2;
    // Whether a whole chunk at a multiple of 16 bytes is one access.
    static constexpr bool QUAD = E * sizeof(T) == 16;

    // The element whose part word `k` of the chunk's memory is.
    template <bool REVERSE>
    static __device__ __forceinline__ u32 element_of(u32 k) {
        return REVERSE ? E - 1 - k / PER_ELEMENT : k / PER_ELEMENT;
    }
    template <bool REVERSE>
    static __device__ __forceinline__ Chunk<T, E> turned(const Chunk<T, E>& stored) {
        if constexpr (!REVERSE || E == 1) return stored;
        Chunk<T, E> chunk = {};
#pragma unroll
        for (u32 e = 0; e < E; e++) chunk.put(e, stored.get(E - 1 - e));
        return chunk;
    }

    // A whole chunk at a multiple of 16 bytes.
    template <bool REVERSE>
    static __device__ __forceinline__ Chunk<T, E> load_quad(const u8* from) {
        Quad quad = load_aligned<Quad>(from);
        Chunk<T, E> stored;
#pragma unroll
        for (u32 k = 0; k < 4; k++) stored.word[k] = quad.word[k];
        return turned<REVERSE>(stored);
    }
    template <bool REVERSE>
    static __device__ __forceinline__ void store_quad(u8* to, const Chunk<T, E>& chunk) {
        Chunk<T, E> stored = turned<REVERSE>(chunk);
        Quad quad;
#pragma unroll
        for (u32 k = 0; k < 4; k++) quad.word[k] = stored.word[k];
        store_aligned<Quad>(to, quad);
    }

    // The chunk of `count` elements whose whole memory would begin at `from`.
    template <bool REVERSE>
    static __device__ __forceinline__ Chunk<T, E> load(const u8* from, u32 count, const Rotation& rotation) {
        Chunk<T, E> stored = {};
        if constexpr (ROTATED) {
#pragma unroll
            for (u32 k = 0; k < 4; k++) {
                u32 place = rotation.place[k];
                stored.word[k] = 0;
                if (element_of<REVERSE>(place) < count) stored.word[k] = load_aligned<u32>(from + place * 4);
            }
            rotation.to_order(stored.word);
        } else if constexpr (WORDWISE) {
#pragma unroll
            for (u32 k = 0; k < Chunk<T, E>::WORDS; k++)
                if (element_of<REVERSE>(k) < count) stored.word[k] = load_aligned<u32>(from + k * 4);
        } else if constexpr (SHIFTED) {
            // Whole words around it: the stage has room for what they have too much.
            u32 shift = (u32)((u64)from % 4) * 8;
            const u8* words = from - (u64)from % 4;
            u32 low = load_aligned<u32>(words);
#pragma unroll
            for (u32 k = 0; k < Chunk<T, E>::WORDS; k++) {
                u32 high = load_aligned<u32>(words + k * 4 + 4);
                stored.word[k] = (u32)(((u64)high << 32 | low) >> shift);
                low = high;
            }
        } else {
#pragma unroll
            for (u32 e = 0; e < E; e++) {
                T value = T();
                if ((REVERSE ? E - 1 - e : e) < count) value = load_aligned<T>(from + e * sizeof(T));
                stored.put(e, value);
            }
        }
        return turned<REVERSE>(stored);
    }

    // Puts `count` elements of a chunk where its whole memory would begin at `to`.
    template <bool REVERSE>
    static __device__ __forceinline__ void store(u8* to, const Chunk<T, E>& chunk, u32 count, const Rotation& rotation) {
        Chunk<T, E> stored = turned<REVERSE>(chunk);
        if constexpr (ROTATED) {
            rotation.from_order(stored.word);
#pragma unroll
            for (u32 k = 0; k < 4; k++) {
                u32 place = rotation.place[k];
                if (element_of<REVERSE>(place) < count) store_aligned<u32>(to + place * 4, stored.word[k]);
            }
        } else {
#pragma unroll
            for (u32 e = 0; e < E; e++) {
                if ((REVERSE ? E - 1 - e : e) >= count) continue;
                store_aligned<T>(to + e * sizeof(T), stored.get(e));
            }
        }
    }
};
