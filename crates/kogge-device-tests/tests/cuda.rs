//! The generated CUDA C++, compiled by nvcc and run on a GPU.
//!
//! Skipped where there is no nvcc or no GPU, unless KOGGE_REQUIRE_CUDA=1. nvcc's defaults allow it
//! to contract products and sums: the text must not depend on that.

use kogge_core::device::cuda;
use kogge_device_tests::{Case, Tolerance, cases, skip};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Random pairs for each case, after all pairs of special values.
const RANDOM: usize = 50_000;

#[test]
fn a_gpu_gives_the_bits_of_the_rust() {
    let cases = cases::all();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let library = match compile(&cases, folder.path()) {
        Ok(library) => library,
        Err(reason) => return skip("KOGGE_REQUIRE_CUDA", &reason),
    };
    // SAFETY: the library has no initialiser but those of CUDA's own runtime.
    let library = unsafe { libloading::Library::new(library) }.expect("the library just built");
    type Count = unsafe extern "C" fn() -> i32;
    // SAFETY: `compile` wrote this function.
    let gpus = unsafe { library.get::<Count>("gpus").expect("its symbol")() };
    if gpus == 0 {
        return skip("KOGGE_REQUIRE_CUDA", "there is no CUDA GPU");
    }
    let (mut failures, mut pairs) = (Vec::new(), 0);
    for case in &cases {
        let operands = case.operands(RANDOM);
        let expected = case.expected(&operands);
        let mut given = vec![0; expected.len()];
        type Run = unsafe extern "C" fn(*const u8, *const u8, *mut u8, u64) -> i32;
        // SAFETY: `compile` wrote a function of this name and type for each case.
        let run = unsafe { library.get::<Run>(format!("run_{}", case.name)) }.expect("its symbol");
        // SAFETY: all three are of this many bytes.
        let status = unsafe {
            run(
                operands.left.as_ptr(),
                operands.right.as_ptr(),
                given.as_mut_ptr(),
                given.len() as u64,
            )
        };
        assert_eq!(status, 0, "{}: cudaError", case.name);
        // CUDA's own functions may be 2 units off, and so may ours, the other way.
        let tolerance = Tolerance { ulps: 2 * case.tolerance.ulps, ..case.tolerance };
        let verdict = case.judge(tolerance, &operands, &expected, &given);
        pairs += verdict.pairs;
        if case.tolerance.ulps > 0 {
            println!("{}: at most {} ulp from libm", case.name, verdict.ulps);
        }
        if verdict.wrong > 0 {
            failures.push(format!("{}: {verdict}", case.name));
        }
    }
    println!("{} cases, {pairs} pairs", cases.len());
    assert!(failures.is_empty(), "{} cases differ:\n{}", failures.len(), failures.join("\n"));
}

/// A shared library with a `run_NAME` for each case, and `gpus`.
fn compile(cases: &[Case], folder: &Path) -> Result<PathBuf, String> {
    let (source, library) = (folder.join("cases.cu"), folder.join("cases.so"));
    let mut text = cuda::PRELUDE.to_owned();
    text += RUNNER;
    for case in cases {
        let name = &case.name;
        let source = case.cuda().unwrap_or_else(|error| panic!("{name}: {error}"));
        text += source.strip_prefix(cuda::PRELUDE).unwrap_or(&source);
        let _ = write!(
            text,
            r#"
static __global__ void kernel_{name}(const kogge::{name}::Element* left, const kogge::{name}::Element* right, kogge::{name}::Element* out, size_t count) {{
    size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < count) out[i] = kogge::{name}::combine(left[i], right[i]);
}}
extern "C" int run_{name}(const char* left, const char* right, char* out, unsigned long long bytes) {{
    return run(kernel_{name}, left, right, out, bytes);
}}
"#
        );
    }
    std::fs::write(&source, text).expect("room for the source");
    let output = Command::new("nvcc")
        .args(["-std=c++17", "-shared", "-Xcompiler=-fPIC", "-arch=native", "-o"])
        .args([&library, &source])
        .output()
        .map_err(|_| "there is no nvcc".to_owned())?;
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}", errors.chars().take(4_000).collect::<String>());
    Ok(library)
}

const RUNNER: &str = r#"
extern "C" int gpus() {
    int count = 0;
    return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

template <class Element>
static int run(void (*kernel)(const Element*, const Element*, Element*, size_t),
               const char* left, const char* right, char* out, unsigned long long bytes) {
    Element* memory[3] = {};
    size_t count = bytes / sizeof(Element);
    for (Element*& buffer : memory)
        if (cudaError_t error = cudaMalloc(&buffer, bytes)) return error;
    cudaMemcpy(memory[0], left, bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(memory[1], right, bytes, cudaMemcpyHostToDevice);
    kernel<<<unsigned((count + 255) / 256), 256>>>(memory[0], memory[1], memory[2], count);
    cudaMemcpy(out, memory[2], bytes, cudaMemcpyDeviceToHost);
    for (Element* buffer : memory) cudaFree(buffer);
    return cudaGetLastError();
}
"#;
