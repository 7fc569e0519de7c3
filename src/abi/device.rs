//! Devices, their attributes and capabilities (`infiniband/verbs.h`).

use core::ffi::{c_char, c_int, c_uint};

use crate::abi::*;

// ---- The device.

/// Kind of device.
pub type ibv_node_type = c_int;
/// Not known to the library.
pub const IBV_NODE_UNKNOWN: ibv_node_type = -1;
/// InfiniBand channel adapter; RoCE devices too.
pub const IBV_NODE_CA: ibv_node_type = 1;
/// InfiniBand switch.
pub const IBV_NODE_SWITCH: ibv_node_type = 2;
/// InfiniBand router.
pub const IBV_NODE_ROUTER: ibv_node_type = 3;
/// iWARP adapter.
pub const IBV_NODE_RNIC: ibv_node_type = 4;
/// Cisco usNIC.
pub const IBV_NODE_USNIC: ibv_node_type = 5;
/// Cisco usNIC over UDP.
pub const IBV_NODE_USNIC_UDP: ibv_node_type = 6;
/// Another transport, for example EFA.
pub const IBV_NODE_UNSPECIFIED: ibv_node_type = 7;

/// Transport of a device, derived from its node type.
pub type ibv_transport_type = c_int;
/// Not known to the library.
pub const IBV_TRANSPORT_UNKNOWN: ibv_transport_type = -1;
/// InfiniBand, RoCE too.
pub const IBV_TRANSPORT_IB: ibv_transport_type = 0;
/// iWARP.
pub const IBV_TRANSPORT_IWARP: ibv_transport_type = 1;
/// Cisco usNIC.
pub const IBV_TRANSPORT_USNIC: ibv_transport_type = 2;
/// Cisco usNIC over UDP.
pub const IBV_TRANSPORT_USNIC_UDP: ibv_transport_type = 3;
/// Another one.
pub const IBV_TRANSPORT_UNSPECIFIED: ibv_transport_type = 4;

/// Former operations of a device; programs built long ago called them.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct _ibv_device_ops {
    /// NULL.
    pub _dummy1:
        Option<unsafe extern "C" fn(device: *mut ibv_device, cmd_fd: c_int) -> *mut ibv_context>,
    /// NULL.
    pub _dummy2: Option<unsafe extern "C" fn(context: *mut ibv_context)>,
}

/// A device found by `ibv_get_device_list(3)`; read only for applications.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_device {
    /// Unused.
    pub _ops: _ibv_device_ops,
    /// Kind of device.
    pub node_type: ibv_node_type,
    /// Transport.
    pub transport_type: ibv_transport_type,
    /// Kernel name, for example `mlx5_0`.
    pub name: [c_char; 64],
    /// Name of the device file, for example `uverbs0`.
    pub dev_name: [c_char; 64],
    /// Directory of the device file in sysfs, `/sys/class/infiniband_verbs/uverbs0`.
    pub dev_path: [c_char; 256],
    /// Directory of the device in sysfs, `/sys/class/infiniband/mlx5_0`.
    pub ibdev_path: [c_char; 256],
}

// ---- Attributes.

/// How far atomics are atomic.
pub type ibv_atomic_cap = c_uint;
/// Not supported.
pub const IBV_ATOMIC_NONE: ibv_atomic_cap = 0;
/// Among all operations through this device.
pub const IBV_ATOMIC_HCA: ibv_atomic_cap = 1;
/// Also with the CPU and other devices.
pub const IBV_ATOMIC_GLOB: ibv_atomic_cap = 2;

