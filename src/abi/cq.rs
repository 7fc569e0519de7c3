//! Completion queues, work completions and completion channels (`infiniband/verbs.h`).

use core::ffi::{c_int, c_uint, c_void};

use libc::{pthread_cond_t, pthread_mutex_t};

use crate::abi::*;

// ---- Completion channels and queues.

/// A file descriptor that reports completion events of its CQs; `ibv_create_comp_channel(3)`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_comp_channel {
    /// Device context.
    pub context: *mut ibv_context,
    /// Readable when an event waits; can be polled and set non-blocking by the caller.
    pub fd: c_int,
    /// CQs that use the channel, guarded by the context's mutex; it cannot be destroyed before 0.
    pub refcnt: c_int,
}

/// A completion queue, `ibv_create_cq(3)`. The provider allocates it inside its own larger struct.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_cq {
    /// Device context.
    pub context: *mut ibv_context,
    /// Channel for completion events, or NULL.
    pub channel: *mut ibv_comp_channel,
    /// The caller's pointer, returned by `ibv_get_cq_event(3)`.
    pub cq_context: *mut c_void,
    /// Kernel handle.
    pub handle: u32,
    /// Completions the CQ can hold; at least what was asked for.
    pub cqe: c_int,
    /// Guards the two counters.
    pub mutex: pthread_mutex_t,
    /// Signalled when an event is acknowledged; `ibv_destroy_cq(3)` waits on it.
    pub cond: pthread_cond_t,
    /// Completion events acknowledged so far.
    pub comp_events_completed: u32,
    /// Asynchronous events acknowledged so far.
    pub async_events_completed: u32,
}

/// Completion fields that the caller will read: bits of `ibv_cq_init_attr_ex::wc_flags`.
pub type ibv_create_cq_wc_flags = c_uint;
/// `read_byte_len`.
pub const IBV_WC_EX_WITH_BYTE_LEN: ibv_create_cq_wc_flags = 1 << 0;
/// `read_imm_data`: immediate data and the invalidated key.
pub const IBV_WC_EX_WITH_IMM: ibv_create_cq_wc_flags = 1 << 1;
/// `read_qp_num`.
pub const IBV_WC_EX_WITH_QP_NUM: ibv_create_cq_wc_flags = 1 << 2;
/// `read_src_qp`.
pub const IBV_WC_EX_WITH_SRC_QP: ibv_create_cq_wc_flags = 1 << 3;
/// `read_slid`.
pub const IBV_WC_EX_WITH_SLID: ibv_create_cq_wc_flags = 1 << 4;
/// `read_sl`.
pub const IBV_WC_EX_WITH_SL: ibv_create_cq_wc_flags = 1 << 5;
/// `read_dlid_path_bits`.
pub const IBV_WC_EX_WITH_DLID_PATH_BITS: ibv_create_cq_wc_flags = 1 << 6;
/// `read_completion_ts`.
pub const IBV_WC_EX_WITH_COMPLETION_TIMESTAMP: ibv_create_cq_wc_flags = 1 << 7;
/// `read_cvlan`.
pub const IBV_WC_EX_WITH_CVLAN: ibv_create_cq_wc_flags = 1 << 8;
/// `read_flow_tag`.
pub const IBV_WC_EX_WITH_FLOW_TAG: ibv_create_cq_wc_flags = 1 << 9;
/// `read_tm_info`.
pub const IBV_WC_EX_WITH_TM_INFO: ibv_create_cq_wc_flags = 1 << 10;
/// `read_completion_wallclock_ns`.
pub const IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK: ibv_create_cq_wc_flags = 1 << 11;

/// The fields that `ibv_wc` has.
pub const IBV_WC_STANDARD_FLAGS: c_uint = IBV_WC_EX_WITH_BYTE_LEN
    | IBV_WC_EX_WITH_IMM
    | IBV_WC_EX_WITH_QP_NUM
    | IBV_WC_EX_WITH_SRC_QP
    | IBV_WC_EX_WITH_SLID
    | IBV_WC_EX_WITH_SL
    | IBV_WC_EX_WITH_DLID_PATH_BITS;
/// Every defined bit of `ibv_create_cq_wc_flags`; others make creation fail with `EOPNOTSUPP`.
pub const IBV_CREATE_CQ_SUP_WC_FLAGS: c_uint = IBV_WC_STANDARD_FLAGS
    | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP
    | IBV_WC_EX_WITH_CVLAN
    | IBV_WC_EX_WITH_FLOW_TAG
    | IBV_WC_EX_WITH_TM_INFO
    | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK;

