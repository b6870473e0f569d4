//! Threads: any number of them, late ones, panicking ones, nested ones, and whose they are.

use crate::common::{
    Case, MANY, MANY_STREAM, Nonblocking, ONE, Random, STREAM, Wide, bracket, bracket_each, check,
};
use kogge_core::{Direction, Kind, Operator, Order, from_fn};
use kogge_cpu::{Axis, PerPart, Plan, Request, scan_in_place, scan_into, scan_lines};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex};
use std::thread;
use std::time::Duration;

const TILE: usize = Order::of::<Wide>().tile();

fn wide(n: usize) -> Vec<Wide> {
    let mut random = Random(n as u64);
    (0..n).map(|_| [random.next(), random.next(), random.next()]).collect()
}

fn brackets() -> impl Operator<Wide> {
    from_fn([0; 3], bracket_each)
}

/// Combines by a function behind a pointer: the engine is compiled once for all of them.
struct Through<'a>(&'a (dyn Fn(Wide, Wide) -> Wide + Sync));

impl Operator<Wide> for Through<'_> {
    fn identity(&self) -> Wide {
        [0; 3]
    }

    fn combine(&self, left: Wide, right: Wide) -> Wide {
        (self.0)(left, right)
    }
}

fn pool(threads: usize) -> ThreadPool {
    ThreadPoolBuilder::new().num_threads(threads).thread_name(|_| NAME.into()).build().unwrap()
}

const NAME: &str = "the caller's";

#[test]
fn any_number_of_threads_in_any_pool() {
    any_number_of_threads(brackets());
    any_number_of_threads(Nonblocking(brackets()));
}

fn any_number_of_threads(operator: impl Operator<Wide>) {
    let input = wide(if cfg!(miri) { 2 * TILE + 77 } else { 70 * TILE + 77 });
    let request = Request { init: Some([1, 2, 3]), ..Request::new(&operator) };
    let case = Case::<Wide, Wide, Wide>::new("brackets", &input, &request);
    let (pools, threads, pieces): (&[usize], &[usize], &[usize]) = if cfg!(miri) {
        (&[2], &[3, 2], &[1, 3])
    } else {
        (&[1, 2, 3, 9], &[1, 2, 3, 4, 5, 6, 7, 8, 9, 64], &[1, 2, 7, 32, 100])
    };
    for &size in pools {
        pool(size).install(|| {
            for (n, &threads) in threads.iter().enumerate() {
                for &tiles_per_piece in pieces {
                    let stream = (n + tiles_per_piece).is_multiple_of(2);
                    let plan = Some(Plan { threads, tiles_per_piece, stream });
                    case.check(&Request { plan, ..request });
                }
            }
        });
    }
}

/// Nothing in a plan changes the result, nonsense included.
#[test]
fn absurd_plans() {
    let operator = brackets();
    let input = wide(if cfg!(miri) { TILE + 1 } else { 2 * TILE + 1 });
    let request = Request::new(&operator);
    let case = Case::<Wide, Wide, Wide>::new("brackets", &input, &request);
    let plans = [(0, 0), (3, usize::MAX / 2), (3, 0), (2, usize::MAX), (usize::MAX, 1)];
    for &(threads, tiles_per_piece) in &plans[..if cfg!(miri) { 2 } else { 5 }] {
        let plan = Some(Plan { threads, tiles_per_piece, stream: threads == 3 });
        case.check(&Request { plan, ..request });
    }
}

