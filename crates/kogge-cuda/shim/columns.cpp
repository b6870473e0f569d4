// Runs scans along an axis under the shim as it is told on the standard input, and answers with their
// results.
//
// A request: a line of numbers (see `main`), then an initial value per line, then the input's bytes. The
// answer: the output's bytes, then a total per line. Requests of one name share a workspace, as calls do.
// A byte written outside the output ends the program; one written between its lines is seen in the answer.
#include "kernels.hpp"
#include "memory.hpp"

#include "../kernels/inits.cuh"
#include "../kernels/columns.cuh"
#include "../kernels/descent.cuh"
#include "../kernels/short_columns.cuh"
#include "../kernels/column_fetch.cuh"
#include "../kernels/column_scan.cuh"
#include "../kernels/column_row.cuh"
#include "../kernels/column_rounds.cuh"
#include "../kernels/team.cuh"
#include "../kernels/team_cluster.cuh"
#include "../kernels/column_teams.cuh"

#include <cstddef>
#include <unistd.h>

namespace {

template <class O, class I, class U, class Stored, bool EXCLUSIVE_, u32 COLUMNS_, u32 ROWS_, u32 BLOCKS_>
struct Specimen {
    typedef O Op;
    typedef I Input;
    typedef U Output;
    typedef Stored Accumulator;
    static constexpr bool EXCLUSIVE = EXCLUSIVE_;
    static constexpr u32 COLUMNS = COLUMNS_, ROWS = ROWS_, BLOCKS = BLOCKS_;
};

// name, operator, input, output, accumulator, columns and rows of a unit, blocks of a cluster
#ifdef KOGGE_FEW
#define SPECIMENS(X) X(brackets_i64, BracketsI64, long long, long long, long long, 16, 4, 2) \
    X(brackets_i32_deep, BracketsI32, int, int, int, 2, 16, 4)
#else
#define SPECIMENS(X)                                                                                     \
    X(brackets_i64, BracketsI64, long long, long long, long long, 16, 4, 2)                                 \
    X(brackets_i32, BracketsI32, int, int, int, 64, 1, 8)                                                   \
    X(brackets_i32_deep, BracketsI32, int, int, int, 2, 16, 4)                                               \
    X(brackets_u8_u32, BracketsU32, u8, u32, u32, 32, 1, 8)                                                 \
    X(sum_f32, SumF32, float, float, float, 4, 16, 4)                                                        \
    X(sum_i8, SumI8, signed char, signed char, signed char, 16, 2, 2)                                       \
    X(sum_i16, SumI16, short, short, short, 8, 8, 4)                                                        \
    X(sum_f16, SumF32, f16, f16, float, 32, 2, 8)                                                           \
    X(max_bf16, MaxF32, bf16, bf16, float, 8, 4, 2)                                                         \
    X(max_f32_in_f64, MaxF64, float, float, double, 8, 8, 4)                                                \
    X(compose_f32, ComposeF32, ComposeF32::Element, ComposeF32::Element, ComposeF32::Element, 16, 2, 8)      \
    X(matmul_f32, MatMulF32, MatMulF32::Element, MatMulF32::Element, MatMulF32::Element, 1, 64, 2)           \
    X(matmul_f64, MatMulF64, MatMulF64::Element, MatMulF64::Element, MatMulF64::Element, 8, 4, 8)           \
    X(triple, OfTriple, OfTriple::Element, OfTriple::Element, OfTriple::Element, 16, 2, 4)                  \
    X(bytes3, OfBytes3, OfBytes3::Element, OfBytes3::Element, OfBytes3::Element, 4, 8, 8)
#endif

enum : u32 { BY_LANES, IN_ROUNDS, BY_TEAMS, IN_CLUSTERS, BY_VECTORS };

struct Request {
    u32 kernel, grid, seed;
    const u8* inits;  // one per line
};

// The same by the kernel of a lane a line, two warps to a block: of any length, or of at most so great a part of an octet.
template <class S, bool SHORT_, u32 SHARE_>
struct Whole : S {
    static constexpr bool SHORT = SHORT_;
    static constexpr u32 COLUMNS = 2 * LANES, SHARE = SHARE_, STAGES = SHARE == 1 ? 3 : 5;
};

// The same by vectors of neighbours, of at most so many elements.
template <class S, u32 ELEMENTS_>
struct Vectors : S {
    static constexpr u32 ELEMENTS = ELEMENTS_, THREADS = LANES;
};

// The same by teams, in clusters of so many blocks: one warp to a stage, or two.
template <class S, u32 CLUSTER_>
struct Teams : S {
    static constexpr u32 COLUMNS = sizeof(typename S::Input) == 4 ? 2 * LANES : LANES;
    static constexpr u32 STAGES = CLUSTER_ == 1 || CLUSTER_ == 8 ? 3 : 4, CLUSTER = CLUSTER_;
};

// The arguments of any specimen, but for the initial values.
typedef ColumnArguments<Specimen<BracketsI64, long long, long long, long long, false, 16, 1, 1>> Common;

template <class S>
ColumnArguments<S> arguments_of(const Common& common, const u8* inits, u64 init_kind, u8* totals) {
    ColumnArguments<S> a = {};
    std::memcpy((void*)&a, &common, offsetof(Common, inits));
    a.inits.kind = init_kind;
    a.inits.memory = inits;
    a.inits.totals = totals;
    std::memcpy(&a.inits.value, inits, sizeof(a.inits.value));
    return a;
}

template <class S>
void run_teams(const Request& q, const Common& common, u64 init_kind, u8* totals) {
    auto a = arguments_of<S>(common, q.inits, init_kind, totals);
    shim::launch(q.grid, TeamRing<S>::THREADS, sizeof(TeamRing<S>), q.seed,
                 [](const void* a) { column_teams<S>(*(const ColumnArguments<S>*)a); }, &a, S::CLUSTER);
}

template <class S>
void run_whole(const Request& q, const Common& common, u64 init_kind, u8* totals) {
    auto a = arguments_of<S>(common, q.inits, init_kind, totals);
    shim::launch(q.grid, S::COLUMNS, sizeof(ColumnRing<S>), q.seed,
                 [](const void* a) { column_scan<S>(*(const ColumnArguments<S>*)a); }, &a);
}

template <class S>
void run_vectors(const Request& q, const Common& common, u64 init_kind, u8* totals) {
    auto a = arguments_of<S>(common, q.inits, init_kind, totals);
    u64 groups = a.lines / ShortColumns<S>::LINES;
    shim::launch_many((u32)((groups + S::THREADS - 1) / S::THREADS), S::THREADS, 0, q.seed,
                 [](const void* a) { short_columns<S>(*(const ColumnArguments<S>*)a); }, &a);
}

template <class S>
void run(const Request& q, const Common& common, u64 init_kind, u8* totals) {
    if (q.kernel == BY_VECTORS) {
        constexpr u32 E = Order<typename S::Input>::CHUNK, MOST = 8 * E < 32 ? 8 * E : 32;
        if constexpr (E * sizeof(typename S::Input) == 16 && E * sizeof(typename S::Output) % 16 == 0) {
            if (common.length <= 4) return run_vectors<Vectors<S, 4>>(q, common, init_kind, totals);
            if (common.length <= MOST) return run_vectors<Vectors<S, MOST>>(q, common, init_kind, totals);
        }
        shim::fail("lines that no thread takes");
    }
    if (q.kernel == BY_TEAMS) return run_teams<Teams<S, 1>>(q, common, init_kind, totals);
    if (q.kernel == IN_CLUSTERS) return run_teams<Teams<S, S::BLOCKS>>(q, common, init_kind, totals);
    if (q.kernel == IN_ROUNDS) {
        auto a = arguments_of<S>(common, q.inits, init_kind, totals);
        shim::launch(q.grid, ColumnShared<S>::THREADS, sizeof(ColumnShared<S>), q.seed,
                     [](const void* a) { column_rounds<S>(*(const ColumnArguments<S>*)a); }, &a);
    } else {
        constexpr u32 OCTET = Order<typename S::Input>::CHUNK * CHUNKS_PER_OCTET;
        if (common.length <= OCTET / 4) return run_whole<Whole<S, true, 4>>(q, common, init_kind, totals);
        if (common.length <= OCTET) return run_whole<Whole<S, true, 1>>(q, common, init_kind, totals);
        run_whole<Whole<S, false, 1>>(q, common, init_kind, totals);
    }
}

template <>
void run<Absent>(const Request&, const Common&, u64, u8*) {
    shim::fail("a specimen that the program hasn't got");
}

struct Entry {
    u32 accumulator, slot, columns, row;
    void (*run[2])(const Request&, const Common&, u64, u8*);
};
#define ENTRY(name, O, I, U, A, COLUMNS, ROWS, BLOCKS)                         \
    {#name,                                                               \
     {sizeof(A), Slot<O::Element>::PARTS * 16, COLUMNS, LANES * Order<I>::CHUNK, \
      {run<IF_HAS(name, Specimen<O, I, U, A, false, COLUMNS, ROWS, BLOCKS>)>, run<IF_HAS(name, Specimen<O, I, U, A, true, COLUMNS, ROWS, BLOCKS>)>}}},
Named<Entry> entries[] = {SPECIMENS(ENTRY)};

constexpr u64 SLOTS = 1 << 20;

u64 number() {
    long long value;
    if (std::scanf("%lld", &value) != 1) shim::fail("the request ends early");
    return (u64)value;
}

}  // namespace

