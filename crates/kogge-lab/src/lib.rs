//! A simulated GPU for CUDA C scan kernels: it runs the text of a kernel
//! thread by thread, in any interleaving that the language allows, and sees
//! everything.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod catalogue;
mod diagnostic;
pub mod draw;
mod expect;
mod lang;
mod lower;
mod machine;
mod options;
mod program;
mod random;
mod report;
mod run;
mod script;
mod trace;
pub mod value;

pub use diagnostic::Diagnostic;
pub use expect::{Expectation, Mismatch};
pub use options::{Budget, Device, Options, Order, Schedule};
pub use program::{Kernel, Parameter, Program, Variable};
pub use report::{
    Access, AccessKind, Counts, Finding, FindingKind, LaunchReport, Level, Location, Report, Space,
};
pub use run::{explore, run};
pub use script::{Arg, Launch, Script, Step};
pub use trace::{Event, Interval, Labelled, Moment, Place, Trace, TracedArray};
pub use value::{ArrayInit, Number, ScalarType, Value, Values};
