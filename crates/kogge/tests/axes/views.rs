//! Any view of `ndarray`, strided, permuted, flipped, broadcast or empty, against one scan per
//! line.

use kogge::ops::{Affine, Compose, Sum};
use kogge::{Accumulate, Direction, Element, Kind, Operator, Scan};
use ndarray::{ArrayD, ArrayViewD, ArrayViewMutD, Axis, IxDyn, ShapeBuilder, Slice};
use proptest::prelude::*;
use proptest::sample::Index;

/// How an array of some shape lies in memory: its axes in any order, each with a step, from either
/// end, in row or column order.
#[derive(Clone, Debug)]
struct Place {
    order: Vec<usize>,
    steps: Vec<(bool, usize)>,
    fortran: bool,
}

impl Place {
    /// Memory for this shape, gaps included.
    fn memory<T: Clone>(&self, shape: &[usize], fill: impl FnMut() -> T) -> ArrayD<T> {
        let mut lengths = vec![0; shape.len()];
        for (axis, (&n, &(_, step))) in shape.iter().zip(&self.steps).enumerate() {
            lengths[self.order[axis]] = if n == 0 { 0 } else { (n - 1) * step + 1 };
        }
        let count = lengths.iter().product();
        let elements: Vec<T> = std::iter::repeat_with(fill).take(count).collect();
        ArrayD::from_shape_vec(IxDyn(&lengths).set_f(self.fortran), elements).unwrap()
    }

    fn slice(&self, axis: usize) -> Slice {
        let (flipped, step) = self.steps[axis];
        Slice::new(0, None, if flipped { -(step as isize) } else { step as isize })
    }

    fn view<'a, T>(&self, memory: &'a ArrayD<T>) -> ArrayViewD<'a, T> {
        let mut view = memory.view().permuted_axes(IxDyn(&self.order));
        (0..view.ndim()).for_each(|axis| view.slice_axis_inplace(Axis(axis), self.slice(axis)));
        view
    }

    fn view_mut<'a, T>(&self, memory: &'a mut ArrayD<T>) -> ArrayViewMutD<'a, T> {
        let mut view = memory.view_mut().permuted_axes(IxDyn(&self.order));
        (0..view.ndim()).for_each(|axis| view.slice_axis_inplace(Axis(axis), self.slice(axis)));
        view
    }
}

/// A scan of a view.
#[derive(Clone, Debug)]
struct Case {
    shape: Vec<usize>,
    axis: usize,
    input: Place,
    output: Place,
    /// Axes along which the input is the same.
    broadcast: Vec<bool>,
    kind: Kind,
    direction: Direction,
    /// None, one for all lines, or one for each.
    inits: u8,
    totals: bool,
}

fn places(axes: usize) -> impl Strategy<Value = Place> {
    let step = prop_oneof![3 => Just(1usize), 1 => 2usize..4];
    (
        Just((0..axes).collect::<Vec<usize>>()).prop_shuffle(),
        prop::collection::vec((any::<bool>(), step), axes),
        any::<bool>(),
    )
        .prop_map(|(order, steps, fortran)| Place { order, steps, fortran })
}

/// One axis may be long, the others are short; any may be empty.
fn cases() -> impl Strategy<Value = Case> {
    let short = prop_oneof![1 => Just(0usize), 2 => Just(1), 8 => 2usize..8];
    (prop::collection::vec(short, 1..5), any::<Index>(), 0..4000usize, any::<Index>())
        .prop_flat_map(|(mut shape, long, length, axis)| {
            let axes = shape.len();
            if length > 300 {
                shape[long.index(axes)] = length / shape.iter().product::<usize>().max(10);
            }
            let axis = axis.index(axes);
            let kind = prop::sample::select(vec![Kind::Inclusive, Kind::Exclusive]);
            let direction = prop::sample::select(vec![Direction::Forward, Direction::Reverse]);
            let broadcast = prop::collection::vec(prop::bool::weighted(0.15), axes);
            let ways = (kind, direction, 0u8..3, any::<bool>());
            (Just((shape, axis)), places(axes), places(axes), broadcast, ways).prop_map(
                |((shape, axis), input, output, broadcast, (kind, direction, inits, totals))| {
                    Case { shape, axis, input, output, broadcast, kind, direction, inits, totals }
                },
            )
        })
}

