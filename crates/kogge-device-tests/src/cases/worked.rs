//! The worked examples of `kogge`.

use crate::Case;

#[allow(dead_code, missing_docs)]
#[path = "../../../kogge/examples/csv_quotes.rs"]
pub mod csv_quotes;
#[allow(dead_code, missing_docs)]
#[path = "../../../kogge/examples/maximum_subarray.rs"]
pub mod maximum_subarray;
#[allow(dead_code, missing_docs)]
#[path = "../../../kogge/examples/parentheses.rs"]
pub mod parentheses;
#[allow(dead_code, missing_docs)]
#[path = "../../../kogge/examples/polynomial_hash.rs"]
pub mod polynomial_hash;
#[allow(dead_code, missing_docs)]
#[path = "../../../kogge/examples/recurrence.rs"]
pub mod recurrence;
#[allow(dead_code, missing_docs)]
#[path = "../../../kogge/examples/rotations.rs"]
pub mod rotations;
#[allow(dead_code, missing_docs)]
#[path = "../../../kogge/examples/saturating_counter.rs"]
pub mod saturating_counter;
#[allow(dead_code, missing_docs)]
#[path = "../../../kogge/examples/welford.rs"]
pub mod welford;

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
