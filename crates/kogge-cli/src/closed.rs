//! Whether standard input or output was closed before the start, as `<&-` and `>&-` do.
//!
//! Rust puts /dev/null in their place before `main` begins: what is read would seem empty, and
//! whatever is written would be lost without a word. So it is asked earlier: the loader calls what
//! `.init_array` lists before Rust's own start.

/// Whether there is nothing behind standard input.
#[cfg(target_os = "linux")]
pub fn stdin_is_closed() -> bool {
    linux::STDIN.load(std::sync::atomic::Ordering::Relaxed)
}

/// Whether there is nothing behind standard output.
#[cfg(target_os = "linux")]
pub fn stdout_is_closed() -> bool {
    linux::STDOUT.load(std::sync::atomic::Ordering::Relaxed)
}

#[cfg(not(target_os = "linux"))]
pub fn stdin_is_closed() -> bool {
    false
}

#[cfg(not(target_os = "linux"))]
pub fn stdout_is_closed() -> bool {
    false
}

#[cfg(target_os = "linux")]
mod linux {
    use std::sync::atomic::{AtomicBool, Ordering};

    pub static STDIN: AtomicBool = AtomicBool::new(false);
    pub static STDOUT: AtomicBool = AtomicBool::new(false);

    // SAFETY: the section lists functions that take what the loader gives, which C lets them
    // ignore, and this one needs nothing of Rust's start.
    #[used]
    #[unsafe(link_section = ".init_array")]
    static LOOK: extern "C" fn() = look;

    extern "C" fn look() {
        for (descriptor, closed) in [(libc::STDIN_FILENO, &STDIN), (libc::STDOUT_FILENO, &STDOUT)] {
            // SAFETY: the call only asks for the flags of a descriptor, which needn't exist.
            let flags = unsafe { libc::fcntl(descriptor, libc::F_GETFD) };
            closed.store(flags == -1, Ordering::Relaxed);
        }
    }
}
