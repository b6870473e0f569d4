//! Scans along one axis of an array: many lines, each a scan of its own.
//!
//! [`LineShape`] says where the lines lie. Its canonical form (`shape`) has as few axes as can be,
//! and decides between lines of consecutive elements and columns, which have kernels of their own.

mod columns;
mod contiguous;
mod shape;

pub use columns::{ColumnKernel, ColumnPlan, LaneRing};
pub use contiguous::{ContiguousKernel, ContiguousPlan};
pub use shape::{Axis, LineShape};

use crate::scan::check_alignment;
use crate::{Capability, Device, Error, Inits, Specification, Tuning, Workspace};
use columns::ColumnScan;
use contiguous::ContiguousScan;
use kogge_core::device::{DeviceElement, DeviceOperator, DeviceType};
use kogge_core::{Accumulate, Direction, Element, Kind, Problem};
use shape::Lines;
use std::fmt;

/// How lines will be scanned. Nothing in it changes the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinePlan {
    /// Lines of consecutive elements, in input and output.
    Contiguous(ContiguousPlan),
    /// Any other lines.
    Columns(ColumnPlan),
}

impl fmt::Display for LinePlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Contiguous(plan) => plan.fmt(f),
            Self::Columns(plan) => plan.fmt(f),
        }
    }
}

/// The plan for the lines of a shape on a device. Of `problem`, the length is the shape's.
///
/// # Errors
///
/// [`Error::Unsupported`] if the accumulator or the elements are larger than kernels take, or there
/// are more axes than they take.
///
/// ```
/// use kogge_core::{Direction, Kind, Problem};
/// use kogge_cuda::{Capability, LineShape, Tuning, plan_lines};
///
/// let problem = Problem {
///     len: 0,
///     element_bytes: 4,
///     output_bytes: 4,
///     accumulator_bytes: 4,
///     kind: Kind::Inclusive,
///     direction: Direction::Forward,
///     in_place: false,
/// };
/// let shape = LineShape::row_major(&[1 << 20, 256], 0)?;
/// let plan = plan_lines(&shape, &problem, Capability::H100, &Tuning::default())?;
/// assert_eq!(
///     plan.to_string(),
///     "columns by teams, strips of 64 lines, 6 stages, clusters of 8, 96 blocks of 448 threads",
/// );
/// # Ok::<_, kogge_cuda::Error>(())
/// ```
pub fn plan_lines(
    shape: &LineShape,
    problem: &Problem,
    device: Capability,
    tuning: &Tuning,
) -> Result<LinePlan, Error> {
    tuning.check()?;
    let lines = Lines::new(shape, problem.direction)?;
    let problem = Problem { len: lines.line.len, direction: lines.direction, ..*problem };
    Ok(match lines.are_contiguous() {
        true => LinePlan::Contiguous(contiguous::plan(&lines, &problem, device, tuning)?),
        false => LinePlan::Columns(columns::plan(&lines, &problem, device, tuning)?),
    })
}

/// The CUDA C++ text of a plan's kernel, for elements `T`, written as `U`, combined as `A`.
///
/// # Errors
///
/// As [`source()`](crate::source()).
pub fn line_source<T, U, A, O>(
    operator: &O,
    specification: Specification,
    plan: &LinePlan,
) -> Result<String, Error>
where
    T: DeviceElement + Accumulate<A>,
    U: DeviceElement + Accumulate<A>,
    A: Element + DeviceType,
    O: DeviceOperator<A>,
{
    match plan {
        LinePlan::Contiguous(plan) => {
            contiguous::source::<T, U, A, O>(operator, specification, plan)
        }
        LinePlan::Columns(plan) => columns::source::<T, U, A, O>(operator, specification, plan),
    }
}

/// A scan of the lines of an array, ready to run as often as wanted, on any workspace of its
/// device.
#[derive(Debug)]
pub struct LineScan<T, U, A> {
    lines: u64,
    len: u64,
    way: Way<T, U, A>,
}

#[derive(Debug)]
enum Way<T, U, A> {
    Contiguous(ContiguousScan<T, U, A>),
    Columns(ColumnScan<T, U, A>),
}

impl<T, U, A> LineScan<T, U, A>
where
    T: DeviceElement + Accumulate<A>,
    U: DeviceElement + Accumulate<A>,
    A: Element + DeviceType,
{
    pub(crate) fn prepare<O: DeviceOperator<A>>(
        device: &Device,
        operator: &O,
        kind: Kind,
        direction: Direction,
        shape: &LineShape,
    ) -> Result<Self, Error> {
        check_alignment::<A>()?;
        device.tuning().check()?;
        let lines = Lines::new(shape, direction)?;
        let (count, len) = (lines.count, lines.line.len);
        let problem = Problem {
            len,
            element_bytes: size_of::<T>(),
            output_bytes: size_of::<U>(),
            accumulator_bytes: size_of::<A>(),
            kind,
            direction: lines.direction,
            in_place: false,
        };
        let way = if lines.are_contiguous() {
            Way::Contiguous(ContiguousScan::prepare(device, operator, &problem, lines)?)
        } else {
            Way::Columns(ColumnScan::prepare(device, operator, &problem, lines)?)
        };
        Ok(Self { lines: count, len, way })
    }

    /// How it will be done.
    pub fn plan(&self) -> LinePlan {
        match &self.way {
            Way::Contiguous(scan) => LinePlan::Contiguous(*scan.plan()),
            Way::Columns(scan) => LinePlan::Columns(*scan.plan()),
        }
    }

    /// Lines.
    pub fn lines(&self) -> u64 {
        self.lines
    }

    /// Elements of a line.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.lines == 0 || self.len == 0
    }

    /// Scans every line, from one device address to another or in place if they are equal, on the
    /// workspace's stream; returns at once. The addresses are those of index 0 on every axis. The
    /// line's total, if wanted, goes to the place of its number in an array of
    /// [`lines`](Self::lines) `A` at `totals`: the identity where there is neither an element nor
    /// an initial value.
    ///
    /// O(n) work. It allocates only if the workspace is too small, so after a first call with these
    /// addresses it can be captured in a CUDA graph.
    ///
    /// # Errors
    ///
    /// [`Error::Misaligned`], [`Error::OutOfMemory`], or what the driver says.
    ///
    /// # Safety
    ///
    /// Until the stream has done it, every element of the shape must be readable at `input` and
    /// writable at `output`. The two are equal, with equal strides and sizes of elements, or don't
    /// overlap; no two indices share a place of the output. Initial values must be readable, and
    /// totals writable, as [`Inits`] and this say. All on the workspace's device.
    pub unsafe fn run(
        &self,
        workspace: &mut Workspace,
        input: u64,
        output: u64,
        inits: Inits<A>,
        totals: Option<u64>,
    ) -> Result<(), Error> {
        match &self.way {
            // SAFETY: the caller's promise.
            Way::Contiguous(scan) => unsafe { scan.run(workspace, input, output, inits, totals) },
            // SAFETY: the caller's promise.
            Way::Columns(scan) => unsafe { scan.run(workspace, input, output, inits, totals) },
        }
    }
}
