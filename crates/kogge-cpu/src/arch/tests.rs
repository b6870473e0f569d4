//! Lanes in the order in which a row is split, at every level: what moves along them against what
//! moves along lanes in the order of the chunks. And elements in the order of memory: what moves
//! them in a level's vectors against arrays of bytes.

use super::ordered::bytes::V;
use super::{CHUNKS, Crosswise, EIGHT, Items, Level, MaskedOf, Ordered, Turn, WideOf, Words, Work};
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

/// The bytes of a vector.
///
/// # Safety
///
/// `N` must be how many there are.
unsafe fn bytes<P: Ordered, const N: usize>(vector: P::Vector) -> [u8; N] {
    // SAFETY: a vector is a plain array of bytes, as many as said.
    unsafe { (&raw const vector).cast::<[u8; N]>().read_unaligned() }
}

/// Checks all moves of elements of `S` bytes in vectors of `N`.
///
/// # Safety
///
/// `P`'s vectors must have `N` bytes; its CPU features be present.
unsafe fn moves<P: Ordered, const N: usize, const S: usize>() {
    let (fill, vector): ([u8; N], [u8; N]) =
        (std::array::from_fn(|i| 100 + i as u8), std::array::from_fn(|i| i as u8));
    // SAFETY: passed on; arrays need no CPU feature.
    unsafe {
        let [f, v] = [fill, vector].map(|bytes| P::load(bytes.as_ptr()));
        assert_eq!(bytes::<P, N>(P::up::<S>(f, v)), V::up::<S>(fill, vector), "up {N} {S}");
        assert_eq!(bytes::<P, N>(P::last::<S>(v)), V::last::<S>(vector), "last {N} {S}");
        for count in [0, S, N - S] {
            let end = bytes::<P, N>(P::with_end(f, v, count));
            let want = std::array::from_fn(|i| if i < N - count { fill[i] } else { vector[i] });
            assert_eq!(end, want, "the last {count} of {N}");
        }
        if P::APART {
            assert_eq!(bytes::<P, N>(P::lasts::<S>(v)), V::lasts::<S>(vector), "lasts {S}");
            assert_eq!(bytes::<P, N>(P::between(f, v)), V::between(fill, vector), "between");
        }
        if N > 16 {
            let across = bytes::<P, N>(P::across::<S>(f, v));
            assert_eq!(across, V::across::<S>(fill, vector), "across {N} {S}");
        }
        if N > 32 {
            let halfway = bytes::<P, N>(P::halfway::<S>(f, v));
            assert_eq!(halfway, V::halfway::<S>(fill, vector), "halfway {N} {S}");
        }
    }
}

/// Checks all moves of items of `I` bytes in vectors of `N`, and of words.
///
/// # Safety
///
/// `P`'s vectors must have `N` bytes; its CPU features be present.
unsafe fn moves_of_items<P: Items, const N: usize, const I: usize>() {
    let (low, high): ([u8; N], [u8; N]) =
        (std::array::from_fn(|i| 100 + i as u8), std::array::from_fn(|i| i as u8));
    let places = std::array::from_fn(|i| (i * 7 % (N / 4)) as u32);
    let of_two = std::array::from_fn(|i| (i * 11 % (N / 2)) as u32);
    // SAFETY: passed on; arrays need no CPU feature.
    unsafe {
        let [l, h] = [low, high].map(|bytes| P::load(bytes.as_ptr()));
        let pair = |vectors: [P::Vector; 2]| vectors.map(|vector| bytes::<P, N>(vector));
        assert_eq!(bytes::<P, N>(P::words(l, &places)), V::words(low, &places), "words {N}");
        let got = bytes::<P, N>(P::words_of_two(l, h, &of_two));
        assert_eq!(got, V::words_of_two(low, high, &of_two), "words of two {N}");
        if I >= N {
            return;
        }
        assert_eq!(pair(P::split::<I>(l, h)), V::split::<I>(low, high), "split {N} {I}");
        assert_eq!(pair(P::merge::<I>(l, h)), V::merge::<I>(low, high), "merge {N} {I}");
        for n in [1, 2, 4].into_iter().filter(|n| n * I < N) {
            let later = bytes::<P, N>(P::later::<I>(l, h, n));
            assert_eq!(later, V::later::<I>(low, high, n), "later by {n} {N} {I}");
        }
    }
}

/// Checks items in the vectors of a level, if it has any.
///
/// # Safety
///
/// Their CPU features must be present.
unsafe fn items_of_every_size<P: Items>() {
    // SAFETY: passed on.
    unsafe {
        match P::BYTES {
            16 => moves_of_items::<P, 16, 8>(),
            32 => {
                moves_of_items::<P, 32, 8>();
                moves_of_items::<P, 32, 16>();
            }
            64 => {
                moves_of_items::<P, 64, 8>();
                moves_of_items::<P, 64, 16>();
                moves_of_items::<P, 64, 32>();
            }
            bytes => assert_eq!(bytes, 0),
        }
    }
}

