//! A GPU: found, asked what it can do, and given kernels.

use crate::archive::Archive;
use crate::launch::{Module, PORTABLE_CLUSTER};
use crate::{Arch, Capability, Error, LineScan, LineShape, Scan, Specification, Tuning, Workspace};
use crate::{archive, cache, compile, plan, source};
use cudarc::driver::sys::{self, CUdevice_attribute_enum as Attribute, CUresult};
use cudarc::driver::{CudaContext, CudaStream};
use kogge_core::device::{DeviceElement, DeviceOperator, DeviceType};
use kogge_core::{Accumulate, Direction, Element, Kind, Problem};
use std::collections::HashMap;
use std::iter;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// A CUDA device, with the kernels that it has been given so far. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Device {
    context: Arc<CudaContext>,
    capability: Capability,
    tuning: Tuning,
    archive: Archive<'static>,
    cache: Option<PathBuf>,
    modules: Arc<Mutex<HashMap<String, Arc<Module>>>>,
}

impl Device {
    /// Device number `ordinal`, counted from 0, in its primary context.
    ///
    /// Kernels are kept in `KOGGE_CACHE_DIR`, else in the user's cache folder.
    ///
    /// # Errors
    ///
    /// [`Error::NoDriver`], [`Error::DriverTooOld`], [`Error::NoDevice`], [`Error::DeviceTooOld`],
    /// or what the driver says.
    pub fn open(ordinal: usize) -> Result<Self, Error> {
        // SAFETY: loading the library runs its initialisers, which have no requirements.
        if !unsafe { sys::is_culib_present() } {
            return Err(Error::NoDriver);
        }
        let mut version = 0;
        // SAFETY: writes one integer; may be called before `cuInit`.
        unsafe { sys::cuDriverGetVersion(&mut version) }.result()?;
        let (major, minor) = (version as u32 / 1000, version as u32 % 1000 / 10);
        if major < 12 {
            return Err(Error::DriverTooOld(major, minor));
        }
        let count = match CudaContext::device_count() {
            Ok(count) => count as usize,
            Err(error) if error.0 == sys::CUresult::CUDA_ERROR_NO_DEVICE => 0,
            Err(error) => return Err(error.into()),
        };
        if ordinal >= count {
            return Err(Error::NoDevice { ordinal, count });
        }
        Self::in_context(CudaContext::new(ordinal)?)
    }

