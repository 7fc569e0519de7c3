//! What a provider sees beside the public types (`infiniband/driver.h`).
//!
//! Each `verbs_` object wraps the public one as its first member; the provider allocates it,
//! usually inside a still larger struct, and `ibv_cmd_` functions fill in the rest.

use crate::sync::atomic::AtomicI32;
use core::ffi::{c_char, c_int, c_uint, c_void};

use libc::{dev_t, timespec};

use crate::abi::*;

// ---- Log.

/// Log level: nothing. The level is `VERBS_LOG_LEVEL` of the environment.
pub const VERBS_LOG_LEVEL_NONE: c_uint = 0;
/// Log level: errors.
pub const VERBS_LOG_ERR: c_uint = 1;
/// Log level: and warnings.
pub const VERBS_LOG_WARN: c_uint = 2;
/// Log level: and information.
pub const VERBS_LOG_INFO: c_uint = 3;
/// Log level: and details.
pub const VERBS_LOG_DEBUG: c_uint = 4;

// ---- Matching providers with devices.

/// `verbs_match_ent::kind`: end of the table.
pub const VERBS_MATCH_SENTINEL: c_uint = 0;
/// `verbs_match_ent::kind`: PCI vendor and device id.
pub const VERBS_MATCH_PCI: c_uint = 1;
/// `verbs_match_ent::kind`: pattern for the modalias string, as for `fnmatch(3)`.
pub const VERBS_MATCH_MODALIAS: c_uint = 2;
/// `verbs_match_ent::kind`: driver id of the kernel.
pub const VERBS_MATCH_DRIVER_ID: c_uint = 3;

/// What to match, by kind.
#[repr(C)]
#[derive(Clone, Copy)]
pub union verbs_match_ent_u {
    /// Pattern; `VERBS_MATCH_MODALIAS`.
    pub modalias: *const c_char,
    /// One of `rdma_driver_id`; `VERBS_MATCH_DRIVER_ID`.
    pub driver_id: u64,
}

/// An entry of a provider's match table.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct verbs_match_ent {
    /// The provider's own.
    pub driver_data: *mut c_void,
    /// Pattern or driver id.
    pub u: verbs_match_ent_u,
    /// PCI vendor id; `VERBS_MATCH_PCI`.
    pub vendor: u16,
    /// PCI device id; `VERBS_MATCH_PCI`.
    pub device: u16,
    /// One of `VERBS_MATCH_*`.
    pub kind: u8,
}

/// `verbs_sysfs_dev::flags`: `modalias` has been read.
pub const VSYSFS_READ_MODALIAS: c_uint = 1 << 0;
/// `verbs_sysfs_dev::flags`: `node_guid` has been read.
pub const VSYSFS_READ_NODE_GUID: c_uint = 1 << 1;

/// What the kernel says about a device. The library makes it before a provider is chosen.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct verbs_sysfs_dev {
    /// Link in the list of devices found.
    pub entry: list_node,
    /// For the provider, between `match_device` and `alloc_device`.
    pub provider_data: *mut c_void,
    /// Entry of the provider's table that matched; `match` in C.
    pub match_: *const verbs_match_ent,
    /// See `VSYSFS_READ_*`.
    pub flags: c_uint,
    /// Name of the device file, for example `uverbs0`.
    pub sysfs_name: [c_char; 64],
    /// Number of the device file.
    pub sysfs_cdev: dev_t,
    /// Kernel name, for example `mlx5_0`.
    pub ibdev_name: [c_char; 64],
    /// Directory of the device in sysfs.
    pub ibdev_path: [c_char; 256],
    /// Bus specific identity; empty if there is none.
    pub modalias: [c_char; 512],
    /// Node GUID, host byte order.
    pub node_guid: u64,
    /// One of `rdma_driver_id`.
    pub driver_id: u32,
    /// Kind of device.
    pub node_type: ibv_node_type,
    /// Index of the device in RDMA netlink, -1 if not known.
    pub ibdev_idx: c_int,
    /// Ports, 0 if not known.
    pub num_ports: u32,
    /// Version of the kernel driver's interface to its provider.
    pub abi_ver: u32,
    /// When the device appeared; tells devices of the same name apart.
    pub time_created: timespec,
}

