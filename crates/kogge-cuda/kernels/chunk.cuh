// A chunk: the consecutive elements that one lane holds, in registers, as 32-bit words.
//
// Elements are taken out and put in by shifts, with indices known to the compiler, so that nothing
// goes through local memory.

template <class T, u32 E>
struct Chunk {
    static constexpr u32 BYTES = E * sizeof(T);
    static constexpr u32 WORDS = (BYTES + 3) / 4;
    u32 word[WORDS];

    __device__ __forceinline__ T get(u32 e) const {
        T value;
        if constexpr (sizeof(T) % 4 == 0) {
            memcpy(&value, word + e * (sizeof(T) / 4), sizeof(T));
        } else if constexpr (sizeof(T) == 2) {
            u16 bits = (u16)(word[e / 2] >> 16 * (e % 2));
            memcpy(&value, &bits, 2);
        } else if constexpr (sizeof(T) == 1) {
            u8 bits = (u8)(word[e / 4] >> 8 * (e % 4));
            memcpy(&value, &bits, 1);
        } else {
            memcpy(&value, (const u8*)word + e * sizeof(T), sizeof(T));
        }
        return value;
    }
    // Puts element `e` in; those before it in the word are there already.
    __device__ __forceinline__ void put(u32 e, const T& value) {
        if constexpr (sizeof(T) % 4 == 0) {
            memcpy(word + e * (sizeof(T) / 4), &value, sizeof(T));
        } else if constexpr (sizeof(T) == 2) {
            u16 bits;
            memcpy(&bits, &value, 2);
            word[e / 2] = e % 2 ? word[e / 2] | (u32)bits << 16 : bits;
        } else if constexpr (sizeof(T) == 1) {
            u8 bits;
            memcpy(&bits, &value, 1);
            word[e / 4] = e % 4 ? word[e / 4] | (u32)bits << 8 * (e % 4) : bits;
        } else {
            memcpy((u8*)word + e * sizeof(T), &value, sizeof(T));
        }
    }
};

// Element `e` as it is combined. `PLAIN` says that the chunk holds no NaN that needs care.
template <class A, bool PLAIN, class T, u32 E>
KOGGE_DEVICE A widened(const Chunk<T, E>& chunk, u32 e) {
    if constexpr (PLAIN && Pair<T>::EXISTS && is_float<A>())
        return e % 2 ? Pair<T>::second(chunk.word[e / 2]) : Pair<T>::first(chunk.word[e / 2]);
    else
        return Convert<A, T>::of(chunk.get(e));
}
// Whether no NaN of these chunks needs care when they are widened to `A`.
template <class A, class T, u32 E, u32 N>
KOGGE_DEVICE bool are_plain(const Chunk<T, E> (&chunk)[N]) {
    u32 nans = 0;
    if constexpr (Pair<T>::EXISTS && is_float<A>()) {
#pragma unroll
        for (u32 j = 0; j < N; j++) {
#pragma unroll
            for (u32 i = 0; i < Chunk<T, E>::WORDS; i++) nans |= Pair<T>::nans(chunk[j].word[i]);
        }
    }
    return (nans & 0x80008000) == 0;
}
// The chunk of these values.
template <class U, class A, u32 E>
KOGGE_DEVICE Chunk<U, E> narrowed(const A (&value)[E]) {
    Chunk<U, E> chunk;
    if constexpr (Pair<U>::EXISTS && is_float<A>() && E % 2 == 0) {
        u32 nans = 0;
#pragma unroll
        for (u32 e = 0; e < E; e += 2) {
            chunk.word[e / 2] = Pair<U>::of(value[e], value[e + 1]);
            nans |= Pair<U>::nans(chunk.word[e / 2]);
        }
        if ((nans & 0x80008000) == 0) return chunk;
    }
#pragma unroll
    for (u32 e = 0; e < E; e++) chunk.put(e, Convert<U, A>::of(value[e]));
    return chunk;
}

// The left fold of a chunk's elements.
template <class S>
struct LeftFold {
    typedef typename S::Op Op;
    typedef typename Op::Element A;
    typedef typename S::Input Input;
    template <bool PLAIN>
    static __device__ __forceinline__ A of(const Chunk<Input, Order<Input>::CHUNK>& chunk, u32 count) {
        A total = widened<A, PLAIN>(chunk, 0);
#pragma unroll
        for (u32 e = 1; e < Order<Input>::CHUNK; e++)
            if (e < count) total = Op::combine(total, widened<A, PLAIN>(chunk, e));
        return total;
    }
};
// The sum of a chunk of bytes or halfwords, four or two at a time. Modulo 2^8 or 2^16 the order and the
// sign don't matter.
template <class S>
struct PackedSum {
    typedef typename S::Input Input;
    template <bool PLAIN>
    static __device__ __forceinline__ int of(const Chunk<Input, Order<Input>::CHUNK>& chunk, u32 count) {
        if (count < Order<Input>::CHUNK) return LeftFold<S>::template of<PLAIN>(chunk, count);
        int total = 0;
#pragma unroll
        for (u32 i = 0; i < 4; i++)
            total = sizeof(Input) == 1 ? add_bytes(chunk.word[i], total) : add_halfwords(chunk.word[i], total);
        return total;
    }
};
