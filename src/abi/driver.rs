//! What a provider sees beside the public types (`driver.h`, `cmd_ioctl.h`).

use core::ffi::{c_int, c_uint, c_char, c_void};
use core::sync::atomic::AtomicI32;
use libc::{dev_t, timespec};

use crate::abi::*;
use crate::uapi::*;

// driver.h: (anonymous) VERBS_LOG_LEVEL_NONE
pub const VERBS_LOG_LEVEL_NONE: c_uint = 0;
pub const VERBS_LOG_ERR: c_uint = 1;
pub const VERBS_LOG_WARN: c_uint = 2;
pub const VERBS_LOG_INFO: c_uint = 3;
pub const VERBS_LOG_DEBUG: c_uint = 4;

// driver.h: (anonymous) VERBS_MATCH_SENTINEL
pub const VERBS_MATCH_SENTINEL: c_uint = 0;
pub const VERBS_MATCH_PCI: c_uint = 1;
pub const VERBS_MATCH_MODALIAS: c_uint = 2;
pub const VERBS_MATCH_DRIVER_ID: c_uint = 3;

// driver.h: (anonymous) VSYSFS_READ_MODALIAS
pub const VSYSFS_READ_MODALIAS: c_uint = 1;
pub const VSYSFS_READ_NODE_GUID: c_uint = 2;

// cmd_ioctl.h: (anonymous) _UHW_NO_INDEX
pub const _UHW_NO_INDEX: c_uint = 255;

/// `enum create_cq_cmd_flags` (`driver.h`).
pub type create_cq_cmd_flags = c_uint;
pub const CREATE_CQ_CMD_FLAGS_TS_IGNORED_EX: create_cq_cmd_flags = 1;
pub const CREATE_CQ_CMD_FLAGS_WITH_MEM_VA: create_cq_cmd_flags = 2;
pub const CREATE_CQ_CMD_FLAGS_WITH_MEM_DMABUF: create_cq_cmd_flags = 4;

/// `enum ibv_flow_action_type` (`driver.h`).
pub type ibv_flow_action_type = c_uint;
pub const IBV_FLOW_ACTION_UNSPECIFIED: ibv_flow_action_type = 0;
pub const IBV_FLOW_ACTION_ESP: ibv_flow_action_type = 1;

/// `enum ibv_gid_type_sysfs` (`driver.h`).
pub type ibv_gid_type_sysfs = c_uint;
pub const IBV_GID_TYPE_SYSFS_IB_ROCE_V1: ibv_gid_type_sysfs = 0;
pub const IBV_GID_TYPE_SYSFS_ROCE_V2: ibv_gid_type_sysfs = 1;

/// `enum ibv_mr_type` (`driver.h`).
pub type ibv_mr_type = c_uint;
pub const IBV_MR_TYPE_MR: ibv_mr_type = 0;
pub const IBV_MR_TYPE_NULL_MR: ibv_mr_type = 1;
pub const IBV_MR_TYPE_IMPORTED_MR: ibv_mr_type = 2;
pub const IBV_MR_TYPE_DMABUF_MR: ibv_mr_type = 3;

/// `enum verbs_qp_mask` (`driver.h`).
pub type verbs_qp_mask = c_uint;
pub const VERBS_QP_XRCD: verbs_qp_mask = 1;
pub const VERBS_QP_EX: verbs_qp_mask = 2;

/// `enum verbs_query_gid_attr_mask` (`driver.h`).
pub type verbs_query_gid_attr_mask = c_uint;
pub const VERBS_QUERY_GID_ATTR_GID: verbs_query_gid_attr_mask = 1;
pub const VERBS_QUERY_GID_ATTR_TYPE: verbs_query_gid_attr_mask = 2;
pub const VERBS_QUERY_GID_ATTR_NDEV_IFINDEX: verbs_query_gid_attr_mask = 4;

/// `enum verbs_xrcd_mask` (`driver.h`).
pub type verbs_xrcd_mask = c_uint;
pub const VERBS_XRCD_HANDLE: verbs_xrcd_mask = 1;
pub const VERBS_XRCD_RESERVED: verbs_xrcd_mask = 2;

/// `enum write_fallback` (`cmd_write.h`).
pub type write_fallback = c_uint;
pub const TRY_WRITE: write_fallback = 0;
pub const TRY_WRITE_EX: write_fallback = 1;
pub const ERROR: write_fallback = 2;
pub const SUCCESS: write_fallback = 3;

/// `struct ibv_buf` (`driver.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_buf {
    pub addr: *mut c_void,
    pub size: usize,
    pub pd: *mut ibv_pd,
    pub dmabuf_fd: c_int,
}

/// `struct ibv_command_buffer` (`cmd_ioctl.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_command_buffer {
    pub next: *mut ibv_command_buffer,
    pub next_attr: *mut ib_uverbs_attr,
    pub last_attr: *mut ib_uverbs_attr,
    pub uhw_in_idx: u8,
    pub uhw_out_idx: u8,
    pub uhw_in_headroom_dwords: u8,
    pub uhw_out_headroom_dwords: u8,
    pub flags: u8,
    pub hdr: ib_uverbs_ioctl_hdr,
}

/// `struct list_head` (`list.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct list_head {
    pub n: list_node,
}

/// `struct list_node` (`list.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct list_node {
    pub next: *mut list_node,
    pub prev: *mut list_node,
}

/// `struct verbs_counters` (`driver.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct verbs_counters {
    pub counters: ibv_counters,
    pub handle: u32,
}

/// `struct verbs_cq` (`driver.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub union verbs_cq {
    pub cq: ibv_cq,
    pub cq_ex: ibv_cq_ex,
}

