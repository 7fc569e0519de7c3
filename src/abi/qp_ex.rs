//! The extended QP: posting send requests by function calls (`infiniband/verbs.h`,
//! `ibv_wr_post(3)`).

use core::ffi::{c_int, c_uint, c_void};

use crate::abi::*;

/// Operations asked for with `ibv_qp_init_attr_ex::send_ops_flags`; only these may be posted
/// through `ibv_qp_ex`.
pub type ibv_qp_create_send_ops_flags = c_uint;
/// `wr_rdma_write`.
pub const IBV_QP_EX_WITH_RDMA_WRITE: ibv_qp_create_send_ops_flags = 1 << 0;
/// `wr_rdma_write_imm`.
pub const IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM: ibv_qp_create_send_ops_flags = 1 << 1;
/// `wr_send`.
pub const IBV_QP_EX_WITH_SEND: ibv_qp_create_send_ops_flags = 1 << 2;
/// `wr_send_imm`.
pub const IBV_QP_EX_WITH_SEND_WITH_IMM: ibv_qp_create_send_ops_flags = 1 << 3;
/// `wr_rdma_read`.
pub const IBV_QP_EX_WITH_RDMA_READ: ibv_qp_create_send_ops_flags = 1 << 4;
/// `wr_atomic_cmp_swp`.
pub const IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP: ibv_qp_create_send_ops_flags = 1 << 5;
/// `wr_atomic_fetch_add`.
pub const IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD: ibv_qp_create_send_ops_flags = 1 << 6;
/// `wr_local_inv`.
pub const IBV_QP_EX_WITH_LOCAL_INV: ibv_qp_create_send_ops_flags = 1 << 7;
/// `wr_bind_mw`.
pub const IBV_QP_EX_WITH_BIND_MW: ibv_qp_create_send_ops_flags = 1 << 8;
/// `wr_send_inv`.
pub const IBV_QP_EX_WITH_SEND_WITH_INV: ibv_qp_create_send_ops_flags = 1 << 9;
/// `wr_send_tso`.
pub const IBV_QP_EX_WITH_TSO: ibv_qp_create_send_ops_flags = 1 << 10;
/// `wr_flush`.
pub const IBV_QP_EX_WITH_FLUSH: ibv_qp_create_send_ops_flags = 1 << 11;
/// `wr_atomic_write`.
pub const IBV_QP_EX_WITH_ATOMIC_WRITE: ibv_qp_create_send_ops_flags = 1 << 12;

/// How much `wr_flush` flushes (IBTA, memory placement extensions).
pub type ibv_selectivity_level = c_uint;
/// The given range.
pub const IBV_FLUSH_RANGE: ibv_selectivity_level = 0;
/// The whole memory region of the key; the range is ignored.
pub const IBV_FLUSH_MR: ibv_selectivity_level = 1;

/// What a flush guarantees when it completes.
pub type ibv_placement_type = c_uint;
/// The data is visible to everything on the peer's host.
pub const IBV_FLUSH_GLOBAL: ibv_placement_type = 1 << 0;
/// The data is in persistent memory.
pub const IBV_FLUSH_PERSISTENT: ibv_placement_type = 1 << 1;

