//! A progress bar on stderr for work that lasts; none where stderr is not a terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, IsTerminal};
use std::sync::{Once, OnceLock};
use std::time::{Duration, Instant};

/// Work that is over sooner shows nothing.
const PATIENCE: Duration = Duration::from_millis(500);

/// The bar that is shown.
static SHOWN: OnceLock<ProgressBar> = OnceLock::new();

/// Takes the bar off the terminal, before the process ends or something else is said there.
pub fn clear() {
    if let Some(bar) = SHOWN.get() {
        bar.finish_and_clear();
    }
}

/// How far the reading of the input has come, in bytes.
pub struct Progress {
    bar: ProgressBar,
    started: Instant,
    shown: Once,
    wanted: bool,
}

impl Progress {
    /// Progress towards `total` bytes, if it is known. A terminal that shows the data shows no bar.
    pub fn new(total: Option<u64>, output_is_terminal: bool) -> Self {
        let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::hidden());
        let template = match total {
            Some(_) => "{wide_bar} {bytes} of {total_bytes}, {binary_bytes_per_sec}, {eta} left",
            None => "{spinner} {bytes}, {binary_bytes_per_sec}",
        };
        bar.set_style(ProgressStyle::with_template(template).expect("the template is valid"));
        Self {
            bar,
            started: Instant::now(),
            shown: Once::new(),
            wanted: io::stderr().is_terminal() && !output_is_terminal,
        }
    }

    /// Moves on by some bytes.
    pub fn advance(&self, bytes: u64) {
        if self.wanted && self.started.elapsed() > PATIENCE {
            self.shown.call_once(|| {
                self.bar.set_draw_target(ProgressDrawTarget::stderr());
                let _ = SHOWN.set(self.bar.clone());
            });
        }
        self.bar.inc(bytes);
    }

    /// The time since the start.
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
