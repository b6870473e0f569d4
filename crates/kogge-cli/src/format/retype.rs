//! Columns of some types as columns of others, however deep in lists, maps and structures they lie.

use arrow_array::{ArrayRef, RecordBatch};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Schema, SchemaRef};
use std::slice::from_ref;
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
    with_type(field, retyped_type(field.data_type(), replace))
}

fn retyped_type(data_type: &DataType, replace: Replace) -> DataType {
    if let Some(other) = replace(data_type) {
        return retyped_type(&other, replace);
    }
    match data_type {
        DataType::Dictionary(key, values) => {
            DataType::Dictionary(key.clone(), Box::new(retyped_type(values, replace)))
        }
        other => with_children(other, |field| retyped_field(field, replace)),
    }
}

/// The same field with another type.
pub fn with_type(field: &FieldRef, data_type: DataType) -> FieldRef {
    if data_type == *field.data_type() {
        return Arc::clone(field);
    }
    let (name, metadata) = (field.name().clone(), field.metadata().clone());
    Arc::new(Field::new(name, data_type, field.is_nullable()).with_metadata(metadata))
}

/// The fields within lists, maps and structures.
pub fn children(data_type: &DataType) -> &[FieldRef] {
    use DataType::{FixedSizeList, LargeList, LargeListView, List, ListView, Map, Struct};
    match data_type {
        List(item) | LargeList(item) | ListView(item) | LargeListView(item) => from_ref(item),
        FixedSizeList(item, _) => from_ref(item),
        Map(entries, _) => from_ref(entries),
        Struct(fields) => fields,
        _ => &[],
    }
}

/// The same type with other [`children`].
pub fn with_children(
    data_type: &DataType,
    mut other: impl FnMut(&FieldRef) -> FieldRef,
) -> DataType {
    use DataType::{FixedSizeList, LargeList, LargeListView, List, ListView, Map, Struct};
    match data_type {
        List(item) => List(other(item)),
        LargeList(item) => LargeList(other(item)),
        ListView(item) => ListView(other(item)),
        LargeListView(item) => LargeListView(other(item)),
        FixedSizeList(item, len) => FixedSizeList(other(item), *len),
        Map(entries, sorted) => Map(other(entries), *sorted),
        Struct(fields) => Struct(fields.iter().map(other).collect()),
        plain => plain.clone(),
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
