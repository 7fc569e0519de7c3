//! A process that ends between two of its stores.

use core::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};

/// What a thread that dies unwinds with.
pub(crate) struct Died;

std::thread_local! {
    /// The thread that dies, and the stores that it has left.
    static MORTAL: Cell<Option<(loom::thread::ThreadId, u32)>> = const { Cell::new(None) };
    /// After how many stores the mortal thread of this run dies.
    static AFTER: Cell<u32> = const { Cell::new(0) };
    /// Whether it has died in an execution of this run.
    static HAS_DIED: Cell<bool> = const { Cell::new(false) };
}

pub(crate) fn begin() {
    MORTAL.set(None);
}

/// Begins a run in which the mortal thread dies after so many stores.
pub(crate) fn after(stores: u32) {
    AFTER.set(stores);
    HAS_DIED.set(false);
}

/// Whether the mortal thread has died in an execution of this run.
pub(crate) fn has_died() -> bool {
    HAS_DIED.get()
}

/// Does something as a process that dies on the way, if the run wants that. Returns whether it has.
/// What it holds stays held.
pub(crate) fn mortal(body: impl FnOnce()) -> bool {
    MORTAL.set(Some((loom::thread::current().id(), AFTER.get())));
    let outcome = catch_unwind(AssertUnwindSafe(body));
    MORTAL.set(None);
    match outcome {
        Ok(()) => false,
        Err(payload) if payload.is::<Died>() => {
            HAS_DIED.set(true);
            true
        }
        Err(payload) => std::panic::resume_unwind(payload),
    }
}

/// To be called before each store.
pub(crate) fn before_store() {
    if let Some((thread, left)) = MORTAL.get()
        && loom::thread::current().id() == thread
    {
        if left == 0 {
            panic_any(Died);
        }
        MORTAL.set(Some((thread, left - 1)));
    }
}
