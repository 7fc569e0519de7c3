//! Objects of the `IBVERBS_1.0` interface, as programs built before libibverbs 1.1 know them.
//!
//! Each is a wrapper: the members such a program may read, and a pointer to the object of today.
//! The functions are in `crate::compat`.

use core::ffi::{c_int, c_void};

use libc::{pthread_cond_t, pthread_mutex_t};

use crate::abi::*;

/// A device.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_device_1_0 {
    /// NULL.
    pub obsolete_sysfs_dev: *mut c_void,
    /// NULL.
    pub obsolete_sysfs_ibdev: *mut c_void,
    /// The device of today.
    pub real_device: *mut ibv_device,
    /// Unused.
    pub _ops: _ibv_device_ops,
}

/// An open device.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_context_1_0 {
    /// Wrapper of the device.
    pub device: *mut ibv_device_1_0,
    /// Functions behind the inline verbs of that time.
    pub ops: ibv_context_ops_1_0,
    /// Descriptor of the device file for commands.
    pub cmd_fd: c_int,
    /// Descriptor of asynchronous events.
    pub async_fd: c_int,
    /// Interrupt vectors that CQs can choose from.
    pub num_comp_vectors: c_int,
    /// The context of today.
    pub real_context: *mut ibv_context,
}

/// Functions behind the inline verbs of that time: only `poll_cq`, `req_notify_cq` and the three
/// posts were called.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_context_ops_1_0 {
    /// `ibv_query_device(3)`.
    pub query_device: Option<
        unsafe extern "C" fn(context: *mut ibv_context, device_attr: *mut ibv_device_attr) -> c_int,
    >,
    /// `ibv_query_port(3)`.
    pub query_port: Option<
        unsafe extern "C" fn(
            context: *mut ibv_context,
            port_num: u8,
            port_attr: *mut ibv_port_attr,
        ) -> c_int,
    >,
    /// `ibv_alloc_pd(3)`.
    pub alloc_pd: Option<unsafe extern "C" fn(context: *mut ibv_context) -> *mut ibv_pd>,
    /// `ibv_dealloc_pd(3)`.
    pub dealloc_pd: Option<unsafe extern "C" fn(pd: *mut ibv_pd) -> c_int>,
    /// `ibv_reg_mr(3)`.
    pub reg_mr: Option<
        unsafe extern "C" fn(
            pd: *mut ibv_pd,
            addr: *mut c_void,
            length: usize,
            access: c_int,
        ) -> *mut ibv_mr,
    >,
    /// `ibv_dereg_mr(3)`.
    pub dereg_mr: Option<unsafe extern "C" fn(mr: *mut ibv_mr) -> c_int>,
    /// `ibv_create_cq(3)`.
    pub create_cq: Option<
        unsafe extern "C" fn(
            context: *mut ibv_context,
            cqe: c_int,
            channel: *mut ibv_comp_channel,
            comp_vector: c_int,
        ) -> *mut ibv_cq,
    >,
    /// `ibv_poll_cq(3)`.
    pub poll_cq: Option<
        unsafe extern "C" fn(cq: *mut ibv_cq_1_0, num_entries: c_int, wc: *mut ibv_wc) -> c_int,
    >,
    /// `ibv_req_notify_cq(3)`.
    pub req_notify_cq:
        Option<unsafe extern "C" fn(cq: *mut ibv_cq_1_0, solicited_only: c_int) -> c_int>,
    /// Told of each completion event.
    pub cq_event: Option<unsafe extern "C" fn(cq: *mut ibv_cq)>,
    /// `ibv_resize_cq(3)`.
    pub resize_cq: Option<unsafe extern "C" fn(cq: *mut ibv_cq, cqe: c_int) -> c_int>,
    /// `ibv_destroy_cq(3)`.
    pub destroy_cq: Option<unsafe extern "C" fn(cq: *mut ibv_cq) -> c_int>,
    /// `ibv_create_srq(3)`.
    pub create_srq: Option<
        unsafe extern "C" fn(
            pd: *mut ibv_pd,
            srq_init_attr: *mut ibv_srq_init_attr,
        ) -> *mut ibv_srq,
    >,
    /// `ibv_modify_srq(3)`.
    pub modify_srq: Option<
        unsafe extern "C" fn(
            srq: *mut ibv_srq,
            srq_attr: *mut ibv_srq_attr,
            srq_attr_mask: c_int,
        ) -> c_int,
    >,
    /// `ibv_query_srq(3)`.
    pub query_srq:
        Option<unsafe extern "C" fn(srq: *mut ibv_srq, srq_attr: *mut ibv_srq_attr) -> c_int>,
    /// `ibv_destroy_srq(3)`.
    pub destroy_srq: Option<unsafe extern "C" fn(srq: *mut ibv_srq) -> c_int>,
    /// `ibv_post_srq_recv(3)`.
    pub post_srq_recv: Option<
        unsafe extern "C" fn(
            srq: *mut ibv_srq_1_0,
            recv_wr: *mut ibv_recv_wr_1_0,
            bad_recv_wr: *mut *mut ibv_recv_wr_1_0,
        ) -> c_int,
    >,
    /// `ibv_create_qp(3)`.
    pub create_qp:
        Option<unsafe extern "C" fn(pd: *mut ibv_pd, attr: *mut ibv_qp_init_attr) -> *mut ibv_qp>,
    /// `ibv_query_qp(3)`.
    pub query_qp: Option<
        unsafe extern "C" fn(
            qp: *mut ibv_qp,
            attr: *mut ibv_qp_attr,
            attr_mask: c_int,
            init_attr: *mut ibv_qp_init_attr,
        ) -> c_int,
    >,
    /// `ibv_modify_qp(3)`.
    pub modify_qp: Option<
        unsafe extern "C" fn(qp: *mut ibv_qp, attr: *mut ibv_qp_attr, attr_mask: c_int) -> c_int,
    >,
    /// `ibv_destroy_qp(3)`.
    pub destroy_qp: Option<unsafe extern "C" fn(qp: *mut ibv_qp) -> c_int>,
    /// `ibv_post_send(3)`.
    pub post_send: Option<
        unsafe extern "C" fn(
            qp: *mut ibv_qp_1_0,
            wr: *mut ibv_send_wr_1_0,
            bad_wr: *mut *mut ibv_send_wr_1_0,
        ) -> c_int,
    >,
    /// `ibv_post_recv(3)`.
    pub post_recv: Option<
        unsafe extern "C" fn(
            qp: *mut ibv_qp_1_0,
            wr: *mut ibv_recv_wr_1_0,
            bad_wr: *mut *mut ibv_recv_wr_1_0,
        ) -> c_int,
    >,
    /// `ibv_create_ah(3)`.
    pub create_ah:
        Option<unsafe extern "C" fn(pd: *mut ibv_pd, attr: *mut ibv_ah_attr) -> *mut ibv_ah>,
    /// `ibv_destroy_ah(3)`.
    pub destroy_ah: Option<unsafe extern "C" fn(ah: *mut ibv_ah) -> c_int>,
    /// `ibv_attach_mcast(3)`.
    pub attach_mcast:
        Option<unsafe extern "C" fn(qp: *mut ibv_qp, gid: *mut ibv_gid, lid: u16) -> c_int>,
    /// `ibv_detach_mcast(3)`.
    pub detach_mcast:
        Option<unsafe extern "C" fn(qp: *mut ibv_qp, gid: *mut ibv_gid, lid: u16) -> c_int>,
}

