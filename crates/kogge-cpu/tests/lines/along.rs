//! Scans along an axis: each line against the reference, bit for bit, whatever lies beside it.

use crate::common::{Random, bracket, by_reference, odd_u32, odd_u64, same_bits};
use kogge_core::ops::Sum;
use kogge_core::{Accumulate, Compact, Direction, Element, Kind, Operator, Order, from_fn};
use kogge_cpu::{Axis, Level, PerPart, Request, scan_lines};
use std::fmt::Debug;

/// Elements along an axis and the step between them; offsets of index 0 in front.
#[derive(Clone, Debug)]
struct Shape {
    offset: usize,
    axes: Vec<(usize, isize)>,
}

impl Shape {
    fn row_major(shape: &[usize]) -> Self {
        let stride = |k: usize| shape[k + 1..].iter().product::<usize>() as isize;
        Self { offset: 0, axes: (0..shape.len()).map(|k| (shape[k], stride(k))).collect() }
    }

    /// The same places, this axis counted from its end.
    fn flipped(mut self, axis: usize) -> Self {
        let (len, stride) = &mut self.axes[axis];
        self.offset = at(self.offset, *len - 1, *stride);
        *stride = -*stride;
        self
    }

    fn len(&self) -> usize {
        self.axes.iter().map(|&(len, _)| len).product()
    }

    /// The places of every line along an axis.
    fn lines(&self, axis: usize) -> Vec<Vec<usize>> {
        let mut starts = vec![self.offset];
        for (k, &(len, stride)) in self.axes.iter().enumerate() {
            if k != axis {
                let along = |start: usize| (0..len).map(move |i| at(start, i, stride));
                starts = starts.into_iter().flat_map(along).collect();
            }
        }
        let (len, stride) = self.axes[axis];
        starts.into_iter().map(|start| (0..len).map(|i| at(start, i, stride)).collect()).collect()
    }

    /// The axes as the engine takes them: the line and the others.
    fn engine(&self, axis: usize) -> (Axis, Vec<Axis>) {
        let axis_of = |&(len, stride): &(usize, isize)| Axis { len, strides: [stride; 2] };
        let mut axes: Vec<Axis> = self.axes.iter().map(axis_of).collect();
        (axes.remove(axis), axes)
    }
}

fn at(start: usize, i: usize, stride: isize) -> usize {
    start.checked_add_signed(i as isize * stride).expect("a place")
}

/// All lines along every axis, into another array and in place; where `own` makes them, with an
/// initial value for each and its total.
fn check<T, U, A, O>(
    shape: &Shape,
    request: &Request<'_, O, A>,
    make: impl FnMut(usize) -> T,
    own: Option<fn(usize) -> A>,
) where
    T: Accumulate<A> + Debug,
    U: Accumulate<A> + Debug,
    A: Element<Accumulator = A> + Debug,
    O: Operator<A>,
{
    let input: Vec<T> = (0..shape.len()).map(make).collect();
    for axis in 0..shape.axes.len() {
        let (line, outer) = shape.engine(axis);
        let (mut output, mut data) = (vec![U::zeroed(); input.len()], input.clone());
        let from = input.as_ptr().wrapping_add(shape.offset);
        let to = output.as_mut_ptr().wrapping_add(shape.offset);
        let lines = shape.lines(axis);
        let inits: Option<Vec<A>> = own.map(|own| (0..lines.len()).map(own).collect());
        let mut totals = vec![A::zeroed(); if own.is_some() { lines.len() } else { 0 }];
        let per = PerPart { inits: inits.as_deref(), totals: None };
        // SAFETY: a shape permutes the places of its array; the arrays are this call's.
        unsafe { scan_lines::<T, U, A, O>(request, per, from, to, line, &outer, false) }.unwrap();
        let to = data.as_mut_ptr().wrapping_add(shape.offset);
        let totals_wanted = own.is_some().then_some(&mut totals[..]);
        let per = PerPart { inits: inits.as_deref(), totals: totals_wanted };
        // SAFETY: as above.
        unsafe { scan_lines::<T, T, A, O>(request, per, to, to, line, &outer, true) }.unwrap();
        for (number, places) in lines.iter().enumerate() {
            let mut elements: Vec<A> = places.iter().map(|&place| input[place].widen()).collect();
            let reverse = request.direction == Direction::Reverse;
            let order = Order::of::<T>();
            if reverse {
                elements.reverse();
            }
            let init = inits.as_ref().map_or(request.init, |inits| Some(inits[number]));
            let whole = by_reference(request.operator, &elements, order, request.kind, init);
            let mut want = whole.values;
            if reverse {
                want.reverse();
            }
            let name = format!("axis {axis} of {shape:?} from {}", places[0]);
            let got: Vec<U> = places.iter().map(|&place| output[place]).collect();
            let narrow: Vec<U> = want.iter().map(|&value| U::narrow(value)).collect();
            same_bits(&name, &got, &narrow);
            let got: Vec<T> = places.iter().map(|&place| data[place]).collect();
            let narrow: Vec<T> = want.iter().map(|&value| T::narrow(value)).collect();
            same_bits(&format!("in place, {name}"), &got, &narrow);
            if own.is_some() {
                same_bits(&format!("total, {name}"), &totals[number..=number], &[whole.total]);
            }
        }
    }
}

