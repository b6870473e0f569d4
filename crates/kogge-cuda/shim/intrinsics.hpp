// The intrinsics that generated operators use, on the CPU; as it rounds to nearest, they are its own
// arithmetic. Compile with -ffp-contract=off.
#pragma once
#include <cstring>

// What operators want of <cmath>, whose text takes a tenth of the time in which a small program compiles.
extern "C" {
float floorf(float), expf(float), exp2f(float), logf(float), log2f(float);
double floor(double), exp(double), exp2(double), log(double), log2(double);
}

static inline unsigned __float_as_uint(float x) {
    unsigned bits;
    std::memcpy(&bits, &x, 4);
    return bits;
}
static inline float __uint_as_float(unsigned bits) {
    float x;
    std::memcpy(&x, &bits, 4);
    return x;
}
static inline long long __double_as_longlong(double x) {
    long long bits;
    std::memcpy(&bits, &x, 8);
    return bits;
}
static inline double __longlong_as_double(long long bits) {
    double x;
    std::memcpy(&x, &bits, 8);
    return x;
}
static inline float __fadd_rn(float a, float b) { return a + b; }
static inline float __fsub_rn(float a, float b) { return a - b; }
static inline float __fmul_rn(float a, float b) { return a * b; }
static inline float __fdiv_rn(float a, float b) { return a / b; }
static inline float __fsqrt_rn(float x) { return __builtin_sqrtf(x); }
static inline float __fmaf_rn(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
static inline double __dadd_rn(double a, double b) { return a + b; }
static inline double __dsub_rn(double a, double b) { return a - b; }
static inline double __dmul_rn(double a, double b) { return a * b; }
static inline double __ddiv_rn(double a, double b) { return a / b; }
static inline double __dsqrt_rn(double x) { return __builtin_sqrt(x); }
static inline double __fma_rn(double a, double b, double c) { return __builtin_fma(a, b, c); }
