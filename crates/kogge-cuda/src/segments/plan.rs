//! From segments to a plan, without touching data or device: windows and memory.

use super::choice::StretchesByKey;
use super::kept::keeps;
use super::rounds::{ExactSegments, LongSegments};
use super::stretches::Stretches;
use crate::launch::INIT_BYTES;
use crate::plan::WORKSPACE_HEAD;
use crate::{Capability, Error, Tuning};
use kogge_core::Problem;
use std::fmt;

/// A type of keys, as far as telling them apart goes: integers, `bool` and `char` by their bits,
/// floats as numbers, so that zeros of both signs are equal and a NaN is not equal to itself.
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
    /// Segment `j` holds the elements `offsets[j]..offsets[j + 1]`; some may be empty. One offset
    /// more than there are segments, unsigned, of 32 or 64 bits, none below the one before, the
    /// first 0, the last the number of elements.
    Offsets {
        /// How many segments there are.
        segments: u64,
        /// Bits of an offset: 32 or 64.
        bits: u32,
    },
    /// One byte an element: a segment starts where it isn't 0, and at the first element in any
    /// case.
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

    /// Whether offsets say that segments have so many elements on average.
    pub(super) fn average_at_least(self, elements: u32, len: u64) -> bool {
        self.segments().is_some_and(|segments| segments.saturating_mul(elements.into()) <= len)
    }
}

/// What a scan by segments must keep to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Brackets {
    /// The fixed order, and each segment may have an initial value or a total of its own, which
    /// takes its number.
    Numbered,
    /// The fixed order.
    Fixed,
    /// None: the operator is exact, so that any order of combination gives the same bits.
    Any,
}

/// How a scan by segments will be done. Nothing in it changes the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentPlan {
    /// Thread blocks of the scan, each of which has a window; the last may be empty.
    pub windows: u64,
    /// Positions of a window.
    pub window: u32,
    /// Rows of the order that a warp has of it.
    pub steps: u32,
    /// Positions of the windows in which the starts of segments are counted: a window's, or a part
    /// of one.
    pub marked: u32,
    /// How many of those there are.
    pub marks: u64,
    /// How many of them a thread block marks, by offsets.
    pub block_marks: u32,
    /// Whether a bit an element in memory says where segments start: not in one launch, nor for
    /// stretches of segments that offsets say are not very short on average.
    pub masked: bool,
    /// By offsets, if not 0: of a whole window nothing is read of the bits that say where segments
    /// start, if neither it nor those before it have one, so many with itself.
    pub unread_marks: u32,
    /// Thread blocks that a multiprocessor has room for.
    pub residents: u32,
    /// Bytes of shared memory a block.
    pub shared_bytes: u32,
    /// Bytes of the workspace: slots by which blocks tell each other totals.
    pub workspace_bytes: u64,
    /// Bytes of memory beside it: a bit an element, what precedes each window, and what is told of
    /// long segments.
    pub scratch_bytes: u64,
    /// How long segments are scanned, if not by windows. What there is of them, the device alone
    /// knows, so beside windows only where segments are long on average.
    pub rounds: Option<LongSegments>,
    /// How the others are scanned, if not by windows: without numbers, of elements for which rounds
    /// have room.
    pub stretches: Option<Stretches>,
    /// How all of them are scanned, if not by windows: under an exact operator.
    pub exact: Option<ExactSegments>,
    /// Whether it is one launch, which finds itself where segments start: by flags or keys, without
    /// numbers.
    pub one_launch: bool,
    /// Whether there are so many elements that L2 is told what to give up last.
    pub keeps: bool,
    /// Bytes more if the scan is in place: the elements of a segment of the order before each
    /// window.
    pub lead_bytes: u64,
}

impl SegmentPlan {
    /// Where the slots lie in the workspace by which windows of one launch tell each other of
    /// heads.
    pub(crate) const fn head_slots(&self) -> u64 {
        self.workspace_bytes - self.windows * HEAD_SLOT
    }

    /// Whether the launch that marks where segments start lists them too: by offsets, if they go in
    /// stretches.
    pub(crate) const fn lists_offsets(&self, source: SegmentSource) -> bool {
        self.stretches.is_some() && source.segments().is_some()
    }

    /// Where the parts of the scratch memory lie.
    pub(crate) const fn scratch(&self) -> Scratch {
        Scratch::new(self.marks, self.marked, self.rounds, self.stretches, self.masked)
    }
}

/// Where the parts of the scratch memory lie, after the mask of heads at its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scratch {
    /// What precedes each window.
    pub windows: u64,
    /// The windows' first heads.
    pub first: u64,
    /// What long segments leave of windows: whether some, and what; with the end of what heads are
    /// noted in.
    pub cut: u64,
    pub covers: u64,
    /// The tiles of long segments.
    pub list: u64,
    /// The stretches of others.
    pub stretches: u64,
    pub bytes: u64,
}

