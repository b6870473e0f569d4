//! The messages of Arrow IPC, read with distrust: a damaged file is an error, whatever it says.
//!
//! Every length is held against what is there before memory is asked for, and where the decoder
//! panics all the same, that is the error of a damaged file.

use super::contain::quietly;
use arrow_array::{ArrayRef, RecordBatch};
use arrow_buffer::{Buffer, MutableBuffer};
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::reader::{read_dictionary, read_footer_length, read_record_batch};
use arrow_ipc::{Block, Message, MessageHeader, root_as_footer, root_as_message};
use arrow_schema::{ArrowError, Schema, SchemaRef};
use std::collections::HashMap;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::sync::Arc;

type Result<T> = std::result::Result<T, ArrowError>;

/// The schema and the batches of a file.
pub fn open_file<R: Read + Seek>(
    mut source: R,
) -> Result<(SchemaRef, impl Iterator<Item = Result<RecordBatch>> + use<R>)> {
    let (mut decoder, blocks, len) = contained(|| open_footer(&mut source))?;
    let schema = Arc::clone(&decoder.schema);
    let batches = blocks.into_iter().filter_map(move |block| {
        contained(|| decoder.decode_block(&mut source, &block, len)).transpose()
    });
    Ok((schema, batches))
}

/// The schema and the batches of a stream.
pub fn open_stream<R: Read>(
    mut source: R,
) -> Result<(SchemaRef, impl Iterator<Item = Result<RecordBatch>> + use<R>)> {
    let mut decoder = contained(|| {
        let (head, _) = read_message(&mut source)?.ok_or_else(|| damaged("it has no schema"))?;
        let schema = parse(&head)?.header_as_schema();
        let schema = schema.ok_or_else(|| damaged("its first message is no schema"))?;
        Decoder::new(schema)
    })?;
    let schema = Arc::clone(&decoder.schema);
    let batches = std::iter::from_fn(move || {
        contained(|| {
            while let Some((head, body)) = read_message(&mut source)? {
                if let Some(batch) = decoder.decode(&head, &body)? {
                    return Ok(Some(batch));
                }
            }
            Ok(None)
        })
        .transpose()
    });
    Ok((schema, batches))
}

/// What has been read so far, without which later messages have no meaning.
struct Decoder {
    schema: SchemaRef,
    dictionaries: HashMap<i64, ArrayRef>,
}

impl Decoder {
    fn new(schema: arrow_ipc::Schema<'_>) -> Result<Self> {
        if !schema.endianness().equals_to_target_endianness() {
            return Err(ArrowError::IpcError("its byte order is not this machine's".to_owned()));
        }
        let schema: Schema = try_fb_to_schema(schema)?;
        Ok(Self { schema: Arc::new(schema), dictionaries: HashMap::new() })
    }

    fn decode_block<R: Read + Seek>(
        &mut self,
        source: &mut R,
        block: &Block,
        len: u64,
    ) -> Result<Option<RecordBatch>> {
        let (head, body) = (i64::from(block.metaDataLength()), block.bodyLength());
        let size = head.checked_add(body).filter(|_| head >= 8 && body >= 0).unwrap_or(-1);
        let place = within(block.offset(), size, len)?;
        source.seek(SeekFrom::Start(place.start))?;
        let mut bytes = MutableBuffer::from_len_zeroed(size as usize);
        source.read_exact(&mut bytes)?;
        let bytes = Buffer::from(bytes);
        let body = bytes.slice(head as usize);
        let head = &bytes[..head as usize];
        self.decode(if head.starts_with(&CONTINUED) { &head[8..] } else { &head[4..] }, &body)
    }

    /// Takes a message; a dictionary is kept, a batch of rows is given.
    fn decode(&mut self, head: &[u8], body: &Buffer) -> Result<Option<RecordBatch>> {
        let message = parse(head)?;
        let version = message.version();
        match message.header_type() {
            MessageHeader::RecordBatch => {
                let missing = || damaged("a message has no batch");
                let batch = message.header_as_record_batch().ok_or_else(missing)?;
                check(&batch, body)?;
                let schema = Arc::clone(&self.schema);
                read_record_batch(body, batch, schema, &self.dictionaries, None, &version).map(Some)
            }
            MessageHeader::DictionaryBatch => {
                let missing = || damaged("a message has no dictionary");
                let batch = message.header_as_dictionary_batch().ok_or_else(missing)?;
                check(&batch.data().ok_or_else(missing)?, body)?;
                read_dictionary(body, batch, &self.schema, &mut self.dictionaries, &version)?;
                Ok(None)
            }
            MessageHeader::NONE => Ok(None),
            other => Err(damaged(&format!("a message is a {other:?}"))),
        }
    }
}

