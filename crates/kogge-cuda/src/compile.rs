//! From text to a cubin. Not to PTX, which a driver older than the compiler would refuse.

use crate::Error;
use crate::kernels::for_racecheck;
use crate::nvrtc::Nvrtc;
use std::ffi::CString;
use std::fmt;

/// What to compile for: sm_80, sm_90, …
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Arch(pub u32);

impl fmt::Display for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sm_{}", self.0)
    }
}

/// A compiled kernel.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The machine code, for one architecture and the newer ones of its generation.
    pub cubin: Vec<u8>,
    /// What the assembler tells: registers, stack, spills.
    pub log: String,
}

/// What NVRTC is told beside the target. Multiplications and additions are never fused behind the
/// text's back.
pub(crate) const OPTIONS: [&str; 4] =
    ["-std=c++17", "-fmad=false", "-default-device", "--ptxas-options=-v"];

/// Compiles text to a cubin, by NVRTC.
///
/// # Errors
///
/// [`Error::NoCompiler`] without NVRTC, [`Error::Compile`] with its messages, [`Error::Nvrtc`] if
/// it doesn't know the target or isn't whole.
pub fn compile(source: &str, arch: Arch) -> Result<Compiled, Error> {
    let nvrtc = Nvrtc::get()?;
    let string = |text: &str| {
        CString::new(text).map_err(|_| Error::Unsupported("the text has a NUL in it".into()))
    };
    let (arch, target) = (arch.to_string(), format!("-arch={arch}"));
    let lines = for_racecheck().then_some("-lineinfo");
    let options = [&*target].into_iter().chain(OPTIONS).chain(lines).map(string);
    let options = options.collect::<Result<Vec<_>, _>>()?;
    match nvrtc.compile(&string(source)?, &options)? {
        (Some(cubin), log) => Ok(Compiled { cubin, log }),
        (None, log) => Err(Error::Compile { arch, log }),
    }
}

/// The version of NVRTC that is there: major, minor.
///
/// # Errors
///
/// [`Error::NoCompiler`].
pub fn compiler_version() -> Result<(u32, u32), Error> {
    Ok(Nvrtc::get()?.version())
}
