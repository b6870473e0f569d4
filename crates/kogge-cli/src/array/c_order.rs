//! Arrays in C order that lie in a file in another: the last axis first, as Fortran has it. They
//! are read block by block, each from the start of the file to its end.

use super::walk::{Window, spans};
use crate::format::npy::Header;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};

/// Bytes of the elements that are in memory at a time.
const BLOCK_BYTES: usize = 32 << 20;

/// Bytes that are read at once where a block leaves out little of the file, and how much little is.
const READ_BYTES: usize = 256 << 10;
const GAP_BYTES: u64 = 64 << 10;

/// Elements that lie at even distances in the file.
#[derive(Clone, Copy, Debug)]
struct Axis {
    len: u64,
    stride: u64,
}

/// Where in a file the elements of an array lie that are asked for in C order.
#[derive(Clone, Debug)]
pub struct COrder {
    /// Bytes of an element.
    size: usize,
    /// The slowest first.
    axes: Vec<Axis>,
    /// Most elements of a block.
    pub(super) block: u64,
    /// Bytes between two runs, at most, that are read with them.
    pub(super) gap: u64,
}

impl COrder {
    /// Of an array with this header, read with at most so many bytes in memory, if blocks may be
    /// that small.
    pub fn new(header: &Header, bytes: usize) -> Self {
        let mut axes: Vec<Axis> = header.shape.iter().map(|&len| Axis { len, stride: 0 }).collect();
        let mut stride = 1;
        let rank = axes.len();
        for i in 0..rank {
            let axis = &mut axes[if header.fortran_order { i } else { rank - 1 - i }];
            axis.stride = stride;
            stride *= axis.len;
        }
        let size = header.dtype.size();
        let block = BLOCK_BYTES.min(bytes) / size;
        Self { size, axes, block: block.max(1) as u64, gap: GAP_BYTES }
    }

    /// Elements in all.
    fn len(&self) -> u64 {
        self.axes.iter().map(|axis| axis.len).product()
    }

    /// The array in blocks, each a window of its elements in C order: some indices of one axis,
    /// with all of the axes behind it.
    pub fn windows(&self, reversed: bool) -> Box<dyn Iterator<Item = Window> + Send> {
        let len = self.len();
        if len == 0 {
            return Box::new(std::iter::empty());
        }
        let (along, behind) = self.cut();
        let most = (self.block / behind).max(1);
        let group = along * behind;
        let groups = spans(len / group, 1, reversed);
        Box::new(groups.flat_map(move |outer| {
            spans(along, most, reversed).map(move |span| Window {
                start: outer.start * group + span.start * behind,
                width: span.len * behind,
                rows: 1,
                stride: span.len * behind,
                index: outer.start * group + span.start * behind,
                fresh: outer.first && span.first,
            })
        }))
    }

    /// How long the axis is that blocks are cut along, and how many elements the axes behind it
    /// have.
    fn cut(&self) -> (u64, u64) {
        let mut behind = 1;
        for axis in self.axes.iter().rev() {
            if behind * axis.len > self.block {
                return (axis.len, behind);
            }
            behind *= axis.len;
        }
        (1, behind)
    }

    /// Reads the elements of a window of [`COrder::windows`] in C order; `offset` is where the
    /// first element of all lies in the file. `packed` keeps the memory for the next time.
    pub fn read(
        &self,
        mut file: &File,
        offset: u64,
        window: &Window,
        elements: &mut [u8],
        packed: &mut Vec<u8>,
    ) -> io::Result<()> {
        let (start, axes) = self.block(window);
        let size = self.size as u64;
        packed.resize(elements.len(), 0);
        // Runs of neighbours, and the axes along which they lie, the slowest first.
        let mut along: Vec<BlockAxis> = axes.clone();
        along.sort_by_key(|axis| std::cmp::Reverse(axis.file));
        let mut run = 1;
        while along.last().is_some_and(|axis| axis.file == run || axis.len == 1) {
            run *= along.pop().map_or(1, |axis| axis.len);
        }
        let gap = along.last().map_or(0, |axis| (axis.file - run) * size);
        let capacity = if gap <= self.gap { READ_BYTES } else { 0 };
        let start = offset + start * size;
        file.seek(SeekFrom::Start(start))?;
        let mut reader = BufReader::with_capacity(capacity, file);
        let mut from = start;
        for (bytes, index) in packed.chunks_exact_mut((run * size) as usize).zip(0..) {
            let next = start + place(index, along.iter().map(|axis| (axis.len, axis.file))) * size;
            reader.seek_relative(next as i64 - from as i64)?;
            reader.read_exact(bytes)?;
            from = next + bytes.len() as u64;
        }
        match self.size {
            1 => permute::<1>(&axes, packed, elements),
            2 => permute::<2>(&axes, packed, elements),
            4 => permute::<4>(&axes, packed, elements),
            _ => permute::<8>(&axes, packed, elements),
        }
        Ok(())
    }

