//! Decoders that panic over damaged files.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local!(static SILENT: Cell<bool> = const { Cell::new(false) });

/// Runs a decoder, whose panic says nothing and gives `None`. What it worked on must not be used
/// again then.
pub fn quietly<T>(decode: impl FnOnce() -> T) -> Option<T> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |panic| {
            if !SILENT.get() {
                before(panic);
            }
        }));
    });
    SILENT.set(true);
    let decoded = catch_unwind(AssertUnwindSafe(decode));
    SILENT.set(false);
    decoded.ok()
}