/// What is decoded so far, the places of the messages with rows, and the bytes of the file.
fn open_footer<R: Read + Seek>(source: &mut R) -> Result<(Decoder, Vec<Block>, u64)> {
    let len = source.seek(SeekFrom::End(0))?;
    // The length of the footer, and the last of the marks.
    let last = len.checked_sub(10).ok_or_else(no_footer)?;
    source.seek(SeekFrom::Start(last))?;
    let mut tail = [0; 10];
    source.read_exact(&mut tail)?;
    let footer = read_footer_length(tail).map_err(|_| no_footer())?;
    let place = within(len as i64 - 10 - footer as i64, footer as i64, len)?;
    source.seek(SeekFrom::Start(place.start))?;
    let mut bytes = vec![0; footer];
    source.read_exact(&mut bytes)?;
    let footer = root_as_footer(&bytes).map_err(|error| damaged(&on_one_line(&error)))?;
    let schema = footer.schema().ok_or_else(|| damaged("its footer has no schema"))?;
    let mut decoder = Decoder::new(schema)?;
    for block in footer.dictionaries().iter().flatten() {
        decoder.decode_block(source, block, len)?;
    }
    let blocks = footer.recordBatches().ok_or_else(|| damaged("its footer has no batches"))?;
    Ok((decoder, blocks.iter().copied().collect(), len))
}

/// What a message starts with, but for those of the first versions.
const CONTINUED: [u8; 4] = [0xff; 4];

/// Most bytes that are asked for before any has been read.
const AHEAD: u64 = 64 << 20;

/// The head and the body of the next message of a stream; `None` at its end.
fn read_message(source: &mut impl Read) -> Result<Option<(Vec<u8>, Buffer)>> {
    let mut size = Vec::new();
    source.take(4).read_to_end(&mut size)?;
    if size.is_empty() {
        return Ok(None);
    }
    if size == CONTINUED {
        size = read_exactly(source, 4)?;
    }
    let size: [u8; 4] = size.try_into().map_err(|_| io::Error::from(CUT))?;
    let size = i32::from_le_bytes(size);
    if size == 0 {
        return Ok(None);
    }
    let size = u64::try_from(size).map_err(|_| damaged("a message has a negative length"))?;
    let head = read_exactly(source, size)?;
    let body = u64::try_from(parse(&head)?.bodyLength());
    let body = body.map_err(|_| damaged("a message has a negative length"))?;
    let body = read_exactly(source, body)?;
    Ok(Some((head, Buffer::from_vec(body))))
}

const CUT: io::ErrorKind = io::ErrorKind::UnexpectedEof;

fn read_exactly(source: &mut impl Read, len: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(len.min(AHEAD) as usize);
    source.take(len).read_to_end(&mut bytes)?;
    if bytes.len() as u64 == len { Ok(bytes) } else { Err(io::Error::from(CUT).into()) }
}

fn parse(head: &[u8]) -> Result<Message<'_>> {
    root_as_message(head).map_err(|error| damaged(&on_one_line(&error)))
}

/// How many times longer than its compressed form a buffer may be: 128 KiB can take four bytes.
const MOST_TIMES: i64 = 1 << 15;

/// Checks that the buffers of a batch lie in its body.
fn check(batch: &arrow_ipc::RecordBatch<'_>, body: &[u8]) -> Result<()> {
    for buffer in batch.buffers().iter().flatten() {
        let place = within(buffer.offset(), buffer.length(), body.len() as u64)?;
        let buffer = &body[place.start as usize..place.end as usize];
        if batch.compression().is_some() && !buffer.is_empty() {
            let whole = buffer.first_chunk().copied().map(i64::from_le_bytes);
            let most = (buffer.len() as i64).saturating_mul(MOST_TIMES);
            whole
                .filter(|whole| (-1..=most).contains(whole))
                .ok_or_else(|| damaged("a compressed buffer has a length that cannot be"))?;
        }
    }
    let nodes = batch.nodes();
    if batch.length() < 0 || nodes.iter().flatten().any(|node| node.length() < 0) {
        return Err(damaged("a column has a negative length"));
    }
    Ok(())
}

