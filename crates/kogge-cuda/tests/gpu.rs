//! On a GPU: every operator, element, kind and direction gives the reference's bits, at boundary
//! lengths, at any alignment, in place and not, from graphs, on several streams, on the path for older
//! devices; and errors are errors.
//!
//! `KOGGE_SOAK=n` makes the soak n scans long.

mod common;

use common::{Random, boundary_lengths, expected};
use cudarc::driver::{CudaSlice, DevicePtr, DevicePtrMut, sys};
use kogge_core::device::{DeviceElement, DeviceOperator, DeviceType};
use kogge_core::ops::*;
use kogge_core::{Accumulate, Direction, Element, Kind, Order, bf16, bytemuck, f16};
use kogge_cuda::archive::Archive;
use kogge_cuda::{Buffer, Capability, Error, Init, Kernel, Scan, Tuning, Workspace, cudarc};
use std::sync::{Arc, OnceLock, RwLock};

/// Held alone while a graph is captured, which other tests' allocations would end.
static CAPTURE: RwLock<()> = RwLock::new(());

fn device() -> kogge_cuda::Device {
    static DEVICE: OnceLock<kogge_cuda::Device> = OnceLock::new();
    DEVICE.get_or_init(|| kogge_cuda::Device::open(0).expect("a GPU")).clone()
}

/// One whose thread blocks take whole tiles even of the shortest sequences.
fn by_tiles(device: kogge_cuda::Device) -> kogge_cuda::Device {
    device.with_tuning(Tuning { few_segments: 0, ..Tuning::default() })
}

/// One that goes by segments, whatever the elements.
fn by_segments(device: kogge_cuda::Device) -> kogge_cuda::Device {
    let tuning = Tuning { tile_blocks: 0, rounds_bytes: u64::MAX, ..Tuning::default() };
    device.with_tuning(tuning)
}

/// One that goes in rounds from the first element on, by asynchronous loads in a smaller ring.
fn as_if_older(device: kogge_cuda::Device) -> kogge_cuda::Device {
    let tuning = Tuning { tile_blocks: 0, rounds_bytes: 0, ..Tuning::default() };
    let device = device.with_tuning(tuning);
    let capability = device.capability();
    device.with_capability(Capability { compute: (8, 0), shared_bytes: 166_912, ..capability })
}

/// Device memory of some bytes, from an offset on, with a guard around.
struct Guarded {
    memory: CudaSlice<u8>,
    start: usize,
    len: usize,
}

const GUARD: usize = 512;

impl Guarded {
    fn new(workspace: &Workspace, bytes: &[u8], offset: usize) -> Self {
        let mut host = vec![0xc3; bytes.len() + 2 * GUARD + offset];
        host[GUARD + offset..][..bytes.len()].copy_from_slice(bytes);
        let memory = workspace.stream().clone_htod(&host).expect("memory");
        Self { memory, start: GUARD + offset, len: bytes.len() }
    }

    fn address(&mut self, workspace: &Workspace) -> u64 {
        self.memory.device_ptr_mut(workspace.stream()).0 + self.start as u64
    }

    fn take(&self, workspace: &Workspace) -> Vec<u8> {
        let host = workspace.stream().clone_dtoh(&self.memory).expect("a copy");
        let outside = host[..self.start].iter().chain(&host[self.start + self.len..]);
        assert!(outside.into_iter().all(|&byte| byte == 0xc3), "a byte outside was written");
        host[self.start..][..self.len].to_vec()
    }
}

/// Runs a prepared scan in some random way and compares.
fn check<T, U, A, O>(
    scan: &Scan<T, U, A>,
    operator: &O,
    (kind, direction): (Kind, Direction),
    workspace: &mut Workspace,
    random: &mut Random,
    input: &[T],
    some_init: A,
) where
    T: DeviceElement + Accumulate<A>,
    U: DeviceElement + Accumulate<A>,
    A: Element + DeviceType,
    O: DeviceOperator<A>,
{
    let mut offset =
        |align: usize| if random.below(2) == 0 { 0 } else { random.below(16 / align) * align };
    let offsets = [offset(align_of::<T>()), offset(align_of::<U>())];
    let in_place = size_of::<T>() == size_of::<U>() && random.below(3) == 0;
    let mut from = Guarded::new(workspace, bytemuck::cast_slice(input), offsets[0]);
    let poison = vec![0x5a; input.len() * size_of::<U>()];
    let mut to = Guarded::new(workspace, &poison, offsets[1]);
    let mut total = Guarded::new(workspace, &vec![0x5a; size_of::<A>()], 0);
    let mut memory = Guarded::new(workspace, bytemuck::bytes_of(&some_init), 0);
    let init = match random.below(3) {
        0 => Init::None,
        1 => Init::Value(some_init),
        _ => Init::Memory(memory.address(workspace)),
    };
    let source = from.address(workspace);
    let target = if in_place { source } else { to.address(workspace) };
    let sum = total.address(workspace);
    // SAFETY: all four are alive until the copies back have waited.
    unsafe { scan.run(workspace, source, target, init, Some(sum)) }.expect("a launch");
    let first = (!matches!(init, Init::None)).then_some(some_init);
    let (values, all) = expected::<T, U, A, O>(operator, input, kind, direction, first);
    let got = if in_place { &from } else { &to }.take(workspace);
    let what = || {
        format!(
            "{kind:?} {direction:?} {} init {} {offsets:?} {in_place}",
            input.len(),
            first.is_some()
        )
    };
    if let Some(i) = (0..values.len()).find(|&i| values[i] != got[i]) {
        panic!("{}: element {} is wrong", what(), i / size_of::<U>());
    }
    assert_eq!(total.take(workspace), all, "{}: the total is wrong", what());
}