/// A provider: what it registers.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct verbs_device_ops {
    /// Name of the provider.
    pub name: *const c_char,
    /// Lowest `abi_ver` it works with.
    pub match_min_abi_version: u32,
    /// Highest `abi_ver` it works with.
    pub match_max_abi_version: u32,
    /// Devices it works with, up to a `VERBS_MATCH_SENTINEL`.
    pub match_table: *const verbs_match_ent,
    /// List for static linking; not used by a shared library.
    pub static_providers: *mut *const verbs_device_ops,
    /// Decides instead of the table, if not NULL.
    pub match_device: Option<unsafe extern "C" fn(sysfs_dev: *mut verbs_sysfs_dev) -> bool>,
    /// Opens a device; owns `cmd_fd` from then on. NULL and errno on failure.
    pub alloc_context: Option<
        unsafe extern "C" fn(
            device: *mut ibv_device,
            cmd_fd: c_int,
            private_data: *mut c_void,
        ) -> *mut verbs_context,
    >,
    /// Opens a device on the descriptor of another process; may be NULL.
    pub import_context:
        Option<unsafe extern "C" fn(device: *mut ibv_device, cmd_fd: c_int) -> *mut verbs_context>,
    /// Makes the device. NULL and errno on failure.
    pub alloc_device:
        Option<unsafe extern "C" fn(sysfs_dev: *mut verbs_sysfs_dev) -> *mut verbs_device>,
    /// Frees the device; may be NULL.
    pub uninit_device: Option<unsafe extern "C" fn(device: *mut verbs_device)>,
}

/// A device as the library and its provider share it.
#[repr(C)]
pub struct verbs_device {
    /// The public device.
    pub device: ibv_device,
    /// Its provider.
    pub ops: *const verbs_device_ops,
    /// Device list, entries of lists given to the caller, and open contexts.
    pub refcount: AtomicI32,
    /// Link in the list of devices.
    pub entry: list_node,
    /// What the kernel said about it; NULL for devices that a provider makes without the kernel.
    pub sysfs: *mut verbs_sysfs_dev,
    /// Features of the kernel, see `ib_uverbs_core_support`; known after the first open.
    pub core_support: u64,
}

// ---- Objects.

/// Bits of `verbs_xrcd::comp_mask`.
pub type verbs_xrcd_mask = c_uint;
/// `handle`.
pub const VERBS_XRCD_HANDLE: verbs_xrcd_mask = 1 << 0;
/// First undefined bit.
pub const VERBS_XRCD_RESERVED: verbs_xrcd_mask = 1 << 1;

/// An XRC domain.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct verbs_xrcd {
    /// The public domain.
    pub xrcd: ibv_xrcd,
    /// Which members below are set, see `verbs_xrcd_mask`.
    pub comp_mask: u32,
    /// Kernel handle.
    pub handle: u32,
}

/// Kind of a region.
pub type ibv_mr_type = c_uint;
/// Ordinary.
pub const IBV_MR_TYPE_MR: ibv_mr_type = 0;
/// Discards writes, reads as zero; `ibv_alloc_null_mr(3)`.
pub const IBV_MR_TYPE_NULL_MR: ibv_mr_type = 1;
/// From another process; `ibv_import_mr(3)`.
pub const IBV_MR_TYPE_IMPORTED_MR: ibv_mr_type = 2;
/// On a dma-buf.
pub const IBV_MR_TYPE_DMABUF_MR: ibv_mr_type = 3;

/// A region.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct verbs_mr {
    /// The public region.
    pub ibv_mr: ibv_mr,
    /// Kind.
    pub mr_type: ibv_mr_type,
    /// Rights it was registered with, `ibv_access_flags`.
    pub access: c_int,
}

/// A CQ, plain or extended.
#[repr(C)]
#[derive(Clone, Copy)]
pub union verbs_cq {
    /// As a plain one.
    pub cq: ibv_cq,
    /// As an extended one.
    pub cq_ex: ibv_cq_ex,
}

/// How `ibv_cmd_create_cq_ex` and `ibv_cmd_create_cq_ex2` make a CQ.
pub type create_cq_cmd_flags = c_uint;
/// The kernel need not know of timestamps: the plain command will do for them.
pub const CREATE_CQ_CMD_FLAGS_TS_IGNORED_EX: create_cq_cmd_flags = 1 << 0;
/// The provider's buffer is given by address.
pub const CREATE_CQ_CMD_FLAGS_WITH_MEM_VA: create_cq_cmd_flags = 1 << 1;
/// The provider's buffer is given by dma-buf.
pub const CREATE_CQ_CMD_FLAGS_WITH_MEM_DMABUF: create_cq_cmd_flags = 1 << 2;

/// Where a dma-buf backed CQ buffer lies.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct verbs_create_cq_prov_attr_buffer_dmabuf {
    /// First byte in the dma-buf.
    pub offset: u64,
    /// Descriptor of the dma-buf.
    pub fd: c_int,
}

/// Where a CQ buffer lies, by flag; anonymous union in C.
#[repr(C)]
#[derive(Clone, Copy)]
pub union verbs_create_cq_prov_attr_buffer_source {
    /// Address; `CREATE_CQ_CMD_FLAGS_WITH_MEM_VA`.
    pub ptr: *mut u8,
    /// dma-buf; `CREATE_CQ_CMD_FLAGS_WITH_MEM_DMABUF`.
    pub dmabuf: verbs_create_cq_prov_attr_buffer_dmabuf,
}

