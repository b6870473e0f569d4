//! Two threads have three parts of elements that lie in their caches: what takes microseconds.
//!
//! The caller leads: it scans from the first tile on, as if it were alone. When the other thread
//! comes it takes a middle part. That it folds while the leader scans the front, and scans while
//! the leader, which needs no more than the folds by then, scans the rear. Who doesn't come isn't
//! waited for, who comes late takes the middle of what is left then, and a fold that is late is
//! computed by the leader. The other thread waits for the leader's front, but not for ever, as an
//! operator may wait for that thread. A middle that it has folded and not begun to scan when the
//! leader has done the rest is scanned by the leader.
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
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// So many tiles at most.
pub(super) const TILES: usize = (1 << BITS) - 2;

/// Bits of a tile's number.
const BITS: u32 = 21;

/// The other thread folds it, if there is one.
const TAKEN: u8 = 0;
/// Whoever can may scan it.
const FOLDED: u8 = 1;
/// Somebody does.
const CLAIMED: u8 = 2;

struct Shared<'a, I, A, O> {
    scan: &'a Scan<'a, I, A, O>,
    /// What precedes the first tile. Borrowed: of wide accumulators it is large.
    before: &'a Prefix<A>,
    /// The leader's, which takes all tiles in.
    prefix: Mutex<&'a mut Prefix<A>>,
    led: AtomicBool,
    ahead: Ahead,
    /// How far the middle is: [`TAKEN`], [`FOLDED`] or [`CLAIMED`].
    middle: AtomicU8,
    /// What each tile of the front and the middle came to: the middle's by themselves, the front's
    /// [with all before them](through) where scans have it so.
    folds: Vec<Slot<A>>,
    /// One gate a tile where the output overwrites the input, else empty.
    gates: Vec<Gate>,
}

/// Scans on the calling thread, and on another one of the current rayon pool if that comes in time,
/// what follows the tiles of a prefix, and takes its tiles in. There are [`TILES`] at most.
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
            middle: AtomicU8::new(TAKEN),
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
                let middle = self.ahead.split(self.scan.tiles());
                self.fold_all(middle.clone(), &mut stage);
                self.follow(middle, &mut stage);
            } else {
                let mut leader = Leader::new(&self.prefix);
                while self.lead_on(&mut leader, &mut stage) {}
            }
        }
    }

    /// Scans the leader's next tile, or all behind the middle, or takes that in; `false` if there is
    /// none of these.
    ///
    /// # Safety
    ///
    /// As for [`run`]; one thread leads.
    unsafe fn lead_on(&self, leader: &mut Leader<'_, 'a, A>, stage: &mut [MaybeUninit<A>]) -> bool {
        let prefix = &mut leader.prefix;
        match self.ahead.next(self.scan.tiles()) {
            Next::Front(tile) => {
                // A panic of the operator must not have the other thread wait.
                let owed = Owed(&self.folds[tile]);
                // SAFETY: passed on; the tile is the leader's.
                owed.pay(unsafe { self.scan_tile(tile, prefix, stage) });
            }
            Next::Middle(tiles) => {
                leader.middle = Some((tiles.clone(), prefix.clone()));
                for tile in tiles {
                    // SAFETY: passed on.
                    let Some(fold) = (unsafe { self.fold(tile, stage) }) else { return false };
                    prefix.push(self.scan.operator, fold);
                }
            }
            Next::Rear(tiles) => {
                // SAFETY: as above.
                unsafe { self.scan.scan_tiles(prefix, tiles, None, stage) };
            }
            Next::End => {
                if let Some((tiles, before)) = &mut leader.middle
                    && self.claim()
                {
                    // SAFETY: passed on; the other thread leaves what this one has claimed.
                    unsafe { self.scan.scan_tiles(before, tiles.clone(), None, stage) };
                }
                return false;
            }
        }
        true
    }

    /// Whether this thread may scan the middle.
    fn claim(&self) -> bool {
        let (success, failure) = (Ordering::Acquire, Ordering::Relaxed);
        self.middle.compare_exchange(FOLDED, CLAIMED, success, failure).is_ok()
    }

    /// Folds the middle.
    ///
    /// # Safety
    ///
    /// As for [`run`]; this thread has taken the middle.
    unsafe fn fold_all(&self, middle: Range<usize>, stage: &mut [MaybeUninit<A>]) {
        let mut folds = Vec::with_capacity(middle.len());
        for tile in middle.clone() {
            let (places, last) = (self.scan.tile(tile), tile + 1 == middle.end);
            // SAFETY: passed on; nobody writes this thread's tiles before it says that it is done.
            folds.push(unsafe {
                if last && !self.gates.is_empty() {
                    self.scan.reduce_tile_at_end(places, stage)
                } else {
                    self.scan.reduce_tile(places, stage)
                }
            });
        }
        for (slot, &fold) in self.folds[middle].iter().zip(&folds) {
            slot.publish(fold);
        }
        self.middle.store(FOLDED, Ordering::Release);
    }

    /// Works out what precedes the middle, and scans it; or leaves it to the leader.
    ///
    /// # Safety
    ///
    /// As for [`run`]; this thread has taken the middle, and [folded](Self::fold_all) it.
    unsafe fn follow(&self, middle: Range<usize>, stage: &mut [MaybeUninit<A>]) {
        if middle.is_empty() {
            return;
        }
        let prefix = self.before(middle.start);
        let Some(mut prefix) = prefix.filter(|_| self.claim()) else { return };
        if !self.gates.is_empty() {
            for tile in middle.clone() {
                self.gates[tile].close_folded(&self.folds[tile]);
            }
        }
        // SAFETY: passed on; the tiles are this thread's.
        unsafe { self.scan.scan_tiles(&mut prefix, middle, None, stage) };
    }

    /// Scans a tile of the front, which the prefix takes in, and gives what it comes to.
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
        self.scan.take_in(prefix, fold);
        fold
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

    /// What precedes a tile, before which the front ends; `None` if the leader has panicked, or
    /// doesn't get on.
    fn before(&self, end: usize) -> Option<Prefix<A>> {
        let mut prefix = self.before.clone();
        let first = if const { through::<I::Format, A, O>() } { end - 1 } else { 0 };
        for slot in &self.folds[first..end] {
            self.scan.take_in(&mut prefix, slot.within(tuning::FRONT_WAIT)?);
        }
        Some(prefix)
    }
}

