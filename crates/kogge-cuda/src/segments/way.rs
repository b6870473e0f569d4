//! One way to scan segments: a plan and its kernels, and the launches that carry it out.

use super::choice::HeadsLeft;
use super::plan::most_block_marks;
use super::source::{MARK_THREADS, SCAN_THREADS, SUM_BYTES, SUM_THREADS, mark_block};
use super::{ExactSegments, SegmentPlan, SegmentSource, source};
use crate::inits::InitArguments;
use crate::launch::{Grid, Module};
use crate::scan::aligned;
use crate::{Device, Error, Inits, Specification, Workspace};
use cudarc::driver::{result, sys};
use kogge_core::device::{DeviceElement, DeviceOperator, DeviceType};
use kogge_core::{Accumulate, Direction, Element};
use std::marker::PhantomData;
use std::sync::Arc;

/// A plan, and its kernels.
#[derive(Clone, Debug)]
pub(super) struct Way<T, U, A> {
    pub len: u64,
    pub direction: Direction,
    pub source: SegmentSource,
    pub plan: SegmentPlan,
    pub numbered: bool,
    /// Whether a launch may begin before the one before it has ended: so none waits for the last
    /// blocks of another.
    dependent: bool,
    /// The launches that find segments, if the scan itself doesn't.
    find: Option<Find>,
    scan: Arc<Module>,
    rounds: Option<Arc<Module>>,
    types: PhantomData<fn(T, A) -> U>,
}

/// What marks where segments start, and what makes of it what precedes each window, where that is
/// of use.
#[derive(Clone, Debug)]
struct Find {
    mark: Arc<Module>,
    sum: Option<Arc<Module>>,
}

impl<T, U, A> Way<T, U, A>
where
    T: DeviceElement + Accumulate<A>,
    U: DeviceElement + Accumulate<A>,
    A: Element + DeviceType,
{
    /// The kernels of a plan.
    ///
    /// # Errors
    ///
    /// As [`compile()`](crate::compile()), or what the driver says.
    pub(super) fn prepare<O: DeviceOperator<A>>(
        device: &Device,
        operator: &O,
        specification: Specification,
        len: u64,
        (source, numbered): (SegmentSource, bool),
        plan: SegmentPlan,
    ) -> Result<Self, Error> {
        let direction = specification.direction;
        let scan = source::scan::<T, U, A, O>(operator, specification, source, &plan)?;
        let rounds = source::rounds::<T, U, A, O>(operator, specification, source, &plan)?;
        let scan_bytes = match (plan.exact, plan.stretches) {
            (Some(exact), _) => exact.shared_bytes,
            (None, Some(stretches)) => stretches.shared_bytes,
            (None, None) => plan.shared_bytes,
        };
        let rounds_bytes = plan.rounds.map_or(0, |long| long.shared_bytes);
        Ok(Self {
            len,
            direction,
            source,
            plan,
            numbered,
            dependent: device.capability().compute >= (9, 0),
            find: match plan.one_launch {
                true => None,
                false => Some(Find {
                    mark: device.module(
                        source::mark(source, direction, &plan),
                        mark_block(source, &plan, most_block_marks(plan.marked, plan.masked)).1,
                    )?,
                    sum: match source.segments() {
                        Some(_) if plan.exact.is_some() || plan.stretches.is_some() => None,
                        _ => Some(device.module(source::sum(), SUM_BYTES)?),
                    },
                }),
            },
            scan: device.module(scan, scan_bytes)?,
            rounds: rounds.map(|text| device.module(text, rounds_bytes)).transpose()?,
            types: PhantomData,
        })
    }
}

