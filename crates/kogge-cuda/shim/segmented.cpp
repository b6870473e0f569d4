// Runs scans by segments under the shim as it is told on the standard input, and answers with their
// results.
//
// A request: a line `name kind source seed length segments inits totals in_place input_offset
// output_offset source_offset source_bytes`, then the accumulators' bytes of one initial value, or of one a
// segment if `inits` is 3, then the source's bytes, then the elements. `kind` is 0 inclusive, 1 exclusive,
// plus 2 if in reverse; `source` is a place in `sources`. The answer: the output's bytes, then the totals',
// if they are wanted. Requests of one name share a workspace, as calls do. A byte written outside the
// output ends the program.
#include "memory.hpp"
#include "kernels.hpp"

#include "../kernels/inits.cuh"
#include "../kernels/run_list.cuh"
#include "../kernels/heads.cuh"
#include "../kernels/segmented_arguments.cuh"
#include "../kernels/cells.cuh"
#include "../kernels/segmented_window.cuh"
#include "../kernels/run_exchange.cuh"
#include "../kernels/window_exchange.cuh"
#include "../kernels/plain_steps.cuh"
#include "../kernels/segmented_scan.cuh"
#include "../kernels/run_tiles.cuh"

#include <unistd.h>

namespace {

struct Request {
    u32 kind, source, seed, inits, totals;
    u64 length, segments;
    const u8 *input, *from, *init;
    u8 *output, *total, *workspace, *heads;
    Window* windows;
    u32* first;
};

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
    static constexpr u32 STAGES = RING, GROUPS = RING == 4 ? 2 : 1, REDUCERS = RING == 4 ? 2 : 4, AHEAD = 1, FLIGHT = 2,
                         LOOKERS = is_wide<typename O::Element>() ? 2 : 1;
    // As WindowShape has it, which the kernel of rounds doesn't know.
    static constexpr u32 WINDOW = 8 * STEPS * Order<I>::CHUNK * CHUNKS_PER_ROW, MARKED = WINDOW / ((WINDOW + MOST_MARKED - 1) / MOST_MARKED);
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

typedef void (*Kernel)(const void*);
template <class Source, bool REVERSE, u32 WINDOW>
void run_mark(const void* a) {
    mark<Source, REVERSE, WINDOW>(*(const MarkArguments*)a);
}
template <class Offset, bool REVERSE, u32 WINDOW>
void run_mark_offsets(const void* a) {
    mark_offsets<Offset, REVERSE, WINDOW>(*(const MarkArguments*)a);
}
template <bool REVERSE, u32 WINDOW>
constexpr Kernel sources[] = {
    run_mark_offsets<u32, REVERSE, WINDOW>, run_mark_offsets<u64, REVERSE, WINDOW>,
    run_mark<ByFlag, REVERSE, WINDOW>,      run_mark<ByKey<u32>, REVERSE, WINDOW>,
    run_mark<ByKey<KeyF16>, REVERSE, WINDOW>, run_mark<ByKey<double>, REVERSE, WINDOW>,
    run_mark<ByKey<u8>, REVERSE, WINDOW>,   run_mark<ByKey<u64>, REVERSE, WINDOW>,
    run_mark<ByKey<KeyBf16>, REVERSE, WINDOW>,
};

// The mask of heads, what precedes each window, and what is told of long runs.
template <bool REVERSE, u32 WINDOW>
u64 run_heads(const Request& q, const LongRuns& long_runs) {
    u64 windows = (q.length + WINDOW - 1) / WINDOW;
    MarkArguments a = {q.from, q.length, q.segments, (u32*)q.heads, q.windows, q.first, (Workspace*)q.workspace, windows, long_runs};
    bool offsets = q.source < 2;
    std::memset(q.heads, offsets ? 0 : 0xa5, windows * WINDOW / 8);
    std::memset((void*)q.windows, offsets ? 0 : 0xa5, (windows + 1) * sizeof(Window));
    std::memset((void*)q.first, offsets ? 0 : 0xa5, windows * sizeof(u32));
    u64 blocks = offsets ? (q.segments + MARK_THREADS - 1) / MARK_THREADS : windows;
    if (blocks > 0) shim::launch((u32)blocks, MARK_THREADS, sizeof(MarkShared), q.seed, sources<REVERSE, WINDOW>[q.source], &a);
    u32 sums = (u32)((windows + SUM_THREADS) / SUM_THREADS);
    shim::launch(sums, SUM_THREADS, sizeof(SumShared), q.seed + 1, [](const void* a) { sum_windows(*(const MarkArguments*)a); }, &a);
    return windows;
}

template <class S>
void run(const Request& q) {
    typedef WindowShape<S> W;
    typedef typename S::Input Input;
    u64 marks = (q.length + W::MARKED - 1) / W::MARKED, tiles = q.length / Order<Input>::TILE + q.length / W::WINDOW + 1;
    Memory list(sizeof(RunList) + tiles * sizeof(RunTile), 0), covers((marks + 1) * sizeof(Cover), 0), cut((marks / 32 + 1) * 4, 0);
    LongRuns long_runs = {(RunList*)list.at, (Cover*)covers.at, (u32*)cut.at, tiles, W::WINDOW, W::MARKED, Order<Input>::TILE,
                          W::SEGMENT, S::OFFSET_BYTES, S::REVERSE, q.inits == INITS_EACH || q.totals, q.totals};
    run_heads<S::REVERSE, W::MARKED>(q, S::LONG_IN_ROUNDS ? long_runs : LongRuns{});
    u64 more = q.length / W::WINDOW;
    // In place, what precedes windows is saved, as it lies in memory.
    constexpr u64 LEAD = W::SEGMENT * sizeof(Input);
    Memory leads(q.input == q.output ? more * LEAD : 0, 0);
    for (u64 i = 0; i * LEAD < leads.size; i++) {
        u64 place = S::REVERSE ? q.length - (more - i) * W::WINDOW : (i + 1) * W::WINDOW - W::SEGMENT;
        std::memcpy(leads.at + i * LEAD, q.input + place * sizeof(Input), LEAD);
    }
    SegmentedArguments<S> a = {};
    a.input = q.input, a.output = q.output, a.length = q.length, a.workspace = (Workspace*)q.workspace;
    a.heads = (const u32*)q.heads, a.windows = q.windows;
    a.cut = long_runs.cut, a.covers = long_runs.covers, a.list = long_runs.list;
    a.offsets = S::OFFSET_BYTES ? q.from : nullptr, a.segments = q.segments;
    a.inits.kind = q.inits, a.inits.memory = q.init, a.inits.totals = q.totals ? q.total : nullptr;
    if (q.inits == INITS_BY_VALUE) std::memcpy(&a.inits.value, q.init, sizeof(a.inits.value));
    a.leads = leads.size ? leads.at : nullptr, a.lead_count = more;
    shim::launch((u32)more + 1, SEGMENTED_THREADS, sizeof(SegmentedShared<S>), q.seed + 2,
                 [](const void* a) { segmented_scan<S>(*(const SegmentedArguments<S>*)a); }, &a);
    if constexpr (S::LONG_IN_ROUNDS)
        shim::launch(1 + q.seed % (tiles < 5 ? (u32)tiles : 5), Ring<S>::THREADS, sizeof(Ring<S>), q.seed + 3,
                     [](const void* a) { long_run_scan<S>(*(const SegmentedArguments<S>*)a); }, &a);
    for (const Memory* m : {&list, &covers, &cut}) m->check();
}

struct Specimens {
    u32 input, output, accumulator, slot;
    void (*run[4])(const Request&);
};

#define ENTRY(name, O, I, U, A, STEPS, OFFSETS, PACKED, RING) \
    {#name, \
     {sizeof(I), sizeof(U), sizeof(A), Slot<O::Element>::PARTS * 16, \
      {run<Specimen<O, I, U, A, false, false, STEPS, OFFSETS, PACKED, RING>>, \
       UNLESS_FEW(run<Specimen<O, I, U, A, true, false, STEPS, OFFSETS, PACKED, RING>>), \
       UNLESS_FEW(run<Specimen<O, I, U, A, false, true, STEPS, OFFSETS, PACKED, RING>>), \
       run<Specimen<O, I, U, A, true, true, STEPS, OFFSETS, PACKED, RING>>}}},
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

constexpr u64 SLOTS = 1 << 14;

}  // namespace

