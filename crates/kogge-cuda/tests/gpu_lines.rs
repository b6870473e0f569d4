//! On a GPU: every line of consecutive elements has the reference's bits, whatever its length, its
//! pitch and the axes across, in place and not, with its own initial value and its total; and
//! nothing else is written.

mod common;

use common::{Random, expected};
use cudarc::driver::{CudaSlice, DevicePtrMut};
use kogge_core::device::{DeviceElement, DeviceOperator, DeviceType};
use kogge_core::ops::{Affine, Compose, Max, Sum};
use kogge_core::{Accumulate, Direction, Element, Kind, Order, bytemuck, f16, operator};
use kogge_cuda::{Axis, Capability, Device, Inits, LinePlan, LineShape, Tuning, Workspace, cudarc};
use std::sync::OnceLock;

/// Not associative: its value tells the brackets.
#[operator(identity = 0)]
fn Brackets(left: i64, right: i64) -> i64 {
    left * 3 + right
}

fn device() -> Device {
    static DEVICE: OnceLock<Device> = OnceLock::new();
    DEVICE.get_or_init(|| Device::open(0).expect("a GPU")).clone()
}

/// One without bulk copies, in a smaller ring.
fn as_if_older() -> Device {
    let capability = device().capability();
    device().with_capability(Capability { compute: (8, 0), shared_bytes: 166_912, ..capability })
}

/// One that takes no table for small.
fn without_short(device: Device) -> Device {
    device.with_tuning(Tuning { short_line_bytes: 0, ragged_line_bytes: 0, ..Tuning::default() })
}

/// About so many lines, dense or apart, along one axis or three, in any order and direction.
fn random_shape(random: &mut Random, len: usize, lines: usize) -> LineShape {
    let mut extents = if random.below(3) == 0 { vec![2, 3, lines / 6] } else { vec![lines] };
    extents.iter_mut().for_each(|extent| *extent = (*extent).max(1));
    let gap = [0, 0, 4, 1, 7][random.below(5)];
    let (mut strides, mut outer) = ([len as i64; 2], Vec::new());
    for len in extents {
        strides = strides.map(|stride| stride + gap);
        let sign = if random.below(5) == 0 { -1 } else { 1 };
        let [input_stride, output_stride] = strides.map(|stride| stride * sign);
        outer.push(Axis { len: len as u64, input_stride, output_stride });
        strides = strides.map(|stride| stride * len as i64);
    }
    if random.below(2) == 0 {
        outer.reverse();
    }
    let line = Axis { len: len as u64, input_stride: 1, output_stride: 1 };
    LineShape { line, outer }
}

/// The first elements of the lines, by number, counted from the lowest; and how far that one is
/// from that of index 0; and elements in all.
fn starts(shape: &LineShape) -> (Vec<usize>, usize, usize) {
    let mut starts = vec![0];
    for axis in &shape.outer {
        let along = |start: i64| (0..axis.len as i64).map(move |i| start + i * axis.input_stride);
        starts = starts.into_iter().flat_map(along).collect();
    }
    let lowest = starts.iter().copied().min().unwrap_or(0);
    let starts: Vec<usize> = starts.into_iter().map(|start| (start - lowest) as usize).collect();
    let end = starts.iter().copied().max().unwrap_or(0) + shape.line.len as usize;
    (starts, -lowest as usize, end)
}

fn upload(workspace: &Workspace, bytes: &[u8], offset: usize) -> CudaSlice<u8> {
    let mut host = vec![0xc3; offset + bytes.len() + 64];
    host[offset..][..bytes.len()].copy_from_slice(bytes);
    workspace.stream().clone_htod(&host).expect("memory")
}
fn address(workspace: &Workspace, memory: &mut CudaSlice<u8>, offset: usize) -> u64 {
    memory.device_ptr_mut(workspace.stream()).0 + offset as u64
}
fn download(workspace: &Workspace, memory: &CudaSlice<u8>, offset: usize, len: usize) -> Vec<u8> {
    let host = workspace.stream().clone_dtoh(memory).expect("a copy");
    let outside = host[..offset].iter().chain(&host[offset + len..]);
    assert!(outside.into_iter().all(|&byte| byte == 0xc3), "a byte outside was written");
    host[offset..][..len].to_vec()
}

