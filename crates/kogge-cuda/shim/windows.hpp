// What the programs that scan segments by windows have in common.
#pragma once
#include "segments.hpp"

#include "../kernels/cells.cuh"
#include "../kernels/segmented_window.cuh"
#include "../kernels/run_exchange.cuh"
#include "../kernels/window_heads.cuh"
#include "../kernels/window_exchange.cuh"
#include "../kernels/plain_steps.cuh"
#include "../kernels/segmented_scan.cuh"

// The arguments but for what finds the runs, and the launch of the windows.
template <class S>
SegmentedArguments<S> window_arguments(const Request& q) {
    SegmentedArguments<S> a = {};
    a.input = q.input, a.output = q.output, a.length = q.length, a.workspace = (Workspace*)q.workspace;
    a.inits.kind = q.inits, a.inits.memory = q.init;
    if (q.inits == INITS_BY_VALUE) std::memcpy(&a.inits.value, q.init, sizeof(a.inits.value));
    return a;
}
template <class S>
void launch_windows(const Request& q, SegmentedArguments<S>& a, u32 seed) {
    typedef WindowShape<S> W;
    u64 more = q.length / W::WINDOW;
    // In place, what precedes windows is saved, as it lies in memory.
    constexpr u64 LEAD = W::SEGMENT * sizeof(typename S::Input);
    Memory leads(q.input == q.output ? more * LEAD : 0, 0);
    for (u64 i = 0; i * LEAD < leads.size; i++) {
        u64 place = S::REVERSE ? q.length - (more - i) * W::WINDOW : (i + 1) * W::WINDOW - W::SEGMENT;
        std::memcpy(leads.at + i * LEAD, q.input + place * sizeof(typename S::Input), LEAD);
    }
    a.leads = leads.size ? leads.at : nullptr, a.lead_count = more;
    shim::launch_many((u32)more + 1, SEGMENTED_THREADS, sizeof(SegmentedShared<S>), seed,
                 [](const void* a) { segmented_scan<S>(*(const SegmentedArguments<S>*)a); }, &a);
}
