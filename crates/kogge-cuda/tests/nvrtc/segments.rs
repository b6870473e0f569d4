//! The kernels of scans by segments, for elements of every size.

use crate::bounds::{DEVICES, Resources, flag, in_the_gate, skipped};
use crate::compiler::compile;
use kogge_core::device::{DeviceElement, DeviceOperator, DeviceType};
use kogge_core::ops::{Affine, Compose, MatMul, Matrix2, Max, Sum};
use kogge_core::{Accumulate, Direction, Element, Kind, Problem, f16};
use kogge_cuda::{
    Arch, Brackets, Capability, KeyType, Ring, SegmentSource, Specification, Tuning, plan_segments,
    segment_source,
};

const SOURCES: [SegmentSource; 6] = [
    SegmentSource::Offsets { segments: 9, bits: 32 },
    SegmentSource::Keys(KeyType::Bits32),
    SegmentSource::Heads,
    SegmentSource::Offsets { segments: 9, bits: 64 },
    SegmentSource::Keys(KeyType::F16),
    SegmentSource::Keys(KeyType::F64),
];

/// Local memory that a thread may use, in bytes; and that of the kernels for exact operators, where
/// elements of 16 bits take more on Blackwell, and those of 8 bits beside markers, which leave a
/// thread 96 registers.
const MOST_STACK: u32 = 176;
const MOST_STACK_EXACT: u32 = 448;

/// Compiles an operator's kernels; registers must let the planned thread blocks fit, and little may
/// spill.
fn compiles<T, A, O>(operator: O, turn: usize)
where
    T: DeviceElement + Accumulate<A>,
    A: Element + DeviceType,
    O: DeviceOperator<A>,
{
    if skipped() {
        return;
    }
    for (d, device) in DEVICES.into_iter().enumerate() {
        if !in_the_gate::<T>(turn / 2, 2, d) {
            continue;
        }
        compiles_for::<T, A, O>(&operator, device, turn + d, Brackets::Numbered);
        // In stretches for every other device, unless all are wanted.
        let stretched = (turn + d).is_multiple_of(2) || flag("KOGGE_FULL_MATRIX");
        let brackets = if O::EXACT { Brackets::Any } else { Brackets::Fixed };
        if O::EXACT || stretched {
            compiles_for::<T, A, O>(&operator, device, turn + d, brackets);
        }
    }
}

/// Those alone that only exact operators take.
fn compiles_exact<T, A, O>(operator: O, turn: usize)
where
    T: DeviceElement + Accumulate<A>,
    A: Element + DeviceType,
    O: DeviceOperator<A>,
{
    if skipped() {
        return;
    }
    for (d, device) in DEVICES.into_iter().enumerate() {
        if !in_the_gate::<T>(turn / 2, 2, d) {
            continue;
        }
        compiles_for::<T, A, O>(&operator, device, turn + d, Brackets::Any);
    }
}

/// Those of one way to keep to an order. With the fixed one alone there are offsets for stretches,
/// or keys for one launch.
fn compiles_for<T, A, O>(operator: &O, device: Capability, turn: usize, brackets: Brackets)
where
    T: DeviceElement + Accumulate<A>,
    A: Element + DeviceType,
    O: DeviceOperator<A>,
{
    let specification = Specification {
        kind: [Kind::Inclusive, Kind::Exclusive][turn % 2],
        direction: [Direction::Forward, Direction::Reverse][turn / 2 % 2],
    };
    let source = match brackets {
        Brackets::Fixed if turn.is_multiple_of(3) => SOURCES[[1, 2, 4, 5][turn / 3 % 4]],
        Brackets::Fixed => SOURCES[turn % 2 * 3],
        _ => SOURCES[turn % SOURCES.len()],
    };
    compiles_by::<T, A, O>(operator, device, specification, brackets, source, Tuning::default());
}