impl Scratch {
    const fn new(
        marks: u64,
        marked: u32,
        rounds: Option<LongSegments>,
        stretches: Option<Stretches>,
        masked: bool,
    ) -> Self {
        let (windows, first, cut) = match masked {
            true => {
                let windows = mask_bytes(marks, marked);
                let first = windows + (marks + 1) * WINDOW_BYTES;
                (windows, first, first + (marks * FIRST_BYTES).next_multiple_of(16))
            }
            false => (0, 0, 0),
        };
        let Some(LongSegments { tiles, .. }) = rounds else {
            return Self {
                windows,
                first,
                cut,
                covers: cut,
                list: cut,
                stretches: cut,
                bytes: cut,
            };
        };
        if stretches.is_some() {
            let stretches = cut + LIST_HEAD + tiles * RUN_TILE_BYTES;
            let bytes = stretches + LIST_HEAD + marks * STRETCH_BYTES;
            return Self { windows, first, cut, covers: cut, list: cut, stretches, bytes };
        }
        let covers = cut + ((marks / 32 + 1) * 4).next_multiple_of(16);
        let list = covers + ((marks + 1) * COVER_BYTES).next_multiple_of(16);
        let bytes = list + LIST_HEAD + tiles * RUN_TILE_BYTES;
        Self { windows, first, cut, covers, list, stretches: bytes, bytes }
    }
}

impl fmt::Display for SegmentPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(exact) = self.exact {
            let ExactSegments { tiles, ring, markers, .. } = exact;
            let stages = ring.stages;
            write!(f, "{tiles} tiles with a bit an element, in rounds, {stages} stages")?;
            return match markers {
                0 => Ok(()),
                markers => write!(f, ", {markers} warps that find heads; in one launch"),
            };
        }
        if let (Some(Stretches { blocks, warps, rows, stages, .. }), Some(long)) =
            (self.stretches, self.rounds)
        {
            let heads = if self.masked { "with a bit an element" } else { "along their offsets" };
            return write!(
                f,
                "stretches of segments of at most {} elements, a warp each, {heads}, {blocks} blocks \
                 of {warps} warps, {} rows ahead; longer segments in rounds, {} stages",
                long.shorter,
                rows * stages,
                long.ring.stages
            );
        }
        let Self { windows, window, steps, residents, shared_bytes, .. } = self;
        write!(
            f,
            "{windows} windows of {window} elements, {steps} rows a warp, {residents} to a multiprocessor, \
             {shared_bytes} bytes of shared memory"
        )?;
        match self.rounds {
            Some(long) => write!(f, "; long segments in rounds, {} stages", long.ring.stages),
            None if self.one_launch => write!(f, "; in one launch"),
            None => Ok(()),
        }
    }
}

/// `Window`, a window's first head, `Cover`, the heads of both lists, `RunTile` and `Stretch` of
/// kernels/heads.cuh and run_list.cuh.
const WINDOW_BYTES: u64 = 16;
const FIRST_BYTES: u64 = 4;
const COVER_BYTES: u64 = 8;
const LIST_HEAD: u64 = 16;
const RUN_TILE_BYTES: u64 = 32;
const STRETCH_BYTES: u64 = 32;
/// Tiles for each multiprocessor up to which exact operators go by windows in one launch.
const FEW_TILES: u32 = 2;
/// Positions that a thread block marks by offsets, at most, and its threads: those of
/// kernels/offset_heads.cuh.
const MARKED_POSITIONS: u32 = 1 << 19;
pub(super) const OFFSET_THREADS: u32 = 1024;
/// What a window tells others of its heads (kernels/window_heads.cuh).
const HEAD_SLOT: u64 = 16;
/// Warps of a thread block.
const WARPS: usize = 8;
/// Positions of which one thread block marks the heads, at most.
const MOST_MARKED: usize = 8192;
/// Bytes of shared memory for a thread, at most, and rows: a chunk each.
const THREAD_BYTES: usize = 256;
/// Thread blocks for which a multiprocessor has room at least, if windows can be made small enough.
const FEWEST: u32 = 3;
const MOST_STEPS: usize = 8;
/// The same where there would be few windows.
const SHORT_STEPS: usize = 2;
/// Thread blocks on a multiprocessor, if it has room for them: one's copies hide another's work.
const RESIDENTS: u32 = 4;
/// What a multiprocessor keeps for itself of each block's shared memory.
const RESERVED: u32 = 1024;

