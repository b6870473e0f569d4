//! Signals that end the process: the partial output goes first.
//!
//! Whoever starts the process may have had a signal ignored, as `nohup` and `trap ''` do; it stays
//! so.

#[cfg(unix)]
pub use unix::clean_up;

/// What the shell sees of a process that a signal has ended.
const INTERRUPTED: i32 = 130;

/// Makes Ctrl-C remove the partial output.
#[cfg(not(unix))]
pub fn clean_up() {
    // Fails only where a handler is set already; then that one is in charge.
    let _ = ctrlc::set_handler(|| interrupted());
}

/// Ends the process as Ctrl-C does.
pub fn interrupted() -> ! {
    end("interrupted", INTERRUPTED)
}

/// Ends the process without a partial output.
fn end(says: &str, code: i32) -> ! {
    use std::io::Write;
    crate::output::remove_partial();
    crate::lab::watch::leave();
    crate::progress::clear();
    // The terminal may be what has gone.
    let _ = writeln!(std::io::stderr(), "{says}");
    std::process::exit(code)
}

#[cfg(unix)]
mod unix {
    use super::{end, interrupted};
    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXFSZ};
    use signal_hook::iterator::Signals;
    use std::ffi::c_int;
    use std::mem::MaybeUninit;
    use std::{ptr, thread};

    const QUIT: i32 = 131;

    /// Makes the signals that end a process remove the partial output first. A write beyond the
    /// largest file allowed becomes an error like any other: its signal only has to be taken.
    pub fn clean_up() {
        let taken = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXFSZ];
        let taken = taken.into_iter().filter(|&signal| !is_ignored(signal));
        // Without memory or threads for it, the work itself says so.
        let Ok(mut signals) = Signals::new(taken) else { return };
        let wait = move || {
            for signal in signals.forever() {
                match signal {
                    SIGXFSZ => {}
                    SIGQUIT => end("quit", QUIT),
                    _ => interrupted(),
                }
            }
        };
        let _ = thread::Builder::new().name("signals".to_owned()).spawn(wait);
    }

    fn is_ignored(signal: c_int) -> bool {
        let mut action = MaybeUninit::<libc::sigaction>::uninit();
        // SAFETY: without a new action, the call only writes the present one, and only if it
        // gives 0.
        unsafe {
            libc::sigaction(signal, ptr::null(), action.as_mut_ptr()) == 0
                && action.assume_init_ref().sa_sigaction == libc::SIG_IGN
        }
    }
}
