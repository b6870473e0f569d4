//! The inclusive sum of every line or segment of a shape: kogge, its flat scan of as many bytes,
//! and the loops that everyone writes first.

use crate::contender::{Contender, Role};
use crate::contenders::{copies, sequential};
use crate::dtype::Dtype;
use crate::{Mode, Shape};
use kogge::ops::Sum;
use kogge::{Layout, Scan, by_key, by_offsets};

/// Contenders from one buffer into another. The buffers are as long as the copy of as many bytes;
/// the shape is their beginning. `keys` and `offsets` are the shape's own.
pub fn contenders<'a, T: Dtype>(
    shape: Shape,
    threads: usize,
    keys: &'a [u32],
    offsets: &'a [u64],
) -> Vec<Contender<'a, T>> {
    let mut all = copies::contenders(Mode::Into, threads);
    all.push(kogge(shape, threads, keys, offsets));
    let flat = |x: &[T], y: &mut [T]| {
        kogge::inclusive_scan_into(x, y, Sum).expect("the lengths are equal");
    };
    all.push(Contender::into(Role::Probe, "kogge, flat", threads, flat).unchecked());
    all.push(plain_loop(shape, keys, offsets));
    all
}

fn kogge<'a, T: Dtype>(
    shape: Shape,
    threads: usize,
    keys: &'a [u32],
    offsets: &'a [u64],
) -> Contender<'a, T> {
    let len = shape.len();
    Contender::into(Role::Kogge, "kogge", threads, move |x: &[T], y: &mut [T]| {
        let (x, y, scan) = (&x[..len], &mut y[..len], Scan::new(Sum));
        let done = match shape {
            Shape::Flat(_) => scan.scan_into(x, y).map(drop),
            Shape::Table { rows, columns, axis } => {
                let layout = Layout::row_major(&[rows, columns]);
                scan.axis_into(x, &layout, y, &layout, axis)
            }
            Shape::Runs { .. } => scan.segments(by_key(keys)).scan_into(x, y),
            Shape::Zipf { .. } => scan.segments(by_offsets(offsets)).scan_into(x, y),
        };
        done.expect("the shape is that of the buffers");
    })
}

fn plain_loop<'a, T: Dtype>(shape: Shape, keys: &'a [u32], offsets: &'a [u64]) -> Contender<'a, T> {
    let len = shape.len();
    Contender::into(Role::Peer, "sequential Rust loop", 1, move |x: &[T], y: &mut [T]| {
        let (x, y) = (&x[..len], &mut y[..len]);
        match shape {
            Shape::Flat(_) => sequential::scan_into(x, y),
            Shape::Table { columns, axis: 0, .. } => down_columns(x, y, columns),
            Shape::Table { columns, .. } => {
                let rows = x.chunks_exact(columns).zip(y.chunks_exact_mut(columns));
                rows.for_each(|(x, y)| sequential::scan_into(x, y));
            }
            Shape::Runs { .. } => by_equal_keys(x, y, keys),
            Shape::Zipf { .. } => offsets.windows(2).for_each(|pair| {
                let segment = pair[0] as usize..pair[1] as usize;
                sequential::scan_into(&x[segment.clone()], &mut y[segment]);
            }),
        }
    })
}

/// Adds each row to the sums so far.
fn down_columns<T: Dtype>(x: &[T], y: &mut [T], columns: usize) {
    y[..columns].copy_from_slice(&x[..columns]);
    for start in (columns..x.len()).step_by(columns) {
        let (done, rest) = y.split_at_mut(start);
        let (before, x) = (&done[start - columns..], &x[start..start + columns]);
        for ((y, &before), &x) in rest[..columns].iter_mut().zip(before).zip(x) {
            *y = before.plus(x);
        }
    }
}

fn by_equal_keys<T: Dtype>(x: &[T], y: &mut [T], keys: &[u32]) {
    let mut sum = x[0];
    y[0] = sum;
    for i in 1..x.len() {
        sum = if keys[i] == keys[i - 1] { sum.plus(x[i]) } else { x[i] };
        y[i] = sum;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contenders_sum_up_every_line() {
        for text in ["37x11/0", "37x11/1", "300x1/0", "1000/key:7", "2^12/zipf:256"] {
            let shape: Shape = text.parse().unwrap();
            let (keys, offsets) = (shape.keys(), shape.offsets());
            let moved = shape.moved(4);
            let (mut x, mut y) = (vec![0f32; moved], vec![0f32; moved]);
            shape.fill(&offsets, &mut x[..shape.len()]);
            for one in contenders::<f32>(shape, 2, &keys, &offsets) {
                y.fill(f32::NAN);
                one.call(&x, &mut y);
                let wrong = |&i: &usize| y[i] != f32::sum_at(i as u64);
                let first = (0..shape.len()).find(wrong).filter(|_| one.checked);
                assert_eq!(first, None, "{text}, {}", one.name);
            }
        }
    }
}
