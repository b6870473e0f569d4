//! Between Arrow's arrays and our columns.

use super::batch::Source;
use super::column::Column;
use super::select::Content;
use crate::buffer::Buffer;
use crate::error::{Error, Fault, Result};
use crate::text::read_element;
use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, BooleanArray, PrimitiveArray, RecordBatch, StringArray,
};
use arrow_buffer::{BooleanBuffer, NullBuffer, ScalarBuffer};
use arrow_cast::cast;
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::{ArrowError, DataType, Field, SchemaRef};
use kogge_erased::Dtype;
use std::sync::Arc;

/// Runs an expression with the Arrow type for a [`Dtype`] that has one.
macro_rules! with_arrow {
    ($dtype:expr, $P:ident => $body:expr, $other:expr) => {
        match $dtype {
            Dtype::I8 => with_arrow!(@ Int8Type, $P, $body),
            Dtype::I16 => with_arrow!(@ Int16Type, $P, $body),
            Dtype::I32 => with_arrow!(@ Int32Type, $P, $body),
            Dtype::I64 => with_arrow!(@ Int64Type, $P, $body),
            Dtype::U8 => with_arrow!(@ UInt8Type, $P, $body),
            Dtype::U16 => with_arrow!(@ UInt16Type, $P, $body),
            Dtype::U32 => with_arrow!(@ UInt32Type, $P, $body),
            Dtype::U64 => with_arrow!(@ UInt64Type, $P, $body),
            Dtype::F16 => with_arrow!(@ Float16Type, $P, $body),
            Dtype::F32 => with_arrow!(@ Float32Type, $P, $body),
            Dtype::F64 => with_arrow!(@ Float64Type, $P, $body),
            Dtype::Bool | Dtype::BF16 => $other,
        }
    };
    (@ $type:ty, $P:ident, $body:expr) => {{
        type $P = $type;
        $body
    }};
}

/// The Arrow type of a column of this type; `None` for `bf16`.
pub fn data_type(dtype: Dtype) -> Option<DataType> {
    let bool = (dtype == Dtype::Bool).then_some(DataType::Boolean);
    with_arrow!(dtype, P => Some(P::DATA_TYPE), bool)
}

/// The elements of an Arrow column and, for dates, times and durations, what they mean; `None` if
/// it has no numbers.
pub fn number_type(data_type: &DataType) -> Option<(Dtype, Option<DataType>)> {
    use DataType::{Date32, Date64, Dictionary, Duration, Time32, Time64, Timestamp};
    let of = |dtype| Some((dtype, None));
    match data_type {
        DataType::Boolean => of(Dtype::Bool),
        DataType::Int8 => of(Dtype::I8),
        DataType::Int16 => of(Dtype::I16),
        DataType::Int32 => of(Dtype::I32),
        DataType::Int64 => of(Dtype::I64),
        DataType::UInt8 => of(Dtype::U8),
        DataType::UInt16 => of(Dtype::U16),
        DataType::UInt32 => of(Dtype::U32),
        DataType::UInt64 => of(Dtype::U64),
        DataType::Float16 => of(Dtype::F16),
        DataType::Float32 => of(Dtype::F32),
        DataType::Float64 => of(Dtype::F64),
        Date32 | Time32(_) => Some((Dtype::I32, Some(data_type.clone()))),
        Date64 | Time64(_) | Timestamp(..) | Duration(_) => {
            Some((Dtype::I64, Some(data_type.clone())))
        }
        Dictionary(_, value) => number_type(value),
        _ => None,
    }
}

/// What a column holds; dates are no numbers to be added up.
pub fn content(data_type: &DataType) -> Content {
    match number_type(data_type) {
        Some((Dtype::Bool, None)) => Content::Truths,
        Some((_, None)) => Content::Numbers,
        _ => Content::Other,
    }
}

/// Whether a column holds decimals, as such or in a dictionary.
pub fn is_decimal(data_type: &DataType) -> bool {
    match data_type {
        DataType::Dictionary(_, values) => is_decimal(values),
        other => other.is_decimal(),
    }
}

/// The column of this name to be scanned; decimals only where a type is asked for, and in the
/// widest of its kind at first.
///
/// # Errors
///
/// If it has no numbers.
pub fn source(field: &Field, asked: Option<Dtype>) -> Result<Source> {
    let name = field.name().clone();
    if let Some((dtype, meaning)) = number_type(field.data_type()) {
        // Who asks for a type of numbers is given numbers.
        return Ok(Source { name, dtype, meaning: meaning.filter(|_| asked.is_none()) });
    }
    if let (true, Some(asked)) = (is_decimal(field.data_type()), asked) {
        let whole = !asked.is_float() && asked != Dtype::Bool;
        let dtype = if whole { asked.promoted() } else { Dtype::F64 };
        return Ok(Source { name, dtype, meaning: None });
    }
    let error =
        Error::mismatch(format!("column '{name}' holds {}, not numbers", field.data_type()));
    Err(if is_decimal(field.data_type()) { error.hint("try --dtype f64") } else { error })
}