const WAYS: [(Kind, Direction); 4] = [
    (Kind::Inclusive, Direction::Forward),
    (Kind::Exclusive, Direction::Forward),
    (Kind::Inclusive, Direction::Reverse),
    (Kind::Exclusive, Direction::Reverse),
];

/// All kinds and directions at boundary lengths, on this device and as if it were older.
fn sweep<T, U, A, O>(operator: O, init: A, make: impl Fn(&mut Random) -> T)
where
    T: DeviceElement + Accumulate<A>,
    U: DeviceElement + Accumulate<A>,
    A: Element + DeviceType,
    O: DeviceOperator<A>,
{
    let name = std::any::type_name::<(T, U, A, O)>();
    let _shared = CAPTURE.read();
    let mut random = Random(name.bytes().map(u64::from).sum());
    let order = Order::of::<T>();
    let rounds = (16 << 20) / size_of::<T>();
    let data: Vec<T> = (0..rounds + order.block()).map(|_| make(&mut random)).collect();
    for device in [device(), by_tiles(device()), as_if_older(device())] {
        let mut workspace = device.workspace().expect("a workspace");
        for way in WAYS {
            let mut lengths = boundary_lengths(order, order.tile() * 3 + 1);
            lengths.extend([
                rounds,
                rounds - order.tile() + 1,
                rounds + random.below(order.block()),
            ]);
            for n in lengths {
                let scan = device
                    .prepare::<T, U, A, O>(&operator, way.0, way.1, n as u64)
                    .expect("a kernel");
                let from = random.below(data.len() - n);
                check(
                    &scan,
                    &operator,
                    way,
                    &mut workspace,
                    &mut random,
                    &data[from..from + n],
                    init,
                );
            }
        }
    }
}

fn float(random: &mut Random) -> f32 {
    match random.below(16) {
        0 => -0.0,
        1 => 0.0,
        _ => (random.below(2001) as f32 - 1000.0) / 1024.0 * (1u64 << random.below(40)) as f32,
    }
}
fn near_one(random: &mut Random) -> f32 {
    (random.below(2001) as f32 - 1000.0) / 800.0
}
fn with_nans(random: &mut Random) -> f32 {
    if random.below(9) == 0 {
        f32::from_bits(0x7fc0_0000 | random.below(99) as u32)
    } else {
        float(random)
    }
}

/// A struct of a user's.
#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
struct Moments {
    count: u32,
    low: i32,
    high: i32,
    sum: f32,
}
#[kogge_core::operator(identity = Moments { count: 0, low: i32::MAX, high: i32::MIN, sum: -0.0 })]
fn Together(left: Moments, right: Moments) -> Moments {
    let weight = if left.count > right.count { 0.5 } else { 1.0 };
    Moments {
        count: left.count + right.count,
        low: left.low.min(right.low),
        high: left.high.max(right.high),
        sum: left.sum * weight + right.sum,
    }
}
#[kogge_core::operator(identity = [0.0; 3])]
fn Turned(left: [f32; 3], right: [f32; 3]) -> [f32; 3] {
    let mut sum = right;
    for i in 0..3 {
        sum[i] = left[i] * 0.5 + right[i];
    }
    sum
}

macro_rules! sweeps {
    ($($name:ident: $t:ty => $u:ty, $a:ty, $operator:expr, $init:expr, $make:expr;)+) => {$(
        #[test]
        fn $name() {
            sweep::<$t, $u, $a, _>($operator, $init, $make);
        }
    )+};
}

