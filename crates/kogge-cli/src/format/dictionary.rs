//! Columns of keys into a dictionary, as columns of values.
//!
//! Each row group of a Parquet file, and any part of an Arrow stream, may have a dictionary of its
//! own; an Arrow file has one for all its rows.

use crate::table::arrow::Batches;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_cast::cast;
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Schema, SchemaRef};
use std::sync::Arc;

/// The same schema with values where it has dictionaries.
pub fn decoded(schema: &Schema) -> SchemaRef {
    let fields: Vec<FieldRef> = schema.fields().iter().map(decoded_field).collect();
    Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
}

fn decoded_field(field: &FieldRef) -> FieldRef {
    let data_type = decoded_type(field.data_type());
    if data_type == *field.data_type() {
        return Arc::clone(field);
    }
    let (name, metadata) = (field.name().clone(), field.metadata().clone());
    Arc::new(Field::new(name, data_type, field.is_nullable()).with_metadata(metadata))
}

fn decoded_type(data_type: &DataType) -> DataType {
    use DataType::{Dictionary, FixedSizeList, LargeList, List, Struct};
    match data_type {
        Dictionary(_, values) => decoded_type(values),
        List(item) => List(decoded_field(item)),
        LargeList(item) => LargeList(decoded_field(item)),
        FixedSizeList(item, len) => FixedSizeList(decoded_field(item), *len),
        Struct(fields) => Struct(fields.iter().map(decoded_field).collect()),
        other => other.clone(),
    }
}

/// The same batches in a schema that [`decoded`] gave.
pub fn decode(batches: Batches, schema: SchemaRef) -> Batches {
    Box::new(batches.map(move |batch| {
        let columns = batch?.columns().to_vec().into_iter().zip(schema.fields());
        let columns = columns.map(|(column, field)| -> Result<ArrayRef, ArrowError> {
            let same = column.data_type() == field.data_type();
            if same { Ok(column) } else { cast(&column, field.data_type()) }
        });
        RecordBatch::try_new(Arc::clone(&schema), columns.collect::<Result<_, _>>()?)
    }))
}
