//! Simulated addresses: which object, and where in it.
//!
//! An address keeps the object it was derived from, so an index past the end
//! of one array is never taken for an element of the next. The offset is
//! biased: a pointer may step before its object and come back.

/// Bits of the offset.
const SHIFT: u32 = 40;
const BIAS: u64 = 1 << (SHIFT - 1);

/// Ids of shared and local objects start here; below are global ones, from 1.
pub(crate) const SHARED: u32 = 0x40_0000;
pub(crate) const LOCAL: u32 = 0x80_0000;

/// The address of byte `offset` of an object.
pub(crate) const fn pack(object: u32, offset: i64) -> u64 {
    ((object as u64) << SHIFT) | (BIAS.wrapping_add(offset as u64) & ((1 << SHIFT) - 1))
}

/// The address `bytes` further on. It stays with its object: beyond what an offset holds it stops
/// at the end, where there is no element, and doesn't become an address of another object.
#[inline]
pub(crate) const fn advance(address: u64, bytes: i64) -> u64 {
    let moved = address.wrapping_add(bytes as u64);
    let far = bytes > BIAS as i64 || bytes < -(BIAS as i64);
    if !far && moved >> SHIFT == address >> SHIFT {
        return moved;
    }
    let object = address >> SHIFT << SHIFT;
    if bytes < 0 { object } else { object | ((1 << SHIFT) - 1) }
}

/// Object and offset of an address.
pub(crate) const fn unpack(address: u64) -> (u32, i64) {
    let offset = (address & ((1 << SHIFT) - 1)).wrapping_sub(BIAS) as i64;
    ((address >> SHIFT) as u32, offset)
}
