//! On a GPU: scans along an axis that isn't contiguous give each line the reference's bits: a lane
//! a line, by teams and cut, at strides of any sign, with an initial value and a total for each,
//! again and again on one workspace.

mod common;

use common::{Random, expected};
use cudarc::driver::{DevicePtr, DevicePtrMut};
use kogge_core::device::{DeviceElement, DeviceOperator, DeviceType};
use kogge_core::ops::{Affine, Compose, MatMul, Matrix2, Max, Sum};
use kogge_core::{Accumulate, Direction, Element, Kind, Order, bytemuck, f16};
use kogge_cuda::{Axis, Capability, Device, Inits, LineShape, Tuning, Workspace, cudarc};

/// The device as it is, as if it were older and smaller, with small clusters and with none, without
/// teams, and with every line whole and a lane's.
fn devices() -> [Device; 6] {
    let device = Device::open(0).expect("a GPU");
    let capability = device.capability();
    let older =
        Capability { compute: (8, 0), shared_bytes: 101_376, multiprocessors: 7, ..capability };
    assert!(capability.shared_bytes >= older.shared_bytes && capability.multiprocessors >= 7);
    let cut = Tuning { strip_blocks: 0, ..Tuning::default() };
    let whole = Tuning { column_warps: 0, short_column_elements: 0, ..cut };
    let clusters = |strip_cluster| Tuning { strip_cluster, ..Tuning::default() };
    let tuned = |tuning| device.clone().with_tuning(tuning);
    let older = device.clone().with_capability(older);
    let [four, none] = [4, 1].map(|most| tuned(clusters(most)));
    [device.clone(), older, four, none, tuned(cut), tuned(whole)]
}

/// Arrays scanned along an axis that isn't contiguous.
fn shapes(order: Order) -> Vec<LineShape> {
    let dense = |extents: &[usize], axis| {
        let extents: Vec<u64> = extents.iter().map(|&len| len as u64).collect();
        LineShape::row_major(&extents, axis).expect("a shape")
    };
    let axis = |len: usize, input_stride, output_stride| Axis {
        len: len as u64,
        input_stride,
        output_stride,
    };
    let (row, segment, tile) = (order.row(), order.segment(), order.tile());
    vec![
        dense(&[row, 1000], 0),
        dense(&[3, segment + 1, 128], 1),
        dense(&[tile * 2 + 7, 96], 0),
        dense(&[row * 70 - 3, 256], 0),
        dense(&[tile * 35 - 3, 3], 0),
        dense(&[40, 16, 48], 1),
        dense(&[300, 5, 3], 1),
        dense(&[1, 256], 0),
        dense(&[0, 7], 0),
        // One line, every second element; lines that fall, with gaps; a transposition.
        LineShape { line: axis(tile * 9 + 5, 2, 3), outer: vec![] },
        LineShape { line: axis(segment * 3 - 1, -70, 64), outer: vec![axis(60, 1, 1)] },
        LineShape {
            line: axis(row * 5 + 2, 33, 1),
            outer: vec![axis(32, 1, (row * 5 + 2) as i64)],
        },
        LineShape { line: axis(row + 1, 0, 20), outer: vec![axis(4, 3, 5), axis(5, 1, 1)] },
    ]
}

/// Elements before the first and as many after it as an axis or more reach, on one side.
fn reach(shape: &LineShape, stride: fn(&Axis) -> i64) -> (usize, usize) {
    let (mut before, mut after) = (0, 0);
    for axis in shape.outer.iter().chain([&shape.line]) {
        let far = axis.len.saturating_sub(1) as i64 * stride(axis);
        if far < 0 { before -= far } else { after += far }
    }
    (before as usize, before as usize + after as usize + 1)
}

/// The places of every line's first element, in the order of their numbers.
fn firsts(shape: &LineShape, start: usize, stride: fn(&Axis) -> i64) -> Vec<i64> {
    shape.outer.iter().fold(vec![start as i64], |places, axis| {
        let along = |&place: &i64| (0..axis.len as i64).map(move |i| place + i * stride(axis));
        places.iter().flat_map(along).collect()
    })
}

struct Case<'a, O> {
    operator: &'a O,
    shape: &'a LineShape,
    kind: Kind,
    direction: Direction,
    device: &'a Device,
}

