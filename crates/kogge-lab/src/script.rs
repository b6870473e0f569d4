//! The scripted host: arrays, and what is done to them in order.

use crate::value::{Number, Value};

/// What the host does: named values, then steps in order.
///
/// A kernel parameter takes the step's own argument of its name if there is
/// one, else the script's value of its name. Values whose name is that of a
/// device variable (`__device__`, `__constant__`) initialise it. Array
/// contents live on from step to step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Script {
    /// Arrays, numbers and device variables by name.
    pub values: Vec<(String, Value)>,
    /// What is done, in order.
    pub steps: Vec<Step>,
}

/// One step of the host.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// A kernel launch, waited for.
    Launch(Launch),
    /// Every element of an array or device variable set to a number (`cudaMemset`).
    Fill {
        /// Array or device variable.
        name: String,
        /// The number, converted to the element's type.
        value: Number,
    },
    /// One array copied over the first elements of another of the same type
    /// (`cudaMemcpy` device to device); as many as the shorter has.
    Copy {
        /// Source array.
        from: String,
        /// Destination array.
        to: String,
    },
}

/// A kernel launch: `kernel<<<grid, block, shared_bytes>>>(args…)`.
#[derive(Clone, Debug, PartialEq)]
pub struct Launch {
    /// The kernel, with its template arguments if it has any (`scan<float, 256>`), and the types of
    /// its parameters if several have the name (`add(int *, int)`); none: the only kernel of the
    /// source.
    pub kernel: Option<String>,
    /// Blocks in x, y, z.
    pub grid: [u32; 3],
    /// Threads per block in x, y, z.
    pub block: [u32; 3],
    /// Dynamic shared memory (`extern __shared__`), in bytes.
    pub shared_bytes: u32,
    /// A cooperative launch: all blocks resident, or refused. Grid-wide
    /// barriers (`grid.sync()`) need it. Where it is set, the number of
    /// resident blocks is still the device's, so a grid larger than
    /// [`Options::resident_blocks`](crate::Options::resident_blocks) is a
    /// `limit` finding.
    pub cooperative: bool,
    /// Arguments of this launch alone, by parameter name.
    pub args: Vec<(String, Arg)>,
}

/// An argument of one launch.
#[derive(Clone, Debug, PartialEq)]
pub enum Arg {
    /// A number, converted to the parameter's type; 0 is also a null pointer.
    Number(Number),
    /// A pointer into an array of the script.
    Array {
        /// The array's name in [`Script::values`].
        name: String,
        /// The element pointed at.
        offset: u64,
    },
    /// A null pointer.
    Null,
    /// The parameter's default argument, whatever the script has of its name.
    Default,
}

impl Launch {
    /// A launch of `kernel` with `grid` blocks of `block` threads in x.
    pub fn new(kernel: impl Into<String>, grid: u32, block: u32) -> Self {
        Self {
            kernel: Some(kernel.into()),
            grid: [grid, 1, 1],
            block: [block, 1, 1],
            shared_bytes: 0,
            cooperative: false,
            args: Vec::new(),
        }
    }

    /// The same with one more argument.
    #[must_use]
    pub fn arg(mut self, name: impl Into<String>, arg: Arg) -> Self {
        self.args.push((name.into(), arg));
        self
    }
}

impl Script {
    /// A script without values or steps.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same with one more value (the last of a name counts).
    #[must_use]
    pub fn value(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.values.push((name.into(), value.into()));
        self
    }

    /// The same with one more launch.
    #[must_use]
    pub fn launch(mut self, launch: Launch) -> Self {
        self.steps.push(Step::Launch(launch));
        self
    }
}
