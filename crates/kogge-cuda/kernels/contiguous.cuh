// Lines of consecutive elements, each scanned by itself: where they lie, and what a kernel is told
// of them. The host writes these structs byte for byte: see src/lines/contiguous.rs.

enum : u32 { MOST_OUTER = 8 };

// An axis across the lines: its indices, and from one index to the next the bytes in the input and in the
// output and the step of the lines' numbers.
struct OuterAxis {
    u64 length;
    long long input, output, number;
};

struct LinePlace {
    u8* input;
    u8* output;
    u64 number;  // by which the line finds its init and its total
};

// In 32 bits where it fits, which is four times as fast.
KOGGE_DEVICE u64 quotient(u64 number, u64 by) { return (number | by) >> 32 ? number / by : (u32)number / (u32)by; }

template <class S>
struct LineArguments {
    LinePlace origin;  // of index 0 on every axis
    u64 length;        // elements of a line
    u64 lines;
    Workspace* workspace;
    Readable readable;  // from the first line in memory to the last
    // Whether every line begins at a multiple of 16 bytes, in input and output, and is whole chunks.
    u32 whole;
    // Whether in input and output a line goes on where the line before it ends.
    u32 dense;
    // Stages of the ring through which lines go, and the bytes of one; none if lines are read in place.
    u32 stages, stage_bytes;
    // Lots that are drawn at once, and none if they aren't; or, of short lines in a small table, lines that a thread
    // block has, or rows that lines share.
    u64 bunch;
    u64 axes;
    OuterAxis axis[MOST_OUTER];  // the last is the fastest
    Inits<S> inits;

    // The axis along which neighbours lie.
    __device__ __forceinline__ const OuterAxis& along() const { return axis[axes > 1 ? axes - 1 : 0]; }
    // Where line `index` lies: lines are counted along the axes, the last the fastest. `EVEN` says that there is
    // one axis at most: the divisions of more would crowd a kernel that never needs them.
    __device__ __forceinline__ LinePlace place(u64 index) const {
        if constexpr (S::EVEN) return place_along(index);
        else return axes <= 1 ? place_along(index) : place_among(index);
    }

  private:
    __device__ __forceinline__ LinePlace place_along(u64 index) const {
        LinePlace at = origin;
        at.input += (long long)index * axis[0].input;
        at.output += (long long)index * axis[0].output;
        at.number += index * (u64)axis[0].number;
        return at;
    }
    __device__ __forceinline__ LinePlace place_among(u64 index) const {
        LinePlace at = origin;
#pragma unroll 1
        for (u32 i = (u32)axes; i-- > 0;) {
            u64 rest = i > 0 ? quotient(index, axis[i].length) : 0;
            long long step = (long long)(index - rest * axis[i].length);
            at.input += step * axis[i].input;
            at.output += step * axis[i].output;
            at.number += (u64)(step * axis[i].number);
            index = rest;
        }
        return at;
    }
};