/// Bits of `ibv_cq_init_attr_ex::comp_mask`.
pub type ibv_cq_init_attr_mask = c_uint;
/// `flags`.
pub const IBV_CQ_INIT_ATTR_MASK_FLAGS: ibv_cq_init_attr_mask = 1 << 0;
/// `parent_domain`.
pub const IBV_CQ_INIT_ATTR_MASK_PD: ibv_cq_init_attr_mask = 1 << 1;

/// Bits of `ibv_cq_init_attr_ex::flags`.
pub type ibv_create_cq_attr_flags = c_uint;
/// One thread at a time uses the CQ: no lock is needed.
pub const IBV_CREATE_CQ_ATTR_SINGLE_THREADED: ibv_create_cq_attr_flags = 1 << 0;
/// A full CQ is no error, old completions are overwritten: the caller makes sure that it never is.
pub const IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN: ibv_create_cq_attr_flags = 1 << 1;

/// What `ibv_create_cq_ex(3)` makes.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_cq_init_attr_ex {
    /// Completions the CQ shall hold at least.
    pub cqe: u32,
    /// Stored in `ibv_cq_ex::cq_context`.
    pub cq_context: *mut c_void,
    /// Channel for completion events, or NULL.
    pub channel: *mut ibv_comp_channel,
    /// Interrupt vector, less than `ibv_context::num_comp_vectors`.
    pub comp_vector: u32,
    /// Fields that will be read, see `ibv_create_cq_wc_flags`.
    pub wc_flags: u64,
    /// Which members below are set, see `ibv_cq_init_attr_mask`.
    pub comp_mask: u32,
    /// See `ibv_create_cq_attr_flags`.
    pub flags: u32,
    /// Parent domain whose thread domain and allocators the CQ uses.
    pub parent_domain: *mut ibv_pd,
}

/// Argument of `ibv_start_poll`, kept for extensions.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_poll_cq_attr {
    /// No bits are defined; 0.
    pub comp_mask: u32,
}

