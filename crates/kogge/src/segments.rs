//! Scans of segments that lie one after another.

use crate::{Accumulate, Element, Error, Operator, Scan};
use kogge_cpu::{PerPart, Segments, scan_segments_in_place, scan_segments_into};

impl<T, O, A> Scan<T, O, A>
where
    T: Accumulate<A>,
    O: Operator<A>,
    A: Element,
{
    /// The scan of every segment by itself: by offsets ([`by_offsets`](crate::by_offsets)), by head
    /// flags ([`by_heads`](crate::by_heads)), or by runs of equal keys ([`by_key`](crate::by_key)).
    ///
    /// ```
    /// use kogge::{Scan, by_heads, by_key, by_offsets, ops::Sum};
    ///
    /// let (scan, x) = (Scan::new(Sum), [1, 2, 3, 4]);
    /// assert_eq!(scan.segments(by_offsets(&[0u32, 1, 4])).scan(&x)?, [1, 2, 5, 9]);
    /// assert_eq!(scan.segments(by_heads(&[true, true, false, false])).scan(&x)?, [1, 2, 5, 9]);
    /// assert_eq!(scan.segments(by_key(&["a", "b", "b", "b"])).scan(&x)?, [1, 2, 5, 9]);
    /// # Ok::<_, kogge::Error>(())
    /// ```
    pub fn segments<S: Segments>(&self, segments: S) -> SegmentScan<'_, T, O, A, S> {
        SegmentScan { scan: self, segments, per: PerPart::default() }
    }
}

/// A scan that starts anew with each segment, with an initial value and a total for each.
///
/// Each segment has the bits of a scan of its own. O(n) work in one pass over the data, shared out
/// evenly whatever the lengths: a single long segment among many short ones is scanned by all
/// threads.
///
/// ```
/// use kogge::{Scan, by_key, by_offsets, ops::Sum};
///
/// let (shops, sales) = (["a", "a", "b", "b", "b"], [5, 1, 2, 2, 4]);
/// assert_eq!(Scan::new(Sum).segments(by_key(&shops)).scan(&sales)?, [5, 6, 2, 4, 8]);
///
/// let mut totals = [0; 3];
/// let rows = by_offsets(&[0u32, 2, 2, 5]);
/// let scan = Scan::new(Sum).exclusive();
/// let starts = scan.segments(rows).inits(&[100, 200, 300]).totals(&mut totals).scan(&sales)?;
/// assert_eq!(starts, [100, 105, 300, 302, 304]);
/// assert_eq!(totals, [106, 200, 308]);
/// # Ok::<_, kogge::Error>(())
/// ```
///
/// One may be kept: what tells the segments has a name, [`Offsets`](crate::Offsets),
/// [`Heads`](crate::Heads) or [`Keys`](crate::Keys).
///
/// ```
/// use kogge::{Keys, Scan, SegmentScan, by_key, ops::Sum};
///
/// struct Report<'a> {
///     running: SegmentScan<'a, i32, Sum, i32, Keys<'a, u32>>,
/// }
///
/// let (scan, shops) = (Scan::new(Sum), [7, 7, 9]);
/// let report = Report { running: scan.segments(by_key(&shops)) };
/// assert_eq!(report.running.scan(&[5, 1, 2])?, [5, 6, 2]);
/// # Ok::<_, kogge::Error>(())
/// ```
#[derive(Debug)]
#[must_use = "nothing is scanned until it is applied to data"]
pub struct SegmentScan<'a, T: Element, O, A, S> {
    scan: &'a Scan<T, O, A>,
    segments: S,
    per: PerPart<'a, A>,
}