/// Combinations happen on threads of the pool the caller is in, and on several of them.
#[test]
fn the_callers_pool_is_used() {
    let names = Mutex::new(Vec::new());
    let combine = |x: Wide, y: Wide| {
        // Under Miri that takes far longer than all the rest.
        if cfg!(miri) && !x[0].is_multiple_of(16) {
            return bracket_each(x, y);
        }
        let thread = thread::current();
        let mut names = names.lock().unwrap();
        if names.last() != Some(&(thread.id(), thread.name() == Some(NAME))) {
            names.push((thread.id(), thread.name() == Some(NAME)));
        }
        bracket_each(x, y)
    };
    let operator = Through(&combine);
    let mut data = wide(if cfg!(miri) { TILE + 1 } else { 40 * TILE });
    let request = Request { plan: Some(MANY), ..Request::new(&operator) };
    pool(3).install(|| scan_in_place(&request, &mut data));
    let mut names = names.lock().unwrap().clone();
    assert!(names.iter().all(|&(_, callers)| callers), "a thread of another pool");
    names.sort_by_key(|(id, _)| format!("{id:?}"));
    names.dedup();
    assert!(names.len() <= 3, "{} threads", names.len());
}

/// An operator that calls rayon itself: the thread that waits inside `combine` may be handed
/// another part of the very scan it is busy with.
#[test]
fn operators_may_use_the_pool_themselves() {
    let combine = |x: Wide, y: Wide| {
        // Under Miri a join takes as long as hundreds of combinations.
        if cfg!(miri) && !x[0].is_multiple_of(1024) {
            return bracket_each(x, y);
        }
        let (a, (b, c)) = rayon::join(
            || bracket(x[0], y[0]),
            || rayon::join(|| bracket(x[1], y[1]), || bracket(x[2], y[2])),
        );
        [a, b, c]
    };
    let nested = Through(&combine);
    let input = wide(if cfg!(miri) { TILE + 40 } else { 12 * TILE + 5 });
    for threads in [2, 4] {
        pool(threads).install(|| {
            let request = Request { plan: Some(MANY), ..Request::new(&nested) };
            check::<Wide, Wide, Wide, _>("nested", &input, &request);
        });
        if cfg!(miri) {
            return;
        }
    }
}

/// An operator that scans with the engine.
#[test]
fn scans_nest() {
    let inner = from_fn(0u64, bracket);
    let combine = |x: Wide, y: Wide| {
        let mut both = [x[0], y[0]];
        let total = scan_in_place(&Request::new(&inner), &mut both).unwrap();
        [total, bracket(x[1], y[1]), bracket(x[2], y[2])]
    };
    let operator = Through(&combine);
    let input = wide(if cfg!(miri) { 40 } else { 3 * TILE + 5 });
    let request = Request { plan: Some(MANY), ..Request::new(&operator) };
    check::<Wide, Wide, Wide, _>("scans", &input, &request);
}

/// `[first, end, sum]`: spans of the input that know who they are.
fn spans(n: usize) -> Vec<Wide> {
    (0..n as u64).map(|i| [i, i + 1, i * i]).collect()
}

fn join(left: Wide, right: Wide) -> Wide {
    assert_eq!(left[1], right[0], "neighbours only");
    [left[0], right[1], left[2].wrapping_add(right[2])]
}

fn assert_spans(values: &[Wide], len: usize) {
    assert_eq!(values.len(), len);
    let mut sum = 0u64;
    for (i, value) in (0..).zip(values) {
        sum = sum.wrapping_add(i * i);
        assert_eq!(*value, [0, i + 1, sum], "at {i}");
    }
}

/// Who has begun to fold tile 0, and lets threads wait for each other.
#[derive(Default)]
struct Stage {
    folding: Mutex<Vec<thread::ThreadId>>,
    changed: Condvar,
}

impl Stage {
    /// Notes that this thread combines the first two elements; gives its turn among the threads
    /// that did, and whether it is its first time.
    fn enter(&self) -> (usize, bool) {
        let mut folding = self.folding.lock().unwrap();
        let me = thread::current().id();
        let turn = folding.iter().position(|&id| id == me);
        if turn.is_none() {
            folding.push(me);
            self.changed.notify_all();
        }
        (turn.unwrap_or(folding.len() - 1), turn.is_none())
    }