/// Checks what lanes that run along memory ask for, of elements of `S` bytes in vectors of `N`.
///
/// # Safety
///
/// `P`'s vectors must have `N` bytes; its CPU features be present.
unsafe fn lanes_along_memory<P: Crosswise, const N: usize, const S: usize>() {
    let apart = EIGHT * S + 32;
    let memory: Vec<u8> = (0..N / S * apart).map(|i| (i * 7 + i / 256) as u8).collect();
    // SAFETY: passed on; eight elements of each lane are there, arrays need no CPU feature.
    unsafe {
        let vectors = P::eight::<S>(memory.as_ptr(), apart);
        let got = vectors.map(|vector| bytes::<P, N>(vector));
        assert_eq!(got, V::eight::<S>(memory.as_ptr(), apart), "eight {S}");
        let mut room = vec![0u8; memory.len()];
        P::put_eight::<S>(vectors, room.as_mut_ptr(), apart);
        let put = |i: usize| if i % apart < EIGHT * S { memory[i] } else { 0 };
        let want: Vec<u8> = (0..memory.len()).map(put).collect();
        assert_eq!(room, want, "eight put {S}");
        for shift in 0..8 * S as u32 {
            let of_lane = |lane: usize| match lane {
                0 => 0,
                1 => 1u64 << (8 * S - 1),
                lane => (!0 << shift) & (0x9e37_79b9_7f4a_7c15u64.rotate_left(lane as u32 + shift)),
            };
            let bits: [u8; N] = std::array::from_fn(|i| of_lane(i / S).to_le_bytes()[i % S]);
            let vector = P::load(bits.as_ptr());
            for k in 0..EIGHT {
                let selected = P::select::<S>(P::bit::<S>(vector, k), vectors[0], vectors[1]);
                let want = V::pick(V::bit::<S>(bits, k), got[0], got[1]);
                assert_eq!(bytes::<P, N>(selected), want, "bit {k} {S}");
            }
            let after = bytes::<P, N>(P::after_eight::<S>(vector));
            assert_eq!(after, V::after_eight::<S>(bits), "after eight {S}");
            assert_eq!(bytes::<P, N>(P::begun::<S>(vector)), V::begun::<S>(bits), "begun {S}");
            assert_eq!(bytes::<P, N>(P::below::<S>(vector)), V::below::<S>(bits), "below {S}");
            assert_eq!(P::any::<S>(vector), V::any::<S>(bits), "any {S}");
        }
    }
}

/// Checks the vectors of a level, if it has any.
///
/// # Safety
///
/// Their CPU features must be present.
unsafe fn moves_of_every_size<P: Ordered>() {
    macro_rules! sizes {
        ($($bytes:literal)+) => {
            match P::BYTES {
                // SAFETY: passed on.
                $($bytes => unsafe {
                    moves::<P, $bytes, 1>();
                    moves::<P, $bytes, 2>();
                    moves::<P, $bytes, 4>();
                    moves::<P, $bytes, 8>();
                })+
                bytes => assert_eq!(bytes, 0),
            }
        };
    }
    sizes!(16 32 64);
}

struct Moves;

impl Work for Moves {
    type Output = ();

    #[inline(always)]
    unsafe fn run<W32: Words<Word = u32>, W64: Words<Word = u64>>(self) {
        // SAFETY: features by contract.
        unsafe {
            moves_of_every_size::<WideOf<W32>>();
            moves_of_every_size::<MaskedOf<W32>>();
            items_of_every_size::<WideOf<W32>>();
            if MaskedOf::<W32>::CROSSWISE {
                lanes_along_memory::<MaskedOf<W32>, 32, 4>();
                lanes_along_memory::<MaskedOf<W32>, 32, 8>();
            }
        }
    }
}

#[test]
fn elements_in_the_order_of_memory() {
    for level in Level::available() {
        level.run(Moves);
    }
}

/// The words of vectors, in the order in which they lie in registers and in memory.
fn words<H: Words>(vectors: &[H::Vector]) -> Vec<H::Word> {
    vectors.iter().flat_map(|&vector| lanes::<H>(vector)).collect()
}

/// Checks groups against memory, and vectors turned by as much as they may be.
///
/// # Safety
///
/// The CPU features of `H` must be present.
unsafe fn turns<H: Words>(level: Level, word: impl Fn(usize) -> H::Word)
where
    H::Word: Pod + PartialEq + std::fmt::Debug,
{
    let name = format!("{}, words of {} bytes", level.name(), size_of::<H::Word>());
    let group: Vec<H::Word> = (0..16 * H::LANES / size_of::<H::Word>()).map(&word).collect();
    // SAFETY: a group is readable, a vector has as many bytes; features by contract.
    unsafe {
        let in_memory = H::in_memory(H::split_group(group.as_ptr()));
        let vectors = in_memory.as_ref();
        assert_eq!(words::<H>(vectors), group, "{name}");
        let bytes = bytemuck::cast_slice::<H::Word, u8>(&group);
        let all = size_of::<H::Vector>();
        for behind in (0..all).step_by(4) {
            let turn = H::Turn::new(behind);
            let turned = [0, 1].map(|i| turn.turned(vectors[i]));
            let joined = words::<H>(&[turn.joined(turned[0], turned[1])]);
            let want = &bytes[all - behind..2 * all - behind];
            assert_eq!(bytemuck::cast_slice::<H::Word, u8>(&joined), want, "{name}, by {behind}");
        }
    }
}

struct Turns(Level);

impl Work for Turns {
    type Output = ();

    #[inline(always)]
    unsafe fn run<W32: Words<Word = u32>, W64: Words<Word = u64>>(self) {
        // SAFETY: features by contract.
        unsafe {
            turns::<W32>(self.0, |word| word as u32 * 0x0101_0101);
            turns::<W64>(self.0, |word| word as u64 * 0x0101_0101_0101_0101);
        }
    }
}

#[test]
fn vectors_turned_to_those_of_memory() {
    for level in Level::available() {
        level.run(Turns(level));
    }
}
