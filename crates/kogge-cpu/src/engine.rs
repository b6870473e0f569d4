//! The engine's two entrances: from one slice into another, and in place.

use crate::algorithm::asking::{Ask, Askers};
use crate::algorithm::format::{Format, claim, halves};
use crate::algorithm::io::{Converted, Direct, Halves, Io};
use crate::algorithm::tile::Scan;
use crate::algorithm::{parallel, sequential};
use crate::pool::Call;
use crate::{Cpu, Level, Machine, Plan, plan, tuning};
use kogge_core::{
    Accumulate, Direction, Element, Error, Kind, Operator, Order, Prefix, Problem, bf16, f16,
};
use std::marker::PhantomData;

/// Bytes of the widest accumulator: some dozens are on the stack of a thread at a time.
const WIDEST: usize = 4096;

/// What is asked of the engine, apart from the data.
///
/// ```
/// use kogge_core::{Direction, ops::Max};
/// use kogge_cpu::{Request, scan_in_place};
///
/// let request = Request { direction: Direction::Reverse, ..Request::new(&Max) };
/// let mut data = [4, 9, 2, 7, 1];
/// assert_eq!(scan_in_place(&request, &mut data), Some(9));
/// assert_eq!(data, [9, 9, 7, 7, 1]);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Request<'a, O, A> {
    /// The operator.
    pub operator: &'a O,
    /// Inclusive or exclusive.
    pub kind: Kind,
    /// From which end.
    pub direction: Direction,
    /// What is combined first, on the left.
    pub init: Option<A>,
    /// The SIMD level; [`Level::detect`] for the best.
    pub level: Level,
    /// Instead of what [`plan`](fn@plan) says, of flat scans, segments and contiguous lines that
    /// follow one another; never changes the result.
    pub plan: Option<Plan>,
}

impl<'a, O, A> Request<'a, O, A> {
    /// An inclusive forward scan by this operator, at the best SIMD level.
    ///
    /// ```
    /// use kogge_core::{Kind, ops::Sum};
    /// use kogge_cpu::{Level, Request};
    ///
    /// let request = Request::<_, f32>::new(&Sum);
    /// assert_eq!((request.kind, request.level), (Kind::Inclusive, Level::detect()));
    /// assert_eq!((request.init, request.plan), (None, None));
    /// ```
    pub fn new(operator: &'a O) -> Self {
        Self {
            operator,
            kind: Kind::Inclusive,
            direction: Direction::Forward,
            init: None,
            level: Level::detect(),
            plan: None,
        }
    }

    /// The problem of `len` elements `T` with values `U`.
    pub(crate) fn problem<T, U>(&self, len: usize, in_place: bool) -> Problem {
        Problem {
            len: len as u64,
            element_bytes: size_of::<T>(),
            output_bytes: size_of::<U>(),
            accumulator_bytes: size_of::<A>(),
            kind: self.kind,
            direction: self.direction,
            in_place,
        }
    }
}

/// Scans `input` into `output` and gives the total: the fold of `init` and all elements, in the
/// fixed order; `None` where there is neither.
///
/// # Errors
///
/// [`Error::LengthMismatch`] if the slices differ in length. Accumulators of more than 4096 bytes
/// don't compile.
///
/// ```
/// use kogge_core::{Kind, ops::Sum};
/// use kogge_cpu::{Request, scan_into};
///
/// let (lengths, mut offsets) = ([3, 0, 2], [0; 3]);
/// let request = Request { kind: Kind::Exclusive, ..Request::new(&Sum) };
/// assert_eq!(scan_into(&request, &lengths, &mut offsets), Ok(Some(5)));
/// assert_eq!(offsets, [0, 3, 3]);
/// assert_eq!(scan_into::<i32, i32, i32, _>(&request, &[], &mut []), Ok(None));
/// ```
pub fn scan_into<T, U, A, O>(
    request: &Request<'_, O, A>,
    input: &[T],
    output: &mut [U],
) -> Result<Option<A>, Error>
where
    T: Accumulate<A>,
    U: Accumulate<A>,
    A: Element,
    O: Operator<A>,
{
    Error::unless_equal(input.len(), output.len())?;
    // SAFETY: the slices are borrowed for the call, one of them exclusively, and as long as each
    // other.
    Ok(unsafe { scan_raw(request, input.as_ptr(), output.as_mut_ptr(), input.len(), false) })
}

