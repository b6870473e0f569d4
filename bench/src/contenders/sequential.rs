//! The plain loop that everyone writes first.

use crate::contender::{Contender, Mode, Role};
use crate::dtype::Dtype;

/// The loop in a mode.
pub fn contender<T: Dtype>(mode: Mode) -> Contender<'static, T> {
    let name = "sequential Rust loop";
    match mode {
        Mode::Into => Contender::into(Role::Peer, name, 1, |x: &[T], y: &mut [T]| scan_into(x, y)),
        Mode::InPlace => Contender::in_place(Role::Peer, name, 1, |y: &mut [T]| scan(y)),
    }
}

/// The loop from one buffer into another.
#[inline]
pub fn scan_into<T: Dtype>(x: &[T], y: &mut [T]) {
    let Some((first, rest)) = x.split_first() else { return };
    let mut sum = *first;
    y[0] = sum;
    for (&x, y) in rest.iter().zip(&mut y[1..]) {
        sum = sum.plus(x);
        *y = sum;
    }
}

/// The loop in place.
pub fn scan<T: Dtype>(y: &mut [T]) {
    let Some((first, rest)) = y.split_first_mut() else { return };
    let mut sum = *first;
    for y in rest {
        sum = sum.plus(*y);
        *y = sum;
    }
}