    /// Waits until this many threads have come; `false` if they don't.
    fn wait_for(&self, threads: usize) -> bool {
        let folding = self.folding.lock().unwrap();
        let timeout = Duration::from_secs(20);
        let wait = self.changed.wait_timeout_while(folding, timeout, |f| f.len() < threads);
        !wait.unwrap().1.timed_out()
    }
}

/// The thread that took tile 0 doesn't get on with it until another has begun to fold that tile:
/// so the late total was computed by who needed it.
#[test]
#[cfg_attr(miri, ignore = "waits for a second thread, which Miri's schedule doesn't always send")]
fn a_late_total_is_computed_by_who_needs_it() {
    for (in_place, columns) in [(false, 1), (true, COLUMNS), (true, 1), (false, COLUMNS)] {
        let stage = Stage::default();
        let combine = |left: Wide, right: Wide| {
            if left[0] == 0 && right == [1, 2, 1] {
                let (turn, first) = stage.enter();
                if turn == 0 && first {
                    assert!(stage.wait_for(2), "nobody computed the late total");
                }
            }
            join(left, right)
        };
        let operator = Through(&combine);
        if columns > 1 {
            scan_columns(&operator, in_place);
            continue;
        }
        let mut data = spans(3 * TILE + 9);
        let len = data.len();
        let plan = Some(Plan { threads: 2, tiles_per_piece: 1, stream: false });
        let request = Request { plan, ..Request::new(&operator) };
        pool(2).install(|| {
            if in_place {
                scan_in_place(&request, &mut data);
            } else {
                let input = data.clone();
                scan_into(&request, &input, &mut data).unwrap();
            }
        });
        assert_spans(&data, len);
    }
}

/// Lines side by side that two threads scan together: a group that is read where it lies, and one
/// that is brought together first.
const COLUMNS: usize = 19;

fn scan_columns(operator: &Through<'_>, in_place: bool) {
    // So many that they are shared out and in no cache: there one thread may do without another.
    let len = if cfg!(miri) { 1 << 12 } else { 3 << 18 } / COLUMNS + 100;
    let input: Vec<Wide> = spans(len).into_iter().flat_map(|span| [span; COLUMNS]).collect();
    let mut data = input.clone();
    let line = Axis { len, strides: [COLUMNS as isize; 2] };
    let beside = [Axis { len: COLUMNS, strides: [1; 2] }];
    let to = data.as_mut_ptr();
    let from = if in_place { to.cast_const() } else { input.as_ptr() };
    let (from, to) = (from.expose_provenance(), to.expose_provenance());
    let (request, per) = (Request::new(operator), PerPart::default());
    pool(2).install(|| {
        let from = std::ptr::with_exposed_provenance::<Wide>(from);
        let to = std::ptr::with_exposed_provenance_mut::<Wide>(to);
        // SAFETY: the axes reach the places of the arrays, which are this call's.
        unsafe { scan_lines(&request, per, from, to, line, &beside, in_place) }.unwrap();
    });
    for column in 0..COLUMNS {
        let values: Vec<Wide> = data.iter().copied().skip(column).step_by(COLUMNS).collect();
        assert_spans(&values, len);
    }
}

/// In place, a helper that is slow to read tile 0 keeps its owner from overwriting it.
#[test]
fn a_helper_inside_keeps_the_input_as_it_is() {
    a_helper_inside(|operator| {
        let mut data = spans(if cfg!(miri) { TILE + 9 } else { 2 * TILE });
        let len = data.len();
        let plan = Some(Plan { threads: 2, tiles_per_piece: 1, stream: false });
        let request = Request { plan, ..Request::new(operator) };
        pool(2).install(|| scan_in_place(&request, &mut data));
        assert_spans(&data, len);
    });
    a_helper_inside(|operator| scan_columns(operator, true));
}

