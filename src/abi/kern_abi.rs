//! Write commands as providers pass them: header, core request, provider bytes (`kern-abi.h`).

use core::ffi::{c_uint};

use crate::abi::*;
use crate::uapi::*;

// kern-abi.h: (anonymous) IB_USER_VERBS_CMD_CREATE_QP_V3
pub const IB_USER_VERBS_CMD_CREATE_QP_V3: c_uint = 24;

// kern-abi.h: (anonymous) IB_USER_VERBS_CMD_CREATE_QP_V4
pub const IB_USER_VERBS_CMD_CREATE_QP_V4: c_uint = 24;

// kern-abi.h: (anonymous) IB_USER_VERBS_CMD_CREATE_SRQ_V5
pub const IB_USER_VERBS_CMD_CREATE_SRQ_V5: c_uint = 32;

// kern-abi.h: (anonymous) IB_USER_VERBS_CMD_MODIFY_SRQ_V3
pub const IB_USER_VERBS_CMD_MODIFY_SRQ_V3: c_uint = 33;

/// `IB_USER_VERBS_MAX_ABI_VERSION` (`kern-abi.h`).
pub const IB_USER_VERBS_MAX_ABI_VERSION: c_uint = 6;

/// `IB_USER_VERBS_MIN_ABI_VERSION` (`kern-abi.h`).
pub const IB_USER_VERBS_MIN_ABI_VERSION: c_uint = 3;

/// `struct empty` (`kern-abi.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct empty {
}

/// `struct ex_hdr` (`kern-abi.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ex_hdr {
    pub hdr: ib_uverbs_cmd_hdr,
    pub ex_hdr: ib_uverbs_ex_cmd_hdr,
}

/// `struct ib_uverbs_modify_srq_v3` (`kern-abi.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_modify_srq_v3 {
    pub srq_handle: u32,
    pub attr_mask: u32,
    pub max_wr: u32,
    pub max_sge: u32,
    pub srq_limit: u32,
    pub reserved: u32,
}

/// `struct ibv_alloc_mw` (`kern-abi.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_alloc_mw {
    pub hdr: ib_uverbs_cmd_hdr,
    pub core_payload: ib_uverbs_alloc_mw,
}

/// `struct ibv_alloc_pd` (`kern-abi.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_alloc_pd {
    pub hdr: ib_uverbs_cmd_hdr,
    pub core_payload: ib_uverbs_alloc_pd,
}

/// `struct ibv_attach_mcast` (`kern-abi.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_attach_mcast {
    pub hdr: ib_uverbs_cmd_hdr,
    pub core_payload: ib_uverbs_attach_mcast,
}

/// `struct ibv_close_xrcd` (`kern-abi.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_close_xrcd {
    pub hdr: ib_uverbs_cmd_hdr,
    pub core_payload: ib_uverbs_close_xrcd,
}

/// `struct ibv_create_ah` (`kern-abi.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_create_ah {
    pub hdr: ib_uverbs_cmd_hdr,
    pub core_payload: ib_uverbs_create_ah,
}

/// `struct ibv_create_comp_channel` (`kern-abi.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_create_comp_channel {
    pub hdr: ib_uverbs_cmd_hdr,
    pub core_payload: ib_uverbs_create_comp_channel,
}

/// `struct ibv_create_cq` (`kern-abi.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_create_cq {
    pub hdr: ib_uverbs_cmd_hdr,
    pub core_payload: ib_uverbs_create_cq,
}

/// `struct ibv_create_cq_ex` (`kern-abi.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_create_cq_ex {
    pub hdr: ex_hdr,
    pub core_payload: ib_uverbs_ex_create_cq,
}

/// `struct ibv_create_flow` (`kern-abi.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_create_flow {
    pub hdr: ex_hdr,
    pub core_payload: ib_uverbs_create_flow,
}

/// `struct ibv_create_qp` (`kern-abi.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_create_qp {
    pub hdr: ib_uverbs_cmd_hdr,
    pub core_payload: ib_uverbs_create_qp,
}

