//! The builder: everything a scan can be told, then the data.

use crate::{Accumulate, Direction, Element, Error, Kind, Operator, Stream};
use kogge_cpu::{Request, scan_in_place, scan_into};
use std::marker::PhantomData;

/// A scan of elements `T` by an operator `O` on accumulators `A`.
///
/// Starts as an inclusive forward scan without initial value; the element type follows from the
/// data it is applied to.
///
/// ```
/// use kogge::{Scan, ops::Sum};
///
/// let scan = Scan::new(Sum).exclusive().init(100).reverse();
/// assert_eq!(scan.scan(&[1, 2, 3]), [105, 103, 100]);
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use = "nothing is scanned until it is applied to data"]
pub struct Scan<T: Element, O, A = <T as Element>::Accumulator> {
    pub(crate) operator: O,
    pub(crate) kind: Kind,
    pub(crate) direction: Direction,
    pub(crate) init: Option<A>,
    element: PhantomData<fn(T)>,
}

impl<T: Element, O: Operator<T::Accumulator>> Scan<T, O> {
    /// An inclusive forward scan by this operator, in the element's own accumulator.
    ///
    /// ```
    /// use kogge::{Scan, ops::Product};
    ///
    /// let scan = Scan::new(Product);
    /// assert_eq!(scan.scan(&[1, 2, 3, 4]), [1, 2, 6, 24]);
    /// assert_eq!(scan.scan(&[5, 5, 5]), [5, 25, 125]);
    /// ```
    pub fn new(operator: O) -> Self {
        let (kind, direction) = (Kind::Inclusive, Direction::Forward);
        Self { operator, kind, direction, init: None, element: PhantomData }
    }
}

impl<T: Accumulate<A>, O: Operator<A>, A: Element> Scan<T, O, A> {
    /// An inclusive forward scan in this accumulator, by an operator that may be on no other.
    ///
    /// ```
    /// use kogge::{Scan, from_fn};
    ///
    /// let product = from_fn(1.0, |left: f64, right: f64| left * right);
    /// let scan = Scan::<f32, _, f64>::in_accumulator(product);
    /// assert_eq!(scan.scan(&[1.5, 2.0]), [1.5, 3.0]);
    /// ```
    pub fn in_accumulator(operator: O) -> Self {
        let (kind, direction) = (Kind::Inclusive, Direction::Forward);
        Self { operator, kind, direction, init: None, element: PhantomData }
    }
}

impl<T: Element, O, A> Scan<T, O, A> {
    /// Accumulates in `B`, which is wider than the element: `f32` in `f64`, `i32` in `i64`, … An
    /// initial value given before is dropped, since it has the wrong type.
    ///
    /// [`scan_as`](Self::scan_as) and [`scan_into`](Self::scan_into) give values in `B` too; where
    /// they are elements again, as by [`scan`](Self::scan) and in place, they are rounded or
    /// wrapped.
    ///
    /// ```
    /// use kogge::{Scan, ops::Sum};
    ///
    /// let bytes = [200u8, 100, 50];
    /// let mut sums = [0u32; 3];
    /// Scan::new(Sum).accumulate::<u32>().scan_into(&bytes, &mut sums)?;
    /// assert_eq!(sums, [200, 300, 350]);
    /// # Ok::<_, kogge::Error>(())
    /// ```
    pub fn accumulate<B: Element>(self) -> Scan<T, O, B>
    where
        T: Accumulate<B>,
        O: Operator<B>,
    {
        let Self { operator, kind, direction, .. } = self;
        Scan { operator, kind, direction, init: None, element: PhantomData }
    }

    /// The value at `i` takes in element `i`; the default.
    ///
    /// ```
    /// use kogge::{Scan, ops::Sum};
    ///
    /// let offsets = Scan::new(Sum).exclusive();
    /// assert_eq!(offsets.inclusive().scan(&[3, 0, 2]), [3, 3, 5]);
    /// ```
    pub fn inclusive(self) -> Self {
        self.kind(Kind::Inclusive)
    }

