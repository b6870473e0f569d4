//! Whether standard output was closed before the start, as `>&-` does.
//!
//! Rust puts /dev/null in its place before `main` begins, and whatever is written would be lost without
//! a word. So it is asked earlier: the loader calls what `.init_array` lists before Rust's own start.

/// Whether there is nothing behind standard output.
#[cfg(target_os = "linux")]
pub fn stdout_is_closed() -> bool {
    linux::CLOSED.load(std::sync::atomic::Ordering::Relaxed)
}

#[cfg(not(target_os = "linux"))]
pub fn stdout_is_closed() -> bool {
    false
}

#[cfg(target_os = "linux")]
mod linux {
    use std::sync::atomic::{AtomicBool, Ordering};

    pub static CLOSED: AtomicBool = AtomicBool::new(false);

    // SAFETY: the section lists functions that take what the loader gives, which C lets them ignore,
    // and this one needs nothing of Rust's start.
    #[used]
    #[unsafe(link_section = ".init_array")]
    static LOOK: extern "C" fn() = look;

    extern "C" fn look() {
        // SAFETY: the call only asks for the flags of a descriptor, which needn't exist.
        let flags = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) };
        CLOSED.store(flags == -1, Ordering::Relaxed);
    }
}
