//! The suites: which contenders meet on which elements, checked first and timed second.

use crate::buffer::Buffer;
use crate::contender::{Contender, Mode, Role, has_word};
use crate::contenders::{self, Pair};
use crate::distance;
use crate::dtype::Dtype;
use crate::measure::{Budget, interleaved};
use crate::record::Cell;
use crate::scratch;
use kogge_cpu::Level;
use rayon::prelude::*;
use std::io;

/// How a cell is measured.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Threads of the pool.
    pub threads: usize,
    /// SIMD levels to measure beside the best.
    pub levels: Vec<Level>,
    /// Whether buffers ask for huge pages.
    pub huge_pages: bool,
    /// Contenders whose names hold one of these, beside kogge; all if empty.
    pub only: Vec<String>,
    /// How long.
    pub budget: Budget,
}

/// The sum of numbers of a type.
///
/// # Errors
///
/// No memory, or a contender whose result is wrong.
pub fn sum<T: Dtype>(mode: Mode, len: usize, settings: &Settings) -> io::Result<Cell> {
    let contenders = contenders::sum::<T>(mode, settings.threads, &settings.levels);
    cell(T::NAME, contenders, mode, len, settings, T::element_at, check_sums)
}

/// The sum of floats of a type, with the one in free order beside it.
///
/// # Errors
///
/// As for [`sum`].
pub fn sum_of_floats<T: Dtype>(mode: Mode, len: usize, settings: &Settings) -> io::Result<Cell> {
    let mut contenders = contenders::sum::<T>(mode, settings.threads, &settings.levels);
    for threads in if settings.threads > 1 { vec![1, settings.threads] } else { vec![1] } {
        contenders.push(contenders::free_order(mode, threads));
    }
    cell(T::NAME, contenders, mode, len, settings, T::element_at, check_sums)
}

/// Affine maps by a user's operator; `len` of them.
///
/// # Errors
///
/// As for [`sum`].
// Compiled where it is called, as what is generic: the `kogge` command has no use for it.
#[inline]
pub fn affine(mode: Mode, len: usize, settings: &Settings) -> io::Result<Cell> {
    let contenders = contenders::affine(mode, settings.threads);
    cell("affine f32", contenders, mode, len, settings, Pair::element_at, check_maps)
}

fn check_sums<T: Dtype>(values: &[T]) -> bool {
    values.par_iter().enumerate().all(|(i, &value)| value == T::sum_at(i as u64))
}

fn check_maps(values: &[Pair]) -> bool {
    let follows = |i: usize| {
        let before = i.checked_sub(1).map(|before| values[before]);
        values[i].follows(before, i as u64)
    };
    (0..values.len()).into_par_iter().all(follows)
}

/// Checks all contenders, then times them.
fn cell<T: bytemuck::Pod + Send + Sync>(
    dtype: &str,
    mut contenders: Vec<Contender<'_, T>>,
    mode: Mode,
    len: usize,
    settings: &Settings,
    element: impl Fn(u64) -> T + Sync,
    check: impl Fn(&[T]) -> bool,
) -> io::Result<Cell> {
    if !settings.only.is_empty() {
        contenders.retain(|one| {
            one.role == Role::Kogge || settings.only.iter().any(|word| has_word(&one.name, word))
        });
    }
    // In place the input isn't read, and needn't exist.
    let input_len = if mode == Mode::Into { len } else { 0 };
    let input = Buffer::new(input_len, settings.huge_pages, &element)?;
    let mut output = Buffer::new(len, settings.huge_pages, &element)?;
    let mut scratch = Vec::new();
    for one in &contenders {
        match mode {
            Mode::Into => output.fill(|_| T::zeroed()),
            Mode::InPlace => output.fill(&element),
        }
        scratch.push(scratch::of(|| one.call(input.as_ref(), output.as_mut())));
        if one.checked && !check(output.as_ref()) {
            let wrong = format!("{}: wrong for {len} {dtype}, {}", one.name, mode.name());
            return Err(io::Error::other(wrong));
        }
    }
    let (series, word_ns) = distance::beside(|| {
        interleaved(&contenders, input.as_ref(), output.as_mut(), &scratch, settings.budget)
    });
    Ok(Cell {
        dtype: dtype.to_owned(),
        element_bytes: size_of::<T>(),
        mode,
        len,
        shape: None,
        beside_bytes: 0,
        word_ns,
        series,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use half::f16;
    use std::time::Duration;

    fn settings() -> Settings {
        let budget = Budget { total: Duration::ZERO, least: 1, most: 1 };
        let (levels, only) = (Level::available(), Vec::new());
        Settings { threads: 2, levels, huge_pages: false, only, budget }
    }

    /// Every contender is right at every length, or the suite says which one is wrong.
    #[test]
    fn every_contender_of_every_type_is_right() {
        for mode in [Mode::Into, Mode::InPlace] {
            for len in [1, 2, 7, 64, 1_000, 9_001] {
                sum::<i8>(mode, len, &settings()).unwrap();
                sum::<i16>(mode, len, &settings()).unwrap();
                sum::<i32>(mode, len, &settings()).unwrap();
                sum::<i64>(mode, len, &settings()).unwrap();
                sum::<f16>(mode, len, &settings()).unwrap();
                sum_of_floats::<f32>(mode, len, &settings()).unwrap();
                sum_of_floats::<f64>(mode, len, &settings()).unwrap();
                affine(mode, len, &settings()).unwrap();
            }
        }
    }

    /// Long enough for several threads and several pieces. Their checks take one thread, so each
    /// has its test.
    const LONG: usize = 700_001;

    #[test]
    fn every_contender_into_another_slice_is_right_in_parallel() {
        sum_of_floats::<f32>(Mode::Into, LONG, &settings()).unwrap();
        affine(Mode::Into, LONG, &settings()).unwrap();
    }

    #[test]
    fn every_contender_in_place_is_right_in_parallel() {
        sum_of_floats::<f32>(Mode::InPlace, LONG, &settings()).unwrap();
        affine(Mode::InPlace, LONG, &settings()).unwrap();
    }

    #[test]
    fn a_wrong_contender_is_named() {
        let copy = Contender::into(Role::Peer, "no scan", 1, |x: &[i32], y: &mut [i32]| {
            y.copy_from_slice(x);
        });
        let result =
            cell("i32", vec![copy], Mode::Into, 9, &settings(), i32::element_at, check_sums);
        assert!(result.unwrap_err().to_string().contains("no scan: wrong for 9 i32"));
    }
}
