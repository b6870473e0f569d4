//! From segments to a plan, without touching data or device: windows, lists, memory.

use crate::launch::INIT_BYTES;
use crate::plan::WORKSPACE_HEAD;
use crate::{Capability, Error};
use kogge_core::{Order, Problem};
use std::fmt;

/// A type of keys, as far as telling them apart goes: integers, `bool` and `char` by their bits, floats as
/// numbers, so that zeros of both signs are equal and a NaN is not equal to itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KeyType {
    /// Eight bits.
    Bits8,
    /// Sixteen bits.
    Bits16,
    /// 32 bits.
    Bits32,
    /// 64 bits.
    Bits64,
    /// `f16`.
    F16,
    /// `bf16`.
    Bf16,
    /// `f32`.
    F32,
    /// `f64`.
    F64,
}

impl KeyType {
    /// Bytes of a key.
    pub const fn bytes(self) -> u32 {
        match self {
            Self::Bits8 => 1,
            Self::Bits16 | Self::F16 | Self::Bf16 => 2,
            Self::Bits32 | Self::F32 => 4,
            Self::Bits64 | Self::F64 => 8,
        }
    }
}

/// What tells where segments start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SegmentSource {
    /// Segment `j` holds the elements `offsets[j]..offsets[j + 1]`; some may be empty. One offset more than
    /// there are segments, unsigned, of 32 or 64 bits, none below the one before, the first 0, the last
    /// the number of elements.
    Offsets {
        /// How many segments there are.
        segments: u64,
        /// Bits of an offset: 32 or 64.
        bits: u32,
    },
    /// One byte an element: a segment starts where it isn't 0, and at the first element in any case.
    Heads,
    /// One key an element: a segment is a run of equal keys.
    Keys(KeyType),
}

impl SegmentSource {
    /// Bytes of an offset, flag or key.
    pub const fn bytes(self) -> u32 {
        match self {
            Self::Offsets { bits, .. } => bits / 8,
            Self::Heads => 1,
            Self::Keys(key) => key.bytes(),
        }
    }

    /// How many segments there are, if that needn't be counted.
    pub(crate) const fn segments(self) -> Option<u64> {
        match self {
            Self::Offsets { segments, .. } => Some(segments),
            Self::Heads | Self::Keys(_) => None,
        }
    }
}

/// How a scan by segments will be done. Nothing in it changes the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentPlan {
    /// Thread blocks of the scan, each of which has a window.
    pub windows: u64,
    /// Positions of a window.
    pub window: u32,
    /// Chunks that a thread block lists at once.
    pub capacity: u32,
    /// Thread blocks that a multiprocessor has room for.
    pub residents: u32,
    /// Bytes of shared memory a block.
    pub shared_bytes: u32,
    /// Bytes of the workspace: slots by which blocks tell each other totals.
    pub workspace_bytes: u64,
    /// Bytes of memory beside it: a bit an element, and what precedes each window.
    pub scratch_bytes: u64,
}

impl SegmentPlan {
    /// Where what precedes the windows lies in the scratch memory, after the mask.
    pub(crate) const fn windows_offset(&self) -> u64 {
        mask_bytes(self.windows, self.window)
    }
}

impl fmt::Display for SegmentPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { windows, window, capacity, residents, shared_bytes, .. } = self;
        write!(
            f,
            "{windows} windows of {window} elements, up to {capacity} chunks at once, {residents} to a \
             multiprocessor, {shared_bytes} bytes of shared memory"
        )
    }
}

const WINDOW_BYTES: u64 = 16;
/// Bytes of a window's elements, and elements, at most.
const WINDOW_INPUT: usize = 32 << 10;
const WINDOW_ELEMENTS: usize = 8192;
/// Thread blocks on a multiprocessor, as many as have room: one's copies hide another's work.
const RESIDENTS: u32 = 3;
/// What a multiprocessor keeps for itself of each block's shared memory.
const RESERVED: u32 = 1024;

/// The plan for a scan by segments. `accumulator_bytes` of the problem is what the operator computes in.
///
/// # Errors
///
/// [`Error::Unsupported`] if the accumulator is larger than kernels take, if offsets don't have 32 or 64
/// bits, or if there are elements but no segment.
pub fn plan_segments(
    problem: &Problem,
    source: SegmentSource,
    device: Capability,
) -> Result<SegmentPlan, Error> {
    let unsupported = |what: String| Err(Error::Unsupported(what));
    if problem.accumulator_bytes > INIT_BYTES || problem.element_bytes > INIT_BYTES {
        let bytes = problem.accumulator_bytes.max(problem.element_bytes);
        return unsupported(format!(
            "{bytes} bytes of an element; kernels take up to {INIT_BYTES}"
        ));
    }
    if let SegmentSource::Offsets { segments, bits } = source {
        if bits != 32 && bits != 64 {
            return unsupported(format!("offsets of {bits} bits; they have 32 or 64"));
        }
        if segments == 0 && problem.len > 0 {
            return unsupported(format!("{} elements in no segments", problem.len));
        }
    }
    let order = problem.order();
    // Of wide elements a small device may have room for one segment only.
    let sizes = [window(order, problem.element_bytes), order.segment()];
    let fits = |window| Some((window, lists(problem, window, device)?));
    let Some((window, (residents, capacity, shared_bytes))) = sizes.into_iter().find_map(fits)
    else {
        return unsupported(format!(
            "elements of {} bytes: a window needs more shared memory than the device has",
            problem.element_bytes,
        ));
    };
    let windows = problem.len.div_ceil(window as u64);
    if windows > i32::MAX as u64
        || source.segments().is_some_and(|n| n.div_ceil(256) > i32::MAX as u64)
    {
        return unsupported(format!(
            "{} elements: more than a launch has thread blocks",
            problem.len
        ));
    }
    let slot = problem.accumulator_bytes.max(4).div_ceil(8) as u64 * 16;
    let slots = |level: usize| problem.len / level as u64 + 1;
    let slots = slots(order.segment()) + slots(order.tile()) + 2 * slots(order.block());
    Ok(SegmentPlan {
        windows,
        window: window as u32,
        capacity,
        residents,
        shared_bytes,
        workspace_bytes: WORKSPACE_HEAD + slots * slot,
        scratch_bytes: mask_bytes(windows, window as u32) + (windows + 1) * WINDOW_BYTES,
    })
}

