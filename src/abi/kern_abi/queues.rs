//! Commands on queues: header, core request, then the provider's bytes directly behind.
#![allow(missing_docs, reason = "hdr and core_payload mean the same in every struct")]

use crate::abi::*;
use crate::uapi::*;

// ---- Completion queues.

/// `IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL`; answer `ib_uverbs_create_comp_channel_resp`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_create_comp_channel {
    pub hdr: ib_uverbs_cmd_hdr,
    pub core_payload: ib_uverbs_create_comp_channel,
}

/// `IB_USER_VERBS_CMD_CREATE_CQ`; answer `ib_uverbs_create_cq_resp`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_create_cq {
    pub hdr: ib_uverbs_cmd_hdr,
    pub core_payload: ib_uverbs_create_cq,
}

/// `IB_USER_VERBS_EX_CMD_CREATE_CQ`; answer `ib_uverbs_ex_create_cq_resp`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_create_cq_ex {
    pub hdr: ex_hdr,
    pub core_payload: ib_uverbs_ex_create_cq,
}

/// `IB_USER_VERBS_CMD_POLL_CQ`; answer `ib_uverbs_poll_cq_resp`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_poll_cq {
    pub hdr: ib_uverbs_cmd_hdr,
    pub core_payload: ib_uverbs_poll_cq,
}

/// `IB_USER_VERBS_CMD_REQ_NOTIFY_CQ`; no answer.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_req_notify_cq {
    pub hdr: ib_uverbs_cmd_hdr,
    pub core_payload: ib_uverbs_req_notify_cq,
}

/// `IB_USER_VERBS_CMD_RESIZE_CQ`; answer `ib_uverbs_resize_cq_resp`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_resize_cq {
    pub hdr: ib_uverbs_cmd_hdr,
    pub core_payload: ib_uverbs_resize_cq,
}

/// `IB_USER_VERBS_EX_CMD_MODIFY_CQ`; no answer.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_modify_cq {
    pub hdr: ex_hdr,
    pub core_payload: ib_uverbs_ex_modify_cq,
}

/// `IB_USER_VERBS_CMD_DESTROY_CQ`; answer `ib_uverbs_destroy_cq_resp`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_destroy_cq {
    pub hdr: ib_uverbs_cmd_hdr,
    pub core_payload: ib_uverbs_destroy_cq,
}

// ---- Queue pairs.

/// `IB_USER_VERBS_CMD_CREATE_QP`; answer `ib_uverbs_create_qp_resp`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_create_qp {
    pub hdr: ib_uverbs_cmd_hdr,
    pub core_payload: ib_uverbs_create_qp,
}

/// `IB_USER_VERBS_EX_CMD_CREATE_QP`; answer `ib_uverbs_ex_create_qp_resp`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_create_qp_ex {
    pub hdr: ex_hdr,
    pub core_payload: ib_uverbs_ex_create_qp,
}

/// `IB_USER_VERBS_CMD_OPEN_QP`; answer `ib_uverbs_create_qp_resp`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_open_qp {
    pub hdr: ib_uverbs_cmd_hdr,
    pub core_payload: ib_uverbs_open_qp,
}

/// `IB_USER_VERBS_CMD_QUERY_QP`; answer `ib_uverbs_query_qp_resp`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_query_qp {
    pub hdr: ib_uverbs_cmd_hdr,
    pub core_payload: ib_uverbs_query_qp,
}

/// `IB_USER_VERBS_CMD_MODIFY_QP`; no answer.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_modify_qp {
    pub hdr: ib_uverbs_cmd_hdr,
    pub core_payload: ib_uverbs_modify_qp,
}

/// `IB_USER_VERBS_EX_CMD_MODIFY_QP`; answer `ib_uverbs_ex_modify_qp_resp`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_modify_qp_ex {
    pub hdr: ex_hdr,
    pub core_payload: ib_uverbs_ex_modify_qp,
}

/// `IB_USER_VERBS_CMD_DESTROY_QP`; answer `ib_uverbs_destroy_qp_resp`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_destroy_qp {
    pub hdr: ib_uverbs_cmd_hdr,
    pub core_payload: ib_uverbs_destroy_qp,
}

/// `IB_USER_VERBS_CMD_POST_SEND`; answer `ib_uverbs_post_send_resp`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_post_send {
    pub hdr: ib_uverbs_cmd_hdr,
    pub core_payload: ib_uverbs_post_send,
}

