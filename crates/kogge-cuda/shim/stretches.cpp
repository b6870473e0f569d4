// Runs scans by segments under the shim, in stretches and long ones in rounds: see segments.hpp. Neither initial values nor
// totals of each segment are asked for.
#include "segments.hpp"

#include "../kernels/cells.cuh"
#include "../kernels/stretch_heads.cuh"
#include "../kernels/stretch_ring.cuh"
#include "../kernels/stretch_scan.cuh"
#include "../kernels/run_tiles.cuh"

namespace {

// Rings that fill by bulk copies, if that of rounds is of six stages, else by asynchronous loads.
template <class O, class I, class U, class Stored, bool EXCLUSIVE_, bool REVERSE_, u32 RING>
struct Specimen {
    typedef O Op;
    typedef typename PlainOf<O>::Type Plain;
    typedef I Input;
    typedef U Output;
    typedef Stored Accumulator;
    static constexpr bool EXCLUSIVE = EXCLUSIVE_, REVERSE = REVERSE_, BULK = RING == 6;
    static constexpr u32 OFFSET_BYTES = 8, MARKED = Order<I>::TILE / 4;
    static constexpr u32 STAGES = RING, GROUPS = RING == 4 ? 2 : 1, REDUCERS = RING == 4 ? 2 : 4, AHEAD = RING > 2 && !is_wide<typename O::Element>() ? 2 : 1, FLIGHT = 2,
                         LOOKERS = 2;
    typedef LeftFold<Specimen> Fold;
};
// The same with the ring of stretches, along offsets of so many bytes, or by the mask.
template <class S, u32 ALONG>
struct Stretched : S {
    static constexpr u32 STAGES = S::BULK ? 1 : 3, ROWS = S::BULK ? 24 : 5, WARPS = S::BULK ? 6 : 8, OFFSET_BYTES = ALONG;
};

template <class S>
SegmentedArguments<S> arguments_of(const Request& q, const LongRuns& long_runs) {
    SegmentedArguments<S> a = {};
    a.input = q.input, a.output = q.output, a.length = q.length, a.workspace = (Workspace*)q.workspace;
    a.heads = (const u32*)q.heads, a.windows = q.windows, a.list = long_runs.list, a.stretches = long_runs.stretches;
    a.source = q.from, a.segments = q.segments;
    a.inits.kind = q.inits, a.inits.memory = q.init;
    if (q.inits == INITS_BY_VALUE) std::memcpy(&a.inits.value, q.init, sizeof(a.inits.value));
    return a;
}

template <class S>
void scan_stretches(const Request& q, const LongRuns& long_runs) {
    SegmentedArguments<S> a = arguments_of<S>(q, long_runs);
    shim::launch(1 + q.seed % 3, StretchShape<S>::THREADS, sizeof(StretchRing<S>), q.seed + 2,
                 [](const void* a) { stretch_scan<S>(*(const SegmentedArguments<S>*)a); }, &a);
}

template <class S>
void run(const Request& q) {
    typedef typename S::Input Input;
    constexpr u32 TILE = Order<Input>::TILE;
    constexpr u32 SHORTER = TILE / 4 * 3;
    u64 marks = (q.length + S::MARKED - 1) / S::MARKED, tiles = q.length / TILE + q.length / SHORTER + 1;
    Memory list(sizeof(RunList) + tiles * sizeof(RunTile), 0), stretches(sizeof(StretchList) + marks * sizeof(Stretch), 0);
    LongRuns long_runs = {(RunList*)list.at, nullptr, nullptr, (StretchList*)stretches.at, q.taken, tiles, 1, S::MARKED, TILE, SHORTER,
                          S::OFFSET_BYTES, S::REVERSE, false, false};
    // Offsets of one type to go along for each specimen, which is as much as there is to compile; now and then, and of the other, the
    // mask.
    constexpr u32 ALONG = S::STAGES == 6 ? 8 : 4;
    bool along = by_offsets(q) && ALONG == (q.source == 1 ? 8 : 4) && q.seed % 4 > 0;
    if (along) run_offsets<S::REVERSE, S::MARKED, LISTS>(q, long_runs, 0);
    else if (by_offsets(q)) run_offsets<S::REVERSE, S::MARKED, HEADS_AND_LISTS>(q, long_runs, SHORTER / S::MARKED);
    else run_heads<S::REVERSE, S::MARKED>(q, long_runs);
    if (along) scan_stretches<Stretched<S, ALONG>>(q, long_runs);
    else scan_stretches<Stretched<S, 0>>(q, long_runs);
    SegmentedArguments<S> in_rounds = arguments_of<S>(q, long_runs);
    shim::launch(1 + q.seed % (tiles < 5 ? (u32)tiles : 5), Ring<S>::THREADS, sizeof(Ring<S>), q.seed + 3,
                 [](const void* a) { long_run_scan<S>(*(const SegmentedArguments<S>*)a); }, &in_rounds);
    for (const Memory* m : {&list, &stretches}) m->check();
}

template <>
void run<Absent>(const Request&) {
    shim::fail("a specimen that the program hasn't got");
}

#define ENTRY(name, O, I, U, A, RING) \
    {#name, \
     {sizeof(I), sizeof(U), sizeof(A), Slot<O::Element>::PARTS * 16, \
      {run<IF_HAS_WAY(name, 0, Specimen<O, I, U, A, false, false, RING>)>, run<IF_HAS_WAY(name, 1, Specimen<O, I, U, A, true, false, RING>)>, \
       run<IF_HAS_WAY(name, 2, Specimen<O, I, U, A, false, true, RING>)>, run<IF_HAS_WAY(name, 3, Specimen<O, I, U, A, true, true, RING>)>}}},
// name, operator, input, output, accumulator, stages
#ifdef KOGGE_FEW
// Those in which faults are planted: quick to compile, and small for a race detector.
#define SPECIMENS(X) X(brackets_i32, BracketsI32, int, int, int, 6)
#else
#define SPECIMENS(X) \
    X(brackets_i64, BracketsI64, long long, long long, long long, 4) \
    X(brackets_i32, BracketsI32, int, int, int, 6) \
    X(sum_f32, SumF32, float, float, float, 3) \
    X(brackets_u8_u32, BracketsU32, u8, u32, u32, 6) \
    X(sum_f16, SumF32, f16, f16, float, 6) \
    X(matmul_f32, MatMulF32, MatMulF32::Element, MatMulF32::Element, MatMulF32::Element, 6) \
    X(triple, OfTriple, OfTriple::Element, OfTriple::Element, OfTriple::Element, 6) \
    X(bytes3, OfBytes3, OfBytes3::Element, OfBytes3::Element, OfBytes3::Element, 3)
#endif
Named<Specimens> entries[] = {SPECIMENS(ENTRY)};

}  // namespace

int main() { answer(entries); }