/// What the leader has in hand.
struct Leader<'s, 'a, A> {
    /// What precedes its next tile.
    prefix: MutexGuard<'s, &'a mut Prefix<A>>,
    /// The middle that it has passed, and what precedes that.
    middle: Option<(Range<usize>, Prefix<A>)>,
}

impl<'s, 'a, A> Leader<'s, 'a, A> {
    fn new(prefix: &'s Mutex<&'a mut Prefix<A>>) -> Self {
        Self { prefix: prefix.lock().unwrap_or_else(PoisonError::into_inner), middle: None }
    }
}

/// What the leader does next.
#[derive(Debug, PartialEq, Eq)]
enum Next {
    /// Scans a tile that the other thread may want to know of.
    Front(usize),
    /// Takes in the folds of the middle, and goes on behind it.
    Middle(Range<usize>),
    /// Scans the tiles behind the middle.
    Rear(Range<usize>),
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

    /// Goes on, behind the middle to the end; nothing else changes once there is a middle.
    fn next(&self, tiles: usize) -> Next {
        let Places { next, middle: (start, end) } =
            Places::of(self.0.fetch_add(1, Ordering::Relaxed));
        if start < end && next == start {
            self.0.store(Places { next: end, middle: (start, end) }.packed(), Ordering::Relaxed);
            Next::Middle(start..end)
        } else if next >= tiles {
            Next::End
        } else if start < end && next >= end {
            self.0.store(Places { next: tiles, middle: (start, end) }.packed(), Ordering::Relaxed);
            Next::Rear(next..tiles)
        } else {
            Next::Front(next)
        }
    }

    /// Takes the middle: what it was in the call before too, if that can be, so that each core
    /// finds its tiles in its cache.
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
    use super::super::trial::{elements, scanned};
    use super::*;
    use kogge_core::Order;
    use kogge_core::ops::Sum;
    use std::fmt::Debug;

    type Tiles<'a, A, O> = Scan<'a, Direct<A, false>, A, O>;

    /// When the other thread does its part.
    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Other {
        /// Folds at once, and scans before the leader goes on behind the front.
        Soon,
        /// Folds at once, and wants to scan when the leader has done that.
        Late,
        /// Takes the middle, and does nothing else before the leader is done.
        Last,
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
        let mut stage = scan.stage();
        // SAFETY: tests give slices of their own.
        unsafe {
            let mut leader = Leader::new(&shared.prefix);
            (0..done).for_each(|_| assert!(shared.lead_on(&mut leader, &mut stage)));
            let middle = shared.ahead.split(scan.tiles());
            assert!(middle.start >= done, "not the leader's");
            if other != Other::Last {
                shared.fold_all(middle.clone(), &mut stage);
            }
            if other == Other::Soon {
                (done..middle.start).for_each(|_| assert!(shared.lead_on(&mut leader, &mut stage)));
                shared.follow(middle.clone(), &mut stage);
            }
            while shared.lead_on(&mut leader, &mut stage) {}
            if other == Other::Last {
                shared.fold_all(middle.clone(), &mut stage);
            }
            if other != Other::Soon {
                shared.follow(middle, &mut stage);
            }
        }
    }

