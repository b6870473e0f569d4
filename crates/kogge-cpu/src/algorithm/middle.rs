//! Two threads have three parts of elements that lie in their caches: what takes microseconds.
//!
//! The caller leads: it scans from the first tile on, as if it were alone. When the other thread
//! comes it takes a middle part. That it folds while the leader scans the front, and scans while
//! the leader, which needs no more than the folds by then, scans the rear. Who doesn't come isn't
//! waited for, and who comes late takes the middle of what is left then. The leader is waited for
//! at the end of the front, unless the operator may wait for another thread: then what isn't known
//! of the front yet is folded too.
//!
//! With folds that take half as long as scans, two threads take 0.6 times as long as one. (If each
//! folds half and then scans it, 0.75 times.) Neither touches what the other one writes, and in the
//! next call each has the same tiles, in place too. A core of a Zen 4 takes 0.56 ns to read and
//! write a line of the cache that it has written before, 6.9 ns if another has read it meanwhile.
//! What was measured of scans, [`tuning::middle_bytes`] tells.

use super::handover::{Gate, Owed, Slot, late, many};
use super::io::Io;
use super::tile::{Beside, Scan, through};
use crate::arch::stream::Fence;
use crate::{pool, tuning};
use kogge_core::{Element, Operator, Prefix};
use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// So many tiles at most.
pub(super) const TILES: usize = (1 << BITS) - 2;

/// Bits of a tile's number.
const BITS: u32 = 21;

struct Shared<'a, I, A, O> {
    scan: &'a Scan<'a, I, A, O>,
    /// What precedes the first tile. Borrowed: of wide accumulators it is large.
    before: &'a Prefix<A>,
    /// The leader's, which takes all tiles in.
    prefix: Mutex<&'a mut Prefix<A>>,
    led: AtomicBool,
    ahead: Ahead,
    /// What each tile of the front and the middle came to: the middle's by themselves, the front's
    /// [with all before them](through) where scans have it so.
    folds: Vec<Slot<A>>,
    /// One gate a tile where the output overwrites the input, else empty.
    gates: Vec<Gate>,
}

/// Whether it may be done so: a tile that the leader is at can be waited for, or be folded.
pub(super) const fn suits<I: Io<A>, A: Element, O: Operator<A>>(in_place: bool) -> bool {
    O::NONBLOCKING || !(in_place || through::<I::Format, A, O>())
}

/// Scans on the calling thread, and on another one of the current rayon pool if that comes in time,
/// what follows the tiles of a prefix, and takes its tiles in. There are [`TILES`] at most, and it
/// [suits] them.
///
/// # Safety
///
/// The memory of `scan.io` must be this call's alone.
pub(super) unsafe fn run<I: Io<A>, A: Element, O: Operator<A>>(
    scan: &Scan<'_, I, A, O>,
    prefix: &mut Prefix<A>,
    in_place: bool,
) {
    let before = prefix.clone();
    let shared = Shared::new(scan, &before, prefix, in_place);
    // SAFETY: passed on; each tile is scanned by one of the two.
    pool::together(2, &|| unsafe { shared.work() });
}

