//! The texts of the kernels of lines of consecutive elements.

use super::{ContiguousKernel, ContiguousPlan};
use crate::kernels;
use crate::source::Program;
use crate::{Error, Specification};
use kogge_core::device::{DeviceElement, DeviceOperator, DeviceType};
use kogge_core::{Accumulate, Element};

/// The CUDA C++ text of a plan's kernel; that of the flat scan where lines go one by one.
///
/// # Errors
///
/// As [`source()`](crate::source()).
pub(crate) fn source<T, U, A, O>(
    operator: &O,
    specification: Specification,
    plan: &ContiguousPlan,
) -> Result<String, Error>
where
    T: DeviceElement + Accumulate<A>,
    U: DeviceElement + Accumulate<A>,
    A: Element + DeviceType,
    O: DeviceOperator<A>,
{
    let even = u32::from(plan.even);
    let constants;
    let program = match plan.kernel {
        ContiguousKernel::OneByOne(flat) => {
            return crate::source::<T, U, A, O>(operator, specification, &flat);
        }
        ContiguousKernel::Short { .. } => {
            constants = format!("EVEN = {even}");
            Program {
                defines: "",
                kernel: &kernels::SHORT_LINES,
                bulk: false,
                constants: &constants,
                source: None,
                shared: "ShortLines",
                shared_bytes: plan.shared_bytes,
                bounds: "LANES * ROWS_PER_SEGMENT",
                arguments: "LineArguments",
                entry: "short_line_scan",
            }
        }
        ContiguousKernel::Lots { warps, bulk, whole, .. } => {
            constants = format!("EVEN = {even}, WARPS = {warps}, WHOLE = {}", u32::from(whole));
            Program {
                defines: "",
                kernel: &kernels::LINE_SCAN,
                bulk,
                constants: &constants,
                source: None,
                shared: "LineRings",
                shared_bytes: plan.shared_bytes,
                bounds: "LineRings<Scan>::THREADS, 1",
                arguments: "LineArguments",
                entry: "line_scan",
            }
        }
        ContiguousKernel::Rounds(ring) => {
            constants = format!("EVEN = {even}, {}", ring.constants());
            Program {
                defines: "",
                kernel: &kernels::LINE_TILES,
                bulk: ring.bulk,
                constants: &constants,
                source: None,
                shared: "Ring",
                shared_bytes: plan.shared_bytes,
                bounds: "Ring<Scan>::THREADS, 1",
                arguments: "LineArguments",
                entry: "long_line_scan",
            }
        }
    };
    program.text::<T, U, A, O>(operator, specification)
}
