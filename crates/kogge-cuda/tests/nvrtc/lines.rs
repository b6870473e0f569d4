//! The kernels of lines, for elements of every size.

use crate::bounds::{DEVICES, compile_lines, in_the_gate, skipped};
use kogge_core::device::{DeviceElement, DeviceOperator, DeviceType};
use kogge_core::ops::{Affine, Compose, MatMul, Matrix2, Sum};
use kogge_core::{Accumulate, Direction, Element, Kind, f16};
use kogge_cuda::{LinePlan, LineShape, Specification};

/// Lines by elements: in lots, of whole chunks and not, in rounds, and a row a warp.
const SHAPES: [[u64; 2]; 4] = [[1 << 20, 256], [1 << 20, 257], [16, 1 << 24], [999, 64]];
const WAYS: [(Kind, Direction); 4] = [
    (Kind::Inclusive, Direction::Forward),
    (Kind::Exclusive, Direction::Reverse),
    (Kind::Exclusive, Direction::Forward),
    (Kind::Inclusive, Direction::Reverse),
];

/// Compiles the kernels for elements `T`, and checks what a thread takes: at most `stack` bytes of
/// local memory.
fn compiles<T, A, O>(operator: &O, stack: u32)
where
    T: DeviceElement + Accumulate<A>,
    A: Element + DeviceType,
    O: DeviceOperator<A>,
{
    if skipped() {
        return;
    }
    for (s, extents) in SHAPES.iter().enumerate() {
        for (d, device) in DEVICES.into_iter().enumerate() {
            if !in_the_gate::<T>(s, SHAPES.len(), d) {
                continue;
            }
            let (kind, direction) = WAYS[d];
            let specification = Specification { kind, direction };
            let shape = LineShape::row_major(extents, 1).unwrap();
            let (plan, resources, what) =
                compile_lines::<T, A, O>(operator, specification, &shape, device);
            let LinePlan::Contiguous(lines) = plan else {
                panic!("{plan} isn't of contiguous lines")
            };
            assert!(resources.registers * lines.threads <= 65_536, "{what}");
            assert!(lines.shared_bytes <= device.shared_bytes, "{what}");
            assert!(resources.stack <= stack, "{what}");
        }
    }
}

#[test]
fn sums_of_i8() {
    compiles::<i8, i8, _>(&Sum, 64);
}

#[test]
fn sums_of_i16() {
    compiles::<i16, i16, _>(&Sum, 64);
}

#[test]
fn sums_of_f16() {
    compiles::<f16, f32, _>(&Sum, 96);
}

#[test]
fn sums_of_i32() {
    compiles::<i32, i32, _>(&Sum, 96);
}

#[test]
fn sums_of_f32() {
    compiles::<f32, f32, _>(&Sum, 192);
}

#[test]
fn sums_of_f64() {
    compiles::<f64, f64, _>(&Sum, 256);
}

#[test]
fn affine_maps_of_f32() {
    compiles::<Affine<f32>, Affine<f32>, _>(&Compose, 256);
}

#[test]
fn matrices_of_f64() {
    compiles::<Matrix2<f64>, Matrix2<f64>, _>(&MatMul, 2048);
}
