//! Operators applied to the lanes of registers.
//!
//! An accumulator of W words lies in W registers, one word of it in each. [`combine`] takes the
//! operator through the lanes one by one; the compiler makes that one vector operation where the
//! operator's arithmetic has one.

use crate::arch::Words;
use crate::array::{array, for_each, map};
use kogge_core::{Element, Operator};
use std::mem::MaybeUninit;

/// Registers full of accumulators: word `w` of each in register `w`.
pub(super) type Vectors<H, const W: usize> = [<H as Words>::Vector; W];

/// Columns of 32 accumulators: word `w` of each in column `w`.
pub(super) type Columns<H, const W: usize> = [<H as Words>::Column; W];

/// `left ∘ right`, lane by lane.
///
/// # Safety
///
/// `A` must be `W` words of `H` in size, and the CPU features of `H` present.
#[inline(always)]
pub(super) unsafe fn combine<H: Words, A: Element, O: Operator<A>, const W: usize>(
    operator: &O,
    left: Vectors<H, W>,
    right: Vectors<H, W>,
) -> Vectors<H, W> {
    // SAFETY: the caller vouches for the features.
    unsafe {
        let (left, right) = (map(left, |v| H::opaque(v)), map(right, |v| H::opaque(v)));
        map(combine_open::<H, A, O, W>(operator, left, right), |v| H::opaque(v))
    }
}

/// [`combine`] of operands that come from it, or have been made opaque, so that none is copied for
/// it.
///
/// # Safety
///
/// As for [`combine`].
#[inline(always)]
pub(super) unsafe fn combine_closed<H: Words, A: Element, O: Operator<A>, const W: usize>(
    operator: &O,
    left: Vectors<H, W>,
    right: Vectors<H, W>,
) -> Vectors<H, W> {
    // SAFETY: passed on.
    unsafe { map(combine_open::<H, A, O, W>(operator, left, right), |v| H::opaque(v)) }
}

/// `left ∘ right` where those of a mask are set, `right` elsewhere; of one word.
///
/// The compiler may make one operation of the two where the CPU has it.
///
/// # Safety
///
/// `A` must be a word of `H` in size, and the CPU features of `H` present.
#[inline(always)]
pub(super) unsafe fn combine_some<H: Words, A: Element, O: Operator<A>>(
    operator: &O,
    mask: H::Vector,
    left: H::Vector,
    right: H::Vector,
) -> H::Vector {
    // SAFETY: passed on.
    unsafe {
        let (left, right) = (H::opaque(left), H::opaque(right));
        let [value] = combine_open::<H, A, O, 1>(operator, [left], [right]);
        H::select(mask, value, right)
    }
}

/// As [`combine`], open to what the compiler makes of it with what comes next.
///
/// # Safety
///
/// As for [`combine`].
#[inline(always)]
unsafe fn combine_open<H: Words, A: Element, O: Operator<A>, const W: usize>(
    operator: &O,
    left: Vectors<H, W>,
    right: Vectors<H, W>,
) -> Vectors<H, W> {
    let mut combined = MaybeUninit::<Vectors<H, W>>::uninit();
    for_each!(0..H::LANES, |lane| {
        // SAFETY: `lane` is a lane of each; every word of every vector is written.
        unsafe {
            let value = operator.combine(get::<H, A, W>(&left, lane), get::<H, A, W>(&right, lane));
            put::<H, A, W>(combined.as_mut_ptr(), lane, value);
        }
    });
    // SAFETY: all lanes were written above.
    unsafe { combined.assume_init() }
}

/// The accumulator in a lane.
///
/// # Safety
///
/// `A` must be `W` words of `H` in size, and `lane` one of the lanes.
#[inline(always)]
pub(super) unsafe fn get<H: Words, A: Element, const W: usize>(
    vectors: &Vectors<H, W>,
    lane: usize,
) -> A {
    let words = vectors.as_ptr().cast::<H::Word>();
    // SAFETY: `Vector` is a plain array of LANES words, so word `w` of the lane is in bounds; the
    // array of W words has the size of `A`, and any bits are an `A`, which is `Pod`.
    unsafe {
        let value: [H::Word; W] = array(|w| *words.add(w * H::LANES + lane));
        (&raw const value).cast::<A>().read_unaligned()
    }
}

/// Sets the accumulator in a lane.
///
/// # Safety
///
/// `A` must be `W` words of `H` in size, `lane` one of the lanes, `vectors` writable.
#[inline(always)]
unsafe fn put<H: Words, A: Element, const W: usize>(
    vectors: *mut Vectors<H, W>,
    lane: usize,
    value: A,
) {
    let words = vectors.cast::<H::Word>();
    // SAFETY: `A` is W words of plain data; word `w` of the lane is in bounds of the plain arrays.
    unsafe {
        let value = (&raw const value).cast::<[H::Word; W]>().read_unaligned();
        for_each!(0..W, |w| {
            words.add(w * H::LANES + lane).write(value[w]);
        });
    }
}

/// The accumulator in every lane.
///
/// # Safety
///
/// `A` must be `W` words of `H` in size, and the CPU features of `H` present.
#[inline(always)]
pub(super) unsafe fn splat<H: Words, A: Element, const W: usize>(value: A) -> Vectors<H, W> {
    // SAFETY: `A` is W words of plain data; the caller vouches for the features.
    unsafe {
        map((&raw const value).cast::<[H::Word; W]>().read_unaligned(), |word| H::splat(word))
    }
}

/// The `g`-th register of each column.
#[inline(always)]
pub(super) fn vectors<H: Words, const W: usize>(
    columns: &Columns<H, W>,
    g: usize,
) -> Vectors<H, W> {
    array(|w| columns[w].as_ref()[g])
}

/// Sets the `g`-th register of each column.
#[inline(always)]
pub(super) fn set_vectors<H: Words, const W: usize>(
    columns: &mut Columns<H, W>,
    g: usize,
    vectors: Vectors<H, W>,
) {
    for_each!(0..W, |w| {
        columns[w].as_mut()[g] = vectors[w];
    });
}

/// The accumulator in the last of the 32 lanes.
///
/// # Safety
///
/// `A` must be `W` words of `H` in size.
#[inline(always)]
pub(super) unsafe fn last<H: Words, A: Element, const W: usize>(columns: &Columns<H, W>) -> A {
    let per_column = H::GROUPS;
    // SAFETY: a column has 32 lanes in `per_column` registers; the size is the caller's word.
    unsafe { get::<H, A, W>(&vectors::<H, W>(columns, per_column - 1), H::LANES - 1) }
}
