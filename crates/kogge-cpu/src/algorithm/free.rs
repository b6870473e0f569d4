//! Operators that take operands in any order: vectors scanned where they lie.
//!
//! Sums of integers have the bits of the fixed order whatever the order, so nothing need be
//! transposed. A vector of N elements is scanned in log₂ N steps, each of which combines it with
//! itself moved up, the identity coming in; its total, throughout a vector, is combined with what
//! precedes it. Vectors depend on each other by that one operation alone. (By AVX2, whose vectors
//! have two 16-byte lanes, [what precedes each lane](Lanes) is carried instead of the last step.)
//!
//! A fold is one operation a vector: lane by lane, in the order of no sequence.

mod lanes;

use super::asking::Asking;
use super::exact;
use super::format::Format;
use super::tile::Beside;
use crate::arch::stream::{LINE, ROW, fetch_end, fetches_output, prefetch_row};
use crate::arch::{Cpu, Ordered, Vectors};
use crate::array::for_each;
use kogge_core::{Element, Kind, Operator};
use lanes::Lanes;
use std::mem::MaybeUninit;

/// Vectors whose folds are kept apart, to hide the latency of an operation.
const CHAINS: usize = 4;

/// Parts of a row, each scanned after as much has been folded beside.
const PARTS: usize = 4;

/// Whether elements in this format are scanned like this.
pub(super) const fn free<F: Format, A: Element, O: Operator<A>>() -> bool {
    let words = F::PACKED == 0 && matches!(size_of::<A>(), 1 | 2 | 4 | 8);
    words && O::COMMUTATIVE && O::EXACT && !O::COMPACT
}

/// Elements to be scanned.
#[derive(Clone, Copy)]
pub(super) struct Run<A> {
    /// The first element.
    pub from: *const A,
    /// The first value; `from`, or not overlapping it.
    pub to: *mut A,
    /// How many.
    pub len: usize,
    /// What precedes them.
    pub before: Option<A>,
    /// What is done beside; where others are folded, as many elements.
    pub beside: Beside<*const A>,
    /// Whether values go past the caches.
    pub stream: bool,
}

/// Scans elements, by vectors of `P`, or of `H` where there are too few or [halves are
/// faster](prefers_halves). Gives the fold of all so far, what precedes them included, and the fold
/// of those ahead.
///
/// # Safety
///
/// [`free`] must hold; the elements must be readable at `from`, and where others are folded, and
/// writable at `to`, and there be one; the CPU features of `P` and `H` must be present.
#[inline(always)]
pub(super) unsafe fn scan<P: Ordered, H: Ordered, A: Element, O: Operator<A>>(
    operator: &O,
    kind: Kind,
    run: Run<A>,
) -> (A, Option<A>) {
    // SAFETY: passed on; the size of `A` is what the arm says.
    unsafe {
        match const { size_of::<A>() } {
            1 => scan_kind::<P, H, A, O, 1>(operator, kind, run),
            2 => scan_kind::<P, H, A, O, 2>(operator, kind, run),
            4 => scan_kind::<P, H, A, O, 4>(operator, kind, run),
            _ => scan_kind::<P, H, A, O, 8>(operator, kind, run),
        }
    }
}

/// An exclusive scan is an inclusive one of all but the last element, a place further on.
///
/// # Safety
///
/// As for [`scan`]; `S` is the size of `A`.
#[inline(always)]
unsafe fn scan_kind<P: Ordered, H: Ordered, A: Element, O: Operator<A>, const S: usize>(
    operator: &O,
    kind: Kind,
    run: Run<A>,
) -> (A, Option<A>) {
    let before = run.before.unwrap_or(operator.identity());
    let exclusive = usize::from(kind == Kind::Exclusive);
    let (to, left) = (run.to.wrapping_add(exclusive), run.len - exclusive);
    // SAFETY: there is a last element, read before anything is written, and a first value, written
    // after everything has been read.
    unsafe {
        if P::BYTES == 0 {
            return one_by_one(operator, kind, run, before);
        }
        let last = *run.from.add(run.len - 1);
        let scanning = Scanning::<A, O, S> {
            operator,
            from: run.from,
            first: None,
            to,
            left,
            through: before,
            fetch: run.from != run.to && fetches_output() && !matches!(run.beside, Beside::Nothing),
        };
        let (mut through, ahead) = scanning.run::<P, H>(run);
        if kind == Kind::Exclusive {
            *run.to = before;
            through = operator.combine(through, last);
        }
        (through, ahead)
    }
}

