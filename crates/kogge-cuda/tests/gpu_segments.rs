//! On a GPU: scans by segments give the reference's bits for each segment by itself, by offsets,
//! flags and keys of every type, at any alignment, with initial values and totals of every kind.

mod common;

use common::segments::{Source, expected_segments, lengths};
use common::{Random, boundary_lengths};
use cudarc::driver::{CudaSlice, DevicePtrMut};
use kogge_core::device::{DeviceElement, DeviceOperator, DeviceType};
use kogge_core::ops::*;
use kogge_core::{Accumulate, Direction, Element, Kind, Order, bytemuck, f16};
use kogge_cuda::{
    Capability, Device, Error, Inits, KeyType, SegmentSource, StretchesByKey, Tuning, Workspace,
    cudarc,
};
use std::sync::OnceLock;

fn device() -> Device {
    static DEVICE: OnceLock<Device> = OnceLock::new();
    DEVICE.get_or_init(|| Device::open(0).expect("a GPU")).clone()
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

const SOURCES: [Source; 9] = [
    Source::Offsets32,
    Source::Offsets64,
    Source::Flags,
    Source::Keys32,
    Source::KeysF16,
    Source::KeysF64,
    Source::Keys8,
    Source::Keys64,
    Source::KeysBf16,
];

fn given(source: Source, segments: usize) -> SegmentSource {
    let segments = segments as u64;
    match source {
        Source::Offsets32 => SegmentSource::Offsets { segments, bits: 32 },
        Source::Offsets64 => SegmentSource::Offsets { segments, bits: 64 },
        Source::Flags => SegmentSource::Heads,
        Source::Keys32 => SegmentSource::Keys(KeyType::Bits32),
        Source::KeysF16 => SegmentSource::Keys(KeyType::F16),
        Source::KeysF64 => SegmentSource::Keys(KeyType::F64),
        Source::Keys8 => SegmentSource::Keys(KeyType::Bits8),
        Source::Keys64 => SegmentSource::Keys(KeyType::Bits64),
        Source::KeysBf16 => SegmentSource::Keys(KeyType::Bf16),
    }
}

/// Scans by one operator, one after another in the same workspace.
struct Trial<A, O> {
    operator: O,
    /// Initial values, which segments take in turn.
    some: [A; 3],
    /// As it is, and three that take any sequence for long: by stretches, along offsets with many
    /// warps or with few, or by a mask; or windows of the longest kind.
    devices: [Device; 4],
    workspace: Workspace,
    random: Random,
    /// What segments are known by, if not by anything; then they have neither totals nor initial
    /// values of their own.
    only: Option<Source>,
    /// The last scan's plan.
    plan: String,
}

impl<A: Element + DeviceType, O: DeviceOperator<A>> Trial<A, O> {
    fn new(device: Device, operator: O, some: [A; 3], seed: u64) -> Self {
        let workspace = device.workspace().expect("a workspace");
        let long = |unmasked_from, long_stretches_from| Tuning {
            stretches_per_warp: 0,
            stretches_by_key: StretchesByKey::Always,
            long_windows: 0,
            unmasked_from,
            long_stretches_from,
            long_stretch_bytes_per_cycle: u32::MAX,
            ..Tuning::default()
        };
        let [many, few, masked] = [(0, u32::MAX), (0, 0), (u32::MAX, u32::MAX)]
            .map(|(mask, few)| device.clone().with_tuning(long(mask, few)));
        let devices = [device, many, few, masked];
        let (random, only, plan) = (Random(seed), None, String::new());
        Self { operator, some, devices, workspace, random, only, plan }
    }

    /// Scans these elements, cut at random.
    fn cut<T: DeviceElement + Accumulate<A>, U: DeviceElement + Accumulate<A>>(
        &mut self,
        input: &[T],
    ) {
        let lengths = lengths(&mut self.random, Order::of::<T>(), input.len());
        self.check::<T, U>(&lengths, input);
    }

    /// Runs a scan in some random way and compares.
    fn check<T: DeviceElement + Accumulate<A>, U: DeviceElement + Accumulate<A>>(
        &mut self,
        lengths: &[usize],
        input: &[T],
    ) {
        let Self { operator, some, devices, workspace, random, only, plan } = self;
        let source = only.unwrap_or_else(|| SOURCES[random.below(SOURCES.len())]);
        let lengths: Vec<usize> =
            lengths.iter().copied().filter(|&len| len > 0 || source.of_offsets()).collect();
        let kind = [Kind::Inclusive, Kind::Exclusive][random.below(2)];
        let direction = [Direction::Forward, Direction::Reverse][random.below(2)];
        let mut offset =
            |align: usize| if random.below(2) == 0 { 0 } else { random.below(16 / align) * align };
        let offsets = [offset(align_of::<T>()), offset(align_of::<U>())];
        let in_place = size_of::<T>() == size_of::<U>() && random.below(3) == 0;
        let mut from = Guarded::new(workspace, bytemuck::cast_slice(input), offsets[0]);
        let mut to = Guarded::new(workspace, &vec![0x5a; input.len() * size_of::<U>()], offsets[1]);
        let mut totals = Guarded::new(workspace, &vec![0x5a; lengths.len() * size_of::<A>()], 0);
        let each: Vec<A> = (0..lengths.len().max(1)).map(|i| some[i % 3]).collect();
        let mut memory = Guarded::new(workspace, bytemuck::cast_slice(&each), 0);
        let mut heads = Guarded::new(workspace, &source.bytes(random, &lengths).0, 0);
        let (way, summed) = match only {
            None => (random.below(4), random.below(2) == 0),
            Some(_) => (random.below(3), false),
        };
        let inits = match way {
            0 => Inits::None,
            1 => Inits::Value(some[0]),
            2 => Inits::Memory(memory.address(workspace)),
            _ => Inits::Each(memory.address(workspace)),
        };
        let first = |i: usize| match inits {
            Inits::None => None,
            Inits::Each(_) => Some(some[i % 3]),
            _ => Some(some[0]),
        };
        let (at, sums) = (from.address(workspace), totals.address(workspace));
        let target = if in_place { at } else { to.address(workspace) };
        let scan = devices[random.below(4)]
            .prepare_segments::<T, U, A, O>(
                &*operator,
                kind,
                direction,
                input.len() as u64,
                given(source, lengths.len()),
                summed || matches!(inits, Inits::Each(_)),
            )
            .expect("a scan");
        *plan = scan.plan().to_string();
        let what = format!(
            "{} of {} elements, {source:?}, {} segments, {kind:?} {direction:?} inits {way} totals {summed} {offsets:?} \
             {in_place}, {}",
            std::any::type_name::<(T, U, A)>(),
            input.len(),
            lengths.len(),
            plan,
        );
        let heads = heads.address(workspace);
        // SAFETY: all are alive until the copies back have waited.
        unsafe { scan.run(workspace, at, target, heads, inits, summed.then_some(sums)) }
            .expect("launches");
        let (values, all) =
            expected_segments::<T, U, A, O>(operator, input, &lengths, kind, direction, first);
        let got = if in_place { &from } else { &to }.take(workspace);
        if let Some(i) = (0..values.len()).find(|&i| values[i] != got[i]) {
            panic!("{what}: element {} is wrong", i / size_of::<U>());
        }
        let sums = totals.take(workspace);
        let untouched = || sums.iter().all(|&byte| byte == 0x5a);
        assert!(if summed { sums == all } else { untouched() }, "{what}: a total is wrong");
    }
}

/// Segments of every kind at boundary lengths, and some long sequences.
fn sweep<T, U, A, O>(operator: O, some: [A; 3], make: impl Fn(&mut Random) -> T)
where
    T: DeviceElement + Accumulate<A>,
    U: DeviceElement + Accumulate<A>,
    A: Element + DeviceType,
    O: DeviceOperator<A>,
{
    let order = Order::of::<T>();
    let seed = size_of::<T>() as u64 * 100 + size_of::<U>() as u64;
    let mut trial = Trial::new(device(), operator, some, seed);
    let data: Vec<T> = (0..order.block() * 40 + 5).map(|_| make(&mut trial.random)).collect();
    let long: Vec<usize> = (0..6).map(|_| data.len() - trial.random.below(order.block())).collect();
    for n in boundary_lengths(order, order.block() * 2).into_iter().chain(long) {
        trial.cut::<T, U>(&data[..n]);
    }
    // One that is longer than the look-back is wide.
    trial.check::<T, U>(&[data.len()], &data);
}

fn float(random: &mut Random) -> f32 {
    (random.below(2001) as f32 - 1000.0) / 64.0
}

#[test]
fn sum_f32() {
    sweep::<f32, f32, f32, _>(Sum, [0.3, -0.0, 1e9], float);
}

#[test]
fn sum_i32() {
    sweep::<i32, i32, i32, _>(Sum, [3, -1, 1 << 30], |r| r.next() as i32);
}

#[test]
fn sum_f64() {
    sweep::<f64, f64, f64, _>(Sum, [0.3, -0.0, 1e9], |r| float(r) as f64);
}

#[test]
fn sum_i8() {
    sweep::<i8, i8, i8, _>(Sum, [3, -1, 100], |r| r.next() as i8);
}

#[test]
fn sum_f16() {
    sweep::<f16, f16, f32, _>(Sum, [0.3, -0.0, 9.0], |r| f16::from_f32(float(r)));
}

#[test]
fn sum_f32_in_f64() {
    sweep::<f32, f32, f64, _>(Sum, [0.3, -0.0, 9.0], float);
}

#[test]
fn affine_maps() {
    let init = |a, b| Affine { a, b };
    sweep::<Affine<f32>, Affine<f32>, Affine<f32>, _>(
        Compose,
        [init(0.5f32, -2.0), init(1.0, 0.0), init(-0.0, 3.0)],
        |r| Affine { a: float(r) / 16.0, b: float(r) },
    );
}

#[test]
fn matrices() {
    let init = Matrix2 { m00: 1.5f64, m01: -0.25, m10: 0.125, m11: 0.5 };
    sweep::<Matrix2<f64>, Matrix2<f64>, Matrix2<f64>, _>(MatMul, [init; 3], |r| {
        let mut x = || float(r) as f64 / 12.0;
        Matrix2 { m00: x(), m01: x(), m10: x(), m11: x() }
    });
}

#[test]
fn max_f32() {
    sweep::<f32, f32, f32, _>(Max, [0.3, f32::NAN, -0.0], |r| match r.below(9999) {
        0 => f32::from_bits(0xffc0_1234),
        1..5000 => [0.0, -0.0][r.below(2)],
        _ => float(r),
    });
}

#[test]
fn max_f16() {
    sweep::<f16, f16, f32, _>(Max, [0.3, -9.0, -0.0], |r| match r.below(99_999) {
        0 => f16::from_bits(0x7e01),
        _ => f16::from_f32(float(r)),
    });
}

#[test]
fn compose_i32() {
    let some = |a| Affine { a, b: a + 7 };
    sweep::<Affine<i32>, Affine<i32>, _, _>(Compose, [some(3), some(1), some(-5)], |r| Affine {
        a: r.next() as i32 | 1,
        b: r.next() as i32,
    });
}

/// Segments so long that by offsets they go in rounds, with short ones between them.
#[test]
fn long_segments() {
    let order = Order::of::<f32>();
    let (row, tile) = (order.row(), order.tile());
    let mut trial = Trial::new(device(), Sum, [0.3, -0.0, 1e9], 77);
    let data: Vec<f32> = (0..order.block() * 5).map(|_| float(&mut trial.random)).collect();
    for _ in 0..40 {
        let random = &mut trial.random;
        let mut lengths = vec![random.below(row)];
        for _ in 0..1 + random.below(3) {
            lengths.push(tile * (30 + random.below(16)) + random.below(row));
            lengths.push(random.below(row));
        }
        let n = lengths.iter().sum();
        trial.check::<f32, f32>(&lengths, &data[..n]);
    }
}

/// By keys, the way that the runs seen before ask for, and the same bits either way.
#[test]
fn the_last_runs_choose_the_way() {
    let tuning = Tuning { stretches_per_warp: 0, ..Tuning::default() };
    let mut trial = Trial::new(device(), Sum, [0.5; 3], 12);
    let n = (1 << 21) + 77;
    let input: Vec<f32> = (0..n).map(|_| float(&mut trial.random)).collect();
    let (workspace, source) = (&mut trial.workspace, SegmentSource::Keys(KeyType::Bits32));
    for direction in [Direction::Forward, Direction::Reverse] {
        let scan = device()
            .with_tuning(tuning)
            .prepare_segments::<f32, f32, f32, _>(
                &Sum,
                Kind::Inclusive,
                direction,
                n as u64,
                source,
                false,
            )
            .expect("a scan");
        let mut from = Guarded::new(workspace, bytemuck::cast_slice(&input), 0);
        for (run, after) in [(64, false), (3000, true), (n, true), (5, false)] {
            let keys: Vec<u32> = (0..n).map(|i| (i / run) as u32).collect();
            let mut keys = Guarded::new(workspace, bytemuck::cast_slice(&keys), 0);
            let lengths: Vec<usize> = (0..n).step_by(run).map(|at| run.min(n - at)).collect();
            let (expected, _) = expected_segments::<f32, f32, f32, _>(
                &Sum,
                &input,
                &lengths,
                Kind::Inclusive,
                direction,
                |_| None,
            );
            // As many as it takes for one of them to be looked at, and the next.
            for call in 0..9 {
                let mut to = Guarded::new(workspace, &vec![0x5a; n * size_of::<f32>()], 0);
                let addresses = [&mut from, &mut to, &mut keys].map(|it| it.address(workspace));
                let [input, output, keys] = addresses;
                // SAFETY: all are alive until the copy back has waited.
                unsafe { scan.run(workspace, input, output, keys, Inits::None, None) }
                    .expect("launches");
                let same = to.take(workspace) == expected;
                assert!(same, "runs of {run} {direction:?}, call {call}, {}", scan.plan());
            }
            assert_eq!(scan.plan().stretches.is_some(), after, "runs of {run} {direction:?}");
        }
    }
}

/// Each kernel, on three multiprocessors: short enough for the tools that watch every access.
fn briefly(compute: (u32, u32)) {
    let order = Order::of::<f32>();
    let capability = Capability { multiprocessors: 3, compute, ..device().capability() };
    let device = device().with_capability(capability);
    let mut floats = Trial::new(device.clone(), Sum, [0.3, -0.0, 1e9], 10);
    let mut numbers = Trial::new(device, Sum, [3; 3], 11);
    let sums: Vec<f32> = (0..order.tile() * 90).map(|_| float(&mut floats.random)).collect();
    let exact: Vec<i32> = sums.iter().map(|&x| x as i32).collect();
    for n in [order.segment() + 3, order.tile() * 2, order.tile() * 15 + 77] {
        for _ in 0..8 {
            floats.cut::<f32, f32>(&sums[..n]);
            numbers.cut::<i32, i32>(&exact[..n]);
        }
    }
    // In rounds and in stretches, if by offsets.
    for _ in 0..12 {
        let (long, random) = (order.tile() * 40, &mut floats.random);
        let lengths = [random.below(99), long, 5, long + random.below(99), 300];
        let n = lengths.iter().sum();
        floats.check::<f32, f32>(&lengths, &sums[..n]);
    }
    // In one launch, by warps that find heads in keys, where there are copies that such a warp
    // waits for.
    for source in [Source::Keys32, Source::Keys64].into_iter().cycle().take(8) {
        numbers.only = Some(source);
        numbers.cut::<i32, i32>(&exact[..order.tile() * 15 + 77]);
        assert_eq!(numbers.plan.contains("find heads"), compute >= (9, 0), "{}", numbers.plan);
    }
}

#[test]
fn briefly_as_it_is() {
    briefly(device().capability().compute);
}

#[test]
fn briefly_without_bulk() {
    briefly((8, 0));
}

#[test]
fn what_is_wrong_is_an_error() {
    let mut workspace = device().workspace().expect("a workspace");
    let prepare = |source| {
        device().prepare_segments::<f32, f32, f32, _>(
            &Sum,
            Kind::Inclusive,
            Direction::Forward,
            4,
            source,
            false,
        )
    };
    let offsets = prepare(SegmentSource::Offsets { segments: 1, bits: 32 }).expect("a scan");
    // SAFETY: nothing is launched.
    let error = unsafe { offsets.run(&mut workspace, 256, 512, 1026, Inits::None, None) };
    assert!(matches!(error, Err(Error::Misaligned { address: 1026, align: 4 })), "{error:?}");
    // SAFETY: as above.
    let error = unsafe { offsets.run(&mut workspace, 256, 512, 1024, Inits::Each(256), None) };
    assert!(matches!(error, Err(Error::Unsupported(_))), "wasn't prepared for that: {error:?}");
    let error = prepare(SegmentSource::Offsets { segments: 1, bits: 8 }).err();
    assert!(matches!(error, Some(Error::Unsupported(_))), "{error:?}");
}
