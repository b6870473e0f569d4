//! One long sequence in pieces, with the bits of the whole.

use crate::{Accumulate, Direction, Element, Error, Kind, Operator, Order, Stepper};
use kogge_cpu::{Request, resume_in_place, resume_into, scan_in_place, scan_into};
use std::marker::PhantomData;
use std::ops::Range;

/// A scan whose data come piece by piece; made by [`Scan::stream`](crate::Scan::stream).
///
/// The values are those of one scan over all pieces, bit for bit, wherever the cuts fall. Whole
/// tiles ([`Order::tile`] elements, 32 KiB where an element's size divides 16) go through the
/// engine, on all cores; what lies before and after them in a piece is taken element by element. So
/// pieces should be many tiles; of an [exact](Operator::EXACT) operator they may be anything.
///
/// A reverse scan takes the pieces from the end of the data to its beginning, each in memory order.
///
/// If the operator panics, the piece is lost and the stream no longer fit for use: begin another
/// one.
///
/// ```
/// use kogge::{Scan, ops::Sum};
///
/// let data: Vec<f32> = (0..10_000).map(|i| (i as f32).sqrt()).collect();
/// let scan = Scan::new(Sum);
/// let whole = scan.scan(&data);
///
/// let mut stream = scan.stream();
/// let mut pieces = vec![0.0; data.len()];
/// for (input, output) in data.chunks(777).zip(pieces.chunks_mut(777)) {
///     stream.push(input, output)?;
/// }
/// assert_eq!(pieces, whole);
/// # Ok::<_, kogge::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "nothing is scanned until pieces are pushed"]
pub struct Stream<T: Element, O, A> {
    operator: O,
    kind: Kind,
    direction: Direction,
    stepper: Stepper<A>,
    element: PhantomData<fn(T)>,
}

impl<T, O, A> Stream<T, O, A>
where
    T: Accumulate<A>,
    O: Operator<A>,
    A: Element,
{
    pub(crate) fn new(operator: O, kind: Kind, direction: Direction, init: Option<A>) -> Self {
        let stepper = Stepper::new(Order::of::<T>(), init);
        Self { operator, kind, direction, stepper, element: PhantomData }
    }

    /// Scans the next piece into a slice of the same length.
    ///
    /// # Errors
    ///
    /// [`Error::LengthMismatch`] if the slices differ in length; the piece is not taken then.
    ///
    /// ```
    /// use kogge::{Error, Scan, ops::Sum};
    ///
    /// let (mut stream, mut sums) = (Scan::new(Sum).into_stream(), [0; 2]);
    /// stream.push(&[1, 2], &mut sums)?;
    /// let short = stream.push(&[3, 4, 5], &mut sums);
    /// assert_eq!(short, Err(Error::LengthMismatch { input: 3, output: 2 }));
    /// stream.push(&[3, 4], &mut sums)?;
    /// assert_eq!(sums, [6, 10]);
    /// # Ok::<_, Error>(())
    /// ```
    pub fn push<U: Accumulate<A>>(&mut self, input: &[T], output: &mut [U]) -> Result<(), Error> {
        Error::unless_equal(input.len(), output.len())?;
        if const { O::EXACT } {
            self.exact(|request| scan_into(request, input, output).expect("as long as each other"));
            return Ok(());
        }
        let [head, tiles, tail] = self.cut(input.len());
        self.step(&input[head.clone()], &mut output[head]);
        if !tiles.is_empty() {
            let (input, output) = (&input[tiles.clone()], &mut output[tiles]);
            let (request, stepper) = self.parts();
            stepper.skip_tiles(request.operator, |prefix| {
                resume_into(&request, prefix, input, output).expect("as long as each other");
            });
        }
        self.step(&input[tail.clone()], &mut output[tail]);
        Ok(())
    }

    /// Scans the next piece in place.
    ///
    /// ```
    /// use kogge::{Scan, ops::Sum};
    ///
    /// // From the end of the data to its beginning.
    /// let (mut last, mut first) = ([3, 4], [1, 2]);
    /// let mut stream = Scan::new(Sum).reverse().into_stream();
    /// stream.push_in_place(&mut last);
    /// stream.push_in_place(&mut first);
    /// assert_eq!((first, last), ([10, 9], [7, 4]));
    /// ```
    pub fn push_in_place(&mut self, data: &mut [T]) {
        if const { O::EXACT } {
            return self.exact(|request| scan_in_place(request, data));
        }
        let [head, tiles, tail] = self.cut(data.len());
        self.step_in_place(&mut data[head]);
        if !tiles.is_empty() {
            let (request, stepper) = self.parts();
            stepper.skip_tiles(request.operator, |prefix| {
                resume_in_place(&request, prefix, &mut data[tiles]);
            });
        }
        self.step_in_place(&mut data[tail]);
    }

    /// The fold of `init` and everything so far; the identity if there was nothing.
    ///
    /// ```
    /// use kogge::{Scan, ops::Product};
    ///
    /// let mut stream = Scan::new(Product).into_stream();
    /// assert_eq!(stream.total(), 1);
    /// stream.push_in_place(&mut [2, 3]);
    /// stream.push_in_place(&mut [7]);
    /// assert_eq!(stream.total(), 42);
    /// ```
    pub fn total(&self) -> A {
        self.stepper.total(&self.operator).unwrap_or_else(|| self.operator.identity())
    }

    /// The places of a piece up to the next tile boundary, of the whole tiles after it, and of the
    /// rest, each in memory order, first taken first.
    fn cut(&self, len: usize) -> [Range<usize>; 3] {
        let tile = self.stepper.order().tile();
        let head = self.stepper.to_boundary().min(len);
        let tail = head + (len - head) / tile * tile;
        match self.direction {
            Direction::Forward => [0..head, head..tail, tail..len],
            Direction::Reverse => [len - head..len, len - tail..len - head, 0..len - tail],
        }
    }

    /// What is asked of the engine, but for what precedes, and the state that knows that.
    fn parts(&mut self) -> (Request<'_, O, A>, &mut Stepper<A>) {
        let Self { kind, direction, .. } = *self;
        (Request { kind, direction, ..Request::new(&self.operator) }, &mut self.stepper)
    }

    /// Scans a piece of an exact operator, whose cuts don't matter.
    fn exact(&mut self, scan: impl FnOnce(&Request<'_, O, A>) -> Option<A>) {
        let (mut request, stepper) = self.parts();
        request.init = stepper.total(request.operator);
        *stepper = Stepper::new(stepper.order(), scan(&request));
    }

    fn step<U: Accumulate<A>>(&mut self, input: &[T], output: &mut [U]) {
        let mut step = |(x, y): (&T, &mut U)| {
            *y = U::narrow(self.stepper.step(&self.operator, self.kind, x.widen()));
        };
        match self.direction {
            Direction::Forward => input.iter().zip(output).for_each(&mut step),
            Direction::Reverse => input.iter().zip(output).rev().for_each(&mut step),
        }
    }

    fn step_in_place(&mut self, data: &mut [T]) {
        let mut step = |x: &mut T| {
            *x = T::narrow(self.stepper.step(&self.operator, self.kind, x.widen()));
        };
        match self.direction {
            Direction::Forward => data.iter_mut().for_each(&mut step),
            Direction::Reverse => data.iter_mut().rev().for_each(&mut step),
        }
    }
}