sweeps! {
    sum_i8: i8 => i8, i8, Sum, 9, |r| r.next() as i8;
    sum_u16: u16 => u16, u16, Sum, 9, |r| r.next() as u16;
    sum_i32: i32 => i32, i32, Sum, 9, |r| r.next() as i32;
    sum_u64: u64 => u64, u64, Sum, 9, |r| r.next();
    sum_f16: f16 => f16, f32, Sum, 0.3, |r| f16::from_f32(float(r).clamp(-6e4, 6e4));
    sum_bf16: bf16 => bf16, f32, Sum, 0.3, |r| bf16::from_f32(float(r));
    sum_f32: f32 => f32, f32, Sum, 0.3, float;
    sum_f64: f64 => f64, f64, Sum, 0.3, |r| float(r) as f64 / 3.0;
    sum_f32_in_f64: f32 => f32, f64, Sum, 0.3, float;
    sum_u8_to_u32: u8 => u32, u32, Sum, 7, |r| r.next() as u8;
    sum_i16_in_f32: i16 => i16, f32, Sum, 7.0, |r| (r.below(90) as i16) - 30;
    product_i32: i32 => i32, i32, Product, 3, |r| r.next() as i32 | 1;
    sum_f16_in_f64: f16 => f16, f64, Sum, 0.3, |r| f16::from_f32(float(r).clamp(-6e4, 6e4));
    sum_bf16_in_f64: bf16 => bf16, f64, Sum, 0.3, |r| bf16::from_f32(float(r));
    max_f32_in_f64: f32 => f32, f64, Max, -1e9, with_nans;
    min_i8: i8 => i8, i8, Min, 100, |r| r.next() as i8;
    min_f32: f32 => f32, f32, Min, 1e9, with_nans;
    max_f32: f32 => f32, f32, Max, -1e9, with_nans;
    max_f64: f64 => f64, f64, Max, -1e9, |r| float(r) as f64;
    min_u8: u8 => u8, u8, Min, 200, |r| r.next() as u8;
    max_f16: f16 => f16, f32, Max, -1e9, |r| f16::from_f32(float(r).clamp(-6e4, 6e4));
    bit_xor_u8: u8 => u8, u8, BitXor, 9, |r| r.next() as u8;
    bit_and_u32: u32 => u32, u32, BitAnd, !0, |r| !(1 << r.below(4000).min(31));
    bit_or_i64: i64 => i64, i64, BitOr, 0, |r| 1 << r.below(64);
    all_u8: u8 => u8, u8, All, 1, |r| (r.below(5000) > 0) as u8;
    any_i16: i16 => i16, i16, Any, 0, |r| (r.below(5000) == 0) as i16;
    last_valid_f32: f32 => f32, f32, LastValid, 2.0, with_nans;
    last_valid_flagged: Flagged<i16> => Flagged<i16>, Flagged<i16>, LastValid, Flagged::new(5, true),
        |r| Flagged::new(r.next() as i16, r.below(9) == 0);
    compose_f32: Affine<f32> => Affine<f32>, Affine<f32>, Compose, Affine { a: 0.5, b: 2.0 },
        |r| Affine { a: near_one(r), b: float(r) };
    compose_i64: Affine<i64> => Affine<i64>, Affine<i64>, Compose, Affine { a: 3, b: 2 },
        |r| Affine { a: r.next() as i64, b: r.next() as i64 };
    matmul_f32: Matrix2<f32> => Matrix2<f32>, Matrix2<f32>, MatMul,
        Matrix2 { m00: 1.5, m01: -0.25, m10: 0.125, m11: 0.5 },
        |r| Matrix2 { m00: near_one(r), m01: near_one(r), m10: near_one(r), m11: near_one(r) };
    matmul_u64: Matrix2<u64> => Matrix2<u64>, Matrix2<u64>, MatMul,
        Matrix2 { m00: 1, m01: 2, m10: 3, m11: 4 },
        |r| Matrix2 { m00: r.next(), m01: r.next(), m10: r.next(), m11: r.next() };
    arg_min_f32: Indexed<f32> => Indexed<f32>, Indexed<f32>, ArgMin, Indexed::new(3.0, 1 << 40),
        |r| Indexed::new(with_nans(r), r.next() >> 40);
    arg_max_i64: Indexed<i64> => Indexed<i64>, Indexed<i64>, ArgMax, Indexed::new(3, 1 << 40),
        |r| Indexed::new(r.next() as i64 >> 50, r.next() >> 40);
    arg_min_f64: Indexed<f64> => Indexed<f64>, Indexed<f64>, ArgMin, Indexed::new(3.0, 1 << 40),
        |r| Indexed::new(with_nans(r) as f64, r.next() >> 40);
    own_struct: Moments => Moments, Moments, Together, Moments { count: 1, low: 5, high: -5, sum: 2.0 },
        |r| Moments { count: 1, low: r.next() as i32, high: r.next() as i32, sum: near_one(r) };
    own_array: [f32; 3] => [f32; 3], [f32; 3], Turned, [1.0, 2.0, 3.0],
        |r| [near_one(r), near_one(r), near_one(r)];
    segmented_sum_i8: Flagged<i8> => Flagged<i8>, Flagged<i8>, Segmented(Sum), Flagged::new(3, false),
        |r| Flagged::new(r.next() as i8, r.below(50) == 0);
    segmented_sum_f64: Flagged<f64> => Flagged<f64>, Flagged<f64>, Segmented(Sum), Flagged::new(0.3, false),
        |r| Flagged::new(float(r) as f64, r.below(50) == 0);
}