impl<O> Case<'_, O> {
    /// Scans random elements and compares the whole output, its gaps too, and the totals.
    fn check<T, U, A>(
        &self,
        workspace: &mut Workspace,
        random: &mut Random,
        make: impl Fn(&mut Random) -> T,
        make_init: impl Fn(&mut Random) -> A,
    ) where
        T: DeviceElement + Accumulate<A>,
        U: DeviceElement + Accumulate<A>,
        A: Element + DeviceType,
        O: DeviceOperator<A>,
    {
        let Self { operator, shape, kind, direction, device } = *self;
        let scan = device.prepare_lines::<T, U, A, O>(operator, kind, direction, shape).unwrap();
        let strides: [fn(&Axis) -> i64; 2] = [|axis| axis.input_stride, |axis| axis.output_stride];
        let [(first_in, len_in), (first_out, len_out)] = strides.map(|stride| reach(shape, stride));
        let input: Vec<T> = (0..len_in).map(|_| make(random)).collect();
        let firsts = [(first_in, strides[0]), (first_out, strides[1])]
            .map(|(first, stride)| firsts(shape, first, stride));
        let inits: Vec<A> = firsts[0].iter().map(|_| make_init(random)).collect();
        let one = make_init(random);

        let mut values = vec![0x5a; len_out * size_of::<U>()];
        let mut totals = vec![0x5a; inits.len() * size_of::<A>()];
        let init_kind = random.below(4);
        for (number, &init) in inits.iter().enumerate() {
            let place = |side: usize, i: u64| {
                (firsts[side][number] + i as i64 * strides[side](&shape.line)) as usize
            };
            let line: Vec<T> = (0..shape.line.len).map(|i| input[place(0, i)]).collect();
            let init = [None, Some(one), Some(one), Some(init)][init_kind];
            let (scanned, total) = expected::<T, U, A, O>(operator, &line, kind, direction, init);
            for (i, value) in scanned.chunks_exact(size_of::<U>()).enumerate() {
                values[place(1, i as u64) * size_of::<U>()..][..size_of::<U>()]
                    .copy_from_slice(value);
            }
            totals[number * size_of::<A>()..][..size_of::<A>()].copy_from_slice(&total);
        }

        let stream = workspace.stream().clone();
        let up = |bytes: &[u8]| stream.clone_htod(bytes).expect("memory");
        let from = up(bytemuck::cast_slice(&input));
        let each = up(bytemuck::cast_slice(&inits));
        let memory = up(bytemuck::bytes_of(&one));
        let mut to = up(&vec![0x5a; values.len()]);
        let mut sums = up(&vec![0x5a; totals.len().max(8)]);
        let given = [
            Inits::None,
            Inits::Value(one),
            Inits::Memory(memory.device_ptr(&stream).0),
            Inits::Each(each.device_ptr(&stream).0),
        ][init_kind];
        let source = from.device_ptr(&stream).0 + (first_in * size_of::<T>()) as u64;
        let target = to.device_ptr_mut(&stream).0 + (first_out * size_of::<U>()) as u64;
        let total = sums.device_ptr_mut(&stream).0;
        // SAFETY: all are alive until the copies back have waited, and as large as the shape
        // reaches.
        unsafe { scan.run(workspace, source, target, given, Some(total)) }.expect("a launch");
        let what = format!("{shape:?} {kind:?} {direction:?} init {init_kind}: {}", scan.plan());
        let got = stream.clone_dtoh(&to).expect("a copy");
        if let Some(i) = (0..got.len()).find(|&i| got[i] != values[i]) {
            panic!("{what}: element {} is wrong", i / size_of::<U>());
        }
        assert!(stream.clone_dtoh(&sums).expect("a copy")[..totals.len()] == totals[..], "{what}");
    }
}

fn sweep<T, U, A, O>(
    operator: &O,
    make: impl Fn(&mut Random) -> T,
    make_init: impl Fn(&mut Random) -> A,
) where
    T: DeviceElement + Accumulate<A>,
    U: DeviceElement + Accumulate<A>,
    A: Element + DeviceType,
    O: DeviceOperator<A>,
{
    let mut random = Random(size_of::<T>() as u64);
    for device in devices() {
        let mut workspace = device.workspace().expect("a stream");
        for shape in shapes(Order::of::<T>()) {
            let kind = [Kind::Inclusive, Kind::Exclusive][random.below(2)];
            let direction = [Direction::Forward, Direction::Reverse][random.below(2)];
            let case = Case { operator, shape: &shape, kind, direction, device: &device };
            for _ in 0..2 {
                case.check::<T, U, A>(&mut workspace, &mut random, &make, &make_init);
            }
        }
    }
}

