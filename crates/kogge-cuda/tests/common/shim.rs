//! The kernels' own text as a program for the CPU, and the requests that it answers.
//!
//! Needs a C++20 compiler (`CXX`, else g++) and an x86-64.

use super::depth::thorough;
use super::{Random, expected};
use kogge_core::ops::{Affine, Compose, MatMul, Matrix2, Max, Sum};
use kogge_core::{Accumulate, Direction, Element, Kind, Operator, Order, bytemuck, operator};
use kogge_cuda::{OperatorSource, PRELUDE, operator_source};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
pub struct Triple {
    pub x: u32,
    pub y: u32,
    pub z: u32,
}
#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
pub struct Bytes3 {
    pub x: u8,
    pub y: u8,
    pub z: u8,
}
/// Four bytes, which may lie at any even address.
#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
pub struct Halves {
    pub x: u16,
    pub y: u16,
}

/// Wide values, in chunks of a quad.
#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
pub struct Twins {
    pub x: i64,
    pub y: i64,
}

// Operators that aren't associative: their value tells the brackets.
#[operator(identity = 0)]
pub fn BracketsI64(left: i64, right: i64) -> i64 {
    left * 3 + right
}
#[operator(identity = 0)]
pub fn BracketsI32(left: i32, right: i32) -> i32 {
    left * 3 + right
}
#[operator(identity = 0)]
pub fn BracketsU32(left: u32, right: u32) -> u32 {
    left * 3 + right
}
#[operator(identity = Triple { x: 0, y: 0, z: 0 })]
pub fn OfTriple(left: Triple, right: Triple) -> Triple {
    Triple { x: left.x * 3 + right.x, y: left.y * 5 + right.y, z: left.z * 7 + right.z + left.x }
}
#[operator(identity = Twins { x: 0, y: 0 })]
pub fn OfTwins(left: Twins, right: Twins) -> Twins {
    Twins { x: left.x * 3 + right.x, y: left.y * 5 + right.y + left.x }
}
#[operator(identity = Halves { x: 0, y: 0 })]
pub fn OfHalves(left: Halves, right: Halves) -> Halves {
    Halves { x: left.x * 3 + right.x, y: left.y * 5 + right.y + left.x }
}
#[operator(identity = Bytes3 { x: 0, y: 0, z: 0 })]
pub fn OfBytes3(left: Bytes3, right: Bytes3) -> Bytes3 {
    Bytes3 { x: left.x * 3 + right.x, y: left.y * 5 + right.y, z: left.z * 7 + right.z + left.x }
}

// Exact, and not commutative: maps `x` to `ax + b`, with `a` in the low half and `b` in the high
// one.
#[operator(identity = 1, exact)]
pub fn PackedU8(left: u8, right: u8) -> u8 {
    let a = right & 15;
    left * a & 15 | ((left >> 4) * a + (right >> 4)) << 4
}
#[operator(identity = 1, exact)]
pub fn PackedU32(left: u32, right: u32) -> u32 {
    let a = right & 0xffff;
    left * a & 0xffff | ((left >> 16) * a + (right >> 16)) << 16
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
        operator_source::<f32, _>(&Max, "MaxF32")?,
        operator_source::<f64, _>(&Max, "MaxF64")?,
        operator_source::<Affine<f32>, _>(&Compose, "ComposeF32")?,
        operator_source::<Affine<i32>, _>(&Compose, "ComposeI32")?,
        operator_source::<u8, _>(&PackedU8, "PackedU8")?,
        operator_source::<u32, _>(&PackedU32, "PackedU32")?,
        operator_source::<Matrix2<f32>, _>(&MatMul, "MatMulF32")?,
        operator_source::<Matrix2<f64>, _>(&MatMul, "MatMulF64")?,
        operator_source::<Triple, _>(&OfTriple, "OfTriple")?,
        operator_source::<Bytes3, _>(&OfBytes3, "OfBytes3")?,
        operator_source::<Halves, _>(&OfHalves, "OfHalves")?,
        operator_source::<Twins, _>(&OfTwins, "OfTwins")?,
    ]
    .iter()
    .fold(PRELUDE.to_owned(), |text, operator| text + &operator.text + &plain_of(operator)))
}

/// How the shim knows the operator's quicker form, if it has one.
fn plain_of(operator: &OperatorSource) -> String {
    match operator.plain.strip_suffix("Plain") {
        Some(name) => {
            format!("template <> struct PlainOf<{name}> {{ typedef {name}Plain Type; }};\n")
        }
        None => String::new(),
    }
}

pub fn compiler() -> String {
    std::env::var("CXX").unwrap_or_else(|_| "g++".into())
}