/// Where there are no vectors.
///
/// # Safety
///
/// As for [`scan`].
#[inline(always)]
unsafe fn one_by_one<A: Element, O: Operator<A>>(
    operator: &O,
    kind: Kind,
    run: Run<A>,
    mut through: A,
) -> (A, Option<A>) {
    // SAFETY: element `i` is read before value `i` is written.
    unsafe {
        for i in 0..run.len {
            let before = through;
            through = operator.combine(before, *run.from.add(i));
            *run.to.add(i) = if kind == Kind::Exclusive { before } else { through };
        }
        let ahead =
            run.beside.folded().map(|ahead| exact::reduce_one_by_one(operator, ahead, run.len));
        (through, ahead)
    }
}

/// Whether vectors of half the width are faster, unless values go past the caches.
///
/// (A Zen 4 does twice as many shuffles of these in a cycle. Sums in cache, one thread: `u8` 3 to 7
/// % faster, `i16` 8 to 13, `i32` 10 to 17, `i64` 15 to 20.)
#[inline]
fn prefers_halves() -> bool {
    Cpu::detect() == Cpu::Zen4
}

/// Elements until the next cache line.
fn to_line<A>(to: *const A) -> usize {
    (to.addr().wrapping_neg() % LINE) / size_of::<A>()
}

/// Elements being scanned. Values may be written a place further on than their elements lie, so
/// whatever comes next is read before a value is written.
struct Scanning<'a, A, O, const S: usize> {
    operator: &'a O,
    /// The next element.
    from: *const A,
    /// The next element, if a value has been written over it.
    first: Option<A>,
    /// Where its value goes.
    to: *mut A,
    /// Elements to be scanned.
    left: usize,
    /// The fold of all before.
    through: A,
    /// Whether lines are fetched before they are written: where elements too come from beyond L2.
    fetch: bool,
}