/// `struct ibv_create_qp_ex` (`kern-abi.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_create_qp_ex {
    pub hdr: ex_hdr,
    pub core_payload: ib_uverbs_ex_create_qp,
}

/// `struct ibv_create_qp_resp_v3` (`kern-abi.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_create_qp_resp_v3 {
    pub qp_handle: u32,
    pub qpn: u32,
}

/// `struct ibv_create_qp_resp_v4` (`kern-abi.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_create_qp_resp_v4 {
    pub qp_handle: u32,
    pub qpn: u32,
    pub max_send_wr: u32,
    pub max_recv_wr: u32,
    pub max_send_sge: u32,
    pub max_recv_sge: u32,
    pub max_inline_data: u32,
}

/// `struct ibv_create_qp_v3` (`kern-abi.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_create_qp_v3 {
    pub hdr: ib_uverbs_cmd_hdr,
    pub core_payload: ib_uverbs_create_qp,
}

/// `struct ibv_create_qp_v4` (`kern-abi.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_create_qp_v4 {
    pub hdr: ib_uverbs_cmd_hdr,
    pub core_payload: ib_uverbs_create_qp,
}

/// `struct ibv_create_rwq_ind_table` (`kern-abi.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_create_rwq_ind_table {
    pub hdr: ex_hdr,
    pub core_payload: ib_uverbs_ex_create_rwq_ind_table,
}

/// `struct ibv_create_srq` (`kern-abi.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_create_srq {
    pub hdr: ib_uverbs_cmd_hdr,
    pub core_payload: ib_uverbs_create_srq,
}

/// `struct ibv_create_srq_resp_v5` (`kern-abi.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_create_srq_resp_v5 {
    pub srq_handle: u32,
}

/// `struct ibv_create_srq_v5` (`kern-abi.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_create_srq_v5 {
    pub hdr: ib_uverbs_cmd_hdr,
    pub core_payload: ib_uverbs_create_srq,
}

/// `struct ibv_create_wq` (`kern-abi.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_create_wq {
    pub hdr: ex_hdr,
    pub core_payload: ib_uverbs_ex_create_wq,
}

/// `struct ibv_create_xsrq` (`kern-abi.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_create_xsrq {
    pub hdr: ib_uverbs_cmd_hdr,
    pub core_payload: ib_uverbs_create_xsrq,
}

/// `struct ibv_dealloc_mw` (`kern-abi.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_dealloc_mw {
    pub hdr: ib_uverbs_cmd_hdr,
    pub core_payload: ib_uverbs_dealloc_mw,
}

/// `struct ibv_dealloc_pd` (`kern-abi.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_dealloc_pd {
    pub hdr: ib_uverbs_cmd_hdr,
    pub core_payload: ib_uverbs_dealloc_pd,
}

/// `struct ibv_dereg_mr` (`kern-abi.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_dereg_mr {
    pub hdr: ib_uverbs_cmd_hdr,
    pub core_payload: ib_uverbs_dereg_mr,
}

/// `struct ibv_destroy_ah` (`kern-abi.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_destroy_ah {
    pub hdr: ib_uverbs_cmd_hdr,
    pub core_payload: ib_uverbs_destroy_ah,
}

/// `struct ibv_destroy_cq` (`kern-abi.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_destroy_cq {
    pub hdr: ib_uverbs_cmd_hdr,
    pub core_payload: ib_uverbs_destroy_cq,
}

/// `struct ibv_destroy_flow` (`kern-abi.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_destroy_flow {
    pub hdr: ex_hdr,
    pub core_payload: ib_uverbs_destroy_flow,
}

/// `struct ibv_destroy_qp` (`kern-abi.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_destroy_qp {
    pub hdr: ib_uverbs_cmd_hdr,
    pub core_payload: ib_uverbs_destroy_qp,
}

/// `struct ibv_destroy_rwq_ind_table` (`kern-abi.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_destroy_rwq_ind_table {
    pub hdr: ex_hdr,
    pub core_payload: ib_uverbs_ex_destroy_rwq_ind_table,
}

