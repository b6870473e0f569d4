//! The texts of the three kernels of a scan by segments.

use super::plan::{KeyType, SegmentPlan, SegmentSource};
use crate::source::{BASE, ENTRY, Program};
use crate::{Error, Specification};
use kogge_core::device::{DeviceElement, DeviceOperator, DeviceType};
use kogge_core::{Accumulate, Direction, Element};

const HEADS: &str = include_str!("../../kernels/heads.cuh");
const KERNELS: [&str; 8] = [
    include_str!("../../kernels/inits.cuh"),
    HEADS,
    include_str!("../../kernels/cells.cuh"),
    include_str!("../../kernels/segmented_window.cuh"),
    include_str!("../../kernels/run_exchange.cuh"),
    include_str!("../../kernels/window_exchange.cuh"),
    include_str!("../../kernels/plain_steps.cuh"),
    include_str!("../../kernels/segmented_scan.cuh"),
];

/// Threads of a block of the kernels, in the order of their launches.
pub(super) const MARK_THREADS: u32 = 256;
pub(super) const SUM_THREADS: u32 = 1024;
pub(super) const SCAN_THREADS: u32 = 256;
/// Shared memory of the first two: a window's note for each warp.
pub(super) const MARK_BYTES: u32 = MARK_THREADS / 32 * 16;
pub(super) const SUM_BYTES: u32 = (SUM_THREADS / 32 + 1) * 16;

/// The text of the kernel that marks where segments start.
pub(super) fn mark(source: SegmentSource, direction: Direction, plan: &SegmentPlan) -> String {
    let (kernel, of) = match source {
        SegmentSource::Offsets { bits, .. } => ("mark_offsets", format!("u{bits}")),
        SegmentSource::Heads => ("mark", "ByFlag".into()),
        SegmentSource::Keys(key) => ("mark", format!("ByKey<{}>", key_name(key))),
    };
    let (reverse, window) = (direction == Direction::Reverse, plan.marked);
    entry(MARK_THREADS, &format!("{kernel}<{of}, {reverse}, {window}>"))
}

/// The text of the kernel that makes of every window's heads what precedes the window.
pub(super) fn sum() -> String {
    entry(SUM_THREADS, "sum_windows")
}

fn entry(threads: u32, kernel: &str) -> String {
    format!(
        "{base}{HEADS}
static_assert(sizeof(MarkShared) <= {MARK_BYTES} && sizeof(SumShared) <= {SUM_BYTES}, \"room for the kernel\");
extern \"C\" __global__ void __launch_bounds__({threads})
{ENTRY}(const __grid_constant__ MarkArguments arguments) {{
    {kernel}(arguments);
}}
",
        base = BASE.concat(),
    )
}

fn key_name(key: KeyType) -> &'static str {
    match key {
        KeyType::Bits8 => "u8",
        KeyType::Bits16 => "u16",
        KeyType::Bits32 => "u32",
        KeyType::Bits64 => "u64",
        KeyType::F16 => "KeyF16",
        KeyType::Bf16 => "KeyBf16",
        KeyType::F32 => "float",
        KeyType::F64 => "double",
    }
}

/// The text of the kernel that scans, for elements `T`, written as `U`, combined as `A`.
pub(super) fn scan<T, U, A, O>(
    operator: &O,
    specification: Specification,
    source: SegmentSource,
    plan: &SegmentPlan,
) -> Result<String, Error>
where
    T: DeviceElement + Accumulate<A>,
    U: DeviceElement + Accumulate<A>,
    A: Element + DeviceType,
    O: DeviceOperator<A>,
{
    let SegmentPlan { steps, residents, shared_bytes, .. } = plan;
    let offset_bytes = if source.segments().is_some() { source.bytes() } else { 0 };
    let program = Program {
        kernels: &KERNELS,
        bulk: false,
        constants: &format!("STEPS = {steps}, OFFSET_BYTES = {offset_bytes}"),
        shared: "SegmentedShared",
        shared_bytes: *shared_bytes,
        bounds: &format!("SEGMENTED_THREADS, {residents}"),
        arguments: "SegmentedArguments",
        entry: "segmented_scan",
    };
    program.text::<T, U, A, O>(operator, specification)
}
