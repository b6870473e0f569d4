// Between what is stored and what is combined. Widening is exact; narrowing rounds floats to nearest
// even, wraps integers, and saturates from float to integer (NaN to 0), as Rust's `as` does.
//
// The hardware's conversions between floats lose the payload of a NaN, so NaNs go by hand.

struct f16 {
    u16 bits;
};
struct bf16 {
    u16 bits;
};

KOGGE_DEVICE u32 float_bits(float value) {
    u32 bits;
    memcpy(&bits, &value, 4);
    return bits;
}
KOGGE_DEVICE float float_of_bits(u32 bits) {
    float value;
    memcpy(&value, &bits, 4);
    return value;
}

KOGGE_DEVICE u64 double_bits(double value) {
    u64 bits;
    memcpy(&bits, &value, 8);
    return bits;
}
KOGGE_DEVICE double double_of_bits(u64 bits) {
    double value;
    memcpy(&value, &bits, 8);
    return value;
}

template <class A>
constexpr bool is_float() {
    return false;
}
template <>
constexpr bool is_float<float>() {
    return true;
}

template <class To, class From>
struct Convert {
    static __device__ __forceinline__ To of(From value) { return (To)value; }
};
template <class T>
struct Convert<T, T> {
    static __device__ __forceinline__ T of(T value) { return value; }
};

template <>
struct Convert<float, f16> {
    static __device__ __forceinline__ float of(f16 half) {
        u32 rest = half.bits & 0x7fff;
        u32 nan = (u32)(half.bits & 0x8000) << 16 | 0x7fc00000 | (rest & 0x3ff) << 13;
        return rest > 0x7c00 ? float_of_bits(nan) : float_of_half(half.bits);
    }
};
template <>
struct Convert<f16, float> {
    static __device__ __forceinline__ f16 of(float value) {
        u32 bits = float_bits(value);
        u16 nan = (u16)((bits >> 16 & 0x8000) | 0x7e00 | (bits >> 13 & 0x3ff));
        return {value != value ? nan : half_of_float(value)};
    }
};
template <>
struct Convert<float, bf16> {
    static __device__ __forceinline__ float of(bf16 brain) {
        u32 quiet = (brain.bits & 0x7fff) > 0x7f80 ? 0x40 : 0;
        return float_of_bits((brain.bits | quiet) << 16);
    }
};
template <>
struct Convert<bf16, float> {
    static __device__ __forceinline__ bf16 of(float value) {
        u16 nan = (u16)(float_bits(value) >> 16 | 0x40);
        return {value != value ? nan : brain_of_float(value)};
    }
};

template <>
struct Convert<double, float> {
    static __device__ __forceinline__ double of(float value) {
        u32 bits = float_bits(value);
        u64 nan = (u64)(bits & 0x80000000) << 32 | 0x7ff8000000000000 | (u64)(bits & 0x7fffff) << 29;
        return value != value ? double_of_bits(nan) : (double)value;
    }
};
template <>
struct Convert<float, double> {
    static __device__ __forceinline__ float of(double value) {
        u64 bits = double_bits(value);
        u32 nan = (u32)(bits >> 32 & 0x80000000) | 0x7fc00000 | (u32)(bits >> 29 & 0x7fffff);
        return value != value ? float_of_bits(nan) : (float)value;
    }
};
// Halves by way of `float`. Down, what lies between two floats goes to the odd one, so that rounding twice
// is as good as once (Boldo and Melquiond, 2008).
template <class Half>
struct WidenHalf {
    static __device__ __forceinline__ double of(Half half) {
        return Convert<double, float>::of(Convert<float, Half>::of(half));
    }
};
template <class Half>
struct NarrowToHalf {
    static __device__ __forceinline__ Half of(double value) {
        float nearest = Convert<float, double>::of(value);
        double back = (double)nearest;
        bool beyond = (double_bits(back) & ~0ull >> 1) > (double_bits(value) & ~0ull >> 1);
        float odd = float_of_bits((float_bits(nearest) - (beyond ? 1 : 0)) | 1);
        return Convert<Half, float>::of(back == value || value != value ? nearest : odd);
    }
};
template <>
struct Convert<double, f16> : WidenHalf<f16> {};
template <>
struct Convert<double, bf16> : WidenHalf<bf16> {};
template <>
struct Convert<f16, double> : NarrowToHalf<f16> {};
template <>
struct Convert<bf16, double> : NarrowToHalf<bf16> {};

// Two 16-bit floats in a word.
template <class T>
struct Pair {
    static constexpr bool EXISTS = false;
};
// The sign bit of each half of the result is set if the half is a NaN: then, and only then, adding carries
// into it what `INFINITE` lacks.
template <u32 INFINITE>
KOGGE_DEVICE u32 nans_of(u32 word) {
    constexpr u32 CARRY = 0x7fff - INFINITE;
    return (word & 0x7fff7fff) + (CARRY << 16 | CARRY);
}
template <>
struct Pair<f16> {
    static constexpr bool EXISTS = true;
    static __device__ __forceinline__ u32 nans(u32 word) { return nans_of<0x7c00>(word); }
    static __device__ __forceinline__ float first(u32 word) { return float_of_half((u16)word); }
    static __device__ __forceinline__ float second(u32 word) { return float_of_half((u16)(word >> 16)); }
    static __device__ __forceinline__ u32 of(float first, float second) { return halves_of_floats(first, second); }
};
template <>
struct Pair<bf16> {
    static constexpr bool EXISTS = true;
    static __device__ __forceinline__ u32 nans(u32 word) { return nans_of<0x7f80>(word); }
    static __device__ __forceinline__ float first(u32 word) { return float_of_bits(word << 16); }
    static __device__ __forceinline__ float second(u32 word) { return float_of_bits(word & 0xffff0000); }
    static __device__ __forceinline__ u32 of(float first, float second) { return brains_of_floats(first, second); }
};

#define KOGGE_SATURATE(To, From, LOW, HIGH)                         \
    template <>                                                     \
    struct Convert<To, From> {                                      \
        static __device__ __forceinline__ To of(From value) {       \
            if (value != value) return 0;                           \
            if (value <= (From)(LOW)) return (To)(LOW);             \
            return value >= (From)(HIGH) ? (To)(HIGH) : (To)value;  \
        }                                                           \
    };
KOGGE_SATURATE(signed char, float, -128, 127)
KOGGE_SATURATE(unsigned char, float, 0, 255)
KOGGE_SATURATE(short, float, -32768, 32767)
KOGGE_SATURATE(unsigned short, float, 0, 65535)
KOGGE_SATURATE(signed char, double, -128, 127)
KOGGE_SATURATE(unsigned char, double, 0, 255)
KOGGE_SATURATE(short, double, -32768, 32767)
KOGGE_SATURATE(unsigned short, double, 0, 65535)
KOGGE_SATURATE(int, double, -2147483648.0, 2147483647.0)
KOGGE_SATURATE(unsigned int, double, 0, 4294967295.0)
#undef KOGGE_SATURATE
