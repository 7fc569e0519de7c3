//! Queue pairs.

use super::host::Host;
use crate::abi::{ibv_qp, ibv_qp_type};

#[path = "../../../../src/urxe/pair/error.rs"]
pub(crate) mod error;
#[path = "../../../../src/urxe/pair/freed.rs"]
mod freed;
pub(crate) mod model;

/// What a model needs of a QP.
#[repr(C)]
pub(crate) struct Qp {
    pub(crate) host: &'static Host,
    pub(crate) kind: ibv_qp_type,
    pub(crate) number: u32,
    pub(crate) record: u64,
    pub(crate) pd: u32,
    pub(crate) device: u32,
}

impl Qp {
    /// # Safety
    ///
    /// `qp` must be a QP of a model.
    pub(crate) unsafe fn of<'a>(qp: *mut ibv_qp) -> &'a Qp {
        // SAFETY: the caller's promise.
        unsafe { &*qp.cast::<Qp>() }
    }
}

/// No send of a model waits.
pub(crate) fn progress(_: &Host, _: u64) {}

pub(crate) use error::enter_error;
pub(crate) use freed::polled;