/// Scans a shape in some random way and compares.
fn check<T, U, A, O>(
    device: &Device,
    workspace: &mut Workspace,
    operator: &O,
    random: &mut Random,
    shape: &LineShape,
    make: &impl Fn(&mut Random) -> T,
) where
    T: DeviceElement + Accumulate<A>,
    U: DeviceElement + Accumulate<A>,
    A: Element + DeviceType,
    O: DeviceOperator<A>,
{
    let kind = [Kind::Inclusive, Kind::Exclusive][random.below(2)];
    let direction = [Direction::Forward, Direction::Reverse][random.below(2)];
    let (starts, zero, extent) = starts(shape);
    let len = shape.line.len as usize;
    let input: Vec<T> = (0..extent).map(|_| make(random)).collect();
    let inits: Vec<A> = starts.iter().map(|_| make(random).widen()).collect();
    let offset =
        |random: &mut Random, align: usize| random.below(2) * random.below(16 / align) * align;
    let (at, to) = (offset(random, align_of::<T>()), offset(random, align_of::<U>()));
    let in_place = size_of::<T>() == size_of::<U>() && random.below(3) == 0;
    let mut source = upload(workspace, bytemuck::cast_slice(&input), at);
    let mut values = vec![0x5a; extent * size_of::<U>()];
    let mut target = upload(workspace, &values, to);
    if in_place {
        values.copy_from_slice(bytemuck::cast_slice(&input));
    }
    let mut memory = upload(workspace, bytemuck::cast_slice(&inits), 0);
    let mut totals = vec![0x5a; starts.len() * size_of::<A>()];
    let mut sums = upload(workspace, &totals, 0);
    let which = random.below(4);
    let given = match which {
        0 => Inits::None,
        1 => Inits::Value(inits[0]),
        2 => Inits::Memory(address(workspace, &mut memory, 0)),
        _ => Inits::Each(address(workspace, &mut memory, 0)),
    };
    let scan =
        device.prepare_lines::<T, U, A, O>(operator, kind, direction, shape).expect("a kernel");
    assert!(matches!(scan.plan(), LinePlan::Contiguous(_)), "{}", scan.plan());
    let from = address(workspace, &mut source, at + zero * size_of::<T>());
    let result = match in_place {
        true => from,
        false => address(workspace, &mut target, to + zero * size_of::<U>()),
    };
    let total = address(workspace, &mut sums, 0);
    // SAFETY: all memory is alive until the copies back have waited.
    unsafe { scan.run(workspace, from, result, given, Some(total)) }.expect("a launch");
    for (number, &start) in starts.iter().enumerate() {
        let init = match which {
            0 => None,
            3 => Some(inits[number]),
            _ => Some(inits[0]),
        };
        let line = &input[start..][..len];
        let (scanned, all) = expected::<T, U, A, O>(operator, line, kind, direction, init);
        values[start * size_of::<U>()..][..scanned.len()].copy_from_slice(&scanned);
        totals[number * size_of::<A>()..][..all.len()].copy_from_slice(&all);
    }
    let what = || {
        format!(
            "{kind:?} {direction:?} {shape:?} inits {which} at {at} {to} {in_place}: {}",
            scan.plan()
        )
    };
    let got = match in_place {
        true => download(workspace, &source, at, values.len()),
        false => download(workspace, &target, to, values.len()),
    };
    if let Some(i) = (0..values.len()).find(|&i| values[i] != got[i]) {
        panic!("{}: element {} is wrong", what(), i / size_of::<U>());
    }
    assert!(download(workspace, &sums, 0, totals.len()) == totals, "{}: a total is wrong", what());
}

/// Short lines of small tables.
fn sweep_short<T, U, A, O>(operator: &O, make: &impl Fn(&mut Random) -> T)
where
    T: DeviceElement + Accumulate<A>,
    U: DeviceElement + Accumulate<A>,
    A: Element + DeviceType,
    O: DeviceOperator<A>,
{
    let order = Order::of::<T>();
    let tuning = Tuning { ragged_line_bytes: 64 << 20, ..Tuning::default() };
    let device = device().with_tuning(tuning);
    let mut random = Random(size_of::<T>() as u64);
    let mut workspace = device.workspace().expect("a workspace");
    let mut lens = vec![1, 3, 100, order.segment() - 1, order.segment()];
    for level in [order.chunk(), order.row(), order.row() * 3] {
        lens.extend([level - 1, level, level + 1]);
    }
    lens.retain(|&len| len > 0);
    for len in lens {
        for lines in [1, 7, 1 + random.below(3000)] {
            let shape = random_shape(&mut random, len, lines);
            check::<T, U, A, O>(&device, &mut workspace, operator, &mut random, &shape, make);
        }
    }
}

fn sweep<T, U, A, O>(operator: O, make: impl Fn(&mut Random) -> T)
where
    T: DeviceElement + Accumulate<A>,
    U: DeviceElement + Accumulate<A>,
    A: Element + DeviceType,
    O: DeviceOperator<A>,
{
    let order = Order::of::<T>();
    let mut random = Random(size_of::<T>() as u64);
    for device in [without_short(device()), without_short(as_if_older())] {
        let mut workspace = device.workspace().expect("a workspace");
        let mut lens = vec![1, 3, 100, 256, 1000, 1001];
        for level in [order.chunk(), order.row(), order.segment(), order.tile()] {
            lens.extend([level - 1, level, level + 1, level * 3 + 5]);
        }
        lens.push(order.block() + order.tile() + 77);
        lens.retain(|&len| len > 0);
        for len in lens {
            let most = ((4 << 20) / len / size_of::<T>()).clamp(2, 20_000);
            for lines in [1, 1 + random.below(most), most] {
                let shape = random_shape(&mut random, len, lines);
                check::<T, U, A, O>(&device, &mut workspace, &operator, &mut random, &shape, &make);
            }
        }
    }
}

