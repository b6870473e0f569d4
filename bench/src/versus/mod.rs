//! kogge beside every library that is on this machine: what `kogge bench` measures.
//!
//! A copy, kogge, CUB and the loops in Rust run in this process. Python's libraries run in a child,
//! because an interpreter can't be had otherwise; it does one call at a time, when it is its turn,
//! on the same buffers (CPU) or on its own copy of them (GPU), and says how long the call took.
//! What is absent is named, with the reason, never left out in silence.
//!
//! Every result is compared with the closed form of the sums before anything is timed. On a GPU,
//! 256 MiB are written before each timed call, so that nothing lies in L2. Contenders take turns,
//! round after round, so that a slow spell falls on all of them.

mod cpu;
#[cfg(feature = "cuda")]
mod cub;
#[cfg(feature = "cuda")]
mod cuda;
mod python;
mod turns;

use crate::Shape;
use crate::contender::{Mode, Role, has_word};
use crate::contenders;
use crate::machine::Machine;
use crate::measure::{Budget, Series};
use crate::record::{Cell, Record, Session};
use python::Python;
use std::io;
use std::path::PathBuf;
use turns::{Entry, in_turn};

/// The types that are summed.
pub const DTYPES: [&str; 7] = ["i8", "i16", "i32", "i64", "f16", "f32", "f64"];

/// Those of them that are summed in other shapes too; all would take minutes more to compile.
pub const SHAPED: [&str; 2] = ["i32", "f32"];

/// Where the scans run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// All cores.
    Cpu,
    /// The CUDA device of this number.
    Cuda(usize),
}

/// What is measured, and how.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where.
    pub place: Place,
    /// Names among [`DTYPES`].
    pub dtypes: Vec<String>,
    /// Bytes of the input, where one sequence is scanned.
    pub sizes: Vec<u64>,
    /// Other shapes.
    pub shapes: Vec<Shape>,
    /// Contenders whose names hold one of these, beside kogge and the copies; all if empty.
    pub only: Vec<String>,
    /// How long.
    pub budget: Budget,
    /// Python with numpy, PyTorch, CuPy, …; none to do without.
    pub python: Option<PathBuf>,
    /// CUB's scans as a library; none to compile them, if there is a compiler.
    pub cub: Option<PathBuf>,
    /// What the record names as the commit; none to ask the sources.
    pub commit: Option<String>,
    /// The file of the record that the measurements are for; one that is for others is refused
    /// first.
    pub record: Option<PathBuf>,
}

/// What was measured, and what could not be.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The measurements.
    pub record: Record,
    /// Libraries that are absent, and names of [`Options::only`] that nothing has; and why.
    pub absent: Vec<(String, String)>,
    /// Peers whose result was not the exact sums, for each type the first: they were not timed.
    pub inexact: Vec<Inexact>,
}

/// A peer that was not timed, because its result was not exact. Sums of f16 are, where they are
/// accumulated in f32 or in order; libraries that do neither round on the way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inexact {
    /// The peer.
    pub name: String,
    /// The type.
    pub dtype: String,
    /// Which value, of how many.
    pub fault: String,
}

/// Measures cell by cell; `progress` is told of each.
///
/// # Errors
///
/// An unknown type, no such device, no memory, a record of something else, a wrong result of
/// kogge's.
pub fn measure(options: &Options, mut progress: impl FnMut(&Cell)) -> io::Result<Outcome> {
    if let Some(unknown) = options.dtypes.iter().find(|name| !DTYPES.contains(&name.as_str())) {
        let known = DTYPES.join(", ");
        return Err(io::Error::other(format!("`{unknown}` is none of {known}")));
    }
    let mut bench = Bench::open(options)?;
    if let Some(path) = &options.record {
        Record::there(path, bench.suite, &bench.machine)?;
    }
    let threads = rayon::current_num_threads();
    let mut session = Session::begin(threads, false);
    if let Some(commit) = &options.commit {
        session.commit.clone_from(commit);
    }
    session.versions.append(&mut bench.versions);
    let sizes = options.sizes.iter().map(|&bytes| Size::Bytes(bytes));
    let sizes: Vec<_> = sizes.chain(options.shapes.iter().copied().map(Size::Of)).collect();
    for dtype in &options.dtypes {
        for &size in &sizes {
            let cell = bench.cell(dtype, size, options)?;
            progress(&cell);
            session.cells.push(cell);
        }
    }
    let record =
        Record { suite: bench.suite.to_owned(), machine: bench.machine, runs: vec![session] };
    let mut outcome = Outcome { record, absent: bench.absent, inexact: bench.inexact };
    let unknown = |word: &&String| !outcome.names().any(|name| has_word(name, word));
    let words = options.only.iter().filter(unknown);
    let unknown: Vec<_> = words.map(|word| (word.clone(), UNKNOWN.to_owned())).collect();
    outcome.absent.extend(unknown);
    Ok(outcome)
}

