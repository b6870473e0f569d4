//! A real GPU: a lesson's text through NVRTC, its host's plan through the CUDA driver.

use std::collections::HashMap;
use std::ffi::CString;
use std::sync::Arc;

use cudarc::driver::sys::{CUdevice_attribute, CUevent_flags};
use cudarc::driver::{
    CudaContext, CudaFunction, CudaModule, CudaSlice, CudaStream, DevicePtr, DevicePtrMut,
    DriverError, LaunchConfig, PushKernelArg,
};
use cudarc::nvrtc::{Ptx, result as nvrtc, sys as nvrtc_sys};
use kogge::ops::Sum;
use kogge_cuda::cudarc;
use kogge_cuda::{Init, Scan, Workspace};
use kogge_lab::catalogue::{Argument, Kind, Launch, Lesson, Operator, Plan};
use kogge_lab::{Diagnostic, Number, ScalarType, Values};

use super::record::{COPY, KOGGE, Timing};

/// Runs before the first that is timed.
const WARM_UP: u32 = 3;

/// The first GPU of the machine.
pub struct Gpu {
    context: Arc<CudaContext>,
    /// The same GPU for the product.
    device: kogge_cuda::Device,
    stream: Arc<CudaStream>,
    arch: String,
    multiprocessors: i32,
}

fn product(error: kogge_cuda::Error) -> Diagnostic {
    Diagnostic::general(format!("kogge's CUDA engine: {error}"))
}

fn driver(error: DriverError) -> Diagnostic {
    Diagnostic::general(format!("the GPU failed: {error}"))
}

