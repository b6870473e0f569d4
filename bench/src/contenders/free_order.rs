//! What the fixed order costs: a sum of floats that the engine may combine in any order.
//!
//! An operator that claims what is true of integers alone, that any order gives the same bits, gets
//! the engine's kernels for those: vectors are scanned where they lie, and folded lane by lane. So
//! it differs from kogge's sum in the order of combination and in what follows of that: the kernel,
//! and how threads share the work. By all threads the engine plans it, as it does for users.

use super::kogge::plan_of;
use crate::contender::{Contender, Mode, Role};
use crate::dtype::Dtype;
use kogge::ops::Sum;
use kogge::{Element, Number, Operator};
use kogge_cpu::{Request, scan_in_place, scan_into};

/// A sum in any order.
struct FreeOrder;

impl<A: Number + Element> Operator<A> for FreeOrder {
    const EXACT: bool = true;
    const COMMUTATIVE: bool = true;
    const NONBLOCKING: bool = true;

    #[inline(always)]
    fn identity(&self) -> A {
        Sum.identity()
    }

    #[inline(always)]
    fn combine(&self, left: A, right: A) -> A {
        Sum.combine(left, right)
    }
}

/// The sum in free order by so many threads.
pub fn contender<T: Dtype>(mode: Mode, threads: usize) -> Contender<'static, T> {
    let name = format!("free order x{threads}");
    let request = move |len: usize| Request {
        plan: (threads == 1).then(|| plan_of::<T>(len, mode, threads)),
        ..Request::<_, T::Accumulator>::new(&FreeOrder)
    };
    match mode {
        Mode::Into => Contender::into(Role::Probe, name, threads, move |x: &[T], y: &mut [T]| {
            scan_into(&request(x.len()), x, y).expect("the lengths are equal");
        }),
        Mode::InPlace => Contender::in_place(Role::Probe, name, threads, move |y: &mut [T]| {
            scan_in_place(&request(y.len()), y);
        }),
    }
}