/// A protection domain.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_pd_1_0 {
    /// Wrapper of the context.
    pub context: *mut ibv_context_1_0,
    /// Kernel handle.
    pub handle: u32,
    /// The protection domain of today.
    pub real_pd: *mut ibv_pd,
}

/// A memory region.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_mr_1_0 {
    /// Wrapper of the context.
    pub context: *mut ibv_context_1_0,
    /// Wrapper of the protection domain.
    pub pd: *mut ibv_pd_1_0,
    /// Kernel handle.
    pub handle: u32,
    /// Local key.
    pub lkey: u32,
    /// Remote key.
    pub rkey: u32,
    /// The region of today.
    pub real_mr: *mut ibv_mr,
}

/// An address handle.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_ah_1_0 {
    /// Wrapper of the context.
    pub context: *mut ibv_context_1_0,
    /// Wrapper of the protection domain.
    pub pd: *mut ibv_pd_1_0,
    /// Kernel handle.
    pub handle: u32,
    /// The address handle of today.
    pub real_ah: *mut ibv_ah,
}

/// A completion queue.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_cq_1_0 {
    /// Wrapper of the context.
    pub context: *mut ibv_context_1_0,
    /// The caller's pointer.
    pub cq_context: *mut c_void,
    /// Kernel handle.
    pub handle: u32,
    /// Completions it can hold.
    pub cqe: c_int,
    /// Member of that time; not used.
    pub mutex: pthread_mutex_t,
    /// Member of that time; not used.
    pub cond: pthread_cond_t,
    /// Member of that time; not used.
    pub comp_events_completed: u32,
    /// Member of that time; not used.
    pub async_events_completed: u32,
    /// The CQ of today, which counts the events.
    pub real_cq: *mut ibv_cq,
}

/// A shared receive queue.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_srq_1_0 {
    /// Wrapper of the context.
    pub context: *mut ibv_context_1_0,
    /// The caller's pointer.
    pub srq_context: *mut c_void,
    /// Wrapper of the protection domain.
    pub pd: *mut ibv_pd_1_0,
    /// Kernel handle.
    pub handle: u32,
    /// Member of that time; not used.
    pub mutex: pthread_mutex_t,
    /// Member of that time; not used.
    pub cond: pthread_cond_t,
    /// Member of that time; not used.
    pub events_completed: u32,
    /// The SRQ of today, which counts the events.
    pub real_srq: *mut ibv_srq,
}

