//! Short segments, cut into chunks by the mask of their heads.
//!
//! A chunk starts at a head, and a chunk's length after the start of another unless a head comes
//! before. That is found for 64 places at a time by shifts, and places are listed by tables: no
//! branch depends on where segments start. What goes from one word to the next is where the last
//! head lay, modulo a chunk.

use crate::arch::{CHUNKS, Simd, Words, Work};
use kogge_core::{Element, Order};
use std::marker::PhantomData;
use std::ops::Range;

/// Words of a mask.
pub(crate) const WORDS: usize = 16;

/// Places of a mask.
pub(crate) const PLACES: usize = 64 * WORDS;

/// The chunks of some segments.
pub(crate) struct Chunks {
    /// In bytes, from the first place of the mask: a chunk for each place at most, the end of the
    /// segments as often as a window may ask for it, and what a table has too many.
    starts: [u32; PLACES + CHUNKS + 8],
    /// One bit for each of them: whether it starts a segment.
    heads: [u64; WORDS + 2],
    count: usize,
}

impl Chunks {
    pub(crate) fn new() -> Self {
        Self { starts: [0; PLACES + CHUNKS + 8], heads: [0; WORDS + 2], count: 0 }
    }

    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Where a window's chunks start that begins with this one; behind the last one the segments'
    /// end.
    #[inline(always)]
    pub(super) fn starts(&self, first: usize) -> &[u32; CHUNKS] {
        self.starts[first..].first_chunk().expect("a window behind the last chunk")
    }

    /// Whether the chunk and those after it start segments.
    #[inline(always)]
    pub(super) fn heads(&self, first: usize) -> u64 {
        let (word, bit) = (first / 64, first % 64);
        self.heads[word] >> bit | self.heads[word + 1] << 1 << (63 - bit)
    }
}

/// Cuts segments of elements `T` at some SIMD level.
pub(crate) struct Cut<'a, T> {
    /// One bit for each place; there is a head at the first of `places`.
    pub(crate) heads: &'a [u64; WORDS],
    /// The places of the segments.
    pub(crate) places: Range<usize>,
    pub(crate) chunks: &'a mut Chunks,
    pub(crate) element: PhantomData<T>,
}

impl<T: Element> Work for Cut<'_, T> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<W32: Words<Word = u32>, W64: Words<Word = u64>>(self) {
        let Self { heads, places: Range { start, end }, chunks, .. } = self;
        let chunk = const { Order::of::<T>().chunk() };
        // The places of a word that start chunks where no head comes.
        let every = (0..64).step_by(chunk).fold(0u64, |every, place| every | 1 << place);
        let (mut phase, mut count, mut begun) = (start % chunk, 0, 0u64);
        for word in start / 64..end.div_ceil(64) {
            let place = 64 * word;
            let from = !0u64 << start.saturating_sub(place);
            let here = heads[word] & from;
            // A segment goes on up to the first head.
            let open = (here.wrapping_sub(1) & !here) & from;
            let found = starts(here, chunk) | every << phase & open;
            let found = found & !0u64 >> (64 - (end - place).min(64));
            if here != 0 {
                phase = here.ilog2() as usize % chunk;
            }
            // SAFETY: features by contract.
            let found_heads = unsafe { W32::Simd::compress(here, found) };
            let bit = count % 64;
            begun |= found_heads << bit;
            chunks.heads[count / 64] = begun;
            if bit + found.count_ones() as usize >= 64 {
                begun = found_heads >> 1 >> (63 - bit);
                chunks.heads[count / 64 + 1] = begun;
            }
            let scale = const { if size_of::<T>() > 0 { size_of::<T>().ilog2() } else { 0 } };
            if found == every {
                let chunks = chunks.starts[count..].iter_mut().take(64 / chunk);
                chunks
                    .zip((place..).step_by(chunk))
                    .for_each(|(start, place)| *start = (place << scale) as u32);
                count += 64 / chunk;
            } else {
                // SAFETY: there are no more chunks than places, and is room for eight more;
                // features by contract.
                count += unsafe {
                    let listed = chunks.starts.as_mut_ptr().add(count);
                    W32::Simd::list(found, place as u32, scale, listed)
                };
            }
        }
        chunks.starts[count..][..CHUNKS].fill((end * size_of::<T>()) as u32);
        chunks.count = count;
    }
}

/// Where the chunks start of the segments that have their heads in this word.
#[inline(always)]
fn starts(heads: u64, chunk: usize) -> u64 {
    // Places that have a head among the chunk that ends with them.
    let (mut near, mut reach) = (heads, 1);
    while reach < chunk {
        near |= near << reach;
        reach *= 2;
    }
    let (mut starts, mut free, mut step) = (heads, !near, chunk);
    while step < 64 {
        starts |= starts << step & free;
        free &= free << step;
        step *= 2;
    }
    starts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Level;

    /// The chunks of segments from some place on, one by one.
    fn slowly(lens: &[usize], start: usize, chunk: usize) -> (Vec<usize>, Vec<bool>) {
        let (mut starts, mut heads, mut place) = (vec![], vec![], start);
        for &len in lens {
            for from in (0..len).step_by(chunk) {
                starts.push(place + from);
                heads.push(from == 0);
            }
            place += len;
        }
        (starts, heads)
    }

    fn check<T: Element>(lens: &[usize], start: usize) {
        let (mut mask, mut end) = ([0; WORDS], start);
        for len in lens {
            mask[end / 64] |= 1 << (end % 64);
            end += len;
        }
        // Heads outside are none of these segments'.
        mask[0] |= (1 << start) - 1;
        (end..PLACES).for_each(|place| mask[place / 64] |= 1 << (place % 64));
        let (starts, heads) = slowly(lens, start, Order::of::<T>().chunk());
        for level in Level::available() {
            let mut chunks = Chunks::new();
            let cut = Cut::<T> {
                heads: &mask,
                places: start..end,
                chunks: &mut chunks,
                element: PhantomData,
            };
            level.run(cut);
            assert_eq!(chunks.count(), starts.len());
            for (c, &start) in starts.iter().enumerate() {
                assert_eq!(chunks.starts(c)[0] as usize, start * size_of::<T>(), "{lens:?} {c}");
                assert_eq!(chunks.heads(c) & 1 == 1, heads[c], "{lens:?} {c}");
            }
            let ends = chunks.starts(chunks.count());
            assert_eq!(ends, &[(end * size_of::<T>()) as u32; CHUNKS]);
        }
    }

    #[test]
    fn chunks_are_those_of_each_segment() {
        let most = if cfg!(miri) { 3 } else { 300 };
        for seed in 0..most {
            let longest = 1 + seed * 7 % 128;
            let mut bits = seed as u64 + 1;
            let mut lens = vec![];
            let start = seed % 64;
            while start + lens.iter().sum::<usize>() < PLACES - longest {
                bits = bits.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29) | 1;
                lens.push(1 + (bits >> 20) as usize % longest);
            }
            for count in [1, lens.len() / 2 + 1, lens.len()] {
                check::<f32>(&lens[..count], start);
                check::<f64>(&lens[..count], start);
                check::<[u64; 2]>(&lens[..count], start);
            }
        }
        check::<f32>(&[1; PLACES], 0);
        check::<f32>(&[PLACES], 0);
    }
}
