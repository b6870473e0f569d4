//! Parquet files whose writer had types that Parquet lacks, and put them beside the data.

use crate::common::Place;
use arrow_array::{
    Array, ArrayRef, BooleanArray, Decimal128Array, Float16Array, Int64Array, ListArray,
    RecordBatch, TimestampMillisecondArray,
};
use arrow_buffer::{OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field, FieldRef, Schema, TimeUnit};
use half::f16;
use parquet::arrow::arrow_reader::ArrowReaderMetadata;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::arrow::{ARROW_SCHEMA_META_KEY, ArrowWriter, encode_arrow_schema};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use std::fs::File;
use std::sync::Arc;

/// A file with these columns, each with the type that it is said to have been written from.
fn parquet_file(place: &Place, name: &str, columns: Vec<(&str, ArrayRef, DataType)>) {
    let field = |name: &str, data_type: &DataType| Field::new(name, data_type.clone(), true);
    let said: Vec<Field> = columns.iter().map(|(name, _, said)| field(name, said)).collect();
    let fields: Vec<Field> =
        columns.iter().map(|(name, array, _)| field(name, array.data_type())).collect();
    let schema = Arc::new(Schema::new(fields));
    let arrays = columns.into_iter().map(|(_, array, _)| array).collect();
    let batch = RecordBatch::try_new(Arc::clone(&schema), arrays).unwrap();
    let said = encode_arrow_schema(&Schema::new(said));
    let said = KeyValue::new(ARROW_SCHEMA_META_KEY.to_owned(), said);
    let properties = WriterProperties::builder().set_key_value_metadata(Some(vec![said])).build();
    let options =
        ArrowWriterOptions::new().with_properties(properties).with_skip_arrow_metadata(true);
    let file = File::create(place.path(name)).unwrap();
    let mut writer = ArrowWriter::try_new_with_options(file, schema, options).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

fn types(place: &Place, name: &str) -> Vec<DataType> {
    let file = File::open(place.path(name)).unwrap();
    let schema = ArrowReaderMetadata::load(&file, Default::default()).unwrap().schema().clone();
    schema.fields().iter().map(|field| field.data_type().clone()).collect()
}

fn list_of(item: &DataType) -> DataType {
    DataType::List(item_of(item))
}

fn item_of(item: &DataType) -> FieldRef {
    Arc::new(Field::new("item", item.clone(), true))
}

/// Parquet has no seconds: they were written as milliseconds, which the zone is of, too.
#[test]
fn times_in_seconds_keep_their_zone() {
    let place = Place::new();
    let zone: Option<Arc<str>> = Some("Europe/Berlin".into());
    let [seconds, millis, plain] = [
        DataType::Timestamp(TimeUnit::Second, zone.clone()),
        DataType::Timestamp(TimeUnit::Millisecond, zone),
        DataType::Timestamp(TimeUnit::Second, None),
    ];
    let utc: ArrayRef = Arc::new(
        TimestampMillisecondArray::from(vec![Some(0), None, Some(1_751_328_000_000)])
            .with_timezone("UTC"),
    );
    let offsets = OffsetBuffer::new(ScalarBuffer::from(vec![0, 2, 2, 3]));
    let lists: ArrayRef =
        Arc::new(ListArray::new(item_of(utc.data_type()), offsets, utc.clone(), None));
    let n: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
    let columns = vec![
        ("at", utc.clone(), seconds.clone()),
        ("utc", utc, plain),
        ("list", lists, list_of(&seconds)),
        ("n", n, DataType::Int64),
    ];
    parquet_file(&place, "x.parquet", columns);
    let want = "at,utc,list,n,n_sum\n\
                1970-01-01T01:00:00+01:00,1970-01-01T00:00:00Z,\"[1970-01-01T01:00:00+01:00, ]\",1,1\n\
                ,,[],2,3\n\
                2025-07-01T02:00:00+02:00,2025-07-01T00:00:00Z,[2025-07-01T02:00:00+02:00],3,6\n";
    assert_eq!(place.stdout("x.parquet --column n"), want);
    place.stdout("x.parquet --column at --op max -o y.parquet");
    let types = types(&place, "y.parquet");
    assert_eq!([&types[0], &types[4]], [&millis, &millis]);
    assert_eq!(types[1], DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into())));
    assert_eq!(types[2], list_of(&millis));
}

/// The reader makes dictionaries of other types, and panics over some, or says that it can't.
#[test]
fn dictionaries_that_the_reader_lacks() {
    let place = Place::new();
    let decimals = Decimal128Array::from(vec![Some(150), None, Some(-25)]);
    let decimals: ArrayRef = Arc::new(decimals.with_precision_and_scale(38, 2).unwrap());
    let short = Decimal128Array::from(vec![Some(1), Some(1), None]);
    let short: ArrayRef = Arc::new(short.with_precision_and_scale(5, 1).unwrap());
    let halves = [1.5, -0.5, 2.0].map(f16::from_f32).to_vec();
    let halves: ArrayRef = Arc::new(Float16Array::from(halves));
    let truths: ArrayRef = Arc::new(BooleanArray::from(vec![Some(true), None, Some(false)]));
    let n: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
    let coded = |array: &ArrayRef| {
        DataType::Dictionary(Box::new(DataType::Int32), Box::new(array.data_type().clone()))
    };
    let columns = vec![
        ("d", decimals.clone(), coded(&decimals)),
        ("s", short.clone(), coded(&short)),
        ("t", truths.clone(), coded(&truths)),
        ("h", halves.clone(), coded(&halves)),
        ("n", n.clone(), coded(&n)),
    ];
    parquet_file(&place, "x.parquet", columns);
    let text = "d,s,t,h,n,n_sum\n1.50,0.1,true,1.5,1,1\n,0.1,,-0.5,2,3\n-0.25,,false,2.0,3,6\n";
    assert_eq!(place.stdout("x.parquet --column n"), text);
    assert_eq!(place.last_column("x.parquet --column d --dtype f64"), ["1.5", "", "1.25"]);
    assert_eq!(place.last_column("x.parquet --column s --dtype f64"), ["0.1", "0.2", ""]);
    assert_eq!(place.last_column("x.parquet --column t --op any"), ["true", "", "true"]);
    assert_eq!(place.last_column("x.parquet --column n --by t"), ["1", "2", "3"]);
}
