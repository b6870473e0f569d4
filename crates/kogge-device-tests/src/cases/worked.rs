//! The worked examples of `kogge`.

use crate::Case;

#[allow(dead_code, missing_docs)]
#[path = "../../../kogge/examples/csv_quotes.rs"]
mod csv_quotes;
#[allow(dead_code, missing_docs)]
#[path = "../../../kogge/examples/maximum_subarray.rs"]
mod maximum_subarray;
#[allow(dead_code, missing_docs)]
#[path = "../../../kogge/examples/parentheses.rs"]
mod parentheses;
#[allow(dead_code, missing_docs)]
#[path = "../../../kogge/examples/polynomial_hash.rs"]
mod polynomial_hash;
#[allow(dead_code, missing_docs)]
#[path = "../../../kogge/examples/recurrence.rs"]
mod recurrence;
#[allow(dead_code, missing_docs)]
#[path = "../../../kogge/examples/rotations.rs"]
mod rotations;
#[allow(dead_code, missing_docs)]
#[path = "../../../kogge/examples/saturating_counter.rs"]
mod saturating_counter;
#[allow(dead_code, missing_docs)]
#[path = "../../../kogge/examples/welford.rs"]
mod welford;

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case::new("csv_quotes", csv_quotes::Read),
        Case::new("maximum_subarray", maximum_subarray::Join),
        Case::new("parentheses", parentheses::Nest),
        Case::new("polynomial_hash", polynomial_hash::Concatenate),
        Case::new("recurrence", recurrence::Then),
        Case::new("rotations", rotations::Turn),
        Case::new("saturating_counter", saturating_counter::Advance),
        Case::new("welford", welford::Merge),
    ]
}
