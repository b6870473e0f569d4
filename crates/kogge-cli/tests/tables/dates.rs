//! Columns of dates and times, which are numbers that mean more.

use crate::common::Place;
use arrow_array::types::Int32Type;
use arrow_array::{
    Array, ArrayRef, Date32Array, Date64Array, Int64Array, ListViewArray, MapArray, PrimitiveArray,
    RecordBatch, RunArray, StringArray, StructArray, Time32SecondArray, TimestampSecondArray,
};
use arrow_buffer::{OffsetBuffer, ScalarBuffer};
use arrow_ipc::writer::FileWriter;
use arrow_schema::Field;
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use std::fs::File;
use std::sync::Arc;
/// An Arrow file with these columns.
pub(super) fn arrow_file(place: &Place, name: &str, columns: Vec<(&str, ArrayRef)>) {
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let file = File::create(place.path(name)).unwrap();
    let mut writer = FileWriter::try_new(file, &batch.schema()).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
}

#[test]
fn times_of_named_zones_have_a_text() {
    let place = Place::new();
    let when = |zone: &str| -> ArrayRef {
        let seconds = vec![Some(0), None, Some(1_751_328_000)];
        Arc::new(TimestampSecondArray::from(seconds).with_timezone(zone))
    };
    let x: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
    let columns = vec![("utc", when("UTC")), ("there", when("Europe/Berlin")), ("x", x.clone())];
    arrow_file(&place, "x.arrow", columns);
    let want = "utc,there,x,x_sum\n\
                1970-01-01T00:00:00Z,1970-01-01T01:00:00+01:00,1,1\n,,2,3\n\
                2025-07-01T00:00:00Z,2025-07-01T02:00:00+02:00,3,6\n";
    assert_eq!(place.stdout("x.arrow --column x"), want);
    let latest = place.last_column("x.arrow --column there --op max");
    assert_eq!(latest, ["1970-01-01T01:00:00+01:00", "", "2025-07-01T02:00:00+02:00"]);
    // What has none is named before anything is written.
    arrow_file(&place, "mars.arrow", vec![("landed", when("Mars/Olympus")), ("x", x)]);
    let output = place.scan("mars.arrow --column x").output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(5), 0), "{said}");
    assert!(
        said.contains("column 'landed' has no text") && said.contains("Mars/Olympus"),
        "{said}"
    );
}

#[test]
fn recurrences_take_no_dates() {
    let place = Place::new();
    let date: ArrayRef = Arc::new(Date32Array::from(vec![1, 2]));
    let a: ArrayRef = Arc::new(Int64Array::from(vec![1, 2]));
    arrow_file(&place, "x.arrow", vec![("a", a), ("date", date)]);
    for columns in ["--column a --column date", "--column date --column a"] {
        let says = "column 'date' holds Date32, which affine does not take";
        place.fails(&format!("x.arrow --op affine {columns}"), 5, &[says]);
    }
}