/// Bits of `ibv_device_attr::device_cap_flags`.
pub type ibv_device_cap_flags = c_uint;
/// Queues of a QP can be resized, `IBV_QP_CAP`.
pub const IBV_DEVICE_RESIZE_MAX_WR: ibv_device_cap_flags = 1 << 0;
/// Ports count bad P_Keys.
pub const IBV_DEVICE_BAD_PKEY_CNTR: ibv_device_cap_flags = 1 << 1;
/// Ports count bad Q_Keys.
pub const IBV_DEVICE_BAD_QKEY_CNTR: ibv_device_cap_flags = 1 << 2;
/// Raw packet multicast.
pub const IBV_DEVICE_RAW_MULTI: ibv_device_cap_flags = 1 << 3;
/// Automatic path migration.
pub const IBV_DEVICE_AUTO_PATH_MIG: ibv_device_cap_flags = 1 << 4;
/// The port of a QP can be changed in SQD.
pub const IBV_DEVICE_CHANGE_PHY_PORT: ibv_device_cap_flags = 1 << 5;
/// The port of an address handle must be the QP's.
pub const IBV_DEVICE_UD_AV_PORT_ENFORCE: ibv_device_cap_flags = 1 << 6;
/// `IBV_QP_CUR_STATE` is honoured.
pub const IBV_DEVICE_CURR_QP_STATE_MOD: ibv_device_cap_flags = 1 << 7;
/// Ports can be shut down.
pub const IBV_DEVICE_SHUTDOWN_PORT: ibv_device_cap_flags = 1 << 8;
/// Ports can ask the subnet manager for a kind of initialisation.
pub const IBV_DEVICE_INIT_TYPE: ibv_device_cap_flags = 1 << 9;
/// `IBV_EVENT_PORT_ACTIVE` is raised.
pub const IBV_DEVICE_PORT_ACTIVE_EVENT: ibv_device_cap_flags = 1 << 10;
/// `sys_image_guid` is set.
pub const IBV_DEVICE_SYS_IMAGE_GUID: ibv_device_cap_flags = 1 << 11;
/// RC QPs answer receiver-not-ready.
pub const IBV_DEVICE_RC_RNR_NAK_GEN: ibv_device_cap_flags = 1 << 12;
/// SRQs can be resized, `IBV_SRQ_MAX_WR`.
pub const IBV_DEVICE_SRQ_RESIZE: ibv_device_cap_flags = 1 << 13;
/// CQs can raise an event after n completions.
pub const IBV_DEVICE_N_NOTIFY_CQ: ibv_device_cap_flags = 1 << 14;
/// Type 1 memory windows.
pub const IBV_DEVICE_MEM_WINDOW: ibv_device_cap_flags = 1 << 17;
/// Checksum offload on UD QPs.
pub const IBV_DEVICE_UD_IP_CSUM: ibv_device_cap_flags = 1 << 18;
/// Extended reliable connections.
pub const IBV_DEVICE_XRC: ibv_device_cap_flags = 1 << 20;
/// Local invalidation and send with invalidation (IBTA base memory management extensions).
pub const IBV_DEVICE_MEM_MGT_EXTENSIONS: ibv_device_cap_flags = 1 << 21;
/// Type 2 windows, tied to a QP.
pub const IBV_DEVICE_MEM_WINDOW_TYPE_2A: ibv_device_cap_flags = 1 << 23;
/// Type 2 windows, tied to a QP and its protection domain.
pub const IBV_DEVICE_MEM_WINDOW_TYPE_2B: ibv_device_cap_flags = 1 << 24;
/// Checksum offload on RC QPs.
pub const IBV_DEVICE_RC_IP_CSUM: ibv_device_cap_flags = 1 << 25;
/// Checksum offload on raw packet QPs.
pub const IBV_DEVICE_RAW_IP_CSUM: ibv_device_cap_flags = 1 << 26;
/// Flow rules, `ibv_create_flow(3)`.
pub const IBV_DEVICE_MANAGED_FLOW_STEERING: ibv_device_cap_flags = 1 << 29;