fn shapes() -> Vec<Shape> {
    let shapes: &[&[usize]] = if cfg!(miri) {
        // Columns of a group and one more, short lines from wherever they lie, and more than a row.
        &[&[3, 2, 17], &[20, 5, 3], &[140, 3]]
    } else {
        &[
            &[1],
            &[5_000],
            &[3, 2, 17],
            &[70, 33],
            &[2, 1_100, 19],
            &[1, 40, 1, 16],
            &[9_000, 21],
            &[5, 1_030, 7],
            &[2_000, 16],
            &[1_999, 8],
            &[2_001, 5],
            &[1_000, 3],
            &[3_001, 1],
            &[2, 700, 13],
        ]
    };
    let plain = shapes.iter().map(|shape| Shape::row_major(shape));
    let flipped = plain.clone().map(|shape| shape.flipped(0));
    let flipped = flipped.take(if cfg!(miri) { 2 } else { shapes.len() });
    plain.chain(flipped).collect()
}

fn brackets() -> impl Operator<u32> {
    from_fn(1, odd_u32)
}

#[test]
fn brackets_along_every_axis() {
    along_every_axis(&brackets());
}

#[test]
fn compact_code_along_every_axis() {
    along_every_axis(&Compact(brackets()));
}

fn along_every_axis(operator: &impl Operator<u32>) {
    for (n, shape) in shapes().into_iter().enumerate() {
        let request = Request {
            kind: [Kind::Inclusive, Kind::Exclusive][n % 2],
            direction: [Direction::Forward, Direction::Reverse][n % 3 / 2],
            init: [None, Some(5)][n % 5 / 3],
            level: *Level::available().last().unwrap(),
            ..Request::new(operator)
        };
        let make = |i| Random(i as u64).next() as u32 | 1;
        // Miri sees each shape with values of the lines' own or without.
        if !cfg!(miri) || n % 2 == 0 {
            check::<u32, u32, u32, _>(&shape, &request, make, None);
        }
        if !cfg!(miri) || n % 2 == 1 {
            check::<u32, u32, u32, _>(&shape, &request, make, Some(|line| 6 * line as u32 + 1));
        }
    }
}

/// Where any tree has the same bits, rows of lines side by side have none.
#[test]
fn sums_of_integers_along_every_axis() {
    along_every_axis(&Sum);
}

/// Products of odd numbers, which are the same in any order. An even one is no element, nor made of
/// any.
struct OddProduct;

impl Operator<u32> for OddProduct {
    const EXACT: bool = true;

    fn identity(&self) -> u32 {
        1
    }

    #[inline(always)]
    fn combine(&self, left: u32, right: u32) -> u32 {
        assert!(left & right & 1 == 1, "an operand is no element, nor made of any");
        left.wrapping_mul(right)
    }
}

/// By lines of the cache; and of narrower elements lane by lane, by many threads that fold rows.
#[test]
fn exact_operators_see_no_values_but_such_as_there_are() {
    along_every_axis(&OddProduct);
    let long = if cfg!(miri) { 600 } else { 40_000 };
    for shape in shapes().into_iter().chain([Shape::row_major(&[long, 20])]) {
        for kind in [Kind::Inclusive, Kind::Exclusive] {
            let request = Request { kind, ..Request::new(&OddProduct) };
            let make = |i| Random(i as u64).next() as u16 | 1;
            check::<u16, u16, u32, _>(&shape, &request, make, None);
        }
    }
}

#[test]
fn wider_accumulators_along_every_axis() {
    for shape in shapes() {
        let request = Request { init: Some(0.25), ..Request::new(&Sum) };
        let make = |i| Random(i as u64).float() as f32;
        check::<f32, f64, f64, _>(&shape, &request, make, Some(|line| line as f64 + 0.1));
    }
}

