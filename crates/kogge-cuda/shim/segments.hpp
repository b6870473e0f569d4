// What the programs of scans by segments have in common: requests, the launches that find segments, and a loop that
// answers.
//
// A request: a line `name kind source seed length segments inits totals in_place input_offset
// output_offset source_offset source_bytes`, then the accumulators' bytes of one initial value, or of one a
// segment if `inits` is 3, then the source's bytes, then the elements. `kind` is 0 inclusive, 1 exclusive,
// plus 2 if in reverse; `source` is a place in `sources`. The answer: the output's bytes, then the totals',
// if they are wanted. Requests of one name share a workspace, as calls do. A byte written outside the
// output ends the program.
#pragma once
#include "memory.hpp"
#include "kernels.hpp"

#include "../kernels/inits.cuh"
#include "../kernels/run_list.cuh"
#include "../kernels/listing.cuh"
#include "../kernels/heads.cuh"
#include "../kernels/offset_heads.cuh"
#include "../kernels/offset_lists.cuh"
#include "../kernels/segmented_arguments.cuh"

#include <unistd.h>

struct Request {
    u32 kind, source, seed, inits, totals;
    u64 length, segments;
    const u8 *input, *from, *init;
    u8 *output, *total, *workspace, *heads;
    Window* windows;
    u32* first;
    PlacesTaken* taken;
};

inline bool by_offsets(const Request& q) { return q.source < 2; }

typedef void (*Kernel)(const void*);
template <class Source, bool REVERSE, u32 WINDOW>
void run_mark(const void* a) {
    mark<Source, REVERSE, WINDOW>(*(const MarkArguments*)a);
}
// Heads by offsets; the lists of long runs and stretches too, or alone.
enum Find { HEADS, HEADS_AND_LISTS, LISTS };
template <class Offset, bool REVERSE, u32 WINDOW, Find FIND>
void run_mark_offsets(const void* a) {
    if constexpr (FIND == HEADS) mark_offsets<Offset, REVERSE, WINDOW, true>(*(const MarkArguments*)a);
    else list_offsets<Offset, REVERSE, WINDOW, FIND == HEADS_AND_LISTS>(*(const MarkArguments*)a);
}
template <bool REVERSE, u32 WINDOW>
constexpr Kernel sources[] = {
    nullptr, nullptr, run_mark<ByFlag, REVERSE, WINDOW>, run_mark<ByKey<u32>, REVERSE, WINDOW>,
    run_mark<ByKey<KeyF16>, REVERSE, WINDOW>, run_mark<ByKey<double>, REVERSE, WINDOW>,
    run_mark<ByKey<u8>, REVERSE, WINDOW>,   run_mark<ByKey<u64>, REVERSE, WINDOW>,
    run_mark<ByKey<KeyBf16>, REVERSE, WINDOW>,
};
// By offsets, of which there are two types, a thread block has some windows.
template <bool REVERSE, u32 WINDOW, Find FIND>
void launch_offsets(const MarkArguments& a, bool wide, u32 seed) {
    constexpr Kernel kernels[] = {run_mark_offsets<u32, REVERSE, WINDOW, FIND>, run_mark_offsets<u64, REVERSE, WINDOW, FIND>};
    typedef OffsetMarks<u32, false, WINDOW, FIND != LISTS> Marks;
    u32 blocks = (u32)(a.window_count ? (a.window_count + a.block_windows - 1) / a.block_windows : 1);
    u32 beside = FIND == LISTS ? (u32)sizeof(Marks::run) : a.block_windows * WINDOW / 8;
    u32 bytes = (FIND == HEADS ? 0 : sizeof(ListingShared)) + sizeof(Marks) - sizeof(Marks::quad) + beside;
    shim::launch_many(blocks, OFFSET_THREADS, bytes, seed, kernels[wide], &a);
}