impl<'a, I: Io<A>, A: Element, O: Operator<A>> Shared<'a, I, A, O> {
    fn new(
        scan: &'a Scan<'a, I, A, O>,
        before: &'a Prefix<A>,
        prefix: &'a mut Prefix<A>,
        in_place: bool,
    ) -> Self {
        let tiles = scan.tiles();
        Self {
            scan,
            before,
            prefix: Mutex::new(prefix),
            led: AtomicBool::new(false),
            ahead: Ahead::of(tiles),
            folds: many(tiles, Slot::new),
            gates: many(if in_place { tiles } else { 0 }, Gate::new),
        }
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
                let middle = self.take(&mut stage);
                self.follow(middle, &mut stage);
            } else {
                let mut prefix = self.prefix.lock().unwrap_or_else(PoisonError::into_inner);
                while self.lead_on(&mut prefix, &mut stage) {}
            }
        }
    }

    /// Scans the leader's next tile, or takes in the middle; `false` if there is neither.
    ///
    /// # Safety
    ///
    /// As for [`run`]; one thread leads.
    unsafe fn lead_on(&self, prefix: &mut Prefix<A>, stage: &mut [MaybeUninit<A>]) -> bool {
        match self.ahead.next(self.scan.tiles()) {
            Next::End => return false,
            Next::Front(tile) => {
                // A panic of the operator must not have the other thread wait.
                let owed = Owed(&self.folds[tile]);
                // SAFETY: passed on; the tile is the leader's.
                owed.pay(unsafe { self.scan_tile(tile, prefix, stage) });
            }
            Next::Rear(tile) => {
                // SAFETY: as above.
                unsafe { self.scan_tile(tile, prefix, stage) };
            }
            Next::Middle(tiles) => {
                for tile in tiles {
                    // SAFETY: passed on.
                    let Some(fold) = (unsafe { self.fold(tile, stage) }) else { return false };
                    prefix.push(self.scan.operator, fold);
                }
            }
        }
        true
    }

    /// Takes the middle of what is left, and folds it.
    ///
    /// # Safety
    ///
    /// As for [`run`]; one thread follows.
    unsafe fn take(&self, stage: &mut [MaybeUninit<A>]) -> Range<usize> {
        let middle = self.ahead.split(self.scan.tiles());
        let mut folds = Vec::with_capacity(middle.len());
        for tile in middle.clone() {
            // SAFETY: passed on; nobody writes this thread's tiles.
            folds.push(unsafe { self.scan.reduce_tile(self.scan.tile(tile), stage) });
        }
        for (slot, &fold) in self.folds[middle.clone()].iter().zip(&folds) {
            slot.publish(fold);
        }
        middle
    }

    /// Works out what precedes the middle, and scans it. Does neither if the leader has panicked,
    /// and was waited for.
    ///
    /// # Safety
    ///
    /// As for [`run`]; this thread has [taken](Self::take) the middle.
    unsafe fn follow(&self, middle: Range<usize>, stage: &mut [MaybeUninit<A>]) {
        if middle.is_empty() {
            return;
        }
        // SAFETY: passed on.
        let Some(mut prefix) = (unsafe { self.before(middle.start, stage) }) else { return };
        for tile in middle {
            if let Some(gate) = self.gates.get(tile) {
                gate.close_folded(&self.folds[tile]);
            }
            // SAFETY: passed on; the tile is this thread's.
            unsafe { self.scan_tile(tile, &mut prefix, stage) };
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
        self.take_in(prefix, fold);
        fold
    }

    /// Takes in what a tile of the front or the rear came to.
    fn take_in(&self, prefix: &mut Prefix<A>, fold: A) {
        if const { through::<I::Format, A, O>() } {
            prefix.replace(fold);
        } else {
            prefix.push(self.scan.operator, fold);
        }
    }

    /// What a tile of the middle comes to: as published, or computed if that is late. `None` if the
    /// other thread panicked.
    ///
    /// # Safety
    ///
    /// As for [`run`].
    unsafe fn fold(&self, tile: usize, stage: &mut [MaybeUninit<A>]) -> Option<A> {
        let slot = &self.folds[tile];
        slot.soon().or_else(|| {
            // SAFETY: out of place nobody writes the input; in place `late` keeps the gate open.
            late(slot, self.gates.get(tile), || unsafe {
                self.scan.reduce_tile(self.scan.tile(tile), stage)
            })
        })
    }

    /// What precedes a tile, that the front ends with. `None` if the leader has panicked, and was
    /// waited for.
    ///
    /// # Safety
    ///
    /// As for [`run`].
    unsafe fn before(&self, end: usize, stage: &mut [MaybeUninit<A>]) -> Option<Prefix<A>> {
        let mut prefix = self.before.clone();
        let first = if const { through::<I::Format, A, O>() } { end - 1 } else { 0 };
        for tile in first..end {
            let slot = &self.folds[tile];
            let fold = match slot.soon() {
                Some(fold) => fold,
                None if const { O::NONBLOCKING } => slot.wait()?,
                // SAFETY: nobody writes the input.
                None => unsafe { self.scan.reduce_tile(self.scan.tile(tile), stage) },
            };
            self.take_in(&mut prefix, fold);
        }
        Some(prefix)
    }
}

/// What the leader does next.
#[derive(Debug, PartialEq, Eq)]
enum Next {
    /// Scans a tile that the other thread may want to know of.
    Front(usize),
    /// Takes in the folds of the middle, and goes on behind it.
    Middle(Range<usize>),
    /// Scans a tile behind the middle.
    Rear(usize),
    End,
}

/// The leader's next tile, and of those before it the middle that the other thread has taken; none
/// as long as it hasn't.
struct Ahead(AtomicU64);