/// Whether there is no C++ compiler, which is said once; fails where one is required.
pub fn skipped() -> bool {
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

/// What the program is built for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Build {
    /// Every specimen, for the results.
    Every,
    /// A few specimens, in which faults are planted.
    Few,
    /// The same few under ThreadSanitizer.
    Sanitized,
}

impl Build {
    /// Few specimens run for a moment, less than optimising them takes; all of them for about as
    /// long.
    fn flags(self) -> &'static [&'static str] {
        match self {
            Self::Every if thorough() => &["-Og", "-DKOGGE_ALL_WAYS"],
            Self::Every => &["-Og"],
            Self::Few => &["-O0", "-DKOGGE_FEW"],
            Self::Sanitized => &["-O0", "-DKOGGE_FEW", "-g1"],
        }
    }

    /// Compiles `kernels` and the file `main` of `shim` under `sources` into a program in `folder`.
    ///
    /// Entries into functions aren't instrumented: the sanitizer would keep the stack of each of
    /// thousands of threads.
    pub fn program_of(self, main: &str, sources: &Path, folder: &Path) -> Result<PathBuf, String> {
        self.program_of_one(None, main, sources, folder)
    }

    /// The same with the specimen of this name alone.
    pub fn program_of_one(
        self,
        specimen: Option<&str>,
        main: &str,
        sources: &Path,
        folder: &Path,
    ) -> Result<PathBuf, String> {
        let text = operators().expect("the operators' text");
        std::fs::write(folder.join("operators.hpp"), text).map_err(|error| error.to_string())?;
        let program = folder.join("program");
        let include = format!("-I{}", folder.display());
        let mut flags = vec![include.as_str()];
        flags.extend(self.flags());
        let only = specimen.map(|name| format!("-DKOGGE_ONLY=\"{name}\""));
        flags.extend(only.as_deref());
        if self == Self::Sanitized {
            flags.extend(["-fsanitize=thread", "--param=tsan-instrument-func-entry-exit=0"]);
        }
        compile(&flags, &[&sources.join("shim").join(main), self.runtime()?], &program)?;
        Ok(program)
    }

    /// The shim's runtime, compiled once. It isn't instrumented: it tells the sanitizer by itself
    /// what orders what.
    fn runtime(self) -> Result<&'static Path, String> {
        static RUNTIMES: [OnceLock<Result<PathBuf, String>>; 2] = [const { OnceLock::new() }; 2];
        let sanitized = self == Self::Sanitized;
        let object = RUNTIMES[sanitized as usize].get_or_init(|| {
            let name = ["runtime.o", "runtime-sanitized.o"][sanitized as usize];
            let object = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
            let order = if sanitized { "-DKOGGE_TSAN" } else { "-UKOGGE_TSAN" };
            let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("shim/runtime.cpp");
            compile(&["-O1", "-c", order], &[&source], &object)?;
            Ok(object)
        });
        object.as_deref().map_err(String::clone)
    }
}

fn compile(flags: &[&str], inputs: &[&Path], output: &Path) -> Result<(), String> {
    let mut build = Command::new(compiler());
    build.args(["-std=c++20", "-mcx16", "-ffp-contract=off"]);
    build.args(["-Wno-unknown-pragmas", "-Wno-tsan", "-pthread"]);
    let run = build.args(flags).args(inputs).arg("-o").arg(output).output();
    let done = run.map_err(|error| format!("{}: {error}", compiler()))?;
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    if done.status.success() { Ok(()) } else { Err(said) }
}

/// A running program.
pub struct Shim {
    child: Child,
    /// Whether it has but two of the four kinds and directions.
    few: bool,
    /// The one specimen that it has, if it hasn't got all.
    only: Option<String>,
}

impl Shim {
    pub fn start(program: &Path) -> Self {
        Self::spawn(program, false, None)
    }

    /// One of few specimens, or of a single one.
    pub fn start_few(program: &Path, only: Option<&str>) -> Self {
        Self::spawn(program, true, only)
    }

    /// Whether the program has this specimen. Requests for others are made up all the same, so that
    /// those for it are the same whatever else there is.
    pub fn has(&self, specimen: &str) -> bool {
        self.only.as_deref().is_none_or(|only| only == specimen)
    }

    /// A kind and a direction in which the program has this specimen: `has_way` of shim/memory.hpp.
    pub fn way(&self, random: &mut Random, specimen: &str) -> (Kind, Direction) {
        match thorough() || specimen.starts_with("brackets") {
            true => self.any_way(random),
            false => Self::one_of_two(random, self.few || specimen.len().is_multiple_of(2)),
        }
    }

    /// The same where specimens take every kind and direction, but for few.
    pub fn any_way(&self, random: &mut Random) -> (Kind, Direction) {
        if self.few {
            return Self::one_of_two(random, true);
        }
        let kind = [Kind::Inclusive, Kind::Exclusive][random.below(2)];
        (kind, [Direction::Forward, Direction::Reverse][random.below(2)])
    }