impl<A: Element, O: Operator<A>, const S: usize> Scanning<'_, A, O, S> {
    /// Scans all, and folds those ahead.
    ///
    /// # Safety
    ///
    /// As for [`scan`].
    #[cfg_attr(not(debug_assertions), inline(always))]
    unsafe fn run<P: Ordered, H: Ordered>(mut self, run: Run<A>) -> (A, Option<A>) {
        let nothing = self.operator.identity();
        let ahead = |next| Ahead { next, left: run.len, fold: nothing };
        let mut beside = (Asking::of(self.from, run.beside), run.beside.folded().map(ahead));
        // Elements that straddle lines, as loosely aligned ones may, are never streamed.
        let stream = run.stream && self.to.addr().is_multiple_of(S);
        // SAFETY: by contract; streams begin on a line. What is streamed isn't in place, so the
        // elements behind those that go one by one are as they were.
        unsafe {
            if stream {
                fetch_end(self.to.wrapping_add(self.left).cast());
                self.one_by_one(to_line(self.to).min(self.left));
                self.first = None;
                self.vectors::<P, true>(&mut beside);
            } else if const { P::BYTES == H::BYTES }
                || (self.left >= P::BYTES / S && !prefers_halves())
            {
                self.vectors::<P, false>(&mut beside);
            } else {
                self.vectors::<H, false>(&mut beside);
            }
            self.one_by_one(self.left);
            let ahead = beside.1.map(|ahead| {
                let rest = reduce::<P, A, O>(self.operator, ahead.next, ahead.left);
                self.operator.combine(ahead.fold, rest)
            });
            (self.through, ahead)
        }
    }

    /// Scans some elements one by one.
    ///
    /// # Safety
    ///
    /// There must be so many.
    #[inline(always)]
    unsafe fn one_by_one(&mut self, count: usize) {
        for _ in 0..count {
            // SAFETY: there is an element, and another one if more than one are left.
            unsafe {
                let element = self.first.unwrap_or_else(|| *self.from);
                self.first = (self.left > 1).then(|| *self.from.add(1));
                self.through = self.operator.combine(self.through, element);
                *self.to = self.through;
            }
            self.moved(1);
        }
    }

    /// Moves on by some elements.
    #[inline(always)]
    fn moved(&mut self, count: usize) {
        self.from = self.from.wrapping_add(count);
        self.to = self.to.wrapping_add(count);
        self.left -= count;
    }

    /// Scans all vectors, a row of those ahead folded beside each row: full ones, and unless values
    /// are streamed what is left too, if it follows a full one.
    ///
    /// # Safety
    ///
    /// As for [`scan`]; `to` must be aligned to a cache line if `STREAM`, and `first` be `None`.
    #[inline(always)]
    unsafe fn vectors<P: Ordered, const STREAM: bool>(
        &mut self,
        (asking, ahead): &mut (Asking, Option<Ahead<A>>),
    ) {
        let width = P::BYTES / S;
        if self.left < width {
            return;
        }
        let operator = self.operator;
        let nothing = splat::<P, A>(operator.identity());
        let mut sums = [nothing; CHAINS];
        // SAFETY: while so many elements are left; alignment and features by contract. What is left
        // after full vectors is read before the last of them may be written over it.
        unsafe {
            let mut lanes =
                Lanes::<P>::scan::<A, O, S>(operator, nothing, P::load(self.from.cast()));
            let mut before = lanes.enter(operator, nothing, splat::<P, A>(self.through));
            while self.left >= ROW / S + width {
                asking.row();
                if !STREAM && self.fetch {
                    prefetch_row(self.to.cast::<u8>().wrapping_add(ROW));
                }
                for _ in 0..PARTS {
                    if let Some(ahead) = ahead {
                        ahead.part::<P, O>(operator, &mut sums);
                    }
                    for _ in 0..ROW / P::BYTES / PARTS {
                        self.vector::<P, STREAM>(nothing, &mut before, &mut lanes);
                    }
                }
            }
            while self.left >= 2 * width {
                self.vector::<P, STREAM>(nothing, &mut before, &mut lanes);
            }
            let end = P::load(self.from.add(self.left - width).cast());
            self.put::<P, STREAM>(combine::<P, A, O>(operator, before, lanes.scanned));
            let mut through = lanes.leave::<A, O, S>(operator, before);
            if !STREAM && self.left > 0 {
                through = self.end::<P>(nothing, through, end);
            }
            self.through = first::<P, A>(through);
            if let Some(ahead) = ahead {
                ahead.fold = fold_lanes::<P, A, O>(operator, sums);
            }
        }
    }

    /// Scans what is left, which ends where the vector ends, behind values that have been written;
    /// gives the fold of all, throughout a vector.
    ///
    /// # Safety
    ///
    /// As for [`vectors`](Self::vectors); less than a vector must be left, and behind a full one.
    #[inline(always)]
    unsafe fn end<P: Ordered>(
        &mut self,
        nothing: P::Vector,
        through: P::Vector,
        vector: P::Vector,
    ) -> P::Vector {
        let (operator, bytes) = (self.operator, self.left * S);
        // SAFETY: by contract; the vector of values that ends with the last one begins with some of
        // before.
        unsafe {
            let vector = P::with_end(nothing, vector, bytes);
            let lanes = Lanes::<P>::scan::<A, O, S>(operator, nothing, vector);
            let before = lanes.enter(operator, nothing, through);
            let values = combine::<P, A, O>(operator, before, lanes.scanned);
            let to = self.to.cast::<u8>().add(bytes).sub(P::BYTES);
            P::store(P::with_end(P::load(to), values, bytes), to);
            self.moved(self.left);
            lanes.leave::<A, O, S>(operator, before)
        }
    }

    /// Scans a vector, given its lanes and what precedes each; they become those of the next one.
    ///
    /// # Safety
    ///
    /// As for [`vectors`](Self::vectors); there must be a full vector after this one.
    #[inline(always)]
    unsafe fn vector<P: Ordered, const STREAM: bool>(
        &mut self,
        nothing: P::Vector,
        before: &mut P::Vector,
        lanes: &mut Lanes<P>,
    ) {
        let operator = self.operator;
        // SAFETY: by contract; the next vector is read before values may be written over it.
        unsafe {
            let next = P::load(self.from.add(P::BYTES / S).cast());
            let next = Lanes::scan::<A, O, S>(operator, nothing, next);
            self.put::<P, STREAM>(combine::<P, A, O>(operator, *before, lanes.scanned));
            *before = lanes.go_on(operator, *before, &next);
            *lanes = next;
        }
    }

    /// Writes the values of a vector.
    ///
    /// # Safety
    ///
    /// As for [`vectors`](Self::vectors), and there must be so many.
    #[inline(always)]
    unsafe fn put<P: Ordered, const STREAM: bool>(&mut self, values: P::Vector) {
        // SAFETY: by contract.
        unsafe {
            if STREAM {
                P::stream(values, self.to.cast());
            } else {
                P::store(values, self.to.cast());
            }
        }
        self.moved(P::BYTES / S);
    }
}

/// Elements being folded beside the scan.
struct Ahead<A> {
    next: *const A,
    left: usize,
    /// The fold of those before.
    fold: A,
}

impl<A: Element> Ahead<A> {
    /// Takes the next part of a row into sums.
    ///
    /// # Safety
    ///
    /// There must be one, and the CPU features of `P`.
    #[inline(always)]
    unsafe fn part<P: Ordered, O: Operator<A>>(
        &mut self,
        operator: &O,
        sums: &mut [P::Vector; CHAINS],
    ) {
        // SAFETY: passed on.
        unsafe {
            take_part::<P, A, O, PARTS>(operator, self.next, sums);
            self.next = self.next.add(ROW / PARTS / size_of::<A>());
        }
        self.left -= ROW / PARTS / size_of::<A>();
    }
}

