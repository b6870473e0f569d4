// Runs scans by segments under exact operators, in rounds: see segments.hpp. Neither initial values nor totals of each
// segment are asked for.
#include "segments.hpp"

#include "../kernels/tails.cuh"
#include "../kernels/markers.cuh"
#include "../kernels/exact_rounds.cuh"

namespace {

// A ring that fills by bulk copies, if it is of six stages, else by asynchronous loads.
template <class O, class I, class U, class Stored, class Source_, bool EXCLUSIVE_, bool REVERSE_, bool PACKED, u32 RING>
struct Specimen {
    typedef O Op;
    typedef typename PlainOf<O>::Type Plain;
    typedef I Input;
    typedef U Output;
    typedef Stored Accumulator;
    typedef Source_ Source;
    static constexpr bool EXCLUSIVE = EXCLUSIVE_, REVERSE = REVERSE_, BULK = RING == 6;
    static constexpr u32 MARKERS = Same<Source, ByMask>::YES ? 0 : RING == 4 ? 4 : 2, PIECES = RING == 4 ? 2 : 3,
                         STAGES = RING, GROUPS = RING == 4 ? 2 : 1, REDUCERS = RING == 4 ? 2 : 4, AHEAD = 1, FLIGHT = 2,
                         LOOKERS = RING == 4 ? 1 : 2;
    typedef typename FoldOf<Specimen, PACKED>::Type Fold;
};

template <class S>
void run(const Request& q) {
    constexpr u32 TILE = Order<typename S::Input>::TILE;
    SegmentedArguments<S> a = {};
    if constexpr (!finds_heads<S>()) {
        if (by_offsets(q)) {
            run_offsets<S::REVERSE, TILE>(q, LongRuns{}, 1);
            a.first = q.first;
        } else {
            run_marks<S::REVERSE, TILE / ((TILE + MOST_MARKED - 1) / MOST_MARKED)>(q, LongRuns{});
        }
    }
    a.input = q.input, a.output = q.output, a.length = q.length, a.workspace = (Workspace*)q.workspace;
    a.heads = (const u32*)q.heads, a.source = q.from;
    a.inits.kind = q.inits, a.inits.memory = q.init;
    if (q.inits == INITS_BY_VALUE) std::memcpy(&a.inits.value, q.init, sizeof(a.inits.value));
    u64 tiles = (q.length + TILE - 1) / TILE;
    if (tiles == 0) return;
    shim::launch(1 + q.seed % (tiles < 5 ? (u32)tiles : 5), ExactRing<S>::THREADS, sizeof(ExactRing<S>), q.seed + 2,
                 [](const void* a) { exact_run_scan<S>(*(const SegmentedArguments<S>*)a); }, &a);
}

template <>
void run<Absent>(const Request&) {
    shim::fail("a specimen that the program hasn't got");
}

#define ENTRY(name, O, I, U, A, SOURCE, PACKED, RING) \
    {#name, \
     {sizeof(I), sizeof(U), sizeof(A), Slot<Tail<O::Element>>::PARTS * 16, \
      {run<IF_HAS_WAY(name, 0, Specimen<O, I, U, A, SOURCE, false, false, PACKED, RING>)>, run<IF_HAS_WAY(name, 1, Specimen<O, I, U, A, SOURCE, true, false, PACKED, RING>)>, \
       run<IF_HAS_WAY(name, 2, Specimen<O, I, U, A, SOURCE, false, true, PACKED, RING>)>, run<IF_HAS_WAY(name, 3, Specimen<O, I, U, A, SOURCE, true, true, PACKED, RING>)>}}},
// name, operator, input, output, accumulator, what tells where runs start, packed, stages
#ifdef KOGGE_FEW
// Those in which faults are planted: quick to compile, and small for a race detector.
#define SPECIMENS(X) \
    X(packed_u32, PackedU32, u32, u32, u32, ByMask, false, 6) \
    X(compose_i32, ComposeI32, ComposeI32::Element, ComposeI32::Element, ComposeI32::Element, ByMask, false, 4) \
    X(keyed_u32, PackedU32, u32, u32, u32, ByKey<u32>, false, 3)
#else
#define SPECIMENS(X) \
    X(packed_u32, PackedU32, u32, u32, u32, ByMask, false, 4) \
    X(packed_u8, PackedU8, u8, u8, u8, ByFlag, false, 3) \
    X(packed_u8_u32, PackedU32, u8, u32, u32, ByMask, false, 6) \
    X(compose_i32, ComposeI32, ComposeI32::Element, ComposeI32::Element, ComposeI32::Element, ByMask, false, 6) \
    X(sum_i8, SumI8, signed char, signed char, signed char, ByMask, true, 6) \
    X(sum_i16, SumI16, short, short, short, ByKey<double>, true, 4) \
    X(max_f32, MaxF32, float, float, float, ByKey<u32>, false, 6) \
    X(max_f16, MaxF32, f16, f16, float, ByMask, false, 3) \
    X(max_bf16_in_f64, MaxF64, bf16, bf16, double, ByKey<u8>, false, 6)
#endif
Named<Specimens> entries[] = {SPECIMENS(ENTRY)};

}  // namespace

int main() { answer(entries); }
