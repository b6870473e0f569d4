// The scans that the shim can run: operators that round, that don't commute, and that show their
// brackets, on elements of every size, in every kind and direction, in rings of every shape.
#pragma once
#include "kernels.hpp"
#include "memory.hpp"

// Tiles from which a sequence is drawn. Where faults are planted hardly any is: drawn tiles have theirs among those of lines.
#ifdef KOGGE_FEW
enum : u32 { TILE_COPIES = 4, MANY_TILES = 40 };
#else
enum : u32 { TILE_COPIES = 4, MANY_TILES = 12 };
#endif

template <class O, class I, class U, class Stored, bool EXCLUSIVE_, bool REVERSE_, bool BULK_, u32 STAGES_, u32 GROUPS_, u32 REDUCERS_, u32 AHEAD_, bool PACKED>
struct Specimen {
    typedef O Op;
    typedef typename PlainOf<O>::Type Plain;
    typedef I Input;
    typedef U Output;
    typedef Stored Accumulator;
    static constexpr bool EXCLUSIVE = EXCLUSIVE_, REVERSE = REVERSE_, BULK = BULK_, WHOLE = false, EVEN = false;
    static constexpr u32 STAGES = STAGES_, GROUPS = GROUPS_, REDUCERS = REDUCERS_, AHEAD = AHEAD_, FLIGHT = 2, DRAW_FROM = MANY_TILES, COPIES = TILE_COPIES,
                         WARPS = 8 * GROUPS_, LOOKERS = is_wide<typename O::Element>() || sizeof(I) == 1 ? 2 : 1;
    typedef typename FoldOf<Specimen, PACKED>::Type Fold;
};

// name, operator, input, output, accumulator, bulk, stages, groups, reducers, ahead, packed
#ifdef KOGGE_VALUES
#define SPECIMENS(X)                                                                                 \
    X(twins, OfTwins, OfTwins::Element, OfTwins::Element, OfTwins::Element, true, 4, 1, 2, 1, false) \
    X(max_f32, MaxF32, float, float, float, true, 4, 1, 2, 1, false)
#elif defined(KOGGE_FEW)
// Those in which faults are planted: quick to compile, and small for a race detector.
#define SPECIMENS(X)                                                                        \
    X(brackets_i64, BracketsI64, long long, long long, long long, true, 4, 2, 2, 1, false)   \
    X(brackets_i32_old, BracketsI32, int, int, int, false, 3, 1, 2, 1, false)
#else
#define SPECIMENS(X)                                                                                          \
    X(brackets_i64, BracketsI64, long long, long long, long long, true, 6, 2, 4, 2, false)                    \
    X(brackets_i32_old, BracketsI32, int, int, int, false, 3, 1, 2, 1, false)                                 \
    X(twins, OfTwins, OfTwins::Element, OfTwins::Element, OfTwins::Element, true, 6, 1, 4, 1, false)          \
    X(max_f32, MaxF32, float, float, float, true, 6, 1, 4, 1, false)                                          \
    X(sum_f32, SumF32, float, float, float, true, 6, 2, 4, 2, false)                                          \
    X(sum_i8, SumI8, signed char, signed char, signed char, true, 6, 2, 4, 2, true)                           \
    X(sum_i16, SumI16, short, short, short, true, 4, 1, 8, 3, true)                                           \
    X(brackets_u8_u32, BracketsU32, u8, u32, u32, true, 3, 1, 4, 1, false)                                    \
    X(sum_f16, SumF32, f16, f16, float, true, 6, 2, 4, 2, false)                                              \
    X(sum_bf16, SumF32, bf16, bf16, float, false, 4, 2, 4, 2, false)                                          \
    X(max_f16, MaxF32, f16, f16, float, true, 4, 2, 4, 2, false)                                              \
    X(max_bf16, MaxF32, bf16, bf16, float, true, 4, 2, 4, 2, false)                                           \
    X(max_f16_in_f64, MaxF64, f16, f16, double, true, 4, 2, 4, 2, false)                                      \
    X(sum_bf16_in_f64, SumF64, bf16, bf16, double, true, 4, 2, 4, 2, false)                                   \
    X(max_f32_in_f64, MaxF64, float, float, double, true, 4, 2, 4, 2, false)                                  \
    X(compose_f32, ComposeF32, ComposeF32::Element, ComposeF32::Element, ComposeF32::Element, true, 6, 2, 4, 2, false) \
    X(matmul_f32, MatMulF32, MatMulF32::Element, MatMulF32::Element, MatMulF32::Element, true, 6, 2, 1, 2, false)      \
    X(matmul_f64, MatMulF64, MatMulF64::Element, MatMulF64::Element, MatMulF64::Element, true, 3, 1, 4, 1, false)      \
    X(triple, OfTriple, OfTriple::Element, OfTriple::Element, OfTriple::Element, true, 6, 2, 4, 2, false)     \
    X(bytes3, OfBytes3, OfBytes3::Element, OfBytes3::Element, OfBytes3::Element, false, 4, 2, 4, 2, false) \
    X(halves, OfHalves, OfHalves::Element, OfHalves::Element, OfHalves::Element, true, 4, 2, 4, 2, false)
