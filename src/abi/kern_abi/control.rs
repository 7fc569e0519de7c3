//! Commands on contexts, protection domains, memory and addresses: header, core request, then the
//! provider's bytes directly behind.
#![allow(missing_docs, reason = "hdr and core_payload mean the same in every struct")]

use crate::abi::*;
use crate::uapi::*;

// ---- Context and device.

/// `IB_USER_VERBS_CMD_GET_CONTEXT`; answer `ib_uverbs_get_context_resp`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_get_context {
    pub hdr: ib_uverbs_cmd_hdr,
    pub core_payload: ib_uverbs_get_context,
}

/// `IB_USER_VERBS_CMD_QUERY_DEVICE`; answer `ib_uverbs_query_device_resp`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_query_device {
    pub hdr: ib_uverbs_cmd_hdr,
    pub core_payload: ib_uverbs_query_device,
}

/// `IB_USER_VERBS_EX_CMD_QUERY_DEVICE`; answer `ib_uverbs_ex_query_device_resp`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_query_device_ex {
    pub hdr: ex_hdr,
    pub core_payload: ib_uverbs_ex_query_device,
}

/// `IB_USER_VERBS_CMD_QUERY_PORT`; answer `ib_uverbs_query_port_resp`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_query_port {
    pub hdr: ib_uverbs_cmd_hdr,
    pub core_payload: ib_uverbs_query_port,
}

// ---- Protection and XRC domains.

/// `IB_USER_VERBS_CMD_ALLOC_PD`; answer `ib_uverbs_alloc_pd_resp`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_alloc_pd {
    pub hdr: ib_uverbs_cmd_hdr,
    pub core_payload: ib_uverbs_alloc_pd,
}

/// `IB_USER_VERBS_CMD_DEALLOC_PD`; no answer.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_dealloc_pd {
    pub hdr: ib_uverbs_cmd_hdr,
    pub core_payload: ib_uverbs_dealloc_pd,
}

/// `IB_USER_VERBS_CMD_OPEN_XRCD`; answer `ib_uverbs_open_xrcd_resp`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_open_xrcd {
    pub hdr: ib_uverbs_cmd_hdr,
    pub core_payload: ib_uverbs_open_xrcd,
}

/// `IB_USER_VERBS_CMD_CLOSE_XRCD`; no answer.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_close_xrcd {
    pub hdr: ib_uverbs_cmd_hdr,
    pub core_payload: ib_uverbs_close_xrcd,
}

// ---- Memory.

/// `IB_USER_VERBS_CMD_REG_MR`; answer `ib_uverbs_reg_mr_resp`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_reg_mr {
    pub hdr: ib_uverbs_cmd_hdr,
    pub core_payload: ib_uverbs_reg_mr,
}

/// `IB_USER_VERBS_CMD_REREG_MR`; answer `ib_uverbs_rereg_mr_resp`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_rereg_mr {
    pub hdr: ib_uverbs_cmd_hdr,
    pub core_payload: ib_uverbs_rereg_mr,
}

/// `IB_USER_VERBS_CMD_DEREG_MR`; no answer.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_dereg_mr {
    pub hdr: ib_uverbs_cmd_hdr,
    pub core_payload: ib_uverbs_dereg_mr,
}

/// `IB_USER_VERBS_CMD_ALLOC_MW`; answer `ib_uverbs_alloc_mw_resp`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_alloc_mw {
    pub hdr: ib_uverbs_cmd_hdr,
    pub core_payload: ib_uverbs_alloc_mw,
}

/// `IB_USER_VERBS_CMD_DEALLOC_MW`; no answer.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_dealloc_mw {
    pub hdr: ib_uverbs_cmd_hdr,
    pub core_payload: ib_uverbs_dealloc_mw,
}

// ---- Addresses.

/// `IB_USER_VERBS_CMD_CREATE_AH`; answer `ib_uverbs_create_ah_resp`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_create_ah {
    pub hdr: ib_uverbs_cmd_hdr,
    pub core_payload: ib_uverbs_create_ah,
}

/// `IB_USER_VERBS_CMD_DESTROY_AH`; no answer.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_destroy_ah {
    pub hdr: ib_uverbs_cmd_hdr,
    pub core_payload: ib_uverbs_destroy_ah,
}

/// `IB_USER_VERBS_CMD_ATTACH_MCAST`; no answer.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_attach_mcast {
    pub hdr: ib_uverbs_cmd_hdr,
    pub core_payload: ib_uverbs_attach_mcast,
}

/// `IB_USER_VERBS_CMD_DETACH_MCAST`; no answer.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_detach_mcast {
    pub hdr: ib_uverbs_cmd_hdr,
    pub core_payload: ib_uverbs_detach_mcast,
}

plain! {
    ibv_get_context, ibv_query_device, ibv_query_device_ex, ibv_query_port, ibv_alloc_pd,
    ibv_dealloc_pd, ibv_open_xrcd, ibv_close_xrcd, ibv_reg_mr, ibv_rereg_mr, ibv_dereg_mr,
    ibv_alloc_mw, ibv_dealloc_mw, ibv_create_ah, ibv_destroy_ah, ibv_attach_mcast,
    ibv_detach_mcast
}
