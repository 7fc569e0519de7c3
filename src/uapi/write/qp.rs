//! Creating, opening and destroying queue pairs.

use core::ffi::c_uint;

use crate::abi::*;

/// All bits of `ib_uverbs_create_qp_mask`.
pub const IB_UVERBS_CREATE_QP_SUP_COMP_MASK: c_uint = IB_UVERBS_CREATE_QP_MASK_IND_TABLE;

/// Bits of `ib_uverbs_ex_create_qp::comp_mask`.
pub type ib_uverbs_create_qp_mask = c_uint;
/// `rwq_ind_tbl_handle`.
pub const IB_UVERBS_CREATE_QP_MASK_IND_TABLE: ib_uverbs_create_qp_mask = 1 << 0;

/// CREATE_QP.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_create_qp {
    /// Address of the answer.
    pub response: u64,
    /// Returned in events of the object: the address of the library's object.
    pub user_handle: u64,
    /// Protection domain; XRC domain for an XRC target QP.
    pub pd_handle: u32,
    /// CQ of the send queue.
    pub send_cq_handle: u32,
    /// CQ of the receive queue.
    pub recv_cq_handle: u32,
    /// SRQ, with `is_srq`.
    pub srq_handle: u32,
    /// Outstanding send requests.
    pub max_send_wr: u32,
    /// Outstanding receive requests.
    pub max_recv_wr: u32,
    /// Scatter/gather entries per send request.
    pub max_send_sge: u32,
    /// Scatter/gather entries per receive request.
    pub max_recv_sge: u32,
    /// Bytes of inline data.
    pub max_inline_data: u32,
    /// 1: every send request completes with an entry in the CQ.
    pub sq_sig_all: u8,
    /// One of `ibv_qp_type`.
    pub qp_type: u8,
    /// 1: `srq_handle` is set.
    pub is_srq: u8,
    /// 0.
    pub reserved: u8,
    /// The provider's bytes follow.
    pub driver_data: [u64; 0],
}

/// Answer to CREATE_QP and OPEN_QP, with the actual sizes.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_create_qp_resp {
    /// QP.
    pub qp_handle: u32,
    /// QP number.
    pub qpn: u32,
    /// Outstanding send requests.
    pub max_send_wr: u32,
    /// Outstanding receive requests.
    pub max_recv_wr: u32,
    /// Scatter/gather entries per send request.
    pub max_send_sge: u32,
    /// Scatter/gather entries per receive request.
    pub max_recv_sge: u32,
    /// Bytes of inline data.
    pub max_inline_data: u32,
    /// 0.
    pub reserved: u32,
    /// The provider's bytes follow.
    pub driver_data: [u32; 0],
}

/// CREATE_QP, extended.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_ex_create_qp {
    /// Returned in events of the object: the address of the library's object.
    pub user_handle: u64,
    /// Protection domain; XRC domain for an XRC target QP.
    pub pd_handle: u32,
    /// CQ of the send queue.
    pub send_cq_handle: u32,
    /// CQ of the receive queue.
    pub recv_cq_handle: u32,
    /// SRQ, with `is_srq`.
    pub srq_handle: u32,
    /// Outstanding send requests.
    pub max_send_wr: u32,
    /// Outstanding receive requests.
    pub max_recv_wr: u32,
    /// Scatter/gather entries per send request.
    pub max_send_sge: u32,
    /// Scatter/gather entries per receive request.
    pub max_recv_sge: u32,
    /// Bytes of inline data.
    pub max_inline_data: u32,
    /// 1: every send request completes with an entry in the CQ.
    pub sq_sig_all: u8,
    /// One of `ibv_qp_type`.
    pub qp_type: u8,
    /// 1: `srq_handle` is set.
    pub is_srq: u8,
    /// 0.
    pub reserved: u8,
    /// See `ib_uverbs_create_qp_mask`.
    pub comp_mask: u32,
    /// See `ib_uverbs_qp_create_flags`.
    pub create_flags: u32,
    /// Indirection table.
    pub rwq_ind_tbl_handle: u32,
    /// QP number to use on the wire, with `IBV_QP_CREATE_SOURCE_QPN`.
    pub source_qpn: u32,
}

/// Answer to the extended CREATE_QP.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_ex_create_qp_resp {
    /// Answer to the plain command.
    pub base: ib_uverbs_create_qp_resp,
    /// 0.
    pub comp_mask: u32,
    /// Bytes of the answer that the kernel has filled.
    pub response_length: u32,
}

/// OPEN_QP.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_open_qp {
    /// Address of the answer.
    pub response: u64,
    /// Returned in events of the object: the address of the library's object.
    pub user_handle: u64,
    /// XRC domain.
    pub pd_handle: u32,
    /// Number of the QP.
    pub qpn: u32,
    /// One of `ibv_qp_type`.
    pub qp_type: u8,
    /// 0.
    pub reserved: [u8; 7],
    /// The provider's bytes follow.
    pub driver_data: [u64; 0],
}

/// DESTROY_QP.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_destroy_qp {
    /// Address of the answer.
    pub response: u64,
    /// QP.
    pub qp_handle: u32,
    /// 0.
    pub reserved: u32,
}

/// Answer to DESTROY_QP.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_destroy_qp_resp {
    /// Asynchronous events that the kernel has reported, to be acknowledged before the QP's memory
    /// is freed.
    pub events_reported: u32,
}

plain! {
    ib_uverbs_create_qp, ib_uverbs_create_qp_resp, ib_uverbs_ex_create_qp,
    ib_uverbs_ex_create_qp_resp, ib_uverbs_open_qp, ib_uverbs_destroy_qp,
    ib_uverbs_destroy_qp_resp
}
