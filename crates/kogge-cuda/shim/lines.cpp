// Scans lines of consecutive elements under the shim, as it is told on the standard input.
//
// A request: a line `name kind way grid seed length lines whole dense stages in_place input_bytes
// input_offset output_bytes output_offset inits axes`, a line of three numbers for what lies at index 0 on every axis (a
// byte of the input, a byte of the output, a line's number), and for each axis a line `length input output
// number`. Then the initial values: none, one, or one a line; then all bytes of the input. The answer: all
// bytes of the output, of which those between lines are as they were, 0x5a; then the totals.
#include "memory.hpp"
#include "specimens.hpp"

#include "../kernels/inits.cuh"
#include "../kernels/contiguous.cuh"
#include "../kernels/stage.cuh"
#include "../kernels/line_scan.cuh"
#include "../kernels/short_lines.cuh"
#include "../kernels/line_tiles.cuh"

#include <unistd.h>

namespace {

// For short lines the grid is how many, or rows that they share, a block has at most.
enum : u32 { IN_LOTS, IN_ROUNDS_OF_LINES, A_ROW_A_WARP };

struct LineRequest {
    u64 length, lines, axes, input_bytes, output_bytes, inits;
    u32 kind, way, grid, seed, whole, dense, stages, in_place, input_offset, output_offset;
    u64 origin[3];
    OuterAxis axis[MOST_OUTER];
    u8* init;
    u8* input;
    u8* output;
    u8* totals;
    u8* workspace;
};

// The same, of lines that are whole chunks.
template <class S>
struct Whole : S {
    static constexpr bool WHOLE = true;
};

// The same, of lines at even distances.
template <class S>
struct Even : S {
    static constexpr bool EVEN = true;
};

template <class S>
void run_rounds(const LineRequest& q, const LineArguments<S>& a) {
    shim::launch(q.grid, Ring<S>::THREADS, sizeof(Ring<S>), q.seed,
                 [](const void* a) { long_line_scan<S>(*(const LineArguments<S>*)a); }, &a);
}
template <class S>
void run_lots(const LineRequest& q, const LineArguments<S>& a) {
    shim::launch(q.grid, LineRings<S>::THREADS, sizeof(LineRings<S>) + LineRings<S>::WARPS * a.stages * a.stage_bytes, q.seed,
                 [](const void* a) { line_scan<S>(*(const LineArguments<S>*)a); }, &a);
}

template <class S>
void run_short(const LineRequest& q, LineArguments<S>& a) {
    u32 chunks = (u32)(q.length + Order<typename S::Input>::CHUNK - 1) / Order<typename S::Input>::CHUNK;
    u32 rows = (chunks + LANES - 1) / LANES, beside = rows == 1 ? LANES / chunks : 1, most = ROWS_PER_SEGMENT / rows;
    a.bunch = q.grid < most ? q.grid : most;
    u64 teams = (q.lines + beside - 1) / beside;
    shim::launch_many((u32)((teams + a.bunch - 1) / a.bunch), LANES * rows * (u32)a.bunch, sizeof(ShortLines<S>), q.seed,
                 [](const void* a) { short_line_scan<S>(*(const LineArguments<S>*)a); }, &a);
}

template <class S>
void run_lines(const LineRequest& q) {
    LineArguments<S> a = {};
    a.origin = {q.input + q.origin[0], q.output + q.origin[1], q.origin[2]};
    a.length = q.length, a.lines = q.lines;
    a.workspace = (Workspace*)q.workspace;
    a.whole = q.whole, a.dense = q.dense, a.axes = q.axes;
    std::memcpy(a.axis, q.axis, sizeof(a.axis));
    // As src/lines/contiguous/scan.rs has it.
    long long below = 0, above = (long long)(q.length * sizeof(typename S::Input));
    for (u64 i = 0; i < q.axes; i++) {
        long long reach = q.axis[i].length > 0 ? (long long)(q.axis[i].length - 1) * q.axis[i].input : 0;
        (reach < 0 ? below : above) += reach;
    }
    if (!q.in_place) a.readable = {a.origin.input + below, a.origin.input + above};
    a.inits.kind = q.inits, a.inits.memory = q.init, a.inits.totals = q.totals;
    if (q.inits == INITS_BY_VALUE) std::memcpy(&a.inits.value, q.init, sizeof(a.inits.value));
    if (q.way == A_ROW_A_WARP) {
        run_short(q, a);
    } else if (q.way == IN_ROUNDS_OF_LINES) {
        if constexpr (sizeof(typename S::Input) == 8) {
            LineArguments<Even<S>> even;
            std::memcpy((void*)&even, &a, sizeof(a));
            if (a.axes <= 1) return run_rounds(q, even);
        }
        run_rounds(q, a);
    } else {
        typedef LineRings<S> Rings;
        LineShare<S> share((u32)q.length, 0, 0);
        u64 range = (share.lines_per_lot - 1) * q.axis[q.axes > 1 ? q.axes - 1 : 0].input + share.length * sizeof(typename S::Input);
        a.stages = range > 32 << 10 ? 0 : q.stages;
        a.bunch = q.seed % 3;
        a.stage_bytes = (u32)(range + 16 + 2 * Rings::PAD + 15) / 16 * 16;
        if constexpr (InputChunk<S>::BYTES % 16 == 0) {
            LineArguments<Whole<S>> whole;
            std::memcpy((void*)&whole, &a, sizeof(a));
            if (a.whole && a.stages > 0) return run_lots(q, whole);
        }
        run_lots(q, a);
    }
}

template <>
void run_lines<Absent>(const LineRequest&) {
    shim::fail("a specimen that the program hasn't got");
}

struct Entry {
    u32 accumulator;
    void (*run[4])(const LineRequest&);
    u32 slot;
};

#define ENTRY(name, O, I, U, A, BULK, STAGES, GROUPS, REDUCERS, AHEAD, PACKED)                                                \
    {#name,                                                                                                                   \
     {sizeof(A),                                                                                                              \
      {run_lines<IF_HAS_WAY(name, 0, Specimen<O, I, U, A, false, false, BULK, STAGES, GROUPS, REDUCERS, AHEAD, PACKED>)>,            \
       run_lines<IF_HAS_WAY(name, 1, Specimen<O, I, U, A, true, false, BULK, STAGES, GROUPS, REDUCERS, AHEAD, PACKED>)>, \
       run_lines<IF_HAS_WAY(name, 2, Specimen<O, I, U, A, false, true, BULK, STAGES, GROUPS, REDUCERS, AHEAD, PACKED>)>, \
       run_lines<IF_HAS_WAY(name, 3, Specimen<O, I, U, A, true, true, BULK, STAGES, GROUPS, REDUCERS, AHEAD, PACKED>)>},             \
      Slot<O::Element>::PARTS * 16}},
Named<Entry> entries[] = {LINE_SPECIMENS(ENTRY)};

bool read_request(LineRequest& q, char (&name)[64]) {
    if (std::scanf("%63s %u %u %u %u %llu %llu %u %u %u %u %llu %u %llu %u %llu %llu", name, &q.kind, &q.way, &q.grid,
                   &q.seed, &q.length, &q.lines, &q.whole, &q.dense, &q.stages, &q.in_place, &q.input_bytes, &q.input_offset,
                   &q.output_bytes, &q.output_offset, &q.inits, &q.axes) != 17)
        return false;
    bool read = std::scanf("%llu %llu %llu", &q.origin[0], &q.origin[1], &q.origin[2]) == 3;
    for (u64 i = 0; i < q.axes; i++) {
        OuterAxis& axis = q.axis[i];
        read = read && std::scanf("%llu %lld %lld %lld", &axis.length, &axis.input, &axis.output, &axis.number) == 4;
    }
    if (!read) shim::fail("not a request");
    std::getchar();
    return true;
}

}  // namespace

int main() {
    enum : u64 { SLOTS = 4096 };
    char name[64];
    LineRequest q = {};
    for (; read_request(q, name); q = {}) {
        alarm(REQUEST_SECONDS);
        Named<Entry>& named = find(entries, name);
        const Entry& e = named.entry;
        u64 inits = q.inits == INITS_NONE ? 0 : q.inits == INITS_EACH ? q.lines : 1;
        Memory init(inits * e.accumulator, 0), totals(q.lines * e.accumulator, 0);
        Memory input(q.input_bytes, q.input_offset), output(q.output_bytes, q.output_offset);
        read_all(init.at, init.size);
        read_all(input.at, input.size);
        std::memset(output.at, 0x5a, output.size);
        Memory& workspace = named.shared(sizeof(Workspace) + SLOTS * e.slot);
        q.init = init.at, q.input = input.at, q.output = q.in_place ? input.at : output.at;
        q.totals = totals.at, q.workspace = workspace.at;
        e.run[q.kind](q);
        for (const Memory* m : {&init, &input, &output, &totals, &workspace}) m->check();
        std::fwrite(q.output, 1, q.output_bytes, stdout);
        std::fwrite(totals.at, 1, totals.size, stdout);
        std::fflush(stdout);
    }
}