/// The elements of an Arrow array as a column of this type.
///
/// # Errors
///
/// If the array holds other things.
pub fn to_column(array: &ArrayRef, dtype: Dtype) -> Result<Column> {
    let wanted = data_type(dtype).expect("every number type of Arrow has its own");
    let cast =
        if *array.data_type() == wanted { Ok(Arc::clone(array)) } else { cast(array, &wanted) };
    let array = cast.map_err(|error| Error::mismatch(error.to_string()))?;
    let valid = array.logical_nulls().filter(|nulls| nulls.null_count() > 0);
    let mut data = Buffer::zeroed(array.len() * dtype.size());
    let bools = |data: &mut Buffer| {
        let truths = array.as_boolean().values().iter();
        data.bytes_mut().iter_mut().zip(truths).for_each(|(to, truth)| *to = truth.into());
    };
    with_arrow!(dtype, P => {
        let values: &[u8] = bytemuck::cast_slice(array.as_primitive::<P>().values());
        data.bytes_mut().copy_from_slice(values);
    }, bools(&mut data));
    let valid = valid.map(|nulls| nulls.iter().collect::<Vec<bool>>());
    if let Some(valid) = &valid {
        // What stands under a null may be anything.
        let elements = data.bytes_mut().chunks_exact_mut(dtype.size());
        elements.zip(valid).filter(|(_, valid)| !**valid).for_each(|(element, _)| element.fill(0));
    }
    Ok(Column { dtype, data, valid })
}

/// The elements of an array of decimals, by their text: a cast rounds twice, or drops digits.
///
/// # Errors
///
/// If one of them is no number of the source's type.
pub fn decimals(array: &ArrayRef, source: &Source) -> Result<Column> {
    let fail = |error: ArrowError| Error::mismatch(error.to_string());
    let options = FormatOptions::new();
    let cells = ArrayFormatter::try_new(array.as_ref(), &options).map_err(fail)?;
    let mut column = Column::new(source.dtype);
    let nulls = array.logical_nulls();
    for row in 0..array.len() {
        if nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
            column.push_null();
            continue;
        }
        let cell = cells.value(row).to_string();
        let number = match cell.contains('.') {
            true => cell.trim_end_matches('0').trim_end_matches('.'),
            false => &cell,
        };
        if !column.push_with(|element| read_element(source.dtype, number, element)) {
            let (name, dtype) = (&source.name, source.dtype);
            let what = format!("{cell} in column '{name}' is not a number of the type {dtype}");
            return Err(Error::mismatch(what).hint("--dtype f64 takes any number"));
        }
    }
    Ok(column)
}

/// The element that a text such as `2022-01-31` names in a column of dates or times.
pub fn read_dated(meaning: &DataType, text: &str) -> Option<Vec<u8>> {
    let cell: ArrayRef = Arc::new(StringArray::from(vec![text]));
    let (dtype, _) = number_type(meaning)?;
    let column = to_column(&cast(&cell, meaning).ok()?, dtype).ok()?;
    column.get(0).map(<[u8]>::to_vec)
}

/// A column as an Arrow array of this type.
///
/// # Errors
///
/// If Arrow has no such type.
pub fn to_array(column: &Column, wanted: &DataType) -> Result<ArrayRef> {
    let nulls = column.valid.as_ref().map(|valid| NullBuffer::from(valid.as_slice()));
    let bools = || -> ArrayRef {
        let truths: BooleanBuffer = column.data.bytes().iter().map(|&truth| truth != 0).collect();
        Arc::new(BooleanArray::new(truths, nulls.clone()))
    };
    let array: ArrayRef = with_arrow!(column.dtype, P => {
        let values: ScalarBuffer<<P as ArrowPrimitiveType>::Native> = column.data.elements().to_vec().into();
        Arc::new(PrimitiveArray::<P>::new(values, nulls.clone()))
    }, bools());
    if array.data_type() == wanted {
        return Ok(array);
    }
    cast(&array, wanted).map_err(|error| Error::new(Fault::Defect, error.to_string()))
}

/// A batch with scanned columns added; `schema` is that of the result.
pub fn with_columns(
    batch: &RecordBatch,
    scanned: &[Column],
    schema: &SchemaRef,
) -> Result<RecordBatch> {
    let mut arrays = batch.columns().to_vec();
    for (column, field) in scanned.iter().zip(&schema.fields()[batch.num_columns()..]) {
        arrays.push(to_array(column, field.data_type())?);
    }
    RecordBatch::try_new(Arc::clone(schema), arrays)
        .map_err(|error| Error::malformed(error.to_string()))
}

/// A native array as the only column of a batch.
pub fn one_column(column: &Column, schema: &SchemaRef) -> Result<RecordBatch> {
    let array = to_array(column, schema.field(0).data_type())?;
    RecordBatch::try_new(Arc::clone(schema), vec![array])
        .map_err(|error| Error::new(Fault::Defect, error.to_string()))
}
