// Arithmetic as kogge-core's `Number` and `OrderedNumber` define it: integers wrap around, floats follow
// IEEE 754, -0.0 < 0.0, and NaN propagates with its payload where nothing is computed.

#define KOGGE_INTEGER(T, Unsigned, LOW, HIGH)                                                            \
    KOGGE_DEVICE T add(T x, T y) { return (T)((Unsigned)x + (Unsigned)y); }                              \
    KOGGE_DEVICE T multiply(T x, T y) { return (T)((Unsigned)x * (Unsigned)y); }                         \
    KOGGE_DEVICE bool precedes(T x, T y) { return x < y; }                                               \
    KOGGE_DEVICE bool exceeds(T x, T y) { return x > y; }                                                \
    template <>                                                                                          \
    struct Number<T> {                                                                                   \
        static __device__ __forceinline__ T zero() { return 0; }                                         \
        static __device__ __forceinline__ T lowest() { return LOW; }                                     \
        static __device__ __forceinline__ T highest() { return HIGH; }                                   \
        static __device__ __forceinline__ T minimum(T x, T y) { return y < x ? y : x; }                  \
        static __device__ __forceinline__ T maximum(T x, T y) { return y > x ? y : x; }                  \
    };

#define KOGGE_FLOAT(T, Bits, SIGN, INFINITE)                                                             \
    KOGGE_DEVICE Bits bits_of(T x) {                                                                     \
        Bits bits;                                                                                       \
        memcpy(&bits, &x, sizeof(T));                                                                    \
        return bits;                                                                                     \
    }                                                                                                    \
    KOGGE_DEVICE T of_bits(Bits bits) {                                                                  \
        T x;                                                                                             \
        memcpy(&x, &bits, sizeof(T));                                                                    \
        return x;                                                                                        \
    }                                                                                                    \
    KOGGE_DEVICE T add(T x, T y) { return x + y; }                                                       \
    KOGGE_DEVICE T multiply(T x, T y) { return x * y; }                                                  \
    KOGGE_DEVICE bool precedes(T x, T y) {                                                               \
        bool zeros = x == y && bits_of(x) & (SIGN) && !(bits_of(y) & (SIGN));                            \
        return x < y || zeros || (x != x && y == y);                                                     \
    }                                                                                                    \
    KOGGE_DEVICE bool exceeds(T x, T y) {                                                                \
        bool zeros = x == y && !(bits_of(x) & (SIGN)) && bits_of(y) & (SIGN);                            \
        return x > y || zeros || (x != x && y == y);                                                     \
    }                                                                                                    \
    template <>                                                                                          \
    struct Number<T> {                                                                                   \
        static __device__ __forceinline__ T zero() { return of_bits(SIGN); }                             \
        static __device__ __forceinline__ T lowest() { return of_bits((SIGN) | (INFINITE)); }            \
        static __device__ __forceinline__ T highest() { return of_bits(INFINITE); }                      \
        static __device__ __forceinline__ T minimum(T x, T y) {                                          \
            T number = x == y ? of_bits(bits_of(x) | bits_of(y)) : x < y ? x : y;                        \
            return x != x ? x : number;                                                                  \
        }                                                                                                \
        static __device__ __forceinline__ T maximum(T x, T y) {                                          \
            T number = x == y ? of_bits(bits_of(x) & bits_of(y)) : x > y ? x : y;                        \
            return x != x ? x : number;                                                                  \
        }                                                                                                \
    };

// `zero` is the identity of addition: -0.0 among floats.
template <class T>
struct Number;

KOGGE_INTEGER(signed char, unsigned, -128, 127)
KOGGE_INTEGER(unsigned char, unsigned, 0, 255)
KOGGE_INTEGER(short, unsigned, -32768, 32767)
KOGGE_INTEGER(unsigned short, unsigned, 0, 65535)
KOGGE_INTEGER(int, unsigned, -2147483647 - 1, 2147483647)
KOGGE_INTEGER(unsigned, unsigned, 0, ~0u)
KOGGE_INTEGER(long long, u64, (long long)(1ull << 63), (long long)(~0ull >> 1))
KOGGE_INTEGER(u64, u64, 0, ~0ull)
KOGGE_FLOAT(float, u32, 0x80000000u, 0x7f800000u)
KOGGE_FLOAT(double, u64, 0x8000000000000000ull, 0x7ff0000000000000ull)
#undef KOGGE_INTEGER
#undef KOGGE_FLOAT