    /// The value at `i` takes in what comes before element `i`; the first is `init` or the
    /// identity: of sums of floats that is `-0.0`, so give `init(0.0)` if the sign is seen.
    ///
    /// ```
    /// use kogge::{Scan, ops::Sum};
    ///
    /// assert_eq!(Scan::new(Sum).exclusive().scan(&[3, 0, 2]), [0, 3, 3]);
    /// assert_eq!(Scan::new(Sum).exclusive().init(10).scan(&[3, 0, 2]), [10, 13, 13]);
    /// ```
    pub fn exclusive(self) -> Self {
        self.kind(Kind::Exclusive)
    }

    /// Inclusive or exclusive.
    ///
    /// ```
    /// use kogge::{Kind, Scan, ops::Sum};
    ///
    /// let scan = |kind| Scan::new(Sum).kind(kind).scan(&[1, 2, 3]);
    /// assert_eq!(scan(Kind::Inclusive), [1, 3, 6]);
    /// assert_eq!(scan(Kind::Exclusive), [0, 1, 3]);
    /// ```
    pub fn kind(self, kind: Kind) -> Self {
        Self { kind, ..self }
    }

    /// Combined before the first element, on the left.
    ///
    /// ```
    /// use kogge::{Scan, ops::Sum};
    ///
    /// let balance = Scan::new(Sum).init(100);
    /// assert_eq!(balance.scan(&[-30, 5, -20]), [70, 75, 55]);
    /// ```
    pub fn init(self, init: A) -> Self {
        Self { init: Some(init), ..self }
    }

    /// From the last element to the first; values stay at their elements' places.
    ///
    /// ```
    /// use kogge::{Scan, ops::Max};
    ///
    /// let highest_from_here_on = Scan::new(Max).reverse();
    /// assert_eq!(highest_from_here_on.scan(&[4, 9, 2, 7, 1]), [9, 9, 7, 7, 1]);
    /// ```
    pub fn reverse(self) -> Self {
        self.direction(Direction::Reverse)
    }

    /// From which end the elements are taken in.
    ///
    /// ```
    /// use kogge::{Direction, Scan, ops::Sum};
    ///
    /// let scan = |direction| Scan::new(Sum).direction(direction).scan(&[1, 2, 3]);
    /// assert_eq!(scan(Direction::Forward), [1, 3, 6]);
    /// assert_eq!(scan(Direction::Reverse), [6, 5, 3]);
    /// ```
    pub fn direction(self, direction: Direction) -> Self {
        Self { direction, ..self }
    }
}

