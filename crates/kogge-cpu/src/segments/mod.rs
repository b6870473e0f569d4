//! Scans of many segments that lie one after another, each with the bits of a scan of its own.
//!
//! Threads share out the elements, not the segments: a piece of the elements brings with it the
//! segments that start there. Whoever has a piece goes on to the end of its last segment, unless
//! that is far away; such long segments are left for later and scanned by all threads, one after
//! another. So a million short segments and a single long one both keep every thread busy.
//!
//! Short segments go [many at once](crowd), or through one loop compiled for the SIMD level,
//! without a call each.

mod crowd;
mod headed;
mod plan;
mod short;
mod starts;

pub use plan::{SegmentPlan, plan_segments};
pub(crate) use starts::Even;
pub use starts::{
    Flags, Heads, Key, Keys, Listed, Marked, Offset, Offsets, Segments, Starts, by_heads, by_key,
    by_offsets,
};

use crate::algorithm::asking::Wanted;
use crate::algorithm::handover::many;
use crate::algorithm::{self, windows};
use crate::arch::stream::Fence;
use crate::arch::{Words, Work};
use crate::engine::{Request, scan_raw};
use crate::parts::{Parts, PerPart};
use crate::plan::{Machine, Plan, plan};
use crate::pool::Call;
use crate::{Cpu, pool, tuning};
use kogge_core::{Accumulate, Element, Error, Operator, Order};
use short::{BATCH, Batches};
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Elements of an even segment up to which exact operators scan it with others, lane by lane.
const FEW_WORDS: usize = 8;

/// Scans each segment of `input` into the same places of `output`.
///
/// O(n) work, one pass over the data; counting the segments of flags or keys, which only initial
/// values and totals need, is a second pass over these alone.
///
/// # Errors
///
/// If lengths or numbers of segments don't match, or offsets aren't in order. Nothing is written
/// then.
///
/// ```
/// use kogge_core::ops::Sum;
/// use kogge_cpu::{PerPart, Request, by_key, scan_segments_into};
///
/// let (data, mut sums) = ([1, 2, 3, 4], [0; 4]);
/// let (request, per) = (Request::<_, i32>::new(&Sum), PerPart::default());
/// scan_segments_into(&request, &by_key(b"abbb"), per, &data, &mut sums)?;
/// assert_eq!(sums, [1, 2, 5, 9]);
/// # Ok::<_, kogge_core::Error>(())
/// ```
pub fn scan_segments_into<T, U, A, O, S>(
    request: &Request<'_, O, A>,
    segments: &S,
    per: PerPart<'_, A>,
    input: &[T],
    output: &mut [U],
) -> Result<(), Error>
where
    T: Accumulate<A>,
    U: Accumulate<A>,
    A: Element,
    O: Operator<A>,
    S: Segments,
{
    Error::unless_equal(input.len(), output.len())?;
    let (from, to) = (input.as_ptr(), output.as_mut_ptr());
    // SAFETY: the slices are borrowed for the call, one of them exclusively, and as long as each
    // other.
    unsafe { scan_segments(request, segments, per, from, to, input.len(), false) }
}

/// Scans each segment of `data` in place.
///
/// # Errors
///
/// As for [`scan_segments_into`].
///
/// ```
/// use kogge_core::ops::Max;
/// use kogge_cpu::{PerPart, Request, by_heads, scan_segments_in_place};
///
/// let mut data = [3, 5, 4, 1, 2];
/// let days = by_heads(&[true, false, false, true, false]);
/// scan_segments_in_place(&Request::<_, i32>::new(&Max), &days, PerPart::default(), &mut data)?;
/// assert_eq!(data, [3, 5, 5, 1, 2]);
/// # Ok::<_, kogge_core::Error>(())
/// ```
pub fn scan_segments_in_place<T, A, O, S>(
    request: &Request<'_, O, A>,
    segments: &S,
    per: PerPart<'_, A>,
    data: &mut [T],
) -> Result<(), Error>
where
    T: Accumulate<A>,
    A: Element,
    O: Operator<A>,
    S: Segments,
{
    let to = data.as_mut_ptr();
    // SAFETY: the slice is borrowed exclusively for the call.
    unsafe { scan_segments(request, segments, per, to.cast_const(), to, data.len(), true) }
}