#[test]
fn cudarc_slices_host_slices_and_lengths() {
    let _shared = CAPTURE.read();
    let device = device();
    let mut workspace = device.workspace().expect("a workspace");
    let input: Vec<f32> = (0..3_000_000).map(|i| (i % 97) as f32 * 0.1).collect();
    let scan = device
        .prepare::<f32, f32, f32, _>(&Sum, Kind::Inclusive, Direction::Forward, 3_000_000)
        .expect("a kernel");
    let (values, all) =
        expected::<f32, f32, f32, _>(&Sum, &input, Kind::Inclusive, Direction::Forward, Some(0.5));
    let mut output = vec![0.0f32; input.len()];
    let total = scan.run_host(&mut workspace, &input, &mut output, Some(0.5)).expect("a scan");
    assert_eq!(bytemuck::cast_slice::<f32, u8>(&output), &values[..]);
    assert_eq!(bytemuck::bytes_of(&total), &all[..]);
    // Data on another stream than the workspace's.
    let stream = device.context().new_stream().expect("a stream");
    let from = stream.clone_htod(&input).expect("memory");
    let mut to = stream.alloc_zeros::<f32>(input.len()).expect("memory");
    scan.run_slices(&mut workspace, &from, &mut to, Some(0.5)).expect("a scan");
    assert_eq!(
        bytemuck::cast_slice::<f32, u8>(&stream.clone_dtoh(&to).expect("a copy")),
        &values[..]
    );
    let mut data = from;
    scan.run_in_place(&mut workspace, &mut data, Some(0.5)).expect("a scan");
    assert_eq!(
        bytemuck::cast_slice::<f32, u8>(&stream.clone_dtoh(&data).expect("a copy")),
        &values[..]
    );
    let mut short = stream.alloc_zeros::<f32>(5).expect("memory");
    let error =
        scan.run_slices(&mut workspace, &data, &mut short, None).expect_err("lengths differ");
    assert!(matches!(error, Error::Length { prepared: 3_000_000, input: 3_000_000, output: 5 }));
    // SAFETY: refused before anything is launched.
    let error =
        unsafe { scan.run(&mut workspace, 1, 4, Init::None, None) }.expect_err("misaligned");
    assert!(matches!(error, Error::Misaligned { address: 1, align: 4 }));
}

/// All pairs of values that hurt, each pair a segment of its own: zeros of either sign, infinities,
/// subnormal numbers, NaNs with payloads.
#[test]
fn extremes_of_special_values() {
    let _shared = CAPTURE.read();
    let singles: Vec<f32> = [
        0,
        0x8000_0000,
        1,
        0x8000_0001,
        0x3f80_0000,
        0xbf80_0000,
        0x7f7f_ffff,
        0xff7f_ffff,
        0x7f80_0000,
        0xff80_0000,
        0x7fc0_0001,
        0xffc0_0002,
        0x7fff_ffff,
        0x7fa0_0003,
    ]
    .map(f32::from_bits)
    .to_vec();
    pairs(&Max, &singles);
    pairs(&Min, &singles);
    pairs(&LastValid, &singles);
    pairs(&Lower, &singles);
    pairs(&Higher, &singles);
    let doubles: Vec<f64> = [
        0,
        1 << 63,
        1,
        1 << 63 | 1,
        0x3ff0 << 48,
        0xbff0 << 48,
        0x7fef << 48,
        0x7ff0 << 48,
        0xfff0 << 48,
        0x7ff8 << 48 | 1,
        0xfff8 << 48 | 2,
        0x7ff4 << 48 | 3,
    ]
    .map(f64::from_bits)
    .to_vec();
    pairs(&Max, &doubles);
    pairs(&Min, &doubles);
    pairs(&LastValid, &doubles);
}