impl Gpu {
    /// Opens the GPU.
    ///
    /// # Errors
    ///
    /// No driver, no NVRTC, or no GPU.
    pub fn open() -> Result<Self, Diagnostic> {
        // SAFETY: both only try to load a library whose initialisers have no requirements.
        let (cuda, rtc) =
            unsafe { (cudarc::driver::sys::is_culib_present(), nvrtc_sys::is_culib_present()) };
        if !cuda {
            return Err(Diagnostic::general("there is no CUDA driver on this machine")
                .with_help("`kogge lab run` needs none; --from plots a record"));
        }
        if !rtc {
            return Err(Diagnostic::general("NVRTC is not to be found")
                .with_help("install the CUDA toolkit or the Python package nvidia-cuda-nvrtc, and put its library's folder on LD_LIBRARY_PATH"));
        }
        let context = CudaContext::new(0).map_err(driver)?;
        let (major, minor) = context.compute_capability().map_err(driver)?;
        let multiprocessors = context
            .attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)
            .map_err(driver)?;
        let stream = context.default_stream();
        let device = kogge_cuda::Device::in_context(context.clone()).map_err(product)?;
        Ok(Self {
            context,
            device,
            stream,
            arch: format!("-arch=sm_{major}{minor}"),
            multiprocessors,
        })
    }

    /// The GPU's name.
    pub fn name(&self) -> Result<String, Diagnostic> {
        self.context.name().map_err(driver)
    }

    /// Times a copy of `n` elements from device to device.
    pub fn copy(&self, n: u64, repeats: u32) -> Result<Timing, Diagnostic> {
        let bytes = 4 * n as usize;
        let from = self.stream.alloc_zeros::<u8>(bytes).map_err(driver)?;
        let mut to = self.stream.alloc_zeros::<u8>(bytes).map_err(driver)?;
        let times =
            self.timed(repeats, &mut to, |_| Ok(()), |to| self.stream.memcpy_dtod(&from, to))?;
        Ok(timing(COPY, n, times, true))
    }

    /// Times kogge's CUDA engine on `n` ints, its plan and workspace at hand, and checks its
    /// result.
    pub fn kogge(&self, n: u64, repeats: u32) -> Result<Timing, Diagnostic> {
        let (input, expected) = summed(n, false)?;
        let x = self.stream.clone_htod(&input.to_bytes()).map_err(driver)?;
        let mut y = self.stream.alloc_zeros::<u8>(x.len()).map_err(driver)?;
        let scan: Scan<i32, i32, i32> = self
            .device
            .prepare(&Sum, kogge::Kind::Inclusive, kogge::Direction::Forward, n)
            .map_err(product)?;
        let mut workspace = self.device.workspace_on(self.stream.clone());
        let from = x.device_ptr(&self.stream).0;
        let to = y.device_ptr_mut(&self.stream).0;
        // The first call takes the memory that it needs.
        let run = |workspace: &mut Workspace| {
            // SAFETY: both arrays hold `n` ints and outlive the stream's work.
            unsafe { scan.run(workspace, from, to, Init::None, None) }.map_err(product)
        };
        run(&mut workspace)?;
        let mut failed = None;
        let times = self.timed(
            repeats,
            &mut workspace,
            |_| Ok(()),
            |workspace| {
                failed = run(workspace).err().or(failed.take());
                Ok(())
            },
        )?;
        if let Some(error) = failed {
            return Err(error);
        }
        let result = self.stream.clone_dtoh(&y).map_err(driver)?;
        Ok(timing(KOGGE, n, times, Values::from_bytes(ScalarType::I32, &result) == expected))
    }

    /// Times a lesson on `n` ints, and checks its result.
    pub fn time(&self, lesson: &Lesson, n: u64, repeats: u32) -> Result<Timing, Diagnostic> {
        let defines = self.defines();
        let sum = sum()?;
        let (input, expected) = summed(n, lesson.header.kind == Kind::Exclusive)?;
        let plan = lesson.plan(n, ScalarType::I32, &defines)?;
        let macros = sum.defines().into_iter().chain(defines);
        let prelude: String =
            macros.map(|(name, value)| format!("#define {name} {value}\n")).collect();
        let module = self.module(&format!("{prelude}#line 1\n{}", lesson.text))?;
        let mut job = Job::new(&self.stream, &module, &plan, &input)?;
        let reset = |job: &mut Job| job.reset(&self.stream);
        let times = self.timed(repeats, &mut job, reset, |job| job.run(&self.stream))?;
        let result = self.stream.clone_dtoh(&job.arrays["y"].0).map_err(driver)?;
        Ok(timing(&lesson.name, n, times, Values::from_bytes(ScalarType::I32, &result) == expected))
    }

    /// The sizes that suit the GPU: the lesson in rounds takes a block for each multiprocessor.
    fn defines(&self) -> Vec<(String, String)> {
        let blocks = self.multiprocessors.clamp(1, 256);
        vec![("BLOCK".to_owned(), "256".to_owned()), ("BLOCKS".to_owned(), blocks.to_string())]
    }

    /// Compiles a source for this GPU, to machine code: an NVRTC newer than the driver may not give
    /// PTX.
    fn module(&self, source: &str) -> Result<Arc<CudaModule>, Diagnostic> {
        let failed = |what: &str| Diagnostic::general(format!("NVRTC failed: {what}"));
        let source = CString::new(source).map_err(|_| failed("a NUL in the source"))?;
        let program =
            nvrtc::create_program(&source, None).map_err(|error| failed(&format!("{error:?}")))?;
        // SAFETY: the program was just created and is destroyed once, at the end; the buffer has
        // the size that NVRTC asks for.
        let cubin = unsafe {
            let compiled = nvrtc::compile_program(program, &[self.arch.as_str()]);
            let cubin = compiled.and_then(|()| {
                let mut size = 0;
                nvrtc_sys::nvrtcGetCUBINSize(program, &mut size).result()?;
                let mut cubin = vec![0_u8; size];
                nvrtc_sys::nvrtcGetCUBIN(program, cubin.as_mut_ptr().cast()).result()?;
                Ok(cubin)
            });
            let log = nvrtc::get_program_log(program).unwrap_or_default();
            let log: Vec<u8> = log.into_iter().map(|c| c as u8).take_while(|&c| c != 0).collect();
            let destroyed = nvrtc::destroy_program(program);
            let cubin = cubin.map_err(|_| failed(&String::from_utf8_lossy(&log)))?;
            destroyed.map_err(|error| failed(&format!("{error:?}")))?;
            cubin
        };
        self.context.load_module(Ptx::from_binary(cubin)).map_err(driver)
    }

    /// The times of `run` on a state in microseconds, sorted, with `before` ahead of each and not
    /// counted.
    fn timed<S>(
        &self,
        repeats: u32,
        state: &mut S,
        before: impl Fn(&mut S) -> Result<(), DriverError>,
        mut run: impl FnMut(&mut S) -> Result<(), DriverError>,
    ) -> Result<Vec<f64>, Diagnostic> {
        let mut times = Vec::new();
        for repeat in 0..WARM_UP + repeats.max(1) {
            before(state).map_err(driver)?;
            let event = || self.stream.record_event(Some(CUevent_flags::CU_EVENT_DEFAULT));
            let start = event().map_err(driver)?;
            run(state).map_err(driver)?;
            let end = event().map_err(driver)?;
            let milliseconds = start.elapsed_ms(&end).map_err(driver)?;
            if repeat >= WARM_UP {
                times.push(f64::from(milliseconds) * 1e3);
            }
        }
        times.sort_by(f64::total_cmp);
        Ok(times)
    }
}