/// A CQ whose completions are read field by field; `ibv_create_cq_ex(3)`. It begins like `ibv_cq`.
///
/// `start_poll`, then `next_poll` as long as it returns 0, then `end_poll`. Each `read_` function
/// speaks of the current completion and may be called only if its field was asked for at creation;
/// `read_opcode`, `read_vendor_err` and `read_wc_flags` need no asking. The provider sets the
/// pointers.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_cq_ex {
    /// Device context.
    pub context: *mut ibv_context,
    /// Channel for completion events, or NULL.
    pub channel: *mut ibv_comp_channel,
    /// The caller's pointer, returned by `ibv_get_cq_event(3)`.
    pub cq_context: *mut c_void,
    /// Kernel handle.
    pub handle: u32,
    /// Completions the CQ can hold.
    pub cqe: c_int,
    /// Guards the two counters.
    pub mutex: pthread_mutex_t,
    /// Signalled when an event is acknowledged.
    pub cond: pthread_cond_t,
    /// Completion events acknowledged so far.
    pub comp_events_completed: u32,
    /// Asynchronous events acknowledged so far.
    pub async_events_completed: u32,
    /// No bits are defined.
    pub comp_mask: u32,
    /// Status of the current completion.
    pub status: ibv_wc_status,
    /// `wr_id` of the current completion's work request.
    pub wr_id: u64,
    /// Take the first completion of a batch: 0, `ENOENT` if the CQ is empty, or an error;
    /// `end_poll` follows only after 0.
    pub start_poll:
        Option<unsafe extern "C" fn(cq: *mut ibv_cq_ex, attr: *mut ibv_poll_cq_attr) -> c_int>,
    /// Go on to the next completion: 0, or `ENOENT` if there is none; `end_poll` is needed either
    /// way.
    pub next_poll: Option<unsafe extern "C" fn(cq: *mut ibv_cq_ex) -> c_int>,
    /// End the batch and give the entries back to the device.
    pub end_poll: Option<unsafe extern "C" fn(cq: *mut ibv_cq_ex)>,
    /// Operation that completed.
    pub read_opcode: Option<unsafe extern "C" fn(cq: *mut ibv_cq_ex) -> ibv_wc_opcode>,
    /// Vendor's error code of a failed completion.
    pub read_vendor_err: Option<unsafe extern "C" fn(cq: *mut ibv_cq_ex) -> u32>,
    /// Bytes received or read, as `ibv_wc::byte_len`.
    pub read_byte_len: Option<unsafe extern "C" fn(cq: *mut ibv_cq_ex) -> u32>,
    /// Immediate data in network byte order, or the invalidated key in host byte order.
    pub read_imm_data: Option<unsafe extern "C" fn(cq: *mut ibv_cq_ex) -> __be32>,
    /// Number of the local QP.
    pub read_qp_num: Option<unsafe extern "C" fn(cq: *mut ibv_cq_ex) -> u32>,
    /// QP number of the sender; UD.
    pub read_src_qp: Option<unsafe extern "C" fn(cq: *mut ibv_cq_ex) -> u32>,
    /// See `ibv_wc_flags`.
    pub read_wc_flags: Option<unsafe extern "C" fn(cq: *mut ibv_cq_ex) -> c_uint>,
    /// LID of the sender; UD.
    pub read_slid: Option<unsafe extern "C" fn(cq: *mut ibv_cq_ex) -> u32>,
    /// Service level; UD.
    pub read_sl: Option<unsafe extern "C" fn(cq: *mut ibv_cq_ex) -> u8>,
    /// Path bits of the destination LID; UD.
    pub read_dlid_path_bits: Option<unsafe extern "C" fn(cq: *mut ibv_cq_ex) -> u8>,
    /// Time of completion in ticks of the device clock, `ibv_device_attr_ex::hca_core_clock`; only
    /// the bits of `completion_timestamp_mask` count.
    pub read_completion_ts: Option<unsafe extern "C" fn(cq: *mut ibv_cq_ex) -> u64>,
    /// Customer VLAN tag of the packet.
    pub read_cvlan: Option<unsafe extern "C" fn(cq: *mut ibv_cq_ex) -> u16>,
    /// Tag set by the flow rule that matched, `ibv_flow_spec_action_tag`.
    pub read_flow_tag: Option<unsafe extern "C" fn(cq: *mut ibv_cq_ex) -> u32>,
    /// Tag and context of a tag matching message.
    pub read_tm_info:
        Option<unsafe extern "C" fn(cq: *mut ibv_cq_ex, tm_info: *mut ibv_wc_tm_info)>,
    /// Time of completion in nanoseconds of the system's real-time clock.
    pub read_completion_wallclock_ns: Option<unsafe extern "C" fn(cq: *mut ibv_cq_ex) -> u64>,
}

/// Bits of `ibv_modify_cq_attr::attr_mask`.
pub type ibv_cq_attr_mask = c_uint;
/// `moderate`.
pub const IBV_CQ_ATTR_MODERATE: ibv_cq_attr_mask = 1 << 0;
/// First undefined bit.
pub const IBV_CQ_ATTR_RESERVED: ibv_cq_attr_mask = 1 << 1;

/// Moderation: one event for several completions. Limits in `ibv_cq_moderation_caps`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_moderate_cq {
    /// Completions per event.
    pub cq_count: u16,
    /// Longest delay of an event in microseconds.
    pub cq_period: u16,
}

/// Argument of `ibv_modify_cq(3)`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_modify_cq_attr {
    /// Which members are set, see `ibv_cq_attr_mask`.
    pub attr_mask: u32,
    /// Event moderation.
    pub moderate: ibv_moderate_cq,
}

// ---- Work completions.

