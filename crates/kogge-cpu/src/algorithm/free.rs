//! Operators that take operands in any order: vectors scanned where they lie.
//!
//! Sums of integers have the bits of the fixed order whatever the order, so nothing need be
//! transposed. A vector of N elements is scanned in log₂ N steps, each of which combines it with
//! itself moved up, the identity coming in; its total, throughout a vector, is combined with what
//! precedes it. Vectors depend on each other by that one operation alone.
//!
//! A fold is one operation a vector: lane by lane, in the order of no sequence.

use super::format::Format;
use super::rows::PREFETCH;
use crate::arch::Ordered;
use crate::arch::stream::{LINE, ROW, prefetch_row};
use kogge_core::{Element, Kind, Operator};
use std::mem::MaybeUninit;

/// Vectors whose folds are kept apart, to hide the latency of an operation.
const CHAINS: usize = 4;

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
    /// As many elements to be folded beside.
    pub ahead: Option<*const A>,
    /// Whether values go past the caches.
    pub stream: bool,
}

/// Scans elements. Gives the fold of all so far, what precedes them included, and the fold of those
/// ahead.
///
/// # Safety
///
/// [`free`] must hold; the elements must be readable at `from` and `ahead` and writable at `to`; the
/// CPU features of `P` must be present.
#[inline(always)]
pub(super) unsafe fn scan<P: Ordered, A: Element, O: Operator<A>>(
    operator: &O,
    kind: Kind,
    run: Run<A>,
) -> (A, Option<A>) {
    // SAFETY: passed on.
    unsafe {
        match kind {
            Kind::Inclusive => scan_kind::<P, A, O, false>(operator, run),
            Kind::Exclusive => scan_kind::<P, A, O, true>(operator, run),
        }
    }
}

/// # Safety
///
/// As for [`scan`].
#[inline(always)]
unsafe fn scan_kind<P: Ordered, A: Element, O: Operator<A>, const EXCLUSIVE: bool>(
    operator: &O,
    run: Run<A>,
) -> (A, Option<A>) {
    // SAFETY: passed on; the size of `A` is what the arm says.
    unsafe {
        match const { size_of::<A>() } {
            1 => scan_size::<P, A, O, 1, EXCLUSIVE>(operator, run),
            2 => scan_size::<P, A, O, 2, EXCLUSIVE>(operator, run),
            4 => scan_size::<P, A, O, 4, EXCLUSIVE>(operator, run),
            _ => scan_size::<P, A, O, 8, EXCLUSIVE>(operator, run),
        }
    }
}

/// # Safety
///
/// As for [`scan`]; `S` is the size of `A`.
#[cfg_attr(not(debug_assertions), inline(always))]
unsafe fn scan_size<P, A, O, const S: usize, const EXCLUSIVE: bool>(
    operator: &O,
    run: Run<A>,
) -> (A, Option<A>)
where
    P: Ordered,
    A: Element,
    O: Operator<A>,
{
    let through = run.before.unwrap_or(operator.identity());
    let mut scanning = Scanning::<A, O, S, EXCLUSIVE> {
        operator,
        from: run.from,
        to: run.to,
        left: run.len,
        through,
    };
    let mut ahead = run.ahead.map(|next| Ahead { next, left: run.len, fold: operator.identity() });
    // Elements that straddle lines, as loosely aligned ones may, are never streamed.
    let stream = run.stream && run.to.addr().is_multiple_of(S);
    // SAFETY: by contract; streams begin on a line.
    unsafe {
        if P::BYTES > 0 && stream {
            scanning.one_by_one(to_line(run.to).min(run.len));
            scanning.vectors::<P, true>(&mut ahead);
        } else if P::BYTES > 0 {
            scanning.vectors::<P, false>(&mut ahead);
        }
        scanning.one_by_one(scanning.left);
        let ahead = ahead.map(|ahead| {
            let rest = reduce::<P, A, O>(operator, ahead.next, ahead.left);
            operator.combine(ahead.fold, rest)
        });
        (scanning.through, ahead)
    }
}