#[kogge_core::operator(identity = f32::INFINITY)]
fn Lower(left: f32, right: f32) -> f32 {
    left.min(right)
}
#[kogge_core::operator(identity = f32::NEG_INFINITY)]
fn Higher(left: f32, right: f32) -> f32 {
    left.max(right)
}

fn pairs<T, O>(operator: &O, values: &[T])
where
    T: Padded + DeviceElement,
    Flagged<T>: DeviceElement + DeviceType + Element<Accumulator = Flagged<T>>,
    O: DeviceOperator<T> + Copy,
    Segmented<O>: DeviceOperator<Flagged<T>>,
{
    let input: Vec<Flagged<T>> = values
        .iter()
        .flat_map(|&x| values.iter().map(move |&y| [Flagged::new(x, true), Flagged::new(y, false)]))
        .flatten()
        .collect();
    let scan = device()
        .prepare::<Flagged<T>, Flagged<T>, Flagged<T>, _>(
            &Segmented(*operator),
            Kind::Inclusive,
            Direction::Forward,
            input.len() as u64,
        )
        .expect("a kernel");
    let mut workspace = device().workspace().expect("a workspace");
    let mut output = vec![Flagged::new(T::zeroed(), false); input.len()];
    scan.run_host(&mut workspace, &input, &mut output, None).expect("a scan");
    for (pair, got) in input.chunks_exact(2).zip(output.chunks_exact(2)) {
        let (x, y) = (pair[0].value, pair[1].value);
        let expected = operator.combine(x, y);
        assert_eq!(
            bytemuck::bytes_of(&got[1].value),
            bytemuck::bytes_of(&expected),
            "{} of {:x?} and {:x?}",
            std::any::type_name::<O>(),
            bytemuck::bytes_of(&x),
            bytemuck::bytes_of(&y),
        );
    }
}

#[test]
fn buffers_on_any_stream() {
    let _shared = CAPTURE.read();
    let device = device();
    let (mut workspace, stream) = (
        device.workspace().expect("a workspace"),
        device.context().new_stream().expect("a stream"),
    );
    let input: Vec<i32> = (0..2_000_000).map(|i| i * 7 % 1001).collect();
    let (values, all) =
        expected::<i32, i32, i32, _>(&Sum, &input, Kind::Inclusive, Direction::Forward, None);
    let scan = device
        .prepare::<i32, i32, i32, _>(&Sum, Kind::Inclusive, Direction::Forward, 2_000_000)
        .expect("a kernel");
    for stream in [workspace.stream().clone(), stream] {
        let from = Buffer::from_slice(&stream, &input).expect("memory");
        let mut to = Buffer::zeroed(&stream, input.len()).expect("memory");
        let mut total = Buffer::zeroed(&stream, 1).expect("memory");
        for _ in 0..10 {
            scan.run_buffers(&mut workspace, &from, &mut to, None, Some(&mut total))
                .expect("a scan");
        }
        let read = to.read().expect("a copy");
        assert!(bytemuck::cast_slice::<i32, u8>(&read) == values);
        assert_eq!(bytemuck::cast_slice::<i32, u8>(&total.read().expect("a copy")), &all[..]);
        let mut data = from;
        scan.run_buffer_in_place(&mut workspace, &mut data, None).expect("a scan");
        assert!(data.read().expect("a copy") == read);
        assert!(matches!(data.write(&input[1..]), Err(Error::Length { .. })));
        let mut short = Buffer::zeroed(&stream, 5).expect("memory");
        let refused = scan.run_buffers(&mut workspace, &data, &mut short, None, None);
        assert!(matches!(refused, Err(Error::Length { .. })));
    }
    assert!(matches!(
        Buffer::<u64>::zeroed(workspace.stream(), 1 << 45),
        Err(Error::OutOfMemory(_))
    ));
}

/// In one chunk and in several, both ways, on one workspace; with totals and initial values.
#[test]
fn host_slices_pass_through_in_chunks() {
    let _shared = CAPTURE.read();
    let mut workspace = device().workspace().expect("a workspace");
    let mut random = Random(5);
    for n in [0, 1, 5_000, 4 << 20, (12 << 20) + 77_777, 33 << 20] {
        for (kind, direction) in WAYS {
            let init = (random.below(2) == 0).then_some(0.3f32);
            host_slice::<f32, f32, f32, _>(
                &Sum,
                (kind, direction),
                init,
                n,
                &mut workspace,
                || float(&mut random),
            );
        }
    }
    for n in [70_000, (40 << 20) + 12_345] {
        let way = (Kind::Inclusive, Direction::Reverse);
        host_slice::<i8, i8, i8, _>(&Sum, way, Some(9), n, &mut workspace, || random.next() as i8);
        host_slice::<f16, f32, f64, _>(&Max, way, Some(0.1), n / 2, &mut workspace, || {
            f16::from_f32(near_one(&mut random))
        });
    }
}