impl<T, U, A> Way<T, U, A>
where
    T: Accumulate<A>,
    U: Accumulate<A>,
    A: Element,
{
    /// # Safety
    ///
    /// As of [`SegmentScan::run`](super::SegmentScan::run).
    pub(super) unsafe fn run(
        &self,
        workspace: &mut Workspace,
        input: u64,
        output: u64,
        source: u64,
        inits: Inits<A>,
        totals: Option<u64>,
    ) -> Result<(), Error> {
        aligned::<T>(input)?;
        aligned::<U>(output)?;
        self.check_source(source)?;
        if !self.numbered && (totals.is_some() || matches!(inits, Inits::Each(_))) {
            return Err(Self::unnumbered());
        }
        let segments = self.source.segments().unwrap_or(0);
        if self.len == 0 && (segments == 0 || totals.is_none()) {
            return Ok(());
        }
        let in_place = input == output && self.plan.lead_bytes > 0;
        let mut mark = self.reserve(workspace, source, in_place)?;
        mark.long.totals = totals.is_some().into();
        mark.long.numbered = (totals.is_some() || matches!(inits, Inits::Each(_))).into();
        let inits = InitArguments::new(inits, totals)?;
        let mut scan = ScanArguments {
            input,
            output,
            length: self.len,
            workspace: mark.workspace,
            heads: mark.heads,
            windows: mark.windows,
            first: if self.notes_tiles() { mark.first } else { 0 },
            cut: mark.long.cut,
            covers: mark.long.covers,
            list: mark.long.list,
            stretches: mark.long.stretches,
            source,
            segments,
            leads: if in_place { mark.heads + self.plan.scratch_bytes } else { 0 },
            lead_count: self.plan.windows.saturating_sub(1),
            inits,
        };
        let blocks = match self.plan.stretches {
            Some(has) => grid(has.blocks.into(), 32 * has.warps, has.shared_bytes),
            None => grid(self.plan.windows, SCAN_THREADS, self.plan.shared_bytes),
        };
        let blocks = Grid { dependent: self.dependent, ..blocks };
        // SAFETY: the caller's promise; the workspace is this stream's alone, and large enough. The
        // struct is the kernel's own, and the launch comes after those of `find` on the stream.
        unsafe {
            if in_place {
                self.save_leads(workspace, input, scan.leads)?;
            }
            if let Some(exact @ ExactSegments { grid: blocks, shared_bytes, .. }) = self.plan.exact
            {
                if let Some(find) = &self.find {
                    self.mark(find, workspace, &mut mark)?;
                }
                let grid = self.rounds_grid(blocks, exact.threads(), shared_bytes);
                return self.scan.launch(grid, workspace.stream(), &mut scan);
            }
            if let Some(find) = &self.find {
                self.find(find, workspace, mark)?;
            }
            // First, so that those of the others have their places when its last tiles are under
            // way; stretches begin then.
            if let (Some(rounds), Some(long)) = (&self.rounds, self.plan.rounds) {
                let grid = self.rounds_grid(long.grid, long.ring.threads(), long.shared_bytes);
                rounds.launch(grid, workspace.stream(), &mut scan)?;
            }
            self.scan.launch(blocks, workspace.stream(), &mut scan)?;
        }
        Ok(())
    }

    /// # Safety
    ///
    /// As of [`SegmentScan::count`](super::SegmentScan::count).
    pub(super) unsafe fn count(
        &self,
        workspace: &mut Workspace,
        source: u64,
    ) -> Result<u64, Error> {
        if let Some(segments) = self.source.segments() {
            return Ok(segments);
        }
        if self.len == 0 {
            return Ok(0);
        }
        self.check_source(source)?;
        let Some(find) = &self.find else { return Err(Self::unnumbered()) };
        let mut mark = self.reserve(workspace, source, false)?;
        mark.long = LongRuns::default();
        // SAFETY: the caller's promise; the workspace is this stream's alone, and large enough.
        unsafe { self.find(find, workspace, mark) }?;
        // After what precedes each window stands what there is in all: the last head, the number.
        let (mut all, at) =
            ([0u64; 2], mark.windows + self.plan.marks * size_of::<[u64; 2]>() as u64);
        // SAFETY: the memory was written by the launches before; the slice lives until the copy is
        // done.
        let copied =
            unsafe { result::memcpy_dtoh_async(&mut all, at, workspace.stream().cu_stream()) };
        let done = workspace.stream().synchronize();
        copied?;
        done?;
        Ok(all[1])
    }

    /// Where it has left the last head before each window, on the workspace that it has just run
    /// on.
    pub(super) fn heads_left(&self, workspace: &Workspace) -> HeadsLeft {
        let plan = &self.plan;
        let (address, window) = match plan.one_launch {
            true => (workspace.address() + plan.head_slots(), plan.window),
            // After the first, before which there is nothing.
            false => (workspace.scratch() + plan.scratch().windows + 16, plan.marked),
        };
        HeadsLeft { address, window: window.into(), windows: self.len / u64::from(window) }
    }

    /// Whether the launch before an exact operator's notes which tiles have heads.
    fn notes_tiles(&self) -> bool {
        let SegmentPlan { exact, unread_marks, .. } = self.plan;
        exact.is_some() && unread_marks > 0
    }

    fn unnumbered() -> Error {
        let what = "initial values or totals of each segment, or their number: say so when the scan is prepared";
        Error::Unsupported(what.into())
    }

    fn check_source(&self, source: u64) -> Result<(), Error> {
        let align = self.source.bytes() as usize;
        if source.is_multiple_of(align as u64) {
            return Ok(());
        }
        Err(Error::Misaligned { address: source, align })
    }

    /// Memory for a scan.
    pub(super) fn make_room(&self, workspace: &mut Workspace, in_place: bool) -> Result<(), Error> {
        workspace.reserve(self.plan.workspace_bytes)?;
        let leads = if in_place { self.plan.lead_bytes } else { 0 };
        workspace.reserve_scratch(self.plan.scratch_bytes + leads)
    }

    /// Memory for a scan, and where what finds the segments puts them.
    fn reserve(
        &self,
        workspace: &mut Workspace,
        source: u64,
        in_place: bool,
    ) -> Result<MarkArguments, Error> {
        self.make_room(workspace, in_place)?;
        let (heads, scratch) = (workspace.scratch(), self.plan.scratch());
        let long = self.plan.rounds.map_or_else(LongRuns::default, |long| LongRuns {
            list: heads + scratch.list,
            covers: heads + scratch.covers,
            cut: heads + scratch.cut,
            stretches: self.plan.stretches.map_or(0, |_| heads + scratch.stretches),
            taken: workspace.places_taken(),
            most: long.tiles,
            window: self.plan.stretches.map_or(self.plan.window, |_| 1),
            marked: self.plan.marked,
            tile: long.tile,
            shorter: long.shorter,
            offsets: self.source.segments().map_or(0, |_| self.source.bytes()),
            reverse: (self.direction == Direction::Reverse).into(),
            numbered: 0,
            totals: 0,
        });
        Ok(MarkArguments {
            source,
            length: self.len,
            segments: self.source.segments().unwrap_or(0),
            heads,
            windows: heads + scratch.windows,
            first: heads + scratch.first,
            workspace: workspace.address(),
            window_count: self.plan.marks,
            block_windows: self.plan.block_marks,
            unread: self.plan.unread_marks,
            long,
        })
    }

    /// Copies the elements of a segment of the order before each window but the first, as they lie
    /// in memory.
    ///
    /// # Safety
    ///
    /// Until the stream has done it, the input must be readable, and `leads` the plan's
    /// `lead_bytes`.
    unsafe fn save_leads(
        &self,
        workspace: &Workspace,
        input: u64,
        leads: u64,
    ) -> Result<(), Error> {
        let SegmentPlan { windows, window, .. } = self.plan;
        let (rows, pitch) = ((windows - 1) as usize, window as usize * size_of::<T>());
        let width = (self.plan.lead_bytes / (windows - 1)) as usize;
        // In reverse, windows end where elements begin.
        let skipped = match self.direction {
            Direction::Forward => pitch - width,
            Direction::Reverse => (self.len as usize * size_of::<T>()) - rows * pitch,
        };
        let copy = sys::CUDA_MEMCPY2D {
            srcXInBytes: 0,
            srcY: 0,
            srcMemoryType: sys::CUmemorytype::CU_MEMORYTYPE_DEVICE,
            srcHost: std::ptr::null(),
            srcDevice: input + skipped as u64,
            srcArray: std::ptr::null_mut(),
            srcPitch: pitch,
            dstXInBytes: 0,
            dstY: 0,
            dstMemoryType: sys::CUmemorytype::CU_MEMORYTYPE_DEVICE,
            dstHost: std::ptr::null_mut(),
            dstDevice: leads,
            dstArray: std::ptr::null_mut(),
            dstPitch: width,
            WidthInBytes: width,
            Height: rows,
        };
        // SAFETY: rows of `width` bytes, a window apart, lie within the input; the rest is the
        // caller's promise. The struct is read before the call returns.
        unsafe { sys::cuMemcpy2DAsync_v2(&copy, workspace.stream().cu_stream()) }.result()?;
        Ok(())
    }

    /// The launch of rounds, whose blocks wait for each other.
    fn rounds_grid(&self, blocks: u32, threads: u32, shared_bytes: u32) -> Grid {
        let dependent = self.dependent;
        Grid { blocks, threads, shared_bytes, cooperative: true, cluster: 1, dependent }
    }

    /// Launches what marks where segments start.
    ///
    /// # Safety
    ///
    /// The arguments must be as the kernels want them until the stream has done the launches.
    unsafe fn mark(
        &self,
        find: &Find,
        workspace: &Workspace,
        mark: &mut MarkArguments,
    ) -> Result<(), Error> {
        let windows = match self.source.segments() {
            None => windows_marked(self.plan.marked),
            Some(_) => self.plan.block_marks.into(),
        };
        let (threads, bytes) = mark_block(self.source, &self.plan, self.plan.block_marks);
        let grid = grid(self.plan.marks.div_ceil(windows), threads, bytes);
        // SAFETY: the struct is the kernel's own; the rest is the caller's promise.
        unsafe { find.mark.launch(grid, workspace.stream(), mark) }
    }

    /// Launches what finds the segments.
    ///
    /// # Safety
    ///
    /// As of [`mark`](Self::mark).
    unsafe fn find(
        &self,
        find: &Find,
        workspace: &Workspace,
        mut mark: MarkArguments,
    ) -> Result<(), Error> {
        // A thread more than there are windows: for what there is in all.
        let sums = (self.plan.marks + 1).div_ceil(SUM_THREADS as u64);
        // SAFETY: the struct is the kernels' own; the rest is the caller's promise. Each launch
        // comes after the one before on the stream.
        unsafe {
            self.mark(find, workspace, &mut mark)?;
            let Some(sum) = &find.sum else { return Ok(()) };
            let grid = Grid { dependent: self.dependent, ..grid(sums, SUM_THREADS, SUM_BYTES) };
            sum.launch(grid, workspace.stream(), &mut mark)
        }
    }
}

