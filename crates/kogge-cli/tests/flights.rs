//! Three million flights, against loops over the rows that know nothing of scans.

mod common;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Int64Array, RecordBatch};
use common::{Place, shared};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

fn rows(path: &Path) -> Vec<RecordBatch> {
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap();
    reader.build().unwrap().map(Result::unwrap).collect()
}

fn column(batches: &[RecordBatch], name: &str) -> Vec<Option<i64>> {
    let arrays = batches.iter().map(|batch| {
        let array =
            arrow_cast::cast(batch.column_by_name(name).unwrap(), &arrow_schema::DataType::Int64);
        array.unwrap().as_primitive::<Int64Type>().clone()
    });
    arrays.collect::<Vec<Int64Array>>().iter().flat_map(|array| array.iter()).collect()
}

fn strings(batches: &[RecordBatch], name: &str) -> Vec<String> {
    let mut all = Vec::new();
    for batch in batches {
        let array =
            arrow_cast::cast(batch.column_by_name(name).unwrap(), &arrow_schema::DataType::Utf8)
                .unwrap();
        all.extend(array.as_string::<i32>().iter().map(|text| text.unwrap().to_owned()));
    }
    all
}

/// The file's path and what is in it, read once for all tests; nothing where there is no such file.
fn flights() -> Option<(&'static str, &'static [RecordBatch])> {
    static FLIGHTS: OnceLock<Option<(PathBuf, Vec<RecordBatch>)>> = OnceLock::new();
    let flights = FLIGHTS.get_or_init(|| {
        let path = shared("flights-3m.parquet")?;
        let batches = rows(&path);
        assert_eq!(batches.iter().map(RecordBatch::num_rows).sum::<usize>(), 3_000_000);
        Some((path, batches))
    });
    flights.as_ref().map(|(path, batches)| (path.to_str().unwrap(), &**batches))
}

#[test]
fn sums_beside_the_inputs_columns() {
    let Some((input, flights)) = flights() else { return };
    let place = Place::new();
    place.stdout(&format!("{input} --column delay --column distance -o sums.parquet"));
    let output = rows(&place.path("sums.parquet"));
    for name in ["date", "delay", "distance"] {
        assert_eq!(column(&output, name), column(flights, name), "{name}");
    }
    assert_eq!(strings(&output, "destination"), strings(flights, "destination"));
    for name in ["delay", "distance"] {
        let mut sum = 0;
        let expected: Vec<Option<i64>> = column(flights, name)
            .into_iter()
            .map(|x| {
                x.map(|x| {
                    sum += x;
                    sum
                })
            })
            .collect();
        assert_eq!(column(&output, &format!("{name}_sum")), expected, "{name}");
    }
}

#[test]
fn extremes_of_runs_and_of_all() {
    let Some((input, flights)) = flights() else { return };
    let place = Place::new();
    place.stdout(&format!("{input} --column delay --by origin --op max -o runs.arrow"));
    place.stdout("runs.arrow --column delay_max --op min -o runs.parquet");
    let output = rows(&place.path("runs.parquet"));
    let origins = strings(flights, "origin");
    let mut highest = None;
    let mut lowest = None;
    let mut expected = (Vec::new(), Vec::new());
    for (i, delay) in column(flights, "delay").into_iter().enumerate() {
        if i > 0 && origins[i] != origins[i - 1] {
            highest = None;
        }
        highest = highest.max(delay);
        lowest = [lowest, highest].into_iter().flatten().min();
        expected.0.push(delay.and(highest));
        expected.1.push(delay.and(lowest));
    }
    assert_eq!(column(&output, "delay_max"), expected.0);
    assert_eq!(column(&output, "delay_max_min"), expected.1);
}

#[test]
fn what_follows_a_flight() {
    let Some((input, flights)) = flights() else { return };
    let place = Place::new();
    place.stdout(&format!("{input} --column delay --reverse --exclusive -o back.npy"));
    let back: Vec<i64> = common::elements(&place.read("back.npy"), "<i8");
    assert_eq!(back.len(), 3_000_000);
    let mut sum = 0;
    for (delay, back) in column(flights, "delay").iter().zip(&back).rev() {
        assert_eq!(*back, sum);
        sum += delay.unwrap();
    }
}

#[test]
fn dates_are_compared_but_not_added_up() {
    let Some((input, flights)) = flights() else { return };
    let place = Place::new();
    place.stdout(&format!("{input} --column date --op max -o dates.parquet"));
    let output = rows(&place.path("dates.parquet"));
    let schema = output[0].schema();
    assert_eq!(
        schema.field_with_name("date").unwrap().data_type(),
        schema.field_with_name("date_max").unwrap().data_type()
    );
    let mut last = None;
    for (date, max) in column(flights, "date").into_iter().zip(column(&output, "date_max")) {
        last = last.max(date);
        assert_eq!(max, last);
    }
    let text = place.stdout("dates.parquet --column date --op max --as latest");
    for line in text.lines().skip(1).take(1_000) {
        let cells: Vec<&str> = line.split(',').collect();
        assert!(cells[0].starts_with("2001-") && cells[6] >= cells[0], "{line}");
        assert_eq!(cells[5], cells[6]);
    }
    place.fails(&format!("{input} --column date"), 5, &["date", "Timestamp", "min"]);
    place.fails(&format!("{input} --column origin"), 5, &["origin", "not numbers"]);
}
