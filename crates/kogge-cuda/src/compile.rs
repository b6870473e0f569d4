//! NVRTC: from text to a cubin. Not to PTX, which a driver older than the compiler would refuse.

use crate::Error;
use cudarc::nvrtc::{result, sys};
use std::ffi::CString;
use std::fmt;

/// What to compile for: sm_80, sm_90, …
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Arch(pub u32);

impl fmt::Display for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sm_{}", self.0)
    }
}

/// Compiles text to a cubin; gives the messages too, which tell registers, spills and shared memory.
///
/// Multiplications and additions are never fused behind the text's back.
///
/// # Errors
///
/// [`Error::NoCompiler`] without NVRTC, [`Error::Compile`] with its messages.
pub fn compile(source: &str, arch: Arch) -> Result<(Vec<u8>, String), Error> {
    // SAFETY: loading the library runs its initialisers, which have no requirements.
    if !unsafe { sys::is_culib_present() } {
        return Err(Error::NoCompiler);
    }
    let text = CString::new(source)
        .map_err(|_| Error::Unsupported("the operator's text has a NUL in it".into()))?;
    let program = Program(result::create_program(&text, Some(c"kogge.cu"))?);
    let options = [
        format!("-arch={arch}"),
        "-std=c++17".into(),
        "-fmad=false".into(),
        "-default-device".into(),
        "--ptxas-options=-v".into(),
    ];
    // SAFETY: the program was created above and is destroyed once, by `Program`.
    let outcome = unsafe { result::compile_program(program.0, &options) };
    let log = program.log()?;
    match outcome {
        Ok(()) => Ok((program.cubin()?, log)),
        Err(_) => Err(Error::Compile { arch: arch.to_string(), log }),
    }
}

/// A program of NVRTC's, destroyed when dropped.
struct Program(sys::nvrtcProgram);

impl Program {
    fn log(&self) -> Result<String, Error> {
        // SAFETY: the program is alive.
        let log = unsafe { result::get_program_log(self.0) }?;
        let bytes: Vec<u8> = log.iter().map(|&c| c as u8).take_while(|&c| c != 0).collect();
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn cubin(&self) -> Result<Vec<u8>, Error> {
        let mut size = 0;
        // SAFETY: the program is alive and compiled; `size` is written.
        unsafe { sys::nvrtcGetCUBINSize(self.0, &mut size) }.result()?;
        let mut cubin = vec![0_u8; size];
        // SAFETY: the buffer has the size that NVRTC gave.
        unsafe { sys::nvrtcGetCUBIN(self.0, cubin.as_mut_ptr().cast()) }.result()?;
        Ok(cubin)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // SAFETY: created by NVRTC and destroyed here alone. A failure would leave it allocated.
        let _ = unsafe { result::destroy_program(self.0) };
    }
}
