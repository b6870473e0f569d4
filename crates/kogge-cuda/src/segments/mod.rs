//! Scans of segments that lie one after another, each by itself, with the bits of a scan of its
//! own.
//!
//! Three launches: `mark` turns offsets, flags or keys into one bit an element (kernels/heads.cuh),
//! `sum` works out what precedes each window of positions, and `scan` gives a thread block to each
//! window (kernels/segmented_scan.cuh). Where a segment starts only the mask knows. One that is
//! longer than a segment of the order is handed on from block to block, and no block waits for one
//! of a higher index. A block reads again what lies just before its window, so a scan in place
//! saves that before.
//!
//! By flags or keys, without initial values or totals of each segment, it is one launch: windows
//! find heads themselves, and tell each other which run enters them (kernels/window_heads.cuh).
//!
//! By offsets, and by flags or keys where runs were long that a call before saw (`choice`), `scan`
//! takes no windows of a long sequence without initial values or totals of each segment, but
//! stretches: segments of at most three quarters of a tile that follow one another, a warp each
//! (kernels/stretch_scan.cuh). Nobody waits for anybody. A launch before it takes longer ones tile
//! by tile, in the rounds of the flat scan (kernels/run_tiles.cuh). Which segments are long,
//! offsets tell `mark`, and flags and keys `sum`; it lists tiles and stretches
//! (kernels/run_list.cuh). So by offsets there is no `sum`; nor is there a mask, unless segments
//! are very short on average: a stretch's warp goes along the offsets (kernels/stretch_heads.cuh).
//!
//! With initial values or totals of each, long ones go in rounds where offsets say that segments
//! are long on average, and windows leave them alone and tell each other nothing.
//!
//! Under an exact operator, any order of combination gives these bits. Then `mark` is followed by
//! one launch that takes the tiles of the whole sequence in rounds, wherever segments start
//! (kernels/exact_rounds.cuh); unless each segment has an initial value or a total of its own,
//! which takes numbers that only `sum` knows, or tiles by flags or keys are few.
//!
//! On sm_90 and newer each launch but the first may begin before the one before it has ended, and
//! waits for it then (kernels/launches.cuh); that of stretches, which long ones don't concern, not
//! even that.

mod choice;
mod kept;
mod plan;
mod rounds;
mod source;
mod stretches;
mod way;

pub(crate) use choice::RunSample;
pub use choice::StretchesByKey;
pub use plan::{Brackets, KeyType, SegmentPlan, SegmentSource, plan_segments};
pub use rounds::{ExactSegments, LongSegments};
pub use stretches::Stretches;

use crate::scan::check_alignment;
use crate::{Device, Error, Inits, Specification, Tuning, Workspace};
use choice::RunsSeen;
use kogge_core::device::{DeviceElement, DeviceOperator, DeviceType};
use kogge_core::{Accumulate, Direction, Element, Kind, Problem};
use std::sync::Arc;
use way::Way;

impl Device {
    /// Prepares the scan of `len` elements `T` by segments, written as `U`, by an operator on `A`:
    /// plan and kernels, which come from where [`prepare`](Self::prepare)'s do. `numbered` says
    /// whether each segment may have an initial value of its own, or totals are wanted; exact
    /// operators are faster without.
    ///
    /// # Errors
    ///
    /// As [`plan_segments`] and [`compile()`](crate::compile()), or what the driver says.
    pub fn prepare_segments<T, U, A, O>(
        &self,
        operator: &O,
        kind: Kind,
        direction: Direction,
        len: u64,
        source: SegmentSource,
        numbered: bool,
    ) -> Result<SegmentScan<T, U, A>, Error>
    where
        T: DeviceElement + Accumulate<A>,
        U: DeviceElement + Accumulate<A>,
        A: Element + DeviceType,
        O: DeviceOperator<A>,
    {
        let problem = Problem {
            len,
            element_bytes: size_of::<T>(),
            output_bytes: size_of::<U>(),
            accumulator_bytes: size_of::<A>(),
            kind,
            direction,
            in_place: false,
        };
        check_alignment::<A>()?;
        let brackets = match numbered {
            true => Brackets::Numbered,
            false if O::EXACT => Brackets::Any,
            false => Brackets::Fixed,
        };
        let plan = plan_segments(&problem, source, brackets, self.capability(), self.tuning())?;
        let specification = Specification { kind, direction };
        let way = |plan| {
            let source = (source, numbered);
            Way::prepare(self, operator, specification, len, source, plan)
        };
        let scan = way(plan)?;
        let mut stretches = None;
        if plan.one_launch && self.tuning().stretches_by_key == StretchesByKey::AsTheLastCall {
            let tuning = Tuning { stretches_by_key: StretchesByKey::Always, ..*self.tuning() };
            let plan = plan_segments(&problem, source, brackets, self.capability(), &tuning)?;
            if plan.stretches.is_some() {
                stretches = Some((way(plan)?, Arc::default()));
            }
        }
        Ok(SegmentScan { scan, stretches })
    }
}

