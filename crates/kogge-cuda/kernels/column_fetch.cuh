// How threads get elements of neighbouring lines into shared memory, ahead of their use: element by element
// of the lines' axis, the lines beside one another.

template <class T, u32 COLUMNS>
struct ColumnFetch {
    // One element of every line.
    static constexpr u32 PITCH = COLUMNS * sizeof(T);
    long long stride;
    bool together;  // whether the lines of every strip lie side by side, at boundaries of 16 bytes

    template <class S>
    __device__ __forceinline__ ColumnFetch(const ColumnArguments<S>& arguments) : stride(arguments.input_stride), together(false) {
        if (PITCH % 16 != 0 || arguments.axes == 0) return;
        const OuterAxis& beside = arguments.outer[arguments.axes - 1];
        u64 all = (u64)arguments.input | (u64)arguments.input_stride;
        for (u32 k = 0; k + 1 < arguments.axes; k++) all |= (u64)arguments.outer[k].input_stride;
        together = beside.input_stride == sizeof(T) && beside.length % COLUMNS == 0 && all % 16 == 0;
    }

    // `count` elements of all lines by `THREADS` threads, 16 bytes each at a time, so that memory is asked for
    // long pieces. `from` is the first element of the first line.
    template <u32 THREADS>
    __device__ __forceinline__ void ask_together(u8* to, const u8* from, u32 count, u32 index) const {
        constexpr u32 PIECES = PITCH < 16 ? 1 : PITCH / 16;
        if constexpr (THREADS % PIECES == 0) {
            // A thread always asks for the same piece, some elements further on.
            constexpr u32 STEP = THREADS / PIECES;
            u32 element = index / PIECES;
            to += index * 16;
            from += (long long)element * stride + index % PIECES * 16;
#pragma unroll 8
            for (; element < count; element += STEP) {
                async_load(to, from);
                to += THREADS * 16;
                from += STEP * stride;
            }
        } else {
#pragma unroll 8
            for (u32 i = index; i < count * PIECES; i += THREADS)
                async_load(to + i * 16, from + (long long)(i / PIECES) * stride + i % PIECES * 16);
        }
    }
    // `count` elements of this thread's own line; then an arrival.
    __device__ __forceinline__ void ask_alone(u8* to, const u8* from, u32 count, Barrier* full) const {
        if (sizeof(T) % 4 == 0 && ((u64)from | (u64)stride) % 4 == 0) {
            ask_words(to, from, count);
            async_arrive(full);
        } else {
            copy(to, from, count);
            barrier_arrive(full);
        }
    }

  private:
    __device__ __forceinline__ void ask_words(u8* to, const u8* from, u32 count) const {
#pragma unroll 4
        for (u32 e = 0; e < count; e++) {
#pragma unroll
            for (u32 w = 0; w + 4 <= sizeof(T); w += 4) async_load_word(to + w, from + w);
            to += PITCH;
            from += stride;
        }
    }
    // At any alignment, a few at once.
    __device__ __forceinline__ void copy(u8* to, const u8* from, u32 count) const {
        constexpr u32 AT_ONCE = 8;
#pragma unroll 1
        for (u32 first = 0; first < count; first += AT_ONCE) {
            T value[AT_ONCE];
#pragma unroll
            for (u32 i = 0; i < AT_ONCE; i++)
                if (first + i < count) value[i] = read_element<alignof(T), T>(from + (long long)(first + i) * stride);
#pragma unroll
            for (u32 i = 0; i < AT_ONCE; i++)
                if (first + i < count) write_element<natural_alignment<T>()>(to + (first + i) * PITCH, value[i]);
        }
    }
};

// Reads a chunk of one line from where a fetch has put it; past the line's end, whatever is there.
template <class T, u32 COLUMNS>
KOGGE_DEVICE void read_column_chunk(const u8* line, u32 chunk, T (&value)[Order<T>::CHUNK]) {
    constexpr u32 E = Order<T>::CHUNK;
#pragma unroll
    for (u32 e = 0; e < E; e++)
        value[e] = read_element<natural_alignment<T>(), T>(line + (chunk * E + e) * ColumnFetch<T, COLUMNS>::PITCH);
}