int main() {
    char name[64];
    u32 in_place, input_offset, output_offset, source_offset;
    u64 source_bytes;
    Request q;
    while (std::scanf("%63s %u %u %u %llu %llu %u %u %u %u %u %u %llu", name, &q.kind, &q.source, &q.seed, &q.length,
                      &q.segments, &q.inits, &q.totals, &in_place, &input_offset, &output_offset, &source_offset,
                      &source_bytes) == 13) {
        std::getchar();
        alarm(300);
        Named<Specimens>& named = find(entries, name);
        const Specimens& e = named.entry;
        u64 values = q.inits == INITS_EACH ? q.segments : 1, totals = q.totals ? q.segments * e.accumulator : 0;
        Memory init(values * e.accumulator, 0), source(source_bytes, source_offset), total(totals, 0);
        Memory input(q.length * e.input, input_offset), output(q.length * e.output, output_offset);
        // Room for windows of any size.
        Memory heads(q.length / 8 + 2048, 0), windows((q.length / 256 + 3) * sizeof(Window), 0), first((q.length / 256 + 3) * 4, 0);
        read_all(init.at, init.size);
        read_all(source.at, source.size);
        read_all(input.at, input.size);
        Memory& workspace = named.shared(sizeof(Workspace) + SLOTS * e.slot);
        q.input = input.at, q.from = source.at, q.init = init.at, q.total = total.at;
        q.output = in_place ? input.at : output.at;
        q.workspace = workspace.at, q.heads = heads.at, q.windows = (Window*)windows.at, q.first = (u32*)first.at;
        e.run[q.kind](q);
        for (const Memory* m : {&init, &source, &input, &output, &total, &heads, &windows, &first, &workspace}) m->check();
        std::fwrite(q.output, 1, q.length * e.output, stdout);
        std::fwrite(q.total, 1, totals, stdout);
        std::fflush(stdout);
    }
}