/// Outcome of a work request. After a failure the QP is, as a rule, in an error state.
pub type ibv_wc_status = c_uint;
/// Done; on RC the peer has acknowledged it.
pub const IBV_WC_SUCCESS: ibv_wc_status = 0;
/// Message longer than the receive, or longer than the device or path allows.
pub const IBV_WC_LOC_LEN_ERR: ibv_wc_status = 1;
/// Request that the QP cannot execute, or internal QP inconsistency.
pub const IBV_WC_LOC_QP_OP_ERR: ibv_wc_status = 2;
/// End-to-end context inconsistency; reliable datagram only.
pub const IBV_WC_LOC_EEC_OP_ERR: ibv_wc_status = 3;
/// Scatter/gather entry not covered by a valid region with the needed rights.
pub const IBV_WC_LOC_PROT_ERR: ibv_wc_status = 4;
/// Not executed: the QP had entered an error state before.
pub const IBV_WC_WR_FLUSH_ERR: ibv_wc_status = 5;
/// Memory window bind refused.
pub const IBV_WC_MW_BIND_ERR: ibv_wc_status = 6;
/// The peer's answer was not one to this request.
pub const IBV_WC_BAD_RESP_ERR: ibv_wc_status = 7;
/// Protection error on local memory while an RDMA write with immediate arrived.
pub const IBV_WC_LOC_ACCESS_ERR: ibv_wc_status = 8;
/// The peer refused the request: not allowed on its QP, too long for its receive, or malformed.
pub const IBV_WC_REM_INV_REQ_ERR: ibv_wc_status = 9;
/// The peer's memory refused it: key, range or rights of the remote address.
pub const IBV_WC_REM_ACCESS_ERR: ibv_wc_status = 10;
/// The peer could not complete it, for example for an error in its own receive.
pub const IBV_WC_REM_OP_ERR: ibv_wc_status = 11;
/// No acknowledgement after `timeout` and `retry_cnt`: peer gone, QP not ready, or path broken.
pub const IBV_WC_RETRY_EXC_ERR: ibv_wc_status = 12;
/// The peer had no receive posted for longer than `rnr_retry` allows.
pub const IBV_WC_RNR_RETRY_EXC_ERR: ibv_wc_status = 13;
/// Reliable datagram domain mismatch; reliable datagram only.
pub const IBV_WC_LOC_RDD_VIOL_ERR: ibv_wc_status = 14;
/// Invalid reliable datagram request; reliable datagram only.
pub const IBV_WC_REM_INV_RD_REQ_ERR: ibv_wc_status = 15;
/// The peer aborted the operation.
pub const IBV_WC_REM_ABORT_ERR: ibv_wc_status = 16;
/// Invalid end-to-end context number; reliable datagram only.
pub const IBV_WC_INV_EECN_ERR: ibv_wc_status = 17;
/// Invalid end-to-end context state; reliable datagram only.
pub const IBV_WC_INV_EEC_STATE_ERR: ibv_wc_status = 18;
/// Fatal transport error.
pub const IBV_WC_FATAL_ERR: ibv_wc_status = 19;
/// The response did not come in time.
pub const IBV_WC_RESP_TIMEOUT_ERR: ibv_wc_status = 20;
/// Any other error; see `vendor_err`.
pub const IBV_WC_GENERAL_ERR: ibv_wc_status = 21;
/// Tag list operation failed, for example removal of an entry that a message has just taken.
pub const IBV_WC_TM_ERR: ibv_wc_status = 22;
/// Rendezvous left for software to finish: the data has not been fetched.
pub const IBV_WC_TM_RNDV_INCOMPLETE: ibv_wc_status = 23;

/// Operation of a completion; valid with `IBV_WC_SUCCESS`. Receives have the bit of `IBV_WC_RECV`.
pub type ibv_wc_opcode = c_uint;
/// Send, with or without immediate or invalidation.
pub const IBV_WC_SEND: ibv_wc_opcode = 0;
/// RDMA write, with or without immediate.
pub const IBV_WC_RDMA_WRITE: ibv_wc_opcode = 1;
/// RDMA read.
pub const IBV_WC_RDMA_READ: ibv_wc_opcode = 2;
/// Compare and swap.
pub const IBV_WC_COMP_SWAP: ibv_wc_opcode = 3;
/// Fetch and add.
pub const IBV_WC_FETCH_ADD: ibv_wc_opcode = 4;
/// Memory window bind.
pub const IBV_WC_BIND_MW: ibv_wc_opcode = 5;
/// Local invalidation.
pub const IBV_WC_LOCAL_INV: ibv_wc_opcode = 6;
/// Segmented send.
pub const IBV_WC_TSO: ibv_wc_opcode = 7;
/// Remote flush.
pub const IBV_WC_FLUSH: ibv_wc_opcode = 8;
/// Atomic write.
pub const IBV_WC_ATOMIC_WRITE: ibv_wc_opcode = 9;
/// Receive of a send.
pub const IBV_WC_RECV: ibv_wc_opcode = 1 << 7;
/// Receive consumed by an RDMA write with immediate; its memory is untouched.
pub const IBV_WC_RECV_RDMA_WITH_IMM: ibv_wc_opcode = 129;
/// Tag added to the list.
pub const IBV_WC_TM_ADD: ibv_wc_opcode = 130;
/// Tag removed from the list.
pub const IBV_WC_TM_DEL: ibv_wc_opcode = 131;
/// Tag list synchronised.
pub const IBV_WC_TM_SYNC: ibv_wc_opcode = 132;
/// Message received on a tag matching SRQ that carried a tag.
pub const IBV_WC_TM_RECV: ibv_wc_opcode = 133;
/// Message received on a tag matching SRQ without a tag.
pub const IBV_WC_TM_NO_TAG: ibv_wc_opcode = 134;
/// Defined by the provider.
pub const IBV_WC_DRIVER1: ibv_wc_opcode = 135;
/// Defined by the provider.
pub const IBV_WC_DRIVER2: ibv_wc_opcode = 136;
/// Defined by the provider.
pub const IBV_WC_DRIVER3: ibv_wc_opcode = 137;

