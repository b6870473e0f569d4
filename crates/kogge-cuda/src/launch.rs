//! The one place that hands a kernel to the driver.

use crate::memory::bind_to_give_back;
use crate::source::ENTRY;
use crate::{Error, Init};
use cudarc::driver::sys::CUfunction_attribute_enum::{
    CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
    CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED,
};
use cudarc::driver::{CudaContext, CudaStream, result, sys};
use kogge_core::{Element, bytemuck};
use std::ffi::CString;
use std::sync::Arc;

/// A loaded kernel; unloaded when dropped.
#[derive(Debug)]
pub(crate) struct Module {
    context: Arc<CudaContext>,
    module: sys::CUmodule,
    function: sys::CUfunction,
}

// SAFETY: the handles are the driver's, which locks for itself; any thread may use them once it has
// bound the context, as every use here does.
unsafe impl Send for Module {}
// SAFETY: as above.
unsafe impl Sync for Module {}

/// The shape of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Grid {
    /// Thread blocks.
    pub blocks: u32,
    /// Threads of a block.
    pub threads: u32,
    /// Bytes of shared memory a block.
    pub shared_bytes: u32,
    /// Whether blocks wait for blocks of higher index, so that all must be resident at once.
    pub cooperative: bool,
    /// Those of a cluster: one, where there are none.
    pub cluster: u32,
    /// Whether blocks may begin before the launch before has ended, once all of its blocks have
    /// called `launch_dependents` (sm_90 and newer): the kernel itself waits, by `await_launches`.
    pub dependent: bool,
}

/// Thread blocks of a cluster that every device with clusters can hold.
pub(crate) const PORTABLE_CLUSTER: u32 = 8;

impl Grid {
    /// What the driver is told beside its size: how many attributes count, and they.
    fn attributes(&self) -> (usize, [sys::CUlaunchAttribute; 3]) {
        use sys::CUlaunchAttributeID::*;
        let attribute = |id, value| sys::CUlaunchAttribute { id, pad: [0; 4], value };
        let size = sys::CUlaunchAttributeValue_union__bindgen_ty_1 { x: self.cluster, y: 1, z: 1 };
        let size = sys::CUlaunchAttributeValue { clusterDim: size };
        let together = sys::CUlaunchAttributeValue { cooperative: 1 };
        let early = sys::CUlaunchAttributeValue { programmaticStreamSerializationAllowed: 1 };
        let mut all = [attribute(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, size); 3];
        let mut count = usize::from(self.cluster > 1);
        if self.cooperative {
            all[count] = attribute(CU_LAUNCH_ATTRIBUTE_COOPERATIVE, together);
            count += 1;
        }
        if self.dependent {
            all[count] = attribute(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, early);
            count += 1;
        }
        (count, all)
    }

    /// The launch with these attributes, to which it points.
    fn config(
        &self,
        stream: sys::CUstream,
        attributes: &mut [sys::CUlaunchAttribute],
    ) -> sys::CUlaunchConfig {
        sys::CUlaunchConfig {
            gridDimX: self.blocks,
            gridDimY: 1,
            gridDimZ: 1,
            blockDimX: self.threads,
            blockDimY: 1,
            blockDimZ: 1,
            sharedMemBytes: self.shared_bytes,
            hStream: stream,
            attrs: attributes.as_mut_ptr(),
            numAttrs: attributes.len() as u32,
        }
    }
}

impl Module {
    pub(crate) fn load(
        context: &Arc<CudaContext>,
        cubin: &[u8],
        shared_bytes: u32,
    ) -> Result<Self, Error> {
        context.bind_to_thread()?;
        // SAFETY: the image is a cubin of NVRTC's, from the compiler itself, the archive, or the
        // cache, which has checked that it is whole; the driver copies it.
        let module = unsafe { result::module::load_data(cubin.as_ptr().cast()) }?;
        let name = CString::new(ENTRY).expect("no NUL in the name");
        // SAFETY: the module was loaded above.
        let function = unsafe { result::module::get_function(module, name) };
        let loaded = Self { context: context.clone(), module, function: function? };
        // SAFETY: the function belongs to the module that `loaded` keeps.
        unsafe {
            result::function::set_function_attribute(
                loaded.function,
                CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                shared_bytes as i32,
            )
        }?;
        Ok(loaded)
    }