/// `IB_USER_VERBS_CMD_POST_RECV`; answer `ib_uverbs_post_recv_resp`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_post_recv {
    pub hdr: ib_uverbs_cmd_hdr,
    pub core_payload: ib_uverbs_post_recv,
}

// ---- Shared receive queues.

/// `IB_USER_VERBS_CMD_CREATE_SRQ`; answer `ib_uverbs_create_srq_resp`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_create_srq {
    pub hdr: ib_uverbs_cmd_hdr,
    pub core_payload: ib_uverbs_create_srq,
}

/// `IB_USER_VERBS_CMD_CREATE_XSRQ`; answer `ib_uverbs_create_srq_resp`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_create_xsrq {
    pub hdr: ib_uverbs_cmd_hdr,
    pub core_payload: ib_uverbs_create_xsrq,
}

/// `IB_USER_VERBS_CMD_MODIFY_SRQ`; no answer.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_modify_srq {
    pub hdr: ib_uverbs_cmd_hdr,
    pub core_payload: ib_uverbs_modify_srq,
}

/// `IB_USER_VERBS_CMD_QUERY_SRQ`; answer `ib_uverbs_query_srq_resp`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_query_srq {
    pub hdr: ib_uverbs_cmd_hdr,
    pub core_payload: ib_uverbs_query_srq,
}

/// `IB_USER_VERBS_CMD_DESTROY_SRQ`; answer `ib_uverbs_destroy_srq_resp`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_destroy_srq {
    pub hdr: ib_uverbs_cmd_hdr,
    pub core_payload: ib_uverbs_destroy_srq,
}

/// `IB_USER_VERBS_CMD_POST_SRQ_RECV`; answer `ib_uverbs_post_srq_recv_resp`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_post_srq_recv {
    pub hdr: ib_uverbs_cmd_hdr,
    pub core_payload: ib_uverbs_post_srq_recv,
}

// ---- Work queues and indirection tables.

/// `IB_USER_VERBS_EX_CMD_CREATE_WQ`; answer `ib_uverbs_ex_create_wq_resp`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_create_wq {
    pub hdr: ex_hdr,
    pub core_payload: ib_uverbs_ex_create_wq,
}

/// `IB_USER_VERBS_EX_CMD_MODIFY_WQ`; no answer.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_modify_wq {
    pub hdr: ex_hdr,
    pub core_payload: ib_uverbs_ex_modify_wq,
}

/// `IB_USER_VERBS_EX_CMD_DESTROY_WQ`; answer `ib_uverbs_ex_destroy_wq_resp`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_destroy_wq {
    pub hdr: ex_hdr,
    pub core_payload: ib_uverbs_ex_destroy_wq,
}

/// `IB_USER_VERBS_EX_CMD_CREATE_RWQ_IND_TBL`; answer `ib_uverbs_ex_create_rwq_ind_table_resp`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_create_rwq_ind_table {
    pub hdr: ex_hdr,
    pub core_payload: ib_uverbs_ex_create_rwq_ind_table,
}

/// `IB_USER_VERBS_EX_CMD_DESTROY_RWQ_IND_TBL`; no answer.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_destroy_rwq_ind_table {
    pub hdr: ex_hdr,
    pub core_payload: ib_uverbs_ex_destroy_rwq_ind_table,
}

// ---- Flow rules.

/// `IB_USER_VERBS_EX_CMD_CREATE_FLOW`; answer `ib_uverbs_create_flow_resp`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_create_flow {
    pub hdr: ex_hdr,
    pub core_payload: ib_uverbs_create_flow,
}

/// `IB_USER_VERBS_EX_CMD_DESTROY_FLOW`; no answer.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_destroy_flow {
    pub hdr: ex_hdr,
    pub core_payload: ib_uverbs_destroy_flow,
}

plain! {
    ibv_create_comp_channel, ibv_create_cq, ibv_create_cq_ex, ibv_poll_cq, ibv_req_notify_cq,
    ibv_resize_cq, ibv_modify_cq, ibv_destroy_cq, ibv_create_qp, ibv_create_qp_ex, ibv_open_qp,
    ibv_query_qp, ibv_modify_qp, ibv_modify_qp_ex, ibv_destroy_qp, ibv_post_send, ibv_post_recv,
    ibv_create_srq, ibv_create_xsrq, ibv_modify_srq, ibv_query_srq, ibv_destroy_srq,
    ibv_post_srq_recv, ibv_create_wq, ibv_modify_wq, ibv_destroy_wq, ibv_create_rwq_ind_table,
    ibv_destroy_rwq_ind_table, ibv_create_flow, ibv_destroy_flow
}