/// What is said of a name that was asked for and that no contender has.
const UNKNOWN: &str = "--only asks for it, but no contender has it in its name";

impl Outcome {
    /// All that was met, whether it could be timed or not.
    fn names(&self) -> impl Iterator<Item = &str> {
        let timed = self.record.cells().into_iter().flat_map(|cell| &cell.series);
        let names = timed.map(|series| series.name.as_str());
        let inexact = self.inexact.iter().map(|one| one.name.as_str());
        names.chain(inexact).chain(self.absent.iter().map(|(name, _)| name.as_str()))
    }
}

/// How much is scanned.
#[derive(Clone, Copy)]
enum Size {
    /// One sequence of so many bytes.
    Bytes(u64),
    /// A shape.
    Of(Shape),
}

/// Everything that outlives a cell.
struct Bench {
    suite: &'static str,
    machine: Machine,
    versions: Vec<String>,
    absent: Vec<(String, String)>,
    inexact: Vec<Inexact>,
    python: Option<Python>,
    #[cfg(feature = "cuda")]
    cuda: Option<cuda::Cuda>,
}

impl Bench {
    fn open(options: &Options) -> io::Result<Self> {
        let mut bench = Self {
            suite: "peers",
            machine: Machine::this(),
            versions: Vec::new(),
            absent: Vec::new(),
            inexact: Vec::new(),
            python: None,
            #[cfg(feature = "cuda")]
            cuda: None,
        };
        if let Place::Cuda(ordinal) = options.place {
            bench.open_cuda(ordinal, options)?;
        }
        bench.open_python(options);
        Ok(bench)
    }

    fn open_python(&mut self, options: &Options) {
        let Some(interpreter) = &options.python else { return };
        match Python::start(interpreter, options.place) {
            Ok((python, hello)) => {
                self.versions.extend(hello.versions);
                self.absent.extend(hello.absent);
                self.python = Some(python);
            }
            Err(error) => {
                let name = interpreter.display().to_string();
                self.absent.push((format!("numpy, PyTorch, … of {name}"), error.to_string()));
            }
        }
    }

    #[cfg(not(feature = "cuda"))]
    fn open_cuda(&mut self, _: usize, _: &Options) -> io::Result<()> {
        Err(io::Error::other("this kogge was built without CUDA (feature `cuda`)"))
    }

    #[cfg(feature = "cuda")]
    fn open_cuda(&mut self, ordinal: usize, options: &Options) -> io::Result<()> {
        let mut cuda = cuda::Cuda::open(ordinal)?;
        self.suite = "cuda";
        self.machine.gpu = Some(cuda.gpu()?);
        match cub::Cub::find(options.cub.as_deref()) {
            Ok(cub) => {
                self.versions.push(cub.version());
                cuda.cub = Some(cub);
            }
            Err(error) => self.absent.push(("CUB".to_owned(), error.to_string())),
        }
        self.cuda = Some(cuda);
        Ok(())
    }

    fn cell(&mut self, dtype: &str, size: Size, options: &Options) -> io::Result<Cell> {
        match dtype {
            "i8" => self.cell_of::<i8, i8>(size, options, None),
            "i16" => self.cell_of::<i16, i16>(size, options, None),
            "i32" => self.cell_of::<i32, i32>(size, options, Some(contenders::shapes)),
            "i64" => self.cell_of::<i64, i64>(size, options, None),
            "f16" => self.cell_of::<half::f16, f32>(size, options, None),
            "f32" => self.cell_of::<f32, f32>(size, options, Some(contenders::shapes)),
            _ => self.cell_of::<f64, f64>(size, options, None),
        }
    }