/// Those by one kind of offsets, flags or keys.
fn compiles_by<T, A, O>(
    operator: &O,
    device: Capability,
    specification: Specification,
    brackets: Brackets,
    source: SegmentSource,
    tuning: Tuning,
) where
    T: DeviceElement + Accumulate<A>,
    A: Element + DeviceType,
    O: DeviceOperator<A>,
{
    let problem = Problem {
        len: 1 << 28,
        element_bytes: size_of::<T>(),
        output_bytes: size_of::<T>(),
        accumulator_bytes: size_of::<A>(),
        kind: specification.kind,
        direction: specification.direction,
        in_place: false,
    };
    let plan = plan_segments(&problem, source, brackets, device, &tuning).expect("a plan");
    if brackets == Brackets::Fixed && plan.stretches.is_none() && !plan.one_launch {
        return;
    }
    let texts = segment_source::<T, T, A, O>(operator, specification, source, &plan);
    let (major, minor) = device.compute;
    let threads = |ring: Ring| (32 * (1 + ring.lookers + ring.reducers + 8 * ring.groups), 1);
    let scan = match (plan.exact, plan.stretches) {
        (Some(exact), _) => (threads(exact.ring).0 + 32 * exact.markers, 1),
        (None, Some(stretches)) => (256, stretches.residents),
        (None, None) => (256, plan.residents),
    };
    // Nine segments are long enough for rounds.
    let long = plan.rounds.map(|long| threads(long.ring));
    let finds = [(256, 4), (1024, 1)].into_iter().filter(|_| !plan.one_launch);
    let blocks = finds.chain([scan]).chain(long);
    // What finds the segments is the same text whatever the order, unless it lists stretches; long
    // ones are but for when they are.
    let known: &[usize] = match (brackets, plan.stretches) {
        (Brackets::Numbered, _) => &[],
        _ if plan.one_launch => &[],
        (_, Some(_)) => &[1],
        (_, None) => &[0, 1],
    };
    let texts = texts.expect("texts");
    let kernels = texts.iter().zip(blocks).enumerate().filter(|(i, _)| !known.contains(i));
    for (_, (text, (threads, residents))) in kernels {
        let what =
            format!("sm_{major}{minor} {} {source:?} {brackets:?}", std::any::type_name::<T>());
        let compiled = compile(text, Arch(major * 10 + minor));
        let compiled = compiled.unwrap_or_else(|error| panic!("{what}: {error}"));
        let resources = Resources::of(&compiled);
        if flag("KOGGE_KERNEL_TABLE") {
            println!("{what}: {resources}; {plan}");
        }
        let Resources { registers, stack, spilled } = resources;
        assert!(registers > 0, "no registers in the log:\n{}", compiled.log);
        let most = if plan.exact.is_some() { MOST_STACK_EXACT } else { MOST_STACK };
        assert!(spilled <= most && stack <= most, "{what}: {resources}");
        let taken = registers.next_multiple_of(8) * threads * residents;
        assert!(taken <= 65_536, "{what}: {resources}");
    }
}

/// What the largest cards take for segments by offsets, short and longer ones.
#[test]
fn stretches_along_offsets_and_by_a_mask() {
    if skipped() {
        return;
    }
    let device = DEVICES.into_iter().find(|device| device.compute == (9, 0)).expect("sm_90");
    for (i, unmasked_from) in [0, u32::MAX].into_iter().enumerate() {
        let specification = Specification { kind: Kind::Inclusive, direction: Direction::Forward };
        let tuning = Tuning { unmasked_from, ..Tuning::default() };
        let source = SOURCES[[3, 0][i]];
        let brackets = Brackets::Fixed;
        compiles_by::<f32, f32, _>(&Sum, device, specification, brackets, source, tuning);
    }
}

#[test]
fn i8() {
    compiles::<i8, i8, _>(Sum, 0);
}

#[test]
fn i16() {
    compiles::<i16, i16, _>(Max, 1);
}

#[test]
fn half() {
    compiles::<f16, f32, _>(Sum, 2);
}

#[test]
fn i32() {
    compiles::<i32, i32, _>(Sum, 3);
}

#[test]
fn f32() {
    compiles::<f32, f32, _>(Sum, 4);
}

#[test]
fn f64() {
    compiles::<f64, f64, _>(Sum, 5);
}

#[test]
fn affine() {
    compiles::<Affine<f32>, Affine<f32>, _>(Compose, 6);
}

#[test]
fn matrix() {
    compiles::<Matrix2<f64>, Matrix2<f64>, _>(MatMul, 7);
}

#[test]
fn maximum_f32() {
    compiles_exact::<f32, f32, _>(Max, 8);
}

#[test]
fn maximum_half() {
    compiles_exact::<f16, f32, _>(Max, 9);
}

#[test]
fn affine_of_integers() {
    compiles_exact::<Affine<i32>, Affine<i32>, _>(Compose, 10);
}
