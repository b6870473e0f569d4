//! What one writes with rayon by hand: a part for each thread, summed first and scanned second.

use super::sequential;
use crate::contender::{Contender, Mode, Role};
use crate::dtype::Dtype;
use rayon::prelude::*;

/// The two passes in a mode.
pub fn contender<T: Dtype>(mode: Mode, threads: usize) -> Contender<'static, T> {
    let name = format!("rayon in two passes x{threads}");
    let part = move |len: usize| len.div_ceil(threads).max(1);
    match mode {
        Mode::Into => Contender::into(Role::Peer, name, threads, move |x: &[T], y: &mut [T]| {
            let part = part(x.len());
            let totals: Vec<_> = x.par_chunks(part).map(total).collect();
            let parts = x.par_chunks(part).zip(y.par_chunks_mut(part));
            parts.zip(before(totals)).for_each(|((x, y), mut sum)| {
                for (&x, y) in x.iter().zip(y) {
                    sum = sum.plus(x);
                    *y = sum;
                }
            });
        }),
        Mode::InPlace => Contender::in_place(Role::Peer, name, threads, move |y: &mut [T]| {
            let part = part(y.len());
            let totals: Vec<_> = y.par_chunks(part).map(total).collect();
            y.par_chunks_mut(part).zip(before(totals)).for_each(|(y, mut sum)| {
                for y in y {
                    sum = sum.plus(*y);
                    *y = sum;
                }
            });
        }),
    }
}

fn total<T: Dtype>(x: &[T]) -> T {
    x.iter().fold(T::zeroed(), |sum, &x| sum.plus(x))
}

/// The sums before each part.
fn before<T: Dtype>(mut totals: Vec<T>) -> Vec<T> {
    sequential::scan(&mut totals);
    totals.rotate_right(1);
    if let Some(first) = totals.first_mut() {
        *first = T::zeroed();
    }
    totals
}
