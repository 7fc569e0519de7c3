//! Posting through the kernel: for devices whose queues user space does not reach.
//!
//! A request is followed by its work requests and then by all their scatter/gather entries.

use crate::abi::*;

/// The kernel's `ibv_sge`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_sge {
    /// First byte.
    pub addr: u64,
    /// Length in bytes.
    pub length: u32,
    /// Local key.
    pub lkey: u32,
}

/// Word that travels with the message.
#[repr(C)]
#[derive(Clone, Copy)]
pub union ib_uverbs_send_wr_ex {
    /// Immediate data, network byte order.
    pub imm_data: u32,
    /// Key to invalidate.
    pub invalidate_rkey: u32,
}

/// Remote memory of an RDMA read or write.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_send_wr_wr_rdma {
    /// First remote byte.
    pub remote_addr: u64,
    /// Remote key.
    pub rkey: u32,
    /// 0.
    pub reserved: u32,
}

/// Remote memory and operands of an atomic.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_send_wr_wr_atomic {
    /// Remote address.
    pub remote_addr: u64,
    /// Value to compare with, or to add.
    pub compare_add: u64,
    /// New value if the comparison holds.
    pub swap: u64,
    /// Remote key.
    pub rkey: u32,
    /// 0.
    pub reserved: u32,
}

/// Destination of a datagram.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_send_wr_wr_ud {
    /// Address handle.
    pub ah: u32,
    /// QP number of the receiver.
    pub remote_qpn: u32,
    /// Q_Key to send.
    pub remote_qkey: u32,
    /// 0.
    pub reserved: u32,
}

/// Where a send request goes.
#[repr(C)]
#[derive(Clone, Copy)]
pub union ib_uverbs_send_wr_wr {
    /// RDMA reads and writes.
    pub rdma: ib_uverbs_send_wr_wr_rdma,
    /// Atomics.
    pub atomic: ib_uverbs_send_wr_wr_atomic,
    /// Everything on a UD QP.
    pub ud: ib_uverbs_send_wr_wr_ud,
}

/// The kernel's `ibv_send_wr`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_send_wr {
    /// The caller's value.
    pub wr_id: u64,
    /// Scatter/gather entries of this request.
    pub num_sge: u32,
    /// One of `ib_uverbs_wr_opcode`.
    pub opcode: u32,
    /// See `ibv_send_flags`.
    pub send_flags: u32,
    /// Immediate data or key.
    pub ex: ib_uverbs_send_wr_ex,
    /// Destination.
    pub wr: ib_uverbs_send_wr_wr,
}

/// POST_SEND.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_post_send {
    /// Address of the answer.
    pub response: u64,
    /// QP.
    pub qp_handle: u32,
    /// Work requests.
    pub wr_count: u32,
    /// Scatter/gather entries of all of them.
    pub sge_count: u32,
    /// Bytes of a work request.
    pub wqe_size: u32,
    /// The work requests.
    pub send_wr: [ib_uverbs_send_wr; 0],
}

/// Answer to POST_SEND.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_post_send_resp {
    /// First work request that was not posted, counted from 1; 0: all were.
    pub bad_wr: u32,
}

/// The kernel's `ibv_recv_wr`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_recv_wr {
    /// The caller's value.
    pub wr_id: u64,
    /// Scatter/gather entries of this request.
    pub num_sge: u32,
    /// 0.
    pub reserved: u32,
}

/// POST_RECV.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_post_recv {
    /// Address of the answer.
    pub response: u64,
    /// QP.
    pub qp_handle: u32,
    /// Work requests.
    pub wr_count: u32,
    /// Scatter/gather entries of all of them.
    pub sge_count: u32,
    /// Bytes of a work request.
    pub wqe_size: u32,
    /// The work requests.
    pub recv_wr: [ib_uverbs_recv_wr; 0],
}

/// Answer to POST_RECV.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_post_recv_resp {
    /// First work request that was not posted, counted from 1; 0: all were.
    pub bad_wr: u32,
}

/// POST_SRQ_RECV.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_post_srq_recv {
    /// Address of the answer.
    pub response: u64,
    /// SRQ.
    pub srq_handle: u32,
    /// Work requests.
    pub wr_count: u32,
    /// Scatter/gather entries of all of them.
    pub sge_count: u32,
    /// Bytes of a work request.
    pub wqe_size: u32,
    /// The work requests.
    pub recv: [ib_uverbs_recv_wr; 0],
}

/// Answer to POST_SRQ_RECV.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_post_srq_recv_resp {
    /// First work request that was not posted, counted from 1; 0: all were.
    pub bad_wr: u32,
}

plain! {
    ib_uverbs_sge, ib_uverbs_send_wr_ex, ib_uverbs_send_wr_wr_rdma, ib_uverbs_send_wr_wr_atomic,
    ib_uverbs_send_wr_wr_ud, ib_uverbs_send_wr_wr, ib_uverbs_send_wr, ib_uverbs_post_send,
    ib_uverbs_post_send_resp, ib_uverbs_recv_wr, ib_uverbs_post_recv, ib_uverbs_post_recv_resp,
    ib_uverbs_post_srq_recv, ib_uverbs_post_srq_recv_resp
}