/// Attributes of a device, `ibv_query_device(3)`. The `max_` members are upper limits; less may be
/// available.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_device_attr {
    /// Firmware version, NUL terminated.
    pub fw_ver: [c_char; 64],
    /// GUID of the node, network byte order.
    pub node_guid: __be64,
    /// GUID of the system image, network byte order; the same for all parts of one adapter.
    pub sys_image_guid: __be64,
    /// Largest region in bytes.
    pub max_mr_size: u64,
    /// Page sizes the device can use: bit n stands for 2^n bytes.
    pub page_size_cap: u64,
    /// IEEE OUI of the vendor; the PCI vendor id on some devices.
    pub vendor_id: u32,
    /// Part number, given by the vendor.
    pub vendor_part_id: u32,
    /// Hardware revision, given by the vendor.
    pub hw_ver: u32,
    /// QPs.
    pub max_qp: c_int,
    /// Work requests in a send or receive queue.
    pub max_qp_wr: c_int,
    /// See `ibv_device_cap_flags`.
    pub device_cap_flags: c_uint,
    /// Scatter/gather entries per request, except RDMA reads.
    pub max_sge: c_int,
    /// Scatter/gather entries per RDMA read.
    pub max_sge_rd: c_int,
    /// CQs.
    pub max_cq: c_int,
    /// Entries in a CQ.
    pub max_cqe: c_int,
    /// Regions.
    pub max_mr: c_int,
    /// Protection domains.
    pub max_pd: c_int,
    /// RDMA reads and atomics a QP can hold as responder; limit of `max_dest_rd_atomic`.
    pub max_qp_rd_atom: c_int,
    /// The same for an end-to-end context; reliable datagram.
    pub max_ee_rd_atom: c_int,
    /// Responder resources of the device for RDMA reads and atomics.
    pub max_res_rd_atom: c_int,
    /// RDMA reads and atomics a QP can have outstanding; limit of `max_rd_atomic`.
    pub max_qp_init_rd_atom: c_int,
    /// The same for an end-to-end context; reliable datagram.
    pub max_ee_init_rd_atom: c_int,
    /// How far atomics are atomic.
    pub atomic_cap: ibv_atomic_cap,
    /// End-to-end contexts; reliable datagram.
    pub max_ee: c_int,
    /// Reliable datagram domains.
    pub max_rdd: c_int,
    /// Memory windows.
    pub max_mw: c_int,
    /// Raw IPv6 datagram QPs.
    pub max_raw_ipv6_qp: c_int,
    /// Raw Ethertype datagram QPs.
    pub max_raw_ethy_qp: c_int,
    /// Multicast groups.
    pub max_mcast_grp: c_int,
    /// QPs per multicast group.
    pub max_mcast_qp_attach: c_int,
    /// QPs attached to multicast groups in all.
    pub max_total_mcast_qp_attach: c_int,
    /// Address handles.
    pub max_ah: c_int,
    /// Fast memory regions; obsolete.
    pub max_fmr: c_int,
    /// Maps of a fast memory region between two flushes; obsolete.
    pub max_map_per_fmr: c_int,
    /// SRQs.
    pub max_srq: c_int,
    /// Work requests in an SRQ.
    pub max_srq_wr: c_int,
    /// Scatter/gather entries per request of an SRQ.
    pub max_srq_sge: c_int,
    /// P_Keys in a port's table.
    pub max_pkeys: u16,
    /// Longest time from a packet's arrival to its acknowledgement: 4.096 us * 2^n.
    pub local_ca_ack_delay: u8,
    /// Ports, at most 255; see `phys_port_cnt_ex`.
    pub phys_port_cnt: u8,
}

/// Input of `ibv_query_device_ex(3)`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_query_device_ex_input {
    /// No bits are defined; 0.
    pub comp_mask: u32,
}

/// `device_cap_flags_ex`: the frame check sequence of raw packets can be delivered.
pub const IBV_DEVICE_RAW_SCATTER_FCS: u64 = 1 << 34;
/// `device_cap_flags_ex`: writes of received data can be padded to a cache line.
pub const IBV_DEVICE_PCI_WRITE_END_PADDING: u64 = 1 << 36;
/// `device_cap_flags_ex`: in this confidential guest the device reaches only memory shared with the
/// host: use `ibv_alloc_buf(3)`.
pub const IBV_DEVICE_CC_DMA_BOUNCE: u64 = 1 << 41;