    fn cell_of<T: Summed<A>, A: Accumulator>(
        &mut self,
        size: Size,
        options: &Options,
        shapes: Option<cpu::Shapes<T>>,
    ) -> io::Result<Cell> {
        let shape = match size {
            Size::Bytes(bytes) => {
                let len = usize::try_from(bytes).unwrap_or(usize::MAX) / size_of::<T>();
                if len == 0 {
                    return Err(io::Error::other(format!("{bytes} bytes hold no {}", T::NAME)));
                }
                Shape::Flat(len)
            }
            Size::Of(shape) if shapes.is_some() => shape,
            Size::Of(_) => {
                let types = SHAPED.join(" and ");
                return Err(io::Error::other(format!("shapes are measured of {types} only")));
            }
        };
        let (python, inexact) = (self.python.as_mut(), &mut self.inexact);
        #[cfg(feature = "cuda")]
        if let Some(cuda) = &mut self.cuda {
            return cuda::cell::<T, A>(cuda, python, shape, options, inexact);
        }
        cpu::cell::<T>(python, shape, shapes, options, inexact)
    }
}

/// What a record says of the cell.
fn cell_of<T: crate::Dtype>(shape: Shape, series: Vec<Series>) -> Cell {
    let name = (!matches!(shape, Shape::Flat(_))).then(|| shape.to_string());
    Cell {
        dtype: T::NAME.to_owned(),
        element_bytes: size_of::<T>(),
        mode: Mode::Into,
        len: shape.len(),
        shape: name,
        beside_bytes: shape.beside_bytes(),
        word_ns: None,
        series,
    }
}

/// What a type must be for the sums of all places.
#[cfg(feature = "cuda")]
trait Summed<A: Accumulator>:
    crate::Dtype + kogge_core::device::DeviceElement + kogge_core::Accumulate<A>
{
}
#[cfg(feature = "cuda")]
impl<T, A: Accumulator> Summed<A> for T where
    T: crate::Dtype + kogge_core::device::DeviceElement + kogge_core::Accumulate<A>
{
}
#[cfg(not(feature = "cuda"))]
trait Summed<A: Accumulator>: crate::Dtype {}
#[cfg(not(feature = "cuda"))]
impl<T: crate::Dtype, A: Accumulator> Summed<A> for T {}

/// What a sum is accumulated in.
#[cfg(feature = "cuda")]
trait Accumulator: kogge_core::Number + kogge_core::device::DeviceType {}
#[cfg(feature = "cuda")]
impl<A: kogge_core::Number + kogge_core::device::DeviceType> Accumulator for A {}
#[cfg(not(feature = "cuda"))]
trait Accumulator {}
#[cfg(not(feature = "cuda"))]
impl<A> Accumulator for A {}

/// Keeps the contenders that were asked for, checks all of them, then times those that are right.
/// `fault` runs a contender once and says what is wrong with its result.
fn compare<'a>(
    mut entries: Vec<Box<dyn Entry + 'a>>,
    mut fault: impl FnMut(&mut dyn Entry) -> io::Result<Option<String>>,
    (dtype, shape): (&str, Shape),
    options: &Options,
    inexact: &mut Vec<Inexact>,
) -> io::Result<Vec<Series>> {
    let asked = |name: &str| {
        options.only.is_empty() || options.only.iter().any(|word| has_word(name, word))
    };
    let kept = |role| matches!(role, Role::Copy | Role::Kogge | Role::Probe);
    entries.retain(|one| kept(one.role()) || asked(one.name()));
    let mut right = Vec::new();
    for mut one in entries {
        let checked = !matches!(one.role(), Role::Copy | Role::Probe);
        let fault = fault(one.as_mut())?.filter(|_| checked);
        let Some(fault) = fault else {
            right.push(one);
            continue;
        };
        let (name, dtype) = (one.name().to_owned(), dtype.to_owned());
        if one.role() != Role::Peer {
            return Err(io::Error::other(format!("{name} is wrong for {shape} {dtype}: {fault}")));
        }
        if !inexact.iter().any(|known| known.name == name && known.dtype == dtype) {
            inexact.push(Inexact { name, dtype, fault: format!("of {shape}, {fault}") });
        }
    }
    in_turn(&mut right, options.budget)
}
