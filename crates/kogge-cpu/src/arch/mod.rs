//! What the machine can do, and the only intrinsics of the engine.
//!
//! A row is 32 chunks of 16 bytes, so its words form a matrix with a line per chunk. [`Words`] is
//! what rows need from the hardware: turn one into columns of 32 lanes (one lane per chunk), move
//! lanes along, and turn columns back into a row. [`Vectors`], with [`Ordered`], [`Masked`] and
//! [`Items`] on top, are elements as memory has them; [`Turn`] and [`Simd`] are what is left.
//! Arithmetic isn't among it. Operators are written for one value; the compiler vectorises
//! `combine` over the lanes of a register, for built-in and user operators alike.

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod avx2;
#[cfg(all(target_arch = "x86_64", not(miri)))]
mod avx512;
mod cpu;
#[cfg(all(target_arch = "aarch64", not(miri)))]
mod neon;
pub(crate) mod ordered;
mod portable;
mod simd;
pub(crate) mod stream;
mod turn;
mod vectors;

use crate::array::{array, for_each};
use bytemuck::Pod;
pub use cpu::Cpu;
use kogge_core::f16;
pub(crate) use ordered::{Crosswise, EIGHT, Items, LONGEST, Masked, Ordered};
pub(crate) use simd::{MaskedOf, Simd, WideOf, put_line};
use std::mem::MaybeUninit;
use std::sync::OnceLock;
pub(crate) use turn::Turn;
pub(crate) use vectors::Vectors;

/// Chunks of a row.
pub(crate) const CHUNKS: usize = 32;

/// The bytes of a chunk.
type Chunk = [u8; 16];

/// Vectors of words and how they move. One word is 4 or 8 bytes.
///
/// # Safety
///
/// `Column` must be a plain array of `Vector`s holding 32 lanes, `Row` a plain array of
/// `16 / size_of::<Word>()` columns, `Group` one of as many vectors, and `Vector` a plain array of
/// `LANES` words, of which any bits are some.
pub(crate) unsafe trait Words: Copy {
    /// A lane: `u32` or `u64`.
    type Word: Pod;
    /// A register.
    type Vector: Copy;
    /// A word of each chunk of a row: 32 lanes.
    type Column: Copy + AsRef<[Self::Vector]> + AsMut<[Self::Vector]>;
    /// What the level does whatever the words.
    type Simd: Simd;
    /// All words of the chunks of a row.
    type Row: Copy + AsRef<[Self::Column]> + AsMut<[Self::Column]>;
    /// All words of the chunks of a group: as many chunks as a register has lanes.
    type Group: Copy + AsRef<[Self::Vector]> + AsMut<[Self::Vector]>;
    /// What turns vectors to where those of memory begin.
    type Turn: Turn<Vector = Self::Vector>;

    /// Lanes of a register; a power of two.
    const LANES: usize;
    /// Registers of a column, which has a lane for each chunk of a row.
    const GROUPS: usize = CHUNKS / Self::LANES;

    /// Whether vectors are worth turning. (Elsewhere tests do so, slowly.)
    const TURNS: bool = cfg!(any(test, miri));

    /// The row at `row`, column by column. The lanes are in an order of the hardware's own, in
    /// which lane 0 is chunk 0.
    ///
    /// # Safety
    ///
    /// 512 bytes must be readable at `row`, and the level's CPU features present.
    unsafe fn split(row: *const Self::Word) -> Self::Row;

    /// Stores columns, with lanes in the order of `split`, as a row.
    ///
    /// # Safety
    ///
    /// 512 bytes must be writable at `row`, and the level's CPU features present.
    unsafe fn join(columns: Self::Row, row: *mut Self::Word);

    /// As [`join`](Self::join), past the caches where the CPU can.
    ///
    /// # Safety
    ///
    /// As for [`join`](Self::join), and `row` aligned to 64 bytes.
    unsafe fn join_stream(columns: Self::Row, row: *mut Self::Word);

    /// The group at `group`, word by word, lanes as [`split`](Self::split) has them.
    ///
    /// # Safety
    ///
    /// As many bytes as a group has must be readable at `group`, and the level's CPU features
    /// present.
    unsafe fn split_group(group: *const Self::Word) -> Self::Group;

    /// Stores a group.
    ///
    /// # Safety
    ///
    /// As many bytes must be writable at `to`, and the level's CPU features present.
    unsafe fn join_group(group: Self::Group, to: *mut Self::Word);