/// `struct ibv_destroy_srq` (`kern-abi.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_destroy_srq {
    pub hdr: ib_uverbs_cmd_hdr,
    pub core_payload: ib_uverbs_destroy_srq,
}

/// `struct ibv_destroy_wq` (`kern-abi.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_destroy_wq {
    pub hdr: ex_hdr,
    pub core_payload: ib_uverbs_ex_destroy_wq,
}

/// `struct ibv_detach_mcast` (`kern-abi.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_detach_mcast {
    pub hdr: ib_uverbs_cmd_hdr,
    pub core_payload: ib_uverbs_detach_mcast,
}

/// `struct ibv_get_context` (`kern-abi.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_get_context {
    pub hdr: ib_uverbs_cmd_hdr,
    pub core_payload: ib_uverbs_get_context,
}

/// `struct ibv_kern_ipv4_filter` (`kern-abi.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_kern_ipv4_filter {
    pub src_ip: u32,
    pub dst_ip: u32,
}

/// `struct ibv_kern_spec` (`kern-abi.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub union ibv_kern_spec {
    pub hdr: ib_uverbs_flow_spec_hdr,
    pub eth: ib_uverbs_flow_spec_eth,
    pub ipv4: ibv_kern_spec_ipv4,
    pub ipv4_ext: ib_uverbs_flow_spec_ipv4,
    pub esp: ib_uverbs_flow_spec_esp,
    pub tcp_udp: ib_uverbs_flow_spec_tcp_udp,
    pub ipv6: ib_uverbs_flow_spec_ipv6,
    pub gre: ib_uverbs_flow_spec_gre,
    pub tunnel: ib_uverbs_flow_spec_tunnel,
    pub mpls: ib_uverbs_flow_spec_mpls,
    pub flow_tag: ib_uverbs_flow_spec_action_tag,
    pub drop: ib_uverbs_flow_spec_action_drop,
    pub handle: ib_uverbs_flow_spec_action_handle,
    pub flow_count: ib_uverbs_flow_spec_action_count,
}

/// `struct ibv_kern_spec_ipv4` (`kern-abi.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_kern_spec_ipv4 {
    pub type_: u32,
    pub size: u16,
    pub reserved: u16,
    pub val: ibv_kern_ipv4_filter,
    pub mask: ibv_kern_ipv4_filter,
}

/// `struct ibv_modify_cq` (`kern-abi.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_modify_cq {
    pub hdr: ex_hdr,
    pub core_payload: ib_uverbs_ex_modify_cq,
}

/// `struct ibv_modify_qp` (`kern-abi.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_modify_qp {
    pub hdr: ib_uverbs_cmd_hdr,
    pub core_payload: ib_uverbs_modify_qp,
}

/// `struct ibv_modify_qp_ex` (`kern-abi.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_modify_qp_ex {
    pub hdr: ex_hdr,
    pub core_payload: ib_uverbs_ex_modify_qp,
}

/// `struct ibv_modify_srq` (`kern-abi.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_modify_srq {
    pub hdr: ib_uverbs_cmd_hdr,
    pub core_payload: ib_uverbs_modify_srq,
}

/// `struct ibv_modify_srq_v3` (`kern-abi.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_modify_srq_v3 {
    pub hdr: ib_uverbs_cmd_hdr,
    pub core_payload: ib_uverbs_modify_srq_v3,
}

/// `struct ibv_modify_wq` (`kern-abi.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_modify_wq {
    pub hdr: ex_hdr,
    pub core_payload: ib_uverbs_ex_modify_wq,
}

/// `struct ibv_open_qp` (`kern-abi.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_open_qp {
    pub hdr: ib_uverbs_cmd_hdr,
    pub core_payload: ib_uverbs_open_qp,
}

/// `struct ibv_open_xrcd` (`kern-abi.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_open_xrcd {
    pub hdr: ib_uverbs_cmd_hdr,
    pub core_payload: ib_uverbs_open_xrcd,
}

/// `struct ibv_poll_cq` (`kern-abi.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_poll_cq {
    pub hdr: ib_uverbs_cmd_hdr,
    pub core_payload: ib_uverbs_poll_cq,
}

