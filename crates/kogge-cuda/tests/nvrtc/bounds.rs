//! What the tests that compile kernels have in common: devices, and what the assembler tells.

use crate::compiler::compile;
use kogge_core::device::{DeviceElement, DeviceOperator, DeviceType};
use kogge_core::{Accumulate, Element, Problem};
use kogge_cuda::{
    Arch, Capability, Compiled, LinePlan, LineShape, Specification, Tuning, compiler_version,
    line_source, plan_lines,
};
use std::any::type_name;
use std::fmt;
use std::io::Write;

/// Ampere, Hopper, and Blackwell for data centres and for desks.
pub const DEVICES: [Capability; 4] = [
    Capability::A100,
    Capability::H100,
    Capability { compute: (10, 0), multiprocessors: 148, ..Capability::H200 },
    Capability::RTX_5090,
];

pub fn flag(name: &str) -> bool {
    std::env::var(name).is_ok_and(|value| value == "1")
}

/// Whether there is no NVRTC, which is said; fails where it is required.
pub fn skipped() -> bool {
    let missing = compiler_version().is_err();
    assert!(
        !(missing && flag("KOGGE_REQUIRE_NVRTC")),
        "KOGGE_REQUIRE_NVRTC=1, but there is no NVRTC"
    );
    if missing {
        // Straight to the terminal: the harness hides what a passing test prints.
        let _ = writeln!(std::io::stderr(), "SKIPPED: there is no NVRTC; name it in KOGGE_NVRTC");
    }
    missing
}

/// What a thread takes, as the assembler tells.
#[derive(Clone, Copy, Debug, Default)]
pub struct Resources {
    pub registers: u32,
    pub stack: u32,
    pub spilled: u32,
}

impl Resources {
    pub fn of(compiled: &Compiled) -> Self {
        let mut resources = Self::default();
        for line in compiled.log.lines() {
            let number = |after: &str| {
                let (before, _) = line.split_once(after)?;
                before.rsplit(|c: char| !c.is_ascii_digit()).next()?.parse::<u32>().ok()
            };
            let keep =
                |field: &mut u32, value: Option<u32>| *field = (*field).max(value.unwrap_or(0));
            keep(&mut resources.registers, number(" registers"));
            keep(&mut resources.stack, number(" bytes stack frame"));
            keep(&mut resources.stack, number(" bytes cumulative stack size"));
            keep(&mut resources.spilled, number(" bytes spill stores"));
        }
        resources
    }
}

impl fmt::Display for Resources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { registers, stack, spilled } = self;
        write!(f, "{registers:3} registers, {stack:3} bytes of stack, {spilled:3} spilled")
    }
}

/// Whether the gate compiles this one of some shapes for this device: each for sm_90, and for each
/// other architecture one of them for every other size of elements, which one depends on the size.
pub fn in_the_gate<T>(shape: usize, shapes: usize, device: usize) -> bool {
    let turn = shape + device + size_of::<T>().ilog2() as usize;
    DEVICES[device].compute == (9, 0)
        || turn.is_multiple_of(2 * shapes)
        || flag("KOGGE_FULL_MATRIX")
}

/// Plans and compiles the kernel of lines: the plan, what a thread takes, and both in words.
pub fn compile_lines<T, A, O>(
    operator: &O,
    specification: Specification,
    shape: &LineShape,
    device: Capability,
) -> (LinePlan, Resources, String)
where
    T: DeviceElement + Accumulate<A>,
    A: Element + DeviceType,
    O: DeviceOperator<A>,
{
    let Specification { kind, direction } = specification;
    let problem = Problem {
        len: 0,
        element_bytes: size_of::<T>(),
        output_bytes: size_of::<T>(),
        accumulator_bytes: size_of::<A>(),
        kind,
        direction,
        in_place: false,
    };
    let plan = plan_lines(shape, &problem, device, &Tuning::default()).unwrap();
    let text = line_source::<T, T, A, O>(operator, specification, &plan).unwrap();
    let (major, minor) = device.compute;
    let compiled = compile(&text, Arch(major * 10 + minor)).unwrap();
    let resources = Resources::of(&compiled);
    let what = format!("sm_{major}{minor} {} of {plan}: {resources}", type_name::<T>());
    if flag("KOGGE_KERNEL_TABLE") {
        println!("{what}, cubin {}", compiled.cubin.len());
    }
    assert!(resources.registers > 0, "no registers in the log:\n{}", compiled.log);
    (plan, resources, what)
}