    /// The vectors of a group one after another, as they lie in memory.
    ///
    /// # Safety
    ///
    /// The level's CPU features must be present.
    unsafe fn in_memory(group: Self::Group) -> Self::Group;

    /// Stores a vector past the caches, where the CPU can.
    ///
    /// # Safety
    ///
    /// A vector must be writable at `to`, which is aligned to as many bytes, and the level's CPU
    /// features present.
    unsafe fn stream(vector: Self::Vector, to: *mut u8);

    /// From the order of `split` to the order of the chunks.
    ///
    /// # Safety
    ///
    /// The level's CPU features must be present.
    unsafe fn to_natural(vector: Self::Vector) -> Self::Vector;

    /// From the order of the chunks to the order of `split`.
    ///
    /// # Safety
    ///
    /// The level's CPU features must be present.
    unsafe fn from_natural(vector: Self::Vector) -> Self::Vector;

    /// The last `S` lanes of `low`, then all but the last `S` of `high`; `0 < S < LANES`.
    ///
    /// # Safety
    ///
    /// The level's CPU features must be present.
    unsafe fn slide<const S: usize>(low: Self::Vector, high: Self::Vector) -> Self::Vector;

    /// For each lane, in the order of [`split`](Self::split), what lies `S` chunks before it, given
    /// two registers of a column that follow one another: those of `high`, and for its first `S`
    /// chunks the last of `low`; `0 < S < LANES`.
    ///
    /// # Safety
    ///
    /// The level's CPU features must be present.
    #[inline(always)]
    unsafe fn earlier<const S: usize>(low: Self::Vector, high: Self::Vector) -> Self::Vector {
        // SAFETY: passed on.
        unsafe {
            let [low, high] = [Self::to_natural(low), Self::to_natural(high)];
            Self::from_natural(Self::slide::<S>(low, high))
        }
    }

    /// `low` in the lanes of the first `S` chunks, in the order of [`split`](Self::split), `high`
    /// in the others; `0 < S < LANES`.
    ///
    /// # Safety
    ///
    /// The level's CPU features must be present.
    unsafe fn blend<const S: usize>(low: Self::Vector, high: Self::Vector) -> Self::Vector;

    /// The even and the odd halves `f16` of words of 4 bytes, as `f32`.
    ///
    /// # Safety
    ///
    /// The level's CPU features must be present.
    #[inline(always)]
    unsafe fn widen_f16(pairs: Self::Vector) -> [Self::Vector; 2] {
        let mut widened = [pairs; 2];
        for_each!(0..size_of::<Self::Vector>() / 4, |lane| {
            // SAFETY: a vector is a plain array of words.
            unsafe {
                let pair = *(&raw const pairs).cast::<u32>().add(lane);
                for_each!(0..2, |i| {
                    let bits = f16::from_bits((pair >> (16 * i)) as u16).to_f32().to_bits();
                    (&raw mut widened[i]).cast::<u32>().add(lane).write(bits);
                });
            }
        });
        widened
    }

    /// Even and odd values `f32`, rounded to pairs of `f16`.
    ///
    /// # Safety
    ///
    /// The level's CPU features must be present.
    #[inline(always)]
    unsafe fn narrow_f16(values: [Self::Vector; 2]) -> Self::Vector {
        let mut pairs = values[0];
        for_each!(0..size_of::<Self::Vector>() / 4, |lane| {
            // SAFETY: a vector is a plain array of words.
            unsafe {
                let [even, odd] = array(|i: usize| {
                    let bits = *(&raw const values[i]).cast::<u32>().add(lane);
                    u32::from(f16::from_f32(f32::from_bits(bits)).to_bits())
                });
                (&raw mut pairs).cast::<u32>().add(lane).write(even | odd << 16);
            }
        });
        pairs
    }

    /// The even and the odd lanes of `low` followed by `high`.
    ///
    /// # Safety
    ///
    /// The level's CPU features must be present.
    unsafe fn halve(low: Self::Vector, high: Self::Vector) -> (Self::Vector, Self::Vector);

    /// The even and the odd chunks of two registers of a column that follow one another, from the
    /// order of [`split`](Self::split) to that of the chunks.
    ///
    /// # Safety
    ///
    /// The level's CPU features must be present.
    #[inline(always)]
    unsafe fn halve_split(low: Self::Vector, high: Self::Vector) -> (Self::Vector, Self::Vector) {
        // SAFETY: passed on.
        unsafe { Self::halve(Self::to_natural(low), Self::to_natural(high)) }
    }