impl<T, O, A> Scan<T, O, A>
where
    T: Accumulate<A>,
    O: Operator<A>,
    A: Element,
{
    /// Scans into a new vector of elements. Prefer [`scan_into`](Self::scan_into) in loops: fresh
    /// memory costs more than the scan.
    ///
    /// What was [accumulated](Self::accumulate) in a wider type is rounded or wrapped to the
    /// element's; see [`scan_as`](Self::scan_as). O(n) work.
    ///
    /// ```
    /// use kogge::{Scan, ops::Min};
    ///
    /// let lows = Scan::new(Min).scan(&[5.0, 7.0, 3.5, 4.0]);
    /// assert_eq!(lows, [5.0, 5.0, 3.5, 3.5]);
    /// ```
    #[must_use = "it scans into a new vector; `scan_in_place` changes its argument"]
    pub fn scan(&self, input: &[T]) -> Vec<T> {
        self.scan_with_total(input).0
    }

    /// Scans into a new vector of any type that holds the accumulator. O(n) work.
    ///
    /// ```
    /// use kogge::{Scan, ops::Sum};
    ///
    /// let (bytes, sums) = ([200u8, 100, 50], Scan::new(Sum).accumulate::<u32>());
    /// assert_eq!(sums.scan_as::<u32>(&bytes), [200, 300, 350]);
    /// assert_eq!(sums.scan(&bytes), [200, 44, 94], "as bytes again");
    /// ```
    #[must_use = "it scans into a new vector; `scan_in_place` changes its argument"]
    pub fn scan_as<U: Accumulate<A>>(&self, input: &[T]) -> Vec<U> {
        let mut output = vec![U::zeroed(); input.len()];
        self.scan_into(input, &mut output).expect("the lengths are equal");
        output
    }

    /// Scans into a new vector; gives the total beside it, which isn't rounded to an element. O(n)
    /// work.
    ///
    /// The total is the fold of `init` and all elements, as it would precede further ones; of
    /// neither it is the identity. For operators that round it need not have the bits of the last
    /// inclusive value: see [`Order`](crate::Order).
    ///
    /// ```
    /// use kogge::{Scan, ops::Sum};
    ///
    /// let (offsets, size) = Scan::new(Sum).exclusive().scan_with_total(&[2u32, 3, 4]);
    /// assert_eq!((offsets, size), (vec![0, 2, 5], 9));
    /// ```
    #[must_use = "it scans into a new vector; `scan_in_place` changes its argument"]
    pub fn scan_with_total(&self, input: &[T]) -> (Vec<T>, A) {
        let mut output = vec![T::zeroed(); input.len()];
        let total = self.scan_into(input, &mut output).expect("the lengths are equal");
        (output, total)
    }

    /// Scans into a slice of the same length and of any type that holds the accumulator; gives
    /// the total. O(n) work; in scratch memory below 1 % of a large input, and for each thread a
    /// segment of accumulators where elements are converted or scanned in reverse.
    ///
    /// # Errors
    ///
    /// [`Error::LengthMismatch`] if the slices differ in length; nothing is written then.
    ///
    /// ```
    /// use kogge::{Error, Scan, ops::Sum};
    ///
    /// let (data, mut sums) = ([1u32, 2, 3], [0u32; 3]);
    /// assert_eq!(Scan::new(Sum).scan_into(&data, &mut sums)?, 6);
    /// assert_eq!(sums, [1, 3, 6]);
    /// let short = Scan::new(Sum).scan_into(&data, &mut sums[..2]);
    /// assert_eq!(short, Err(Error::LengthMismatch { input: 3, output: 2 }));
    /// # Ok::<_, Error>(())
    /// ```
    pub fn scan_into<U: Accumulate<A>>(&self, input: &[T], output: &mut [U]) -> Result<A, Error> {
        Ok(self.or_identity(scan_into(&self.request(), input, output)?))
    }

    /// Scans in place; gives the total. Should the operator panic, some values have been written
    /// and some not. O(n) work; scratch memory as for [`scan_into`](Self::scan_into).
    ///
    /// ```
    /// use kogge::{Scan, ops::Max};
    ///
    /// let mut data = [1, 9, 3];
    /// assert_eq!(Scan::new(Max).reverse().scan_in_place(&mut data), 9);
    /// assert_eq!(data, [9, 9, 3]);
    /// ```
    pub fn scan_in_place(&self, data: &mut [T]) -> A {
        self.or_identity(scan_in_place(&self.request(), data))
    }

    /// The scan of one long sequence that comes in pieces.
    ///
    /// ```
    /// use kogge::{Scan, ops::Sum};
    ///
    /// let scan = Scan::new(Sum);
    /// let (mut stream, mut sums) = (scan.stream(), [0; 4]);
    /// stream.push(&[1, 2], &mut sums[..2])?;
    /// stream.push(&[3, 4], &mut sums[2..])?;
    /// assert_eq!(sums, [1, 3, 6, 10]);
    /// # Ok::<_, kogge::Error>(())
    /// ```
    pub fn stream(&self) -> Stream<T, &O, A> {
        Stream::new(&self.operator, self.kind, self.direction, self.init)
    }

    /// The same as [`stream`](Self::stream), with an operator of its own, to be kept or sent away.
    ///
    /// ```
    /// use kogge::{Scan, ops::Sum};
    ///
    /// let mut stream = Scan::new(Sum).init(10).into_stream();
    /// let thread = std::thread::spawn(move || {
    ///     [[1, 2], [3, 4]].iter_mut().for_each(|piece| stream.push_in_place(piece));
    ///     stream.total()
    /// });
    /// assert_eq!(thread.join().unwrap(), 20);
    /// ```
    pub fn into_stream(self) -> Stream<T, O, A> {
        Stream::new(self.operator, self.kind, self.direction, self.init)
    }

    pub(crate) fn request(&self) -> Request<'_, O, A> {
        Request {
            kind: self.kind,
            direction: self.direction,
            init: self.init,
            ..Request::new(&self.operator)
        }
    }

    fn or_identity(&self, total: Option<A>) -> A {
        total.unwrap_or_else(|| self.operator.identity())
    }
}
