//! Two threads begin from both ends of elements that lie in their caches: what takes microseconds.
//!
//! The caller leads: it scans from the first tile on, as if it were alone. When the other thread
//! comes it takes the rear, and folds what lies before that from behind, until it meets the leader,
//! whose tiles have their totals by then. So what the leader scans it reads once, and who doesn't
//! come isn't waited for. Nor is the leader, if the operator may wait for another thread: then the
//! tile that it is at is folded as well.
//!
//! With folds that take half as long as scans, two threads would take 0.6 times as long as one. (If
//! each folds half and then scans it, as pieces have it, 0.75 times.) What was measured,
//! [`tuning::awake_bytes`] tells.

use super::handover::{Owed, Slot, many};
use super::io::Io;
use super::tile::{Beside, Scan, through};
use crate::arch::stream::Fence;
use crate::{pool, tuning};
use kogge_core::{Element, Operator, Prefix};
use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

struct Shared<'a, I, A, O> {
    scan: &'a Scan<'a, I, A, O>,
    /// What precedes the first tile. Borrowed: of wide accumulators it is large.
    prefix: &'a Prefix<A>,
    led: AtomicBool,
    ahead: Ahead,
    /// What each tile came to, by itself or [with all before it](through).
    folds: Vec<Slot<A>>,
}

/// Whether it may be done so: a tile that the leader is at can be waited for, or be folded.
pub(super) const fn suits<I: Io<A>, A: Element, O: Operator<A>>() -> bool {
    O::NONBLOCKING || !through::<I::Format, A, O>()
}

/// Scans on the calling thread, and on another one of the current rayon pool if that comes in time,
/// what follows the tiles of a prefix, and takes its tiles in. There are fewer than 2^31, and it
/// [suits] them.
///
/// # Safety
///
/// The memory of `scan.io` must be this call's alone, and its input and output mustn't overlap.
pub(super) unsafe fn run<I: Io<A>, A: Element, O: Operator<A>>(
    scan: &Scan<'_, I, A, O>,
    prefix: &mut Prefix<A>,
) {
    let shared = Shared::new(scan, prefix);
    // SAFETY: passed on; each tile is scanned by one of the two.
    pool::together(2, &|| unsafe { shared.work() });
    let folds = shared.folds;
    take_in_all(scan, prefix, &folds);
}

/// Takes in what each of the tiles came to.
fn take_in_all<I: Io<A>, A: Element, O: Operator<A>>(
    scan: &Scan<'_, I, A, O>,
    prefix: &mut Prefix<A>,
    folds: &[Slot<A>],
) {
    for slot in folds {
        let fold = slot.get().expect("one of the two has scanned every tile");
        take_in::<I, A, O>(prefix, scan.operator, fold);
    }
}

/// Takes in what a tile came to.
fn take_in<I: Io<A>, A: Element, O: Operator<A>>(prefix: &mut Prefix<A>, operator: &O, fold: A) {
    if const { through::<I::Format, A, O>() } {
        prefix.replace(fold);
    } else {
        prefix.push(operator, fold);
    }
}

impl<'a, I: Io<A>, A: Element, O: Operator<A>> Shared<'a, I, A, O> {
    fn new(scan: &'a Scan<'a, I, A, O>, prefix: &'a Prefix<A>) -> Self {
        let tiles = scan.tiles();
        let folds = many(tiles, Slot::new);
        Self { scan, prefix, led: AtomicBool::new(false), ahead: Ahead::of(tiles), folds }
    }

    /// What each thread does; the first to come leads.
    ///
    /// # Safety
    ///
    /// As for [`run`].
    unsafe fn work(&self) {
        let _fence = I::STREAM.then_some(Fence);
        let mut stage = self.scan.stage();
        // SAFETY: passed on.
        unsafe {
            if self.led.swap(true, Ordering::Relaxed) {
                self.follow(&mut stage);
            } else {
                let mut prefix = self.prefix.clone();
                while self.lead_one(&mut prefix, &mut stage) {}
            }
        }
    }

    /// Scans the leader's next tile; `false` if there is none.
    ///
    /// # Safety
    ///
    /// As for [`run`]; one thread leads.
    unsafe fn lead_one(&self, prefix: &mut Prefix<A>, stage: &mut [MaybeUninit<A>]) -> bool {
        let Some(tile) = self.ahead.next() else { return false };
        // A panic of the operator must not have the other thread wait.
        let owed = Owed(&self.folds[tile]);
        // SAFETY: passed on; the tile is the leader's.
        owed.pay(unsafe { self.scan_tile(tile, prefix, stage) });
        true
    }

