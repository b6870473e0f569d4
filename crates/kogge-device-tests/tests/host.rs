//! The generated CUDA C++, compiled by the system's C++ compiler and run on this CPU.
//!
//! The compiler traps on undefined behaviour, so a signed overflow, a shift past the width, an
//! out-of-range cast or index fails the test even where the bits happen to be right. Skipped where
//! there is no compiler (`CXX`, else c++), unless KOGGE_REQUIRE_CXX=1.

use kogge_core::device::cuda;
use kogge_device_tests::{Case, cases, skip};
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

/// What CUDA has built in, for a host: the intrinsics round to nearest, as plain operators do here.
const SHIM: &str = include_str!("host_shim.hpp");

/// Random pairs for each case, after all pairs of special values.
const RANDOM: usize = 20_000;

#[test]
fn generated_cuda_is_bit_for_bit_the_rust() {
    if Command::new(compiler()).arg("--version").output().is_err() {
        return skip("KOGGE_REQUIRE_CXX", "there is no C++ compiler");
    }
    let cases = cases::all();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let library = compile(&cases, folder.path());
    // SAFETY: the library has no initialiser but those of C++'s own runtime.
    let library = unsafe { libloading::Library::new(library) }.expect("the library just built");
    let mut failures = Vec::new();
    let mut pairs = 0;
    for case in &cases {
        let operands = case.operands(RANDOM);
        let expected = case.expected(&operands);
        let mut given = vec![0; expected.len()];
        type Run = unsafe extern "C" fn(*const u8, *const u8, *mut u8, u64);
        // SAFETY: `compile` wrote a function of this name and type for each case.
        let run = unsafe { library.get::<Run>(format!("run_{}", case.name)) }.expect("its symbol");
        let count = (given.len() / case.bytes()) as u64;
        // SAFETY: all three hold `count` elements, whose size the generated text asserts.
        unsafe { run(operands.left.as_ptr(), operands.right.as_ptr(), given.as_mut_ptr(), count) };
        let verdict = case.judge(case.tolerance, &operands, &expected, &given);
        pairs += verdict.pairs;
        if verdict.wrong > 0 {
            failures.push(format!("{}: {verdict}", case.name));
        }
        let mut identity = vec![0; case.bytes()];
        type Identity = unsafe extern "C" fn(*mut u8);
        let symbol = format!("identity_{}", case.name);
        // SAFETY: as above.
        let write = unsafe { library.get::<Identity>(symbol) }.expect("its symbol");
        // SAFETY: `identity` has room for one element.
        unsafe { write(identity.as_mut_ptr()) };
        if identity != case.identity() {
            failures.push(format!("{}: identity {identity:x?}", case.name));
        }
    }
    println!("{} cases, {pairs} pairs", cases.len());
    assert!(failures.is_empty(), "{} cases differ:\n{}", failures.len(), failures.join("\n"));
}

fn compiler() -> String {
    std::env::var("CXX").unwrap_or_else(|_| "c++".to_owned())
}

/// A shared library with a `run_NAME` and an `identity_NAME` for each case.
fn compile(cases: &[Case], folder: &Path) -> std::path::PathBuf {
    let (source, library) = (folder.join("cases.cpp"), folder.join("cases.so"));
    let mut text = format!("{SHIM}{}", cuda::PRELUDE);
    for case in cases {
        let name = &case.name;
        let source = case.cuda().unwrap_or_else(|error| panic!("{name}: {error}"));
        // Once is enough.
        text += source.strip_prefix(cuda::PRELUDE).unwrap_or(&source);
        // Copies, because the bytes have no alignment.
        let _ = write!(
            text,
            r#"
extern "C" void run_{name}(const char* left, const char* right, char* out, kogge::u64 count) {{
    for (kogge::u64 i = 0; i < count; ++i) {{
        kogge::{name}::Element a, b;
        __builtin_memcpy(&a, left + i * sizeof a, sizeof a);
        __builtin_memcpy(&b, right + i * sizeof b, sizeof b);
        kogge::{name}::Element c = kogge::{name}::combine(a, b);
        __builtin_memcpy(out + i * sizeof c, &c, sizeof c);
    }}
}}
extern "C" void identity_{name}(char* out) {{
    kogge::{name}::Element value = kogge::{name}::identity();
    __builtin_memcpy(out, &value, sizeof value);
}}
"#
        );
    }
    std::fs::write(&source, text).expect("room for the source");
    let compiler = compiler();
    let output = Command::new(&compiler)
        .args([
            "-std=c++17",
            "-O1",
            "-shared",
            "-fPIC",
            "-ffp-contract=off",
            "-fno-strict-aliasing",
        ])
        .args(["-Wall", "-Wextra", "-Wno-unused", "-Wno-unused-parameter", "-Werror"])
        .args(["-fsanitize=undefined,float-cast-overflow,float-divide-by-zero"])
        .args(["-fno-sanitize=float-divide-by-zero,vptr", "-fsanitize-undefined-trap-on-error"])
        .arg("-o")
        .args([&library, &source])
        .output()
        .unwrap_or_else(|error| panic!("no C++ compiler `{compiler}`: {error}"));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}", errors.chars().take(4_000).collect::<String>());
    library
}