fn small(random: &mut Random) -> f32 {
    (random.below(2001) as f32 - 1000.0) / 1024.0
}

#[test]
fn brackets_of_i64() {
    sweep::<i64, i64, i64, _>(Brackets, |r| r.next() as i64);
}

#[test]
fn sums_of_f32() {
    sweep::<f32, f32, f32, _>(Sum, |r| small(r) * (1u64 << r.below(40)) as f32);
}

#[test]
fn sums_of_i8() {
    sweep::<i8, i8, i8, _>(Sum, |r| r.next() as i8);
}

#[test]
fn sums_of_f16_in_f32() {
    sweep::<f16, f16, f32, _>(Sum, |r| f16::from_f32(small(r)));
}

#[test]
fn sums_of_f16_as_f32() {
    sweep::<f16, f32, f32, _>(Sum, |r| f16::from_f32(small(r)));
}

#[test]
fn affine_maps_of_f32() {
    sweep::<Affine<f32>, Affine<f32>, Affine<f32>, _>(Compose, |r| Affine {
        a: small(r),
        b: small(r) * 1000.0,
    });
}

/// Each kernel, on three multiprocessors: short enough for the tools that watch every access.
fn briefly(device: Device) {
    let order = Order::of::<f32>();
    let mut random = Random(8);
    let capability = Capability { multiprocessors: 3, ..device.capability() };
    let device = device.with_capability(capability);
    let mut workspace = device.workspace().expect("a workspace");
    for (len, lines) in [
        (7, 3000),
        (256, 200),
        (1001, 50),
        (order.segment() * 2, 30),
        (order.tile(), 20),
        (order.tile() * 3 + 5, 6),
    ] {
        let shape = random_shape(&mut random, len, lines);
        check::<f32, f32, f32, _>(&device, &mut workspace, &Sum, &mut random, &shape, &small);
    }
}

#[test]
fn briefly_as_it_is() {
    briefly(device());
    briefly(without_short(device()));
}

#[test]
fn briefly_without_bulk() {
    briefly(without_short(as_if_older()));
}

/// NaNs too, of halves, by an operator that keeps them.
#[test]
fn short_lines() {
    sweep_short::<i64, i64, i64, _>(&Brackets, &|r| r.next() as i64);
    sweep_short::<f32, f32, f32, _>(&Sum, &|r| small(r) * (1u64 << r.below(40)) as f32);
    sweep_short::<i8, i8, i8, _>(&Sum, &|r| r.next() as i8);
    sweep_short::<f16, f16, f32, _>(&Sum, &|r| f16::from_f32(small(r)));
    sweep_short::<f16, f16, f32, _>(&Max, &half_or_nan);
    sweep_short::<f16, f32, f32, _>(&Sum, &|r| f16::from_f32(small(r)));
    let make = |r: &mut Random| Affine { a: small(r), b: small(r) * 1000.0 };
    sweep_short::<Affine<f32>, Affine<f32>, Affine<f32>, _>(&Compose, &make);
}

fn half_or_nan(random: &mut Random) -> f16 {
    match random.below(1000) {
        0 => f16::from_bits(0x7c01 + random.below(0x3fe) as u16),
        _ => f16::from_f32(small(random)),
    }
}

/// Ten million lines of a few elements, and one line.
#[test]
fn many_lines_and_one() {
    let device = device();
    let mut workspace = device.workspace().expect("a workspace");
    let mut random = Random(5);
    for (lines, len) in [(10_000_000, 3), (1, 1 << 24), (2, (1 << 23) + 1)] {
        let axis = |len, stride| Axis { len, input_stride: stride, output_stride: stride };
        let shape = LineShape { line: axis(len, 1), outer: vec![axis(lines, len as i64)] };
        check::<f32, f32, f32, _>(&device, &mut workspace, &Sum, &mut random, &shape, &small);
    }
}

/// Empty lines have totals: their inits, or the identity.
#[test]
fn empty_lines_have_totals() {
    let device = device();
    let mut workspace = device.workspace().expect("a workspace");
    let mut random = Random(6);
    let axis = |len, stride| Axis { len, input_stride: stride, output_stride: stride };
    for _ in 0..8 {
        let shape = LineShape { line: axis(0, 1), outer: vec![axis(500, 1)] };
        check::<f32, f32, f32, _>(&device, &mut workspace, &Sum, &mut random, &shape, &small);
    }
}
