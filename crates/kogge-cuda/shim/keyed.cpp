// Runs scans by flags or keys that find heads themselves, by windows: see segments.hpp. Neither initial values nor totals of
// each segment are asked for.
#include "windows.hpp"

namespace {

template <class O, class I, class U, class Stored, class Source_, bool EXCLUSIVE_, bool REVERSE_, u32 STEPS_, bool PACKED>
struct Specimen {
    typedef O Op;
    typedef typename PlainOf<O>::Type Plain;
    typedef I Input;
    typedef U Output;
    typedef Stored Accumulator;
    typedef Source_ Source;
    static constexpr bool EXCLUSIVE = EXCLUSIVE_, REVERSE = REVERSE_, BULK = false, LONG_IN_ROUNDS = false;
    static constexpr u32 STEPS = STEPS_, OFFSET_BYTES = 0;
    typedef typename FoldOf<Specimen, PACKED>::Type Fold;
};

template <class S>
void run(const Request& q) {
    SegmentedArguments<S> a = window_arguments<S>(q);
    a.source = q.from;
    launch_windows(q, a, q.seed);
}

template <>
void run<Absent>(const Request&) {
    shim::fail("a specimen that the program hasn't got");
}

#define ENTRY(name, O, I, U, A, SOURCE, STEPS, PACKED) \
    {#name, \
     {sizeof(I), sizeof(U), sizeof(A), Slot<O::Element>::PARTS * 16, \
      {run<IF_HAS_WAY(name, 0, Specimen<O, I, U, A, SOURCE, false, false, STEPS, PACKED>)>, \
       run<IF_HAS_WAY(name, 1, Specimen<O, I, U, A, SOURCE, true, false, STEPS, PACKED>)>, \
       run<IF_HAS_WAY(name, 2, Specimen<O, I, U, A, SOURCE, false, true, STEPS, PACKED>)>, \
       run<IF_HAS_WAY(name, 3, Specimen<O, I, U, A, SOURCE, true, true, STEPS, PACKED>)>}}},
// name, operator, input, output, accumulator, what tells where runs start, steps, packed
#ifdef KOGGE_FEW
// Those in which faults are planted: quick to compile, and small for a race detector.
#define SPECIMENS(X) \
    X(brackets_i64, BracketsI64, long long, long long, long long, ByKey<u32>, 2, false) \
    X(brackets_i32, BracketsI32, int, int, int, ByKey<u32>, 8, false)
#else
#define SPECIMENS(X) \
    X(brackets_i64, BracketsI64, long long, long long, long long, ByKey<u32>, 8, false) \
    X(brackets_i32, BracketsI32, int, int, int, ByKey<u64>, 2, false) \
    X(sum_f32, SumF32, float, float, float, ByFlag, 8, false) \
    X(sum_i8, SumI8, signed char, signed char, signed char, ByKey<double>, 8, true) \
    X(sum_f16, SumF32, f16, f16, float, ByKey<KeyF16>, 8, false) \
    X(brackets_u8_u32, BracketsU32, u8, u32, u32, ByKey<u8>, 4, false) \
    X(matmul_f64, MatMulF64, MatMulF64::Element, MatMulF64::Element, MatMulF64::Element, ByKey<KeyBf16>, 2, false) \
    X(bytes3, OfBytes3, OfBytes3::Element, OfBytes3::Element, OfBytes3::Element, ByKey<u32>, 8, false)
#endif
Named<Specimens> entries[] = {SPECIMENS(ENTRY)};

}  // namespace

int main() { answer(entries); }
