//! Events: what is read from the descriptors of asynchronous events and completion channels.

use crate::abi::*;

/// An asynchronous event.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_async_event_desc {
    /// `user_handle` of the object, or the port, by event.
    pub element: u64,
    /// One of `ibv_event_type`.
    pub event_type: u32,
    /// 0.
    pub reserved: u32,
}

/// A completion event.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_comp_event_desc {
    /// `user_handle` of the CQ.
    pub cq_handle: u64,
}

plain! {
    ib_uverbs_async_event_desc, ib_uverbs_comp_event_desc
}
