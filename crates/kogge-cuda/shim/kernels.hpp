// The kernel sources, in the order in which the engine hands them to NVRTC (src/source.rs), but for
// device.cuh and cluster.cuh, whose place device.hpp takes.
#pragma once
#include "device.hpp"
#include "intrinsics.hpp"

#include "../kernels/order.cuh"
#include "../kernels/value.cuh"
#include "../kernels/convert.cuh"
#include "../kernels/chunk.cuh"
#include "../kernels/memory.cuh"
#include "../kernels/row.cuh"
#include "../kernels/segment.cuh"
#include "../kernels/quarter_rows.cuh"
#include "../kernels/slot.cuh"
#include "../kernels/draws.cuh"
#include "../kernels/arrivals.cuh"
#include "../kernels/arguments.cuh"
#include "../kernels/look_ahead.cuh"
#include "../kernels/wide_look_ahead.cuh"
#include "../kernels/segment_scan.cuh"
#include "../kernels/cluster_scan.cuh"
#include "../kernels/tile_scan.cuh"
#include "../kernels/readable.cuh"
#include "../kernels/load_tile.cuh"
#include "../kernels/round_scan.cuh"
#include "../kernels/sequence.cuh"

// The quicker form of an operator: its own, unless the operators' text says otherwise.
template <class O>
struct PlainOf {
    typedef O Type;
};

// The operators' generated text, written by the test (tests/common/shim.rs).
#include "operators.hpp"

// How a specimen folds chunks.
template <class S, bool PACKED>
struct FoldOf {
    typedef LeftFold<S> Type;
};
template <class S>
struct FoldOf<S, true> {
    typedef PackedSum<S> Type;
};
