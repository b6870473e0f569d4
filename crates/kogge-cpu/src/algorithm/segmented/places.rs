//! What the heads of a mask say about its places: which start chunks, which follow in a chunk, and
//! which chunks have how many of their segment before them.
//!
//! All of it is found by shifts, step by step for all words at once, so that the compiler has
//! vectors of words; bits of the word before come in from below.

use crate::algorithm::cut::WORDS;

/// Steps of Kogge–Stone over the chunks of a row.
pub(super) const STEPS: usize = 5;

/// One bit for each place of a mask, the first one's in the first byte, and a word of none before.
#[derive(Clone, Copy)]
pub(super) struct Bits([u64; WORDS + 1]);

impl Bits {
    #[inline(always)]
    fn of(word: impl Fn(usize) -> u64) -> Self {
        let mut bits = [0; WORDS + 1];
        for w in 0..WORDS {
            bits[w + 1] = word(w);
        }
        Self(bits)
    }

    /// A word.
    #[inline(always)]
    fn word(&self, w: usize) -> u64 {
        self.0[w + 1]
    }

    /// A word of these moved up by so many places, fewer than 64 and not none.
    #[inline(always)]
    fn moved(&self, w: usize, by: u32) -> u64 {
        self.0[w + 1] << by | self.0[w] >> (64 - by)
    }

    /// Whether there are any.
    #[inline(always)]
    pub(super) fn any(&self) -> bool {
        self.0[1..=WORDS].iter().fold(0, |any, word| any | word) != 0
    }

    /// The bytes of a span.
    #[inline(always)]
    pub(super) fn bytes(&self, span: usize) -> *const u8 {
        self.0[2 * span + 1..].as_ptr().cast()
    }

    /// With the bytes of words in this order.
    #[inline(always)]
    fn in_bytes(&self) -> Self {
        Self::of(|w| self.word(w).to_le())
    }
}

/// The places of a mask.
pub(super) struct Places {
    /// Those that start segments.
    pub(super) heads: Bits,
    /// Those that start chunks.
    pub(super) starts: Bits,
    /// Those that start a chunk that isn't the first of its segment.
    pub(super) later: Bits,
    /// Those that are the second, third and fourth of a chunk; none where chunks are shorter.
    pub(super) follow: [Bits; 3],
    /// Those that start a chunk with another one to take in, step by step of Kogge–Stone.
    pub(super) far: [Bits; STEPS],
}

impl Places {
    /// Of segments in chunks of 2 or 4 places, from the first head on; what is said of places
    /// before it means nothing.
    #[inline(always)]
    pub(super) fn of<const CHUNK: usize>(heads: &[u64; WORDS]) -> Self {
        let starts = starts::<CHUNK>(heads);
        let heads = Bits::of(|w| heads[w]);
        let later = Bits::of(|w| starts.word(w) & !heads.word(w));
        let after = |bits: &Bits| Bits::of(|w| bits.moved(w, 1) & !starts.word(w));
        let second = after(&starts);
        let third = if CHUNK > 2 { after(&second) } else { Bits::of(|_| 0) };
        let fourth = if CHUNK > 2 { after(&third) } else { third };
        let chunk = CHUNK as u32;
        let further = |bits: &Bits, by| Bits::of(|w| bits.word(w) & bits.moved(w, by));
        let first = further(&later, chunk);
        let second_step = further(&first, chunk);
        let third_step = further(&second_step, 2 * chunk);
        let fourth_step = further(&third_step, 4 * chunk);
        let fifth_step = further(&fourth_step, 8 * chunk);
        let far = [first, second_step, third_step, fourth_step, fifth_step];
        Self {
            heads: heads.in_bytes(),
            starts: starts.in_bytes(),
            later: later.in_bytes(),
            follow: [second, third, fourth].map(|bits| bits.in_bytes()),
            far: far.map(|bits| bits.in_bytes()),
        }
    }
}

/// Where chunks start.
#[inline(always)]
fn starts<const CHUNK: usize>(heads: &[u64; WORDS]) -> Bits {
    // Where the last head lay before a word, modulo a chunk.
    let (mut phases, mut phase) = ([0; WORDS], 0);
    for w in 0..WORDS {
        phases[w] = phase;
        let last = u64::from(63 - heads[w].leading_zeros().min(63)) % CHUNK as u64;
        phase = if heads[w] == 0 { phase } else { last };
    }
    // Every place that starts a chunk if the first one does.
    let every: u64 = const { !0 / ((1 << CHUNK) - 1) };
    Bits::of(|w| {
        let heads = heads[w];
        // A segment goes on up to the first head.
        let open = heads.wrapping_sub(1) & !heads;
        inside::<CHUNK>(heads) | every << phases[w] & open
    })
}

/// Where the chunks start of the segments that have their heads in this word.
#[inline(always)]
fn inside<const CHUNK: usize>(heads: u64) -> u64 {
    // Places that have a head among the chunk that ends with them.
    let mut near = heads | heads << 1;
    if CHUNK > 2 {
        near |= near << 2;
    }
    let (mut starts, mut free) = (heads, !near);
    macro_rules! steps {
        ($($step:literal)+) => {
            $(if $step >= CHUNK {
                starts |= starts << $step & free;
                free &= free << $step;
            })+
        };
    }
    steps!(2 4 8 16 32);
    starts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::cut::PLACES;

    /// What is said of each place, one by one, from the first head on.
    fn check<const CHUNK: usize>(first: usize, lens: impl Fn(usize) -> usize) {
        let (mut heads, mut at) = (vec![], first);
        while at < PLACES {
            heads.push(at);
            at += lens(heads.len());
        }
        let mut mask = [0; WORDS];
        heads.iter().for_each(|place| mask[place / 64] |= 1 << (place % 64));
        let places = Places::of::<CHUNK>(&mask);
        let said = |bits: &Bits, place: usize| {
            // SAFETY: a byte of the words.
            let byte = unsafe { *bits.bytes(0).add(place / 8) };
            byte >> (place % 8) & 1 == 1
        };
        for place in first..PLACES {
            let head = *heads.iter().rev().find(|&&head| head <= place).unwrap();
            let (within, before) = ((place - head) % CHUNK, (place - head) / CHUNK);
            let case = format!("chunks of {CHUNK} from {first}, place {place}");
            assert_eq!(said(&places.heads, place), place == head, "{case}");
            assert_eq!(said(&places.starts, place), within == 0, "{case}");
            assert_eq!(said(&places.later, place), within == 0 && before > 0, "{case}");
            for (k, follow) in places.follow.iter().enumerate() {
                assert_eq!(said(follow, place), within == k + 1, "{case}, {k}");
            }
            for (step, far) in places.far.iter().enumerate() {
                // The chunk before is the one that takes in another.
                let any = within == 0 && before > 1 << step;
                assert_eq!(said(far, place), any, "{case}, step {step}");
            }
        }
        for bits in [&places.later, &places.far[0], &places.far[4], &places.follow[2]] {
            let any = (0..PLACES).any(|place| said(bits, place));
            assert_eq!(bits.any(), any, "chunks of {CHUNK} from {first}");
        }
    }

    #[test]
    fn places_are_told_as_one_by_one() {
        let most = if cfg!(miri) { 2 } else { 60 };
        for seed in 1..=most {
            let longest = 1 + seed * 13 % 128;
            let len = |j: usize| 1 + (j * seed).wrapping_mul(0x9e37_79b9) / 64 % longest;
            check::<4>(seed % 64, len);
            check::<2>(seed % 64, |j| len(j).min(64));
        }
    }
}
