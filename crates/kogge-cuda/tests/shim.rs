//! The kernels' own text, compiled for the CPU under the shim, gives the reference's bits: for every
//! boundary length, for operators that don't commute and operators that show their brackets, forwards
//! and in reverse, at any alignment, with one block or many.
//!
//! Needs a C++20 compiler (`CXX`, else g++) and an x86-64.
#![cfg(target_arch = "x86_64")]

mod common;

use common::{Random, boundary_lengths, expected};
use kogge_core::ops::{Affine, Compose, MatMul, Matrix2, Max, Sum};
use kogge_core::{
    Accumulate, Direction, Element, Kind, Operator, Order, bf16, bytemuck, f16, operator,
};
use kogge_cuda::{PRELUDE, operator_source};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
struct Triple {
    x: u32,
    y: u32,
    z: u32,
}
#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
struct Bytes3 {
    x: u8,
    y: u8,
    z: u8,
}

// Operators that aren't associative: their value tells the brackets.
#[operator(identity = 0)]
fn BracketsI64(left: i64, right: i64) -> i64 {
    left * 3 + right
}
#[operator(identity = 0)]
fn BracketsI32(left: i32, right: i32) -> i32 {
    left * 3 + right
}
#[operator(identity = 0)]
fn BracketsU32(left: u32, right: u32) -> u32 {
    left * 3 + right
}
#[operator(identity = Triple { x: 0, y: 0, z: 0 })]
fn OfTriple(left: Triple, right: Triple) -> Triple {
    Triple { x: left.x * 3 + right.x, y: left.y * 5 + right.y, z: left.z * 7 + right.z + left.x }
}
#[operator(identity = Bytes3 { x: 0, y: 0, z: 0 })]
fn OfBytes3(left: Bytes3, right: Bytes3) -> Bytes3 {
    Bytes3 { x: left.x * 3 + right.x, y: left.y * 5 + right.y, z: left.z * 7 + right.z + left.x }
}

/// The operators as the engine hands them to NVRTC.
fn operators() -> Result<String, kogge_cuda::Error> {
    Ok([
        operator_source::<i64, _>(&BracketsI64, "BracketsI64")?,
        operator_source::<i32, _>(&BracketsI32, "BracketsI32")?,
        operator_source::<u32, _>(&BracketsU32, "BracketsU32")?,
        operator_source::<f32, _>(&Sum, "SumF32")?,
        operator_source::<f64, _>(&Sum, "SumF64")?,
        operator_source::<i8, _>(&Sum, "SumI8")?,
        operator_source::<i16, _>(&Sum, "SumI16")?,
        operator_source::<f64, _>(&Max, "MaxF64")?,
        operator_source::<Affine<f32>, _>(&Compose, "ComposeF32")?,
        operator_source::<Matrix2<f32>, _>(&MatMul, "MatMulF32")?,
        operator_source::<Matrix2<f64>, _>(&MatMul, "MatMulF64")?,
        operator_source::<Triple, _>(&OfTriple, "OfTriple")?,
        operator_source::<Bytes3, _>(&OfBytes3, "OfBytes3")?,
    ]
    .iter()
    .fold(PRELUDE.to_owned(), |text, operator| text + &operator.text))
}

/// The shim's program, built once. `KOGGE_KERNELS` names another folder of kernels and shim, in which
/// a fault has been planted.
fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let sources = std::env::var_os("KOGGE_KERNELS")
            .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
        let folder = tempfile::tempdir().expect("a folder for the shim").keep();
        let program = folder.join("shim");
        let operators = operators().expect("the operators' text");
        std::fs::write(folder.join("operators.hpp"), operators).expect("room for the text");
        let mut build = Command::new(compiler());
        build.args(["-std=c++20", "-O1", "-mcx16", "-ffp-contract=off", "-Wno-unknown-pragmas"]);
        build
            .arg("-pthread")
            .arg("-I")
            .arg(&folder)
            .arg("-o")
            .arg(&program)
            .arg(sources.join("shim/main.cpp"));
        assert!(build.status().expect("a C++ compiler runs").success(), "the shim compiles");
        program
    })
}

fn compiler() -> String {
    std::env::var("CXX").unwrap_or_else(|_| "g++".into())
}

/// Whether there is no C++ compiler, which is said once; fails where one is required.
fn skipped() -> bool {
    static SKIPPED: OnceLock<bool> = OnceLock::new();
    *SKIPPED.get_or_init(|| {
        let found = Command::new(compiler()).arg("--version").output().is_ok();
        let required = std::env::var("KOGGE_REQUIRE_CXX").is_ok_and(|value| value == "1");
        assert!(found || !required, "KOGGE_REQUIRE_CXX=1, but there is no {}", compiler());
        if !found {
            // Straight to the terminal: the harness hides what a passing test prints.
            let _ = writeln!(std::io::stderr(), "SKIPPED: the shim needs a C++ compiler");
        }
        !found
    })
}

struct Shim(Child);