/// # Safety
///
/// `len` elements must be readable at `from` and writable at `to`, by this call alone; the two are
/// equal if `in_place`, else don't overlap.
pub(crate) unsafe fn scan_segments<T, U, A, O, S>(
    request: &Request<'_, O, A>,
    segments: &S,
    per: PerPart<'_, A>,
    from: *const T,
    to: *mut U,
    len: usize,
    in_place: bool,
) -> Result<(), Error>
where
    T: Accumulate<A>,
    U: Accumulate<A>,
    A: Element,
    O: Operator<A>,
    S: Segments,
{
    let even = segments.check()?;
    if segments.elements() != len {
        return Err(Error::SegmentsMismatch { segments: segments.elements(), input: len });
    }
    let problem = request.problem::<T, U>(len, in_place);
    let bytes = len.saturating_mul(size_of::<T>()) as u64;
    let planned = request.plan.is_some();
    let cpu = Cpu::detect();
    let least = tuning::awake_shared_bytes(cpu);
    let call = if planned { None } else { Call::begin_from(bytes, least) };
    let awake = call.as_ref().is_some_and(|call| call.awake);
    let plan = match request.plan {
        Some(plan) => SegmentPlan::from_plan(plan, &problem),
        None => {
            let machine = Machine::here(rayon::current_num_threads());
            plan_segments(&problem, Machine { awake, ..machine })
        }
    };
    let pieces = Pieces { len, size: plan.piece };
    let numbers = if per.is_some() { numbers(segments, &pieces, plan.threads) } else { vec![] };
    if let Some(&count) = numbers.last() {
        per.check(count, "segment(s)")?;
    }
    let parts = per.share(request.init);
    let wanted = Wanted::of(cpu, bytes, || segments.looked_at());
    let job = Job { request, from, to, len, in_place, parts, plan, awake, wanted };
    // SAFETY: the memory by contract; numbers were counted, so initial values and totals exist.
    unsafe { job.run(segments, even, &pieces, &numbers) };
    Ok(())
}

/// The elements, cut into pieces that threads take.
struct Pieces {
    len: usize,
    size: usize,
}

impl Pieces {
    /// How many there are; one of nothing, since empty segments may start at the end.
    fn count(&self) -> usize {
        self.len.div_ceil(self.size).max(1)
    }

    /// The places where segments of this piece start. The last takes those that start at the end.
    fn starts(&self, piece: usize) -> Range<usize> {
        let start = piece * self.size;
        start..if piece + 1 == self.count() { self.len + 1 } else { start + self.size }
    }
}

/// The number of the first segment of each piece, and of all segments at last.
fn numbers<S: Segments>(segments: &S, pieces: &Pieces, threads: usize) -> Vec<usize> {
    let bounds = (0..pieces.count()).map(|piece| pieces.starts(piece));
    if segments.before(0).is_some() {
        let ends = bounds.map(|bounds| bounds.end);
        let before = |place| segments.before(place).expect("offsets know");
        return std::iter::once(0).chain(ends.map(before)).collect();
    }
    let counts: Vec<AtomicUsize> = bounds.map(|_| AtomicUsize::new(0)).collect();
    let count = |piece: usize| {
        counts[piece].store(segments.count(pieces.starts(piece)), Ordering::Relaxed);
    };
    match pieces.count() {
        1 => count(0),
        n => pool::each(n, 1, threads, &count),
    }
    let mut through = 0;
    let running = counts.into_iter().map(|count| {
        through += count.into_inner();
        through
    });
    std::iter::once(0).chain(running).collect()
}