/// Elements until the next cache line.
fn to_line<A>(to: *const A) -> usize {
    (to.addr().wrapping_neg() % LINE) / size_of::<A>()
}

/// Elements being scanned.
struct Scanning<'a, A, O, const S: usize, const EXCLUSIVE: bool> {
    operator: &'a O,
    /// The next element.
    from: *const A,
    /// Where its value goes.
    to: *mut A,
    /// Elements to be scanned.
    left: usize,
    /// The fold of all before.
    through: A,
}

impl<A: Element, O: Operator<A>, const S: usize, const EXCLUSIVE: bool>
    Scanning<'_, A, O, S, EXCLUSIVE>
{
    /// Scans some elements one by one.
    ///
    /// # Safety
    ///
    /// There must be so many.
    #[inline(always)]
    unsafe fn one_by_one(&mut self, count: usize) {
        for i in 0..count {
            // SAFETY: the element is read before its value is written.
            unsafe {
                let through = self.operator.combine(self.through, *self.from.add(i));
                *self.to.add(i) = if EXCLUSIVE { self.through } else { through };
                self.through = through;
            }
        }
        self.moved(count);
    }

    /// Moves on by some elements.
    #[inline(always)]
    fn moved(&mut self, count: usize) {
        self.from = self.from.wrapping_add(count);
        self.to = self.to.wrapping_add(count);
        self.left -= count;
    }

    /// Scans all full vectors, a row of those ahead folded beside each row.
    ///
    /// # Safety
    ///
    /// As for [`scan`]; `to` must be aligned to a cache line if `STREAM`.
    #[inline(always)]
    unsafe fn vectors<P: Ordered, const STREAM: bool>(&mut self, ahead: &mut Option<Ahead<A>>) {
        // SAFETY: while so many elements are left; alignment and features by contract.
        unsafe {
            let mut state = State::<P>::new(self.operator, self.through);
            let mut sums = [state.nothing; CHAINS];
            while self.left >= ROW / S {
                if let Some(ahead) = ahead {
                    ahead.row::<P, O>(self.operator, &mut sums);
                }
                for _ in 0..ROW / P::BYTES {
                    self.vector::<P, STREAM>(&mut state);
                }
            }
            while self.left >= P::BYTES / S {
                self.vector::<P, STREAM>(&mut state);
            }
            self.through = first::<P, A>(state.through);
            if let Some(ahead) = ahead {
                ahead.fold = fold_lanes::<P, A, O>(self.operator, sums);
            }
        }
    }

    /// Scans a vector.
    ///
    /// # Safety
    ///
    /// As for [`vectors`](Self::vectors), and there must be one.
    #[inline(always)]
    unsafe fn vector<P: Ordered, const STREAM: bool>(&mut self, state: &mut State<P>) {
        let operator = self.operator;
        // SAFETY: by contract.
        unsafe {
            let vector = P::load(self.from.cast());
            let scanned = scan_vector::<P, A, O, S>(operator, state.nothing, vector);
            let total = P::last::<S>(scanned);
            let inclusive = combine::<P, A, O>(operator, state.through, scanned);
            let value = if EXCLUSIVE { P::after::<S>(state.value, inclusive) } else { inclusive };
            state.through = combine::<P, A, O>(operator, state.through, total);
            state.value = inclusive;
            if STREAM {
                P::stream(value, self.to.cast());
            } else {
                P::store(value, self.to.cast());
            }
        }
        self.moved(P::BYTES / S);
    }
}

/// What is kept in registers from vector to vector.
struct State<P: Ordered> {
    /// The identity throughout.
    nothing: P::Vector,
    /// The fold of all before, throughout.
    through: P::Vector,
    /// The inclusive values of the vector before.
    value: P::Vector,
}