/// The plan for a scan by segments. `accumulator_bytes` of the problem is what the operator
/// computes in.
///
/// # Errors
///
/// [`Error::Unsupported`] if the accumulator is larger than kernels take, if offsets don't have 32
/// or 64 bits, or if there are elements but no segment.
pub fn plan_segments(
    problem: &Problem,
    source: SegmentSource,
    brackets: Brackets,
    device: Capability,
    tuning: &Tuning,
) -> Result<SegmentPlan, Error> {
    check(problem, source)?;
    tuning.check()?;
    let order = problem.order();
    let steps = steps(problem, device, tuning);
    let shared_bytes = shared_bytes(problem, steps);
    let window = WARPS * steps * order.row();
    let Ways { exact, stretches, rounds, one_launch } =
        Ways::new(problem, source, brackets, window, device, tuning);
    let by_offsets = source.segments().is_some();
    let marked = match stretches {
        Some(_) => Stretches::marked(order),
        // Which tiles have heads is noted then.
        None if exact.is_some() && by_offsets => order.tile(),
        None => window / window.div_ceil(MOST_MARKED),
    };
    // One more than are full: what lies before the end may wait for it.
    let windows = problem.len / window as u64 + 1;
    let marks = problem.len.div_ceil(marked as u64);
    if marks > i32::MAX as u64 {
        let what = format!("{} elements: more than a launch has thread blocks", problem.len);
        return Err(Error::Unsupported(what));
    }
    let tiles = rounds.map(|long| long.tiles);
    let slot = |bytes: usize| bytes.max(4).div_ceil(8) as u64 * 16;
    let runs = run_slots(problem).max(tiles.unwrap_or(0)) * slot(problem.accumulator_bytes);
    let heads = if one_launch && exact.is_none() { windows * HEAD_SLOT } else { 0 };
    let unmasked = stretches.is_some() && goes_along(problem, source, tuning);
    let masked = !one_launch && !unmasked;
    let tails = exact.map_or(0, |exact| exact.tiles * slot(2 * problem.accumulator_bytes));
    Ok(SegmentPlan {
        windows,
        window: window as u32,
        steps: steps as u32,
        marked: marked as u32,
        marks,
        block_marks: block_marks(marks, most_block_marks(marked as u32, masked), device),
        masked,
        unread_marks: match (exact, rounds) {
            _ if !by_offsets || !masked => 0,
            (Some(_), _) => 1,
            // The run that enters it is longer than that.
            (None, Some(long)) if stretches.is_some() => long.shorter.div_ceil(marked as u32),
            (None, _) => 0,
        },
        residents: match residents(problem, shared_bytes, device) {
            // What is left of windows takes registers too, and little time.
            most if rounds.is_some() && accumulator_bytes(problem) > 4 => most.min(2),
            most => most,
        },
        shared_bytes,
        workspace_bytes: WORKSPACE_HEAD + (runs + heads).max(tails),
        scratch_bytes: match one_launch {
            true => 0,
            false => Scratch::new(marks, marked as u32, rounds, stretches, masked).bytes,
        },
        rounds,
        stretches,
        exact,
        one_launch,
        keeps: keeps(problem, device, tuning),
        lead_bytes: match exact.is_some() || stretches.is_some() {
            true => 0,
            false => (windows - 1) * (order.segment() * problem.element_bytes) as u64,
        },
    })
}

/// Refuses what no kernel takes.
fn check(problem: &Problem, source: SegmentSource) -> Result<(), Error> {
    let unsupported = |what: String| Err(Error::Unsupported(what));
    let bytes = problem.accumulator_bytes.max(problem.element_bytes);
    if bytes > INIT_BYTES {
        return unsupported(format!(
            "{bytes} bytes of an element; kernels take up to {INIT_BYTES}"
        ));
    }
    match source {
        SegmentSource::Offsets { bits, .. } if bits != 32 && bits != 64 => {
            unsupported(format!("offsets of {bits} bits; they have 32 or 64"))
        }
        SegmentSource::Offsets { segments: 0, .. } if problem.len > 0 => {
            unsupported(format!("{} elements in no segments", problem.len))
        }
        _ => Ok(()),
    }
}

/// What segments go by, if not by windows in three launches.
struct Ways {
    exact: Option<ExactSegments>,
    stretches: Option<Stretches>,
    rounds: Option<LongSegments>,
    one_launch: bool,
}

