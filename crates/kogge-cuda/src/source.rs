//! The text that is compiled: the kernels, the operator, and the one struct that joins them.

use crate::operator::{PRELUDE, operator_source, type_name};
use crate::{Error, Kernel, Plan, Tiling};
use kogge_core::device::{DeviceElement, DeviceOperator, DeviceType};
use kogge_core::{Accumulate, Direction, Element, Kind};

/// What every kernel is made of.
pub(crate) const BASE: [&str; 10] = [
    include_str!("../kernels/device.cuh"),
    include_str!("../kernels/order.cuh"),
    include_str!("../kernels/value.cuh"),
    include_str!("../kernels/convert.cuh"),
    include_str!("../kernels/chunk.cuh"),
    include_str!("../kernels/memory.cuh"),
    include_str!("../kernels/row.cuh"),
    include_str!("../kernels/segment.cuh"),
    include_str!("../kernels/quarter_rows.cuh"),
    include_str!("../kernels/slot.cuh"),
];
/// The kernels of one sequence.
const KERNELS: [&str; 9] = [
    include_str!("../kernels/arguments.cuh"),
    include_str!("../kernels/look_ahead.cuh"),
    include_str!("../kernels/wide_look_ahead.cuh"),
    include_str!("../kernels/segment_scan.cuh"),
    include_str!("../kernels/tile_scan.cuh"),
    include_str!("../kernels/load_tile.cuh"),
    include_str!("../kernels/draw.cuh"),
    include_str!("../kernels/round_scan.cuh"),
    include_str!("../kernels/sequence.cuh"),
];

/// That of a cluster.
const IN_CLUSTER: [&str; 3] = [
    include_str!("../kernels/arguments.cuh"),
    include_str!("../kernels/cluster.cuh"),
    include_str!("../kernels/cluster_scan.cuh"),
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
    let (bulk, constants, shared, bounds, entry) = match plan.kernel {
        Kernel::Cluster(segments) => {
            let bounds = "ClusterShared<Scan>::THREADS, 1".into();
            (false, format!("SEGMENTS = {segments}"), "ClusterShared", bounds, "cluster_scan")
        }
        Kernel::Segments => {
            (false, String::new(), "SegmentShared", "SEGMENT_THREADS, 2".into(), "segment_scan")
        }
        Kernel::Tiles(Tiling { copies, resident }) => {
            let bounds = format!("TILE_THREADS, {resident}");
            (false, format!("COPIES = {copies}"), "TileShared", bounds, "tile_scan")
        }
        Kernel::Rounds(ring) => {
            (ring.bulk, ring.constants(), "Ring", "Ring<Scan>::THREADS, 1".into(), "sequence_scan")
        }
    };
    let program = Program {
        kernels: if plan.in_cluster() { &IN_CLUSTER } else { &KERNELS },
        bulk,
        constants: &constants,
        shared,
        shared_bytes: plan.shared_bytes,
        bounds: &bounds,
        arguments: "Arguments",
        entry,
    };
    program.text::<T, U, A, O>(operator, specification)
}

/// What one family of kernels adds to the text that all have in common.
pub(crate) struct Program<'a> {
    /// Its kernels' text.
    pub kernels: &'a [&'a str],
    /// Whether the copy engine may be used (sm_90 and newer).
    pub bulk: bool,
    /// Its own `u32` constants of the `Scan` that templates are given: `NAME = value, …`, or none.
    pub constants: &'a str,
    /// The template of its shared memory, and the bytes that the plan has for it.
    pub shared: &'a str,
    pub shared_bytes: u32,
    /// Threads of a block and, after a comma, blocks that a multiprocessor holds at least.
    pub bounds: &'a str,
    /// The template of its parameter.
    pub arguments: &'a str,
    /// The function template that is the kernel.
    pub entry: &'a str,
}

impl Program<'_> {
    /// The text for elements `T`, written as `U`, combined as `A`.
    pub(crate) fn text<T, U, A, O>(
        &self,
        operator: &O,
        specification: Specification,
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
        let exclusive = specification.kind == Kind::Exclusive;
        let reverse = specification.direction == Direction::Reverse;
        let Self { bulk, shared, shared_bytes, bounds, arguments, entry, .. } = self;
        let constants = match self.constants {
            "" => String::new(),
            constants => format!("static constexpr u32 {constants};"),
        };
        Ok(format!(
            "{base}{kernels}{PRELUDE}{text}
struct Scan {{
    typedef {OPERATOR} Op;
    typedef {plain} Plain;
    typedef {input} Input;
    typedef {output} Output;
    typedef {accumulator} Accumulator;
    static constexpr bool EXCLUSIVE = {exclusive}, REVERSE = {reverse}, BULK = {bulk};
    {constants}
    typedef {fold}<Scan> Fold;
}};
static_assert(sizeof({shared}<Scan>) <= {shared_bytes}, \"the plan has room for the kernel\");
static_assert(sizeof(Scan::Input) == {input_bytes} && sizeof(Scan::Output) == {output_bytes}
    && sizeof(Scan::Accumulator) == {accumulator_bytes}, \"types have the host's sizes\");
extern \"C\" __global__ void __launch_bounds__({bounds})
{ENTRY}(const __grid_constant__ {arguments}<Scan> arguments) {{
    {entry}<Scan>(arguments);
}}
",
            base = BASE.concat(),
            kernels = self.kernels.concat(),
            text = operator.text,
            plain = operator.plain,
            input = type_name::<T, A>(OPERATOR)?,
            output = type_name::<U, A>(OPERATOR)?,
            accumulator = type_name::<A, A>(OPERATOR)?,
            input_bytes = size_of::<T>(),
            output_bytes = size_of::<U>(),
            accumulator_bytes = size_of::<A>(),
        ))
    }
}
