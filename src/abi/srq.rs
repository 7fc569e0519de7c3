//! Shared receive queues and tag matching (`infiniband/verbs.h`, `infiniband/tm_types.h`).

use core::ffi::{c_int, c_uint, c_void};

use libc::{pthread_cond_t, pthread_mutex_t};

use crate::abi::*;

// ---- Shared receive queues.

/// Kind of an SRQ, chosen at creation.
pub type ibv_srq_type = c_uint;
/// Receives for RC, UC and UD QPs.
pub const IBV_SRQT_BASIC: ibv_srq_type = 0;
/// Receives addressed by SRQ number, for XRC target QPs.
pub const IBV_SRQT_XRC: ibv_srq_type = 1;
/// Basic, and a list of tagged receives that the device matches.
pub const IBV_SRQT_TM: ibv_srq_type = 2;

/// A shared receive queue, `ibv_create_srq(3)`. The provider allocates it inside its own larger
/// struct.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_srq {
    /// Device context.
    pub context: *mut ibv_context,
    /// The caller's pointer, as given at creation.
    pub srq_context: *mut c_void,
    /// Protection domain.
    pub pd: *mut ibv_pd,
    /// Kernel handle.
    pub handle: u32,
    /// Guards `events_completed`.
    pub mutex: pthread_mutex_t,
    /// Signalled when an event is acknowledged; `ibv_destroy_srq(3)` waits on it.
    pub cond: pthread_cond_t,
    /// Asynchronous events of this SRQ acknowledged so far.
    pub events_completed: u32,
}

/// Sizes of an SRQ. At creation the first two are updated to the actual ones.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_srq_attr {
    /// Outstanding work requests.
    pub max_wr: u32,
    /// Scatter/gather entries per request.
    pub max_sge: u32,
    /// `IBV_EVENT_SRQ_LIMIT_REACHED` is raised once when fewer requests are left; 0: no event. Not
    /// used by creation.
    pub srq_limit: u32,
}

/// What `ibv_modify_srq(3)` changes: members of `ibv_srq_attr`.
pub type ibv_srq_attr_mask = c_uint;
/// `max_wr`, where the device has `IBV_DEVICE_SRQ_RESIZE`.
pub const IBV_SRQ_MAX_WR: ibv_srq_attr_mask = 1 << 0;
/// `srq_limit`: arms the event.
pub const IBV_SRQ_LIMIT: ibv_srq_attr_mask = 1 << 1;

/// What `ibv_create_srq(3)` makes.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_srq_init_attr {
    /// Stored in `ibv_srq::srq_context`.
    pub srq_context: *mut c_void,
    /// Sizes.
    pub attr: ibv_srq_attr,
}

/// Bits of `ibv_srq_init_attr_ex::comp_mask`.
pub type ibv_srq_init_attr_mask = c_uint;
/// `srq_type`; without it the SRQ is basic.
pub const IBV_SRQ_INIT_ATTR_TYPE: ibv_srq_init_attr_mask = 1 << 0;
/// `pd`; needed.
pub const IBV_SRQ_INIT_ATTR_PD: ibv_srq_init_attr_mask = 1 << 1;
/// `xrcd`; needed for XRC.
pub const IBV_SRQ_INIT_ATTR_XRCD: ibv_srq_init_attr_mask = 1 << 2;
/// `cq`; needed for XRC and tag matching.
pub const IBV_SRQ_INIT_ATTR_CQ: ibv_srq_init_attr_mask = 1 << 3;
/// `tm_cap`; needed for tag matching.
pub const IBV_SRQ_INIT_ATTR_TM: ibv_srq_init_attr_mask = 1 << 4;
/// First undefined bit.
pub const IBV_SRQ_INIT_ATTR_RESERVED: ibv_srq_init_attr_mask = 1 << 5;

/// What `ibv_create_srq_ex(3)` makes; begins like `ibv_srq_init_attr`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_srq_init_attr_ex {
    /// Stored in `ibv_srq::srq_context`.
    pub srq_context: *mut c_void,
    /// Sizes.
    pub attr: ibv_srq_attr,
    /// Which members below are set, see `ibv_srq_init_attr_mask`.
    pub comp_mask: u32,
    /// Kind.
    pub srq_type: ibv_srq_type,
    /// Protection domain.
    pub pd: *mut ibv_pd,
    /// XRC domain.
    pub xrcd: *mut ibv_xrcd,
    /// CQ of the receives.
    pub cq: *mut ibv_cq,
    /// Size of the tag list.
    pub tm_cap: ibv_tm_cap,
}

