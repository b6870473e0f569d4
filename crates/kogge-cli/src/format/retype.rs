//! Columns of some types as columns of others, however deep in lists and structures they lie.

use arrow_array::{ArrayRef, RecordBatch};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Schema, SchemaRef};
use std::sync::Arc;

/// What takes the place of a type; `None` if it stays.
pub type Replace = fn(&DataType) -> Option<DataType>;

/// The same schema with other types.
pub fn retyped(schema: &Schema, replace: Replace) -> SchemaRef {
    let fields: Vec<FieldRef> =
        schema.fields().iter().map(|field| retyped_field(field, replace)).collect();
    Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
}

fn retyped_field(field: &FieldRef, replace: Replace) -> FieldRef {
    let data_type = retyped_type(field.data_type(), replace);
    if data_type == *field.data_type() {
        return Arc::clone(field);
    }
    let (name, metadata) = (field.name().clone(), field.metadata().clone());
    Arc::new(Field::new(name, data_type, field.is_nullable()).with_metadata(metadata))
}

fn retyped_type(data_type: &DataType, replace: Replace) -> DataType {
    use DataType::{Dictionary, FixedSizeList, LargeList, List, Struct};
    if let Some(other) = replace(data_type) {
        return retyped_type(&other, replace);
    }
    let field = |field| retyped_field(field, replace);
    match data_type {
        Dictionary(key, values) => Dictionary(key.clone(), Box::new(retyped_type(values, replace))),
        List(item) => List(field(item)),
        LargeList(item) => LargeList(field(item)),
        FixedSizeList(item, len) => FixedSizeList(field(item), *len),
        Struct(fields) => Struct(fields.iter().map(field).collect()),
        other => other.clone(),
    }
}

/// A batch in a schema that [`retyped`] gave.
///
/// # Errors
///
/// If a value has no place in the other type.
pub fn retype(batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch, ArrowError> {
    // By itself a cast makes nulls of what doesn't fit.
    let exact = CastOptions { safe: false, ..CastOptions::default() };
    let columns = batch.columns().iter().zip(schema.fields());
    let columns = columns.map(|(column, field)| -> Result<ArrayRef, ArrowError> {
        if column.data_type() == field.data_type() {
            return Ok(Arc::clone(column));
        }
        cast_with_options(column, field.data_type(), &exact).map_err(|error| {
            let (name, wanted) = (field.name(), field.data_type());
            ArrowError::CastError(format!("column '{name}' cannot become {wanted}: {error}"))
        })
    });
    RecordBatch::try_new(Arc::clone(schema), columns.collect::<Result<_, _>>()?)
}
