//! Completion channels and queues.

use core::ffi::c_uint;

use crate::abi::*;

/// CREATE_COMP_CHANNEL.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_create_comp_channel {
    /// Address of the answer.
    pub response: u64,
}

/// Answer to CREATE_COMP_CHANNEL.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_create_comp_channel_resp {
    /// Descriptor of the channel.
    pub fd: u32,
}

/// CREATE_CQ.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_create_cq {
    /// Address of the answer.
    pub response: u64,
    /// Returned in events of the object: the address of the library's object.
    pub user_handle: u64,
    /// Entries the CQ shall hold at least.
    pub cqe: u32,
    /// Interrupt vector.
    pub comp_vector: u32,
    /// Descriptor of the channel, or -1.
    pub comp_channel: i32,
    /// 0.
    pub reserved: u32,
    /// The provider's bytes follow.
    pub driver_data: [u64; 0],
}

/// Answer to CREATE_CQ.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_create_cq_resp {
    /// CQ.
    pub cq_handle: u32,
    /// Entries the CQ can hold.
    pub cqe: u32,
    /// The provider's bytes follow.
    pub driver_data: [u64; 0],
}

/// Bits of `ib_uverbs_ex_create_cq::flags`.
pub type ib_uverbs_ex_create_cq_flags = c_uint;
/// Completions carry timestamps.
pub const IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION: ib_uverbs_ex_create_cq_flags = 1 << 0;
/// A full CQ is no error.
pub const IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN: ib_uverbs_ex_create_cq_flags = 1 << 1;

/// CREATE_CQ, extended.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_ex_create_cq {
    /// Returned in events of the object: the address of the library's object.
    pub user_handle: u64,
    /// Entries the CQ shall hold at least.
    pub cqe: u32,
    /// Interrupt vector.
    pub comp_vector: u32,
    /// Descriptor of the channel, or -1.
    pub comp_channel: i32,
    /// No bits are defined; 0.
    pub comp_mask: u32,
    /// See `ib_uverbs_ex_create_cq_flags`.
    pub flags: u32,
    /// 0.
    pub reserved: u32,
}

/// Answer to the extended CREATE_CQ.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_ex_create_cq_resp {
    /// Answer to the plain command.
    pub base: ib_uverbs_create_cq_resp,
    /// 0.
    pub comp_mask: u32,
    /// Bytes of the answer that the kernel has filled.
    pub response_length: u32,
}

/// RESIZE_CQ.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_resize_cq {
    /// Address of the answer.
    pub response: u64,
    /// CQ.
    pub cq_handle: u32,
    /// Entries the CQ shall hold at least.
    pub cqe: u32,
    /// The provider's bytes follow.
    pub driver_data: [u64; 0],
}

/// Answer to RESIZE_CQ.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_resize_cq_resp {
    /// Entries the CQ can hold.
    pub cqe: u32,
    /// 0.
    pub reserved: u32,
    /// The provider's bytes follow.
    pub driver_data: [u64; 0],
}

/// Event moderation; see `ibv_moderate_cq`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_cq_moderation {
    /// Completions per event.
    pub cq_count: u16,
    /// Longest delay in microseconds.
    pub cq_period: u16,
}

/// MODIFY_CQ, extended.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_ex_modify_cq {
    /// CQ.
    pub cq_handle: u32,
    /// See `ibv_cq_attr_mask`.
    pub attr_mask: u32,
    /// Event moderation.
    pub attr: ib_uverbs_cq_moderation,
    /// 0.
    pub reserved: u32,
}

/// REQ_NOTIFY_CQ.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_req_notify_cq {
    /// CQ.
    pub cq_handle: u32,
    /// 1: only solicited completions raise the event.
    pub solicited_only: u32,
}

/// POLL_CQ.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_poll_cq {
    /// Address of the answer.
    pub response: u64,
    /// CQ.
    pub cq_handle: u32,
    /// Completions there is room for.
    pub ne: u32,
}

/// Word that came with a message.
#[repr(C)]
#[derive(Clone, Copy)]
pub union ib_uverbs_wc_ex {
    /// Immediate data, network byte order.
    pub imm_data: u32,
    /// Key that was invalidated.
    pub invalidate_rkey: u32,
}

/// The kernel's `ibv_wc`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_wc {
    /// Value given with the work request.
    pub wr_id: u64,
    /// One of `ibv_wc_status`.
    pub status: u32,
    /// One of `ibv_wc_opcode`.
    pub opcode: u32,
    /// Vendor's error code.
    pub vendor_err: u32,
    /// Bytes received, read or fetched.
    pub byte_len: u32,
    /// Immediate data or key.
    pub ex: ib_uverbs_wc_ex,
    /// Number of the local QP.
    pub qp_num: u32,
    /// QP number of the sender.
    pub src_qp: u32,
    /// See `ibv_wc_flags`.
    pub wc_flags: u32,
    /// P_Key index.
    pub pkey_index: u16,
    /// LID of the sender.
    pub slid: u16,
    /// Service level.
    pub sl: u8,
    /// Low bits of the destination LID.
    pub dlid_path_bits: u8,
    /// Port it arrived at.
    pub port_num: u8,
    /// 0.
    pub reserved: u8,
}

/// Answer to POLL_CQ.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_poll_cq_resp {
    /// Completions that follow.
    pub count: u32,
    /// 0.
    pub reserved: u32,
    /// The completions.
    pub wc: [ib_uverbs_wc; 0],
}

/// DESTROY_CQ.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_destroy_cq {
    /// Address of the answer.
    pub response: u64,
    /// CQ.
    pub cq_handle: u32,
    /// 0.
    pub reserved: u32,
}

/// Answer to DESTROY_CQ: events the kernel has reported, to be acknowledged before the CQ's memory
/// is freed.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_destroy_cq_resp {
    /// Completion events.
    pub comp_events_reported: u32,
    /// Asynchronous events.
    pub async_events_reported: u32,
}

plain! {
    ib_uverbs_create_comp_channel, ib_uverbs_create_comp_channel_resp, ib_uverbs_create_cq,
    ib_uverbs_create_cq_resp, ib_uverbs_ex_create_cq, ib_uverbs_ex_create_cq_resp,
    ib_uverbs_resize_cq, ib_uverbs_resize_cq_resp, ib_uverbs_cq_moderation,
    ib_uverbs_ex_modify_cq, ib_uverbs_req_notify_cq, ib_uverbs_poll_cq, ib_uverbs_wc_ex,
    ib_uverbs_wc, ib_uverbs_poll_cq_resp, ib_uverbs_destroy_cq, ib_uverbs_destroy_cq_resp
}