fn sum() -> Result<Operator, Diagnostic> {
    Operator::named("sum", ScalarType::I32).ok_or_else(|| Diagnostic::general("ints have sums"))
}

/// `n` ints and their scan.
fn summed(n: u64, exclusive: bool) -> Result<(Values, Values), Diagnostic> {
    let input =
        Values::from_numbers(ScalarType::I32, n as usize, |i| Number::Int(i as i64 % 7 - 3));
    let expected = sum()?.scan(&input, exclusive);
    Ok((input, expected))
}

fn timing(name: &str, n: u64, times: Vec<f64>, right: bool) -> Timing {
    Timing {
        name: name.to_owned(),
        n,
        median_us: times[times.len() / 2],
        least_us: times[0],
        right,
    }
}

/// A lesson's plan with its arrays on the GPU.
struct Job<'a> {
    plan: &'a Plan,
    /// The arrays, and whether each is zeroed before a run.
    arrays: HashMap<&'a str, (CudaSlice<u8>, bool)>,
    kernels: HashMap<&'a str, CudaFunction>,
}

impl<'a> Job<'a> {
    fn new(
        stream: &Arc<CudaStream>,
        module: &Arc<CudaModule>,
        plan: &'a Plan,
        input: &Values,
    ) -> Result<Self, Diagnostic> {
        let x = stream.clone_htod(&input.to_bytes()).map_err(driver)?;
        let y = stream.alloc_zeros(x.len()).map_err(driver)?;
        let mut arrays = HashMap::from([("x", (x, false)), ("y", (y, false))]);
        for scratch in &plan.scratch {
            let array = stream.alloc_zeros(4 * scratch.length as usize).map_err(driver)?;
            arrays.insert(scratch.name.as_str(), (array, scratch.zeroed));
        }
        let mut kernels = HashMap::new();
        for launch in &plan.launches {
            let kernel = module.load_function(&launch.kernel).map_err(driver)?;
            kernels.insert(launch.kernel.as_str(), kernel);
        }
        Ok(Self { plan, arrays, kernels })
    }

    /// Zeroes what the host zeroes.
    fn reset(&mut self, stream: &Arc<CudaStream>) -> Result<(), DriverError> {
        let zeroed = self.arrays.values_mut().filter(|(_, zeroed)| *zeroed);
        zeroed.map(|(array, _)| array).try_for_each(|array| stream.memset_zeros(array))
    }

    fn run(&self, stream: &Arc<CudaStream>) -> Result<(), DriverError> {
        self.plan.launches.iter().try_for_each(|launch| self.launch(launch, stream))
    }

    fn launch(&self, launch: &Launch, stream: &Arc<CudaStream>) -> Result<(), DriverError> {
        let config = LaunchConfig {
            grid_dim: (launch.grid, 1, 1),
            block_dim: (launch.block, 1, 1),
            shared_mem_bytes: launch.shared,
        };
        // The numbers of every lesson are `unsigned`; they must outlive the launch.
        let numbers: Vec<u32> = launch.arguments.iter().map(number).collect();
        let mut builder = stream.launch_builder(&self.kernels[launch.kernel.as_str()]);
        for (argument, number) in launch.arguments.iter().zip(&numbers) {
            match argument {
                Argument::Array(name) => builder.arg(&self.arrays[name.as_str()].0),
                Argument::Number(_) => builder.arg(number),
                Argument::Null => builder.arg(&NULL),
            };
        }
        // SAFETY: the arguments are those that the lesson's own host program gives its kernel,
        // which the simulated GPU has run at these sizes without a finding: every access is in
        // bounds.
        unsafe {
            if launch.cooperative {
                builder.launch_cooperative(config)
            } else {
                builder.launch(config)
            }
        }
        .map(drop)
    }
}

/// A pointer to nothing.
const NULL: u64 = 0;

fn number(argument: &Argument) -> u32 {
    match argument {
        Argument::Number(number) => *number as u32,
        Argument::Array(_) | Argument::Null => 0,
    }
}
