//! The kernels of lines, for elements of every size: each shape for sm_90, and of the other
//! architectures one each.

use crate::common::nvrtc::{DEVICES, Resources, flag, skipped};
use kogge_core::device::{DeviceElement, DeviceOperator, DeviceType};
use kogge_core::ops::{Affine, Compose, MatMul, Matrix2, Sum};
use kogge_core::{Accumulate, Direction, Element, Kind, Problem, f16};
use kogge_cuda::{
    Arch, LinePlan, LineShape, Specification, Tuning, compile, line_source, plan_lines,
};

/// Lines by elements: in batches, and in rounds.
const SHAPES: [[u64; 2]; 2] = [[1 << 20, 256], [16, 1 << 24]];
const WAYS: [(Kind, Direction); 4] = [
    (Kind::Inclusive, Direction::Forward),
    (Kind::Exclusive, Direction::Reverse),
    (Kind::Exclusive, Direction::Forward),
    (Kind::Inclusive, Direction::Reverse),
];

/// Compiles the kernels for elements `T`, and checks what a thread takes: at most `stack` bytes of local
/// memory.
fn compiles<T, A, O>(operator: &O, stack: u32)
where
    T: DeviceElement + Accumulate<A>,
    A: Element + DeviceType,
    O: DeviceOperator<A>,
{
    if skipped() {
        return;
    }
    for (i, (extents, device)) in
        SHAPES.iter().flat_map(|shape| DEVICES.map(|device| (shape, device))).enumerate()
    {
        let (shape, d) = (i / DEVICES.len(), i % DEVICES.len());
        let turn = shape + d + size_of::<T>().ilog2() as usize;
        if d != 1 && !turn.is_multiple_of(SHAPES.len()) && !flag("KOGGE_FULL_MATRIX") {
            continue;
        }
        let (kind, direction) = WAYS[i % WAYS.len()];
        let problem = Problem {
            len: 0,
            element_bytes: size_of::<T>(),
            output_bytes: size_of::<T>(),
            accumulator_bytes: size_of::<A>(),
            kind,
            direction,
            in_place: false,
        };
        let shape = LineShape::row_major(extents, 1).unwrap();
        let plan = plan_lines(&shape, &problem, device, &Tuning::default()).unwrap();
        let LinePlan::Contiguous(lines) = plan else { panic!("{plan} isn't of contiguous lines") };
        let text = line_source::<T, T, A, O>(operator, Specification { kind, direction }, &plan);
        let (major, minor) = device.compute;
        let compiled = compile(&text.unwrap(), Arch(major * 10 + minor)).unwrap();
        let resources = Resources::of(&compiled);
        let what =
            format!("sm_{major}{minor} {} of {plan}: {resources}", std::any::type_name::<T>());
        if flag("KOGGE_KERNEL_TABLE") {
            println!("{what}, cubin {}", compiled.cubin.len());
        }
        assert!(resources.registers > 0, "no registers in the log:\n{}", compiled.log);
        assert!(resources.registers * lines.threads <= 65_536, "{what}");
        assert!(lines.shared_bytes <= device.shared_bytes, "{what}");
        assert!(resources.stack <= stack, "{what}");
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
