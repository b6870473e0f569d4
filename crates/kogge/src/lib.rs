//! Parallel scan (prefix sum): any associative operator, any element, any axis, on all cores, in
//! one pass over memory, with the same bits every time.
//!
//! ```
//! use kogge::ops::{Max, Sum};
//!
//! assert_eq!(kogge::inclusive_scan(&[1, 2, 3, 4], Sum), [1, 3, 6, 10]);
//! assert_eq!(kogge::exclusive_scan(&[1, 2, 3, 4], Sum), [0, 1, 3, 6]);
//!
//! let mut prices = [3.0, 5.0, 4.0, 7.0];
//! kogge::inclusive_scan_in_place(&mut prices, Max);
//! assert_eq!(prices, [3.0, 5.0, 5.0, 7.0]);
//! ```
//!
//! Allocating an output costs more than scanning into it (every new page faults), so loops should
//! use the `_into` and `_in_place` forms. [`Scan`] offers the rest: an initial value, the reverse
//! direction, a wider accumulator, an axis of an array, segments by offsets, flags or keys, the
//! total beside the output.
//!
//! # The same bits
//!
//! Floating-point addition isn't associative. kogge fixes the [`Order`] of combination as a
//! function of the length and the element size alone, so a result doesn't depend on the number of
//! threads, the SIMD width or the machine, and tests may compare floats with `==`. Left to
//! right it is not: expect other last digits than a sequential loop's, and a smaller error.
//!
//! # Operators
//!
//! [`ops`] holds the built-in ones. [`from_fn`] makes one of an identity and a closure;
//! [`Operator`] is the trait to implement. Any [`Element`] will do: numbers, half floats, arrays,
//! and your own `repr(C)` structs, of up to 4,096 bytes each.
//!
//! ```
//! use kogge::{from_fn, inclusive_scan};
//!
//! // The leftmost non-zero value so far; associative, not commutative.
//! let first = from_fn(0u32, |left: u32, right: u32| if left != 0 { left } else { right });
//! assert_eq!(inclusive_scan(&[0u32, 0, 7, 3, 0], first), [0, 0, 7, 7, 7]);
//! ```
//!
//! # Threads
//!
//! Scans run in the current rayon pool: `pool.install(|| …)` chooses another. A thread outside of
//! any scans itself, and threads of the global pool join it. Small inputs stay on the calling thread.
//!
//! # GPUs
//!
//! With the feature `cuda`, `Device::cuda(0)` opens an NVIDIA GPU, and [`Scan`] takes its buffers,
//! or host slices by way of it, with the same bits. Any operator of [`ops`] and any that
//! [`operator`](macro@operator) makes runs there.

mod axis;
mod check;
mod functions;
#[cfg(feature = "cuda")]
mod gpu;
mod layout;
#[cfg(feature = "ndarray")]
mod ndarray;
mod scan;
mod segments;
mod stream;

pub use axis::LineScan;
pub use check::{Counterexample, Law, check_operator, check_operator_on};
pub use functions::{
    exclusive_scan, exclusive_scan_in_place, exclusive_scan_into, inclusive_scan,
    inclusive_scan_in_place, inclusive_scan_into,
};
#[cfg(feature = "cuda")]
pub use gpu::{
    Buffer, BufferKey, BufferLineScan, BufferOffset, BufferSegmentScan, BufferSegments, Device,
    DeviceError,
};
pub use kogge_core::{
    Accumulate, Compact, Direction, Element, Error, FnOperator, Kind, Ladder, Number, Operator,
    Order, OrderedNumber, Prefix, Same, Stepper, bf16, bytemuck, device, element, f16, from_fn,
    operator, ops, reference,
};
pub use kogge_cpu::{
    Heads, Key, Keys, Offset, Offsets, Segments, Starts, by_heads, by_key, by_offsets,
};

/// How the CPU engine goes about a scan: pure functions from a problem and a machine to a plan,
/// which says so in words. Scans make their plans themselves.
///
/// ```
/// use kogge::plan::{Axis, Cpu, LineShape, Machine, Problem, plan_lines};
/// use kogge::{Direction, Kind};
///
/// // A million rows of four columns of `f32`, summed down.
/// let problem = Problem {
///     len: 1_000_000,
///     element_bytes: 4,
///     output_bytes: 4,
///     accumulator_bytes: 4,
///     kind: Kind::Inclusive,
///     direction: Direction::Forward,
///     in_place: true,
/// };
/// let (down, across) = (Axis { len: 1_000_000, strides: [4; 2] }, Axis { len: 4, strides: [1; 2] });
/// let (outer, [own, compact, exact]) = (&[across], [false; 3]);
/// let shape = LineShape { line: down, outer, own, compact, exact };
/// let machine = Machine { threads: 2, cpu: Cpu::Common, awake: false, apart: false };
/// assert_eq!(
///     plan_lines(&problem, &shape, machine).to_string(),
///     "2 threads, 1 strip of 4 lines side by side, by all threads together"
/// );
/// ```
pub mod plan {
    pub use kogge_core::Problem;
    pub use kogge_cpu::{
        Axis, Cpu, LinePlan, LineShape, Machine, Plan, SegmentPlan, plan, plan_lines, plan_segments,
    };
}
pub use layout::Layout;
pub use scan::Scan;
pub use segments::SegmentScan;
pub use stream::Stream;
