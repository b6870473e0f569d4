//! Streams give the bits of the whole, wherever the cuts fall.

use kogge::ops::Sum;
use kogge::{Direction, Kind, Order, Scan};
use proptest::prelude::*;

fn floats(n: usize) -> Vec<f64> {
    let mut state = 7u64;
    let mut next = move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / 9e15 * [1e-6, 1.0, 1e6][(state >> 60) as usize % 3] - 0.1
    };
    (0..n).map(|_| next()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn any_cuts(
        len in 0..300_000usize,
        cuts in prop::collection::vec(0..300_000usize, 0..6),
        exclusive: bool,
        reverse: bool,
        init: Option<i8>,
    ) {
        let data = floats(len);
        let kind = if exclusive { Kind::Exclusive } else { Kind::Inclusive };
        let direction = if reverse { Direction::Reverse } else { Direction::Forward };
        let mut scan = Scan::new(Sum).kind(kind).direction(direction);
        if let Some(init) = init {
            scan = scan.init(init as f64 / 3.0);
        }
        let (whole, total) = scan.scan_with_total(&data);

        let mut bounds: Vec<usize> = cuts.into_iter().map(|cut| cut.min(len)).collect();
        bounds.extend([0, len]);
        bounds.sort_unstable();
        let mut pieces: Vec<_> = bounds.windows(2).map(|pair| pair[0]..pair[1]).collect();
        if reverse {
            pieces.reverse();
        }
        let (mut into, mut in_place) = (vec![0.0; len], data.clone());
        let (mut stream, mut stream_in_place) = (scan.stream(), scan.stream());
        for piece in pieces {
            stream.push(&data[piece.clone()], &mut into[piece.clone()]).unwrap();
            stream_in_place.push_in_place(&mut in_place[piece]);
        }
        let bits = |values: &[f64]| values.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        prop_assert_eq!(bits(&into), bits(&whole));
        prop_assert_eq!(bits(&in_place), bits(&whole));
        prop_assert_eq!(stream.total().to_bits(), total.to_bits());
    }
}

#[test]
fn lengths_must_match_and_the_piece_is_not_taken() {
    let scan = Scan::new(Sum);
    let mut stream = scan.stream();
    assert!(stream.push(&[1, 2, 3], &mut [0i32; 2]).is_err());
    assert_eq!(stream.total(), 0);
}

#[test]
fn a_tile_is_what_the_docs_say() {
    assert_eq!(Order::of::<f32>().tile() * size_of::<f32>(), 32 << 10);
}

/// Exact operators go through the engine whatever the cuts; a wider accumulator carries more than
/// the elements can show.
#[test]
fn cuts_of_exact_operators() {
    let data: Vec<u8> = (0..100_000u32).map(|i| (i.wrapping_mul(i) >> 7) as u8).collect();
    let forward = Scan::new(Sum).accumulate::<u32>();
    for (scan, reverse) in [(forward, false), (forward.exclusive().reverse().init(9), true)] {
        let mut whole = vec![0u32; data.len()];
        let total = scan.scan_into(&data, &mut whole).unwrap();
        let mut pieces = vec![0u32; data.len()];
        let mut stream = scan.stream();
        let mut bounds: Vec<_> =
            (0..data.len()).step_by(777).map(|i| i..data.len().min(i + 777)).collect();
        if reverse {
            bounds.reverse();
        }
        for piece in bounds {
            stream.push(&data[piece.clone()], &mut pieces[piece]).unwrap();
        }
        assert_eq!(pieces, whole);
        assert_eq!(stream.total(), total);
    }
}
