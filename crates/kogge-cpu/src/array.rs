//! Short arrays made value by value, for kernels.
//!
//! `std::array::from_fn` and `map` guard what is there already against a panic in what comes next,
//! in half a dozen functions for each use; two fifths of the code that a scan had to compile were
//! theirs. Values of kernels are `Copy` and need no guard.

use std::mem::MaybeUninit;

/// `[f(0), …, f(N - 1)]`.
#[inline(always)]
pub(crate) fn array<const N: usize, T: Copy>(mut f: impl FnMut(usize) -> T) -> [T; N] {
    let mut values = MaybeUninit::<[T; N]>::uninit();
    let first = values.as_mut_ptr().cast::<T>();
    let mut i = 0;
    while i < N {
        // SAFETY: value `i` of `N`.
        unsafe { first.add(i).write(f(i)) };
        i += 1;
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
