//! The texts of the kernels of a scan by segments.

use super::kept;
use super::plan::{KeyType, OFFSET_THREADS, SegmentPlan, SegmentSource, most_block_marks};
use super::rounds::{ExactSegments, LongSegments};
use super::stretches::Stretches;
use crate::kernels;
use crate::source::{ENTRY, Program};
use crate::{Error, Specification};
use kogge_core::device::{DeviceElement, DeviceOperator, DeviceType};
use kogge_core::{Accumulate, Direction, Element};

/// Threads of a block of the kernels, in the order of their launches.
pub(super) const MARK_THREADS: u32 = 256;
pub(super) const SUM_THREADS: u32 = 1024;
pub(super) const SCAN_THREADS: u32 = 256;
/// Shared memory of the first two: notes of each warp.
const NOTE_BYTES: u32 = MARK_THREADS / 32 * 20;
pub(super) const SUM_BYTES: u32 = LISTING_BYTES + (SUM_THREADS / 32 + 1) * 16;
/// What the warps of a block tell each other of what they list: `ListingShared` of
/// kernels/listing.cuh.
const LISTING_BYTES: u32 = SUM_THREADS / 32 * (12 + 40) + 16;

/// Threads of a block that marks, by offsets so many windows, and bytes of its shared memory. By
/// offsets there is room for notes of the most windows that a block has, then what its warps have
/// counted, and the words of its own windows, or the first segment of each.
pub(super) fn mark_block(source: SegmentSource, plan: &SegmentPlan, windows: u32) -> (u32, u32) {
    match source.segments() {
        None => (MARK_THREADS, NOTE_BYTES),
        Some(_) => {
            let lists = if plan.lists_offsets(source) { LISTING_BYTES } else { 0 };
            let most = most_block_marks(plan.marked, plan.masked);
            let notes = (lists + most * 16 + (1 + 2) * 32 * 4).next_multiple_of(16);
            let beside = if plan.masked { windows * plan.marked / 8 } else { most * 8 };
            (OFFSET_THREADS, notes + beside)
        }
    }
}

/// The text of the kernel that marks where segments start; by offsets it lists them too, if they go
/// in stretches.
pub(super) fn mark(source: SegmentSource, direction: Direction, plan: &SegmentPlan) -> String {
    let of = type_of(source);
    let (reverse, window) = (direction == Direction::Reverse, plan.marked);
    let (threads, bytes) = mark_block(source, plan, most_block_marks(plan.marked, plan.masked));
    let arguments = format!("{of}, {reverse}, {window}");
    match source.segments() {
        None => {
            let kernel = format!("mark<{arguments}>");
            entry(&kernels::HEADS, &threads.to_string(), ("MarkShared", bytes), &kernel)
        }
        Some(_) => {
            let (file, shared, kernel) = match plan.lists_offsets(source) {
                true => (&kernels::OFFSET_LISTS, "OffsetListsShared", "list_offsets"),
                false => (&kernels::OFFSET_HEADS, "OffsetMarks", "mark_offsets"),
            };
            let arguments = format!("{arguments}, {}", plan.masked);
            let of = |name: &str| format!("{name}<{arguments}>");
            entry(file, &format!("{threads}, 2"), (&of(shared), bytes), &of(kernel))
        }
    }
}

/// The text of the kernel that makes of every window's heads what precedes the window.
pub(super) fn sum() -> String {
    entry(&kernels::HEADS, &SUM_THREADS.to_string(), ("SumShared", SUM_BYTES), "sum_windows")
}

