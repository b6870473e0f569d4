//! The crate `rayon-scan`: a scan adaptor for rayon's parallel iterators.
//!
//! Its iterator has no length, so it can't write into a slice that exists; it collects a vector.

use crate::contender::{Contender, Mode, Role};
use crate::dtype::Dtype;
use rayon::prelude::*;
use rayon_scan::ScanParallelIterator;
use std::hint::black_box;

/// The adaptor, collected; it has no form in place. The output stays untouched.
pub fn contender<T: Dtype>(mode: Mode, threads: usize) -> Option<Contender<'static, T>> {
    (mode == Mode::Into).then(|| {
        let name = format!("rayon-scan, collected x{threads}");
        Contender::into(Role::Peer, name, threads, |x: &[T], _: &mut [T]| {
            black_box(collect(x));
        })
        .unchecked()
    })
}

fn collect<T: Dtype>(x: &[T]) -> Vec<T> {
    x.par_iter().copied().scan(|a, b| a.plus(*b), T::zeroed()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_it_collects_is_the_scan() {
        let x: Vec<i32> = (0..5_000).map(i32::element_at).collect();
        let sums: Vec<i32> = (0..5_000).map(i32::sum_at).collect();
        assert_eq!(collect(&x), sums);
    }
}
