//! Vectors of bytes: to and from memory, and nothing else.

/// Registers that elements lie in as they do in memory.
///
/// # Safety
///
/// `Vector` must be a plain array of `BYTES` bytes.
pub(crate) unsafe trait Vectors: Copy {
    /// A register.
    type Vector: Copy;

    /// Bytes of a vector; 0 where the level has none, and no method may be called.
    const BYTES: usize;

    /// The vector at this address.
    ///
    /// # Safety
    ///
    /// `BYTES` bytes must be readable, and the level's CPU features present.
    unsafe fn load(from: *const u8) -> Self::Vector;

    /// Stores a vector.
    ///
    /// # Safety
    ///
    /// `BYTES` bytes must be writable, and the level's CPU features present.
    unsafe fn store(vector: Self::Vector, to: *mut u8);

    /// Stores a vector past the caches, where the CPU can.
    ///
    /// # Safety
    ///
    /// As for [`store`](Self::store), and `to` aligned to `BYTES`.
    unsafe fn stream(vector: Self::Vector, to: *mut u8);

    /// The vector itself, as something the optimiser can't look into.
    ///
    /// # Safety
    ///
    /// The level's CPU features must be present.
    unsafe fn opaque(vector: Self::Vector) -> Self::Vector;
}
