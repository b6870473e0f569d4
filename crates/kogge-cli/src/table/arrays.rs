//! Arrays where a table is expected: a one-dimensional array as a table of one column, and a
//! scanned column as a one-dimensional array.

use super::batch::{Batch, Head, Rest, Source, Table, TableReader, TableWriter, Whole};
use super::bridge::{data_type, one_column};
use super::column::Column;
use crate::array::{ArrayReader, Window};
use crate::buffer::Buffer;
use crate::convert::swap_bytes;
use crate::error::{Error, Fault, Result};
use crate::format::Format;
use crate::format::npy::Header;
use crate::job::Job;
use crate::output::{Output, Writer};
use arrow_schema::{Field, Schema, SchemaRef};
use kogge_erased::Dtype;
use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::sync::Arc;

/// The name of an array's only column.
const NAME: &str = "value";

/// A one-dimensional array as a table.
pub struct ArrayTable {
    head: Head,
    schema: SchemaRef,
    reader: Option<ArrayReader>,
    piece: u64,
}

impl ArrayTable {
    /// The table of an array.
    ///
    /// # Errors
    ///
    /// If it has several dimensions, or a type that tables lack.
    pub fn new(job: &Job, mut reader: ArrayReader) -> Result<Self> {
        if reader.header.shape.len() > 1 {
            return Err(Error::mismatch(format!(
                "an array of the shape {:?} is not a column of a table",
                reader.header.shape
            ))
            .hint("write to a .npy file, or as text"));
        }
        if job.args.reverse {
            reader = reader.into_positioned()?;
        }
        let dtype = reader.header.dtype;
        let no_type = || {
            Error::mismatch(format!("tables have no {dtype}")).hint(format!(
                "write an array: -o FILE.raw, or --input-dtype {dtype} --dtype f32 -o FILE.npy"
            ))
        };
        let field = Field::new(NAME, data_type(dtype).ok_or_else(no_type)?, false);
        let schema = Arc::new(Schema::new(vec![field]));
        let head = Head {
            columns: vec![Source { name: NAME.to_owned(), dtype, meaning: None }],
            whole: Whole::Arrow(Arc::clone(&schema)),
            bytes: (!reader.endless).then(|| reader.header.bytes()),
            array: Some(reader.name.clone()),
        };
        let piece = (job.buffer.min(1 << 20) / dtype.size()).max(1) as u64;
        Ok(Self { head, schema, reader: Some(reader), piece })
    }
}

impl Table for ArrayTable {
    fn head(&self) -> &Head {
        &self.head
    }

    fn rows(&mut self) -> Result<Box<dyn TableReader>> {
        let again = || Error::new(Fault::Defect, "a pipe was read twice");
        let reader = self.reader.take().ok_or_else(again)?;
        self.reader = reader.again()?;
        Ok(Box::new(ArrayRows { reader, schema: self.schema.clone(), piece: self.piece, start: 0 }))
    }
}

struct ArrayRows {
    reader: ArrayReader,
    schema: SchemaRef,
    piece: u64,
    start: u64,
}

impl TableReader for ArrayRows {
    fn next(&mut self) -> Result<Option<Batch>> {
        let width = self.piece.min(self.reader.header.elements() - self.start);
        let window = Window::run(self.start, width);
        let mut data = Buffer::default();
        let read = self.reader.read(&window, &mut data)?;
        if read == 0 {
            self.reader.expect_end()?;
            return Ok(None);
        }
        self.start += read;
        let dtype = self.reader.header.dtype;
        let column = Column { dtype, data, valid: None };
        let rest = Rest::Arrow(one_column(&column, &self.schema)?);
        let (rows, bytes) = (read as usize, column.data.len() as u64);
        Ok(Some(Batch { rows, columns: vec![column], starts: Vec::new(), rest, bytes }))
    }
}

/// Writes the scanned column as a one-dimensional array.
pub struct ColumnWriter {
    name: String,
    sink: Sink,
    format: Format,
    header: Header,
}

enum Sink {
    /// A file whose header is written anew at the end.
    File(File),
    /// A temporary file of the same kind, to be copied out.
    Spool(File),
    /// Elements without a header.
    Stream(Writer),
}

impl ColumnWriter {
    /// Starts an array of an unknown length.
    ///
    /// # Errors
    ///
    /// If there are several scanned columns, or the output cannot be written.
    pub fn new(output: &Output, format: Format, columns: &[Dtype]) -> Result<Self> {
        let [dtype] = columns else {
            return Err(Error::usage("an array holds one scanned column, and there are several")
                .hint("write to a table, or name one --column"));
        };
        let name = output.name.clone();
        let fail = |error| Error::write(&name, &error);
        let header = Header::new(*dtype, vec![0], false);
        let start = if format == Format::Npy { header.to_bytes()? } else { Vec::new() };
        let mut sink = match (output.seekable()?, format) {
            (Some(file), _) => Sink::File(file),
            (None, Format::Npy) => Sink::Spool(output.spool()?),
            (None, _) => Sink::Stream(output.writer()?),
        };
        sink.write(&start).map_err(fail)?;
        let name = if matches!(sink, Sink::Spool(_)) { output.spool_name() } else { name };
        Ok(Self { name, sink, format, header })
    }
}

impl Sink {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        match self {
            Self::File(file) | Self::Spool(file) => file.write_all(bytes),
            Self::Stream(writer) => writer.write_all(bytes),
        }
    }
}

impl TableWriter for ColumnWriter {
    fn write(&mut self, _: Rest, scanned: &[Column]) -> Result<()> {
        let mut column = scanned[0].clone();
        nulls_to_nan(&mut column)?;
        self.header.shape[0] += column.rows() as u64;
        if cfg!(target_endian = "big") && self.format == Format::Raw {
            swap_bytes(column.dtype.size(), column.data.bytes_mut());
        }
        self.sink.write(column.data.bytes()).map_err(|error| Error::write(&self.name, &error))
    }

    fn finish(mut self: Box<Self>, output: &Output) -> Result<()> {
        let fail = |error| Error::write(&self.name, &error);
        if let (Sink::File(file) | Sink::Spool(file), Format::Npy) = (&mut self.sink, self.format) {
            file.seek(SeekFrom::Start(0)).map_err(fail)?;
            file.write_all(&self.header.to_bytes()?).map_err(fail)?;
        }
        match self.sink {
            Sink::File(_) => Ok(()),
            Sink::Spool(file) => output.copy_from(file),
            Sink::Stream(mut writer) => writer.flush().map_err(fail),
        }
    }
}

/// Arrays have no nulls; floats have NaN for them.
fn nulls_to_nan(column: &mut Column) -> Result<()> {
    let Some(valid) = column.valid.take() else { return Ok(()) };
    let nan: &[u8] = match column.dtype {
        Dtype::F16 => &half::f16::NAN.to_ne_bytes(),
        Dtype::BF16 => &half::bf16::NAN.to_ne_bytes(),
        Dtype::F32 => &f32::NAN.to_ne_bytes(),
        Dtype::F64 => &f64::NAN.to_ne_bytes(),
        other => {
            return Err(Error::mismatch(format!(
                "the column has nulls, and an array of {other} has none"
            ))
            .hint("write to a table, or scan as floats with --dtype f64, where nulls become NaN"));
        }
    };
    let elements = column.data.bytes_mut().chunks_exact_mut(nan.len());
    elements
        .zip(valid)
        .filter(|(_, valid)| !valid)
        .for_each(|(element, _)| element.copy_from_slice(nan));
    Ok(())
}
