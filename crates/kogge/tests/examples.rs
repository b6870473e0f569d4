//! The worked examples run, and their operators keep their promises.

use kogge::{check_operator, check_operator_on};

#[allow(dead_code)]
#[path = "../examples/csv_quotes.rs"]
mod csv_quotes;
#[allow(dead_code)]
#[path = "../examples/maximum_subarray.rs"]
mod maximum_subarray;
#[allow(dead_code)]
#[path = "../examples/parentheses.rs"]
mod parentheses;
#[allow(dead_code)]
#[path = "../examples/polynomial_hash.rs"]
mod polynomial_hash;
#[allow(dead_code)]
#[path = "../examples/recurrence.rs"]
mod recurrence;
#[allow(dead_code)]
#[path = "../examples/rotations.rs"]
mod rotations;
#[allow(dead_code)]
#[path = "../examples/saturating_counter.rs"]
mod saturating_counter;
#[allow(dead_code)]
#[path = "../examples/welford.rs"]
mod welford;

#[test]
fn welford_merges() {
    welford::main();
    let values = [0.0, 1.5, -2.0, 1e3].map(welford::Moments::of);
    let mut elements = vec![welford::Moments::NONE];
    elements.extend(values);
    elements.push(
        values.into_iter().reduce(|l, r| kogge::Operator::combine(&welford::Merge, l, r)).unwrap(),
    );
    check_operator_on(&welford::Merge, &elements).unwrap();
}

#[test]
fn recurrences_compose() {
    recurrence::main();
    check_operator(&recurrence::Then).unwrap();
}

#[test]
fn the_maximum_subarray_joins() {
    maximum_subarray::main();
    check_operator_on(
        &maximum_subarray::Join,
        &[-7, -1, 0, 1, 2, 30].map(maximum_subarray::Stretch::of),
    )
    .unwrap();
    // Elements that no numbers have break the law of the identity.
    check_operator(&maximum_subarray::Join).unwrap_err();
}

#[test]
fn parentheses_nest() {
    parentheses::main();
    check_operator_on(&parentheses::Nest, &[b'(', b')', b'x'].map(parentheses::Nesting::of))
        .unwrap();
}

#[test]
fn saturating_counters_advance() {
    saturating_counter::main();
    let narrow = |step| saturating_counter::Count { step, low: -5, high: 9 };
    let mut elements = vec![narrow(-20), narrow(3), narrow(0), narrow(7)];
    elements.extend([true, false].map(saturating_counter::Count::branch));
    check_operator_on(&saturating_counter::Advance, &elements).unwrap();
}

#[test]
fn csv_quotes_are_read() {
    csv_quotes::main();
    // Every byte is a map of four states, so every byte must obey.
    check_operator(&csv_quotes::Read).unwrap();
    assert_eq!(csv_quotes::separators("a,b"), [1]);
    assert_eq!(csv_quotes::separators("\"a,b\""), []);
    assert_eq!(csv_quotes::separators("\"a\"\"\",b"), [5]);
}

#[test]
fn hashes_concatenate() {
    polynomial_hash::main();
    let elements = [0, 1, b'a', 255].map(polynomial_hash::Hash::of);
    check_operator_on(&polynomial_hash::Concatenate, &elements).unwrap();
}

#[test]
fn rotations_turn() {
    rotations::main();
    check_operator(&rotations::Turn).unwrap();
}