/// Parquet has no dates in milliseconds and no times in seconds: they'd be read as integers.
#[test]
fn dates_and_times_stay_such_in_parquet() {
    let place = Place::new();
    let day = 86_400_000;
    let date: ArrayRef = Arc::new(Date64Array::from(vec![Some(day), None, Some(-3 * day)]));
    let at: ArrayRef = Arc::new(TimestampSecondArray::from(vec![-1, 0, 1]).with_timezone("UTC"));
    let time: ArrayRef = Arc::new(Time32SecondArray::from(vec![1, 2, 3]));
    let seconds = TimestampSecondArray::from(vec![7, 8, 9]);
    let inner = Field::new("at", seconds.data_type().clone(), true);
    let within: ArrayRef =
        Arc::new(StructArray::from(vec![(Arc::new(inner), Arc::new(seconds) as ArrayRef)]));
    let columns = vec![("date", date), ("at", at), ("time", time), ("within", within)];
    arrow_file(&place, "x.arrow", columns);
    place.stdout("x.arrow --column date --column at --column time --op min -o y.parquet");
    let file = File::open(place.path("y.parquet")).unwrap();
    let reader = SerializedFileReader::new(file).unwrap();
    let schema = reader.metadata().file_metadata().schema_descr();
    let kinds: Vec<String> = schema
        .columns()
        .iter()
        .map(|column| format!("{} {:?}", column.path().string(), column.logical_type_ref()))
        .collect();
    let unit = |kind: &str, utc: bool| {
        format!("Some({kind}(TimestampType {{ is_adjusted_to_u_t_c: {utc}, unit: MILLIS }}))")
    };
    let (date, at, time) = ("Some(Date)", unit("Timestamp", true), unit("Time", false));
    let within = unit("Timestamp", false);
    let want = [
        format!("date {date}"),
        format!("at {at}"),
        format!("time {time}"),
        format!("within.at {within}"),
        format!("date_min {date}"),
        format!("at_min {at}"),
        format!("time_min {time}"),
    ];
    assert_eq!(kinds, want);
    let (parquet, arrow) = (
        place.last_column("y.parquet --column date --op last-valid"),
        place.last_column("x.arrow --column date --op last-valid"),
    );
    assert_eq!(parquet, ["1970-01-02", "1970-01-02", "1969-12-29"]);
    assert_eq!(arrow.len(), 3);
    let at = place.last_column("y.parquet --column at --op max");
    assert_eq!(at, ["1969-12-31T23:59:59Z", "1970-01-01T00:00:00Z", "1970-01-01T00:00:01Z"]);
    // Seconds that have no milliseconds are refused, not lost.
    let far: ArrayRef = Arc::new(TimestampSecondArray::from(vec![i64::MAX]));
    arrow_file(&place, "far.arrow", vec![("far", far)]);
    place.fails("far.arrow --column far --op max -o z.parquet", 5, &["column 'far'"]);
}

/// As above, however deep they lie.
#[test]
fn dates_and_times_within_maps_and_views_stay_such_in_parquet() {
    let place = Place::new();
    let dates: ArrayRef = Arc::new(Date64Array::from(vec![86_400_000, 0, 2 * 86_400_000]));
    let seconds: ArrayRef = Arc::new(TimestampSecondArray::from(vec![7, 8, 9]));
    let keys: ArrayRef = Arc::new(StringArray::from(vec!["a", "b", "c"]));
    let field = |name: &str, array: &ArrayRef, nullable| {
        Arc::new(Field::new(name, array.data_type().clone(), nullable))
    };
    let entries = StructArray::from(vec![
        (field("keys", &keys, false), keys.clone()),
        (field("values", &dates, true), dates.clone()),
    ]);
    let entry = Arc::new(Field::new("entries", entries.data_type().clone(), false));
    let offsets = OffsetBuffer::from_lengths([2, 1]);
    let maps: ArrayRef = Arc::new(MapArray::new(entry, offsets, entries, None, false));
    let (starts, lengths) = (ScalarBuffer::from(vec![1, 0]), ScalarBuffer::from(vec![2, 1]));
    let item = field("item", &seconds, true);
    let views: ArrayRef = Arc::new(ListViewArray::new(item, starts, lengths, seconds, None));
    let x: ArrayRef = Arc::new(Int64Array::from(vec![1, 2]));
    let ends: PrimitiveArray<Int32Type> = vec![2].into();
    let time = Time32SecondArray::from(vec![3]);
    let runs: ArrayRef = Arc::new(RunArray::try_new(&ends, &time).unwrap());
    arrow_file(&place, "x.arrow", vec![("map", maps), ("view", views), ("run", runs), ("x", x)]);
    place.stdout("x.arrow --column x -o y.parquet");
    let file = File::open(place.path("y.parquet")).unwrap();
    let reader = SerializedFileReader::new(file).unwrap();
    let schema = reader.metadata().file_metadata().schema_descr();
    let kinds: Vec<_> =
        schema.columns().iter().map(|column| format!("{:?}", column.logical_type_ref())).collect();
    assert_eq!(kinds[1], "Some(Date)");
    assert!(kinds[2].starts_with("Some(Timestamp("), "{kinds:?}");
    assert!(kinds[3].starts_with("Some(Time("), "{kinds:?}");
    let want = "map,view,run,x,x_sum,x_sum_max\n\
                \"{a: 1970-01-02, b: 1970-01-01}\",\"[1970-01-01T00:00:08, 1970-01-01T00:00:09]\",00:00:03,1,1,1\n\
                {c: 1970-01-03},[1970-01-01T00:00:07],00:00:03,2,3,3\n";
    assert_eq!(place.stdout("y.parquet --column x_sum --op max"), want);
}

