//! A column in memory: elements of one type, some of which may be missing.

use crate::buffer::Buffer;
use kogge_erased::Dtype;

/// Elements and which of them are there.
#[derive(Clone)]
pub struct Column {
    /// The type of the elements.
    pub dtype: Dtype,
    /// The elements; zero where one is missing.
    pub data: Buffer,
    /// Whether each element is there; `None` if all are.
    pub valid: Option<Vec<bool>>,
}

impl Column {
    /// A column without rows.
    pub fn new(dtype: Dtype) -> Self {
        Self { dtype, data: Buffer::default(), valid: None }
    }

    /// How many rows it has.
    pub fn rows(&self) -> usize {
        self.data.len() / self.dtype.size()
    }

    /// Whether the element of a row is there.
    pub fn is_valid(&self, row: usize) -> bool {
        self.valid.as_ref().is_none_or(|valid| valid[row])
    }

    /// The bytes of the element of a row; `None` where it is missing.
    pub fn get(&self, row: usize) -> Option<&[u8]> {
        let size = self.dtype.size();
        self.is_valid(row).then(|| &self.data.bytes()[row * size..][..size])
    }

    /// Adds a missing element.
    pub fn push_null(&mut self) {
        let rows = self.rows();
        self.valid.get_or_insert_with(|| vec![true; rows]).push(false);
        self.data.resize((rows + 1) * self.dtype.size());
        let size = self.dtype.size();
        self.data.bytes_mut()[rows * size..].fill(0);
    }

    /// Adds an element that `write` fills in, if it does.
    #[must_use]
    pub fn push_with(&mut self, write: impl FnOnce(&mut [u8]) -> bool) -> bool {
        let start = self.data.len();
        self.data.resize(start + self.dtype.size());
        let written = write(&mut self.data.bytes_mut()[start..]);
        if let Some(valid) = &mut self.valid {
            valid.push(true);
        }
        written
    }

    /// Adds the rows of another column of the same type.
    pub fn append(&mut self, other: &Self) {
        let (start, rows) = (self.data.len(), self.rows());
        if self.valid.is_some() || other.valid.is_some() {
            let valid = self.valid.get_or_insert_with(|| vec![true; rows]);
            match &other.valid {
                Some(more) => valid.extend(more),
                None => valid.resize(rows + other.rows(), true),
            }
        }
        self.data.resize(start + other.data.len());
        self.data.bytes_mut()[start..].copy_from_slice(other.data.bytes());
    }

    /// Some of the rows.
    pub fn slice(&self, start: usize, rows: usize) -> Self {
        let size = self.dtype.size();
        let mut data = Buffer::zeroed(rows * size);
        data.bytes_mut().copy_from_slice(&self.data.bytes()[start * size..][..rows * size]);
        let valid = self.valid.as_ref().map(|valid| valid[start..start + rows].to_vec());
        Self { dtype: self.dtype, data, valid }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nulls_from_anywhere() {
        let mut column = Column::new(Dtype::I32);
        let push = |column: &mut Column, x: i32| {
            assert!(column.push_with(|element| {
                element.copy_from_slice(&x.to_ne_bytes());
                true
            }));
        };
        push(&mut column, 1);
        column.push_null();
        push(&mut column, 3);
        let mut twice = Column::new(Dtype::I32);
        push(&mut twice, 0);
        twice.append(&column);
        twice.append(&column.slice(0, 1));
        let valid: Vec<bool> = (0..twice.rows()).map(|row| twice.is_valid(row)).collect();
        assert_eq!(valid, [true, true, false, true, true]);
        assert_eq!(twice.data.elements::<i32>(), [0, 1, 0, 3, 1]);
        assert_eq!((twice.get(2), twice.get(3)), (None, Some(3i32.to_ne_bytes().as_slice())));
    }
}
