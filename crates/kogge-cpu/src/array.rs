//! Loops of kernels over a few places, and short arrays made value by value, in a form that
//! compiles quickly.
//!
//! `std::array::from_fn` and `map` guard what is there already against a panic in what comes next,
//! in half a dozen functions for each use; two fifths of the code that a scan had to compile were
//! theirs. Values of kernels are `Copy` and need no guard.
//!
//! A kernel has hundreds of loops, all in one function, and what is done to each takes time by the
//! size of that function. So they test at their end, as LLVM would have them do, to which it gave a
//! third of all its time; and an array of one value, which most are, is made without one.

use std::mem::MaybeUninit;

/// `for_each!(range, |i| body)`, or `(range).step_by(n)`: a loop over places. Not a function with a
/// closure, which may not be inlined and then knows nothing of the CPU's features; so `continue`
/// and `break` have no place in the body.
macro_rules! for_each {
    (($range:expr).step_by($step:expr), |$i:ident| $body:expr) => {{
        let (std::ops::Range { start, end }, step): (_, usize) = ($range, $step);
        let mut place: usize = start;
        if place < end {
            loop {
                let $i = place;
                $body;
                place = place.wrapping_add(step);
                if place >= end {
                    break;
                }
            }
        }
    }};
    ($range:expr, |$i:ident| $body:expr) => {
        $crate::array::for_each!(($range).step_by(1), |$i| $body)
    };
}
pub(crate) use for_each;

/// `[f(0), …, f(N - 1)]`.
#[inline(always)]
pub(crate) fn array<const N: usize, T: Copy>(mut f: impl FnMut(usize) -> T) -> [T; N] {
    let mut values = MaybeUninit::<[T; N]>::uninit();
    let first = values.as_mut_ptr().cast::<T>();
    if const { N == 1 } {
        // SAFETY: the only value.
        unsafe { first.write(f(0)) };
    } else {
        // SAFETY: value `i` of `N`.
        for_each!(0..N, |i| unsafe { first.add(i).write(f(i)) });
    }
    // SAFETY: all `N` values were written.
    unsafe { values.assume_init() }
}

/// `[f(values[0]), …, f(values[N - 1])]`.
#[inline(always)]
pub(crate) fn map<const N: usize, T: Copy, U: Copy>(
    values: [T; N],
    mut f: impl FnMut(T) -> U,
) -> [U; N] {
    array(|i| f(values[i]))
}
