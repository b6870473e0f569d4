//! What happened to the elements, step by step: enough to draw the network.
//!
//! The machine carries, beside each value in a register or in memory, what it
//! stands for: element i of an input starts as the interval \[i, i\], and
//! combining \[i, j\] with \[j+1, k\] gives \[i, k\]. Copies, shuffles and
//! casts keep the label; any other arithmetic drops it. Operands without a
//! label (the identity, a zero) leave the other's label as it is. Labels are
//! found by the machine alone, never by reading the kernel's mind: a kernel
//! that combines intervals that do not touch gives a value without a label.

/// A run of input elements, `x[first]` to `x[last]`, combined in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Interval {
    /// The input: an index into [`Trace::arrays`].
    pub input: u32,
    /// First element.
    pub first: u32,
    /// Last element, included.
    pub last: u32,
}

/// Where a value was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case", tag = "in"))]
pub enum Place {
    /// An element of a global or shared array.
    Element {
        /// Index into [`Trace::arrays`].
        array: u32,
        /// The block whose shared array it is; 0 for global arrays.
        block: u32,
        /// The element.
        index: u32,
    },
    /// A register of a thread.
    Register {
        /// Linear id of the block.
        block: u32,
        /// Linear id of the thread in its block.
        thread: u32,
    },
}

/// An operand or result: where it was and what it stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Labelled {
    /// Where it was: the array element that it was last read from, or the
    /// register that it came from.
    pub place: Place,
    /// What it stands for, where that is known.
    pub interval: Option<Interval>,
}

/// Who did it and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Moment {
    /// Index of the launch, from 0.
    pub launch: u32,
    /// The thread's level within the launch (see [`Level`](crate::Level)), from 0.
    pub level: u32,
    /// Linear id of the block.
    pub block: u32,
    /// Linear id of the thread in its block.
    pub thread: u32,
    /// Line in the source.
    pub line: u32,
}

/// One step in the life of an element.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case", tag = "event"))]
pub enum Event {
    /// The operator was applied.
    Combine {
        /// Who and when.
        #[cfg_attr(feature = "serde", serde(flatten))]
        at: Moment,
        /// Left operand.
        left: Labelled,
        /// Right operand.
        right: Labelled,
        /// What the result stands for.
        result: Option<Interval>,
        /// Where the result was stored, at once or later: empty if it stayed
        /// in a register.
        stored: Vec<Place>,
    },
    /// A value was stored as it was read (or received), not combined.
    Move {
        /// Who and when.
        #[cfg_attr(feature = "serde", serde(flatten))]
        at: Moment,
        /// Where it came from.
        from: Labelled,
        /// Where it was stored.
        to: Place,
    },
    /// A value that stands for no input (an identity, a constant) was stored.
    Set {
        /// Who and when.
        #[cfg_attr(feature = "serde", serde(flatten))]
        at: Moment,
        /// Where it was stored.
        to: Place,
    },
    /// All threads of a block (or of the grid) passed a barrier.
    Barrier {
        /// Index of the launch.
        launch: u32,
        /// The level that ends.
        level: u32,
        /// Linear id of the block; none for a grid barrier.
        block: Option<u32>,
        /// Line in the source.
        line: u32,
    },
}

/// An array that the trace speaks of.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct TracedArray {
    /// Its name in the script or in the source.
    pub name: String,
    /// Whether it is shared memory, of which each block has its own.
    pub shared: bool,
    /// Number of elements.
    pub len: u32,
    /// Whether its elements are the x0, x1, … of the labels.
    pub input: bool,
}

/// The trace of a run: events in the order in which they happened.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Trace {
    /// Arrays, by index.
    pub arrays: Vec<TracedArray>,
    /// Events.
    pub events: Vec<Event>,
    /// Events beyond the memory budget, left out.
    pub left_out: u64,
    /// The longest chain of operator applications that led to one value.
    pub depth: u32,
}
