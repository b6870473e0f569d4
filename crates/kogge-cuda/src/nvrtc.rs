//! NVRTC's C interface, loaded when a kernel is first compiled.
//!
//! `KOGGE_NVRTC` names the library or its folder; else the system's loader looks for it. By hand,
//! not by cudarc, which knows the names of its own version of CUDA alone.

use crate::Error;
use libloading::Library;
use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::PathBuf;
use std::ptr::{null, null_mut};
use std::sync::OnceLock;

type Handle = *mut c_void;
type Status = c_int;
/// That it is the text's fault: `NVRTC_ERROR_COMPILATION`.
const NOT_COMPILED: Status = 6;

type Version = unsafe extern "C" fn(*mut c_int, *mut c_int) -> Status;
type Create = unsafe extern "C" fn(
    *mut Handle,
    *const c_char,
    *const c_char,
    c_int,
    *const *const c_char,
    *const *const c_char,
) -> Status;
type Compile = unsafe extern "C" fn(Handle, c_int, *const *const c_char) -> Status;
type Destroy = unsafe extern "C" fn(*mut Handle) -> Status;
type Size = unsafe extern "C" fn(Handle, *mut usize) -> Status;
type Get = unsafe extern "C" fn(Handle, *mut c_char) -> Status;
type Explain = unsafe extern "C" fn(Status) -> *const c_char;

/// The functions that are used, with the library that they are in.
pub(crate) struct Nvrtc {
    version: (u32, u32),
    create: Create,
    compile: Compile,
    destroy: Destroy,
    log: (Size, Get),
    cubin: (Size, Get),
    explain: Explain,
    _library: Library,
}

impl Nvrtc {
    /// The library, looked for once.
    ///
    /// # Errors
    ///
    /// [`Error::NoCompiler`].
    pub(crate) fn get() -> Result<&'static Self, Error> {
        static NVRTC: OnceLock<Option<Nvrtc>> = OnceLock::new();
        let load = || candidates().into_iter().find_map(|path| Self::load(path).ok());
        NVRTC.get_or_init(load).as_ref().ok_or(Error::NoCompiler)
    }

    fn load(path: PathBuf) -> Result<Self, libloading::Error> {
        // SAFETY: the library's initialisers set up its own state; each type is that of nvrtc.h;
        // the functions are used no longer than the library, which is kept beside them.
        unsafe {
            let library = Library::new(path)?;
            let (mut major, mut minor) = (0, 0);
            (*library.get::<Version>("nvrtcVersion")?)(&mut major, &mut minor);
            Ok(Self {
                version: (major as u32, minor as u32),
                create: *library.get("nvrtcCreateProgram")?,
                compile: *library.get("nvrtcCompileProgram")?,
                destroy: *library.get("nvrtcDestroyProgram")?,
                log: (*library.get("nvrtcGetProgramLogSize")?, *library.get("nvrtcGetProgramLog")?),
                cubin: (*library.get("nvrtcGetCUBINSize")?, *library.get("nvrtcGetCUBIN")?),
                explain: *library.get("nvrtcGetErrorString")?,
                _library: library,
            })
        }
    }

    /// Its version: major, minor.
    pub(crate) fn version(&self) -> (u32, u32) {
        self.version
    }

    /// Compiles a text; gives the cubin, or nothing, and the messages.
    ///
    /// # Errors
    ///
    /// [`Error::Nvrtc`] if NVRTC itself fails, rather than the text.
    pub(crate) fn compile(
        &self,
        text: &CStr,
        options: &[CString],
    ) -> Result<(Option<Vec<u8>>, String), Error> {
        let mut handle = null_mut();
        let name = c"kogge.cu".as_ptr();
        // SAFETY: the strings end with NUL and are copied; no headers are given.
        self.check(unsafe { (self.create)(&mut handle, text.as_ptr(), name, 0, null(), null()) })?;
        let program = Program { nvrtc: self, handle };
        let options: Vec<_> = options.iter().map(|option| option.as_ptr()).collect();
        // SAFETY: the program was created above; there are so many options.
        let status = unsafe { (self.compile)(handle, options.len() as c_int, options.as_ptr()) };
        let mut log = program.output(self.log)?;
        log.truncate(log.iter().position(|&byte| byte == 0).unwrap_or(log.len()));
        let log = String::from_utf8_lossy(&log).into_owned();
        match status {
            0 => Ok((Some(program.output(self.cubin)?), log)),
            NOT_COMPILED => Ok((None, log)),
            _ => Err(Error::Nvrtc(format!("{}: {}", self.explained(status), log.trim_end()))),
        }
    }

    fn check(&self, status: Status) -> Result<(), Error> {
        if status == 0 { Ok(()) } else { Err(Error::Nvrtc(self.explained(status))) }
    }

    fn explained(&self, status: Status) -> String {
        // SAFETY: gives a string that lives as long as the library.
        let what = unsafe { CStr::from_ptr((self.explain)(status)) };
        let (major, minor) = self.version;
        format!("{} (version {major}.{minor})", what.to_string_lossy())
    }
}

/// A program of NVRTC's, destroyed when dropped.
struct Program<'n> {
    nvrtc: &'n Nvrtc,
    handle: Handle,
}

impl Program<'_> {
    /// Bytes that the program offers.
    fn output(&self, (size, get): (Size, Get)) -> Result<Vec<u8>, Error> {
        let mut bytes = 0;
        // SAFETY: the program is alive; `bytes` is written.
        self.nvrtc.check(unsafe { size(self.handle, &mut bytes) })?;
        let mut output = vec![0u8; bytes];
        // SAFETY: the buffer has the size that was asked for.
        self.nvrtc.check(unsafe { get(self.handle, output.as_mut_ptr().cast()) })?;
        Ok(output)
    }
}

impl Drop for Program<'_> {
    fn drop(&mut self) {
        // SAFETY: created by NVRTC and destroyed here alone. A failure would leave it allocated.
        unsafe { (self.nvrtc.destroy)(&mut self.handle) };
    }
}

/// Where NVRTC may be, the likeliest place first.
fn candidates() -> Vec<PathBuf> {
    let mut names = vec![format!("{DLL_PREFIX}nvrtc{DLL_SUFFIX}")];
    for major in [13, 12] {
        names.push(if cfg!(windows) {
            format!("nvrtc64_{major}0_0.dll")
        } else {
            format!("{DLL_PREFIX}nvrtc{DLL_SUFFIX}.{major}")
        });
    }
    let named = std::env::var_os("KOGGE_NVRTC").filter(|value| !value.is_empty());
    match named.map(PathBuf::from) {
        Some(folder) if folder.is_dir() => names.iter().map(|name| folder.join(name)).collect(),
        Some(file) => vec![file],
        None => names.into_iter().map(PathBuf::from).collect(),
    }
}
