//! What each part of a scan, a line or a segment, has of its own.

use kogge_core::{Error, Operator};

/// An initial value for each part instead of the request's, and a place for each total.
///
/// ```
/// use kogge_core::ops::Sum;
/// use kogge_cpu::{PerPart, Request, by_offsets, scan_segments_in_place};
///
/// let (mut data, mut totals) = ([1, 2, 3], [0; 2]);
/// let per = PerPart { inits: Some(&[10, 20]), totals: Some(&mut totals) };
/// let segments = by_offsets(&[0u32, 2, 3]);
/// scan_segments_in_place(&Request::new(&Sum), &segments, per, &mut data)?;
/// assert_eq!((data, totals), ([11, 13, 23], [13, 23]));
/// # Ok::<_, kogge_core::Error>(())
/// ```
#[derive(Debug)]
pub struct PerPart<'a, A> {
    /// One initial value per line or segment.
    pub inits: Option<&'a [A]>,
    /// A place for the total of each line or segment: the fold of its initial value and its
    /// elements; the identity where there is neither.
    pub totals: Option<&'a mut [A]>,
}

impl<A> Default for PerPart<'_, A> {
    fn default() -> Self {
        Self { inits: None, totals: None }
    }
}

impl<'a, A> PerPart<'a, A> {
    /// Whether any part has something of its own.
    pub(crate) fn is_some(&self) -> bool {
        self.inits.is_some() || self.totals.is_some()
    }

    /// Checks that there is one of each for so many parts, called `word`.
    pub(crate) fn check(&self, parts: usize, word: &str) -> Result<(), Error> {
        let inits = self.inits.map(<[A]>::len);
        let totals = self.totals.as_ref().map(|totals| totals.len());
        for (what, given) in [("initial values", inits), ("totals", totals)] {
            if let Some(given) = given.filter(|&given| given != parts) {
                return Err(Error::PerPart { what, given, parts: format!("{parts} {word}") });
            }
        }
        Ok(())
    }

    /// To be shared by threads.
    pub(crate) fn share(self, init: Option<A>) -> Parts<'a, A> {
        Parts { init, inits: self.inits, totals: self.totals.map(<[A]>::as_mut_ptr) }
    }
}

/// Initial values and places for totals, shared by the threads of a scan.
pub(crate) struct Parts<'a, A> {
    init: Option<A>,
    inits: Option<&'a [A]>,
    totals: Option<*mut A>,
}

// SAFETY: each place for a total is written by the one thread that scans its part.
unsafe impl<A: Sync + Send> Sync for Parts<'_, A> {}

impl<A: Copy> Parts<'_, A> {
    /// The initial value of a part.
    #[inline(always)]
    pub(crate) fn init(&self, number: usize) -> Option<A> {
        self.inits.map_or(self.init, |inits| Some(inits[number]))
    }

    /// Whether all parts begin alike and no totals are wanted.
    pub(crate) fn alike(&self) -> bool {
        self.inits.is_none() && self.totals.is_none()
    }

    /// Whether totals are to be put anywhere.
    #[inline(always)]
    pub(crate) fn totals_wanted(&self) -> bool {
        self.totals.is_some()
    }

    /// Puts a part's total in its place; the identity where there is none.
    ///
    /// # Safety
    ///
    /// If totals are wanted there must be a part of this number, and nobody else may put its total.
    #[inline(always)]
    pub(crate) unsafe fn put_total<O: Operator<A>>(
        &self,
        operator: &O,
        number: usize,
        total: Option<A>,
    ) where
        A: kogge_core::Element,
    {
        if let Some(totals) = self.totals {
            // SAFETY: `PerPart::check` saw a place for each part.
            unsafe { totals.add(number).write(total.unwrap_or_else(|| operator.identity())) };
        }
    }
}