    /// Takes the rear of what is left, works out what precedes it, and scans it. Does no more if
    /// the leader has panicked, and was waited for.
    ///
    /// # Safety
    ///
    /// As for [`run`].
    unsafe fn follow(&self, stage: &mut [MaybeUninit<A>]) {
        let rear = self.ahead.split();
        if rear.is_empty() {
            return;
        }
        // SAFETY: passed on.
        let Some(mut prefix) = (unsafe { self.before(rear.start, stage) }) else { return };
        for tile in rear {
            // SAFETY: passed on; the tile is this thread's.
            let fold = unsafe { self.scan_tile(tile, &mut prefix, stage) };
            self.folds[tile].publish(fold);
        }
    }

    /// Scans a tile, which the prefix takes in, and gives what it comes to.
    ///
    /// # Safety
    ///
    /// As for [`run`], and the tile must be this thread's.
    unsafe fn scan_tile(
        &self,
        tile: usize,
        prefix: &mut Prefix<A>,
        stage: &mut [MaybeUninit<A>],
    ) -> A {
        let (places, before) = (self.scan.tile(tile), prefix.before(self.scan.operator));
        // SAFETY: passed on.
        let (fold, _) = unsafe { self.scan.scan_tile(places, before, Beside::Nothing, stage) };
        take_in::<I, A, O>(prefix, self.scan.operator, fold);
        fold
    }

    /// What precedes a tile: what the leader's tiles came to as far as it has begun them, and folds
    /// of those that follow. `None` if the leader has panicked, and was waited for.
    ///
    /// # Safety
    ///
    /// As for [`run`].
    unsafe fn before(&self, end: usize, stage: &mut [MaybeUninit<A>]) -> Option<Prefix<A>> {
        let (operator, mut folded) = (self.scan.operator, Vec::with_capacity(end));
        let mut met = end;
        while self.ahead.begins() < met {
            met -= 1;
            // SAFETY: nobody writes the input.
            folded.push(unsafe { self.scan.reduce_tile(self.scan.tile(met), stage) });
        }
        let mut prefix = self.prefix.clone();
        let first = if const { through::<I::Format, A, O>() } { met.saturating_sub(1) } else { 0 };
        for (tile, slot) in (first..met).zip(&self.folds[first..met]) {
            let fold = match slot.soon() {
                Some(fold) => fold,
                None if const { O::NONBLOCKING } => slot.wait()?,
                // SAFETY: nobody writes the input.
                None => unsafe { self.scan.reduce_tile(self.scan.tile(tile), stage) },
            };
            take_in::<I, A, O>(&mut prefix, operator, fold);
        }
        folded.iter().rev().for_each(|&fold| prefix.push(operator, fold));
        Some(prefix)
    }
}

/// The tiles that the leader has before it, from which the other thread takes the rear: the next
/// one, and in the upper half the end, behind which the next one may be.
struct Ahead(AtomicU64);

impl Ahead {
    fn of(tiles: usize) -> Self {
        assert!(tiles < 1 << 31, "the leader may count one on");
        Self(AtomicU64::new((tiles as u64) << 32))
    }

    /// The first of them.
    fn begins(&self) -> usize {
        range(self.0.load(Ordering::Relaxed)).start as usize
    }

    /// Begins the first of them.
    fn next(&self) -> Option<usize> {
        range(self.0.fetch_add(1, Ordering::Relaxed)).next().map(|tile| tile as usize)
    }

    /// Takes the rear: what lay there in the call before too, if that can be, so that each core
    /// finds its tiles in its cache.
    fn split(&self) -> Range<usize> {
        let mut packed = self.0.load(Ordering::Relaxed);
        loop {
            let Range { start, end } = range(packed);
            let at = tuning::leaders_share(end).max(start).min(end);
            let front = u64::from(at) << 32 | u64::from(start);
            match self.0.compare_exchange_weak(packed, front, Ordering::Relaxed, Ordering::Relaxed)
            {
                Ok(_) => return at as usize..end as usize,
                Err(now) => packed = now,
            }
        }
    }
}

