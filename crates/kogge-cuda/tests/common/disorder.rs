//! Offsets that aren't in order, which nobody checks, and requests of scans by them: what is
//! written is anything, but within the output and the totals, and the scan ends.

use super::Random;
use super::shim::Shim;
use kogge_core::bytemuck;

/// Offsets of a sequence of so many elements, wrong in some way.
fn offsets(random: &mut Random, len: usize, segments: usize) -> Vec<u64> {
    let mut rising: Vec<u64> = (0..=segments).map(|_| random.below(len + 1) as u64).collect();
    rising.sort_unstable();
    match random.below(8) {
        // Anything, and anything within the sequence.
        0 => (0..=segments).map(|_| random.next()).collect(),
        1 => (0..=segments).map(|_| random.below(len + 1) as u64).collect(),
        // The first isn't 0, nor the last the length.
        2 => rising,
        3 => rising.into_iter().map(|offset| offset * 3).collect(),
        4 => rising.into_iter().rev().collect(),
        5 => vec![random.below(len + 2) as u64; segments + 1],
        // In order, but for a few.
        6 => {
            (rising[0], rising[segments]) = (0, len as u64);
            for _ in 0..1 + random.below(3) {
                rising[random.below(segments + 1)] = random.below(2 * len + 1) as u64;
            }
            rising
        }
        _ => {
            (rising[0], rising[segments]) = (0, len as u64);
            let [i, j] = [0; 2].map(|_| random.below(segments + 1));
            rising.swap(i, j);
            rising
        }
    }
}

/// Scans a sequence of up to so many elements, of these bytes each as elements, accumulators and
/// offsets, by such offsets.
pub fn scan(
    shim: &mut Shim,
    random: &mut Random,
    name: &str,
    [element, accumulator, offset]: [usize; 3],
    most: usize,
    numbered: bool,
) -> Result<(), String> {
    let len = 1 + random.below(most);
    let most_segments = [2, 40, len / 50 + 2, len + 2][random.below(4)];
    let segments = 1 + random.below(most_segments);
    let offsets = offsets(random, len, segments);
    let bytes = match offset {
        4 => bytemuck::cast_slice(&offsets.iter().map(|&x| x as u32).collect::<Vec<_>>()).to_vec(),
        _ => bytemuck::cast_slice(&offsets).to_vec(),
    };
    let inits = if numbered { [0, 1, 3][random.below(3)] } else { random.below(2) };
    let totals = usize::from(numbered && random.below(2) == 0);
    let header = format!(
        "{name} {} {} {} {len} {segments} {inits} {totals} {} 0 0 0 {}",
        [0, 3][random.below(2)],
        offset / 8,
        random.below(1 << 30),
        random.below(2),
        bytes.len(),
    );
    if !shim.has(name) {
        return Ok(());
    }
    let init = vec![1u8; accumulator * if inits == 3 { segments } else { 1 }];
    let input = vec![1u8; len * element];
    let answer = len * accumulator + totals * segments * accumulator;
    shim.run(&header, &[&init, &bytes, &input], answer).map(drop)
}