int main() {
    char name[64];
    while (std::scanf("%63s", name) == 1) {
        alarm(REQUEST_SECONDS);
        Named<Entry>& named = find(entries, name);
        const Entry& e = named.entry;
        u64 exclusive = number();
        Request q = {(u32)number(), (u32)number(), (u32)number(), nullptr};
        Common a = {};
        a.length = number(), a.lines = number(), a.first_number = number();
        a.input_stride = (long long)number(), a.output_stride = (long long)number();
        a.axes = number();
        for (u64 k = 0; k < a.axes; k++) {
            OuterAxis& axis = a.outer[k];
            axis.length = number();
            axis.input_stride = (long long)number(), axis.output_stride = (long long)number();
            axis.number_stride = (long long)number();
        }
        u64 init_kind = number(), in_place = number();
        // Bytes, where the first line's first element lies among them, and their place within 16.
        u64 input_bytes = number(), input_first = number(), input_offset = number();
        u64 output_bytes = number(), output_first = number(), output_offset = number();
        std::getchar();
        Memory inits(a.lines * e.accumulator, 0), totals(a.lines * e.accumulator, 0);
        Memory input(input_bytes, (u32)input_offset), output(output_bytes, (u32)output_offset);
        read_all(inits.at, a.lines * e.accumulator);
        read_all(input.at, input_bytes);
        std::memset(output.at, 0xee, output_bytes);
        Memory& workspace = named.shared(sizeof(Workspace) + SLOTS * e.slot);
        // As the plan counts them: lines that a strip hasn't got have slots too.
        u64 columns = q.kernel == BY_TEAMS || q.kernel == IN_CLUSTERS ? 2 * LANES : e.columns;
        u64 rows = (a.length + e.row - 1) / e.row, lines = (a.lines + columns - 1) / columns * columns;
        u64 slots = rows + (rows + 7) / 8 + 2 * ((rows + 63) / 64);
        if (q.kernel != BY_LANES && q.kernel != BY_VECTORS && slots * lines + q.grid > SLOTS) shim::fail("more slots than the workspace has");
        q.inits = inits.at;
        a.input = input.at + input_first;
        u8* written = in_place ? input.at : output.at;
        a.output = written + (in_place ? input_first : output_first);
        a.workspace = (Workspace*)workspace.at;
        e.run[exclusive](q, a, init_kind, totals.at);
        if (((Workspace*)workspace.at)->drawn != 0) shim::fail("draws that leave the counter other than it was");
        for (const Memory* m : {&inits, &totals, &input, &output, &workspace}) m->check();
        std::fwrite(written, 1, in_place ? input_bytes : output_bytes, stdout);
        std::fwrite(totals.at, 1, a.lines * e.accumulator, stdout);
        std::fflush(stdout);
    }
}
