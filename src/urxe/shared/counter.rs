//! Completion counters.

use crate::sync::atomic::{AtomicU32, AtomicU64};

use super::Shared;

/// A completion counter: who completes something adds to it, in any process.
///
/// It is counted in with the lock of a QP held that names it (of a request of the own QP: with that
/// of its send queue), and the owner takes it back when no QP names it any more.
#[repr(C, align(64))]
pub(crate) struct CounterShared {
    /// What was completed; wraps to 0.
    pub(crate) completed: AtomicU64,
    /// What failed; wraps to 0.
    pub(crate) failed: AtomicU64,
    /// `enum ibv_comp_cntr_type`: whether `completed` counts requests or bytes.
    pub(crate) kind: AtomicU32,
    _reserved: AtomicU32,
}

const _: () = assert!(size_of::<CounterShared>() == 64);

// SAFETY: nothing but atomics.
unsafe impl Shared for CounterShared {}
