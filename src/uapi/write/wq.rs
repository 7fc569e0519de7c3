//! Work queues and receive indirection tables.

use crate::abi::*;

/// CREATE_WQ.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_ex_create_wq {
    /// No bits are defined; 0.
    pub comp_mask: u32,
    /// One of `ib_uverbs_wq_type`.
    pub wq_type: u32,
    /// Returned in events of the object: the address of the library's object.
    pub user_handle: u64,
    /// Protection domain.
    pub pd_handle: u32,
    /// CQ.
    pub cq_handle: u32,
    /// Outstanding work requests.
    pub max_wr: u32,
    /// Scatter/gather entries per request.
    pub max_sge: u32,
    /// See `ib_uverbs_wq_flags`.
    pub create_flags: u32,
    /// 0.
    pub reserved: u32,
}

/// Answer to CREATE_WQ, with the actual sizes.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_ex_create_wq_resp {
    /// 0.
    pub comp_mask: u32,
    /// Bytes of the answer that the kernel has filled.
    pub response_length: u32,
    /// Work queue.
    pub wq_handle: u32,
    /// Outstanding work requests.
    pub max_wr: u32,
    /// Scatter/gather entries per request.
    pub max_sge: u32,
    /// Number of the queue on the device.
    pub wqn: u32,
}

/// MODIFY_WQ.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_ex_modify_wq {
    /// See `ibv_wq_attr_mask`.
    pub attr_mask: u32,
    /// Work queue.
    pub wq_handle: u32,
    /// State to move to.
    pub wq_state: u32,
    /// State the queue is believed to be in.
    pub curr_wq_state: u32,
    /// New values of the flags in `flags_mask`.
    pub flags: u32,
    /// Flags to change.
    pub flags_mask: u32,
}

/// DESTROY_WQ.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_ex_destroy_wq {
    /// No bits are defined; 0.
    pub comp_mask: u32,
    /// Work queue.
    pub wq_handle: u32,
}

/// Answer to DESTROY_WQ.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_ex_destroy_wq_resp {
    /// 0.
    pub comp_mask: u32,
    /// Bytes of the answer that the kernel has filled.
    pub response_length: u32,
    /// Asynchronous events that the kernel has reported, to be acknowledged before the queue's
    /// memory is freed.
    pub events_reported: u32,
    /// 0.
    pub reserved: u32,
}

/// CREATE_RWQ_IND_TBL. The handles follow, padded to a multiple of 8 bytes.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_ex_create_rwq_ind_table {
    /// No bits are defined; 0.
    pub comp_mask: u32,
    /// Size of the table, as power of two of entries.
    pub log_ind_tbl_size: u32,
    /// The work queues.
    pub wq_handles: [u32; 0],
}

/// Answer to CREATE_RWQ_IND_TBL.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_ex_create_rwq_ind_table_resp {
    /// 0.
    pub comp_mask: u32,
    /// Bytes of the answer that the kernel has filled.
    pub response_length: u32,
    /// Indirection table.
    pub ind_tbl_handle: u32,
    /// Number of the table on the device.
    pub ind_tbl_num: u32,
}

/// DESTROY_RWQ_IND_TBL.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_ex_destroy_rwq_ind_table {
    /// No bits are defined; 0.
    pub comp_mask: u32,
    /// Indirection table.
    pub ind_tbl_handle: u32,
}

plain! {
    ib_uverbs_ex_create_wq, ib_uverbs_ex_create_wq_resp, ib_uverbs_ex_modify_wq,
    ib_uverbs_ex_destroy_wq, ib_uverbs_ex_destroy_wq_resp, ib_uverbs_ex_create_rwq_ind_table,
    ib_uverbs_ex_create_rwq_ind_table_resp, ib_uverbs_ex_destroy_rwq_ind_table
}
