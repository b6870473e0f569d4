//! Work for the threads of the current rayon pool. Tasks are called through a pointer, so that
//! rayon's machinery is compiled once and not anew for every operator and type.

mod distance;
mod guests;
mod lobby;
mod succession;

pub(crate) use distance::{alone, apart};
pub(crate) use succession::Call;

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Calls `task` on up to so many threads at once, of which the caller is one.
pub(crate) fn together(threads: usize, task: &(dyn Fn() + Sync)) {
    if rayon::current_thread_index().is_none() {
        return guests::with(threads - 1, task);
    }
    if cfg!(miri) {
        return joined(threads, task);
    }
    rayon::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(|_| task());
        }
        task();
    });
}

/// The same for Miri, which takes it for a fault that a scope of rayon-core 1.13 is freed while the
/// last of its jobs returns. Each thread wakes the next one only.
fn joined(threads: usize, task: &(dyn Fn() + Sync)) {
    if threads > 1 {
        rayon::join(task, || joined(threads - 1, task));
    } else {
        task();
    }
}

/// What a thread is called with that takes some of all numbers: what gives it range after range.
pub(crate) type Ranges<'a> = &'a mut dyn Iterator<Item = Range<usize>>;

/// Ranges that a thread should find, so that all end at about the same time.
const RANGES_PER_THREAD: usize = 32;

/// Calls `task` on up to so many threads that share out the numbers below `count`, by ranges of at
/// least `least` numbers each where there are so many.
///
/// The caller begins with the first ranges, the others with the last ones: in the next call each
/// finds what it had in its own caches, likely.
pub(crate) fn ranges(
    count: usize,
    least: usize,
    threads: usize,
    task: &(dyn Fn(Ranges<'_>) + Sync),
) {
    let each = least.max(count.div_ceil(threads * RANGES_PER_THREAD)).max(1);
    let parts = count.div_ceil(each);
    if parts <= 1 || threads == 1 {
        return task(&mut std::iter::once(0..count));
    }
    let (taken, ends) = (AtomicUsize::new(0), [const { AtomicUsize::new(0) }; 2]);
    let range = |part: usize| part * each..count.min((part + 1) * each);
    let caller = thread::current().id();
    together(threads.min(parts), &|| {
        let from_behind = thread::current().id() != caller;
        task(&mut std::iter::from_fn(|| {
            // Both ends together have taken no more ranges than there are.
            (taken.fetch_add(1, Ordering::Relaxed) < parts).then(|| {
                let part = ends[usize::from(from_behind)].fetch_add(1, Ordering::Relaxed);
                range(if from_behind { parts - 1 - part } else { part })
            })
        }));
    });
}

/// Calls `task` with every number below `count` on up to so many threads, each of which takes at
/// least `least` of them.
pub(crate) fn each(count: usize, least: usize, threads: usize, task: &(dyn Fn(usize) + Sync)) {
    ranges(count, least, threads, &|ranges| ranges.flatten().for_each(task));
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::sync::Mutex;

    #[test]
    fn every_number_once() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        for (count, least) in [(0, 1), (1, 1), (2, 5), (100, 1), (101, 7)] {
            let calls: Vec<AtomicUsize> = (0..count).map(|_| AtomicUsize::new(0)).collect();
            let every = || {
                each(count, least, 3, &|i| {
                    calls[i].fetch_add(1, Ordering::Relaxed);
                });
            };
            pool.install(every);
            every();
            assert!(calls.iter().all(|calls| calls.load(Ordering::Relaxed) == 2));
        }
        let start = std::time::Instant::now();
        let guests = AtomicUsize::new(0);
        while guests.load(Ordering::Relaxed) == 0 {
            assert!(start.elapsed().as_secs() < 60, "no guest comes");
            let calls = [const { AtomicUsize::new(0) }; 100];
            each(calls.len(), 1, 2, &|i| {
                calls[i].fetch_add(1, Ordering::Relaxed);
                if rayon::current_thread_index().is_some() {
                    guests.fetch_add(1, Ordering::Relaxed);
                }
                std::thread::yield_now();
            });
            assert!(calls.iter().all(|calls| calls.load(Ordering::Relaxed) == 1));
        }
        let seen = Mutex::new(HashSet::new());
        let see = || {
            each(100, 1, 2, &|_| {
                seen.lock().unwrap().insert(thread::current().id());
                // Long enough for any other to come.
                thread::sleep(std::time::Duration::from_millis(1));
            });
        };
        pool.install(see);
        assert!(seen.lock().unwrap().drain().count() <= 2);
        see();
        assert!(seen.into_inner().unwrap().len() <= 2);
        let calls = AtomicUsize::new(0);
        let count = || {
            calls.fetch_add(1, Ordering::Relaxed);
        };
        pool.install(|| together(5, &count));
        joined(5, &count);
        assert_eq!(calls.into_inner(), 10);
    }
}