const fn mask_bytes(windows: u64, window: u32) -> u64 {
    (windows * window as u64 / 8).next_multiple_of(WINDOW_BYTES)
}

/// Positions of a window: whole segments of the order, a tile of them at most.
fn window(order: Order, element: usize) -> usize {
    let most = (WINDOW_INPUT / element.max(1)).min(WINDOW_ELEMENTS).min(order.tile());
    (most / order.segment()).max(1) * order.segment()
}

/// Thread blocks to a multiprocessor, chunks that each lists, and its shared memory: as many blocks as
/// leave room for a window of full chunks and some that are cut short.
fn lists(problem: &Problem, window: usize, device: Capability) -> Option<(u32, u32, u32)> {
    let order = problem.order();
    let accumulator = problem.accumulator_bytes.max(4);
    let reach = window + order.segment();
    let stage = |element: usize| 96 + reach * element;
    let reused =
        problem.element_bytes == problem.output_bytes && problem.element_bytes.is_multiple_of(4);
    let stages =
        stage(problem.element_bytes) + if reused { 16 } else { stage(problem.output_bytes) };
    let (rows, segments) = (reach / order.row() + 1, reach / order.segment() + 1);
    let words = reach / 32 * 4 + window / 32 * 2;
    let fixed = stages + rows * (2 * accumulator + 4) + segments * (accumulator + 4) + words;
    let fixed = fixed + 4 * (accumulator + 8) + 256;
    let entry = accumulator + 4;
    (1..=RESIDENTS).rev().find_map(|residents| {
        let room = (device.shared_bytes / residents).saturating_sub(if residents > 1 {
            RESERVED
        } else {
            0
        });
        let most = (room as usize).checked_sub(fixed)? / entry;
        let wanted = reach / order.chunk() + reach / order.chunk() / 8;
        let capacity = most.min(reach);
        let enough = if residents > 1 { wanted.min(reach) } else { 64.min(reach) };
        let bytes = (fixed + capacity * entry) as u32;
        (capacity >= enough).then_some((residents, capacity as u32, bytes))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use kogge_core::{Direction, Kind};

    const H100: Capability =
        Capability { compute: (9, 0), multiprocessors: 132, shared_bytes: 232_448 };
    const RTX: Capability =
        Capability { compute: (12, 0), multiprocessors: 170, shared_bytes: 101_376 };

    fn problem(len: u64, element: usize, output: usize, accumulator: usize) -> Problem {
        Problem {
            len,
            element_bytes: element,
            output_bytes: output,
            accumulator_bytes: accumulator,
            kind: Kind::Inclusive,
            direction: Direction::Forward,
            in_place: false,
        }
    }

    #[test]
    fn windows_are_whole_segments_and_fit() {
        for device in [H100, RTX] {
            for element in 1..=64 {
                for (output, accumulator) in [(element, element), (4, 8), (element.max(4), 64)] {
                    let problem = problem((1 << 30) + 7, element, output, accumulator);
                    let order = problem.order();
                    let plan = plan_segments(&problem, SegmentSource::Heads, device).unwrap();
                    let window = plan.window as usize;
                    assert!(window.is_multiple_of(order.segment()) && window <= order.tile());
                    assert!(window + order.segment() <= 1 << 14, "an entry holds a position");
                    assert!(window <= 256 * 32, "a thread has a word of the mask");
                    assert!(
                        plan.shared_bytes <= device.shared_bytes,
                        "{device:?} {element}: {plan}"
                    );
                    assert!(
                        plan.capacity > 63 && plan.windows == problem.len.div_ceil(window as u64)
                    );
                }
            }
        }
    }

    #[test]
    fn four_bytes_have_several_windows_to_a_multiprocessor() {
        let problem = problem(1 << 28, 4, 4, 4);
        let plan = plan_segments(&problem, SegmentSource::Keys(KeyType::Bits32), H100).unwrap();
        assert_eq!((plan.windows, plan.window, plan.residents), (32_768, 8192, RESIDENTS));
        assert!(plan.shared_bytes * RESIDENTS <= H100.shared_bytes - (RESIDENTS - 1) * RESERVED);
        assert_eq!(plan.scratch_bytes, (1 << 25) + 32_769 * 16);
        assert!(plan.to_string().starts_with("32768 windows of 8192 elements"), "{plan}");
    }

    #[test]
    fn what_no_kernel_takes_is_refused() {
        let refused = |problem: Problem, source| {
            let error = plan_segments(&problem, source, H100).unwrap_err();
            assert!(matches!(error, Error::Unsupported(_)), "{error}");
        };
        refused(problem(1, 80, 80, 80), SegmentSource::Heads);
        refused(problem(1, 4, 4, 4), SegmentSource::Offsets { segments: 1, bits: 16 });
        refused(problem(1, 4, 4, 4), SegmentSource::Offsets { segments: 0, bits: 32 });
        refused(problem(u64::MAX / 64, 4, 4, 4), SegmentSource::Heads);
        let nothing = SegmentSource::Offsets { segments: 0, bits: 64 };
        assert_eq!(plan_segments(&problem(0, 4, 4, 4), nothing, H100).unwrap().windows, 0);
    }
}
