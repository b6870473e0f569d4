//! Columns of keys into a dictionary, as columns of values.
//!
//! Each row group of a Parquet file, and any part of an Arrow stream, may have a dictionary of its
//! own; an Arrow file has one for all its rows.

use super::retype::{retype, retyped};
use crate::table::arrow::Batches;
use arrow_schema::{DataType, Schema, SchemaRef};

/// The same schema with values where it has dictionaries.
pub fn decoded(schema: &Schema) -> SchemaRef {
    retyped(schema, |data_type| match data_type {
        DataType::Dictionary(_, values) => Some(values.as_ref().clone()),
        _ => None,
    })
}

/// The same batches in a schema that [`decoded`] gave.
pub fn decode(batches: Batches, schema: SchemaRef) -> Batches {
    Box::new(batches.map(move |batch| retype(&batch?, &schema)))
}