/// The fold of elements.
///
/// # Safety
///
/// As for [`scan`], without the writing.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) unsafe fn reduce<P: Ordered, A: Element, O: Operator<A>>(
    operator: &O,
    from: *const A,
    len: usize,
) -> A {
    let mut fold = operator.identity();
    let mut done = 0;
    // SAFETY: rows and what follows them are within the elements.
    unsafe {
        if P::BYTES > 0 {
            let mut sums = [splat::<P, A>(fold); CHAINS];
            while len - done >= ROW / size_of::<A>() {
                take_part::<P, A, O, 1>(operator, from.add(done), &mut sums);
                done += ROW / size_of::<A>();
            }
            fold = fold_lanes::<P, A, O>(operator, sums);
        }
        for i in done..len {
            fold = operator.combine(fold, *from.add(i));
        }
        fold
    }
}

/// Takes one of so many parts of a row into sums, lane by lane.
///
/// # Safety
///
/// The part must be readable, and the CPU features of `P` present.
#[inline(always)]
unsafe fn take_part<P: Ordered, A: Element, O: Operator<A>, const PARTS: usize>(
    operator: &O,
    part: *const A,
    sums: &mut [P::Vector; CHAINS],
) {
    for_each!(0..ROW / PARTS / P::BYTES, |i| {
        // SAFETY: within the part; features by contract.
        unsafe {
            let vector = P::load(part.cast::<u8>().add(i * P::BYTES));
            sums[i % CHAINS] = combine::<P, A, O>(operator, sums[i % CHAINS], vector);
        }
    });
}

/// `left ∘ right`, lane by lane.
///
/// # Safety
///
/// The CPU features of `P` must be present, and `A` be a divisor of a vector in size.
#[inline(always)]
pub(super) unsafe fn combine<P: Vectors, A: Element, O: Operator<A>>(
    operator: &O,
    left: P::Vector,
    right: P::Vector,
) -> P::Vector {
    // SAFETY: passed on.
    unsafe { combine_opaque::<P, A, O>(operator, P::opaque(left), P::opaque(right)) }
}

/// The same of vectors that are [opaque](Vectors::opaque) already: one that is used after, too, is
/// copied otherwise.
///
/// # Safety
///
/// As for [`combine`].
#[inline(always)]
pub(super) unsafe fn combine_opaque<P: Vectors, A: Element, O: Operator<A>>(
    operator: &O,
    left: P::Vector,
    right: P::Vector,
) -> P::Vector {
    // SAFETY: features by contract; vectors are plain bytes, all of which are written.
    unsafe {
        let mut combined = MaybeUninit::<P::Vector>::uninit();
        for_each!(0..P::BYTES / size_of::<A>(), |lane| {
            let left = (&raw const left).cast::<A>().add(lane).read_unaligned();
            let right = (&raw const right).cast::<A>().add(lane).read_unaligned();
            let value = operator.combine(left, right);
            combined.as_mut_ptr().cast::<A>().add(lane).write_unaligned(value);
        });
        P::opaque(combined.assume_init())
    }
}

/// The accumulator in every lane.
#[inline(always)]
pub(super) fn splat<P: Vectors, A: Element>(value: A) -> P::Vector {
    let mut vector = MaybeUninit::<P::Vector>::uninit();
    for_each!(0..P::BYTES / size_of::<A>(), |lane| {
        // SAFETY: a lane of the vector.
        unsafe { vector.as_mut_ptr().cast::<A>().add(lane).write_unaligned(value) };
    });
    // SAFETY: all lanes were written, of a plain array of bytes.
    unsafe { vector.assume_init() }
}

/// The accumulator in the first lane.
///
/// # Safety
///
/// A vector must have room for one.
#[inline(always)]
unsafe fn first<P: Ordered, A: Element>(vector: P::Vector) -> A {
    // SAFETY: by contract; any bits are an `A`.
    unsafe { (&raw const vector).cast::<A>().read_unaligned() }
}

/// The fold of all lanes of sums.
///
/// # Safety
///
/// As for [`combine`].
#[inline(always)]
unsafe fn fold_lanes<P: Ordered, A: Element, O: Operator<A>>(
    operator: &O,
    sums: [P::Vector; CHAINS],
) -> A {
    // SAFETY: passed on; lanes of a vector.
    unsafe {
        let sum =
            sums[1..].iter().fold(sums[0], |sum, &next| combine::<P, A, O>(operator, sum, next));
        let lane = |lane| (&raw const sum).cast::<A>().add(lane).read_unaligned();
        (1..P::BYTES / size_of::<A>()).fold(lane(0), |fold, i| operator.combine(fold, lane(i)))
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
