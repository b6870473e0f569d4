//! Segments of every kind of length, the sources that give them, and the reference's answer for
//! each segment by itself.

use super::{Random, expected};
use kogge_core::{Accumulate, Direction, Element, Kind, Operator, Order, bytemuck, f16};

/// Segments of so many elements in all, of lengths of one kind.
pub fn lengths(random: &mut Random, order: Order, elements: usize) -> Vec<usize> {
    let style = random.below(8);
    let (mut lengths, mut left) = (Vec::new(), elements);
    let levels = [1, order.chunk(), order.row(), order.segment(), order.tile(), order.block()];
    while left > 0 {
        let len = match style {
            0 => 1 + random.below(3),
            1 => random.below(2 * order.row() + 2),
            2 => levels[random.below(6)] * (1 + random.below(3)) + random.below(3) - 1,
            3 => left,
            // A long one among tiny ones.
            4 if random.below(40) == 0 => 1 + random.below(left),
            4 => random.below(4),
            5 => 64,
            // Whole segments of the order, here and there cut short.
            6 => {
                order.segment() * (1 + random.below(9))
                    + random.below(40) / 39 * random.below(order.chunk())
            }
            _ => {
                let most = 1 << random.below(18);
                1 + random.below(most)
            }
        };
        let len = len.min(left);
        lengths.push(len);
        left -= len;
    }
    if random.below(2) == 0 {
        lengths.push(0);
    }
    lengths
}

/// What gives the segments: bytes, their alignment, and what the program calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    Offsets32,
    Offsets64,
    Flags,
    Keys32,
    KeysF16,
    KeysF64,
    Keys8,
    Keys64,
    KeysBf16,
}

impl Source {
    const BY_ELEMENT: [Self; 7] = [
        Self::Flags,
        Self::Keys32,
        Self::KeysF16,
        Self::KeysF64,
        Self::Keys8,
        Self::Keys64,
        Self::KeysBf16,
    ];

    /// One that a specimen takes whose offsets have so many bytes, or that takes none.
    pub fn any(random: &mut Random, offset_bytes: usize) -> Self {
        match offset_bytes {
            0 => Self::BY_ELEMENT[random.below(7)],
            4 => Self::Offsets32,
            _ => Self::Offsets64,
        }
    }

    pub fn of_offsets(self) -> bool {
        matches!(self, Self::Offsets32 | Self::Offsets64)
    }

    /// The bytes that give these segments, and their alignment.
    pub fn bytes(self, random: &mut Random, lengths: &[usize]) -> (Vec<u8>, usize) {
        let mut end = 0;
        let offsets = std::iter::once(0).chain(lengths.iter().map(|len| {
            end += len;
            end as u64
        }));
        let each = |values: Vec<u64>| -> Vec<u64> {
            lengths.iter().zip(values).flat_map(|(&len, value)| vec![value; len]).collect()
        };
        let numbers = |modulus: u64| each((0..lengths.len() as u64).map(|i| i % modulus).collect());
        match self {
            Self::Offsets64 => (bytemuck::cast_slice(&offsets.collect::<Vec<u64>>()).to_vec(), 8),
            Self::Offsets32 => {
                let offsets: Vec<u32> = offsets.map(|offset| offset as u32).collect();
                (bytemuck::cast_slice(&offsets).to_vec(), 4)
            }
            Self::Flags => {
                let mut flags: Vec<u8> = Vec::new();
                for &len in lengths {
                    // Any value but 0 is a flag; that of the first element doesn't matter.
                    let head =
                        if flags.is_empty() { random.below(2) as u8 } else { 1 << random.below(8) };
                    flags.extend((0..len).map(|i| if i == 0 { head } else { 0 }));
                }
                (flags, 1)
            }
            Self::Keys8 => (numbers(3).iter().map(|&key| key as u8).collect(), 1),
            Self::Keys32 => {
                let keys: Vec<u32> =
                    numbers(5).iter().map(|&key| key as u32 * 0x0100_0001).collect();
                (bytemuck::cast_slice(&keys).to_vec(), 4)
            }
            Self::Keys64 => {
                let keys: Vec<u64> = numbers(2).iter().map(|&key| key << 32).collect();
                (bytemuck::cast_slice(&keys).to_vec(), 8)
            }
            // Zeros of both signs are equal; what isn't equal to itself is a segment of one.
            Self::KeysF64 => {
                let value = |(len, key): (usize, u64)| match (len, key) {
                    (1, _) => f64::NAN,
                    (_, 0) => [0.0, -0.0][random.below(2)],
                    (_, key) => key as f64 + 0.5,
                };
                let keys = numbers(3);
                let keys: Vec<f64> = lengths_of(lengths).zip(keys).map(value).collect();
                (bytemuck::cast_slice(&keys).to_vec(), 8)
            }
            Self::KeysF16 | Self::KeysBf16 => {
                let nan = if self == Self::KeysF16 { 0x7e01 } else { 0x7fc1 };
                let value = |(len, key): (usize, u64)| match (len, key) {
                    (1, _) => nan,
                    (_, 0) => [0, 0x8000][random.below(2)],
                    (_, key) => f16::from_f32(key as f32).to_bits(),
                };
                let keys = numbers(3);
                let keys: Vec<u16> = lengths_of(lengths).zip(keys).map(value).collect();
                (bytemuck::cast_slice(&keys).to_vec(), 2)
            }
        }
    }
}

/// For each element the length of its segment.
fn lengths_of(lengths: &[usize]) -> impl Iterator<Item = usize> {
    lengths.iter().flat_map(|&len| vec![len; len])
}

/// Values and totals, each segment by itself, as bytes of `U` and `A`.
pub fn expected_segments<T, U, A, O>(
    operator: &O,
    input: &[T],
    lengths: &[usize],
    kind: Kind,
    direction: Direction,
    init: impl Fn(usize) -> Option<A>,
) -> (Vec<u8>, Vec<u8>)
where
    T: Accumulate<A>,
    U: Accumulate<A>,
    A: Element,
    O: Operator<A>,
{
    let (mut values, mut totals, mut rest) = (Vec::new(), Vec::new(), input);
    for (i, &len) in lengths.iter().enumerate() {
        let (segment, later) = rest.split_at(len);
        rest = later;
        let (value, total) = expected::<T, U, A, O>(operator, segment, kind, direction, init(i));
        values.extend(value);
        totals.extend(total);
    }
    (values, totals)
}
