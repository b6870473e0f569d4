//! The built-in operators, one file each.
//!
//! | operator | elements | combines to |
//! |---|---|---|
//! | [`Sum`] | numbers | the sum; integers wrap |
//! | [`Product`] | numbers | the product; integers wrap |
//! | [`Min`], [`Max`] | numbers | the smaller, the larger; NaN propagates, `-0.0 < 0.0` |
//! | [`BitAnd`], [`BitOr`], [`BitXor`] | integers | bit by bit |
//! | [`All`], [`Any`] | integers as truth values | 1 if all are, if any is non-zero, else 0 |
//! | [`LogAddExp`] | floats | ln(eˡ + eʳ) without overflow |
//! | [`Compose`] | [`Affine`] | the map that applies left, then right |
//! | [`MatMul`] | [`Matrix2`] | the matrix product, left times right |
//! | [`LastValid`] | floats, [`Flagged`] | the last value that isn't missing |
//! | [`ArgMin`], [`ArgMax`] | [`Indexed`] | the extreme value with the index of its first place |
//! | [`Segmented`] | [`Flagged`], or a pair that [`marked`] makes | another operator, starting anew at each flag |

mod affine;
mod all;
mod any;
mod arg_max;
mod arg_min;
mod bit_and;
mod bit_or;
mod bit_xor;
mod last_valid;
mod log_add_exp;
mod matrix2;
mod max;
mod min;
mod padding;
mod product;
mod segmented;
mod sum;

pub use affine::{Affine, Compose};
pub use all::All;
pub use any::Any;
pub use arg_max::ArgMax;
pub use arg_min::{ArgMin, Indexed};
pub use bit_and::BitAnd;
pub use bit_or::BitOr;
pub use bit_xor::BitXor;
pub use last_valid::LastValid;
pub use log_add_exp::LogAddExp;
pub use matrix2::{MatMul, Matrix2};
pub use max::Max;
pub use min::Min;
pub use padding::Padded;
pub use product::Product;
pub use segmented::{Flagged, Segmented, marked};
pub use sum::Sum;

#[cfg(test)]
mod tests;
