//! Axes against one scan per line, bit for bit.

use kogge::ops::{Affine, Compose, Sum};
use kogge::{Direction, Error, Kind, Layout, Scan, by_key, from_fn};

/// Floats of mixed magnitude: another order of combination shows.
fn floats(n: usize) -> Vec<f32> {
    let mut state = 1u32;
    let mut next = move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / 65_536.0 * [1e-3, 1.0, 1e3][state as usize % 3] - 100.0
    };
    (0..n).map(|_| next()).collect()
}

/// All indices of a shape.
fn indices(shape: &[usize]) -> Vec<Vec<usize>> {
    shape.iter().fold(vec![vec![]], |indices, &n| {
        indices
            .into_iter()
            .flat_map(|index| (0..n).map(move |i| [index.clone(), vec![i]].concat()))
            .collect()
    })
}

fn place(layout: &Layout, index: &[usize]) -> usize {
    let steps = index.iter().zip(&layout.strides).map(|(&i, &stride)| i as isize * stride);
    layout.offset.checked_add_signed(steps.sum()).unwrap()
}

fn check(scan: &Scan<f32, Sum>, input: &Layout, output: &Layout, size: usize, axis: usize) {
    let data = floats(size);
    let mut got = vec![f32::NAN; size];
    scan.axis_into(&data, input, &mut got, output, axis).unwrap();
    let mut data_in_place = data.clone();
    scan.axis_in_place(&mut data_in_place, input, axis).unwrap();
    let mut outer = input.shape.clone();
    outer[axis] = 1;
    for mut index in indices(&outer) {
        let mut at = |layout: &Layout, i| {
            index[axis] = i;
            place(layout, &index)
        };
        let line: Vec<f32> = (0..input.shape[axis]).map(|i| data[at(input, i)]).collect();
        for (i, want) in scan.scan(&line).into_iter().enumerate() {
            assert_eq!(
                got[at(output, i)].to_bits(),
                want.to_bits(),
                "{input:?} axis {axis} at {i}"
            );
            assert_eq!(
                data_in_place[at(input, i)].to_bits(),
                want.to_bits(),
                "in place, {input:?}"
            );
        }
    }
}

#[test]
fn every_axis_of_every_order_of_memory() {
    let scans = [
        Scan::new(Sum),
        Scan::new(Sum).exclusive().init(0.5),
        Scan::new(Sum).reverse(),
        Scan::new(Sum).kind(Kind::Exclusive).direction(Direction::Reverse),
    ];
    let shapes: &[&[usize]] = if cfg!(miri) {
        &[&[7], &[1, 1], &[5, 40], &[40, 5], &[2, 3, 17], &[40, 17]]
    } else {
        &[
            &[7],
            &[1, 1],
            &[5, 300],
            &[300, 5],
            &[2, 3, 170],
            &[40, 33, 3],
            &[1_100, 17],
            &[3, 16, 2, 9],
        ]
    };
    for (n, &shape) in shapes.iter().enumerate() {
        let size = shape.iter().product();
        let (rows, columns) = (Layout::row_major(shape), Layout::column_major(shape));
        for axis in 0..shape.len() {
            for (input, output) in [(&rows, &rows), (&columns, &columns), (&rows, &columns)] {
                check(&scans[(n + axis) % scans.len()], input, output, size, axis);
            }
        }
    }
}

#[test]
fn long_columns_are_shared_out() {
    let shape = [70_000, 18];
    let layout = Layout::row_major(&shape);
    check(&Scan::new(Sum), &layout, &layout, 70_000 * 18, 0);
    check(&Scan::new(Sum).reverse(), &layout, &layout, 70_000 * 18, 0);
}

#[test]
fn strided_negative_and_offset_views() {
    // Every third column of a 20×30 table, upside down.
    let view = Layout { shape: vec![20, 10], strides: vec![-30, 3], offset: 19 * 30 };
    for axis in [0, 1] {
        check(&Scan::new(Sum), &view, &view, 600, axis);
    }
}

#[test]
fn structs_along_an_axis() {
    let map = |x: f32| Affine { a: x.to_bits() as i32 | 1, b: x.to_bits() as i32 };
    let maps: Vec<Affine<i32>> = floats(40 * 37).into_iter().map(map).collect();
    let layout = Layout::row_major(&[40, 37]);
    let mut got = maps.clone();
    Scan::new(Compose).axis_in_place(&mut got, &layout, 0).unwrap();
    for column in 0..37 {
        let line: Vec<_> = (0..40).map(|row| maps[row * 37 + column]).collect();
        let want = Scan::new(Compose).scan(&line);
        for row in 0..40 {
            assert_eq!(got[row * 37 + column], want[row]);
        }
    }
}

