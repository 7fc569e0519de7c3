//! What a process knows of all its queue pairs. It belongs to the host, so a forked child has one of
//! its own, and no lock that another thread of its parent had.

use crate::sync::atomic::AtomicU32;
use std::sync::Arc;

use super::qp::Qp;
use crate::sys::mutex::Mutex;
use crate::urxe::device::events::Objects;

/// The queue pairs of a process that others than their program look for.
pub(crate) struct Registry {
    /// Those with a request that waits for its peer; a reference to each is held.
    pub(super) waiting: Mutex<Vec<Arc<Qp>>>,
    /// How many there are.
    pub(super) waiting_count: AtomicU32,
    /// Targets of XRC, which can be opened; a reference to each is held.
    pub(super) targets: Mutex<Vec<Arc<Qp>>>,
    /// Numbers of the XRC domains that were opened with a file.
    pub(super) domains: Mutex<Vec<u64>>,
    /// XRC domains without a file so far.
    pub(super) private_domains: AtomicU32,
    /// What events name.
    pub(crate) objects: Objects,
    /// Completion counters.
    pub(crate) counters: AtomicU32,
}

impl Registry {
    pub(crate) fn new() -> Registry {
        Registry {
            waiting: Mutex::new(Vec::new()),
            waiting_count: AtomicU32::new(0),
            targets: Mutex::new(Vec::new()),
            domains: Mutex::new(Vec::new()),
            private_domains: AtomicU32::new(0),
            objects: Objects::new(),
            counters: AtomicU32::new(0),
        }
    }
}