fn a_helper_inside(scan: impl FnOnce(&Through<'_>)) {
    let stage = Stage::default();
    let slept = AtomicUsize::new(0);
    let combine = |left: Wide, right: Wide| {
        if left[0] == 0 && right == [1, 2, 1] {
            match stage.enter() {
                (0, true) => assert!(stage.wait_for(2), "nobody came to help"),
                (1, true) => {
                    // Time for the owner to publish, to go on and, were it let, to overwrite.
                    thread::sleep(Duration::from_millis(200));
                    slept.fetch_add(1, Ordering::Relaxed);
                }
                _ => {}
            }
        }
        join(left, right)
    };
    scan(&Through(&combine));
    assert_eq!(slept.into_inner(), 1);
}

/// A panicking operator unwinds to the caller from wherever it is called, leaves nobody waiting,
/// and leaves the pool usable.
#[test]
fn panics_reach_the_caller() {
    // After how many combinations: in the first fold, in a later one, and while values are written.
    let after: &[usize] = if cfg!(miri) { &[2_000] } else { &[0, 1_000, 5 * TILE, 12 * TILE] };
    let pool = pool(3);
    for &after in after {
        let left = AtomicUsize::new(after);
        let combine = |x: Wide, y: Wide| {
            let count = |n: usize| n.checked_sub(1);
            let left = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, count);
            assert!(left.is_ok(), "planted");
            bracket_each(x, y)
        };
        let operator = Through(&combine);
        let plant = || left.store(after, Ordering::Relaxed);
        panics(&pool, &operator, plant);
        panics(&pool, &Nonblocking(operator), plant);
    }
    let operator = brackets();
    let request = Request { plan: Some(MANY), kind: Kind::Exclusive, ..Request::new(&operator) };
    pool.install(|| check::<Wide, Wide, Wide, _>("afterwards", &wide(len()), &request));

    fn len() -> usize {
        if cfg!(miri) { TILE + 40 } else { 9 * TILE + 7 }
    }

    fn panics<O: Operator<Wide>>(pool: &ThreadPool, operator: &O, plant: impl Fn()) {
        let plans = [MANY, ONE, STREAM, MANY_STREAM];
        for plan in &plans[..if cfg!(miri) { 1 } else { 4 }] {
            for direction in [Direction::Forward, Direction::Reverse] {
                let request = Request { plan: Some(*plan), direction, ..Request::new(operator) };
                let mut data = wide(len());
                let input = data.clone();
                let name = format!("{plan:?} {direction:?}");
                plant();
                let scan = || pool.install(|| scan_in_place(&request, &mut data));
                assert!(catch_unwind(AssertUnwindSafe(scan)).is_err(), "in place, {name}");
                plant();
                let scan = || pool.install(|| scan_into(&request, &input, &mut data));
                assert!(catch_unwind(AssertUnwindSafe(scan)).is_err(), "out of place, {name}");
            }
        }
    }
}

/// One thread panics while it owns a piece that others wait for: they do without it.
#[test]
fn one_panic_leaves_nobody_waiting() {
    for victim in [0, TILE as u64 + 5, 2 * TILE as u64 + 1] {
        let once = AtomicUsize::new(0);
        let combine = |left: Wide, right: Wide| {
            if right[0] == victim + 1 {
                assert!(once.fetch_add(1, Ordering::Relaxed) > 0, "planted once");
            }
            join(left, right)
        };
        let operator = Through(&combine);
        one_panic(&operator);
        once.store(0, Ordering::Relaxed);
        one_panic(&Nonblocking(operator));
        if cfg!(miri) {
            return;
        }
    }
}

fn one_panic<O: Operator<Wide>>(operator: &O) {
    let mut data = spans(if cfg!(miri) { TILE + 9 } else { 8 * TILE });
    let request = Request { plan: Some(MANY), ..Request::new(operator) };
    let scan = || pool(3).install(|| scan_in_place(&request, &mut data));
    assert!(catch_unwind(AssertUnwindSafe(scan)).is_err());
}