#endif

// Those on which lines are scanned.
#ifdef KOGGE_FEW
#define LINE_SPECIMENS(X) SPECIMENS(X)
#else
#define LINE_SPECIMENS(X)                                                                                     \
    X(brackets_i64, BracketsI64, long long, long long, long long, true, 6, 2, 4, 2, false)                    \
    X(brackets_i32_old, BracketsI32, int, int, int, false, 3, 1, 2, 1, false)                                 \
    X(sum_f32, SumF32, float, float, float, true, 6, 1, 4, 1, false)                                          \
    X(sum_i8, SumI8, signed char, signed char, signed char, true, 6, 2, 4, 2, true)                           \
    X(brackets_u8_u32, BracketsU32, u8, u32, u32, true, 3, 1, 4, 1, false)                                    \
    X(max_f16, MaxF32, f16, f16, float, true, 4, 2, 4, 2, false)                                              \
    X(sum_bf16_in_f64, SumF64, bf16, double, double, true, 4, 2, 4, 2, false)                                 \
    X(sum_f32_as_f16, SumF32, float, f16, float, true, 4, 2, 4, 2, false)                                     \
    X(matmul_f64, MatMulF64, MatMulF64::Element, MatMulF64::Element, MatMulF64::Element, true, 3, 1, 4, 1, false) \
    X(triple, OfTriple, OfTriple::Element, OfTriple::Element, OfTriple::Element, true, 6, 2, 4, 2, false)     \
    X(bytes3, OfBytes3, OfBytes3::Element, OfBytes3::Element, OfBytes3::Element, false, 4, 2, 4, 2, false) \
    X(halves, OfHalves, OfHalves::Element, OfHalves::Element, OfHalves::Element, true, 4, 2, 4, 2, false)
#endif

// The same in a cluster, with so many segments a block.
template <class S, u32 SEGMENTS_>
struct InCluster : S {
    static constexpr u32 SEGMENTS = SEGMENTS_;
};

enum : u32 { BY_SEGMENTS, IN_ROUNDS, BY_TILES, IN_CLUSTER, IN_CLUSTER_BY_TWO };
// A scan of a request.
struct Request {
    u64 length;
    u32 kernel, grid, seed, init_kind;
    u8 init[64];
    const u8* input;
    u8* output;
    u8* total;
    u8* workspace;
};

template <class S>
Arguments<S> arguments_of(const Request& q) {
    Arguments<S> a = {};
    a.input = q.input;
    a.output = q.output;
    a.length = q.length;
    a.workspace = (Workspace*)q.workspace;
    a.init_memory = q.init;
    a.total = q.total;
    a.init_kind = q.init_kind;
    if (q.init_kind == INIT_BY_VALUE) std::memcpy(&a.init, q.init, sizeof(a.init));
    return a;
}

template <class S>
void run_in_cluster(const Request& q) {
    Arguments<S> a = arguments_of<S>(q);
    shim::launch(q.grid, ClusterShared<S>::THREADS, sizeof(ClusterShared<S>), q.seed,
                 [](const void* a) { cluster_scan<S>(*(const Arguments<S>*)a); }, &a);
}

template <class S>
void run(const Request& q) {
    if (q.kernel == IN_CLUSTER) return run_in_cluster<InCluster<S, 1>>(q);
    if (q.kernel == IN_CLUSTER_BY_TWO) return run_in_cluster<InCluster<S, 2>>(q);
    Arguments<S> a = arguments_of<S>(q);
    if (q.kernel == IN_ROUNDS)
        shim::launch(q.grid, Ring<S>::THREADS, sizeof(Ring<S>), q.seed,
                     [](const void* a) { sequence_scan<S>(*(const Arguments<S>*)a); }, &a);
    else if (q.kernel == BY_SEGMENTS)
        shim::launch_many(q.grid, SEGMENT_THREADS, sizeof(SegmentShared<S>), q.seed,
                     [](const void* a) { segment_scan<S>(*(const Arguments<S>*)a); }, &a);
    else if constexpr (sizeof(typename S::Input) <= 16 && sizeof(typename S::Accumulator) <= 16)
        shim::launch_many(q.grid, TILE_THREADS, sizeof(TileShared<S>), q.seed,
                     [](const void* a) { tile_scan<S>(*(const Arguments<S>*)a); }, &a);
    else
        shim::fail("elements that no warp can hold a segment of");
}
template <>
inline void run<Absent>(const Request&) {
    shim::fail("a specimen that the program hasn't got");
}