// ---- Tag matching.

/// Size of the tag list of an SRQ; limits in `ibv_tm_caps`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_tm_cap {
    /// Entries of the list.
    pub max_num_tags: u32,
    /// Outstanding list operations.
    pub max_ops: u32,
}

/// Operation on a tag list.
pub type ibv_ops_wr_opcode = c_uint;
/// Add a tagged receive.
pub const IBV_WR_TAG_ADD: ibv_ops_wr_opcode = 0;
/// Remove a tagged receive.
pub const IBV_WR_TAG_DEL: ibv_ops_wr_opcode = 1;
/// Only tell the device how many unexpected messages have been handled.
pub const IBV_WR_TAG_SYNC: ibv_ops_wr_opcode = 2;

/// Bits of `ibv_ops_wr::flags`.
pub type ibv_ops_flags = c_uint;
/// Write a completion to the CQ of the SRQ.
pub const IBV_OPS_SIGNALED: ibv_ops_flags = 1 << 0;
/// `unexpected_cnt` is set.
pub const IBV_OPS_TM_SYNC: ibv_ops_flags = 1 << 1;

/// A tagged receive. A message matches if its tag, masked with `mask`, equals `tag`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_ops_wr_tm_add {
    /// `wr_id` of the completion of the message.
    pub recv_wr_id: u64,
    /// Memory to fill.
    pub sg_list: *mut ibv_sge,
    /// Elements of `sg_list`.
    pub num_sge: c_int,
    /// Tag to match.
    pub tag: u64,
    /// Bits of the tag that count.
    pub mask: u64,
}

/// Operands of a tag list operation.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_ops_wr_tm {
    /// Unexpected messages that software has handled so far, with `IBV_OPS_TM_SYNC`.
    pub unexpected_cnt: u32,
    /// Entry: written by `IBV_WR_TAG_ADD`, read by `IBV_WR_TAG_DEL`.
    pub handle: u32,
    /// Entry to add.
    pub add: ibv_ops_wr_tm_add,
}

/// A tag list operation, element of the list given to `ibv_post_srq_ops(3)`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_ops_wr {
    /// The caller's value, returned in the operation's completion.
    pub wr_id: u64,
    /// Next operation, or NULL.
    pub next: *mut ibv_ops_wr,
    /// Operation.
    pub opcode: ibv_ops_wr_opcode,
    /// See `ibv_ops_flags`.
    pub flags: c_int,
    /// Operands.
    pub tm: ibv_ops_wr_tm,
}

/// Kind of a message to a tag matching SRQ: `ibv_tmh::opcode`.
pub type ibv_tmh_op = c_uint;
/// Not for the tag list.
pub const IBV_TMH_NO_TAG: ibv_tmh_op = 0;
/// Rendezvous: an `ibv_rvh` follows and the receiver reads the data.
pub const IBV_TMH_RNDV: ibv_tmh_op = 1;
/// The rendezvous data has been read.
pub const IBV_TMH_FIN: ibv_tmh_op = 2;
/// The data follows.
pub const IBV_TMH_EAGER: ibv_tmh_op = 3;

/// Header that a sender puts in front of a message to a tag matching SRQ.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_tmh {
    /// One of `ibv_tmh_op`.
    pub opcode: u8,
    /// 0.
    pub reserved: [u8; 3],
    /// Context for the receiver, network byte order.
    pub app_ctx: __be32,
    /// Tag, network byte order.
    pub tag: __be64,
}

/// Where the data of a rendezvous message lies at the sender; follows the `ibv_tmh`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_rvh {
    /// Address, network byte order.
    pub va: __be64,
    /// Remote key, network byte order.
    pub rkey: __be32,
    /// Length in bytes, network byte order.
    pub len: __be32,
}

plain! {
    ibv_srq, ibv_srq_attr, ibv_srq_init_attr, ibv_srq_init_attr_ex, ibv_tm_cap,
    ibv_ops_wr_tm_add, ibv_ops_wr_tm, ibv_ops_wr, ibv_tmh, ibv_rvh
}
