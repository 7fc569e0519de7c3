//! Flow counters and completion counters (`infiniband/verbs.h`).

use core::ffi::c_uint;

use crate::abi::*;

// ---- Counters of flow rules.

/// What a flow counter counts.
pub type ibv_counter_description = c_uint;
/// Packets that matched.
pub const IBV_COUNTER_PACKETS: ibv_counter_description = 0;
/// Bytes of packets that matched.
pub const IBV_COUNTER_BYTES: ibv_counter_description = 1;

/// Argument of `ibv_create_counters(3)`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_counters_init_attr {
    /// No bits are defined; 0.
    pub comp_mask: u32,
}

/// A set of counters. It counts for the flow rules that carry it as an
/// `ibv_flow_spec_counter_action`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_counters {
    /// Device context.
    pub context: *mut ibv_context,
}

/// Adds a counter to a set, `ibv_attach_counters_point_flow(3)`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_counter_attach_attr {
    /// What it counts.
    pub counter_desc: ibv_counter_description,
    /// Its place in the array that `ibv_read_counters(3)` fills.
    pub index: u32,
    /// No bits are defined; 0.
    pub comp_mask: u32,
}

/// Flags of `ibv_read_counters(3)`.
pub type ibv_read_counters_flags = c_uint;
/// Values that the driver holds are recent enough.
pub const IBV_READ_COUNTERS_ATTR_PREFER_CACHED: ibv_read_counters_flags = 1 << 0;

// ---- Completion counters.

/// What a completion counter counts.
pub type ibv_comp_cntr_type = c_uint;
/// Work requests.
pub const IBV_COMP_CNTR_TYPE_WRS: ibv_comp_cntr_type = 0;
/// Bytes.
pub const IBV_COMP_CNTR_TYPE_BYTES: ibv_comp_cntr_type = 1;

/// What `ibv_create_comp_cntr(3)` makes.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_comp_cntr_init_attr {
    /// No bits are defined; 0.
    pub comp_mask: u32,
    /// What it counts; `type` in C.
    pub type_: ibv_comp_cntr_type,
    /// No bits are defined; 0.
    pub flags: u32,
}

/// A completion counter: a count of successful completions and one of errors,
/// `ibv_read_comp_cntr(3)` and `ibv_read_err_comp_cntr(3)`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_comp_cntr {
    /// Device context.
    pub context: *mut ibv_context,
    /// Kernel handle.
    pub handle: u32,
}

/// Completion counters of a device, `ibv_query_comp_cntr_caps(3)`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_comp_cntr_caps {
    /// Largest value; the next increment wraps to 0.
    pub max_value: u64,
    /// Counters that can be created.
    pub max_counters: u32,
    /// Operations that can be counted, see `ibv_qp_attach_comp_cntr_op`.
    pub supported_qp_attach_ops: u32,
}

/// Operations that a counter attached to a QP counts. Each may go to one counter of the QP only.
pub type ibv_qp_attach_comp_cntr_op = c_uint;
/// Sends of the QP.
pub const IBV_QP_ATTACH_COMP_CNTR_OP_SEND: ibv_qp_attach_comp_cntr_op = 1 << 0;
/// Receives of the QP.
pub const IBV_QP_ATTACH_COMP_CNTR_OP_RECV: ibv_qp_attach_comp_cntr_op = 1 << 1;
/// RDMA reads of the QP.
pub const IBV_QP_ATTACH_COMP_CNTR_OP_RDMA_READ: ibv_qp_attach_comp_cntr_op = 1 << 2;
/// RDMA reads of the peer.
pub const IBV_QP_ATTACH_COMP_CNTR_OP_REMOTE_RDMA_READ: ibv_qp_attach_comp_cntr_op = 1 << 3;
/// RDMA writes of the QP.
pub const IBV_QP_ATTACH_COMP_CNTR_OP_RDMA_WRITE: ibv_qp_attach_comp_cntr_op = 1 << 4;
/// RDMA writes of the peer.
pub const IBV_QP_ATTACH_COMP_CNTR_OP_REMOTE_RDMA_WRITE: ibv_qp_attach_comp_cntr_op = 1 << 5;

/// Argument of `ibv_qp_attach_comp_cntr(3)`; the QP must be in RESET or INIT.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_qp_attach_comp_cntr_attr {
    /// No bits are defined; 0.
    pub comp_mask: u32,
    /// See `ibv_qp_attach_comp_cntr_op`.
    pub op_mask: u32,
}

plain! {
    ibv_counters_init_attr, ibv_counters, ibv_counter_attach_attr, ibv_comp_cntr_init_attr,
    ibv_comp_cntr, ibv_comp_cntr_caps, ibv_qp_attach_comp_cntr_attr
}