/// Windows of a block that marks by flags or keys: `mark_warps` of kernels/heads.cuh.
fn windows_marked(window: u32) -> u64 {
    let (all, warp) = (MARK_THREADS / 32, 32 * 32);
    match window / warp {
        warps if warps > 0 && window.is_multiple_of(warp) && all.is_multiple_of(warps) => {
            (all / warps).into()
        }
        _ => 1,
    }
}

fn grid(blocks: u64, threads: u32, shared_bytes: u32) -> Grid {
    Grid {
        blocks: blocks.max(1) as u32,
        threads,
        shared_bytes,
        cooperative: false,
        cluster: 1,
        dependent: false,
    }
}

/// `MarkArguments` of kernels/heads.cuh, byte for byte.
#[derive(Clone, Copy)]
#[repr(C)]
struct MarkArguments {
    source: u64,
    length: u64,
    segments: u64,
    heads: u64,
    windows: u64,
    first: u64,
    workspace: u64,
    window_count: u64,
    block_windows: u32,
    unread: u32,
    long: LongRuns,
}

/// `LongRuns` of kernels/run_list.cuh, byte for byte; all zeros if no segments go in rounds.
#[derive(Clone, Copy, Default)]
#[repr(C)]
struct LongRuns {
    list: u64,
    covers: u64,
    cut: u64,
    stretches: u64,
    taken: u64,
    most: u64,
    window: u32,
    marked: u32,
    tile: u32,
    shorter: u32,
    offsets: u32,
    reverse: u32,
    numbered: u32,
    totals: u32,
}

/// `SegmentedArguments` of kernels/segmented_arguments.cuh, byte for byte; the kernel's ends with
/// the accumulator's bytes.
#[repr(C)]
struct ScanArguments {
    input: u64,
    output: u64,
    length: u64,
    workspace: u64,
    heads: u64,
    windows: u64,
    first: u64,
    cut: u64,
    covers: u64,
    list: u64,
    stretches: u64,
    source: u64,
    segments: u64,
    leads: u64,
    lead_count: u64,
    inits: InitArguments,
}
