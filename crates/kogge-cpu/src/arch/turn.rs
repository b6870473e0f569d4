//! Vectors of values turned to where vectors of memory begin.

use bytemuck::Pod;
use std::marker::PhantomData;

/// How far vectors of values lie behind those of memory.
pub(crate) trait Turn: Copy {
    /// A register.
    type Vector;

    /// For vectors that begin so many bytes behind the start of one of memory: a multiple of 4,
    /// less than it has.
    ///
    /// # Safety
    ///
    /// The level's CPU features must be present.
    unsafe fn new(behind: usize) -> Self;

    /// The words of a vector moved up so far; those that would leave it come first.
    ///
    /// # Safety
    ///
    /// The level's CPU features must be present.
    unsafe fn turned(self, vector: Self::Vector) -> Self::Vector;

    /// The first words of one turned vector, which left the one before it, and the others of the
    /// next.
    ///
    /// # Safety
    ///
    /// The level's CPU features must be present.
    unsafe fn joined(self, first: Self::Vector, next: Self::Vector) -> Self::Vector;
}

/// Byte by byte, where a level has no instructions for it.
#[derive(Clone, Copy)]
pub(crate) struct Bytes<V> {
    behind: usize,
    vector: PhantomData<V>,
}

impl<V: Pod> Turn for Bytes<V> {
    type Vector = V;

    #[inline(always)]
    unsafe fn new(behind: usize) -> Self {
        Self { behind, vector: PhantomData }
    }

    #[inline(always)]
    unsafe fn turned(self, mut vector: V) -> V {
        bytemuck::bytes_of_mut(&mut vector).rotate_right(self.behind);
        vector
    }

    #[inline(always)]
    unsafe fn joined(self, first: V, mut next: V) -> V {
        let first = &bytemuck::bytes_of(&first)[..self.behind];
        bytemuck::bytes_of_mut(&mut next)[..self.behind].copy_from_slice(first);
        next
    }
}