/// The texts of the kernels of a scan by segments, those that find them first, if there are some;
/// for tests and tools.
///
/// # Errors
///
/// As [`source`](crate::source()).
pub fn segment_source<T, U, A, O>(
    operator: &O,
    specification: Specification,
    source: SegmentSource,
    plan: &SegmentPlan,
) -> Result<Vec<String>, Error>
where
    T: DeviceElement + Accumulate<A>,
    U: DeviceElement + Accumulate<A>,
    A: Element + DeviceType,
    O: DeviceOperator<A>,
{
    let scan = source::scan::<T, U, A, O>(operator, specification, source, plan)?;
    let rounds = source::rounds::<T, U, A, O>(operator, specification, source, plan)?;
    if plan.one_launch {
        return Ok(vec![scan]);
    }
    let texts = [source::mark(source, specification.direction, plan), source::sum(), scan];
    Ok(texts.into_iter().chain(rounds).collect())
}

/// A scan by segments ready to run, as often as wanted, on any workspace of its device.
///
/// O(n) work. Beside what a flat scan moves, the flags or keys are read once (or the offsets, twice
/// if totals are wanted or segments go in stretches), and a bit an element is written and read,
/// unless it is one launch or stretches go along offsets.
#[derive(Clone, Debug)]
pub struct SegmentScan<T, U, A> {
    scan: Way<T, U, A>,
    /// The way for long runs by flags or keys, and whether the last ones seen were long.
    stretches: Option<(Way<T, U, A>, Arc<RunsSeen>)>,
}

impl<T, U, A> SegmentScan<T, U, A>
where
    T: Accumulate<A>,
    U: Accumulate<A>,
    A: Element,
{
    /// How it will be done by the next call, as far as is known: of many flags or keys, that
    /// depends on the runs that the last calls saw.
    pub fn plan(&self) -> &SegmentPlan {
        &self.way().plan
    }

    fn way(&self) -> &Way<T, U, A> {
        match &self.stretches {
            Some((stretches, seen)) if seen.long() => stretches,
            _ => &self.scan,
        }
    }

    /// Elements it was prepared for.
    pub fn len(&self) -> u64 {
        self.scan.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.scan.len == 0
    }

    /// Scans from one device address to another, or in place if they are equal, on the workspace's
    /// stream; returns at once. `source` is the address of the offsets, flags or keys. The totals,
    /// if wanted, go to the address `totals`, one `A` per segment: the fold of its initial value
    /// and its elements, or the identity where there is neither.
    ///
    /// Initial values and totals are numbered as the segments lie in memory, in reverse too. By
    /// flags or keys there are no empty segments. It allocates only if the workspace is too small,
    /// so after a first call, in place if this one is, it can be captured in a CUDA graph.
    ///
    /// # Errors
    ///
    /// [`Error::Misaligned`], [`Error::OutOfMemory`], [`Error::Unsupported`] if there is an initial
    /// value or a total for each segment and the scan wasn't prepared for that, or what the driver
    /// says.
    ///
    /// # Safety
    ///
    /// Until the stream has done it, [`len`](Self::len) elements must be readable at `input` and
    /// writable at `output`, equal or without overlap, the output beside what `source` names; at
    /// `source` as many flags or keys must be readable, or offsets as [`SegmentSource::Offsets`]
    /// describes them: nothing checks that they rise. Memory that `inits` names must be readable,
    /// and an `A` per segment writable at `totals`. All on the workspace's device.
    pub unsafe fn run(
        &self,
        workspace: &mut Workspace,
        input: u64,
        output: u64,
        source: u64,
        inits: Inits<A>,
        totals: Option<u64>,
    ) -> Result<(), Error> {
        workspace.note_runs();
        let way = self.way();
        if let Some((stretches, _)) = &self.stretches {
            // For either way: a later call, which may be captured, may take the other one.
            [&self.scan, stretches]
                .into_iter()
                .try_for_each(|way| way.make_room(workspace, input == output))?;
        }
        // SAFETY: the caller's promise.
        unsafe { way.run(workspace, input, output, source, inits, totals) }?;
        match &self.stretches {
            Some((_, seen)) => workspace.look_at_runs(seen, way.heads_left(workspace)),
            None => Ok(()),
        }
    }

    /// How many segments there are; by flags or keys it looks for them, and waits.
    ///
    /// O(n) work by flags or keys, O(1) by offsets.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run); [`Error::Unsupported`] by flags or keys if the scan wasn't prepared
    /// for numbers.
    ///
    /// # Safety
    ///
    /// As of `source` in [`run`](Self::run).
    pub unsafe fn count(&self, workspace: &mut Workspace, source: u64) -> Result<u64, Error> {
        // SAFETY: the caller's promise.
        unsafe { self.scan.count(workspace, source) }
    }
}
