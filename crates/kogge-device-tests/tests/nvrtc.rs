//! The generated CUDA C++, compiled by NVRTC for each architecture that kogge supports.
//!
//! NVRTC comes with the CUDA toolkit, or alone from PyPI (`pip install nvidia-cuda-nvrtc`). It is
//! looked for at KOGGE_NVRTC (a file or a folder), among Python's packages, and where the system's
//! loader looks. Skipped where it isn't, unless KOGGE_REQUIRE_NVRTC=1.

use kogge_core::device::cuda;
use kogge_device_tests::{cases, skip};
use libloading::{Library, Symbol};
use std::ffi::{CString, c_char, c_int, c_void};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Compute capabilities: Ampere, Hopper, Blackwell for data centres and for desks.
const ARCHITECTURES: [c_int; 4] = [80, 90, 100, 120];

#[test]
fn nvrtc_compiles_every_case() {
    let Some(nvrtc) = Nvrtc::load() else {
        return skip("KOGGE_REQUIRE_NVRTC", "NVRTC is not to be found");
    };
    let cases = cases::all();
    let mut text = cuda::PRELUDE.to_owned();
    for case in &cases {
        let name = &case.name;
        let source = case.cuda().unwrap_or_else(|error| panic!("{name}: {error}"));
        // Once is enough.
        text += source.strip_prefix(cuda::PRELUDE).unwrap_or(&source);
        let _ = write!(
            text,
            r#"
extern "C" __global__ void run_{name}(const kogge::{name}::Element* x, kogge::{name}::Element* out) {{
    out[threadIdx.x] = kogge::{name}::combine(
        kogge::{name}::combine(kogge::{name}::identity(), x[threadIdx.x]), out[threadIdx.x]);
}}
"#
        );
    }
    let supported = nvrtc.architectures();
    let mut compiled = Vec::new();
    for architecture in ARCHITECTURES.into_iter().filter(|known| supported.contains(known)) {
        let start = std::time::Instant::now();
        let bytes = nvrtc
            .cubin(&text, architecture)
            .unwrap_or_else(|log| panic!("sm_{architecture}: {log}"));
        assert!(bytes > cases.len(), "a cubin with all kernels");
        compiled.push(architecture);
        println!("sm_{architecture}: {} cases, {:.1?}", cases.len(), start.elapsed());
    }
    assert!(compiled.contains(&80) && compiled.contains(&90), "compiled for {compiled:?} only");
}

/// No word of the language is contracted, so products and sums are instructions of their own.
#[test]
fn nothing_is_fused_behind_our_back() {
    let Some(nvrtc) = Nvrtc::load() else {
        return skip("KOGGE_REQUIRE_NVRTC", "NVRTC is not to be found");
    };
    let ptx = |name: &str| {
        let cases = cases::all();
        let case = cases.iter().find(|case| case.name == name).expect("a case of this name");
        let kernel = format!(
            "extern \"C\" __global__ void run(kogge::{name}::Element* x) {{ x[0] = kogge::{name}::combine(x[0], x[1]); }}"
        );
        nvrtc.ptx(&format!("{}{kernel}", case.cuda().expect("its source"))).expect("its PTX")
    };
    let product_and_sum = ptx("mul_then_add_f32");
    assert!(product_and_sum.contains("mul.rn.f32") && product_and_sum.contains("add.rn.f32"));
    assert!(!product_and_sum.contains("fma"), "{product_and_sum}");
    assert!(!ptx("mul_then_add_f64").contains("fma"));
    assert!(ptx("mul_add_f32").contains("fma.rn.f32"));
}

type Program = *mut c_void;

/// NVRTC, called through its C interface.
struct Nvrtc(Library);

impl Nvrtc {
    fn load() -> Option<Self> {
        // SAFETY: NVRTC's initialisers only set up its own state.
        candidates().into_iter().find_map(|path| unsafe { Library::new(path) }.ok()).map(Self)
    }

    /// A function of NVRTC.
    ///
    /// # Safety
    ///
    /// `F` must be the function's type in `nvrtc.h`.
    unsafe fn function<F>(&self, name: &str) -> Symbol<'_, F> {
        // SAFETY: the caller's promise.
        unsafe { self.0.get(name) }.unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    fn architectures(&self) -> Vec<c_int> {
        type Count = unsafe extern "C" fn(*mut c_int) -> c_int;
        type Fill = unsafe extern "C" fn(*mut c_int) -> c_int;
        let mut count = 0;
        // SAFETY: the types of `nvrtc.h`; the second call fills the `count` places that the first
        // one asked for.
        unsafe {
            self.function::<Count>("nvrtcGetNumSupportedArchs")(&mut count);
            let mut architectures = vec![0; count as usize];
            self.function::<Fill>("nvrtcGetSupportedArchs")(architectures.as_mut_ptr());
            architectures
        }
    }

