//! The text that is compiled: the kernels, the operator, and the one struct that joins them.

use crate::kernels::{self, File};
use crate::operator::{PRELUDE, operator_source, type_name};
use crate::{Error, Kernel, Plan, Tiling};
use kogge_core::device::{DeviceElement, DeviceOperator, DeviceType};
use kogge_core::{Accumulate, Direction, Element, Kind};

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
    let (constants, bounds);
    let common = Program {
        defines: "",
        kernel: &kernels::SEGMENT_SCAN,
        bulk: false,
        constants: "",
        source: None,
        shared: "SegmentShared",
        shared_bytes: plan.shared_bytes,
        bounds: "SEGMENT_THREADS, 2",
        arguments: "Arguments",
        entry: "segment_scan",
    };
    let program = match plan.kernel {
        Kernel::Segments => common,
        Kernel::Cluster(segments) => {
            constants = format!("SEGMENTS = {segments}");
            Program {
                kernel: &kernels::CLUSTER_SCAN,
                constants: &constants,
                shared: "ClusterShared",
                bounds: "ClusterShared<Scan>::THREADS, 1",
                entry: "cluster_scan",
                ..common
            }
        }
        Kernel::Tiles(Tiling { copies, resident }) => {
            constants = format!("COPIES = {copies}");
            bounds = format!("TILE_THREADS, {resident}");
            Program {
                kernel: &kernels::TILE_SCAN,
                constants: &constants,
                shared: "TileShared",
                bounds: &bounds,
                entry: "tile_scan",
                ..common
            }
        }
        Kernel::Rounds(ring) => {
            constants = ring.constants();
            Program {
                kernel: &kernels::SEQUENCE,
                bulk: ring.bulk,
                constants: &constants,
                shared: "Ring",
                bounds: "Ring<Scan>::THREADS, 1",
                entry: "sequence_scan",
                ..common
            }
        }
    };
    program.text::<T, U, A, O>(operator, specification)
}

/// What one family of kernels adds to the text that all have in common.
pub(crate) struct Program<'a> {
    /// What the text begins with.
    pub defines: &'a str,
    /// The file that its kernel is in.
    pub kernel: &'static File,
    /// Whether the copy engine may be used (sm_90 and newer).
    pub bulk: bool,
    /// Its own `u32` constants of the `Scan` that templates are given: `NAME = value, …`, or none.
    pub constants: &'a str,
    /// The type of `Scan` that finds where segments start (kernels/heads.cuh), if it has one.
    pub source: Option<&'a str>,
    /// The template of its shared memory, or none, and the bytes that the plan has for it.
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
        let fits = match *shared {
            "" => String::new(),
            shared => format!(
                "static_assert(sizeof({shared}<Scan>) <= {shared_bytes}, \"the plan has room for the kernel\");\n"
            ),
        };
        let constants = match self.constants {
            "" => String::new(),
            constants => format!("static constexpr u32 {constants};"),
        };
        let heads =
            self.source.map_or(String::new(), |source| format!("\n    typedef {source} Source;"));
        Ok(format!(
            "{defines}{kernel}{PRELUDE}{text}
struct Scan {{
    typedef {OPERATOR} Op;
    typedef {plain} Plain;
    typedef {input} Input;
    typedef {output} Output;
    typedef {accumulator} Accumulator;
    static constexpr bool EXCLUSIVE = {exclusive}, REVERSE = {reverse}, BULK = {bulk};
    {constants}{heads}
    typedef {fold}<Scan> Fold;
}};
{fits}static_assert(sizeof(Scan::Input) == {input_bytes} && sizeof(Scan::Output) == {output_bytes}
    && sizeof(Scan::Accumulator) == {accumulator_bytes}, \"types have the host's sizes\");
extern \"C\" __global__ void __launch_bounds__({bounds})
{ENTRY}(const __grid_constant__ {arguments}<Scan> arguments) {{
    {entry}<Scan>(arguments);
}}
",
            // `Scan` names the folds of a chunk, whatever the kernel.
            defines = self.defines,
            kernel = kernels::text_of(&[&kernels::CHUNK, self.kernel]),
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
