//! Bytes that any element type can be laid over: aligned to a cache line.

use bytemuck::{Pod, Zeroable, cast_slice, cast_slice_mut};

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(64))]
struct Line([u8; 64]);

/// A growable run of bytes, aligned to 64. It keeps its memory when it shrinks, so that the pieces
/// of a stream can use it again and again.
#[derive(Clone, Default)]
pub struct Buffer {
    lines: Vec<Line>,
    len: usize,
}

impl Buffer {
    /// `len` zero bytes.
    pub fn zeroed(len: usize) -> Self {
        let mut buffer = Self::default();
        buffer.resize(len);
        buffer
    }

    /// Changes the length; new bytes are of no particular value.
    pub fn resize(&mut self, len: usize) {
        let lines = len.div_ceil(size_of::<Line>());
        if lines > self.lines.len() {
            // `Vec` doubles its room, so growing element by element stays O(1) each.
            self.lines.resize(lines, Line::zeroed());
        }
        self.len = len;
    }

    /// Bytes held.
    pub fn len(&self) -> usize {
        self.len
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &cast_slice(&self.lines)[..self.len]
    }

    /// The bytes, to be changed.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut cast_slice_mut(&mut self.lines)[..self.len]
    }

    /// The bytes as elements.
    pub fn elements<T: Pod>(&self) -> &[T] {
        cast_slice(self.bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grows_and_stays_aligned() {
        let mut buffer = Buffer::default();
        for i in 0..10_000u64 {
            buffer.resize(buffer.len() + 8);
            let last = buffer.len() - 8;
            buffer.bytes_mut()[last..].copy_from_slice(&i.to_ne_bytes());
        }
        assert!(buffer.elements::<u64>().iter().copied().eq(0..10_000));
        assert_eq!(buffer.bytes().as_ptr().addr() % 64, 0);
        buffer.resize(8);
        assert_eq!(buffer.elements::<u64>(), [0]);
        assert_eq!(Buffer::zeroed(65).len(), 65);
    }
}