    /// The device of a context that is there already.
    ///
    /// # Errors
    ///
    /// [`Error::DeviceTooOld`], or what the driver says.
    pub fn in_context(context: Arc<CudaContext>) -> Result<Self, Error> {
        let (major, minor) = context.compute_capability()?;
        let compute = (major as u32, minor as u32);
        if compute < (8, 0) {
            return Err(Error::DeviceTooOld(compute.0, compute.1));
        }
        let attribute = |which| context.attribute(which).map(|value| value as u32);
        let known = |which| attribute(which).map_or(0, u64::from);
        let multiprocessors = attribute(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?;
        let capability = Capability {
            compute,
            multiprocessors,
            shared_bytes: attribute(
                Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
            )?,
            memory_bytes_per_cycle: bytes_per_cycle(
                known(Attribute::CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE),
                known(Attribute::CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH),
                known(Attribute::CU_DEVICE_ATTRIBUTE_CLOCK_RATE) * u64::from(multiprocessors),
            ),
        };
        Ok(Self {
            context,
            capability,
            tuning: Tuning::default(),
            archive: Archive::embedded(),
            cache: cache::folder(),
            modules: Arc::default(),
        })
    }

    /// The same with another folder for compiled kernels; `None` for no folder.
    pub fn with_cache(self, folder: Option<PathBuf>) -> Self {
        Self { cache: folder, ..self }
    }

    /// The same with another archive of kernels than the library's own.
    pub fn with_archive(self, archive: Archive<'static>) -> Self {
        Self { archive, ..self }
    }

    /// The same as if the device could do less: an older compute capability, fewer multiprocessors,
    /// less shared memory. For measurements and tests.
    pub fn with_capability(self, capability: Capability) -> Self {
        Self { capability, ..self }
    }

    /// The same with other choices of speed; the results are the same.
    pub fn with_tuning(self, tuning: Tuning) -> Self {
        Self { tuning, ..self }
    }

    /// Its choices of speed.
    pub(crate) fn tuning(&self) -> &Tuning {
        &self.tuning
    }

    /// Its context.
    pub fn context(&self) -> &Arc<CudaContext> {
        &self.context
    }

    /// What it can do.
    pub fn capability(&self) -> Capability {
        self.capability
    }

    /// An empty workspace on a stream of its own.
    ///
    /// # Errors
    ///
    /// What the driver says.
    pub fn workspace(&self) -> Result<Workspace, Error> {
        Ok(Workspace::on(self.context.new_stream()?))
    }

    /// An empty workspace on a caller's stream, on which its scans will run.
    pub fn workspace_on(&self, stream: Arc<CudaStream>) -> Workspace {
        Workspace::on(stream)
    }

    /// Prepares the scan of `len` elements `T`, written as `U`, by an operator on `A`: plan and
    /// kernel.
    ///
    /// The kernel comes from this device's memory, from this library, from disk, or from NVRTC, in
    /// this order.
    ///
    /// # Errors
    ///
    /// As [`plan()`](crate::plan()) and [`compile()`](crate::compile()), or what the driver says.
    pub fn prepare<T, U, A, O>(
        &self,
        operator: &O,
        kind: Kind,
        direction: Direction,
        len: u64,
    ) -> Result<Scan<T, U, A>, Error>
    where
        T: DeviceElement + Accumulate<A>,
        U: DeviceElement + Accumulate<A>,
        A: Element + DeviceType,
        O: DeviceOperator<A>,
    {
        let problem = Problem {
            len,
            element_bytes: size_of::<T>(),
            output_bytes: size_of::<U>(),
            accumulator_bytes: size_of::<A>(),
            kind,
            direction,
            in_place: false,
        };
        let kernel = |tuning: &Tuning| {
            let plan = plan(&problem, self.capability, tuning)?;
            let text = source::<T, U, A, O>(operator, Specification { kind, direction }, &plan)?;
            Ok::<_, Error>((plan, self.module(text, plan.shared_bytes)?))
        };
        let (mut plan, mut module) = kernel(&self.tuning)?;
        if plan.in_cluster() && plan.grid > PORTABLE_CLUSTER && !module.holds(plan.launch())? {
            (plan, module) = kernel(&Tuning { cluster_blocks: PORTABLE_CLUSTER, ..self.tuning })?;
        }
        Scan::new(problem, plan, module)
    }

    /// Prepares the scan of every line of an array along one axis, elements `T`, written as `U`, by
    /// an operator on `A`: plan and kernel.
    ///
    /// The kernel comes from where [`prepare`](Self::prepare) has its own from.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] if there are more axes than kernels take or more lines than one
    /// launch can have; else as [`prepare`](Self::prepare).
    pub fn prepare_lines<T, U, A, O>(
        &self,
        operator: &O,
        kind: Kind,
        direction: Direction,
        shape: &LineShape,
    ) -> Result<LineScan<T, U, A>, Error>
    where
        T: DeviceElement + Accumulate<A>,
        U: DeviceElement + Accumulate<A>,
        A: Element + DeviceType,
        O: DeviceOperator<A>,
    {
        LineScan::prepare(self, operator, kind, direction, shape)
    }

    pub(crate) fn module(&self, text: String, shared_bytes: u32) -> Result<Arc<Module>, Error> {
        let modules = || self.modules.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(module) = modules().get(&text) {
            return Ok(module.clone());
        }
        let load = |cubin: &[u8]| Module::load(&self.context, cubin, shared_bytes);
        let module = match self.kept(&text)?.find_map(|cubin| unless_refused(load(&cubin))) {
            Some(module) => module?,
            None => load(&self.compiled(&text)?)?,
        };
        let module = Arc::new(module);
        modules().insert(text, module.clone());
        Ok(module)
    }

    /// The kernel from the library and from disk, as far as it is there.
    fn kept(&self, text: &str) -> Result<impl Iterator<Item = Vec<u8>>, Error> {
        let (compute, arch) = (self.compute()?, self.arch()?);
        let embedded =
            iter::once_with(move || self.archive.get(text, archive::generation(compute)));
        let cached = iter::once_with(move || cache::get(self.cache.as_deref()?, text, arch));
        Ok(embedded.chain(cached).flatten())
    }

    /// The kernel compiled, and kept on disk.
    fn compiled(&self, text: &str) -> Result<Vec<u8>, Error> {
        let arch = self.arch()?;
        let cubin = compile(text, arch)?.cubin;
        if let Some(folder) = &self.cache {
            cache::put(folder, text, arch, &cubin);
        }
        Ok(cubin)
    }

    /// The target for which kernels are compiled.
    fn arch(&self) -> Result<Arch, Error> {
        let (major, minor) = self.compute()?;
        Ok(Arch(major * 10 + minor))
    }

    /// The compute capability that the GPU has, whatever it is to be used as.
    fn compute(&self) -> Result<(u32, u32), Error> {
        let (major, minor) = self.context.compute_capability()?;
        Ok((major as u32, minor as u32))
    }
}

/// What came of loading a cubin that was kept, but for one that the driver refuses: it may be older
/// than the compiler that made it. Then there is another one, or it is compiled anew.
fn unless_refused<T>(loaded: Result<T, Error>) -> Option<Result<T, Error>> {
    match &loaded {
        Err(Error::Driver(error)) if error.0 != CUresult::CUDA_ERROR_OUT_OF_MEMORY => None,
        _ => Some(loaded),
    }
}

/// What memory of so many bits moves while one of all multiprocessors' cycles passes, of which there
/// are so many in the time: twice its width with each tick.
fn bytes_per_cycle(ticks: u64, bits: u64, cycles: u64) -> u32 {
    (ticks * bits / 4).checked_div(cycles).unwrap_or(0) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use cudarc::driver::DriverError;

    #[test]
    fn bytes_per_cycle_of_an_h100_and_an_h200() {
        let cycles = 1_980_000 * 132;
        let h100 = bytes_per_cycle(2_619_000, 5120, cycles);
        assert_eq!(h100, Capability::H100.memory_bytes_per_cycle);
        let h200 = bytes_per_cycle(3_201_000, 6016, cycles);
        assert_eq!(h200, Capability::H200.memory_bytes_per_cycle);
        assert_eq!(bytes_per_cycle(3_201_000, 6016, 0), 0, "not known");
    }

    #[test]
    fn what_a_driver_refuses_is_compiled_anew_and_what_else_fails_is_said() {
        let of = |code| unless_refused::<()>(Err(DriverError(code).into()));
        for code in [
            CUresult::CUDA_ERROR_INVALID_IMAGE,
            CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU,
            CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
            CUresult::CUDA_ERROR_NOT_FOUND,
        ] {
            assert!(of(code).is_none(), "{code:?}");
        }
        for code in [CUresult::CUDA_ERROR_OUT_OF_MEMORY, CUresult::CUDA_ERROR_ILLEGAL_ADDRESS] {
            assert!(matches!(of(code), Some(Err(_))), "{code:?}");
        }
        assert!(matches!(unless_refused(Ok(())), Some(Ok(()))));
    }
}