/// `struct ibv_post_recv` (`kern-abi.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_post_recv {
    pub hdr: ib_uverbs_cmd_hdr,
    pub core_payload: ib_uverbs_post_recv,
}

/// `struct ibv_post_send` (`kern-abi.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_post_send {
    pub hdr: ib_uverbs_cmd_hdr,
    pub core_payload: ib_uverbs_post_send,
}

/// `struct ibv_post_srq_recv` (`kern-abi.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_post_srq_recv {
    pub hdr: ib_uverbs_cmd_hdr,
    pub core_payload: ib_uverbs_post_srq_recv,
}

/// `struct ibv_query_device` (`kern-abi.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_query_device {
    pub hdr: ib_uverbs_cmd_hdr,
    pub core_payload: ib_uverbs_query_device,
}

/// `struct ibv_query_device_ex` (`kern-abi.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_query_device_ex {
    pub hdr: ex_hdr,
    pub core_payload: ib_uverbs_ex_query_device,
}

/// `struct ibv_query_port` (`kern-abi.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_query_port {
    pub hdr: ib_uverbs_cmd_hdr,
    pub core_payload: ib_uverbs_query_port,
}

/// `struct ibv_query_qp` (`kern-abi.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_query_qp {
    pub hdr: ib_uverbs_cmd_hdr,
    pub core_payload: ib_uverbs_query_qp,
}

/// `struct ibv_query_srq` (`kern-abi.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_query_srq {
    pub hdr: ib_uverbs_cmd_hdr,
    pub core_payload: ib_uverbs_query_srq,
}

/// `struct ibv_reg_mr` (`kern-abi.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_reg_mr {
    pub hdr: ib_uverbs_cmd_hdr,
    pub core_payload: ib_uverbs_reg_mr,
}

/// `struct ibv_req_notify_cq` (`kern-abi.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_req_notify_cq {
    pub hdr: ib_uverbs_cmd_hdr,
    pub core_payload: ib_uverbs_req_notify_cq,
}

/// `struct ibv_rereg_mr` (`kern-abi.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_rereg_mr {
    pub hdr: ib_uverbs_cmd_hdr,
    pub core_payload: ib_uverbs_rereg_mr,
}

/// `struct ibv_resize_cq` (`kern-abi.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_resize_cq {
    pub hdr: ib_uverbs_cmd_hdr,
    pub core_payload: ib_uverbs_resize_cq,
}

plain!(empty, ex_hdr, ib_uverbs_modify_srq_v3, ibv_alloc_mw, ibv_alloc_pd, ibv_attach_mcast, ibv_close_xrcd, ibv_create_ah, ibv_create_comp_channel, ibv_create_cq, ibv_create_cq_ex, ibv_create_flow, ibv_create_qp, ibv_create_qp_ex, ibv_create_qp_resp_v3, ibv_create_qp_resp_v4, ibv_create_qp_v3, ibv_create_qp_v4, ibv_create_rwq_ind_table, ibv_create_srq, ibv_create_srq_resp_v5, ibv_create_srq_v5, ibv_create_wq, ibv_create_xsrq, ibv_dealloc_mw, ibv_dealloc_pd, ibv_dereg_mr, ibv_destroy_ah, ibv_destroy_cq, ibv_destroy_flow, ibv_destroy_qp, ibv_destroy_rwq_ind_table, ibv_destroy_srq, ibv_destroy_wq, ibv_detach_mcast, ibv_get_context, ibv_kern_ipv4_filter, ibv_kern_spec, ibv_kern_spec_ipv4, ibv_modify_cq, ibv_modify_qp, ibv_modify_qp_ex, ibv_modify_srq, ibv_modify_srq_v3, ibv_modify_wq, ibv_open_qp, ibv_open_xrcd, ibv_poll_cq, ibv_post_recv, ibv_post_send, ibv_post_srq_recv, ibv_query_device, ibv_query_device_ex, ibv_query_port, ibv_query_qp, ibv_query_srq, ibv_reg_mr, ibv_req_notify_cq, ibv_rereg_mr, ibv_resize_cq);