    /// The word in every lane.
    ///
    /// # Safety
    ///
    /// The level's CPU features must be present.
    unsafe fn splat(word: Self::Word) -> Self::Vector;

    /// The row made of the chunks at these bytes from `from`, column by column as by
    /// [`split`](Self::split).
    ///
    /// # Safety
    ///
    /// 16 bytes must be readable at each place, and the level's CPU features present.
    #[inline(always)]
    unsafe fn gather(from: *const u8, places: &[u32; CHUNKS]) -> Self::Row {
        // SAFETY: by contract; a row is as many chunks.
        unsafe {
            let chunk = |i: usize| from.add(places[i] as usize).cast::<Chunk>().read_unaligned();
            let row: [Chunk; CHUNKS] = array(chunk);
            Self::split(row.as_ptr().cast())
        }
    }

    /// Stores columns, with lanes in the order of `split`, as chunks at these bytes from `to`, in
    /// this order: where they overlap, the last one stays.
    ///
    /// # Safety
    ///
    /// 16 bytes must be writable at each place, and the level's CPU features present.
    #[inline(always)]
    unsafe fn scatter(columns: Self::Row, to: *mut u8, places: &[u32; CHUNKS]) {
        let mut row = MaybeUninit::<[Chunk; CHUNKS]>::uninit();
        // SAFETY: by contract; a row is as many chunks.
        unsafe {
            Self::join(columns, row.as_mut_ptr().cast());
            let row = row.assume_init();
            for (chunk, &place) in row.iter().zip(places) {
                to.add(place as usize).cast::<Chunk>().write_unaligned(*chunk);
            }
        }
    }

    /// The top bit, at least, of the lanes of the `g`-th register of a column whose bit is set,
    /// lanes in the order of the chunks.
    ///
    /// # Safety
    ///
    /// The level's CPU features must be present.
    #[inline(always)]
    unsafe fn mask(bits: u32, g: usize) -> Self::Vector {
        let mut mask = MaybeUninit::<Self::Vector>::uninit();
        for_each!(0..Self::LANES, |lane| {
            let set = bits >> (g * Self::LANES + lane) & 1;
            // SAFETY: a vector is a plain array of words, all of which are written.
            unsafe {
                let word = mask.as_mut_ptr().cast::<Self::Word>().add(lane);
                word.cast::<u8>().write_bytes(0u8.wrapping_sub(set as u8), size_of::<Self::Word>());
            }
        });
        // SAFETY: as above.
        unsafe { mask.assume_init() }
    }

    /// The lanes of `ones` where those of a [`mask`](Self::mask) are set, of `zeros` elsewhere.
    ///
    /// # Safety
    ///
    /// The level's CPU features must be present.
    #[inline(always)]
    unsafe fn select(mask: Self::Vector, ones: Self::Vector, zeros: Self::Vector) -> Self::Vector {
        let mut selected = zeros;
        for_each!(0..Self::LANES, |lane| {
            // SAFETY: vectors are plain arrays of words.
            unsafe {
                let mask = (&raw const mask).cast::<Self::Word>().add(lane);
                if mask.cast::<u8>().read() != 0 {
                    let one = (&raw const ones).cast::<Self::Word>().add(lane).read();
                    (&raw mut selected).cast::<Self::Word>().add(lane).write(one);
                }
            }
        });
        selected
    }

    /// The vector itself, as something the optimiser can't look into. Between a move of lanes and
    /// an operation on each of them it keeps the compiler from dissolving both into scalars.
    ///
    /// # Safety
    ///
    /// The level's CPU features must be present.
    unsafe fn opaque(vector: Self::Vector) -> Self::Vector;
}

/// What the SIMD units of this CPU can do: proof by possession.
///
/// ```
/// let level = kogge_cpu::Level::detect();
/// assert!(kogge_cpu::Level::available().contains(&level));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Level(Kind);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind {
    Portable,
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    Avx2,
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    Avx512,
    #[cfg(all(target_arch = "aarch64", not(miri)))]
    Neon,
}

