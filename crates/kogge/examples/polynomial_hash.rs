//! The hash of every prefix, and so of every substring, of a text.
//!
//! Karp & Rabin, "Efficient randomized pattern-matching algorithms", 1987: a string's hash is its
//! value as a number to some base, modulo a prime. The hash of two strings in a row needs the
//! second one's power of the base beside its hash.

use kogge::{Element, inclusive_scan, operator};

/// The prime 2³¹ − 1; two residues' product fits 64 bits.
pub const PRIME: u64 = (1 << 31) - 1;
const BASE: u32 = 1_000_003;

/// What is known of a string.
#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
pub struct Hash {
    /// The base to the power of its length, modulo the prime.
    pub power: u32,
    /// Its value to that base, modulo the prime.
    pub value: u32,
}

impl Hash {
    /// Of one byte.
    pub fn of(byte: u8) -> Self {
        Self { power: BASE, value: byte.into() }
    }

    /// The hash of what follows `prefix` in the string of this hash.
    pub fn after(self, prefix: Self, len: usize) -> u64 {
        let power = (0..len).fold(1, |power, _| power * u64::from(BASE) % PRIME);
        (u64::from(self.value) + PRIME - u64::from(prefix.value) * power % PRIME) % PRIME
    }
}

/// The hash of the left string followed by the right one.
#[operator(identity = Hash { power: 1, value: 0 }, exact)]
pub fn Concatenate(left: Hash, right: Hash) -> Hash {
    let power = left.power as u64 * right.power as u64 % PRIME;
    let value = (left.value as u64 * right.power as u64 + right.value as u64) % PRIME;
    Hash { power: power as u32, value: value as u32 }
}

/// Runs the example.
pub fn main() {
    let text = "the quick brown fox jumps over the lazy dog; ".repeat(500);
    let bytes: Vec<Hash> = text.bytes().map(Hash::of).collect();
    let prefixes = inclusive_scan(&bytes, Concatenate);

    let mut value = 0;
    for (i, byte) in text.bytes().enumerate() {
        value = (value * u64::from(BASE) + u64::from(byte)) % PRIME;
        assert_eq!(u64::from(prefixes[i].value), value);
    }
    // The same 45 bytes twice, far apart.
    let period = text.len() / 500;
    let at = |i: usize| prefixes[i + period].after(prefixes[i], period);
    assert_eq!(at(3), at(3 + 321 * period));
    assert_ne!(at(3), at(4));
    println!("{} prefixes hashed; the last is {value}", text.len());
}
