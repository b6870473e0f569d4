//! Simulated memory: bytes, which of them were written, and their shadows.

use std::collections::HashMap;

use super::race::Shadow;
use crate::value::ScalarType;

/// A run of memory: an array in global memory, or a block's shared memory.
#[derive(Clone, Debug)]
pub(super) struct Region {
    pub bytes: Vec<u8>,
    /// By byte, whether it was written; none: all of it.
    written: Option<Vec<bool>>,
    pub shadow: Shadow,
    /// By byte offset, what the value stands for (see [`super::provenance`]).
    pub labels: HashMap<u32, u64>,
}

impl Region {
    pub(super) fn new(bytes: Vec<u8>, written: bool) -> Self {
        let n = bytes.len();
        Self {
            bytes,
            written: (!written).then(|| vec![false; n]),
            shadow: Shadow::new(n),
            labels: HashMap::new(),
        }
    }

    /// Fresh, unwritten memory of this size, in the same allocation.
    pub(super) fn reset(&mut self, size: usize) {
        self.bytes.clear();
        self.bytes.resize(size, 0);
        let written = self.written.get_or_insert_default();
        written.clear();
        written.resize(size, false);
        self.shadow.reset(size);
        self.labels.clear();
    }

    #[inline]
    pub(super) fn load(&self, offset: usize, ty: ScalarType) -> u64 {
        load(&self.bytes, offset, ty)
    }

    /// Stores, and tells whether that changed anything.
    #[inline]
    pub(super) fn store(&mut self, offset: usize, ty: ScalarType, value: u64) -> bool {
        let mut changed = store(&mut self.bytes, offset, ty, value);
        if let Some(written) = &mut self.written {
            for w in written.iter_mut().skip(offset).take(ty.size()) {
                changed |= !*w;
                *w = true;
            }
        }
        changed
    }

    #[inline]
    pub(super) fn is_written(&self, offset: usize, size: usize) -> bool {
        match &self.written {
            None => true,
            Some(w) => w.get(offset..offset + size).is_some_and(|w| w.iter().all(|&x| x)),
        }
    }

    pub(super) fn mark_all_written(&mut self) {
        self.written = None;
    }
}

/// A scalar from memory, extended to a register; 0 beyond the end.
#[inline]
pub(super) fn load(bytes: &[u8], offset: usize, ty: ScalarType) -> u64 {
    macro_rules! read {
        ($t:ty) => {{
            let n = size_of::<$t>();
            let part = bytes.get(offset..offset + n);
            part.and_then(|p| p.try_into().ok()).map_or(0, <$t>::from_le_bytes)
        }};
    }
    match ty {
        ScalarType::Bool => u64::from(read!(u8) != 0),
        ScalarType::U8 => u64::from(read!(u8)),
        ScalarType::I8 => read!(i8) as u64,
        ScalarType::U16 => u64::from(read!(u16)),
        ScalarType::I16 => read!(i16) as u64,
        ScalarType::I32 => read!(i32) as u64,
        ScalarType::U32 | ScalarType::F32 => u64::from(read!(u32)),
        ScalarType::I64 | ScalarType::U64 | ScalarType::F64 => read!(u64),
    }
}

/// Stores a scalar, and tells whether that changed anything.
#[inline]
pub(super) fn store(bytes: &mut [u8], offset: usize, ty: ScalarType, value: u64) -> bool {
    macro_rules! write {
        ($n:literal) => {{
            match bytes.get_mut(offset..offset + $n) {
                Some(part) => {
                    let new = &value.to_le_bytes()[..$n];
                    let changed = part != new;
                    part.copy_from_slice(new);
                    changed
                }
                None => false,
            }
        }};
    }
    match ty.size() {
        1 => write!(1),
        2 => write!(2),
        4 => write!(4),
        _ => write!(8),
    }
}