/// The place of some bytes, if that lies in `all` bytes.
fn within(start: i64, len: i64, all: u64) -> Result<Range<u64>> {
    let place = || {
        let (start, len) = (u64::try_from(start).ok()?, u64::try_from(len).ok()?);
        start.checked_add(len).filter(|end| *end <= all).map(|end| start..end)
    };
    place().ok_or_else(|| damaged("a length in it goes beyond its end"))
}

fn on_one_line(error: &impl ToString) -> String {
    error.to_string().split_whitespace().collect::<Vec<_>>().join(" ")
}

fn damaged(what: &str) -> ArrowError {
    ArrowError::IpcError(format!("{what}; it is damaged"))
}

fn no_footer() -> ArrowError {
    ArrowError::IpcError("it does not end with a footer: it is truncated or damaged".to_owned())
}

/// Runs the decoder; its panic is the error of a damaged file.
fn contained<T>(decode: impl FnOnce() -> Result<T>) -> Result<T> {
    quietly(decode).unwrap_or_else(|| Err(damaged("its messages contradict themselves")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{DictionaryArray, Int64Array, StringArray, types::Int8Type};
    use arrow_ipc::CompressionType;
    use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
    use std::io::Cursor;

    fn batch() -> RecordBatch {
        let words: DictionaryArray<Int8Type> = ["a", "b", "a", "a"].into_iter().collect();
        let columns: [(&str, ArrayRef); 3] = [
            ("i", Arc::new(Int64Array::from(vec![Some(1), None, Some(3), Some(4)]))),
            ("s", Arc::new(StringArray::from(vec!["x", "yy", "", "zzz"]))),
            ("d", Arc::new(words)),
        ];
        RecordBatch::try_from_iter(columns).unwrap()
    }

    fn file(compression: Option<CompressionType>) -> Vec<u8> {
        let options = IpcWriteOptions::default().try_with_compression(compression).unwrap();
        let batch = batch();
        let mut file =
            FileWriter::try_new_with_options(Vec::new(), &batch.schema(), options).unwrap();
        file.write(&batch).unwrap();
        file.write(&batch).unwrap();
        file.into_inner().unwrap()
    }

    fn stream() -> Vec<u8> {
        let batch = batch();
        let mut stream = StreamWriter::try_new(Vec::new(), &batch.schema()).unwrap();
        stream.write(&batch).unwrap();
        stream.write(&batch).unwrap();
        stream.into_inner().unwrap()
    }

    fn read_file(bytes: &[u8]) -> Result<Vec<RecordBatch>> {
        open_file(Cursor::new(bytes.to_vec()))?.1.collect()
    }

    fn read_stream(bytes: &[u8]) -> Result<Vec<RecordBatch>> {
        open_stream(Cursor::new(bytes.to_vec()))?.1.collect()
    }

    #[test]
    fn reads_what_is_whole() {
        for compression in [None, Some(CompressionType::ZSTD), Some(CompressionType::LZ4_FRAME)] {
            assert_eq!(read_file(&file(compression)).unwrap(), [batch(), batch()]);
        }
        assert_eq!(read_stream(&stream()).unwrap(), [batch(), batch()]);
    }

    /// The test binary would end at a panic that isn't contained, or at an allocation too large.
    #[test]
    fn no_damaged_byte_ends_the_process() {
        let mut panics = 0;
        let mut damage = |whole: &[u8], read: fn(&[u8]) -> Result<Vec<RecordBatch>>| {
            for place in 0..whole.len() {
                for byte in [0x7f, 0xff] {
                    let mut bytes = whole.to_vec();
                    bytes[place] ^= byte;
                    let error = read(&bytes).err().map(|error| error.to_string());
                    panics += usize::from(error.is_some_and(|e| e.contains("contradict")));
                }
            }
        };
        damage(&file(None), read_file);
        damage(&file(Some(CompressionType::ZSTD)), read_file);
        damage(&stream(), read_stream);
        assert!(panics > 0, "nothing was contained");
    }

    #[test]
    fn a_stream_may_end_between_messages_only() {
        let whole = stream();
        let batches = |len| read_stream(&whole[..len]).map(|batches| batches.len());
        // The mark of the end has eight bytes.
        let end = whole.len() - 8;
        assert_eq!(batches(end).unwrap(), 2);
        for len in (end - 40..end).chain(end + 1..whole.len()) {
            let error = batches(len).unwrap_err();
            assert!(
                matches!(&error, ArrowError::IoError(_, error) if error.kind() == CUT),
                "{len}"
            );
        }
    }
}
