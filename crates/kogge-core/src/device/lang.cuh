// The words of the operator language in CUDA C++: lang.rs says what each means.
//
// No header is included, so NVRTC compiles it in milliseconds. Integers are calculated in unsigned
// types at least as wide as `unsigned`, where C++ neither promotes them to `int` nor leaves overflow
// undefined. Float arithmetic uses the `_rn` intrinsics, which are never contracted to a fused
// multiply-add, whatever the compiler's flags; only --ftz=true (or --use_fast_math) would change bits.
#ifndef KOGGE_LANG
#define KOGGE_LANG

#define KOGGE_FN __device__ __forceinline__
#define KOGGE_CALLED static __device__ __noinline__

namespace kogge {

typedef signed char i8;
typedef short i16;
typedef int i32;
typedef long long i64;
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef float f32;
typedef double f64;
typedef u32 usize;  // an index; always below 2^32

static_assert(sizeof(i16) == 2 && sizeof(i32) == 4 && sizeof(i64) == 8, "C++ of 64-bit machines");

template <class T, usize N>
struct Array {
    T at[N];
};

// The element that an index means: the last one where it is past the end.
template <usize N>
KOGGE_FN usize index(usize i) {
    return i < N ? i : N - 1;
}

// `value as To` between integers, and from integers to floats (round to nearest even).
template <class To>
struct As {
    template <class From>
    static KOGGE_FN To from(From x) {
        return static_cast<To>(x);
    }
};

#define KOGGE_EQUALITY(T)                                                     \
    KOGGE_FN bool eq(T a, T b) { return a == b; }                             \
    KOGGE_FN bool ne(T a, T b) { return a != b; }

#define KOGGE_ORDER(T)                                                        \
    KOGGE_EQUALITY(T)                                                         \
    KOGGE_FN bool lt(T a, T b) { return a < b; }                              \
    KOGGE_FN bool le(T a, T b) { return a <= b; }                             \
    KOGGE_FN bool gt(T a, T b) { return a > b; }                              \
    KOGGE_FN bool ge(T a, T b) { return a >= b; }                             \
    KOGGE_FN T clamp(T x, T low, T high) { return x < low ? low : x > high ? high : x; }

// T calculates in the unsigned type W.
#define KOGGE_INTEGER(T, W, LOWEST, HIGHEST)                                  \
    KOGGE_ORDER(T)                                                            \
    KOGGE_FN T add(T a, T b) { return static_cast<T>(W(a) + W(b)); }          \
    KOGGE_FN T sub(T a, T b) { return static_cast<T>(W(a) - W(b)); }          \
    KOGGE_FN T mul(T a, T b) { return static_cast<T>(W(a) * W(b)); }          \
    KOGGE_FN T neg(T x) { return static_cast<T>(W(0) - W(x)); }               \
    KOGGE_FN T bit_and(T a, T b) { return static_cast<T>(W(a) & W(b)); }      \
    KOGGE_FN T bit_or(T a, T b) { return static_cast<T>(W(a) | W(b)); }       \
    KOGGE_FN T bit_xor(T a, T b) { return static_cast<T>(W(a) ^ W(b)); }      \
    KOGGE_FN T bit_not(T x) { return static_cast<T>(~W(x)); }                 \
    KOGGE_FN T min(T a, T b) { return b < a ? b : a; }                        \
    KOGGE_FN T max(T a, T b) { return b < a ? a : b; }                        \
    KOGGE_FN T minimum(T a, T b) { return b < a ? b : a; }                    \
    KOGGE_FN T maximum(T a, T b) { return b < a ? a : b; }                    \
    KOGGE_FN bool precedes(T a, T b) { return a < b; }                        \
    KOGGE_FN bool exceeds(T a, T b) { return a > b; }                         \
    template <class S>                                                        \
    KOGGE_FN T shl(T x, S amount) {                                           \
        return static_cast<T>(W(x) << (u32(amount) & (sizeof(T) * 8 - 1)));   \
    }                                                                         \
    template <class S>                                                        \
    KOGGE_FN T shr(T x, S amount) { /* arithmetic for signed T, as on every CUDA compiler */ \
        return static_cast<T>(x >> (u32(amount) & (sizeof(T) * 8 - 1)));      \
    }

#define KOGGE_SIGNED(T, W, LOWEST, HIGHEST)                                   \
    KOGGE_INTEGER(T, W, LOWEST, HIGHEST)                                      \
    KOGGE_FN T abs(T x) { return x < 0 ? neg(x) : x; }                        \
    KOGGE_FN T div(T a, T b) { return b == 0 ? a : b == -1 ? neg(a) : static_cast<T>(a / b); } \
    KOGGE_FN T rem(T a, T b) { return b == 0 || b == -1 ? T(0) : static_cast<T>(a % b); } \
    KOGGE_FN T saturating_add(T a, T b) {                                     \
        T sum = add(a, b);                                                    \
        return b < 0 ? (sum > a ? LOWEST : sum) : (sum < a ? HIGHEST : sum);  \
    }                                                                         \
    KOGGE_FN T saturating_sub(T a, T b) {                                     \
        T difference = sub(a, b);                                             \
        return b < 0 ? (difference < a ? HIGHEST : difference)                \
                     : (difference > a ? LOWEST : difference);                \
    }

#define KOGGE_UNSIGNED(T, W, HIGHEST)                                         \
    KOGGE_INTEGER(T, W, T(0), HIGHEST)                                        \
    KOGGE_FN T div(T a, T b) { return b == 0 ? a : static_cast<T>(a / b); }   \
    KOGGE_FN T rem(T a, T b) { return b == 0 ? T(0) : static_cast<T>(a % b); } \
    KOGGE_FN T saturating_add(T a, T b) {                                     \
        T sum = add(a, b);                                                    \
        return sum < a ? HIGHEST : sum;                                       \
    }                                                                         \
    KOGGE_FN T saturating_sub(T a, T b) { return a < b ? T(0) : sub(a, b); }

KOGGE_SIGNED(i8, u32, i8(-128), i8(127))
KOGGE_SIGNED(i16, u32, i16(-32768), i16(32767))
KOGGE_SIGNED(i32, u32, (-2147483647 - 1), 2147483647)
KOGGE_SIGNED(i64, u64, (-9223372036854775807ll - 1), 9223372036854775807ll)
KOGGE_UNSIGNED(u8, u32, u8(0xff))
KOGGE_UNSIGNED(u16, u32, u16(0xffff))
KOGGE_UNSIGNED(u32, u32, 0xffffffffu)
KOGGE_UNSIGNED(u64, u64, 0xffffffffffffffffull)

KOGGE_EQUALITY(bool)
KOGGE_FN bool bit_and(bool a, bool b) { return a && b; }
KOGGE_FN bool bit_or(bool a, bool b) { return a || b; }
KOGGE_FN bool bit_xor(bool a, bool b) { return a != b; }
KOGGE_FN bool bit_not(bool x) { return !x; }

KOGGE_FN u32 to_bits(f32 x) { return __float_as_uint(x); }
KOGGE_FN f32 f32_from_bits(u32 bits) { return __uint_as_float(bits); }
KOGGE_FN u64 to_bits(f64 x) { return static_cast<u64>(__double_as_longlong(x)); }
KOGGE_FN f64 f64_from_bits(u64 bits) { return __longlong_as_double(static_cast<i64>(bits)); }

// `value as T` from a float to an integer: toward zero, saturating, NaN to 0. PAST is the first
// power of two past the type's range.
#define KOGGE_TO_INTEGER(T, LOWEST, HIGHEST, PAST)                            \
    template <>                                                               \
    struct As<T> {                                                            \
        template <class From>                                                 \
        static KOGGE_FN T from(From x) { return static_cast<T>(x); }          \
        static KOGGE_FN T from(f32 x) { return saturating(x); }               \
        static KOGGE_FN T from(f64 x) { return saturating(x); }               \
        template <class F>                                                    \
        static KOGGE_FN T saturating(F x) {                                   \
            if (x != x) return 0;                                             \
            if (x >= F(PAST)) return HIGHEST;                                 \
            if (x <= F(LOWEST)) return LOWEST;                                \
            return static_cast<T>(x);                                         \
        }                                                                     \
    };

KOGGE_TO_INTEGER(i8, i8(-128), i8(127), 128)
KOGGE_TO_INTEGER(i16, i16(-32768), i16(32767), 32768)
KOGGE_TO_INTEGER(i32, (-2147483647 - 1), 2147483647, 2147483648u)
KOGGE_TO_INTEGER(i64, (-9223372036854775807ll - 1), 9223372036854775807ll, 9223372036854775808ull)
KOGGE_TO_INTEGER(u8, u8(0), u8(0xff), 256)
KOGGE_TO_INTEGER(u16, u16(0), u16(0xffff), 65536)
KOGGE_TO_INTEGER(u32, 0u, 0xffffffffu, 4294967296ll)
KOGGE_TO_INTEGER(u64, 0ull, 0xffffffffffffffffull, 18446744073709551616.0)

// IEEE 754-2019 minimumNumber and maximumNumber of two numbers: one instruction, which orders zeros
// too; C's fmin needn't. What becomes of a NaN is left open.
#ifdef __CUDA_ARCH__
#define KOGGE_EXTREMES(F, D)                                                  \
    KOGGE_FN F lower(F a, F b) {                                              \
        F x;                                                                  \
        asm("min." #F " %0, %1, %2;" : "=" #D(x) : #D(a), #D(b));             \
        return x;                                                             \
    }                                                                         \
    KOGGE_FN F higher(F a, F b) {                                             \
        F x;                                                                  \
        asm("max." #F " %0, %1, %2;" : "=" #D(x) : #D(a), #D(b));             \
        return x;                                                             \
    }
#else
// Equal values may be zeros of either sign: `|` keeps the minus, `&` drops it.
#define KOGGE_EXTREMES(F, D)                                                  \
    KOGGE_FN F lower(F a, F b) {                                              \
        return a == b ? F##_from_bits(to_bits(a) | to_bits(b)) : a < b ? a : b; \
    }                                                                         \
    KOGGE_FN F higher(F a, F b) {                                             \
        return a == b ? F##_from_bits(to_bits(a) & to_bits(b)) : a > b ? a : b; \
    }
#endif

// Branches cost more than what they skip here, so values are chosen one after the other.
#define KOGGE_FLOAT(F, BITS, SIGN, D, S)                                      \
    KOGGE_ORDER(F)                                                            \
    KOGGE_FN F add(F a, F b) { return __##D##add_rn(a, b); }                  \
    KOGGE_FN F sub(F a, F b) { return __##D##sub_rn(a, b); }                  \
    KOGGE_FN F mul(F a, F b) { return __##D##mul_rn(a, b); }                  \
    KOGGE_FN F div(F a, F b) { return __##D##div_rn(a, b); }                  \
    KOGGE_FN F sqrt(F x) { return __##D##sqrt_rn(x); }                        \
    KOGGE_FN F neg(F x) { return F##_from_bits(to_bits(x) ^ SIGN); }          \
    KOGGE_FN F abs(F x) { return F##_from_bits(to_bits(x) & ~SIGN); }         \
    KOGGE_FN F floor(F x) { return ::floor##S(x); }                           \
    KOGGE_FN F exp(F x) { return ::exp##S(x); }                               \
    KOGGE_FN F ln(F x) { return ::log##S(x); }                                \
    KOGGE_FN F exp2(F x) { return ::exp2##S(x); }                             \
    KOGGE_FN F log2(F x) { return ::log2##S(x); }                             \
    KOGGE_EXTREMES(F, D)                                                      \
    KOGGE_FN F min(F a, F b) {                                                \
        F x = lower(a, b);                                                    \
        x = a != a ? b : x;                                                   \
        return b != b ? a : x;                                                \
    }                                                                         \
    KOGGE_FN F max(F a, F b) {                                                \
        F x = higher(a, b);                                                   \
        x = a != a ? b : x;                                                   \
        return b != b ? a : x;                                                \
    }                                                                         \
    KOGGE_FN F minimum(F a, F b) {                                            \
        F x = lower(a, b);                                                    \
        x = b != b ? b : x;                                                   \
        return a != a ? a : x;                                                \
    }                                                                         \
    KOGGE_FN F maximum(F a, F b) {                                            \
        F x = higher(a, b);                                                   \
        x = b != b ? b : x;                                                   \
        return a != a ? a : x;                                                \
    }                                                                         \
    KOGGE_FN bool precedes(F a, F b) {                                        \
        bool zeros = (a == b) & ((to_bits(a) & ~to_bits(b) & SIGN) != 0);     \
        return (a < b) | zeros | ((a != a) & (b == b));                       \
    }                                                                         \
    KOGGE_FN bool exceeds(F a, F b) {                                         \
        bool zeros = (a == b) & ((to_bits(b) & ~to_bits(a) & SIGN) != 0);     \
        return (a > b) | zeros | ((a != a) & (b == b));                       \
    }                                                                         \
    KOGGE_FN F powi(F x, i32 n) {                                             \
        F power = 1;                                                          \
        for (u32 bits = n < 0 ? 0u - u32(n) : u32(n); bits != 0; bits >>= 1) { \
            if (bits & 1) power = mul(power, x);                              \
            x = mul(x, x);                                                    \
        }                                                                     \
        return n < 0 ? div(F(1), power) : power;                              \
    }

KOGGE_FLOAT(f32, u32, 0x80000000u, f, f)
// `minimum` and `maximum` of numbers, in one instruction; some NaN, if either is one.
#ifdef __CUDA_ARCH__
KOGGE_FN f32 lowest(f32 a, f32 b) {
    f32 x;
    asm("min.NaN.f32 %0, %1, %2;" : "=f"(x) : "f"(a), "f"(b));
    return x;
}
KOGGE_FN f32 highest(f32 a, f32 b) {
    f32 x;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(x) : "f"(a), "f"(b));
    return x;
}
#else
KOGGE_FN f32 lowest(f32 a, f32 b) { return a != a || b != b ? f32_from_bits(0x7fffffff) : lower(a, b); }
KOGGE_FN f32 highest(f32 a, f32 b) { return a != a || b != b ? f32_from_bits(0x7fffffff) : higher(a, b); }
#endif
KOGGE_FLOAT(f64, u64, 0x8000000000000000ull, d, )
KOGGE_FN f32 mul_add(f32 x, f32 factor, f32 summand) { return __fmaf_rn(x, factor, summand); }
KOGGE_FN f64 mul_add(f64 x, f64 factor, f64 summand) { return __fma_rn(x, factor, summand); }

}  // namespace kogge

#endif
