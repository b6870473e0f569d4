//! When memory runs out: the partial output goes, one message says so, and the process ends.
//!
//! Rust would abort, and leave the partial output. Most requests are those of libraries, whatever
//! is checked before, so the allocator is where a failure can be seen.

use crate::error::{Error, Fault};
use crate::output;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::fmt;
use std::io::Write;
use std::panic::{set_hook, take_hook};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// What to do about it.
pub const HINT: &str = "raise the limit (ulimit -v), or give fewer --threads; `kogge scan --help` says \
                        what takes memory";

/// The system's allocator, which ends the process where it has nothing to give.
pub struct Allocator;

// SAFETY: all calls are passed on to the system's allocator, and so is what it gives.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract, which is the same.
        given(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        given(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above; the memory came from the system's allocator.
        given(unsafe { System.realloc(memory, layout, size) }, size)
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// Ends the process like this, too, where the standard library has started a thread and panics
/// since there is no memory for its second stack.
pub fn watch_threads() {
    let before = take_hook();
    set_hook(Box::new(move |panic| {
        let text = panic.payload().downcast_ref::<String>();
        if text.is_some_and(|text| text.contains("alternative stack")) {
            end(format_args!("a thread cannot start"));
        }
        before(panic);
    }));
}

#[inline]
fn given(memory: *mut u8, size: usize) -> *mut u8 {
    if memory.is_null() {
        end(format_args!("a request for {size} bytes failed"));
    }
    memory
}

/// Ends the process, and asks for no memory to do so: if it did, it would come back here, return,
/// and have Rust abort.
#[cold]
#[inline(never)]
fn end(why: fmt::Arguments<'_>) {
    thread_local!(static ENDS: Cell<bool> = const { Cell::new(false) });
    static ENDING: AtomicBool = AtomicBool::new(false);
    if ENDS.replace(true) {
        return;
    }
    if ENDING.swap(true, Ordering::Relaxed) {
        // Another thread ends the process.
        loop {
            thread::sleep(Duration::from_secs(1));
        }
    }
    output::remove_partial_if_free();
    let mut text = [0; 256];
    let mut room = text.as_mut_slice();
    let _ = writeln!(room, "error: there is not enough memory: {why}");
    let _ = writeln!(room, "  hint: {HINT}");
    let left = room.len();
    say(&text[..text.len() - left]);
    std::process::exit(Error::new(Fault::Memory, "").exit_code().into())
}

/// Prints past the lock of standard error, which a thread may have that waits above.
#[cfg(unix)]
fn say(text: &[u8]) {
    use std::os::fd::AsFd;
    if let Ok(stderr) = std::io::stderr().as_fd().try_clone_to_owned() {
        let _ = std::fs::File::from(stderr).write_all(text);
    }
}

#[cfg(not(unix))]
fn say(text: &[u8]) {
    let _ = std::io::stderr().write_all(text);
}