/// A CQ buffer that the provider has allocated.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct verbs_create_cq_prov_attr_buffer {
    /// Length in bytes.
    pub length: u64,
    /// Place.
    pub source: verbs_create_cq_prov_attr_buffer_source,
}

/// What a provider adds to the creation of a CQ.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct verbs_create_cq_prov_attr {
    /// Memory for the completions.
    pub buffer: verbs_create_cq_prov_attr_buffer,
}

/// Bits of `verbs_qp::comp_mask`.
pub type verbs_qp_mask = c_uint;
/// `xrcd`; set by the library.
pub const VERBS_QP_XRCD: verbs_qp_mask = 1 << 0;
/// The QP can be used as `ibv_qp_ex`; set by the provider.
pub const VERBS_QP_EX: verbs_qp_mask = 1 << 1;

/// A QP, plain or extended; anonymous union in C.
#[repr(C)]
#[derive(Clone, Copy)]
pub union verbs_qp_base {
    /// As a plain one.
    pub qp: ibv_qp,
    /// As an extended one.
    pub qp_ex: ibv_qp_ex,
}

/// A QP.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct verbs_qp {
    /// The public QP.
    pub base: verbs_qp_base,
    /// See `verbs_qp_mask`.
    pub comp_mask: u32,
    /// XRC domain of a target QP.
    pub xrcd: *mut verbs_xrcd,
}

/// An SRQ.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct verbs_srq {
    /// The public SRQ.
    pub srq: ibv_srq,
    /// Kind.
    pub srq_type: ibv_srq_type,
    /// XRC domain; XRC only.
    pub xrcd: *mut verbs_xrcd,
    /// CQ; XRC and tag matching.
    pub cq: *mut ibv_cq,
    /// SRQ number for peers; XRC only.
    pub srq_num: u32,
}

/// Device memory.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct verbs_dm {
    /// The public object.
    pub dm: ibv_dm,
    /// Kernel handle.
    pub handle: u32,
}

/// A DMA handle.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct verbs_dmah {
    /// The public object.
    pub dmah: ibv_dmah,
    /// Kernel handle.
    pub handle: u32,
}

/// A set of flow counters.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct verbs_counters {
    /// The public object.
    pub counters: ibv_counters,
    /// Kernel handle.
    pub handle: u32,
}

/// Kind of a flow action.
pub type ibv_flow_action_type = c_uint;
/// The provider's own.
pub const IBV_FLOW_ACTION_UNSPECIFIED: ibv_flow_action_type = 0;
/// IPsec ESP.
pub const IBV_FLOW_ACTION_ESP: ibv_flow_action_type = 1;

/// A flow action.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct verbs_flow_action {
    /// The public object.
    pub action: ibv_flow_action,
    /// Kernel handle.
    pub handle: u32,
    /// Kind; `type` in C.
    pub type_: ibv_flow_action_type,
}

// ---- GIDs.

/// Kind of a GID as `ibv_query_gid_type` tells it.
pub type ibv_gid_type_sysfs = c_uint;
/// InfiniBand or RoCE v1.
pub const IBV_GID_TYPE_SYSFS_IB_ROCE_V1: ibv_gid_type_sysfs = 0;
/// RoCE v2.
pub const IBV_GID_TYPE_SYSFS_ROCE_V2: ibv_gid_type_sysfs = 1;

/// Members of `ibv_gid_entry` that a GID query shall fill.
pub type verbs_query_gid_attr_mask = c_uint;
/// `gid`.
pub const VERBS_QUERY_GID_ATTR_GID: verbs_query_gid_attr_mask = 1 << 0;
/// `gid_type`.
pub const VERBS_QUERY_GID_ATTR_TYPE: verbs_query_gid_attr_mask = 1 << 1;
/// `ndev_ifindex`.
pub const VERBS_QUERY_GID_ATTR_NDEV_IFINDEX: verbs_query_gid_attr_mask = 1 << 2;

// ---- Lists.

/// A link of a doubly linked ring (`ccan/list.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct list_node {
    /// Next link.
    pub next: *mut list_node,
    /// Previous link.
    pub prev: *mut list_node,
}

/// A ring of links; the head is one of them.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct list_head {
    /// The head's link.
    pub n: list_node,
}

plain! {
    verbs_match_ent_u, verbs_match_ent, verbs_sysfs_dev, verbs_device_ops, verbs_xrcd, verbs_mr,
    verbs_cq, verbs_create_cq_prov_attr_buffer_dmabuf, verbs_create_cq_prov_attr_buffer_source,
    verbs_create_cq_prov_attr_buffer, verbs_create_cq_prov_attr, verbs_qp_base, verbs_qp,
    verbs_srq, verbs_dm, verbs_dmah, verbs_counters, verbs_flow_action, list_node, list_head
}