/// Elements of mixed magnitude, so that another order shows, from a counter.
fn element(state: &mut u64) -> f32 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 40) as f32 / 65_536.0 * [1e-3, 1.0, 1e3][(*state >> 33) as usize % 3] - 100.0
}

fn bytes<T: Element>(elements: &[T]) -> &[u8] {
    kogge::bytemuck::cast_slice(elements)
}

/// Scans one way and the other; what lies between the elements of the output must stay as it was.
fn check<T, A, O>(case: &Case, operator: O, mut make: impl FnMut() -> T, unset: A)
where
    T: Accumulate<A>,
    A: Accumulate<A> + Element<Accumulator = A>,
    O: Operator<A> + Clone,
{
    let Case { shape, axis, input, output, .. } = case;
    let thin = shape.iter().zip(&case.broadcast);
    let thin: Vec<usize> = thin.map(|(&n, &same)| if same { n.min(1) } else { n }).collect();
    let memory = input.memory(&thin, &mut make);
    let view = input.view(&memory);
    let view = view.broadcast(IxDyn(shape)).unwrap();
    let lines = (0..shape.len()).filter(|other| other != axis).map(|other| shape[other]).product();
    let inits: Vec<A> = std::iter::repeat_with(|| make().widen()).take(lines).collect();
    let one = make().widen();
    let scan = |init: Option<A>| {
        let scan = Scan::<T, O, A>::in_accumulator(operator.clone());
        let scan = scan.kind(case.kind).direction(case.direction);
        match init {
            Some(init) => scan.init(init),
            None => scan,
        }
    };
    let mut results = output.memory(shape, || unset);
    let mut totals = vec![unset; lines];
    let whole = scan((case.inits == 1).then_some(one));
    let mut by_line = whole.lines(*axis);
    if case.inits == 2 {
        by_line = by_line.inits(&inits);
    }
    if case.totals {
        by_line = by_line.totals(&mut totals);
    }
    by_line.view_into(view.clone(), output.view_mut(&mut results)).unwrap();

    let mut wanted = output.memory(shape, || unset);
    let mut into = output.view_mut(&mut wanted);
    let pairs = view.lanes(Axis(*axis)).into_iter().zip(into.lanes_mut(Axis(*axis)));
    for (number, (from, to)) in pairs.enumerate() {
        let init = [None, Some(one), inits.get(number).copied()][usize::from(case.inits)];
        let line: Vec<T> = from.iter().copied().collect();
        let mut values = vec![unset; line.len()];
        let total = scan(init).scan_into(&line, &mut values).unwrap();
        to.into_iter().zip(values).for_each(|(to, value)| *to = value);
        if case.totals {
            assert_eq!(
                bytes(&totals[number..=number]),
                bytes(&[total]),
                "total {number}, {case:?}"
            );
        }
    }
    let flat = |array: ArrayD<A>| array.into_raw_vec_and_offset().0;
    assert!(bytes(&flat(results)) == bytes(&flat(wanted)), "{case:?}");
}

proptest! {
    #[test]
    fn floats(case in cases(), seed in any::<u64>()) {
        let mut state = seed;
        check(&case, Sum, || element(&mut state), f32::MIN);
    }

    #[test]
    fn floats_in_wider_ones(case in cases(), seed in any::<u64>()) {
        let mut state = seed;
        check::<f32, f64, _>(&case, Sum, || element(&mut state), f64::MIN);
    }

    #[test]
    fn bytes_in_wider_integers(case in cases(), seed in any::<u64>()) {
        let mut state = seed;
        check::<u8, u64, _>(&case, Sum, || element(&mut state).to_bits() as u8, u64::MAX);
    }

    #[test]
    fn what_does_not_commute(case in cases(), seed in any::<u64>()) {
        let mut state = seed;
        let mut number = || element(&mut state).to_bits() as i32;
        let make = || Affine { a: number() | 1, b: number() };
        check(&case, Compose, make, Affine { a: 0, b: i32::MIN });
    }
}