impl Shim {
    fn start() -> Self {
        let child = Command::new(program()).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        Self(child.expect("the shim starts"))
    }

    fn run(&mut self, header: &str, parts: &[&[u8]], answer: usize) -> Vec<u8> {
        let input = self.0.stdin.as_mut().expect("piped");
        let mut bytes = format!("{header}\n").into_bytes();
        parts.iter().for_each(|part| bytes.extend_from_slice(part));
        input.write_all(&bytes).and_then(|()| input.flush()).expect("the shim reads");
        let mut output = vec![0; answer];
        let read = self.0.stdout.as_mut().expect("piped").read_exact(&mut output);
        assert!(read.is_ok(), "the shim ended at {header}: {:?}", self.0.wait());
        output
    }
}

impl Drop for Shim {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let status = self.0.wait().expect("the shim ends");
        assert!(status.success() || std::thread::panicking(), "the shim: {status}");
    }
}

/// How a scan is launched: the grid of the rounds kernel, or none for the segment kernel.
type Launch = Option<u32>;

struct Case<'a, O, A> {
    name: &'a str,
    operator: O,
    init: A,
}

impl<O, A> Case<'_, O, A> {
    fn check<T, U>(&self, shim: &mut Shim, random: &mut Random, launch: Launch, input: &[T])
    where
        T: Accumulate<A>,
        U: Accumulate<A>,
        A: Element,
        O: Operator<A>,
    {
        let kind = [Kind::Inclusive, Kind::Exclusive][random.below(2)];
        let direction = [Direction::Forward, Direction::Reverse][random.below(2)];
        let init_kind = random.below(3);
        let in_place = size_of::<T>() == size_of::<U>() && random.below(3) == 0;
        let mut offset = |align: usize| {
            if random.below(2) == 0 { 0 } else { random.below(16 / align.min(16)) * align }
        };
        let offsets = [offset(align_of::<T>()), offset(align_of::<U>())];
        let segments = input.len().div_ceil(Order::of::<T>().segment()).max(1);
        let grid = launch.map_or(segments as u32, |grid| {
            grid.min(input.len().div_ceil(Order::of::<T>().tile()).max(1) as u32)
        });
        let code = (kind == Kind::Exclusive) as u32 + 2 * (direction == Direction::Reverse) as u32;
        let header = format!(
            "{} {code} {} {grid} {} {} {init_kind} {} {} {}",
            self.name,
            launch.is_some() as u32,
            random.below(1 << 30),
            input.len(),
            in_place as u32,
            offsets[0],
            offsets[1],
        );
        let init = (init_kind > 0).then_some(self.init);
        let (values, total) = expected::<T, U, A, O>(&self.operator, input, kind, direction, init);
        let parts = [bytemuck::bytes_of(&self.init), bytemuck::cast_slice(input)];
        let answer = shim.run(&header, &parts, values.len() + total.len());
        let size = size_of::<U>();
        if let Some(i) = (0..values.len()).find(|&i| answer[i] != values[i]) {
            panic!("{header}: element {} of {} is wrong", i / size, input.len());
        }
        assert_eq!(answer[values.len()..], total[..], "{header}: the total is wrong");
    }

    /// Every boundary length by both kernels; then many blocks in rounds.
    fn sweep<T, U>(&self, make: impl Fn(&mut Random) -> T)
    where
        T: Accumulate<A>,
        U: Accumulate<A>,
        A: Element,
        O: Operator<A>,
    {
        if skipped() {
            return;
        }
        let order = Order::of::<T>();
        let tile_bytes = order.tile() * size_of::<T>();
        let mut random = Random(self.name.bytes().map(u64::from).sum());
        let mut shim = Shim::start();
        let seconds = 8;
        let most = order.tile() * 5;
        let data: Vec<T> = (0..order.tile() * 140).map(|_| make(&mut random)).collect();
        for n in boundary_lengths(order, most) {
            let from = random.below(data.len() - n);
            let input = &data[from..from + n];
            self.check::<T, U>(&mut shim, &mut random, None, input);
            if n > 0 {
                let grid = 1 + random.below(6) as u32;
                self.check::<T, U>(&mut shim, &mut random, Some(grid), input);
            }
        }
        // Blocks of 32 tiles that rounds of any width cut anywhere.
        let start = std::time::Instant::now();
        for grid in [3, 32, 65, 5, 31, 64, 70] {
            let tiles = grid + 1 + random.below(70);
            let n = (order.tile() * tiles).min(data.len() - 16) - random.below(order.tile());
            let from = random.below(data.len() - n);
            self.check::<T, U>(&mut shim, &mut random, Some(grid as u32), &data[from..from + n]);
            if tile_bytes > 64 << 10 || start.elapsed().as_secs() > seconds {
                break;
            }
        }
        // Segments of more than one block of tiles.
        for tiles in [9, 33, 40] {
            let n = order.tile() * tiles - random.below(order.tile());
            self.check::<T, U>(&mut shim, &mut random, None, &data[..n]);
            if start.elapsed().as_secs() > 2 * seconds {
                break;
            }
        }
    }
}

