//! Arrays that the scan leaves in another order than that of their text: the last axis first, as Fortran
//! has it, or written from the end. They wait in a temporary file, and are read from it block by block.

use crate::error::{Error, Result};
use crate::format::npy::Header;
use crate::output::Output;
use crate::text::write_element;
use kogge_erased::Dtype;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};

/// Bytes of the elements that are in memory at a time.
const BLOCK_BYTES: u64 = 32 << 20;

/// Bytes that are read at once where a block leaves out little of the file, and how much little is.
const READ_BYTES: usize = 256 << 10;
const GAP_BYTES: u64 = 64 << 10;

/// Elements that lie at even distances in the file.
#[derive(Clone, Copy, Debug)]
struct Axis {
    len: u64,
    stride: u64,
}

/// What the text of an array needs to know: its axes, the slowest first.
#[derive(Debug)]
pub struct TextOrder {
    dtype: Dtype,
    delimiter: u8,
    axes: Vec<Axis>,
    block: u64,
    gap: u64,
}

impl TextOrder {
    /// Of an array with this header.
    pub fn new(header: &Header, delimiter: u8) -> Self {
        let mut axes: Vec<Axis> = header.shape.iter().map(|&len| Axis { len, stride: 0 }).collect();
        let mut stride = 1;
        let rank = axes.len();
        for i in 0..rank {
            let axis = &mut axes[if header.fortran_order { i } else { rank - 1 - i }];
            axis.stride = stride;
            stride *= axis.len;
        }
        let block = BLOCK_BYTES / header.dtype.size() as u64;
        Self { dtype: header.dtype, delimiter, axes, block, gap: GAP_BYTES }
    }

    /// Elements of a line of text.
    pub fn row(&self) -> u64 {
        if self.axes.len() > 1 { self.axes[self.axes.len() - 1].len } else { 1 }
    }

    /// Writes the text of the elements that lie in `file` from `offset` on.
    pub fn copy(&self, file: File, offset: u64, output: &Output) -> Result<()> {
        if self.axes.iter().any(|axis| axis.len == 0) {
            return Ok(());
        }
        let mut writer = output.writer()?;
        let mut file = ElementReader { size: self.dtype.size(), offset, gap: self.gap, file };
        let (mut elements, mut text, mut written) = (Vec::new(), Vec::new(), 0);
        for block in self.blocks() {
            let read = file.read(&block, &mut elements);
            let places = read.map_err(|error| Error::read(&output.spool_name(), &error))?;
            for place in places_of(&places) {
                let element = &elements[place as usize * file.size..][..file.size];
                write_element(self.dtype, element, &mut text);
                written += 1;
                text.push(if written % self.row() == 0 { b'\n' } else { self.delimiter });
                if text.len() >= READ_BYTES {
                    flush(&mut writer, &mut text).map_err(|e| Error::write(&output.name, &e))?;
                }
            }
        }
        flush(&mut writer, &mut text)
            .and_then(|()| writer.flush())
            .map_err(|error| Error::write(&output.name, &error))
    }

    /// Parts of the array that follow each other in the text: some indices of one axis, with all of the axes
    /// behind it.
    fn blocks(&self) -> impl Iterator<Item = Block> {
        let behind =
            |axis: usize| self.axes[axis + 1..].iter().map(|axis| axis.len).product::<u64>();
        let cut = (0..self.axes.len()).find(|&axis| behind(axis) <= self.block);
        // A single number has no axes.
        let (before, band, after) = match cut {
            Some(cut) => (&self.axes[..cut], self.axes[cut], &self.axes[cut + 1..]),
            None => (&self.axes[..], Axis { len: 1, stride: 1 }, &[][..]),
        };
        let most = (self.block / cut.map_or(1, behind)).max(1);
        places_of(before).flat_map(move |start| {
            (0..band.len.div_ceil(most)).map(move |i| {
                let len = most.min(band.len - i * most);
                let mut axes = vec![Axis { len, ..band }];
                axes.extend(after);
                Block { start: start + i * most * band.stride, axes }
            })
        })
    }
}

