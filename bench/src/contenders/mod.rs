//! Everything that is measured, one file each, and here one line each.

mod affine;
mod copies;
mod free_order;
mod kogge;
mod ndarray;
mod rayon_scan;
mod rayon_two_pass;
mod sequential;
mod shapes;

pub use affine::{Pair, contenders as affine};
pub use free_order::contender as free_order;
pub use shapes::contenders as shapes;

use crate::contender::{Contender, Mode};
use crate::dtype::Dtype;
use kogge_cpu::Level;

/// The inclusive sum: copies, kogge, and the rivals that are written in Rust.
pub fn sum<T: Dtype>(mode: Mode, threads: usize, levels: &[Level]) -> Vec<Contender<'static, T>> {
    let mut all = copies::contenders(mode, threads);
    all.extend(kogge::contenders(mode, threads, levels));
    all.push(sequential::contender(mode));
    all.push(rayon_two_pass::contender(mode, threads));
    all.extend(rayon_scan::contender(mode, threads));
    all.extend(ndarray::contender(mode));
    all
}