/// What all pieces have in common. The segments aren't among it, so that what is compiled for each
/// SIMD level is compiled once for all kinds of them.
struct Job<'a, 'b, T, U, A, O> {
    request: &'a Request<'b, O, A>,
    from: *const T,
    to: *mut U,
    len: usize,
    in_place: bool,
    parts: Parts<'a, A>,
    plan: SegmentPlan,
    /// Whether another thread is awake.
    awake: bool,
    wanted: Wanted,
}

// SAFETY: segments are distinct places with distinct numbers, and each is scanned by one call; the
// caller of `scan_segments` vouches for the memory.
unsafe impl<T: Element, U: Element, A: Element, O: Operator<A>> Sync for Job<'_, '_, T, U, A, O> {}

/// What became of a piece.
struct Done {
    /// Where its first segment starts.
    first: Option<usize>,
    /// Start and number of a segment that was left for later: its end is too far away.
    long: Option<(usize, usize)>,
}

impl<T, U, A, O> Job<'_, '_, T, U, A, O>
where
    T: Accumulate<A>,
    U: Accumulate<A>,
    A: Element,
    O: Operator<A>,
{
    /// # Safety
    ///
    /// `even` must be what [`Segments::check`] gave, and `numbers` that of the segments, or empty
    /// where neither initial values nor totals are wanted, of which there must be one per segment;
    /// the memory as for [`scan_segments`].
    unsafe fn run<S: Segments>(
        &self,
        segments: &S,
        even: Option<usize>,
        pieces: &Pieces,
        numbers: &[usize],
    ) {
        let crowded = self.crowded().filter(|&longest| even.is_none_or(|len| len <= longest));
        let headed = self.headed() && !(crowded.is_some() && even.is_some_and(|len| self.few(len)));
        let piece = |piece| {
            let number = numbers.get(piece).copied().unwrap_or(0);
            let sparse = self.sparse(segments, pieces.starts(piece), even.is_some());
            // SAFETY: passed on; where segments are crowded, they have nothing of their own.
            unsafe {
                // Types that never go one of these ways don't compile it.
                if const { algorithm::headed::headed::<A, O>() } && headed && !sparse {
                    return self.heads(segments, pieces.starts(piece));
                }
                if const { windows::longest::<T, A, O>().is_some() }
                    && let Some(longest) = crowded
                    && !sparse
                {
                    return match even {
                        Some(len) => self.crowd_alike(len, pieces.starts(piece)),
                        None => self.crowd(segments, pieces.starts(piece), longest),
                    };
                }
                self.piece(segments, pieces.starts(piece), number)
            }
        };
        if pieces.count() == 1 {
            piece(0);
            return;
        }
        let done = many(pieces.count(), OnceLock::new);
        pool::each(pieces.count(), 1, self.plan.threads, &|i| done[i].set(piece(i)).unwrap_or(()));
        let mut end = self.len;
        for done in done.iter().rev().filter_map(OnceLock::get) {
            if let Some((start, number)) = done.long {
                // SAFETY: passed on.
                unsafe { self.one(start..end, number, self.plan.threads) };
            }
            end = done.first.unwrap_or(end);
        }
    }

    /// Whether even segments of so many elements are few words, so that they are quicker all
    /// together than under masks: of eight `i32`, by an eighth.
    ///
    /// Crosswise such as don't fill chunks aren't, and none of 8 bytes. (On a Zen 3, one thread in
    /// its caches, `i32` in fours have 0.85 times the speed then, in eights 0.92 and 0.95, in threes
    /// 1.08; `i64` in pairs 0.96, in threes 1.6, in fours 1.17, in eights 1.37.)
    fn few(&self, len: usize) -> bool {
        let size = size_of::<T>();
        let fills = size == 4 && len.is_multiple_of(const { Order::of::<T>().chunk() });
        size >= 4 && len <= FEW_WORDS && (fills || !self.crosswise())
    }

    /// Whether segments start in these places that are long enough on average to go one by one, if
    /// that is known.
    fn sparse<S: Segments>(&self, segments: &S, places: Range<usize>, even: bool) -> bool {
        if self.successive().is_none() {
            return false;
        }
        let least = match (self.crosswise(), even) {
            (false, _) => const { short::sparse::<A, O>() },
            (true, false) => headed::SPARSE,
            (true, true) => headed::SPARSE_EVEN,
        };
        let before = [places.start, places.end].map(|place| segments.before(place));
        match before {
            [Some(first), Some(last)] => {
                let places = places.len().min(self.len - places.start);
                (last - first) * least <= places
            }
            _ => false,
        }
    }

    /// Scans the segments that start in these places, but for the last if its end is far away.
    ///
    /// # Safety
    ///
    /// As for [`run`](Self::run); `number` is that of the first of them.
    unsafe fn piece<S: Segments>(&self, segments: &S, places: Range<usize>, number: usize) -> Done {
        let level = self.request.level;
        let mut starts = segments.starts(places.start);
        let Some(first) = starts.next_below(places.end) else {
            return Done { first: None, long: None };
        };
        let _fence = Fence;
        let mut bounds = [first; BATCH + 1];
        let mut batches = Batches::new(self, number);
        let mut count = 0;
        let long = loop {
            let room = &mut bounds[1 + count..];
            let all = room.len();
            let found = level.run(Fill { starts: &mut starts, limit: places.end, room });
            count += found;
            let mut last = None;
            if found < all {
                let reach = self.len.min(places.end.saturating_add(self.plan.alone));
                let end = starts.next_below(reach).or((reach == self.len).then_some(reach));
                last = Some(end);
                if let Some(end) = end {
                    count += 1;
                    bounds[count] = end;
                }
            }
            // SAFETY: passed on.
            unsafe { batches.scan(&bounds[..=count]) };
            bounds[0] = bounds[count];
            count = 0;
            match last {
                None => {}
                Some(Some(_)) => break None,
                Some(None) => break Some((bounds[0], batches.number)),
            }
        };
        // SAFETY: passed on.
        unsafe { batches.finish() };
        Done { first: Some(first), long }
    }

    /// Scans one segment on up to so many threads.
    ///
    /// # Safety
    ///
    /// As for [`run`](Self::run); nobody else may scan it.
    unsafe fn one(&self, places: Range<usize>, number: usize, threads: usize) {
        let init = self.parts.init(number);
        let problem = self.request.problem::<T, U>(places.len(), self.in_place);
        let stream = self.plan.stream && places.len() >= const { Order::of::<T>() }.tile();
        let plan = match self.request.plan {
            Some(plan) => Plan { threads: threads.min(plan.threads), ..plan },
            None => {
                let bytes = (places.len() * size_of::<T>()) as u64;
                let here = Machine::here(threads);
                let least = tuning::awake_bytes(here.cpu, self.in_place, O::EXACT, here.apart);
                let awake = self.awake && threads > 1 && bytes >= least;
                Plan { stream, ..plan(&problem, Machine { awake, ..here }) }
            }
        };
        let request = Request { init, plan: Some(plan), ..*self.request };
        // SAFETY: the places are in bounds, and this call's alone by contract.
        unsafe {
            let (from, to) = (self.from.add(places.start), self.to.add(places.start));
            let total = scan_raw(&request, from, to, places.len(), self.in_place);
            self.parts.put_total(self.request.operator, number, total);
        }
    }
}

/// Puts the next starts below a limit into `room`, at some SIMD level, and says how many.
struct Fill<'a, S> {
    starts: &'a mut S,
    limit: usize,
    room: &'a mut [usize],
}

impl<S: Starts> Work for Fill<'_, S> {
    type Output = usize;

    #[inline(always)]
    unsafe fn run<W32: Words<Word = u32>, W64: Words<Word = u64>>(self) -> usize {
        for (found, place) in self.room.iter_mut().enumerate() {
            match self.starts.next_below(self.limit) {
                Some(start) => *place = start,
                None => return found,
            }
        }
        self.room.len()
    }
}
