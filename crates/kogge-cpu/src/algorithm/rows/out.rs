//! Rows of values on their way out: through the caches or past them, whole lines at a time.

use super::super::format::Format;
use super::super::turned::Turned;
use crate::arch::Words;
use crate::arch::stream::{
    LINE, ROW, Stream, fetch_end, fetches_output, prefetch_row, translate_ahead, translates,
};

/// Where rows of values go.
pub(super) struct Out<H: Words> {
    /// The next row.
    to: *mut H::Word,
    /// Whether they go past the caches.
    stream: bool,
    /// Whether something is done for the rows that follow: the next one fetched, or where they go
    /// past the caches the next page translated.
    ahead: bool,
    /// What they go through where they don't begin with lines.
    turned: Option<Turned<H>>,
    /// The same where their words can't be turned.
    sent: Stream,
}

/// Rows that fill most of an L1, with the elements beside them: the next one of so many isn't
/// there.
const FETCHED: usize = 64;

impl<H: Words> Out<H> {
    const WORDS: usize = ROW / size_of::<H::Word>();

    /// For so many rows, which are elsewhere than the elements or overwrite them.
    ///
    /// # Safety
    ///
    /// The CPU features of `H` must be present.
    #[inline(always)]
    pub(super) unsafe fn new(to: *mut H::Word, rows: usize, in_place: bool, stream: bool) -> Self {
        let fetch = !in_place && rows >= FETCHED && fetches_output();
        let begun = to.addr() % LINE;
        let turns = const { H::TURNS } && stream && begun > 0 && begun.is_multiple_of(4);
        // SAFETY: by contract.
        let turned = if turns { Some(unsafe { Turned::rows(to.cast()) }) } else { None };
        let ahead = if stream { translates() } else { fetch };
        if stream {
            fetch_end(to.cast::<u8>().wrapping_add(rows * ROW));
        }
        Self { to, stream, ahead, turned, sent: Stream::new() }
    }

    /// Stores the first row.
    ///
    /// # Safety
    ///
    /// A row must be writable, the CPU features of `H` present.
    #[inline(always)]
    pub(super) unsafe fn first<F: Format>(&mut self, values: F::Row<H>) {
        // SAFETY: by contract.
        unsafe {
            if self.staged() {
                F::join::<H>(values, self.sent.row(self.to.cast()).cast());
                self.sent.begin::<H>(self.to.cast());
                self.to = self.to.add(Self::WORDS);
            } else {
                self.next::<F>(values);
            }
        }
    }

    /// Stores the next row.
    ///
    /// # Safety
    ///
    /// As for [`first`](Self::first).
    #[inline(always)]
    pub(super) unsafe fn next<F: Format>(&mut self, values: F::Row<H>) {
        // SAFETY: by contract; where rows begin on lines, so do their vectors.
        unsafe {
            if self.ahead {
                self.prepare();
            }
            if !self.stream {
                F::join::<H>(values, self.to);
            } else if let Some(turned) = &mut self.turned {
                turned.row(&F::words::<H>(values), self.to.cast());
            } else if self.to.addr().is_multiple_of(LINE) {
                F::join_stream::<H>(values, self.to);
            } else {
                F::join::<H>(values, self.sent.row(self.to.cast()).cast());
                self.sent.send::<H>(self.to.cast());
            }
            self.to = self.to.add(Self::WORDS);
        }
    }

    /// Stores what no row completes.
    ///
    /// # Safety
    ///
    /// There must have been a row.
    #[inline(always)]
    pub(super) unsafe fn finish(self) {
        let staged = self.staged();
        // SAFETY: the rows were sent.
        unsafe {
            match self.turned {
                Some(turned) => turned.finish(self.to.cast()),
                None if staged => self.sent.finish(self.to.cast()),
                None => {}
            }
        }
    }

    #[inline(always)]
    fn prepare(&self) {
        if self.stream {
            translate_ahead(self.to.cast());
        } else {
            prefetch_row(self.to.wrapping_add(Self::WORDS).cast());
        }
    }

    /// Whether rows are put together in L1 first.
    #[inline(always)]
    fn staged(&self) -> bool {
        self.stream && self.turned.is_none() && !self.to.addr().is_multiple_of(LINE)
    }
}
