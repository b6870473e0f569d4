//! The text of every lesson and of every mutant compiles for real GPUs.
//!
//! Needs NVRTC, no GPU: the library named by `KOGGE_NVRTC`, or that of the Python package
//! `nvidia-cuda-nvrtc`. Without it the test says so and passes, unless `KOGGE_REQUIRE_NVRTC` is set.

mod common;

use std::ffi::{CString, c_char, c_int, c_void};
use std::path::PathBuf;
use std::process::Command;
use std::ptr::{null, null_mut};

use common::{mutated, operator};
use kogge_lab::ScalarType;
use kogge_lab::catalogue::{Operator, lessons};
use libloading::Library;

const FIND: &str = "import glob, site, sys
places = site.getsitepackages() + [site.getusersitepackages()]
found = [f for p in places for f in glob.glob(p + '/nvidia/**/libnvrtc.so.*', recursive=True)]
print(found[0] if found else '')";

fn library_path() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("KOGGE_NVRTC") {
        return Some(path.into());
    }
    let output = Command::new("python3").args(["-c", FIND]).output().ok()?;
    let path = String::from_utf8(output.stdout).ok()?;
    (!path.trim().is_empty()).then(|| path.trim().into())
}

type Create = unsafe extern "C" fn(
    *mut *mut c_void,
    *const c_char,
    *const c_char,
    c_int,
    *const *const c_char,
    *const *const c_char,
) -> c_int;
type Compile = unsafe extern "C" fn(*mut c_void, c_int, *const *const c_char) -> c_int;
type LogSize = unsafe extern "C" fn(*mut c_void, *mut usize) -> c_int;
type Log = unsafe extern "C" fn(*mut c_void, *mut c_char) -> c_int;
type Destroy = unsafe extern "C" fn(*mut *mut c_void) -> c_int;

/// Compiles `source`; the log of what went wrong if it does not compile without a warning.
fn compile(nvrtc: &Library, source: &str, arch: &str) -> Result<(), String> {
    let source = CString::new(source).expect("no NUL in a lesson");
    let option = CString::new(format!("-arch={arch}")).expect("no NUL in an option");
    // SAFETY: the symbols are those of nvrtc.h, with its signatures; every pointer is to a live value
    // of this frame, the log has the size that NVRTC gave, and the program is destroyed once.
    unsafe {
        let create: libloading::Symbol<Create> = nvrtc.get(b"nvrtcCreateProgram").expect("symbol");
        let compile: libloading::Symbol<Compile> =
            nvrtc.get(b"nvrtcCompileProgram").expect("symbol");
        let log_size: libloading::Symbol<LogSize> =
            nvrtc.get(b"nvrtcGetProgramLogSize").expect("symbol");
        let log: libloading::Symbol<Log> = nvrtc.get(b"nvrtcGetProgramLog").expect("symbol");
        let destroy: libloading::Symbol<Destroy> =
            nvrtc.get(b"nvrtcDestroyProgram").expect("symbol");
        let mut program = null_mut();
        assert_eq!(create(&mut program, source.as_ptr(), null(), 0, null(), null()), 0);
        let result = compile(program, 1, &option.as_ptr());
        let mut size = 0;
        assert_eq!(log_size(program, &mut size), 0);
        let mut text = vec![0_u8; size.max(1)];
        assert_eq!(log(program, text.as_mut_ptr().cast()), 0);
        destroy(&mut program);
        let text = String::from_utf8_lossy(&text).trim_matches(['\0', '\n', ' ']).to_owned();
        if result == 0 && text.is_empty() { Ok(()) } else { Err(text) }
    }
}

/// The macros of an operator as text before the first line.
fn prelude(operator: &Operator) -> String {
    operator.defines().iter().map(|(name, value)| format!("#define {name} {value}\n")).collect()
}

#[test]
fn lessons_and_mutants_compile() {
    let Some(path) = library_path() else {
        assert!(
            std::env::var_os("KOGGE_REQUIRE_NVRTC").is_none(),
            "NVRTC is required and was not found"
        );
        eprintln!("SKIPPED: no NVRTC; set KOGGE_NVRTC or install nvidia-cuda-nvrtc");
        return;
    };
    // SAFETY: loading NVRTC runs its initialisers, which have no requirements.
    let nvrtc = unsafe { Library::new(&path) }
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let affine = prelude(&operator("affine", ScalarType::U64));
    let mut failures = Vec::new();
    for lesson in lessons() {
        let mut texts = vec![
            (lesson.name.clone(), lesson.text.clone()),
            (format!("{} affine", lesson.name), affine.clone() + &lesson.text),
        ];
        texts.extend(
            lesson
                .mutants
                .iter()
                .map(|m| (format!("{} {}", lesson.name, m.name), mutated(lesson, m).text)),
        );
        for (name, text) in texts {
            for arch in ["sm_80", "sm_90"] {
                if let Err(log) = compile(&nvrtc, &text, arch) {
                    failures.push(format!("{name} for {arch}:\n{log}"));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn nvrtc_refuses_what_is_no_cuda() {
    let Some(path) = library_path() else { return };
    // SAFETY: as above.
    let nvrtc = unsafe { Library::new(&path) }.expect("the library loads");
    assert!(compile(&nvrtc, "__global__ void k() { x = 1; }", "sm_80").is_err());
}