#[derive(Clone, Copy)]
struct Places {
    next: usize,
    middle: (usize, usize),
}

impl Places {
    fn of(packed: u64) -> Self {
        let place = |at: u32| (packed >> (at * BITS)) as usize & ((1 << BITS) - 1);
        Self { next: place(0), middle: (place(1), place(2)) }
    }

    fn packed(self) -> u64 {
        self.next as u64 | (self.middle.0 as u64) << BITS | (self.middle.1 as u64) << (2 * BITS)
    }
}

impl Ahead {
    fn of(tiles: usize) -> Self {
        assert!(tiles <= TILES, "the leader may count one on");
        Self(AtomicU64::new(0))
    }

    /// Goes on; nothing else changes once there is a middle.
    fn next(&self, tiles: usize) -> Next {
        let Places { next, middle: (start, end) } =
            Places::of(self.0.fetch_add(1, Ordering::Relaxed));
        if start < end && next == start {
            self.0.store(Places { next: end, middle: (start, end) }.packed(), Ordering::Relaxed);
            Next::Middle(start..end)
        } else if next >= tiles {
            Next::End
        } else if start < end && next >= end {
            Next::Rear(next)
        } else {
            Next::Front(next)
        }
    }

    /// Takes the middle: what it was in the call before too, if that can be, so that each core finds
    /// its tiles in its cache.
    fn split(&self, tiles: usize) -> Range<usize> {
        let mut packed = self.0.load(Ordering::Relaxed);
        loop {
            let places = Places::of(packed);
            let next = places.next.min(tiles);
            let mut middle = tuning::middle(tiles);
            if middle.start < next {
                let left = tuning::middle(tiles - next);
                middle = next + left.start..next + left.end;
            }
            let taken = Places { middle: (middle.start, middle.end), ..places }.packed();
            match self.0.compare_exchange_weak(packed, taken, Ordering::Relaxed, Ordering::Relaxed)
            {
                Ok(_) => return middle,
                Err(now) => packed = now,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::io::Direct;
    use super::super::trial::{elements, scanned_by};
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

    /// When the other thread does its part.
    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Other {
        /// Folds at once, and scans before the leader goes on behind the front.
        First,
        /// Folds at once, and scans when the leader is done.
        Last,
        /// Takes the middle, and nothing else before the leader is done.
        Late,
    }

    /// Both threads' parts by this one: the leader does so many tiles before the other comes.
    fn in_turn<A: Element, O: Operator<A>>(
        scan: &Tiles<'_, A, O>,
        prefix: &mut Prefix<A>,
        in_place: bool,
        done: usize,
        other: Other,
    ) {
        let before = prefix.clone();
        let shared = Shared::new(scan, &before, prefix, in_place);
        let (mut stage, mut tiles) = (scan.stage(), 0..done);
        // SAFETY: tests give slices of their own.
        unsafe {
            let mut prefix = shared.prefix.lock().unwrap();
            assert!(tiles.all(|_| shared.lead_on(&mut prefix, &mut stage)));
            let middle = match other {
                Other::Late => shared.ahead.split(scan.tiles()),
                Other::First | Other::Last => shared.take(&mut stage),
            };
            assert!(middle.start >= done, "not the leader's");
            if other == Other::First {
                (done..middle.start).for_each(|_| assert!(shared.lead_on(&mut prefix, &mut stage)));
                shared.follow(middle.clone(), &mut stage);
            }
            while shared.lead_on(&mut prefix, &mut stage) {}
            if other != Other::First {
                shared.follow(middle, &mut stage);
            }
        }
    }

    fn check<A: Element + PartialEq + Debug, O: Operator<A>>(
        operator: &O,
        tiles: usize,
        element: impl Fn(usize) -> A,
    ) where
        Sum: Operator<A>,
    {
        let (elements, want) = elements(tiles, element);
        for in_place in [false, true] {
            if !suits::<Direct<A, false>, A, O>(in_place) {
                continue;
            }
            for other in [Other::First, Other::Last, Other::Late] {
                for done in 0..=tiles {
                    let got = scanned_by(operator, &elements, in_place, |scan, prefix| {
                        in_turn(scan, prefix, in_place, done, other);
                    });
                    assert!(got == want, "{tiles} tiles, {in_place}, {done} before, {other:?}");
                }
            }
            let got = scanned_by(operator, &elements, in_place, |scan, prefix| {
                // SAFETY: the test's own slices.
                unsafe { run(scan, prefix, in_place) }
            });
            assert!(got == want, "{tiles} tiles by two threads, {in_place}");
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "tiles of thousands; `threads.rs` has smaller ones")]
    fn whenever_the_other_comes_every_tile_is_scanned() {
        for tiles in (1..12).chain([17, 31, 32, 33, 40]) {
            check(&Sum, tiles, |i| (i % 7) as f32 * 0.1 - 0.25);
            check(&Waiting, tiles, |i| (i % 7) as f32 * 0.1 - 0.25);
            check(&Sum, tiles, |i| i as i64 % 1000 - 300);
        }
        assert!(!suits::<Direct<f32, false>, f32, Waiting>(true), "the front is overwritten");
    }

    #[test]
    fn a_leader_that_panicked_is_not_waited_for() {
        let elements = vec![1.0f32; 6 * Order::of::<f32>().tile()];
        for in_place in [false, true] {
            let (values, _) = scanned_by(&Sum, &elements, in_place, |scan, prefix| {
                let before = prefix.clone();
                let shared = Shared::new(scan, &before, prefix, in_place);
                let Next::Front(tile) = shared.ahead.next(scan.tiles()) else { panic!("no tile") };
                drop(Owed(&shared.folds[tile]));
                let mut stage = scan.stage();
                // SAFETY: the test's own slices.
                unsafe {
                    let middle = shared.take(&mut stage);
                    assert!(!middle.is_empty());
                    shared.follow(middle, &mut stage);
                }
            });
            assert!(values == elements, "nothing is scanned");
        }
    }

    /// Its operator may wait for what the other thread would do.
    #[test]
    #[cfg_attr(miri, ignore = "the same code as where the other comes late")]
    fn a_leader_that_waits_is_not_waited_for() {
        let (elements, want) = elements(9, |i| (i % 7) as f32 * 0.1 - 0.25);
        let (mut places, tile) = (0..0, Order::of::<f32>().tile());
        let (values, _) = scanned_by(&Waiting, &elements, false, |scan, prefix| {
            let before = prefix.clone();
            let shared = Shared::new(scan, &before, prefix, false);
            // It has begun two tiles, and gets on with neither.
            let begun = [0, 1].map(|_| shared.ahead.next(scan.tiles()));
            assert_eq!(begun, [Next::Front(0), Next::Front(1)]);
            let mut stage = scan.stage();
            // SAFETY: the test's own slices.
            unsafe {
                let middle = shared.take(&mut stage);
                places = middle.start * tile..middle.end * tile;
                shared.follow(middle, &mut stage);
            }
        });
        assert!(!places.is_empty() && values[places.clone()] == want.0[places]);
    }

    #[test]
    fn the_other_has_the_same_tiles_unless_it_comes_late() {
        let ahead = Ahead::of(17);
        assert_eq!((ahead.next(17), ahead.next(17)), (Next::Front(0), Next::Front(1)));
        assert_eq!((tuning::middle(17), ahead.split(17)), (4..11, 4..11));
        assert_eq!((ahead.next(17), ahead.next(17)), (Next::Front(2), Next::Front(3)));
        assert_eq!((ahead.next(17), ahead.next(17)), (Next::Middle(4..11), Next::Rear(11)));
        (12..17).for_each(|tile| assert_eq!(ahead.next(17), Next::Rear(tile)));
        assert_eq!(ahead.next(17), Next::End);
        let late = Ahead::of(17);
        (0..9).for_each(|tile| assert_eq!(late.next(17), Next::Front(tile)));
        assert_eq!((tuning::middle(8), late.split(17)), (2..5, 11..14));
        let behind = Ahead::of(3);
        (0..3).for_each(|tile| assert_eq!(behind.next(3), Next::Front(tile)));
        assert_eq!(behind.next(3), Next::End);
        assert!(behind.split(3).is_empty());
    }

    #[test]
    fn the_middle_lies_behind_a_front() {
        for tiles in 0..TILES.min(10_000) {
            let middle = tuning::middle(tiles);
            assert!(middle.end <= tiles && (middle.is_empty() || middle.start > 0), "{tiles}");
            assert!(middle.start <= middle.end);
        }
        let last = Ahead::of(TILES);
        assert_eq!(last.split(TILES), tuning::middle(TILES), "numbers have room");
    }
}