    /// Whether the device can hold all clusters of the grid at once. That depends on how many
    /// multiprocessors lie together, most of all where a cluster has more than [`PORTABLE_CLUSTER`]
    /// blocks.
    pub(crate) fn holds(&self, grid: Grid) -> Result<bool, Error> {
        self.context.bind_to_thread()?;
        let ((count, mut attributes), mut clusters) = (grid.attributes(), 0);
        let config = grid.config(std::ptr::null_mut(), &mut attributes[..count]);
        // SAFETY: the function is loaded; the configuration and its attributes live until the call
        // returns, which writes one integer.
        unsafe {
            if grid.cluster > PORTABLE_CLUSTER {
                result::function::set_function_attribute(
                    self.function,
                    CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED,
                    1,
                )?;
            }
            sys::cuOccupancyMaxActiveClusters(&mut clusters, self.function, &config).result()?;
        }
        Ok(clusters as u32 >= grid.blocks / grid.cluster)
    }

    /// Launches the kernel. Blocks that wait for higher ones are launched as a cooperative grid:
    /// all of them become resident, or none.
    ///
    /// # Safety
    ///
    /// `arguments` must be the one parameter that the kernel takes, byte for byte, or begin with
    /// it. Its pointers must stay valid until the stream has done the launch, and the workspace
    /// among them must be used by this stream alone.
    pub(crate) unsafe fn launch<P>(
        &self,
        grid: Grid,
        stream: &CudaStream,
        arguments: &mut P,
    ) -> Result<(), Error> {
        if stream.context().cu_ctx() != self.context.cu_ctx() {
            let what = "the workspace is in another context than the scan was prepared in";
            return Err(Error::Unsupported(what.into()));
        }
        self.context.bind_to_thread()?;
        let mut parameters = [(&raw mut *arguments).cast()];
        let (count, mut attributes) = grid.attributes();
        let config = grid.config(stream.cu_stream(), &mut attributes[..count]);
        // SAFETY: the function is loaded; the configuration and its attributes live until the call
        // returns. That the kernel takes this parameter, and the rest, is the caller's promise.
        unsafe {
            let parameters = parameters.as_mut_ptr();
            sys::cuLaunchKernelEx(&config, self.function, parameters, std::ptr::null_mut())
        }
        .result()?;
        Ok(())
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        let unload = || -> Result<(), result::DriverError> {
            bind_to_give_back(&self.context)?;
            // SAFETY: loaded by us and unloaded here alone.
            unsafe { result::module::unload(self.module) }
        };
        // A failure means that the context is gone, and the module with it.
        let _ = unload();
    }
}

/// What one launch is given.
pub(crate) struct Launch<A> {
    /// The first element's address.
    pub input: u64,
    /// The first place's address.
    pub output: u64,
    /// Elements.
    pub len: u64,
    /// What is combined first.
    pub init: Init<A>,
    /// Where the total goes.
    pub total: Option<u64>,
}

/// Bytes that an initial value can have.
pub(crate) const INIT_BYTES: usize = 64;

const NO_INIT: u64 = 0;
const INIT_BY_VALUE: u64 = 1;
const INIT_IN_MEMORY: u64 = 2;

/// `Arguments` of kernels/arguments.cuh, byte for byte; the kernel's ends with the accumulator's
/// bytes.
#[repr(C)]
pub(crate) struct Arguments {
    pub input: u64,
    pub output: u64,
    pub length: u64,
    pub workspace: u64,
    pub init_memory: u64,
    pub total: u64,
    pub init_kind: u64,
    pub init: [u64; INIT_BYTES / 8],
}

impl Arguments {
    /// What the kernel is told. Lengths and addresses are as [`Launch`] has them.
    pub(crate) fn new<A: Element>(launch: Launch<A>, workspace: u64) -> Self {
        let Launch { input, output, len: length, init, total } = launch;
        let total = total.unwrap_or(0);
        let (init_kind, init_memory) = match init {
            Init::None => (NO_INIT, 0),
            Init::Value(_) => (INIT_BY_VALUE, 0),
            Init::Memory(address) => (INIT_IN_MEMORY, address),
        };
        let init = match init {
            Init::Value(value) => init_bytes(value),
            _ => [0; INIT_BYTES / 8],
        };
        Self { input, output, length, workspace, init_memory, total, init_kind, init }
    }
}

/// An initial value as kernels take it.
pub(crate) fn init_bytes<A: Element>(value: A) -> [u64; INIT_BYTES / 8] {
    let mut bytes = [0; INIT_BYTES / 8];
    let value = bytemuck::bytes_of(&value);
    bytemuck::cast_slice_mut(&mut bytes)[..value.len()].copy_from_slice(value);
    bytes
}
