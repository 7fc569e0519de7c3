//! Asynchronous events (`infiniband/verbs.h`, `ibv_get_async_event(3)`).

use core::ffi::{c_int, c_uint};

use crate::abi::*;

/// What has happened. In brackets the member of `ibv_async_event_element` that is valid.
pub type ibv_event_type = c_uint;
/// The CQ has overrun and is unusable (`cq`).
pub const IBV_EVENT_CQ_ERR: ibv_event_type = 0;
/// The QP has failed and is in the error state (`qp`).
pub const IBV_EVENT_QP_FATAL: ibv_event_type = 1;
/// The QP got a request it may not execute and is in the error state (`qp`).
pub const IBV_EVENT_QP_REQ_ERR: ibv_event_type = 2;
/// A request of the peer violated memory rights; the QP is in the error state (`qp`).
pub const IBV_EVENT_QP_ACCESS_ERR: ibv_event_type = 3;
/// A first packet arrived while the QP was in RTR (`qp`).
pub const IBV_EVENT_COMM_EST: ibv_event_type = 4;
/// A move to SQD has drained the send queue, with `en_sqd_async_notify` (`qp`).
pub const IBV_EVENT_SQ_DRAINED: ibv_event_type = 5;
/// The connection has moved to the alternate path (`qp`).
pub const IBV_EVENT_PATH_MIG: ibv_event_type = 6;
/// The connection could not move to the alternate path (`qp`).
pub const IBV_EVENT_PATH_MIG_ERR: ibv_event_type = 7;
/// The device has failed; all that is left is to close it (none).
pub const IBV_EVENT_DEVICE_FATAL: ibv_event_type = 8;
/// The port has become active (`port_num`).
pub const IBV_EVENT_PORT_ACTIVE: ibv_event_type = 9;
/// The port is no longer active (`port_num`).
pub const IBV_EVENT_PORT_ERR: ibv_event_type = 10;
/// The LID of the port has changed (`port_num`).
pub const IBV_EVENT_LID_CHANGE: ibv_event_type = 11;
/// The P_Key table of the port has changed (`port_num`).
pub const IBV_EVENT_PKEY_CHANGE: ibv_event_type = 12;
/// The port has another subnet manager (`port_num`).
pub const IBV_EVENT_SM_CHANGE: ibv_event_type = 13;
/// The SRQ has failed (`srq`).
pub const IBV_EVENT_SRQ_ERR: ibv_event_type = 14;
/// Fewer receives than `srq_limit` are left; the limit is disarmed (`srq`).
pub const IBV_EVENT_SRQ_LIMIT_REACHED: ibv_event_type = 15;
/// The QP is in the error state and takes nothing more from its SRQ (`qp`).
pub const IBV_EVENT_QP_LAST_WQE_REACHED: ibv_event_type = 16;
/// The subnet manager asks for new registrations of services and multicast (`port_num`).
pub const IBV_EVENT_CLIENT_REREGISTER: ibv_event_type = 17;
/// The GID table of the port has changed (`port_num`).
pub const IBV_EVENT_GID_CHANGE: ibv_event_type = 18;
/// The work queue has failed (`wq`).
pub const IBV_EVENT_WQ_FATAL: ibv_event_type = 19;
/// The speed of a port or of the device has changed (none).
pub const IBV_EVENT_DEVICE_SPEED_CHANGE: ibv_event_type = 20;

/// The object an event is about.
#[repr(C)]
#[derive(Clone, Copy)]
pub union ibv_async_event_element {
    /// CQ events.
    pub cq: *mut ibv_cq,
    /// QP events.
    pub qp: *mut ibv_qp,
    /// SRQ events.
    pub srq: *mut ibv_srq,
    /// Work queue events.
    pub wq: *mut ibv_wq,
    /// Port events: the port, from 1.
    pub port_num: c_int,
}

/// An asynchronous event, filled by `ibv_get_async_event(3)`. Destroying the object waits until all
/// its events have been given to `ibv_ack_async_event(3)`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_async_event {
    /// Object, by `event_type`.
    pub element: ibv_async_event_element,
    /// What has happened.
    pub event_type: ibv_event_type,
}

plain! {
    ibv_async_event_element, ibv_async_event
}
