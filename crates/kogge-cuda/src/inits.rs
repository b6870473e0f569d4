//! What each of many lines or segments has of its own: an initial value, and a place for its total.

use crate::Error;
use crate::launch::{INIT_BYTES, init_bytes};
use crate::scan::aligned;
use kogge_core::Element;

/// What is combined first in each line or segment, on the left.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Inits<A> {
    /// Nothing.
    #[default]
    None,
    /// This value in all, taken at the call.
    Value(A),
    /// In all the value at this address on the device, read by the kernel.
    Memory(u64),
    /// To each its own: the address on the device of one value per line or segment, in their order.
    Each(u64),
}

/// `Inits` of kernels/inits.cuh, byte for byte; the kernel's ends with the accumulator's bytes, so
/// this comes last in the arguments of a kernel.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct InitArguments {
    kind: u64,
    memory: u64,
    totals: u64,
    value: [u64; INIT_BYTES / 8],
}

impl InitArguments {
    /// # Errors
    ///
    /// [`Error::Misaligned`] if an address isn't a multiple of the alignment of `A`.
    pub(crate) fn new<A: Element>(inits: Inits<A>, totals: Option<u64>) -> Result<Self, Error> {
        totals.map_or(Ok(()), aligned::<A>)?;
        let (kind, memory) = match inits {
            Inits::None => (0, 0),
            Inits::Value(_) => (1, 0),
            Inits::Memory(address) => (2, address),
            Inits::Each(address) => (3, address),
        };
        aligned::<A>(memory)?;
        let value = match inits {
            Inits::Value(value) => init_bytes(value),
            _ => [0; INIT_BYTES / 8],
        };
        Ok(Self { kind, memory, totals: totals.unwrap_or(0), value })
    }
}