impl<'a, T, O, A, S> SegmentScan<'a, T, O, A, S>
where
    T: Accumulate<A>,
    O: Operator<A>,
    A: Element,
    S: Segments,
{
    /// One initial value per segment, instead of the scan's own.
    ///
    /// ```
    /// use kogge::{Scan, by_key, ops::Sum};
    ///
    /// let (accounts, payments) = (["a", "a", "b"], [5, -2, 1]);
    /// let scan = Scan::new(Sum);
    /// let balances = scan.segments(by_key(&accounts)).inits(&[100, 200]).scan(&payments)?;
    /// assert_eq!(balances, [105, 103, 201]);
    /// # Ok::<_, kogge::Error>(())
    /// ```
    pub fn inits(self, inits: &'a [A]) -> Self {
        Self { per: PerPart { inits: Some(inits), ..self.per }, ..self }
    }

    /// A place for the total of each segment: the fold of its initial value and its elements; the
    /// identity where there is neither. [`segment_count`](Self::segment_count) says how many.
    ///
    /// ```
    /// use kogge::{Scan, by_offsets, ops::Sum};
    ///
    /// let mut totals = [-1; 3];
    /// let mut data = [1, 2, 3, 4];
    /// let rows = by_offsets(&[0u32, 2, 2, 4]);
    /// Scan::new(Sum).segments(rows).totals(&mut totals).scan_in_place(&mut data)?;
    /// assert_eq!(totals, [3, 0, 7]);
    /// # Ok::<_, kogge::Error>(())
    /// ```
    pub fn totals(self, totals: &'a mut [A]) -> Self {
        Self { per: PerPart { totals: Some(totals), ..self.per }, ..self }
    }

    /// How many segments there are; O(n) for flags and keys.
    ///
    /// ```
    /// use kogge::{Scan, by_key, by_offsets, ops::Sum};
    ///
    /// let scan = Scan::<i32, _>::new(Sum);
    /// assert_eq!(scan.segments(by_key(&[7, 7, 8, 7])).segment_count(), 3);
    /// assert_eq!(scan.segments(by_offsets(&[0u32, 2, 2, 4])).segment_count(), 3);
    /// // That offsets fall, a scan says.
    /// assert_eq!(scan.segments(by_offsets(&[0u32, 5, 2, 1])).segment_count(), 3);
    /// ```
    pub fn segment_count(&self) -> usize {
        let end = self.segments.elements().saturating_add(1);
        self.segments.before(end).unwrap_or_else(|| self.segments.count(0..end))
    }

    /// Scans into a new vector. Prefer [`scan_into`](Self::scan_into) in loops: fresh memory costs
    /// more than the scan.
    ///
    /// # Errors
    ///
    /// As for [`scan_into`](Self::scan_into).
    ///
    /// ```
    /// use kogge::{Scan, by_heads, ops::Max};
    ///
    /// let days = by_heads(&[true, false, false, true, false]);
    /// let highs = Scan::new(Max).segments(days).scan(&[3.0, 5.0, 4.0, 1.0, 2.0])?;
    /// assert_eq!(highs, [3.0, 5.0, 5.0, 1.0, 2.0]);
    /// # Ok::<_, kogge::Error>(())
    /// ```
    pub fn scan(self, input: &[T]) -> Result<Vec<T>, Error> {
        let mut output = vec![T::zeroed(); input.len()];
        self.scan_into(input, &mut output)?;
        Ok(output)
    }

    /// Scans into a new vector of any type that holds the accumulator.
    ///
    /// # Errors
    ///
    /// As for [`scan_into`](Self::scan_into).
    ///
    /// ```
    /// use kogge::{Scan, by_key, ops::Sum};
    ///
    /// let (days, counts) = (["mon", "mon", "tue"], [200u8, 100, 50]);
    /// let scan = Scan::new(Sum).accumulate::<u32>();
    /// assert_eq!(scan.segments(by_key(&days)).scan_as::<u32>(&counts)?, [200, 300, 50]);
    /// # Ok::<_, kogge::Error>(())
    /// ```
    pub fn scan_as<U: Accumulate<A>>(self, input: &[T]) -> Result<Vec<U>, Error> {
        let mut output = vec![U::zeroed(); input.len()];
        self.scan_into(input, &mut output)?;
        Ok(output)
    }

    /// Scans into a slice of the same length and of any type that holds the accumulator.
    ///
    /// # Errors
    ///
    /// If the lengths of input, output and segments differ, offsets aren't in order, or there isn't
    /// one initial value or total per segment. Nothing is written then.
    ///
    /// ```
    /// use kogge::{Error, Scan, by_offsets, ops::Sum};
    ///
    /// let (scan, mut sums) = (Scan::new(Sum), [0; 3]);
    /// scan.segments(by_offsets(&[0u32, 2, 3])).scan_into(&[1, 2, 3], &mut sums)?;
    /// assert_eq!(sums, [1, 3, 3]);
    /// let wrong = scan.segments(by_offsets(&[0u32, 2])).scan_into(&[1, 2, 3], &mut sums);
    /// assert_eq!(wrong, Err(Error::SegmentsMismatch { segments: 2, input: 3 }));
    /// # Ok::<_, Error>(())
    /// ```
    pub fn scan_into<U: Accumulate<A>>(self, input: &[T], output: &mut [U]) -> Result<(), Error> {
        scan_segments_into(&self.scan.request(), &self.segments, self.per, input, output)
    }

    /// Scans in place.
    ///
    /// # Errors
    ///
    /// As for [`scan_into`](Self::scan_into).
    ///
    /// ```
    /// use kogge::{Scan, by_key, ops::Sum};
    ///
    /// let mut place = [1; 5];
    /// Scan::new(Sum).segments(by_key(&["a", "b", "b", "b", "c"])).scan_in_place(&mut place)?;
    /// assert_eq!(place, [1, 1, 2, 3, 1]);
    /// # Ok::<_, kogge::Error>(())
    /// ```
    pub fn scan_in_place(self, data: &mut [T]) -> Result<(), Error> {
        scan_segments_in_place(&self.scan.request(), &self.segments, self.per, data)
    }
}