template <u32 WINDOW>
MarkArguments mark_arguments(const Request& q, const LongRuns& long_runs, u32 unread) {
    u64 windows = (q.length + WINDOW - 1) / WINDOW;
    // So many windows to a block that there are few blocks: each has 1,024 fibers, of which ThreadSanitizer has 8,128.
    u32 block_windows = windows <= 12 ? 3 + q.seed % 6 : MARKED_POSITIONS / (WINDOW > MOST_MARKED ? WINDOW : MOST_MARKED);
    std::memset(q.heads, 0xa5, windows * WINDOW / 8);
    std::memset((void*)q.windows, 0xa5, (windows + 1) * sizeof(Window));
    std::memset((void*)q.first, 0xa5, windows * sizeof(u32));
    return {q.from, q.length, q.segments, (u32*)q.heads, q.windows, q.first, (Workspace*)q.workspace, windows, block_windows, unread, long_runs};
}
// The mask of heads by offsets, of which nothing is read in windows without heads behind so many of them.
template <bool REVERSE, u32 WINDOW, Find FIND = HEADS>
MarkArguments run_offsets(const Request& q, const LongRuns& long_runs, u32 unread) {
    MarkArguments a = mark_arguments<WINDOW>(q, long_runs, unread);
    launch_offsets<REVERSE, WINDOW, FIND>(a, q.source == 1, q.seed);
    return a;
}
// The mask of heads.
template <bool REVERSE, u32 WINDOW>
MarkArguments run_marks(const Request& q, const LongRuns& long_runs) {
    if (by_offsets(q)) return run_offsets<REVERSE, WINDOW>(q, long_runs, 0);
    MarkArguments a = mark_arguments<WINDOW>(q, long_runs, 0);
    constexpr u64 WINDOWS = MARK_THREADS / LANES / mark_warps(WINDOW);
    u64 blocks = (a.window_count + WINDOWS - 1) / WINDOWS;
    if (blocks > 0) shim::launch_many((u32)blocks, MARK_THREADS, sizeof(MarkShared), q.seed, sources<REVERSE, WINDOW>[q.source], &a);
    return a;
}
// And what precedes each window, and what is told of long runs.
template <bool REVERSE, u32 WINDOW>
void run_heads(const Request& q, const LongRuns& long_runs) {
    MarkArguments a = run_marks<REVERSE, WINDOW>(q, long_runs);
    u32 sums = (u32)((a.window_count + SUM_THREADS) / SUM_THREADS);
    shim::launch_many(sums, SUM_THREADS, sizeof(SumShared), q.seed + 1, [](const void* a) { sum_windows(*(const MarkArguments*)a); }, &a);
}

struct Specimens {
    u32 input, output, accumulator, slot;
    void (*run[4])(const Request&);
};

constexpr u64 SLOTS = 1 << 14;

// Answers requests until there are no more.
template <u64 N>
void answer(Named<Specimens> (&entries)[N]) {
    char name[64];
    u32 in_place, input_offset, output_offset, source_offset;
    u64 source_bytes;
    Request q;
    while (std::scanf("%63s %u %u %u %llu %llu %u %u %u %u %u %u %llu", name, &q.kind, &q.source, &q.seed, &q.length,
                      &q.segments, &q.inits, &q.totals, &in_place, &input_offset, &output_offset, &source_offset,
                      &source_bytes) == 13) {
        std::getchar();
        alarm(REQUEST_SECONDS);
        Named<Specimens>& named = find(entries, name);
        const Specimens& e = named.entry;
        u64 values = q.inits == INITS_EACH ? q.segments : 1, totals = q.totals ? q.segments * e.accumulator : 0;
        Memory init(values * e.accumulator, 0), source(source_bytes, source_offset), total(totals, 0);
        Memory input(q.length * e.input, input_offset), output(q.length * e.output, output_offset);
        // Room for windows of any size.
        Memory heads(q.length / 8 + 4096, 0), windows((q.length / 256 + 3) * sizeof(Window), 0), first((q.length / 256 + 3) * 4, 0);
        read_all(init.at, init.size);
        read_all(source.at, source.size);
        read_all(input.at, input.size);
        Memory& workspace = named.shared(sizeof(Workspace) + SLOTS * e.slot + sizeof(PlacesTaken));
        q.input = input.at, q.from = source.at, q.init = init.at, q.total = total.at;
        q.output = in_place ? input.at : output.at;
        q.workspace = workspace.at, q.heads = heads.at, q.windows = (Window*)windows.at, q.first = (u32*)first.at;
        q.taken = (PlacesTaken*)(workspace.at + workspace.size) - 1;
        e.run[q.kind](q);
        for (const Memory* m : {&init, &source, &input, &output, &total, &heads, &windows, &first, &workspace}) m->check();
        std::fwrite(q.output, 1, q.length * e.output, stdout);
        std::fwrite(q.total, 1, totals, stdout);
        std::fflush(stdout);
    }
}