fn host_slice<T, U, A, O>(
    operator: &O,
    (kind, direction): (Kind, Direction),
    init: Option<A>,
    n: usize,
    workspace: &mut Workspace,
    mut make: impl FnMut() -> T,
) where
    T: DeviceElement + Accumulate<A>,
    U: DeviceElement + Accumulate<A>,
    A: Element + DeviceType,
    O: DeviceOperator<A>,
{
    let input: Vec<T> = (0..n).map(|_| make()).collect();
    let scan =
        device().prepare::<T, U, A, O>(operator, kind, direction, n as u64).expect("a kernel");
    let (values, all) = expected::<T, U, A, O>(operator, &input, kind, direction, init);
    let mut output = vec![U::zeroed(); n];
    let total = scan.run_host(workspace, &input, &mut output, init).expect("a scan");
    assert!(bytemuck::cast_slice::<U, u8>(&output) == values, "{n} {kind:?} {direction:?}");
    assert_eq!(bytemuck::bytes_of(&total), &all[..], "{n} {kind:?} {direction:?}: the total");
}

#[kogge_core::operator(identity = 0.0)]
fn Decay(left: f32, right: f32) -> f32 {
    left * 0.5 + right
}

/// How long a first call takes: compiled, from disk, and from an archive (`KOGGE_TEST_ARCHIVE` names a
/// file; else the library's own, if it has one).
#[test]
fn first_calls_are_quick() {
    let _alone = CAPTURE.write();
    let folder = std::env::temp_dir().join(format!("kogge-first-calls-{}", std::process::id()));
    let time = |what: &str, device: kogge_cuda::Device, user: bool| {
        let mut longest = 0.0f64;
        for len in [1000, 1 << 20, 1 << 28] {
            let start = std::time::Instant::now();
            let (kind, direction) = WAYS[0];
            let scan = match user {
                true => device.prepare::<f32, f32, f32, _>(&Decay, kind, direction, len),
                false => device.prepare::<f32, f32, f32, _>(&Sum, kind, direction, len),
            };
            let kernel = scan.expect("a kernel").plan().kernel;
            let milliseconds = start.elapsed().as_secs_f64() * 1e3;
            longest = longest.max(milliseconds);
            println!("first call {what}, {kernel:?}: {milliseconds:.1} ms");
        }
        longest
    };
    let open = || kogge_cuda::Device::open(0).expect("a GPU").with_cache(Some(folder.clone()));
    time("compiled", open(), true);
    assert!(time("from disk", open(), true) < 100.0);
    let _ = std::fs::remove_dir_all(&folder);
    let archive = match std::env::var_os("KOGGE_TEST_ARCHIVE") {
        Some(path) => Archive::read(std::fs::read(path).expect("an archive").leak()),
        None => Some(Archive::embedded()),
    };
    let archive = archive.expect("an archive");
    println!("{} kernels in the archive", archive.len());
    if !archive.is_empty() {
        let device = open().with_cache(None).with_archive(archive);
        assert!(time("from the archive", device, false) < 100.0);
    }
}

/// On a device whose shared memory holds no two tiles, a long sequence takes several launches.
#[test]
fn several_launches() {
    let _shared = CAPTURE.read();
    let capability = Capability { shared_bytes: 30_000, ..device().capability() };
    let device = device().with_capability(capability);
    let mut workspace = device.workspace().expect("a workspace");
    let mut random = Random(3);
    for (kind, direction) in WAYS {
        let n = (9 << 20) + random.below(1 << 20);
        let input: Vec<f32> = (0..n).map(|_| float(&mut random)).collect();
        let scan =
            device.prepare::<f32, f32, f32, _>(&Sum, kind, direction, n as u64).expect("a kernel");
        assert!(scan.plan().kernel == Kernel::Segments && scan.plan().launch_len < n as u64);
        let way = (kind, direction);
        check(&scan, &Sum, way, &mut workspace, &mut random, &input, 0.3);
        let (values, _) = expected::<f32, f32, f32, _>(&Sum, &input, kind, direction, None);
        let mut output = vec![0.0; n];
        scan.run_host(&mut workspace, &input, &mut output, None).expect("a scan");
        assert!(bytemuck::cast_slice::<f32, u8>(&output) == values, "{way:?} by way of the host");
    }
}

