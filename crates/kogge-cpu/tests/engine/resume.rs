//! Scans that go on where another ended, at any tile boundary, on one thread and on many.

use crate::common::{MANY, MANY_STREAM, ONE, Random, Wide, bracket_each};
use kogge_core::ops::Sum;
use kogge_core::{Compact, Direction, Kind, Operator, Order, Prefix, from_fn, reference};
use kogge_cpu::{Plan, Request, resume_in_place, resume_into, scan_in_place, scan_into};

const TILE: usize = Order::of::<Wide>().tile();

fn brackets() -> impl Operator<Wide> {
    from_fn([0; 3], bracket_each)
}

/// Scans in pieces that end at these tiles, and compares values and total with the reference.
fn check<O: Operator<Wide>>(
    operator: &O,
    data: &[Wide],
    cuts: &[usize],
    request: Request<O, Wide>,
) {
    let Request { kind, direction, init, plan, .. } = request;
    let forward = direction == Direction::Forward;
    let n = data.len();
    let mut sequence = data.to_vec();
    if !forward {
        sequence.reverse();
    }
    let mut expected = reference::scan(&sequence, operator, Order::of::<Wide>(), kind, init);
    if !forward {
        expected.values.reverse();
    }
    let bounds: Vec<usize> =
        [0].into_iter().chain(cuts.iter().map(|cut| cut * TILE)).chain([n]).collect();
    let (mut into, mut in_place) = (vec![[7; 3]; n], data.to_vec());
    let (mut prefix, mut prefix_in_place) = (Prefix::new(init), Prefix::new(init));
    for pair in bounds.windows(2) {
        let piece = if forward { pair[0]..pair[1] } else { n - pair[1]..n - pair[0] };
        resume_into(&request, &mut prefix, &data[piece.clone()], &mut into[piece.clone()]).unwrap();
        resume_in_place(&request, &mut prefix_in_place, &mut in_place[piece]);
    }
    let what = format!("{kind:?} {direction:?} {init:?} {plan:?} {cuts:?}");
    assert!(into == expected.values, "{what}");
    assert!(in_place == expected.values, "in place, {what}");
    assert_eq!(prefix.before(operator), Some(expected.total), "{what}");
    assert_eq!(prefix_in_place.before(operator), Some(expected.total), "in place, {what}");
    assert_eq!(prefix.tiles(), n.div_ceil(TILE));
}

fn every_cut<O: Operator<Wide>>(operator: &O) {
    let mut random = Random(5);
    let tiles = if cfg!(miri) { 2 } else { 66 };
    let data: Vec<Wide> =
        (0..tiles * TILE + 77).map(|_| [random.next(), random.next(), random.next()]).collect();
    let cuts: &[&[usize]] = if cfg!(miri) {
        &[&[1]]
    } else {
        &[&[], &[1], &[31], &[32], &[5, 5, 40, 64], &[1, 2, 33, 66]]
    };
    let plans: &[Plan] = if cfg!(miri) { &[ONE] } else { &[ONE, MANY, MANY_STREAM] };
    for (n, cuts) in cuts.iter().enumerate() {
        for (p, &plan) in plans.iter().enumerate() {
            let kind = [Kind::Inclusive, Kind::Exclusive][n % 2];
            let init = [None, Some([1, 2, 3])][(n / 2 + p) % 2];
            for direction in [Direction::Forward, Direction::Reverse] {
                let plan = Some(plan);
                let request = Request { kind, direction, init, plan, ..Request::new(operator) };
                check(operator, &data, cuts, request);
            }
        }
    }
}

/// The engine may take several at once.
#[test]
fn tiles_of_exact_operators_are_counted() {
    let tile = Order::of::<u32>().tile();
    let tiles = if cfg!(miri) { 2 } else { 40 };
    let mut data = vec![1u32; tiles * tile + 1];
    for plan in if cfg!(miri) { vec![ONE] } else { vec![ONE, MANY] } {
        let request = Request { plan: Some(plan), ..Request::<_, u32>::new(&Sum) };
        let mut prefix = Prefix::new(Some(5));
        resume_in_place(&request, &mut prefix, &mut data[..tile]);
        assert_eq!(prefix.tiles(), 1);
        resume_in_place(&request, &mut prefix, &mut data[tile..]);
        assert_eq!(prefix.tiles(), tiles + 1);
        resume_in_place(&request, &mut prefix, &mut data[..0]);
        assert_eq!(prefix.tiles(), tiles + 1);
    }
}

#[test]
fn at_every_kind_of_tile() {
    every_cut(&brackets());
}

#[test]
fn compact_code_has_the_same_bits() {
    every_cut(&Compact(brackets()));
}

/// The last odd element: exact, and neither commutative nor blind to what is left out.
struct LastOdd;

impl Operator<Wide> for LastOdd {
    const EXACT: bool = true;
    fn identity(&self) -> Wide {
        [0; 3]
    }
    fn combine(&self, left: Wide, right: Wide) -> Wide {
        if right[0] % 2 == 1 { right } else { left }
    }
}

#[test]
fn compact_code_of_exact_operators() {
    every_cut(&LastOdd);
    every_cut(&Compact(LastOdd));
}

/// One thread goes through such a scan alone, many share it.
#[test]
fn compact_code_of_exact_operators_from_the_start() {
    let mut random = Random(9);
    let long = if cfg!(miri) { 40 } else { 3 * TILE + 5 };
    let operator = Compact(LastOdd);
    for n in [0, 1, 2, 3, long] {
        let data: Vec<Wide> = (0..n).map(|_| [random.next(); 3]).collect();
        for plan in [ONE, MANY] {
            for kind in [Kind::Inclusive, Kind::Exclusive] {
                for init in [None, Some([2; 3])] {
                    let expected =
                        reference::scan(&data, &LastOdd, Order::of::<Wide>(), kind, init);
                    let sum = (n > 0 || init.is_some()).then_some(expected.total);
                    for direction in [Direction::Forward, Direction::Reverse] {
                        let mut input = data.clone();
                        let turn = |values: &mut [Wide]| match direction {
                            Direction::Forward => {}
                            Direction::Reverse => values.reverse(),
                        };
                        turn(&mut input);
                        let plan = Some(plan);
                        let request =
                            Request { kind, direction, init, plan, ..Request::new(&operator) };
                        let mut into = vec![[7; 3]; n];
                        let total = scan_into(&request, &input, &mut into).unwrap();
                        let total_in_place = scan_in_place(&request, &mut input);
                        turn(&mut into);
                        turn(&mut input);
                        let what = format!("{n} {kind:?} {direction:?} {init:?} {plan:?}");
                        assert!(into == expected.values, "{what}");
                        assert!(input == expected.values, "in place, {what}");
                        assert_eq!((total, total_in_place), (sum, sum), "{what}");
                    }
                }
            }
        }
    }
}

#[test]
fn lengths_must_match_and_nothing_is_taken() {
    let operator = brackets();
    let mut prefix = Prefix::new(None);
    let request = Request::new(&operator);
    assert!(resume_into(&request, &mut prefix, &[[1; 3]; 2], &mut [[0; 3]; 3]).is_err());
    assert_eq!(prefix.tiles(), 0);
}
