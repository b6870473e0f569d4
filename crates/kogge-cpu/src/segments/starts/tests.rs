//! All kinds of segments tell the same starts, one by one and as masks.

use super::*;
use crate::arch::{Level, Work};

pub(super) fn all(segments: &impl Segments, from: usize, limits: &[usize]) -> Vec<usize> {
    let mut starts = segments.starts(from);
    let mut found = Vec::new();
    for &limit in limits {
        found.extend(std::iter::from_fn(|| starts.next_below(limit)));
    }
    found
}

#[test]
fn the_three_kinds_agree() {
    let lens = [3usize, 1, 70, 64, 1, 1, 128, 5, 200, 2];
    let starts: Vec<usize> = (0..lens.len()).map(|j| lens[..j].iter().sum()).collect();
    let n: usize = lens.iter().sum();
    let offsets: Vec<u32> = starts.iter().chain([&n]).map(|&start| start as u32).collect();
    let heads: Vec<bool> = (0..n).map(|i| i > 0 && starts.contains(&i)).collect();
    let keys: Vec<u8> =
        lens.iter().enumerate().flat_map(|(j, &len)| vec![j as u8 % 2; len]).collect();
    for from in 0..=n {
        let want: Vec<usize> = starts.iter().copied().filter(|&start| start >= from).collect();
        let limits: Vec<usize> = (from..=n + 1).step_by(1 + from % 90).chain([n]).collect();
        assert_eq!(all(&by_offsets(&offsets), from, &limits), want);
        assert_eq!(all(&by_heads(&heads), from, &limits), want);
        assert_eq!(all(&by_key(&keys), from, &limits), want);
        assert_eq!(by_key(&keys).count(from..n), want.len());
        assert_eq!(by_offsets(&offsets).before(from), Some(starts.len() - want.len()));
    }
}

/// The starts that masks tell, from a place on.
struct Masks<'a, S> {
    starts: S,
    from: usize,
    end: usize,
    found: &'a mut Vec<usize>,
}

impl<S: Starts> Work for Masks<'_, S> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<W32: Words<Word = u32>, W64: Words<Word = u64>>(mut self) {
        // As many words at a time as one goes by one, then more, then more than there are.
        let mut at = self.from;
        for words in [1, offsets::FEW, 2 * offsets::FLAGS / 64 + 1, 2 * offsets::FLAGS / 64 + 1]
            .into_iter()
            .cycle()
        {
            let end = self.end.min(at + 64 * words);
            let mut masks = vec![0; words];
            // SAFETY: features by contract.
            unsafe { self.starts.masks::<W32>(at..end, &mut masks) };
            let set = (0..64 * words).filter(|bit| masks[bit / 64] >> (bit % 64) & 1 == 1);
            self.found.extend(set.map(|bit| at + bit));
            if end == self.end {
                return;
            }
            at = end;
        }
    }
}

#[test]
fn masks_tell_what_is_told_one_by_one() {
    fn check(segments: &impl Segments, from: usize) {
        let end = segments.elements();
        let want = all(segments, from, &[end]);
        for level in Level::available() {
            let (mut found, starts) = (vec![], segments.starts(from));
            level.run(Masks { starts, from, end, found: &mut found });
            assert_eq!(found, want, "from {from}, {}", level.name());
        }
    }
    let n = 6_000;
    let keys: Vec<u32> = (0..n as u32).map(|i| i / 7 * (i / 90)).collect();
    let heads: Vec<bool> = (0..n).map(|i| i > 0 && keys[i] != keys[i - 1]).collect();
    let starts = (0..n).filter(|&i| i == 0 || heads[i]);
    let offsets: Vec<usize> = starts.chain([n]).collect();
    for from in [0, 1, 64, 77] {
        check(&by_key(&keys), from);
        check(&by_key(&keys.iter().map(|&key| key as u64).collect::<Vec<_>>()), from);
        check(&by_heads(&heads), from);
        check(&by_offsets(&offsets), from);
        check(&Even { len: 7, count: 857 }, from);
    }
}