    /// Inclusive and exclusive, one of them forward; whether it is the first.
    fn one_of_two(random: &mut Random, inclusive_forward: bool) -> (Kind, Direction) {
        let kind = [Kind::Inclusive, Kind::Exclusive][random.below(2)];
        match (kind == Kind::Inclusive) == inclusive_forward {
            true => (kind, Direction::Forward),
            false => (kind, Direction::Reverse),
        }
    }

    fn spawn(program: &Path, few: bool, only: Option<&str>) -> Self {
        let child = Command::new(program)
            .env("KOGGE_LATE", if few { "2" } else { "16" })
            .env("TSAN_OPTIONS", "halt_on_error=1 exitcode=66 history_size=0")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        Self { child: child.expect("the shim starts"), few, only: only.map(str::to_owned) }
    }

    /// The answer to a request, or what the program said as it ended.
    pub fn run(&mut self, header: &str, parts: &[&[u8]], answer: usize) -> Result<Vec<u8>, String> {
        let input = self.child.stdin.as_mut().expect("piped");
        let mut bytes = format!("{header}\n").into_bytes();
        parts.iter().for_each(|part| bytes.extend_from_slice(part));
        let sent = input.write_all(&bytes).and_then(|()| input.flush());
        let mut output = vec![0; answer];
        let read = self.child.stdout.as_mut().expect("piped").read_exact(&mut output);
        if sent.is_ok() && read.is_ok() {
            return Ok(output);
        }
        let mut said = String::new();
        let _ = self.child.stderr.as_mut().expect("piped").read_to_string(&mut said);
        let lines: Vec<&str> =
            said.lines().filter(|line| !line.trim().is_empty()).take(8).collect();
        let status = self.child.wait().expect("the shim ends");
        Err(format!("{header}: {status}: {}", lines.join("\n")))
    }
}

impl Drop for Shim {
    fn drop(&mut self) {
        // Without its input it ends.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// How a scan is launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Launch {
    Segments,
    /// With so many blocks, if there are as many tiles.
    Rounds(u32),
    Tiles,
    /// Whose blocks have one segment each, or two; sixteen blocks at most.
    Cluster(u32),
}

pub struct Case<'a, O, A> {
    pub name: &'a str,
    pub operator: O,
    pub init: A,
}

impl<O, A> Case<'_, O, A> {
    /// Runs a scan in some random way; says what is wrong with it, if anything.
    pub fn check<T, U>(
        &self,
        shim: &mut Shim,
        random: &mut Random,
        launch: Launch,
        input: &[T],
    ) -> Result<(), String>
    where
        T: Accumulate<A>,
        U: Accumulate<A>,
        A: Element,
        O: Operator<A>,
    {
        let (kind, direction) = shim.way(random, self.name);
        let init_kind = random.below(3);
        let in_place = size_of::<T>() == size_of::<U>() && random.below(3) == 0;
        let mut offset = |align: usize| {
            if random.below(2) == 0 { 0 } else { random.below(16 / align.min(16)) * align }
        };
        let offsets = [offset(align_of::<T>()), offset(align_of::<U>())];
        let parts = |of: usize| input.len().div_ceil(of).max(1) as u32;
        let order = Order::of::<T>();
        let (kernel, grid) = match launch {
            Launch::Segments => (0, parts(order.segment())),
            Launch::Rounds(grid) => (1, grid.min(parts(order.tile()))),
            Launch::Tiles => (2, parts(order.tile())),
            Launch::Cluster(segments) => (2 + segments, parts(order.segment() * segments as usize)),
        };
        let code = (kind == Kind::Exclusive) as u32 + 2 * (direction == Direction::Reverse) as u32;
        let header = format!(
            "{} {code} {kernel} {grid} {} {} {init_kind} {} {} {}",
            self.name,
            random.below(1 << 30),
            input.len(),
            in_place as u32,
            offsets[0],
            offsets[1],
        );
        if !shim.has(self.name) {
            return Ok(());
        }
        let init = (init_kind > 0).then_some(self.init);
        let (values, total) = expected::<T, U, A, O>(&self.operator, input, kind, direction, init);
        let parts = [bytemuck::bytes_of(&self.init), bytemuck::cast_slice(input)];
        let answer = shim.run(&header, &parts, values.len() + total.len())?;
        let size = size_of::<U>();
        if let Some(i) = (0..values.len()).find(|&i| answer[i] != values[i]) {
            return Err(format!("{header}: element {} of {} is wrong", i / size, input.len()));
        }
        if answer[values.len()..] != total[..] {
            return Err(format!("{header}: the total is wrong"));
        }
        Ok(())
    }
}