fn small_float(random: &mut Random) -> f32 {
    (random.below(2001) as f32 - 1000.0) / 1024.0
}
fn wild_float(random: &mut Random) -> f32 {
    match random.below(16) {
        0 => -0.0,
        1 => 0.0,
        _ => small_float(random) * (1u64 << random.below(40)) as f32,
    }
}

#[test]
fn brackets_i64() {
    Case { name: "brackets_i64", operator: BracketsI64, init: 41i64 }
        .sweep::<i64, i64>(|r| r.next() as i64);
}

#[test]
fn brackets_i32_without_bulk_copies() {
    Case { name: "brackets_i32_old", operator: BracketsI32, init: -9i32 }
        .sweep::<i32, i32>(|r| r.next() as i32);
}

#[test]
fn sum_f32() {
    Case { name: "sum_f32", operator: Sum, init: 0.3f32 }.sweep::<f32, f32>(wild_float);
}

#[test]
fn sum_i8() {
    Case { name: "sum_i8", operator: Sum, init: 100i8 }.sweep::<i8, i8>(|r| r.next() as i8);
}

#[test]
fn sum_i16() {
    Case { name: "sum_i16", operator: Sum, init: -30000i16 }.sweep::<i16, i16>(|r| r.next() as i16);
}

#[test]
fn brackets_u8_in_u32() {
    Case { name: "brackets_u8_u32", operator: BracketsU32, init: 5u32 }
        .sweep::<u8, u32>(|r| r.next() as u8);
}

#[test]
fn sum_f16() {
    Case { name: "sum_f16", operator: Sum, init: 0.3f32 }
        .sweep::<f16, f16>(|r| f16::from_f32(wild_float(r).clamp(-6e4, 6e4)));
}

#[test]
fn sum_bf16() {
    Case { name: "sum_bf16", operator: Sum, init: 0.3f32 }
        .sweep::<bf16, bf16>(|r| bf16::from_f32(wild_float(r)));
}

/// Floats that conversions must take care of: NaNs with a payload, zeros, values that round.
fn hurting(random: &mut Random) -> f32 {
    match random.below(300) {
        0 => f32::from_bits(0xffc0_0000 | random.below(1 << 22) as u32),
        1 => f32::from_bits(0x7f80_0001 | random.below(1 << 22) as u32),
        _ => wild_float(random),
    }
}

#[test]
fn max_f16_in_f64() {
    Case { name: "max_f16_in_f64", operator: Max, init: 0.1f64 }
        .sweep::<f16, f16>(|r| f16::from_f32(hurting(r)));
}

#[test]
fn sum_bf16_in_f64() {
    Case { name: "sum_bf16_in_f64", operator: Sum, init: 0.1f64 }
        .sweep::<bf16, bf16>(|r| bf16::from_f32(wild_float(r)));
}

#[test]
fn max_f32_in_f64() {
    Case { name: "max_f32_in_f64", operator: Max, init: 0.1f64 }.sweep::<f32, f32>(hurting);
}

#[test]
fn compose_f32() {
    Case { name: "compose_f32", operator: Compose, init: Affine { a: 0.5f32, b: -2.0 } }
        .sweep::<Affine<f32>, Affine<f32>>(|r| Affine { a: small_float(r), b: wild_float(r) });
}

#[test]
fn matmul_f32() {
    let init = Matrix2 { m00: 1.5f32, m01: -0.25, m10: 0.125, m11: 0.5 };
    Case { name: "matmul_f32", operator: MatMul, init }.sweep::<Matrix2<f32>, Matrix2<f32>>(|r| {
        let mut x = || small_float(r) * 1.25;
        Matrix2 { m00: x(), m01: x(), m10: x(), m11: x() }
    });
}

#[test]
fn matmul_f64() {
    let init = Matrix2 { m00: 1.5f64, m01: -0.25, m10: 0.125, m11: 0.5 };
    Case { name: "matmul_f64", operator: MatMul, init }.sweep::<Matrix2<f64>, Matrix2<f64>>(|r| {
        let mut x = || small_float(r) as f64 * 1.25;
        Matrix2 { m00: x(), m01: x(), m10: x(), m11: x() }
    });
}

#[test]
fn elements_of_twelve_bytes() {
    Case { name: "triple", operator: OfTriple, init: Triple { x: 1, y: 2, z: 3 } }
        .sweep::<Triple, Triple>(|r| Triple {
            x: r.next() as u32,
            y: r.next() as u32,
            z: r.next() as u32,
        });
}

#[test]
fn elements_of_three_bytes() {
    Case { name: "bytes3", operator: OfBytes3, init: Bytes3 { x: 1, y: 2, z: 3 } }
        .sweep::<Bytes3, Bytes3>(|r| Bytes3 {
            x: r.next() as u8,
            y: r.next() as u8,
            z: r.next() as u8,
        });
}
