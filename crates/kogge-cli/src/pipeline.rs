//! Reading, scanning and writing at the same time.
//!
//! A thread reads, the caller's thread scans, a thread writes. What lies between them is bounded,
//! so the slowest sets the pace and memory stays constant.

use crate::error::{Error, Fault, Result};
use std::sync::mpsc::sync_channel;
use std::thread;

/// Pieces that may lie between two stages.
pub const DEPTH: usize = 2;

/// Runs `source` until it gives `None`, and every piece through `stage` and `sink`, in order.
///
/// # Errors
///
/// The first error in the order of the stages; all of them have stopped by then.
pub fn run<A: Send, B: Send>(
    mut source: impl FnMut() -> Result<Option<A>> + Send,
    mut stage: impl FnMut(A) -> Result<B>,
    mut sink: impl FnMut(B) -> Result<()> + Send,
) -> Result<()> {
    thread::scope(|scope| {
        let (to_stage, from_source) = sync_channel(DEPTH);
        let (to_sink, from_stage) = sync_channel(DEPTH);
        let start = |error| Error::no_thread(&error);
        let reader = thread::Builder::new().spawn_scoped(scope, move || -> Result<()> {
            while let Some(piece) = source()? {
                // A closed channel means that a later stage has failed, and says why itself.
                if to_stage.send(piece).is_err() {
                    break;
                }
            }
            Ok(())
        });
        let reader = reader.map_err(start)?;
        let write = move || from_stage.into_iter().try_for_each(&mut sink);
        let writer = thread::Builder::new().spawn_scoped(scope, write).map_err(start)?;
        let scanned = from_source.into_iter().try_for_each(|piece| {
            let closed = || Error::new(Fault::Defect, "the writer has stopped");
            stage(piece).and_then(|piece| to_sink.send(piece).map_err(|_| closed()))
        });
        drop(to_sink);
        let read = join(reader);
        let written = join(writer);
        read.and(written).and(scanned)
    })
}

/// The thread's result; its panic becomes ours.
fn join<T>(thread: thread::ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count_to(n: u32) -> impl FnMut() -> Result<Option<u32>> + Send {
        let mut numbers = 0..n;
        move || Ok(numbers.next())
    }

    #[test]
    fn keeps_the_order() {
        let mut out = Vec::new();
        run(
            count_to(1_000),
            |x| Ok(2 * x),
            |x| {
                out.push(x);
                Ok(())
            },
        )
        .unwrap();
        assert!(out.into_iter().eq((0..1_000).map(|x| 2 * x)));
    }

    #[test]
    fn every_stage_can_fail() {
        let fail = |x, at| if x == at { Err(Error::usage("here")) } else { Ok(x) };
        let mut numbers = 0..;
        let source = || fail(numbers.next().unwrap_or(0), 500).map(Some);
        assert_eq!(run(source, Ok, |_| Ok(())).unwrap_err().fault, Fault::Usage);
        let staged = run(count_to(u32::MAX), |x| fail(x, 500), |_| Ok(()));
        assert_eq!(staged.unwrap_err().fault, Fault::Usage);
        let sunk = run(count_to(u32::MAX), Ok, |x| fail(x, 500).map(drop));
        assert_eq!(sunk.unwrap_err().fault, Fault::Usage);
    }

    #[test]
    #[should_panic(expected = "in the sink")]
    fn passes_a_panic_on() {
        let _ = run(count_to(u32::MAX), Ok, |_| panic!("in the sink"));
    }
}
