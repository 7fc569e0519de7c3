//! The parts of `urxe::device` that the queues need: a context of a process, no parent domains, and
//! event files that are counters.

use super::host::Host;
use crate::abi::*;
use crate::sys::errno::{Errno, Result};

/// A context: the process itself.
pub(crate) struct Context(Host);

impl Context {
    /// # Safety
    ///
    /// `context` must be made by [`pointer`](Self::pointer).
    pub(crate) unsafe fn of<'a>(context: *mut ibv_context) -> &'a Context {
        // SAFETY: the caller's promise; a wrapper of one member has its layout.
        unsafe { &*context.cast::<Context>() }
    }

    /// What stands for a context of a process.
    pub(crate) fn pointer(host: &'static Host) -> *mut ibv_context {
        core::ptr::from_ref(host).cast_mut().cast()
    }

    pub(crate) fn host(&'static self) -> &'static Host {
        &self.0
    }

    pub(crate) fn events(&self) -> Events {
        Events
    }
}

pub(crate) struct Events;

impl Events {
    pub(crate) fn number(&self) -> u32 {
        1
    }
}

/// Memory of a parent domain's allocator; there are none.
pub(crate) enum Buffer {}

pub(crate) enum Pd {}

impl Pd {
    pub(crate) unsafe fn of<'a>(_: *mut ibv_pd) -> &'a Pd {
        unreachable!("models have no domains")
    }

    pub(crate) fn is_parent(&self) -> bool {
        match *self {}
    }

    pub(crate) fn is_of_one_thread(&self) -> bool {
        match *self {}
    }

    pub(crate) fn allocate(&self, _: usize, _: u32) -> Result<Buffer> {
        match *self {}
    }

    pub(crate) fn hold(&self) {}

    pub(crate) fn release(&self) {}
}

pub(crate) mod events {
    use crate::abi::*;
    use crate::sync::atomic::{AtomicU32, Ordering};
    use crate::sys::futex;
    use crate::urxe::host::{Host, Peer};

    /// Completion events, and others, that were sent.
    pub(crate) static COMPLETION: AtomicU32 = AtomicU32::new(0);
    pub(crate) static OTHER: AtomicU32 = AtomicU32::new(0);

    pub(crate) fn send(_: &Peer, _: u32, _: ibv_event_type, _: u64) {
        OTHER.fetch_add(1, Ordering::SeqCst);
    }

    pub(crate) fn send_completion(_: &Peer, _: u32, _: u64) {
        COMPLETION.fetch_add(1, Ordering::SeqCst);
        futex::wake(&COMPLETION);
    }

    /// Waits for the first completion event.
    pub(crate) fn wait() {
        while COMPLETION.load(Ordering::SeqCst) == 0 {
            futex::sleep(&COMPLETION, 0, None);
        }
    }

    /// Every channel has number 1.
    pub(crate) unsafe fn channel_number(_: *mut ibv_comp_channel) -> u32 {
        1
    }

    pub(crate) unsafe fn retire_cq(_: *mut ibv_cq) {}

    pub(crate) enum Kind {
        Cq,
    }

    pub(crate) fn enter(_: &Host, _: usize, _: Kind) {}
}

fn unused() -> Errno {
    Errno::EIO
}