    /// The size of the cubin, or the compiler's log.
    fn cubin(&self, text: &str, architecture: c_int) -> Result<usize, String> {
        self.compile(text, &format!("sm_{architecture}"), "CUBIN").map(|cubin| cubin.len())
    }

    fn ptx(&self, text: &str) -> Result<String, String> {
        // Contraction allowed, as by default: what is generated must not depend on it.
        let ptx = self.compile(text, "compute_80", "PTX")?;
        Ok(String::from_utf8_lossy(&ptx).into_owned())
    }

    fn compile(&self, text: &str, architecture: &str, product: &str) -> Result<Vec<u8>, String> {
        type Create = unsafe extern "C" fn(
            *mut Program,
            *const c_char,
            *const c_char,
            c_int,
            *const *const c_char,
            *const *const c_char,
        ) -> c_int;
        type Compile = unsafe extern "C" fn(Program, c_int, *const *const c_char) -> c_int;
        type Destroy = unsafe extern "C" fn(*mut Program) -> c_int;
        let text = CString::new(text).expect("no zero in the source");
        let options = [
            CString::new(format!("-arch={architecture}")).expect("no zero in it"),
            CString::new("-Werror=all-warnings").expect("no zero in it"),
        ];
        let options: Vec<_> = options.iter().map(|option| option.as_ptr()).collect();
        let mut program: Program = std::ptr::null_mut();
        let none: *const *const c_char = std::ptr::null();
        // SAFETY: the types of `nvrtc.h`; the strings and the program live until `Destroy`.
        unsafe {
            let create = self.function::<Create>("nvrtcCreateProgram");
            let name = c"cases.cu".as_ptr();
            assert_eq!(create(&mut program, text.as_ptr(), name, 0, none, none), 0);
            let compile = self.function::<Compile>("nvrtcCompileProgram");
            let status = compile(program, options.len() as c_int, options.as_ptr());
            let result = match status {
                0 => Ok(self.output(program, product)),
                _ => Err(String::from_utf8_lossy(&self.output(program, "ProgramLog"))
                    .chars()
                    .take(4_000)
                    .collect()),
            };
            self.function::<Destroy>("nvrtcDestroyProgram")(&mut program);
            result
        }
    }

    /// # Safety
    ///
    /// `program` must have been compiled and not destroyed.
    unsafe fn output(&self, program: Program, what: &str) -> Vec<u8> {
        type Size = unsafe extern "C" fn(Program, *mut usize) -> c_int;
        type Get = unsafe extern "C" fn(Program, *mut c_char) -> c_int;
        let mut size = 0;
        // SAFETY: the types of `nvrtc.h`, the caller's promise, and room of the size asked for.
        unsafe {
            assert_eq!(
                self.function::<Size>(&format!("nvrtcGet{what}Size"))(program, &mut size),
                0
            );
            let mut bytes = vec![0u8; size];
            let get = self.function::<Get>(&format!("nvrtcGet{what}"));
            assert_eq!(get(program, bytes.as_mut_ptr().cast()), 0);
            bytes
        }
    }
}

/// Where NVRTC may be, the likeliest place first.
fn candidates() -> Vec<PathBuf> {
    let mut found = Vec::new();
    if let Some(given) = std::env::var_os("KOGGE_NVRTC") {
        let given = PathBuf::from(given);
        found.extend(if given.is_dir() { libraries(&given) } else { vec![given] });
    }
    for packages in python_packages() {
        let folders = std::fs::read_dir(packages.join("nvidia")).into_iter().flatten().flatten();
        found.extend(folders.flat_map(|folder| libraries(&folder.path().join("lib"))));
    }
    let names = ["libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12"];
    found.extend(names.map(PathBuf::from));
    found
}

/// The files of a folder that are NVRTC itself, not its built-in headers.
fn libraries(folder: &Path) -> Vec<PathBuf> {
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|file| file.path());
    files
        .filter(|file| {
            let name = file.file_name().map(|name| name.to_string_lossy().into_owned());
            name.is_some_and(|name| name.starts_with("libnvrtc.so"))
        })
        .collect()
}

fn python_packages() -> Vec<PathBuf> {
    let script = "import sys; print('\\n'.join(p for p in sys.path if p.endswith('-packages')))";
    let output = Command::new("python3").args(["-c", script]).output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    text.unwrap_or_default().lines().map(PathBuf::from).collect()
}
