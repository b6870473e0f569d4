// Runs scans under the shim as it is told on the standard input, and answers with their results.
//
// A request: a line `name kind kernel grid seed length init_kind in_place input_offset output_offset`,
// then the accumulator's bytes as init, then the elements. `kind` is 0 inclusive, 1 exclusive, plus 2 if
// in reverse; `kernel` is 0 for segments, 1 for rounds, 2 for tiles, 3 and 4 for a cluster whose
// blocks have a segment or two. The answer: the output's bytes, then the total's. Requests of one name share a workspace, as calls do. A byte written outside the output ends the program.
#include "memory.hpp"
#include "specimens.hpp"

#include <unistd.h>

namespace {

struct Entry {
    u32 input, output, accumulator;
    void (*run[4])(const Request&);
    u32 slot, segment, tile;
};

#define ENTRY(name, O, I, U, A, BULK, STAGES, GROUPS, REDUCERS, AHEAD, PACKED)                                          \
    {#name,                                                                                                             \
     {sizeof(I), sizeof(U), sizeof(A),                                                                                  \
      {run<IF_HAS_WAY(name, 0, Specimen<O, I, U, A, false, false, BULK, STAGES, GROUPS, REDUCERS, AHEAD, PACKED>)>,            \
       run<IF_HAS_WAY(name, 1, Specimen<O, I, U, A, true, false, BULK, STAGES, GROUPS, REDUCERS, AHEAD, PACKED>)>, \
       run<IF_HAS_WAY(name, 2, Specimen<O, I, U, A, false, true, BULK, STAGES, GROUPS, REDUCERS, AHEAD, PACKED>)>, \
       run<IF_HAS_WAY(name, 3, Specimen<O, I, U, A, true, true, BULK, STAGES, GROUPS, REDUCERS, AHEAD, PACKED>)>},             \
      Slot<O::Element>::PARTS * 16, Order<I>::SEGMENT, Order<I>::TILE}},
Named<Entry> entries[] = {SPECIMENS(ENTRY)};

}  // namespace

int main() {
    char name[64];
    u32 kind, in_place, input_offset, output_offset;
    Request q;
    while (std::scanf("%63s %u %u %u %u %llu %u %u %u %u", name, &kind, &q.kernel, &q.grid, &q.seed, &q.length,
                      &q.init_kind, &in_place, &input_offset, &output_offset) == 10) {
        std::getchar();
        alarm(REQUEST_SECONDS);
        Named<Entry>& named = find(entries, name);
        const Entry& e = named.entry;
        read_all(q.init, e.accumulator);
        Memory input(q.length * e.input, input_offset), output(q.length * e.output, output_offset);
        Memory total(e.accumulator, 0);
        read_all(input.at, q.length * e.input);
        Memory& workspace = named.shared(sizeof(Workspace) + 4096 * e.slot);
        u64 segments = (q.length + e.segment - 1) / e.segment, tiles = (q.length + e.tile - 1) / e.tile;
        u64 slots = q.kernel == BY_SEGMENTS ? segments : q.kernel == IN_ROUNDS ? tiles : q.kernel == BY_TILES ? TILE_COPIES * tiles : 0;
        if (slots > 4096) shim::fail("more slots than the workspace has");
        q.input = input.at;
        q.output = in_place ? input.at : output.at;
        q.total = total.at;
        q.workspace = workspace.at;
        e.run[kind](q);
        for (const Memory* m : {&input, &output, &total, &workspace}) m->check();
        std::fwrite(q.output, 1, q.length * e.output, stdout);
        std::fwrite(q.total, 1, e.accumulator, stdout);
        std::fflush(stdout);
    }
}
