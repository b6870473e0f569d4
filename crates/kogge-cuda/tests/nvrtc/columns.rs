//! The kernels of columns, for elements of every size.

use crate::bounds::{DEVICES, compile_lines, in_the_gate, skipped};
use kogge_core::device::{DeviceElement, DeviceOperator, DeviceType};
use kogge_core::ops::{Affine, Compose, MatMul, Matrix2, Sum};
use kogge_core::{Accumulate, Direction, Element, Kind, f16};
use kogge_cuda::{LinePlan, LineShape, Specification};

/// Rows by columns: a lane a line; by teams; cut in units of a line's tile; by vectors of
/// neighbours, few elements and as many as they may be (matrices of 32 bytes go a lane a line).
const SHAPES: [[u64; 2]; 5] =
    [[32, 1 << 16], [1 << 20, 256], [1 << 24, 1], [4, 1 << 18], [32, 1 << 22]];

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
    for (s, rows_and_columns) in SHAPES.iter().enumerate() {
        for (d, device) in DEVICES.into_iter().enumerate() {
            if !in_the_gate::<T>(s, SHAPES.len(), d) {
                continue;
            }
            let kind = [Kind::Inclusive, Kind::Exclusive][d % 2];
            let specification = Specification { kind, direction: Direction::Forward };
            let mut shape = LineShape::row_major(rows_and_columns, 0).unwrap();
            // Of a single column, elements that aren't consecutive.
            shape.line.input_stride = shape.line.input_stride.max(2);
            let (plan, resources, what) =
                compile_lines::<T, A, O>(operator, specification, &shape, device);
            let LinePlan::Columns(columns) = plan else { panic!("{plan} isn't of columns") };
            assert!(resources.registers * columns.threads <= 65_536, "{what}");
            assert!(resources.stack <= stack, "{what}");
        }
    }
}

#[test]
fn sums_of_i8() {
    compiles::<i8, i8, _>(&Sum, 320);
}

#[test]
fn sums_of_i16() {
    compiles::<i16, i16, _>(&Sum, 320);
}

#[test]
fn sums_of_f16() {
    compiles::<f16, f32, _>(&Sum, 320);
}

#[test]
fn sums_of_i32() {
    compiles::<i32, i32, _>(&Sum, 320);
}

#[test]
fn sums_of_f32() {
    compiles::<f32, f32, _>(&Sum, 320);
}

#[test]
fn sums_of_f64() {
    compiles::<f64, f64, _>(&Sum, 384);
}

#[test]
fn affine_maps_of_f32() {
    compiles::<Affine<f32>, Affine<f32>, _>(&Compose, 512);
}

/// The delay lines alone have 32 bytes by 31, which no machine has registers for.
#[test]
fn matrices_of_f64() {
    compiles::<Matrix2<f64>, Matrix2<f64>, _>(&MatMul, 3712);
}