/// Tables of sixteen columns at most, in elements of every size that vectors have, by several
/// threads too. Not of floats: the engine takes them for what is as large and isn't exact either.
#[test]
#[cfg_attr(miri, ignore = "the same unsafe code as for other operators")]
fn narrow_tables() {
    let (four, eight) = (from_fn(1, odd_u32), from_fn(1, odd_u64));
    for columns in 1..=17 {
        let shape = Shape::row_major(&[if columns % 5 == 3 { 90_000 } else { 1_500 }, columns]);
        for level in Level::available() {
            let kind = [Kind::Inclusive, Kind::Exclusive][columns % 2];
            let init = (columns % 3 > 0).then_some(25);
            let request = Request { kind, init, level, ..Request::new(&eight) };
            let make = |i| Random(i as u64).next() | 1;
            check::<u64, u64, u64, _>(&shape, &request, make, None);
            check::<u64, u64, u64, _>(&shape, &request, make, Some(|line| line as u64 | 1));
            let request = Request { kind, level, init: None, ..Request::new(&four) };
            check::<u32, u32, u32, _>(&shape, &request, |i| make(i) as u32, None);
            let request = Request { kind, level, ..Request::new(&Sum) };
            check::<u16, u16, u16, _>(&shape, &request, |i| make(i) as u16, None);
            let request = Request { kind, level, ..Request::new(&Sum) };
            check::<u8, u8, u8, _>(&shape, &request, |i| make(i) as u8, None);
        }
    }
}

/// Sixteen lines of such elements are scanned as one: their accumulators must fit on the stack of
/// a thread of the pool.
#[test]
fn kibibytes_along_every_axis() {
    type Page = [u64; 128];
    let operator =
        from_fn([0; 128], |x: Page, y: Page| std::array::from_fn(|i| bracket(x[i], y[127 - i])));
    let shape = Shape::row_major(if cfg!(miri) { &[2, 16] } else { &[40, 35] });
    let make = |i| {
        let mut random = Random(i as u64);
        std::array::from_fn(|_| random.next())
    };
    check::<Page, Page, Page, _>(&shape, &Request::new(&operator), make, None);
}

#[test]
fn lines_without_elements_have_totals() {
    let request = Request { init: Some(7), ..Request::new(&Sum) };
    let (line, outer) = Shape::row_major(&[2, 0, 3]).engine(1);
    let mut totals = [0; 6];
    let per = PerPart { inits: Some(&[1, 2, 3, 4, 5, 6]), totals: Some(&mut totals) };
    let to = [0u32; 0].as_mut_ptr();
    // SAFETY: no element is reached.
    unsafe { scan_lines::<u32, u32, u32, _>(&request, per, to, to, line, &outer, true) }.unwrap();
    assert_eq!(totals, [1, 2, 3, 4, 5, 6]);
    let per = PerPart { inits: Some(&[1, 2]), totals: None };
    // SAFETY: as above.
    let error =
        unsafe { scan_lines::<u32, u32, u32, _>(&request, per, to, to, line, &outer, true) };
    assert_eq!(
        error.unwrap_err().to_string(),
        "there are 2 initial values for 6 line(s); give one for each",
    );
}

/// What is never stepped by may be any number.
#[test]
fn an_axis_of_one_place_has_any_stride() {
    for far in [isize::MAX, isize::MIN] {
        let input: Vec<u32> = (1..51).collect();
        let (one, side) = ([far; 2], [1; 2]);
        for (line, outer, expected) in [
            (Axis { len: 1, strides: one }, Axis { len: 50, strides: side }, input.clone()),
            (Axis { len: 50, strides: side }, Axis { len: 1, strides: one }, sums(&input)),
        ] {
            let mut output = vec![0; 50];
            let (from, to) = (input.as_ptr(), output.as_mut_ptr());
            let (request, per) = (Request::<_, u32>::new(&Sum), PerPart::default());
            // SAFETY: 50 elements are reached.
            unsafe { scan_lines(&request, per, from, to, line, &[outer], false) }.unwrap();
            assert_eq!(output, expected, "{far}");
        }
    }
}

fn sums(input: &[u32]) -> Vec<u32> {
    let mut sum = 0;
    input
        .iter()
        .map(|x| {
            sum += x;
            sum
        })
        .collect()
}

/// Values that don't fit in a cache are stored past it, from the first whole cache line on; few
/// lines are shared out along their length.
#[test]
#[cfg_attr(miri, ignore = "too large")]
fn large_arrays() {
    let operator = brackets();
    let make = |i| Random(i as u64).next() as u32 | 1;
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        for shape in [
            [2_100, 2_048],
            [2_100, 1_037],
            [90, 9_000],
            [40_000, 48],
            [33_000, 70],
            [270_000, 8],
            [400_000, 5],
        ] {
            let request = Request { kind: Kind::Exclusive, ..Request::new(&operator) };
            let shape = Shape::row_major(&shape);
            pool.install(|| check::<u32, u32, u32, _>(&shape, &request, make, None));
        }
    }
}