/// What to create; the members of `ibv_qp_init_attr` with wrappers.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_qp_init_attr_1_0 {
    /// The caller's pointer.
    pub qp_context: *mut c_void,
    /// CQ of the send queue.
    pub send_cq: *mut ibv_cq_1_0,
    /// CQ of the receive queue.
    pub recv_cq: *mut ibv_cq_1_0,
    /// Shared receive queue, or NULL.
    pub srq: *mut ibv_srq_1_0,
    /// Sizes.
    pub cap: ibv_qp_cap,
    /// Transport service.
    pub qp_type: ibv_qp_type,
    /// Non-zero: every send request completes with an entry in the CQ.
    pub sq_sig_all: c_int,
}

/// A queue pair.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_qp_1_0 {
    /// Wrapper of the context.
    pub context: *mut ibv_context_1_0,
    /// The caller's pointer.
    pub qp_context: *mut c_void,
    /// Wrapper of the protection domain.
    pub pd: *mut ibv_pd_1_0,
    /// Wrapper of the CQ of the send queue.
    pub send_cq: *mut ibv_cq_1_0,
    /// Wrapper of the CQ of the receive queue.
    pub recv_cq: *mut ibv_cq_1_0,
    /// Wrapper of the SRQ, or NULL.
    pub srq: *mut ibv_srq_1_0,
    /// Kernel handle.
    pub handle: u32,
    /// QP number on the wire.
    pub qp_num: u32,
    /// State.
    pub state: ibv_qp_state,
    /// Transport service.
    pub qp_type: ibv_qp_type,
    /// Member of that time; not used.
    pub mutex: pthread_mutex_t,
    /// Member of that time; not used.
    pub cond: pthread_cond_t,
    /// Member of that time; not used.
    pub events_completed: u32,
    /// The QP of today, which counts the events.
    pub real_qp: *mut ibv_qp,
}

/// A receive request; `next` stood first.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_recv_wr_1_0 {
    /// Next request, or NULL.
    pub next: *mut ibv_recv_wr_1_0,
    /// The caller's value.
    pub wr_id: u64,
    /// Memory to fill.
    pub sg_list: *mut ibv_sge,
    /// Elements of `sg_list`.
    pub num_sge: c_int,
}

/// Remote memory of an RDMA read or write.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_send_wr_1_0_wr_rdma {
    /// First remote byte.
    pub remote_addr: u64,
    /// Remote key.
    pub rkey: u32,
}

/// Remote memory and operands of an atomic.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_send_wr_1_0_wr_atomic {
    /// Remote address.
    pub remote_addr: u64,
    /// Value to compare with, or to add.
    pub compare_add: u64,
    /// New value if the comparison holds.
    pub swap: u64,
    /// Remote key.
    pub rkey: u32,
}

/// Destination of a datagram.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_send_wr_1_0_wr_ud {
    /// Wrapper of the address handle.
    pub ah: *mut ibv_ah_1_0,
    /// QP number of the receiver.
    pub remote_qpn: u32,
    /// Q_Key to send.
    pub remote_qkey: u32,
}

/// Where a send request goes.
#[repr(C)]
#[derive(Clone, Copy)]
pub union ibv_send_wr_1_0_wr {
    /// RDMA reads and writes.
    pub rdma: ibv_send_wr_1_0_wr_rdma,
    /// Atomics.
    pub atomic: ibv_send_wr_1_0_wr_atomic,
    /// Everything on a UD QP.
    pub ud: ibv_send_wr_1_0_wr_ud,
}

/// A send request; `next` stood first.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_send_wr_1_0 {
    /// Next request, or NULL.
    pub next: *mut ibv_send_wr_1_0,
    /// The caller's value.
    pub wr_id: u64,
    /// Local memory.
    pub sg_list: *mut ibv_sge,
    /// Elements of `sg_list`.
    pub num_sge: c_int,
    /// Operation, of the first seven.
    pub opcode: ibv_wr_opcode,
    /// See `ibv_send_flags`.
    pub send_flags: c_int,
    /// Immediate data, network byte order.
    pub imm_data: u32,
    /// Destination.
    pub wr: ibv_send_wr_1_0_wr,
}

plain! {
    ibv_device_1_0, ibv_context_1_0, ibv_context_ops_1_0, ibv_pd_1_0, ibv_mr_1_0, ibv_ah_1_0,
    ibv_cq_1_0, ibv_srq_1_0, ibv_qp_init_attr_1_0, ibv_qp_1_0, ibv_recv_wr_1_0,
    ibv_send_wr_1_0_wr_rdma, ibv_send_wr_1_0_wr_atomic, ibv_send_wr_1_0_wr_ud,
    ibv_send_wr_1_0_wr, ibv_send_wr_1_0
}
