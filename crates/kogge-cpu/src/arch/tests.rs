//! Lanes in the order in which a row is split, at every level: what moves along them against what moves along
//! lanes in the order of the chunks.

use super::{CHUNKS, Level, Words, Work};
use bytemuck::Pod;

/// A column in which each lane has the place of its chunk.
///
/// # Safety
///
/// The CPU features of `H` must be present.
unsafe fn chunks<H: Words>(word: impl Fn(usize) -> H::Word) -> H::Column {
    let words = 16 / size_of::<H::Word>();
    let row: Vec<H::Word> = (0..CHUNKS * words).map(|i| word(i / words)).collect();
    // SAFETY: a row is readable; features by contract.
    unsafe { H::split(row.as_ptr()).as_ref()[0] }
}

/// The lanes of a vector, in the order of the chunks.
///
/// # Safety
///
/// The CPU features of `H` must be present.
unsafe fn natural<H: Words>(vector: H::Vector) -> Vec<H::Word> {
    // SAFETY: features by contract.
    lanes::<H>(unsafe { H::to_natural(vector) })
}

fn lanes<H: Words>(vector: H::Vector) -> Vec<H::Word> {
    // SAFETY: a vector is a plain array of words.
    (0..H::LANES).map(|i| unsafe { *(&raw const vector).cast::<H::Word>().add(i) }).collect()
}

/// Checks all that is said of the order of `split`.
///
/// # Safety
///
/// The CPU features of `H` must be present.
unsafe fn check<H: Words>(level: Level, word: impl Fn(usize) -> H::Word)
where
    H::Word: Pod + PartialEq + std::fmt::Debug,
{
    let name = format!("{}, words of {} bytes", level.name(), size_of::<H::Word>());
    let range = |places: std::ops::Range<usize>| places.map(&word).collect::<Vec<_>>();
    // SAFETY: features by contract; strides are less than the lanes of a vector.
    unsafe {
        let column = chunks::<H>(&word);
        let [low, high] = [column.as_ref()[0], column.as_ref()[1]];
        assert_eq!(natural::<H>(low), range(0..H::LANES), "{name}");
        macro_rules! strides {
            ($($s:literal)+) => {$(
                if $s < H::LANES {
                    let earlier = natural::<H>(H::earlier::<$s>(low, high));
                    assert_eq!(earlier, range(H::LANES - $s..2 * H::LANES - $s), "{name}, {}", $s);
                    let blended = natural::<H>(H::blend::<$s>(low, high));
                    let mut want = range(0..$s);
                    want.extend(range(H::LANES + $s..2 * H::LANES));
                    assert_eq!(blended, want, "{name}, the first {}", $s);
                }
            )+};
        }
        strides!(1 2 4 8);
        let (even, odd) = H::halve_split(low, high);
        let halves = [lanes::<H>(even), lanes::<H>(odd)];
        let want = [0, 1].map(|odd| (odd..2 * H::LANES).step_by(2).map(&word).collect::<Vec<_>>());
        assert_eq!(halves, want, "{name}");
    }
}

struct Check(Level);

impl Work for Check {
    type Output = ();

    #[inline(always)]
    unsafe fn run<W32: Words<Word = u32>, W64: Words<Word = u64>>(self) {
        // SAFETY: features by contract.
        unsafe {
            check::<W32>(self.0, |chunk| chunk as u32);
            check::<W64>(self.0, |chunk| chunk as u64);
        }
    }
}

#[test]
fn lanes_as_rows_are_split() {
    for level in Level::available() {
        level.run(Check(level));
    }
}
