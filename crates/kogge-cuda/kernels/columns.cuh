// Where the lines of an array lie, and what a kernel of columns is told. The host writes these structs
// byte for byte: see src/lines/columns.rs.
//
// Strides are in bytes and have the direction of the scan in them: kernels go along lines forwards only.

enum : u32 { MOST_OUTER = 8 };

// An axis across the lines.
struct OuterAxis {
    u64 length;
    long long input_stride, output_stride;
    long long number_stride;  // from one index to the next in the numbers of the lines
};

// A line's first element, its first place, and its number.
struct Line {
    const u8* input;
    u8* output;
    u64 number;
};

template <class S>
struct ColumnArguments {
    const u8* input;
    u8* output;
    u64 length;  // of a line
    long long input_stride, output_stride;
    u64 lines;
    u64 first_number;  // of the line with index 0 on all axes
    u64 axes;
    OuterAxis outer[MOST_OUTER];  // the last is the fastest
    Workspace* workspace;
    Inits<S> inits;

    // Line `index`, counted over the axes as they stand here.
    __device__ __forceinline__ Line line(u64 index) const {
        Line line = {input, output, first_number};
#pragma unroll 1
        for (u32 k = (u32)axes; k-- > 0;) {
            const OuterAxis& axis = outer[k];
            u64 rest = k > 0 ? quotient(index, axis.length) : 0;
            u64 i = index - rest * axis.length;
            line.input += (long long)i * axis.input_stride;
            line.output += (long long)i * axis.output_stride;
            line.number += i * (u64)axis.number_stride;
            index = rest;
        }
        return line;
    }

    // Whether every line has its places at multiples of so many bytes.
    __device__ __forceinline__ bool writes_at_multiples_of(u32 bytes) const {
        u64 all = (u64)output | (u64)output_stride;
#pragma unroll 1
        for (u32 k = 0; k < axes; k++) all |= (u64)outer[k].output_stride;
        return all % bytes == 0;
    }

    // In 32 bits, where it fits: four times as fast.
    static __device__ __forceinline__ u64 quotient(u64 number, u64 by) {
        return (number | by) >> 32 ? number / by : (u32)number / (u32)by;
    }
};

// An element at an address that is a multiple of `ALIGNMENT`.
template <u32 ALIGNMENT, class T>
KOGGE_DEVICE T read_element(const u8* from) {
    T value;
    memcpy(&value, __builtin_assume_aligned(from, ALIGNMENT), sizeof(T));
    return value;
}
template <u32 ALIGNMENT, class T>
KOGGE_DEVICE void write_element(u8* to, const T& value) {
    memcpy(__builtin_assume_aligned(to, ALIGNMENT), &value, sizeof(T));
}
// The largest alignment that an array of `T` can have throughout.
template <class T>
constexpr u32 natural_alignment() {
    u32 size = (u32)sizeof(T), lowest = size & (0u - size);
    return lowest < 16 ? lowest : 16;
}
