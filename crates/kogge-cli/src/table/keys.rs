//! Where the keys of Arrow's rows change.
//!
//! Floats are equal as the keys of the library are: 0.0 to −0.0, and NaN to nothing, so that each
//! NaN begins a run. (Arrow's own order of floats tells zeros apart and NaN not.) Nulls are equal.

use super::bridge::{data_type, number_type};
use crate::error::{Error, Result};
use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Float16Type, Float32Type, Float64Type};
use arrow_array::{Array, ArrayRef};
use arrow_cast::cast;
use arrow_ord::ord::make_comparator;
use arrow_ord::partition::partition;
use arrow_schema::{ArrowError, DataType, SortOptions};

/// A column of keys, its floats not behind a dictionary.
///
/// # Errors
///
/// If the dictionary is broken.
pub fn plain(keys: &ArrayRef) -> Result<ArrayRef> {
    let float = number_type(keys.data_type()).map(|(dtype, _)| dtype).filter(|d| d.is_float());
    match (keys.data_type(), float.and_then(data_type)) {
        (DataType::Dictionary(..), Some(float)) => {
            cast(keys, &float).map_err(|error| cannot(&error))
        }
        _ => Ok(keys.clone()),
    }
}

/// The rows whose key is not that of the row before; `last` is the key of the row before the first.
///
/// # Errors
///
/// If there are keys that cannot be compared.
pub fn changes(last: Option<&[ArrayRef]>, keys: &[ArrayRef]) -> Result<Vec<usize>> {
    let mut rows = Vec::new();
    for (i, keys) in keys.iter().enumerate() {
        let last = last.map(|last| &last[i]);
        match keys.data_type() {
            DataType::Float16 => add_floats::<Float16Type>(last, keys, &mut rows),
            DataType::Float32 => add_floats::<Float32Type>(last, keys, &mut rows),
            DataType::Float64 => add_floats::<Float64Type>(last, keys, &mut rows),
            _ => add_others(last, keys, &mut rows).map_err(|error| cannot(&error))?,
        }
    }
    if keys.len() > 1 {
        rows.sort();
        rows.dedup();
    }
    Ok(rows)
}

fn cannot(error: &ArrowError) -> Error {
    Error::mismatch(format!("--by cannot compare keys: {error}"))
}

fn add_floats<P: ArrowPrimitiveType>(
    last: Option<&ArrayRef>,
    keys: &ArrayRef,
    rows: &mut Vec<usize>,
) {
    let mut before = last.and_then(|last| last.as_primitive::<P>().iter().next());
    for (row, key) in keys.as_primitive::<P>().iter().enumerate() {
        if before.is_some_and(|before| before != key) {
            rows.push(row);
        }
        before = Some(key);
    }
}

fn add_others(
    last: Option<&ArrayRef>,
    keys: &ArrayRef,
    rows: &mut Vec<usize>,
) -> Result<(), ArrowError> {
    if let Some(last) = last
        && make_comparator(last, keys, SortOptions::default())?(0, 0).is_ne()
    {
        rows.push(0);
    }
    let runs = partition(std::slice::from_ref(keys))?.ranges();
    rows.extend(runs.iter().skip(1).map(|run| run.start));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{DictionaryArray, Float64Array, Int8Array, StringArray};
    use std::sync::Arc;

    fn floats(keys: &[Option<f64>]) -> ArrayRef {
        Arc::new(Float64Array::from(keys.to_vec()))
    }

    #[test]
    fn floats_are_equal_as_in_the_library() {
        let keys = [0.0, -0.0, f64::NAN, f64::NAN, 1.0, 1.0];
        let array = floats(&keys.map(Some));
        let rows = changes(None, std::slice::from_ref(&array)).unwrap();
        assert_eq!(rows, [2, 3, 4]);
        let ones = [1i64; 6];
        let mut heads = [false; 6];
        rows.iter().for_each(|&row| heads[row] = true);
        let scan = kogge::Scan::new(kogge::ops::Sum);
        assert_eq!(
            scan.segments(kogge::by_heads(&heads)).scan(&ones).unwrap(),
            scan.segments(kogge::by_key(&keys)).scan(&ones).unwrap()
        );
        // The same across batches, behind a dictionary, and with narrower floats.
        let starts = |last: f64, first: f64| {
            changes(Some(&[floats(&[Some(last)])]), &[floats(&[Some(first)])]).unwrap()
        };
        assert!(starts(0.0, -0.0).is_empty());
        assert_eq!(starts(f64::NAN, f64::NAN), [0]);
        let places = Int8Array::from(vec![0, 1, 2, 2, 4, 5]);
        let coded: ArrayRef = Arc::new(DictionaryArray::new(places, array.clone()));
        assert_eq!(changes(None, &[plain(&coded).unwrap()]).unwrap(), rows);
        for narrow in [DataType::Float32, DataType::Float16] {
            let narrow = cast(&array, &narrow).unwrap();
            assert_eq!(changes(None, &[plain(&narrow).unwrap()]).unwrap(), rows);
        }
    }

    #[test]
    fn any_of_several_keys_changes() {
        let one = floats(&[None, None, Some(1.0), Some(1.0), None]);
        let other: ArrayRef = Arc::new(StringArray::from(vec!["a", "b", "b", "b", "c"]));
        assert_eq!(changes(None, &[one.clone(), other.clone()]).unwrap(), [1, 2, 4]);
        let last = [one.slice(4, 1), other.slice(0, 1)];
        assert_eq!(changes(Some(&last), &[one.clone(), other.clone()]).unwrap(), [1, 2, 4]);
        let last = [one.slice(3, 1), other.slice(4, 1)];
        assert_eq!(changes(Some(&last), &[one, other]).unwrap(), [0, 1, 2, 4]);
    }
}
