//! Values and places: what an expression gives, and what can be assigned.

use super::taint::Taint;
use super::ty::Ty;

/// The result of an expression: registers, one for each leaf of its type.
#[derive(Clone, Debug)]
pub(super) struct Val {
    pub ty: Ty,
    /// First register; none while the value is a constant.
    pub register: Option<u16>,
    pub constant: Option<u64>,
    pub taint: Taint,
}

impl Val {
    pub(super) fn constant(ty: Ty, value: u64) -> Self {
        Self { ty, register: None, constant: Some(value), taint: Taint::default() }
    }

    pub(super) fn register(ty: Ty, register: u16, taint: Taint) -> Self {
        Self { ty, register: Some(register), constant: None, taint }
    }

    /// No value: what a `void` call gives, or a group.
    pub(super) fn nothing(ty: Ty) -> Self {
        Self { ty, register: None, constant: None, taint: Taint::default() }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Place {
    pub ty: Ty,
    pub volatile: bool,
    /// A `const` variable's or a part of one, or what a pointer to `const` points at.
    pub constant: bool,
    /// The variable that it belongs to, for [`Taint`].
    pub variable: Option<u32>,
    pub kind: PlaceKind,
}

#[derive(Clone, Debug)]
pub(super) enum PlaceKind {
    Register {
        base: u16,
        /// Register that tells whether it was written, and the variable's name.
        flag: Option<(u16, u32)>,
    },
    Memory {
        base: Base,
        offset: i64,
    },
}

/// An address but for its constant offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Base {
    Constant(u64),
    Register(u16),
}
