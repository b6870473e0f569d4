//! Loops shared out among all cores. Tasks are called through a pointer, so that rayon's machinery
//! is compiled once and not anew for every operator and type.

use rayon::prelude::*;
use std::sync::{Mutex, PoisonError};

/// Elements that are worth a task.
pub const TASK: usize = 1 << 14;

/// Whether one thread goes through alone, block by block in its cache: two would fold and then scan
/// an exact operator in the time that one takes to scan.
pub fn alone(exact: bool) -> bool {
    exact && rayon::current_num_threads() <= 2
}

/// Calls `task` with each of the parts.
pub fn each<P: Send>(parts: impl Iterator<Item = P>, task: &(dyn Fn(P) + Sync)) {
    let parts: Vec<_> = parts.map(|part| Mutex::new(Some(part))).collect();
    numbers(parts.len(), &|i| {
        let part = parts[i].lock().unwrap_or_else(PoisonError::into_inner).take();
        part.into_iter().for_each(task);
    });
}

fn numbers(count: usize, task: &(dyn Fn(usize) + Sync)) {
    match count {
        1 => task(0),
        _ => (0..count).into_par_iter().for_each(task),
    }
}
