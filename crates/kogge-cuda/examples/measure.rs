//! Measures scans of device memory beside a device-to-device copy and, if there is one, CUB, all in
//! one process, and prints one JSON record.
//!
//! `measure [libcub.so] [name=value…] [MiB…]`, where names are fields of `Tuning`; the library is
//! made of `examples/cub.cu`. Every result is compared with the fixed order's before it is timed.
//! Between two runs 256 MiB are written, so that nothing lies in L2. Medians.

use cudarc::driver::{CudaSlice, CudaStream, DevicePtr, DevicePtrMut, result, sys};
use kogge_core::device::{DeviceElement, DeviceOperator, DeviceType};
use kogge_core::ops::{Affine, Compose, MatMul, Matrix2, Max, Sum};
use kogge_core::{Accumulate, Direction, Element, Kind, bf16, bytemuck, f16};
use kogge_cuda::{Device, Init, Kernel, Scan, Tuning, Workspace, cudarc};
use libloading::Library;
use serde_json::json;
use std::sync::Arc;
use std::time::Instant;

type Cub = unsafe extern "C" fn(i32, u64, u64, u64, *mut u64, u64, u64) -> i32;

struct Bench {
    device: Device,
    stream: Arc<CudaStream>,
    flush: CudaSlice<u8>,
    cub: Option<Library>,
    records: Vec<serde_json::Value>,
}

impl Bench {
    /// Microseconds of the median of cold runs.
    fn time(&mut self, runs: usize, mut run: impl FnMut()) -> f64 {
        let flag = Some(sys::CUevent_flags::CU_EVENT_DEFAULT);
        let mut times: Vec<f64> = (0..runs + 3)
            .map(|i| {
                let (flush, _guard) = self.flush.device_ptr_mut(&self.stream);
                // SAFETY: the buffer has this length.
                unsafe {
                    result::memset_d8_async(flush, i as u8, 256 << 20, self.stream.cu_stream())
                }
                .expect("a flush");
                let start = self.stream.record_event(flag).expect("an event");
                run();
                let end = self.stream.record_event(flag).expect("an event");
                f64::from(start.elapsed_ms(&end).expect("a time")) * 1e3
            })
            .skip(3)
            .collect();
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    }

    fn wanted(name: &str) -> bool {
        std::env::var("ONLY")
            .map_or(true, |only| only.split(',').any(|part| name.starts_with(part)))
    }

