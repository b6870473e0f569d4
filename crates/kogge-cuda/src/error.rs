//! Why a scan can't be done on a GPU, and what to do about it.

use cudarc::driver::DriverError;
use cudarc::driver::sys::CUresult;

/// What went wrong on the way to a GPU or on it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The driver's library isn't there.
    #[error("no CUDA driver was found (libcuda); install the NVIDIA driver, or use the CPU engine")]
    NoDriver,
    /// The driver is there, the device isn't.
    #[error("there is no CUDA device {ordinal}; the driver sees {count}")]
    NoDevice {
        /// The device asked for.
        ordinal: usize,
        /// How many there are.
        count: usize,
    },
    /// The driver is older than CUDA 12.
    #[error("the driver supports CUDA {0}.{1}; kogge needs a driver for CUDA 12.0 or newer")]
    DriverTooOld(u32, u32),
    /// The GPU is older than Ampere.
    #[error("the device has compute capability {0}.{1}; kogge needs 8.0 or newer")]
    DeviceTooOld(u32, u32),
    /// No compiler for a kernel that isn't in the cache.
    #[error(
        "the kernel isn't in the cache and NVRTC (libnvrtc) was not found; install it from the CUDA toolkit or the Python package nvidia-cuda-nvrtc, and put it on the library path or name it in KOGGE_NVRTC, beside which nothing else is looked at"
    )]
    NoCompiler,
    /// The operator's text doesn't compile.
    #[error("the kernel doesn't compile for {arch}:\n{log}")]
    Compile {
        /// The target.
        arch: String,
        /// NVRTC's messages.
        log: String,
    },
    /// The operator can't be written as CUDA C++.
    #[error(transparent)]
    Operator(#[from] kogge_core::device::Error),
    /// The arguments don't fit each other, or the data.
    #[error(transparent)]
    Invalid(#[from] kogge_core::Error),
    /// No kernel takes this problem.
    #[error("{0}")]
    Unsupported(String),
    /// The length isn't that of the plan.
    #[error("the scan was prepared for {prepared} elements but got {input} in and {output} out")]
    Length {
        /// Elements of the plan.
        prepared: u64,
        /// Elements given.
        input: u64,
        /// Places given.
        output: u64,
    },
    /// A pointer isn't a multiple of its element's alignment.
    #[error("the address {address:#x} isn't aligned to {align} bytes")]
    Misaligned {
        /// The address.
        address: u64,
        /// What it should be a multiple of.
        align: usize,
    },
    /// The device's memory is used up.
    #[error("the device has no {0} bytes of memory left")]
    OutOfMemory(u64),
    /// The host has no more memory that stays where it is, through which host slices travel.
    #[error("the host has no {0} bytes of memory left that the device can reach")]
    OutOfHostMemory(u64),
    /// A kernel has failed, of this library or of another, or the device has: nothing can be done
    /// with it any more in this process.
    #[error(
        "the CUDA context is lost ({0}): a kernel before this call has failed, or the device has; only a new process can use it again"
    )]
    ContextLost(DriverError),
    /// The driver reports another error.
    #[error("the CUDA driver reports: {0}")]
    Driver(DriverError),
    /// NVRTC itself fails: it is older than the GPU, or isn't whole.
    #[error("NVRTC reports {0}; a newer or whole one may help: name it in KOGGE_NVRTC")]
    Nvrtc(String),
}

impl From<DriverError> for Error {
    fn from(error: DriverError) -> Self {
        use CUresult::*;
        match error.0 {
            CUDA_ERROR_ILLEGAL_ADDRESS
            | CUDA_ERROR_ILLEGAL_INSTRUCTION
            | CUDA_ERROR_MISALIGNED_ADDRESS
            | CUDA_ERROR_INVALID_ADDRESS_SPACE
            | CUDA_ERROR_INVALID_PC
            | CUDA_ERROR_HARDWARE_STACK_ERROR
            | CUDA_ERROR_LAUNCH_FAILED
            | CUDA_ERROR_LAUNCH_TIMEOUT
            | CUDA_ERROR_ASSERT
            | CUDA_ERROR_ECC_UNCORRECTABLE
            | CUDA_ERROR_CONTEXT_IS_DESTROYED => Self::ContextLost(error),
            _ => Self::Driver(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ends_a_context_is_told_apart() {
        let of = |code| Error::from(DriverError(code));
        assert!(matches!(of(CUresult::CUDA_ERROR_ILLEGAL_ADDRESS), Error::ContextLost(_)));
        assert!(matches!(of(CUresult::CUDA_ERROR_INVALID_VALUE), Error::Driver(_)));
    }
}
