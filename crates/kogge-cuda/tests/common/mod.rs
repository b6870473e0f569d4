//! Shared by the tests: random data, the reference's answer as bytes.
#![allow(dead_code)]

#[cfg(target_arch = "x86_64")]
pub mod columns;
pub mod depth;
#[cfg(target_arch = "x86_64")]
pub mod disorder;
#[cfg(target_arch = "x86_64")]
pub mod faults;
#[cfg(target_arch = "x86_64")]
pub mod lines;
#[cfg(target_arch = "x86_64")]
pub mod segmented;
pub mod segments;
#[cfg(target_arch = "x86_64")]
pub mod shim;

use kogge_core::{Accumulate, Direction, Element, Kind, Operator, Order, bytemuck, reference};

/// SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }
}

/// Values and total as the reference gives them, as bytes of `U` and `A`.
pub fn expected<T, U, A, O>(
    operator: &O,
    input: &[T],
    kind: Kind,
    direction: Direction,
    init: Option<A>,
) -> (Vec<u8>, Vec<u8>)
where
    T: Accumulate<A>,
    U: Accumulate<A>,
    A: Element,
    O: Operator<A>,
{
    let mut wide: Vec<A> = input.iter().map(|x| x.widen()).collect();
    if direction == Direction::Reverse {
        wide.reverse();
    }
    let mut scanned = reference::scan(&wide, operator, Order::of::<T>(), kind, init);
    if direction == Direction::Reverse {
        scanned.values.reverse();
    }
    let values: Vec<U> = scanned.values.iter().map(|&x| U::narrow(x)).collect();
    (bytemuck::cast_slice(&values).to_vec(), bytemuck::bytes_of(&scanned.total).to_vec())
}

/// Lengths at and around every boundary of the order, up to `blocks` blocks.
pub fn boundary_lengths(order: Order, most: usize) -> Vec<usize> {
    let mut lengths = vec![0];
    for level in [1, order.chunk(), order.row(), order.segment(), order.tile(), order.block()] {
        for times in [1, 2, 3, 7, 33] {
            lengths.extend([level * times - 1, level * times, level * times + 1]);
        }
    }
    lengths.retain(|&n| n <= most);
    lengths.sort_unstable();
    lengths.dedup();
    lengths
}