    fn measure<T, A, O>(
        &mut self,
        name: &str,
        cub: i32,
        operator: O,
        make: impl Fn(u64) -> T,
        mib: f64,
    ) where
        T: DeviceElement + Accumulate<A>,
        A: Element + DeviceType,
        O: DeviceOperator<A>,
    {
        if !Self::wanted(name) {
            return;
        }
        let n = (mib * 1048576.0) as usize / size_of::<T>();
        let bytes = n * size_of::<T>();
        let runs = if bytes > 128 << 20 { 11 } else { 31 };
        // A period that is no multiple of anything in the order.
        let period: Vec<T> = (0..n.min(999_983)).map(|i| make(i as u64)).collect();
        let input: Vec<T> = period.iter().copied().cycle().take(n).collect();
        let from = self.stream.clone_htod(bytemuck::cast_slice::<T, u8>(&input)).expect("memory");
        let mut to = self.stream.alloc_zeros::<u8>(bytes).expect("memory");
        let source = from.device_ptr(&self.stream).0;
        let target = to.device_ptr_mut(&self.stream).0;
        let stream = self.stream.clone();
        let mut workspace = self.device.workspace_on(stream.clone());
        let mut ways = Vec::new();
        for (way, kind, direction) in [
            ("inclusive", Kind::Inclusive, Direction::Forward),
            ("exclusive", Kind::Exclusive, Direction::Forward),
            ("reverse", Kind::Inclusive, Direction::Reverse),
        ] {
            if way != "inclusive" && !["i32 sum", "f32 sum"].contains(&name) {
                continue;
            }
            let prepare = Instant::now();
            let scan: Scan<T, T, A> =
                self.device.prepare(&operator, kind, direction, n as u64).expect("a kernel");
            let prepare = prepare.elapsed();
            let run = |workspace: &mut Workspace| {
                // SAFETY: both buffers have n elements and outlive the stream's work.
                unsafe { scan.run(workspace, source, target, Init::None, None) }.expect("a launch");
            };
            run(&mut workspace);
            let got = self.stream.clone_dtoh(&to).expect("a copy");
            let right = agree::<T, A, O>(&operator, kind, direction, &input, &got);
            let time = self.time(runs, || run(&mut workspace));
            let kernel = match scan.plan().kernel {
                Kernel::Cluster(_) => "cluster",
                Kernel::Tiles(_) => "tiles",
                Kernel::Segments => "segments",
                Kernel::Rounds(_) => "rounds",
            };
            ways.push((way, time, right, kernel, prepare.as_secs_f64() * 1e3));
        }
        let copy = self.time(runs, || {
            // SAFETY: both buffers have this length.
            unsafe { result::memcpy_dtod_async(target, source, bytes, stream.cu_stream()) }
                .expect("a copy");
        });
        let peer = self.cub(cub, source, target, n as u64, runs);
        for (way, time, right, kernel, prepare) in ways {
            println!(
                "{name:12} {way:9} {mib:9.3} MiB {kernel:8}: {time:9.2} us, {:5.1} % of copy ({copy:.2} us), CUB {} us = x{:.2}; prepare {prepare:.1} ms; bits {}",
                100.0 * copy / time,
                peer.map_or("-".into(), |peer| format!("{peer:.2}")),
                peer.unwrap_or(f64::NAN) / time,
                if right { "right" } else { "WRONG" },
            );
            self.records.push(json!({
                "element_operator": name, "way": way, "bytes": bytes, "kernel": kernel,
                "kogge_us": time, "copy_us": copy, "cub_us": peer, "bits_equal_reference": right,
                "prepare_ms": prepare,
            }));
        }
    }

    fn cub(&mut self, which: i32, source: u64, target: u64, n: u64, runs: usize) -> Option<f64> {
        let library = self.cub.take()?;
        // SAFETY: the symbol of examples/cub.cu, with its signature.
        let call: libloading::Symbol<Cub> = unsafe { library.get(b"cub_scan") }.expect("cub_scan");
        let stream = self.stream.cu_stream() as u64;
        let mut bytes = 0;
        // SAFETY: without memory it only asks how much it needs.
        let known = unsafe { call(which, 0, source, target, &mut bytes, n, stream) } == 0;
        let time = known.then(|| {
            let memory = self.stream.alloc_zeros::<u8>(bytes.max(1) as usize).expect("memory");
            let scratch = memory.device_ptr(&self.stream.clone()).0;
            self.time(runs, || {
                // SAFETY: the memory has the bytes it asked for.
                let status = unsafe { call(which, scratch, source, target, &mut bytes, n, stream) };
                assert_eq!(status, 0, "CUB");
            })
        });
        self.cub = Some(library);
        time
    }
}

/// Whether the bytes are those of the fixed order. The CPU engine, which is tested against the
/// reference, gives them in seconds for a gibibyte.
fn agree<T, A, O>(operator: &O, kind: Kind, direction: Direction, input: &[T], got: &[u8]) -> bool
where
    T: Accumulate<A>,
    A: Element + DeviceType,
    O: DeviceOperator<A>,
{
    let mut values = vec![T::zeroed(); input.len()];
    let request = kogge_cpu::Request { kind, direction, ..kogge_cpu::Request::new(operator) };
    kogge_cpu::scan_into::<T, T, A, O>(&request, input, &mut values).expect("equal lengths");
    bytemuck::cast_slice::<T, u8>(&values) == got
}

