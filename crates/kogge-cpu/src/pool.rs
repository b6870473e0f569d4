//! Work for the threads of the current rayon pool. Tasks are called through a pointer, so that
//! rayon's machinery is compiled once and not anew for every operator and type.

mod guests;
mod lobby;
mod succession;

pub(crate) use succession::Call;

use rayon::prelude::*;
use std::ops::Range;

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

/// Calls `task` with ranges that are the numbers below `count` together, of at least `least`
/// numbers each where there are so many.
pub(crate) fn ranges(count: usize, least: usize, task: &(dyn Fn(Range<usize>) + Sync)) {
    let numbers = (0..count).into_par_iter().with_min_len(least);
    let leaves =
        numbers.fold(|| 0..0, |leaf, i| if leaf.is_empty() { i..i + 1 } else { leaf.start..i + 1 });
    leaves.for_each(task);
}

/// Calls `task` with every number below `count`; a thread takes at least `least` of them.
pub(crate) fn each(count: usize, least: usize, task: &(dyn Fn(usize) + Sync)) {
    ranges(count, least, &|range| range.for_each(task));
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn every_number_once() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        for (count, least) in [(0, 1), (1, 1), (2, 5), (100, 1), (101, 7)] {
            let calls: Vec<AtomicUsize> = (0..count).map(|_| AtomicUsize::new(0)).collect();
            pool.install(|| {
                each(count, least, &|i| {
                    calls[i].fetch_add(1, Ordering::Relaxed);
                });
            });
            assert!(calls.iter().all(|calls| calls.load(Ordering::Relaxed) == 1));
        }
        let calls = AtomicUsize::new(0);
        let count = || {
            calls.fetch_add(1, Ordering::Relaxed);
        };
        pool.install(|| together(5, &count));
        joined(5, &count);
        assert_eq!(calls.into_inner(), 10);
    }
}
