//! Fork support of a test: each thread has its own, with a system that records.

use core::cell::{Cell, RefCell};

use crate::fork::ranges::{Advice, Span};
use crate::fork::{Fork, System};
use crate::sys::errno::{Errno, Result};
use crate::sys::tests::keep;

thread_local! {
    static FORK: Cell<Option<&'static Fork>> = const { Cell::new(None) };
    static ADVICES: RefCell<Vec<(usize, usize, bool)>> = const { RefCell::new(Vec::new()) };
    static FAILURE: Cell<Option<(usize, Errno)>> = const { Cell::new(None) };
    pub(super) static COPIES_ON_FORK: Cell<bool> = const { Cell::new(false) };
    pub(super) static HUGE_PAGE: Cell<Option<usize>> = const { Cell::new(None) };
}

pub(super) fn fork() -> &'static Fork {
    FORK.get().unwrap_or_else(|| {
        let fork: &Fork = keep(Fork::new(System {
            copies_on_fork: || COPIES_ON_FORK.get(),
            madvise: advise,
            page_size_at: |_| HUGE_PAGE.get(),
        }));
        FORK.set(Some(fork));
        fork
    })
}

fn advise(span: Span, advice: Advice) -> Result<()> {
    let dont = advice == Advice::DontFork;
    ADVICES.with_borrow_mut(|advices| advices.push((span.first, span.length(), dont)));
    match FAILURE.get() {
        Some((address, errno)) if (span.first..=span.last).contains(&address) => Err(errno),
        _ => Ok(()),
    }
}

/// Enables fork support for the test.
pub(crate) fn enable() {
    fork().enable().expect("the test has registered no memory yet");
    take_advices();
}

/// What the system was told since the last look: address, length, whether to exclude.
pub(crate) fn take_advices() -> Vec<(usize, usize, bool)> {
    ADVICES.take()
}

/// From now on, advice about this address fails.
pub(crate) fn fail_at(address: usize, errno: Errno) {
    FAILURE.set(Some((address, errno)));
}

/// From now on, no advice fails.
pub(crate) fn fail_no_more() {
    FAILURE.set(None);
}