/// Attributes of a device, `ibv_query_device_ex(3)`; what the device or the kernel does not know is
/// 0.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_device_attr_ex {
    /// The attributes of `ibv_query_device(3)`.
    pub orig_attr: ibv_device_attr,
    /// No bits are defined.
    pub comp_mask: u32,
    /// On-demand paging.
    pub odp_caps: ibv_odp_caps,
    /// Valid bits of completion timestamps; 0: no timestamps.
    pub completion_timestamp_mask: u64,
    /// Frequency of the device clock in kHz; 0: not known.
    pub hca_core_clock: u64,
    /// Capabilities: low half as `device_cap_flags`, then the bits above 31.
    pub device_cap_flags_ex: u64,
    /// TCP segmentation.
    pub tso_caps: ibv_tso_caps,
    /// Receive side scaling.
    pub rss_caps: ibv_rss_caps,
    /// Receive work queues.
    pub max_wq_type_rq: u32,
    /// Send rate limits.
    pub packet_pacing_caps: ibv_packet_pacing_caps,
    /// See `ibv_raw_packet_caps`.
    pub raw_packet_caps: u32,
    /// Tag matching.
    pub tm_caps: ibv_tm_caps,
    /// Event moderation.
    pub cq_mod_caps: ibv_cq_moderation_caps,
    /// Device memory that can be allocated, in bytes.
    pub max_dm_size: u64,
    /// Atomics over PCIe.
    pub pci_atomic_caps: ibv_pci_atomic_caps,
    /// On-demand paging on XRC, see `ibv_odp_transport_cap_bits`.
    pub xrc_odp_caps: u32,
    /// Ports, without the limit of `phys_port_cnt`.
    pub phys_port_cnt_ex: u32,
}

/// Bits of `ibv_odp_caps::general_caps`.
pub type ibv_odp_general_caps = c_uint;
/// On-demand paging.
pub const IBV_ODP_SUPPORT: ibv_odp_general_caps = 1 << 0;
/// A region can be the whole address space.
pub const IBV_ODP_SUPPORT_IMPLICIT: ibv_odp_general_caps = 1 << 1;

/// Operations that can work on on-demand regions.
pub type ibv_odp_transport_cap_bits = c_uint;
/// Send.
pub const IBV_ODP_SUPPORT_SEND: ibv_odp_transport_cap_bits = 1 << 0;
/// Receive.
pub const IBV_ODP_SUPPORT_RECV: ibv_odp_transport_cap_bits = 1 << 1;
/// RDMA write.
pub const IBV_ODP_SUPPORT_WRITE: ibv_odp_transport_cap_bits = 1 << 2;
/// RDMA read.
pub const IBV_ODP_SUPPORT_READ: ibv_odp_transport_cap_bits = 1 << 3;
/// Atomics.
pub const IBV_ODP_SUPPORT_ATOMIC: ibv_odp_transport_cap_bits = 1 << 4;
/// Receive through an SRQ.
pub const IBV_ODP_SUPPORT_SRQ_RECV: ibv_odp_transport_cap_bits = 1 << 5;
/// Flush.
pub const IBV_ODP_SUPPORT_FLUSH: ibv_odp_transport_cap_bits = 1 << 6;
/// Atomic write.
pub const IBV_ODP_SUPPORT_ATOMIC_WRITE: ibv_odp_transport_cap_bits = 1 << 7;

/// On-demand paging by transport; bits of `ibv_odp_transport_cap_bits`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_odp_caps_per_transport_caps {
    /// RC.
    pub rc_odp_caps: u32,
    /// UC.
    pub uc_odp_caps: u32,
    /// UD.
    pub ud_odp_caps: u32,
}

/// On-demand paging capabilities.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_odp_caps {
    /// See `ibv_odp_general_caps`.
    pub general_caps: u64,
    /// By transport; XRC is in `ibv_device_attr_ex::xrc_odp_caps`.
    pub per_transport_caps: ibv_odp_caps_per_transport_caps,
}

/// TCP segmentation capabilities.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_tso_caps {
    /// Longest stream per request in bytes; 0: not supported.
    pub max_tso: u32,
    /// QP types: bit n stands for type n.
    pub supported_qpts: u32,
}

