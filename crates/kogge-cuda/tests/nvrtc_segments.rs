//! NVRTC compiles the kernels of scans by segments for elements of every size, and what they take of the
//! machine is bounded. Skipped where NVRTC isn't, unless KOGGE_REQUIRE_NVRTC=1.

use kogge_core::device::{DeviceElement, DeviceOperator, DeviceType};
use kogge_core::ops::{Affine, Compose, MatMul, Matrix2, Max, Sum};
use kogge_core::{Accumulate, Direction, Element, Kind, Problem, f16};
use kogge_cuda::{
    Arch, Capability, KeyType, SegmentSource, Specification, compile, compiler_version,
    plan_segments, segment_source,
};
use std::io::Write;

/// Ampere, Hopper, and Blackwell for data centres and for desks.
const DEVICES: [Capability; 4] = [
    Capability { compute: (8, 0), multiprocessors: 108, shared_bytes: 166_912 },
    Capability { compute: (9, 0), multiprocessors: 132, shared_bytes: 232_448 },
    Capability { compute: (10, 0), multiprocessors: 148, shared_bytes: 232_448 },
    Capability { compute: (12, 0), multiprocessors: 170, shared_bytes: 101_376 },
];

const SOURCES: [SegmentSource; 6] = [
    SegmentSource::Offsets { segments: 9, bits: 32 },
    SegmentSource::Keys(KeyType::Bits32),
    SegmentSource::Heads,
    SegmentSource::Offsets { segments: 9, bits: 64 },
    SegmentSource::Keys(KeyType::F16),
    SegmentSource::Keys(KeyType::F64),
];

/// Local memory that a thread may use, in bytes.
const MOST_STACK: u32 = 160;

/// Whether there is no NVRTC, which is said; fails where it is required.
fn skipped() -> bool {
    let missing = compiler_version().is_err();
    let required = std::env::var("KOGGE_REQUIRE_NVRTC").is_ok_and(|value| value == "1");
    assert!(!(missing && required), "KOGGE_REQUIRE_NVRTC=1, but there is no NVRTC");
    if missing {
        // Straight to the terminal: the harness hides what a passing test prints.
        let _ = writeln!(std::io::stderr(), "SKIPPED: there is no NVRTC; name it in KOGGE_NVRTC");
    }
    missing
}

/// The largest number before these words in the assembler's log.
fn most(log: &str, words: &str) -> u32 {
    let number = |line: &str| {
        let (before, _) = line.split_once(words)?;
        before.rsplit(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
    };
    log.lines().filter_map(number).max().unwrap_or(0)
}

/// Compiles an operator's kernels for every device; registers must let the planned thread blocks fit, and
/// little may spill.
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
        let turn = turn + d;
        let specification = Specification {
            kind: [Kind::Inclusive, Kind::Exclusive][turn % 2],
            direction: [Direction::Forward, Direction::Reverse][turn / 2 % 2],
        };
        let problem = Problem {
            len: 1 << 28,
            element_bytes: size_of::<T>(),
            output_bytes: size_of::<T>(),
            accumulator_bytes: size_of::<A>(),
            kind: specification.kind,
            direction: specification.direction,
            in_place: false,
        };
        let source = SOURCES[turn % SOURCES.len()];
        let plan = plan_segments(&problem, source, device).expect("a plan");
        let texts = segment_source::<T, T, A, O>(&operator, specification, source, &plan);
        let (major, minor) = device.compute;
        let blocks = [(256, 4), (1024, 1), (256, plan.residents)];
        for (text, (threads, residents)) in texts.expect("texts").iter().zip(blocks) {
            let what = format!("sm_{major}{minor} {} {source:?}", std::any::type_name::<T>());
            let compiled = compile(text, Arch(major * 10 + minor));
            let log = compiled.unwrap_or_else(|error| panic!("{what}: {error}")).log;
            let (registers, spilled) =
                (most(&log, " registers"), most(&log, " bytes spill stores"));
            let stack = most(&log, " bytes stack frame");
            println!(
                "{what}: {registers} registers, {stack} bytes of stack, {spilled} spilled; {plan}"
            );
            assert!(registers > 0 && spilled <= MOST_STACK && stack <= MOST_STACK, "{what}: {log}");
            assert!(
                registers.next_multiple_of(8) * threads * residents <= 65_536,
                "{what}: {registers}"
            );
        }
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