impl Ways {
    fn new(
        problem: &Problem,
        source: SegmentSource,
        brackets: Brackets,
        window: usize,
        device: Capability,
        tuning: &Tuning,
    ) -> Self {
        let none = Self { exact: None, stretches: None, rounds: None, one_launch: false };
        let by_element = source.segments().is_none();
        if brackets == Brackets::Any && !(by_element && few_tiles(problem, device)) {
            let exact = ExactSegments::new(problem, source, device, tuning);
            if let Some(ExactSegments { markers, .. }) = exact {
                return Self { exact, one_launch: markers > 0, ..none };
            }
        }
        if brackets != Brackets::Numbered
            && (!by_element || tuning.stretches_by_key == StretchesByKey::Always)
        {
            let rounds = LongSegments::beside_stretches(problem, device, tuning);
            let stretches =
                rounds.and_then(|long| Stretches::new(problem, source, long, device, tuning));
            if stretches.is_some() {
                return Self { stretches, rounds, ..none };
            }
        }
        let rounds = LongSegments::beside_windows(problem, source, window, device, tuning);
        Self { rounds, one_launch: by_element && brackets != Brackets::Numbered, ..none }
    }
}

/// Slots of what windows tell each other of long runs: `RunSlots` of kernels/run_exchange.cuh.
fn run_slots(problem: &Problem) -> u64 {
    let order = problem.order();
    let slots = |level: usize| problem.len / level as u64 + 1;
    slots(order.segment()) + slots(order.tile()) + 2 * slots(order.block())
}

/// Whether windows in one launch are faster than rounds and a launch before them.
fn few_tiles(problem: &Problem, device: Capability) -> bool {
    let tiles = problem.len.div_ceil(problem.order().tile() as u64);
    tiles <= u64::from(FEW_TILES * device.multiprocessors)
}

/// Whether a stretch's warp goes along offsets: a trip to memory for every 32 segments takes it too
/// long where they are short.
fn goes_along(problem: &Problem, source: SegmentSource, tuning: &Tuning) -> bool {
    source.average_at_least(tuning.unmasked_from, problem.len)
}

/// Windows in which a thread block finds by offsets what starts: so many that each multiprocessor
/// has two blocks, and as many as a block has a place for at most.
fn block_marks(marks: u64, most: u32, device: Capability) -> u32 {
    marks.div_ceil(u64::from(2 * device.multiprocessors)).clamp(1, most.into()) as u32
}

/// Of those a thread has each, and a mask takes shared memory.
pub(super) const fn most_block_marks(marked: u32, masked: bool) -> u32 {
    let fitting = if masked { MARKED_POSITIONS / marked } else { OFFSET_THREADS };
    if fitting < OFFSET_THREADS { fitting } else { OFFSET_THREADS }
}

const fn mask_bytes(marks: u64, marked: u32) -> u64 {
    (marks * marked as u64 / 8).next_multiple_of(WINDOW_BYTES)
}

/// Rows that a warp has: a power of two, and so few that a multiprocessor has room for some blocks,
/// and that there are windows for all.
fn steps(problem: &Problem, device: Capability, tuning: &Tuning) -> usize {
    let fits = |steps: &usize| {
        let bytes = shared_bytes(problem, *steps) + RESERVED;
        bytes as usize <= WARPS * 32 * THREAD_BYTES && FEWEST * bytes <= device.shared_bytes
    };
    let most = [MOST_STEPS, 4, 2].into_iter().find(fits).unwrap_or(1);
    let windows = problem.len / (WARPS * most * problem.order().row()) as u64;
    let short = windows < u64::from(device.multiprocessors * tuning.long_windows);
    if short { most.min(SHORT_STEPS) } else { most }
}

fn chunk_bytes(problem: &Problem) -> usize {
    (problem.order().chunk() * problem.element_bytes).next_multiple_of(4)
}

fn accumulator_bytes(problem: &Problem) -> usize {
    problem.accumulator_bytes.max(4)
}

/// Thread blocks that a multiprocessor has shared memory for, and registers: the more words a lane
/// has of a chunk as it is combined, the more it takes.
fn residents(problem: &Problem, shared_bytes: u32, device: Capability) -> u32 {
    let most = match accumulator_bytes(problem) {
        0..=4 if problem.order().chunk() <= 4 => RESIDENTS,
        0..=8 => 3,
        9..=16 => 2,
        _ => 1,
    };
    (device.shared_bytes / (shared_bytes + RESERVED)).clamp(1, most)
}

/// For each row a step's elements and mask, then the totals of row, segment and run, a number and a
/// word; the elements of the step before them too.
fn shared_bytes(problem: &Problem, steps: usize) -> u32 {
    let (chunk, accumulator) = (chunk_bytes(problem), accumulator_bytes(problem));
    let rows = WARPS * steps;
    let bytes =
        32 * (rows + 1) * chunk + rows * (4 * problem.order().chunk() + 3 * accumulator + 12);
    (bytes + 10 * accumulator + 12 * WARPS + 256) as u32
}

#[cfg(test)]
mod tests;
