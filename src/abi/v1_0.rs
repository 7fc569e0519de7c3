//! Objects of the `IBVERBS_1.0` interface.

use core::ffi::{c_int, c_void};
use libc::{pthread_cond_t, pthread_mutex_t};

use crate::abi::*;

/// `struct ibv_ah_1_0` (`compat-1_0.c`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_ah_1_0 {
    pub context: *mut ibv_context_1_0,
    pub pd: *mut ibv_pd_1_0,
    pub handle: u32,
    pub real_ah: *mut ibv_ah,
}

/// `struct ibv_context_1_0` (`compat-1_0.c`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_context_1_0 {
    pub device: *mut ibv_device_1_0,
    pub ops: ibv_context_ops_1_0,
    pub cmd_fd: c_int,
    pub async_fd: c_int,
    pub num_comp_vectors: c_int,
    pub real_context: *mut ibv_context,
}

/// `struct ibv_context_ops_1_0` (`compat-1_0.c`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_context_ops_1_0 {
    pub query_device: Option<unsafe extern "C" fn(*mut ibv_context, *mut ibv_device_attr) -> c_int>,
    pub query_port: Option<unsafe extern "C" fn(*mut ibv_context, u8, *mut ibv_port_attr) -> c_int>,
    pub alloc_pd: Option<unsafe extern "C" fn(*mut ibv_context) -> *mut ibv_pd>,
    pub dealloc_pd: Option<unsafe extern "C" fn(*mut ibv_pd) -> c_int>,
    pub reg_mr: Option<unsafe extern "C" fn(*mut ibv_pd, *mut c_void, usize, c_int) -> *mut ibv_mr>,
    pub dereg_mr: Option<unsafe extern "C" fn(*mut ibv_mr) -> c_int>,
    pub create_cq: Option<unsafe extern "C" fn(*mut ibv_context, c_int, *mut ibv_comp_channel, c_int) -> *mut ibv_cq>,
    pub poll_cq: Option<unsafe extern "C" fn(*mut ibv_cq_1_0, c_int, *mut ibv_wc) -> c_int>,
    pub req_notify_cq: Option<unsafe extern "C" fn(*mut ibv_cq_1_0, c_int) -> c_int>,
    pub cq_event: Option<unsafe extern "C" fn(*mut ibv_cq)>,
    pub resize_cq: Option<unsafe extern "C" fn(*mut ibv_cq, c_int) -> c_int>,
    pub destroy_cq: Option<unsafe extern "C" fn(*mut ibv_cq) -> c_int>,
    pub create_srq: Option<unsafe extern "C" fn(*mut ibv_pd, *mut ibv_srq_init_attr) -> *mut ibv_srq>,
    pub modify_srq: Option<unsafe extern "C" fn(*mut ibv_srq, *mut ibv_srq_attr, c_int) -> c_int>,
    pub query_srq: Option<unsafe extern "C" fn(*mut ibv_srq, *mut ibv_srq_attr) -> c_int>,
    pub destroy_srq: Option<unsafe extern "C" fn(*mut ibv_srq) -> c_int>,
    pub post_srq_recv: Option<unsafe extern "C" fn(*mut ibv_srq_1_0, *mut ibv_recv_wr_1_0, *mut *mut ibv_recv_wr_1_0) -> c_int>,
    pub create_qp: Option<unsafe extern "C" fn(*mut ibv_pd, *mut ibv_qp_init_attr) -> *mut ibv_qp>,
    pub query_qp: Option<unsafe extern "C" fn(*mut ibv_qp, *mut ibv_qp_attr, c_int, *mut ibv_qp_init_attr) -> c_int>,
    pub modify_qp: Option<unsafe extern "C" fn(*mut ibv_qp, *mut ibv_qp_attr, c_int) -> c_int>,
    pub destroy_qp: Option<unsafe extern "C" fn(*mut ibv_qp) -> c_int>,
    pub post_send: Option<unsafe extern "C" fn(*mut ibv_qp_1_0, *mut ibv_send_wr_1_0, *mut *mut ibv_send_wr_1_0) -> c_int>,
    pub post_recv: Option<unsafe extern "C" fn(*mut ibv_qp_1_0, *mut ibv_recv_wr_1_0, *mut *mut ibv_recv_wr_1_0) -> c_int>,
    pub create_ah: Option<unsafe extern "C" fn(*mut ibv_pd, *mut ibv_ah_attr) -> *mut ibv_ah>,
    pub destroy_ah: Option<unsafe extern "C" fn(*mut ibv_ah) -> c_int>,
    pub attach_mcast: Option<unsafe extern "C" fn(*mut ibv_qp, *mut ibv_gid, u16) -> c_int>,
    pub detach_mcast: Option<unsafe extern "C" fn(*mut ibv_qp, *mut ibv_gid, u16) -> c_int>,
}

