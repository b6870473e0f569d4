// Runs scans by segments under the shim, by windows and long ones in rounds: see segments.hpp.
#include "windows.hpp"

#include "../kernels/run_tiles.cuh"

namespace {

// A ring that fills by bulk copies, if it is of six stages, else by asynchronous loads; none if all runs go by windows.
template <class O, class I, class U, class Stored, bool EXCLUSIVE_, bool REVERSE_, u32 STEPS_, u32 OFFSET_BYTES_, bool PACKED, u32 RING>
struct Specimen {
    typedef O Op;
    typedef typename PlainOf<O>::Type Plain;
    typedef I Input;
    typedef U Output;
    typedef Stored Accumulator;
    static constexpr bool EXCLUSIVE = EXCLUSIVE_, REVERSE = REVERSE_;
    static constexpr bool BULK = RING == 6, LONG_IN_ROUNDS = RING > 0;
    static constexpr u32 STEPS = STEPS_, OFFSET_BYTES = OFFSET_BYTES_;
    static constexpr u32 STAGES = RING, GROUPS = RING == 4 ? 2 : 1, REDUCERS = RING == 4 ? 2 : 4, AHEAD = RING > 2 && !is_wide<typename O::Element>() ? 2 : 1, FLIGHT = 2,
                         LOOKERS = 2;
    // As WindowShape has it, which the kernel of rounds doesn't know.
    static constexpr u32 WINDOW = 8 * STEPS * Order<I>::CHUNK * CHUNKS_PER_ROW, MARKED = WINDOW / ((WINDOW + MOST_MARKED - 1) / MOST_MARKED);
    typedef ByMask Source;
    typedef typename FoldOf<Specimen, PACKED>::Type Fold;
};

template <class S>
void run(const Request& q) {
    typedef WindowShape<S> W;
    typedef typename S::Input Input;
    u64 marks = (q.length + W::MARKED - 1) / W::MARKED, tiles = q.length / Order<Input>::TILE + q.length / W::WINDOW + 1;
    Memory list(sizeof(RunList) + tiles * sizeof(RunTile), 0), covers((marks + 1) * sizeof(Cover), 0), cut((marks / 32 + 1) * 4, 0);
    LongRuns long_runs = {(RunList*)list.at, (Cover*)covers.at, (u32*)cut.at, nullptr, q.taken, tiles, W::WINDOW, W::MARKED, Order<Input>::TILE,
                          W::SEGMENT, S::OFFSET_BYTES, S::REVERSE, q.inits == INITS_EACH || q.totals, q.totals};
    run_heads<S::REVERSE, W::MARKED>(q, S::LONG_IN_ROUNDS ? long_runs : LongRuns{});
    SegmentedArguments<S> a = window_arguments<S>(q);
    a.heads = (const u32*)q.heads, a.windows = q.windows;
    a.cut = long_runs.cut, a.covers = long_runs.covers, a.list = long_runs.list;
    a.source = S::OFFSET_BYTES ? q.from : nullptr, a.segments = q.segments;
    a.inits.totals = q.totals ? q.total : nullptr;
    launch_windows(q, a, q.seed + 2);
    if constexpr (S::LONG_IN_ROUNDS)
        shim::launch(1 + q.seed % (tiles < 5 ? (u32)tiles : 5), Ring<S>::THREADS, sizeof(Ring<S>), q.seed + 3,
                     [](const void* a) { long_run_scan<S>(*(const SegmentedArguments<S>*)a); }, &a);
    for (const Memory* m : {&list, &covers, &cut}) m->check();
}

template <>
void run<Absent>(const Request&) {
    shim::fail("a specimen that the program hasn't got");
}

#define ENTRY(name, O, I, U, A, STEPS, OFFSETS, PACKED, RING) \
    {#name, \
     {sizeof(I), sizeof(U), sizeof(A), Slot<O::Element>::PARTS * 16, \
      {run<IF_HAS_WAY(name, 0, Specimen<O, I, U, A, false, false, STEPS, OFFSETS, PACKED, RING>)>, \
       run<IF_HAS_WAY(name, 1, Specimen<O, I, U, A, true, false, STEPS, OFFSETS, PACKED, RING>)>, \
       run<IF_HAS_WAY(name, 2, Specimen<O, I, U, A, false, true, STEPS, OFFSETS, PACKED, RING>)>, \
       run<IF_HAS_WAY(name, 3, Specimen<O, I, U, A, true, true, STEPS, OFFSETS, PACKED, RING>)>}}},
// name, operator, input, output, accumulator, steps, bytes of an offset, packed
#ifdef KOGGE_FEW
// Those in which faults are planted: quick to compile, and small for a race detector.
#define SPECIMENS(X) \
    X(brackets_i64, BracketsI64, long long, long long, long long, 8, 0, false, 0) \
    X(brackets_i64_offsets, BracketsI64, long long, long long, long long, 4, 4, false, 0) \
    X(rounds_i64, BracketsI64, long long, long long, long long, 4, 0, false, 4) \
    X(rounds_i32, BracketsI32, int, int, int, 1, 4, false, 6)
#else
#define SPECIMENS(X) \
    X(brackets_i64, BracketsI64, long long, long long, long long, 8, 0, false, 0) \
    X(brackets_i64_offsets, BracketsI64, long long, long long, long long, 4, 8, false, 0) \
    X(brackets_i32, BracketsI32, int, int, int, 8, 0, false, 0) \
    X(brackets_i32_narrow, BracketsI32, int, int, int, 1, 4, false, 0) \
    X(sum_f32, SumF32, float, float, float, 8, 4, false, 0) \
    X(sum_i8, SumI8, signed char, signed char, signed char, 8, 0, true, 0) \
    X(sum_i16, SumI16, short, short, short, 8, 0, true, 0) \
    X(brackets_u8_u32, BracketsU32, u8, u32, u32, 4, 4, false, 0) \
    X(sum_f16, SumF32, f16, f16, float, 8, 0, false, 0) \
    X(max_bf16_in_f64, MaxF64, bf16, bf16, double, 8, 4, false, 0) \
    X(compose_f32, ComposeF32, ComposeF32::Element, ComposeF32::Element, ComposeF32::Element, 8, 4, false, 0) \
    X(matmul_f32, MatMulF32, MatMulF32::Element, MatMulF32::Element, MatMulF32::Element, 4, 0, false, 0) \
    X(matmul_f64, MatMulF64, MatMulF64::Element, MatMulF64::Element, MatMulF64::Element, 2, 0, false, 0) \
    X(triple, OfTriple, OfTriple::Element, OfTriple::Element, OfTriple::Element, 4, 0, false, 0) \
    X(bytes3, OfBytes3, OfBytes3::Element, OfBytes3::Element, OfBytes3::Element, 8, 0, false, 0) \
    X(rounds_i64, BracketsI64, long long, long long, long long, 8, 0, false, 4) \
    X(rounds_i32, BracketsI32, int, int, int, 2, 4, false, 6) \
    X(rounds_f32, SumF32, float, float, float, 8, 8, false, 6) \
    X(rounds_u8_u32, BracketsU32, u8, u32, u32, 8, 4, false, 3) \
    X(rounds_f16, SumF32, f16, f16, float, 8, 0, false, 6) \
    X(rounds_matmul_f64, MatMulF64, MatMulF64::Element, MatMulF64::Element, MatMulF64::Element, 2, 8, false, 3) \
    X(rounds_triple, OfTriple, OfTriple::Element, OfTriple::Element, OfTriple::Element, 4, 0, false, 6) \
    X(rounds_bytes3, OfBytes3, OfBytes3::Element, OfBytes3::Element, OfBytes3::Element, 8, 4, false, 4)
#endif
Named<Specimens> entries[] = {SPECIMENS(ENTRY)};

}  // namespace

int main() { answer(entries); }
