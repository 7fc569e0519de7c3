//! Commands and answers of older versions of the interface: `abi_version` 3 to 5.

use core::ffi::c_uint;

use crate::abi::*;
use crate::uapi::*;

/// Number of `ibv_create_qp_v3`.
pub const IB_USER_VERBS_CMD_CREATE_QP_V3: c_uint = IB_USER_VERBS_CMD_CREATE_QP;
/// Number of `ibv_create_qp_v4`.
pub const IB_USER_VERBS_CMD_CREATE_QP_V4: c_uint = IB_USER_VERBS_CMD_CREATE_QP;
/// Number of `ibv_create_srq_v5`.
pub const IB_USER_VERBS_CMD_CREATE_SRQ_V5: c_uint = IB_USER_VERBS_CMD_CREATE_SRQ;
/// Number of `ibv_modify_srq_v3`.
pub const IB_USER_VERBS_CMD_MODIFY_SRQ_V3: c_uint = IB_USER_VERBS_CMD_MODIFY_SRQ;

/// Request of version 3; answer `ibv_create_qp_resp_v3`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_create_qp_v3 {
    /// Header.
    pub hdr: ib_uverbs_cmd_hdr,
    /// Request of the core; the provider's bytes follow.
    pub core_payload: ib_uverbs_create_qp,
}

/// Answer of version 3: the sizes stay as asked for.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_create_qp_resp_v3 {
    /// Kernel handle.
    pub qp_handle: u32,
    /// QP number.
    pub qpn: u32,
}

/// Request of version 4; answer `ibv_create_qp_resp_v4`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_create_qp_v4 {
    /// Header.
    pub hdr: ib_uverbs_cmd_hdr,
    /// Request of the core; the provider's bytes follow.
    pub core_payload: ib_uverbs_create_qp,
}

/// Answer of version 4: without the reserved word at the end.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_create_qp_resp_v4 {
    /// Kernel handle.
    pub qp_handle: u32,
    /// QP number.
    pub qpn: u32,
    /// Actual size.
    pub max_send_wr: u32,
    /// Actual size.
    pub max_recv_wr: u32,
    /// Actual size.
    pub max_send_sge: u32,
    /// Actual size.
    pub max_recv_sge: u32,
    /// Actual size.
    pub max_inline_data: u32,
}

/// Request up to version 5; answer `ibv_create_srq_resp_v5`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_create_srq_v5 {
    /// Header.
    pub hdr: ib_uverbs_cmd_hdr,
    /// Request of the core; the provider's bytes follow.
    pub core_payload: ib_uverbs_create_srq,
}

/// Answer up to version 5: the sizes stay as asked for.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_create_srq_resp_v5 {
    /// Kernel handle.
    pub srq_handle: u32,
}

/// Core request of version 3.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_modify_srq_v3 {
    /// Kernel handle.
    pub srq_handle: u32,
    /// See `ibv_srq_attr_mask`.
    pub attr_mask: u32,
    /// Outstanding work requests.
    pub max_wr: u32,
    /// Scatter/gather entries per request.
    pub max_sge: u32,
    /// Limit of the event.
    pub srq_limit: u32,
    /// 0.
    pub reserved: u32,
}

/// Request of version 3.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_modify_srq_v3 {
    /// Header.
    pub hdr: ib_uverbs_cmd_hdr,
    /// Request of the core; the provider's bytes follow.
    pub core_payload: ib_uverbs_modify_srq_v3,
}

plain! {
    ibv_create_qp_v3, ibv_create_qp_resp_v3, ibv_create_qp_v4, ibv_create_qp_resp_v4,
    ibv_create_srq_v5, ibv_create_srq_resp_v5, ib_uverbs_modify_srq_v3, ibv_modify_srq_v3
}
