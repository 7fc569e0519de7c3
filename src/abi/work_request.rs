//! Work requests: what is posted to send, receive and shared receive queues (`infiniband/verbs.h`).

use core::ffi::{c_int, c_uint, c_void};

use crate::abi::*;

/// A piece of local memory, element of a scatter/gather list. A message is the concatenation of its
/// list.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_sge {
    /// First byte: a virtual address, or the offset in a zero based region.
    pub addr: u64,
    /// Length in bytes, at most 2^31.
    pub length: u32,
    /// Local key of the region that contains it; not looked at in an inline send.
    pub lkey: u32,
}

/// A piece of memory copied at once, for `ibv_wr_set_inline_data_list(3)`; needs no registration.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_data_buf {
    /// First byte.
    pub addr: *mut c_void,
    /// Length in bytes.
    pub length: usize,
}

// ---- Sending.

/// Operation of a send request, `ibv_post_send(3)`. The QP types that allow it stand in brackets;
/// XRC_SEND is like RC.
pub type ibv_wr_opcode = c_uint;
/// Write local memory to remote memory (RC, UC).
pub const IBV_WR_RDMA_WRITE: ibv_wr_opcode = 0;
/// Write, and consume a receive of the peer, whose completion has the immediate data (RC, UC).
pub const IBV_WR_RDMA_WRITE_WITH_IMM: ibv_wr_opcode = 1;
/// Send a message into a receive of the peer (all).
pub const IBV_WR_SEND: ibv_wr_opcode = 2;
/// Send with 32 bits of immediate data (RC, UC, UD).
pub const IBV_WR_SEND_WITH_IMM: ibv_wr_opcode = 3;
/// Read remote memory into local memory (RC).
pub const IBV_WR_RDMA_READ: ibv_wr_opcode = 4;
/// Compare and swap 8 bytes of remote memory (RC).
pub const IBV_WR_ATOMIC_CMP_AND_SWP: ibv_wr_opcode = 5;
/// Fetch and add 8 bytes of remote memory (RC).
pub const IBV_WR_ATOMIC_FETCH_AND_ADD: ibv_wr_opcode = 6;
/// Invalidate an own key of a type 2 window (RC, UC).
pub const IBV_WR_LOCAL_INV: ibv_wr_opcode = 7;
/// Bind a type 2 memory window (RC, UC).
pub const IBV_WR_BIND_MW: ibv_wr_opcode = 8;
/// Send, and invalidate a key at the peer (RC, UC).
pub const IBV_WR_SEND_WITH_INV: ibv_wr_opcode = 9;
/// Send a TCP stream cut into segments by the device (UD, RAW_PACKET).
pub const IBV_WR_TSO: ibv_wr_opcode = 10;
/// Reserved for an operation of the provider.
pub const IBV_WR_DRIVER1: ibv_wr_opcode = 11;
/// Flush remote memory to a placement domain (RC); through `ibv_qp_ex` only.
pub const IBV_WR_FLUSH: ibv_wr_opcode = 14;
/// Write 8 bytes of remote memory in one piece (RC); through `ibv_qp_ex` only.
pub const IBV_WR_ATOMIC_WRITE: ibv_wr_opcode = 15;

/// Bits of `ibv_send_wr::send_flags` and `ibv_qp_ex::wr_flags`.
pub type ibv_send_flags = c_uint;
/// Start only when all earlier RDMA reads and atomics of the QP have completed; RC.
pub const IBV_SEND_FENCE: ibv_send_flags = 1 << 0;
/// Write a completion on success too; for a QP without `sq_sig_all`.
pub const IBV_SEND_SIGNALED: ibv_send_flags = 1 << 1;
/// Raise the peer's completion event even if it waits for solicited ones only; send and RDMA write
/// with immediate.
pub const IBV_SEND_SOLICITED: ibv_send_flags = 1 << 2;
/// Copy the data while posting: buffers may be reused at once, keys are not looked at; send and
/// RDMA write of up to `max_inline_data` bytes.
pub const IBV_SEND_INLINE: ibv_send_flags = 1 << 3;
/// Let the device fill in IPv4 and TCP or UDP checksums; UD and raw packet, where the device has
/// `IBV_DEVICE_UD_IP_CSUM` or `IBV_DEVICE_RAW_IP_CSUM`.
pub const IBV_SEND_IP_CSUM: ibv_send_flags = 1 << 4;

/// Word that travels with the message; anonymous union in C.
#[repr(C)]
#[derive(Clone, Copy)]
pub union ibv_wr_imm {
    /// Immediate data of the `_WITH_IMM` operations, network byte order.
    pub imm_data: __be32,
    /// Key to invalidate: at the peer with `IBV_WR_SEND_WITH_INV`, locally with `IBV_WR_LOCAL_INV`.
    pub invalidate_rkey: u32,
}

/// Remote memory of an RDMA read or write.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_send_wr_wr_rdma {
    /// First remote byte: address or offset that the remote key is based on.
    pub remote_addr: u64,
    /// Remote key.
    pub rkey: u32,
}

