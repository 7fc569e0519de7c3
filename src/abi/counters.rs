//! Flow counters and completion counters.

use core::ffi::{c_uint};

use crate::abi::*;

/// `enum ibv_comp_cntr_type` (`verbs.h`).
pub type ibv_comp_cntr_type = c_uint;
pub const IBV_COMP_CNTR_TYPE_WRS: ibv_comp_cntr_type = 0;
pub const IBV_COMP_CNTR_TYPE_BYTES: ibv_comp_cntr_type = 1;

/// `enum ibv_counter_description` (`verbs.h`).
pub type ibv_counter_description = c_uint;
pub const IBV_COUNTER_PACKETS: ibv_counter_description = 0;
pub const IBV_COUNTER_BYTES: ibv_counter_description = 1;

/// `enum ibv_qp_attach_comp_cntr_op` (`verbs.h`).
pub type ibv_qp_attach_comp_cntr_op = c_uint;
pub const IBV_QP_ATTACH_COMP_CNTR_OP_SEND: ibv_qp_attach_comp_cntr_op = 1;
pub const IBV_QP_ATTACH_COMP_CNTR_OP_RECV: ibv_qp_attach_comp_cntr_op = 2;
pub const IBV_QP_ATTACH_COMP_CNTR_OP_RDMA_READ: ibv_qp_attach_comp_cntr_op = 4;
pub const IBV_QP_ATTACH_COMP_CNTR_OP_REMOTE_RDMA_READ: ibv_qp_attach_comp_cntr_op = 8;
pub const IBV_QP_ATTACH_COMP_CNTR_OP_RDMA_WRITE: ibv_qp_attach_comp_cntr_op = 16;
pub const IBV_QP_ATTACH_COMP_CNTR_OP_REMOTE_RDMA_WRITE: ibv_qp_attach_comp_cntr_op = 32;

/// `enum ibv_read_counters_flags` (`verbs.h`).
pub type ibv_read_counters_flags = c_uint;
pub const IBV_READ_COUNTERS_ATTR_PREFER_CACHED: ibv_read_counters_flags = 1;

/// `struct ibv_comp_cntr` (`verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_comp_cntr {
    pub context: *mut ibv_context,
    pub handle: u32,
}

/// `struct ibv_comp_cntr_caps` (`verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_comp_cntr_caps {
    pub max_value: u64,
    pub max_counters: u32,
    pub supported_qp_attach_ops: u32,
}

/// `struct ibv_comp_cntr_init_attr` (`verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_comp_cntr_init_attr {
    pub comp_mask: u32,
    pub type_: ibv_comp_cntr_type,
    pub flags: u32,
}

/// `struct ibv_counter_attach_attr` (`verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_counter_attach_attr {
    pub counter_desc: ibv_counter_description,
    pub index: u32,
    pub comp_mask: u32,
}

/// `struct ibv_counters` (`verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_counters {
    pub context: *mut ibv_context,
}

/// `struct ibv_counters_init_attr` (`verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_counters_init_attr {
    pub comp_mask: u32,
}

/// `struct ibv_qp_attach_comp_cntr_attr` (`verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_qp_attach_comp_cntr_attr {
    pub comp_mask: u32,
    pub op_mask: u32,
}

plain!(ibv_comp_cntr, ibv_comp_cntr_caps, ibv_comp_cntr_init_attr, ibv_counter_attach_attr, ibv_counters, ibv_counters_init_attr, ibv_qp_attach_comp_cntr_attr);
