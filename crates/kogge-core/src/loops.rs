//! The loops of [compact](crate::Compact) code: all that is done with more than two elements at a
//! time.
//!
//! An operator behind a pointer is called for each of them, not for each element, so that an engine
//! compiled once for a type serves all operators on it.

use crate::Kind;

/// Puts the left fold of each chunk of the elements, of which the last may be shorter, into
/// `folds`.
#[inline(always)]
pub(crate) fn fold_chunks<A: Copy>(
    combine: impl Fn(A, A) -> A,
    elements: &[A],
    chunk: usize,
    folds: &mut [A],
) {
    for (fold, elements) in folds.iter_mut().zip(elements.chunks(chunk)) {
        let (&first, rest) = elements.split_first().expect("a chunk has an element");
        *fold = rest.iter().fold(first, |left, &right| combine(left, right));
    }
}

/// Scans each chunk of the elements from left to right. The first is preceded by `before`, chunk
/// `c` by `before`, if there is anything, and `folds[c - 1]`. Gives what the last chunk's fold
/// comes to with what precedes it.
#[inline(always)]
pub(crate) fn scan_chunks<A: Copy>(
    (identity, combine): (impl Fn() -> A, impl Fn(A, A) -> A),
    kind: Kind,
    data: &mut [A],
    chunk: usize,
    before: Option<A>,
    folds: &[A],
) -> A {
    let mut through = before;
    for (c, elements) in data.chunks_mut(chunk).enumerate() {
        through = match (before, c) {
            (_, 0) => before,
            (None, _) => Some(folds[c - 1]),
            (Some(before), _) => Some(combine(before, folds[c - 1])),
        };
        through = scan_left(&identity, &combine, kind, elements, through);
    }
    through.expect("there is an element")
}

#[inline(always)]
fn scan_left<A: Copy>(
    identity: impl Fn() -> A,
    combine: impl Fn(A, A) -> A,
    kind: Kind,
    elements: &mut [A],
    before: Option<A>,
) -> Option<A> {
    let (first, rest) = elements.split_first_mut()?;
    let mut through = before.map_or(*first, |before| combine(before, *first));
    match kind {
        Kind::Inclusive => {
            *first = through;
            for element in rest {
                through = combine(through, *element);
                *element = through;
            }
        }
        Kind::Exclusive => {
            *first = before.unwrap_or_else(identity);
            for element in rest {
                let next = combine(through, *element);
                *element = std::mem::replace(&mut through, next);
            }
        }
    }
    Some(through)
}

/// Combines each element on the left with the one in its place on the right, where the result
/// stays.
#[inline(always)]
pub(crate) fn combine_each<A: Copy>(combine: impl Fn(A, A) -> A, left: &[A], right: &mut [A]) {
    for (&left, right) in left.iter().zip(right) {
        *right = combine(left, *right);
    }
}
