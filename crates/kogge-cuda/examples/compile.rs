//! How long NVRTC takes for each kernel, in a warm process: the first time, and once more. NVRTC 13
//! keeps what it has compiled, from process to process, so that the first time is one only where it
//! has yet to see the kernel.
//!
//! `cargo run --release -p kogge-cuda --example compile`; needs NVRTC (`KOGGE_NVRTC`), and no GPU.

use kogge_core::device::{DeviceElement, DeviceOperator, DeviceType};
use kogge_core::ops::{Affine, Compose, Sum};
use kogge_core::{Accumulate, Direction, Element, Kind, Problem, operator};
use kogge_cuda::{
    Arch, Brackets, Capability, Error, KeyType, LineShape, SegmentSource, Specification, Tuning,
    compile, line_source, plan, plan_lines, plan_segments, segment_source, source,
};
use std::time::Instant;

const H200: Capability = Capability::H200;
const FORWARD: Specification =
    Specification { kind: Kind::Inclusive, direction: Direction::Forward };

/// An element of a user's: what is known of a stretch of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
struct Stretch {
    total: i64,
    head: i64,
    tail: i64,
    best: i64,
}

/// The largest sum of neighbours (Bentley, 1984).
#[operator(identity = Stretch { total: 0, head: 0, tail: 0, best: 0 })]
fn Join(left: Stretch, right: Stretch) -> Stretch {
    Stretch {
        total: left.total + right.total,
        head: left.head.max(left.total + right.head),
        tail: right.tail.max(right.total + left.tail),
        best: left.best.max(right.best).max(left.tail + right.head),
    }
}

fn main() -> Result<(), Error> {
    compile("extern \"C\" __global__ void nothing() {}", Arch(90))?;
    times::<f32, f32, _>("f32 sum", Sum)?;
    times::<i32, i32, _>("i32 sum", Sum)?;
    times::<f64, f64, _>("f64 sum", Sum)?;
    times::<Affine<f32>, Affine<f32>, _>("f32 affine", Compose)?;
    times::<Stretch, Stretch, _>("user struct of 32 bytes", Join)
}

/// Prints a line for each kernel of the operator.
fn times<T, A, O>(name: &str, operator: O) -> Result<(), Error>
where
    T: DeviceElement + Accumulate<A>,
    A: Element + DeviceType,
    O: DeviceOperator<A>,
{
    let problem = |len| Problem {
        len,
        element_bytes: size_of::<T>(),
        output_bytes: size_of::<T>(),
        accumulator_bytes: size_of::<A>(),
        kind: FORWARD.kind,
        direction: FORWARD.direction,
        in_place: false,
    };
    for len in [1 << 28, 1 << 20, 1 << 10] {
        let plan = plan(&problem(len), H200, &Tuning::default())?;
        let text = source::<T, T, A, O>(&operator, FORWARD, &plan)?;
        println!("{name}, one sequence of {len}: {}", milliseconds(&text)?);
    }
    let shapes: [(&[u64], usize); 8] = [
        (&[1 << 10, 64], 1),
        (&[4, 1 << 18], 0),
        (&[1 << 20, 256], 1),
        (&[1 << 20, 257], 1),
        (&[16, 1 << 24], 1),
        (&[32, 1 << 16], 0),
        (&[1 << 16, 4096], 0),
        (&[1 << 20, 256], 0),
    ];
    for (extents, axis) in shapes {
        let shape = LineShape::row_major(extents, axis)?;
        let plan = plan_lines(&shape, &problem(0), H200, &Tuning::default())?;
        let text = line_source::<T, T, A, O>(&operator, FORWARD, &plan)?;
        println!("{name}, axis {axis} of {extents:?}, {plan}: {}", milliseconds(&text)?);
    }
    let brackets = if O::EXACT { Brackets::Any } else { Brackets::Fixed };
    let keys = SegmentSource::Keys(KeyType::Bits32);
    let offsets = SegmentSource::Offsets { segments: 1 << 20, bits: 64 };
    for (how, source) in [("key", keys), ("offsets", offsets)] {
        let plan = plan_segments(&problem(1 << 28), source, brackets, H200, &Tuning::default())?;
        for text in segment_source::<T, T, A, O>(&operator, FORWARD, source, &plan)? {
            println!("{name}, by {how}: {}", milliseconds(&text)?);
        }
    }
    Ok(())
}

/// The times of two compilations.
fn milliseconds(text: &str) -> Result<String, Error> {
    let time = || {
        let start = Instant::now();
        compile(text, Arch(90)).map(|_| start.elapsed().as_millis())
    };
    Ok(format!("{} ms, once more {} ms", time()?, time()?))
}