/// Boundary lengths by one kernel alone: short enough for the tools that watch every access.
fn at_boundaries(device: &kogge_cuda::Device, by: impl Fn(Kernel) -> bool) {
    let _shared = CAPTURE.read();
    let mut workspace = device.workspace().expect("a workspace");
    let mut random = Random(5);
    for way in WAYS {
        let order = Order::of::<f32>();
        for n in boundary_lengths(order, order.tile() * 3 + 1).into_iter().filter(|&n| n > 0) {
            let input: Vec<f32> = (0..n).map(|_| float(&mut random)).collect();
            let scan =
                device.prepare::<f32, f32, f32, _>(&Sum, way.0, way.1, n as u64).expect("a kernel");
            assert!(by(scan.plan().kernel), "{:?}", scan.plan());
            check(&scan, &Sum, way, &mut workspace, &mut random, &input, 0.3);
        }
    }
}

#[test]
fn segments() {
    at_boundaries(&by_segments(device()), |kernel| kernel == Kernel::Segments);
}

#[test]
fn tiles() {
    at_boundaries(&by_tiles(device()), |kernel| matches!(kernel, Kernel::Tiles(_)));
}

/// A wild address ends a process's context: every later call says so, and nothing panics.
#[test]
fn a_lost_context_is_an_error() {
    const CHILD: &str = "KOGGE_TEST_LOSES_CONTEXT";
    if std::env::var_os(CHILD).is_none() {
        let program = std::env::current_exe().expect("this program");
        let child = std::process::Command::new(program)
            .args(["--exact", "a_lost_context_is_an_error", "--nocapture"])
            .env(CHILD, "1")
            .output()
            .expect("this program again");
        let said = String::from_utf8_lossy(&child.stdout);
        assert!(child.status.success() && said.contains("the context was lost"), "{child:?}");
        return;
    }
    let device = device();
    let mut workspace = device.workspace().expect("a workspace");
    let prepare =
        |n| device.prepare::<f32, f32, f32, _>(&Sum, Kind::Inclusive, Direction::Forward, n);
    let scan = prepare(1000).expect("a kernel");
    // SAFETY: none; the addresses are wild on purpose, in a process of their own.
    let launched = unsafe { scan.run(&mut workspace, 1 << 40, 1 << 41, Init::None, None) };
    launched.expect("a launch that fails later");
    let lost = |result: Result<(), Error>| {
        assert!(matches!(result, Err(Error::ContextLost(_))), "{result:?}")
    };
    lost(workspace.stream().synchronize().map_err(Error::from));
    lost(scan.run_host(&mut workspace, &[1.0; 1000], &mut [0.0; 1000], None).map(drop));
    lost(workspace.reserve(1 << 30));
    lost(prepare(1 << 20).map(drop));
    drop((scan, workspace));
    println!("the context was lost");
}

#[test]
fn a_graph_replays_with_new_data() {
    let _alone = CAPTURE.write();
    let device = device();
    let stream = device.context().new_stream().expect("a stream");
    for n in [5_000usize, 9_000_000] {
        let mut workspace = device.workspace_on(stream.clone());
        let scan = device
            .prepare::<i32, i32, i32, _>(&Sum, Kind::Exclusive, Direction::Forward, n as u64)
            .expect("a kernel");
        let mut from = stream.alloc_zeros::<i32>(n).expect("memory");
        let mut to = stream.alloc_zeros::<i32>(n).expect("memory");
        workspace.reserve(scan.plan().workspace_bytes).expect("memory");
        let source = from.device_ptr(&stream).0;
        let target = to.device_ptr_mut(&stream).0;
        stream.synchronize().expect("done");
        stream
            .begin_capture(sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)
            .expect("a capture");
        // SAFETY: both buffers outlive the graph.
        unsafe { scan.run(&mut workspace, source, target, Init::Value(7), None) }
            .expect("captured");
        let graph = stream
            .end_capture(
                sys::CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH,
            )
            .expect("a graph")
            .expect("a graph");
        for replay in 1..4 {
            let input: Vec<i32> = (0..n as i32).map(|i| i.wrapping_mul(replay) ^ 5).collect();
            stream.memcpy_htod(&input, &mut from).expect("a copy");
            graph.launch().expect("a replay");
            let (values, _) = expected::<i32, i32, i32, _>(
                &Sum,
                &input,
                Kind::Exclusive,
                Direction::Forward,
                Some(7),
            );
            assert_eq!(
                bytemuck::cast_slice::<i32, u8>(&stream.clone_dtoh(&to).expect("a copy")),
                &values[..]
            );
        }
    }
}