impl Level {
    /// The best level of this CPU. The environment variable `KOGGE_SIMD` (`portable`, `avx2`,
    /// `avx512`, `neon`) asks for another one; it is ignored where the CPU lacks it.
    ///
    /// ```
    /// let level = kogge_cpu::Level::detect();
    /// assert_eq!(kogge_cpu::Level::detect(), level);
    /// assert!(["portable", "avx2", "avx512", "neon"].contains(&level.name()));
    /// ```
    pub fn detect() -> Self {
        static LEVEL: OnceLock<Level> = OnceLock::new();
        *LEVEL.get_or_init(|| {
            let available = Self::available();
            let asked = std::env::var("KOGGE_SIMD").ok();
            let named = available.iter().find(|level| asked.as_deref() == Some(level.name()));
            *named.unwrap_or(available.last().expect("`portable` is always there"))
        })
    }

    /// All levels of this CPU, the plainest first.
    ///
    /// ```
    /// use kogge_core::ops::Sum;
    /// use kogge_cpu::{Level, Request, scan_in_place};
    ///
    /// let x: Vec<f32> = (1..1000).map(|i| (i as f32).recip()).collect();
    /// for level in Level::available() {
    ///     let (mut best, mut same) = (x.clone(), x.clone());
    ///     scan_in_place(&Request::<_, f32>::new(&Sum), &mut best);
    ///     scan_in_place(&Request::<_, f32> { level, ..Request::new(&Sum) }, &mut same);
    ///     assert_eq!(same, best, "{}", level.name());
    /// }
    /// ```
    pub fn available() -> Vec<Self> {
        #[allow(unused_mut)]
        let mut levels = vec![Self(Kind::Portable)];
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        {
            if avx2::present() {
                levels.push(Self(Kind::Avx2));
            }
            if avx2::present() && avx512::present() {
                levels.push(Self(Kind::Avx512));
            }
        }
        #[cfg(all(target_arch = "aarch64", not(miri)))]
        if neon::present() {
            levels.push(Self(Kind::Neon));
        }
        levels
    }

    /// The level that uses no SIMD instruction beyond what the target guarantees.
    ///
    /// ```
    /// use kogge_core::ops::Sum;
    /// use kogge_cpu::{Level, Request, scan_in_place};
    ///
    /// let (mut data, level) = ([1, 2, 3], Level::portable());
    /// scan_in_place(&Request::<_, i32> { level, ..Request::new(&Sum) }, &mut data);
    /// assert_eq!(data, [1, 3, 6]);
    /// ```
    pub fn portable() -> Self {
        Self(Kind::Portable)
    }

    /// Whether halves are widened and narrowed in registers. Word by word it takes far more code
    /// than through a stage, and nothing is won; but Miri sees no other level.
    pub(crate) fn packs(self) -> bool {
        cfg!(miri) || self.0 != Kind::Portable
    }

    /// The level's name, as in `KOGGE_SIMD`.
    ///
    /// ```
    /// assert_eq!(kogge_cpu::Level::portable().name(), "portable");
    /// ```
    pub fn name(self) -> &'static str {
        match self.0 {
            Kind::Portable => "portable",
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Kind::Avx2 => "avx2",
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Kind::Avx512 => "avx512",
            #[cfg(all(target_arch = "aarch64", not(miri)))]
            Kind::Neon => "neon",
        }
    }
}

/// A piece of work generic over the hardware.
pub(crate) trait Work {
    type Output;
    /// Whether one copy of the work, for the portable level, is enough.
    const COMPACT: bool = false;
    /// Whether the portable level is ever asked for it.
    const PORTABLE: bool = true;
    /// Does the work; `W32` and `W64` are 4- and 8-byte words of one level.
    ///
    /// # Safety
    ///
    /// The CPU features of `W32` and `W64` must be present. Implementations are inlined into a
    /// function compiled for them.
    unsafe fn run<W32: Words<Word = u32>, W64: Words<Word = u64>>(self) -> Self::Output;
}

impl Level {
    /// Does the work compiled for this level.
    #[inline]
    pub(crate) fn run<W: Work>(self, work: W) -> W::Output {
        if const { W::COMPACT } {
            return portable::run(work);
        }
        match self.0 {
            Kind::Portable if const { W::PORTABLE } => portable::run(work),
            Kind::Portable => unreachable!("not at the portable level"),
            // SAFETY: a `Level` of this kind exists only where the features were found.
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Kind::Avx2 => unsafe { avx2::run(work) },
            // SAFETY: a `Level` of this kind exists only where the features were found.
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Kind::Avx512 => unsafe { avx512::run(work) },
            // SAFETY: a `Level` of this kind exists only where the features were found.
            #[cfg(all(target_arch = "aarch64", not(miri)))]
            Kind::Neon => unsafe { neon::run(work) },
        }
    }
}

#[cfg(test)]
mod tests;