/// A QP whose send queue is filled by calls; from `ibv_qp_to_qp_ex(3)`, NULL for a QP made without
/// `IBV_QP_INIT_ATTR_SEND_OPS_FLAGS`.
///
/// The order is `wr_start`, then for each request `wr_id` and `wr_flags`, one builder and its
/// setters, then `wr_complete`. The provider sets the pointers; those of operations not asked for
/// may be NULL. Errors surface in `wr_complete` only.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_qp_ex {
    /// The QP itself.
    pub qp_base: ibv_qp,
    /// No bits are defined.
    pub comp_mask: u64,
    /// Set by the caller before a builder: returned in the completion.
    pub wr_id: u64,
    /// Set by the caller before a builder: `ibv_send_flags`, without `IBV_SEND_INLINE`.
    pub wr_flags: c_uint,
    /// Builder: compare and swap 8 bytes.
    pub wr_atomic_cmp_swp: Option<
        unsafe extern "C" fn(
            qp: *mut ibv_qp_ex,
            rkey: u32,
            remote_addr: u64,
            compare: u64,
            swap: u64,
        ),
    >,
    /// Builder: fetch and add 8 bytes.
    pub wr_atomic_fetch_add:
        Option<unsafe extern "C" fn(qp: *mut ibv_qp_ex, rkey: u32, remote_addr: u64, add: u64)>,
    /// Builder: bind a type 2 window and give it `rkey`; no data.
    pub wr_bind_mw: Option<
        unsafe extern "C" fn(
            qp: *mut ibv_qp_ex,
            mw: *mut ibv_mw,
            rkey: u32,
            bind_info: *const ibv_mw_bind_info,
        ),
    >,
    /// Builder: invalidate an own key; no data.
    pub wr_local_inv: Option<unsafe extern "C" fn(qp: *mut ibv_qp_ex, invalidate_rkey: u32)>,
    /// Builder: read into the memory set afterwards.
    pub wr_rdma_read: Option<unsafe extern "C" fn(qp: *mut ibv_qp_ex, rkey: u32, remote_addr: u64)>,
    /// Builder: write the memory set afterwards.
    pub wr_rdma_write:
        Option<unsafe extern "C" fn(qp: *mut ibv_qp_ex, rkey: u32, remote_addr: u64)>,
    /// Builder: write with immediate data, network byte order.
    pub wr_rdma_write_imm: Option<
        unsafe extern "C" fn(qp: *mut ibv_qp_ex, rkey: u32, remote_addr: u64, imm_data: __be32),
    >,
    /// Builder: send the memory set afterwards.
    pub wr_send: Option<unsafe extern "C" fn(qp: *mut ibv_qp_ex)>,
    /// Builder: send with immediate data, network byte order.
    pub wr_send_imm: Option<unsafe extern "C" fn(qp: *mut ibv_qp_ex, imm_data: __be32)>,
    /// Builder: send, and invalidate a key at the peer.
    pub wr_send_inv: Option<unsafe extern "C" fn(qp: *mut ibv_qp_ex, invalidate_rkey: u32)>,
    /// Builder: segment a TCP stream; lengths in bytes.
    pub wr_send_tso:
        Option<unsafe extern "C" fn(qp: *mut ibv_qp_ex, hdr: *mut c_void, hdr_sz: u16, mss: u16)>,
    /// Setter, needed on a UD QP: destination.
    pub wr_set_ud_addr: Option<
        unsafe extern "C" fn(
            qp: *mut ibv_qp_ex,
            ah: *mut ibv_ah,
            remote_qpn: u32,
            remote_qkey: u32,
        ),
    >,
    /// Setter, needed on an XRC_SEND QP: destination SRQ.
    pub wr_set_xrc_srqn: Option<unsafe extern "C" fn(qp: *mut ibv_qp_ex, remote_srqn: u32)>,
    /// Setter: copy one piece of data into the request.
    pub wr_set_inline_data:
        Option<unsafe extern "C" fn(qp: *mut ibv_qp_ex, addr: *mut c_void, length: usize)>,
    /// Setter: copy several pieces of data.
    pub wr_set_inline_data_list: Option<
        unsafe extern "C" fn(qp: *mut ibv_qp_ex, num_buf: usize, buf_list: *const ibv_data_buf),
    >,
    /// Setter: one piece of registered memory.
    pub wr_set_sge:
        Option<unsafe extern "C" fn(qp: *mut ibv_qp_ex, lkey: u32, addr: u64, length: u32)>,
    /// Setter: a scatter/gather list.
    pub wr_set_sge_list:
        Option<unsafe extern "C" fn(qp: *mut ibv_qp_ex, num_sge: usize, sg_list: *const ibv_sge)>,
    /// Begin a batch; takes the lock of the send queue, if it has one.
    pub wr_start: Option<unsafe extern "C" fn(qp: *mut ibv_qp_ex)>,
    /// End the batch and hand it to the device. Returns 0, or an errno value if any call of the
    /// batch failed; then nothing of it is posted.
    pub wr_complete: Option<unsafe extern "C" fn(qp: *mut ibv_qp_ex) -> c_int>,
    /// End the batch and drop it.
    pub wr_abort: Option<unsafe extern "C" fn(qp: *mut ibv_qp_ex)>,
    /// Builder: write 8 bytes from `atomic_wr` in one piece.
    pub wr_atomic_write: Option<
        unsafe extern "C" fn(
            qp: *mut ibv_qp_ex,
            rkey: u32,
            remote_addr: u64,
            atomic_wr: *const c_void,
        ),
    >,
    /// Builder: flush remote memory: an `ibv_placement_type` and an `ibv_selectivity_level`; no
    /// data.
    pub wr_flush: Option<
        unsafe extern "C" fn(
            qp: *mut ibv_qp_ex,
            rkey: u32,
            remote_addr: u64,
            len: usize,
            type_: u8,
            level: u8,
        ),
    >,
}

plain! {
    ibv_qp_ex
}