/// `struct ibv_cq_1_0` (`compat-1_0.c`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_cq_1_0 {
    pub context: *mut ibv_context_1_0,
    pub cq_context: *mut c_void,
    pub handle: u32,
    pub cqe: c_int,
    pub mutex: pthread_mutex_t,
    pub cond: pthread_cond_t,
    pub comp_events_completed: u32,
    pub async_events_completed: u32,
    pub real_cq: *mut ibv_cq,
}

/// `struct ibv_device_1_0` (`compat-1_0.c`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_device_1_0 {
    pub obsolete_sysfs_dev: *mut c_void,
    pub obsolete_sysfs_ibdev: *mut c_void,
    pub real_device: *mut ibv_device,
    pub _ops: _ibv_device_ops,
}

/// `struct ibv_mr_1_0` (`compat-1_0.c`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_mr_1_0 {
    pub context: *mut ibv_context_1_0,
    pub pd: *mut ibv_pd_1_0,
    pub handle: u32,
    pub lkey: u32,
    pub rkey: u32,
    pub real_mr: *mut ibv_mr,
}

/// `struct ibv_pd_1_0` (`compat-1_0.c`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_pd_1_0 {
    pub context: *mut ibv_context_1_0,
    pub handle: u32,
    pub real_pd: *mut ibv_pd,
}

/// `struct ibv_qp_1_0` (`compat-1_0.c`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_qp_1_0 {
    pub context: *mut ibv_context_1_0,
    pub qp_context: *mut c_void,
    pub pd: *mut ibv_pd_1_0,
    pub send_cq: *mut ibv_cq_1_0,
    pub recv_cq: *mut ibv_cq_1_0,
    pub srq: *mut ibv_srq_1_0,
    pub handle: u32,
    pub qp_num: u32,
    pub state: ibv_qp_state,
    pub qp_type: ibv_qp_type,
    pub mutex: pthread_mutex_t,
    pub cond: pthread_cond_t,
    pub events_completed: u32,
    pub real_qp: *mut ibv_qp,
}

/// `struct ibv_qp_init_attr_1_0` (`compat-1_0.c`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_qp_init_attr_1_0 {
    pub qp_context: *mut c_void,
    pub send_cq: *mut ibv_cq_1_0,
    pub recv_cq: *mut ibv_cq_1_0,
    pub srq: *mut ibv_srq_1_0,
    pub cap: ibv_qp_cap,
    pub qp_type: ibv_qp_type,
    pub sq_sig_all: c_int,
}

/// `struct ibv_recv_wr_1_0` (`compat-1_0.c`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_recv_wr_1_0 {
    pub next: *mut ibv_recv_wr_1_0,
    pub wr_id: u64,
    pub sg_list: *mut ibv_sge,
    pub num_sge: c_int,
}

/// Part of `struct ibv_send_wr_1_0`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_send_wr_1_0_wr_rdma {
    pub remote_addr: u64,
    pub rkey: u32,
}

/// Part of `struct ibv_send_wr_1_0`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_send_wr_1_0_wr_atomic {
    pub remote_addr: u64,
    pub compare_add: u64,
    pub swap: u64,
    pub rkey: u32,
}

/// Part of `struct ibv_send_wr_1_0`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_send_wr_1_0_wr_ud {
    pub ah: *mut ibv_ah_1_0,
    pub remote_qpn: u32,
    pub remote_qkey: u32,
}

/// Part of `struct ibv_send_wr_1_0`.
#[repr(C)]
#[derive(Clone, Copy)]
pub union ibv_send_wr_1_0_wr {
    pub rdma: ibv_send_wr_1_0_wr_rdma,
    pub atomic: ibv_send_wr_1_0_wr_atomic,
    pub ud: ibv_send_wr_1_0_wr_ud,
}

/// `struct ibv_send_wr_1_0` (`compat-1_0.c`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_send_wr_1_0 {
    pub next: *mut ibv_send_wr_1_0,
    pub wr_id: u64,
    pub sg_list: *mut ibv_sge,
    pub num_sge: c_int,
    pub opcode: ibv_wr_opcode,
    pub send_flags: c_int,
    pub imm_data: u32,
    pub wr: ibv_send_wr_1_0_wr,
}

/// `struct ibv_srq_1_0` (`compat-1_0.c`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_srq_1_0 {
    pub context: *mut ibv_context_1_0,
    pub srq_context: *mut c_void,
    pub pd: *mut ibv_pd_1_0,
    pub handle: u32,
    pub mutex: pthread_mutex_t,
    pub cond: pthread_cond_t,
    pub events_completed: u32,
    pub real_srq: *mut ibv_srq,
}

plain!(ibv_ah_1_0, ibv_context_1_0, ibv_context_ops_1_0, ibv_cq_1_0, ibv_device_1_0, ibv_mr_1_0, ibv_pd_1_0, ibv_qp_1_0, ibv_qp_init_attr_1_0, ibv_recv_wr_1_0, ibv_send_wr_1_0_wr_rdma, ibv_send_wr_1_0_wr_atomic, ibv_send_wr_1_0_wr_ud, ibv_send_wr_1_0_wr, ibv_send_wr_1_0, ibv_srq_1_0);