/// Remote memory and operands of an atomic. The old value goes to the 8 bytes of `sg_list`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_send_wr_wr_atomic {
    /// Remote address, a multiple of 8.
    pub remote_addr: u64,
    /// Value to compare with, or to add.
    pub compare_add: u64,
    /// New value if the comparison holds; compare and swap only.
    pub swap: u64,
    /// Remote key.
    pub rkey: u32,
}

/// Destination of a datagram.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_send_wr_wr_ud {
    /// Address handle of the path, made in the QP's protection domain.
    pub ah: *mut ibv_ah,
    /// QP number of the receiver, 24 bits, host byte order.
    pub remote_qpn: u32,
    /// Q_Key to send, host byte order; with the top bit set the QP's own Q_Key is sent instead.
    pub remote_qkey: u32,
}

/// Where a send request goes, by opcode and QP type.
#[repr(C)]
#[derive(Clone, Copy)]
pub union ibv_send_wr_wr {
    /// RDMA reads and writes.
    pub rdma: ibv_send_wr_wr_rdma,
    /// Atomics.
    pub atomic: ibv_send_wr_wr_atomic,
    /// Everything on a UD QP.
    pub ud: ibv_send_wr_wr_ud,
}

/// Destination of a request on an XRC_SEND QP.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_send_wr_qp_type_xrc {
    /// Number of the peer's XRC SRQ, from `ibv_get_srq_num(3)`.
    pub remote_srqn: u32,
}

/// What the QP type adds to a send request.
#[repr(C)]
#[derive(Clone, Copy)]
pub union ibv_send_wr_qp_type {
    /// XRC_SEND QPs, operations that consume a receive.
    pub xrc: ibv_send_wr_qp_type_xrc,
}

/// Operands of `IBV_WR_BIND_MW`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_send_wr_bind_mw {
    /// Type 2 memory window.
    pub mw: *mut ibv_mw,
    /// New remote key: the window's key with another low byte, `ibv_inc_rkey(3)`.
    pub rkey: u32,
    /// Range and rights.
    pub bind_info: ibv_mw_bind_info,
}

/// Operands of `IBV_WR_TSO`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_send_wr_tso {
    /// Headers up to and including TCP, put in front of every segment.
    pub hdr: *mut c_void,
    /// Length of `hdr` in bytes, at most `max_tso_header` of the QP.
    pub hdr_sz: u16,
    /// Payload bytes per segment.
    pub mss: u16,
}

/// Operands of the remaining operations; anonymous union in C.
#[repr(C)]
#[derive(Clone, Copy)]
pub union ibv_send_wr_op {
    /// `IBV_WR_BIND_MW`.
    pub bind_mw: ibv_send_wr_bind_mw,
    /// `IBV_WR_TSO`.
    pub tso: ibv_send_wr_tso,
}

/// A send request, element of the list given to `ibv_post_send(3)`. The provider reads it during
/// the call only; the memory it names must stay until the completion.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_send_wr {
    /// The caller's value, returned in the completion.
    pub wr_id: u64,
    /// Next request, or NULL.
    pub next: *mut ibv_send_wr,
    /// Local memory: source, or target of a read or atomic.
    pub sg_list: *mut ibv_sge,
    /// Elements of `sg_list`, at most `max_send_sge` of the QP.
    pub num_sge: c_int,
    /// Operation.
    pub opcode: ibv_wr_opcode,
    /// See `ibv_send_flags`.
    pub send_flags: c_uint,
    /// Immediate data or key to invalidate.
    pub imm: ibv_wr_imm,
    /// Destination.
    pub wr: ibv_send_wr_wr,
    /// XRC destination.
    pub qp_type: ibv_send_wr_qp_type,
    /// Operands of bind and segmentation requests.
    pub op: ibv_send_wr_op,
}

// ---- Receiving.

/// A receive request, element of the list given to `ibv_post_recv(3)`, `ibv_post_srq_recv(3)` or
/// `ibv_post_wq_recv`. On a UD QP the first 40 bytes are kept for the GRH.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_recv_wr {
    /// The caller's value, returned in the completion.
    pub wr_id: u64,
    /// Next request, or NULL.
    pub next: *mut ibv_recv_wr,
    /// Memory to fill.
    pub sg_list: *mut ibv_sge,
    /// Elements of `sg_list`, at most `max_recv_sge` of the queue.
    pub num_sge: c_int,
}

plain! {
    ibv_sge, ibv_data_buf, ibv_wr_imm, ibv_send_wr_wr_rdma, ibv_send_wr_wr_atomic,
    ibv_send_wr_wr_ud, ibv_send_wr_wr, ibv_send_wr_qp_type_xrc, ibv_send_wr_qp_type,
    ibv_send_wr_bind_mw, ibv_send_wr_tso, ibv_send_wr_op, ibv_send_wr, ibv_recv_wr
}