#[test]
fn several_streams_at_once() {
    let _shared = CAPTURE.read();
    let device = device();
    let input: Arc<Vec<f32>> = Arc::new((0..20_000_000).map(|i| (i % 101) as f32 * 0.3).collect());
    let (values, _) =
        expected::<f32, f32, f32, _>(&Sum, &input, Kind::Inclusive, Direction::Forward, None);
    let scan = device
        .prepare::<f32, f32, f32, _>(&Sum, Kind::Inclusive, Direction::Forward, input.len() as u64)
        .expect("a kernel");
    let mut lanes: Vec<_> = (0..4)
        .map(|_| {
            let workspace = device.workspace().expect("a workspace");
            let from = workspace.stream().clone_htod(&**input).expect("memory");
            let to = workspace.stream().alloc_zeros::<f32>(input.len()).expect("memory");
            (workspace, from, to)
        })
        .collect();
    for _ in 0..20 {
        for (workspace, from, to) in &mut lanes {
            scan.run_slices(workspace, from, to, None).expect("a scan");
        }
    }
    for (workspace, _, to) in &lanes {
        let got = workspace.stream().clone_dtoh(to).expect("a copy");
        assert_eq!(bytemuck::cast_slice::<f32, u8>(&got), &values[..]);
    }
}

#[test]
fn errors_are_errors() {
    let _shared = CAPTURE.read();
    assert!(matches!(kogge_cuda::Device::open(999), Err(Error::NoDevice { ordinal: 999, .. })));
    let mut workspace = device().workspace().expect("a workspace");
    assert!(matches!(workspace.reserve(1 << 46), Err(Error::OutOfMemory(_))));
    workspace.reserve(1 << 10).expect("a workspace is of use after a failure");
    let endless =
        device().prepare::<u8, u8, u8, _>(&Endless, Kind::Inclusive, Direction::Forward, 100);
    assert!(matches!(endless, Err(Error::Operator(_))));
}

#[kogge_core::operator(identity = 0)]
fn Endless(left: u8, right: u8) -> u8 {
    there(left, right)
}
#[kogge_core::device]
fn there(left: u8, right: u8) -> u8 {
    back(left, right)
}
#[kogge_core::device]
fn back(left: u8, right: u8) -> u8 {
    there(left, right)
}

/// Random lengths, types and operators on one workspace, kernels of all shapes in turn.
#[test]
fn soak() {
    let _shared = CAPTURE.read();
    let scans: usize = std::env::var("KOGGE_SOAK").ok().and_then(|n| n.parse().ok()).unwrap_or(400);
    let threads = 8;
    std::thread::scope(|scope| {
        for thread in 0..threads {
            scope.spawn(move || {
                device().context().bind_to_thread().expect("a context");
                let mut random = Random(thread);
                let mut workspace = device().workspace().expect("a workspace");
                for _ in 0..scans / threads as usize {
                    soak_one(&mut workspace, &mut random);
                }
            });
        }
    });
}

fn soak_one(workspace: &mut Workspace, random: &mut Random) {
    let way = WAYS[random.below(4)];
    let n = match random.below(200) {
        0 => random.below(6_000_000),
        1..20 => random.below(200_000),
        _ => {
            let most = 1 << random.below(14);
            random.below(most)
        }
    };
    fn one<T: DeviceElement + Accumulate<A>, A: Element + DeviceType, O: DeviceOperator<A>>(
        operator: O,
        init: A,
        make: impl Fn(&mut Random) -> T,
        way: (Kind, Direction),
        n: usize,
        workspace: &mut Workspace,
        random: &mut Random,
    ) {
        let data: Vec<T> = (0..n).map(|_| make(random)).collect();
        let scan =
            device().prepare::<T, T, A, O>(&operator, way.0, way.1, n as u64).expect("a kernel");
        check(&scan, &operator, way, workspace, random, &data, init);
    }
    match random.below(5) {
        0 => one(Sum, 0.3f32, float, way, n, workspace, random),
        1 => one(Sum, 9i8, |r| r.next() as i8, way, n, workspace, random),
        2 => one(Max, 9i64, |r| r.next() as i64, way, n, workspace, random),
        3 => one(
            Compose,
            Affine { a: 0.5f32, b: 2.0 },
            |r| Affine { a: near_one(r), b: float(r) },
            way,
            n,
            workspace,
            random,
        ),
        _ => {
            one::<f16, f32, _>(Sum, 0.3, |r| f16::from_f32(near_one(r)), way, n, workspace, random)
        }
    }
}

#[test]
fn plans_of_this_device() {
    let _shared = CAPTURE.read();
    let scan = device()
        .prepare::<f32, f32, f32, _>(&Sum, Kind::Inclusive, Direction::Forward, 1 << 26)
        .expect("a kernel");
    assert!(matches!(scan.plan().kernel, Kernel::Rounds(_)), "{:?}", scan.plan());
}
