//! The text that is compiled: the kernels, the operator, and the one struct that joins them.

use crate::operator::{PRELUDE, operator_source, type_name};
use crate::{Error, Kernel, Plan, Ring};
use kogge_core::device::{DeviceElement, DeviceOperator, DeviceType};
use kogge_core::{Accumulate, Direction, Element, Kind};

const KERNELS: [&str; 13] = [
    include_str!("../kernels/device.cuh"),
    include_str!("../kernels/order.cuh"),
    include_str!("../kernels/value.cuh"),
    include_str!("../kernels/convert.cuh"),
    include_str!("../kernels/chunk.cuh"),
    include_str!("../kernels/memory.cuh"),
    include_str!("../kernels/row.cuh"),
    include_str!("../kernels/segment.cuh"),
    include_str!("../kernels/slot.cuh"),
    include_str!("../kernels/arguments.cuh"),
    include_str!("../kernels/look_ahead.cuh"),
    include_str!("../kernels/segment_scan.cuh"),
    include_str!("../kernels/round_scan.cuh"),
];

/// The kernel's name in the compiled program.
pub(crate) const ENTRY: &str = "kogge_scan";
/// What kernels know the operator by.
const OPERATOR: &str = "Operator";

/// What a kernel is made for, beside its plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Specification {
    /// Inclusive or exclusive.
    pub kind: Kind,
    /// Forward or reverse.
    pub direction: Direction,
}

/// The CUDA C++ text of the kernel for elements `T`, written as `U`, combined as `A`.
///
/// # Errors
///
/// As [`operator_source`]; [`Error::Unsupported`] if `T` or `U` is neither `A` nor a number.
pub fn source<T, U, A, O>(
    operator: &O,
    specification: Specification,
    plan: &Plan,
) -> Result<String, Error>
where
    T: DeviceElement + Accumulate<A>,
    U: DeviceElement + Accumulate<A>,
    A: Element + DeviceType,
    O: DeviceOperator<A>,
{
    let operator = operator_source(operator, OPERATOR)?;
    let packed = operator.adds_narrow_integers && size_of::<T>() == size_of::<A>();
    let fold = if packed { "PackedSum" } else { "LeftFold" };
    let unused = Ring { bulk: false, stages: 2, groups: 1, reducers: 4, ahead: 1 };
    let (ring, kernel, shared, bounds) = match plan.kernel {
        Kernel::Segments => (unused, "segment_scan", "SegmentShared", "SEGMENT_THREADS"),
        Kernel::Rounds(ring) => (ring, "round_scan", "Ring", "Ring<Scan>::THREADS, 1"),
    };
    let Ring { bulk, stages, groups, reducers, ahead } = ring;
    let exclusive = specification.kind == Kind::Exclusive;
    let reverse = specification.direction == Direction::Reverse;
    Ok(format!(
        "{kernels}{PRELUDE}{text}
struct Scan {{
    typedef {OPERATOR} Op;
    typedef {input} Input;
    typedef {output} Output;
    typedef {accumulator} Accumulator;
    static constexpr bool EXCLUSIVE = {exclusive}, REVERSE = {reverse}, BULK = {bulk};
    static constexpr u32 STAGES = {stages}, GROUPS = {groups}, REDUCERS = {reducers}, AHEAD = {ahead};
    typedef {fold}<Scan> Fold;
}};
static_assert(sizeof({shared}<Scan>) <= {shared_bytes}, \"the plan has room for the kernel\");
static_assert(sizeof(Scan::Input) == {input_bytes} && sizeof(Scan::Output) == {output_bytes}
    && sizeof(Scan::Accumulator) == {accumulator_bytes}, \"types have the host's sizes\");
extern \"C\" __global__ void __launch_bounds__({bounds})
{ENTRY}(const __grid_constant__ Arguments<Scan> arguments) {{
    {kernel}<Scan>(arguments);
}}
",
        kernels = KERNELS.concat(),
        text = operator.text,
        input = type_name::<T, A>(OPERATOR)?,
        output = type_name::<U, A>(OPERATOR)?,
        accumulator = type_name::<A, A>(OPERATOR)?,
        shared_bytes = plan.shared_bytes,
        input_bytes = size_of::<T>(),
        output_bytes = size_of::<U>(),
        accumulator_bytes = size_of::<A>(),
    ))
}