/// Scans `data` in place and gives the total, as [`scan_into`] does.
///
/// If the operator panics, some values have been written and some not.
///
/// ```
/// use kogge_core::ops::Sum;
/// use kogge_cpu::{Request, scan_in_place};
///
/// let mut data = [1, 2, 3];
/// let request = Request { init: Some(100), ..Request::new(&Sum) };
/// assert_eq!(scan_in_place(&request, &mut data), Some(106));
/// assert_eq!(data, [101, 103, 106]);
/// ```
pub fn scan_in_place<T, A, O>(request: &Request<'_, O, A>, data: &mut [T]) -> Option<A>
where
    T: Accumulate<A>,
    A: Element,
    O: Operator<A>,
{
    let to = data.as_mut_ptr();
    // SAFETY: the slice is borrowed exclusively for the call.
    unsafe { scan_raw(request, to.cast_const(), to, data.len(), true) }
}

/// Scans what follows the tiles of a prefix from `input` into `output`, and takes its tiles in; the
/// prefix stands for [`Request::init`].
///
/// More can follow only if `input` is whole tiles.
///
/// # Errors
///
/// [`Error::LengthMismatch`] if the slices differ in length.
///
/// ```
/// use kogge_core::{Prefix, ops::Sum};
/// use kogge_cpu::{Request, resume_into};
///
/// let (request, mut prefix) = (Request::<_, i32>::new(&Sum), Prefix::new(None));
/// let mut sums = [0; 8192];
/// resume_into(&request, &mut prefix, &[1; 8192], &mut sums)?;
/// resume_into(&request, &mut prefix, &[1; 3], &mut sums[..3])?;
/// assert_eq!(sums[..4], [8193, 8194, 8195, 4]);
/// # Ok::<_, kogge_core::Error>(())
/// ```
pub fn resume_into<T, U, A, O>(
    request: &Request<'_, O, A>,
    prefix: &mut Prefix<A>,
    input: &[T],
    output: &mut [U],
) -> Result<(), Error>
where
    T: Accumulate<A>,
    U: Accumulate<A>,
    A: Element,
    O: Operator<A>,
{
    let len = input.len();
    Error::unless_equal(len, output.len())?;
    let (from, to) = (input.as_ptr(), output.as_mut_ptr());
    // SAFETY: the slices are borrowed for the call, one of them exclusively, and as long as each
    // other.
    unsafe { resume(request, prefix, from, to, len, false) };
    Ok(())
}

/// Scans what follows the tiles of a prefix in place, as [`resume_into`] does.
///
/// ```
/// use kogge_core::{Prefix, ops::Sum};
/// use kogge_cpu::{Request, resume_in_place};
///
/// let (mut prefix, mut data) = (Prefix::new(Some(100)), [1, 2, 3]);
/// resume_in_place(&Request::<_, i32>::new(&Sum), &mut prefix, &mut data);
/// assert_eq!(data, [101, 103, 106]);
/// assert_eq!(prefix.before(&Sum), Some(106));
/// ```
pub fn resume_in_place<T, A, O>(request: &Request<'_, O, A>, prefix: &mut Prefix<A>, data: &mut [T])
where
    T: Accumulate<A>,
    A: Element,
    O: Operator<A>,
{
    let (to, len) = (data.as_mut_ptr(), data.len());
    // SAFETY: the slice is borrowed exclusively for the call.
    unsafe { resume(request, prefix, to.cast_const(), to, len, true) };
}

/// # Safety
///
/// As for [`scan_raw`].
unsafe fn resume<T, U, A, O>(
    request: &Request<'_, O, A>,
    prefix: &mut Prefix<A>,
    from: *const T,
    to: *mut U,
    len: usize,
    in_place: bool,
) where
    T: Accumulate<A>,
    U: Accumulate<A>,
    A: Element,
    O: Operator<A>,
{
    let mut counted = prefix.clone();
    // SAFETY: passed on.
    unsafe { scan_from(request, Start::Tiles(prefix), from, to, len, in_place) };
    // Under an exact operator some tiles may have been one to the engine.
    if const { O::EXACT }
        && let Some(through) = prefix.before(request.operator)
    {
        counted.replace(len.div_ceil(const { Order::of::<T>().tile() }), through);
        *prefix = counted;
    }
}

/// What precedes the first element.
enum Start<'a, A> {
    /// An initial value, or nothing.
    Init(Option<A>),
    /// Whole tiles, to which the scan adds its own.
    Tiles(&'a mut Prefix<A>),
}

/// # Safety
///
/// `len` elements must be readable at `from` and writable at `to`, by this call alone; the two are
/// equal if `in_place`, else don't overlap.
pub(crate) unsafe fn scan_raw<T, U, A, O>(
    request: &Request<'_, O, A>,
    from: *const T,
    to: *mut U,
    len: usize,
    in_place: bool,
) -> Option<A>
where
    T: Accumulate<A>,
    U: Accumulate<A>,
    A: Element,
    O: Operator<A>,
{
    // SAFETY: passed on.
    unsafe { scan_from(request, Start::Init(request.init), from, to, len, in_place) }
}

/// # Safety
///
/// As for [`scan_raw`].
unsafe fn scan_from<T, U, A, O>(
    request: &Request<'_, O, A>,
    start: Start<'_, A>,
    from: *const T,
    to: *mut U,
    len: usize,
    in_place: bool,
) -> Option<A>
where
    T: Accumulate<A>,
    U: Accumulate<A>,
    A: Element,
    O: Operator<A>,
{
    let bytes = len.saturating_mul(size_of::<T>()) as u64;
    let planned = request.plan.is_some();
    let call = if planned { None } else { Call::begin(bytes, in_place, O::EXACT) };
    let awake = call.as_ref().is_some_and(|call| call.awake);
    let plan =
        request.plan.unwrap_or_else(|| planned_for::<T, U, A, O>(request, len, in_place, awake));
    if const { same::<T, U, A>() && !O::COMPACT } && request.direction == Direction::Forward {
        let (from, to) = (from.cast::<A>(), to.cast::<A>());
        // SAFETY: passed on; both `T` and `U` are `A`.
        return unsafe {
            if plan.stream && !in_place {
                run_from(request, start, Direct::<A, true> { from, to }, len, plan, in_place)
            } else {
                run_from(request, start, Direct::<A, false> { from, to }, len, plan, in_place)
            }
        };
    }
    if request.direction == Direction::Forward && request.level.packs() {
        // SAFETY: passed on.
        unsafe {
            if const { !O::COMPACT && claim::<f16, T, U, A>() } && halves::<f16, T, U, A>() {
                return run_halves::<f16, _, _, _, _>(
                    request, start, from, to, len, plan, in_place,
                );
            }
            if const { !O::COMPACT && claim::<bf16, T, U, A>() } && halves::<bf16, T, U, A>() {
                return run_halves::<bf16, _, _, _, _>(
                    request, start, from, to, len, plan, in_place,
                );
            }
        }
    }
    let direction = request.direction;
    let io = Converted { from, to, len, direction, accumulator: PhantomData };
    // SAFETY: passed on.
    unsafe { run_from(request, start, io, len, plan, in_place) }
}

/// The plan for a call here and now, given whether another thread is awake.
#[inline]
fn planned_for<T, U, A, O>(
    request: &Request<'_, O, A>,
    len: usize,
    in_place: bool,
    awake: bool,
) -> Plan
where
    T: Accumulate<A>,
    U: Accumulate<A>,
    A: Element,
    O: Operator<A>,
{
    let bytes = len.saturating_mul(size_of::<T>()) as u64;
    let written = len.saturating_mul(size_of::<U>()) as u64;
    if bytes.max(written) < tuning::AWAKE_BYTES {
        // As `plan` says, too. It divides: that would be a thirtieth of a scan of 4 KiB.
        return Plan { threads: 1, tiles_per_piece: 1, stream: false };
    }
    let least = || tuning::bytes_per_thread(Cpu::detect(), in_place, O::EXACT);
    let threads = match bytes {
        // The pool isn't asked: that would take as long.
        bytes if !awake && bytes < 2 * tuning::LEAST_PER_THREAD => 1,
        bytes if !awake && bytes < 2 * least() => 1,
        _ => match rayon::current_num_threads() {
            // Two would fold and then scan in the time that one takes to scan.
            2 if const { O::COMPACT && O::EXACT } => 1,
            threads => threads,
        },
    };
    let machine = Machine { awake, ..Machine::here(threads) };
    plan(&request.problem::<T, U>(len, in_place), machine)
}

/// # Safety
///
/// As for [`scan_raw`]; elements and values must be [`halves`] in the format `F`.
unsafe fn run_halves<F, T, U, A, O>(
    request: &Request<'_, O, A>,
    start: Start<'_, A>,
    from: *const T,
    to: *mut U,
    len: usize,
    plan: Plan,
    in_place: bool,
) -> Option<A>
where
    F: Format,
    T: Accumulate<A>,
    U: Accumulate<A>,
    A: Element,
    O: Operator<A>,
{
    let (to, format) = (to.cast::<T>(), PhantomData::<F>);
    // SAFETY: passed on.
    unsafe {
        if plan.stream && !in_place {
            run_from(request, start, Halves::<F, T, true> { from, to, format }, len, plan, in_place)
        } else {
            run_from(
                request,
                start,
                Halves::<F, T, false> { from, to, format },
                len,
                plan,
                in_place,
            )
        }
    }
}

/// # Safety
///
/// The memory of `io` must be this call's alone.
pub(crate) unsafe fn run<I: Io<A>, A: Element, O: Operator<A>>(
    request: &Request<'_, O, A>,
    io: I,
    len: usize,
    plan: Plan,
    in_place: bool,
) -> Option<A> {
    // SAFETY: passed on.
    unsafe { run_from(request, Start::Init(request.init), io, len, plan, in_place) }
}

/// Gives the total; `None` too where the prefix has it.
///
/// # Safety
///
/// As for [`run`].
unsafe fn run_from<I: Io<A>, A: Element, O: Operator<A>>(
    request: &Request<'_, O, A>,
    start: Start<'_, A>,
    io: I,
    len: usize,
    plan: Plan,
    in_place: bool,
) -> Option<A> {
    const {
        assert!(size_of::<A>() <= WIDEST, "accumulators of more than 4096 bytes are not scanned");
    }
    let Request { level, operator, kind, .. } = *request;
    let bytes = (len as u64).saturating_mul(size_of::<I::Element>() as u64);
    let askers = Askers { several: true, stream: I::STREAM, free: const { Scan::<I, A, O>::FREE } };
    let ask = Ask::of(bytes, askers);
    // A plan may be the caller's own.
    let tiles = plan.tiles_per_piece.max(1);
    let long = const { Scan::<I, A, O>::ANY_TILE } && plan.threads > 1 && ask == Ask::Nothing;
    let at_once = if long { tuning::AT_ONCE.min(tiles) } else { 1 };
    let tile = at_once * const { Scan::<I, A, O>::ORDER.tile() };
    let scan = Scan { level, operator, kind, io, len, tile, accumulator: PhantomData };
    let (threads, tiles) = (plan.threads.min(scan.tiles()), tiles / at_once);
    let by_many = threads > 1;
    let led = parallel::led::<I::Format, A, O>(in_place);
    // SAFETY: passed on.
    unsafe {
        match start {
            Start::Init(init) if by_many => {
                let mut prefix = Prefix::new(init);
                parallel::run(&scan, &mut prefix, threads, tiles, ask, in_place, led);
                return prefix.before(operator);
            }
            Start::Init(init) => return sequential::run(&scan, init),
            Start::Tiles(prefix) if by_many => {
                parallel::run(&scan, prefix, threads, tiles, ask, in_place, led);
            }
            Start::Tiles(prefix) => sequential::resume(&scan, prefix),
        }
    }
    None
}

/// Whether all three are one type.
pub(crate) const fn same<T: Accumulate<A>, U: Accumulate<A>, A: Element>() -> bool {
    T::SAME.holds() && U::SAME.holds()
}
