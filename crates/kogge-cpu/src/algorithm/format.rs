//! How elements lie in memory, and how rows of them become columns of accumulators.
//!
//! Most are accumulators already. Halves, `f16` and `bf16`, lie two to a word: split as words, each
//! column gives two, one of the even elements of each chunk and one of the odd ones. So they are
//! widened in registers, after the transposition of half as much memory.

use crate::arch::Words;
use crate::array::for_each;
use kogge_core::{Accumulate, Element, bf16, f16};
use std::any::TypeId;

/// A format of elements and values in memory.
pub(crate) trait Format: 'static {
    /// Bytes of an element if it isn't an accumulator, else 0.
    const PACKED: usize = 0;

    /// The accumulators of a row.
    type Row<H: Words>: Copy + AsRef<[H::Column]> + AsMut<[H::Column]>;

    /// The row at `from`.
    ///
    /// # Safety
    ///
    /// As for [`Words::split`].
    unsafe fn split<H: Words>(from: *const H::Word) -> Self::Row<H>;

    /// The words of a row, column by column.
    ///
    /// # Safety
    ///
    /// The CPU features of `H` must be present.
    unsafe fn words<H: Words>(row: Self::Row<H>) -> H::Row;

    /// Stores a row.
    ///
    /// # Safety
    ///
    /// As for [`Words::join`].
    #[inline(always)]
    unsafe fn join<H: Words>(row: Self::Row<H>, to: *mut H::Word) {
        // SAFETY: passed on.
        unsafe { H::join(Self::words::<H>(row), to) }
    }

    /// Stores a row past the caches.
    ///
    /// # Safety
    ///
    /// As for [`Words::join_stream`].
    #[inline(always)]
    unsafe fn join_stream<H: Words>(row: Self::Row<H>, to: *mut H::Word) {
        // SAFETY: passed on.
        unsafe { H::join_stream(Self::words::<H>(row), to) }
    }

    /// Element `i` as an accumulator; `first` is the address of the first one.
    ///
    /// # Safety
    ///
    /// There must be such an element; `A` is `f32` if the format is packed.
    unsafe fn get<A: Element>(first: *const A, i: usize) -> A;

    /// Stores value `i`.
    ///
    /// # Safety
    ///
    /// As for [`get`](Self::get).
    unsafe fn put<A: Element>(first: *mut A, i: usize, value: A);

    /// The address of element `i`; `first` is that of the first one.
    #[inline(always)]
    fn at<A>(first: *const A, i: usize) -> *const A {
        let bytes = if Self::PACKED > 0 { Self::PACKED } else { size_of::<A>() };
        first.wrapping_byte_add(i * bytes)
    }
}

/// Elements that are accumulators.
pub(crate) struct Whole;

impl Format for Whole {
    type Row<H: Words> = H::Row;

    #[inline(always)]
    unsafe fn split<H: Words>(from: *const H::Word) -> H::Row {
        // SAFETY: passed on.
        unsafe { H::split(from) }
    }

    #[inline(always)]
    unsafe fn words<H: Words>(row: H::Row) -> H::Row {
        row
    }

    #[inline(always)]
    unsafe fn get<A: Element>(first: *const A, i: usize) -> A {
        // SAFETY: passed on.
        unsafe { first.add(i).read() }
    }

    #[inline(always)]
    unsafe fn put<A: Element>(first: *mut A, i: usize, value: A) {
        // SAFETY: passed on.
        unsafe { first.add(i).write(value) }
    }
}

/// Elements of two bytes that are accumulated in `f32`.
pub(crate) trait Half: Accumulate<f32> {
    /// The even and the odd halves of some words, widened.
    ///
    /// # Safety
    ///
    /// The CPU features of `H` must be present, and its words be of 4 bytes.
    unsafe fn widen_pairs<H: Words>(pairs: H::Vector) -> [H::Vector; 2];

    /// Even and odd values, rounded to halves.
    ///
    /// # Safety
    ///
    /// As for [`widen_pairs`](Self::widen_pairs).
    unsafe fn narrow_pairs<H: Words>(pairs: [H::Vector; 2]) -> H::Vector;
}

impl<T: Half> Format for T {
    const PACKED: usize = size_of::<T>();

    type Row<H: Words> = [H::Column; 8];

    #[inline(always)]
    unsafe fn split<H: Words>(from: *const H::Word) -> [H::Column; 8] {
        // SAFETY: passed on; a row of words of 4 bytes has 4 columns.
        unsafe {
            let words = H::split(from);
            let words = words.as_ref();
            let mut row = [words[0]; 8];
            for_each!(0..words.len(), |c| {
                for_each!(0..H::GROUPS, |g| {
                    let [even, odd] = T::widen_pairs::<H>(words[c].as_ref()[g]);
                    row[2 * c].as_mut()[g] = even;
                    row[2 * c + 1].as_mut()[g] = odd;
                });
            });
            row
        }
    }