#[test]
fn wider_accumulators_along_an_axis() {
    let bytes: Vec<u8> = (0..60 * 20).map(|i| (i * 7 % 256) as u8).collect();
    let layout = Layout::row_major(&[60, 20]);
    let mut sums = vec![0u64; bytes.len()];
    let scan = Scan::new(Sum).accumulate::<u64>();
    scan.axis_into(&bytes, &layout, &mut sums, &layout, 0).unwrap();
    for column in 0..20 {
        let mut sum = 0;
        for row in 0..60 {
            sum += bytes[row * 20 + column] as u64;
            assert_eq!(sums[row * 20 + column], sum);
        }
    }
}

#[test]
fn bad_layouts_are_refused() {
    let scan = Scan::<f32, _>::new(Sum);
    let (data, mut output) = (vec![0.0; 12], vec![1.0; 12]);
    let rows = Layout::row_major(&[3, 4]);
    let mut try_with = |input: &Layout, out: &Layout, axis| {
        scan.axis_into(&data, input, &mut output, out, axis).unwrap_err()
    };
    assert_eq!(try_with(&rows, &rows, 2), Error::AxisOutOfRange { axis: 2, dimensions: 2 });
    assert!(matches!(try_with(&rows, &Layout::row_major(&[4, 3]), 0), Error::ShapeMismatch { .. }));
    let wide = Layout::row_major(&[3, 5]);
    assert!(matches!(try_with(&wide, &wide, 0), Error::OutOfBounds { len: 12, .. }));
    let before = Layout { offset: 1, strides: vec![-4, 1], ..rows.clone() };
    assert!(matches!(try_with(&before, &before, 0), Error::OutOfBounds { .. }));
    let same = Layout { strides: vec![0, 1], ..rows.clone() };
    assert!(matches!(try_with(&rows, &same, 0), Error::OverlappingOutput { .. }));
    let rank = Layout { strides: vec![1], ..rows.clone() };
    assert!(matches!(try_with(&rank, &rows, 0), Error::RankMismatch { shape: 2, strides: 1 }));
    let huge = Layout::row_major(&[usize::MAX, 3]);
    assert!(matches!(try_with(&huge, &huge, 0), Error::ShapeOverflow { .. }));
    assert!(output.iter().all(|&x| x == 1.0), "nothing is written on an error");
}

#[test]
fn empty_arrays_are_fine() {
    let empty = Layout::row_major(&[3, 0, 2]);
    for axis in 0..3 {
        let mut output: [f32; 0] = [];
        Scan::<f32, _>::new(Sum).axis_into(&[], &empty, &mut output, &empty, axis).unwrap();
    }
    // Without elements none share a place, whatever the strides.
    let strides = vec![0, 0];
    let layouts = [
        Layout { shape: vec![3, 0], strides, offset: 0 },
        Layout::row_major(&[usize::MAX, usize::MAX, 0]),
    ];
    for layout in layouts {
        let mut output: [f32; 0] = [];
        Scan::<f32, _>::new(Sum).axis_into(&[], &layout, &mut output, &layout, 0).unwrap();
    }
}

#[test]
fn an_axis_of_one_has_any_stride() {
    let layout = Layout { shape: vec![1, 3], strides: vec![isize::MIN, 1], offset: 0 };
    let (data, mut output) = ([1.0, 2.0, 3.0], [0.0; 3]);
    Scan::<f32, _>::new(Sum).reverse().axis_into(&data, &layout, &mut output, &layout, 0).unwrap();
    assert_eq!(output, data);
}

#[test]
fn elements_may_have_no_size() {
    let nothing = from_fn([], |_: [u8; 0], _: [u8; 0]| []);
    let (data, mut output) = (vec![[]; 3 * 700], vec![[]; 3 * 700]);
    let layout = Layout::row_major(&[700, 3]);
    for axis in 0..2 {
        let scan = Scan::<[u8; 0], _>::new(nothing);
        scan.axis_into(&data, &layout, &mut output, &layout, axis).unwrap();
    }
    let keys: Vec<u32> = (0..data.len() as u32).map(|i| i / 7).collect();
    Scan::<[u8; 0], _>::new(nothing).segments(by_key(&keys)).scan_into(&data, &mut output).unwrap();
    Scan::<[u8; 0], _>::new(nothing).scan_into(&data, &mut output).unwrap();
    // So many find room, and lie farther apart than an offset in memory goes.
    let (data, mut output) = (vec![[]; usize::MAX], vec![[]; usize::MAX]);
    for (shape, strides) in [(vec![3], vec![isize::MAX]), (vec![3, 2], vec![1, isize::MAX])] {
        let layout = Layout { shape, strides, offset: 0 };
        for axis in 0..layout.shape.len() {
            for scan in [Scan::<[u8; 0], _>::new(nothing), Scan::new(nothing).reverse()] {
                scan.axis_into(&data, &layout, &mut output, &layout, axis).unwrap();
                scan.axis_in_place(&mut output, &layout, axis).unwrap();
            }
        }
    }
}
