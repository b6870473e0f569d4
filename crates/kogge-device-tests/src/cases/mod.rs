//! The operators that the tests run.
//!
//! Most are no monoids: what is compared is `combine`, whatever it means.

// `on!` pushes one case for each type.
#![allow(clippy::vec_init_then_push)]

mod built_in;
mod casts;
mod control;
mod plain;
mod words;
pub mod worked;

use crate::Case;

/// All cases.
pub fn all() -> Vec<Case> {
    [
        words::cases(),
        casts::cases(),
        control::cases(),
        plain::cases(),
        built_in::cases(),
        worked::cases(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Cases of one generic operator on several types.
macro_rules! on {
    ($cases:ident, $operator:expr, $name:literal, [$($type:ty),+]) => {
        $($cases.push($crate::Case::new::<$type, _>(
            concat!($name, "_", stringify!($type)), $operator,
        ));)+
    };
}
pub(crate) use on;
