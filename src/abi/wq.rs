//! Work queues and receive indirection tables: receive side scaling (`infiniband/verbs.h`).

use core::ffi::{c_int, c_uint, c_void};

use libc::{pthread_cond_t, pthread_mutex_t};

use crate::abi::*;

// ---- Work queues.

/// Kind of a work queue.
pub type ibv_wq_type = c_uint;
/// Receive queue.
pub const IBV_WQT_RQ: ibv_wq_type = 0;

/// State of a work queue, moved by `ibv_modify_wq(3)`.
pub type ibv_wq_state = c_uint;
/// As created.
pub const IBV_WQS_RESET: ibv_wq_state = 0;
/// Receives.
pub const IBV_WQS_RDY: ibv_wq_state = 1;
/// Outstanding work requests are flushed.
pub const IBV_WQS_ERR: ibv_wq_state = 2;
/// Not known.
pub const IBV_WQS_UNKNOWN: ibv_wq_state = 3;

/// Properties of a work queue.
pub type ibv_wq_flags = c_uint;
/// Remove the customer VLAN tag of received frames.
pub const IBV_WQ_FLAGS_CVLAN_STRIPPING: ibv_wq_flags = 1 << 0;
/// Deliver the frame check sequence with the data.
pub const IBV_WQ_FLAGS_SCATTER_FCS: ibv_wq_flags = 1 << 1;
/// Let packets wait for a receive instead of dropping them.
pub const IBV_WQ_FLAGS_DELAY_DROP: ibv_wq_flags = 1 << 2;
/// Pad writes of received data to a full cache line.
pub const IBV_WQ_FLAGS_PCI_WRITE_END_PADDING: ibv_wq_flags = 1 << 3;
/// First undefined bit.
pub const IBV_WQ_FLAGS_RESERVED: ibv_wq_flags = 1 << 4;

/// A receive work queue, `ibv_create_wq(3)`. The provider allocates it inside its own larger
/// struct.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_wq {
    /// Device context.
    pub context: *mut ibv_context,
    /// The caller's pointer, as given at creation.
    pub wq_context: *mut c_void,
    /// Protection domain.
    pub pd: *mut ibv_pd,
    /// CQ of the receives.
    pub cq: *mut ibv_cq,
    /// Number of the queue on the device.
    pub wq_num: u32,
    /// Kernel handle.
    pub handle: u32,
    /// State as of the last successful modify.
    pub state: ibv_wq_state,
    /// Kind.
    pub wq_type: ibv_wq_type,
    /// Posts receives; set by the provider, called by `ibv_post_wq_recv`. Returns 0, or an errno
    /// value with the first request that was not posted in `bad_recv_wr`.
    pub post_recv: Option<
        unsafe extern "C" fn(
            wq: *mut ibv_wq,
            recv_wr: *mut ibv_recv_wr,
            bad_recv_wr: *mut *mut ibv_recv_wr,
        ) -> c_int,
    >,
    /// Guards `events_completed`.
    pub mutex: pthread_mutex_t,
    /// Signalled when an event is acknowledged; `ibv_destroy_wq(3)` waits on it.
    pub cond: pthread_cond_t,
    /// Asynchronous events of this queue acknowledged so far.
    pub events_completed: u32,
    /// No bits are defined.
    pub comp_mask: u32,
}

/// Bits of `ibv_wq_init_attr::comp_mask`.
pub type ibv_wq_init_attr_mask = c_uint;
/// `create_flags`.
pub const IBV_WQ_INIT_ATTR_FLAGS: ibv_wq_init_attr_mask = 1 << 0;
/// First undefined bit.
pub const IBV_WQ_INIT_ATTR_RESERVED: ibv_wq_init_attr_mask = 1 << 1;

/// What `ibv_create_wq(3)` makes.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_wq_init_attr {
    /// Stored in `ibv_wq::wq_context`.
    pub wq_context: *mut c_void,
    /// Kind.
    pub wq_type: ibv_wq_type,
    /// Outstanding work requests; updated to the actual number.
    pub max_wr: u32,
    /// Scatter/gather entries per request; updated to the actual number.
    pub max_sge: u32,
    /// Protection domain.
    pub pd: *mut ibv_pd,
    /// CQ of the receives.
    pub cq: *mut ibv_cq,
    /// Which members below are set, see `ibv_wq_init_attr_mask`.
    pub comp_mask: u32,
    /// See `ibv_wq_flags`.
    pub create_flags: u32,
}

/// Bits of `ibv_wq_attr::attr_mask`.
pub type ibv_wq_attr_mask = c_uint;
/// `wq_state`.
pub const IBV_WQ_ATTR_STATE: ibv_wq_attr_mask = 1 << 0;
/// `curr_wq_state`.
pub const IBV_WQ_ATTR_CURR_STATE: ibv_wq_attr_mask = 1 << 1;
/// `flags` and `flags_mask`.
pub const IBV_WQ_ATTR_FLAGS: ibv_wq_attr_mask = 1 << 2;
/// First undefined bit.
pub const IBV_WQ_ATTR_RESERVED: ibv_wq_attr_mask = 1 << 3;

/// Argument of `ibv_modify_wq(3)`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_wq_attr {
    /// Which members are set, see `ibv_wq_attr_mask`.
    pub attr_mask: u32,
    /// State to move to.
    pub wq_state: ibv_wq_state,
    /// State that the caller believes the queue is in.
    pub curr_wq_state: ibv_wq_state,
    /// New values of the flags in `flags_mask`.
    pub flags: u32,
    /// Flags to change, see `ibv_wq_flags`.
    pub flags_mask: u32,
}

// ---- Indirection tables.

/// Bits of `ibv_rwq_ind_table_init_attr::comp_mask`.
pub type ibv_ind_table_init_attr_mask = c_uint;
/// First undefined bit.
pub const IBV_CREATE_IND_TABLE_RESERVED: ibv_ind_table_init_attr_mask = 1 << 0;

/// What `ibv_create_rwq_ind_table(3)` makes.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_rwq_ind_table_init_attr {
    /// Size of the table, as power of two of entries.
    pub log_ind_tbl_size: u32,
    /// The work queues, one per entry; may repeat.
    pub ind_tbl: *mut *mut ibv_wq,
    /// No bits are defined; 0.
    pub comp_mask: u32,
}

/// A table that turns the receive hash of a packet into a work queue.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_rwq_ind_table {
    /// Device context.
    pub context: *mut ibv_context,
    /// Kernel handle.
    pub ind_tbl_handle: c_int,
    /// Number of the table on the device.
    pub ind_tbl_num: c_int,
    /// No bits are defined.
    pub comp_mask: u32,
}

plain! {
    ibv_wq, ibv_wq_init_attr, ibv_wq_attr, ibv_rwq_ind_table_init_attr, ibv_rwq_ind_table
}