#[test]
fn the_first_of_exclusive_extremes_of_dates_is_null() {
    let place = Place::new();
    let days: ArrayRef =
        Arc::new(Date32Array::from(vec![None, Some(2), Some(1), Some(4), Some(3)]));
    let seconds: ArrayRef = Arc::new(Time32SecondArray::from(vec![5, 2, 9, 4, 1]));
    let keys: ArrayRef = Arc::new(Int64Array::from(vec![1, 1, 1, 2, 2]));
    arrow_file(&place, "x.arrow", vec![("day", days), ("time", seconds), ("k", keys)]);
    let check = |arguments: &str, expected: [&str; 5]| {
        for buffer in ["", "1"] {
            let arguments = format!("x.arrow --exclusive {arguments}");
            let cells = place.last_column_by(buffer, &arguments);
            assert_eq!(cells, expected, "{arguments}");
        }
    };
    let [one, two, four] = ["1970-01-02", "1970-01-03", "1970-01-05"];
    check("--op max --column day", ["", "", two, two, four]);
    check("--op min --column day", ["", "", two, one, one]);
    check("--op max --column day --by k", ["", "", two, "", four]);
    check("--op min --column day --reverse", ["", one, "1970-01-04", "1970-01-04", ""]);
    check("--op max --column time", ["", "00:00:05", "00:00:05", "00:00:09", "00:00:09"]);
    check("--op max --column day --init 1970-01-03", ["", two, two, two, four]);
    check("--op max --column day --init 2", ["", two, two, two, four]);
    check(
        "--op max --column time --init 00:00:07",
        ["00:00:07", "00:00:07", "00:00:07", "00:00:09", "00:00:09"],
    );
    let bad = "x.arrow --op max --column day --init 1970-13-01";
    place.fails(bad, 2, &["'1970-13-01' is no Date32", "2022-01-31"]);
    place.stdout("x.arrow --exclusive --op min --column day --column time -o y.parquet");
    let read = place.last_column("y.parquet --column time_min --op last-valid");
    assert_eq!(read, ["", "00:00:05", "00:00:02", "00:00:02", "00:00:02"]);
    // As numbers they have the operator's.
    let first = &place.last_column("x.arrow --exclusive --op max --column time --dtype i64")[0];
    assert_eq!(*first, i64::MIN.to_string());
}

#[test]
fn who_asks_for_a_type_of_numbers_is_given_numbers() {
    let place = Place::new();
    let at: ArrayRef = Arc::new(TimestampSecondArray::from(vec![5, 7, 6]));
    let day: ArrayRef = Arc::new(Date32Array::from(vec![1, 3, 2]));
    arrow_file(&place, "x.arrow", vec![("at", at), ("day", day)]);
    let cells = |arguments: &str| place.last_column(&format!("x.arrow {arguments}"));
    assert_eq!(cells("--op max --column day"), ["1970-01-02", "1970-01-04", "1970-01-04"]);
    assert_eq!(cells("--op max --column day --dtype i32"), ["1", "3", "3"]);
    assert_eq!(cells("--op max --column at --dtype i64"), ["5", "7", "7"]);
    assert_eq!(cells("--op sum --column at --dtype i64"), ["5", "12", "18"]);
    assert_eq!(cells("--op max --column at --dtype i64 --init 6"), ["6", "7", "7"]);
    let hint = "argmin and argmax do; --dtype i64 has it taken for numbers";
    place.fails("x.arrow --op sum --column at", 5, &["holds Timestamp(s)", hint]);
}
