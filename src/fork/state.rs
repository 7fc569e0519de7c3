//! Whether fork support was asked for in time: before memory was registered that is not marked.

use crate::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

use crate::sys::errno::{Errno, Result};

/// How far fork support has come. What has been decided stays so.
pub(crate) struct State {
    state: AtomicU8,
    /// The size of pages in bytes when all are equal.
    page_size: AtomicUsize,
}

/// Nobody has asked for it and no memory was registered.
const UNUSED: u8 = 0;
/// Memory was registered and not marked: it is too late now.
const TOO_LATE: u8 = 1;
const ENABLED: u8 = 2;

impl State {
    pub(crate) const fn new() -> State {
        State { state: AtomicU8::new(UNUSED), page_size: AtomicUsize::new(0) }
    }

    /// The size of pages in bytes, if fork support is enabled.
    pub(crate) fn page_size(&self) -> Option<usize> {
        let is_enabled = self.state.load(Ordering::Acquire) == ENABLED;
        is_enabled.then(|| self.page_size.load(Ordering::Relaxed))
    }

    /// Whether it is enabled. EINVAL if that cannot be any more.
    pub(crate) fn is_enabled(&self) -> Result<bool> {
        match self.state.load(Ordering::Acquire) {
            UNUSED => Ok(false),
            ENABLED => Ok(true),
            _ => Err(Errno::EINVAL),
        }
    }

    /// Enables it, one thread at a time, with pages of this size. EINVAL if memory was registered
    /// before.
    pub(crate) fn enable(&self, page_size: usize) -> Result<()> {
        self.page_size.store(page_size, Ordering::Relaxed);
        self.state
            .compare_exchange(UNUSED, ENABLED, Ordering::AcqRel, Ordering::Acquire)
            .map(|_| ())
            .map_err(|_| Errno::EINVAL)
    }

    /// Before memory is registered: the size of pages in bytes, if it is to be marked. Otherwise fork
    /// support cannot be enabled any more.
    pub(crate) fn register(&self) -> Option<usize> {
        self.page_size().or_else(|| {
            // Without effect unless the state is the first one.
            let _ =
                self.state.compare_exchange(UNUSED, TOO_LATE, Ordering::AcqRel, Ordering::Acquire);
            self.page_size()
        })
    }
}
