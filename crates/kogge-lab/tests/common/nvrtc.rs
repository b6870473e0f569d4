//! NVRTC: whether CUDA's own compiler takes a text.

use std::ffi::{CString, c_char, c_int, c_void};
use std::path::PathBuf;
use std::process::Command;
use std::ptr::{null, null_mut};

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
pub fn compile(nvrtc: &Library, source: &str, arch: &str) -> Result<(), String> {
    let source = CString::new(source).expect("no NUL in a lesson");
    let option = CString::new(format!("-arch={arch}")).expect("no NUL in an option");
    // SAFETY: the symbols are those of nvrtc.h, with its signatures; every pointer is to a live
    // value of this frame, the log has the size that NVRTC gave, and the program is destroyed once.
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

/// The library; none, and a line that says so, if it isn't there and need not be.
pub fn library() -> Option<Library> {
    let Some(path) = library_path() else {
        assert!(
            std::env::var_os("KOGGE_REQUIRE_NVRTC").is_none(),
            "NVRTC is required and was not found"
        );
        eprintln!("SKIPPED: no NVRTC; set KOGGE_NVRTC or install nvidia-cuda-nvrtc");
        return None;
    };
    // SAFETY: loading NVRTC runs its initialisers, which have no requirements.
    let library = unsafe { Library::new(&path) };
    Some(library.unwrap_or_else(|error| panic!("{}: {error}", path.display())))
}
