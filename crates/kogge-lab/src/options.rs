//! How a script is run: the schedule, the device, the budgets.

/// An order: of blocks as they start, or of blocks, warps and lanes as they run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Order {
    /// Lowest id first.
    #[default]
    Forward,
    /// Highest id first.
    Reverse,
    /// Drawn from the seed.
    Random,
}

impl Order {
    /// The order of this name: `forward`, `reverse` or `random`.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "forward" => Some(Self::Forward),
            "reverse" => Some(Self::Reverse),
            "random" => Some(Self::Random),
            _ => None,
        }
    }

    /// The order's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Forward => "forward",
            Self::Reverse => "reverse",
            Self::Random => "random",
        }
    }
}

/// An interleaving of the threads, replayable from its seed.
///
/// `Forward` and `Reverse` run warps in lock step, one block after the other,
/// each until it waits. `Random` picks a resident block, a warp, some of its
/// lanes and a number of instructions, again and again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Schedule {
    /// Order of the blocks, warps and lanes that could run.
    pub order: Order,
    /// Seed of everything random; unused by the other orders.
    pub seed: u64,
}

impl Schedule {
    /// Lowest ids first, warps in lock step.
    pub const FORWARD: Self = Self { order: Order::Forward, seed: 0 };
    /// Highest ids first, warps in lock step.
    pub const REVERSE: Self = Self { order: Order::Reverse, seed: 0 };

    /// The random schedule of this seed.
    pub const fn random(seed: u64) -> Self {
        Self { order: Order::Random, seed }
    }
}

impl std::fmt::Display for Schedule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.order {
            Order::Forward => f.write_str("forward"),
            Order::Reverse => f.write_str("reverse"),
            Order::Random => write!(f, "random (seed {})", self.seed),
        }
    }
}

/// What the simulated device can hold. The default is that of compute
/// capability 9.0 (CUDA C++ Programming Guide, "Compute Capabilities").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Device {
    /// Threads in one block.
    pub threads_per_block: u32,
    /// Largest block in x, y and z.
    pub block: [u32; 3],
    /// Largest grid in x, y and z.
    pub grid: [u32; 3],
    /// Statically declared shared memory of a block, in bytes.
    pub static_shared_bytes: u32,
    /// Shared memory of a block, static and dynamic, in bytes, without opting in.
    pub shared_bytes: u32,
}

impl Default for Device {
    fn default() -> Self {
        Self {
            threads_per_block: 1024,
            block: [1024, 1024, 64],
            grid: [0x7fff_ffff, 65_535, 65_535],
            static_shared_bytes: 48 << 10,
            shared_bytes: 48 << 10,
        }
    }
}

/// What a run may use before it is stopped. Every run ends within its budgets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Budget {
    /// Thread-instructions of the simulated machine, over all launches. A
    /// warp's instruction counts as that of 8 threads at least, a barrier or
    /// shuffle 8-fold, an atomic or fence 32-fold: they take as long.
    pub instructions: u64,
    /// Bytes of host memory for arrays, their shadows, registers and the trace.
    pub memory: u64,
    /// Findings kept; further ones are counted only.
    pub findings: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Self { instructions: 2_000_000_000, memory: 2 << 30, findings: 100 }
    }
}

/// Everything about a run that is not in the script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Blocks that are resident at once; the others start as these end. At least 1.
    pub resident_blocks: u32,
    /// Order in which blocks start.
    pub block_order: Order,
    /// The interleaving.
    pub schedule: Schedule,
    /// The device's limits.
    pub device: Device,
    /// What the run may use.
    pub budget: Budget,
    /// Name of the device function that is the operator. Its calls are the
    /// *work*; in a source without such a function, `+ * & | ^ min max` on two
    /// values that both stem from arrays count (see [`Report::work`](crate::Report::work)).
    pub operator: String,
    /// Whether reading a flag orders what follows only after a fence (or as an
    /// acquire, of `cuda::atomic_ref`), as the PTX memory model has it. By
    /// default a volatile or atomic read is enough, as textbooks (and the
    /// hardware they ran on) have it; the writer's fence or release is always
    /// required.
    pub acquire_needs_fence: bool,
    /// Record a [`Trace`](crate::Trace).
    pub trace: bool,
    /// Arrays whose elements are the x0, x1, … of the trace's labels. Empty:
    /// every array given with contents that are not all zero.
    pub trace_inputs: Vec<String>,
}

impl Options {
    /// The same under another schedule, in whose order blocks start too.
    #[must_use]
    pub fn under(&self, schedule: Schedule) -> Self {
        Self { schedule, block_order: schedule.order, ..self.clone() }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            resident_blocks: 132,
            block_order: Order::Forward,
            schedule: Schedule::FORWARD,
            device: Device::default(),
            budget: Budget::default(),
            operator: "combine".to_owned(),
            acquire_needs_fence: false,
            trace: false,
            trace_inputs: Vec::new(),
        }
    }
}
