//! The operator language: one Rust function as Rust, CUDA C++ and WGSL.
//!
//! `#[operator]` and `#[device]` read a Rust function, refuse what isn't in the language, and make
//! two things of the rest: Rust, in which each arithmetic word is a call into [`lang`], and the
//! same text as data ([`ir`]), of which [`cuda`] and [`wgsl`] make source when an engine asks for
//! it.
//!
//! # The language
//!
//! | part | what there is |
//! |---|---|
//! | types | `i8`…`i64`, `u8`…`u64`, `f32`, `f64`, `bool`, arrays `[T; N]`, `#[derive(Element)]` structs; `usize` for indices, which are below 2³² |
//! | operators | `+ - * / %`, `& \| ^ !`, `<< >>`, `== != < <= > >=`, `&& \|\|`, unary `-`, and `+=` and its kin |
//! | expressions | literals, constants, `if`/`else`, `match` on literals with `_`, blocks, struct literals, fields, array literals, `a[i]`, `as` |
//! | statements | `let`, `let mut`, assignment, `for` over a range of constants |
//! | functions | `min max abs clamp floor sqrt exp ln exp2 log2 powi mul_add to_bits from_bits`, `wrapping_add`/`sub`/`mul`/`neg`/`shl`/`shr`, `saturating_add`/`sub`, `minimum maximum precedes exceeds` (the order of the built-in operators), as `x.max(y)` or `f32::max(x, y)`; and calls of `#[device]` functions |
//!
//! # The meaning
//!
//! [`lang`] defines each word, the same for every engine, to the bit; precedence, literal types,
//! integer widths and the order of evaluation are Rust's. Casts are Rust's `as`: floats to integers
//! saturate, NaN becomes 0. What remains different:
//!
//! | | here (`libm`) | CUDA | WGSL (guaranteed) |
//! |---|---|---|---|
//! | `exp` f32 / f64 | < 1 ulp | 1 ulp / 1 ulp | 3 + 2·\|x\| ulp / none |
//! | `ln` f32 / f64 | < 1 ulp | 1 ulp / 1 ulp | 3 ulp, 2⁻²¹ absolute in \[0.5, 2\] / none |
//! | `exp2` f32 / f64 | < 1 ulp | 2 ulp / 1 ulp | 3 + 2·\|x\| ulp / none |
//! | `log2` f32 / f64 | < 1 ulp | 1 ulp / 1 ulp | 3 ulp, 2⁻²¹ absolute in \[0.5, 2\] / none |
//! | `/` | exact | exact | 2.5 ulp |
//! | `sqrt` | exact | exact | inherited from 1 / `inverseSqrt` (2 ulp) |
//! | sums and products | as written | as written | may be fused and reassociated; see [`wgsl::Options`] |
//! | subnormal floats | kept | kept | may be flushed to zero |
//! | NaN, ±∞ | kept | kept | an implementation may assume that there are none |
//! | the payload and sign of a NaN that arithmetic made | any | any | any |
//!
//! Measured on an H200 (CUDA 13.0, nvcc's defaults) over 22 million pairs: all cases of the tests
//! are exact to the bit; `exp` and `exp2` of f32 at most 2 ulp from `libm`, the other
//! transcendentals at most 1.
//!
//! `mul_add` is fused on every engine; in WGSL, whose `fma` may round twice, by integers. What WGSL
//! guarantees is less than what devices do: on Mesa's lavapipe (22.3) all cases of the tests are
//! exact to the bit, subnormal numbers, NaN and infinities too, but for `exp`, `ln`, `exp2` and
//! `log2`, which stay within the bounds above and take subnormal numbers as zeros.
//!
//! (Errors: CUDA C++ Programming Guide, "Mathematical functions"; WGSL, section 15.7.4 "Floating
//! point accuracy"; ulp: units in the last place, "exact": rounded to nearest.)

pub mod cuda;
mod error;
mod infer;
pub mod ir;
pub mod lang;
mod storage;
mod types;
pub mod wgsl;
mod writer;

pub use error::Error;
pub use storage::{DeviceElement, Storage};
pub use types::DeviceType;

use crate::Operator;

/// An operator that GPUs can run: one written with `#[operator]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't run on a GPU as an operator on `{A}`",
    note = "write it with `#[kogge::operator]`"
)]
pub trait DeviceOperator<A: DeviceType + crate::Element>: Operator<A> {
    /// `combine` as data.
    fn function(&self) -> ir::Function;
}

impl<A: DeviceType + crate::Element, O: DeviceOperator<A>> DeviceOperator<A> for &O {
    fn function(&self) -> ir::Function {
        (**self).function()
    }
}

/// A `#[device]` function: implemented by the type that the attribute puts beside it, under the
/// same name.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a function that operators can call",
    note = "put `#[kogge::device]` on it"
)]
pub trait DeviceFunction {
    /// The function as data.
    fn function() -> ir::Function;
}