/// Elements from a place of the file on, along some axes.
#[derive(Debug)]
struct Block {
    start: u64,
    axes: Vec<Axis>,
}

/// The places of all elements along some axes, the last of which is gone along first.
fn places_of(axes: &[Axis]) -> impl Iterator<Item = u64> {
    let count = axes.iter().map(|axis| axis.len).product();
    (0..count).map(move |mut index| {
        let mut place = 0;
        for axis in axes.iter().rev() {
            place += index % axis.len * axis.stride;
            index /= axis.len;
        }
        place
    })
}

fn flush(writer: &mut impl Write, text: &mut Vec<u8>) -> io::Result<()> {
    writer.write_all(text)?;
    text.clear();
    Ok(())
}

struct ElementReader {
    size: usize,
    offset: u64,
    /// Bytes between two runs, at most, that are read with them.
    gap: u64,
    file: File,
}

impl ElementReader {
    /// Reads a block from the start of the file to its end; gives its axes as they lie in `elements`.
    fn read(&mut self, block: &Block, elements: &mut Vec<u8>) -> io::Result<Vec<Axis>> {
        let mut order: Vec<usize> = (0..block.axes.len()).collect();
        order.sort_by_key(|&axis| block.axes[axis].stride);
        let mut places = block.axes.clone();
        let mut len = 1;
        for &axis in &order {
            places[axis].stride = len;
            len *= places[axis].len;
        }
        elements.resize(len as usize * self.size, 0);
        // Runs of neighbours, and the axes along which they lie, the slowest first.
        let mut along: Vec<Axis> = order.iter().rev().map(|&axis| block.axes[axis]).collect();
        let mut run = 1;
        while along.last().is_some_and(|axis| axis.stride == run || axis.len == 1) {
            run *= along.pop().map_or(1, |axis| axis.len);
        }
        let gap = along.last().map_or(0, |axis| (axis.stride - run) * self.size as u64);
        let capacity = if gap <= self.gap { READ_BYTES } else { 0 };
        let mut from = self.offset + block.start * self.size as u64;
        self.file.seek(SeekFrom::Start(from))?;
        let mut reader = BufReader::with_capacity(capacity, &self.file);
        let runs = elements.chunks_exact_mut(run as usize * self.size);
        let start = from;
        for (bytes, place) in runs.zip(places_of(&along)) {
            let next = start + place * self.size as u64;
            reader.seek_relative(next as i64 - from as i64)?;
            reader.read_exact(bytes)?;
            from = next + bytes.len() as u64;
        }
        Ok(places)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// Every block size, down to one element; that of the file's order stays what it is.
    #[test]
    fn blocks_of_any_size_give_the_same_text() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("text");
        for shape in [vec![], vec![1], vec![3, 4], vec![2, 1, 5], vec![3, 2, 4, 2], vec![4, 0]] {
            let count: u64 = shape.iter().product();
            for fortran in [false, true] {
                let header = Header::new(Dtype::I16, shape.clone(), fortran);
                // Each element is its place in the text.
                let mut order = TextOrder::new(&header, b' ');
                let mut elements = vec![0i16; count as usize];
                for (i, place) in places_of(&order.axes).enumerate() {
                    elements[place as usize] = i as i16;
                }
                let spooled = directory.path().join("spool");
                fs::write(&spooled, [b"head", bytemuck::cast_slice(&elements)].concat()).unwrap();
                let row = order.row();
                let end = |i: u64| if (i + 1).is_multiple_of(row) { '\n' } else { ' ' };
                let want: String = (0..count).map(|i| format!("{i}{}", end(i))).collect();
                for block in 1..=count + 1 {
                    (order.block, order.gap) = (block, [0, GAP_BYTES][block as usize % 2]);
                    let output = Output::create(Some(&path), None).unwrap();
                    order.copy(File::open(&spooled).unwrap(), 4, &output).unwrap();
                    output.commit().unwrap();
                    assert_eq!(fs::read_to_string(&path).unwrap(), want, "{order:?}");
                }
            }
        }
    }
}