/// Bit number of `IBV_WC_IP_CSUM_OK`.
pub const IBV_WC_IP_CSUM_OK_SHIFT: c_uint = 2;

/// Bits of `ibv_wc::wc_flags`; valid with `IBV_WC_SUCCESS`.
pub type ibv_wc_flags = c_uint;
/// The first 40 bytes of the receive hold the global route header; UD.
pub const IBV_WC_GRH: ibv_wc_flags = 1 << 0;
/// `imm_data` is set.
pub const IBV_WC_WITH_IMM: ibv_wc_flags = 1 << 1;
/// The device has checked the IPv4 and TCP or UDP checksums, and they are right.
pub const IBV_WC_IP_CSUM_OK: ibv_wc_flags = 1 << IBV_WC_IP_CSUM_OK_SHIFT;
/// `invalidated_rkey` is set: the sender invalidated it.
pub const IBV_WC_WITH_INV: ibv_wc_flags = 1 << 3;
/// The tag matching SRQ asks for an `IBV_WR_TAG_SYNC`.
pub const IBV_WC_TM_SYNC_REQ: ibv_wc_flags = 1 << 4;
/// The message has taken a tag list entry; its data may come in a later completion.
pub const IBV_WC_TM_MATCH: ibv_wc_flags = 1 << 5;
/// All data of the message is in the entry's memory.
pub const IBV_WC_TM_DATA_VALID: ibv_wc_flags = 1 << 6;

/// Word that came with a message; anonymous union in C. `wc_flags` says which.
#[repr(C)]
#[derive(Clone, Copy)]
pub union ibv_wc_imm {
    /// Immediate data, network byte order.
    pub imm_data: __be32,
    /// Local key that the sender invalidated, host byte order.
    pub invalidated_rkey: u32,
}

/// A completion from `ibv_poll_cq(3)`. After an error only `wr_id`, `status`, `qp_num` and
/// `vendor_err` are valid.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_wc {
    /// Value given with the work request.
    pub wr_id: u64,
    /// Outcome.
    pub status: ibv_wc_status,
    /// Operation.
    pub opcode: ibv_wc_opcode,
    /// Vendor's error code; its meaning depends on the device.
    pub vendor_err: u32,
    /// Bytes received, read or fetched; not set for sends and writes. On UD the 40 bytes kept for
    /// the GRH count.
    pub byte_len: u32,
    /// Immediate data or invalidated key.
    pub imm: ibv_wc_imm,
    /// Number of the local QP; tells the QPs of an SRQ apart.
    pub qp_num: u32,
    /// QP number of the sender; UD.
    pub src_qp: u32,
    /// See `ibv_wc_flags`.
    pub wc_flags: c_uint,
    /// P_Key index; QP 1 only.
    pub pkey_index: u16,
    /// LID of the sender, host byte order; UD.
    pub slid: u16,
    /// Service level; UD.
    pub sl: u8,
    /// Low bits of the LID it was sent to, within the port's LMC; UD, not with multicast.
    pub dlid_path_bits: u8,
}

/// Header fields of a tag matching message, from `ibv_wc_read_tm_info`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_wc_tm_info {
    /// Tag.
    pub tag: u64,
    /// Application context, `ibv_tmh::app_ctx`; `priv` in C.
    pub priv_: u32,
}

plain! {
    ibv_comp_channel, ibv_cq, ibv_cq_init_attr_ex, ibv_poll_cq_attr, ibv_cq_ex, ibv_moderate_cq,
    ibv_modify_cq_attr, ibv_wc_imm, ibv_wc, ibv_wc_tm_info
}
