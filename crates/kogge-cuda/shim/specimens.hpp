// The scans that the shim can run: operators that round, that don't commute, and that show their
// brackets, on elements of every size, in every kind and direction, in rings of every shape.
#pragma once
#include "kernels.hpp"

// x ∘ y = 3x + y isn't associative: its value tells the brackets.
template <class T>
struct Brackets {
    typedef T Element;
    static T identity() { return 0; }
    static T combine(T left, T right) { return add(multiply((T)3, left), right); }
};
struct Triple {
    u32 x, y, z;
};
struct TripleBrackets {
    typedef Triple Element;
    static Triple identity() { return {0, 0, 0}; }
    static Triple combine(Triple l, Triple r) { return {3 * l.x + r.x, 5 * l.y + r.y, l.z * 7 + r.z + l.x}; }
};
struct Bytes3 {
    u8 x, y, z;
};
struct Bytes3Brackets {
    typedef Bytes3 Element;
    static Bytes3 identity() { return {0, 0, 0}; }
    static Bytes3 combine(Bytes3 l, Bytes3 r) {
        return {(u8)(3 * l.x + r.x), (u8)(5 * l.y + r.y), (u8)(l.z * 7 + r.z + l.x)};
    }
};

template <class S>
struct DefaultFold {
    typedef LeftFold<S> Type;
};

template <class O, class I, class U, class Stored, bool EXCLUSIVE_, bool REVERSE_, bool BULK_, u32 STAGES_, u32 GROUPS_, u32 REDUCERS_, u32 AHEAD_, bool PACKED>
struct Specimen {
    typedef O Op;
    typedef I Input;
    typedef U Output;
    typedef Stored Accumulator;
    static constexpr bool EXCLUSIVE = EXCLUSIVE_, REVERSE = REVERSE_, BULK = BULK_;
    static constexpr u32 STAGES = STAGES_, GROUPS = GROUPS_, REDUCERS = REDUCERS_, AHEAD = AHEAD_;
    template <bool P, class X = void>
    struct Choose {
        typedef LeftFold<Specimen> Type;
    };
    template <class X>
    struct Choose<true, X> {
        typedef PackedSum<Specimen> Type;
    };
    typedef typename Choose<PACKED>::Type Fold;
};

// name, operator, input, output, accumulator, bulk, stages, groups, reducers, ahead, packed
#define SPECIMENS(X)                                                                       \
    X(brackets_i64, Brackets<long long>, long long, long long, long long, true, 6, 2, 4, 2, false)   \
    X(brackets_i32_old, Brackets<int>, int, int, int, false, 3, 1, 2, 1, false)                      \
    X(sum_f32, Sum<float>, float, float, float, true, 6, 2, 4, 2, false)                             \
    X(sum_i8, Sum<int>, signed char, signed char, signed char, true, 6, 2, 4, 2, true)               \
    X(sum_i16, Sum<int>, short, short, short, true, 4, 1, 8, 3, true)                                \
    X(brackets_u8_u32, Brackets<u32>, u8, u32, u32, true, 3, 1, 4, 1, false)                         \
    X(sum_f16, Sum<float>, f16, f16, float, true, 6, 2, 4, 2, false)                                 \
    X(sum_bf16, Sum<float>, bf16, bf16, float, false, 4, 2, 4, 2, false)                             \
    X(compose_f32, Compose<float>, Affine<float>, Affine<float>, Affine<float>, true, 6, 2, 4, 2, false)          \
    X(matmul_f32, MatMul<float>, Matrix2<float>, Matrix2<float>, Matrix2<float>, true, 6, 2, 1, 2, false)         \
    X(matmul_f64, MatMul<double>, Matrix2<double>, Matrix2<double>, Matrix2<double>, true, 3, 1, 4, 1, false)     \
    X(triple, TripleBrackets, Triple, Triple, Triple, true, 6, 2, 4, 2, false)                       \
    X(bytes3, Bytes3Brackets, Bytes3, Bytes3, Bytes3, false, 4, 2, 4, 2, false)

// A scan of a request; the kernel's launch is chosen by `rounds`.
struct Request {
    u64 length;
    u32 rounds, grid, seed, init_kind;
    u8 init[64];
    const u8* input;
    u8* output;
    u8* total;
    u8* workspace;
};

template <class S>
void run(const Request& q) {
    Arguments<S> a = {};
    a.input = q.input;
    a.output = q.output;
    a.length = q.length;
    a.workspace = (Workspace*)q.workspace;
    a.init_memory = q.init;
    a.total = q.total;
    a.init_kind = q.init_kind;
    if (q.init_kind == INIT_BY_VALUE) std::memcpy(&a.init, q.init, sizeof(a.init));
    if (q.rounds)
        shim::launch(q.grid, Ring<S>::THREADS, sizeof(Ring<S>), q.seed, [&a] { round_scan<S>(a); });
    else
        shim::launch(q.grid, SEGMENT_THREADS, sizeof(SegmentShared<S>), q.seed, [&a] { segment_scan<S>(a); });
}