    fn check<A: Element + PartialEq + Debug>(tiles: usize, element: impl Fn(usize) -> A)
    where
        Sum: Operator<A>,
    {
        let (elements, want) = elements(tiles, element);
        for in_place in [false, true] {
            for other in [Other::Soon, Other::Late, Other::Last] {
                for done in 0..=tiles {
                    let got = scanned(&elements, in_place, |scan, prefix| {
                        in_turn(scan, prefix, in_place, done, other);
                    });
                    assert!(got == want, "{tiles} tiles, {in_place}, {done} before, {other:?}");
                }
            }
            let got = scanned(&elements, in_place, |scan, prefix| {
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
            check(tiles, |i| (i % 7) as f32 * 0.1 - 0.25);
            check(tiles, |i| i as i64 % 1000 - 300);
        }
    }

    /// Two threads that exist, so that one does what it likes while the other does something else.
    #[test]
    #[cfg_attr(miri, ignore = "tiles of thousands; `threads.rs` has smaller ones")]
    fn both_at_once() {
        for n in 0..400 {
            let (in_place, tiles) = (n % 2 == 1, 3 + n % 14);
            at_once(tiles, in_place, |i| i as i64 % 1000 - 300);
            at_once(tiles, in_place, |i| (i % 7) as f64 * 0.1 - 0.25);
        }
    }

    fn at_once<A: Element + PartialEq + Debug>(
        tiles: usize,
        in_place: bool,
        element: impl Fn(usize) -> A,
    ) where
        Sum: Operator<A>,
    {
        let (elements, want) = elements(tiles, element);
        let got = scanned(&elements, in_place, |scan, prefix| {
            let before = prefix.clone();
            let shared = Shared::new(scan, &before, prefix, in_place);
            std::thread::scope(|scope| {
                // SAFETY: the test's own slices.
                scope.spawn(|| unsafe { shared.work() });
                // SAFETY: as above.
                unsafe { shared.work() };
            });
        });
        assert!(got == want, "{tiles} tiles, {in_place}");
    }

    #[test]
    fn a_leader_that_panicked_is_not_waited_for() {
        let elements = vec![1.0f32; 6 * Order::of::<f32>().tile()];
        for in_place in [false, true] {
            let (values, _) = scanned(&elements, in_place, |scan, prefix| {
                let before = prefix.clone();
                let shared = Shared::new(scan, &before, prefix, in_place);
                let Next::Front(tile) = shared.ahead.next(scan.tiles()) else { panic!("no tile") };
                drop(Owed(&shared.folds[tile]));
                let (middle, mut stage) = (shared.ahead.split(scan.tiles()), scan.stage());
                assert!(!middle.is_empty());
                // SAFETY: the test's own slices.
                unsafe {
                    shared.fold_all(middle.clone(), &mut stage);
                    shared.follow(middle, &mut stage);
                }
            });
            assert!(values == elements, "nothing is scanned");
        }
    }

    /// Its operator may wait for what the other thread would do.
    #[test]
    #[cfg_attr(miri, ignore = "tiles of thousands; `threads.rs` has smaller ones")]
    fn a_leader_that_does_not_get_on_is_left_alone() {
        let (elements, want) = elements(9, |i| (i % 7) as f32 * 0.1 - 0.25);
        for in_place in [false, true] {
            let got = scanned(&elements, in_place, |scan, prefix| {
                let before = prefix.clone();
                let shared = Shared::new(scan, &before, prefix, in_place);
                let (middle, mut stage) = (shared.ahead.split(scan.tiles()), scan.stage());
                let mut leader = Leader::new(&shared.prefix);
                // SAFETY: the test's own slices.
                unsafe {
                    shared.fold_all(middle.clone(), &mut stage);
                    shared.follow(middle, &mut stage);
                    while shared.lead_on(&mut leader, &mut stage) {}
                }
            });
            assert!(got == want, "{in_place}");
        }
    }

    #[test]
    fn the_other_has_the_same_tiles_unless_it_comes_late() {
        let ahead = Ahead::of(17);
        assert_eq!((ahead.next(17), ahead.next(17)), (Next::Front(0), Next::Front(1)));
        assert_eq!((tuning::middle(17), ahead.split(17)), (4..11, 4..11));
        assert_eq!((ahead.next(17), ahead.next(17)), (Next::Front(2), Next::Front(3)));
        assert_eq!((ahead.next(17), ahead.next(17)), (Next::Middle(4..11), Next::Rear(11..17)));
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