fn range(packed: u64) -> Range<u32> {
    packed as u32..(packed >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::super::io::Direct;
    use super::super::trial::{elements, scanned, scanned_by};
    use super::*;
    use kogge_core::Order;
    use kogge_core::ops::Sum;
    use std::fmt::Debug;

    type Tiles<'a, A, O> = Scan<'a, Direct<A, false>, A, O>;

    /// A sum that doesn't say that it waits for nobody.
    struct Waiting;

    impl Operator<f32> for Waiting {
        fn identity(&self) -> f32 {
            Sum.identity()
        }

        fn combine(&self, left: f32, right: f32) -> f32 {
            Sum.combine(left, right)
        }
    }

    /// Both threads' parts by this one: the leader does so many tiles before the other comes.
    fn in_turn<A: Element, O: Operator<A>>(
        scan: &Tiles<'_, A, O>,
        prefix: &mut Prefix<A>,
        done: usize,
    ) {
        let shared = Shared::new(scan, prefix);
        let (mut before, mut stage) = (prefix.clone(), scan.stage());
        // SAFETY: tests give slices of their own.
        unsafe {
            for _ in 0..done {
                assert!(shared.lead_one(&mut before, &mut stage));
            }
            shared.follow(&mut stage);
            while shared.lead_one(&mut before, &mut stage) {}
        }
        let folds = shared.folds;
        take_in_all(scan, prefix, &folds);
    }

    fn check<A: Element + PartialEq + Debug, O: Operator<A>>(
        operator: &O,
        tiles: usize,
        element: impl Fn(usize) -> A,
    ) where
        Sum: Operator<A>,
    {
        let (elements, want) = elements(tiles, element);
        for done in 0..=tiles {
            let got = scanned_by(operator, &elements, false, |scan, prefix| {
                in_turn(scan, prefix, done);
            });
            assert!(got == want, "{tiles} tiles, {done} before the other comes");
        }
        let got = scanned_by(operator, &elements, false, |scan, prefix| {
            // SAFETY: the test's own slices.
            unsafe { run(scan, prefix) }
        });
        assert!(got == want, "{tiles} tiles by two threads");
    }

    #[test]
    #[cfg_attr(miri, ignore = "tiles of thousands; `threads.rs` has smaller ones")]
    fn whenever_the_other_comes_every_tile_is_scanned() {
        for tiles in 2..40 {
            check(&Sum, tiles, |i| (i % 7) as f32 * 0.1 - 0.25);
            check(&Waiting, tiles, |i| (i % 7) as f32 * 0.1 - 0.25);
            check(&Sum, tiles, |i| i as i64 % 1000 - 300);
        }
    }

    #[test]
    fn a_leader_that_panicked_is_not_waited_for() {
        let elements = vec![1.0f32; 4 * Order::of::<f32>().tile()];
        scanned(&elements, false, |scan, prefix| {
            let shared = Shared::new(scan, prefix);
            let tile = shared.ahead.next().unwrap();
            drop(Owed(&shared.folds[tile]));
            // SAFETY: the test's own slices.
            unsafe { shared.follow(&mut scan.stage()) };
            assert!(shared.folds.iter().all(|slot| slot.get().is_none()), "nothing is scanned");
        });
    }

    /// Its operator may wait for what the other thread would do.
    #[test]
    #[cfg_attr(miri, ignore = "the same code as where the other comes late")]
    fn a_leader_that_waits_is_not_waited_for() {
        let (elements, want) = elements(9, |i| (i % 7) as f32 * 0.1 - 0.25);
        let (mut rear, tile) = (0..0, Order::of::<f32>().tile());
        let (values, _) = scanned_by(&Waiting, &elements, false, |scan, prefix| {
            let shared = Shared::new(scan, prefix);
            // It has begun two tiles, and gets on with neither.
            assert_eq!((shared.ahead.next(), shared.ahead.next()), (Some(0), Some(1)));
            // SAFETY: the test's own slices.
            unsafe { shared.follow(&mut scan.stage()) };
            let first = shared.folds.iter().position(|slot| slot.get().is_some()).unwrap();
            rear = first * tile..elements.len();
        });
        assert!(!rear.is_empty() && values[rear.clone()] == want.0[rear], "not what it should be");
    }

    #[test]
    fn the_leader_keeps_some_tiles_and_the_other_has_the_rest() {
        let ahead = Ahead::of(9);
        assert_eq!((ahead.next(), ahead.next()), (Some(0), Some(1)));
        assert_eq!(ahead.split(), 6..9, "five of eight are the leader's");
        assert_eq!(ahead.split(), 4..6, "nobody comes a second time, but could");
        assert_eq!((ahead.next(), ahead.next(), ahead.next()), (Some(2), Some(3), None));
        assert_eq!((ahead.begins(), ahead.split()), (5, 4..4));
    }
}