    #[inline(always)]
    unsafe fn words<H: Words>(row: [H::Column; 8]) -> H::Row {
        let mut columns = [row[0], row[2], row[4], row[6]];
        for_each!(0..4, |c| {
            for_each!(0..H::GROUPS, |g| {
                let pair = [row[2 * c].as_ref()[g], row[2 * c + 1].as_ref()[g]];
                // SAFETY: passed on.
                columns[c].as_mut()[g] = unsafe { T::narrow_pairs::<H>(pair) };
            });
        });
        // SAFETY: where words are of 4 bytes, a row is a plain array of 4 columns.
        unsafe { std::mem::transmute_copy(&columns) }
    }

    #[inline(always)]
    unsafe fn get<A: Element>(first: *const A, i: usize) -> A {
        // SAFETY: element `i` is there; `A` is `f32`.
        unsafe {
            let widened: f32 = (*first.cast::<T>().add(i)).widen();
            (&raw const widened).cast::<A>().read_unaligned()
        }
    }

    #[inline(always)]
    unsafe fn put<A: Element>(first: *mut A, i: usize, value: A) {
        // SAFETY: value `i` has its place; `A` is `f32`.
        unsafe {
            let value = (&raw const value).cast::<f32>().read_unaligned();
            first.cast::<T>().add(i).write(T::narrow(value));
        }
    }
}

impl Half for bf16 {
    #[inline(always)]
    unsafe fn widen_pairs<H: Words>(pairs: H::Vector) -> [H::Vector; 2] {
        // SAFETY: passed on.
        unsafe {
            [
                map::<H>(pairs, |pair| quiet(pair << 16)),
                map::<H>(pairs, |pair| quiet(pair & 0xffff_0000)),
            ]
        }
    }

    #[inline(always)]
    unsafe fn narrow_pairs<H: Words>([even, odd]: [H::Vector; 2]) -> H::Vector {
        // SAFETY: passed on.
        unsafe {
            let odd = map::<H>(odd, |bits| rounded(bits) & 0xffff_0000);
            zip::<H>(even, odd, |even, odd| rounded(even) >> 16 | odd)
        }
    }
}

/// The same bits of an `f32`, a signalling NaN made a quiet one, as conversions have it.
#[inline(always)]
fn quiet(bits: u32) -> u32 {
    let nan = bits & 0x7fff_ffff > 0x7f80_0000;
    bits | if nan { 0x0040_0000 } else { 0 }
}

/// The bits of an `f32`, the upper half rounded to nearest even; a NaN stays one.
#[inline(always)]
fn rounded(bits: u32) -> u32 {
    let nearest = bits.wrapping_add(0x7fff + (bits >> 16 & 1));
    let nan = bits & 0x7fff_ffff > 0x7f80_0000;
    if nan { bits | 0x0040_0000 } else { nearest }
}

impl Half for f16 {
    #[inline(always)]
    unsafe fn widen_pairs<H: Words>(pairs: H::Vector) -> [H::Vector; 2] {
        // SAFETY: passed on.
        unsafe { H::widen_f16(pairs) }
    }

    #[inline(always)]
    unsafe fn narrow_pairs<H: Words>(pairs: [H::Vector; 2]) -> H::Vector {
        // SAFETY: passed on.
        unsafe { H::narrow_f16(pairs) }
    }
}

/// A function of each word.
///
/// # Safety
///
/// The CPU features of `H` must be present, and its words be of 4 bytes.
#[inline(always)]
unsafe fn map<H: Words>(vector: H::Vector, f: impl Fn(u32) -> u32) -> H::Vector {
    // SAFETY: passed on.
    unsafe { zip::<H>(vector, vector, |word, _| f(word)) }
}

/// A function of each two words.
///
/// # Safety
///
/// As for [`map`].
#[inline(always)]
unsafe fn zip<H: Words>(
    left: H::Vector,
    right: H::Vector,
    f: impl Fn(u32, u32) -> u32,
) -> H::Vector {
    // SAFETY: features by contract; a vector is an array of words.
    unsafe {
        let (left, right) = (H::opaque(left), H::opaque(right));
        let mut mapped = left;
        for_each!(0..size_of::<H::Vector>() / 4, |lane| {
            let left = *(&raw const left).cast::<u32>().add(lane);
            let right = *(&raw const right).cast::<u32>().add(lane);
            (&raw mut mapped).cast::<u32>().add(lane).write(f(left, right));
        });
        H::opaque(mapped)
    }
}

/// Whether elements and values say that they are these halves: what can be asked before code is
/// made for them. It can't be relied on: anybody may say so.
pub(crate) const fn claim<F, T, U, A>() -> bool
where
    F: Half,
    T: Accumulate<A>,
    U: Accumulate<A>,
    A: Element,
{
    match (<F as Accumulate<f32>>::HALF, T::HALF, U::HALF) {
        (Some(format), Some(element), Some(value)) => {
            format as u8 == element as u8 && format as u8 == value as u8
        }
        _ => false,
    }
}

/// Whether elements and values are these halves, accumulated in `f32`.
pub(crate) fn halves<F: Half, T: Element, U: Element, A: Element>() -> bool {
    let [element, value] = [TypeId::of::<T>(), TypeId::of::<U>()];
    [element, value] == [TypeId::of::<F>(); 2] && TypeId::of::<A>() == TypeId::of::<f32>()
}