impl<P: Ordered> State<P> {
    /// # Safety
    ///
    /// The CPU features of `P` must be present.
    #[inline(always)]
    unsafe fn new<A: Element, O: Operator<A>>(operator: &O, through: A) -> Self {
        let through = splat::<P, A>(through);
        Self { nothing: splat::<P, A>(operator.identity()), through, value: through }
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
    /// Takes the next row into sums.
    ///
    /// # Safety
    ///
    /// There must be one, and the CPU features of `P`.
    #[inline(always)]
    unsafe fn row<P: Ordered, O: Operator<A>>(
        &mut self,
        operator: &O,
        sums: &mut [P::Vector; CHAINS],
    ) {
        prefetch_row(self.next.cast::<u8>().wrapping_add(PREFETCH));
        // SAFETY: passed on.
        unsafe {
            take_row::<P, A, O>(operator, self.next, sums);
            self.next = self.next.add(ROW / size_of::<A>());
        }
        self.left -= ROW / size_of::<A>();
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
                take_row::<P, A, O>(operator, from.add(done), &mut sums);
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

/// Takes a row into sums, lane by lane.
///
/// # Safety
///
/// The row must be readable, and the CPU features of `P` present.
#[inline(always)]
unsafe fn take_row<P: Ordered, A: Element, O: Operator<A>>(
    operator: &O,
    row: *const A,
    sums: &mut [P::Vector; CHAINS],
) {
    for i in 0..ROW / P::BYTES {
        // SAFETY: within the row; features by contract.
        unsafe {
            let vector = P::load(row.cast::<u8>().add(i * P::BYTES));
            sums[i % CHAINS] = combine::<P, A, O>(operator, sums[i % CHAINS], vector);
        }
    }
}

/// The inclusive scan of a vector; `nothing` is the identity throughout.
///
/// # Safety
///
/// `S` must be the size of `A`, and the CPU features of `P` present.
#[inline(always)]
unsafe fn scan_vector<P: Ordered, A: Element, O: Operator<A>, const S: usize>(
    operator: &O,
    nothing: P::Vector,
    mut vector: P::Vector,
) -> P::Vector {
    // SAFETY: by contract.
    unsafe {
        if S <= 1 {
            vector = combine::<P, A, O>(operator, P::up::<1>(nothing, vector), vector);
        }
        if S <= 2 {
            vector = combine::<P, A, O>(operator, P::up::<2>(nothing, vector), vector);
        }
        if S <= 4 {
            vector = combine::<P, A, O>(operator, P::up::<4>(nothing, vector), vector);
        }
        vector = combine::<P, A, O>(operator, P::up::<8>(nothing, vector), vector);
        if P::BYTES > 16 {
            vector = combine::<P, A, O>(operator, P::across::<S>(nothing, vector), vector);
        }
        vector
    }
}

/// `left ∘ right`, lane by lane.
///
/// # Safety
///
/// The CPU features of `P` must be present, and `A` be a divisor of a vector in size.
#[inline(always)]
unsafe fn combine<P: Ordered, A: Element, O: Operator<A>>(
    operator: &O,
    left: P::Vector,
    right: P::Vector,
) -> P::Vector {
    // SAFETY: features by contract; vectors are plain bytes, all of which are written.
    unsafe {
        let (left, right) = (P::opaque(left), P::opaque(right));
        let mut combined = MaybeUninit::<P::Vector>::uninit();
        for lane in 0..P::BYTES / size_of::<A>() {
            let left = (&raw const left).cast::<A>().add(lane).read_unaligned();
            let right = (&raw const right).cast::<A>().add(lane).read_unaligned();
            let value = operator.combine(left, right);
            combined.as_mut_ptr().cast::<A>().add(lane).write_unaligned(value);
        }
        P::opaque(combined.assume_init())
    }
}

/// The accumulator in every lane.
#[inline(always)]
fn splat<P: Ordered, A: Element>(value: A) -> P::Vector {
    let mut vector = MaybeUninit::<P::Vector>::uninit();
    for lane in 0..P::BYTES / size_of::<A>() {
        // SAFETY: a lane of the vector.
        unsafe { vector.as_mut_ptr().cast::<A>().add(lane).write_unaligned(value) };
    }
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
