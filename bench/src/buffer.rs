//! Page-aligned memory, touched before anything is timed.

use bytemuck::Pod;
use memmap2::{Advice, MmapMut};
use rayon::prelude::*;
use std::io;
use std::marker::PhantomData;

/// `len` values in pages of their own.
pub struct Buffer<T> {
    pages: MmapMut,
    len: usize,
    value: PhantomData<T>,
}

impl<T: Pod + Send + Sync> Buffer<T> {
    /// Values made from their places, by all threads. `huge` asks for huge pages, as numpy does.
    ///
    /// # Errors
    ///
    /// What the system says when there isn't enough memory.
    pub fn new(len: usize, huge: bool, value: impl Fn(u64) -> T + Sync) -> io::Result<Self> {
        let pages = MmapMut::map_anon((len * size_of::<T>()).max(1))?;
        if huge {
            #[cfg(target_os = "linux")]
            pages.advise(Advice::HugePage)?;
        }
        let mut buffer = Self { pages, len, value: PhantomData };
        buffer.fill(value);
        Ok(buffer)
    }

    /// Writes all values again.
    pub fn fill(&mut self, value: impl Fn(u64) -> T + Sync) {
        const PART: usize = 1 << 16;
        self.as_mut().par_chunks_mut(PART).enumerate().for_each(|(part, values)| {
            for (i, place) in values.iter_mut().enumerate() {
                *place = value((part * PART + i) as u64);
            }
        });
    }
}

impl<T: Pod> AsRef<[T]> for Buffer<T> {
    fn as_ref(&self) -> &[T] {
        bytemuck::cast_slice(&self.pages[..self.len * size_of::<T>()])
    }
}

impl<T: Pod> AsMut<[T]> for Buffer<T> {
    fn as_mut(&mut self) -> &mut [T] {
        bytemuck::cast_slice_mut(&mut self.pages[..self.len * size_of::<T>()])
    }
}