    /// Where in the file a window's block starts, and its axes, the slowest first.
    fn block(&self, window: &Window) -> (u64, Vec<BlockAxis>) {
        let (mut start, mut index) = (0, window.start);
        let (mut left, mut order) = (window.width, 1);
        let mut axes = Vec::new();
        for axis in self.axes.iter().rev() {
            start += index % axis.len * axis.stride;
            index /= axis.len;
            let len = left.min(axis.len);
            axes.push(BlockAxis { len, file: axis.stride, packed: 0, order });
            (left, order) = (left / len, order * len);
        }
        axes.sort_by_key(|axis| axis.file);
        let mut packed = 1;
        for axis in &mut axes {
            axis.packed = packed;
            packed *= axis.len;
        }
        axes.sort_by_key(|axis| std::cmp::Reverse(axis.order));
        (start, axes)
    }
}

/// An axis of a block, with the distances of its elements.
#[derive(Clone, Copy, Debug)]
struct BlockAxis {
    len: u64,
    /// In the file.
    file: u64,
    /// In the order of the file, without the gaps.
    packed: u64,
    /// In C order.
    order: u64,
}

/// The place of an element that is counted along some axes, the last of them the fastest; of each,
/// the length and the distance of its elements.
fn place(mut index: u64, axes: impl DoubleEndedIterator<Item = (u64, u64)>) -> u64 {
    let mut place = 0;
    for (len, stride) in axes.rev() {
        place += index % len * stride;
        index /= len;
    }
    place
}

/// Elements side by side that are moved together: so many lines of the cache are in use.
const PATCH: u64 = 32;

/// From the order of the file to C order, patch by patch of the two axes that are fastest in
/// either.
fn permute<const SIZE: usize>(axes: &[BlockAxis], packed: &[u8], elements: &mut [u8]) {
    let from: &[[u8; SIZE]] = bytemuck::cast_slice(packed);
    let to: &mut [[u8; SIZE]] = bytemuck::cast_slice_mut(elements);
    let mut others: Vec<BlockAxis> = axes.iter().copied().filter(|axis| axis.len > 1).collect();
    if others.iter().all(|axis| axis.packed == axis.order) {
        return to.copy_from_slice(from);
    }
    let mut take = |stride: fn(&BlockAxis) -> u64| {
        let at = others.iter().position(|axis| stride(axis) == 1);
        at.map(|at| others.remove(at))
    };
    let one = BlockAxis { len: 1, file: 0, packed: 0, order: 0 };
    let down = take(|axis| axis.packed).unwrap_or(one);
    // Where one axis is the fastest in both, it is gone along by itself.
    let across = take(|axis| axis.order).unwrap_or(one);
    let patches = |axis: BlockAxis| {
        (0..axis.len).step_by(PATCH as usize).map(move |at| at..axis.len.min(at + PATCH))
    };
    for index in 0..others.iter().map(|axis| axis.len).product() {
        let (mut left, mut base) = (index, (0, 0));
        for axis in &others {
            let at = left % axis.len;
            left /= axis.len;
            base = (base.0 + at * axis.packed, base.1 + at * axis.order);
        }
        for rows in patches(down) {
            for columns in patches(across) {
                for row in rows.clone() {
                    let from_row = base.0 + row * down.packed;
                    let to_row = base.1 + row * down.order;
                    for column in columns.clone() {
                        to[(to_row + column * across.order) as usize] =
                            from[(from_row + column * across.packed) as usize];
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kogge_erased::Dtype;
    use std::io::Write;

    /// Every block size, down to one element, forward and from the end.
    #[test]
    fn blocks_of_any_size_give_the_same_elements() {
        let mut file = tempfile::tempfile().unwrap();
        let shapes: [&[u64]; 7] =
            [&[], &[1], &[3, 4], &[2, 1, 5], &[3, 2, 4, 2], &[4, 0], &[40, 70]];
        for shape in shapes {
            for fortran in [false, true] {
                let header = Header::new(Dtype::I16, shape.to_vec(), fortran);
                let mut order = COrder::new(&header, 0);
                let count = order.len();
                let mut stored = vec![0i16; count as usize];
                for index in 0..count {
                    let axes = order.axes.iter().map(|axis| (axis.len, axis.stride));
                    stored[place(index, axes) as usize] = index as i16;
                }
                file.set_len(0).unwrap();
                file.rewind().unwrap();
                file.write_all(&[b"head", bytemuck::cast_slice(&stored)].concat()).unwrap();
                let step = if count > 100 { 97 } else { 1 };
                for block in (1..=count + 1).step_by(step) {
                    (order.block, order.gap) = (block, [0, GAP_BYTES][block as usize % 2]);
                    for reversed in [false, true] {
                        let read = read_all(&order, &file, reversed);
                        let same = read.iter().copied().eq(0..count as i16);
                        assert!(same, "{order:?} {reversed}: {read:?}");
                    }
                }
            }
        }
    }

    fn read_all(order: &COrder, file: &File, reversed: bool) -> Vec<i16> {
        let (mut all, mut packed) = (Vec::new(), Vec::new());
        for window in order.windows(reversed) {
            assert_eq!(window.fresh, all.is_empty());
            let mut elements = vec![0i16; window.len() as usize];
            let bytes = bytemuck::cast_slice_mut(&mut elements);
            order.read(file, 4, &window, bytes, &mut packed).unwrap();
            let at = if reversed { 0 } else { all.len() };
            all.splice(at..at, elements);
        }
        all
    }
}