/// Where a dma-buf backed CQ buffer lies; part of `struct verbs_create_cq_prov_attr`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct verbs_create_cq_prov_attr_buffer_dmabuf {
    pub offset: u64,
    pub fd: c_int,
}

/// The CQ buffer, by address or by dma-buf; anonymous union in `struct verbs_create_cq_prov_attr`.
#[repr(C)]
#[derive(Clone, Copy)]
pub union verbs_create_cq_prov_attr_buffer_source {
    pub ptr: *mut u8,
    pub dmabuf: verbs_create_cq_prov_attr_buffer_dmabuf,
}

/// The CQ buffer that a provider allocated itself; part of `struct verbs_create_cq_prov_attr`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct verbs_create_cq_prov_attr_buffer {
    pub length: u64,
    pub source: verbs_create_cq_prov_attr_buffer_source,
}

/// `struct verbs_create_cq_prov_attr` (`driver.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct verbs_create_cq_prov_attr {
    pub buffer: verbs_create_cq_prov_attr_buffer,
}

/// `struct verbs_device` (`driver.h`).
#[repr(C)]
pub struct verbs_device {
    pub device: ibv_device,
    pub ops: *const verbs_device_ops,
    pub refcount: AtomicI32,
    pub entry: list_node,
    pub sysfs: *mut verbs_sysfs_dev,
    pub core_support: u64,
}

/// `struct verbs_device_ops` (`driver.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct verbs_device_ops {
    pub name: *const c_char,
    pub match_min_abi_version: u32,
    pub match_max_abi_version: u32,
    pub match_table: *const verbs_match_ent,
    pub static_providers: *mut *const verbs_device_ops,
    pub match_device: Option<unsafe extern "C" fn(*mut verbs_sysfs_dev) -> bool>,
    pub alloc_context: Option<unsafe extern "C" fn(*mut ibv_device, c_int, *mut c_void) -> *mut verbs_context>,
    pub import_context: Option<unsafe extern "C" fn(*mut ibv_device, c_int) -> *mut verbs_context>,
    pub alloc_device: Option<unsafe extern "C" fn(*mut verbs_sysfs_dev) -> *mut verbs_device>,
    pub uninit_device: Option<unsafe extern "C" fn(*mut verbs_device)>,
}

/// `struct verbs_dm` (`driver.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct verbs_dm {
    pub dm: ibv_dm,
    pub handle: u32,
}

/// `struct verbs_dmah` (`driver.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct verbs_dmah {
    pub dmah: ibv_dmah,
    pub handle: u32,
}

/// `struct verbs_flow_action` (`driver.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct verbs_flow_action {
    pub action: ibv_flow_action,
    pub handle: u32,
    pub type_: ibv_flow_action_type,
}

/// Part of `struct verbs_match_ent`.
#[repr(C)]
#[derive(Clone, Copy)]
pub union verbs_match_ent_u {
    pub modalias: *const c_char,
    pub driver_id: u64,
}

/// `struct verbs_match_ent` (`driver.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct verbs_match_ent {
    pub driver_data: *mut c_void,
    pub u: verbs_match_ent_u,
    pub vendor: u16,
    pub device: u16,
    pub kind: u8,
}

/// `struct verbs_mr` (`driver.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct verbs_mr {
    pub ibv_mr: ibv_mr,
    pub mr_type: ibv_mr_type,
    pub access: c_int,
}

/// The public QP, plain or extended; anonymous union in `struct verbs_qp`.
#[repr(C)]
#[derive(Clone, Copy)]
pub union verbs_qp_base {
    pub qp: ibv_qp,
    pub qp_ex: ibv_qp_ex,
}

/// `struct verbs_qp` (`driver.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct verbs_qp {
    pub base: verbs_qp_base,
    pub comp_mask: u32,
    pub xrcd: *mut verbs_xrcd,
}

/// `struct verbs_srq` (`driver.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct verbs_srq {
    pub srq: ibv_srq,
    pub srq_type: ibv_srq_type,
    pub xrcd: *mut verbs_xrcd,
    pub cq: *mut ibv_cq,
    pub srq_num: u32,
}

/// `struct verbs_sysfs_dev` (`driver.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct verbs_sysfs_dev {
    pub entry: list_node,
    pub provider_data: *mut c_void,
    pub match_: *const verbs_match_ent,
    pub flags: c_uint,
    pub sysfs_name: [c_char; 64],
    pub sysfs_cdev: dev_t,
    pub ibdev_name: [c_char; 64],
    pub ibdev_path: [c_char; 256],
    pub modalias: [c_char; 512],
    pub node_guid: u64,
    pub driver_id: u32,
    pub node_type: ibv_node_type,
    pub ibdev_idx: c_int,
    pub num_ports: u32,
    pub abi_ver: u32,
    pub time_created: timespec,
}

/// `struct verbs_xrcd` (`driver.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct verbs_xrcd {
    pub xrcd: ibv_xrcd,
    pub comp_mask: u32,
    pub handle: u32,
}

plain!(ibv_buf, ibv_command_buffer, list_head, list_node, verbs_counters, verbs_cq, verbs_create_cq_prov_attr_buffer_dmabuf, verbs_create_cq_prov_attr_buffer_source, verbs_create_cq_prov_attr_buffer, verbs_create_cq_prov_attr, verbs_device_ops, verbs_dm, verbs_dmah, verbs_flow_action, verbs_match_ent_u, verbs_match_ent, verbs_mr, verbs_qp_base, verbs_qp, verbs_srq, verbs_sysfs_dev, verbs_xrcd);
