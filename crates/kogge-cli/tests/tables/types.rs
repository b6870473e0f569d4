//! Types of columns: two at once, decimals, and what a format lacks.

use crate::common::Place;
use crate::dates::arrow_file;
use arrow_array::types::IntervalMonthDayNano;
use arrow_array::{
    Array, ArrayRef, Decimal128Array, DictionaryArray, Float32Array, Int8Array, Int32Array,
    Int64Array, IntervalMonthDayNanoArray, ListArray, UInt32Array, UInt64Array, UnionArray,
};
use arrow_buffer::{OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field};
use std::sync::Arc;

/// A type that holds the numbers of both, whichever is first.
#[test]
fn recurrences_over_columns_of_two_types() {
    let place = Place::new();
    let columns: [(&str, ArrayRef); 5] = [
        ("i", Arc::new(Int64Array::from(vec![-1, (1 << 53) - 1]))),
        ("u", Arc::new(UInt64Array::from(vec![1, 3]))),
        ("n", Arc::new(Int32Array::from(vec![-1, -2]))),
        ("m", Arc::new(UInt32Array::from(vec![1, u32::MAX]))),
        ("f", Arc::new(Float32Array::from(vec![1.0, 1.0]))),
    ];
    arrow_file(&place, "x.arrow", columns.into());
    for (a, b, y) in [
        ("i", "u", ["1", "9007199254740994"]),
        ("u", "i", ["-1", "9007199254740988"]),
        ("n", "m", ["1", "4294967293"]),
        ("m", "n", ["-1", "-4294967297"]),
        ("f", "i", ["-1.0", "9007199254740990.0"]),
        ("i", "f", ["1.0", "9007199254740992.0"]),
    ] {
        let scan = format!("x.arrow --op affine --column {a} --column {b}");
        assert_eq!(place.last_column(&scan), y, "{a} {b}");
    }
    let misfit = "x.arrow --op affine --column u --column i --dtype u64";
    place.fails(misfit, 5, &["row 0 of column 'i' is not a number of the type u64"]);
}

/// Ten million times a number that two roundings miss.
const NEAR: i128 = 82_030_920_993_190_389;

/// Neither rounded twice nor cut.
#[test]
fn decimals_are_exact_or_refused() {
    let place = Place::new();
    let decimals = |values: Vec<Option<i128>>, scale| -> ArrayRef {
        let array = Decimal128Array::from(values);
        Arc::new(array.with_precision_and_scale(38, scale).unwrap())
    };
    let quarters = decimals(vec![Some(25), None], 2);
    let coded = DictionaryArray::new(Int8Array::from(vec![0, 1, 0]), quarters);
    let columns: [(&str, ArrayRef); 4] = [
        ("coded", Arc::new(coded)),
        ("long", decimals(vec![Some((1 << 60) + 1), None, Some(-1)], 0)),
        ("halves", decimals(vec![Some(200), Some(-50), Some(0)], 2)),
        ("near", decimals(vec![Some(NEAR), None, None], 7)),
    ];
    arrow_file(&place, "x.arrow", columns.into());
    assert_eq!(place.last_column("x.arrow --column coded --dtype f64"), ["0.25", "", "0.5"]);
    place.stdout("x.arrow --column long --dtype i64 --as same -o x.arrows");
    for file in ["x.arrow", "x.arrows"] {
        let column = |arguments: &str| place.last_column(&format!("{file} {arguments}"));
        let long = ["1152921504606846977", "", "1152921504606846976"];
        assert_eq!(column("--column long --dtype i64"), long);
        assert_eq!(column("--column halves --dtype f32"), ["2.0", "1.5", "1.5"]);
        let once: f64 = "8203092099.3190389".parse().unwrap();
        assert_ne!(NEAR as f64 / 1e7, once);
        assert_eq!(column("--column near --dtype f64")[0].parse(), Ok(once));
        let fails = |arguments: &str, says| {
            place.fails(&format!("{file} {arguments}"), 5, &[says, "--dtype f64"]);
        };
        fails(
            "--column halves --dtype i32",
            "-0.50 in column 'halves' is not a number of the type",
        );
        fails("--column long --dtype u64", "-1 in column 'long' is not a number of the type u64");
        fails(
            "--column long --dtype i32",
            "row 0 of column 'long' is not a number of the type i32",
        );
        fails("--column long", "holds Decimal128(38, 0), not numbers");
    }
}

#[test]
fn types_that_parquet_lacks() {
    let place = Place::new();
    let children: Vec<ArrayRef> =
        vec![Arc::new(Int64Array::from(vec![1])), Arc::new(Int32Array::from(vec![2]))];
    let fields = [(0, "a", DataType::Int64), (1, "b", DataType::Int32)];
    let fields = fields.map(|(id, name, ty)| (id, Arc::new(Field::new(name, ty, true))));
    let union = UnionArray::try_new(
        fields.into_iter().collect(),
        ScalarBuffer::from(vec![0i8]),
        None,
        children,
    );
    let columns: [(&str, ArrayRef); 2] =
        [("x", Arc::new(Int64Array::from(vec![1]))), ("either", Arc::new(union.unwrap()))];
    arrow_file(&place, "x.arrow", columns.into());
    let says = ["column 'either' holds Union", "which Parquet lacks", "write to Arrow"];
    place.fails("x.arrow --column x -o y.parquet", 5, &says);
    place.stdout("x.arrow --column x -o y.arrow");
    // The writer finds these only when it comes to a value.
    let months = IntervalMonthDayNano { months: 1, days: 2, nanoseconds: 3 };
    let months: ArrayRef = Arc::new(IntervalMonthDayNanoArray::from(vec![months]));
    let item = Arc::new(Field::new("item", months.data_type().clone(), false));
    let lists = ListArray::new(item, OffsetBuffer::from_lengths([1]), months.clone(), None);
    for span in [months, Arc::new(lists)] {
        let x: ArrayRef = Arc::new(Int64Array::from(vec![1]));
        arrow_file(&place, "x.arrow", vec![("x", x), ("span", span)]);
        let says = ["column 'span' holds ", "Interval(MonthDayNano", "which Parquet lacks"];
        place.fails("x.arrow --column x -o y.parquet", 5, &says);
        place.stdout("x.arrow --column x -o y.arrow");
    }
}
