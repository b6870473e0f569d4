//! The types that the columns of a Parquet file were written from, where Parquet's reader gives
//! others.
//!
//! A writer that has Arrow's types puts them beside the data. Of these the reader takes what fits
//! its own: not the zone of times whose unit Parquet lacks, and also dictionaries that it can't
//! read.

use super::retype::{children, retyped, with_children, with_type};
use arrow_schema::{DataType, FieldRef, Schema, SchemaRef};
use base64::prelude::{BASE64_STANDARD, Engine};
use parquet::arrow::ARROW_SCHEMA_META_KEY;
use parquet::file::metadata::FileMetaData;
use std::sync::Arc;

/// The schema to read a file in, given the reader's own.
pub fn written(file: &FileMetaData, read: &SchemaRef) -> SchemaRef {
    let read = retyped(read, values_of_unreadable);
    let Some(written) = arrow_schema(file) else { return read };
    if written.fields().len() != read.fields().len() {
        return read;
    }
    let fields: Vec<FieldRef> = read
        .fields()
        .iter()
        .zip(written.fields())
        .map(|(read, written)| zoned(read, written))
        .collect();
    Arc::new(Schema::new_with_metadata(fields, read.metadata().clone()))
}

/// Arrow's schema as it stands in the file. The reader has refused what is none.
fn arrow_schema(file: &FileMetaData) -> Option<Schema> {
    let mut pairs = file.key_value_metadata()?.iter();
    let encoded = pairs.find(|pair| pair.key == ARROW_SCHEMA_META_KEY)?.value.as_ref()?;
    let message = BASE64_STANDARD.decode(encoded).ok()?;
    Some(super::ipc::open_stream(message.as_slice()).ok()?.0.as_ref().clone())
}

/// The values in place of a dictionary that the reader fails to make: of times it does so where
/// they are of 96 bits, which the type doesn't tell.
fn values_of_unreadable(data_type: &DataType) -> Option<DataType> {
    use DataType::{Boolean, Dictionary, Float16, Timestamp};
    let Dictionary(_, values) = data_type else { return None };
    let unreadable = values.is_decimal() || matches!(**values, Boolean | Float16 | Timestamp(..));
    unreadable.then(|| values.as_ref().clone())
}

/// A field with the zones of the one that it was written from.
fn zoned(read: &FieldRef, written: &FieldRef) -> FieldRef {
    with_type(read, zoned_type(read.data_type(), written.data_type()))
}

fn zoned_type(read: &DataType, written: &DataType) -> DataType {
    match (read, written) {
        (DataType::Timestamp(unit, Some(_)), DataType::Timestamp(_, Some(zone))) => {
            DataType::Timestamp(*unit, Some(Arc::clone(zone)))
        }
        (DataType::Dictionary(..), _) => read.clone(),
        (_, DataType::Dictionary(_, values)) => zoned_type(read, values),
        _ if children(read).len() == children(written).len() => {
            let mut written = children(written).iter();
            with_children(read, |read| written.next().map_or(Arc::clone(read), |w| zoned(read, w)))
        }
        _ => read.clone(),
    }
}