fn main() {
    let mut arguments = std::env::args().skip(1).peekable();
    let cub = arguments.next_if(|a| a.ends_with(".so")).map(|path| {
        // SAFETY: the library of examples/cub.cu has no initialisers of its own.
        unsafe { Library::new(path) }.expect("the library")
    });
    let mut tuning = Tuning::default();
    while let Some(setting) = arguments.next_if(|a| a.contains('=')) {
        let (name, value) = setting.split_once('=').expect("name=value");
        let value: u32 = value.parse().expect("a number");
        match name {
            "cluster_blocks" => tuning.cluster_blocks = value,
            "cluster_segments" => tuning.cluster_segments = value,
            "few_segments" => tuning.few_segments = value.into(),
            "tile_blocks" => tuning.tile_blocks = value,
            "copies" => tuning.copies = value,
            "rounds_bytes" => tuning.rounds_bytes = value.into(),
            "stages" => tuning.stages = value,
            "groups" => tuning.groups = value,
            "reducers" => tuning.reducers = value,
            "ahead" => tuning.ahead = value,
            "flight" => tuning.flight = value,
            "draw_from" => tuning.draw_from = value,
            "always_cooperative" => tuning.always_cooperative = value != 0,
            _ => panic!("{name} is no tuning"),
        }
    }
    println!("{tuning:?}");
    let sizes: Vec<f64> = arguments.map(|a| a.parse().expect("MiB")).collect();
    let device = Device::open(0).expect("a device").with_tuning(tuning);
    let stream = device.context().new_stream().expect("a stream");
    let flush = stream.alloc_zeros::<u8>(256 << 20).expect("memory");
    let name = device.context().name().expect("a name");
    let mut bench = Bench { device, stream, flush, cub, records: Vec::new() };
    for mib in sizes {
        let integer = |i: u64| (i.wrapping_mul(2_654_435_761) >> 7) as i64 % 7 - 3;
        let float = move |i: u64| integer(i) as f32 * 0.37;
        bench.measure::<i8, i8, _>("i8 sum", 0, Sum, |i| integer(i) as i8, mib);
        bench.measure::<i16, i16, _>("i16 sum", 1, Sum, |i| integer(i) as i16, mib);
        bench.measure::<f16, f32, _>("f16 sum", 2, Sum, |i| f16::from_f32(float(i)), mib);
        bench.measure::<bf16, f32, _>("bf16 sum", 3, Sum, |i| bf16::from_f32(float(i)), mib);
        bench.measure::<i32, i32, _>("i32 sum", 4, Sum, |i| integer(i) as i32, mib);
        bench.measure::<f32, f32, _>("f32 sum", 5, Sum, float, mib);
        bench.measure::<f32, f32, _>("f32 max", 9, Max, float, mib);
        bench.measure::<i64, i64, _>("i64 sum", 6, Sum, integer, mib);
        bench.measure::<f64, f64, _>("f64 sum", 7, Sum, |i| float(i) as f64, mib);
        let affine =
            |i: u64| Affine { a: 0.5 + 0.05 * (integer(i) + 3) as f32, b: integer(i) as f32 };
        bench.measure::<Affine<f32>, Affine<f32>, _>("f32 affine", 8, Compose, affine, mib);
        let wide =
            |i: u64| Affine { a: 0.5 + 0.05 * (integer(i) + 3) as f64, b: integer(i) as f64 };
        bench.measure::<Affine<f64>, Affine<f64>, _>("f64 affine", -1, Compose, wide, mib);
        let matrix = |i: u64| {
            let x = |k| 0.1 * integer(i + k) as f32;
            Matrix2 { m00: x(0), m01: x(1), m10: x(2), m11: x(3) }
        };
        bench.measure::<Matrix2<f32>, Matrix2<f32>, _>("f32 matrix2", -1, MatMul, matrix, mib);
    }
    println!(
        "JSON {}",
        json!({ "device": name, "tuning": format!("{tuning:?}"), "cold": true, "median": true, "runs": bench.records })
    );
}