fn entry(
    file: &'static kernels::File,
    bounds: &str,
    (shared, bytes): (&str, u32),
    kernel: &str,
) -> String {
    format!(
        "{text}
typedef {shared} Shared;
static_assert(sizeof(Shared) <= {bytes}, \"room for the kernel\");
extern \"C\" __global__ void __launch_bounds__({bounds})
{ENTRY}(const __grid_constant__ MarkArguments arguments) {{
    {kernel}(arguments);
}}
",
        text = kernels::text_of(&[file]),
    )
}

/// The type that tells where segments start: of offsets, or of kernels/heads.cuh.
fn type_of(source: SegmentSource) -> String {
    match source {
        SegmentSource::Offsets { bits, .. } => format!("u{bits}"),
        SegmentSource::Heads => "ByFlag".into(),
        SegmentSource::Keys(key) => format!("ByKey<{}>", key_name(key)),
    }
}

/// In what a scan finds where segments start.
fn finds(source: SegmentSource, plan: &SegmentPlan) -> String {
    if plan.one_launch { type_of(source) } else { "ByMask".into() }
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

/// The text of the kernel that scans: in rounds under an exact operator, else in stretches or by
/// windows.
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
    let Some(ExactSegments { ring, markers, pieces, shared_bytes, .. }) = plan.exact else {
        return match plan.stretches {
            Some(has) => stretches::<T, U, A, O>(operator, specification, source, has, plan),
            None => windows::<T, U, A, O>(operator, specification, source, plan),
        };
    };
    let program = Program {
        defines: if plan.keeps { kept::LOADS } else { "" },
        kernel: &kernels::EXACT_ROUNDS,
        bulk: ring.bulk,
        constants: &format!("MARKERS = {markers}, PIECES = {pieces}, {}", ring.constants()),
        source: Some(&finds(source, plan)),
        shared: "ExactRing",
        shared_bytes,
        bounds: "ExactRing<Scan>::THREADS, 1",
        arguments: "SegmentedArguments",
        entry: "exact_run_scan",
    };
    program.text::<T, U, A, O>(operator, specification)
}

/// The text of the kernel that scans by windows, for elements `T`, written as `U`, combined as `A`.
fn windows<T, U, A, O>(
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
    let finds = finds(source, plan);
    let offset_bytes = if source.segments().is_some() { source.bytes() } else { 0 };
    let program = Program {
        defines: if plan.keeps { kept::STORES } else { "" },
        kernel: &kernels::SEGMENTED_SCAN,
        bulk: false,
        constants: &format!(
            "STEPS = {steps}, OFFSET_BYTES = {offset_bytes}, LONG_IN_ROUNDS = {}",
            u32::from(plan.rounds.is_some())
        ),
        source: Some(&finds),
        shared: "SegmentedShared",
        shared_bytes: *shared_bytes,
        bounds: &format!("SEGMENTED_THREADS, {residents}"),
        arguments: "SegmentedArguments",
        entry: "segmented_scan",
    };
    program.text::<T, U, A, O>(operator, specification)
}

/// The text of the kernel that scans in stretches, along offsets or by the mask.
fn stretches<T, U, A, O>(
    operator: &O,
    specification: Specification,
    source: SegmentSource,
    has: Stretches,
    plan: &SegmentPlan,
) -> Result<String, Error>
where
    T: DeviceElement + Accumulate<A>,
    U: DeviceElement + Accumulate<A>,
    A: Element + DeviceType,
    O: DeviceOperator<A>,
{
    let Stretches { stages, rows, warps, .. } = has;
    let offset_bytes = if plan.masked { 0 } else { source.bytes() };
    let program = Program {
        defines: if plan.keeps { kept::LOADS } else { "" },
        kernel: &kernels::STRETCH_SCAN,
        bulk: has.bulk,
        constants: &format!(
            "STAGES = {stages}, ROWS = {rows}, WARPS = {warps}, OFFSET_BYTES = {offset_bytes}"
        ),
        source: None,
        shared: "StretchRing",
        shared_bytes: has.shared_bytes,
        bounds: &format!("StretchShape<Scan>::THREADS, {}", has.residents),
        arguments: "SegmentedArguments",
        entry: "stretch_scan",
    };
    program.text::<T, U, A, O>(operator, specification)
}

/// The text of the kernel that scans long segments in rounds, if the plan has it.
pub(super) fn rounds<T, U, A, O>(
    operator: &O,
    specification: Specification,
    source: SegmentSource,
    plan: &SegmentPlan,
) -> Result<Option<String>, Error>
where
    T: DeviceElement + Accumulate<A>,
    U: DeviceElement + Accumulate<A>,
    A: Element + DeviceType,
    O: DeviceOperator<A>,
{
    let Some(LongSegments { ring, shared_bytes, .. }) = plan.rounds else { return Ok(None) };
    let offset_bytes = if source.segments().is_some() { source.bytes() } else { 0 };
    let program = Program {
        defines: if plan.keeps { kept::LOADS } else { "" },
        kernel: &kernels::RUN_TILES,
        bulk: ring.bulk,
        constants: &format!(
            "OFFSET_BYTES = {offset_bytes}, MARKED = {}, {}",
            plan.marked,
            ring.constants()
        ),
        source: None,
        shared: "Ring",
        shared_bytes,
        bounds: "Ring<Scan>::THREADS, 1",
        arguments: "SegmentedArguments",
        entry: "long_run_scan",
    };
    program.text::<T, U, A, O>(operator, specification).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Brackets, Capability, Tuning, plan_segments};
    use kogge_core::ops::Sum;
    use kogge_core::{Kind, Problem};

    /// The shim runs one launch after another, and on a device it would seldom be seen.
    #[test]
    fn launches_that_may_begin_early_wait_before_they_read_what_others_wrote() {
        for (file, kernel) in [
            (&kernels::HEADS, "sum_windows"),
            (&kernels::SEGMENTED_SCAN, "segmented_scan"),
            (&kernels::RUN_TILES, "long_run_scan"),
            (&kernels::EXACT_ROUNDS, "exact_run_scan"),
        ] {
            let text = kernels::text_of(&[file]);
            let at = text.find(&format!("KOGGE_DEVICE void {kernel}(")).expect("the kernel");
            let body = text[at..].split_once("{\n").expect("a body").1;
            let waits = body.find("await_launches();").expect("it waits");
            let (before, _) = body.split_at(waits);
            assert!(!before.contains("arguments") && !before.contains("\n}"), "{kernel}: {before}");
        }
    }

    /// So it can read what the launches before that of long runs wrote, and those after it what
    /// that one wrote.
    #[test]
    fn stretches_begin_when_long_runs_no_longer_wait_and_end_after_them() {
        let body = |file, kernel: &str| {
            let text = kernels::text_of(&[file]);
            let at = text.find(&format!("KOGGE_DEVICE void {kernel}(")).expect("the kernel");
            let lines = text[at..].lines().skip(1).take_while(|line| *line != "}");
            let code: Vec<&str> =
                lines.map(str::trim).filter(|line| !line.starts_with("//")).collect();
            code.join("\n")
        };
        let long = body(&kernels::RUN_TILES, "long_run_scan");
        assert!(long.starts_with("await_launches();\nlaunch_dependents();\n"), "{long}");
        let stretches = body(&kernels::STRETCH_SCAN, "stretch_scan");
        assert!(stretches.ends_with("await_launches();"), "{stretches}");
    }

    #[test]
    fn long_sequences_have_kernels_that_tell_l2_what_to_keep() {
        let h100 = Capability::H100;
        let specification = Specification { kind: Kind::Inclusive, direction: Direction::Forward };
        let begins = |len: u64, source, brackets| {
            let problem = Problem {
                len,
                element_bytes: 4,
                output_bytes: 4,
                accumulator_bytes: 4,
                kind: Kind::Inclusive,
                direction: Direction::Forward,
                in_place: false,
            };
            let plan = plan_segments(&problem, source, brackets, h100, &Tuning::default()).unwrap();
            let scan = super::scan::<f32, f32, f32, _>(&Sum, specification, source, &plan);
            let rounds = super::rounds::<f32, f32, f32, _>(&Sum, specification, source, &plan);
            let first = |text: String| text.lines().next().unwrap_or_default().to_string();
            (first(scan.unwrap()), rounds.unwrap().map(first))
        };
        let offsets = SegmentSource::Offsets { segments: 1 << 16, bits: 64 };
        let keys = SegmentSource::Keys(KeyType::Bits32);
        let (loads, stores) = (kept::LOADS.trim().to_string(), kept::STORES.trim().to_string());
        assert_eq!(begins(1 << 28, offsets, Brackets::Fixed), (loads.clone(), Some(loads.clone())));
        assert_eq!(begins(1 << 28, offsets, Brackets::Any), (loads, None));
        assert_eq!(begins(1 << 28, keys, Brackets::Fixed), (stores, None));
        for (source, brackets) in [(offsets, Brackets::Fixed), (keys, Brackets::Fixed)] {
            let (scan, rounds) = begins(1 << 24, source, brackets);
            assert!(!scan.starts_with("#define") && rounds.is_none_or(|r| !r.starts_with("#")));
        }
    }
}