/// Receive side scaling capabilities.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_rss_caps {
    /// QP types: bit n stands for type n.
    pub supported_qpts: u32,
    /// Indirection tables.
    pub max_rwq_indirection_tables: u32,
    /// Entries of an indirection table.
    pub max_rwq_indirection_table_size: u32,
    /// Fields that can be hashed, see `ibv_rx_hash_fields`.
    pub rx_hash_fields_mask: u64,
    /// Hash functions, see `ibv_rx_hash_function_flags`.
    pub rx_hash_function: u8,
}

/// Packet pacing capabilities.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_packet_pacing_caps {
    /// Lowest limit in kbit/s.
    pub qp_rate_limit_min: u32,
    /// Highest limit in kbit/s; 0: not supported.
    pub qp_rate_limit_max: u32,
    /// QP types: bit n stands for type n.
    pub supported_qpts: u32,
}

/// Bits of `ibv_device_attr_ex::raw_packet_caps`.
pub type ibv_raw_packet_caps = c_uint;
/// Received VLAN tags can be stripped.
pub const IBV_RAW_PACKET_CAP_CVLAN_STRIPPING: ibv_raw_packet_caps = 1 << 0;
/// The frame check sequence can be delivered.
pub const IBV_RAW_PACKET_CAP_SCATTER_FCS: ibv_raw_packet_caps = 1 << 1;
/// Checksum offload.
pub const IBV_RAW_PACKET_CAP_IP_CSUM: ibv_raw_packet_caps = 1 << 2;
/// Packets can wait for a receive instead of being dropped.
pub const IBV_RAW_PACKET_CAP_DELAY_DROP: ibv_raw_packet_caps = 1 << 3;

/// Tag matching capabilities.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_tm_caps {
    /// Longest rendezvous header in bytes.
    pub max_rndv_hdr_size: u32,
    /// Entries of a tag list.
    pub max_num_tags: u32,
    /// See `ibv_tm_cap_flags`.
    pub flags: u32,
    /// Outstanding tag list operations.
    pub max_ops: u32,
    /// Scatter/gather entries of a tag list entry.
    pub max_sge: u32,
}

/// Bits of `ibv_tm_caps::flags`.
pub type ibv_tm_cap_flags = c_uint;
/// Tag matching on RC QPs.
pub const IBV_TM_CAP_RC: ibv_tm_cap_flags = 1 << 0;

/// Limits of `ibv_moderate_cq`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_cq_moderation_caps {
    /// Completions per event.
    pub max_cq_count: u16,
    /// Delay in microseconds.
    pub max_cq_period: u16,
}

/// Operand sizes of PCIe atomics.
pub type ibv_pci_atomic_op_size = c_uint;
/// 4 bytes.
pub const IBV_PCI_ATOMIC_OPERATION_4_BYTE_SIZE_SUP: ibv_pci_atomic_op_size = 1 << 0;
/// 8 bytes.
pub const IBV_PCI_ATOMIC_OPERATION_8_BYTE_SIZE_SUP: ibv_pci_atomic_op_size = 1 << 1;
/// 16 bytes.
pub const IBV_PCI_ATOMIC_OPERATION_16_BYTE_SIZE_SUP: ibv_pci_atomic_op_size = 1 << 2;

/// Atomics the device can do in host memory over PCIe; bits of `ibv_pci_atomic_op_size`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_pci_atomic_caps {
    /// Fetch and add.
    pub fetch_add: u16,
    /// Swap.
    pub swap: u16,
    /// Compare and swap.
    pub compare_swap: u16,
}

/// Length of a MAC address in bytes.
pub const ETHERNET_LL_SIZE: c_uint = 6;

/// File descriptors given to the kernel when a context is made: capability files under
/// `/dev/infiniband/ucap` that extend its rights. For providers.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_fd_arr {
    /// The descriptors.
    pub arr: *mut c_int,
    /// Number of descriptors.
    pub count: u32,
}

plain! {
    _ibv_device_ops, ibv_device, ibv_device_attr, ibv_query_device_ex_input, ibv_device_attr_ex,
    ibv_odp_caps_per_transport_caps, ibv_odp_caps, ibv_tso_caps, ibv_rss_caps,
    ibv_packet_pacing_caps, ibv_tm_caps, ibv_cq_moderation_caps, ibv_pci_atomic_caps, ibv_fd_arr
}
