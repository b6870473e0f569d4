//! How elements lie in a device's memory, which isn't always a type that operators calculate with.

use super::DeviceType;
use super::ir::Type;
use crate::{Element, bf16, f16};

/// What an element is in a device's memory.
#[derive(Clone, Debug, PartialEq)]
pub enum Storage {
    /// A type of the operator language.
    Type(Type),
    /// A half: binary16 of IEEE 754. Widened before an operator sees it.
    F16,
    /// The upper half of an `f32`. Widened before an operator sees it.
    Bf16,
}

/// An element that a device can read and write: every type of the operator language, `f16` and
/// `bf16`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be an element on a GPU",
    note = "use i8…i64, u8…u64, f16, bf16, f32, f64, arrays of them, or a `#[derive(kogge::Element)]` struct of them"
)]
pub trait DeviceElement: Element {
    /// What it is there.
    fn storage() -> Storage;
}

impl<T: Element + DeviceType> DeviceElement for T {
    fn storage() -> Storage {
        Storage::Type(T::device_type())
    }
}

impl DeviceElement for f16 {
    fn storage() -> Storage {
        Storage::F16
    }
}

impl DeviceElement for bf16 {
    fn storage() -> Storage {
        Storage::Bf16
    }
}