/// Lines of few elements, side by side.
fn sweep_short<T, U, A, O>(
    operator: &O,
    make: impl Fn(&mut Random) -> T,
    init: impl Fn(&mut Random) -> A,
) where
    T: DeviceElement + Accumulate<A>,
    U: DeviceElement + Accumulate<A>,
    A: Element + DeviceType,
    O: DeviceOperator<A>,
{
    let mut random = Random(size_of::<T>() as u64);
    // As if every table were large.
    let tuning = Tuning { large_column_bytes: 0, ..Tuning::default() };
    let device = Device::open(0).expect("a GPU").with_tuning(tuning);
    let mut workspace = device.workspace().expect("a stream");
    for len in [2u64, 3, 4, 5, 7, 8, 11, 15, 16, 17, 31, 32] {
        let axis = |len, input_stride, output_stride| Axis { len, input_stride, output_stride };
        let many = 16 * (1 + random.below(2000)) as u64;
        let mut shapes = vec![LineShape::row_major(&[len, many], 0).expect("a shape")];
        shapes.push(LineShape::row_major(&[3, len, 48], 1).expect("a shape"));
        // Falling lines, with gaps, whose numbers go along the slower axis first.
        let outer = vec![axis(64, 1, 1), axis(8, 64, 32 * 512)];
        shapes.push(LineShape { line: axis(len, -1024, 512), outer });
        for shape in &shapes {
            let kind = [Kind::Inclusive, Kind::Exclusive][random.below(2)];
            let direction = [Direction::Forward, Direction::Reverse][random.below(2)];
            let case = Case { operator, shape, kind, direction, device: &device };
            case.check::<T, U, A>(&mut workspace, &mut random, &make, &init);
        }
    }
}

/// NaNs too, of halves, by an operator that keeps them.
#[test]
fn short_columns() {
    sweep_short::<f32, f32, f32, _>(&Sum, small, small);
    sweep_short::<i8, i8, i8, _>(&Sum, |r| r.next() as i8, |r| r.next() as i8);
    sweep_short::<f16, f16, f32, _>(&Sum, |r| f16::from_f32(small(r)), small);
    let half_or_nan = |r: &mut Random| match r.below(1000) {
        0 => f16::from_bits(0x7c01 + r.below(0x3fe) as u16),
        _ => f16::from_f32(small(r)),
    };
    sweep_short::<f16, f16, f32, _>(&Max, half_or_nan, small);
    let make = |r: &mut Random| Affine { a: small(r), b: small(r) };
    sweep_short::<Affine<f32>, Affine<f32>, Affine<f32>, _>(&Compose, make, make);
    sweep_short::<f32, f32, f64, _>(&Max, small, |r| f64::from(small(r)));
}

/// Each kernel, once: short enough for the tools that watch every access.
fn briefly(device: Device) {
    let order = Order::of::<f32>();
    let (row, segment) = (order.row() as u64, order.segment() as u64);
    let mut random = Random(9);
    let capability = device.capability();
    let few = Capability { multiprocessors: capability.multiprocessors.min(9), ..capability };
    let device = device.with_capability(few);
    let mut workspace = device.workspace().expect("a stream");
    let shapes =
        [[row, 100], [segment * 3 + 5, 64], [16, 4000], [5, 400], [segment * 9 + row - 3, 256]];
    for extents in shapes {
        let shape = LineShape::row_major(&extents, 0).expect("a shape");
        let (kind, direction) = (Kind::Inclusive, Direction::Forward);
        let case = Case { operator: &Sum, shape: &shape, kind, direction, device: &device };
        case.check::<f32, f32, f32>(&mut workspace, &mut random, small, small);
    }
}

#[test]
fn briefly_as_it_is() {
    let [device, _, four, none, cut, whole] = devices();
    [device, four, none, cut, whole].into_iter().for_each(briefly);
}

#[test]
fn briefly_without_bulk() {
    let [_, older, ..] = devices();
    briefly(older);
}

fn small(random: &mut Random) -> f32 {
    (random.below(2001) as f32 - 1000.0) / 1024.0
}

#[test]
fn sums_of_f32() {
    sweep::<f32, f32, f32, _>(&Sum, small, small);
}

#[test]
fn sums_of_i8() {
    sweep::<i8, i8, i8, _>(&Sum, |r| r.next() as i8, |r| r.next() as i8);
}

#[test]
fn sums_of_f16() {
    sweep::<f16, f16, f32, _>(&Sum, |r| f16::from_f32(small(r)), small);
}

#[test]
fn maxima_of_f32_in_f64() {
    sweep::<f32, f32, f64, _>(&Max, small, |r| f64::from(small(r)));
}

#[test]
fn affine_maps_of_f32() {
    let make = |r: &mut Random| Affine { a: small(r), b: small(r) };
    sweep::<Affine<f32>, Affine<f32>, Affine<f32>, _>(&Compose, make, make);
}

#[test]
fn matrices_of_f64() {
    let make = |r: &mut Random| {
        let mut x = || f64::from(small(r)) * 1.25;
        Matrix2 { m00: x(), m01: x(), m10: x(), m11: x() }
    };
    sweep::<Matrix2<f64>, Matrix2<f64>, Matrix2<f64>, _>(&MatMul, make, make);
}
